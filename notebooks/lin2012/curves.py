"""Trials of figures 1 to 5: error and seconds against iterations.

What is compared by its time is fitted in one trial, one method after the other, on the same data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from kernsemble.trials.trial import Trial
from lin2012.draws import Draw, draw, hold_out
from lin2012.fits import Fitted, boost, generate, generate_stagewise
from lin2012.plan import paper
from lin2012.sets import (
    CIFAR_SETS,
    DIGIT_SETS,
    SCENE_SETS,
    SIGN_SETS,
    SMALL_SETS,
    UCI_SETS,
)

Row = dict[str, float | np.ndarray]
FAMILY = ("CW", "CW-1", "MultiBoost", "MultiBoost, L-BFGS-B")


@dataclass(frozen=True)
class Family:
    """What CW, CW-1 and MultiBoost take: where curves are kept, how C is found, how each is solved."""

    checkpoints: list[int]
    Cs: list[float]
    search: dict[str, int]
    fcd: dict[str, float]
    stagewise_C: float  # noqa: N815 - its name in params.yaml
    lbfgsb_limit: float


def class_wise(data: Draw, C: float, points: Sequence[int], fcd: dict[str, float], seed: int) -> Fitted:
    """Fit MultiBoost-cw by fast coordinate descent."""
    options = {"tau_max": int(fcd["tau_max"]), "eps": float(fcd["eps"]), "random_state": seed}
    return generate(data, points, C=C, solver="fcd", **options)


def shared(data: Draw, C: float, points: Sequence[int], **options: Any) -> Fitted:
    """Fit MultiBoost by Newton steps, or with ``limit`` by L-BFGS-B at scipy's defaults, as in the paper."""
    solver = {"solver": "lbfgsb", "max_iter": 15_000} if "limit" in options else {"tol": 1e-2}
    return generate(data, points, C=C, per_class=False, **solver, **options)


@cache
def warm_up(dtype: str) -> None:
    """Compile what the timed fits use, on 60 random samples."""
    random = np.random.default_rng(0)
    X = random.integers(0, 9, (60, 4)).astype(dtype)
    data = Draw(X, np.arange(60) % 3, X, np.arange(60) % 3)
    class_wise(data, 1e4, [3], {"tau_max": 2, "eps": 0.1}, 0)
    generate_stagewise(data, [3], 1e8)
    for options in ({}, {"limit": 10.0}):
        shared(data, 1e4, [3], **options)
    for solver in ("newton", "lbfgsb"):
        generate(data, [3], C=1e4, solver=solver)
    for method, option in (("Ada.ECC", "random"), ("Ada.MH", ""), ("Ada.MO", "one-against-all")):
        boost(method, data, [3], option, random)


def select_by_holdout(fit: Any, data: Draw, Cs: Sequence[float], rounds: int) -> float:
    """Return the C of the smallest held-out error after some rounds; the smallest of equals."""
    errors = [fit(data, C, [rounds]).errors(data.X_test, data.labels_test)[-1] for C in Cs]
    return Cs[int(np.argmin(errors))]


def as_row(fitted: Fitted, data: Draw, C: float | None = None) -> Row:
    """Return what is kept of a fit, rounded to what can be seen in a figure."""
    curve = fitted.errors(data.X_test, data.labels_test)
    row: Row = {
        "error": curve[-1],
        "curve": curve.round(3),
        "rounds": fitted.rounds,
        "seconds_curve": fitted.path("seconds").round(4),
    }
    if not np.isnan(fitted.oracle_seconds):
        row |= {
            "learners": fitted.learners,
            "active": fitted.active,
            "per_learner": fitted.classes_per_learner,
            "solver_curve": fitted.path("solver_seconds").round(4),
            "oracle_seconds": fitted.oracle_seconds,
        }
    return row if C is None else row | {"C": C}


def seconds_of(fitted: Fitted, C: float) -> Row:
    """Return what is kept of a fit whose end depends on the machine: how far it came, and when."""
    return {
        "C": C,
        "finished": fitted.rounds,
        "seconds_curve": fitted.path("seconds").round(4),
        "solver_curve": fitted.path("solver_seconds").round(4),
    }


def fit_family(trial: Trial, data: Draw, settings: Family) -> dict[str, Row]:
    """Select C for CW and for MultiBoost, and fit them and CW-1."""
    warm_up(str(data.X.dtype))
    inner, seed = hold_out(trial, data, settings.search["folds"]), trial.seed()
    Cs, rounds, points = settings.Cs, settings.search["rounds"], settings.checkpoints
    own_fit = partial(class_wise, fcd=settings.fcd, seed=seed)
    own = select_by_holdout(own_fit, inner, Cs, rounds)
    other = select_by_holdout(shared, inner, Cs, rounds)
    return {
        "CW": as_row(own_fit(data, own, points), data, own),
        "CW-1": as_row(generate_stagewise(data, points, settings.stagewise_C), data),
        "MultiBoost": as_row(shared(data, other, points), data, other),
        "MultiBoost, L-BFGS-B": seconds_of(shared(data, other, points, limit=settings.lbfgsb_limit), other),
    }


@paper.trials("figure1", methods=(*FAMILY, "Ada.MO"), datasets=UCI_SETS + SMALL_SETS[:1], together=True)
@paper.trials("figure2", methods=(*FAMILY, "Ada.MO"), datasets=DIGIT_SETS, together=True)
def family_and_mo(trial: Trial, *, settings: Family, code: str, mo_limit: float) -> dict[str, Row]:
    """CW, CW-1, MultiBoost and AdaBoost.MO side by side; AdaBoost.MO has a limit of seconds."""
    data = draw(trial)
    rows = fit_family(trial, data, settings)
    own = boost("Ada.MO", data, settings.checkpoints, code, trial.rng("code"), limit=mo_limit)
    return rows | {"Ada.MO": as_row(own, data)}


@paper.trials("figure3", methods=FAMILY, datasets=CIFAR_SETS, together=True)
@paper.trials("figure4", methods=FAMILY, datasets=SCENE_SETS, together=True)
@paper.trials("figure5", methods=FAMILY, datasets=SIGN_SETS, together=True)
def family_alone(trial: Trial, *, settings: Family) -> dict[str, Row]:
    """CW, CW-1 and MultiBoost side by side."""
    return fit_family(trial, draw(trial), settings)


@paper.trials("figure1", methods=("Ada.ECC", "Ada.MH"), datasets=UCI_SETS + SMALL_SETS[:1])
@paper.trials("figure2", methods=("Ada.ECC", "Ada.MH"), datasets=DIGIT_SETS)
@paper.trials("figure3", methods=("Ada.ECC", "Ada.MH"), datasets=CIFAR_SETS)
@paper.trials("figure4", methods=("Ada.ECC", "Ada.MH"), datasets=SCENE_SETS)
@paper.trials("figure5", methods=("Ada.ECC", "Ada.MH"), datasets=SIGN_SETS)
def boosted(trial: Trial, *, checkpoints: list[int], coloring: str) -> Row:
    """AdaBoost.ECC and AdaBoost.MH: nothing is selected."""
    data = draw(trial)
    warm_up(str(data.X.dtype))
    return as_row(boost(trial.method, data, checkpoints, coloring, trial.rng()), data)
