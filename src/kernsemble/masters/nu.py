r"""The nu forms: nu in (0, 1] bounds the share of samples outside, and the margin or the tube is found::

    novelty         min_{w,r}     1/2 |w|^2 - r + 1/(nu n) sum_i max(0, r - H_i w)
    classification  min_{w,b,r}   1/2 |w|^2 - nu r + 1/n sum_i max(0, r - y_i (H_i w + b))
    regression      min_{w,b,e}   1/2 |w|^2 + C (nu n e + sum_i max(0, |y_i - H_i w - b| - e))

bi2004 says (section 4) that its approach applies to them; here is how. The new scalar is one more
unpenalized column of `column_qp` with a linear cost, so the dual gains one equation: sum V = 1, y'V = nu,
or ``|V|_1 = C nu n``. Columns are priced with V as before. Regression takes every sample twice, above and
below the tube, as the paper's (13) does.

Stop and method: those of `column_qp`.

Reference: Schoelkopf, Smola, Williamson, Bartlett, New support vector algorithms (2000).
"""

from __future__ import annotations

import numpy as np

from kernsemble.masters.box_loss import BoxLoss
from kernsemble.masters.column_qp import ColumnQP
from kernsemble.masters.epsilon_insensitive import residual_scale


class NuNovelty(ColumnQP):
    """The one-class problem; ``margin_`` is r, and samples with ``H w < r`` are novel.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    nu : float, default=0.5
        Bound on the share of samples outside.
    sample_weight : ndarray of shape (n_samples,), optional
        Positive; a sample counts as its share of their sum.
    positive, tol, max_iter
        As in `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = NuNovelty(2, nu=1.0)
    >>> master.add(np.array([1.0, 3.0]))
    >>> master.solve().w.round(4)
    array([2.])
    """

    def __init__(
        self,
        n_samples: int,
        nu: float = 0.5,
        *,
        sample_weight: np.ndarray | None = None,
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        _check_nu(nu)
        zero, ones = np.zeros(n_samples), np.ones(n_samples)
        share = ones / n_samples if sample_weight is None else sample_weight / np.sum(sample_weight)
        super().__init__(
            BoxLoss(zero, zero, share / nu),
            positive=positive,
            unpenalized=-ones[:, None],
            unpenalized_cost=np.array([-1.0]),
            tol=tol,
            max_iter=max_iter,
        )
        self._V = self._start = share

    @property
    def margin_(self) -> float:
        """The margin r of the last solution."""
        return float(self.unpenalized_coef_[0])

    def _residual_scale(self) -> float:
        return score_scale(self._columns.matrix[:, 1:], self._start)

    def _reference_value(self) -> float:
        return square_value(self._columns.matrix[:, 1:], self._start)


class NuHinge(ColumnQP):
    """The nu form of (11) with a free intercept; ``margin_`` is r.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels, -1 or +1.
    nu : float, default=0.5
        Bound on the share of margin errors.
    positive, tol, max_iter
        As in `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = NuHinge(np.array([1.0, -1.0]), nu=1.0)
    >>> master.add(np.array([1.0, -1.0]))
    >>> master.solve().w.round(4)
    array([1.])
    """

    def __init__(
        self,
        y: np.ndarray,
        nu: float = 0.5,
        *,
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        _check_nu(nu)
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        n = len(self.y)
        smaller = min(np.sum(self.y > 0), np.sum(self.y < 0))
        if nu * n > 2 * smaller:
            raise ValueError(
                f"nu={nu:g} is infeasible: with classes this unequal it must be at most {2 * smaller / n:g}."
            )
        super().__init__(
            BoxLoss(np.zeros(n), np.minimum(0.0, self.y / n), np.maximum(0.0, self.y / n)),
            intercept="free",
            positive=positive,
            unpenalized=-self.y[:, None],
            unpenalized_cost=np.array([-nu]),
            tol=tol,
            max_iter=max_iter,
        )
        counts = np.where(self.y > 0, np.sum(self.y > 0), np.sum(self.y < 0))
        self._V = self._start = 0.5 * nu * self.y / counts

    @property
    def margin_(self) -> float:
        """The margin r of the last solution."""
        return float(self.unpenalized_coef_[1])

    def _residual_scale(self) -> float:
        return score_scale(self._columns.matrix[:, 2:], self._start)

    def _reference_value(self) -> float:
        return square_value(self._columns.matrix[:, 2:], self._start)

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        """``u_i = V_i y_i``, in [0, 1/n]."""
        return V * self.y


class NuTube(ColumnQP):
    """The nu form of (13) with a free intercept; ``tube_`` is the half width e that it finds.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    C : float, default=1.0
        Weight of the sum of losses.
    nu : float, default=0.5
        Bound on the share of samples outside the tube.
    positive, tol, max_iter
        As in `ColumnQP`.

    Examples
    --------
    >>> import numpy as np
    >>> master = NuTube(np.array([0.0, 1.0, 2.0, 3.0]), C=10.0, nu=0.5)
    >>> master.add(np.array([0.0, 1.0, 2.0, 3.0]))
    >>> master.solve().w.round(4)
    array([1.])
    """

    def __init__(
        self,
        y: np.ndarray,
        C: float = 1.0,
        nu: float = 0.5,
        *,
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        _check_nu(nu)
        y = np.ascontiguousarray(y, dtype=np.float64)
        n = len(y)
        self._n = n
        side, cost, zero = np.repeat([1.0, -1.0], n), np.full(n, float(C)), np.zeros(n)
        loss = BoxLoss(np.tile(y, 2), np.append(zero, -cost), np.append(cost, zero))
        super().__init__(
            loss,
            intercept="free",
            positive=positive,
            unpenalized=side[:, None],
            unpenalized_cost=np.array([C * nu * n]),
            tol=tol,
            max_iter=max_iter,
        )
        self._scale = residual_scale(y)
        self._x[0] = np.median(y)

    @property
    def tube_(self) -> float:
        """Half width e of the last solution's tube."""
        return float(self.unpenalized_coef_[1])

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,): it serves both sides of the tube."""
        super().add(np.tile(column, 2))

    def pricing_weights(self) -> np.ndarray:
        """``V_i = u_i - v_i``, the two sides of a sample together."""
        return self._dual_weights(super().pricing_weights())

    def _residual_scale(self) -> float:
        return self._scale

    def _dual_weights(self, V: np.ndarray) -> np.ndarray:
        return V[: self._n] + V[self._n :]


def score_scale(H: np.ndarray, V: np.ndarray) -> float:
    """Typical size of the scores that dual weights V make of columns H; 1 where they vanish."""
    return float(np.mean(np.abs(H @ (H.T @ V)))) or 1.0


def square_value(H: np.ndarray, V: np.ndarray) -> float:
    """Half the square of ``|H|'|V|``: what the objective would be if no scores canceled."""
    return 0.5 * float(np.square(np.abs(H).T @ np.abs(V)).sum())


def _check_nu(nu: float) -> None:
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu must lie in (0, 1], got {nu}.")
