"""The infinite ensembles behind the distance kernels, written out and sampled.

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

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.kernels import (
    gaussian_kernel,
    perceptron_constants,
    perceptron_kernel,
    stump_constant,
    stump_kernel,
)
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.trials.bench import percent_wrong, powers_of_two
from kernsemble.trials.trial import Trial
from linli2005.trials import (
    GENERATED_SETS,
    KERNELS,
    PLANE_SET,
    TABLE_SETS,
    DataProtocol,
    Protocol,
    draw,
    folds_of,
    paper,
    tuned,
)


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
        """Draw hypotheses and return their outputs (float32) on each part of the part."""
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


DISTANCE_KERNELS = {"SVM-Stump": stump_kernel, "SVM-Perc": perceptron_kernel}
HARD = 1e9  # a C that no multiplier reaches


@paper.trials("figure1", methods=("SVM-Stump", "SVM-Perc"), datasets=(PLANE_SET,))
def written_out(
    trial: Trial,
    *,
    protocol: DataProtocol,
    n_points: int,
    C: float,
    n_angles: int,
) -> dict[str, float]:
    """Compare the machine's scores with the integral over its ensemble.

    difference: largest difference, relative to the largest score. support: number of support vectors.
    """
    part = draw(trial, protocol)
    X, y, Z = part.X[:n_points], part.y[:n_points], part.X_test
    kernel = DISTANCE_KERNELS[trial.method]
    solution = solve_kernel_hinge(kernel(X), y, C, tol=1e-9)
    by_kernel = kernel(Z, X) @ solution.w
    by_integral = _integrate(trial.method, X, solution.w, Z, n_angles)
    return {
        "difference": float(np.abs(by_kernel - by_integral).max() / np.abs(by_kernel).max()),
        "support": int((solution.w != 0).sum()),
    }


def _integrate(method: str, X: np.ndarray, beta: np.ndarray, Z: np.ndarray, n_angles: int) -> np.ndarray:
    """Integrate the ensemble over a box or ball that holds both parts."""
    if method == "SVM-Stump":
        both = np.vstack([X, Z])
        return stump_ensemble_decision(X, beta, Z, both.min(axis=0) - 1.0, both.max(axis=0) + 1.0)
    radius = 1.0 + float(np.sqrt(max((X**2).sum(axis=1).max(), (Z**2).sum(axis=1).max())))
    return perceptron_ensemble_decision(X, beta, Z, radius, n_angles)


@paper.trials("theorems", methods=("stump", "perceptron"), datasets=TABLE_SETS)
def theorems(
    trial: Trial,
    *,
    protocol: DataProtocol,
    n_points: int,
    n_labelings: int,
    C: float,
    factor: float,
) -> dict[str, float]:
    """Check theorems 2 to 7 on distinct training points.

    constant, scaling: largest change of a score (relative to the largest score) when the constant is added
    (theorems 2 and 5), when the kernel is multiplied and C divided. eigenvalue: smallest eigenvalue of the
    Gram matrix over the mean of its diagonal (theorems 3 and 6). separated: share of random labelings that
    the hard-margin machine fits (theorems 4 and 7). distinct: largest share of distinct values among the
    features; theorem 3 asks for 1.
    """
    part = draw(trial, protocol)
    X = np.unique(part.X, axis=0)
    X = X[trial.shared_rng("points").permutation(len(X))[:n_points]]
    rng = trial.shared_rng("labels")
    labelings = [_both_signs(rng, len(X)) for _ in range(n_labelings)]
    kernel, constant = _exact_kernel(trial.method, np.vstack([X, part.X_test]))
    K, K_test = kernel(X), kernel(part.X_test, X)
    y = labelings[0]
    plain = _scores(K, K_test, y, C)
    size = np.abs(plain).max()
    shifted = _scores(K + constant, K_test + constant, y, C)
    scaled = _scores(factor * K, factor * K_test, y, C / factor)
    return {
        "constant": float(np.abs(shifted - plain).max() / size),
        "scaling": float(np.abs(scaled - plain).max() / size),
        "eigenvalue": float(np.linalg.eigvalsh(K + constant)[0] / constant),
        "separated": float(np.mean([_is_separated(K, signs) for signs in labelings])),
        "distinct": max(len(np.unique(column)) for column in X.T) / len(X),
    }


def _exact_kernel(name: str, points: np.ndarray) -> tuple[Callable[..., np.ndarray], float]:
    """Return the simplified kernel and the constant Delta for a domain with all points in its interior."""
    if name == "stump":
        margin = 0.01 * (points.max(axis=0) - points.min(axis=0)) + 0.01
        constant = stump_constant(points.min(axis=0) - margin, points.max(axis=0) + margin)
        return stump_kernel, constant
    radius = 1.01 * float(np.sqrt((points**2).sum(axis=1).max()))
    return perceptron_kernel, perceptron_constants(points.shape[1], radius).Delta


def _scores(K: np.ndarray, K_test: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    solution = solve_kernel_hinge(K, y, C, tol=1e-10)
    return K_test @ solution.w + solution.b


def _is_separated(K: np.ndarray, y: np.ndarray) -> bool:
    solution = solve_kernel_hinge(K, y, HARD, tol=1e-6, max_iter=200_000)
    return bool(np.all(y * (K @ solution.w + solution.b) > 0.5))


def _both_signs(rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw labels by coin flips; one of each sign at least."""
    y = 2.0 * rng.integers(0, 2, n) - 1.0
    y[:2] = -1.0, 1.0
    return y


