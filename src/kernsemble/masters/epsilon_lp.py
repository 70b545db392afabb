r"""Regression with the epsilon-insensitive loss and an l1 norm, as a linear program on a live HiGHS model.

::

    Primal:  min_{w,b}  |w|_1 + sum_i c_i max(0, |y_i - H_i w - b| - epsilon),      c_i = C s_i   [w >= 0]
    Dual:    max_V  y'V - epsilon |V|_1,  |H_j'V| <= 1  [H_j'V <= 1],  |V_i| <= c_i   [1'V = 0 with a free b]

The model is the dual one, with V = V+ - V-: a new column of the master is one new row, the optimal basis
stays dual feasible, and the dual simplex goes on from it; its basis matrix has the size of the number of
columns, not of samples. w and b are the multipliers of the rows.

Stop: HiGHS' optimum; the gap is computed here, from w, b and a V scaled into its domain.

Reference: Raetsch, Demiriz, Bennett, Sparse regression ensembles in infinite and finite hypothesis spaces
(2002), bi2004's [17].  bi2004 symbols: alpha = w, K_ij = H_ij, u_i - v_i = V_i = ``Solution.u``.
"""

from __future__ import annotations

import highspy
import numpy as np

from kernsemble.masters.base import INTERCEPTS, Solution
from kernsemble.masters.losses import BoxLoss

_TOLERANCE = 1e-9  # HiGHS' feasibility tolerances


class EpsilonInsensitiveLP:
    """The epsilon-insensitive loss under an l1 norm.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    C : float, default=1.0
        Weight of the sum of losses.
    epsilon : float, default=0.1
        Half width of the tube.
    sample_weight : ndarray of shape (n_samples,), optional
        Multiplies the losses.
    intercept : {"none", "free", "penalized"}, default="none"
        Intercept: absent, without cost, or with cost ``|b|`` like a weight.
    positive : bool, default=False
        Whether weights of columns must not be negative.
    tol : float, default=1e-6
        Relative duality gap up to which a solution counts as converged.

    Examples
    --------
    >>> import numpy as np
    >>> master = EpsilonInsensitiveLP(np.array([0.0, 1.0, 2.0]), C=10.0, epsilon=0.5, intercept="free")
    >>> master.add(np.array([-1.0, 0.0, 1.0]))
    >>> solution = master.solve()
    >>> float(solution.w[0]), solution.b
    (0.5, 1.0)
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        epsilon: float = 0.1,
        *,
        sample_weight: np.ndarray | None = None,
        intercept: str = "none",
        positive: bool = False,
        tol: float = 1e-6,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        y = np.ascontiguousarray(y, dtype=np.float64)
        weight = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.loss = BoxLoss.tube(y, np.full(len(y), C * weight), epsilon)
        self.intercept, self.positive, self.tol = intercept, positive, tol
        self._columns: list[np.ndarray] = []
        self._indices = np.arange(2 * len(y), dtype=np.int32)
        self._model = self._empty_model()
        self.solution: Solution | None = None
        if intercept != "none":
            bound = 0.0 if intercept == "free" else 1.0
            self._add_row(np.ones(len(y)), -bound, bound)

    def add(self, column: np.ndarray) -> None:
        """Append one column of hypothesis outputs (n_samples,)."""
        column = np.asarray(column, dtype=np.float64)
        if column.shape != self.loss.target.shape:
            raise ValueError(
                f"column has shape {column.shape}, the problem has {len(self.loss.target)} samples."
            )
        self._columns.append(column)
        self._add_row(column, -highspy.kHighsInf if self.positive else -1.0, 1.0)

    def threshold(self) -> float:
        """1: the dual bound on the score of every column."""
        return 1.0

    def pricing_weights(self) -> np.ndarray:
        """Signed weights V; before the first ``solve`` those of the model without columns."""
        return (self.solution or self.solve()).u

    def full_gap(self, score: float) -> float:
        """Gap of the problem over all hypotheses, the largest of their scores given: V is divided by it."""
        gain = self.solution.objective - self.solution.gap
        return self.solution.objective - gain / max(1.0, score)

    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, from the last basis."""
        model = self._model
        model.run()
        found = model.getSolution()
        V = np.array(found.col_value).reshape(2, -1)
        multipliers = -np.array(found.row_dual)
        first = int(self.intercept != "none")
        b = float(multipliers[0]) if first else 0.0
        w = np.maximum(multipliers[first:], 0.0) if self.positive else multipliers[first:]
        status = model.modelStatusToString(model.getModelStatus())
        if len(w) < len(self._columns):
            raise ValueError(f"HiGHS refused the columns ({status}): scale the features, then fit again.")
        self.solution = self._certify(w, b, V[0] - V[1], int(model.getInfo().simplex_iteration_count), status)
        return self.solution

    def _empty_model(self) -> highspy.Highs:
        """LP in (V+, V-), to be minimized, without rows."""
        model = highspy.Highs()
        for name, value in {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "simplex_strategy": 1,  # dual simplex
            "primal_feasibility_tolerance": _TOLERANCE,
            "dual_feasibility_tolerance": _TOLERANCE,
        }.items():
            model.setOptionValue(name, value)
        loss, size = self.loss, len(self._indices)
        model.addVars(size, np.zeros(size), np.tile(loss.upper, 2))
        cost = np.append(loss.epsilon - loss.target, loss.epsilon + loss.target)
        model.changeColsCost(size, self._indices, cost)
        return model

    def _add_row(self, column: np.ndarray, lower: float, upper: float) -> None:
        self._model.addRow(lower, upper, len(self._indices), self._indices, np.append(column, -column))

    def _certify(self, w: np.ndarray, b: float, V: np.ndarray, n_iter: int, status: str) -> Solution:
        """Objective at (w, b), and dual objective at V scaled into its domain."""
        V = np.clip(V, self.loss.lower, self.loss.upper)
        f, scores = np.full(len(V), b), []
        for column, weight in zip(self._columns, w, strict=True):
            scores.append(float(column @ V))
            if weight != 0.0:
                f += weight * column
        total = float(V.sum())
        cost = abs(b) if self.intercept == "penalized" else 0.0
        objective = float(np.abs(w).sum()) + cost + self.loss.value(f)
        worst = max(scores, default=0.0) if self.positive else max(np.abs(scores), default=0.0)
        worst = max(worst, abs(total)) if self.intercept == "penalized" else worst
        missed = abs(total * b) if self.intercept == "free" else 0.0
        V = V / max(1.0, worst)
        gap = objective - self.loss.gain(V) + missed
        converged = gap <= self.tol * max(1.0, abs(objective))
        message = f"HiGHS: {status}"
        return Solution(w, b, V, objective, gap, n_iter, bool(converged), message)
