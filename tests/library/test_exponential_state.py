"""The exponential master's state: the exact step, and moves that keep what they carry exact."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from support.exponential_problems import filled_state

from kernsemble.masters.exponential_solvers import exact_step


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
