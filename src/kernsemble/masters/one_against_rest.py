r"""Several classes by one problem a class: each against the rest, over columns that all of them share.

::

    min_{W, b}  sum_k  problem_k(w_k, b_k),      labels of problem k: +1 in class k and -1 elsewhere

A column that is found for one class is added to all, so that K classes are separated by one list of
hypotheses, and predicted from one evaluation of it. The problems share no variable: their objectives, gaps
and dual objectives add up, and V has a column a class. Under an l2 norm the gap of the whole problem is
taken at one multiple of all dual weights, which is feasible for each.

Stop: that of the problems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kernsemble.masters.base import Master, Solution


class OneAgainstRest:
    """The sum of one two-class problem a class.

    Parameters
    ----------
    masters : sequence of Master
        The problems, without columns.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.quadratic import Hinge
    >>> signs = 2.0 * np.eye(3)[:, [0, 0, 1, 2]] - 1.0
    >>> master = OneAgainstRest([Hinge(row, C=1.0, tol=1e-9) for row in signs])
    >>> master.add(np.array([1, 1, -1, -1], dtype=np.int8))
    >>> master.solve().w.shape, master.pricing_weights().shape
    ((1, 3), (4, 3))
    """

    def __init__(self, masters: Sequence[Master]) -> None:
        self.masters = tuple(masters)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append one column of hypothesis outputs (n_samples,) to all problems; ``output`` is ignored."""
        for master in self.masters:
            master.add(column)

    def solve(self) -> Solution:
        """Re-optimize all problems over the columns added so far, warm-started."""
        parts = [master.solve() for master in self.masters]
        return Solution(
            w=np.column_stack([part.w for part in parts]),
            b=np.array([part.b for part in parts]),
            u=np.column_stack([part.u for part in parts]),
            objective=sum(part.objective for part in parts),
            gap=sum(part.gap for part in parts),
            n_iter=max(part.n_iter for part in parts),
            converged=all(part.converged for part in parts),
            message=next((part.message for part in parts if not part.converged), parts[0].message),
            gain=sum(part.gain for part in parts),
        )

    def pricing_weights(self) -> np.ndarray:
        """Signed weights V of shape (n_samples, n_classes)."""
        return np.column_stack([master.pricing_weights() for master in self.masters])

    def threshold(self) -> float:
        """That of each problem."""
        return self.masters[0].threshold()

    def full_gap(self, score: float) -> float:
        """Sum of the gaps over all hypotheses, the largest score of any class given (l1 norm)."""
        return sum(master.full_gap(score) for master in self.masters)


def one_against_rest(make: Callable[[np.ndarray], Master], signs: np.ndarray) -> Master:
    """Return the problem that ``make`` makes of labels -1 and +1; of several rows of them, all together."""
    masters = [make(row) for row in signs]
    return masters[0] if len(masters) == 1 else OneAgainstRest(masters)
