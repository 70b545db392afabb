"""How LPBoost is fitted."""

from __future__ import annotations

from collections.abc import Sequence

from kernsemble.masters.lp import HingeLP
from shen2014.draws import Draw
from shen2014.ensembles import Family, Fit, Stages, generate


def linear_programming(family: Family, tol: float) -> Fit:
    """Return how LPBoost is fitted: problem (4), as the paper prints it without an intercept."""

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Stages:
        return generate(family(part.X), HingeLP(part.y, C, least_norm=True), rounds, tol)

    return fit
