import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernsemble import LPBoost


@pytest.mark.parametrize("solver", ["dual-simplex", "primal-simplex", "ipm"])
def test_run_to_the_end_every_solver_finds_the_optimum(cancer, solver):
    X, y = cancer
    model = LPBoost(C=0.05, n_rounds=500, solver=solver).fit(X, y)
    reference = LPBoost(C=0.05, n_rounds=500).fit(X, y)
    assert model.dual_gap_ <= 2e-6 * model.objective_path_[-1]
    assert model.objective_path_[-1] == pytest.approx(reference.objective_path_[-1], rel=1e-5)
    assert (model.weights_ >= 0).all()
    assert model.score(X, y) > 0.97


def test_objective_is_that_of_the_ensemble(cancer):
    X, y = cancer
    model = LPBoost(C=0.05, n_rounds=40, tol=None).fit(X, y)
    slack = np.maximum(1 - np.where(y == "malignant", 1, -1) * model.decision_function(X), 0)
    assert model.objective_path_[-1] == pytest.approx(model.weights_.sum() + 0.05 * slack.sum(), rel=1e-9)
    assert (np.diff(model.objective_path_) <= 1e-9).all()
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
def test_any_cost_gets_a_true_certificate(cancer, C, intercept):
    """The optimum over all stumps, found by HiGHS at a harmless C, bounds every certificate."""
    X, y = cancer
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LPBoost(C=C, n_rounds=200, intercept=intercept).fit(X, y)
    signs = np.where(y == "malignant", 1, -1)
    slack = np.maximum(1 - signs * model.decision_function(X), 0).sum()
    cost = abs(model.intercept_) if intercept == "penalized" else 0.0
    objective = model.weights_.sum() + cost + C * slack
    if model.n_rounds_:
        assert model.objective_path_[-1] == pytest.approx(objective, rel=1e-9 + 1e-15 * C)
    assert -1e-12 * objective <= model.dual_gap_ <= objective * (1 + 1e-12 + 1e-15 * C)
    if C >= 10:  # the classes can be separated: the optimum does not depend on C
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            optimum = LPBoost(C=10.0, n_rounds=400, intercept=intercept, solver="dual-simplex").fit(X, y)
        bound = model.objective_path_[-1] - model.dual_gap_  # C times a slack's rounding cancels in it
        assert bound <= optimum.objective_path_[-1] * (1 + 1e-9)
        assert objective >= (optimum.objective_path_[-1] - optimum.dual_gap_) * (1 - 1e-9)


def test_copies_and_weights_reach_the_same_objective(cancer, rng):
    X, y = cancer
    counts = rng.integers(0, 3, len(y))
    weighted = LPBoost(C=0.05, n_rounds=500).fit(X, y, sample_weight=counts)
    copied = LPBoost(C=0.05, n_rounds=500).fit(np.repeat(X.to_numpy(), counts, axis=0), np.repeat(y, counts))
    assert weighted.objective_path_[-1] == pytest.approx(copied.objective_path_[-1], rel=1e-5)
