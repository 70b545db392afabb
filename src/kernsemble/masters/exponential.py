r"""The l1-regularized multi-class exponential loss: problem (2) of lin2012 (Lin, Shen, van den Hengel, Suter,
ACCV 2012), over the columns found so far.

::

    Primal:  min_{w >= 0}  |w|_1 + (C/p) sum_i s_i sum_{y != y_i} exp(-gamma_(i,y)),   p = (K - 1) sum_i s_i
             gamma_(i,y) = F_{y_i}(x_i) - F_y(x_i),   F_k = sum of w h over the columns of class k        (1)
    Dual:    max_{lambda >= 0}  sum_i sum_{y != y_i} lambda_(i,y) [1 - log(lambda_(i,y) p / (C s_i))]     (3a)
             s.t.  sum_i V[i, k] h(x_i) <= 1  for every column h of every class k                        (3b)

with V[i, k] = -lambda_(i,k) for k != y_i and V[i, y_i] = sum_y lambda_(i,y). The columns of MultiBoost-cw
belong to one class each; those of MultiBoost serve all classes, with K weights.

(3c), 0 <= sum_y lambda_(i,y) <= C/p, is left out. It is what a hinge loss would add: the conjugate of
exp(-gamma) is finite for every lambda >= 0, so nothing bounds lambda from above. By (5) the optimal lambda is
(C/p) exp(-gamma), which exceeds C/p wherever a margin is negative: with (3c) the optimum would be infeasible,
without it duality is strong (``tests/library/test_exponential.py`` shows both).

Stop: duality gap at most ``tol`` times the objective, for a lambda scaled until it satisfies (3b); "fcd" and
"lbfgsb" stop by rules of their own, and report the same gap.

Solvers, in ``exponential_solvers``: "newton"; "fcd", algorithm 2 as printed; "lbfgsb".

Paper symbols: lambda = u, c = output, m = n_samples, theta = violations, tau_max = tau_max, epsilon = eps.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from kernsemble.masters.base import Solution
from kernsemble.masters.exponential_solvers import (
    ExponentialState,
    FastCoordinateDescent,
    LaggedNewton,
    LimitedMemory,
)

_FINE = 1e-5  # relative gaps that a model in float32 does not reach over columns that serve all classes

SOLVERS = ("newton", "fcd", "lbfgsb")


class Exponential:
    """Master of the l1-regularized multi-class exponential loss.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Classes 0..K-1 of the samples, each of which occurs.
    C : float, default=1e4
        Weight of the mean loss over pairs (sample, wrong class).
    sample_weight : ndarray of shape (n_samples,), optional
        Positive weights s_i; equal by default.
    per_class : bool, default=True
        Whether a column belongs to one class (MultiBoost-cw) or serves all of them (MultiBoost).
    solver : {"newton", "fcd", "lbfgsb"}, default="newton"
        How the problem is solved.
    tol : float, default=1e-2
        Relative duality gap to stop at (newton). The objective is above its minimum by the order of the gap's
        square: at 1e-7 by rounding alone.
    eps : float, default=0.1
        Violation of the optimality conditions to stop at (fcd).
    tau_max : int, default=10
        Working set iterations in one ``solve``, at most (fcd).
    max_iter : int, default=500
        Iterations in one ``solve``, at most (newton, lbfgsb).
    random_state : int, Generator or None, default=0
        Order of the coordinates (fcd).

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.exponential import Exponential
    >>> labels = np.array([0, 0, 1, 1, 2, 2])
    >>> master = Exponential(labels, C=100.0)
    >>> for k in range(3):
    ...     master.add(np.where(labels == k, 1, -1), output=k)
    >>> solution = master.solve()
    >>> bool(solution.gap <= 1e-2 * solution.objective)
    True
    """

    def __init__(
        self,
        labels: np.ndarray,
        C: float = 1e4,
        *,
        sample_weight: np.ndarray | None = None,
        per_class: bool = True,
        solver: str = "newton",
        tol: float = 1e-2,
        eps: float = 0.1,
        tau_max: int = 10,
        max_iter: int = 500,
        random_state: int | np.random.Generator | None = 0,
    ):
        labels = np.asarray(labels, dtype=np.intp)
        if solver not in SOLVERS:
            raise ValueError(f"solver={solver!r} is not known; choose one of {', '.join(SOLVERS)}.")
        if len(labels) == 0 or (np.bincount(labels) == 0).any() or labels.max() < 1:
            raise ValueError("labels must be 0..K-1, K >= 2, each of them present.")
        self.per_class, self.n_classes = per_class, int(labels.max()) + 1
        self.tol = tol
        self.state = ExponentialState(labels, self.n_classes, C, sample_weight)
        if solver == "newton":
            self._solver = LaggedNewton(self.state, tol, max_iter, fine=tol < _FINE and not per_class)
        elif solver == "fcd":
            self._solver = FastCoordinateDescent(
                self.state, eps, tau_max, np.random.default_rng(random_state)
            )
        else:
            self._solver = LimitedMemory(self.state, max_iter=max_iter)
        self._labels = labels
        self._variables: dict[tuple, np.ndarray] = {}
        self._rows: list[np.ndarray | None] = []
        self._new: list[np.ndarray] = []
        self._V: np.ndarray | None = None

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of -1/+1 outputs; ``output`` names its class if columns belong to one class.

        A column that its class has already is merged with it: its own weight stays 0.
        """
        column = np.asarray(column)
        if column.shape != self._labels.shape or not (np.abs(column) == 1).all():
            raise ValueError(f"column must hold {len(self._labels)} outputs, each of them -1 or +1.")
        if self.per_class and (output is None or not 0 <= output < self.n_classes):
            raise ValueError(f"output={output!r} must name the class of the column, 0..{self.n_classes - 1}.")
        column = column.astype(np.int8, copy=False)
        key = (blake2b(column.tobytes(), digest_size=16).digest(), output if self.per_class else None)
        if key in self._variables:
            self._rows.append(None)
            self._new.append(self._variables[key])
            return
        classes = np.array([output]) if self.per_class else np.arange(self.n_classes)
        self._variables[key] = self.state.append(column, classes)
        self._rows.append(self._variables[key])
        self._new.append(self._variables[key])

    def solve(self, target: float = -np.inf) -> Solution:
        """Re-optimize over all columns so far, warm-started; an objective of ``target`` also ends it."""
        new = np.concatenate(self._new) if self._new else np.empty(0, dtype=np.intp)
        self._new, self._V = [], None
        n_iter, converged, message = self._solver.solve(new, target)
        state = self.state
        u = np.maximum(-self.pricing_weights(), 0.0)
        u[np.arange(len(u)), self._labels] = 0.0
        return Solution(
            self._weights(), 0.0, u, state.objective, state.gap(state.scores()), n_iter, converged, message
        )

    def pricing_weights(self) -> np.ndarray:
        """V of shape (n_samples, n_classes); at the start lambda is constant, as in the paper."""
        if self._V is None:
            self._V = self.state.signed_weights()
        return self._V

    def threshold(self) -> float:
        """Score above which a column is missing: 1, by (3b)."""
        return 1.0

    def full_gap(self, score: float) -> float:
        """Duality gap of the problem over all hypotheses, given the largest score of any of them."""
        scores = self.state.scores()
        return self.state.gap(scores, max(score, float(scores.max(initial=0.0))))

    def shrink(self, score: float) -> float:
        """Multiple of lambda whose gap ``full_gap`` is."""
        scores = self.state.scores()
        return self.state.shrink(scores, max(score, float(scores.max(initial=0.0))))

    def _weights(self) -> np.ndarray:
        """(n_columns,) if columns belong to one class each, otherwise (n_columns, n_classes)."""
        w = np.zeros((len(self._rows), 1 if self.per_class else self.n_classes))
        distinct = [j for j, variables in enumerate(self._rows) if variables is not None]
        w[distinct] = self.state.w.reshape(len(distinct), w.shape[1])  # variables are numbered as they come
        return w[:, 0] if self.per_class else w
