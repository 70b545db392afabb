"""Trials of other protocols: sonar in halves and in 150 rows, and what moves the means of table 3."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernsemble.trials.trial import Trial
from guo2017.machines import (
    POWERS,
    Solver,
    bag_linear,
    boost_linear,
    ensemble_scores,
    psvm_fit,
    solve_exrm,
    vote,
)
from guo2017.other_draws import Protocol, draw_by
from guo2017.plan import paper
from guo2017.sets import TABLE_SETS

MACHINES = tuple((p, C) for p in POWERS for C in (1, 10))
EXRM_ERRORS = tuple(f"{p}_{C}" for p, C in MACHINES)

paper.exhibit("halves", "Sonar in halves (figure 1) and in 150 rows (table 1)", metrics=EXRM_ERRORS)
paper.exhibit(
    "means", "What moves the means of table 3", metrics=(*EXRM_ERRORS, "AdaSVM_10", "BagSVM_10", "rows")
)


@dataclass(frozen=True)
class Reading:
    """A protocol with its solver and the factor of lambda."""

    protocol: Protocol = field(default_factory=Protocol)
    solver: Solver = "printed"
    factor: float = 1.0


HALF = Protocol(train=0.5)
HALVES = {
    "halves": Reading(HALF),
    "104 rows, test of 150": Reading(Protocol(train=0.5, test_from=150)),
    "150 rows": Reading(),
    "halves, stratified": Reading(Protocol(train=0.5, stratified=True)),
    "halves, training range": Reading(Protocol(train=0.5, scaling="training rows")),
    "halves, unscaled": Reading(Protocol(train=0.5, scaling="none")),
    "halves, mean loss": Reading(HALF, factor=1.0 / 104),
    "halves, exact": Reading(HALF, "exact"),
    "150 rows, exact": Reading(solver="exact"),
}


@paper.trials("halves", methods=tuple(HALVES), datasets=("sonar",))
def halves(trial: Trial, *, reading_lambdas: list[float]) -> dict[str, np.ndarray]:
    """Test errors for a few lambdas."""
    reading = HALVES[trial.method]
    data = draw_by(trial, reading.protocol)
    errors = {}
    for p, C in MACHINES:
        solutions = [
            solve_exrm(data.X, data.y, lam * reading.factor, C, POWERS[p], reading.solver)
            for lam in reading_lambdas
        ]
        errors[f"{p}_{C}"] = np.array([data.error(ensemble_scores(s, data.X_test)) for s in solutions])
    return errors


MEANS = {
    "as chosen": Reading(),
    "50 rows": Reading(Protocol(train=50)),
    "75 rows": Reading(Protocol(train=75)),
    "100 rows": Reading(Protocol(train=100)),
    "halves": Reading(HALF),
    "stratified": Reading(Protocol(stratified=True)),
    "training range": Reading(Protocol(scaling="training rows")),
    "unscaled": Reading(Protocol(scaling="none")),
    "lambda = 0.5": Reading(factor=0.25),
    "lambda = 8": Reading(factor=4.0),
    "exact": Reading(solver="exact"),
}


@paper.trials("means", methods=tuple(MEANS), datasets=TABLE_SETS)
def means(trial: Trial, *, lam: float) -> dict[str, float]:
    """Test errors of table 3's machines with one and ten bases; rows: the size of the training part."""
    reading = MEANS[trial.method]
    data, rng = draw_by(trial, reading.protocol), trial.shared_rng("sampling")
    lam *= reading.factor
    errors = {"rows": len(data.y)}
    for p, C in MACHINES:
        solution = solve_exrm(data.X, data.y, lam, C, POWERS[p], reading.solver)
        errors[f"{p}_{C}"] = data.error(ensemble_scores(solution, data.X_test))
    fit = psvm_fit(lam, 2)
    boosted = boost_linear(fit, data.X, data.y, 10, rng)
    bagged = bag_linear(fit, data.X, data.y, 10, rng)
    errors["AdaSVM_10"] = data.error(vote(*boosted, data.X_test))
    errors["BagSVM_10"] = data.error(vote(bagged, np.ones(10), data.X_test))
    return errors
