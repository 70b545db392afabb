"""The ledger: every printed number and every claim beside ours, with a verdict by rules fixed in advance.

z = (ours - printed) / sqrt(se_printed^2 + se_ours^2). Numbers are kept as they were computed and rounded
once, where they are written. What a paper's printed numbers are compared with is a table of ``Rule``. The
score is the ledger's totals as a table in Markdown, for the site and for README.md.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import StrEnum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from kernsemble.report.comparisons import significant, z_score
from kernsemble.report.published import Claim, PrintedCell, own_cells, own_claims, read_cells, read_claims
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import IncompleteEvidenceError, Sample, write_atomically
from kernsemble.trials.registry import available_papers
from kernsemble.trials.rooms import PAPERS, modules_with
from kernsemble.trials.study import Study
from kernsemble.trials.warrants import Standing, sentence


class Verdict(StrEnum):
    """All verdicts, in the order of the totals, each with its mark."""

    mark: str

    def __new__(cls, text: str, mark: str) -> Verdict:
        """Make a verdict that is its own text."""
        verdict = str.__new__(cls, text)
        verdict._value_, verdict.mark = text, mark
        return verdict

    MATCH = "match", "✓"  # |z| is at most 2
    BETTER = "better", "▲"  # beyond, by the direction of the rule
    WORSE = "worse", "▼"
    HOLDS = "holds", "✓"
    FAILS = "fails", "✗"
    NOT_COMPARABLE = "not comparable", "≁"  # such as an absolute time of other hardware
    UNAVAILABLE = "unavailable", "∅"  # data that cannot be had
    STALE = "stale", "stale"  # evidence that has to be computed again
    PENDING = "pending", "…"  # evidence that has to be computed


COMPARED = (Verdict.MATCH, Verdict.BETTER, Verdict.WORSE)
DECIDED = (Verdict.HOLDS, Verdict.FAILS)
LATE = (Verdict.STALE, Verdict.PENDING)
EXACT = "printed as exact"  # the note of a cell without a spread
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
    verdict: Verdict
    note: str
    ours: Sample | Derived | None = None


def not_comparable(note: str, ours: Sample | Derived | None = None) -> _Apart:
    """Say that a printed number cannot be compared (such as seconds on other hardware), and why."""
    return _Apart(Verdict.NOT_COMPARABLE, note, ours)


def unavailable(note: str, ours: Sample | Derived | None = None) -> _Apart:
    """Say that the data cannot be had; the note names it and what stands in for it."""
    return _Apart(Verdict.UNAVAILABLE, note, ours)


Found = Sample | Derived | _Apart


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    holds : bool
    probability : float or None
        Share of bootstrap resamples in which the claim holds.
    note : str
        The numbers in words; facts are named in braces, as in ``say``.
    facts : mapping of str to float or str
        What the rule computed, by the names that the check declares.
    """

    holds: bool
    probability: float | None
    note: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "note", self.note.format_map(self.facts))


