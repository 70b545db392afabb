"""How large a fitted model is: the bytes of what prediction needs, and a count of its parts.

Bytes are those of the pickled estimator without the record of its training (paths of weights, objectives and
gaps). The count is of what a method adds up: support vectors, hypotheses or kernel columns with a weight,
linear machines, leaves of trees.
"""

from __future__ import annotations

import pickle
from copy import copy
from typing import Any

import numpy as np


def stored_bytes(model: Any) -> int:
    """Return the size of the pickled model without the record of its training."""
    return len(pickle.dumps(without_record(model), protocol=5))


def without_record(model: Any) -> Any:
    """Return a copy that predicts the same, without paths and rounds."""
    kept = copy(model)
    state = kept.__getstate__()
    for name in [name for name in state if name.endswith("_path_") or name == "rounds_"]:
        kept.__delattr__(name)
    return kept


def count_support_vectors(model: Any) -> int:
    """Support vectors of a kernel machine, those of all its classes together counted once."""
    return len(model.support_)


def count_weighted(model: Any) -> int:
    """Hypotheses with a weight for some class."""
    weights = np.asarray(model.coef_)
    return int(np.count_nonzero(weights if weights.ndim == 1 else weights.any(axis=1)))


def count_linear_machines(model: Any) -> int:
    """Linear machines: components times classes."""
    return int(np.prod(model.component_intercepts_.shape))


def count_dual_rows(model: Any) -> int:
    """Training rows that any machine of a diversity regularized ensemble needs."""
    return int(np.count_nonzero(model.dual_coef_.any(axis=(0, 2))))


def count_forest_leaves(model: Any) -> int:
    """Leaves of a random forest."""
    return int(sum(tree.get_n_leaves() for tree in model.estimators_))


def count_histogram_leaves(model: Any) -> int:
    """Leaves of scikit-learn's histogram gradient boosting, which has no public access to its trees."""
    return int(sum(tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees))


def count_lightgbm_leaves(model: Any) -> int:
    """Leaves of LightGBM's trees."""
    return int(sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]))


def count_xgboost_leaves(model: Any) -> int:
    """Leaves of XGBoost's trees."""
    return int(sum(text.count("leaf=") for text in model.get_booster().get_dump()))
