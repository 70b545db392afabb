"""An independent judge: every formulation of the paper over all columns at once, by a general cone solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def judge_value(H: np.ndarray, y: np.ndarray, problem: Mapping[str, Any]) -> float:
    """Return the optimal value of a formulation over the columns H, from CVXPY with Clarabel.

    ``problem`` holds loss ("hinge", "tube", "novelty"), C or nu, epsilon, norm, positive, intercept, with
    the estimators' defaults. The solver's own tolerance is 1e-8.
    """
    import cvxpy  # only these trials need it

    w, b = cvxpy.Variable(H.shape[1]), cvxpy.Variable()
    intercept = "none" if problem["loss"] == "novelty" else problem.get("intercept", "free")
    f = H @ w + (0.0 if intercept == "none" else b)
    if problem.get("norm", "l2") == "l1":
        penalty, offset = cvxpy.norm1(w), cvxpy.abs(b)
    else:
        penalty, offset = 0.5 * cvxpy.sum_squares(w), 0.5 * cvxpy.square(b)
    value = penalty + (offset if intercept == "penalized" else 0.0)
    value += _loss(cvxpy, f, y, problem)
    constraints = [w >= 0] if problem.get("positive") else []
    return float(cvxpy.Problem(cvxpy.Minimize(value), constraints).solve(solver=cvxpy.CLARABEL))


def _loss(cvxpy, f, y: np.ndarray, problem: Mapping[str, Any]):
    """Loss of scores f; the nu forms bring their margin or tube along."""
    n, nu, C = len(y), problem.get("nu"), problem.get("C", 1.0)
    if problem["loss"] == "novelty":
        margin = cvxpy.Variable()
        return -margin + cvxpy.sum(cvxpy.pos(margin - f)) / (nu * n)
    if problem["loss"] == "hinge":
        if nu is None:
            return C * cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, f)))
        margin = cvxpy.Variable()
        return -nu * margin + cvxpy.sum(cvxpy.pos(margin - cvxpy.multiply(y, f))) / n
    if nu is None:
        return C * cvxpy.sum(cvxpy.pos(cvxpy.abs(y - f) - problem["epsilon"]))
    tube = cvxpy.Variable(nonneg=True)
    return C * (nu * n * tube + cvxpy.sum(cvxpy.pos(cvxpy.abs(y - f) - tube)))
