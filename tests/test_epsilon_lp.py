"""Regression under an l1 norm: cvxpy as judge, KKT conditions, known optima."""

import cvxpy as cp
import numpy as np
import pytest
from kkt import assert_kkt
from numpy.testing import assert_allclose

from kernsemble.masters.epsilon_lp import EpsilonInsensitiveLP

CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
INTERCEPTS = ("none", "free", "penalized")


def problem(rng, n, d, shape="plain"):
    """Columns of a linear and an RBF kernel, and noisy values of a function."""
    X = rng.uniform(-1, 1, size=(n, 2))
    y = 3 + X[:, 0] + np.exp(-4 * (X**2).sum(1)) + 0.2 * rng.normal(size=n)
    K = np.hstack([X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))])
    H = K[:, rng.permutation(2 * n)[:d]]
    return (np.hstack([H, H[:, ::2], np.ones((n, 1))]) if shape == "duplicated" else H), y


def solve(master, H):
    for column in H.T:
        master.add(column)
    return master.solve()


def objective(H, y, w, b, C, epsilon, intercept):
    """The printed objective, for cvxpy expressions and arrays alike."""
    extra = cp.abs(b) if intercept == "penalized" else 0
    return cp.norm1(w) + extra + C * cp.sum(cp.pos(cp.abs(y - H @ w - b) - epsilon))


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_agrees_with_cvxpy(rng, intercept, positive):
    H, y = problem(rng, 20, 12, "duplicated")
    for C, epsilon in ((0.3, 0.0), (5.0, 0.2)):
        solution = solve(EpsilonInsensitiveLP(y, C, epsilon, intercept=intercept, positive=positive), H)
        w, b = cp.Variable(H.shape[1], nonneg=positive), cp.Variable()
        fixed = [b == 0] if intercept == "none" else []
        judge = cp.Problem(cp.Minimize(objective(H, y, w, b, C, epsilon, intercept)), fixed)
        judge.solve(**CLARABEL)
        assert solution.converged
        assert_allclose(solution.objective, judge.value, rtol=1e-6)
        ours = objective(H, y, solution.w, solution.b, C, epsilon, intercept)
        assert_allclose(solution.objective, ours.value, rtol=1e-8)


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", ["none", "free"])
@pytest.mark.parametrize(("n", "d"), [(80, 10), (15, 30)], ids=["long", "wide"])
@pytest.mark.parametrize("shape", ["plain", "duplicated"])
def test_kkt(rng, shape, n, d, intercept, positive):
    H, y = problem(rng, n, d, shape)
    solution = solve(EpsilonInsensitiveLP(y, 2.0, 0.1, intercept=intercept, positive=positive), H)
    assert_kkt(
        H, y, solution, loss="epsilon_insensitive", penalty="l1", C=2.0, epsilon=0.1,
        intercept=intercept, nonnegative=positive, tol=1e-6,
    )  # fmt: skip


def test_optimum_known_by_construction(rng):
    # One column a sample: |w| + C max(0, |y - w| - e) with C > 1 has the tube's near end.
    y = 3 * rng.normal(size=8)
    solution = solve(EpsilonInsensitiveLP(y, 1.5, 0.2), np.eye(8))
    assert_allclose(solution.w, np.sign(y) * np.maximum(np.abs(y) - 0.2, 0), atol=1e-8)


def test_warm_start_reaches_the_cold_optimum(rng):
    H, y = problem(rng, 40, 15)
    warm = EpsilonInsensitiveLP(y, 3.0, 0.1, intercept="free")
    assert warm.pricing_weights().shape == (40,)
    for column in H.T:
        warm.add(column)
        solution = warm.solve()
    cold = solve(EpsilonInsensitiveLP(y, 3.0, 0.1, intercept="free"), H)
    assert_allclose(solution.objective, cold.objective, rtol=1e-7)


def test_l1_gap_of_the_whole_problem(rng):
    H, y = problem(rng, 40, 30)
    master = EpsilonInsensitiveLP(y, 3.0, 0.1, intercept="free")
    solve(master, H[:, :10])
    gap = master.full_gap(np.abs(H.T @ master.pricing_weights()).max())
    best = solve(EpsilonInsensitiveLP(y, 3.0, 0.1, intercept="free"), H).objective
    assert 0 <= master.solution.objective - best <= gap + 1e-9


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="intercept"):
        EpsilonInsensitiveLP(np.zeros(3), intercept="yes")
    with pytest.raises(ValueError, match="column"):
        EpsilonInsensitiveLP(np.zeros(3)).add(np.zeros(2))
