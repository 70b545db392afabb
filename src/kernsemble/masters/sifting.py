r"""Sums of hinges under an l1 norm, solved to a vertex: a dual simplex on the rows near their kinks.

::

    min_w  sum_j p_j |w_j|  +  sum_r c_r max(0, t_r - s_r H_i(r) w)            [w_j >= 0 where positive]

A row r is a sample i(r), a sign s_r, a target t_r and a bound c_r. The hinge has one row a sample (s = y,
t = 1); the tube of regression has two (s = +-1, t = +-y - epsilon).

Sifting. There are many rows and few columns, and at the optimum as many rows lie on their kinks as columns
have a weight. A re-solve after one more column moves the others little, so only the rows whose slack
|t - s H w| is small can change sides. The dual simplex (`dense_simplex`) sees these alone, a few for each
column, the rest being held at their bounds; a pass over all rows then finds those that did change sides: they
change them, and join. When none is left, the vertex is optimal for all rows.

Cost of a solve over n rows and J columns, m of the rows near, k columns with a weight: about k pivots of
m J + 4 k^2 multiplications, and two passes of n J additions. A sparse simplex pays n J for each pivot; an
interior point method n J^2 / 2 for each of some 20 steps.

The inverse lives on from round to round; it is made anew when a row on its kink is seen to be off it.
"""

from __future__ import annotations

import numpy as np

from kernsemble.masters.dense_simplex import (
    ABOVE,
    BELOW,
    DRIFTED,
    OPTIMAL,
    UNBOUNDED,
    Problem,
    Vertex,
    minimize,
)
from kernsemble.masters.rows import PackedRows, Rows, check_column

_NEAR, _LEAST_NEAR = 3, 300  # rows let in for each column, and at least; and a tenth of all
_TOL = 1e-10  # slack, relative to the largest target, at which a row is on its kink
_DRIFT = 1e-9  # the same, beyond which the inverse is made anew
_STALE = 1e-12  # error of a score, relative to its bound, from which on `held` is summed anew
_SINGULAR = 1e-6  # error of an inverse of no use
_MOST_PASSES = 100
_PIVOTS = 200  # for each column: most pivots of one solve


class Outputs:
    """Outputs of the columns at all samples: one bit an entry while all are -1 or +1, otherwise float64.

    Columns that are not of -1 and +1 are divided by a power of two, ``scale``, so that their largest entry is
    between 1 and 2: weights and scores are those of the scaled columns.
    """

    def __init__(self, n_samples: int) -> None:
        self._rows: Rows = PackedRows(n_samples)
        self.n_samples, self.scale = n_samples, np.ones(0)

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.scale)

    def add(self, column: np.ndarray) -> None:
        """Append a column (n_samples,)."""
        column = check_column(column, self.n_samples)
        largest = float(np.abs(column.astype(np.float64, copy=False)).max(initial=0.0))
        signs = bool((np.abs(column) == 1).all())
        if isinstance(self._rows, PackedRows) and not signs:
            self._unpack()
        scale = 1.0 if signs or largest == 0.0 else 2.0 ** np.floor(np.log2(largest))
        self.scale = np.append(self.scale, scale)
        self._rows.add(column if signs else column / scale)

    def _unpack(self) -> None:
        packed, self._rows = self._rows, Rows(self.n_samples)
        for j in range(self.n_columns):
            self._rows.add(packed.column(j))

    def values(self, w: np.ndarray) -> np.ndarray:
        """``H w``, (n_samples,)."""
        return self._rows.scores(w)

    def scores(self, V: np.ndarray) -> np.ndarray:
        """``H'V``, (n_columns,)."""
        return self._rows.combine(V)

    def column(self, j: int) -> np.ndarray:
        """Outputs of one column, (n_samples,)."""
        return self._rows.column(j)

    def select(self, samples: np.ndarray) -> np.ndarray:
        """Outputs at some samples, int8 or float64, one row a sample; a new array."""
        return self._rows.take(samples).data


