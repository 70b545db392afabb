r"""Losses that are linear outside a tube: one formula for the hinge, the tube of regression, and novelty.

    loss_i(f) = max_{l_i <= v <= h_i}  v (t_i - f) - epsilon |v|

v is the signed dual weight that prices columns (``V_i = u_i y_i`` of bi2004, ``u_i - v_i`` in regression),
so the box [l_i, h_i], the target t_i and epsilon say all that a solver needs to know:

    hinge, C max(0, 1 - y_i f)                 t = y,  [min(0, C y), max(0, C y)],  epsilon = 0      (7), (11)
    tube,  C max(0, |y_i - f| - epsilon)       t = y,  [-C, C],                     epsilon          (13)
    novelty, C max(0, -f)                      t = 0,  [0, C],                      epsilon = 0
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class BoxLoss:
    """Sum of losses given by targets, a box of dual weights, and the half width of a tube.

    Parameters
    ----------
    target, lower, upper : ndarray of shape (n_samples,)
        t, l <= 0 and h >= 0.
    epsilon : float, default=0.0
        Half width of the tube.

    Examples
    --------
    >>> import numpy as np
    >>> loss = BoxLoss.hinge(np.array([1.0, -1.0]), np.array([2.0, 2.0]))
    >>> loss.value(np.array([0.5, 1.0]))
    5.0
    """

    target: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float = 0.0

    @classmethod
    def hinge(cls, y: np.ndarray, cost: np.ndarray) -> BoxLoss:
        """``cost_i max(0, 1 - y_i f_i)``, y_i = -1 or +1."""
        return cls(y, np.minimum(0.0, cost * y), np.maximum(0.0, cost * y))

    @classmethod
    def tube(cls, y: np.ndarray, cost: np.ndarray, epsilon: float) -> BoxLoss:
        """``cost_i max(0, |y_i - f_i| - epsilon)``."""
        return cls(y, -cost, cost, epsilon)

    def value(self, f: np.ndarray) -> float:
        """Sum of losses at scores f."""
        return float(_value(f, self.target, self.lower, self.upper, self.epsilon))

    def gain(self, V: np.ndarray) -> float:
        """What the dual objective has of the loss: ``t'V - epsilon |V|_1``."""
        return float(self.target @ V - self.epsilon * np.abs(V).sum())

    def nearest(self, f: np.ndarray) -> float:
        """Smallest ratio of a score to its target where that is what a hinge asks for; otherwise 0."""
        if self.epsilon > 0.0 or np.any(self.lower * self.upper != 0.0):
            return 0.0
        counts = (self.upper > self.lower) & (self.target != 0.0)
        return float(np.min(f[counts] / self.target[counts], initial=np.inf))

    def spread(self) -> float:
        """Largest width of the box: a step of the dual weights that matters."""
        return float(np.max(self.upper - self.lower, initial=0.0))

    def weights(self, f: np.ndarray, center: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
        """Dual weights of the loss smoothed around ``center``, and the indices of those inside their box.

        ``argmax_v v (t - f) - epsilon |v| - delta/2 (v - center)^2``: a soft threshold, then a clip. In the
        flat of the tube and at the ends of the box a weight does not move.
        """
        V = np.empty_like(f)
        _weights(f, center, self.target, self.lower, self.upper, self.epsilon, 1.0 / delta, V)
        inside = (self.lower < V) & (self.upper > V)
        if self.epsilon > 0.0:
            inside &= V != 0.0
        return V, np.flatnonzero(inside)

    def pull(self, f: np.ndarray, along: np.ndarray, t: float, center: np.ndarray, delta: float) -> float:
        """``along' V``, V the smoothed dual weights at ``f + t along``: minus the smoothed loss' slope."""
        slope = 1.0 / delta
        return _pull(f, along, t, center, self.target, self.lower, self.upper, self.epsilon, slope)


_FAST = {"reassoc", "contract", "nsz", "arcp"}  # lets sums be vectorized; keeps nan and inf


@njit(cache=True, fastmath=_FAST)
def _value(f, target, lower, upper, epsilon):
    total = 0.0
    for i in range(len(f)):
        residual = target[i] - f[i]
        total += upper[i] * max(residual - epsilon, 0.0) + lower[i] * min(residual + epsilon, 0.0)
    return total


@njit(cache=True, fastmath=_FAST)
def _weights(f, center, target, lower, upper, epsilon, slope, out):
    shrink = slope * epsilon
    for i in range(len(f)):
        v = center[i] + slope * (target[i] - f[i])
        v = max(v - shrink, 0.0) + min(v + shrink, 0.0)
        out[i] = min(max(v, lower[i]), upper[i])


@njit(cache=True, fastmath=_FAST)
def _pull(f, along, t, center, target, lower, upper, epsilon, slope):
    total = 0.0
    shrink = slope * epsilon
    for i in range(len(f)):
        v = center[i] + slope * (target[i] - f[i] - t * along[i])
        v = max(v - shrink, 0.0) + min(v + shrink, 0.0)
        total += min(max(v, lower[i]), upper[i]) * along[i]
    return total
