"""The exponential master's metric: the Hessian of the pairs, and the model that it minimizes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from support.exponential_problems import filled_state, pairs

from kernsemble.masters import exponential_solvers
from kernsemble.masters.exponential_solvers import ExponentialState, ReferenceMetric


def slow_hessian(state, w, variables):
    """Hessian of the loss by its definition over pairs, scaled to a unit diagonal."""
    labels = np.repeat(np.arange(state.n_classes), np.diff(state.starts))
    H = state.columns[state.column_of[variables]].T
    D, i, y = pairs(labels, H, state.class_of[variables], state.n_classes)
    weights = -state.V[y, i]
    full = D.T @ (weights[:, None] * D)
    scale = 1 / np.sqrt(np.diag(full))
    return full * scale[:, None] * scale


@pytest.mark.parametrize("extended", [0, 5])
def test_the_metric_is_the_hessian_of_the_pairs(rng, extended):
    state, variables, *_ = filled_state(rng, (30, 4, 4))
    state.coordinate_pass(variables)
    metric = ReferenceMetric()
    assert len(metric.missing(variables, len(variables))) == len(variables)
    metric.rebuild(state, variables[: len(variables) - extended])
    metric.extend(state, metric.missing(variables, len(variables)))
    n = len(variables)
    L = np.tril(metric._factor[:n, :n]).astype(float)
    expected = slow_hessian(state, state.w, metric.variables) + 1e-4 * np.eye(n)
    np.testing.assert_allclose(L @ L.T, expected, atol=2e-6)


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
