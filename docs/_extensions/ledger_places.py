"""Where in its article a row of the ledger is shown, and where its verdict is explained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import yaml
from docutils.nodes import make_id
from notebook_figures import cell_anchor
from pieces import article_of

from kernsemble.report.ledger import LedgerRow
from kernsemble.report.verdicts import Verdict

NEEDS_A_REASON = (Verdict.LOWER, Verdict.HIGHER, Verdict.IN_PART, Verdict.FAILS)
SELECTORS = {"exhibits": "exhibit", "rows": "row", "columns": "column", "verdicts": "verdict"}


@dataclass(frozen=True)
class Places:
    """Anchors in the article of a paper.

    Attributes
    ----------
    paper : str
    shown : dict
        Name of an exhibit, figure or claim -> anchor of the cell that shows it first.
    headings : frozenset of str
    code : dict
        Anchor -> source of a code cell.
    reasons : sequence of dict
        The entries of ``paragraphs.yaml``.
    """

    paper: str
    shown: Mapping[str, str] = field(default_factory=dict)
    headings: frozenset[str] = frozenset()
    code: Mapping[str, str] = field(default_factory=dict)
    reasons: Sequence[Mapping] = ()

    @property
    def rendered(self) -> bool:
        """Whether there is an article to lead to."""
        return bool(self.shown)

    def exhibit(self, row: LedgerRow) -> str:
        """Return the address of the place that shows a row; empty without an article."""
        return self._address(self.shown.get(row.exhibit if row.kind == "cell" else row.row, ""))

    def reason(self, row: LedgerRow) -> str:
        """Return the address of what is said about a verdict; empty when it needs no saying."""
        if row.verdict not in NEEDS_A_REASON or not self.rendered:
            return ""
        entry = next((entry for entry in self.reasons if _fits(entry, row)), {})
        if entry.get("heading") in self.headings:
            return self._address(make_id(entry["heading"]))
        cells = [anchor for anchor, source in self.code.items() if entry.get("cell", "\0") in source]
        return self._address(cells[0]) if cells else self.exhibit(row)

    def _address(self, anchor: str) -> str:
        page = f"../_notebooks/{self.paper}.html"
        return (f"{page}#{anchor}" if anchor else page) if self.rendered else ""


def _fits(entry: Mapping, row: LedgerRow) -> bool:
    return all(getattr(row, name) in entry[key] for key, name in SELECTORS.items() if key in entry)


def read_places(root: Path, paper: str) -> Places:
    """Return the places in the rendered article of a paper."""
    path = article_of(root, paper)
    if not path.is_file():
        return Places(paper)
    shown: dict[str, str] = {}
    headings: set[str] = set()
    code: dict[str, str] = {}
    for index, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.cell_type == "markdown":
            headings |= set(re.findall(r"^#{1,6} +(.+?) *$", cell.source, re.MULTILINE))
        elif cell.cell_type == "code":
            code[cell_anchor(index)] = cell.source
            for name in re.findall(r'"([A-Za-z]+[0-9]*)"', cell.source):
                shown.setdefault(name, cell_anchor(index))
    return Places(paper, shown, frozenset(headings), code, read_reasons(root).get(paper, ()))


def cell_id(row: LedgerRow) -> str:
    """Return the anchor of a row of the ledger."""
    name = "-".join(filter(None, (row.paper, row.exhibit, row.row, row.column)))
    return re.sub(r"[^\w.+]+", "-", name)


def one_name(column: str) -> str:
    """Return a printed heading as it is written elsewhere in the same paper.

    Examples
    --------
    >>> one_name("L 1 -ExRM 10"), one_name("BagTree 30"), one_name("R_tst")
    ('L1-ExRM10', 'BagTree30', 'R_tst')
    """
    return re.sub(r"(?<=\w) (\d+)$", r"\1", re.sub(r"^L (\d) -", r"L\1-", column))


class Names:
    """What exhibits and columns are called, from ``exhibits.yaml``."""

    def __init__(self, root: Path) -> None:
        text = (root / "docs" / "exhibits.yaml").read_text(encoding="utf-8")
        self.papers = yaml.safe_load(text)
        self.columns = self.papers.pop("columns")

    def title(self, paper: str, exhibit: str) -> str:
        """Return the title of a printed table."""
        return self.papers.get(paper, {}).get(exhibit, {}).get("title", exhibit)

    def unit(self, paper: str, exhibit: str) -> str:
        """Return the units of a printed table; empty where there are none."""
        return self.papers.get(paper, {}).get(exhibit, {}).get("unit", "")

    def column(self, name: str) -> str:
        """Return what a column holds; empty where its name says so."""
        return self.columns.get(name, "")

    def words(self, row: LedgerRow) -> str:
        """Return what a search should find a row by, besides what it shows."""
        parts = (self.title(row.paper, row.exhibit), self.column(row.column), self.column(row.row))
        plain = row.row.replace("L,Q,R", "L,Q,R LQR mixture").partition("/")[2]
        return " ".join(filter(None, (*parts, self.unit(row.paper, row.exhibit), plain)))


def read_reasons(root: Path) -> dict[str, list[dict]]:
    """Return the entries of ``paragraphs.yaml`` by paper."""
    text = (root / "docs" / "paragraphs.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
