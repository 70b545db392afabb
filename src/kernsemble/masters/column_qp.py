r"""Quadratic masters over dense columns: bi2004's (7) with alpha >= 0, (11) with alpha free, and their kin.

::

    Primal (7):   min_{w >= 0, b}  1/2 |w|^2 [+ 1/2 b^2] + sum_i c_i max(0, 1 - y_i (H_i w + b))
    Dual (9):     max_u  sum_i u_i - 1/2 |max(H'(y u), 0)|^2 [- 1/2 (y'u)^2],    0 <= u_i <= c_i   [y'u = 0]

With w free (11) the dual's max(., 0) goes, and w = H'(y u). In general (`box_loss`), with V_i = u_i y_i::

    min_{w, b}  1/2 |w|^2 + sum_i loss_i(H_i w + G_i b) + q'b,
    max_V  t'V - epsilon |V|_1 - 1/2 |[H'V]|^2,    l <= V <= h,    G'V = q

with unpenalized columns G: ones for a free intercept (section 4.1), the margin or the tube of the nu forms.
A penalized intercept is a column of ones among the others, never bounded below.

Stop: primal minus dual objective, both feasible, at most ``tol`` times the objective.

Method: `multipliers`, warm-started; `interior_point` where that has not converged in time. With w free,
linearly dependent columns are compressed (`column_span`).

bi2004 symbols: alpha = w, K_ij = H_ij, C = cost, u_i y_i = V_i.
"""

from __future__ import annotations

import numpy as np

from kernsemble.masters.base import Solution
from kernsemble.masters.box_loss import BoxLoss
from kernsemble.masters.column_span import ColumnBuffer, ColumnSpan
from kernsemble.masters.columns import INTERCEPTS
from kernsemble.masters.interior_point import InteriorPoint
from kernsemble.masters.multipliers import Multipliers, Penalty, dual_ray
from kernsemble.masters.one_thread import one_thread

_FLOOR = 1e-7  # share of a reference value below which the objective counts as zero
_PATIENCE, _INTERIOR_STEPS = 150, 60  # steps of multipliers before the interior point takes over; its steps


