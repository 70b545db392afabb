"""The primal SVM with a free intercept against cvxpy, LIBSVM and its optimality conditions."""

import cvxpy as cp
import numpy as np
import pytest
from kkt import assert_kkt
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC, LinearSVC

from kernsemble.masters import psvm_newton
from kernsemble.masters.psvm import solve_psvm

SHAPES = {"long": (60, 4), "wide": (15, 40), "duplicated columns": (30, 6), "one column": (25, 1)}
LOSS = {1: "hinge", 2: "squared_hinge"}


def problem(rng, shape="long", noise=1.0):
    n, d = SHAPES[shape]
    X = rng.normal(size=(n, d))
    if shape == "duplicated columns":
        X[:, d // 2 :] = X[:, : d // 2]
        X[:, 0] = 1.0  # and a constant one, beside the free intercept
    y = np.where(X[:, -1] + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def value_of_cvxpy(X, y, lam, p):
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    slack = cp.pos(1 - cp.multiply(y, X @ w + b))
    loss = cp.sum(slack if p == 1 else cp.square(slack))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + lam * loss)).solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_optimality_conditions_and_certificate(rng, p, shape, lam):
    X, y = problem(rng, shape)
    solution = solve_psvm(X, y, lam, p, tol=1e-11)
    assert solution.converged
    assert abs(y @ solution.u) <= 1e-12 * max(1.0, solution.u.sum())  # exactly feasible: the gap is a bound
    assert np.all(solution.u >= 0)
    assert p == 2 or np.all(solution.u <= lam)
    assert -1e-12 <= solution.relative_gap <= 1e-11
    loose = 1e-4 * max(1.0, lam)  # u approaches its bounds as the root of the gap
    assert_kkt(X, y, solution, loss=LOSS[p], C=lam, intercept="free", tol=loose if p == 1 else 1e-8)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("lam", [0.05, 2.0])
def test_equals_cvxpy(rng, p, lam):
    X, y = problem(rng)
    assert solve_psvm(X[:20], y[:20], lam, p).objective == pytest.approx(
        value_of_cvxpy(X[:20], y[:20], lam, p), rel=1e-6
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_hinge_equals_libsvm(rng, shape):
    X, y = problem(rng, shape)
    solution = solve_psvm(X, y, 0.7, 1)
    libsvm = SVC(C=0.7, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(solution.w, libsvm.coef_[0], atol=1e-5)


def test_squared_hinge_equals_liblinear_where_the_intercept_is_almost_free(rng):
    """LIBLINEAR penalizes the intercept; scaled by 1000 it is nearly free."""
    X, y = problem(rng)
    solution = solve_psvm(X, y, 0.7, 2)
    liblinear = LinearSVC(C=0.7, dual=False, intercept_scaling=1000.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(solution.w, liblinear.coef_[0], atol=1e-5)
    assert solution.b == pytest.approx(liblinear.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("p", [1, 2])
def test_known_optimum(p):
    """Points -1 and 1: w = 1 without loss at p = 1; (1 - w)^2 keeps w at 4 lam / (1 + 4 lam)."""
    solution = solve_psvm(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), 3.0, p, tol=1e-12)
    assert solution.w[0] == pytest.approx(1.0 if p == 1 else 12 / 13, abs=1e-6)
    assert solution.b == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("p", [1, 2])
def test_weights_count_like_repeated_samples(rng, p):
    X, y = problem(rng)
    weight = rng.integers(1, 4, size=y.size)
    weighted = solve_psvm(X, y, 0.5, p, sample_weight=weight)
    repeated = solve_psvm(np.repeat(X, weight, axis=0), np.repeat(y, weight), 0.5, p)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-8)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-4)


@pytest.mark.parametrize("p", [1, 2])
def test_a_rotation_and_a_shift_of_the_data_change_nothing(rng, p):
    X, y = problem(rng)
    turned = X @ np.linalg.qr(rng.normal(size=(4, 4)))[0] + 5.0
    first, second = (solve_psvm(Z, y, 0.5, p, tol=1e-11) for Z in (X, turned))
    assert first.objective == pytest.approx(second.objective, rel=1e-9)


def test_newton_ends_after_few_steps(rng):
    X = rng.normal(size=(2000, 10))
    y = np.where(X @ rng.normal(size=10) + 3 * rng.normal(size=2000) > 1, 1.0, -1.0)
    solution = solve_psvm(X, y, 2.0, 2)
    assert solution.n_iter <= 8
    assert solution.relative_gap <= 1e-14


def test_steps_that_run_out_are_admitted(rng):
    X, y = problem(rng)
    solution = solve_psvm(X, y, 10.0, 1, max_iter=3)
    assert not solution.converged
    assert solution.objective >= value_of_cvxpy(X, y, 10.0, 1) >= solution.dual_objective


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(60)}, "both present"),
        ({"p": 3}, "p must be 1 or 2"),
        ({"lam": 0.0}, "must be positive"),
        ({"lam": np.inf}, "must be positive"),
        ({"X": np.full((60, 2), np.nan)}, "NaN"),
        ({"X": np.ones((59, 2))}, "shape"),
    ],
)
def test_bad_input_is_named(change, message, rng):
    X, y = problem(rng)
    with pytest.raises(ValueError, match=message):
        solve_psvm(**{"X": X, "y": y, "lam": 1.0, "p": 2, **change})


# ---- the hinge: ties, scales, and NumPy twins of the compiled steps


