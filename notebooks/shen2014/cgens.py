"""How CGENS is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.quadratic import Hinge
from shen2014.draws import Draw
from shen2014.ensembles import Family, Fit, Stages, boosting, generate


def machine(y: np.ndarray, C: float, tol: float, *, portable: bool = True) -> Hinge:
    """Return the master of CGENS; if portable, on the path that is the same on every computer."""
    return Hinge(y, C, intercept="free", tol=tol, least_norm=portable)


def machine_ensemble(family: Family, tol: float, *, portable: bool = True) -> Fit:
    """Return how CGENS is fitted: problem (1), with its intercept."""

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Stages:
        return generate(family(part.X), machine(part.y, C, tol, portable=portable), rounds, tol)

    return fit


def stump_ensemble(method: str, tol: float) -> Fit:
    """Return how AdaBoost or CGENS is fitted with all stumps; the intercept of CGENS is its constant."""
    if method == "AdaBoost":
        return boosting(StumpOracle)
    return machine_ensemble(partial(StumpOracle, constant=False), tol)
