r"""State of the multi-class exponential loss: its dual variables, kept up to date while the weights move.

With the margins gamma of lin2012, equation (1), a weight s_i for each sample and p = (K - 1) sum_i s_i (which
is the paper's m (K - 1) at equal weights), the loss is  Lambda = (C/p) sum_i s_i sum_{y != y_i}
exp(-gamma_(i,y)). The state is one K x m matrix,

    V[k, i] = -lambda_(i,k)                 where k != y_i,   lambda_(i,k) = (C s_i / p) exp(-gamma_(i,k)) (5)
    V[k, i] = sum_{y != y_i} lambda_(i,y)   where k == y_i,

and it says everything: the SCORE of column h in class k, the left side of (3b), is ``V[k] @ h``; Lambda is
the sum of the entries with k == y_i; and the MASS of class k, ``sum_i |V[k, i]|``, is the curvature of Lambda
along any column of that class. The pairs (i, y) of the paper are never listed. Samples are sorted by class,
so those of one class are a block and no loop asks for a label. Exponents are margins, not scores, so large
weights cannot overflow them.

A VARIABLE is the weight of one column in one class: MultiBoost-cw has one for each column, MultiBoost has K.

Paper symbols: mu = lambda p / C, V_+ and V_- = the results of ``_split_sums``, delta h = a column with the
signs of V.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # lets sums be vectorized; keeps nan and inf
_MOVES = 10_000  # coordinate moves between two computations of V from the weights: rounding stays below 1e-11


class ExponentialState:
    """Columns, variables, weights and the dual matrix of one training set.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes 0..K-1 of the samples.
    n_classes : int
        Number of classes K.
    C : float
        The loss is C times the weighted mean of exp(-gamma) over all pairs.
    sample_weight : ndarray of shape (n_samples,), optional
        Weights s_i; equal by default.
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


@njit(cache=True, fastmath=_FAST)
def _fill_scores(columns, column_of, class_of, V, scores):
    for j in range(scores.size):
        h, v, total = columns[column_of[j]], V[class_of[j]], 0.0
        for i in range(h.size):
            total += h[i] * v[i]
        scores[j] = total


@njit(cache=True, fastmath=_FAST)
def _add_outputs(variables, steps, columns, column_of, class_of, F):
    """F[class] += step * column, for each of the variables."""
    for a in range(variables.size):
        j, step = variables[a], steps[a]
        if step != 0.0:
            h, f = columns[column_of[j]], F[class_of[j]]
            for i in range(h.size):
                f[i] += step * h[i]


@njit(cache=True, fastmath=_FAST)
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


@njit(cache=True, fastmath=_FAST)
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


@njit(cache=True, fastmath=_FAST)
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
