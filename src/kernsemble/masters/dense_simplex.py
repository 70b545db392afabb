r"""A dual simplex for linear programs with many hinges and few columns, dense and compiled.

::

    min_w  sum_j p_j |w_j| + sum_i c_i max(0, t_i - a_i'w)          [w_j >= 0 where ``positive``]
    max_u  sum_i t_i u_i,   0 <= u_i <= c_i,   sum_i u_i a_ij <= p_j   [|.| <= p_j where w_j is free]

A vertex is a set F of k rows at their kink (a_i'w = t_i) and a set S of k columns with a weight: the matrix
B = A_FS is all that there is to invert, k x k with k at most the number of columns. The other rows are ABOVE
their target (u_i = 0) or BELOW it (u_i = c_i); w = B^-1 t_F, and u_F = B^-T (p_S - ``held_S``), where held_j
is the score that the rows below give to column j.

Seen from w, a pivot is a step downhill on a convex piecewise linear function: a row of F whose u_i left its
box is let go, or a column whose score exceeds p_j is taken in; the step follows that edge past every kink up
to the one where the slope turns (the long step, or bound flipping), which a selection finds without sorting.
Of all edges the steepest is taken: slope over length, the lengths being the norms of B^-1's columns.

Cost of a pivot: one product of the rows with a direction (rows x columns), and four passes over B^-1 (k x k).

Ties. Where thousands of rows lie on their kinks (equal rows; a constant f = 1), steps have length zero, and
may go round in circles. Such rows are then shifted away from their kinks, on their side, by small numbers of
no pattern. B and u do not know of shifts, so the vertex that is optimal with them is so without, but for rows
nearer than a shift, which the next run settles.

Everything works in place on the arrays of ``Problem`` and ``Vertex``; S, F are ``columns[:k]``, ``rows[:k]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kernsemble.masters.losses import FAST

ABOVE, BELOW, KINK = np.arange(3, dtype=np.int8)  # sides of a row
OPTIMAL, UNBOUNDED, UNFINISHED, DRIFTED = 0, 1, 2, 3  # how a run ends
_TOL = 1e-10  # relative violation of a bound that counts
_ROUNDING = 1e-14  # of a sum, relative to its largest term
_LEAST_PIVOT = 1e-9  # relative to the largest of its kind
_LEAST_ALONG = 1e-11  # what an edge does to a row, relative to its largest weight: less is rounding
_DRIFT = 1e-8  # what an edge does to rows that it should not move, beyond which B^-1 must be made anew
_WALL = 1e300  # kink of a weight that must not change its sign
_FLAT = 1e-12  # share of the slope that rounding may leave behind the last kink
_STALL = 5  # steps of length zero after which rows at their kinks are shifted
_TIE = 1e-9  # slack, relative to the largest target, of such a row
_SHIFT = 1e-7  # how far, likewise
# Steps of a pivot are called from compiled code only; without wrappers they compile in two thirds of the time
_step = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
_fast = njit(cache=True, fastmath=FAST, no_cpython_wrapper=True, no_cfunc_wrapper=True)


class Problem(NamedTuple):
    """Rows and columns of the program."""

    A: np.ndarray  # (n_rows, n_columns), int8 or float64: signed rows a_i
    upper: np.ndarray  # c_i > 0
    cost: np.ndarray  # p_j
    positive: np.ndarray  # where w_j >= 0
    noise: float  # rounding of ``held``, an absolute number
    unit: float  # largest target


class Vertex(NamedTuple):
    """A vertex, changed in place: three arrays over the rows and columns, then F, S and B^-1."""

    slack: np.ndarray  # t_i - a_i'w
    side: np.ndarray  # ABOVE, BELOW or KINK, int8
    weights: np.ndarray  # w
    sign: np.ndarray  # that w_j has or had last
    held: np.ndarray  # scores given by the rows below
    place: np.ndarray  # position of a column in S; -1 outside
    rows: np.ndarray  # F, room for n_columns + 1
    columns: np.ndarray  # S, likewise
    inverse: np.ndarray  # B^-1, entry (position in S, position in F)
    size: np.ndarray  # (k,)
    shifted: np.ndarray  # (1,), whether slacks were shifted: those of S, and w, are then to be computed anew


class _Room(NamedTuple):
    """Scratch: dual weights and norms of F; right side; scores; B^-1 b and a'B^-1; the edge; its kinks."""

    u: np.ndarray
    norms: np.ndarray
    rhs: np.ndarray
    scores: np.ndarray
    x: np.ndarray
    y: np.ndarray
    direction: np.ndarray
    along: np.ndarray
    steps: np.ndarray
    jumps: np.ndarray
    ids: np.ndarray


