"""Parts of sentences about numbers: enumerations, orders, and what cannot be told from the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from kernsemble.report.comparisons import best_methods

_LEVEL = 0.05  # of the paired t-tests, with Holm's correction


def best_and_rest(names: Sequence[str], values: np.ndarray, unit: str) -> str:
    """Say which column of ``values`` (runs x names) has the least mean, and what cannot be told from it.

    Examples
    --------
    >>> import numpy as np
    >>> best_and_rest(["a", "b", "c"], np.array([[1.0, 5.0, 1.1], [2.0, 6.1, 1.9]]), "%")
    'a has the least mean (1.50 %), c (1.50) cannot be told from it'
    """
    means = values.mean(axis=0)
    order = np.argsort(means, kind="stable")
    best = f"{names[order[0]]} has the least mean ({means[order[0]]:.2f} {unit})"
    if len(values) < 2:
        return f"{best}, of a single run"
    alike = best_methods(values, alpha=_LEVEL)
    close = [f"{names[k]} ({means[k]:.2f})" for k in order[1:] if alike[k]]
    rest = f"{joined(close)} cannot be told from it" if close else "and all others are worse"
    return f"{best}, {rest}"


def joined(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a"]), joined([])
    ('a, b and c', 'a', '')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def names(*parts: str | Iterable[str]) -> tuple[str, ...]:
    """Return all combinations of parts, names of facts; a part is a sequence, or words.

    Examples
    --------
    >>> names("sonar heart", ["error", "size"])
    ('sonar_error', 'sonar_size', 'heart_error', 'heart_size')
    """
    return tuple(map("_".join, product(*(part.split() if isinstance(part, str) else part for part in parts))))


def span(values: ArrayLike, form: str = ".0f") -> str:
    """Return the smallest and the largest of some numbers, once if they read the same.

    Examples
    --------
    >>> span([3, 1, 2]), span([1.04, 0.96], ".1f")
    ('1 to 3', '1.0')
    """
    low, high = (format(float(some), form) for some in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"


def in_order(names: Sequence[str], values: Sequence[float], form: str = ".2f") -> str:
    """Return names with their values, the smallest first.

    Examples
    --------
    >>> in_order(["a", "b", "c"], [3.0, 1.0, 2.0], ".1f")
    'b 1.0, c 2.0, a 3.0'
    """
    order = np.argsort(values, kind="stable")
    return ", ".join(f"{names[k]} {values[k]:{form}}" for k in order)
