"""The multi-class exponential master: three solvers, certificate, dual; its state and its metric."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from support.kkt import assert_kkt

from kernsemble.masters import exponential_solvers
from kernsemble.masters.base import Solution
from kernsemble.masters.exponential import SOLVERS, Exponential
from kernsemble.masters.exponential_solvers import ExponentialState, ReferenceMetric, exact_step

TIGHT = {"newton": {"tol": 1e-9}, "fcd": {"eps": 1e-8, "tau_max": 20_000}, "lbfgsb": {}}
SHAPES = [(20, 5, 3), (12, 15, 4), (30, 8, 2)]  # samples, columns a class, classes


def problem(rng, n, n_columns, n_classes, doubled=False):
    """Labels, and columns that agree with their class rather than not; repeated, opposite, constant ones."""
    labels = rng.permutation(np.arange(n) % n_classes)
    outputs = np.arange(n_columns * n_classes) % n_classes
    flips = rng.random((n, len(outputs))) < 0.3
    H = np.where((labels[:, None] == outputs) ^ flips, 1, -1).astype(np.int8)
    if doubled:
        H = np.hstack([H, H[:, :3], -H[:, 3:6], np.ones((n, 1), dtype=np.int8)])
        outputs = np.append(outputs, [*outputs[:3], *outputs[3:6], 1])
    return labels, H, outputs


def pairs(labels, H, outputs, n_classes):
    """The paper's pairs (i, y), listed: delta h of (7), one row a pair and one column a variable."""
    i, y = np.nonzero(labels[:, None] != np.arange(n_classes))
    own, other = labels[i][:, None] == outputs, y[:, None] == outputs
    return H[i] * (own.astype(float) - other), i, y


def filled_state(rng, shape=(20, 4, 3), C=30.0):
    """A state that holds the columns of a problem with all weights zero, and what it was made from."""
    labels, H, outputs = problem(rng, *shape)
    state = ExponentialState(labels, shape[2], C)
    variables = np.concatenate([state.append(H[:, j], np.array([k])) for j, k in enumerate(outputs)])
    return state, variables, labels, H, outputs, C


def grown(labels, H, outputs, C, solver="newton", chunk=None, **options):
    """A master that got its columns a few at a time, solved after each, and its last solution."""
    master = Exponential(labels, C, solver=solver, **{**TIGHT[solver], **options})
    chunk = chunk or len(outputs)
    for start in range(0, len(outputs), chunk):
        for j in range(start, min(start + chunk, len(outputs))):
            master.add(H[:, j], int(outputs[j]))
        solution = master.solve()
    return master, solution


def pair_objective(w, D, c):
    """Problem (7), as printed."""
    return w.sum() + c @ np.exp(-D @ w)


def pair_gradient(w, D, c):
    return 1.0 - D.T @ (c * np.exp(-D @ w))


