"""The ledger: every printed number and every claim beside ours, with a verdict by rules fixed in advance.

z = (ours - printed) / sqrt(se_printed^2 + se_ours^2). Verdicts of a cell: ``match`` (|z| <= 2), ``better``
or ``worse`` (beyond, by direction), ``not comparable`` (an absolute time of other hardware),
``unavailable`` (data that cannot be had), ``stale`` or ``pending`` (evidence that has to be computed). A
claim ``holds`` or ``fails``.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from kernsemble.report.comparisons import significant, z_score
from kernsemble.report.published import Claim, PrintedCell, read_cells, read_claims
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import IncompleteEvidenceError, Sample
from kernsemble.trials.evidence_file import write_atomically
from kernsemble.trials.registry import available_papers
from kernsemble.trials.rooms import PAPERS, modules_with
from kernsemble.trials.study import Study
from kernsemble.trials.warrants import Standing, sentence

COMPARED = ("match", "better", "worse")
VERDICTS = (*COMPARED, "holds", "fails", "not comparable", "unavailable", "stale", "pending")
Spread = Literal["standard error", "standard deviation"] | None


@dataclass(frozen=True)
class Derived:
    """A number computed from several samples, such as an average rank, with its standard error."""

    value: float
    se: float = 0.0
    samples: Sequence[Sample] = ()

    @property
    def runs(self) -> int:
        """Runs behind the number."""
        return min((len(sample.values) for sample in self.samples), default=1)


@dataclass(frozen=True)
class _Apart:
    verdict: str
    note: str
    ours: Sample | Derived | None = None


def not_comparable(note: str, ours: Sample | Derived | None = None) -> _Apart:
    """Say that a printed number cannot be compared (such as seconds on other hardware), and why."""
    return _Apart("not comparable", note, ours)


def unavailable(note: str, ours: Sample | Derived | None = None) -> _Apart:
    """Say that the data cannot be had; the note names it and what stands in for it."""
    return _Apart("unavailable", note, ours)


@dataclass(frozen=True)
class Finding:
    """What a check found: does the claim hold, its bootstrap probability, and the numbers."""

    holds: bool
    probability: float | None
    note: str


@dataclass(frozen=True)
class LedgerRow:
    """One row of ``ledger.csv``."""

    paper: str
    exhibit: str
    row: str
    column: str
    kind: str
    printed: str
    printed_spread: str
    ours: str
    ours_spread: str
    runs: str
    z: str
    verdict: str
    note: str


@dataclass(frozen=True)
class CellRule:
    """How a group of printed cells is read off the evidence."""

    read: Callable[[Study, str, str, str], Sample | Derived | _Apart]
    exhibits: tuple[str, ...]
    columns: tuple[str, ...] | None
    rows: tuple[str, ...] | None
    spread: Spread
    runs: int | None
    better: str

    def covers(self, cell: PrintedCell) -> bool:
        """Whether the rule is about this cell."""
        in_columns = self.columns is None or cell.column in self.columns
        return cell.exhibit in self.exhibits and in_columns and (self.rows is None or cell.row in self.rows)


class Reading:
    """How a paper's printed numbers are read off its evidence, and the checks of its claims.

    Parameters
    ----------
    key : str
        Key of the paper.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.rules: list[CellRule] = []
        self.checks: dict[str, Callable[[Study], Finding]] = {}

    def cells(
        self,
        *exhibits: str,
        columns: Iterable[str] | None = None,
        rows: Iterable[str] | None = None,
        spread: Spread,
        runs: int | None,
        better: Literal["lower", "higher", "equal"] = "lower",
    ) -> Callable:
        """Register a function ``(study, exhibit, row, column)`` for printed cells; later rules go first.

        Parameters
        ----------
        *exhibits : str
            Names as in ``published.csv``.
        columns, rows : iterable of str, optional
            The cells that the function reads; by default all of the exhibits.
        spread : {"standard error", "standard deviation", None}
            What the paper prints beside its numbers. None: nothing, and our deviation stands for theirs.
        runs : int or None
            Runs behind a printed number; with ``spread=None``, None takes the printed number as exact.
        better : {"lower", "higher", "equal"}
            Which direction beyond |z| = 2 is better; "equal": none is.
        """
        if spread == "standard deviation" and not runs:
            raise PlanError(f"{self.key}: a standard deviation needs the number of runs behind it.")

        def register(function: Callable) -> Callable:
            chosen = (None if columns is None else tuple(columns), None if rows is None else tuple(rows))
            self.rules.append(CellRule(function, exhibits, *chosen, spread, runs, better))
            return function

        return register

    def claim(self, claim_id: str) -> Callable:
        """Register a check ``(study) -> Finding`` for a claim; its name stands in ``claims.yaml``."""

        def register(function: Callable[[Study], Finding]) -> Callable:
            if claim_id in self.checks:
                raise PlanError(f"{self.key}: claim {claim_id!r} has two checks.")
            self.checks[claim_id] = function
            return function

        return register

    def rule(self, cell: PrintedCell) -> CellRule | None:
        """Return the rule for a cell: the last one registered that covers it."""
        return next((rule for rule in reversed(self.rules) if rule.covers(cell)), None)


