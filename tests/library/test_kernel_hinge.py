"""The kernel SVM against cvxpy, LIBSVM, its own optimality conditions, and NumPy twins of its steps."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from kernsemble.kernels import gaussian_kernel, perceptron_kernel, stump_kernel
from kernsemble.masters import kernel_hinge, smo
from kernsemble.masters.kernel_hinge import cross_validate_path, kernel_hinge_path, solve_kernel_hinge
from kernsemble.masters.kernel_rows import CachedRows, MatrixRows, add_rows

SHAPES = {"long": (40, 3), "wide": (15, 30), "duplicated columns": (25, 6), "duplicated rows": (24, 4)}


def problem(rng, shape="long", noise=1.0):
    """Points and labels that no machine separates easily."""
    n, d = SHAPES[shape]
    X = rng.uniform(-1, 1, size=(n, d))
    if shape == "duplicated columns":
        X[:, d // 2 :] = X[:, : d - d // 2]
        X[:, 0] = 0.3  # a constant one too
    if shape == "duplicated rows":
        X[n // 2 :] = X[: n // 2]
    y = np.where(X[:, -1] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def dual_of_libsvm(K, y, C, tol=1e-9):
    """Dual objective of LIBSVM's solution."""
    machine = SVC(C=C, kernel="precomputed", tol=tol).fit(K, y)
    beta = np.zeros(len(y))
    beta[machine.support_] = machine.dual_coef_[0]
    return y @ beta - 0.5 * beta @ K @ beta, machine


@pytest.mark.parametrize("kernel", [stump_kernel, perceptron_kernel, gaussian_kernel])
@pytest.mark.parametrize("shape", SHAPES)
def test_reaches_the_objective_of_libsvm(rng, kernel, shape):
    X, y = problem(rng, shape)
    K = kernel(X)
    for C in (1e-3, 0.3, 30.0, 3000.0):
        solution = solve_kernel_hinge(K, y, C, tol=1e-9)
        expected, machine = dual_of_libsvm(K, y, C)
        np.testing.assert_array_equal(solution.w, y * solution.u)
        assert solution.dual_objective == pytest.approx(expected, rel=1e-6, abs=1e-9)
        decision = K @ solution.w + solution.b
        np.testing.assert_allclose(decision, machine.decision_function(K), atol=1e-3)


def test_noisy_data_and_a_large_bound_need_subspace_steps(rng):
    X = rng.uniform(-1, 1, size=(150, 3))
    y = np.where(X[:, 0] + rng.normal(size=150) > 0, 1.0, -1.0)
    K = gaussian_kernel(X, gamma=0.1)
    bounds = 2.0**10 * y
    beta = np.zeros(150)
    E = -y
    lower, upper = np.minimum(0, bounds), np.maximum(0, bounds)
    pairs, subspaces, violation = smo.minimize(MatrixRows(K), lower, upper, beta, E, 1e-3, 10**7)
    assert subspaces > 0
    assert violation <= 1e-3
    np.testing.assert_allclose(E, K @ beta - y, atol=1e-7)
    assert abs(beta.sum()) <= 1e-7
    expected = dual_of_libsvm(K, y, 2.0**10, tol=1e-4)[0]
    assert y @ beta - 0.5 * beta @ K @ beta == pytest.approx(expected, rel=1e-6)
    assert pairs < 20_000


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_reach_the_objective_of_libsvm_on_any_number_of_threads(rng, threads):
    X = rng.uniform(-1, 1, size=(3000, 5))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=3000) > 0, 1.0, -1.0)
    K = stump_kernel(X)
    ours = solve_kernel_hinge(MatrixRows(K, threads), y, 2.0)
    expected, _ = dual_of_libsvm(K, y, 2.0, tol=1e-3)
    assert ours.converged
    assert ours.dual_objective == pytest.approx(expected, rel=1e-5)
    np.testing.assert_array_equal(ours.w, solve_kernel_hinge(MatrixRows(K, 2), y, 2.0).w)


def test_rows_on_demand_are_those_of_the_matrix(rng):
    X = rng.normal(size=(90, 3))
    K, rows = perceptron_kernel(X), CachedRows(perceptron_kernel, X, 40, threads=1)
    for _ in range(20):
        samples = np.sort(rng.choice(90, size=rng.integers(1, rows.most + 1), replace=False))
        np.testing.assert_array_equal(rows.square(samples, np.float64), K[np.ix_(samples, samples)])
    beta = rng.normal(size=90)
    np.testing.assert_allclose(rows.product(beta), K @ beta, rtol=1e-12)
    np.testing.assert_array_equal(rows.diagonal, K.diagonal())


