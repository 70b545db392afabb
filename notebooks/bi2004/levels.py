"""Trials that read one run at several places: errors, columns and seconds against how far it went.

With free coefficients every column has a weight at the 2-norm optimum, so that a number of columns belongs to
a place in the run. The composite and the mixture of table 2 and of figure 1 are read at the same places:
where the objective exceeds that of the end, whose certified gap is small, by some share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.trials.trial import Trial
from bi2004.draws import folds_of, percent_wrong, small_set
from bi2004.kernels import Forms, Offset, make_library
from bi2004.plan import paper
from bi2004.runs import columns_by_kernel, weights_after
from bi2004.sets import SMALL_CHOICES, SMALL_SETS, TARGET
from bi2004.small import Loss, choose_cost
from bi2004.target import fit_target, root_mean_square, target_data

METHODS = ("composite", "mixture")


@paper.trials("levels", methods=METHODS, datasets=SMALL_SETS)
def levels_on_small_sets(
    trial: Trial,
    *,
    forms: Forms,
    offset: Offset,
    tau: float,
    Cs: list[float],
    n_folds: int,
    levels_gap: float,
    excesses: list[float],
) -> dict[str, np.ndarray]:
    """Problem (11) on the first fold of table 2; errors are percentages of the held-out rows."""
    X, y = small_set(trial.dataset)
    train, held = folds_of(trial, len(y), n_folds)[0]
    kernels = make_library(SMALL_CHOICES[trial.method], forms)
    C = choose_cost(Loss(offset), kernels, X[train], y[train], Cs, n_folds)
    model = CGBoostClassifier(
        kernels,
        C,
        intercept=offset,
        n_rounds=len(kernels) * len(train),
        tol=levels_gap,
        tau=tau,
        stratified=True,
    ).fit(X[train], y[train])

    def error(w: np.ndarray, b: float) -> float:
        return percent_wrong(model.hypotheses_.decision(X[held], w, b), y[held])

    return read_levels(model, excesses, error)


@paper.trials("levels", methods=METHODS, datasets=(TARGET,))
def levels_on_target(
    trial: Trial,
    *,
    target_sizes: dict[str, int],
    target_sigma: float,
    target_noise: float,
    target_epsilon: float,
    target_Cs: list[float],
    levels_gap: float,
    excesses: list[float],
) -> dict[str, np.ndarray]:
    """Problem (13) on the points of figure 1; errors are root mean squares against the target."""
    train, validation, (Z, f) = target_data(trial, target_sizes, target_sigma, target_noise)
    settings = target_sigma, target_epsilon, levels_gap
    runs = [fit_target(f"2-norm/{trial.method}", *train, C, *settings) for C in target_Cs]
    losses = [root_mean_square(run.predict(validation[0]) - validation[1]) for run in runs]
    model = runs[int(np.argmin(losses))]

    def error(w: np.ndarray, b: float) -> float:
        return root_mean_square(model.hypotheses_.decision(Z, w, b) - f)

    return read_levels(model, excesses, error)


def read_levels(
    model: CGBoostClassifier | CGBoostRegressor,
    excesses: Sequence[float],
    error: Callable[[np.ndarray, float], float],
) -> dict[str, np.ndarray]:
    """Describe a run after the first round whose objective exceeds the last one by at most each share."""
    seconds = np.cumsum(model.oracle_seconds_path_ + model.master_seconds_path_)
    excess = model.objective_path_ / model.objective_path_[-1] - 1.0
    rows = []
    for level in excesses:
        t = int(np.argmax(excess <= level)) + 1
        w, b = weights_after(model, t)
        rbf = columns_by_kernel(model.hypotheses_.counts(w))["rbf"]
        evaluations = model.hypotheses_.n_evaluations(w)
        rows.append((error(w, b), np.count_nonzero(w), rbf, evaluations, seconds[t - 1]))
    names = ("error", "columns", "rbf", "evaluations", "fit_seconds")
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))
