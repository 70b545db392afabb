"""Trials of other readings of the protocol: scaling, solver, boosting and bagging of SVMs, DRM's settings."""

from __future__ import annotations

import numpy as np

from kernsemble.trials.trial import Trial
from guo2017.draws import Scaling, draw
from guo2017.drm_table import drm_errors
from guo2017.machines import (
    POWERS,
    Kernel,
    Reweighting,
    Solver,
    Voting,
    bag_linear,
    boost_linear,
    drm_kernel,
    ensemble_scores,
    exrm_fit,
    psvm_fit,
    select_nu,
    solve_exrm,
    vote,
)
from guo2017.plan import BASES, paper
from guo2017.sets import TABLE_SETS

# Name -> (scaling, solver, further options of the solver).
READINGS: dict[str, tuple[Scaling, Solver, dict[str, float]]] = {
    "as chosen": ("all rows", "printed", {}),
    "scaled by the training rows": ("training rows", "printed", {}),
    "stop at 5e-4": ("all rows", "printed", {"tol": 5e-4}),
    "stop at 0.5": ("all rows", "printed", {"tol": 0.5}),
    "exact": ("all rows", "exact", {}),
}


@paper.trials("readings", methods=tuple(READINGS), datasets=TABLE_SETS)
def other_readings(trial: Trial, *, n_train: int, lam: float) -> dict[str, float]:
    """Test errors of ExRM under another reading."""
    scaling, solver, options = READINGS[trial.method]
    data = draw(trial, n_train, scaling)
    result = {}
    for name, C in (("L1", 10), ("L2", 10), ("L2", 30)):
        solution = solve_exrm(data.X, data.y, lam, C, POWERS[name], solver, **options)
        result[f"{name}_{C}"] = data.error(ensemble_scores(solution, data.X_test))
    return result


BOOSTS: dict[str, tuple[Reweighting, Solver]] = {
    "AdaSVM, weights": ("weights", "exact"),
    "AdaSVM, resampling": ("resampling", "exact"),
    "AdaSVM, weights, printed solver": ("weights", "printed"),
}
BAGS: dict[str, tuple[Voting, Solver]] = {
    "BagSVM, votes": ("votes", "exact"),
    "BagSVM, mean score": ("mean score", "exact"),
    "BagSVM, votes, printed solver": ("votes", "printed"),
}


@paper.trials("bases", methods=(*BOOSTS, *BAGS), datasets=TABLE_SETS)
def other_bases(trial: Trial, *, n_train: int, scaling: Scaling, lam: float) -> dict[str, float]:
    """Test errors of boosted or bagged PSVMs, by another way to reweight, to vote or to solve."""
    data = draw(trial, n_train, scaling)
    rng, most, voting = trial.shared_rng("sampling"), BASES[-1], "votes"
    if trial.method in BOOSTS:
        reweighting, solver = BOOSTS[trial.method]
        machines, votes = boost_linear(_base(lam, solver), data.X, data.y, most, rng, reweighting)
    else:
        voting, solver = BAGS[trial.method]
        machines = bag_linear(_base(lam, solver), data.X, data.y, most, rng)
        votes = np.ones(most)
    return {f"error_{C}": data.error(vote(machines[:C], votes[:C], data.X_test, voting)) for C in BASES[1:]}


def _base(lam: float, solver: Solver):
    return psvm_fit(lam, 2) if solver == "exact" else exrm_fit(lam, 1, 2, "printed")


# Name -> (kernel, nu or None for cross-validation).
SETTINGS: dict[str, tuple[Kernel, float | None]] = {
    "linear, nu chosen": ("linear", None),
    "linear, nu = 0.5": ("linear", 0.5),
    "gaussian, nu chosen": ("gaussian", None),
    "gaussian, nu = 0.5": ("gaussian", 0.5),
}


@paper.trials("drm", methods=tuple(SETTINGS), datasets=TABLE_SETS)
def other_settings(
    trial: Trial, *, n_train: int, scaling: Scaling, nus: list[float], n_folds: int, drm_mu: float
) -> dict[str, float]:
    """Test errors of DRM with another kernel or nu."""
    kernel, nu = SETTINGS[trial.method]
    data = draw(trial, n_train, scaling)
    K, K_test = drm_kernel(kernel, data.X, data.X), drm_kernel(kernel, data.X_test, data.X)
    if nu is None:
        nu = select_nu(K, data.y, nus, n_folds, trial.shared_rng("folds"))
    return drm_errors(data, K, K_test, (1, 10), nu, drm_mu, trial)
