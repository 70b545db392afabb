"""Statistics that decide a comparison: z of two means, paired tests with Holm's correction, bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats


def z_score(ours: float, printed: float, se_ours: float, se_printed: float) -> float:
    """Return (ours - printed) / sqrt(se_printed^2 + se_ours^2); numbers equal but for rounding give 0.

    Examples
    --------
    >>> from kernsemble.report.comparisons import z_score
    >>> z_score(16.0, 15.0, 0.3, 0.4)
    2.0
    """
    difference, scale = ours - printed, math.hypot(se_ours, se_printed)
    if math.isclose(ours, printed, rel_tol=1e-12):
        return 0.0
    if scale == 0:
        return math.copysign(math.inf, difference)
    return difference / scale


def paired_p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Return the two-sided p-value of the paired t-test; 1 when all differences are equal to zero."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if len(difference) < 2:
        return 1.0
    spread = difference.std(ddof=1)
    if spread <= 1e-12 * np.abs(difference).max(initial=0.0):
        return 1.0 if difference[0] == 0 else 0.0
    t = difference.mean() / (spread / math.sqrt(len(difference)))
    return float(2 * stats.t.sf(abs(t), len(difference) - 1))


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's step-down method.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.report.comparisons import holm
    >>> holm(np.array([0.01, 0.04, 0.03])).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values)
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def best_methods(values: np.ndarray, *, alpha: float = 0.05, higher: bool = False) -> np.ndarray:
    """Return which methods cannot be told from the best: paired t-tests against it, Holm over methods.

    ``values`` are paired runs (runs x methods): all methods of a row saw the same split. ``alpha`` is the
    family-wise level; ``higher`` says that larger values are better.
    """
    means = values.mean(axis=0)
    best = int(np.argmax(means) if higher else np.argmin(means))
    others = [method for method in range(values.shape[1]) if method != best]
    p_values = np.array([paired_p_value(values[:, method], values[:, best]) for method in others])
    chosen = np.ones(values.shape[1], dtype=bool)
    chosen[others] = holm(p_values) > alpha if others else True
    return chosen


def resample(
    values: np.ndarray | tuple[np.ndarray, ...],
    statistic: Callable[..., Any],
    *,
    n_resamples: int = 2000,
    seed: int = 0,
) -> np.ndarray:
    """Return a statistic of resamples of the runs.

    Runs are resampled along the first axis: together within an array (paired), separately between arrays.
    """
    arrays = values if isinstance(values, tuple) else (values,)
    rng = np.random.default_rng(seed)

    def draw() -> Any:
        return statistic(*[array[rng.integers(len(array), size=len(array))] for array in arrays])

    return np.array([draw() for _ in range(n_resamples)])


def bootstrap_probability(
    values: np.ndarray | tuple[np.ndarray, ...],
    statement: Callable[..., bool],
) -> float:
    """Return the share of resamples of the runs (see `resample`) for which a statement is true.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.report.comparisons import bootstrap_probability
    >>> errors = np.random.default_rng(0).normal([10, 12], 1, size=(50, 2))
    >>> bootstrap_probability(errors, lambda e: e[:, 0].mean() < e[:, 1].mean())
    1.0
    """
    return float(np.mean(resample(values, statement).astype(bool)))


_TINY = 1e-4


def mean_and_spread(mean: float, spread: float, decimals: int | None = None) -> str:
    """Write a mean and its spread with the same decimals: those given, or two digits of the spread.

    Where the given decimals would swallow one of the two, both get as many as leave it two significant
    digits; numbers below 0.0001 are written with a power of ten.

    Examples
    --------
    >>> from kernsemble.report.comparisons import mean_and_spread
    >>> mean_and_spread(12.3456, 0.0789), mean_and_spread(12.3456, 0.789, 1), mean_and_spread(0.00123, 0, 1)
    ('12.346 ± 0.079', '12.3 ± 0.8', '0.0012')
    >>> mean_and_spread(1.36e-9, 7.6e-10), mean_and_spread(12.03, 0.374, 0)
    ('1.4e-09 ± 8e-10', '12.03 ± 0.37')
    """
    shown = spread if math.isfinite(spread) and spread > 0 else 0.0
    if 0 < max(abs(mean), shown) < _TINY:
        return f"{mean:.1e} ± {shown:.0e}" if shown else f"{mean:.1e}"
    if decimals is None:
        decimals = _decimals(shown or mean, 2)
    swallowed = [number for number in (mean, shown) if 0 < abs(number) < 10**-decimals]
    decimals = max((_decimals(number, 2) for number in swallowed), default=decimals)
    return f"{mean:.{decimals}f} ± {shown:.{decimals}f}" if shown else f"{mean:.{decimals}f}"


def _decimals(number: float, digits: int) -> int:
    """Return how many decimals show so many significant digits."""
    return max(0, digits - 1 - math.floor(math.log10(abs(number)))) if number else 0


def significant(number: float, digits: int = 4) -> str:
    """Write a number with some significant digits and without an exponent.

    Examples
    --------
    >>> from kernsemble.report.comparisons import significant
    >>> significant(12345.6), significant(0.0123456), significant(3.0)
    ('12346', '0.01235', '3.000')
    """
    if not math.isfinite(number):
        return str(number)
    return f"{number:.{_decimals(number, digits)}f}"
