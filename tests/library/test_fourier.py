"""Random Fourier cosines: they stand for the Gaussian kernel, and the pool returns its best."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from kernsemble.hypotheses.factory import make_oracle
from kernsemble.hypotheses.fourier import FourierPool


def members(pool):
    return pool.collect([(number, 1) for number in range(pool.n_hypotheses)])


def test_the_mean_of_products_is_the_gaussian_kernel(rng):
    X = rng.normal(size=(12, 3))
    pool = FourierPool(X, gamma=0.3, n_hypotheses=40_000, random_state=0)
    H = members(pool).outputs(X)
    np.testing.assert_allclose(2 * H @ H.T / 40_000, rbf_kernel(X, gamma=0.3), atol=0.03)


def test_several_kernels_share_the_pool(rng):
    X = rng.normal(size=(10, 4))
    pool = FourierPool(X, gamma=[0.1, 2.0], groups=[[0, 1], [2], [3]], n_hypotheses=60_000, random_state=0)
    theta = members(pool).theta
    for index, (width, features) in enumerate(pool.kernels):
        own = theta[[pool.kernel_of((number, 1)) == index for number in range(60_000)]]
        assert len(own) == 10_000
        outside = np.setdiff1d(np.arange(4), features)
        assert not own[:, outside].any()
        np.testing.assert_allclose(own[:, features].var(axis=0), 2 * width, rtol=0.06)


def test_best_is_the_best_member_in_the_polarity_of_positive_score(rng):
    X, V = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    pool = FourierPool(X, gamma=0.5, n_hypotheses=200, random_state=0)
    scores = np.abs(V.T @ members(pool).outputs(X))
    for k, found in enumerate(pool.best(V)):
        np.testing.assert_allclose(found.score, scores[k].max())
        np.testing.assert_allclose(V[:, k] @ found.column, found.score)
        np.testing.assert_allclose(pool.collect([found.key]).outputs(X)[:, 0], found.column, atol=1e-12)
    np.testing.assert_allclose(pool.sum_of_squares(V[:, 0]), (scores[0] ** 2).sum())
    np.testing.assert_allclose(pool.best_shared(V).score, scores.sum(axis=0).max())


def test_fresh_pools_keep_the_kernels_apart(rng):
    X, v = rng.normal(size=(30, 2)), rng.normal(size=30)
    pool = FourierPool(X, gamma=[1e-6, 1.0], n_hypotheses=51, fresh=True, random_state=0)
    found = [pool.best(v)[0] for _ in range(6)]
    lengths = np.linalg.norm(pool.collect([f.key for f in found]).theta, axis=1)
    assert [pool.kernel_of(f.key) for f in found] == [int(length > 0.01) for length in lengths]


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.inf, np.nan, [1.0, -1.0]])
def test_widths_must_be_positive(gamma):
    with pytest.raises(ValueError, match="must be positive"):
        FourierPool(np.zeros((3, 2)), gamma=gamma)


def test_oracles_by_name(rng):
    X, v = rng.normal(size=(20, 2)), rng.normal(size=20)
    for name in ("stump", "perceptron", "perceptron-pool", "fourier"):
        assert make_oracle(name, X, random_state=0).best(v)[0].column.shape == (20,)
    pool = make_oracle(FourierPool, X, random_state=0, n_hypotheses=7, gamma=2.0)
    assert pool.n_hypotheses == 7
    with pytest.raises(ValueError, match="base='forest' is not known"):
        make_oracle("forest", X)
