"""Trials of table 2: five-fold cross-validation on three small sets, and what the offset changes there."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.experiments.bi2004.draws import folds_of, small_set
from kernsemble.experiments.bi2004.kernels import (
    LinearForm,
    Offset,
    QuadraticForm,
    make_library,
    model_scores,
    optimal_models,
    resolve,
)
from kernsemble.experiments.bi2004.plan import paper
from kernsemble.experiments.bi2004.runs import columns_by_kernel, weights_after
from kernsemble.experiments.bi2004.sets import SMALL_CHOICES, SMALL_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.kernel_library import Kernel

Folds = list[tuple[np.ndarray, np.ndarray]]
_TIMED_ROWS = 10_000


def choose_cost(
    kernels: Sequence[Kernel],
    X: np.ndarray,
    y: np.ndarray,
    Cs: Sequence[float],
    folds: Folds,
    offset: Offset,
) -> float:
    """Return the C of least cross-validation error of the complete solutions, the smallest of equal ones."""
    wrong = np.zeros(len(Cs))
    for train, held in folds:
        resolved = resolve(kernels, X[train])
        models = optimal_models(resolved, X[train], y[train], Cs, offset)
        scores = [model_scores(resolved, X[train], model, X[held]) for model in models]
        wrong += [np.sum((score > 0) != (y[held] > 0)) for score in scores]
    return Cs[int(np.argmin(wrong))]


def rates(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """False positives among the negatives and false negatives among the positives, in percent."""
    wrong = (scores > 0) != (y > 0)
    return tuple(round(100.0 * float(wrong[y == sign].mean()), 4) for sign in (-1.0, 1.0))


@paper.trials("table2", methods=tuple(SMALL_CHOICES), datasets=SMALL_SETS)
def cross_validation(
    trial: Trial,
    *,
    linear_form: LinearForm,
    quadratic_form: QuadraticForm,
    offset: Offset,
    tau: float,
    gap: float,
    Cs: list[float],
    n_folds: int,
) -> dict[str, float]:
    """Errors pooled over the folds; columns, evaluations and seconds are means over the folds.

    C is chosen within the first fold's training set and kept. The run of column generation goes on until the
    certified gap is small or no column is left; it is read there and where TR1 would have stopped it.
    """
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kernels = make_library(SMALL_CHOICES[trial.method], linear_form, quadratic_form)
    first = folds[0][0]
    C = choose_cost(kernels, X[first], y[first], Cs, inner_folds(len(first), n_folds), offset)
    scores = np.empty((3, len(y)))
    parts = []
    for train, held in folds:
        parts.append({})
        model = _fit(kernels, X[train], y[train], C, (offset, tau, gap))
        at_tr1 = weights_after(model, model.termination_rounds_["TR1"] or model.n_rounds_)
        scores[0, held] = model.decision_function(X[held])
        scores[1, held] = model.hypotheses_.decision(X[held], *at_tr1)
        resolved = resolve(kernels, X[train])
        best = optimal_models(resolved, X[train], y[train], [C], offset)[0]
        scores[2, held] = model_scores(resolved, X[train], best, X[held])
        parts[-1] = _describe(model, at_tr1[0], X[held])
    pooled = zip(("tst", "TR1", "optimum"), (rates(some, y) for some in scores), strict=True)
    found = {
        f"{rate}_{where}": value
        for where, pair in pooled
        for rate, value in zip(("FP", "FN"), pair, strict=True)
    }
    means = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}
    error = 100.0 * float(np.mean((scores[0] > 0) != (y > 0)))
    return found | means | {"error": error, "log10_C": float(np.log10(C))}


def inner_folds(n_samples: int, n_folds: int) -> Folds:
    """Return folds of rows that are in random order already."""
    fold = np.arange(n_samples) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def _fit(
    kernels: Sequence[Kernel], X: np.ndarray, y: np.ndarray, C: float, rules: tuple[str, float, float]
) -> CGBoostClassifier:
    offset, tau, gap = rules
    n_rounds = len(kernels) * len(y)
    model = CGBoostClassifier(kernels, C, intercept=offset, n_rounds=n_rounds, tol=gap, tau=tau)
    return model.fit(X, y)


def _describe(model: CGBoostClassifier, w_tr1: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Columns at the end and at TR1, evaluations, gap, and seconds; those of the test for 10,000 points."""
    tiled = np.resize(Z, (_TIMED_ROWS, Z.shape[1]))
    times = []
    for _ in range(3):
        start = time.process_time()
        model.hypotheses_.decision(tiled, model.coef_, model.intercept_)
        times.append(time.process_time() - start)
    end, tr1 = (columns_by_kernel(model.hypotheses_.counts(w)) for w in (model.coef_, w_tr1))
    return {
        "C_l": end["linear"],
        "C_r": end["rbf"],
        "C_l_TR1": tr1["linear"],
        "C_r_TR1": tr1["rbf"],
        "evaluations": model.n_kernel_evaluations_,
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "T_trn": float(model.oracle_seconds_path_.sum() + model.master_seconds_path_.sum()),
        "T_tst": min(times),
    }


@paper.trials("offset", methods=("free", "penalized", "none"), datasets=SMALL_SETS)
def offsets(
    trial: Trial,
    *,
    linear_form: LinearForm,
    quadratic_form: QuadraticForm,
    Cs: list[float],
    n_folds: int,
) -> dict[str, float]:
    """FP and FN rates of the complete solutions of table 2's four models, with one kind of offset."""
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kind: Offset = trial.method
    found = {}
    for name, library in SMALL_CHOICES.items():
        kernels = make_library(library, linear_form, quadratic_form)
        first = folds[0][0]
        C = choose_cost(kernels, X[first], y[first], Cs, inner_folds(len(first), n_folds), kind)
        scores = np.empty(len(y))
        for train, held in folds:
            resolved = resolve(kernels, X[train])
            model = optimal_models(resolved, X[train], y[train], [C], kind)[0]
            scores[held] = model_scores(resolved, X[train], model, X[held])
        found[f"FP_{name}"], found[f"FN_{name}"] = rates(scores, y)
    return found
