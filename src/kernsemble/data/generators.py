"""Artificial problems with known densities: twonorm, threenorm, ringnorm, waveform, and two plane toys.

With e the vector of ones, alt = (1, -1, 1, ...) and a = 2 / sqrt(d), Breiman's classes in d dimensions are::

    twonorm    class 1: N(a e, I)                              class 2: N(-a e, I)
    threenorm  class 1: N(a e, I) or N(-a e, I), one in two    class 2: N(a alt, I)
    ringnorm   class 1: N(0, 4 I)                              class 2: N(a e, I)
    waveform   class 1: u h1 + (1 - u) h2 + z;  2: u h1 + (1 - u) h3 + z;  3: u h2 + (1 - u) h3 + z

with u uniform on [0, 1], z ~ N(0, I) in 21 dimensions, ``h1(i) = max(6 - |i - 11|, 0)``, h2(i) = h1(i - 4),
h3(i) = h1(i + 4). Classes have equal probabilities; class 1 is the positive one. ``bayes_decision`` is the
log-density ratio of class 1 and class 2 (for waveform the three log-densities), ``bayes_error`` the
smallest possible error: a normal tail for twonorm, non-central chi-squares for ringnorm, and an integral
over the plane of the class means for threenorm and waveform, since what is orthogonal to it does not tell
classes apart.

References
----------
.. [1] L. Breiman. Bias, variance, and arcing classifiers. Technical Report 460, University of California at
   Berkeley, 1996.
.. [2] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone. Classification and Regression Trees. Wadsworth,
   1984.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import ncx2

from kernsemble.data.base import Dataset

_BREIMAN = "L. Breiman. Bias, variance, and arcing classifiers. Technical Report 460, UC Berkeley, 1996."
_CART = "L. Breiman, J. Friedman, R. Olshen, C. Stone. Classification and Regression Trees. Wadsworth, 1984."
RandomState = int | np.random.Generator | None


def twonorm(n_samples: int, n_features: int = 20, random_state: RandomState = None) -> Dataset:
    """Draw Breiman's twonorm: two unit normals with means a e and -a e.

    Examples
    --------
    >>> from kernsemble.data.generators import bayes_decision, twonorm
    >>> data = twonorm(300, random_state=0)
    >>> data.X.shape, data.class_names
    ((300, 20), ('2', '1'))
    >>> float(((bayes_decision("twonorm", data.X) > 0) != data.y).mean()) < 0.05
    True
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    X = rng.standard_normal((n_samples, n_features))
    X += (2 * y - 1)[:, None] * _ones_mean(n_features)
    return _as_dataset("twonorm", X, y, ("2", "1"), _BREIMAN)


def threenorm(n_samples: int, n_features: int = 20, random_state: RandomState = None) -> Dataset:
    """Draw Breiman's threenorm: class 1 has two means, a e and -a e; class 2 has the mean a (1, -1, 1, ...).

    Examples
    --------
    >>> from kernsemble.data.generators import threenorm
    >>> threenorm(300, n_features=2, random_state=0).X.shape
    (300, 2)
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    side = 2 * rng.integers(0, 2, n_samples) - 1
    X = rng.standard_normal((n_samples, n_features))
    X += np.where((y == 1)[:, None], side[:, None] * _ones_mean(n_features), _alternating_mean(n_features))
    return _as_dataset("threenorm", X, y, ("2", "1"), _BREIMAN)


def ringnorm(n_samples: int, n_features: int = 20, random_state: RandomState = None) -> Dataset:
    """Draw Breiman's ringnorm: a wide normal around the origin, and a unit normal with mean a e inside it.

    Examples
    --------
    >>> from kernsemble.data.generators import ringnorm
    >>> ringnorm(300, random_state=0).X.shape
    (300, 20)
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 2, n_samples)
    X = rng.standard_normal((n_samples, n_features))
    X = np.where((y == 1)[:, None], 2.0 * X, X + _ones_mean(n_features))
    return _as_dataset("ringnorm", X, y, ("2", "1"), _BREIMAN)


def waveform(n_samples: int, random_state: RandomState = None) -> Dataset:
    """Draw the waveform problem: random mixtures of two of three triangular waves, 21 points, unit noise.

    Examples
    --------
    >>> from kernsemble.data.generators import waveform
    >>> waveform(300, random_state=0).class_names
    ('1', '2', '3')
    """
    rng = np.random.default_rng(random_state)
    y = rng.integers(0, 3, n_samples)
    u = rng.random((n_samples, 1))
    starts, ends = _wave_segments()
    X = u * starts[y] + (1.0 - u) * ends[y] + rng.standard_normal((n_samples, 21))
    return _as_dataset("waveform", X, y, ("1", "2", "3"), _CART)


