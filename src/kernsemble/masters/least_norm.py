"""One dual solution out of many: the point of least weighted norm on the optimal face of a margin loss.

The weights w of a restricted problem are unique, its dual weights u need not be: rows on the margin that
depend on each other can exchange theirs. With A the rows on the margin and u any solution,

    min_v  1/2 sum_i v_i^2 / s_i    subject to   A_j'v = t_j  or  A_j'v <= t_j,   0 <= v_i <= c_i

picks one; t = A'u where nothing else is given. An l2 norm gives equations only, and so do the columns with a
weight under an l1 norm; the scores of its other columns have a bound. Equal rows then share their weight in
proportion to s_i, so that writing a sample twice is the same as giving it weight 2, and neither the order of
the samples nor the way the solver went matters.

Dual: v_i = clip(s_i a_i'l, 0, c_i) for multipliers l, not positive where there is a bound, that minimize a
convex, piecewise quadratic function of as many variables as A has columns. Newton's method with an exact
line search, over the multipliers that are free to move, ends after finitely many steps.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kernsemble.masters.columns import SignedColumns

_MAX_ITER = 100
_RIDGE = 1e-12  # of the trace: makes Newton's matrix definite where columns depend on each other
_WEIGHT, _REFINEMENTS = 100.0, 8  # of the squared distance from the margin; steps, each of which gains digits
_RESIDUAL = 1e-15  # of A'v = t, relative, at which the search ends
_FACE = 1e-7  # how near to 1 the margin of a row on it is, for solutions of a linear program
_SPECK = 1e-12  # of the largest weight: what counts as zero


def least_norm(
    A: np.ndarray,
    u: np.ndarray,
    upper: np.ndarray,
    weight: np.ndarray,
    *,
    target: np.ndarray | None = None,
    at_most: np.ndarray | None = None,
) -> np.ndarray:
    """Return the vector of least weighted norm with the same ``A'u`` within the same bounds.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns)
        Rows on the margin.
    u : ndarray of shape (n_rows,)
        A solution, within its bounds.
    upper, weight : ndarray of shape (n_rows,)
        Bounds c_i, and s_i > 0.
    target : ndarray of shape (n_columns,), optional
        t; ``A'u`` by default.
    at_most : ndarray of shape (n_columns,), bool, optional
        Where t is a bound from above; nowhere by default.

    Examples
    --------
    >>> import numpy as np
    >>> least_norm(np.ones((2, 1)), np.array([1.0, 0.0]), np.ones(2), np.ones(2)).round(6)
    array([0.5, 0.5])
    """
    bounded = np.zeros(A.shape[1], dtype=bool) if at_most is None else at_most
    if _independent(A[:, ~bounded]):
        return u
    target = A.T @ u if target is None else target
    multipliers = np.zeros(A.shape[1])
    values = np.zeros(len(A))  # a_i'l
    scale = float(np.abs(A).T @ upper @ np.ones(A.shape[1])) if A.size else 0.0
    for _ in range(_MAX_ITER):
        v = np.clip(weight * values, 0.0, upper)
        residual = target - A.T @ v
        held = bounded & (multipliers >= 0.0) & (residual >= 0.0)
        if np.abs(residual[~held]).max(initial=0.0) <= _RESIDUAL * scale:
            break
        free = (values >= 0.0) & (weight * values <= upper)
        step = _step(A[free], weight[free], residual, held, bounded & (multipliers >= 0.0))
        along = A @ step
        limit, first = _room(multipliers, step, bounded)
        length = _search(values, along, weight, upper, float(target @ step), limit)
        multipliers += length * step
        values += length * along
        if length == limit:
            multipliers[first] = 0.0
    return v


def on_margin(A: np.ndarray, u: np.ndarray, pull: np.ndarray, free: bool) -> np.ndarray:
    """Return ``A'u`` for a dual solution u, up to rounding, from one that is near.

    A gap of 1e-12 leaves an error of its root in u. The optimum given the rows on the margin is

        min_theta  1/2 |theta|^2 - pull'theta   subject to   A theta = 1,

    whose multipliers are u. A few steps of the method of multipliers double the digits and more.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns)
        Rows on the margin.
    u : ndarray of shape (n_rows,)
        Nearly a solution.
    pull : ndarray of shape (n_columns,)
        Sum of the rows at their bound, times the bound.
    free : bool
        Whether column 0 is an intercept without a penalty.
    """
    combined = A.T @ u
    if not len(A):
        return combined
    matrix = _WEIGHT * (A.T @ A)
    matrix[np.diag_indices(len(matrix))] += 1.0
    matrix[0, 0] -= float(free)
    factor = cho_factor(matrix, lower=True)
    for _ in range(_REFINEMENTS):
        theta = cho_solve(factor, pull + combined + _WEIGHT * A.sum(axis=0))
        combined = combined + _WEIGHT * (A.T @ (1.0 - A @ theta))
    return combined


def _independent(A: np.ndarray) -> bool:
    """Whether no row depends on the others: there is then only one solution."""
    if len(A) > A.shape[1]:
        return False
    try:
        factor = np.linalg.cholesky(A @ A.T)
    except np.linalg.LinAlgError:
        return False
    pivots = np.diag(factor)
    return bool(pivots.size == 0 or pivots.min() > 1e-6 * pivots.max())


def _step(A, weight, residual, held, at_bound) -> np.ndarray:
    """Newton's step of the multipliers that are not held; those that would leave their bound are held too."""
    held = held.copy()
    while True:
        step = np.zeros(len(residual))
        step[~held] = _newton(A[:, ~held], weight, residual[~held])
        leaving = at_bound & (step > 0.0)
        if not leaving.any():
            return step
        held |= leaving


