r"""The matrices that Newton's method works on: columns that arrive one by one, stored by rows.

A master asks its matrix A (leading unpenalized columns, then those of the hypotheses) four things: scores
``A x``, combinations ``A'V``, some rows, and room for a column. `Rows` stores int8 as long as all columns are
-1, 0 or +1 or other small integers (eight times less memory traffic than float64), float64 from the first
other column on. Rows are contiguous, because Newton's method visits few rows and all of their columns;
integer entries are widened in registers, no float copy of the whole is ever made. `Span` compresses linearly
dependent columns, `PackedRows` stores -1 and +1 as bits.

`RowGram` keeps inner products of the rows near a kink, `ColumnGram` those of columns over active rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit, uint64
from scipy.linalg import blas, lapack

from kernsemble.hypotheses._threads import run_pieces
from kernsemble.masters.losses import FAST

_CHUNK = 64
_LARGEST = 1e140  # its square, summed over the samples, is still a number
_DEPENDENT = 1e-10  # what is left of a column outside the span, relative to it, to count as inside
_SPARE = 1.25  # room for later rows in a Gram matrix
BLOCK = 1 << 16  # rows widened, or unpacked, at a time
_PAD = 32  # columns by which a Gram matrix grows
_PICK = 0.25  # share of a block's rows below which they are picked
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SIGNS = 2.0 * _BITS - 1.0  # of the eight columns, for each byte
_MOST_ROWS = 3  # times the number of columns: rows held, beyond which those not asked for are forgotten


class Rows:
    """Growing matrix, rows contiguous; ``leading`` (n_samples, n_leading) holds columns that come first.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(2)
    >>> rows.add(np.array([1, -1], dtype=np.int8))
    >>> rows.scores(np.array([2.0])), rows.combine(np.array([1.0, 0.5]))
    (array([ 2., -2.]), array([0.5]))
    """

    def __init__(self, n_samples: int, leading: np.ndarray | None = None) -> None:
        self._store(n_samples)
        self.n_columns = 0
        self.leading = np.empty((n_samples, 0), dtype=np.int8) if leading is None else leading
        for column in self.leading.T:
            self._append(column)

    def _store(self, n_samples: int) -> None:
        """Make room."""
        self.data = np.zeros((n_samples, _CHUNK), dtype=np.int8)

    @classmethod
    def of(cls, data: np.ndarray, leading: np.ndarray) -> Rows:
        """Return the matrix ``data``, rows contiguous, whose first columns are the leading ones."""
        rows = cls(0)
        rows.data, rows.n_columns, rows.leading = data, data.shape[1], leading
        return rows

    def add(self, column: np.ndarray) -> None:
        """Append one column (n_samples,), int8 or float64."""
        self._append(check_column(column, self.shape[0]))

    def _append(self, column: np.ndarray) -> None:
        if column.dtype != np.int8 and self.data.dtype == np.int8:
            self.data = self.data.astype(np.float64)
        n, room = self.data.shape
        if self.n_columns == room:
            grown = np.zeros((n, room + _CHUNK * max(1, room // (2 * _CHUNK))), dtype=self.data.dtype)
            grown[:, :room] = self.data
            self.data = grown
        self.data[:, self.n_columns] = column
        self.n_columns += 1

    @property
    def shape(self) -> tuple[int, int]:
        """Samples, columns."""
        return len(self.data), self.n_columns

    @property
    def n_leading(self) -> int:
        """Unpenalized columns."""
        return self.leading.shape[1]

    @property
    def float_type(self) -> type:
        """Type in which products of two entries are exact, or as exact as can be."""
        return np.float32 if self.data.dtype == np.int8 else np.float64

    def scores(self, x: np.ndarray) -> np.ndarray:
        """``A x`` of all samples."""
        out = np.empty(len(self.data))
        _scores(self.data, x, out)
        return out

    def combine(self, V: np.ndarray) -> np.ndarray:
        """``A' V``; rows with V = 0 cost nothing."""
        out = np.zeros(self.n_columns)
        _combine(self.data, V, out)
        return out

    def weights(self, z: np.ndarray) -> np.ndarray:
        """Weights of the columns that were added: here the coefficients themselves."""
        return z.copy()

    def column(self, j: int) -> np.ndarray:
        """Entries of one column, (n_samples,)."""
        return self.data[:, j]

    def take(self, indices: np.ndarray) -> Rows:
        """Return the matrix of some rows."""
        return Rows.of(self.data[indices, : self.n_columns], self.leading[indices])

    def floats(self, indices: np.ndarray, dtype: type = np.float64) -> np.ndarray:
        """Rows at the indices, as floats."""
        return self.data[indices, : self.n_columns].astype(dtype)


