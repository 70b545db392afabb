"""AdaBoost over parts of the rows: the stumps of AdaBoost in memory, whoever holds the rows."""

import os
import signal

import numpy as np
import pytest
from test_dask_stumps import DATA, ON_WORKERS, client, in_chunks, pytestmark  # noqa: F401 (fixture and marks)

from kernsemble.boosting.stagewise import adaboost
from kernsemble.growth import _stump_part
from kernsemble.growth.partitioned import _Scale, partitioned_adaboost
from kernsemble.hypotheses import _threads
from kernsemble.hypotheses.stumps import StumpOracle


@pytest.fixture(params=DATA)
def data(request):
    rng = np.random.default_rng(3)
    X = DATA[request.param](rng)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * X.std() * rng.normal(size=len(X)) > np.median(X), 1, -1)
    return X, y


def same(ours, other):
    assert ours.keys == other.keys
    for name in ("W", "errors", "losses"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(other, name))


def equal_but_for_rounding(ours, stored):
    assert ours.keys == stored.keys
    assert ours.message == stored.message
    for name in ("W", "errors", "losses"):
        np.testing.assert_allclose(getattr(ours, name), getattr(stored, name), rtol=1e-9)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_has_the_stumps_of_adaboost_in_memory(data, weighted, constant):
    X, y = data
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(X)) if weighted else None
    ours = partitioned_adaboost(X, y, range(30), weight=weight, constant=constant)
    oracle = StumpOracle(X, constant=constant)
    equal_but_for_rounding(ours, adaboost(oracle, y, range(30), weight=weight))


def test_an_edge_equals_the_last_step_of_the_loss(data):
    """After a step its stump errs on half of the weight; so the loss shrinks by 2 sqrt(e (1 - e))."""
    X, y = data
    found = partitioned_adaboost(X, y, range(8))
    before = np.concatenate([[1.0], found.losses[:-1]])
    np.testing.assert_allclose(
        found.losses / before, 2 * np.sqrt(found.errors * (1 - found.errors)), rtol=1e-9
    )
    H = StumpOracle(X).collect(found.keys).outputs(X)
    np.testing.assert_allclose(np.exp(-y * (H @ found.W)).mean(), found.losses[-1], rtol=1e-9)


def test_blocks_and_threads_do_not_matter(data, monkeypatch):
    X, y = data
    alone = partitioned_adaboost(X, y, range(12))
    monkeypatch.setattr(_stump_part, "BLOCK", 128)
    monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(_threads, "n_threads", lambda: 3)
    same(partitioned_adaboost(X, y, range(12)), alone)


@pytest.mark.parametrize("rows", [(1_500,), (700, 1, 799)], ids=str)
def test_workers_do_not_matter(client, data, rows, figure):  # noqa: F811
    X, y = data
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(np.float64)
    ours = partitioned_adaboost(in_chunks(X, *rows), y, range(6), weight=weight, client=client)
    same(ours, partitioned_adaboost(X, y, range(6), weight=weight))
    figure("Load", ON_WORKERS, 1, 1, "those in memory, bit for bit")


def test_labels_as_a_dask_array_and_a_worker_that_dies(client, figure):  # noqa: F811
    import dask.array

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_500, 3))
    y = np.where(X.sum(axis=1) + rng.normal(size=1_500) > 0, 1, -1)

    def rounds():
        for t in range(6):
            if t == 3:
                worker = min(client.scheduler_info(n_workers=-1)["workers"])
                os.kill(client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)
            yield t

    labels = dask.array.from_array(y, chunks=500)
    ours = partitioned_adaboost(in_chunks(X, *[500] * 3), labels, rounds(), client=client)
    same(ours, partitioned_adaboost(X, y, range(6)))
    figure("Load", "kill -9 of a worker that holds rows", 1, 1, "its rows are made again; the same stumps")


def test_separable_data_boosted_for_long():
    """Margins grow without limit and weights shrink out of floating point's range; steps stay the same."""
    X = np.arange(6.0)[:, None]
    y = np.array([1, 1, -1, -1, 1, 1])
    ours = partitioned_adaboost(X, y, range(4_000))
    stored = adaboost(StumpOracle(X), y, range(4_000))
    np.testing.assert_allclose(ours.W.sum(), stored.W.sum(), rtol=1e-9)
    assert ours.losses[-1] < 1e-290
    assert (ours.errors < 0.5).all()


def test_a_perfect_stump_ends_boosting_as_in_memory():
    X, y = np.arange(6.0)[:, None], np.array([1, 1, 1, -1, -1, -1])
    equal_but_for_rounding(partitioned_adaboost(X, y, range(9)), adaboost(StumpOracle(X), y, range(9)))


def test_no_stump_at_all():
    found = partitioned_adaboost(np.ones((4, 2)), np.array([1, -1, 1, -1]), range(3), constant=False)
    assert found.keys == []
    assert found.message == "the oracle has no hypothesis left"


@pytest.mark.parametrize("loss", [1.0, 3.0, 4.0, 1e9, 1e-3, 1e-300])
def test_scale_leaves_room_and_uses_it(loss):
    scale = _Scale(loss)
    total = loss * 2.0 ** (scale.exponent / 2) * np.exp(-scale.shift) * 2.0 ** (scale.exponent / 2)
    assert 2.0**58.9 < total <= 2.0**60
