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

import csv
import hashlib
import io
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import date
from itertools import groupby
from pathlib import Path
from statistics import median

from kernsemble.trials.errors import PlanError, read_once, shown
from kernsemble.trials.plan import Key

SAME_SOURCE, SAME_BITS, SAME_BY_RULE = KINDS = ("same source", "same bits", "same by rule")
COLUMNS = {  # with what a cell may hold
    "paper": r"\w+",
    "exhibit": r"\w+",
    "function": r"\w+( \w+)*",
    "from": r"[0-9a-f]{8,64}",
    "to": r"[0-9a-f]{8,64}",
    "kind": "|".join(KINDS),
    "stale": r"[0-9]{1,9}",
    "run": r"[0-9]{1,9}",
    "deviation": r"[0-9][0-9.e+-]*",
    "commit": r"([0-9a-f]{7,40})?",
    "lock": r"([0-9a-f]{8}|other)?",
    "date": r"\d{4}-\d\d-\d\d",
}
DEAR_SECONDS = 20.0  # rows of cells that take longer are not drawn where a method has others
REVISION_DIGITS = 10  # of the notation that the first rows have
TRUSTED_SHARE = 0.01


@dataclass(frozen=True)
class Adoption:
    """One line: rows of an exhibit that code ``source`` computed count as if code ``target`` had.

    ``function`` names the trial functions, for readers. Of ``stale`` rows, ``run`` were computed again; their
    numbers differ by ``deviation`` at most.
    """

    paper: str
    exhibit: str
    function: str
    source: str
    target: str
    kind: str
    stale: int
    run: int
    deviation: float
    commit: str
    lock: str
    date: str

    def __str__(self) -> str:
        return f"{self.paper} {self.exhibit}: {self.source} -> {self.target} ({self.kind})"


@read_once
def read_adoptions(path: Path) -> tuple[Adoption, ...]:
    """Read all adoptions; a line that cannot be true is an error that names it."""
    try:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True))
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PlanError(f"{path} cannot be read: {error}.") from None
    if not rows or rows[0] != [*COLUMNS]:
        raise PlanError(f"{path}: line 1 must be {','.join(COLUMNS)}.")
    lines: list[Adoption] = []
    for number, cells in enumerate(rows[1:], start=2):
        try:
            lines.append(_adoption(cells, lines))
        except ValueError as error:
            raise PlanError(f"{path}: line {number} is no adoption: {error}.") from None
    return tuple(lines)


def format_adoptions(lines: Iterable[Adoption]) -> bytes:
    """Return the bytes of the whole file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(COLUMNS)
    for line in lines:
        writer.writerow(astuple(replace(line, deviation=f"{line.deviation:.3g}")))
    return buffer.getvalue().encode()


def _adoption(cells: Sequence[str], before: Sequence[Adoption]) -> Adoption:
    """Return the adoption that a line states; raise ``ValueError`` when it cannot be true."""
    if len(cells) != len(COLUMNS):
        raise ValueError(f"it has {len(cells)} cells, not {len(COLUMNS)}")
    named = dict(zip(COLUMNS, cells, strict=True))
    for name, pattern in COLUMNS.items():
        if not re.fullmatch(pattern, named[name]):
            raise ValueError(f"{name!r} may not be {shown(named[name])}")
    date.fromisoformat(named["date"])
    named |= {"stale": int(named["stale"]), "run": int(named["run"]), "deviation": float(named["deviation"])}
    line = Adoption(*named.values())
    _check(line, before)
    return line


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

    def merge(self, other: Standing) -> None:
        """Add the rows of another."""
        for name in ("computed", "adopted", "stale", "missing"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self._add(other.steps)

    def _add(self, steps: Sequence[Step]) -> None:
        self.steps += [Step() for _ in steps[len(self.steps) :]]
        for own, added in zip(self.steps, steps, strict=False):
            own.rows += added.rows
            own.lines |= added.lines

    @property
    def total(self) -> int:
        """All rows that there should be."""
        return self.computed + self.adopted + self.stale + self.missing

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
