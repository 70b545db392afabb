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
from scipy.linalg.lapack import dposv

from kernsemble.masters.exponential_state import ExponentialState
from kernsemble.masters.one_thread import one_thread

_FAST = {"reassoc", "contract", "arcp", "nsz"}  # lets sums be vectorized; keeps nan and inf
_RIDGE = np.float32(1e-4)  # added to the unit diagonal: two stumps may differ in one sample of little weight
_ROUNDS = 5  # of the active-set method on one model; two or three settle it
_FIRST = np.zeros(1, dtype=np.intp)  # one vector, from its start


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
        columns = state.column_of[self.variables[self._slots]]
        row = np.empty(len(self.variables), dtype=np.float32)
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
        self._root = np.sqrt(np.maximum(state.mass, np.finfo(float).tiny)).astype(np.float32)
        self._weights = (np.abs(state.V) / self._root[:, None] ** 2).astype(np.float32)
        self._factorize(self._hessian(state))

    @one_thread
    def minimize(self, g: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, float]:
        """Minimize the model over z >= low; return z and the decrease that the model promises."""
        y, z = g.astype(np.float32), np.empty(len(g))
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
            if failed:  # rounding in float32 made G indefinite
                force = np.linalg.lstsq(G, right)[0]
            x += force.astype(np.float32) @ W
        _solve_upper(self._factor, x)
        z[:] = x
        z[held] = at
        return force

    def _forget_units(self) -> None:
        """Drop the cache of inv(L) e_s, which is good until the next reference."""
        self._units = np.empty((0, 0), dtype=np.float32)
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
            grown = np.zeros((2 * len(self._unit_slots), len(self._factor)), dtype=np.float32)
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
        R[np.diag_indices(n)] = 1.0 + _RIDGE
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
        L[s, s] = np.sqrt(max(1.0 + _RIDGE - np.square(L[s, :s]).sum(), _RIDGE))


@njit(cache=True, fastmath=_FAST)
def _weigh(picked, columns, ends, X, at, out):
    """Write to out the columns of each class e times X[e], on the samples from ``at`` on."""
    for e in range(len(X)):
        x = X[e]
        for a in range(ends[e], ends[e + 1]):
            h, row = columns[picked[a]][at : at + x.size], out[a][at : at + x.size]
            for i in range(x.size):
                row[i] = np.float32(h[i]) * x[i]


@njit(cache=True, fastmath=_FAST)
def _fill_row(h, k, picked, ends, columns, starts, X, root, row):
    """Curvature between column h in class k and all others, those of class e at ends[e]:ends[e + 1]."""
    lo, hi = starts[k], starts[k + 1]
    own, other = np.empty(h.size, dtype=np.float32), np.empty(hi - lo, dtype=np.float32)
    for i in range(h.size):
        own[i] = np.float32(h[i]) * X[k, i]
    for e in range(starts.size - 1):
        first, last = (0, h.size) if e == k else (starts[e], starts[e + 1])
        ratio = np.float32(-1.0) if e == k else root[k] / root[e]
        u, v = h[lo:hi], X[e, lo:hi]
        for i in range(v.size):
            other[i] = np.float32(0.0) if e == k else np.float32(u[i]) * v[i] / ratio
        for b in range(ends[e], ends[e + 1]):
            g, near, far = columns[picked[b]], np.float32(0.0), np.float32(0.0)
            u, v = g[first:last], own[first:last]
            for i in range(v.size):
                near += np.float32(u[i]) * v[i]
            u = g[lo:hi]
            for i in range(other.size):
                far += np.float32(u[i]) * other[i]
            row[b] = -ratio * near - far


@njit(cache=True, fastmath=_FAST)
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
                u, v, total = L[t, slots[r] : t], X[r, slots[r] : t], np.float32(0.0)
                for i in range(v.size):
                    total += u[i] * v[i]
                X[r, t] = (X[r, t] - total) / L[t, t]


@njit(cache=True, fastmath=_FAST)
def _solve_upper(L, x):
    """Replace x by inv(L') x."""
    for t in range(x.size - 1, -1, -1):
        x[t] /= L[t, t]
        u, a = L[t, :t], x[t]
        for i in range(u.size):
            x[i] -= a * u[i]
