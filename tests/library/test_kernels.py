"""Kernels against their plain definitions, in digits, memory and speed of light."""

import tracemalloc

import numba
import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from kernsemble import kernels
from kernsemble.kernels import (
    gaussian_kernel,
    linear_kernel,
    perceptron_constants,
    perceptron_kernel,
    quadratic_kernel,
    squared_distances,
    stump_constant,
    stump_kernel,
)

SHAPES = [(5, 7, 3), (300, 1, 20), (1, 300, 20), (150, 170, 61), (40, 40, 1), (30, 20, 4)]
DISTANCE_KERNELS = [stump_kernel, perceptron_kernel, gaussian_kernel, squared_distances]


def plain(kernel, X, Z):
    """The definition, term by term."""
    difference = X[:, np.newaxis, :] - Z[np.newaxis, :, :]
    absolute, square = np.abs(difference).sum(axis=2), (difference**2).sum(axis=2)
    product = (X[:, np.newaxis, :] * Z[np.newaxis, :, :]).sum(axis=2)
    return {
        stump_kernel: -absolute,
        perceptron_kernel: -np.sqrt(square),
        gaussian_kernel: np.exp(-square),
        squared_distances: square,
        linear_kernel: product,
        quadratic_kernel: (1.0 + product) ** 2,
    }[kernel]


@pytest.mark.parametrize("kernel", [*DISTANCE_KERNELS, linear_kernel, quadratic_kernel])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_plain_definition(kernel, shape):
    n, m, d = shape
    rng = np.random.default_rng(n + d)
    X, Z = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    expected = plain(kernel, X, Z)
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(X), plain(kernel, X, X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", DISTANCE_KERNELS)
def test_symmetric_case_has_the_same_digits_at_half_the_cost(kernel, rng):
    X = rng.normal(size=(300, 13))
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K, kernel(X, X.copy()))


@pytest.mark.parametrize("kernel", DISTANCE_KERNELS)
def test_digits_do_not_depend_on_threads_or_on_the_other_rows(kernel, rng, monkeypatch):
    X, Z = rng.normal(size=(200, 9)), rng.normal(size=(410, 9))
    monkeypatch.setattr(kernels, "SERIAL_WORK", 0)
    monkeypatch.setattr(kernels, "thread_count", lambda: 1)
    single, symmetric = kernel(X, Z), kernel(Z)
    monkeypatch.setattr(kernels, "thread_count", lambda: 3)
    np.testing.assert_array_equal(kernel(X, Z), single)
    np.testing.assert_array_equal(kernel(Z), symmetric)
    np.testing.assert_array_equal(kernel(X, Z[17:18]), single[:, 17:18])
    np.testing.assert_array_equal(kernel(X[3:4], Z), single[3:4])


def test_worker_processes_are_pinned_by_omp_num_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert kernels.thread_count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "100000")
    assert kernels.thread_count() == numba.config.NUMBA_NUM_THREADS
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    assert kernels.thread_count() == min(4, numba.config.NUMBA_NUM_THREADS)


def test_close_points_far_from_the_origin_keep_their_distance():
    X = np.array([[1e8, 1e8], [1e8 + 2**-20, 1e8]])
    assert perceptron_kernel(X)[0, 1] == -(2.0**-20)
    assert not np.signbit(perceptron_kernel(X)[0, 0])
    assert stump_kernel(X)[0, 1] == -(2.0**-20)


def test_duplicated_rows_are_at_distance_zero(rng):
    X = np.repeat(rng.normal(size=(20, 5)), 2, axis=0)
    for kernel in (stump_kernel, perceptron_kernel, squared_distances):
        assert np.all(kernel(X)[np.arange(0, 40, 2), np.arange(1, 40, 2)] == 0.0)


@pytest.mark.parametrize("kernel", DISTANCE_KERNELS)
def test_never_more_memory_than_the_result_and_a_block(kernel):
    X = np.random.default_rng(0).normal(size=(1500, 10))
    kernel(X[:5])  # compilation allocates
    tracemalloc.start()
    K = kernel(X, X.copy())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= K.nbytes + 1_000_000


def test_inputs_may_be_integers_lists_or_in_fortran_order(rng):
    X = rng.integers(0, 5, size=(6, 4))
    expected = plain(stump_kernel, X, X)
    np.testing.assert_array_equal(stump_kernel(X), expected)
    np.testing.assert_array_equal(stump_kernel(np.asfortranarray(X, dtype=float)), expected)
    np.testing.assert_array_equal(stump_kernel(X.tolist(), X.tolist()), expected)
    np.testing.assert_array_equal(stump_kernel(np.empty((0, 4)), X), np.empty((0, 6)))
    np.testing.assert_array_equal(stump_kernel(np.empty((3, 0))), np.zeros((3, 3)))


