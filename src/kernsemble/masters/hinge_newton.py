"""Proximal Newton steps for the hinge: where coordinate descent crawls, an active set and one factor do the
rest.

The hinge dual is a quadratic program in a box; its difficulty is to find which of the samples are free
(0 < u_i < c_i, margin 1), of which a nondegenerate solution has at most as many as columns. The method of
multipliers keeps a center (u^c, z) and minimizes over theta = (b, w)

    1/2 (theta - z)' R (theta - z) + sum_i psi_i(a_i' theta),
    -psi_i'(m) = u_i(m) = clip(u^c_i + s_i (1 - m) / delta, 0, c_i),

R = diag(rho, 1, ..., 1) with rho the curvature that stands in for a free intercept. The objective is
piecewise quadratic: Newton's matrix is ``R + A_F' D A_F`` over the free samples F alone, D = diag(s_i /
delta), and each step is followed by an exact line search. When the gradient is small the center moves to
(u, b) and delta shrinks. At a fixed point u solves the dual and theta the primal, at any delta: nothing is
smoothed away.

Symbols: s_i = sample weight, c_i = C s_i, F = ``free``, a_i' theta = ``margins``.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import blas, lapack

from kernsemble.masters.columns import FAST, SignedColumns

_FIRST_BAND = 0.1  # margins within this distance of 1 count as free in the first round of multipliers
_LAST_BAND = 1e-4  # and in the last: smaller ones gain nothing but rounding
_LEAST_DELTA = 1e-9  # of the largest squared norm of a row: keeps Newton's matrix well conditioned
_INNER_TOL = 1e-2  # gradient, relative to theta, at which the center moves; less when the gap is small
_INNER_SHARE = 0.3  # of the square root of the relative gap: so much less
_LONG_INNER = 6  # inner steps from which delta is left alone; twice as many make it grow


class ProximalNewton:
    """Method of multipliers with Newton steps, from a primal and a dual point.

    Parameters
    ----------
    columns : SignedColumns
        The signed rows A.
    upper, weight : ndarray of shape (n_samples,)
        Bounds c_i of the dual weights; sample weights s_i.
    metric : ndarray of shape (n_columns,)
        Diagonal of R.
    theta, margins, u, center : ndarray
        Where to start: primal point, its margins, dual point, z.
    recenter : bool
        Whether entry 0 of z follows theta (a free intercept).
    """

    def __init__(self, columns: SignedColumns, upper, weight, metric, theta, margins, u, center, recenter):
        self.columns, self.upper, self.weight, self.metric = columns, upper, weight, metric
        self.theta, self.margins = theta.copy(), margins.copy()
        self.center_u, self.center = u.copy(), center.copy()
        self.recenter = recenter
        widest = float(np.max(upper / np.where(weight > 0, weight, 1.0)))
        self.delta = _FIRST_BAND / widest
        self.least_delta = max(_LAST_BAND / widest, _LEAST_DELTA * float(columns.square_norms.max()))
        self.inner = 0
        self._evaluate()

    def step(self, relative_gap: float) -> None:
        """Take one Newton step with exact line search; theta, margins, u and ``combined`` then agree."""
        if self.inner > 0 and self._inner_is_solved(relative_gap):
            self._move_center()
        elif self.inner > 2 * _LONG_INNER:
            self.delta *= 4.0
            self.inner = 0
            self._evaluate()
        direction = self._direction()
        along = self.columns.margins(direction)
        length = self._line_search(direction, along)
        self.theta += length * direction
        self.margins += length * along
        self.inner += 1
        self._evaluate()

    def _evaluate(self) -> None:
        """Dual weights u at the margins, A'u, and the gradient."""
        self.u = np.empty_like(self.margins)
        _multipliers(self.margins, self.center_u, self.weight / self.delta, self.upper, self.u)
        self.combined = self.columns.combine(self.u)
        self.gradient = self.metric * (self.theta - self.center) - self.combined

    def _inner_is_solved(self, relative_gap: float) -> bool:
        scale = np.linalg.norm(self.metric * self.theta) + np.linalg.norm(self.combined)
        # Half the squared gradient is what an unsolved round adds to the gap.
        tol = min(_INNER_TOL, _INNER_SHARE * np.sqrt(relative_gap))
        return bool(np.linalg.norm(self.gradient) <= tol * scale)

    def _move_center(self) -> None:
        """Accept u and the intercept as the new center; shrink delta if the last round was easy."""
        self.center_u = self.u
        if self.recenter:
            self.center[0] = self.theta[0]
        if self.inner < _LONG_INNER:
            self.delta = max(0.5 * self.delta, self.least_delta)
        self.inner = 0
        self._evaluate()

    def _direction(self) -> np.ndarray:
        """Newton's direction ``-(R + A_F' D A_F)^-1 gradient``, factored on its smaller side."""
        free = np.flatnonzero((self.u > 0) & (self.u < self.upper))
        base = -self.gradient / self.metric
        if not len(free):
            return base
        # Integer columns have integer Gram matrices, exact in single precision.
        exact = np.float32 if self.columns.rows.dtype == np.int8 else np.float64
        A = self.columns.select(free, exact)
        if len(free) > A.shape[1]:
            return _solve_by_columns(A, self.metric, self.weight[free] / self.delta, -self.gradient)
        gram = (
            _gram(A) if np.all(self.metric == 1.0) else _gram((A / np.sqrt(self.metric)).astype(np.float64))
        )
        gram[np.diag_indices(len(free))] += self.delta / self.weight[free]
        return base - (A.T @ _solve(gram, A @ base)) / self.metric

    def _line_search(self, direction, along) -> float:
        """Minimize the piecewise quadratic along the direction: its slope increases, so bisect it."""
        linear = float((self.metric * (self.theta - self.center)) @ direction)
        square = float((self.metric * direction) @ direction)
        slope = self.weight / self.delta
        low, high = 0.0, 1.0
        start = linear - _pull(self.margins, along, 0.0, self.center_u, slope, self.upper)
        for trial in range(30):
            t = 1.0 if trial == 0 else 0.5 * (low + high)
            value = linear + t * square - _pull(self.margins, along, t, self.center_u, slope, self.upper)
            if abs(value) <= 0.01 * abs(start) or (trial == 0 and value < 0):
                return t
            low, high = (low, t) if value > 0 else (t, high)
        return low if low > 0 else high


