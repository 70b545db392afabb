"""Support vector machines with distance kernels: infinite ensembles of stumps or perceptrons (linli2005).

``DistanceKernelSVC`` solves one machine, ``DistanceKernelSVCCV`` first selects C by cross-validation.
Scaling a distance kernel is scaling C, so a search over C alone suffices, and all its problems share one
kernel matrix: 55 problems where the Gaussian kernel needs 550.

Several classes are told apart by one machine a pair of classes, or one a class against the rest; all share
the kernel matrix, or the cache of its rows: where the matrix does not fit into ``cache_size``, rows are made
when the solver asks for them, and only those last used are kept.

The stump machine needs no kernel matrix: it is an additive spline (`masters.splines`), solved in time
proportional to the entries of X, and kept as one table a feature (`hypotheses.shapes`). The perceptron kernel
is the mean of stump kernels over projections, ``||x||_2 = c E|<xi, x>|`` over directions xi of length 1, so
with ``n_directions`` of them its machine is a stump machine too, and its certificate that of the problem with
these directions. They are spread over all of them, or generated: each is found for the machine on those
before it, and added with all its thresholds (`hypotheses.directions`).

The default grid of C goes with the data: with s the mean over all pairs of samples of
``(K(x, x) + K(z, z)) / 2 - K(x, z)``, which for the distance kernels is the mean distance, it is
``2^-13 / s, 2^-11 / s, .., 2^7 / s``. Data in other units get the same machines.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_scalar

from kernsemble import kernels
from kernsemble.estimators._base import TrainingData, check_positive, progress
from kernsemble.estimators._single_fit import SingleFitClassifier, class_signs
from kernsemble.estimators._splines import (
    AdditiveModel,
    CodedRows,
    count_held_out,
    generate_directions,
    solve_machines,
)
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.base import label
from kernsemble.hypotheses.knots import MOST
from kernsemble.hypotheses.shapes import Shapes
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_hinge import cross_validate_path, pair_scores, pair_signs, solve_kernel_hinge
from kernsemble.masters.kernel_rows import FEWEST, CachedRows
from kernsemble.masters.losses import BoxLoss

DISTANCE_CS = 2.0 ** np.arange(-13, 8, 2)  # in units of the mean distance
GAUSSIAN_CS = 2.0 ** np.arange(-5, 16, 2)
GAUSSIAN_GAMMAS = 2.0 ** np.arange(-11, 8, 2)  # in units of the mean squared distance
SAMPLED = 1024  # samples whose pairs the mean distance is taken of
COARSE = 0.1  # relative duality gap beyond which a solution is not one
ROUNDING = 1e-9  # of a sum of losses, in units of its weights
SPLINE_ROWS = 4000  # from which on a stump machine is solved as a spline
GAUSSIAN = ("gaussian", "rbf")  # both names
LOSSES = {"hinge": BoxLoss.hinge, "squared_hinge": BoxLoss.squared_hinge}
ROWS_AT_ONCE = 4096  # of the kernel matrix between new samples and support vectors


class DistanceKernelSVC(AdditiveModel, SingleFitClassifier):
    """Soft-margin support vector machine with the stump, perceptron or Gaussian kernel.

    Parameters
    ----------
    kernel : {"stump", "perceptron", "gaussian", "rbf", "precomputed"} or callable, default="stump"
        The simplified kernels ``-||x - z||_1`` and ``-||x - z||_2``, or ``exp(-gamma ||x - z||_2^2)``, which
        has two names; a callable takes two arrays and returns their kernel matrix; with "precomputed" X is
        that matrix, between samples and all training samples.
    C : float, default=1.0
        Weight of the sum of hinge losses.
    gamma : float or "scale", default="scale"
        Of the Gaussian kernel; "scale" is ``1 / (n_features * X.var())``.
    multi_class : {"ovo", "ovr"}, default="ovo"
        Several classes: one machine a pair of classes, or one a class against the rest. One-vs-one is mostly
        faster and more accurate.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        Loss of a sample, times C; the squared one with splines only.
    solver : {"auto", "kernel", "spline"}, default="auto"
        On a kernel matrix, or as an additive spline without one (stump kernel; perceptron kernel if
        ``n_directions`` is given). Both find the same machine. "auto" takes splines for the stump kernel from
        4000 samples on, and where nothing else can be done.
    max_knots : int or None, default=65536
        Splines: a feature with more distinct values is rounded to so many, means of values that are
        neighbors; None rounds nothing.
    n_directions : int, default=None
        Replace the perceptron kernel by the mean of the stump kernels over so many projections.
    directions : {"spread", "generated"}, default="spread"
        Of low discrepancy, for any labels; or found one after the other, for the labels: each is the one,
        among those that a local search looks at, that may lower the objective most, and with each the
        machine is solved again. Far fewer are needed, a fit solves as many problems, and the kernel is no
        longer the perceptron's but one that goes with the labels. Fewer than ``n_directions`` are taken
        where none is found that may lower the objective by more than a share of ``tol``. The certificate is
        that of the problem with the directions found; nothing is certified about others.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, RandomState or None, default=None
        Turns the directions, or starts the search for them.
    tol : float, default=1e-3
        Where to stop. On a kernel matrix: violation of the maximal violating pair, as in LIBSVM; splines:
        duality gap in units of the objective.
    max_iter : int, default=10_000_000
        Most steps of the solver for each machine.
    cache_size : float, default=1000
        Megabytes (10^6 bytes) for rows of the kernel matrix. A smaller cache changes the time, not the
        result beyond ``tol``. Up to 300 MB a thread come on top for the solver's blocks.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Draw a progress bar over the classes; above 1, leave it there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    shape_functions_ : list of ShapeFunction
        The machine with the stump kernel as an additive model: for each feature ``knots`` (n_knots,) and
        ``values`` (n_knots, n_machines), linear between the knots and constant beyond. Decisions are their
        sum and ``intercept_``.
    feature_importances_ : ndarray of shape (n_features,)
        With the stump kernel: share of each feature in the absolute weight of all stumps, the total variation
        of its shape functions.
    solver_ : {"kernel", "spline"}
        How it was solved.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors of any machine, among the samples of positive weight; this and the next
        two on a kernel matrix only.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support vectors; of a precomputed kernel, (n_support, 1), their columns.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        Multipliers times signs. One machine for two classes, one a class for "ovr", one a pair
        ``(0, 1), (0, 2), .., (1, 2), ..`` of classes for "ovo", positive for the second.
    intercept_ : ndarray of shape (n_machines,)
        Intercepts.
    dual_gap_ : float
        Largest duality gap of the machines.
    relative_gap_ : float
        Largest duality gap of the machines, each in units of its objective.
    objective_ : ndarray of shape (n_machines,)
        Primal objectives.
    n_iter_ : int
        Largest number of steps.
    objective_path_, price_path_ : ndarray of shape (n_found,)
        Generated directions: the sum of the machines' objectives with each direction and those before it,
        within ``tol``, and by how much each could lower the sum, at most.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    DistanceKernelSVCCV : C chosen by cross-validation on one kernel matrix.
    DistanceKernelSVR : The same for values.
    ShapeDisplay : Draws the shape functions.
    CGEns : Some hundred of the stumps, or perceptrons, instead of all.
    sklearn.svm.SVC : The same problem for other kernels.

    Notes
    -----
    Kernels are distances: give all features one scale, by a ``StandardScaler``; one factor for all is a
    factor of C. A sparse X is filled in, NaN is refused, and float32 is used as it is by splines. These take
    time and memory in proportion to the entries of X, millions of samples; a kernel takes the square of the
    samples in time, some 20,000. Probabilities as in `CGEns`.

    References
    ----------
    Lin and Li, Novel Distance-Based SVM Kernels for Infinite Ensemble Learning, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import DistanceKernelSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> DistanceKernelSVC(kernel="perceptron").fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        kernel: str | Callable = "stump",
        *,
        C: float = 1.0,
        gamma: float | str = "scale",
        multi_class: str = "ovo",
        loss: str = "hinge",
        solver: str = "auto",
        max_knots: int | None = MOST,
        n_directions: int | None = None,
        directions: str = "spread",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        cache_size: float = 1000.0,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.multi_class = multi_class
        self.loss = loss
        self.solver = solver
        self.max_knots = max_knots
        self.n_directions = n_directions
        self.directions = directions
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @in_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DistanceKernelSVC:
        """Fit to samples X (n, d) with labels y (n,); ``sample_weight`` (n,) multiplies each sample's C."""
        data = self._check_training(X, y, sample_weight)
        self._check_solver_parameters()
        C = check_positive(self.C, "C")
        if self._takes_splines(len(data.X)):
            rows = None if self.directions == "generated" else self._code(data.X, self.n_directions)
            return self._fit_splines(rows, data, C)
        data = self._with_kernel(_as_float64(data), self.gamma)
        return self._fit_machines(self._rows(self._kernel, data.X), data, C)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_matrix()
        return tags

    def _with_kernel(self, data: TrainingData, gamma: float | str | None) -> TrainingData:
        """Set the kernel; return the data that it takes: of a kernel matrix, numbers of rows."""
        if self._is_matrix():
            n = len(data.used)
            if data.X.shape[1] != n:
                raise ValueError(
                    f"{label(self)}: kernel='precomputed' takes the kernel matrix of {n} training samples, "
                    f"{n} x {n}; X is {n} x {data.X.shape[1]}."
                )
            rows = np.flatnonzero(data.used)
            self._kernel = _Precomputed(rows, data.X)
            return replace(data, X=rows[:, np.newaxis])
        self._kernel = _make_kernel(self.kernel, gamma if gamma is None else _gamma_of(gamma, data))
        return data

    def _takes_sparse(self) -> bool:
        return not self._is_matrix()

    def _is_matrix(self) -> bool:
        """Whether X is a kernel matrix."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _takes_splines(self, n: int) -> bool:
        """Whether to solve n samples without a kernel matrix."""
        sliced = self.n_directions is not None
        able = self.kernel == "perceptron" if sliced else self.kernel == "stump"
        forced = self.solver == "spline" or self.loss != "hinge" or sliced
        if forced and not able:
            raise ValueError(
                f"{label(self)}: solver='spline' and loss='squared_hinge' need kernel='stump', or "
                f"kernel='perceptron' with n_directions; got kernel={self.kernel!r} and "
                f"n_directions={self.n_directions!r}."
            )
        if self.directions == "generated" and not sliced:
            raise ValueError(f"{label(self)}: directions='generated' needs n_directions, at most how many.")
        if forced and self.solver == "kernel":
            raise ValueError(
                f"{label(self)}: solver='kernel' has loss='hinge' and no n_directions; pass solver='auto'."
            )
        return forced or (able and self.solver == "auto" and n >= SPLINE_ROWS)

    def _fit_splines(self, rows: CodedRows | None, data: TrainingData, C: float) -> DistanceKernelSVC:
        """Solve the machines as splines, on codes or on directions to be found, and keep their tables."""
        losses = []
        for signs in self._signs(data):
            part = None if signs.all() else np.flatnonzero(signs)
            y, weight = (signs, data.weight) if part is None else (signs[part], data.weight[part])
            losses.append((LOSSES[self.loss](y, C * weight), part))
        if rows is None:
            rows = self._generate(data.X, losses)
        order = progress(len(losses), self.verbose, label(self), "machine")
        solutions, self._shapes, self.intercept_ = solve_machines(
            rows, losses, data.weight, self.tol, self.max_iter, order
        )
        self._warn(solutions, ROUNDING * C * data.weight.sum())
        self.solver_, self._kernel = "spline", None
        if hasattr(self, "support_"):  # of an earlier fit
            del self.support_, self.support_vectors_, self.dual_coef_
        return self._keep(solutions)

    def _generate(self, X: np.ndarray, losses: list) -> CodedRows:
        """Codes along directions that are found for the machines."""
        limits = (self.n_directions, self.max_knots, self.tol, self.max_iter)
        found = generate_directions(X, losses, *limits, self.random_state)
        self.objective_path_, self.price_path_ = found.objectives, found.prices
        return self._code(X, self.n_directions, found.directions)

    def _keep(self, solutions: list[Solution]) -> DistanceKernelSVC:
        """Set what all solvers say."""
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.dual_gap_ = max(solution.gap for solution in solutions)
        self.relative_gap_ = max(_relative_gap(solution) for solution in solutions)
        self.n_iter_ = max(1, *(solution.n_iter for solution in solutions))
        return self

    def _check_solver_parameters(self) -> None:
        """Refuse a tolerance, a number of steps, a memory or a choice that makes no sense."""
        check_positive(self.tol, "tol")
        check_scalar(self.max_iter, "max_iter", (int, np.integer), min_val=1)
        check_positive(self.cache_size, "cache_size")
        if self.multi_class not in ("ovo", "ovr"):
            raise ValueError(f"multi_class must be 'ovo' or 'ovr', got {self.multi_class!r}.")
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be 'hinge' or 'squared_hinge', got {self.loss!r}.")
        if self.directions not in ("spread", "generated"):
            raise ValueError(f"directions must be 'spread' or 'generated', got {self.directions!r}.")
        if self.solver not in ("auto", "kernel", "spline"):
            raise ValueError(f"solver must be 'auto', 'kernel' or 'spline', got {self.solver!r}.")
        if self.max_knots is not None:
            check_scalar(self.max_knots, "max_knots", (int, np.integer), min_val=2)
        if self.n_directions is not None:
            check_scalar(self.n_directions, "n_directions", (int, np.integer), min_val=1)

    def _check_memory(self, n: int) -> bool:
        """Whether the matrix of n samples fits into the cache; refuse a cache that holds too few rows."""
        if 8.0 * n * n <= 1e6 * self.cache_size:
            return True
        if self._capacity(n) < FEWEST:
            raise ValueError(
                f"{label(self)}: cache_size={self.cache_size:g} megabytes hold {self._capacity(n)} "
                f"of the {n} rows of the kernel matrix, {8 * n} bytes each; the solver needs {FEWEST} rows, "
                f"{8 * n * FEWEST} bytes. Pass a larger cache_size, best some hundreds."
            )
        return False

    def _capacity(self, n: int) -> int:
        """Rows of n samples that fit into the cache."""
        return int(1e6 * self.cache_size // (8 * n))

    def _rows(self, kernel: Callable, X: np.ndarray) -> np.ndarray | CachedRows:
        """The kernel matrix, or its rows on demand where it does not fit into the cache."""
        if self._check_memory(len(X)):
            return kernel(X, X)
        return CachedRows(kernel, X, self._capacity(len(X)))

    def _signs(self, data: TrainingData) -> np.ndarray:
        """Signs of the machines, one a row; 0 stands for a sample that takes no part."""
        if data.n_classes > 2 and self.multi_class == "ovo":
            return pair_signs(data.labels, data.n_classes)
        return class_signs(data.labels, data.n_classes)

    def _fit_machines(self, K: np.ndarray | CachedRows, data: TrainingData, C: float) -> DistanceKernelSVC:
        """Solve the machines and keep the support vectors."""
        signs = self._signs(data)
        solutions = [
            _solve(K, signs[k], C * data.weight, self.tol, self.max_iter)
            for k in progress(len(signs), self.verbose, label(self), "machine")
        ]
        self._warn(solutions, ROUNDING * C * data.weight.sum())
        coefficients = np.array([solution.w for solution in solutions])
        self.support_ = np.flatnonzero(coefficients.any(axis=0))
        self.support_vectors_ = data.X[self.support_]
        self.dual_coef_ = coefficients[:, self.support_]
        self.intercept_ = np.array([solution.b for solution in solutions])
        self.solver_, self._shapes = "kernel", None
        if isinstance(self._kernel, _Precomputed):
            self._kernel = None
        return self._keep(solutions)

    def _additive(self) -> Shapes:
        """The shapes of a stump machine, however it was solved."""
        if getattr(self, "_kernel", None) is kernels.stump_kernel:
            return Shapes.of_kernel(self.support_vectors_, self.dual_coef_)
        return super()._additive()

    def _warn(self, solutions: list[Solution], rounding: float) -> None:
        """Warn, once, of a machine that did not reach ``tol``, or one for whose C ``tol`` is too coarse."""
        name = label(self)
        worst = max(solutions, key=lambda solution: (not solution.converged, _relative_gap(solution)))
        worst.warn_unless_converged(name)
        share = _relative_gap(worst)
        if worst.converged and share > COARSE and worst.gap > rounding:
            warnings.warn(
                f"{name}: tol={self.tol:g} was reached, but the duality gap is {share:.2g} of the objective, "
                f"{worst.objective:.6g}: C is so large that losses below tol weigh. Pass a tol below "
                f"{self.tol * COARSE / share:.1g}, or a smaller C.",
                ConvergenceWarning,
                stacklevel=5,
            )

    @in_threads
    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores: (n,), positive for ``classes_[1]``, if two-class; otherwise (n, n_classes).

        Several classes: of "ovr" the decisions, of "ovo" the number of pairs that a class wins, and, below
        1/3 in size, what the decisions of its pairs sum to: scikit-learn's ``decision_function_shape="ovr"``.
        """
        decisions = self._decisions(self._check_input(X))
        if len(self.classes_) == 2:
            return decisions[:, 0]
        return pair_scores(decisions, len(self.classes_)) if self.multi_class == "ovo" else decisions

    def _decisions(self, X: np.ndarray) -> np.ndarray:
        """Decisions (n, n_machines): from tables, or a block of rows of the kernel matrix at a time."""
        if self.solver_ == "spline":
            return self._shapes.decision(self._columns(X)) + self.intercept_
        if self._kernel is None:
            return X[:, self.support_vectors_[:, 0]] @ self.dual_coef_.T + self.intercept_
        decisions = np.empty((X.shape[0], len(self.intercept_)))
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            decisions[rows] = (
                self._kernel(X[rows], self.support_vectors_) @ self.dual_coef_.T + self.intercept_
            )
        return decisions


