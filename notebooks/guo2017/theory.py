"""Trials that check the mathematics: theorem 2, proposition 1, the equality with one machine."""

from __future__ import annotations

import numpy as np

from kernsemble.masters.exclusivity import (
    ExclusivitySolution,
    exclusivity_prox,
    reweight,
    solve_admm,
    solve_exclusivity,
    solve_printed_alm,
)
from kernsemble.masters.psvm import solve_psvm
from kernsemble.trials.trial import Trial
from guo2017.draws import Scaling, draw
from guo2017.machines import POWERS
from guo2017.plan import paper
from guo2017.sets import TABLE_SETS

# Name -> options of the printed algorithm; "start" is drawn at random.
VARIANTS: dict[str, dict[str, float | bool]] = {
    "printed": {},
    "tight stop": {"tol": 1e-9},
    "exact prox, tight stop": {"tol": 1e-9, "exact_prox": True},
    "random start": {"start": True},
    "random start, tight stop": {"tol": 1e-9, "start": True},
    "rho = 1.01, tight stop": {"tol": 1e-9, "rho": 1.01, "max_iter": 3000},
    "fixed mu, tight stop": {"tol": 1e-9, "rho": 1.0, "max_iter": 10_000},
}
METHODS = tuple(f"{p} {name}" for p in POWERS for name in (*VARIANTS, "two blocks", "exact"))


@paper.trials("theorems", methods=METHODS, datasets=TABLE_SETS)
def theorems(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, n_components: int
) -> dict[str, float]:
    """Measure a solution of (5).

    gap: objective (5) over the certified optimum, minus 1. spread: largest distance of a component from
    their mean, relative to the mean's length. distance: of the mean from PSVM(lambda / C), relative.
    loss_ratio: loss of the ensemble over the mean loss of its components (proposition 1: at most 1).
    infeasible: relative difference of the objectives (5) and (6); 0 where the constraints of (6) hold.
    """
    data = draw(trial, n_train, scaling)
    X, y = data.X, data.y
    p, name = POWERS[trial.method[:2]], trial.method[3:]
    solution = _solve(name, X, y, lam, n_components, p, trial)
    machine = solve_psvm(X, y, lam / n_components, p)
    optimum = n_components**2 * machine.dual_objective
    w, b = solution.w.mean(axis=1), solution.b.mean()
    length = np.linalg.norm(w)
    return {
        "gap": solution.objective / optimum - 1.0,
        "spread": np.linalg.norm(solution.w - w[:, np.newaxis], axis=0).max() / length,
        "distance": np.linalg.norm(w - machine.w) / np.linalg.norm(machine.w),
        "loss_ratio": _loss(X @ w + b, y, p) / _loss(X @ solution.w + solution.b, y[:, np.newaxis], p),
        "infeasible": abs(solution.split_path[-1] / solution.objective - 1.0),
        "n_iter": solution.n_iter,
    }


def _solve(
    name: str, X: np.ndarray, y: np.ndarray, lam: float, C: int, p: int, trial: Trial
) -> ExclusivitySolution:
    if name == "exact":
        return solve_exclusivity(X, y, lam, C, p)
    if name == "two blocks":
        return solve_admm(X, y, lam, C, p, rng=trial.shared_rng("start"))
    options = dict(VARIANTS[name])
    rng = trial.shared_rng("start") if options.pop("start", False) else None
    return solve_printed_alm(X, y, lam, C, p, rng=rng, **options)


def _loss(scores: np.ndarray, y: np.ndarray, p: int) -> float:
    """Sum of losses over samples, mean over components."""
    losses = np.maximum(0.0, 1.0 - y * scores) ** p
    return float(losses.sum(axis=0).mean())


@paper.trials("penalty", methods=tuple(POWERS), datasets=TABLE_SETS)
def penalty(
    trial: Trial,
    *,
    n_train: int,
    scaling: Scaling,
    lam: float,
    n_components: int,
    rhos: list[float],
    max_rounds: int,
) -> dict[str, np.ndarray]:
    """Relative gap where the printed algorithm comes to rest, for each growth of the penalty."""
    data = draw(trial, n_train, scaling)
    p = POWERS[trial.method]
    gaps, rounds = [], []
    for rho in rhos:
        solution = solve_printed_alm(
            data.X, data.y, lam, n_components, p, rho=rho, tol=1e-9, max_iter=max_rounds
        )
        gaps.append(float(f"{solution.gap / (solution.objective - solution.gap):.4g}"))
        rounds.append(solution.n_iter)
    return {"gap": np.array(gaps), "n_iter": np.array(rounds)}


@paper.trials("zeros", methods=("reweighting",), datasets=TABLE_SETS)
def zeros(trial: Trial, *, n_train: int, scaling: Scaling, lam: float, n_components: int) -> dict[str, float]:
    """Compare Algorithm 1 with the exact minimizer of (8), with and without zeros in the start.

    exact_difference: largest relative difference after 20,000 rounds from a start without zeros, with
    epsilon = 1e-12; entries whose limit is 0 are slow. stuck: share of the entries started at 0 that the
    exact solution moves and Algorithm 1 with epsilon = 0 does not. undefined: share of nan in a row of zeros.
    """
    data = draw(trial, n_train, scaling)
    rng = trial.rng("point")
    d, mu = data.X.shape[1], 1.0
    pull = rng.standard_normal((d, n_components)) + 3.0
    exact = exclusivity_prox(pull / mu, 1.0 / mu)
    start = rng.standard_normal((d, n_components))
    from_there = reweight(start, pull, mu, 1e-12, tol=0.0, max_rounds=20_000)
    with_zeros = start * (rng.random((d, n_components)) < 0.5)
    with_zeros[0] = 0.0
    with np.errstate(invalid="ignore"):
        reached = reweight(with_zeros, pull, mu, 0.0)
    moved = (with_zeros == 0.0) & (exact != 0.0)
    moved[0] = False
    return {
        "exact_difference": float(np.abs(from_there - exact).max() / np.abs(exact).max()),
        "stuck": float(np.mean(reached[moved] == 0.0)),
        "undefined": float(np.mean(np.isnan(reached[0]))),
    }
