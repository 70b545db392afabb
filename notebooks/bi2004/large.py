"""Trials of tables 3 and 4 and of figures 2 to 4: 1000 training examples of Forest and of the digits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.hypotheses.kernel_library import Kernel
from kernsemble.trials.trial import Trial
from bi2004.draws import Draw, Task, draw, percent_wrong
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
from bi2004.runs import Rules, describe_run, fit_run, read_curves, read_stops
from bi2004.sets import CHOICES

TWO_NORM = tuple(f"2-norm/{name}" for name in CHOICES)
ONE_NORM = tuple(f"1-norm/{name}" for name in CHOICES)
MIXTURE = "L,Q,R"
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FIGURE4_CS = (0.01, 1.0, 100.0, 10000.0)
TAUS = (1e-1, 1e-2, 1e-3, 1e-4)


def choose_two_norm(
    kernels: Sequence[Kernel], data: Draw, Cs: Sequence[float], offset: Offset
) -> tuple[float, list[Kernel], Model]:
    """Solve completely for each C; return the one of least validation error (the smallest of equal ones)."""
    resolved = resolve(kernels, data.X)
    models = optimal_models(resolved, data.X, data.y, Cs, offset)
    errors = [percent_wrong(model_scores(resolved, data.X, m, data.X_val), data.y_val) for m in models]
    best = int(np.argmin(errors))
    return Cs[best], resolved, models[best]


def describe_optimum(kernels: Sequence[Kernel], data: Draw, model: Model) -> dict[str, float | np.ndarray]:
    """Errors of a complete solution, and by kernel how many coefficients exceed each tolerance."""
    sizes = [np.abs(alpha) for alpha in model[0]]
    return {
        "optimum_error": percent_wrong(model_scores(kernels, data.X, model, data.X_test), data.y_test),
        "optimum_train_error": percent_wrong(model_scores(kernels, data.X, model, data.X), data.y),
        "counts": np.array([float((size > tau).sum()) for size in sizes for tau in TOLERANCES]),
    }


@paper.trials("table3", methods=TWO_NORM, datasets=("Forest",))
@paper.trials("table4", methods=TWO_NORM, datasets=("Digits",))
def two_norm(
    trial: Trial, *, task: Task, forms: Forms, rules: Rules, Cs: list[float], n_points: int
) -> dict[str, float | np.ndarray]:
    """Problem (11) with one choice of kernels: C by complete solutions, then the run of columns."""
    name = trial.method.partition("/")[2]
    data = draw(trial, trial.dataset, task)
    kernels = make_library(CHOICES[name], forms)
    C, resolved, model = choose_two_norm(kernels, data, Cs, rules.offset)
    run = fit_run(kernels, data, C, "2-norm", rules)
    found = describe_run(run, data, C, rules.patience) | describe_optimum(resolved, data, model)
    return found | (read_curves(run, data, n_points) if name == MIXTURE else {})


@paper.trials("table3", methods=ONE_NORM, datasets=("Forest",))
@paper.trials("table4", methods=ONE_NORM, datasets=("Digits",))
def one_norm(trial: Trial, *, task: Task, forms: Forms, rules: Rules, Cs: list[float]) -> dict[str, float]:
    """Problem (4) with coefficients free and one choice of kernels; the run of least validation error."""
    data = draw(trial, trial.dataset, task)
    kernels = make_library(CHOICES[trial.method.partition("/")[2]], forms)
    runs = [fit_run(kernels, data, C, "1-norm", rules) for C in Cs]
    best = int(np.argmin([run.validation_path_[-1] for run in runs]))
    return describe_run(runs[best], data, Cs[best], rules.patience)


@paper.trials("figure3", methods=("regular",), datasets=("Forest", "Digits"))
def regular(
    trial: Trial, *, task: Task, forms: Forms, rules: Rules, Cs: list[float], n_points: int
) -> dict[str, float | np.ndarray]:
    """The mixture of the tables, every round a scan of all columns; the stratified run is the tables'."""
    data = draw(trial, trial.dataset, task)
    kernels = make_library(CHOICES[MIXTURE], forms)
    C = choose_two_norm(kernels, data, Cs, rules.offset)[0]
    run = fit_run(kernels, data, C, "2-norm", rules, stratified=False)
    return describe_run(run, data, C, rules.patience) | read_curves(run, data, n_points)


@paper.trials("figure4", methods=tuple(f"C = {C:g}" for C in FIGURE4_CS), datasets=("Digits", "Forest"))
def improper(
    trial: Trial,
    *,
    task: Task,
    forms: Forms,
    offset: Offset,
    tau: float,
    gap: float,
    figure4_rounds: int,
    n_points: int,
) -> dict[str, float | np.ndarray]:
    """The stratified mixture at one C: errors along the run, and the validation error of its optimum."""
    data = draw(trial, trial.dataset, task)
    kernels = make_library(CHOICES[MIXTURE], forms)
    C = float(trial.method.removeprefix("C = "))
    run = fit_run(kernels, data, C, "2-norm", Rules(offset, tau, gap, 1, figure4_rounds))
    curves = read_curves(run, data, n_points)
    resolved = resolve(kernels, data.X)
    model = optimal_models(resolved, data.X, data.y, [C], offset)[0]
    return {
        "optimum_validation": percent_wrong(model_scores(resolved, data.X, model, data.X_val), data.y_val),
        **{name: curves[name] for name in ("curve_rounds", "curve_train", "curve_validation")},
    }


@paper.trials("tolerance", methods=tuple(f"tau = {tau:g}" for tau in TAUS), datasets=("Digits", "Forest"))
def tolerance(
    trial: Trial,
    *,
    task: Task,
    forms: Forms,
    offset: Offset,
    gap: float,
    patience: int,
    Cs: list[float],
    n_rounds: int,
) -> dict[str, float]:
    """The stratified mixture of the tables with a coarser tolerance on what violates the dual."""
    data = draw(trial, trial.dataset, task)
    kernels = make_library(CHOICES[MIXTURE], forms)
    C = choose_two_norm(kernels, data, Cs, offset)[0]
    tau = float(trial.method.removeprefix("tau = "))
    run = fit_run(kernels, data, C, "2-norm", Rules(offset, tau, gap, patience, n_rounds))
    return read_stops(run, data, patience)
