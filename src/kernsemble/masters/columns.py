"""The signed rows ``a_i = y_i (h_1(x_i), ..., h_J(x_i))`` of a margin master; balanced dual weights.

Rows are int8 as long as all columns are -1, 0 or +1, float64 from the first other column on.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernsemble.masters.losses import FAST

_CHUNK = 64


class SignedColumns:
    """Growing matrix of the signed rows ``y_i h_j(x_i)``.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    intercept : bool, default=False
        Whether column 0 is the constant 1 (an intercept).

    Examples
    --------
    >>> import numpy as np
    >>> columns = SignedColumns(np.array([1.0, -1.0]))
    >>> columns.add(np.array([1, 1], dtype=np.int8))
    array([ 1., -1.])
    >>> columns.margins(np.array([2.0]))
    array([ 2., -2.])
    """

    def __init__(self, y: np.ndarray, intercept: bool = False) -> None:
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.rows = np.zeros((len(self.y), _CHUNK), dtype=np.int8)
        self.n_columns = 0
        if intercept:
            self.add(np.ones(len(self.y), dtype=np.int8))

    def add(self, column: np.ndarray) -> np.ndarray:
        """Append one column of hypothesis outputs; return it with the signs of y."""
        column = np.asarray(column)
        if column.shape != self.y.shape:
            raise ValueError(f"column has shape {column.shape}, the problem has {len(self.y)} samples.")
        is_small = column.dtype == np.int8 and column.min(initial=0) > -128
        if not is_small and self.rows.dtype == np.int8:
            self.rows = self.rows.astype(np.float64)
        if self.n_columns == self.rows.shape[1]:
            room = np.zeros(
                (len(self.y), _CHUNK * max(1, self.n_columns // (2 * _CHUNK))), dtype=self.rows.dtype
            )
            self.rows = np.hstack([self.rows, room])
        signed = column * self.y
        self.rows[:, self.n_columns] = signed
        self.n_columns += 1
        return signed

    @property
    def shape(self) -> tuple[int, int]:
        """Samples, columns (with the intercept's)."""
        return len(self.y), self.n_columns

    def margins(self, theta: np.ndarray) -> np.ndarray:
        """Margins ``A theta`` of all samples."""
        out = np.empty(len(self.y))
        _margins(self.rows, theta, out)
        return out

    def combine(self, u: np.ndarray) -> np.ndarray:
        """Weights ``A' u``; rows with u = 0 cost nothing."""
        out = np.zeros(self.n_columns)
        _combine(self.rows, u, out)
        return out


def balance(u: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Scale down the heavier class until y'u = 0."""
    positive, negative = _class_sums(u, y)
    if positive == negative:
        return u
    keep = min(positive, negative) / max(positive, negative)
    of_positive, of_negative = (keep, 1.0) if positive > negative else (1.0, keep)
    out = np.empty_like(u)
    _scale_classes(u, y, of_positive, of_negative, out)
    return out


@njit(cache=True, fastmath=FAST)
def _class_sums(u, y):
    positive, negative = 0.0, 0.0
    for i in range(len(u)):
        positive += u[i] if y[i] > 0.0 else 0.0
        negative += 0.0 if y[i] > 0.0 else u[i]
    return positive, negative


@njit(cache=True)
def _scale_classes(u, y, of_positive, of_negative, out):
    for i in range(len(u)):
        out[i] = u[i] * (of_positive if y[i] > 0.0 else of_negative)


@njit(cache=True, fastmath=FAST)
def _margins(rows, theta, out):
    for i in range(len(out)):
        row = rows[i]
        total = 0.0
        for j in range(len(theta)):
            total += row[j] * theta[j]
        out[i] = total


@njit(cache=True, fastmath=FAST)
def _combine(rows, u, out):
    for i in range(len(u)):
        if u[i] != 0.0:
            row = rows[i]
            for j in range(len(out)):
                out[j] += row[j] * u[i]