def load_reading(key: str) -> Reading | None:
    """Return the reading of a paper, with all that its room says of it; None when it is not written yet.

    For a paper outside the rooms, given as ``package.module``, it is that of ``package.reading``.
    """
    if "." in key:
        name = f"{key.rpartition('.')[0]}.reading"
        names = (name,) if find_spec(name) else ()
    else:
        names = modules_with(key, "@reading.")
    readings = [import_module(name).reading for name in names]
    return readings[-1] if readings else None


def judge_cell(cell: PrintedCell, reading: Reading | None, study: Study | None) -> LedgerRow:
    """Return the ledger's row for a printed number."""
    rule = reading.rule(cell) if reading else None
    if rule is None or study is None:
        return _row(cell, "pending", note="not reproduced yet")
    try:
        found = rule.read(study, cell.exhibit, cell.row, cell.column)
    except IncompleteEvidenceError as error:
        return _row(cell, "stale" if error.stale else "pending", note=str(error))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PlanError(f"{cell}: {rule.read.__name__} failed: {type(error).__name__}: {error}") from error
    if isinstance(found, _Apart):
        return _row(cell, found.verdict, found.ours, rule, found.note)
    samples = [found] if isinstance(found, Sample) else list(found.samples)
    if not all(sample.complete for sample in samples):
        late = "stale" if any(sample.stale for sample in samples) else "pending"
        done, wanted = sum(len(s.values) for s in samples), sum(s.expected for s in samples)
        return _row(cell, late, found, rule, f"{done} of {wanted} runs")
    return _compared(cell, found, rule)


def _compared(cell: PrintedCell, ours: Sample | Derived, rule: CellRule) -> LedgerRow:
    value, se_ours, runs = _value(ours), _se(ours), _runs(ours)
    std_ours = se_ours * runs**0.5
    if rule.spread is None:
        se_printed = std_ours / rule.runs**0.5 if rule.runs else 0.0
        unprinted = f"no spread printed; ours stands for it, {rule.runs} runs"
        basis = unprinted if rule.runs else "printed as exact"
    else:
        deviation = rule.spread == "standard deviation"
        if not cell.spread:
            raise PlanError(f"{cell}: no spread is printed; register it with spread=None.")
        se_printed = float(cell.spread) / (rule.runs**0.5 if deviation else 1)
        basis = f"printed {rule.spread}" + (f", {rule.runs} runs" if rule.runs else "")
    if math.isnan(se_ours):  # a single run of ours: the printed deviation stands for its spread
        if rule.spread is None and rule.runs:
            raise PlanError(f"{cell}: one run and no printed spread cannot be compared; run more.")
        se_ours = se_printed * (rule.runs or 1) ** 0.5 if rule.spread else 0.0
    if se_ours == se_printed == 0:
        value = round(value, cell.decimals)
    z = z_score(value, cell.value, se_ours, se_printed)
    return _row(cell, _verdict(z, rule.better), ours, rule, basis, z)


def _verdict(z: float, better: str) -> str:
    if abs(z) <= 2:
        return "match"
    if better == "equal":
        return "worse"
    return "better" if (z < 0) == (better == "lower") else "worse"


def _row(
    cell: PrintedCell,
    verdict: str,
    ours: Sample | Derived | None = None,
    rule: CellRule | None = None,
    note: str = "",
    z: float | None = None,
) -> LedgerRow:
    value = spread = runs = ""
    if ours is not None and _runs(ours) and not math.isnan(_value(ours)):
        value, runs = significant(_value(ours)), str(_runs(ours))
        deviation = rule is not None and rule.spread != "standard error"
        shown = _se(ours) * (_runs(ours) ** 0.5 if deviation else 1)
        spread = "" if math.isnan(shown) else significant(shown, 3)
    names = (cell.paper, cell.exhibit, cell.row, cell.column)
    z_text = "" if z is None else f"{z:.2f}"
    return LedgerRow(*names, "cell", cell.mean, cell.spread, value, spread, runs, z_text, verdict, note)


def _value(ours: Sample | Derived) -> float:
    return ours.mean if isinstance(ours, Sample) else ours.value


def _se(ours: Sample | Derived) -> float:
    return ours.se


def _runs(ours: Sample | Derived) -> int:
    return len(ours.values) if isinstance(ours, Sample) else ours.runs


