r"""Method of multipliers with Newton steps, for the columns of a quadratic master.

::

    Primal:  min_x  1/2 sum_{j in Q} x_j^2 + q'x + sum_i loss_i((A x)_i),     x_j >= 0 for j in P
    Dual:    max_V  t'V - epsilon |V|_1 - 1/2 sum_{j in Q} [(A'V)_j]^2,     l <= V <= h,   (A'V)_j = q_j off Q

([z] is max(z, 0) on P; columns outside Q are the unpenalized ones: an intercept, the margin of the nu forms.)

With centers (V^c, s^c, c) the inner problem replaces each loss by its smoothed form::

    max_v  v (t - f) - epsilon |v| - delta/2 (v - V^c)^2,

each bound by the penalty ``1/(2 r) max(0, r s^c - x)^2``, and gives unpenalized columns a curvature around c.
It is piecewise quadratic: Newton's matrix is ``D + A_F' A_F / delta`` over the samples F whose weight is
inside its box, factored on its smaller side, and each step ends in an exact line search. When the gradient is
small the centers move to the multipliers found, and delta halves if that was easy. At a fixed point V solves
the dual at any delta: nothing is smoothed away.

Every iterate gives a feasible primal point and a dual point; the caller keeps the best of each, and their
difference is the gap. Where (A'V)_j = q_j is missed by r_j, ``|r_j| (|x_j| + 100 scale)`` is added to it: the
dual value is then a lower bound as long as the optimal x_j is not farther from 0 than that.
Rank-deficient columns are no difficulty: D is positive definite.

delta follows the weights that are met, not the box: where the samples can be separated they are smaller than
C by any factor. A first guess of their size, and a first dual point, is the best multiple of the targets
(``dual_ray``). Rounding of the scores is worth C times as much in the objective; where all margins are
positive a slightly longer x has no loss at all, and is offered as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from kernsemble.masters.box_loss import BoxLoss

_BAND = 0.1  # residuals within this share of the targets' scale of a kink count as free at first
_INNER_TOL = 1e-2  # gradient, relative to its two parts, at which the centers move
_SHORT, _LONG = 6, 12  # inner steps below which delta halves, and above which it quadruples
_LEAST_DELTA = 1e-6  # share of the natural delta below which rounding in the scores would show in the weights
_FAR = 100.0  # how far from 0, in units of ``scale``, an unpenalized coefficient may be for the gap to hold
_UNPENALIZED = 1e-4  # curvature that stands in for a missing penalty, times 1 / delta at the start
_LEAST_UNPENALIZED = 1e-8  # and at the end: it falls as delta does, lest the centers follow in small steps


@dataclass(frozen=True)
class Penalty:
    """Which columns are squared (Q), which bounded (P), the linear costs q; each of shape (n_columns,)."""

    squared: np.ndarray
    positive: np.ndarray
    cost: np.ndarray

    def value(self, x: np.ndarray) -> float:
        """Penalty of a feasible x."""
        return 0.5 * float((self.squared * x) @ x) + float(self.cost @ x)

    def dual_objective(self, gain: float, combined: np.ndarray, x: np.ndarray, scale: float) -> float:
        """Dual objective for a loss' gain and A'V = combined, less what missed equations may be worth."""
        w = np.where(self.positive, np.maximum(combined, 0.0), combined)
        missed = np.where(self.squared, 0.0, np.abs(combined - self.cost))
        return gain - 0.5 * float((self.squared * w) @ w) - float(missed @ (np.abs(x) + _FAR * scale))


class Multipliers:
    """One solve: Newton steps from a primal point x and dual weights V.

    After each ``step`` the attributes feasible_x, V, objective and dual_objective agree.

    Parameters
    ----------
    A : ndarray of shape (n_samples, n_columns)
        Columns, rows contiguous.
    loss : BoxLoss
        The losses.
    penalty : Penalty
        The penalty.
    x : ndarray of shape (n_columns,)
        Primal start.
    V : ndarray of shape (n_samples,)
        Dual start, within the box.
    scale : float
        Typical size of a residual.
    """

    def __init__(
        self, A: np.ndarray, loss: BoxLoss, penalty: Penalty, x: np.ndarray, V: np.ndarray, scale: float
    ) -> None:
        self.A, self.loss, self.penalty, self.scale = A, loss, penalty, scale
        self.x, self.f, self.center_V, self.inner = x.copy(), A @ x, V, 0
        self.delta = self._natural_delta(V)
        self.metric = np.where(penalty.squared, 1.0, _UNPENALIZED / self.delta)
        self.center = np.where(penalty.squared, 0.0, self.x)
        self._bounded = bool(penalty.positive.any())
        if self._bounded:
            n, m = A.shape
            norms = np.einsum("ij,ij->j", A, A)
            norms = np.maximum(norms, 1e-12 * norms.max(initial=0.0)) + np.finfo(float).tiny
            # Curvature of a bound like that of the losses along its column.
            self._ratio = n / (min(n, m) * norms)
            self.slack = np.where(penalty.positive, np.maximum(-(A.T @ V), 0.0), 0.0)
        self._evaluate()

    def _natural_delta(self, V: np.ndarray) -> float:
        """Delta at which residuals within the band change weights by about their size."""
        largest = float(np.max(np.abs(V), initial=0.0))
        return _BAND * self.scale / max(largest or self.loss.spread(), np.finfo(float).tiny)

    def step(self) -> None:
        """Take one Newton step with exact line search, then offer both points."""
        if self.inner > 0 and self._inner_is_solved():
            self._move_centers()
        direction = self._direction()
        along = self.A @ direction
        length = self._line_search(direction, along)
        self.x = self.x + length * direction
        self.f = self.f + length * along
        self.inner += 1
        self._evaluate()

    def _evaluate(self) -> None:
        """Multipliers at x, the gradient of the inner problem, and both objectives."""
        self.V, self.free = self.loss.weights(self.f, self.center_V, self.delta)
        self.combined = self.A.T @ self.V
        self.gradient = self.metric * (self.x - self.center) + self.penalty.cost - self.combined
        if self._bounded:
            self.bound = self._bound_multipliers(self.x)
            self.gradient -= self.bound
        self._value()

    def _bound_multipliers(self, x: np.ndarray) -> np.ndarray:
        shifted = self.slack - x / (self._ratio * self.delta)
        return np.where(self.penalty.positive, np.maximum(shifted, 0.0), 0.0)

    def _value(self) -> None:
        """Objectives at the feasible point next to x, and at V."""
        x, f = self.x, self.f
        if self._bounded and np.any(below := self.penalty.positive & (x < 0.0)):
            x = np.where(below, 0.0, x)
            f = self.A @ x
        self.feasible_x = x
        self.objective = self.penalty.value(x) + self.loss.value(f)
        self._offer_longer(x, f)
        gain = self.loss.gain(self.V)
        self.dual_objective = self.penalty.dual_objective(gain, self.combined, x, self.scale)

    def _offer_longer(self, x: np.ndarray, f: np.ndarray) -> None:
        """Take the multiple of x that leaves no loss, if it is better."""
        nearest = self.loss.nearest(f)
        if 0.0 < nearest < 1.0:
            factor = (1.0 + 4.0 * np.finfo(float).eps) / nearest
            objective = self.penalty.value(factor * x) + self.loss.value(factor * f)
            if objective < self.objective:
                self.feasible_x, self.objective = factor * x, objective

    def _inner_is_solved(self) -> bool:
        scale = np.linalg.norm(self.metric * self.x) + np.linalg.norm(self.combined)
        return bool(np.linalg.norm(self.gradient) <= _INNER_TOL * scale) or self.inner > _LONG

    def _move_centers(self) -> None:
        """Accept the multipliers found; shrink delta if that was easy."""
        self.center_V = self.V
        self.center = np.where(self.penalty.squared, 0.0, self.x)
        if self._bounded:
            self.slack = self.bound
        if self.inner < _SHORT:
            natural = self._natural_delta(self.V)
            self.delta = max(min(0.5 * self.delta, natural), _LEAST_DELTA * natural)
            softer = np.maximum(0.25 * self.metric, _LEAST_UNPENALIZED / self.delta)
            self.metric = np.where(self.penalty.squared, 1.0, softer)
        elif self.inner > _LONG:
            self.delta *= 4.0
        self.inner = 0
        self._evaluate()

    def _direction(self) -> np.ndarray:
        """Newton's direction ``-(D + A_F' A_F / delta)^-1 gradient``."""
        D = self.metric
        if self._bounded:
            D = D + np.where(self.bound > 0.0, 1.0 / (self._ratio * self.delta), 0.0)
        step = -self.gradient / D
        rows = self.A[self.free]
        if not rows.size:
            return step
        if len(rows) >= rows.shape[1]:
            matrix = rows.T @ rows
            matrix *= 1.0 / self.delta
            matrix[np.diag_indices(len(D))] += D
            return solve_positive_definite(matrix, -self.gradient)
        scaled = rows / np.sqrt(D)
        matrix = scaled @ scaled.T
        matrix[np.diag_indices(len(rows))] += self.delta
        return step - (rows.T @ solve_positive_definite(matrix, rows @ step)) / D

    def _line_search(self, direction: np.ndarray, along: np.ndarray) -> float:
        """Minimize the piecewise quadratic along the direction: find the zero of its increasing slope."""
        start = low_slope = float(self.gradient @ direction)
        low, high, high_slope = 0.0, 1.0, self._slope(1.0, direction, along)
        if high_slope <= 0.01 * abs(start):
            return 1.0
        for trial in range(60):
            # The secant; halved every other time, because near kinks it would crawl along one end.
            t, rise = 0.5 * (low + high), high_slope - low_slope
            if trial % 2 == 0 and rise > 0.0:
                t = low - low_slope * (high - low) / rise
            slope = self._slope(t, direction, along)
            if abs(slope) <= 0.01 * abs(start):
                return t
            if slope > 0:
                high, high_slope = t, slope
            else:
                low, low_slope = t, slope
        return low if low > 0 else high

    def _slope(self, t: float, direction: np.ndarray, along: np.ndarray) -> float:
        x = self.x + t * direction
        gradient = self.metric * (x - self.center) + self.penalty.cost
        if self._bounded:
            gradient -= self._bound_multipliers(x)
        return float(gradient @ direction) - self.loss.pull(self.f, along, t, self.center_V, self.delta)


def dual_ray(A: np.ndarray, loss: BoxLoss, penalty: Penalty) -> tuple[np.ndarray, float]:
    """Return the best multiple of the targets as a dual point, and its dual objective.

    Unpenalized columns are projected off the targets first. A value of 0, with zeros, says that this way
    leads to nothing.
    """
    nothing = np.zeros(len(A)), 0.0
    if penalty.cost.any():
        return nothing
    ray = np.where(loss.upper > loss.lower, loss.target, 0.0)
    if not penalty.squared.all():
        G = A[:, ~penalty.squared] * (loss.upper > loss.lower)[:, None]
        ray -= G @ np.linalg.lstsq(G, ray, rcond=None)[0]
    gain = loss.gain(ray)
    moving = ray != 0.0
    room = np.where(ray > 0.0, loss.upper, loss.lower)[moving] / ray[moving]
    if not (gain > 0.0 and room.min(initial=np.inf) > 0.0):
        return nothing
    combined = A.T @ ray
    w = np.where(penalty.positive, np.maximum(combined, 0.0), combined)[penalty.squared]
    square = float(w @ w)
    length = min(float(room.min()), gain / square if square > 0.0 else np.inf)
    return length * ray, length * gain - 0.5 * length**2 * square


def solve_positive_definite(matrix: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solve a positive definite system, with a jitter (added to matrix) where rounding made it indefinite."""
    jitter = 1e-15 * float(np.max(np.diagonal(matrix)))
    for _ in range(8):
        factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
        if not failed:
            return lapack.dpotrs(factor, rhs, lower=1)[0]
        matrix[np.diag_indices(len(rhs))] += jitter
        jitter *= 100.0
    raise np.linalg.LinAlgError("Newton's matrix is not positive definite; are the columns finite?")
