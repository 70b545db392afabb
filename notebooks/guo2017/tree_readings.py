"""Hypotheses about the printed errors of AdaTree and BagTree, each run on the splits of table 1.

Some are other readings of the protocol, others are mistakes that are easily made. None is claimed to be what
happened: the table only says which of them can and which cannot give the printed numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernsemble.data.store import load
from kernsemble.trials.trial import Trial
from guo2017.draws import Draw, Scaling, draw
from guo2017.plan import paper
from guo2017.sets import STORED, TABLE_SETS
from guo2017.trees import TreeSize, tree_errors

SIZES = (10, 30)


def as_is(data: Draw, rng: np.random.Generator) -> Draw:
    """Leave the draw alone."""
    return data


def shuffle_labels(data: Draw, rng: np.random.Generator) -> Draw:
    """Detach the training labels from their rows."""
    return replace(data, y=rng.permutation(data.y))


def sort_labels(data: Draw, rng: np.random.Generator) -> Draw:
    """Sort the training labels by class while the rows stay in their order."""
    return replace(data, y=np.sort(data.y))


def flip_some(data: Draw, rng: np.random.Generator) -> Draw:
    """Flip the sign of 40 % of the training labels."""
    chosen = rng.random(len(data.y)) < 0.4
    return replace(data, y=np.where(chosen, -data.y, data.y))


def shift_columns(data: Draw, rng: np.random.Generator) -> Draw:
    """Move the test columns by one place, as when one of the two files holds the label first."""
    return replace(data, X_test=np.roll(data.X_test, 1, axis=1))


def label_as_feature(data: Draw, rng: np.random.Generator) -> Draw:
    """Train with the label as a feature, which is 0 in the test."""
    return replace(
        data,
        X=np.column_stack([data.y, data.X]),
        X_test=np.column_stack([np.zeros(len(data.y_test)), data.X_test]),
    )


def few_rows(data: Draw, rng: np.random.Generator) -> Draw:
    """Train on the first 15 of the 150 rows, with both classes among them."""
    rows = np.arange(15)
    rows[:2] = np.argmax(data.y > 0), np.argmax(data.y < 0)
    return replace(data, X=data.X[rows], y=data.y[rows])


# Name -> what happens to the draw.
MISHAPS: dict[str, Callable[[Draw, np.random.Generator], Draw]] = {
    "labels shuffled": shuffle_labels,
    "labels sorted": sort_labels,
    "40 % of labels flipped": flip_some,
    "test columns moved by one": shift_columns,
    "label as a feature": label_as_feature,
    "15 training rows": few_rows,
}
SIZES_OF_TREES: dict[str, TreeSize] = {"stumps": "stump", "10 splits": "10 splits", "full trees": "full"}


@paper.trials("trees", methods=tuple(SIZES_OF_TREES), datasets=TABLE_SETS)
def size_of_trees(trial: Trial, *, n_train: int, scaling: Scaling) -> dict[str, float]:
    """Boosted and bagged trees of one size."""
    size = SIZES_OF_TREES[trial.method]
    return _both_ensembles(draw(trial, n_train, scaling), trial, size, size)


@paper.trials("trees", methods=("raw test features", "first rows", *MISHAPS), datasets=TABLE_SETS)
def mishaps(trial: Trial, *, n_train: int, scaling: Scaling, boosted_tree: TreeSize) -> dict[str, float]:
    """Train or test on something else than the draw says."""
    data = draw(trial, n_train, scaling)
    if trial.method == "raw test features":
        data = _raw_test(data, trial, n_train)
    elif trial.method == "first rows":
        data = _first_rows(n_train, trial)
    else:
        data = MISHAPS[trial.method](data, trial.shared_rng("mishap"))
    return _both_ensembles(data, trial, boosted_tree, "full")


def _both_ensembles(data: Draw, trial: Trial, boosted: TreeSize, bagged: TreeSize) -> dict[str, float]:
    """Return the test errors of AdaTree and BagTree with 10 and 30 trees."""
    return {
        f"{name}_{T}": error
        for name, size in (("Ada", boosted), ("Bag", bagged))
        for T, error in tree_errors(f"{name}Tree", data, SIZES, size, trial.rng(name)).items()
    }


def _raw_test(data: Draw, trial: Trial, n_train: int) -> Draw:
    """Train on scaled features and test on those of the original file."""
    stored = load(STORED.get(trial.dataset, trial.dataset))
    order = trial.shared_rng("split").permutation(stored.n_samples)
    return replace(data, X_test=stored.X[order[n_train:]])


def _first_rows(n_train: int, trial: Trial) -> Draw:
    """Train on a random half of the first rows of the file, up to 150, and test on the rest of the file."""
    stored = load(STORED.get(trial.dataset, trial.dataset))
    y = stored.signs.astype(np.float64)
    size = max(n_train, int(np.argmax(y != y[0])) + 10)  # a sorted file: a few rows of the second class
    order = trial.shared_rng("split").permutation(size)
    train = np.sort(order)[-n_train:]
    test = np.setdiff1d(np.arange(len(y)), train)
    return Draw(stored.X[train], y[train], stored.X[test], y[test])
