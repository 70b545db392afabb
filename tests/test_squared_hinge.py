import cvxpy as cp
import numpy as np
import pytest
from kkt import assert_kkt
from margin_problems import SHAPES, known_optimum, problem, solve_along
from sklearn.svm import LinearSVC

from kernsemble.masters import squared_hinge
from kernsemble.masters.columns import INTERCEPTS
from kernsemble.masters.quadratic import SquaredHinge

TIGHT = 1e-14


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["signs", "reals"])
def test_kkt(shape, kind, C, intercept):
    for seed in range(3):
        H, y, weight = problem(seed, shape, kind, weighted=seed == 2)
        solution = solve_along(SquaredHinge(y, C, sample_weight=weight, intercept=intercept, tol=TIGHT), H)
        assert solution.converged
        assert_kkt(H, y, solution, loss="squared_hinge", C=C, sample_weight=weight, intercept=intercept)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_agrees_with_cvxpy(intercept, rng):
    H, y, weight = problem(int(rng.integers(100)), "long", weighted=True)
    ours = solve_along(SquaredHinge(y, 0.7, sample_weight=weight, intercept=intercept, tol=TIGHT), H)
    w, b = cp.Variable(H.shape[1]), cp.Variable()
    f = H.astype(float) @ w + (b if intercept != "none" else 0.0)
    objective = 0.5 * cp.sum_squares(w) + 0.7 * weight @ cp.square(cp.pos(1 - cp.multiply(y, f)))
    objective += 0.5 * cp.square(b) if intercept == "penalized" else 0.0
    expected = cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL", tol_gap_rel=1e-10)
    assert ours.objective == pytest.approx(expected, rel=1e-6)


def test_known_optimum(rng):
    H, y, w, u = known_optimum(int(rng.integers(100)), "squared_hinge")
    solution = solve_along(SquaredHinge(y, 0.5, tol=TIGHT), H)
    np.testing.assert_allclose(solution.w, w, atol=1e-7)
    np.testing.assert_allclose(solution.u, u, atol=1e-7)


def test_agrees_with_liblinear(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    ours = solve_along(SquaredHinge(y, 0.7, intercept="penalized", tol=TIGHT), H)
    theirs = LinearSVC(C=0.7, tol=1e-12, max_iter=10**6).fit(H, y)
    np.testing.assert_allclose(ours.w, theirs.coef_[0], atol=1e-6)
    assert ours.b == pytest.approx(theirs.intercept_[0], abs=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_weights_are_repetitions_in_any_order(intercept, rng):
    H, y, weight = problem(int(rng.integers(100)), "long", weighted=True)
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    weighted = solve_along(SquaredHinge(y, sample_weight=weight, intercept=intercept, tol=TIGHT), H)
    repeated = solve_along(SquaredHinge(y[rows], intercept=intercept, tol=TIGHT), H[rows])
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-6)
    np.testing.assert_allclose(weighted.u, np.bincount(rows, repeated.u, len(y)), atol=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_gap_is_between_feasible_points(intercept, rng):
    """The dual objective by its definition is the objective minus the gap, and its point is feasible."""
    H, y, _ = problem(int(rng.integers(100)), "long")
    master = SquaredHinge(y, 0.3, intercept=intercept, tol=0.05)
    for column in H.T:
        master.add(column)
        solution = master.solve()
        u, scores = solution.u, H[:, : len(solution.w)].T @ (y * solution.u)
        dual = u.sum() - 0.5 * scores @ scores - (u**2).sum() / 1.2
        dual -= 0.5 * (y @ u) ** 2 if intercept == "penalized" else 0.0
        assert solution.dual_objective == pytest.approx(dual, rel=1e-10)
        assert (u >= 0).all()
        assert intercept != "free" or abs(y @ u) < 1e-10
        assert -1e-12 <= solution.gap <= 0.05 * solution.objective


def test_gram_matrix_follows_the_active_rows(rng):
    H, y, weight = problem(int(rng.integers(100)), "long", weighted=True)
    H = np.tile(H, 6)  # more columns than the padding
    master = SquaredHinge(y, sample_weight=weight)
    for t, column in enumerate(H.T):
        master.add(column)
        active = rng.random(len(y)) < 0.5
        A = y[active, None] * H[active, : t + 1]
        expected = 2.0 * (A * weight[active, None]).T @ A
        master._gram.update(active)
        held = np.tril(master._gram.matrix)
        np.testing.assert_allclose(held[: t + 1, : t + 1], np.tril(expected), atol=1e-12)
        assert not held[t + 1 :].any()


def test_without_columns():
    assert SquaredHinge(np.array([1.0, -1.0])).solve().objective == 2.0
    solution = SquaredHinge(np.array([1.0, 1.0, -1.0]), intercept="free").solve()
    assert solution.b == pytest.approx(1 / 3)


def test_pricing_starts_at_theta_zero():
    _, y, weight = problem(0, weighted=True)
    np.testing.assert_array_equal(SquaredHinge(y, sample_weight=weight).pricing_weights(), 2.0 * y * weight)


def test_says_when_iterations_run_out():
    H, y, _ = problem(0, "square")
    master = SquaredHinge(y, 10.0, tol=1e-12, max_iter=1)
    for column in H.T:
        master.add(column)
    assert not master.solve().converged


def test_refuses_unknown_intercept():
    with pytest.raises(ValueError, match="intercept='maybe'"):
        SquaredHinge(np.ones(2), intercept="maybe")


# --- compiled loops and their NumPy twins ---


def test_search_finds_the_minimum_of_the_segment(rng):
    margins, along, cost = rng.normal(0, 1, 30), rng.normal(0.5, 2, 30), rng.random(30)

    def slope(t):
        slack = np.maximum(1 - margins - t * along, 0)
        return -0.1 + t - 2 * (cost * slack) @ along

    t = squared_hinge._search(margins, along, cost, -0.1, 1.0)
    assert 0 < t <= 1
    assert abs(slope(t)) < 1e-3 or (t == 1.0 and slope(1.0) <= 0)
    assert squared_hinge._search(margins, np.ones(30), cost, -100.0, 0.0) == 1.0


def test_best_shift_balances_the_classes(rng):
    margins, cost = rng.normal(0, 1, 30), rng.random(30)
    y = np.where(rng.random(30) < 0.3, 1.0, -1.0)
    slack = np.maximum(1 - margins - squared_hinge._best_shift(margins, y, cost) * y, 0)
    assert abs((cost * slack) @ y) < 1e-12
