"""CGENS-SLS: ensembles by least squares on simplex codes (shen2014, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kernsemble.column_generation import ColumnGeneration
from kernsemble.estimators._base import TrainingData
from kernsemble.estimators._column_generation import ColumnGenerationClassifier
from kernsemble.hypotheses.base import Oracle
from kernsemble.masters.base import Master
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares, simplex_codes

LARGEST_COST = 1e15  # beside the penalty's 1, of which rounding then leaves a digit


class CGEnsSLS(ColumnGenerationClassifier):
    """l2-regularized least squares on simplex codes over all hypotheses of a family, for several classes.

    The K classes are the vertices of a regular simplex in R^(K-1), and K - 1 functions are fitted to them at
    once. Every round adds the hypothesis with the largest score over all functions and solves for all weights
    anew, which takes an update of one row. Run to the end it is least squares with the kernel
    sum_h h(x) h(x').

    Parameters
    ----------
    n_rounds : int, default=500
        Largest number of rounds, and so of hypotheses.
    C : float, default=0.01
        Weight of the SUM of squares, as in `CGEns`. With -1/+1 hypotheses useful values are small, 2**-12
        to 1.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses, as in `CGEns`.
    base_options : dict, default=None
        Options of the family.
    tol : float or None, default=1e-2
        Relative duality gap over all hypotheses at which the fit ends; it warns where ``n_rounds`` came
        first. None runs ``n_rounds`` without a warning.
    class_weight, random_state, warm_start, n_iter_no_change, validation_fraction, n_jobs, verbose
        As in `CGEns`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : Hypotheses
        The hypotheses, in the order found.
    weights_ : ndarray of shape ``(n_rounds_, n_classes)``, or ``(n_rounds_,)`` for two classes
        Weights of the inner products of f with the codes, by which (15) classifies.
    intercept_ : ndarray of shape (n_classes,), or float for two classes
        Intercepts of the same.
    weights_path_ : list of (ndarray, ndarray or float)
        Both after each round.
    objective_path_, gap_path_ : ndarray of shape ``(n_rounds_,)``
        Objective after each round, and duality gap over all hypotheses (nan where it was not computed).
    dual_gap_ : float
        Duality gap over all hypotheses at the end, never above the objective; nan for an infinite family.
    relative_gap_ : float
        ``dual_gap_`` divided by the objective.
    dual_weights_ : ndarray of shape (n_samples, n_classes - 1)
        Dual weights U, signed as the codes of the classes are. 0 for samples without weight.
    rounds_ : list of Round
        What each round did, with its seconds in oracle and master.
    n_rounds_ : int
        Rounds that were run.
    message_ : str
        Why the fit ended.
    validation_score_ : ndarray of shape ``(n_rounds_,)``
        Accuracy on the held-out samples after each round; with ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the total absolute weight; stumps only.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    CGEns : The hinge, one problem a class.
    MultiBoost : The exponential loss of pairs of classes, with probabilities.
    sklearn.linear_model.RidgeClassifier : Least squares on the features themselves.

    Notes
    -----
    Scaling, what X may be, time, memory and probabilities: as in `CGEns`.

    References
    ----------
    C. Shen and F. Liu, From Kernel Machines to Ensemble Learning, 2014, Section V.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import CGEnsSLS
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CGEnsSLS().fit(X, y)
    >>> model.score(X, y) > 0.95, model.relative_gap_ <= 1e-2
    (True, True)
    """

    intercept = "free"  # part of the problem: constant hypotheses are superfluous

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        C: float = 0.01,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        tol: float | None = 1e-2,
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        self.n_rounds = n_rounds
        self.C = C
        self.base = base
        self.base_options = base_options
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _master(self, data: TrainingData) -> Master:
        largest = self.C * float(data.weight.max())
        if not largest <= LARGEST_COST:
            raise ValueError(
                f"C times sample_weight is up to {largest:.3g}, and more than {LARGEST_COST:g} drowns the "
                "penalty in rounding: lower C, or scale the weights."
            )
        return SimplexLeastSquares(data.labels, self.C, sample_weight=data.weight)

    def _keep(self, oracle: Oracle, result: ColumnGeneration) -> None:
        super()._keep(oracle, result)
        codes = simplex_codes(len(self.classes_)).T
        # Two classes have the codes 1 and -1: one score, positive for the second class.
        to_scores = codes if codes.shape[1] > 2 else codes[0, 1]
        self.weights_path_ = [self._as_scores(w, b, to_scores) for w, b in self.weights_path_]
        self.weights_, self.intercept_ = self._as_scores(self.weights_, self.intercept_, to_scores)

    @staticmethod
    def _as_scores(w, b, to_scores):
        """Weights and intercepts of the scores, from those of f."""
        if to_scores.ndim == 0:
            return w[:, 0] * to_scores, float(b[0] * to_scores)
        return w @ to_scores, b @ to_scores
