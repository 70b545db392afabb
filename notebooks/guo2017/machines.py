"""Ensembles of linear machines: ExRM by the printed algorithm or exactly, boosted and bagged PSVMs, DRM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from kernsemble.kernels import gaussian_kernel, linear_kernel
from kernsemble.masters.drm import solve_drm
from kernsemble.masters.exclusivity import ExclusivitySolution, solve_exclusivity, solve_printed_alm
from kernsemble.masters.psvm import solve_psvm

Solver = Literal["printed", "exact"]
Reweighting = Literal["weights", "resampling"]
Voting = Literal["votes", "mean score"]
Kernel = Literal["linear", "gaussian"]
# Fits a linear machine to samples, labels and positive weights: (w, b).
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, float]]

POWERS = {"L1": 1, "L2": 2}


def solve_exrm(
    X: np.ndarray, y: np.ndarray, lam: float, C: int, p: int, solver: Solver, **options: float
) -> ExclusivitySolution:
    """Solve problem (5) as the paper does, or exactly."""
    solve = solve_printed_alm if solver == "printed" else solve_exclusivity
    return solve(X, y, lam, C, p, **options)


def ensemble_scores(solution: ExclusivitySolution, X: np.ndarray) -> np.ndarray:
    """Return the scores of the averaged machine (the output of Algorithm 2)."""
    return X @ solution.w.mean(axis=1) + solution.b.mean()


def exrm_fit(lam: float, C: int, p: int, solver: Solver = "exact") -> Fit:
    """Return a function that fits an ExRM with sample weights."""

    def fit(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
        solution = solve_exrm(X, y, lam, C, p, solver, sample_weight=weight)
        return solution.w.mean(axis=1), float(solution.b.mean())

    return fit


def psvm_fit(lam: float, p: int) -> Fit:
    """Return a function that fits one machine exactly."""

    def fit(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
        solution = solve_psvm(X, y, lam, p, sample_weight=weight)
        return solution.w, solution.b

    return fit


def boost_linear(
    fit: Fit,
    X: np.ndarray,
    y: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
    reweighting: Reweighting = "weights",
) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
    """AdaBoost.M1 over linear machines: the machines and their voting weights.

    It ends early when a machine makes no error on the weighted sample (it then gets the weight of an error
    of 1/(2n)) or errs on half of it or more (it is then left out, unless it is the first).
    """
    n = len(y)
    weight, machines, votes = np.full(n, 1.0 / n), [], []
    while len(machines) < rounds:
        machine = _fit_weighted(fit, X, y, n * weight, rng, reweighting)
        wrong = (X @ machine[0] + machine[1] > 0) != (y > 0)
        error = float(weight[wrong].sum())
        if error >= 0.5 and machines:
            break
        machines.append(machine)
        clipped = min(max(error, 0.5 / n), 0.5 - 0.5 / n)
        votes.append(0.5 * np.log((1.0 - clipped) / clipped))
        if error == 0.0 or error >= 0.5:
            break
        weight = weight * np.where(wrong, 0.5 / error, 0.5 / (1.0 - error))
    return machines, np.array(votes)


def _fit_weighted(
    fit: Fit, X: np.ndarray, y: np.ndarray, weight: np.ndarray, rng: np.random.Generator, how: Reweighting
) -> tuple[np.ndarray, float]:
    """Fit with the weights, or to a sample of the same size drawn by them."""
    if how == "weights":
        return fit(X, y, np.maximum(weight, 1e-10))
    rows = rng.choice(len(y), size=len(y), p=weight / weight.sum())
    while np.ptp(y[rows]) == 0:
        rows = rng.choice(len(y), size=len(y), p=weight / weight.sum())
    return fit(X[rows], y[rows], np.ones(len(y)))


def bag_linear(
    fit: Fit, X: np.ndarray, y: np.ndarray, rounds: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, float]]:
    """Fit one machine to each of several bootstrap samples."""
    uniform = np.ones(len(y))
    return [_fit_weighted(fit, X, y, uniform, rng, "resampling") for _ in range(rounds)]


def vote(
    machines: list[tuple[np.ndarray, float]], votes: np.ndarray, X: np.ndarray, voting: Voting = "votes"
) -> np.ndarray:
    """Return the weighted sum of the machines' signs, or of their scores."""
    scores = np.column_stack([X @ w + b for w, b in machines])
    return (np.sign(scores) if voting == "votes" else scores) @ votes


def drm_kernel(kernel: Kernel, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the kernel with a constant that stands for the intercept; the Gaussian's gamma is 1 / d."""
    if kernel == "linear":
        return linear_kernel(X, Z) + 1.0
    return gaussian_kernel(X, Z, gamma=1.0 / X.shape[1]) + 1.0


def select_nu(
    K: np.ndarray, y: np.ndarray, nus: list[float], n_folds: int, rng: np.random.Generator
) -> float:
    """Choose nu by cross-validation of the single machine, whose direction the optimal ensemble shares.

    Among equals the smallest wins.
    """
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % n_folds
    wrong = [sum(_held_out_errors(K, y, fold == k, nu) for k in range(n_folds)) for nu in nus]
    return nus[int(np.argmin(wrong))]


def _held_out_errors(K: np.ndarray, y: np.ndarray, held: np.ndarray, nu: float) -> int:
    inner = K[np.ix_(~held, ~held)]
    coefficients = solve_drm(inner, y[~held], 1, nu=nu).w[:, 0]
    return int(((K[np.ix_(held, ~held)] @ coefficients > 0) != (y[held] > 0)).sum())
