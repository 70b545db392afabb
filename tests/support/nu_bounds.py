"""Slow, obvious bounds of nu machines: the losses whose margin rho is free, and the optimum of DRM."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from support.slow_reference import box_qp


def soft_margin_loss(margins: np.ndarray, nu: float, q: int) -> float:
    """Minimum over rho of ``mean max(0, rho - margin)^q - nu rho``; for q = 2 by bisection of its slope."""
    if q == 1:
        rho = best_margin(margins, nu)
        return float(np.mean(np.maximum(0.0, rho - margins)) - nu * rho)
    low, high = margins.min(), margins.max() + nu
    for _ in range(100):
        rho = 0.5 * (low + high)
        low, high = (rho, high) if 2.0 * np.mean(np.maximum(0.0, rho - margins)) < nu else (low, rho)
    return float(np.mean(np.maximum(0.0, rho - margins) ** 2) - nu * rho)


def best_margin(margins: np.ndarray, nu: float) -> float:
    """The margin that minimizes ``mean max(0, rho - margin) - nu rho``: one of those that occur."""
    return min(margins, key=lambda rho: np.mean(np.maximum(0.0, rho - margins)) - nu * rho)


def drm_bounds(H: np.ndarray, y: np.ndarray, model: Any) -> tuple[float, float]:
    """Enclose T times the least ``ridge |w|^2 + loss`` over lengths of at most 1.

    Any dual weights that are feasible bound it from below, any w from above. Those for a kappa solve the
    problem with ``kappa |w|^2`` and no bound on lengths; q = 1 has the same ones for every kappa.
    """
    n, T, nu = len(H), model.n_components, model.nu
    ridge, longest = 2.0 * model.mu * (T - 1), np.linalg.norm(H, axis=1).max()
    A, longest = y[:, None] * H, longest if longest > 0 else 1.0

    def bounds(kappa: float) -> tuple[float, float]:
        u = _nu_weights(A / longest, nu, model.q, kappa / longest**2)
        r = A.T @ u
        length = np.linalg.norm(r)
        lower = -(length**2) / (4.0 * ridge) if length < 2.0 * ridge else ridge - length
        w = r / max(length, 2.0 * kappa, 1e-300)
        attained = ridge * w @ w + soft_margin_loss(A @ w, nu, model.q)
        upper = min(attained, soft_margin_loss(np.zeros(n), nu, model.q))  # w = 0 where the hulls meet
        return T * (lower - (model.q == 2) * 0.25 * n * u @ u), T * upper

    if model.q == 1:
        return bounds(ridge)
    low, high = np.log(max(ridge, 1e-9 * nu * longest)), np.log(max(ridge, 0.5 * nu * longest) * 1.001)
    best = minimize_scalar(lambda t: -bounds(np.exp(t))[0], bounds=(low, high), method="bounded").x
    found = bounds(np.exp(low)), bounds(np.exp(best))
    return max(found)[0], min(upper for _, upper in found)


def _nu_weights(A: np.ndarray, nu: float, q: int, kappa: float) -> np.ndarray:
    """Least ``|A'u|^2 [+ n kappa |u|^2, q = 2]`` over the feasible dual weights, very nearly; feasible."""
    n = len(A)
    Q, high = A @ A.T, np.full(n, 1.0 / n if q == 1 else np.inf)
    if q == 2:
        Q = Q + n * kappa * np.eye(n)
    u = np.clip(box_qp(Q, np.zeros(n), high, np.ones((1, n)), np.array([nu]))[0], 0.0, high)
    if u.sum() < nu and q == 1:
        room = high - u
        return u + room * min(1.0, (nu - u.sum()) / max(room.sum(), 1e-300))
    return u * (nu / u.sum())
