"""Trials of table II: Fourier cosines with the Gaussian kernel, perceptrons with the perceptron kernel."""

from __future__ import annotations

import numpy as np

from kernsemble.kernels import gaussian_kernel
from kernsemble.trials.trial import Trial
from shen2014.cgens import machine_ensemble
from shen2014.draws import Draw, Folds, draw, folds_of
from shen2014.ensembles import Fit, boosting, errors_at, search
from shen2014.lpboost import linear_programming
from shen2014.machines import (
    DISTANCE_KERNELS,
    choose_width,
    powers_of_two,
    train_on_kernel,
)
from shen2014.plan import paper
from shen2014.pools import family_of, make_family, perceptron_family
from shen2014.protocol import Cosines, Perceptrons, Selection, Widths
from shen2014.sets import BINARY_SETS

Result = dict[str, float]


@paper.trials("table2", methods=("fourier:RFF", "fourier:SVM"), datasets=BINARY_SETS, together=True)
def fourier_machines(trial: Trial, *, n_folds: int, pool_size: int, widths: Widths) -> dict[str, Result]:
    """The Gaussian machine, and the linear one on random cosines of the width that it has chosen."""
    data = draw(trial)
    folds, Cs = folds_of(trial, data.y, n_folds), powers_of_two(widths.log2_C_gauss)
    gamma = choose_width(data, folds, widths)
    kernels = {
        "fourier:SVM": [gaussian_kernel(X, data.X, gamma=gamma) for X in (data.X, data.X_test)],
        "fourier:RFF": cosine_kernels(data, trial.shared_seed("pool"), pool_size, gamma),
    }
    return {
        name: {**_machine(data, *matrices, folds, Cs), "gamma": gamma} for name, matrices in kernels.items()
    }


def cosine_kernels(data: Draw, seed: int, size: int, gamma: float) -> list[np.ndarray]:
    """Return the linear kernels of random cosines: Rahimi and Recht's approximation of the Gaussian one."""
    drawn = make_family("fourier once", data.X, seed, size=size, gamma=gamma).collect(
        [(j, 1) for j in range(size)]
    )
    Z, Z_test = (np.sqrt(2.0 / size) * drawn.outputs(X) for X in (data.X, data.X_test))
    return [Z @ Z.T, Z_test @ Z.T]


@paper.trials("table2", methods=("fourier:CGENS",), datasets=BINARY_SETS)
def fourier_cgens(
    trial: Trial, *, selection: Selection, pool: str, cosines: Cosines, widths: Widths, tol: float
) -> Result:
    """CGENS on cosines of the width that the Gaussian machine has chosen."""
    data = draw(trial)
    gamma = choose_width(data, folds_of(trial, data.y, selection.n_folds), widths)
    fit = machine_ensemble(family_of(trial, f"fourier {pool}", size=cosines.pool_size, gamma=gamma), tol)
    return {**_ensemble(trial, fit, powers_of_two(cosines.log2_C_cosines), selection), "gamma": gamma}


def _machine(data: Draw, K: np.ndarray, K_test: np.ndarray, folds: Folds, Cs: list[float]) -> Result:
    scores, C, size = train_on_kernel(K, K_test, data.y, folds, Cs)
    return {"error": data.error(scores), "C": C, "size": size}


def _ensemble(trial: Trial, fit: Fit, Cs: list[float], selection: Selection) -> Result:
    """Return the error after all rounds (C selected), and that with the rounds selected too."""
    data, rounds = draw(trial), selection.rounds
    found = search(fit, data, folds_of(trial, data.y, selection.n_folds), Cs, rounds)
    last, best = found.best(len(rounds) - 1), found.best()
    errors = errors_at(fit, data, rounds, [last, best])
    return {
        "error": errors[last],
        "error_selected": errors[best],
        "C": last[0],
        "rounds": rounds[best[1]],
    }


@paper.trials("table2", methods=("perceptron:AdaBoost",), datasets=BINARY_SETS)
def boosted_perceptrons(trial: Trial, *, selection: Selection, perceptrons: Perceptrons) -> Result:
    """AdaBoost on a pool of perceptrons."""
    return _ensemble(trial, boosting(perceptron_family(trial, perceptrons)), [1.0], selection)


@paper.trials("table2", methods=("perceptron:LPBoost",), datasets=BINARY_SETS)
def lp_perceptrons(
    trial: Trial, *, selection: Selection, perceptrons: Perceptrons, log2_C_lp: list[int], tol: float
) -> Result:
    """LPBoost on the same pool."""
    fit = linear_programming(perceptron_family(trial, perceptrons), tol)
    return _ensemble(trial, fit, powers_of_two(log2_C_lp), selection)


@paper.trials("table2", methods=("perceptron:CGENS",), datasets=BINARY_SETS)
def cgens_perceptrons(
    trial: Trial, *, selection: Selection, perceptrons: Perceptrons, log2_C: list[int], tol: float
) -> Result:
    """CGENS on the same pool."""
    fit = machine_ensemble(perceptron_family(trial, perceptrons), tol)
    return _ensemble(trial, fit, powers_of_two(log2_C), selection)


@paper.trials("table2", methods=("perceptron:SVM",), datasets=BINARY_SETS)
def perceptron_machine(trial: Trial, *, n_folds: int, log2_C_perceptron: list[int]) -> Result:
    """Machine with the perceptron kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["perceptron"]
    folds = folds_of(trial, data.y, n_folds)
    return _machine(
        data, kernel(data.X), kernel(data.X_test, data.X), folds, powers_of_two(log2_C_perceptron)
    )