def test_subspace_steps_take_no_more_than_their_share_of_the_work(rng):
    X = rng.uniform(-1, 1, size=(300, 5))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    K, steps = stump_kernel(X), smo.Steps(smo.TINY, 10**7, None)
    beta, E, edge = np.zeros(300), -y, 50.0 * y
    steps.solve(K, K.diagonal().copy(), np.minimum(0, edge), np.maximum(0, edge), beta, E, 1e-3)
    earned = smo.SHARE * smo.PAIR_WORK * 300 * steps.pairs
    assert steps.subspaces > 0
    assert 0 < earned - steps.credit <= earned + 9 * 300**2  # one step may begin on what is left


@pytest.mark.parametrize("C", [0.1, 5.0])
def test_the_constant_of_a_kernel_drops_out(rng, C):
    """Theorems 2 and 5; and scaling the kernel by a is scaling C by a."""
    X, y = problem(rng)
    K = stump_kernel(X)
    plain = solve_kernel_hinge(K, y, C, tol=1e-10)
    shifted = solve_kernel_hinge(K + 7.0, y, C, tol=1e-10)
    scaled = solve_kernel_hinge(4.0 * K, y, C / 4.0, tol=1e-10)
    expected = K @ plain.w + plain.b
    np.testing.assert_allclose((K + 7.0) @ shifted.w + shifted.b, expected, atol=1e-7)
    np.testing.assert_allclose(4.0 * K @ scaled.w + scaled.b, expected, atol=1e-7)


def test_path_equals_separate_solutions(rng):
    X, y = problem(rng)
    K = stump_kernel(X)
    weight = rng.integers(1, 4, size=y.size).astype(float)
    Cs = 2.0 ** np.arange(-9, 6, 2)
    path = kernel_hinge_path(K, y, Cs, sample_weight=weight, tol=1e-9)
    for C, warm in zip(Cs, path, strict=True):
        cold = solve_kernel_hinge(K, y, C * weight, tol=1e-9)
        assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
        assert warm.gap <= 1e-6 * max(1.0, warm.objective)


def test_warm_start_at_the_optimum_takes_no_steps(rng):
    X, y = problem(rng)
    K = perceptron_kernel(X)
    first = solve_kernel_hinge(K, y, 2.0, tol=1e-6)
    again = solve_kernel_hinge(K, y, 2.0, start=first.w, tol=2e-6)
    assert again.n_iter == 0


@pytest.mark.parametrize("kernel", [stump_kernel, gaussian_kernel])
def test_cross_validation_counts_what_libsvm_counts(rng, kernel):
    X = rng.uniform(-1, 1, size=(90, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=90) > 0, 1.0, -1.0)
    K, Cs = kernel(X), [0.01, 0.1, 1.0, 10.0]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    expected = [
        [
            np.sum(
                SVC(C=C, kernel="precomputed", tol=1e-9)
                .fit(K[np.ix_(train, train)], y[train])
                .predict(K[np.ix_(test, train)])
                == y[test]
            )
            for train, test in folds
        ]
        for C in Cs
    ]
    np.testing.assert_array_equal(cross_validate_path(K, y, Cs, folds, tol=1e-9), expected)


def test_cross_validation_of_several_classes_and_of_a_class_that_a_fold_lacks(rng):
    X = np.concatenate(
        [rng.normal(size=(8, 2)) + 6 * np.array(center) for center in [(0, 0), (0, 1), (1, 0)]]
    )
    labels = np.repeat(np.arange(3), 8)
    Y = np.where(labels[:, np.newaxis] == np.arange(3), 1.0, -1.0)
    everything, without_third = np.arange(24), np.arange(16)
    folds = [(everything, everything), (without_third, everything)]
    np.testing.assert_array_equal(
        cross_validate_path(perceptron_kernel(X), Y, [10.0], folds, tol=1e-6), [[24, 16]]
    )
    one_label = [(np.arange(8), np.arange(16))]
    y = np.where(labels == 0, 1.0, -1.0)
    np.testing.assert_array_equal(cross_validate_path(perceptron_kernel(X), y, [1.0], one_label), [[8]])


@pytest.mark.parametrize("several", [False, True])
def test_cross_validation_does_not_depend_on_threads(rng, monkeypatch, several):
    X = rng.uniform(-1, 1, size=(220, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=220) > 0, 1.0, -1.0)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    Y = np.column_stack([y, -y, -np.ones(220)]) if several else y
    counts = []
    for workers in (1, 3):
        monkeypatch.setattr(kernel_hinge, "thread_count", lambda workers=workers: workers)
        counts.append(cross_validate_path(stump_kernel(X), Y, [0.1, 10.0], folds))
    np.testing.assert_array_equal(*counts)


