"""Run batches on an existing Dask scheduler.

Workers need this package as it is here and its registered data. Each is asked before it gets work; one that
differs is refused with a message, and the others do its work. Workers may come and go. One that gives no
sign of life for a minute (frozen, or cut off) is named, and its work goes to the others. A scheduler that
goes away is waited for: what was under way is sent again when it is back at its address. It needs the
package, too, because Dask's schedulers read what they pass on.
"""

from __future__ import annotations

import logging
import socket
import time
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from functools import cache
from importlib import import_module
from threading import Thread
from typing import Any, NamedTuple

from kernsemble.data.base import DatasetDamaged, DatasetUnavailable
from kernsemble.data.sources import get_source
from kernsemble.data.store import load
from kernsemble.trials.errors import PlanError, duration, note
from kernsemble.trials.executor import (
    Outcome,
    WorkerLostError,
    WorkerMismatchError,
    confirm_arithmetic,
    confirm_stamp,
    find_trial,
    run_batch,
)
from kernsemble.trials.plan import Job

PATIENCE_SECONDS = 300.0
CONNECT_SECONDS = 10.0
REPLY_SECONDS = 30.0
SILENCE_SECONDS = 60.0
FITS = "fits"
REMEDY = (
    "Install there what is here (the same commit, `pip install --editable .`, `dvc pull`) and start it "
    "again: workers may join at any time."
)


class _Sent(NamedTuple):
    """A batch under way: our future, Dask's, and the workers that it may run on."""

    future: Future
    task: Any
    workers: frozenset[str]


