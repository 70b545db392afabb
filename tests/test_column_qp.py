"""Quadratic masters over dense columns: against cvxpy, against known optima, and by their KKT conditions."""

import cvxpy as cp
import numpy as np
import pytest
from kkt import assert_kkt
from numpy.testing import assert_allclose

from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.quadratic import ColumnQP, HingeQP
from kernsemble.masters.column_span import ColumnSpan
from kernsemble.masters.quadratic import Hinge

CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
INTERCEPTS = ("none", "free", "penalized")


def hinge_problem(rng, n, d, shape="plain"):
    """Kernel columns of noisy labels; ``shape`` repeats columns or adds constant ones."""
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    linear = X @ X.T
    rbf = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 6.0)
    H = np.hstack([linear, rbf])[:, rng.permutation(2 * n)[:d]]
    if shape == "duplicated":
        H = np.hstack([H, H[:, ::2], H[:, ::3]])
    elif shape == "constant":
        H = np.hstack([H, np.ones((n, 2)), np.zeros((n, 1))])
    return H, y


def solve(master, H):
    for column in H.T:
        master.add(column)
    return master.solve()


def judge(H, y, C, intercept, positive):
    """Optimal value by cvxpy."""
    w, b = cp.Variable(H.shape[1], nonneg=positive), cp.Variable()
    penalty = 0.5 * cp.sum_squares(w) + (0.5 * cp.square(b) if intercept == "penalized" else 0)
    f = H @ w + (b if intercept != "none" else 0)
    problem = cp.Problem(cp.Minimize(penalty + C * cp.sum(cp.pos(1 - cp.multiply(y, f)))))
    problem.solve(**CLARABEL)
    return problem.value


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_agrees_with_cvxpy(rng, intercept, positive):
    H, y = hinge_problem(rng, 20, 12, "duplicated")
    for C in (0.1, 3.0, 100.0):
        solution = solve(HingeQP(y, C, intercept=intercept, positive=positive), H)
        assert solution.converged
        assert_allclose(solution.objective, judge(H, y, C, intercept, positive), rtol=1e-7)


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("n", "d"), [(120, 15), (25, 50), (60, 60)], ids=["long", "wide", "square"])
@pytest.mark.parametrize("shape", ["plain", "duplicated", "constant"])
def test_kkt(rng, n, d, shape, intercept, positive):
    H, y = hinge_problem(rng, n, min(d, 2 * n), shape)
    solution = solve(HingeQP(y, 2.0, intercept=intercept, positive=positive, tol=1e-11), H)
    assert_kkt(H, y, solution, loss="hinge", C=2.0, intercept=intercept, nonnegative=positive, tol=1e-4)


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
def test_large_cost_on_rank_deficient_columns(rng, positive):
    X = rng.normal(size=(200, 4))
    y = np.where(X @ rng.normal(size=4) + 0.3 * rng.normal(size=200) > 0, 1.0, -1.0)
    H = X @ X.T  # 200 columns of rank 4
    master = HingeQP(y, 1e5, intercept="free", positive=positive)
    solution = solve(master, H)
    assert solution.converged
    assert solution.gap <= 1e-8 * solution.objective
    assert_allclose(solution.objective, objective(H, y, 1e5, solution), rtol=1e-8)
    assert abs(solution.u @ y) <= 1e-9 * 1e5 * 200


def objective(H, y, C, solution):
    """Primal objective of (11) from w and b alone."""
    return 0.5 * solution.w @ solution.w + C * np.maximum(1 - y * (H @ solution.w + solution.b), 0).sum()


def test_optimum_known_by_construction(rng):
    # One column a sample: the problem falls apart into min 1/2 w^2 + c max(0, 1 - y w), so y w = min(1, c).
    y, weight = np.sign(rng.normal(size=8)), rng.uniform(0.2, 2.0, size=8)
    solution = solve(HingeQP(y, 1.0, sample_weight=weight), np.eye(8))
    assert_allclose(solution.w, y * np.minimum(1.0, weight), atol=1e-9)
    assert_allclose(solution.u, np.minimum(1.0, weight), atol=1e-9)


def test_bounded_weights_are_exactly_zero_where_the_dual_says_so(rng):
    H, y = hinge_problem(rng, 60, 40)
    solution = solve(HingeQP(y, 1.0, intercept="free", positive=True), H)
    scores = H.T @ (solution.u * y)
    assert np.all(solution.w >= 0.0)
    assert np.all(solution.w[scores < -1e-6] == 0.0)
    assert np.sum(solution.w == 0.0) > 5


def test_warm_start_reaches_the_cold_optimum(rng):
    H, y = hinge_problem(rng, 80, 25)
    for positive in (False, True):
        warm = HingeQP(y, 5.0, intercept="free", positive=positive)
        for column in H.T:
            warm.add(column)
            solution = warm.solve()
        cold = solve(HingeQP(y, 5.0, intercept="free", positive=positive), H)
        assert_allclose(solution.objective, cold.objective, rtol=1e-8)


def test_equals_the_margin_master(rng):
    H, y = hinge_problem(rng, 80, 25)
    for intercept in INTERCEPTS:
        ours = solve(HingeQP(y, 2.0, intercept=intercept), H)
        theirs = solve(Hinge(y, 2.0, intercept=intercept, tol=1e-9), H)
        assert_allclose(ours.objective, theirs.objective, rtol=1e-8)


