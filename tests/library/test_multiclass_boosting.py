"""AdaBoost.MH, .ECC and .MO as scikit-learn estimators."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from kernsemble import AdaBoost, AdaBoostECC, AdaBoostMH, AdaBoostMO

METHODS = [AdaBoostMH, AdaBoostECC, AdaBoostMO]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X.astype(np.uint8), np.array([f"digit {label}" for label in y])


@pytest.mark.parametrize(
    ("model", "score"),
    [
        (AdaBoostMH(100), 0.82),
        (AdaBoostECC(100, random_state=0), 0.80),
        (AdaBoostECC(100, coloring="half", random_state=0), 0.80),
        (AdaBoostECC(100, coloring="maxcut", random_state=0), 0.80),
        (AdaBoostMO(20), 0.86),
        (AdaBoostMO(10, code="random", random_state=0), 0.84),
        (AdaBoostMO(2, code="exhaustive"), 0.80),
    ],
    ids=str,
)
def test_digits_are_told_apart(digits, model, score):
    X, y = digits
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > score
    stages = list(model.staged_decision_function(X[1::2]))
    assert len(stages) == model.n_rounds_ == model.n_rounds
    np.testing.assert_allclose(stages[-1], model.decision_function(X[1::2]), atol=1e-9)
    assert (np.diff(model.objective_path_) < 0).all()
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_two_classes_are_adaboost(method):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    options = {"random_state": 0} if method is AdaBoostECC else {}
    model, binary = method(10, **options).fit(X, y), AdaBoost(10).fit(X, y)
    assert model.decision_function(X).shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), binary.predict(X))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("base", ["perceptron", "perceptron-pool", "fourier"])
def test_other_bases(method, base):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"perceptron": {"n_updates": 20}, "fourier": {"gamma": 0.05}}.get(base, {})
    model = method(30, base=base, base_options=options, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_a_code_of_ones_own():
    X, y = load_wine(return_X_y=True)
    code = [[1, 1], [-1, 1], [-1, -1]]
    model = AdaBoostMO(10, code=code).fit(X, y)
    assert len(model.hypotheses_) == 20
    np.testing.assert_array_equal(model.code_, code)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("gray", "code='gray' is not known"),
        ([[1, 0], [1, 1], [-1, 1]], "-1 and \\+1 with 3 rows"),
        ([[1, -1]], "with 3 rows"),
    ],
)
def test_bad_codes_are_refused(code, message):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        AdaBoostMO(2, code=code).fit(X, y)


def test_an_exhaustive_code_has_a_limit():
    with pytest.raises(ValueError, match=r"would have 2\*\*14 - 1 columns; choose 'random'"):
        AdaBoostMO(2, code="exhaustive").fit(np.eye(15), np.arange(15))
