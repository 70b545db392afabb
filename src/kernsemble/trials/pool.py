"""A pool of local processes that lives as long as the program, one thread each."""

from __future__ import annotations

import atexit
import os
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

from kernsemble.trials.arithmetic import other_kernels, pinned_environment
from kernsemble.trials.errors import PlanError
from kernsemble.trials.executor import Backend, InProcess
from kernsemble.trials.plan import Job
from kernsemble.trials.worker import WorkerMismatchError, run_batch, start_worker


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ProcessPool:
    """Runs batches in ``n_jobs`` processes, started when they are first needed and replaced when they die."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._executor: ProcessPoolExecutor | None = None

    def slots(self) -> int:
        """Return the number of processes."""
        return self.n_jobs

    def submit(self, batch: list[Job]) -> Future:
        """Start a batch."""
        if self._executor is None:
            # spawn: a fork of a process with threads (a Jupyter kernel) may hang
            context = get_context("spawn")
            self._executor = ProcessPoolExecutor(self.n_jobs, mp_context=context, initializer=start_worker)
        with pinned_environment():
            try:
                return self._executor.submit(run_batch, batch)
            except RuntimeError as error:  # broken, or shut down: found out only now
                future: Future = Future()
                future.set_exception(error)
                return future

    def recover(self, error: BaseException | None) -> None:
        """Replace the processes after one died."""
        if error is not None:
            self.stop()

    def refuse(self, error: WorkerMismatchError) -> None:
        """A process of this machine has other code only when a file was edited during the run."""
        raise PlanError(f"The code changed during the run: start it again ({error}).") from None

    def stop(self) -> None:
        """End all processes at once."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(timeout=5)


_pools: dict[int, ProcessPool] = {}


def process_pool(n_jobs: int) -> ProcessPool:
    """Return the pool of this size; it is kept, because starting a process costs seconds."""
    for size in [size for size in _pools if size != n_jobs]:
        _pools.pop(size).stop()
    return _pools.setdefault(n_jobs, ProcessPool(n_jobs))


def one_at_a_time() -> Backend:
    """Return what runs one trial at a time: this process, unless its BLAS is not that of trials."""
    return process_pool(1) if other_kernels() else InProcess()


@atexit.register
def stop_pools() -> None:
    """End all processes that this program started."""
    while _pools:
        _pools.popitem()[1].stop()
