"""Why a row counts that other code has computed: adoptions, the paths that they make, and what they prove.

When the code of a trial function has changed, a sample of its rows is computed again. If all are equal, a
line of ``results/adoptions.csv`` says so, and the others count: a row counts when it was computed by today's
code, or when a path of such lines leads from its code to today's. Lines are never changed, only added. Each
says

- *same source*: the same code under another notation (a revision became an identity). No sample is needed;
- *same bits*: every row of the sample came out equal to the last digit;
- *same by rule*: every row came out equal by the rule of ``verify``.

The sample cannot be chosen: in each cell (dataset x method) it is the row whose hash with both codes is the
least. A drawn row has been computed by the new code, so it never counts because of the line that it was drawn
for: a line for which that is asked was not earned, and is refused.

Where n rows that were drawn at random are equal, at most 3/n of the others differ (95 %): (1 - 3/n)^n < 0.05.
The n of one step are those of all lines at that place of the paths; along a path the bounds add up.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields, replace
from datetime import date
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Annotated, Literal

from kernsemble.data.schema import csv_text, matching, read_table, record
from kernsemble.trials.errors import PlanError, as_plan_error, read_once
from kernsemble.trials.plan import Key

SAME_SOURCE, SAME_BITS, SAME_BY_RULE = KINDS = ("same source", "same bits", "same by rule")
_COLUMNS = {"source": "from", "target": "to"}  # of fields that have another name in the file
DEAR_SECONDS = 20.0  # rows of cells that take longer are not drawn where a method has others
REVISION_DIGITS = 10  # of the notation that the first rows have
TRUSTED_SHARE = 0.01


_Name = Annotated[str, matching(r"\w+", "a name")]
_Code = Annotated[str, matching("[0-9a-f]{8,64}", "a code (from, to)")]
_count = matching("[0-9]{1,9}", "a number of rows")
_Count = Annotated[int, lambda text: int(_count(text))]
_real = matching("[0-9][0-9.e+-]*", "a number")
_Real = Annotated[float, lambda text: float(_real(text))]

_day = matching(r"\d{4}-\d\d-\d\d", "a day, as 2026-11-19")
_Day = Annotated[str, lambda text: str(date.fromisoformat(_day(text)))]


@dataclass(frozen=True)
class Adoption:
    """One line: rows of an exhibit that code ``source`` computed count as if code ``target`` had.

    ``function`` names the trial functions, for readers. Of ``stale`` rows, ``run`` were computed again; their
    numbers differ by ``deviation`` at most.
    """

    paper: _Name
    exhibit: _Name
    function: Annotated[str, matching(r"\w+( \w+)*", "names of functions")]
    source: _Code
    target: _Code
    kind: Literal["same source", "same bits", "same by rule"]
    stale: _Count
    run: _Count
    deviation: _Real
    commit: Annotated[str, matching("([0-9a-f]{7,40})?", "a commit")]
    lock: Annotated[str, matching("([0-9a-f]{8}|other)?", "eight digits of a lock")]
    date: _Day

    def __str__(self) -> str:
        return f"{self.paper} {self.exhibit}: {self.source} -> {self.target} ({self.kind})"


FIELDS = tuple(field.name for field in fields(Adoption))
COLUMNS = tuple(_COLUMNS.get(name, name) for name in FIELDS)


@read_once
@as_plan_error()
def read_adoptions(path: Path) -> tuple[Adoption, ...]:
    """Read all adoptions; a line that cannot be true is an error that names it."""
    lines: list[Adoption] = []
    for where, cells in read_table(path, COLUMNS) if path.exists() else ():
        line = record(dict(zip(FIELDS, cells.values(), strict=True)), Adoption, where)
        try:
            _check(line, lines)
        except ValueError as error:
            raise PlanError(f"{where} is no adoption: {error}.") from None
        lines.append(line)
    return tuple(lines)


def format_adoptions(lines: Iterable[Adoption]) -> bytes:
    """Return the bytes of the whole file."""
    rows = (astuple(replace(line, deviation=f"{line.deviation:.3g}")) for line in lines)
    return csv_text([COLUMNS, *rows]).encode()


def _check(line: Adoption, before: Sequence[Adoption]) -> None:
    own = [other for other in before if (other.paper, other.exhibit) == (line.paper, line.exhibit)]
    if line.source == line.target:
        raise ValueError("it leads from a code to itself")
    if any((other.source, other.target) == (line.source, line.target) for other in own):
        raise ValueError("it is there twice")
    if line.kind == SAME_SOURCE:
        if not len(line.source) == REVISION_DIGITS < len(line.target):
            raise ValueError("the same source is said of a revision and its identity, of nothing else")
        if line.run or line.deviation:
            raise ValueError("the same source is not a matter of samples")
    elif not 1 <= line.run <= line.stale:
        raise ValueError(f"{line.run} of {line.stale} stale rows cannot have been computed again")
    if line.deviation and line.kind == SAME_BITS:
        raise ValueError(f"bits that differ by {line.deviation:g} are not the same")


class Warrants:
    """The adoptions of one exhibit."""

    def __init__(self, lines: Iterable[Adoption] = ()) -> None:
        self.lines = tuple(lines)
        self._reached: dict[str, dict[str, tuple[Adoption, ...]]] = {}
        self._from: dict[str, list[Adoption]] = defaultdict(list)
        for line in self.lines:
            self._from[line.source].append(line)

    def path(self, code: str, today: str) -> tuple[Adoption, ...] | None:
        """Return the shortest path of adoptions from one code to another; None when there is none."""
        return self.reached(code).get(today)

    def reached(self, code: str) -> dict[str, tuple[Adoption, ...]]:
        """Return the codes that a path leads to, the code itself among them, each with its shortest path."""
        if code not in self._reached:
            found: dict[str, tuple[Adoption, ...]] = {code: ()}
            waiting = [code]
            for at in waiting:  # grows: breadth first
                for line in self._from.get(at, ()):
                    if line.target not in found:
                        found[line.target] = (*found[at], line)
                        waiting.append(line.target)
            self._reached[code] = found
        return self._reached[code]

    def head(self, code: str) -> str:
        """Return the code that stood for a row last: the end of the last line that follows from its code."""
        reached = self.reached(code)
        return next((line.target for line in reversed(self.lines) if line.source in reached), code)

    def without(self, refused: Collection[Adoption]) -> Warrants:
        """Return the warrants without some lines."""
        return Warrants(line for line in self.lines if line not in refused)

    def unearned(
        self, paths: Mapping[Key, Sequence[Adoption]], codes: Mapping[Key, str], seconds: Mapping[Key, float]
    ) -> dict[Adoption, Key]:
        """Return the lines that stand for a row which was drawn to prove them, with that row.

        Asked are the rows that count, by the adoptions that warrant them, their code, and what they took;
        cells that may have been too dear to be drawn from are not.
        """
        refused = {}
        for line in {line for path in paths.values() for line in path if line.kind != SAME_SOURCE}:
            later = self.reached(line.target)
            asked = [key for key in codes if line in paths.get(key, ()) or codes[key] in later]
            for keys in _cells(asked).values():
                least = _least(keys, line.source, line.target)
                if max(seconds[key] for key in keys) <= DEAR_SECONDS / 2 and line in paths.get(least, ()):
                    refused[line] = least
        return refused


def draw(seconds: Mapping[Key, float], source: str, target: str) -> list[Key]:
    """Draw the rows that decide whether rows of one code count as rows of another; codes and names decide.

    One of each cell whose rows take at most `DEAR_SECONDS` (their median); of a method that has only dearer
    ones, one of its cheapest cell.
    """
    cells = _cells(seconds)
    costs = {cell: median(seconds[key] for key in keys) for cell, keys in cells.items()}
    cheapest = {}
    for cell in sorted(cells, key=lambda cell: (costs[cell], cell)):
        cheapest.setdefault(cell[1], cell)
    chosen = [cell for cell in cells if costs[cell] <= DEAR_SECONDS or cell == cheapest[cell[1]]]
    return [_least(cells[cell], source, target) for cell in chosen]


def _cells(keys: Iterable[Key]) -> dict[tuple[str, str], list[Key]]:
    ordered = sorted(keys)
    return {cell: list(own) for cell, own in groupby(ordered, key=lambda key: (key.dataset, key.method))}


def _least(keys: Iterable[Key], source: str, target: str) -> Key:
    """Return the row that is drawn; methods share the number of the trial, as they share its data."""

    def lot(key: Key) -> bytes:
        return hashlib.sha256("\x1f".join((source, target, key.dataset, str(key.trial))).encode()).digest()

    return min(keys, key=lot)


@dataclass
class Step:
    """Rows that count because of adoptions at one place of their paths, and these adoptions."""

    rows: int = 0
    lines: set[Adoption] = field(default_factory=set)

    @property
    def may_differ(self) -> float:
        """How many of the rows may differ (95 %): 3 / n of them, when n were drawn and are equal."""
        return min(1.0, 3 / sum(line.run for line in self.lines)) * self.rows


COUNTED = ("computed", "adopted", "stale", "missing")


@dataclass
class Standing:
    """How rows stand: computed by today's code, adopted, stale, missing.

    ``steps`` are the adoptions that stand for rows, by their place before the end of a path.
    """

    computed: int = 0
    adopted: int = 0
    stale: int = 0
    missing: int = 0
    steps: list[Step] = field(default_factory=list)

    def count(self, path: Sequence[Adoption]) -> None:
        """Count a row that counts because of a path; the same source is the same code."""
        sampled = [line for line in path if line.kind != SAME_SOURCE]
        self.computed += not sampled
        self.adopted += bool(sampled)
        self._add([Step(1, {line}) for line in reversed(sampled)])

    def __add__(self, other: Standing) -> Standing:
        """Return how the rows of both stand."""
        counts = (getattr(self, name) + getattr(other, name) for name in COUNTED)
        both = Standing(*counts)
        both._add(self.steps)
        both._add(other.steps)
        return both

    def _add(self, steps: Sequence[Step]) -> None:
        self.steps += [Step() for _ in steps[len(self.steps) :]]
        for own, added in zip(self.steps, steps, strict=False):
            own.rows += added.rows
            own.lines |= added.lines

    @property
    def total(self) -> int:
        """All rows that there should be."""
        return sum(getattr(self, name) for name in COUNTED)

    @property
    def may_differ(self) -> float:
        """The largest share of the rows that count which may differ from what today's code gives (95 %)."""
        counting = self.computed + self.adopted
        return min(1.0, sum(step.may_differ for step in self.steps) / counting) if counting else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return the counts and the bound, in percent."""
        return {
            "rows_by_todays_code": self.computed,
            "rows_adopted": self.adopted,
            "steps": len(self.steps),
            "may_differ_percent": float(f"{100 * self.may_differ:.2g}"),
            "rows_stale": self.stale,
            "rows_missing": self.missing,
        }

    def __str__(self) -> str:
        return sentence(self.as_dict())


def sentence(numbers: Mapping[str, float]) -> str:
    """Say in words what `Standing.as_dict` gives."""
    computed, adopted, steps, share, stale, missing = numbers.values()
    parts = [f"{computed + adopted + stale + missing:,} rows of evidence: {computed:,} by today's code"]
    if adopted:
        what = f"in {steps} step{'s' if steps > 1 else ''}, at most {share:g} % may differ (95 % confidence)"
        parts.append(f"{adopted:,} adopted {what}")
    parts += [f"{stale:,} STALE"] if stale else []
    parts += [f"{missing:,} missing"] if missing else []
    return ", ".join(parts)
