"""The hypotheses that a round may choose from: all stumps, or a pool of 2000 drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from kernsemble.hypotheses.base import Oracle
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.trials.trial import Trial
from shen2014.protocol import Perceptrons


class StumpPool(PerceptronPool):
    """Stumps drawn at random: a feature, then a threshold uniform on its range (linli2005, Definition 2)."""

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = self._X.min(axis=0), self._X.max(axis=0)
        # The stump kernel gives each feature a share in proportion to its range.
        features = self._random.choice(len(low), size=n, p=(high - low) / (high - low).sum())
        return np.eye(len(low))[features], self._random.uniform(low[features], high[features])


def make_family(
    name: str, X: np.ndarray, seed: int, *, constant: bool = True, size: int = 2000, gamma: float = 1.0
) -> Oracle:
    """Return an oracle by name: "stump", or a pool of `POOLS` with " once" or " fresh" behind its name."""
    if name == "stump":
        return StumpOracle(X, constant=constant)
    kind, _, drawn = name.rpartition(" ")
    options = {"n_hypotheses": size, "fresh": drawn == "fresh", "random_state": seed}
    if kind == "stumps":
        return StumpPool(X, **options)
    if kind == "fourier":
        return FourierPool(X, gamma=gamma, **options)
    return PerceptronPool(X, threshold=kind.removeprefix("perceptrons "), **options)


POOLS = ("stumps", "perceptrons ball", "perceptrons segment", "fourier")


def family_of(trial: Trial, name: str, **options: object) -> Callable[[np.ndarray], Oracle]:
    """Return what makes an oracle of training rows, by the name of its family; methods share its draws."""
    return partial(_family, name, trial.shared_seed("pool"), options)


def _family(name: str, seed: int, options: dict, X: np.ndarray) -> Oracle:
    return make_family(name, X, seed, **options)


def perceptron_family(trial: Trial, perceptrons: Perceptrons) -> Callable[[np.ndarray], Oracle]:
    """Return what draws the perceptrons of table II."""
    name = f"perceptrons {perceptrons.thresholds} {perceptrons.pool}"
    return family_of(trial, name, size=perceptrons.pool_size)
