"""The Exclusivity Regularized Machine as a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from kernsemble import ExRM
from kernsemble.masters.psvm import solve_psvm


def noisy(rng, n=60, d=4):
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "yes", "no")


@pytest.mark.parametrize("p", [1, 2])
def test_the_ensemble_is_one_machine_with_a_smaller_lambda(rng, p):
    X, y = noisy(rng)
    model = ExRM(5, lam=2.0, p=p).fit(X, y)
    machine = solve_psvm(X, np.where(y == "yes", 1.0, -1.0), 0.4, p)
    np.testing.assert_allclose(model.coef_[0], machine.w, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), X @ machine.w + machine.b, atol=1e-6)
    assert model.objective_[0] == pytest.approx(25 * machine.objective)
    assert model.exclusivity_[0] == pytest.approx(1.0)  # equal components: no diversity at all


@pytest.mark.parametrize("start", ["printed", "random"])
def test_the_three_solvers_agree_within_their_gaps(rng, start):
    X, y = noisy(rng)
    exact = ExRM(4).fit(X, y)
    for solver, gap in (("admm", 1e-6), ("printed", 1e-2)):
        model = ExRM(4, solver=solver, start=start, random_state=0).fit(X, y)
        excess = model.objective_[0] - exact.objective_[0]
        assert excess == pytest.approx(model.dual_gap_, abs=1e-6)
        assert excess <= gap * exact.objective_[0]
        np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.1)
        assert len(model.objective_path_[0]) == len(model.split_path_[0]) == model.n_iter_


def test_ensemble_is_the_mean_of_its_components(rng):
    X, y = noisy(rng)
    model = ExRM(4, p=1, solver="printed", start="random", random_state=0).fit(X, y)
    scores = model.component_decision_function(X)
    assert scores.shape == (60, 4)
    assert np.ptp(scores, axis=1).max() > 1e-3  # the random start leaves some diversity
    np.testing.assert_allclose(scores.mean(axis=1), model.decision_function(X))
    again = ExRM(4, p=1, solver="printed", start="random", random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.components_, model.components_)


def test_several_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    model = ExRM(3).fit(X, y)
    rest = OneVsRestClassifier(ExRM(3)).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), rest.decision_function(X), atol=1e-6)
    assert model.component_decision_function(X).shape == (150, 3, 3)


def test_iterations_that_run_out_warn_with_the_gap(rng):
    X, y = noisy(rng)
    with pytest.warns(ConvergenceWarning, match="gap"):
        ExRM(3, solver="admm", p=1, max_iter=2).fit(X, y)
