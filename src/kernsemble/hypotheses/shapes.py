r"""Additive functions as tables: what an infinite ensemble of stumps says about each column.

``f(x) = sum_d g_d(x_d)``, each g_d linear between its knots and constant beyond them, with a table of values
at the knots for each machine. A value costs one binary search and one interpolation a column, whatever the
number of support vectors. In an ensemble of all stumps the weight of the stumps with a threshold in [s, t] is
``g_d(t) - g_d(s)``, so the total variation of g_d is the absolute weight of all stumps on column d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._threads import run_pieces

_BLOCK = 256  # rows that are searched side by side


class ShapeFunction(NamedTuple):
    """One column's function: ``values`` (n_knots, n_machines) at ascending ``knots`` (n_knots,)."""

    knots: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Shapes:
    """Tables of all columns and machines.

    Attributes
    ----------
    knots : ndarray of shape (n_knots,)
        Knots, ascending within a column, one column after the other.
    first : ndarray of shape (n_features + 1,)
        Where each column's knots begin; each has at least one.
    tables : ndarray of shape (n_knots, n_machines)
        Values at the knots.
    """

    knots: np.ndarray
    first: np.ndarray
    tables: np.ndarray

    @classmethod
    def of_kernel(cls, X: np.ndarray, beta: np.ndarray) -> Shapes:
        """Shapes of ``sum_i beta_ki (-||x - x_i||_1)`` for weights beta (n_machines, n) that sum to zero.

        Examples
        --------
        >>> import numpy as np
        >>> from kernsemble.hypotheses.shapes import Shapes
        >>> shapes = Shapes.of_kernel(np.array([[0.0], [1.0]]), np.array([[-1.0, 1.0]]))
        >>> shapes.decision(np.array([[-9.0], [0.5], [1.0]])).ravel()
        array([-1.,  0.,  1.])
        """
        knots, tables = [], []
        for column in X.T:
            values, codes = np.unique(column, return_inverse=True)
            weights = np.array([np.bincount(codes, b, minlength=len(values)) for b in beta]).T
            rise = -2.0 * np.diff(values)[:, None] * np.cumsum(weights, axis=0)[:-1]
            start = (beta @ (values[0] - column))[None]  # of -|t - x| at the least t
            knots.append(values)
            tables.append(np.cumsum(np.concatenate([start, rise]), axis=0))
        return cls(np.concatenate(knots), np.cumsum([0, *map(len, knots)]), np.concatenate(tables))

    @classmethod
    def join(cls, parts: list[Shapes]) -> Shapes:
        """One set of tables for machines with knots of their own, in columns that span the same ranges."""
        if len(parts) == 1:
            return parts[0]
        columns = [
            np.unique(np.concatenate(same)) for same in zip(*(part._columns for part in parts), strict=True)
        ]
        knots, first = np.concatenate(columns), np.cumsum([0, *map(len, columns)])
        kept = [np.packbits(np.concatenate(list(map(np.isin, columns, part._columns)))) for part in parts]
        return _Joined.of(knots, first, kept, [part.tables for part in parts])

    @property
    def _columns(self) -> list[np.ndarray]:
        return [self.knots[a:b] for a, b in pairwise(self.first)]

    @property
    def functions(self) -> list[ShapeFunction]:
        """Each column's function."""
        return [ShapeFunction(self.knots[a:b], self.tables[a:b]) for a, b in pairwise(self.first)]

    @property
    def variation(self) -> np.ndarray:
        """Total variation of each column's functions (n_features, n_machines)."""
        return np.array([np.abs(np.diff(values, axis=0)).sum(axis=0) for _, values in self.functions])

    def decision(self, X: np.ndarray) -> np.ndarray:
        """Values (n, n_machines) at rows X (n, n_features)."""
        out = np.zeros((len(X), self.tables.shape[1]))
        work = partial(_decide, X, self.knots, self.first, self.tables, out)
        blocks = np.full(-(-len(X) // _BLOCK), _BLOCK * X.shape[1] * (10 + out.shape[1]))
        run_pieces(work, blocks)
        return out

    def thin(self, tolerance: float) -> Shapes:
        """Leave knots out such that no column's function changes by more than ``tolerance``."""
        kept = np.zeros(len(self.knots), dtype=np.bool_)
        _thin(self.knots, self.first, self.tables, tolerance, kept)
        first = np.append(0, np.cumsum(kept))[self.first]
        return Shapes(self.knots[kept], first, self.tables[kept])

    def at(self, knots: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Tables of the same functions at other knots, which must span the same ranges."""
        tables = np.empty((len(knots), self.tables.shape[1]))
        for (a, b), function in zip(pairwise(first), self.functions, strict=True):
            for k, values in enumerate(function.values.T):
                tables[a:b, k] = np.interp(knots[a:b], function.knots, values)
        return tables


@dataclass(frozen=True)
class _Joined(Shapes):
    """Shapes of several machines; pickled as which knots each machine has, a bit a knot, and values there."""

    kept: list[np.ndarray]
    values: list[np.ndarray]

    @classmethod
    def of(
        cls, knots: np.ndarray, first: np.ndarray, kept: list[np.ndarray], values: list[np.ndarray]
    ) -> _Joined:
        """Fill in the tables at the knots of other machines."""
        tables = []
        for bits, table in zip(kept, values, strict=True):
            own = np.unpackbits(bits, count=len(knots)).astype(bool)
            part = Shapes(knots[own], np.append(0, np.cumsum(own))[first], table)
            tables.append(part.at(knots, first))
        return cls(knots, first, np.hstack(tables), kept, values)

    def __reduce__(self) -> tuple:
        return _Joined.of, (self.knots, self.first, self.kept, self.values)


@njit(cache=True, nogil=True)
def _decide(X, knots, first, tables, out, start, stop):
    """Add up the functions for the rows of some blocks; searches of several rows go in step."""
    n, K = out.shape
    x, places = np.empty(_BLOCK), np.empty(_BLOCK, np.int64)
    for block in range(start, stop):
        row = block * _BLOCK
        n_rows = min(_BLOCK, n - row)
        for f in range(len(first) - 1):
            own, table = knots[first[f] : first[f + 1]], tables[first[f] : first[f + 1]]
            for i in range(n_rows):
                x[i] = min(max(np.float64(X[row + i, f]), own[0]), own[-1])
                places[i] = 0
            length = len(own) - 1  # of the knots but the last, count those at or below x, less one
            while length > 1:
                half = length // 2
                for i in range(n_rows):
                    places[i] += half if own[uint64(places[i] + half)] <= x[i] else 0
                length -= half
            if len(own) == 1:
                for i in range(n_rows):
                    for k in range(K):
                        out[row + i, k] += table[0, k]
                continue
            for i in range(n_rows):
                p = uint64(places[i])
                share = (x[i] - own[p]) / (own[p + uint64(1)] - own[p])
                for k in range(K):
                    out[row + i, k] += (1.0 - share) * table[p, k] + share * table[p + uint64(1), k]


@njit(cache=True, nogil=True)
def _thin(knots, first, tables, tolerance, kept):
    """From each kept knot as far as a straight line passes all knots between within the tolerance."""
    K = tables.shape[1]
    low, high = np.empty(K), np.empty(K)
    for f in range(len(first) - 1):
        anchor, stop = first[f], first[f + 1]
        kept[anchor] = True
        while anchor < stop - 1:
            low[:], high[:] = -np.inf, np.inf
            best = k = anchor + 1
            while k < stop:
                width, inside, open_ = knots[k] - knots[anchor], True, True
                for m in range(K):
                    rise = tables[k, m] - tables[anchor, m]
                    inside &= low[m] * width <= rise <= high[m] * width
                    low[m] = max(low[m], (rise - tolerance) / width)
                    high[m] = min(high[m], (rise + tolerance) / width)
                    open_ &= low[m] <= high[m]
                if inside:
                    best = k
                if not open_:
                    break
                k += 1
            kept[best] = True
            anchor = best