def test_sample_weight_is_repetition(rng):
    H, y = hinge_problem(rng, 40, 10)
    weight = rng.integers(0, 3, size=40)
    weighted = solve(HingeQP(y, 2.0, sample_weight=weight, intercept="free"), H)
    repeated = solve(HingeQP(np.repeat(y, weight), 2.0, intercept="free"), np.repeat(H, weight, axis=0))
    assert_allclose(weighted.objective, repeated.objective, rtol=1e-8)


def test_model_without_columns(rng):
    y = np.array([1.0, 1.0, -1.0])
    master = HingeQP(y, 2.0, intercept="free")
    assert_allclose(master.pricing_weights().sum(), 0.0, atol=1e-8)
    assert_allclose(master.solve().objective, 4.0, rtol=1e-8)  # b = 1 leaves one sample at distance 2
    assert_allclose(HingeQP(y, 2.0).pricing_weights(), 2.0 * y)


def test_iterations_that_run_out_say_so(rng):
    H, y = hinge_problem(rng, 60, 30)
    solution = solve(HingeQP(y, 10.0, max_iter=1), H)
    assert not solution.converged
    assert "max_iter" in solution.message


@pytest.mark.parametrize("column", [np.zeros(3), np.full(4, np.nan)])
def test_bad_columns_are_refused(column):
    with pytest.raises(ValueError, match="column"):
        HingeQP(np.array([1.0, -1.0, 1.0, -1.0])).add(column)
    with pytest.raises(ValueError, match="intercept"):
        HingeQP(np.array([1.0, -1.0]), intercept="yes")


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_smoothed_weights_maximize_what_they_should(rng, epsilon):
    n, delta = 50, 0.4
    target, f, center = rng.normal(size=(3, n))
    upper, lower = rng.uniform(0, 2, size=n), -rng.uniform(0, 2, size=n)
    loss = BoxLoss(target, lower, upper, epsilon)

    def smoothed(v):
        return v * (target - f) - epsilon * np.abs(v) - 0.5 * delta * (v - center) ** 2

    V, free = loss.weights(f, center, delta)
    assert np.all((lower <= V) & (upper >= V))
    for _ in range(50):
        assert np.all(smoothed(V) >= smoothed(rng.uniform(lower, upper)) - 1e-12)
    moved, _ = loss.weights(f + 1e-7, center, delta)
    assert set(np.flatnonzero(moved != V)) == set(free)  # only free weights move
    assert_allclose(loss.pull(f - 0.7, np.ones(n), 0.7, center, delta), V.sum())


def test_loss_is_the_maximum_over_the_box(rng):
    n = 30
    target, f = rng.normal(size=(2, n))
    upper, lower = rng.uniform(0, 2, size=n), -rng.uniform(0, 2, size=n)
    loss = BoxLoss(target, lower, upper, 0.2)
    corners = [v * (target - f) - 0.2 * np.abs(v) for v in (lower, np.zeros(n), upper)]
    assert_allclose(loss.value(f), np.max(corners, axis=0).sum())


def test_span_keeps_the_gram_matrix_and_the_scores(rng):
    n, leading = 30, np.ones((30, 1))
    span, H, z = ColumnSpan(leading), [], np.zeros(0)
    for t in range(24):
        column = H[t // 2] - 2 * H[t // 3] if t % 2 else rng.normal(size=n)
        before = span.matrix[:, 1:] @ z
        change = span.add(column)
        z = np.append(z, 0.0) if change is None else change @ z
        assert_allclose(span.matrix[:, 1:] @ z, before, atol=1e-9)
        H.append(column)
        z += rng.normal(size=len(z))
    H = np.array(H).T
    Z = span.matrix[:, 1:]
    assert Z.shape[1] == np.linalg.matrix_rank(H) == 12
    assert_allclose(Z @ Z.T, H @ H.T, atol=1e-8)
    w = span.weights(z)
    assert_allclose(H @ w, Z @ z, atol=1e-8)
    assert_allclose(w @ w, z @ z, rtol=1e-8)
    assert_allclose(span.matrix[:, 0], 1.0)


def test_general_losses_need_no_class_of_their_own(rng):
    # Quantile regression: the box is not symmetric.
    n, q = 40, 0.8
    t = rng.normal(size=n)
    loss = BoxLoss(t, np.full(n, q - 1.0), np.full(n, q))
    solution = ColumnQP(loss, intercept="free").solve()
    assert_allclose(np.sum(np.maximum(q * (t - solution.b), (q - 1) * (t - solution.b))), solution.objective)
    assert_allclose(np.mean(t <= solution.b + 1e-6), q, atol=1 / n)


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_weight_of_losses_far_above_the_dual_weights(rng, intercept, positive):
    # Separable: from some C on the optimum stays the same, and C says nothing about the size of u.
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 > 0, 1.0, -1.0)
    K = 30.0 * np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    H = np.hstack([K, -K])
    margin = judge_hard_margin(H, y, intercept, positive)
    for C in (1e4, 1e7, 1e10):
        solution = solve(HingeQP(y, C, intercept=intercept, positive=positive), H)
        assert solution.converged
        assert solution.n_iter <= 60
        assert solution.u.max() < 0.1 * C
        assert_allclose([solution.objective, solution.dual_objective], margin, rtol=1e-6)


def judge_hard_margin(H, y, intercept, positive):
    """Least penalty without any loss, by cvxpy."""
    w, b = cp.Variable(H.shape[1], nonneg=positive), cp.Variable()
    f = H @ w + (b if intercept == "free" else 0)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), [cp.multiply(y, f) >= 1])
    problem.solve(**CLARABEL)
    return problem.value
