r"""Masters with an l2 norm, all of them problems of `newton` and distinguished by their losses.

::

    Primal:  min_{w, b}  1/2 |w|^2 [+ 1/2 b^2] + sum_i loss_i(H_i w + b),      [w >= 0]
    Dual:    max_V  sum_i gain_i(V_i) - 1/2 |[H'V]|^2 [- 1/2 (1'V)^2],   l <= V <= h,   [1'V = 0]

    Hinge               c_i max(0, 1 - y_i f_i)                 shen2014 (1) and (2); bi2004 (7), (9) and (11)
    SquaredHinge        c_i max(0, 1 - y_i f_i)^2               LIBLINEAR's, without a factor 1/2
    EpsilonInsensitive  c_i max(0, |y_i - f_i| - epsilon)       bi2004 (13)
    NuNovelty           1/2 |w|^2 - r + 1/(nu n) sum_i max(0, r - H_i w)
    NuHinge             1/2 |w|^2 - nu r + 1/n sum_i max(0, r - y_i (H_i w + b))
    NuTube              1/2 |w|^2 + C (nu n e + sum_i max(0, |y_i - H_i w - b| - e))

c_i = C s_i with sample weights s_i. The intercept is absent ("none"), penalized by 1/2 b^2 ("penalized",
LIBLINEAR's), or "free", as in the papers and in LIBSVM: then 1'V = 0. A margin loss states u_i = V_i y_i,
between 0 and c_i. Under w >= 0 the dual has max(H'V, 0).

The nu forms (bi2004 says in section 4 that its approach applies to them) bound the share of samples outside
by nu and find the margin r, or the half width e of the tube. With one offset for each class, b - r and b + r
(for each side of the tube, b + e and b - e), their duals have a given sum of V over each: nu/2, C nu n/2, or
1. Regression takes every sample twice, above and below the tube, as the paper's (13) does.

The hinge's dual need not have one solution: with few columns of +-1 many rows are equal. ``least_norm`` asks
for the one of least ``sum_i u_i^2 / s_i``. It does not depend on the solver, on the order of the samples, or
on whether a sample is written twice or has weight 2, so that the next column is the same for every solver
that follows the rule.

Stop: primal minus dual objective, both feasible, at most ``tol`` times the objective.

Symbols: alpha = u, m = n_samples, J = n_columns (shen2014); alpha = w, K_ij = H_ij (bi2004).

References: Schoelkopf, Smola, Williamson, Bartlett, New support vector algorithms (2000); Keerthi and
DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs (2005).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from kernsemble.masters.base import INTERCEPTS, Solution
from kernsemble.masters.exact_hinge import products_of, solve_exactly, start_tol
from kernsemble.masters.least_norm import least_norm_between
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.newton import NewtonSolver
from kernsemble.masters.one_thread import one_thread
from kernsemble.masters.rows import PackedRows, Rows, Span

_LEAST_NORM_TOL = 1e-12  # to which the problem is solved where it cannot be solved exactly
_SHARE = 1e-7  # of a reference value below which the objective counts as zero
_FACE = 1e-7  # how near to 1 the margin of such a row is


class ColumnQP:
    """Quadratic master of any `BoxLoss`.

    Parameters
    ----------
    loss : BoxLoss
        The losses.
    intercept : {"none", "free", "penalized"}, default="none"
        Column of ones: absent, unpenalized, or penalized like the others.
    positive : bool, default=False
        Whether weights of columns must not be negative (the intercept may).
    matrix : {Rows, Span, PackedRows}, optional
        Class of the matrix that the columns are stored in. By default columns that may depend on each other
        are compressed (`Span`), unless a bound on single weights forbids mixing them.
    H : ndarray of shape (n_samples, n_columns), optional
        Columns to begin with.
    tol : float, default=1e-8
        Relative duality gap to reach.
    floor : float, default=0.0
        What the gap is relative to where the objective is smaller.
    max_iter : int, default=1000
        Most Newton steps in one ``solve``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.losses import BoxLoss
    >>> y = np.array([1.0, -1.0])
    >>> master = ColumnQP(BoxLoss.hinge(y, np.array([10.0, 10.0])))
    >>> master.add(np.array([2.0, -2.0]))
    >>> master.solve().w
    array([0.5])
    """

    _groups: tuple[np.ndarray, np.ndarray] | None = None  # offsets of the nu forms: members, sums of V
    _start: np.ndarray | None = None  # first V
    _size = 1.0  # typical size of a residual: 1 for the hinge's targets

    def __init__(
        self,
        loss: BoxLoss,
        *,
        intercept: str = "none",
        positive: bool = False,
        matrix: type[Rows] | None = None,
        H: np.ndarray | None = None,
        tol: float = 1e-8,
        floor: float = 0.0,
        max_iter: int = 1000,
    ) -> None:
        if intercept not in INTERCEPTS:
            raise ValueError(f"intercept={intercept!r}: use one of {INTERCEPTS}.")
        n = len(loss.target)
        self.loss, self.intercept, self.positive = loss, intercept, positive
        self.tol, self.max_iter, self.floor = tol, max_iter, floor
        if self._groups is not None:
            leading, sums = self._groups
        else:
            leading, sums = np.ones((n, int(intercept == "free")), dtype=np.int8), np.zeros(1)
        self.n_leading = leading.shape[1]
        ones = np.ones((n, int(intercept == "penalized")), dtype=np.int8)
        store = matrix or (Rows if positive else Span)
        self._solver = NewtonSolver(
            store(n, leading) if H is None else Rows.of(np.hstack([leading, ones, H]), leading),
            loss,
            sums[: self.n_leading],
            positive=positive,
            n_unbounded=self.n_leading + int(intercept == "penalized"),
            V=self._start,
        )
        self.solution: Solution | None = None
        if H is None and intercept == "penalized":
            self.add(ones[:, 0])

    @one_thread
    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,), int8 or float64; ``output`` is ignored."""
        self._solver.add(np.asarray(column))

    def threshold(self) -> float:
        """0: under an l2 norm every column with a score belongs to the solution."""
        return 0.0

    def pricing_weights(self) -> np.ndarray:
        """Signed weights V; before the first ``solve`` a start that each loss chooses."""
        return self._signed(self._first_weights() if self.solution is None else self._solver.V)

    def _first_weights(self) -> np.ndarray:
        """Those of the model without columns."""
        self.solve()
        return self._solver.V

    @one_thread
    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started."""
        found = self._solver
        n_iter = found.solve(self._first_tol(), self.max_iter, self._size, self._reference())
        self._finish()
        converged = found.is_solved(self.tol)
        x, g = found.x, self.n_leading
        w = found.matrix.weights(x[g:])
        self.offsets_ = x[:g].copy()
        b = float(np.mean(self.offsets_)) if g else 0.0
        if self.intercept == "penalized":
            b, w = float(w[0]), w[1:]
        self.solution = Solution(
            w=w,
            b=b,
            u=self._dual_weights(found.V),
            objective=found.objective,
            gap=found.gap,
            n_iter=n_iter,
            converged=bool(converged),
            message=_message(converged, found.is_exhausted),
            gain=self.loss.linear_gain(found.V) if self._groups is None else np.nan,
        )
        return self.solution

    def _finish(self) -> None:
        """Change the points found in ways that the objectives do not see."""
        if self.positive:
            self._solver.drop_specks(0.1 * self.tol)

    def _first_tol(self) -> float:
        """Relative gap to reach by Newton's method."""
        return self.tol

    def _reference(self) -> float | None:
        """A value that the objective is measured by where it is close to 0; None: the loss at 0."""
        return self.floor or None

    def _signed(self, V: np.ndarray) -> np.ndarray:
        """Weights that columns are priced with: V itself here."""
        return V

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        """Dual weights as the papers write them: the same."""
        return self._signed(V).copy()


