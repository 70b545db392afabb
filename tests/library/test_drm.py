"""The Diversity Regularized Machine: its relaxation against cvxpy, and as a scikit-learn estimator."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import NuSVC

from kernsemble import DRM
from kernsemble.masters.drm import solve_drm


def noisy(rng, n=24, d=3):
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def value_of_cvxpy(X, y, T, nu, mu, q):
    W, rho = cp.Variable((X.shape[1], T)), cp.Variable(T)
    value = -nu * cp.sum(rho)
    for t in range(T):
        slack = cp.pos(rho[t] - cp.multiply(y, X @ W[:, t]))
        value += cp.sum(slack if q == 1 else cp.square(slack)) / len(y)
        value += mu * sum(cp.sum_squares(W[:, t] + W[:, s]) for s in range(t))
    unit = [cp.norm(W[:, t]) <= 1 for t in range(T)]
    return cp.Problem(cp.Minimize(value), unit).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize(("T", "mu"), [(1, 0.1), (2, 0.3), (3, 0.01), (4, 2.0)])
def test_reaches_the_optimum_of_the_relaxation(rng, q, T, mu):
    X, y = noisy(rng)
    solution = solve_drm(X @ X.T, y, T, nu=0.4, mu=mu, q=q, tol=1e-10, max_iter=2000, rng=rng)
    expected = value_of_cvxpy(X, y, T, 0.4, mu, q)
    assert solution.objective == pytest.approx(expected, abs=1e-6)
    assert -1e-6 <= solution.gap <= 1e-5
    assert np.all(np.diff(solution.objective_path[1:]) <= 1e-9)  # alternating steps only descend
    assert solution.u.sum() == pytest.approx(0.4, abs=1e-9)
    lengths = np.linalg.norm(X.T @ solution.w, axis=0)
    assert np.all(lengths <= 1 + 1e-7)


@pytest.mark.parametrize("q", [1, 2])
def test_machines_that_start_apart_end_equal(rng, q):
    """The relaxation is strictly convex for three machines or more, and the same for all of them."""
    X, y = noisy(rng)
    solution = solve_drm(X @ X.T, y, 4, nu=0.4, mu=0.05, q=q, tol=1e-13, max_iter=2000, rng=rng)
    W = X.T @ solution.w
    np.testing.assert_allclose(W, np.tile(W[:, :1], 4), atol=1e-3 * np.abs(W).max())


def test_direction_is_that_of_one_nu_svm_whatever_mu_and_the_number_of_machines(rng):
    X, y = noisy(rng)
    K = X @ X.T
    directions = []
    for T, mu in ((1, 0.0), (3, 0.02), (5, 1.0)):
        w = X.T @ solve_drm(K, y, T, nu=0.8, mu=mu, tol=1e-13, max_iter=2000, rng=rng).w.mean(axis=1)
        directions.append(w / np.linalg.norm(w))
    np.testing.assert_allclose(directions[1], directions[0], atol=1e-3)
    np.testing.assert_allclose(directions[2], directions[0], atol=1e-3)


def test_one_machine_is_the_nu_svm_of_libsvm(rng):
    """On data that are symmetric about 0 the free intercept of LIBSVM vanishes."""
    X, y = noisy(rng)
    X, y = np.vstack([X, -X]), np.concatenate([y, -y])
    libsvm = NuSVC(nu=0.5, kernel="linear", tol=1e-9).fit(X, y)
    assert libsvm.intercept_[0] == pytest.approx(0.0, abs=1e-6)
    w = X.T @ solve_drm(X @ X.T, y, 1, nu=0.5).w[:, 0]
    np.testing.assert_allclose(w, libsvm.coef_[0] / np.linalg.norm(libsvm.coef_[0]), atol=1e-5)


@pytest.mark.parametrize(("T", "mu"), [(1, 0.1), (3, 1e-4), (3, 10.0)])
def test_a_gap_covers_what_rounding_hides(T, mu):
    """Two samples of length 10^6 leave r = (0, 0.05), too short for their kernel to tell its direction."""
    X, y = np.array([[1e6, 0.05], [1e6, -0.05]]), np.array([1.0, -1.0])
    ridge = 2.0 * mu * (T - 1)
    optimum = T * (ridge - 0.05 if ridge <= 0.025 else -(0.05**2) / (4.0 * ridge))
    solution = solve_drm(X @ X.T, y, T, nu=1.0, mu=mu)
    assert solution.dual_objective <= optimum <= solution.objective
    assert solution.converged == (solution.gap <= 1e-3)
    assert solution.gap <= T * 0.12


def test_a_round_that_raises_the_objective_is_undone(rng):
    X, y = 1e12 + rng.normal(size=(12, 4)), np.repeat([1.0, -1.0], 6)
    solution = solve_drm(X @ X.T, y, 4, nu=0.5, rng=rng)
    path = solution.objective_path
    assert np.all(np.diff(path) <= 1e-6 * np.maximum(1.0, np.abs(path[1:])))
    assert not solution.converged
    assert "center and scale the features" in solution.message


def test_programs_are_sharpened_where_features_have_unequal_scales():
    """What tells the classes apart is ten thousand times shorter than the samples."""
    rng, y = np.random.default_rng(2), np.repeat([1.0, -1.0], 8)
    X = rng.normal(size=(16, 2)) * [1e4, 0.3]
    X[:, 1] += y
    solution = solve_drm(X @ X.T, y, 1, nu=0.9)
    assert solution.converged
    assert 0.0 <= solution.gap <= 1e-3
    assert solution.objective == pytest.approx(value_of_nu_svm(X, y, 0.9), abs=1e-4)


def value_of_nu_svm(X, y, nu):
    """Minus the least length of a combination of samples, whose first features have to cancel."""
    alpha = cp.Variable(len(y))
    cancel = (X[:, 0] / np.abs(X[:, 0]).max() * y) @ alpha == 0
    bounds = [alpha >= 0, alpha <= 1.0 / len(y), cp.sum(alpha) == nu]
    return -cp.Problem(cp.Minimize(cp.abs((X[:, 1] * y) @ alpha)), [cancel, *bounds]).solve(
        solver=cp.CLARABEL
    )


def test_short_machines_of_squared_slack_are_kept():
    """Equal samples, one of them in the other class: w = 2 rho / 3, rho = 9 nu / 10, value -9 nu^2 / 20."""
    X, y = np.ones((6, 1)), np.array([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    solution = solve_drm(X @ X.T, y, 1, nu=0.05, q=2)
    assert solution.objective == pytest.approx(-0.45 * 0.05**2, abs=1e-7)
    assert X.T @ solution.w == pytest.approx(0.6 * 0.05, abs=1e-4)
    assert 0.0 <= solution.gap <= 1e-6


def test_hulls_that_meet_leave_no_direction():
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    solution = solve_drm(X @ X.T, y, 2, nu=1.0)
    np.testing.assert_array_equal(solution.w, 0.0)
    assert solution.objective == pytest.approx(0.0)


def test_estimator_averages_its_machines():
    X, y = load_iris(return_X_y=True)
    binary = DRM(3, mu=0.01, nu=0.2, random_state=0).fit(X[:100], y[:100])
    scores = binary.component_decision_function(X)
    assert scores.shape == (150, 3)
    np.testing.assert_allclose(scores.mean(axis=1), binary.decision_function(X))
    assert binary.score(X[:100], y[:100]) == 1.0
    several = DRM(3, nu=0.2, kernel="gaussian", gamma=0.5, random_state=0).fit(X, y)
    assert several.component_decision_function(X).shape == (150, 3, 3)
    assert several.score(X, y) > 0.93
    assert several.dual_gap_ < 1e-4


def test_a_callable_kernel_and_an_intercept(rng):
    X, y = noisy(rng)
    linear = DRM(2, intercept_scaling=2.0, random_state=0).fit(X, y)
    called = DRM(2, kernel=lambda A, B: A @ B.T + 4.0, intercept_scaling=0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(linear.decision_function(X), called.decision_function(X), atol=1e-9)
    assert np.isnan(DRM(1, random_state=0).fit(X, y).diversity_[0])


def test_stopping_early_warns_and_leaves_diversity(rng):
    X, y = noisy(rng)
    with pytest.warns(ConvergenceWarning, match="gap"):
        early = DRM(4, mu=0.05, max_iter=1, random_state=0).fit(X, y)
    late = DRM(4, mu=0.05, tol=1e-12, max_iter=5000, random_state=0).fit(X, y)
    assert early.diversity_[0] > 10 * late.diversity_[0]


@pytest.mark.parametrize("q", [1, 2])
def test_weights_count_like_repeated_samples(rng, q):
    X, y = noisy(rng)
    weight = rng.integers(1, 4, size=y.size)
    rows = np.repeat(np.arange(y.size), weight)
    options = {"nu": 0.37, "mu": 0.2, "q": q, "tol": 1e-10, "max_iter": 2000}
    weighted = solve_drm(X @ X.T, y, 3, sample_weight=2.0 * weight, **options)
    repeated = solve_drm(X[rows] @ X[rows].T, y[rows], 3, **options)
    assert weighted.objective == pytest.approx(repeated.objective, abs=1e-6)
    assert -1e-6 <= weighted.gap <= 1e-5
    np.testing.assert_allclose(X.T @ weighted.w, X[rows].T @ repeated.w, atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("scale", [1e120, 1e200])
def test_huge_kernels_are_refused_at_once(rng, kernel, scale):
    X, y = noisy(rng)
    machine = DRM(3, kernel=kernel, gamma=1.0, random_state=0)
    if kernel == "gaussian":
        assert np.isfinite(machine.fit(scale * X, y).decision_function(scale * X)).all()
        return
    with pytest.raises(ValueError, match="scale the features"):
        machine.fit(scale * X, y)


def test_the_zero_machine_says_so(rng):
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    with pytest.warns(ConvergenceWarning, match=r"at nu=0\.2 no margin is possible.*Raise nu") as caught:
        model = DRM(2, nu=0.2, random_state=0).fit(X, y)
    assert caught[0].filename == __file__
    assert not model.decision_function(X).any()
    assert DRM(2, nu=1.0, random_state=0).fit(X, y).decision_function(X).any()
