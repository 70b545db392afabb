"""Rows of a kernel matrix, as the solver asks for them: from a matrix in memory, or on demand, a few kept.

Whoever lends rows answers three questions: the diagonal, the square of entries among some samples, and a
sum of multiples of rows. Sums run in one fixed order, entry by entry: neither threads, which share the
columns, nor the rows that happen to be kept change a digit. A row on demand has the digits of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import numpy as np
from numba import njit

from kernsemble.kernels import thread_count

SERIAL_SUM = 10_000_000  # multiplications below which threads cost more than they save
SERIAL_GATHER = 500_000  # entries, likewise
MOST = 4096  # samples of a square: 128 MB
FORKS = 4  # most threads among which the memory for rows is divided
FEWEST = 2 * FORKS  # rows to keep
PART = 16  # samples of the squares on the diagonal
STRIP = 32_000_000  # bytes of rows that are made at once


class Rows:
    """The rows of a kernel matrix of n samples."""

    diagonal: np.ndarray  # of the matrix
    most: int  # samples whose square may be asked for; the same at any number of threads

    def square(self, samples: np.ndarray, real: type) -> np.ndarray:
        """Contiguous matrix of the entries among these samples, rounded to this type of float.

        For reading only; valid until the next call.
        """
        raise NotImplementedError

    def add(self, target: np.ndarray, samples: np.ndarray, factors: np.ndarray) -> None:
        """Add the rows of these samples, each times its factor, to target."""
        raise NotImplementedError

    def fork(self, share: int) -> Rows:
        """The same rows for one of ``share`` threads, at most FORKS."""
        raise NotImplementedError

    def product(self, beta: np.ndarray) -> np.ndarray:
        """Matrix times beta, summed over the rows where beta is not zero."""
        result, rows = np.zeros(beta.size), np.flatnonzero(beta)
        self.add(result, rows, beta[rows])
        return result


class MatrixRows(Rows):
    """Rows of a contiguous float64 matrix in memory."""

    def __init__(self, K: np.ndarray, threads: int | None = None):
        self.K, self.diagonal, self.most = K, K.diagonal().copy(), MOST
        self.threads = thread_count() if threads is None else threads
        self._last = Square(len(K), self.threads)

    def square(self, samples: np.ndarray, real: type) -> np.ndarray:
        """Entries among these samples."""
        whole = samples.size == len(self.K) and real is np.float64
        return self.K if whole else self._last.of(self.K, samples, samples, real)

    def add(self, target: np.ndarray, samples: np.ndarray, factors: np.ndarray) -> None:
        """Add multiples of rows to target."""
        _share_columns(target, self.K, samples, factors, self.threads)

    def fork(self, share: int) -> MatrixRows:
        """The same matrix."""
        return MatrixRows(self.K, 1 if share > 1 else self.threads)


class CachedRows(Rows):
    """Rows of a kernel of two arrays of samples, made on demand; the last ``capacity`` used are kept."""

    def __init__(self, kernel: Callable, X: np.ndarray, capacity: int, threads: int | None = None):
        self.kernel, self.X = kernel, X
        parts = [X[start : start + PART] for start in range(0, len(X), PART)]
        self.diagonal = np.concatenate([np.diagonal(kernel(part, part)) for part in parts])
        self.most = min(MOST, capacity // FORKS)
        self._hold(capacity, thread_count() if threads is None else threads)

    def _hold(self, capacity: int, threads: int) -> None:
        """Make room for this number of rows; they are used by one problem after the other."""
        n = len(self.X)
        self.threads, self._rows = threads, np.empty((min(n, capacity), n))
        self._place = np.full(n, -1)  # of a sample's row, or -1
        self._owner = np.full(len(self._rows), -1)  # the sample whose row stands there
        self._used, self._clock = np.zeros(len(self._rows), np.int64), 0
        self._last = Square(n, threads)

    def fork(self, share: int) -> CachedRows:
        """The same rows, an equal part of the memory."""
        other = copy(self)
        other._hold(len(self._rows) // share, 1 if share > 1 else self.threads)
        return other

    def square(self, samples: np.ndarray, real: type) -> np.ndarray:
        """Entries among these samples, whose rows are made where they are missing."""
        return self._last.of(self._rows, self._fetch(samples), samples, real)

    def add(self, target: np.ndarray, samples: np.ndarray, factors: np.ndarray) -> None:
        """Add multiples of rows to target, as many at a time as a square has."""
        for start in range(0, samples.size, self.most):
            part = slice(start, start + self.most)
            _share_columns(target, self._rows, self._fetch(samples[part]), factors[part], self.threads)

    def _fetch(self, samples: np.ndarray) -> np.ndarray:
        """Places of the rows of at most ``most`` samples; those that were not used for longest make room."""
        self._clock += 1
        held = self._place[samples]
        self._used[held[held >= 0]] = self._clock
        missing = samples[held < 0]
        places = np.argsort(self._used, kind="stable")[: missing.size]
        evicted = self._owner[places]
        self._place[evicted[evicted >= 0]] = -1
        self._place[missing], self._owner[places], self._used[places] = places, missing, self._clock
        strip = max(1, STRIP // (8 * len(self.X)))
        for start in range(0, missing.size, strip):
            part = slice(start, start + strip)
            rows = self.kernel(self.X[missing[part]], self.X)
            check_finite(rows)
            self._rows[places[part]] = rows
        return self._place[samples]


def check_finite(K: np.ndarray) -> None:
    """Refuse entries of a kernel matrix that are not finite, or whose sum is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = K.sum()
    if not np.isfinite(total):
        raise ValueError("K holds NaN, infinite or overflowing values; scale the features.")


