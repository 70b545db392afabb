"""Second-order master of the multi-class exponential loss: projected Newton steps with a curvature that may
be old.

Problem: (2) of lin2012 over the columns found so far (see ``exponential``).

Each step minimizes the quadratic model of ``exponential_metric`` over w + d >= 0 and searches along d by
Armijo's rule. The model is built at a reference point and used on while it is worth it: the steps contract
the distance to the optimum by some factor, and once the steps still needed at this factor cost more than a
new reference, one is made. In column generation one reference serves several rounds. New columns first get a
pass of exact coordinate steps, because their weights start far from where a quadratic model holds.

Stop: duality gap at most ``tol`` times the objective.
"""

from __future__ import annotations

import math

import numpy as np

from kernsemble.masters.exponential_metric import ReferenceMetric
from kernsemble.masters.exponential_state import ExponentialState


class LaggedNewton:
    """Warm-started solver of one ``ExponentialState``.

    Parameters
    ----------
    state : ExponentialState
        What is solved, in place.
    tol : float
        Relative duality gap to stop at.
    max_iter : int
        Newton steps in one ``solve``, at most.
    """

    def __init__(self, state: ExponentialState, tol: float, max_iter: int):
        self._state, self.tol, self.max_iter = state, tol, max_iter
        self._metric = ReferenceMetric()
        self._is_stale = True
        self._is_fresh = False

    def solve(self, new: np.ndarray, target: float = -math.inf) -> tuple[int, bool, str]:
        """Re-optimize after the variables ``new`` were appended; return steps, success and a message.

        An objective of ``target`` or less also ends it, so that solvers can be raced to a known optimum.
        """
        state, self._promised = self._state, math.inf
        state.coordinate_pass(new)
        for n_iter in range(self.max_iter + 1):
            if state.objective <= target:
                return n_iter, True, "target reached"
            scores = state.scores()
            if state.gap(scores) <= self.tol * state.objective:
                return n_iter, True, "duality gap within tol"
            if n_iter < self.max_iter:
                self._step(scores)
        return self.max_iter, False, "Increase max_iter or tol."

    def _step(self, scores: np.ndarray) -> None:
        state, metric = self._state, self._metric
        active = np.flatnonzero((state.w > 0) | (scores > 1.0))
        self._prepare(active)
        variables = metric.variables
        root = np.sqrt(state.mass[state.class_of[variables]])
        g = (1.0 - scores[variables]) / root
        z, promised = metric.minimize(g, -state.w[variables] * root)
        slope = float(g @ z)
        step = state.line_search(variables, z / root, slope) if slope < 0 else 0.0
        if step == 0.0:  # the model's rounding outweighs what is left to gain: exact steps gain it
            state.coordinate_pass(active)
        self._is_stale = not self._is_fresh and (step < 1.0 or self._is_new_reference_due(promised))
        self._promised = promised

    def _prepare(self, active: np.ndarray) -> None:
        """Give all active variables slots: in a new reference if one is due, else beside the others."""
        metric = self._metric
        missing = metric.missing(active, len(self._state.w))
        is_clogged = metric.n_held > 32 + 0.1 * len(active)  # slots at their bound cost more than others
        self._is_fresh = self._is_stale or is_clogged or len(missing) > 0.5 * len(active)
        if self._is_fresh:
            self._metric.rebuild(self._state, active)
        elif len(missing):
            self._metric.extend(self._state, missing)

    def _is_new_reference_due(self, promised: float) -> bool:
        """Whether the steps still needed cost more than a new reference and two steps; in nanoseconds."""
        if math.isinf(self._promised):
            return False  # the first step of a solve tells nothing
        contraction = promised / self._promised
        if not (promised > 0 and 0 < contraction < 1):
            return True
        # The gap falls with the root of the decrease; where it does not, a tenth is still to be gained.
        goal = min(0.03 * self.tol**2 * self._state.objective, 0.1 * promised)
        state, n = self._state, len(self._metric.variables)
        reference = 0.02 * n**2 * (1.5 * state.n_samples / state.n_classes + 0.3 * n) + 3e5
        step = 0.2 * len(state.w) * state.n_samples + 0.5 * n**2 + 3e5
        return math.log(goal / promised) / math.log(contraction) * step > reference + 2 * step
