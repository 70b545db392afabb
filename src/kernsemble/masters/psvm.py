r"""Primal linear support vector machine with a free intercept, the PSVM of equation (2) of guo2017.

Primal and dual for p = 1 and p = 2, with lambda_i the weight of sample i::

    min_{w,b}  1/2 ||w||^2 + sum_i lambda_i max(0, 1 - y_i (<x_i, w> + b))^p
    max_u      sum_i u_i - 1/2 ||sum_i u_i y_i x_i||^2  [- sum_i u_i^2 / (4 lambda_i) if p = 2]
               s.t.  sum_i y_i u_i = 0,  u_i >= 0,  [u_i <= lambda_i if p = 1]

p = 2 is solved by Newton's method with an exact line search, which ends after finitely many steps (Keerthi
and DeCoste 2005); p = 1 by the same on a smoothed loss of shrinking width, until the active set is known,
and then exactly. Both live in `masters.psvm_newton`. u is made feasible exactly, so the duality gap, which
is to be at most ``tol`` relative to the objective, is a certificate. With more features than samples the
problem is first rotated into the row space of X, which changes nothing.

Paper symbol = code name: lambda = lam, p = p, w = w, b = b, x_i = X[i].
"""

from __future__ import annotations

import numpy as np

from kernsemble.masters.base import Solution
from kernsemble.masters.psvm_newton import solve_hinge, solve_squared_hinge


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
    tol : float, default=1e-9
        Duality gap, relative to max(1, objective), at which to stop.
    max_iter : int, default=1000
        Most Newton steps.

    Returns
    -------
    Solution
        Weights ``w`` (d,), free intercept ``b``, dual weights ``u`` (n,), certified gap.

    References
    ----------
    Guo, Wang and Ling, Exclusivity Regularized Machine, equation (2).

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.psvm import solve_psvm
    >>> solution = solve_psvm(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), lam=1.0, p=1)
    >>> round(float(solution.w[0]), 6), round(solution.objective, 6)
    (1.0, 0.5)
    """
    X, y, cost = check_margin_problem(X, y, lam, p, sample_weight)
    basis = np.linalg.qr(X.T)[0] if X.shape[1] > X.shape[0] else None
    inner = X if basis is None else X @ basis
    center = inner.mean(axis=0)  # the free intercept absorbs a shift, the linear systems like it centered
    A = np.column_stack([inner - center, np.ones(y.size)]) * y[:, np.newaxis]
    v, u, n_iter = solve_hinge(A, cost, tol, max_iter) if p == 1 else solve_squared_hinge(A, cost, max_iter)
    u = _balance(y, u)
    w, b = v[:-1], v[-1] - center @ v[:-1]
    v = np.append(w if basis is None else basis @ w, b)
    objective, gap = _gap(X, y, cost, p, v, u)
    converged = gap <= tol * max(1.0, abs(objective))
    return Solution(
        w=v[:-1],
        b=float(v[-1]),
        u=u,
        objective=objective,
        gap=gap,
        n_iter=n_iter,
        converged=bool(converged),
        message=f"Relative gap {gap / max(1.0, abs(objective)):.3g} against tol={tol:.3g}.",
    )


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


def _gap(
    X: np.ndarray, y: np.ndarray, cost: np.ndarray, p: int, v: np.ndarray, u: np.ndarray
) -> tuple[float, float]:
    """Primal objective at v = (w, b), and its distance to the dual objective at u."""
    slack = np.maximum(0.0, 1.0 - y * (X @ v[:-1] + v[-1]))
    combined = X.T @ (y * u)
    objective = 0.5 * v[:-1] @ v[:-1] + cost @ slack**p
    dual = u.sum() - 0.5 * combined @ combined
    if p == 2:
        dual -= np.sum(u**2 / (4.0 * cost))
    return float(objective), float(objective - dual)


def _balance(y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Scale the dual weights of the heavier class down, so that y'u = 0."""
    positive = y > 0
    above, below = u[positive].sum(), u[~positive].sum()
    lighter = min(above, below)
    factors = np.where(positive, lighter / max(above, 1e-300), lighter / max(below, 1e-300))
    return u * factors
