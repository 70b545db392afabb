r"""Hinge loss in the space of a kernel: the soft-margin support vector machine, exact and along a path of C.

Primal (P_1) and dual (P_2) of linli2005, for a kernel matrix K and labels y in {-1, +1}::

    min_{w,b}   1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (<w, phi(x_i)> + b))
    max_u       sum_i u_i - 1/2 sum_ij u_i u_j y_i y_j K_ij    s.t.  sum_i y_i u_i = 0,  0 <= u_i <= C_i

With ``beta = y u`` the dual is the box- and sum-constrained program of `masters.smo`, and f = K beta + b.
Stop when the maximal violating pair is below ``tol`` (1e-3, the rule of LIBSVM); every solution states its
exact gap. Because beta sums to zero, K may lack any constant (Theorems 2 and 5): distance kernels, which are
positive definite on such vectors only, are welcome.

One kernel matrix, or one cache of its rows, serves a whole path of C, all folds of a cross-validation and all
machines of several classes: who takes no part in a problem has C_i = 0. From C to C' the start is ``r beta``
with the r <= C'/C that maximizes the dual: bounded variables stay bounded, hard margins stay put. Folds run
in threads, each in an order of its own: no count depends on their number.

Paper symbol = code name: lambda_i = u, K = K, C = C, b = b.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from threading import Event

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernsemble.kernels import thread_count
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_rows import FORKS, MatrixRows, Rows, check_finite
from kernsemble.masters.smo import extremes, minimize

REMEDY = "Increase max_iter or tol, lower C, or scale the features."
SERIAL_ROWS = 200  # below which threads cost more than they save


def solve_kernel_hinge(
    K: np.ndarray | Rows,
    y: np.ndarray,
    C: float | np.ndarray,
    *,
    start: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
) -> Solution:
    """Solve one support vector machine on a kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n) or Rows
        Symmetric kernel matrix, positive semi-definite on vectors that sum to zero, or its rows on demand.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Weight of the sum of losses, or of each sample's loss.
    start : ndarray of shape (n,), default=None
        Feasible multipliers ``beta = y u`` to start from; None starts at zero.
    tol : float, default=1e-3
        Violation of the maximal violating pair at which to stop.
    max_iter : int, default=10_000_000
        Most pair steps.

    Returns
    -------
    Solution
        ``w = y u`` are the weights of the kernel columns, ``u`` the dual weights, ``gap`` is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.kernel_hinge import solve_kernel_hinge
    >>> X = np.array([[-1.0], [1.0]])
    >>> solution = solve_kernel_hinge(-np.abs(X - X.T), np.array([-1.0, 1.0]), C=10.0)
    >>> solution.u
    array([0.5, 0.5])
    """
    rows, y = _rows_of(K, len(y)), _labels(y)
    bounds = np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape)
    if not np.all(bounds >= 0):
        raise ValueError("C must not be negative.")
    beta = np.zeros(y.size) if start is None else np.array(start, dtype=np.float64)
    _, *steps = _minimize(rows, y, bounds, beta, rows.product(beta), tol, max_iter)
    return _certify(y, bounds, beta, rows.product(beta), *steps, tol)


def kernel_hinge_path(
    K: np.ndarray | Rows,
    y: np.ndarray,
    Cs: Sequence[float],
    *,
    sample_weight: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
) -> list[Solution]:
    """Solve for each C in turn, each from the last, on one kernel matrix; return one Solution each.

    Parameters
    ----------
    K, y, tol, max_iter
        As in `solve_kernel_hinge`.
    Cs : sequence of float
        Weights of the sum of losses, best in increasing order.
    sample_weight : ndarray of shape (n,), default=None
        Multiplies each sample's C; None means ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.kernel_hinge import kernel_hinge_path
    >>> X = np.array([[-1.0], [1.0]])
    >>> path = kernel_hinge_path(-np.abs(X - X.T), np.array([-1.0, 1.0]), [0.25, 4.0])
    >>> [float(solution.u[0]) for solution in path]
    [0.25, 0.5]
    """
    rows, y = _rows_of(K, len(y)), _labels(y)
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return [
        _certify(y, C * weight, beta, rows.product(beta), *steps, tol)
        for C, (beta, _, *steps) in zip(Cs, _follow(rows, y, Cs, weight, tol, max_iter), strict=True)
    ]


def cross_validate_path(
    K: np.ndarray | Rows,
    Y: np.ndarray,
    Cs: Sequence[float],
    folds: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    sample_weight: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    one_vs_one: bool = False,
) -> np.ndarray:
    """Count the held-out samples that are classified correctly, for every C and fold, on one kernel matrix.

    Parameters
    ----------
    K, tol, max_iter
        As in `solve_kernel_hinge`, over all samples.
    Y : ndarray of shape (n,) or (n, n_classes)
        Labels -1 and +1; a column a class stands for several classes, told apart by one machine a class
        against the rest, the largest decision winning.
    Cs : sequence of float
        Weights of the sum of losses, best in increasing order.
    folds : iterable of (train, test)
        Index arrays, as from ``StratifiedKFold.split``.
    sample_weight : ndarray of shape (n,), default=None
        Multiplies each sample's C, and counts it so often when it is held out; None means ones.
    one_vs_one : bool, default=False
        Several classes are told apart by one machine a pair of classes instead, `pair_scores` deciding.

    Returns
    -------
    ndarray of shape (n_Cs, n_folds)
        Counts, integers unless weighted; a two-class decision of exactly 0 counts as -1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.kernel_hinge import cross_validate_path
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fold = (np.array([0, 3]), np.array([1, 2]))
    >>> cross_validate_path(-np.abs(X - X.T), np.sign(X[:, 0]), [1.0], [fold])
    array([[2]])
    """
    Y = np.asarray(Y, dtype=np.float64)
    n, folds, halt = len(Y), list(folds), Event()
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    workers = min(thread_count(), len(folds), FORKS) if n >= SERIAL_ROWS else 1
    rows = _rows_of(K, n)

    unfinished: list[float] = []

    def count(fold: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        train, test = fold
        present = np.zeros(n)
        present[train] = weight[train]
        own = rows.fork(workers)
        decisions = np.array(
            [
                _held_out(own, y, present, test, Cs, tol, max_iter, halt, unfinished)
                for y in _problems(Y, one_vs_one)
            ]
        )
        correct = _correct(decisions, Y[test], one_vs_one)
        return correct.sum(axis=1) if sample_weight is None else correct @ weight[test]

    if workers <= 1:
        counts = [count(fold) for fold in folds]
    else:
        with ThreadPoolExecutor(workers) as pool:
            try:
                counts = list(pool.map(count, folds))
            finally:
                halt.set()  # after an interrupt: the folds under way end soon
    if unfinished:
        warnings.warn(
            f"{len(unfinished)} problems of the cross-validation stopped before tol={tol:g}, at a violating "
            f"pair of up to {max(unfinished):.3g}. {REMEDY}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return np.array(counts).T


def _problems(Y: np.ndarray, one_vs_one: bool) -> np.ndarray:
    """Labels of the two-class problems, one a row; 0 stands for a sample that takes no part."""
    if Y.ndim == 1:
        return Y[np.newaxis]
    return pair_signs(Y.argmax(axis=1), Y.shape[1]) if one_vs_one else Y.T


def _held_out(rows, y, present, test, Cs, tol, max_iter, halt, unfinished) -> np.ndarray:
    """Decisions (n_Cs, n_test) of the machines of one column of labels, fitted with these weights.

    What takes no part has weight zero, and stays at its bounds; the gradient of the solver, kept for all
    samples, holds the decisions. The violations of problems that did not reach ``tol`` are noted.
    """
    weight = np.where(y == 0.0, 0.0, present)
    labels = np.unique(y[weight > 0.0])
    if labels.size < 2:  # one label only: predict that label
        return np.full((len(Cs), test.size), labels[0] if labels.size else 0.0)
    path = _follow(rows, y, Cs, weight, tol, max_iter, halt)
    return np.array(
        [f[test] + _intercept(y, C * weight, beta, y - f) for C, (beta, f, *_) in zip(Cs, path, strict=True)]
    )


def _correct(decisions: np.ndarray, Y: np.ndarray, one_vs_one: bool) -> np.ndarray:
    """Whether each held-out sample is classified correctly (n_Cs, n_test), from all problems' decisions."""
    if Y.ndim == 1:
        return (decisions[0] > 0) == (Y > 0)
    scores = decisions
    if one_vs_one:
        scores = np.array([pair_scores(d.T, Y.shape[1]).T for d in decisions.swapaxes(0, 1)]).swapaxes(0, 1)
    return scores.argmax(axis=0) == Y.argmax(axis=1)


