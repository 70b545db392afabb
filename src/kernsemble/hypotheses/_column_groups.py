"""Groups of neighbors in ranked columns: bounds on all cuts of a group from sums alone.

Walking through a column in order of value jumps about in the weights, and takes a pass for each class. So
neighbors in order form groups, up to a thousand a column, and every sample carries its group's number.
Adding weights and magnitudes up by group reads them in order of storage, for all classes at once. That
gives ``outside``, the sum beyond the group, exactly, and bounds it within the group: it moves by no more
than the positive part P or the negative part N of the group's weights, so no cut inside scores more than
max(|total - 2 (outside + P)|, |total - 2 (outside - N)|). Only groups, or columns, whose bound reaches the
best score at any group's end have to be walked through: few, and they hold the best cut.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit, uint16, uint64

from kernsemble.hypotheses._threads import run_pieces

_N_NUMBERS = 1024
_NO_GROUP = _N_NUMBERS - 1  # number of the samples at the commonest value
_ALIGN = 16  # groups on the way down begin at a multiple: merging 2, 4, 8 or 16 never joins the two ways
_MOST = _N_NUMBERS - 2 * _ALIGN  # groups of a column
_TABLE_BYTES = 24 * 1024  # of the tables of a draft: they should stay in the first cache
LANES = 16  # columns of rough weights come in multiples of this, which compiles to vectors


class ColumnGroups:
    """Groups of the columns of ``RankedColumns``, whose layout it takes."""

    def __init__(
        self, n_samples: int, order: np.ndarray, first: np.ndarray, turns: np.ndarray, is_open: np.ndarray
    ):
        n_columns = len(turns)
        self._turns, self._open = turns, is_open
        self._numbers = np.full((n_columns, n_samples), _NO_GROUP, dtype=np.uint16)
        self._bounds = np.empty((n_columns, _MOST + 1), dtype=np.int64)
        self._outside, self._limits = np.empty((2, n_columns, _MOST), dtype=np.int64)
        run_pieces(
            partial(_number, order, first, turns, self._numbers, self._bounds), np.full(n_columns, n_samples)
        )

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds of the groups in order, and from ``floor`` sums outside and limits of the scores inside."""
        return self._bounds, self._outside, self._limits

    def floor(self, w: np.ndarray, which: np.ndarray) -> int:
        """Compute ``limits`` for some columns; return a score that one of them attains."""
        attained = np.empty(len(which), dtype=np.int64)
        layout = (self._numbers, self._turns, self._open, *self.limits)
        work = partial(_add_groups, w, w.sum(), which, *layout, attained)
        run_pieces(work, np.full(len(which), len(w)))
        return int(attained.max())

    def draft(self, rough: np.ndarray, shared: bool, limits: np.ndarray, attained: np.ndarray) -> None:
        """Write limits of every column's scores (columns, K) and scores attained; of sums if shared."""
        n_classes = rough.shape[1]
        width = -(-2 * n_classes // LANES) * LANES
        Q = np.zeros((len(rough), width), dtype=np.int32)
        Q[:, :n_classes] = rough
        np.abs(rough, out=Q[:, n_classes : 2 * n_classes])
        shift = 0
        while shift < 4 and (_N_NUMBERS >> shift) * width * Q.itemsize > _TABLE_BYTES:
            shift += 1
        total = Q[:, :n_classes].sum(axis=0, dtype=np.int64)
        layout = (self._numbers, self._turns, self._open, self._bounds)
        work = partial(_draft, Q, total, *layout, np.uint16(shift), shared, limits, attained)
        run_pieces(work, np.full(len(limits), 4 * len(rough)))


@njit(cache=True, nogil=True)
def _number(order, first, turns, numbers, bounds, start, stop):
    """Number the groups of each column; empty ones fill up before the turn and at the end."""
    for j in range(start, stop):
        kept = first[j + 1] - first[j]
        size = max(1, -(-kept // (_MOST - 2 * _ALIGN)))
        n_up = -(-(turns[j] - first[j]) // size)
        up = -(-n_up // _ALIGN) * _ALIGN
        for g in range(_MOST + 1):
            if g < up:
                bounds[j, g] = min(first[j] + g * size, turns[j])
            else:
                bounds[j, g] = min(turns[j] + (g - up) * size, first[j + 1])
        for g in range(_MOST):
            for i in range(bounds[j, g], bounds[j, g + 1]):
                numbers[j, order[i]] = g


@njit(cache=True, nogil=True)
def _add_groups(V, total, which, numbers, turns, is_open, bounds, outside, limits, attained, start, stop):
    """Sum beyond each group, limit of the scores inside it, and each column's best score at a group's end."""
    sums, sizes = np.empty(_N_NUMBERS, np.int64), np.empty(_N_NUMBERS, np.int64)
    for a in range(start, stop):
        j = which[a]
        sums[:] = 0
        sizes[:] = 0
        for i in range(uint64(len(V))):
            sums[numbers[j, i]] += V[i]
            sizes[numbers[j, i]] += abs(V[i])
        attained[a], beyond = -1, 0
        for g in range(_MOST):
            if bounds[j, g] == turns[j]:
                beyond = 0
            outside[j, g] = beyond
            rest = total - 2 * beyond - sums[g]
            limits[j, g] = max(abs(rest - sizes[g]), abs(rest + sizes[g]))
            beyond += sums[g]
            if bounds[j, g + 1] > bounds[j, g] and is_open[bounds[j, g + 1] - 1]:
                attained[a] = max(attained[a], abs(total - 2 * beyond))


@njit(cache=True, nogil=True)
def _add_classes(Q, numbers, shift, table):
    """table[number, q] = sum of Q[:, q] over the samples of that number, after a shift."""
    table[:] = 0
    width = uint64(Q.shape[1])
    for i in range(uint64(len(numbers))):
        number = uint64(numbers[i] >> uint16(shift))
        for q in range(width):
            table[number, q] += Q[i, q]


@njit(cache=True, nogil=True)
def _draft(Q, total, numbers, turns, is_open, bounds, shift, shared, limits, attained, start, stop):
    """Largest limit and best attained score of each column, for every class or for all together."""
    step, beyond = 1 << shift, np.empty(len(total), np.int64)
    table = np.empty((_N_NUMBERS >> shift, Q.shape[1]), np.int32)
    for j in range(start, stop):
        _add_classes(Q, numbers[j], shift, table)
        limits[j], attained[j], beyond[:] = -1, -1, 0
        for g in range(_MOST >> shift):
            low, high = bounds[j, g * step], bounds[j, (g + 1) * step]
            if low == turns[j]:
                beyond[:] = 0
            if high > low and shared:
                _limit_together(table[g], total, beyond, is_open[high - 1], limits[j], attained[j])
            elif high > low:
                _limit_each(table[g], total, beyond, is_open[high - 1], limits[j], attained[j])


@njit(cache=True, nogil=True)
def _limit_each(sums, total, beyond, is_open, limits, attained):
    """Go past a group: raise limits and, at an open end, attained scores of every class."""
    n_classes = len(total)
    for k in range(n_classes):
        rest = total[k] - 2 * beyond[k] - sums[k]
        size = sums[n_classes + k]
        limits[k] = max(limits[k], max(abs(rest - size), abs(rest + size)))
        beyond[k] += sums[k]
    if is_open:
        for k in range(n_classes):
            attained[k] = max(attained[k], abs(total[k] - 2 * beyond[k]))


@njit(cache=True, nogil=True)
def _limit_together(sums, total, beyond, is_open, limits, attained):
    """Go past a group: raise the limit and, at an open end, the attained value of the sum of scores."""
    n_classes, limit, score = len(total), 0, 0
    for k in range(n_classes):
        rest = total[k] - 2 * beyond[k] - sums[k]
        size = sums[n_classes + k]
        limit += max(abs(rest - size), abs(rest + size))
        score += abs(rest - sums[k])
        beyond[k] += sums[k]
    limits[0] = max(limits[0], limit)
    if is_open:
        attained[0] = max(attained[0], score)
