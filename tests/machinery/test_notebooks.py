"""Notebooks run twice alike; sources run at the smallest scale; rendered ones are in step with them."""

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from support.machinery import MODULE

from kernsemble.report.notebooks import (
    NotebookError,
    check_parameters,
    normalize,
    read_notebook,
    render_notebook,
    with_parameters,
    write_notebook,
)
from kernsemble.trials.errors import PlanError

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
PARAMETERS = {"scale": "quick"}

CELLS = [
    "from kernsemble.trials.study import open_study\n"
    "from kernsemble.report.tables import show_printed, show_claims\n"
    f"from kernsemble.report.figures import show_figure, subplots\n\nstudy = open_study({MODULE!r}, scale)",
    "import sys\n\nprint('a')\nprint('noise', file=sys.stderr)\nprint('b', {'x', 'y', 'z'})",
    'show_printed(study, "table1", bold="row")',
    "figure, axes = subplots()\n_ = axes.plot([1, 2])\n"
    'show_figure(study, figure, "figure1", alt="A line", exhibits=[])',
    'show_claims(study, "F2")',
]


def out_of_sync(source, rendered, parameters):
    """The cells (1, 2, ..) in which a rendered notebook differs from its source."""
    found = [normalize(read_notebook(path), parameters).cells for path in (source, rendered)]
    pairs = zip_longest(*([(cell.cell_type, cell.source) for cell in cells] for cells in found))
    return [place for place, (ours, theirs) in enumerate(pairs, start=1) if ours != theirs]


def make_notebook(*sources, parameters='scale = "quick"'):
    tagged = new_code_cell(parameters, metadata={"tags": ["parameters"]})
    return new_notebook(cells=[new_markdown_cell("# A title"), tagged, *map(new_code_cell, sources)])


@pytest.fixture
def source(root):
    path = root / "notebooks" / "fake_paper" / "fake_paper.ipynb"
    nbformat.write(make_notebook(*CELLS), path)
    return path


@pytest.fixture
def environment(root):
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return {"KERNSEMBLE_ROOT": str(root), "KERNSEMBLE_JOBS": "1", "PYTHONPATH": paths}


def test_two_runs_give_the_same_bytes(root, source, environment, monkeypatch):
    monkeypatch.setenv("KERNSEMBLE_SCALE", "smoke")  # the notebook's parameter decides
    rendered = root / "results" / "fake_paper.ipynb"
    written = []
    for _ in range(2):
        render_notebook(source, rendered, PARAMETERS, environment)
        written.append(rendered.read_bytes())
        rendered.unlink()
    assert written[0] == written[1]
    assert os.environ["KERNSEMBLE_SCALE"] == "smoke"
    notebook = nbformat.reads(written[0].decode(), as_version=4)
    nbformat.validate(notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs[0].text.startswith("a\nb {")
    assert all(output.get("name") != "stderr" for output in outputs)
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2, 3, 4, 5, 6]
    assert (root / "results/quick/fake_paper/evidence/table1.csv").is_file()
    assert "papermill" not in written[0].decode()
    rendered.write_bytes(written[0])
    assert out_of_sync(source, rendered, PARAMETERS) == []


def test_failing_cell_is_shown_without_the_runner(root, environment):
    path = root / "notebooks" / "failing.ipynb"
    nbformat.write(make_notebook("1 / 0"), path)
    with pytest.raises(NotebookError, match=r"(?s)a cell failed.*ZeroDivisionError"):
        render_notebook(path, root / "out.ipynb", PARAMETERS, environment)
    assert not (root / "out.ipynb").exists()


def test_unknown_parameter_and_missing_cell_are_refused(tmp_path):
    notebook = make_notebook("x = 1")
    with pytest.raises(PlanError, match="no parameter 'scael'; its parameters are scale"):
        check_parameters(notebook, {"scael": "quick"}, tmp_path)
    check_parameters(notebook, PARAMETERS, tmp_path)
    notebook.cells[1].metadata.tags = []
    with pytest.raises(NotebookError, match="exactly one code cell tagged 'parameters', found 0"):
        check_parameters(notebook, PARAMETERS, tmp_path)


