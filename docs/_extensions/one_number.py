"""The way of one number, as steps and as a picture: from data and parameters to a cell of a printed table.

The number is the test error of SVM-Perc on sonar in table I of linli2005. Run as a script, this module draws
``docs/_static/one_number.svg``; a test compares the steps with the imports and with what a run calls.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURE = Path("docs", "_static", "one_number.svg")
WIDTH, HEIGHT = 236, 58  # of a box
COLUMNS, ROWS = (12, 284, 556), (12, 112, 212, 312, 412)  # left and upper sides of boxes


class Step(NamedTuple):
    """A file to open (numbered), or one that is read or written (0), and what to look at in it."""

    path: str
    name: str
    number: int
    column: int
    row: int


STEPS = {
    "params": Step("params.yaml", "linli2005", 1, 0, 0),
    "data": Step("data/sonar.npz", "208 rows, 60 features", 0, 1, 0),
    "kernel": Step("src/kernsemble/kernels.py", "perceptron_kernel", 4, 2, 0),
    "trial": Step("notebooks/linli2005/trials.py", "distance_machine", 2, 0, 1),
    "estimator": Step("src/kernsemble/estimators/distance_svc.py", "DistanceKernelSVCCV", 3, 1, 1),
    "solver": Step("src/kernsemble/masters/kernel_hinge.py", "cross_validate_path", 5, 2, 1),
    "evidence": Step("results/paper/linli2005/evidence/table1.csv", "100 rows: sonar, SVM-Perc", 0, 0, 2),
    "rule": Step("notebooks/linli2005/claims.py", "reading", 6, 1, 2),
    "printed": Step("published/published.csv", "15.6 ± 0.40", 0, 2, 2),
    "verdict": Step("src/kernsemble/report/ledger.py", "judge_cell", 7, 1, 3),
    "table": Step("src/kernsemble/report/tables.py", "show_printed", 8, 1, 4),
    "cell": Step("results/paper/linli2005/tables/table1_perceptrons.csv", "ours beside 15.6", 0, 2, 4),
}
# Of two files of code, one imports the other; the number goes from the first to the second.
ARROWS = (
    *(("params", "trial"), ("data", "trial"), ("kernel", "estimator"), ("solver", "estimator")),
    *(("estimator", "trial"), ("trial", "evidence"), ("evidence", "verdict"), ("rule", "verdict")),
    *(("printed", "verdict"), ("verdict", "table"), ("table", "cell")),
)
# What else runs of solvers and estimators, and need not be opened to understand the number.
BESIDE = {
    "src/kernsemble/estimators/_base.py": "checks what the user gave",
    "src/kernsemble/estimators/_single_fit.py": "labels as signs",
    "src/kernsemble/hypotheses/_threads.py": "counts the threads",
    "src/kernsemble/hypotheses/base.py": "names an estimator in messages",
    "src/kernsemble/masters/base.py": "warns when a solver did not converge",
    "src/kernsemble/masters/kernel_rows.py": "gives the solver rows of the kernel matrix",
    "src/kernsemble/masters/smo.py": "the steps of the solver, two variables at a time",
}


def is_code(step: Step) -> bool:
    """Whether a step is a file of Python."""
    return step.path.endswith(".py")


def _box(step: Step) -> str:
    x, y = COLUMNS[step.column], ROWS[step.row]
    folder, _, file = step.path.rpartition("/")
    title = f"{step.number}. {file}" if step.number else file
    dash = "" if step.number else ' stroke-dasharray="5 3"'
    lines = ((18, 13, "bold", title), (34, 10, "normal", folder), (50, 12, "normal", step.name))
    texts = "".join(
        f'<text x="{x + 10}" y="{y + down}" font-size="{size}" font-weight="{weight}">{escape(text)}</text>'
        for down, size, weight, text in lines
    )
    box = f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#fff" stroke="#333"{dash}/>'
    return box + texts


def _arrow(start: Step, end: Step) -> str:
    """Draw an arrow between the sides that face each other, dashed to and from files that are no code."""
    (x1, y1), (x2, y2) = ((COLUMNS[step.column], ROWS[step.row]) for step in (start, end))
    if start.row == end.row:
        left = x2 < x1
        x1, x2 = (x1, x2 + WIDTH + 4) if left else (x1 + WIDTH, x2 - 4)
        y1, y2 = y1 + HEIGHT / 2, y2 + HEIGHT / 2
    else:
        lean = (end.column > start.column) - (end.column < start.column)
        x1, x2 = x1 + WIDTH / 2, x2 + WIDTH / 2 - lean * WIDTH / 4
        y1, y2 = y1 + HEIGHT, y2 - 4
    dash = "" if is_code(start) and is_code(end) else ' stroke-dasharray="5 3"'
    ends = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f'<line {ends} stroke="#0072B2" stroke-width="1.6" marker-end="url(#tip)"{dash}/>'


def picture() -> str:
    """Return the steps and arrows as SVG."""
    width, height = COLUMNS[-1] + WIDTH + 12, ROWS[-1] + HEIGHT + 12
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" fill="#222">',
        "<title>The way of one number: from data and parameters to a printed cell</title>",
        f'<defs>{tip}<path d="M0,0 L8,4 L0,8 z" fill="#0072B2"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *(_arrow(STEPS[start], STEPS[end]) for start, end in ARROWS),
        *map(_box, STEPS.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    (Path(__file__).parents[2] / PICTURE).write_text(picture(), encoding="utf-8")
