"""One boosting round of stumps, exact over all thresholds, beside a histogram learner's round."""

from __future__ import annotations

import numpy as np
from race import Row, compare, fastest

from kernsemble.data import load
from kernsemble.hypotheses.stumps import StumpOracle


def mnist_parity(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels of MNIST's first digits, and -1 for odd, +1 for even ones."""
    digits = load("mnist")
    return digits.X[:n_samples], np.where(digits.y[:n_samples] % 2 == 0, 1.0, -1.0)


def boosting_round(n_samples: int = 60_000) -> Row:
    """Weight the samples, find the best stump, update the scores; LightGBM grows a tree of depth 1.

    LightGBM minimizes squared error, so its first split need not be ours: it must come within 1 % of our
    score, and not exceed it, since ours is the best there is.
    """
    import lightgbm

    X, y = mnist_parity(n_samples)
    oracle, margins = StumpOracle(X), np.zeros(n_samples)

    def our_round() -> None:
        column = oracle.best(np.exp(-margins) * y)[0].column
        np.add(margins, 0.1 * y * column, out=margins)

    data = lightgbm.Dataset(X, y > 0, params={"max_bin": 255, "verbose": -1})
    options = {"objective": "binary", "num_leaves": 2, "max_depth": 1, "max_bin": 255, "verbose": -1}
    booster = lightgbm.Booster(options, data)
    booster.update()
    split = booster.dump_model()["tree_info"][0]["tree_structure"]
    score = abs(y @ np.where(X[:, split["split_feature"]] > split["threshold"], 1.0, -1.0))
    share = score / oracle.best(y)[0].score
    ours, theirs = fastest(our_round, 30)[0], fastest(booster.update, 30)[0]
    size, peer = f"MNIST {n_samples} x 784", "LightGBM, depth 1, 255 bins"
    return compare("boosting round of exact stumps", size, peer, ours, theirs, 1.0, 0.99 < share <= 1.0)


def rows() -> list[Row]:
    """Run the races of this file."""
    return [boosting_round()]
