"""Stumps read from a file: the same keys, scores, columns and models as from memory, in little memory."""

import subprocess
import sys

import numpy as np
import pytest
from support.reference_stumps import all_stumps, best_stump

from kernsemble import AdaBoost, AdaBoostMH, CGEns, LPBoost, MultiBoost
from kernsemble.growth import _stump_coding, _stump_part, streamed_stumps
from kernsemble.growth.streamed_stumps import StreamedStumpOracle
from kernsemble.hypotheses import _threads
from kernsemble.hypotheses.stumps import StumpOracle

LAYOUTS = {
    "continuous": lambda rng, n, d: rng.normal(size=(n, d)).astype(np.float32),
    "rounded": lambda rng, n, d: rng.normal(size=(n, d)).round(1),
    "categories": lambda rng, n, d: rng.integers(0, 4, (n, d)).astype(np.float32),
    "counts": lambda rng, n, d: rng.poisson(3.0, (n, d)),
    "bytes": lambda rng, n, d: rng.integers(0, 256, (n, d)).astype(np.uint8),
    "few bytes": lambda rng, n, d: (rng.poisson(3, (n, d)) * (rng.random((n, d)) < 0.2)).astype(np.uint8),
    "constant and heavy tails": lambda rng, n, d: np.where(
        np.arange(d) == d // 2, np.float32(-0.0), rng.standard_cauchy((n, d)) ** 3
    ),
}  # fmt: skip
SHAPES = [(40, 3), (5, 12), (700, 4)]


@pytest.fixture(params=LAYOUTS)
def layout(request):
    return LAYOUTS[request.param]


@pytest.fixture(params=["as it is", "coarse"])
def resolution(request, monkeypatch):
    """A few hundred rows look like millions: many blocks, few codes, a sample that misses most values."""
    if request.param == "coarse":
        for name, value in {"_MOST_CODES": 5, "_LEAST": 2, "_MOST_COARSE": 3, "_SAMPLE_RUNS": 9}.items():
            monkeypatch.setattr(_stump_coding, name, value)
        monkeypatch.setattr(_stump_part, "BLOCK", 64)
        monkeypatch.setattr(streamed_stumps, "_ROWS", 50)


def same(ours, stored):
    assert ours.key == stored.key
    assert ours.score == stored.score
    assert ours.column.dtype == stored.column.dtype == np.int8
    np.testing.assert_array_equal(ours.column, stored.column)


def weights(rng, X, K, whole):
    """Weights with and without ties; the first column follows a feature, as in a round of boosting."""
    V = rng.integers(-4, 5, (len(X), K)).astype(np.float64) if whole else rng.normal(size=(len(X), K))
    V[:, 0] += 2.0 * (X[:, 0] > np.median(X[:, 0]))
    return V


