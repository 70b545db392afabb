"""Search over all cuts of all columns of a training set, for one problem or many at once.

Columns of few distinct values and columns of many are kept in their own ways (``_coded_columns``,
``_ranked_columns``). For many problems a draft comes first: with weights rounded to 32 bits it limits the
best score of every column for all problems in one pass, and only columns whose limit reaches the best score
that any column attains are searched exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kernsemble.hypotheses._coded_columns import N_CODES, CodedColumns
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
    def feature(self) -> int:
        """Number of the feature."""
        return -self.before


class StumpSearch:
    """All cuts of the columns of X, uint8 or float64."""

    def __init__(self, X: np.ndarray):
        self._drafts_pay = X.size >= _DRAFT_WORTH and len(X) <= _DRAFT_UP_TO
        coded, ranked = CodedColumns(*X.shape), RankedColumns(X)
        for feature, column in enumerate(_columns(X)):
            if X.dtype == np.uint8:
                coded.append(feature, *_code_bytes(column))
            else:
                _place_column(feature, column, coded, ranked)
        self._families = [family for family in (coded, ranked) if family.features]
        self._columns = {}
        for family in self._families:
            family.close()
            self._columns.update({feature: (family, j) for j, feature in enumerate(family.features)})
        self._everything = [np.arange(len(family.features)) for family in self._families]

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
                feature = family.features[which[first]]
                best = max(best, Place(int(scores[first]), -feature, int(cuts[first])))
        return best

    def threshold(self, place: Place) -> float:
        """Return the threshold at a place."""
        family, column = self._columns[place.feature]
        return family.threshold(column, place.cut)

    def close_cut(self, feature: int, threshold: float) -> None:
        """Leave a cut out of later searches."""
        family, column = self._columns[feature]
        family.open[family.cut_at(column, threshold)] = False

    def sum_of_squares(self, w: np.ndarray) -> float:
        """Return the sum of squared scores over the open cuts."""
        return sum(float(family.sum_of_squares(w).sum()) for family in self._families)


def _columns(X: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the columns of X, contiguous; copied as many at a time as share a cache line."""
    width = 64 // X.itemsize
    for start in range(0, X.shape[1], width):
        yield from np.ascontiguousarray(X[:, start : start + width].T)


def _code_bytes(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of a column of bytes, and each entry's place among them."""
    values = np.flatnonzero(np.bincount(column, minlength=N_CODES))
    places = np.zeros(N_CODES, dtype=np.uint8)
    places[values] = np.arange(len(values))
    return values, places[column]


def _place_column(feature: int, column: np.ndarray, coded: CodedColumns, ranked: RankedColumns) -> None:
    """Sort a column and put it where it belongs: coded if its values repeat, ranked otherwise."""
    order = np.argsort(column)
    ascending = column[order]
    if np.isnan(ascending[-1]):
        raise ValueError(f"Feature {feature} of X contains NaN.")
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(column) - 1)
    if len(ends) > min(N_CODES, max(2, len(column) // 4)):
        ranked.append(feature, order, ends)
        return
    codes = np.empty(len(column), dtype=np.uint8)
    codes[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=-1))
    coded.append(feature, ascending[ends], codes)