def judge_claim(claim: Claim, reading: Reading | None, study: Study | None) -> LedgerRow:
    """Return the ledger's row for a claim."""
    check = reading.checks.get(claim.id) if reading else None
    if check is None or study is None:
        return _claim_row(claim, "pending", "", "not reproduced yet")
    if check.__name__ != claim.check:
        raise PlanError(
            f"claim {claim.id}: the check is {check.__name__!r}, claims.yaml says {claim.check!r}."
        )
    try:
        finding = check(study)
    except IncompleteEvidenceError as error:
        return _claim_row(claim, "stale" if error.stale else "pending", "", str(error))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PlanError(f"claim {claim.id}: {claim.check} failed: {type(error).__name__}: {error}") from error
    probability = "" if finding.probability is None else f"{finding.probability:.3f}"
    return _claim_row(claim, "holds" if finding.holds else "fails", probability, finding.note)


def _claim_row(claim: Claim, verdict: str, probability: str, note: str) -> LedgerRow:
    empty = ("",) * 2
    names = (claim.paper, claim.exhibit, claim.id, "")
    return LedgerRow(*names, "claim", *empty, probability, *empty, "", verdict, note)


def judge_all(root: Path, papers: Sequence[str] = PAPERS) -> list[LedgerRow]:
    """Judge every printed number and every claim on the committed evidence."""
    written = {key for key in papers if "." in key or key in available_papers()}
    studies = {key: Study(key, "paper", root, compute=False) for key in papers if key in written}
    readings = {key: load_reading(key) for key in papers}
    cells = read_cells(root / "published" / "published.csv")
    claims = read_claims(root / "published" / "claims.yaml")
    rows = [judge_cell(cell, readings.get(cell.paper), studies.get(cell.paper)) for cell in cells]
    return rows + [judge_claim(c, readings.get(c.paper), studies.get(c.paper)) for c in claims]


def standings(root: Path) -> dict[str, Standing]:
    """Return how the committed rows stand, overall and of each study."""
    studies = [Study(key, "paper", root, compute=False) for key in available_papers()]
    own = {study.key: study.standing for study in studies}
    overall = Standing()
    for standing in own.values():
        overall.merge(standing)
    return {"overall": overall, **own}


def totals(rows: Iterable[LedgerRow]) -> dict[str, dict]:
    """Count verdicts per paper and overall; every count stands beside its denominator."""
    rows = list(rows)
    present = dict.fromkeys(row.paper for row in rows)
    ordered = sorted(present, key=lambda key: PAPERS.index(key) if key in PAPERS else len(PAPERS))
    by_paper = {key: _count([row for row in rows if row.paper == key]) for key in ordered}
    return {"overall": _count(rows), **by_paper}


def _count(rows: Sequence[LedgerRow]) -> dict[str, int]:
    verdicts = Counter(row.verdict for row in rows)
    kinds = Counter(row.kind for row in rows)
    compared = sum(verdicts[name] for name in COMPARED)
    counts = {name.replace(" ", "_"): verdicts[name] for name in VERDICTS}
    return {"printed": kinds["cell"], "claims": kinds["claim"], "compared": compared, **counts}


def read_ledger(path: Path) -> list[LedgerRow]:
    """Read ``ledger.csv``."""
    with path.open(encoding="utf-8", newline="") as file:
        return [LedgerRow(**row) for row in csv.DictReader(file)]


def read_standing(path: Path) -> str:
    """Read from ``ledger.json`` how the committed rows stand, in words; empty where it does not say."""
    numbers = json.loads(path.read_text(encoding="utf-8")).get("evidence")
    return f"{sentence(numbers['overall'])}." if numbers else ""


def ledger_files(
    rows: Sequence[LedgerRow],
    folder: Path,
    evidence: Mapping[str, Standing] | None = None,
    *,
    write: bool = True,
) -> list[str]:
    """Write ``ledger.csv`` and ``ledger.json``; return the names of those that change, or would."""
    counts = totals(rows)
    if evidence:
        counts["evidence"] = {key: standing.as_dict() for key, standing in evidence.items()}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([field.name for field in fields(LedgerRow)])
    writer.writerows(astuple(row) for row in rows)
    contents = {"ledger.csv": buffer.getvalue(), "ledger.json": json.dumps(counts, indent=2) + "\n"}
    changed = []
    for name, text in contents.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            changed.append(name)
            if write:
                write_atomically(path, text.encode())
    return changed


def ledger_summary(counts: dict[str, dict[str, int]]) -> list[str]:
    """Say the totals in words, a line each for all papers and for every one."""
    lines = []
    for name, count in counts.items():
        cells = ", ".join(
            f"{count[v.replace(' ', '_')]} {v}" for v in VERDICTS if v not in ("holds", "fails")
        )
        said = f"{count['holds']} hold, {count['fails']} fail"
        compared = f"{count['compared']} of {count['printed']} printed numbers compared"
        lines.append(f"{name}: {compared}; {count['claims']} claims: {said}; {cells}")
    return lines