class ColumnQP:
    """Quadratic master of any `BoxLoss` over dense, possibly dependent columns.

    Parameters
    ----------
    loss : BoxLoss
        The losses.
    intercept : {"none", "free", "penalized"}, default="none"
        Column of ones: absent, unpenalized, or penalized like the others.
    positive : bool, default=False
        Whether weights of columns must not be negative (the intercept may).
    unpenalized : ndarray of shape (n_samples, n_unpenalized), optional
        Further columns without penalty; their coefficients are ``unpenalized_coef_`` after ``solve``.
    unpenalized_cost : ndarray of shape (n_unpenalized,), optional
        Their linear costs q.
    tol : float, default=1e-8
        Relative duality gap to reach.
    max_iter : int, default=500
        Most Newton steps in one ``solve``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.box_loss import BoxLoss
    >>> y = np.array([1.0, -1.0])
    >>> master = ColumnQP(BoxLoss.hinge(y, np.array([10.0, 10.0])))
    >>> master.add(np.array([2.0, -2.0]))
    >>> master.solve().w
    array([0.5])
    """

    def __init__(
        self,
        loss: BoxLoss,
        *,
        intercept: str = "none",
        positive: bool = False,
        unpenalized: np.ndarray | None = None,
        unpenalized_cost: np.ndarray | None = None,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        self.loss, self.intercept, self.positive = loss, intercept, positive
        self.tol, self.max_iter = tol, max_iter
        n = len(loss.target)
        G = np.empty((n, 0)) if unpenalized is None else unpenalized
        if intercept == "free":
            G = np.column_stack([np.ones(n), G])
        cost = np.zeros(G.shape[1])
        if unpenalized_cost is not None:
            cost[int(intercept == "free") :] = unpenalized_cost
        self._cost = cost
        self._columns = _PlainColumns(G) if positive else ColumnSpan(G)
        self._x = np.zeros(G.shape[1])
        self._V = np.zeros(n)
        self.solution: Solution | None = None
        self.unpenalized_coef_ = np.zeros(G.shape[1])
        if intercept == "penalized":
            self.add(np.ones(n))

    @one_thread
    def add(self, column: np.ndarray) -> None:
        """Append one column of hypothesis outputs (n_samples,)."""
        column = np.asarray(column, dtype=np.float64)
        if column.shape != self._V.shape:
            raise ValueError(f"column has shape {column.shape}, the problem has {len(self._V)} samples.")
        if not np.all(np.isfinite(column)):
            raise ValueError("column holds nan or infinite values; scale the features or the kernel.")
        change = self._columns.add(column)
        g = len(self._cost)
        self._x = np.append(self._x, 0.0) if change is None else np.append(self._x[:g], change @ self._x[g:])

    def threshold(self) -> float:
        """0: under an l2 norm every column with a score belongs to the solution."""
        return 0.0

    def pricing_weights(self) -> np.ndarray:
        """Signed weights V; before the first ``solve`` those of the model without columns."""
        if self.solution is None:
            self.solve()
        return self._V

    @one_thread
    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started."""
        A, scale, penalty = self._columns.matrix, self._residual_scale(), self._penalty()
        ray, least = dual_ray(A, self.loss, penalty)
        floor = 0.0 if least > 0.0 else _FLOOR * self._reference_value()
        found = _Incumbents(self._x, ray if self.solution is None else self._V)
        for phase in (_PATIENCE, self.max_iter):
            method = Multipliers(A, self.loss, penalty, found.x, found.V, scale)
            self._run(method, phase, found, floor)
            if self._is_close(found, floor) or found.n_iter >= self.max_iter:
                break
            self._run(InteriorPoint(A, self.loss, penalty, scale), _INTERIOR_STEPS, found, floor)
        self._x, self._V = found.x, found.V
        if self.positive:
            self._drop_specks(A, penalty, found)
        return self._conclude(found, self._is_close(found, floor))

    def _run(
        self, method: Multipliers | InteriorPoint, n_steps: int, found: _Incumbents, floor: float
    ) -> None:
        """Step until the incumbents are close enough or steps run out."""
        found.offer(method)
        for _ in range(min(n_steps, self.max_iter - found.n_iter)):
            if self._is_close(found, floor):
                return
            method.step()
            found.n_iter += 1
            found.offer(method)

    def _is_close(self, found: _Incumbents, floor: float) -> bool:
        return bool(found.gap <= self.tol * max(abs(found.objective), floor))

    def _reference_value(self) -> float:
        """A value that the objective is measured by where it is close to 0: the loss at 0."""
        return self.loss.value(np.zeros(len(self._V)))

    def _penalty(self) -> Penalty:
        m, g = self._columns.matrix.shape[1], len(self._cost)
        squared = np.arange(m) >= g
        first = g + int(self.intercept == "penalized")
        positive = (np.arange(m) >= first) & self.positive
        return Penalty(squared, positive, np.append(self._cost, np.zeros(m - g)))

    def _residual_scale(self) -> float:
        """Typical size of a residual: 1 for the hinge's targets."""
        return 1.0

    def _drop_specks(self, A: np.ndarray, penalty: Penalty, found: _Incumbents) -> None:
        """Set bounded weights to exactly zero where the dual says so and the objective agrees."""
        x = np.where(penalty.positive & (A.T @ found.V <= 0.0), 0.0, found.x)
        objective = penalty.value(x) + self.loss.value(A @ x)
        if objective <= found.objective + 0.1 * self.tol * abs(found.objective):
            self._x, found.objective = x, objective

    def _conclude(self, found: _Incumbents, converged: bool) -> Solution:
        g = len(self._cost)
        self.unpenalized_coef_ = self._x[:g].copy()
        w = self._columns.weights(self._x[g:])
        b = 0.0
        if self.intercept == "free":
            b = float(self._x[0])
        elif self.intercept == "penalized":
            b, w = float(w[0]), w[1:]
        self.solution = Solution(
            w=w,
            b=b,
            u=self._dual_weights(self._V),
            objective=found.objective,
            gap=found.gap,
            n_iter=found.n_iter,
            converged=converged,
            message="relative gap reached" if converged else "Increase max_iter or tol.",
            gain=np.nan if self._cost.any() else self.loss.gain(self._V),
        )
        return self.solution

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        """Dual weights as the paper writes them: V itself here."""
        return V.copy()


class HingeQP(ColumnQP):
    """Problems (7) and (11): the hinge, weights bounded below or free.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    C : float, default=1.0
        Weight of the sum of losses.
    sample_weight : ndarray of shape (n_samples,), optional
        Multiplies the losses.
    intercept, positive, tol, max_iter
        As in `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = HingeQP(np.array([1.0, 1.0, -1.0]), C=1.0, positive=True)
    >>> master.add(np.array([1.0, 2.0, -1.0]))
    >>> master.add(np.array([-1.0, -1.0, 1.0]))
    >>> master.solve().w
    array([1., 0.])
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        *,
        sample_weight: np.ndarray | None = None,
        intercept: str = "none",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        weight = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        super().__init__(
            BoxLoss.hinge(self.y, np.full(len(self.y), C * weight)),
            intercept=intercept,
            positive=positive,
            tol=tol,
            max_iter=max_iter,
        )

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        """``u_i = V_i y_i``, in [0, c_i]."""
        return V * self.y


class _Incumbents:
    """The best primal and the best dual point seen by any method."""

    def __init__(self, x: np.ndarray, V: np.ndarray) -> None:
        self.x, self.V, self.objective, self.dual_objective, self.n_iter = x, V, np.inf, -np.inf, 0

    @property
    def gap(self) -> float:
        return self.objective - self.dual_objective

    def offer(self, method: Multipliers | InteriorPoint) -> None:
        if method.objective < self.objective:
            self.x, self.objective = method.feasible_x, method.objective
        if method.dual_objective > self.dual_objective:
            self.V, self.dual_objective = method.V, method.dual_objective


class _PlainColumns:
    """Columns as they come: bounds on single weights forbid mixing them."""

    def __init__(self, leading: np.ndarray) -> None:
        self._buffer = ColumnBuffer(len(leading))
        for column in leading.T:
            self._buffer.append(column)

    @property
    def matrix(self) -> np.ndarray:
        return self._buffer.matrix

    @one_thread
    def add(self, column: np.ndarray) -> None:
        self._buffer.append(column)

    def weights(self, z: np.ndarray) -> np.ndarray:
        return z.copy()
