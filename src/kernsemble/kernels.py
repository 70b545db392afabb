r"""Kernels that embody hypothesis sets, and the classical ones beside them.

The stump kernel is the inner product of all decision stumps over the box prod_d [L_d, R_d] (Definition 2 of
linli2005, with r_S = 1/2), the perceptron kernel that of all perceptrons over a ball (Definition 3)::

    K_S(x, x') = Delta_S - ||x - x'||_1,    Delta_S = 1/2 sum_d (R_d - L_d)
    K_P(x, x') = Delta_P - ||x - x'||_2,    Delta_P = Theta_D R / Xi_D,    r_P = (2 Xi_D)^(-1/2)

A machine with a free intercept has ``sum_i y_i alpha_i = 0``, so the constants drop out (Theorems 2 and 5);
``constant=0.0``, the simplified kernel, is the default. Distances are sums over features in their order,
never an expanded square: no cancellation, no root of a negative number, no dependence on the number of
threads.

Paper symbol = code name: Delta_S = stump_constant, (Theta_D, Xi_D, r_P, Delta_P) = perceptron_constants.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import issparse
from scipy.special import gammaln

from kernsemble.hypotheses._threads import n_threads as thread_count

BLOCK_ROWS = 64
SERIAL_WORK = 4_000_000  # multiplications below which threads cost more than they save


def stump_kernel(X: np.ndarray, Z: np.ndarray | None = None, *, constant: float = 0.0) -> np.ndarray:
    """Stump kernel ``constant - ||x - z||_1`` between the rows of X and Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    Z : ndarray of shape (m, d), default=None
        Samples to compare with; None stands for X and costs half.
    constant : float, default=0.0
        Delta_S of the exact kernel, from `stump_constant`; 0 gives the simplified kernel.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    References
    ----------
    Lin and Li, Novel Distance-Based SVM Kernels for Infinite Ensemble Learning, Definition 2.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.kernels import stump_kernel
    >>> stump_kernel(np.array([[0.0, 1.0], [2.0, 0.0]]))
    array([[ 0., -3.],
           [-3.,  0.]])
    """
    return _fill(X, Z, _add_absolute, lambda block: np.subtract(constant, block, out=block))


def perceptron_kernel(X: np.ndarray, Z: np.ndarray | None = None, *, constant: float = 0.0) -> np.ndarray:
    """Perceptron kernel ``constant - ||x - z||_2`` between the rows of X and Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    Z : ndarray of shape (m, d), default=None
        Samples to compare with; None stands for X and costs half.
    constant : float, default=0.0
        Delta_P of the exact kernel, from `perceptron_constants`; 0 gives the simplified kernel.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    References
    ----------
    Lin and Li, Novel Distance-Based SVM Kernels for Infinite Ensemble Learning, Definition 3.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.kernels import perceptron_kernel
    >>> perceptron_kernel(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., -5.],
           [-5.,  0.]])
    """

    def finish(block: np.ndarray) -> None:
        np.subtract(constant, np.sqrt(block, out=block), out=block)

    return _fill(X, Z, _add_square, finish)


def gaussian_kernel(X: np.ndarray, Z: np.ndarray | None = None, *, gamma: float = 1.0) -> np.ndarray:
    """Gaussian kernel ``exp(-gamma ||x - z||_2^2)`` between the rows of X and Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    Z : ndarray of shape (m, d), default=None
        Samples to compare with; None stands for X and costs half.
    gamma : float, default=1.0
        Inverse squared width.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.kernels import gaussian_kernel
    >>> gaussian_kernel(np.array([[0.0], [1.0]]), gamma=2.0).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """
    if gamma < 0:
        raise ValueError(f"gamma must not be negative, got {gamma}.")

    def finish(block: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):  # 0 times a distance that overflowed: NaN, for machines to refuse
            np.exp(np.multiply(block, -gamma, out=block), out=block)

    return _fill(X, Z, _add_square, finish)


def squared_distances(X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances between the rows of X and Z, exact and never negative.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    Z : ndarray of shape (m, d), default=None
        Samples to compare with; None stands for X.

    Returns
    -------
    ndarray of shape (n, m)
        One matrix from which every Gaussian kernel of a grid follows by ``exp(-gamma D)``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.kernels import squared_distances
    >>> squared_distances(np.array([[0.0], [3.0]]))
    array([[0., 9.],
           [9., 0.]])
    """
    return _fill(X, Z, _add_square, lambda block: None)


