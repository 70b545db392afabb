"""The same numbers with other numbers of processes and threads and in any order."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.faults import FULL

from kernsemble.trials.executor import InProcess, execute, stop_pools
from kernsemble.trials.registry import available_papers
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
pytestmark = [
    pytest.mark.skipif(not FULL, reason="make test-faults does it; test_executor.py does a part"),
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module", autouse=True)
def _no_processes_left():
    yield
    stop_pools()


def fresh_root(folder):
    """A root without results; the data are the repository's."""
    folder.mkdir()
    shutil.copy(ROOT / "params.yaml", folder)
    return folder


def comparable(study, name):
    """Rows of an exhibit without what measures time."""
    exhibit = study.plan(name).exhibit
    rows = study.read(name).current
    return {
        key: {m: row.metrics[m] for m in exhibit.metrics if m in row.metrics} for key, row in rows.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("key", available_papers())
def test_smallest_scale_of_a_paper(key, tmp_path, figure):
    """One process and two; in the plan's order and in another; one thread and two."""
    one = Study(key, "smoke", fresh_root(tmp_path / "one"), jobs=1)
    two = Study(key, "smoke", fresh_root(tmp_path / "two"), jobs=2)
    exhibits = [name for name in one.exhibits if one.plan(name).stamps and not one.plan(name).exhibit.alone]
    for study in (one, two):
        assert not study.run(exhibits).failures
    jobs = [job for name in exhibits for job in one.plan(name).jobs()]
    shuffled, rows = random.Random(0).sample(jobs, len(jobs)), {}

    def keep(outcomes):
        for outcome in outcomes:
            rows.update({(outcome.job.exhibit, row.key): row.metrics for row in outcome.rows})

    execute(shuffled, InProcess(), keep)
    tried, equal = 0, 0
    for name in exhibits:
        first, second = comparable(one, name), comparable(two, name)
        declared = one.plan(name).exhibit.metrics
        for row, metrics in first.items():
            mixed = {m: v for m, v in rows[name, row].items() if m in declared}
            tried += 1
            equal += metrics == second[row] == mixed
    figure(
        "Determinism",
        "trials with 1 and 2 processes and in another order",
        tried,
        equal,
        "equal to the last digit",
    )
    assert equal == tried


def fitted_with(threads):
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    done = subprocess.run(
        [sys.executable, "fit_all.py"], cwd=ROOT / "tests" / "support", env=environment,
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.slow
def test_estimators_with_one_and_two_threads(figure):
    one, two = fitted_with(1), fitted_with(2)
    off = {name: np.max(np.abs(np.subtract(one[name], two[name]))) for name in one}
    size = {name: max(1.0, np.max(np.abs(one[name]))) for name in one}
    same = [name for name in one if off[name] == 0]
    close = [name for name in one if off[name] <= 1e-9 * size[name]]
    told = f"{len(same)} to the last bit, all to 1e-9"
    figure("Determinism", "estimators with 1 and 2 threads", len(one), len(close), told)
    assert len(close) == len(one), off
