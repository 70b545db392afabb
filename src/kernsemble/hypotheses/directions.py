r"""Directions that turn the perceptron kernel into stump kernels on projections: spread out, or generated.

For xi uniform on the sphere ``E|<xi, x>| = ||x||_2 Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2))``, the constant of
`kernels.perceptron_constants`. So with P directions, and c the inverse of that constant,

    K(x, z) = -(c / P) sum_p |<xi_p, x - z>|

stands for ``-||x - z||_2``: the stump kernel on projections. Directions may be spread out, or generated: each
found for the machine that the earlier ones make, and added with all its thresholds.

The price. With dual weights V (their sum is zero) a machine loses ``1/2 V'K V`` in the dual. One more
direction adds to K the matrix of ``-(c / P) |<xi, x_i - x_j>|``, hence to the loss (`hypotheses.knots`)

    price(xi) = (c / P) int B_xi(t)^2 dt,    B_xi(t) = sum of V_i over the rows with <xi, x_i> <= t:

half the squared norm, in the dual, of the functions along xi. The dual optimum with xi is at least the
objective of the old V with xi, so the objective falls, and by the price at most. A direction found twice
counts twice. The price is homogeneous of degree 1, and the order of the projections is constant nearly
everywhere, so its gradient is

    gradient = -(c / P) sum_i V_i S_i x_i,    S_i = sum_j V_j sign(<xi, x_i - x_j>),

and ``<gradient, xi> = price``.

The price has many local maxima. The search takes the best of random directions, and of differences of two
rows, and climbs from each along the sphere: steps are halved until the price rises. What is found is no
global maximum, so nothing is certified about directions that were not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from sklearn.utils import check_random_state

_REPULSIONS, _REPULSION_WORK = 100, 2_000_000_000  # most steps of lines that repel each other, and products
_SOFT = 1e-4  # keeps the forces between lines finite
_CANDIDATES, _CLIMBERS, _CLIMBS, _HALVINGS = 48, 4, 12, 6  # of a search
_ROWS = 20_000  # rows that a search looks at, at most


@dataclass(frozen=True)
class Directions:
    """Directions (n_features, n_directions), times what makes their mean of distances ``||x||_2``."""

    matrix: np.ndarray

    @classmethod
    def draw(cls, n_features: int, n_directions: int, random_state: Any) -> Directions:
        """Directions of low discrepancy: a half circle in equal parts, or lines that repelled each other.

        Lines of least energy leave 1/2 to 1/30 of the error of random ones, the less the more there are per
        feature.
        """
        rng = check_random_state(random_state)
        if n_features == 1:
            return cls(np.ones((1, 1)))
        if n_features == 2:
            angle = np.pi * (np.arange(n_directions) + rng.uniform()) / n_directions
            directions = np.array([np.cos(angle), np.sin(angle)])
        else:
            directions = _repelled(_orthogonal(n_features, n_directions, rng))
        return cls(directions * scale_of_mean(n_features, n_directions))

    def project(self, X: np.ndarray) -> np.ndarray:
        """Projections (n, n_directions)."""
        return np.asarray(X, dtype=np.float64) @ self.matrix


def scale_of_mean(n_features: int, n_directions: int) -> float:
    """The factor c / P of the module."""
    log_constant = gammaln(0.5 * n_features + 0.5) - gammaln(0.5 * n_features)
    return float(np.sqrt(np.pi) * np.exp(log_constant) / n_directions)


def _orthogonal(n_features: int, n_directions: int, rng: np.random.RandomState) -> np.ndarray:
    """Random orthogonal bases side by side, (n_features, n_directions)."""
    n_bases = -(-n_directions // n_features)
    bases = [np.linalg.qr(rng.normal(size=(n_features, n_features)))[0] for _ in range(n_bases)]
    return np.concatenate(bases, axis=1)[:, :n_directions]


def _repelled(directions: np.ndarray) -> np.ndarray:
    """Lines after some steps down the sum over pairs of 1 / sin(angle between them)."""
    lines = directions.T.copy()
    for _ in range(int(min(_REPULSIONS, _REPULSION_WORK // (lines.size * len(lines))))):
        cosine = lines @ lines.T
        np.fill_diagonal(cosine, 0.0)
        force = cosine / (1.0 + _SOFT - cosine**2) ** 1.5
        push = force @ lines
        push -= lines * np.sum(lines * push, axis=1, keepdims=True)
        lines -= 0.5 * push / np.maximum(np.abs(force).sum(axis=1).mean(), np.finfo(float).tiny)
        lines /= np.linalg.norm(lines, axis=1, keepdims=True)
    return lines.T


def price(z: np.ndarray, V: np.ndarray) -> float:
    """``int B(t)^2 dt`` along projections z (n,), summed over the columns of V (n, K), which sum to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.directions import price
    >>> price(np.array([0.0, 3.0]), np.array([[-1.0], [1.0]]))
    3.0
    """
    order = np.argsort(z)
    below = np.cumsum(V[order], axis=0)[:-1]
    return float(np.diff(z[order]) @ np.einsum("ik,ik->i", below, below))


def price_and_gradient(X: np.ndarray, V: np.ndarray, xi: np.ndarray) -> tuple[float, np.ndarray]:
    """The price of xi (n_features,) and its gradient there."""
    order = np.argsort(X @ xi, kind="stable")
    own = V[order]
    twice = 2.0 * np.cumsum(own, axis=0) - own - own.sum(axis=0)  # S: what lies below less what lies above
    pull = np.empty(len(X))
    pull[order] = np.einsum("ik,ik->i", own, twice)
    gradient = -pull @ X
    return float(gradient @ xi), gradient


def find_direction(X: np.ndarray, V: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Find a direction of length 1 with a large price, for the dual weights V (n, K) of K machines.

    Rows beyond 20,000 with a weight are sampled.
    """
    rows = np.flatnonzero(V.any(axis=1))
    if len(rows) > _ROWS:
        rows = np.sort(rng.choice(rows, _ROWS, replace=False))
    X, V = X[rows], V[rows] - V[rows].mean(axis=0)
    X = X - X.mean(axis=0)
    drawn = rng.normal(size=(_CANDIDATES, X.shape[1]))
    ends = rng.randint(len(X), size=(2, _CANDIDATES))
    starts = _normalized(np.concatenate([drawn, X[ends[0]] - X[ends[1]]]))
    prices = [price(z, V) for z in starts @ X.T]
    best = np.argsort(prices)[::-1][:_CLIMBERS]
    climbed = [_climb(X, V, starts[k]) for k in best]
    return max(climbed, key=lambda pair: pair[0])[1]


def _climb(X: np.ndarray, V: np.ndarray, xi: np.ndarray) -> tuple[float, np.ndarray]:
    """Climb along the sphere; the first step of each turn goes to the gradient's direction."""
    value, gradient = price_and_gradient(X, V, xi)
    for _ in range(_CLIMBS):
        along = gradient - value * xi  # the gradient's part along the sphere; <gradient, xi> = value
        step = 1.0 / max(value, np.finfo(float).tiny)
        for _ in range(_HALVINGS):
            trial = _normalized(xi + step * along)
            trial_value, trial_gradient = price_and_gradient(X, V, trial)
            if trial_value > value:
                break
            step *= 0.5
        else:
            break
        xi, value, gradient = trial, trial_value, trial_gradient
    return value, xi


def _normalized(vectors: Sequence | np.ndarray) -> np.ndarray:
    """Vectors over their lengths; a vector of zeros becomes the first axis."""
    vectors = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    axis = np.zeros(vectors.shape[-1])
    axis[0] = 1.0
    return np.where(length > 0.0, vectors / np.where(length > 0.0, length, 1.0), axis)
