"""Ranked columns of many samples, searched exactly without visiting most samples in order.

Walking through a column in order of value jumps about in the weights, which is slow once they outgrow the
cache. So neighbors in order form groups, about a thousand a column, and every sample carries its group's
number. A search (1) adds weights and magnitudes up by group, in order of storage. That gives ``outside``, the
sum beyond the group, exactly, and bounds it within the group: it moves by no more than the positive part P or
the negative part N of the group's weights, so no cut inside scores more than
max(|total - 2 (outside + P)|, |total - 2 (outside - N)|). (2) It walks through the groups whose bound reaches
the best score at a group's end, in any column. The few that do hold the best cut of all.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._ranked_columns import RankedColumns, best_cut
from kernsemble.hypotheses._threads import run_pieces

GROUPED_FROM = 50_000  # samples: fewer are walked through faster than they are added up by group
_N_TABLE = 1024  # two tables of this size fit into the first cache
_NO_GROUP = _N_TABLE - 1  # of the samples at the commonest value


class GroupedColumns(RankedColumns):
    """Columns of many distinct values and many samples."""

    def __init__(self, X: np.ndarray, n_columns: int):
        super().__init__(X, n_columns)
        self._groups = np.empty(len(X) * n_columns, dtype=np.uint16)
        self._bounds: list[np.ndarray] = []

    def append(self, feature: int, order: np.ndarray, ends: np.ndarray) -> None:
        """Take a column: samples in ascending order, and the last position of each group of equal values."""
        n_samples, j = len(order), len(self.features)
        super().append(feature, order, ends)
        start, turn, stop = self._first[-2], self._turns[-1], self._first[-1]
        size = max(1, -(-(stop - start) // (_NO_GROUP - 2)))
        bounds = np.concatenate([np.arange(start, turn, size), np.arange(turn, stop, size), [stop]])
        groups = self._groups[j * n_samples : (j + 1) * n_samples]
        groups[:] = _NO_GROUP
        groups[self._order[start:stop]] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        self._bounds.append(bounds)

    def close(self) -> None:
        """Finish after the last column."""
        super().close()
        n_columns = len(self.features)
        self._groups = self._groups[: n_columns * len(self._X)].reshape(n_columns, -1)
        self._n_groups = np.array([len(bounds) - 1 for bounds in self._bounds])
        self._bounds = np.array([np.resize(bounds, _N_TABLE) for bounds in self._bounds])

    def search(self, W: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write each column's best score and its cut, for each column of W; -1 if another is better."""
        n_columns = len(self.features)
        outside, limits = np.empty((2, n_columns, _N_TABLE), dtype=np.int64)
        at_ends = np.empty(n_columns, dtype=np.int64)
        groups = (self._n_groups, self._bounds, outside, limits)
        _, _, turns, is_open = self._layout
        for k in range(W.shape[1]):
            w = np.ascontiguousarray(W[:, k])
            total = w.sum()
            add = partial(_add_groups, w, total, self._groups, turns, is_open, *groups, at_ends)
            run_pieces(add, len(w) * np.arange(n_columns + 1))
            walk = partial(_walk_groups, w, total, *self._layout, *groups, at_ends.max())
            run_pieces(partial(walk, scores[:, k], cuts[:, k]), np.arange(n_columns + 1))


@njit(cache=True, nogil=True)
def _add_groups(V, total, groups, turns, is_open, n_groups, bounds, outside, limits, at_ends, start, stop):
    """Sum beyond each group, limit of the scores inside it, and each column's best score at a group's end."""
    sums, sizes = np.empty(_N_TABLE, np.int64), np.empty(_N_TABLE, np.int64)
    for j in range(start, stop):
        sums[:] = 0
        sizes[:] = 0
        for i in range(uint64(len(V))):
            sums[groups[j, i]] += V[i]
            sizes[groups[j, i]] += abs(V[i])
        at_ends[j], beyond = -1, 0
        for g in range(n_groups[j]):
            if bounds[j, g] == turns[j]:
                beyond = 0
            outside[j, g] = beyond
            highest, lowest = beyond + (sizes[g] + sums[g]) // 2, beyond - (sizes[g] - sums[g]) // 2
            limits[j, g] = max(abs(total - 2 * highest), abs(total - 2 * lowest))
            beyond += sums[g]
            if is_open[bounds[j, g + 1] - 1]:
                at_ends[j] = max(at_ends[j], abs(total - 2 * beyond))


@njit(cache=True, nogil=True)
def _walk_groups(
    V,
    total,
    order,
    first,
    turns,
    is_open,
    n_groups,
    bounds,
    outside,
    limits,
    floor,
    scores,
    cuts,
    start,
    stop,
):
    """Best cut of each column, as ``_search_ranked`` finds it, in groups whose limit reaches the floor."""
    for j in range(start, stop):
        best, where = -1, -1
        for g in range(n_groups[j]):
            if limits[j, g] >= floor:
                down = bounds[j, g] >= turns[j]
                rest = total - 2 * outside[j, g]
                score, cut = best_cut(V, order, is_open, bounds[j, g], bounds[j, g + 1], rest, int(down))
                last_of_equals = down and where >= turns[j]
                if score + last_of_equals > best:
                    best, where = score, cut
        scores[j], cuts[j] = best, where
