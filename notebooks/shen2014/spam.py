"""Trials of table IV and figure 5: spam, 60 stumps, and which features they look at."""

from __future__ import annotations

import numpy as np

from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from shen2014.cgens import stump_ensemble
from shen2014.draws import Draw, folds_of
from shen2014.ensembles import search
from shen2014.machines import powers_of_two
from shen2014.plan import paper


def spam_draw(trial: Trial) -> Draw:
    """Split spam 3 : 2 at random; stumps need no scaling."""
    data = load("spam")
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [round(0.6 * data.n_samples)])
    y = data.signs.astype(np.float64)
    return Draw(data.X[train], y[train], data.X[test], y[test])


@paper.trials("table4", methods=("AdaBoost", "Ours"), datasets=("spam",))
def spam(
    trial: Trial, *, n_folds: int, n_stumps: int, log2_C: list[int], tol: float
) -> dict[str, float | np.ndarray]:
    """Test error of 60 stumps; features: how many of them look at each feature."""
    data, fit = spam_draw(trial), stump_ensemble(trial.method, tol)
    C = 1.0
    if trial.method == "Ours":
        folds = folds_of(trial, data.y, n_folds)
        C, _ = search(fit, data, folds, powers_of_two(log2_C), [n_stumps]).best()
    ensemble = fit(data, C, [n_stumps])
    stumps = ensemble.hypotheses
    counts = np.bincount(stumps.features[np.isfinite(stumps.thresholds)], minlength=data.X.shape[1])
    return {"error": data.error(ensemble.scores(data.X_test)[:, 0]), "C": C, "features": counts}
