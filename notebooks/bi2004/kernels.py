"""The forms of the three kernels, libraries of them, and the exact optimum of the 2-norm problem.

With coefficients free, problem (11) over all columns H is a support vector machine: its dual has the kernel
matrix H H'. One solution is the optimum that column generation approaches, whatever the
library; where C is chosen by "solving the QPs completely" (section 6.2), it is chosen there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kernsemble.hypotheses.kernel_library import (
    CompositeKernel,
    GaussianKernel,
    Kernel,
    LinearKernel,
    QuadraticKernel,
)
from kernsemble.masters.quadratic import Hinge

LinearForm = Literal["per feature", "raw"]
Offset = Literal["free", "penalized", "none"]
QuadraticForm = Literal["(1 + xz/d)^2", "(xz/d)^2", "(1 + xz)^2"]

_TOL = 1e-5  # relative gap

Model = tuple[list[np.ndarray], float]  # the coefficients of each kernel's columns, and the offset


@dataclass(frozen=True)
class Forms:
    """What the linear and the quadratic kernel are; the RBF kernel's width is the paper's."""

    linear_form: LinearForm
    quadratic_form: QuadraticForm


def make_library(names: Sequence[str], forms: Forms) -> list[Kernel]:
    """Return the kernels of a library; a name such as "linear+rbf" is a composite kernel, mu = 1."""
    quadratic = {
        "(1 + xz/d)^2": QuadraticKernel(scale="n_features", offset=1.0),
        "(xz/d)^2": QuadraticKernel(scale="n_features", offset=0.0),
        "(1 + xz)^2": QuadraticKernel(scale=1.0, offset=1.0),
    }[forms.quadratic_form]
    single = {
        "linear": LinearKernel(scale="n_features" if forms.linear_form == "per feature" else 1.0),
        "quadratic": quadratic,
        "rbf": GaussianKernel(width="mean"),
    }
    made = []
    for name in names:
        parts = [single[part] for part in name.split("+")]
        made.append(parts[0] if len(parts) == 1 else CompositeKernel(parts))
    return made


def optimal_models(
    kernels: Sequence[Kernel],
    X: np.ndarray,
    y: np.ndarray,
    Cs: Sequence[float],
    offset: Offset,
    weight: np.ndarray | None = None,
) -> list[Model]:
    """Solve problem (11) over all columns, for each C; kernels are resolved on X, losses may have weights."""
    H = np.hstack([kernel.matrix(X, X) for kernel in kernels])
    # H = Z Q': the problem over the columns of the square Z has the same scores, and alpha = Q z.
    Q, R = np.linalg.qr(H.T)
    weight = np.ones(len(y)) if weight is None else weight
    solved = [_solve_whole(R.T, y, C * weight, offset) for C in Cs]
    return [(np.split(Q @ z, len(kernels)), b) for z, b in solved]


def _solve_whole(Z: np.ndarray, y: np.ndarray, C: np.ndarray, offset: Offset) -> tuple[np.ndarray, float]:
    solution = Hinge(y, 1.0, sample_weight=C, intercept=offset, tol=_TOL, H=Z).solve()
    solution.warn_unless_converged("problem (11) over all columns")
    return solution.w, float(solution.b)


def model_scores(kernels: Sequence[Kernel], X: np.ndarray, model: Model, Z: np.ndarray) -> np.ndarray:
    """Scores at Z of a model over all columns centered at X."""
    alphas, b = model
    return sum(kernel.decision(Z, X, alpha) for kernel, alpha in zip(kernels, alphas, strict=True)) + b


def resolve(kernels: Sequence[Kernel], X: np.ndarray) -> list[Kernel]:
    """Return the kernels with the scales that depend on the training set filled in."""
    return [kernel.resolve(X) for kernel in kernels]
