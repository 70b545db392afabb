"""Trials beyond the paper: all pairs of ingredients, stopping by the gap, trees of equal size, less data."""

from __future__ import annotations

from time import process_time

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier

from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.experiments.lin2012.curves import select_by_holdout
from kernsemble.experiments.lin2012.draws import Draw, draw, hold_out
from kernsemble.experiments.lin2012.fits import Fitted, boost, generate, generate_stagewise
from kernsemble.experiments.lin2012.plan import paper
from kernsemble.experiments.lin2012.rest import against_rest
from kernsemble.experiments.trial import Trial

PAIRS = ("CW", "CW-1", "MultiBoost", "MultiBoost-1", "MO corrective", "Ada.MO", "MH corrective", "Ada.MH")
BEYOND_SETS = ("wine", "VOWEL", "segment", "PENDIGITS")
EXACT = {"solver": "newton", "tol": 1e-2}


@paper.trials("pairs", methods=PAIRS, datasets=BEYOND_SETS)
def pairs(trial: Trial, *, pair_points: list[int], pair_C: float, stagewise_C: float) -> dict[str, object]:
    """One of eight boosters: pairwise or one-against-rest loss, shared or per class, stage-wise or not."""
    data = draw(trial)
    fitted = fit_pair(trial, data, pair_points, pair_C, stagewise_C)
    curve = fitted.errors(data.X_test, data.labels_test)
    stumps = len({tuple(key)[:2] for key in fitted.keys})
    return {"error": curve[-1], "curve": curve.round(3), "learners": stumps}


def fit_pair(trial: Trial, data: Draw, points: list[int], C: float, stagewise_C: float) -> Fitted:
    """Fit by the name of the method."""
    name = trial.method
    per_class = name in ("CW", "CW-1", "MO corrective")
    if name in ("CW", "MultiBoost"):
        return generate(data, points, C=C, per_class=per_class, **EXACT)
    if name in ("CW-1", "MultiBoost-1"):
        return generate_stagewise(data, points, stagewise_C, per_class=per_class)
    if name.endswith("corrective"):
        return against_rest(data, points, C, per_class=per_class)
    return boost(name, data, points, "one-against-all", trial.rng())


@paper.trials("stopping", methods=("C = 100", "C = 1000", "C = 10000"), datasets=BEYOND_SETS)
def stopping(trial: Trial, *, stopping_rounds: int, gap_levels: list[float]) -> dict[str, object]:
    """Rounds and test errors where the relative gap over all stumps first is below each level."""
    data = draw(trial)
    C = float(trial.method.split()[-1])
    model = MultiBoost(C, stopping_rounds, tol=min(gap_levels)).fit(data.X, data.labels)
    errors = [100.0 * np.mean(p != data.labels_test) for p in model.staged_predict(data.X_test)]
    gaps = np.minimum.accumulate(model.gap_path_ / model.objective_path_)
    rounds = np.array([int(np.argmax(gaps <= level)) if gaps[-1] <= level else -1 for level in gap_levels])
    return {
        "error": errors[-1],
        "gap_rounds": np.where(rounds < 0, model.n_rounds_, rounds + 1),
        "gap_errors": np.array(errors)[rounds].round(4),
        "last_gap": gaps[-1],
    }


MODERN = (
    "CW", "LightGBM, 2 leaves", "LightGBM, 31 leaves", "HistGradientBoosting, 2 leaves",
    "HistGradientBoosting, 31 leaves",
)  # fmt: skip


@paper.trials("modern", methods=MODERN, datasets=BEYOND_SETS)
def modern(
    trial: Trial, *, modern_rounds: int, Cs: list[float], rates: list[float], search: dict[str, int]
) -> dict[str, float]:
    """Test error at an equal number of leaves; C, or the learning rate, chosen on a held-out part."""
    data = draw(trial)
    inner = hold_out(trial, data, search["folds"])
    if trial.method == "CW":
        C = select_by_holdout(
            lambda part, C, points: generate(part, points, C=C, **EXACT), inner, Cs, modern_rounds
        )
        start = process_time()
        fitted = generate(data, [modern_rounds], C=C, **EXACT)
        seconds = process_time() - start
        errors, leaves = fitted.errors(data.X_test, data.labels_test), 2 * fitted.learners[-1]
        return {"error": errors[-1], "leaves": leaves, "fit_seconds": seconds}
    rate = min(rates, key=lambda value: _wrong(make_trees(trial, modern_rounds, value), inner))
    trees = make_trees(trial, modern_rounds, rate)
    start = process_time()
    error = _wrong(trees, data)
    each = int(trial.method.split()[1])
    leaves = each * max(1, round(2 * modern_rounds / each)) * data.n_classes
    return {"error": error, "leaves": leaves, "fit_seconds": process_time() - start}


def make_trees(trial: Trial, rounds: int, rate: float) -> ClassifierMixin:
    """Return gradient boosting with as many leaves in all as stumps have in so many rounds."""
    name, _, leaves = trial.method.partition(", ")
    leaves = int(leaves.split()[0])
    count, seed = max(1, round(2 * rounds / leaves)), trial.seed()
    if name == "LightGBM":
        from lightgbm import LGBMClassifier  # an optional package

        options = {"n_jobs": 1, "verbosity": -1, "deterministic": True, "random_state": seed}
        return LGBMClassifier(n_estimators=count, num_leaves=leaves, learning_rate=rate, **options)
    options = {"early_stopping": False, "random_state": seed}
    return HistGradientBoostingClassifier(
        max_iter=count, max_leaf_nodes=leaves, learning_rate=rate, **options
    )


def _wrong(trees: ClassifierMixin, data: Draw) -> float:
    """Fit and return the test error in percent."""
    predicted = trees.fit(data.X, data.labels).predict(data.X_test)
    return 100.0 * float(np.mean(predicted != data.labels_test))


@paper.trials("learning", methods=("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH"), datasets=BEYOND_SETS)
def learning(
    trial: Trial,
    *,
    shares: list[float],
    learning_rounds: int,
    pair_C: float,
    stagewise_C: float,
    coloring: str,
) -> dict[str, object]:
    """Test error after learning from growing shares of the training part, the same number of each class."""
    data = draw(trial)
    order = np.argsort(trial.shared_rng("order").random(len(data.labels)), kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    for k in range(data.n_classes):
        own = order[data.labels[order] == k]
        place[own] = np.arange(len(own))
    counts = np.bincount(data.labels)[data.labels]
    errors, sizes = [], []
    for share in shares:
        part = data.only(np.flatnonzero(place < np.ceil(share * counts)))
        sizes.append(len(part.labels))
        if trial.method == "Ada.ECC":
            fitted = boost(trial.method, part, [learning_rounds], coloring, trial.rng())
        else:
            fitted = fit_pair(trial, part, [learning_rounds], pair_C, stagewise_C)
        errors.append(fitted.errors(data.X_test, data.labels_test)[-1])
    return {"error": np.array(errors).round(4), "sizes": np.array(sizes)}
