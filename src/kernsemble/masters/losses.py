r"""Losses that are linear or quadratic by pieces: one formula for all margin, tube and squared losses.

::

    loss_i(f) = max_{l_i <= v <= h_i}  v (t_i - f) - epsilon |v| - k_i / 2 v^2

v is the signed dual weight that prices columns (``V_i = u_i y_i`` for labels y), so the box [l_i, h_i], the
target t_i, the half width epsilon of a tube and the curvature k_i say all that a solver needs to know:

    hinge          c max(0, 1 - y f)           t = y,  l, h = min, max(0, c y),   epsilon = 0,  k = 0
    squared hinge  c max(0, 1 - y f)^2         t = y,  l, h = min, max(0, y oo),  epsilon = 0,  k = 1 / (2c)
    tube           c max(0, |t - f| - epsilon)         l, h = -c, c,              epsilon,      k = 0
    least squares  c / 2 (t - f)^2                     l, h = -oo, oo,            epsilon = 0,  k = 1 / c
    one class      c max(0, -f)                t = 0,  l, h = 0, c,               epsilon = 0,  k = 0

Newton's method looks at the losses with a proximal term ``- d_i / 2 (v - a_i)^2`` around a center a. The
maximizer is then, at ``s_i = 1 / (k_i + d_i)`` and ``m_i = t_i + d_i a_i``,

    v_i(f) = clip(s_i soft(m_i - f, epsilon), l_i, h_i),        soft(r, e) = sign(r) max(0, |r| - e),

and minus the slope of the smoothed loss; with d = 0 it is that of the loss itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}  # lets sums be vectorized; keeps nan and inf
_STRAIGHT = np.zeros(0)
_STEEP = 1e300  # stands for 1 / 0: its product with a residual of 0 is 0


@dataclass(frozen=True)
class BoxLoss:
    """Sum of losses given by targets, a box of dual weights, the half width of a tube, and curvatures.

    t, l <= 0, h >= 0 and k > 0 have shape (n_samples,); without curvatures the box must be bounded.

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
    curvature: np.ndarray | None = None

    @classmethod
    def hinge(cls, y: np.ndarray, cost: np.ndarray) -> BoxLoss:
        """``cost_i max(0, 1 - y_i f_i)``, y_i = -1 or +1."""
        return cls(y, np.minimum(0.0, cost * y), np.maximum(0.0, cost * y))

    @classmethod
    def squared_hinge(cls, y: np.ndarray, cost: np.ndarray) -> BoxLoss:
        """``cost_i max(0, 1 - y_i f_i)^2``, y_i = -1 or +1; samples that cost nothing have an empty box."""
        wide = np.where(cost > 0.0, np.inf, 0.0)
        with np.errstate(divide="ignore"):
            curvature = np.where(cost > 0.0, 0.5 / cost, 1.0)
        return cls(y, np.where(y < 0.0, -wide, 0.0), np.where(y > 0.0, wide, 0.0), 0.0, curvature)

    @classmethod
    def tube(cls, y: np.ndarray, cost: np.ndarray, epsilon: float) -> BoxLoss:
        """``cost_i max(0, |y_i - f_i| - epsilon)``."""
        return cls(y, -cost, cost, epsilon)

    @classmethod
    def least_squares(cls, y: np.ndarray, cost: np.ndarray) -> BoxLoss:
        """``cost_i / 2 (y_i - f_i)^2``, cost_i > 0."""
        wide = np.full(len(y), np.inf)
        return cls(y, -wide, wide, 0.0, 1.0 / cost)

    @cached_property
    def _sharp(self) -> Smoothed:
        slope = np.full(len(self.target), _STEEP) if self.curvature is None else 1.0 / self.curvature
        return Smoothed(self.target, slope, *self.box)

    @property
    def bend(self) -> np.ndarray:
        """Curvatures as the compiled sums take them: empty if there are none."""
        return _STRAIGHT if self.curvature is None else self.curvature

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Bounds and half width, as the compiled sums take them."""
        return self.lower, self.upper, self.epsilon

    def take(self, rows: np.ndarray) -> BoxLoss:
        """Losses of some samples."""
        curvature = None if self.curvature is None else self.curvature[rows]
        return BoxLoss(self.target[rows], self.lower[rows], self.upper[rows], self.epsilon, curvature)

    def sharp(self) -> Smoothed:
        """The losses themselves, without a proximal term."""
        return self._sharp

    def around(self, center: np.ndarray, softness: np.ndarray) -> Smoothed:
        """The losses with a proximal term of curvatures ``softness`` around ``center``."""
        total = softness if self.curvature is None else softness + self.curvature
        return Smoothed(self.target + softness * center, 1.0 / total, *self.box)

    def value(self, f: np.ndarray) -> float:
        """Sum of losses at scores f."""
        return float(_value(f, self.target, *self.box, self.bend))

    def linear_gain(self, V: np.ndarray) -> float:
        """The part of ``gain`` that grows with V as V does."""
        return float(self.target @ V - self.epsilon * np.abs(V).sum())

    def gain(self, V: np.ndarray) -> float:
        """What the dual objective has of the loss: ``t'V - epsilon |V|_1 - 1/2 V' diag(k) V``."""
        return float(_gain(V, self.target, self.epsilon, self.bend))

    def lower_sum(self, V: np.ndarray, members: np.ndarray, excess: float) -> bool:
        """Lower the sum of V over some samples, within their boxes, in place; return whether that can be."""
        return bool(_lower_sum(V, members, excess, self.lower, self.upper))

    def spread(self) -> float:
        """Largest width of the box: a step of the dual weights that matters."""
        width = self.upper - self.lower
        return float(np.max(width[np.isfinite(width)], initial=0.0)) or 1.0

    def relative_width(self) -> np.ndarray:
        """Width of each box, or inverse curvature, relative to the largest; 1 where it is zero."""
        width = np.maximum(self.upper, -self.lower)
        if self.curvature is not None:
            width = np.where(width > 0.0, 1.0 / self.curvature, 0.0)
        return np.where(width > 0.0, width / max(width.max(initial=0.0), np.finfo(float).tiny), 1.0)

    def steepest(self) -> float:
        """What the sum of losses changes by, at most, when all scores change by 1; inf without limit."""
        return float(np.maximum(self.upper, -self.lower).sum())

    def nearest(self, f: np.ndarray) -> float:
        """Smallest ratio of a score to its target where that is what a hinge asks for; otherwise 0."""
        return float(_nearest(f, self.target, *self.box))

    def movable(self, f: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Indices of the weights that are free, or at an end of their box that is not theirs."""
        wanted = self.sharp().weights(f)
        return np.flatnonzero((wanted != V) | ((self.lower < V) & (self.upper > V) & (V != 0.0)))

    def is_settled(self, f: np.ndarray, V: np.ndarray, distance: float) -> np.ndarray:
        """Whether a dual weight is at a kink of its conjugate, and its score that far from moving it."""
        out = np.zeros(len(f), dtype=np.bool_)
        if self.curvature is None:
            _settled(f, V, self.target, *self.box, distance, out)
        return out


