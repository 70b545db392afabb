"""Prediction by an ensemble of stumps."""

from __future__ import annotations

import numpy as np
from race import Row, compare, fastest, once
from sklearn.ensemble import AdaBoostClassifier

from kernsemble.hypotheses.stumps import StumpHypotheses


def stumps_of(model: AdaBoostClassifier) -> tuple[StumpHypotheses, np.ndarray]:
    """Return scikit-learn's stumps and weights as ours."""
    trees = [estimator.tree_ for estimator in model.estimators_]
    features = [tree.feature[0] for tree in trees]
    thresholds = [tree.threshold[0] for tree in trees]
    above = [1 if tree.value[2].argmax() else -1 for tree in trees]
    below = [1 if tree.value[1].argmax() else -1 for tree in trees]
    weights = np.where(np.equal(above, below), 0.0, model.estimator_weights_)
    intercept = np.where(np.equal(above, below), model.estimator_weights_ * above, 0.0).sum()
    hypotheses = StumpHypotheses([*features, 0], [*thresholds, -np.inf], [*above, 1], model.n_features_in_)
    return hypotheses, np.append(weights, intercept)


def predict_stumps(n_samples: int = 1_000_000, n_stumps: int = 500, n_features: int = 20) -> Row:
    """Predict with the same stumps: scikit-learn's, evaluated by both."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    y = X[:2_000, :6].sum(axis=1) + rng.normal(size=2_000) > 0
    model = AdaBoostClassifier(n_estimators=n_stumps).fit(X[:2_000], y)
    hypotheses, weights = stumps_of(model)
    ours, scores = fastest(lambda: hypotheses.decision(X, weights) > 0, 3)
    theirs, predictions = once(lambda: model.predict(X))
    return compare(
        f"prediction, {n_stumps} stumps",
        f"{n_samples} x {n_features}",
        "scikit-learn AdaBoostClassifier.predict",
        ours,
        theirs,
        20.0,
        np.mean(scores == predictions) > 1 - 1e-5,  # scikit-learn compares with single precision
    )


def rows() -> list[Row]:
    """Run the races of this file."""
    return [predict_stumps()]
