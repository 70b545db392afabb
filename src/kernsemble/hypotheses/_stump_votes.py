"""Weighted sums of many stumps on new data: in each feature a sum of stumps is one step function.

f(x) = b + sum_j w_j s_j sign(x_{f_j} - t_j) = b + sum over features g of step_g(x_g). With the m thresholds
of a feature sorted and their weights summed up once, a row costs a binary search (log m steps) per feature
instead of one comparison per stump.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uint64


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
    n_scores = uint64(out.shape[1])
    for i in range(start, stop):
        for g in range(len(used)):
            x = X[i, used[g]]
            low, length = first[g], first[g + 1] - first[g]
            while length > 1:  # the answer lies in low..low + length
                half = length // 2
                low += half * (knots[low + half - 1] < x)
                length -= half
            below = uint64(low + (knots[low] < x) + g)
            for k in range(n_scores):
                out[i, k] += steps[below, k]


@njit(cache=True, nogil=True)
def fill_outputs(X, features, thresholds, signs, out, start, stop):
    """Write the outputs of every stump at rows start..stop-1 of X."""
    for i in range(start, stop):
        for j in range(len(features)):
            out[i, j] = signs[j] if X[i, features[j]] > thresholds[j] else -signs[j]
