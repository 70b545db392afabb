"""Hypotheses that look at one linear projection, and pools of them drawn at random.

shen2014 (Section VI A) does not optimize perceptrons and Fourier cosines: it draws 2000 pairs (theta,
kappa) and takes the one that maximizes ``|sum_i V_i h(x_i)|``, equation (8). A pool is drawn once, or afresh
for every search.

Paper symbols: theta = theta, kappa = kappa; h(x) is a function of theta'x - kappa.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numba import njit

from kernsemble.hypotheses._fixed_point import quantize
from kernsemble.hypotheses._threads import run_pieces
from kernsemble.hypotheses.base import Candidate, Oracle, generator

_EQUAL = 1e-9  # relative difference of scores that does not count
_FEW = 0.4  # share of the weights up to which it pays to add only those that changed
_OLDEST = 50  # how often that is done, at most, before sums are taken anew
_BLOCK = 1 << 21  # entries of H that exist at a time while a decision is computed


class ProjectionHypotheses:
    """A list of J functions of theta'x - kappa.

    Parameters
    ----------
    theta : array-like of shape (J, n_features)
    kappa, signs : array-like of shape (J,)
        Hypothesis j is ``signs[j] * activation(theta[j] @ x - kappa[j])``.
    """

    def __init__(self, theta: np.ndarray, kappa: np.ndarray, signs: np.ndarray):
        self.theta = np.asarray(theta, dtype=np.float64)
        self.kappa = np.asarray(kappa, dtype=np.float64)
        self.signs = np.asarray(signs, dtype=np.int8)

    def __len__(self) -> int:
        """Return the number of hypotheses."""
        return len(self.kappa)

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """Return H of shape (n, J)."""
        return self._activation(self._margins(X)) * self.signs

    def decision(self, X: np.ndarray, W: np.ndarray, b: float | np.ndarray = 0.0) -> np.ndarray:
        """Return ``outputs(X) @ W + b``, a block of rows at a time; W is (J,) or (J, K)."""
        W = np.asarray(W, dtype=np.float64)
        step = max(1, _BLOCK // max(1, len(self)))
        blocks = [self.outputs(X[start : start + step]) @ W for start in range(0, len(X), step)]
        return (np.concatenate(blocks) if blocks else np.empty((0, *W.shape[1:]))) + b

    def _margins(self, X: np.ndarray) -> np.ndarray:
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.theta.shape[1]:
            raise ValueError(f"X has shape {X.shape}; expected (n_samples, {self.theta.shape[1]}).")
        margins = X @ self.theta.T
        margins -= self.kappa
        return margins

    @staticmethod
    def _activation(margins: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class DrawnPool(NamedTuple):
    """A pool: theta, kappa and outputs in training, (J, n); in a record -1 and +1 as bits, (n / 8, J)."""

    theta: np.ndarray
    kappa: np.ndarray
    columns: np.ndarray


class SampledPool(Oracle):
    """Oracle over hypotheses drawn at random; a family says how to draw and how to evaluate.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    n_hypotheses : int, default=2000
        Size of the pool.
    fresh : bool, default=False
        Draw a new pool for every search, instead of one pool for all.
    random_state : int, Generator, RandomState or None, default=None
        What the pools are drawn with: equal states give equal pools.
    record : list of DrawnPool, optional
        Pools of the same training set in the order of drawing. Those that are there are read, not drawn, and
        new ones are written down: oracles that share a record and a generator have the same pools, each of
        which is drawn once.

    Notes
    -----
    Keys are ``(number, sign)``, numbered in the order of drawing. Both signs of a member belong to the
    family.
    """

    negation_complete = True
    _hypotheses: ClassVar[type[ProjectionHypotheses]]

    def __init__(
        self,
        X: np.ndarray,
        *,
        n_hypotheses: int = 2000,
        fresh: bool = False,
        random_state: object = None,
        record: list[DrawnPool] | None = None,
    ):
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        self.n_hypotheses = int(n_hypotheses)
        self.fresh = bool(fresh)
        self._random = generator(random_state)
        self._record = record
        self._found: dict[int, tuple[np.ndarray, float]] = {}  # parameters of what was found in earlier pools
        self._first = -self.n_hypotheses  # number of the pool's first member
        self._draw()

    def _draw(self) -> None:
        """Draw the next pool, or read it from the record."""
        self._first += self.n_hypotheses
        turn = self._first // self.n_hypotheses
        if self._record is None or turn == len(self._record):
            theta, kappa = self._sample(self.n_hypotheses)
            H = self._hypotheses(theta, kappa, np.ones(self.n_hypotheses)).outputs(self._X)
            packs = self._record is not None and H.dtype == np.int8
            columns = _packed(H) if packs else np.ascontiguousarray(H.T)
            drawn = DrawnPool(theta, kappa, columns)
            if self._record is not None:
                self._record.append(drawn)
        else:
            drawn = self._record[turn]
        self._theta, self._kappa, self._columns = drawn
        self._searched, self._excluded, self._sums = False, [], _Sums(self._columns)

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n pairs theta (n, n_features) and kappa (n,)."""
        raise NotImplementedError

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return the best member for each column of V, (n,) or (n, K); an empty list if all are excluded."""
        V = np.asarray(V, dtype=np.float64).reshape(len(self._X), -1)
        strength = self._strength(V)
        winners = _first_of_best(strength)
        if (strength[:, winners[0]] < 0).any():
            return []
        return [self._candidate(v, member) for v, member in zip(V.T, winners, strict=True)]

    def best_shared(self, V: np.ndarray) -> Candidate | None:
        """Return the member of the largest ``sum_k |V[:, k] @ column|``, that sum its score; V is (n, K)."""
        strength = self._strength(V).sum(axis=0)
        winner = _first_of_best(strength[None])[0]
        if strength[winner] < 0:
            return None
        return replace(self._candidate(V[:, 0], winner), score=float(strength[winner]))

    def _strength(self, V: np.ndarray) -> np.ndarray:
        """Return the members' |scores| (K, n_hypotheses), -1 if excluded, in the pool whose turn it is."""
        if self.fresh and self._searched:
            self._draw()
        self._searched = True
        strength = np.abs(self._scores(V))
        strength[:, self._excluded] = -1.0
        return strength

    def _scores(self, V: np.ndarray) -> np.ndarray:
        """Return the scores (K, n_hypotheses); of -1/+1 columns as exact sums of whole numbers."""
        if self._columns.dtype == np.float64:
            return self._sums.of(V)
        W, exponents = quantize(V)
        search = _sum_packed if self._columns.dtype == np.uint8 else _sum_signed
        sums = np.empty((V.shape[1], self.n_hypotheses), dtype=np.int64)
        for k in range(V.shape[1]):
            work = partial(search, self._columns, np.ascontiguousarray(W[:, k]), sums[k])
            run_pieces(work, np.full(self.n_hypotheses, len(V)))
        return np.ldexp(sums.astype(np.float64), -exponents[:, None])

    def _candidate(self, v: np.ndarray, member: int) -> Candidate:
        """Describe a member in the polarity of positive score."""
        number, column = self._first + int(member), self._column(member)
        self._found[number] = (self._theta[member], float(self._kappa[member]))
        score = float(v @ column)
        sign = 1 if score >= 0 else -1
        return Candidate((number, sign), abs(score), sign * column)

    def _column(self, member: int) -> np.ndarray:
        """Return the outputs of a member on the training set."""
        if self._columns.dtype != np.uint8:
            return self._columns[member]
        bits = np.unpackbits(self._columns[:, member], count=len(self._X))
        return 2 * bits.view(np.int8) - 1

    def _in_pool(self, number: int) -> bool:
        return self._first <= number < self._first + self.n_hypotheses

    def exclude(self, key: tuple[int, int]) -> None:
        """Leave this member, with both signs, out of later searches."""
        if self._in_pool(key[0]):
            self._excluded.append(key[0] - self._first)

    def collect(self, keys: Sequence[tuple[int, int]]) -> ProjectionHypotheses:
        """Return the hypotheses with these keys, in this order: of this pool, or found in an earlier one."""
        theta, kappa = np.empty((len(keys), self._X.shape[1])), np.empty(len(keys))
        for j, (number, _) in enumerate(keys):
            member = number - self._first
            inside = self._in_pool(number)
            theta[j], kappa[j] = (self._theta[member], self._kappa[member]) if inside else self._found[number]
        return self._hypotheses(theta, kappa, np.array([sign for _, sign in keys], dtype=np.int8))

    def sum_of_squares(self, v: np.ndarray) -> float:
        """Return the sum of squared scores of all members not excluded; nan if pools are fresh."""
        if self.fresh:
            return np.nan
        scores = self._scores(np.asarray(v, dtype=np.float64).reshape(-1, 1))[0]
        scores[self._excluded] = 0.0
        return float(scores @ scores)


