"""What the papers print: ``published.csv`` (every number) and ``claims.yaml`` (what they say in words)."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from kernsemble.data.strict_yaml import read_yaml
from kernsemble.trials.errors import PlanError, read_once, shown
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.study import Study

CELL_COLUMNS = ["paper", "exhibit", "row", "column", "mean", "spread"]
CLAIM_KEYS = ("id", "paper", "exhibit", "statement", "check")


@dataclass(frozen=True)
class PrintedCell:
    """One printed number; ``mean`` and ``spread`` keep the digits that are printed."""

    paper: str
    exhibit: str
    row: str
    column: str
    mean: str
    spread: str

    @property
    def value(self) -> float:
        """The number."""
        return float(self.mean)

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        return len(self.mean.partition(".")[2])

    def __str__(self) -> str:
        return f"{self.paper} {self.exhibit} [{self.row}, {self.column}]"


@dataclass(frozen=True)
class Claim:
    """One claim in words, and the name of the check that decides it."""

    id: str
    paper: str
    exhibit: str
    statement: str
    check: str


@read_once
def read_cells(path: Path, papers: tuple[str, ...] | None = PAPERS) -> list[PrintedCell]:
    """Read the printed numbers (of some papers, or any); raise ``PlanError`` with the line that is wrong."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PlanError(f"{path}: cannot be read: {error}") from None
    if not lines or lines[0] != CELL_COLUMNS:
        raise PlanError(f"{path}: expected the columns {', '.join(CELL_COLUMNS)}.")
    cells, seen = [], set()
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path}, line {number}"
        if len(line) != len(CELL_COLUMNS):
            raise PlanError(f"{where}: expected {len(CELL_COLUMNS)} fields, found {len(line)}.")
        cell = PrintedCell(*line)
        if papers is not None and cell.paper not in papers:
            raise PlanError(f"{where}: unknown paper {cell.paper!r}; allowed are {', '.join(papers)}.")
        if not _is_number(cell.mean) or not (cell.spread == "" or _is_number(cell.spread)):
            raise PlanError(f"{where}: expected a number and a spread, found {cell.mean!r}, {cell.spread!r}.")
        if tuple(line[:4]) in seen:
            raise PlanError(f"{where}: {cell} stands twice.")
        seen.add(tuple(line[:4]))
        cells.append(cell)
    return cells


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@read_once
def read_claims(path: Path, papers: tuple[str, ...] | None = PAPERS) -> list[Claim]:
    """Read the claims (of some papers, or any); raise ``PlanError`` with the entry and key that are wrong."""
    try:
        entries = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PlanError(f"{path}: cannot be read: {error}") from None
    if not isinstance(entries, list):
        raise PlanError(f"{path}: expected a list of claims.")
    claims: list[Claim] = []
    for number, entry in enumerate(entries, start=1):
        where = f"{path}, claim {number}"
        if not isinstance(entry, dict):
            raise PlanError(f"{where}: expected the keys {', '.join(CLAIM_KEYS)}, found {shown(entry)}.")
        if wrong := [key for key in entry if key not in CLAIM_KEYS]:
            raise PlanError(f"{where}: unknown key {shown(wrong[0])}; allowed are {', '.join(CLAIM_KEYS)}.")
        for key in CLAIM_KEYS:
            if not isinstance(entry.get(key), str) or not entry[key].strip():
                raise PlanError(f"{where}: {key!r} must be text, found {shown(entry.get(key))}.")
        claim = Claim(**entry)
        if papers is not None and claim.paper not in papers:
            raise PlanError(f"{where}: unknown paper {shown(claim.paper)}; allowed are {', '.join(papers)}.")
        if claim.id in {other.id for other in claims}:
            raise PlanError(f"{where}: id {shown(claim.id)} stands twice.")
        claims.append(claim)
    return claims


def own_cells(study: Study) -> list[PrintedCell]:
    """Return the printed numbers of a study's paper."""
    cells = read_cells(study.root / "published" / "published.csv", papers=None)
    return [cell for cell in cells if cell.paper == study.key]


def own_claims(study: Study) -> list[Claim]:
    """Return the claims of a study's paper."""
    claims = read_claims(study.root / "published" / "claims.yaml", papers=None)
    return [claim for claim in claims if claim.paper == study.key]
