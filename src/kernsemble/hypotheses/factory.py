"""Oracles by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernsemble.hypotheses.base import Oracle
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronOracle, PerceptronPool
from kernsemble.hypotheses.stumps import StumpOracle

_RANDOM = {"perceptron": PerceptronOracle, "perceptron-pool": PerceptronPool, "fourier": FourierPool}
FAMILIES = ("stump", *_RANDOM)


def make_oracle(
    base: str | Callable[..., Oracle], X: np.ndarray, *, random_state: object = None, **options: object
) -> Oracle:
    """Return an oracle for a training set.

    Parameters
    ----------
    base : {"stump", "perceptron", "perceptron-pool", "fourier"} or callable
        All decision stumps; perceptrons by random coordinate descent; a sampled pool of perceptrons; a
        sampled pool of Fourier cosines. A callable is called as ``base(X, random_state=random_state,
        **options)``.
    X : ndarray of shape (n_samples, n_features)
        Training data.
    random_state : int, Generator, RandomState or None, default=None
        What random oracles draw with.
    **options
        Passed on to the oracle, for instance ``n_hypotheses=500``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.hypotheses.factory import make_oracle
    >>> len(make_oracle("stump", np.array([[1.0], [2.0], [3.0]])))
    3
    """
    if callable(base):
        return base(X, random_state=random_state, **options)
    if base == "stump":
        return StumpOracle(X, **options)
    if base not in _RANDOM:
        raise ValueError(f"base={base!r} is not known; choose a callable or one of {', '.join(FAMILIES)}.")
    return _RANDOM[base](X, random_state=random_state, **options)
