"""The experiments of bi2004 on small sets, and what it proves.

Table 2 with its offsets, losses and thresholds; figure 1; runs read at several places; several widths in one
library; theorem 3.1, proposition 4.1, and every formulation beside an independent solver.

Thresholds see training scores only. "solved": the offset of problem (11), free. "share": as many training
points are called positive as are. "mean": the mean score is the mean label. "support": the offset is the
mean of y_i - f(x_i) over the points with u_i > 0, bounded ones too. "classes": half way between the mean
scores of the classes. "extremes": half way between the lowest positive and the highest negative score, the
offset of separable problems. "dropped": no offset. "labels": the labels get mean 0 and deviation 1 like the
features; then y_i f(x_i) >= 1 asks for scores beyond 1 / y_i.

With free coefficients every column has a weight at the 2-norm optimum, so that a number of columns belongs to
a place in the run: composite and mixture are read where the objective exceeds that of the end, whose
certified gap is small, by some share (levels).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kernsemble.data.generators import linear_rbf, linear_rbf_target
from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cg_boost_novelty import CGBoostNovelty
from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.kernel_library import GaussianKernel, Kernel, LinearKernel
from kernsemble.masters.quadratic import HingeQP
from kernsemble.trials.bench import cut_folds, seconds_of, timed
from kernsemble.trials.trial import Trial
from bi2004.trials import (
    NORMS,
    SMALL_CHOICES,
    SMALL_SETS,
    TARGET,
    WIDTHS_TARGET,
    Model,
    Protocol,
    columns_by_kernel,
    combine,
    folds_of,
    make_library,
    model_scores,
    optimal_models,
    paper,
    percent_wrong,
    resolve,
    settings,
    small_set,
    weights_after,
)

Solve = Callable[[Sequence[Kernel], np.ndarray, np.ndarray, Sequence[float]], list[Model]]
_TIMED_ROWS = 10_000
_EQUAL = 1e-4  # share by which losses may differ and count as equal, of which the smallest C is taken


# Table 2: five-fold cross-validation, and what the offset and the loss change


@dataclass(frozen=True)
class Loss:
    """The offset, and what C multiplies: the sum of losses or their mean, of examples or of classes."""

    offset: str
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
    solve: Solve, kernels: Sequence[Kernel], X: np.ndarray, y: np.ndarray, Cs: Sequence[float], n_folds: int
) -> float:
    """Return the C of least cross-validation error of the complete solutions, the smallest of equal ones.

    Folds take the rows in turn.
    """
    wrong = np.zeros(len(Cs))
    for train, held in cut_folds(np.arange(len(y)), n_folds):
        resolved = resolve(kernels, X[train])
        models = solve(resolved, X[train], y[train], Cs)
        scores = [model_scores(resolved, X[train], model, X[held]) for model in models]
        wrong += [np.sum((score > 0) != (y[held] > 0)) for score in scores]
    return Cs[int(np.argmin(wrong))]


def rates(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """False positives among the negatives and false negatives among the positives, in percent."""
    return tuple(percent_wrong(scores[y == sign], y[y == sign]) for sign in (-1.0, 1.0))


def named_rates(scores: Iterable[tuple[str, np.ndarray]], y: np.ndarray) -> dict[str, float]:
    """Return FP and FN rates under the names that scores have."""
    pairs = {name: rates(some, y) for name, some in scores}
    return {f"{rate}_{name}": pair[k] for name, pair in pairs.items() for k, rate in enumerate(("FP", "FN"))}


@paper.trials("table2", methods=tuple(SMALL_CHOICES), datasets=SMALL_SETS)
def cross_validation(trial: Trial, *, protocol: Protocol, n_folds: int) -> dict[str, float]:
    """Errors pooled over the folds; columns, evaluations and seconds are means over the folds.

    C is chosen within the first fold's training set and kept. The run of column generation goes on until the
    certified gap is small or no column is left; it is read there and where TR1 would have stopped it.
    """
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kernels = make_library(SMALL_CHOICES[trial.method], protocol)
    first, solve = folds[0][0], partial(complete_models, Loss(protocol.offset))
    C = choose_cost(solve, kernels, X[first], y[first], protocol.Cs, n_folds)
    scores, parts = {name: np.empty(len(y)) for name in ("tst", "TR1", "optimum")}, []
    for train, held in folds:
        options = settings(protocol, n_rounds=len(kernels) * len(train))
        model = CGBoostClassifier(kernels, C=C, **options).fit(X[train], y[train])
        at_tr1 = weights_after(model, model.termination_rounds_["TR1"] or model.n_rounds_)
        resolved = resolve(kernels, X[train])
        (best,) = solve(resolved, X[train], y[train], [C])
        scores["tst"][held] = model.decision_function(X[held])
        scores["TR1"][held] = model.hypotheses_.decision(X[held], *at_tr1)
        scores["optimum"][held] = model_scores(resolved, X[train], best, X[held])
        parts.append(_describe(model, at_tr1[0], X[held]))
    means = {name: float(np.mean([part[name] for part in parts])) for name in parts[0]}
    error = 100.0 * float(np.mean((scores["tst"] > 0) != (y > 0)))
    return named_rates(scores.items(), y) | means | {"error": error, "log10_C": float(np.log10(C))}


def _describe(model: CGBoostClassifier, w_tr1: np.ndarray, Z: np.ndarray) -> dict[str, float]:
    """Columns at the end and at TR1, evaluations, gap, and seconds; those of the test for 10,000 points."""
    tiled = np.resize(Z, (_TIMED_ROWS, Z.shape[1]))
    end, tr1 = (columns_by_kernel(model.hypotheses_.counts(w)) for w in (model.weights_, w_tr1))
    return {
        "C_l": end["linear"],
        "C_r": end["rbf"],
        "C_l_TR1": tr1["linear"],
        "C_r_TR1": tr1["rbf"],
        "evaluations": model.n_kernel_evaluations_,
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "T_trn": float(model.oracle_seconds_path_.sum() + model.master_seconds_path_.sum()),
        "T_tst": seconds_of(model.decision_function, tiled, repeats=3, clock=time.process_time),
    }


@paper.trials("offset", methods=tuple(LOSSES), datasets=SMALL_SETS)
def offsets(trial: Trial, *, protocol: Protocol, n_folds: int) -> dict[str, float]:
    """FP and FN rates of the complete solutions of table 2's four models, with another offset or loss."""
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    solve, first = partial(complete_models, LOSSES[trial.method]), folds[0][0]
    scores = {name: np.empty(len(y)) for name in SMALL_CHOICES}
    for name, library in SMALL_CHOICES.items():
        kernels = make_library(library, protocol)
        C = choose_cost(solve, kernels, X[first], y[first], protocol.Cs, n_folds)
        for train, held in folds:
            resolved = resolve(kernels, X[train])
            (model,) = solve(resolved, X[train], y[train], [C])
            scores[name][held] = model_scores(resolved, X[train], model, X[held])
    return named_rates(scores.items(), y)


