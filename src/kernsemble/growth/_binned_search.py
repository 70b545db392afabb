"""Exact search over all cuts of all features from sums by code, however the rows are stored or shared out.

Problem: over all cuts t of a feature, maximize |sum_{x > t} V_i - sum_{x <= t} V_i| = |total - 2 left(t)|,
or the sum of this over several V. Between the ends of a bin, left(t) moves by no more than the bin's positive
weights up and its negative weights down. So the sums by bin give the scores of the cuts between bins, and a
limit for those inside, and only bins whose limit reaches the best score known are looked into: first by their
codes, then, where a code has several values, by the values of its few rows. Whole-number weights
(``_fixed_point``) make all of this exact: the result is that of looking everywhere.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from kernsemble.growth._stump_coding import Coding


class Team(Protocol):
    """Whoever has the rows and the weights; `StumpPart` says what the answers are."""

    coding: Coding

    def tables(self) -> np.ndarray:
        """Sums by coarse code, of all columns of weights."""

    def fine(self, places: list[tuple[int, np.ndarray]], columns: slice) -> list[np.ndarray]:
        """Sums by code within some coarse codes of some features, of some columns of weights."""

    def entries(self, feature: int, codes: np.ndarray, columns: slice) -> tuple[np.ndarray, np.ndarray]:
        """Values, and weights, of the rows with some codes."""


class Cut(NamedTuple):
    """Where a search ended, score -1 if every cut is closed. The larger is the better, first of equals.

    ``before`` is the negative number of the feature, ``below`` the negative threshold, ``sign`` the side of
    the larger first sum.
    """

    score: int
    before: int
    below: float
    sign: int

    @property
    def feature(self) -> int:
        """Number of the feature."""
        return -self.before

    @property
    def threshold(self) -> float:
        """The threshold."""
        return -self.below


NOWHERE = Cut(-1, 0, 0.0, 1)


class BinnedSearch:
    """All cuts of the features of a team's rows.

    Parameters
    ----------
    team : Team
        Has the rows.
    low, high : ndarray of shape (n_features, n_codes)
        Smallest and largest value of each code over all rows; low > high where there is none.
    """

    def __init__(self, team: Team, low: np.ndarray, high: np.ndarray):
        self.team, self.low, self.high = team, low, high
        n_features, n_codes = low.shape
        self._shifts, self._n_coarse = team.coding.shifts.astype(np.int64), team.coding.n_coarse
        self._filled = low <= high
        last = n_codes - 1 - self._filled[:, ::-1].argmax(axis=1)
        self._open = self._filled & (np.arange(n_codes) < last[:, None])  # the cut above a code
        self._divisible = self._filled & (low < high)
        self._closed: dict[int, set[float]] = {}  # cuts between values of one code
        self._open_above = np.zeros((n_features, self._n_coarse), dtype=bool)
        self._holds_cuts = np.zeros_like(self._open_above)
        for feature in range(n_features):
            self._coarsen(feature)

    def _coarsen(self, feature: int) -> None:
        """Say of each coarse code whether the cut above it is open, and whether it has cuts inside."""
        codes = np.flatnonzero(self._filled[feature])
        coarse = codes >> self._shifts[feature]
        last = np.full(self._n_coarse, -1)
        last[coarse] = codes  # ascending: the last one stays
        self._open_above[feature] = (last >= 0) & self._open[feature, last]
        self._holds_cuts[feature] = np.bincount(coarse, minlength=self._n_coarse) > 1
        self._holds_cuts[feature, coarse[self._divisible[feature, codes]]] = True

    def best(self, tables: np.ndarray, columns: slice) -> Cut:
        """Return the cut of the largest sum of scores over some columns of weights.

        Parameters
        ----------
        tables : ndarray of shape (K, n_features, n_coarse, 2)
            The team's.
        columns : slice
            Of the K columns.
        """
        sums = _Sums(tables[columns], 0)
        score = np.where(self._open_above, sums.scores, -1)
        feature, coarse = np.unravel_index(score.argmax(), score.shape)
        best = NOWHERE
        if score[feature, coarse] >= 0:
            code = self._last_code(feature, coarse)
            best = self._above(feature, code, int(score[feature, coarse]), sums.signs(feature, coarse))
        inside = self._holds_cuts & (sums.limits >= best.score)
        places = [
            (int(feature), np.flatnonzero(inside[feature])) for feature in np.flatnonzero(inside.any(axis=1))
        ]
        finer = self._finer(places, sums, columns)
        best = max([best, *(self._above_codes(fine) for fine in finer)])
        for fine in sorted(finer, key=lambda fine: -fine.limits.max()):
            best = max(best, self._among_values(fine, best.score, columns))
        return best

    def _above_codes(self, fine: _FineSums) -> Cut:
        """Return the best of the cuts above codes."""
        score = np.where(self._open[fine.feature, fine.codes], fine.scores, -1)
        at = np.unravel_index(score.argmax(), score.shape)
        if score[at] < 0:
            return NOWHERE
        return self._above(fine.feature, int(fine.codes[at]), int(score[at]), fine.signs(*at))

    def _finer(self, places: list[tuple[int, np.ndarray]], sums: _Sums, columns: slice) -> list[_FineSums]:
        """Return the sums by code within some coarse codes of some features."""
        shifted = [place for place in places if self._shifts[place[0]]]
        tables = iter(self.team.fine(shifted, columns) if shifted else [])
        finer = []
        for feature, coarse in places:
            shift = int(self._shifts[feature])
            table = next(tables) if shift else sums.tables[:, feature, coarse][:, :, None]
            codes = (coarse[:, None] << shift) + np.arange(1 << shift)
            before = sums.before[:, feature, coarse][:, :, None]
            finer.append(_FineSums(feature, codes, table, before, sums.total))
        return finer

    def _last_code(self, feature: int, coarse: int) -> int:
        """Return the largest code within a coarse code."""
        start = int(coarse) << int(self._shifts[feature])
        codes = self._filled[feature, start : start + (1 << int(self._shifts[feature]))]
        return start + int(np.flatnonzero(codes)[-1])

    def _above(self, feature: int, code: int, score: int, sign: int) -> Cut:
        """Describe the cut above a code."""
        following = code + 1 + int(self._filled[feature, code + 1 :].argmax())
        threshold = midpoints(self.high[feature, code], self.low[feature, following])
        return Cut(score, -int(feature), -float(threshold), sign)

    def _among_values(self, fine: _FineSums, least: int, columns: slice) -> Cut:
        """Return the best cut between values that share a code, if its score may be ``least`` or more."""
        inner = self._divisible[fine.feature, fine.codes] & (fine.limits >= least)
        if not inner.any():
            return NOWHERE
        thresholds, score, left = self._cuts_within(fine, inner, columns)
        if not len(score) or score.max() < 0:
            return NOWHERE
        at = int(score.argmax())
        sign = 1 if fine.total[0, 0, 0] - 2 * left[at, 0] >= 0 else -1
        return Cut(int(score[at]), -fine.feature, -float(thresholds[at]), sign)

    def _cuts_within(self, fine: _FineSums, inner: np.ndarray, columns: slice) -> tuple[np.ndarray, ...]:
        """Return thresholds, scores (-1: closed) and left sums of the cuts between values of equal codes."""
        codes, before = fine.codes[inner], fine.before[:, inner]
        values, W = self.team.entries(fine.feature, codes, columns)
        order = np.argsort(values, kind="stable")
        values, left = values[order], np.cumsum(W[order], axis=0)
        group = np.searchsorted(self.high[fine.feature, codes], values)
        starts = np.searchsorted(group, np.arange(len(codes)))
        left_of_group = np.concatenate([np.zeros_like(left[:1]), left])[starts]
        cuts = np.flatnonzero((group[1:] == group[:-1]) & (values[1:] != values[:-1]))
        left = left[cuts] + (before.T - left_of_group)[group[cuts]]
        thresholds = midpoints(values[cuts], values[cuts + 1])
        score = np.abs(fine.total[:, 0, 0] - 2 * left).sum(axis=1)
        if closed := self._closed.get(fine.feature):
            score[np.isin(thresholds, list(closed))] = -1
        return thresholds, score, left

    def close_cut(self, feature: int, threshold: float) -> None:
        """Leave a cut out of later searches."""
        codes = np.flatnonzero(self._filled[feature] & (self.low[feature].astype(np.float64) <= threshold))
        if threshold >= float(self.high[feature, codes[-1]]):
            self._open[feature, codes[-1]] = False
            self._coarsen(feature)
        else:
            self._closed.setdefault(feature, set()).add(float(threshold))

    def sum_of_squares(self, tables: np.ndarray) -> float:
        """Return the sum of squared scores over the open cuts, for one column of weights.

        If a second column of ones follows, it counts the rows, and the sum is an upper bound: a code of
        several values has at most as many cuts as rows, less one, and none above its limit.
        """
        sums, bounded, squares = _Sums(tables[:1], 0), len(tables) > 1, 0.0
        for feature, shift in enumerate(self._shifts):
            coarse = np.unique(np.flatnonzero(self._filled[feature]) >> shift)
            (fine,) = self._finer([(feature, coarse)], sums, slice(0, 1))
            squares += _squares(fine.scores[self._open[feature, fine.codes]])
            inner = self._divisible[feature, fine.codes]
            if inner.any() and bounded:
                counts = self._counts(feature, coarse, tables)[inner]
                squares += float((counts - 1) @ fine.limits[inner].astype(np.float64) ** 2)
            elif inner.any():
                squares += _squares(np.maximum(self._cuts_within(fine, inner, slice(0, 1))[1], 0))
        return squares

    def _counts(self, feature: int, coarse: np.ndarray, tables: np.ndarray) -> np.ndarray:
        """Return the rows of each code within some coarse codes."""
        if not self._shifts[feature]:
            return tables[1, feature, coarse, 0][:, None]
        return self.team.fine([(feature, coarse)], slice(1, 2))[0][0, ..., 0]


def _squares(scores: np.ndarray) -> float:
    """Return the sum of squares of whole numbers too large to be squared."""
    scores = scores.astype(np.float64)
    return float(scores @ scores)


class _Sums:
    """Scores at the upper ends of bins and limits inside them, from sums by bin along the last axis but one.

    ``tables`` is (k, ..., n_bins, 2); ``start`` what lies below the first bin.
    """

    def __init__(self, tables: np.ndarray, start: np.ndarray | int, total: np.ndarray | None = None):
        self.tables = tables
        positive, negative = tables[..., 0], tables[..., 1]
        change = positive - negative
        after = np.cumsum(change, axis=-1) + start
        self.before = after - change
        self.total = after[:, :1, -1:] if total is None else total
        self._signed = self.total - 2 * after
        self.scores = np.abs(self._signed).sum(axis=0)
        most = np.abs(self.total - 2 * (self.before - negative))
        np.maximum(most, np.abs(self.total - 2 * (self.before + positive)), out=most)
        self.limits = most.sum(axis=0)

    def signs(self, *place: int) -> int:
        """Return +1 if the first column's sum above a bin is the larger, otherwise -1."""
        return 1 if self._signed[(0, *place)] >= 0 else -1


class _FineSums(_Sums):
    """The same within some coarse codes of a feature: codes are (n_coarse, codes of each)."""

    def __init__(
        self, feature: int, codes: np.ndarray, tables: np.ndarray, start: np.ndarray, total: np.ndarray
    ):
        super().__init__(tables, start, total)
        self.feature, self.codes = feature, codes


def midpoints(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds as ``_fixed_point.midpoint`` does, float64."""
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    middle = 0.5 * low + 0.5 * high
    return np.where((low <= middle) & (middle < high), middle, low)
