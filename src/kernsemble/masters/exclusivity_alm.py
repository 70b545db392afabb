r"""The augmented Lagrangian algorithm printed for problem (5): Algorithms 1 and 2, (7) to (18) of guo2017.

The problem is split as in (6), ``P = W`` and ``E = Y - (X P + 1 b')``, every column of Y being y, with
multipliers Q and Z. One round minimizes the augmented Lagrangian (7) over W, b, E and P in turn, then moves
the multipliers::

    (10), (11)  W row by row, reweighted: W_j <- (mu P_j + Q_j) / (G_j + mu),  G_j = ||W_j||_1 / (|W_j| + eps)
    (12)        b <- mean over samples of Y - E - X P - Z / mu
    (14), (15)  E <- prox of the loss at S = Y - X P - 1 b' - Z / mu
    (17)        P <- (I + X'X)^-1 (W - Q / mu + X' (M - E)),  M = Y - 1 b' - Z / mu
    (18)        Z <- Z + mu (E - Y + X P + 1 b'),  Q <- Q + mu (P - W),  mu <- rho mu

All of these are the exact minimizers for every mu. It stops when objective (6) changes by less than ``tol``
(0.05 in the paper) or after ``max_iter`` rounds.

**What the limit is.** A round moves W and E by the order of 1 / mu. With rho > 1 these moves have a finite
sum: the iterates become feasible and freeze, in general short of the optimum, against Theorem 2. With rho = 1
they do not. The gap stated here is measured from the certified optimum. The printed start is
symmetric in the components, and so is every step: they stay identical for ever. With eps = 0 an entry of W
that becomes 0 stays 0, and a row of zeros gives 0 / 0.

Named choices, where the paper is silent: E starts at Y, where the constraints of (6) hold; Algorithm 1
stops when no entry of W moves by more than 1e-8 times the largest, or after 100 rounds; eps = 1e-8; with a
random start W, P and Q are standard normal, Z and b remain 0.

Paper symbol = code name: mu = mu, rho = rho, epsilon = epsilon, lambda = lam, X' = X (samples are rows here),
K = inverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


@dataclass
class SplitState:
    """The variables of (6) and their multipliers."""

    W: np.ndarray
    b: np.ndarray
    E: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    Z: np.ndarray
    mu: float


def printed_start(
    y: np.ndarray, d: int, C: int, mu: float = 1.0, rng: np.random.Generator | None = None
) -> SplitState:
    """Start of Algorithm 2, the same in all components; with ``rng`` W, P and Q are random instead."""
    n = y.size
    W, P, Q = np.ones((d, C)), np.zeros((d, C)), np.ones((d, C))
    if rng is not None:
        W, P, Q = rng.standard_normal((3, d, C))
    return SplitState(W, np.zeros(C), np.tile(y[:, np.newaxis], C), P, Q, np.zeros((n, C)), mu)


def solve_printed_alm(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    n_components: int,
    p: int = 2,
    *,
    sample_weight: np.ndarray | None = None,
    rho: float = 1.1,
    mu: float = 1.0,
    epsilon: float = 1e-8,
    exact_prox: bool = False,
    tol: float = 0.05,
    max_iter: int = 1000,
    rng: np.random.Generator | None = None,
) -> ExclusivitySolution:
    """Run Algorithm 2 as printed.

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
    rho : float, default=1.1
        Growth of the penalty a round; 1 keeps it fixed.
    mu : float, default=1.0
        First penalty.
    epsilon : float, default=1e-8
        Keeps the denominators of (10) from 0.
    exact_prox : bool, default=False
        Replace Algorithm 1 by the closed form.
    tol : float, default=0.05
        Change of objective (6) at which to stop.
    max_iter : int, default=1000
        Most rounds.
    rng : Generator, default=None
        Source of a random start; None is the printed start.

    Returns
    -------
    ExclusivitySolution
        Components W and b, ``u = |Z|`` at the end, and the gap from the certified optimum.

    References
    ----------
    Guo, Wang and Ling, Exclusivity Regularized Machine, Algorithms 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity_alm import solve_printed_alm
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> solve_printed_alm(X, y, 1.0, n_components=3).converged
    True
    """
    X, y, cost = check_margin_problem(X, y, lam, p, sample_weight)
    state = printed_start(y, X.shape[1], n_components, mu, rng)
    inverse = np.linalg.inv(ridge_matrix(X))
    objectives, splits = [], []
    converged = False
    while not converged and len(splits) < max_iter:
        advance(state, X, y, cost, p, inverse, rho, epsilon, exact_prox)
        objectives.append(exclusivity_objective(state.W, state.b, X, y, cost, p))
        splits.append(split_objective(state, y, cost, p))
        converged = len(splits) > 1 and abs(splits[-1] - splits[-2]) < tol
    optimum = exact_value(X, y, lam, n_components, p, sample_weight)
    return ExclusivitySolution(
        w=state.W,
        b=state.b,
        u=np.abs(state.Z),
        objective=objectives[-1],
        gap=objectives[-1] - optimum,
        n_iter=len(splits),
        converged=converged,
        message=f"Objective changes by {tol:g} or less; the gap is measured from the certified optimum.",
        objective_path=np.array(objectives),
        split_path=np.array(splits),
    )


def advance(
    state: SplitState,
    X: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    p: int,
    inverse: np.ndarray,
    rho: float,
    epsilon: float,
    exact_prox: bool,
) -> None:
    """One round of Algorithm 2, in place."""
    mu, Y = state.mu, y[:, np.newaxis]
    if exact_prox:
        state.W = exclusivity_prox(state.P + state.Q / mu, 1.0 / mu)
    else:
        state.W = reweight(state.W, mu * state.P + state.Q, mu, epsilon)
    offset = Y - X @ state.P - state.Z / mu
    state.b = (offset - state.E).mean(axis=0)
    state.E = hinge_prox(offset - state.b, y, cost, mu, p)
    target = Y - state.b - state.Z / mu - state.E
    state.P = inverse @ (state.W - state.Q / mu + X.T @ target)
    state.Z = state.Z + mu * (state.E - Y + X @ state.P + state.b)
    state.Q = state.Q + mu * (state.P - state.W)
    state.mu = rho * mu


def reweight(
    W: np.ndarray, pull: np.ndarray, mu: float, epsilon: float, tol: float = 1e-8, max_rounds: int = 100
) -> np.ndarray:
    """Algorithm 1: alternate (10) and (11) from W; ``pull`` is mu P + Q."""
    for _ in range(max_rounds):
        magnitudes = np.abs(W)
        G = magnitudes.sum(axis=1, keepdims=True) / (magnitudes + epsilon)
        previous, W = W, pull / (G + mu)
        if np.max(np.abs(W - previous)) <= tol * np.max(np.abs(W)):
            break
    return W


def split_objective(state: SplitState, y: np.ndarray, cost: np.ndarray, p: int) -> float:
    """Objective (6) of W and E."""
    slack = np.maximum(0.0, y[:, np.newaxis] * state.E)
    return exclusivity_norm(state.W) + float(cost @ (slack**p).sum(axis=1))
