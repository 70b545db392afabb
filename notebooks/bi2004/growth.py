"""Trials of table 5: iterations and seconds against the number of training examples of Forest."""

from __future__ import annotations

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.trials.trial import Trial
from bi2004.draws import Scaling, Task, draw, percent_wrong
from bi2004.kernels import Forms, Offset, make_library
from bi2004.plan import paper
from bi2004.runs import (
    columns_by_kernel,
    patient_rounds,
    timed_scores,
    weights_after,
)
from bi2004.sets import CHOICES, SIZE_SETS

READINGS = ("C fixed", "C / n", "C / n, tau * n")
_BASE = 1000  # examples at which the readings agree
COARSE_TAUS = (10.0, 3.0)


@paper.trials("table5", methods=READINGS, datasets=SIZE_SETS)
def iterations(
    trial: Trial,
    *,
    sizes: dict[str, int],
    scaling: Scaling,
    forms: Forms,
    offset: Offset,
    tau: float,
    patience: int,
    patiences: list[int],
    growth_C: float,
    growth_tau: float,
    growth_rounds: int,
) -> dict[str, float | np.ndarray]:
    """Rounds until TR3 stops, for each patience; error, columns and seconds at the chosen patience.

    "C / n": C falls as 1 / n, so that the losses weigh the same in all. "tau * n": moreover a column must
    score more than ``growth_tau``, per 1000 examples, to count as a violation.
    """
    n = int(trial.dataset.removeprefix("n="))
    data = draw(trial, "Forest", Task(sizes | {"train": n}, scaling))
    model = CGBoostClassifier(
        make_library(CHOICES["L,Q,R"], forms),
        growth_C if trial.method == "C fixed" else growth_C * _BASE / n,
        intercept=offset,
        stratified=True,
        termination="TR3",
        patience=max(patiences),
        n_rounds=growth_rounds,
        tol=0.0,
        tau=growth_tau * n / _BASE if trial.method.endswith("n, tau * n") else tau,
    ).fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)
    used, stopped = patient_rounds(model.validation_path_, patience)
    w, b = weights_after(model, used)
    scores, test_seconds = timed_scores(model, data.X_test, w, b)
    return {
        "iterations": np.array([float(patient_rounds(model.validation_path_, p)[1]) for p in patiences]),
        "first_full_scan": float(model.termination_rounds_["TR1"] or 0),
        "error": percent_wrong(scores, data.y_test),
        **columns_by_kernel(model.hypotheses_.counts(w)),
        "evaluations": float(model.hypotheses_.n_evaluations(w)),
        "fit_seconds": float((model.oracle_seconds_path_ + model.master_seconds_path_)[:stopped].sum()),
        "test_seconds": test_seconds,
    }


@paper.trials("coarse", methods=tuple(f"tau = {tau:g}" for tau in COARSE_TAUS), datasets=SIZE_SETS)
def coarse_iterations(
    trial: Trial,
    *,
    sizes: dict[str, int],
    scaling: Scaling,
    forms: Forms,
    offset: Offset,
    patiences: list[int],
    growth_C: float,
    coarse_rounds: int,
) -> dict[str, float | np.ndarray]:
    """Rounds until no column scores more than a coarse tolerance (TR2), C fixed; until TR1; until TR3.

    The tolerance lets the run leave the linear columns, which it does not before TR3 stops it otherwise.
    """
    n = int(trial.dataset.removeprefix("n="))
    data = draw(trial, "Forest", Task(sizes | {"train": n}, scaling))
    model = CGBoostClassifier(
        make_library(CHOICES["L,Q,R"], forms),
        growth_C,
        intercept=offset,
        stratified=True,
        termination="TR4",
        n_rounds=coarse_rounds,
        tol=0.0,
        tau=float(trial.method.removeprefix("tau = ")),
    ).fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)
    return {
        "rounds": float(model.n_rounds_),
        "first_full_scan": float(model.termination_rounds_["TR1"] or 0),
        "iterations": np.array([float(patient_rounds(model.validation_path_, p)[1]) for p in patiences]),
        "error": percent_wrong(model.decision_function(data.X_test), data.y_test),
        **columns_by_kernel(model.hypotheses_.counts(model.coef_)),
        "evaluations": float(model.hypotheses_.n_evaluations(model.coef_)),
    }
