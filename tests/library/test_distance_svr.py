"""Regression with distance kernels beside SVR, a linear system, and the matrix of the kernel."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from kernsemble import DistanceKernelSVR
from kernsemble.hypotheses.directions import Directions
from kernsemble.kernels import perceptron_kernel, stump_kernel


def curve(rng, n=150, d=3):
    X = rng.uniform(-2, 2, size=(n, d))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("C", [0.05, 2.0])
def test_predicts_like_svr_with_the_same_kernel(rng, C):
    X, y = curve(rng)
    weight = rng.uniform(0.5, 2.0, size=len(y))
    ours = DistanceKernelSVR(C=C, epsilon=0.2, tol=1e-9).fit(X, y, weight)
    libsvm = SVR(kernel=stump_kernel, C=C, epsilon=0.2, tol=1e-8).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), libsvm.predict(X), atol=2e-3)
    beta = np.zeros(len(y))
    beta[libsvm.support_] = libsvm.dual_coef_[0]
    loss = C * weight @ np.maximum(0.0, np.abs(y - libsvm.predict(X)) - 0.2)
    assert ours.objective_ == pytest.approx(0.5 * beta @ stump_kernel(X) @ beta + loss, rel=1e-5)


def test_squares_are_a_linear_system(rng):
    X, y = curve(rng)
    n, C = len(y), 0.7
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = stump_kernel(X) + np.eye(n) / (2.0 * C)
    system[n, n] = 0.0
    *beta, b = np.linalg.solve(system, np.append(y, 0.0))
    ours = DistanceKernelSVR(C=C, loss="squared_error", tol=1e-12).fit(X, y)
    new = rng.uniform(-3, 3, size=(50, 3))
    np.testing.assert_allclose(ours.predict(new), stump_kernel(new, X) @ beta + b, atol=1e-4)


def test_directions_stand_for_the_perceptron_kernel(rng):
    X, y = curve(rng)
    sliced = DistanceKernelSVR("perceptron", n_directions=64, random_state=0, tol=1e-8).fit(X, y)
    Z = Directions.draw(3, 64, 0).project(X)
    same = SVR(kernel=lambda A, B: -cdist(A, B, "cityblock"), tol=1e-8).fit(Z, y)
    np.testing.assert_allclose(sliced.predict(X), same.predict(Z), atol=5e-3)
    exact = SVR(kernel=perceptron_kernel).fit(X, y)
    assert np.std(sliced.predict(X) - exact.predict(X)) < 0.05 * np.std(y)
    with pytest.raises(AttributeError, match="kernel='stump' only"):
        _ = sliced.shape_functions_


def test_shape_functions_and_intercept_are_the_prediction(rng):
    X, y = curve(rng, n=8000)
    model = DistanceKernelSVR(C=0.1).fit(X, y)
    f = model.intercept_ + sum(
        np.interp(column, shape.knots, shape.values[:, 0])
        for column, shape in zip(X.T, model.shape_functions_, strict=True)
    )
    np.testing.assert_allclose(model.predict(X), f, atol=1e-9)
    assert model.intercept_ == pytest.approx(model.predict(X).mean(), abs=1e-3)
    assert model.relative_gap_ <= 1e-3
    assert model.feature_importances_.argmin() == 2
    assert len(pickle.dumps(model)) < 100_000
    grid = np.linspace(-1.5, 1.5, 31)
    shape = model.shape_functions_[0]
    wave = np.interp(grid, shape.knots, shape.values[:, 0])
    assert np.corrcoef(wave, np.sin(2 * grid))[0, 1] > 0.98


def test_steps_that_run_out_warn_with_the_gap(rng):
    with pytest.warns(ConvergenceWarning, match="DistanceKernelSVR stopped after 1 iterations"):
        DistanceKernelSVR(C=10.0, max_iter=1).fit(*curve(rng))
