r"""Box- and sum-constrained quadratic programs, the common dual of kernel machines.

    min_beta  1/2 beta' K beta - y' beta    s.t.  sum_i beta_i = 0,  lower_i <= beta_i <= upper_i

with the gradient ``E = K beta - y`` carried along. The optimum is where no pair violates: an index that may rise
never has a smaller E than one that may fall, up to ``tol`` (the maximal violating pair of LIBSVM).

Two kinds of steps alternate. PAIR steps are sequential minimal optimization with second-order selection (Fan,
Chen and Lin 2005): cheap, and they find the bounds. When 2 n of them were not enough, SUBSPACE steps minimize
over all free variables at once by a Cholesky factor, and walk until a variable meets its bound: where C is large
and classes overlap, they do in milliseconds what takes 10^5 pair steps. Both only descend, so pair steps alone
ensure convergence.

K needs to be positive semi-definite on the vectors that sum to zero only, as distance kernels are.
All sums run in one fixed order: no result depends on the number of threads or the width of vector registers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SHUT = 1e200  # added to the gradient of an index that cannot move
TINY = 1e-12  # curvature below which two samples count as one, as in LIBSVM
SUBSPACE_REPEATS = 50


@njit(cache=True, nogil=True)
def minimize(K, diagonal, lower, upper, beta, E, tol, max_iter):
    """Minimize in place from a feasible beta with gradient E; return (pair steps, subspace steps, violation)."""
    n = E.size
    work = np.empty((3, n))
    pairs, subspaces = 0, 0
    violation = np.inf
    while pairs < max_iter:
        budget = min(2 * n + 50, max_iter - pairs)
        steps, violation = _pair_steps(K, diagonal, lower, upper, beta, E, work, tol, budget)
        pairs += steps
        if violation <= tol:
            break
        for _ in range(SUBSPACE_REPEATS):
            subspaces += 1
            if _subspace_step(K, lower, upper, beta, E):
                break
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
def _subspace_step(K, lower, upper, beta, E):
    """Step to the minimum over all free variables, as far as the box allows; return whether it was reached."""
    free = np.flatnonzero((lower < beta) & (beta < upper))
    if free.size < 3:
        return True
    direction = _newton_direction(K, E, free)
    t, first = 1.0, -1
    for a in range(free.size):
        i, d = free[a], direction[a]
        room = upper[i] - beta[i] if d > 0.0 else beta[i] - lower[i]
        if abs(d) * t > room:
            t, first = room / abs(d), a
    for a in range(free.size):
        i, d = free[a], t * direction[a]
        beta[i] = min(max(beta[i] + d, lower[i]), upper[i])
        _add_multiple(E, K[i], d)
    if first < 0:
        return True
    i = free[first]
    beta[i] = upper[i] if direction[first] > 0.0 else lower[i]
    return False


@njit(cache=True, nogil=True)
def _newton_direction(K, E, free):
    """Minimizer of the quadratic over the free variables, their sum kept: the first balances the others."""
    m = free.size - 1
    r = free[0]
    A, x = np.empty((m, m)), np.empty(m)
    top = 0.0
    for a in range(m):
        i = free[a + 1]
        x[a] = E[r] - E[i]
        for b in range(a + 1):
            j = free[b + 1]
            A[a, b] = (K[i, j] - K[i, r]) - (K[r, j] - K[r, r])
        top = max(top, A[a, a])
    _factor(A, 1e-11 * top)
    _solve(A, x)
    direction = np.empty(m + 1)
    direction[0] = -x.sum()
    direction[1:] = x
    return direction


@njit(cache=True, nogil=True)
def _factor(A, tiny):
    """Lower Cholesky factor, inverse pivots on the diagonal; a pivot below tiny freezes its variable."""
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = (A[i, j] - _dot(A[i], A[j], j)) * A[j, j]
        pivot = A[i, i] - _dot(A[i], A[i], i)
        A[i, i] = 1.0 / np.sqrt(pivot) if pivot > tiny else 0.0


@njit(cache=True, nogil=True)
def _solve(A, x):
    """Solve L L' x = b in place; frozen variables get 0."""
    for i in range(x.size):
        x[i] = (x[i] - _dot(A[i], x, i)) * A[i, i]
    for i in range(x.size - 1, -1, -1):
        x[i] *= A[i, i]
        _add_multiple(x[:i], A[i, :i], -x[i])


@njit(cache=True, nogil=True)
def _add_multiple(target, row, factor):
    """Add factor * row to target."""
    for k in range(target.size):
        target[k] += factor * row[k]


@njit(cache=True, nogil=True)
def _dot(a, b, m):
    """Inner product of the first m entries in four fixed lanes: the same digits on every machine."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for k in range(0, m - 3, 4):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
    for k in range(m - m % 4, m):
        s0 += a[k] * b[k]
    return (s0 + s1) + (s2 + s3)
