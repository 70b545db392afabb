"""What every restricted master problem takes and gives back.

A master minimizes a regularized loss over the columns H (n_samples x n_columns) found so far.
It lives across rounds: ``add`` appends a column, ``solve`` re-optimizes from where the last round stopped.
Whatever the loss and the norm, it answers with one ``Solution``, and its duality gap is the certificate.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

INTERCEPTS = ("none", "free", "penalized")


@dataclass(frozen=True)
class Solution:
    """Primal and dual solution of one (restricted) master problem.

    Attributes
    ----------
    w : ndarray of shape (n_columns,) or (n_columns, n_outputs)
        Weights of the columns.
    b : float or ndarray of shape (n_outputs,)
        Intercept; 0.0 where the problem has none.
    u : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Dual weights of the samples, on the scale of the dual problem in the master's docstring.
    objective : float
        Primal objective at (w, b).
    gap : float
        Primal minus dual objective of the restricted problem, both feasible: never negative beyond rounding.
    n_iter : int
        Iterations of the inner solver.
    converged : bool
        Whether the stopping rule was met.
    message : str
        Why the solver stopped, and what to do when it did not converge.
    gain : float
        What is linear in u in the dual objective of an l2 master, the rest being quadratic: it decides which
        multiple of u is best for the problem over all hypotheses. nan where multiples are not feasible.
    """

    w: np.ndarray
    b: float | np.ndarray
    u: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool
    message: str = field(default="")
    gain: float = field(default=float("nan"), kw_only=True)

    @property
    def dual_objective(self) -> float:
        """Dual objective at u."""
        return self.objective - self.gap

    @property
    def relative_gap(self) -> float:
        """Gap divided by max(1, |objective|)."""
        return self.gap / max(1.0, abs(self.objective))

    def warn_unless_converged(self, name: str) -> Solution:
        """Emit a ConvergenceWarning that names the solver and its gap; return self."""
        if not self.converged:
            warnings.warn(
                f"{name} stopped after {self.n_iter} iterations with a duality gap of {self.gap:.3g} "
                f"(objective {self.objective:.6g}). {self.message or 'Increase max_iter or tol.'}",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self


def relative(gap: float, objective: float) -> float:
    """Gap divided by the size of the objective; 0 without a gap, infinite beside an objective of 0."""
    if objective == 0.0:
        return 0.0 if gap <= 0.0 else float("inf") * gap
    return float(gap / abs(objective))


class Master(Protocol):
    """A restricted master problem that grows by columns: an `L1Master` or an `L2Master`."""

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64.

        ``output`` says for which column of V the oracle found it; masters whose columns serve all outputs
        ignore it.
        """

    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started."""

    def pricing_weights(self) -> np.ndarray:
        """Signed weights V that the oracle prices with: (n_samples,) or (n_samples, n_outputs).

        Before the first ``solve`` they are the paper's start. ``V[i] = u_i y_i`` for a binary master.
        """

    def threshold(self) -> float:
        """Score above which a column is missing from the master: 1 for an l1 norm, 0 for an l2 norm."""


class L2Master(Master, Protocol):
    """A master with the penalty 1/2 |w|^2; its threshold is 0.

    Its dual weights are feasible for all hypotheses. The gap of the problem over all of them is that of the
    solution plus half the oracle's ``sum_of_squares`` (equation (9) of shen2014).
    """


class L1Master(Master, Protocol):
    """A master with the penalty |w|_1; its threshold is 1."""

    def full_gap(self, score: float) -> float:
        """Duality gap of the problem over ALL hypotheses, given the largest score among them."""
