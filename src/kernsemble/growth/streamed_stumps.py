"""Decision stumps on data larger than memory: the exact search of ``stumps`` in one pass over a file.

The problem is that of `StumpOracle`, and so is the result, bit for bit: key, score and column. The data stay
where they are, for instance in a memory-mapped file. Bytes are read as they are. Of float data 16-bit codes
are written to a temporary file once, and a search reads these: it adds the weights up by code and looks into
the few bins that may hold the best cut (``_binned_search``).

What is held in memory: the weights (8 bytes a sample, and as much again as whole numbers), the sums by code
(at most a few MB), one block of rows, and the column that is returned (1 byte a sample).

Paper symbols: as in ``stumps``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from kernsemble.growth._binned_search import BinnedSearch, Cut
from kernsemble.growth._stump_coding import choose_coding, sample_rows
from kernsemble.growth._stump_part import StumpPart
from kernsemble.hypotheses._fixed_point import quantize
from kernsemble.hypotheses.base import Candidate, Oracle
from kernsemble.hypotheses.stumps import Stump, StumpHypotheses

_ROWS = 1 << 16  # rows that are predicted for at a time


class StreamedStumpOracle(Oracle):
    """Finds the best of all decision stumps on rows in a file, in one pass a search.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite training data, in memory or a ``numpy.memmap``; uint8, float32 and float64 are used as they
        are, a block of anything else at a time as float64. Do not write to it.
    constant : bool, default=True
        Whether the constant hypothesis belongs to the family.
    directory : path, default=None
        Where the codes of float data go, 2 bytes an entry, unless they are few; None is the directory for
        temporary files. The file has no name, and goes with the oracle.
    bound : bool, default=False
        Whether ``sum_of_squares``, and with it the duality gap of an l2 norm, is an upper bound that takes
        one pass, less than 1 % too large as a rule. If exact, every float feature of more than 65,536 values
        is sorted, which takes far longer than a search; column generation asks when it ends.
    random_state : object, default=None
        Not used: there is nothing random. The estimators pass it.

    Notes
    -----
    Ties are broken as by `StumpOracle`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble import AdaBoost
    >>> from kernsemble.growth.streamed_stumps import StreamedStumpOracle
    >>> X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> streamed, stored = AdaBoost(9, base=StreamedStumpOracle).fit(X, y), AdaBoost(9).fit(X, y)
    >>> bool((streamed.decision_function(X) == stored.decision_function(X)).all())
    True
    """

    negation_complete = True

    def __init__(
        self,
        X: np.ndarray,
        *,
        constant: bool = True,
        directory: str | PathLike | None = None,
        bound: bool = False,
        random_state: object = None,
    ):
        X = np.asarray(X)  # of a memmap, a view: slices of an ndarray are cheaper
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}; expected (n_samples, n_features).")
        self._set_up(_LocalTeam(StumpPart(X, choose_coding(sample_rows(X)), directory)), constant, bound)

    def _set_up(self, team: Any, constant: bool, bound: bool) -> None:
        """Search the rows of a team, here or elsewhere."""
        self._team, self._constant, self._bound = team, bool(constant), bool(bound)
        self._search = BinnedSearch(team, team.low, team.high)

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return the best stump for each column of V, (n,) or (n, K); an empty list if all are excluded."""
        W, exponents = quantize(np.asarray(V, dtype=np.float64).reshape(self._team.n_samples, -1))
        self._team.load(W)
        tables, sums, found = self._team.tables(), W.sum(axis=0), []
        for k in range(W.shape[1]):
            cut = self._search.best(tables, slice(k, k + 1))
            if max(cut.score, abs(sums[k]) if self._constant else -1) < 0:
                return []
            if self._constant and cut.score <= abs(sums[k]):
                cut = self._constant_cut(int(abs(sums[k])), int(sums[k]))
            found.append(self._candidate(cut, int(exponents[k])))
        return found

    def best_shared(self, V: np.ndarray) -> Candidate | None:
        """Return the stump of the largest ``sum_k |V[:, k] @ column|``, that sum its score; V is (n, K)."""
        W, exponents = quantize(np.asarray(V, dtype=np.float64), together=True)
        self._team.load(W)
        cut, sums = self._search.best(self._team.tables(), slice(None)), W.sum(axis=0)
        constant = int(np.abs(sums).sum()) if self._constant else -1
        if max(cut.score, constant) < 0:
            return None
        if cut.score <= constant:
            cut = self._constant_cut(constant, int(sums[0]))
        return self._candidate(cut, int(exponents[0]))

    @staticmethod
    def _constant_cut(score: int, total: int) -> Cut:
        """Describe the constant."""
        return Cut(score, 0, np.inf, 1 if total >= 0 else -1)

    def _candidate(self, cut: Cut, exponent: int) -> Candidate:
        """Describe the stump at a cut in the polarity of positive score."""
        key = Stump(cut.feature, cut.threshold, cut.sign)
        if cut.threshold == -np.inf:
            column = np.full(self._team.n_samples, cut.sign, dtype=np.int8)
        else:
            column = self._team.column(cut.feature, cut.threshold)
            column *= np.int8(cut.sign)
        return Candidate(key, math.ldexp(cut.score, -exponent), column)

    def exclude(self, key: Stump) -> None:
        """Leave this stump, in both polarities, out of later searches."""
        if key[1] == -np.inf:
            self._constant = False
        else:
            self._search.close_cut(key[0], key[1])

    def collect(self, keys: Sequence[Stump]) -> StreamedStumpHypotheses:
        """Return the stumps with these keys, in this order."""
        features, thresholds, signs = zip(*keys, strict=True) if len(keys) else ((), (), ())
        return StreamedStumpHypotheses(features, thresholds, signs, self._team.coding.n_features)

    def sum_of_squares(self, v: np.ndarray) -> float:
        """Return the sum (or its bound) of squared scores of all stumps not excluded, polarities once."""
        W, exponents = quantize(np.asarray(v, dtype=np.float64).reshape(-1, 1))
        self._team.load(np.column_stack([W, np.ones_like(W)]) if self._bound else W)
        squares = float(W.sum()) ** 2 if self._constant else 0.0
        squares += self._search.sum_of_squares(self._team.tables())
        return math.ldexp(squares, -2 * int(exponents[0]))


