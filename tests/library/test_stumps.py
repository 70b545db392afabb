"""Exact decision stumps: against every stump there is, on every layout of the data."""

import pickle

import numpy as np
import pytest
from support.reference_stumps import all_stumps, best_stump, outputs

from kernsemble.hypotheses import _ranked_columns, _stump_search, _threads
from kernsemble.hypotheses._fixed_point import midpoint, quantize
from kernsemble.hypotheses.stumps import Stump, StumpHypotheses, StumpOracle


def pixels(rng, n, d):
    return (rng.integers(0, 256, (n, d)) * (rng.random((n, d)) < 0.3)).astype(np.uint8)


def with_duplicates(rng, n, d):
    X = rng.normal(size=(n, d))
    X[:, d // 2] = X[:, 0]
    X[:, -1] = 4.0
    return X


LAYOUTS = {
    "continuous": lambda rng, n, d: rng.normal(size=(n, d)),
    "categories": lambda rng, n, d: rng.integers(0, 4, (n, d)).astype(np.float64),
    "sparse pixels": pixels,
    "dense pixels": lambda rng, n, d: rng.integers(0, 256, (n, d)).astype(np.uint8),
    "sparse floats": lambda rng, n, d: rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4),
    "duplicated and constant": with_duplicates,
}
SHAPES = [(40, 3), (5, 12), (700, 4)]


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


@pytest.fixture(params=[False, True], ids=["exact", "drafted"])
def drafted(request, monkeypatch):
    """Searches of several problems with or without a draft, whatever the size of the data."""
    monkeypatch.setattr(_stump_search, "_DRAFT_WORTH", 0 if request.param else np.inf)


def whole_weights(rng, n, K):
    """Weights whose sums are exact in floating point, so that the twin breaks ties as it should."""
    return rng.integers(-4, 5, (n, K)).astype(np.float64)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.usefixtures("drafted")
def test_best_is_the_best_of_all_stumps_and_the_first_of_equals(rng, layout, shape, constant):
    X = layout(rng, *shape)
    V = whole_weights(rng, len(X), 3) * 2.0 ** rng.integers(-40, 40)
    oracle = StumpOracle(X, constant=constant)
    for v, found, alone in zip(V.T, oracle.best(V), (oracle.best(v)[0] for v in V.T), strict=True):
        stump, score = best_stump(X, v, constant)
        assert found.key[:2] == stump == alone.key[:2]
        assert found.score == score == alone.score == v @ found.column
        assert found.column.dtype == np.int8


def test_best_for_weights_of_any_size(rng, layout):
    X = layout(rng, 60, 4)
    for scale in (1e-300, 1.0, 1e300):
        v = rng.normal(size=len(X)) * scale
        (_, score), (found,) = best_stump(X, v), StumpOracle(X).best(v)
        np.testing.assert_allclose([found.score, v @ found.column], score, rtol=1e-12)


@pytest.mark.usefixtures("drafted")
def test_shared_best_maximizes_the_sum_over_classes(rng, layout):
    X = layout(rng, 300, 4)
    V = whole_weights(rng, len(X), 3)
    everything = all_stumps(X)
    sums = np.abs(V.T @ outputs(X, everything)).sum(axis=0)
    found = StumpOracle(X).best_shared(V)
    assert found.key[:2] == everything[sums.argmax()]
    assert found.score == sums.max() == np.abs(V.T @ found.column).sum()


def test_drafts_of_many_classes_miss_nothing(rng, layout, monkeypatch):
    X, labels = layout(rng, 3_000, 30), rng.integers(12, size=3_000)
    V = np.where(labels[:, None] == np.arange(12), 1.0, -1.0) * rng.exponential(size=(3_000, 12))
    found = []
    for worth in (0, np.inf):
        monkeypatch.setattr(_stump_search, "_DRAFT_WORTH", worth)
        oracle = StumpOracle(X)
        for v in V.T[:3]:
            oracle.exclude(oracle.best(v)[0].key)
        found.append([(f.key, f.score) for f in [*oracle.best(V), oracle.best_shared(V)]])
    assert found[0] == found[1]


