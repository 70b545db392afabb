"""Fit every estimator to the same data and print the scores as JSON; other environments run it, too."""

import json
import sys
import warnings

import numpy as np
from sklearn.base import is_classifier

import kernsemble

# A small pool, all of it: before the optimum, hypotheses are chosen by dual weights that are not unique, so a
# last digit can lead to others.
POOL = {"base": "perceptron-pool", "base_options": {"n_hypotheses": 30}, "random_state": 0, "n_rounds": 100}
OPTIONS = {
    "AdaBoost": {"n_rounds": 30},
    "AdaBoostECC": {"n_rounds": 30, "random_state": 0},
    "AdaBoostMH": {"n_rounds": 30},
    "AdaBoostMO": {"n_rounds": 30},
    "CGEns": {**POOL, "tol": 1e-10},
    "CGEnsSLS": {"n_rounds": 40},
    "LPBoost": {"n_rounds": 40},
    "MultiBoost": {**POOL, "C": 1e3, "tol": 1e-12},
    "DistanceKernelSVCCV": {"cv": 3, "random_state": 0},
    "DRM": {"n_components": 3, "random_state": 0},
}


def scores(name):
    """Scores of one estimator on data that NumPy's generator draws alike in every version."""
    rng = np.random.default_rng(20050607)
    X = rng.random((300, 8)).round(6)
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.random(300).round(6) > 1.0).astype(int)
    model = getattr(kernsemble, name)(**OPTIONS.get(name, {}))
    model.fit(X[:200], y[:200] if is_classifier(model) else X[:200, 0] * y[:200])
    decide = getattr(model, "decision_function", model.predict)
    return decide(X[200:]).ravel().tolist()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump({name: scores(name) for name in sorted(kernsemble._ESTIMATORS)}, sys.stdout)
