r"""The infinite ensembles behind the distance kernels, written out and sampled.

A machine with multipliers ``beta_i = lambda_i y_i`` is the ensemble (4) with the weight function
``w(alpha) = r(alpha) sum_i beta_i h_alpha(x_i)``. For stumps (r_S = 1/2, both signs q together)::

    f(x) = 1/2 sum_d int_{L_d}^{R_d} g_d(alpha) sign(x_d - alpha) d alpha + b,
    g_d(alpha) = sum_i beta_i sign(x_id - alpha),

a step function between the training values. So every f_d is piecewise linear: the machine is an additive
model of linear splines with knots at the training points. For perceptrons (r_P^2 = 1 / (2 Xi_D))::

    f(x) = r_P^2 int_{||theta|| = 1} int_{-R}^{R} g(theta, alpha) sign(theta'x - alpha) d alpha d theta + b,
    g(theta, alpha) = sum_i beta_i sign(theta'x_i - alpha).

Where g is negative, the negated hypothesis takes its place: all weights are non-negative (Section III B).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kernsemble.kernels import perceptron_constants


def stump_weights(
    values: np.ndarray, beta: np.ndarray, lower: float, upper: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the thresholds L = t_0 < .. < t_m = R of one feature, and g_d between neighbors (m of them)."""
    cuts, place = np.unique(values, return_inverse=True)
    jumps = np.bincount(place, weights=beta)
    steps = beta.sum() - 2.0 * np.concatenate([[0.0], np.cumsum(jumps)])
    return np.concatenate([[lower], cuts, [upper]]), steps


def stump_ensemble_decision(
    X: np.ndarray, beta: np.ndarray, Z: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Integrate the infinite ensemble of stumps at the rows of Z (inside the box), the intercept left out."""
    scores = np.zeros(len(Z))
    for d in range(X.shape[1]):
        cuts, steps = stump_weights(X[:, d], beta, lower[d], upper[d])
        area = np.concatenate([[0.0], np.cumsum(steps * np.diff(cuts))])
        scores += np.interp(Z[:, d], cuts, area) - 0.5 * area[-1]
    return scores


def perceptron_weights(
    X: np.ndarray, beta: np.ndarray, angles: np.ndarray, thresholds: np.ndarray
) -> np.ndarray:
    """Return g(theta, alpha) for directions of the plane (rows) and thresholds (columns)."""
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    sides = np.sign((directions @ X.T)[:, np.newaxis, :] - thresholds[np.newaxis, :, np.newaxis])
    return sides @ beta


def perceptron_ensemble_decision(
    X: np.ndarray, beta: np.ndarray, Z: np.ndarray, radius: float, n_angles: int
) -> np.ndarray:
    """Integrate the infinite ensemble of perceptrons of the plane: angles by the rectangle rule."""
    scores = np.zeros(len(Z))
    for angle in (np.arange(n_angles) + 0.5) * (np.pi / n_angles):  # theta and -theta contribute equally
        theta = np.array([np.cos(angle), np.sin(angle)])
        projected = (X @ theta)[:, np.newaxis]
        line = stump_ensemble_decision(
            projected, beta, (Z @ theta)[:, np.newaxis], np.array([-radius]), np.array([radius])
        )
        scores += line
    weight = 2.0 * 2.0 * perceptron_constants(2, radius).r ** 2  # both half circles; g / 2 in the line
    return scores * weight * np.pi / n_angles


def sample_stumps(
    lower: np.ndarray, upper: np.ndarray, n_hypotheses: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw features and thresholds uniformly from the measure of Definition 2."""
    lengths = upper - lower
    features = rng.choice(len(lengths), size=n_hypotheses, p=lengths / lengths.sum())
    return features, lower[features] + lengths[features] * rng.random(n_hypotheses)


def sample_perceptrons(
    n_features: int, radius: float, n_hypotheses: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw directions and thresholds uniformly from the measure of Definition 3."""
    directions = rng.standard_normal((n_hypotheses, n_features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions, radius * (2.0 * rng.random(n_hypotheses) - 1.0)


class SampledFamily:
    """Hypotheses drawn from the measure of a distance kernel, and that kernel's constant Delta.

    Parameters
    ----------
    name : {"stump", "perceptron"}
    X : ndarray of shape (n, d)
        The box or the ball is the smallest that holds these points.
    rng : Generator
    """

    def __init__(self, name: str, X: np.ndarray, rng: np.random.Generator) -> None:
        self.name = name
        self._rng = rng
        self._n_features = X.shape[1]
        self._lower, self._upper = X.min(axis=0), X.max(axis=0)
        self._radius = float(np.sqrt((X**2).sum(axis=1).max()))
        if name == "stump":
            self.constant = 0.5 * float((self._upper - self._lower).sum())
        else:
            self.constant = perceptron_constants(self._n_features, self._radius).Delta

    def outputs(self, n_hypotheses: int, *parts: np.ndarray) -> list[np.ndarray]:
        """Draw hypotheses and return their outputs (float32) on each part of the data."""
        if self.name == "stump":
            features, cuts = sample_stumps(self._lower, self._upper, n_hypotheses, self._rng)
            return [np.where(Z[:, features] > cuts, np.float32(1), np.float32(-1)) for Z in parts]
        theta, cuts = sample_perceptrons(self._n_features, self._radius, n_hypotheses, self._rng)
        return [np.where(cuts < Z @ theta.T, np.float32(1), np.float32(-1)) for Z in parts]


def sampled_kernels(
    family: SampledFamily, counts: Sequence[int], X: np.ndarray, Z: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the kernels (X, X) and (Z, X) that average the first J sampled hypotheses, J in counts.

    The average of products of outputs times Delta is unbiased for the exact kernel.
    """
    K, K_test = np.zeros((len(X), len(X))), np.zeros((len(Z), len(X)))
    drawn = 0
    for count in counts:
        while drawn < count:
            H, H_test = family.outputs(min(1000, count - drawn), X, Z)
            K += H @ H.T  # sums of +-1 are exact in float32
            K_test += H_test @ H.T
            drawn += H.shape[1]
        yield family.constant / count * K, family.constant / count * K_test
