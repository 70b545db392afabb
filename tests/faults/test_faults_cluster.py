"""Workers, schedulers and hosts that go away during a run, and others that come: nothing is lost."""

import importlib.util
import os
import random
import signal
import threading
import time

import pytest
from support.cluster_processes import Cluster, ip, network, wait
from support.faults import FULL, SEEDS
from support.processes import MODULE, Run, check_evidence, kill, lines
from support.slow_runs import run_to_the_end

from kernsemble.trials import cluster as cluster_module
from kernsemble.trials.cluster import DaskCluster
from kernsemble.trials.errors import PlanError
from kernsemble.trials.study import Study

pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="distributed is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(1800),
]
ROWS = 120  # of table1


def run_with(study, events):
    """Run a study on its cluster; events are calls by the number of rows after which they come."""
    due = sorted(events.items())
    backend, submit = study._cluster, study._cluster.submit

    def strike_and_submit(batch):
        while due and lines(study.root) > due[0][0]:
            due.pop(0)[1]()
        return submit(batch)

    backend.submit = strike_and_submit
    report = study.run()
    backend.stop()
    assert not due
    return report


def on(cluster, root, **options):
    """A study on a cluster, with the workers that it has now."""
    study = Study(MODULE, "paper", root, cluster=cluster.address)
    study.__dict__["_cluster"] = backend = DaskCluster(cluster.address, **options)
    wait(lambda: backend._look(every=0) or len(backend.workers()) == len(cluster.living()))
    return study


@pytest.mark.parametrize("seed", SEEDS)
def test_workers_are_killed_and_added(seed, slow_root, tmp_path, undisturbed, figure):
    """Three begin and none of them ends the run: they die one by one, and others come."""
    rng = random.Random(seed)
    first, second, third = sorted(rng.sample(range(1, ROWS - 50), 3))
    with Cluster(tmp_path) as cluster:
        for _ in range(3):
            cluster.start_worker()
        study, born = on(cluster, slow_root), list(cluster.workers)
        rng.shuffle(born)
        events = {
            first: lambda: (kill(born[0].pid), cluster.start_worker()),
            second: lambda: kill(born[1].pid),
            third: lambda: kill(born[2].pid),
        }
        assert not run_with(study, events).failures
    check_evidence(slow_root, undisturbed)
    figure("Cluster", "kill -9 of workers", 3, 3, "all that were there at the start; one came during the run")


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_scheduler_is_killed_and_started_again(seed, slow_root, tmp_path, undisturbed, figure):
    """The command says what it waits for, and goes on when the scheduler and a worker are there again."""
    with Cluster(tmp_path) as cluster:
        cluster.start_worker()
        with Run(slow_root, "--no-notebook", "--cluster", cluster.address) as run:
            run.until(lambda: lines(slow_root) > random.Random(seed).randint(2, 40))
            cluster.kill_scheduler()
            assert run.process.poll() is None
            run.until(lambda: "went away" in run.said())
            had = lines(slow_root)
            cluster.start_scheduler()
            cluster.start_worker()
            status, said = run.finished()
    assert status == 0, said
    assert f"The scheduler at {cluster.address} went away. What was computed is saved; waiting" in said
    assert f"usable workers at {cluster.address}: 1; going on." in said
    assert "Traceback" not in said
    assert had < ROWS
    check_evidence(slow_root, undisturbed)
    figure("Cluster", "kill -9 of the scheduler", 1, 1, "started again at its address: the run goes on")


def test_scheduler_that_stays_away_ends_the_run(slow_root, tmp_path, undisturbed, figure):
    """After a while, with a message; the next run has what was computed and does the rest."""
    with Cluster(tmp_path) as cluster:
        cluster.start_worker()
        study = on(cluster, slow_root, patience=1.0)
        started = time.monotonic()
        with pytest.raises(PlanError, match=r"went away, for 1 s\. What was computed is saved: start the s"):
            run_with(study, {20: cluster.kill_scheduler})
        assert time.monotonic() - started < 120
        assert 20 < lines(slow_root) <= ROWS
    run_to_the_end(slow_root)
    check_evidence(slow_root, undisturbed)
    figure(
        "Cluster", "a scheduler that stays away", 1, 1, "an end with a message; the next run does the rest"
    )


def test_scheduler_that_hangs_is_waited_for(slow_root, tmp_path, undisturbed, figure, monkeypatch, capsys):
    """It answers nobody for a while; then the run goes on."""
    monkeypatch.setattr(cluster_module, "REPLY_SECONDS", 0.5)
    with Cluster(tmp_path) as cluster:
        cluster.start_worker()
        study = on(cluster, slow_root)
        awake = threading.Timer(4.0, os.kill, (cluster.scheduler.pid, signal.SIGCONT))

        def freeze():
            os.kill(cluster.scheduler.pid, signal.SIGSTOP)
            awake.start()

        assert not run_with(study, {20: freeze}).failures
        awake.join()
    assert "went away. What was computed is saved" in capsys.readouterr().err
    check_evidence(slow_root, undisturbed)
    figure("Cluster", "a scheduler that hangs", 1, 1, "waited for like one that is gone; the run goes on")


@pytest.mark.parametrize("others", ["two healthy", "one that comes later"])
def test_worker_that_freezes_is_relieved(
    others, slow_root, tmp_path, undisturbed, figure, monkeypatch, capsys
):
    """It lives and does nothing: what it holds goes to the others, or to one that comes, and is named."""
    monkeypatch.setattr(cluster_module, "SILENCE_SECONDS", 3.0)
    with Cluster(tmp_path) as cluster:
        for _ in range(3):
            cluster.start_worker()
        study = on(cluster, slow_root)
        frozen, *healthy = cluster.workers

        def freeze():
            os.kill(frozen.pid, signal.SIGSTOP)
            if others == "one that comes later":
                for worker in healthy:
                    kill(worker.pid)
                cluster.start_worker()

        started = time.monotonic()
        assert not run_with(study, {30: freeze}).failures
        assert time.monotonic() - started < 200  # Dask itself waits for five minutes
    said = capsys.readouterr().err
    assert "gives no sign of life for 3 s; others do its work" in said
    check_evidence(slow_root, undisturbed)
    figure("Cluster", "workers that freeze", 1, 1, "named after a minute; the others do their work")


@pytest.mark.skipif(not FULL, reason="part of make test-faults")
def test_hosts(slow_root, tmp_path, undisturbed, figure):
    """A scheduler and three workers on hosts of their own; the cable of one is pulled out during the run."""
    patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s"}  # until a silent peer counts as gone
    try:
        with network(4) as (head, *hosts), Cluster(tmp_path, host=head, **patience) as cluster:
            for host in hosts:
                cluster.start_worker(host)
            study = on(cluster, slow_root)
            assert {where.split("//")[1].split(":")[0] for where in study._cluster.workers()} == {
                host.address for host in hosts
            }
            assert not run_with(study, {40: lambda: ip("link", "set", hosts[0].enter[-1], "down")}).failures
    except OSError as error:
        pytest.skip(f"network namespaces cannot be made: {error}")
    check_evidence(slow_root, undisturbed)
    figure("Cluster", "hosts (network namespaces) cut off", 1, 1, "the other two do its work")