def _gram(A: np.ndarray) -> np.ndarray:
    """Lower triangle of ``A A'`` in double precision."""
    rank_k = blas.ssyrk if A.dtype == np.float32 else blas.dsyrk
    # A' of a C-ordered A is Fortran-ordered: no copy.
    return rank_k(1.0, A.T, trans=1, lower=1).astype(np.float64)


def _solve(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solve a positive definite system given by its lower triangle."""
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(f"Newton's matrix is not positive definite (minor {failed}).")
    return lapack.dpotrs(factor, rhs, lower=1)[0]


def _solve_by_columns(A, metric, scale, rhs) -> np.ndarray:
    """``(R + A' diag(scale) A)^-1 rhs``: a matrix of the number of columns."""
    if np.all(scale == scale[0]):
        matrix = _gram(np.ascontiguousarray(A.T)) * scale[0]
    else:
        matrix = _gram(np.ascontiguousarray((A * np.sqrt(scale)[:, None]).astype(np.float64).T))
    matrix[np.diag_indices(len(rhs))] += metric
    return _solve(matrix, rhs)


@njit(cache=True)
def _multipliers(margins, center, slope, upper, out):
    for i in range(len(out)):
        out[i] = min(max(center[i] + slope[i] * (1.0 - margins[i]), 0.0), upper[i])


@njit(cache=True, fastmath=FAST)
def _pull(margins, along, t, center, slope, upper):
    """Sum of u_i(m_i + t along_i) along_i: minus the slope of the losses."""
    total = 0.0
    for i in range(len(margins)):
        u = center[i] + slope[i] * (1.0 - margins[i] - t * along[i])
        total += min(max(u, 0.0), upper[i]) * along[i]
    return total
