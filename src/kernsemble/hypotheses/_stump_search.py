"""Search over all cuts of all columns of a training set, for one problem or many at once.

Columns of few distinct values and columns of many are kept in their own ways (``_coded_columns``,
``_ranked_columns``). For many problems a draft comes first: with weights rounded to 32 bits it limits the
best score of every column for all problems in one pass, and only columns whose limit reaches the best score
that any column attains are searched exactly.

A column with missing values is searched as two, in which they stand below and above all others: a stump sends
them to either side, or parts them from the rest, which only the second of the two may do, lest it come twice.
A sparse column of few entries is ranked by its entries alone, in time and memory proportional to them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from kernsemble.hypotheses._coded_columns import N_CODES, SPARSE_BELOW, CodedColumns
from kernsemble.hypotheses._ranked_columns import RankedColumns

_DRAFT_FROM = 3  # problems; one or two are searched as fast exactly
_DRAFT_WORTH = 250_000  # entries of X; fewer are searched as fast exactly
_DRAFT_UP_TO = 200_000  # samples; the errors of more add up to limits that exclude little


class Place(NamedTuple):
    """Where a search ended, score -1 if every cut is closed. The larger is the better, first of equals."""

    score: int
    before: int
    cut: int

    @property
    def column(self) -> int:
        """Number of the column that was searched."""
        return -self.before


class StumpSearch:
    """All cuts of the columns of X: an array, or a CSC matrix with sorted indices; NaN is missing."""

    def __init__(self, X: np.ndarray | sparse.csc_array):
        self._X, self._sparse = X, sparse.issparse(X)
        n = X.shape[0]
        self._drafts_pay = not self._sparse and X.size >= _DRAFT_WORTH and n <= _DRAFT_UP_TO
        room = int(1.01 * X.nnz / SPARSE_BELOW) + 1 if self._sparse else X.size
        room *= 2 if has_missing(X) else 1
        self._sides: list[tuple[int, int]] = []  # feature of each column, and where its missing values go
        self._coded, self._ranked = (
            CodedColumns(n, room),
            RankedColumns(n, room, self._read, groups=not self._sparse),
        )
        for feature, column in enumerate(_columns(X)):
            self._take(feature, *column)
        self._families = [family for family in (self._coded, self._ranked) if family.features]
        self._columns = {}
        for family in self._families:
            family.close()
            self._columns.update(
                {self._sides[number]: (family, j) for j, number in enumerate(family.features)}
            )
        self._everything = [np.arange(len(family.features)) for family in self._families]
        for feature, side in self._sides:
            if side < 0:  # missing values against the rest are the last cut of the other side
                family, column = self._columns[feature, side]
                family.close_lowest(column)

    def _take(self, feature: int, rows: np.ndarray | None, values: np.ndarray) -> None:
        """Place a column, given by its entries in some rows, as two if values are missing."""
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(1, dtype=bool)
        for side in (-1, 1) if missing.any() else (0,):
            self._sides.append((feature, side))
            self._place(
                len(self._sides) - 1, rows, np.where(missing, side * np.inf, values) if side else values
            )

    def _place(self, number: int, rows: np.ndarray | None, values: np.ndarray) -> None:
        """Put a column where it belongs."""
        n = self._X.shape[0]
        if values.dtype == np.uint8 and rows is None:
            self._coded.append(number, *_code_bytes(values))
        elif rows is None:
            _place_column(number, values, self._coded, self._ranked)
        elif len(rows) <= SPARSE_BELOW * n:
            _rank_entries(number, rows, values, self._ranked)
        else:
            column = np.zeros(n, dtype=values.dtype)
            column[rows] = values
            self._place(number, None, column)

    def _read(self, sample: int, number: int) -> float:
        """Return the value of a sample in a column that is searched."""
        feature, side = self._sides[number]
        value = _entry(self._X, sample, feature) if self._sparse else float(self._X[sample, feature])
        return side * math.inf if math.isnan(value) else value

    def __len__(self) -> int:
        """Return the number of open cuts."""
        return sum(int(family.open.sum()) for family in self._families)

    def best(self, W: np.ndarray) -> Iterator[Place]:
        """Yield the best place for each column of W (n, K), int64."""
        draft = W.shape[1] >= _DRAFT_FROM and self._drafts_pay
        contenders = self._draft(W, shared=False) if draft else None
        for k in range(W.shape[1]):
            w = np.ascontiguousarray(W[:, k])
            chosen = [np.flatnonzero(c[:, k]) for c in contenders] if draft else self._everything
            yield self._choose(w, chosen)

    def best_shared(self, W: np.ndarray) -> Place:
        """Return the place of the largest sum of scores over the columns of W (n, K), int64, scaled alike."""
        chosen = self._everything
        if self._drafts_pay:
            chosen = [np.flatnonzero(contenders[:, 0]) for contenders in self._draft(W, shared=True)]
        return self._choose(W, chosen, shared=True)

    def _draft(self, W: np.ndarray, shared: bool) -> list[np.ndarray]:
        """Return, for each family, which of its columns (rows) may be best for which problem (columns)."""
        n_samples, n_classes = W.shape
        rough = ((W + (1 << 31)) >> 32).astype(np.int32)
        # Entries are off by 1/2 at most, scores and limits by less than 3 n, comparisons by twice that.
        margin = 2 * (3 * n_samples + 4) * (n_classes if shared else 1)
        drafts = []
        for family in self._families:
            drafts.append(np.empty((2, len(family.features), 1 if shared else n_classes), dtype=np.int64))
            family.draft(rough, shared, *drafts[-1])
        if not drafts:
            return []
        floor = np.max([attained.max(axis=0) for _, attained in drafts], axis=0) - margin
        return [limits >= floor for limits, _ in drafts]

    def _choose(self, weights: np.ndarray, chosen: list[np.ndarray], *, shared: bool = False) -> Place:
        """Return the best place in the chosen columns of each family."""
        best = Place(-1, 0, -1)
        for family, which in zip(self._families, chosen, strict=True):
            if len(which):
                scores, cuts = np.empty((2, len(which)), dtype=np.int64)
                search = family.search_shared if shared else family.search
                search(weights, which, scores, cuts)
                first = scores.argmax()
                number = family.features[which[first]]
                best = max(best, Place(int(scores[first]), -number, int(cuts[first])))
        return best

    def cut(self, place: Place) -> tuple[int, float, int]:
        """Return feature, threshold and side of the missing values (0 if there are none) at a place."""
        feature, side = self._sides[place.column]
        family, column = self._columns[feature, side]
        return feature, family.threshold(column, place.cut), side

    def close_cut(self, feature: int, threshold: float, side: int = 0) -> None:
        """Leave a cut out of later searches."""
        family, column = self._columns[feature, side]
        family.open[family.cut_at(column, threshold)] = False

    def sum_of_squares(self, w: np.ndarray) -> float:
        """Return the sum of squared scores over the open cuts."""
        return sum(float(family.sum_of_squares(w).sum()) for family in self._families)


def _columns(X: np.ndarray | sparse.csc_array) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
    """Yield rows and values of sparse columns; None and all values, contiguous, of dense ones.

    These are copied as many at a time as share a cache line.
    """
    if sparse.issparse(X):
        yield from (entries(X, feature) for feature in range(X.shape[1]))
        return
    width = 64 // X.itemsize
    for start in range(0, X.shape[1], width):
        yield from ((None, column) for column in np.ascontiguousarray(X[:, start : start + width].T))


def _code_bytes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of a column of bytes, and each entry's place among them."""
    values = np.flatnonzero(np.bincount(column, minlength=N_CODES))
    places = np.zeros(N_CODES, dtype=np.uint8)
    places[values] = np.arange(len(values))
    return values, places[column]


