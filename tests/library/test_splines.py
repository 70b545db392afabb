"""The stump machine without a kernel matrix, beside the kernel matrix, conic solvers and closed forms."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from kernsemble.hypotheses import knots as columns
from kernsemble.hypotheses.knots import Knots
from kernsemble.kernels import stump_kernel
from kernsemble.masters import splines
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.splines import SplineProblem, solve_splines

LOSSES = ("hinge", "squared_hinge", "tube", "least_squares")


def samples(rng, n=40, d=3, ties=True):
    """Rows with ties, a repeated and a constant column, two labels that overlap, a noisy target, weights."""
    X = rng.normal(size=(n, d))
    if ties:
        X[:, 0] = np.round(X[:, 0], 1)
        X = np.column_stack([X, X[:, 1], np.full(n, 2.0)])
    target = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n)
    return X, np.where(target > 0, 1.0, -1.0), target, rng.uniform(0.2, 2.0, size=n)


def make_loss(name, y, target, cost):
    if name == "tube":
        return BoxLoss.tube(target, cost, 0.3)
    if name == "least_squares":
        return BoxLoss.least_squares(target, cost)
    return getattr(BoxLoss, name)(y, cost)


def problem_of(X, loss, most=None):
    knots = Knots.of_columns(X, most)
    return SplineProblem(knots, knots.encode(X), loss)


def rounded(problem):
    """The rows that the codes stand for."""
    knots = problem.knots
    return np.column_stack(
        [knots.values[knots.first[j] + problem.codes[j]] for j in range(knots.n_features)]
    ).astype(float)


def primal(name, f, y, target, cost):
    """Sum of losses, written down once more."""
    return {
        "hinge": cost @ np.maximum(0.0, 1.0 - y * f),
        "squared_hinge": cost @ np.maximum(0.0, 1.0 - y * f) ** 2,
        "tube": cost @ np.maximum(0.0, np.abs(target - f) - 0.3),
        "least_squares": 0.5 * cost @ (target - f) ** 2,
    }[name]


def dual(name, V, y, target, cost):
    """What the dual objective has of the loss; V must lie in its box."""
    u = y * V
    if name in ("hinge", "squared_hinge"):
        assert np.all(u >= 0.0)
    if name in ("hinge", "tube"):
        assert np.all(np.abs(V) <= cost)
    return {
        "hinge": u.sum(),
        "squared_hinge": u.sum() - 0.25 * (u**2 / cost).sum(),
        "tube": target @ V - 0.3 * np.abs(V).sum(),
        "least_squares": target @ V - 0.5 * (V**2 / cost).sum(),
    }[name]


def norm(problem, g):
    """``1/2 |w|^2`` of tables, column by column."""
    first, values = problem.knots.first, problem.knots.values
    parts = [slice(*ends) for ends in pairwise(first)]
    return sum(np.sum(np.diff(g[part]) ** 2 / (4.0 * np.diff(values[part]))) for part in parts)


@pytest.mark.parametrize(
    ("shape", "most"), [((200, 5), None), ((300, 2), 20), ((30, 9), None), ((1, 3), None)]
)
def test_products_are_those_of_the_kernel_matrix(rng, shape, most):
    X = rng.normal(size=shape)
    X[:, 0] = np.round(X[:, 0])
    problem = problem_of(X, BoxLoss.least_squares(np.zeros(shape[0]), np.ones(shape[0])), most)
    beta = rng.normal(size=shape[0])
    beta -= beta.mean()
    K, pull = stump_kernel(rounded(problem)), problem.pull(beta)
    f = problem.scores(problem.relax(pull))
    np.testing.assert_allclose(f - f.mean(), K @ beta - (K @ beta).mean(), atol=1e-10)
    assert problem.energy(pull) == pytest.approx(0.5 * beta @ K @ beta, abs=1e-10)
    np.testing.assert_allclose(problem.bend(problem.relax(pull)), pull, atol=1e-10)


def test_codes_stand_for_the_values_or_for_means_of_equal_parts(rng):
    X = np.column_stack([np.round(rng.normal(size=1000), 1), rng.normal(size=1000)])
    exact, few = problem_of(X, None), problem_of(X, None, 50)
    assert exact.codes.dtype == np.uint16
    assert few.codes.dtype == np.uint8
    np.testing.assert_array_equal(rounded(exact), X)
    assert list(exact.knots.rounded) == [False, False]
    assert few.knots.rounded[1]
    np.testing.assert_allclose(rounded(few)[:, 1].mean(), X[:, 1].mean(), atol=1e-12)
    counts = np.bincount(few.codes[1])
    assert len(counts) == 50
    assert counts.min() == counts.max() == 20
    order = np.argsort(X[:, 1])
    assert np.all(np.diff(few.codes[1][order].astype(int)) >= 0)
    np.testing.assert_array_equal(few.knots.encode(X), few.codes)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_blocks_of_rows_have_the_knots_of_all(rng, dtype, monkeypatch, tmp_path):
    """Columns of few values exactly; others by parts of about one size, each with its mean."""
    X = (
        np.column_stack([rng.integers(0, 9, 5000), 20 * rng.normal(size=5000) + 100])
        .clip(0, 200)
        .astype(dtype)
    )
    whole, all_codes = Knots.of_columns(X, 100), Knots.of_columns(X, 100).encode(X)
    file = np.memmap(tmp_path / "rows", dtype=dtype, mode="w+", shape=X.shape)
    file[:] = X
    monkeypatch.setattr(columns, "_PART", 300)
    np.testing.assert_array_equal(whole.encode(file), all_codes)
    monkeypatch.setattr(columns, "_WHOLE", 4000)
    blocks = Knots.of_columns(file, 100)
    np.testing.assert_array_equal(blocks.rounded, whole.rounded)
    if not whole.rounded[1]:
        np.testing.assert_array_equal(blocks.values, whole.values)
        return
    codes = blocks.encode(file)
    np.testing.assert_array_equal(codes[0], all_codes[0])
    n_knots = blocks.first[2] - blocks.first[1]
    counts = np.bincount(codes[1], minlength=n_knots)
    assert counts.min() > 10
    assert n_knots == 100 or dtype == np.uint8
    means = np.bincount(codes[1], X[:, 1].astype(float)) / counts
    np.testing.assert_allclose(blocks.values[blocks.first[1] :], means, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64])
def test_types_of_data_keep_their_values(rng, dtype):
    X = rng.integers(0, 200, size=(500, 3)).astype(dtype)
    np.testing.assert_array_equal(rounded(problem_of(X, None)), X)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-9])
def test_the_certificate_is_what_the_kernel_matrix_says(rng, name, C, tol):
    """Both objectives anew from (g, b) and V alone; between them, to ``tol``, lies the optimum."""
    X, y, target, weight = samples(rng)
    cost = C * weight
    problem = problem_of(X, make_loss(name, y, target, cost))
    solution = solve_splines(problem, tol=tol)
    g, b, V = solution.w, solution.b, solution.u
    f = problem.scores(g) + b
    upper = norm(problem, g) + primal(name, f, y, target, cost)
    lower = dual(name, V, y, target, cost) - 0.5 * V @ stump_kernel(X) @ V
    assert abs(V.sum()) <= 1e-12 * np.abs(V).sum()
    assert solution.objective == pytest.approx(upper, rel=1e-12)
    assert solution.dual_objective == pytest.approx(lower, rel=1e-11)
    assert solution.converged
    assert -1e-12 * upper <= upper - lower <= tol * upper


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_objective_of_a_conic_solver(name, seed):
    X, y, target, weight = samples(np.random.default_rng(seed), n=30)
    K, cost = stump_kernel(X), 0.5 * weight
    Delta = np.abs(X).max(axis=0).sum()  # makes the kernel positive definite; V sums to zero, so no more
    root = np.linalg.cholesky(K + Delta + 1e-9 * np.eye(len(y)))
    w, b = cp.Variable(len(y)), cp.Variable()
    f = root @ w + b
    loss = {
        "hinge": cost @ cp.pos(1 - cp.multiply(y, f)),
        "squared_hinge": cost @ cp.square(cp.pos(1 - cp.multiply(y, f))),
        "tube": cost @ cp.pos(cp.abs(target - f) - 0.3),
        "least_squares": 0.5 * cost @ cp.square(target - f),
    }[name]
    value = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss)).solve(solver=cp.CLARABEL)
    solution = solve_splines(problem_of(X, make_loss(name, y, target, cost)), tol=1e-9)
    assert solution.objective == pytest.approx(value, rel=1e-6)


def test_least_squares_are_a_linear_system(rng):
    X, _, target, cost = samples(rng)
    problem = problem_of(X, BoxLoss.least_squares(target, cost))
    solution = solve_splines(problem, tol=1e-13)
    n, ones = len(X), np.ones((len(X), 1))
    system = np.block([[stump_kernel(X) + np.diag(1.0 / cost), ones], [ones.T, np.zeros((1, 1))]])
    V = np.linalg.solve(system, np.append(target, 0.0))[:n]
    np.testing.assert_allclose(solution.u, V, atol=1e-5 * np.abs(V).max())
    np.testing.assert_allclose(problem.scores(solution.w) + solution.b, target - V / cost, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_one_column_without_errors_joins_the_labels(seed):
    """It runs straight from -1 to 1 where the label changes: 1/2 |w|^2 is the sum of 2^2 / (4 gap)."""
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.normal(size=50)), np.where(rng.random(50) > 0.5, 1.0, -1.0)
    changes = y[1:] != y[:-1]
    solution = solve_splines(problem_of(x[:, None], BoxLoss.hinge(y, np.full(50, 1e6))), tol=1e-7)
    assert solution.objective == pytest.approx(np.sum(1.0 / np.diff(x)[changes]), rel=1e-6)


@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
def test_the_machine_is_that_of_the_kernel_solvers(rng, C):
    X, y, _, weight = samples(rng, n=300, d=6)
    K, problem = stump_kernel(X), problem_of(X, BoxLoss.hinge(y, C * weight))
    ours, theirs = solve_splines(problem, tol=1e-8), solve_kernel_hinge(K, y, C * weight, tol=1e-8)
    libsvm = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y, sample_weight=weight)
    f = problem.scores(ours.w) + ours.b
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
    np.testing.assert_allclose(f, K @ theirs.w + theirs.b, atol=1e-3)
    np.testing.assert_allclose(f, libsvm.decision_function(K), atol=1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_a_sample_first_or_another_cost_first_is_the_same_solution(rng, name, monkeypatch):
    X, y, target, weight = samples(rng, n=1000)
    problem = problem_of(X, make_loss(name, y, target, weight))
    plain = solve_splines(problem, tol=1e-7)
    smaller = solve_splines(problem_of(X, make_loss(name, y, target, 0.1 * weight)), tol=1e-3)
    larger = solve_splines(problem_of(X, make_loss(name, y, target, 7.0 * weight)), tol=1e-3)
    monkeypatch.setattr(splines, "_SAMPLE", 50)
    sampled = solve_splines(problem, tol=1e-7)
    assert problem.sample() is not None
    others = [sampled, *(solve_splines(problem, start=other, tol=1e-7) for other in (smaller, larger))]
    for other in others:
        assert other.converged
        assert other.objective == pytest.approx(plain.objective, rel=1e-7)


def test_results_do_not_depend_on_the_number_of_threads(rng, monkeypatch):
    X, y, _, weight = samples(rng, n=9000, d=8)
    problem = problem_of(X, BoxLoss.hinge(y, weight))
    solutions = []
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setattr("kernsemble.hypotheses._threads._WORTH_A_THREAD", 1000)
        solutions.append(solve_splines(problem, tol=1e-4))
    np.testing.assert_array_equal(solutions[0].w, solutions[1].w)
    np.testing.assert_array_equal(solutions[0].u, solutions[1].u)


def test_rows_without_weight_take_no_part(rng):
    X, y, _, weight = samples(rng, n=200)
    weight[::3] = 0.0
    kept = weight > 0.0
    whole = solve_splines(problem_of(X, BoxLoss.hinge(y, weight)), tol=1e-9)
    part = solve_splines(problem_of(X[kept], BoxLoss.hinge(y[kept], weight[kept])), tol=1e-9)
    assert whole.objective == pytest.approx(part.objective, rel=1e-8)
    assert not whole.u[~kept].any()


@pytest.mark.parametrize("name", LOSSES)
def test_nothing_to_learn(name):
    """Columns that are constant, or a target that is: the intercept alone."""
    y = np.where(np.arange(20) % 4 > 0, 1.0, -1.0)
    solution = solve_splines(problem_of(np.zeros((20, 2)), make_loss(name, y, y, np.ones(20))), tol=1e-6)
    assert solution.converged
    assert solution.objective >= 0.0
    if name in ("tube", "least_squares"):
        X = np.arange(20.0)[:, None]
        flat = solve_splines(problem_of(X, make_loss(name, y, np.full(20, 3.0), np.ones(20))), tol=1e-6)
        assert flat.converged
        assert flat.objective == pytest.approx(0.0, abs=1e-9)
        assert flat.b + flat.w[0] == pytest.approx(3.0, abs=0.31)


def test_steps_that_run_out_are_said(rng):
    X, y, _, weight = samples(rng, n=200)
    solution = solve_splines(problem_of(X, BoxLoss.hinge(y, 10.0 * weight)), tol=1e-9, max_iter=3)
    assert not solution.converged
    assert solution.n_iter == 3
    assert solution.gap > 0.0


def test_histograms_of_few_and_of_many_knots(rng):
    for n_knots in (1, 2, 63, 64, 65, 300):
        codes = rng.integers(0, n_knots, size=(3, 1001)).astype(np.uint16)
        weights, first = rng.normal(size=1001), n_knots * np.arange(4)
        expected = np.concatenate([np.bincount(c, weights, minlength=n_knots) for c in codes])
        np.testing.assert_allclose(columns.histogram(codes, first, weights), expected, atol=1e-12)
