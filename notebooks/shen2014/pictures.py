"""Trials of figure 4: which pictures CGENS-SLS takes for what. Scenes stand in for LabelMe."""

from __future__ import annotations

import numpy as np

from kernsemble.data.features.store import load_features
from kernsemble.data.splits import split_per_class
from kernsemble.trials.trial import Trial
from shen2014.multiclass import fit_simplex, multiclass_draw
from shen2014.plan import paper


@paper.trials("figure4", methods=("CGENS-SLS",), datasets=("Scene15",))
def scenes(
    trial: Trial, *, n_rounds: int, log2_C_scenes: int, n_pictures: int, n_per_class: int, tol: float
) -> dict[str, float | np.ndarray]:
    """Test pictures that the classifier is surest of: rightly so, and wrongly.

    right, wrong: rows of the set, at most one a class, by the lead of the predicted class over the next
    (right) and over the true one (wrong); taken_for: the classes that the wrong ones are taken for.
    """
    data = multiclass_draw(trial)
    stumps, weights, _ = fit_simplex(data, 2.0**log2_C_scenes, [n_rounds], tol=tol)
    W, b = weights[-1]
    scores = stumps.decision(data.X_test, W) + b
    predicted, ordered = scores.argmax(axis=1), np.sort(scores, axis=1)
    lead = ordered[:, -1] - np.take_along_axis(scores, data.y_test[:, None].astype(np.intp), axis=1)[:, 0]
    correct = predicted == data.y_test
    right = _one_a_class(np.where(correct, ordered[:, -1] - ordered[:, -2], -1.0), data.y_test, n_pictures)
    wrong = _one_a_class(np.where(correct, -1.0, lead), data.y_test, n_pictures)
    rows = _test_rows(trial, n_per_class)
    return {
        "error": 100.0 * float(np.mean(~correct)),
        "right": rows[right],
        "wrong": rows[wrong],
        "taken_for": predicted[wrong],
    }


def _one_a_class(strength: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    """Return the strongest row of each class, the strongest classes first."""
    best = [rows[strength[rows].argmax()] for rows in (np.flatnonzero(y == c) for c in np.unique(y))]
    return np.array(sorted(best, key=lambda row: -strength[row])[:n])


def _test_rows(trial: Trial, n_per_class: int) -> np.ndarray:
    labels = load_features("scene15-words").y
    return split_per_class(labels, n_per_class, "shen2014", trial.dataset, trial.number)[1]
