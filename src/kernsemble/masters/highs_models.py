"""Live HiGHS models of the l1-regularized hinge, for the comparison of shen2014's figure 2, and for tests.

- "dual-simplex" keeps the dual (5) as a live model: a new column is a new row, which leaves the basis dual
  feasible. Its basis has one row per column of H, where that of (4) has one per sample.
- "primal-simplex" keeps the primal (4) live: a new column leaves the basis primal feasible.
- "ipm" solves the dual (5) anew each time by an interior point method, as the paper did with Mosek.

Stop: HiGHS's own tolerances, 1e-9.
"""

from __future__ import annotations

import highspy
import numpy as np

_TOLERANCE = 1e-9
HIGHS_SOLVERS = ("dual-simplex", "primal-simplex", "ipm")
Found = tuple[np.ndarray, np.ndarray, int, str]


def highs_model(y: np.ndarray, upper: np.ndarray, intercept: str, positive: bool, solver: str):
    """Return a model without columns; ``solver`` is one of ``HIGHS_SOLVERS``."""
    if solver == "primal-simplex":
        return _PrimalModel(y, upper, intercept, positive)
    return _DualModel(y, upper, intercept, positive, restart=solver == "ipm")


class _DualModel:
    """Problem (5) in u: one row a column of H. The multipliers of the rows are w, that of y'u is b."""

    def __init__(
        self, y: np.ndarray, upper: np.ndarray, intercept: str, positive: bool, restart: bool
    ) -> None:
        interior = {"solver": "ipm", "run_crossover": "off", "ipm_optimality_tolerance": 1e-9}
        self.model = _highs(interior if restart else {"simplex_strategy": 1})
        self.y, self.restart = y, restart
        self.least = -highspy.kHighsInf if positive else -1.0
        n = len(y)
        self.indices = np.arange(n, dtype=np.int32)
        self.model.addVars(n, np.zeros(n), upper)
        self.model.changeColsCost(n, self.indices, -np.ones(n))
        if intercept != "none":
            bound = 0.0 if intercept == "free" else 1.0
            self.model.addRow(-bound, bound, n, self.indices, y)

    def add(self, column: np.ndarray) -> None:
        """Bound the score of one more column."""
        self.model.addRow(self.least, 1.0, len(self.y), self.indices, column * self.y)

    def solve(self) -> Found:
        """Return (b, w), u, the number of iterations and the status."""
        if self.restart:
            self.model.clearSolver()
        solution, n_iter, status = _run(self.model)
        return -np.array(solution.row_dual), np.array(solution.col_value), n_iter, status


class _PrimalModel:
    """Problem (4) in the slacks, b+ and b-, and w (w+ and w- if free): one row a sample."""

    def __init__(self, y: np.ndarray, upper: np.ndarray, intercept: str, positive: bool) -> None:
        self.model = _highs({"simplex_strategy": 4})
        n = len(y)
        self.y, self.rows, self.positive = y, np.arange(n, dtype=np.int32), positive
        none = np.empty(0, dtype=np.int32)
        for _ in range(n):
            self.model.addRow(1.0, np.inf, 0, none, np.empty(0))
        for i in range(n):
            self.model.addCol(float(upper[i]), 0.0, np.inf, 1, self.rows[i : i + 1], np.ones(1))
        self.n_slacks, self.n_intercepts = n, 0 if intercept == "none" else 2
        if self.n_intercepts:
            cost = 0.0 if intercept == "free" else 1.0
            for sign in (1.0, -1.0):
                self.model.addCol(cost, 0.0, np.inf, n, self.rows, sign * y)

    def add(self, column: np.ndarray) -> None:
        """Append the weight of one more column."""
        for sign in (1.0,) if self.positive else (1.0, -1.0):
            self.model.addCol(1.0, 0.0, np.inf, len(column), self.rows, sign * self.y * column)

    def solve(self) -> Found:
        """Return (b, w), u, the number of iterations and the status."""
        solution, n_iter, status = _run(self.model)
        values = np.array(solution.col_value)[self.n_slacks :]
        b, w = values[: self.n_intercepts], values[self.n_intercepts :]
        w = w if self.positive else w[0::2] - w[1::2]
        return np.append(b[0::2] - b[1::2], w), np.array(solution.row_dual), n_iter, status


def _highs(options: dict[str, int | str | float]) -> highspy.Highs:
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
    return model.getSolution(), int(n_iter), f"HiGHS: {model.modelStatusToString(model.getModelStatus())}"
