"""Curvature of the multi-class exponential loss, factorized at a reference point, scaled to the present.

Problem: the quadratic model of a Newton step, over a growing list of variables (each has a SLOT),

    minimize  g'z + z'Rz / 2   subject to   z >= low,

where R is the Hessian of the loss scaled to a unit diagonal. Between the variables (h, k) and (h', k') the
Hessian is ``sum_i |V[k, i]| h_i h'_i`` if k = k'. Otherwise two classes meet only in their own samples: it is
minus the sum of lambda_(i,k') h_i h'_i over the samples of class k and of lambda_(i,k) h_i h'_i over those of
class k', so all the blocks off the diagonal cost no more than twice those on it.

R and its Cholesky factor are kept at a REFERENCE point, an earlier iterate. Scaling rows and columns by the
present masses makes the diagonal exact, whatever the reference; columns that arrive later are appended with
the reference's weights, one row of the factor each, so the model stays positive definite. The few slots that
sit on their bound are handled by a Schur complement: the factor is never taken apart. All of it is in
float32: a Newton step need not be exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError, cholesky
from threadpoolctl import ThreadpoolController

from kernsemble.masters.exponential_state import ExponentialState

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # lets sums be vectorized; keeps nan and inf
_RIDGE = np.float32(1e-4)  # added to the unit diagonal: two stumps may differ in one sample of little weight
_ROUNDS = 5  # of the active-set method on one model; two or three settle it
_blas = ThreadpoolController()


class ReferenceMetric:
    """Cholesky factor of the scaled Hessian at a reference point, over a growing list of variables."""

    def __init__(self):
        self.variables = np.empty(0, dtype=np.intp)
        self._slot_of = np.empty(0, dtype=np.intp)
        self._factor = np.empty((0, 0), dtype=np.float32)
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
        reference = state.starts, self._weights, self._root
        _append_rows(
            first, self._slots, self._ends, self.variables, *state.layout, *reference, self._factor, _RIDGE
        )

    def rebuild(self, state: ExponentialState, variables: np.ndarray) -> None:
        """Make the present point the reference, with slots for these variables alone."""
        self._slot_of[self.variables] = -1
        self.variables = self.variables[:0]
        self._forget_units()
        self._take(state, variables[np.argsort(state.class_of[variables], kind="stable")])
        self._root = np.sqrt(np.maximum(state.mass, np.finfo(float).tiny)).astype(np.float32)
        self._weights = (np.abs(state.V) / self._root[:, None] ** 2).astype(np.float32)
        with _blas.limit(limits=1):  # the last digits of a product depend on the number of threads
            self._factorize(self._hessian(state))

    def minimize(self, g: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, float]:
        """Minimize the model over z >= low; return z and the decrease that the model promises."""
        y, z = g.astype(np.float32), np.empty(len(g))
        _solve_lower(self._factor, y)
        bound = (low >= 0) & (g > 0)
        for _ in range(_ROUNDS):  # primal-dual active set: who leaves the bounds, who is held there
            held = np.flatnonzero(bound)
            force = _minimize_held(self._factor, y, held, self._units_of(held), low[held], z)
            below = z < low
            below[held] = False
            if not (below.any() or (force < 0).any()):
                break
            bound[held[force < 0]] = False
            bound |= below
        self.n_held = len(held)
        return np.maximum(z, low), float(-0.5 * (g @ z + force @ low[held]))

    def _forget_units(self) -> None:
        """Drop the cache of inv(L) e_s, which is good until the next reference."""
        self._units = np.empty((0, 0), dtype=np.float32)
        self._unit_slots = np.empty(0, dtype=np.intp)
        self._unit_lengths = np.empty(0, dtype=np.intp)

    def _units_of(self, held: np.ndarray) -> np.ndarray:
        """Return inv(L) e_s as rows, for the slots s that are held: most of them were held before."""
        fresh = np.setdiff1d(held, self._unit_slots)
        self._unit_slots = np.append(self._unit_slots, fresh)
        self._unit_lengths = np.append(self._unit_lengths, fresh)
        if len(self._unit_slots) > len(self._units) or self._units.shape[1] < len(self.variables):
            grown = np.zeros((2 * len(self._unit_slots), len(self._factor)), dtype=np.float32)
            grown[: len(self._units), : self._units.shape[1]] = self._units
            self._units = grown
        order = np.argsort(self._unit_slots)
        rows = order[np.searchsorted(self._unit_slots, held, sorter=order)]
        _extend_units(
            self._factor, rows, self._unit_slots, self._unit_lengths, len(self.variables), self._units
        )
        return self._units[rows, : len(self.variables)]

    def _take(self, state: ExponentialState, variables: np.ndarray) -> None:
        """Give slots to variables, make room for them, and list the slots by class."""
        first, n = len(self.variables), len(self.variables) + len(variables)
        self.variables = np.append(self.variables, variables)
        self._slot_of[variables] = np.arange(first, n)
        if n > len(self._factor):
            grown = np.empty((n + n // 4 + 32,) * 2, dtype=np.float32)
            grown[:first, :first] = self._factor[:first, :first]
            self._factor = grown
        classes = state.class_of[self.variables]
        self._slots = np.argsort(classes, kind="stable")
        self._ends = np.searchsorted(classes[self._slots], np.arange(state.n_classes + 1))

    def _hessian(self, state: ExponentialState) -> np.ndarray:
        """Return R, whose slots are sorted by class: first within the classes, then across them."""
        n, m, ends = len(self.variables), state.n_samples, self._ends
        R, columns = np.zeros((n, n), dtype=np.float32), state.column_of[self.variables]
        work, roots = np.empty((n, m), dtype=np.float32), np.sqrt(self._weights)
        for k in range(state.n_classes):
            own = slice(ends[k], ends[k + 1])
            _weigh_class(columns[own], state.columns, roots[k], work[own])
            R[own, own] = work[own] @ work[own].T
        for y in range(state.n_classes):
            own, rows = slice(ends[y], ends[y + 1]), slice(state.starts[y], state.starts[y + 1])
            Z = work[:, rows.start : rows.stop]
            _weigh_block(columns, state.columns, ends, y, rows.start, rows.stop, self._weights, self._root, Z)
            across = Z[own] @ Z.T
            across[:, own] = 0.0
            R[own] -= across
            R[:, own] -= across.T
        return R

    def _factorize(self, R: np.ndarray) -> None:
        n = len(R)
        R[np.diag_indices(n)] = 1.0 + _RIDGE
        try:
            self._factor[:n, :n] = cholesky(R, lower=True, check_finite=False)
        except LinAlgError:  # rounding made R indefinite: row by row, with raised pivots
            for s in range(n):
                _factor_row(self._factor, s, R[s], _RIDGE)


@njit(cache=True, fastmath=_FAST)
def _dot(h, x):
    total = np.float32(0.0)
    for i in range(x.size):
        total += np.float32(h[i]) * x[i]
    return total


@njit(cache=True, fastmath=_FAST)
def _axpy(a, x, y):
    for i in range(y.size):
        y[i] += a * x[i]


@njit(cache=True, fastmath=_FAST)
def _weigh(h, a, x, out):
    for i in range(out.size):
        out[i] = np.float32(h[i]) * (a * x[i])


@njit(cache=True)
def _weigh_class(picked, columns, x, out):
    for a in range(picked.size):
        _weigh(columns[picked[a]], np.float32(1.0), x, out[a])


@njit(cache=True)
def _weigh_block(picked, columns, ends, y, lo, hi, X, root, out):
    """Columns on the samples lo:hi of class y: plain for class y, weighted by the reference for others."""
    one, ones = np.float32(1.0), np.ones(hi - lo, dtype=np.float32)
    for e in range(ends.size - 1):
        for a in range(ends[e], ends[e + 1]):
            h = columns[picked[a]][lo:hi]
            if e == y:
                _weigh(h, one, ones, out[a])
            else:
                _weigh(h, root[e] / root[y], X[e][lo:hi], out[a])


@njit(cache=True)
def _fill_row(s, slots, ends, variables, columns, column_of, class_of, starts, X, root, row):
    """row[t] = R[s, t] for all slots t; ``slots[ends[e]:ends[e + 1]]`` are those of class e."""
    h, k = columns[column_of[variables[s]]], class_of[variables[s]]
    lo, hi = starts[k], starts[k + 1]
    own, other = np.empty(h.size, dtype=np.float32), np.empty(hi - lo, dtype=np.float32)
    _weigh(h, np.float32(1.0), X[k], own)
    for e in range(starts.size - 1):
        first, last, ratio = starts[e], starts[e + 1], root[k] / root[e]
        _weigh(h[lo:hi], 1 / ratio, X[e][lo:hi], other)
        for b in range(ends[e], ends[e + 1]):
            g = columns[column_of[variables[slots[b]]]]
            if e == k:
                row[slots[b]] = _dot(g, own)
            else:
                row[slots[b]] = -ratio * _dot(g[first:last], own[first:last]) - _dot(g[lo:hi], other)


@njit(cache=True)
def _factor_row(L, s, row, ridge):
    """Row s of the Cholesky factor of R + ridge; a pivot lost to rounding is raised to the ridge."""
    pivot = 1.0 + ridge
    for t in range(s):
        L[s, t] = (row[t] - _dot(L[t][:t], L[s][:t])) / L[t, t]
        pivot -= L[s, t] ** 2
    L[s, s] = np.sqrt(max(pivot, ridge))


@njit(cache=True)
def _append_rows(first, slots, ends, variables, columns, column_of, class_of, starts, X, root, L, ridge):
    """Rows of the factor for the slots from ``first`` on."""
    row = np.empty(variables.size, dtype=np.float32)
    for s in range(first, variables.size):
        _fill_row(s, slots, ends, variables, columns, column_of, class_of, starts, X, root, row)
        _factor_row(L, s, row, ridge)


@njit(cache=True)
def _solve_lower(L, x):
    """Replace x by inv(L) x."""
    for t in range(x.size):
        x[t] = (x[t] - _dot(L[t][:t], x[:t])) / L[t, t]


@njit(cache=True)
def _solve_upper(L, x):
    """Replace x by inv(L') x."""
    for t in range(x.size - 1, -1, -1):
        x[t] /= L[t, t]
        _axpy(-x[t], L[t][:t], x[:t])


@njit(cache=True)
def _minimize_held(L, y, held, W, at, z):
    """Minimize the model with some slots held at given values; return its gradient there.

    y is inv(L) g, and W = inv(L) E, as rows, E the unit vectors of the held slots; the gradient there is
    force with (W'W) force = W'y + at.
    """
    size = held.size
    G, force, x = np.empty((size, size)), np.empty(size), -y
    for a in range(size):
        for b in range(a + 1):  # held slots ascend, and W[a] is zero before its own
            G[a, b] = _dot(W[b][held[a] :], W[a][held[a] :])
        force[a] = at[a] + _dot(W[a][held[a] :], y[held[a] :])
    _solve_positive(G, force)
    for a in range(size):
        _axpy(np.float32(force[a]), W[a], x)
    _solve_upper(L, x)
    z[:] = x
    for a in range(size):
        z[held[a]] = at[a]
    return force


@njit(cache=True)
def _extend_units(L, rows, slots, lengths, n, W):
    """W[r] = inv(L) e_slots[r] up to position n, from lengths[r] on; L is read once for all rows."""
    first = n
    for r in rows:
        first = min(first, lengths[r])
    for t in range(first, n):
        for r in rows:
            s = slots[r]
            if t >= lengths[r]:
                W[r, t] = ((t == s) - _dot(L[t][s:t], W[r][s:t])) / L[t, t]
    for r in rows:
        lengths[r] = n


@njit(cache=True)
def _solve_positive(G, x):
    """Replace x by inv(G) x, for a positive definite G whose lower half is given and used up."""
    for a in range(x.size):
        for b in range(a + 1):
            for c in range(b):
                G[a, b] -= G[a, c] * G[b, c]
            G[a, b] = G[a, b] / G[b, b] if b < a else np.sqrt(max(G[a, a], 1e-12))
        for c in range(a):
            x[a] -= G[a, c] * x[c]
        x[a] /= G[a, a]
    for a in range(x.size - 1, -1, -1):
        for c in range(a + 1, x.size):
            x[a] -= G[c, a] * x[c]
        x[a] /= G[a, a]
