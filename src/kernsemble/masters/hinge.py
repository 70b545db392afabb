r"""The l2-regularized hinge: problem (1) of shen2014, (11) of bi2004, over the columns found so far.

::

    Primal:  min_{w,b}  1/2 |w|^2 [+ 1/2 b^2]  +  sum_i c_i max(0, 1 - y_i (H_i w + b)),      c_i = C s_i
    Dual:    max_u  sum_i u_i - 1/2 |H'(y u)|^2 [- 1/2 (y'u)^2],   0 <= u_i <= c_i   [y'u = 0]

The bracket that applies depends on the intercept: none; "penalized" (LIBLINEAR's) adds 1/2 b^2; "free" (the
papers' and LIBSVM's) adds the constraint y'u = 0. Sample weights s_i multiply the losses.

Stop: primal minus dual objective at most ``tol`` times the primal one, both at feasible points. A point of
the dual that misses y'u = 0 is made feasible first, by scaling down the class whose sum is larger.

The dual need not have one solution: with few columns of +-1 many rows are equal. ``least_norm`` asks for
the solution of least ``sum_i u_i^2 / s_i``. It does not depend on the solver, on the order of the samples,
or on whether a sample is written twice or has weight 2, so that the next column is the same for every
solver that follows the rule.

Method: dual coordinate ascent over the rows that can move (violating or free), while it is estimated to be
the cheaper way to the tolerance; from there on the proximal Newton steps of `hinge_newton`. Both are
warm-started and both feed two incumbents, the best primal and the best dual point, whose difference is the
gap. The primal incumbent moves by exact line search towards each new point, which certifies several times
earlier than the last iterate does.

shen2014 symbols: alpha = u, m = n_samples, J = n_columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kernsemble.masters.base import Solution
from kernsemble.masters.columns import FAST, INTERCEPTS, SignedColumns, balance, descend
from kernsemble.masters.hinge_newton import ProximalNewton, RowGram
from kernsemble.masters.least_norm import least_norm as pick_least_norm
from kernsemble.masters.one_thread import one_thread

_LEAST_NORM_TOL = 1e-12  # to which the problem is solved where the rows on the margin must be known
_FACE = 10.0  # times tol and the number of samples: how near to 1 the margin of such a row is
_ASCENT_LIMIT = 1e-6  # relative gap below which Newton's steps, the last of which is exact, take over
_ROUNDING = 1e-14  # of an objective, relative to that of w = 0
_EPOCHS = 10  # epochs of coordinate ascent between two looks at the gap
# Curvature of the proximal term that stands in for a free intercept, in either phase; exact in binary.
_DESCENT_METRIC, _NEWTON_METRIC = 2.0**-3, 2.0**-10


class Hinge:
    """Master of the l2-regularized hinge loss.

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
    max_iter : int, default=1000
        Blocks of ten epochs plus Newton steps, at most, in one ``solve``.
    least_norm : bool, default=False
        Whether to return the dual solution of least weighted norm; tol is then at most 1e-12.

    References
    ----------
    Shen and Liu, From Kernel Machines to Ensemble Learning, 2014, problems (1) and (2).

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> master = Hinge(y, C=10.0, tol=1e-9)
    >>> master.add(np.array([-2.0, -1.0, 1.0, 2.0]))
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
        max_iter: int = 1000,
        least_norm: bool = False,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        weight = (
            np.ones(len(self.y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        )
        self.weight = np.ascontiguousarray(weight)
        self.upper = C * self.weight
        self.intercept, self.max_iter, self.least_norm = intercept, max_iter, least_norm
        self.tol = min(tol, _LEAST_NORM_TOL) if least_norm else tol
        self.columns = SignedColumns(self.y, intercept != "none")
        self._gram = RowGram(self.columns, 1.0 / _NEWTON_METRIC - 1.0 if intercept == "free" else 0.0)
        self._has_intercept = int(intercept != "none")
        self._loss_at_zero = float(self.upper.sum())
        self.solution: Solution | None = None
        self._start()

    def _start(self) -> None:
        """Begin at theta = 0, and at u = 0 or, if nothing can answer it, u = c."""
        n, k = len(self.y), self.columns.n_columns
        self._primal, self._theta, self._margins = self._loss_at_zero, np.zeros(k), np.zeros(n)
        self._dual, self._u = (0.0, np.zeros(n)) if k else (self._primal, self.upper.copy())
        # The point of coordinate ascent: theta = center + A'u / metric.
        self._run_u, self._run_theta, self._run_margins = self._u.copy(), np.zeros(k), np.zeros(n)
        self._center = 0.0
        self._indices = np.empty(n, dtype=np.int64)

    @one_thread
    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64; ``output`` is ignored."""
        signed = self.columns.add(column)
        self._gram.grow(signed)
        weight = float(signed @ self._run_u)
        self._theta = np.append(self._theta, 0.0)
        self._run_theta = np.append(self._run_theta, weight)
        self._run_margins += weight * signed
        self._dual -= 0.5 * float(signed @ self._u) ** 2

    def threshold(self) -> float:
        """0: under an l2 norm every column with a score belongs to the solution."""
        return 0.0

    def pricing_weights(self) -> np.ndarray:
        """``u_i y_i``; before the first ``solve`` the start of shen2014's Algorithm 1, u = c / 2."""
        return self.y * (0.5 * self.upper if self.solution is None else self.solution.u)

    @one_thread
    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started."""
        newton, plan = None, _Plan(self.tol)
        self._offer_primal(self._run_theta, self._run_margins)
        n_iter = 0
        while self._gap > self._limit and n_iter < self.max_iter:
            n_iter += 1
            if newton is None and plan.descent_pays(self._gap / self._primal):
                plan.record(self._gap / self._primal, self._descend(), *self.columns.shape)
            else:
                newton = newton or self._newton()
                self._newton_step(newton)
        converged = self._gap <= self._limit
        if self.least_norm:
            self._pick_least_norm()
        if newton is not None or self.least_norm:
            self._resume_from_dual()
        return self._conclude(n_iter, bool(converged))

    def _pick_least_norm(self) -> None:
        """Replace the dual incumbent by the point of least norm on its face."""
        face = np.abs(self._margins - 1.0) <= _FACE * self.tol * len(self.y)
        face = np.flatnonzero(face & (self.upper > 0))
        u = self._u.copy()
        u[face] = pick_least_norm(self.columns.select(face), u[face], self.upper[face], self.weight[face])
        self._dual = -np.inf  # equal but for rounding, and to be taken even if rounding made it smaller
        self._offer_dual(u, self._combined(u))

    @property
    def _limit(self) -> float:
        """Gap to stop at; never below the rounding of the sums."""
        return max(self.tol * self._primal, _ROUNDING * self._loss_at_zero)

    @property
    def _gap(self) -> float:
        return self._primal - self._dual

    def _descend(self) -> int:
        """Run a block of coordinate ascent over the rows that can move; return their number."""
        n_active = _movable(self._run_u, self._run_margins, self.upper, self._indices)
        active = self._indices[:n_active]
        extra = 1.0 / self._descent_metric - 1.0
        curvature = self.columns.square_norms + extra * self._has_intercept
        descend(
            self.columns.rows, active, self._run_u, self._run_theta, self.upper, curvature,
            extra * self._has_intercept, _EPOCHS, n_active,
        )  # fmt: skip
        self._run_margins = self.columns.margins(self._run_theta)
        self._offer_primal(self._run_theta, self._run_margins)
        combined = self._run_theta.copy()
        if self._has_intercept:
            combined[0] = self._descent_metric * (combined[0] - self._center)
        self._offer_dual(self._run_u, combined)
        if self.intercept == "free":  # the multiplier's step: the center follows the intercept
            self._center = self._run_theta[0]
            shift = combined[0] / self._descent_metric
            self._run_theta[0] += shift
            self._run_margins += shift * self.y
        return n_active

    @property
    def _descent_metric(self) -> float:
        return _DESCENT_METRIC if self.intercept == "free" else 1.0

    def _newton(self) -> ProximalNewton:
        """Start the second phase from both incumbents."""
        metric, center = np.ones(len(self._theta)), np.zeros(len(self._theta))
        free = self.intercept == "free"
        if free:
            metric[0], center[0] = _NEWTON_METRIC, self._theta[0]
        return ProximalNewton(
            self.columns, self.upper, self.weight, metric, self._theta, self._margins, self._u, center, free,
            self._gram,
        )  # fmt: skip

    def _newton_step(self, newton: ProximalNewton) -> None:
        newton.step(self._gap / self._primal)
        self._offer_primal(newton.theta, newton.margins)
        self._offer_dual(newton.u, newton.combined)

    def _offer_primal(self, theta: np.ndarray, margins: np.ndarray) -> None:
        """Move the primal incumbent to the best point between it and theta."""
        step, along = theta - self._theta, margins - self._margins
        penalized = np.ones(len(theta))
        if self.intercept == "free":
            penalized[0] = 0.0
        linear, square = float((penalized * self._theta) @ step), float((penalized * step) @ step)
        t = _search(self._margins, along, self.upper, linear, square)
        self._theta += t * step
        self._margins += t * along
        norm = float((penalized * self._theta) @ self._theta)
        self._primal = 0.5 * norm + _hinge_sum(self._margins, self.upper)

    def _offer_dual(self, u: np.ndarray, combined: np.ndarray) -> None:
        """Take u as dual incumbent if its objective, after repair, is better; combined is A'u."""
        if self.intercept == "free":
            balanced = balance(u, self.y)
            combined = combined - self.columns.combine(u - balanced)  # of one class, and seldom of that
            combined[0] = 0.0
            u = balanced
        dual = float(u.sum()) - 0.5 * float(combined @ combined)
        if dual > self._dual:
            self._dual, self._u = dual, u.copy()

    def _combined(self, u: np.ndarray) -> np.ndarray:
        """A'u, without the rounding that is left of y'u = 0."""
        combined = self.columns.combine(u)
        if self.intercept == "free":
            combined[0] = 0.0
        return combined

    def _resume_from_dual(self) -> None:
        """Set the point of coordinate ascent to the dual incumbent."""
        self._run_u = self._u.copy()
        self._run_theta = self.columns.combine(self._u)
        if self.intercept == "free":
            self._center = self._run_theta[0] = self._theta[0]
        self._run_margins = self.columns.margins(self._run_theta)

    def _conclude(self, n_iter: int, converged: bool) -> Solution:
        message = "relative gap reached" if converged else "Increase max_iter or tol."
        first = self._has_intercept
        self.solution = Solution(
            w=self._theta[first:].copy(),
            b=float(self._theta[0]) if first else 0.0,
            u=self._u.copy(),
            objective=self._primal,
            gap=self._gap,
            n_iter=n_iter,
            converged=converged,
            message=message,
            gain=float(self._u.sum()),
        )
        return self.solution


class _Plan:
    """Decides which way is cheaper by counting multiplications: no clock, so it repeats."""

    def __init__(self, tol: float) -> None:
        self.tol, self.before, self.rate, self.ascent_cost, self.newton_cost = tol, np.inf, 0.0, 0.0, np.inf

    def record(self, gap_before: float, n_active: int, n: int, J: int) -> None:
        """Note a block's start and the costs of a block and of a Newton step."""
        self.before = gap_before
        self.ascent_cost = 2.5 * _EPOCHS * n_active * 2 * J + n * J + 3e5
        self.newton_cost = 0.2 * min(n_active, J) * J * J + 2 * n * J + 1e6

    def descent_pays(self, gap: float) -> bool:
        """Compare what is left by the last block's rate with a typical number of Newton steps."""
        if not np.isfinite(self.before):
            return True
        rate = gap / self.before
        if rate >= 0.99 or gap < _ASCENT_LIMIT:
            return False
        decades = np.log10(gap / self.tol)
        blocks = decades / -np.log10(rate)
        return blocks * self.ascent_cost < (4.0 + 4.0 * decades) * self.newton_cost


@njit(cache=True)
def _movable(u, margins, upper, out):
    """Indices of rows that are free or violate their side; return their number."""
    count = 0
    for i in range(len(u)):
        if (u[i] > 0.0 or margins[i] < 1.0) and (u[i] < upper[i] or margins[i] > 1.0):
            out[count] = i
            count += 1
    return count


@njit(cache=True)
def _hinge_sum(margins, upper):
    total = 0.0
    for i in range(len(margins)):
        total += upper[i] * max(0.0, 1.0 - margins[i])
    return total


@njit(cache=True, fastmath=FAST)
def _pull(margins, along, upper, t):
    """Sum of upper * along over the rows whose margin at step t is below 1."""
    total = 0.0
    for i in range(len(margins)):
        total += upper[i] * along[i] if margins[i] + t * along[i] < 1.0 else 0.0
    return total


@njit(cache=True)
def _search(margins, along, upper, linear, square):
    """Minimize the primal on [0, 1] along a segment, by bisecting its increasing slope."""
    if linear + square <= _pull(margins, along, upper, 1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(11):
        t = 0.5 * (low + high)
        if linear + t * square > _pull(margins, along, upper, t):
            high = t
        else:
            low = t
    return low
