r"""The l1-regularized hinge and epsilon-insensitive loss, LPBoost's linear programs: (4) and (5) of shen2014
and bi2004, and the l1 form of (13) of bi2004.

::

    Hinge:  min_{w,b}  |w|_1 [+ |b|]  +  sum_i c_i max(0, 1 - y_i (H_i w + b)),  c_i = C s_i         [w >= 0]
            max_u  sum_i u_i,   0 <= u_i <= c_i,   sum_i u_i y_i H_ij <= 1   [|.| <= 1 if w is free, y'u = 0]

    Tube:   min_{w,b}  |w|_1 [+ |b|]  +  sum_i c_i max(0, |y_i - H_i w - b| - epsilon)               [w >= 0]
            max_V  y'V - epsilon |V|_1,   |V_i| <= c_i,   H_j'V <= 1         [|.| <= 1 if w is free, 1'V = 0]

The intercept is absent, "penalized" (``|y'u| <= 1``) or "free" (y'u = 0). Both are sums of hinges, and solved
to a vertex by `sifting`.

Stop: optimality of the vertex. The gap is computed outside of the solver, at exactly feasible points: w
clipped to its sign; the dual weights clipped to their box, balanced under a free intercept, and multiplied by
the best number: one over the largest score if that exceeds its bound, 0 if the dual objective is negative. So
a gap never exceeds the objective. Scores count with the rounding of their sums.

HiGHS solves the hinge for comparison. "dual-simplex" keeps the dual (5) as a live model, with one row per
column of H: a new column leaves the basis dual feasible. "primal-simplex" keeps the primal (4), with one row
per sample: a new column leaves the basis primal feasible. "ipm" solves (5) anew each time by interior points,
as the paper did with Mosek. Stop: HiGHS's own tolerances, 1e-9.

The dual need not have one solution: equal rows can exchange their weights. ``least_norm`` asks for the
solution of least ``sum_i u_i^2 / s_i``, which does not depend on the solver, on the order of the samples, or
on whether a sample is written twice or has weight 2.

shen2014 symbols: alpha = u, xi = slacks, Phi(x_i) = rows of H. bi2004: K = H, alpha = w, u_i - v_i = V_i.
Reference of the tube: Raetsch, Demiriz, Bennett, Sparse regression ensembles in infinite and finite
hypothesis spaces (2002), bi2004's [17].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import highspy
import numpy as np

from kernsemble.masters.base import INTERCEPTS, Solution
from kernsemble.masters.least_norm import independent, least_norm_between
from kernsemble.masters.one_thread import one_thread
from kernsemble.masters.quadratic import costs
from kernsemble.masters.sifting import Outputs, Sifting

SOLVERS = ("sifting", "dual-simplex", "primal-simplex", "ipm")
_TOLERANCE = 1e-9  # of HiGHS
_FACE = 1e-9  # slack, relative to the targets, of a row on its kink
_ROUNDING = 1e-14  # of an objective, relative to that of w = 0
_INSIDE = 1e-9  # share of its bound by which a dual weight is inside its box
_TIGHT = 1e-9  # how near to its bound a score is that is there
_MISSED = 1e-10  # of the objective: what weights of least norm may miss by rounding
_MOST = 60  # bounds held or let go in the search for weights of least norm
_MOST_LOOKS, _LEAST_LOOK = 20, 50  # at all rows for some on the wrong side; how many are let in, at least
_ZERO = 1e-10  # weight, relative to the largest, that counts as none: what rounding left of it


class _Hinges(NamedTuple):
    """Rows of the sum of hinges: sample, sign, target, bound, and s_i."""

    sample: np.ndarray
    sign: np.ndarray
    target: np.ndarray
    upper: np.ndarray
    weight: np.ndarray


class _L1Master:
    """What both losses share: the dual objective ``y'V - epsilon |V|_1``, and V = u times ``signs``."""

    def __init__(
        self,
        hinges: _Hinges,
        y: np.ndarray,
        signs: np.ndarray,
        epsilon: float,
        *,
        intercept: str = "none",
        positive: bool = True,
        tol: float = 1e-6,
        least_norm: bool = False,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        self.hinges, self.intercept, self.positive = hinges, intercept, positive
        self.y, self.signs, self.epsilon = y, signs, epsilon
        self.tol, self.least_norm = tol, least_norm
        n = len(y)
        self.outputs = Outputs(n)
        self.solution: Solution | None = None
        self._sifting = Sifting(self.outputs, *hinges[:4])
        self._first = int(intercept != "none")
        if self._first:
            self.outputs.add(np.ones(n, dtype=np.int8))
            self._sifting.add(float(intercept == "penalized"), positive=False)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64; ``output`` is ignored."""
        self.outputs.add(column)
        self._sifting.add(1.0, self.positive)

    def threshold(self) -> float:
        """1: the dual bound on the score of every column."""
        return 1.0

    def pricing_weights(self) -> np.ndarray:
        """Signed dual weights V; before the first ``solve`` those of the problem without columns."""
        return self.signs * (self.solution or self.solve()).u

    def full_gap(self, score: float) -> float:
        """Gap of the problem over all hypotheses, the largest of their scores given: u is divided by it."""
        return self.solution.objective - self.solution.dual_objective / max(1.0, score)

    @one_thread
    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, from the last vertex."""
        theta, u, n_iter, message = self._minimize()
        if self.positive:
            theta[self._first :] = np.maximum(theta[self._first :], 0.0)
        slack = self._slack(theta)
        if self.least_norm:
            u = self._least_norm(theta, slack, u)
            moved = self._least_norm_weights(theta, u)
            if self._objective(moved) <= (1.0 + _MISSED) * self._objective(theta):
                theta = moved
        theta = self._without_specks(theta)
        objective = self._objective(theta)
        V, dual = self._feasible(u)
        b = float(theta[0]) if self._first else 0.0
        gap = objective - dual
        loss_at_zero = float(self.hinges.upper @ np.maximum(self.hinges.target, 0.0))
        converged = bool(gap <= max(self.tol * objective, _ROUNDING * loss_at_zero))
        self.solution = Solution(
            theta[self._first :], b, self.signs * V, objective, gap, n_iter, converged, message
        )
        return self.solution

    def _minimize(self) -> tuple[np.ndarray, np.ndarray, int, str]:
        """Return (b, w), the dual weights of the hinges, the number of pivots and the status."""
        theta, u, n_iter, optimal = self._sifting.solve()
        return theta, u, n_iter, "" if optimal else "No optimal vertex: rounding; scale the problem, or C."

    @property
    def _costs(self) -> np.ndarray:
        costs = np.ones(self.outputs.n_columns)
        costs[: self._first] = float(self.intercept == "penalized")
        return costs

    def _values(self, theta: np.ndarray) -> np.ndarray:
        return self.outputs.values(theta * self.outputs.scale)

    def _objective(self, theta: np.ndarray) -> float:
        losses = self.hinges.upper @ np.maximum(self._slack(theta), 0.0)
        return float(self._costs @ np.abs(theta) + losses)

    def _has_weight(self, theta: np.ndarray) -> np.ndarray:
        scaled = np.abs(theta * self.outputs.scale)
        return scaled > _ZERO * scaled.max(initial=0.0)

    def _without_specks(self, theta: np.ndarray) -> np.ndarray:
        """Set weights to exactly zero that are none, where the objective agrees."""
        kept = np.where(self._has_weight(theta), theta, 0.0)
        return kept if self._objective(kept) <= (1.0 + _MISSED) * self._objective(theta) else theta

    def _slack(self, theta: np.ndarray) -> np.ndarray:
        """``t - s H theta`` of the hinges."""
        return self.hinges.target - self.hinges.sign * self._values(theta)[self.hinges.sample]

    def _feasible(self, u: np.ndarray) -> tuple[np.ndarray, float]:
        """Move nearly feasible dual weights into the feasible set: signed weights, dual objective."""
        hinges = self.hinges
        V = np.bincount(hinges.sample, hinges.sign * np.clip(u, 0.0, hinges.upper), self.outputs.n_samples)
        if self.intercept == "free":
            V = _balanced(V)
        scores = self.outputs.scores(V) * self.outputs.scale
        rounding = np.finfo(float).eps * float(np.abs(V).sum()) * self.outputs.scale
        signed = self._costs > 0 if self.positive else np.zeros(len(scores), dtype=bool)
        signed[: self._first] = False
        bounded = np.where(signed, scores, np.abs(scores))[self._costs > 0]
        largest = float((bounded + rounding[self._costs > 0]).max(initial=0.0))
        gain = float(self.y @ V - self.epsilon * np.abs(V).sum())
        V = V / max(1.0, largest) if gain > 0.0 else np.zeros_like(V)
        return V, max(0.0, gain / max(1.0, largest))

    def _least_norm(self, theta: np.ndarray, slack: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the solution of least norm with the rows off their kinks at their bounds."""
        hinges = self.hinges
        face = np.abs(slack) <= _FACE * float(np.abs(hinges.target).max())
        face = np.flatnonzero(face & (hinges.upper > 0))
        held = self._has_weight(theta) | (self._costs == 0)
        A = self.outputs.select(hinges.sample[face]) * hinges.sign[face, None]
        u = np.clip(u, 0.0, hinges.upper)
        rest = u.copy()
        rest[face] = 0.0
        scores = self.outputs.scores(np.bincount(hinges.sample, hinges.sign * rest, self.outputs.n_samples))
        high = self._costs / self.outputs.scale - scores
        low = -self._costs / self.outputs.scale - scores
        if self.positive:
            low[self._first :] = -np.inf
        # c_i = C s_i: equal rows are one of the sum of their weights, of which each takes its share.
        first, group = _distinct(A)
        together, upper, weight = (
            np.bincount(group, part[face], len(first)) for part in (u, hinges.upper, hinges.weight)
        )
        found = least_norm_between(A[first].astype(np.float64), together, upper, weight, held, low, high)
        u[face] = found[group] * (hinges.weight[face] / weight[group])
        return u

    def _least_norm_weights(self, theta: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the weights of least norm among those that are optimal beside these dual weights.

        Columns whose score is at its bound may have a weight; rows inside their box stay on their kinks, the
        others on their sides. Where that leaves one solution, or the search goes in circles, it is the one
        that was found.
        """
        hinges, scale = self.hinges, self.outputs.scale
        column, side = self._sides(u)
        inside = (u > _INSIDE * hinges.upper) & (u < (1.0 - _INSIDE) * hinges.upper)
        idle = u <= _INSIDE * hinges.upper
        rows, known, n_free = np.flatnonzero(inside), inside.copy(), int(np.sum(self._costs == 0))
        found = np.maximum(side * (theta * scale)[column], 0.0)
        rows, A = self._distinct_rows(rows, inside, idle, column, side)
        if not len(rows) or independent(A[:, : len(column) - n_free].T):
            return theta
        tol = _FACE * float(np.abs(hinges.target).max())
        limit = np.full(len(column), 2.0 * float(np.abs(theta * scale).sum() + np.abs(hinges.target).max()))
        for _ in range(_MOST_LOOKS):
            held, above = inside[rows], idle[rows]
            low = np.where(above, hinges.target[rows], -np.inf)
            high = np.where(above, np.inf, hinges.target[rows])
            ones, target = np.ones(len(column)), hinges.target[rows]
            v = least_norm_between(A.T, found, limit, ones, held, low, high, target=target, most=_MOST)
            moved = np.bincount(column, side * v, len(theta)) / scale
            slack = self._slack(moved)
            wrong = np.where(idle, slack, -slack) * ~known
            if wrong.max(initial=0.0) <= tol:
                return moved
            worst = np.argsort(-wrong, kind="stable")[: max(_LEAST_LOOK, len(column))]
            worst = worst[wrong[worst] > tol]
            known[worst] = True
            rows, A = self._distinct_rows(np.append(rows, worst), inside, idle, column, side)
        return theta

    def _sides(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns that may have a weight, and its sign; those without a cost last, once for either sign."""
        V = np.bincount(self.hinges.sample, self.hinges.sign * u, self.outputs.n_samples)
        scores, costs = self.outputs.scores(V) * self.outputs.scale, self._costs
        at_bound = (np.abs(scores) >= costs - _TIGHT) & (costs > 0)
        if self.positive:
            at_bound[self._first :] &= scores[self._first :] > 0.0
        column, free = np.flatnonzero(at_bound), np.flatnonzero(costs == 0)
        side = np.concatenate([np.sign(scores[column]), np.ones(len(free)), -np.ones(len(free))])
        return np.concatenate([column, free, free]), side

    def _distinct_rows(self, rows, inside, idle, column, side) -> tuple[np.ndarray, np.ndarray]:
        """Return the first of rows that ask the same of the weights of these columns, and what each asks."""
        H = self.outputs.select(self.hinges.sample[rows])[:, column].astype(np.float64)
        A = H * self.hinges.sign[rows, None] * side
        first, _ = _distinct(np.column_stack([A, self.hinges.target[rows], inside[rows], idle[rows]]))
        return rows[first], A[first]


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the first of each set of equal rows, in their order, and the set of each row."""
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], dtype=np.intp)
    return np.unique(group, return_index=True)[1], group


def _balanced(V: np.ndarray) -> np.ndarray:
    """Scale down the heavier sign until the sum is 0."""
    up, down = float(np.maximum(V, 0.0).sum()), float(np.maximum(-V, 0.0).sum())
    if up == down:
        return V
    return V * np.where((V > 0.0) == (up > down), min(up, down) / max(up, down), 1.0)


class HingeLP(_L1Master):
    """Master of the l1-regularized hinge loss.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    C : float, default=1.0
        Weight of the sum of losses.
    sample_weight : ndarray of shape (n_samples,), optional
        Factors s_i of C; 1 by default.
    solver : {"sifting", "dual-simplex", "primal-simplex", "ipm"}, default="sifting"
        How to solve the linear program: by our own simplex, or by HiGHS.
    intercept : {"none", "free", "penalized"}, default="none"
        Whether f has an intercept, and whether its absolute value is penalized.
    positive : bool, default=True
        Whether w >= 0, as in the papers; hypotheses are then taken in the polarity of positive score.
    tol : float, default=1e-6
        Relative duality gap above which a solution counts as not converged.
    least_norm : bool, default=False
        Whether to return the dual solution of least weighted norm, and beside it the weights of least norm.

    References
    ----------
    Demiriz, Bennett and Shawe-Taylor, Linear Programming Boosting via Column Generation, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> master = HingeLP(np.array([-1.0, 1.0]), C=10.0)
    >>> master.add(np.array([-1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> solution.w, round(solution.objective, 9)
    (array([1.]), 1.0)
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        *,
        sample_weight: np.ndarray | None = None,
        solver: str = "sifting",
        **options: Any,
    ) -> None:
        if solver not in SOLVERS:
            raise ValueError(f"solver={solver!r}: use one of {SOLVERS}.")
        y, weight = np.ascontiguousarray(y, dtype=np.float64), costs(len(y), 1.0, sample_weight)
        n = len(y)
        super().__init__(_Hinges(np.arange(n), y, np.ones(n), C * weight, weight), y, y, 0.0, **options)
        self._model: _DualModel | _PrimalModel | None = None
        if solver != "sifting":
            kind = _PrimalModel if solver == "primal-simplex" else _DualModel
            self._model = kind(y, self.hinges.upper, self.intercept, self.positive, solver)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64; ``output`` is ignored."""
        super().add(column)
        if self._model is not None:
            self._model.add(np.asarray(column, dtype=np.float64))

    def pricing_weights(self) -> np.ndarray:
        """``u_i y_i``; before the first ``solve`` u = c, the solution over no columns."""
        return self.y * (self.hinges.upper if self.solution is None else self.solution.u)

    def _minimize(self) -> tuple[np.ndarray, np.ndarray, int, str]:
        return super()._minimize() if self._model is None else self._model.solve()


class EpsilonInsensitiveLP(_L1Master):
    """Master of the l1-regularized epsilon-insensitive loss.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    epsilon : float, default=0.1
        Half width of the tube.
    C, sample_weight, **options
        As in `HingeLP`; ``positive`` is False by default.

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
        positive: bool = False,
        **options: Any,
    ) -> None:
        y, weight = np.ascontiguousarray(y, dtype=np.float64), costs(len(y), 1.0, sample_weight)
        n = len(y)
        hinges = _Hinges(
            np.tile(np.arange(n), 2),
            np.repeat([1.0, -1.0], n),
            np.append(y - epsilon, -y - epsilon),
            np.tile(C * weight, 2),
            np.tile(weight, 2),
        )
        super().__init__(hinges, y, np.ones(n), float(epsilon), positive=positive, **options)


class _DualModel:
    """Problem (5) in u: one row a column of H. The multipliers of the rows are w, that of y'u is b."""

    def __init__(self, y: np.ndarray, upper: np.ndarray, intercept: str, positive: bool, solver: str) -> None:
        restart = solver == "ipm"
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

    def solve(self) -> tuple[np.ndarray, np.ndarray, int, str]:
        """Return (b, w), u, the number of iterations and the status."""
        if self.restart:
            self.model.clearSolver()
        solution, n_iter, status = _run(self.model)
        return -np.array(solution.row_dual), np.array(solution.col_value), n_iter, status


class _PrimalModel:
    """Problem (4) in the slacks, b+ and b-, and w (w+ and w- if free): one row a sample."""

    def __init__(self, y: np.ndarray, upper: np.ndarray, intercept: str, positive: bool, solver: str) -> None:
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

    def solve(self) -> tuple[np.ndarray, np.ndarray, int, str]:
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
