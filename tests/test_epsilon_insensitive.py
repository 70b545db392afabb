"""Regression and nu masters: cvxpy and LIBSVM as judges, KKT conditions, known optima."""

import cvxpy as cp
import numpy as np
import pytest
from kkt import assert_kkt
from numpy.testing import assert_allclose
from sklearn.svm import SVR, NuSVR, OneClassSVM

from kernsemble.masters.quadratic import EpsilonInsensitive
from kernsemble.masters.epsilon_lp import EpsilonInsensitiveLP
from kernsemble.masters.quadratic import NuHinge, NuNovelty, NuTube

CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
INTERCEPTS = ("none", "free", "penalized")
MASTERS = {"l2": EpsilonInsensitive, "l1": EpsilonInsensitiveLP}


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


def objective(H, y, w, b, C, epsilon, norm, intercept):
    """The printed objective, for cvxpy expressions and arrays alike."""
    size = cp.sum_squares(w) / 2 if norm == "l2" else cp.norm1(w)
    extra = {"l2": cp.square(b) / 2, "l1": cp.abs(b)}[norm] if intercept == "penalized" else 0
    return size + extra + C * cp.sum(cp.pos(cp.abs(y - H @ w - b) - epsilon))


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_agrees_with_cvxpy(rng, norm, intercept, positive):
    H, y = problem(rng, 20, 12, "duplicated")
    for C, epsilon in ((0.3, 0.0), (5.0, 0.2)):
        solution = solve(MASTERS[norm](y, C, epsilon, intercept=intercept, positive=positive), H)
        w, b = cp.Variable(H.shape[1], nonneg=positive), cp.Variable()
        fixed = [b == 0] if intercept == "none" else []
        judge = cp.Problem(cp.Minimize(objective(H, y, w, b, C, epsilon, norm, intercept)), fixed)
        judge.solve(**CLARABEL)
        assert solution.converged
        assert_allclose(solution.objective, judge.value, rtol=1e-6)
        ours = objective(H, y, solution.w, solution.b, C, epsilon, norm, intercept)
        assert_allclose(solution.objective, ours.value, rtol=1e-8)


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", ["none", "free"])
@pytest.mark.parametrize(("n", "d"), [(80, 10), (15, 30)], ids=["long", "wide"])
@pytest.mark.parametrize("shape", ["plain", "duplicated"])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_kkt(rng, norm, shape, n, d, intercept, positive):
    H, y = problem(rng, n, d, shape)
    tol = {"tol": 1e-11} if norm == "l2" else {}
    solution = solve(MASTERS[norm](y, 2.0, 0.1, intercept=intercept, positive=positive, **tol), H)
    assert_kkt(
        H, y, solution, loss="epsilon_insensitive", penalty=norm, C=2.0, epsilon=0.1,
        intercept=intercept, nonnegative=positive, tol=1e-4 if norm == "l2" else 1e-6,
    )  # fmt: skip


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_the_scale_of_the_targets_does_not_matter(rng, scale):
    H, y = problem(rng, 60, 20)
    solution = solve(EpsilonInsensitive(scale * y, scale, 0.1 * scale, intercept="free"), H)
    plain = solve(EpsilonInsensitive(y, 1.0, 0.1, intercept="free"), H)
    assert solution.converged
    assert_allclose(solution.objective, scale**2 * plain.objective, rtol=1e-7)


def test_optimum_known_by_construction(rng):
    # One column a sample: min 1/2 w^2 + C max(0, |y - w| - e) gives w = sign(y) min(C, max(|y| - e, 0)).
    y = 3 * rng.normal(size=8)
    solution = solve(EpsilonInsensitive(y, 1.5, 0.2, tol=1e-14), np.eye(8))
    assert_allclose(solution.w, np.sign(y) * np.minimum(1.5, np.maximum(np.abs(y) - 0.2, 0)), atol=1e-8)
    # and of |w| + C max(0, |y - w| - e) with C > 1 the tube's near end.
    solution = solve(EpsilonInsensitiveLP(y, 1.5, 0.2), np.eye(8))
    assert_allclose(solution.w, np.sign(y) * np.maximum(np.abs(y) - 0.2, 0), atol=1e-8)


def test_warm_start_reaches_the_cold_optimum(rng):
    H, y = problem(rng, 40, 15)
    for kind in MASTERS.values():
        warm = kind(y, 3.0, 0.1, intercept="free")
        assert warm.pricing_weights().shape == (40,)
        for column in H.T:
            warm.add(column)
            solution = warm.solve()
        assert_allclose(
            solution.objective, solve(kind(y, 3.0, 0.1, intercept="free"), H).objective, rtol=1e-7
        )


