"""Draws of training and test rows by another protocol than the chosen one, from the same random orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernsemble.data.scaling import scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from guo2017.draws import Draw
from guo2017.sets import STORED


@dataclass(frozen=True)
class Protocol:
    """How rows are drawn: ``train`` rows (a share below 1); tested from ``test_from`` or after them."""

    train: float = 150
    test_from: int | None = None
    scaling: Literal["all rows", "training rows", "none"] = "all rows"
    stratified: bool = False


def draw_by(trial: Trial, protocol: Protocol) -> Draw:
    """Return the data of a trial; the random order is that of `draws.draw`."""
    data = load(STORED.get(trial.dataset, trial.dataset))
    y = data.signs.astype(np.float64)
    size = round(protocol.train * len(y)) if protocol.train < 1 else int(protocol.train)
    order = trial.shared_rng("split").permutation(len(y))
    if protocol.stratified:
        order = _balance(order, y, size)
    train, test = order[:size], order[protocol.test_from or size :]
    X = data.X.astype(np.float64)
    if protocol.scaling != "none":
        X = scale_to_unit_range(X, reference=X if protocol.scaling == "all rows" else X[train])
    return Draw(X[train], y[train], X[test], y[test])


def _balance(order: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """Move rows so that the first ``size`` hold the classes in the shares of the whole set."""
    above, below = order[y[order] > 0], order[y[order] < 0]
    n_above = round(size * len(above) / len(y))
    first = np.concatenate([above[:n_above], below[: size - n_above]])
    return np.concatenate([first, above[n_above:], below[size - n_above :]])
