"""Values as codes of at most 16 bits that ascend with them: what a stump search over stored rows reads.

The code of x in a feature is the number of the feature's edges below x. Edges are quantiles of a sample of
the rows, or all of its values if they are few; any edges give the same search results, these share the rows
out evenly. A search adds up by the upper bits first (``coarse``), a lower resolution of the same codes.
Bytes are their own codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numba import njit, uint64

from kernsemble.hypotheses._stump_votes import _count_below
from kernsemble.hypotheses._threads import run_pieces

_MOST_CODES, _ALL_CODES = 16, 22  # bits: codes of a feature, and of all features together
_MOST_COARSE, _ALL_COARSE = 12, 18  # the same for coarse codes: their sums should stay in the cache
_LEAST = 8
_RUN = 16  # neighboring rows that are sampled together
_SAMPLE_RUNS, _SAMPLE = 1 << 14, 1 << 24  # runs, and entries, that are sampled at most
_TILE = 256


@dataclass(frozen=True)
class Coding:
    """Edges of the features' codes.

    Attributes
    ----------
    edges : ndarray
        Ascending edges, feature after feature; empty for bytes.
    first : ndarray of shape (n_features + 1,)
        Where each feature's edges begin.
    shifts : ndarray of shape (n_features,), uint8
        Lower bits that the coarse codes leave out.
    n_coarse : int
        Coarse codes of a feature, at most.
    """

    edges: np.ndarray
    first: np.ndarray
    shifts: np.ndarray
    n_coarse: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.shifts)

    @property
    def n_codes(self) -> int:
        """Codes of a feature, at most."""
        return self.n_coarse << int(self.shifts.max(initial=0))

    @property
    def is_bytes(self) -> bool:
        """Whether values are their own codes."""
        return self.edges.dtype == np.uint8

    def empty_ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return low > high for each code, (n_features, n_codes): no value is seen yet."""
        shape = self.n_features, self.n_codes
        if self.is_bytes:
            return np.full(shape, 255, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
        return np.full(shape, np.inf, self.edges.dtype), np.full(shape, -np.inf, self.edges.dtype)


def sample_rows(X: np.ndarray) -> np.ndarray:
    """Return about 2**18 rows of X (of wide data fewer), all if there are no more, always the same."""
    if X.dtype == np.uint8:
        return X[:1]  # its type and width are all that matters
    n_runs, most = len(X) // _RUN, max(1, min(_SAMPLE_RUNS, _SAMPLE // (_RUN * max(1, X.shape[1]))))
    if n_runs <= most:
        return as_values(X)
    starts = np.sort(np.random.default_rng(0).choice(n_runs, most, replace=False)) * _RUN
    return np.concatenate([as_values(X[start : start + _RUN]) for start in starts])


def as_values(X: np.ndarray) -> np.ndarray:
    """Return X as uint8, float32 or float64, which holds whatever else there is."""
    return X if X.dtype in (np.uint8, np.float32, np.float64) else X.astype(np.float64)


def choose_coding(sample: np.ndarray) -> Coding:
    """Return the coding for data of which some rows are known, (n_rows, n_features)."""
    n_features = sample.shape[1]
    if sample.dtype == np.uint8:
        nothing = np.zeros(n_features, dtype=np.uint8)
        return Coding(nothing[:0], np.zeros(n_features + 1, dtype=np.int64), nothing, 256)
    room = max(1, n_features).bit_length() - 1
    most = 1 << int(np.clip(_ALL_CODES - room, _LEAST, _MOST_CODES))
    edges = [_edges(sample[:, feature], most) for feature in range(n_features)]
    n_bits = np.array([len(e).bit_length() for e in edges], dtype=np.int64)
    coarse_bits = int(min(n_bits.max(initial=0), np.clip(_ALL_COARSE - room, _LEAST, _MOST_COARSE)))
    shifts = np.maximum(n_bits - coarse_bits, 0).astype(np.uint8)
    first = np.concatenate([[0], np.cumsum([len(e) for e in edges], dtype=np.int64)]).astype(np.int64)
    return Coding(np.concatenate([sample[:0, 0], *edges]), first, shifts, 1 << coarse_bits)


def _edges(column: np.ndarray, most: int) -> np.ndarray:
    """Return edges that share the values of a column out among at most ``most`` codes."""
    ascending = np.sort(column)
    is_last = np.append(ascending[1:] != ascending[:-1], True)
    if is_last.sum() > most:
        positions = np.linspace(0, len(ascending) - 1, most).astype(np.intp)
        return np.unique(ascending[positions])[:-1]
    return ascending[is_last][:-1]


def encode(
    X: np.ndarray, coding: Coding, codes: np.ndarray, ranges: tuple[np.ndarray, np.ndarray], start: int
) -> None:
    """Write the codes of some rows to ``codes[:, :len(X)]``, and widen the codes' ranges of values.

    ``start`` is the number of the first row, for the message about NaN.
    """
    bad = np.zeros(coding.n_features, dtype=bool)
    work = partial(_encode, X, coding.edges, coding.first, codes, *ranges, bad)
    run_pieces(work, np.full(coding.n_features, 16 * len(X)))
    if bad.any():
        raise ValueError(f"Feature {bad.argmax()} of X contains NaN in rows {start} to {start + len(X) - 1}.")


@njit(cache=True, nogil=True)
def _encode(X, edges, first, codes, low, high, bad, start, stop):
    """Code features start..stop-1 one after the other: an edge table fits into the cache, several do not."""
    x, places = np.empty(_TILE, X.dtype), np.empty(_TILE, np.int64)
    for f in range(start, stop):
        for row in range(0, len(X), _TILE):
            n_rows = min(_TILE, len(X) - row)
            for i in range(n_rows):
                x[i] = X[row + i, f]
            places[:n_rows] = 0
            if first[f + 1] > first[f]:
                _count_below(edges[first[f] : first[f + 1]], x, places, n_rows)
            for i in range(n_rows):
                c = uint64(places[i])
                codes[f, row + i] = c
                low[f, c], high[f, c] = min(low[f, c], x[i]), max(high[f, c], x[i])
                bad[f] |= x[i] != x[i]
