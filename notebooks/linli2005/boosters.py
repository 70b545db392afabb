"""AdaBoost over stumps and over perceptrons, as the trials run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from kernsemble.boosting.stagewise import adaboost
from kernsemble.hypotheses.base import Hypotheses, Oracle
from kernsemble.hypotheses.perceptrons import PerceptronOracle
from kernsemble.hypotheses.stumps import StumpOracle
from linli2005.draws import Draw

Start = Literal["zero", "random", "fisher", "stump"]
Directions = Literal["random", "coordinate"]
Ensemble = tuple[Hypotheses, np.ndarray]


def boost_stumps(data: Draw, n_rounds: int, perfect: float) -> Ensemble:
    """Run AdaBoost over decision stumps; ``perfect`` is the error that a perfect one counts as."""
    return _boost(StumpOracle(data.X), data, n_rounds, perfect)


def boost_perceptrons(
    data: Draw, n_rounds: int, perfect: float, n_updates: int, start: Start, directions: Directions, seed: int
) -> Ensemble:
    """Run AdaBoost over perceptrons found by random coordinate descent."""
    oracle = PerceptronOracle(
        data.X, n_updates=n_updates, start=start, directions=directions, random_state=seed
    )
    return _boost(oracle, data, n_rounds, perfect)


def _boost(oracle: Oracle, data: Draw, n_rounds: int, perfect: float) -> Ensemble:
    boosted = adaboost(oracle, data.y, range(n_rounds), perfect=perfect)
    return oracle.collect(boosted.keys), boosted.W


def scores_at(ensemble: Ensemble, X: np.ndarray, rounds: Sequence[int]) -> list[np.ndarray]:
    """Return the scores of the first T hypotheses on X, for each T in rounds."""
    hypotheses, weights = ensemble
    H = hypotheses.outputs(X)
    return [H[:, :T] @ weights[:T] for T in rounds]
