"""The ledger: every printed number and every claim beside ours, with a verdict (``verdicts``) by its rule.

Numbers are kept as they were computed and rounded once, where they are written. What a paper's printed
numbers are compared with is a table of ``Rule``: the *declared reading* of the paper, chosen before the
numbers were there. Where the printed numbers point to another, a second table has the *best reading*, chosen
after; it stands in columns of its own and changes no count of the first. A number that is printed twice
counts once. The score is the ledger's totals as tables in Markdown, for the site and for README.md.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kernsemble.data.schema import csv_text, read_table
from kernsemble.report.comparisons import resample, significant, z_score
from kernsemble.report.published import Claim, PrintedCell, own_cells, own_claims, read_cells, read_claims
from kernsemble.report.verdicts import (
    COMPARED,
    DECIDED,
    LATE,
    Answer,
    Verdict,
    of_claim,
    of_part,
    of_ratio,
    of_score,
    of_share,
)
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import IncompleteEvidenceError, Sample, write_atomically
from kernsemble.trials.registry import available_papers
from kernsemble.trials.rooms import PAPERS, modules_with
from kernsemble.trials.study import Study
from kernsemble.trials.warrants import Standing, sentence

EXACT = "printed as exact"  # the note of a cell without a spread
TICK = 1e-9  # seconds: a clock may stand still while something short is timed
Spread = Literal["standard error", "standard deviation"] | None


@dataclass(frozen=True)
class Derived:
    """A number computed from several samples, such as an average rank, with its standard error."""

    value: float
    se: float = 0.0
    samples: Sequence[Sample] = ()

    @property
    def mean(self) -> float:
        """The number, by the name that it has in a sample."""
        return self.value

    @property
    def runs(self) -> int:
        """Runs behind the number."""
        return min((sample.runs for sample in self.samples), default=1)


@dataclass(frozen=True)
class _Apart:
    verdict: Verdict
    note: str
    ours: Sample | Derived | None = None


def other_task(note: str, ours: Sample | Derived | None = None) -> _Apart:
    """Say that the paper's task is not known, and what stands in for it."""
    return _Apart(Verdict.OTHER_TASK, note, ours)


def unavailable(note: str) -> _Apart:
    """Say that the data cannot be had; the note names it."""
    return _Apart(Verdict.UNAVAILABLE, note)


Found = Sample | Derived | _Apart


@dataclass(frozen=True)
class Finding:
    """What a check found.

    ``holds`` says whether the claim does; of a claim in parts, the number that decides each. Of one without,
    ``probability`` is the share of bootstrap resamples in which it holds. ``facts`` are what the rule
    computed, by the names that the check declares; ``note`` says the numbers, with facts in braces.
    """

    holds: bool | Mapping[str, Answer]
    probability: float | None = None
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "note", self.note.format_map(self.facts))

    def verdicts(self, claim: Claim) -> dict[str, Verdict]:
        """Return the verdict on each part of a claim; of a claim without parts, on all of it, by no name."""
        if not isinstance(self.holds, Mapping):
            whole = of_share(self.holds, self.probability, theorem=claim.theorem)
            return {"": whole}
        if set(self.holds) != set(claim.parts):
            found, written = (", ".join(sorted(names)) for names in (self.holds, claim.parts))
            raise PlanError(
                f"claim {claim.id}: its check answers {found}; claims.yaml has the parts {written}."
            )
        return {
            name: of_part(part.rule, self.holds[name], theorem=claim.theorem)
            for name, part in claim.parts.items()
        }


def measure(
    statistic: Callable[..., float],
    ours: np.ndarray | tuple[np.ndarray, ...],
    printed: np.ndarray | None = None,
    *,
    n_resamples: int = 1000,
) -> Answer:
    """Return a statistic of our runs, of the printed numbers as if they were one run, and of resamples."""
    arrays = ours if isinstance(ours, tuple) else (ours,)
    several = n_resamples and max(map(len, arrays)) > 1
    return Answer(
        float(statistic(*arrays)),
        None if printed is None else float(statistic(printed)),
        resample(arrays, statistic, n_resamples=n_resamples).astype(float) if several else None,
    )