@pytest.mark.parametrize("kind", ["duplicated rows", "integers", "bits", "badly scaled"])
@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0, 1e4])
def test_hinge_stays_exact_with_ties_and_scales(rng, kind, lam):
    X = rng.normal(size=(60, 6))
    if kind == "duplicated rows":
        X = np.repeat(X[:15], 4, axis=0)
    elif kind == "integers":
        X = rng.integers(0, 3, size=(60, 6)).astype(float)
    elif kind == "bits":
        X = rng.integers(0, 2, size=(60, 6)).astype(float)
    else:
        X *= 10.0 ** rng.integers(-2, 3, size=6)
    y = np.where(X[:, 0] + rng.normal(size=60) > 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    assert solve_psvm(X, y, lam, 1).relative_gap <= (1e-8 if lam < 1e3 else 1e-6)


def test_separable_classes_of_the_hinge_and_a_class_of_one(rng):
    X = np.vstack([rng.normal(size=(30, 3)) + 9, rng.normal(size=(1, 3)) - 9])
    y = np.array([1.0] * 30 + [-1.0])
    solution = solve_psvm(X, y, 1e3, 1)
    assert solution.converged
    assert solution.objective == pytest.approx(0.5 * solution.w @ solution.w)  # no loss at all
    assert solution.objective == pytest.approx(value_of_cvxpy(X, y, 1e3, 1), rel=1e-5)


def signed_rows(rng, n=40, d=3):
    X, y = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return np.column_stack([X, np.ones(n)]) * y[:, np.newaxis], rng.uniform(0.5, 2.0, size=n)


def smoothed_objective(A, v, cost, delta):
    slack = np.maximum(0.0, 1.0 - A @ v)
    loss = np.where(slack < delta, slack**2 / (2 * delta), slack - delta / 2)
    return 0.5 * v[:-1] @ v[:-1] + cost @ loss


def test_newton_system_equals_numpy(rng):
    A, cost = signed_rows(rng)
    v, delta = rng.normal(size=4), 0.7
    slack = 1.0 - A @ v
    H, descent = np.empty((4, 4)), np.empty(4)
    psvm_newton._newton_system(A, v, A @ v, cost, delta, H, descent)
    zone = (slack > 0) & (slack < delta)
    expected = np.diag([1.0, 1.0, 1.0, 0.0]) + (A[zone].T * cost[zone] / delta) @ A[zone]
    np.testing.assert_allclose(np.tril(H), np.tril(expected), rtol=1e-9)
    u = cost * np.clip(slack / delta, 0, 1)
    np.testing.assert_allclose(descent, u @ A - np.append(v[:-1], 0.0), atol=1e-12)
    right = descent.copy()
    psvm_newton._factor(H)
    psvm_newton._substitute(H, right)
    np.testing.assert_allclose(expected @ right, descent, rtol=1e-7)


@pytest.mark.parametrize("delta", [1.0, 0.1, 0.01])
def test_smoothed_minimum_is_one(rng, delta):
    A, cost = signed_rows(rng)
    v, margin, factor = np.zeros(4), np.zeros(40), np.empty((4, 4))
    steps = psvm_newton._minimize_smoothed(A, v, margin, cost, delta, factor, 100, True)
    assert steps < 50
    np.testing.assert_allclose(margin, A @ v, atol=1e-12)
    u = cost * np.clip((1.0 - A @ v) / delta, 0, 1)
    np.testing.assert_allclose(u @ A, np.append(v[:-1], 0.0), atol=1e-8)  # stationary
    for _ in range(20):
        moved = v + 1e-3 * rng.normal(size=4)
        assert smoothed_objective(A, moved, cost, delta) >= smoothed_objective(A, v, cost, delta)


def test_smoothed_line_search_finds_the_minimum(rng):
    A, cost = signed_rows(rng)
    for _ in range(10):
        v, direction = rng.normal(size=4), rng.normal(size=4)
        slope = v[:-1] @ direction[:-1]

        def value(t, v=v, direction=direction):
            return smoothed_objective(A, v + t * direction, cost, 0.3)

        if value(1e-6) > value(0.0):
            direction, slope = -direction, -slope
        t = psvm_newton._line_search(slope, direction[:-1] @ direction[:-1], A @ v, A @ direction, cost, 0.3)
        best = minimize_scalar(lambda t, d=direction, v=v: smoothed_objective(A, v + t * d, cost, 0.3))
        assert smoothed_objective(A, v + t * direction, cost, 0.3) <= best.fun + 1e-6


def test_best_intercept_beats_a_grid(rng):
    y = np.where(rng.random(15) < 0.4, 1.0, -1.0)
    cost, breaks = rng.uniform(0.5, 2.0, size=15), rng.normal(size=15)

    def value(b):
        return cost @ np.maximum(0.0, y * (breaks - b))

    best = psvm_newton._best_intercept(y, cost, breaks)
    assert value(best) <= min(value(b) for b in np.linspace(-4, 4, 2001)) + 1e-12


def test_settling_keeps_the_box_and_balances(rng):
    y, cost = np.where(np.arange(10) % 2, 1.0, -1.0), np.full(10, 2.0)
    u = rng.uniform(0, 2, size=10)
    settled = psvm_newton._settle(y, cost, u, np.arange(10))
    assert y @ settled == pytest.approx(0.0, abs=1e-12)
    assert np.all((settled >= 0) & (settled <= 2))
