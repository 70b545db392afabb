"""Bad input, for every estimator: a clear error or the right answer, never a silent wrong model."""

import re
import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import get_tags

import kernsemble

# What makes each estimator quick on twenty samples.
OPTIONS = {
    "AdaBoost": {"n_rounds": 5},
    "AdaBoostECC": {"n_rounds": 5, "random_state": 0},
    "AdaBoostMH": {"n_rounds": 5},
    "AdaBoostMO": {"n_rounds": 5},
    "CGBoostClassifier": {"tol": None},
    "CGBoostRegressor": {"tol": None},
    "CGEns": {"n_rounds": 5, "tol": None},
    "CGEnsSLS": {"n_rounds": 5, "tol": None},
    "LPBoost": {"n_rounds": 5, "tol": None},
    "MultiBoost": {"n_rounds": 5, "tol": None},
    "DistanceKernelSVCCV": {"cv": 2},
}


def exported():
    """Estimators whose module exists."""
    for name, module in sorted(kernsemble._ESTIMATORS.items()):
        try:
            yield name, getattr(import_module(f"kernsemble.estimators.{module}"), name)
        except ModuleNotFoundError:
            continue


ESTIMATORS = dict(exported())


@pytest.fixture(params=ESTIMATORS)
def make(request):
    """Call to get a new estimator, with other parameters if given."""
    options = OPTIONS.get(request.param, {})
    return lambda **others: ESTIMATORS[request.param](**{**options, **others})


X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.where(X[:, 0] > 0, "yes", "no")


def target(model, y=Y):
    """Labels, or numbers for a regressor."""
    return X[:, 0] if is_regressor(model) else y


def with_entry(value):
    changed = X.copy()
    changed[3, 1] = value
    return changed


BAD_X = {
    "infinity": (with_entry(np.inf), "infinity"),
    "minus infinity": (with_entry(-np.inf), "infinity"),
    "beyond double precision": (np.full((20, 3), "1e400"), "infinity|too large"),
    "text": (np.full((20, 3), "many"), "could not convert string to float"),
    "one dimension": (X[:, 0], "Expected 2D array|Reshape your data"),
    "three dimensions": (X[:, :, None], "dim 3"),
    "no features": (X[:, :0], "0 feature"),
    "complex": (X + 1j, "Complex data not supported"),
}


@pytest.mark.parametrize("case", BAD_X)
def test_bad_training_data_is_refused(make, case):
    data, message = BAD_X[case]
    model = make()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(data, target(model))


def test_missing_values_are_refused_unless_the_tags_take_them(make):
    model, data = make(), with_entry(np.nan)
    if get_tags(model).input_tags.allow_nan:
        model.fit(data, target(model)).predict(data)
        return
    with pytest.raises(ValueError, match="NaN"):
        model.fit(data, target(model))
    model.fit(X, target(model))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(data)


def test_labels_of_another_length_are_refused(make):
    model = make()
    if is_outlier_detector(model):
        pytest.skip("labels are ignored")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X[:10], target(model))


def test_no_samples_are_refused(make):
    with pytest.raises(ValueError, match="0 sample"):
        make().fit(X[:0], Y[:0])


def test_one_sample_is_refused(make):
    model = make()
    if not is_classifier(model):
        pytest.skip("one number can be fitted")
    with pytest.raises(ValueError, match=r"class|sample"):
        model.fit(X[:1], Y[:1])


BAD_Y = {
    "one class": (np.full(20, "yes"), "class"),
    "numbers on a scale": (X[:, 0], "Unknown label type"),
    "NaN": (np.where(X[:, 0] > 0, 1.0, np.nan), "NaN"),
    "None": (None, "requires y to be passed"),
    "two columns": (np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1).astype(int), r"multilabel|1d array|shape"),
}


@pytest.mark.parametrize("case", BAD_Y)
def test_bad_labels_are_refused(make, case):
    labels, message = BAD_Y[case]
    model = make()
    if not is_classifier(model) and (is_outlier_detector(model) or case not in ("NaN", "None")):
        pytest.skip("about labels")
    with pytest.raises(ValueError, match=message):
        model.fit(X, labels)


BAD_VALUES = {
    "C": [-1.0, 0.0, np.nan, "large"],
    "n_rounds": [0, -1, 2.5],
    "tol": [-1.0, "small"],
    "max_iter": [-1, 2.5],
    "n_components": [0, -1, 2.5],
    "lam": [-1.0, np.nan],
    "p": [0, 7],
}
BAD_PARAMETERS = [
    (estimator, name, value)
    for estimator, options in ((name, ESTIMATORS[name]().get_params()) for name in ESTIMATORS)
    for name, values in BAD_VALUES.items()
    if name in options
    for value in values
]


