"""Trials of a remark in section II C: LPBoost, whose slack variables regularize, changes no conclusion."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernsemble.estimators.lpboost import LPBoost
from kernsemble.trials.trial import Trial
from linli2005.draws import FoldKind, MissingVotes, Scaling, draw, folds_of
from linli2005.machines import powers_of_two
from linli2005.plan import paper
from linli2005.sets import TABLE_SETS


@paper.trials("lpboost", methods=("LPBoost-Stump",), datasets=TABLE_SETS)
def boosted_by_linear_programs(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    log2_C: list[int],
    n_rounds: int,
    tol: float,
) -> dict[str, float]:
    """LPBoost over stumps, C by cross-validation on the folds of the machines; size: stumps of weight > 0."""
    data = draw(trial, sizes, scaling, missing_votes)
    Cs = powers_of_two(log2_C)
    correct = np.zeros(len(Cs), dtype=np.int64)
    for train, test in folds_of(trial, data, n_folds, folds):
        models = [_fit(data.X[train], data.y[train], C, n_rounds, tol) for C in Cs]
        correct += [int((model.predict(data.X[test]) == data.y[test]).sum()) for model in models]
    model = _fit(data.X, data.y, Cs[int(correct.argmax())], n_rounds, tol)
    return {
        "error": data.error(model.decision_function(data.X_test)),
        "log2_C": log2_C[int(correct.argmax())],
        "size": int((model.coef_ > 0).sum()),
    }


def _fit(X: np.ndarray, y: np.ndarray, C: float, n_rounds: int, tol: float) -> LPBoost:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the rounds may run out before the gap is closed
        return LPBoost(C=C, n_rounds=n_rounds, tol=tol).fit(X, y)