def circle(n_samples: int, radius: float | None = None, random_state: RandomState = None) -> Dataset:
    """Draw points of a unit normal in the plane; those within the radius are positive (figure 1 of shen2014).

    The paper does not print its radius: the default sqrt(2 log 2) makes the classes equally likely.

    Examples
    --------
    >>> from kernsemble.data.generators import circle
    >>> data = circle(200, random_state=0)
    >>> bool(((data.X**2).sum(axis=1)[data.y == 1] < 1.39).all())
    True
    """
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, 2))
    limit = np.sqrt(2.0 * np.log(2.0)) if radius is None else radius
    y = (np.hypot(X[:, 0], X[:, 1]) <= limit).astype(np.int64)
    return _as_dataset("circle", X, y, ("outside", "inside"), "shen2014, figure 1")


def linear_rbf_target(X: np.ndarray, sigma: float = 0.25) -> np.ndarray:
    """Return x1 + 2 x2 + ``sum_c exp(-|x - c|^2 / sigma^2)``, c = (+-1/2, +-1/2): figure 1 of bi2004.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.generators import linear_rbf_target
    >>> linear_rbf_target(np.array([[0.5, 0.5]])).round(3)
    array([2.5])
    """
    centers = np.array([[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]])
    squares = ((X[:, None, :] - centers) ** 2).sum(axis=2)
    return X[:, 0] + 2.0 * X[:, 1] + np.exp(-squares / sigma**2).sum(axis=1)


def linear_rbf(
    n_samples: int, sigma: float = 0.25, noise: float = 0.1, random_state: RandomState = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw X uniform on [-1, 1]^2 and y = ``linear_rbf_target`` + noise N(0, noise^2); returns X and y.

    The paper prints neither sigma nor the noise nor the law of X: all three are choices.

    Examples
    --------
    >>> from kernsemble.data.generators import linear_rbf
    >>> X, y = linear_rbf(50, random_state=0)
    >>> X.shape, y.shape
    ((50, 2), (50,))
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(-1.0, 1.0, (n_samples, 2))
    return X, linear_rbf_target(X, sigma) + noise * rng.standard_normal(n_samples)


def flip_labels(y: np.ndarray, fraction: float, random_state: RandomState = None) -> np.ndarray:
    """Return labels of which round(fraction n), drawn without replacement, are wrong; y is 0/1 or -1/+1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.generators import flip_labels
    >>> int((flip_labels(np.ones(50), 0.1, random_state=0) == -1).sum())
    5
    """
    if not 0.0 <= fraction <= 1.0:
        raise ValueError(f"fraction must lie in [0, 1], got {fraction}.")
    values = set(np.unique(y).tolist())
    if not (values <= {0, 1} or values <= {-1, 1}):
        raise ValueError(f"y must hold 0 and 1, or -1 and +1, got {sorted(values)}.")
    rng = np.random.default_rng(random_state)
    wrong = rng.choice(len(y), size=round(fraction * len(y)), replace=False)
    flipped = np.array(y)
    # Labels that are all 1 are read as -1/+1.
    flipped[wrong] = 1 - flipped[wrong] if 0 in values else -flipped[wrong]
    return flipped


def bayes_decision(name: str, X: np.ndarray) -> np.ndarray:
    """Return the log-density ratio of class 1 and class 2 at X; for waveform, the log-densities (n, 3).

    Parameters
    ----------
    name : {"twonorm", "threenorm", "ringnorm", "waveform"}
    X : ndarray of shape (n_samples, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.generators import bayes_decision
    >>> bayes_decision("twonorm", np.zeros((1, 20)))
    array([0.])
    """
    if name not in _DECISIONS:
        raise ValueError(f"name must be one of {sorted(_DECISIONS)}, got {name!r}.")
    return _DECISIONS[name](np.asarray(X, dtype=np.float64))


def bayes_error(name: str, n_features: int = 20) -> float:
    """Return the smallest possible error rate of a generated problem (waveform has 21 features always).

    Examples
    --------
    >>> from kernsemble.data.generators import bayes_error
    >>> [round(bayes_error(name), 4) for name in ("twonorm", "threenorm", "ringnorm", "waveform")]
    [0.0228, 0.1046, 0.0124, 0.1329]
    """
    if name == "twonorm":
        return float(ndtr(-2.0))
    if name == "ringnorm":
        return _ringnorm_error(n_features)
    if name == "threenorm":
        if n_features < 2:
            raise ValueError(f"threenorm needs n_features >= 2 to tell its classes apart, got {n_features}.")
        means = np.array([_ones_mean(n_features), -_ones_mean(n_features), _alternating_mean(n_features)])
        return _plane_error("threenorm", means)
    if name == "waveform":
        return _plane_error("waveform", _waves())
    raise ValueError(f"name must be one of {sorted(_DECISIONS)}, got {name!r}.")


def _ones_mean(n_features: int) -> np.ndarray:
    return np.full(n_features, 2.0 / np.sqrt(n_features))


def _alternating_mean(n_features: int) -> np.ndarray:
    return _ones_mean(n_features) * np.where(np.arange(n_features) % 2 == 0, 1.0, -1.0)


def _waves() -> np.ndarray:
    """Return h1, h2, h3 as rows."""
    i = np.arange(1, 22)
    return np.array([np.maximum(6.0 - np.abs(i - shift), 0.0) for shift in (11, 15, 7)])


def _wave_segments() -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the segment of noise-free points of each class: u = 1, then u = 0."""
    h1, h2, h3 = _waves()
    return np.array([h1, h1, h2]), np.array([h2, h3, h3])


def _twonorm_decision(X: np.ndarray) -> np.ndarray:
    return 2.0 * (X @ _ones_mean(X.shape[1]))


def _threenorm_decision(X: np.ndarray) -> np.ndarray:
    # All means have the norm 2, so that the quadratic terms cancel.
    along = X @ _ones_mean(X.shape[1])
    return np.logaddexp(along, -along) - np.log(2.0) - X @ _alternating_mean(X.shape[1])


def _ringnorm_decision(X: np.ndarray) -> np.ndarray:
    d = X.shape[1]
    narrow = ((X - _ones_mean(d)) ** 2).sum(axis=1)
    return 0.5 * narrow - (X**2).sum(axis=1) / 8.0 - 0.5 * d * np.log(4.0)


def _waveform_decision(X: np.ndarray) -> np.ndarray:
    """Log-densities: the integral of a normal density along a segment is a difference of two normal tails."""
    starts, ends = _wave_segments()
    densities = np.empty((len(X), 3))
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        densities[:, k] = _segment_log_density(X, end, start)
    return densities


def _segment_log_density(X: np.ndarray, origin: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Return the log-density of a uniform point of the segment plus N(0, I)."""
    length = np.linalg.norm(tip - origin)
    along = (X - origin) @ (tip - origin) / length
    across = ((X - origin) ** 2).sum(axis=1) - along**2
    # Both tails are taken on the side where they are small, lest their difference cancel.
    far = np.where(along > 0.5 * length, along, length - along)
    near = far - length
    tails = logsumexp([log_ndtr(-near), log_ndtr(-far)], axis=0, b=np.array([[1.0], [-1.0]]))
    return tails - 0.5 * across - np.log(length) - 0.5 * (X.shape[1] - 1) * np.log(2.0 * np.pi)


_DECISIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "twonorm": _twonorm_decision,
    "threenorm": _threenorm_decision,
    "ringnorm": _ringnorm_decision,
    "waveform": _waveform_decision,
}


