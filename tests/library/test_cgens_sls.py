"""CGEnsSLS: the estimator around the simplex least-squares master."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernsemble import CGEnsSLS


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # checks fit noise
@parametrize_with_checks([CGEnsSLS(n_rounds=20)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_last_stage_is_the_fit_and_objectives_fall(iris):
    X, y = iris
    model = CGEnsSLS(C=1.0, n_rounds=30, tol=None).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_rounds_
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-9)
    assert (np.diff(model.objective_path_) <= 1e-9).all()
    assert model.score(X, y) > 0.95


def test_weights_solve_the_ridge_problem_on_the_chosen_columns(iris):
    """A judge that knows nothing of column generation: ridge regression onto the simplex codes."""
    from sklearn.linear_model import Ridge

    X, y = iris
    model = CGEnsSLS(C=0.5, n_rounds=10, tol=None).fit(X, y)
    H = model.hypotheses_.outputs(X).astype(float)
    scores = model.decision_function(X)
    codes = np.eye(3) - 1 / 3
    codes *= np.sqrt(1.5)  # three unit vectors with inner products -1/2, in the plane that sums to zero
    labels = np.searchsorted(model.classes_, y)
    ridge = Ridge(alpha=1 / 0.5, tol=1e-12).fit(H, codes[labels])
    np.testing.assert_allclose(scores, ridge.predict(H) @ codes.T, atol=1e-7)
