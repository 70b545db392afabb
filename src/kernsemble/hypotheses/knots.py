r"""The stump kernel without its matrix: columns as codes of knots, applied in O(n d).

A column takes few values, its knots ``v_1 < .. < v_m``; a row keeps the number of its knot, one, two or four
bytes. With ``K(x, z) = -||x - z||_1`` and weights beta that sum to zero, ``K beta`` is additive and linear
between the knots of each column. With B_k the sum of the weights of rows up to knot k of a column,

    (K beta)_i = sum_d g_d(x_id) + constant,    g_d(v_{k+1}) - g_d(v_k) = -2 (v_{k+1} - v_k) B_dk,
    1/2 beta' K beta = sum_d sum_k (v_{k+1} - v_k) B_dk^2 = 1/2 g' L g,
    1/2 g' L g = sum_d sum_k (g_{d,k+1} - g_{d,k})^2 / (4 (v_{k+1} - v_k)).

So one product with K is a histogram of the weights in each column, a cumulative sum, and a gather. Written
with H, the (n, m) indicator of each row's knots, ``H'beta = L g`` and ``f = H g``: L is one tridiagonal
Laplacian a column, a chain of springs of stiffness ``1 / (2 (v_{k+1} - v_k))``.

A column of more distinct values than ``most`` is rounded: its values, in order, are cut into ``most`` parts
of nearly equal size, and each value is replaced by the mean of its part. What follows is exact for the
rounded rows. Codes are made block by block, so X may be a file that is mapped into memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._threads import run_pieces

MOST = 1 << 16  # distinct values of a column that are kept as they are
_WHOLE = 1 << 22  # rows that are sorted at once, and rows of a sample of more
_PART = 1 << 16  # rows of a file that are read together
_BLOCK = 4096  # rows that are worked on together
_TILE = 256
_FEW = 64  # knots of a column below which a histogram keeps four, lest additions wait for each other


@dataclass(frozen=True)
class Knots:
    """Knots of the columns, one column after the other.

    Attributes
    ----------
    values : ndarray of shape (n_knots,)
        Knots, ascending within a column.
    edges : ndarray of shape (n_knots,)
        A value belongs to the first knot of its column whose edge is not below it; the last has none.
    first : ndarray of shape (n_features + 1,)
        Where each column's knots begin.
    rounded : ndarray of shape (n_features,), bool
        Whether the column had more values than knots.
    """

    values: np.ndarray
    edges: np.ndarray
    first: np.ndarray
    rounded: np.ndarray

    @classmethod
    def of_columns(cls, X: np.ndarray, most: int | None = MOST) -> Knots:
        """Knots of the columns of X (n, d), at most ``most`` a column; None for all values.

        Examples
        --------
        >>> import numpy as np
        >>> from kernsemble.hypotheses.knots import Knots
        >>> Knots.of_columns(np.array([[1.0, 5.0], [2.0, 5.0], [1.0, 6.0]])).values
        array([1., 2., 5., 6.])
        """
        most = most or len(X)
        if len(X) <= _WHOLE:
            return cls._of(_each_column(X, lambda column: _knots_of(column, most)))
        known = distinct_values(X, most)
        edges = edges_of_parts(known, X[sampled(len(X))], most)
        return cls.of_parts(known, edges, sums_of_parts(X, edges))

    @classmethod
    def of_parts(cls, known: list, edges: list, sums: list) -> Knots:
        """Knots from a column's distinct values, or its parts' edges and (2, n_parts) sums and counts."""
        exact = [None if values is None else values.astype(np.float64) for values in known]
        return cls._of(
            [
                (sums[j][0] / sums[j][1], edges[j], True) if values is None else (values, values, False)
                for j, values in enumerate(exact)
            ]
        )

    @classmethod
    def _of(cls, columns: list[tuple[np.ndarray, np.ndarray, bool]]) -> Knots:
        values, edges, rounded = zip(*columns, strict=True)
        first = np.cumsum([0, *map(len, values)])
        return cls(np.concatenate(values), np.concatenate(edges), first, np.array(rounded))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.first) - 1

    @property
    def gaps(self) -> np.ndarray:
        """Distance of each knot to the next of its column; 0 behind the last."""
        gaps = np.append(np.diff(self.values), 0.0)
        gaps[self.first[1:] - 1] = 0.0
        return gaps

    def encode(self, X: np.ndarray) -> np.ndarray:
        """Codes (n_features, n) of rows X (n, n_features), in the smallest type that holds them."""
        most = int(np.diff(self.first).max(initial=1))
        codes = np.empty((self.n_features, len(X)), dtype=np.min_scalar_type(most - 1))
        for start in range(0, len(X), _PART):  # a file is read once
            block = np.asarray(X[start : start + _PART])
            work = partial(_encode, block, self.edges, self.first, codes[:, start : start + _PART])
            run_pieces(work, np.full(self.n_features, 16 * len(block)))
        return codes


def _each_column(X: np.ndarray, work: Callable[[np.ndarray], Any]) -> list:
    """Results of a function of each column, in threads."""
    results: list = [None] * X.shape[1]

    def some(start: int, stop: int) -> None:
        for j in range(start, stop):
            results[j] = work(X[:, j])

    run_pieces(some, np.full(X.shape[1], 20 * len(X)))
    return results


def _knots_of(column: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Knots and edges of a column, and whether it is rounded."""
    ascending = np.sort(column)
    starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
    if len(starts) <= most:
        values = ascending[starts].astype(np.float64)
        return values, values, False
    cuts = ascending[np.arange(1, most) * len(column) // most]
    starts = np.unique(np.append(0, np.searchsorted(ascending, cuts)))  # equal values stay together
    sums = np.add.reduceat(ascending, starts, dtype=np.float64)
    values = sums / np.diff(np.append(starts, len(column)))
    return values, np.append(ascending[starts[1:] - 1], ascending[-1]).astype(np.float64), True


def sampled(n: int) -> np.ndarray:
    """Numbers of the rows that stand for n where not all are sorted at once."""
    return np.unique(np.linspace(0, n - 1, min(n, _WHOLE)).astype(np.intp))


def distinct_values(X: np.ndarray, most: int) -> list[np.ndarray | None]:
    """Distinct values of each column, or None where they are more than ``most``; block by block."""
    known: list = [np.empty(0, X.dtype)] * X.shape[1]
    left = list(range(X.shape[1]))
    for start in range(0, len(X), _PART):
        if not left:
            break
        found = _each_column(np.asarray(X[start : start + _PART])[:, left], np.unique)
        for j, values in zip(left, found, strict=True):
            known[j] = _union(known[j], values, most)
        left = [j for j in left if known[j] is not None]
    return known


def merge_values(one: list, other: list, most: int) -> list[np.ndarray | None]:
    """Distinct values in either of two sets of rows."""
    return [_union(a, b, most) for a, b in zip(one, other, strict=True)]


def _union(one: np.ndarray | None, other: np.ndarray | None, most: int) -> np.ndarray | None:
    if one is None or other is None or len(other) > most:
        return None
    both = np.union1d(one, other)
    return both if len(both) <= most else None


def edges_of_parts(known: list, sample: np.ndarray, most: int) -> list[np.ndarray | None]:
    """Edges of the parts of columns that are rounded, of nearly equal size in the sample; else None."""
    rounded = [j for j, values in enumerate(known) if values is None]
    found = _each_column(sample[:, rounded], lambda column: _knots_of(column, most)[1])
    edges: list[np.ndarray | None] = [None] * len(known)
    for j, own in zip(rounded, found, strict=True):
        edges[j] = own
    return edges


def sums_of_parts(X: np.ndarray, edges: list[np.ndarray | None]) -> list[np.ndarray | None]:
    """Sum and number of the values in each part (2, n_parts), of columns that are rounded; block by block."""
    sums = [None if own is None else np.zeros((2, len(own))) for own in edges]
    rounded = [j for j, own in enumerate(edges) if own is not None]
    if not rounded:
        return sums
    parts = Knots._of([(edges[j], edges[j], True) for j in rounded])
    for start in range(0, len(X), _PART):
        block = np.asarray(X[start : start + _PART])[:, rounded]
        for j, column, places in zip(rounded, block.T, parts.encode(block), strict=True):
            sums[j][0] += np.bincount(places, column, len(edges[j]))
            sums[j][1] += np.bincount(places, minlength=len(edges[j]))
    return sums


def gather(codes: np.ndarray, first: np.ndarray, table: np.ndarray) -> np.ndarray:
    """``H table``: sums (n,) of the table's entries at the rows' knots."""
    d, n = codes.shape
    out = np.zeros(n)
    blocks = np.full(-(-n // _BLOCK), d * _BLOCK // 4)
    run_pieces(partial(_gather, codes, first, table, out), blocks)
    return out


def histogram(codes: np.ndarray, first: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """``H' weights``: sums (n_knots,) of the rows' weights at each knot."""
    out = np.zeros(first[-1])
    run_pieces(partial(_histogram, codes, first, weights, out), np.full(len(codes), len(weights) // 2))
    return out


def take_rows(codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Codes of some rows."""
    taken = np.empty((len(codes), len(rows)), dtype=codes.dtype)
    run_pieces(partial(_take, codes, rows, taken), np.full(len(codes), len(rows)))
    return taken


def solve_laplacian(knots: Knots, gaps: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Some g with ``L g = right``, where right sums to zero in each column; g is 0 at each first knot."""
    g = np.empty_like(right)
    _integrate(gaps, knots.first, right, g)
    return g


def energy(knots: Knots, gaps: np.ndarray, right: np.ndarray) -> float:
    """``1/2 g' L g`` of that g."""
    return float(_energy(gaps, knots.first, right))


@njit(cache=True, nogil=True)
def _encode(X, edges, first, codes, start, stop):
    """Codes of columns start..stop-1: how many edges but the last lie below, by binary search in step."""
    x, places = np.empty(_TILE, X.dtype), np.empty(_TILE, np.int64)
    for f in range(start, stop):
        own = edges[first[f] : first[f + 1] - 1]
        for row in range(0, len(X), _TILE):
            n_rows = min(_TILE, len(X) - row)
            for i in range(n_rows):
                x[i] = X[row + i, f]
                places[i] = 0
            length = len(own)
            while length > 1:
                half = length // 2
                for i in range(n_rows):
                    places[i] += half if own[uint64(places[i] + half - 1)] < x[i] else 0
                length -= half
            for i in range(n_rows):
                last = length == 1 and own[uint64(places[i])] < x[i]
                codes[f, row + i] = places[i] + (1 if last else 0)


@njit(cache=True, nogil=True)
def _gather(codes, first, table, out, start, stop):
    """Add up the tables' entries for the rows of some blocks, four columns a sweep."""
    d, n = codes.shape
    for block in range(start, stop):
        begin, end = block * _BLOCK, min(n, (block + 1) * _BLOCK)
        o = out[begin:end]
        for f in range(0, d - d % 4, 4):
            a, b = codes[f, begin:end], codes[f + 1, begin:end]
            c, e = codes[f + 2, begin:end], codes[f + 3, begin:end]
            ta, tb = table[first[f] : first[f + 1]], table[first[f + 1] : first[f + 2]]
            tc, te = table[first[f + 2] : first[f + 3]], table[first[f + 3] : first[f + 4]]
            for i in range(end - begin):
                o[i] += (ta[uint64(a[i])] + tb[uint64(b[i])]) + (tc[uint64(c[i])] + te[uint64(e[i])])
        for f in range(d - d % 4, d):
            a, ta = codes[f, begin:end], table[first[f] : first[f + 1]]
            for i in range(end - begin):
                o[i] += ta[uint64(a[i])]


@njit(cache=True, nogil=True)
def _histogram(codes, first, weights, out, start, stop):
    """Add the weights up at each knot of columns start..stop-1."""
    n = codes.shape[1]
    four = np.empty((4, _FEW))
    for f in range(start, stop):
        c, o = codes[f], out[first[f] : first[f + 1]]
        if len(o) > _FEW:
            for i in range(n):
                o[uint64(c[i])] += weights[i]
            continue
        four[:] = 0.0
        for i in range(0, n - n % 4, 4):
            four[0, uint64(c[i])] += weights[i]
            four[1, uint64(c[i + 1])] += weights[i + 1]
            four[2, uint64(c[i + 2])] += weights[i + 2]
            four[3, uint64(c[i + 3])] += weights[i + 3]
        for i in range(n - n % 4, n):
            four[0, uint64(c[i])] += weights[i]
        for k in range(len(o)):
            o[k] = (four[0, k] + four[1, k]) + (four[2, k] + four[3, k])


@njit(cache=True, nogil=True)
def _take(codes, rows, taken, start, stop):
    """Copy the codes of some rows, columns start..stop-1."""
    for f in range(start, stop):
        c, t = codes[f], taken[f]
        for i in range(len(rows)):
            t[i] = c[rows[i]]


@njit(cache=True, nogil=True)
def _integrate(gaps, first, right, g):
    for f in range(len(first) - 1):
        flux, height = 0.0, 0.0
        for k in range(first[f], first[f + 1]):
            g[k] = height
            flux += right[k]
            height -= 2.0 * gaps[k] * flux


@njit(cache=True, nogil=True)
def _energy(gaps, first, right):
    total = 0.0
    for f in range(len(first) - 1):
        flux = 0.0
        for k in range(first[f], first[f + 1]):
            flux += right[k]
            total += gaps[k] * flux * flux
    return total
