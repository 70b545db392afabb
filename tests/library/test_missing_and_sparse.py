"""Stumps branch at missing values; sparse and single-precision X give what dense doubles give."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils import get_tags
from support.reference_stumps import all_stumps

import kernsemble
from kernsemble.hypotheses import _ranked_columns, _stump_search
from kernsemble.hypotheses.factory import make_oracle
from kernsemble.hypotheses.stumps import BranchingStump, StumpHypotheses, StumpOracle

LARGEST = np.finfo(float).max


def with_missing(rng, n, d, kind):
    X = {"real": rng.normal(size=(n, d)), "few": rng.integers(0, 3, (n, d)).astype(float)}[kind]
    X[rng.random((n, d)) < np.linspace(0.0, 0.8, d)] = np.nan
    X[:, -1] = np.nan  # nothing but missing values
    return X


def every_branching_stump(X):
    """(feature, threshold, side) of every distinct stump with its outputs, in the order of preference."""
    found = []
    for feature, x in enumerate(X.T):
        missing = np.isnan(x)
        if not missing.any():
            found += [(feature, t, 0, np.where(x > t, 1, -1)) for _, t in all_stumps(x[:, None], False)]
            continue
        cuts = [t for _, t in all_stumps(x[~missing][:, None], False)]
        for side in (-1, 1):
            found += [(feature, t, side, np.where(missing, side, np.where(x > t, 1, -1))) for t in cuts]
        if not missing.all():
            found.append((feature, LARGEST, 1, np.where(missing, 1, -1)))
    return found


@pytest.mark.parametrize("kind", ["real", "few"])
@pytest.mark.parametrize("shape", [(30, 4), (7, 6), (400, 3)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("drafted", [False, True])
def test_missing_values_go_to_the_side_that_scores_more(rng, monkeypatch, kind, shape, make, drafted):
    monkeypatch.setattr(_stump_search, "_DRAFT_WORTH", 0 if drafted else np.inf)
    X = with_missing(rng, *shape, kind)
    V = rng.integers(-4, 5, (len(X), 3)).astype(float)
    oracle, every = StumpOracle(make(X), constant=False), every_branching_stump(X)
    assert len(oracle) == len(every)
    H = np.array([column for *_, column in every]).T
    for v, found in zip(V.T, oracle.best(V), strict=True):
        best = every[int(np.abs(v @ H).argmax())]
        side = found.key.missing if isinstance(found.key, BranchingStump) else 0
        assert (found.key.feature, found.key.threshold, side) == best[:3]
        assert found.score == np.abs(v @ H).max() == v @ found.column
    shared = oracle.best_shared(V)
    assert shared.score == np.abs(V.T @ H).sum(axis=0).max()
    assert oracle.sum_of_squares(V[:, 0]) == pytest.approx(np.square(V[:, 0] @ H).sum())


def test_excluded_branches_do_not_come_back(rng):
    X = with_missing(rng, 12, 3, "few")
    oracle, n = StumpOracle(X), len(StumpOracle(X))
    keys = []
    while found := oracle.best(rng.normal(size=12)):
        keys.append(found[0].key)
        oracle.exclude(found[0].key)
    assert len(set(keys)) == n
    hypotheses = oracle.collect(keys)
    columns = hypotheses.outputs(X)
    assert len({(tuple(c), k.feature) for c, k in zip(columns.T, keys, strict=True)}) >= n - 12
    weights = rng.normal(size=(n, 2))
    np.testing.assert_allclose(hypotheses.decision(X, weights, 1.0), columns @ weights + 1.0)


def test_stumps_whose_feature_was_complete_do_not_vote_where_it_is_missing():
    stumps = StumpHypotheses([0, 1, 0], [0.0, 1.0, -np.inf], [1, -1, -1], 2)
    X = np.array([[np.nan, 2.0], [1.0, np.nan]])
    np.testing.assert_array_equal(stumps.outputs(X), [[0, -1, -1], [1, 0, -1]])
    np.testing.assert_allclose(stumps.decision(X, np.array([1.0, 2.0, 4.0])), [-6.0, -3.0])


def counts(rng, n, d, kind):
    """A sparse matrix with columns of all densities, dense ones among them."""
    X = rng.normal(size=(n, d)) if kind == "real" else rng.integers(-2, 4, (n, d)).astype(float)
    return np.where(rng.random((n, d)) < np.linspace(0.02, 0.99, d), X, 0.0)


@pytest.mark.parametrize("kind", ["real", "few"])
@pytest.mark.parametrize("shape", [(60, 8), (6, 30), (900, 5)])
@pytest.mark.parametrize("grouped", [10, 10**9])
def test_sparse_matrices_are_searched_as_dense_ones(rng, monkeypatch, kind, shape, grouped):
    monkeypatch.setattr(_ranked_columns, "GROUPED_FROM", grouped)
    X = counts(rng, *shape, kind)
    V = rng.normal(size=(len(X), 3))
    dense = StumpOracle(X)
    for made in (sparse.csc_array(X), sparse.csr_matrix(X), sparse.coo_array(X)):
        oracle = StumpOracle(made)
        for mine, other in zip(oracle.best(V), dense.best(V), strict=True):
            assert (mine.key, mine.score) == (other.key, other.score)
            np.testing.assert_array_equal(mine.column, other.column)
        assert oracle.best_shared(V).key == dense.best_shared(V).key
        assert oracle.sum_of_squares(V[:, 0]) == pytest.approx(dense.sum_of_squares(V[:, 0]), rel=1e-12)
    keys = [dense.best(rng.normal(size=len(X)))[0].key for _ in range(20)]
    hypotheses, w = dense.collect(keys), rng.normal(size=20)
    np.testing.assert_array_equal(hypotheses.outputs(sparse.csr_array(X)), hypotheses.outputs(X))
    np.testing.assert_allclose(hypotheses.decision(sparse.csr_array(X), w), hypotheses.decision(X, w))
    for key in keys:
        oracle.exclude(key)
    assert len(oracle) == len(dense) - len({key[:2] for key in keys})


def test_a_sparse_search_takes_memory_in_proportion_to_the_entries(rng):
    at = (rng.integers(0, 20_000, 100_000), rng.integers(0, 5_000, 100_000))
    X = sparse.csc_array((rng.normal(size=100_000), at), shape=(20_000, 5_000))  # 100 million cells
    tracemalloc.start()
    StumpOracle(X).best(rng.normal(size=20_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * X.nnz + 10_000_000


@pytest.mark.parametrize("kind", ["real", "few"])
def test_single_precision_is_kept_and_searched_as_double(rng, kind):
    X = counts(rng, 300, 6, kind).astype(np.float32)
    one, other, V = StumpOracle(X), StumpOracle(X.astype(np.float64)), rng.normal(size=(300, 3))
    assert one._X is X
    found = one.best(V)
    assert [(f.key, f.score) for f in found] == [(f.key, f.score) for f in other.best(V)]
    stumps, w = pickle.loads(pickle.dumps(one.collect([f.key for f in found]))), rng.normal(size=3)
    np.testing.assert_array_equal(stumps.decision(X, w), stumps.decision(X.astype(np.float64), w))


X = np.random.default_rng(5).normal(size=(120, 6))
X = np.where(np.random.default_rng(6).random(X.shape) < [0.1, 0.3, 0.5, 0.7, 0.9, 1.0], X, 0.0)
Y = np.digitize(X.sum(axis=1) + 0.3 * np.random.default_rng(7).normal(size=120), [-0.7, 0.7])


def fitted(name, X, y=None, **options):
    """An estimator, few rounds, fitted to three classes, two classes or values."""
    model = getattr(kernsemble, name)(**options)
    few = {"n_rounds": 8, "random_state": 0, "n_components": 2, "cv": 3, "max_iter": 1000}
    model.set_params(**{key: value for key, value in few.items() if key in model.get_params()})
    if "n_rounds" in model.get_params() and "tol" in model.get_params():
        model.set_params(tol=None)
    if y is None:
        y = X[:, [0]].toarray()[:, 0] if sparse.issparse(X) else X[:, 0]
        tags = get_tags(model).classifier_tags
        y = y + Y if is_regressor(model) else Y if tags and tags.multi_class else Y > 0
    return model.fit(X, y)


def answers(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


STUMPS = ["AdaBoost", "AdaBoostECC", "AdaBoostMH", "AdaBoostMO", "CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"]
SPARSE = [(name, {}) for name in kernsemble._ESTIMATORS]
SPARSE += [("DistanceKernelSVC", {"kernel": kernel}) for kernel in ("perceptron", "rbf")]
SPARSE += [("DistanceKernelSVC", {"solver": "spline"}), ("ExRM", {"solver": "admm", "tol": 1e-3})]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*edge of the grid")
@pytest.mark.parametrize(("name", "options"), SPARSE)
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_data_is_learned_from_as_dense_data(name, options, make):
    dense, model = fitted(name, X, **options), fitted(name, make(X), **options)
    assert get_tags(model).input_tags.sparse
    expected = answers(dense, X)
    np.testing.assert_allclose(answers(model, X), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(answers(model, make(X)), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(answers(dense, make(X)), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{"base": "perceptron"}, {"base": "fourier"}])
def test_what_takes_no_sparse_data_says_so(options):
    model = kernsemble.AdaBoost(3, **options)
    assert not get_tags(model).input_tags.sparse
    assert not get_tags(model).input_tags.allow_nan
    with pytest.raises(TypeError, match="dense data is required"):
        model.fit(sparse.csr_array(X), Y > 0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X == 0.0, np.nan, X), Y > 0)
    assert not get_tags(kernsemble.DistanceKernelSVC("precomputed")).input_tags.sparse


def test_what_does_not_fit_when_filled_in_is_refused():
    wide = sparse.eye_array(1000, 1_000_000, format="csr")
    with pytest.raises(
        ValueError, match=r"DistanceKernelSVC fills a sparse X in, and 1000 x 1000000 .* 8e\+09"
    ):
        kernsemble.DistanceKernelSVC().fit(wide, np.arange(1000) % 2)


@pytest.mark.parametrize("name", STUMPS)
@pytest.mark.parametrize("where", ["outside", "inside"])
def test_missing_values_stand_where_the_labels_say(name, where):
    """Labels follow from which values are missing, and the rest: exact only if stumps branch."""
    x = np.linspace(-1.0, 1.0, 200)
    y = np.abs(x) > 0.5 if where == "outside" else np.abs(x) < 0.5
    data = np.column_stack([np.where((x > 0.5) & (x < 0.8), np.nan, x), np.zeros(200)])
    model = fitted(
        name, data, y, **({"C": 1e4} if name == "MultiBoost" else {"C": 1.0} if "CG" in name else {})
    )
    assert get_tags(model).input_tags.allow_nan
    assert model.score(data, y) == 1.0
    assert model.score(data.astype(np.float32), y) == 1.0
    np.testing.assert_array_equal(model.feature_importances_, [1.0, 0.0])
    *_, last = model.staged_decision_function(data)
    np.testing.assert_allclose(last, model.decision_function(data), atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(data), model.decision_function(data))


@pytest.mark.parametrize("name", STUMPS)
def test_data_without_missing_values_are_fitted_as_ever(name):
    data = np.where(X == 0.0, 9.0, X)
    one, other = fitted(name, data, Y > 0), fitted(name, data, Y > 0)
    other.predict(np.where(X == 0.0, np.nan, X))
    np.testing.assert_array_equal(answers(one, data), answers(other, data))
    assert not one.hypotheses_.missing[np.isfinite(one.hypotheses_.thresholds)].any()


@pytest.mark.parametrize("name", STUMPS)
def test_single_precision_gives_the_same_ensemble(name):
    data = X.astype(np.float32)
    one, other = fitted(name, data, Y > 0), fitted(name, data.astype(float), Y > 0)
    np.testing.assert_array_equal(answers(one, data), answers(other, data.astype(float)))


def test_data_of_single_precision_are_not_copied(monkeypatch):
    seen = []

    def watched(base, X, **options):
        seen.append(X)
        return make_oracle(base, X, **options)

    monkeypatch.setattr("kernsemble.estimators._stagewise.make_oracle", watched)
    data = X.astype(np.float32)
    kernsemble.AdaBoost(3).fit(data, Y > 0)
    assert seen[0] is data