@dataclass(frozen=True)
class LedgerRow:
    """One row of the ledger.

    Attributes
    ----------
    paper, exhibit, row, column : str
        ``row`` is the id of a claim.
    kind : {"cell", "claim"}
    printed, printed_spread : str
        With the digits that are printed; empty for a claim.
    ours, ours_spread, z : float or None
        As computed; for a claim, ``ours`` is its probability.
    runs : int or None
    verdict : Verdict
    note : str
    """

    paper: str
    exhibit: str
    row: str
    column: str
    kind: Literal["cell", "claim"]
    printed: str
    printed_spread: str
    ours: float | None
    ours_spread: float | None
    runs: int | None
    z: float | None
    verdict: Verdict
    note: str

    @property
    def texts(self) -> dict[str, str]:
        """The row as ``ledger.csv`` has it: here, and nowhere before, its numbers are rounded."""
        forms = {"ours": "{:.3f}".format if self.kind == "claim" else significant}
        forms |= {"ours_spread": lambda spread: significant(spread, 3), "z": "{:.2f}".format}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: "" if value is None else forms.get(name, str)(value) for name, value in values.items()}

    @classmethod
    def read(cls, texts: Mapping[str, str]) -> LedgerRow:
        """Return the row that a line of ``ledger.csv`` holds, its numbers rounded as they stand there."""
        types = {"ours": float, "ours_spread": float, "z": float, "runs": int}
        numbers = {name: read(texts[name]) if texts[name] else None for name, read in types.items()}
        return cls(**{**texts, **numbers, "verdict": Verdict(texts["verdict"])})


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
        The sample that stands beside such a cell.
    read : callable, optional
        Function ``(study, exhibit, row, column)`` that finds what no single sample is.
    spread : {"standard error", "standard deviation", None}
        What the paper prints beside its numbers. None: nothing, and our deviation stands for theirs.
    runs : int or None
        Runs behind a printed number; with ``spread=None``, None takes the printed number as exact.
    better : {"lower", "higher", "equal"}
        Which direction beyond ``|z| = 2`` is better; "equal": none is.
    not_comparable : str
        Why such a number cannot be compared, once ours is there.
    unavailable : str
        What cannot be had, and what stands in for it.

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
    better: Literal["lower", "higher", "equal"] = "lower"
    evidence: str = "{exhibit}"
    dataset: str = "{dataset}"
    method: str = "{method}"
    metric: str = "{metric}"
    read: Callable[[Study, str, str, str], Found] | None = None
    not_comparable: str = ""
    unavailable: str = ""

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

    def find(self, study: Study, cell: PrintedCell) -> Found:
        """Return what stands beside a printed cell."""
        where = cell.exhibit, cell.row, cell.column
        if self.unavailable:
            return unavailable(self.unavailable)
        if self.read:
            return self.read(study, *where)
        evidence, metric, dataset, method = self.place(*where)
        sample = study.evidence(evidence).sample(metric, dataset=dataset, method=method)
        apart = self.not_comparable and sample.complete
        return not_comparable(self.not_comparable, sample) if apart else sample


@cache
def _pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"(\{\w+\})", text)
    return re.compile("".join(f"(?P<{p[1:-1]}>.+?)" if p[:1] == "{" else re.escape(p) for p in parts))


class Reading:
    """How a paper's printed numbers are read off its evidence, the checks of its claims, and its facts.

    Parameters
    ----------
    key : str
        Key of the paper.
    rules : sequence of Rule
        From the general to the exceptions: the last one that covers a cell is its own.

    Attributes
    ----------
    checks : dict of str to callable
        The check ``(study) -> Finding`` of each claim.
    sources : dict of str to callable
        The facts ``(study) -> mapping`` of exhibits.
    declared : dict of str to tuple of str
        The names of the facts of each claim and exhibit.
    """

    def __init__(self, key: str, rules: Sequence[Rule] = ()) -> None:
        self.key = key
        self.rules = tuple(rules)
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

    def rule(self, cell: PrintedCell) -> Rule | None:
        """Return the rule for a cell: the last one that covers it."""
        where = cell.exhibit, cell.row, cell.column
        return next((rule for rule in reversed(self.rules) if rule.names(*where) is not None), None)


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
    try:
        found = rule.find(study, cell)
    except IncompleteEvidenceError as error:
        return _row(cell, _late(error.stale), note=str(error))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        name = rule.read.__name__ if rule.read else "its rule"
        raise PlanError(f"{cell}: {name} failed: {type(error).__name__}: {error}") from error
    if isinstance(found, _Apart):
        return _row(cell, found.verdict, found.ours, rule, found.note)
    samples = [found] if isinstance(found, Sample) else list(found.samples)
    if not all(sample.complete for sample in samples):
        done, wanted = sum(len(s.values) for s in samples), sum(s.expected for s in samples)
        return _row(cell, _late(any(s.stale for s in samples)), found, rule, f"{done} of {wanted} runs")
    return _compared(cell, found, rule)


def _late(stale: bool) -> Verdict:
    return Verdict.STALE if stale else Verdict.PENDING


