"""Random Fourier cosines cos(theta'x - kappa), the weak learners that stand for a Gaussian kernel (shen2014).

With theta ~ N(0, 2 gamma I) and kappa uniform on [0, 2 pi), the mean of 2 h(x) h(x') over the family is the
kernel exp(-gamma ||x - x'||^2) (Rahimi and Recht 2007). Several widths, or several groups of features, make
the family of multiple kernel learning: each search then also chooses the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from kernsemble.hypotheses.projections import DrawnPool, ProjectionHypotheses, SampledPool


class FourierHypotheses(ProjectionHypotheses):
    """A list of J cosines ``signs[j] * cos(theta[j] @ x - kappa[j])``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.fourier import FourierHypotheses
    >>> FourierHypotheses([[np.pi]], [0.0], [1]).outputs(np.array([[0.0], [1.0]]))
    array([[ 1.],
           [-1.]])
    """

    @staticmethod
    def _activation(margins: np.ndarray) -> np.ndarray:
        return np.cos(margins, out=margins)


class FourierPool(SampledPool):
    """Oracle over random Fourier cosines.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data.
    gamma : float or sequence of float, default=1.0
        Width of the Gaussian kernel exp(-gamma ||x - x'||^2), or several widths.
    groups : sequence of sequences of int, default=None
        Groups of features; a cosine looks at one group. None is one group of all features.
    n_hypotheses : int, default=2000
        Size of the pool, shared out evenly between ``kernels``.
    fresh : bool, default=False
        Draw a new pool for every search, instead of one pool for all.
    random_state : int, Generator, RandomState or None, default=None
        What the pools are drawn with.
    record : list of DrawnPool, optional
        Pools to be shared, as in `SampledPool`.

    Attributes
    ----------
    kernels : list of (gamma, features)
        The kernels that the family mixes; ``kernel_of(key)`` is an index into it.

    References
    ----------
    A. Rahimi and B. Recht, Random features for large-scale kernel machines, NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.fourier import FourierPool
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 2.0]])
    >>> pool = FourierPool(X, gamma=[0.1, 10.0], n_hypotheses=100, random_state=0)
    >>> best = pool.best(np.array([-1.0, 0.0, 1.0]))[0]
    >>> best.column.shape, pool.kernels[pool.kernel_of(best.key)][0]
    ((3,), 10.0)
    """

    _hypotheses = FourierHypotheses

    def __init__(
        self,
        X: np.ndarray,
        *,
        gamma: float | Sequence[float] = 1.0,
        groups: Sequence[Sequence[int]] | None = None,
        n_hypotheses: int = 2000,
        fresh: bool = False,
        random_state: object = None,
        record: list[DrawnPool] | None = None,
    ):
        widths = np.atleast_1d(np.asarray(gamma, dtype=np.float64))
        if not (np.isfinite(widths) & (widths > 0)).all():
            raise ValueError(f"gamma={gamma!r} must be positive and finite.")
        everything = [np.arange(np.shape(X)[1])]
        features = everything if groups is None else [np.asarray(group, dtype=np.intp) for group in groups]
        self.kernels = [(float(width), group) for width, group in product(widths, features)]
        super().__init__(X, n_hypotheses=n_hypotheses, fresh=fresh, random_state=random_state, record=record)

    def kernel_of(self, key: tuple[int, int]) -> int:
        """Return the index in ``kernels`` of the kernel that this hypothesis belongs to."""
        return key[0] % self.n_hypotheses % len(self.kernels)

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        theta = self._random.standard_normal((n, self._X.shape[1]))
        for index, (width, features) in enumerate(self.kernels):
            scales = np.zeros(self._X.shape[1])
            scales[features] = np.sqrt(2.0 * width)
            theta[index :: len(self.kernels)] *= scales
        return theta, self._random.uniform(0.0, 2.0 * np.pi, n)
