r"""Box- and sum-constrained quadratic programs, the common dual of kernel machines.

    min_beta  1/2 beta' K beta - y' beta    s.t.  sum_i beta_i = 0,  lower_i <= beta_i <= upper_i

with the gradient ``E = K beta - y`` carried along. At the optimum no pair violates: an index that may rise
never has a smaller E than one that may fall, up to ``tol`` (the maximal violating pair of LIBSVM).

Two kinds of steps alternate. PAIR steps are sequential minimal optimization with second-order selection
(Fan, Chen and Lin 2005): cheap, and they find the bounds. SUBSPACE steps minimize over all free variables at
once by a Cholesky factor; a variable that meets its bound leaves the factor, until the minimum lies inside.
Where C is large and classes overlap, they do in milliseconds what takes 10^5 pair steps. Work is counted in
multiplications, so that no result depends on a clock: subspace steps may never take more than ``SHARE`` of
what the pair steps took. Both only descend: the pair steps alone ensure convergence.

Steps run within a BLOCK of samples, the free ones and about as many of the worst violators, whose square of K
lies together in memory. When the violation inside has fallen to a tenth of that outside, the gradient of all
samples is brought up to date, by the rows of those that moved, and the next block is chosen. So a row is read
some ten times, where pair steps over all samples read it hundreds of times.

K needs to be positive semi-definite on the vectors that sum to zero only, as distance kernels are.

Blocks of more than ``SMALL`` samples are solved in single precision first. What that loses does not stay: the
multipliers, and the gradient outside, are in double precision, the violation is measured there, and a block
whose rounding comes near its aim is the last one of its kind.

All sums run in one fixed order: no result depends on the number of threads or the width of vector registers.
Extremes are searched among the bits read as integers: floating-point comparisons, which must respect NaN, are
not vectorized.
"""

from __future__ import annotations

from threading import Event

import numpy as np
from numba import njit

from kernsemble.masters.kernel_rows import Rows, add_rows

SHUT = 1e200  # added to the gradient of an index that cannot move
PAIR_WORK = 8.0  # of a pair step for each sample, in multiplications
SHARE = 0.25  # of the work of the pair steps, which is what subspace steps may take
QUANTUM = 5e8  # multiplications between two looks for an interrupt: a fifth of a second
WHOLE = 1024  # samples up to which all are one block
SMALL = 512  # samples of a block up to which it is solved in double precision, and of the first block
AIM = 0.1  # violation at which a block is left, in units of the violation outside
FINEST_SINGLE = 1e-4  # tol from which on blocks are solved in single precision
SINGLE_RANGE = (1e-6, 1e6)  # mean curvatures for which they are
SINGLE_DIGIT = 1e-6  # of a gradient in single precision, after rounding
SINGLE_TINY = 1e6  # TINY of single precision, in units of that of double precision
DRIFT = 0.25  # rounding of a gradient in single precision, in units of the aim, that sends it back to double
TINY = 1e-12  # curvature below which two samples count as one, in units of the mean curvature, as in LIBSVM
MAGNITUDE = np.int64(0x7FFFFFFFFFFFFFFF)  # all bits but the sign
LANES = 128  # numbers that are searched at once


