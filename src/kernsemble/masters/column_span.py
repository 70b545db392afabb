r"""Storage of real-valued columns, and their compression where they are linearly dependent.

Any number of columns of a linear kernel have at most the rank of the data. With ``H = B R`` (B orthonormal,
n x r) a quadratic master needs only a matrix Z with ``Z Z' = H H'``: the problem in z (scores Z z, penalty
1/2 |z|^2) has the same scores, dual and objective, and ``w = R' T^-T z`` where ``Z = B T``. A column h
outside the span is appended to Z. A column inside it, ``h = Z a``, is absorbed by a rank-one update::

    Z Z' + h h' = Z (I + a a') Z' = Z~ Z~',  Z~ = Z (I + c a a') = Z + c h a',  c |a|^2 = sqrt(1 + |a|^2) - 1

and ``z~ = (I + c a a')^-1 z`` keeps the scores. Cost per round O(n r) whatever the number of columns.
"""

from __future__ import annotations

import numpy as np

_LARGEST = 1e140  # its square, summed over the samples, is still a number
_DEPENDENT = 1e-10  # what is left of a column outside the span, relative to it, to count as inside


class ColumnBuffer:
    """Matrix that grows by columns, rows contiguous; ``matrix`` is a view of what is filled."""

    def __init__(self, n_rows: int) -> None:
        self._room = np.empty((n_rows, 16))
        self.n_columns = 0

    @property
    def matrix(self) -> np.ndarray:
        """The columns so far, (n_rows, n_columns)."""
        return self._room[:, : self.n_columns]

    def append(self, column: np.ndarray) -> None:
        """Append one column; room grows by half."""
        if self.n_columns == self._room.shape[1]:
            grown = np.empty((len(self._room), self.n_columns + self.n_columns // 2))
            grown[:, : self.n_columns] = self._room
            self._room = grown
        self._room[:, self.n_columns] = column
        self.n_columns += 1


class ColumnSpan:
    """The columns H of a master as ``Z`` with ``Z Z' = H H'``, behind leading columns that are left alone.

    Parameters
    ----------
    leading : ndarray of shape (n_samples, n_leading)
        Unpenalized columns; they come first in ``matrix`` and take no part in the compression.

    Examples
    --------
    >>> import numpy as np
    >>> span = ColumnSpan(np.empty((3, 0)))
    >>> for column in np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]):
    ...     change = span.add(column)
    >>> span.matrix.shape
    (3, 2)
    """

    def __init__(self, leading: np.ndarray) -> None:
        self._buffer = ColumnBuffer(len(leading))
        for column in leading.T:
            self._buffer.append(column)
        self.n_leading = leading.shape[1]
        self._basis = ColumnBuffer(len(leading))
        self._R = np.zeros((0, 0))  # H = B R
        self._T = np.zeros((0, 0))  # Z = B T
        self._map: np.ndarray | None = None

    @property
    def matrix(self) -> np.ndarray:
        """Leading columns, then Z."""
        return self._buffer.matrix

    @property
    def n_columns(self) -> int:
        """Number of columns of H."""
        return self._R.shape[1]

    def add(self, column: np.ndarray) -> np.ndarray | None:
        """Append a column to H; return the map of z that keeps the scores, None if z gains a zero instead."""
        if (largest := np.abs(column).max()) > _LARGEST:
            raise ValueError(f"A column has entries up to {largest:.3g}: scale the features, then fit again.")
        coordinates, left = self._project(column)
        size = np.linalg.norm(left)
        if size > _DEPENDENT * np.linalg.norm(column):
            self._basis.append(left / size)
            self._buffer.append(column)
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
        B = self._basis.matrix
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
        self._buffer.matrix[:, self.n_leading :] += np.outer(column, c * a)
        return np.eye(rank) - np.outer(a, a) * (c / (1.0 + c * square))


def _bordered(matrix: np.ndarray, column: np.ndarray, corner: float) -> np.ndarray:
    """``[[matrix, column], [0, corner]]``."""
    rows, columns = matrix.shape
    out = np.zeros((rows + 1, columns + 1))
    out[:rows, :columns] = matrix
    out[:rows, columns] = column
    out[rows, columns] = corner
    return out