_OURS = {"claim": "{:.3f}".format, "part": "{:.4g}".format}


@dataclass(frozen=True)
class LedgerRow:
    """One row of the ledger.

    Of a claim, ``row`` is its id, ``column`` the name of a part, and ``ours`` its probability. Printed
    numbers keep their digits, ours are as computed. ``repeats`` says where the same number is printed first:
    such a row counts nowhere. The best reading is there where it is another than the declared one. A number
    of ours beside which nothing is printed has no verdict; the ledger has no such row.
    """

    paper: str
    exhibit: str
    row: str
    column: str
    kind: Literal["cell", "claim", "part"]
    printed: str = ""
    printed_spread: str = ""
    ours: float | None = None
    ours_spread: float | None = None
    runs: int | None = None
    z: float | None = None
    verdict: Verdict | None = None
    note: str = ""
    repeats: str = ""
    best: float | None = None
    best_spread: float | None = None
    best_runs: int | None = None
    best_z: float | None = None
    best_verdict: Verdict | None = None
    best_reading: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """The row as ``ledger.csv`` has it: here, and nowhere before, its numbers are rounded."""
        forms: dict[str, Callable] = {"ours": _OURS.get(self.kind, significant)}
        forms |= {"best": significant} | dict.fromkeys(("z", "best_z"), "{:.2f}".format)
        forms |= dict.fromkeys(("ours_spread", "best_spread"), lambda spread: significant(spread, 3))
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: "" if value is None else forms.get(name, str)(value) for name, value in values.items()}

    @classmethod
    def read(cls, texts: Mapping[str, str]) -> LedgerRow:
        """Return the row that a line of ``ledger.csv`` holds, its numbers rounded as they stand there."""
        numbers = ("ours", "ours_spread", "z", "best", "best_spread", "best_z")
        types = dict.fromkeys(numbers, float) | {"runs": int, "best_runs": int, "best_verdict": Verdict}
        read = {name: kind(texts[name]) if texts[name] else None for name, kind in types.items()}
        return cls(**{**texts, **read, "verdict": Verdict(texts["verdict"])})


_LEDGER_COLUMNS = [column.name for column in fields(LedgerRow)]


