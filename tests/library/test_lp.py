import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog
from support.margin_problems import problem, solve_along
from threadpoolctl import threadpool_info, threadpool_limits

from kernsemble.masters.base import INTERCEPTS
from kernsemble.masters.least_norm import least_norm_between
from kernsemble.masters.lp import SOLVERS, EpsilonInsensitiveLP, HingeLP


def test_full_gap_bounds_the_problem_over_all_columns(rng):
    H, y, _ = problem(int(rng.integers(100)), "long")
    least = optimum(H, y, np.full(len(y), 0.3), None, "none", True)
    master = HingeLP(y, 0.3)
    for column in H.T:
        master.add(column)
        solution = master.solve()
        gap = master.full_gap(float((H.T @ master.pricing_weights()).max()))
        assert solution.objective - gap <= least + 1e-9
        assert solution.objective >= least - 1e-9
    assert gap == pytest.approx(0.0, abs=1e-8)


def test_start_is_the_solution_without_columns():
    y = np.array([1.0, -1.0])
    master = HingeLP(y, 3.0)
    np.testing.assert_array_equal(master.pricing_weights(), 3.0 * y)
    assert master.solve().objective == 6.0
    np.testing.assert_allclose(master.pricing_weights(), 3.0 * y)
    assert master.threshold() == 1.0


def test_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="solver='best'"):
        HingeLP(np.ones(2), solver="best")


def rows_and_costs(y, C, epsilon):
    """Samples, signs and targets of the hinges that make up either loss, and their bounds."""
    n = len(y)
    if epsilon is None:
        return np.arange(n), y, np.ones(n), C
    signs = np.repeat([1.0, -1.0], n)
    return np.tile(np.arange(n), 2), signs, np.append(y, -y) - epsilon, np.tile(C, 2)


def optimum(H, y, C, epsilon, intercept, positive):
    """Optimal value by scipy's HiGHS, of the problem written out in hinges."""
    sample, sign, target, upper = rows_and_costs(y, C, epsilon)
    A, b = sign[:, None] * H[sample], sign[:, None]
    parts, costs = ([A], [np.ones(H.shape[1])]) if positive else ([A, -A], [np.ones(2 * H.shape[1])])
    if intercept != "none":
        parts += [b, -b]
        costs.append(np.full(2, float(intercept == "penalized")))
    parts.append(np.eye(len(target)))
    costs.append(upper)
    return linprog(np.concatenate(costs), A_ub=-np.hstack(parts), b_ub=-target).fun


