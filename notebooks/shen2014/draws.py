"""The data of a trial of two classes: a split of an IDA set, official or our own, and its folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsemble.data.ida import ida_form, ida_split, load_official
from kernsemble.trials.trial import Trial

Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent; a score of exactly 0 counts as -1."""
        return 100.0 * float(np.mean((scores > 0) != (self.y_test > 0)))

    def part(self, rows: np.ndarray, held_out: np.ndarray) -> Draw:
        """Return the draw of a fold: some training rows, others held out."""
        return Draw(self.X[rows], self.y[rows], self.X[held_out], self.y[held_out])


def draw(trial: Trial) -> Draw:
    """Return an IDA set in the benchmark's form and sizes; "heart official" takes its own realisations."""
    name, _, official = trial.dataset.partition(" ")
    if official:
        data, splits = load_official(name)
        train, test = splits[trial.number]
    else:
        data = ida_form(name)
        train, test = ida_split(name, "shen2014", trial.number)
    y = data.signs.astype(np.float64)
    return Draw(data.X[train], y[train], data.X[test], y[test])


def folds_of(trial: Trial, labels: np.ndarray, n_folds: int) -> Folds:
    """Return (training, held-out) indices of stratified random folds, the same for all methods."""
    order = trial.shared_rng("folds").permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
