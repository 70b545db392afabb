"""Trials that the paper did not run: several RBF widths in one library, and the methods of today."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import nnls
from sklearn.ensemble import HistGradientBoostingClassifier

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.experiments.bi2004.draws import DigitsTask, Draw, Scaling, draw, percent_wrong, small_set
from kernsemble.experiments.bi2004.kernels import LinearForm, Offset, QuadraticForm, make_library, resolve
from kernsemble.experiments.bi2004.plan import paper
from kernsemble.experiments.bi2004.runs import Rules, fit_run, patient_rounds, weights_after
from kernsemble.experiments.bi2004.sets import CHOICES, SMALL_SETS, WIDTHS_TARGET
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.kernel_library import GaussianKernel, Kernel
from kernsemble.masters.kernel_hinge import kernel_hinge_path

WIDTH_METHODS = ("mean width", "one width, selected", "library of widths")
MODERN = ("1-norm mixture", "2-norm mixture", "aligned kernels", "gradient boosting", "boosting, equal cost")
_LEAVES = 31
Fit = Callable[[Sequence[Kernel], float, np.ndarray, np.ndarray], CGBoostClassifier | CGBoostRegressor]


def two_widths(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw points of [-1, 1]^2 and a target of two broad and four narrow bumps, without noise."""
    X = rng.uniform(-1.0, 1.0, (n, 2))
    broad = np.array([[-1.0, 0.0], [1.0, 0.0]])
    narrow = np.array([[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]])
    squares = [((X[:, None] - centers) ** 2).sum(axis=2) for centers in (broad, narrow)]
    bumps = [np.exp(-some / width).sum(axis=1) for some, width in zip(squares, (1.0, 0.05), strict=True)]
    return X, 2.0 * bumps[0] + bumps[1]


@paper.trials("widths", methods=WIDTH_METHODS, datasets=(*SMALL_SETS, WIDTHS_TARGET))
def widths(
    trial: Trial,
    *,
    factors: list[float],
    widths_Cs: list[float],
    widths_share: float,
    widths_points: int,
    target_noise: float,
    target_epsilon: float,
    gap: float,
) -> dict[str, float]:
    """1-norm models of RBF columns; C (and the width, if one is selected) by a quarter of the training rows.

    The error is the test error in percent, or 100 times the root mean squared error against the target.
    """
    (X, y), (Z, z), loss, fit = _widths_problem(
        trial, widths_share, widths_points, target_noise, target_epsilon, gap
    )
    single = [[GaussianKernel(factor=factor)] for factor in factors]
    libraries = {
        "mean width": [[GaussianKernel()]],
        "one width, selected": single,
        "library of widths": [[kernel for (kernel,) in sorted(single, key=lambda k: -k[0].factor)]],
    }[trial.method]
    cut = 3 * len(y) // 4
    start = time.process_time()
    candidates = [(library, C) for library in libraries for C in widths_Cs]
    losses = [loss(fit(library, C, X[:cut], y[:cut]), X[cut:], y[cut:]) for library, C in candidates]
    model = fit(*candidates[int(np.argmin(losses))], X, y)
    seconds = time.process_time() - start
    return {
        "error": loss(model, Z, z),
        "columns": float(np.count_nonzero(model.coef_)),
        "evaluations": float(model.n_kernel_evaluations_),
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "fit_seconds": seconds,
    }


def _widths_problem(trial: Trial, share: float, n_points: int, noise: float, epsilon: float, gap: float):
    """Return training and test data, the loss of a model, and how to fit one."""
    rng = trial.shared_rng("widths")
    options = {"norm": "l1", "tol": gap, "stratified": False}
    if trial.dataset == WIDTHS_TARGET:
        X, y = two_widths(rng, n_points)
        y = y + noise * rng.standard_normal(n_points)

        def fit(kernels, C, A, a):
            model = CGBoostRegressor(kernels, C, epsilon=epsilon, n_rounds=len(kernels) * len(a), **options)
            return model.fit(A, a)

        return (X, y), two_widths(rng, 2000), _rmse_percent, fit
    X, y = small_set(trial.dataset)
    order = rng.permutation(len(y))
    train, test = np.split(order, [int(share * len(y))])

    def fit(kernels, C, A, a):
        return CGBoostClassifier(kernels, C, n_rounds=len(kernels) * len(a), **options).fit(A, a)

    return (X[train], y[train]), (X[test], y[test]), _percent, fit


def _percent(model: CGBoostClassifier, Z: np.ndarray, z: np.ndarray) -> float:
    return percent_wrong(model.decision_function(Z), z)


def _rmse_percent(model: CGBoostRegressor, Z: np.ndarray, z: np.ndarray) -> float:
    return 100.0 * float(np.sqrt(np.mean(np.square(model.predict(Z) - z))))


