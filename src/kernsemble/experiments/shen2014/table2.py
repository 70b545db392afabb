"""Trials of table II: Fourier cosines with the Gaussian kernel, perceptrons with the perceptron kernel."""

from __future__ import annotations

import numpy as np

from kernsemble.experiments.shen2014.draws import Draw, draw, folds_of
from kernsemble.experiments.shen2014.ensembles import Stages, boost, generate, search
from kernsemble.experiments.shen2014.machines import (
    DISTANCE_KERNELS,
    choose_width,
    powers_of_two,
    train_on_kernel,
)
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.shen2014.pools import make_family
from kernsemble.experiments.shen2014.sets import BINARY_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.base import Oracle
from kernsemble.kernels import gaussian_kernel
from kernsemble.masters.hinge import Hinge
from kernsemble.masters.lp import HingeLP


@paper.trials("table2", methods=("fourier:RFF", "fourier:SVM"), datasets=BINARY_SETS, together=True)
def fourier_machines(
    trial: Trial, *, n_folds: int, pool_size: int, log2_C_gauss: list[int], log2_gamma: list[int]
) -> dict[str, dict[str, float]]:
    """The Gaussian machine, and the linear one on random cosines of the width that it has chosen."""
    data = draw(trial)
    folds = folds_of(trial, data.y, n_folds)
    Cs = powers_of_two(log2_C_gauss)
    gamma = choose_width(data, folds, Cs, powers_of_two(log2_gamma))
    K, K_test = gaussian_kernel(data.X, gamma=gamma), gaussian_kernel(data.X_test, data.X, gamma=gamma)
    found = {"fourier:SVM": _machine(data, K, K_test, folds, Cs)}
    features = make_family("fourier once", data.X, trial.shared_seed("pool"), size=pool_size, gamma=gamma)
    drawn = features.collect([(j, 1) for j in range(pool_size)])
    # The mean of products of 2000 cosines, times 2, is Rahimi and Recht's approximation of the kernel.
    Z, Z_test = (np.sqrt(2.0 / pool_size) * drawn.outputs(X) for X in (data.X, data.X_test))
    found["fourier:RFF"] = _machine(data, Z @ Z.T, Z_test @ Z.T, folds, Cs)
    return {name: {**result, "gamma": gamma} for name, result in found.items()}


@paper.trials("table2", methods=("fourier:CGENS",), datasets=BINARY_SETS)
def fourier_cgens(
    trial: Trial,
    *,
    n_folds: int,
    rounds: list[int],
    pool: str,
    pool_size: int,
    log2_C: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
    tol: float,
) -> dict[str, float]:
    """CGENS on cosines of the width that the Gaussian machine has chosen."""
    data = draw(trial)
    folds = folds_of(trial, data.y, n_folds)
    gamma = choose_width(data, folds, powers_of_two(log2_C_gauss), powers_of_two(log2_gamma))

    def fit(part: Draw, C: float) -> Stages:
        oracle = make_family(
            f"fourier {pool}", part.X, trial.shared_seed("pool"), size=pool_size, gamma=gamma
        )
        return generate(oracle, Hinge(part.y, C, intercept="free", tol=tol), rounds, tol)

    return {**_ensemble(trial, data, fit, powers_of_two(log2_C), n_folds, rounds), "gamma": gamma}


def _machine(data: Draw, K: np.ndarray, K_test: np.ndarray, folds, Cs: list[float]) -> dict[str, float]:
    scores, C, size = train_on_kernel(K, K_test, data.y, folds, Cs)
    return {"error": data.error(scores), "C": C, "size": size}


def _ensemble(trial: Trial, data: Draw, fit, Cs: list[float], n_folds: int, rounds: list[int]) -> dict:
    """Return the error after all rounds (C selected), and that with the rounds selected too."""
    found = search(fit, data, folds_of(trial, data.y, n_folds), Cs, rounds)
    C, _ = found.best(len(rounds) - 1)
    best, t = found.best()
    scores = fit(data, C).scores(data.X_test)
    selected = scores if best == C else fit(data, best).scores(data.X_test)
    return {
        "error": data.error(scores[:, -1]),
        "error_selected": data.error(selected[:, t]),
        "C": C,
        "rounds": rounds[t],
    }


@paper.trials("table2", methods=("perceptron:AdaBoost",), datasets=BINARY_SETS)
def boosted_perceptrons(
    trial: Trial, *, n_folds: int, rounds: list[int], pool: str, pool_size: int, thresholds: str
) -> dict[str, float]:
    """AdaBoost on a pool of perceptrons."""

    def fit(part: Draw, _: float) -> Stages:
        return boost(_perceptrons(trial, part, thresholds, pool, pool_size), part.y, rounds)

    return _ensemble(trial, draw(trial), fit, [1.0], n_folds, rounds)


@paper.trials("table2", methods=("perceptron:LPBoost",), datasets=BINARY_SETS)
def lp_perceptrons(
    trial: Trial,
    *,
    n_folds: int,
    rounds: list[int],
    pool: str,
    pool_size: int,
    thresholds: str,
    log2_C_lp: list[int],
    tol: float,
) -> dict[str, float]:
    """LPBoost on the same pool."""

    def fit(part: Draw, C: float) -> Stages:
        return generate(
            _perceptrons(trial, part, thresholds, pool, pool_size), HingeLP(part.y, C), rounds, tol
        )

    return _ensemble(trial, draw(trial), fit, powers_of_two(log2_C_lp), n_folds, rounds)


@paper.trials("table2", methods=("perceptron:CGENS",), datasets=BINARY_SETS)
def cgens_perceptrons(
    trial: Trial,
    *,
    n_folds: int,
    rounds: list[int],
    pool: str,
    pool_size: int,
    thresholds: str,
    log2_C: list[int],
    tol: float,
) -> dict[str, float]:
    """CGENS on the same pool."""

    def fit(part: Draw, C: float) -> Stages:
        oracle = _perceptrons(trial, part, thresholds, pool, pool_size)
        return generate(oracle, Hinge(part.y, C, intercept="free", tol=tol), rounds, tol)

    return _ensemble(trial, draw(trial), fit, powers_of_two(log2_C), n_folds, rounds)


def _perceptrons(trial: Trial, part: Draw, thresholds: str, pool: str, size: int) -> Oracle:
    """Return the pool that all methods of a trial share."""
    return make_family(f"perceptrons {thresholds} {pool}", part.X, trial.shared_seed("pool"), size=size)


@paper.trials("table2", methods=("perceptron:SVM",), datasets=BINARY_SETS)
def perceptron_machine(trial: Trial, *, n_folds: int, log2_C_perceptron: list[int]) -> dict[str, float]:
    """Machine with the perceptron kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["perceptron"]
    folds = folds_of(trial, data.y, n_folds)
    return _machine(
        data, kernel(data.X), kernel(data.X_test, data.X), folds, powers_of_two(log2_C_perceptron)
    )
