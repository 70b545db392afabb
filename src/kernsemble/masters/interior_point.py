r"""Primal-dual interior point for the problem of `multipliers`: no warm start, but indifferent to scales.

Every sample gives up to two rows ``s f + xi - zeta = s t - epsilon`` (s = +1 above the target, -1 below it)
with multipliers ``0 <= u <= c``, ``u zeta = 0``, ``(c - u) xi = 0`` and ``V_i = sum s u``; bounded weights
have ``x tau = 0``. Mehrotra's predictor and corrector relax the products to mu. Eliminating all but x leaves

    (D + A' Theta A) dx = rhs,    Theta_i = sum 1 / (xi / (c - u) + zeta / u),    D = squared + tau / x

a system of the size of the columns: cost O(n m^2) an iteration, 10 to 40 iterations whatever C and the
columns' scales. `ColumnQP` turns to it where the method of multipliers has not converged in time.

Reference: Ferris, Munson, Interior-point methods for massive support vector machines (2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsemble.masters.box_loss import BoxLoss
from kernsemble.masters.multipliers import Penalty, solve_positive_definite

_TO_BOUNDARY = 0.995  # share of the step to the boundary that is taken
_BLOCK_ROWS = 4096


@dataclass
class _Point:
    """Primal x; multipliers u and distances ``room = c - u``, xi, zeta of the rows; tau of the bounds."""

    x: np.ndarray
    u: np.ndarray
    room: np.ndarray
    xi: np.ndarray
    zeta: np.ndarray
    tau: np.ndarray

    def pairs(self, positive: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs whose products vanish at the optimum."""
        return [(self.u, self.zeta), (self.room, self.xi), (self.x[positive], self.tau)]


class InteriorPoint:
    """One solve from a cold start; after each ``step`` feasible_x, V, objective and dual_objective agree.

    Parameters
    ----------
    A : ndarray of shape (n_samples, n_columns)
        Columns.
    loss : BoxLoss
        The losses.
    penalty : Penalty
        The penalty.
    scale : float
        Typical size of a residual.
    """

    def __init__(self, A: np.ndarray, loss: BoxLoss, penalty: Penalty, scale: float) -> None:
        self.A, self.loss, self.penalty, self.scale = A, loss, penalty, scale
        n = len(loss.target)
        above, below = np.flatnonzero(loss.upper > 0), np.flatnonzero(loss.lower < 0)
        self._row = np.append(above, below)
        self._sign = np.repeat([1.0, -1.0], [len(above), len(below)])
        self._cap = np.append(loss.upper[above], -loss.lower[below])
        self._goal = self._sign * loss.target[self._row] - loss.epsilon
        self._n = n
        x = np.where(penalty.positive, scale, 0.0)
        left = self._goal - self._sign * (A @ x)[self._row]
        self.point = _Point(
            x,
            0.5 * self._cap,
            0.5 * self._cap,
            np.maximum(left, 0.0) + scale,
            np.maximum(-left, 0.0) + scale,
            np.full(int(penalty.positive.sum()), scale),
        )
        self._evaluate()

    def _gather(self, rows: np.ndarray) -> np.ndarray:
        """Sum row values over samples."""
        return np.bincount(self._row, weights=rows, minlength=self._n)

    def _evaluate(self) -> None:
        x = self.feasible_x = self.point.x
        self.f = self.A @ x
        self.V = self._gather(self._sign * self.point.u)
        self.combined = self.A.T @ self.V
        self.objective = self.penalty.value(x) + self.loss.value(self.f)
        gain = self.loss.gain(self.V)
        self.dual_objective = self.penalty.dual_objective(gain, self.combined, x, self.scale)

    def step(self) -> None:
        """Take one step of predictor and corrector."""
        point, positive = self.point, self.penalty.positive
        self._factor()
        pairs = point.pairs(positive)
        n_pairs = max(1, sum(len(a) for a, _ in pairs))
        mu = sum(float(a @ b) for a, b in pairs) / n_pairs
        predictor = self._direction(0.0, None)
        length = self._length(predictor)
        moved = self._moved(predictor, length).pairs(positive)
        ahead = sum(float(a @ b) for a, b in moved) / n_pairs
        corrector = self._direction(mu * (ahead / mu) ** 3, predictor)
        self.point = self._moved(corrector, min(1.0, _TO_BOUNDARY * self._length(corrector)))
        self._evaluate()

    def _factor(self) -> None:
        """Newton's matrix, lower triangle, summed over blocks of rows."""
        point = self.point
        self._theta = 1.0 / (point.xi / point.room + point.zeta / point.u)
        root = np.sqrt(self._gather(self._theta))
        m = self.A.shape[1]
        self._matrix = np.zeros((m, m))
        for start in range(0, self._n, _BLOCK_ROWS):
            rows = self.A[start : start + _BLOCK_ROWS] * root[start : start + _BLOCK_ROWS, None]
            self._matrix += rows.T @ rows
        self._matrix[np.diag_indices(m)] += self.penalty.squared
        bounded = np.flatnonzero(self.penalty.positive)
        self._matrix[bounded, bounded] += point.tau / point.x[bounded]

    def _direction(self, mu: float, previous: _Point | None) -> _Point:
        """Newton's direction towards products of mu, with the second-order terms of a previous direction."""
        point, positive = self.point, self.penalty.positive
        second = [0.0, 0.0, 0.0]
        if previous is not None:
            second = [
                previous.u * previous.zeta,
                previous.room * previous.xi,
                previous.x[positive] * previous.tau,
            ]
        to_zeta, to_xi = (mu - second[0]) / point.u, (mu - second[1]) / point.room
        to_tau = (mu - second[2]) / point.x[positive]
        left = self._goal - self._sign * self.f[self._row]
        pull = self._theta * (left - to_xi + to_zeta)
        rhs = self.A.T @ (self.V + self._gather(self._sign * pull))
        rhs -= self.penalty.squared * point.x + self.penalty.cost
        rhs[positive] += to_tau
        dx = solve_positive_definite(self._matrix, rhs)
        du = pull - self._theta * self._sign * (self.A @ dx)[self._row]
        return _Point(
            dx,
            du,
            -du,
            to_xi - point.xi + point.xi / point.room * du,
            to_zeta - point.zeta - point.zeta / point.u * du,
            to_tau - point.tau - point.tau / point.x[positive] * dx[positive],
        )

    def _length(self, direction: _Point) -> float:
        """Longest step that keeps everything non-negative, at most 1."""
        positive = self.penalty.positive
        worst = 1.0
        for values, changes in zip(self.point.pairs(positive), direction.pairs(positive), strict=True):
            for value, change in zip(values, changes, strict=True):
                worst = max(worst, float(np.max(-change / value, initial=0.0)))
        return 1.0 / worst

    def _moved(self, direction: _Point, length: float) -> _Point:
        point, tiny = self.point, np.finfo(float).tiny

        def moved(start: np.ndarray, step: np.ndarray) -> np.ndarray:
            return np.maximum(start + length * step, tiny)

        x = point.x + length * direction.x
        return _Point(
            np.where(self.penalty.positive, np.maximum(x, tiny), x),
            moved(point.u, direction.u),
            moved(point.room, direction.room),
            moved(point.xi, direction.xi),
            moved(point.zeta, direction.zeta),
            moved(point.tau, direction.tau),
        )
