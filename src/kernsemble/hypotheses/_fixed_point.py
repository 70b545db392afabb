"""Signed weights as whole numbers: sums that are exact in any order.

With floating point, two stumps of equal score differ in the last digits, by the order of summation. Whole
numbers make equal scores equal: ties break the same way for every layout of the data and number of threads,
and the sum of a bin can be had by subtraction. 62 bits hold the weights more exactly than a floating-point
sum would be.

Weights that a solver computed end in rounding, which differs from one processor to the next. Cut to 30 bits
of the largest they are the same numbers wherever rounding is smaller than that, and sums of them times -1 and
+1 are exact in double precision, in any order, for up to 2**22 samples.
"""

from __future__ import annotations

import math
import sys

import numpy as np

_KEPT_BITS = 30  # of a weight that a solver computed
_ABOVE = 1.1  # the largest is often a power of two but for rounding, which must not decide on its exponent
_BITS = 61  # the sum of magnitudes stays below 2**61: total - 2 left then fits into 64 bits with its sign


def quantize(V: np.ndarray, *, together: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Scale the columns of V to whole numbers.

    Parameters
    ----------
    V : ndarray of shape (n, K), float64
        Finite signed weights.
    together : bool, default=False
        Scale all columns alike, so that scores of different columns may be added up.

    Returns
    -------
    W : ndarray of shape (n, K), int64
        ``V * 2**exponents``, rounded: an entry moves by at most 2**-61 of the sum of magnitudes (of its
        column).
    exponents : ndarray of shape (K,), int
    """
    magnitude = np.abs(V).sum(axis=0)
    if together:
        magnitude = np.full(len(magnitude), magnitude.sum())
    if not np.isfinite(magnitude).all():
        raise ValueError("The weights V, and the sum of their magnitudes, must be finite.")
    exponents = np.where(magnitude > 0, _BITS - np.frexp(magnitude)[1], 0)
    if np.abs(exponents).max(initial=0) < 1000:
        return np.rint(V * np.ldexp(1.0, exponents)).astype(np.int64), exponents
    return np.rint(np.ldexp(V, exponents)).astype(np.int64), exponents  # a power of two that has no float


def cut_bits(V: np.ndarray, *, together: bool = False) -> np.ndarray:
    """Round weights to 30 bits of the largest of their column.

    Parameters
    ----------
    V : ndarray of shape (n,) or (n, K)
        Finite weights.
    together : bool, default=False
        Take the largest of all columns for each, so that scores of different columns may be added up.

    Examples
    --------
    >>> bool((cut_bits(np.array([1.0, 0.1 + 0.2])) == cut_bits(np.array([1.0 - 1e-15, 0.3]))).all())
    True
    """
    largest = np.abs(V).max(axis=None if together else 0, initial=0.0)
    exponents = _KEPT_BITS - np.frexp(_ABOVE * largest + (largest == 0.0))[1]
    with np.errstate(over="ignore", invalid="ignore"):
        cut = np.ldexp(np.rint(np.ldexp(V, exponents)), -exponents)
    return np.where(np.isfinite(cut), cut, V)  # what overflows is refused by who sums it


def clear_ties(scores: np.ndarray, w: np.ndarray, b: float = 0.0) -> np.ndarray:
    """Set to 0 the scores ``H w + b``, H of -1 and +1, that only rounding parts from it.

    Few hypotheses with weights that come from a linear program often vote to a draw, and the last digits of
    the weights would decide.

    Examples
    --------
    >>> clear_ties(np.array([0.1 + 0.2 - 0.3, 0.6]), np.array([0.1, 0.2, 0.3]))
    array([0. , 0.6])
    """
    least = 2.0**-_KEPT_BITS * (float(np.abs(w).sum()) + abs(b))
    return np.where(np.abs(scores) <= least, 0.0, scores)


def midpoint(low: float, high: float) -> float:
    """Return a threshold t with low <= t < high, halfway where floating point allows; never overflows.

    Missing values stand at infinity: the largest number parts them from all others.
    """
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low if high < math.inf else sys.float_info.max
