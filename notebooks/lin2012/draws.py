"""Training and test parts of a trial, as section 3 says; the same for all methods and exhibits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsemble.data.base import Dataset
from kernsemble.data.features.store import load_features
from kernsemble.data.splits import official_split, random_folds, random_split, split_per_class
from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from lin2012.sets import FEATURES, STORED

_BATCH = 10_000  # pictures in each of CIFAR-10's five training sets
_PER_CLASS = {"MNIST": 1000, "SCENE15": 100, "GTSRB": 100}


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are 0..K-1, each of them present in the training part.

    Features are bytes or float64, in the test part also float32: it is as large as GTSRB's 12,630 x 6052
    numbers, and stumps read it in blocks.
    """

    X: np.ndarray
    labels: np.ndarray
    X_test: np.ndarray
    labels_test: np.ndarray

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return int(self.labels.max()) + 1

    def part(self, rows: np.ndarray, held_out: np.ndarray) -> Draw:
        """Return the draw of some training rows, others held out."""
        return Draw(self.X[rows], self.labels[rows], self.X[held_out], self.labels[held_out])

    def only(self, rows: np.ndarray) -> Draw:
        """Return the draw with some of the training rows, and the whole test part."""
        return Draw(self.X[rows], self.labels[rows], self.X_test, self.labels_test)


def draw(trial: Trial) -> Draw:
    """Split 75 : 25 at random; MNIST, SCENE15, GTSRB: so many a class; CIFAR-10 has five training sets."""
    name = trial.dataset
    data = load_features(FEATURES[name]) if name in FEATURES else load(STORED[name])
    train, test = _rows(trial, data)
    X = data.X.reshape(data.n_samples, -1)
    X_test = X[test] if X.dtype == np.float32 else _numbers(X[test])
    return Draw(_numbers(X[train]), data.y[train], X_test, data.y[test])


def _rows(trial: Trial, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    names = trial.paper, trial.dataset, trial.number
    if trial.dataset.startswith("CIFAR10"):
        train, test = official_split(data.part)
        first = trial.number * _BATCH
        return train[first : first + _BATCH], test
    if trial.dataset not in _PER_CLASS:
        return random_split(data.n_samples, 0.75, *names)
    per_class = _PER_CLASS[trial.dataset]
    if data.part is None:
        return split_per_class(data.y, per_class, *names)
    train, test = official_split(data.part)
    chosen, _ = split_per_class(data.y[train], per_class, *names)
    return train[chosen], test


def _numbers(X: np.ndarray) -> np.ndarray:
    """Return bytes as they are and anything else as float64, contiguous."""
    return np.ascontiguousarray(X if X.dtype == np.uint8 else X.astype(np.float64))


def hold_out(trial: Trial, data: Draw, n_folds: int) -> Draw:
    """Return the first of some stratified folds of the training part, held out of the others."""
    names = trial.paper, trial.dataset, trial.number, "hold-out"
    fold = random_folds(data.labels, n_folds, *names)
    return data.part(np.flatnonzero(fold != 0), np.flatnonzero(fold == 0))