class StreamedStumpHypotheses(StumpHypotheses):
    """`StumpHypotheses` that read new data a block of rows at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.growth.streamed_stumps import StreamedStumpHypotheses
    >>> stumps = StreamedStumpHypotheses([0, 1], [0.5, -1.0], [1, -1], n_features=2)
    >>> stumps.decision(np.array([[0.0, 0.0], [1.0, -2.0]], dtype=np.float32), np.array([1.0, 0.5]))
    array([-1.5,  1.5])
    """

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """Return H of shape (n, J), int8."""
        blocks = [super(StreamedStumpHypotheses, self).outputs(rows) for rows in _blocks(X)]
        return np.concatenate(blocks)

    def decision(self, X: np.ndarray, W: np.ndarray, b: float | np.ndarray = 0.0) -> np.ndarray:
        """Return ``outputs(X) @ W + b``; W is (J,) or (J, K)."""
        blocks = [super(StreamedStumpHypotheses, self).decision(rows, W, b) for rows in _blocks(X)]
        return np.concatenate(blocks)


class _LocalTeam:
    """One part that has all the rows."""

    def __init__(self, part: StumpPart):
        self._part, self.coding, self.n_samples = part, part.coding, len(part)
        self.low, self.high = part.low, part.high
        self.column = part.column

    def load(self, W: np.ndarray) -> None:
        """Take the weights (n, K), int64."""
        self._W = W

    def tables(self) -> np.ndarray:
        """Sums by coarse code."""
        return self._part.tables(self._W)

    def fine(self, places: list[tuple[int, np.ndarray]], columns: slice) -> list[np.ndarray]:
        """Sums by code within some coarse codes of some features."""
        return self._part.fine(self._W[:, columns], places)

    def entries(self, feature: int, codes: np.ndarray, columns: slice) -> tuple[np.ndarray, np.ndarray]:
        """Values, and weights, of the rows with some codes."""
        return self._part.entries(self._W[:, columns], feature, codes)


def _blocks(X: np.ndarray) -> list[np.ndarray]:
    """Return views of blocks of rows, at least one."""
    X = np.asarray(X)
    return [X[start : start + _ROWS] for start in range(0, max(1, len(X)), _ROWS)]
