"""Perceptrons sign(theta'x - kappa): a sampled pool, and random coordinate descent on the 0/1 loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.hypotheses._fixed_point import quantize
from kernsemble.hypotheses._line_search import descend
from kernsemble.hypotheses.base import Candidate, Oracle, as_signs, generator
from kernsemble.hypotheses.projections import DrawnPool, ProjectionHypotheses, SampledPool
from kernsemble.hypotheses.stumps import StumpOracle

_ATTEMPTS = 10  # descents that may end in an excluded perceptron before the family counts as exhausted


class PerceptronHypotheses(ProjectionHypotheses):
    """A list of J perceptrons ``signs[j] * (+1 if theta[j] @ x > kappa[j] else -1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.perceptrons import PerceptronHypotheses
    >>> PerceptronHypotheses([[1.0, 1.0]], [1.0], [1]).outputs(np.array([[0.0, 0.0], [1.0, 1.0]]))
    array([[-1],
           [ 1]], dtype=int8)
    """

    @staticmethod
    def _activation(margins: np.ndarray) -> np.ndarray:
        return as_signs(margins > 0)


class PerceptronPool(SampledPool):
    """Oracle over perceptrons drawn at random: directions uniform on the sphere, thresholds on an interval.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    n_hypotheses : int, default=2000
        Size of the pool.
    threshold : {"ball", "segment"}, default="ball"
        How kappa is drawn: uniformly on [-R, R], R the largest norm of a row of X, the measure of linli2005's
        Definition 3; or as theta'z, z uniform on the segment between two random rows of X, which makes fewer
        perceptrons (nearly) constant.
    fresh : bool, default=False
        Draw a new pool for every search, instead of one pool for all.
    random_state : int, Generator, RandomState or None, default=None
        What the pools are drawn with.
    record : list of DrawnPool, optional
        Pools to be shared, as in `SampledPool`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.perceptrons import PerceptronPool
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 2.0]])
    >>> pool = PerceptronPool(X, n_hypotheses=50, random_state=0)
    >>> pool.best(np.array([-1.0, -1.0, 1.0]))[0].score
    3.0
    """

    _hypotheses = PerceptronHypotheses

    def __init__(
        self,
        X: np.ndarray,
        *,
        n_hypotheses: int = 2000,
        threshold: str = "ball",
        fresh: bool = False,
        random_state: object = None,
        record: list[DrawnPool] | None = None,
    ):
        if threshold not in ("ball", "segment"):
            raise ValueError(f"threshold={threshold!r} is not known; choose 'ball' or 'segment'.")
        self.threshold = threshold
        super().__init__(X, n_hypotheses=n_hypotheses, fresh=fresh, random_state=random_state, record=record)

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        theta = self._random.standard_normal((n, self._X.shape[1]))
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        if self.threshold == "ball":
            radius = np.linalg.norm(self._X, axis=1).max()
            return theta, self._random.uniform(-radius, radius, n)
        rows = self._X[self._random.integers(len(self._X), size=(2, n))]
        share = self._random.uniform(size=n)
        ends = np.einsum("ejd,jd->ej", rows, theta)
        return theta, share * ends[0] + (1.0 - share) * ends[1]


class PerceptronOracle(Oracle):
    """Learns perceptrons by random coordinate descent on the weighted 0/1 loss (Li and Lin 2007).

    Every update picks a direction in the space of (theta, kappa) and takes the exact best step along it, so
    the weighted error never rises. There is no promise of a global optimum: the problem is NP-hard.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    n_updates : int, default=200
        Line searches per perceptron.
    start : {"random", "zero", "stump", "fisher"}, default="random"
        Where each perceptron starts: a random direction; theta = 0; the best decision stump; Fisher's linear
        discriminant of the weighted samples.
    directions : {"random", "coordinate"}, default="random"
        What is searched along: normally distributed theta, or one feature drawn at random; in both cases
        kappa alone first and again after every n_features updates.
    random_state : int, Generator, RandomState or None, default=None
        What starts and directions are drawn with, one search after the other.

    Notes
    -----
    Keys are ``(number, 1)``, numbered in the order of finding. The family is infinite: ``sum_of_squares``
    is nan, and an excluded perceptron is replaced by another descent.

    References
    ----------
    L. Li and H.-T. Lin, Optimizing 0/1 loss for perceptrons by random coordinate descent, IJCNN 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.perceptrons import PerceptronOracle
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> oracle = PerceptronOracle(X, n_updates=20, random_state=0)
    >>> oracle.best(np.array([-1.0, 1.0, 1.0, 1.0]))[0].column
    array([-1,  1,  1,  1], dtype=int8)
    """

    negation_complete = True

    def __init__(
        self,
        X: np.ndarray,
        *,
        n_updates: int = 200,
        start: str = "random",
        directions: str = "random",
        random_state: object = None,
    ):
        if start not in ("random", "zero", "stump", "fisher"):
            raise ValueError(f"start={start!r} is not known; choose 'random', 'zero', 'stump' or 'fisher'.")
        if directions not in ("random", "coordinate"):
            raise ValueError(f"directions={directions!r} is not known; choose 'random' or 'coordinate'.")
        self._X = np.ascontiguousarray(X, dtype=np.float64)
        # theta'x - kappa = (theta, kappa)'(x, -1)
        self._samples = np.hstack([self._X, -np.ones((len(self._X), 1))])
        self._stumps = StumpOracle(self._X) if start == "stump" else None
        self.n_updates, self.start, self.directions = int(n_updates), start, directions
        self._random = generator(random_state)
        self._found: list[np.ndarray] = []
        self._excluded: set[bytes] = set()

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return what one descent finds for each column of V, (n,) or (n, K)."""
        V = np.asarray(V, dtype=np.float64).reshape(len(self._X), -1)
        found = [self._search(np.ascontiguousarray(v)) for v in V.T]
        return [] if None in found else found

    def _search(self, v: np.ndarray) -> Candidate | None:
        """Descend until the perceptron found is not an excluded one; None if that does not happen."""
        w = quantize(v[:, None])[0][:, 0]
        for _ in range(_ATTEMPTS):
            weights = self._start(v)
            directions = self._draw_directions()
            margins = self._samples @ weights
            descend(w, directions @ self._samples.T, directions, margins, weights)
            column = as_signs(self._samples @ weights > 0)
            if (column * column[0]).tobytes() not in self._excluded:
                score = float(v @ column)
                sign = 1 if score >= 0 else -1
                self._found.append(weights)
                return Candidate((len(self._found) - 1, sign), abs(score), sign * column)
        return None

    def _start(self, v: np.ndarray) -> np.ndarray:
        """Return the (theta, kappa) that a descent starts from."""
        weights = np.zeros(self._samples.shape[1])
        if self.start == "random":
            weights[:-1] = self._random.standard_normal(len(weights) - 1)
        elif self.start == "stump":
            stump = self._stumps.best(v)[0].key
            weights[stump.feature], weights[-1] = stump.sign, stump.sign * stump.threshold
        elif self.start == "fisher":
            weights[:] = _fisher(self._X, v)
        return weights

    def _draw_directions(self) -> np.ndarray:
        """Return the directions of one descent, (n_updates, n_features + 1)."""
        d = self._X.shape[1]
        directions = np.zeros((self.n_updates, d + 1))
        if self.directions == "random":
            directions[:, :-1] = self._random.standard_normal((self.n_updates, d))
        else:
            directions[np.arange(self.n_updates), self._random.integers(d, size=self.n_updates)] = 1.0
        directions[:: d + 1, :-1] = 0.0
        directions[:: d + 1, -1] = 1.0
        return directions

    def exclude(self, key: tuple[int, int]) -> None:
        """Leave perceptrons with this one's outputs, in both polarities, out of later searches."""
        column = as_signs(self._samples @ self._found[key[0]] > 0)
        self._excluded.add((column * column[0]).tobytes())

    def collect(self, keys: Sequence[tuple[int, int]]) -> PerceptronHypotheses:
        """Return the perceptrons with these keys, in this order."""
        weights = np.array([self._found[number] for number, _ in keys]).reshape(-1, self._samples.shape[1])
        return PerceptronHypotheses(weights[:, :-1], weights[:, -1], [sign for _, sign in keys])


def _fisher(X: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return (theta, kappa) of Fisher's discriminant of the samples with v > 0 from those with v < 0."""
    size = np.abs(v)
    sides = [np.where(side, size, 0.0) for side in (v < 0, v > 0)]
    means = np.array([side @ X / max(side.sum(), np.finfo(float).tiny) for side in sides])
    centered = X - np.where((v > 0)[:, None], means[1], means[0])
    scatter = (centered * size[:, None]).T @ centered
    ridge = 1e-8 * np.trace(scatter) / len(scatter) or 1.0
    theta = np.linalg.solve(scatter + ridge * np.eye(len(scatter)), means[1] - means[0])
    return np.append(theta, theta @ means.mean(axis=0))
