r"""Diversity that survives at the optimum: components that see different rows or columns, under one norm.

Problem (5) is symmetric in its components, so its optimum has none. Here component c has its own set of
columns (its other weights are 0) and its own weights of the samples, under the same exclusivity norm::

    min  1/2 sum_j (sum_c |W_jc|)^2 + sum_ic lambda_ic max(0, 1 - y_i (<x_i, w_c> + b_c))^2,
         W_jc = 0 unless mask_jc
    max  sum_ic U_ic - 1/2 sum_j max_{c: mask_jc} (sum_i U_ic y_i X_ij)^2 - sum_ic U_ic^2 / (4 lambda_ic)
         s.t.  sum_i y_i U_ic = 0 for each c,  U >= 0

It is solved by two-block alternating directions as in `masters.exclusivity`, with one least-squares
matrix a component, until the duality gap is small. With ``shared=False`` the norm is a sum of the components'
own, ``1/2 ||W||^2``: the same machines, trained apart. Comparing the two says what the norm itself adds.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernsemble.masters.exclusivity import exclusivity_norm, exclusivity_prox, relaxed_exclusivity
from kernsemble.masters.psvm import solve_psvm
from kernsemble.trials.trial import Trial
from guo2017.draws import Draw, Scaling, draw
from guo2017.plan import paper
from guo2017.sets import TABLE_SETS

# Name -> (own columns, own rows, one norm for all).
KINDS: dict[str, tuple[bool, bool, bool]] = {
    "plain": (False, False, True),
    "columns, apart": (True, False, False),
    "columns, one norm": (True, False, True),
    "rows, apart": (False, True, False),
    "rows, one norm": (False, True, True),
}


@paper.trials("diversity", methods=tuple(KINDS), datasets=TABLE_SETS)
def diversity(
    trial: Trial,
    *,
    n_train: int,
    scaling: Scaling,
    n_components: int,
    column_share: float,
    diversity_lambdas: list[float],
) -> dict[str, np.ndarray]:
    """Test error of the mean machine, overlap of the components, and relative gap, for each lambda."""
    data = draw(trial, n_train, scaling)
    own_columns, own_rows, shared = KINDS[trial.method]
    mask, counts = _draw_parts(trial, data, n_components, column_share, own_columns, own_rows)
    rows = []
    for lam in diversity_lambdas:
        W, b, gap = solve_diverse(data.X, data.y, lam * counts, mask, shared=shared)
        error = data.error(data.X_test @ W.mean(axis=1) + b.mean())
        rows.append((error, round(relaxed_exclusivity(W), 4), float(f"{gap:.2g}")))
    error, overlap, gaps = np.array(rows).T
    return {"error": error, "exclusivity": overlap, "gap": gaps}


def _draw_parts(
    trial: Trial, data: Draw, C: int, share: float, own_columns: bool, own_rows: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mask of columns (d, C) and the counts of rows (n, C), shared by both norms."""
    n, d = data.X.shape
    rng = trial.shared_rng("columns")
    mask = np.ones((d, C), dtype=bool)
    if own_columns:
        size = max(1, round(share * d))
        mask = np.column_stack([np.isin(np.arange(d), rng.permutation(d)[:size]) for _ in range(C)])
    counts = np.ones((n, C))
    rng = trial.shared_rng("rows")
    for c in range(C) if own_rows else ():
        counts[:, c] = _bootstrap_counts(data.y, rng)
    return mask, counts


