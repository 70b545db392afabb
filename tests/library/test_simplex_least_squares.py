"""Least squares on simplex codes: from J x J equations, against other judges."""

import numpy as np
import pytest
from support.kkt import assert_kkt

from kernsemble.masters.simplex_least_squares import SimplexLeastSquares, simplex_codes

SHAPES = [(30, 4, 3), (12, 40, 4), (25, 8, 2)]  # samples (long, wide), columns, classes


def problem(rng, n, n_columns, n_classes, doubled=False):
    """Labels and random signs; on request also repeated, opposite and constant columns."""
    labels = rng.permutation(np.arange(n) % n_classes)
    H = rng.choice(np.array([-1, 1], dtype=np.int8), (n, n_columns))
    if doubled:
        H = np.hstack([H, H[:, :2], -H[:, :1], np.ones((n, 1), dtype=np.int8), H[:, :1]])
    return labels, H


def solved(labels, H, C, master=SimplexLeastSquares, **options):
    master = master(labels, C, **options)
    for column in H.T:
        master.add(column)
        solution = master.solve()
    return master, solution


def ridge(labels, H, C, weight=None):
    """Weights and intercepts by solving the (J + 1) x (J + 1) equations with a free intercept at once."""
    L = simplex_codes(labels.max() + 1)[labels]
    s = np.ones(len(labels)) if weight is None else weight
    A = np.column_stack([H, np.ones(len(H))]).astype(float)
    penalty = np.diag([*np.full(H.shape[1], 1 / C), 0.0])
    theta = np.linalg.solve(A.T @ (s[:, None] * A) + penalty, A.T @ (s[:, None] * L))
    return theta[:-1], theta[-1]


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 43])
def test_codes_are_a_regular_simplex(n_classes):
    codes = simplex_codes(n_classes)
    assert codes.shape == (n_classes, n_classes - 1)
    expected = np.full((n_classes, n_classes), -1 / (n_classes - 1))
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(codes @ codes.T, expected, atol=1e-13)
    np.testing.assert_allclose(codes.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shape", SHAPES)
def test_optimal_by_kkt_and_by_ridge(rng, shape, C):
    labels, H = problem(rng, *shape, doubled=True)
    _, solution = solved(labels, H, C)
    W, b = ridge(labels, H, C)
    np.testing.assert_allclose(solution.w, W, atol=1e-8 * max(1, C))
    np.testing.assert_allclose(solution.b, b, atol=1e-9 * max(1, C))
    L = simplex_codes(shape[2])[labels]
    assert_kkt(H, L, solution, loss="squared", C=C, intercept="free", tol=1e-9 * max(1, C))
    residual = L - H @ solution.w - solution.b
    objective = 0.5 * (solution.w**2).sum() + 0.5 * C * (residual**2).sum()
    assert solution.objective == pytest.approx(objective, rel=1e-10)
    assert 0 <= solution.gap <= 1e-12 * objective


def test_real_valued_columns_after_signs(rng):
    labels, H = problem(rng, 25, 4, 3)
    H = np.hstack([H.astype(float), np.cos(rng.normal(size=(25, 3)))])
    master = SimplexLeastSquares(labels, 2.0)
    for j, column in enumerate(H.T):
        master.add(column.astype(np.int8) if j < 4 else column)
    np.testing.assert_allclose(master.solve().w, ridge(labels, H, 2.0)[0], atol=1e-10)


def test_many_columns_do_not_drift(rng):
    """300 rounds of updates against one solve from nothing, at a C that leaves little regularization."""
    labels, H = problem(rng, 200, 300, 4)
    _, solution = solved(labels, H, 1e3)
    np.testing.assert_allclose(solution.w, ridge(labels, H, 1e3)[0], atol=1e-6)
    assert solution.gap <= 1e-9 * solution.objective


def test_the_start_is_the_centered_codes(rng):
    labels, _ = problem(rng, 10, 1, 3)
    codes = simplex_codes(3)[labels]
    U = SimplexLeastSquares(labels, 7.0).pricing_weights()
    np.testing.assert_allclose(U, 7.0 * (codes - codes.mean(axis=0)), atol=1e-13)