class HingeQP(ColumnQP):
    """Problems (7) and (11) of bi2004: the hinge, weights bounded below or free, over dense columns.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    C : float, default=1.0
        Weight of the sum of losses.
    sample_weight : ndarray of shape (n_samples,), optional
        Factors s_i of C; 1 by default.
    least_norm : bool, default=False
        Whether to return the dual solution of least weighted norm; without ``positive`` the problem is then
        solved to rounding.
    **options
        Those of `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = HingeQP(np.array([1.0, 1.0, -1.0]), C=1.0, positive=True)
    >>> master.add(np.array([1.0, 2.0, -1.0]))
    >>> master.add(np.array([-1.0, -1.0, 1.0]))
    >>> master.solve().w
    array([1., 0.])
    """

    _make_loss = BoxLoss.hinge
    _defaults: ClassVar[dict[str, Any]] = {}  # of the options, where they are others than those of `ColumnQP`

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        *,
        sample_weight: np.ndarray | None = None,
        least_norm: bool = False,
        **options: Any,
    ) -> None:
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        self.C, self.weight, self.least_norm = C, costs(len(self.y), 1.0, sample_weight), least_norm
        super().__init__(type(self)._make_loss(self.y, C * self.weight), **{**self._defaults, **options})
        self._products = products_of(self._solver.matrix)

    def _first_tol(self) -> float:
        """Where the solution is then made exact, few digits do."""
        return start_tol(len(self.y)) if self.least_norm and not self.positive else self.tol

    def _finish(self) -> None:
        super()._finish()
        found = self._solver
        if not self.least_norm:
            return
        if self.positive:
            self._pick_dual()
        elif not (found.is_exhausted or found.is_solved(self._first_tol())):
            return  # iterations ran out
        elif not solve_exactly(found, self._products, self.y, self.C, self.weight, self._first_tol()):
            found.solve(_LEAST_NORM_TOL, self.max_iter, self._size, self._reference())

    def _pick_dual(self) -> None:
        """Take the dual solution of least norm, if rounding leaves it as good as the one that was found."""
        found, kept = self._solver, self._solver.V
        allowed = max(2.0 * found.gap, self.tol * abs(found.objective), found.noise)
        margins, upper = self.y * found.f, np.maximum(self.loss.upper, -self.loss.lower)
        face = np.flatnonzero((np.abs(margins - 1.0) <= _FACE) & (upper > 0.0))
        A, u = found.matrix.floats(face) * self.y[face, None], self.y * found.V
        idle = np.zeros(A.shape[1], dtype=bool)
        idle[found.n_unbounded :] = found.x[found.n_unbounded :] == 0.0
        high = A.T @ u[face] - found.combined  # columns at their bound may score less than 0
        low = np.full(len(high), -np.inf)
        u[face] = least_norm_between(A, u[face], upper[face], self.weight[face], ~idle, low, high)
        found.replace_dual(u * self.y)
        if found.gap > allowed:
            found.replace_dual(kept)

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        """``u_i = V_i y_i``, in [0, c_i]."""
        return np.abs(V)


