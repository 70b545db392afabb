"""How CGENS is fitted."""

from __future__ import annotations

from collections.abc import Sequence

from kernsemble.experiments.shen2014.draws import Draw
from kernsemble.experiments.shen2014.ensembles import Family, Fit, Stages, generate
from kernsemble.masters.hinge import Hinge


def machine_ensemble(family: Family, rounds: Sequence[int], tol: float) -> Fit:
    """Return how CGENS is fitted: problem (1), with its intercept."""

    def fit(part: Draw, C: float) -> Stages:
        return generate(family(part.X), Hinge(part.y, C, intercept="free", tol=tol), rounds, tol)

    return fit
