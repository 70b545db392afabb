r"""Newton's method for hinge losses of a linear machine, smoothed, squared, and as they are.

    min_{w,b}  1/2 ||w||^2 + sum_i lambda_i h_delta(y_i (<x_i, w> + b)),

    h_delta(m) = 0 where m >= 1,  (1 - m)^2 / (2 delta) in the zone 1 - delta < m < 1,  1 - m - delta/2 below.

For each width delta the minimum of this piecewise quadratic is found by Newton's method with an exact line
search in finitely many steps. With a width beyond all margins it is the SQUARED hinge.

The HINGE is the limit of small widths. The minimizers are piecewise linear in delta, so the next, narrower
width starts where that line leads, and few steps suffice. Once the zone holds about as many samples as
there are features, they are the free support vectors, or nearly: the hinge's own optimality conditions with
these on the margin, and all others at their bounds, are one linear system, exact as soon as the partition
is right, which the duality gap certifies. Should tied samples never give one, the dual over the last zone
is solved by `masters.smo`, with all others held.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import lu_factor, lu_solve

from kernsemble.masters.smo import minimize

SHRINK = 0.1
NARROWEST, WIDE = 1e-7, 1e9
PRECISION = 1e-11  # of margins
REFINEMENTS = 2


def solve_hinge(
    A: np.ndarray, cost: np.ndarray, tol: float, max_iter: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Weights and intercept v, dual weights u, Newton steps; ``A`` are the rows y_i (x_i, 1)."""
    n, size = A.shape
    v, margin, factor = np.zeros(size), np.zeros(n), np.empty((size, size))
    best = _Best(A, cost, tol)
    n_iter, delta = 0, 1.0
    while n_iter < max_iter:
        n_iter += _minimize_smoothed(A, v, margin, cost, delta, factor, min(50, max_iter - n_iter), False)
        u = cost * np.clip((1.0 - margin) / delta, 0.0, 1.0)
        zone = np.flatnonzero((u > 0.0) & (u < cost))
        if zone.size <= size + 8 and best.offer(*_active_set(A, cost, u, zone)):
            break
        if delta < NARROWEST:
            best.offer(u, v)
            best.offer(_solve_dual(A, cost, _settle(A[:, -1], cost, u, zone), zone))
            break
        ahead = u[zone] @ A[zone]
        _substitute(factor, ahead)
        v += (1.0 - SHRINK) * ahead
        margin = A @ v
        delta *= SHRINK
    else:
        best.offer(u, v)
    return best.v, best.u, n_iter


