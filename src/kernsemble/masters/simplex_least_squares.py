r"""Least squares on simplex codes: problem (10) of shen2014, over the columns found so far.

::

    Primal:  min_{W,b}  1/2 |W|^2 + C/2 sum_i s_i |O_i|^2,      O = L - H W - 1 b'                       (10)
    Dual:    max_U  sum_i U_i . L_i - 1/2 |H'U|^2 - 1/(2C) sum_i |U_i|^2 / s_i,   1'U = 0

L_i is the code of sample i's class: K = l + 1 unit vectors of R^l with inner products -1/l. At the optimum
U = C s O, W = H'U (12). Sample weights s_i multiply the losses.

Method: the intercepts center L and H (by the means weighted with s), which leaves the normal equations
A W = Hc' s Lc, A = Hc' s Hc + I/C of size J x J. A new column appends one row to the Cholesky factor of A,
so W changes by a multiple of one vector v in each output, and O by a multiple of g = Hc v: a round costs
three passes over the columns, whatever the number of outputs. (11) asks for the inverse of an m x m matrix
instead; the solutions are the same. Repeated columns are no trouble: 1/C keeps every pivot positive.

Stop: none is needed, the solution is exact. The gap is ``1/2 |W - H'U|^2`` and shows what rounding has left.

Paper symbols: Phi(x) = a row of H (the paper's H is its transpose), tau = output, J = n_columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernsemble.masters.base import Solution
from kernsemble.masters.losses import FAST
from kernsemble.masters.rows import check_column


def simplex_codes(n_classes: int) -> np.ndarray:
    """Return K unit vectors of R^(K-1) with inner products -1/(K-1), as rows: the vertices of a regular
    simplex.

    The appendix of shen2014 that was to define them is missing. One vertex is the first axis; the others are
    at -1/l on it, and what is left of them is the simplex of one dimension less.

    Parameters
    ----------
    n_classes : int
        Number of classes K, at least 2.

    Returns
    -------
    ndarray of shape (n_classes, n_classes - 1)

    References
    ----------
    Y. Mroueh, T. Poggio, L. Rosasco and J.-J. Slotine, Multiclass learning with simplex coding, NeurIPS 2012.

    Examples
    --------
    >>> from kernsemble.masters.simplex_least_squares import simplex_codes
    >>> (simplex_codes(3) @ simplex_codes(3).T).round(6) + 0.0
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    codes = np.zeros((n_classes, n_classes - 1))
    size = 1.0
    for axis in range(n_classes - 1):
        others = n_classes - 1 - axis
        codes[axis, axis] = size
        codes[axis + 1 :, axis] = -size / others
        size *= np.sqrt(1.0 - 1.0 / others**2)
    return codes


