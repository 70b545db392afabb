"""Columns of -1/+1 at one bit an entry: the matrix of a master over many samples.

Eight columns make a PLANE, a byte a row. A row's share of ``f = H w`` over a plane is one of 256 numbers,
looked up; ``H'V`` over a plane comes from the sums of V by byte. So a pass over J columns costs J / 8
additions a row, and reads J / 8 bytes of it. Rows are passed a block at a time, on several threads; the
blocks' sums are added in their order, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._threads import run_pieces
from kernsemble.masters.quadratic import Hinge
from kernsemble.masters.rows import Rows

BLOCK = 1 << 16
_FEW = 0.25  # share of a block's rows below which they are picked
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SIGNS = 2.0 * _BITS - 1.0  # of the eight columns, for each byte


class PackedRows(Rows):
    """Growing matrix of -1 and +1, behind at most one leading column of ones.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    leading : ndarray of shape (n_samples, n_leading), optional
        Columns that come first.

    Examples
    --------
    >>> import numpy as np
    >>> rows = PackedRows(2)
    >>> rows.add(np.array([1, -1], dtype=np.int8))
    >>> rows.scores(np.array([2.0]))
    array([ 2., -2.])
    """

    float_type = np.float32

    def __init__(self, n_samples: int, leading: np.ndarray | None = None) -> None:
        self.planes: list[np.ndarray] = []
        self.n_samples, self.starts = n_samples, np.arange(0, n_samples, BLOCK)
        super().__init__(n_samples, leading)

    def _store(self, n_samples: int) -> None:
        """No bytes: planes are appended."""
        self.data = None

    @property
    def shape(self) -> tuple[int, int]:
        """Samples, columns."""
        return self.n_samples, self.n_columns

    def _append(self, column: np.ndarray) -> None:
        if self.n_columns % 8 == 0:
            self.planes.append(np.zeros(self.n_samples, dtype=np.uint8))
        bit = np.uint8(1 << self.n_columns % 8)
        for rows in self._blocks():
            if not (np.abs(column[rows]) == 1).all():
                raise ValueError("Packed columns hold -1 and +1 only.")
            self.planes[-1][rows] |= bit * (column[rows] > 0).view(np.uint8)
        self.n_columns += 1

    def _blocks(self) -> list[slice]:
        """Return the rows of each block."""
        return [slice(int(start), int(min(start + BLOCK, self.n_samples))) for start in self.starts]

    def _over_blocks(self, work: Callable[[int, slice], None]) -> None:
        """Call ``work(block, rows)`` for each block, on several threads."""
        blocks = self._blocks()

        def run(start: int, stop: int) -> None:
            for block in range(start, stop):
                work(block, blocks[block])

        run_pieces(run, np.full(len(blocks), BLOCK * (4 + len(self.planes))))

    def scores(self, x: np.ndarray) -> np.ndarray:
        """``A x`` of all samples."""
        padded, out = np.zeros((len(self.planes), 8)), np.zeros(self.n_samples)
        padded.reshape(-1)[: self.n_columns] = x
        tables = padded @ _SIGNS.T

        def work(_block: int, rows: slice) -> None:
            for plane, table in zip(self.planes, tables, strict=True):
                _look_up(plane[rows], table, out[rows])

        self._over_blocks(work)
        return out

    def combine(self, V: np.ndarray) -> np.ndarray:
        """``A' V``; rows with V = 0 cost little."""
        parts = np.zeros((len(self.starts), len(self.planes), 256))

        def work(block: int, rows: slice) -> None:
            weights, moving = V[rows], _nonzero(V[rows])
            few = len(moving) < _FEW * len(weights)
            for plane, table in zip(self.planes, parts[block], strict=True):
                if few:
                    _sum_by_byte(plane[rows][moving], weights[moving], table)
                else:
                    _sum_by_byte(plane[rows], weights, table)

        self._over_blocks(work)
        return (parts.sum(axis=0) @ _SIGNS).reshape(-1)[: self.n_columns]

    def _unpacked(self, indices: np.ndarray) -> np.ndarray:
        if not self.planes:
            return np.zeros((len(indices), 0), dtype=np.int8)
        packed = np.stack([plane[indices] for plane in self.planes], axis=1)
        bits = np.unpackbits(packed, axis=1, count=self.n_columns, bitorder="little")
        return 2 * bits.view(np.int8) - 1

    def column(self, j: int) -> np.ndarray:
        """Entries of one column, (n_samples,)."""
        return 2 * (self.planes[j // 8] >> j % 8 & 1).astype(np.int8) - 1

    def take(self, indices: np.ndarray) -> Rows:
        """Return the matrix of some rows, a byte an entry."""
        return Rows.of(self._unpacked(indices), self.leading[indices])

    def floats(self, indices: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """Rows at the indices, as floats."""
        return self._unpacked(indices).astype(dtype)


class PackedHinge(Hinge):
    """`Hinge` for columns of -1 and +1 over many samples, one bit an entry.

    Parameters
    ----------
    y, C, sample_weight, intercept, tol, max_iter
        As in `Hinge`.

    Examples
    --------
    >>> import numpy as np
    >>> master = PackedHinge(np.array([-1, -1, 1, 1]), C=10.0, tol=1e-9)
    >>> master.add(np.array([-1, -1, 1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> round(float(solution.w[0]), 6), round(solution.objective, 6)
    (1.0, 0.5)
    """

    def __init__(self, y: np.ndarray, C: float = 1.0, **options) -> None:
        super().__init__(y, C, matrix=PackedRows, **options)


@njit(cache=True, nogil=True)
def _look_up(plane, table, out):
    for i in range(len(out)):
        out[i] += table[uint64(plane[i])]


@njit(cache=True, nogil=True)
def _nonzero(V):
    places, count = np.empty(len(V), dtype=np.int64), 0
    for i in range(len(V)):
        places[count] = i
        count += V[i] != 0.0
    return places[:count]


@njit(cache=True, nogil=True)
def _sum_by_byte(plane, V, table):
    for i in range(len(V)):
        table[uint64(plane[i])] += V[i]
