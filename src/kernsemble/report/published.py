"""What the papers print: ``published.csv`` (every number) and ``claims.yaml`` (what they say in words)."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kernsemble.data.strict_yaml import read_yaml
from kernsemble.report.verdicts import Rule
from kernsemble.trials.errors import PlanError, read_once, shown
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.study import Study

CELL_COLUMNS = ["paper", "exhibit", "row", "column", "mean", "spread"]
CLAIM_KEYS = ("id", "paper", "exhibit", "statement", "check")
MORE_KEYS = ("theorem", "parts")
PART_KEYS = {"says", "rule"}


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
class Part:
    """A part of a claim: what the paper says, with its qualifier, and what decides it."""

    says: str
    rule: Rule


@dataclass(frozen=True)
class Claim:
    """One claim in words, its parts by name, and the name of the check that computes their numbers.

    ``theorem``: it is a theorem or a formula, which has an erratum where it fails. A claim without parts is
    decided by its check, whose docstring is the rule.
    """

    id: str
    paper: str
    exhibit: str
    statement: str
    check: str
    theorem: bool = False
    parts: Mapping[str, Part] = field(default_factory=dict)


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
        if not re.fullmatch(r"\w+", cell.exhibit):  # the name of files, and a heading
            raise PlanError(f"{where}: expected a name like table1 as exhibit, found {shown(cell.exhibit)}.")
        if not _is_number(cell.mean) or not (cell.spread == "" or _is_number(cell.spread)):
            raise PlanError(f"{where}: expected a number and a spread, found {cell.mean!r}, {cell.spread!r}.")
        if cell.spread and float(cell.spread) < 0:
            raise PlanError(f"{where}: the spread of {cell} is {cell.spread}; a spread is not negative.")
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
        known = (*CLAIM_KEYS, *MORE_KEYS)
        if wrong := [key for key in entry if key not in known]:
            raise PlanError(f"{where}: unknown key {shown(wrong[0])}; allowed are {', '.join(known)}.")
        for key in CLAIM_KEYS:
            if not isinstance(entry.get(key), str) or not entry[key].strip():
                raise PlanError(f"{where}: {key!r} must be text, found {shown(entry.get(key))}.")
        if not isinstance(entry.get("theorem", False), bool):
            raise PlanError(f"{where}: 'theorem' must be true or false, found {shown(entry['theorem'])}.")
        claim = Claim(**{**entry, "parts": _read_parts(entry.get("parts", {}), where)})
        if papers is not None and claim.paper not in papers:
            raise PlanError(f"{where}: unknown paper {shown(claim.paper)}; allowed are {', '.join(papers)}.")
        if claim.id in {other.id for other in claims}:
            raise PlanError(f"{where}: id {shown(claim.id)} stands twice.")
        claims.append(claim)
    return claims


def _read_parts(entry: object, where: str) -> dict[str, Part]:
    if not isinstance(entry, dict):
        raise PlanError(f"{where}: 'parts' must be names with what each says, found {shown(entry)}.")
    parts = {}
    for name, part in entry.items():
        if not isinstance(part, dict) or set(part) != PART_KEYS or not str(name).isidentifier():
            raise PlanError(f"{where}, part {shown(name)}: expected a name with 'says' and 'rule'.")
        try:
            parts[name] = Part(str(part["says"]), Rule.read(str(part["rule"])))
        except ValueError as error:
            raise PlanError(f"{where}, part {shown(name)}: {error}.") from None
    return parts


def printed_array(study: Study, exhibit: str, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Return printed numbers as one run of evidence: an array of shape (1, rows, columns)."""
    return _as_run(study, exhibit, rows, columns, lambda cell: cell.value)


def printed_spreads(study: Study, exhibit: str, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Return the spreads that are printed beside them, likewise."""
    return _as_run(study, exhibit, rows, columns, lambda cell: float(cell.spread))


def _as_run(
    study: Study,
    exhibit: str,
    rows: Sequence[str],
    columns: Sequence[str],
    read: Callable[[PrintedCell], float],
) -> np.ndarray:
    cells = {(cell.row, cell.column): cell for cell in own_cells(study) if cell.exhibit == exhibit}
    return np.array([[[read(cells[row, column]) for column in columns] for row in rows]])


def own_cells(study: Study) -> list[PrintedCell]:
    """Return the printed numbers of a study's paper."""
    cells = read_cells(study.root / "published" / "published.csv", papers=None)
    return [cell for cell in cells if cell.paper == study.key]


def own_claims(study: Study) -> list[Claim]:
    """Return the claims of a study's paper."""
    claims = read_claims(study.root / "published" / "claims.yaml", papers=None)
    return [claim for claim in claims if claim.paper == study.key]
