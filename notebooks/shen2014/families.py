"""Trials on what a round may choose from: the same choice for AdaBoost, LPBoost and CGENS.

The three methods of a trial see the same pools. Fresh ones, a new pool in each round, cost more to draw than
to search, so a trial draws each once: the first method that comes to a round draws, the others read.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from kernsemble.hypotheses.perceptrons import PerceptronPool
from kernsemble.trials.trial import Trial
from shen2014.cgens import machine_ensemble
from shen2014.draws import draw
from shen2014.ensembles import Family, boosting
from shen2014.lpboost import linear_programming
from shen2014.plan import paper
from shen2014.pools import StumpPool, make_family
from shen2014.sets import BINARY_SETS

# All stumps, or 2000 drawn once or anew in each round.
FAMILIES = (
    "stump", "stumps once", "stumps fresh", "perceptrons ball once", "perceptrons ball fresh",
    "perceptrons segment once", "perceptrons segment fresh",
)  # fmt: skip


def shared_family(name: str, seed: int, size: int) -> Family:
    """Return what makes an oracle of training rows (always the same); fresh pools share their draws."""
    kind, _, drawn = name.rpartition(" ")
    if drawn != "fresh":
        return partial(make_family, name, seed=seed, size=size)
    options = {"n_hypotheses": size, "fresh": True, "random_state": np.random.default_rng(seed), "record": []}
    if kind == "stumps":
        return partial(StumpPool, **options)
    return partial(PerceptronPool, threshold=kind.removeprefix("perceptrons "), **options)


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
