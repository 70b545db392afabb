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

from kernsemble.masters.columns import FAST, SignedColumns, combine_rows, margins_of_rows

_FIRST_BAND = 0.1  # margins within this distance of 1 count as free in the first round of multipliers
_LAST_BAND = 1e-4  # and in the last: smaller ones gain nothing but rounding
_LEAST_DELTA = 1e-9  # of the largest squared norm of a row: keeps Newton's matrix well conditioned
_INNER_TOL = 1e-2  # gradient, relative to theta, at which the center moves; less when the gap is small
_INNER_SHARE = 0.3  # of the square root of the relative gap: so much less
_LONG_INNER = 6  # inner steps from which delta is left alone; twice as many make it grow
_SPARE = 1.25  # room for later rows in a Gram matrix
_MOST_ROWS = 3  # times the number of columns: rows held, beyond which those not asked for are forgotten


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
    gram : RowGram
        Inner products of rows, with ``extra = 1 / rho - 1``.
    """

    def __init__(
        self, columns: SignedColumns, upper, weight, metric, theta, margins, u, center, recenter, gram
    ):
        self.gram = gram
        self.columns, self.upper, self.weight, self.metric = columns, upper, weight, metric
        self.theta, self.margins = theta.copy(), margins.copy()
        self.center_u, self.center = u.copy(), center.copy()
        self.recenter = recenter
        widest = float(np.max(upper / np.where(weight > 0, weight, 1.0)))
        self.delta = _FIRST_BAND / widest
        self.least_delta = max(_LAST_BAND / widest, _LEAST_DELTA * float(columns.square_norms.max()))
        self.inner = 0
        self.u, self.combined = np.zeros_like(u), np.zeros(columns.n_columns)
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
        """Dual weights u at the margins, A'u, and the gradient; most rows stay at the end of their box."""
        before, self.u = self.u, np.empty_like(self.margins)
        _multipliers(self.margins, self.center_u, self.weight / self.delta, self.upper, self.u)
        self.combined = self.combined + self.columns.combine(self.u - before)
        self.gradient = self.metric * (self.theta - self.center) - self.combined

    def is_worth_a_look(self, relative_gap: float) -> bool:
        """Whether theta and u are so near to each other that they may lower the gap."""
        return self.inner % 4 == 0 or self._inner_is_solved(relative_gap)

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
        rows, J = self.columns.rows, len(base)
        if len(free) > J:
            scale = self.weight[free] / self.delta
            return _solve_by_columns(
                self.columns.select(free, self.gram.dtype), self.metric, scale, -self.gradient
            )
        system = self.gram.system(free, self.delta / self.weight[free])
        pull, moved = np.empty(len(free)), np.zeros(J)
        margins_of_rows(rows, free, base, pull)
        combine_rows(rows, free, _solve(system, pull), moved)
        return base - moved / self.metric

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


class RowGram:
    """Inner products ``a_i' R^-1 a_j`` of the rows near the margin, R = diag(rho, 1, ..., 1).

    Few rows are ever free, and mostly the same ones from step to step and from round to round. So the
    products are kept: rows are added as they are asked for, and a new column adds one term. Those of int8
    rows are integers, exact in single precision.

    Parameters
    ----------
    columns : SignedColumns
        The rows.
    extra : float, default=0.0
        ``1 / rho - 1``: what column 0 counts more than the others.

    Examples
    --------
    >>> import numpy as np
    >>> columns = SignedColumns(np.array([1.0, -1.0, 1.0]))
    >>> gram = RowGram(columns)
    >>> gram.grow(columns.add(np.array([1, 1, 1], dtype=np.int8)))
    >>> np.tril(gram.system(np.array([2, 1]), np.ones(2)))
    array([[ 2.,  0.],
           [-1.,  2.]])
    """

    def __init__(self, columns: SignedColumns, extra: float = 0.0) -> None:
        self.columns, self.extra = columns, extra
        self._forget()

    def _forget(self) -> None:
        self.dtype = np.float32 if self.columns.rows.dtype == np.int8 else np.float64
        self.rows = np.empty(0, dtype=np.int64)
        self._place = np.full(len(self.columns.y), -1, dtype=np.int64)
        self.matrix = np.empty((0, 0), dtype=self.dtype)

    def grow(self, signed: np.ndarray) -> None:
        """Follow the growth of the rows by a column."""
        held = len(self.rows)
        if self.dtype == np.float32 and self.columns.rows.dtype != np.int8:
            self._forget()
        elif held:
            new = signed[self.rows].astype(self.dtype)
            self.matrix[:held, :held] += new[:, None] * new

    def system(self, indices: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Lower triangle of the products of these rows, in double precision, with a shifted diagonal."""
        missing = indices[self._place[indices] < 0]
        if len(self.rows) + len(missing) > max(_MOST_ROWS * self.columns.n_columns, len(indices)):
            self._forget()
            missing = indices
        if len(missing):
            self._append(missing)
        out = np.empty((len(indices), len(indices)), order="F")
        _gather(self.matrix, self._place[indices], shift, out)
        return out

    def _append(self, new: np.ndarray) -> None:
        """Add the products of new rows with all."""
        held, total = len(self.rows), len(self.rows) + len(new)
        if total > len(self.matrix):
            matrix = np.empty((int(_SPARE * total),) * 2, dtype=self.dtype)
            matrix[:held, :held] = self.matrix[:held, :held]
            self.matrix = matrix
        self.rows = np.append(self.rows, new)
        self._place[new] = np.arange(held, total)
        A, scaled = self.columns.select(self.rows, self.dtype), self.columns.select(new, self.dtype)
        scaled[:, 0] *= 1.0 + self.extra
        products = scaled @ A.T
        self.matrix[held:total, :total] = products
        self.matrix[:held, held:total] = products[:, :held].T


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


@njit(cache=True)
def _gather(matrix, places, shift, out):
    """Copy a principal part of the matrix, lower triangle, and shift its diagonal."""
    for j in range(len(places)):
        row = matrix[places[j]]
        for i in range(j, len(places)):
            out[i, j] = row[places[i]]
        out[j, j] += shift[j]