def _first_of_best(strength: np.ndarray) -> np.ndarray:
    """Index of the largest entry of each row; of those equal up to rounding the first."""
    return (strength >= (1.0 - _EQUAL) * strength.max(axis=1, keepdims=True)).argmax(axis=1)


class _Sums:
    """Sums ``V' columns'`` (K, J) of columns (J, n) of real numbers.

    From one search to the next a machine changes few weights: those at an end of their box stay there. So if
    there is one machine, only the rows whose weight changed are added to the last sums.
    """

    def __init__(self, columns: np.ndarray) -> None:
        self._columns, self._rows = columns, None
        self._weights, self._last, self._age = None, None, 0

    def of(self, V: np.ndarray) -> np.ndarray:
        """Return the sums for V (n, K), a new array."""
        if V.shape[1] != 1:
            return V.T @ self._columns.T
        v, changed = V[:, 0].copy(), None
        if self._weights is not None and self._age < _OLDEST:
            changed = np.flatnonzero(v != self._weights)
        if changed is None or len(changed) > _FEW * len(v):
            self._last, self._age = V.T @ self._columns.T, 0
        else:
            if self._rows is None:
                self._rows = np.ascontiguousarray(self._columns.T)
            _add_rows(self._rows, changed, (v - self._weights)[changed], self._last[0])
            self._age += 1
        self._weights = v
        return self._last.copy()