def _ringnorm_error(n_features: int) -> float:
    """Class 2 is chosen inside the ball ``|x - 4/3 a e|^2 < 4/3 (d log 4 + 4/3)``, where ``|a e| = 2``."""
    square = 4.0 / 3.0 * (n_features * np.log(4.0) + 4.0 / 3.0)
    wide_inside = ncx2.cdf(square / 4.0, n_features, 16.0 / 9.0)
    narrow_outside = ncx2.sf(square, n_features, 4.0 / 9.0)
    return float(0.5 * (wide_inside + narrow_outside))


def _plane_error(name: str, points: np.ndarray, step: float = 0.05, margin: float = 7.0) -> float:
    """Integrate 1 - max_k p_k(x) / K over the plane of three points, by the trapezoidal rule."""
    basis = np.linalg.svd(points[1:] - points[0], full_matrices=False)[2][:2]
    corners = (points - points[0]) @ basis.T
    axes = [
        np.arange(low - margin, high + margin, step)
        for low, high in zip(corners.min(0), corners.max(0), strict=True)
    ]
    correct = 0.0
    for coordinate in axes[0]:
        line = np.column_stack([np.full(len(axes[1]), coordinate), axes[1]])
        correct += np.exp(_log_densities(name, points[0] + line @ basis)).max(axis=1).sum()
    # Densities are taken in all d dimensions at points of the plane; the normal factor across it is constant.
    factor = (2.0 * np.pi) ** (0.5 * (points.shape[1] - 2))
    n_classes = 3 if name == "waveform" else 2
    return float(1.0 - correct * step**2 * factor / n_classes)


def _log_densities(name: str, X: np.ndarray) -> np.ndarray:
    """Return the log-densities of the classes of threenorm or waveform, one column a class."""
    if name == "waveform":
        return _waveform_decision(X)
    d = X.shape[1]
    constant = -0.5 * d * np.log(2.0 * np.pi)
    class_2 = constant - 0.5 * ((X - _alternating_mean(d)) ** 2).sum(axis=1)
    return np.column_stack([class_2 + _threenorm_decision(X), class_2])


def _as_dataset(
    name: str, X: np.ndarray, y: np.ndarray, class_names: tuple[str, ...], citation: str
) -> Dataset:
    names = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return Dataset(name, X, y.astype(np.int64), names, class_names, citation)