def minimize(problem: Problem, vertex: Vertex, limit: int) -> tuple[int, int]:
    """Pivot until the vertex is optimal; return the number of pivots, and how the run ended."""
    n, J = problem.A.shape
    by_column = [np.zeros(J + 1) for _ in range(7)]
    kinks = np.zeros(n + J), np.zeros(n + J), np.zeros(n + J, dtype=np.int64)
    return _run(problem, vertex, _Room(*by_column, np.zeros(n), *kinks), limit)


@njit(cache=True)
def _run(problem, vertex, room, limit):
    n, stalled = len(room.along), 0
    for n_pivots in range(limit):
        _price(problem, vertex, room)
        leaving, steepness = _worst_row(problem, vertex, room)
        entering = _entering(problem, vertex, room, steepness)
        if entering < 0 and leaving < 0:
            return n_pivots, OPTIMAL
        if entering >= 0:
            leaving = -1
        slope = _edge(problem, vertex, room, leaving, entering)
        if _drift(vertex, room, leaving) > _DRIFT:
            return n_pivots, DRIFTED
        n_kinks = _kinks(problem, vertex, room)
        last = _turn(room.steps, room.jumps, room.ids, n_kinks, slope)
        if last < 0:
            return n_pivots, UNBOUNDED
        stalled = stalled + 1 if room.steps[last] <= 0.0 else 0
        if stalled > _STALL:
            _shift(problem, vertex)
            stalled = 0
        _move(problem, vertex, room, last)
        who = room.ids[last]  # the row, or n plus the place of the column, that stopped the step
        if leaving >= 0:
            change_side(problem, vertex, vertex.rows[leaving], ABOVE if room.u[leaving] < 0.0 else BELOW)
        if who < n:
            change_side(problem, vertex, who, KINK)
            vertex.slack[who] = 0.0
            _row_comes(problem, vertex, room, leaving, entering, who)
        else:
            stopped = vertex.columns[who - n]
            vertex.weights[stopped], vertex.sign[stopped], vertex.place[stopped] = 0.0, 1.0, -1
            _column_goes(vertex, room, leaving, entering, who - n)
    return limit, UNFINISHED


@_step
def _shift(problem, vertex):
    """Move rows at their kinks away from them, each by another length: steps get lengths again."""
    vertex.shifted[0] = True
    for i in range(len(vertex.slack)):
        if vertex.side[i] != KINK and abs(vertex.slack[i]) <= _TIE * problem.unit:
            length = _SHIFT * problem.unit * (1.0 + (i * 40503 + 12345) % 65536 / 65536)
            vertex.slack[i] = length if vertex.side[i] == BELOW else -length


@_fast
def _price(problem, vertex, room):
    """Dual weights of F, and the norms of the edges along which its rows are let go."""
    k = vertex.size[0]
    for f in range(k):
        room.u[f] = 0.0
        room.norms[f] = 0.0
    for s in range(k):
        j = vertex.columns[s]
        value = problem.cost[j] * vertex.sign[j] - vertex.held[j]
        room.rhs[s] = value
        row = vertex.inverse[s]
        for f in range(k):
            room.u[f] += value * row[f]
            room.norms[f] += row[f] * row[f]


@_step
def _worst_row(problem, vertex, room):
    """Position in F of the row let go along the steepest edge, and its squared slope over length; or -1."""
    k = vertex.size[0]
    largest, rhs = 0.0, 0.0
    for f in range(k):
        largest = max(largest, abs(room.u[f]))
        rhs = max(rhs, abs(room.rhs[f]))
    rounding = _ROUNDING * rhs + problem.noise
    best, steepness = -1, 0.0
    for f in range(k):
        upper = problem.upper[vertex.rows[f]]
        violation = max(-room.u[f], room.u[f] - upper)
        if violation > _TOL * min(upper, largest) + rounding * np.sqrt(room.norms[f]):
            value = violation * violation / room.norms[f]
            if value > steepness:
                best, steepness = f, value
    return best, steepness


