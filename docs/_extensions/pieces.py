"""Pieces that several pages are made of: blocks of HTML, printed tables by places, numbers with spreads."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from kernsemble.report.ledger import LedgerRow

OLDER = "Some of these numbers were computed by an earlier version of the solvers."


def raw(html: str) -> str:
    """Return HTML as a block of a page in Markdown."""
    return f"```{{raw}} html\n{html}\n```"


def heads(names: Iterable[str]) -> str:
    """Return the headings of columns."""
    return "".join(f'<th scope="col">{escape(name)}</th>' for name in names)


def article_of(root: Path, key: str) -> Path:
    """Return where the rendered article of a paper is, if there is one."""
    return root / "results" / "paper" / key / f"{key}.ipynb"


def by_places(rows: Sequence[LedgerRow]) -> tuple[dict[tuple[str, str], LedgerRow], tuple, tuple]:
    """Return the rows of a printed table by their places, and the names of its lines and columns in order."""
    places = {(row.row, row.column): row for row in rows}
    lines, columns = (tuple(dict.fromkeys(place[i] for place in places)) for i in (0, 1))
    return places, lines, columns


def printed(row: LedgerRow) -> str:
    """Return a printed number with its spread."""
    return row.printed + (f" ± {row.printed_spread}" if row.printed_spread else "")


def ours(row: LedgerRow) -> str:
    """Return our number with its spread, rounded; empty where there is none."""
    return rounded(row.texts["ours"], row.texts["ours_spread"], whole="." not in row.printed)


def rounded(number: str, spread: str = "", *, whole: bool = False) -> str:
    """Return a number with its spread of two digits; a count, where the printed one is ``whole``, as such.

    Examples
    --------
    >>> rounded("26.81", "1.67"), rounded("0.01002", "0.0000363"), rounded("280.8", "0")
    ('26.8 ± 1.7', '0.010020 ± 0.000036', '280.8 ± 0')
    >>> rounded("60000.0", whole=True), rounded("24.00")
    ('60000', '24.00')
    """
    if spread == "0":
        return f"{number} ± 0"
    if spread:
        decimals = max(0, 1 - math.floor(math.log10(float(spread))))
        return f"{float(number):.{decimals}f} ± {float(spread):.{decimals}f}"
    return re.sub(r"\.0+$", "", number) if whole else number
