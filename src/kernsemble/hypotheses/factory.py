"""Oracles by name."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import numpy as np
from sklearn.base import BaseEstimator

from kernsemble.hypotheses.base import Oracle
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronOracle, PerceptronPool
from kernsemble.hypotheses.stumps import StumpOracle

_RANDOM = {"perceptron": PerceptronOracle, "perceptron-pool": PerceptronPool, "fourier": FourierPool}
_NAMED = {"stump": StumpOracle, **_RANDOM}
FAMILIES = tuple(_NAMED)


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
    _refuse_estimators(base)
    if callable(base):
        return base(X, random_state=random_state, **options)
    if base != "stump" and base not in _RANDOM:
        raise ValueError(f"base={base!r} is not known; choose a callable or one of {', '.join(FAMILIES)}.")
    _refuse_unknown(base, options)
    if base == "stump":
        return StumpOracle(X, **options)
    return _RANDOM[base](X, random_state=random_state, **options)


def _refuse_estimators(base: object) -> None:
    """Say what a base is where somebody gives a learner of scikit-learn."""
    if isinstance(base, BaseEstimator) or (isinstance(base, type) and issubclass(base, BaseEstimator)):
        raise ValueError(
            f"base={base!r} is an estimator; a base searches a family of hypotheses: one of "
            f"{', '.join(FAMILIES)}, or base(X, random_state=...) -> Oracle. For trees take scikit-learn's "
            "AdaBoostClassifier or HistGradientBoostingClassifier."
        )


def _refuse_unknown(base: str, options: dict[str, object]) -> None:
    """Name an option that a family does not have."""
    known = [name for name in signature(_NAMED[base]).parameters if name not in ("X", "random_state")]
    if unknown := [name for name in options if name not in known]:
        raise ValueError(f"base_options: {base!r} has no option {unknown[0]!r}; it has {', '.join(known)}.")