@dataclass(frozen=True)
class Rule:
    """A line of the table that leads from printed cells to the trials beside them.

    ``exhibit``, ``row`` and ``column`` are patterns of the names in ``published.csv``, or tuples of them:
    ``{name}`` stands for any text, and for the same text in the place of the trials. What no pattern names is
    taken from the cell: the dataset is its row, the method its column, and so is the metric.

    Attributes
    ----------
    exhibit, row, column : str or tuple of str
        The cells that the rule is about.
    evidence, dataset, method, metric : str
        The sample that stands beside such a cell; ``read`` finds what no single sample is.
    spread : {"standard error", "standard deviation", None}
        What the paper prints beside its numbers. None: nothing, and our deviation stands for theirs.
    runs : int or None
        Runs behind a printed number; with ``spread=None``, None takes the printed number as exact.
    unit : tuple of str or None
        Exhibit, row and column of the printed cell to which ratios are compared, such as seconds of one
        method of the same block. With ``other_task`` the ratio is told and not judged.
    other_task, unavailable : str
        What the paper does not say of its task, so that ours is a guess; what cannot be had.
    repeats : tuple of str or None
        Exhibit, row and column of the cell that prints the same number.
    name : str
        Of a best reading: what it is.

    Examples
    --------
    >>> from kernsemble.report.ledger import Rule
    >>> rule = Rule(
    ...     "table2", "{dataset}/{method}", "T_trn", metric="fit_seconds", spread=None, runs=1
    ... )
    >>> rule.place("table2", "Pima/1-norm/L", "T_trn")
    ('table2', 'fit_seconds', 'Pima', '1-norm/L')
    """

    exhibit: str | tuple[str, ...]
    row: str | tuple[str, ...] = "{row}"
    column: str | tuple[str, ...] = "{column}"
    _: KW_ONLY
    spread: Spread
    runs: int | None
    evidence: str = "{exhibit}"
    dataset: str = "{dataset}"
    method: str = "{method}"
    metric: str = "{metric}"
    read: Callable[[Study, str, str, str], Found] | None = None
    unit: tuple[str, str, str] | None = None
    other_task: str = ""
    unavailable: str = ""
    repeats: tuple[str, str, str] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.spread == "standard deviation" and not self.runs:
            raise PlanError(f"{self}: a standard deviation needs the number of runs behind it.")

    def names(self, exhibit: str, row: str, column: str) -> dict[str, str] | None:
        """Return what the names in the patterns stand for; None when the rule is not about the cell."""
        names = {"row": row, "column": column, "dataset": row, "method": column, "metric": column}
        for patterns, text in ((self.exhibit, exhibit), (self.row, row), (self.column, column)):
            several = (patterns,) if isinstance(patterns, str) else patterns
            found = next((match for one in several if (match := _pattern(one).fullmatch(text))), None)
            if found is None:
                return None
            names |= found.groupdict()
        return names | {"exhibit": exhibit}

    def place(self, exhibit: str, row: str, column: str) -> tuple[str, str, str, str]:
        """Return evidence, metric, dataset and method of the sample beside a cell."""
        names = self.names(exhibit, row, column)
        return tuple(t.format_map(names) for t in (self.evidence, self.metric, self.dataset, self.method))

    def other(self, place: tuple[str, str, str], cell: PrintedCell, study: Study) -> PrintedCell:
        """Return the printed cell that ``unit`` or ``repeats`` names, seen from a cell."""
        names = self.names(cell.exhibit, cell.row, cell.column)
        wanted = tuple(text.format_map(names) for text in place)
        found = [c for c in own_cells(study) if (c.exhibit, c.row, c.column) == wanted]
        if not found:
            raise PlanError(f"{cell}: its rule names a cell that is not printed: {wanted}.")
        return found[0]

    def find(self, study: Study, cell: PrintedCell) -> Found:
        """Return what stands beside a printed cell."""
        where = cell.exhibit, cell.row, cell.column
        if self.unavailable:
            return unavailable(self.unavailable)
        if self.read:
            return self.read(study, *where)
        evidence, metric, dataset, method = self.place(*where)
        return study.evidence(evidence).sample(metric, dataset=dataset, method=method)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\})", text)
    return re.compile("".join(f"(?P<{p[1:-1]}>.+?)" if p[:1] == "{" else re.escape(p) for p in parts))


class Reading:
    """How a paper's printed numbers are read off its evidence, the checks of its claims, and its facts.

    ``rules`` are the declared reading, from the general to the exceptions: the last that covers a cell is its
    own. ``best`` is another, chosen after the numbers had been seen; each of its rules has a name. ``checks``
    has the function ``(study) -> Finding`` of each claim, ``sources`` those of the facts of exhibits,
    ``declared`` the names of all facts.
    """

    def __init__(self, key: str, rules: Sequence[Rule] = (), best: Sequence[Rule] = ()) -> None:
        self.key = key
        self.rules, self.best = tuple(rules), tuple(best)
        if unnamed := [rule for rule in best if not rule.name]:
            raise PlanError(f"{key}: a best reading needs a name: {unnamed[0]}.")
        self.checks: dict[str, Callable[[Study], Finding]] = {}
        self.sources: dict[str, Callable[[Study], Mapping[str, Any]]] = {}
        self.declared: dict[str, tuple[str, ...]] = {}

    def claim(self, claim_id: str, *facts: str) -> Callable:
        """Register the check of a claim, and the names of its facts; its own stands in ``claims.yaml``."""
        return self._register(self.checks, claim_id, facts, f"claim {claim_id!r} has two checks")

    def facts(self, exhibit: str, *facts: str) -> Callable:
        """Register a function ``(study) -> mapping`` that computes facts of an exhibit, and their names."""
        return self._register(self.sources, exhibit, facts, f"exhibit {exhibit!r} has two functions of facts")

    def _register(
        self, table: dict[str, Callable], name: str, facts: tuple[str, ...], twice: str
    ) -> Callable:
        def register(function: Callable) -> Callable:
            if name in table:
                raise PlanError(f"{self.key}: {twice}.")
            table[name], self.declared[name] = function, facts
            return function

        return register

    def rule(self, cell: PrintedCell, *, best: bool = False) -> Rule | None:
        """Return the rule for a cell: the last one that covers it, of the declared or of the best reading."""
        where, rules = (cell.exhibit, cell.row, cell.column), self.best if best else self.rules
        return next((rule for rule in reversed(rules) if rule.names(*where) is not None), None)


