"""The data of a trial: drawn or split by its names, scaled, with label noise where its name ends in -n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kernsemble.data.base import Dataset
from kernsemble.data.generators import flip_labels, ringnorm, threenorm, twonorm
from kernsemble.data.scaling import fill_missing, scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.trials.trial import Trial

Scaling = Literal["real sets", "all sets", "real sets, pooled"]
MissingVotes = Literal["middle", "mode", "drop"]
FoldKind = Literal["random", "stratified"]
Folds = list[tuple[np.ndarray, np.ndarray]]

_GENERATORS = {"twonorm": twonorm, "threenorm": threenorm, "ringnorm": ringnorm}
_STORED = {"german": "german24"}


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0, or class codes where there are more than two."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent; a score of exactly 0 counts as -1."""
        return 100.0 * float(np.mean((scores > 0) != (self.y_test > 0)))


def draw(trial: Trial, sizes: Mapping[str, float], scaling: Scaling, missing_votes: MissingVotes) -> Draw:
    """Return the data of a trial; all methods of a dataset and a number see the same.

    ``sizes`` has the keys train and test (rows of generated sets), share (training part of real sets) and
    noise (share of training labels that are wrong in the -n sets).
    """
    clean = trial.dataset.removesuffix("-n")
    name, _, variant = clean.partition("-")
    if name not in _GENERATORS:
        return _split(trial, sizes["share"], scaling, missing_votes)
    rng = trial.shared_rng("split", dataset=name if variant == "near" else clean)
    n_features = 2 if variant == "2d" else 20
    train, test = (
        _GENERATORS[name](int(sizes[part]), n_features, random_state=rng) for part in ("train", "test")
    )
    if variant == "near":
        train, test = _move_nearer(train), _move_nearer(test)
    y = train.signs
    if trial.dataset.endswith("-n"):
        y = flip_labels(y, sizes["noise"], random_state=trial.shared_rng("noise"))
    X, X_test = train.X, test.X
    if scaling == "all sets":
        X, X_test = scale_to_unit_range(X), scale_to_unit_range(X_test, reference=X)
    return Draw(X, y.astype(np.float64), X_test, test.signs.astype(np.float64))


def _split(trial: Trial, share: float, scaling: Scaling, missing_votes: MissingVotes) -> Draw:
    """Split a stored set at random and scale its columns to [-1, 1]."""
    data = load(_STORED.get(trial.dataset, trial.dataset))
    missing = missing_votes if trial.dataset == "votes84" else "middle"
    if missing == "drop":
        data = data.rows(~np.isnan(data.X).any(axis=1))
    labels = data.signs if data.n_classes == 2 else data.y
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [int(share * data.n_samples)])
    X = _fill_with_mode(data.X, data.X[train]) if missing == "mode" else data.X
    X = scale_to_unit_range(X, reference=X if scaling == "real sets, pooled" else X[train])
    X = fill_missing(X, 0.0)  # the middle of the range
    y = labels.astype(np.float64)
    return Draw(X[train], y[train], X[test], y[test])


def _move_nearer(ring: Dataset) -> Dataset:
    """Return ringnorm with the mean of its second class at norm 1 instead of 2."""
    shift = np.where(ring.y == 0, 1.0 / np.sqrt(ring.n_features), 0.0)
    return replace(ring, X=ring.X - shift[:, np.newaxis])


def _fill_with_mode(X: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Replace missing cells by the most frequent value of their column in the reference rows."""
    filled = X.copy()
    for column, known in zip(filled.T, reference.T, strict=True):
        values, counts = np.unique(known[~np.isnan(known)], return_counts=True)
        column[np.isnan(column)] = values[counts.argmax()]
    return filled


def folds_of(trial: Trial, data: Draw, n_folds: int, kind: FoldKind) -> Folds:
    """Return (training, held-out) indices of each fold of a random partition, the same for all machines."""
    order = trial.shared_rng("folds").permutation(len(data.y))
    if kind == "stratified":
        order = order[np.argsort(data.y[order], kind="stable")]
    fold = np.empty(len(data.y), dtype=np.intp)
    fold[order] = np.arange(len(data.y)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]
