"""Trials on a Dask scheduler give the evidence that they give here; workers that differ are refused.

What happens when workers, schedulers and hosts go away is in ``test_faults_cluster.py``.
"""

import importlib.util
import re
import shutil
import socket
from concurrent.futures import CancelledError, Future
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from support.cluster_processes import Cluster, copy_of_the_package, wait
from support.faults import FULL
from support.machinery import forget, make_repository, open_fake, without_seconds, write_package
from support.processes import WAIT

from kernsemble.data.sources import get_source
from kernsemble.data.store import core_path
from kernsemble.trials import cluster as module
from kernsemble.trials.arithmetic import CORE_TYPE, CORE_VARIABLE, core_type
from kernsemble.trials.cluster import DaskCluster
from kernsemble.trials.errors import PlanError
from kernsemble.trials.executor import WorkerLostError, WorkerMismatchError
from kernsemble.trials.study import Study

pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="distributed is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(900),
]
STORED = """
from kernsemble.data.store import load
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial
paper = Paper("PACKAGE", title="Stored data", datasets={"sonar": ("sonar",)})
paper.exhibit("table1", "Means", metrics=("error",))
@paper.trials("table1", methods=("mean",))
def mean(trial: Trial, *, shift: float):
    return {"error": load("sonar").X.mean() + shift * trial.number}
"""
PARAMS = "PACKAGE: {protocol: {shared: {shift: 1.0}}, paper: {table1: {runs: 40}}, quick: {}, smoke: {}}\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and three worker processes."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        for _ in range(3):
            cluster.start_worker()
        yield cluster


@pytest.fixture
def backend(cluster):
    """A run's side of it, which knows the three workers."""
    made = DaskCluster(cluster.address, patience=0.2)
    wait(lambda: made._look(every=0) or len(made.workers()) == 3)
    yield made
    made.stop()


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A repository and a paper with one stored dataset; the folder of its package."""
    (tmp_path / "packages").mkdir()
    package = write_package(tmp_path / "packages", monkeypatch, trials=STORED)
    root = make_repository(tmp_path / "repository")
    (root / "params.yaml").write_text(PARAMS.replace("PACKAGE", package))
    yield root, f"{package}.trials", tmp_path / "packages"
    forget(package)


def test_evidence_equals_the_local_one(tmp_path, cluster, figure):
    here, there = (open_fake(make_repository(tmp_path / n), jobs=1) for n in ("here", "there"))
    there.cluster = cluster.address
    for study in (here, there):
        assert study.evidence("table1").complete
        assert study.evidence("figure1").complete
    there._cluster.stop()
    for exhibit in ("table1", "figure1"):
        assert without_seconds(here.path(exhibit)) == without_seconds(there.path(exhibit))
    figure("Cluster", "run on a scheduler and three workers", 1, 1, "the evidence of a local run")


def damaged_copy(folder, name):
    """A folder with a dataset's file in which one number is another."""
    folder.mkdir()
    path = core_path(get_source(name))
    arrays = dict(np.load(path))
    arrays["X"] = arrays["X"].copy()
    arrays["X"].flat[0] += 1
    np.savez(folder / path.name, **arrays)
    return folder


