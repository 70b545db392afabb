"""Splits that depend on names alone: all methods of a trial share them, in any order, on any machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np


def generator_from_names(*names: object) -> np.random.Generator:
    """Return a random generator that is a function of the names (their text, in order) and of nothing else.

    Examples
    --------
    >>> from kernsemble.data.splits import generator_from_names
    >>> a = generator_from_names("shen2014", "banana", 3).random()
    >>> b = generator_from_names("shen2014", "banana", 3).random()
    >>> a == b
    True
    """
    if not names:
        raise ValueError("names must not be empty: they are what the generator depends on.")
    # Lengths keep ("ab", "c") and ("a", "bc") apart.
    text = "".join(f"{len(str(name))}:{name}," for name in names)
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def random_parts(n_samples: int, sizes: Sequence[int], *names: object) -> list[np.ndarray]:
    """Return disjoint random index sets of the given sizes.

    Examples
    --------
    >>> from kernsemble.data.splits import random_parts
    >>> [len(part) for part in random_parts(100, [10, 20, 30], "bi2004", "forest", 0)]
    [10, 20, 30]
    """
    if min(sizes, default=0) < 0 or sum(sizes) > n_samples:
        raise ValueError(f"sizes must be non-negative and sum to at most {n_samples}, got {list(sizes)}.")
    order = generator_from_names(*names).permutation(n_samples)
    return np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1])


def random_split(n_samples: int, train_size: int | float, *names: object) -> tuple[np.ndarray, np.ndarray]:
    """Return train and test indices of a random split.

    Parameters
    ----------
    n_samples : int
    train_size : int or float
        Number of training rows, or their fraction (rounded) when below 1.
    *names : object
        What the split depends on, for example paper, dataset and trial number.

    Examples
    --------
    >>> from kernsemble.data.splits import random_split
    >>> train, test = random_split(100, 0.75, "shen2014", "wine", 0)
    >>> len(train), len(test)
    (75, 25)
    """
    size = round(train_size * n_samples) if isinstance(train_size, float) else int(train_size)
    if not 0 < size < n_samples:
        raise ValueError(f"train_size must leave rows on both sides of {n_samples}, got {train_size}.")
    train, test = random_parts(n_samples, [size, n_samples - size], *names)
    return train, test


def split_per_class(y: np.ndarray, per_class: int, *names: object) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of ``per_class`` random rows of each class, and of all other rows, both in order.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.splits import split_per_class
    >>> train, test = split_per_class(np.repeat([0, 1, 2], 10), 4, "lin2012", "scene15", 0)
    >>> len(train), len(test)
    (12, 18)
    """
    rng = generator_from_names(*names)
    classes, counts = np.unique(y, return_counts=True)
    if per_class < 1 or counts.min() < per_class:
        raise ValueError(f"per_class must lie in [1, {counts.min()}] (the smallest class), got {per_class}.")
    chosen = [rng.choice(np.flatnonzero(y == label), per_class, replace=False) for label in classes]
    train = np.sort(np.concatenate(chosen))
    return train, np.setdiff1d(np.arange(len(y)), train)


def random_folds(y: np.ndarray, n_folds: int, *names: object, stratified: bool = True) -> np.ndarray:
    """Return the fold 0 .. n_folds - 1 of each row; stratified folds share each class out evenly.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.splits import random_folds
    >>> np.bincount(random_folds(np.repeat([0, 1], [6, 4]), 2, "cv", 0)).tolist()
    [5, 5]
    """
    n = len(y)
    if not 2 <= n_folds <= n:
        raise ValueError(f"n_folds must lie in [2, {n}], got {n_folds}.")
    order = generator_from_names(*names).permutation(n)
    if stratified:
        order = order[np.argsort(np.asarray(y)[order], kind="stable")]
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds


def official_split(part: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the official training (0) and test (1) parts.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.splits import official_split
    >>> official_split(np.array([0, 0, 1]))
    (array([0, 1]), array([2]))
    """
    if part is None:
        raise ValueError("This dataset has no official parts: use random_split.")
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)
