r"""Several linear machines under the exclusivity norm: problem (5) of guo2017, its exact solution, and two
iterative methods.

With W = [w_1 .. w_C] (features x components), b of length C, labels y and p = 1 or 2::

    min_{W,b}  1/2 sum_j (sum_c |W_jc|)^2 + sum_c sum_i lambda_i max(0, 1 - y_i (<x_i, w_c> + b_c))^p    (5)
    max_U      sum_ic U_ic - 1/2 sum_j max_c (sum_i U_ic y_i X_ij)^2  [- sum_ic U_ic^2 / (4 lambda_i), p = 2]
               s.t.  sum_i y_i U_ic = 0 for each c,  U >= 0,  [U_ic <= lambda_i, p = 1]

**The optimum is one machine.** Let PSVM(mu) stand for equation (2) with mu instead of lambda.

1. (5) is convex, and permuting the components changes nothing. So the mean over all permutations of an
   optimal (W, b), which repeats its mean component (w, b) C times, is optimal too.
2. At C equal components the objective is ``1/2 sum_j (C |w_j|)^2 + C lambda loss(w, b)``, which is
   ``C^2 (1/2 ||w||^2 + (lambda / C) loss(w, b))``. Hence ``min (5) = C^2 min PSVM(lambda / C)``.
3. By 1 the mean component of EVERY optimal solution minimizes PSVM(lambda / C), whose w is unique. The
   ensemble of (5), the mean of its components, is exactly the single machine with lambda / C. (For p = 1
   optimal components may differ; their mean may not. b is as unique as the machine's own.)

So `solve_exclusivity` solves one small machine, repeats it, and multiplies its certified gap by C^2; its dual
weights ``U = C u`` are feasible for the dual above. The other two state their gaps from this optimum.

**As printed** (`solve_printed_alm`: Algorithms 1 and 2). The problem is split as in (6), ``P = W`` and ``E =
Y - (X P + 1 b')``, every column of Y being y, with multipliers Q and Z. One round minimizes the augmented
Lagrangian (7) over W, b, E and P in turn, each exactly, then moves the multipliers::

    (10), (11)  W row by row, reweighted: W_j <- (mu P_j + Q_j) / (G_j + mu),  G_j = ||W_j||_1 / (|W_j| + eps)
    (12)        b <- mean over samples of Y - E - X P - Z / mu
    (14), (15)  E <- prox of the loss at S = Y - X P - 1 b' - Z / mu
    (17)        P <- (I + X'X)^-1 (W - Q / mu + X' (M - E)),  M = Y - 1 b' - Z / mu
    (18)        Z <- Z + mu (E - Y + X P + 1 b'),  Q <- Q + mu (P - W),  mu <- rho mu

Stop: objective (6) changes by less than ``tol`` (0.05 in the paper). With rho > 1 the iterates freeze, in
general short of the optimum, against Theorem 2: a round moves W and E by the order of 1 / mu. The printed
start, and every step, is the same in all components. Named choices, where the paper is silent: E starts at Y;
Algorithm 1 stops when no entry of W moves by more than 1e-8 times the largest, or after 100 rounds; eps =
1e-8; with a random start W, P and Q are standard normal, Z and b remain 0.

**Two blocks** (`solve_admm`). The same split, but first (P, b) jointly, a least-squares problem, then (W, E),
two proximal maps in closed form; mu is fixed. The objective converges to the minimum from any start, for
every mu > 0 (Gabay and Mercier 1976; Boyd et al. 2011, section 3.2). What is reported is the feasible pair
(P, b). Stop: objective (5) within ``tol``, relatively, of the certified optimum.

Paper symbol = code name: lambda = lam, C = n_components, N = n, M = d, X' = X (samples are rows here), mu =
mu, rho = rho, epsilon = epsilon, K = inverse, Q / mu = q and Z / mu = z (two blocks), ||W'||_{1,2}^2 / 2 =
exclusivity_norm, X_r = relaxed_exclusivity.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernsemble.masters.base import Solution
from kernsemble.masters.psvm import check_margin_problem, solve_psvm

EXACT_TOL = 1e-10  # relative gap of the optimum that other solvers are measured from
RELAXATION = 1.6  # over-relaxation of two blocks: any value in (0, 2) keeps the proof


@dataclass(frozen=True)
class ExclusivitySolution(Solution):
    """A solution of (5) with its history; ``w`` has shape (d, C), ``b`` (C,), ``u`` (n, C).

    Attributes
    ----------
    objective_path : ndarray of shape (n_iter,)
        Objective (5) of the components, after each iteration.
    split_path : ndarray of shape (n_iter,)
        Objective (6) of the split variables W and E, which the printed algorithm watches.
    """

    objective_path: np.ndarray = field(default_factory=lambda: np.empty(0))
    split_path: np.ndarray = field(default_factory=lambda: np.empty(0))


def solve_exclusivity(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    n_components: int,
    p: int = 2,
    *,
    sample_weight: np.ndarray | None = None,
    tol: float = 1e-9,
    max_iter: int = 1000,
) -> ExclusivitySolution:
    """Solve problem (5) exactly: one machine with ``lam / n_components``, repeated.

    Parameters
    ----------
    X, y, lam, p, sample_weight, tol, max_iter
        As in `psvm.solve_psvm`.
    n_components : int
        Number of components C.

    Returns
    -------
    ExclusivitySolution
        Equal components, with a certified gap.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import solve_exclusivity
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> solve_exclusivity(X, y, 1.0, n_components=3).w.round(4)
    array([[0.5714, 0.5714, 0.5714]])
    """
    C = n_components
    machine = solve_psvm(X, y, lam / C, p, sample_weight=sample_weight, tol=tol, max_iter=max_iter)
    objective = C**2 * machine.objective
    return ExclusivitySolution(
        w=np.tile(machine.w[:, np.newaxis], C),
        b=np.full(C, machine.b),
        u=np.tile(C * machine.u[:, np.newaxis], C),
        objective=objective,
        gap=C**2 * machine.gap,
        n_iter=machine.n_iter,
        converged=machine.converged,
        message=machine.message,
        objective_path=np.array([objective]),
        split_path=np.array([objective]),
    )


def exact_value(
    X: np.ndarray, y: np.ndarray, lam: float, C: int, p: int, sample_weight: np.ndarray | None = None
) -> float:
    """Certified lower bound of problem (5), within 1e-10 of its minimum: the dual of the exact solution."""
    machine = solve_psvm(X, y, lam / C, p, sample_weight=sample_weight, tol=EXACT_TOL)
    return C**2 * machine.dual_objective


def exclusivity_norm(W: np.ndarray) -> float:
    """Regularizer (4) of components W (d, C): ``1/2 sum_j (sum_c |W_jc|)^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import exclusivity_norm
    >>> exclusivity_norm(np.array([[1.0, -1.0], [0.0, 2.0]]))
    4.0
    """
    return float(0.5 * np.sum(np.abs(W).sum(axis=1) ** 2))


def relaxed_exclusivity(W: np.ndarray) -> float:
    """Mean of ``sum_j |U_jc| |U_jd|`` over pairs of the normalized columns U of W (d, C) (Definition 2).

    0 means that no two components share a feature, 1 that all are equal up to signs; nan with one component.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import relaxed_exclusivity
    >>> relaxed_exclusivity(np.eye(2))
    0.0
    """
    C = W.shape[1]
    if C < 2:
        return float("nan")
    lengths = np.linalg.norm(W, axis=0)
    unit = np.abs(W) / np.where(lengths > 0, lengths, 1.0)
    overlaps = unit.T @ unit
    return float((overlaps.sum() - np.trace(overlaps)) / (C * (C - 1)))


def exclusivity_objective(
    W: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray, cost: np.ndarray, p: int
) -> float:
    """Objective (5) at the components W, b; ``cost`` holds lambda_i."""
    return _value(W, 1.0 - y[:, np.newaxis] * (X @ W + b), cost, p)


def split_objective(state: SplitState | _Splitting, y: np.ndarray, cost: np.ndarray, p: int) -> float:
    """Objective (6) of W and E."""
    return _value(state.W, y[:, np.newaxis] * state.E, cost, p)


def _value(W: np.ndarray, slack: np.ndarray, cost: np.ndarray, p: int) -> float:
    return exclusivity_norm(W) + float(cost @ (np.maximum(0.0, slack) ** p).sum(axis=1))


def ridge_matrix(X: np.ndarray) -> np.ndarray:
    """Return ``I + X'X``, refused where rounding has lost the identity that makes it regular."""
    matrix = np.eye(X.shape[1]) + X.T @ X
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        largest = float(np.abs(X).max())
        raise ValueError(
            f"I + X'X is singular in double precision, with values of X up to {largest:.3g}: "
            "center and scale the features, then fit again."
        ) from None
    return matrix


