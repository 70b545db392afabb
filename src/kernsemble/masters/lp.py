r"""The l1-regularized hinge, LPBoost's linear program, on HiGHS: (4) and (5) of shen2014, (4) and (5) of
bi2004.

::

    Primal:  min_{w,b}  sum_j |w_j| [+ |b|]  +  sum_i c_i max(0, 1 - y_i (H_i w + b)),  c_i = C s_i   [w >= 0]
    Dual:    max_u  sum_i u_i,   0 <= u_i <= c_i,   sum_i u_i y_i H_ij <= 1   [|.| <= 1 if w is free, y'u = 0]

The intercept is absent, "penalized" (``|y'u| <= 1``) or "free" (y'u = 0).

Three ways to solve it, for the comparison of shen2014's figure 2:

- "dual-simplex" keeps the dual (5) as a live model: a new column is a new row, which leaves the basis dual
  feasible. Its basis has one row per column of H, where that of (4) has one per sample. This is the one to
  use.
- "primal-simplex" keeps the primal (4) live: a new column leaves the basis primal feasible.
- "ipm" solves the dual (5) anew each time by an interior point method, as the paper did with Mosek.

Stop: HiGHS's own tolerances. The gap is computed outside of it, at exactly feasible points: w clipped to
its sign, the loss evaluated at w; u clipped to its box, balanced between the classes under a free
intercept, and divided by the largest score if that exceeds the bound.

shen2014 symbols: alpha = u, xi = slacks, Phi(x_i) = rows of H. bi2004: K = H, alpha = w.
"""

from __future__ import annotations

import highspy
import numpy as np

from kernsemble.masters.base import INTERCEPTS, Solution
from kernsemble.masters.columns import SignedColumns, balance

_TOLERANCE = 1e-9
SOLVERS = ("dual-simplex", "primal-simplex", "ipm")


class HingeLP:
    """Master of the l1-regularized hinge loss.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    C : float, default=1.0
        Weight of the sum of losses.
    sample_weight : ndarray of shape (n_samples,), optional
        Factors s_i of C; 1 by default.
    intercept : {"none", "free", "penalized"}, default="none"
        Whether f has an intercept, and whether its absolute value is penalized.
    positive : bool, default=True
        Whether w >= 0, as in the papers; hypotheses are then taken in the polarity of positive score.
    solver : {"dual-simplex", "primal-simplex", "ipm"}, default="dual-simplex"
        How to solve the linear program.
    tol : float, default=1e-6
        Relative duality gap above which a solution counts as not converged.

    References
    ----------
    Demiriz, Bennett and Shawe-Taylor, Linear Programming Boosting via Column Generation, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> master = HingeLP(np.array([-1.0, 1.0]), C=10.0)
    >>> master.add(np.array([-1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> solution.w, solution.objective
    (array([1.]), 1.0)
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        *,
        sample_weight: np.ndarray | None = None,
        intercept: str = "none",
        positive: bool = True,
        solver: str = "dual-simplex",
        tol: float = 1e-6,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        if solver not in SOLVERS:
            raise ValueError(f"solver={solver!r}: use one of {SOLVERS}.")
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.upper = C * (np.ones(len(self.y)) if sample_weight is None else np.asarray(sample_weight, float))
        self.intercept, self.positive, self.solver, self.tol = intercept, positive, solver, tol
        self.columns = SignedColumns(self.y)
        self.solution: Solution | None = None
        self._model = _PrimalModel(self) if solver == "primal-simplex" else _DualModel(self)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64; ``output`` is ignored."""
        self._model.add(self.columns.add(column), -1.0 if not self.positive else -np.inf)

    def threshold(self) -> float:
        """1: the dual bound on the score of every column."""
        return 1.0

    def pricing_weights(self) -> np.ndarray:
        """``u_i y_i``; before the first ``solve`` u = c, the solution over no columns."""
        return self.y * (self.upper if self.solution is None else self.solution.u)

    def full_gap(self, score: float) -> float:
        """Gap of the problem over all hypotheses, the largest of their scores given: u is divided by it."""
        return self.solution.objective - float(self.solution.u.sum()) / max(1.0, score)

    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, from the last basis unless by interior points."""
        w, b, u, n_iter, status = self._model.solve()
        w = np.maximum(w, 0.0) if self.positive else w
        slack = np.maximum(1.0 - self.columns.margins(w) - b * self.y, 0.0)
        cost = abs(b) if self.intercept == "penalized" else 0.0
        objective = float(np.abs(w).sum() + cost + self.upper @ slack)
        u = self._feasible(u)
        gap = objective - float(u.sum())
        converged = bool(gap <= self.tol * objective)
        self.solution = Solution(w, b, u, objective, gap, n_iter, converged, f"HiGHS: {status}")
        return self.solution

    def _feasible(self, u: np.ndarray) -> np.ndarray:
        """Move nearly feasible dual weights into the feasible set."""
        u = np.clip(u, 0.0, self.upper)
        if self.intercept == "free":
            u = balance(u, self.y)
        scores = self.columns.combine(u)
        bounded = [scores if self.positive else np.abs(scores)]
        if self.intercept == "penalized":
            bounded.append(np.abs([self.y @ u]))
        return u / max(1.0, float(np.concatenate(bounded).max(initial=0.0)))


class _DualModel:
    """Problem (5) in u: one row a column of H. The multipliers of the rows are w, that of y'u is b."""

    def __init__(self, master: HingeLP) -> None:
        self.model = _highs({"simplex_strategy": 1})
        if master.solver == "ipm":
            for name, value in {
                "solver": "ipm",
                "run_crossover": "off",
                "ipm_optimality_tolerance": 1e-9,
            }.items():
                self.model.setOptionValue(name, value)
        self.restart = master.solver == "ipm"
        n = len(master.y)
        self.indices = np.arange(n, dtype=np.int32)
        self.model.addVars(n, np.zeros(n), master.upper)
        self.model.changeColsCost(n, self.indices, -np.ones(n))
        self.has_intercept = master.intercept != "none"
        if self.has_intercept:
            bound = 0.0 if master.intercept == "free" else 1.0
            self.model.addRow(-bound, bound, n, self.indices, master.y)

    def add(self, signed: np.ndarray, lower: float) -> None:
        """Bound the score of one more column."""
        self.model.addRow(lower, 1.0, len(signed), self.indices, signed.astype(np.float64))

    def solve(self) -> tuple[np.ndarray, float, np.ndarray, int, str]:
        """Return w, b, u, the number of iterations and the status."""
        if self.restart:
            self.model.clearSolver()
        solution, n_iter, status = _run(self.model)
        multipliers = -np.array(solution.row_dual)
        b = float(multipliers[0]) if self.has_intercept else 0.0
        return multipliers[self.has_intercept :], b, np.array(solution.col_value), n_iter, status


