"""Coordinate descent on a perceptron's weighted 0/1 loss: one exact line search after the other.

Problem: along a direction the margins are a + s p. Sample i changes sides at the step z_i = -a_i / p_i, so
the score sum_i V_i sign(a_i + s p_i), as a function of s, is a stump over the points z with weights V_i
sign(p_i), and ``best_cut`` finds the best of all steps, in both polarities. The points are sorted by
buckets and insertion, in linear time unless they crowd.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._stump_columns import best_cut

_CROWD = 48  # entries of a bucket from which on a general sort is faster than insertion
_FAR = 1e12  # multiple of the typical step beyond which a sample counts as never changing sides
_LARGE = 1e8  # norm of the weights from which on they are scaled back


@njit(cache=True, nogil=True)
def descend(V, projections, directions, margins, weights):
    """Search along each direction in turn; margins and weights move in place, and |score| never falls.

    V (n,) int64; directions (m, d); projections (m, n): what each direction adds to the margins (n,).
    """
    n = len(V)
    steps, sorted_steps, signed = np.empty(n), np.empty(n), np.empty(n, np.int64)
    order, fill, is_open = np.empty(n, np.uint32), np.empty(n + 1, np.int64), np.ones(n, np.bool_)
    current = abs(_score(V, margins, projections[0], 0.0)) if len(directions) else 0
    for t in range(len(directions)):
        typical, total = _cross(V, margins, projections[t], steps, signed)
        _sort(steps, typical, order, sorted_steps, fill)
        for i in range(n - 1):
            is_open[i] = sorted_steps[i] < sorted_steps[i + 1]
        best, where = best_cut(signed, order, is_open, 0, n, total, 0)
        if abs(total) > best:
            step = sorted_steps[0] - typical
        elif where == n - 1:
            step = sorted_steps[where] + typical
        else:
            step = 0.5 * sorted_steps[where] + 0.5 * sorted_steps[where + 1]
        score = abs(_score(V, margins, projections[t], step))
        if score >= current:  # only rounding can make it less
            current = score
            _move(margins, projections[t], weights, directions[t], step)


@njit(cache=True, nogil=True)
def _score(V, margins, projection, step):
    """sum_i V_i sign(margins_i + step * projection_i), sign(0) = -1."""
    score = 0
    for i in range(len(V)):
        score += V[i] if margins[i] + step * projection[i] > 0 else -V[i]
    return score


@njit(cache=True, nogil=True)
def _cross(V, margins, projection, steps, signed):
    """Fill in where each sample changes sides, with what weight; return the typical step and the total."""
    size, speed = np.abs(margins).sum(), np.abs(projection).sum()
    typical = size / speed if size > 0 and speed > 0 else 1.0
    total = 0
    for i in range(len(V)):
        a, p = margins[i], projection[i]
        if abs(a) < _FAR * typical * abs(p):
            steps[i] = -a / p
            signed[i] = V[i] if p > 0 else -V[i]
            total += signed[i]
        else:
            steps[i], signed[i] = 0.0, 0
            total -= V[i] if a > 0 else -V[i]
    return typical, total


@njit(cache=True, nogil=True)
def _sort(steps, typical, order, sorted_steps, fill):
    """Sort the steps: n buckets, even in step / (typical + |step|), then insertion."""
    n = len(steps)
    fill[:] = 0
    for i in range(n):
        bucket = min(n - 1, int((steps[i] / (typical + abs(steps[i])) + 1.0) * 0.5 * n))
        fill[bucket + 1] += 1
        order[i] = bucket
    if fill.max() > _CROWD:
        order[:] = np.argsort(steps)
        sorted_steps[:] = steps[order]
        return
    for bucket in range(n):
        fill[bucket + 1] += fill[bucket]
    for i in range(n):
        sorted_steps[fill[order[i]]] = i  # the sample's number, for now
        fill[order[i]] += 1
    for i in range(n):
        order[i] = uint64(sorted_steps[i])
    _insert(steps, order, sorted_steps)


@njit(cache=True, nogil=True)
def _insert(steps, order, sorted_steps):
    """Insertion sort of an order that is nearly right; equal steps stay as they are."""
    for i in range(len(order)):
        sample, step, j = order[i], steps[order[i]], i
        while j > 0 and sorted_steps[j - 1] > step:
            sorted_steps[j], order[j] = sorted_steps[j - 1], order[j - 1]
            j -= 1
        sorted_steps[j], order[j] = step, sample


@njit(cache=True, nogil=True)
def _move(margins, projection, weights, direction, step):
    """Take a step; scale everything back when the weights have become large."""
    squares = 0.0
    for k in range(len(weights)):
        weights[k] += step * direction[k]
        squares += weights[k] ** 2
    shrink = 1.0 / np.sqrt(squares) if squares > _LARGE**2 else 1.0
    for k in range(len(weights)):
        weights[k] *= shrink
    for i in range(len(margins)):
        margins[i] = (margins[i] + step * projection[i]) * shrink
