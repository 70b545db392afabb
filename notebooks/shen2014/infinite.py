"""Trials on the way to all stumps at once, and on kernels that mix."""

from __future__ import annotations

from functools import partial
from time import process_time

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import stump_kernel
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.trials.trial import Trial
from shen2014.cgens import machine, machine_ensemble
from shen2014.draws import draw, folds_of
from shen2014.ensembles import search
from shen2014.machines import choose_cost, choose_width, powers_of_two
from shen2014.plan import paper
from shen2014.protocol import Cosines, Widths
from shen2014.sets import BINARY_SETS


@paper.trials("path", methods=("CGENS",), datasets=BINARY_SETS)
def to_infinity(
    trial: Trial, *, counts: list[int], n_folds: int, log2_C_path: list[int], tol_path: float
) -> dict[str, float | np.ndarray]:
    """CGENS against the machine whose kernel is the sum over ALL stumps of h(x) h(x').

    In ranks (cuts between neighboring values passed) that kernel is a constant minus twice the l1 distance.
    objective: that of the ensemble over that of the machine, minus 1. disagreement: share of test points
    where the two differ, in percent. error: test errors, last that of the machine.
    """
    data = draw(trial)
    ranks, ranks_test = ranks_of(data.X, data.X), ranks_of(data.X, data.X_test)
    K, K_test = 2.0 * stump_kernel(ranks), 2.0 * stump_kernel(ranks_test, ranks)
    Cs = powers_of_two(log2_C_path)
    C = choose_cost(K, data.y, folds_of(trial, data.y, n_folds), Cs)
    machine = solve_kernel_hinge(K, data.y, C, tol=1e-6)
    target = K_test @ machine.w + machine.b
    ensemble = machine_ensemble(partial(StumpOracle, constant=False), tol_path)(data, C, counts)
    decisions = ensemble.scores(data.X_test)
    H = np.asarray(ensemble.hypotheses.outputs(data.X), dtype=np.float64)
    objectives = [_objective(H[:, : len(w)], w, b, data.y, C) for w, b in ensemble.weights]
    return {
        "objective": np.array(objectives) / machine.objective - 1.0,
        "disagreement": 100.0 * ((decisions > 0) != (target > 0)[:, None]).mean(axis=0),
        "error": np.array([*(data.error(s) for s in decisions.T), data.error(target)]),
        "C": C,
    }


def ranks_of(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return how many of the cuts midway between neighboring values of X each entry of Z lies above."""
    columns = []
    for values, entries in zip(X.T, Z.T, strict=True):
        distinct = np.unique(values)
        columns.append(np.searchsorted(0.5 * (distinct[1:] + distinct[:-1]), entries, side="left"))
    return np.column_stack(columns).astype(np.float64)


def _objective(H: np.ndarray, w: np.ndarray, b: float, y: np.ndarray, C: float) -> float:
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (H @ w + b)).sum())


MIXTURES = ("width by cross-validation", "all widths at once", "all widths, all features and each alone")


@paper.trials("multiple_kernels", methods=MIXTURES, datasets=BINARY_SETS)
def multiple_kernels(
    trial: Trial, *, n_folds: int, cosines: Cosines, widths: Widths, tol: float, n_cosines: int
) -> dict[str, float | np.ndarray]:
    """CGENS over cosines of one width that a kernel machine has searched for, or of many kernels in one pool.

    problems: optimization problems solved to choose widths and C. share: share of the total absolute weight
    on each width, kernels: how many of the mixed kernels (widths times groups of features) have any.
    """
    data = draw(trial)
    folds, gammas = folds_of(trial, data.y, n_folds), powers_of_two(widths.log2_gamma)
    Cs, mixed = powers_of_two(cosines.log2_C_cosines), gammas
    problems = len(Cs) * n_folds
    started = process_time()
    if trial.method == "width by cross-validation":
        mixed = [choose_width(data, folds, widths)]
        problems += len(widths.log2_C_gauss) * len(gammas) * n_folds
    options = {"n_hypotheses": cosines.pool_size, "random_state": trial.shared_seed("pool")}
    family = partial(FourierPool, gamma=mixed, groups=_groups(trial.method, data.X.shape[1]), **options)
    C, _ = search(machine_ensemble(family, tol), data, folds, Cs, [n_cosines]).best()
    pool = family(data.X)
    result = column_generation(pool, machine(data.y, C, tol), n_cosines, tol=tol, keep_weights=False)
    seconds, w = process_time() - started, result.solution.w
    weights = _weight_by_kernel(pool, result.keys, w)
    by_width = dict(zip(mixed, weights.reshape(len(mixed), -1).sum(axis=1) / weights.sum(), strict=True))
    return {
        "error": data.error(pool.collect(result.keys).decision(data.X_test, w, result.solution.b)),
        "problems": problems,
        "share": np.array([by_width.get(gamma, 0.0) for gamma in gammas]),
        "kernels": int((weights > 0).sum()),
        "search_seconds": seconds,
    }


def _groups(method: str, d: int) -> list | None:
    """Return the groups of features that kernels look at; None is one group of all."""
    return [range(d), *([j] for j in range(d))] if method.endswith("alone") else None


def _weight_by_kernel(pool: FourierPool, keys: list, w: np.ndarray) -> np.ndarray:
    """Return the total absolute weight on the cosines of each kernel, widths times groups."""
    owners = [pool.kernel_of(key) for key in keys]
    return np.bincount(owners, weights=np.abs(w), minlength=len(pool.kernels))
