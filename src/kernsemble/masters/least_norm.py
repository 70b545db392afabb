"""One dual solution out of many: the point of least weighted norm on the optimal face of a margin loss.

The weights w of a restricted problem are unique, its dual weights u need not be: rows on the margin that
depend on each other can exchange theirs. With A the rows on the margin and u any solution,

    min_v  1/2 sum_i v_i^2 / s_i    subject to   A_j'v = t_j  or  A_j'v <= t_j,   0 <= v_i <= c_i

picks one; t = A'u where nothing else is given. An l2 norm gives equations only, and so do the columns with a
weight under an l1 norm; the scores of its other columns have a bound. Equal rows then share their weight in
proportion to s_i, so that writing a sample twice is the same as giving it weight 2, and neither the order of
the samples nor the way the solver went matters.

Dual: v_i = clip(s_i a_i'l, 0, c_i) for multipliers l that minimize a convex, piecewise quadratic function of
as many variables as A has columns. Newton's method with an exact line search ends after finitely many steps.
A score beyond its bound is held at it, one after the other, until its multiplier presses inwards.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import lapack

_MAX_ITER = 100
_RIDGE = 1e-12  # of the trace: makes Newton's matrix definite where columns depend on each other
_OUTSIDE = 1e-11  # score beyond its bound, relative to the largest there can be, that is put back
_RESIDUAL = 1e-13  # of A'v = t, relative, from which on the search ends where it gains nothing
_STALLED = 10  # steps in a row that do not halve the residual: rounding lets them gain nothing more
_MET = 1e-12  # residual, as above, at which the target is met all the same: above it no vector meets it
_NEIGHBORS = 1e-15  # relative distance of lengths that rounding cannot tell apart


def least_norm_between(
    A: np.ndarray,
    u: np.ndarray,
    upper: np.ndarray,
    weight: np.ndarray,
    held: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    target: np.ndarray | None = None,
    most: int | None = None,
) -> np.ndarray:
    """Return the vector of least norm whose ``A'v`` is that of u where held, between low and high elsewhere.

    Scores out of their bounds are held at them, one after the other, and let go when they press inwards.

    A (n_rows, n_columns) holds the rows on the margin, u (n_rows,) a solution in the box [0, upper], weight
    the s_i > 0. ``held`` says which columns keep their score, ``target`` what that is (``A'u`` by default);
    low and high bound the scores of the others, which u respects. After ``most`` bounds that are held or let
    go, and where rounding keeps all vectors from their target, u is returned.
    """
    if independent(A[:, held]):
        return u
    target = (A.T @ u if target is None else target).copy()
    active, side = held.copy(), np.zeros(len(held))
    tol = _OUTSIDE * float(np.abs(A).sum(axis=0).max(initial=0.0)) * float(upper.max(initial=0.0))
    for _ in range(2 * len(held) + 10 if most is None else most):
        found = _project(A[:, active], target[active], upper, weight)
        if found is None:
            return u
        v, multipliers = found
        pressing = np.zeros(len(held))
        pressing[active] = multipliers * side[active]
        scores = A.T @ v
        outside = np.where(active, 0.0, np.maximum(scores - high, low - scores))
        if pressing.max(initial=0.0) > 0.0:
            active[pressing.argmax()] = False
        elif outside.max(initial=0.0) > tol:
            j = int(outside.argmax())
            side[j] = 1.0 if scores[j] > high[j] else -1.0
            active[j], target[j] = True, high[j] if side[j] > 0 else low[j]
        else:
            return v
    return u


def _project(
    A: np.ndarray, target: np.ndarray, upper: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Vector of least norm with ``A'v = target`` in its box, and the multipliers; None where there is none.

    Steps go on while they help, and the better of the last two points is returned: where columns depend on
    each other, rounding may lead a step away from the solution once that is reached.
    """
    multipliers = np.zeros(A.shape[1])
    values, error = np.zeros(len(A)), np.inf  # a_i'l
    last = best = values, multipliers
    least, stalled = np.inf, 0
    scale = float(np.abs(A).T @ upper @ np.ones(A.shape[1])) if A.size else 0.0
    for _ in range(_MAX_ITER):
        v = np.clip(weight * values, 0.0, upper)
        residual = target - A.T @ v
        error, before = float(np.abs(residual).max(initial=0.0)), error
        if before <= _RESIDUAL * scale and error > before:
            return last
        if error == 0.0 or (error <= _RESIDUAL * scale and error > 0.5 * before):
            return v, multipliers
        last = v, multipliers.copy()
        best, least, stalled = (last, error, 0) if error < 0.5 * least else (best, least, stalled + 1)
        if stalled == _STALLED:
            break
        free = (values >= 0.0) & (weight * values <= upper)
        step = _newton(A[free], weight[free], residual)
        along = A @ step
        length = _search(values, along, weight, upper, float(target @ step))
        multipliers += length * step
        values += length * along
    return best if least <= _MET * scale else None


def independent(A: np.ndarray) -> bool:
    """Whether no row depends on the others: there is then only one solution."""
    if len(A) > A.shape[1]:
        return False
    try:
        factor = np.linalg.cholesky(A @ A.T)
    except np.linalg.LinAlgError:
        return False
    pivots = np.diag(factor)
    return bool(pivots.size == 0 or pivots.min() > 1e-6 * pivots.max())


def _newton(A: np.ndarray, weight: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Solve with the curvature of the free rows, slightly lifted."""
    # A product of a matrix with itself takes half the multiplications.
    matrix = A.T @ A if (weight == 1.0).all() else (A * weight[:, None]).T @ A
    lift = _RIDGE * max(float(np.trace(matrix)), 1.0)
    while True:
        matrix[np.diag_indices(len(matrix))] += lift
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return lapack.dpotrs(factor, residual, lower=1)[0]
        lift *= 100.0


def _search(values, along, weight, upper, pull) -> float:
    """Find where the increasing, piecewise linear slope along the step vanishes."""
    start, _ = _slope(values, along, weight, upper, 0.0)
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(_MAX_ITER):
        slope, rise = _slope(values, along, weight, upper, t)
        if abs(slope - pull) <= 1e-14 * abs(start - pull):
            break
        low, high = (low, t) if slope > pull else (t, high)
        if low > 1e12:
            break
        newton = t - (slope - pull) / rise if rise > 0.0 else np.inf
        middle = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        before, t = t, newton if low < newton < high else middle
        if abs(t - before) <= _NEIGHBORS * t:
            break
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