class DaskCluster:
    """A Dask scheduler, by its address.

    Parameters
    ----------
    address : str
        Such as ``tcp://10.0.0.1:8786``.
    patience : float
        Seconds to wait for the scheduler or for usable workers before giving up.

    Attributes
    ----------
    refused : dict of str to str
        Addresses of workers that get no work, and why. One that is started again is asked again.
    """

    def __init__(self, address: str, patience: float = PATIENCE_SECONDS) -> None:
        self.address = address
        self.patience = patience
        self.refused: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        self._under_way: list[_Sent] = []
        self._signs: dict[str, tuple[float, float]] = {}  # when Dask heard of a worker last, and we of that
        self._silent: set[str] = set()
        self._looked = float("-inf")
        self._stopped = False
        self._client = self._connect()

    def _connect(self) -> Any:
        try:
            from distributed import Client
        except ImportError:
            raise PlanError("--cluster needs the packages dask and distributed.") from None
        # its tracebacks when the scheduler goes away; what matters is said here
        for logger in ("distributed", "distributed.client"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        try:
            _expect_greeting(self.address)
            client = Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise PlanError(
                f"No Dask scheduler answers at {self.address!r}: {error}. Start one (dask scheduler) or mend "
                "the address."
            ) from None
        try:
            client.run_on_scheduler(confirm_version, _version())
        except Exception as error:
            client.close(timeout=2)
            raise PlanError(f"The scheduler at {self.address}: {_reason(error)}. {REMEDY}") from None
        return client

    def workers(self) -> list[str]:
        """Return the addresses of the workers that fit; silent ones only where all are silent."""
        if not self._connected():
            self._asked.clear()
            return []
        self._look()
        fitting = [where for where, answer in list(self._asked.items()) if answer == FITS]
        return [where for where in fitting if where not in self._silent] or fitting

    def slots(self) -> int:
        """Return the number of usable worker processes: each runs one trial at a time."""
        return max(1, len(self.workers()))

    def submit(self, batch: list[Job]) -> Future:
        """Start a batch on any usable worker."""
        self.recover(None)
        while not (workers := self.workers()):
            self._wait()
        future: Future = Future()
        try:
            task = self._client.submit(run_batch_here, batch, pure=False, workers=workers)
        except Exception:
            if self._connected():
                raise
            future.cancel()  # the scheduler went away just now
            return future
        self._under_way.append(_Sent(future, task, frozenset(workers)))
        # a thread for each: a result that was lost with its worker is waited for, and delays no other
        Thread(target=_hand_over, args=(future, task), daemon=True).start()
        return future

    def recover(self, error: BaseException | None) -> None:
        """Wait for the scheduler and for a usable worker, with a message; give up with another."""
        if not self.workers():
            self._wait()
        self._under_way = [sent for sent in self._under_way if not sent.future.done()]
        for sent in self._under_way:
            if self._connected() and not sent.workers & set(self._asked):
                with suppress(InvalidStateError):
                    sent.future.set_exception(WorkerLostError("every worker that could run it went away"))
        self._relieve_silent_workers()

    def _relieve_silent_workers(self) -> None:
        """Take back what silent workers hold, so that it is sent to others, if there are any."""
        if not self._silent or self._silent & set(self.workers()):
            return
        ask = self._client.scheduler.processing
        with suppress(
            OSError, RuntimeError, AttributeError, TimeoutError, KeyError
        ):  # one went away just now
            held = self._client.sync(ask, workers=list(self._silent), callback_timeout=REPLY_SECONDS)
            keys = {key for some in held.values() for key in some}
            for sent in self._under_way:
                if sent.task.key in keys:
                    sent.future.cancel()
                    sent.task.cancel()

    def refuse(self, error: WorkerMismatchError) -> None:
        """Send no more work to the worker that the error names."""
        self._refuse(*str(error).split(" | ", 1))
        self.recover(None)

    def stop(self) -> None:
        """Drop what is under way and disconnect."""
        self._drop()
        self._stopped = True
        self._client.close(timeout=2)

    def _connected(self) -> bool:
        return self._client.status == "running"

    def _look(self, every: float = 1.0) -> None:
        """See which workers there are, and ask new ones."""
        if time.monotonic() - self._looked < every:
            return
        with suppress(OSError, RuntimeError, AttributeError):  # it went away just now
            try:
                ask = self._client.scheduler.identity
                found = self._client.sync(ask, callback_timeout=REPLY_SECONDS)["workers"]
            except TimeoutError:  # it hangs: to be waited for like one that is gone
                self._client.close(timeout=2)
                return
            for gone in set(self._asked) - set(found):
                del self._asked[gone]
                self.refused.pop(gone, None)
            for where in sorted(set(found) - set(self._asked)):
                self._asked[where] = ""
                # a thread: one that does not answer keeps nobody waiting
                Thread(target=self._ask, args=(self._client, where), daemon=True).start()
            self._listen({where: about["last_seen"] for where, about in found.items()})
        self._looked = time.monotonic()

    def _listen(self, heard: dict[str, float]) -> None:
        """Tell silent workers from others; Dask's clock may be another one than ours, and may jump."""
        now = time.monotonic()
        before = self._signs
        self._signs = {
            where: before[where] if where in before and before[where][0] == sign else (sign, now)
            for where, sign in heard.items()
        }
        silent = {where for where, (_, since) in self._signs.items() if now - since > SILENCE_SECONDS}
        for where in silent - self._silent:
            note(f"worker {where} gives no sign of life for {duration(SILENCE_SECONDS)}; others do its work.")
        for where in self._silent - silent:
            note(f"worker {where} is {'back' if where in heard else 'gone'}.")
        self._silent = silent

    def _ask(self, client: Any, where: str) -> None:
        """Ask a worker whether it fits: not by a task, which would kill a worker without the package."""
        try:
            answer = client.run(confirm_worker, _version(), workers=[where], on_error="return")
            error = answer.get(where)
        except Exception:  # of the connection, not of the worker
            error = ConnectionError()
        if isinstance(error, OSError):
            self._asked.pop(where, None)  # ask again, if it is still there
        elif error is not None:
            self._refuse(where, _reason(error))
        elif where in self._asked:
            self._asked[where] = FITS

    def _refuse(self, where: str, why: str) -> None:
        self._asked[where] = why  # after a new connection it may have been asked, and have had work, again
        if self.refused.get(where) != why:
            self.refused[where] = why
            note(f"refused worker {where}: {why}. {REMEDY}")

    def _wait(self) -> None:
        """Wait for usable workers; say what is waited for, and that it came."""
        started, told = time.monotonic(), ""
        if self._stopped:  # by us, and now there is work again
            self._reconnect()
        while not self.workers():
            waited = time.monotonic() - started
            problem = self._problem()
            if waited > self.patience:
                raise PlanError(self._farewell(problem))
            # workers need a moment to answer the first question
            if problem != told and (waited > 5 or not self._connected()):
                note(f"{problem}. What was computed is saved; waiting up to {duration(self.patience)}.")
                told = problem
            if self._client.status in ("closed", "closing"):
                self._reconnect()
            time.sleep(min(0.2, self.patience / 10))
            if self._connected():
                self._look(every=0)
        if told:
            note(f"usable workers at {self.address}: {len(self.workers())}; going on.")

    def _problem(self) -> str:
        if not self._connected():
            return f"The scheduler at {self.address} went away"
        return f"No usable worker at {self.address}" if self._asked else f"No worker at {self.address}"

    def _farewell(self, problem: str) -> str:
        refusals = "".join(f"\n  refused {where}: {why}" for where, why in self.refused.items())
        missing = "workers" if self._connected() else "the scheduler and its workers"
        return (
            f"{problem}, for {duration(self.patience)}. What was computed is saved: start {missing} and run "
            f"the same command again.{refusals}{' ' + REMEDY if refusals else ''}"
        )

    def _reconnect(self) -> None:
        """Connect anew, to a scheduler that knows nothing of what was under way."""
        self._stopped = False
        with suppress(PlanError):
            self._client = self._connect()
            self._asked.clear()
            self._drop()

    def _drop(self) -> None:
        for sent in self._under_way:
            sent.future.cancel()
        self._under_way = []


def _hand_over(future: Future, task: Any) -> None:
    """Pass on what came of a Dask future; nothing that happens here may leave ours unsettled."""
    with suppress(InvalidStateError):  # it was given up meanwhile
        try:
            future.set_result(task.result())
        except CancelledError:
            future.cancel()
        except Exception as error:
            if task.client.status != "running":
                future.cancel()
            elif isinstance(error, WorkerMismatchError):
                future.set_exception(error)
            elif type(error).__name__ == "KilledWorker" or task.status != "error":
                future.set_exception(WorkerLostError(str(error)))
            else:
                future.set_exception(error)


def _expect_greeting(address: str) -> None:
    """Raise OSError unless a Dask server greets us; its client would wait for a greeting for ever."""
    from distributed.comm.addressing import get_address_host_port, parse_address

    scheme, _ = parse_address(address)
    if scheme in ("tcp", "tls"):
        with socket.create_connection(get_address_host_port(address), timeout=CONNECT_SECONDS) as server:
            if scheme == "tcp" and not server.recv(1):
                raise ConnectionError("it closes the connection at once")


def _version() -> str:
    return import_module("kernsemble").__version__


def _reason(error: BaseException) -> str:
    if isinstance(error, WorkerMismatchError):
        return str(error)
    return f"its kernsemble does not fit {_version()}, the one here: {str(error) or type(error).__name__}"


def confirm_version(expected: str) -> None:
    """Refuse, on a worker, another version than that of the run."""
    if _version() != expected:
        raise WorkerMismatchError(f"it has kernsemble {_version()}, expected {expected}, the one here")


def confirm_worker(expected: str) -> None:
    """Refuse, on a worker, another version than that of the run, or other kernels of BLAS."""
    confirm_version(expected)
    confirm_arithmetic()


def run_batch_here(batch: list[Job]) -> list[Outcome]:
    """Run a batch on a Dask worker; a refusal names the worker."""
    from distributed import get_worker

    try:
        for job in batch:
            paper, function = find_trial(job)
            confirm_stamp(job, paper, function)  # of all, before any is run
            for name in paper.datasets[job.dataset]:
                confirm_data(name)
        return run_batch(batch)
    except WorkerMismatchError as error:
        raise WorkerMismatchError(f"{get_worker().address} | {error} (kernsemble {_version()})") from None


@cache
def confirm_data(name: str) -> None:
    """Refuse, on a worker, a dataset of the repository that is missing or not what the register says."""
    if get_source(name).kind == "large":  # a trial says what it lacks, and the others go on
        return
    try:
        load(name)
    except (DatasetUnavailable, DatasetDamaged) as error:
        raise WorkerMismatchError(f"data of {name!r}: {error}") from None
