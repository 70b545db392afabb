"""Trials of table I: decision stumps, and the machine with the stump kernel.

``by_calls`` repeats the comparison of AdaBoost and CGENS at equal numbers of oracle calls, selection
included: CGENS searches C, so while it runs T rounds for each C on each fold, AdaBoost may run several times
as many.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.trials.trial import Trial
from shen2014.cgens import machine_ensemble
from shen2014.draws import draw, folds_of
from shen2014.ensembles import Fit, boosting, errors_at, search
from shen2014.lpboost import linear_programming
from shen2014.machines import DISTANCE_KERNELS, powers_of_two, train_on_kernel
from shen2014.plan import paper
from shen2014.pools import family_of
from shen2014.protocol import Selection
from shen2014.sets import BINARY_SETS

Result = dict[str, float | np.ndarray]


def equal_rounds(rounds: Sequence[int], n_Cs: int, n_folds: int) -> list[int]:
    """Return how many rounds one method without C gets for the calls of one with C: folds and final fit."""
    return [T * (n_Cs * n_folds + 1) // (n_folds + 1) for T in rounds]


@paper.trials("table1", methods=("AdaBoost",), datasets=BINARY_SETS)
def boosted_stumps(trial: Trial, *, selection: Selection, log2_C: list[int]) -> Result:
    """AdaBoost, its number of rounds by cross-validation; by_calls: with as many calls as CGENS has."""
    data, rounds, n_folds = draw(trial), selection.rounds, selection.n_folds
    longer = equal_rounds(rounds, len(log2_C), n_folds)
    grid = sorted({*rounds, *longer})
    fit = boosting(family_of(trial, "stump"))
    found = search(fit, data, folds_of(trial, data.y, n_folds), [1.0], grid)
    best = found.among([j for j, T in enumerate(grid) if T in rounds])
    last = 1.0, grid.index(rounds[-1])
    stages = [found.among([j for j, T in enumerate(grid) if most >= T]) for most in longer]
    errors = errors_at(fit, data, grid, [best, last, *stages])
    return {
        "error": errors[best],
        "error_500": errors[last],
        "rounds": grid[best[1]],
        "by_calls": np.array([errors[stage] for stage in stages]),
    }


@paper.trials("table1", methods=("LPBoost",), datasets=BINARY_SETS)
def lp_stumps(trial: Trial, *, selection: Selection, log2_C_lp: list[int], tol: float) -> Result:
    """LPBoost, its C and number of rounds by cross-validation."""
    fit = linear_programming(family_of(trial, "stump"), tol)
    return _selected(trial, fit, powers_of_two(log2_C_lp), selection)


@paper.trials("table1", methods=("CGENS",), datasets=BINARY_SETS)
def cgens_stumps(trial: Trial, *, selection: Selection, log2_C: list[int], tol: float) -> Result:
    """CGENS, its C and number of rounds by cross-validation."""
    fit = machine_ensemble(family_of(trial, "stump", constant=False), tol)
    return _selected(trial, fit, powers_of_two(log2_C), selection)


def _selected(trial: Trial, fit: Fit, Cs: list[float], selection: Selection) -> Result:
    """Return the errors with C and rounds selected, with all rounds and C alone selected, and by calls."""
    data, rounds = draw(trial), selection.rounds
    found = search(fit, data, folds_of(trial, data.y, selection.n_folds), Cs, rounds)
    best, last = found.best(), found.best(len(rounds) - 1)
    stages = [found.among(range(count)) for count in range(1, len(rounds) + 1)]
    errors = errors_at(fit, data, rounds, [best, last, *stages])
    return {
        "error": errors[best],
        "error_500": errors[last],
        "C": best[0],
        "rounds": rounds[best[1]],
        "by_calls": np.array([errors[stage] for stage in stages]),
    }


@paper.trials("table1", methods=("SVM",), datasets=BINARY_SETS)
def stump_machine(trial: Trial, *, n_folds: int, log2_C_stump: list[int]) -> Result:
    """Machine with the stump kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["stump"]
    folds = folds_of(trial, data.y, n_folds)
    K, K_test = kernel(data.X), kernel(data.X_test, data.X)
    scores, C, size = train_on_kernel(K, K_test, data.y, folds, powers_of_two(log2_C_stump))
    return {"error": data.error(scores), "C": C, "size": size}
