r"""The exact solution of a hinge machine, and the least of its dual solutions, from one that is near.

::

    Primal:  min_{w, b}  1/2 |w|^2 + C sum_i s_i max(0, 1 - a_i'(b, w)),    a_i = y_i (1, H_i)
    Dual:    max_t  sum_i s_i t_i - 1/2 |sum_i y_i s_i t_i H_i|^2,  0 <= t_i <= C,  [sum_i y_i s_i t_i = 0]

with u_i = s_i t_i. The weights w are unique, u need not be: rows on the margin that depend on each other can
exchange theirs. The one of least ``sum_i s_i t_i^2 = sum_i u_i^2 / s_i`` does not hang on the order of the
samples, on the way a solver went, or on whether a sample is written twice or has weight 2.

Equal rows have equal t there: a distinct row is one unknown, with the sum of its s_i. With the term
``- delta / 2 sum_i s_i t_i^2`` the dual solution is unique. It tends to the one of least norm, and at some
small delta the rows at t = 0, between, and at t = C are those of the limit. So

1. the problem is solved at a small delta by the active-set method. The rows between their bounds are free,
   the Cholesky factor of their products is kept: move towards the optimum over them; a row that meets its
   bound leaves; at the optimum the row whose margin is most wrong becomes free;
2. in the limit free rows have margin 1, a linear system. Where they depend on each other, the part of t that
   changes nothing is projected off;
3. bounds and margins of all samples are verified. Where they fail, delta is made smaller.

Only rows near the margin take part in 1 and 2; those that were left out wrongly join in the next trial.

Where many more rows are free than there are columns (all those of the larger class, if w = 0 is optimal and
classes are unequal), both steps work in the columns: 1 is a hinge with curvatures delta / s_i, which Newton's
method solves after finitely many steps; in 2 a QR decomposition of the rows finds a basis, and with
u_free = (u_basis, u_others), the others being X' times the basis, the least norm at c = u_basis + X u_others
is S (1; X') l, (S_basis + X S_others X') l = c.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import lapack, qr

from kernsemble.masters.losses import FAST, BoxLoss
from kernsemble.masters.newton import NewtonSolver
from kernsemble.masters.rows import Rows, Span, solve_positive_definite

_START, _START_ROWS = 1e-1, 10.0  # relative gap to start from, at most and times the number of samples
_BAND = 2.0  # times the root of that gap: distance from the margin up to which rows take part
_OFF = 0.02  # distance from the margin at which they start at their bound
_DELTA, _SMALLER, _TRIALS = 1e-6, 0.1, 8  # times the largest t: how far margins of free rows may be from 1
_SLACK = 1e-10  # of margins, that is rounding
_BOUND = 1e-11  # of t relative to C, that is rounding
_RANK = 1e-8  # of a pivot relative to the largest, that is rounding
_REFINEMENTS = 3
_WRONG = 1e-10  # by so much a margin may be on the wrong side at small delta
_MANY, _WIDE = 500, 2  # free rows, and how many for a column, above which columns are worked in
_STEPS, _EXACT, _LIFT = 50, 1e-7, 1e-12  # of Newton's method; of its line search; of an intercept's curvature


class _Taken:
    """Inner products of rows, taken anew: those of a `Span` change otherwise than by a column."""

    def follow(self, A: np.ndarray, samples: np.ndarray) -> None:
        """Look at the rows near the margin."""
        self._rows = A

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Return the products of some rows, Fortran-ordered."""
        F = self._rows[rows]
        return (F @ F.T).T


