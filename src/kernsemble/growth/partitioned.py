"""AdaBoost with stumps whose sample weights stay with their rows: in files, or on many machines.

The problem and the steps are those of ``stagewise.adaboost``. A round is one pass over the rows: it applies
the last round's stump to the margins of a block, makes the block's weights from them, and adds these up by
code; then the best stump is found from the sums (``growth._binned_search``). Between machines go the
stump and its weight one way and sums the other, which do not grow with the rows.

Weights are whole numbers, W_i = s_i y_i exp(-m_i) 2**e, rounded, with e such that their magnitudes sum to
2**59 to 2**60: what the sum will be is known before the pass, because a step of weighted error err multiplies
it by 2 sqrt(err (1 - err)). Sums are exact, so the ensemble is the same, bit for bit, for every number of
blocks, threads, parts and workers. It has the stumps of ``stagewise.adaboost``, with weights that differ by
rounding.

Held for each row: margin and weight (8 bytes each), label (1 byte), a sample weight if there is one.

Paper symbols: w_t = W[t] or alpha, D_i = the magnitude of W_i.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from kernsemble.boosting.stagewise import Boosted, StopReason, _error_rate, _Path, _step
from kernsemble.growth._binned_search import BinnedSearch, Cut
from kernsemble.growth._stump_coding import choose_coding, sample_rows
from kernsemble.growth._stump_part import StumpPart
from kernsemble.growth.dask_stumps import DaskTeam
from kernsemble.hypotheses.stumps import Stump

_BITS = 60  # of the sum of magnitudes, at most; the search takes one more


def partitioned_adaboost(
    X: Any,
    y: Any,
    rounds: Iterable[int],
    *,
    weight: Any = None,
    perfect: float = 1e-3,
    constant: bool = True,
    client: Any = None,
    directory: str | PathLike | None = None,
) -> Boosted:
    """Run discrete AdaBoost with decision stumps on rows in a file or on the workers of a Dask cluster.

    Parameters
    ----------
    X : ndarray or dask.array.Array of shape (n_samples, n_features)
        Finite training data: in memory, a ``numpy.memmap``, or a Dask array in chunks of rows.
    y : array-like of shape (n_samples,)
        Labels -1 and +1; beside a Dask array possibly another, in the same chunks of rows.
    rounds : iterable
        One stump is added for each element.
    weight : array-like of shape (n_samples,), default=None
        Positive sample weights, as ``y``; None means equal ones.
    perfect : float, default=1e-3
        What error a perfect stump counts as.
    constant : bool, default=True
        Whether the constant stump belongs to the family.
    client : distributed.Client, default=None
        Whose workers boost if X is a Dask array; None is the current one.
    directory : path, default=None
        Where codes of float data go, 2 bytes an entry, unless they are few.

    Returns
    -------
    Boosted
        With ``Stump`` tuples as keys; ``losses`` follow from the steps.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.growth.partitioned import partitioned_adaboost
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    >>> found = partitioned_adaboost(X, y, range(3))
    >>> found.errors.round(3), found.keys[0]
    (array([0.25 , 0.167, 0.2  ]), Stump(feature=0, threshold=0.5, sign=-1))
    """
    team = (_Workers if hasattr(X, "to_delayed") else _Here)(X, y, weight, client, directory)
    least, path = _error_rate(perfect), _Path()
    search, scale, last = BinnedSearch(team, team.low, team.high), _Scale(team.prior), None
    for _ in rounds:
        tables = team.advance(last, scale.shift, scale.exponent)
        cut, total = _best(search, tables, constant), int(tables[0, 0].sum())
        if cut.score < 0:
            path.reason = StopReason.EXHAUSTED
            break
        key = Stump(cut.feature, cut.threshold, cut.sign)
        error = (total - cut.score) // 2 / total  # whole numbers: rounded once
        if path.stops([key], error):
            break
        w = float(_step(error, least))
        last = _Move(key, w)
        loss = scale.follow(total, error, w)
        path.add([key], w, error, loss / team.prior)
    return path.finished(np.array(path.W), np.array(path.errors))


def _best(search: BinnedSearch, tables: np.ndarray, constant: bool) -> Cut:
    """Return the best cut, or the constant if that is no worse."""
    cut, sums = search.best(tables, slice(0, 1)), tables[0, 0].sum(axis=0)
    total = int(sums[0] - sums[1])
    if constant and cut.score <= abs(total):
        return Cut(abs(total), 0, np.inf, 1 if total >= 0 else -1)
    return cut


class _Move(NamedTuple):
    """A stump and its weight in the ensemble."""

    key: Stump
    w: float


class _Scale:
    """Which power of two makes whole numbers of the weights s exp(-m)."""

    def __init__(self, prior: float):
        self._set(prior)

    def _set(self, loss: float | None = None, log2: float | None = None) -> None:
        self.log2 = math.log2(loss) if log2 is None else log2
        above = math.ceil(self.log2 + 1e-9)
        # exp(-m) itself underflows when all margins are large: then they are shifted first.
        coarse = 512 * int(above / 512)
        self.shift, self.exponent = coarse * math.log(2.0), _BITS - (above - coarse)
        self._above = above

    def follow(self, total: int, error: float, w: float) -> float:
        """Move on to the weights after a step; return their sum."""
        factor = (1.0 - error) * math.exp(-w) + error * math.exp(w)
        self._set(log2=math.log2(total) - _BITS + self._above + math.log2(factor))
        return 2.0**self.log2


def advance(
    part: StumpPart, y: np.ndarray, prior: np.ndarray | None, margins: np.ndarray, W: np.ndarray,
    last: _Move | None, shift: float, exponent: int,
) -> np.ndarray:  # fmt: skip
    """Apply a move to the margins of a part's rows, in place; set the weights W (n, 1); return their sums."""
    sides = part.sides(*last.key[:2]) if last is not None else None

    def weights(block: int) -> np.ndarray:
        rows = part.rows(block)
        if last is not None:
            signs = part.block_column(block, *last.key[:2], *sides)
            margins[rows] += last.w * (last.key.sign * y[rows] * signs)
        D = np.exp(-(margins[rows] + shift))
        D *= y[rows] if prior is None else y[rows] * prior[rows]
        W[rows, 0] = np.rint(np.ldexp(D, exponent))
        return W[rows]

    return part.tables_of(weights)


