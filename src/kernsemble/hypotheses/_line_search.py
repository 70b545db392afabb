"""Coordinate descent on a perceptron's weighted 0/1 loss: one exact line search after the other.

Problem: along a direction the margins are a + s p. Sample i changes sides at the step s_i = -a_i / p_i, so
the score sum_i V_i sign(a_i + s p_i), as a function of s, is a stump over the points s_i with weights V_i
sign(p_i), and ``best_cut`` finds the best of all steps, in both polarities. Instead of s the order is kept
by s / (c + |s|), c a typical step, which lies in [-1, 1] and spreads evenly: buckets and insertion sort it
in linear time.

Any step between two neighbors s_i gives the same score. The middle is rounded to a few digits: later steps
divide by what earlier ones have left, so that otherwise rounding in the last digit grows to the fifth in 200
steps, and the perceptron found depends on the processor.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from kernsemble.hypotheses._ranked_columns import best_cut

_BUCKETS = 4  # per sample
_NEAR = 1.0 - 1e-12  # a sample whose place is beyond +-_NEAR counts as never changing sides
_LARGE = 1e8  # norm of the weights from which on they are scaled back


@njit(cache=True, nogil=True)
def descend(V, projections, directions, margins, weights):
    """Search along each direction in turn; margins and weights move in place, and |score| never falls.

    V (n,) int64; directions (m, d); projections (m, n): what each direction adds to the margins (n,).
    """
    n = len(V)
    places, ascending, signed = np.empty(n), np.empty(n), np.empty(n, np.int64)
    buckets, fill = np.empty(n, np.int32), np.empty(_BUCKETS * n + 1, np.int32)
    order = np.empty(n, np.uint32)
    is_open = np.ones(n, np.bool_)
    current = abs(_score(V, margins, margins, 0.0))
    for t in range(len(directions)):
        typical = _typical_step(margins, projections[t])
        _place(V, margins, projections[t], typical, places, signed, buckets)
        total = signed.sum() - _constant(V, margins, signed)
        _sort(places, buckets, fill, order, ascending)
        for i in range(n - 1):
            is_open[i] = ascending[i] < ascending[i + 1]
        best, where = best_cut(signed, order, is_open, 0, n, total, 0)
        if abs(total) > best:
            step = _short(_step_at(ascending[0], typical) - typical, typical)
        elif where == n - 1:
            step = _short(_step_at(ascending[where], typical) + typical, typical)
        else:
            low, high = _step_at(ascending[where], typical), _step_at(ascending[where + 1], typical)
            step = _short(0.5 * (low + high), high - low)
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
def _typical_step(margins, projection):
    """Ratio of mean sizes; 1 where there is none."""
    size, speed = 0.0, 0.0
    for i in range(len(margins)):
        size += abs(margins[i])
        speed += abs(projection[i])
    return size / speed if size > 0 and speed > 0 else 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def _place(V, margins, projection, typical, places, signed, buckets):
    """Say where each sample changes sides, with what weight (0: nowhere), and in which bucket that is."""
    half, last = 0.5 * _BUCKETS * len(V), _BUCKETS * len(V) - 1
    for i in range(len(V)):
        p = projection[i]
        place = -margins[i] / (abs(margins[i]) + typical * abs(p))
        place = place if p > 0 else -place
        turns = abs(place) < _NEAR  # false for 0 / 0 as well
        weight = V[i] if p > 0 else -V[i]
        signed[i] = weight if turns else 0
        place = place if turns else 0.0
        places[i] = place
        buckets[i] = min(last, np.int32((place + 1.0) * half))


@njit(cache=True, nogil=True)
def _constant(V, margins, signed):
    """Score of the samples that stay on their side."""
    score = 0
    for i in range(len(V)):
        if signed[i] == 0:
            score += V[i] if margins[i] > 0 else -V[i]
    return score


@njit(cache=True, nogil=True)
def _sort(places, buckets, fill, order, ascending):
    """Sort places into order and ascending: by buckets, then by insertion; long strides for crowds."""
    fill[:] = 0
    crowd = 0
    for i in range(len(places)):
        fill[buckets[i] + 1] += 1
        crowd = max(crowd, fill[buckets[i] + 1])
    for bucket in range(len(fill) - 1):
        fill[bucket + 1] += fill[bucket]
    for i in range(len(places)):
        slot = fill[buckets[i]]
        fill[buckets[i]] += 1
        order[slot], ascending[slot] = i, places[i]
    stride = 1
    while 9 * stride < crowd:
        stride = 3 * stride + 1
    while stride > 0:
        _insert(order, ascending, stride)
        stride //= 3


@njit(cache=True, nogil=True)
def _insert(order, ascending, stride):
    """Insertion sort of every stride-th entry, quick where the order is nearly right."""
    for i in range(stride, len(order)):
        sample, place, j = order[i], ascending[i], i
        while j >= stride and ascending[j - stride] > place:
            ascending[j], order[j] = ascending[j - stride], order[j - stride]
            j -= stride
        ascending[j], order[j] = place, sample


@njit(cache=True, nogil=True)
def _step_at(place, typical):
    """Return the step s with s / (typical + |s|) = place."""
    return typical * place / (1.0 - abs(place))


@njit(cache=True, nogil=True)
def _short(step, room):
    """Round a step to a power of two that is at most a 16th of its room."""
    grid = math.ldexp(1.0, math.frexp(room)[1] - 5)
    return grid * np.rint(step / grid) if 0.0 < grid < np.inf else step


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
