"""The stump machine over workers: the machine in memory, whoever holds the rows."""

import os
import signal

import numpy as np
import pytest
from test_dask_stumps import DATA, client, in_chunks, pytestmark  # noqa: F401 (fixture and marks)

from kernsemble.growth import partitioned_splines
from kernsemble.growth.partitioned_splines import partitioned_stump_machine
from kernsemble.hypotheses.knots import Knots
from kernsemble.kernels import stump_kernel
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.splines import SplineProblem, solve_splines


@pytest.fixture(params=DATA)
def data(request):
    rng = np.random.default_rng(0)
    X = DATA[request.param](rng)
    noise = X.std() * rng.normal(size=len(X))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + noise > np.median(X), 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, size=len(X))


@pytest.mark.parametrize("rows", [(1_500,), (700, 1, 799)], ids=str)
def test_is_the_machine_in_memory(client, data, rows):  # noqa: F811
    X, y, weight = data
    C = 0.1 / X.std()
    solution, shapes = partitioned_stump_machine(
        in_chunks(X, *rows), y, C, weight=weight, tol=1e-7, client=client
    )
    knots = Knots.of_columns(X)
    stored = solve_splines(SplineProblem(knots, knots.encode(X), BoxLoss.hinge(y, C * weight)), tol=1e-7)
    assert solution.objective == pytest.approx(stored.objective, rel=1e-7)
    f, V, cost = shapes.decision(X)[:, 0] + solution.b, solution.u, C * weight
    assert abs(V.sum()) < 1e-12 * np.abs(V).sum()
    assert np.all((y * V >= 0.0) & (y * V <= cost))
    dual = np.abs(V).sum() - 0.5 * V @ stump_kernel(X) @ V
    assert dual == pytest.approx(solution.dual_objective, rel=1e-9)
    assert cost @ np.maximum(0.0, 1.0 - y * f) < solution.objective <= dual * (1.0 + 2e-7)


def test_columns_are_rounded_alike_in_any_chunks(client):  # noqa: F811
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=900), rng.integers(0, 5, 900)])
    y = np.where(X[:, 0] + rng.normal(size=900) > 0, 1.0, -1.0)
    (one, first), (other, second) = (
        partitioned_stump_machine(in_chunks(X, *rows), y, max_knots=50, tol=1e-6, client=client)
        for rows in ((900,), (450, 450))
    )
    np.testing.assert_allclose(first.knots, second.knots, rtol=1e-12)
    assert len(first.knots) == 55
    assert one.objective == pytest.approx(other.objective, rel=2e-6)
    memory = Knots.of_columns(X, 50)
    np.testing.assert_allclose(first.knots, memory.values, rtol=1e-12)


def test_a_worker_that_dies_is_made_good(client, monkeypatch):  # noqa: F811
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4_000, 5))
    y = np.where(X[:, 0] ** 2 + 0.5 * rng.normal(size=4_000) > 1, 1.0, -1.0)
    chunks = in_chunks(X, 1_000, 1_000, 1_000, 1_000)
    whole, _ = partitioned_stump_machine(chunks, y, tol=1e-5, client=client)
    calls, scores = [], partitioned_splines._Team.scores

    def killing(team, g):
        calls.append(len(calls))
        if len(calls) == 3:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return scores(team, g)

    monkeypatch.setattr(partitioned_splines._Team, "scores", killing)
    again, _ = partitioned_stump_machine(chunks, y, tol=1e-5, client=client)
    assert len(calls) > 3
    assert again.objective == whole.objective  # what was lost is made again, and gives the same sums
