r"""Several linear machines under the exclusivity norm: problem (5) of guo2017, and its exact solution.

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

So `solve_exclusivity` solves one small machine, repeats it, and multiplies its certified gap by C^2; its
dual weights ``U = C u`` are feasible for the dual above. `exact_value` is the yardstick by which the
iterative solvers in `masters.exclusivity_alm` and `masters.exclusivity_admm` state their gaps.

Paper symbol = code name: W = W, b = b, C = n_components, lambda = lam, N = n, M = d, X' = X (samples are
rows here), ||W'||_{1,2}^2 / 2 = exclusivity_norm, X_r = relaxed_exclusivity.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernsemble.masters.base import Solution
from kernsemble.masters.psvm import solve_psvm

EXACT_TOL = 1e-10  # relative gap of the optimum that other solvers are measured from


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
    tol : float, default=1e-9
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most Newton steps.

    Returns
    -------
    ExclusivitySolution
        Equal components, with a certified gap.

    References
    ----------
    Guo, Wang and Ling, Exclusivity Regularized Machine, problem (5).

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
    """Regularizer (4), half the sum over features of squared l1 norms across components.

    Parameters
    ----------
    W : ndarray of shape (d, C)
        Components as columns.

    Returns
    -------
    float
        ``1/2 sum_j (sum_c |W_jc|)^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exclusivity import exclusivity_norm
    >>> exclusivity_norm(np.array([[1.0, -1.0], [0.0, 2.0]]))
    4.0
    """
    return float(0.5 * np.sum(np.abs(W).sum(axis=1) ** 2))


def relaxed_exclusivity(W: np.ndarray) -> float:
    """Mean relaxed exclusivity of all pairs of components, each scaled to unit length (Definition 2).

    0 means that no two components share a feature, 1 that all are equal up to signs.

    Parameters
    ----------
    W : ndarray of shape (d, C)
        Components as columns.

    Returns
    -------
    float
        Mean of ``sum_j |U_jc| |U_jd|`` over pairs c < d of the normalized columns; nan with a single
        component.

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
    slack = np.maximum(0.0, 1.0 - y[:, np.newaxis] * (X @ W + b))
    return exclusivity_norm(W) + float(cost @ (slack**p).sum(axis=1))


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
    """Proximal map of ``step`` times regularizer (4), row by row in closed form.

    A row's minimizer of ``step/2 (sum_c |w_c|)^2 + 1/2 sum_c (w_c - v_c)^2`` shrinks the row by one
    threshold ``t = step s_k / (1 + step k)``, s_k the sum of its k largest magnitudes, where k is the
    largest number whose k-th magnitude still exceeds its threshold.

    Parameters
    ----------
    V : ndarray of shape (d, C)
        Point to map.
    step : float
        Positive factor of the regularizer.

    Returns
    -------
    ndarray of shape (d, C)
        The unique minimizer.

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
