"""The gallery: each script of ``docs/gallery`` is run, and becomes a page with what it printed and drew.

A script is cut at lines ``# %%``. Its docstring, and the comments that begin a cell, are the text, in
Markdown; the rest of a cell is code. Figures that a cell leaves open stand below it. An example that raises
or warns fails the build.
"""

from __future__ import annotations

import ast
import io
import re
import shutil
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

from kernsemble.report.figures import render

STYLE = Path(__file__).parents[2] / "src" / "kernsemble" / "report" / "matplotlibrc"
# In the order of the page: what to begin with comes first.
ORDER = (
    *(
        "infinite_ensemble",
        "reading_a_model",
        "out_of_python",
        "certificates",
        "several_classes",
        "imbalance",
        "probabilities",
    ),
    *(
        "kernels_of_different_cost",
        "views_and_matrices",
        "counts_and_text",
        "a_million_rows",
        "on_a_cluster",
        "from_paper_to_practice",
    ),
)


class Cell(NamedTuple):
    """Words and code of a cell; one of them may be empty."""

    text: str
    code: str
    line: int


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a script, the docstring first."""
    source = path.read_text(encoding="utf-8")
    first = ast.parse(source).body[0]
    lines = source.splitlines()
    cells, start = [Cell(ast.get_docstring(ast.parse(source)), "", 1)], first.end_lineno
    starts = [i for i, line in enumerate(lines) if line == "# %%" and i >= start]
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        body = lines[begin + 1 : end]
        words = next((i for i, line in enumerate(body) if not re.match(r"#( |$)", line)), len(body))
        text = "\n".join(line[2:] for line in body[:words])
        cells.append(Cell(text, "\n".join(body[words:]).strip("\n"), begin + words + 2))
    return cells


def run(path: Path, figures: Path | None = None) -> str:
    """Run a script; return its page, with figures in a folder (or nowhere)."""
    names: dict = {"__name__": "__main__"}
    parts = []
    with warnings.catch_warnings(), mpl.rc_context(fname=STYLE):
        warnings.simplefilter("error", UserWarning)
        for cell in read_cells(path):
            parts.append(cell.text)
            if not cell.code:
                continue
            shown = io.StringIO()
            with redirect_stdout(shown):
                code = "\n" * (cell.line - 1) + cell.code
                exec(compile(code, str(path), "exec"), names)
            parts.append(f"```python\n{cell.code}\n```")
            if shown.getvalue():
                parts.append(f"```text\n{shown.getvalue().rstrip()}\n```")
            parts += _keep_figures(path, figures)
    return "\n\n".join(part for part in parts if part) + "\n"


def _keep_figures(path: Path, folder: Path | None) -> list[str]:
    """Save the open figures and close them; return what shows them."""
    numbers = plt.get_fignums()
    shown = []
    for number in numbers if folder else ():
        name = f"{path.stem}_{len(list(folder.glob(f'{path.stem}_*.svg')))}.svg"
        (folder / name).write_text(render(plt.figure(number)), encoding="utf-8")
        shown.append(f"![Figure of the example above]({name})")
    plt.close("all")
    return shown


def write_gallery(docs: Path) -> None:
    """Run all examples and write their pages to ``docs/_gallery``."""
    folder = docs / "_gallery"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lines = []
    for name in ORDER:
        page = run(docs / "gallery" / f"{name}.py", folder)
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
        title, first = page.removeprefix("# ").split("\n\n")[:2]
        sentence = re.split(r"(?<=\.) ", " ".join(first.split()))[0]
        lines.append(f"- [{title}](_gallery/{name}.md): {sentence}")
    (folder / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