@pytest.mark.parametrize("whole", [True, False], ids=["ties", "no ties"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.usefixtures("resolution")
def test_best_is_that_of_the_search_in_memory(rng, layout, shape, constant, whole):
    X = layout(rng, *shape)
    stored, ours = StumpOracle(X, constant=constant), StreamedStumpOracle(X, constant=constant)
    V = weights(rng, X, 3, whole)
    for _ in range(4):
        for one, other in zip(ours.best(V), stored.best(V), strict=True):
            same(one, other)
        shared, other = ours.best_shared(V), stored.best_shared(V)
        if other is None:
            assert shared is None
            break
        same(shared, other)
        for oracle in (ours, stored):  # and so on without it
            oracle.exclude(other.key)


@pytest.mark.usefixtures("resolution")
def test_best_is_the_best_of_all_stumps(rng, layout):
    X = layout(rng, 120, 3)
    v = rng.integers(-4, 5, len(X)).astype(np.float64)
    (found,) = StreamedStumpOracle(X).best(v)
    stump, score = best_stump(X, v)
    assert (found.key[:2], found.score) == (stump, score)
    assert v @ found.column == score


@pytest.mark.usefixtures("resolution")
def test_every_stump_is_found_once(rng, layout):
    X = layout(rng, 90, 2)
    oracle, v, found = StreamedStumpOracle(X), rng.normal(size=len(X)), []
    while candidates := oracle.best(v):
        found.append(candidates[0])
        oracle.exclude(candidates[0].key)
    assert sorted(candidate.key[:2] for candidate in found) == sorted(all_stumps(X))
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert oracle.best_shared(v[:, None]) is None


@pytest.mark.usefixtures("resolution")
def test_sum_of_squares(rng, layout):
    X, v = layout(rng, 300, 4), rng.normal(size=300)
    stored, ours = StumpOracle(X), StreamedStumpOracle(X)
    for _ in range(4):
        np.testing.assert_allclose(ours.sum_of_squares(v), stored.sum_of_squares(v), rtol=1e-12)
        for oracle in (ours, stored):
            oracle.exclude(stored.best(v)[0].key)


@pytest.mark.usefixtures("resolution")
def test_bound_of_the_sum_of_squares(rng, layout):
    X, v = layout(rng, 300, 4), rng.normal(size=300)
    exact, bound = (StreamedStumpOracle(X, bound=bound).sum_of_squares(v) for bound in (False, True))
    assert exact * (1 - 1e-12) <= bound
    assert bound <= exact + 4 * 300 * np.abs(v).sum() ** 2


def test_bound_of_the_sum_of_squares_is_the_sum_where_every_code_has_one_value(rng, layout):
    X, v = layout(rng, 300, 4), rng.normal(size=300)
    exact, bound = (StreamedStumpOracle(X, bound=bound).sum_of_squares(v) for bound in (False, True))
    np.testing.assert_allclose(bound, exact, rtol=1e-12)


@pytest.mark.usefixtures("resolution")
def test_results_do_not_depend_on_threads(rng, layout, monkeypatch):
    X, V = layout(rng, 700, 4), rng.normal(size=(700, 2))
    alone = StreamedStumpOracle(X).best(V)
    monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(_threads, "n_threads", lambda: 5)
    for one, other in zip(StreamedStumpOracle(X).best(V), alone, strict=True):
        same(one, other)


def stored_in(folder, X):
    """X as a file, mapped for reading."""
    path = folder / f"{X.dtype}"
    X.tofile(path)
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


@pytest.mark.parametrize(
    ("model", "constant"),
    [(AdaBoost(12), True), (AdaBoostMH(6), True), (CGEns(C=0.01, n_rounds=12, tol=None), False),
     (MultiBoost(C=1e3, n_rounds=5, tol=None), True), (LPBoost(n_rounds=5, tol=None), False),
     (CGEns(C=0.01, n_rounds=12, loss="squared_hinge", intercept="none", tol=None), True)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
@pytest.mark.parametrize("name", ["continuous", "bytes"])
@pytest.mark.usefixtures("resolution")
def test_models_fitted_from_a_file_equal_those_fitted_in_memory(tmp_path, name, model, constant, figure):
    rng = np.random.default_rng(0)
    X = LAYOUTS[name](rng, 600, 5)
    X[:, 1] = X[:, 0]
    y = X[:, 1:4].astype(np.float64) @ [1, 2, -1] + X.std() * rng.normal(size=600) > X.mean()
    stored = model.fit(X, y)
    scores, weights = stored.decision_function(X), stored.weights_
    file = stored_in(tmp_path, X)
    model.set_params(base=StreamedStumpOracle, base_options={"constant": constant}).fit(file, y)
    np.testing.assert_array_equal(model.weights_, weights)
    np.testing.assert_array_equal(model.decision_function(file), scores)
    np.testing.assert_allclose(list(model.staged_decision_function(file))[-1], scores, atol=1e-9)
    figure("Load", "fits from a file", 1, 1, "weights and scores of the fit in memory, bit for bit")


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_a_file_is_neither_copied_nor_converted(tmp_path, dtype):
    seen = []

    def base(X, **options):
        seen.append(X)
        return StreamedStumpOracle(X, **options)

    file = stored_in(tmp_path, np.arange(40).reshape(20, 2).astype(dtype))
    AdaBoost(1, base=base).fit(file, np.arange(20) > 9)
    assert np.shares_memory(seen[0], file)
    assert seen[0].dtype == dtype


_LIMITED = """
import resource, sys
import numpy as np
from kernsemble import AdaBoost
from kernsemble.growth.streamed_stumps import StreamedStumpOracle
X = np.memmap(sys.argv[1], dtype=sys.argv[2], mode="r").reshape(-1, 400)
model = AdaBoost(3, base=StreamedStumpOracle)
model.fit(X[:9], np.arange(9) > 4)  # what is compiled and imported is there
used = 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if "VmData" in line)
room = used + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_DATA, (room, room))
model.fit(X, X[:, 0] > X[:, 1])
sys.stdout.write(str(model.score(X[:100], X[:100, 0] > X[:100, 1])))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on private memory is Linux's")
@pytest.mark.parametrize(
    ("dtype", "n_samples", "fixed"), [("uint8", 300_000, 0), ("float32", 150_000, 80_000_000)]
)
def test_fits_in_less_memory_than_the_data_take(tmp_path, dtype, n_samples, fixed, figure):
    """Private memory grows by 130 bytes a sample for weights, labels and scores, and by what codes take."""
    block = np.random.default_rng(0).integers(0, 200, (10_000, 400)).astype(dtype)
    with open(tmp_path / "data", "wb") as file:
        for _ in range(n_samples // len(block)):
            block.tofile(file)
    room = 130 * n_samples + fixed
    assert room < 0.65 * (tmp_path / "data").stat().st_size
    command = [sys.executable, "-c", _LIMITED, tmp_path / "data", dtype, str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.5
    figure("Load", "fits in two fifths of the memory of the data", 1, 1, "120 MB and 240 MB, 400 features")


def test_codes_go_to_a_file_without_a_name(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(_stump_part, "_IN_MEMORY", 0)
    X, v = rng.normal(size=(500, 3)).astype(np.float32), rng.normal(size=500)
    oracle = StreamedStumpOracle(X, directory=tmp_path)
    assert isinstance(oracle._team._part._codes, np.memmap)
    assert not list(tmp_path.iterdir())
    same(oracle.best(v)[0], StumpOracle(X).best(v)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_is_refused_with_its_place(dtype):
    X = np.zeros((5, 3), dtype=dtype)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="Feature 1 of X contains NaN in rows 0 to 4"):
        StreamedStumpOracle(X)


def test_shape_is_checked():
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        StreamedStumpOracle(np.zeros(3))
