"""Totally corrective boosting of the loss of AdaBoost.MH and .MO: each class against the rest.

Problem of class k, with Y = +1 on its samples and -1 on the others:
min_{w >= 0} |w|_1 + C mean_i exp(-Y_i f_k(x_i)). It is problem (2) with two classes, columns in one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.base import Candidate
from kernsemble.hypotheses.stumps import Stump, StumpOracle
from kernsemble.masters.exponential import Exponential
from lin2012.draws import Draw
from lin2012.fits import Fitted, Snapshot


def against_rest(
    data: Draw, checkpoints: Sequence[int], C: float, *, per_class: bool, tol: float = 1e-2
) -> Fitted:
    """Fit K problems; a round adds a stump to each, its own or the same one for all."""
    oracle, K = StumpOracle(data.X), data.n_classes
    masters = [Exponential((data.labels == k).astype(np.intp), C, tol=tol) for k in range(K)]
    keys, outputs, solutions, snapshots = [], [], [None] * K, []
    for T in range(1, max(checkpoints) + 1):
        V = np.column_stack([master.pricing_weights()[:, 1] for master in masters])
        V = cut_bits(V, together=True)
        for candidate, k in _found(oracle, V, per_class):
            masters[k].add(candidate.column, 1)
            keys.append(candidate.key)
            outputs.append(k)
        for k, master in enumerate(masters):
            solutions[k] = master.solve()
        if T in checkpoints:
            w = np.zeros(len(keys))
            for k in range(K):
                w[np.array(outputs) == k] = solutions[k].w
            snapshots.append(Snapshot(w, 0.0, 0.0, sum(solution.objective for solution in solutions)))
    return Fitted(oracle.collect(keys), keys, np.array(outputs), K, snapshots, max(checkpoints))


def _found(oracle: StumpOracle, V: np.ndarray, per_class: bool) -> list[tuple[Candidate, int]]:
    """Return stumps and classes: the best of each, or the best for all of them, with the better sign each."""
    if per_class:
        return [(candidate, k) for k, candidate in enumerate(oracle.best(V)) if candidate.score > 1.0]
    shared, found = oracle.best_shared(V), []
    for k, score in enumerate(V.T @ shared.column):
        feature, threshold, sign = shared.key
        sign, column = (sign, shared.column) if score >= 0 else (-sign, -shared.column)
        found.append((Candidate(Stump(feature, threshold, sign), abs(score), column), k))
    return found
