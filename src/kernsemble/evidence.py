"""Evidence: what the trials of an exhibit gave, and how much of it is current.

A row is current when its stamp (revision of the code, parameters, checksum of the data) is today's. A row
with another stamp is stale: it is counted, never shown, and computed again. Evidence is complete, or says
that it is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from kernsemble.evidence_file import EvidenceError, Row, read_rows
from kernsemble.experiments.plan import ExhibitPlan, Key


class IncompleteEvidenceError(EvidenceError):
    """Trials that are needed are missing or stale."""

    def __init__(self, message: str, *, stale: bool) -> None:
        super().__init__(message)
        self.stale = stale


@dataclass(frozen=True)
class Sample:
    """What one printed cell summarizes: a metric of one dataset and method, a value a run.

    Attributes
    ----------
    values : ndarray of shape (n_runs,)
        By trial number; current rows only.
    expected : int
        Runs that the scale asks for.
    stale : int
        Rows that are there but were made by other code, parameters or data.
    """

    values: np.ndarray
    expected: int
    stale: int = 0

    @property
    def complete(self) -> bool:
        """Whether every run is there."""
        return len(self.values) == self.expected > 0

    @property
    def mean(self) -> float:
        """Mean over runs; nan when there are none."""
        return float(np.mean(self.values)) if len(self.values) else float("nan")

    @property
    def std(self) -> float:
        """Standard deviation over runs (ddof = 1); nan for fewer than two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else float("nan")

    @property
    def se(self) -> float:
        """Standard error of the mean; nan for fewer than two runs."""
        return self.std / max(1, len(self.values)) ** 0.5


@dataclass
class Evidence:
    """The evidence of one exhibit at one scale.

    Attributes
    ----------
    plan : ExhibitPlan
        What the scale asks for.
    current : dict of Key to Row
    stale : set of Key
        Rows wanted by the plan that are there with another stamp only.
    damaged : list of int
        Line numbers that failed their check.
    """

    plan: ExhibitPlan
    current: dict[Key, Row]
    stale: set[Key] = field(default_factory=set)
    damaged: list[int] = field(default_factory=list)
    clean: bool = True
    rows: Sequence[Row] = ()

    @property
    def missing(self) -> list[Key]:
        """Keys that have to be computed, stale ones included."""
        return [key for key in self.plan.stamps if key not in self.current]

    @property
    def complete(self) -> bool:
        """Whether every row of the scale is current."""
        return len(self.current) == len(self.plan.stamps)

    @property
    def status(self) -> str:
        """Say what is missing; empty when the evidence is complete."""
        if self.complete:
            return ""
        stale = f", {len(self.stale)} stale" if self.stale else ""
        return f"incomplete: {len(self.current)} of {len(self.plan.stamps)} trials{stale}"

    @property
    def datasets(self) -> tuple[str, ...]:
        """Labels of the scale, in the paper's order."""
        return self.plan.datasets

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods of the scale, in the paper's order."""
        return self.plan.methods

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All current rows in the plan's order: dataset, method, trial, metrics, seconds."""
        place = (
            {label: i for i, label in enumerate(self.datasets)},
            {method: i for i, method in enumerate(self.methods)},
        )
        rows = sorted(
            self.current.values(), key=lambda r: (place[0][r.key[0]], place[1][r.key[1]], r.key.trial)
        )
        data = pd.DataFrame([row.key for row in rows], columns=["dataset", "method", "trial"])
        for metric in self.plan.exhibit.columns:
            data[metric] = [_number(row.metrics.get(metric)) for row in rows]
        data["seconds"] = [row.seconds for row in rows]
        return data

    def sample(self, metric: str, *, dataset: str, method: str) -> Sample:
        """Return the values of a metric over runs; it may be incomplete, and says so."""
        self._check(metric)
        wanted = self._by_cell.get((dataset, method), [])
        texts = [self.current[key].metrics.get(metric) for key in wanted if key in self.current]
        values = np.array([_number(text) for text in texts if text is not None], dtype=float)
        if values.ndim > 1:
            raise EvidenceError(f"{self.plan.exhibit.name}: {metric!r} holds arrays; use curves().")
        return Sample(values, len(wanted), sum(key in self.stale for key in wanted))

    def array(
        self,
        metric: str,
        datasets: Iterable[str] | None = None,
        methods: Iterable[str] | None = None,
        trials: int | None = None,
    ) -> np.ndarray:
        """Return values of shape (runs, datasets, methods); raise unless all of them are there.

        Datasets and methods are those of the scale by default. ``trials`` limits the number of runs; it has
        to be given when the datasets have different numbers of them.
        """
        cells = [
            [self._complete_values(metric, label, method, trials) for method in methods or self.methods]
            for label in datasets or self.datasets
        ]
        return np.moveaxis(np.array(cells, dtype=float), 2, 0)

    def curves(self, metric: str, *, dataset: str, method: str) -> np.ndarray:
        """Return an array metric over runs, of shape (runs, points), in order of trials."""
        self._check(metric)
        wanted = [key for key in self._by_cell.get((dataset, method), ()) if key in self.current]
        return np.array([_number(self.current[key].metrics[metric]) for key in wanted], dtype=float)

    def _complete_values(self, metric: str, dataset: str, method: str, trials: int | None) -> np.ndarray:
        sample = self.sample(metric, dataset=dataset, method=method)
        if not sample.complete:
            raise IncompleteEvidenceError(
                f"{self.plan.exhibit.name}: {metric} of {method} on {dataset} has {len(sample.values)} of "
                f"{sample.expected} runs" + (f", {sample.stale} stale" if sample.stale else ""),
                stale=sample.stale > 0,
            )
        return sample.values[:trials]

    def _check(self, metric: str) -> None:
        if metric not in self.plan.exhibit.columns:
            known = ", ".join(self.plan.exhibit.columns)
            raise EvidenceError(f"{self.plan.exhibit.name} has no metric {metric!r}; it has {known}.")

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[Key]]:
        cells: dict[tuple[str, str], list[Key]] = {}
        for key in sorted(self.plan.stamps):
            cells.setdefault((key.dataset, key.method), []).append(key)
        return cells


def read_evidence(path: Path, plan: ExhibitPlan) -> Evidence:
    """Read an exhibit's file and tell its rows apart: current, stale, damaged."""
    contents = read_rows(path, plan.exhibit.columns)
    current: dict[Key, Row] = {}
    stale: set[Key] = set()
    for row in contents.rows:
        stamp = plan.stamps.get(row.key)
        if stamp == row.stamp:
            current[row.key] = row
        elif stamp is not None:
            stale.add(row.key)
    return Evidence(plan, current, stale - set(current), contents.damaged, contents.clean, contents.rows)


def _number(text: str | None) -> float | np.ndarray:
    """Read a stored value: a number, an array, or nan for a metric that the method does not have."""
    if text is None:
        return float("nan")
    if " " in text:
        return np.array(text.split(), dtype=float)
    return float(text)
