"""Kernel columns: prices against the plain matrix, the stratified search as it is printed, prediction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernsemble.hypotheses import kernel_columns, kernel_library
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.kernel_library import (
    CompositeKernel,
    GaussianKernel,
    LinearKernel,
    QuadraticKernel,
    as_kernel,
)
from kernsemble.kernels import stump_kernel

LIBRARY = [
    LinearKernel(),
    LinearKernel(scale="n_features"),
    QuadraticKernel(),
    QuadraticKernel(scale=2.0, offset=0.0),
    GaussianKernel(),
    GaussianKernel(width=3.0, factor=0.5),
    as_kernel(stump_kernel),
    CompositeKernel([LinearKernel(), GaussianKernel()], weights=[0.5, 2.0]),
]


def mean_square_distance(X):
    """Mean of ||x_i - x_j||^2 over all pairs, as it is printed."""
    return np.mean([[np.sum((a - b) ** 2) for a in X] for b in X])


def plain(kernel, x, z, mean):
    """The kernel as it is printed, for two vectors; ``mean`` is the width that the paper takes."""
    if isinstance(kernel, CompositeKernel):
        pairs = zip(kernel.weights or np.ones(len(kernel.components)), kernel.components, strict=True)
        return sum(mu * plain(part, x, z, mean) for mu, part in pairs)
    if isinstance(kernel, GaussianKernel):
        sigma = mean if kernel.width == "mean" else kernel.width
        return np.exp(-np.sum((x - z) ** 2) / (kernel.factor * sigma))
    if isinstance(kernel, LinearKernel | QuadraticKernel):
        inner = x @ z / (len(x) if kernel.scale == "n_features" else kernel.scale)
        return inner if isinstance(kernel, LinearKernel) else (kernel.offset + inner) ** 2
    return -np.abs(x - z).sum()


@pytest.mark.parametrize("block", [1 << 21, 40], ids=["whole", "blocks"])
@pytest.mark.parametrize("kernel", LIBRARY, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(("n", "m", "d"), [(12, 7, 3), (5, 9, 8), (40, 30, 2)])
def test_kernels_price_and_decide_like_their_matrix(rng, monkeypatch, kernel, n, m, d, block):
    monkeypatch.setattr(kernel_library, "_BLOCK", block)
    X, Z = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    V, w = rng.normal(size=n) * (rng.random(n) < 0.7), rng.normal(size=m)
    resolved = kernel.resolve(X)
    mean = mean_square_distance(X)
    K = np.array([[plain(kernel, x, z, mean) for z in Z] for x in X])
    assert_allclose(resolved.matrix(X, Z), K, rtol=1e-12, atol=1e-12)
    assert_allclose(resolved.scores(X, V, Z), V @ K, rtol=1e-10, atol=1e-10)
    assert_allclose(resolved.decision(X, Z, w), K @ w, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("cache_bytes", [0, 3000, 2**28], ids=["no memory", "little memory", "memory"])
@pytest.mark.parametrize("signed", [False, True], ids=["free", "positive"])
def test_regular_search_finds_the_best_column_of_all(rng, signed, cache_bytes):
    X = rng.normal(size=(30, 4))
    oracle = KernelColumns(X, LIBRARY, signed=signed, stratified=False, cache_bytes=cache_bytes)
    K = [kernel.matrix(X, X) for kernel in oracle.kernels]
    left = np.ones((len(LIBRARY), 30), dtype=bool)
    for _ in range(12):
        V = rng.normal(size=30) * (rng.random(30) < 0.8)
        scores = np.array([V @ matrix for matrix in K])
        ranks = np.where(left, scores if signed else np.abs(scores), -np.inf)
        assert_allclose(oracle.sum_of_squares(V), np.square(np.maximum(ranks, 0.0)).sum(), rtol=1e-9)
        assert_allclose(oracle.largest_score(V), ranks.max(), rtol=1e-9)
        (found,) = oracle.best(V)
        p, j = found.key
        assert_allclose(ranks[p, j], ranks.max(), rtol=1e-9)
        assert_allclose(found.column, K[p][:, j], rtol=1e-12, atol=1e-12)
        assert_allclose(found.score, scores[p, j], rtol=1e-9)
        assert oracle.searches[-1].full
        oracle.exclude(found.key)
        left[p, j] = False


def algorithm_5_1(scores, left, errors, tau, full_scan):
    """Steps 5 to 8 as printed: key, columns priced, whether beyond E."""
    priced = 0
    for scope, full in ((errors, False), (np.ones_like(errors), True)):
        if full and not full_scan:
            break
        for p in range(len(scores)):
            candidates = np.flatnonzero(left[p] & scope)
            priced += len(candidates)
            if len(candidates) and np.abs(scores[p][candidates]).max() > tau:
                return (p, candidates[np.argmax(np.abs(scores[p][candidates]))]), priced, full
    return None, priced, full_scan


@pytest.mark.parametrize("full_scan", [True, False], ids=["TR2", "TR1"])
def test_stratified_search_is_algorithm_5_1(rng, full_scan):
    X, bound = rng.normal(size=(25, 3)), rng.uniform(0.5, 2.0, size=25)
    kernels, tau = [LinearKernel(), QuadraticKernel(), GaussianKernel()], 6.0
    oracle = KernelColumns(X, kernels, tau=tau, bound=bound, full_scan=full_scan)
    K = [kernel.matrix(X, X) for kernel in oracle.kernels]
    left = np.ones((3, 25), dtype=bool)
    outcomes = set()
    for _ in range(60):
        errors = rng.random(25) < 0.2
        V = rng.choice([-1, 1], size=25) * bound * np.where(errors, 1.0, rng.uniform(0, 0.3, size=25))
        key, priced, full = algorithm_5_1([V @ matrix for matrix in K], left, errors, tau, full_scan)
        found = oracle.best(V)
        assert (found[0].key if found else None) == key
        assert oracle.searches[-1] == (priced, errors.sum(), full)
        outcomes.add((key is None, full))
        if key is not None:
            oracle.exclude(key)
            left[key] = False
    assert len(outcomes) >= 2 + full_scan  # found in E, found beyond it, found nowhere


def test_composite_columns_are_counted_once_a_part(rng):
    oracle = KernelColumns(rng.normal(size=(10, 2)), ["linear+quadratic+rbf"], stratified=False)
    oracle.best(rng.normal(size=10))
    assert oracle.searches[-1].n_scanned == 30


def test_memory_stays_within_its_bound(rng):
    X = rng.normal(size=(400, 3))
    oracle = KernelColumns(X, ["linear", "rbf"], stratified=False, cache_bytes=2 * 50 * 400 * 8)
    for _ in range(3):
        oracle.best(rng.normal(size=400))
    kept = [store._kept for store in oracle._stores]
    assert kept[0].nbytes == 0  # linear columns are priced without being evaluated
    assert 0 < kept[1].nbytes <= 50 * 400 * 8


def test_candidates_are_limited_to_the_centers(rng):
    oracle = KernelColumns(rng.normal(size=(50, 3)), ["linear", "rbf"], centers=np.array([7, 3, 3, 11]))
    keys = []
    while found := oracle.best(rng.normal(size=50)):
        oracle.exclude(found[0].key)
        keys.append(found[0].key)
    assert sorted(keys) == [(p, j) for p in (0, 1) for j in (3, 7, 11)]
    assert len(oracle) == 6


def test_expansion_evaluates_the_columns_it_was_given(rng):
    X, new = rng.normal(size=(20, 3)), rng.normal(size=(15, 3))
    oracle = KernelColumns(X, ["linear", "quadratic", "rbf"])
    keys = [(2, 4), (0, 1), (1, 4), (0, 9), (2, 0)]
    expansion = oracle.collect(keys)
    H = expansion.outputs(new)
    for j, (p, center) in enumerate(keys):
        assert_allclose(H[:, j], oracle.kernels[p].matrix(new, X[[center]])[:, 0], atol=1e-12)
    w = np.array([0.5, -1.0, 0.0, 2.0, 0.0])
    assert_allclose(expansion.decision(new, w, 0.3), H @ w + 0.3, atol=1e-12)
    W = rng.normal(size=(5, 2))
    assert_allclose(expansion.decision(new, W), H @ W, atol=1e-12)
    assert len(expansion) == 5
    assert expansion.counts(w) == {"linear": 2, "quadratic": 0, "rbf": 1}
    assert expansion.n_evaluations(w) == 2  # one for the linear columns together, one RBF
    assert oracle.collect([]).decision(new, np.zeros(0), 2.0).tolist() == [2.0] * 15


def test_prediction_evaluates_only_columns_with_a_weight(rng):
    seen = []

    def spy(A, B):
        seen.append(len(B))
        return A @ B.T

    oracle = KernelColumns(rng.normal(size=(20, 3)), [spy])
    expansion = oracle.collect([(0, j) for j in range(6)])
    seen.clear()
    expansion.decision(rng.normal(size=(4, 3)), np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.0]))
    assert seen == [2]


def test_ties_go_to_the_smallest_key():
    X = np.array([[1.0], [1.0], [-1.0]])
    oracle = KernelColumns(X, ["linear", LinearKernel()], stratified=False)
    assert oracle.best(np.ones(3))[0].key == (0, 0)


def test_scores_equal_up_to_rounding_are_ties(rng):
    X = np.repeat(rng.normal(size=(40, 5)), 3, axis=0)  # columns 3k, 3k + 1 and 3k + 2 are equal
    for kernel in ("linear", "quadratic", "rbf"):
        oracle = KernelColumns(X, [kernel], cache_bytes=0)
        for _ in range(20):
            assert oracle.best(rng.normal(size=120))[0].key[1] % 3 == 0


def test_an_empty_error_set_and_a_large_tau(rng):
    X = rng.normal(size=(10, 2))
    oracle = KernelColumns(X, ["linear"], bound=1.0, tau=1e9)
    assert oracle.best(0.5 * np.ones(10)) == []
    assert_array_equal(oracle.searches, [(10, 0, True)])


@pytest.mark.parametrize("kernel", ["sigmoid", "linear+sigmoid", 3])
def test_unknown_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match="use one of"):
        as_kernel(kernel)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="scale"):
        KernelColumns(np.eye(2), [LinearKernel(scale=-1.0)])
    with pytest.raises(ValueError, match="empty"):
        KernelColumns(np.eye(2), [])
    with pytest.raises(ValueError, match="components"):
        CompositeKernel([LinearKernel()], weights=[1.0, 2.0])


def test_names_tell_kernels_of_one_kind_apart():
    kernels = [GaussianKernel(factor=f) for f in (0.5, 2.0)] + [LinearKernel()]
    assert kernel_columns.kernel_names(kernels) == ["rbf1", "rbf2", "linear"]
