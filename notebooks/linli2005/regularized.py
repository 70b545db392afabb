"""Trials of linli2005 that part causes: who was selected, which norm, how many hypotheses, which learner.

Tables I and II compare machines whose C is chosen by cross-validation with AdaBoost at two fixed numbers of
rounds. Here T is chosen on the same folds (``chosen_rounds``); and on the same J hypotheses, drawn from the
measure of the kernel, the norm alone is changed (``norms``)::

    l2: min 1/2 ||w||^2 + C sum_i xi_i,   y_i (w'h(x_i) + b) >= 1 - xi_i      (the machine)
    l1: min sum_j w_j   + C sum_i xi_i,   w >= 0, the same constraints         (LPBoost, b free)

once over J hypotheses, once over all of the family, C by cross-validation in all four.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernsemble.estimators.distance_svc import DistanceKernelSVCCV
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.hypotheses.perceptrons import PerceptronHypotheses
from kernsemble.hypotheses.projections import SampledPool
from kernsemble.kernels import perceptron_constants
from kernsemble.trials.bench import Draw, first_best, powers_of_two
from kernsemble.trials.trial import Trial
from linli2005.theory import finite_ensembles, hard_margin, sample_perceptrons, sample_stumps
from linli2005.trials import (
    BASE_LEARNERS,
    NEAR_SETS,
    TABLE_SETS,
    TREES,
    DataProtocol,
    FoldProtocol,
    Learner,
    Protocol,
    boost_perceptrons,
    boost_stumps,
    draw,
    errors_at,
    folds_of,
    many_rounds,
    paper,
    scores_at,
    trees,
)

SETS = (*TABLE_SETS, *NEAR_SETS)
UPDATES = tuple(BASE_LEARNERS)[:4]

paper.exhibit("chosen_rounds", "AdaBoost with T chosen on the folds of the machines", metrics=("error", "T"))
paper.exhibit(
    "norms",
    "Two norms, over J hypotheses and over all",
    metrics=("error", "log2_C", "size", "gap", "rounds"),
    tolerance={"gap": 1e-3},
)
paper.exhibit(
    "programs",
    "LPBoost over all stumps and all perceptrons",
    metrics=("error", "log2_C", "size", "gap", "rounds"),
    tolerance={"gap": 1e-3},
)
paper.exhibit(
    "updates",
    "How many updates a perceptron gets, and how good it is",
    metrics=("error", "train_error", "weighted"),
)
paper.exhibit("near", "The sections beyond the tables, on ringnorm with a mean of norm 1", metrics=("error",))


@paper.trials("chosen_rounds", methods=("AB-Stump",), datasets=SETS)
@paper.trials("chosen_rounds", methods=("AB-Perc",), datasets=("twonorm-n", "threenorm", "heart", "sonar"))
def chosen_rounds(
    trial: Trial, *, protocol: FoldProtocol, learner: Learner, rounds: list[int]
) -> dict[str, float]:
    """AdaBoost, its number of rounds T chosen on the folds of the machines, the least of equals."""

    def boost(some: Draw):
        if trial.method == "AB-Stump":
            return boost_stumps(some, rounds[-1], learner.perfect_error)
        return boost_perceptrons(some, rounds[-1], learner, trial.seed())

    part, correct = draw(trial, protocol), np.zeros(len(rounds), dtype=np.int64)
    for rows in folds_of(trial, part, protocol):
        fold = part.part(*rows)
        found = scores_at(boost(fold), fold.X_test, rounds)
        correct += [int(((scores > 0) == (fold.y_test > 0)).sum()) for scores in found]
    T = rounds[first_best(correct)]
    return {"error": part.error(scores_at(boost(part), part.X_test, [T])[0]), "T": T}


class FixedPool(SampledPool):
    """Oracle over given hypotheses sign(theta'x - kappa) and their negations."""

    _hypotheses = PerceptronHypotheses

    def __init__(self, X: np.ndarray, *, theta: np.ndarray, kappa: np.ndarray, random_state: object = None):
        self._given = theta, kappa
        super().__init__(X, n_hypotheses=len(kappa), random_state=random_state)

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        return self._given


def drawn_hypotheses(trial: Trial, X: np.ndarray, base: str, J: int) -> tuple[dict[str, np.ndarray], float]:
    """Draw J hypotheses from the measure of a distance kernel, and return its Delta; equal for both norms."""
    rng = trial.shared_rng("hypotheses", base)
    if base == "stumps":
        features, kappa = sample_stumps(X.min(axis=0), X.max(axis=0), J, rng)
        return {"theta": np.eye(X.shape[1])[features], "kappa": kappa}, 0.5 * np.ptp(X, axis=0).sum()
    radius = float(np.sqrt((X**2).sum(axis=1).max()))
    theta, kappa = sample_perceptrons(X.shape[1], radius, J, rng)
    return {"theta": theta, "kappa": kappa}, perceptron_constants(X.shape[1], radius).Delta


@paper.trials("norms", methods=("l2, J stumps", "l2, J perceptrons"), datasets=SETS)
def quadratic_over_some(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int], n_drawn: int
) -> dict[str, float]:
    """The machine whose kernel is Delta times the average over J hypotheses; size: support vectors."""
    part = draw(trial, protocol)
    pool, constant = drawn_hypotheses(trial, part.X, trial.method.split()[-1], n_drawn)
    drawn = PerceptronHypotheses(**pool, signs=np.ones(n_drawn))

    def averaged(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        H, G = (drawn.outputs(Z).astype(np.float32) for Z in (A, B))
        return constant / n_drawn * (H @ G.T).astype(np.float64)  # sums of +-1 are exact in float32

    folds, Cs = folds_of(trial, part, protocol), powers_of_two(log2_C_distance)
    model = DistanceKernelSVCCV(averaged, Cs=Cs, cv=folds, ties=protocol.ties).fit(part.X, part.y)
    return {
        "error": part.error(model.decision_function(part.X_test)),
        "log2_C": float(np.log2(model.best_C_)),
        "size": len(model.support_),
    }


@paper.trials(
    "norms",
    methods=("l1, J stumps", "l1, J perceptrons", "l1, all stumps", "l1, all perceptrons"),
    datasets=SETS,
)
def linear_programs(
    trial: Trial,
    *,
    protocol: FoldProtocol,
    learner: Learner,
    log2_C: list[int],
    n_drawn: int,
    n_rounds: int,
    tol: float,
) -> dict[str, float]:
    """LPBoost, C on the folds of the machines; size: hypotheses of weight > 0; gap: relative, at the end.

    Of all perceptrons no search is exact, so that no gap is known: random coordinate descent finds them.
    """
    part, (_, which, base) = draw(trial, protocol), trial.method.split()
    if which == "J":
        family, options = FixedPool, drawn_hypotheses(trial, part.X, base, n_drawn)[0]
    elif base == "stumps":
        family, options = "stump", {}
    else:
        family, options = "perceptron", {"n_updates": learner.rcd_updates, "start": learner.rcd_start}
    fixed = {"n_rounds": n_rounds, "tol": tol, "intercept": "free", "random_state": trial.seed()}
    models = [LPBoost(C=C, base=family, base_options=options, **fixed) for C in powers_of_two(log2_C)]
    correct = np.zeros(len(models), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is kept instead
        for fold in (part.part(*rows) for rows in folds_of(trial, part, protocol)):
            fitted = [model.fit(fold.X, fold.y).predict(fold.X_test) for model in models]
            correct += [int((predicted == fold.y_test).sum()) for predicted in fitted]
        best = first_best(correct)
        model = models[best].fit(part.X, part.y)
    found = {
        "error": part.error(model.decision_function(part.X_test)),
        "log2_C": log2_C[best],
        "size": int((model.weights_ > 0).sum()),
        "rounds": model.n_rounds_,
    }
    return found if trial.method == "l1, all perceptrons" else found | {"gap": float(model.relative_gap_)}


@paper.trials("programs", methods=("LPBoost-Stump", "LPBoost-Perc"), datasets=TABLE_SETS)
def programs_over_all(
    trial: Trial,
    *,
    protocol: FoldProtocol,
    learner: Learner,
    log2_C: list[int],
    n_rounds: int,
    tol: float,
) -> dict[str, float]:
    """The cells of ``norms`` with the l1 norm over all hypotheses, on all sets."""
    base = {"LPBoost-Stump": "stumps", "LPBoost-Perc": "perceptrons"}[trial.method]
    cell = replace(trial, exhibit="norms", method=f"l1, all {base}")
    options = {"log2_C": log2_C, "n_drawn": 0, "n_rounds": n_rounds, "tol": tol}
    return linear_programs(cell, protocol=protocol, learner=learner, **options)


@paper.trials("updates", methods=UPDATES, datasets=SETS)
def number_of_updates(
    trial: Trial, *, protocol: DataProtocol, perfect_error: float, rounds: list[int]
) -> dict[str, np.ndarray]:
    """AdaBoost over perceptrons with so many updates; weighted: mean weighted error until then."""
    part, learner = draw(trial, protocol), Learner(perfect_error, *BASE_LEARNERS[trial.method])
    model = boost_perceptrons(part, rounds[-1], learner, trial.seed())
    weighted = 100.0 * np.array([np.mean(model.errors_[:T]) for T in rounds])
    return errors_at(model, part, rounds) | {"weighted": weighted}


def named(trial: Trial) -> Trial:
    """Return the trial of the exhibit and method that the method of ``near`` names."""
    exhibit, method = trial.method.split(", ")
    return replace(trial, exhibit=exhibit, method=method)


@paper.trials("near", methods=("hard, SVM-Stump", "hard, SVM-Perc"), datasets=NEAR_SETS)
def near_hard(trial: Trial, *, protocol: DataProtocol) -> dict[str, float]:
    """Hard margins."""
    return hard_margin(named(trial), protocol=protocol)


@paper.trials("near", methods=tuple(f"modern, {name}" for name in TREES), datasets=NEAR_SETS)
def near_trees(trial: Trial, *, protocol: DataProtocol) -> dict[str, float]:
    """Tree ensembles."""
    return trees(named(trial), protocol=protocol)


@paper.trials("near", methods=("rounds, AB-Stump", "rounds, AB-Perc"), datasets=NEAR_SETS[:1])
def near_rounds(
    trial: Trial, *, protocol: DataProtocol, learner: Learner, rounds: list[int]
) -> dict[str, np.ndarray]:
    """AdaBoost against its number of rounds."""
    return many_rounds(named(trial), protocol=protocol, learner=learner, rounds=rounds)


@paper.trials("near", methods=("finite, SVM-Stump", "finite, SVM-Perc"), datasets=NEAR_SETS)
def near_finite(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int], counts: list[int]
) -> dict[str, np.ndarray]:
    """Machines on J hypotheses; last the infinite one."""
    options = {"protocol": protocol, "log2_C_distance": log2_C_distance, "counts": counts}
    return {"error": finite_ensembles(named(trial), **options)["error"]}
