"""Slow obvious twin of the stump search: every feature, every pair of neighboring values, every sample."""

from itertools import pairwise

import numpy as np


def all_stumps(X, constant=True):
    """List (feature, threshold) of every distinct stump, in the order of keys; the constant is (0, -inf)."""
    X = np.asarray(X, dtype=np.float64)
    stumps = [(0, -np.inf)] if constant else []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for low, high in pairwise(values):
            middle = low / 2 + high / 2
            stumps.append((feature, middle if low <= middle < high else low))
    return stumps


def outputs(X, stumps):
    """H with one column for each stump, in the polarity that is +1 above the threshold."""
    X = np.asarray(X, dtype=np.float64)
    columns = [np.where(X[:, feature] > threshold, 1.0, -1.0) for feature, threshold in stumps]
    return np.array(columns).reshape(len(stumps), len(X)).T


def best_stump(X, v, constant=True, without=()):
    """Return (feature, threshold) and score of the best stump, the first of equals; None if there is none."""
    stumps = [stump for stump in all_stumps(X, constant) if stump not in without]
    if not stumps:
        return None
    scores = np.abs(np.asarray(v) @ outputs(X, stumps))
    return stumps[scores.argmax()], scores.max()