class DistanceKernelSVCCV(DistanceKernelSVC):
    """Distance-kernel machine whose C, and gamma if Gaussian, are selected by cross-validation.

    Every C is solved on one kernel matrix, each from the last. The choice is the largest number of held-out
    samples classified correctly, over all folds together (the rate that LIBSVM's ``-v`` prints). Among equals
    the smaller C wins, as in LIBSVM's ``grid.py`` for one gamma; then the smaller gamma, where ``grid.py``
    keeps the one that it happened to visit first.

    Parameters
    ----------
    kernel, multi_class, loss, max_knots, n_directions, tol, max_iter, class_weight, n_jobs
        As in `DistanceKernelSVC`.
    Cs : sequence of float, default=None
        Grid of C. None is ``2^-13, 2^-11, .., 2^7``, divided by the mean distance of two samples (see the
        module; of at most 1024 samples, evenly spaced); for the Gaussian ``2^-5, 2^-3, .., 2^15``. Where the
        best C of these is the smallest or the largest, a warning says so.
    gammas : sequence of float, default=None
        Grid of gamma of the Gaussian kernel. None is ``2^-11, 2^-9, .., 2^7``, divided by the mean squared
        distance of two samples.
    cv : int or splitter, default=5
        Number of stratified, shuffled folds, or anything with ``split``.
    ties : {"smallest", "largest"}, default="smallest"
        Which C, and then which gamma, wins among equal counts.
    solver : {"auto", "kernel", "spline"}, default="auto"
        As in `DistanceKernelSVC`; splines share the codes of the samples, as others the kernel matrix.
    directions : {"spread", "generated"}, default="spread"
        As in `DistanceKernelSVC`; C is selected on directions that are spread, which know no labels.
    cache_size : float, default=1000
        As in `DistanceKernelSVC`; the threads share it.
    verbose : bool or int, default=False
        Draw progress bars over the values of gamma, if Gaussian, and over the classes of the last fit; above
        1, leave them there.
    random_state : int, RandomState or None, default=None
        Shuffles the folds where ``cv`` is a number, and turns the directions.

    Attributes
    ----------
    best_C_, best_gamma_ : float
        The selected parameters; ``best_gamma_`` exists for the Gaussian kernel only.
    best_score_ : float
        Held-out accuracy of the selected parameters.
    cv_scores_ : ndarray of shape (n_Cs,) or (n_gammas, n_Cs)
        Held-out accuracies.
    Cs_, gammas_ : ndarray
        The grids.

    See Also
    --------
    DistanceKernelSVC : The same with a C of your own.
    sklearn.model_selection.GridSearchCV : Searches over anything, each fit from nothing.

    Notes
    -----
    All else that a fit leaves, scaling, time and memory are as of `DistanceKernelSVC`. ``fit`` takes
    ``groups`` for a ``cv`` that keeps them together.

    References
    ----------
    Lin and Li, Novel Distance-Based SVM Kernels for Infinite Ensemble Learning, 2005, section VI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernsemble import DistanceKernelSVCCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DistanceKernelSVCCV(random_state=0).fit(X, y)
    >>> model.cv_scores_.shape
    (11,)
    """

    def __init__(
        self,
        kernel: str | Callable = "stump",
        *,
        Cs: Any = None,
        gammas: Any = None,
        cv: Any = 5,
        ties: str = "smallest",
        multi_class: str = "ovo",
        loss: str = "hinge",
        solver: str = "auto",
        max_knots: int | None = MOST,
        n_directions: int | None = None,
        directions: str = "spread",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        cache_size: float = 1000.0,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.ties = ties
        self.multi_class = multi_class
        self.loss = loss
        self.solver = solver
        self.max_knots = max_knots
        self.n_directions = n_directions
        self.directions = directions
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @in_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> DistanceKernelSVCCV:
        """Select C, and gamma if Gaussian, on samples X (n, d) with labels y (n,); refit on all of them.

        ``sample_weight`` (n,) multiplies each sample's C, and counts it so often when it is held out;
        ``groups`` (n,) are for a ``cv`` that takes them, such as ``GroupKFold``.
        """
        data = self._check_training(X, y, sample_weight)
        self._check_solver_parameters()
        if self.ties not in ("smallest", "largest"):
            raise ValueError(f"ties must be 'smallest' or 'largest', got {self.ties!r}.")
        if self._takes_splines(len(data.X)):
            return self._search_splines(data, self._folds(data, y, groups))
        data = _as_float64(data)
        self._check_memory(len(data.X))
        folds = self._folds(data, y, groups)
        if self.kernel in GAUSSIAN:
            return self._search_gaussian(data, folds)
        data = self._with_kernel(data, None)
        self.Cs_ = _grid(self.Cs, DISTANCE_CS / _mean_distance(self._kernel, data), "Cs")
        K = self._rows(self._kernel, data.X)
        self.cv_scores_ = self._count(K, data, folds) / _held_out(folds, data.weight)
        self.best_C_ = float(self.Cs_[self._choose(self.cv_scores_[np.newaxis])[1]])
        return self._fit_machines(K, data, self.best_C_)

    def _search_splines(self, data: TrainingData, folds: list) -> DistanceKernelSVCCV:
        """Search the grid of C on the codes of the samples."""
        spread = _mean_distance(_make_kernel(self.kernel, None), data)
        self.Cs_ = _grid(self.Cs, DISTANCE_CS / spread, "Cs")
        rows, signs = self._code(data.X, self.n_directions), self._signs(data)
        options = (self.tol, self.max_iter, self.multi_class == "ovo")
        counts, unsolved = count_held_out(
            rows, signs, data.labels, data.weight, LOSSES[self.loss], self.Cs_, folds, *options
        )
        if unsolved:
            warnings.warn(
                f"{label(self)}: {len(unsolved)} problems of the cross-validation stopped before "
                f"tol={self.tol:g}. Increase max_iter or tol, or lower C.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.cv_scores_ = counts / _held_out(folds, data.weight)
        self.best_C_ = float(self.Cs_[self._choose(self.cv_scores_[np.newaxis])[1]])
        return self._fit_splines(None if self.directions == "generated" else rows, data, self.best_C_)

    def _search_gaussian(self, data: TrainingData, folds: list) -> DistanceKernelSVCCV:
        """Search the grid of gamma and C, a kernel matrix, or cache of its rows, for each gamma."""
        spread = _mean_distance(_negative_squares, data)
        self.Cs_ = _grid(self.Cs, GAUSSIAN_CS, "Cs")
        self.gammas_ = _grid(self.gammas, GAUSSIAN_GAMMAS / spread, "gammas")
        counts = [
            self._count(self._rows(_Gaussian(self.gammas_[g]), data.X), data, folds)
            for g in progress(len(self.gammas_), self.verbose, label(self), "gamma")
        ]
        self.cv_scores_ = np.array(counts) / _held_out(folds, data.weight)
        i, j = self._choose(self.cv_scores_)
        self.best_gamma_, self.best_C_ = float(self.gammas_[i]), float(self.Cs_[j])
        self._kernel = _make_kernel("gaussian", self.best_gamma_)
        return self._fit_machines(self._rows(self._kernel, data.X), data, self.best_C_)

    def _count(self, K: np.ndarray | CachedRows, data: TrainingData, folds: list) -> np.ndarray:
        """Weight of the correct held-out samples of all folds together, for each C."""
        signs = class_signs(data.labels, data.n_classes)
        options = {"sample_weight": data.weight, "tol": self.tol, "max_iter": self.max_iter}
        options["one_vs_one"] = self.multi_class == "ovo"
        Y = signs[0] if data.n_classes == 2 else signs.T
        return cross_validate_path(K, Y, self.Cs_, folds, **options).sum(axis=1)

    def _choose(self, scores: np.ndarray) -> tuple[int, int]:
        """Best (gamma, C) of the grid; among equals the smallest C, then gamma, or the largest."""
        self.best_score_ = float(scores.max())
        gamma, C = np.nonzero(scores == scores.max())
        order = np.lexsort((gamma, C))
        winner = order[0 if self.ties == "smallest" else -1]
        inside = scores[:, 1:-1]
        if self.Cs is None and inside.max() < scores.max():
            warnings.warn(
                f"{label(self)}: the best C, {self.Cs_[C[winner]]:.3g}, lies at the edge of the grid "
                f"{self.Cs_[0]:.3g} .. {self.Cs_[-1]:.3g}. Pass a grid Cs that reaches further.",
                UserWarning,
                stacklevel=4,
            )
        return int(gamma[winner]), int(C[winner])

    def _folds(self, data: TrainingData, y: Any, groups: Any) -> list:
        """Folds of the samples given, as indices among those of positive weight."""
        labels = np.unique(np.asarray(y).ravel(), return_inverse=True)[1]
        kept = data.used
        if kept.all():
            return list(self._splitter().split(data.X, data.labels, groups))
        position = np.cumsum(kept) - 1
        split = self._splitter().split(np.zeros((len(labels), 1)), labels, groups)
        folds = [(position[train[kept[train]]], position[test[kept[test]]]) for train, test in split]
        return [(train, test) for train, test in folds if len(train) and len(test)]

    def _splitter(self) -> Any:
        """Stratified shuffled folds for a number, else what was given."""
        if isinstance(self.cv, (int, np.integer)):
            return StratifiedKFold(int(self.cv), shuffle=True, random_state=self.random_state)
        return check_cv(self.cv, classifier=True)


def _as_float64(data: TrainingData) -> TrainingData:
    """The data as kernels take them."""
    return replace(data, X=np.ascontiguousarray(data.X, dtype=np.float64))


def _make_kernel(kernel: str | Callable, gamma: float | None) -> Callable:
    """Kernel as a function of two arrays that can be pickled."""
    if callable(kernel):
        return kernel
    if kernel in GAUSSIAN:
        return _Gaussian(gamma)
    named = {"stump": kernels.stump_kernel, "perceptron": kernels.perceptron_kernel}
    if kernel not in named:
        raise ValueError(
            "kernel must be 'stump', 'perceptron', 'gaussian' ('rbf'), 'precomputed' or callable, "
            f"got {kernel!r}."
        )
    return named[kernel]


class _Precomputed:
    """A kernel matrix, its rows those of samples with a weight, as a kernel of numbers of rows."""

    def __init__(self, rows: np.ndarray, K: np.ndarray):
        self.K, self.place = K, np.zeros(K.shape[1], dtype=np.intp)
        self.place[rows] = np.arange(len(rows))

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return self.K[np.ix_(self.place[X[:, 0]], Z[:, 0])]


class _Gaussian:
    """Gaussian kernel of one width."""

    def __init__(self, gamma: float):
        self.gamma = gamma

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        return kernels.gaussian_kernel(X, Z, gamma=self.gamma)


def _gamma_of(gamma: float | str, data: TrainingData) -> float:
    """Positive gamma; "scale" is that of scikit-learn's SVC, the variance weighted like the samples."""
    if isinstance(gamma, str):
        if gamma != "scale":
            raise ValueError(f"gamma must be a positive number or 'scale', got {gamma!r}.")
        weight = np.broadcast_to(data.weight[:, np.newaxis], data.X.shape)
        with np.errstate(over="ignore"):  # infinite: the Gaussian kernel of such data is then refused
            variance = np.average((data.X - np.average(data.X, weights=weight)) ** 2, weights=weight)
        return 1.0 / (data.X.shape[1] * variance) if variance > 0 else 1.0
    return check_positive(gamma, "gamma")


def _relative_gap(solution: Solution) -> float:
    """Duality gap in units of the objective; rounding may leave a gap below zero."""
    return solution.gap / solution.objective if solution.gap > 0.0 else 0.0


def _solve(
    K: np.ndarray | CachedRows, signs: np.ndarray, C: np.ndarray, tol: float, max_iter: int
) -> Solution:
    """One machine; who has no sign takes no part."""
    part = signs != 0.0
    return solve_kernel_hinge(K, np.where(part, signs, 1.0), C * part, tol=tol, max_iter=max_iter)


def _negative_squares(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Negative squared distances: a kernel whose mean distance is the mean squared distance."""
    return -kernels.squared_distances(X, Z)


def _mean_distance(kernel: Callable, data: TrainingData) -> float:
    """Mean of (K(x, x) + K(z, z)) / 2 - K(x, z) over weighted pairs of samples; 1 where that is no number."""
    n = len(data.X)
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLED)).astype(int))
    K, share = kernel(data.X[some], data.X[some]), data.weight[some] / data.weight[some].sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(share @ K.diagonal() - share @ (K @ share))
    return mean if 0.0 < mean < np.inf else 1.0


def _grid(values: Any, default: np.ndarray, name: str) -> np.ndarray:
    """Sorted grid of positive numbers."""
    grid = np.sort(np.asarray(default if values is None else values, dtype=np.float64).ravel())
    if grid.size == 0 or not (np.isfinite(grid).all() and grid[0] > 0):
        raise ValueError(f"{name} must hold positive finite numbers, got {values!r}.")
    return grid


def _held_out(folds: list, weight: np.ndarray) -> float:
    """Weight of the held-out samples of all folds together."""
    return float(sum(weight[test].sum() for _, test in folds))