class _Kept:
    """Inner products of the distinct rows near the margin, kept from one solve to the next.

    Mostly the same rows are near after one more column, which adds one term to their products.
    """

    def __init__(self, n_samples: int) -> None:
        self._place = np.full(n_samples, -1)  # of a sample in the matrix
        self._held = np.empty(0, dtype=np.int64)  # the sample in each place, -1 where there is none
        self._matrix = np.empty((0, 0))
        self._here = np.empty(0, dtype=np.int64)  # places of the rows near now
        self._n_columns = 0

    def follow(self, A: np.ndarray, samples: np.ndarray) -> None:
        """Let go rows that are not near any more, add what columns since then add, take in new rows."""
        self._let_go(samples)
        stay = self._place[samples] >= 0
        places = self._place[samples]
        for j in range(self._n_columns, A.shape[1]) if stay.any() else ():
            column = np.zeros(len(self._held))
            column[places[stay]] = A[stay, j]
            _add_outer(self._matrix, column)
        self._n_columns = A.shape[1]
        new = np.flatnonzero(~stay)
        if len(new):
            self._make_room(len(new))
            free = np.flatnonzero(self._held < 0)[: len(new)]
            self._held[free], self._place[samples[new]] = samples[new], free
            places[new] = free
            _fill(self._matrix, free, places, A[new] @ A.T)
        self._here = places

    def of(self, rows: np.ndarray) -> np.ndarray:
        """Return the products of some rows of ``A``, Fortran-ordered."""
        out = np.empty((len(rows), len(rows)))
        _gather(self._matrix, self._here[rows], out)
        return out.T

    def _let_go(self, samples: np.ndarray) -> None:
        near = np.zeros(len(self._place), dtype=bool)
        near[samples] = True
        gone = np.flatnonzero((self._held >= 0) & ~near[self._held])
        self._place[self._held[gone]] = -1
        self._held[gone] = -1

    def _make_room(self, count: int) -> None:
        size = len(self._held)
        missing = count - int((self._held < 0).sum())
        if missing > 0:
            grown = size + max(missing, size // 4)
            matrix = np.zeros((grown, grown))
            matrix[:size, :size] = self._matrix
            self._matrix, self._held = matrix, np.append(self._held, np.full(grown - size, -1))


def products_of(matrix: Rows) -> _Taken | _Kept:
    """Return what knows the inner products of rows near the margin, for `solve_exactly`."""
    return _Taken() if isinstance(matrix, Span) else _Kept(matrix.shape[0])


def solve_exactly(
    solver: NewtonSolver, products: _Taken | _Kept, y: np.ndarray, C: float, weight: np.ndarray, tol: float
) -> bool:
    """Move both points of a solver to the optimum, the dual one to that of least norm.

    The solver's is a hinge of labels y, with costs C times ``weight``, over any columns, with at most one
    leading column, of ones; its points are within the relative gap ``tol``. Return whether the optimum was
    verified; otherwise the points stay where they were.
    """
    u, margins, cost = solver.V * y, solver.f * y, C * weight
    band, share = _BAND * np.sqrt(tol), 1.0
    for trial in range(_TRIALS):
        settled = (_room(u, margins, cost) > band) | (weight == 0.0)
        near = np.flatnonzero(~settled)
        t, limit, x = _solve_near(solver, products, near, (u, margins, y, weight), C, share, trial == 0)
        if t is None:
            return False
        u[near] = (t if limit is None else limit) * weight[near]
        if limit is not None:
            points = _points(solver, u, y, cost, x)
            margins = points[1] * y
            room = _room(u, margins, cost)
            if np.all((room >= np.where(settled, _SLACK, -_SLACK)) | (weight == 0.0)):
                solver.take_points(*points)
                return True
        if limit is None or room[near].min(initial=0.0) < -_SLACK:
            share *= _SMALLER
    return False


def start_tol(n_samples: int) -> float:
    """Relative gap from which few rows are on the wrong side: each of them is a change of the active set."""
    return min(_START, _START_ROWS / n_samples)


def _room(u: np.ndarray, margins: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """How far margins are on the side where u belongs."""
    return np.where(u == 0.0, margins - 1.0, np.where(u == cost, 1.0 - margins, -np.abs(margins - 1.0)))


def _solve_near(solver, products, near, samples, C, share, is_first):
    """Return t of the rows near the margin, at a small delta and in the limit; None where there is none."""
    u, margins, y, weight = samples
    rows, g = solver.matrix.floats(near) * y[near, None], solver.matrix.n_leading
    first, group = _distinct(rows)
    s, A, v = np.bincount(group, weights=weight[near]), rows[first], u * y
    v[near] = 0.0
    pull, t = solver.matrix.combine(v), np.bincount(group, weights=u[near]) / s
    if is_first:
        t = _settle(A, g, s, C, t, margins[near[first]])
    t[t <= _BOUND * C], t[t >= (1.0 - _BOUND) * C] = 0.0, C
    delta, free = share * _DELTA / (float(t.max(initial=0.0)) or 1.0), np.flatnonzero((t > 0.0) & (t < C))
    found = _by_columns(A, g, s, C, pull, delta, solver.x) if _is_wide(A[free]) else None
    if found is None or not _is_wide(A[found[1]]):
        products.follow(A, near[first])
    if found is None:
        n_free, free = _active_set(A, products, g, s, C, t, pull, delta, free)
        if n_free < 0:
            return None, None, None
        found = t, np.sort(free[:n_free])
    t, free = found
    limit, x = _limit(A, products, g, s, C, t, pull, free)
    return t[group], None if limit is None else limit[group], x


def _is_wide(rows: np.ndarray) -> bool:
    return len(rows) > max(_MANY, _WIDE * rows.shape[1])


def _by_columns(A, g, s, C, pull, delta, x):
    """Optimum at delta by Newton's method, from x: t and the free rows; None without success."""
    loss = BoxLoss(np.ones(len(A)), np.zeros(len(A)), C * s, 0.0, delta / s).sharp()
    metric = np.ones(len(x))
    metric[:g] = 0.0
    f = A @ x
    u = loss.weights(f)
    for _ in range(_STEPS):
        free, gradient = loss.free(u), metric * x - pull - A.T @ u
        F, slope = A[free], loss.slope[free]
        matrix = (F * slope[:, None]).T @ F + np.diag(metric)
        matrix[:g, :g] += _LIFT * (1.0 + float(slope.sum()))
        step = solve_positive_definite(matrix, -gradient)
        along = A @ step
        length = loss.search(f, along, float((metric * x - pull) @ step), float(metric @ step**2), _EXACT)
        x, f, before = x + length * step, f + length * along, u
        u = loss.weights(f)
        if length == 1.0 and np.array_equal(_side(u, loss.upper), _side(before, loss.upper)):
            return u / s, loss.free(u)
    return None


def _side(u, upper):
    """0 at the lower bound, 1 between, 2 at the upper bound."""
    return (u > 0.0).astype(np.int8) + (u >= upper)


def _settle(A, g, s, C, t, margins):
    """Move t of rows off the margin to the bound of their side; others make up for it if they can."""
    moved, off = t.copy(), np.abs(margins - 1.0) > _OFF
    moved[off] = np.where(margins[off] > 1.0, 0.0, C)
    if g:
        excess, y = float(A[:, 0] @ (s * (moved - t))), A[:, 0]
        room = np.where(off, 0.0, s * np.where(y * excess > 0.0, t, C - t))
        if room.sum() <= abs(excess):
            return t
        moved -= np.sign(excess) * abs(excess) / room.sum() * y * room / s
    return moved


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First positions of the distinct rows, in their order, and which of them each row is."""
    hashes = np.empty(len(rows), dtype=np.uint64)
    _hash(rows.view(np.uint64), hashes)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[group]


def _points(solver, u, y, cost, x):
    """Return x, scores, V and A'V; an intercept that no row determines is in the middle."""
    V, g = u * y, solver.matrix.n_leading
    combined = solver.matrix.combine(V)
    if x is None:
        x = combined.copy()
        x[:g] = 0.0
        if g:
            offset = y - solver.matrix.scores(x)
            up, down = np.where(y > 0.0, u < cost, u > 0.0), np.where(y > 0.0, u > 0.0, u < cost)
            low, high = offset[up].max(initial=-np.inf), offset[down].min(initial=np.inf)
            x[0] = 0.5 * (low + high) if np.isfinite(low + high) else (low if np.isfinite(low) else high)
    return x, solver.matrix.scores(x), V, combined


def _factor(F, products, free):
    """Lower factor (n_free, rank) of the rows' products in an order, basis first; the order, and the rank."""
    if _is_wide(F):
        factor, order = qr(F.T, mode="r", pivoting=True)
        pivots = np.abs(np.diag(factor))
        rank = int(np.sum(pivots**2 > _RANK * pivots[0] ** 2))
        return np.asfortranarray(factor[:rank].T), order, rank
    square = products.of(free)
    largest = square.diagonal().max(initial=0.0)
    factor, pivots, rank, _ = lapack.dpstrf(square, tol=_RANK * largest, lower=1, overwrite_a=1)
    return factor[:, :rank], pivots - 1, rank


def _limit(A, products, g, s, C, t, pull, free):
    """Solve at delta = 0 on these sets; None if t leaves its bounds."""
    out = t.copy()
    out[free] = 0.0
    F, u = A[free], s[free] * t[free]
    theta, b = pull + A.T @ (s * out) + F.T @ u, 0.0
    factor, order, rank = _factor(F, products, free)
    basis, others = order[:rank], order[rank:]
    if rank:
        L, B = factor[:rank], F[basis]
        ones = B[:, 0] if g else np.zeros(rank)
        for _ in range(_REFINEMENTS):
            rhs = np.column_stack([1.0 - B @ theta - b * ones, ones])
            step, along = lapack.dpotrs(L, rhs, lower=1)[0].T
            if g:
                change = float(ones @ step + theta[0]) / float(ones @ along)
                b, step = b + change, step - change * along
            u[basis] += step
            theta += B.T @ step  # has more digits than the sum of all rows
        theta[:g] = b
    if len(others):  # their rows are those of the basis times X': [-X; 1] changes nothing
        X, own = lapack.dtrtrs(L, factor[rank:].T, lower=1, trans=1)[0], s[free]
        if _is_wide(F):
            normal = np.diag(own[basis]) + (X * own[others]) @ X.T
            along = solve_positive_definite(normal, u[basis] + X @ u[others])
            u[order] = own[order] * np.append(along, X.T @ along)
        else:
            inverse = 1.0 / own
            normal = (X.T * inverse[basis]) @ X + np.diag(inverse[others])
            step = np.linalg.solve(normal, inverse[others] * u[others] - X.T @ (inverse[basis] * u[basis]))
            u[others] -= step
            u[basis] += X @ step
    out[free] = u / s[free]
    if np.any(out < -_BOUND * C) or np.any(out > (1.0 + _BOUND) * C):
        return None, None
    return np.clip(out, 0.0, C), theta if rank else None


def _active_set(A, products, g, s, C, t, pull, delta, free):
    """Optimum at delta, t in place; the number of free rows, -1 without success, and the rows."""
    size, n = len(free), len(A)
    L, places = np.empty((n, n)), np.empty(n, dtype=np.int64)
    places[:size] = free
    square = products.of(free)
    square[np.diag_indices(size)] += delta / s[free]
    factor, failed = lapack.dpotrf(square, lower=1, overwrite_a=1)
    if failed:
        return -1, places
    L[:size, :size] = factor
    theta = pull + A.T @ (s * t)
    return _exchange(A, g, s, C, t, theta, delta, L, places, size, 20 * n + 100), places


@njit(cache=True)
def _add_outer(matrix, column):
    for i in range(len(column)):
        row, factor = matrix[i], column[i]
        if factor != 0.0:
            for j in range(len(column)):
                row[j] += factor * column[j]


@njit(cache=True)
def _fill(matrix, new, places, products):
    """Write the products of new rows with all, on both sides."""
    for i in range(len(new)):
        for j in range(len(places)):
            matrix[new[i], places[j]] = products[i, j]
            matrix[places[j], new[i]] = products[i, j]


@njit(cache=True)
def _gather(matrix, places, out):
    """Copy a principal part of the matrix."""
    for i in range(len(places)):
        row = matrix[places[i]]
        for j in range(len(places)):
            out[i, j] = row[places[j]]


@njit(cache=True)
def _hash(bits, out):
    for i in range(len(out)):
        total = np.uint64(14695981039346656037)
        for j in range(bits.shape[1]):
            total = (total ^ bits[i, j]) * np.uint64(1099511628211)
            total ^= total >> np.uint64(29)
        out[i] = total


@njit(cache=True, fastmath=FAST)
def _dot(a, b, n):
    total = 0.0
    for j in range(n):
        total += a[j] * b[j]
    return total


@njit(cache=True, fastmath=FAST)
def _add(a, b, factor, n):
    for j in range(n):
        a[j] += factor * b[j]


@njit(cache=True)
def _append(L, size, A, free, row, shift):
    """Border the factor by a row."""
    m, new = A.shape[1], L[size]
    for k in range(size):
        new[k] = (_dot(A[free[k]], A[row], m) - _dot(L[k], new, k)) / L[k, k]
    square = _dot(A[row], A[row], m) + shift - _dot(new, new, size)
    new[size] = np.sqrt(max(square, 0.5 * shift))
    free[size] = row


@njit(cache=True)
def _delete(L, size, free, q):
    """Take the row in place q out of the factor, by rotations."""
    cosine, sine = np.empty(size), np.empty(size)
    for i in range(q, size - 1):
        free[i] = free[i + 1]
        row, below = L[i], L[i + 1]
        for k in range(q):
            row[k] = below[k]
        left = below[q]
        for k in range(q, i):
            row[k] = cosine[k] * left + sine[k] * below[k + 1]
            left = cosine[k] * below[k + 1] - sine[k] * left
        length = np.hypot(left, below[i + 1])
        cosine[i], sine[i], row[i] = left / length, below[i + 1] / length, length


@njit(cache=True)
def _step(L, size, A, g, free, residual, d, work):
    """Newton step d of the free rows' u, and the intercept it leads to."""
    b = 0.0
    for k in range(size):
        d[k] = (residual[k] - _dot(L[k], d, k)) / L[k, k]
    if g:
        for k in range(size):
            work[k] = (A[free[k], 0] - _dot(L[k], work, k)) / L[k, k]
        b = _dot(d, work, size) / _dot(work, work, size)
        _add(d, work, -b, size)
    for k in range(size - 1, -1, -1):
        d[k] /= L[k, k]
        _add(d, L[k], -d[k], k)
    return b


@njit(cache=True)
def _residual(A, g, t, theta, delta, i):
    """``1 - a_i'w - delta t_i``, without the intercept."""
    return 1.0 - _dot(A[i, g:], theta[g:], A.shape[1] - g) - delta * t[i]


@njit(cache=True)
def _pair(A, g, C, t, theta, delta):
    """The two rows that ask for the most different intercepts, and can move towards each other."""
    low, high, up, down = -np.inf, np.inf, -1, -1
    for i in range(len(t)):
        asked = A[i, 0] * _residual(A, g, t, theta, delta, i)
        if t[i] != (C if A[i, 0] > 0.0 else 0.0) and asked > low:
            low, up = asked, i
        if t[i] != (0.0 if A[i, 0] > 0.0 else C) and asked < high:
            high, down = asked, i
    return (up, down) if low > high + _WRONG else (-1, -1)


@njit(cache=True)
def _move(A, s, C, t, theta, free, size, d):
    """Move along d up to the first bound; return the share of d, and the place of the row there or -1."""
    length, q = 1.0, -1
    for k in range(size):
        room = s[free[k]] * (C - t[free[k]] if d[k] > 0.0 else t[free[k]])
        if room < length * abs(d[k]):
            length, q = room / abs(d[k]), k
    for k in range(size):
        i = free[k]
        t[i] = min(max(t[i] + length * d[k] / s[i], 0.0), C)
        _add(theta, A[i], length * d[k], len(theta))
    if q >= 0:
        t[free[q]] = C if d[q] > 0.0 else 0.0
    return length, q


@njit(cache=True)
def _most_wrong(A, g, t, theta, delta, b, is_free):
    """The row whose margin is most on the wrong side of its bound; -1 if none is."""
    worst, found = _WRONG, -1
    for i in range(len(t)):
        if not is_free[i]:
            r = _residual(A, g, t, theta, delta, i) - (b * A[i, 0] if g else 0.0)
            r = r if t[i] == 0.0 else -r
            if r > worst:
                worst, found = r, i
    return found


@njit(cache=True)
def _enter(L, size, A, g, s, t, theta, delta, free, row, residual, is_free):
    """Make a row free."""
    _append(L, size, A, free, row, delta / s[row])
    is_free[row], residual[size] = True, _residual(A, g, t, theta, delta, row)
    return size + 1


@njit(cache=True)
def _exchange(A, g, s, C, t, theta, delta, L, free, size, max_changes):
    """The active-set method; return the number of free rows, -1 if it needs too many changes."""
    n = len(A)
    d, work, residual, is_free = np.empty(n), np.empty(n), np.empty(n), np.zeros(n, dtype=np.bool_)
    for k in range(size):
        is_free[free[k]], residual[k] = True, _residual(A, g, t, theta, delta, free[k])
    b = 0.0
    for _ in range(max_changes):
        if size > g:
            b = _step(L, size, A, g, free, residual, d, work)
            length, q = _move(A, s, C, t, theta, free, size, d)
            for k in range(size):
                residual[k] -= length * (residual[k] - (b * A[free[k], 0] if g else 0.0))
            if q >= 0:
                is_free[free[q]] = False
                _delete(L, size, free, q)
                for k in range(q, size - 1):
                    residual[k] = residual[k + 1]
                size -= 1
                continue
        if g and size <= 1:
            if size == 0 or not 0.0 < t[free[0]] < C:
                for k in range(size):
                    is_free[free[k]] = False
                up, down = _pair(A, g, C, t, theta, delta)
                if up < 0:
                    return 0
                size = _enter(L, 0, A, g, s, t, theta, delta, free, up, residual, is_free)
                size = _enter(L, size, A, g, s, t, theta, delta, free, down, residual, is_free)
                continue
            b = residual[0] * A[free[0], 0]
        row = _most_wrong(A, g, t, theta, delta, b, is_free)
        if row < 0:
            return size
        size = _enter(L, size, A, g, s, t, theta, delta, free, row, residual, is_free)
    return -1