def linear_kernel(X: np.ndarray, Z: np.ndarray | None = None) -> np.ndarray:
    """Linear kernel ``<x, z>`` between the rows of X and Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    Z : ndarray of shape (m, d), default=None
        Samples to compare with; None stands for X.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.kernels import linear_kernel
    >>> linear_kernel(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """
    X, Z = _check_pair(X, Z)
    return X @ Z.T


def quadratic_kernel(
    X: np.ndarray, Z: np.ndarray | None = None, *, scale: float = 1.0, offset: float = 1.0
) -> np.ndarray:
    """Quadratic kernel ``(offset + <x, z> / scale)^2`` between the rows of X and Z.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    Z : ndarray of shape (m, d), default=None
        Samples to compare with; None stands for X.
    scale : float, default=1.0
        Divides the inner product.
    offset : float, default=1.0
        1 for the inhomogeneous form, 0 for the homogeneous one.

    Returns
    -------
    ndarray of shape (n, m)
        The kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.kernels import quadratic_kernel
    >>> quadratic_kernel(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """
    if scale <= 0:
        raise ValueError(f"scale must be positive, got {scale}.")
    K = linear_kernel(X, Z)
    K /= scale
    K += offset
    return np.square(K, out=K)


def stump_constant(lower: np.ndarray, upper: np.ndarray) -> float:
    """Delta_S, half the summed lengths of the feature ranges (Definition 2).

    Parameters
    ----------
    lower, upper : ndarray of shape (d,)
        The ranges [L_d, R_d] of the thresholds.

    Returns
    -------
    float
        The constant of the exact stump kernel.

    Examples
    --------
    >>> from kernsemble.kernels import stump_constant
    >>> stump_constant([-1.0, -1.0], [1.0, 3.0])
    3.0
    """
    lower, upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    if lower.shape != upper.shape or np.any(lower > upper):
        raise ValueError("lower and upper must have one shape, and lower must not exceed upper.")
    return float(0.5 * np.sum(upper - lower))


class PerceptronConstants(NamedTuple):
    """Constants of Definition 3: sphere area, integral of abs(cos), weight of a perceptron, constant term."""

    Theta: float
    Xi: float
    r: float
    Delta: float


def perceptron_constants(n_features: int, radius: float) -> PerceptronConstants:
    """Theta_D, Xi_D, r_P and Delta_P of the perceptron kernel, in closed form.

    With E|theta_1| = Gamma(D/2) / (sqrt(pi) Gamma((D+1)/2)) for theta uniform on the unit sphere,
    ``Theta_D = 2 pi^(D/2) / Gamma(D/2)`` and ``Xi_D = 2 pi^((D-1)/2) / Gamma((D+1)/2)``.

    Parameters
    ----------
    n_features : int
        Dimension D, at least 1.
    radius : float
        Radius R of a centered ball that holds the data.

    Returns
    -------
    PerceptronConstants
        (Theta, Xi, r, Delta).

    Examples
    --------
    >>> from kernsemble.kernels import perceptron_constants
    >>> round(perceptron_constants(2, radius=1.0).Xi, 12)
    4.0
    """
    if n_features < 1 or radius < 0:
        raise ValueError(
            f"n_features must be positive and radius not negative, got {n_features} and {radius}."
        )
    half = 0.5 * n_features
    log_theta = np.log(2.0) + half * np.log(np.pi) - gammaln(half)
    log_xi = np.log(2.0) + (half - 0.5) * np.log(np.pi) - gammaln(half + 0.5)
    # in logarithms: both areas vanish for large D, their ratio does not
    delta = radius * np.exp(log_theta - log_xi)
    with np.errstate(over="ignore"):  # r is infinite beyond some 740 features; no kernel needs it
        r = np.exp(-0.5 * (np.log(2.0) + log_xi))
    return PerceptronConstants(float(np.exp(log_theta)), float(np.exp(log_xi)), float(r), float(delta))


