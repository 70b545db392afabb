"""AdaBoost with stumps, and how its time grows with the number of samples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from race import Row, compare, fastest, once
from sklearn.ensemble import AdaBoostClassifier
from stumps import mnist_parity

from kernsemble import AdaBoost


def adaboost_mnist(n_samples: int = 10_000, n_rounds: int = 200, peer_rounds: int = 10) -> Row:
    """Fit AdaBoost on MNIST, odd against even; scikit-learn's time is for a few rounds, scaled up.

    Its trees minimize the Gini index, so the ensembles differ: after as many rounds, our training error
    must not be more than a percentage point higher.
    """
    X, y = mnist_parity(n_samples)
    AdaBoost(2).fit(X[:1000], y[:1000])
    ours, _ = once(lambda: AdaBoost(n_rounds).fit(X, y))
    theirs, peer = once(lambda: AdaBoostClassifier(n_estimators=peer_rounds).fit(X, y))
    same = AdaBoost(peer_rounds).fit(X, y).score(X, y) > peer.score(X, y) - 0.01
    return compare(
        f"AdaBoost, {n_rounds} stumps",
        f"MNIST {n_samples} x 784",
        f"scikit-learn AdaBoostClassifier ({peer_rounds} rounds, scaled)",
        ours,
        theirs * n_rounds / peer_rounds,
        50.0,
        same,
    )


def boosting_loop(n_samples: int = 2_000, n_rounds: int = 100) -> Row:
    """Race the loops alone: scikit-learn boosts our stumps, so that both find the same ensemble."""
    X, y = mnist_parity(n_samples)
    ours, model = fastest(lambda: AdaBoost(n_rounds).fit(X, y), 3)
    theirs, peer = once(lambda: AdaBoostClassifier(AdaBoost(1), n_estimators=n_rounds).fit(X, y))
    same = np.allclose(peer.estimator_weights_, 2 * model.weights_)
    size = f"MNIST {n_samples} x 784"
    return compare(
        f"AdaBoost, {n_rounds} stumps", size, "scikit-learn's loop, our stumps", ours, theirs, 1.0, same
    )


def seconds_by_samples(
    sizes: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000), n_rounds: int = 10
) -> list[dict]:
    """Return fit seconds for growing numbers of continuous samples x 50: preparing, and per round."""
    results = []
    for n_samples in sizes:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_samples, 50))
        y = X[:, :5].sum(axis=1) + rng.normal(size=n_samples) > 0
        one, _ = fastest(lambda X=X, y=y: AdaBoost(1).fit(X, y), 1)
        many, _ = fastest(lambda X=X, y=y: AdaBoost(1 + n_rounds).fit(X, y), 1)
        results.append({"n_samples": n_samples, "first": one, "round": (many - one) / n_rounds})
    return results


def rows() -> Iterator[Row]:
    """Run the races of this file."""
    yield adaboost_mnist()
    yield boosting_loop()