class Smoothed(NamedTuple):
    """Losses around a center: m and s of the module's docstring, and the box."""

    middle: np.ndarray
    slope: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float

    def weights(self, f: np.ndarray) -> np.ndarray:
        """Dual weights v at scores f."""
        V = np.empty_like(f)
        _weights(f, *self, V)
        return V

    def free(self, V: np.ndarray) -> np.ndarray:
        """Indices of the weights inside their box (and not in the flat of a tube): those that move with f."""
        inside = (self.lower < V) & (self.upper > V)
        if self.epsilon > 0.0:
            inside &= V != 0.0
        return np.flatnonzero(inside)

    def search(
        self, f: np.ndarray, along: np.ndarray, linear: float, square: float, accuracy: float
    ) -> float:
        """Minimize ``linear t + square t^2 / 2 + sum_i loss_i(f_i + t along_i)`` over [0, 1].

        Its slope is piecewise linear and never falls. The search ends where the slope is ``accuracy`` of that
        at 0, or on the side of descent.
        """
        return float(_search(f, along, *self, linear, square, accuracy))


@njit(cache=True, fastmath=FAST)
def _value(f, target, lower, upper, epsilon, bend):
    total = 0.0
    if len(bend) == 0:
        for i in range(len(f)):
            residual = target[i] - f[i]
            total += upper[i] * max(residual - epsilon, 0.0) + lower[i] * min(residual + epsilon, 0.0)
        return total
    for i in range(len(f)):
        r = target[i] - f[i]
        r = max(r - epsilon, 0.0) + min(r + epsilon, 0.0)
        v = min(max(r / bend[i], lower[i]), upper[i])
        total += v * (r - 0.5 * bend[i] * v)
    return total


@njit(cache=True, fastmath=FAST)
def _gain(V, target, epsilon, bend):
    total = 0.0
    if len(bend) == 0:
        for i in range(len(V)):
            total += target[i] * V[i] - epsilon * abs(V[i])
        return total
    for i in range(len(V)):
        total += target[i] * V[i] - epsilon * abs(V[i]) - 0.5 * bend[i] * V[i] * V[i]
    return total


