"""Slow, obvious optima of the margin problems, by which fits to small data are judged.

Every problem of the library over a finite list of hypotheses is one of two::

    min_{w, g}  1/2 |w|^2 or |w|_1  +  q'g  +  sum_i c_i max(0, r_i - A_i w - G_i g)^p      [w >= 0]
    max_u       r'u - 1/2 |[A'u]|^2 [- sum_i u_i^2 / (4 c_i), p = 2],      0 <= u [<= c, p = 1],  G'u = q

An interior point method of forty lines solves the first, scipy's linear programs the second. Both answer
with two numbers that hold whatever their own accuracy: a value that is attained, and a bound of all values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog


@dataclass(frozen=True)
class Rows:
    """One problem: A = signs * H, unpenalized columns G with linear cost q, aims r, costs c, power p.

    The first ``positive`` columns have weights that are not negative.
    """

    H: np.ndarray
    signs: np.ndarray
    G: np.ndarray
    q: np.ndarray
    r: np.ndarray
    c: np.ndarray
    p: int = 1
    positive: int = 0

    @property
    def A(self) -> np.ndarray:  # noqa: N802 - a matrix
        """Columns with the signs of their rows."""
        return self.signs[:, None] * self.H

    def losses(self, f: np.ndarray, g: np.ndarray) -> float:
        """Return the cost of outputs f = H w, repeated as often as the rows need it, without the penalty."""
        slack = self.r - self.signs * np.resize(f, len(self.r)) - self.G @ g
        return float(self.q @ g + self.c @ np.maximum(0.0, slack) ** self.p)


def hinge_rows(H, y, c, intercept="none", p=1, positive=False) -> Rows:
    """Return the hinge over the columns H; a penalized intercept becomes a column."""
    n, J = H.shape
    if intercept == "penalized":
        H = np.column_stack([H, np.ones(n)])
    G = y[:, None] * np.ones((n, 1)) if intercept == "free" else np.zeros((n, 0))
    return Rows(H, y, G, np.zeros(G.shape[1]), np.ones(n), c, p, J if positive else 0)


def tube_rows(H, y, c, epsilon, intercept="none", positive=False) -> Rows:
    """Return the epsilon-insensitive loss: every sample twice, above and below the tube."""
    one = hinge_rows(H, np.ones(len(y)), c, intercept, positive=positive)
    signs, G = np.repeat([1.0, -1.0], len(y)), np.vstack([one.G, -one.G])
    aims = np.r_[y - epsilon, -y - epsilon]
    return Rows(np.vstack([one.H, one.H]), signs, G, one.q, aims, np.r_[c, c], positive=one.positive)


def l2_bounds(rows: Rows) -> tuple[float, float]:
    """Return a lower and an upper bound of the optimal value under 1/2 |w|^2."""
    A, m, J = rows.A, len(rows.r), rows.positive
    Q = A @ A.T
    if rows.p == 2:
        Q = Q + np.diag(0.5 / rows.c)
    high = np.full(m, np.inf) if rows.p == 2 else rows.c
    linear, G = -rows.r, rows.G
    if J:  # |[A'u]_+| is the least |A'u + s| over s >= 0
        Q = np.block([[Q, A[:, :J]], [A[:, :J].T, np.eye(J)]])
        high, linear = np.r_[high, np.full(J, np.inf)], np.r_[linear, np.zeros(J)]
        G = np.vstack([G, np.zeros((J, G.shape[1]))])
    x, g = box_qp(Q, linear, high, G.T, rows.q)
    u = np.clip(x[:m], 0.0, high[:m])
    w = A.T @ u
    w[:J] = np.maximum(w[:J], 0.0)
    lower = rows.r @ u - 0.5 * w @ w - (np.sum(u**2 / (4 * rows.c)) if rows.p == 2 else 0.0)
    # the optimal offsets are of the size of the aims, or that of what was found for them
    missed = float(np.abs(rows.G.T @ u - rows.q) @ (1.0 + np.maximum(np.abs(g), np.abs(rows.r).max())))
    upper = 0.5 * w @ w + min(rows.losses(rows.H @ w, -g), rows.losses(rows.H @ w, g))
    return float(lower - missed), float(upper)


def box_qp(Q, linear, high, E, e, steps=80):
    """Minimize 1/2 x'Qx + linear'x subject to 0 <= x <= high, E x = e; returns x and the multipliers of E.

    Mehrotra's predictor and corrector, unknowns and equations scaled by the diagonal.
    """
    n, k = len(linear), len(e)
    bounded = np.isfinite(high)
    x = np.where(bounded, 0.5 * np.where(bounded, high, 1.0), 1.0)
    v, low, up = np.zeros(k), np.ones(n), bounded.astype(float)
    for _ in range(steps):
        room = np.where(bounded, high - x, 1.0)
        mu = (x @ low + room @ up) / (n + bounded.sum())
        if not 1e-16 * (1e-8 + abs(linear @ x)) < mu < 1e200:
            break
        residuals = Q @ x + linear - E.T @ v - low + up, E @ x - e
        matrix = Q + np.diag(low / x + up / room)
        guess = _direction(matrix, E, residuals, x * low, room * up, (x, room, low, up))
        ahead = _longest(x, room, low, up, guess, bounded)
        after = (x + ahead * guess[0]) @ (low + ahead * guess[2])
        after += (room - ahead * guess[0]) @ ((up + ahead * guess[3]) * bounded)
        center = (after / (n + bounded.sum()) / mu) ** 3 * mu
        below, above = x * low + guess[0] * guess[2] - center, room * up - guess[0] * guess[3] - center
        step = _direction(matrix, E, residuals, below, above * bounded, (x, room, low, up))
        ahead = 0.99 * _longest(x, room, low, up, step, bounded)
        moved = [a + ahead * d for a, d in zip((x, v, low, up), step, strict=True)]
        if not all(np.isfinite(a).all() for a in moved) or np.any(moved[0] >= high):
            break
        x, v, low, up = moved
    return x, v


def _direction(matrix, E, residuals, below, above, point):
    """Newton's step of (x, v, low, up) for given complementarity residuals."""
    x, room, low, up = point
    scale = 1.0 / np.sqrt(matrix.diagonal())
    right = scale * (-residuals[0] - below / x + above / room)
    scaled = scale[:, None] * matrix * scale
    ES = E * scale
    solved = np.linalg.solve(scaled + 1e-15 * np.eye(len(x)), np.column_stack([right, ES.T]))
    if len(E):
        dv = np.linalg.lstsq(ES @ solved[:, 1:], -residuals[1] - ES @ solved[:, 0], rcond=None)[0]
    else:
        dv = np.zeros(0)
    dx = scale * (solved[:, 0] + solved[:, 1:] @ dv)
    return dx, dv, -(below + low * dx) / x, (-above + up * dx) / room * (up > 0)


