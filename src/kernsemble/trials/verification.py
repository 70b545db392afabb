"""Compare trials computed here with the committed evidence of the same keys.

Two numbers agree when they are equal to four significant digits, or within a relative 1e-6 of each other
(two numbers on both sides of a rounding boundary), or within the absolute tolerance that the exhibit
declares. Timing is not compared.

Where an exhibit declares that its runs part ways when last digits do, runs that differ are counted apart from
trials that differ: the same code and data gave two honest runs on two processors. Other code or data make a
row stale before it comes to that; other versions of libraries do not, so they are pinned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from math import isclose

from kernsemble.trials.evidence import Evidence
from kernsemble.trials.registry import Exhibit
from kernsemble.trials.study import Study

RELATIVE = 1e-6
RULE = "equal to 4 significant digits, timing apart"


@dataclass
class Agreement:
    """How trials compare with the committed evidence."""

    trials: int = 0
    agree: int = 0
    differ: list[str] = field(default_factory=list)
    parted: list[str] = field(default_factory=list)
    missing: int = 0
    stale: int = 0
    uncomputed: int = 0
    unavailable: int = 0

    @property
    def compared(self) -> int:
        """Trials that have a current committed row."""
        return self.agree + len(self.differ) + len(self.parted)

    def __add__(self, other: Agreement) -> Agreement:
        """Return the comparison of all trials of both."""
        return Agreement(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    def __str__(self) -> str:
        parts = [f"{self.agree} of {self.trials} trials agree with the committed evidence ({RULE})"]
        counts = {
            "DIFFER": len(self.differ),
            "differ in methods known to depend on how sums are rounded": len(self.parted),
            "have a STALE committed row": self.stale,
            "have no committed row": self.missing,
            "are not computed here": self.uncomputed,
            "could not be verified, their data not being here": self.unavailable,
        }
        return ", ".join(parts + [f"{count} {what}" for what, count in counts.items() if count])


def compare_study(study: Study, committed: Study) -> Agreement:
    """Compare all exhibits of a study with the committed one."""
    pairs = ((study.read(name), committed.read(name)) for name in study.exhibits)
    return sum((compare_evidence(*pair) for pair in pairs), Agreement())


def compare_evidence(ours: Evidence, committed: Evidence) -> Agreement:
    """Compare two pieces of evidence on the trials of the first."""
    result = Agreement(trials=len(ours.plan.stamps))
    for key in ours.plan.stamps:
        if key not in ours.current and key.dataset in ours.plan.absent:
            result.unavailable += 1
        elif key not in ours.current:
            result.uncomputed += 1
        elif key in committed.stale:
            result.stale += 1
        elif key not in committed.current:
            result.missing += 1
        elif different := different_metrics(
            ours.plan.exhibit, ours.current[key].metrics, committed.current[key].metrics
        ):
            parting = set(ours.plan.exhibit.parting)
            told = f"{ours.plan.exhibit.name} / {key}: {'; '.join(different.values())}"
            may_part = key.method in parting or different.keys() <= parting
            (result.parted if may_part else result.differ).append(told)
        else:
            result.agree += 1
    return result


def different_metrics(
    exhibit: Exhibit, here: Mapping[str, str], there: Mapping[str, str], exact: Collection[str] = ()
) -> dict[str, str]:
    """Return the metrics of a trial that differ, each with both values; ``exact`` ones to the last digit."""
    pairs = {name: (here.get(name), there.get(name)) for name in exhibit.metrics}
    return {
        name: f"{name} {shown_value(ours)} here, {shown_value(theirs)} committed"
        for name, (ours, theirs) in pairs.items()
        if ours != theirs
        and (name in exact or not same_value(ours, theirs, exhibit.tolerance.get(name, 0.0)))
    }


def same_value(ours: str | None, theirs: str | None, tolerance: float = 0.0) -> bool:
    """Whether two stored values agree.

    Examples
    --------
    >>> from kernsemble.trials.verification import same_value
    >>> same_value("0.12341", "0.12339"), same_value("0.1234", "0.1236"), same_value(" 1 2", " 1 3")
    (True, False, False)
    """
    if ours is None or theirs is None:
        return ours is theirs
    first, second = ours.split(), theirs.split()
    return len(first) == len(second) and all(map(_same_number, first, second, repeat(tolerance)))


def shown_value(value: str | None) -> str:
    """Return a stored value as messages show it: a curve by its first numbers."""
    return "absent" if value is None else value.strip()[:40]


def _same_number(first: str, second: str, tolerance: float) -> bool:
    a, b = float(first), float(second)
    return f"{a:.4g}" == f"{b:.4g}" or isclose(a, b, rel_tol=RELATIVE, abs_tol=tolerance)