paper.exhibit(
    "undersampled",
    "Training parts with as many examples of either class",
    metrics=tuple(f"{rate}_{name}" for name in SMALL_CHOICES for rate in ("FP", "FN")),
)
UNDERSAMPLED = "as many examples of either class"


@paper.trials("undersampled", methods=(UNDERSAMPLED,), datasets=SMALL_SETS)
def undersampled(trial: Trial, *, protocol: Protocol, n_folds: int) -> dict[str, float]:
    """FP and FN rates of table 2's four models, solved completely on a random part of the larger class."""
    X, y = small_set(trial.dataset)
    order, solve = trial.shared_rng("part").permutation(len(y)), partial(complete_models, Loss("free"))
    scores = {name: np.empty(len(y)) for name in SMALL_CHOICES}
    parts = []
    for train, held in folds_of(trial, len(y), n_folds):
        ranked = order[np.isin(order, train)]
        size = min(int((y[train] > 0).sum()), int((y[train] < 0).sum()))
        chosen = [ranked[y[ranked] == sign][:size] for sign in (-1.0, 1.0)]
        parts.append((np.stack(chosen, axis=1).ravel(), held))
    for name, library in SMALL_CHOICES.items():
        kernels, first = make_library(library, protocol), parts[0][0]
        C = choose_cost(solve, kernels, X[first], y[first], protocol.Cs, n_folds)
        for train, held in parts:
            resolved = resolve(kernels, X[train])
            (model,) = solve(resolved, X[train], y[train], [C])
            scores[name][held] = model_scores(resolved, X[train], model, X[held])
    return named_rates(scores.items(), y)