def _compared(cell: PrintedCell, ours: Sample | Derived, rule: Rule) -> LedgerRow:
    value, se_ours, runs = _value(ours), ours.se, _runs(ours)
    std_ours = se_ours * runs**0.5
    if rule.spread is None:
        se_printed = std_ours / rule.runs**0.5 if rule.runs else 0.0
        unprinted = f"no spread printed; ours stands for it, {rule.runs} runs"
        basis = unprinted if rule.runs else EXACT
    else:
        deviation = rule.spread == "standard deviation"
        if not cell.spread:
            raise PlanError(f"{cell}: no spread is printed; register it with spread=None.")
        se_printed = float(cell.spread) / (rule.runs**0.5 if deviation else 1)
        basis = f"printed {rule.spread}" + (f", {rule.runs} runs" if rule.runs else "")
    if math.isnan(se_ours):  # a single run of ours: the printed deviation stands for its spread
        if rule.spread is None and rule.runs:
            return _row(cell, Verdict.NOT_COMPARABLE, ours, rule, "one run at this scale")
        se_ours = se_printed * (rule.runs or 1) ** 0.5 if rule.spread else 0.0
    if se_ours == se_printed == 0:
        value = round(value, cell.decimals)
    z = z_score(value, cell.value, se_ours, se_printed)
    return _row(cell, _verdict(z, rule.better), ours, rule, basis, z)


def _verdict(z: float, better: str) -> Verdict:
    if abs(z) <= 2:
        return Verdict.MATCH
    is_better = better != "equal" and (z < 0) == (better == "lower")
    return Verdict.BETTER if is_better else Verdict.WORSE


def _row(
    cell: PrintedCell,
    verdict: Verdict,
    ours: Sample | Derived | None = None,
    rule: Rule | None = None,
    note: str = "",
    z: float | None = None,
) -> LedgerRow:
    value = spread = runs = None
    if ours is not None and _runs(ours) and not math.isnan(_value(ours)):
        value, runs = _value(ours), _runs(ours)
        deviation = rule is not None and rule.spread != "standard error"
        shown = ours.se * (runs**0.5 if deviation else 1)
        spread = None if math.isnan(shown) else shown
    names = (cell.paper, cell.exhibit, cell.row, cell.column)
    return LedgerRow(*names, "cell", cell.mean, cell.spread, value, spread, runs, z, verdict, note)


def _value(ours: Sample | Derived) -> float:
    return ours.mean if isinstance(ours, Sample) else ours.value


def _runs(ours: Sample | Derived) -> int:
    return len(ours.values) if isinstance(ours, Sample) else ours.runs


def judge_claim(claim: Claim, reading: Reading | None, study: Study | None) -> LedgerRow:
    """Return the ledger's row for a claim."""
    check = reading.checks.get(claim.id) if reading else None
    if check is None or study is None:
        return _claim_row(claim, Verdict.PENDING, None, "not reproduced yet")
    if check.__name__ != claim.check:
        raise PlanError(
            f"claim {claim.id}: the check is {check.__name__!r}, claims.yaml says {claim.check!r}."
        )
    try:
        finding = check(study)
    except IncompleteEvidenceError as error:
        return _claim_row(claim, _late(error.stale), None, str(error))
    except (KeyError, IndexError, TypeError, ValueError, ZeroDivisionError) as error:
        raise PlanError(f"claim {claim.id}: {claim.check} failed: {type(error).__name__}: {error}") from error
    return _claim_row(claim, DECIDED[not finding.holds], finding.probability, finding.note)


def _claim_row(claim: Claim, verdict: Verdict, probability: float | None, note: str) -> LedgerRow:
    names = (claim.paper, claim.exhibit, claim.id, "")
    return LedgerRow(*names, "claim", "", "", probability, None, None, None, verdict, note)


def judge_cells(study: Study) -> list[LedgerRow]:
    """Return the rows of a study's printed numbers; raise unless its scale has the evidence of all."""
    reading = load_reading(study.module)
    return _settled(judge_cell(cell, reading, study) for cell in own_cells(study))


