"""L-BFGS-B on the multi-class exponential loss: the solver of MultiBoost in lin2012, and the peer of the
others.

Problem: (2) of lin2012 over the columns found so far (see ``exponential``), by scipy's L-BFGS-B on the same
columns and the same kernels, so that a comparison is one of methods.

Stop: scipy's own (relative decrease ``ftol``, projected gradient ``gtol``), at its defaults as in the paper;
with ``tol``, also a duality gap of at most tol times the objective, which costs nothing beside the gradient.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize

from kernsemble.masters.exponential_state import ExponentialState


class _Reached(Exception):  # noqa: N818 - a signal, not an error
    """Raised inside the objective function when a stopping rule of ours holds."""


class LimitedMemory:
    """Warm-started solver of one ``ExponentialState``.

    Parameters
    ----------
    state : ExponentialState
        What is solved, in place.
    tol : float
        Relative duality gap to stop at; 0 leaves the end to scipy.
    max_iter : int
        Iterations in one ``solve``, at most.
    ftol, gtol : float
        scipy's rules.
    """

    def __init__(
        self, state: ExponentialState, tol: float = 0.0, max_iter: int = 15_000, *, ftol=2.2e-9, gtol=1e-5
    ):
        self._state, self.tol = state, tol
        self._options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": ftol, "gtol": gtol}

    def solve(self, new: np.ndarray, target: float = -math.inf) -> tuple[int, bool, str]:
        """Re-optimize after the variables ``new`` were appended; return iterations, success and a message.

        An objective of ``target`` or less also ends it, so that solvers can be raced to a known optimum.
        """
        state, self._target, self._calls = self._state, target, 0
        if not len(state.w):  # scipy takes no problem without variables
            return 0, True, "there are no columns"
        try:
            found = minimize(
                self._evaluate, state.w, jac=True, method="L-BFGS-B",
                bounds=[(0.0, None)] * len(state.w), options=self._options,
            )  # fmt: skip
        except _Reached:
            return self._calls, True, "tol or target reached"
        state.w = found.x
        state.refresh()
        return int(found.nit), bool(found.success), str(found.message)

    def _evaluate(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Objective and gradient at w."""
        state = self._state
        state.w, self._calls = w.copy(), self._calls + 1
        state.refresh()
        scores = state.scores()
        objective = state.objective
        if objective <= self._target or state.gap(scores) <= self.tol * objective:
            raise _Reached
        return objective, 1.0 - scores