def load_reading(key: str) -> Reading | None:
    """Return the reading of a paper, with all that its room says of it; None when it is not written yet.

    For a paper outside the rooms, given as ``package.module``, it is that of ``package.reading``.
    """
    if "." in key:
        name = f"{key.rpartition('.')[0]}.reading"
        names = (name,) if find_spec(name) else ()
    else:
        names = (*modules_with(key, "reading = "), *modules_with(key, "@reading."))
    readings = [import_module(name).reading for name in names]
    return readings[-1] if readings else None


def judge_cell(cell: PrintedCell, reading: Reading | None, study: Study | None) -> LedgerRow:
    """Return the ledger's row for a printed number."""
    rule = reading.rule(cell) if reading else None
    if rule is None or study is None:
        return _row(cell, Verdict.PENDING, note="not reproduced yet")
    row = _judged(cell, rule, reading, study)
    if rule.repeats:
        first = rule.other(rule.repeats, cell, study)
        if first.mean != cell.mean:
            raise PlanError(f"{cell}: its rule says that it repeats {first}, but the numbers differ.")
        row = replace(row, repeats=f"{first.exhibit} [{first.row}, {first.column}]")
    if second := reading.rule(cell, best=True):
        best = _judged(cell, second, reading, study)
        row = replace(
            row, best=best.ours, best_spread=best.ours_spread, best_runs=best.runs, best_z=best.z,
            best_verdict=best.verdict, best_reading=second.name,
        )  # fmt: skip
    return row


def _judged(cell: PrintedCell, rule: Rule, reading: Reading, study: Study) -> LedgerRow:
    found = _found(cell, rule, study)
    if isinstance(found, LedgerRow):
        return found
    if isinstance(found, _Apart):
        return _row(cell, found.verdict, found.ours, rule, found.note)
    note = rule.other_task
    if rule.unit:
        unit = rule.other(rule.unit, cell, study)
        beside = found if unit == cell else _found(unit, reading.rule(unit), study)
        if isinstance(beside, LedgerRow):
            return _row(cell, beside.verdict, found, rule, beside.note)
        printed, ours = cell.value / unit.value, found.mean / max(beside.mean, TICK)
        ratios = (
            f"{significant(printed, 3)} times {unit.row}, {unit.column}; here {significant(ours, 3)} times"
        )
        if not note:
            verdict = Verdict.UNIT if unit == cell else of_ratio(ours, printed)
            return _row(cell, verdict, found, rule, "" if unit == cell else ratios)
        note = note if unit == cell else f"{note}; {ratios}"
    return _row(cell, Verdict.OTHER_TASK, found, rule, note) if note else _compared(cell, found, rule)


def _found(cell: PrintedCell, rule: Rule, study: Study) -> Found | LedgerRow:
    """Return what stands beside a cell; where that is not complete, the row that says so."""
    try:
        found = rule.find(study, cell)
    except IncompleteEvidenceError as error:
        return _row(cell, _late(error.stale), note=str(error))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        name = rule.read.__name__ if rule.read else "its rule"
        raise PlanError(f"{cell}: {name} failed: {type(error).__name__}: {error}") from error
    if isinstance(found, _Apart):
        return found
    samples = [found] if isinstance(found, Sample) else list(found.samples)
    if not all(sample.complete for sample in samples):
        done, wanted = sum(s.runs for s in samples), sum(s.expected for s in samples)
        return _row(cell, _late(any(s.stale for s in samples)), found, rule, f"{done} of {wanted} runs")
    return found


