"""Columns of few distinct values (pixels, counts, categories), arranged for stump searches.

Problem: over all cuts t of a column, maximize |sum_{x > t} V_i - sum_{x <= t} V_i| = |total - 2 left(t)|.
An entry takes one byte, its value's place among the column's values; a search adds the weights up by place
and scans the table. Entries at the commonest value are left out where they are many: their sum is what is
missing.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._column_groups import LANES
from kernsemble.hypotheses._fixed_point import midpoint
from kernsemble.hypotheses._threads import run_pieces

N_CODES = 256
# Share of entries off the commonest value up to which 5 bytes each take less than 2 bytes of all entries.
SPARSE_BELOW = 0.4


class CodedColumns:
    """Columns of at most 256 distinct values."""

    def __init__(self, n_samples: int, room: int):
        self.n_samples = n_samples
        self.features: list[int] = []  # numbers that the search gave the columns
        self.values: list[np.ndarray] = []
        # Room for the most that can be needed; pages that are never written take no memory.
        self._codes = np.empty(room, dtype=np.uint8)
        self._rows = np.empty(int(SPARSE_BELOW * room), dtype=np.uint32)
        self._first, self._row_first, self._modes = [0], [0], []

    def append(self, feature: int, values: np.ndarray, codes: np.ndarray) -> None:
        """Take the column ``values[codes]``, values ascending."""
        counts = np.bincount(codes, minlength=len(values))
        mode = int(counts.argmax())
        self.features.append(feature)
        self.values.append(values.astype(np.float64))
        if self.n_samples - counts[mode] <= SPARSE_BELOW * self.n_samples:
            rows = np.flatnonzero(codes != mode)
            self._put(codes[rows], rows)
            self._modes.append(mode)
        else:
            self._put(codes, np.empty(0, dtype=np.uint32))
            self._modes.append(-1)

    def _put(self, codes: np.ndarray, rows: np.ndarray) -> None:
        stop, row_stop = self._first[-1] + len(codes), self._row_first[-1] + len(rows)
        self._codes[self._first[-1] : stop] = codes
        self._rows[self._row_first[-1] : row_stop] = rows
        self._first.append(stop)
        self._row_first.append(row_stop)

    def close(self) -> None:
        """Finish after the last column."""
        sizes = [len(values) for values in self.values]
        bins = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        self.open = np.ones(bins[-1], dtype=bool)
        self.open[bins[1:] - 1] = False  # no cut above the largest value
        self._bins = bins
        self._layout = (
            self._codes[: self._first[-1]],
            np.array(self._first),
            self._rows[: self._row_first[-1]],
            np.array(self._row_first),
            np.array(self._modes, dtype=np.int64),
            bins,
            self.open,
        )
        self.cost = np.diff(self._layout[1]) + N_CODES

    def search(self, w: np.ndarray, which: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write the best score (-1: no cut is open) and the cut of some columns."""
        work = partial(_search, w, w.sum(), which, *self._layout, scores, cuts)
        run_pieces(work, self.cost[which])

    def search_shared(self, W: np.ndarray, which: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write the best sum of scores over the columns of W (n, K), and the cut, of some columns."""
        work = partial(_search_shared, W, W.sum(axis=0), which, *self._layout, scores, cuts)
        run_pieces(work, self.cost[which] * W.shape[1])

    def draft(self, rough: np.ndarray, shared: bool, limits: np.ndarray, attained: np.ndarray) -> None:
        """Write every column's best scores for rough weights (n, K), or best sums of scores if shared."""
        Q = np.zeros((len(rough), -(-rough.shape[1] // LANES) * LANES), dtype=np.int32)
        Q[:, : rough.shape[1]] = rough
        total = Q.sum(axis=0, dtype=np.int64)
        run_pieces(partial(_draft, Q, total, *self._layout, shared, attained), self.cost * 4)
        limits[:] = attained

    def sum_of_squares(self, w: np.ndarray) -> np.ndarray:
        """Return the sum of squared scores over the open cuts of each column."""
        sums = np.empty(len(self.features))
        run_pieces(partial(_sum_squares, w, w.sum(), *self._layout, sums), self.cost)
        return sums

    def threshold(self, column: int, cut: int) -> float:
        """Return the threshold of a cut."""
        values, code = self.values[column], cut - self._bins[column]
        return midpoint(float(values[code]), float(values[code + 1]))

    def close_lowest(self, column: int) -> None:
        """Leave the cut above the smallest value out of searches."""
        self.open[self._bins[column]] = False

    def cut_at(self, column: int, threshold: float) -> int:
        """Return the cut with this threshold."""
        return int(self._bins[column] + np.searchsorted(self.values[column], threshold, side="right") - 1)


@njit(cache=True, nogil=True)
def _tabulate(V, total, codes, rows, mode, table, spare):
    """table[c] = sum of V over the entries of code c; two tables, so that neighbors do not wait."""
    table[:] = 0
    spare[:] = 0
    half = uint64(len(codes) // 2)
    if len(rows) == 0:
        for i in range(half):
            table[codes[i]] += V[i]
            spare[codes[i + half]] += V[i + half]
        if len(codes) % 2:
            table[codes[-1]] += V[len(codes) - 1]
    else:
        for i in range(half):
            table[codes[i]] += V[uint64(rows[i])]
            spare[codes[i + half]] += V[uint64(rows[i + half])]
        if len(codes) % 2:
            table[codes[-1]] += V[uint64(rows[-1])]
    for c in range(len(table)):
        table[c] += spare[c]
    if mode >= 0:
        table[mode] = total - table.sum()


@njit(cache=True, nogil=True)
def _search(V, total, which, codes, first, rows, row_first, modes, bins, is_open, scores, cuts, start, stop):
    """Best cut of some columns; the smallest of equals."""
    table, spare = np.empty(N_CODES, np.int64), np.empty(N_CODES, np.int64)
    for a in range(start, stop):
        j = which[a]
        own_rows = rows[row_first[j] : row_first[j + 1]]
        _tabulate(V, total, codes[first[j] : first[j + 1]], own_rows, modes[j], table, spare)
        left, best, where = 0, -1, -1
        for c in range(bins[j + 1] - bins[j]):
            left += table[c]
            score = abs(total - 2 * left)
            if score > best and is_open[bins[j] + c]:
                best, where = score, bins[j] + c
        scores[a], cuts[a] = best, where


@njit(cache=True, nogil=True)
def _sum_squares(V, total, codes, first, rows, row_first, modes, bins, is_open, sums, start, stop):
    """Sum of squared scores over the open cuts of each column."""
    table, spare = np.empty(N_CODES, np.int64), np.empty(N_CODES, np.int64)
    for j in range(start, stop):
        own_rows = rows[row_first[j] : row_first[j + 1]]
        _tabulate(V, total, codes[first[j] : first[j + 1]], own_rows, modes[j], table, spare)
        left, squares = 0, 0.0
        for c in range(bins[j + 1] - bins[j]):
            left += table[c]
            if is_open[bins[j] + c]:
                squares += float(total - 2 * left) ** 2
        sums[j] = squares


@njit(cache=True, nogil=True)
def _tabulate_classes(V, total, codes, rows, mode, table):
    """table[c, k] = sum of V[:, k] over the entries of code c."""
    table[:] = 0
    n_classes = uint64(V.shape[1])
    for i in range(uint64(len(codes))):
        row = uint64(rows[i]) if len(rows) else uint64(i)
        code = uint64(codes[i])
        for k in range(n_classes):
            table[code, k] += V[row, k]
    if mode >= 0:
        for k in range(n_classes):
            missing = total[k]
            for c in range(len(table)):
                missing -= table[c, k]
            table[mode, k] = missing


@njit(cache=True, nogil=True)
def _search_shared(
    V, total, which, codes, first, rows, row_first, modes, bins, is_open, scores, cuts, start, stop
):
    """Cut of some columns that is best for all classes together: largest sum of their scores."""
    n_classes = V.shape[1]
    table, left = np.empty((N_CODES, n_classes), np.int64), np.empty(n_classes, np.int64)
    for a in range(start, stop):
        j = which[a]
        own_rows = rows[row_first[j] : row_first[j + 1]]
        _tabulate_classes(V, total, codes[first[j] : first[j + 1]], own_rows, modes[j], table)
        left[:] = 0
        scores[a], cuts[a] = -1, -1
        for c in range(bins[j + 1] - bins[j]):
            score = 0
            for k in range(n_classes):
                left[k] += table[c, k]
                score += abs(total[k] - 2 * left[k])
            if score > scores[a] and is_open[bins[j] + c]:
                scores[a], cuts[a] = score, bins[j] + c


@njit(cache=True, nogil=True)
def _draft(Q, total, codes, first, rows, row_first, modes, bins, is_open, shared, attained, start, stop):
    """Each column's best score for every class, or best sum of scores, for the first classes of Q."""
    table = np.empty((N_CODES, Q.shape[1]), np.int32)
    left, best = np.empty(Q.shape[1], np.int64), np.empty(Q.shape[1], np.int64)
    for j in range(start, stop):
        own_rows = rows[row_first[j] : row_first[j + 1]]
        _tabulate_classes(Q, total, codes[first[j] : first[j + 1]], own_rows, modes[j], table)
        own_open = is_open[bins[j] : bins[j + 1]]
        if shared:
            attained[j, 0] = _scan_together(table, total, own_open, left)
        else:
            _scan_each(table, total, own_open, left, best)
            attained[j] = best[: attained.shape[1]]


@njit(cache=True, nogil=True)
def _scan_each(table, total, is_open, left, best):
    """best[k] = largest score of an open cut for class k."""
    left[:] = 0
    best[:] = -1
    for c in range(len(is_open)):
        if is_open[c]:
            for k in range(len(total)):
                left[k] += table[c, k]
                best[k] = max(best[k], abs(total[k] - 2 * left[k]))
        else:
            for k in range(len(total)):
                left[k] += table[c, k]


@njit(cache=True, nogil=True)
def _scan_together(table, total, is_open, left):
    """Return the largest sum of scores of an open cut."""
    left[:] = 0
    best = -1
    for c in range(len(is_open)):
        score = 0
        for k in range(len(total)):
            left[k] += table[c, k]
            score += abs(total[k] - 2 * left[k])
        if is_open[c]:
            best = max(best, score)
    return best
