"""Trials beyond the paper: all pairs of ingredients, stopping by the gap, trees of equal size, less data."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier

from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.trials.trial import Trial
from lin2012.curves import select_by_holdout
from lin2012.draws import Draw, draw, hold_out
from lin2012.fits import Fitted, Penalties, boost, generate, generate_stagewise
from lin2012.plan import paper
from lin2012.rest import against_rest

PAIRS = ("CW", "CW-1", "MultiBoost", "MultiBoost-1", "MO corrective", "Ada.MO", "MH corrective", "Ada.MH")
BEYOND_SETS = ("wine", "VOWEL", "segment", "PENDIGITS")
EXACT = {"solver": "newton", "tol": 1e-2}


@paper.trials("pairs", methods=PAIRS, datasets=BEYOND_SETS)
def pairs(trial: Trial, *, pair_points: list[int], penalties: Penalties) -> dict[str, object]:
    """One of eight boosters: pairwise or one-against-rest loss, shared or per class, stage-wise or not."""
    data = draw(trial)
    fitted = fit_pair(trial, data, pair_points, penalties)
    curve = fitted.errors(data.X_test, data.labels_test)
    stumps = len({tuple(key)[:2] for key in fitted.keys})
    return {"error": curve[-1], "curve": curve.round(3), "learners": stumps}


def fit_pair(trial: Trial, data: Draw, points: list[int], penalties: Penalties) -> Fitted:
    """Fit by the name of the method."""
    name = trial.method
    per_class = name in ("CW", "CW-1", "MO corrective")
    if name in ("CW", "MultiBoost"):
        return generate(data, points, C=penalties.pair_C, per_class=per_class, **EXACT)
    if name in ("CW-1", "MultiBoost-1"):
        return generate_stagewise(data, points, penalties.stagewise_C, per_class=per_class)
    if name.endswith("corrective"):
        return against_rest(data, points, penalties.pair_C, per_class=per_class)
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
        C = select_by_holdout(fit_exactly, inner, Cs, modern_rounds)
        start = process_time()
        fitted = fit_exactly(data, C, [modern_rounds])
        seconds = process_time() - start
        error, leaves = fitted.errors(data.X_test, data.labels_test)[-1], 2 * fitted.learners[-1]
    else:
        count, each = trees_a_class(trial.method, modern_rounds)
        rate = min(rates, key=lambda value: percent_wrong(make_trees(trial, modern_rounds, value), inner)[0])
        error, seconds = percent_wrong(make_trees(trial, modern_rounds, rate), data)
        leaves = count * each * data.n_classes
    return {"error": error, "leaves": leaves, "fit_seconds": seconds}


def fit_exactly(data: Draw, C: float, points: list[int]) -> Fitted:
    """Fit CW by Newton steps."""
    return generate(data, points, C=C, **EXACT)


def trees_a_class(method: str, rounds: int) -> tuple[int, int]:
    """Return how many trees of how many leaves have as many as stumps in so many rounds."""
    each = int(method.partition(", ")[2].split()[0])
    return max(1, round(2 * rounds / each)), each


def make_trees(trial: Trial, rounds: int, rate: float) -> ClassifierMixin:
    """Return gradient boosting with as many leaves in all as stumps have in so many rounds."""
    count, leaves = trees_a_class(trial.method, rounds)
    options = {"learning_rate": rate, "random_state": trial.seed()}
    if trial.method.startswith("LightGBM"):
        from lightgbm import LGBMClassifier  # an optional package

        options |= {"n_jobs": 1, "verbosity": -1, "deterministic": True}
        return LGBMClassifier(n_estimators=count, num_leaves=leaves, **options)
    return HistGradientBoostingClassifier(
        max_iter=count, max_leaf_nodes=leaves, early_stopping=False, **options
    )


def percent_wrong(trees: ClassifierMixin, data: Draw) -> tuple[float, float]:
    """Fit and return the test error in percent, and the seconds of the fit."""
    start = process_time()
    trees.fit(data.X, data.labels)
    seconds = process_time() - start
    return 100.0 * float(np.mean(trees.predict(data.X_test) != data.labels_test)), seconds


@paper.trials("learning", methods=("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH"), datasets=BEYOND_SETS)
def learning(
    trial: Trial, *, shares: list[float], learning_rounds: int, penalties: Penalties, coloring: str
) -> dict[str, object]:
    """Test error after learning from growing shares of the training part, the same share of each class."""
    data, errors, sizes = draw(trial), [], []
    for part in growing_parts(trial, data, shares):
        if trial.method == "Ada.ECC":
            fitted = boost(trial.method, part, [learning_rounds], coloring, trial.rng())
        else:
            fitted = fit_pair(trial, part, [learning_rounds], penalties)
        errors.append(fitted.errors(data.X_test, data.labels_test)[-1])
        sizes.append(len(part.labels))
    return {"error": np.array(errors).round(4), "sizes": np.array(sizes)}


def growing_parts(trial: Trial, data: Draw, shares: list[float]) -> Iterator[Draw]:
    """Yield shares of the training part, the same of each class, each part within the next."""
    order = np.argsort(trial.shared_rng("order").random(len(data.labels)), kind="stable")
    place = np.empty(len(order), dtype=np.intp)
    for k in range(data.n_classes):
        own = order[data.labels[order] == k]
        place[own] = np.arange(len(own))
    counts = np.bincount(data.labels)[data.labels]
    for share in shares:
        yield data.only(np.flatnonzero(place < np.ceil(share * counts)))