def minimize(
    rows: Rows,
    lower: np.ndarray,
    upper: np.ndarray,
    beta: np.ndarray,
    E: np.ndarray,
    tol: float,
    max_iter: int,
    halt: Event | None = None,
) -> tuple[int, int, float]:
    """Minimize in place from a feasible beta with gradient E; return (pair, subspace steps, violation).

    The steps hold no lock: several problems may be solved in as many threads. They end soon after ``halt``
    is set, wherever they are.
    """
    scale = _scale(rows)
    steps = Steps(TINY * scale, max_iter, halt)
    movable = np.flatnonzero(lower < upper)
    single = tol >= FINEST_SINGLE and SINGLE_RANGE[0] < scale < SINGLE_RANGE[1]
    while True:
        low, high = extremes(lower, upper, beta, E)
        if high - low <= tol or steps.exhausted():
            break
        block = _block(movable, lower, upper, beta, E, low, high, rows.most)
        single = single and np.abs(E).max() * SINGLE_DIGIT <= tol
        real = np.float32 if single and block.size > SMALL else np.float64
        whole, last = block.size == movable.size, block.size == movable.size and real is np.float64
        aim = tol if last else 0.5 * tol if whole else max(0.5 * tol, AIM * (high - low))
        b, e = beta[block], E[block].astype(real)
        violation = steps.solve(
            rows.square(block, real), rows.diagonal[block].astype(real), lower[block], upper[block], b, e, aim
        )
        change = b - beta[block]
        moved = np.flatnonzero(change)
        beta[block] = b
        if last and block.size == E.size:
            E[:] = e
        else:
            rows.add(E, block[moved], change[moved])
        if last:
            return steps.pairs, steps.subspaces, violation
        if real is np.float32:
            single = moved.size > 0 and np.abs(E[block] - e).max() <= DRIFT * aim
        elif not moved.size:
            break
    return steps.pairs, steps.subspaces, high - low


class Steps:
    """Counts of the steps and of their work, and the solver of one block."""

    def __init__(self, tiny: float, max_iter: int, halt: Event | None):
        self.tiny, self.max_iter, self.halt = tiny, max_iter, halt
        self.pairs = self.subspaces = 0
        self.credit = 0.0  # work that subspace steps may do

    def exhausted(self) -> bool:
        """Whether no further step may be taken."""
        return self.pairs >= self.max_iter or (self.halt is not None and self.halt.is_set())

    def solve(self, K, diagonal, lower, upper, beta, E, tol) -> float:
        """Minimize in place over one block; return the violation that is left."""
        n, violation = E.size, np.inf
        work = np.empty((3, n), E.dtype)
        length = 2 * n + 50
        while not self.exhausted():
            violation = self._pairs(K, diagonal, lower, upper, beta, E, work, tol, length)
            if violation <= tol:
                break
            if not self._subspace(K, lower, upper, beta, E):
                length *= 2
        return violation

    def _pairs(self, K, diagonal, lower, upper, beta, E, work, tol, length) -> float:
        """At most ``length`` pair steps, a portion at a time; return the violation that is left."""
        violation, bits = np.inf, work.view(np.int32 if E.dtype == np.float32 else np.int64)
        tiny = E.dtype.type(self.tiny if E.dtype == np.float64 else SINGLE_TINY * self.tiny)
        portion = max(1, int(QUANTUM / (PAIR_WORK * E.size)))
        while length > 0 and violation > tol and not self.exhausted():
            budget = min(length, portion, self.max_iter - self.pairs)
            taken, violation = _pair_steps(
                K, diagonal, lower, upper, beta, E, work, bits, float(tol), tiny, budget
            )
            self.pairs, violation = self.pairs + taken, float(violation)
            length -= budget
            self.credit += SHARE * PAIR_WORK * taken * E.size
        return violation

    def _subspace(self, K, lower, upper, beta, E) -> bool:
        """Minimize over the free variables as far as the credit reaches; return whether the minimum was met.

        One that meets its bound leaves, until none does.
        """
        free = np.flatnonzero((lower < beta) & (beta < upper))
        if free.size < 2:
            return True
        if free.size**3 / 3.0 + _step_work(free.size, E.size) > self.credit:
            return False
        U, size = _factor(K, free)
        self.credit -= free.size**3 / 3.0
        work, reached = np.empty((3, E.size)), False
        while not (reached or self.exhausted()) and self.credit > 0.0:
            portion = min(self.credit, QUANTUM)
            taken, size, reached, left = _descend(K, lower, upper, beta, E, U, free, size, work, portion)
            self.subspaces += taken
            self.credit -= portion - left
        return reached


def _step_work(size: int, n: int) -> float:
    """Multiplications of a subspace step."""
    return size * (2.0 * n + 7.0 * size)