class Square:
    """Entries among some samples; those among samples of the square before are copied from it."""

    def __init__(self, n: int, threads: int):
        self.threads = threads
        self._forget(np.float64)
        self.before = np.full(n, -1)  # place of a sample in the square before, or -1

    def _forget(self, real: type) -> None:
        """No samples; memory for squares of this type of float."""
        self.samples, self.entries = np.empty(0, np.intp), np.empty((0, 0), real)
        self.rooms = [np.empty(0, real), np.empty(0, real)]  # memory of this square and the next

    def of(self, M: np.ndarray, rows: np.ndarray, samples: np.ndarray, real: type) -> np.ndarray:
        """Entries of these rows of M, which are the samples', in the samples' columns."""
        if self.entries.dtype != real:
            self._forget(real)
        if np.array_equal(samples, self.samples):
            return self.entries
        self.before[self.samples] = np.arange(self.samples.size)
        before, last = self.before[samples], self.entries
        self.before[self.samples] = -1
        entries = self._room(samples.size)
        run_spans(
            lambda first, end: _gather(M, rows, samples, before, last, entries, first, end),
            samples.size,
            self.threads if samples.size**2 >= SERIAL_GATHER else 1,
        )
        _mirror(entries, before)
        self.samples, self.entries = samples, entries
        return entries

    def _room(self, size: int) -> np.ndarray:
        """Memory that the last square does not use."""
        self.rooms.reverse()
        if self.rooms[0].size < size**2:
            self.rooms[0] = np.empty(int(1.2 * size**2), self.entries.dtype)
        return self.rooms[0][: size**2].reshape(size, size)


def run_spans(work: Callable[[int, int], None], size: int, threads: int) -> None:
    """Do ``work(first, end)`` for as many spans of ``range(size)`` as there are threads."""
    if threads == 1:
        return work(0, size)
    edges = [int(edge) for edge in np.linspace(0, size, threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, edges[:-1], edges[1:]))
    return None


def _share_columns(
    target: np.ndarray, M: np.ndarray, rows: np.ndarray, factors: np.ndarray, threads: int
) -> None:
    """Add multiples of rows to target, each thread to columns of its own."""
    run_spans(
        lambda first, end: add_rows(target[:end], M, rows, factors, np.int64(rows.size), np.int64(first)),
        target.size,
        threads if rows.size * target.size >= SERIAL_SUM else 1,
    )


@njit(cache=True, nogil=True)
def _gather(M, rows, samples, before, last, entries, first, end):
    """Rows ``first`` to ``end`` of the entries; what the last square holds comes from there."""
    for a in range(first, end):
        target = entries[a]
        if before[a] < 0:
            row = M[rows[a]]
            for b in range(samples.size):
                target[b] = row[samples[b]]
        else:
            row = last[before[a]]
            for b in range(samples.size):
                if before[b] >= 0:
                    target[b] = row[before[b]]


@njit(cache=True, nogil=True)
def _mirror(entries, before):
    """Fill the columns of new samples in the rows of old ones."""
    for b in range(before.size):
        if before[b] < 0:
            row = entries[b]
            for a in range(before.size):
                if before[a] >= 0:
                    entries[a, b] = row[a]


@njit(cache=True, nogil=True)
def add_rows(target, M, rows, factor, size, start):
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
