"""How different are the members of an ensemble, and what is it worth?

guo2017 asks for diversity by a norm that all members share; column generation never does, but prices each
new member against the samples that the others get wrong; bagging leaves it to chance. All members here are
linear, ten of them; a random forest of ten trees stands beside them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.svm import LinearSVC

from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.drm import DRM
from kernsemble.estimators.exrm import ExRM
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.trials.trial import Trial
from atlas.draws import Rows, Split, draw
from atlas.plan import paper
from atlas.sets import DIVERSITY_SETS


@paper.trials("diversity", methods=("ExRM", "ExRM, as printed", "DRM"), datasets=DIVERSITY_SETS)
def regularized(trial: Trial, *, rows: Rows, n_members: int) -> dict[str, float]:
    """Members that a norm or a penalty is to keep apart, with the defaults of their estimators."""
    data, seed = draw(trial, rows), trial.seed()
    model = {
        "ExRM": ExRM(n_members),
        "ExRM, as printed": ExRM(n_members, solver="printed", start="random", random_state=seed),
        "DRM": DRM(n_members, random_state=seed),
    }[trial.method]
    model.fit(data.X, data.y)
    votes = model.component_decision_function(data.X_test) > 0
    return judge(data, votes, model.predict(data.X_test))


@paper.trials("diversity", methods=("CGENS", "LPBoost"), datasets=DIVERSITY_SETS)
def generated(
    trial: Trial, *, rows: Rows, n_members: int, diversity_costs: dict[str, float]
) -> dict[str, float]:
    """Perceptrons found by column generation; those without a weight are no members."""
    data = draw(trial, rows)
    kind = {"CGENS": CGEns, "LPBoost": LPBoost}[trial.method]
    options = {"base": "perceptron", "random_state": trial.shared_seed("perceptrons")}
    options["tol"] = {"CGENS": 1e-3, "LPBoost": 1e-6}[trial.method]
    model = kind(diversity_costs[trial.method], n_members, **options).fit(data.X, data.y)
    return judge(data, signed_votes(model, data.X_test), model.predict(data.X_test))


@paper.trials("diversity", methods=("AdaBoost",), datasets=DIVERSITY_SETS)
def boosted(trial: Trial, *, rows: Rows, n_members: int) -> dict[str, float]:
    """The same perceptrons, stage by stage."""
    data = draw(trial, rows)
    model = AdaBoost(n_members, base="perceptron", random_state=trial.shared_seed("perceptrons"))
    model.fit(data.X, data.y)
    return judge(data, signed_votes(model, data.X_test), model.predict(data.X_test))


@paper.trials("diversity", methods=("bagged SVMs", "random forest"), datasets=DIVERSITY_SETS)
def bagged(trial: Trial, *, rows: Rows, n_members: int) -> dict[str, float]:
    """Members that differ by their bootstrap samples."""
    data, seed = draw(trial, rows), trial.seed()
    if trial.method == "random forest":
        model = RandomForestClassifier(n_members, random_state=seed)
    else:
        # max_iter: with many rows the default ends short of the optimum
        machine = LinearSVC(C=0.1, max_iter=20_000, random_state=seed)
        model = BaggingClassifier(machine, n_members, random_state=seed)
    model.fit(data.X, data.y)
    votes = np.column_stack([member.predict(data.X_test) > 0 for member in model.estimators_])
    return judge(data, votes, model.predict(data.X_test))


def signed_votes(model: AdaBoost | CGEns | LPBoost, X: np.ndarray) -> np.ndarray:
    """Return which class each member votes for, negated where its weight is negative."""
    used = np.flatnonzero(model.coef_)
    outputs = model.hypotheses_.outputs(X)[:, used]
    return outputs * np.sign(model.coef_[used]) > 0


def judge(data: Split, votes: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return in percent how often two members differ, a member errs, and the ensemble errs."""
    right = data.y_test[:, np.newaxis] > 0
    pairs = [np.mean(votes[:, i] != votes[:, j]) for i, j in combinations(range(votes.shape[1]), 2)]
    return {
        "disagreement": 100.0 * float(np.mean(pairs)) if pairs else 0.0,
        "member_error": 100.0 * float(np.mean(votes != right)),
        "error": data.error(predicted),
    }