def _check_pair(X: np.ndarray, Z: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return both operands as contiguous float64 matrices of one width; Z is X itself where it is None."""
    matrices = []
    for name, A in (("X", X), ("Z", X if Z is None else Z)):
        if issparse(A):
            raise TypeError(f"{name} is sparse; pass {name}.toarray(), distances have no zeros to skip.")
        A = np.ascontiguousarray(A, dtype=np.float64)
        if A.ndim != 2:
            raise ValueError(f"{name} must have two dimensions, got shape {A.shape}.")
        matrices.append(A)
    first, second = matrices
    if Z is None or Z is X:
        return first, first
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"X has {first.shape[1]} features, but Z has {second.shape[1]}.")
    return first, second


def _fill(X: np.ndarray, Z: np.ndarray | None, add: Callable, finish: Callable) -> np.ndarray:
    """Fill a new (n, m) matrix block by block: ``add`` sums over features, ``finish`` maps the sums."""
    X, Z = _check_pair(X, Z)
    if Z.shape[0] < 16 and X.shape[0] > Z.shape[0]:
        return _fill(Z, X, add, finish).T  # the inner loop runs along columns: let it be the long side
    K = np.empty((X.shape[0], Z.shape[0]))
    width = max(32, min(128, 32768 // max(1, X.shape[1]) // 8 * 8))  # a packed block of Z stays in cache
    tasks = [(start, K, X, Z, width, add, finish) for start in range(0, Z.shape[0], width)]
    workers = min(thread_count(), len(tasks))
    if workers == 1 or K.size * X.shape[1] < SERIAL_WORK:
        for task in tasks:
            _fill_columns(*task)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda task: _fill_columns(*task), tasks))
    return K


def _fill_columns(
    start: int, K: np.ndarray, X: np.ndarray, Z: np.ndarray, width: int, add: Callable, finish: Callable
) -> None:
    """Fill ``width`` columns of K from ``start``; of a symmetric K the lower triangle, and mirror it."""
    symmetric = X is Z
    columns = slice(start, min(start + width, Z.shape[0]))
    packed = np.ascontiguousarray(Z[columns].T)
    buffer = np.empty(
        (min(BLOCK_ROWS, X.shape[0]), packed.shape[1])
    )  # contiguous: the inner loops need unit stride
    for top in range(start if symmetric else 0, X.shape[0], BLOCK_ROWS):
        rows = slice(top, min(top + BLOCK_ROWS, X.shape[0]))
        block = buffer[: rows.stop - top]
        add(X[rows], packed, block)
        finish(block)
        K[rows, columns] = block
        if symmetric and top >= columns.stop:
            K[columns, rows] = block.T
        elif symmetric and rows.stop > columns.stop:
            K[columns, columns.stop : rows.stop] = K[columns.stop : rows.stop, columns].T


@njit(cache=True, nogil=True)
def _add_absolute(X, ZT, block):
    """Set block[i, j] to sum_k |X[i, k] - ZT[k, j]|, four features a sweep."""
    n, d = X.shape
    m = ZT.shape[1]
    for i in range(n):
        row = block[i]
        row[:] = 0.0
        for k in range(0, d - 3, 4):
            a, b, c, e = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
            za, zb, zc, ze = ZT[k], ZT[k + 1], ZT[k + 2], ZT[k + 3]
            for j in range(m):
                row[j] += (abs(a - za[j]) + abs(b - zb[j])) + (abs(c - zc[j]) + abs(e - ze[j]))
        for k in range(d - d % 4, d):
            a, za = X[i, k], ZT[k]
            for j in range(m):
                row[j] += abs(a - za[j])


@njit(cache=True, nogil=True)
def _add_square(X, ZT, block):
    """Set block[i, j] to sum_k (X[i, k] - ZT[k, j])^2, four features a sweep."""
    n, d = X.shape
    m = ZT.shape[1]
    for i in range(n):
        row = block[i]
        row[:] = 0.0
        for k in range(0, d - 3, 4):
            a, b, c, e = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
            za, zb, zc, ze = ZT[k], ZT[k + 1], ZT[k + 2], ZT[k + 3]
            for j in range(m):
                row[j] += ((a - za[j]) ** 2 + (b - zb[j]) ** 2) + ((c - zc[j]) ** 2 + (e - ze[j]) ** 2)
        for k in range(d - d % 4, d):
            a, za = X[i, k], ZT[k]
            for j in range(m):
                row[j] += (a - za[j]) ** 2
