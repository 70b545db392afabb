r"""Box- and sum-constrained quadratic programs, the common dual of kernel machines.

    min_beta  1/2 beta' K beta - y' beta    s.t.  sum_i beta_i = 0,  lower_i <= beta_i <= upper_i

with the gradient ``E = K beta - y`` carried along. At the optimum no pair violates: an index that may rise
never has a smaller E than one that may fall, up to ``tol`` (the maximal violating pair of LIBSVM).

Two kinds of steps alternate. PAIR steps are sequential minimal optimization with second-order selection
(Fan, Chen and Lin 2005): cheap, and they find the bounds. When 2 n of them were not enough, SUBSPACE steps
minimize over all free variables at once by a Cholesky factor; a variable that meets its bound leaves the
factor, until the minimum lies inside. Where C is large and classes overlap, they do in milliseconds what
takes 10^5 pair steps. Their effort is bounded by that of the pair steps, so neither kind can cost much more
than it is worth. Both only descend: the pair steps alone ensure convergence.

K needs to be positive semi-definite on the vectors that sum to zero only, as distance kernels are.
All sums run in one fixed order: no result depends on the number of threads or the width of vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SHUT = 1e200  # added to the gradient of an index that cannot move
EFFORT = 40.0  # work of a round of subspace steps, in units of n for each pair step before it
TINY = 1e-12  # curvature below which two samples count as one, as in LIBSVM


@njit(cache=True, nogil=True)
def minimize(K, diagonal, lower, upper, beta, E, tol, max_iter):
    """Minimize in place from a feasible beta with gradient E; return (pair, subspace steps, violation)."""
    n = E.size
    work = np.empty((3, n))
    pairs, subspaces, block = 0, 0, 2 * n + 50
    violation = np.inf
    while pairs < max_iter:
        budget = min(block, max_iter - pairs)
        steps, violation = _pair_steps(K, diagonal, lower, upper, beta, E, work, tol, budget)
        pairs += steps
        if violation <= tol:
            break
        steps, reached = _subspace_steps(K, lower, upper, beta, E, work[0], EFFORT * n * block)
        subspaces += steps
        if not reached:
            block *= 2
    return pairs, subspaces, violation


@njit(cache=True, nogil=True)
def _pair_steps(K, diagonal, lower, upper, beta, E, work, tol, budget):
    """At most ``budget`` pair steps; return their number and the violation that is left."""
    rise, fall, gain = work[0], work[1], work[2]
    for k in range(E.size):
        rise[k] = 0.0 if beta[k] < upper[k] else SHUT
        fall[k] = 0.0 if beta[k] > lower[k] else SHUT
    low = _move(E, K[0], K[0], 0.0, rise)
    for step in range(budget + 1):
        i = _find_sum(E, rise, low)
        best, high = _gains(E, fall, diagonal, K[i], low, diagonal[i], gain)
        if high - low <= tol or step == budget:
            return step, high - low
        j = _find(gain, best)
        t = (E[j] - E[i]) / max(diagonal[i] + diagonal[j] - 2.0 * K[i, j], TINY)
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        t = min(t, room_i, room_j)
        beta[i] = upper[i] if t == room_i else beta[i] + t
        beta[j] = lower[j] if t == room_j else beta[j] - t
        rise[i], fall[i] = (0.0 if beta[i] < upper[i] else SHUT), 0.0
        rise[j], fall[j] = 0.0, (0.0 if beta[j] > lower[j] else SHUT)
        low = _move(E, K[i], K[j], t, rise)
    return budget, 0.0


# nnan and nsz let minima and maxima run in vector registers; neither changes the result of a comparison here.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _move(E, row_i, row_j, t, rise):
    """Add t (row_i - row_j) to the gradient; return its minimum over the indices that may rise."""
    low = 2.0 * SHUT
    for k in range(E.size):
        E[k] += t * (row_i[k] - row_j[k])
        value = E[k] + rise[k]
        low = min(value, low)
    return low


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _gains(E, fall, diagonal, row, low, diagonal_i, gain):
    """Fill the decrease each partner j promises; return the largest, and the maximum of E over those."""
    best, high = 0.0, -2.0 * SHUT
    for k in range(E.size):
        value = E[k] - fall[k]
        high = max(value, high)
        excess = max(value - low, 0.0)
        curvature = max(diagonal_i + diagonal[k] - 2.0 * row[k], TINY)
        gain[k] = excess * excess / curvature
        best = max(gain[k], best)
    return best, high


@njit(cache=True, nogil=True)
def _find(values, wanted):
    """First index with values[k] == wanted."""
    for k in range(values.size):
        if values[k] == wanted:
            return k
    return 0


@njit(cache=True, nogil=True)
def _find_sum(values, shift, wanted):
    """First index with values[k] + shift[k] == wanted."""
    for k in range(values.size):
        if values[k] + shift[k] == wanted:
            return k
    return 0


@njit(cache=True, nogil=True)
def _subspace_steps(K, lower, upper, beta, E, change, effort):
    """Minimize over the free variables; one that meets its bound leaves, until none does or effort runs out.

    Return the number of steps, and whether the minimum was reached.
    """
    free, U = _factor(K, np.flatnonzero((lower < beta) & (beta < upper)))
    size, steps = free.size, 0
    effort -= size**3 / 3.0
    while size > 1 and effort > 0.0:
        steps += 1
        effort -= size * (2.0 * E.size + 7.0 * size)
        direction = _newton_direction(U, E, free[:size])
        change[:] = 0.0
        for a in range(size):
            _add_multiple(change, K[free[a]], direction[a])
        t, first = _step_length(lower, upper, beta, E, change, free[:size], direction)
        if t <= 0.0:
            return steps, True
        for a in range(size):
            i = free[a]
            beta[i] = min(max(beta[i] + t * direction[a], lower[i]), upper[i])
        _add_multiple(E, change, t)
        if first < 0:
            return steps, True
        i = free[first]
        beta[i] = upper[i] if direction[first] > 0.0 else lower[i]
        _delete(U, free, first, size)
        size -= 1
    return steps, size < 2


@njit(cache=True, nogil=True)
def _step_length(lower, upper, beta, E, change, free, direction):
    """Exact minimizer along the direction, cut at the first bound; return it and who met the bound, or -1."""
    slope, curvature = 0.0, 0.0
    for a in range(free.size):
        slope += direction[a] * E[free[a]]
        curvature += direction[a] * change[free[a]]
    if slope >= 0.0 or curvature <= 0.0:
        return 0.0, -1
    t, first = -slope / curvature, -1
    for a in range(free.size):
        i, d = free[a], direction[a]
        room = upper[i] - beta[i] if d > 0.0 else beta[i] - lower[i]
        if abs(d) * t > room:
            t, first = room / abs(d), a
    return t, first


@njit(cache=True, nogil=True)
def _newton_direction(U, E, free):
    """Newton direction -A^-1 (E - nu 1) over the free variables, with the nu that makes it sum to zero."""
    m = free.size
    p, q = np.empty(m), np.ones(m)
    for a in range(m):
        p[a] = E[free[a]]
    _solve(U, p)
    _solve(U, q)
    nu = p.sum() / q.sum()
    for a in range(m):
        p[a] = nu * q[a] - p[a]
    return p


@njit(cache=True, nogil=True)
def _factor(K, free):
    """Cholesky factor A = U' U of K over the free variables, and those it keeps: the numerically independent.

    A equals K on vectors that sum to zero, and is positive definite where K is only conditionally so:
    distances are taken from the first free variable, and a constant of their size is added.
    """
    m = free.size
    A = np.empty((m, m))
    kept, n_kept, top = np.empty(m, np.int64), 0, 0.0
    for a in range(m):
        i, r = free[a], free[0]
        top = max(top, K[i, i] - 2.0 * K[i, r] + K[r, r])
    for a in range(m):
        i, r = free[a], free[0]
        for b in range(a, m):
            j = free[b]
            A[a, b] = ((K[i, j] - K[i, r]) - (K[j, r] - K[r, r])) + top
        for k in range(n_kept):
            _add_multiple(A[a, a:], A[kept[k], a:], -A[kept[k], a])
        if A[a, a] > 1e-11 * top:
            A[a, a:] /= np.sqrt(A[a, a])
            kept[n_kept] = a
            n_kept += 1
    U = np.empty((n_kept, n_kept))
    for a in range(n_kept):
        for b in range(a, n_kept):
            U[a, b] = A[kept[a], kept[b]]
    return free[kept[:n_kept]], U


@njit(cache=True, nogil=True)
def _delete(U, free, first, size):
    """Remove one variable from the leading factor: shift columns, rotate its row into the rows below."""
    row = U[first, first + 1 : size].copy()
    for a in range(size - 1):
        for b in range(max(a, first), size - 1):
            U[a, b] = U[a if a < first else a + 1, b + 1]
    for b in range(first, size - 1):
        free[b] = free[b + 1]
    for k in range(first, size - 1):
        x, y = U[k, k], row[k - first]
        radius = np.sqrt(x * x + y * y)
        cosine, sine = x / radius, y / radius
        for b in range(k, size - 1):
            u, v = U[k, b], row[b - first]
            U[k, b] = cosine * u + sine * v
            row[b - first] = cosine * v - sine * u


@njit(cache=True, nogil=True)
def _solve(U, x):
    """Solve U' U x = b in place, with the leading part of U."""
    m = x.size
    for k in range(m):
        x[k] /= U[k, k]
        _add_multiple(x[k + 1 :], U[k, k + 1 : m], -x[k])
    for k in range(m - 1, -1, -1):
        x[k] = (x[k] - _dot(U[k, k + 1 : m], x[k + 1 :])) / U[k, k]


@njit(cache=True, nogil=True)
def _add_multiple(target, row, factor):
    """Add factor * row to target."""
    for k in range(target.size):
        target[k] += factor * row[k]


@njit(cache=True, nogil=True)
def _dot(a, b):
    """Inner product in four fixed lanes: the same digits on every machine."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    m = a.size
    for k in range(0, m - 3, 4):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
    for k in range(m - m % 4, m):
        s0 += a[k] * b[k]
    return (s0 + s1) + (s2 + s3)
