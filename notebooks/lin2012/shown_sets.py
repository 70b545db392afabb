"""Which sets stand in which figure, and the curves of those whose trials are complete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsemble.report.ledger import Finding, Reading
from kernsemble.report.tables import Cell, Table
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study
from lin2012.trials import PAPER_SETS

reading = Reading("lin2012")

FIVE = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH")
SHOWN = (*FIVE, "Ada.MO")  # the methods of which errors are kept
PAPER_SOLVER = "MultiBoost, L-BFGS-B"
FIGURES = ("figure1", "figure2", "figure3", "figure4", "figure5")
N_CLASSES = {
    "VOWEL": 11, "ISOLET": 26, "USPS": 10, "PENDIGITS": 10, "MNIST": 10, "CIFAR10 GIST": 10,
    "CIFAR10 pixels": 10, "SCENE15": 15, "GTSRB": 43, "wine": 3,
}  # fmt: skip


@dataclass(frozen=True)
class Sets:
    """The sets of a scale that are complete, and those that wait.

    Attributes
    ----------
    places : dict of str to str
        Exhibit of each complete set.
    waiting : tuple of str
    """

    study: Study
    places: dict[str, str]
    waiting: tuple[str, ...]

    def values(self, metric: str, label: str, *methods: str) -> np.ndarray:
        """Return a metric of a set: (runs, methods), or (runs, methods, points) where it is a curve."""
        evidence = self.study.evidence(self.places[label])
        return np.stack([evidence.curves(metric, dataset=label, method=m) for m in methods], axis=1)

    def decide(self, holds: bool, probability: float | None, note: str) -> Finding:
        """Return the finding; raise with what is known so far when sets wait."""
        if self.waiting:
            many = len(self.places) + len(self.waiting)
            raise IncompleteEvidenceError(
                f"so far, {len(self.places)} of {many} sets: {'yes' if holds else 'no'}; {note}", stale=False
            )
        return Finding(holds, probability, note)


def sets_of(study: Study, *methods: str, exhibits: tuple[str, ...] = FIGURES) -> Sets:
    """Return the paper's sets that the scale runs (any set where it runs none), by completeness."""
    asked = {
        label: (exhibit, evidence)
        for exhibit in exhibits
        for evidence in [study.evidence(exhibit)]
        for label in evidence.datasets
    }
    chosen = [label for label in PAPER_SETS if label in asked] or list(asked)
    done = {label: asked[label][0] for label in chosen if asked[label][1].is_complete(label, *methods)}
    if not done:
        raise IncompleteEvidenceError("no set is complete yet", stale=False)
    return Sets(study, done, tuple(label for label in chosen if label not in done))


def by_runs(curves: np.ndarray) -> np.ndarray:
    """Return the mean curves of methods, (methods, points), of (runs, methods, points)."""
    return curves.mean(axis=0)


def first_place(curve: np.ndarray, level: float) -> int:
    """Return the first point at which a curve is at or below a level; the last if none is."""
    reached = np.flatnonzero(curve <= level + 1e-9)
    return int(reached[0]) if len(reached) else len(curve) - 1


def common_level(means: np.ndarray) -> float:
    """Return the lowest error that every method of (methods, points) comes down to."""
    return float(means.min(axis=1).max())


def unavailable_sets() -> Table:
    """Return the paper's sets that cannot be had, and what stands in for them."""
    rows = (
        ("PASCAL07", "figure 3", "the features of Guillaumin and others are not to be had from a package",
         "CIFAR10 GIST"),
        ("LabelMe", "figure 3", "LabelMe-12-50k is not to be had from a package", "CIFAR10 GIST"),
        ("SUN", "figure 4", "the 25 categories are not named", "SCENE15"),
    )  # fmt: skip
    cells = tuple(tuple(Cell(text) for text in row) for row in rows)
    return Table(("set", "exhibit", "unavailable", "what stands in"), cells, "Sets that could not be run.")
