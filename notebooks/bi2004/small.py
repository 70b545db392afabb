"""Trials of table 2: five-fold cross-validation on three small sets, and what the offset changes there."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.hypotheses.kernel_library import Kernel
from kernsemble.trials.trial import Trial
from bi2004.draws import folds_of, small_set
from bi2004.kernels import (
    Forms,
    Model,
    Offset,
    make_library,
    model_scores,
    optimal_models,
    resolve,
)
from bi2004.plan import paper
from bi2004.runs import columns_by_kernel, weights_after
from bi2004.sets import SMALL_CHOICES, SMALL_SETS

Folds = list[tuple[np.ndarray, np.ndarray]]
_TIMED_ROWS = 10_000


@dataclass(frozen=True)
class Loss:
    """The offset, and what C multiplies: the sum of losses or their mean, of examples or of classes."""

    offset: Offset
    averaged: bool = False
    balanced: bool = False


LOSSES = {
    "free": Loss("free"),
    "penalized": Loss("penalized"),
    "none": Loss("none"),
    "free, C / n": Loss("free", averaged=True),
    "penalized, C / n": Loss("penalized", averaged=True),
    "free, balanced": Loss("free", balanced=True),
}


def complete_models(
    loss: Loss, kernels: Sequence[Kernel], X: np.ndarray, y: np.ndarray, Cs: Sequence[float]
) -> list[Model]:
    """Solve completely for each C; balanced losses of the two classes have equal sums of weights."""
    weight = np.ones(len(y))
    if loss.balanced:
        weight = np.where(y > 0, 0.5 * len(y) / (y > 0).sum(), 0.5 * len(y) / (y < 0).sum())
    if loss.averaged:
        weight = weight / len(y)
    return optimal_models(kernels, X, y, Cs, loss.offset, weight)


def choose_cost(
    loss: Loss, kernels: Sequence[Kernel], X: np.ndarray, y: np.ndarray, Cs: Sequence[float], n_folds: int
) -> float:
    """Return the C of least cross-validation error of the complete solutions, the smallest of equal ones."""
    wrong = np.zeros(len(Cs))
    for train, held in inner_folds(len(y), n_folds):
        resolved = resolve(kernels, X[train])
        models = complete_models(loss, resolved, X[train], y[train], Cs)
        scores = [model_scores(resolved, X[train], model, X[held]) for model in models]
        wrong += [np.sum((score > 0) != (y[held] > 0)) for score in scores]
    return Cs[int(np.argmin(wrong))]


def inner_folds(n_samples: int, n_folds: int) -> Folds:
    """Return folds of rows that are in random order already."""
    fold = np.arange(n_samples) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def rates(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """False positives among the negatives and false negatives among the positives, in percent."""
    wrong = (scores > 0) != (y > 0)
    return tuple(round(100.0 * float(wrong[y == sign].mean()), 4) for sign in (-1.0, 1.0))


@paper.trials("table2", methods=tuple(SMALL_CHOICES), datasets=SMALL_SETS)
def cross_validation(
    trial: Trial, *, forms: Forms, offset: Offset, tau: float, gap: float, Cs: list[float], n_folds: int
) -> dict[str, float]:
    """Errors pooled over the folds; columns, evaluations and seconds are means over the folds.

    C is chosen within the first fold's training set and kept. The run of column generation goes on until the
    certified gap is small or no column is left; it is read there and where TR1 would have stopped it.
    """
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kernels = make_library(SMALL_CHOICES[trial.method], forms)
    first, loss = folds[0][0], Loss(offset)
    C = choose_cost(loss, kernels, X[first], y[first], Cs, n_folds)
    scores, parts = {name: np.empty(len(y)) for name in ("tst", "TR1", "optimum")}, []
    for train, held in folds:
        model = CGBoostClassifier(
            kernels,
            C,
            intercept=offset,
            n_rounds=len(kernels) * len(train),
            tol=gap,
            tau=tau,
            stratified=True,
        ).fit(X[train], y[train])
        at_tr1 = weights_after(model, model.termination_rounds_["TR1"] or model.n_rounds_)
        resolved = resolve(kernels, X[train])
        (best,) = complete_models(loss, resolved, X[train], y[train], [C])
        scores["tst"][held] = model.decision_function(X[held])
        scores["TR1"][held] = model.hypotheses_.decision(X[held], *at_tr1)
        scores["optimum"][held] = model_scores(resolved, X[train], best, X[held])
        parts.append(_describe(model, at_tr1[0], X[held]))
    means = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}
    error = 100.0 * float(np.mean((scores["tst"] > 0) != (y > 0)))
    return _named_rates(scores.items(), y) | means | {"error": error, "log10_C": float(np.log10(C))}


def _named_rates(scores: Iterable[tuple[str, np.ndarray]], y: np.ndarray) -> dict[str, float]:
    """Return FP and FN rates under the names that scores have."""
    pairs = {name: rates(some, y) for name, some in scores}
    return {f"{rate}_{name}": pair[k] for name, pair in pairs.items() for k, rate in enumerate(("FP", "FN"))}


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


@paper.trials("offset", methods=tuple(LOSSES), datasets=SMALL_SETS)
def offsets(trial: Trial, *, forms: Forms, Cs: list[float], n_folds: int) -> dict[str, float]:
    """FP and FN rates of the complete solutions of table 2's four models, with another offset or loss."""
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    loss, first = LOSSES[trial.method], folds[0][0]
    scores = {name: np.empty(len(y)) for name in SMALL_CHOICES}
    for name, library in SMALL_CHOICES.items():
        kernels = make_library(library, forms)
        C = choose_cost(loss, kernels, X[first], y[first], Cs, n_folds)
        for train, held in folds:
            resolved = resolve(kernels, X[train])
            (model,) = complete_models(loss, resolved, X[train], y[train], [C])
            scores[name][held] = model_scores(resolved, X[train], model, X[held])
    return _named_rates(scores.items(), y)
