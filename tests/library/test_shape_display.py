"""Shape functions are the model, whatever it is an ensemble of; the display draws them."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_iris

from kernsemble import AdaBoost, CGEns, DistanceKernelSVC, DistanceKernelSVR, LPBoost, MultiBoost
from kernsemble.estimators.shape_display import ShapeDisplay, shape_functions

mpl.use("Agg")
MODELS = [
    DistanceKernelSVC(),
    DistanceKernelSVC(solver="spline"),
    DistanceKernelSVR(),
    AdaBoost(20),
    CGEns(n_rounds=20, tol=None),
    LPBoost(n_rounds=20, tol=None, C=0.05),
]


@pytest.fixture(autouse=True)
def closed():
    """Close all figures."""
    yield
    pyplot.close("all")


def data(rng):
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + 0.2 * X[:, 1] ** 2 > 0.1).astype(int)


def added_up(model, X):
    """The sum of all shape functions; at a jump the side below."""
    total = np.zeros((len(X), shape_functions(model)[0].values.shape[1]))
    for x, (knots, values) in zip(X.T, shape_functions(model), strict=True):
        total += np.column_stack([np.interp(x, knots, column) for column in values.T])
    return total + model.intercept_


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_shape_functions_and_intercept_are_the_model(rng, model):
    X, y = data(rng)
    model.fit(X, y)
    f = model.predict(X) if isinstance(model, DistanceKernelSVR) else model.decision_function(X)
    expected = added_up(model, X)[:, 0]
    constant = f - expected
    np.testing.assert_allclose(constant, constant[0], atol=1e-9)  # constant stumps are part of no feature
    if not hasattr(model, "hypotheses_"):
        np.testing.assert_allclose(constant, 0.0, atol=1e-9)


def test_several_classes_have_a_curve_each():
    X, y = load_iris(return_X_y=True)
    model = MultiBoost(n_rounds=30, tol=None).fit(X, y)
    f = model.decision_function(X) - added_up(model, X)
    np.testing.assert_allclose(f, np.broadcast_to(f[0], f.shape), atol=1e-9)
    display = ShapeDisplay.from_estimator(model, X, features=[2, 3])
    assert [len(lines) for lines in display.lines_] == [3, 3]
    assert [line.get_label() for line in display.lines_[0]] == ["0", "1", "2"]
    pairs = ShapeDisplay.from_estimator(DistanceKernelSVC().fit(X, y), X)
    assert pairs.outputs == ["1, not 0", "2, not 0", "2, not 1"]
    assert len(pairs.axes_) == 4


def test_curves_have_mean_zero_over_the_data_and_span_it(rng):
    X, y = data(rng)
    frame = pd.DataFrame(X, columns=["length", "width", "height"])
    model = DistanceKernelSVC(solver="spline").fit(frame, y)
    display = ShapeDisplay.from_estimator(model, frame, features=["width", "length"], color="k")
    assert [panel.get_xlabel() for panel in display.axes_] == ["width", "length"]
    for (line,), name in zip(display.lines_, ["width", "length"], strict=True):
        x, y_line = line.get_data()
        assert (x.min(), x.max()) == (frame[name].min(), frame[name].max())
        assert abs(np.interp(frame[name], x, y_line).mean()) < 1e-9
        assert line.get_color() == "k"
    assert display.deciles[0].shape == (9,)


def test_the_features_that_vary_most_come_first(rng):
    X, y = data(rng)
    X[:, 2] = 1.0
    display = ShapeDisplay.from_estimator(DistanceKernelSVC().fit(X, y), X)
    assert display.names == ["x0", "x1", "x2"]


def test_what_cannot_be_drawn_is_named(rng):
    X, y = data(rng)
    with pytest.raises(TypeError, match="DistanceKernelSVC is no additive model"):
        ShapeDisplay.from_estimator(DistanceKernelSVC("gaussian").fit(X, y), X)
    model = DistanceKernelSVC().fit(X, y)
    with pytest.raises(ValueError, match="expected 3 features"):
        ShapeDisplay.from_estimator(model, X[:, :2])
    with pytest.raises(ValueError, match="1 axes were given for 2 features"):
        ShapeDisplay.from_estimator(model, X, features=[0, 1], axes=pyplot.gca())