def odd_workers(folder, paper, packages):
    """What is odd about a worker, its path and its data, by what must be said when it is refused."""
    checksum = get_source("sonar").sha256["arrays"]
    version = copy_of_the_package(folder / "version", "__init__.py", '"0.1.0"', '"0.0.9"')
    register = copy_of_the_package(folder / "register", "data/sources.yaml", checksum, "f" * 64)
    code, nothing = folder / "code", folder / "nothing"
    shutil.copytree(packages, code, ignore=shutil.ignore_patterns("__pycache__"))
    trials = code / paper.split(".")[0] / "trials.py"
    trials.write_text(trials.read_text().replace("shift *", "2 * shift *"))
    nothing.mkdir()
    (nothing / "kernsemble.py").write_text("raise ModuleNotFoundError('No module named kernsemble')")
    identity = Study(paper, "paper", packages.parent / "repository").plan("table1").jobs()[0].stamp.code
    data = {"KERNSEMBLE_DATA": str(damaged_copy(folder / "data", "sonar"))}
    kernels = {CORE_VARIABLE: "Nehalem", "KERNSEMBLE_CORETYPE": ""}
    odd = {
        "it has kernsemble 0.0.9, expected 0.1.0, the one here": ((version, packages), {}),
        "does not fit 0.1.0, the one here: ModuleNotFoundError": ((nothing,), {}),
        f"expected arrays with sha256 {checksum}, found ": ((packages,), data),
        "its BLAS has the kernels of Nehalem: start it as `OPENBLAS_CORETYPE=Haswell": ((packages,), kernels),
        f"expected {identity} (kernsemble 0.1.0)": ((code,), {}),
        f"checksum ffffffff, expected {checksum[:8]} (kernsemble 0.1.0)": ((register, packages), {}),
    }
    if core_type() != CORE_TYPE:
        odd = {said: worker for said, worker in odd.items() if worker[1] is not kernels}
    return odd if FULL else dict(list(odd.items())[:4])


def test_workers_that_differ_are_refused(tmp_path, stored, capsys, figure):
    """Other version, no package, data, kernels, code of a trial or register: none of them computes."""
    root, paper, packages = stored
    odd = odd_workers(tmp_path, paper, packages)
    study = Study(paper, "paper", root, cluster="here")
    with Cluster(tmp_path) as cluster:
        for path, variables in odd.values():
            cluster.start_worker(path=path, **variables)
        study.__dict__["_cluster"] = backend = DaskCluster(cluster.address, patience=0.5)
        wait(lambda: backend._look(every=0) or len(backend.refused) + len(backend.workers()) == len(odd))
        with pytest.raises(PlanError, match=r"No usable worker .* run the same command again.\n  refused"):
            study.run()
        assert not study.read("table1").file.rows
        said = capsys.readouterr().err
        assert len(backend.refused) == said.count("refused worker tcp://127.0.0.1:") == len(odd)
        assert said.count("`dvc pull`) and start it again") == len(odd)
        assert [why for why in odd if why not in said] == [], said
        cluster.start_worker(path=(packages,))
        backend.patience = WAIT
        assert study.evidence("table1").complete
        backend.stop()
    (tmp_path / "here").mkdir()
    shutil.copy(root / "params.yaml", tmp_path / "here")
    here = Study(paper, "paper", tmp_path / "here", jobs=1)
    assert here.evidence("table1").complete
    assert without_seconds(here.path("table1")) == without_seconds(study.path("table1"))
    figure(
        "Cluster", "workers that differ", len(odd), len(odd), "in version, code, register or data: refused"
    )


def test_worker_that_is_mended_is_asked_again(backend):
    backend._refuse(backend.workers()[0], "code of 'draws'")
    backend._refuse("tcp://127.0.0.1:1", "code of 'draws'")
    assert len(backend.workers()) == 2
    backend._look(every=0)  # that one is gone; started again at the same address, it is a new one
    assert len(backend.refused) == 1
    assert "tcp://127.0.0.1:1" not in {*backend.refused, *backend._asked}


def test_worker_that_is_refused_again_gets_no_work_either(backend, capsys):
    """After a new connection it is asked anew, fits by its version, and differs in its data still."""
    odd = backend.workers()[0]
    backend.refuse(WorkerMismatchError(f"{odd} | data of 'draws'"))
    backend._reconnect()
    wait(lambda: backend._look(every=0) or len(backend.workers()) == 3)
    backend.refuse(WorkerMismatchError(f"{odd} | data of 'draws'"))
    assert len(backend.workers()) == 2
    assert capsys.readouterr().err.count("refused worker") == 1


def test_no_usable_worker_is_a_message(backend, capsys):
    for where in backend.workers()[1:]:
        backend._refuse(where, "code of 'draws'")
    (last,) = backend.workers()
    with pytest.raises(PlanError, match=r"No usable worker .* run the same command again.\n  refused"):
        backend.refuse(WorkerMismatchError(f"{last} | code of 'draws'"))
    assert f"refused worker {last}: code of 'draws'" in capsys.readouterr().err