def check_column(column: np.ndarray, n_samples: int) -> np.ndarray:
    """Return a column as int8 or float64; refuse another length, nan and infinities."""
    column = np.asarray(column)
    if column.shape != (n_samples,):
        raise ValueError(f"column has shape {column.shape}, the problem has {n_samples} samples.")
    if column.dtype == np.int8:
        return column
    column = column.astype(np.float64)
    if not np.all(np.isfinite(column)):
        raise ValueError("column holds nan or infinite values; scale the features or the kernel.")
    return column


class Span(Rows):
    """Columns H as ``Z`` with ``Z Z' = H H'``, as many as the rank of H, behind the leading ones.

    Any number of columns of a linear kernel have at most the rank of the data. With ``H = B R`` (B
    orthonormal, n x r) a quadratic master needs only such a Z: the problem in z (scores Z z, penalty
    1/2 |z|^2) has the same scores, dual and objective, and ``w = R' T^-T z`` where ``Z = B T``. A column h
    outside the span is appended to Z. A column inside it, ``h = Z a``, is absorbed by a rank-one update::

        Z Z' + h h' = Z (I + a a') Z' = Z~ Z~',  Z~ = Z (I + c a a') = Z + c h a',
        c |a|^2 = sqrt(1 + |a|^2) - 1

    and ``z~ = (I + c a a')^-1 z`` keeps the scores. Cost per round O(n r) whatever the number of columns.
    """

    def __init__(self, n_samples: int, leading: np.ndarray | None = None) -> None:
        super().__init__(n_samples, leading)
        self._basis = Rows(n_samples)
        self.data, self._basis.data = self.data.astype(np.float64), self._basis.data.astype(np.float64)
        self._R = np.zeros((0, 0))  # H = B R
        self._T = np.zeros((0, 0))  # Z = B T

    def add(self, column: np.ndarray) -> np.ndarray | None:
        """Append a column to H; return the map of z that keeps the scores, None if z gains a zero instead."""
        column = check_column(column, len(self.data)).astype(np.float64)
        if (largest := np.abs(column).max(initial=0.0)) > _LARGEST:
            raise ValueError(f"A column has entries up to {largest:.3g}: scale the features, then fit again.")
        coordinates, left = self._project(column)
        size = np.linalg.norm(left)
        if size > _DEPENDENT * np.linalg.norm(column):
            self._basis.add(left / size)
            self._append(column)
            self._R = _bordered(self._R, coordinates, size)
            self._T = _bordered(self._T, coordinates, size)
            return None
        self._R = np.column_stack([self._R, coordinates])
        return self._absorb(column, coordinates)

    def weights(self, z: np.ndarray) -> np.ndarray:
        """Weights w of the columns of H: those of least norm with ``H w = Z z``."""
        if self._R.shape[0] == self._R.shape[1]:  # nothing was absorbed: Z is H
            return z.copy()
        return self._R.T @ np.linalg.solve(self._T.T, z)

    def _project(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates in the basis and what is left; twice, so that it is orthogonal to rounding."""
        B = self._basis.data[:, : self._basis.n_columns]
        coordinates = B.T @ column
        left = column - B @ coordinates
        again = B.T @ left
        return coordinates + again, left - B @ again

    def _absorb(self, column: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        rank = len(self._T)
        a = np.linalg.solve(self._T, coordinates) if rank else coordinates
        square = float(a @ a)
        if square == 0.0:
            return np.eye(rank)
        c = (np.sqrt(1.0 + square) - 1.0) / square
        update = np.eye(rank) + c * np.outer(a, a)
        self._T = self._T @ update
        self.data[:, self.n_leading : self.n_columns] += np.outer(column, c * a)
        return np.eye(rank) - np.outer(a, a) * (c / (1.0 + c * square))


def _bordered(matrix: np.ndarray, column: np.ndarray, corner: float) -> np.ndarray:
    """``[[matrix, column], [0, corner]]``."""
    rows, columns = matrix.shape
    out = np.zeros((rows + 1, columns + 1))
    out[:rows, :columns] = matrix
    out[:rows, columns] = column
    out[rows, columns] = corner
    return out


class PackedRows(Rows):
    """`Rows` of -1 and +1 at one bit an entry, behind at most one leading column of ones.

    Eight columns make a PLANE, a byte a row. A row's share of ``f = H w`` over a plane is one of 256 numbers,
    looked up; ``H'V`` over a plane comes from the sums of V by byte. So a pass over J columns costs J / 8
    additions a row, and reads J / 8 bytes of it. Rows are passed a block at a time, on several threads; the
    blocks' sums are added in their order, so results do not depend on the number of threads.
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
            few = len(moving) < _PICK * len(weights)
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


class RowGram:
    """Inner products of the penalized parts of the rows near a kink.

    Few rows are ever free, and mostly the same ones from step to step and from round to round. So the
    products are kept: rows are added as they are asked for, and a new column adds one term (to a `Span` as
    well: Z Z' = H H'). Those of int8 rows are integers, exact in single precision.
    """

    def __init__(self, matrix: Rows) -> None:
        self.columns = matrix
        self._forget()

    def _forget(self) -> None:
        self.dtype = self.columns.float_type
        self.rows = np.empty(0, dtype=np.int64)
        self._place = np.full(self.columns.shape[0], -1, dtype=np.int64)
        self.matrix = np.empty((0, 0), dtype=self.dtype)

    def grow(self, column: np.ndarray) -> None:
        """Follow the growth of the rows by a column."""
        held = len(self.rows)
        if self.dtype != self.columns.float_type:
            self._forget()
        elif held:
            new = column[self.rows].astype(self.dtype)
            _add_outer(self.matrix, new, held)

    def system(self, indices: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Lower triangle of the products of these rows, in double precision, with a shifted diagonal."""
        missing = indices[self._place[indices] < 0]
        if len(self.rows) + len(missing) > max(_MOST_ROWS * self.columns.n_columns, len(indices)):
            self._forget()
            missing = indices
        if len(missing):
            self._append(missing)
        out = np.empty((len(indices), len(indices)), order="F")
        _gather(self.matrix, self._place[indices], shift, out)
        return out

    def _append(self, new: np.ndarray) -> None:
        """Add the products of new rows with all."""
        held, total = len(self.rows), len(self.rows) + len(new)
        if total > len(self.matrix):
            matrix = np.empty((int(_SPARE * total),) * 2, dtype=self.dtype)
            matrix[:held, :held] = self.matrix[:held, :held]
            self.matrix = matrix
        self.rows = np.append(self.rows, new)
        self._place[new] = np.arange(held, total)
        A = self.columns.floats(self.rows, self.dtype)[:, self.columns.n_leading :]
        products = A[held:] @ A.T
        self.matrix[held:total, :total] = products
        self.matrix[:held, held:total] = products[:, :held].T


def products_of_columns(rows: Rows, indices: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Lower triangle of ``A' diag(slope) A`` over some rows, in double precision."""
    even = bool(np.all(slope == slope[0]))
    dtype = rows.float_type if even else np.float64
    rank_k = blas.ssyrk if dtype == np.float32 else blas.dsyrk
    total = np.zeros((rows.n_columns, rows.n_columns), order="F")
    for start in range(0, len(indices), BLOCK):
        block = slice(start, start + BLOCK)
        A = rows.floats(indices[block], dtype)
        if not even:
            A *= np.sqrt(slope[block])[:, None]
        total += rank_k(1.0, A.T, lower=1)  # A' of a C-ordered A is Fortran-ordered: no copy
    return slope[0] * total if even else total


def solve_positive_definite(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solve a system given by its lower triangle, with a jitter where rounding made it indefinite."""
    jitter = 1e-15 * float(np.max(np.diagonal(matrix)))
    for _ in range(8):
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return lapack.dpotrs(factor, rhs, lower=1)[0]
        matrix[np.diag_indices(len(rhs))] += jitter
        jitter *= 100.0
    raise np.linalg.LinAlgError("Newton's matrix is not positive definite; are the columns finite?")


@njit(cache=True, fastmath=FAST)
def _scores(data, x, out):
    for i in range(len(out)):
        row = data[i]
        total = 0.0
        for j in range(len(x)):
            total += row[j] * x[j]
        out[i] = total


@njit(cache=True, fastmath=FAST)
def _combine(data, V, out):
    for i in range(len(V)):
        if V[i] != 0.0:
            row = data[i]
            for j in range(len(out)):
                out[j] += row[j] * V[i]


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


@njit(cache=True)
def _add_outer(matrix, new, held):
    for i in range(held):
        for j in range(held):
            matrix[i, j] += new[i] * new[j]


@njit(cache=True)
def _gather(matrix, places, shift, out):
    """Copy a principal part of the matrix, lower triangle, and shift its diagonal."""
    for j in range(len(places)):
        row = matrix[places[j]]
        for i in range(j, len(places)):
            out[i, j] = row[places[i]]
        out[j, j] += shift[j]


class ColumnGram:
    """Lower triangle of ``A_I' diag(slope) A_I`` over active rows I, kept up to date.

    It changes by the rows that enter or leave, and grows by a column a round; it is padded with zeros, so
    that it is seldom moved. ``slope`` holds the factors of all samples.
    """

    def __init__(self, matrix: Rows, slope: np.ndarray) -> None:
        self.columns, self.slope = matrix, slope
        self.active = np.zeros(len(slope), dtype=bool)
        size = _PAD * (1 + matrix.n_columns // _PAD)
        self.matrix = np.zeros((size, size), order="F")
        self.work = np.empty((size, size), order="F")

    def grow(self, column: np.ndarray, appended: bool = True) -> None:
        """Border the matrix by the products with a new column; forget it if that changed the others."""
        m, size = self.columns.n_columns, len(self.matrix)
        if size < m:
            matrix = np.zeros((size + _PAD, size + _PAD), order="F")
            matrix[:size, :size] = self.matrix
            self.matrix, self.work = matrix, np.empty_like(matrix)
        if not appended:
            self.active[:], self.matrix[:] = False, 0.0
        if not self.active.any():
            return
        self.matrix[m - 1, :m] = self.columns.combine(np.where(self.active, self.slope * column, 0.0))

    def solve(self, indices: np.ndarray, shift: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """Solve with the matrix over the given rows and a shifted diagonal."""
        active = np.zeros(len(self.active), dtype=bool)
        active[indices] = True
        self._update(active)
        np.copyto(self.work, self.matrix)
        m, diagonal, padded = len(rhs), self.work.ravel("F")[:: len(self.work) + 1], np.zeros(len(self.work))
        diagonal[:m] += shift
        diagonal[m:] += 1.0
        padded[:m] = rhs
        factor, failed = lapack.dpotrf(self.work, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return lapack.dpotrs(factor, padded, lower=1)[0][:m]
        return solve_positive_definite(self.matrix[:m, :m] + np.diag(shift), rhs)

    def _update(self, active: np.ndarray) -> None:
        """Exchange rows until I is ``active``."""
        leave, enter = np.flatnonzero(self.active & ~active), np.flatnonzero(active & ~self.active)
        if len(leave) + len(enter) > active.sum():
            self.matrix[:] = 0.0
            leave, enter = leave[:0], np.flatnonzero(active)
        self._exchange(leave, -1.0)
        self._exchange(enter, 1.0)
        self.active = active

    def _exchange(self, rows: np.ndarray, factor: float) -> None:
        if len(rows):
            A = np.zeros((len(rows), len(self.matrix)))
            A[:, : self.columns.n_columns] = self.columns.floats(rows)
            A *= np.sqrt(self.slope[rows])[:, None]
            # A' of a C-ordered A is Fortran-ordered: no copy.
            self.matrix = blas.dsyrk(factor, A.T, beta=1.0, c=self.matrix, lower=1, overwrite_c=1)


@njit(cache=True)
def _shuffle(indices, seed):
    """Permute indices in place by a 64-bit linear congruential generator; return its next state."""
    for t in range(len(indices) - 1, 0, -1):
        seed = seed * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        r = np.int64(((seed >> np.uint64(32)) * np.uint64(t + 1)) >> np.uint64(32))
        indices[t], indices[r] = indices[r], indices[t]
    return seed


@njit(cache=True, fastmath=FAST)
def ascend(data, indices, V, x, target, lower, upper, epsilon, curvature, n_leading, metric, n_epochs):
    """Dual coordinate ascent over the given rows, in place; x moves by ``A'V`` over the metric."""
    seed, stretch = np.uint64(len(indices)), 1.0 / metric - 1.0
    square = np.empty(len(data))
    for i in indices:
        row = data[i]
        total = 0.0
        for j in range(len(x)):
            total += np.float64(row[j]) * row[j]
        for j in range(n_leading):
            total += stretch * row[j] * row[j]
        square[i] = total
    for _ in range(n_epochs):
        seed = _shuffle(indices, seed)
        for i in indices:
            row = data[i]
            f = 0.0
            for j in range(len(x)):
                f += row[j] * x[j]
            r = target[i] - f + square[i] * V[i]
            r = max(r - epsilon, 0.0) + min(r + epsilon, 0.0)
            bent = square[i] + (curvature[i] if len(curvature) else 0.0)
            step = min(max(r / bent if bent > 0.0 else 1e300 * r, lower[i]), upper[i]) - V[i]
            if step != 0.0:
                V[i] += step
                for j in range(n_leading):
                    x[j] += step * stretch * row[j]
                for j in range(len(x)):
                    x[j] += step * row[j]