def test_drafts_leave_out_most_columns(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(_stump_search, "_DRAFT_WORTH", 0)
    labels = rng.integers(4, size=2_000)
    X = rng.normal(size=(2_000, 40)) + (np.arange(40) < 4) * (labels[:, None] == np.arange(40))
    V = np.where(labels[:, None] == np.arange(4), 3.0, -1.0)
    search = StumpOracle(X)._search
    contenders = search._draft(np.rint(V * 2**45).astype(np.int64), shared=False)[0]
    assert contenders[np.arange(4), np.arange(4)].all()
    assert contenders.sum() < 16


def test_exclusion_removes_one_stump_after_the_other_until_none_is_left(rng, layout):
    X = layout(rng, 12, 2)
    v, oracle, gone = whole_weights(rng, len(X), 1)[:, 0], StumpOracle(X), []
    assert len(oracle) == len(all_stumps(X))
    while found := oracle.best(v):
        assert found[0].key[:2] == best_stump(X, v, without=gone)[0]
        gone.append(found[0].key[:2])
        oracle.exclude(found[0].key)
        assert len(oracle) == len(all_stumps(X)) - len(gone)
    assert sorted(gone) == sorted(all_stumps(X))
    assert oracle.best_shared(v[:, None]) is None
    assert oracle.sum_of_squares(v) == 0.0


def test_sum_of_squares_counts_every_stump_once(rng, layout):
    X, v = layout(rng, 300, 4), rng.normal(size=300)
    everything = all_stumps(X)
    squares = (v @ outputs(X, everything)) ** 2
    oracle = StumpOracle(X)
    np.testing.assert_allclose(oracle.sum_of_squares(v), squares.sum(), rtol=1e-10)
    for j in (0, len(everything) // 2, len(everything) - 1):
        oracle.exclude(Stump(*everything[j], -1))
        squares[j] = 0.0
    np.testing.assert_allclose(oracle.sum_of_squares(v), squares.sum(), rtol=1e-10)


@pytest.mark.parametrize("n_rows", [0, 1, 50])
def test_collected_stumps_predict_what_they_say(rng, layout, n_rows):
    X = layout(rng, 300, 4)
    keys = [Stump(*stump, int(rng.choice([-1, 1]))) for stump in all_stumps(X)]
    keys = [keys[j] for j in rng.integers(len(keys), size=40)]
    hypotheses = StumpOracle(X).collect(keys)
    Z = layout(rng, max(n_rows, 1), 4)[:n_rows]
    signs = np.array([key.sign for key in keys])
    H = outputs(Z, [key[:2] for key in keys]) * signs
    np.testing.assert_array_equal(hypotheses.outputs(Z), H)
    W = rng.normal(size=(40, 3))
    np.testing.assert_allclose(hypotheses.decision(Z, W, W[0]), H @ W + W[0], atol=1e-12)
    np.testing.assert_allclose(hypotheses.decision(Z, W[:, 0], 0.5), H @ W[:, 0] + 0.5, atol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(hypotheses)).outputs(Z), H)


def test_pixels_and_the_same_numbers_as_floats_give_the_same_stumps(rng):
    X, V = pixels(rng, 400, 6), rng.normal(size=(400, 2))
    for found, same in zip(StumpOracle(X).best(V), StumpOracle(X.astype(np.float64)).best(V), strict=True):
        assert found.key == same.key
        assert found.score == same.score


@pytest.mark.parametrize("kind", ["continuous", "sparse floats", "many ties"])
def test_groups_of_samples_find_what_the_walk_finds(rng, monkeypatch, kind):
    n = 5_000
    X = rng.normal(size=(n, 4))
    if kind == "sparse floats":
        X *= rng.random((n, 4)) < 0.3
    elif kind == "many ties":
        X = np.round(X, 2)
    walk = StumpOracle(X)
    monkeypatch.setattr(_ranked_columns, "GROUPED_FROM", 0)
    grouped = StumpOracle(X)
    signal = np.sign(X[:, 1] - 0.2) + rng.normal(size=n)
    for V in (
        whole_weights(rng, n, 2),
        rng.normal(size=(n, 2)),
        signal[:, None],
        rng.choice([-1.0, 1.0], (n, 1)),
    ):
        for _ in range(5):
            for one, other in zip(walk.best(V), grouped.best(V), strict=True):
                assert one.key == other.key
                assert one.score == other.score
            walk.exclude(one.key)
            grouped.exclude(one.key)
        assert walk.best_shared(V).key == grouped.best_shared(V).key
        assert walk.sum_of_squares(V[:, 0]) == grouped.sum_of_squares(V[:, 0])


def test_equal_columns_tie_for_the_first_of_them(rng):
    x = rng.normal(size=(50, 1))
    found = StumpOracle(np.hstack([x, x, x])).best(np.sign(x[:, 0]))[0]
    assert found.key.feature == 0


def test_no_column_to_cut():
    X, v = np.full((4, 2), 3.0), np.array([1.0, 2.0, -1.0, -5.0])
    assert StumpOracle(X).best(v)[0].key == Stump(0, -np.inf, -1)
    assert StumpOracle(X, constant=False).best(v) == []
    assert len(StumpOracle(X, constant=False)) == 0


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1.7e308, 1.7e308), (1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324), (-5e-324, 0.0), (-np.inf, 0.0)],
)
def test_thresholds_part_neighbors_however_far_or_near(low, high):
    assert low <= midpoint(low, high) < high
    found = StumpOracle(np.array([[low], [high]])).best(np.array([-1.0, 1.0]))[0]
    assert found.score == 2.0
    np.testing.assert_array_equal(
        StumpHypotheses([0], [found.key.threshold], [1], 1).outputs(np.array([[low], [high]]))[:, 0], [-1, 1]
    )


