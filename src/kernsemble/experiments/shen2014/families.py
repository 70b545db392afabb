"""Trials on what a round may choose from: the same choice for AdaBoost, LPBoost and CGENS.

The three methods of a trial see the same pools. Fresh ones, a new pool in each round, cost more to draw than
to search, so a trial draws each once: the first method that comes to a round draws, the others read.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kernsemble.experiments.shen2014.cgens import machine_ensemble
from kernsemble.experiments.shen2014.draws import draw
from kernsemble.experiments.shen2014.ensembles import Family, boosting
from kernsemble.experiments.shen2014.lpboost import linear_programming
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.shen2014.pools import StumpPool, make_family
from kernsemble.experiments.shen2014.sets import BINARY_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.perceptrons import PerceptronPool

# All stumps, or 2000 drawn once or anew in each round.
FAMILIES = (
    "stump", "stumps once", "stumps fresh", "perceptrons ball once", "perceptrons ball fresh",
    "perceptrons segment once", "perceptrons segment fresh",
)  # fmt: skip


class _SharedDraws:
    """Makes a fresh pool read what others have drawn into a record, and write down what it draws itself.

    All pools of a record have the same generator, which stands where the record ends.
    """

    def __init__(self, X: np.ndarray, *, record: list, **options: object) -> None:
        self._record, self._turn = record, 0
        super().__init__(X, fresh=True, **options)

    def _draw(self) -> None:
        if self._turn == len(self._record):
            super()._draw()
            self._record.append((self._theta, self._kappa, np.packbits(self._columns > 0, axis=1)))
        else:
            self._first += self.n_hypotheses
            self._theta, self._kappa, packed = self._record[self._turn]
            bits = np.unpackbits(packed, axis=1, count=len(self._X))
            self._columns = 2 * bits.view(np.int8) - 1
            self._searched = False
        self._turn += 1


class SharedStumps(_SharedDraws, StumpPool):
    """Stumps drawn anew in each round, the same for all oracles of a record."""


class SharedPerceptrons(_SharedDraws, PerceptronPool):
    """Perceptrons drawn anew in each round, the same for all oracles of a record."""


def shared_family(name: str, seed: int, size: int) -> Family:
    """Return what makes an oracle of training rows (always the same); fresh pools share their draws."""
    kind, _, drawn = name.rpartition(" ")
    if drawn != "fresh":
        return partial(make_family, name, seed=seed, size=size)
    options = {"n_hypotheses": size, "random_state": np.random.default_rng(seed), "record": []}
    if kind == "stumps":
        return partial(SharedStumps, **options)
    return partial(SharedPerceptrons, threshold=kind.removeprefix("perceptrons "), **options)


@paper.trials("pools", methods=FAMILIES, datasets=BINARY_SETS)
def pools(
    trial: Trial, *, pool_size: int, log2_C_pools: dict[str, int], rounds: list[int], tol: float
) -> dict[str, np.ndarray]:
    """Test errors of AdaBoost, LPBoost and CGENS after some rounds, with the same choice in each round."""
    data = draw(trial)
    family = shared_family(trial.method, trial.shared_seed("pool"), pool_size)
    # The intercept of CGENS is its constant stump.
    others = partial(family, constant=False) if trial.method == "stump" else family
    fits = {
        "AdaBoost": boosting(family),
        "LPBoost": linear_programming(family, tol),
        "CGENS": machine_ensemble(others, tol),
    }
    found = {}
    for name, fit in fits.items():
        scores = fit(data, 2.0 ** log2_C_pools.get(name, 0), rounds).scores(data.X_test)
        found[name] = np.array([data.error(column) for column in scores.T])
    return found
