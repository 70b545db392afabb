r"""Regression with the epsilon-insensitive loss and an l2 norm: problem (13) of bi2004.

::

    Primal:  min_{w,b}  1/2 |w|^2 [+ 1/2 b^2] + sum_i c_i max(0, |y_i - H_i w - b| - epsilon),    c_i = C s_i
    Dual:    max_V  y'V - epsilon |V|_1 - 1/2 |H'V|^2 [- 1/2 (1'V)^2],    |V_i| <= c_i   [1'V = 0]

The paper writes two multipliers a sample and a column of double length (K over -K); of u_i and v_i one is
zero, and ``V_i = u_i - v_i`` is all that is needed. ``positive`` bounds w below by 0.

Stop and method: those of `column_qp`.

bi2004 symbols: alpha = w, K_ij = H_ij, u_i - v_i = V_i = ``Solution.u``.
"""

from __future__ import annotations

import numpy as np

from kernsemble.masters.box_loss import BoxLoss
from kernsemble.masters.column_qp import ColumnQP


class EpsilonInsensitive(ColumnQP):
    """Problem (13): the epsilon-insensitive loss under an l2 norm.

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
    intercept, positive, tol, max_iter
        As in `ColumnQP`.

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
        intercept: str = "none",
        positive: bool = False,
        tol: float = 1e-8,
        max_iter: int = 500,
    ) -> None:
        y = np.ascontiguousarray(y, dtype=np.float64)
        weight = 1.0 if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        loss = BoxLoss.tube(y, np.full(len(y), C * weight), epsilon)
        super().__init__(loss, intercept=intercept, positive=positive, tol=tol, max_iter=max_iter)
        self._scale = residual_scale(y)
        if intercept == "free":
            self._x[0] = np.median(y)

    def _residual_scale(self) -> float:
        return self._scale


def residual_scale(y: np.ndarray) -> float:
    """Mean distance of targets from their median; 1 where they are all equal."""
    return float(np.mean(np.abs(y - np.median(y)))) or 1.0
