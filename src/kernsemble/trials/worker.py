"""Inside a worker process: confirm the stamp, run the trial on one thread, check what it returns."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import parent_process
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from kernsemble.trials.arithmetic import THREAD_VARIABLES, other_kernels, remedy
from kernsemble.trials.errors import PlanError
from kernsemble.trials.plan import Job, Key, code_of, data_checksum
from kernsemble.trials.provenance import NOT_RECORDED, Provenance, provenance
from kernsemble.trials.registry import Exhibit, Paper, TrialFunction, load_paper
from kernsemble.trials.trial import Trial

Value = float | int | tuple[float | int, ...]
_MEANT = ".* rounds with a relative duality gap of"  # a trial's rounds are its protocol
_one_at_a_time = threading.Lock()


class WorkerMismatchError(RuntimeError):
    """A worker whose code, data or arithmetic are not those of the run."""


@dataclass(frozen=True)
class Outcome:
    """What came of one job: rows, or the traceback of its exception."""

    job: Job
    rows: Mapping[Key, Mapping[str, Value]] = field(default_factory=dict)
    seconds: float = 0.0
    provenance: Provenance = NOT_RECORDED
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
            seconds = time.perf_counter() - start
            results = result if function.together else {method: result}
            rows = {Key(job.dataset, m, job.number): checked_row(results, m, exhibit) for m in job.methods}
        except Exception:
            return Outcome(job, error=traceback.format_exc(limit=-8), warnings=_summaries(caught))
    return Outcome(job, rows, seconds / len(rows), provenance(), warnings=_summaries(caught))


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
        here = (code_of(function), data_checksum(paper.datasets[job.dataset]))
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
