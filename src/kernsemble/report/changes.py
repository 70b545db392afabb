"""What a change of code or parameters did: means of the trials run here beside the committed ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kernsemble.data.schema import aligned
from kernsemble.report.comparisons import significant
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from kernsemble.trials.verification import different_metrics

HEADS = ("exhibit", "dataset", "method", "metric", "committed", "now", "difference", "trials")


class Change(NamedTuple):
    """Means of a metric over the trials of a cell that both sides have."""

    exhibit: str
    dataset: str
    method: str
    metric: str
    committed: float
    now: float
    trials: int
    different: int

    @property
    def texts(self) -> tuple[str, ...]:
        """The line of the table."""
        numbers = (self.committed, self.now, self.now - self.committed)
        count = f"{self.different} of {self.trials} differ"
        return (*self[:4], *map(significant, numbers), count)


def changes(here: Study, committed: Study) -> Iterator[Change]:
    """Yield all cells of which both sides have trials; committed rows count however they were made."""
    for name in here.exhibits:
        yield from changes_of(here.read(name), committed.read(name).with_older())


def changes_of(here: Evidence, committed: Evidence) -> Iterator[Change]:
    """Yield the cells of an exhibit; curves count by their last value, timing does not count."""
    exhibit = here.plan.exhibit
    cells = defaultdict(list)
    for key in here.plan.stamps:
        if key in here.current and key in committed.current:
            cells[key.dataset, key.method].append(key)
    for (dataset, method), keys in cells.items():
        pairs = [(committed.current[key].metrics, here.current[key].metrics) for key in keys]
        moved = [different_metrics(exhibit, now, before) for before, now in pairs]
        for metric in exhibit.metrics:
            both = [(before.get(metric), now.get(metric)) for before, now in pairs]
            known = [pair for pair in both if all(pair)]
            if known:
                before, now = np.array([[_last(text) for text in pair] for pair in known]).mean(axis=0)
                count = sum(metric in names for names in moved)
                yield Change(exhibit.name, dataset, method, metric, before, now, len(known), count)


def _last(text: str) -> float:
    return float(text.split()[-1])


def change_lines(found: list[Change], *, every: bool = False) -> Iterator[str]:
    """Yield the table of cells that changed, or of every cell, and a sentence about all."""
    moved = [change for change in found if change.different]
    table = [HEADS, *(change.texts for change in (found if every else moved))]
    if len(table) > 1:
        yield from aligned(table)
    yield f"{len(moved)} of {len(found)} means changed (metrics of dataset and method; timing apart)"