class Sifting:
    """A growing sum of hinges: i(r), s_r, t_r, c_r >= 0 of its rows; its columns come to ``outputs``."""

    def __init__(
        self, outputs: Outputs, sample: np.ndarray, sign: np.ndarray, target: np.ndarray, upper: np.ndarray
    ) -> None:
        self.outputs, self.sample, self.row_sign = outputs, sample, sign
        self.target, self.upper = target, upper
        self.unit = float(np.abs(target).max(initial=0.0))
        self.cost, self.positive = np.ones(0), np.ones(0, dtype=bool)
        self.weights, self.sign, self.held = np.zeros(0), np.ones(0), np.zeros(0)
        self.rows, self.columns, self.inverse = _no_basis(16)
        self.size = np.zeros(1, dtype=np.int64)
        self._start()

    def _start(self) -> None:
        """Begin at w = 0, a vertex of no rows and no columns."""
        self.weights[:], self.sign[:], self.size[0] = 0.0, 1.0, 0
        self.slack = self.target.copy()
        self.side = np.where(self.target > 0, BELOW, ABOVE).astype(np.int8)
        self._hold()

    def _hold(self) -> None:
        """Compute the scores that the rows below their targets give."""
        self.held = self.outputs.scores(self._signed(self._bound()))[: len(self.weights)]

    def _hold_new(self) -> None:
        """The same for columns that came since."""
        new = np.arange(len(self.held), len(self.weights))
        if len(new):
            V = self._signed(self._bound())
            self.held = np.append(self.held, [V @ self.outputs.column(j) for j in new])

    def add(self, cost: float, positive: bool) -> None:
        """Take in the last column of ``outputs``, of cost p_j for its unscaled weight."""
        self.cost = np.append(self.cost, cost / self.outputs.scale[-1])
        self.positive = np.append(self.positive, positive)
        self.weights, self.sign = np.append(self.weights, 0.0), np.append(self.sign, 1.0)
        if len(self.weights) >= len(self.rows):
            rows, columns, inverse = self.rows, self.columns, self.inverse
            self.rows, self.columns, self.inverse = _no_basis(len(rows) + len(rows) // 2)
            self.rows[: len(rows)], self.columns[: len(rows)] = rows, columns
            self.inverse[: len(rows), : len(rows)] = inverse

    def solve(self) -> tuple[np.ndarray, np.ndarray, int, bool]:
        """Return w of the unscaled columns, u of the rows, the pivots, and whether they are optimal."""
        n_pivots, optimal = 0, False
        self._hold_new()
        n_near = max(_LEAST_NEAR, _NEAR * len(self.weights), len(self.target) // 10)
        near = self._nearest(n_near)
        limit = _PIVOTS * (len(self.weights) + 10)
        for _ in range(_MOST_PASSES):
            if n_pivots >= limit:
                break
            new, how = self._pivot(near, limit - n_pivots)
            n_pivots += new
            if how == DRIFTED:
                self._factor()
            moved = self._refresh()
            if how == OPTIMAL and not moved.any():
                optimal = True
                break
            if how == UNBOUNDED:
                n_near *= 2
                near |= self._nearest(n_near)
            near |= moved
        return self.weights / self.outputs.scale, self._duals(), n_pivots, optimal

    def _nearest(self, count: int) -> np.ndarray:
        """Which rows have the smallest slacks: at least ``count`` of them, and all ties."""
        distance = np.where(self.upper > 0, np.abs(self.slack), np.inf)
        reach = np.partition(distance, count)[count] if count < len(distance) else np.inf
        return (distance <= reach) & (self.upper > 0)

    def _pivot(self, working: np.ndarray, limit: int) -> tuple[int, int]:
        """Run the simplex on these rows; return the number of pivots and how it ended."""
        J, k = len(self.weights), int(self.size[0])
        working[self.rows[:k]] = True
        near = np.flatnonzero(working)
        A = self.outputs.select(self.sample[near])
        A *= self.row_sign[near, None].astype(A.dtype)
        rows, place, shifted = np.zeros_like(self.rows), np.full(J, -1), np.zeros(1, dtype=bool)
        rows[:k] = np.searchsorted(near, self.rows[:k])
        place[self.columns[:k]] = np.arange(k)
        problem = Problem(A, self.upper[near], self.cost, self.positive, self._noise(), self.unit)
        vertex = Vertex(
            self.slack[near], self.side[near], self.weights, self.sign, self.held, place, rows, self.columns,
            self.inverse, self.size, shifted,
        )  # fmt: skip
        n_pivots, how = minimize(problem, vertex, limit)
        k = int(self.size[0])
        self.side[near], self.rows[:k] = vertex.side, near[rows[:k]]
        if shifted[0]:
            self._place()
        return n_pivots, how

    def _refresh(self) -> np.ndarray:
        """Compute all slacks; rows found on the wrong side change it. Return which."""
        self._measure()
        F = self.rows[: self.size[0]]
        if np.abs(self.slack[F]).max(initial=0.0) > _DRIFT * self.unit:
            self._factor()
            self._measure()
            F = self.rows[: self.size[0]]
        self.slack[F] = 0.0
        wrong = np.where(self.side == BELOW, -self.slack, self.slack) > _TOL * self.unit
        wrong &= self.upper > 0
        if wrong.any():
            self.side[wrong] = np.where(self.side[wrong] == BELOW, ABOVE, BELOW)
            self._hold()
        return wrong

    def _measure(self) -> None:
        self.slack = self.target - self.row_sign * self.outputs.values(self.weights)[self.sample]

    def _factor(self) -> None:
        """Make the inverse and the weights anew from F and S."""
        k = int(self.size[0])
        F, S = self.rows[:k], self.columns[:k]
        B = self.outputs.select(self.sample[F])[:, S] * self.row_sign[F, None]
        inverse = _inverse(B.astype(np.float64))
        if inverse is None:
            self._start()
            return
        self.inverse[:k, :k] = inverse
        self._place()

    def _place(self) -> None:
        """Compute the weights from F and S."""
        k = int(self.size[0])
        F, S = self.rows[:k], self.columns[:k]
        w = self.inverse[:k, :k] @ self.target[F]
        self.weights[:] = 0.0
        self.weights[S] = np.where(w * self.sign[S] > 0, w, 0.0)

    def _duals(self) -> np.ndarray:
        """Dual weights of all rows, with one step of iterative refinement."""
        k = int(self.size[0])
        F, S, inverse = self.rows[:k], self.columns[:k], self.inverse[:k, :k]
        u = self._bound()
        u[F] = (self.cost[S] * self.sign[S] - self.held[S]) @ inverse
        missing = self.cost[S] * self.sign[S] - self.outputs.scores(self._signed(u))[S]
        u[F] += missing @ inverse
        if np.abs(missing / np.where(self.cost[S] > 0, self.cost[S], 1.0)).max(initial=0.0) > _STALE:
            self._hold()
        return u

    def _bound(self) -> np.ndarray:
        return np.where(self.side == BELOW, self.upper, 0.0)

    def _signed(self, u: np.ndarray) -> np.ndarray:
        """Dual weights of the samples that those of the rows amount to."""
        return np.bincount(self.sample, self.row_sign * u, self.outputs.n_samples)

    def _noise(self) -> float:
        return 4.0 * np.finfo(float).eps * float(self._bound().sum())


def _inverse(B: np.ndarray) -> np.ndarray | None:
    """Inverse of a matrix; None if it has no accurate one."""
    try:
        inverse = np.linalg.inv(B)
    except np.linalg.LinAlgError:
        return None
    return inverse if np.abs(B @ inverse - np.eye(len(B))).max(initial=0.0) < _SINGULAR else None


def _no_basis(room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64), np.zeros((room, room))
