r"""CG-Boost for novelty detection: the one-class problem over a mixture of kernels.

bi2004 says (section 4) that the approach applies; `masters.quadratic` writes the problem down. The rest is as
in `cg_boost`.

bi2004 symbols: alpha = ``weights_``, S = ``kernels``, T = ``n_rounds``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.exceptions import ConvergenceWarning

from kernsemble.estimators._base import at_rows, check_weights
from kernsemble.estimators._cg_boost import CGBoostBase, Library
from kernsemble.estimators._watching import seen_by_callbacks
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.masters.base import relative
from kernsemble.masters.quadratic import NuNovelty


class CGBoostNovelty(OutlierMixin, CGBoostBase):
    """Novelty detection by CG-Boost: the one-class problem over a mixture of kernels.

    Parameters
    ----------
    kernels, positive, stratified, n_rounds, tol, tau, max_centers, portable, random_state, warm_start, \
n_jobs, verbose
        As in `CGBoostClassifier`; ``positive`` is true by default, f then rises towards the training data.
    nu : float, default=0.1
        Bound on the share of training samples outside.

    Attributes
    ----------
    offset_ : float
        The margin: scores below it are novel.
    hypotheses_, weights_, intercept_, n_rounds_, message_, kernels_, n_columns_, kernel_weights_, \
n_kernel_evaluations_, dual_gap_, relative_gap_, dual_weights_, objective_path_, gap_path_, \
columns_scanned_path_, weights_path_, n_features_in_, feature_names_in_
        As in `CGBoostClassifier`. The dual weights are not negative and sum to 1, so the gap of a few rounds
        may exceed the objective; it is that of ``offset_``, the best margin of the weights.

    See Also
    --------
    CGBoostClassifier : The same columns for classes.
    sklearn.svm.OneClassSVM : One kernel, in the norm of its own space.
    sklearn.ensemble.IsolationForest : Trees, for far more samples.

    Notes
    -----
    Scaling, what X may be, time and memory: as in `CGBoostClassifier`.

    References
    ----------
    Bi, Zhang and Bennett, Column-Generation Boosting Methods for Mixture of Kernels, KDD 2004, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble import CGBoostNovelty
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> CGBoostNovelty().fit(X).predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    norm, intercept = "l2", "free"

    def __init__(
        self,
        kernels: Library = ("rbf",),
        *,
        nu: float = 0.1,
        positive: bool = True,
        stratified: bool | str = "levels",
        n_rounds: int = 100,
        tol: float | None = 1e-3,
        tau: float = 1e-6,
        max_centers: int | None = None,
        portable: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.nu = nu
        self.positive = positive
        self.stratified = stratified
        self.n_rounds = n_rounds
        self.tol = tol
        self.tau = tau
        self.max_centers = max_centers
        self.portable = portable
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @in_threads
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> CGBoostNovelty:
        """Fit the ensemble to X; y is ignored.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples that are not novel.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Share of each sample in the total: those outside may have the share nu.

        Returns
        -------
        self : CGBoostNovelty
            The fitted estimator.
        """
        self._check_parameters()
        told = seen_by_callbacks(X, y, sample_weight)
        X = self._validated(X)
        weight = check_weights(sample_weight, len(X))
        used, positive = X[weight > 0], weight[weight > 0]
        options = {"positive": self.positive, "tol": self._master_tol()}
        master = NuNovelty(len(used), self.nu, sample_weight=positive, **options)
        bound = positive / (self.nu * positive.sum())
        oracle, master = self._run((used, positive), used, master, bound, None, told)
        self.offset_, objective = _best_margin(self._scores(used), bound)
        V = _feasible(master.pricing_weights(), bound)
        self._certify(oracle, V, used, objective + 0.5 * float(self.weights_ @ self.weights_))
        self.dual_weights_ = at_rows(self.dual_weights_, weight > 0)
        return self

    def _certify(self, oracle: KernelColumns, V: np.ndarray, X: np.ndarray, objective: float) -> None:
        """Gap between the objective and that of the dual weights V."""
        scores = V @ self.hypotheses_.outputs(X)
        scores = np.maximum(scores, 0.0) if self.positive else scores
        dual = -0.5 * (float(scores @ scores) + oracle.sum_of_squares(V))
        self.dual_weights_, self.dual_gap_ = V, max(objective - dual, 0.0)
        self.relative_gap_ = relative(self.dual_gap_, objective)
        if self.n_rounds_:
            self.objective_path_[-1], self.gap_path_[-1] = objective, self.dual_gap_

    def score_samples(self, X: Any) -> np.ndarray:
        """Return scores, large where the training data is."""
        return self._scores(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return ``score_samples(X) - offset_``, negative for novel samples."""
        return self._scores(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Return 1 for known samples and -1 for novel ones."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)


def _feasible(V: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Return the dual weights within their bounds and with sum 1, from which rounding keeps the master."""
    total = float(V.sum())
    if not abs(total - 1.0) < 1e-3:
        warnings.warn(
            f"CGBoostNovelty: the dual weights sum to {total:.3g}, not to 1: kernel values this large leave "
            "them too few digits. Scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
    V = np.minimum(V / total if total > 0.0 else 0.0, bound)
    missing, room = 1.0 - float(V.sum()), bound - V
    return V + room * (missing / room.sum()) if missing > 1e-9 else V


def _best_margin(scores: np.ndarray, bound: np.ndarray) -> tuple[float, float]:
    """Return the least r that minimizes ``-r + sum_i bound_i max(0, r - score_i)``, and the minimum."""
    order = np.argsort(scores, kind="stable")
    i = int(np.searchsorted(np.cumsum(bound[order]), 1.0 - 1e-12))
    r = float(scores[order[min(i, len(scores) - 1)]])
    return r, float(bound @ np.maximum(r - scores, 0.0)) - r
