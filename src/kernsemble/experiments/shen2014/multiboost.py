"""MultiBoost's trials of table III: its own module, so that its solver is no one else's matter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.experiments.shen2014.draws import Draw
from kernsemble.experiments.shen2014.machines import powers_of_two
from kernsemble.experiments.shen2014.multiclass import Clock, Fitted, select_and_fit
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.shen2014.sets import MULTICLASS_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.exponential import Exponential


def fit_multiboost(part: Draw, C: float, checkpoints: Sequence[int], tol: float) -> Fitted:
    """Fit MultiBoost with columns that all classes share."""
    _, labels = np.unique(part.y, return_inverse=True)
    clock = Clock()
    oracle, master = StumpOracle(part.X), Exponential(labels, C, per_class=False, tol=tol)
    result = column_generation(oracle, master, clock.rounds(max(checkpoints)), tol=tol)
    path = [result.weights[min(T, len(result.weights)) - 1] for T in checkpoints]
    return oracle.collect(result.keys), [(w, 0.0) for w, _ in path], clock


@paper.trials("table3", methods=("MultiBoost",), datasets=MULTICLASS_SETS)
def multiboost_classes(
    trial: Trial,
    *,
    checkpoints: list[int],
    n_folds: int,
    log2_C_exponential: list[int],
    vision_search: dict[str, int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """MultiBoost, its C by cross-validation."""

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Fitted:
        return fit_multiboost(part, C, rounds, tol)

    return select_and_fit(trial, fit, powers_of_two(log2_C_exponential), checkpoints, n_folds, vision_search)
