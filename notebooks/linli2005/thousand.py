"""Trials of linli2005 at a thousand times its rows: 300 to 300,000 of the generated sets with noise.

A trial draws the rows of the largest size, of which a smaller one takes the first; the test part is the same
for all. C is chosen as in table I, on five folds, but of 1000 rows at most, and the machine is then fitted
to all rows. The perceptron kernel is the mean over directions, which needs no kernel matrix: 64 that are
spread evenly, or 16 that are generated (`kernsemble.hypotheses.directions`). AdaBoost and the tree ensembles
are those of the tables and of the section on trees.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from kernsemble.data.generators import bayes_decision
from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.distance_svc import DistanceKernelSVC, DistanceKernelSVCCV
from kernsemble.trials.bench import fitted, percent_wrong, powers_of_two, timed
from kernsemble.trials.trial import Trial
from linli2005.trials import NOISY_SETS, Protocol, draw, folds_of, make_trees, paper

SIZES = (300, 3000, 30_000, 300_000)
MACHINES = {
    "SVM-Stump": {"kernel": "stump"},
    "SVM-Perc, 64 spread": {"kernel": "perceptron", "n_directions": 64},
    "SVM-Perc, 16 generated": {"kernel": "perceptron", "n_directions": 16, "directions": "generated"},
}
TREES = ("HistGradientBoosting", "LightGBM")
LEARNERS = (*MACHINES, "AB-Stump-100", "AB-Stump-1000", *TREES)

paper.exhibit(
    "thousand",
    "At a thousand times the rows",
    metrics=("error",),
    timing=("fit_seconds",),
)


def at_sizes(*learners: str) -> tuple[str, ...]:
    """Names of the methods: learners by numbers of rows."""
    return tuple(f"{learner}: {n}" for learner in learners for n in SIZES)


@paper.trials("thousand", methods=(*at_sizes(*LEARNERS), "Bayes"), datasets=NOISY_SETS)
def thousand(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int], chosen_rows: int
) -> dict[str, float]:
    """One learner on some number of rows; or the rule of Bayes."""
    learner, _, size = trial.method.partition(": ")
    part = draw(trial, replace(protocol, sizes={**protocol.sizes, "train": SIZES[-1]}))
    if learner == "Bayes":
        return {"error": part.error(bayes_decision(trial.dataset.removesuffix("-n"), part.X_test))}
    part = part.only(np.arange(int(size)))
    few = part.only(np.arange(min(chosen_rows, len(part.y))))
    seed, warm = trial.shared_seed("learner"), {}
    if learner in MACHINES:
        options = {**MACHINES[learner], "random_state": seed}
        spread = {name: value for name, value in options.items() if name != "directions"}
        search = {"cv": folds_of(trial, few, protocol), "ties": protocol.ties}
        chosen = fitted(DistanceKernelSVCCV(Cs=powers_of_two(log2_C_distance), **search, **spread), few)
        model, warm = DistanceKernelSVC(C=chosen.best_C_, **options), {"solver": "spline"}
    elif learner in TREES:
        model = make_trees(learner, seed)
    else:
        model = AdaBoost(int(learner.rpartition("-")[2]))
    fitted(clone(model).set_params(**warm), few)  # compiled and imported before the clock starts
    model, seconds = timed(fitted, model, part)
    return {"error": percent_wrong(model.predict(part.X_test), part.y_test), "fit_seconds": seconds}