def test_batch_whose_workers_all_went_away_is_given_back(backend):
    """Dask would keep it for ever, for an address where nobody is."""
    future = Future()
    backend._under_way.append(module._Sent(future, future, frozenset({"tcp://127.0.0.1:1"})))
    backend.recover(None)
    assert isinstance(future.exception(timeout=0), WorkerLostError)


def test_when_all_are_silent_they_keep_their_work(backend, monkeypatch, capsys):
    """A long trial may keep a worker from answering: with nobody else, it goes on."""
    monkeypatch.setattr(module, "SILENCE_SECONDS", -1.0)
    backend._look(every=0)
    backend._look(every=0)
    assert len(backend._silent) == 3
    future = backend._client.submit(sum, [1])
    backend._under_way.append(module._Sent(Future(), future, frozenset(backend.workers())))
    backend._relieve_silent_workers()
    assert not backend._under_way[0].future.cancelled()
    monkeypatch.setattr(module, "SILENCE_SECONDS", 60.0)
    backend._look(every=0)
    assert not backend._silent
    assert capsys.readouterr().err.count("is back") == 3


def test_scheduler_that_differs_is_refused(cluster, monkeypatch):
    """It unpickles what it passes on, so it has to have the package."""
    monkeypatch.setattr(module, "_version", lambda: "0.2.0")
    with pytest.raises(PlanError, match=r"The scheduler at .*: it has kernsemble 0.1.0, expected 0.2.0"):
        DaskCluster(cluster.address)


class Task:
    """A Dask future as it is when something came of it."""

    def __init__(self, error, status="error", client="running"):
        self.error, self.status, self.client = error, status, SimpleNamespace(status=client)

    def result(self):
        if self.error:
            raise self.error
        return "rows"


class KilledWorker(Exception):  # noqa: N818 (Dask's name)
    pass


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (Task(None, "finished"), "rows"),
        (Task(CancelledError(), "cancelled"), "cancelled"),
        (Task(OSError(), "finished", client="connecting"), "cancelled"),
        (Task(OSError(), "finished"), WorkerLostError),
        (Task(TimeoutError(), "lost"), WorkerLostError),
        (Task(KilledWorker()), WorkerLostError),
        (Task(WorkerMismatchError("x | y")), WorkerMismatchError),
        (Task(ZeroDivisionError()), ZeroDivisionError),
    ],
)
def test_whatever_comes_of_a_batch_settles_it(task, expected):
    future = Future()
    module._hand_over(future, task)
    if expected == "cancelled":
        assert future.cancelled()
    elif isinstance(expected, str):
        assert future.result(timeout=0) == expected
    else:
        assert isinstance(future.exception(timeout=0), expected)
    module._hand_over(future, task)  # given up, or settled before: nothing happens


def test_no_scheduler_is_a_message(monkeypatch):
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.5)
    with pytest.raises(PlanError, match=r"No Dask scheduler answers at .tcp://127.*dask scheduler"):
        DaskCluster("tcp://127.0.0.1:1")


def test_something_else_that_listens_is_a_message(monkeypatch):
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        pytest.raises(PlanError, match=r"No Dask scheduler answers at .*: timed out"),
    ):
        DaskCluster(f"tcp://127.0.0.1:{mute.getsockname()[1]}")


@pytest.mark.parametrize("name", ["scheduler", "worker"])
def test_commands_of_the_guide_exist(name):
    """What it says to type, and what its manifest for Kubernetes starts."""
    guide = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    (typed,) = re.findall(rf"^dask {name} .*$", guide, re.MULTILINE)
    (manifest,) = re.findall(r"^```yaml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    (container,) = yaml.safe_load(manifest)["spec"][name]["spec"]["containers"]
    assert container["args"][:2] == ["dask", name]
    used = {word for word in [*typed.split(), *container["args"]] if word.startswith("--")}
    parameters = import_module(f"distributed.cli.dask_{name}").main.params
    assert used
    assert used <= {option for p in parameters for option in [*p.opts, *p.secondary_opts]}
