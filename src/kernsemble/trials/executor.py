"""Run jobs over processes or a cluster, and hand over each result as it comes.

What comes out does not depend on the number of workers or the order: jobs know everything from their names. A
worker confirms the stamp of a job, runs it on one thread, and checks what it returns. Jobs travel in batches
of about half a second, so that the overhead per trial stays small. When a worker dies, the jobs that were
under way are suspects and run one at a time: the one that kills its worker again has failed, the others are
unharmed.
"""

from __future__ import annotations

import atexit
import os
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context, parent_process
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from kernsemble.trials.arithmetic import (
    THREAD_VARIABLES,
    other_kernels,
    pinned_environment,
    provenance,
    remedy,
)
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import Row, Value, format_value
from kernsemble.trials.plan import Job, code_of, data_here
from kernsemble.trials.registry import Exhibit, Paper, TrialFunction, load_paper
from kernsemble.trials.trial import Trial

_MEANT = ".* rounds with a relative duality gap of"  # a trial's rounds are its protocol
_one_at_a_time = threading.Lock()


class WorkerMismatchError(RuntimeError):
    """A worker whose code, data or arithmetic are not those of the run."""


@dataclass(frozen=True)
class Outcome:
    """What came of one job: rows, or the traceback of its exception."""

    job: Job
    rows: tuple[Row, ...] = ()
    error: str = ""
    warnings: tuple[str, ...] = ()


def run_batch(jobs: Sequence[Job]) -> list[Outcome]:
    """Run jobs one after the other; an exception in one does not keep the others from running."""
    with _one_at_a_time, _one_thread():
        return [run_job(job) for job in jobs]


def run_job(job: Job) -> Outcome:
    """Run one job; raise ``WorkerMismatchError`` when this process has other code or data than asked for."""
    paper, function = find_trial(job)
    confirm_stamp(job, paper, function)
    exhibit = paper.exhibits[job.exhibit]
    method = function.name if function.together else job.methods[0]
    trial = Trial(paper.key, job.exhibit, job.dataset, method, job.number)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", _MEANT)
        start = time.perf_counter()
        try:
            result = function.compute(trial, job.params)
            seconds = (time.perf_counter() - start) / len(job.methods)
            results = result if function.together else {method: result}
            checked = [checked_row(results, m, exhibit) for m in job.methods]
        except (Exception, SystemExit):
            return Outcome(job, error=traceback.format_exc(limit=-8), warnings=_summaries(caught))
    texts = [{name: format_value(value) for name, value in row.items()} for row in checked]
    made = (seconds, job.stamp, provenance())
    rows = tuple(Row(key, text, *made) for key, text in zip(job.keys, texts, strict=True))
    return Outcome(job, rows, warnings=_summaries(caught))


def find_trial(job: Job) -> tuple[Paper, TrialFunction]:
    """Return a job's paper and function as they are in this process."""
    try:
        paper = load_paper(job.module)
        functions = (f for f in paper.functions[job.exhibit] if f.name == job.function)
        (function,) = (f for f in functions if set(job.methods) <= set(f.methods))
    except (ImportError, KeyError, ValueError) as error:
        raise WorkerMismatchError(f"cannot find {job.module}.{job.function}: {error}") from None
    return paper, function


def confirm_stamp(job: Job, paper: Paper, function: TrialFunction) -> None:
    """Refuse to compute a row whose stamp would not be true here."""
    try:
        here = (code_of(function), data_here(paper.datasets[job.dataset]))
    except (PlanError, KeyError, OSError) as error:
        raise WorkerMismatchError(str(error)) from None
    if here[0] != job.stamp.code:
        raise WorkerMismatchError(f"code of {job.function!r}: identity {here[0]}, expected {job.stamp.code}")
    if here[1] != job.stamp.data:
        raise WorkerMismatchError(f"data of {job.dataset!r}: checksum {here[1]}, expected {job.stamp.data}")


@cache
def confirm_arithmetic() -> None:
    """Refuse to compute with other kernels of BLAS than all trials have."""
    if found := other_kernels():
        raise WorkerMismatchError(f"its BLAS has the kernels of {found}: {remedy()}")


def checked_row(results: Any, method: str, exhibit: Exhibit) -> dict[str, Value]:
    """Return a method's metrics as plain numbers; complain about names and values that are not declared."""
    if not isinstance(results, Mapping) or method not in results:
        raise TypeError(f"expected a mapping with results of {method!r}, got {results!r}")
    row = results[method]
    if not isinstance(row, Mapping) or not row:
        raise TypeError(f"expected metrics of {method!r} as a mapping, got {row!r}")
    if unknown := set(row) - set(exhibit.columns):
        raise ValueError(f"metrics {sorted(unknown)} are not declared; {exhibit.name} has {exhibit.columns}")
    return {name: plain_value(row[name], name) for name in exhibit.columns if name in row}


