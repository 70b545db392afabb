from dataclasses import replace

import numpy as np
import pytest
from kkt import assert_kkt
from margin_problems import SHAPES, problem, solve_along
from scipy.optimize import linprog

from kernsemble.masters.base import INTERCEPTS
from kernsemble.masters.lp import SOLVERS, HingeLP


def by_linprog(H, y, C, weight, intercept, positive):
    """Optimal value of problem (4), written out."""
    A = y[:, None] * H.astype(float)
    parts, costs = [A], [np.ones(H.shape[1])]
    if not positive:
        parts, costs = [A, -A], costs * 2
    if intercept != "none":
        parts += [y[:, None], -y[:, None]]
        costs.append(np.full(2, float(intercept == "penalized")))
    parts.append(np.eye(len(y)))
    costs.append(C * (np.ones(len(y)) if weight is None else weight))
    return linprog(np.concatenate(costs), A_ub=-np.hstack(parts), b_ub=-np.ones(len(y))).fun


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_kkt_and_linprog(shape, intercept, positive, solver):
    for seed in range(3):
        kind = "reals" if seed == 1 else "signs"
        H, y, weight = problem(seed, shape, kind, weighted=seed == 2)
        C = (0.05, 0.3, 1.0)[seed]
        settings = {"sample_weight": weight, "intercept": intercept, "positive": positive}
        solution = solve_along(HingeLP(y, C, solver=solver, **settings), H)
        assert solution.converged
        expected = by_linprog(H, y, C, weight, intercept, positive)
        assert solution.objective == pytest.approx(expected, rel=1e-6)
        if intercept == "penalized":  # |b| is one more weight, of a constant column
            H = np.column_stack([np.ones(len(y)), H])
            solution = with_intercept_as_weight(solution)
        assert_kkt(
            H, y, solution, loss="hinge", penalty="l1", C=C, sample_weight=weight,
            intercept="free" if intercept == "free" else "none",
            nonnegative=positive and intercept != "penalized", tol=1e-5,
        )  # fmt: skip


def with_intercept_as_weight(solution):
    return replace(solution, w=np.append(solution.b, solution.w), b=0.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_dual_point_is_feasible_at_every_round(solver, rng):
    H, y, _ = problem(int(rng.integers(100)), "wide")
    master = HingeLP(y, 0.4, intercept="free", solver=solver)
    for column in H.T:
        master.add(column)
        solution = master.solve()
        scores = (y * solution.u) @ H[:, : len(solution.w)]
        assert scores.max() <= 1 + 1e-12
        assert abs(y @ solution.u) < 1e-12
        assert (solution.u >= 0).all()
        assert (solution.u <= 0.4).all()
        assert -1e-10 <= solution.gap <= 1e-6


def test_full_gap_bounds_the_problem_over_all_columns(rng):
    H, y, _ = problem(int(rng.integers(100)), "long")
    optimum = by_linprog(H, y, 0.3, None, "none", True)
    master = HingeLP(y, 0.3)
    for column in H.T:
        master.add(column)
        solution = master.solve()
        gap = master.full_gap(float((H.T @ master.pricing_weights()).max()))
        assert solution.objective - gap <= optimum + 1e-9
        assert solution.objective >= optimum - 1e-9
    assert gap == pytest.approx(0.0, abs=1e-8)


def test_known_optimum():
    """One perfect column and its negative: all weight 1 on the first."""
    y = np.array([1.0, -1.0, 1.0])
    solution = solve_along(HingeLP(y, 1.0), np.column_stack([y, -y]).astype(np.int8))
    np.testing.assert_allclose(solution.w, [1.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(solution.u.sum(), 1.0, atol=1e-9)


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
    with pytest.raises(ValueError, match="intercept='maybe'"):
        HingeLP(np.ones(2), intercept="maybe")
