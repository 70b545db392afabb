"""Support vector machines with a kernel matrix, their parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.kernels import perceptron_kernel, squared_distances, stump_kernel
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge
from shen2014.draws import Draw, Folds
from shen2014.protocol import Widths

DISTANCE_KERNELS = {"stump": stump_kernel, "perceptron": perceptron_kernel}


def powers_of_two(exponents: Sequence[float]) -> list[float]:
    """Return 2 ** e for each exponent."""
    return [2.0**exponent for exponent in exponents]


def choose_cost(K: np.ndarray, y: np.ndarray, folds: Folds, Cs: Sequence[float]) -> float:
    """Return the C of the most held-out samples classified correctly; the smallest of equals."""
    return Cs[int(cross_validate_path(K, y, Cs, folds).sum(axis=1).argmax())]


def train_on_kernel(
    K: np.ndarray, K_test: np.ndarray, y: np.ndarray, folds: Folds, Cs: Sequence[float]
) -> tuple[np.ndarray, float, int]:
    """Choose C; return the test scores, C and the number of support vectors."""
    C = choose_cost(K, y, folds, Cs)
    solution = solve_kernel_hinge(K, y, C)
    return K_test @ solution.w + solution.b, C, int((solution.w != 0).sum())


def choose_width(data: Draw, folds: Folds, widths: Widths) -> float:
    """Return the Gaussian width of the best grid point.

    Among equals "C first" takes the smallest C, then gamma; "width first" the smallest gamma, then C.
    """
    Cs, gammas = powers_of_two(widths.log2_C_gauss), powers_of_two(widths.log2_gamma)
    squares = squared_distances(data.X)
    counts = [cross_validate_path(np.exp(-g * squares), data.y, Cs, folds).sum(axis=1) for g in gammas]
    correct = np.array(counts)  # gammas x Cs
    if widths.width_ties == "width first":
        return gammas[int(np.unravel_index(correct.argmax(), correct.shape)[0])]
    return gammas[int(np.unravel_index(correct.T.argmax(), correct.T.shape)[1])]
