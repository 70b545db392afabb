"""Trials of figure 1: points of a Gaussian in the plane, one class within a circle, the other outside."""

from __future__ import annotations

import numpy as np

from kernsemble.trials.trial import Trial
from shen2014.cgens import stump_ensemble
from shen2014.draws import Draw, folds_of
from shen2014.ensembles import search
from shen2014.machines import powers_of_two
from shen2014.plan import paper


def toy_draw(trial: Trial, n_train: int, n_test: int) -> Draw:
    """Draw points of a standard normal; half of the probability lies within the circle."""
    rng = trial.shared_rng("points")
    X = rng.standard_normal((n_train + n_test, 2))
    y = np.where((X**2).sum(axis=1) < 2.0 * np.log(2.0), 1.0, -1.0)
    return Draw(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


@paper.trials("figure1", methods=("AdaBoost", "CGENS"), datasets=("toy",))
def toy(
    trial: Trial,
    *,
    n_train: int,
    n_test: int,
    n_folds: int,
    checkpoints: list[int],
    log2_C_toy: list[int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """Training and test error after some numbers of rounds; C by cross-validation at the last."""
    data, fit = toy_draw(trial, n_train, n_test), stump_ensemble(trial.method, tol)
    C = 1.0
    if trial.method == "CGENS":
        folds = folds_of(trial, data.y, n_folds)
        C, _ = search(fit, data, folds, powers_of_two(log2_C_toy), checkpoints[-1:]).best()
    ensemble = fit(data, C, checkpoints)
    test, train = (ensemble.scores(X) > 0 for X in (data.X_test, data.X))
    return {
        "test": 100.0 * (test != (data.y_test > 0)[:, None]).mean(axis=0),
        "train": 100.0 * (train != (data.y > 0)[:, None]).mean(axis=0),
        "C": C,
    }