def _late(stale: bool) -> Verdict:
    return Verdict.STALE if stale else Verdict.PENDING


def _compared(cell: PrintedCell, ours: Sample | Derived, rule: Rule) -> LedgerRow:
    value, se_ours, runs = ours.mean, ours.se, ours.runs
    std_ours = se_ours * runs**0.5
    if rule.spread is None:
        se_printed = std_ours / rule.runs**0.5 if rule.runs else 0.0
        over = "one run" if rule.runs == 1 else f"{rule.runs} runs"
        basis = f"no spread is printed; ours is taken, for {over}" if rule.runs else EXACT
    else:
        deviation = rule.spread == "standard deviation"
        if not cell.spread:
            raise PlanError(f"{cell}: no spread is printed; register it with spread=None.")
        se_printed = float(cell.spread) / (rule.runs**0.5 if deviation else 1)
        basis = f"printed {rule.spread}" + (f", {rule.runs} runs" if rule.runs else "")
    if math.isnan(se_ours):  # a single run of ours: the printed deviation stands for its spread
        if rule.spread is None and rule.runs:
            return _row(cell, Verdict.NOISY, ours, rule, "one run at this scale")
        se_ours = se_printed * (rule.runs or 1) ** 0.5 if rule.spread else 0.0
    if se_ours == se_printed == 0:
        value = round(value, cell.decimals)
    z = z_score(value, cell.value, se_ours, se_printed)
    verdict = of_score(z, math.hypot(se_ours, se_printed), cell.value)
    return _row(cell, verdict, ours, rule, basis, z)


def own_row(cell: PrintedCell, rule: Rule, study: Study) -> LedgerRow:
    """Return the row of a method that the paper does not have, beside a cell that stands for it."""
    try:
        found = rule.find(study, cell)
    except IncompleteEvidenceError:
        found = None
    sample = found if isinstance(found, Sample) else getattr(found, "ours", None)
    known = isinstance(sample, Sample) and sample.runs
    verdict = None if known and sample.complete else Verdict.PENDING
    return _row(replace(cell, mean="", spread=""), verdict, sample if known else None, rule)


def _row(
    cell: PrintedCell,
    verdict: Verdict | None,
    ours: Sample | Derived | None = None,
    rule: Rule | None = None,
    note: str = "",
    z: float | None = None,
) -> LedgerRow:
    value = spread = runs = None
    if ours is not None and ours.runs and not math.isnan(ours.mean):
        value, runs = ours.mean, ours.runs
        deviation = rule is not None and rule.spread != "standard error"
        shown = ours.se * (runs**0.5 if deviation else 1)
        spread = None if math.isnan(shown) else shown
    names = (cell.paper, cell.exhibit, cell.row, cell.column)
    return LedgerRow(*names, "cell", cell.mean, cell.spread, value, spread, runs, z, verdict, note)


def judge_claim(claim: Claim, reading: Reading | None, study: Study | None) -> list[LedgerRow]:
    """Return the ledger's rows for a claim: its own, then one for each part."""
    check = reading.checks.get(claim.id) if reading else None
    if check is None or study is None:
        return _claim_rows(claim, "not reproduced yet", Verdict.PENDING)
    if check.__name__ != claim.check:
        raise PlanError(
            f"claim {claim.id}: the check is {check.__name__!r}, claims.yaml says {claim.check!r}."
        )
    try:
        finding = check(study)
    except IncompleteEvidenceError as error:
        return _claim_rows(claim, str(error), _late(error.stale))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PlanError(f"claim {claim.id}: {claim.check} failed: {type(error).__name__}: {error}") from error
    verdicts = finding.verdicts(claim)
    answers = {name: (verdicts[name], finding.holds[name]) for name in claim.parts}
    return _claim_rows(claim, finding.note, of_claim(verdicts.values()), finding.probability, answers)


