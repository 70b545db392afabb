"""Trials that read table 2's machines at other thresholds than the offset that they are solved with.

All rules see training scores only. "solved": the offset of problem (11), free. "share": as many training
points are called positive as are. "mean": the mean score is the mean label. "support": the offset is the
mean of y_i - f(x_i) over the points with u_i > 0, bounded ones too. "classes": half way between the mean
scores of the classes. "extremes": half way between the lowest positive and the highest negative score, the
offset of separable problems. "dropped": no offset. "labels": the labels get mean 0 and deviation 1 like the
features; then y_i f(x_i) >= 1 asks for scores beyond 1 / y_i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.hypotheses.kernel_library import Kernel
from kernsemble.trials.trial import Trial
from bi2004.draws import folds_of, small_set
from bi2004.kernels import (
    Forms,
    Model,
    make_library,
    model_scores,
    optimal_models,
    resolve,
)
from bi2004.plan import paper
from bi2004.sets import SMALL_CHOICES, SMALL_SETS
from bi2004.small import inner_folds, rates

_ON_MARGIN = 1e-3  # how far beyond 1 the margin of a point with u_i > 0 may seem


def thresholds(scores: np.ndarray, y: np.ndarray, b: float) -> dict[str, float]:
    """Return what each rule compares scores with, given those of the training points, offset b included.

    Examples
    --------
    >>> import numpy as np
    >>> found = thresholds(np.array([-2.0, -1.0, 0.5, 3.0]), np.array([-1.0, -1.0, 1.0, 1.0]), b=0.25)
    >>> found["share"], found["mean"], found["dropped"]
    (-0.25, 0.125, 0.25)
    """
    positive, negative = scores[y > 0], scores[y < 0]
    support = y * scores <= 1.0 + _ON_MARGIN
    return {
        "solved": 0.0,
        "share": float(np.quantile(scores, np.mean(y < 0))),
        "mean": float(np.mean(scores - y)),
        "support": float(np.mean((scores - y)[support])) if support.any() else 0.0,
        "classes": 0.5 * float(positive.mean() + negative.mean()),
        "extremes": 0.5 * float(positive.min() + negative.max()),
        "dropped": b,
    }


def models_for_labels(
    kernels: Sequence[Kernel], X: np.ndarray, t: np.ndarray, Cs: Sequence[float]
) -> list[Model]:
    """Solve (11) completely with a free offset and labels t of two values, one of each sign, for each C.

    The losses |t_i| max(0, 1 / |t_i| - s_i f(x_i)), s_i the sign, are those of a machine g with labels s_i
    and weights, where f = center + half g lies between the two values 1 / t_i.
    """
    low, high = 1.0 / t.min(), 1.0 / t.max()
    center, half = 0.5 * (high + low), 0.5 * (high - low)
    solved = optimal_models(kernels, X, np.sign(t), Cs, "free", np.abs(t) / half)
    return [([half * alpha for alpha in alphas], center + half * b) for alphas, b in solved]


def choose(
    kernels: Sequence[Kernel], X: np.ndarray, t: np.ndarray, Cs: Sequence[float], n_folds: int
) -> float:
    """Return the C of least cross-validation error at threshold 0, the smallest of equal ones."""
    wrong = np.zeros(len(Cs))
    for train, held in inner_folds(len(t), n_folds):
        resolved = resolve(kernels, X[train])
        for k, model in enumerate(models_for_labels(resolved, X[train], t[train], Cs)):
            wrong[k] += np.sum((model_scores(resolved, X[train], model, X[held]) > 0) != (t[held] > 0))
    return Cs[int(np.argmin(wrong))]


def missed_at(scores: np.ndarray, y: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return false negatives in percent where false positives are at the levels, in percent."""
    cuts = np.quantile(scores[y < 0], 1.0 - np.asarray(levels) / 100.0)
    return np.round([100.0 * float(np.mean(scores[y > 0] <= cut)) for cut in cuts], 4)


@paper.trials("thresholds", methods=tuple(SMALL_CHOICES), datasets=SMALL_SETS)
def at_thresholds(
    trial: Trial, *, forms: Forms, Cs: list[float], n_folds: int, roc_levels: list[float]
) -> dict[str, float | np.ndarray]:
    """FP and FN rates of complete solutions of table 2 by each rule, pooled over folds; and the ROC curve."""
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kernels = make_library(SMALL_CHOICES[trial.method], forms)
    standardized = (y - y.mean()) / y.std(ddof=1)
    first, scores = folds[0][0], {"labels": np.empty(len(y))}
    C, C_labels = (choose(kernels, X[first], t[first], Cs, n_folds) for t in (y, standardized))
    for train, held in folds:
        resolved = resolve(kernels, X[train])
        (model,) = models_for_labels(resolved, X[train], y[train], [C])
        found, new = (model_scores(resolved, X[train], model, Z) for Z in (X[train], X[held]))
        for rule, cut in thresholds(found, y[train], model[1]).items():
            scores.setdefault(rule, np.empty(len(y)))[held] = new - cut
        (model,) = models_for_labels(resolved, X[train], standardized[train], [C_labels])
        scores["labels"][held] = model_scores(resolved, X[train], model, X[held])
    named = {rule: rates(some, y) for rule, some in scores.items()}
    read = {f"{rate}_{rule}": pair[k] for rule, pair in named.items() for k, rate in enumerate(("FP", "FN"))}
    return read | {"missed": missed_at(scores["solved"], y, roc_levels)}
