"""Trials of the methods of today beside the mixture: multiple kernel learning and gradient boosting."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls
from sklearn.ensemble import HistGradientBoostingClassifier

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.hypotheses.kernel_library import Kernel
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_hinge import kernel_hinge_path
from kernsemble.trials.trial import Trial
from bi2004.draws import Draw, Task, draw, percent_wrong
from bi2004.kernels import Forms, make_library, resolve
from bi2004.plan import paper
from bi2004.runs import Rules
from bi2004.sets import CHOICES, NORMS

MODERN = ("1-norm mixture", "2-norm mixture", "aligned kernels", "gradient boosting", "boosting, equal cost")
_LEAVES = 31


@paper.trials("modern", methods=MODERN, datasets=("Forest", "Digits"), together=True)
def modern(
    trial: Trial, *, task: Task, forms: Forms, rules: Rules, Cs: list[float]
) -> dict[str, dict[str, float]]:
    """The mixture (TR3) beside multiple kernel learning and gradient boosting, on the draws of the tables.

    operations: multiplications, exponentials and comparisons that one prediction takes. Boosting at equal
    cost has as many trees as the 1-norm mixture's operations pay for, a comparison counted like a
    multiplication.
    """
    data = draw(trial, trial.dataset, task)
    kernels = make_library(CHOICES["L,Q,R"], forms)
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
    runs = [_until_patience_ends(kernels, data, C, norm, rules) for C in Cs]
    seconds = time.process_time() - start
    best = runs[int(np.argmin([min(run.validation_path_) for run in runs]))]
    start = time.process_time()
    scores = best.decision_function(data.X_test)
    test_seconds = time.process_time() - start
    counts, d = best.n_columns_, data.X.shape[1]
    operations = d * (min(1, counts["linear"]) + counts["quadratic"] + counts["rbf"])
    return _outcome(scores, data, operations, seconds, test_seconds)


def _until_patience_ends(
    kernels: Sequence[Kernel], data: Draw, C: float, norm: str, rules: Rules
) -> CGBoostClassifier:
    """Stop where TR3 says: no round after that is needed here, or paid for."""
    model = CGBoostClassifier(
        kernels,
        C,
        norm=NORMS[norm],
        intercept=rules.offset,
        stratified=True,
        termination="TR3",
        patience=rules.patience,
        n_rounds=rules.n_rounds,
        tol=rules.gap,
        tau=rules.tau,
    )
    return model.fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)


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
    kernels: Sequence[Kernel], mu: np.ndarray, X: np.ndarray, solution: Solution, Z: np.ndarray
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
