"""Columns of many distinct values, arranged for stump searches.

Problem: over all cuts t of a column, maximize |sum_{x > t} V_i - sum_{x <= t} V_i| = |total - 2 left(t)|.
Samples are kept in order of value: up from the smallest and down from the largest, ending at the commonest
value, whose samples are left out. A search walks both ways and adds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from numba import int64, njit, uint64

from kernsemble.hypotheses._column_groups import ColumnGroups
from kernsemble.hypotheses._fixed_point import midpoint
from kernsemble.hypotheses._threads import run_pieces

# Samples from which on walking jumps about in more weights than the cache holds, and groups are faster.
GROUPED_FROM = 50_000


class RankedColumns:
    """Columns of many distinct values; ``read(sample, feature)`` supplies them for a threshold.

    Without ``groups``, which take two bytes for each sample and column, every search walks through all.
    """

    def __init__(self, n_samples: int, room: int, read: Callable[[int, int], float], *, groups: bool = True):
        self._n_samples, self._read, self._grouped = n_samples, read, groups and n_samples >= GROUPED_FROM
        self.features: list[int] = []  # numbers that the search gave the columns
        # Room for the most that can be needed; pages that are never written take no memory.
        self._order, self._ends = np.empty(room, dtype=np.uint32), np.empty(room, dtype=bool)
        self._first, self._turns, self._modes = [0], [], []

    def append(self, feature: int, order: np.ndarray, ends: np.ndarray, mode: float, group: int) -> None:
        """Take a column: samples in ascending order, and the last position of each group of equal values.

        ``group`` is that of the commonest value, ``mode``; one sample may stand for all that have it.
        """
        low = int(ends[group - 1]) + 1 if group > 0 else 0  # the commonest value fills low..ends[group]
        kept = np.concatenate([order[:low], order[ends[group] + 1 :][::-1]])
        is_end = np.zeros(len(kept), dtype=bool)
        is_end[ends[:group]] = True
        is_end[low + len(order) - 2 - ends[group:-1]] = True  # going down, a group ends at its first sample
        start = self._first[-1]
        stop = start + len(kept)
        self._order[start:stop], self._ends[start:stop] = kept, is_end
        self._first.append(stop)
        self._turns.append(start + low)
        self._modes.append(mode)
        self.features.append(feature)

    def close(self) -> None:
        """Finish after the last column."""
        first, turns = np.array(self._first), np.array(self._turns, dtype=np.int64)
        self.open = self._ends[: first[-1]]
        self._layout = (self._order[: first[-1]], first, turns, self.open)
        self.cost = np.diff(first)

    @cached_property
    def _groups(self) -> ColumnGroups:
        """Neighbors in order, put together when they are first needed."""
        return ColumnGroups(self._n_samples, *self._layout)

    def search(self, w: np.ndarray, which: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write the best score (-1: no cut is open, or another column is better) and cut of some columns."""
        total = w.sum()
        if self._grouped:
            floor = self._groups.floor(w, which)
            work = partial(_walk_groups, w, total, which, *self._layout, *self._groups.limits, floor)
        else:
            work = partial(_walk, w, total, which, *self._layout)
        run_pieces(partial(work, scores, cuts), self.cost[which])

    def search_shared(self, W: np.ndarray, which: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write the best sum of scores over the columns of W (n, K), and the cut, of some columns."""
        work = partial(_walk_shared, W, W.sum(axis=0), which, *self._layout, scores, cuts)
        run_pieces(work, self.cost[which] * W.shape[1])

    def draft(self, rough: np.ndarray, shared: bool, limits: np.ndarray, attained: np.ndarray) -> None:
        """Write limits of each column's best scores for the rough weights, and scores it attains."""
        self._groups.draft(rough, shared, limits, attained)

    def sum_of_squares(self, w: np.ndarray) -> np.ndarray:
        """Return the sum of squared scores over the open cuts of each column."""
        sums = np.empty(len(self.features))
        run_pieces(partial(_sum_squares, w, w.sum(), *self._layout, sums), self.cost)
        return sums

    def threshold(self, column: int, cut: int) -> float:
        """Return the threshold of a cut."""
        here, turn = self._value(column, cut), self._turns[column]
        last = cut + 1 in (turn, self._first[column + 1])
        beyond = self._modes[column] if last else self._value(column, cut + 1)
        return midpoint(here, beyond) if cut < turn else midpoint(beyond, here)

    def close_lowest(self, column: int) -> None:
        """Leave the cut above the smallest value out of searches."""
        start, turn, stop = self._first[column], self._turns[column], self._first[column + 1]
        if start < turn:
            self.open[start + int(self.open[start:turn].argmax())] = False
        elif turn < stop:
            self.open[stop - 1] = False  # the smallest value is the commonest

    def cut_at(self, column: int, threshold: float) -> int:
        """Return the cut with this threshold."""
        start, turn, stop = self._first[column], self._turns[column], self._first[column + 1]
        if threshold < self._modes[column]:
            return bisect_right(range(stop), threshold, start, turn, key=partial(self._value, column)) - 1
        upper = range(stop)
        return bisect_left(upper, -threshold, turn, stop, key=lambda cut: -self._value(column, cut)) - 1

    def _value(self, column: int, cut: int) -> float:
        return self._read(self._order[cut], self.features[column])


@njit(cache=True, nogil=True)
def best_cut(V, order, is_open, start, stop, total, last):
    """Best |total - 2 left| over open cuts of order[start:stop], and where; the first or last of equals."""
    left, best, where = 0, -1, -1
    for i in range(uint64(start), uint64(stop)):
        left += V[uint64(order[i])]
        score = abs(total - 2 * left)
        if score + last > best and is_open[i]:
            best, where = score, int64(i)
    return best, where


@njit(cache=True, nogil=True)
def _walk(V, total, which, order, first, turns, is_open, scores, cuts, start, stop):
    """Best cut of some columns; the smallest of equals, so on the way down the last of equals."""
    for a in range(start, stop):
        j = which[a]
        best, where = best_cut(V, order, is_open, first[j], turns[j], total, 0)
        upper, above = best_cut(V, order, is_open, turns[j], first[j + 1], total, 1)
        if upper > best:
            best, where = upper, above
        scores[a], cuts[a] = best, where


@njit(cache=True, nogil=True)
def _walk_groups(
    V, total, which, order, first, turns, is_open, bounds, outside, limits, floor, scores, cuts, start, stop
):
    """Best cut of some columns, as ``_walk`` finds it, in groups whose limit reaches the floor."""
    for a in range(start, stop):
        j = which[a]
        best, where = -1, -1
        for g in range(limits.shape[1]):
            if limits[j, g] >= floor:
                down = bounds[j, g] >= turns[j]
                rest = total - 2 * outside[j, g]
                score, cut = best_cut(V, order, is_open, bounds[j, g], bounds[j, g + 1], rest, int(down))
                last_of_equals = down and where >= turns[j]
                if score + last_of_equals > best:
                    best, where = score, cut
        scores[a], cuts[a] = best, where


@njit(cache=True, nogil=True)
def _walk_shared(V, total, which, order, first, turns, is_open, scores, cuts, start, stop):
    """Cut of some columns that is best for all classes together: largest sum of their scores."""
    n_classes = V.shape[1]
    outside = np.empty(n_classes, np.int64)
    for a in range(start, stop):
        j = which[a]
        scores[a], cuts[a] = -1, -1
        outside[:] = 0
        for i in range(first[j], first[j + 1]):
            if i == turns[j]:
                outside[:] = 0
            score = 0
            for k in range(n_classes):
                outside[k] += V[order[i], k]
                score += abs(total[k] - 2 * outside[k])
            last_of_equals = i > turns[j] and cuts[a] >= turns[j]  # on the way down the smallest comes last
            if score + last_of_equals > scores[a] and is_open[i]:
                scores[a], cuts[a] = score, i


@njit(cache=True, nogil=True)
def _sum_squares(V, total, order, first, turns, is_open, sums, start, stop):
    """Sum of squared scores over the open cuts of each column."""
    for j in range(start, stop):
        outside, squares = 0, 0.0
        for i in range(uint64(first[j]), uint64(first[j + 1])):
            if i == uint64(turns[j]):
                outside = 0
            outside += V[uint64(order[i])]
            if is_open[i]:
                squares += float(total - 2 * outside) ** 2
        sums[j] = squares
