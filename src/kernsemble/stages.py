"""The stages of ``dvc.yaml``, written from the import graph: a stage depends on what its result does.

A paper has two: ``KEY@quick``, whose result is the comparison with the committed evidence, and
``KEY@paper``, whose result is the committed folder. The stage ``ledger`` judges all papers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from kernsemble.data.sources import get_source
from kernsemble.evidence_file import write_atomically
from kernsemble.experiments.errors import PlanError
from kernsemble.experiments.registry import PAPERS, STUDIES, load_paper
from kernsemble.experiments.revision import closure, source_file
from kernsemble.notebooks import read_notebook

HEADER = (
    "# Written by `python -m kernsemble stages --write` from the import graph; a test holds it to that.\n"
    "# KEY@quick computes a part of the trials and compares them with what is committed; KEY@paper all.\n"
)
ALWAYS = ("kernsemble.notebooks", "kernsemble.verification")
DRAWINGS = ("ledger_numbers", "ledger_z")
RESOURCES = {
    "kernsemble.figures": "src/kernsemble/matplotlibrc",
    "kernsemble.published": ("published/published.csv", "published/claims.yaml"),
}


def papers_with_notebook(root: Path) -> list[str]:
    """Return the papers that have everything a stage needs."""
    return [key for key in STUDIES if (root / "notebooks" / f"{key}.ipynb").is_file()]


def paper_dependencies(key: str, root: Path) -> list[str]:
    """Return the files, relative to the repository, that a paper's results depend on."""
    notebook = root / "notebooks" / f"{key}.ipynb"
    modules = {*ALWAYS, *notebook_modules(notebook), *own_modules(key)}
    stored = {name for names in load_paper(key).datasets.values() for name in names}
    return sorted({str(notebook.relative_to(root)), *module_files(modules, root), *data_files(stored, root)})


def own_modules(key: str) -> set[str]:
    """Return the modules of a paper: its trials and its reading, each a module or a package."""
    found = set()
    for package in ("experiments", "papers"):
        name = f"kernsemble.{package}.{key}"
        file = source_file(name)
        if file is not None and file.name == "__init__.py":
            found |= {f"{name}.{path.stem}" for path in file.parent.glob("*.py") if path != file}
        elif file is not None:
            found.add(name)
    return found


def notebook_modules(path: Path) -> set[str]:
    """Return the modules of the package that a notebook's cells import, where they are defined."""
    code = [cell.source for cell in read_notebook(path).cells if cell.cell_type == "code"]
    modules = set()
    for source in code:
        plain = "\n".join(line for line in source.split("\n") if not line.lstrip().startswith(("%", "!")))
        for node in ast.walk(ast.parse(plain)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kernsemble":
                modules |= {_defining_module(node.module, alias.name) for alias in node.names}
            elif isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names if alias.name.startswith("kernsemble.")}
    return modules


def _defining_module(source: str, name: str) -> str:
    """Return the module behind ``from source import name``; packages re-export lazily, so they are asked."""
    if source_file(f"{source}.{name}") is not None:
        return f"{source}.{name}"
    file = source_file(source)
    if file is None or file.name != "__init__.py":
        return source
    return getattr(import_module(source), name).__module__


def module_files(modules: Iterable[str], root: Path) -> set[str]:
    """Return the files of modules and all they import, with the resources that they read."""
    files: set[str] = set()
    for module in closure(modules, guarded=frozenset()):
        file = source_file(module)
        if file is None:
            raise PlanError(f"There is no module {module!r}.")
        files.add(str(file.resolve().relative_to(root.resolve())))
        resources = RESOURCES.get(module, ())
        files |= {resources} if isinstance(resources, str) else set(resources)
    return files


def data_files(names: Iterable[str], root: Path) -> set[str]:
    """Return the committed files of stored datasets; the large ones are not in the repository."""
    sources = [get_source(name) for name in names]
    return {f"data/{source.file}" for source in sources if source.kind == "core" and source.file}


def ledger_dependencies(root: Path) -> list[str]:
    """Return the files that the ledger depends on: code, what is printed, and all evidence."""
    papers = [key for key in papers_with_notebook(root) if key in PAPERS]
    modules = {"kernsemble.ledger", "kernsemble.ledger_figures"}.union(*(own_modules(key) for key in papers))
    evidence = {f"results/paper/{key}/evidence" for key in papers}
    return sorted({*module_files(modules, root), *evidence})


def paper_stage(key: str, root: Path) -> dict[str, Any]:
    """Return a paper's entry: one stage for each scale."""
    return {
        "foreach": {"quick": f"quick/{key}/agreement.json", "paper": f"paper/{key}"},
        "do": {
            "cmd": f"python -m kernsemble reproduce {key} --scale ${{key}}",
            "deps": paper_dependencies(key, root),
            "params": [f"{key}.protocol", f"{key}.choices", f"{key}.${{key}}"],
            "outs": [{"results/${item}": {"cache": False, "persist": True}}],
        },
    }


def ledger_stage(root: Path) -> dict[str, Any]:
    """Return the entry of the ledger."""
    kept = {"cache": False, "persist": True}
    return {
        "cmd": "python -m kernsemble ledger",
        "deps": ledger_dependencies(root),
        "params": [key for key in papers_with_notebook(root) if key in PAPERS],
        "outs": [
            {f"results/paper/{name}": kept} for name in ("ledger.csv", "ledger_numbers.svg", "ledger_z.svg")
        ],
        "plots": [{f"results/paper/{name}.png": kept} for name in ("ledger_numbers", "ledger_z")],
        "metrics": [{"results/paper/ledger.json": kept}],
    }


def dvc_file(root: Path) -> str:
    """Return the text of ``dvc.yaml``."""
    stages = {key: paper_stage(key, root) for key in papers_with_notebook(root)}
    if stages:
        stages["ledger"] = ledger_stage(root)
    body = yaml.dump({"stages": stages}, Dumper=_PlainDumper, sort_keys=False, width=110, allow_unicode=True)
    return HEADER + body


class _PlainDumper(yaml.SafeDumper):
    """Writes lists indented and without anchors, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def write_stages(root: Path) -> None:
    """Write ``dvc.yaml``."""
    write_atomically(root / "dvc.yaml", dvc_file(root).encode())


def differences(root: Path) -> list[str]:
    """Return how ``dvc.yaml`` differs from the import graph, a line each; empty when it is up to date."""
    path = root / "dvc.yaml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if text == dvc_file(root):
        return []
    declared, needed = _dependencies(yaml.safe_load(text)), _dependencies(yaml.safe_load(dvc_file(root)))
    lines = [f"{stage}: unused dependency {dep}" for stage, dep in sorted(declared - needed)]
    lines += [f"{stage}: missing dependency {dep}" for stage, dep in sorted(needed - declared)]
    return lines or ["commands, parameters, outputs or comments differ"]


def _dependencies(document: Any) -> set[tuple[str, str]]:
    stages = (document or {}).get("stages") or {}
    return {(name, dep) for name, stage in stages.items() for dep in stage.get("do", stage).get("deps", [])}
