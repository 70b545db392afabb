import numpy as np
import pytest
from sklearn.svm import SVC
from support.finite_pool import FinitePool
from support.kkt import assert_kkt
from support.margin_problems import problem

from kernsemble.column_generation import StopReason, column_generation
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.base import Solution
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import Hinge, SquaredHinge


def all_stumps(X):
    """Columns of every stump on X in one polarity, the constant one first."""
    columns = [np.ones(len(X))]
    for x in X.T:
        columns += [np.where(x > t, 1.0, -1.0) for t in np.unique(x)[:-1]]
    return np.array(columns).T


@pytest.fixture
def points(rng):
    """30 points of two classes that no line separates, some with equal coordinates."""
    X = np.column_stack([rng.normal(size=(30, 2)), rng.integers(0, 4, 30)])
    y = np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=30) > 1, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_lpboost_stops_when_no_stump_violates_the_dual(points, C):
    X, y = points
    H = all_stumps(X)
    result = column_generation(StumpOracle(X), HingeLP(y, C), 500)
    assert result.reason in (StopReason.NOTHING_MISSING, StopReason.GAP_REACHED)
    scores = H.T @ (y * result.solution.u)
    assert np.abs(scores).max() <= 1 + 1e-6
    assert result.relative_gap < 1e-6
    w = np.zeros(H.shape[1])
    for key, weight in zip(result.keys, result.solution.w, strict=True):
        column = StumpOracle(X).collect([key]).outputs(X)[:, 0]
        w[np.flatnonzero(np.abs(H.T @ column) == len(X))[0]] += weight * column[-1] * H[-1, 0]
    assert len(result.keys) < H.shape[1]


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_cgens_run_to_the_end_is_the_support_vector_machine_of_the_stumps(points, C):
    X, y = points
    H = all_stumps(X)
    K = H @ H.T
    master = Hinge(y, C, intercept="free", tol=1e-9)
    result = column_generation(StumpOracle(X), master, 500, tol=1e-8)
    assert result.relative_gap <= 1e-8
    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    f = StumpOracle(X).collect(result.keys).decision(X, result.solution.w, result.solution.b)
    np.testing.assert_allclose(f, machine.decision_function(K), atol=2e-4)
    dual = machine.dual_coef_[0]
    value = np.abs(dual).sum() - 0.5 * dual @ K[np.ix_(machine.support_, machine.support_)] @ dual
    assert result.solution.objective == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("make", [Hinge, SquaredHinge])
def test_full_gap_bounds_the_distance_to_the_end(points, make):
    X, y = points
    end = column_generation(StumpOracle(X), make(y, 0.1, tol=1e-10), 500, tol=1e-9).solution.objective
    result = column_generation(StumpOracle(X), make(y, 0.1, tol=1e-10), 500, tol=1e-9, every_gap=True)
    objective, gap = result.path("objective"), result.path("full_gap")
    assert (np.diff(objective) <= 1e-9).all()
    assert (objective - end <= gap + 1e-9).all()
    assert (gap >= result.path("gap") - 1e-9).all()
    assert gap[-1] <= 1e-8


def test_gap_of_the_whole_problem_is_skipped_where_it_cannot_decide(points):
    X, y = points
    result = column_generation(StumpOracle(X), Hinge(y, 0.1), 5, tol=1e-6)
    gaps = result.path("full_gap")
    assert np.isnan(gaps[:-1]).all()
    assert np.isfinite(gaps[-1])  # the certificate is always there
    lp = column_generation(StumpOracle(X), HingeLP(y, 0.3), 5)
    assert np.isfinite(lp.path("full_gap")).all()  # an l1 norm gets it for nothing


def test_restricted_solutions_are_optimal_for_their_columns(points):
    X, y = points
    seen = []

    def check(result):
        H = StumpOracle(X).collect(result.keys).outputs(X)
        assert_kkt(H, y, result.solution, loss="hinge", C=0.2, intercept="free", tol=1e-5)
        seen.append(len(result.keys))

    settings = {"intercept": "free", "tol": 1e-12}
    column_generation(StumpOracle(X), Hinge(y, 0.2, **settings), 12, callback=check)
    assert seen == list(range(1, 13))


def test_chosen_column_has_its_weight_as_score(points):
    """Why Algorithm 1 of shen2014 never stops as printed."""
    X, y = points
    result = column_generation(StumpOracle(X), Hinge(y, 0.2, tol=1e-12), 8)
    H = StumpOracle(X).collect(result.keys).outputs(X)
    np.testing.assert_allclose(H.T @ (y * result.solution.u), result.solution.w, atol=1e-5)
    assert len(set(result.keys)) == 8


def test_record_of_the_rounds(points):
    X, y = points
    result = column_generation(StumpOracle(X), Hinge(y, 0.2), iter(range(7)))
    assert result.reason is StopReason.ROUNDS_REACHED
    np.testing.assert_array_equal(result.path("n_columns"), np.arange(1, 8))
    assert [len(w) for w, _ in result.weights] == list(range(1, 8))
    np.testing.assert_array_equal(result.weights[-1][0], result.solution.w)
    assert (result.path("oracle_seconds") > 0).all()
    assert (result.path("master_seconds") > 0).all()
    assert result.outputs == [0] * 7
    assert not column_generation(StumpOracle(X), Hinge(y, 0.2), 3, keep_weights=False).weights