@paper.trials("modern", methods=MODERN, datasets=("Forest", "Digits"), together=True)
def modern(
    trial: Trial,
    *,
    sizes: dict[str, int],
    scaling: Scaling,
    digits_task: DigitsTask,
    linear_form: LinearForm,
    quadratic_form: QuadraticForm,
    offset: Offset,
    tau: float,
    gap: float,
    patience: int,
    Cs: list[float],
    n_rounds: int,
) -> dict[str, dict[str, float]]:
    """The mixture (TR3) beside multiple kernel learning and gradient boosting, on the draws of the tables.

    operations: multiplications, exponentials and comparisons that one prediction takes. Boosting at equal
    cost has as many trees as the 1-norm mixture's operations pay for, a comparison counted like a
    multiplication.
    """
    data = draw(trial, trial.dataset, sizes, scaling, digits_task)
    kernels = make_library(CHOICES["L,Q,R"], linear_form, quadratic_form)
    rules = Rules(offset, tau, gap, patience, n_rounds)
    found = {f"{norm} mixture": _mixture(data, kernels, Cs, norm, rules) for norm in ("1-norm", "2-norm")}
    found["aligned kernels"] = _aligned(data, kernels, Cs)
    depth = np.log2(_LEAVES)
    affordable = max(1, round(found["1-norm mixture"]["operations"] / depth))
    for name, n_trees in (("gradient boosting", 100), ("boosting, equal cost", affordable)):
        found[name] = _boosting(data, n_trees, trial.seed())
    return found


def _mixture(
    data: Draw, kernels: Sequence[Kernel], Cs: Sequence[float], norm: str, rules: Rules
) -> dict[str, float]:
    start = time.process_time()
    runs = [fit_run(kernels, data, C, norm, rules) for C in Cs]
    seconds = time.process_time() - start
    rounds = [patient_rounds(run.validation_path_, rules.patience)[0] for run in runs]
    losses = [run.validation_path_[t - 1] for run, t in zip(runs, rounds, strict=True)]
    best = int(np.argmin(losses))
    w, b = weights_after(runs[best], rounds[best])
    start = time.process_time()
    scores = runs[best].hypotheses_.decision(data.X_test, w, b)
    test_seconds = time.process_time() - start
    counts, d = runs[best].hypotheses_.counts(w), data.X.shape[1]
    operations = d * (min(1, counts["linear"]) + counts["quadratic"] + counts["rbf"])
    return _outcome(scores, data, operations, seconds, test_seconds)


def _outcome(scores: np.ndarray, data: Draw, operations: float, fit: float, test: float) -> dict[str, float]:
    return {
        "error": percent_wrong(scores, data.y_test),
        "operations": float(operations),
        "fit_seconds": fit,
        "test_seconds": test,
    }


def _aligned(data: Draw, kernels: Sequence[Kernel], Cs: Sequence[float]) -> dict[str, float]:
    """Two-stage multiple kernel learning: weights >= 0 by centered alignment, then a support vector machine.

    Cortes, Mohri and Rostamizadeh, Algorithms for learning kernels based on centered alignment (2012).
    """
    start = time.process_time()
    resolved = resolve(kernels, data.X)
    matrices = [kernel.matrix(data.X, data.X) for kernel in resolved]
    scales = [np.trace(K) / len(K) for K in matrices]
    centered = [K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() for K in matrices]
    A = np.column_stack([K.ravel() / s for K, s in zip(centered, scales, strict=True)])
    mu = nnls(A, np.outer(data.y, data.y).ravel())[0] / scales
    K = sum(m * some for m, some in zip(mu, matrices, strict=True))
    path = kernel_hinge_path(K, data.y, Cs)
    fit_seconds = time.process_time() - start
    errors = [percent_wrong(_composite(resolved, mu, data.X, s, data.X_val), data.y_val) for s in path]
    best = path[int(np.argmin(errors))]
    start = time.process_time()
    scores = _composite(resolved, mu, data.X, best, data.X_test)
    seconds = time.process_time() - start
    used = np.array([mu[0] > 0, *(np.count_nonzero(best.w) * (m > 0) for m in mu[1:])])
    return _outcome(scores, data, float(data.X.shape[1] * used.sum()), fit_seconds, seconds)


def _composite(
    kernels: Sequence[Kernel], mu: np.ndarray, X: np.ndarray, solution, Z: np.ndarray
) -> np.ndarray:
    used = solution.w != 0
    parts = (
        m * kernel.decision(Z, X[used], solution.w[used]) for m, kernel in zip(mu, kernels, strict=True) if m
    )
    return sum(parts) + solution.b


def _boosting(data: Draw, n_trees: int, seed: int) -> dict[str, float]:
    """Histogram gradient boosting with its library's defaults, but for the number of trees."""
    start = time.process_time()
    model = HistGradientBoostingClassifier(max_iter=n_trees, early_stopping=False, random_state=seed)
    model.fit(data.X, data.y)
    fit_seconds = time.process_time() - start
    start = time.process_time()
    scores = model.decision_function(data.X_test)
    seconds = time.process_time() - start
    return _outcome(scores, data, n_trees * float(np.log2(_LEAVES)), fit_seconds, seconds)
