"""Trials of figure 1: errors against lambda, convergence; and errors against lambda / C."""

from __future__ import annotations

import numpy as np

from kernsemble.masters.exclusivity import solve_printed_alm
from kernsemble.masters.psvm import solve_psvm
from kernsemble.trials.trial import Trial
from guo2017.draws import Scaling, draw, error_percent, large_sample
from guo2017.machines import POWERS, Solver, ensemble_scores, solve_exrm
from guo2017.plan import paper
from guo2017.sets import LARGE_SET, TABLE_SETS

MACHINES = tuple(f"{p}-{name}" for p in POWERS for name in ("PSVM", "ExRM5", "ExRM10", "ExRM30"))


def components(method: str) -> int:
    """Return the number of components in a method's name; PSVM has one."""
    digits = method.partition("-ExRM")[2]
    return int(digits) if digits else 1


@paper.trials("figure1", methods=MACHINES, datasets=TABLE_SETS)
def errors_against_lambda(
    trial: Trial, *, train_share: float, scaling: Scaling, lambdas: list[float], solver: Solver
) -> dict[str, np.ndarray]:
    """Training and test error in percent, and the relative gap, for each lambda."""
    data = draw(trial, train_share, scaling)
    rows = []
    for lam in lambdas:
        solution = solve_exrm(data.X, data.y, lam, components(trial.method), POWERS[trial.method[:2]], solver)
        train = error_percent(ensemble_scores(solution, data.X), data.y)
        gap = solution.gap / (solution.objective - solution.gap)
        rows.append((train, data.error(ensemble_scores(solution, data.X_test)), float(f"{gap:.3g}")))
    train, test, gaps = np.array(rows).T
    return {"train_error": train, "error": test, "gap": gaps}


@paper.trials("path", methods=tuple(POWERS), datasets=TABLE_SETS)
def errors_against_ratio(
    trial: Trial, *, n_train: int, scaling: Scaling, ratios: list[float]
) -> dict[str, np.ndarray]:
    """Test error of the one machine PSVM(lambda / C) that every exact ExRM is."""
    data = draw(trial, n_train, scaling)
    machines = [solve_psvm(data.X, data.y, ratio, POWERS[trial.method]) for ratio in ratios]
    return {"error": np.array([data.error(data.X_test @ m.w + m.b) for m in machines])}


@paper.trials(
    "convergence", methods=tuple(m for m in MACHINES if "ExRM" in m), datasets=(LARGE_SET, *TABLE_SETS)
)
def convergence(
    trial: Trial, *, n_large: int, n_train: int, scaling: Scaling, lam: float, n_shown: int
) -> dict[str, np.ndarray | float]:
    """Run the printed algorithm beyond its stop, and keep the first ``n_shown`` iterations.

    path: objective (6), its lowest value 0 and its highest 1. n_iter: where the printed rule stops. settled:
    the first iteration from which on the path stays within 0.01 of its end. gap: relative, at the printed
    stop.
    """
    if trial.dataset == LARGE_SET:
        X, y = large_sample(trial, n_large)
    else:
        data = draw(trial, n_train, scaling)
        X, y = data.X, data.y
    C, p = components(trial.method), POWERS[trial.method[:2]]
    solution = solve_printed_alm(X, y, lam, C, p, tol=0.0, max_iter=n_shown)
    changes = np.abs(np.diff(solution.split_path)) < 0.05
    n_iter = int(np.argmax(changes)) + 2 if changes.any() else n_shown
    low, high = solution.split_path.min(), solution.split_path.max()
    path = (solution.split_path - low) / (high - low)
    apart = np.flatnonzero(np.abs(path - path[-1]) > 0.01)
    optimum = solution.objective - solution.gap
    return {
        "path": np.round(path, 5),
        "n_iter": n_iter,
        "settled": int(apart[-1]) + 2 if len(apart) else 1,
        "gap": float(f"{solution.objective_path[n_iter - 1] / optimum - 1.0:.5g}"),
    }
