"""Trials on a Dask scheduler against the same trials in local processes, two workers on either side.

Trials compute for 1, 20 and 100 ms (they multiply matrices, so that a core is busy) and are run by
``executor.execute`` over a pool of processes and over a cluster on this machine, in turns. The ratio is the
efficiency of the cluster; the note has the time that a trial takes there beyond its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep

from race import Row, compare

from kernsemble.trials.cluster import DaskCluster
from kernsemble.trials.executor import Backend, ProcessPool, execute
from kernsemble.trials.plan import Job
from kernsemble.trials.study import Study

WORKERS = 2
# Milliseconds of a trial, trials, target: for the shortest, that 5 ms are added to each.
SIZES = ((1, 4000, 1 / 6), (20, 800, 0.9), (100, 200, 0.9))
REPEATS = 2
PAPER = '''
"""Trials that compute for a given time."""

from time import perf_counter

import numpy as np

from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

paper = Paper("busy_paper", title="Busy", datasets={"none": None})
paper.exhibit("table1", "Sums", metrics=("error",))


@paper.trials("table1", methods=("products",))
def products(trial: Trial, *, seconds: float):
    A = trial.rng().random((60, 60)) / 60
    end = perf_counter() + seconds
    while perf_counter() < end:
        A @ A
    return {"error": A.sum()}
'''
PARAMS = "busy_paper: {{protocol: {{shared: {{seconds: {}}}}}, paper: {{table1: {{runs: {}}}}}, {}}}\n"


def jobs_of(folder: Path, milliseconds: int, n_trials: int) -> list[Job]:
    """Return the jobs of the busy paper."""
    text = PARAMS.format(milliseconds / 1000, n_trials, "quick: {}, smoke: {}")
    (folder / "params.yaml").write_text(text, encoding="utf-8")
    return Study("busy_paper.trials", "paper", folder).plan("table1").jobs()


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Start a scheduler and workers of one thread; give its address when all workers are there."""
    variables = os.environ | {"PYTHONPATH": str(folder)}
    address_file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    here = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-dashboard"]
    file = ["--scheduler-file", str(address_file)]
    worker = ["worker", *file, "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    commands = [[*dask, "scheduler", *file, "--port", "0", *here]] + WORKERS * [[*dask, *worker, *here]]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, env=variables, **silent) for command in commands]
    try:
        yield _address(address_file)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def _address(file: Path) -> str:
    end = monotonic() + 60
    while monotonic() < end:
        with suppress(OSError, ValueError):
            return json.loads(file.read_text(encoding="utf-8"))["address"]
        sleep(0.05)
    raise TimeoutError("The scheduler did not start.")


def run(jobs: list[Job], backend: Backend) -> tuple[float, dict]:
    """Return the seconds of a run and its rows."""
    rows: dict = {}
    start = perf_counter()
    execute(jobs, backend, lambda done: rows.update({r.key: r.metrics for o in done for r in o.rows}))
    return perf_counter() - start, rows


def rows() -> Iterator[Row]:
    """Run the same trials in turns here and there."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "busy_paper").mkdir()
        (folder / "busy_paper" / "__init__.py").touch()
        (folder / "busy_paper" / "trials.py").write_text(PAPER, encoding="utf-8")
        sys.path.insert(0, name)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = name  # for the processes of the pool
        pool = ProcessPool(WORKERS)
        try:
            with scheduler(folder) as address:
                cluster = DaskCluster(address)
                while cluster.slots() < WORKERS:
                    sleep(0.1)
                yield from _race(folder, pool, cluster)
                cluster.stop()
        finally:
            pool.stop()
            sys.path.remove(name)
            os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def _race(folder: Path, pool: ProcessPool, cluster: DaskCluster) -> Iterator[Row]:
    for milliseconds, n_trials, target in SIZES:
        jobs = jobs_of(folder, milliseconds, n_trials)
        for backend in (pool, cluster):
            run(jobs[:20], backend)  # everything is imported
        turns = [(run(jobs, cluster), run(jobs, pool)) for _ in range(REPEATS)]
        there, here = (min(turn[side][0] for turn in turns) for side in (0, 1))
        overhead = WORKERS * there / n_trials - milliseconds / 1000
        yield compare(
            f"{n_trials} trials of {milliseconds} ms on a Dask scheduler",
            f"{WORKERS} workers",
            "local processes",
            there,
            here,
            target,
            all(turn[0][1] == turn[1][1] for turn in turns),
            f"a trial occupies its worker {1000 * overhead:.2g} ms longer than it takes by itself",
        )
