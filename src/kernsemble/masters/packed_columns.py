"""Columns of -1/+1 at one bit an entry, and the sums over rows that a margin master needs of them.

Eight columns make a PLANE, a byte a row. A row's share of ``f = H w`` over a plane is one of 256 numbers,
looked up; ``H' u`` over a plane comes from the sums of u by byte. So a pass over J columns costs J / 8
additions a row, and reads J / 8 bytes of it. Rows are passed a block at a time; the blocks' sums are added
in their order, so results do not depend on the number of threads.

Symbols: a_i = y_i (h_1(x_i), ..., h_J(x_i)), A the matrix of these rows, m = A theta.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, uint64
from scipy.linalg import blas

from kernsemble.hypotheses._threads import run_pieces

BLOCK = 1 << 16
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SIGNS = 2.0 * _BITS - 1.0  # of the eight columns, for each byte


class PackedColumns:
    """Growing matrix of the signed rows ``y_i h_j(x_i)``.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.

    Examples
    --------
    >>> import numpy as np
    >>> columns = PackedColumns(np.array([1, -1]))
    >>> columns.add(np.array([1, 1], dtype=np.int8))
    >>> out = np.zeros(2)
    >>> columns.add_margins(np.array([2.0]), out)
    >>> out
    array([ 2., -2.])
    """

    def __init__(self, y: np.ndarray) -> None:
        self.y = np.asarray(y).astype(np.int8)
        self.planes: list[np.ndarray] = []
        self.n_columns = 0
        self.starts = np.arange(0, len(self.y), BLOCK)

    def add(self, column: np.ndarray) -> None:
        """Append a column of -1 and +1, (n_samples,)."""
        column = np.asarray(column)
        if column.shape != self.y.shape:
            raise ValueError(f"column has shape {column.shape}, the problem has {len(self.y)} samples.")
        if self.n_columns % 8 == 0:
            self.planes.append(np.zeros(len(self.y), dtype=np.uint8))
        bit = np.uint8(1 << self.n_columns % 8)
        for rows in self.blocks():
            if not (np.abs(column[rows]) == 1).all():
                raise ValueError("Packed columns hold -1 and +1 only.")
            self.planes[-1][rows] |= bit * (column[rows] > 0).view(np.uint8)
        self.n_columns += 1

    def blocks(self) -> list[slice]:
        """Return the rows of each block."""
        return [slice(int(start), int(min(start + BLOCK, len(self.y)))) for start in self.starts]

    def over_blocks(self, work: Callable[[int, slice], None]) -> None:
        """Call ``work(block, rows)`` for each block, on several threads."""
        blocks = self.blocks()

        def run(start: int, stop: int) -> None:
            for block in range(start, stop):
                work(block, blocks[block])

        run_pieces(run, np.full(len(blocks), BLOCK * (4 + len(self.planes))))

    def sums(self, of: Callable[[slice], float | np.ndarray], width: int) -> np.ndarray:
        """Return the sum over all blocks of ``of(rows)``, an array of ``width`` numbers."""
        parts = np.empty((len(self.starts), width))

        def work(block: int, rows: slice) -> None:
            parts[block] = of(rows)

        self.over_blocks(work)
        return parts.sum(axis=0)

    def add_margins(self, theta: np.ndarray, out: np.ndarray) -> None:
        """Add the margins ``A theta`` of all samples to out."""
        padded = np.zeros((len(self.planes), 8))
        padded.reshape(-1)[: self.n_columns] = theta
        tables = padded @ _SIGNS.T

        def work(_block: int, rows: slice) -> None:
            for plane, table in zip(self.planes, tables, strict=True):
                _look_up(plane[rows], self.y[rows], table, out[rows])

        self.over_blocks(work)

    def combine(self, weights: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Return ``A' u`` over the negative and over the positive class, (2, n_columns).

        ``weights(rows)`` makes u for a block of rows, in the same pass.
        """

        def count(rows: slice) -> np.ndarray:
            u = weights(rows)
            tables = np.zeros((len(self.planes), 2, 256))
            for plane, table in zip(self.planes, tables, strict=True):
                _sum_by_byte(plane[rows], self.y[rows], u, table)
            return tables.reshape(-1)

        tables = self.sums(count, 512 * len(self.planes)).reshape(-1, 2, 256)
        by_class = (tables @ _SIGNS).transpose(1, 0, 2).reshape(2, -1)[:, : self.n_columns]
        by_class[0] *= -1.0
        return by_class

    def gram(self, scale: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Return ``A' diag(s) A``; ``scale(rows)`` makes s >= 0 for a block of rows, mostly 0."""
        total = np.zeros((self.n_columns, self.n_columns))
        for rows in self.blocks():
            s = scale(rows)
            found = np.flatnonzero(s)
            if not len(found):
                continue
            packed = np.stack([plane[rows][found] for plane in self.planes], axis=1)
            bits = np.unpackbits(packed, axis=1, count=self.n_columns, bitorder="little")
            A, s = bits * np.float32(2.0) - np.float32(1.0), s[found]
            factor = s[0]
            if (s != factor).any():
                A, factor = A * np.sqrt(s)[:, None].astype(np.float32), 1.0
            # A' of a C-ordered A is Fortran-ordered: no copy. Sums of +-1 are exact in single precision.
            total += factor * blas.ssyrk(1.0, A.T, lower=1).astype(np.float64)
        return total + np.tril(total, -1).T


@njit(cache=True, nogil=True)
def _look_up(plane, y, table, out):
    for i in range(len(out)):
        out[i] += y[i] * table[uint64(plane[i])]


@njit(cache=True, nogil=True)
def _sum_by_byte(plane, y, u, table):
    for i in range(len(u)):
        table[uint64(y[i] > 0), uint64(plane[i])] += u[i]
