r"""State and solvers of the multi-class exponential loss, problem (2) of lin2012 (see ``exponential``).

**State.** With the margins gamma of (1), a weight s_i for each sample and p = (K - 1) sum_i s_i, the loss is
Lambda = (C/p) sum_i s_i sum_{y != y_i} exp(-gamma_(i,y)). One K x m matrix says everything::

    V[k, i] = -lambda_(i,k)                 where k != y_i,   lambda_(i,k) = (C s_i / p) exp(-gamma_(i,k)) (5)
    V[k, i] = sum_{y != y_i} lambda_(i,y)   where k == y_i

The SCORE of column h in class k, the left side of (3b), is ``V[k] @ h``; Lambda is the sum of the entries
with k == y_i; and the MASS of class k, ``sum_i |V[k, i]|``, is the curvature of Lambda along any column of
that class. Samples are sorted by class. Exponents are margins, not scores, so large weights cannot overflow
them. A VARIABLE is the weight of one column in one class: MultiBoost-cw has one a column, MultiBoost has K.

**Newton** (`LaggedNewton`, the default). Each step minimizes a quadratic model over w + d >= 0 and searches
along d by Armijo's rule. Between the variables (h, k) and (h', k') the Hessian is ``sum_i |V[k, i]| h_i
h'_i`` if k = k'; else it is minus the sum of lambda_(i,k') h_i h'_i over the samples of class k and of
lambda_(i,k) h_i h'_i over those of class k', so all blocks off the diagonal cost no more than twice those on
it. Its Cholesky factor (`ReferenceMetric`) is kept at a REFERENCE point, an earlier iterate,
scaled to the present masses; columns that arrive later are appended. Once the steps still needed cost more
than a new reference, one is made. The factor is one of float32 with a fixed ridge, with which a step gains
only a fraction of what is left along the difference of columns that are nearly alike. Where all classes share
columns and ``tol`` is small it is one of float64, with a ridge that falls with the gap (``fine``). New
columns first get a pass of exact coordinate steps. Stop: duality gap at most ``tol`` times the objective.

**Fast coordinate descent** (`FastCoordinateDescent`, algorithm 2 as printed). Working set iteration 1
minimizes over the new variables in turn; each later one draws, at random, as many variables as violate the
conditions of optimality by more than ``eps`` (17). One iteration alone (``tau_max=1``) is stage-wise,
MultiBoost-cw-1 at C = 1e8. Stop: largest violation (16) at most ``eps`` (18), or ``tau_max`` iterations,
where the paper stops on purpose.

**L-BFGS-B** (`LimitedMemory`, what the paper takes for MultiBoost): scipy's, on the same columns and kernels,
so that a comparison is one of methods. Stop: scipy's rules ``ftol`` and ``gtol``; with ``tol``, also the
duality gap.

All ``solve(new, target)`` re-optimize after the variables ``new`` were appended, and return iterations,
success and a message; an objective of ``target`` or less also ends them, so that they can be raced to a known
optimum.

Paper symbols: mu = lambda p / C, V_+ and V_- = the results of ``_split_sums``, delta h = a column with the
signs of V, theta = violations.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize

from kernsemble.masters.losses import FAST
from kernsemble.masters.one_thread import one_thread

_MOVES = 10_000  # coordinate moves between two computations of V from the weights: rounding stays below 1e-11
_RIDGE = np.float32(1e-4)  # added to the unit diagonal: two stumps may differ in one sample of little weight
_PULL, _LEAST_RIDGE = 1e-2, 1e-9  # ridge of a fine model, as a multiple of the relative gap, and the least
_ROUNDS = 5  # of the active-set method on one model; two or three settle it
_FIRST = np.zeros(1, dtype=np.intp)  # one vector, from its start


class ExponentialState:
    """Columns, variables, weights w and dual matrix V of samples with labels 0..K-1 and weights s_i.

    The loss is C times the weighted mean of exp(-gamma) over all pairs.
    """

    def __init__(self, labels: np.ndarray, n_classes: int, C: float, sample_weight: np.ndarray | None = None):
        self.n_classes, self.n_samples = int(n_classes), len(labels)
        self.order = np.argsort(labels, kind="stable")
        self.starts = np.searchsorted(np.asarray(labels)[self.order], np.arange(self.n_classes + 1))
        self._labels, self._samples = np.asarray(labels)[self.order], np.arange(self.n_samples)
        weight = np.ones(self.n_samples) if sample_weight is None else sample_weight[self.order]
        self._scale = C * weight / (weight.sum() * (self.n_classes - 1))
        self.columns = np.empty((16, self.n_samples), dtype=np.int8)
        self.n_columns = 0
        self.column_of = np.empty(0, dtype=np.intp)
        self.class_of = np.empty(0, dtype=np.intp)
        self.w = np.empty(0)
        self.V = np.empty((self.n_classes, self.n_samples))
        self.mass = np.empty(self.n_classes)
        self._trial = np.empty_like(self.V)
        self._outputs = np.empty_like(self.V)
        self.refresh()

    def append(self, column: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Store a column with one variable for each of the classes; return the indices of these."""
        if self.n_columns == len(self.columns):
            grown = np.empty((self.n_columns + self.n_columns // 2, self.n_samples), dtype=np.int8)
            grown[: self.n_columns] = self.columns
            self.columns = grown
        self.columns[self.n_columns] = column[self.order]
        first, added = len(self.w), len(classes)
        self.column_of = np.concatenate((self.column_of, np.full(added, self.n_columns)))
        self.class_of = np.concatenate((self.class_of, classes))
        self.w = np.concatenate((self.w, np.zeros(added)))
        self.n_columns += 1
        return np.arange(first, first + added)

    @property
    def layout(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arrays that say what the variables are, as kernels take them."""
        return self.columns, self.column_of, self.class_of

    @property
    def objective(self) -> float:
        """Primal objective (2): the sum of the weights plus the loss."""
        return float(self.w.sum()) + self.loss

    def signed_weights(self) -> np.ndarray:
        """V in the caller's order, (n_samples, n_classes)."""
        V = np.empty((self.n_samples, self.n_classes))
        V[self.order] = self.V.T
        return V

    def scores(self) -> np.ndarray:
        """Score ``V[class] @ column`` of each variable; at the optimum 1 where w > 0, at most 1 elsewhere."""
        scores = np.empty(len(self.w))
        _fill_scores(*self.layout, self.V, scores)
        return scores

    def gap(self, scores: np.ndarray, largest: float | None = None) -> float:
        """Duality gap: the multiple of lambda that is best among those which satisfy (3b).

        ``largest`` bounds the scores of all that must satisfy it, by default of the variables.
        """
        largest = float(scores.max(initial=0.0)) if largest is None else largest
        weighted, shrink = float(self.w @ scores), self.shrink(scores, largest)
        dual = shrink * ((1.0 - math.log(shrink)) * self.loss + weighted)
        return max(self.objective - dual, 0.0)

    def shrink(self, scores: np.ndarray, largest: float) -> float:
        """Best of the multiples of lambda that satisfy (3b)."""
        best = math.exp(min(float(self.w @ scores) / self.loss, 700.0))
        return min(1.0 / largest if largest > 0 else math.inf, best)

    def violations(self, scores: np.ndarray) -> np.ndarray:
        """How far each variable is from the conditions of optimality (14): theta of (16)."""
        return np.where(self.w > 0, np.abs(1.0 - scores), np.maximum(scores - 1.0, 0.0))

    def refresh(self) -> None:
        """Compute V from the weights, which removes the rounding that moves have piled up."""
        self._moves = 0
        active = np.flatnonzero(self.w)
        self._fill_factors(active, self.w[active], 1.0)
        np.multiply(self._trial, -self._scale, out=self.V)
        self._close()

    def coordinate_pass(self, variables: np.ndarray) -> None:
        """Minimize over each of the variables in turn."""
        self._moves += _coordinate_pass(variables, *self.layout, self.w, self.V, self.starts)
        self._close()
        if self._moves > _MOVES:
            self.refresh()

    def line_search(self, variables: np.ndarray, direction: np.ndarray, slope: float) -> float:
        """Move along a direction by Armijo's rule, halving from step 1; return the step (0 if none)."""
        before, step, self._moves = self.objective, 1.0, self._moves + 1
        mass, w = np.empty_like(self.mass), self.w.copy()
        while step > 1e-8:
            with np.errstate(over="ignore", invalid="ignore"):  # a step that overflows is not accepted
                self._fill_factors(variables, direction, step)
                self._trial *= self.V
                loss = _close_rows(self._trial, self.starts, mass)
            w[variables] = np.maximum(self.w[variables] + step * direction, 0.0)
            if w.sum() + loss <= before + 1e-4 * step * slope:
                self.w, self.mass, self.loss = w, mass, loss
                self.V, self._trial = self._trial, self.V
                return step
            step *= 0.5
        return 0.0

    def _fill_factors(self, variables: np.ndarray, steps: np.ndarray, factor: float) -> None:
        """Let the trial matrix be exp(-margins) of these steps times the factor."""
        self._outputs[:] = 0.0
        _add_outputs(variables, steps, *self.layout, self._outputs)
        own = self._outputs[self._labels, self._samples]
        np.subtract(self._outputs, own, out=self._trial)
        self._trial *= factor
        np.exp(self._trial, out=self._trial)

    def _close(self) -> None:
        """Derive own entries, masses and the loss from the other entries of V."""
        self.loss = _close_rows(self.V, self.starts, self.mass)


@njit(cache=True, fastmath=FAST)
def _fill_scores(columns, column_of, class_of, V, scores):
    for j in range(scores.size):
        h, v, total = columns[column_of[j]], V[class_of[j]], 0.0
        for i in range(h.size):
            total += h[i] * v[i]
        scores[j] = total


@njit(cache=True, fastmath=FAST)
def _add_outputs(variables, steps, columns, column_of, class_of, F):
    """F[class] += step * column, for each of the variables."""
    for a in range(variables.size):
        j, step = variables[a], steps[a]
        if step != 0.0:
            h, f = columns[column_of[j]], F[class_of[j]]
            for i in range(h.size):
                f[i] += step * h[i]


@njit(cache=True, fastmath=FAST)
def _close_rows(V, starts, mass):
    """V[y_i, i] = -sum of the sample's other entries; mass[k] = sum |V[k]|; return the loss."""
    mass[:] = 0.0
    loss = 0.0
    for y in range(len(V)):
        own = V[y, starts[y] : starts[y + 1]]
        for i in range(own.size):
            own[i] = 0.0
        for k in range(len(V)):
            if k != y:
                other, total = V[k, starts[y] : starts[y + 1]], 0.0
                for i in range(own.size):
                    own[i] -= other[i]
                    total -= other[i]
                mass[k] += total
                mass[y] += total
                loss += total
    return loss


@njit(cache=True, fastmath=FAST)
def _split_sums(h, v):
    """Return V_+ and V_- at the present weight: sums of |v| where the signs of h and v agree, or not."""
    plus, minus = 0.0, 0.0
    for i in range(h.size):
        x = h[i] * v[i]
        plus += max(x, 0.0)
        minus += max(-x, 0.0)
    return plus, minus


@njit(cache=True)
def exact_step(plus, minus):
    """Return the d that minimizes d + plus exp(-d) + minus exp(d).

    The root of (11) as printed in (12) subtracts nearly equal numbers and is nan at V_- = 0 (a column that
    separates the class); this form of it is finite there. At V_+ = 0 it is -inf: to the bound.
    """
    if plus <= 0.0:
        return -math.inf
    return math.log(2.0 * plus / (1.0 + math.sqrt(1.0 + 4.0 * plus * minus)))


@njit(cache=True, fastmath=FAST)
def _move(h, k, step, V, starts):
    """Equation (20): update V when the weight of column h in class k grows by step."""
    up, down = math.exp(step), math.exp(-step)
    for y in range(len(V)):  # samples of the class: all their entries scale by exp(-step h)
        g, v = h[starts[k] : starts[k + 1]], V[y, starts[k] : starts[k + 1]]
        for i in range(g.size):
            v[i] *= down if g[i] > 0 else up
    for y in range(len(V)):  # others: one entry scales by exp(step h), their own takes up the change
        if y != k:
            lo, hi = starts[y], starts[y + 1]
            g, v, own = h[lo:hi], V[k, lo:hi], V[y, lo:hi]
            for i in range(g.size):
                old = v[i]
                new = old * (up if g[i] > 0 else down)
                v[i] = new
                own[i] += old - new


@njit(cache=True)
def _coordinate_pass(variables, columns, column_of, class_of, w, V, starts):
    """Lines 5 to 10 of algorithm 2; return the number of moves."""
    moves = 0
    for j in variables:
        h, k = columns[column_of[j]], class_of[j]
        plus, minus = _split_sums(h, V[k])
        new = max(0.0, w[j] + exact_step(plus, minus))
        if new != w[j]:
            _move(h, k, new - w[j], V, starts)
            w[j] = new
            moves += 1
    return moves


class LaggedNewton:
    """Projected Newton steps with an old curvature, to a relative gap ``tol``."""

    def __init__(self, state: ExponentialState, tol: float, max_iter: int, *, fine: bool = False):
        self._state, self.tol, self.max_iter, self._is_fine = state, tol, max_iter, fine
        self._metric = ReferenceMetric(np.float64 if fine else np.float32)
        self._is_stale = True
        self._is_fresh = False

    def solve(self, new: np.ndarray, target: float = -math.inf) -> tuple[int, bool, str]:
        """Re-optimize; see the head of the module."""
        state, self._promised = self._state, math.inf
        state.coordinate_pass(new)
        for n_iter in range(self.max_iter + 1):
            if state.objective <= target:
                return n_iter, True, "target reached"
            scores = state.scores()
            gap = state.gap(scores)
            if gap <= self.tol * state.objective:
                return n_iter, True, "duality gap within tol"
            if self._is_fine:
                self._metric.ridge = min(max(_PULL * gap / state.objective, _LEAST_RIDGE), float(_RIDGE))
            if n_iter < self.max_iter:
                self._step(scores)
        return self.max_iter, False, "Increase max_iter or tol."

    def _step(self, scores: np.ndarray) -> None:
        state, metric = self._state, self._metric
        active = np.flatnonzero((state.w > 0) | (scores > 1.0))
        self._prepare(active)
        variables = metric.variables
        root = np.sqrt(state.mass[state.class_of[variables]])
        g = (1.0 - scores[variables]) / root
        z, promised = metric.minimize(g, -state.w[variables] * root)
        slope = float(g @ z)
        step = state.line_search(variables, z / root, slope) if slope < 0 else 0.0
        if step == 0.0:  # the model's rounding outweighs what is left to gain: exact steps gain it
            state.coordinate_pass(active)
        self._is_stale = not self._is_fresh and (step < 1.0 or self._is_new_reference_due(promised))
        self._promised = promised

    def _prepare(self, active: np.ndarray) -> None:
        """Give all active variables slots: in a new reference if one is due, else beside the others."""
        metric = self._metric
        missing = metric.missing(active, len(self._state.w))
        is_clogged = metric.n_held > 32 + 0.1 * len(active)  # slots at their bound cost more than others
        self._is_fresh = self._is_stale or is_clogged or len(missing) > 0.5 * len(active)
        if self._is_fresh:
            self._metric.rebuild(self._state, active)
        elif len(missing):
            self._metric.extend(self._state, missing)

    def _is_new_reference_due(self, promised: float) -> bool:
        """Whether the steps still needed cost more than a new reference and two steps.

        Costs are counts of operations by their weights: 1 is one that nothing speeds up, an addition in a
        vectorized pass over the columns 0.2, a multiplication within a matrix product 0.006 to 0.03, in a
        triangular solve 0.5, and whatever does not depend on the size 3e5.
        """
        if math.isinf(self._promised):
            return False  # the first step of a solve tells nothing
        contraction = promised / self._promised
        if not (promised > 0 and 0 < contraction < 1):
            return True
        # The gap falls with the root of the decrease; where it does not, a tenth is still to be gained.
        goal = min(0.03 * self.tol**2 * self._state.objective, 0.1 * promised)
        state, n = self._state, len(self._metric.variables)
        reference = 0.02 * n**2 * (1.5 * state.n_samples / state.n_classes + 0.3 * n) + 3e5
        step = 0.2 * len(state.w) * state.n_samples + 0.5 * n**2 + 3e5
        return math.log(goal / promised) / math.log(contraction) * step > reference + 2 * step


class ReferenceMetric:
    """Cholesky factor of the scaled Hessian at a reference point, over a growing list of variables."""

    def __init__(self, dtype: type = np.float32):
        self._dtype, self.ridge = dtype, _RIDGE
        self.variables = np.empty(0, dtype=np.intp)
        self._slot_of = np.empty(0, dtype=np.intp)
        self._factor = np.empty((0, 0), dtype=self._dtype)
        self._forget_units()
        self.n_held = 0

    def missing(self, variables: np.ndarray, n_variables: int) -> np.ndarray:
        """Return those of the variables that have no slot, out of n_variables that exist by now."""
        self._slot_of = np.append(self._slot_of, np.full(n_variables - len(self._slot_of), -1))
        return variables[self._slot_of[variables] < 0]

    def extend(self, state: ExponentialState, variables: np.ndarray) -> None:
        """Append slots, with the curvature at the reference point."""
        first = len(self.variables)
        self._take(state, variables)
        columns = state.column_of[self.variables[self._slots]]
        row = np.empty(len(self.variables), dtype=self._dtype)
        for s in range(first, len(self.variables)):
            k = state.class_of[self.variables[s]]
            h = state.columns[state.column_of[self.variables[s]]]
            _fill_row(h, k, columns, self._ends, state.columns, state.starts, self._weights, self._root, row)
            self._factor[s, self._slots] = row
            self._factor_row(s)

    @one_thread
    def rebuild(self, state: ExponentialState, variables: np.ndarray) -> None:
        """Make the present point the reference, with slots for these variables alone."""
        self._slot_of[self.variables] = -1
        self.variables = self.variables[:0]
        self._forget_units()
        self._take(state, variables[np.argsort(state.class_of[variables], kind="stable")])
        self._root = np.sqrt(np.maximum(state.mass, np.finfo(float).tiny)).astype(self._dtype)
        self._weights = (np.abs(state.V) / self._root[:, None] ** 2).astype(self._dtype)
        self._factorize(self._hessian(state))

    @one_thread
    def minimize(self, g: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, float]:
        """Minimize the model over z >= low; return z and the decrease that the model promises."""
        y, z = g.astype(self._dtype), np.empty(len(g))
        _solve_lower(self._factor, y[None], _FIRST, _FIRST, _FIRST, len(g))
        bound = (low >= 0) & (g > 0)
        for _ in range(_ROUNDS):  # primal-dual active set: who leaves the bounds, who is held there
            held = np.flatnonzero(bound)
            force = self._minimize_held(y, held, low[held], z)
            below = z < low
            below[held] = False
            if not (below.any() or (force < 0).any()):
                break
            bound[held[force < 0]] = False
            bound |= below
        self.n_held = len(held)
        return np.maximum(z, low), float(-0.5 * (g @ z + force @ low[held]))

    def _minimize_held(self, y: np.ndarray, held: np.ndarray, at: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Minimize the model, into z, with some slots held at given values; return its gradient there.

        y is inv(L) g, and W = inv(L) E, as rows, E the unit vectors of the held slots; the gradient there is
        force with (W'W) force = W'y + at.
        """
        x, force = -y, np.empty(0)
        if len(held):
            W = self._units_of(held)
            G, right = (W @ W.T).astype(np.float64), at + W @ y
            _, force, failed = dposv(G, right, lower=True)
            if failed:  # rounding made G indefinite
                force = np.linalg.lstsq(G, right)[0]
            x += force.astype(self._dtype) @ W
        _solve_upper(self._factor, x)
        z[:] = x
        z[held] = at
        return force

    def _forget_units(self) -> None:
        """Drop the cache of inv(L) e_s, which is good until the next reference."""
        self._units = np.empty((0, 0), dtype=self._dtype)
        self._unit_rows = self._unit_slots = np.empty(0, dtype=np.intp)
        self._unit_lengths = np.empty(0, dtype=np.intp)

    def _units_of(self, held: np.ndarray) -> np.ndarray:
        """Return inv(L) e_s as rows, for the slots s that are held: most of them were held before."""
        n, size = len(self.variables), len(self._unit_slots)
        if len(self._unit_rows) < n:
            self._unit_rows = np.append(self._unit_rows, np.full(n - len(self._unit_rows), -1))
        fresh = held[self._unit_rows[held] < 0]
        self._unit_slots = np.append(self._unit_slots, fresh)
        self._unit_lengths = np.append(self._unit_lengths, fresh)
        if len(self._unit_slots) > len(self._units) or self._units.shape[1] < n:
            grown = np.zeros((2 * len(self._unit_slots), len(self._factor)), dtype=self._dtype)
            grown[: len(self._units), : self._units.shape[1]] = self._units
            self._units = grown
        self._unit_rows[fresh] = np.arange(size, size + len(fresh))
        self._units[self._unit_rows[fresh], fresh] = 1.0
        rows = self._unit_rows[held]
        _solve_lower(self._factor, self._units, rows, self._unit_slots, self._unit_lengths, n)
        self._unit_lengths[rows] = n
        return self._units[rows, :n]

    def _take(self, state: ExponentialState, variables: np.ndarray) -> None:
        """Give slots to variables, make room for them, and list the slots by class."""
        first, n = len(self.variables), len(self.variables) + len(variables)
        self.variables = np.append(self.variables, variables)
        self._slot_of[variables] = np.arange(first, n)
        if n > len(self._factor):
            grown = np.empty((n + n // 4 + 32,) * 2, dtype=self._dtype)
            grown[:first, :first] = self._factor[:first, :first]
            self._factor = grown
        classes = state.class_of[self.variables]
        self._slots = np.argsort(classes, kind="stable")
        self._ends = np.searchsorted(classes[self._slots], np.arange(state.n_classes + 1))

    def _hessian(self, state: ExponentialState) -> np.ndarray:
        """Return R, whose slots are sorted by class: first within the classes, then across them."""
        n, m, ends = len(self.variables), state.n_samples, self._ends
        R, columns = np.zeros((n, n), dtype=self._dtype), state.column_of[self.variables]
        work, roots = np.empty((n, m), dtype=self._dtype), np.sqrt(self._weights)
        _weigh(columns, state.columns, ends, roots, 0, work)
        for k in range(state.n_classes):
            own = slice(ends[k], ends[k + 1])
            R[own, own] = work[own] @ work[own].T
        for y in range(state.n_classes):
            own, rows = slice(ends[y], ends[y + 1]), slice(state.starts[y], state.starts[y + 1])
            scaled = (self._root / self._root[y])[:, None] * self._weights[:, rows]
            scaled[y] = 1.0  # plain for class y, weighted by the reference for the others
            _weigh(columns, state.columns, ends, scaled, rows.start, work)
            Z = work[:, rows]
            across = Z[own] @ Z.T
            across[:, own] = 0.0
            R[own] -= across
            R[:, own] -= across.T
        return R

    def _factorize(self, R: np.ndarray) -> None:
        n = len(R)
        R[np.diag_indices(n)] = 1.0 + self.ridge
        try:
            self._factor[:n, :n] = cholesky(R, lower=True, check_finite=False)
        except LinAlgError:  # rounding made R indefinite: row by row, with raised pivots
            for s in range(n):
                self._factor[s, : s + 1] = R[s, : s + 1]
                self._factor_row(s)

    def _factor_row(self, s: int) -> None:
        """Turn row s of R into that of the factor; a pivot lost to rounding is raised to the ridge."""
        L = self._factor
        _solve_lower(L, L[s : s + 1], _FIRST, _FIRST, _FIRST, s)
        L[s, s] = np.sqrt(max(1.0 + self.ridge - np.square(L[s, :s]).sum(), self.ridge))


@njit(cache=True, fastmath=FAST)
def _weigh(picked, columns, ends, X, at, out):
    """Write to out the columns of each class e times X[e], on the samples from ``at`` on."""
    for e in range(len(X)):
        x = X[e]
        for a in range(ends[e], ends[e + 1]):
            h, row = columns[picked[a]][at : at + x.size], out[a][at : at + x.size]
            for i in range(x.size):
                row[i] = X.dtype.type(h[i]) * x[i]


@njit(cache=True, fastmath=FAST)
def _fill_row(h, k, picked, ends, columns, starts, X, root, row):
    """Curvature between column h in class k and all others, those of class e at ends[e]:ends[e + 1]."""
    lo, hi = starts[k], starts[k + 1]
    own, other = np.empty(h.size, dtype=X.dtype), np.empty(hi - lo, dtype=X.dtype)
    for i in range(h.size):
        own[i] = X.dtype.type(h[i]) * X[k, i]
    for e in range(starts.size - 1):
        first, last = (0, h.size) if e == k else (starts[e], starts[e + 1])
        ratio = X.dtype.type(-1.0) if e == k else root[k] / root[e]
        u, v = h[lo:hi], X[e, lo:hi]
        for i in range(v.size):
            other[i] = X.dtype.type(0.0) if e == k else X.dtype.type(u[i]) * v[i] / ratio
        for b in range(ends[e], ends[e + 1]):
            g, near, far = columns[picked[b]], X.dtype.type(0.0), X.dtype.type(0.0)
            u, v = g[first:last], own[first:last]
            for i in range(v.size):
                near += X.dtype.type(u[i]) * v[i]
            u = g[lo:hi]
            for i in range(other.size):
                far += X.dtype.type(u[i]) * other[i]
            row[b] = -ratio * near - far


@njit(cache=True, fastmath=FAST)
def _solve_lower(L, X, rows, slots, lengths, n):
    """Replace X[r] by inv(L) X[r] up to position n, from lengths[r] on; before slots[r] it is 0.

    L is read once for all rows.
    """
    first = n
    for r in rows:
        first = min(first, max(lengths[r], slots[r]))
    for t in range(first, n):
        for r in rows:
            if t >= lengths[r] and t >= slots[r]:
                u, v, total = L[t, slots[r] : t], X[r, slots[r] : t], X.dtype.type(0.0)
                for i in range(v.size):
                    total += u[i] * v[i]
                X[r, t] = (X[r, t] - total) / L[t, t]


@njit(cache=True, fastmath=FAST)
def _solve_upper(L, x):
    """Replace x by inv(L') x."""
    for t in range(x.size - 1, -1, -1):
        x[t] /= L[t, t]
        u, a = L[t, :t], x[t]
        for i in range(u.size):
            x[i] -= a * u[i]


class FastCoordinateDescent:
    """Algorithm 2; ``random`` draws the order from the second iteration on."""

    def __init__(self, state: ExponentialState, eps: float, tau_max: int, random: np.random.Generator):
        self._state, self.eps, self.tau_max, self._random = state, eps, tau_max, random

    def solve(self, new: np.ndarray, target: float = -math.inf) -> tuple[int, bool, str]:
        """Re-optimize; see the head of the module."""
        state, order = self._state, new
        for tau in range(1, self.tau_max + 1):
            state.coordinate_pass(order)
            if state.objective <= target:
                return tau, True, "target reached"
            violated = np.flatnonzero(state.violations(state.scores()) > self.eps)
            if not len(violated):
                return tau, True, "violations within eps"
            order = self._random.choice(violated, len(violated))
        return self.tau_max, True, "tau_max reached"


class _Reached(Exception):  # noqa: N818 - a signal, not an error
    """Raised inside the objective function when a stopping rule of ours holds."""


class LimitedMemory:
    """L-BFGS-B; ``tol`` is a relative duality gap that also ends it, and 0 leaves the end to scipy."""

    def __init__(
        self, state: ExponentialState, tol: float = 0.0, max_iter: int = 15_000, *, ftol=2.2e-9, gtol=1e-5
    ):
        self._state, self.tol = state, tol
        self._options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": ftol, "gtol": gtol}

    def solve(self, new: np.ndarray, target: float = -math.inf) -> tuple[int, bool, str]:
        """Re-optimize; see the head of the module."""
        state, self._target, self._calls = self._state, target, 0
        if not len(state.w):  # scipy takes no problem without variables
            return 0, True, "there are no columns"
        try:
            found = minimize(
                self._evaluate, state.w, jac=True, method="L-BFGS-B",
                bounds=[(0.0, None)] * len(state.w), options=self._options,
            )  # fmt: skip
        except _Reached:
            return self._calls, True, "tol or target reached"
        state.w = found.x
        state.refresh()
        return int(found.nit), bool(found.success), str(found.message)

    def _evaluate(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Objective and gradient at w."""
        state = self._state
        state.w, self._calls = w.copy(), self._calls + 1
        state.refresh()
        scores = state.scores()
        objective = state.objective
        if objective <= self._target or state.gap(scores) <= self.tol * objective:
            raise _Reached
        return objective, 1.0 - scores