@pytest.mark.parametrize(("estimator", "name", "value"), BAD_PARAMETERS)
def test_bad_parameters_are_refused(estimator, name, value):
    model = ESTIMATORS[estimator](**{**OPTIONS.get(estimator, {}), name: value})
    with pytest.raises((ValueError, TypeError), match=name):
        model.fit(X, target(model))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, :2], r"X has 2 features, but .* is expecting 3 features"),
        (with_entry(np.inf), "infinity"),
        (sparse.csr_array(X[:, :2]), r"X has 2 features, but .* is expecting 3 features"),
        (X[:0], "0 sample"),
        (X[0], "Expected 2D array|Reshape your data"),
    ],
    ids=["width", "infinity", "sparse", "empty", "one dimension"],
)
def test_bad_data_to_predict_for_is_refused(make, data, message):
    model = make()
    model.fit(X, target(model))
    with pytest.raises((ValueError, TypeError), match=message):
        model.predict(data)


def test_predicting_before_fitting_is_refused(make):
    with pytest.raises(NotFittedError):
        make().predict(X)


BAD_WEIGHTS = {
    "negative": (np.linspace(-1, 1, 20), "negative"),
    "NaN": (np.full(20, np.nan), "NaN"),
    "all zero": (np.zeros(20), "zero"),
    "other length": (np.ones(19), "sample_weight"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights_are_refused(make, case):
    weight, message = BAD_WEIGHTS[case]
    model = make()
    if "sample_weight" not in model.fit.__code__.co_varnames:
        pytest.skip("no sample weights")
    with pytest.raises(ValueError, match=message):
        model.fit(X, target(model), sample_weight=weight)


UNUSUAL_X = {
    "constant column": np.hstack([X, np.full((20, 1), 7.0)]),
    "only constant columns": np.full((20, 2), 7.0),
    "duplicated columns": X[:, [0, 0, 1, 0]],
    "lists": X.tolist(),
    "integers": (10 * X).astype(np.int64),
    "large integers": (X * 2.0**61).astype(np.int64),
    "bytes": (X > 0).astype(np.uint8) * 255,
    "booleans": X > 0,
    "single precision": X.astype(np.float32),
    "half precision": X.astype(np.float16),
    "column by column": np.asfortranarray(X),
    "every other row": np.repeat(X, 2, axis=0)[::2],
    "more columns than rows": np.random.default_rng(1).normal(size=(20, 60)),
}


@pytest.mark.parametrize("case", UNUSUAL_X)
def test_unusual_training_data_is_learned_from(make, case):
    data = UNUSUAL_X[case]
    model = make()
    labels = target(model)
    before = np.array(data, copy=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a warning is an answer, too
        prediction = model.fit(data, labels).predict(data)
    np.testing.assert_array_equal(data, before)
    assert_plausible(model, prediction)
    if is_classifier(model) and case != "only constant columns":
        assert np.mean(prediction == Y) >= max(np.mean(Y == "yes"), np.mean(Y == "no"))


def assert_plausible(model, prediction):
    """Finite numbers, or labels that exist."""
    if is_classifier(model):
        assert set(prediction) <= {"yes", "no"}
    elif is_outlier_detector(model):
        assert set(prediction) <= {-1, 1}
    else:
        assert np.isfinite(prediction).all()


def test_rows_that_come_twice_are_learned_from(make):
    model = make()
    twice, labels = np.repeat(X, 2, axis=0), np.repeat(target(model), 2)
    assert_plausible(model, model.fit(twice, labels).predict(X))


@pytest.mark.parametrize("scale", [1e-150, 1e10, 1e50, 1e120, 1e150, 1e200])
def test_values_of_any_size_are_learned_from(make, scale):
    """Squares of these overflow or vanish; a method that cannot cope must say so."""
    model = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        refusal = None
        try:
            model.fit(X * scale, target(model))
        except ValueError as error:
            refusal = str(error)
    if refusal is not None:
        assert scale > 1e5
        assert re.search("scale|center", refusal), "the remedy is named"
        assert re.search(r"\de\+\d|nan|inf", refusal), "the value is named"
        return
    assert_plausible(model, model.predict(X * scale))
    assert np.all(np.isfinite(getattr(model, "dual_gap_", 0.0)))


@pytest.mark.parametrize("base", ["perceptron", "perceptron-pool", "fourier"])
def test_values_whose_projections_overflow_are_refused(base):
    model = kernsemble.AdaBoost(3, base=base, random_state=0).fit(X, Y)
    for refused in (model.fit, lambda data, _: model.predict(data)):
        with pytest.raises(ValueError, match=r"values up to [1-9.]+e\+300: scale the features"):
            refused(X / np.abs(X).max() * 1e300, Y)


def test_costs_that_drown_the_penalty_are_refused():
    X, y = np.arange(6.0)[:, None], np.arange(6) % 3
    with pytest.raises(
        ValueError, match=r"C times sample_weight is up to 4e\+16.*lower C, or scale the weights"
    ):
        kernsemble.CGEnsSLS(C=1e6).fit(X, y, sample_weight=[1, 4e10, 1, 2e-12, 1, 1])


@pytest.mark.parametrize(
    "labels", [np.where(X[:, 0] > 0, 7, -3), X[:, 0] > 0, np.where(X[:, 0] > 0, 1.0, 0.0), list(Y)]
)
def test_labels_of_any_kind_come_back(make, labels):
    model = make()
    if not is_classifier(model):
        pytest.skip("labels are for classifiers")
    assert set(model.fit(X, labels).predict(X)) <= set(np.asarray(labels).tolist())
