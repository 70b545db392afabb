"""The Diversity Regularized Machine (Yu, Li and Zhou, IJCAI 2011): an ensemble of nu-SVMs pushed apart.

Problem, algorithm, named choices and what its optimum looks like are in `masters.drm`. Several classes are
told apart by one such ensemble a class against the rest, all on one kernel matrix.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, check_scalar

from kernsemble.estimators._base import at_rows, progress
from kernsemble.estimators._single_fit import SingleFitClassifier, class_signs
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.base import label
from kernsemble.kernels import gaussian_kernel, linear_kernel
from kernsemble.masters.drm import solve_drm
from kernsemble.masters.exclusivity import ExclusivitySolution

MATRICES = 6  # of all pairs of rows, which a fit holds at its peak


class DRM(SingleFitClassifier):
    """Diversity Regularized Machine.

    Parameters
    ----------
    n_components : int, default=10
        Number of machines T.
    nu : float, default=0.5
        Between 0 and 1: bounds the share of margin errors from above, that of support vectors from below.
    mu : float, default=0.1
        Weight of the similarity of pairs of machines.
    q : {1, 2}, default=1
        Power of the slack: 1 is LIBSVM's nu-SVM, 2 the slack of the 2011 paper.
    kernel : {"linear", "gaussian", "rbf"} or callable, default="linear"
        A callable takes two arrays and returns their kernel matrix.
    gamma : float, default=1.0
        Of the Gaussian kernel.
    intercept_scaling : float, default=1.0
        Value of a constant feature that stands for the intercept, as in LIBLINEAR; 0 leaves it out.
    tol : float, default=1e-6
        Relative decrease of the objective in a round at which to stop. Its root is the largest relative gap
        that counts as converged: samples far from 0 or features of unequal scales may not allow it.
    max_iter : int, default=500
        Most rounds.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, RandomState or None, default=None
        Draws the bootstrap samples from which the machines start.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Draw a progress bar over the classes; above 1, leave it there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training samples.
    dual_coef_ : ndarray of shape (n_machines, n_samples, n_components)
        Coefficients of the machines over the training samples; one ensemble for two classes, else one a
        class.
    diversity_ : ndarray of shape (n_machines,)
        Mean of ``1 - cos(w_t, w_s)`` over pairs of machines.
    objective_ : ndarray of shape (n_machines,)
        Objectives.
    objective_path_ : list of ndarray
        Objective at the start and after each round.
    dual_gap_ : float
        Largest distance of an objective from a bound of all values; it covers what rounding hides.
    relative_gap_ : float
        The largest one relative to the size of its objective.
    dual_weights_ : ndarray of shape (n_machines, n_samples)
        Dual weights a_i of one machine, which prove the bound, with the sign of the sample: + for
        ``classes_[1]``, or for the machine's class. They sum to nu without their signs.
    n_iter_ : int
        Largest number of rounds.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    ExRM : Diversity by another penalty, for linear machines and far more samples.
    sklearn.svm.NuSVC : One machine, with a free intercept.
    sklearn.ensemble.BaggingClassifier : Diversity by samples alone.

    Notes
    -----
    A fit holds up to six matrices of all pairs of samples, 48 n^2 bytes: 5 GB for 10,000. Bring features to
    one scale; a sparse X is filled in. Probabilities as in `CGEns`.

    References
    ----------
    Yu, Li and Zhou, Diversity Regularized Machine, IJCAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> from kernsemble import DRM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = minmax_scale(X, (-1, 1))
    >>> DRM(3, nu=0.2, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        nu: float = 0.5,
        mu: float = 0.1,
        q: int = 1,
        kernel: str | Callable = "linear",
        gamma: float = 1.0,
        intercept_scaling: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 500,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        self.n_components = n_components
        self.nu = nu
        self.mu = mu
        self.q = q
        self.kernel = kernel
        self.gamma = gamma
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @in_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DRM:
        """Fit to samples X (n, d) with labels y (n,); ``sample_weight`` (n,) weighs each sample's loss."""
        data = self._check_training(X, y, sample_weight)
        self._check_parameters()
        self._check_memory(len(data.X))
        self.X_fit_ = data.X.copy()  # the model is made of it
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # the master refuses what overflowed
                K = self._kernel_matrix(data.X)
        except MemoryError as error:
            n = len(data.X)
            raise MemoryError(
                f"{label(self)} holds kernel matrices of all pairs of rows, and one of {n} x {n} takes "
                f"{8.0 * n * n:.2g} bytes: take fewer rows, or ExRM."
            ) from error
        random = check_random_state(self.random_state)
        signs = class_signs(data.labels, data.n_classes)
        solutions = [
            self._solve(K, signs[k], np.random.default_rng(random.randint(2**31 - 1)), data.weight)
            for k in progress(len(signs), self.verbose, label(self), "machine")
        ]
        self.dual_coef_ = np.array([solution.w for solution in solutions])
        self.diversity_ = np.array([_mean_angle(K, solution.w) for solution in solutions])
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.objective_path_ = [solution.objective_path for solution in solutions]
        self._keep_gap(solutions, label(self))
        self.dual_weights_ = np.array(
            [at_rows(sign * solution.u, data.used) for sign, solution in zip(signs, solutions, strict=True)]
        )
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        if self._is_empty():
            warnings.warn(
                f"{label(self)}: at nu={self.nu:g} no margin is possible, all machines are zero, and the "
                "class of the largest weight is predicted. Raise nu.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def component_decision_function(self, X: Any) -> np.ndarray:
        """Return machines' scores: (n, n_components) if two-class, else (n, n_classes, n_components)."""
        K = self._kernel_matrix(self._check_input(X))
        scores = np.einsum("ij,kjt->ikt", K, self.dual_coef_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _decide(self, X: np.ndarray) -> np.ndarray:
        """Decisions of the mean machine."""
        scores = self._kernel_matrix(X) @ self.dual_coef_.mean(axis=2).T
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _is_empty(self) -> bool:
        return not self.dual_coef_.any()

    def _kernel_matrix(self, X: np.ndarray) -> np.ndarray:
        """Kernel between X and the training samples, with the constant that stands for the intercept."""
        if callable(self.kernel):
            K = np.array(self.kernel(X, self.X_fit_), dtype=np.float64)
        elif self.kernel in ("gaussian", "rbf"):
            K = gaussian_kernel(X, self.X_fit_, gamma=self.gamma)
        else:
            K = linear_kernel(X, self.X_fit_)
        return K + self.intercept_scaling**2

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        number = (int, float, np.number)
        check_scalar(self.n_components, "n_components", (int, np.integer), min_val=1)
        check_scalar(self.nu, "nu", number, min_val=0, max_val=1, include_boundaries="right")
        for name in ("mu", "gamma", "intercept_scaling", "tol"):
            check_scalar(getattr(self, name), name, number, min_val=0)
        check_scalar(self.max_iter, "max_iter", (int, np.integer), min_val=1)
        if self.q not in (1, 2):
            raise ValueError(f"q must be 1 or 2, got {self.q!r}.")
        if not (callable(self.kernel) or self.kernel in ("linear", "gaussian", "rbf")):
            raise ValueError(f"kernel must be 'linear', 'gaussian' ('rbf') or callable, got {self.kernel!r}.")

    def _check_memory(self, n: int) -> None:
        """Refuse so many rows that a fit would not go into the machine's memory."""
        needed, there = 8.0 * MATRICES * n * n, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if needed > there:
            raise MemoryError(
                f"{label(self)} holds {MATRICES} matrices of all pairs of rows, {needed / 1e9:.3g} GB for "
                f"{n} rows; this machine has {there / 1e9:.3g} GB: take fewer rows, or ExRM."
            )

    def _solve(
        self, K: np.ndarray, signs: np.ndarray, rng: np.random.Generator, weight: np.ndarray
    ) -> ExclusivitySolution:
        """Solve one two-class problem."""
        options = {"nu": self.nu, "mu": self.mu, "q": self.q, "tol": self.tol, "max_iter": self.max_iter}
        return solve_drm(K, signs, self.n_components, rng=rng, sample_weight=weight, **options)


def _mean_angle(K: np.ndarray, coefficients: np.ndarray) -> float:
    """Mean of 1 - cos over pairs of machines; nan with a single machine."""
    T = coefficients.shape[1]
    if T < 2:
        return float("nan")
    products = coefficients.T @ K @ coefficients
    lengths = np.sqrt(np.maximum(products.diagonal(), 1e-300))
    cosines = products / np.outer(lengths, lengths)
    return float(1.0 - (cosines.sum() - np.trace(cosines)) / (T * (T - 1)))