def judge_claims(study: Study) -> list[LedgerRow]:
    """Return the rows of a study's claims; raise unless its scale has the evidence of all."""
    reading = load_reading(study.module)
    return _settled(judge_claim(claim, reading, study) for claim in own_claims(study))


def _settled(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    rows = list(rows)
    if late := [row for row in rows if row.verdict in LATE]:
        raise IncompleteEvidenceError(
            f"{len(rows) - len(late)} of {len(rows)} {rows[0].kind}s are settled",
            stale=any(row.verdict == Verdict.STALE for row in late),
        )
    return rows


def committed_studies(root: Path, papers: Sequence[str] | None = None) -> dict[str, Study]:
    """Return the studies (some, or all) that read the committed evidence and compute nothing."""
    written = available_papers()
    wanted = written if papers is None else [key for key in papers if "." in key or key in written]
    return {key: Study(key, "paper", root, compute=False) for key in wanted}


def judge_all(
    root: Path, papers: Sequence[str] = PAPERS, studies: Mapping[str, Study] | None = None
) -> list[LedgerRow]:
    """Judge every printed number and every claim on the committed evidence."""
    studies = committed_studies(root, papers) if studies is None else studies
    readings = {key: load_reading(key) for key in papers}
    cells = read_cells(root / "published" / "published.csv")
    claims = read_claims(root / "published" / "claims.yaml")
    rows = [judge_cell(cell, readings.get(cell.paper), studies.get(cell.paper)) for cell in cells]
    return rows + [judge_claim(c, readings.get(c.paper), studies.get(c.paper)) for c in claims]


def standings(studies: Iterable[Study]) -> dict[str, Standing]:
    """Return how the rows of studies stand, overall and of each."""
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
    counts = {name.replace(" ", "_"): verdicts[name] for name in Verdict}
    return {"printed": kinds["cell"], "claims": kinds["claim"], "compared": compared, **counts}


def read_ledger(path: Path) -> list[LedgerRow]:
    """Read ``ledger.csv``."""
    with path.open(encoding="utf-8", newline="") as file:
        return [LedgerRow.read(line) for line in csv.DictReader(file)]


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
    writer.writerows(row.texts.values() for row in rows)
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
        cells = ", ".join(f"{count[v.replace(' ', '_')]} {v}" for v in Verdict if v not in DECIDED)
        said = f"{count['holds']} hold, {count['fails']} fail"
        compared = f"{count['compared']} of {count['printed']} printed numbers compared"
        lines.append(f"{name}: {compared}; {count['claims']} claims: {said}; {cells}")
    return lines


APART = tuple(verdict for verdict in Verdict if verdict not in (*COMPARED, *DECIDED))
BEGIN, END = "<!-- score: written by python -m kernsemble ledger -->", "<!-- end of score -->"


def score_table(rows: Sequence[LedgerRow], link: Callable[[str], str] = "`{}`".format) -> str:
    """Return the totals of each paper and of all as a table in Markdown.

    Parameters
    ----------
    rows : sequence of LedgerRow
    link : callable, optional
        How the key of a paper is shown.
    """
    verdicts = (*COMPARED, *APART)
    lines = [
        f"| paper | printed | {' | '.join(verdicts)} | claims | hold | fail | open |",
        "|---|" + "---:|" * (len(verdicts) + 5),
    ]
    for key in (*PAPERS, None):
        own = [row for row in rows if key in (None, row.paper)]
        cells = [row.verdict for row in own if row.kind == "cell"]
        claims = [row.verdict for row in own if row.kind == "claim"]
        decided = list(map(claims.count, DECIDED))
        numbers = [len(cells), *map(cells.count, verdicts), len(claims), *decided, len(claims) - sum(decided)]
        lines.append(f"| {link(key) if key else '**all**'} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


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
    updated = f"{before}{BEGIN}\n\n{score}\n\n{END}{after}"
    if updated != text and write:
        write_atomically(path, updated.encode())
    return updated != text