@pytest.mark.parametrize("text", ["", "not json", "{}", "[1]"])
def test_what_is_no_notebook_is_refused(tmp_path, text):
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    with pytest.raises(NotebookError, match="not a notebook"):
        read_notebook(path)
    with pytest.raises(NotebookError, match="There is no notebook"):
        read_notebook(tmp_path / "none.ipynb")


def test_parameters_are_written_where_they_are_assigned():
    source = '# the scale\nscale = "quick"  # or paper\nother = 3\n'
    assert (
        with_parameters(source, {"scale": "paper"}) == '# the scale\nscale = "paper"  # or paper\nother = 3\n'
    )


def test_normalizing_drops_what_differs_and_keeps_what_is_said():
    notebook = make_notebook("print(1)")
    notebook.metadata = {"papermill": {"duration": 1}, "widgets": {}, "kernelspec": {"name": "x"}}
    injected = new_code_cell("scale = 'paper'", metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(2, injected)
    cell = notebook.cells[3]
    cell.metadata = {"papermill": {"start": 1}, "execution": {"iopub": 1}, "tags": ["hide-input"]}
    cell.execution_count = 17
    widget = {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "bar"}
    cell.outputs = [
        new_output("stream", name="stdout", text="a"),
        new_output("stream", name="stderr", text="warning"),
        new_output("stream", name="stdout", text="b\n"),
        new_output("display_data", data=widget),
        new_output("execute_result", data={"text/plain": "1"}, execution_count=17, metadata={"t": 1}),
    ]
    made = normalize(notebook, {"scale": "paper"})
    assert [c.source for c in made.cells] == ["# A title", 'scale = "paper"', "print(1)"]
    last = made.cells[2]
    assert last.metadata == {"tags": ["hide-input"]}
    assert last.execution_count == 2
    assert [o.output_type for o in last.outputs] == ["stream", "execute_result"]
    assert last.outputs[0].text == "ab\n"
    assert last.outputs[1].execution_count == 2
    assert set(made.metadata) == {"kernelspec", "language_info"}
    assert write_notebook(made) == write_notebook(normalize(made, {"scale": "paper"}))
    assert len({cell.id for cell in made.cells}) == 3


def test_addresses_in_memory_are_refused(root, environment):
    path = root / "notebooks" / "address.ipynb"
    nbformat.write(make_notebook("object()"), path)
    with pytest.raises(NotebookError, match="cell 3 prints an address"):
        render_notebook(path, root / "out.ipynb", PARAMETERS, environment)


def test_cells_out_of_step_are_numbered(root, source):
    rendered = root / "rendered.ipynb"
    notebook = make_notebook(*CELLS)
    notebook.cells[3].source = "print('other')"
    notebook.cells.append(new_markdown_cell("more"))
    nbformat.write(notebook, rendered)
    assert out_of_sync(source, rendered, PARAMETERS) == [4, 8]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_source_is_stripped_and_has_its_parameter(path):
    notebook = read_notebook(path)
    check_parameters(notebook, {"scale": "smoke"}, path)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        is_prose = cell.cell_type != "code" or cell.source.startswith("say(")
        assert is_prose or len(cell.source.strip().splitlines()) <= 12, cell.source
        assert not cell.source.startswith("say(") or "hide-input" in cell.metadata.get("tags", [])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_rendered_notebook_is_in_step_with_its_source(path):
    rendered = ROOT / "results" / "paper" / path.stem / path.name
    if not rendered.is_file():
        pytest.skip("not rendered yet")
    different = out_of_sync(path, rendered, {"scale": "paper"})
    assert not different, (
        f"cells {different} differ: python -m kernsemble reproduce {path.stem} --scale paper"
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_source_runs_at_the_smallest_scale(path):
    command = [
        sys.executable,
        *["-m", "pytest", "--nbval-lax", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"],
    ]
    environment = {**os.environ, "KERNSEMBLE_SCALE": "smoke", "KERNSEMBLE_JOBS": "1"}
    done = subprocess.run([*command, str(path)], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
