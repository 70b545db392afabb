"""The house keeps its plan: imports flow one way, and nothing speaks of the machine it was made on."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "kernsemble"
# From left to right; modules on one line may import each other.
LAYERS = [
    {"data"},
    {"kernels", "hypotheses"},
    {"masters"},
    {"column_generation", "boosting"},
    {"estimators"},
    {"growth"},
    {"trials"},
    {"report"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = sorted(SRC.rglob("*.py"))


def top(module: str) -> str:
    """Name of the layer that a dotted module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "kernsemble"


def imported(path: Path):
    """Dotted kernsemble modules that a file imports, absolute and relative, inside functions too."""
    package = ["kernsemble", *path.relative_to(SRC).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("kernsemble"))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "kernsemble":
                yield from (f"kernsemble.{alias.name}" for alias in node.names)
            elif module.startswith("kernsemble."):
                yield module


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_flow_from_left_to_right(path):
    here = path.relative_to(SRC).parts[0].removesuffix(".py")
    if here not in LEVEL:  # the command line and the package itself sit on top
        return
    for module in imported(path):
        there = top(module)
        if there == here or there not in LEVEL:
            continue
        assert LEVEL[there] <= LEVEL[here], (
            f"{path.name} is in '{here}' and imports '{there}', which is to its right"
        )


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_registry_hosts_or_machine_paths_in_tracked_files():
    hosts = ["py" + "pi.org", "python" + "hosted", "deb." + "debian", "registry." + "npmjs"]
    paths = r"(^|[^.\w])/(work|home|root|tmp)/\w"
    pattern = re.compile("|".join([*map(re.escape, hosts), paths]))
    found = []
    for path in tracked():
        if path.suffix in {".npz", ".png", ".lock"} or "datastore" in path.parts:
            continue
        text = path.read_text(errors="ignore")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in pattern.finditer(text)]
    assert not found


def test_source_notebooks_carry_no_outputs():
    import json

    for path in tracked("notebooks/*/*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] or cell["execution_count"] for cell in code), (
            f"run nbstripout {path.name}"
        )
        assert not any(re.search(r"^(def|class) ", "".join(cell["source"]), re.M) for cell in code), path.name


def test_repository_stays_small():
    """Clone and in-repository remote together: at most 60 MB of tracked files."""
    total = sum(path.stat().st_size for path in tracked())
    assert total <= 60e6, f"{total / 1e6:.1f} MB are tracked"
