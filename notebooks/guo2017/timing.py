"""Trials that measure seconds: the last panel of figure 1, table 2, and four solvers of problem (5).

Like the paper's, these are seconds of the processor, and one thread: other programs do not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kernsemble.masters.drm import solve_drm
from kernsemble.masters.exclusivity import (
    advance,
    exact_value,
    printed_start,
    solve_admm,
    solve_exclusivity,
    solve_printed_alm,
    split_objective,
)
from kernsemble.masters.psvm import check_margin_problem
from kernsemble.trials.trial import Trial
from guo2017.curves import MACHINES, components
from guo2017.draws import Draw, Scaling, draw, large_sample
from guo2017.machines import POWERS, Kernel, drm_kernel, solve_exrm
from guo2017.plan import paper
from guo2017.sets import SIZE_SETS, TABLE_SETS
from guo2017.trees import TreeSize, bag_trees, boost_trees

EXACT_MACHINES = ("L1-exact", "L2-exact")
TABLE2 = ("L1-ExRM", "L2-ExRM", "AdaTree", "BagTree", "DRM")
TABLE2_METHODS = tuple(f"{name}{T}" for T in (10, 30) for name in TABLE2)
SOLVERS = ("exact", "two blocks", "printed", "cvxpy")


def run_printed(X: np.ndarray, y: np.ndarray, lam: float, C: int, p: int) -> int:
    """Run Algorithm 2 to its stop and return the iterations; unlike the master, without a certificate."""
    X, y, cost = check_margin_problem(X, y, lam, p, None)
    state = printed_start(y, X.shape[1], C)
    inverse = np.linalg.inv(np.eye(X.shape[1]) + X.T @ X)
    previous, n_iter = np.inf, 0
    while n_iter < 1000:
        advance(state, X, y, cost, p, inverse, 1.1, 1e-8, False)
        value = split_objective(state, y, cost, p)
        n_iter += 1
        if abs(value - previous) < 0.05:
            break
        previous = value
    return n_iter


@paper.trials("scaling", methods=(*MACHINES, *EXACT_MACHINES), datasets=SIZE_SETS)
def training_time(trial: Trial, *, lam: float) -> dict[str, float]:
    """Seconds of one training on random rows of ijcnn1; "exact" is the optimum with ten components."""
    X, y = large_sample(trial, int(trial.dataset.removeprefix("n=")))
    p = POWERS[trial.method[:2]]
    exact = trial.method in EXACT_MACHINES
    solve_exrm(X[:100], _both(y[:100]), lam, 10, p, "exact")
    start = time.process_time()
    n_iter = (
        solve_exclusivity(X, y, lam, 10, p).n_iter
        if exact
        else run_printed(X, y, lam, components(trial.method), p)
    )
    return {"fit_seconds": time.process_time() - start, "n_iter": n_iter}


def _both(y: np.ndarray) -> np.ndarray:
    """Return the labels with one of each sign at least: a small sample may hold one class."""
    y = y.copy()
    y[:2] = -1.0, 1.0
    return y


@paper.trials("table2", methods=TABLE2_METHODS, datasets=TABLE_SETS)
def table_time(
    trial: Trial,
    *,
    n_train: int,
    scaling: Scaling,
    lam: float,
    boosted_tree: TreeSize,
    drm_features: Kernel,
    drm_mu: float,
    timed_nu: float,
) -> dict[str, float]:
    """Seconds of one training, the better of two."""
    data = draw(trial, n_train, scaling)
    name, T = trial.method[:-2], int(trial.method[-2:])

    def fit() -> None:
        if name.endswith("ExRM"):
            run_printed(data.X, data.y, lam, T, POWERS[name[:2]])
        elif name == "DRM":
            K = drm_kernel(drm_features, data.X, data.X)
            solve_drm(K, data.y, T, nu=timed_nu, mu=drm_mu, rng=trial.rng("start"))
        else:
            make, size = (boost_trees, boosted_tree) if name == "AdaTree" else (bag_trees, "full")
            make(data.X, data.y, T, size, trial.rng())

    return {"fit_seconds": min(_seconds(fit) for _ in range(2))}


def _seconds(call: Callable[[], None]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


@paper.trials(
    "solvers", methods=tuple(f"{p} {name}" for p in POWERS for name in SOLVERS), datasets=TABLE_SETS
)
def solvers(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, n_components: int
) -> dict[str, float]:
    """Relative gap, and the seconds of one solution (the better of two); cvxpy solves (5) as it stands."""
    data = draw(trial, n_train, scaling)
    p, name = POWERS[trial.method[:2]], trial.method[3:]
    times, gap = [], np.nan
    for _ in range(2):
        start = time.process_time()
        objective = _objective(name, data, lam, n_components, p)
        times.append(time.process_time() - start)
        gap = objective / exact_value(data.X, data.y, lam, n_components, p) - 1.0
    return {"gap": gap, "fit_seconds": min(times)}


def _objective(name: str, data: Draw, lam: float, C: int, p: int) -> float:
    """Objective (5) that a solver reaches; the iterative ones compute their certificate as well."""
    if name == "cvxpy":
        return _generic(data, lam, C, p)
    solve = {"exact": solve_exclusivity, "two blocks": solve_admm, "printed": solve_printed_alm}[name]
    return solve(data.X, data.y, lam, C, p).objective


def _generic(data: Draw, lam: float, C: int, p: int) -> float:
    """Solve (5) by a general-purpose solver for cones, with its own tolerances (1e-8)."""
    import cvxpy  # only this trial needs it

    W, b = cvxpy.Variable((data.X.shape[1], C)), cvxpy.Variable(C)
    loss = cvxpy.pos(
        1.0
        - cvxpy.multiply(
            data.y[:, np.newaxis],
            data.X @ W + np.ones((len(data.y), 1)) @ cvxpy.reshape(b, (1, C), order="C"),
        )
    )
    penalty = 0.5 * cvxpy.sum_squares(cvxpy.sum(cvxpy.abs(W), axis=1))
    cost = cvxpy.sum(loss) if p == 1 else cvxpy.sum_squares(loss)
    problem = cvxpy.Problem(cvxpy.Minimize(penalty + lam * cost))
    return float(problem.solve(solver=cvxpy.CLARABEL))
