"""Running a compiled loop over columns or rows on several threads.

Pieces write to places of their own, so results do not depend on the number of threads. Threads of the
interpreter serve, because compiled loops release its lock: no OpenMP runtime is loaded, and a forked
process stays usable.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from itertools import pairwise
from numbers import Integral

import numpy as np
from numba import config
from sklearn.utils import check_scalar

_WORTH_A_THREAD = 1_000_000  # elementary steps (about a millisecond): less than this costs more to hand over

_most: ContextVar[int | None] = ContextVar("most", default=None)


def n_threads() -> int:
    """Return the number of threads to use: NUMBA_NUM_THREADS or the processors, OMP_NUM_THREADS at most.

    Within `at_most` it is no more than is said there.
    """
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    found = max(1, min(config.NUMBA_NUM_THREADS, int(limit)) if limit.isdigit() else config.NUMBA_NUM_THREADS)
    return min(found, _most.get() or found)


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """Use so many threads at most; None sets no limit, -1 is as many as there are, -2 one less."""
    if n_jobs is not None:
        check_scalar(n_jobs, "n_jobs", Integral)
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 means nothing: give a number of threads, or None or -1 for all.")
        n_jobs = n_jobs if n_jobs > 0 else max(1, n_threads() + 1 + n_jobs)
    token = _most.set(n_jobs)
    try:
        yield
    finally:
        _most.reset(token)


def in_threads(method: Callable) -> Callable:
    """Decorate a method of an estimator: it runs in ``n_jobs`` threads at most."""

    @wraps(method)
    def limited(self, *args, **options):
        with at_most(self.n_jobs):
            return method(self, *args, **options)

    return limited


@cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """Return the pool of this process (a fork must not use its parent's)."""
    return ThreadPoolExecutor(size, thread_name_prefix="kernsemble")


def run_pieces(work: Callable[[int, int], object], cost: np.ndarray) -> None:
    """Call ``work(start, stop)`` on pieces of ``range(len(cost))`` of about equal cost.

    Parameters
    ----------
    work : callable
        Handles the columns or rows start..stop-1; must release the interpreter's lock to gain anything.
    cost : ndarray of shape (n,)
        Elementary steps that each of the n items takes.
    """
    pieces = int(min(n_threads(), 1 + cost.sum() // _WORTH_A_THREAD))
    if pieces < 2:
        work(0, len(cost))
        return
    done = np.cumsum(cost)
    bounds = np.searchsorted(done, done[-1] * np.arange(1, pieces) / pieces)
    bounds = [0, *(int(bound) for bound in bounds), len(cost)]
    pool = _pool(os.getpid(), n_threads() - 1)
    rest = [pool.submit(work, start, stop) for start, stop in pairwise(bounds[1:])]
    work(bounds[0], bounds[1])
    for future in rest:
        future.result()
