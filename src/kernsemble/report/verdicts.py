"""All verdicts: on a printed number, on a part of a claim, and on a claim; and the rules of numbers.

A printed number is compared by z = (ours - printed) / se, where se^2 = se_printed^2 + se_ours^2. Beyond
|z| = 2 it *differs*. Within, it matches, unless se exceeds half of the printed number: then nearly any number
would match, and it is *too noisy to tell*. Seconds of other hardware are compared as ratios to one named
method of their block (which is *the unit*): a match within a factor of 2. Neither direction is praise.

A claim is cut into parts, each decided by a number and its limit. The rule is applied to the paper's own
printed numbers first: where they fail it, it decides nothing (*not testable here*). A part *cannot be told*
where fewer than 95 % of bootstrap resamples of our runs agree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from operator import eq, ge, gt, le, lt

import numpy as np

from kernsemble.data.schema import shown


class Verdict(StrEnum):
    """All verdicts, in the order of the totals, each with its mark."""

    mark: str

    def __new__(cls, text: str, mark: str) -> Verdict:
        """Make a verdict that is its own text."""
        verdict = str.__new__(cls, text)
        verdict._value_, verdict.mark = text, mark
        return verdict

    @property
    def key(self) -> str:
        """Its name in ``ledger.json`` and in sentences, such as ``lower``."""
        return self.name.lower()

    MATCH = "match", "✓"
    LOWER = "differs: lower", "↓"
    HIGHER = "differs: higher", "↑"
    NOISY = "too noisy to tell", "~"
    UNIT = "the unit of its block", "1"
    OTHER_TASK = "other task", "≁"  # what was computed is not said, and ours is a guess
    UNAVAILABLE = "unavailable", "∅"  # data that cannot be had
    HOLDS = "holds", "✓"
    IN_PART = "holds in part", "◐"
    FAILS = "fails", "✗"
    UNDECIDED = "cannot be told", "?"
    UNTESTED = "not testable here", "–"
    ERRATUM = "erratum", "✎"  # a theorem or a formula that is wrong: no failed claim
    STALE = "stale", "stale"  # evidence that has to be computed again
    PENDING = "pending", "…"  # evidence that has to be computed


COMPARED = (Verdict.MATCH, Verdict.LOWER, Verdict.HIGHER, Verdict.NOISY)
DECIDED = (
    Verdict.HOLDS,
    Verdict.IN_PART,
    Verdict.FAILS,
    Verdict.UNDECIDED,
    Verdict.UNTESTED,
    Verdict.ERRATUM,
)
LATE = (Verdict.STALE, Verdict.PENDING)
NOISE = 0.5  # share of the printed number that the standard error of the difference may be
FACTOR = 2.0  # by which ratios of seconds may differ


def of_score(z: float, se: float = 0.0, printed: float = 0.0) -> Verdict:
    """Return the verdict on a z-score; ``se`` is what z was divided by.

    Examples
    --------
    >>> from kernsemble.report.verdicts import of_score
    >>> [str(of_score(z, se=1.0, printed=10.0)) for z in (1.9, -2.1, 2.1)]
    ['match', 'differs: lower', 'differs: higher']
    >>> str(of_score(1.9, se=1.0, printed=1.5))
    'too noisy to tell'
    """
    if abs(z) > 2:
        return Verdict.LOWER if z < 0 else Verdict.HIGHER
    return Verdict.NOISY if se > NOISE * abs(printed) else Verdict.MATCH


def of_ratio(ours: float, printed: float) -> Verdict:
    """Return the verdict on a ratio of seconds beside the printed one."""
    if printed <= FACTOR * ours and ours <= FACTOR * printed:
        return Verdict.MATCH
    return Verdict.LOWER if ours < printed else Verdict.HIGHER


# Claims: a part is decided by one number and its limit


CONFIDENT = 0.95  # share of bootstrap resamples that have to agree with a verdict
_LIMIT = re.compile(r"(>=|<=|>|<|=|from) (\S+)(?: to (\S+))?")


@dataclass(frozen=True)
class Rule:
    """What decides a part of a claim: a number, in words, and a limit, such as ``> 7`` or ``from 15 to 45``.

    Examples
    --------
    >>> from kernsemble.report.verdicts import Rule
    >>> rule = Rule.read("sets of 14 where the SVM errs less: > 7")
    >>> rule.number, rule.keeps(8), rule.keeps(7)
    ('sets of 14 where the SVM errs less', True, False)
    """

    number: str
    limit: str

    @classmethod
    def read(cls, text: str) -> Rule:
        """Return the rule that a line says; raise ``ValueError`` where it says none."""
        number, _, limit = str(text).rpartition(": ")
        rule = cls(number, limit)
        if not number or not _LIMIT.fullmatch(limit) or (rule._parts[0] == "from") != bool(rule._parts[2]):
            raise ValueError(
                f"a rule is a number in words and its limit, as in 'sets of 14: > 7', not {shown(text)}"
            )
        return rule

    @property
    def _parts(self) -> tuple[str, ...]:
        return _LIMIT.fullmatch(self.limit).groups("")

    def keeps(self, value: float) -> bool:
        """Whether a number keeps the limit."""
        sign, *ends = self._parts
        if sign == "from":
            return float(ends[0]) <= value <= float(ends[1])
        compare = {">": gt, ">=": ge, "<": lt, "<=": le, "=": eq}[sign]
        return bool(compare(value, float(ends[0])))

    def __str__(self) -> str:
        return f"{self.number}: {self.limit}"


@dataclass(frozen=True)
class Answer:
    """The number that decides a part of a claim: ours, and in resamples of the runs; nan: ours cannot tell.

    ``printed`` is the same number of what the paper itself prints; None where it prints too little.
    """

    value: float
    printed: float | None = None
    resampled: np.ndarray | None = None
    note: str = ""

    def share(self, rule: Rule) -> float | None:
        """Return the share of resamples that keep the rule."""
        return None if self.resampled is None else float(np.mean([rule.keeps(v) for v in self.resampled]))


def of_part(rule: Rule, answer: Answer, *, theorem: bool = False) -> Verdict:
    """Return the verdict on a part of a claim; a rule that the printed numbers fail decides nothing."""
    if math.isnan(answer.value) or (answer.printed is not None and not rule.keeps(answer.printed)):
        return Verdict.UNTESTED
    return of_share(rule.keeps(answer.value), answer.share(rule), theorem=theorem)


def of_share(holds: bool, share: float | None, *, theorem: bool = False) -> Verdict:
    """Return the verdict on a statement that holds in some share of resamples; None: nothing is random."""
    if share is not None and 1 - CONFIDENT < share < CONFIDENT:
        return Verdict.UNDECIDED
    return Verdict.HOLDS if holds else Verdict.ERRATUM if theorem else Verdict.FAILS


def of_claim(parts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a claim, from those on its parts.

    Examples
    --------
    >>> from kernsemble.report.verdicts import Verdict, of_claim
    >>> str(of_claim([Verdict.HOLDS, Verdict.FAILS])), str(of_claim([Verdict.HOLDS, Verdict.HOLDS]))
    ('holds in part', 'holds')
    """
    there = set(parts)
    if there == {Verdict.HOLDS}:
        return Verdict.HOLDS
    if Verdict.HOLDS in there:
        return Verdict.IN_PART
    order = (Verdict.FAILS, Verdict.ERRATUM, Verdict.UNDECIDED, Verdict.UNTESTED)
    return next(verdict for verdict in order if verdict in there)
