"""CGEnsSLS: the estimator around the simplex least-squares master."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from kernsemble import CGEnsSLS


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


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
