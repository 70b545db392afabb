import cvxpy as cp
import numpy as np
import pytest
from kkt import assert_kkt
from margin_problems import SHAPES, known_optimum, problem, solve_along
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from kernsemble.masters import columns, hinge, hinge_newton
from kernsemble.masters.columns import INTERCEPTS, SignedColumns, balance
from kernsemble.masters.quadratic import Hinge
from kernsemble.masters.least_norm import least_norm

TIGHT = 1e-12  # of a gap: the square root of it is what theta and A'u may differ by
KKT = 1e-5


def by_cvxpy(H, y, C, weight, intercept):
    """Optimal value."""
    w, b = cp.Variable(H.shape[1]), cp.Variable()
    f = H.astype(float) @ w + (b if intercept != "none" else 0.0)
    cost = C * (np.ones(len(y)) if weight is None else weight)
    objective = 0.5 * cp.sum_squares(w) + cost @ cp.pos(1 - cp.multiply(y, f))
    if intercept == "penalized":
        objective += 0.5 * cp.square(b)
    tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    return cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL", **tight)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["signs", "reals"])
def test_kkt_and_cvxpy(shape, kind, C, intercept):
    for seed in range(3):
        H, y, weight = problem(seed, shape, kind, weighted=seed == 2)
        solution = solve_along(Hinge(y, C, sample_weight=weight, intercept=intercept, tol=TIGHT), H)
        assert solution.converged
        assert_kkt(H, y, solution, loss="hinge", C=C, sample_weight=weight, intercept=intercept, tol=KKT)
        if seed == 2:
            expected = by_cvxpy(H, y, C, weight, intercept)
            assert solution.objective == pytest.approx(expected, rel=1e-6)


def test_known_optimum(rng):
    seed = int(rng.integers(100))
    H, y, w, u = known_optimum(seed, "hinge")
    solution = solve_along(Hinge(y, 0.5, tol=TIGHT), H)
    np.testing.assert_allclose(solution.w, w, atol=1e-6)
    np.testing.assert_allclose(solution.objective, u.sum() - 0.5 * w @ w, rtol=1e-10)


