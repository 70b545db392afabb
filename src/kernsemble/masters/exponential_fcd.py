"""Fast coordinate descent, the solver of lin2012: algorithm 2.

Problem: (2) of lin2012 over the columns found so far (see ``exponential``).

Working set iteration 1 minimizes over the new variables, one after the other; each later one draws as many
variables as violate the conditions of optimality by more than ``eps``, at random among them (17). One
iteration alone (``tau_max=1``) is the stage-wise method, MultiBoost-cw-1 of the paper at C = 1e8.

Stop: largest violation (16) at most ``eps`` (18), or ``tau_max`` iterations, which is no failure: the paper
stops there on purpose.
"""

from __future__ import annotations

import math

import numpy as np

from kernsemble.masters.exponential_state import ExponentialState


class FastCoordinateDescent:
    """Warm-started solver of one ``ExponentialState``.

    Parameters
    ----------
    state : ExponentialState
        What is solved, in place.
    eps : float
        Violation below which a variable is left alone.
    tau_max : int
        Working set iterations in one ``solve``, at most.
    random : numpy.random.Generator
        Draws the order from the second iteration on.
    """

    def __init__(self, state: ExponentialState, eps: float, tau_max: int, random: np.random.Generator):
        self._state, self.eps, self.tau_max, self._random = state, eps, tau_max, random

    def solve(self, new: np.ndarray, target: float = -math.inf) -> tuple[int, bool, str]:
        """Re-optimize after the variables ``new`` were appended; return iterations, success and a message.

        An objective of ``target`` or less also ends it, so that solvers can be raced to a known optimum.
        """
        state, order = self._state, new
        for tau in range(1, self.tau_max + 1):
            state.coordinate_pass(order)
            if state.objective <= target:
                return tau, True, "target reached"
            violated = np.flatnonzero(state.violations(state.scores()) > self.eps)
            if not len(violated):
                return tau, True, "violations within eps"
            order = self._random.choice(violated, len(violated))
        return self.tau_max, True, "tau_max reached"
