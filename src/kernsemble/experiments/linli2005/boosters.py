"""AdaBoost over stumps and over perceptrons, as the trials run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from kernsemble.experiments.linli2005.draws import Draw
from kernsemble.hypotheses.base import Hypotheses, Oracle
from kernsemble.hypotheses.perceptrons import PerceptronOracle
from kernsemble.hypotheses.stumps import StumpOracle

Start = Literal["zero", "random", "fisher", "stump"]
Directions = Literal["random", "coordinate"]
Ensemble = tuple[Hypotheses, np.ndarray]


def boost(oracle: Oracle, y: np.ndarray, T: int) -> Ensemble:
    """Run AdaBoost."""
    u = np.full(len(y), 1 / len(y))
    keys, weights = [], []
    for _ in range(T):
        (found,) = oracle.best(u * y)
        wrong = found.column != y
        error = u[wrong].sum()
        if error >= 0.5:
            break
        keys.append(found.key)
        odds = 1000.0 if error <= 0 else 1 / error - 1
        weights.append(np.log(odds) / 2)
        if error > 0:
            u[wrong] *= odds
            u /= u.sum()
    return oracle.collect(keys), np.array(weights)


def boost_stumps(data: Draw, n_rounds: int) -> Ensemble:
    """Run AdaBoost over decision stumps."""
    return boost(StumpOracle(data.X), data.y, n_rounds)


def boost_perceptrons(
    data: Draw, n_rounds: int, n_updates: int, start: Start, directions: Directions, seed: int
) -> Ensemble:
    """Run AdaBoost over perceptrons found by random coordinate descent."""
    oracle = PerceptronOracle(
        data.X, n_updates=n_updates, start=start, directions=directions, random_state=seed
    )
    return boost(oracle, data.y, n_rounds)


def scores_at(ensemble: Ensemble, X: np.ndarray, rounds: Sequence[int]) -> list[np.ndarray]:
    """Return the scores of the first T hypotheses on X, for each T in rounds."""
    hypotheses, weights = ensemble
    H = hypotheses.outputs(X)
    return [H[:, :T] @ weights[:T] for T in rounds]
