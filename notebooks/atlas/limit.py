r"""CGENS with stumps on its way to the machine over all stumps.

The problem that CGENS solves by adding stumps is that of a support vector machine whose kernel is the sum
over ALL stumps of h(x) h(z) (shen2014, claim 4.1). Two points agree on a stump unless its cut lies between
them, so in ranks (cuts passed) that sum is a constant minus twice the l1 distance: linli2005's stump kernel
with a unit for each cut. The constant does not matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.kernels import stump_kernel
from kernsemble.trials.trial import Trial
from atlas.draws import Rows, draw
from atlas.plan import paper
from atlas.sets import LIMIT_SETS


@paper.trials("limit", methods=("CGENS-Stump",), datasets=LIMIT_SETS)
def limit(
    trial: Trial, *, rows: Rows, counts: list[int], cost_of_kernel: float, limit_tol: float
) -> dict[str, np.ndarray]:
    """CGENS after some rounds against the machine.

    C is ``cost_of_kernel`` over the number of stumps, the kernel's value of a point with itself. excess: the
    objective over the machine's, minus 1. disagreement: share of test points where the two differ, in
    percent. error: test errors in percent, last that of the machine.
    """
    data = draw(trial, rows)
    cuts = cuts_of(data.X)
    C = cost_of_kernel / sum(map(len, cuts))
    machine = DistanceKernelSVC(rank_kernel(cuts), C=C, tol=1e-6).fit(data.X, data.y)
    target = machine.predict(data.X_test)
    model = CGEns(C, max(counts), tol=limit_tol).fit(data.X, data.y)
    places = [min(count, model.n_rounds_) - 1 for count in counts]
    stages = list(model.staged_predict(data.X_test))
    predicted = [stages[place] for place in places]
    return {
        "excess": model.objective_path_[places] / machine.objective_[0] - 1.0,
        "disagreement": np.array([100.0 * np.mean(labels != target) for labels in predicted]),
        "error": np.array([*map(data.error, predicted), data.error(target)]),
    }


def cuts_of(X: np.ndarray) -> list[np.ndarray]:
    """Return the cuts of each feature: midway between neighboring values."""
    values = [np.unique(column) for column in X.T]
    return [0.5 * (some[1:] + some[:-1]) for some in values]


def rank_kernel(cuts: list[np.ndarray]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the sum over all stumps of h(x) h(z), without its constant, as a kernel."""

    def ranks(X: np.ndarray) -> np.ndarray:
        pairs = zip(cuts, X.T, strict=True)
        return np.column_stack([np.searchsorted(own, column) for own, column in pairs]).astype(np.float64)

    return lambda X, Z: 2.0 * stump_kernel(ranks(X), ranks(Z))