@_fast
def _entering(problem, vertex, room, steepness):
    """Column that violates its bound most, if its edge is steeper than a row's; or -1.

    Sets ``sign`` of that column, and ``x`` = B^-1 b.
    """
    J, best, most = len(vertex.weights), -1, 0.0
    if vertex.size[0] == J:
        return -1
    for j in range(J):
        room.scores[j] = vertex.held[j]
    for f in range(vertex.size[0]):
        row = problem.A[vertex.rows[f]]
        u = room.u[f]
        for j in range(J):
            room.scores[j] += u * row[j]
    for j in range(J):
        if vertex.place[j] < 0:
            score = room.scores[j]
            excess = (score if problem.positive[j] else abs(score)) - problem.cost[j]
            if excess > most and excess > _TOL * problem.cost[j] + problem.noise:
                best, most = j, excess
    if best < 0:
        return -1
    length = 1.0
    for s in range(vertex.size[0]):
        value = 0.0
        for f in range(vertex.size[0]):
            value += vertex.inverse[s, f] * problem.A[vertex.rows[f], best]
        room.x[s] = value
        length += value * value
    if most * most < steepness * length:
        return -1
    vertex.sign[best] = 1.0 if room.scores[best] > 0.0 else -1.0
    return best


@_fast
def _edge(problem, vertex, room, leaving, entering):
    """Direction of the edge in w, what it does to the rows, and the slope downhill."""
    for j in range(len(room.direction)):
        room.direction[j] = 0.0
    if entering >= 0:
        sign = vertex.sign[entering]
        room.direction[entering] = sign
        for s in range(vertex.size[0]):
            room.direction[vertex.columns[s]] = -sign * room.x[s]
        slope = problem.cost[entering] - sign * room.scores[entering]
    else:
        u = room.u[leaving]
        sign = 1.0 if u < 0.0 else -1.0
        for s in range(vertex.size[0]):
            room.direction[vertex.columns[s]] = sign * vertex.inverse[s, leaving]
        slope = u if u < 0.0 else problem.upper[vertex.rows[leaving]] - u
    for i in range(len(room.along)):
        row, total = problem.A[i], 0.0
        for j in range(len(row)):
            total += row[j] * room.direction[j]
        room.along[i] = total
    return slope


@_step
def _largest(values):
    """Largest absolute value."""
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    return largest


@_step
def _drift(vertex, room, leaving):
    """How far the edge moves rows of F that must stay on their kinks, relative to the largest move."""
    error = 0.0
    for f in range(vertex.size[0]):
        if f != leaving:
            error = max(error, abs(room.along[vertex.rows[f]]))
    return error / max(_largest(room.along), _largest(room.direction))


@_step
def _kinks(problem, vertex, room):
    """Collect the kinks ahead: the step to each, by how much it bends the slope, and whose it is."""
    n, along, side = len(room.along), room.along, vertex.side
    longest = _largest(room.direction)
    least, count = max(_LEAST_PIVOT * _largest(along), _LEAST_ALONG * longest), 0
    for i in range(n):
        if (side[i] == BELOW and along[i] > least) or (side[i] == ABOVE and along[i] < -least):
            room.steps[count] = max(vertex.slack[i] / along[i], 0.0)
            room.jumps[count] = problem.upper[i] * abs(along[i])
            room.ids[count] = i
            count += 1
    least = _LEAST_PIVOT * longest
    for s in range(vertex.size[0]):
        j = vertex.columns[s]
        toward_zero = -room.direction[j] * vertex.sign[j]
        if toward_zero > least:
            room.steps[count] = max(vertex.weights[j] * vertex.sign[j] / toward_zero, 0.0)
            room.jumps[count] = _WALL if problem.positive[j] else 2.0 * problem.cost[j] * toward_zero
            room.ids[count] = n + s
            count += 1
    return count


