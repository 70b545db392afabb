"""The stump machine over the workers of a Dask cluster: the codes of the rows stay where the rows are.

The problem and the steps are those of `splines`. A product with the kernel is asked of the workers: tables
one way and scores the other, or multipliers one way and histograms the other, merged by the workers. Vectors
over the rows, some 140 bytes a row at the peak, and the few rows at the margin are on this side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernsemble.hypotheses import knots as columns
from kernsemble.hypotheses.knots import MOST, Knots
from kernsemble.hypotheses.shapes import Shapes
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.splines import SplineProblem, SplineSolution, solve_splines

_FAN_IN = 8  # results that a worker merges at a time


def partitioned_stump_machine(
    X: Any,
    y: np.ndarray,
    C: float = 1.0,
    *,
    weight: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    max_knots: int | None = MOST,
    client: Any = None,
) -> tuple[SplineSolution, Shapes]:
    """Solve the two-class machine of `DistanceKernelSVC(kernel="stump")` on a Dask array.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        Rows, in chunks of rows.
    y : ndarray of shape (n_samples,)
        Labels -1 and +1.
    C : float, default=1.0
        Weight of the sum of hinge losses.
    weight : ndarray of shape (n_samples,), default=None
        Multiplies each sample's C.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=1000
        Most Newton steps.
    max_knots : int or None, default=65536
        A feature with more distinct values is rounded to so many.
    client : distributed.Client, default=None
        Whose workers hold the rows; None is the current one.

    Returns
    -------
    solution : SplineSolution
        With the certificate; ``u`` are the multipliers of all rows.
    shapes : Shapes
        The decision at rows X is ``shapes.decision(X)[:, 0] + solution.b``.
    """
    team = _Team(X, max_knots, client)
    cost = np.full(len(y), float(C)) if weight is None else C * np.asarray(weight, dtype=np.float64)
    problem = _PartitionedProblem(team.knots, team, BoxLoss.hinge(np.asarray(y, dtype=np.float64), cost))
    solution = solve_splines(problem, tol=tol, max_iter=max_iter)
    return solution, Shapes(team.knots.values, team.knots.first, solution.w[:, None])


class _Team:
    """Codes of the rows, each part on a worker."""

    def __init__(self, X: Any, max_knots: int | None, client: Any):
        from distributed import default_client

        self.client = client or default_client()
        chunks = self.client.compute(list(X.rechunk({1: -1}).to_delayed().ravel()))
        sizes = self.client.gather(self._each(len, chunks))
        self.bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        most = max_knots or int(self.bounds[-1])
        known = self._merge(self._each(columns.distinct_values, chunks, most), _merge_values, most)
        some = columns.sampled(int(self.bounds[-1]))
        sample = np.empty((0, len(known)))
        if any(values is None for values in known):
            pieces = [
                self.client.submit(_rows, c, r, pure=False)
                for c, r in zip(chunks, self.split(some), strict=True)
            ]
            sample = np.concatenate(self.client.gather(pieces))
        edges = columns.edges_of_parts(known, sample, most)
        sums = self._merge(self._each(columns.sums_of_parts, chunks, edges), _add_sums)
        self.knots = Knots.of_parts(known, edges, sums)
        self.parts = self._each(_encode, chunks, self.knots)

    def split(self, rows: np.ndarray) -> list[np.ndarray]:
        """Ascending numbers of rows as numbers within each part."""
        ends = np.searchsorted(rows, self.bounds[1:-1])
        return [part - start for part, start in zip(np.split(rows, ends), self.bounds[:-1], strict=True)]

    def _each(self, function: Any, items: list, *arguments: Any) -> list:
        """Call a function on each item where it is; return futures."""
        return [self.client.submit(function, item, *arguments, pure=False) for item in items]

    def _merge(self, futures: list, merge: Any, *arguments: Any) -> Any:
        """What futures come to, merged by the workers a few at a time."""
        while len(futures) > 1:
            groups = [futures[start : start + _FAN_IN] for start in range(0, len(futures), _FAN_IN)]
            futures = [self.client.submit(merge, group, *arguments, pure=False) for group in groups]
        return futures[0].result()

    def scores(self, g: np.ndarray) -> np.ndarray:
        """``H g``."""
        return np.concatenate(self.client.gather(self._each(columns.gather, self.parts, self.knots.first, g)))

    def pull(self, V: np.ndarray) -> np.ndarray:
        """``H'V``."""
        pieces = zip(self.parts, np.split(V, self.bounds[1:-1]), strict=True)
        sums = [self.client.submit(columns.histogram, p, self.knots.first, v, pure=False) for p, v in pieces]
        return self._merge(sums, sum)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Codes of some rows, in ascending order."""
        pieces = zip(self.parts, self.split(rows), strict=True)
        codes = [self.client.submit(columns.take_rows, part, own, pure=False) for part, own in pieces]
        return np.concatenate(self.client.gather(codes), axis=1)


class _PartitionedProblem(SplineProblem):
    """A problem whose codes are a team."""

    codes: _Team

    def scores(self, g: np.ndarray) -> np.ndarray:
        return self.codes.scores(g)

    def pull(self, V: np.ndarray) -> np.ndarray:
        return self.codes.pull(V)

    def take(self, rows: np.ndarray) -> np.ndarray:
        return self.codes.take(rows)


def _rows(X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.asarray(X)[rows]


def _encode(X: np.ndarray, knots: Knots) -> np.ndarray:
    return knots.encode(np.asarray(X))


def _merge_values(lists: list[list], most: int) -> list:
    merged = lists[0]
    for other in lists[1:]:
        merged = columns.merge_values(merged, other, most)
    return merged


def _add_sums(lists: list[list]) -> list:
    return [None if parts[0] is None else sum(parts) for parts in zip(*lists, strict=True)]
