"""What estimators with rounds share: going on with an earlier fit, and ending on held-out data.

A warm start keeps the oracle, the master and what the rounds found, so that more rounds are what one long fit
would have run. It asks for the same data and parameters, but for the number of rounds and when to end. What
is kept is not pickled: a copy runs all rounds anew, with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_scalar

from kernsemble.estimators._base import TrainingData
from kernsemble.hypotheses.base import generator

_FREE = {"n_rounds", "tol", "verbose", "n_jobs", "warm_start"}  # may change from one fit to the next
NO_BETTER = "no better on held-out samples for n_iter_no_change rounds"


@dataclass
class Kept:
    """What a fit keeps for the next: its parameters and data, and the parts that the next goes on with."""

    parameters: dict[str, Any]
    data: tuple
    parts: tuple


def kept_from(model: Any, *data: Any) -> tuple | None:
    """Return what a warm start goes on with, None for a new fit; refuse other data or parameters."""
    kept = model._kept
    if not model.warm_start or kept is None:
        model._kept = None
        return None
    now = model.get_params(deep=False)
    changed = [name for name in now if name not in _FREE and not _same(now[name], kept.parameters[name])]
    if not all(map(_same, data, kept.data)):
        changed.append("X, y or sample_weight")
    if changed:
        raise ValueError(
            f"{type(model).__name__}: warm_start=True goes on with the last fit, but {changed[0]} has "
            "changed: set warm_start=False to begin anew."
        )
    if model.n_rounds < model.n_rounds_:
        raise ValueError(
            f"{type(model).__name__}: n_rounds={model.n_rounds} is below the {model.n_rounds_} rounds of the "
            "last fit, with which warm_start=True goes on."
        )
    model._kept = None
    return kept.parts


def keep(model: Any, data: tuple, parts: tuple) -> None:
    """Keep what the next fit may go on with, if it is to."""
    if model.warm_start:
        model._kept = Kept(model.get_params(deep=False), data, parts)


def _same(one: Any, other: Any) -> bool:
    """Whether two parameters, or two arrays, are equal."""
    if one is other:
        return True
    if issparse(one) and issparse(other):
        pairs = ((one.indptr, other.indptr), (one.indices, other.indices), (one.data, other.data))
        return one.shape == other.shape and all(_same(a, b) for a, b in pairs)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    return type(one) is type(other) and not isinstance(one, np.ndarray) and one == other


class HeldOut:
    """Samples that are kept out of the fit, and the share of them classified correctly after each round."""

    def __init__(self, data: TrainingData, rows: np.ndarray, patience: int):
        self.X, self.labels, self.weight = data.X[rows], data.labels[rows], data.weight[rows]
        self.patience = patience
        self.scores: list[float] = []

    def add(self, model: Any) -> bool:
        """Score a model after a round; tell whether to stop."""
        right = model._classes_of(model._decide(self.X)) == model.classes_[self.labels]
        self.scores.append(float(self.weight @ right / self.weight.sum()))
        return self.ended

    @property
    def ended(self) -> bool:
        """Whether the best round lies ``patience`` rounds back."""
        return bool(self.scores) and len(self.scores) - 1 - int(np.argmax(self.scores)) >= self.patience


def hold_out(model: Any, data: TrainingData) -> tuple[TrainingData, np.ndarray | slice, HeldOut | None]:
    """Return the samples to train on, which they are, and those held out if any are asked for."""
    if model.n_iter_no_change is None:
        return data, slice(None), None
    patience = int(check_scalar(model.n_iter_no_change, "n_iter_no_change", Integral, min_val=1))
    bounds = {"min_val": 0, "max_val": 1, "include_boundaries": "neither"}
    check_scalar(model.validation_fraction, "validation_fraction", Real, **bounds)
    rows, held = split_validation(
        len(data.labels), model.validation_fraction, model.random_state, data.labels
    )
    train = replace(data, X=data.X[rows], labels=data.labels[rows], weight=data.weight[rows])
    return train, rows, HeldOut(data, held, patience)


def split_validation(
    n_samples: int, fraction: float, random_state: Any, labels: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of samples to train on and to watch, by class where labels are given; both keep every class."""
    rng = generator(random_state)
    groups: Sequence[np.ndarray] = (
        [np.arange(n_samples)] if labels is None else [np.flatnonzero(labels == k) for k in np.unique(labels)]
    )
    held = np.concatenate(
        [rng.permutation(group)[: min(len(group) - 1, round(fraction * len(group)))] for group in groups]
    )
    if not len(held):
        raise ValueError(
            f"validation_fraction={fraction:g} of {n_samples} samples leaves none to validate on."
        )
    held = np.sort(held)
    return np.setdiff1d(np.arange(n_samples), held), held
