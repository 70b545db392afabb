"""Decision stumps: exact search over all of them, and evaluation whose cost hardly grows with their number.

Problem: given signed weights V, maximize ``|sum_i V_i h(x_i)|`` over h(x) = s sign(x_f - t), s in {-1, +1}:
equation (8) of shen2014, (4) of lin2012, the base learner of linli2005. Between two neighboring values of a
feature every threshold gives the same column, so one stands for them all: the midpoint. The constant h = s
is the stump with t = -inf. The features are ranked once; a search is then one pass of additions
(``_stump_search``).

Missing values (NaN) are a branch of their own: where a feature has some, a stump sends them to the side of
its large or of its small values, whichever scores more (the small ones of equals), and the largest number as
a threshold parts them from all others. A stump whose feature had none in training does not vote on a row
where it is missing.

Paper symbols: q = sign, d = feature, alpha = threshold (linli2005); h-hat = Candidate (shen2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from kernsemble.hypotheses._fixed_point import quantize
from kernsemble.hypotheses._stump_search import Place, StumpSearch, entries, has_missing
from kernsemble.hypotheses._stump_votes import add_votes, fill_outputs, step_tables
from kernsemble.hypotheses._threads import run_pieces
from kernsemble.hypotheses.base import Candidate, Oracle, as_signs

_ROWS = 4096  # of a sparse matrix that are filled in together


class Stump(NamedTuple):
    """The stump ``sign * (+1 if x[feature] > threshold else -1)``; threshold -inf makes it constant."""

    feature: int
    threshold: float
    sign: int


class BranchingStump(NamedTuple):
    """A stump of a feature with missing values, which go up (``missing`` +1) or down (-1), times ``sign``."""

    feature: int
    threshold: float
    sign: int
    missing: int


class StumpOracle(Oracle):
    """Finds the best of all decision stumps on one training set.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Training data, NaN where a value is missing; uint8, float32 and float64 are used as they are, anything
        else is converted to float64. Kept, not copied: do not write to it. Of a sparse matrix (CSC; others
        are converted) the search takes 5 to 13 bytes for each entry that is not zero.
    constant : bool, default=True
        Whether the constant hypothesis belongs to the family (linli2005, Section III B, asks for it).

    Notes
    -----
    Keys are ``Stump`` tuples, or ``BranchingStump`` of features with missing values. Two features with equal
    columns count as two features: their stumps differ off the training set. Weights are scaled to whole
    numbers before they are summed, so equal scores are found equal and the smallest key among them wins,
    whatever the layout of the data and the number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.stumps import StumpOracle
    >>> oracle = StumpOracle(np.array([[1.0, 5.0], [2.0, 3.0], [3.0, 4.0]]))
    >>> oracle.best(np.array([-1.0, 0.5, 1.0]))[0].key
    Stump(feature=0, threshold=1.5, sign=1)
    """

    negation_complete = True

    def __init__(self, X: np.ndarray, *, constant: bool = True):
        self._X = _stump_input(X)
        self._constant = bool(constant)
        self._search = StumpSearch(self._X)

    def __len__(self) -> int:
        """Return the number of stumps that are not excluded, one for each pair of polarities."""
        return self._constant + len(self._search)

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return the best stump for each column of V, (n,) or (n, K); an empty list if all are excluded."""
        W, exponents = quantize(np.asarray(V, dtype=np.float64).reshape(self._X.shape[0], -1))
        constants = np.abs(W.sum(axis=0)) if self._constant else np.full(W.shape[1], -1)
        found = []
        for k, place in enumerate(self._search.best(W)):
            if max(place.score, constants[k]) < 0:
                return []
            place = place if place.score > constants[k] else None
            found.append(self._candidate(W[:, k], exponents[k], place))
        return found

    def best_shared(self, V: np.ndarray) -> Candidate | None:
        """Return the stump of the largest ``sum_k |V[:, k] @ column|``, that sum its score; V is (n, K)."""
        W, exponents = quantize(np.asarray(V, dtype=np.float64), together=True)
        constant = int(np.abs(W.sum(axis=0)).sum()) if self._constant else -1
        place = self._search.best_shared(W)
        score = max(place.score, constant)
        if score < 0:
            return None
        found = self._candidate(W[:, 0], exponents[0], place if place.score > constant else None)
        return replace(found, score=math.ldexp(score, -int(exponents[0])))

    def _candidate(self, w: np.ndarray, exponent: int, place: Place | None) -> Candidate:
        """Describe the stump at a place, or the constant, in the polarity of positive score."""
        if place is None:
            feature, threshold, side = 0, -np.inf, 0
            outputs = np.ones(len(w), dtype=np.int8)
        else:
            feature, threshold, side = self._search.cut(place)
            outputs = self._outputs(feature, threshold, side)
        score = int(w @ outputs)
        sign = 1 if score >= 0 else -1
        key = BranchingStump(feature, threshold, sign, side) if side else Stump(feature, threshold, sign)
        return Candidate(key, math.ldexp(abs(score), -int(exponent)), sign * outputs)

    def _outputs(self, feature: int, threshold: float, side: int) -> np.ndarray:
        """Outputs of a stump of sign +1."""
        rows, column = entries(self._X, feature) if issparse(self._X) else (None, self._X[:, feature])
        above = column > np.float64(threshold)  # of single precision, too, compared in double
        if side > 0:
            above |= np.isnan(column)
        if rows is not None:
            some, above = above, np.full(self._X.shape[0], threshold < 0.0)
            above[rows] = some
        return as_signs(above)

    def exclude(self, key: Stump) -> None:
        """Leave this stump, in both polarities, out of later searches."""
        if key[1] == -np.inf:
            self._constant = False
        else:
            self._search.close_cut(key[0], key[1], *key[3:])

    def collect(self, keys: Sequence[Stump]) -> StumpHypotheses:
        """Return the stumps with these keys, in this order."""
        features, thresholds, signs = (
            zip(*(key[:3] for key in keys), strict=True) if len(keys) else ((), (), ())
        )
        missing = [key[3] if isinstance(key, BranchingStump) else 0 for key in keys]
        return StumpHypotheses(features, thresholds, signs, self._X.shape[1], missing)

    def sum_of_squares(self, v: np.ndarray) -> float:
        """Return the sum of squared scores of all stumps not excluded, each pair of polarities once."""
        W, exponents = quantize(np.asarray(v, dtype=np.float64).reshape(-1, 1))
        squares = float(W.sum()) ** 2 if self._constant else 0.0
        squares += self._search.sum_of_squares(W[:, 0])
        return math.ldexp(squares, -2 * int(exponents[0]))