@njit(cache=True)
def _nearest(f, target, lower, upper, epsilon):
    nearest = np.inf
    for i in range(len(f)):
        if upper[i] > lower[i] and target[i] != 0.0:
            nearest = min(nearest, f[i] / target[i])
        if nearest <= 0.0 or epsilon > 0.0 or (lower[i] < 0.0 and upper[i] > 0.0):
            return 0.0
    return nearest


@njit(cache=True)
def _settled(f, V, target, lower, upper, epsilon, distance, out):
    for i in range(len(f)):
        residual = target[i] - f[i]
        if residual > epsilon + distance:
            out[i] = V[i] == upper[i]
        elif residual < -epsilon - distance:
            out[i] = V[i] == lower[i]
        else:
            out[i] = upper[i] == lower[i] or (V[i] == 0.0 and abs(residual) < epsilon - distance)


@njit(cache=True, fastmath=FAST)
def _ways(V, members, falls, lower, upper):
    """What the sum changes by if the weights inside, those of one side, or all move; and its size."""
    by_inside, by_side, by_all, size = 0.0, 0.0, 0.0, 0.0
    ends = lower if falls else upper
    for i in range(len(V)):
        step = ends[i] - V[i] if members[i] else 0.0
        v = V[i] if members[i] else 0.0
        by_inside += step if lower[i] < V[i] and V[i] < upper[i] else 0.0
        by_side -= max(v, 0.0) if falls else min(v, 0.0)
        by_all += step
        size += abs(v)
    return by_inside, by_side, by_all, size


@njit(cache=True)
def _lower_sum(V, members, excess, lower, upper):
    """Move the weights inside their box towards an end; else shrink one side; else move all."""
    by_inside, by_side, by_all, size = _ways(V, members, excess > 0.0, lower, upper)
    if abs(excess) <= 1e-13 * size and abs(by_all) < abs(excess) > abs(by_side):
        return True
    way, total = 0, by_inside
    if not (np.isfinite(total) and abs(total) >= abs(excess)):
        way, total = 1, by_side
    if not abs(total) >= abs(excess):
        way, total = 2, by_all
    if not (np.isfinite(total) and abs(total) >= abs(excess)):
        return False
    for i in range(len(V)):
        if members[i] and excess != 0.0:
            step = (lower[i] if excess > 0.0 else upper[i]) - V[i]
            if way == 0 and not lower[i] < V[i] < upper[i]:
                continue
            if way == 1:
                step = -V[i] if (V[i] > 0.0) == (excess > 0.0) else 0.0
            V[i] = min(max(V[i] - step * (excess / total), lower[i]), upper[i])
    return True


@njit(cache=True, fastmath=FAST)
def _weights(f, middle, slope, lower, upper, epsilon, out):
    for i in range(len(f)):
        r = middle[i] - f[i]
        r = max(r - epsilon, 0.0) + min(r + epsilon, 0.0)
        out[i] = min(max(slope[i] * r, lower[i]), upper[i])


@njit(inline="always")  # linked in, it would be other instructions in the process that compiles it
def _pull(t, f, along, middle, slope, lower, upper, epsilon):
    """``along' v`` at ``f + t along``: minus the slope of the losses."""
    total = 0.0
    for i in range(len(f)):
        r = middle[i] - f[i] - t * along[i]
        r = max(r - epsilon, 0.0) + min(r + epsilon, 0.0)
        total += min(max(slope[i] * r, lower[i]), upper[i]) * along[i]
    return total


@njit(cache=True, fastmath=FAST)
def _search(f, along, middle, slope, lower, upper, epsilon, linear, square, accuracy):
    """Secants between the ends, halved every other time because near kinks they would crawl."""
    start = at_low = linear - _pull(0.0, f, along, middle, slope, lower, upper, epsilon)
    low, high = 0.0, 1.0
    at_high = linear + square - _pull(1.0, f, along, middle, slope, lower, upper, epsilon)
    if start >= 0.0:
        return 0.0
    if at_high <= accuracy * abs(start):
        return 1.0
    for trial in range(40):
        t = 0.5 * (low + high)
        if trial % 2 == 0:
            t = low - at_low * (high - low) / (at_high - at_low)
        at = linear + t * square - _pull(t, f, along, middle, slope, lower, upper, epsilon)
        if abs(at) <= accuracy * abs(start) or high - low <= 5e-4 * high:
            break
        if at > 0.0:
            high, at_high = t, at
        else:
            low, at_low = t, at
    return t if at <= accuracy * abs(start) or low == 0.0 else low