@paper.trials("capacity", methods=("Gaussian",), datasets=TABLE_SETS)
def capacity(
    trial: Trial, *, protocol: DataProtocol, n_points: int, n_labelings: int, log2_widths: list[int]
) -> dict[str, np.ndarray]:
    """Check the power of the Gaussian kernel as ``theorems`` does that of the others, for some gamma.

    eigenvalue: smallest of the Gram matrix, whose diagonal is 1. separated: share of random labelings that
    the hard-margin machine fits.
    """
    part = draw(trial, protocol)
    X = np.unique(part.X, axis=0)
    X = X[trial.shared_rng("points").permutation(len(X))[:n_points]]
    rng = trial.shared_rng("labels")
    labelings = [_both_signs(rng, len(X)) for _ in range(n_labelings)]
    grams = [gaussian_kernel(X, gamma=gamma) for gamma in powers_of_two(log2_widths)]
    return {
        "eigenvalue": np.array([np.linalg.eigvalsh(K)[0] for K in grams]),
        "separated": np.array([np.mean([_is_separated(K, y) for y in labelings]) for K in grams]),
    }


@paper.trials("sampling", methods=("stump", "perceptron"), datasets=GENERATED_SETS[:1])
def sampling(
    trial: Trial,
    *,
    protocol: DataProtocol,
    log2_counts: list[int],
) -> dict[str, np.ndarray]:
    """Average the products of J sampled hypotheses, and compare with the kernel.

    error: root mean square of the difference over all pairs of points, relative to Delta. predicted: what the
    variance of one hypothesis says, sqrt(mean(1 - (K / Delta)^2) / J).
    """
    part = draw(trial, protocol)
    family = SampledFamily(trial.method, part.X, trial.rng("hypotheses"))
    simplified = stump_kernel(part.X) if trial.method == "stump" else perceptron_kernel(part.X)
    exact = 1.0 + simplified / family.constant
    counts = [int(count) for count in powers_of_two(log2_counts)]
    averages = (K / family.constant for K, _ in sampled_kernels(family, counts, part.X, part.X[:1]))
    pairs = np.triu_indices(len(exact), 1)
    errors = [np.sqrt(np.mean((average - exact)[pairs] ** 2)) for average in averages]
    predicted = np.sqrt(np.mean(1.0 - exact[pairs] ** 2) / np.array(counts))
    return {"error": np.array(errors), "predicted": predicted}


@paper.trials("hard", methods=("SVM-Stump", "SVM-Perc"), datasets=GENERATED_SETS)
def hard_margin(trial: Trial, *, protocol: DataProtocol) -> dict[str, float]:
    """Test error of the hard-margin machine: the power of theorems 4 and 7, without control."""
    part = draw(trial, protocol)
    model = DistanceKernelSVC(KERNELS[trial.method], C=HARD).fit(part.X, part.y)
    return {"error": part.error(model.decision_function(part.X_test))}


@paper.trials("finite", methods=("SVM-Stump", "SVM-Perc"), datasets=TABLE_SETS)
def finite_ensembles(
    trial: Trial,
    *,
    protocol: Protocol,
    log2_C_distance: list[int],
    counts: list[int],
) -> dict[str, np.ndarray | float]:
    """Replace the kernel by the average of J sampled hypotheses, at the C of the infinite machine.

    error: test error for each J, and last that of the infinite machine. disagreement: share of test points
    on which the two differ.
    """
    part = draw(trial, protocol)
    infinite = tuned(trial.method, part, folds_of(trial, part, protocol), protocol.ties, log2_C_distance)
    exact = infinite.decision_function(part.X_test)
    family = SampledFamily(KERNELS[trial.method], part.X, trial.rng("hypotheses"))
    errors, disagreements = [], []
    for K, K_test in sampled_kernels(family, counts, part.X, part.X_test):
        solution = solve_kernel_hinge(K, part.y, infinite.best_C_)
        scores = K_test @ solution.w + solution.b
        errors.append(part.error(scores))
        disagreements.append(percent_wrong(scores > 0, exact > 0))
    return {"error": np.array([*errors, part.error(exact)]), "disagreement": np.array(disagreements)}
