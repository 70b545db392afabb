"""Trials of lin2012 on its parameter C, and on curves that are drawn from the last weights.

All fits are those of the estimator ``MultiBoost``: CW by coordinate descent with the paper's tolerance,
MultiBoost by Newton steps. C is judged by the error on the quarter of the training part that figures 1 to 5
hold out, too, but after as many rounds as the method will have: in figures 1 to 5 it is after 100 of 500.
On the larger sets the fits are those of figures 1 to 5, MultiBoost solved to a gap of 1 % in each round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.trials.bench import Draw, percent_wrong
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from lin2012.trials import PAPER_SETS, Fitted, TreeOracle, class_wise, draw, hold_out, paper, shared

COSTS = (100, 1000, 10000, 100000)  # the paper's range
COSTED = tuple(f"{name}, C = {C}" for name in ("CW", "MultiBoost") for C in COSTS)

paper.exhibit(
    "costs",
    "Errors for each C and number of rounds, held out and on the test part",
    metrics=("error", "curve", "held", "truncated", "active", "learners", "rounds"),
)
paper.exhibit(
    "map",
    "Errors for each C and number of rounds on the larger sets",
    metrics=("error", "curve", "held", "truncated", "active", "learners", "rounds"),
)
paper.exhibit(
    "trees_selected",
    "Trees of depth 2, with C selected after all rounds",
    metrics=("error", "curve", "C", "held", "rounds"),
)


@paper.trials("costs", methods=COSTED, datasets=("VOWEL", "segment", "PENDIGITS", "wine"))
def costs(
    trial: Trial, *, checkpoints: list[int], fcd: dict[str, float], search: dict[str, int]
) -> dict[str, object]:
    """Fit at one C on the training part, and on three quarters of it to see the error on the fourth.

    curve, held: errors after some rounds, of the test part and of the held-out one. truncated: test errors
    of the hypotheses found by then, with the weights that they have at the end.
    """
    name, _, C = trial.method.partition(", C = ")
    options = {"per_class": name == "CW", "tol": None, "random_state": trial.seed()}
    if name == "CW":
        options |= {"solver": "fcd", "eps": float(fcd["eps"]), "tau_max": int(fcd["tau_max"])}
    data = draw(trial)
    inner = hold_out(trial, data, search["folds"])
    fitted, tried = (
        MultiBoost(C=float(C), n_rounds=checkpoints[-1], **options).fit(part.X, part.y)
        for part in (data, inner)
    )
    curve, weights = curve_of(fitted, data, checkpoints), at(fitted.weights_path_, checkpoints)
    return {
        "error": curve[-1],
        "curve": curve.round(3),
        "held": curve_of(tried, inner, checkpoints).round(3),
        "truncated": truncated(fitted, data, checkpoints).round(3),
        "active": np.array([np.count_nonzero(w) for w, _ in weights]),
        "learners": np.array([len(w) for w, _ in weights]),
        "rounds": fitted.n_rounds_,
    }


@paper.trials("map", methods=COSTED, datasets=PAPER_SETS[1:])
def on_large_sets(
    trial: Trial, *, checkpoints: list[int], fcd: dict[str, float], search: dict[str, int]
) -> dict[str, object]:
    """Do what ``costs`` does, by the fits of figures 1 to 5."""
    name, _, C = trial.method.partition(", C = ")
    fit = partial(class_wise, fcd=fcd, seed=trial.seed()) if name == "CW" else shared
    data = draw(trial)
    inner = hold_out(trial, data, search["folds"])
    fitted, tried = (fit(part, float(C), checkpoints) for part in (data, inner))
    curve = fitted.errors(data.X_test, data.y_test)
    return {
        "error": curve[-1],
        "curve": curve.round(3),
        "held": tried.errors(inner.X_test, inner.y_test).round(3),
        "truncated": with_last_weights(fitted).errors(data.X_test, data.y_test).round(3),
        "active": fitted.active,
        "learners": fitted.learners,
        "rounds": fitted.rounds,
    }


def with_last_weights(fitted: Fitted) -> Fitted:
    """Return a fit in which the hypotheses of each checkpoint have the weights of the last one."""
    last = fitted.snapshots[-1].w
    return replace(fitted, snapshots=[entry._replace(w=last[: len(entry.w)]) for entry in fitted.snapshots])


def at(path: Sequence, points: Sequence[int]) -> list:
    """Return what a path holds after some rounds; a fit that ended early keeps its last."""
    return [path[min(point, len(path)) - 1] for point in points]


def curve_of(model: MultiBoost, data: Draw, points: Sequence[int]) -> np.ndarray:
    """Return the test error in percent after some rounds."""
    errors = [percent_wrong(predicted, data.y_test) for predicted in model.staged_predict(data.X_test)]
    return np.array(at(errors, points))


def truncated(model: MultiBoost, data: Draw, points: Sequence[int]) -> np.ndarray:
    """Return the test errors of the hypotheses found after some rounds, with the weights of the last."""
    H = model.hypotheses_.outputs(data.X_test).astype(np.float64)
    sizes = [len(w) for w, _ in at(model.weights_path_, points)]
    scores = (H[:, :size] @ model.weights_[:size] for size in sizes)
    return np.array([percent_wrong(model.classes_[found.argmax(axis=1)], data.y_test) for found in scores])


@paper.trials("trees_selected", methods=("CW", "MultiBoost"), datasets=("VOWEL", "segment", "PENDIGITS"))
def selected_trees(
    trial: Trial, *, tree_points: list[int], tree_depth: int, Cs: list[float], search: dict[str, int]
) -> dict[str, object]:
    """CW or MultiBoost over small trees; C of the smallest held-out error, the smallest of equals."""
    data = draw(trial)
    inner = hold_out(trial, data, search["folds"])
    own = trial.method == "CW"
    held = [curve_of(fit_trees(inner, C, tree_points, tree_depth, own), inner, tree_points)[-1] for C in Cs]
    C = Cs[int(np.argmin(held))]
    fitted = fit_trees(data, C, tree_points, tree_depth, own)
    curve = curve_of(fitted, data, tree_points)
    return {
        "error": curve[-1],
        "curve": curve.round(3),
        "C": C,
        "held": np.array(held).round(3),
        "rounds": fitted.n_rounds_,
    }


def fit_trees(data: Draw, C: float, points: Sequence[int], depth: int, per_class: bool) -> MultiBoost:
    """Fit MultiBoost over trees, solved to the end in each round."""
    options = {"base": grown_trees, "base_options": {"depth": depth}, "per_class": per_class, "tol": None}
    return MultiBoost(C=C, n_rounds=points[-1], **options).fit(data.X, data.y)


def grown_trees(X: np.ndarray, *, depth: int, random_state: object) -> TreeOracle:
    """Return the oracle over trees; they are grown alike in any state."""
    return TreeOracle(X, depth)


# What was chosen


def chosen_places(study: Study, label: str, name: str, last: int = -1, exhibit: str = "costs") -> np.ndarray:
    """Return for each run which C has the smallest held-out error after the last round, or another place."""
    held = np.array([study.evidence(exhibit).runs("held", label, f"{name}, C = {C}") for C in COSTS])
    return held[:, :, last].argmin(axis=0)


def chosen_curves(
    study: Study, label: str, name: str, metric: str, last: int = -1, exhibit: str = "costs"
) -> np.ndarray:
    """Return a metric of each run, (runs, points), at the C that was chosen there."""
    values = np.array([study.evidence(exhibit).runs(metric, label, f"{name}, C = {C}") for C in COSTS])
    places = chosen_places(study, label, name, last, exhibit)
    return values[places, np.arange(len(places))]