class Hinge(HingeQP):
    """Problems (1) and (2) of shen2014: `HingeQP` for hypotheses' columns, not compressed, to tol=1e-3.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> master = Hinge(y, C=10.0, tol=1e-9)
    >>> master.add(np.array([-2.0, -1.0, 1.0, 2.0]))
    >>> solution = master.solve()
    >>> round(float(solution.w[0]), 6), round(solution.objective, 6)
    (1.0, 0.5)
    """

    _defaults: ClassVar[dict[str, Any]] = {"tol": 1e-3, "matrix": Rows}

    def _first_weights(self) -> np.ndarray:
        """The start of shen2014's Algorithm 1, u = c / 2."""
        return 0.5 * (self.loss.lower + self.loss.upper)


class PackedHinge(Hinge):
    """`Hinge` for columns of -1 and +1 over many samples, one bit an entry.

    Examples
    --------
    >>> import numpy as np
    >>> master = PackedHinge(np.array([-1, -1, 1, 1]), C=10.0, tol=1e-9)
    >>> master.add(np.array([-1, -1, 1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> round(float(solution.w[0]), 6), round(solution.objective, 6)
    (1.0, 0.5)
    """

    _defaults: ClassVar[dict[str, Any]] = {"tol": 1e-3, "matrix": PackedRows}