def as_pairs(solution, i, y):
    """The solution of the same problem with the pairs for samples."""
    return Solution(
        solution.w,
        0.0,
        solution.u[i, y],
        solution.objective,
        solution.gap,
        solution.n_iter,
        solution.converged,
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_optimal_by_kkt_and_by_scipy_on_the_listed_pairs(rng, solver, shape):
    labels, H, outputs = problem(rng, *shape, doubled=True)
    K, C = shape[2], 50.0
    _, solution = grown(labels, H, outputs, C, solver, chunk=K)
    D, i, y = pairs(labels, H, outputs, K)
    c = np.full(len(D), C / len(D))
    # L-BFGS-B stops by its own rule, at half the digits of the others
    tol = 2e-3 if solver == "lbfgsb" else 2e-4
    assert_kkt(
        D,
        np.ones(len(D)),
        as_pairs(solution, i, y),
        loss="exponential",
        penalty="l1",
        C=c[0],
        nonnegative=True,
        tol=tol,
    )
    judge = minimize(
        pair_objective, np.zeros(len(outputs)), (D, c), jac=pair_gradient, method="L-BFGS-B",
        bounds=[(0, None)] * len(outputs), options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )  # fmt: skip
    assert solution.objective == pytest.approx(judge.fun, rel=1e-6)
    assert solution.objective == pytest.approx(pair_objective(solution.w, D, c), rel=1e-12)
    assert -1e-12 <= solution.gap <= 1e-3 * solution.objective
    assert solution.dual_objective <= judge.fun * (1 + 1e-9)
    assert solution.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_shared_by_all_classes(rng, solver):
    labels, H, _ = problem(rng, 24, 3, 3)
    master = Exponential(labels, 80.0, per_class=False, solver=solver, **TIGHT[solver])
    for column in H.T:
        master.add(column)
    solution = master.solve()
    every = np.tile(np.arange(3), H.shape[1])  # the same problem, each column given to each class
    _, listed = grown(labels, np.repeat(H, 3, axis=1), every, 80.0)
    assert solution.w.shape == (H.shape[1], 3)
    assert solution.objective == pytest.approx(listed.objective, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_sample_of_weight_two_counts_as_two_samples(rng, solver):
    labels, H, outputs = problem(rng, 20, 4, 3)
    weight = rng.integers(1, 4, 20).astype(float)
    _, weighted = grown(labels, H, outputs, 60.0, solver, sample_weight=weight)
    rows = np.repeat(np.arange(20), weight.astype(int))
    _, repeated = grown(labels[rows], H[rows], outputs, 60.0, solver)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-7)


def test_strong_duality_holds_without_3c_and_the_optimum_violates_it(rng):
    labels, H, outputs = problem(rng, 40, 2, 3)
    C, p = 200.0, 40 * 2
    _, solution = grown(labels, H, outputs, C)
    used = solution.u[solution.u > 0]
    printed = used @ (1.0 - np.log(p / C) - np.log(used))  # (3a)
    D, i, y = pairs(labels, H, outputs, 3)
    assert (D.T @ solution.u[i, y]).max() <= 1 + 1e-4  # (3b)
    assert printed == pytest.approx(solution.objective, rel=1e-6)
    assert solution.u.sum(axis=1).max() > 1.05 * C / p  # (3c) cuts the optimum off


def test_gap_is_a_lower_bound_on_the_way(rng):
    labels, H, outputs = problem(rng, 25, 6, 3)
    _, exact = grown(labels, H, outputs, 1e3)
    master = Exponential(labels, 1e3, solver="fcd", eps=0.0, tau_max=1)
    for column, k in zip(H.T, outputs, strict=True):
        master.add(column, int(k))
    for _ in range(15):
        solution = master.solve()
        assert solution.dual_objective <= exact.objective * (1 + 1e-9) <= solution.objective * (1 + 2e-9)
        master._new = [np.arange(len(outputs))]  # once more over all of them


def test_full_gap_bounds_the_problem_over_columns_that_are_not_there(rng):
    labels, H, outputs = problem(rng, 25, 6, 3)
    _, whole = grown(labels, H, outputs, 500.0)
    few = 2 * 3
    master, solution = grown(labels, H[:, :few], outputs[:few], 500.0)
    V = master.pricing_weights()
    score = max(V[:, k] @ H[:, j] for j, k in enumerate(outputs))
    gap = master.full_gap(score)
    assert solution.objective - gap <= whole.objective * (1 + 1e-9)
    assert gap >= solution.gap
    assert score > master.threshold()


def test_pricing_weights_are_the_left_side_of_3b(rng):
    labels, H, outputs = problem(rng, 15, 3, 4)
    master, solution = grown(labels, H, outputs, 40.0, solver="fcd", eps=0.1, tau_max=1)
    D, i, y = pairs(labels, H, outputs, 4)
    V = master.pricing_weights()
    np.testing.assert_allclose(
        [V[:, k] @ H[:, j] for j, k in enumerate(outputs)], D.T @ solution.u[i, y], rtol=1e-10, atol=1e-12
    )


def test_before_the_first_column_all_pairs_weigh_the_same():
    labels = np.array([0, 1, 1, 2])
    V = Exponential(labels, 8.0).pricing_weights()
    np.testing.assert_allclose(V[0], [2.0, -1.0, -1.0])
    np.testing.assert_allclose(V[3], [-1.0, -1.0, 2.0])


def test_stage_wise_it_takes_adaboosts_step(rng):
    labels, H, outputs = problem(rng, 40, 1, 2)
    master = Exponential(labels, 1e8, solver="fcd", tau_max=1)
    V = master.pricing_weights()
    master.add(H[:, 0], int(outputs[0]))
    solution = master.solve()
    agree = V[:, outputs[0]] * H[:, 0]
    step = 0.5 * np.log(agree[agree > 0].sum() / -agree[agree < 0].sum())  # (13)
    np.testing.assert_allclose(solution.w, step, rtol=1e-6)


def test_a_column_found_again_is_merged(rng):
    labels, H, outputs = problem(rng, 20, 3, 3)
    _, solution = grown(labels, H, outputs, 50.0)
    again = Exponential(labels, 50.0, **TIGHT["newton"])
    for _ in range(2):
        for column, k in zip(H.T, outputs, strict=True):
            again.add(column, int(k))
    twice = again.solve()
    assert len(twice.w) == 2 * len(solution.w)
    assert (twice.w[len(solution.w) :] == 0).all()
    assert twice.objective == pytest.approx(solution.objective, rel=1e-8)


def test_a_target_ends_each_solver_early(rng):
    labels, H, outputs = problem(rng, 30, 6, 3)
    _, exact = grown(labels, H, outputs, 1e3)
    for solver in SOLVERS:
        master = Exponential(labels, 1e3, solver=solver, **TIGHT[solver])
        for column, k in zip(H.T, outputs, strict=True):
            master.add(column, int(k))
        solution = master.solve(target=1.05 * exact.objective)
        assert exact.objective * (1 - 1e-9) <= solution.objective <= 1.05 * exact.objective


def test_bad_input_is_refused():
    labels = np.array([0, 1, 2])
    with pytest.raises(ValueError, match="solver='sgd'"):
        Exponential(labels, solver="sgd")
    with pytest.raises(ValueError, match="each of them present"):
        Exponential(np.array([0, 2]))
    master = Exponential(labels)
    with pytest.raises(ValueError, match="must name the class"):
        master.add(np.array([1, -1, 1]))
    with pytest.raises(ValueError, match="-1 or \\+1"):
        master.add(np.array([1, 0, 1]), 0)
    with pytest.raises(ValueError, match="-1 or \\+1"):
        master.add(np.array([1, 1]), 0)


# ---- the state: the exact step, and moves that keep what they carry exact


@pytest.mark.parametrize("ratio", [0.0, 1e-300, 1e-8, 0.3, 1.0, 3.0, 1e8])
@pytest.mark.parametrize("plus", [1e-6, 0.4, 1.0, 50.0, 1e8])
def test_the_step_minimizes_over_one_variable(plus, ratio):
    minus = plus * ratio
    step = exact_step(plus, minus)
    assert math.isfinite(step)
    slope = 1.0 - plus * math.exp(-step) + minus * math.exp(step)
    assert abs(slope) <= 1e-9 * max(1.0, plus * math.exp(-step))
    if 1e-8 <= ratio <= 1e8 and abs(step) < 15:
        found = minimize_scalar(
            lambda d: d + plus * math.exp(-d) + minus * math.exp(d), bracket=(step - 1, step + 1), tol=1e-12
        )
        assert step == pytest.approx(found.x, abs=1e-5 * max(1.0, abs(step)))


def test_the_step_without_agreement_goes_to_the_bound():
    assert exact_step(0.0, 1.0) == -math.inf


def test_the_printed_step_12_is_the_stable_one_where_it_can_be_evaluated():
    plus, minus, C, p = 7.0, 3.0, 50.0, 40.0
    a = p / (2 * C)
    printed = math.log(math.sqrt(plus * minus + a * a) - a) - math.log(minus)
    assert exact_step(plus / (2 * a), minus / (2 * a)) == pytest.approx(printed, rel=1e-12)


def slow_state(labels, K, C, H, outputs, w):
    """V from its definition, pair by pair."""
    F = np.zeros((len(labels), K))
    for j, k in enumerate(outputs):
        F[:, k] += w[j] * H[:, j]
    V = np.zeros_like(F)
    for i, own in enumerate(labels):
        for k in range(K):
            if k != own:
                loss = C / (len(labels) * (K - 1)) * np.exp(F[i, k] - F[i, own])
                V[i, k] -= loss
                V[i, own] += loss
    return V


def test_moves_keep_the_state_what_the_definition_says(rng):
    state, variables, labels, H, outputs, C = filled_state(rng)
    for _ in range(200):
        state.coordinate_pass(rng.permutation(variables))
    expected = slow_state(labels, 3, C, H, outputs, state.w)
    np.testing.assert_allclose(state.signed_weights(), expected, rtol=1e-10, atol=1e-13)


def test_a_line_search_keeps_the_state_what_the_definition_says(rng):
    state, variables, labels, H, outputs, C = filled_state(rng)
    state.w[:] = 1.0 + rng.random(len(variables))
    state.refresh()
    before, gradient = state.objective, 1.0 - state.scores()
    direction = -gradient / np.abs(gradient).max()
    assert state.line_search(variables, -direction, -1.0) == 0.0  # uphill, whatever the slope says
    assert state.objective == before
    assert state.line_search(variables, direction, float(direction @ gradient)) > 0
    assert state.objective < before
    expected = slow_state(labels, 3, C, H, outputs, state.w)
    np.testing.assert_allclose(state.signed_weights(), expected, rtol=1e-9, atol=1e-12)


def test_each_coordinate_step_lowers_the_objective(rng):
    state, variables, *_ = filled_state(rng)
    before = state.objective
    for j in np.tile(variables, 3):
        state.coordinate_pass(np.array([j]))
        assert state.objective <= before * (1 + 1e-13)
        before = state.objective


def test_rounding_is_removed_after_many_moves(rng):
    state, variables, labels, H, outputs, C = filled_state(rng)
    state.V *= 1.001  # rounding, exaggerated
    state.coordinate_pass(variables)
    assert not np.allclose(state.signed_weights(), slow_state(labels, 3, C, H, outputs, state.w), rtol=1e-5)
    state._moves = 10_000
    state.w += 0.1  # so that the pass has something to do
    state.coordinate_pass(variables)
    expected = slow_state(labels, 3, C, H, outputs, state.w)
    np.testing.assert_allclose(state.signed_weights(), expected, rtol=1e-12, atol=1e-14)


# ---- the metric: the Hessian of the pairs, and the model that it minimizes


def slow_hessian(state, w, variables):
    """Hessian of the loss by its definition over pairs, scaled to a unit diagonal."""
    labels = np.repeat(np.arange(state.n_classes), np.diff(state.starts))
    H = state.columns[state.column_of[variables]].T
    D, i, y = pairs(labels, H, state.class_of[variables], state.n_classes)
    weights = -state.V[y, i]
    full = D.T @ (weights[:, None] * D)
    scale = 1 / np.sqrt(np.diag(full))
    return full * scale[:, None] * scale


@pytest.mark.parametrize(("dtype", "accuracy"), [(np.float32, 2e-6), (np.float64, 1e-13)])
@pytest.mark.parametrize("extended", [0, 5])
def test_the_metric_is_the_hessian_of_the_pairs(rng, extended, dtype, accuracy):
    state, variables, *_ = filled_state(rng, (30, 4, 4))
    state.coordinate_pass(variables)
    metric = ReferenceMetric(dtype)
    assert len(metric.missing(variables, len(variables))) == len(variables)
    metric.rebuild(state, variables[: len(variables) - extended])
    metric.extend(state, metric.missing(variables, len(variables)))
    n = len(variables)
    L = np.tril(metric._factor[:n, :n]).astype(float)
    expected = slow_hessian(state, state.w, metric.variables) + metric.ridge * np.eye(n)
    np.testing.assert_allclose(L @ L.T, expected, atol=accuracy)


@pytest.mark.parametrize("is_indefinite", [False, True])
def test_the_model_is_minimized_within_its_bounds(rng, monkeypatch, is_indefinite):
    if is_indefinite:  # as LAPACK reports it
        monkeypatch.setattr(exponential_solvers, "dposv", lambda G, right, lower: (G, np.nan * right, 1))
    state, variables, *_ = filled_state(rng, (40, 5, 3))
    state.coordinate_pass(variables)
    metric = ReferenceMetric()
    metric.missing(variables, len(variables))
    metric.rebuild(state, variables)
    n = len(variables)
    L = np.tril(metric._factor[:n, :n]).astype(float)
    R, g = L @ L.T, rng.normal(size=n)
    low = -np.where(rng.random(n) < 0.3, 0.0, rng.random(n))
    z, promised = metric.minimize(g, low)
    judge = minimize(
        lambda z: g @ z + z @ R @ z / 2, np.zeros(n), jac=lambda z: g + R @ z, method="L-BFGS-B",
        bounds=[(lo, None) for lo in low], options={"ftol": 1e-14, "gtol": 1e-9},
    )  # fmt: skip
    np.testing.assert_allclose(z, judge.x, atol=2e-3)
    assert (z >= low).all()
    assert promised == pytest.approx(-judge.fun, rel=1e-3)


def test_an_indefinite_rounding_error_does_not_stop_the_factor(rng):
    """Two opposite columns and a copy in float32: singular up to the ridge, row by row as well."""
    labels = np.arange(12) % 2
    state = ExponentialState(labels, 2, 10.0)
    h = np.where(rng.random(12) < 0.5, 1, -1).astype(np.int8)
    variables = np.concatenate([state.append(c, np.array([0])) for c in (h, -h, h)])
    metric = ReferenceMetric()
    metric.missing(variables, 3)
    metric.rebuild(state, variables[:1])
    metric.extend(state, variables[1:])
    assert np.isfinite(metric._factor[:3, :3]).all()
    assert (np.diag(metric._factor[:3, :3]) > 0).all()
