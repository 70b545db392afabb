r"""A two-block alternating direction method for problem (5) of guo2017, which provably converges.

The split is that of (6), ``P = W`` and ``E = Y - (X P + 1 b')``, but the variables fall into TWO blocks,
each minimized jointly and exactly: first (P, b), a least-squares problem with one matrix for ever, then (W,
E), which separates into the proximal maps of regularizer and loss, both in closed form. The penalty mu is
fixed. So the classical theorem applies: from any start the objective converges to the minimum and the
residuals to 0, for every mu > 0 (Gabay and Mercier 1976; Boyd et al. 2011, section 3.2). mu = lambda puts
the scaled multipliers of the loss between 0 and 1, the scale of the margins, and was fastest among powers
of ten.

The components reported are the feasible pair (P, b). It stops when their objective (5) is within ``tol``,
relatively, of the certified optimum that `masters.exclusivity.exact_value` gives.

Paper symbol = code name: W, P, E, b, Q, Z, mu as in the paper; multipliers are scaled, Q / mu = q and Z /
mu = z.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernsemble.masters.exclusivity import (
    ExclusivitySolution,
    exact_value,
    exclusivity_norm,
    exclusivity_objective,
    exclusivity_prox,
    hinge_prox,
    ridge_matrix,
)
from kernsemble.masters.psvm import check_margin_problem

RELAXATION = 1.6  # over-relaxation: any value in (0, 2) keeps the proof


def solve_admm(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    n_components: int,
    p: int = 2,
    *,
    sample_weight: np.ndarray | None = None,
    mu: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 20_000,
    rng: np.random.Generator | None = None,
) -> ExclusivitySolution:
    """Solve problem (5) by the two-block alternating direction method.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    lam : float
        Weight of the sum of losses of each component.
    n_components : int
        Number of components C.
    p : {1, 2}, default=2
        Power of the hinge loss.
    sample_weight : ndarray of shape (n,), default=None
        Positive factors of each sample's loss; None means ones.
    mu : float, default=None
        Penalty; None is ``lam``.
    tol : float, default=1e-6
        Gap, relative to the optimum, at which to stop.
    max_iter : int, default=20_000
        Most rounds.
    rng : Generator, default=None
        Source of a random start; None starts at 0.

    Returns
    -------
    ExclusivitySolution
        Components and the gap from the certified optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity_admm import solve_admm
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> solve_admm(X, y, 1.0, n_components=3).w.round(2)
    array([[0.57, 0.57, 0.57]])
    """
    X, y, cost = check_margin_problem(X, y, lam, p, sample_weight)
    optimum = exact_value(X, y, lam, n_components, p, sample_weight)
    state = _Splitting(X, y, cost, p, n_components, lam if mu is None else mu, rng)
    objectives, splits = [], []
    while len(splits) < max_iter:
        state.advance()
        objectives.append(exclusivity_objective(state.P, state.b, X, y, cost, p))
        splits.append(state.split_objective())
        if objectives[-1] - optimum <= tol * max(1.0, optimum):
            break
    gap = objectives[-1] - optimum
    return ExclusivitySolution(
        w=state.P,
        b=state.b,
        u=np.abs(state.mu * state.z),
        objective=objectives[-1],
        gap=gap,
        n_iter=len(splits),
        converged=bool(gap <= tol * max(1.0, optimum)),
        message=f"Relative gap {gap / max(1.0, optimum):.3g} against tol={tol:g}.",
        objective_path=np.array(objectives),
        split_path=np.array(splits),
    )


class _Splitting:
    """Iterates of the method, with scaled multipliers q of ``P = W`` and z of ``E = Y - X P - 1 b'``."""

    def __init__(self, X, y, cost, p, C, mu, rng):
        n, d = X.shape
        self.X, self.Y, self.y, self.cost, self.p, self.mu = X, y[:, np.newaxis], y, cost, p, mu
        self.W = np.zeros((d, C)) if rng is None else rng.standard_normal((d, C))
        self.E = np.tile(self.Y, C)
        self.q, self.z = np.zeros((d, C)), np.zeros((n, C))
        self.mean = X.mean(axis=0)
        centered = X - self.mean
        self.factor = cho_factor(ridge_matrix(centered))

    def advance(self) -> None:
        """One round: (P, b), then (W, E), then the multipliers."""
        target = self.Y - self.E - self.z  # X P + 1 b' is to meet it, P to meet W - q
        mean = target.mean(axis=0)
        right = self.W - self.q + self.X.T @ target - np.outer(self.mean, target.sum(axis=0))
        self.P = cho_solve(self.factor, right)
        self.b = mean - self.mean @ self.P
        relaxed_P = RELAXATION * self.P + (1.0 - RELAXATION) * self.W
        relaxed_E = RELAXATION * (self.Y - self.X @ self.P - self.b) + (1.0 - RELAXATION) * self.E
        self.W = exclusivity_prox(relaxed_P + self.q, 1.0 / self.mu)
        self.E = hinge_prox(relaxed_E - self.z, self.y, self.cost, self.mu, self.p)
        self.q += relaxed_P - self.W
        self.z += self.E - relaxed_E

    def split_objective(self) -> float:
        """Objective (6) of W and E."""
        slack = np.maximum(0.0, self.Y * self.E)
        return exclusivity_norm(self.W) + float(self.cost @ (slack**self.p).sum(axis=1))
