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
from kernsemble.kernels import gaussian_kernel
from kernsemble.masters.hinge import Hinge
from kernsemble.masters.lp import HingeLP


@paper.trials(
    "table2", methods=("fourier:RFF", "fourier:SVM", "fourier:CGENS"), datasets=BINARY_SETS, together=True
)
def fourier_methods(
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
) -> dict[str, dict[str, float]]:
    """The Gaussian machine chooses the width; random features and CGENS draw their cosines with it."""
    data = draw(trial)
    folds = folds_of(trial, data.y, n_folds)
    Cs = powers_of_two(log2_C_gauss)
    gamma = choose_width(data, folds, Cs, powers_of_two(log2_gamma))
    K, K_test = gaussian_kernel(data.X, gamma=gamma), gaussian_kernel(data.X_test, data.X, gamma=gamma)
    found = {"fourier:SVM": _machine(data, K, K_test, folds, Cs)}

    seed = trial.shared_seed("pool")
    features = make_family("fourier once", data.X, seed, size=pool_size, gamma=gamma)
    drawn = features.collect([(j, 1) for j in range(pool_size)])
    # The mean of products of 2000 cosines, times 2, is Rahimi and Recht's approximation of the kernel.
    Z, Z_test = (np.sqrt(2.0 / pool_size) * drawn.outputs(X) for X in (data.X, data.X_test))
    found["fourier:RFF"] = _machine(data, Z @ Z.T, Z_test @ Z.T, folds, Cs)

    def fit(part: Draw, C: float) -> Stages:
        oracle = make_family(f"fourier {pool}", part.X, seed, size=pool_size, gamma=gamma)
        return generate(oracle, Hinge(part.y, C, intercept="free", tol=tol), rounds, tol)

    found["fourier:CGENS"] = _ensemble(trial, data, fit, powers_of_two(log2_C), n_folds, rounds)
    return {name: {**result, "gamma": gamma} for name, result in found.items()}


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


@paper.trials(
    "table2",
    methods=("perceptron:AdaBoost", "perceptron:LPBoost", "perceptron:CGENS"),
    datasets=BINARY_SETS,
)
def perceptron_ensembles(
    trial: Trial,
    *,
    n_folds: int,
    rounds: list[int],
    pool: str,
    pool_size: int,
    thresholds: str,
    log2_C: list[int],
    log2_C_lp: list[int],
    tol: float,
) -> dict[str, float]:
    """AdaBoost, LPBoost and CGENS on the same pools of perceptrons."""
    data = draw(trial)
    seed = trial.shared_seed("pool")

    def fit(part: Draw, C: float) -> Stages:
        oracle = make_family(f"perceptrons {thresholds} {pool}", part.X, seed, size=pool_size)
        if trial.method == "perceptron:AdaBoost":
            return boost(oracle, part.y, rounds)
        if trial.method == "perceptron:LPBoost":
            return generate(oracle, HingeLP(part.y, C), rounds, tol)
        return generate(oracle, Hinge(part.y, C, intercept="free", tol=tol), rounds, tol)

    grids = {"perceptron:AdaBoost": [0], "perceptron:LPBoost": log2_C_lp, "perceptron:CGENS": log2_C}
    return _ensemble(trial, data, fit, powers_of_two(grids[trial.method]), n_folds, rounds)


@paper.trials("table2", methods=("perceptron:SVM",), datasets=BINARY_SETS)
def perceptron_machine(trial: Trial, *, n_folds: int, log2_C_perceptron: list[int]) -> dict[str, float]:
    """Machine with the perceptron kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["perceptron"]
    folds = folds_of(trial, data.y, n_folds)
    return _machine(
        data, kernel(data.X), kernel(data.X_test, data.X), folds, powers_of_two(log2_C_perceptron)
    )
