"""The way of one number, as the architecture's page tells it, is the way that the code takes."""

import ast
import inspect
import re
import shutil
import sys
import threading
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from one_number import ARROWS, BESIDE, PICTURE, STEPS, is_code, picture  # noqa: E402

from kernsemble.report.ledger import load_reading  # noqa: E402
from kernsemble.report.published import read_cells  # noqa: E402
from kernsemble.report.tables import show_printed  # noqa: E402
from kernsemble.trials.rooms import STUDIES  # noqa: E402
from kernsemble.trials.study import Study  # noqa: E402

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOLVERS = ("kernels.py", "column_generation.py", "hypotheses", "masters", "boosting", "estimators", "growth")


def dotted(path):
    """Name of the module in a file of the repository."""
    return ".".join(Path(path).with_suffix("").parts).removeprefix("src.").removeprefix("notebooks.")


def imports(path):
    """Modules that a file imports, or imports from."""
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Compute the cell from nothing, in one trial; return its study, the table, and the functions called."""
    root = tmp_path_factory.mktemp("one_number")
    line = "    table1: {datasets: [twonorm-n, heart, sonar], methods: all, runs: 1}"
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert text.count(line) == 1
    one = "    table1: {datasets: [sonar], methods: [SVM-Perc], runs: 1}"
    (root / "params.yaml").write_text(text.replace(line, one), encoding="utf-8")
    shutil.copytree(ROOT / "published", root / "published")
    called = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:  # a function: no module, no class
            called.add((code.co_filename, code.co_qualname))

    study = Study("linli2005", "smoke", root)
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        table = show_printed(study, "table1", rows=["sonar"], columns=["SVM-Perc"])
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return study, table, {(Path(file), name) for file, name in called}


def test_files_are_there_and_have_what_the_steps_name():
    for step in STEPS.values():
        assert (ROOT / step.path).is_file(), step.path
        if is_code(step):
            assert hasattr(import_module(dotted(step.path)), step.name), step
    assert len([step for step in STEPS.values() if step.number]) == 8


@pytest.mark.parametrize(
    ("start", "end"), [a for a in ARROWS if all(is_code(STEPS[name]) for name in a)], ids="-".join
)
def test_arrow_between_code_is_an_import(start, end):
    first, second = STEPS[start].path, STEPS[end].path
    assert dotted(first) in imports(second) or dotted(second) in imports(first)


def test_run_calls_the_steps_and_no_other_solver(run):
    _, _, called = run
    files = {str(path.relative_to(ROOT)) for path, _ in called if path.is_relative_to(ROOT)}
    steps = {step.path for step in STEPS.values() if is_code(step)}
    assert steps - files == {STEPS["rule"].path}  # a rule is a line of data
    solvers = {path for path in files if path.startswith(tuple(f"src/kernsemble/{s}" for s in SOLVERS))}
    assert solvers - steps == set(BESIDE)
    rooms = {path for path, name in called if path.is_relative_to(ROOT / "notebooks") and name[0] != "<"}
    assert {str(path.relative_to(ROOT)) for path in rooms} <= steps  # what is only imported is no step
    for name in ("trial", "kernel", "solver", "verdict", "table"):
        assert (ROOT / STEPS[name].path, STEPS[name].name) in called
    assert (ROOT / STEPS["estimator"].path, f"{STEPS['estimator'].name}.fit") in called


def test_number_of_the_row_is_that_of_the_cell(run):
    study, table, _ = run
    (printed,) = [
        cell
        for cell in read_cells(study.root / STEPS["printed"].path)
        if (cell.paper, cell.exhibit, cell.row, cell.column) == ("linli2005", "table1", "sonar", "SVM-Perc")
    ]
    assert f"{printed.mean} ± {printed.spread}" == STEPS["printed"].name
    rule = load_reading("linli2005").rule(printed)
    assert rule.place("table1", "sonar", "SVM-Perc") == ("table1", "error", "sonar", "SVM-Perc")
    evidence = study.evidence("table1")
    assert study.path("table1").name == Path(STEPS["evidence"].path).name
    assert table.rows[0][1].text == f"{evidence.sample('error', dataset='sonar', method='SVM-Perc').mean:.1f}"


def test_page_names_the_files_in_order_and_the_picture_is_drawn_from_the_steps():
    assert (ROOT / PICTURE).read_text(encoding="utf-8") == picture(), (
        "run: python docs/_extensions/one_number.py"
    )
    rows = re.findall(r"^\| (\d) \| `([^`]+)` \| `([^`]+)`", PAGE, re.MULTILINE)
    steps = sorted((step.number, step.path, step.name) for step in STEPS.values() if step.number)
    assert [(int(number), path, name) for number, path, name in rows] == steps
    assert all(f"`{path.removeprefix('src/kernsemble/')}`" in PAGE for path in BESIDE)


def test_code_that_the_page_names_is_there():
    names = re.findall(rf"`((?:{'|'.join(('kernsemble', *STUDIES))})\.[\w.]+)`", PAGE)
    assert len(names) >= 8
    assert all(resolve_name(name) for name in names)
