"""CG-Boost and CGENS are one problem with two families of hypotheses, so each master can take either oracle.

Both minimize ``1/2 |w|^2 + C sum_i max(0, 1 - y_i f(x_i))`` with a free offset: bi2004 (11) over columns of
kernels, shen2014 (1) over stumps. The method is one, its matrices are two: columns as they
come, and columns compressed to their span. Objectives must be equal within the certified gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cgens import CGEns
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.quadratic import HingeQP
from kernsemble.trials.trial import Trial
from atlas.draws import Rows, Split, draw
from atlas.plan import paper
from atlas.sets import MASTER_SETS

KERNELS = ("linear", "quadratic", "rbf")
PAIRS = ("stumps / CGENS", "stumps / CG-Boost", "kernels / CGENS", "kernels / CG-Boost")


@paper.trials("masters", methods=PAIRS, datasets=MASTER_SETS)
def masters(
    trial: Trial,
    *,
    rows: Rows,
    master_rows: int,
    master_costs: dict[str, float],
    master_rounds: int,
    master_tol: float,
) -> dict[str, float]:
    """Run a master over an oracle: objective, certified gap over all hypotheses, columns, error."""
    data = draw(trial, rows)
    family, _, master = trial.method.partition(" / ")
    few = Split(
        data.X[:master_rows], data.y[:master_rows], data.X_test, data.y_test, data.folds[:master_rows]
    )
    run = {
        ("stumps", "CGENS"): cgens_over_stumps,
        ("stumps", "CG-Boost"): cg_boost_over_stumps,
        ("kernels", "CGENS"): cgens_over_kernels,
        ("kernels", "CG-Boost"): cg_boost_over_kernels,
    }[family, master]
    return run(few, master_costs[family], master_rounds, master_tol)


def cgens_over_stumps(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CGENS as it is."""
    return outcome(CGEns(C, n_rounds, tol=tol).fit(data.X, data.y), data)


def cgens_over_kernels(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CGENS with bi2004's columns for hypotheses."""
    return outcome(CGEns(C, n_rounds, base=kernel_columns, tol=tol).fit(data.X, data.y), data)


def cg_boost_over_kernels(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CG-Boost as it is, with the regular search."""
    model = CGBoostClassifier(KERNELS, C, stratified=False, n_rounds=n_rounds, tol=tol)
    return outcome(model.fit(data.X, data.y), data)


def cg_boost_over_stumps(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CG-Boost's master over stumps, for which there is no estimator."""
    oracle = StumpOracle(data.X, constant=False)
    master = HingeQP(data.signs, C, intercept="free", tol=min(0.5 * tol, 1e-9), least_norm=True)
    found = column_generation(oracle, master, n_rounds, tol=tol, keep_weights=False)
    scores = oracle.collect(found.keys).decision(data.X_test, found.solution.w, found.solution.b)
    return {
        "objective": found.solution.objective,
        "gap": found.gap,
        "columns": len(found.keys),
        "error": data.error((scores > 0).astype(np.int64)),
    }


def outcome(model: Any, data: Split) -> dict[str, float]:
    """Return what an estimator found."""
    return {
        "objective": float(model.objective_path_[-1]),
        "gap": model.dual_gap_,
        "columns": model.n_rounds_,
        "error": data.error(model.predict(data.X_test)),
    }


def kernel_columns(X: np.ndarray, *, random_state: Any = None) -> KernelColumns:
    """Return the oracle over all columns of all kernels; it draws nothing."""
    return KernelColumns(X, KERNELS, stratified=False)
