"""The Exclusivity Regularized Machine of guo2017: several linear machines trained at once, averaged.

The components minimize problem (5), hinge losses plus the squared l1 norm across components of each
feature. Three solvers: the algorithm as printed, a two-block method that provably converges, and the exact
solution, which by symmetry is one machine with ``lam / n_components`` (proved in `masters.exclusivity`).
Each states its gap from the certified optimum. Several classes are told apart by one such ensemble a class
against the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from kernsemble.estimators._base import (
    TrainingData,
    at_rows,
    check_positive,
    progress,
    refuse_huge,
)
from kernsemble.estimators._single_fit import SingleFitClassifier, class_signs
from kernsemble.hypotheses._threads import in_threads
from kernsemble.hypotheses.base import label
from kernsemble.masters.exclusivity import (
    EXACT_TOL,
    ExclusivitySolution,
    relaxed_exclusivity,
    solve_admm,
    solve_exclusivity,
    solve_printed_alm,
)

SOLVERS = {"exact": solve_exclusivity, "admm": solve_admm, "printed": solve_printed_alm}
_LARGEST = 1e100  # value of a feature: its square times a cost, summed over samples, is far from infinity


class ExRM(SingleFitClassifier):
    """Exclusivity Regularized Machine, an ensemble of linear support vector machines.

    Parameters
    ----------
    n_components : int, default=10
        Number of components C.
    lam : float, default=2.0
        Weight of the sum of losses of each component.
    p : {1, 2}, default=2
        Power of the hinge loss.
    solver : {"exact", "admm", "printed"}, default="exact"
        The exact solution, the convergent two-block method, or Algorithm 2 as printed.
    start : {"printed", "random"}, default="printed"
        First iterate of the iterative solvers; the printed one is the same in all components, and so remain
        they.
    tol : float, default=None
        When to stop: a relative gap for "exact" (None is 1e-9) and "admm" (1e-6), a change of the objective
        for "printed" (0.05, the paper's).
    max_iter : int, default=None
        Most iterations; None is 1,000, 20,000 and 1,000.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights, by class; "balanced" gives each class the same total.
    random_state : int, RandomState or None, default=None
        Source of the random start.
    n_jobs : int or None, default=None
        Most threads; None and -1 are one for each processor, ``OMP_NUM_THREADS`` at most.
    verbose : bool or int, default=False
        Whether to show a progress bar over the machines; 2 leaves it there.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_machines, n_features)
        Mean of the components: the ensemble. One machine for two classes, otherwise one a class.
    intercept_ : ndarray of shape (n_machines,)
        Mean of the components' intercepts.
    components_ : ndarray of shape (n_machines, n_features, n_components)
        The components.
    component_intercepts_ : ndarray of shape (n_machines, n_components)
        Their intercepts.
    exclusivity_ : ndarray of shape (n_machines,)
        Mean relaxed exclusivity of pairs of unit components: 0 shares no feature, 1 is no diversity at all.
    objective_ : ndarray of shape (n_machines,)
        Objective (5).
    dual_gap_ : float
        Largest distance of an objective from its certified optimum.
    relative_gap_ : float
        The largest one relative to its objective.
    dual_weights_ : ndarray of shape (n_machines, n_samples)
        Dual weights u_i, the same for each component, with the sign of the sample: + for ``classes_[1]``, or
        for the machine's class. They are those of the certified optimum.
    objective_path_, split_path_ : list of ndarray
        Objectives (5) and (6) after each iteration, for each machine.
    n_iter_ : int
        Largest number of iterations.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Number of features in ``fit``, and their names where X had some.

    See Also
    --------
    DRM : Diversity by angles, with kernels.
    sklearn.svm.LinearSVC : The same machine, once, with a penalized intercept.
    CGBoostClassifier : Linear and other kernels together.

    Notes
    -----
    The optimum consists of equal components, which are the support vector machine of ``lam / n_components``:
    as an ensemble it is one machine. Bring features to one scale; a sparse X is filled in. With
    ``solver="exact"`` time is nearly proportional to the samples: millions of them. Probabilities as in
    `CGEns`.

    References
    ----------
    Guo, Wang and Ling, Exclusivity Regularized Machine: A New Ensemble SVM Classifier, IJCAI 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import minmax_scale
    >>> from kernsemble import ExRM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = minmax_scale(X, (-1, 1))
    >>> ExRM(n_components=5).fit(X, y).score(X, y) > 0.97
    True
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        lam: float = 2.0,
        p: int = 2,
        solver: str = "exact",
        start: str = "printed",
        tol: float | None = None,
        max_iter: int | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ):
        self.n_components = n_components
        self.lam = lam
        self.p = p
        self.solver = solver
        self.start = start
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @in_threads
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ExRM:
        """Fit to samples X (n, d) with labels y (n,); ``sample_weight`` (n,) multiplies the losses."""
        data = self._check_training(X, y, sample_weight)
        refuse_huge(data.X, _LARGEST)
        options = self._check_parameters()
        machines = class_signs(data.labels, data.n_classes)
        solutions = [
            self._solve(data, machines[k], options)
            for k in progress(len(machines), self.verbose, label(self), "machine")
        ]
        self.components_ = np.array([solution.w for solution in solutions])
        self.component_intercepts_ = np.array([solution.b for solution in solutions])
        self.coef_ = self.components_.mean(axis=2)
        self.intercept_ = self.component_intercepts_.mean(axis=1)
        self.exclusivity_ = np.array([relaxed_exclusivity(W) for W in self.components_])
        self.objective_ = np.array([solution.objective for solution in solutions])
        self._keep_gap(solutions, f"{label(self)}(solver={self.solver!r})")
        duals = solutions if self.solver == "exact" else [self._exact(data, signs) for signs in machines]
        self.dual_weights_ = np.array(
            [at_rows(signs * dual.u[:, 0], data.used) for signs, dual in zip(machines, duals, strict=True)]
        )
        self.objective_path_ = [solution.objective_path for solution in solutions]
        self.split_path_ = [solution.split_path for solution in solutions]
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        return self

    def component_decision_function(self, X: Any) -> np.ndarray:
        """Return components' scores: (n, n_components) if two-class, else (n, n_classes, n_components)."""
        X = self._check_input(X)
        scores = np.einsum("ij,kjc->ikc", X, self.components_) + self.component_intercepts_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _decide(self, X: np.ndarray) -> np.ndarray:
        """Decisions of the averaged machine."""
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def _check_parameters(self) -> dict[str, Any]:
        """Validate, and return the solver's keywords."""
        check_scalar(self.n_components, "n_components", (int, np.integer), min_val=1)
        check_positive(self.lam, "lam")
        if self.tol is not None:
            check_positive(self.tol, "tol")
        if self.max_iter is not None:
            check_scalar(self.max_iter, "max_iter", (int, np.integer), min_val=1)
        if self.p not in (1, 2):
            raise ValueError(f"p must be 1 or 2, got {self.p!r}.")
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {sorted(SOLVERS)}, got {self.solver!r}.")
        if self.start not in ("printed", "random"):
            raise ValueError(f"start must be 'printed' or 'random', got {self.start!r}.")
        options = {"tol": self.tol, "max_iter": self.max_iter}
        options = {name: value for name, value in options.items() if value is not None}
        if self.start == "random" and self.solver != "exact":
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            options["rng"] = np.random.default_rng(seed)
        return options

    def _solve(self, data: TrainingData, signs: np.ndarray, options: dict[str, Any]) -> ExclusivitySolution:
        """Solve one two-class problem."""
        solve = SOLVERS[self.solver]
        return solve(data.X, signs, self.lam, self.n_components, self.p, sample_weight=data.weight, **options)

    def _exact(self, data: TrainingData, signs: np.ndarray) -> ExclusivitySolution:
        """Solve it exactly: this is what the gap of the other solvers is measured from."""
        exact = {"sample_weight": data.weight, "tol": EXACT_TOL}
        return solve_exclusivity(data.X, signs, self.lam, self.n_components, self.p, **exact)