class _PrimalModel:
    """Problem (4) in the slacks, b+ and b-, and w (w+ and w- if free): one row a sample."""

    def __init__(self, master: HingeLP) -> None:
        self.model = _highs({"simplex_strategy": 4})
        n = len(master.y)
        self.rows = np.arange(n, dtype=np.int32)
        self.positive = master.positive
        none = np.empty(0, dtype=np.int32)
        for _ in range(n):
            self.model.addRow(1.0, np.inf, 0, none, np.empty(0))
        for i in range(n):
            self.model.addCol(float(master.upper[i]), 0.0, np.inf, 1, self.rows[i : i + 1], np.ones(1))
        self.n_fixed = n
        if master.intercept != "none":
            cost = 0.0 if master.intercept == "free" else 1.0
            for sign in (1.0, -1.0):
                self.model.addCol(cost, 0.0, np.inf, n, self.rows, sign * master.y)
            self.n_fixed += 2
        self.n_slacks = n

    def add(self, signed: np.ndarray, lower: float) -> None:
        """Append the weight of one more column."""
        for sign in (1.0,) if self.positive else (1.0, -1.0):
            self.model.addCol(1.0, 0.0, np.inf, len(signed), self.rows, sign * signed.astype(np.float64))

    def solve(self) -> tuple[np.ndarray, float, np.ndarray, int, str]:
        """Return w, b, u, the number of iterations and the status."""
        solution, n_iter, status = _run(self.model)
        values = np.array(solution.col_value)
        intercept = values[self.n_slacks : self.n_fixed]
        b = float(intercept[0] - intercept[1]) if len(intercept) else 0.0
        w = values[self.n_fixed :]
        w = w if self.positive else w[0::2] - w[1::2]
        return w, b, np.array(solution.row_dual), n_iter, status


def _highs(options: dict[str, int]) -> highspy.Highs:
    """Return a silent, single-threaded model without presolve (which would drop the basis)."""
    model = highspy.Highs()
    common = {"output_flag": False, "threads": 1, "presolve": "off"}
    tolerances = {"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE}
    for name, value in {**common, **tolerances, **options}.items():
        model.setOptionValue(name, value)
    return model


def _run(model: highspy.Highs):
    """Solve; return HiGHS's solution, its iterations and its status."""
    model.run()
    info = model.getInfo()
    n_iter = max(info.simplex_iteration_count, 0) + max(info.ipm_iteration_count, 0)
    return model.getSolution(), int(n_iter), model.modelStatusToString(model.getModelStatus())
