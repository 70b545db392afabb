"""The hinge at one bit an entry reaches the optimum of the hinge, whatever the blocks and threads."""

import numpy as np
import pytest
from margin_problems import SHAPES, problem, solve_along

from kernsemble import CGEns
from kernsemble.estimators.streamed_cgens import StreamedCGEns
from kernsemble.hypotheses import _threads
from kernsemble.masters import packed_columns
from kernsemble.masters.quadratic import Hinge
from kernsemble.masters.packed_columns import PackedColumns
from kernsemble.masters.packed_rows import PackedHinge

INTERCEPTS = ["none", "free", "penalized"]


@pytest.fixture(params=[packed_columns.BLOCK, 16], ids=["one block", "blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(packed_columns, "BLOCK", request.param)
    if request.param == 16:
        monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
        monkeypatch.setattr(_threads, "n_threads", lambda: 3)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("blocks")
def test_reaches_the_optimum_of_hinge(shape, C, intercept, weighted):
    H, y, weight = problem(0, shape, "signs", weighted)
    settings = {"sample_weight": weight, "intercept": intercept, "tol": 1e-9}
    ours, other = (solve_along(master(y, C, **settings), H) for master in (PackedHinge, Hinge))
    assert ours.converged
    assert 0 <= ours.gap + 1e-12 <= 1e-9 * ours.objective + 2e-12
    np.testing.assert_allclose(ours.objective, other.objective, rtol=3e-9)
    # 1/2 |w - w*|^2 is at most the gap: for each of the two.
    apart = 2 * np.sqrt(2 * 1.1e-9 * other.objective + 1e-12)
    assert np.linalg.norm(ours.w - other.w) <= apart


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_gap_is_between_feasible_points(intercept, rng):
    H, y, _ = problem(1)
    C = 0.3
    solution = solve_along(PackedHinge(y, C, intercept=intercept, tol=1e-2), H)
    f = H @ solution.w + solution.b
    primal = 0.5 * solution.w @ solution.w + C * np.maximum(0, 1 - y * f).sum()
    combined = H.T.astype(float) @ (y * solution.u)
    dual = solution.u.sum() - 0.5 * combined @ combined
    if intercept == "penalized":
        primal += 0.5 * solution.b**2
        dual -= 0.5 * (y @ solution.u) ** 2
    if intercept == "free":
        assert abs(y @ solution.u) < 1e-12
    assert (solution.u >= 0).all()
    assert (solution.u <= C).all()
    np.testing.assert_allclose([primal, primal - dual], [solution.objective, solution.gap], rtol=1e-9)


def test_many_columns_and_samples(rng):
    """More than two planes; enough rows for several blocks of different masters' sums."""
    n, J = 3_000, 21
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    H = np.where(rng.normal(size=(n, J)) + 0.2 * y[:, None] > 0, 1, -1).astype(np.int8)
    ours, other = (master(y, 0.01, intercept="free", tol=1e-6) for master in (PackedHinge, Hinge))
    first, second = solve_along(ours, H), solve_along(other, H)
    np.testing.assert_allclose(first.objective, second.objective, rtol=2e-6)
    V = ours.pricing_weights()
    assert abs(V.sum()) < 1e-9


def test_results_do_not_depend_on_threads(rng, monkeypatch):
    H, y, _ = problem(2, "long")
    monkeypatch.setattr(packed_columns, "BLOCK", 8)
    alone = solve_along(PackedHinge(y, 1.0, intercept="free"), H)
    monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(_threads, "n_threads", lambda: 4)
    several = solve_along(PackedHinge(y, 1.0, intercept="free"), H)
    np.testing.assert_array_equal(alone.w, several.w)
    np.testing.assert_array_equal(alone.u, several.u)


def test_without_columns():
    solution = PackedHinge(np.array([1, -1, 1]), 2.0).solve()
    assert (solution.objective, solution.gap, len(solution.w)) == (6.0, 0.0, 0)
    solution = PackedHinge(np.array([1, -1, 1]), 2.0, intercept="free", tol=1e-9).solve()
    np.testing.assert_allclose([solution.objective, solution.b], [4.0, 1.0], rtol=1e-6)


def test_pricing_starts_at_a_constant():
    np.testing.assert_array_equal(PackedHinge(np.array([1, -1]), 2.0).pricing_weights(), [1.0, -1.0])


def test_says_when_iterations_run_out():
    H, y, _ = problem(0)
    master = PackedHinge(y, 100.0, tol=1e-12, max_iter=1)
    solution = solve_along(master, H)
    assert not solution.converged
    assert "max_iter" in solution.message


def test_refuses_other_columns_and_unknown_intercepts():
    master = PackedHinge(np.array([1, -1]))
    with pytest.raises(ValueError, match="column has shape"):
        master.add(np.ones(3, dtype=np.int8))
    with pytest.raises(ValueError, match=r"-1 and \+1 only"):
        master.add(np.array([1.0, 0.5]))
    with pytest.raises(ValueError, match="intercept='yes'"):
        PackedHinge(np.array([1, -1]), intercept="yes")


@pytest.mark.usefixtures("blocks")
def test_sums_over_packed_columns(rng):
    n, J = 50, 19
    y, H = rng.choice([-1, 1], n), rng.choice([-1, 1], (n, J)).astype(np.int8)
    columns = PackedColumns(y)
    for column in H.T:
        columns.add(column)
    theta, u = rng.normal(size=J), rng.random(n) * (rng.random(n) < 0.7)
    A, out = y[:, None] * H.astype(float), rng.normal(size=n)
    expected = out + A @ theta
    columns.add_margins(theta, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)
    by_class = columns.combine(lambda rows: u[rows])
    for k, of_class in enumerate((y < 0, y > 0)):
        np.testing.assert_allclose(by_class[k], A[of_class].T @ u[of_class], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        columns.gram(lambda rows: u[rows]), A.T @ (u[:, None] * A), rtol=1e-6, atol=1e-5
    )
    half = 0.5 * (u > 0)  # equal weights: exact
    np.testing.assert_array_equal(columns.gram(lambda rows: half[rows]), A.T @ (half[:, None] * A))
    assert sum(plane.nbytes for plane in columns.planes) == n * 3


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_estimator_reaches_the_optimum_over_all_stumps(dtype, intercept):
    rng = np.random.default_rng(0)
    X = (40 * rng.random((90, 3))).astype(dtype)
    y = X[:, 0].astype(float) - X[:, 1] + 5 * rng.normal(size=90) > 0
    settings = {"C": 0.02, "n_rounds": 300, "intercept": intercept, "tol": 1e-4}
    ours, stored = StreamedCGEns(**settings).fit(X, y), CGEns(**settings).fit(X, y)
    assert ours.message_ == stored.message_ == "gap of the whole problem reached"
    np.testing.assert_allclose(ours.objective_path_[-1], stored.objective_path_[-1], rtol=2e-4)
    np.testing.assert_allclose(ours.decision_function(X), stored.decision_function(X), atol=0.05)


def test_sample_weights_are_repetitions(rng):
    X, y = (40 * rng.random((200, 3))).astype(np.uint8), rng.random(200) < 0.5
    weight = rng.integers(0, 3, 200)
    again = np.repeat(np.arange(200), weight)
    settings = {"C": 0.01, "n_rounds": 150, "tol": 1e-4}
    weighted = StreamedCGEns(**settings).fit(X, y, sample_weight=weight)
    repeated = StreamedCGEns(**settings).fit(X[again], y[again])
    np.testing.assert_allclose(weighted.objective_path_[-1], repeated.objective_path_[-1], rtol=2e-4)
