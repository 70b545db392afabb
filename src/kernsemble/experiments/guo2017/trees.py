"""Boosted and bagged classification trees, as MATLAB's fitensemble makes them."""

from __future__ import annotations

from typing import Literal

from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from kernsemble.experiments.guo2017.draws import Draw

BoostedTree = Literal["stump", "10 splits", "full"]


def make_trees(
    method: str, n_trees: int, boosted_tree: BoostedTree, seed: int
) -> AdaBoostClassifier | BaggingClassifier:
    """Return AdaBoost.M1 over trees of the given size, or bagged trees grown to the end."""
    if method == "BagTree":
        return BaggingClassifier(DecisionTreeClassifier(), n_trees, random_state=seed)
    limits = {"stump": {"max_depth": 1}, "10 splits": {"max_leaf_nodes": 11}, "full": {}}
    return AdaBoostClassifier(
        DecisionTreeClassifier(**limits[boosted_tree]), n_estimators=n_trees, random_state=seed
    )


def tree_error(model: AdaBoostClassifier | BaggingClassifier, data: Draw) -> float:
    """Fit and return the test error in percent."""
    return data.error(model.fit(data.X, data.y).predict(data.X_test))
