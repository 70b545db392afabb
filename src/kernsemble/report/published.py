"""What the papers print: ``published.csv`` (every number) and ``claims.yaml`` (what they say in words)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

import numpy as np

from kernsemble.data.schema import Text, matching, read_table, record, shown
from kernsemble.data.strict_yaml import read_yaml_file
from kernsemble.report.verdicts import Rule
from kernsemble.trials.errors import PlanError, as_plan_error, read_once
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.study import Study


def _number(text: str) -> str:
    try:
        if math.isfinite(float(text)):
            return text
    except ValueError:
        pass
    raise ValueError(f"expected a number, found {shown(text)}")


def _spread(text: str) -> str:
    if text and float(_number(text)) < 0:
        raise ValueError(f"a spread is not negative, found {shown(text)}")
    return text


@dataclass(frozen=True)
class PrintedCell:
    """One printed number; ``mean`` and ``spread`` keep the digits that are printed."""

    paper: str
    exhibit: Annotated[str, matching(r"\w+", "a name like table1")]  # of files, and a heading
    row: str
    column: str
    mean: Annotated[str, _number]
    spread: Annotated[str, _spread]

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


Name = Annotated[str, matching(r"[A-Za-z_]\w*", "a name")]


@dataclass(frozen=True)
class Part:
    """A part of a claim: what the paper says, with its qualifier, and what decides it."""

    says: Text
    rule: Annotated[Rule, Rule.read]


@dataclass(frozen=True)
class Claim:
    """One claim in words, its parts by name, and the name of the check that computes their numbers.

    ``theorem``: it is a theorem or a formula, which has an erratum where it fails. A claim without parts is
    decided by its check, whose docstring is the rule.
    """

    id: Text
    paper: Text
    exhibit: Text
    statement: Text
    check: Text
    theorem: bool = False
    parts: Mapping[Name, Part] = field(default_factory=dict)


@read_once
@as_plan_error()
def read_cells(path: Path, papers: tuple[str, ...] | None = PAPERS) -> list[PrintedCell]:
    """Read the printed numbers (of some papers, or any); raise ``PlanError`` with the line that is wrong."""
    cells: dict[str, PrintedCell] = {}
    for where, line in read_table(path, [column.name for column in fields(PrintedCell)]):
        cell = record(line, PrintedCell, where)
        _refuse_other_papers(cell.paper, papers, where)
        if str(cell) in cells:
            raise PlanError(f"{where}: {cell} stands twice.")
        cells[str(cell)] = cell
    return list(cells.values())


@read_once
@as_plan_error()
def read_claims(path: Path, papers: tuple[str, ...] | None = PAPERS) -> list[Claim]:
    """Read the claims (of some papers, or any); raise ``PlanError`` with the entry and key that are wrong."""
    entries = read_yaml_file(path)
    if not isinstance(entries, list):
        raise PlanError(f"{path}: expected a list of claims.")
    claims: dict[str, Claim] = {}
    for number, entry in enumerate(entries, start=1):
        where = f"{path} (claim {number})"
        claim = record(entry, Claim, where)
        _refuse_other_papers(claim.paper, papers, where)
        if claim.id in claims:
            raise PlanError(f"{where}: id {shown(claim.id)} stands twice.")
        claims[claim.id] = claim
    return list(claims.values())


def _refuse_other_papers(paper: str, papers: tuple[str, ...] | None, where: str) -> None:
    if papers is not None and paper not in papers:
        raise PlanError(f"{where}: unknown paper {shown(paper)}; allowed are {', '.join(papers)}.")


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
