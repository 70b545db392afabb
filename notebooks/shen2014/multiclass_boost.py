"""MultiBoost's trials of table III: its own module, so that its solver is no one else's matter."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.exponential import Exponential
from kernsemble.trials.trial import Trial
from shen2014.draws import Draw
from shen2014.machines import powers_of_two
from shen2014.multiclass import Clock, Fitted, select_and_fit
from shen2014.plan import paper
from shen2014.protocol import Classes
from shen2014.sets import MULTICLASS_SETS


def fit_multiboost(part: Draw, C: float, checkpoints: Sequence[int], *, tol: float) -> Fitted:
    """Fit MultiBoost with columns that all classes share."""
    _, labels = np.unique(part.y, return_inverse=True)
    clock = Clock()
    oracle, master = StumpOracle(part.X), Exponential(labels, C, per_class=False, tol=tol)
    result = column_generation(oracle, master, clock.rounds(max(checkpoints)), tol=tol)
    path = [result.weights[min(T, len(result.weights)) - 1] for T in checkpoints]
    return oracle.collect(result.keys), [(w, 0.0) for w, _ in path], clock


@paper.trials("table3", methods=("MultiBoost",), datasets=MULTICLASS_SETS)
def multiboost_classes(
    trial: Trial, *, classes: Classes, log2_C_exponential: list[int], tol: float
) -> dict[str, float | np.ndarray]:
    """MultiBoost, its C by cross-validation."""
    return select_and_fit(trial, partial(fit_multiboost, tol=tol), powers_of_two(log2_C_exponential), classes)
