"""An oracle over an explicit, finite matrix of columns: the simplest family there is, for tests."""

from __future__ import annotations

import numpy as np

from kernsemble.hypotheses.base import Candidate, Oracle


class FinitePool(Oracle):
    """Hypotheses are the columns of H; with ``negations`` key -1 - j is the negative of column j."""

    def __init__(self, H, negations=True):
        self.H = np.asarray(H)
        self.negation_complete = negations
        self.open = np.ones(self.H.shape[1], dtype=bool)

    def best(self, V):
        scores = np.abs(self.H.T.astype(float) @ V.reshape(len(self.H), -1))
        scores[~self.open] = -1.0
        if not self.open.any():
            return []
        return [
            self._candidate(int(j), v) for j, v in zip(scores.argmax(axis=0), np.atleast_2d(V.T), strict=True)
        ]

    def _candidate(self, j, v):
        score = float(v @ self.H[:, j])
        if self.negation_complete and score < 0:
            return Candidate(-1 - j, -score, -self.H[:, j])
        return Candidate(j, score, self.H[:, j])

    def exclude(self, key):
        self.open[key if key >= 0 else -1 - key] = False

    def sum_of_squares(self, v):
        scores = self.H[:, self.open].T.astype(float) @ v
        return float(scores @ scores)

    def collect(self, keys):
        return FiniteHypotheses(
            np.array([k if k >= 0 else -1 - k for k in keys], int), [k >= 0 for k in keys]
        )


class FiniteHypotheses:
    """Columns of a matrix, found again in any matrix of the same layout."""

    def __init__(self, columns, positive):
        self.columns, self.signs = columns, np.where(positive, 1, -1)

    def __len__(self):
        return len(self.columns)

    def outputs(self, H):
        return H[:, self.columns] * self.signs

    def decision(self, H, W, b=0.0):
        return self.outputs(H) @ W + b
