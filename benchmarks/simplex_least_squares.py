"""CGENS-SLS: J x J equations that grow by a row a round, beside the printed m x m inverse."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
from race import Row, compare, once

import kernsemble.trials  # noqa: F401  lets the rooms be imported
from kernsemble import CGEnsSLS
from kernsemble.data import load
from kernsemble.masters.base import Master
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares
from shen2014.simplex_inverse import SimplexInverse

C = 2.0**-6


def grow(master: Master, H: np.ndarray) -> float:
    """Add the columns one by one, solve each time; return the last objective."""
    for column in H.T:
        master.add(column)
        solution = master.solve()
    return solution.objective


def held(make: Callable[[], Master], H: np.ndarray) -> float:
    """Return the megabytes that a master holds once it has solved for all columns."""
    tracemalloc.start()
    try:
        master = make()
        grow(master, H)
        return tracemalloc.get_traced_memory()[0] / 1e6
    finally:
        tracemalloc.stop()


def rows(n_samples: int = 10_000, n_rounds: int = 500, n_printed: int = 20) -> list[Row]:
    """Race on the columns that CGENS-SLS chose; a round of the printed inverse costs the same early and late.

    The second row holds megabytes in the place of seconds.
    """
    digits = load("mnist")
    X, y = digits.X[:n_samples], digits.y[:n_samples]
    H = np.asfortranarray(CGEnsSLS(C=C, n_rounds=n_rounds, tol=None).fit(X, y).hypotheses_.outputs(X))
    grow(SimplexLeastSquares(y, C), H[:, :3])
    ours, _ = once(lambda: grow(SimplexLeastSquares(y, C), H))
    start, printed = once(lambda: SimplexInverse(y, C))
    theirs, objective = once(lambda: grow(printed, H[:, :n_printed]))
    same = np.isclose(objective, grow(SimplexLeastSquares(y, C), H[:, :n_printed]), rtol=1e-9)
    size = f"MNIST {n_samples}, {n_rounds} rounds"
    peer = f"printed m x m inverse ({n_printed} rounds, scaled)"
    memory = (
        held(lambda: SimplexLeastSquares(y, C), H),
        held(lambda: SimplexInverse(y, C), H[:, :1]),
    )
    return [
        compare("simplex least squares", size, peer, ours, start + theirs * n_rounds / n_printed, 50.0, same),
        compare("simplex least squares, megabytes", size, "printed m x m inverse", *memory, 20.0, same),
    ]