def _claim_rows(
    claim: Claim,
    note: str,
    verdict: Verdict,
    probability: float | None = None,
    answers: Mapping[str, tuple[Verdict, Answer]] | None = None,
) -> list[LedgerRow]:
    """Return the row of a claim and those of its parts, which share its verdict where they have no answer."""
    answers = dict.fromkeys(claim.parts, (verdict, Answer(math.nan))) | (answers or {})
    names = (claim.paper, claim.exhibit, claim.id, "")
    whole = LedgerRow(*names, "claim", ours=probability, verdict=verdict, note=note)
    return [whole, *(_part_row(claim, name, *answers[name]) for name in claim.parts)]


def _part_row(claim: Claim, name: str, verdict: Verdict, answer: Answer) -> LedgerRow:
    rule = claim.parts[name].rule
    printed = "" if answer.printed is None else f"{answer.printed:.3g}"
    ours = None if math.isnan(answer.value) else answer.value
    share = answer.share(rule)
    told = [answer.note, "" if share is None else f"kept by {100 * share:.0f} % of resamples"]
    if answer.printed is not None and not rule.keeps(answer.printed):
        told.append("the printed numbers fail the rule themselves")
    note = "; ".join(filter(None, (str(rule), *told)))
    names = (claim.paper, claim.exhibit, claim.id, name)
    return LedgerRow(*names, "part", printed, ours=ours, verdict=verdict, note=note)


def judge_cells(study: Study) -> list[LedgerRow]:
    """Return the rows of a study's printed numbers; raise unless its scale has the evidence of all."""
    reading = load_reading(study.module)
    return _settled(judge_cell(cell, reading, study) for cell in own_cells(study))


def judge_claims(study: Study) -> list[LedgerRow]:
    """Return the rows of a study's claims (not of parts); raise unless its scale has the evidence of all."""
    reading = load_reading(study.module)
    return _settled(judge_claim(claim, reading, study)[0] for claim in own_claims(study))