class SquaredHinge(HingeQP):
    """The squared hinge, for hypotheses' columns, to tol=1e-6 in at most 200 steps.

    Examples
    --------
    >>> import numpy as np
    >>> master = SquaredHinge(np.array([-1.0, 1.0]), C=0.25)
    >>> master.add(np.array([-1, 1], dtype=np.int8))
    >>> solution = master.solve()
    >>> solution.w.round(6), round(solution.objective, 6)
    (array([0.5]), 0.25)
    """

    _make_loss = BoxLoss.squared_hinge
    _defaults: ClassVar[dict[str, Any]] = {"tol": 1e-6, "max_iter": 200, "matrix": Rows}

    def _first_weights(self) -> np.ndarray:
        """U = 2 c, the dual point at w = 0."""
        return self.loss.sharp().weights(np.zeros(len(self.y)))


class EpsilonInsensitive(ColumnQP):
    """Problem (13) of bi2004: the epsilon-insensitive loss.

    The paper writes two multipliers a sample and a column of double length (K over -K); of u_i and v_i one is
    zero, and ``V_i = u_i - v_i`` is all that is needed.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    C : float, default=1.0
        Weight of the sum of losses.
    epsilon : float, default=0.1
        Half width of the tube.
    sample_weight : ndarray of shape (n_samples,), optional
        Multiplies the losses.
    **options
        Those of `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = EpsilonInsensitive(np.array([0.0, 1.0, 2.0]), C=10.0, epsilon=0.5, intercept="free")
    >>> master.add(np.array([-1.0, 0.0, 1.0]))
    >>> solution = master.solve()
    >>> float(solution.w[0].round(6)), round(solution.b, 6)
    (0.5, 1.0)
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        epsilon: float = 0.1,
        *,
        sample_weight: np.ndarray | None = None,
        **options: Any,
    ) -> None:
        y = np.ascontiguousarray(y, dtype=np.float64)
        super().__init__(BoxLoss.tube(y, costs(len(y), C, sample_weight), epsilon), **options)
        self._size = residual_scale(y)
        self._solver.shift(np.median(y))


class _NuForm(ColumnQP):
    """What the nu forms share: offsets by group, a feasible start, no other size of scores than its own."""

    def __init__(self, loss: BoxLoss, members: np.ndarray, sums: Any, start: np.ndarray, **options: Any):
        self._groups, self._start = (members.astype(np.int8), np.asarray(sums)), start
        self._scores, self._square = np.zeros(len(start)), 0.0
        super().__init__(loss, intercept="free", **options)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,); ``output`` is ignored."""
        column = np.asarray(column, dtype=np.float64)
        super().add(column)
        self._scores += column * float(column @ self._start)
        self._square += float(np.abs(column) @ np.abs(self._start)) ** 2
        self._size = float(np.mean(np.abs(self._scores))) or 1.0  # of the scores that the first V makes

    def _reference(self) -> float | None:
        """A share of what the objective would be if no scores canceled."""
        return _SHARE * 0.5 * self._square


class NuNovelty(_NuForm):
    """The one-class problem; ``margin_`` is r, and samples with ``H w < r`` are novel.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    nu : float, default=0.5
        Bound on the share of samples outside.
    sample_weight : ndarray of shape (n_samples,), optional
        Positive; a sample counts as its share of their sum.
    **options
        Those of `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = NuNovelty(2, nu=1.0)
    >>> master.add(np.array([1.0, 3.0]))
    >>> master.solve().w.round(4)
    array([2.])
    """

    def __init__(
        self, n_samples: int, nu: float = 0.5, *, sample_weight: np.ndarray | None = None, **options: Any
    ) -> None:
        _check_nu(nu)
        share = costs(n_samples, 1.0, sample_weight)
        share = share / share.sum()
        loss = BoxLoss(np.zeros(n_samples), np.zeros(n_samples), share / nu)
        super().__init__(loss, np.ones((n_samples, 1)), [1.0], share, **options)

    @property
    def margin_(self) -> float:
        """The margin r of the last solution."""
        return -float(self.offsets_[0])

    def solve(self) -> Solution:
        """Re-optimize over all columns added so far, warm-started; there is no intercept."""
        self.solution = replace(super().solve(), b=0.0)
        return self.solution


