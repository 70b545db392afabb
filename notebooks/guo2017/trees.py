"""Boosted and bagged classification trees, in the manner of MATLAB's fitensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from guo2017.draws import Draw

TreeSize = Literal["stump", "10 splits", "full"]
Trees = list[DecisionTreeClassifier]

_LIMITS: Mapping[str, dict[str, int]] = {
    "stump": {"max_depth": 1},
    "10 splits": {"max_leaf_nodes": 11},
    "full": {},
}


def boost_trees(
    X: np.ndarray, y: np.ndarray, rounds: int, size: TreeSize, rng: np.random.Generator
) -> tuple[Trees, np.ndarray]:
    """AdaBoost.M1: the trees and their voting weights.

    It ends early after a tree without weighted error, which gets the weight of an error of 1/(2n), and
    before one that errs on half of the weight or more, unless it is the first.
    """
    n = len(y)
    weight, trees, votes = np.full(n, 1.0 / n), [], []
    while len(trees) < rounds:
        tree = _grow(X, y, size, rng, weight)
        wrong = tree.predict(X) != y
        error = float(weight[wrong].sum())
        if error >= 0.5 and trees:
            break
        trees.append(tree)
        clipped = min(max(error, 0.5 / n), 0.5 - 0.5 / n)
        votes.append(0.5 * np.log((1.0 - clipped) / clipped))
        if error <= 1e-12 or error >= 0.5:
            break
        weight = weight * np.where(wrong, 0.5 / error, 0.5 / (1.0 - error))
    return trees, np.array(votes)


def bag_trees(
    X: np.ndarray, y: np.ndarray, rounds: int, size: TreeSize, rng: np.random.Generator
) -> tuple[Trees, np.ndarray]:
    """Trees of bootstrap samples, all with the same vote."""
    samples = [rng.integers(len(y), size=len(y)) for _ in range(rounds)]
    return [_grow(X[rows], y[rows], size, rng) for rows in samples], np.ones(rounds)


def _grow(
    X: np.ndarray, y: np.ndarray, size: TreeSize, rng: np.random.Generator, weight: np.ndarray | None = None
) -> DecisionTreeClassifier:
    """Grow one tree; the seed decides between equally good splits."""
    tree = DecisionTreeClassifier(**_LIMITS[size], random_state=int(rng.integers(2**31)))
    return tree.fit(X, y, sample_weight=weight)


def errors_by_size(trees: Trees, votes: np.ndarray, data: Draw, sizes: Sequence[int]) -> dict[int, float]:
    """Return the test error in percent of the first 1, 5, .. trees; an ensemble that ended early stays."""
    outputs = np.column_stack([tree.predict(data.X_test) for tree in trees])
    return {T: data.error(outputs[:, :T] @ votes[:T]) for T in sizes}


def tree_errors(
    method: str, data: Draw, sizes: Sequence[int], tree_size: TreeSize, rng: np.random.Generator
) -> dict[int, float]:
    """Train the largest AdaTree or BagTree and read the smaller ones off it; bagged trees vote."""
    make = boost_trees if method == "AdaTree" else bag_trees
    return errors_by_size(*make(data.X, data.y, max(sizes), tree_size, rng), data, sizes)