def solve_squared_hinge(A: np.ndarray, cost: np.ndarray, max_iter: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Weights and intercept v, dual weights u, Newton steps; ``A`` are the rows y_i (x_i, 1)."""
    n, size = A.shape
    v, margin = np.zeros(size), np.zeros(n)
    factor = np.empty((size, size))
    n_iter = _minimize_smoothed(A, v, margin, 2.0 * WIDE * cost, WIDE, factor, max_iter, True)
    return v, 2.0 * cost * np.maximum(0.0, 1.0 - A @ v), n_iter


class _Best:
    """The feasible dual weights and the primal point of the least gap so far; zeros to begin with."""

    def __init__(self, A: np.ndarray, cost: np.ndarray, tol: float):
        self.A, self.cost, self.tol = A, cost, tol
        self.u, self.v = np.zeros(cost.size), np.zeros(A.shape[1])
        self.gap = self.objective = cost.sum()

    def offer(self, u: np.ndarray, v: np.ndarray | None = None) -> bool:
        """Keep u and v, or the best v that u implies, if their gap is least; return whether it is small."""
        y = self.A[:, -1]
        above, below = u[y > 0].sum(), u[y < 0].sum()
        lighter = min(above, below)
        u = u * np.where(y > 0, lighter / max(above, 1e-300), lighter / max(below, 1e-300))
        combined = u @ self.A
        combined[-1] = 0.0
        if v is None:
            v = combined.copy()
            v[-1] = _best_intercept(y, self.cost, y * (1.0 - self.A @ v))
        objective = 0.5 * v[:-1] @ v[:-1] + self.cost @ np.maximum(0.0, 1.0 - self.A @ v)
        gap = objective - u.sum() + 0.5 * combined @ combined
        if gap < self.gap:
            self.u, self.v, self.gap, self.objective = u, v.copy(), gap, objective
        return self.gap <= self.tol * max(1.0, self.objective)


def _active_set(
    A: np.ndarray, cost: np.ndarray, u: np.ndarray, zone: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Dual weights and v that put the zone on the margin, from the scaled optimality conditions.

    Minimize ``1/2 ||w||^2 - <pull, v>`` under ``B v = 1``: the zone's dual weights are the multipliers.
    """
    size, m = A.shape[1], zone.size
    held = u.copy()
    held[zone] = 0.0
    B = A[zone]
    scale = 1.0 / np.maximum(np.abs(B).max(axis=0, initial=1e-12), 1.0)
    system = np.zeros((size + m, size + m))
    system.flat[: size * (size + m) : size + m + 1] = scale**2 * np.append(np.ones(size - 1), 0.0)
    system[:size, size:] = -(B * scale).T
    system[size:, :size] = B * scale
    damped = system.copy()
    damped.flat[size * (size + m + 1) :: size + m + 1] = 1e-12  # tied samples repeat rows
    damped[size - 1, size - 1] += 1e-12
    right = np.append(scale * (held @ A), np.ones(m))
    factor = lu_factor(damped, check_finite=False)
    solution = np.zeros(right.size)
    for _ in range(REFINEMENTS):
        solution += lu_solve(factor, right - system @ solution, check_finite=False)
    held[zone] = np.clip(solution[size:], 0.0, cost[zone])
    return held, scale * solution[:size]


def _settle(y: np.ndarray, cost: np.ndarray, u: np.ndarray, zone: np.ndarray) -> np.ndarray:
    """Undo what rounding leaves of y'u within the zone."""
    u, excess = u.copy(), y @ u
    for i in zone:
        change = np.clip(-y[i] * excess, -u[i], cost[i] - u[i])
        u[i] += change
        excess += y[i] * change
    return u


def _solve_dual(A: np.ndarray, cost: np.ndarray, u: np.ndarray, working: np.ndarray) -> np.ndarray:
    """Solve the dual over the working samples from a feasible u, all others held."""
    B, y = A[working, :-1], A[working, -1]
    points = B * y[:, np.newaxis]
    K = points @ points.T
    beta, bound = y * u[working], y * cost[working]
    gradient = points @ (u @ A[:, :-1]) - y
    lower, upper = np.minimum(0.0, bound), np.maximum(0.0, bound)
    scale = max(1.0, 1e-4 * K.diagonal().max(initial=0.0) * np.abs(beta).sum())
    budget = 10_000 + 200 * working.size
    minimize(K, K.diagonal().copy(), lower, upper, beta, gradient, PRECISION * scale, budget)
    u = u.copy()
    u[working] = np.abs(beta)
    return u


def _best_intercept(y: np.ndarray, cost: np.ndarray, breaks: np.ndarray) -> float:
    """Minimizer over b of the sum of ``cost max(0, y (breaks - b))``: where its slope changes sign."""
    order = np.argsort(breaks, kind="stable")
    slope = -cost[y > 0].sum() + np.cumsum(cost[order])  # right of each break
    return float(breaks[order[min(np.searchsorted(slope, 0.0), y.size - 1)]])


@njit(cache=True, nogil=True)
def _minimize_smoothed(A, v, margin, cost, delta, factor, max_steps, polish):
    """Newton's method in place on v and margin = A v; leaves the last Cholesky factor; returns the steps.

    A full step is taken for the last one, unless it is to be polished: then no decrease must be left.
    """
    size = v.size
    direction, moved = np.empty(size), np.empty(margin.size)
    for step in range(max_steps):
        value = _newton_system(A, v, margin, cost, delta, factor, direction)
        _factor(factor)
        _substitute(factor, direction)
        slope, curvature = 0.0, 0.0
        for a in range(size - 1):
            slope += v[a] * direction[a]
            curvature += direction[a] * direction[a]
        for i in range(margin.size):
            moved[i] = _dot(A[i], direction)
        if -_slope(0.0, slope, curvature, margin, moved, cost, delta) <= 1e-14 * value:
            return step + 1
        t = _line_search(slope, curvature, margin, moved, cost, delta)
        for a in range(size):
            v[a] += t * direction[a]
        for i in range(margin.size):
            margin[i] += t * moved[i]
        if t == 1.0 and not polish:
            return step + 1
    return max_steps


@njit(cache=True, nogil=True)
def _newton_system(A, v, margin, cost, delta, H, descent):
    """Fill the lower triangle of the Hessian, and the negative gradient; return about the objective."""
    size, value = v.size, 0.0
    H[:] = 0.0
    for a in range(size - 1):
        H[a, a] = 1.0
        descent[a] = -v[a]
        value += 0.5 * v[a] * v[a]
    descent[size - 1] = 0.0
    for i in range(margin.size):
        slack = 1.0 - margin[i]
        if slack <= 0.0:
            continue
        row, weight = A[i], cost[i]
        if slack < delta:
            weight /= delta
            value += 0.5 * weight * slack * slack
            for a in range(size):
                scaled = weight * row[a]
                for b in range(a + 1):
                    H[a, b] += scaled * row[b]
            weight *= slack
        else:
            value += weight * slack
        for a in range(size):
            descent[a] += weight * row[a]
    for a in range(size):
        H[a, a] *= 1.0 + 1e-13
    if H[size - 1, size - 1] == 0.0:
        H[size - 1, size - 1] = 1.0  # an empty zone says nothing about the intercept's curvature
    return value


@njit(cache=True, nogil=True)
def _factor(H):
    """Lower Cholesky factor in place of the lower triangle; pivots lost to rounding are replaced."""
    for a in range(H.shape[0]):
        largest = H[a, a]
        for b in range(a):
            H[a, b] = (H[a, b] - _dot(H[a, :b], H[b, :b])) / H[b, b]
        pivot = H[a, a] - _dot(H[a, :a], H[a, :a])
        H[a, a] = np.sqrt(max(pivot, 1e-14 * largest))


@njit(cache=True, nogil=True)
def _substitute(L, x):
    """Solve L L' x = b in place."""
    for a in range(x.size):
        x[a] = (x[a] - _dot(L[a, :a], x[:a])) / L[a, a]
    for a in range(x.size - 1, -1, -1):
        x[a] /= L[a, a]
        for b in range(a):
            x[b] -= x[a] * L[a, b]


@njit(cache=True, nogil=True)
def _line_search(slope, curvature, margin, moved, cost, delta):
    """Minimizer t > 0 of the smoothed objective along a descent direction, by a safeguarded secant."""
    low, high = 0.0, 1.0
    at_low = _slope(low, slope, curvature, margin, moved, cost, delta)
    at_high = _slope(high, slope, curvature, margin, moved, cost, delta)
    first = at_low
    if abs(at_high) <= 1e-8 * abs(first):
        return 1.0
    while at_high < 0.0 and high < 1e6:
        low, at_low, high = high, at_high, 2.0 * high
        at_high = _slope(high, slope, curvature, margin, moved, cost, delta)
    t = high
    for _ in range(50):
        t = low - at_low * (high - low) / (at_high - at_low) if at_high > at_low else 0.5 * (low + high)
        t = min(max(t, low + 0.02 * (high - low)), high - 0.02 * (high - low))
        at = _slope(t, slope, curvature, margin, moved, cost, delta)
        if abs(at) <= 1e-6 * abs(first) or high - low <= 1e-14 * high:
            break
        if at < 0.0:
            low, at_low = t, at
        else:
            high, at_high = t, at
    return t


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _slope(t, slope, curvature, margin, moved, cost, delta):
    """Derivative at t along the direction."""
    loss = 0.0
    inverse = 1.0 / delta
    for i in range(margin.size):
        slack = 1.0 - margin[i] - t * moved[i]
        loss += cost[i] * min(max(slack, 0.0) * inverse, 1.0) * moved[i]
    return slope + t * curvature - loss


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _dot(a, b):
    """Inner product."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total
