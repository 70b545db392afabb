"""Distance kernels, square, beside scikit-learn and scipy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from race import Row, compare, fastest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from kernsemble.kernels import perceptron_kernel, stump_kernel


def distance_kernel(
    kernel: Callable, peers: dict[str, Callable], target: float, n: int, d: int
) -> Iterator[Row]:
    """Race one kernel of n x n entries against its peers."""
    X = np.random.default_rng(0).random((n, d))
    ours, K = fastest(lambda: kernel(X), 5)
    for name, peer in peers.items():
        theirs, distances = fastest(lambda peer=peer: peer(X, X), 2)
        same = np.max(np.abs(K + distances)) <= 1e-12 * d
        yield compare(kernel.__name__, f"{n} x {n} x {d}", name, ours, theirs, target, same)


def rows(n: int = 5000, d: int = 60) -> Iterator[Row]:
    """Run the races of this file."""
    manhattan = {"scipy cdist": lambda X, Z: cdist(X, Z, "cityblock"), "scikit-learn": manhattan_distances}
    euclidean = {"scipy cdist": cdist}
    yield from distance_kernel(stump_kernel, manhattan, 4.0, n, d)
    yield from distance_kernel(perceptron_kernel, euclidean, 1.0, n, d)