class SimplexLeastSquares:
    """Master of least squares on simplex codes.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes 0..K-1 of the samples, K at least 2.
    C : float, default=1.0
        Weight of the sum of squares.
    sample_weight : ndarray of shape (n_samples,), optional
        Positive factors s_i of C; 1 by default.

    Attributes
    ----------
    codes : ndarray of shape (n_classes, n_classes - 1)
        Codes of the classes.

    References
    ----------
    C. Shen and F. Liu, From Kernel Machines to Ensemble Learning, 2014, Section V.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.simplex_least_squares import SimplexLeastSquares
    >>> labels = np.array([0, 0, 1, 2])
    >>> master = SimplexLeastSquares(labels, C=100.0)
    >>> master.add(np.array([1, 1, -1, -1], dtype=np.int8))
    >>> solution = master.solve()
    >>> np.allclose(solution.w[0], np.array([1, 1, -1, -1]) @ solution.u)
    True
    """

    def __init__(self, labels: np.ndarray, C: float = 1.0, *, sample_weight: np.ndarray | None = None):
        labels = np.asarray(labels, dtype=np.intp)
        m = len(labels)
        self.codes = simplex_codes(int(labels.max()) + 1)
        self.C = float(C)
        self._s = np.ones(m) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self._total = self._s.sum()
        self._center = np.bincount(labels, self._s) @ self.codes / self._total
        self._residual = np.ascontiguousarray((self.codes[labels] - self._center).T)  # one row an output
        self._columns = np.empty((16, m), dtype=np.int8)
        self._means = np.empty(0)
        self._factor = np.zeros((16, 16))
        self._W = np.empty((0, self.codes.shape[1]))
        self._scores = np.empty_like(self._W)

    @property
    def n_columns(self) -> int:
        """Columns added so far."""
        return len(self._means)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append a column and solve for it; all outputs share it."""
        column, J = check_column(column, len(self._s)), self.n_columns
        self._store(column)
        weighted = self._s * column
        self._means = np.append(self._means, weighted.sum() / self._total)
        weighted -= self._s * self._means[J]
        A = self._dots(weighted)  # this column's row of A: Hc' s hc = H' s hc
        pivot = _append_row(self._factor, J, A, 1.0 / self.C)
        v = np.zeros(J + 1)
        v[J] = 1.0
        _solve_upper(self._factor, v)
        y = np.empty(len(self._residual))  # what the column adds to each output, in units of v
        _fill_dots(self._residual, weighted, y)
        y /= pivot
        g = self._combination(v)
        self._W = np.vstack([self._W, np.zeros(len(y))]) + np.outer(v, y)
        scores = np.empty(len(y))
        _fill_dots(self._residual, self.C * self._s * column, scores)
        self._scores = np.vstack([self._scores, scores])
        self._residual -= np.outer(y, g)
        self._scores -= self.C * np.outer(self._dots(self._s * g), y)

    def solve(self) -> Solution:
        """Return the solution over all columns added so far; ``add`` has computed it."""
        b = self._center - self._means @ self._W
        losses = 0.5 * self.C * (self._s * self._residual**2).sum()
        objective = 0.5 * (self._W**2).sum() + losses
        gap = 0.5 * ((self._W - self._scores) ** 2).sum()
        return Solution(
            self._W.copy(),
            b,
            self.pricing_weights(),
            float(objective),
            float(gap),
            self.n_columns,
            True,
            "exact",
            gain=float(objective - gap + 0.5 * (self._scores**2).sum() + losses),
        )

    def pricing_weights(self) -> np.ndarray:
        """U of shape (n_samples, l), with U = C s (L - mean of L) before the first column.

        Algorithm 2 starts from a constant, of which the best stump isolates one point.
        """
        return (self.C * self._s * self._residual).T

    def threshold(self) -> float:
        """Score above which a column is missing: 0, as |W|^2 is no constraint on scores."""
        return 0.0

    def _store(self, column: np.ndarray) -> None:
        """Write a column down; the first one that is not of small integers turns the store into floats."""
        J = self.n_columns
        if self._columns.dtype == np.int8 and column.dtype != np.int8:
            self._columns = self._columns.astype(np.float64)
        if len(self._columns) == J:
            self._columns = np.concatenate([self._columns, np.empty_like(self._columns)])
            grown = np.zeros((2 * J, 2 * J))
            grown[:J, :J] = self._factor
            self._factor = grown
        self._columns[J] = column

    def _dots(self, v: np.ndarray) -> np.ndarray:
        """Scores H'v of all columns."""
        out = np.empty(self.n_columns)
        _fill_dots(self._columns, v, out)
        return out

    def _combination(self, v: np.ndarray) -> np.ndarray:
        """Sum of the centered columns, Hc v."""
        out = np.full(len(self._s), -float(self._means @ v))
        _add_columns(self._columns, v, out)
        return out


@njit(cache=True, fastmath=FAST)
def _dot(a, b):
    total = 0.0
    for i in range(b.size):
        total += a[i] * b[i]
    return total


@njit(cache=True, fastmath=FAST)
def _axpy(c, a, b):
    for i in range(b.size):
        b[i] += c * a[i]


@njit(cache=True)
def _fill_dots(columns, v, out):
    for j in range(out.size):
        out[j] = _dot(columns[j], v)


@njit(cache=True)
def _add_columns(columns, v, out):
    for j in range(v.size):
        _axpy(v[j], columns[j], out)


@njit(cache=True)
def _append_row(L, J, a, ridge):
    """Row J of the Cholesky factor of A = a + ridge I; return its pivot.

    The pivot's square is a Schur complement of A: at least the ridge, whatever rounding says.
    """
    square = a[J] + ridge
    for t in range(J):
        L[J, t] = (a[t] - _dot(L[t][:t], L[J][:t])) / L[t, t]
        square -= L[J, t] ** 2
    L[J, J] = np.sqrt(max(square, ridge))
    return L[J, J]


@njit(cache=True)
def _solve_upper(L, v):
    """Replace v by inv(L') v."""
    for t in range(v.size - 1, -1, -1):
        v[t] /= L[t, t]
        _axpy(-v[t], L[t][:t], v[:t])
