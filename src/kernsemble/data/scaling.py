"""Column scalings of the papers: z-scores (bi2004, the IDA benchmark) and [-1, 1] (LIBSVM's form).

All take their statistics from ``reference`` (the training rows; by default X itself), skip missing cells,
and turn a column that is constant there into zeros.
"""

from __future__ import annotations

import numpy as np


def zscore(X: np.ndarray, reference: np.ndarray | None = None, ddof: int = 1) -> np.ndarray:
    """Return columns with mean 0 and standard deviation 1 on the reference rows (ddof = 1 is IDA's form).

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.scaling import zscore
    >>> zscore(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 0.,  0.],
           [ 1.,  0.]])
    """
    X, reference = _as_floats(X, reference)
    centre = np.nanmean(reference, axis=0)
    spread = np.nanstd(reference, axis=0, ddof=ddof)
    varying = varying_columns(reference)
    return np.where(varying, (X - centre) / np.where(varying, spread, 1.0), 0.0)


def scale_to_unit_range(X: np.ndarray, reference: np.ndarray | None = None) -> np.ndarray:
    """Return columns mapped linearly so that the reference rows fill [-1, 1]; other rows may leave it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.scaling import scale_to_unit_range
    >>> scale_to_unit_range(np.array([[0.0], [5.0], [20.0]]), reference=np.array([[0.0], [10.0]]))
    array([[-1.],
           [ 0.],
           [ 3.]])
    """
    X, reference = _as_floats(X, reference)
    low, high = np.nanmin(reference, axis=0), np.nanmax(reference, axis=0)
    # In this order the ends of the range come out as -1 and 1 exactly.
    varying = low < high
    return np.where(varying, 2.0 * ((X - low) / np.where(varying, high - low, 1.0)) - 1.0, 0.0)


def varying_columns(X: np.ndarray) -> np.ndarray:
    """Return the mask of the columns that take more than one value (missing cells aside).

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.scaling import varying_columns
    >>> varying_columns(np.array([[1.0, 5.0], [2.0, 5.0]]))
    array([ True, False])
    """
    return np.nanmin(X, axis=0) < np.nanmax(X, axis=0)


def fill_missing(X: np.ndarray, value: float = 0.0) -> np.ndarray:
    """Return X with missing cells (NaN) replaced; after ``scale_to_unit_range`` 0 is the middle of the range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.scaling import fill_missing
    >>> fill_missing(np.array([[1.0, np.nan]]))
    array([[1., 0.]])
    """
    return np.where(np.isnan(X), value, X)


def _as_floats(X: np.ndarray, reference: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    X = np.asarray(X, dtype=np.float64)
    return X, X if reference is None else np.asarray(reference, dtype=np.float64)