def awkward(rng):
    """A small problem of the kinds at which solvers break: ties, copies, dependent or huge columns."""
    n, J = int(rng.integers(1, 60)), int(rng.integers(0, 30))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    lean = rng.normal(size=(n, J)) + 0.3 * y[:, None]
    kind = rng.choice(["signs", "reals", "integers", "copies", "scaled", "kernel"])
    if kind in ("signs", "copies"):
        H = np.where(lean > 0, 1, -1).astype(np.int8)
        if kind == "copies":
            H = H[rng.integers(0, n // 4 + 1, n)]
            H[:, J // 2 :][:, :1] = -H[:, :1]
        return H, y
    if kind == "kernel":
        X = rng.normal(size=(n, 2))
        return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))[:, rng.integers(0, n, J)], y
    if kind == "integers":
        return rng.integers(-2, 3, (n, J)).astype(float), y
    return (lean * 10.0 ** rng.integers(-3, 4, J) if kind == "scaled" else lean), y


@pytest.mark.parametrize("seed", range(200))
def test_awkward_problems_agree_with_highs(seed):
    rng = np.random.default_rng(seed)
    H, y = awkward(rng)
    epsilon = None if rng.random() < 0.6 else float(rng.choice([0.0, 0.1]))
    if epsilon is not None:
        y = np.round(rng.normal(size=len(y)), 1)
    weight = np.ones(len(y)) if rng.random() < 0.5 else rng.integers(0, 3, len(y)).astype(float)
    C, intercept, positive = 10.0 ** rng.integers(-4, 3), str(rng.choice(INTERCEPTS)), rng.random() < 0.5
    settings = {"intercept": intercept, "positive": positive, "least_norm": rng.random() < 0.5}
    settings["sample_weight"] = weight
    master = HingeLP(y, C, **settings) if epsilon is None else EpsilonInsensitiveLP(y, C, epsilon, **settings)
    for column in H.T:
        master.add(column)
        if rng.random() < 0.5:
            master.solve()
    solution = master.solve()
    expected = optimum(H, y, C * weight, epsilon, intercept, positive)
    scale = C * len(y) * 1e-9
    assert solution.objective == pytest.approx(expected, rel=1e-8, abs=scale)
    assert -1e-12 * expected - scale <= solution.gap <= 1e-8 * expected + scale


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_many_rows_are_sifted(intercept):
    """More rows than the simplex looks at in one pass."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(6000) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(6000, 12)) + 0.1 * y[:, None]
    for H in (np.where(X > 0.2, 1, -1).astype(np.int8), X):
        solution = solve_along(HingeLP(y, 0.01, intercept=intercept), H)
        master = HingeLP(y, 0.01, intercept=intercept, solver="dual-simplex")
        for column in H.T:
            master.add(column)
        assert solution.objective == pytest.approx(master.solve().objective, rel=1e-9)
        assert solution.gap <= 1e-11 * solution.objective


def least_norm_dual(H, y, solution, C, weight, intercept, positive):
    """The point of least norm on the dual optimal face that (w, b) leaves, by cvxpy."""
    slack = 1 - y * (H @ solution.w + solution.b)
    u = cp.Variable(len(y))
    scores = H.T @ cp.multiply(y, u)
    upper = C * weight
    bounds = [u >= 0, u <= upper, u[slack > 1e-7] == upper[slack > 1e-7], u[slack < -1e-7] == 0]
    for j in range(H.shape[1]):
        if abs(solution.w[j]) > 1e-7:
            bounds.append(scores[j] == np.sign(solution.w[j]))
        else:
            bounds += [scores[j] <= 1] if positive else [scores[j] <= 1, scores[j] >= -1]
    if intercept == "free":
        bounds.append(y @ u == 0)
    kept = weight > 0
    norm = cp.sum_squares(cp.multiply(u[kept], weight[kept] ** -0.5))
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    cp.Problem(cp.Minimize(norm), bounds).solve(solver=cp.CLARABEL, **tight)
    return u.value


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("intercept", ["none", "free"])
@pytest.mark.parametrize("seed", range(4))
def test_dual_of_least_norm(seed, intercept, positive):
    H, y, weight = problem(seed, "long", "signs", weighted=seed % 2 == 1)
    weight = np.ones(len(y)) if weight is None else weight
    H = np.hstack([H[:, :3], -H[:, :3], H[:, 3:]])
    settings = {"sample_weight": weight, "intercept": intercept, "positive": positive}
    master, other, several = HingeLP(y, 0.13, **settings, least_norm=True), HingeLP(y, 0.13, **settings), 0
    for j, column in enumerate(H.T):
        master.add(column)
        other.add(column)
        solution, vertex = master.solve(), other.solve()
        expected = least_norm_dual(H[:, : j + 1], y, vertex, 0.13, weight, intercept, positive)
        np.testing.assert_allclose(solution.u, expected, atol=1e-7)
        assert solution.gap <= 1e-10 * solution.objective
        assert (solution.w**2).sum() <= (vertex.w**2).sum() + 1e-9
        several += np.abs(master._sifting._duals() - solution.u).max() > 1e-3
    assert several > 2  # a vertex alone would not do


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_least_norm_do_not_depend_on_the_solver(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 3))
    y = np.where(X[:, 0] + rng.normal(size=60) > 1.5, 1.0, -1.0)
    H = np.where(X[:, :, None] > np.arange(3), 1, -1).reshape(60, -1).astype(np.int8)
    found = [
        solve_along(HingeLP(y, 0.5, solver=solver, positive=False, least_norm=True), H)
        for solver in SOLVERS[:3]
    ]
    w = cp.Variable(H.shape[1])
    value = cp.norm1(w) + 0.5 * cp.sum(cp.pos(1 - cp.multiply(y, H @ w)))
    least = found[0].objective * (1 + 1e-10)
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [value <= least]).solve(solver=cp.CLARABEL)
    for solution in found:
        np.testing.assert_allclose(solution.w, found[0].w, atol=1e-9)
        np.testing.assert_allclose(solution.w, w.value, atol=1e-3)


def test_dual_of_least_norm_does_not_see_order_copies_or_solver(rng):
    H, y, _ = problem(5, "long", "signs")
    twice = rng.integers(1, 3, len(y))
    order = rng.permutation(int(twice.sum()))
    rows = np.repeat(np.arange(len(y)), twice)[order]
    for columns in range(1, H.shape[1] + 1):
        settings = {"least_norm": True}
        weighted = solve_along(HingeLP(y, 0.1, sample_weight=twice, **settings), H[:, :columns])
        copied = solve_along(HingeLP(y[rows], 0.1, **settings), H[rows, :columns])
        np.testing.assert_allclose(copied.u, (weighted.u / twice)[rows], atol=1e-10)
        by_highs = HingeLP(y, 0.1, sample_weight=twice, solver="dual-simplex", **settings)
        np.testing.assert_allclose(solve_along(by_highs, H[:, :columns]).u, weighted.u, atol=1e-8)


def test_blas_has_one_thread_while_a_program_is_solved(rng, monkeypatch):
    """Last digits of a product depend on the number of threads, and threads wait for each other."""
    H, y, _ = problem(3, "long", "signs")
    seen = []

    def spy(*arguments, **options):
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return least_norm_between(*arguments, **options)

    monkeypatch.setattr("kernsemble.masters.lp.least_norm_between", spy)
    with threadpool_limits(2, user_api="blas"):
        solve_along(HingeLP(y, 1.0, least_norm=True), H)
    assert set(seen) == {1}


def test_solutions_of_least_norm_are_sought_over_distinct_rows(rng, monkeypatch):
    sizes = []

    def spy(A, *arguments, **options):
        sizes.append(max(A.shape))
        return least_norm_between(A, *arguments, **options)

    monkeypatch.setattr("kernsemble.masters.lp.least_norm_between", spy)
    H = rng.choice([-1, 1], (2000, 4)).astype(np.int8)
    y = np.where(rng.random(2000) < 0.2, -1.0, 1.0) * np.where(H.sum(axis=1) >= 0, 1.0, -1.0)
    solution = solve_along(HingeLP(y, 1.0, positive=False, least_norm=True), H)
    assert solution.converged
    assert 0 < max(sizes) <= 2 * 2**4  # as many as there are rows of signs, for either label
