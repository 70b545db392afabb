r"""Primal linear support vector machine with a free intercept, the PSVM of equation (2) of guo2017.

::

    min_{w,b}  1/2 ||w||^2 + sum_i lambda_i max(0, 1 - y_i (<x_i, w> + b))^p,      p = 1, 2

is problem (1) of `quadratic` with the features of X for columns: `Hinge`, or `SquaredHinge`. The free
intercept absorbs a shift of the features, and the linear systems like them centered.

Stop: primal minus dual objective at most ``tol`` times max(1, objective), both at feasible points.

Paper symbol = code name: lambda = lam, p = p, w = w, b = b, x_i = X[i].
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernsemble.masters.base import Solution
from kernsemble.masters.quadratic import Hinge, SquaredHinge

_EXACT = 1e-14  # relative gap for p = 2, where Newton's last step is exact


def solve_psvm(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    p: int = 2,
    *,
    sample_weight: np.ndarray | None = None,
    tol: float = 1e-9,
    max_iter: int = 1000,
) -> Solution:
    """Solve one primal support vector machine exactly.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    lam : float
        Weight of the sum of losses; there is no 1/n.
    p : {1, 2}, default=2
        Power of the hinge loss.
    sample_weight : ndarray of shape (n,), default=None
        Positive factors of each sample's loss; None means ones.
    tol, max_iter
        Duality gap to stop at, relative to max(1, objective); most Newton steps.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.psvm import solve_psvm
    >>> solution = solve_psvm(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), lam=1.0, p=1)
    >>> round(float(solution.w[0]), 6), round(solution.objective, 6)
    (1.0, 0.5)
    """
    X, y, cost = check_margin_problem(X, y, lam, p, sample_weight)
    center = X.mean(axis=0)
    kind, options = (Hinge, {"least_norm": True, "tol": tol}) if p == 1 else (SquaredHinge, {"tol": _EXACT})
    options |= {"H": X - center, "max_iter": max_iter, "floor": 1.0}
    solution = kind(y, sample_weight=cost, intercept="free", **options).solve()
    converged = solution.gap <= tol * max(1.0, solution.objective)
    return replace(solution, b=solution.b - float(center @ solution.w), converged=converged)


def check_margin_problem(
    X: np.ndarray, y: np.ndarray, lam: float, p: int, sample_weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, y as float64 and the cost lambda_i of each sample."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != (X.shape[0],):
        raise ValueError(f"X must have shape (n, d) and y shape (n,), got {X.shape} and {y.shape}.")
    if not (np.all(np.abs(y) == 1.0) and y.min(initial=1.0) < y.max(initial=-1.0)):
        raise ValueError("y must hold the labels -1 and +1, both present.")
    if p not in (1, 2):
        raise ValueError(f"p must be 1 or 2, got {p!r}.")
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    cost = lam * weight
    if not (np.isfinite(cost).all() and np.all(cost > 0)):
        raise ValueError(f"lam and sample_weight must be positive and finite, got lam={lam!r}.")
    if not np.isfinite(X).all():
        raise ValueError("X holds NaN or infinity.")
    return X, y, cost
