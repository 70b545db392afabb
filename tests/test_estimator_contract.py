"""What each public estimator shows of its fit, and why not where something is missing."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning

import kernsemble

NOTHING_TO_CERTIFY = "stage-wise: minimizes no stated problem over the weights at once, so there is no dual"
AT_ONCE = "solved at once, without rounds"
NO_STUMPS = "kernel columns, not stumps"
MANY_PATHS = (
    "sequential minimal optimization of one problem a class and value of C: its certificate is the gap"
)
NO_SCORES = "regression: staged_predict is that"
MARGIN = "the margin that decides belongs to the last round's weights"

COLUMN_GENERATION = {
    "dual_gap_": True,
    "objective_path_": True,
    "n_rounds_": True,
    "verbose": True,
    "sample_weight": True,
    "staged_predict": True,
    "staged_decision_function": True,
    "feature_importances_": True,
}
STAGE_WISE = {**COLUMN_GENERATION, "dual_gap_": NOTHING_TO_CERTIFY}
SINGLE_FIT = {
    **dict.fromkeys(("dual_gap_", "objective_path_", "n_iter_", "verbose", "sample_weight"), True),
    **dict.fromkeys(
        ("staged_predict", "staged_decision_function", "feature_importances_", "n_rounds_"), AT_ONCE
    ),
}
MIXTURE = {**COLUMN_GENERATION, "feature_importances_": NO_STUMPS}
KERNEL_TRICK = {**SINGLE_FIT, "objective_path_": MANY_PATHS}

CONTRACT = {
    **dict.fromkeys(("AdaBoost", "AdaBoostECC", "AdaBoostMH", "AdaBoostMO"), STAGE_WISE),
    **dict.fromkeys(("CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"), COLUMN_GENERATION),
    "CGBoostClassifier": MIXTURE,
    "CGBoostRegressor": {**MIXTURE, "staged_decision_function": NO_SCORES},
    "CGBoostNovelty": {**MIXTURE, "staged_predict": MARGIN, "staged_decision_function": MARGIN},
    **dict.fromkeys(("DRM", "ExRM"), SINGLE_FIT),
    "DistanceKernelSVC": KERNEL_TRICK,
    "DistanceKernelSVCCV": KERNEL_TRICK,
}
X = np.random.default_rng(0).normal(size=(30, 3))
NOISE = np.random.default_rng(1).normal(size=30)
ROUNDS = 4


@pytest.fixture(params=sorted(kernsemble._ESTIMATORS))
def fitted(request):
    """Return the name and a fitted estimator."""
    model = getattr(kernsemble, request.param)()
    options = {"n_rounds": ROUNDS, "random_state": 0}
    model.set_params(**{name: value for name, value in options.items() if name in model.get_params()})
    y = X[:, 0] if is_regressor(model) else (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return request.param, model.fit(X, y)


def test_every_public_estimator_has_a_row():
    assert set(CONTRACT) == set(kernsemble._ESTIMATORS)


def test_each_has_what_its_row_says(fitted):
    name, model = fitted
    found = {entry: hasattr(model, entry) for entry in CONTRACT[name]}
    found["verbose"] = "verbose" in model.get_params()
    found["sample_weight"] = "sample_weight" in inspect.signature(model.fit).parameters
    assert found == {entry: reason is True for entry, reason in CONTRACT[name].items()}


def test_certificates_and_records_fit_the_rounds(fitted):
    name, model = fitted
    if CONTRACT[name]["dual_gap_"] is True:
        assert np.all(np.isfinite(model.dual_gap_))
        assert np.min(model.dual_gap_) >= -1e-8
    if CONTRACT[name]["n_rounds_"] is True:
        assert 1 <= model.n_rounds_ <= ROUNDS
        assert len(model.objective_path_) == model.n_rounds_
    else:
        assert np.max(model.n_iter_) >= 1


def test_the_last_stage_is_the_model(fitted):
    name, model = fitted
    for staged, whole in (("staged_predict", "predict"), ("staged_decision_function", "decision_function")):
        if CONTRACT[name].get(staged) is True:
            stages = list(getattr(model, staged)(X))
            assert len(stages) == model.n_rounds_
            final = getattr(model, whole)(X)
            if is_regressor(model) or whole == "decision_function":
                np.testing.assert_allclose(stages[-1], final, rtol=1e-9, atol=1e-9)
            else:
                np.testing.assert_array_equal(stages[-1], final)


@pytest.mark.filterwarnings("ignore:.*edge of the grid")  # the weights leave few samples
def test_weights_change_the_model(fitted):
    _, model = fitted
    y = X[:, 0] if is_regressor(model) else (X[:, 0] + NOISE > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        even = score(model.fit(X, y, sample_weight=np.ones(len(X))))
        uneven = score(model.fit(X, y, sample_weight=np.geomspace(1e-3, 1e3, len(X))))
    assert not np.allclose(even, uneven, rtol=1e-6)


def score(model):
    """Return real-valued outputs."""
    return model.predict(X) if is_regressor(model) else model.decision_function(X)