def _scale(rows: Rows) -> float:
    """Mean curvature between the first sample and the others; 1 where there is none."""
    if not rows.diagonal.size:
        return 1.0
    first = np.zeros(rows.diagonal.size)
    rows.add(first, np.zeros(1, np.intp), np.ones(1))
    scale = float(np.mean(np.abs(rows.diagonal + rows.diagonal[0] - 2.0 * first)))
    return scale if scale > 0.0 else 1.0


def extremes(lower: np.ndarray, upper: np.ndarray, beta: np.ndarray, E: np.ndarray) -> tuple[float, float]:
    """Smallest gradient of an index that may rise, and largest of one that may fall."""
    low = np.min(E, where=beta < upper, initial=SHUT)
    return float(low), float(np.max(E, where=beta > lower, initial=-SHUT))


def _block(movable, lower, upper, beta, E, low, high, most) -> np.ndarray:
    """The free variables and about as many of the worst violators of either side, ties in order of index."""
    if movable.size <= min(WHOLE, most):
        return movable
    free = np.flatnonzero((lower < beta) & (beta < upper))
    size = min(most, max(SMALL, movable.size // 4, 2 * free.size))
    rising = np.flatnonzero((beta < upper) & (high > E))
    falling = np.flatnonzero((beta > lower) & (low < E))
    chosen = np.zeros(E.size, np.bool_)
    chosen[rising[np.argsort(E[rising], kind="stable")[: size // 2]]] = True
    chosen[falling[np.argsort(-E[falling], kind="stable")[: size // 2]]] = True
    rest = free[~chosen[free]]
    chosen[rest[: size - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


@njit(cache=True, nogil=True, error_model="numpy")
def _pair_steps(K, diagonal, lower, upper, beta, E, work, bits, tol, tiny, budget):
    """At most ``budget`` pair steps; return their number and the violation that is left."""
    n, zero, shut = E.size, E.dtype.type(0.0), E.dtype.type(SHUT)
    rise, fall, value, value_bits = work[0], work[1], work[2], bits[2]
    for k in range(n):
        rise[k] = zero if beta[k] < upper[k] else shut
        fall[k] = zero if beta[k] > lower[k] else shut
    i, j, t = 0, 0, 0.0
    for step in range(budget + 1):
        row_i, row_j, move = K[i], K[j], E.dtype.type(t)
        for k in range(n):
            E[k] += move * (row_i[k] - row_j[k])
            value[k] = E[k] + rise[k]
        i = _smallest(value_bits)
        low, row_i, diagonal_i = value[i], K[i], diagonal[i]
        for k in range(n):
            excess = (E[k] - fall[k]) - low
            excess = excess if excess > zero else zero
            curvature = (diagonal_i + diagonal[k]) - (row_i[k] + row_i[k])
            value[k] = excess * excess / (curvature if curvature > tiny else tiny)
        j = _largest(value_bits)
        if step == budget or E[j] - low <= tol or value[j] <= zero:
            high = _highest(E, fall)
            if step == budget or high - low <= tol:
                return step, high - low
        curvature = (diagonal_i + diagonal[j]) - (row_i[j] + row_i[j])
        t = np.float64(E[j] - E[i]) / np.float64(curvature if curvature > tiny else tiny)
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        t = min(t, min(room_i, room_j))
        beta[i] = upper[i] if t == room_i else beta[i] + t
        beta[j] = lower[j] if t == room_j else beta[j] - t
        rise[i], fall[i] = (zero if beta[i] < upper[i] else shut), zero
        rise[j], fall[j] = zero, (zero if beta[j] > lower[j] else shut)
    return budget, E[0] - E[0]


@njit(cache=True, nogil=True)
def _smallest(bits):
    """First index of the smallest of the floating-point numbers with these bits."""
    whole = bits.dtype.type
    magnitude, zero = whole(MAGNITUDE >> (64 - 8 * bits.itemsize)), whole(0)
    least = magnitude
    for k in range(bits.size):
        key = (
            whole(bits[k] ^ magnitude) if bits[k] < zero else bits[k]
        )  # negative numbers are in order, flipped
        least = key if key < least else least
    return _first(bits, whole(least ^ magnitude) if least < zero else least)


@njit(cache=True, nogil=True)
def _largest(bits):
    """First index of the largest of the non-negative floating-point numbers with these bits."""
    whole = bits.dtype.type
    most = whole(0)
    for k in range(bits.size):
        most = bits[k] if bits[k] > most else most
    return _first(bits, most)


@njit(cache=True, nogil=True)
def _first(bits, wanted):
    """First index of these bits, which are there."""
    for start in range(0, bits.size, LANES):
        part = bits[start : min(start + LANES, bits.size)]
        found = 0
        for k in range(part.size):
            found += part[k] == wanted
        if found:
            for k in range(part.size):
                if part[k] == wanted:
                    return start + k
    return 0


@njit(cache=True, nogil=True)
def _highest(E, fall):
    """Maximum of the gradient over the indices that may fall."""
    high = E[0] - fall[0]
    for k in range(1, E.size):
        high = max(high, E[k] - fall[k])
    return high


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(K, lower, upper, beta, E, U, free, size, work, effort):
    """Newton steps over the free variables of a factor, to the minimum or the first bound each.

    Return their number, the variables that are left, whether the minimum was met, and the effort left.
    """
    change, direction, steps = work[0], work[1], 0
    while size > 1 and effort > 0.0:
        steps += 1
        effort -= size * (2.0 * E.size + 7.0 * size)
        _newton_direction(U, E, free, size, direction, work[2])
        for k in range(E.size):
            change[k] = 0.0
        add_rows(change, K, free, direction, size, np.int64(0))
        t, first = _step_length(lower, upper, beta, E, change, free, size, direction)
        if t <= 0.0:
            return steps, size, True, effort
        for a in range(size):
            i = free[a]
            beta[i] = min(max(beta[i] + t * direction[a], lower[i]), upper[i])
        for k in range(E.size):
            E[k] += t * change[k]
        if first < 0:
            return steps, size, True, effort
        i = free[first]
        beta[i] = upper[i] if direction[first] > 0.0 else lower[i]
        _delete(U, free, first, size, work[2])
        size -= 1
    return steps, size, size < 2, effort


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


def _factor(K: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, int]:
    """Cholesky factor A = U' U of K over the free variables; return it and how many it keeps.

    The numerically independent are kept, and moved to the front of ``free``. A equals K on vectors that sum
    to zero, and is positive definite where K is only conditionally so: distances are taken from the first
    free variable, and a constant of their size is added.
    """
    m, r = free.size, free[0]
    U, order, kept, factor = np.empty((m, m)), np.arange(m), np.empty(m, np.int64), np.empty(m)
    diagonal = K.diagonal()[free]
    top = float(np.max(diagonal - 2.0 * K[r, free] + K[r, r]))
    least = top * (1e-11 if K.dtype == np.float64 else 1e-5)  # of a pivot that is no rounding
    size, begin = 0, 0
    while begin < m:
        end = min(m, begin + max(1, int(QUANTUM / m**2)))
        size = _factor_rows(K, free, U, order, kept, factor, top, least, size, begin, end)
        begin = end
    _compact(U, free, kept, size)
    return U, size


@njit(cache=True, nogil=True, error_model="numpy")
def _factor_rows(K, free, U, order, kept, factor, top, least, size, begin, end):
    """Rows ``begin`` to ``end`` of the factor, after ``size`` others; return how many there are now."""
    m, r = free.size, free[0]
    for a in range(begin, end):
        i, row = free[a], U[size]
        for b in range(a, m):
            j = free[b]
            row[b] = ((K[i, j] - K[i, r]) - (K[j, r] - K[r, r])) + top
        for k in range(size):
            factor[k] = -U[k, a]
        add_rows(row, U, order, factor, np.int64(size), np.int64(a))
        if row[a] > least:
            root = np.sqrt(row[a])
            for b in range(a, m):
                row[b] /= root
            kept[size] = a
            size += 1
    return size


@njit(cache=True, nogil=True)
def _compact(U, free, kept, size):
    """Move the kept variables and their columns to the front."""
    for a in range(size):
        free[a] = free[kept[a]]
        for b in range(a, size):
            U[a, b] = U[a, kept[b]]


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