def _bootstrap_counts(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How often each row is drawn in a bootstrap sample that holds both classes."""
    while True:
        counts = np.bincount(rng.integers(len(y), size=len(y)), minlength=len(y)).astype(np.float64)
        if np.ptp(y[counts > 0]) > 0:
            return counts


def solve_diverse(
    X: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    mask: np.ndarray,
    *,
    shared: bool = True,
    tol: float = 1e-4,
    max_iter: int = 3000,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return components W (d, C), intercepts b (C,) and the relative duality gap; ``cost`` is (n, C)."""
    if not shared:
        return _solve_apart(X, y, cost, mask)
    step = _Splitting(X, y, cost, mask)
    gap = np.inf
    for k in range(max_iter):
        step.advance()
        if k % 20 == 19:
            gap = duality_gap(step.P, step.b, X, y, cost, mask)
            if gap <= tol:
                break
    return step.P, step.b, gap


def _solve_apart(
    X: np.ndarray, y: np.ndarray, cost: np.ndarray, mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """One exact machine a component."""
    W, b, gap = np.zeros(mask.shape), np.zeros(mask.shape[1]), 0.0
    for c in range(mask.shape[1]):
        rows, columns = cost[:, c] > 0, mask[:, c]
        part = X[np.ix_(rows, columns)]
        solution = solve_psvm(part, y[rows], 1.0, 2, sample_weight=cost[rows, c])
        W[columns, c], b[c], gap = solution.w, solution.b, max(gap, solution.relative_gap)
    return W, b, gap


def duality_gap(
    W: np.ndarray, b: np.ndarray, X: np.ndarray, y: np.ndarray, cost: np.ndarray, mask: np.ndarray
) -> float:
    """Relative gap, with dual weights read off the slacks and balanced between the classes."""
    slack = np.maximum(0.0, 1.0 - y[:, np.newaxis] * (X @ W + b))
    objective = exclusivity_norm(W) + float((cost * slack**2).sum())
    U = 2.0 * cost * slack
    above, below = U[y > 0].sum(axis=0), U[y < 0].sum(axis=0)
    lighter = np.minimum(above, below)
    U[y > 0] *= lighter / np.maximum(above, 1e-300)
    U[y < 0] *= lighter / np.maximum(below, 1e-300)
    combined = np.where(mask, X.T @ (y[:, np.newaxis] * U), 0.0)
    positive = cost > 0
    curvature = (U[positive] ** 2 / (4.0 * cost[positive])).sum()
    # the best multiple of U: a concave parabola in the factor
    linear, quadratic = U.sum(), 0.5 * np.sum(np.abs(combined).max(axis=1) ** 2) + curvature
    dual = linear**2 / (4.0 * quadratic) if quadratic > 0 else 0.0
    return float((objective - dual) / max(objective, 1e-300))


class _Splitting:
    """Iterates of the two-block method, multipliers scaled; the penalty is the mean cost."""

    def __init__(self, X: np.ndarray, y: np.ndarray, cost: np.ndarray, mask: np.ndarray):
        self.X, self.y, self.cost, self.mask = X, y[:, np.newaxis], cost, mask
        self.mu = float(cost.mean())
        self.W, self.q = np.zeros(mask.shape), np.zeros(mask.shape)
        self.E, self.z = np.tile(self.y, mask.shape[1]), np.zeros(cost.shape)
        self.P, self.b = np.zeros(mask.shape), np.zeros(mask.shape[1])
        self.mean = X.mean(axis=0)
        moments = (X - self.mean).T @ (X - self.mean)
        parts = [np.flatnonzero(mask[:, c]) for c in range(mask.shape[1])]
        self.parts = [(part, cho_factor(np.eye(len(part)) + moments[np.ix_(part, part)])) for part in parts]

    def advance(self) -> None:
        """One round: (P, b), then (W, E), then the multipliers."""
        target = self.y - self.E - self.z
        right = self.W - self.q + self.X.T @ target - np.outer(self.mean, target.sum(axis=0))
        for c, (part, factor) in enumerate(self.parts):
            self.P[part, c] = cho_solve(factor, right[part, c], check_finite=False)
        self.b = target.mean(axis=0) - self.mean @ self.P
        relaxed_P = 1.6 * self.P - 0.6 * self.W
        relaxed_E = 1.6 * (self.y - self.X @ self.P - self.b) - 0.6 * self.E
        self.W = exclusivity_prox(np.where(self.mask, relaxed_P + self.q, 0.0), 1.0 / self.mu)
        S = relaxed_E - self.z
        self.E = np.where(self.y * S > 0.0, S / (1.0 + 2.0 * self.cost / self.mu), S)
        self.q += relaxed_P - self.W
        self.z += self.E - relaxed_E
