"""Trials of tables 1 and 3: every family of ensembles with 1, 5, 10 and 30 bases, on the same splits."""

from __future__ import annotations

import numpy as np

from kernsemble.trials.trial import Trial
from guo2017.draws import Scaling, draw
from guo2017.machines import (
    POWERS,
    Reweighting,
    Solver,
    Voting,
    bag_linear,
    boost_linear,
    ensemble_scores,
    psvm_fit,
    solve_exrm,
    vote,
)
from guo2017.plan import BASES, paper
from guo2017.sets import TABLE_SETS
from guo2017.trees import TreeSize, tree_errors


@paper.trials("table1", methods=("L1-ExRM", "L2-ExRM"), datasets=TABLE_SETS)
def exclusivity_machine(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, solver: Solver
) -> dict[str, float]:
    """error_C: the solver of the tables; exact_C: the optimum of the same problem."""
    data = draw(trial, n_train, scaling)
    p = POWERS[trial.method[:2]]
    result = {}
    for C in BASES:
        for name, chosen in (("error", solver), ("exact", "exact")):
            solution = solve_exrm(data.X, data.y, lam, C, p, chosen)
            result[f"{name}_{C}"] = data.error(ensemble_scores(solution, data.X_test))
    return result


@paper.trials("table1", methods=("AdaTree",), datasets=TABLE_SETS)
def boosted_trees(
    trial: Trial, *, n_train: int, scaling: Scaling, boosted_tree: TreeSize
) -> dict[str, float]:
    """Boosted classification trees; one run is read after 1, 5, 10 and 30 rounds."""
    data = draw(trial, n_train, scaling)
    errors = tree_errors("AdaTree", data, BASES, boosted_tree, trial.rng())
    return {f"error_{T}": error for T, error in errors.items()}


@paper.trials("table1", methods=("BagTree",), datasets=TABLE_SETS)
def bagged_trees(trial: Trial, *, n_train: int, scaling: Scaling) -> dict[str, float]:
    """Bagged classification trees, grown to the end."""
    data = draw(trial, n_train, scaling)
    errors = tree_errors("BagTree", data, BASES, "full", trial.rng())
    return {f"error_{T}": error for T, error in errors.items()}


@paper.trials("table1", methods=("AdaSVM",), datasets=TABLE_SETS)
def boosted_machines(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, reweighting: Reweighting
) -> dict[str, float]:
    """AdaBoost over L2-PSVMs; one run is read after 1, 5, 10 and 30 rounds."""
    data = draw(trial, n_train, scaling)
    machines, votes = boost_linear(psvm_fit(lam, 2), data.X, data.y, BASES[-1], trial.rng(), reweighting)
    return {f"error_{C}": data.error(vote(machines[:C], votes[:C], data.X_test)) for C in BASES}


@paper.trials("table1", methods=("BagSVM",), datasets=TABLE_SETS)
def bagged_machines(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, voting: Voting
) -> dict[str, float]:
    """Bagged L2-PSVMs; the first C of 30 are the ensemble of C."""
    data = draw(trial, n_train, scaling)
    machines = bag_linear(psvm_fit(lam, 2), data.X, data.y, BASES[-1], trial.rng())
    return {f"error_{C}": data.error(vote(machines[:C], np.ones(C), data.X_test, voting)) for C in BASES}
