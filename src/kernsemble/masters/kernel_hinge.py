r"""Hinge loss in the space of a kernel: the soft-margin support vector machine, exact and along a path of C.

Primal (P_1) and dual (P_2) of linli2005, for a kernel matrix K and labels y in {-1, +1}::

    min_{w,b}   1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (<w, phi(x_i)> + b))
    max_u       sum_i u_i - 1/2 sum_ij u_i u_j y_i y_j K_ij    s.t.  sum_i y_i u_i = 0,  0 <= u_i <= C_i

With ``beta = y u`` the dual is the box- and sum-constrained program of `masters.smo`, and f = K beta + b.
Stop when the maximal violating pair is below ``tol`` (1e-3, the rule of LIBSVM); every solution states its
exact gap. Because beta sums to zero, K may lack any constant (Theorems 2 and 5): distance kernels, which are
positive definite on such vectors only, are welcome.

One kernel matrix serves a whole path of C, and one path each fold of a cross-validation. From C to C' the
start is ``r beta`` with the r <= C'/C that maximizes the dual: bounded variables stay bounded, hard margins
stay put. Folds run in threads, each in an order of its own: no count depends on their number.

Paper symbol = code name: lambda_i = u, K = K, C = C, b = b.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kernsemble.kernels import thread_count
from kernsemble.masters.base import Solution
from kernsemble.masters.smo import minimize

SERIAL_ROWS = 200  # below which threads cost more than they save


def solve_kernel_hinge(
    K: np.ndarray,
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
    K : ndarray of shape (n, n)
        Symmetric kernel matrix, positive semi-definite on vectors that sum to zero.
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
    K, y = _check(K, y)
    bounds = np.broadcast_to(np.asarray(C, dtype=np.float64), y.shape)
    if not np.all(bounds >= 0):
        raise ValueError("C must not be negative.")
    beta = np.zeros(y.size) if start is None else np.array(start, dtype=np.float64)
    _, *steps = _minimize(K, y, bounds, beta, K @ beta, tol, max_iter)
    return _certify(y, bounds, beta, K @ beta, *steps, tol)


def kernel_hinge_path(
    K: np.ndarray,
    y: np.ndarray,
    Cs: Sequence[float],
    *,
    sample_weight: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
) -> list[Solution]:
    """Solve for each C in turn, each from the last, on one kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric kernel matrix.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    Cs : sequence of float
        Weights of the sum of losses, best in increasing order.
    sample_weight : ndarray of shape (n,), default=None
        Multiplies each sample's C; None means ones.
    tol : float, default=1e-3
        As in `solve_kernel_hinge`.
    max_iter : int, default=10_000_000
        As in `solve_kernel_hinge`.

    Returns
    -------
    list of Solution
        One for each C, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.masters.kernel_hinge import kernel_hinge_path
    >>> X = np.array([[-1.0], [1.0]])
    >>> path = kernel_hinge_path(-np.abs(X - X.T), np.array([-1.0, 1.0]), [0.25, 4.0])
    >>> [float(solution.u[0]) for solution in path]
    [0.25, 0.5]
    """
    K, y = _check(K, y)
    weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return [
        _certify(y, C * weight, beta, K @ beta, *steps, tol)
        for C, (beta, _, *steps) in zip(Cs, _follow(K, y, Cs, weight, tol, max_iter), strict=True)
    ]


def cross_validate_path(
    K: np.ndarray,
    Y: np.ndarray,
    Cs: Sequence[float],
    folds: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    sample_weight: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
) -> np.ndarray:
    """Count the held-out samples that are classified correctly, for every C and fold, on one kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix of all samples.
    Y : ndarray of shape (n,) or (n, n_classes)
        Labels -1 and +1; a column a class stands for one against rest, the largest decision winning.
    Cs : sequence of float
        Weights of the sum of losses, best in increasing order.
    folds : iterable of (train, test)
        Index arrays, as from ``StratifiedKFold.split``.
    sample_weight : ndarray of shape (n,), default=None
        Multiplies each sample's C, and counts it so often when it is held out; None means ones.
    tol : float, default=1e-3
        As in `solve_kernel_hinge`.
    max_iter : int, default=10_000_000
        As in `solve_kernel_hinge`.

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
    K, y = np.ascontiguousarray(K, dtype=np.float64), np.asarray(Y)
    weight = np.ones(len(K)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)

    def count(fold: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        train, test = fold
        rows = K.take(train, axis=0)
        paths = _paths(rows.take(train, axis=1), y[train], Cs, weight[train], tol, max_iter)
        correct = _held_out_correct(K.take(test, axis=0).take(train, axis=1), y[test], paths)
        return correct.sum(axis=0) if sample_weight is None else weight[test] @ correct

    folds = list(folds)
    workers = min(thread_count(), len(folds)) if len(K) >= SERIAL_ROWS else 1
    if workers <= 1:
        return np.array([count(fold) for fold in folds]).T
    with ThreadPoolExecutor(workers) as pool:
        return np.array(list(pool.map(count, folds))).T


def _paths(
    K: np.ndarray, Y: np.ndarray, Cs: Sequence[float], weight: np.ndarray, tol: float, max_iter: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Coefficients (n, n_Cs) and intercepts (n_Cs,) of the machines of each column of labels."""
    paths = []
    for column in Y.reshape(len(Y), -1).T:
        if np.all(column == column[0]):  # one label only: predict that label
            paths.append((np.zeros((len(Y), len(Cs))), np.full(len(Cs), float(column[0]))))
            continue
        y = _check(K, column)[1] if not paths else np.asarray(column, dtype=np.float64)
        steps = list(_follow(K, y, Cs, weight, tol, max_iter))
        intercepts = [
            _intercept(y, C * weight, beta, y - f) for C, (beta, f, *_) in zip(Cs, steps, strict=True)
        ]
        paths.append((np.column_stack([beta for beta, *_ in steps]), np.array(intercepts)))
    return paths


def _held_out_correct(K: np.ndarray, Y: np.ndarray, paths: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Whether each held-out sample is classified correctly, a column for each C."""
    decisions = [K @ coefficients + intercepts for coefficients, intercepts in paths]
    if Y.ndim == 1:
        return (decisions[0] > 0) == (Y[:, np.newaxis] > 0)
    return np.argmax(decisions, axis=0) == np.argmax(Y, axis=1)[:, np.newaxis]


def _follow(
    K: np.ndarray, y: np.ndarray, Cs: Sequence[float], weight: np.ndarray, tol: float, max_iter: int
) -> Iterator[tuple[np.ndarray, np.ndarray, int, float]]:
    """Yield (beta, f = K beta, steps, violation) for each C, each started on the ray through the last."""
    beta, f, previous = np.zeros(y.size), np.zeros(y.size), np.inf
    for C in Cs:
        r = _best_multiple(y, beta, f, C / previous)
        bounds = C * weight
        edge = bounds * y
        beta = np.clip(r * beta, np.minimum(0.0, edge), np.maximum(0.0, edge))  # undoes rounding
        f, n_iter, violation = _minimize(K, y, bounds, beta, r * f, tol, max_iter)
        yield beta, f, n_iter, violation
        previous = C


def _check(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contiguous float64 operands; a kernel matrix must be square and finite, labels must be -1 and +1."""
    K = np.ascontiguousarray(K, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or K.shape != (y.size, y.size):
        raise ValueError(f"K must have shape ({y.size}, {y.size}) to match y, got {K.shape}.")
    with np.errstate(over="ignore", invalid="ignore"):
        total = K.sum()
    if not np.isfinite(total):
        raise ValueError("K holds NaN, infinite or overflowing values; scale the features.")
    if not np.array_equal(np.unique(y), [-1.0, 1.0]):
        raise ValueError("y must hold the labels -1 and +1, both present.")
    return K, y


def _best_multiple(y: np.ndarray, beta: np.ndarray, f: np.ndarray, limit: float) -> float:
    """The r in [0, limit] whose r beta maximizes the dual."""
    linear, quadratic = y @ beta, beta @ f
    return limit if quadratic <= 0.0 else min(limit, linear / quadratic)


def _minimize(
    K: np.ndarray,
    y: np.ndarray,
    bounds: np.ndarray,
    beta: np.ndarray,
    f: np.ndarray,
    tol: float,
    max_iter: int,
) -> tuple[np.ndarray, int, float]:
    """Run the solver in place on beta from f = K beta; return f as updated, steps taken, violation left."""
    edge, gradient = bounds * y, f - y
    pairs, subspaces, violation = minimize(
        K, K.diagonal().copy(), np.minimum(0.0, edge), np.maximum(0.0, edge), beta, gradient, tol, max_iter
    )
    return gradient + y, pairs + subspaces, violation


def _certify(
    y: np.ndarray,
    bounds: np.ndarray,
    beta: np.ndarray,
    f: np.ndarray,
    n_iter: int,
    violation: float,
    tol: float,
) -> Solution:
    """Attach the intercept of LIBSVM and the exact duality gap."""
    b = _intercept(y, bounds, beta, y - f)
    quadratic, linear = beta @ f, y @ beta
    loss = bounds @ np.maximum(0.0, 1.0 - y * (f + b))
    return Solution(
        w=beta,
        b=b,
        u=np.abs(beta),
        objective=float(0.5 * quadratic + loss),
        gap=float(quadratic + loss - linear),
        n_iter=int(n_iter),
        converged=bool(violation <= tol),
        message=f"Largest violating pair {violation:.3g} against tol={tol:.3g}.",
    )


def _intercept(y: np.ndarray, bounds: np.ndarray, beta: np.ndarray, residual: np.ndarray) -> float:
    """Mean residual of the free support vectors; without any, the middle of the optimal interval."""
    free = (beta != 0.0) & (np.abs(beta) < bounds)
    if free.any():
        return float(residual[free].mean())
    may_rise = np.where(y > 0, beta < bounds, beta < 0.0)
    may_fall = np.where(y > 0, beta > 0.0, beta > -bounds)
    return float(0.5 * (residual[may_rise].max() + residual[may_fall].min()))
