"""What only the quadratic masters have: other judges, nu forms, duals of least norm, matrices, losses."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC, SVR, LinearSVC, NuSVR, OneClassSVM
from support.margin_problems import problem, solve_along

from kernsemble.hypotheses import _threads
from kernsemble.masters import exact_hinge, least_norm
from kernsemble.masters import rows as matrices
from kernsemble.masters.least_norm import least_norm_between
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.psvm import solve_psvm
from kernsemble.masters.quadratic import (
    EpsilonInsensitive,
    Hinge,
    HingeQP,
    NuHinge,
    NuNovelty,
    NuTube,
    PackedHinge,
    SquaredHinge,
)
from kernsemble.masters.rows import ColumnGram, PackedRows, RowGram, Rows, Span

CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


# --- other solvers


def test_agrees_with_liblinear_and_libsvm(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    for loss, make in (("hinge", Hinge), ("squared_hinge", SquaredHinge)):
        ours = solve_along(make(y, 0.7, intercept="penalized", tol=1e-12), H)
        theirs = LinearSVC(C=0.7, loss=loss, tol=1e-10, max_iter=10**6).fit(H, y)
        assert_allclose(np.append(ours.w, ours.b), np.append(theirs.coef_, theirs.intercept_), atol=1e-6)
    theirs = SVC(C=0.7, kernel="linear", tol=1e-10).fit(H, y)
    ours = solve_along(Hinge(y, 0.7, intercept="free", tol=1e-12), H)
    assert_allclose(ours.w, theirs.coef_[0], atol=1e-6)
    assert_allclose(y[theirs.support_] * theirs.dual_coef_[0], ours.u[theirs.support_], atol=1e-6)
    X = H + 5.0  # a shift of the features is the intercept's
    assert_allclose(solve_psvm(X, y, 0.7, 1, tol=1e-11).w, theirs.coef_[0], atol=1e-5)
    values = H @ rng.normal(size=H.shape[1]) + rng.normal(size=len(H))
    ours = solve_along(EpsilonInsensitive(values, 2.0, 0.3, intercept="free"), H)
    theirs = SVR(kernel="linear", C=2.0, epsilon=0.3, tol=1e-6).fit(H, values)
    assert_allclose(ours.w, theirs.coef_[0], atol=1e-3)
    ours = solve_along(NuTube(values, 2.0, 0.4), H)
    assert_allclose(
        ours.w, NuSVR(kernel="linear", C=2.0, nu=0.4, tol=1e-6).fit(H, values).coef_[0], atol=1e-3
    )
    ours = solve_along(NuNovelty(len(H), 0.3), H)
    theirs = OneClassSVM(kernel="linear", nu=0.3, tol=1e-6).fit(H)
    assert_allclose(0.3 * len(H) * ours.w, theirs.coef_[0], atol=1e-3)


# --- the nu forms


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
def test_nu_forms(rng, kind, positive):
    X = rng.uniform(-1, 1, size=(20, 2))
    H = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))[:, :10]
    y = 3 + X[:, 0] + 0.2 * rng.normal(size=20)
    labels = np.where(y > np.median(y), 1.0, -1.0)
    master, expression = nu_problem(kind, H, y, labels, positive)
    solution = solve_along(master, H)
    assert solution.converged
    assert_allclose(
        solution.objective, cp.Problem(cp.Minimize(expression)).solve(**CLARABEL), rtol=1e-6, atol=1e-10
    )
    u = solution.u
    if kind == "novelty":
        assert_allclose(u.sum(), 1.0, rtol=1e-12)
        assert master.margin_ == pytest.approx(np.sort(H @ solution.w)[int(0.4 * 20)], abs=0.2)
    elif kind == "hinge":
        assert_allclose([u.sum(), u @ labels], [0.4, 0.0], atol=1e-12)
        assert master.margin_ >= -1e-9
    else:
        assert_allclose(np.abs(master._solver.V).sum(), 2.0 * 0.3 * 20, rtol=1e-12)
        assert_allclose(master.pricing_weights(), u)
        assert master.tube_ > 0


@pytest.mark.parametrize("tol", [1e-8, 1e-14])
def test_gap_of_novelty_where_all_samples_may_be_outside(tol, rng):
    """Nu = 1 leaves one dual point: all shares equal."""
    X = rng.normal(size=(400, 2)) + 3.0
    H = np.exp(-((X[:, None] - X[None, :40]) ** 2).sum(-1))
    solution = solve_along(NuNovelty(400, 1.0, positive=True, tol=tol), H)
    assert_allclose(solution.dual_objective, -0.5 * np.square(H.mean(axis=0)).sum(), rtol=1e-9)
    assert -1e-12 <= solution.gap <= 1e-8
    assert_allclose(solution.w, H.mean(axis=0), atol=1e-4)


def test_nu_is_checked():
    with pytest.raises(ValueError, match="nu must lie"):
        NuNovelty(5, 0.0)
    with pytest.raises(ValueError, match="infeasible"):
        NuHinge(np.array([1.0, -1.0, -1.0, -1.0]), 0.9)


# --- what is special in one of them


def test_pricing_starts_at_a_constant():
    _, y, weight = problem(0, weighted=True)
    for make in (Hinge, PackedHinge):
        assert_allclose(make(y, 2.0, sample_weight=weight).pricing_weights(), y * weight)
    assert_allclose(SquaredHinge(y, sample_weight=weight).pricing_weights(), 2.0 * y * weight)
    assert_allclose(HingeQP(y, 2.0).pricing_weights(), 2.0 * y)


@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("many", [3, 500])
def test_dual_of_least_norm_agrees_with_cvxpy(rng, monkeypatch, intercept, C, many):
    monkeypatch.setattr(exact_hinge, "_MANY", many)  # free rows from which columns are worked in
    y, weight = rng.choice([-1.0, 1.0], 40), rng.uniform(0.5, 2, 40)
    master, A = Hinge(y, C, sample_weight=weight, intercept=intercept, least_norm=True), np.empty((40, 0))
    if intercept != "none":
        A = y[:, None]
    for _ in range(8):  # few columns: most rows depend on each other
        column = np.where(rng.random(40) < 0.5 + 0.2 * y, 1, -1).astype(np.int8)
        master.add(column)
        A = np.column_stack([A, y * column])
        u = master.solve().u
        assert master.solution.gap <= 1e-12 * master.solution.objective
    scaled = cp.Variable(40, nonneg=True)  # v = C sqrt(s) times this
    v, root = cp.multiply(scaled, np.sqrt(weight)), np.sqrt(weight)
    same = [A.T @ v == A.T @ u / C, cp.sum(v) == u.sum() / C, scaled <= root]
    least = cp.Problem(cp.Minimize(cp.sum_squares(scaled)), same).solve(**CLARABEL)
    assert ((u / C) ** 2 / weight).sum() <= least * (1 + 1e-6)


@pytest.mark.parametrize("intercept", ["penalized", "free"])
def test_many_free_rows_are_solved_for_in_the_columns(rng, monkeypatch, intercept):
    """Rows that tell nothing, nine of one class for one of the other: f is the larger, whose rows share u."""
    few, many = rng.normal(size=(100, 6)), rng.normal(size=(900, 6))
    H, y = np.vstack([few, -few, many, -many]), np.repeat([1.0, -1.0], [200, 1800])
    monkeypatch.setattr(exact_hinge, "_active_set", None)  # which would take a matrix of 1800 x 1800
    solution = solve_along(Hinge(y, 0.1, intercept=intercept, least_norm=True), H)
    assert_allclose([solution.objective, solution.b], [40.0 + 0.5 * (intercept == "penalized"), -1.0])
    assert_allclose(solution.w, np.zeros(6), atol=1e-12)
    share = (0.1 * 200 + (intercept == "penalized")) / 1800
    assert_allclose(solution.u, np.repeat([0.1, share], [200, 1800]), rtol=1e-9)


def test_one_distinct_row_a_class(rng):
    y = np.repeat([1.0, -1.0], [3, 5])
    master = Hinge(y, 10.0, intercept="free", least_norm=True)
    master.add(y.astype(np.int8))
    assert_allclose(master.solve().u, np.repeat([1 / 6, 1 / 10], [3, 5]), rtol=1e-12)
    assert_allclose([master.solution.objective, master.solution.b], [0.5, 0.0], atol=1e-14)


def test_least_norm_leaves_a_single_solution_alone(rng):
    u, held = rng.random(3), np.ones(5, dtype=bool)
    A, ones = rng.normal(size=(3, 5)), np.ones(3)
    assert least_norm_between(A, u, ones, ones, held, np.zeros(5), np.zeros(5)) is u


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(40)}, "both present"),
        ({"p": 3}, "p must be 1 or 2"),
        ({"lam": 0.0}, "must be positive"),
        ({"lam": np.inf}, "must be positive"),
        ({"X": np.full((40, 2), np.nan)}, "NaN"),
        ({"X": np.ones((39, 2))}, "shape"),
    ],
)
def test_bad_input_of_linear_machines_is_named(change, message, p):
    X, y, _ = problem(0, kind="reals")
    with pytest.raises(ValueError, match=message):
        solve_psvm(**{"X": X, "y": y, "lam": 1.0, "p": p, **change})


def test_squared_linear_machine_ends_after_few_steps(rng):
    X = rng.normal(size=(2000, 10))
    y = np.where(X @ rng.normal(size=10) + 3 * rng.normal(size=2000) > 1, 1.0, -1.0)
    solution = solve_psvm(X, y, 2.0, 2)
    assert solution.n_iter <= 10
    assert solution.relative_gap <= 1e-12


# --- matrices and losses


@pytest.fixture(params=[matrices.BLOCK, 16], ids=["one block", "blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(matrices, "BLOCK", request.param)
    if request.param == 16:
        monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
        monkeypatch.setattr(_threads, "n_threads", lambda: 3)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("leading", [0, 1])
@pytest.mark.parametrize("kind", ["int8", "widened", "span", "bits"])
def test_matrices(kind, leading, rng):
    n, J = 50, 77
    ones, H = np.ones((n, leading), dtype=np.int8), rng.choice([-1, 1], (n, J)).astype(np.int8)
    rows = {"span": Span, "bits": PackedRows}.get(kind, Rows)(n, ones)
    columns = list(H.T) + ([rng.normal(size=n)] if kind == "widened" else [])
    for column in columns[:40] if kind == "span" else columns:
        rows.add(column)
    A = np.column_stack([ones, *columns])[:, : rows.n_columns].astype(float)
    x, V = rng.normal(size=A.shape[1]), rng.normal(size=n) * (rng.random(n) < 0.7)
    some = rng.permutation(n)[:9]
    assert rows.shape == A.shape
    assert_allclose(rows.scores(x), A @ x, atol=1e-11)
    assert_allclose(rows.combine(V), A.T @ V, atol=1e-11)
    assert_allclose(rows.floats(some), A[some])
    assert_allclose(rows.take(some).scores(x), A[some] @ x, atol=1e-11)
    assert rows.take(some).n_leading == leading
    if kind == "bits":
        assert sum(plane.nbytes for plane in rows.planes) == n * -(-(J + leading) // 8)
        with pytest.raises(ValueError, match=r"-1 and \+1 only"):
            rows.add(np.zeros(n))


def test_span_keeps_the_gram_matrix_and_the_scores(rng):
    n, H, z = 30, [], np.zeros(0)
    span = Span(n, np.ones((n, 1), dtype=np.int8))
    for t in range(24):
        column = H[t // 2] - 2 * H[t // 3] if t % 2 else rng.normal(size=n)
        before = span.scores(np.append(0.0, z))
        change = span.add(column)
        z = np.append(z, 0.0) if change is None else change @ z
        assert_allclose(span.scores(np.append(0.0, z)), before, atol=1e-9)
        H.append(column)
        z += rng.normal(size=len(z))
    H, Z = np.array(H).T, span.floats(np.arange(n))[:, 1:]
    assert Z.shape[1] == np.linalg.matrix_rank(H) == 12
    assert_allclose(Z @ Z.T, H @ H.T, atol=1e-8)
    w = span.weights(z)
    assert_allclose(H @ w, Z @ z, atol=1e-8)
    assert_allclose(w @ w, z @ z, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_kept_products_follow_columns_and_requests(dtype, rng):
    rows, slope = Rows(20, np.ones((20, 1), dtype=np.int8)), rng.random(20)
    by_rows, by_columns = RowGram(rows), ColumnGram(rows, slope)
    for j in range(40):
        column = rng.choice([-1, 1], 20).astype(np.int8) if j < 15 else rng.normal(size=20).astype(dtype)
        rows.add(column)
        by_rows.grow(column)
        by_columns.grow(column)
        asked = np.flatnonzero(rng.random(20) < 0.6)
        A = rows.floats(asked)
        shift, rhs = rng.random(len(asked)), rng.normal(size=rows.n_columns)
        expected = A[:, 1:] @ A[:, 1:].T + np.diag(shift)
        assert_allclose(np.tril(by_rows.system(asked, shift)), np.tril(expected), atol=1e-11)
        assert len(by_rows.rows) <= max(3 * rows.n_columns, len(asked))
        matrix = np.eye(len(rhs)) + (A * slope[asked, None]).T @ A
        assert_allclose(matrix @ by_columns.solve(asked, np.ones(len(rhs)), rhs), rhs, atol=1e-9)


def test_results_do_not_depend_on_threads(monkeypatch):
    H, y, _ = problem(2, "long")
    monkeypatch.setattr(matrices, "BLOCK", 8)
    alone = solve_along(PackedHinge(y, 1.0, intercept="free"), H)
    monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(_threads, "n_threads", lambda: 4)
    several = solve_along(PackedHinge(y, 1.0, intercept="free"), H)
    np.testing.assert_array_equal(alone.w, several.w)
    np.testing.assert_array_equal(alone.u, several.u)


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_losses_maximize_what_they_should(rng, epsilon, curved):
    n = 50
    target, f, center, along = rng.normal(size=(4, n))
    upper, lower = rng.uniform(0, 2, size=n), -rng.uniform(0, 2, size=n)
    k, softness = rng.uniform(0.1, 1.0, (2, n))
    loss = BoxLoss(target, lower, upper, epsilon, k if curved else None)

    def smoothed(v, d=softness):
        value = v * (target - f) - epsilon * np.abs(v) - 0.5 * d * (v - center) ** 2
        return value - 0.5 * k * v**2 if curved else value

    around = loss.around(center, softness)
    V = around.weights(f)
    assert np.all((lower <= V) & (upper >= V))
    grid = lower + np.linspace(0, 1, 401)[:, None] * (upper - lower)
    assert np.all(smoothed(V) >= smoothed(grid).max(axis=0) - 1e-12)
    assert set(np.flatnonzero(around.weights(f + 1e-7) != V)) == set(around.free(V))  # only these move
    assert_allclose(loss.value(f), smoothed(grid, 0.0).max(axis=0).sum(), rtol=1e-3)
    linear = float(around.weights(f) @ along) - 1.0  # a direction of descent
    t = around.search(f, along, linear, 1.0, 1e-9)
    slope = linear + t - float(around.weights(f + t * along) @ along)
    assert 0 < t <= 1
    assert abs(slope) <= 1e-6 or (t == 1.0 and slope < 0) or slope < 0


def test_dual_weights_stay_where_rounding_keeps_all_others_from_the_scores(monkeypatch):
    """Rows that are independent but for rounding: a step that gains nothing is not repeated for ever."""
    n = 40
    A = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)  # Hilbert's matrix
    u, steps = np.linspace(0.1, 0.9, n), []
    newton = least_norm._newton
    monkeypatch.setattr(least_norm, "_newton", lambda *given: steps.append(0) or newton(*given))
    every, far = np.ones(n, dtype=bool), np.full(n, np.inf)
    u[::2] = 0.0
    found = least_norm_between(A, u, np.ones(n), np.ones(n), every, -far, far)
    assert len(steps) < 100
    assert np.abs(A.T @ (found - u)).max() <= 1e-12 * np.abs(A).sum()


def test_dual_weights_of_least_norm_are_found_in_any_order():
    """Rounding stops the search a digit before its goal in some orders of a round's rows and columns.

    The problem is one of a fit of LPBoost to sonar, where BLAS kernels of two processors parted over it.
    """
    numbers = """
        797b 3aef 771e 5f98 16f7 3d5f 797b 39f7 3761 6de1 07fd
        2efc 7abe 33e7 5d75 7abe 3e67 4fdd 7abe 3e67 3d5f
    """
    A = np.array([[1.0 if bit == "1" else -1.0 for bit in f"{int(row, 16):015b}"] for row in numbers.split()])
    u = np.array([0, 0, 86, 62, 70, 88, 49, 66, 74, 84, 6, 88, 33, 33, 40, 88, 0, 3, 0, 78, 30]) / 88
    n, d = A.shape
    every, far, found = np.ones(d, dtype=bool), np.full(d, np.inf), np.empty((200, n))
    for seed, v in enumerate(found):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(n), rng.permutation(d)
        given = A[rows][:, columns], u[rows], np.ones(n), np.ones(n), every, -far, far
        v[rows] = least_norm_between(*given)
    assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=1e-10)
    assert found[0] @ found[0] < 0.9 * u @ u
