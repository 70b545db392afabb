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

from kernsemble.hypotheses._fixed_point import midpoint
from kernsemble.hypotheses._threads import run_pieces

N_CODES = 256
_SPARSE_BELOW = (
    0.4  # share of entries off the commonest value up to which 5 bytes each take less than 2 of data
)


class CodedColumns:
    """Columns of at most 256 distinct values."""

    def __init__(self, n_samples: int, n_columns: int):
        self.n_samples = n_samples
        self.features: list[int] = []
        self.values: list[np.ndarray] = []
        # Room for the most that can be needed; pages that are never written take no memory.
        self._codes = np.empty(n_samples * n_columns, dtype=np.uint8)
        self._rows = np.empty(int(_SPARSE_BELOW * n_samples * n_columns), dtype=np.uint32)
        self._first, self._row_first, self._modes = [0], [0], []

    def append(self, feature: int, values: np.ndarray, codes: np.ndarray) -> None:
        """Take the column ``values[codes]``, values ascending."""
        counts = np.bincount(codes, minlength=len(values))
        mode = int(counts.argmax())
        self.features.append(feature)
        self.values.append(values.astype(np.float64))
        if self.n_samples - counts[mode] <= _SPARSE_BELOW * self.n_samples:
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
        self._bin_first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        self.open = np.ones(self._bin_first[-1], dtype=bool)
        self.open[self._bin_first[1:] - 1] = False  # no cut above the largest value
        self._layout = (
            self._codes[: self._first[-1]],
            np.array(self._first),
            self._rows[: self._row_first[-1]],
            np.array(self._row_first),
            np.array(self._modes, dtype=np.int64),
            self._bin_first,
            self.open,
        )
        self._cost = self._layout[1] + N_CODES * np.arange(len(sizes) + 1)

    def search(self, W: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write each column's best score (-1: no cut is open) and its cut, for each column of W (n, K)."""
        total = W.sum(axis=0)
        if W.shape[1] == 1:
            work = partial(_search_coded, W[:, 0], total[0], *self._layout, scores[:, 0], cuts[:, 0])
        else:
            work = partial(_search_coded_classes, W, total, *self._layout, scores, cuts)
        run_pieces(work, self._cost * W.shape[1])

    def search_shared(self, W: np.ndarray, scores: np.ndarray, cuts: np.ndarray) -> None:
        """Write each column's best sum of scores over the columns of W (n, K), and its cut."""
        work = partial(_search_coded_shared, W, W.sum(axis=0), *self._layout, scores, cuts)
        run_pieces(work, self._cost * W.shape[1])

    def sum_of_squares(self, w: np.ndarray) -> np.ndarray:
        """Return the sum of squared scores over the open cuts of each column."""
        sums = np.empty(len(self.features))
        run_pieces(partial(_squares_coded, w, w.sum(), *self._layout, sums), self._cost)
        return sums

    def threshold(self, column: int, cut: int) -> float:
        """Return the threshold of a cut."""
        values, code = self.values[column], cut - self._bin_first[column]
        return midpoint(float(values[code]), float(values[code + 1]))

    def cut_at(self, column: int, threshold: float) -> int:
        """Return the cut with this threshold."""
        return int(
            self._bin_first[column] + np.searchsorted(self.values[column], threshold, side="right") - 1
        )


@njit(cache=True, nogil=True)
def _tabulate(V, codes, rows, table, spare):
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


@njit(cache=True, nogil=True)
def _search_coded(
    V, total, codes, first, rows, row_first, modes, bin_first, is_open, scores, cuts, start, stop
):
    """Best cut of each coded column; the smallest of equals."""
    table, spare = np.empty(N_CODES, np.int64), np.empty(N_CODES, np.int64)
    for j in range(start, stop):
        entries = slice(first[j], first[j + 1])
        _tabulate(V, codes[entries], rows[row_first[j] : row_first[j + 1]], table, spare)
        if modes[j] >= 0:
            table[modes[j]] = total - table.sum()
        left, best, where = 0, -1, -1
        for c in range(bin_first[j + 1] - bin_first[j]):
            left += table[c]
            score = abs(total - 2 * left)
            if score > best and is_open[bin_first[j] + c]:
                best, where = score, bin_first[j] + c
        scores[j], cuts[j] = best, where


@njit(cache=True, nogil=True)
def _tabulate_classes(V, codes, rows, table):
    """table[c, k] = sum of V[:, k] over the entries of code c."""
    table[:] = 0
    n_classes = uint64(V.shape[1])
    for i in range(uint64(len(codes))):
        row = uint64(rows[i]) if len(rows) else uint64(i)
        code = uint64(codes[i])
        for k in range(n_classes):
            table[code, k] += V[row, k]


@njit(cache=True, nogil=True)
def _search_coded_classes(
    V, total, codes, first, rows, row_first, modes, bin_first, is_open, scores, cuts, start, stop
):
    """Best cut of each coded column for every class, in one pass over the column."""
    n_classes = V.shape[1]
    table, left = np.empty((N_CODES, n_classes), np.int64), np.empty(n_classes, np.int64)
    for j in range(start, stop):
        entries = slice(first[j], first[j + 1])
        _tabulate_classes(V, codes[entries], rows[row_first[j] : row_first[j + 1]], table)
        if modes[j] >= 0:
            table[modes[j]] = total - table.sum(axis=0)
        left[:] = 0
        scores[j], cuts[j] = -1, -1
        for c in range(bin_first[j + 1] - bin_first[j]):
            for k in range(n_classes):
                left[k] += table[c, k]
                score = abs(total[k] - 2 * left[k])
                if score > scores[j, k] and is_open[bin_first[j] + c]:
                    scores[j, k], cuts[j, k] = score, bin_first[j] + c


@njit(cache=True, nogil=True)
def _search_coded_shared(
    V, total, codes, first, rows, row_first, modes, bin_first, is_open, scores, cuts, start, stop
):
    """Cut of each coded column that is best for all classes together: largest sum of their scores."""
    n_classes = V.shape[1]
    table, left = np.empty((N_CODES, n_classes), np.int64), np.empty(n_classes, np.int64)
    for j in range(start, stop):
        entries = slice(first[j], first[j + 1])
        _tabulate_classes(V, codes[entries], rows[row_first[j] : row_first[j + 1]], table)
        if modes[j] >= 0:
            table[modes[j]] = total - table.sum(axis=0)
        left[:] = 0
        scores[j], cuts[j] = -1, -1
        for c in range(bin_first[j + 1] - bin_first[j]):
            score = 0
            for k in range(n_classes):
                left[k] += table[c, k]
                score += abs(total[k] - 2 * left[k])
            if score > scores[j] and is_open[bin_first[j] + c]:
                scores[j], cuts[j] = score, bin_first[j] + c


@njit(cache=True, nogil=True)
def _squares_coded(V, total, codes, first, rows, row_first, modes, bin_first, is_open, sums, start, stop):
    """Sum of squared scores over the open cuts of each coded column."""
    table, spare = np.empty(N_CODES, np.int64), np.empty(N_CODES, np.int64)
    for j in range(start, stop):
        entries = slice(first[j], first[j + 1])
        _tabulate(V, codes[entries], rows[row_first[j] : row_first[j + 1]], table, spare)
        if modes[j] >= 0:
            table[modes[j]] = total - table.sum()
        left, squares = 0, 0.0
        for c in range(bin_first[j + 1] - bin_first[j]):
            left += table[c]
            if is_open[bin_first[j] + c]:
                squares += float(total - 2 * left) ** 2
        sums[j] = squares
