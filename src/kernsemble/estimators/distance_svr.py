r"""Regression with distance kernels: additive splines, or splines over projections, without a kernel matrix.

``min_{w,b} 1/2 ||w||^2 + C sum_i loss(y_i - f(x_i))`` with the stump kernel ``-||x - z||_1`` of linli2005, or
the perceptron kernel ``-||x - z||_2`` as a mean over directions (see `distance_svc`). The loss is the tube
``max(0, |r| - epsilon)`` or ``r^2``; the solver is that of `masters.splines`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernsemble.estimators._base import CheckedInput, check_positive, check_weights
from kernsemble.estimators._splines import AdditiveModel, solve_machines
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.base import label
from kernsemble.hypotheses.knots import MOST
from kernsemble.masters.base import relative
from kernsemble.masters.losses import BoxLoss

_EQUAL = 1e-14  # relative difference of values that is rounding


class DistanceKernelSVR(AdditiveModel, RegressorMixin, CheckedInput):
    """Support vector regression with the stump or the perceptron kernel, for any number of samples.

    Parameters
    ----------
    kernel : {"stump", "perceptron"}, default="stump"
        The kernel ``-||x - z||_1``, or ``-||x - z||_2`` as the mean over ``n_directions`` directions.
    C : float, default=1.0
        Weight of the sum of losses.
    loss : {"epsilon_insensitive", "squared_error"}, default="epsilon_insensitive"
        ``max(0, |r| - epsilon)`` or ``r^2``.
    epsilon : float, default=0.1
        Half width of the tube.
    max_knots : int or None, default=65536
        A feature with more distinct values is rounded to so many; None rounds nothing.
    n_directions : int, default=256
        Directions that stand for the perceptron kernel.
    tol : float, default=1e-3
        Duality gap, in units of the objective, at which to stop.
    max_iter : int, default=1000
        Most Newton steps.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    random_state : int, RandomState or None, default=None
        Turns the directions.

    Attributes
    ----------
    shape_functions_ : list of ShapeFunction
        With the stump kernel: for each feature ``knots`` (n_knots,) and ``values`` (n_knots, 1), linear
        between the knots and constant beyond. Predictions are their sum and ``intercept_``.
    feature_importances_ : ndarray of shape (n_features,)
        With the stump kernel: share of each feature in the total variation of the shape functions.
    intercept_ : float
        Weighted mean of the predictions of the training samples.
    objective_ : float
        Primal objective.
    dual_gap_, relative_gap_ : float
        Duality gap, and that in units of the objective.
    n_iter_ : int
        Newton steps.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    DistanceKernelSVC : The same for classes.
    CGBoostRegressor : Several kernels at once.
    ShapeDisplay : Draws the shape functions.
    sklearn.svm.SVR : The same problem for other kernels.

    Notes
    -----
    Scaling, what X may be, time and memory: as of `DistanceKernelSVC` solved by splines.

    References
    ----------
    Lin and Li, Novel Distance-Based SVM Kernels for Infinite Ensemble Learning, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble import DistanceKernelSVR
    >>> X = np.linspace(0.0, 6.0, 200)[:, None]
    >>> DistanceKernelSVR(C=10.0).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.98
    True
    """

    def __init__(
        self,
        kernel: str = "stump",
        *,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        max_knots: int | None = MOST,
        n_directions: int = 256,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.max_knots = max_knots
        self.n_directions = n_directions
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @in_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DistanceKernelSVR:
        """Fit to samples X (n, d) with values y (n,); ``sample_weight`` (n,) multiplies each sample's C."""
        self._check_parameters()
        X, y = self._validated(X, y, y_numeric=True)
        weight = check_weights(sample_weight, len(X))
        check_consistent_length(X, y, weight)
        X, y, weight = X[weight > 0], y[weight > 0].astype(np.float64), weight[weight > 0]
        offset = float(np.average(y, weights=weight))  # no digits are lost to it
        y = np.where(np.abs(y - offset) > _EQUAL * abs(offset), y - offset, 0.0)
        rows = self._code(X, self.n_directions if self.kernel == "perceptron" else None)
        if self.loss == "squared_error":
            loss = BoxLoss.least_squares(y, 2.0 * self.C * weight)
        else:
            loss = BoxLoss.tube(y, self.C * weight, float(self.epsilon))
        solved = solve_machines(rows, [(loss, None)], weight, self.tol, self.max_iter)
        (solution,), self._shapes, (intercept,) = solved
        self.intercept_ = float(intercept) + offset
        solution.warn_unless_converged(label(self))
        self.objective_, self.dual_gap_ = solution.objective, solution.gap
        self.relative_gap_ = relative(max(solution.gap, 0.0), solution.objective)
        self.n_iter_ = max(1, solution.n_iter)
        return self

    @in_threads
    def predict(self, X: Any) -> np.ndarray:
        """Return predicted values (n,)."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._shapes.decision(self._columns(X))[:, 0] + self.intercept_

    def _check_parameters(self) -> None:
        """Refuse what makes no sense."""
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_scalar(self.epsilon, "epsilon", (int, float, np.number), min_val=0)
        check_scalar(self.max_iter, "max_iter", (int, np.integer), min_val=1)
        check_scalar(self.n_directions, "n_directions", (int, np.integer), min_val=1)
        if self.max_knots is not None:
            check_scalar(self.max_knots, "max_knots", (int, np.integer), min_val=2)
        if self.kernel not in ("stump", "perceptron"):
            raise ValueError(f"kernel must be 'stump' or 'perceptron', got {self.kernel!r}.")
        if self.loss not in ("epsilon_insensitive", "squared_error"):
            raise ValueError(f"loss must be 'epsilon_insensitive' or 'squared_error', got {self.loss!r}.")
