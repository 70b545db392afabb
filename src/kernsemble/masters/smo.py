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
Smallest and largest values are found among the bits read as integers, which compilers search in vector
registers, where floating-point numbers, for fear of NaN, are compared one by one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SHUT = 1e200  # added to the gradient of an index that cannot move
EFFORT = 40.0  # work of a round of subspace steps, in units of n for each pair step before it
TINY = 1e-12  # curvature below which two samples count as one, as in LIBSVM
MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)  # all bits but the sign; flipped, negative numbers are in order


def minimize(
    K: np.ndarray,
    diagonal: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    beta: np.ndarray,
    E: np.ndarray,
    tol: float,
    max_iter: int,
) -> tuple[int, int, float]:
    """Minimize in place from a feasible beta with gradient E; return (pair, subspace steps, violation).

    The steps hold no lock: several problems may be solved in as many threads.
    """
    n = E.size
    work = np.empty((3, n))
    pairs, subspaces, block = 0, 0, 2 * n + 50
    violation = np.inf
    while pairs < max_iter:
        budget = min(block, max_iter - pairs)
        steps, violation = _pair_steps(
            K, diagonal, lower, upper, beta, E, work, work.view(np.int64), float(tol), budget
        )
        pairs += steps
        if violation <= tol:
            break
        steps, reached = _subspace_steps(K, lower, upper, beta, E, EFFORT * n * block)
        subspaces += steps
        if not reached:
            block *= 2
    return pairs, subspaces, violation


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_steps(K, diagonal, lower, upper, beta, E, work, bits, tol, budget):
    """At most ``budget`` pair steps; return their number and the violation that is left."""
    n = E.size
    rise, fall, value, value_bits = work[0], work[1], work[2], bits[2]
    for k in range(n):
        rise[k] = 0.0 if beta[k] < upper[k] else SHUT
        fall[k] = 0.0 if beta[k] > lower[k] else SHUT
    i, j, t = 0, 0, 0.0
    for step in range(budget + 1):
        row_i, row_j = K[i], K[j]
        for k in range(n):
            E[k] += t * (row_i[k] - row_j[k])
            value[k] = E[k] + rise[k]
        i = _smallest(value_bits)
        low, row_i, diagonal_i = value[i], K[i], diagonal[i]
        for k in range(n):
            excess = (E[k] - fall[k]) - low
            excess = excess if excess > 0.0 else 0.0
            curvature = diagonal_i + diagonal[k] - 2.0 * row_i[k]
            value[k] = excess * excess / (curvature if curvature > TINY else TINY)
        j = _largest(value_bits)
        if step == budget or E[j] - low <= tol or value[j] <= 0.0:
            high = _highest(E, fall)
            if step == budget or high - low <= tol:
                return step, high - low
        t = (E[j] - E[i]) / max(diagonal_i + diagonal[j] - 2.0 * K[i, j], TINY)
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        t = min(t, min(room_i, room_j))
        beta[i] = upper[i] if t == room_i else beta[i] + t
        beta[j] = lower[j] if t == room_j else beta[j] - t
        rise[i], fall[i] = (0.0 if beta[i] < upper[i] else SHUT), 0.0
        rise[j], fall[j] = 0.0, (0.0 if beta[j] > lower[j] else SHUT)
    return budget, 0.0


@njit(cache=True, nogil=True)
def _smallest(bits):
    """First index of the smallest of the floating-point numbers with these bits."""
    least = MAGNITUDE
    for k in range(bits.size):
        least = min(least, bits[k] ^ ((bits[k] >> 63) & MAGNITUDE))
    least ^= (least >> 63) & MAGNITUDE
    for k in range(bits.size):
        if bits[k] == least:
            return k
    return 0


@njit(cache=True, nogil=True)
def _largest(bits):
    """First index of the largest of the non-negative floating-point numbers with these bits."""
    most = np.int64(0)
    for k in range(bits.size):
        most = max(most, bits[k])
    for k in range(bits.size):
        if bits[k] == most:
            return k
    return 0


@njit(cache=True, nogil=True)
def _highest(E, fall):
    """Maximum of the gradient over the indices that may fall."""
    high = -2.0 * SHUT
    for k in range(E.size):
        high = max(high, E[k] - fall[k])
    return high


