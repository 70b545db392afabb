"""Trials of DRM in tables 1 and 3: the slowest of the methods, with fewer runs than the others."""

from __future__ import annotations

import numpy as np

from kernsemble.masters.drm import solve_drm
from kernsemble.trials.trial import Trial
from guo2017.draws import Draw, Scaling, draw
from guo2017.machines import Kernel, drm_kernel, select_nu
from guo2017.plan import BASES, ERRORS, paper
from guo2017.sets import TABLE_SETS

paper.exhibit("table1_drm", "Test errors of DRM (tables 1 and 3)", metrics=(*ERRORS, "nu"))


@paper.trials("table1_drm", methods=("DRM",), datasets=TABLE_SETS)
def diversity_machine(
    trial: Trial,
    *,
    n_train: int,
    scaling: Scaling,
    drm_features: Kernel,
    nus: list[float],
    n_folds: int,
    drm_mu: float,
) -> dict[str, float]:
    """DRM; nu by cross-validation on the training part."""
    data = draw(trial, n_train, scaling)
    K, K_test = drm_kernel(drm_features, data.X, data.X), drm_kernel(drm_features, data.X_test, data.X)
    nu = select_nu(K, data.y, nus, n_folds, trial.shared_rng("folds"))
    return {"nu": nu, **drm_errors(data, K, K_test, BASES, nu, drm_mu, trial)}


def drm_errors(
    data: Draw, K: np.ndarray, K_test: np.ndarray, sizes: tuple[int, ...], nu: float, mu: float, trial: Trial
) -> dict[str, float]:
    """Return the test error of the mean machine for each number of bases."""
    errors = {}
    for T in sizes:
        solution = solve_drm(K, data.y, T, nu=nu, mu=mu, rng=trial.rng("start"))
        errors[f"error_{T}"] = data.error(K_test @ solution.w.mean(axis=1))
    return errors
