"""Rows that lie together, in a file or on one machine, and what a stump search asks of them.

Every answer is a sum of whole numbers or a list of rows, so the answers of several parts add up, or join, to
that of the whole: exactly, in any order. Rows are read a block at a time; of a part itself only the places
of its codes are held.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from os import PathLike
from threading import Lock

import numpy as np
from numba import njit, uint64

from kernsemble.growth._stump_coding import Coding, as_values, encode
from kernsemble.hypotheses._threads import run_pieces

BLOCK = 1 << 16  # rows read at a time
_TILE = 1024  # rows whose weights stay in the cache while the features are gone through
_IN_MEMORY = 1 << 26  # bytes of codes up to which no file is worth while


class StumpPart:
    """Some rows of the data, coded.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows, in memory or memory-mapped.
    coding : Coding
        Of the whole data.
    directory : path, default=None
        Where codes that are too many for memory go, 2 bytes an entry, to a file without a name that goes
        when the part goes; None is the system's choice. Bytes need none.

    Attributes
    ----------
    low, high : ndarray of shape (n_features, n_codes)
        Smallest and largest value of each code; low > high where there is none.
    """

    def __init__(self, X: np.ndarray, coding: Coding, directory: str | PathLike | None = None):
        self.X, self.coding = X, coding
        self.low, self.high = coding.empty_ranges()
        self._starts = np.arange(0, len(X), BLOCK)
        self._codes = None
        if coding.is_bytes:
            self._see_bytes()
        else:
            self._encode(directory)
        self._n_rows = np.minimum(BLOCK, len(X) - self._starts)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.X)

    def __sizeof__(self) -> int:
        """Return bytes of rows and codes: what it would cost to send the part elsewhere."""
        return self.X.nbytes + (0 if self._codes is None else self._codes.nbytes)

    def _see_bytes(self) -> None:
        """Learn which values there are."""
        seen = np.zeros(self.low.shape, dtype=bool)
        for start in self._starts:
            _mark(self.X[start : start + BLOCK].T, seen)
        self.low[seen] = self.high[seen] = np.nonzero(seen)[1]

    def _encode(self, directory: str | PathLike | None) -> None:
        """Write the codes, features of a block one after the other."""
        shape = (len(self._starts), self.coding.n_features, BLOCK if len(self._starts) > 1 else len(self.X))
        if 2 * np.prod(shape) <= _IN_MEMORY:
            self._codes = np.empty(shape, dtype=np.uint16)
        else:
            with tempfile.TemporaryFile(dir=directory) as file:
                self._codes = np.memmap(file, dtype=np.uint16, mode="w+", shape=shape)
        for block, start in enumerate(self._starts):
            rows = as_values(self.X[start : start + BLOCK])
            encode(rows, self.coding, self._codes[block], (self.low, self.high), start)

    def codes(self, block: int) -> np.ndarray:
        """Return the codes of a block, (n_features, n_rows or more)."""
        if self._codes is None:
            return self.X[self._starts[block] : self._starts[block] + BLOCK].T
        return self._codes[block]

    def rows(self, block: int) -> slice:
        """Return where a block's rows are."""
        return slice(int(self._starts[block]), int(self._starts[block] + self._n_rows[block]))

    def tables(self, W: np.ndarray) -> np.ndarray:
        """Return the sums of the positive and of the negative weights of each coarse code.

        Parameters
        ----------
        W : ndarray of shape (n_samples, K), int64
            Signed weights.

        Returns
        -------
        tables : ndarray of shape (K, n_features, n_coarse, 2), int64
        """
        return self.tables_of(lambda block: W[self.rows(block)], W.shape[1])

    def tables_of(self, weights: Callable[[int], np.ndarray], n_columns: int = 1) -> np.ndarray:
        """Return ``tables`` of weights that are made block by block, in the same pass."""
        out = np.zeros((n_columns, self.coding.n_features, 2 * self.coding.n_coarse), dtype=np.int64)
        self._over_blocks(
            out, lambda block, part: _tabulate(self.codes(block), weights(block), self.coding.shifts, part)
        )
        return out.reshape(*out.shape[:2], -1, 2)

    def _over_blocks(self, out: np.ndarray, add: Callable[[int, np.ndarray], None]) -> None:
        """Let threads add up blocks, each on its own, and add up what they have."""
        lock = Lock()

        def work(start: int, stop: int) -> None:
            mine = np.zeros_like(out)
            for block in range(start, stop):
                add(block, mine)
            with lock:
                np.add(out, mine, out=out)

        run_pieces(work, self._n_rows * max(1, out.size // out.shape[-1]))

    def fine(self, W: np.ndarray, places: list[tuple[int, np.ndarray]]) -> list[np.ndarray]:
        """Return for each place (feature, coarse codes) sums by code: (K, len(coarse), codes of each, 2)."""
        return [self._fine(W, feature, coarse) for feature, coarse in places]

    def _fine(self, W: np.ndarray, feature: int, coarse: np.ndarray) -> np.ndarray:
        shift = int(self.coding.shifts[feature])
        slots = np.full(self.coding.n_coarse, -1, dtype=np.int64)
        slots[coarse] = np.arange(len(coarse))
        out = np.zeros((W.shape[1], len(coarse), 2 << shift), dtype=np.int64)
        self._over_blocks(
            out,
            lambda block, part: _refine(self.codes(block)[feature], W[self.rows(block)], shift, slots, part),
        )
        return out.reshape(*out.shape[:2], -1, 2)

    def entries(self, W: np.ndarray, feature: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values (m,) and weights (m, K) of the rows whose code is one of some."""
        chosen = np.zeros(self.coding.n_codes, dtype=bool)
        chosen[codes] = True
        values, weights = [as_values(self.X[:0, feature])], [W[:0]]
        for block in range(len(self._starts)):
            rows = self._n_rows[block]
            found = np.flatnonzero(chosen[self.codes(block)[feature, :rows]]) + self._starts[block]
            values.append(as_values(self.X[found, feature]))
            weights.append(W[found])
        return np.concatenate(values), np.concatenate(weights)

    def column(self, feature: int, threshold: float) -> np.ndarray:
        """Return +1 where the feature exceeds the threshold and -1 elsewhere, int8."""
        out = np.empty(len(self), dtype=np.int8)
        for block, signs in enumerate(self.block_columns(feature, threshold)):
            out[self.rows(block)] = signs
        return out

    def block_columns(self, feature: int, threshold: float) -> Iterator[np.ndarray]:
        """Yield ``column`` block by block."""
        outputs, between = self.sides(feature, threshold)
        yield from (
            self.block_column(block, feature, threshold, outputs, between)
            for block in range(len(self._starts))
        )

    def sides(self, feature: int, threshold: float) -> tuple[np.ndarray, int]:
        """Return the output at each code, and the code with values on both sides (-1: none)."""
        low, high = self.low[feature].astype(np.float64), self.high[feature].astype(np.float64)
        outputs = np.where(low > threshold, 1, -1).astype(np.int8)
        between = np.flatnonzero((low <= threshold) & (threshold < high))
        return outputs, int(between[0]) if len(between) else -1

    def block_column(
        self, block: int, feature: int, threshold: float, outputs: np.ndarray, between: int
    ) -> np.ndarray:
        """Return a block of ``column``, given the sides."""
        rows = self.rows(block)
        codes = self.codes(block)[feature, : rows.stop - rows.start]
        signs = outputs[codes]
        if between >= 0:
            found = np.flatnonzero(codes == between)
            signs[found] = np.where(as_values(self.X[rows.start + found, feature]) > threshold, 1, -1)
        return signs


@njit(cache=True, nogil=True)
def _mark(codes, seen):
    """Note which codes occur."""
    for f in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            seen[f, uint64(codes[f, i])] = True


@njit(cache=True, nogil=True)
def _tabulate(codes, W, shifts, tables):
    """tables[k, f, 2 c + (w < 0)] += |w| over the rows of coarse code c."""
    magnitude, negative = np.empty(_TILE, np.int64), np.empty(_TILE, np.uint64)
    for start in range(0, len(W), _TILE):
        n_rows = min(_TILE, len(W) - start)
        for k in range(W.shape[1]):
            for i in range(n_rows):
                magnitude[i], negative[i] = abs(W[start + i, k]), uint64(W[start + i, k] < 0)
            for f in range(len(shifts)):
                table, shift = tables[k, f], uint64(shifts[f])
                for i in range(n_rows):
                    code = uint64(codes[f, start + i]) >> shift
                    table[uint64(2) * code + negative[i]] += magnitude[i]


@njit(cache=True, nogil=True)
def _refine(codes, W, shift, slots, tables):
    """The same at full resolution for one feature, where a coarse code has a slot."""
    within = (1 << shift) - 1
    for i in range(len(W)):
        code = np.int64(codes[i])
        slot = slots[code >> shift]
        if slot >= 0:
            for k in range(W.shape[1]):
                w = W[i, k]
                tables[k, slot, 2 * (code & within) + (1 if w < 0 else 0)] += abs(w)