def plain_value(value: Any, name: str) -> Value:
    """Return a number as int or float, an array of numbers as a tuple; both finite."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.ndim > 1 or not array.size:
        raise TypeError(f"metric {name!r} must be a number or a one-dimensional array, got {value!r}")
    if not np.isfinite(array).all():
        raise ValueError(f"metric {name!r} is {value!r}; leave out a metric that does not exist")
    if array.ndim:
        return tuple(_shortest(item) for item in array.tolist())
    return _shortest(array.item())


def _shortest(number: float) -> float | int:
    """Return whole numbers as int: 3.0 and 3 are stored alike."""
    if isinstance(number, float) and not (number.is_integer() and abs(number) < 2**53):
        return number
    return int(number)


def _summaries(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Pin BLAS, OpenMP and numba to one thread; last digits must not depend on the machine's cores."""
    numba = sys.modules.get("numba")
    before = numba.get_num_threads() if numba else 0
    with threadpool_limits(1) if not _is_pinned() else nullcontext():
        if numba:
            numba.set_num_threads(1)
        try:
            yield
        finally:
            if numba:
                numba.set_num_threads(before)


def _is_pinned() -> bool:
    return parent_process() is not None and all(os.environ.get(name) == "1" for name in THREAD_VARIABLES)


def start_worker() -> None:
    """Prepare a process of the local pool: ^C is the parent's to handle, and nobody outlives the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent,), daemon=True).start()


def _die_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


BATCH_SECONDS = 0.5
MAX_BATCH = 100
ATTEMPTS = 3


class Backend(Protocol):
    """Where batches run."""

    def slots(self) -> int:
        """Return how many batches can run at once."""

    def submit(self, batch: list[Job]) -> Any:
        """Start a batch and return its future."""

    def recover(self, error: BaseException | None) -> None:
        """Make the backend usable again after workers or the scheduler were lost; None: a regular check."""

    def refuse(self, error: WorkerMismatchError) -> None:
        """Keep work from a worker with other code or data; raise when that cannot be done."""

    def stop(self) -> None:
        """Drop what is under way."""


@dataclass
class Report:
    """What a run did: how many jobs were done, what failed and why, what was warned of."""

    done: int = 0
    failures: dict[Job, str] = field(default_factory=dict)
    warnings: Counter = field(default_factory=Counter)

    def merge(self, other: Report) -> None:
        """Add another report to this one."""
        self.done += other.done
        self.failures.update(other.failures)
        self.warnings.update(other.warnings)


class WorkerLostError(RuntimeError):
    """A batch whose worker died under it, perhaps through the fault of one of its jobs."""


class _Local:
    """What both backends of this machine share."""

    n_jobs = 1

    def slots(self) -> int:
        """Return the number of processes."""
        return self.n_jobs

    def recover(self, error: BaseException | None) -> None:
        """Begin anew after a process died."""
        if error is not None:
            self.stop()

    def refuse(self, error: WorkerMismatchError) -> None:
        """A process of this machine has other code only when a file was edited meanwhile."""
        raise PlanError(f"The code changed since this run started: start it again ({error}).") from None

    def stop(self) -> None:
        """End all processes at once."""


class InProcess(_Local):
    """Runs batches here and now: one job at a time, nothing beside it."""

    def submit(self, batch: list[Job]) -> Future:
        """Run the batch and return a finished future."""
        future: Future = Future()
        try:
            future.set_result(run_batch(batch))
        except WorkerMismatchError as error:
            future.set_exception(error)
        return future


def execute(
    jobs: Iterable[Job],
    backend: Backend,
    on_outcome: Callable[[list[Outcome]], None],
    on_progress: Callable[[int], None] = lambda n: None,
) -> Report:
    """Run jobs and pass on their outcomes in the order in which they arrive.

    ``on_outcome`` is called with the successful outcomes of a batch, to save them, ``on_progress`` with the
    number of jobs that were settled, failures included.
    """
    run = _Run(deque(jobs), backend, on_outcome, on_progress)
    try:
        while run.waiting or run.suspects or run.under_way:
            run.submit()
            run.collect()
    except BaseException:
        backend.stop()
        raise
    return run.report


class _Run:
    """The state of one call of ``execute``."""

    def __init__(
        self, jobs: deque[Job], backend: Backend, on_outcome: Callable, on_progress: Callable
    ) -> None:
        self.waiting = jobs
        self.suspects: deque[Job] = deque()
        self.under_way: dict[Any, list[Job]] = {}
        self.finished: queue.SimpleQueue = queue.SimpleQueue()
        self.backend = backend
        self.on_outcome = on_outcome
        self.on_progress = on_progress
        self.attempts: Counter = Counter()
        self.seconds = 0.0
        self.report = Report()

    def submit(self) -> None:
        """Keep twice as many batches under way as there are slots; a suspect runs alone."""
        if self.suspects:
            if not self.under_way:
                self._start([self.suspects.popleft()])
            return
        while self.waiting and len(self.under_way) < 2 * self.backend.slots():
            self._start([self.waiting.popleft() for _ in range(self._batch_size())])
            if isinstance(self.backend, InProcess):
                return

    def _batch_size(self) -> int:
        if not self.report.done:
            return 1
        by_time = BATCH_SECONDS * self.report.done / max(self.seconds, 1e-9)
        fair_share = len(self.waiting) / (2 * max(1, self.backend.slots()))
        return max(1, min(len(self.waiting), MAX_BATCH, int(by_time), int(fair_share)))

    def _start(self, batch: list[Job]) -> None:
        future = self.backend.submit(batch)
        self.under_way[future] = batch
        future.add_done_callback(self.finished.put)

    def collect(self) -> None:
        """Settle one finished batch; look after the backend while nothing finishes."""
        try:
            future = self.finished.get(timeout=2)
        except queue.Empty:
            self.backend.recover(None)
            return
        batch = self.under_way.pop(future)
        error = CancelledError("cancelled") if future.cancelled() else future.exception()
        if error is None:
            self._settle(future.result())
        elif isinstance(error, WorkerMismatchError):
            self.backend.refuse(error)
            self.waiting.extendleft(reversed(batch))
        else:
            self._lost(batch, error)

    def _settle(self, outcomes: list[Outcome]) -> None:
        self.on_outcome([outcome for outcome in outcomes if not outcome.error])
        for outcome in outcomes:
            self.report.warnings.update(outcome.warnings)
            self.seconds += sum(row.seconds for row in outcome.rows)
            if outcome.error:
                self.report.failures[outcome.job] = outcome.error
        self.report.done += len(outcomes)
        self.on_progress(len(outcomes))

    def _lost(self, batch: list[Job], error: BaseException) -> None:
        """A worker or the scheduler went away: try again, one at a time; give a job up that does it again."""
        self.backend.recover(error)
        blamed = isinstance(error, BrokenProcessPool | WorkerLostError)
        if blamed and len(batch) == 1 and not self.under_way:
            self.attempts[batch[0]] += 1
        if self.attempts[batch[0]] >= ATTEMPTS or not (blamed or _is_cancelled(error)):
            for job in batch:
                self.report.failures[job] = f"its worker was lost: {type(error).__name__}: {error}"
            self.report.done += len(batch)
            self.on_progress(len(batch))
        elif blamed:
            self.suspects.extend(batch)
        else:
            self.waiting.extendleft(reversed(batch))


def _is_cancelled(error: BaseException) -> bool:
    """Whether the backend dropped a batch through no fault of its jobs."""
    return "Cancelled" in type(error).__name__


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ProcessPool(_Local):
    """Runs batches in ``n_jobs`` processes, started when they are first needed and replaced when they die."""

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._executor: ProcessPoolExecutor | None = None

    def submit(self, batch: list[Job]) -> Future:
        """Start a batch."""
        if self._executor is None:
            # spawn: a fork of a process with threads (a Jupyter kernel) may hang
            options = {"mp_context": get_context("spawn"), "initializer": start_worker}
            try:
                self._executor = ProcessPoolExecutor(self.n_jobs, **options)
            except OSError as error:
                raise PlanError(
                    f"Worker processes cannot be started; shared memory (/dev/shm): {error.strerror}. Mend "
                    "that, or run one at a time with --jobs 1."
                ) from None
        with pinned_environment():
            try:
                return self._executor.submit(run_batch, batch)
            except RuntimeError as error:  # broken, or shut down: found out only now
                future: Future = Future()
                future.set_exception(error)
                return future

    def stop(self) -> None:
        """End all processes at once."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        processes, manager = list((executor._processes or {}).values()), executor._executor_manager_thread
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(timeout=5)
        if manager is not None:  # one that still closes its pipes would trip the interpreter, if it ends now
            manager.join(timeout=5)


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
