"""The races on the guide's page: eight as bars, won and lost, and all of them as a table to sort."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from pieces import heads, raw

# What a user of the library meets first; start of the task, of its size, of the peer's name.
HEADLINES = (
    ("boosting round of exact stumps", "MNIST 60000", "LightGBM"),
    ("AdaBoost, 200 stumps", "MNIST", "scikit-learn"),
    ("prediction, 500 stumps", "1000000", "scikit-learn"),
    ("55 problems of parameter selection, perceptron", "700", "scikit-learn"),
    ("stump_kernel", "5000", "scipy"),
    ("CGENS against LPBoost, 100 rounds", "MNIST 60000", "LPBoost"),
    ("ExRM, p = 2", "german", "cvxpy"),
    ("import of an estimator", "fresh", "from sklearn"),
)
COLUMNS = ("task", "size", "peer", "ratio", "target", "same_answer", "note")
NAMES = ("task", "size", "peer", "peer's time over ours", "target", "same answer", "note")
SPAN = 3.0  # decades from an equal time to the end of the scale


def write_races(root: Path, page: Path) -> None:
    """Write the bars and the table from ``results/benchmarks.csv``."""
    with (root / "results" / "benchmarks.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    bars = "\n".join(_bar(row) for row in headlines(rows))
    lines = "\n".join(_line(row) for row in rows)
    page.write_text(
        raw(
            f'<ul class="races">\n{bars}\n</ul>\n<details><summary>All {len(rows)} races</summary>'
            '<div class="table-wrapper"><table class="docutils races-table">'
            f"<thead><tr>{heads(NAMES)}</tr></thead><tbody>\n{lines}\n</tbody></table></div></details>"
        ),
        encoding="utf-8",
    )


def headlines(rows: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return the races of ``HEADLINES`` that there are, in that order."""
    found = []
    for starts in HEADLINES:
        named = zip(("task", "size", "peer"), starts, strict=True)
        wanted = list(named)
        found += [row for row in rows if all(row[name].startswith(start) for name, start in wanted)][:1]
    return found


def _bar(row: Mapping[str, str]) -> str:
    ratio = float(row["ratio"])
    share = min(1.0, abs(math.log10(ratio)) / SPAN)
    side = "ahead" if ratio >= 1 else "behind"
    return (
        f"<li><span>{escape(row['task'])} <small>{escape(row['size'])}, against {escape(row['peer'])}</small>"
        f'</span><span class="bar {side}" style="--share: {share:.3f}"></span><b>{_times(ratio)}</b></li>'
    )


def _times(ratio: float) -> str:
    return f"{ratio:.2g} times" if ratio < 10 else f"{float(f'{ratio:.2g}'):.0f} times"


def _line(row: Mapping[str, str]) -> str:
    cells = "".join(f"<td>{escape(row[name])}</td>" for name in COLUMNS)
    return f"<tr>{cells}</tr>"
