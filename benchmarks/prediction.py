"""Prediction by an ensemble of stumps, and by the tables of a machine with the stump kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from race import Row, compare, fastest, once
from sklearn.ensemble import AdaBoostClassifier

from kernsemble.export import AdditiveTables
from kernsemble.hypotheses.shapes import Shapes
from kernsemble.hypotheses.stumps import StumpHypotheses
from kernsemble.kernels import stump_kernel


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


def predict_tables(n_samples: int = 20_000, n_support: int = 10_000, n_features: int = 20) -> Iterator[Row]:
    """Predict with the same machine: by its support vectors, by its tables, and by these with NumPy alone."""
    rng = np.random.default_rng(0)
    support, X = rng.normal(size=(n_support, n_features)), rng.normal(size=(n_samples, n_features))
    beta = rng.normal(size=(1, n_support))
    beta -= beta.mean()
    shapes = Shapes.of_kernel(support, beta)
    knots, values = (list(part) for part in zip(*shapes.functions, strict=True))
    names = [f"x{j}" for j in range(n_features)]
    tables = AdditiveTables("machine", "linear", names, knots, values, np.zeros(1), "one", ["a", "b"])
    stump_kernel(X[:10], support)  # compiled before the clock starts
    blocks = np.array_split(X, 10)  # a kernel matrix of 160 MB at a time
    theirs, scores = once(lambda: np.concatenate([stump_kernel(x, support) @ beta.T for x in blocks]))
    for what, function in (("tables", shapes.decision), ("tables from JSON, NumPy alone", tables.decisions)):
        ours, found = fastest(lambda function=function: function(X), 3)
        same = np.allclose(found, scores, atol=1e-9 * np.abs(scores).max())
        size, peer = f"{n_samples} x {n_features}", f"kernel of {n_support} support vectors"
        yield compare(f"prediction, stump machine by {what}", size, peer, ours, theirs, 20.0, same)


def rows() -> Iterator[Row]:
    """Run the races of this file."""
    yield predict_stumps()
    yield from predict_tables()