class StumpHypotheses:
    """A list of J stumps that predicts without a loop over them.

    Parameters
    ----------
    features, thresholds, signs : array-like of shape (J,)
        Stump j is ``signs[j] * (+1 if x[features[j]] > thresholds[j] else -1)``.
    n_features : int
        Width of the data.
    missing : array-like of shape (J,), default=None
        Where x[features[j]] is NaN stump j is ``signs[j] * missing[j]``: +1, -1, or 0, which is no vote; None
        is 0. Constants are what they are.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.stumps import StumpHypotheses
    >>> stumps = StumpHypotheses([0, 1], [0.5, -1.0], [1, -1], n_features=2)
    >>> stumps.outputs(np.array([[0.0, 0.0], [1.0, -2.0]]))
    array([[-1, -1],
           [ 1,  1]], dtype=int8)
    """

    def __init__(
        self,
        features: Sequence,
        thresholds: Sequence,
        signs: Sequence,
        n_features: int,
        missing: Sequence | None = None,
    ):
        self.features = np.asarray(features, dtype=np.intp)
        self.thresholds = np.asarray(thresholds, dtype=np.float64)
        self.signs = np.asarray(signs, dtype=np.int8)
        self.n_features = int(n_features)
        missing = np.zeros(len(self), np.int8) if missing is None else np.array(missing, dtype=np.int8)
        self.missing = np.where(np.isneginf(self.thresholds), np.int8(1), missing)

    def __len__(self) -> int:
        """Return the number of stumps."""
        return len(self.features)

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """Return H of shape (n, J), int8."""
        X = _stump_input(X, self.n_features)
        if issparse(X):
            return self._by_blocks(X, lambda few, rows: few.outputs(rows))
        H = np.empty((len(X), len(self)), dtype=np.int8)
        work = partial(fill_outputs, X, self.features, self.thresholds, self.signs, self.missing, H)
        run_pieces(work, np.full(len(X), len(self)))
        return H

    def decision(self, X: np.ndarray, W: np.ndarray, b: float | np.ndarray = 0.0) -> np.ndarray:
        """Return ``outputs(X) @ W + b``: one binary search per row and feature; W is (J,) or (J, K)."""
        X, W = _stump_input(X, self.n_features), np.asarray(W, dtype=np.float64)
        if issparse(X):
            return self._by_blocks(X, lambda few, rows: few.decision(rows, W, b))
        weights = (W[:, None] if W.ndim == 1 else W) * self.signs[:, None]
        scores = np.zeros((len(X), weights.shape[1])) + b
        tables = step_tables(self.features, self.thresholds, weights)
        if len(self):
            run_pieces(partial(add_votes, X, *tables, scores), np.full(len(X), 4 * len(tables[0])))
            if has_missing(X):
                used, first, _, steps = tables  # NaN took the first step
                taken = self.missing_votes(weights) - steps[first[:-1] + np.arange(len(used))]
                for feature, votes in zip(used, taken, strict=True):
                    scores[np.isnan(X[:, feature])] += votes
        return scores[:, 0] if W.ndim == 1 else scores

    def missing_votes(self, weights: np.ndarray) -> np.ndarray:
        """Votes (G, K) where features are missing, of those that occur, ascending; signs are in weights."""
        used, place = np.unique(self.features, return_inverse=True)
        votes = np.zeros((len(used), weights.shape[1]))
        np.add.at(votes, place, weights * self.missing[:, None])
        return votes

    def _by_blocks(self, X: csr_array, work: Callable) -> np.ndarray:
        """Results of the stumps for a sparse matrix, whose rows are filled in some thousands at a time."""
        used, place = np.unique(self.features, return_inverse=True)
        few = StumpHypotheses(place, self.thresholds, self.signs, len(used), self.missing)
        X = X[:, used]
        starts = range(0, max(1, X.shape[0]), _ROWS)
        return np.concatenate([work(few, X[start : start + _ROWS].toarray()) for start in starts])

    def feature_importances(self, W: np.ndarray) -> np.ndarray:
        """Return each feature's share of the total absolute weight; constant stumps belong to none."""
        weights = np.abs(np.asarray(W))
        weights = (weights if weights.ndim == 1 else weights.sum(axis=1)) * np.isfinite(self.thresholds)
        sums = np.bincount(self.features, weights=weights, minlength=self.n_features)
        return sums / sums.sum() if sums.sum() > 0 else sums


def _stump_input(X: np.ndarray, n_features: int | None = None) -> np.ndarray | csc_array | csr_array:
    """Return X as a matrix of uint8, float32 or float64; where it is read by rows C-contiguous, or CSR."""
    X = X if issparse(X) else np.asarray(X)
    if X.dtype not in (np.uint8, np.float32, np.float64):
        X = X.astype(np.float64)
    if X.ndim != 2 or (n_features is not None and X.shape[1] != n_features):
        raise ValueError(f"X has shape {X.shape}; expected (n_samples, {n_features or 'n_features'}).")
    if issparse(X):
        X = csc_array(X) if n_features is None else csr_array(X)
        if n_features is None and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    return X if n_features is None else np.ascontiguousarray(X)