def exclusivity_prox(V: np.ndarray, step: float) -> np.ndarray:
    """Proximal map at V (d, C) of ``step`` times regularizer (4), row by row in closed form.

    A row's minimizer of ``step/2 (sum_c |w_c|)^2 + 1/2 sum_c (w_c - v_c)^2`` shrinks the row by one
    threshold ``t = step s_k / (1 + step k)``, s_k the sum of its k largest magnitudes, where k is the
    largest number whose k-th magnitude still exceeds its threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import exclusivity_prox
    >>> exclusivity_prox(np.array([[3.0, 1.0]]), 1.0)
    array([[1.5, 0. ]])
    """
    magnitudes = np.abs(V)
    ordered = -np.sort(-magnitudes, axis=1)
    counts = np.arange(1, V.shape[1] + 1)
    thresholds = step * np.cumsum(ordered, axis=1) / (1.0 + step * counts)
    kept = np.maximum(1, np.sum(ordered > thresholds, axis=1))
    threshold = np.take_along_axis(thresholds, kept[:, np.newaxis] - 1, axis=1)
    return np.sign(V) * np.maximum(magnitudes - threshold, 0.0)


def hinge_prox(S: np.ndarray, y: np.ndarray, cost: np.ndarray, mu: float, p: int) -> np.ndarray:
    """Minimizer of ``cost_i (y_i e)_+^p + mu/2 (e - S_ic)^2`` in each entry: (14) if p = 1, (15) if p = 2."""
    positive = y[:, np.newaxis] * S > 0.0
    ratio = (cost / mu)[:, np.newaxis]
    if p == 1:
        return np.where(positive, np.sign(S) * np.maximum(np.abs(S) - ratio, 0.0), S)
    return np.where(positive, S / (1.0 + 2.0 * ratio), S)


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
    X, y, lam, n_components, p, sample_weight
        As in `solve_exclusivity`.
    rho, mu : float
        Growth of the penalty a round (1 keeps it fixed), and the first penalty.
    epsilon : float, default=1e-8
        Keeps the denominators of (10) from 0.
    exact_prox : bool, default=False
        Replace Algorithm 1 by the closed form.
    tol, max_iter
        Change of objective (6) at which to stop; most rounds.
    rng : Generator, default=None
        Source of a random start; None is the printed start.

    Returns
    -------
    ExclusivitySolution
        Components W and b, ``u = |Z|`` at the end, and the gap from the certified optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import solve_printed_alm
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
    message = f"Objective changes by {tol:g} or less; the gap is measured from the certified optimum."
    found = state.W, state.b, np.abs(state.Z)
    return _solution(*found, objectives, splits, optimum, converged, message)


def _solution(W, b, u, objectives, splits, optimum, converged, message) -> ExclusivitySolution:
    """Of an iterative method."""
    return ExclusivitySolution(
        w=W,
        b=b,
        u=u,
        objective=objectives[-1],
        gap=objectives[-1] - optimum,
        n_iter=len(splits),
        converged=converged,
        message=message,
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
    X, y, lam, n_components, p, sample_weight, rng
        As in `solve_printed_alm`; without rng the start is 0.
    mu : float, default=None
        Penalty; None is ``lam``.
    tol, max_iter
        Gap, relative to the optimum, at which to stop; most rounds.

    Returns
    -------
    ExclusivitySolution
        Components and the gap from the certified optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import solve_admm
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
        splits.append(split_objective(state, y, cost, p))
        if objectives[-1] - optimum <= tol * max(1.0, optimum):
            break
    relative = (objectives[-1] - optimum) / max(1.0, optimum)
    converged = bool(objectives[-1] - optimum <= tol * max(1.0, optimum))
    message = f"Relative gap {relative:.3g} against tol={tol:g}."
    found = state.P, state.b, np.abs(state.mu * state.z)
    return _solution(*found, objectives, splits, optimum, converged, message)


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
