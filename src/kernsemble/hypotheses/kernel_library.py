r"""The kernels of a mixture, each with the cheapest way to price and to evaluate its columns.

A kernel gives three things: its matrix, ``scores`` V'K(X, Z) and ``decision`` K(X, Z) w. The last two need
no matrix where the kernel is a polynomial of inner products::

    linear     V'K_j = (X'V / s) z_j                             K w = X (Z'w / s)
    quadratic  V'K_j = o^2 1'V + 2 o/s (X'V)'z_j + z_j'(X' diag(V) X) z_j / s^2,  and K w alike

so a scan of all n linear columns costs O(n d) and of all quadratic ones O(n d^2), not O(n^2 d). Others go
by blocks.

bi2004 does not print the forms of its kernels. The RBF kernel is ``exp(-||x - z||^2 / sigma)`` with sigma
the mean of ``||x_i - x_j||^2`` over the training set (section 6). For the others form and scale are
parameters: ``scale="n_features"`` divides the inner product by d, which keeps the quadratic kernel of
standardized data in reach of the solvers.

bi2004 symbols: K_p = a kernel, mu_p = ``CompositeKernel.weights``, sigma = ``width``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernsemble.hypotheses.base import label
from kernsemble.kernels import gaussian_kernel, linear_kernel, quadratic_kernel

_BLOCK = 1 << 21  # kernel values that exist at a time while scores or decisions are computed


@dataclass(frozen=True)
class Kernel:
    """Base of the kernels in a library: blockwise scores and decisions from ``matrix``."""

    name = "kernel"

    @property
    def structured(self) -> bool:
        """Whether ``scores`` is much cheaper than the matrix."""
        return False

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels this one is made of; itself, unless composite."""
        return (self,)

    def resolve(self, X: np.ndarray) -> Kernel:
        """Return the kernel with scales that depend on the training set filled in."""
        return self

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        raise NotImplementedError

    def scores(self, X: np.ndarray, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """``V @ matrix(X, Z)``, a block of columns at a time; samples with V = 0 cost nothing."""
        used = np.flatnonzero(V)
        if len(used) < len(V):
            X, V = X[used], V[used]
        step = max(1, _BLOCK // max(1, len(X)))
        blocks = [V @ self.matrix(X, Z[start : start + step]) for start in range(0, len(Z), step)]
        return np.concatenate(blocks) if blocks else np.zeros(0)

    def decision(self, X: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """``matrix(X, Z) @ w``, a block of rows at a time."""
        step = max(1, _BLOCK // max(1, len(Z)))
        blocks = [self.matrix(X[start : start + step], Z) @ w for start in range(0, len(X), step)]
        return np.concatenate(blocks) if blocks else np.zeros((0, *w.shape[1:]))

    def n_evaluations(self, n_centers: int) -> int:
        """Kernel values that one prediction computes from so many centers."""
        return n_centers


@dataclass(frozen=True)
class LinearKernel(Kernel):
    """``<x, z> / scale``.

    Parameters
    ----------
    scale : float or "n_features", default=1.0
        Divides the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> LinearKernel().matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    scale: float | str = 1.0
    name = "linear"

    @property
    def structured(self) -> bool:
        """A scan of all columns costs one product with X."""
        return True

    def resolve(self, X: np.ndarray) -> LinearKernel:
        """Return the kernel with a number for ``scale``."""
        return replace(self, scale=_scale(self.scale, X))

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        return linear_kernel(X, Z) / self.scale

    def scores(self, X: np.ndarray, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """``Z (X'V) / scale``."""
        return Z @ ((X.T @ V) / self.scale)

    def decision(self, X: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """``X (Z'w) / scale``: all columns collapse into one weight vector."""
        return X @ ((Z.T @ w) / self.scale)

    def n_evaluations(self, n_centers: int) -> int:
        """One, whatever the number of centers."""
        return min(1, n_centers)


@dataclass(frozen=True)
class QuadraticKernel(Kernel):
    """``(offset + <x, z> / scale)^2``.

    Parameters
    ----------
    scale : float or "n_features", default="n_features"
        Divides the inner product.
    offset : float, default=1.0
        1 for the inhomogeneous form, 0 for the homogeneous one.

    Examples
    --------
    >>> import numpy as np
    >>> QuadraticKernel(scale=1.0).matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

    scale: float | str = "n_features"
    offset: float = 1.0
    name = "quadratic"

    @property
    def structured(self) -> bool:
        """A scan of all columns costs one matrix of second moments."""
        return True

    def resolve(self, X: np.ndarray) -> QuadraticKernel:
        """Return the kernel with a number for ``scale``."""
        return replace(self, scale=_scale(self.scale, X))

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        return quadratic_kernel(X, Z, scale=self.scale, offset=self.offset)

    def scores(self, X: np.ndarray, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """``V @ matrix(X, Z)`` by the moments of X under V, where that is cheaper."""
        if _moments_pay(X, Z):
            return self._by_moments(X, V, Z)
        return super().scores(X, V, Z)

    def decision(self, X: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """``matrix(X, Z) @ w`` by the moments of Z under w, where that is cheaper."""
        if w.ndim == 1 and _moments_pay(X, Z):
            return self._by_moments(Z, w, X)
        return super().decision(X, Z, w)

    def _by_moments(self, X: np.ndarray, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        linear = (2.0 * self.offset / self.scale) * (X.T @ V)
        second = np.zeros((X.shape[1], X.shape[1]))
        step = max(1, _BLOCK // max(1, X.shape[1]))
        for start in range(0, len(X), step):
            rows = X[start : start + step]
            second += (rows * V[start : start + step, None]).T @ rows
        out = np.empty(len(Z))
        for start in range(0, len(Z), step):
            rows = Z[start : start + step]
            out[start : start + step] = np.einsum("ij,ij->i", rows @ second, rows)
        return self.offset**2 * V.sum() + Z @ linear + out / self.scale**2


@dataclass(frozen=True)
class GaussianKernel(Kernel):
    """``exp(-||x - z||^2 / (factor width))``.

    Parameters
    ----------
    width : float or "mean", default="mean"
        sigma; "mean" is the mean of ``||x_i - x_j||^2`` over the training set.
    factor : float, default=1.0
        Multiplies the width: a library of several makes a mixture of several widths.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0]])
    >>> GaussianKernel().resolve(X).width
    2.0
    """

    width: float | str = "mean"
    factor: float = 1.0
    name = "rbf"

    def resolve(self, X: np.ndarray) -> GaussianKernel:
        """Return the kernel with a number for ``width``."""
        if self.width != "mean":
            return self
        # mean_ij ||x_i - x_j||^2 = 2 (mean |x|^2 - |mean x|^2), twice the summed variances
        return replace(self, width=2.0 * float(X.var(axis=0).sum()) or 1.0)

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        return gaussian_kernel(X, Z, gamma=1.0 / (self.factor * self.width))


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """Any function ``(X, Z) -> matrix``, such as ``stump_kernel``; it need not be positive semi-definite.

    Parameters
    ----------
    function : callable
        The kernel.
    """

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]

    @property
    def name(self) -> str:
        """Name of the function."""
        return label(self.function)

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        return np.asarray(self.function(X, Z), dtype=np.float64)


@dataclass(frozen=True)
class CompositeKernel(Kernel):
    """One kernel that is a weighted sum, bi2004's (2): its columns are columns of the sum.

    Parameters
    ----------
    components : sequence of Kernel
        The kernels that are added.
    weights : sequence of float, optional
        mu_p, one a kernel; ones by default, as in the paper's experiments.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = CompositeKernel([LinearKernel(), QuadraticKernel(scale=1.0)], weights=[1.0, 0.5])
    >>> kernel.name
    'linear+quadratic'
    >>> kernel.matrix(np.array([[1.0]]), np.array([[2.0]]))
    array([[6.5]])
    """

    components: Sequence[Kernel]
    weights: Sequence[float] | None = None
    mu: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        weights = [1.0] * len(self.components) if self.weights is None else self.weights
        if len(weights) != len(self.components) or not len(weights):
            raise ValueError(f"weights has {len(weights)} entries for {len(self.components)} components.")
        object.__setattr__(self, "mu", tuple(float(weight) for weight in weights))

    @property
    def name(self) -> str:
        """Names of the components, joined by a plus."""
        return "+".join(kernel.name for kernel in self.components)

    @property
    def structured(self) -> bool:
        """Whether every component is."""
        return all(kernel.structured for kernel in self.components)

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The components."""
        return tuple(self.components)

    def resolve(self, X: np.ndarray) -> CompositeKernel:
        """Return the sum of the resolved components."""
        return replace(self, components=tuple(kernel.resolve(X) for kernel in self.components))

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        return self._sum(kernel.matrix(X, Z) for kernel in self.components)

    def scores(self, X: np.ndarray, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """``V @ matrix(X, Z)``, each component in its own way."""
        return self._sum(kernel.scores(X, V, Z) for kernel in self.components)

    def decision(self, X: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """``matrix(X, Z) @ w``, each component in its own way."""
        return self._sum(kernel.decision(X, Z, w) for kernel in self.components)

    def n_evaluations(self, n_centers: int) -> int:
        """Sum over the components."""
        return sum(kernel.n_evaluations(n_centers) for kernel in self.components)

    def _sum(self, terms) -> np.ndarray:
        return sum(weight * term for weight, term in zip(self.mu, terms, strict=True))


@dataclass(frozen=True)
class FeatureKernel(Kernel):
    """A kernel of a group of features: a library of several is one of views of the data.

    Parameters
    ----------
    features : sequence of int
        Columns of X that the kernel looks at.
    kernel : Kernel, str or callable, default="rbf"
        The kernel of these columns.
    called : str, default=""
        Name of the group; by default that of the kernel with the columns.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = FeatureKernel([1], "linear")
    >>> kernel.name, kernel.matrix(np.array([[5.0, 2.0]]), np.array([[7.0, 3.0]]))
    ('linear[1]', array([[6.]]))
    """

    features: Sequence[int]
    kernel: Kernel | str | Callable = "rbf"
    called: str = ""

    @property
    def name(self) -> str:
        """Name of the group."""
        return self.called or f"{as_kernel(self.kernel).name}{list(self.features)}"

    @property
    def structured(self) -> bool:
        """Whether the kernel of the columns is."""
        return as_kernel(self.kernel).structured

    def resolve(self, X: np.ndarray) -> FeatureKernel:
        """Return the kernel with scales that depend on the training set's columns filled in."""
        n_features = X.shape[1]
        if not len(self.features) or not all(-n_features <= column < n_features for column in self.features):
            raise ValueError(
                f"features={self.features!r}: name at least one column of X, from 0 to {n_features - 1}."
            )
        return replace(self, kernel=as_kernel(self.kernel).resolve(self._group(X)))

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        return as_kernel(self.kernel).matrix(self._group(X), self._group(Z))

    def scores(self, X: np.ndarray, V: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """``V @ matrix(X, Z)``, in the way of the kernel of the columns."""
        return as_kernel(self.kernel).scores(self._group(X), V, self._group(Z))

    def decision(self, X: np.ndarray, Z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """``matrix(X, Z) @ w``, in the way of the kernel of the columns."""
        return as_kernel(self.kernel).decision(self._group(X), self._group(Z), w)

    def n_evaluations(self, n_centers: int) -> int:
        """Kernel values that one prediction computes from so many centers."""
        return as_kernel(self.kernel).n_evaluations(n_centers)

    def _group(self, X: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(X[:, list(self.features)])


@dataclass(frozen=True, eq=False)
class GramKernel(Kernel):
    """A kernel given as its matrix over all samples: X then is their numbers, one column of integers.

    Folds and searches pick numbers, so the same matrix, or list of matrices, serves training and prediction.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Kernel values of all samples, those to predict for among them; kept as they are, not copied.
    called : str, default="gram"
        Name of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = GramKernel(np.array([[4.0, 1.0], [1.0, 9.0]]))
    >>> kernel.matrix(np.array([[1.0]]), np.array([[0.0], [1.0]]))
    array([[1., 9.]])
    """

    values: np.ndarray = field(repr=False)
    called: str = "gram"

    def __post_init__(self) -> None:
        if np.ndim(self.values) != 2 or len(self.values) != len(self.values[0]):
            raise ValueError(f"values has shape {np.shape(self.values)}: give a square matrix.")

    def __deepcopy__(self, memo: dict) -> GramKernel:
        """Return itself: folds and searches share the matrix."""
        return self

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.called

    def matrix(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Kernel values of shape (len(X), len(Z))."""
        values = np.asarray(self.values)[np.ix_(self._numbers(X), self._numbers(Z))]
        return values.astype(np.float64, copy=False)

    def _numbers(self, X: np.ndarray) -> np.ndarray:
        numbers = X[:, 0].astype(np.intp)
        right = X.shape[1] == 1 and np.all(
            (X[:, 0] == numbers) & (numbers >= 0) & (numbers < len(self.values))
        )
        if not right:
            raise ValueError(
                f"Kernel {self.name!r} is a matrix of {len(self.values)} samples: X must be their numbers, "
                f"one column of integers from 0 to {len(self.values) - 1}."
            )
        return numbers


_BY_NAME = {
    "gaussian": GaussianKernel,  # the same as rbf
    "linear": LinearKernel,
    "quadratic": QuadraticKernel,
    "rbf": GaussianKernel,
}


def as_kernel(kernel: Kernel | str | Callable) -> Kernel:
    """Return a Kernel for a name ("linear", "quadratic", "rbf", or several joined by "+"), or for a function.

    Examples
    --------
    >>> as_kernel("linear+rbf").name
    'linear+rbf'
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    names = str(kernel).split("+")
    if not all(name in _BY_NAME for name in names):
        raise ValueError(
            f"kernel={kernel!r} is not known; use one of {sorted(_BY_NAME)}, several joined by '+' for their "
            "sum, a Kernel of kernsemble.hypotheses.kernel_library, or a function of (X, Z)."
        )
    kernels = [_BY_NAME[name]() for name in names]
    return kernels[0] if len(kernels) == 1 else CompositeKernel(kernels)


def _scale(scale: float | str, X: np.ndarray) -> float:
    """Return a number for a scale."""
    if scale == "n_features":
        return float(X.shape[1])
    if isinstance(scale, str) or not scale > 0:
        raise ValueError(f"scale={scale!r}: use a positive number or 'n_features'.")
    return float(scale)


def _moments_pay(X: np.ndarray, Z: np.ndarray) -> bool:
    """Whether d^2 (n + m) multiplications are fewer than n m d."""
    return X.shape[1] * (len(X) + len(Z)) < len(X) * len(Z)