def test_is_a_kernel_of_scikit_learn(rng):
    X, y = rng.normal(size=(60, 4)), rng.integers(2, size=60)
    named = SVC(kernel=stump_kernel, C=2.0).fit(X, y)
    computed = SVC(kernel="precomputed", C=2.0).fit(stump_kernel(X), y)
    np.testing.assert_array_equal(named.decision_function(X), computed.decision_function(stump_kernel(X)))


def test_quadratic_kernel_has_a_scale_and_an_offset(rng):
    X, Z = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(quadratic_kernel(X, Z, scale=3.0, offset=0.5), (0.5 + X @ Z.T / 3.0) ** 2)


@pytest.mark.parametrize(("D", "Theta", "Xi"), [(1, 2, 2), (2, 2 * np.pi, 4), (3, 4 * np.pi, 2 * np.pi)])
def test_perceptron_constants_in_low_dimension(D, Theta, Xi):
    constants = perceptron_constants(D, radius=1.5)
    np.testing.assert_allclose(constants[:2], (Theta, Xi), rtol=1e-12)
    assert constants.r == pytest.approx((2.0 * Xi) ** -0.5)
    assert constants.Delta == pytest.approx(1.5 * Theta / Xi)


def test_perceptron_constants_survive_high_dimension():
    with np.errstate(over="ignore"):  # r_P alone leaves the floating-point range
        constants = perceptron_constants(2000, radius=1.0)
    assert constants.Theta == 0.0  # the sphere's area underflows, the ratio of areas does not
    assert constants.Delta == pytest.approx(np.sqrt(np.pi * 2000 / 2), rel=1e-3)


def test_exact_stump_kernel_is_the_integral_over_all_stumps(rng):
    """Definition 1: 1/4 times the sum over both signs and all features of the integral over thresholds."""
    x, z = rng.uniform(-1, 1, size=(2, 3))
    lower, upper = np.array([-1.0, -2.0, -1.5]), np.array([1.0, 1.0, 2.0])
    integral = 0.0
    for d in range(3):
        knots = np.sort([lower[d], upper[d], x[d], z[d]])
        middles = (knots[1:] + knots[:-1]) / 2
        integral += 2 * 0.25 * np.diff(knots) @ (np.sign(x[d] - middles) * np.sign(z[d] - middles))
    K = stump_kernel(x[np.newaxis], z[np.newaxis], constant=stump_constant(lower, upper))
    assert K[0, 0] == pytest.approx(integral, abs=1e-12)


def test_exact_perceptron_kernel_is_the_integral_over_all_perceptrons(rng):
    """Definition 1 in the plane: the integral over directions of 2 (R - |<theta, x - z>|), times r^2."""
    x, z = rng.uniform(-0.7, 0.7, size=(2, 2))
    constants = perceptron_constants(2, radius=1.0)
    angles = (np.arange(20000) + 0.5) * 2 * np.pi / 20000
    theta = np.column_stack([np.cos(angles), np.sin(angles)])
    integral = constants.r**2 * np.mean(2 * (1.0 - np.abs(theta @ (x - z)))) * 2 * np.pi
    K = perceptron_kernel(x[np.newaxis], z[np.newaxis], constant=constants.Delta)
    assert K[0, 0] == pytest.approx(integral, abs=1e-6)


def test_exact_kernels_are_positive_definite_on_distinct_points(rng):
    """Theorems 3 and 6."""
    X = rng.uniform(-0.5, 0.5, size=(40, 3))
    stump = stump_kernel(X, constant=stump_constant(-np.ones(3), np.ones(3)))
    perceptron = perceptron_kernel(X, constant=perceptron_constants(3, radius=1.0).Delta)
    assert np.linalg.eigvalsh(stump)[0] > 1e-6
    assert np.linalg.eigvalsh(perceptron)[0] > 1e-6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stump_kernel(np.ones((2, 3)), np.ones((2, 4))), "3 features, but Z has 4"),
        (lambda: stump_kernel(np.ones(3)), "two dimensions"),
        (lambda: gaussian_kernel(np.ones((2, 3)), gamma=-1.0), "gamma must not be negative"),
        (lambda: quadratic_kernel(np.ones((2, 3)), scale=0.0), "scale must be positive"),
        (lambda: stump_constant([1.0], [0.0]), "lower must not exceed upper"),
        (lambda: perceptron_constants(0, 1.0), "n_features must be positive"),
        (lambda: perceptron_constants(2, -1.0), "radius not negative"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sparse_input_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match="toarray"):
        stump_kernel(sparse.eye(3))


def test_constants_of_many_features_overflow_in_silence():
    """The weight of one perceptron is infinite beyond some 740 features, the constant is not."""
    many = perceptron_constants(5000, radius=2.0)
    assert many.r == np.inf
    assert many.Delta == pytest.approx(2.0 * np.sqrt(0.5 * np.pi * 5000), rel=1e-3)