def _place_column(number: int, column: np.ndarray, coded: CodedColumns, ranked: RankedColumns) -> None:
    """Sort a column and put it where it belongs: coded if its values repeat, ranked otherwise."""
    order = np.argsort(column)
    ascending = column[order]
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(column) - 1)
    if len(ends) > min(N_CODES, max(2, len(column) // 4)):
        group = int(np.diff(ends, prepend=-1).argmax())
        ranked.append(number, order, ends, float(ascending[ends[group]]), group)
        return
    codes = np.empty(len(column), dtype=np.uint8)
    codes[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
    coded.append(number, ascending[ends], codes)


def _rank_entries(number: int, rows: np.ndarray, values: np.ndarray, ranked: RankedColumns) -> None:
    """Rank a column most of whose entries are zero, by the others."""
    order = np.argsort(values)
    n_below = int(np.searchsorted(values, 0.0, sorter=order))
    ascending = np.insert(values[order], n_below, 0.0)  # one sample stands for all that have 0
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(rows))
    group = int(np.searchsorted(ends, n_below))
    ranked.append(number, np.insert(rows[order], n_below, 0), ends, 0.0, group)


def has_missing(X: np.ndarray | sparse.csc_array) -> bool:
    """Whether X has values that are NaN."""
    values = X.data if sparse.issparse(X) else X
    return values.dtype.kind == "f" and values.size > 0 and bool(np.isnan(values.min()))


def entries(X: sparse.csc_array, feature: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and values of the entries of a column."""
    own = slice(X.indptr[feature], X.indptr[feature + 1])
    return X.indices[own], X.data[own]


def _entry(X: sparse.csc_array, sample: int, feature: int) -> float:
    """Return one entry of a matrix with sorted indices."""
    rows, values = entries(X, feature)
    at = int(np.searchsorted(rows, sample))
    return float(values[at]) if at < len(rows) and rows[at] == sample else 0.0
