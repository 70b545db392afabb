"""AdaBoost as a scikit-learn estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.settings import CLASS_WEIGHTS, CUTS, WEIGHTS

from kernsemble import AdaBoost
from kernsemble.hypotheses.stumps import StumpOracle

BASES = {
    "stump": {},
    "perceptron": {"n_updates": 20},
    "perceptron-pool": {"n_hypotheses": 1000},
    "fourier": {"n_hypotheses": 200},
}


def exempt(estimator):
    """Sample weights are rounded in units of the largest one, which a repeated row does not have."""
    if estimator.base != "perceptron":
        return {CLASS_WEIGHTS: CUTS}
    return {WEIGHTS: "a descent is a path: rounding decides its ties", CLASS_WEIGHTS: CUTS}


@parametrize_with_checks(
    [AdaBoost(10, base=base, base_options=options) for base, options in BASES.items()],
    expected_failed_checks=exempt,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


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


def test_feature_names_and_importances(cancer):
    X, y = cancer
    model = AdaBoost(30).fit(X, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    importances = pd.Series(model.feature_importances_, X.columns)
    np.testing.assert_allclose(importances.sum(), 1.0)
    used = set(model.hypotheses_.features[np.isfinite(model.hypotheses_.thresholds)])
    assert set(np.flatnonzero(importances)) == used
    assert not hasattr(AdaBoost(3, base="perceptron-pool").fit(X, y), "feature_importances_")


def test_weights_count_like_copies(cancer):
    X, y = cancer[0].to_numpy(), cancer[1]
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = AdaBoost(20).fit(X, y, sample_weight=counts)
    copied = AdaBoost(20).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.hypotheses_.thresholds, copied.hypotheses_.thresholds)
    np.testing.assert_allclose(weighted.weights_, copied.weights_, rtol=1e-9)
    scaled = AdaBoost(20).fit(X, y, sample_weight=2.0**-20 * counts)
    np.testing.assert_allclose(weighted.weights_, scaled.weights_, rtol=1e-9)


@pytest.mark.parametrize("base", BASES)
def test_models_survive_pickling_and_cloning(cancer, base):
    X, y = cancer
    model = AdaBoost(5, base=base, base_options=BASES[base], random_state=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(clone(model).fit(X, y).weights_, model.weights_)
    assert len(pickle.dumps(model)) < 30_000  # hypotheses, not the training set


def test_grid_search(cancer):
    X, y = cancer
    search = GridSearchCV(AdaBoost(), {"n_rounds": [1, 30], "perfect": [1e-3, "alone"]}, cv=3)
    assert search.fit(X, y).best_params_["n_rounds"] == 30


def test_bytes_and_floats_learn_the_same(cancer):
    X = np.clip(cancer[0].to_numpy(), 0, 255).astype(np.uint8)
    one, other = AdaBoost(20).fit(X, cancer[1]), AdaBoost(20).fit(X.astype(float), cancer[1])
    np.testing.assert_array_equal(one.hypotheses_.thresholds, other.hypotheses_.thresholds)
    np.testing.assert_array_equal(one.decision_function(X.astype(float)), other.decision_function(X))


def test_an_oracle_of_ones_own(cancer):
    X, y = cancer

    def without_constant(X, random_state, **options):
        return StumpOracle(X, constant=False)

    model = AdaBoost(20, base=without_constant).fit(X, y)
    assert np.isfinite(model.hypotheses_.thresholds).all()


def test_boosting_that_ends_early_says_why():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    model = AdaBoost(100).fit(X, y)
    assert model.n_rounds_ == 1
    assert model.message_ == "a perfect hypothesis was found again"
    nothing = AdaBoost(5, base_options={"constant": False}).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    assert nothing.n_rounds_ == 0
    assert nothing.predict(np.zeros((2, 1))).tolist() == [0, 0]
    assert list(nothing.staged_predict(np.zeros((2, 1)))) == []


def test_a_progress_bar(capsys):
    AdaBoost(4, verbose=2).fit(np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1])
    assert "AdaBoost: 100%" in capsys.readouterr().err