def test_l1_gap_of_the_whole_problem(rng):
    H, y = problem(rng, 40, 30)
    master = EpsilonInsensitiveLP(y, 3.0, 0.1, intercept="free")
    solve(master, H[:, :10])
    gap = master.full_gap(np.abs(H.T @ master.pricing_weights()).max())
    best = solve(EpsilonInsensitiveLP(y, 3.0, 0.1, intercept="free"), H).objective
    assert 0 <= master.solution.objective - best <= gap + 1e-9


def test_equals_libsvm(rng):
    X = rng.normal(size=(40, 3)) + 1
    y = X @ rng.normal(size=3) + rng.normal(size=40)
    ours = solve(EpsilonInsensitive(y, 2.0, 0.3, intercept="free"), X)
    theirs = SVR(kernel="linear", C=2.0, epsilon=0.3, tol=1e-6).fit(X, y)
    assert_allclose(ours.w, theirs.coef_[0], atol=1e-3)
    ours = solve(NuTube(y, 2.0, 0.4), X)
    theirs = NuSVR(kernel="linear", C=2.0, nu=0.4, tol=1e-6).fit(X, y)
    assert_allclose(ours.w, theirs.coef_[0], atol=1e-3)
    ours = solve(NuNovelty(40, 0.3), X)
    theirs = OneClassSVM(kernel="linear", nu=0.3, tol=1e-6).fit(X)
    assert_allclose(0.3 * 40 * ours.w, theirs.coef_[0], atol=1e-3)


def nu_problem(kind, H, y, labels, positive):
    """Master, and cvxpy's problem as printed in the module."""
    n = len(H)
    w, b, r = cp.Variable(H.shape[1], nonneg=positive), cp.Variable(), cp.Variable()
    size = cp.sum_squares(w) / 2
    if kind == "novelty":
        return NuNovelty(n, 0.4, positive=positive), size - r + cp.sum(cp.pos(r - H @ w)) / (0.4 * n)
    if kind == "hinge":
        losses = cp.pos(r - cp.multiply(labels, H @ w + b))
        return NuHinge(labels, 0.4, positive=positive), size - 0.4 * r + cp.sum(losses) / n
    losses = cp.pos(cp.abs(y - H @ w - b) - r)
    return NuTube(y, 2.0, 0.3, positive=positive), size + 2.0 * (0.3 * n * r + cp.sum(losses))


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("kind", ["novelty", "hinge", "tube"])
def test_nu_forms_agree_with_cvxpy(rng, kind, positive):
    H, y = problem(rng, 20, 10)
    labels = np.where(y > np.median(y), 1.0, -1.0)
    master, expression = nu_problem(kind, H, y, labels, positive)
    solution = solve(master, H)
    judge = cp.Problem(cp.Minimize(expression))
    judge.solve(**CLARABEL)
    assert solution.converged
    assert_allclose(solution.objective, judge.value, rtol=1e-6, atol=1e-10)


def test_nu_equations_of_the_dual(rng):
    H, y = problem(rng, 30, 10)
    labels = np.where(y > np.median(y), 1.0, -1.0)
    solution = solve(NuNovelty(30, 0.4), H)
    assert_allclose(solution.u.sum(), 1.0, rtol=1e-8)
    solution = solve(NuHinge(labels, 0.4), H)
    assert_allclose([solution.u.sum(), solution.u @ labels], [0.4, 0.0], atol=1e-8)
    master = NuTube(y, 2.0, 0.3)
    solution = solve(master, H)
    assert_allclose(np.abs(solution.u).sum(), 2.0 * 0.3 * 30, rtol=1e-7)
    assert master.tube_ > 0
    assert_allclose(master.pricing_weights(), solution.u)


def test_nu_is_checked():
    with pytest.raises(ValueError, match="nu must lie"):
        NuNovelty(5, 0.0)
    with pytest.raises(ValueError, match="infeasible"):
        NuHinge(np.array([1.0, -1.0, -1.0, -1.0]), 0.9)
    with pytest.raises(ValueError, match="intercept"):
        EpsilonInsensitiveLP(np.zeros(3), intercept="yes")
    with pytest.raises(ValueError, match="column"):
        EpsilonInsensitiveLP(np.zeros(3)).add(np.zeros(2))