# Table 2's machines at other thresholds than the offset that they are solved with

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


def missed_at(scores: np.ndarray, y: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """Return false negatives in percent where false positives are at the levels, in percent."""
    cuts = np.quantile(scores[y < 0], 1.0 - np.asarray(levels) / 100.0)
    return np.round([100.0 * float(np.mean(scores[y > 0] <= cut)) for cut in cuts], 4)


@paper.trials("thresholds", methods=tuple(SMALL_CHOICES), datasets=SMALL_SETS)
def at_thresholds(
    trial: Trial, *, protocol: Protocol, n_folds: int, roc_levels: list[float]
) -> dict[str, float | np.ndarray]:
    """FP and FN rates of complete solutions of table 2 by each rule, pooled over folds; and the ROC curve."""
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kernels = make_library(SMALL_CHOICES[trial.method], protocol)
    standardized = (y - y.mean()) / y.std(ddof=1)
    first, scores = folds[0][0], {"labels": np.empty(len(y))}
    C, C_labels = (
        choose_cost(models_for_labels, kernels, X[first], t[first], protocol.Cs, n_folds)
        for t in (y, standardized)
    )
    for train, held in folds:
        resolved = resolve(kernels, X[train])
        (model,) = models_for_labels(resolved, X[train], y[train], [C])
        found, new = (model_scores(resolved, X[train], model, Z) for Z in (X[train], X[held]))
        for rule, cut in thresholds(found, y[train], model[1]).items():
            scores.setdefault(rule, np.empty(len(y)))[held] = new - cut
        (model,) = models_for_labels(resolved, X[train], standardized[train], [C_labels])
        scores["labels"][held] = model_scores(resolved, X[train], model, X[held])
    return named_rates(scores.items(), y) | {"missed": missed_at(scores["solved"], y, roc_levels)}


# Figure 1: regression on a target that is linear + RBF, with four models and two norms

TARGET_METHODS = tuple(f"{norm}/{name}" for norm in NORMS for name in SMALL_CHOICES)


@dataclass(frozen=True)
class Target:
    """Points to draw, the width of the bumps, the noise and the tube of the loss."""

    target_sizes: dict[str, int]
    target_sigma: float
    target_noise: float
    target_epsilon: float


def target_library(name: str, sigma: float) -> list[Kernel]:
    """Return the kernels of a model; the RBF kernel has the target's own width."""
    return combine(SMALL_CHOICES[name], {"linear": LinearKernel(), "rbf": GaussianKernel(width=sigma**2)})


def target_data(trial: Trial, target: Target):
    """Return training points, noisy validation points, and noise-free test points, each (X, y)."""
    rng, sizes, sigma = trial.shared_rng("target", dataset=TARGET), target.target_sizes, target.target_sigma
    train, validation = (
        linear_rbf(sizes[part], sigma, target.target_noise, rng) for part in ("train", "validation")
    )
    Z = rng.uniform(-1.0, 1.0, (sizes["test"], 2))
    return train, validation, (Z, linear_rbf_target(Z, sigma))


def fit_target(
    method: str, X: np.ndarray, y: np.ndarray, C: float, target: Target, gap: float
) -> CGBoostRegressor:
    """Solve (13), or its 1-norm form, over the columns of one model to a certified gap."""
    norm, _, name = method.partition("/")
    kernels = target_library(name, target.target_sigma)
    options = {"norm": NORMS[norm], "n_rounds": len(kernels) * len(y), "tol": gap, "stratified": True}
    return CGBoostRegressor(kernels, C=C, epsilon=target.target_epsilon, **options).fit(X, y)


@paper.trials("figure1", methods=TARGET_METHODS, datasets=(TARGET,))
def linear_and_rbf(trial: Trial, *, target: Target, target_Cs: list[float], gap: float) -> dict[str, float]:
    """Choose C on validation data; the root mean squared error is that against the target without noise."""
    train, validation, (Z, f) = target_data(trial, target)
    runs = [timed(fit_target, trial.method, *train, C, target, gap) for C in target_Cs]
    losses = [root_mean_square(run.predict(validation[0]) - validation[1]) for run, _ in runs]
    best = int(np.argmax(np.array(losses) <= (1.0 + _EQUAL) * np.min(losses)))
    model, fit_seconds = runs[best]
    predicted, test_seconds = timed(model.predict, Z)
    return {
        "rmse": root_mean_square(predicted - f),
        "train_rmse": root_mean_square(model.predict(train[0]) - train[1]),
        "columns": float(np.count_nonzero(model.weights_)),
        "rbf_columns": float(columns_by_kernel(model.n_columns_)["rbf"]),
        "evaluations": float(model.n_kernel_evaluations_),
        "log10_C": float(np.log10(target_Cs[best])),
        "fit_seconds": fit_seconds,
        "test_seconds": test_seconds,
    }


CENTERS = np.array([[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]])  # of the target's bumps
RANDOM_FOURS = 50


@paper.trials("centers", methods=("least squares",), datasets=(TARGET,))
def columns_of_error_points(trial: Trial, *, target: Target) -> dict[str, float]:
    """Fit a linear model to figure 1's points, then one with the RBF columns of four of them besides.

    rank: mean rank of the residuals of the points nearest to the four centers (1: the largest). rmse: error
    against the target of the linear model, with the columns of these points, with those of the four largest
    residuals, and with those of random points (the mean over draws).
    """
    (X, y), _, (Z, f) = target_data(trial, target)
    rng, kernel = trial.shared_rng("fours"), GaussianKernel(width=target.target_sigma**2)
    columns, at_test = kernel.matrix(X, X), kernel.matrix(Z, X)

    def fit(chosen: np.ndarray) -> tuple[np.ndarray, float]:
        H, H_test = (
            np.column_stack([np.ones(len(A)), A, K[:, chosen]]) for A, K in ((X, columns), (Z, at_test))
        )
        w = np.linalg.lstsq(H, y, rcond=None)[0]
        return np.abs(y - H @ w), root_mean_square(H_test @ w - f)

    residuals, linear = fit(np.array([], dtype=int))
    nearest = np.argmin(((X[:, np.newaxis] - CENTERS) ** 2).sum(axis=2), axis=0)
    order = np.argsort(-residuals, kind="stable")
    ranks = 1.0 + np.argsort(order)[nearest]
    fours = [fit(rng.permutation(len(y))[:4])[1] for _ in range(RANDOM_FOURS)]
    return {
        "rank": float(ranks.mean()),
        "rmse_linear": linear,
        "rmse_centers": fit(nearest)[1],
        "rmse_errors": fit(order[:4])[1],
        "rmse_random": float(np.mean(fours)),
    }


def root_mean_square(values: np.ndarray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


# One run read at several places: errors, columns and seconds against how far it went

LEVEL_METHODS = ("composite", "mixture")


@paper.trials("levels", methods=LEVEL_METHODS, datasets=SMALL_SETS)
def levels_on_small_sets(
    trial: Trial, *, protocol: Protocol, n_folds: int, levels_gap: float, excesses: list[float]
) -> dict[str, np.ndarray]:
    """Problem (11) on the first fold of table 2; errors are percentages of the held-out rows."""
    X, y = small_set(trial.dataset)
    train, held = folds_of(trial, len(y), n_folds)[0]
    kernels = make_library(SMALL_CHOICES[trial.method], protocol)
    solve = partial(complete_models, Loss(protocol.offset))
    C = choose_cost(solve, kernels, X[train], y[train], protocol.Cs, n_folds)
    options = settings(protocol, n_rounds=len(kernels) * len(train), tol=levels_gap)
    model = CGBoostClassifier(kernels, C=C, **options).fit(X[train], y[train])

    def error(w: np.ndarray, b: float) -> float:
        return percent_wrong(model.hypotheses_.decision(X[held], w, b), y[held])

    return read_levels(model, excesses, error)


@paper.trials("levels", methods=LEVEL_METHODS, datasets=(TARGET,))
def levels_on_target(
    trial: Trial, *, target: Target, target_Cs: list[float], levels_gap: float, excesses: list[float]
) -> dict[str, np.ndarray]:
    """Problem (13) on the points of figure 1; errors are root mean squares against the target."""
    train, validation, (Z, f) = target_data(trial, target)
    runs = [fit_target(f"2-norm/{trial.method}", *train, C, target, levels_gap) for C in target_Cs]
    losses = [root_mean_square(run.predict(validation[0]) - validation[1]) for run in runs]
    model = runs[int(np.argmin(losses))]

    def error(w: np.ndarray, b: float) -> float:
        return root_mean_square(model.hypotheses_.decision(Z, w, b) - f)

    return read_levels(model, excesses, error)


def read_levels(
    model: CGBoostClassifier | CGBoostRegressor,
    excesses: Sequence[float],
    error: Callable[[np.ndarray, float], float],
) -> dict[str, np.ndarray]:
    """Describe a run after the first round whose objective exceeds the last one by at most each share."""
    seconds = np.cumsum(model.oracle_seconds_path_ + model.master_seconds_path_)
    excess = model.objective_path_ / model.objective_path_[-1] - 1.0
    rows = []
    for level in excesses:
        t = int(np.argmax(excess <= level)) + 1
        w, b = weights_after(model, t)
        rbf = columns_by_kernel(model.hypotheses_.counts(w))["rbf"]
        evaluations = model.hypotheses_.n_evaluations(w)
        rows.append((error(w, b), np.count_nonzero(w), rbf, evaluations, seconds[t - 1]))
    names = ("error", "columns", "rbf", "evaluations", "fit_seconds")
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


# Several RBF widths in one library: the paper argues for it and did not run it

WIDTH_METHODS = ("mean width", "one width, selected", "library of widths")
_TEST_POINTS = 2000
_Data = tuple[np.ndarray, np.ndarray]
_Model = CGBoostClassifier | CGBoostRegressor


@dataclass(frozen=True)
class WidthsRules:
    """Share of a small set, or number of points of the target, to train on; noise, tube, certified gap."""

    widths_share: float
    widths_points: int
    target_noise: float
    target_epsilon: float
    gap: float


@dataclass(frozen=True)
class _Problem:
    """Training and test data, the loss of a model in percent, and how to fit one."""

    train: _Data
    test: _Data
    loss: Callable[[_Model, np.ndarray, np.ndarray], float]
    fit: Callable[[Sequence[Kernel], float, np.ndarray, np.ndarray], _Model]


def two_widths(rng: np.random.Generator, n: int) -> _Data:
    """Draw points of [-1, 1]^2 and a target of two broad and four narrow bumps, without noise."""
    X = rng.uniform(-1.0, 1.0, (n, 2))
    broad = np.array([[-1.0, 0.0], [1.0, 0.0]])
    narrow = np.array([[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]])
    squares = [((X[:, None] - centers) ** 2).sum(axis=2) for centers in (broad, narrow)]
    bumps = [np.exp(-some / width).sum(axis=1) for some, width in zip(squares, (1.0, 0.05), strict=True)]
    return X, 2.0 * bumps[0] + bumps[1]


@paper.trials("widths", methods=WIDTH_METHODS, datasets=(*SMALL_SETS, WIDTHS_TARGET))
def widths(
    trial: Trial, *, factors: list[float], widths_Cs: list[float], rules: WidthsRules
) -> dict[str, float]:
    """1-norm models of RBF columns; C (and the width, if one is selected) by a quarter of the training rows.

    The error is the test error in percent, or 100 times the root mean squared error against the target.
    """
    problem = _on_target(trial, rules) if trial.dataset == WIDTHS_TARGET else _on_small_set(trial, rules)
    X, y = problem.train
    cut = 3 * len(y) // 4
    candidates = [(library, C) for library in _libraries(trial.method, factors) for C in widths_Cs]

    def choose_and_fit() -> _Model:
        losses = [
            problem.loss(problem.fit(*candidate, X[:cut], y[:cut]), X[cut:], y[cut:])
            for candidate in candidates
        ]
        return problem.fit(*candidates[int(np.argmin(losses))], X, y)

    model, seconds = timed(choose_and_fit)
    return {
        "error": problem.loss(model, *problem.test),
        "columns": float(np.count_nonzero(model.weights_)),
        "evaluations": float(model.n_kernel_evaluations_),
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "fit_seconds": seconds,
    }


def _libraries(method: str, factors: Sequence[float]) -> list[list[Kernel]]:
    """Candidates of a method: libraries of RBF kernels, the widest first."""
    if method == "mean width":
        return [[GaussianKernel()]]
    if method == "one width, selected":
        return [[GaussianKernel(factor=factor)] for factor in factors]
    return [[GaussianKernel(factor=factor) for factor in sorted(factors, reverse=True)]]


def _on_target(trial: Trial, rules: WidthsRules) -> _Problem:
    rng = trial.shared_rng("widths")
    X, y = two_widths(rng, rules.widths_points)
    y = y + rules.target_noise * rng.standard_normal(rules.widths_points)

    def fit(kernels: Sequence[Kernel], C: float, A: np.ndarray, a: np.ndarray) -> CGBoostRegressor:
        return CGBoostRegressor(
            kernels, C=C, epsilon=rules.target_epsilon, **_options(kernels, a, rules.gap)
        ).fit(A, a)

    return _Problem((X, y), two_widths(rng, _TEST_POINTS), _rmse_percent, fit)


def _on_small_set(trial: Trial, rules: WidthsRules) -> _Problem:
    X, y = small_set(trial.dataset)
    order = trial.shared_rng("widths").permutation(len(y))
    train, test = np.split(order, [int(rules.widths_share * len(y))])

    def fit(kernels: Sequence[Kernel], C: float, A: np.ndarray, a: np.ndarray) -> CGBoostClassifier:
        return CGBoostClassifier(kernels, C=C, **_options(kernels, a, rules.gap)).fit(A, a)

    return _Problem((X[train], y[train]), (X[test], y[test]), _wrong_percent, fit)


def _options(kernels: Sequence[Kernel], y: np.ndarray, gap: float) -> dict[str, object]:
    """A 1-norm run to the certified gap; every column may be taken."""
    return {"norm": "l1", "tol": gap, "stratified": False, "n_rounds": len(kernels) * len(y)}


def _wrong_percent(model: CGBoostClassifier, Z: np.ndarray, z: np.ndarray) -> float:
    return percent_wrong(model.decision_function(Z), z)


def _rmse_percent(model: CGBoostRegressor, Z: np.ndarray, z: np.ndarray) -> float:
    return 100.0 * float(np.sqrt(np.mean(np.square(model.predict(Z) - z))))


# Theorem 3.1, proposition 4.1, and every formulation of the paper

THEOREMS = ("(7), regular", "(7), stratified", "(11), regular", "(11), stratified")
_LIBRARY = ("linear", "rbf")


@paper.trials("theorems", methods=THEOREMS, datasets=("Pima", "Ionosphere"))
def theorems(trial: Trial, *, n_points: int, theory_C: float, n_probed: int) -> dict[str, float]:
    """Run Algorithm 5.1 to its end on a few points, and compare each round with what is proved.

    identity: largest difference between the duality gap of the whole problem and half the sum of squared
    scores over N, relative to the objective (proof of proposition 4.1; scores below zero count for (11)).
    optimum: difference between the objective where no column violates the dual any more (theorem 3.1) and
    the optimum over all columns at once, relative. largest: share of rounds whose column has the largest
    score of all in N (proposition 4.1). realized: of some rounds, the share in which that column is also the
    one that lowers the optimum of the restricted problem most.
    """
    X, y = _some_points(trial, n_points)
    positive = trial.method.startswith("(7)")
    oracle = KernelColumns(
        X, _LIBRARY, signed=positive, stratified="stratified" in trial.method, tau=1e-9, bound=theory_C
    )
    H = np.hstack([kernel.matrix(X, X) for kernel in oracle.kernels])
    master = HingeQP(y, theory_C, intercept="free", positive=positive, tol=1e-10)
    solution, outside = master.solve(), np.ones(H.shape[1], dtype=bool)
    identity, largest, realized = [], [], []
    while found := oracle.best(master.pricing_weights()):
        p, j = found[0].key
        scores = H.T @ master.pricing_weights()
        scores = np.maximum(scores, 0.0) if positive else scores
        whole_dual = solution.u.sum() - 0.5 * scores @ scores
        gap = 0.5 * np.square(scores[outside]).sum()
        identity.append(abs(solution.objective - whole_dual - gap) / solution.objective)
        ranked = np.where(outside, np.abs(scores), -1.0)
        largest.append(ranked[p * len(X) + j] >= (1 - 1e-9) * ranked.max())
        if len(realized) < n_probed:
            realized.append(_lowers_most(master, H, outside, p * len(X) + j))
        master.add(H[:, p * len(X) + j])
        oracle.exclude((p, j))
        outside[p * len(X) + j] = False
        solution = master.solve()
    whole = HingeQP(y, theory_C, intercept="free", positive=positive, tol=1e-10)
    for column in H.T:
        whole.add(column)
    return {
        "identity": float(max(identity)),
        "optimum": abs(solution.objective / whole.solve().objective - 1.0),
        "largest": float(np.mean(largest)),
        "realized": float(np.mean(realized)),
        "rounds": float(len(identity)),
    }


def _some_points(trial: Trial, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows of a small set, the same for all methods; both classes are among them."""
    X, y = small_set(trial.dataset)
    rows = trial.shared_rng("points").permutation(len(y))[:n_points]
    return X[rows], y[rows]


def _lowers_most(master: HingeQP, H: np.ndarray, outside: np.ndarray, chosen: int) -> bool:
    """Whether no other column outside would lead to a smaller optimum of the restricted problem."""
    values = {}
    for j in np.flatnonzero(outside):
        trial = copy.deepcopy(master)
        trial.add(H[:, j])
        values[j] = trial.solve().objective
    return bool(values[chosen] <= min(values.values()) * (1 + 1e-9))


paper.exhibit(
    "complementarity",
    "The complementarity conditions (15) to (17) at the optimum of (7)",
    metrics=("broken",),
)


@paper.trials("complementarity", methods=("QP (7)",), datasets=("Pima", "Ionosphere"))
def complementarity(trial: Trial, *, n_points: int, theory_C: float) -> dict[str, float]:
    """Solve (7) over all columns; broken: the largest product of (15) to (17), each in its own unit."""
    X, y = _some_points(trial, n_points)
    H = np.hstack([kernel.matrix(X, X) for kernel in KernelColumns(X, _LIBRARY).kernels])
    master = HingeQP(y, theory_C, H=H, intercept="free", positive=True, tol=1e-10)
    solution = master.solve()
    u, alpha, scores = solution.u, solution.w, H.T @ master.pricing_weights()
    margin = y * (H @ alpha + solution.b)
    slack = np.maximum(0.0, 1.0 - margin)
    broken = (
        u * (margin + slack - 1.0) / theory_C,
        alpha * (scores - alpha) / np.square(alpha).max(),
        slack * (u - theory_C) / (theory_C * max(slack.max(), 1.0)),
    )
    return {"broken": float(f"{max(np.abs(some).max() for some in broken):.2g}")}


CLASSIFIERS = {
    "LP (4)": {"norm": "l1", "positive": True},
    "LP, alpha free": {"norm": "l1"},
    "QP (7)": {"positive": True},
    "QP (11)": {},
    "QP (11), penalized offset": {"intercept": "penalized"},
    "QP (11), no offset": {"intercept": "none"},
    "nu classification": {"nu": 0.5},
}
REGRESSORS = {"QP (13)": {}, "LP of (13)": {"norm": "l1"}, "nu regression": {"nu": 0.5}}


@paper.trials("formulations", methods=tuple(CLASSIFIERS), datasets=("Pima",))
def classifiers(trial: Trial, *, n_points: int, theory_C: float) -> dict[str, float]:
    """Solve one formulation; ``judge`` is the difference to what a general solver finds over all columns.

    The score is the training error in percent.
    """
    X, y = _some_points(trial, n_points)
    options = CLASSIFIERS[trial.method]
    run = {"n_rounds": 2 * n_points, "tol": 1e-6, "tau": 1e-7, "stratified": True}
    model = CGBoostClassifier(_LIBRARY, C=theory_C, **run, **options)
    model.fit(X, y)
    error = 100.0 * float(np.mean(model.predict(X) != y))
    return _summary(model, _all_columns(model, X), y, {"C": theory_C, "loss": "hinge", **options}, error)


@paper.trials("formulations", methods=tuple(REGRESSORS), datasets=(TARGET,))
def regressors(
    trial: Trial,
    *,
    n_points: int,
    theory_C: float,
    target: Target,
) -> dict[str, float]:
    """Solve one formulation of regression; the score is the root mean squared training error."""
    X, y = linear_rbf(n_points, target.target_sigma, target.target_noise, trial.shared_rng("points"))
    options = REGRESSORS[trial.method]
    run = {"n_rounds": 2 * n_points, "tol": 1e-6, "tau": 1e-7, "stratified": True}
    model = CGBoostRegressor(_LIBRARY, C=theory_C, epsilon=target.target_epsilon, **run, **options).fit(X, y)
    rmse = float(np.sqrt(np.mean(np.square(model.predict(X) - y))))
    problem = {"C": theory_C, "loss": "tube", "epsilon": target.target_epsilon, **options}
    return _summary(model, _all_columns(model, X), y, problem, rmse)


@paper.trials("formulations", methods=("novelty",), datasets=("Breast",))
def novelty(trial: Trial, *, n_points: int) -> dict[str, float]:
    """Learn benign cells; the score is the share of malignant ones that are called novel, in percent."""
    X, y = small_set(trial.dataset)
    benign = trial.shared_rng("points").permutation(np.flatnonzero(y < 0))[:n_points]
    nu = 0.1
    model = CGBoostNovelty(("rbf",), nu=nu, n_rounds=n_points, tol=1e-6, tau=1e-7, stratified=True)
    model.fit(X[benign])
    found = 100.0 * float(np.mean(model.predict(X[y > 0]) < 0))
    columns = _all_columns(model, X[benign])
    problem = {"loss": "novelty", "nu": nu, "positive": True}
    return _summary(model, columns, np.ones(len(benign)), problem, found)


def _all_columns(model: CGBoostClassifier | CGBoostRegressor | CGBoostNovelty, X: np.ndarray) -> np.ndarray:
    return np.hstack([kernel.matrix(X, X) for kernel in model.kernels_])


def _summary(model, H: np.ndarray, y: Sequence[float], problem: dict, score: float) -> dict[str, float]:
    """Certified gap, difference to the judge's value, number of columns, and a score."""
    objective = float(model.objective_path_[-1])
    scale = max(abs(objective), 1e-12)
    return {
        "gap": model.dual_gap_ / scale,
        "judge": (objective - judge_value(H, y, problem)) / scale,
        "columns": float(np.count_nonzero(model.weights_)),
        "score": score,
    }


# An independent judge: every formulation over all columns at once, by a general cone solver


def judge_value(H: np.ndarray, y: np.ndarray, problem: Mapping[str, Any]) -> float:
    """Return the optimal value of a formulation over the columns H, from CVXPY with Clarabel.

    ``problem`` holds loss ("hinge", "tube", "novelty"), C or nu, epsilon, norm, positive, intercept, with
    the estimators' defaults. The solver's own tolerance is 1e-8.
    """
    import cvxpy  # only these trials need it

    w, b = cvxpy.Variable(H.shape[1]), cvxpy.Variable()
    intercept = "none" if problem["loss"] == "novelty" else problem.get("intercept", "free")
    f = H @ w + (0.0 if intercept == "none" else b)
    if problem.get("norm", "l2") == "l1":
        penalty, offset = cvxpy.norm1(w), cvxpy.abs(b)
    else:
        penalty, offset = 0.5 * cvxpy.sum_squares(w), 0.5 * cvxpy.square(b)
    value = penalty + (offset if intercept == "penalized" else 0.0)
    value += _loss(cvxpy, f, y, problem)
    constraints = [w >= 0] if problem.get("positive") else []
    return float(cvxpy.Problem(cvxpy.Minimize(value), constraints).solve(solver=cvxpy.CLARABEL))


def _loss(cvxpy, f, y: np.ndarray, problem: Mapping[str, Any]):
    """Loss of scores f; the nu forms bring their margin or tube along."""
    n, nu, C = len(y), problem.get("nu"), problem.get("C", 1.0)
    if problem["loss"] == "novelty":
        margin = cvxpy.Variable()
        return -margin + cvxpy.sum(cvxpy.pos(margin - f)) / (nu * n)
    if problem["loss"] == "hinge":
        if nu is None:
            return C * cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, f)))
        margin = cvxpy.Variable()
        return -nu * margin + cvxpy.sum(cvxpy.pos(margin - cvxpy.multiply(y, f))) / n
    if nu is None:
        return C * cvxpy.sum(cvxpy.pos(cvxpy.abs(y - f) - problem["epsilon"]))
    tube = cvxpy.Variable(nonneg=True)
    return C * (nu * n * tube + cvxpy.sum(cvxpy.pos(cvxpy.abs(y - f) - tube)))