@njit(cache=True, nogil=True)
def _add_rows(rows, places, change, sums):
    """sums[j] += sum_i change[i] rows[places[i], j]."""
    for i in range(len(places)):
        row, step = rows[places[i]], change[i]
        for j in range(len(sums)):
            sums[j] += step * row[j]


@njit(cache=True, nogil=True)
def _sum_signed(columns, w, sums, start, stop):
    """sums[j] = sum_i w[i] columns[j, i] for columns of -1 and +1."""
    for j in range(start, stop):
        total = 0
        for i in range(len(w)):
            total += w[i] * columns[j, i]
        sums[j] = total


@njit(cache=True, nogil=True)
def _packed(H):
    """Return ``np.packbits(H > 0, axis=0)``."""
    out = np.zeros(((len(H) + 7) // 8, H.shape[1]), dtype=np.uint8)
    for i in range(len(H)):
        bit, row, packed = np.uint8(128 >> i % 8), H[i], out[i // 8]
        for j in range(len(row)):
            packed[j] |= bit if row[j] > 0 else np.uint8(0)
    return out


@njit(cache=True, nogil=True)
def _sum_packed(columns, w, sums, start, stop):
    """The same for columns with one bit an output: what each byte (n_bytes, J) adds is looked up."""
    table = np.empty(256, dtype=np.int64)
    sums[start:stop] = 0
    for b in range(len(columns)):
        table[0] = 0
        for k in range(8):
            i = 8 * b + 7 - k  # the sample of the k-th bit from the right
            weight = w[i] if i < len(w) else 0
            for low in range(1 << k):
                table[low + (1 << k)] = table[low] + weight
                table[low] -= weight
        row = columns[b]
        for j in range(start, stop):
            sums[j] += table[row[j]]