class NuHinge(_NuForm):
    """The nu form of (11) with a free intercept: labels y, nu bounds the share of margin errors.

    Examples
    --------
    >>> import numpy as np
    >>> master = NuHinge(np.array([1.0, -1.0]), nu=1.0)
    >>> master.add(np.array([1.0, -1.0]))
    >>> master.solve().w.round(4)
    array([1.])
    """

    def __init__(self, y: np.ndarray, nu: float = 0.5, **options: Any) -> None:
        _check_nu(nu)
        y = np.ascontiguousarray(y, dtype=np.float64)
        n, smaller = len(y), min(np.sum(y > 0), np.sum(y < 0))
        if nu * n > 2 * smaller:
            raise ValueError(
                f"nu={nu:g} is infeasible: with classes this unequal it must be at most {2 * smaller / n:g}."
            )
        loss = BoxLoss(np.zeros(n), np.minimum(0.0, y / n), np.maximum(0.0, y / n))
        start = 0.5 * nu * y / np.where(y > 0, np.sum(y > 0), np.sum(y < 0))
        super().__init__(loss, np.column_stack([y > 0, y < 0]), [0.5 * nu, -0.5 * nu], start, **options)

    @property
    def margin_(self) -> float:
        """The margin r of the last solution."""
        return 0.5 * float(self.offsets_[1] - self.offsets_[0])

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        """``u_i = V_i y_i``, in [0, 1/n]."""
        return np.abs(V)


class NuTube(_NuForm):
    """The nu form of (13) with a free intercept: targets y, C weighs the losses, nu bounds the share outside.

    Examples
    --------
    >>> import numpy as np
    >>> master = NuTube(np.array([0.0, 1.0, 2.0, 3.0]), C=10.0, nu=0.5)
    >>> master.add(np.array([0.0, 1.0, 2.0, 3.0]))
    >>> master.solve().w.round(4)
    array([1.])
    """

    def __init__(self, y: np.ndarray, C: float = 1.0, nu: float = 0.5, **options: Any) -> None:
        _check_nu(nu)
        y = np.ascontiguousarray(y, dtype=np.float64)
        n = len(y)
        side, cost, zero = np.repeat([1.0, -1.0], n), np.full(n, float(C)), np.zeros(n)
        loss = BoxLoss(np.tile(y, 2), np.append(zero, -cost), np.append(cost, zero))
        half, members = 0.5 * C * nu * n, np.column_stack([side > 0, side < 0])
        super().__init__(loss, members, [half, -half], 0.5 * C * nu * side, **options)
        self._size = residual_scale(y)
        self._solver.shift(np.median(y))

    @property
    def tube_(self) -> float:
        """Half width e of the last solution's tube."""
        return 0.5 * float(self.offsets_[0] - self.offsets_[1])

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,): it serves both sides of the tube."""
        ColumnQP.add(self, np.tile(np.asarray(column, dtype=np.float64), 2))

    _reference = ColumnQP._reference

    def _signed(self, V: np.ndarray) -> np.ndarray:
        """``V_i = u_i - v_i``, the two sides of a sample together."""
        return V[: len(V) // 2] + V[len(V) // 2 :]


def _message(converged: bool, exhausted: bool) -> str:
    if converged:
        return "relative gap reached"
    if exhausted:
        return "Rounding leaves no more digits: scale the columns, or decrease C."
    return "Increase max_iter or tol."


def costs(n_samples: int, C: float, sample_weight: np.ndarray | None) -> np.ndarray:
    """Return c_i = C s_i."""
    if sample_weight is None:
        return np.full(n_samples, float(C))
    return C * np.asarray(sample_weight, dtype=np.float64)


def residual_scale(y: np.ndarray) -> float:
    """Mean distance of targets from their median; 1 where they are all equal."""
    return float(np.mean(np.abs(y - np.median(y)))) or 1.0


def _check_nu(nu: float) -> None:
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu must lie in (0, 1], got {nu}.")