def _longest(x, room, low, up, step, bounded):
    """Longest step of at most 1 that keeps everything positive."""
    ratios = [1.0]
    for value, change, counts in (
        (x, step[0], True),
        (room, -step[0], bounded),
        (low, step[2], True),
        (up, step[3], bounded),
    ):
        falling = (change < 0) & counts
        ratios.append(np.min(-value[falling] / change[falling], initial=np.inf))
    return min(ratios)


def l1_bounds(rows: Rows) -> tuple[float, float]:
    """Return a lower and an upper bound of the optimal value under |w|_1."""
    A, (m, J), k = rows.A, rows.H.shape, rows.G.shape[1]
    table = np.hstack([A, -A, rows.G, np.eye(m)])
    cost = np.r_[np.ones(2 * J), rows.q, rows.c]
    negative = [(0, 0)] * rows.positive + [(0, None)] * (J - rows.positive)
    bounds = [(0, None)] * J + negative + [(None, None)] * k + [(0, None)] * m
    found = linprog(cost, A_ub=-table, b_ub=-rows.r, bounds=bounds, method="highs")
    if found.x is None:
        return -np.inf, np.inf
    w, g = found.x[:J] - found.x[J : 2 * J], found.x[2 * J : 2 * J + k]
    u = np.clip(-found.ineqlin.marginals, 0.0, rows.c)
    scores = A.T @ u
    scores[rows.positive :] = np.abs(scores[rows.positive :])
    lower = rows.r @ (u / max(1.0, scores.max(initial=0.0))) - np.abs(rows.G.T @ u) @ (1.0 + np.abs(g))
    return float(lower), float(np.abs(w).sum() + rows.losses(rows.H @ w, g))
