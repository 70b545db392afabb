"""The data of a trial: a part of a set, one outer fold of it held out, scaled by the rest.

All methods of a dataset and a trial number see the same rows in the same folds. The rows that a set is cut
down to are the same for all trials, so that the held-out parts of trials 0, 1, .. do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from kernsemble.data.scaling import fill_missing, scale_to_unit_range, zscore
from kernsemble.data.splits import generator_from_names, random_folds
from kernsemble.data.store import load
from kernsemble.trials.trial import Trial

Scaling = Literal["zscore", "unit range"]


@dataclass(frozen=True)
class Rows:
    """Which rows a trial sees, and how its features are scaled."""

    max_rows: int
    min_per_class: int
    image_block: int
    n_outer: int
    n_inner: int
    scaling: Scaling


@dataclass(frozen=True)
class Split:
    """Training and test part; labels are 0, 1, .. without a gap. ``folds`` are those of the training part."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    folds: np.ndarray

    @property
    def signs(self) -> np.ndarray:
        """Training labels of two classes as -1.0 and +1.0."""
        return 2.0 * self.y - 1.0

    def error(self, predicted: np.ndarray) -> float:
        """Return the test error of predicted labels in percent."""
        return 100.0 * float(np.mean(predicted != self.y_test))


def draw(trial: Trial, rows: Rows) -> Split:
    """Return the data of a trial: number k holds out fold k of the set; after all folds it is cut anew."""
    block = rows.image_block if trial.dataset == "mnist" else 1
    X, y = sample_rows(trial.dataset, rows.max_rows, rows.min_per_class, block)
    repetition, fold = divmod(trial.number, rows.n_outer)
    held = random_folds(y, rows.n_outer, "atlas", trial.dataset, "outer", repetition) == fold
    scale = zscore if rows.scaling == "zscore" else scale_to_unit_range
    X = fill_missing(scale(X, reference=X[~held]))
    inner = random_folds(y[~held], rows.n_inner, "atlas", trial.dataset, "inner", trial.number)
    return Split(X[~held], y[~held], X[held], y[held], inner)


@cache
def sample_rows(
    name: str, max_rows: int, min_per_class: int, image_block: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a set, cut down to about ``max_rows``; images averaged over blocks of pixels."""
    data = load(name)
    kept = choose_rows(data.y, max_rows, min_per_class, name)
    X, labels = np.asarray(data.X[kept], dtype=np.float64), data.y[kept]
    if name == "mnist":
        X = average_blocks(X.reshape(len(X), 28, 28), image_block)
    y = np.unique(labels, return_inverse=True)[1]
    X.flags.writeable = y.flags.writeable = False
    return X, y


def choose_rows(y: np.ndarray, max_rows: int, min_per_class: int, name: str) -> np.ndarray:
    """Return rows with the classes in their shares, of each at least ``min_per_class`` if there are."""
    if len(y) <= max_rows:
        return np.arange(len(y))
    order = generator_from_names("atlas", name, "rows").permutation(len(y))
    chosen = []
    for label in np.unique(y):
        own = order[y[order] == label]
        chosen.append(own[: max(min_per_class, round(len(own) * max_rows / len(y)))])
    return np.sort(np.concatenate(chosen))


def average_blocks(images: np.ndarray, side: int) -> np.ndarray:
    """Return images (n, height, width) averaged over blocks of side x side pixels, a row each."""
    n, height, width = images.shape
    blocks = images.reshape(n, height // side, side, width // side, side)
    return blocks.mean(axis=(2, 4)).reshape(n, -1)
