"""The house keeps its plan: imports flow one way, and nothing speaks of the machine it was made on."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernsemble.trials.rooms import STUDIES

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
    {"export"},
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
    if here not in LEVEL:  # the package itself sits on top
        return
    for module in imported(path):
        there = top(module)
        if there == here or there not in LEVEL:
            continue
        assert LEVEL[there] <= LEVEL[here], (
            f"{path.name} is in '{here}' and imports '{there}', which is to its right"
        )


def rooms_imported(path: Path) -> set[str]:
    """Rooms that a file imports by their names."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.split(".")[0] for name in names} & set(STUDIES)


def test_src_imports_no_room_and_a_room_no_other():
    assert not any(rooms_imported(path) for path in MODULES)
    for key in STUDIES:
        for path in (ROOT / "notebooks" / key).glob("*.py"):
            assert rooms_imported(path) <= {key}, path.name


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the sdist, built from a copy, the wheel from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    copy = folder / "copy"
    shutil.copytree(SRC, copy / "src" / "kernsemble", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)

    def build(what: str, where: Path) -> None:
        code = f"from setuptools.build_meta import build_{what}; build_{what}({str(folder)!r})"
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], cwd=where, check=True, capture_output=True
        )

    build("sdist", copy)
    (sdist,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(sdist, folder / "sdist", filter="data")
    build("wheel", next((folder / "sdist").iterdir()))
    (wheel,) = folder.glob("*.whl")
    shutil.unpack_archive(wheel, folder / "wheel", "zip")
    return folder


def test_wheel_and_sdist_hold_what_they_should(built):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.stat().st_size < 500_000
    assert sdist.stat().st_size < 500_000
    for part in (built / "wheel", next((built / "sdist").iterdir()) / "src"):
        assert (part / "kernsemble/py.typed").is_file()
        assert (part / "kernsemble/data/sources.yaml").is_file()
        assert not (part / "kernsemble/trials").exists()
    (about,) = (built / "wheel").glob("*.dist-info/METADATA")
    needs = re.findall(r"^Requires-Dist: ([\w.-]+)[^;\n]*$", about.read_text(), re.MULTILINE)
    assert sorted(needs) == ["highspy", "numba", "numpy", "scikit-learn", "scipy", "threadpoolctl"]
    assert (about.parent / "licenses/LICENSE").is_file()


def test_wheel_holds_the_library_alone(built, tmp_path):
    """Every module of it can be imported with nothing else of the repository there."""
    names = sorted(path.relative_to(built / "wheel") for path in (built / "wheel").rglob("*.py"))
    library = [names for names in LAYERS if not names & {"trials", "report"}]
    assert {name.parts[1].removesuffix(".py") for name in names} == {"__init__", "__main__"}.union(*library)
    dotted = [".".join(name.with_suffix("").parts).removesuffix(".__init__") for name in names]
    code = f"from importlib import import_module\nfor name in {dotted}: import_module(name)"
    environment = {**os.environ, "PYTHONPATH": str(built / "wheel")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = subprocess.run(
        [sys.executable, "-m", "kernsemble", "list"],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert told.returncode == 1
    assert "make setup" in told.stderr


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
