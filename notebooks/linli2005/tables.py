"""Trials of tables I and II, and of what AdaBoost's base learner and number of rounds change."""

from __future__ import annotations

import numpy as np

from kernsemble.trials.trial import Trial
from linli2005.boosters import (
    Directions,
    Ensemble,
    Start,
    boost_perceptrons,
    boost_stumps,
    scores_at,
)
from linli2005.draws import Draw, FoldKind, MissingVotes, Scaling, draw, folds_of
from linli2005.machines import (
    Machine,
    Ties,
    powers_of_two,
    train_distance_machine,
    train_gaussian_machine,
)
from linli2005.plan import paper
from linli2005.sets import NEAR_SETS, TABLE_SETS


@paper.trials("table1", methods=("SVM-Stump", "SVM-Perc"), datasets=(*TABLE_SETS, *NEAR_SETS))
def distance_machine(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
) -> dict[str, float]:
    """SVM with a distance kernel, C by cross-validation."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    machine = train_distance_machine(trial.method, data, parts, powers_of_two(log2_C_distance), ties)
    return summary(data, machine)


@paper.trials("table1", methods=("SVM-Gauss",), datasets=(*TABLE_SETS, *NEAR_SETS))
def gaussian_machine(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """SVM with the Gaussian kernel, C and gamma by cross-validation."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    grids = powers_of_two(log2_C_gauss), powers_of_two(log2_gamma)
    return summary(data, train_gaussian_machine(data, parts, *grids, ties))


def summary(data: Draw, machine: Machine) -> dict[str, float]:
    """Return the metrics of a machine; its size is the number of support vectors."""
    result = {
        "error": data.error(machine.test_scores),
        "train_error": 100.0 * float(np.mean((machine.train_scores > 0) != (data.y > 0))),
        "log2_C": float(np.log2(machine.C)),
        "tied": machine.tied,
        "size": int((machine.solution.w != 0).sum()),
    }
    if machine.gamma is not None:
        result["log2_gamma"] = float(np.log2(machine.gamma))
    return result


@paper.trials(
    "table1", methods=("AB-Stump-100", "AB-Stump-1000"), datasets=(*TABLE_SETS, *NEAR_SETS), together=True
)
def boosted_stumps(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
) -> dict[str, dict[str, float]]:
    """AdaBoost over stumps, read after 100 and 1000 rounds of one run."""
    data = draw(trial, sizes, scaling, missing_votes)
    return _read_rounds("AB-Stump", data, boost_stumps(data, 1000, perfect_error))


@paper.trials(
    "table1", methods=("AB-Perc-100", "AB-Perc-1000"), datasets=(*TABLE_SETS, *NEAR_SETS), together=True
)
def boosted_perceptrons(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
    rcd_updates: int,
    rcd_start: Start,
    rcd_directions: Directions,
) -> dict[str, dict[str, float]]:
    """AdaBoost over perceptrons, read after 100 and 1000 rounds of one run."""
    data = draw(trial, sizes, scaling, missing_votes)
    learner = rcd_updates, rcd_start, rcd_directions, trial.seed()
    ensemble = boost_perceptrons(data, 1000, perfect_error, *learner)
    return _read_rounds("AB-Perc", data, ensemble)


def _read_rounds(name: str, data: Draw, ensemble: Ensemble) -> dict[str, dict[str, float]]:
    """Return the metrics after 100 and 1000 rounds; the size is the number of rounds that were run."""
    rounds = (100, 1000)
    test, train = (scores_at(ensemble, X, rounds) for X in (data.X_test, data.X))
    return {
        f"{name}-{T}": {
            "error": data.error(test_scores),
            "train_error": 100.0 * float(np.mean((train_scores > 0) != (data.y > 0))),
            "size": min(T, len(ensemble[1])),
        }
        for T, test_scores, train_scores in zip(rounds, test, train, strict=True)
    }


# What else a base learner could be: name -> (updates, start, directions).
BASE_LEARNERS: dict[str, tuple[int, Start, Directions]] = {
    "20 updates": (20, "zero", "random"),
    "50 updates": (50, "zero", "random"),
    "200 updates": (200, "zero", "random"),
    "1000 updates": (1000, "zero", "random"),
    "from Fisher's discriminant": (200, "fisher", "random"),
    "from a random direction": (200, "random", "random"),
    "from the best stump": (200, "stump", "random"),
    "along single features": (200, "zero", "coordinate"),
}


@paper.trials("base_learner", methods=tuple(BASE_LEARNERS), datasets=TABLE_SETS)
def base_learner(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
    rounds: list[int],
) -> dict[str, np.ndarray]:
    """Test and training error of AdaBoost over perceptrons, with another base learner, after some rounds."""
    data = draw(trial, sizes, scaling, missing_votes)
    learner = *BASE_LEARNERS[trial.method], trial.seed()
    ensemble = boost_perceptrons(data, rounds[-1], perfect_error, *learner)
    test, train = (scores_at(ensemble, X, rounds) for X in (data.X_test, data.X))
    return {
        "error": np.array([data.error(scores) for scores in test]),
        "train_error": np.array([100.0 * np.mean((scores > 0) != (data.y > 0)) for scores in train]),
    }


@paper.trials("rounds", methods=("AB-Stump", "AB-Perc"), datasets=TABLE_SETS)
def many_rounds(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
    rcd_updates: int,
    rcd_start: Start,
    rcd_directions: Directions,
    rounds: list[int],
) -> dict[str, np.ndarray]:
    """Test error of one run of AdaBoost after each of some numbers of rounds."""
    data = draw(trial, sizes, scaling, missing_votes)
    if trial.method == "AB-Stump":
        ensemble = boost_stumps(data, rounds[-1], perfect_error)
    else:
        learner = rcd_updates, rcd_start, rcd_directions, trial.seed()
        ensemble = boost_perceptrons(data, rounds[-1], perfect_error, *learner)
    scores = scores_at(ensemble, data.X_test, rounds)
    return {"error": np.array([data.error(s) for s in scores])}
