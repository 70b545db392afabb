"""Trials on the way to all stumps at once, on kernels that mix, on what a round may choose from."""

from __future__ import annotations

from functools import partial
from time import process_time

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.experiments.shen2014.cgens import machine_ensemble
from kernsemble.experiments.shen2014.draws import draw, folds_of
from kernsemble.experiments.shen2014.ensembles import boost, generate, search
from kernsemble.experiments.shen2014.machines import choose_width, powers_of_two
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.shen2014.pools import make_family
from kernsemble.experiments.shen2014.sets import BINARY_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import stump_kernel
from kernsemble.masters.hinge import Hinge
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge
from kernsemble.masters.lp import HingeLP


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
    C = Cs[int(cross_validate_path(K, data.y, Cs, folds_of(trial, data.y, n_folds)).sum(axis=1).argmax())]
    machine = solve_kernel_hinge(K, data.y, C, tol=1e-6)
    target = K_test @ machine.w + machine.b
    oracle, master = StumpOracle(data.X, constant=False), Hinge(data.y, C, intercept="free", tol=tol_path)
    scores = generate(oracle, master, counts, tol_path)
    decisions = scores.scores(data.X_test)
    H = np.asarray(scores.hypotheses.outputs(data.X), dtype=np.float64)
    objectives = [_objective(H[:, : len(w)], w, b, data.y, C) for w, b in scores.weights]
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
    trial: Trial,
    *,
    n_folds: int,
    pool_size: int,
    log2_C_cosines: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
    width_ties: str,
    tol: float,
    n_cosines: int,
) -> dict[str, float | np.ndarray]:
    """CGENS over cosines of one width that a kernel machine has searched for, or of many kernels in one pool.

    problems: optimization problems solved to choose widths and C. share: share of the total absolute weight
    on each width, kernels: how many of the mixed kernels (widths times groups of features) have any.
    """
    data = draw(trial)
    folds, gammas = folds_of(trial, data.y, n_folds), powers_of_two(log2_gamma)
    Cs = powers_of_two(log2_C_cosines)
    problems, widths = len(Cs) * n_folds, gammas
    started = process_time()
    if trial.method == "width by cross-validation":
        grid = powers_of_two(log2_C_gauss)
        widths = [choose_width(data, folds, grid, gammas, width_ties)]
        problems += len(grid) * len(gammas) * n_folds
    options = {"n_hypotheses": pool_size, "random_state": trial.shared_seed("pool")}
    family = partial(FourierPool, gamma=widths, groups=_groups(trial.method, data.X.shape[1]), **options)
    fit = machine_ensemble(family, [n_cosines], tol)
    C, _ = search(fit, data, folds, Cs, [n_cosines]).best()
    master = Hinge(data.y, C, intercept="free", tol=tol)
    result = column_generation(family(data.X), master, n_cosines, tol=tol)
    seconds = process_time() - started
    pool, w = family(data.X), result.solution.w
    weights = _weight_by_kernel(pool, result.keys, w)
    by_width = dict(zip(widths, weights.reshape(len(widths), -1).sum(axis=1) / weights.sum(), strict=True))
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


# What a round may choose from: all stumps, or 2000 drawn once or anew in each round.
FAMILIES = (
    "stump", "stumps once", "stumps fresh", "perceptrons ball once", "perceptrons ball fresh",
    "perceptrons segment once", "perceptrons segment fresh",
)  # fmt: skip


@paper.trials("pools", methods=FAMILIES, datasets=BINARY_SETS)
def pools(
    trial: Trial,
    *,
    pool_size: int,
    log2_C_pools: dict[str, int],
    rounds: list[int],
    tol: float,
) -> dict[str, np.ndarray]:
    """Test errors of AdaBoost, LPBoost and CGENS after some rounds, with the same choice in each round."""
    data = draw(trial)
    seed = trial.shared_seed("pool")

    def family(*, constant: bool):
        return make_family(trial.method, data.X, seed, constant=constant, size=pool_size)

    hinge = Hinge(data.y, 2.0 ** log2_C_pools["CGENS"], intercept="free", tol=tol)
    lp = HingeLP(data.y, 2.0 ** log2_C_pools["LPBoost"])
    found = {
        "AdaBoost": boost(family(constant=True), data.y, rounds),
        "LPBoost": generate(family(constant=True), lp, rounds, tol),
        "CGENS": generate(family(constant=False), hinge, rounds, tol),
    }
    return {
        name: np.array([data.error(s) for s in stages.scores(data.X_test).T])
        for name, stages in found.items()
    }