def _subspace_steps(
    K: np.ndarray, lower: np.ndarray, upper: np.ndarray, beta: np.ndarray, E: np.ndarray, effort: float
) -> tuple[int, bool]:
    """Minimize over the free variables; one that meets its bound leaves, until none does or effort runs out.

    Return the number of steps, and whether the minimum was reached.
    """
    free = np.flatnonzero((lower < beta) & (beta < upper))
    if free.size < 2:
        return 0, True
    U, work = np.empty((free.size, free.size)), np.empty((3, E.size))
    order, kept = np.arange(free.size), np.empty(free.size, np.int64)
    size = _factor(K, free, U, order, kept, work[0])
    return _descend(K, lower, upper, beta, E, U, free, size, work, effort - size**3 / 3.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(K, lower, upper, beta, E, U, free, size, work, effort):
    """Newton steps over the free variables of a factor, to the minimum or the first bound each."""
    change, direction, steps = work[0], work[1], 0
    while size > 1 and effort > 0.0:
        steps += 1
        effort -= size * (2.0 * E.size + 7.0 * size)
        _newton_direction(U, E, free, size, direction, work[2])
        for k in range(E.size):
            change[k] = 0.0
        _add_rows(change, K, free, direction, size, np.int64(0))
        t, first = _step_length(lower, upper, beta, E, change, free, size, direction)
        if t <= 0.0:
            return steps, True
        for a in range(size):
            i = free[a]
            beta[i] = min(max(beta[i] + t * direction[a], lower[i]), upper[i])
        for k in range(E.size):
            E[k] += t * change[k]
        if first < 0:
            return steps, True
        i = free[first]
        beta[i] = upper[i] if direction[first] > 0.0 else lower[i]
        _delete(U, free, first, size, work[2])
        size -= 1
    return steps, size < 2


@njit(cache=True, nogil=True, error_model="numpy")
def _step_length(lower, upper, beta, E, change, free, size, direction):
    """Exact minimizer along the direction, cut at the first bound; return it and who met the bound, or -1."""
    slope, curvature = 0.0, 0.0
    for a in range(size):
        slope += direction[a] * E[free[a]]
        curvature += direction[a] * change[free[a]]
    if slope >= 0.0 or curvature <= 0.0:
        return 0.0, -1
    t, first = -slope / curvature, -1
    for a in range(size):
        i, d = free[a], direction[a]
        room = upper[i] - beta[i] if d > 0.0 else beta[i] - lower[i]
        if abs(d) * t > room:
            t, first = room / abs(d), a
    return t, first


@njit(cache=True, nogil=True, error_model="numpy")
def _newton_direction(U, E, free, size, p, q):
    """Set p to -A^-1 (E - nu 1) over the free variables, with the nu that makes it sum to zero."""
    for a in range(size):
        p[a], q[a] = E[free[a]], 1.0
    _solve(U, size, p)
    _solve(U, size, q)
    top, bottom = 0.0, 0.0
    for a in range(size):
        top += p[a]
        bottom += q[a]
    for a in range(size):
        p[a] = top / bottom * q[a] - p[a]


@njit(cache=True, nogil=True, error_model="numpy")
def _factor(K, free, U, order, kept, factor):
    """Leave in U the Cholesky factor A = U' U of K over the free variables, and in ``free`` those it keeps.

    Return their number: the numerically independent stay. A equals K on vectors that sum to zero, and is
    positive definite where K is only conditionally so: distances are taken from the first free variable,
    and a constant of their size is added.
    """
    m, r, size, top = free.size, free[0], np.int64(0), 0.0
    for a in range(m):
        i = free[a]
        top = max(top, K[i, i] - 2.0 * K[i, r] + K[r, r])
    for a in range(m):
        i, row = free[a], U[size]
        for b in range(a, m):
            j = free[b]
            row[b] = ((K[i, j] - K[i, r]) - (K[j, r] - K[r, r])) + top
        for k in range(size):
            factor[k] = -U[k, a]
        _add_rows(row, U, order, factor, size, a)
        if row[a] > 1e-11 * top:
            root = np.sqrt(row[a])
            for b in range(a, m):
                row[b] /= root
            kept[size] = a
            size += 1
    for a in range(size):
        free[a] = free[kept[a]]
        for b in range(a, size):
            U[a, b] = U[a, kept[b]]
    return size


@njit(cache=True, nogil=True)
def _add_rows(target, M, rows, factor, size, start):
    """Add multiples of the first ``size`` rows to target from index ``start`` on, four rows a sweep.

    Callers write ``np.int64(0)``: for a literal 0 this would be compiled anew.
    """
    whole = size - size % 4
    for a in range(0, whole, 4):
        m0, m1, m2, m3 = M[rows[a]], M[rows[a + 1]], M[rows[a + 2]], M[rows[a + 3]]
        f0, f1, f2, f3 = factor[a], factor[a + 1], factor[a + 2], factor[a + 3]
        for k in range(start, target.size):
            target[k] += (f0 * m0[k] + f1 * m1[k]) + (f2 * m2[k] + f3 * m3[k])
    for a in range(whole, size):
        m0, f0 = M[rows[a]], factor[a]
        for k in range(start, target.size):
            target[k] += f0 * m0[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _delete(U, free, first, size, row):
    """Remove one variable from the leading factor: shift columns, rotate its row into the rows below."""
    for b in range(first + 1, size):
        row[b - 1] = U[first, b]
        free[b - 1] = free[b]
    for a in range(size - 1):
        shifted, source = U[a], U[a if a < first else a + 1]
        for b in range(max(a, first), size - 1):
            shifted[b] = source[b + 1]
    for k in range(first, size - 1):
        below, x, y = U[k], U[k, k], row[k]
        radius = np.sqrt(x * x + y * y)
        cosine, sine = x / radius, y / radius
        for b in range(k, size - 1):
            u, v = below[b], row[b]
            below[b] = cosine * u + sine * v
            row[b] = cosine * v - sine * u


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(U, size, x):
    """Solve U' U x = b in place, with the leading part of U; sums in four fixed lanes."""
    for k in range(size):
        row = U[k]
        x[k] /= row[k]
        for b in range(k + 1, size):
            x[b] -= x[k] * row[b]
    for k in range(size - 1, -1, -1):
        row, whole = U[k], size - (size - k - 1) % 4
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for b in range(k + 1, whole, 4):
            s0 += row[b] * x[b]
            s1 += row[b + 1] * x[b + 1]
            s2 += row[b + 2] * x[b + 2]
            s3 += row[b + 3] * x[b + 3]
        for b in range(whole, size):
            s0 += row[b] * x[b]
        x[k] = (x[k] - ((s0 + s1) + (s2 + s3))) / row[k]