@_step
def _turn(steps, jumps, ids, n_kinks, slope):
    """Move the kinks that the step passes to the front; return the place of the one it ends at, or -1."""
    low, high, flat = np.int64(0), n_kinks, _FLAT * slope
    while low < high:
        first, middle, last = steps[low], steps[(low + high) // 2], steps[high - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        less, more = _partition(steps, jumps, ids, low, high, pivot)
        before = slope
        for place in range(low, less):
            before += jumps[place]
        if before >= 0.0:
            high = less
            continue
        slope = before
        for place in range(less, more):
            slope += jumps[place]
            if slope >= 0.0:
                return place
        low = more
    if low == n_kinks and slope >= flat:
        return n_kinks - 1  # the farthest
    return low if low < n_kinks else -1


@_step
def _partition(steps, jumps, ids, low, high, pivot):
    """Order kinks low..high-1 as below, at and above the pivot; return where the latter two begin."""
    less, place, more = low, low, high
    while place < more:
        other = place
        if steps[place] < pivot:
            other = less
            less += 1
        elif steps[place] > pivot:
            more -= 1
            other = more
        steps[place], steps[other] = steps[other], steps[place]
        jumps[place], jumps[other] = jumps[other], jumps[place]
        ids[place], ids[other] = ids[other], ids[place]
        if other <= place and other != more:
            place += 1
    return less, more


@_step
def _move(problem, vertex, room, last):
    """Take the step to a kink; rows and weights passed on the way change sides."""
    n, step = len(room.along), room.steps[last]
    for place in range(last):
        who = room.ids[place]
        if who >= n:
            j = vertex.columns[who - n]
            vertex.sign[j] = -vertex.sign[j]
        else:
            change_side(problem, vertex, who, ABOVE if vertex.side[who] == BELOW else BELOW)
    for j in range(len(vertex.weights)):
        vertex.weights[j] += step * room.direction[j]
    for i in range(n):
        vertex.slack[i] -= step * room.along[i]


@_step
def change_side(problem, vertex, i, side):
    """Put a row on another side; ``held`` follows."""
    before = vertex.side[i] == BELOW
    vertex.side[i] = side
    if before == (side == BELOW):
        return
    upper = -problem.upper[i] if before else problem.upper[i]
    row = problem.A[i]
    for j in range(len(vertex.held)):
        vertex.held[j] += upper * row[j]


@_fast
def _row_comes(problem, vertex, room, f, j, i):
    """Row i joins F, in place f of another one or together with column j: ``B^-1 -= a b'``."""
    k, row, inverse, a, b = vertex.size[0], problem.A[i], vertex.inverse, room.x, room.y
    b[:k] = 0.0
    pivot = float(row[j])
    for s in range(k):
        value = float(row[vertex.columns[s]])
        pivot -= value * a[s]
        for g in range(k):
            b[g] += value * inverse[s, g]
    for s in range(k):
        a[s] = inverse[s, f] / b[f] if f >= 0 else -a[s] / pivot
    if f >= 0:
        b[f] -= 1.0
        vertex.rows[f] = i
    _subtract(inverse, k, a, b)
    if f < 0:
        for g in range(k):
            inverse[g, k], inverse[k, g] = a[g], -b[g] / pivot
        inverse[k, k] = 1.0 / pivot
        vertex.rows[k], vertex.columns[k], vertex.place[j], vertex.size[0] = i, j, k, k + 1


@_fast
def _column_goes(vertex, room, f, j, s):
    """Column in place s of S goes, for column j or together with the row in place f: ``B^-1 -= a b'``."""
    k, inverse, a, b = vertex.size[0], vertex.inverse, room.x, room.y
    if f >= 0:
        for other in range(k):
            a[other] = inverse[other, f]
    pivot = a[s]
    for g in range(k):
        b[g] = inverse[s, g] / pivot
    if f < 0:
        a[s] -= 1.0
        vertex.columns[s], vertex.place[j] = j, s
    _subtract(inverse, k, a, b)
    if f < 0:
        return
    last = k - 1  # the last row and column move to the places that are free
    for g in range(k):
        inverse[s, g] = inverse[last, g]
    for other in range(k):
        inverse[other, f] = inverse[other, last]
    vertex.rows[f], vertex.columns[s], vertex.size[0] = vertex.rows[last], vertex.columns[last], last
    if s != last:
        vertex.place[vertex.columns[s]] = s


@_fast
def _subtract(inverse, k, a, b):
    for s in range(k):
        row, value = inverse[s], a[s]
        for g in range(k):
            row[g] -= value * b[g]