def test_violation_is_the_largest_score_left(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    result = column_generation(FinitePool(H), Hinge(y, 0.3), 3)
    left = np.setdiff1d(np.arange(H.shape[1]), [k if k >= 0 else -1 - k for k in result.keys])
    scores = np.abs(H[:, left].T @ (y * result.solution.u))
    assert result.rounds[-1].violation == pytest.approx(scores.max())
    gain, solution = result.solution.u.sum(), result.solution
    ray = np.linspace(0.0, 1.0, 100_001)
    square = 2.0 * (gain - solution.dual_objective) + (scores**2).sum()
    duals = ray * gain - 0.5 * ray**2 * square  # of the multiples of u
    assert result.gap == pytest.approx(solution.objective - duals.max(), rel=1e-6)
    assert result.shrink == pytest.approx(ray[duals.argmax()], abs=1e-4)
    assert result.gap < solution.gap + 0.5 * (scores**2).sum()  # the best multiple is a shorter one


def test_pool_is_exhausted(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    result = column_generation(FinitePool(H), Hinge(y, 0.3, tol=1e-9), 100)
    assert sorted(k if k >= 0 else -1 - k for k in result.keys) == list(range(H.shape[1]))
    assert result.reason is StopReason.NOTHING_MISSING
    assert result.rounds[-1].violation == 0.0


def test_callback_stops(points):
    X, y = points
    result = column_generation(StumpOracle(X), Hinge(y), 50, callback=lambda so_far: len(so_far.keys) == 4)
    assert len(result.rounds) == 4
    assert result.reason is StopReason.CALLBACK


def test_nothing_is_missing_at_the_start():
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    result = column_generation(StumpOracle(X), HingeLP(y, 0.1), 5)  # u = c prices every stump below 1
    assert result.keys == []
    assert result.reason is StopReason.NOTHING_MISSING
    assert result.solution.objective == pytest.approx(0.2)
    assert result.gap == pytest.approx(0.0)


def test_l1_solvers_and_starts_agree(points):
    X, y = points
    objectives = [
        column_generation(StumpOracle(X), HingeLP(y, 0.4, solver=solver), 500).solution.objective
        for solver in ("dual-simplex", "primal-simplex", "ipm")
    ]
    np.testing.assert_allclose(objectives, objectives[0], rtol=1e-6)


class TwoOutputs:
    """A master that only remembers what it was given."""

    def __init__(self, V):
        self.V, self.given = V, []

    def add(self, column, output=None):
        self.given.append((column.copy(), output))

    def solve(self):
        return Solution(np.zeros(len(self.given)), 0.0, self.V, 1.0, 0.0, 0, True)

    def pricing_weights(self):
        return self.V

    def threshold(self):
        return 0.0


def test_one_column_for_all_outputs_or_one_for_each(rng):
    H, V = rng.normal(size=(12, 9)), rng.normal(size=(12, 2))
    scores = np.abs(H.T @ V)
    best = np.unravel_index(scores.argmax(), scores.shape)
    shared = TwoOutputs(V)
    result = column_generation(FinitePool(H), shared, 1)
    assert result.outputs == [best[1]]
    np.testing.assert_array_equal(np.abs(shared.given[0][0]), np.abs(H[:, best[0]]))
    each = TwoOutputs(V)
    result = column_generation(FinitePool(H), each, 1, per_output=True)
    assert [output for _, output in each.given] == result.outputs == [0, 1]
    for k in range(2):
        np.testing.assert_array_equal(np.abs(each.given[k][0]), np.abs(H[:, scores[:, k].argmax()]))


def test_gap_sums_over_outputs(rng):
    H, V = rng.normal(size=(12, 9)), rng.normal(size=(12, 2))
    result = column_generation(FinitePool(H), TwoOutputs(V), 1)
    left = np.delete(H, result.keys[0] if result.keys[0] >= 0 else -1 - result.keys[0], axis=1)
    assert result.gap == pytest.approx(0.5 * ((left.T @ V) ** 2).sum())


def test_path_does_not_depend_on_the_order_of_samples_with_least_norm(points, rng):
    """Samples of equal weight make stumps of equal score, which rounding would order; so no two are equal."""
    X, y = points
    order, weight = rng.permutation(len(y)), rng.uniform(0.5, 2.0, len(y))

    def path(rows):
        master = Hinge(y[rows], 0.1, sample_weight=weight[rows], intercept="free", least_norm=True)
        return column_generation(StumpOracle(X[rows], constant=False), master, 15).path("objective")

    np.testing.assert_allclose(path(np.arange(len(y))), path(order), rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 2])
def test_search_that_ends_early_does_not_end_at_a_chosen_column(seed):
    # Columns of the solution score 1 up to rounding: without a tolerance one of them may be found first.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (60, 4)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] / 6 + rng.normal(size=60) > 4.5, 1.0, -1.0)
    oracle = KernelColumns(X, ["linear", "quadratic"], signed=True, stratified=True, tau=1.0, bound=0.3)
    result = column_generation(oracle, HingeLP(y, 0.3, intercept="free"), 200, epsilon=0.0)
    assert len(set(result.keys)) == len(result.keys)
    assert result.relative_gap < 1e-9


@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
def test_least_norm_makes_the_path_independent_of_the_solver(rng, intercept):
    """Rows of few distinct values: each problem has many dual solutions, and no two solvers find the same."""
    X = rng.integers(0, 3, (120, 6)).astype(float)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=120) > 2.5, 1.0, -1.0)

    def path(solver, least_norm):
        master = HingeLP(y, 0.3, intercept=intercept, solver=solver, least_norm=least_norm)
        return column_generation(StumpOracle(X, constant=False), master, 10).keys

    assert path("dual-simplex", True) == path("primal-simplex", True)
    assert path("dual-simplex", False) != path("primal-simplex", False)
