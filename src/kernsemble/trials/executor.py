"""Run jobs over processes or a cluster, and hand over each result as it comes.

What comes out does not depend on the number of workers or the order: jobs know everything from their names.
Jobs travel in batches of about half a second, so that the overhead per trial stays small. When a worker dies,
the jobs that were under way are suspects and run one at a time: the one that kills its worker again has
failed, the others are unharmed.
"""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any, Protocol

from kernsemble.trials.errors import PlanError
from kernsemble.trials.plan import Job
from kernsemble.trials.worker import Outcome, WorkerMismatchError, run_batch

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
    notes: list[str] = field(default_factory=list)

    def merge(self, other: Report) -> None:
        """Add another report to this one."""
        self.done += other.done
        self.failures.update(other.failures)
        self.warnings.update(other.warnings)
        self.notes += other.notes


class WorkerLostError(RuntimeError):
    """A batch whose worker died under it, perhaps through the fault of one of its jobs."""


class InProcess:
    """Runs batches here and now: one job at a time, nothing beside it."""

    def slots(self) -> int:
        """One."""
        return 1

    def submit(self, batch: list[Job]) -> Future:
        """Run the batch and return a finished future."""
        future: Future = Future()
        try:
            future.set_result(run_batch(batch))
        except WorkerMismatchError as error:
            future.set_exception(error)
        return future

    def recover(self, error: BaseException | None) -> None:
        """Nothing to recover."""

    def refuse(self, error: WorkerMismatchError) -> None:
        """There is no other worker."""
        raise PlanError(f"The code changed since this process started: start it again ({error}).") from None

    def stop(self) -> None:
        """Nothing is under way."""


def execute(
    jobs: Iterable[Job],
    backend: Backend,
    on_outcome: Callable[[list[Outcome]], None],
    on_progress: Callable[[int], None] = lambda n: None,
) -> Report:
    """Run jobs and pass on their outcomes in the order in which they arrive.

    Parameters
    ----------
    jobs : iterable of Job
    backend : Backend
        ``InProcess``, ``pool.ProcessPool`` or ``cluster.DaskCluster``.
    on_outcome : callable
        Called with the successful outcomes of each batch: the place to save them.
    on_progress : callable
        Called with the number of jobs that were settled, failures included.

    Returns
    -------
    Report
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
        error = _error_of(future)
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
            self.seconds += outcome.seconds * max(1, len(outcome.rows))
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


def _error_of(future: Any) -> BaseException | None:
    if future.cancelled():
        return _BatchCancelledError("cancelled")
    return future.exception()


class _BatchCancelledError(RuntimeError):
    """A batch that the backend dropped through no fault of its jobs."""


def _is_cancelled(error: BaseException) -> bool:
    return "Cancelled" in type(error).__name__
