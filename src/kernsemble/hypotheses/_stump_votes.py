"""Weighted sums of many stumps on new data: in each feature a sum of stumps is one step function.

f(x) = b + sum_j w_j s_j sign(x_{f_j} - t_j) = b + sum over features g of step_g(x_g). With the m thresholds
of a feature sorted and their weights summed up once, a row costs a binary search (log m steps) per feature
instead of one comparison per stump.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

_BLOCK = 256  # rows that are searched side by side


def step_tables(
    features: np.ndarray, thresholds: np.ndarray, W: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sum weighted stumps up into one step function per feature.

    Parameters
    ----------
    features, thresholds : ndarray of shape (J,)
    W : ndarray of shape (J, K)
        Weights, the stumps' signs already multiplied in.

    Returns
    -------
    used : ndarray of shape (G,)
        Features that occur, ascending.
    first : ndarray of shape (G + 1,)
        Where each feature's thresholds begin.
    knots : ndarray of shape (J,)
        Thresholds, sorted within a feature.
    steps : ndarray of shape (J + G, K)
        ``steps[first[g] + g + p]`` is the value of step g where p of its thresholds lie below x.
    """
    order = np.lexsort((thresholds, features))
    used, first = np.unique(features[order], return_index=True)
    first = np.append(first, len(order))
    steps = np.empty((len(order) + len(used), W.shape[1]))
    for g in range(len(used)):
        weights = W[order[first[g] : first[g + 1]]]
        table = steps[first[g] + g : first[g + 1] + g + 1]
        table[0] = -weights.sum(axis=0)
        np.cumsum(2.0 * weights, axis=0, out=table[1:])
        table[1:] += table[0]
    return used, first, thresholds[order], steps


@njit(cache=True, nogil=True)
def add_votes(X, used, first, knots, steps, out, start, stop):
    """Add the step functions' values at rows start..stop-1 of X to out (n, K)."""
    x, places = np.empty(_BLOCK), np.empty(_BLOCK, np.int64)
    for row in range(start, stop, _BLOCK):
        n_rows = min(_BLOCK, stop - row)
        for g in range(len(used)):
            for i in range(n_rows):
                x[i] = X[row + i, used[g]]
            _count_below(knots[first[g] : first[g + 1]], x, places, n_rows)
            _add_steps(steps[first[g] + g : first[g + 1] + g + 1], places, out[row : row + n_rows])


@njit(cache=True, nogil=True)
def _count_below(knots, x, places, n_rows):
    """places[i] = number of knots below x[i]: binary searches in step, compiled to vectors."""
    places[:n_rows] = 0
    length = len(knots)
    while length > 1:  # the answer lies in places[i]..places[i] + length
        half = length // 2
        for i in range(n_rows):
            places[i] += half if knots[uint64(places[i] + half - 1)] < x[i] else 0
        length -= half
    for i in range(n_rows):
        places[i] += 1 if knots[uint64(places[i])] < x[i] else 0


@njit(cache=True, nogil=True)
def _add_steps(steps, places, out):
    """out[i] += steps[places[i]]."""
    if out.shape[1] == 1:
        for i in range(len(out)):
            out[i, 0] += steps[uint64(places[i]), 0]
        return
    for i in range(len(out)):
        for k in range(out.shape[1]):
            out[i, k] += steps[uint64(places[i]), k]


@njit(cache=True, nogil=True)
def fill_outputs(X, features, thresholds, signs, missing, out, start, stop):
    """Write the outputs of every stump at rows start..stop-1 of X."""
    for i in range(start, stop):
        for j in range(len(features)):
            x = X[i, features[j]]
            vote = 1 if x > thresholds[j] else -1 if x <= thresholds[j] else missing[j]
            out[i, j] = signs[j] * vote
