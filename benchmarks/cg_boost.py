"""CG-Boost: restricted masters that grow by kernel columns, against a conic solver in every round.

The quadratic masters hold BLAS to one thread themselves: on two, OpenBLAS takes ten times as long for the
regression's many small matrices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from time import perf_counter

import cvxpy as cp
import numpy as np
from race import Row, compare
from sklearn.datasets import make_friedman1

from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.masters.base import Master
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import EpsilonInsensitive, HingeQP

N_SAMPLES, N_COLUMNS, C, EPSILON = 1000, 300, 10.0, 0.1
JUDGED = 12  # rounds, evenly spaced, in which the peer solves the same master; its time is scaled up


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Noisy values of a function of 5 of 10 features, standardized."""
    X, y = make_friedman1(N_SAMPLES, noise=2.0, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def columns(start: Master, signed: bool) -> np.ndarray:
    """Kernel columns in the order in which regular column generation finds them."""
    X, _ = samples()
    oracle = KernelColumns(X, ["linear", "quadratic", "rbf"], signed=signed, stratified=False)
    found = []
    for _ in range(N_COLUMNS):
        (best,) = oracle.best(start.pricing_weights()) or [None]
        if best is None:
            break
        oracle.exclude(best.key)
        start.add(best.column)
        start.solve()
        found.append(best.column)
    return np.array(found).T


def conic(H: np.ndarray, y: np.ndarray, penalty: str, positive: bool, epsilon: float | None) -> float:
    """Solve one master by cvxpy with Clarabel."""
    w, b = cp.Variable(H.shape[1], nonneg=positive), cp.Variable()
    f = H @ w + b
    loss = cp.pos(1 - cp.multiply(y, f)) if epsilon is None else cp.pos(cp.abs(y - f) - epsilon)
    size = cp.sum_squares(w) / 2 if penalty == "l2" else cp.norm1(w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "may be inaccurate": whether it is, is compared
        return cp.Problem(cp.Minimize(size + C * cp.sum(loss))).solve(solver=cp.CLARABEL)


def race(
    task: str,
    master: Callable[[], Master],
    y: np.ndarray,
    *,
    penalty: str = "l2",
    positive: bool = False,
    epsilon: float | None = None,
) -> Row:
    """Race all rounds of a master against the conic solver in some of them."""
    H = columns(master(), positive)
    warm = master()
    warm.add(H[:, 0])
    warm.solve()
    ours, objectives, start = master(), [], perf_counter()
    for column in H.T:
        ours.add(column)
        objectives.append(ours.solve().objective)
    seconds = perf_counter() - start
    judged = np.unique(np.linspace(1, H.shape[1], JUDGED).round().astype(int))
    start = perf_counter()
    values = [conic(H[:, :J], y, penalty, positive, epsilon) for J in judged]
    theirs = (perf_counter() - start) / len(judged) * H.shape[1]
    same = np.allclose(np.array(objectives)[judged - 1], values, rtol=1e-7 if penalty == "l2" else 1e-6)
    size = f"{N_SAMPLES} x {H.shape[1]} columns"
    peer = f"cvxpy with Clarabel ({len(judged)} rounds, scaled)"
    return compare(task, size, peer, seconds, theirs, 50.0, same)


def rows() -> Iterator[Row]:
    """Run the races of this file."""
    _, y = samples()
    signs = np.where(y > np.median(y), 1.0, -1.0)
    yield race("CG-Boost master (11), alpha free", lambda: HingeQP(signs, C, intercept="free"), signs)
    yield race(
        "CG-Boost master (7), alpha >= 0",
        lambda: HingeQP(signs, C, intercept="free", positive=True),
        signs,
        positive=True,
    )
    yield race(
        "CG-Boost master (13), regression",
        lambda: EpsilonInsensitive(y, C, EPSILON, intercept="free"),
        y,
        epsilon=EPSILON,
    )
    yield race(
        "CG-Boost master (4), alpha >= 0, l1",
        lambda: HingeLP(signs, C, intercept="free"),
        signs,
        penalty="l1",
        positive=True,
    )
