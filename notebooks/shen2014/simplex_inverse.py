"""Least squares on simplex codes by the printed m x m inverse: (11) with the update (20) of shen2014.

Problem: (10) of shen2014 (see ``simplex_least_squares``, which finds the same solution from J x J equations).
Kept to show what the paper did: S = H H' + I/C (its H is the transpose of ours) is inverted once, as C I, and
updated by

    inv(S) <- inv(S) - s s' / (1 + h's),    s = inv(S) h                                                 (20)

which takes 8 m^2 bytes and several passes over them a round.

Stop: none is needed. The gap is 1/2 |W - H'U|^2 = 0 by construction (12), so the primal's own residual is
used.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dger

from kernsemble.masters.base import Solution
from kernsemble.masters.simplex_least_squares import simplex_codes


class SimplexInverse:
    """Master of least squares on simplex codes that keeps the inverse of an m x m matrix.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes 0..K-1 of the samples, K at least 2.
    C : float, default=1.0
        Weight of the sum of squares.

    Examples
    --------
    >>> import numpy as np
    >>> import kernsemble.trials  # finds the rooms
    >>> from shen2014.simplex_inverse import SimplexInverse
    >>> master = SimplexInverse(np.array([0, 0, 1, 2]), C=10.0)
    >>> master.add(np.array([1, 1, -1, -1]))
    >>> master.solve().w.shape
    (1, 2)
    """

    def __init__(self, labels: np.ndarray, C: float = 1.0):
        labels = np.asarray(labels, dtype=np.intp)
        self.C, self.codes = float(C), simplex_codes(int(labels.max()) + 1)
        self._L = self.codes[labels]
        self.inverse = np.asfortranarray(self.C * np.eye(len(labels)))
        self._H = np.empty((len(labels), 0), dtype=np.int8)
        self._U = self.C * (self._L - self._L.mean(axis=0))

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append a column and update the inverse: (20)."""
        h = np.asarray(column, dtype=np.float64)
        s = self.inverse @ h
        self.inverse = dger(-1.0 / (1.0 + h @ s), s, s, a=self.inverse, overwrite_a=True)
        self._H = np.hstack([self._H, np.asarray(column)[:, None]])

    def solve(self) -> Solution:
        """Evaluate (11)."""
        solved = self.inverse @ np.column_stack([self._L, np.ones(len(self._L))])
        b = solved[:, :-1].sum(axis=0) / solved[:, -1].sum()
        self._U = solved[:, :-1] - np.outer(solved[:, -1], b)
        W = self._H.T @ self._U
        residual = self._L - self._H @ W - b
        objective = 0.5 * (W**2).sum() + 0.5 * self.C * (residual**2).sum()
        dual = (self._U * self._L).sum() - 0.5 * (W**2).sum() - 0.5 / self.C * (self._U**2).sum()
        return Solution(W, b, self._U, float(objective), float(objective - dual), 1, True, "exact")

    def pricing_weights(self) -> np.ndarray:
        """U of shape (n_samples, l)."""
        return self._U

    def threshold(self) -> float:
        """Score above which a column is missing: 0."""
        return 0.0
