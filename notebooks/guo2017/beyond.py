"""Trials that the paper did not run: ExRM inside bagging and boosting, more classes, lambda by validation."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from kernsemble.estimators.exrm import ExRM
from kernsemble.masters.psvm import solve_psvm
from kernsemble.trials.trial import Trial
from guo2017.draws import Scaling, draw
from guo2017.machines import (
    POWERS,
    bag_linear,
    boost_linear,
    exrm_fit,
    psvm_fit,
    vote,
)
from guo2017.plan import paper
from guo2017.sets import MULTICLASS_SETS, TABLE_SETS

WRAPPED = tuple(f"{way}{base}" for base in ("PSVM", "ExRM10") for way in ("", "Bag-", "Ada-"))


@paper.trials("wrapped", methods=WRAPPED, datasets=TABLE_SETS)
def wrapped(trial: Trial, *, n_train: int, scaling: Scaling, lam: float, n_rounds: int) -> dict[str, float]:
    """L2-ExRM as base learner of bagging and boosting, which the paper's last section proposes."""
    data = draw(trial, n_train, scaling)
    way, base = trial.method.rpartition("-")[::2]
    fit = psvm_fit(lam, 2) if base == "PSVM" else exrm_fit(lam, 10, 2)
    rng = trial.shared_rng("sampling")
    if way == "Ada":
        machines, votes = boost_linear(fit, data.X, data.y, n_rounds, rng)
    elif way == "Bag":
        machines, votes = bag_linear(fit, data.X, data.y, n_rounds, rng), np.ones(n_rounds)
    else:
        machines, votes = [fit(data.X, data.y, np.ones(len(data.y)))], np.ones(1)
    return {"error": data.error(vote(machines, votes, data.X_test))}


@paper.trials("modern", methods=tuple(f"{p}-PSVM, lambda chosen" for p in POWERS), datasets=TABLE_SETS)
def chosen_lambda(
    trial: Trial, *, n_train: int, scaling: Scaling, ratios: list[float], n_folds: int
) -> dict[str, float]:
    """One machine, its lambda by stratified cross-validation on the training part; ties to the smallest."""
    data = draw(trial, n_train, scaling)
    p = POWERS[trial.method[:2]]
    order = trial.shared_rng("folds").permutation(len(data.y))
    order = order[np.argsort(data.y[order], kind="stable")]
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % n_folds
    wrong = np.zeros(len(ratios))
    for held in (fold == k for k in range(n_folds)):
        for i, ratio in enumerate(ratios):
            machine = solve_psvm(data.X[~held], data.y[~held], ratio, p)
            wrong[i] += ((data.X[held] @ machine.w + machine.b > 0) != (data.y[held] > 0)).sum()
    best = solve_psvm(data.X, data.y, ratios[int(np.argmin(wrong))], p)
    return {"error": data.error(data.X_test @ best.w + best.b)}


TREES = ("RandomForest", "HistGradientBoosting")


@paper.trials("modern", methods=(*TREES, "SVC"), datasets=TABLE_SETS)
def today(trial: Trial, *, n_train: int, scaling: Scaling) -> dict[str, float]:
    """What scikit-learn gives with the defaults of today."""
    data = draw(trial, n_train, scaling)
    model = _model(trial.method, trial.seed()).fit(data.X, data.y)
    return {"error": data.error(model.predict(data.X_test))}


def _model(name: str, seed: int) -> ClassifierMixin:
    made = {
        "RandomForest": lambda: RandomForestClassifier(random_state=seed),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=seed),
        "SVC": lambda: SVC(),
        "LinearSVC": lambda: LinearSVC(random_state=seed, max_iter=100_000),
        "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    }
    return made[name]()


@paper.trials(
    "multiclass",
    methods=("L1-ExRM10", "L2-ExRM10", "LinearSVC", "LogisticRegression", "RandomForest"),
    datasets=MULTICLASS_SETS,
)
def more_classes(trial: Trial, *, train_share: float, scaling: Scaling, lam: float) -> dict[str, float]:
    """One ensemble a class against the rest, beside linear machines and a forest of scikit-learn."""
    data = draw(trial, train_share, scaling)
    if "ExRM" in trial.method:
        model = ExRM(10, lam=lam, p=POWERS[trial.method[:2]])
    else:
        model = _model(trial.method, trial.seed())
    predicted = model.fit(data.X, data.y).predict(data.X_test)
    return {"error": round(100.0 * float(np.mean(predicted != data.y_test)), 4)}
