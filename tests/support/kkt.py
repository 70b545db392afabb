"""One check of optimality for every master: the four Karush-Kuhn-Tucker conditions.

The problem is: minimize over w, b  penalty(w) + sum_i c_i loss(y_i, f_i),  f = H w + b,  c_i = C s_i.
With signed dual weights V (V_i = u_i y_i for a margin loss, V = u for regression) the optimum is where

- primal feasible:  w >= 0 if the problem says so, b = 0 if it has no intercept;
- dual domain:      u_i within the domain of the loss' conjugate; l1: scores H'V within [-1, 1] (or <= 1);
- complementary:    u_i belongs to the slope of the loss at f_i;
- stationary:       H'V belongs to the subdifferential of the penalty at w; sum V answers to the intercept.

To teach it a new loss or penalty, add a function to LOSSES or PENALTIES: it returns named violations, all
zero at the optimum and scaled so that one tolerance serves them all.
"""

from __future__ import annotations

import numpy as np


def _hinge(f, y, u, c, epsilon):
    """max(0, 1 - y f): 0 <= u <= c, u = 0 above the margin, u = c below it."""
    slack = 1.0 - y * f
    share = u / c
    return {
        "dual domain": np.maximum(-share, share - 1.0),
        "complementary": np.maximum(share * np.maximum(-slack, 0), (1.0 - share) * np.maximum(slack, 0)),
    }


def _squared_hinge(f, y, u, c, epsilon):
    """max(0, 1 - y f)^2: u = 2 c max(0, 1 - y f)."""
    share = u / (2.0 * c)
    return {"dual domain": -share, "complementary": np.abs(share - np.maximum(1.0 - y * f, 0.0))}


def _squared(f, y, u, c, epsilon):
    """1/2 (y - f)^2: u = c (y - f), no domain; f and y may have several outputs."""
    return {"complementary": np.abs(u / (c if u.ndim == 1 else c[:, None]) - (y - f))}


def _epsilon_insensitive(f, y, u, c, epsilon):
    """max(0, |y - f| - epsilon): |u| <= c, u = 0 inside the tube, u = +-c outside it."""
    residual, share = y - f, u / c
    above, below = residual - epsilon, -residual - epsilon  # positive outside the tube
    wrong_inside = np.abs(share) * np.maximum(np.where(share > 0, -above, -below), 0.0)
    wrong_outside = (1.0 - share) * np.maximum(above, 0.0) + (1.0 + share) * np.maximum(below, 0.0)
    return {"dual domain": np.abs(share) - 1.0, "complementary": np.maximum(wrong_inside, wrong_outside)}


def _exponential(f, y, u, c, epsilon):
    """exp(-y f): u = c exp(-y f)."""
    return {"dual domain": -u / c, "complementary": np.abs(u / c - np.exp(-y * f))}


def _l2(w, scores, nonnegative):
    """1/2 |w|^2: w = scores, or their positive part under w >= 0."""
    target = np.maximum(scores, 0.0) if nonnegative else scores
    return {"stationary": np.abs(w - target)}


def _l1(w, scores, nonnegative):
    """|w|: scores within [-1, 1] (<= 1 under w >= 0), and at its end, with w's sign, wherever w is not 0."""
    excess = (scores if nonnegative else np.abs(scores)) - 1.0
    return {"dual domain": excess, "stationary": np.abs(np.abs(w) - w * scores)}


LOSSES = {
    "hinge": _hinge,
    "squared_hinge": _squared_hinge,
    "squared": _squared,
    "epsilon_insensitive": _epsilon_insensitive,
    "exponential": _exponential,
}
PENALTIES = {"l2": _l2, "l1": _l1}


def _intercept(b, V, intercept):
    """No intercept: b = 0. Free: sum V = 0. Penalized by 1/2 b^2: b = sum V."""
    if intercept == "none":
        return {"primal feasible": np.abs(np.asarray(b))}
    total = V.sum(axis=0)
    return {"stationary": np.abs(total if intercept == "free" else b - total)}


def kkt_violations(
    H,
    y,
    solution,
    *,
    loss,
    penalty="l2",
    C=1.0,
    sample_weight=None,
    intercept="none",
    nonnegative=False,
    epsilon=0.0,
):
    """Largest violation of each of the four conditions, by name."""
    if intercept not in ("none", "free", "penalized"):
        raise ValueError(f"intercept={intercept!r}: use 'none', 'free' or 'penalized'.")
    H, y = np.asarray(H, dtype=float), np.asarray(y, dtype=float)
    c = C * (np.ones(len(H)) if sample_weight is None else np.asarray(sample_weight, dtype=float))
    kept = (
        c > 0
    )  # a sample of weight zero has no loss: its dual weight must vanish, which "dual domain" adds below
    f = H @ solution.w + solution.b
    margin_loss = loss in ("hinge", "squared_hinge", "exponential")
    V = solution.u * y if margin_loss else solution.u
    parts = [
        LOSSES[loss](f[kept], y[kept], solution.u[kept], c[kept], epsilon),
        {"dual domain": np.abs(solution.u[~kept])},
        PENALTIES[penalty](solution.w, H.T @ V, nonnegative),
        _intercept(solution.b, V, intercept),
    ]
    if nonnegative:
        parts.append({"primal feasible": -solution.w})
    worst = dict.fromkeys(("primal feasible", "dual domain", "complementary", "stationary"), 0.0)
    for part in parts:
        for name, violation in part.items():
            worst[name] = max(worst[name], float(np.max(violation, initial=0.0)))
    return worst


def assert_kkt(H, y, solution, *, tol=1e-6, **problem):
    """Assert that a ``Solution`` is primal feasible, in the dual domain, complementary and stationary.

    ``problem`` are the keywords of ``kkt_violations``. Every violation must be at most ``tol``.
    """
    assert np.all(np.isfinite(solution.u)), "dual weights are not finite"
    assert np.all(np.isfinite(solution.w)), "weights are not finite"
    worst = kkt_violations(H, y, solution, **problem)
    for name, violation in worst.items():
        assert violation <= tol, f"{name}: violated by {violation:.3g} > {tol:g} (all: {worst})"