class _Here:
    """All rows on this machine."""

    def __init__(self, X: np.ndarray, y: Any, weight: Any, client: None, directory: Any):
        X = np.asarray(X)
        self.coding = choose_coding(sample_rows(X))
        self._part = StumpPart(X, self.coding, directory)
        self.low, self.high = self._part.low, self._part.high
        self._y = np.asarray(y).astype(np.int8)
        self._weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        self.prior = float(len(X) if weight is None else math.fsum(self._weight))
        self._margins, self._W = np.zeros(len(X)), np.empty((len(X), 1), dtype=np.int64)

    def advance(self, *move: Any) -> np.ndarray:
        """Go on by one move; return the sums by coarse code."""
        return advance(self._part, self._y, self._weight, self._margins, self._W, *move)

    def fine(self, places: list, columns: slice) -> list[np.ndarray]:
        """Sums by code within some coarse codes of some features."""
        return self._part.fine(self._W, places)

    def entries(self, feature: int, codes: np.ndarray, columns: slice) -> tuple[np.ndarray, np.ndarray]:
        """Values, and weights, of the rows with some codes."""
        return self._part.entries(self._W, feature, codes)


class _State(NamedTuple):
    """What a worker holds of a part beside its rows. Never changed: a lost one is made again."""

    margins: np.ndarray
    W: np.ndarray
    tables: np.ndarray


class _Workers(DaskTeam):
    """Rows on the workers of a Dask cluster."""

    def __init__(self, X: Any, y: Any, weight: Any, client: Any, directory: Any):
        super().__init__(X, client, directory)
        self._y = self._spread(y, np.int8)
        self._prior = [None] * len(self.parts) if weight is None else self._spread(weight, np.float64)
        self.prior = float(self.n_samples)
        if weight is not None:
            self.prior = math.fsum(self.client.gather(self._each(math.fsum, self._prior)))
        self._W = [None] * len(self.parts)

    def _spread(self, values: Any, dtype: type) -> list:
        """Return values in pieces, each beside its rows."""
        if hasattr(values, "to_delayed"):
            return self.client.compute(list(values.astype(dtype).to_delayed().ravel()))
        pieces = np.split(np.asarray(values).astype(dtype), self.bounds[1:-1])
        return self._each(_itself, pieces)  # not scattered: what is scattered is lost with a worker

    def _ask(self, method: str, *arguments: Any) -> list:
        return [
            self.client.submit(_answer_with_state, part, state, method, *arguments, pure=False)
            for part, state in zip(self.parts, self._W, strict=True)
        ]

    def advance(self, *move: Any) -> np.ndarray:
        """Go on by one move; return the sums by coarse code."""
        rows = zip(self.parts, self._y, self._prior, self._W, strict=True)
        self._W = [self.client.submit(_advance, *row, *move, pure=False) for row in rows]
        return self.merge(self._each(_tables, self._W), sum)


def _itself(values: np.ndarray) -> np.ndarray:
    return values


def _tables(state: _State) -> np.ndarray:
    return state.tables


def _answer_with_state(part: StumpPart, state: _State, method: str, columns: slice, *arguments: Any) -> Any:
    return getattr(part, method)(state.W[:, columns], *arguments)


def _advance(part: StumpPart, y: np.ndarray, prior: np.ndarray | None, state: _State | None, *move: Any):
    """Return the state after a move."""
    margins = np.zeros(len(part)) if state is None else state.margins.copy()
    W = np.empty((len(part), 1), dtype=np.int64)
    return _State(margins, W, advance(part, y, prior, margins, W, *move))
