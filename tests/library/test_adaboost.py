"""AdaBoost as a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernsemble import AdaBoost

BASES = {
    "stump": {},
    "perceptron": {"n_updates": 20},
    "perceptron-pool": {"n_hypotheses": 1000},
    "fourier": {"n_hypotheses": 200},
}


@pytest.mark.parametrize("base", BASES)
def test_every_base_learns(cancer, base):
    X, y = cancer
    model = make_pipeline(StandardScaler(), AdaBoost(60, base=base, base_options=BASES[base], random_state=0))
    if base == "fourier":
        model[-1].set_params(base_options={"n_hypotheses": 500, "gamma": 0.02})
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.93


def test_the_last_stage_is_the_ensemble_and_errors_fall(cancer):
    X, y = cancer
    model = AdaBoost(80).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_rounds_ == len(model.errors_) == 80
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-10)
    errors = [np.mean(prediction != y) for prediction in model.staged_predict(X)]
    assert errors[-1] < 0.01 < errors[0]
    losses = [np.mean(np.exp(-np.where(y == "malignant", 1, -1) * stage)) for stage in stages]
    np.testing.assert_allclose(model.objective_path_, losses, rtol=1e-8)


def test_a_longer_fit_begins_with_the_shorter_one(cancer):
    X, y = cancer
    short, long = AdaBoost(10).fit(X, y), AdaBoost(30).fit(X, y)
    np.testing.assert_array_equal(short.weights_, long.weights_[:10])


def test_weights_count_like_copies(cancer):
    X, y = cancer[0].to_numpy(), cancer[1]
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AdaBoost(20).fit(X, y, sample_weight=counts)
    copied = AdaBoost(20).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.hypotheses_.thresholds, copied.hypotheses_.thresholds)
    np.testing.assert_allclose(weighted.weights_, copied.weights_, rtol=1e-9)
    scaled = AdaBoost(20).fit(X, y, sample_weight=2.0**-20 * counts)
    np.testing.assert_allclose(weighted.weights_, scaled.weights_, rtol=1e-9)


def test_boosting_that_ends_early_says_why():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    model = AdaBoost(100).fit(X, y)
    assert model.n_rounds_ == 1
    assert model.message_ == "a perfect hypothesis was found again"
    nothing = AdaBoost(5, base_options={"constant": False}).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert nothing.n_rounds_ == 0
    assert nothing.predict(np.zeros((2, 1))).tolist() == [0, 0]
    assert list(nothing.staged_predict(np.zeros((2, 1)))) == []
