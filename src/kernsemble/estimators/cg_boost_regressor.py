r"""CG-Boost (bi2004, section 4.3) for values: the epsilon-insensitive loss over a mixture of kernels.

The problem is (13), or its l1 form, or its nu form; columns are priced with u_i - v_i as in (14). The rest is
as in `cg_boost`.

bi2004 symbols: alpha = ``weights_``, b = ``intercept_``, S = ``kernels``, T = ``n_rounds``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from kernsemble.estimators._base import at_rows, check_weights
from kernsemble.estimators._cg_boost import (
    CGBoostBase,
    Library,
    Validation,
    refuse_weights,
)
from kernsemble.estimators._rounds import split_validation
from kernsemble.estimators._watching import seen_by_callbacks
from kernsemble.hypotheses._threads import in_threads
from kernsemble.masters.base import Master
from kernsemble.masters.lp import EpsilonInsensitiveLP
from kernsemble.masters.quadratic import EpsilonInsensitive, NuTube


class CGBoostRegressor(RegressorMixin, CGBoostBase):
    """CG-Boost for values: the epsilon-insensitive loss over a mixture of kernels, problem (13).

    Parameters
    ----------
    kernels, C, norm, positive, intercept, stratified, n_rounds, tol, tau, max_centers, portable, \
random_state, warm_start, n_jobs, verbose
        As in `CGBoostClassifier`.
    epsilon : float, default=0.1
        Half width of the tube within which errors are free.
    termination : {"TR1", "TR2", "TR3", "TR4"}, default="TR4"
        As in `CGBoostClassifier`; TR3 watches the mean squared error.
    nu : float, default=None
        Solve the nu form: the tube is found such that at most this share of samples lies outside
        (l2, free intercept).
    validation_fraction, patience
        As in `CGBoostClassifier`.

    Attributes
    ----------
    epsilon_ : float
        The tube: ``epsilon``, or what the nu form found.
    hypotheses_, weights_, intercept_, n_rounds_, best_round_, message_, kernels_, n_columns_, \
kernel_weights_, n_kernel_evaluations_, dual_gap_, relative_gap_, dual_weights_, objective_path_, gap_path_, \
columns_scanned_path_, oracle_seconds_path_, master_seconds_path_, validation_path_, termination_rounds_, \
weights_path_, n_features_in_, feature_names_in_
        As in `CGBoostClassifier`.

    See Also
    --------
    CGBoostClassifier : The same for classes.
    DistanceKernelSVR : One kernel without a parameter, for any number of samples.
    sklearn.svm.SVR : One kernel, in the norm of its own space.

    Notes
    -----
    Scaling, what X may be, time and memory: as in `CGBoostClassifier`.

    References
    ----------
    Bi, Zhang and Bennett, Column-Generation Boosting Methods for Mixture of Kernels, KDD 2004, section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble import CGBoostRegressor
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = 2 * X[:, 0] + np.exp(-20 * X[:, 0] ** 2)
    >>> model = CGBoostRegressor(["linear", "rbf"], C=100.0, epsilon=0.05, tol=None).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        kernels: Library = ("linear", "quadratic", "rbf"),
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        norm: str = "l2",
        positive: bool = False,
        intercept: str = "free",
        stratified: bool | str = "levels",
        termination: str = "TR4",
        n_rounds: int = 100,
        tol: float | None = 1e-3,
        tau: float = 1e-6,
        nu: float | None = None,
        validation_fraction: float = 0.25,
        patience: int = 20,
        max_centers: int | None = None,
        portable: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.norm = norm
        self.positive = positive
        self.intercept = intercept
        self.stratified = stratified
        self.termination = termination
        self.n_rounds = n_rounds
        self.tol = tol
        self.tau = tau
        self.nu = nu
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.max_centers = max_centers
        self.portable = portable
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @in_threads
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> CGBoostRegressor:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Values.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies the losses.
        X_val, y_val : array-like, optional
            Validation data that the rounds are watched on.

        Returns
        -------
        self : CGBoostRegressor
            The fitted estimator.
        """
        self._check_parameters()
        told = seen_by_callbacks(X, y, sample_weight)
        X, y = self._validated(X, y, y_numeric=True)
        y, weight = y.astype(np.float64), check_weights(sample_weight, len(y))
        check_consistent_length(X, weight)
        X, y, positive = X[weight > 0], y[weight > 0], weight[weight > 0]
        kept, validation = self._with_validation(X, y, X_val, y_val)
        master, bound = self._master(y[kept], positive[kept])
        _, master = self._run((X, y, positive), X[kept], master, bound, validation, told)
        self.dual_weights_ = at_rows(self.dual_weights_, weight > 0, kept)
        self.epsilon_ = master.tube_ if self.nu is not None else float(self.epsilon)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return predicted values, (n_samples,)."""
        return self._scores(X)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield predicted values after each round."""
        check_is_fitted(self)
        H = self.hypotheses_.outputs(self._validated(X, reset=False))
        H = np.asfortranarray(H)
        for w, b in self.weights_path_:
            yield H[:, : len(w)] @ w + b

    def _master(self, y: np.ndarray, weight: np.ndarray) -> tuple[Master, np.ndarray]:
        """Master, and the bounds of its dual weights."""
        options = {"positive": self.positive, "tol": self._master_tol()}
        if self.nu is not None:
            refuse_weights(weight)
            return NuTube(y, self.C, self.nu, **options), self.C * weight
        kind = EpsilonInsensitive if self.norm == "l2" else EpsilonInsensitiveLP
        epsilon = float(self.epsilon)
        master = kind(y, self.C, epsilon, sample_weight=weight, intercept=self.intercept, **options)
        return master, self.C * weight

    def _with_validation(self, X: np.ndarray, y: np.ndarray, X_val: Any, y_val: Any):
        """Return which rows to train on, and the validation data if any."""
        if X_val is not None:
            X_val = self._check_validation(X_val, y_val)
            return slice(None), Validation(X_val, _mean_squared_error(np.asarray(y_val, dtype=float)))
        if self.termination != "TR3":
            return slice(None), None
        kept, held = split_validation(len(X), self.validation_fraction, self.random_state)
        return kept, Validation(X[held], _mean_squared_error(y[held]))


def _mean_squared_error(y: np.ndarray) -> Callable[[np.ndarray], float]:
    return lambda scores: float(np.mean(np.square(y - scores)))
