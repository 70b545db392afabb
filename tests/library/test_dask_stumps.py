"""The search over workers finds what the search in memory finds, bit for bit."""

import importlib.util
import os
import signal

import numpy as np
import pytest

from kernsemble.boosting.stagewise import adaboost
from kernsemble.column_generation import column_generation
from kernsemble.growth.dask_stumps import DaskStumpOracle, DaskTeam
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.quadratic import Hinge

pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="distributed is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

ON_WORKERS = "fits over worker processes"  # the name of a figure


@pytest.fixture(scope="module")
def client():
    """Two worker processes on this machine."""
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "host": "127.0.0.1"}
    with LocalCluster(n_workers=2, silence_logs=50, **settings) as cluster, Client(cluster) as made:
        yield made


DATA = {
    "float32": lambda rng: rng.normal(size=(1_500, 4)).astype(np.float32),
    "ties": lambda rng: rng.normal(size=(1_500, 4)).round(1),
    "bytes": lambda rng: rng.integers(0, 256, (1_500, 4)).astype(np.uint8),
}


@pytest.fixture(params=DATA)
def data(request):
    rng = np.random.default_rng(0)
    X = DATA[request.param](rng)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + X.std() * rng.normal(size=len(X)) > np.median(X), 1.0, -1.0)
    return X, y


def in_chunks(X, *rows):
    import dask.array

    return dask.array.from_array(X, chunks=(rows, -1))


@pytest.mark.parametrize("rows", [(1_500,), (700, 1, 799)], ids=str)
def test_best_is_that_of_the_search_in_memory(client, data, rows):
    X, y = data
    V = np.random.default_rng(1).normal(size=(len(X), 3)) + y[:, None]
    stored, ours = StumpOracle(X), DaskStumpOracle(in_chunks(X, *rows), client=client, bound=False)
    for _ in range(2):
        for one, other in zip(ours.best(V), stored.best(V), strict=True):
            assert (one.key, one.score) == (other.key, other.score)
            np.testing.assert_array_equal(one.column, other.column)
        one, other = ours.best_shared(V), stored.best_shared(V)
        assert (one.key, one.score) == (other.key, other.score)
        for oracle in (ours, stored):
            oracle.exclude(other.key)
    np.testing.assert_allclose(ours.sum_of_squares(V[:, 0]), stored.sum_of_squares(V[:, 0]), rtol=1e-12)


def test_boosting_and_column_generation_equal_those_in_memory(client, data, figure):
    X, y = data
    oracles = [StumpOracle(X), DaskStumpOracle(in_chunks(X, 400, 1_100), client=client)]
    stored, ours = (adaboost(oracle, y, range(5)) for oracle in oracles)
    assert stored.keys == ours.keys
    np.testing.assert_array_equal(stored.W, ours.W)
    stored, ours = (column_generation(oracle, Hinge(y, 0.01), 5) for oracle in oracles)
    assert stored.keys == ours.keys
    np.testing.assert_array_equal(stored.solution.w, ours.solution.w)
    figure("Load", ON_WORKERS, 2, 2, "those in memory, bit for bit")


def test_a_worker_that_dies_during_a_search_is_no_hindrance(client, figure):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_500, 3)), rng.normal(size=1_500)
    stored, ours = StumpOracle(X), DaskStumpOracle(in_chunks(X, *[500] * 3), client=client)
    team, killed = ours._team, []

    def load_and_lose(W):
        DaskTeam.load(team, W)
        if not killed:
            worker = min(worker for worker in team._places() if worker)
            killed.append(client.run(os.getpid, workers=[worker])[worker])
            os.kill(killed[0], signal.SIGKILL)

    team.load = load_and_lose
    for v in (y, y**2):
        assert ours.best(v)[0].key == stored.best(v)[0].key
    assert killed
    figure("Load", "kill -9 of a worker that holds rows", 1, 1, "its rows are made again; the same stumps")


def test_shape_is_checked():
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        DaskStumpOracle(np.zeros(3))
