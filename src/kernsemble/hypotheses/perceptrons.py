"""Perceptrons sign(theta'x - kappa): a sampled pool, and random coordinate descent on the 0/1 loss."""

from __future__ import annotations

import numpy as np

from kernsemble.hypotheses.projections import ProjectionHypotheses, SampledPool


class PerceptronHypotheses(ProjectionHypotheses):
    """A list of J perceptrons ``signs[j] * (+1 if theta[j] @ x > kappa[j] else -1)``."""

    @staticmethod
    def _activation(margins: np.ndarray) -> np.ndarray:
        outputs = (margins > 0).view(np.int8)
        outputs += outputs
        outputs -= 1
        return outputs


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
    random_state : int, RandomState or None, default=None
        What the pools are drawn with.

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
    ):
        if threshold not in ("ball", "segment"):
            raise ValueError(f"threshold={threshold!r} is not known; choose 'ball' or 'segment'.")
        self.threshold = threshold
        super().__init__(X, n_hypotheses=n_hypotheses, fresh=fresh, random_state=random_state)

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        theta = self._random.standard_normal((n, self._X.shape[1]))
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        if self.threshold == "ball":
            radius = np.linalg.norm(self._X, axis=1).max()
            return theta, self._random.uniform(-radius, radius, n)
        rows = self._X[self._random.randint(len(self._X), size=(2, n))]
        share = self._random.uniform(size=n)
        ends = np.einsum("ejd,jd->ej", rows, theta)
        return theta, share * ends[0] + (1.0 - share) * ends[1]
