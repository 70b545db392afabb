"""The wall: every printed number and every claim as a small square, in the layout of its table.

The color of a square is its verdict; the pointer shows what is printed, ours, z and the reading; it leads to
the place in the article that shows its exhibit. Arrow keys, and what is shown beside the pointer, are in
``wall.js``; without it the squares are links with their text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from itertools import product

from ledger_places import Names, Places, one_name
from pieces import by_places, ours, printed, raw

from kernsemble.report.ledger import LedgerRow
from kernsemble.report.verdicts import LATE, Verdict
from kernsemble.trials.rooms import PAPERS


def wall_page(
    rows: Sequence[LedgerRow],
    places: Mapping[str, Places],
    statements: Mapping[tuple[str, str], str],
    called: Names,
) -> str:
    """Return the legend and the squares of all papers as HTML."""
    papers = "\n".join(
        _paper([row for row in rows if row.paper == key], places[key], statements, called) for key in PAPERS
    )
    return raw(
        f'<div class="wall" id="wall-of-numbers">\n{_legend(rows)}\n{papers}\n</div>\n'
        '<script src="_static/wall.js" defer></script>'
    )


def css_class(verdict: Verdict) -> str:
    """Return the class of a verdict's color."""
    return f"w-{verdict.name.lower().replace('_', '-')}"


def _legend(rows: Sequence[LedgerRow]) -> str:
    counts = Counter(row.verdict for row in rows if row.kind in ("cell", "claim"))
    buttons = "".join(
        f'<button type="button" data-verdict="{css_class(verdict)}" aria-pressed="false">'
        f'<span class="square {css_class(verdict)}" aria-hidden="true">{_mark(verdict)}</span>'
        f"{verdict} <b>{counts[verdict]}</b></button>"
        for verdict in Verdict
        if counts[verdict]
    )
    return f'<div class="wall-legend" role="group" aria-label="Show one verdict">{buttons}</div>'


def _mark(verdict: Verdict) -> str:
    return verdict.mark if len(verdict.mark) == 1 and verdict not in LATE else ""


def _paper(
    rows: Sequence[LedgerRow], places: Places, statements: Mapping[tuple[str, str], str], called: Names
) -> str:
    key = places.paper
    cells = [row for row in rows if row.kind == "cell"]
    claims = [row for row in rows if row.kind == "claim"]
    tables = "".join(
        _table([row for row in cells if row.exhibit == exhibit], places, called)
        for exhibit in dict.fromkeys(row.exhibit for row in cells)
    )
    grid = "".join(_square(row, places, f"{row.row}: {statements[row.row, '']}") for row in claims)
    return (
        f'<section class="wall-paper"><h3><a href="_ledger/{key}.html">{key}</a></h3>'
        f'<div class="wall-tables">{tables}{_figure(f"{len(claims)} claims", grid, 6)}</div></section>'
    )


def _table(rows: Sequence[LedgerRow], places: Places, called: Names) -> str:
    by_place, names, columns = by_places(rows)
    squares = "".join(
        _square(by_place[place], places, ", ".join((place[0], one_name(place[1]))))
        if place in by_place
        else "<span></span>"
        for place in product(names, columns)
    )
    title = called.title(places.paper, rows[0].exhibit)
    return _figure(title.partition(":")[0], squares, len(columns))


def _figure(caption: str, squares: str, columns: int) -> str:
    return (
        f'<figure><figcaption>{escape(caption)}</figcaption><div class="wall-grid" role="group" '
        f'aria-label="{escape(caption)}" style="--columns: {columns}">{squares}</div></figure>'
    )


def _square(row: LedgerRow, places: Places, name: str) -> str:
    address = places.exhibit(row).removeprefix("../") or f"_ledger/{row.paper}.html"
    said = escape("\n".join([f"{row.paper} {row.exhibit}: {name}", *_numbers(row)]), quote=True)
    shown = css_class(row.verdict)
    return f'<a class="square {shown}" href="{address}" aria-label="{said}">{_mark(row.verdict)}</a>'


def _numbers(row: LedgerRow) -> list[str]:
    """Return what is told of a row: printed, ours, z and verdict, then by what reading."""
    texts = row.texts
    lines = [f"{row.verdict}" + (f", z = {texts['z']}" if texts["z"] else "")]
    if row.kind == "cell":
        lines = [f"printed {printed(row)}, ours {ours(row) or 'none'}", *lines]
    if texts.get("best"):
        lines.append(f"best reading, {texts['best_reading']}: {texts['best']}")
    return [*lines, *([row.note] if row.note else [])]
