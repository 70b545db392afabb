"""Support vector machines with distance kernels: infinite ensembles of stumps or perceptrons (linli2005).

``DistanceKernelSVC`` solves one machine, ``DistanceKernelSVCCV`` first selects C by cross-validation.
Scaling a distance kernel is scaling C, so a search over C alone suffices, and all its problems share one
kernel matrix: 55 problems where the Gaussian kernel needs 550.

Several classes are told apart by one machine a class against the rest, the largest score winning; all share
the kernel matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_scalar

from kernsemble import kernels
from kernsemble.estimators._base import TrainingData, check_weights, progress
from kernsemble.estimators._single_fit import SingleFitClassifier, class_signs
from kernsemble.hypotheses.base import label
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge

DISTANCE_CS = 2.0 ** np.arange(-17, 4, 2)
GAUSSIAN_CS = 2.0 ** np.arange(-5, 16, 2)
GAUSSIAN_GAMMAS = 2.0 ** np.arange(-15, 4, 2)
ROWS_AT_ONCE = 4096  # of the kernel matrix between new samples and support vectors


class DistanceKernelSVC(SingleFitClassifier):
    """Soft-margin support vector machine with the stump, perceptron or Gaussian kernel.

    Parameters
    ----------
    kernel : {"stump", "perceptron", "gaussian"} or callable, default="stump"
        The simplified kernels ``-||x - z||_1`` and ``-||x - z||_2``, or ``exp(-gamma ||x - z||_2^2)``;
        a callable takes two arrays and returns their kernel matrix.
    C : float, default=1.0
        Weight of the sum of hinge losses.
    gamma : float or "scale", default="scale"
        Of the Gaussian kernel; "scale" is ``1 / (n_features * X.var())``.
    tol : float, default=1e-3
        Violation of the maximal violating pair at which to stop, as in LIBSVM.
    max_iter : int, default=10_000_000
        Most steps of the solver.
    verbose : bool or int, default=False
        Draw a progress bar over the classes; above 1, leave it there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    support_ : ndarray of shape (n_support,)
        Indices of the support vectors of any machine, among the samples of positive weight.
    support_vectors_ : ndarray of shape (n_support, n_features)
        The support vectors.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        Multipliers times signs; one machine for two classes, otherwise one a class.
    intercept_ : ndarray of shape (n_machines,)
        Intercepts.
    dual_gap_ : float
        Largest duality gap of the machines.
    objective_ : ndarray of shape (n_machines,)
        Primal objectives.
    n_iter_ : int
        Largest number of steps.

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
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        verbose: bool | int = False,
    ):
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DistanceKernelSVC:
        """Fit to samples X (n, d) with labels y (n,); ``sample_weight`` (n,) multiplies each sample's C."""
        data = self._check_training(X, y, sample_weight)
        self._check_solver_parameters()
        C = check_scalar(self.C, "C", (int, float, np.number), min_val=0, include_boundaries="neither")
        self._kernel = _make_kernel(self.kernel, _gamma_of(self.gamma, data))
        return self._fit_machines(self._kernel(data.X, data.X), data, C)

    def _check_solver_parameters(self) -> None:
        """Refuse a tolerance or a number of steps that makes no sense."""
        check_scalar(self.tol, "tol", (int, float, np.number), min_val=0, include_boundaries="neither")
        check_scalar(self.max_iter, "max_iter", (int, np.integer), min_val=1)

    def _fit_machines(self, K: np.ndarray, data: TrainingData, C: float) -> DistanceKernelSVC:
        """Solve one machine, or one a class, and keep the support vectors."""
        signs = class_signs(data.labels, data.n_classes)
        solutions = [
            solve_kernel_hinge(K, signs[k], C * data.weight, tol=self.tol, max_iter=self.max_iter)
            for k in progress(len(signs), self.verbose, label(self))
        ]
        for solution in solutions:
            solution.warn_unless_converged(label(self))
        coefficients = np.array([solution.w for solution in solutions])
        self.support_ = np.flatnonzero(coefficients.any(axis=0))
        self.support_vectors_ = data.X[self.support_]
        self.dual_coef_ = coefficients[:, self.support_]
        self.intercept_ = np.array([solution.b for solution in solutions])
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.dual_gap_ = max(solution.gap for solution in solutions)
        self.n_iter_ = max(1, *(solution.n_iter for solution in solutions))
        return self

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Decisions, a block of rows of the kernel matrix at a time."""
        scores = np.empty((X.shape[0], len(self.intercept_)))
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            scores[rows] = self._kernel(X[rows], self.support_vectors_) @ self.dual_coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores


class DistanceKernelSVCCV(DistanceKernelSVC):
    """Distance-kernel machine whose C, and gamma if Gaussian, are selected by cross-validation.

    Every C is solved on one kernel matrix, each from the last. The choice is the largest number of held-out
    samples classified correctly, over all folds together (the rate that LIBSVM's ``-v`` prints). Among equals
    the smaller C wins, as in LIBSVM's ``grid.py`` for one gamma; then the smaller gamma, where ``grid.py``
    keeps the one that it happened to visit first.

    Parameters
    ----------
    kernel : {"stump", "perceptron", "gaussian"} or callable, default="stump"
        As in `DistanceKernelSVC`.
    Cs : sequence of float, default=None
        Grid of C. None is the protocol's: ``2^-17, 2^-15, .., 2^3``, for the Gaussian ``2^-5, .., 2^15``.
    gammas : sequence of float, default=None
        Grid of gamma of the Gaussian kernel. None is the protocol's: ``2^-15, 2^-13, .., 2^3``.
    cv : int or splitter, default=5
        Number of stratified, shuffled folds, or anything with ``split``.
    ties : {"smallest", "largest"}, default="smallest"
        Which C, and then which gamma, wins among equal counts.
    tol : float, default=1e-3
        As in `DistanceKernelSVC`.
    max_iter : int, default=10_000_000
        As in `DistanceKernelSVC`.
    verbose : bool or int, default=False
        Draw progress bars over the values of gamma, if Gaussian, and over the classes of the last fit; above
        1, leave them there.
    random_state : int, RandomState or None, default=None
        Shuffles the folds where ``cv`` is a number.

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
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        verbose: bool | int = False,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.ties = ties
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DistanceKernelSVCCV:
        """Select C, and gamma if Gaussian, on samples X (n, d) with labels y (n,); refit on all of them.

        ``sample_weight`` (n,) multiplies each sample's C, and counts it so often when it is held out.
        """
        data = self._check_training(X, y, sample_weight)
        self._check_solver_parameters()
        if self.ties not in ("smallest", "largest"):
            raise ValueError(f"ties must be 'smallest' or 'largest', got {self.ties!r}.")
        gaussian = self.kernel == "gaussian"
        self.Cs_ = _grid(self.Cs, GAUSSIAN_CS if gaussian else DISTANCE_CS, "Cs")
        folds = self._folds(data, y, sample_weight)
        if gaussian:
            return self._search_gaussian(data, folds)
        self._kernel = _make_kernel(self.kernel, None)
        K = self._kernel(data.X, data.X)
        self.cv_scores_ = self._count(K, data, folds) / _held_out(folds, data.weight)
        self.best_C_ = float(self.Cs_[self._choose(self.cv_scores_[np.newaxis])[1]])
        return self._fit_machines(K, data, self.best_C_)

    def _search_gaussian(self, data: TrainingData, folds: list) -> DistanceKernelSVCCV:
        """Search the grid of gamma and C; every kernel matrix comes from one matrix of distances."""
        self.gammas_ = _grid(self.gammas, GAUSSIAN_GAMMAS, "gammas")
        distances = kernels.squared_distances(data.X)
        counts = [
            self._count(np.exp(-self.gammas_[g] * distances), data, folds)
            for g in progress(len(self.gammas_), self.verbose, label(self))
        ]
        self.cv_scores_ = np.array(counts) / _held_out(folds, data.weight)
        i, j = self._choose(self.cv_scores_)
        self.best_gamma_, self.best_C_ = float(self.gammas_[i]), float(self.Cs_[j])
        self._kernel = _make_kernel("gaussian", self.best_gamma_)
        return self._fit_machines(np.exp(-self.best_gamma_ * distances), data, self.best_C_)

    def _count(self, K: np.ndarray, data: TrainingData, folds: list) -> np.ndarray:
        """Weight of the correct held-out samples of all folds together, for each C."""
        signs = class_signs(data.labels, data.n_classes)
        options = {"sample_weight": data.weight, "tol": self.tol, "max_iter": self.max_iter}
        Y = signs[0] if data.n_classes == 2 else signs.T
        return cross_validate_path(K, Y, self.Cs_, folds, **options).sum(axis=1)

    def _choose(self, scores: np.ndarray) -> tuple[int, int]:
        """Best (gamma, C) of the grid; among equals the smallest C, then gamma, or the largest."""
        self.best_score_ = float(scores.max())
        gamma, C = np.nonzero(scores == scores.max())
        order = np.lexsort((gamma, C))
        winner = order[0 if self.ties == "smallest" else -1]
        return int(gamma[winner]), int(C[winner])

    def _folds(self, data: TrainingData, y: Any, sample_weight: Any) -> list:
        """Folds of the samples given, as indices among those of positive weight."""
        labels = np.unique(np.asarray(y).ravel(), return_inverse=True)[1]
        kept = check_weights(sample_weight, len(labels)) > 0
        if kept.all():
            return list(self._splitter().split(data.X, data.labels))
        position = np.cumsum(kept) - 1
        split = self._splitter().split(np.zeros((len(labels), 1)), labels)
        folds = [(position[train[kept[train]]], position[test[kept[test]]]) for train, test in split]
        return [(train, test) for train, test in folds if len(train) and len(test)]

    def _splitter(self) -> Any:
        """Stratified shuffled folds for a number, else what was given."""
        if isinstance(self.cv, (int, np.integer)):
            return StratifiedKFold(int(self.cv), shuffle=True, random_state=self.random_state)
        return check_cv(self.cv, classifier=True)


def _make_kernel(kernel: str | Callable, gamma: float | None) -> Callable:
    """Kernel as a function of two arrays that can be pickled."""
    if callable(kernel):
        return kernel
    if kernel == "gaussian":
        return _Gaussian(gamma)
    named = {"stump": kernels.stump_kernel, "perceptron": kernels.perceptron_kernel}
    if kernel not in named:
        raise ValueError(f"kernel must be 'stump', 'perceptron', 'gaussian' or callable, got {kernel!r}.")
    return named[kernel]


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
    return check_scalar(gamma, "gamma", (int, float, np.number), min_val=0, include_boundaries="neither")


def _grid(values: Any, default: np.ndarray, name: str) -> np.ndarray:
    """Sorted grid of positive numbers."""
    grid = np.sort(np.asarray(default if values is None else values, dtype=np.float64).ravel())
    if grid.size == 0 or not (np.isfinite(grid).all() and grid[0] > 0):
        raise ValueError(f"{name} must hold positive finite numbers, got {values!r}.")
    return grid


def _held_out(folds: list, weight: np.ndarray) -> float:
    """Weight of the held-out samples of all folds together."""
    return float(sum(weight[test].sum() for _, test in folds))
