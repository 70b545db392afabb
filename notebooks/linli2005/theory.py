"""Trials that check the mathematics: the framework of figure 1, theorems 2 to 7, sampled kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernsemble.kernels import perceptron_constants, perceptron_kernel, stump_constant, stump_kernel
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.trials.trial import Trial
from linli2005.draws import Draw, MissingVotes, Scaling, draw
from linli2005.ensembles import (
    SampledFamily,
    perceptron_ensemble_decision,
    sampled_kernels,
    stump_ensemble_decision,
)
from linli2005.machines import DISTANCE_KERNELS, powers_of_two
from linli2005.plan import paper
from linli2005.sets import GENERATED_SETS, PLANE_SET, TABLE_SETS

HARD = 1e9  # a C that no multiplier reaches


@paper.trials("figure1", methods=("SVM-Stump", "SVM-Perc"), datasets=(PLANE_SET,))
def written_out(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    n_points: int,
    C: float,
    n_angles: int,
) -> dict[str, float]:
    """Compare the machine's scores with the integral over its ensemble.

    difference: largest difference, relative to the largest score. negative: share of the ensemble's weight
    that sits on negated hypotheses. support: number of support vectors.
    """
    data = draw(trial, sizes, scaling, missing_votes)
    X, y, Z = data.X[:n_points], data.y[:n_points], data.X_test
    kernel = DISTANCE_KERNELS[trial.method]
    solution = solve_kernel_hinge(kernel(X), y, C, tol=1e-9)
    by_kernel = kernel(Z, X) @ solution.w
    by_integral = _integrate(trial.method, X, solution.w, Z, n_angles)
    return {
        "difference": float(np.abs(by_kernel - by_integral).max() / np.abs(by_kernel).max()),
        "support": int((solution.w != 0).sum()),
    }


def _integrate(method: str, X: np.ndarray, beta: np.ndarray, Z: np.ndarray, n_angles: int) -> np.ndarray:
    """Integrate the ensemble over a box or ball that holds both parts."""
    if method == "SVM-Stump":
        both = np.vstack([X, Z])
        return stump_ensemble_decision(X, beta, Z, both.min(axis=0) - 1.0, both.max(axis=0) + 1.0)
    radius = 1.0 + float(np.sqrt(max((X**2).sum(axis=1).max(), (Z**2).sum(axis=1).max())))
    return perceptron_ensemble_decision(X, beta, Z, radius, n_angles)


@paper.trials("theorems", methods=("stump", "perceptron"), datasets=TABLE_SETS)
def theorems(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    n_points: int,
    n_labelings: int,
    C: float,
    factor: float,
) -> dict[str, float]:
    """Check theorems 2 to 7 on distinct training points.

    constant, scaling: largest change of a score (relative to the largest score) when the constant is added
    (theorems 2 and 5), when the kernel is multiplied and C divided. eigenvalue: smallest eigenvalue of the
    Gram matrix over the mean of its diagonal (theorems 3 and 6). separated: share of random labelings that
    the hard-margin machine fits (theorems 4 and 7). distinct: largest share of distinct values among the
    features; theorem 3 asks for 1.
    """
    data = draw(trial, sizes, scaling, missing_votes)
    X = np.unique(data.X, axis=0)
    X = X[trial.shared_rng("points").permutation(len(X))[:n_points]]
    rng = trial.shared_rng("labels")
    labelings = [_both_signs(rng, len(X)) for _ in range(n_labelings)]
    kernel, constant = _exact_kernel(trial.method, np.vstack([X, data.X_test]))
    K, K_test = kernel(X), kernel(data.X_test, X)
    y = labelings[0]
    plain = _scores(K, K_test, y, C)
    size = np.abs(plain).max()
    shifted = _scores(K + constant, K_test + constant, y, C)
    scaled = _scores(factor * K, factor * K_test, y, C / factor)
    return {
        "constant": float(np.abs(shifted - plain).max() / size),
        "scaling": float(np.abs(scaled - plain).max() / size),
        "eigenvalue": float(np.linalg.eigvalsh(K + constant)[0] / constant),
        "separated": float(np.mean([_is_separated(K, signs) for signs in labelings])),
        "distinct": max(len(np.unique(column)) for column in X.T) / len(X),
    }


def _exact_kernel(name: str, points: np.ndarray) -> tuple[Callable[..., np.ndarray], float]:
    """Return the simplified kernel and the constant Delta for a domain with all points in its interior."""
    if name == "stump":
        margin = 0.01 * (points.max(axis=0) - points.min(axis=0)) + 0.01
        constant = stump_constant(points.min(axis=0) - margin, points.max(axis=0) + margin)
        return stump_kernel, constant
    radius = 1.01 * float(np.sqrt((points**2).sum(axis=1).max()))
    return perceptron_kernel, perceptron_constants(points.shape[1], radius).Delta


def _scores(K: np.ndarray, K_test: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    solution = solve_kernel_hinge(K, y, C, tol=1e-10)
    return K_test @ solution.w + solution.b


def _is_separated(K: np.ndarray, y: np.ndarray) -> bool:
    solution = solve_kernel_hinge(K, y, HARD, tol=1e-6, max_iter=200_000)
    return bool(np.all(y * (K @ solution.w + solution.b) > 0.5))


def _both_signs(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw labels by coin flips; one of each sign at least."""
    y = 2.0 * rng.integers(0, 2, n) - 1.0
    y[:2] = -1.0, 1.0
    return y


@paper.trials("sampling", methods=("stump", "perceptron"), datasets=GENERATED_SETS[:1])
def sampling(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    log2_counts: list[int],
) -> dict[str, np.ndarray]:
    """Average the products of J sampled hypotheses, and compare with the kernel.

    error: root mean square of the difference over all pairs of points, relative to Delta. predicted: what the
    variance of one hypothesis says, sqrt(mean(1 - (K / Delta)^2) / J).
    """
    data = draw(trial, sizes, scaling, missing_votes)
    family = SampledFamily(trial.method, data.X, trial.rng("hypotheses"))
    simplified = stump_kernel(data.X) if trial.method == "stump" else perceptron_kernel(data.X)
    exact = 1.0 + simplified / family.constant
    counts = [int(count) for count in powers_of_two(log2_counts)]
    averages = (K / family.constant for K, _ in sampled_kernels(family, counts, data.X, data.X[:1]))
    pairs = np.triu_indices(len(exact), 1)
    errors = [np.sqrt(np.mean((average - exact)[pairs] ** 2)) for average in averages]
    predicted = np.sqrt(np.mean(1.0 - exact[pairs] ** 2) / np.array(counts))
    return {"error": np.array(errors), "predicted": predicted}


@paper.trials("hard", methods=("SVM-Stump", "SVM-Perc"), datasets=GENERATED_SETS)
def hard_margin(
    trial: Trial, *, sizes: dict[str, float], scaling: Scaling, missing_votes: MissingVotes
) -> dict[str, float]:
    """Test error of the hard-margin machine: the power of theorems 4 and 7, without control."""
    data: Draw = draw(trial, sizes, scaling, missing_votes)
    kernel = DISTANCE_KERNELS[trial.method]
    solution = solve_kernel_hinge(kernel(data.X), data.y, HARD)
    return {"error": data.error(kernel(data.X_test, data.X) @ solution.w + solution.b)}