def test_weights_count_like_repeated_samples_in_cross_validation(rng):
    X = rng.uniform(-1, 1, size=(60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    weight = rng.integers(0, 4, size=60)
    rows = np.repeat(np.arange(60), weight)
    fold = np.arange(60) % 3
    plain = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    repeated = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
    K, Cs = perceptron_kernel(X), [0.1, 1.0, 10.0]
    np.testing.assert_array_equal(
        cross_validate_path(K, y, Cs, plain, sample_weight=weight, tol=1e-9),
        cross_validate_path(K[np.ix_(rows, rows)], y[rows], Cs, repeated, tol=1e-9),
    )


@pytest.mark.parametrize(
    ("K", "y", "C", "message"),
    [
        (np.zeros((2, 3)), [1.0, -1.0], 1.0, "shape"),
        (np.zeros((2, 2)), [1.0, 1.0], 1.0, "both present"),
        (np.zeros((2, 2)), [0.0, 1.0], 1.0, "labels -1 and"),
        (np.full((2, 2), np.nan), [1.0, -1.0], 1.0, "NaN"),
        (np.zeros((2, 2)), [1.0, -1.0], -1.0, "C must not be negative"),
        (np.zeros((2, 2)), [1.0, -1.0], np.nan, "C must not be negative"),
    ],
)
def test_bad_input_is_named(K, y, C, message):
    with pytest.raises(ValueError, match=message):
        solve_kernel_hinge(K, np.array(y), C)


# ---- NumPy twins of the compiled steps


def positive_matrix(rng, n=12):
    A = rng.normal(size=(n, n + 2))
    return A @ A.T


def centered(K, free):
    """What `_factor` factors: distances from the first free variable, plus a constant of their size."""
    r = free[0]
    D = K[np.ix_(free, free)] - K[free, r][:, np.newaxis] - K[r, free][np.newaxis] + K[r, r]
    return D + D.diagonal().max()


def factored(K, free):
    """Factor over these variables, and those it keeps."""
    kept = np.array(free)
    U, size = smo._factor(K, kept)
    return kept[:size], np.triu(U[:size, :size])  # what lies below the diagonal is never read


def test_factor_and_deletion_equal_numpy(rng):
    K = positive_matrix(rng)
    free = np.array([1, 3, 4, 7, 8, 11])
    kept, U = factored(K, free)
    np.testing.assert_array_equal(kept, free)
    np.testing.assert_allclose(U.T @ U, centered(K, free), atol=1e-9)
    for size, first in ((6, 2), (5, 0), (4, 3)):
        expected = np.delete(np.delete((U.T @ U)[:size, :size], first, 0), first, 1)
        remaining = np.delete(kept[:size], first)
        smo._delete(U, kept, first, size, np.empty(6))
        leading = np.triu(U[: size - 1, : size - 1])
        U[: size - 1, : size - 1] = leading
        np.testing.assert_allclose(leading.T @ leading, expected, atol=1e-9)
        np.testing.assert_array_equal(kept[: size - 1], remaining)


def test_factor_drops_dependent_variables(rng):
    K = positive_matrix(rng, 6)
    K = K[np.ix_([0, 1, 2, 1, 4], [0, 1, 2, 1, 4])]  # the fourth repeats the second
    kept, U = factored(K, np.arange(5))
    np.testing.assert_array_equal(kept, [0, 1, 2, 4])
    np.testing.assert_allclose(U.T @ U, centered(K, np.array([0, 1, 2, 4])), atol=1e-9)
    assert np.all(U.diagonal() > 0)


@pytest.mark.parametrize("size", [2, 5, 8])
def test_newton_direction_solves_the_equality_constrained_program(rng, size):
    K, E = positive_matrix(rng), rng.normal(size=12)
    free, U = factored(K, np.array([0, 2, 5, 6, 7, 9, 10, 11])[:size])
    ones = np.ones((1, size))
    system = np.block([[K[np.ix_(free, free)], ones.T], [ones, np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(-E[free], 0.0))[:size]
    direction = np.empty(size)
    smo._newton_direction(U, E, free, size, direction, np.empty(size))
    np.testing.assert_allclose(direction, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("size", [0, 3, 4, 9])
def test_multiples_of_rows_are_added_from_an_index_on(rng, size):
    M, rows, factor = rng.normal(size=(12, 7)), rng.permutation(12), rng.normal(size=9)
    target = rng.normal(size=7)
    expected = target.copy()
    expected[2:] += factor[:size] @ M[rows[:size], 2:]
    add_rows(target, M, rows, factor, size, 2)
    np.testing.assert_allclose(target, expected)


def test_step_ends_at_the_first_bound_or_at_the_minimum():
    beta, E = np.array([0.5, 0.5]), np.array([1.0, -1.0])
    direction, change = np.array([-1.0, 1.0]), np.array([-1.0, 1.0])
    free = np.array([0, 1])
    lower = np.zeros(2)
    t, first = smo._step_length(lower, np.array([9.0, 0.75]), beta, E, change, free, 2, direction)
    assert (t, first) == (0.25, 1)
    t, first = smo._step_length(lower - 9.0, np.full(2, 9.0), beta, E, change, free, 2, direction)
    assert (t, first) == (1.0, -1)
    assert smo._step_length(lower, np.ones(2), beta, -E, change, free, 2, direction) == (0.0, -1)


@pytest.mark.parametrize("seed", range(5))
def test_pair_step_equals_numpy(seed):
    rng = np.random.default_rng(seed)
    K, n = positive_matrix(rng, 30), 30
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    lower, upper = np.minimum(0.0, y), np.maximum(0.0, y)
    beta = np.where(rng.random(n) < 0.5, 0.5 * y, np.where(rng.random(n) < 0.5, y, 0.0))
    E, diagonal = rng.normal(size=n), K.diagonal().copy()
    may_rise, may_fall = beta < upper, beta > lower
    i = np.flatnonzero(may_rise)[E[may_rise].argmin()]
    curvature = np.maximum(K[i, i] + diagonal - 2 * K[i], smo.TINY)
    j = np.argmax(np.where(may_fall, np.maximum(E - E[i], 0.0) ** 2 / curvature, 0.0))
    t = min((E[j] - E[i]) / curvature[j], upper[i] - beta[i], beta[j] - lower[j])
    expected, moved = beta.copy(), E + t * (K[i] - K[j])
    expected[i] += t
    expected[j] -= t
    violation = moved[expected > lower].max() - moved[expected < upper].min()
    work = np.empty((3, n))
    steps, left = smo._pair_steps(
        K, diagonal, lower, upper, beta, E, work, work.view(np.int64), 1e-9, smo.TINY, 1
    )  # takes one step, then finds that its budget is spent
    assert steps == 1
    np.testing.assert_allclose(beta, expected, atol=1e-12)
    np.testing.assert_allclose(E, moved, atol=1e-12)
    assert left == pytest.approx(violation)


@pytest.mark.parametrize(("real", "whole"), [(np.float64, np.int64), (np.float32, np.int32)])
def test_extremes_are_found_among_the_bits(rng, real, whole):
    ends = [-3e30, 0.0, -3e30, 1e-40, smo.SHUT]
    with np.errstate(over="ignore"):  # infinite in single precision
        values = np.concatenate([rng.normal(size=300), ends]).astype(real)
    for start in (0, 10, 301, 303):
        part = values[start:].copy()
        assert smo._smallest(part.view(whole)) == part.argmin()
        sizes = np.abs(part)
        assert smo._largest(sizes.view(whole)) == sizes.argmax()
        fall = np.where(np.arange(part.size) % 2, real(1e30), real(0.0))
        assert smo._highest(part, fall) == (part - fall).max()


@pytest.mark.parametrize("size", [1.0, 1e3, 1e7])
def test_what_single_precision_loses_does_not_stay(rng, monkeypatch, size):
    """Gradients of all sizes against blocks in double precision alone."""
    X = rng.uniform(-1, 1, size=(700, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=700) > 0, 1.0, -1.0)
    K = size * stump_kernel(X)
    single = solve_kernel_hinge(K, y, 1.0)
    monkeypatch.setattr(smo, "SMALL", 10_000)
    double = solve_kernel_hinge(K, y, 1.0)
    assert single.converged
    assert not np.array_equal(single.w, double.w) or size > 1e6
    E, C = K @ single.w - y, np.where(y > 0, 1.0, 0.0)
    assert E[single.w > C - 1.0].max() - E[single.w < C].min() <= 2e-3
    assert single.dual_objective == pytest.approx(double.dual_objective, rel=1e-4)


def test_subspace_steps_only_descend(rng):
    K, n = positive_matrix(rng, 30), 30
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    beta = rng.uniform(-0.5, 0.5, size=n)
    beta -= beta.mean()
    E = K @ beta - y

    def value():
        return 0.5 * beta @ K @ beta - y @ beta

    before = value()
    steps = smo.Steps(smo.TINY, 10, None)
    steps.credit = 1e9
    assert steps._subspace(K, np.full(n, -1.0), np.full(n, 1.0), beta, E)
    assert steps.subspaces >= 1
    assert value() < before
    assert abs(beta.sum()) < 1e-10
    assert np.all(np.abs(beta) <= 1.0)
    np.testing.assert_allclose(E, K @ beta - y, atol=1e-9)
