"""Trials on twenty splits of our own, for error bars: all eleven methods of tables I and II.

C and the number of rounds (the Gaussian width too) come from 5-fold cross-validation on the first split, and
are kept for the others. A trial is all splits of one set for one method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kernsemble.kernels import gaussian_kernel
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.trials.trial import Trial
from shen2014.cgens import machine_ensemble
from shen2014.draws import Draw, draw, folds_of
from shen2014.ensembles import Family, Fit, boosting, search
from shen2014.lpboost import linear_programming
from shen2014.machines import (
    DISTANCE_KERNELS,
    choose_cost,
    choose_width,
    powers_of_two,
)
from shen2014.plan import paper
from shen2014.pools import family_of, perceptron_family
from shen2014.protocol import Cosines, Perceptrons, Selection, Widths
from shen2014.sets import IDA_SETS
from shen2014.table2 import cosine_kernels

Result = dict[str, float | np.ndarray]


def _first(trial: Trial) -> Trial:
    return replace(trial, number=0)


def _draws(trial: Trial, n_draws: int) -> list[Draw]:
    return [draw(replace(trial, number=number)) for number in range(n_draws)]


def _family(trial: Trial, perceptrons: Perceptrons, *, constant: bool = True) -> Family:
    """Return all stumps or a pool of perceptrons, as the method's name says."""
    if trial.method.startswith("stump"):
        return family_of(_first(trial), "stump", constant=constant)
    return perceptron_family(_first(trial), perceptrons)


def _repeat(trial: Trial, fit: Fit, Cs: Sequence[float], selection: Selection, n_draws: int) -> Result:
    """Select on the first split, with stumps the number of rounds too, and fit all."""
    splits, rounds = _draws(trial, n_draws), selection.rounds
    folds = folds_of(_first(trial), splits[0].y, selection.n_folds)
    found = search(fit, splits[0], folds, Cs, rounds)
    C, t = found.best(None if trial.method.startswith("stump") else len(rounds) - 1)
    errors = [data.error(fit(data, C, [rounds[t]]).scores(data.X_test)[:, 0]) for data in splits]
    return {"errors": np.array(errors), "C": C, "rounds": rounds[t]}


@paper.trials("draws", methods=("stump:AdaBoost", "perceptron:AdaBoost"), datasets=IDA_SETS)
def boosted_draws(trial: Trial, *, n_draws: int, selection: Selection, perceptrons: Perceptrons) -> Result:
    """AdaBoost."""
    return _repeat(trial, boosting(_family(trial, perceptrons)), [1.0], selection, n_draws)


@paper.trials("draws", methods=("stump:LPBoost", "perceptron:LPBoost"), datasets=IDA_SETS)
def lp_draws(
    trial: Trial,
    *,
    n_draws: int,
    selection: Selection,
    perceptrons: Perceptrons,
    log2_C_lp: list[int],
    tol: float,
) -> Result:
    """LPBoost."""
    fit = linear_programming(_family(trial, perceptrons), tol)
    return _repeat(trial, fit, powers_of_two(log2_C_lp), selection, n_draws)


@paper.trials("draws", methods=("stump:CGENS", "perceptron:CGENS"), datasets=IDA_SETS)
def cgens_draws(
    trial: Trial,
    *,
    n_draws: int,
    selection: Selection,
    perceptrons: Perceptrons,
    log2_C: list[int],
    tol: float,
) -> Result:
    """CGENS on stumps and perceptrons."""
    fit = machine_ensemble(_family(trial, perceptrons, constant=False), tol)
    return _repeat(trial, fit, powers_of_two(log2_C), selection, n_draws)


@paper.trials("draws", methods=("fourier:CGENS",), datasets=IDA_SETS)
def fourier_draws(
    trial: Trial,
    *,
    n_draws: int,
    selection: Selection,
    pool: str,
    cosines: Cosines,
    widths: Widths,
    tol: float,
) -> Result:
    """CGENS on cosines, of the width that the Gaussian machine has chosen."""
    gamma = _width(trial, selection.n_folds, widths)
    family = family_of(_first(trial), f"fourier {pool}", size=cosines.pool_size, gamma=gamma)
    fit = machine_ensemble(family, tol)
    return _repeat(trial, fit, powers_of_two(cosines.log2_C_cosines), selection, n_draws)


def _width(trial: Trial, n_folds: int, widths: Widths) -> float:
    first = draw(_first(trial))
    return choose_width(first, folds_of(_first(trial), first.y, n_folds), widths)


Kernels = Callable[[Draw], Sequence[np.ndarray]]


def _repeat_machine(
    trial: Trial, kernels: Kernels, log2_Cs: Sequence[int], n_folds: int, n_draws: int
) -> Result:
    """Select C on the first split, and train on all."""
    C, errors = 0.0, []
    for data in _draws(trial, n_draws):
        K, K_test = kernels(data)
        C = C or choose_cost(K, data.y, folds_of(_first(trial), data.y, n_folds), powers_of_two(log2_Cs))
        machine = solve_kernel_hinge(K, data.y, C)
        errors.append(data.error(K_test @ machine.w + machine.b))
    return {"errors": np.array(errors), "C": C}


@paper.trials("draws", methods=("stump:SVM", "perceptron:SVM"), datasets=IDA_SETS)
def machine_draws(
    trial: Trial, *, n_draws: int, n_folds: int, log2_C_stump: list[int], log2_C_perceptron: list[int]
) -> Result:
    """Machines with the kernels of all stumps and of all perceptrons."""
    name = trial.method.partition(":")[0]
    kernel = DISTANCE_KERNELS[name]
    grid = log2_C_stump if name == "stump" else log2_C_perceptron
    return _repeat_machine(
        trial, lambda data: (kernel(data.X), kernel(data.X_test, data.X)), grid, n_folds, n_draws
    )


@paper.trials("draws", methods=("fourier:RFF", "fourier:SVM"), datasets=IDA_SETS)
def gaussian_draws(trial: Trial, *, n_draws: int, n_folds: int, pool_size: int, widths: Widths) -> Result:
    """The Gaussian machine, and the linear one on random cosines."""
    gamma = _width(trial, n_folds, widths)
    seed = _first(trial).shared_seed("pool")

    def kernels(data: Draw) -> list[np.ndarray]:
        if trial.method == "fourier:RFF":
            return cosine_kernels(data, seed, pool_size, gamma)
        return [gaussian_kernel(X, data.X, gamma=gamma) for X in (data.X, data.X_test)]

    return _repeat_machine(trial, kernels, widths.log2_C_gauss, n_folds, n_draws)
