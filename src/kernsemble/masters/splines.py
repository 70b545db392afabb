r"""Infinite ensembles of stumps without a kernel matrix: smoothing splines, exact, for a million rows.

With the stump kernel ``K(x, z) = -||x - z||_1`` and a free intercept a machine is additive, linear between
the values that a column takes (`hypotheses.knots`, whose letters these are), and its squared norm is that of
the slopes. Over tables g of values at the knots::

    Primal:  min_{g,b}  1/2 g'L g + sum_i loss_i((H g)_i + b)
             1/2 g'L g = sum_dk (g_{d,k+1} - g_dk)^2 / (4 gap_dk)
    Dual:    max_V      sum_i gain_i(V_i) - 1/2 V'K V    s.t.  sum_i V_i = 0,  l <= V <= h
             1/2 V'K V = sum_dk gap_dk B_dk^2,   B_dk = sum of V over the rows up to knot k of column d

with losses and gains as in `losses`: the hinge with V = y u is the machine (P_1), (P_2) of linli2005 (as
`kernel_hinge` solves it on a matrix, the same C), the squared hinge, the tube of support vector regression
and least squares are the others. At the optimum L g = H'V. All that follows is O(n d) a time.

Proximal Newton, as in `newton`: with a center a for V and softness s_i = delta / (relative width of box i),

    min_{g,b}  1/2 g'L g + sum_i max_v { v (t_i - f_i) - epsilon |v| - k_i/2 v^2 - s_i/2 (v - a_i)^2 }

is quadratic by pieces; its multipliers V(f) are clipped residuals. The intercept is chosen such that they sum
to zero: V is feasible at every step, and its dual objective costs one histogram. What an inner problem lacks
is ``1/2 r'L^+ r``, ``r = H'V - L g``; when that is small beside the gap, the center moves to V, and delta
shrinks if that was easy. At a fixed point g and V solve both problems at any delta. Losses that are curved
(k > 0) need no proximal term.

A Newton step solves ``(L + H_F'D H_F) step = r``, F the rows whose multipliers move, D = 1 / (k + s). Knots
at which no row of F lies are eliminated: there the step is that of a chain of springs under known forces, so
the forces move to the kept knots on either side by the law of the lever, and the springs between become one.
What is left is solved by conjugate gradients, preconditioned by one tridiagonal system a column, ``L_d`` plus
the histogram of D. An exact line search on the piecewise linear slope ends the step.

A first solution comes from some of the rows, which stand for all, or from another value of C.

Stop. Incumbents are the best primal and the best dual point seen. The method ends when the gap between their
objectives is at most ``tol`` times the primal one. Both are formulas of (g, b) and V alone: the certificate
hangs on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numba import njit

from kernsemble.hypotheses import knots as columns
from kernsemble.hypotheses.knots import Knots
from kernsemble.masters.base import Solution
from kernsemble.masters.losses import BoxLoss

_BAND = 0.3  # change of scores, in units of the targets, that moves the first multipliers by their own size
_INNER_SHARE = 0.3  # of the gap: what the inner problem may lack when the center moves
_LONG = 25  # inner steps after which the center moves in any case
_FACTORS = ((3, 0.2), (7, 0.5), (_LONG - 1, 1.0), (_LONG, 10.0))  # of delta, by the number of inner steps
_WIDEN = 10.0  # factor of delta from one problem to another
_SMALLEST = 1e-5  # share of the natural delta below which there is nothing to gain but rounding
_LEAST = 0.01  # of the natural delta, that is passed on
_GRADIENTS, _FORCING = 200, 0.1  # most conjugate gradients of a step; share of the residual to end at
_SINGULAR = 1e-13  # curvature, relative to the preconditioner's, that is none
_ACCURACY = 1e-2  # of the line search
_SAMPLE, _RATIO = 20_000, 8  # least rows of a sample, and how many others one of them stands for, at most
_SAMPLE_TOL = 1e-2  # to which a sample is solved
_PATIENCE, _STALLED = 60, 0.99  # steps without a gap smaller by that factor, after which rounding rules
_IMBALANCE = 1e-15  # of the multipliers, relative to their sum and the root of their number, that is none
_BALANCED = 1e-12  # share of their sizes that multipliers may sum to
_ROUNDING = 2e-15  # of a sum, relative to its terms
_FLOOR = 5e-13  # relative gap below which rounding rules
_LONGER = 1e-13  # by so much scores are scaled up past the margin, where rounding could undo it


@dataclass(frozen=True)
class SplineSolution(Solution):
    """A solution whose ``w`` are the tables g, one column's knots after the other's, and whose ``u`` is V.

    Attributes
    ----------
    delta : float
        Proximal curvature at the end, for the next problem to start from.
    """

    delta: float = field(default=0.0, kw_only=True)


@dataclass
class SplineProblem:
    """Rows as codes (n_features, n) of knots, and their losses."""

    knots: Knots
    codes: np.ndarray
    loss: BoxLoss

    def __post_init__(self) -> None:
        self.gaps = self.knots.gaps
        self.stiffness = _stiffness(self.gaps)

    def scores(self, g: np.ndarray) -> np.ndarray:
        """``H g``."""
        return columns.gather(self.codes, self.knots.first, g)

    def pull(self, V: np.ndarray) -> np.ndarray:
        """``H'V``."""
        return columns.histogram(self.codes, self.knots.first, V)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Codes of some rows."""
        return columns.take_rows(self.codes, rows)

    def bend(self, g: np.ndarray) -> np.ndarray:
        """``L g``."""
        force = self.stiffness[:-1] * np.diff(g)
        return np.append(0.0, force) - np.append(force, 0.0)

    def relax(self, pull: np.ndarray) -> np.ndarray:
        """Some g with ``L g = pull``."""
        return columns.solve_laplacian(self.knots, self.gaps, pull)

    def energy(self, pull: np.ndarray) -> float:
        """``1/2 V'K V`` from ``pull = H'V``."""
        return columns.energy(self.knots, self.gaps, pull)

    def objective(self, g: np.ndarray, b: float) -> float:
        """Primal objective."""
        return 0.5 * float(g @ self.bend(g)) + self.loss.value(self.scores(g) + b)

    def sample(self) -> SplineProblem | None:
        """Some of the rows, each standing for several; None if that would not pay."""
        n = len(self.loss.target)
        size = max(_SAMPLE, n // _RATIO)
        if n < 2 * size:
            return None
        rows = np.sort(np.random.default_rng(0).choice(n, size, replace=False, shuffle=False))
        loss, ratio = self.loss.take(rows), n / size
        if not (loss.upper.any() and loss.lower.any()):
            return None
        bend = None if loss.curvature is None else loss.curvature / ratio
        loss = replace(loss, lower=ratio * loss.lower, upper=ratio * loss.upper, curvature=bend)
        return SplineProblem(self.knots, self.take(rows), loss)


def solve_splines(
    problem: SplineProblem,
    *,
    start: SplineSolution | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
) -> SplineSolution:
    """Solve one machine.

    Parameters
    ----------
    problem : SplineProblem
        Codes of the rows, and their losses.
    start : SplineSolution, default=None
        Solution of a problem over the same rows, say for a smaller C.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most Newton steps.

    Returns
    -------
    SplineSolution
        ``f = H w + b``; ``u`` is V.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.knots import Knots
    >>> from kernsemble.masters.losses import BoxLoss
    >>> from kernsemble.masters.splines import SplineProblem, solve_splines
    >>> X = np.array([[-1.0], [1.0]])
    >>> knots = Knots.of_columns(X)
    >>> loss = BoxLoss.hinge(np.array([-1.0, 1.0]), np.array([10.0, 10.0]))
    >>> solve_splines(SplineProblem(knots, knots.encode(X), loss), tol=1e-9).u.round(6)
    array([-0.5,  0.5])
    """
    found = _Splines(problem, _from_sample(problem, tol, max_iter) if start is None else start)
    n_iter, inner, since, gap = 0, 0, 0, found.gap
    while found.gap > found.limit(tol) and n_iter < max_iter and since < _PATIENCE:
        if (inner and found.lack <= _INNER_SHARE * found.gap) or inner == _LONG:
            found.move_center(inner)
            inner = 0
        found.step()
        n_iter, inner, since = n_iter + 1, inner + 1, since + 1
        if found.gap < _STALLED * gap:
            since, gap = 0, found.gap
    found.judge()
    return SplineSolution(
        w=found.best_g,
        b=found.best_b,
        u=found.best_V,
        objective=found.objective,
        gap=found.gap,
        n_iter=n_iter,
        converged=found.gap <= found.limit(tol),
        message="" if n_iter >= max_iter else "Rounding leaves nothing to gain: increase tol, lower C.",
        delta=max(found.delta, _LEAST * found.natural_delta(found.best_V)),
    )


def _from_sample(problem: SplineProblem, tol: float, max_iter: int) -> SplineSolution | None:
    """The tables that solve the problem over some of the rows; None if that would not pay."""
    sample, n = problem.sample(), len(problem.loss.target)
    if sample is None:
        return None
    few = solve_splines(sample, tol=max(tol, _SAMPLE_TOL), max_iter=max_iter)
    return replace(few, u=np.zeros(n), delta=few.delta * n / len(few.u))


class _Splines:
    """A primal point (g, b) with scores f, its multipliers V, and the incumbents."""

    def __init__(self, problem: SplineProblem, start: SplineSolution | None) -> None:
        self.problem, self.loss = problem, problem.loss
        self.share = self.loss.relative_width()
        self.objective, self.dual_objective, self.b = np.inf, -np.inf, 0.0
        self.noise = _ROUNDING * self.loss.value(np.zeros(len(self.share)))
        ray = start.u if start is not None and start.u.any() else self._targets()
        center, pull = self._stretch(ray)
        self._offer_dual(center, pull)
        if start is None:
            self.g = problem.relax(pull)
            self.delta = self.natural_delta(center)
        else:
            self.g, self.delta = start.w.copy(), _WIDEN * start.delta
            if not start.u.any():
                center = np.zeros_like(center)
        if self.loss.curvature is not None:
            self.delta = 0.0
        self.f = problem.scores(self.g)
        self._smooth(center)

    def _targets(self) -> np.ndarray:
        """Targets less their mean, in the boxes' proportions: their multiples are dual points."""
        loss = self.loss
        share = np.where(loss.upper > loss.lower, self.share, 0.0)
        total = max(float(share.sum()), np.finfo(float).tiny)
        ray = share * (loss.target - float(share @ loss.target) / total)
        ray -= share * (float(ray.sum()) / total)
        if abs(ray.sum()) > _BALANCED * np.abs(ray).sum():
            return np.zeros_like(ray)  # the targets are equal, but for rounding
        return ray

    def _stretch(self, ray: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best multiple of a dual point, in the boxes, and its pull."""
        loss, some = self.loss, ray != 0.0
        pull = self.problem.pull(ray)
        square, linear = 2.0 * self.problem.energy(pull), loss.linear_gain(ray)
        if loss.curvature is not None:
            square += float(loss.curvature @ ray**2)
        with np.errstate(divide="ignore", over="ignore"):
            room = (np.where(ray > 0.0, loss.upper, loss.lower)[some] / ray[some]).min(initial=np.inf)
        length = min(float(room), linear / square) if square > 0.0 and linear > 0.0 else 0.0
        return np.clip(length * ray, loss.lower, loss.upper), length * pull

    def natural_delta(self, V: np.ndarray) -> float:
        """Delta at which a change of scores within the band moves multipliers by about the size of V."""
        targets = self.loss.target
        scale = float(np.abs(targets).max(initial=0.0)) if self._is_sided() else float(targets.std())
        largest = float(np.max(np.abs(V) / self.share, initial=0.0))
        return _BAND * (scale or 1.0) / (largest or 1.0)

    def _is_sided(self) -> bool:
        return not bool(np.any((self.loss.lower < 0.0) & (self.loss.upper > 0.0)))

    @property
    def gap(self) -> float:
        """Between the incumbents."""
        return self.objective - self.dual_objective

    def limit(self, tol: float) -> float:
        """Gap to stop at; never below the rounding of the sums."""
        return max(max(tol, _FLOOR) * abs(self.objective), self.noise)

    def judge(self) -> None:
        """Evaluate the primal incumbent without the rounding of scores that were added up."""
        self.objective = self.problem.objective(self.best_g, self.best_b)

    def move_center(self, inner: int) -> None:
        """Take the multipliers as center; shrink delta if few inner steps were needed, widen it if many."""
        center = self.V if inner < _LONG else self.best_V
        factor = next(factor for most, factor in _FACTORS if inner <= most)
        self.delta = max(factor * self.delta, _SMALLEST * self.natural_delta(center))
        self._smooth(center)

    def _smooth(self, center: np.ndarray) -> None:
        """Give the losses a proximal term around a center, and evaluate."""
        if self.delta > 0.0:
            self.smoothed = self.loss.around(center, self.delta / self.share)
        else:
            self.smoothed = self.loss.sharp()
        self._evaluate()

    def step(self) -> None:
        """Take one Newton step with exact line search."""
        self._move()
        self._evaluate()

    def _move(self) -> None:
        problem, free = self.problem, self.free
        step = self._direction(free) if len(free) else problem.relax(self.residual)
        along = problem.scores(step)
        linear, square = float(self.bent @ step), float(problem.bend(step) @ step)
        length = self.smoothed.search(self.f, along, linear, square, _ACCURACY)
        self.g += length * step
        self.f += length * along

    def _evaluate(self) -> None:
        """Balance the multipliers, and offer both points."""
        loss, problem = self.loss, self.problem
        shift = _balance(self.f, *self.smoothed)
        self.f += shift
        self.b += shift
        self.V = self.smoothed.weights(self.f)
        self.free = self.smoothed.free(self.V)
        balanced = loss.lower_sum(self.V, np.ones(len(self.V), dtype=np.bool_), float(self.V.sum()))
        pull = problem.pull(self.V)
        self.bent = problem.bend(self.g)
        self.residual = pull - self.bent
        self.lack = problem.energy(self.residual)
        self._offer_primal(0.5 * float(self.g @ self.bent))
        if balanced and abs(self.V.sum()) <= _BALANCED * np.abs(self.V).sum():
            self._offer_dual(self.V, pull)

    def _offer_primal(self, norm: float) -> None:
        """Keep (g, b) if it is the best; or a multiple that has no loss at all."""
        f, scale = self.f, 1.0
        objective, nearest = norm + self.loss.value(f), self.loss.nearest(f)
        if 0.0 < nearest < 1.0:
            longer = (1.0 + _LONGER) / nearest
            at_longer = longer**2 * norm + self.loss.value(longer * f)
            if at_longer < objective:
                objective, scale = at_longer, longer
        if objective < self.objective:
            self.objective, self.best_g, self.best_b = objective, scale * self.g, scale * self.b

    def _offer_dual(self, V: np.ndarray, pull: np.ndarray) -> None:
        """Keep V if it is the best dual point."""
        dual = self.loss.gain(V) - self.problem.energy(pull)
        if dual > self.dual_objective:
            self.dual_objective, self.best_V = dual, V

    def _direction(self, free: np.ndarray) -> np.ndarray:
        """Newton's step: eliminate knots without free rows, solve, and fill them in."""
        problem, values, first = self.problem, self.problem.knots.values, self.problem.knots.first
        codes, D = problem.take(free), self.smoothed.slope[free]
        weight = columns.histogram(codes, first, D)
        kept = np.flatnonzero(weight > 0.0)
        begin = np.searchsorted(kept, first)
        right = np.zeros(len(kept))
        _condense(values, first, self.residual, kept, begin, right)
        _renumber(codes, first, begin, np.cumsum(weight > 0.0))
        gaps = np.append(np.diff(values[kept]), 0.0)
        gaps[begin[1:] - 1] = 0.0
        at_kept = _conjugate(codes, begin, _stiffness(gaps), D, weight[kept], right)
        step = np.empty(len(values))
        _expand(values, problem.gaps, first, self.residual, kept, begin, at_kept, step)
        return step


def _stiffness(gaps: np.ndarray) -> np.ndarray:
    """``1 / (2 gap)``, and 0 behind the last knot of a column."""
    with np.errstate(divide="ignore"):
        return np.where(gaps > 0.0, 0.5 / gaps, 0.0)


def _conjugate(
    codes: np.ndarray,
    first: np.ndarray,
    stiffness: np.ndarray,
    D: np.ndarray,
    weight: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """Solve ``(L + H'D H) x = right`` by conjugate gradients; weight = H'D 1 is the preconditioner's."""
    pivots, z = np.empty_like(weight), np.empty_like(right)
    _factor(stiffness, weight, pivots)
    x, r = np.zeros_like(right), right.copy()
    _solve(stiffness, pivots, r, z)
    p, rz = z.copy(), float(r @ z)
    enough, size = _FORCING**2 * rz, rz  # size is p'(L + diag(weight)) p
    for _ in range(_GRADIENTS):
        if rz <= enough:
            break
        Ap = columns.histogram(codes, first, D * columns.gather(codes, first, p))
        _add_bend(stiffness, p, Ap)
        curvature = float(p @ Ap)
        if curvature <= _SINGULAR * size:  # tables that cancel at every free row
            break
        alpha = rz / curvature
        x += alpha * p
        r -= alpha * Ap
        _solve(stiffness, pivots, r, z)
        before, rz = rz, float(r @ z)
        p *= rz / before
        p += z
        size = rz + (rz / before) ** 2 * size
    return x


@njit(cache=True, nogil=True)
def _balance(f, middle, slope, lower, upper, epsilon):
    """The shift of all scores at which the multipliers sum to zero, by safeguarded Newton steps."""
    low, high, shift, enough = -np.inf, np.inf, 0.0, _IMBALANCE * np.sqrt(len(f))
    for trial in range(100):
        total, rate, size = 0.0, 0.0, 0.0
        for i in range(len(f)):
            r = middle[i] - f[i] - shift
            r = max(r - epsilon, 0.0) + min(r + epsilon, 0.0)
            v = slope[i] * r
            if lower[i] < v < upper[i] and v != 0.0:
                rate += slope[i]
            v = min(max(v, lower[i]), upper[i])
            total += v
            size += abs(v)
        if abs(total) <= enough * size:
            return shift
        low, high = (shift, high) if total > 0.0 else (low, shift)
        jump = total / rate if rate > 0.0 else (1.0 if total > 0.0 else -1.0) * 2.0**trial
        if shift + jump == shift:
            return shift
        if not low < shift + jump < high:
            jump = 0.5 * (low + high) - shift
        shift += jump
    return shift


@njit(cache=True, nogil=True)
def _condense(values, first, forces, kept, begin, right):
    """Move the forces on knots that are not kept to the kept ones beside them, by the law of the lever."""
    for d in range(len(first) - 1):
        a, stop = begin[d], begin[d + 1]
        for k in range(first[d], first[d + 1]):
            while a + 1 < stop and kept[a + 1] <= k:
                a += 1
            left = kept[a]
            if k <= left or a + 1 == stop:
                right[a] += forces[k]
            else:
                share = (values[k] - values[left]) / (values[kept[a + 1]] - values[left])
                right[a] += (1.0 - share) * forces[k]
                right[a + 1] += share * forces[k]


@njit(cache=True, nogil=True)
def _expand(values, gaps, first, forces, kept, begin, step, out):
    """The step at all knots from that at the kept ones: chains of springs under their forces."""
    for d in range(len(first) - 1):
        flux = 0.0
        a = begin[d]
        out[kept[a]] = step[a]
        for k in range(first[d], kept[a]):  # the loose end on the left: heights above that of the kept knot
            flux += forces[k]
            out[k] = flux
        height = step[a]
        for k in range(kept[a] - 1, first[d] - 1, -1):
            height += 2.0 * gaps[k] * out[k]
            out[k] = height
        for a in range(begin[d], begin[d + 1] - 1):
            left, right = kept[a], kept[a + 1]
            total, drop = 0.0, 0.0
            for k in range(left, right):
                total += forces[k] if k > left else 0.0
                drop += 2.0 * gaps[k] * total
            flux = (step[a + 1] - step[a] + drop) / (2.0 * (values[right] - values[left]))
            height = step[a]
            for k in range(left, right):
                flux -= forces[k] if k > left else 0.0
                out[k] = height
                height += 2.0 * gaps[k] * flux
            out[right] = step[a + 1]
        last = kept[begin[d + 1] - 1]
        flux = 0.0
        for k in range(last + 1, first[d + 1]):
            flux += forces[k]
        height = step[begin[d + 1] - 1]
        for k in range(last, first[d + 1] - 1):
            height += 2.0 * gaps[k] * flux
            out[k + 1] = height
            flux -= forces[k + 1]


@njit(cache=True, nogil=True)
def _renumber(codes, first, begin, number):
    """Replace codes by those of the kept knots; number counts the kept ones up to each knot."""
    for d in range(len(codes)):
        c = codes[d]
        for i in range(len(c)):
            c[i] = number[first[d] + c[i]] - 1 - begin[d]


@njit(cache=True, nogil=True)
def _factor(stiffness, weight, pivots):
    """Pivots of the tridiagonal matrix ``L + diag(weight)``, without cancellation."""
    held = 0.0
    for k in range(len(weight)):
        held = weight[k] + held
        pivots[k] = held + stiffness[k]
        held = stiffness[k] * held / pivots[k]


@njit(cache=True, nogil=True)
def _solve(stiffness, pivots, right, x):
    """Solve with the factored tridiagonal matrix."""
    m = len(right)
    x[0] = right[0]
    for k in range(1, m):
        x[k] = right[k] + stiffness[k - 1] / pivots[k - 1] * x[k - 1]
    x[m - 1] /= pivots[m - 1]
    for k in range(m - 2, -1, -1):
        x[k] = (x[k] + stiffness[k] * x[k + 1]) / pivots[k]


@njit(cache=True, nogil=True)
def _add_bend(stiffness, g, out):
    """Add ``L g`` to out."""
    for k in range(len(g) - 1):
        force = stiffness[k] * (g[k + 1] - g[k])
        out[k] -= force
        out[k + 1] += force
