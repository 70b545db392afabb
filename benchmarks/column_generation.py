"""CGENS whole, with our master and with LIBLINEAR in its place, as shen2014 ran it."""

from __future__ import annotations

import numpy as np
from race import Row, compare, once
from sklearn.svm import LinearSVC
from stumps import mnist_parity

from kernsemble.column_generation import column_generation
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.base import Solution
from kernsemble.masters.quadratic import Hinge


class Liblinear:
    """Master that starts LIBLINEAR anew in every round; its dual weights are guessed from its margins."""

    def __init__(self, y: np.ndarray, C: float, tol: float) -> None:
        self.y, self.C = y, C
        self.machine = LinearSVC(
            C=C, loss="hinge", fit_intercept=False, tol=tol, max_iter=100_000, random_state=0
        )
        self.H = np.empty((len(y), 0))
        self.u = np.full(len(y), 0.5 * C)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        self.H = np.column_stack([self.H, column])

    def solve(self) -> Solution:
        w = self.machine.fit(self.H, self.y).coef_[0]
        slack = 1.0 - self.y * (self.H @ w)
        # scikit-learn does not hand out LIBLINEAR's dual solution; a narrow ramp at the margin stands in.
        self.u = self.C * np.clip(slack / 0.02 + 0.5, 0.0, 1.0)
        objective = 0.5 * w @ w + self.C * np.maximum(slack, 0.0).sum()
        return Solution(w, 0.0, self.u, objective, np.nan, int(self.machine.n_iter_), True)

    def pricing_weights(self) -> np.ndarray:
        return self.y * self.u

    def threshold(self) -> float:
        return 0.0


def whole_fit(n_samples: int = 10_000, n_rounds: int = 100, C: float = 2.0**-6) -> Row:
    """Race the fits; the paths need not be the same, but ours must not end more than 1 % higher."""
    X, y = mnist_parity(n_samples)
    column_generation(StumpOracle(X[:500]), Hinge(y[:500], C), 2)
    ours, result = once(lambda: column_generation(StumpOracle(X), Hinge(y, C), n_rounds))
    theirs, peer = once(lambda: column_generation(StumpOracle(X), Liblinear(y, C, 0.1), n_rounds))
    same = result.solution.objective <= 1.01 * peer.solution.objective
    task, size = f"CGENS, {n_rounds} rounds, C = {C:.3g}", f"MNIST {n_samples} x 784"
    return compare(task, size, "the same with LIBLINEAR as master", ours, theirs, 1.0, same)


def rows() -> list[Row]:
    """Run the races of this file."""
    return [whole_fit()]
