"""Generators: means and covariances from the definitions, Bayes rules against densities and simulation."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from kernsemble.data.generators import (
    bayes_decision,
    bayes_error,
    circle,
    flip_labels,
    linear_rbf,
    linear_rbf_target,
    ringnorm,
    threenorm,
    twonorm,
    waveform,
)

TWO_CLASS = {"ringnorm": ringnorm, "threenorm": threenorm, "twonorm": twonorm}
N = 200_000


def ones_mean(d):
    return np.full(d, 2 / np.sqrt(d))


def alternating_mean(d):
    return ones_mean(d) * (-1.0) ** np.arange(d)


def moments(name, label, d):
    """Mean and covariance of a class, from Breiman's definitions; label 1 is his class 1."""
    e, alternating, unit = ones_mean(d), alternating_mean(d), np.eye(d)
    table = {
        ("twonorm", 1): (e, unit),
        ("twonorm", 0): (-e, unit),
        ("threenorm", 1): (np.zeros(d), unit + np.outer(e, e)),
        ("threenorm", 0): (alternating, unit),
        ("ringnorm", 1): (np.zeros(d), 4 * unit),
        ("ringnorm", 0): (e, unit),
    }
    return table[name, label]


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("name", sorted(TWO_CLASS))
def test_means_and_covariances(name, d):
    data = TWO_CLASS[name](N, d, random_state=1)
    assert abs(data.y.mean() - 0.5) < 4 * 0.5 / np.sqrt(N)
    for label in (0, 1):
        mean, covariance = moments(name, label, d)
        X = data.X[data.y == label]
        scale = np.sqrt(np.diag(covariance).max())
        np.testing.assert_allclose(X.mean(axis=0), mean, atol=5 * scale / np.sqrt(len(X)))
        np.testing.assert_allclose(np.cov(X.T), covariance, atol=8 * scale**2 / np.sqrt(len(X)))


def test_threenorm_class_1_has_two_sides():
    """Along e its variance is 1 + 4: fourth moments tell two normals from one wide one."""
    data = threenorm(N, random_state=0)
    along = data.X[data.y == 1] @ ones_mean(20) / 2
    kurtosis = (along**4).mean() / (along**2).mean() ** 2
    # E (2 s + z)^4 = 16 + 6 * 4 + 3 = 43 with s = +-1.
    assert kurtosis == pytest.approx(43 / 25, abs=0.02)


def densities(name, X):
    """Densities of class 2 and class 1 by scipy, independent of the module."""
    d = X.shape[1]
    e, alternating, unit = ones_mean(d), alternating_mean(d), np.eye(d)
    normal = multivariate_normal
    table = {
        "twonorm": (normal(-e, unit).pdf(X), normal(e, unit).pdf(X)),
        "threenorm": (normal(alternating, unit).pdf(X), (normal(e).pdf(X) + normal(-e).pdf(X)) / 2),
        "ringnorm": (normal(e, unit).pdf(X), normal(np.zeros(d), 4 * unit).pdf(X)),
    }
    return table[name]


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("name", sorted(TWO_CLASS))
def test_decision_is_the_log_density_ratio(name, d, rng):
    X = rng.normal(0, 2, (50, d))
    negative, positive = densities(name, X)
    np.testing.assert_allclose(bayes_decision(name, X), np.log(positive / negative), atol=1e-9)


