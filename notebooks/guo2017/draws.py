"""The data of a trial: rows drawn at random for training, the rest for testing, columns scaled to [-1, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernsemble.data.scaling import scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from guo2017.sets import LARGE_SET, STORED

Scaling = Literal["all rows", "training rows"]


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0, or class codes where there are more than two."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent; a score of exactly 0 counts as -1."""
        return error_percent(scores, self.y_test)


def error_percent(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the share of wrong signs in percent, to four decimals, which keeps the evidence short."""
    return round(100.0 * float(np.mean((scores > 0) != (y > 0))), 4)


def draw(trial: Trial, n_train: int | float, scaling: Scaling) -> Draw:
    """Return the data of a trial; all methods of a dataset and a number see the same.

    ``n_train`` is a number of rows, or their share when below 1.
    """
    data = load(STORED.get(trial.dataset, trial.dataset))
    labels = data.signs if data.n_classes == 2 else data.y
    size = round(n_train * data.n_samples) if n_train < 1 else int(n_train)
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [size])
    X = scale_to_unit_range(data.X, reference=data.X if scaling == "all rows" else data.X[train])
    y = labels.astype(np.float64)
    return Draw(X[train], y[train], X[test], y[test])


def large_sample(trial: Trial, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows of ijcnn1's official training part, as LIBSVM distributes them."""
    data = load(LARGE_SET)
    train = np.flatnonzero(data.part == 0)
    chosen = trial.shared_rng("rows", dataset=LARGE_SET).permutation(train)[:size]
    return np.ascontiguousarray(data.X[chosen], dtype=np.float64), data.signs[chosen].astype(np.float64)
