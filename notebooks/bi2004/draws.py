"""The data of a trial: rows drawn at random, standardized; the digits' task; the folds of the small sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from kernsemble.data.base import Dataset
from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from bi2004.sets import STORED

Scaling = Literal["all rows", "training rows"]
DigitsTask = Literal["odd", "large", "three"]

POSITIVE_DIGITS = {"odd": "13579", "large": "56789", "three": "3"}
_CHUNK = 20_000  # rows that are floating-point numbers at a time


@dataclass(frozen=True)
class Task:
    """How rows are drawn: how many, over what they are standardized, what the digits' two classes are."""

    sizes: dict[str, int]
    scaling: Scaling
    digits_task: DigitsTask = "odd"


@dataclass(frozen=True)
class Draw:
    """Training, validation and test part; labels are -1.0 and +1.0."""

    X: np.ndarray
    y: np.ndarray
    X_val: np.ndarray
    y_val: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def percent_wrong(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the share of wrong signs in percent, to four decimals, which keeps the evidence short."""
    return round(100.0 * float(np.mean((scores > 0) != (y > 0))), 4)


@lru_cache(maxsize=1)
def whole_set(label: str, digits_task: DigitsTask = "odd") -> Dataset:
    """Return a dataset as the paper's table 1 has it; the label's second class is +1.

    Forest: the two largest classes. Digits: MNIST's 60,000 training images. Ionosphere: without the column
    that is constant.
    """
    data = load(STORED[label])
    if label == "Forest":
        return data.only("2", "1")
    if label == "Digits":
        return data.rows(np.flatnonzero(data.part == 0)).one_against_rest(*POSITIVE_DIGITS[digits_task])
    return data


@lru_cache(maxsize=1)
def moments(label: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every feature over all rows of a set, a chunk at a time."""
    X = whole_set(label).X
    starts = range(0, len(X), _CHUNK)
    mean = sum(X[start : start + _CHUNK].sum(axis=0, dtype=np.float64) for start in starts) / len(X)
    squares = sum(np.square(X[start : start + _CHUNK] - mean).sum(axis=0) for start in starts)
    return mean, np.sqrt(squares / (len(X) - 1))


def standardize(X: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return features with mean 0 and standard deviation 1; a constant one becomes zeros."""
    return np.where(spread > 0, (X - mean) / np.where(spread > 0, spread, 1.0), 0.0)


def draw(trial: Trial, label: str, task: Task) -> Draw:
    """Draw disjoint training, validation and test rows; all methods of a label and a number share them.

    The test and validation rows come first, so that draws of more training rows (table 5) contain those of
    fewer, with the same test rows.
    """
    data = whole_set(label, task.digits_task) if label == "Digits" else whole_set(label)
    order = trial.shared_rng("split", dataset=label).permutation(data.n_samples)
    cuts = np.cumsum([task.sizes[part] for part in ("test", "validation", "train")])
    test, validation, train = np.split(order[: cuts[-1]], cuts[:-1])
    raw = data.X[train].astype(np.float64)
    if task.scaling == "all rows":
        mean, spread = moments(label)
    else:
        mean, spread = raw.mean(axis=0), raw.std(axis=0, ddof=1)
    parts = (standardize(data.X[rows], mean, spread) for rows in (train, validation, test))
    labels = (data.signs[rows].astype(np.float64) for rows in (train, validation, test))
    return Draw(*(item for pair in zip(parts, labels, strict=True) for item in pair))


def small_set(label: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a small set, standardized over all rows, without constant features, and its labels."""
    data = whole_set(label)
    mean, spread = moments(label)
    return standardize(data.X, mean, spread)[:, spread > 0], data.signs.astype(np.float64)


def folds_of(trial: Trial, n_samples: int, n_folds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (training, held-out) indices of a random partition, the same for all methods."""
    order = trial.shared_rng("folds").permutation(n_samples)
    fold = np.empty(n_samples, dtype=np.intp)
    fold[order] = np.arange(n_samples) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
