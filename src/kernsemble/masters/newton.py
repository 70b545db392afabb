r"""One proximal Newton method for every loss that is linear or quadratic by pieces, under an l2 norm.

::

    Primal:  min_x  1/2 sum_{j in Q} x_j^2 + q'x + sum_i loss_i((A x)_i),     x_j >= 0 for j in P
    Dual:    max_V  sum_i gain_i(V_i) - 1/2 sum_{j in Q} [(A'V - q)_j]^2,    l <= V <= h,  (A'V)_j = q_j off Q

with losses and gains as in `losses` ([z] is max(z, 0) on P). The columns outside Q are the leading ones of
the matrix, entries 0 and 1: ones for a free intercept, or the two classes (sides) of the nu forms. A bound
x_j >= 0 is one more loss, ``max_{v >= 0} v (0 - x_j)``, whose row is a unit vector.

Proximal step. With centers (a, z) for V and the leading x, and curvatures d and r,

    min_x  1/2 sum_Q x_j^2 + r/2 sum_{off Q} (x_j - z_j)^2 + q'x
           + sum_i max_v { v (t_i - f_i) - epsilon |v| - k_i/2 v^2 - d_i/2 (v - a_i)^2 }

is quadratic by pieces. Newton's matrix is ``D + A_F' diag(1/(k + d)) A_F`` over the samples F whose weight
moves with the score, D = diag(1 or r). It is factored on its smaller side: that of the rows F (`RowGram`) or
of the columns (`ColumnGram`). Each step ends in an exact line search on the piecewise linear slope. When half
the squared gradient, which is what an unsolved inner problem adds to the gap, is small beside it, the centers
move to the multipliers found; d shrinks if that was easy. At a fixed point V solves the dual and x the primal
at any d: nothing is smoothed away. Where k > 0 no proximal term is needed, d = 0, and Newton's method ends
after finitely many steps.

Scales. d_i = delta / s_i with s_i the width of the box relative to the widest (a sample of weight 2 counts
like two), and delta such that scores within a tenth of their scale move weights by their own size. That
follows the weights that are met, not the box: where samples can be separated they are smaller than C by any
factor. A first guess of their size, and a first dual point, is the best multiple of the targets.

First phase. As long as that is estimated to be cheaper, dual coordinate ascent passes over the rows that can
move; both phases feed the same incumbents.

Working set. A sample whose weight is at an end of its box, with a score far from moving it, is settled: its
loss is taken as linear, and Newton's method sees the others only. The result is then judged over all samples.

Stop. Incumbents are the best primal and the best dual point; the primal one moves by exact line search
towards each new point, which certifies several times earlier than the last iterate does. A dual point that
misses its equations is made feasible by shrinking (else by growing) the weights of one side. The method ends
when the difference of their objectives, the gap, is at most ``tol`` times the objective. Scores and
combinations that were added up step by step are computed anew before that is believed, wherever their
rounding could matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.rows import (
    ColumnGram,
    RowGram,
    Rows,
    ascend,
    products_of_columns,
    solve_positive_definite,
)

_BAND = 0.1  # scores within this share of their scale from a kink count as free at first
_INNER_SHARE = 0.3  # of the gap: what the inner problem may miss when the centers move
_SHORT, _LONG = 6, 12  # inner steps below which delta halves, and above which it quadruples
_LEAST_DELTA = 1e-8  # share of the natural delta below which there is nothing to gain but rounding
_UNPENALIZED, _LEAST_UNPENALIZED = 1e-3, 1e-8  # r delta at the start; it falls as delta does, down to this
_SMOOTH_UNPENALIZED = 1e-9  # the same where nothing else is smoothed
_CURVED = 1e-4  # share of the scale of scores that a curved loss spreads the dual weights over
_FIRST_EPOCHS, _EPOCHS = 4, 10  # of coordinate ascent, before the first look at the gap and between two
_ASCENT_LIMIT = 1e-6  # relative gap below which Newton's steps, the last of which is exact, take over
_ASCENT_METRIC = 2.0**-3  # curvature that stands in for a free leading coefficient; exact in binary
_DISTANCE = 0.3  # from a kink, in units of the scale of scores, at which a sample is settled
_TRUSTED = 0.2  # relative gap above which too much is open to settle anything
_FEW = 0.5  # share of the samples above which a working set does not pay
_ACCURACY, _SEGMENT = 1e-2, 1e-3  # of a line search, of Newton's and between two primal points
_EXACT = 1e-7  # the same where Newton's method ends after finitely many steps
_FLOOR = 1e-7  # share of the loss at 0 below which the objective counts as zero
_ROUNDING = 2e-15  # of a sum, relative to its terms
_PATIENCE, _STALLED = 60, 0.99  # steps without a gap smaller by that factor, after which rounding rules
_LAST, _LAST_PATIENCE = 1e-10, 2  # relative gap from which Newton's method, if it is finite, is at its end
_SWING = 1e3  # factor by which changes may exceed what is left before their rounding is undone
_LONGER = 1e-13  # by so much weights are scaled up past the margin, where rounding could undo it


@dataclass
class Part:
    """The problem over some of the samples, the others' losses being linear: part of q, and a constant."""

    rows: Rows
    loss: BoxLoss
    samples: np.ndarray | None  # None: all
    cost: np.ndarray  # q
    constant: float
    bounded: np.ndarray  # P

    def __post_init__(self) -> None:
        self.n_leading = self.rows.n_leading
        self.sharp = self.loss.sharp()

    def scores(self, x: np.ndarray) -> np.ndarray:
        """Scores, and behind them the weights that are bounded."""
        f = self.rows.scores(x)
        return np.append(f, x[self.bounded]) if len(self.bounded) else f

    def combine(self, V: np.ndarray) -> np.ndarray:
        """``A'V``, the multipliers of bounds standing behind those of the samples."""
        n = len(V) - len(self.bounded)
        combined = self.rows.combine(V[:n])
        combined[self.bounded] += V[n:]
        return combined

    def primal(self, x: np.ndarray, f: np.ndarray) -> float:
        """Objective at a feasible x with scores f."""
        w = x[self.n_leading :]
        return 0.5 * float(w @ w) + float(self.cost @ x) + self.constant + self.loss.value(f)

    def dual(self, V: np.ndarray, pull: np.ndarray) -> float:
        """Dual objective at weights that fulfil the equations; pull = A'V - q."""
        w = pull.copy()
        w[self.bounded] = np.maximum(w[self.bounded], 0.0)
        w = w[self.n_leading :]
        return self.loss.gain(V) + self.constant - 0.5 * float(w @ w)

    def repair(self, V: np.ndarray, pull: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Make ``A'V = q`` hold in the leading columns; return V, its pull and its dual objective."""
        if pull[: self.n_leading].any():
            fixed = V.copy()
            for missed, members in zip(pull, self.rows.leading.T, strict=False):
                if not self.loss.lower_sum(fixed, members, float(missed)):
                    return V, pull, -np.inf
            pull = pull - self.rows.combine(V - fixed)
            V = fixed
        return V, pull, self.dual(V, pull)

    def segment(self, x: np.ndarray, f: np.ndarray, step: np.ndarray, along: np.ndarray) -> float:
        """Share of a step at which the objective is least."""
        w, d = x[self.n_leading :], step[self.n_leading :]
        linear = float(w @ d) + float(self.cost @ step)
        return self.sharp.search(f, along, linear, float(d @ d), _SEGMENT)


class Incumbents:
    """The best primal and the best dual point of a part of the problem: best_x, best_f, best_V, best_pull."""

    def __init__(self, part: Part, x: np.ndarray, f: np.ndarray, V: np.ndarray, pull: np.ndarray) -> None:
        self.part = part
        self.best_x, self.best_f, self.objective = x, f, part.primal(x, f)
        self.best_V, self.best_pull, self.dual_objective = part.repair(V, pull)

    @property
    def gap(self) -> float:
        """Between the incumbents."""
        return self.objective - self.dual_objective

    def offer_primal(self, x: np.ndarray, f: np.ndarray) -> None:
        """Move the primal incumbent to the best point between it and x."""
        part = self.part
        if np.any(x[part.bounded] < 0.0):
            x = x.copy()
            x[part.bounded] = np.maximum(x[part.bounded], 0.0)
            f = part.rows.scores(x)
        step, along = x - self.best_x, f - self.best_f
        t = part.segment(self.best_x, self.best_f, step, along)
        self.best_x, self.best_f = self.best_x + t * step, self.best_f + t * along
        self.objective = part.primal(self.best_x, self.best_f)
        nearest = part.loss.nearest(f)
        if 0.0 < nearest < 1.0:  # a slightly longer x has no loss at all
            x, f = x * ((1.0 + _LONGER) / nearest), f * ((1.0 + _LONGER) / nearest)
            if (objective := part.primal(x, f)) < self.objective:
                self.best_x, self.best_f, self.objective = x, f, objective

    def offer_dual(self, V: np.ndarray, pull: np.ndarray) -> None:
        """Take V as dual incumbent if its objective, after repair of the equations, is better."""
        V, pull, dual = self.part.repair(V, pull)
        if dual > self.dual_objective:
            self.best_V, self.best_pull, self.dual_objective = V, pull, dual


class CoordinateAscent(Incumbents):
    """Dual coordinate ascent over the rows that can move: cheap as long as few digits are wanted.

    Free leading coefficients are kept near a center by a curvature, and the center follows them.
    """

    def __init__(self, part: Part, x: np.ndarray, f: np.ndarray, V: np.ndarray, pull: np.ndarray) -> None:
        super().__init__(part, x, f, V, pull)
        g = part.n_leading
        self.V, self.center, self.x = self.best_V.copy(), x[:g].copy(), self.best_pull.copy()
        self.x[:g] = self.center + self.best_pull[:g] / _ASCENT_METRIC
        self.f = part.rows.scores(self.x)
        self.before = np.inf

    def _relative_gap(self) -> float:
        return self.gap / max(abs(self.objective), 1e-9 * self.gap, np.finfo(float).tiny)

    def pays(self, tol: float) -> bool:
        """Compare what is left, by the last block's rate, with a usual number of Newton steps."""
        gap = self._relative_gap()
        if not np.isfinite(self.before):
            return gap > max(tol, _ASCENT_LIMIT)
        rate, n_active = gap / self.before, self.n_active
        if rate >= 0.99 or gap < _ASCENT_LIMIT:
            return False
        (n, m), decades = self.part.rows.shape, max(np.log10(gap / tol), 0.0)
        block = 2.5 * _EPOCHS * n_active * 2 * m + n * m + 3e5
        newton = 0.2 * min(n_active, m) * m * m + 2 * n * m + 1e6
        return decades / -np.log10(rate) * block < (4.0 + 4.0 * decades) * newton

    def step(self) -> None:
        """Pass several times over the rows that are free or violate their side; offer both points."""
        part, g = self.part, self.part.n_leading
        n_epochs = _EPOCHS if np.isfinite(self.before) else _FIRST_EPOCHS
        self.before = self._relative_gap()
        rows = part.loss.movable(self.f, self.V)
        self.n_active = len(rows)
        ascend(
            part.rows.data,
            rows,
            self.V,
            self.x,
            part.loss.target,
            *part.loss.box,
            part.loss.bend,
            g,
            _ASCENT_METRIC,
            n_epochs,
        )
        self.f = part.rows.scores(self.x)
        pull = self.x.copy()
        pull[:g] = _ASCENT_METRIC * (self.x[:g] - self.center)
        self.offer_primal(self.x, self.f)
        self.offer_dual(self.V.copy(), pull)
        self.center, shift = self.x[:g].copy(), pull[:g] / _ASCENT_METRIC
        if g:
            self.x[:g] += shift
            self.f += part.rows.leading @ shift


class ProximalNewton(Incumbents):
    """Newton steps on a part of the problem, from a primal and a dual point.

    ``gram`` holds products of all rows; ``active`` those of columns over free rows, where no proximal term is
    needed. x and f, V (within its box) and pull = A'V - q are the points to start from, ``share`` is s_i, and
    ``scale`` that of scores.
    """

    def __init__(self, part, gram, active, x, f, V, pull, share, scale) -> None:
        super().__init__(part, x, f, V, pull)
        self.gram, self.active, self.share, self.scale = gram, active, share, scale
        self.bounds = np.zeros(len(part.bounded))  # multipliers
        self.all_losses = _with_bounds(part.loss, len(self.bounds))
        self.is_sharp = active is not None and not len(self.bounds)  # no proximal term on any loss
        self.x, self.f = x.copy(), np.append(f, x[part.bounded])
        self.V, self.pull = np.append(V, np.maximum(-pull[part.bounded], 0.0)), pull.copy()
        self.pull[part.bounded] += self.V[len(V) :]
        self.center_V, self.center = self.V, x[: part.n_leading].copy()
        self.delta = self._natural_delta(V)
        self.metric = np.ones(len(x))
        self.metric[: part.n_leading] = (_UNPENALIZED if active is None else _SMOOTH_UNPENALIZED) / self.delta
        self._ratio = _bound_curvatures(part)
        self.inner, self._swing = 0, 0.0
        self._smooth()
        self._evaluate()

    def _natural_delta(self, V: np.ndarray) -> float:
        """Delta at which scores within the band change weights by about their size."""
        largest = float(np.max(np.abs(V) / self.share, initial=0.0)) or self.part.loss.spread()
        return _BAND * self.scale / max(largest, np.finfo(float).tiny)

    def step(self) -> None:
        """Take one Newton step with exact line search, then offer both points."""
        if self.inner > 0 and self._inner_is_solved():
            self._move_centers()
        direction = self._direction()
        along = self.part.scores(direction)
        length = self._line_search(direction, along)
        self.x = self.x + length * direction
        self.f = self.f + length * along
        if length * np.abs(along).max(initial=0.0) > _SWING * np.abs(self.f).max(initial=0.0):
            self.f = self.part.scores(self.x)
        self.inner += 1
        self._evaluate()
        if self.is_sharp:  # the line search was the objective's own
            self.best_x, self.best_f, self.objective = self.x, self.f, self.part.primal(self.x, self.f)
            self.offer_dual(self.V, self.pull)
            return
        n, pull = len(self.share), self.pull.copy()
        pull[self.part.bounded] -= self.V[n:]
        self.offer_primal(self.x, self.f[:n])
        self.offer_dual(self.V[:n], pull)

    def _smooth(self) -> None:
        if self.is_sharp:
            self.smoothed = self.all_losses.sharp()
            return
        softness = self.delta / self.share if self.active is None else np.zeros(len(self.share))
        self.smoothed = self.all_losses.around(self.center_V, np.append(softness, self.delta * self._ratio))

    def _evaluate(self) -> None:
        """Multipliers at x and the gradient of the inner problem."""
        V = self.smoothed.weights(self.f)
        change = V - self.V
        self._swing = max(self._swing, float(np.abs(change).max(initial=0.0)))
        if self._swing > _SWING * float(np.abs(V).max(initial=0.0)):
            self.pull, self._swing = self.part.combine(V) - self.part.cost, 0.0
        else:
            self.pull = self.pull + self.part.combine(change)  # rows that stay at an end cost nothing
        self.V = V
        self.gradient = self.metric * self._from_center() - self.pull

    def _from_center(self) -> np.ndarray:
        if not len(self.center):
            return self.x
        x = self.x.copy()
        x[: len(self.center)] -= self.center
        return x

    def _inner_is_solved(self) -> bool:
        missing = 0.5 * float(self.gradient @ (self.gradient / self.metric))
        return missing <= _INNER_SHARE * self.gap or self.inner > _LONG

    def _move_centers(self) -> None:
        """Accept the multipliers found; shrink delta if that was easy."""
        g = self.part.n_leading
        self.center_V, self.center = self.V, self.x[:g].copy()
        if self.inner < _SHORT:
            natural = self._natural_delta(self.V[: len(self.share)])
            factor = 0.1 if self.inner == 1 else 0.5
            self.delta = max(min(factor * self.delta, natural), _LEAST_DELTA * natural)
            self.metric[:g] = np.maximum(0.5 * factor * self.metric[:g], _LEAST_UNPENALIZED / self.delta)
        elif self.inner > _LONG:
            self.delta *= 4.0
        self.inner = 0
        self._smooth()
        self._evaluate()

    def _direction(self) -> np.ndarray:
        """Newton's direction ``-(D + A_F' diag(s) A_F)^-1 gradient``, factored on its smaller side."""
        free, n = self.smoothed.free(self.V), len(self.share)
        D, bounds, free = self.metric.copy(), free[free >= n], free[free < n]
        D[self.part.bounded[bounds - n]] += self.smoothed.slope[bounds]
        slope, rhs = self.smoothed.slope[free], -self.gradient
        if not len(free):
            return rhs / D
        if len(free) <= len(D):
            return self._by_rows(free, 1.0 / slope, D, rhs / D)
        if self.active is not None:
            return self.active.solve(self._number(free), D, rhs)
        matrix = products_of_columns(self.part.rows, free, slope)
        matrix[np.diag_indices(len(D))] += D
        return solve_positive_definite(matrix, rhs)

    def _by_rows(self, free: np.ndarray, shift: np.ndarray, D: np.ndarray, base: np.ndarray) -> np.ndarray:
        A, g = self.part.rows.floats(free), self.part.n_leading
        if len(self.bounds):  # D is not that of the products kept
            scaled = A / np.sqrt(D)
            matrix = np.asfortranarray(scaled @ scaled.T)
            matrix[np.diag_indices(len(free))] += shift
        else:
            matrix = self.gram.system(self._number(free), shift)
            for j in range(g):
                matrix = blas.dsyr(1.0 / D[j], A[:, j], a=matrix, lower=1, overwrite_a=1)
        return base - (A.T @ solve_positive_definite(matrix, A @ base)) / D

    def _number(self, rows: np.ndarray) -> np.ndarray:
        """Numbers among all samples."""
        return rows if self.part.samples is None else self.part.samples[rows]

    def _line_search(self, direction: np.ndarray, along: np.ndarray) -> float:
        """Minimize the inner problem along the direction."""
        linear = float((self.metric * self._from_center() + self.part.cost) @ direction)
        square = float((self.metric * direction) @ direction)
        accuracy = _ACCURACY if self.active is None else _EXACT
        return self.smoothed.search(self.f, along, linear, square, accuracy)


def _with_bounds(loss: BoxLoss, n_bounds: int) -> BoxLoss:
    """The losses, and those of bounds on weights."""
    if not n_bounds:
        return loss
    zero, k = np.zeros(n_bounds), loss.curvature
    return BoxLoss(
        np.append(loss.target, zero + loss.epsilon),  # the tube is not theirs
        np.append(loss.lower, zero),
        np.append(loss.upper, zero + np.inf),
        loss.epsilon,
        None if k is None else np.append(k, zero),
    )


def _bound_curvatures(part: Part) -> np.ndarray:
    """Proximal curvature of each bound relative to delta: like that of the losses along its column."""
    if not len(part.bounded) or not len(part.loss.target):
        return np.ones(len(part.bounded))
    A = part.rows.floats(np.arange(part.rows.shape[0]))[:, part.bounded]
    norms = np.einsum("ij,ij->j", A, A)
    norms = np.maximum(norms, 1e-12 * norms.max(initial=0.0)) + np.finfo(float).tiny
    n, m = part.rows.shape
    return n / (min(n, m) * norms)


class NewtonSolver:
    """A problem that grows by columns: its best primal and dual points, and how they are improved.

    ``matrix`` has the leading columns, of cost q, and others if there are already. Weights that are
    ``positive`` may not be negative, the first ``n_unbounded`` excepted. V are the first dual weights, within
    their box; by default the best multiple of the targets.
    """

    def __init__(
        self,
        matrix: Rows,
        loss: BoxLoss,
        cost: np.ndarray,
        *,
        positive: bool = False,
        n_unbounded: int = 0,
        V: np.ndarray | None = None,
    ) -> None:
        self.matrix, self.loss, self.leading_cost = matrix, loss, cost
        self.positive, self.n_unbounded = positive, n_unbounded
        self.gram = RowGram(matrix)
        self.active = None if loss.curvature is None else ColumnGram(matrix, 1.0 / loss.curvature)
        self.share = loss.relative_width()
        self._bend, self._steepest = float(loss.bend.max(initial=0.0)), loss.steepest()
        n, m = matrix.shape
        self.x, self.f = np.zeros(m), np.zeros(n)
        self.V, self.combined = V, np.zeros(m)
        if V is not None:
            self.combined = matrix.combine(V)
        self.objective, self.dual_objective, self.floor, self._zero = np.inf, -np.inf, 0.0, 0.0
        self.is_exhausted = False  # whether rounding left nothing to gain

    def add(self, column: np.ndarray) -> None:
        """Append a column; both points stay where they are."""
        g, V = self.matrix.n_leading, self.V
        change = self.matrix.add(column)
        self.gram.grow(column)
        if self.active is not None:
            self.active.grow(column, change is None)
        if change is None:
            self.x = np.append(self.x, 0.0)
            self.combined = np.append(self.combined, 0.0 if V is None else column @ V)
        else:
            self.x = np.append(self.x[:g], change @ self.x[g:])
            self.combined = self.combined if V is None else self.matrix.combine(V)

    def shift(self, offset: float) -> None:
        """Move all leading coefficients of the primal point."""
        g = self.matrix.n_leading
        self.x[:g] += offset
        self.f = self.matrix.scores(self.x)

    def take_points(self, x: np.ndarray, f: np.ndarray, V: np.ndarray, combined: np.ndarray) -> None:
        """Take other points, with their scores and their A'V."""
        self.x, self.f, self.V, self.combined = x, f, V, combined
        self._judge(self._part(None))

    def replace_dual(self, V: np.ndarray) -> None:
        """Take another dual point of the same objective."""
        self.V, self.combined = V, self.matrix.combine(V)
        self._judge(self._part(None))

    def drop_specks(self, share: float) -> None:
        """Set bounded weights to exactly zero where the dual says so and the objective agrees."""
        whole = self._part(None)
        x, idle = self.x.copy(), whole.bounded[self.combined[whole.bounded] <= 0.0]
        if not x[idle].any():
            return
        x[idle] = 0.0
        f = self.matrix.scores(x)
        if whole.primal(x, f) <= self.objective + share * abs(self.objective):
            self.x, self.f = x, f
            self._judge(whole)

    @property
    def gap(self) -> float:
        """Between the two points."""
        return self.objective - self.dual_objective

    def solve(self, tol: float, max_iter: int, scale: float = 1.0, reference: float | None = None) -> int:
        """Improve both points until their gap is at most ``tol`` times the objective; return the steps.

        ``scale`` is the size of scores, ``reference`` what the objective is compared with where it is near 0.
        """
        whole = self._part(None)
        self._start(whole, reference)
        n_iter, distance, fresh, self.is_exhausted = 0, _DISTANCE * scale, False, False
        while True:
            if (self.is_solved(tol) or n_iter >= max_iter) and not fresh:
                fresh = self._refresh(whole, tol)
            if self.is_solved(tol) or n_iter >= max_iter:
                return n_iter
            part, before = whole, self.gap
            if self.gap <= _TRUSTED * abs(self.objective):
                settled = self.loss.is_settled(self.f, self.V, distance)
                part = whole if settled.mean() < _FEW else self._part(settled)
            n_iter += self._improve(whole, part, tol, max_iter - n_iter, scale)
            if part is whole and self.gap > _STALLED * before:
                self.is_exhausted = n_iter < max_iter
                return n_iter
            distance, fresh = 4.0 * distance, False

    def is_solved(self, tol: float) -> bool:
        """Whether the gap is what `solve` stops at."""
        return self.gap <= self._limit(tol, self.objective)

    def _limit(self, tol: float, objective: float) -> float:
        """Gap to stop at; never below the rounding of the sums."""
        return max(tol * abs(objective), tol * self.floor, self.noise)

    def _part(self, settled: np.ndarray | None) -> Part:
        """The problem over the samples that are not settled."""
        m = self.matrix.n_columns
        bounded = np.arange(self.n_unbounded, m) if self.positive else np.empty(0, dtype=np.int64)
        cost = np.append(self.leading_cost, np.zeros(m - len(self.leading_cost)))
        if settled is None:
            return Part(self.matrix, self.loss, None, cost, 0.0, bounded)
        samples = np.flatnonzero(~settled)
        rows = self.matrix.take(samples)
        cost -= self.combined - rows.combine(self.V[samples])
        constant = self.loss.gain(np.where(settled, self.V, 0.0))
        return Part(rows, self.loss.take(samples), samples, cost, constant, bounded)

    def _start(self, whole: Part, reference: float | None) -> None:
        """Look at both points; before the first solve the dual one is the best multiple of the targets."""
        if self.V is None:
            at_zero = self.loss.value(np.zeros(len(self.f)))
            self.V, value = dual_ray(whole)
            self.combined = self.matrix.combine(self.V)
            self.floor, self._zero = (0.0, 0.0) if value > 0.0 else (_FLOOR * at_zero, _ROUNDING * at_zero)
        if reference is not None:
            self.floor = reference
        if not self.matrix.n_columns:
            self.V = whole.sharp.weights(self.f)
        self._judge(whole)
        if self.dual_objective < 0.0 and not whole.cost.any():
            self._shrink(whole)

    def _shrink(self, whole: Part) -> None:
        """Take the best multiple of V, which a new column may have made too long."""
        gain = self.loss.gain(self.V)
        square = 2.0 * (gain - self.dual_objective)
        if 0.0 < gain < square:
            length = gain / square
            self.V, self.combined = length * self.V, length * self.combined
            self._judge(whole)

    def _judge(self, whole: Part) -> None:
        """Repair V and evaluate both objectives."""
        self.objective = whole.primal(self.x, self.f)
        self._note_rounding()
        V, pull, self.dual_objective = whole.repair(self.V, self.combined - whole.cost)
        if V is not self.V:
            self.V, self.combined = V, pull + whole.cost

    def _note_rounding(self) -> None:
        self.noise = self._zero + _ROUNDING * (abs(self.objective) + abs(self.loss.gain(self.V)))

    def _refresh(self, whole: Part, tol: float) -> bool:
        """Compute scores and combinations anew where rounding could matter; that is then done."""
        weight = self._steepest if np.isfinite(self._steepest) else float(np.abs(self.V).sum())
        doubt = _ROUNDING * weight * float(np.max(np.abs(self.f), initial=1.0))
        if doubt > 1e-3 * self._limit(tol, self.objective):
            self.f, self.combined = self.matrix.scores(self.x), self.matrix.combine(self.V)
            nearest = self.loss.nearest(self.f)
            if 0.0 < nearest < 1.0:
                x, f = self.x * ((1.0 + _LONGER) / nearest), self.f * ((1.0 + _LONGER) / nearest)
                if whole.primal(x, f) < whole.primal(self.x, self.f):
                    self.x, self.f = x, f
            self._judge(whole)
        return True

    def _improve(self, whole: Part, part: Part, tol: float, max_iter: int, scale: float) -> int:
        """Take steps on a part; move both points over all samples to what they found."""
        take = slice(None) if part is whole else part.samples
        points = self.x, self.f[take], self.V[take], self.combined - whole.cost
        n_iter, smooth, found = 0, self._is_smooth(scale), None
        if not smooth and part.rows.data is not None and not len(part.bounded):
            found = CoordinateAscent(part, *points)
            while n_iter < max_iter and self._is_open(found, tol) and found.pays(tol):
                found.step()
                n_iter += 1
            points = found.best_x, found.best_f, found.best_V, found.best_pull
        if found is None or self._is_open(found, tol):
            active = self.active if smooth else None
            found = ProximalNewton(part, self.gram, active, *points, self.share[take], scale)
            n_iter += self._run(found, tol, max_iter - n_iter)
        self._take(whole, part, found)
        return max(n_iter, 1)

    def _is_open(self, found: Incumbents, tol: float) -> bool:
        return found.gap > self._limit(tol, found.objective)

    def _run(self, newton: ProximalNewton, tol: float, max_iter: int) -> int:
        """Step until the gap is small, or does not get smaller; return the number of steps."""
        n_iter, since, gap, patience = 0, 0, newton.gap, _PATIENCE
        while n_iter < max_iter and since < patience and self._is_open(newton, tol):
            newton.step()
            n_iter, since = n_iter + 1, since + 1
            if newton.active is not None and newton.gap <= _LAST * abs(newton.objective):
                patience = _LAST_PATIENCE
            if newton.gap < _STALLED * gap:
                since, gap = 0, newton.gap
        return n_iter

    def _is_smooth(self, scale: float) -> bool:
        """Whether scores determine the dual weights to enough digits without a proximal term."""
        return self._bend * max(self.V.max(), -self.V.min()) >= _CURVED * scale

    def _take(self, whole: Part, part: Part, found: Incumbents) -> None:
        """Take over the incumbents of a part."""
        self.combined = found.best_pull + whole.cost
        if part is whole:
            self.x, self.f, self.V = found.best_x, found.best_f, found.best_V
            self.objective, self.dual_objective = found.objective, found.dual_objective
            self._note_rounding()
            return
        self.V = self.V.copy()
        self.V[part.samples] = found.best_V
        x, f = found.best_x, whole.rows.scores(found.best_x)
        if whole.primal(x, f) > min(self.objective, found.objective * (1.0 + _SEGMENT)):
            t = whole.segment(self.x, self.f, x - self.x, f - self.f)
            x, f = self.x + t * (x - self.x), self.f + t * (f - self.f)
        self.x, self.f = x, f
        self._judge(whole)


def dual_ray(whole: Part) -> tuple[np.ndarray, float]:
    """Return the best multiple of the targets as a dual point, and its dual objective.

    Leading columns are projected off the targets first. A value of 0, with zeros, says that this way leads
    to nothing.
    """
    loss, g = whole.loss, whole.n_leading
    nothing = np.zeros(len(loss.target)), 0.0
    moving = loss.upper > loss.lower
    ray = np.where(moving, loss.target, 0.0)
    if g:
        G = whole.rows.leading * moving[:, None].astype(np.float64)
        ray -= G @ np.linalg.lstsq(G, ray, rcond=None)[0]
    moving = ray != 0.0
    room = np.where(ray > 0.0, loss.upper, loss.lower)[moving] / ray[moving]
    gain = loss.linear_gain(ray)
    if whole.cost.any() or not (gain > 0.0 and room.min(initial=np.inf) > 0.0):
        return nothing
    combined = whole.rows.combine(ray)
    combined[whole.bounded] = np.maximum(combined[whole.bounded], 0.0)
    square = float(combined[g:] @ combined[g:])
    if loss.curvature is not None:
        square += float((loss.curvature * ray) @ ray)
    length = min(float(room.min()), gain / square if square > 0.0 else np.inf)
    return (length * ray, length * gain - 0.5 * length**2 * square) if np.isfinite(length) else nothing