def _settled(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    rows = list(rows)
    if late := [row for row in rows if row.verdict in LATE]:
        raise IncompleteEvidenceError(
            f"{len(rows) - len(late)} of {len(rows)} {rows[0].kind}s are settled",
            stale=any(row.verdict == Verdict.STALE for row in late),
        )
    return rows


def committed_studies(root: Path) -> dict[str, Study]:
    """Return the studies that read the committed evidence and compute nothing."""
    return {key: Study(key, "paper", root, compute=False) for key in available_papers()}


def judge_all(root: Path, studies: Mapping[str, Study] | None = None) -> list[LedgerRow]:
    """Judge every printed number and every claim on the committed evidence."""
    studies = committed_studies(root) if studies is None else studies
    readings = {key: load_reading(key) for key in PAPERS}
    cells = read_cells(root / "published" / "published.csv")
    claims = read_claims(root / "published" / "claims.yaml")
    rows = [judge_cell(cell, readings.get(cell.paper), studies.get(cell.paper)) for cell in cells]
    return rows + [r for c in claims for r in judge_claim(c, readings.get(c.paper), studies.get(c.paper))]


def standings(studies: Iterable[Study]) -> dict[str, Standing]:
    """Return how the rows of studies stand, overall and of each."""
    own = {study.key: study.standing for study in studies}
    return {"overall": sum(own.values(), Standing()), **own}


def totals(rows: Iterable[LedgerRow]) -> dict[str, dict]:
    """Count verdicts per paper and overall; every count stands beside its denominator."""
    rows = list(rows)
    present = dict.fromkeys(row.paper for row in rows)
    ordered = sorted(present, key=lambda key: PAPERS.index(key) if key in PAPERS else len(PAPERS))
    by_paper = {key: _count([row for row in rows if row.paper == key]) for key in ordered}
    return {"overall": _count(rows), **by_paper}


def _count(rows: Sequence[LedgerRow]) -> dict[str, Any]:
    cells, claims, parts = ([row for row in rows if row.kind == kind] for kind in ("cell", "claim", "part"))
    best = sum((row.best_verdict or row.verdict) == Verdict.MATCH for row in cells if not row.repeats)
    return {
        "printed": len(cells),
        "numbers": count_verdicts(cells) | {"best": best},
        "claims": count_verdicts(claims),
        "parts": count_verdicts(parts),
    }


def count_verdicts(rows: Iterable[LedgerRow]) -> dict[str, int]:
    """Count verdicts by their keys, and ``all``; what is printed twice counts once."""
    verdicts = Counter(row.verdict for row in rows if not row.repeats)
    return {
        "all": verdicts.total(),
        **{verdict.key: verdicts[verdict] for verdict in Verdict if verdicts[verdict]},
    }


def read_ledger(path: Path) -> list[LedgerRow]:
    """Read ``ledger.csv``; one with other columns is of another version."""
    try:
        return [LedgerRow.read(line) for _, line in read_table(path, _LEDGER_COLUMNS)]
    except ValueError as error:
        raise PlanError(f"{error} For one with other columns: python -m kernsemble ledger") from None


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
    lines = [_LEDGER_COLUMNS, *(row.texts.values() for row in rows)]
    contents = {"ledger.csv": csv_text(lines), "ledger.json": json.dumps(counts, indent=2) + "\n"}
    return [
        name for name, text in contents.items() if write_atomically(folder / name, text.encode(), write=write)
    ]


def ledger_summary(counts: dict[str, dict[str, Any]]) -> list[str]:
    """Say the totals in words, a line each for all papers and for every one."""
    return [
        f"{name}: {_in_words(count['numbers'])} of {count['numbers']['all']} distinct printed numbers "
        f"({count['numbers']['best']} match by the best reading); {_in_words(count['claims'])} of "
        f"{count['claims']['all']} claims; {_in_words(count['parts'])} of their parts"
        for name, count in counts.items()
    ]


def _in_words(count: Mapping[str, int]) -> str:
    return ", ".join(f"{count[v.key]} {v}" for v in Verdict if count.get(v.key)) or "0"


OF_CELLS = (*COMPARED, Verdict.UNIT, Verdict.OTHER_TASK, Verdict.UNAVAILABLE, *LATE)
OF_CLAIMS = (*DECIDED, *LATE)
BEGIN, END = "<!-- score: written by python -m kernsemble ledger -->", "<!-- end of score -->"


def score_table(rows: Sequence[LedgerRow], link: Callable[[str], str] = "`{}`".format) -> str:
    """Return the totals of each paper and of all as tables in Markdown: printed numbers, claims, parts."""
    counts = totals(rows)
    every = {link(key): counts.get(key, _count([])) for key in PAPERS} | {"**all**": counts["overall"]}
    columns = {
        "numbers": {"all": "distinct numbers", **{v.key: v for v in OF_CELLS}, "best": "match, best reading"},
        "claims": {"all": "claims", **{v.key: v for v in OF_CLAIMS}},
        "parts": {"all": "parts of claims", **{v.key: v for v in OF_CLAIMS if v != Verdict.IN_PART}},
    }
    for kind, heads in columns.items():  # a verdict that nothing has is left out
        columns[kind] = {
            key: head for key, head in heads.items() if key == "all" or counts["overall"][kind].get(key)
        }
    return "\n\n".join(
        "\n".join(
            [
                f"| paper | {' | '.join(heads.values())} |",
                "|---|" + "---:|" * len(heads),
                *(
                    f"| {name} | {' | '.join(str(count[kind].get(key, 0)) for key in heads)} |"
                    for name, count in every.items()
                ),
            ]
        )
        for kind, heads in columns.items()
    )


def update_readme(rows: Sequence[LedgerRow], path: Path, standing: str = "", *, write: bool = True) -> bool:
    """Put the score between its marks in README.md, and below it how the rows behind it stand.

    Return whether that changes the file, or would.
    """
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise PlanError(f"{path}: expected one pair of marks {BEGIN!r} and {END!r}.")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    score = "\n\n".join(filter(None, (score_table(rows), standing)))
    return write_atomically(path, f"{before}{BEGIN}\n\n{score}\n\n{END}{after}".encode(), write=write)
