"""Drawings of the ledger: printed numbers against ours, z-scores against a normal distribution, the wall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from scipy import stats

from kernsemble.report.figures import PALETTE, describe, render, subplots
from kernsemble.report.ledger import EXACT, LedgerRow
from kernsemble.report.verdicts import COMPARED, Verdict
from kernsemble.trials.evidence import write_atomically
from kernsemble.trials.rooms import PAPERS

COLORS = dict(zip(COMPARED, (PALETTE[0], PALETTE[2], PALETTE[1], "#999999"), strict=True))
MARKERS = {"bi2004": "D", "linli2005": "o", "lin2012": "v", "shen2014": "s", "guo2017": "^"}
BEYOND = 2.0
_STEP = 11  # from square to square, in pixels
_FILLS = {
    Verdict.MATCH: "#7fb8e0", Verdict.HOLDS: "#7fb8e0", Verdict.LOWER: "#f2c35e", Verdict.HIGHER: "#ee9a66",
    Verdict.FAILS: "#ee9a66", Verdict.IN_PART: "#b7a9a3", Verdict.ERRATUM: "#c9a6e0",
    Verdict.STALE: "#d9dde2", Verdict.PENDING: "#d9dde2",
}  # fmt: skip


def compared_rows(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """Return the distinct cells whose number stands beside ours, by a z-score or as a ratio."""
    return [row for row in rows if row.kind == "cell" and row.verdict in COMPARED and not row.repeats]


def scored_rows(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    """Return the compared cells that vary from run to run: their z-scores are draws, if the protocol is met.

    Left out are facts without a spread, such as the size of a dataset: they are equal or they are not.
    """
    scored = [row for row in compared_rows(rows) if row.z is not None]
    return [row for row in scored if row.ours_spread is not None or row.note != EXACT]


def chance_beyond(n_cells: int) -> float:
    """Return how many of n cells a faithful reproduction leaves beyond ``|z| = 2`` by chance."""
    return n_cells * 2 * float(stats.norm.sf(BEYOND))


def draw_printed_against_ours(rows: Sequence[LedgerRow]) -> Figure:
    """Draw every compared cell, verdict by color and paper by shape; on the right those between 1 and 100."""
    figure, (whole, part) = subplots(1, 2, size=(9.6, 4.8))
    cells = [row for row in compared_rows(rows) if float(row.printed) > 0 and row.ours > 0]
    for axes in (whole, part):
        for paper in (key for key in PAPERS if any(row.paper == key for row in cells)):
            for verdict in COMPARED:
                chosen = [row for row in cells if (row.paper, row.verdict) == (paper, verdict)]
                _draw_cells(axes, chosen, paper, verdict)
    _frame(whole, *_limits(cells), "every compared number", subs=(1.0,))
    _frame(part, 1.0, 100.0, "between 1 and 100", subs=(1.0, 2.0, 5.0))
    whole.set_ylabel("reproduced (same unit)")
    whole.legend(loc="upper left", fontsize=7)
    return figure


def _draw_cells(axes: Axes, cells: Sequence[LedgerRow], paper: str, verdict: str) -> None:
    if cells:
        axes.plot(
            [float(row.printed) for row in cells], [row.ours for row in cells],
            MARKERS.get(paper, "o"), color=COLORS[verdict], alpha=0.7, markeredgewidth=0,
            label=f"{paper}: {verdict} ({len(cells)})",
        )  # fmt: skip


def _frame(axes: Axes, low: float, high: float, title: str, *, subs: Sequence[float]) -> None:
    axes.plot([low, high], [low, high], color="#666666", linewidth=0.8, label="equal")
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high), title=title)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=subs))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("printed (unit of the paper's table)")


def _limits(cells: Sequence[LedgerRow]) -> tuple[float, float]:
    numbers = [number for row in cells for number in (float(row.printed), row.ours)] or [1.0]
    return 0.8 * min(numbers), 1.25 * max(numbers)


def draw_quantiles(rows: Sequence[LedgerRow]) -> Figure:
    """Draw the ordered z-scores of each paper against normal quantiles; a faithful one lies on the line."""
    compared = scored_rows(rows)
    present = [key for key in PAPERS if any(row.paper == key for row in compared)]
    by_paper = {key: [row.z for row in compared if row.paper == key] for key in present}
    figure, axes = subplots(1, max(len(by_paper), 1), size=(3.2 * max(len(by_paper), 1), 3.2), squeeze=False)
    for panel, (paper, scores) in zip(axes[0], by_paper.items(), strict=False):
        _draw_quantiles_of(panel, paper, np.sort([z for z in scores if math.isfinite(z)]))
    axes[0, 0].set_ylabel("z-score of a printed number")
    return figure


def _draw_quantiles_of(axes: Axes, paper: str, scores: np.ndarray) -> None:
    expected = stats.norm.ppf((np.arange(len(scores)) + 0.5) / len(scores))
    reach = float(np.abs(scores).max()) if len(scores) else BEYOND
    axes.axhspan(-BEYOND, BEYOND, color="#E8E8E8", zorder=0, label="|z| at most 2")
    axes.plot([-3, 3], [-3, 3], color="#666666", linewidth=0.8, label="N(0, 1)")
    axes.plot(expected, scores, "o", markersize=3, label=f"{len(scores)} cells")
    if reach > 10:
        axes.set_yscale("symlog", linthresh=4)
        axes.set_yticks([z for z in (-50, -20, -10, -4, -2, 0, 2, 4, 10, 20, 50) if abs(z) <= 1.3 * reach])
        axes.yaxis.set_major_formatter("{x:g}")
    axes.set(title=paper, xlabel="quantile of N(0, 1)")
    axes.legend(loc="upper left")


def draw_wall(rows: Sequence[LedgerRow]) -> str:
    """Return as SVG every printed number and claim as a square, colored by verdict, in its table's layout."""
    squares: dict[Verdict, list[str]] = {}
    texts, y = [], 0
    for paper in PAPERS:
        texts.append(f'<text x="0" y="{y + 25}">{paper}</text>')
        x, tallest = 90, 0
        blocks: dict[str, list[LedgerRow]] = {}
        for row in rows:
            if row.paper == paper and row.kind in ("cell", "claim"):
                blocks.setdefault(row.exhibit if row.kind == "cell" else "claims", []).append(row)
        for block, own in blocks.items():
            placed = _placed(own)
            texts.append(f'<text x="{x}" y="{y + 10}">{block}</text>')
            for row, across, down in placed:
                corner = f"M{x + _STEP * across} {y + 16 + _STEP * down}h9v9h-9z"
                squares.setdefault(row.verdict, []).append(corner)
            x += max(_STEP * (1 + max(across for _, across, _ in placed)), 6 * len(block)) + 20
            tallest = max(tallest, 1 + max(down for *_, down in placed))
        y += 26 + _STEP * tallest
    known = [verdict for verdict in Verdict if verdict in squares]
    for i, verdict in enumerate(known):
        left, top = 215 * (i % 4), y + 10 + 18 * (i // 4)
        squares[verdict].append(f"M{left} {top}h9v9h-9z")
        texts.append(f'<text x="{left + 15}" y="{top + 9}">{verdict}: {len(squares[verdict]) - 1}</text>')
    paths = "\n".join(f'<path fill="{_FILLS.get(v, "#9aa3ad")}" d="{"".join(squares[v])}"/>' for v in known)
    size = f"0 0 860 {y + 12 + 18 * math.ceil(len(known) / 4)}"
    style = 'font-family="sans-serif" font-size="11" fill="#7a828c"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}">'
    return f"{start}\n{paths}\n<g {style}>{''.join(texts)}</g></svg>\n"


def _placed(rows: Sequence[LedgerRow]) -> list[tuple[LedgerRow, int, int]]:
    """Return the rows of a table with their column and line; claims stand six in a line."""
    if rows[0].kind == "claim":
        return [(row, i % 6, i // 6) for i, row in enumerate(rows)]
    lines = list(dict.fromkeys(row.row for row in rows))
    columns = list(dict.fromkeys(row.column for row in rows))
    return [(row, columns.index(row.column), lines.index(row.row)) for row in rows]


def save_ledger_figures(rows: Sequence[LedgerRow], folder: Path) -> None:
    """Write ``ledger_numbers.svg``, ``ledger_z.svg`` and ``ledger_wall.svg``."""
    scored = scored_rows(rows)
    count, beyond = len(scored), sum(abs(row.z) > BEYOND for row in scored)
    shown = (
        f"{len(compared_rows(rows))} printed numbers against ours, most on the line of equality or near it."
    )
    drawings = {
        "ledger_numbers": (draw_printed_against_ours(rows), shown),
        "ledger_z": (
            draw_quantiles(rows),
            f"z-scores of {count} numbers: {beyond} beyond 2, {chance_beyond(count):.0f} expected by chance.",
        ),
    }
    for name, (figure, alt) in drawings.items():
        write_atomically(folder / f"{name}.svg", describe(render(figure), alt).encode())
    wall = describe(draw_wall(rows), "Every printed number and claim as a square, colored by its verdict.")
    write_atomically(folder / "ledger_wall.svg", wall.encode())