def _newton(A: np.ndarray, weight: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Solve with the curvature of the free rows, slightly lifted."""
    matrix = (A * weight[:, None]).T @ A
    lift = _RIDGE * max(float(np.trace(matrix)), 1.0)
    while True:
        matrix[np.diag_indices(len(matrix))] += lift
        try:
            return cho_solve(cho_factor(matrix, lower=True), residual)
        except LinAlgError:
            lift *= 100.0


def _room(multipliers: np.ndarray, step: np.ndarray, bounded: np.ndarray) -> tuple[float, int]:
    """Return the length at which the first multiplier reaches its bound, and which one that is."""
    lengths = np.full(len(step), np.inf)
    rising = bounded & (step > 0.0)
    lengths[rising] = -multipliers[rising] / step[rising]
    first = int(np.argmin(lengths)) if len(lengths) else 0
    return (float(lengths[first]) if len(lengths) else np.inf), first


def _search(values, along, weight, upper, pull, limit) -> float:
    """Find where the increasing, piecewise linear slope along the step vanishes, up to a limit."""
    start, _ = _slope(values, along, weight, upper, 0.0)
    low, high, t = 0.0, limit, min(1.0, limit)
    for _ in range(_MAX_ITER):
        slope, rise = _slope(values, along, weight, upper, t)
        if abs(slope - pull) <= 1e-14 * abs(start - pull):
            break
        low, high = (low, t) if slope > pull else (t, high)
        if low == limit or low > 1e12:
            break
        newton = t - (slope - pull) / rise if rise > 0.0 else np.inf
        middle = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        t = newton if low < newton < high else min(middle, limit)
        if not low < t < high and t != limit:
            break  # neighbors in floating point
    return t


@njit(cache=True)
def _slope(values, along, weight, upper, t):
    """Sum of v_i(t) along_i, and its derivative: of the rows inside their box."""
    total, rise = 0.0, 0.0
    for i in range(len(values)):
        v = weight[i] * (values[i] + t * along[i])
        if v >= upper[i]:
            total += upper[i] * along[i]
        elif v > 0.0:
            total += v * along[i]
            rise += weight[i] * along[i] * along[i]
    return total, rise


def least_norm_under_l1(
    columns: SignedColumns, w: np.ndarray, b: float, u: np.ndarray, upper: np.ndarray, weight: np.ndarray,
    *, intercept: str, positive: bool,
) -> np.ndarray:  # fmt: skip
    """Return the dual solution of least norm of an l1-regularized hinge, from a primal and a dual solution.

    Every u that is feasible and complementary to one optimal (w, b) is optimal: the bound of a column with a
    weight is attained, and so is that of a row off its margin.

    Parameters
    ----------
    columns : SignedColumns
        The signed columns, without an intercept's.
    w, b, u : ndarray of shape (n_columns,), float, ndarray of shape (n_samples,)
        Optimal weights, intercept, dual weights.
    upper, weight : ndarray of shape (n_samples,)
        Bounds c_i, and s_i > 0.
    intercept : {"none", "free", "penalized"}
    positive : bool
        Whether w >= 0.
    """
    margins = columns.margins(w) + b * columns.y
    face = np.flatnonzero((np.abs(margins - 1.0) <= _FACE) & (upper > 0.0))
    v = np.where(margins < 1.0, upper, 0.0)
    v[face] = 0.0
    A, taken = columns.select(face), columns.combine(v)
    if intercept != "none":
        A, taken = np.column_stack([A, columns.y[face]]), np.append(taken, columns.y @ v)
        w = np.append(w, b)
    # Scores are at most 1, and at least -1 where a weight may be negative.
    equal = np.abs(w) > _SPECK * np.abs(w).max(initial=0.0)
    target = np.sign(w) * equal - taken
    one_sided = np.full(len(w), positive)
    if intercept != "none":
        one_sided[-1] = False
        if intercept == "free":
            equal[-1], target[-1] = True, -taken[-1]
    below = ~equal & ~one_sided
    A = np.hstack([A, -A[:, below]])
    target = np.append(np.where(equal, target, 1.0 - taken), 1.0 + taken[below])
    at_most = np.append(~equal, np.ones(int(below.sum()), dtype=bool))
    found = least_norm(A, u[face], upper[face], weight[face], target=target, at_most=at_most)
    missed = np.where(at_most, np.maximum(A.T @ found - target, 0.0), np.abs(A.T @ found - target))
    if missed.max(initial=0.0) > _FACE * max(1.0, float(np.abs(target).max(initial=0.0))):
        return u  # (w, b) was not optimal to enough digits to tell the rows on the margin
    v[face] = found
    return v
