"""CGENS: ensembles that solve a support vector machine's own problem (shen2014, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from kernsemble.estimators._base import TrainingData
from kernsemble.estimators._column_generation import ColumnGenerationClassifier
from kernsemble.estimators._single_fit import class_signs
from kernsemble.hypotheses.base import Oracle
from kernsemble.masters.base import Master, relative
from kernsemble.masters.one_against_rest import one_against_rest
from kernsemble.masters.quadratic import Hinge, SquaredHinge

_LOSSES = ("hinge", "squared_hinge")
_TOL = 1e-3  # what tol=None solves the restricted problems by
_BEYOND = 1e-12  # what margins without loss exceed 1 by, which is more than their rounding
_LARGE = 1e4  # loss at 0, in units of the objective, beyond which the rounding of margins may count
_SHARE = 0.5  # of tol that a restricted problem may use up


class CGEns(ColumnGenerationClassifier):
    """l2-regularized hinge over all hypotheses of a family, solved by column generation.

    Every round adds the hypothesis with the largest score ``|sum_i u_i y_i h(x_i)|``, u the dual weights of
    the support vector machine over the hypotheses found so far, and solves that machine anew. Run to the end
    it is the machine with the kernel sum_h h(x) h(x'), certified by its duality gap.

    Several classes are told apart by one such problem a class, each against the rest, over hypotheses that
    all share; gap and objective are sums over them. `CGEnsSLS` solves one problem for all classes, faster.

    Parameters
    ----------
    n_rounds : int, default=500
        Largest number of rounds, and so of hypotheses.
    C : float, default=0.01
        Weight of the SUM of losses: for that of their mean, divide by the number of samples. With -1/+1
        hypotheses useful values are small, 2**-10 to 1; large ones follow the noise, and take longer.
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable, default="stump"
        Family of hypotheses: all decision stumps; perceptrons by random coordinate descent; a sampled pool
        of perceptrons, or of Fourier cosines. A callable ``base(X, random_state=..., **base_options)``
        returns an oracle.
    base_options : dict, default=None
        Options of the family, for instance ``{"n_hypotheses": 500}``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample: max(0, 1 - y f(x)) or its square. Of several classes that overlap so much that none
        is ever the majority, the hinge leaves most without a hypothesis: take the square.
    intercept : {"free", "penalized", "none"}, default="free"
        Whether f has an intercept: unpenalized as in equation (1), penalized as in LIBLINEAR, or none.
        Constant stumps are candidates only without one.
    tol : float or None, default=1e-2
        Relative duality gap. Each restricted problem is solved to half of it; the fit ends when the problem
        over all hypotheses meets it, and warns where ``n_rounds`` came first. Features of many values have
        as many stumps, and most have a weight at the optimum. None runs ``n_rounds`` without a warning.
    portable : bool, default=True
        Whether to fit the same ensemble on every computer. Restricted problems are then solved to the end,
        and where the hinge has several dual solutions the one of least norm prices the next hypothesis; it
        takes up to twice as long with tens of thousands of rows. The squared hinge has only one.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, Generator, RandomState or None, default=None
        What random families draw with.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last fit, of the same data: more rounds are those of one long fit.
    n_iter_no_change : int or None, default=None
        End when so many rounds have not improved the accuracy on held-out samples; None holds none out.
    validation_fraction : float, default=0.1
        Share of each class that is held out, drawn by ``random_state``.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Draw a progress bar; 2 leaves it there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : Hypotheses
        The hypotheses, in the order found.
    weights_ : ndarray of shape ``(n_rounds_,)``, or ``(n_rounds_, n_classes)`` for several classes
        Their weights.
    intercept_ : float, or ndarray of shape (n_classes,)
        The intercept.
    weights_path_ : list of (ndarray, float or ndarray)
        Weights and intercept after each round.
    objective_path_, gap_path_ : ndarray of shape ``(n_rounds_,)``
        Objective after each round, and duality gap over all hypotheses (nan where it was not computed).
    dual_gap_ : float
        Duality gap over all hypotheses at the end, never above the objective; nan for an infinite family.
    relative_gap_ : float
        ``dual_gap_`` divided by the objective.
    dual_weights_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for several classes
        Dual weights u_i with the sign of the class, + for ``classes_[1]``, or for the class of the column:
        feasible for all hypotheses, and of the objective that ``dual_gap_`` is measured from. 0 for samples
        without weight.
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
    CGEnsSLS : Least squares: several classes at once, faster.
    LPBoost : The same loss with the sum of weights as penalty: fewer hypotheses.
    DistanceKernelSVC : The limit of all stumps, or perceptrons, at once.
    StreamedCGEns : Rows in a file that is larger than memory.
    sklearn.ensemble.HistGradientBoostingClassifier : Trees, for features that interact.

    Notes
    -----
    With ``base="stump"`` features need no scaling, X may be sparse, NaN is a branch of its own, and float32
    is used as it is; other families take dense float64 without gaps. Time is nearly proportional to the
    samples, and a column is kept for each hypothesis: up to some 100,000 samples. Probabilities are those of
    ``CalibratedClassifierCV(model, ensemble=False)``, as the hinge has none.

    References
    ----------
    C. Shen and F. Liu, From Kernel Machines to Ensemble Learning, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernsemble import CGEns
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGEns(n_rounds=100, tol=None).fit(X, y)
    >>> model.score(X, y) > 0.98, model.relative_gap_ < 1
    (True, True)
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        C: float = 0.01,
        base: str | Callable[..., Oracle] = "stump",
        base_options: Mapping[str, Any] | None = None,
        loss: str = "hinge",
        intercept: str = "free",
        tol: float | None = 1e-2,
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
        self.loss = loss
        self.intercept = intercept
        self.tol = tol
        self.portable = portable
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _certify(self, data: TrainingData) -> None:
        """State the objective of the model as it is: at a large C, C times the rounding of margins counts."""
        if self.n_rounds_ == 0 or self.C * data.weight.sum() <= _LARGE * self.objective_path_[-1]:
            return
        signs = np.squeeze(class_signs(data.labels, data.n_classes).T)
        margins = signs * self.hypotheses_.decision(data.X, self.weights_, self.intercept_)
        objective = self._objective(margins, data.weight, 1.0)
        nearest = float(margins.min())
        longer = (1.0 + _BEYOND) / nearest if 0.0 < nearest < 1.0 else 1.0
        if (value := self._objective(margins, data.weight, longer)) < objective:
            objective = value
            self.weights_, self.intercept_ = longer * self.weights_, longer * self.intercept_
            self.weights_path_[-1] = self.weights_, self.intercept_
        self.dual_gap_ = self.gap_path_[-1] = max(self.dual_gap_ + objective - self.objective_path_[-1], 0.0)
        self.objective_path_[-1] = objective
        self.relative_gap_ = relative(self.dual_gap_, objective)

    def _objective(self, margins: np.ndarray, weight: np.ndarray, longer: float) -> float:
        """Objective of a multiple of the model, whose margins are given."""
        w, b = longer * self.weights_, longer * self.intercept_ * (self.intercept == "penalized")
        slack = np.maximum(1.0 - longer * margins, 0.0)
        losses = slack if self.loss == "hinge" else slack**2
        return float(0.5 * (np.vdot(w, w) + np.sum(b * b)) + self.C * np.sum(weight @ losses))

    def _master(self, data: TrainingData) -> Master:
        if self.loss not in _LOSSES:
            raise ValueError(f"loss={self.loss!r}: use one of {_LOSSES}.")
        tol = _SHARE * (self.tol or _TOL)
        options = {"sample_weight": data.weight, "intercept": self.intercept, "tol": tol}
        kind = SquaredHinge
        if self.loss == "hinge":
            kind, options["least_norm"] = Hinge, self.portable
        signs = class_signs(data.labels, data.n_classes)
        return one_against_rest(partial(kind, C=self.C, **options), signs)
