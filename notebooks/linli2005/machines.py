"""Support vector machines whose parameters are chosen by cross-validation, as the paper's protocol has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernsemble.kernels import gaussian_kernel, perceptron_kernel, squared_distances, stump_kernel
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge
from linli2005.draws import Draw, Folds

Ties = Literal["smallest", "largest"]

DISTANCE_KERNELS = {"SVM-Stump": stump_kernel, "SVM-Perc": perceptron_kernel}


@dataclass(frozen=True)
class Machine:
    """A trained machine on one draw: its parameters, its solution, its scores on both parts."""

    C: float
    gamma: float | None
    tied: int
    solution: Solution
    train_scores: np.ndarray
    test_scores: np.ndarray


def train_distance_machine(kernel: str, data: Draw, folds: Folds, Cs: Sequence[float], ties: Ties) -> Machine:
    """Choose C by cross-validation on the training part, and train on all of it."""
    compute = DISTANCE_KERNELS[kernel]
    _, j, tied = break_ties(count_distance_grid(kernel, data, folds, Cs)[np.newaxis], ties)
    return _train(compute(data.X), compute(data.X_test, data.X), data.y, Cs[j], None, tied)


def train_gaussian_machine(
    data: Draw, folds: Folds, Cs: Sequence[float], gammas: Sequence[float], ties: Ties
) -> Machine:
    """Choose C and gamma by cross-validation on the training part, and train on all of it."""
    i, j, tied = break_ties(count_gaussian_grid(data, folds, Cs, gammas), ties)
    K = gaussian_kernel(data.X, gamma=gammas[i])
    K_test = gaussian_kernel(data.X_test, data.X, gamma=gammas[i])
    return _train(K, K_test, data.y, Cs[j], gammas[i], tied)


def count_distance_grid(kernel: str, data: Draw, folds: Folds, Cs: Sequence[float]) -> np.ndarray:
    """Return how many held-out samples are classified correctly, for each C."""
    K = DISTANCE_KERNELS[kernel](data.X)
    return cross_validate_path(K, data.y, Cs, folds).sum(axis=1)


def count_gaussian_grid(data: Draw, folds: Folds, Cs: Sequence[float], gammas: Sequence[float]) -> np.ndarray:
    """Return how many held-out samples are classified correctly, for each gamma and C."""
    squares = squared_distances(data.X)
    kernels = (np.exp(-gamma * squares) for gamma in gammas)
    return np.array([cross_validate_path(K, data.y, Cs, folds).sum(axis=1) for K in kernels])


def break_ties(correct: np.ndarray, ties: Ties) -> tuple[int, int, int]:
    """Return the index (gamma, C) of the most correct grid point, and how many points are equally good.

    "smallest" takes the smallest C, then the smallest gamma (the smoothest machine); "largest" the opposite.
    """
    gammas, Cs = np.nonzero(correct == correct.max())
    order = np.lexsort((gammas, Cs))
    chosen = order[0 if ties == "smallest" else -1]
    return int(gammas[chosen]), int(Cs[chosen]), len(order)


def powers_of_two(exponents: Sequence[int]) -> list[float]:
    """Return 2 ** e for each exponent."""
    return [2.0**exponent for exponent in exponents]


def _train(
    K: np.ndarray, K_test: np.ndarray, y: np.ndarray, C: float, gamma: float | None, tied: int
) -> Machine:
    solution = solve_kernel_hinge(K, y, C)
    w, b = solution.w, solution.b
    return Machine(C, gamma, tied, solution, K @ w + b, K_test @ w + b)
