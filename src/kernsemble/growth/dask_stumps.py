"""Decision stumps on a Dask array: the exact search of ``stumps``, each worker adding up its own rows.

The problem is that of `StumpOracle`, and so is the result, bit for bit: weights are whole numbers, so sums
merge exactly, whatever the chunks, the number of workers and the order in which they answer. Rows are coded
where they are and stay there. A search sends each worker the weights of its rows, 8 bytes a sample; merges
sums by code, which do not grow with the rows; asks for the few rows that may hold the best cut; and fetches
the column, 1 byte a sample. (Where the weights are kept by the workers, see ``growth.partitioned``.)

A worker that is lost takes its rows with it; Dask makes them again from the array, and the search goes on.

Paper symbols: as in ``stumps``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from os import PathLike
from typing import Any

import numpy as np

from kernsemble.growth._stump_coding import choose_coding, sample_rows
from kernsemble.growth._stump_part import StumpPart
from kernsemble.growth.streamed_stumps import StreamedStumpOracle

_FAN_IN = 8  # answers that are merged at once
_ATTEMPTS = 5  # to get an answer while workers are lost


class DaskStumpOracle(StreamedStumpOracle):
    """Finds the best of all decision stumps on the rows of a Dask array.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        Finite training data, in chunks of rows, best one of millions for each worker.
    constant : bool, default=True
        Whether the constant hypothesis belongs to the family.
    client : distributed.Client, default=None
        Whose workers search; None is the current one.
    directory : path, default=None
        Where each worker writes the codes of its float data; None is its directory for temporary files.
    bound : bool, default=True
        Whether ``sum_of_squares`` is an upper bound; if exact, it brings each float feature of many values
        here in turn, 12 bytes a sample.
    random_state : object, default=None
        Not used.

    Notes
    -----
    Needs the packages ``dask`` and ``distributed``.

    Examples
    --------
    >>> import numpy as np, dask.array
    >>> from distributed import Client
    >>> from kernsemble.growth.dask_stumps import DaskStumpOracle
    >>> with Client(processes=False, dashboard_address=None) as client:  # doctest: +SKIP
    ...     oracle = DaskStumpOracle(dask.array.from_array(X, chunks=(100_000, -1)))
    ...     found = oracle.best(V)
    """

    def __init__(
        self,
        X: Any,
        *,
        constant: bool = True,
        client: Any = None,
        directory: str | PathLike | None = None,
        bound: bool = True,
        random_state: object = None,
    ):
        if X.ndim != 2:
            raise ValueError(f"X has shape {X.shape}; expected (n_samples, n_features).")
        self._set_up(DaskTeam(X, client, directory), constant, bound)


class DaskTeam:
    """The parts of a Dask array, each on a worker.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        The rows.
    client : distributed.Client, default=None
        None is the current one.
    directory : path, default=None
        For codes.

    Attributes
    ----------
    coding : Coding
        Of all rows.
    low, high : ndarray of shape (n_features, n_codes)
        Smallest and largest value of each code.
    n_samples : int
        Rows in all.
    """

    def __init__(self, X: Any, client: Any = None, directory: str | PathLike | None = None):
        from distributed import default_client, wait

        self.client = client or default_client()
        chunks = self.client.compute(list(X.rechunk({1: -1}).to_delayed().ravel()))
        samples = self.client.gather(self._each(_sample, chunks, len(chunks)))
        self.coding = choose_coding(np.concatenate(samples))
        self.parts = self._each(StumpPart, chunks, self.coding, directory)
        wait(self.parts)
        sizes = self.client.gather(self._each(len, self.parts))
        self.bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.n_samples = int(self.bounds[-1])
        self.low, self.high = self.merge(self._each(_ranges, self.parts), _widen)

    def _each(self, function: Any, items: list, *arguments: Any) -> list:
        """Call a function on each item where it is; return futures."""
        return [self.client.submit(function, item, *arguments, pure=False) for item in items]

    def merge(self, futures: list, add: Any) -> Any:
        """Return what futures add up to, merged by the workers a few at a time."""
        while len(futures) > 1:
            groups = [futures[start : start + _FAN_IN] for start in range(0, len(futures), _FAN_IN)]
            futures = [self.client.submit(add, group, pure=False) for group in groups]
        return futures[0].result()

    def load(self, W: np.ndarray) -> None:
        """Send the weights (n, K), int64, to where their rows are."""
        self._weights, self._W = W, [None] * len(self.parts)
        for worker, held in self._places().items():
            pieces = [W[self.bounds[i] : self.bounds[i + 1]] for i in held]
            sent = self.client.scatter(pieces, workers=[worker] if worker else None, hash=False)
            for i, future in zip(held, sent, strict=True):
                self._W[i] = future

    def _places(self) -> dict[str, list[int]]:
        """Return which parts each worker has; parts that are being made again have no place ("")."""
        places: dict[str, list[int]] = {}
        has = self.client.who_has(self.parts)
        for i, part in enumerate(self.parts):
            places.setdefault(min(has.get(part.key) or [""]), []).append(i)
        return places

    def _ask(self, method: str, *arguments: Any) -> list:
        return [
            self.client.submit(_answer, part, W, method, *arguments, pure=False)
            for part, W in zip(self.parts, self._W, strict=True)
        ]

    def _persist(self, answer: Callable[[], Any]) -> Any:
        """Return an answer; weights that were lost with a worker are sent again."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return answer()
            except CancelledError:
                self.load(self._weights)
        return answer()

    def tables(self) -> np.ndarray:
        """Sums by coarse code."""
        return self._persist(lambda: self.merge(self._ask("tables", slice(None)), sum))

    def fine(self, places: list[tuple[int, np.ndarray]], columns: slice) -> list[np.ndarray]:
        """Sums by code within some coarse codes of some features."""
        return self._persist(lambda: self.merge(self._ask("fine", columns, places), _add_lists))

    def entries(self, feature: int, codes: np.ndarray, columns: slice) -> tuple[np.ndarray, np.ndarray]:
        """Values, and weights, of the rows with some codes."""
        answers = self._persist(lambda: self.client.gather(self._ask("entries", columns, feature, codes)))
        values, weights = zip(*answers, strict=True)
        return np.concatenate(values), np.concatenate(weights)

    def column(self, feature: int, threshold: float) -> np.ndarray:
        """+1 where the feature exceeds the threshold, -1 elsewhere."""
        return np.concatenate(
            self.client.gather(self._each(StumpPart.column, self.parts, feature, threshold))
        )


def _sample(X: np.ndarray, n_parts: int) -> np.ndarray:
    """Sample rows on a worker, so many that all parts' make one sample."""
    return sample_rows(X)[:: 1 if X.shape[0] * n_parts <= 1 << 18 else n_parts]


def _ranges(part: StumpPart) -> tuple[np.ndarray, np.ndarray]:
    return part.low, part.high


def _widen(ranges: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    low, high = zip(*ranges, strict=True)
    return np.minimum.reduce(low), np.maximum.reduce(high)


def _answer(part: StumpPart, W: np.ndarray, method: str, columns: slice, *arguments: Any) -> Any:
    return getattr(part, method)(W[:, columns], *arguments)


def _add_lists(lists: list[list[np.ndarray]]) -> list[np.ndarray]:
    return [sum(arrays) for arrays in zip(*lists, strict=True)]
