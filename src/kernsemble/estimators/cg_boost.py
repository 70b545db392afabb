r"""CG-Boost (bi2004) for classes: ensembles of kernel columns of several kernels, by column generation.

    f(x) = sum_p sum_j alpha_j^p K_p(x, x_j) + b                                                     (3)

Each round prices the columns of all kernels at all training samples against the dual weights, takes one, and
solves the restricted problem again: (4), (7), (11) for classes, (13) for values, with |alpha|_1 or
1/2 |alpha|_2^2. Kernels are given in the order of their priority; the stratified search (Algorithm 5.1) looks
at columns centered at error points first, and at a later kernel only if no earlier one violates the dual.
Under an l2 norm that is after the last column of the first kernel, so by default the search goes by levels: a
later kernel's turn comes where its columns promise about twice as much as those of the earlier ones.

A composite kernel, "linear+rbf", is one kernel of the library that is a sum: the rival of the mixture
["linear", "rbf"].

bi2004 symbols: alpha = ``weights_``, b = ``intercept_``, S = ``kernels``, T = ``n_rounds``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kernsemble.estimators._base import EnsembleClassifier, TrainingData, at_rows
from kernsemble.estimators._cg_boost import (
    CGBoostBase,
    Library,
    Validation,
    refuse_weights,
)
from kernsemble.estimators._rounds import split_validation
from kernsemble.estimators._single_fit import class_signs
from kernsemble.estimators._watching import seen_by_callbacks
from kernsemble.hypotheses._threads import in_threads
from kernsemble.masters.base import Master
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.one_against_rest import one_against_rest
from kernsemble.masters.quadratic import HingeQP, NuHinge


class CGBoostClassifier(CGBoostBase, EnsembleClassifier):
    """CG-Boost for classes: the hinge over a mixture of kernels.

    Features are taken as they are; the paper standardizes them (``StandardScaler``). Several classes are told
    apart by one problem a class, each against the rest, over columns that all share; gap and objective are
    sums over them.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, default=("linear", "quadratic", "rbf")
        The library, in the order of priority: names ("linear", "quadratic", "rbf", or several joined by "+"
        for their sum), functions of (X, Z), and the classes of `kernsemble.hypotheses.kernel_library`, such
        as `FeatureKernel` for a group of features and `GramKernel` for a kernel matrix.
    C : float, default=1.0
        Weight of the SUM of losses: for that of their mean, divide by the number of samples.
    norm : {"l2", "l1"}, default="l2"
        Penalty: ``1/2 |alpha|^2`` (a quadratic program) or ``|alpha|_1`` (a linear one).
    positive : bool, default=False
        Whether alpha >= 0, problems (4) and (7), or free, problem (11).
    intercept : {"free", "penalized", "none"}, default="free"
        The offset b of section 4.1.
    stratified : {"levels", True, False}, default="levels"
        How kernels take turns. "levels": the first whose best column reaches a falling share of what scores
        can be, so that cheap kernels go first among those of like use. True: Algorithm 5.1 as printed, the
        first that violates the dual at all; under an l2 norm the first kernel then takes as many rounds as
        there are samples. False: every round scans all columns of all kernels and takes the largest score.
    termination : {"TR1", "TR2", "TR3", "TR4"}, default="TR4"
        TR1: no column at an error point violates the dual. TR2: none at all does, or the certified gap is at
        most ``tol``. TR3: the error on validation data has not improved for ``patience`` rounds; the best
        round is kept. TR4: after ``n_rounds``. That bounds all rules; TR3 and TR4 end where TR2 does at the
        latest.
    n_rounds : int, default=100
        Most rounds, hence columns.
    tol : float or None, default=1e-3
        Duality gap of the whole problem, relative to the objective, at which to stop; 0 goes on to the end. A
        fit that runs out of rounds before warns; None runs ``n_rounds`` (TR4) without a warning.
    tau : float, default=1e-6
        What a score must exceed 0 (l2) or 1 (l1) by to violate the dual.
    nu : float, default=None
        Solve the nu form with this nu instead of C (l2, free intercept).
    validation_fraction : float, default=0.25
        Share of each class that TR3 holds out if ``fit`` gets no validation data.
    patience : int, default=20
        Rounds without improvement that TR3 waits.
    max_centers : int, default=None
        Draw so many training samples as possible centers; all by default.
    portable : bool, default=True
        Whether to choose the same columns on every computer: each round's problem is then solved to a
        relative gap of 1e-9, and of several dual solutions that of least norm prices the next column.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, RandomState or None, default=None
        Draws the validation data and the centers.
    warm_start : bool, default=False
        Whether ``fit`` goes on with the last fit, of the same data: more rounds are those of one long fit.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Whether to draw a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    hypotheses_ : KernelExpansion
        The columns, in the order in which they were generated.
    weights_ : ndarray of shape (n_columns,), or (n_columns, n_classes) for several classes
        alpha.
    intercept_ : float, or ndarray of shape (n_classes,)
        b.
    n_rounds_, best_round_ : int
        Rounds run, and the round whose weights are used (the last, unless TR3 chose another).
    message_ : str
        Why the fit ended.
    kernels_ : tuple of Kernel
        The library as it was used, with the width that a Gaussian kernel got.
    n_columns_ : dict of str to int
        Columns with a weight, by kernel: C_l, C_q, C_r of the paper's tables.
    kernel_weights_ : dict of str to float
        Share of each kernel in the scores: the standard deviation of what its columns add to them over the
        training samples, divided by the sum of these.
    n_kernel_evaluations_ : int
        Kernel values that one prediction computes; linear columns collapse into one weight vector.
    dual_gap_ : float
        Duality gap of the problem over all columns, after the last round; at most the objective, except in
        the nu forms.
    relative_gap_ : float
        ``dual_gap_`` divided by the size of the objective.
    dual_weights_ : ndarray of shape (n_samples,), or (n_samples, n_classes) for several classes
        V of the last round: u_i with the sign of the class, + for ``classes_[1]``, or for the class of the
        column; feasible for all columns of all kernels. 0 for samples without weight, or held out.
    objective_path_, gap_path_ : ndarray of shape ``(n_rounds_,)``
        Objective after each round; gap of the whole problem where it was computed, nan elsewhere.
    columns_scanned_path_ : ndarray of shape ``(n_rounds_ + 1,)``
        Columns priced in each search.
    oracle_seconds_path_, master_seconds_path_ : ndarray of shape ``(n_rounds_,)``
        Time to find each column and to solve with it.
    validation_path_ : ndarray of shape ``(n_rounds_,)``
        Error on the validation data after each round, if there is any.
    termination_rounds_ : dict
        Rounds after which TR1 would have stopped and TR2 did; None if not reached.
    weights_path_ : list of (w, b)
        Weights after each round.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    CGBoostRegressor : The same for values.
    DistanceKernelSVC : One kernel, and the norm of its own space.
    sklearn.svm.SVC : One kernel, in the norm of its own space.

    Notes
    -----
    Kernels depend on the units of the features: put a ``StandardScaler`` in front. A sparse X is filled in.
    Time and memory grow with the square of the samples, up to some thousand; ``max_centers`` bounds them.
    Probabilities as in `CGEns`.

    References
    ----------
    Bi, Zhang and Bennett, Column-Generation Boosting Methods for Mixture of Kernels, KDD 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernsemble import CGBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CGBoostClassifier(["linear", "rbf"], n_rounds=30, tol=None).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.97
    True
    """

    _input_types = (np.float64,)

    def __init__(
        self,
        kernels: Library = ("linear", "quadratic", "rbf"),
        *,
        C: float = 1.0,
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
        class_weight: Any = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.kernels = kernels
        self.C = C
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
        self.class_weight = class_weight
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @in_threads
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> CGBoostClassifier:
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies the losses.
        X_val, y_val : array-like, optional
            Validation data that the rounds are watched on.

        Returns
        -------
        self : CGBoostClassifier
            The fitted estimator.
        """
        self._check_parameters()
        data = self._check_training(X, y, sample_weight)
        kept, validation = self._with_validation(data, X_val, y_val)
        master, bound = self._master(class_signs(data.labels[kept], data.n_classes), data.weight[kept])
        told = seen_by_callbacks(X, y, sample_weight)
        self._run((data.X, data.labels, data.weight), data.X[kept], master, bound, validation, told)
        self.dual_weights_ = at_rows(self.dual_weights_, data.used, kept)
        return self

    def _master(self, signs: np.ndarray, weight: np.ndarray) -> tuple[Master, np.ndarray]:
        """Master, and the bounds of its dual weights."""
        options = {"positive": self.positive, "tol": self._master_tol()}
        if self.nu is not None:
            refuse_weights(weight)
            return one_against_rest(partial(NuHinge, nu=self.nu, **options), signs), weight / len(weight)
        options |= {"intercept": self.intercept, "least_norm": self.portable}
        kind = HingeQP if self.norm == "l2" else HingeLP
        make = partial(kind, C=self.C, sample_weight=weight, **options)
        return one_against_rest(make, signs), self.C * weight

    def _with_validation(self, data: TrainingData, X_val: Any, y_val: Any):
        """Return which rows to train on, and the validation data if any."""
        if X_val is not None:
            X_val = self._check_validation(X_val, y_val)
            return slice(None), Validation(X_val, _error_rate(self.classes_, np.asarray(y_val)))
        if self.termination != "TR3":
            return slice(None), None
        kept, held = split_validation(len(data.X), self.validation_fraction, self.random_state, data.labels)
        error_rate = _error_rate(self.classes_, self.classes_[data.labels[held]])
        return kept, Validation(data.X[held], error_rate)


def _error_rate(classes: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], float]:
    def of(scores: np.ndarray) -> float:
        index = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return float(np.mean(classes[index] != y))

    return of