def test_ranks_do_not_overflow_where_values_do(rng):
    X = rng.uniform(-1.0, 1.0, size=(300, 2)) * np.array([1.7e308, 1e-308])
    v = whole_weights(rng, 300, 1)[:, 0]
    assert StumpOracle(X).best(v)[0].key[:2] == best_stump(X, v)[0]


def test_weights_become_whole_numbers_without_loss(rng):
    V = rng.normal(size=(1000, 3)) * np.array([1e-200, 1.0, 1e200])
    W, exponents = quantize(V)
    assert (np.abs(W).sum(axis=0) < 2**61 + 1000).all()
    assert (np.abs(W).sum(axis=0) > 2**59).all()
    errors = np.abs(np.ldexp(W.astype(np.float64), -exponents) - V).max(axis=0)
    assert (errors <= 1e-15 * np.abs(V).max(axis=0)).all()
    assert quantize(np.zeros((3, 1)))[0].tolist() == [[0], [0], [0]]
    assert len(set(quantize(V, together=True)[1])) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers_are_refused(bad):
    X = np.array([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="finite"):
        StumpOracle(X).best(np.array([1.0, bad, 0.0]))


def test_wrong_widths_are_refused():
    hypotheses = StumpOracle(np.zeros((3, 2))).collect([Stump(0, -np.inf, 1)])
    with pytest.raises(ValueError, match="expected"):
        hypotheses.decision(np.zeros((3, 3)), np.ones(1))
    with pytest.raises(ValueError, match="expected"):
        StumpOracle(np.zeros(3))


def test_importances_are_shares_of_weight():
    hypotheses = StumpHypotheses([0, 2, 2, 1], [0.0, 1.0, 2.0, -np.inf], [1, 1, -1, 1], 4)
    np.testing.assert_allclose(hypotheses.feature_importances([1.0, -2.0, 1.0, 9.0]), [0.25, 0, 0.75, 0])
    np.testing.assert_array_equal(hypotheses.feature_importances(np.zeros((4, 3))), np.zeros(4))


@pytest.mark.parametrize("kind", ["continuous", "sparse pixels", "dense pixels"])
def test_threads_change_nothing(monkeypatch, kind):
    rng = np.random.default_rng(0)
    X = LAYOUTS[kind](rng, 500, 9)
    V = rng.normal(size=(500, 3))
    results = []
    for threads in (1, 4):
        monkeypatch.setattr(_threads, "n_threads", lambda threads=threads: threads)
        monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 10)
        oracle = StumpOracle(X)
        found = [*oracle.best(V), oracle.best(V[:, 0])[0], oracle.best_shared(V)]
        decision = oracle.collect([f.key for f in found]).decision(X, np.arange(5.0))
        squares = oracle.sum_of_squares(V[:, 0])
        results.append(([(f.key, f.score) for f in found], decision.tolist(), squares))
    assert results[0] == results[1]


def test_pieces_cover_the_range_once(monkeypatch):
    monkeypatch.setattr(_threads, "n_threads", lambda: 3)
    monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
    seen = np.zeros(10, dtype=int)

    def work(start, stop):
        seen[start:stop] += 1

    _threads.run_pieces(work, np.array([0, 0, 0, 50, 50, 51, 52, 90, 90, 99, 100]))
    assert (seen == 1).all()


@pytest.mark.parametrize(("setting", "expected"), [("1", 1), ("1,2", 1), ("", None), ("nonsense", None)])
def test_openmp_setting_limits_threads(monkeypatch, setting, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert _threads.n_threads() == (expected or _threads.config.NUMBA_NUM_THREADS)
