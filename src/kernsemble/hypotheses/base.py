"""What a family of hypotheses offers to column generation and boosting.

An ORACLE belongs to one training set. Given signed weights V it finds the hypothesis h that maximizes
``|sum_i V_i h(x_i)|`` (equation (8) of shen2014, (12) of bi2004, (4) of lin2012), one for each column of V.
What it finds it describes by a ``Candidate``; ``collect`` turns the candidates that were kept into
``Hypotheses``, which evaluate on new data without a Python loop over hypotheses.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Protocol

import numpy as np
from sklearn.utils import check_random_state


@dataclass(frozen=True)
class Candidate:
    """A hypothesis that an oracle found.

    Attributes
    ----------
    key : hashable
        Names the hypothesis within its oracle; equal keys give equal columns.
    score : float
        ``V @ column``. Negation-complete families return the polarity that makes it non-negative.
    column : ndarray of shape (n_samples,)
        Outputs on the training set: int8 for -1/+1 families, float64 otherwise.
    """

    key: Hashable
    score: float
    column: np.ndarray


class Hypotheses(Protocol):
    """A fixed list of hypotheses, evaluated on any data of the training width."""

    def __len__(self) -> int:
        """Return the number of hypotheses J."""

    def outputs(self, X: np.ndarray) -> np.ndarray:
        """H of shape (n, J)."""

    def decision(self, X: np.ndarray, W: np.ndarray, b: float | np.ndarray = 0.0) -> np.ndarray:
        """``outputs(X) @ W + b`` in one pass, H never stored; W is (J,) or (J, K)."""


class Oracle(Protocol):
    """Prices one family of hypotheses on one training set.

    Derive a family from it: what has a body here suits families that are searched whole.

    Attributes
    ----------
    negation_complete : bool
        Whether the negation of each hypothesis belongs to the family.
    ends_early : bool, default=False
        Whether a search may end at a hypothesis that is good enough, before it has seen all.
    """

    negation_complete: bool
    ends_early: bool = False

    def best(self, V: np.ndarray) -> list[Candidate]:
        """Return the best candidate for each column of V: (n,) gives one, (n, K) gives K; none is excluded.

        Ties are broken by the smallest key, so results do not depend on the number of threads. Scores of real
        values tie when only rounding tells them apart. An exhausted family gives an empty list.
        """

    def best_shared(self, V: np.ndarray) -> Candidate | None:
        """Return a hypothesis of a large ``sum_k |V[:, k] @ column|``, V (n, K); None if exhausted.

        The best one of all where a family overrides this; here the best among those of single columns.
        """
        return max(self.best(V), key=lambda found: np.abs(V.T @ found.column).sum(), default=None)

    def exclude(self, key: Hashable) -> None:
        """Leave the hypothesis with this key out of later searches (both polarities)."""

    def collect(self, keys: Sequence[Hashable]) -> Hypotheses:
        """Return the hypotheses with these keys, in this order."""

    def sum_of_squares(self, v: np.ndarray) -> float:
        """Sum of squared scores of all hypotheses not excluded, polarities counted once; nan if infinite.

        Half of it is the duality gap of the l2 problems (equation (9) of shen2014).
        """
        return np.nan

    def largest_score(self, v: np.ndarray) -> float:
        """Largest score of all hypotheses not excluded, asked for where searches end early.

        Divided by it (if above 1), the dual weights of an l1 problem are feasible.
        """
        return max((abs(found.score) for found in self.best(v)), default=0.0)


def label(thing: object) -> str:
    """Return the name of a function, or of the class of anything else; for messages alone."""
    return getattr(thing, "__name__", type(thing).__name__)


def as_signs(positive: np.ndarray) -> np.ndarray:
    """Return +1 where a boolean array is true and -1 elsewhere, int8; the array is used up."""
    outputs = positive.view(np.int8)
    outputs += outputs
    outputs -= 1
    return outputs


def generator(random_state: object) -> np.random.Generator:
    """Return a generator for scikit-learn's kinds of ``random_state``, or the generator itself."""
    if random_state is None or isinstance(
        random_state, Integral | np.random.SeedSequence | np.random.Generator
    ):
        return np.random.default_rng(random_state)
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