def test_agrees_with_liblinear_and_libsvm(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    ours = solve_along(Hinge(y, 0.7, intercept="penalized", tol=TIGHT), H)
    theirs = LinearSVC(C=0.7, loss="hinge", tol=1e-10, max_iter=10**6).fit(H, y)
    np.testing.assert_allclose(ours.w, theirs.coef_[0], atol=1e-6)
    assert ours.b == pytest.approx(theirs.intercept_[0], abs=1e-6)
    ours = solve_along(Hinge(y, 0.7, intercept="free", tol=TIGHT), H)
    theirs = SVC(C=0.7, kernel="linear", tol=1e-10).fit(H, y)
    np.testing.assert_allclose(ours.w, theirs.coef_[0], atol=1e-6)
    np.testing.assert_allclose(y[theirs.support_] * theirs.dual_coef_[0], ours.u[theirs.support_], atol=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_gap_is_between_feasible_points(intercept, rng):
    H, y, weight = problem(int(rng.integers(100)), "long", weighted=True)
    master = Hinge(y, 0.3, sample_weight=weight, intercept=intercept, tol=0.05)
    for column in H.T:
        master.add(column)
        solution = master.solve()
        A = y[:, None] * H[:, : len(solution.w)]
        assert (solution.u >= 0).all()
        assert (solution.u <= 0.3 * weight).all()
        combined = A.T @ solution.u
        dual = solution.u.sum() - 0.5 * combined @ combined
        primal = 0.5 * solution.w @ solution.w
        if intercept == "free":
            assert abs(y @ solution.u) < 1e-12
        if intercept == "penalized":
            dual -= 0.5 * (y @ solution.u) ** 2
            primal += 0.5 * solution.b**2
        primal += 0.3 * weight @ np.maximum(1 - A @ solution.w - y * solution.b, 0)
        assert solution.objective == pytest.approx(primal, rel=1e-12)
        assert solution.gap == pytest.approx(primal - dual, abs=1e-11)
        assert -1e-12 <= solution.gap <= 0.05 * primal


def test_warm_start_reaches_what_a_fresh_master_does(rng):
    H, y, _ = problem(int(rng.integers(100)), "wide")
    fresh = Hinge(y, 1.0, intercept="free", tol=TIGHT)
    for column in H.T:
        fresh.add(column)
    np.testing.assert_allclose(
        solve_along(Hinge(y, 1.0, intercept="free", tol=TIGHT), H).w, fresh.solve().w, atol=1e-6
    )


def test_scaling_columns_scales_weights(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    one = solve_along(Hinge(y, 0.5, intercept="free", tol=TIGHT), H)
    other = solve_along(Hinge(y, 0.5 / 9, intercept="free", tol=TIGHT), 3.0 * H)
    np.testing.assert_allclose(one.w, 3.0 * other.w, atol=1e-6)
    np.testing.assert_allclose(one.b, other.b, atol=1e-5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_weights_are_repetitions_in_any_order(intercept, rng):
    seed = int(rng.integers(100))
    H, y, weight = problem(seed, "long", weighted=True)
    H = H[:, :4]  # few columns of signs: many equal rows, many dual solutions
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    settings = {"C": 0.3, "intercept": intercept, "least_norm": True}
    weighted = solve_along(Hinge(y, sample_weight=weight, **settings), H)
    repeated = solve_along(Hinge(y[rows], **settings), H[rows])
    np.testing.assert_allclose(weighted.w, repeated.w, atol=2e-6)
    collected = np.bincount(rows, repeated.u, len(y))
    np.testing.assert_allclose(weighted.u, collected, atol=2e-6)


def test_least_norm_agrees_with_cvxpy(rng):
    A = rng.integers(-1, 2, (20, 4)).astype(float)
    upper, weight = rng.uniform(0.5, 1, 20), rng.uniform(0.5, 2, 20)
    u = upper * np.clip(rng.normal(0.5, 0.5, 20), 0, 1)
    found = least_norm(A, u, upper, weight)
    np.testing.assert_allclose(A.T @ found, A.T @ u, atol=1e-11)
    assert (found >= 0).all()
    assert (found <= upper).all()
    v = cp.Variable(20)
    norm = cp.sum_squares(cp.multiply(v, weight**-0.5))
    least = cp.Problem(cp.Minimize(norm), [A.T @ v == A.T @ u, v >= 0, v <= upper]).solve(solver="CLARABEL")
    assert (found**2 / weight).sum() == pytest.approx(least, rel=1e-6)


def test_least_norm_leaves_a_single_solution_alone(rng):
    u = rng.random(3)
    assert least_norm(rng.normal(size=(3, 5)), u, np.ones(3), np.ones(3)) is u


def test_separable_and_one_sided_labels():
    H = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    y = np.sign(H[:, 0])
    assert solve_along(Hinge(y, 1e6, intercept="free", tol=1e-9), H).objective == pytest.approx(0.5)
    ones = solve_along(Hinge(np.ones(4), 1.0, intercept="free"), H)
    assert ones.converged
    assert ones.objective == pytest.approx(0.0, abs=1e-12)


def test_without_columns():
    y = np.array([1.0, 1.0, -1.0])
    assert Hinge(y, 2.0).solve().objective == 6.0
    solution = Hinge(y, 2.0, intercept="free", tol=1e-9).solve()
    assert solution.objective == pytest.approx(4.0)
    assert solution.b == pytest.approx(1.0)


def test_pricing_starts_at_a_constant(rng):
    _, y, weight = problem(0, weighted=True)
    master = Hinge(y, 2.0, sample_weight=weight)
    np.testing.assert_array_equal(master.pricing_weights(), y * weight)
    assert master.threshold() == 0.0


def test_says_when_iterations_run_out():
    H, y, _ = problem(0, "square")
    master = Hinge(y, 10.0, tol=1e-12, max_iter=1)
    for column in H.T:
        master.add(column)
    solution = master.solve()
    assert not solution.converged
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        solution.warn_unless_converged("Hinge")


def test_refuses_unknown_intercept_and_wrong_length():
    with pytest.raises(ValueError, match="intercept='maybe'"):
        Hinge(np.ones(2), intercept="maybe")
    with pytest.raises(ValueError, match="3 samples"):
        Hinge(np.ones(3)).add(np.ones(2))


def test_newton_alone_reaches_the_optimum(monkeypatch, rng):
    """The second phase does not depend on what coordinate ascent left it."""
    monkeypatch.setattr(hinge._Plan, "descent_pays", lambda self, gap: False)
    for intercept in INTERCEPTS:
        H, y, weight = problem(int(rng.integers(100)), "square", weighted=True)
        solution = solve_along(Hinge(y, 1.0, sample_weight=weight, intercept=intercept, tol=TIGHT), H)
        assert_kkt(H, y, solution, loss="hinge", sample_weight=weight, intercept=intercept, tol=KKT)


def test_coordinate_ascent_alone_reaches_the_optimum(monkeypatch, rng):
    monkeypatch.setattr(hinge._Plan, "descent_pays", lambda self, gap: True)
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    for intercept in INTERCEPTS:
        solution = solve_along(Hinge(y, 0.1, intercept=intercept, tol=1e-7), H)
        assert solution.converged


def test_plan_prefers_the_cheaper_way():
    plan = hinge._Plan(1e-4)
    assert plan.descent_pays(1.0)
    plan.record(1.0, 100, 1000, 50)
    assert plan.descent_pays(0.01)  # two decades a block
    assert not plan.descent_pays(0.95)
    assert not plan.descent_pays(1.0)


# --- compiled loops and their NumPy twins ---


@pytest.fixture(params=[np.int8, np.float64])
def rows(request, rng):
    return np.ascontiguousarray(rng.integers(-1, 2, (15, 8)).astype(request.param))


def test_margins_and_combine(rows, rng):
    A = rows[:, :5].astype(float)  # the matrix has room for more columns than it has
    out, theta, u = np.empty(15), rng.normal(size=5), rng.normal(size=15)
    columns._margins(rows, theta, out)
    np.testing.assert_allclose(out, A @ theta, atol=1e-14)
    u[3] = 0.0
    combined = np.zeros(5)
    columns._combine(rows, u, combined)
    np.testing.assert_allclose(combined, A.T @ u, atol=1e-14)


def test_shuffle_permutes_and_repeats():
    one, two = np.arange(50), np.arange(50)
    state = columns.shuffle(one, np.uint64(7))
    assert state == columns.shuffle(two, np.uint64(7))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(np.sort(one), np.arange(50))
    assert (one != np.arange(50)).sum() > 30


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_products_of_rows_follow_columns_and_requests(dtype, rng):
    table = SignedColumns(np.where(rng.random(20) < 0.5, -1.0, 1.0), intercept=True)
    gram = hinge_newton.RowGram(table, extra=3.0)
    for j in range(30):
        column = rng.choice([-1, 1], 20).astype(np.int8) if j < 15 else rng.normal(size=20).astype(dtype)
        gram.grow(table.add(column))
        asked = np.flatnonzero(rng.random(20) < 0.3)
        A = table.rows[asked, : table.n_columns].astype(float)
        shift = rng.random(len(asked))
        expected = A @ A.T + 3.0 * np.outer(A[:, 0], A[:, 0]) + np.diag(shift)
        np.testing.assert_allclose(np.tril(gram.system(asked, shift)), np.tril(expected), atol=1e-12)
        assert len(gram.rows) <= max(3 * table.n_columns, len(asked))
        moved, margins = np.ones(table.n_columns), np.empty(len(asked))
        columns.combine_rows(table.rows, asked, shift, moved)
        np.testing.assert_allclose(moved, 1.0 + A.T @ shift, atol=1e-12)
        columns.margins_of_rows(table.rows, asked, moved, margins)
        np.testing.assert_allclose(margins, A @ moved, atol=1e-12)


def slow_descend(A, order, u, theta, upper, curvature, extra):
    for i in order:
        step = np.clip(u[i] + (1 - A[i] @ theta) / curvature[i], 0, upper[i]) - u[i]
        u[i] += step
        theta += step * A[i]
        theta[0] += step * extra * A[i, 0]


def test_descend(rows, rng):
    A = rows.astype(float)
    upper, u = rng.random(15), np.zeros(15)
    order, extra = np.arange(15), 3.0
    curvature = (A**2).sum(axis=1) + extra * A[:, 0] ** 2 + 1.0
    theta, slow_u, slow_theta = np.zeros(8), np.zeros(15), np.zeros(8)
    columns.descend(rows, order, u, theta, upper, curvature, extra, 1, 3)  # leaves its order behind
    slow_descend(A, order, slow_u, slow_theta, upper, curvature, extra)
    np.testing.assert_allclose(u, slow_u, atol=1e-13)
    np.testing.assert_allclose(theta, slow_theta, atol=1e-13)


def test_sums_over_samples(rng):
    margins, along, upper = rng.normal(1, 1, 30), rng.normal(size=30), rng.random(30)
    center, slope = upper * rng.random(30), rng.random(30)
    np.testing.assert_allclose(hinge._hinge_sum(margins, upper), upper @ np.maximum(1 - margins, 0))
    out = np.empty(30)
    hinge_newton._multipliers(margins, center, slope, upper, out)
    np.testing.assert_allclose(out, np.clip(center + slope * (1 - margins), 0, upper))
    moved = np.clip(center + slope * (1 - margins - 0.3 * along), 0, upper)
    np.testing.assert_allclose(
        hinge_newton._pull(margins, along, 0.3, center, slope, upper), moved @ along, atol=1e-13
    )
    u = np.where(rng.random(30) < 0.3, 0.0, np.where(rng.random(30) < 0.5, upper, 0.5 * upper))
    found = np.empty(30, dtype=np.int64)
    count = hinge._movable(u, margins, upper, found)
    movable = ((u > 0) | (margins < 1)) & ((u < upper) | (margins > 1))
    np.testing.assert_array_equal(found[:count], np.flatnonzero(movable))


def test_search_finds_the_minimum_of_the_segment(rng):
    margins, along, upper = rng.normal(0, 1, 30), rng.normal(0.5, 2, 30), rng.random(30)

    def value(t):
        return -0.1 * t + 0.5 * t**2 + upper @ np.maximum(1 - margins - t * along, 0)

    t = hinge._search(margins, along, upper, -0.1, 1.0)
    assert value(t) <= min(value(s) for s in np.linspace(0, 1, 2001)) + 1e-3
    assert hinge._search(margins, np.ones(30), upper, -100.0, 0.0) == 1.0


def test_balance():
    y = np.array([1.0, 1.0, -1.0])
    np.testing.assert_allclose(balance(np.array([1.0, 3.0, 2.0]), y), [0.5, 1.5, 2.0])
    np.testing.assert_allclose(balance(np.array([1.0, 0.0, 2.0]), y), [1.0, 0.0, 1.0])
    even = np.array([1.0, 1.0, 2.0])
    assert balance(even, y) is even


def test_columns_grow_and_widen(rng):
    y = np.array([1.0, -1.0, 1.0])
    table = SignedColumns(y, intercept=True)
    H = rng.integers(-1, 2, (3, 100)).astype(np.int8)
    for column in H.T:
        table.add(column)
    assert table.rows.dtype == np.int8
    table.add(np.array([0.5, 0.25, 0.0]))
    assert table.rows.dtype == np.float64
    expected = y[:, None] * np.column_stack([np.ones(3), H, [0.5, 0.25, 0.0]])
    np.testing.assert_array_equal(table.select(np.arange(3)), expected)
    np.testing.assert_allclose(table.square_norms, (expected**2).sum(axis=1))
    assert table.shape == (3, 102)
