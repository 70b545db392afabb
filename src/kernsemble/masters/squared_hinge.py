r"""The l2-regularized squared hinge over the columns found so far, by Newton's method with a growing Gram
matrix.

::

    Primal:  min_{w,b}  1/2 |w|^2 [+ 1/2 b^2]  +  sum_i c_i max(0, 1 - y_i (H_i w + b))^2,      c_i = C s_i
    Dual:    max_u  sum_i u_i - 1/2 |H'(y u)|^2 [- 1/2 (y'u)^2] - sum_i u_i^2 / (4 c_i),   u >= 0   [y'u = 0]

C multiplies the sum of squared slacks without a factor 1/2, as in LIBLINEAR. The intercept is absent,
"penalized" (1/2 b^2) or "free" (y'u = 0), as in `hinge`. Both problems have one solution.

Stop: duality gap at most ``tol`` times the primal objective. Every theta = (b, w) has the feasible dual
point ``u_i = 2 c_i max(0, 1 - m_i)``, and the gap between the two is half the squared norm of the gradient
``theta - A'u``; under a free intercept b is set to its exact optimum first, which makes y'u = 0.

Method: the objective is quadratic as long as the set of active rows (margin below 1) stays the same.
Newton's matrix ``R + 2 A_I' diag(c) A_I`` changes by the rows that enter or leave, and grows by one column
a round. The step goes along Newton's direction to the exact minimum, so the method ends after finitely many
steps.

shen2014 symbols: alpha = u, J = n_columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import blas, lapack

from kernsemble.masters.base import Solution
from kernsemble.masters.columns import INTERCEPTS, SignedColumns
from kernsemble.masters.one_thread import one_thread

_PAD = 32


class SquaredHinge:
    """Master of the l2-regularized squared hinge loss.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    C : float, default=1.0
        Weight of the sum of losses.
    sample_weight : ndarray of shape (n_samples,), optional
        Factors s_i of C; 1 by default.
    intercept : {"none", "free", "penalized"}, default="none"
        Whether f has an intercept, and whether it is penalized.
    tol : float, default=1e-6
        Relative duality gap to stop at.
    max_iter : int, default=200
        Newton steps, at most, in one ``solve``.

    References
    ----------
    Keerthi and DeCoste, A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> master = SquaredHinge(np.array([-1.0, 1.0]), C=0.25)
    >>> master.add(np.array([-1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> solution.w.round(6), round(solution.objective, 6)
    (array([0.5]), 0.25)
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        *,
        sample_weight: np.ndarray | None = None,
        intercept: str = "none",
        tol: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.cost = C * (np.ones(len(self.y)) if sample_weight is None else np.asarray(sample_weight, float))
        self.intercept, self.tol, self.max_iter = intercept, tol, max_iter
        self.columns = SignedColumns(self.y, intercept != "none")
        self.solution: Solution | None = None
        self.theta = np.zeros(self.columns.n_columns)
        self.margins = np.zeros(len(self.y))
        self._gram = _ActiveGram(self.columns, self.cost)

    @one_thread
    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64; ``output`` is ignored."""
        self._gram.grow(self.columns.add(column))
        self.theta = np.append(self.theta, 0.0)

    def threshold(self) -> float:
        """0: under an l2 norm every column with a score belongs to the solution."""
        return 0.0

    def pricing_weights(self) -> np.ndarray:
        """``u_i y_i``; before the first ``solve`` u = 2 c, the dual point at theta = 0."""
        return self.y * (2.0 * self.cost if self.solution is None else self.solution.u)

    @one_thread
    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started."""
        free = self.intercept == "free"
        n_iter = 0
        while True:
            if free:
                self._center_intercept()
            u = 2.0 * self.cost * np.maximum(1.0 - self.margins, 0.0)
            penalized = self.theta.copy()
            if free:
                penalized[0] = 0.0
            gradient = penalized - self.columns.combine(u)
            gap = 0.5 * float(gradient @ gradient)
            objective = 0.5 * float(penalized @ penalized) + 0.5 * float(u @ (1.0 - self.margins))
            if gap <= self.tol * objective or n_iter == self.max_iter:
                return self._conclude(u, objective, gap, n_iter)
            n_iter += 1
            self._newton_step(gradient, penalized)

    def _newton_step(self, gradient: np.ndarray, penalized: np.ndarray) -> None:
        """Go along Newton's direction to the exact minimum."""
        first = int(self.intercept == "free")
        direction = self._gram.solve(self.margins < 1.0, -gradient, first)
        along = self.columns.margins(direction)
        step = direction.copy()
        step[:first] = 0.0
        length = _search(self.margins, along, self.cost, float(penalized @ step), float(step @ step))
        self.theta += length * direction
        self.margins += length * along

    def _center_intercept(self) -> None:
        """Set b to its optimum at the present w: y'u = 0."""
        shift = _best_shift(self.margins, self.y, self.cost)
        self.theta[0] += shift
        self.margins += shift * self.y

    def _conclude(self, u: np.ndarray, objective: float, gap: float, n_iter: int) -> Solution:
        first = int(self.intercept != "none")
        converged = gap <= self.tol * objective
        self.solution = Solution(
            w=self.theta[first:].copy(),
            b=float(self.theta[0]) if first else 0.0,
            u=u,
            objective=objective,
            gap=gap,
            n_iter=n_iter,
            converged=bool(converged),
            message="relative gap reached" if converged else "Increase max_iter or tol.",
            gain=float(u.sum()),
        )
        return self.solution


class _ActiveGram:
    """Lower triangle of ``2 A_I' diag(c) A_I`` over the active rows I, kept up to date.

    It is padded with zeros to a multiple of ``_PAD`` columns, so that it is seldom moved.
    """

    def __init__(self, columns: SignedColumns, cost: np.ndarray) -> None:
        self.columns, self.cost = columns, cost
        self.active = np.zeros(len(cost), dtype=bool)
        self.matrix = np.zeros((_PAD, _PAD), order="F")
        self.work = np.empty((_PAD, _PAD), order="F")

    def grow(self, signed: np.ndarray) -> None:
        """Border the matrix by the products with a new column."""
        J, size = self.columns.n_columns, len(self.matrix)
        if size < J:
            matrix = np.zeros((size + _PAD, size + _PAD), order="F")
            matrix[:size, :size] = self.matrix
            self.matrix, self.work = matrix, np.empty_like(matrix)
        self.matrix[J - 1, :J] = self.columns.combine(np.where(self.active, 2.0 * self.cost * signed, 0.0))

    def update(self, active: np.ndarray) -> None:
        """Exchange rows until I is ``active``."""
        leave, enter = np.flatnonzero(self.active & ~active), np.flatnonzero(active & ~self.active)
        if len(leave) + len(enter) > active.sum():
            self.matrix[:] = 0.0
            leave, enter = leave[:0], np.flatnonzero(active)
        self._exchange(leave, -2.0)
        self._exchange(enter, 2.0)
        self.active = active

    def solve(self, active: np.ndarray, rhs: np.ndarray, first: int) -> np.ndarray:
        """Solve with the matrix over the given rows plus the identity, the ``first`` entries left out."""
        self.update(active)
        np.copyto(self.work, self.matrix)
        diagonal = np.arange(first, len(self.work))
        self.work[diagonal, diagonal] += 1.0
        factor, failed = lapack.dpotrf(self.work, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError(f"Newton's matrix is not positive definite (minor {failed}).")
        padded = np.zeros(len(self.work))
        padded[: len(rhs)] = rhs
        return lapack.dpotrs(factor, padded, lower=1)[0][: len(rhs)]

    def _exchange(self, rows: np.ndarray, factor: float) -> None:
        if len(rows):
            A = self.columns.select(rows, width=len(self.matrix)) * np.sqrt(self.cost[rows])[:, None]
            # A' of a C-ordered A is Fortran-ordered: no copy.
            self.matrix = blas.dsyrk(factor, A.T, beta=1.0, c=self.matrix, lower=1, overwrite_c=1)


@njit(cache=True)
def _slope(margins, along, cost, t):
    """Slope of the losses at step t."""
    total = 0.0
    for i in range(len(margins)):
        total -= 2.0 * cost[i] * max(1.0 - margins[i] - t * along[i], 0.0) * along[i]
    return total


@njit(cache=True)
def _search(margins, along, cost, linear, square):
    """Step length in (0, 1] that minimizes the objective: bisect its increasing slope, end with a secant."""
    low, high, at_low = 0.0, 1.0, linear + _slope(margins, along, cost, 0.0)
    at_high = linear + square + _slope(margins, along, cost, 1.0)
    if at_high <= 1e-6 * abs(at_low):
        return 1.0
    for _ in range(18):
        t = 0.5 * (low + high)
        slope = linear + t * square + _slope(margins, along, cost, t)
        if abs(slope) <= 1e-6 * abs(at_low):
            return t
        if slope > 0.0:
            high, at_high = t, slope
        else:
            low, at_low = t, slope
    return low - at_low * (high - low) / (at_high - at_low)


@njit(cache=True)
def _best_shift(margins, y, cost):
    """Newton's method in the intercept: a piecewise quadratic of one variable."""
    shift = 0.0
    for _ in range(50):
        pull, curvature = 0.0, 0.0
        for i in range(len(margins)):
            slack = 1.0 - margins[i] - shift * y[i]
            if slack > 0.0:
                pull += cost[i] * slack * y[i]
                curvature += cost[i]
        if curvature == 0.0 or abs(pull) <= 1e-15 * curvature:
            return shift
        shift += pull / curvature
    return shift
