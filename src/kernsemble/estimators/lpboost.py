"""LPBoost: the l1-regularized hinge over a family of hypotheses, by column generation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kernsemble.estimators._base import TrainingData
from kernsemble.estimators._column_generation import ColumnGenerationClassifier
from kernsemble.estimators._single_fit import class_signs
from kernsemble.hypotheses.base import Oracle
from kernsemble.masters.base import Master
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.one_against_rest import one_against_rest


class LPBoost(ColumnGenerationClassifier):
    """Linear programming boosting (Demiriz, Bennett and Shawe-Taylor 2002).

    min_{w >= 0} sum_j w_j + C sum_i max(0, 1 - y_i f(x_i)) over all hypotheses of a family: problem (4) of
    shen2014, and of bi2004. Where the margin is the variable and the weights sum to one, this is the form
    with C = 1 / (nu n margin).

    Several classes are told apart by one such problem a class, each against the rest, over hypotheses that
    all share; gap and objective are sums over them.

    Parameters
    ----------
    n_rounds : int, default=100
        Largest number of rounds, and so of hypotheses.
    C : float, default=1.0
        Weight of the sum of losses.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses, as in `CGEns`.
    base_options : dict, default=None
        Options of the family.
    intercept : {"none", "free", "penalized"}, default="none"
        Whether f has an intercept, and whether its absolute value is penalized. With ``"none"`` the constant
        stump is one of the stumps.
    solver : {"sifting", "dual-simplex", "primal-simplex", "ipm"}, default="sifting"
        How the linear program is solved: by our own simplex on the samples near the margin, or, for
        comparison, by HiGHS, warm-started on problem (5), warm-started on (4), or anew by interior points.
    tol : float or None, default=1e-6
        Relative duality gap over all hypotheses at which the fit ends; it warns where ``n_rounds`` came
        first. None runs ``n_rounds`` without a warning.
    portable : bool, default=True
        Whether to fit the same ensemble on every computer and with every ``solver``: of several dual
        solutions, and a linear program seldom has only one, that of least norm prices the next hypothesis.
        It takes little longer on many features, several times as long on few.
    class_weight, random_state, warm_start, n_iter_no_change, validation_fraction, n_jobs, verbose
        As in `CGEns`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : Hypotheses
        The hypotheses, in the order found.
    weights_ : ndarray of shape ``(n_rounds_,)``, or ``(n_rounds_, n_classes)`` for several classes
        Their weights; many are 0.
    intercept_ : float, or ndarray of shape (n_classes,)
        The intercept.
    weights_path_ : list of (ndarray, float or ndarray)
        Weights and intercept after each round.
    objective_path_, gap_path_ : ndarray of shape ``(n_rounds_,)``
        Objective after each round, and duality gap over all hypotheses.
    dual_gap_ : float
        Duality gap over all hypotheses at the end, never above the objective; nan for an infinite family.
    relative_gap_ : float
        ``dual_gap_`` divided by the objective.
    dual_weights_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for several classes
        Dual weights u_i with the sign of the class, + for ``classes_[1]``, or for the class of the column,
        such that no hypothesis scores more than 1. 0 for samples without weight.
    rounds_ : list of Round
        What each round did, with its seconds in oracle and master.
    n_rounds_ : int
        Rounds that were run.
    message_ : str
        Why the fit ended.
    validation_score_ : ndarray of shape ``(n_rounds_,)``
        Accuracy on the held-out samples after each round; with ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the total weight; stumps only.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    CGEns : The squared norm: more hypotheses, and a problem that is solved faster.
    AdaBoost : Stage-wise, for far more samples.
    CGBoostClassifier : With ``norm="l1"`` the same program over columns of kernels.

    Notes
    -----
    Scaling, what X may be and probabilities: as in `CGEns`. Time grows faster than the samples: up to some
    10,000. Where C is so small that no hypothesis is worth its weight there is none, and the class of the
    largest weight is predicted.

    References
    ----------
    A. Demiriz, K. Bennett and J. Shawe-Taylor, Linear Programming Boosting via Column Generation, Machine
    Learning 46, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernsemble import LPBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> LPBoost(C=0.1, n_rounds=50, tol=None).fit(X, y).score(X, y) > 0.98
    True
    """

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        C: float = 1.0,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        intercept: str = "none",
        solver: str = "sifting",
        tol: float | None = 1e-6,
        portable: bool = True,
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
        self.intercept = intercept
        self.solver = solver
        self.tol = tol
        self.portable = portable
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _master(self, data: TrainingData) -> Master:
        make = partial(
            HingeLP,
            C=self.C,
            sample_weight=data.weight,
            intercept=self.intercept,
            solver=self.solver,
            least_norm=self.portable,
        )
        return one_against_rest(make, class_signs(data.labels, data.n_classes))
