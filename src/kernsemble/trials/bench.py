"""What the trials of every paper share: parts of data, folds, errors in percent, grids and clocks.

A draw is what a trial trains and tests on. Errors are in percent; a score of exactly 0 counts as -1. Folds
are cut from a random order of the rows, which the caller draws from the trial's names.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

Folds = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0, or class codes where there are more than two."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent of scores of two classes."""
        return percent_wrong(scores > 0, self.y_test > 0)

    def part(self, rows: np.ndarray, held_out: np.ndarray) -> Draw:
        """Return the draw of a fold: some training rows, others held out."""
        return Draw(self.X[rows], self.y[rows], self.X[held_out], self.y[held_out])

    def only(self, rows: np.ndarray) -> Draw:
        """Return the draw with some of the training rows, and the whole test part."""
        return Draw(self.X[rows], self.y[rows], self.X_test, self.y_test)


def percent_wrong(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Return the share of predictions that differ from the truth in percent."""
    return 100.0 * float(np.mean(predicted != truth))


def cut_folds(order: np.ndarray, n_folds: int, labels: np.ndarray | None = None) -> Folds:
    """Return (training, held-out) rows of each fold; labels, if given, are shared out evenly.

    Examples
    --------
    >>> [held.tolist() for _, held in cut_folds(np.array([2, 0, 1, 3]), 2)]
    [[1, 2], [0, 3]]
    """
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def powers_of_two(exponents: Iterable[float]) -> list[float]:
    """Return 2 ** e for each exponent."""
    return [2.0**exponent for exponent in exponents]


def seconds_of(function: Callable, *arguments: object, repeats: int = 1, clock=time.perf_counter) -> float:
    """Return the seconds that a call takes, the least of some repeats."""
    times = []
    for _ in range(repeats):
        start = clock()
        function(*arguments)
        times.append(clock() - start)
    return min(times)


def first_best(scores: Sequence[float]) -> int:
    """Return the index of the largest score, the first of equals."""
    return int(np.argmax(scores))


def timed(function: Callable, *arguments: object, clock=time.process_time) -> tuple[Any, float]:
    """Return what a call returns, and the seconds of the processor that it takes."""
    start = clock()
    result = function(*arguments)
    return result, clock() - start


def fitted(model: ClassifierMixin, part: Draw) -> ClassifierMixin:
    """Fit an estimator to the training part; its rounds may run out before its gap is closed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(part.X, part.y)