@pytest.mark.parametrize("name", sorted(TWO_CLASS))
def test_bayes_error_in_the_plane_by_gaussian_quadrature(name):
    """E = 1/2 integral of min(p1, p2) over a square that holds all mass."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x, y = (axis.ravel() for axis in np.meshgrid(11 * nodes, 11 * nodes))
    smaller = np.minimum(*densities(name, np.column_stack([x, y])))
    value = 0.5 * 11**2 * np.outer(weights, weights).ravel() @ smaller
    assert bayes_error(name, 2) == pytest.approx(value, abs=1e-4)


def test_bayes_errors_are_those_that_breiman_prints():
    """2.3, 10.5 and 1.3 percent in 20 dimensions (the last is 1.24 exactly)."""
    assert bayes_error("twonorm") == pytest.approx(0.023, abs=5e-4)
    assert bayes_error("threenorm") == pytest.approx(0.105, abs=5e-4)
    assert bayes_error("ringnorm") == pytest.approx(0.0124, abs=5e-5)


def test_threenorm_error_does_not_depend_on_an_even_dimension():
    assert bayes_error("threenorm", 2) == pytest.approx(bayes_error("threenorm", 20), abs=2e-5)


def waves():
    i = np.arange(1, 22)
    return [np.maximum(6 - np.abs(i - center), 0) for center in (11, 15, 7)]


def test_waveform_means_and_covariances():
    data = waveform(N, random_state=3)
    h = waves()
    assert np.abs(np.bincount(data.y) / N - 1 / 3).max() < 0.005
    for label, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
        X = data.X[data.y == label]
        difference = h[first] - h[second]
        np.testing.assert_allclose(X.mean(axis=0), (h[first] + h[second]) / 2, atol=0.04)
        # u has the variance 1/12.
        expected = np.eye(21) + np.outer(difference, difference) / 12
        np.testing.assert_allclose(np.cov(X.T), expected, atol=0.12)


def test_waveform_densities_by_quadrature():
    """The closed form along the segment equals a fine sum over u, also far from the segment."""
    X = np.concatenate([waveform(20, random_state=4).X, waveform(5, random_state=5).X * 6])
    u = (np.arange(20_000) + 0.5) / 20_000
    h = waves()
    for label, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
        points = u[:, None] * h[first] + (1 - u[:, None]) * h[second]
        squares = (X**2).sum(axis=1)[:, None] - 2 * X @ points.T + (points**2).sum(axis=1)
        logs = logsumexp(-squares / 2, axis=1) - np.log(len(u)) - 21 / 2 * np.log(2 * np.pi)
        np.testing.assert_allclose(bayes_decision("waveform", X)[:, label], logs, atol=1e-3, rtol=1e-6)


def test_waveform_bayes_error_by_simulation():
    """The book's 14 percent comes from a simulation; the integral gives 13.3."""
    data = waveform(N, random_state=6)
    rate = (bayes_decision("waveform", data.X).argmax(axis=1) != data.y).mean()
    assert abs(rate - bayes_error("waveform")) < 4 * np.sqrt(0.13 / N)


@pytest.mark.parametrize("draw", [twonorm, threenorm, ringnorm, waveform, circle, linear_rbf])
def test_random_state(draw):
    def features(seed):
        drawn = draw(30, random_state=seed)
        return drawn[0] if isinstance(drawn, tuple) else drawn.X

    np.testing.assert_array_equal(features(5), features(5))
    assert not np.array_equal(features(5), features(6))
    generator = np.random.default_rng(5)
    np.testing.assert_array_equal(features(generator), features(5))
    assert not np.array_equal(features(generator), features(5))


def test_circle():
    data = circle(N, random_state=0)
    inside = (data.X**2).sum(axis=1) <= 2 * np.log(2)
    np.testing.assert_array_equal(data.signs == 1, inside)
    assert abs(data.y.mean() - 0.5) < 0.005
    assert abs(circle(N, radius=1.0, random_state=0).y.mean() - (1 - np.exp(-0.5))) < 0.005


def test_linear_rbf():
    X, y = linear_rbf(20_000, sigma=0.3, noise=0.2, random_state=0)
    assert X.min() > -1
    assert X.max() < 1
    x = X[0]
    bumps = sum(
        np.exp(-((x - c) ** 2).sum() / 0.3**2) for c in np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) / 2
    )
    assert linear_rbf_target(X[:1], 0.3)[0] == pytest.approx(x[0] + 2 * x[1] + bumps)
    residual = y - linear_rbf_target(X, 0.3)
    assert residual.std() == pytest.approx(0.2, rel=0.03)
    assert abs(residual.mean()) < 0.01


def test_flipped_labels(rng):
    for y in (rng.integers(0, 2, 200), 2 * rng.integers(0, 2, 200) - 1):
        flipped = flip_labels(y, 0.1, random_state=0)
        assert (flipped != y).sum() == 20
        assert set(np.unique(flipped)) == set(np.unique(y))
    with pytest.raises(ValueError, match="fraction"):
        flip_labels(y, 1.5)
    with pytest.raises(ValueError, match="y must hold"):
        flip_labels(np.array([0, 1, 2]), 0.1)


def test_threenorm_needs_two_dimensions():
    with pytest.raises(ValueError, match="n_features >= 2"):
        bayes_error("threenorm", 1)


def test_unknown_names():
    for function in (bayes_error, lambda name: bayes_decision(name, np.zeros((1, 2)))):
        with pytest.raises(ValueError, match="name must be one of"):
            function("fournorm")