def pair_signs(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Labels of the one-vs-one problems (0, 1), (0, 2), .., one a row: +1 for the second class, -1 for the
    first, 0 for all others.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.kernel_hinge import pair_signs
    >>> pair_signs(np.array([0, 1, 2]), 3)
    array([[-1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1.,  1.]])
    """
    pairs = combinations(range(n_classes), 2)
    return np.array([1.0 * (labels == second) - 1.0 * (labels == first) for first, second in pairs])


def pair_scores(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Scores (n, n_classes) from the decisions (n, n_pairs) of the problems of `pair_signs`.

    As scikit-learn's ``decision_function_shape="ovr"``: the number of pairs that a class wins, and, below
    1/3 in size, what its decisions sum to, which settles ties.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.kernel_hinge import pair_scores
    >>> pair_scores(np.array([[2.0, 1.0, -1.0]]), 3).round(2)
    array([[-0.25,  2.25,  1.  ]])
    """
    votes, sums = np.zeros((2, len(decisions), n_classes))
    for k, (first, second) in enumerate(combinations(range(n_classes), 2)):
        sums[:, first] -= decisions[:, k]
        sums[:, second] += decisions[:, k]
        votes[:, first] += decisions[:, k] <= 0
        votes[:, second] += decisions[:, k] > 0
    return votes + sums / (3.0 * (np.abs(sums) + 1.0))


def _follow(
    rows, y, Cs, weight, tol, max_iter, halt=None
) -> Iterator[tuple[np.ndarray, np.ndarray, int, float]]:
    """Yield (beta, f = K beta, steps, violation) for each C, each started on the ray through the last."""
    beta, f, previous = np.zeros(y.size), np.zeros(y.size), np.inf
    for C in Cs:
        r = _best_multiple(y, beta, f, C / previous)
        bounds = C * weight
        edge = bounds * y
        beta = np.clip(r * beta, np.minimum(0.0, edge), np.maximum(0.0, edge))  # undoes rounding
        f, n_iter, violation = _minimize(rows, y, bounds, beta, r * f, tol, max_iter, halt)
        yield beta, f, n_iter, violation
        previous = C


def _rows_of(K: np.ndarray | Rows, n: int) -> Rows:
    """Rows of a kernel matrix, which must be square and finite, or the rows given."""
    if isinstance(K, Rows):
        return K
    K = np.ascontiguousarray(K, dtype=np.float64)
    if K.shape != (n, n):
        raise ValueError(f"K must have shape ({n}, {n}) to match y, got {K.shape}.")
    check_finite(K)
    return MatrixRows(K)


def _labels(y: np.ndarray) -> np.ndarray:
    """Labels as float64; they must be -1 and +1."""
    y = np.asarray(y, dtype=np.float64)
    if not np.array_equal(np.unique(y), [-1.0, 1.0]):
        raise ValueError("y must hold the labels -1 and +1, both present.")
    return y


def _best_multiple(y, beta, f, limit) -> float:
    """The r in [0, limit] whose r beta maximizes the dual."""
    linear, quadratic = y @ beta, beta @ f
    return limit if quadratic <= 0.0 else min(limit, linear / quadratic)


def _minimize(rows, y, bounds, beta, f, tol, max_iter, halt=None) -> tuple[np.ndarray, int, float]:
    """Run the solver in place on beta from f = K beta; return f as updated, steps taken, violation left."""
    edge, gradient = bounds * y, f - y
    pairs, subspaces, violation = minimize(
        rows, np.minimum(0.0, edge), np.maximum(0.0, edge), beta, gradient, tol, max_iter, halt
    )
    return gradient + y, pairs + subspaces, violation


def _certify(y, bounds, beta, f, n_iter, violation, tol) -> Solution:
    """Attach the intercept of LIBSVM and the exact duality gap; f = K beta is fresh, without old rounding."""
    edge = bounds * y
    low, high = extremes(np.minimum(0.0, edge), np.maximum(0.0, edge), beta, f - y)
    converged = violation <= tol and high - low <= 2.0 * tol
    violation = max(violation, high - low)
    b = _intercept(y, bounds, beta, y - f)
    stretch = _stretch(y, bounds, beta, f, b)
    beta, f, b = stretch * beta, stretch * f, stretch * b
    quadratic, linear = beta @ f, y @ beta
    loss = bounds @ np.maximum(0.0, 1.0 - y * (f + b))
    return Solution(
        w=beta,
        b=b,
        u=np.abs(beta),
        objective=float(0.5 * quadratic + loss),
        gap=float(quadratic + loss - linear),
        n_iter=int(n_iter),
        converged=bool(converged),
        message=f"Largest violating pair {violation:.3g} against tol={tol:.3g}. {REMEDY}",
    )


def _stretch(y, bounds, beta, f, b) -> float:
    """The multiple of a machine that separates the classes which puts no sample inside the margin, or 1.

    Margins short of 1 by ``tol`` cost nothing then, however large C is; no decision changes.
    """
    part = bounds > 0.0
    least = float(np.min(y * (f + b), where=part, initial=1.0))
    if not 0.5 <= least < 1.0 or np.any(np.abs(beta) > least * bounds):
        return 1.0
    loss = bounds @ np.maximum(0.0, 1.0 - y * (f + b))
    return 1.0 / least if 0.5 * (beta @ f) * (1.0 / least**2 - 1.0) < loss else 1.0


def _intercept(y, bounds, beta, residual) -> float:
    """Mean residual of the free support vectors; without any, the middle of the optimal interval."""
    free = (beta != 0.0) & (np.abs(beta) < bounds)
    if free.any():
        return float(residual[free].mean())
    may_rise = np.where(y > 0, beta < bounds, beta < 0.0)
    may_fall = np.where(y > 0, beta > 0.0, beta > -bounds)
    return float(0.5 * (residual[may_rise].max() + residual[may_fall].min()))
