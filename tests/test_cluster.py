"""Trials on a Dask scheduler give the evidence that they give here; workers that differ are refused."""

import importlib.util
import os
import signal

import pytest
from machinery import make_repository, open_fake, without_seconds

from kernsemble.experiments import cluster as module
from kernsemble.experiments.cluster import DaskCluster
from kernsemble.experiments.errors import PlanError
from kernsemble.experiments.executor import execute
from kernsemble.experiments.worker import WorkerMismatchError

pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="distributed is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def local():
    """A scheduler and two worker processes on this machine."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        silence_logs=50,
    ) as made:
        yield made


@pytest.fixture
def root(tmp_path):
    return make_repository(tmp_path / "repository")


def test_evidence_equals_the_local_one(tmp_path, local):
    here, there = (open_fake(make_repository(tmp_path / n), jobs=1) for n in ("here", "there"))
    there.cluster = local.scheduler_address
    for study in (here, there):
        assert study.evidence("table1").complete
        assert study.evidence("figure1").complete
    there._cluster.stop()
    for exhibit in ("table1", "figure1"):
        assert without_seconds(here.path(exhibit)) == without_seconds(there.path(exhibit))


def test_worker_that_dies_is_no_hindrance(root, local):
    backend = DaskCluster(local.scheduler_address)
    jobs = open_fake(root).plan["table1"].jobs()
    rows, killed = {}, []

    def keep(outcomes):
        for outcome in outcomes:
            rows.update(outcome.rows)
        if not killed:
            killed.append(next(iter(backend._client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    report = execute(jobs, backend, keep)
    backend.stop()
    assert killed
    assert not report.failures
    assert len(rows) == 160


def test_worker_with_another_revision_is_refused_and_its_work_goes_to_the_others(root, local, capsys):
    backend = DaskCluster(local.scheduler_address)
    backend._client.wait_for_workers(2)
    odd = backend.workers()[0]
    backend._client.run(_pretend_other_code, workers=[odd])
    rows = {}
    report = execute(
        open_fake(root).plan["table1"].jobs(), backend, lambda done: [rows.update(o.rows) for o in done]
    )
    assert len(rows) == 160
    assert not report.failures
    assert list(backend.refused) == [odd]
    assert f"refused worker {odd}: code of" in capsys.readouterr().err
    backend._client.run(_pretend_nothing, workers=[odd])
    backend.stop()


def _pretend_other_code():
    from kernsemble.experiments import worker

    worker._revision = lambda function: "other"


def _pretend_nothing():
    from functools import lru_cache

    from kernsemble.experiments import worker
    from kernsemble.experiments.revision import revision

    worker._revision = lru_cache(revision)


def test_no_usable_worker_is_a_message(root, local):
    backend = DaskCluster(local.scheduler_address, patience=0.2)
    for address in backend.workers():
        backend.refused[address] = "code of 'draws'"
    with pytest.raises(PlanError, match=r"No usable worker .* run the same command again.\n  refused"):
        backend.refuse(WorkerMismatchError("tcp://127.0.0.1:1 | code of 'draws'"))
    backend.stop()


def test_no_scheduler_is_a_message(monkeypatch):
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.5)
    with pytest.raises(PlanError, match=r"No Dask scheduler answers at .tcp://127"):
        DaskCluster("tcp://127.0.0.1:1")
