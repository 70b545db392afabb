r"""The l2-regularized hinge over many samples: the problem of `hinge`, in 42 + J / 8 bytes a sample.

::

    Primal:  min_{w,b}  1/2 |w|^2 [+ 1/2 b^2]  +  sum_i c_i max(0, 1 - y_i (H_i w + b)),      c_i = C s_i
    Dual:    max_u  sum_i u_i - 1/2 |H'(y u)|^2 [- 1/2 (y'u)^2],   0 <= u_i <= c_i   [y'u = 0]

The brackets are those of `hinge`: "none", "penalized" or "free" intercept; c is the same for equal weights.
Stop: primal minus dual objective at most ``tol`` times the primal one, both at feasible points.

Method: the proximal Newton steps of `hinge_newton` alone, with shares r_i = u_i / c_i,

    r_i(m) = clip(r^c_i + (1 - m) / band, 0, 1),

each a pass over the packed columns (`packed_columns`) that gives u, H'(y u), the losses and the matrix of the
rows with 0 < r_i < 1. What a pass adds up does not grow with the samples, so passes could be shared out.
Coordinate ascent, which goes through rows in random order, is left out. The dual solution is not unique
where rows are equal: the next column may be another than with `hinge`, the optimum over all columns is not.

shen2014 symbols: alpha = u, m = n_samples, J = n_columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import solve

from kernsemble.masters.base import Solution
from kernsemble.masters.columns import INTERCEPTS
from kernsemble.masters.packed_columns import PackedColumns

_METRIC = 2.0**-10  # curvature that stands in for a free intercept
_FIRST_BAND, _LAST_BAND = 0.1, 1e-4  # margins so near to 1 count as free in the first, and the last, rounds
_LEAST_BAND = 1e-9  # times C and the number of columns: keeps Newton's matrix well conditioned
_INNER_TOL, _INNER_SHARE = 1e-2, 0.3  # gradient at which the center moves; share of the root of the gap
_LONG_INNER = 6  # inner steps from which the band is left alone; twice as many make it grow
_ROUNDING = 1e-14  # of an objective, relative to that of w = 0


class PackedHinge:
    """Master of the l2-regularized hinge loss for columns of -1 and +1.

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
    tol : float, default=1e-3
        Relative duality gap to stop at.
    max_iter : int, default=500
        Newton steps, at most, in one ``solve``.

    Examples
    --------
    >>> import numpy as np
    >>> master = PackedHinge(np.array([-1, -1, 1, 1]), C=10.0, tol=1e-9)
    >>> master.add(np.array([-1, -1, 1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> round(float(solution.w[0]), 6), round(solution.objective, 6)
    (1.0, 0.5)
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        *,
        sample_weight: np.ndarray | None = None,
        intercept: str = "none",
        tol: float = 1e-3,
        max_iter: int = 500,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        n = len(y)
        self.columns, self.intercept, self.tol, self.max_iter = PackedColumns(y), intercept, tol, max_iter
        # Equal weights are one number seen n times.
        self.upper = np.broadcast_to(np.float64(C), n)
        if sample_weight is not None:
            self.upper = C * np.asarray(sample_weight, dtype=np.float64)
        self._widest = float(self.upper.max())
        self._first = int(intercept != "none")
        if self._first:
            self.columns.add(np.ones(n, dtype=np.int8))
        self._theta, self._margins, self._along = np.zeros(self._first), np.zeros(n), np.empty(n)
        self._center, self._ratio = np.zeros(n), np.empty(n)  # shares r^c and r
        self._primal = self._at_zero = float(self.columns.sums(lambda rows: self.upper[rows].sum(), 1)[0])
        self._dual, self._best_ratio, self._keep = 0.0, np.zeros(n), np.ones(2)
        self._best_theta = self._theta.copy()
        self.solution: Solution | None = None

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of -1 and +1, (n_samples,); ``output`` is ignored."""
        self.columns.add(column)
        y = self.columns.y
        score = self.columns.sums(lambda rows: self._dual_weights(rows) @ (y[rows] * column[rows]), 1)
        self._dual -= 0.5 * float(score[0]) ** 2
        self._theta, self._best_theta = np.append(self._theta, 0.0), np.append(self._best_theta, 0.0)

    def threshold(self) -> float:
        """0: under an l2 norm every column with a score belongs to the solution."""
        return 0.0

    def pricing_weights(self) -> np.ndarray:
        """``u_i y_i``; before the first ``solve`` the start of shen2014's Algorithm 1, u = c / 2."""
        return self.columns.y * (0.5 * self.upper if self.solution is None else self.solution.u)

    def _dual_weights(self, rows: slice) -> np.ndarray:
        """Return the best dual point of some rows."""
        keep = np.where(self.columns.y[rows] > 0, self._keep[1], self._keep[0])
        return self.upper[rows] * self._best_ratio[rows] * keep

    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started."""
        if not self.columns.n_columns:  # nothing can answer the losses
            self._best_ratio[:], self._dual = 1.0, self._primal
        else:
            self._restart()
        n_iter = 0
        while self._gap > self._limit and n_iter < self.max_iter:
            n_iter += 1
            self._step()
        return self._conclude(n_iter)

    @property
    def _gap(self) -> float:
        return self._primal - self._dual

    @property
    def _limit(self) -> float:
        return max(self.tol * self._primal, _ROUNDING * self._at_zero)

    def _restart(self) -> None:
        """Begin at the best dual point and the last primal one."""
        y = self.columns.y

        def take(_block: int, rows: slice) -> None:
            self._center[rows] = self._best_ratio[rows] * np.where(y[rows] > 0, self._keep[1], self._keep[0])

        self.columns.over_blocks(take)
        self._metric, self._shift = np.ones(len(self._theta)), np.zeros(len(self._theta))
        self._penalized = np.ones(len(self._theta))
        if self.intercept == "free":
            self._metric[0], self._penalized[0], self._shift[0] = _METRIC, 0.0, self._theta[0]
        self._band, self._inner = _FIRST_BAND, 0
        self._evaluate()

    def _step(self) -> None:
        """Take one Newton step with exact line search."""
        if self._inner > 0 and self._inner_is_solved():
            self._move_center()
        elif self._inner > 2 * _LONG_INNER:
            self._band *= 4.0
            self._inner = 0
            self._evaluate()
        direction = self._direction()
        self._along[:] = 0.0
        self.columns.add_margins(direction, self._along)
        length = self._line_search(direction)
        self._theta += length * direction
        self._inner += 1
        self._evaluate(length)

    def _evaluate(self, length: float = 0.0) -> None:
        """Move the margins; take up shares, A'u and the gradient; offer both points, in one pass."""
        sums = np.zeros((len(self.columns.starts), 3))

        def weights(rows: slice) -> np.ndarray:
            u = np.empty(rows.stop - rows.start)
            _advance(
                self._margins[rows], self._along[rows], length, self._center[rows], 1.0 / self._band,
                self.upper[rows], self.columns.y[rows], self._ratio[rows], u,
                sums[self.columns.starts.searchsorted(rows.start)],
            )  # fmt: skip
            return u

        by_class = self.columns.combine(weights)
        loss, *of_class = sums.sum(axis=0)
        self._combined = by_class.sum(axis=0)
        self._gradient = self._metric * (self._theta - self._shift) - self._combined
        penalized = self._penalized * self._theta
        self._offer_primal(0.5 * float(penalized @ penalized) + float(loss))
        self._offer_dual(np.array(of_class), by_class)

    def _offer_primal(self, primal: float) -> None:
        if primal < self._primal:
            self._primal, self._best_theta = primal, self._theta.copy()

    def _offer_dual(self, of_class: np.ndarray, by_class: np.ndarray) -> None:
        """Keep the shares if their dual objective, after repair of y'u = 0, is better."""
        keep = np.ones(2)
        if self.intercept == "free":
            keep = np.divide(of_class.min(), of_class, out=np.zeros(2), where=of_class > 0)
        combined = self._penalized * (keep @ by_class)
        dual = float(keep @ of_class) - 0.5 * float(combined @ combined)
        if dual > self._dual:
            self._dual, self._keep = dual, keep
            np.copyto(self._best_ratio, self._ratio)

    def _inner_is_solved(self) -> bool:
        scale = np.linalg.norm(self._metric * self._theta) + np.linalg.norm(self._combined)
        tol = min(_INNER_TOL, _INNER_SHARE * np.sqrt(self._gap / self._primal))
        return bool(np.linalg.norm(self._gradient) <= tol * scale)

    def _move_center(self) -> None:
        """Accept the shares and the intercept as the new center; narrow the band if that was easy."""
        np.copyto(self._center, self._ratio)
        if self.intercept == "free":
            self._shift[0] = self._theta[0]
        if self._inner < _LONG_INNER:
            least = max(_LAST_BAND, _LEAST_BAND * self._widest * self.columns.n_columns)
            self._band = max(0.5 * self._band, least)
        self._inner = 0
        self._evaluate()

    def _direction(self) -> np.ndarray:
        """Newton's direction ``-(R + A' diag(c / band) A)^-1 gradient``, over the rows 0 < r < 1."""

        def scale(rows: slice) -> np.ndarray:
            ratio = self._ratio[rows]
            return np.where((ratio > 0) & (ratio < 1), self.upper[rows] / self._band, 0.0)

        matrix = self.columns.gram(scale)
        matrix[np.diag_indices_from(matrix)] += self._metric
        return solve(matrix, -self._gradient, assume_a="pos")

    def _line_search(self, direction: np.ndarray) -> float:
        """Minimize the piecewise quadratic along the direction: its slope increases, so bisect it."""
        linear = float((self._metric * (self._theta - self._shift)) @ direction)
        square = float((self._metric * direction) @ direction)
        low, high = 0.0, 1.0
        start = linear - self._pull(0.0)
        for trial in range(30):
            t = 1.0 if trial == 0 else 0.5 * (low + high)
            value = linear + t * square - self._pull(t)
            if abs(value) <= 0.01 * abs(start) or (trial == 0 and value < 0):
                return t
            low, high = (low, t) if value > 0 else (t, high)
        return low if low > 0 else high

    def _pull(self, t: float) -> float:
        """Minus the slope of the losses at step t."""

        def of(rows: slice) -> float:
            return _pull(
                self._margins[rows],
                self._along[rows],
                t,
                self._center[rows],
                1.0 / self._band,
                self.upper[rows],
            )

        return float(self.columns.sums(of, 1)[0])

    def _conclude(self, n_iter: int) -> Solution:
        u = np.empty(len(self.upper))
        for rows in self.columns.blocks():
            u[rows] = self._dual_weights(rows)
        converged = self._gap <= self._limit
        self.solution = Solution(
            w=self._best_theta[self._first :].copy(),
            b=float(self._best_theta[0]) if self._first else 0.0,
            u=u,
            objective=self._primal,
            gap=self._gap,
            n_iter=n_iter,
            converged=bool(converged),
            message="relative gap reached" if converged else "Increase max_iter or tol.",
            gain=float(u.sum()),
        )
        return self.solution


@njit(cache=True, nogil=True)
def _advance(margins, along, length, center, steepness, upper, y, ratio, u, sums):
    """Move margins; set shares and u; sums = losses, u of the negative and of the positive class."""
    for i in range(len(margins)):
        if length != 0.0:
            margins[i] += length * along[i]
        slack = 1.0 - margins[i]
        ratio[i] = min(max(center[i] + steepness * slack, 0.0), 1.0)
        u[i] = upper[i] * ratio[i]
        sums[0] += upper[i] * max(slack, 0.0)
        sums[2 if y[i] > 0 else 1] += u[i]


@njit(cache=True, nogil=True)
def _pull(margins, along, t, center, steepness, upper):
    """Sum of u_i(m_i + t along_i) along_i."""
    total = 0.0
    for i in range(len(margins)):
        ratio = center[i] + steepness * (1.0 - margins[i] - t * along[i])
        total += upper[i] * min(max(ratio, 0.0), 1.0) * along[i]
    return total
