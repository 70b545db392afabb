"""CGENS over columns of bits reaches the optimum over all stumps."""

import numpy as np
import pytest

from kernsemble import CGEns
from kernsemble.growth.streamed_cgens import StreamedCGEns
from kernsemble.masters.base import INTERCEPTS


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_estimator_reaches_the_optimum_over_all_stumps(dtype, intercept):
    rng = np.random.default_rng(0)
    X = (40 * rng.random((90, 3))).astype(dtype)
    y = X[:, 0].astype(float) - X[:, 1] + 5 * rng.normal(size=90) > 0
    settings = {"C": 0.02, "n_rounds": 300, "intercept": intercept, "tol": 1e-4}
    ours, stored = StreamedCGEns(**settings).fit(X, y), CGEns(**settings).fit(X, y)
    assert ours.message_ == stored.message_ == "gap of the whole problem reached"
    np.testing.assert_allclose(ours.objective_path_[-1], stored.objective_path_[-1], rtol=2e-4)
    np.testing.assert_allclose(ours.decision_function(X), stored.decision_function(X), atol=0.05)


def test_sample_weights_are_repetitions(rng):
    X, y = (40 * rng.random((200, 3))).astype(np.uint8), rng.random(200) < 0.5
    weight = rng.integers(0, 3, 200)
    again = np.repeat(np.arange(200), weight)
    settings = {"C": 0.01, "n_rounds": 150, "tol": 1e-4}
    weighted = StreamedCGEns(**settings).fit(X, y, sample_weight=weight)
    repeated = StreamedCGEns(**settings).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.objective_path_[-1], repeated.objective_path_[-1], rtol=2e-4)
