"""Problem (5) of guo2017: its proximal map, its exact solution, and the iterative solvers beside it."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernsemble.masters.exclusivity import (
    advance,
    exclusivity_norm,
    exclusivity_objective,
    exclusivity_prox,
    hinge_prox,
    printed_start,
    relaxed_exclusivity,
    reweight,
    solve_admm,
    solve_exclusivity,
    solve_printed_alm,
)
from kernsemble.masters.psvm import solve_psvm


def problem(rng, n=40, d=4, noise=1.0):
    X = rng.uniform(-1, 1, size=(n, d))
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def solve_with_cvxpy(X, y, lam, C, p):
    W, b = cp.Variable((X.shape[1], C)), cp.Variable((1, C))
    slack = cp.pos(1 - cp.multiply(y[:, np.newaxis], X @ W + b))
    loss = cp.sum(slack if p == 1 else cp.square(slack))
    norm = 0.5 * cp.sum_squares(cp.sum(cp.abs(W), axis=1))
    return cp.Problem(cp.Minimize(norm + lam * loss)).solve(solver=cp.CLARABEL), W.value


def dual_objective(X, y, cost, p, U):
    """The dual of (5), written out."""
    pulls = X.T @ (y[:, np.newaxis] * U)
    value = U.sum() - 0.5 * np.sum(np.max(np.abs(pulls), axis=1) ** 2)
    return value - (np.sum(U**2 / (4.0 * cost[:, np.newaxis])) if p == 2 else 0.0)


# ---- the regularizer


def test_regularizer_is_half_the_squared_norm_plus_the_relaxed_exclusivity(rng):
    """Equation (4), pairs counted once."""
    W = rng.normal(size=(5, 4))
    pairs = [np.abs(W[:, c]) @ np.abs(W[:, k]) for c in range(4) for k in range(c)]
    assert exclusivity_norm(W) == pytest.approx(0.5 * np.sum(W**2) + np.sum(pairs))


def test_exclusivity_of_disjoint_and_of_equal_components(rng):
    w = rng.normal(size=(6, 1))
    assert relaxed_exclusivity(np.hstack([w, -2 * w, w])) == pytest.approx(1.0)
    assert relaxed_exclusivity(np.diag([1.0, 5.0, 2.0])) == 0.0
    assert np.isnan(relaxed_exclusivity(w))
    assert relaxed_exclusivity(np.zeros((3, 2))) == 0.0


@pytest.mark.parametrize("step", [1e-3, 0.3, 1.0, 50.0])
def test_prox_equals_cvxpy_and_its_optimality_conditions(rng, step):
    V = 3 * rng.normal(size=(6, 5))
    V[1] = 0.0
    V[2, 1:] = 0.0
    V[3] = 2.0  # ties
    W = exclusivity_prox(V, step)
    variable = cp.Variable(5)
    for v, w in zip(V, W, strict=True):
        total = np.abs(w).sum()
        # w_c - v_c + step * total * sign(w_c) = 0 where w_c is not 0, and |v_c| <= step * total where it is
        np.testing.assert_allclose((w - v + step * total * np.sign(w))[w != 0], 0.0, atol=1e-12)
        assert np.all(np.abs(v[w == 0]) <= step * total + 1e-12)
    v = V[0]
    target = step / 2 * cp.square(cp.norm1(variable)) + 0.5 * cp.sum_squares(variable - v)
    cp.Problem(cp.Minimize(target)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(W[0], variable.value, atol=1e-6)


@pytest.mark.parametrize("p", [1, 2])
def test_prox_of_the_loss_minimizes_it(rng, p):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    S, cost, mu = rng.normal(size=(4, 2)), np.array([0.5, 0.5, 2.0, 0.1]), 1.3
    E = hinge_prox(S, y, cost, mu, p)
    for i, c in np.ndindex(S.shape):

        def value(e, i=i, c=c):
            return cost[i] * max(0.0, y[i] * e) ** p + mu / 2 * (e - S[i, c]) ** 2

        best = minimize_scalar(value, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10})
        assert value(E[i, c]) <= best.fun + 1e-9


# ---- the exact solution


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(("C", "lam"), [(1, 0.5), (3, 2.0), (5, 0.1)])
def test_minimum_is_the_squared_count_times_one_machine(rng, p, C, lam):
    """The minimum is C^2 min PSVM(lambda / C), and the mean of any optimal solution is that machine."""
    X, y = problem(rng, n=20)
    value, W = solve_with_cvxpy(X, y, lam, C, p)
    machine = solve_psvm(X, y, lam / C, p)
    assert value == pytest.approx(C**2 * machine.objective, rel=1e-6)
    np.testing.assert_allclose(W.mean(axis=1), machine.w, atol=2e-4)
    exact = solve_exclusivity(X, y, lam, C, p)
    assert exact.objective == pytest.approx(value, rel=1e-6)
    assert exact.objective == pytest.approx(
        exclusivity_objective(exact.w, exact.b, X, y, np.full(20, lam), p), rel=1e-12
    )
    np.testing.assert_array_equal(exact.w, np.tile(machine.w[:, np.newaxis], C))


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("shape", [(60, 3), (12, 30), (30, 8)])
def test_certificate_is_a_feasible_dual_point(rng, p, shape):
    X, y = problem(rng, *shape)
    if shape == (30, 8):
        X[:, 4:] = X[:, :4]
    weight = rng.uniform(0.5, 2.0, size=y.size)
    exact = solve_exclusivity(X, y, 1.5, 4, p, sample_weight=weight)
    cost = 1.5 * weight
    np.testing.assert_allclose(y @ exact.u, 0.0, atol=1e-9)
    assert np.all(exact.u >= 0)
    assert p == 2 or np.all(exact.u <= cost[:, np.newaxis] * (1 + 1e-12))
    assert dual_objective(X, y, cost, p, exact.u) == pytest.approx(exact.dual_objective, rel=1e-9)
    assert exact.relative_gap <= 1e-9


@pytest.mark.parametrize("p", [1, 2])
def test_no_other_components_do_better(rng, p):
    """Random changes of an exact solution, and random mixtures with unequal components, never win."""
    X, y = problem(rng)
    exact = solve_exclusivity(X, y, 2.0, 3, p)
    cost = np.full(y.size, 2.0)
    for size in (1e-3, 0.1, 1.0):
        for _ in range(20):
            W = exact.w + size * rng.normal(size=exact.w.shape)
            b = exact.b + size * rng.normal(size=3)
            assert exclusivity_objective(W, b, X, y, cost, p) >= exact.objective - exact.gap


def test_optimal_components_of_the_hinge_may_differ_but_not_their_mean(rng):
    """Move within the optimal face: keep signs and row sums, and every sample on its side of the margin."""
    X, y = problem(rng, n=30, d=6)
    C, lam = 2, 2.0
    exact = solve_exclusivity(X, y, lam, C, 1, tol=1e-12)
    w, b = exact.w[:, 0], exact.b[0]
    slack = 1.0 - y * (X @ w + b)
    W, intercepts = cp.Variable((6, C)), cp.Variable(C)
    margins = cp.multiply(y[:, np.newaxis], X @ W + cp.reshape(intercepts, (1, C), order="C"))
    tiny = 1e-6
    constraints = [
        cp.multiply(np.sign(w)[:, np.newaxis], W) >= 0,
        cp.sum(W, axis=1) == C * w,
        cp.sum(intercepts) == C * b,
        margins[slack > tiny] <= 1,
        margins[slack < -tiny] >= 1,
        margins[np.abs(slack) <= tiny] == 1,
    ]
    cp.Problem(cp.Maximize(rng.normal(size=6) @ (W[:, 0] - W[:, 1])), constraints).solve(solver=cp.CLARABEL)
    value = exclusivity_objective(W.value, intercepts.value, X, y, np.full(30, lam), 1)
    assert value == pytest.approx(exact.objective, rel=1e-4)
    np.testing.assert_allclose(W.value.mean(axis=1), w, atol=1e-5)


# ---- the algorithm as printed


def augmented_lagrangian(state, X, y, cost, p, mu, Q, Z):
    """Equation (7)."""
    slack = np.maximum(0.0, y[:, np.newaxis] * state.E)
    first = state.P - state.W
    second = state.E - y[:, np.newaxis] + X @ state.P + state.b
    loss = cost @ (slack**p).sum(axis=1)
    penalties = mu / 2 * (np.sum(first**2) + np.sum(second**2))
    return exclusivity_norm(state.W) + loss + penalties + np.sum(Q * first) + np.sum(Z * second)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("mu", [0.1, 1.0, 30.0])
def test_each_printed_update_is_the_exact_minimizer(rng, p, mu):
    """(11) to (17) against (7): at its turn, no small change of a block lowers it."""
    X, y = problem(rng)
    cost = np.full(y.size, 2.0)
    inverse = np.linalg.inv(np.eye(4) + X.T @ X)
    state = printed_start(y, 4, 3, mu, rng)
    state.Z = rng.normal(size=state.Z.shape)
    Q, Z = state.Q.copy(), state.Z.copy()
    start = {name: getattr(state, name).copy() for name in "WbEP"}
    advance(state, X, y, cost, p, inverse, 1.1, 1e-12, exact_prox=False)
    assert state.mu == pytest.approx(1.1 * mu)
    end = {name: getattr(state, name).copy() for name in "WbEP"}
    for moved, later in (("W", "bEP"), ("b", "EP"), ("E", "P"), ("P", "")):
        for name in "WbEP":  # the moment at which this block was minimized: earlier ones new, later ones old
            setattr(state, name, start[name] if name in later else end[name])
        best = augmented_lagrangian(state, X, y, cost, p, mu, Q, Z)
        for size in (1e-4, 1e-2):
            for _ in range(10):
                setattr(state, moved, end[moved] + size * rng.normal(size=end[moved].shape))
                assert augmented_lagrangian(state, X, y, cost, p, mu, Q, Z) >= best - 1e-6
    np.testing.assert_allclose(state.Z, Z + mu * (end["E"] - y[:, None] + X @ end["P"] + end["b"]))
    np.testing.assert_allclose(state.Q, Q + mu * (end["P"] - end["W"]))


def test_reweighting_approaches_the_closed_form(rng):
    V, mu = rng.normal(size=(5, 4)), 0.7
    slow = reweight(np.ones((5, 4)), mu * V, mu, 1e-10, tol=1e-12, max_rounds=5000)
    np.testing.assert_allclose(slow, exclusivity_prox(V, 1.0 / mu), atol=1e-3)


def test_reweighting_without_epsilon_is_stuck_at_zero():
    """(10) with epsilon = 0: an entry at 0 stays there, a row of zeros is 0 / 0; the closed form works."""
    pull = np.array([[1.0, 2.0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        stuck = reweight(np.array([[0.0, 1.0]]), pull, 1.0, 0.0)
        lost = reweight(np.zeros((1, 2)), pull, 1.0, 0.0, max_rounds=1)
    assert stuck[0, 0] == 0.0
    assert np.isnan(lost).all()
    assert np.all(exclusivity_prox(pull, 0.1) > 0)


@pytest.mark.parametrize("p", [1, 2])
def test_the_printed_start_keeps_the_components_identical(rng, p):
    X, y = problem(rng)
    solution = solve_printed_alm(X, y, 2.0, 5, p)
    assert np.all(solution.w == solution.w[:, :1])
    assert np.all(solution.b == solution.b[0])
    assert solution.converged
    assert abs(solution.split_path[-1] - solution.split_path[-2]) < 0.05
    assert solution.gap >= 0


def test_a_growing_penalty_freezes_short_of_the_optimum_and_a_fixed_one_does_not(rng):
    """Against Theorem 2: the limit with rho = 1.1 is feasible but not optimal, however tight the stop."""
    X, y = problem(rng, n=80, d=10)
    options = {"tol": 0.0, "exact_prox": True}
    growing = solve_printed_alm(X, y, 4.0, 10, 1, rho=1.1, max_iter=300, **options)
    further = solve_printed_alm(X, y, 4.0, 10, 1, rho=1.1, max_iter=310, **options)
    fixed = solve_printed_alm(X, y, 4.0, 10, 1, rho=1.0, max_iter=6000, **options)
    optimum = fixed.dual_objective
    assert growing.gap > 1e-5 * optimum
    assert growing.gap == pytest.approx(further.gap, rel=1e-6)  # it has stopped moving
    assert fixed.gap < 0.1 * growing.gap


# ---- the two-block method


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("mu", [0.3, None, 10.0])
def test_two_block_method_converges_for_every_penalty_and_start(rng, p, mu):
    X, y = problem(rng)
    solution = solve_admm(X, y, 2.0, 3, p, mu=mu, rng=rng)
    exact = solve_exclusivity(X, y, 2.0, 3, p)
    assert solution.converged
    assert solution.gap >= -exact.gap
    assert solution.gap <= 1e-6 * exact.objective
    np.testing.assert_allclose(solution.w.mean(axis=1), exact.w[:, 0], atol=1e-2)
    assert solution.objective == pytest.approx(
        exclusivity_objective(solution.w, solution.b, X, y, np.full(y.size, 2.0), p)
    )


def test_weights_count_like_repeated_samples(rng):
    X, y = problem(rng)
    weight = rng.integers(1, 3, size=y.size)
    weighted = solve_admm(X, y, 1.0, 3, 2, sample_weight=weight, tol=1e-8)
    repeated = solve_exclusivity(np.repeat(X, weight, axis=0), np.repeat(y, weight), 1.0, 3, 2)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-7)


def test_rounds_that_run_out_are_admitted(rng):
    X, y = problem(rng)
    assert not solve_admm(X, y, 2.0, 3, 1, max_iter=2).converged
    printed = solve_printed_alm(X, y, 2.0, 3, 1, tol=1e-12, max_iter=5)
    assert not printed.converged
    assert printed.n_iter == len(printed.objective_path) == len(printed.split_path) == 5
