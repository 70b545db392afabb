"""Small problems for the tests of the margin masters, some with an optimum known by construction."""

from __future__ import annotations

import numpy as np

SHAPES = {"long": (40, 6), "wide": (10, 24), "square": (20, 20)}


def problem(seed, shape="long", kind="signs", weighted=False):
    """Random labels and columns that lean towards them: H, y, sample_weight.

    ``signs`` has two equal and one constant column and is int8, ``reals`` is float64.
    """
    rng = np.random.default_rng(seed)
    n, J = SHAPES[shape]
    y = np.where(rng.random(n) < 0.6, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    H = rng.normal(size=(n, J)) + 0.6 * y[:, None]
    if kind == "signs":
        H = np.where(H > 0, 1, -1).astype(np.int8)
        H[:, 1], H[:, 2] = H[:, 0], 1
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    if weighted:
        weight[:2] = 2.0
    return H, y, weight


def solve_along(master, H):
    """Add the columns one by one and solve after each."""
    for column in H.T:
        master.add(column)
        solution = master.solve()
    return solution


def known_optimum(seed, loss, n=30, J=5):
    """Columns for which a chosen pair (w, u) is optimal at C = 0.5 without intercept: H, y, w, u.

    The last column bends every margin to the value that u asks for.
    """
    rng = np.random.default_rng(seed)
    C = 0.5
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if loss == "hinge":
        u = np.repeat([0.0, 0.2, C], [n // 3, n // 3, n - 2 * (n // 3)])
        margin = np.where(u == 0, 1.0 + rng.random(n), np.where(u == C, rng.random(n), 1.0))
    else:
        margin = 1.5 * rng.random(n)
        u = 2.0 * C * np.maximum(1.0 - margin, 0.0)
    A = 0.1 * rng.normal(size=(n, J - 1))
    w = A.T @ u
    rest = margin - A @ w
    last = np.sqrt(u @ rest)
    H = y[:, None] * np.column_stack([A, rest / last])
    return H, y, np.append(w, last), u
