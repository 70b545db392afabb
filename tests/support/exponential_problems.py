"""Small problems for the tests of the multi-class exponential master, its state and its metric."""

from __future__ import annotations

import numpy as np

from kernsemble.masters.exponential_solvers import ExponentialState


def problem(rng, n, n_columns, n_classes, doubled=False):
    """Labels, and columns that agree with their class rather than not; repeated, opposite, constant ones."""
    labels = rng.permutation(np.arange(n) % n_classes)
    outputs = np.arange(n_columns * n_classes) % n_classes
    flips = rng.random((n, len(outputs))) < 0.3
    H = np.where((labels[:, None] == outputs) ^ flips, 1, -1).astype(np.int8)
    if doubled:
        H = np.hstack([H, H[:, :3], -H[:, 3:6], np.ones((n, 1), dtype=np.int8)])
        outputs = np.append(outputs, [*outputs[:3], *outputs[3:6], 1])
    return labels, H, outputs


def pairs(labels, H, outputs, n_classes):
    """The paper's pairs (i, y), listed: delta h of (7), one row a pair and one column a variable."""
    i, y = np.nonzero(labels[:, None] != np.arange(n_classes))
    own, other = labels[i][:, None] == outputs, y[:, None] == outputs
    return H[i] * (own.astype(float) - other), i, y


def filled_state(rng, shape=(20, 4, 3), C=30.0):
    """A state that holds the columns of a problem with all weights zero, and what it was made from."""
    labels, H, outputs = problem(rng, *shape)
    state = ExponentialState(labels, shape[2], C)
    variables = np.concatenate([state.append(H[:, j], np.array([k])) for j, k in enumerate(outputs)])
    return state, variables, labels, H, outputs, C
