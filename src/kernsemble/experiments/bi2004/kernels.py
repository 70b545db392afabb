"""The forms of the three kernels, libraries of them, and the exact optimum of the 2-norm problem.

With coefficients free, problem (11) over all columns H is a support vector machine: its dual has the kernel
matrix H H', and alpha = H'V. One solution of `kernel_hinge` is the optimum that column generation approaches,
whatever the library; where C is chosen by "solving the QPs completely" (section 6.2), it is chosen there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from kernsemble.hypotheses.kernel_library import (
    CompositeKernel,
    GaussianKernel,
    Kernel,
    LinearKernel,
    QuadraticKernel,
)
from kernsemble.masters.kernel_hinge import kernel_hinge_path

LinearForm = Literal["per feature", "raw"]
Offset = Literal["free", "penalized"]
QuadraticForm = Literal["(1 + xz/d)^2", "(xz/d)^2", "(1 + xz)^2"]

Model = tuple[list[np.ndarray], float]  # the coefficients of each kernel's columns, and the offset


def make_library(
    names: Sequence[str], linear_form: LinearForm, quadratic_form: QuadraticForm, factor: float = 1.0
) -> list[Kernel]:
    """Return the kernels of a library; a name such as "linear+rbf" is a composite kernel, mu = 1.

    ``factor`` multiplies the width of the RBF kernel.
    """
    quadratic = {
        "(1 + xz/d)^2": QuadraticKernel(scale="n_features", offset=1.0),
        "(xz/d)^2": QuadraticKernel(scale="n_features", offset=0.0),
        "(1 + xz)^2": QuadraticKernel(scale=1.0, offset=1.0),
    }[quadratic_form]
    single = {
        "linear": LinearKernel(scale="n_features" if linear_form == "per feature" else 1.0),
        "quadratic": quadratic,
        "rbf": GaussianKernel(width="mean", factor=factor),
    }
    made = []
    for name in names:
        parts = [single[part] for part in name.split("+")]
        made.append(parts[0] if len(parts) == 1 else CompositeKernel(parts))
    return made


def optimal_models(
    kernels: Sequence[Kernel], X: np.ndarray, y: np.ndarray, Cs: Sequence[float]
) -> list[Model]:
    """Solve problem (11) with a free offset over all columns, for each C; kernels are resolved on X."""
    matrices = [kernel.matrix(X, X) for kernel in kernels]
    gram = sum(K @ K.T for K in matrices)
    path = kernel_hinge_path(0.5 * (gram + gram.T), y, Cs)
    return [([K.T @ solution.w for K in matrices], float(solution.b)) for solution in path]


def model_scores(kernels: Sequence[Kernel], X: np.ndarray, model: Model, Z: np.ndarray) -> np.ndarray:
    """Scores at Z of a model over all columns centered at X."""
    alphas, b = model
    return sum(kernel.decision(Z, X, alpha) for kernel, alpha in zip(kernels, alphas, strict=True)) + b


def resolve(kernels: Sequence[Kernel], X: np.ndarray) -> list[Kernel]:
    """Return the kernels with the scales that depend on the training set filled in."""
    return [kernel.resolve(X) for kernel in kernels]
