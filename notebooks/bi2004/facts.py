"""Trials of table 1: what the datasets are."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from bi2004.draws import DigitsTask, moments, whole_set
from bi2004.plan import paper
from bi2004.sets import STORED

PRINTED_POSITIVE_DIGITS = 30_378


@paper.trials("table1", methods=("facts",), datasets=tuple(STORED))
def facts(trial: Trial, *, digits_task: DigitsTask) -> dict[str, float]:
    """Features (constant ones of Ionosphere left out), examples, positive and negative ones.

    nearest_subset: of all tasks "some of the ten digits against the others" the number of positive examples
    that is nearest to the printed one.
    """
    data = whole_set(trial.dataset, digits_task) if trial.dataset == "Digits" else whole_set(trial.dataset)
    positive = int((data.signs > 0).sum())
    dim = int((moments(trial.dataset)[1] > 0).sum()) if trial.dataset == "Ionosphere" else data.n_features
    found = {
        "dim": dim,
        "n_pts": data.n_samples,
        "n_positive": positive,
        "n_negative": data.n_samples - positive,
    }
    if trial.dataset == "Digits":
        found["nearest_subset"] = nearest_subset(PRINTED_POSITIVE_DIGITS)
    return found


def nearest_subset(wanted: int) -> int:
    """Size of the subset of classes of MNIST's training part that is nearest to a number of examples."""
    digits = load("mnist")
    counts = np.bincount(digits.y[digits.part == 0])
    sizes = [sum(some) for k in range(1, len(counts)) for some in combinations(counts.tolist(), k)]
    return min(sizes, key=lambda size: (abs(size - wanted), size))
