"""Trials that take time: figure 2, and how long a prediction takes (claim S10).

Seconds are the processor's, so that they mean the same on a busy machine.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np

from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.data.splits import official_split
from kernsemble.data.store import load
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import gaussian_kernel, stump_kernel
from kernsemble.masters.base import Master
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials.trial import Trial
from shen2014.cgens import machine_ensemble
from shen2014.draws import draw, folds_of
from shen2014.ensembles import search
from shen2014.machines import choose_cost, powers_of_two
from shen2014.plan import paper
from shen2014.pools import family_of
from shen2014.protocol import Clocked


def _digits(trial: Trial, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n training digits of MNIST, +1 where odd."""
    data = load("mnist")
    train, _ = official_split(data.part)
    rows = np.sort(trial.shared_rng("digits").permutation(train)[:n])
    return data.X[rows].reshape(n, -1), np.where(data.y[rows] % 2 == 1, 1.0, -1.0)


def _master(method: str, y: np.ndarray, log2_C: dict[str, int], tol: float) -> Master:
    if method == "CGENS":
        return Hinge(y, 2.0 ** log2_C["CGENS"], intercept="free", tol=tol)
    solver = "ipm" if method.endswith("interior point") else "dual-simplex"
    return HingeLP(y, 2.0 ** log2_C["LPBoost"], solver=solver)


def _run(method: str, X: np.ndarray, y: np.ndarray, n_rounds: int, clocked: Clocked) -> np.ndarray:
    """Return the seconds after each round: oracle and master; stop when the limit is passed."""
    start = process_time()
    oracle, ends = StumpOracle(X, constant=method != "CGENS"), []

    def late(_: ColumnGeneration) -> bool:
        ends.append(process_time() - start)
        return ends[-1] > clocked.time_limit

    master = _master(method, y, clocked.log2_C_time, clocked.tol)
    column_generation(oracle, master, n_rounds, tol=clocked.tol, callback=late, keep_weights=False)
    return np.array(ends)


LP_METHODS = ("LPBoost, dual simplex", "LPBoost, interior point")


@paper.trials("figure2", methods=("CGENS", *LP_METHODS), datasets=("MNIST",))
def by_iterations(trial: Trial, *, n_digits: int, clocked: Clocked) -> dict[str, float | np.ndarray]:
    """Seconds after some numbers of rounds on 10^4 digits; a method that passes the limit stops there."""
    X, y = _digits(trial, n_digits)
    _run(trial.method, X[:200], y[:200], 3, clocked)  # compiles
    ends = _run(trial.method, X, y, max(clocked.time_checkpoints), clocked)
    reached = [T for T in clocked.time_checkpoints if len(ends) >= T]
    return {"reached": len(ends), "seconds_curve": ends[np.array(reached) - 1]}


@paper.trials("figure2_examples", methods=("CGENS", *LP_METHODS), datasets=("MNIST",))
def by_examples(
    trial: Trial, *, digit_counts: list[int], n_rounds_time: int, clocked: Clocked
) -> dict[str, float | np.ndarray]:
    """Seconds for 100 rounds on growing numbers of digits; reached: how many rounds each run came to.

    largest_curve: seconds after some numbers of rounds on the largest number, as far as they were reached.
    """
    X, y = _digits(trial, max(digit_counts))
    order = trial.shared_rng("subset").permutation(len(y))
    _run(trial.method, X[:200], y[:200], 3, clocked)
    seconds, reached = [], []
    for n in digit_counts:
        rows = np.sort(order[:n])
        ends = _run(trial.method, X[rows], y[rows], n_rounds_time, clocked)
        seconds.append(ends[-1])
        reached.append(len(ends))
    passed = np.array([T for T in clocked.time_checkpoints if len(ends) >= T])
    return {
        "reached": np.array(reached),
        "seconds_curve": np.array(seconds),
        "largest_curve": ends[passed - 1],
    }


MACHINES = ("stump machine", "Gaussian machine")
ENSEMBLES = ("CGENS, 500 stumps", "CGENS, 500 cosines")
TIMED_SETS = ("banana", "german", "image", "splice", "waveform")


@paper.trials("prediction", methods=MACHINES, datasets=TIMED_SETS)
def machine_prediction(
    trial: Trial,
    *,
    n_folds: int,
    n_evaluated: int,
    log2_C_stump: list[int],
    log2_C_gauss: list[int],
) -> dict[str, float]:
    """Test error, C by cross-validation, and seconds to classify 10^4 points (test points, repeated)."""
    data = draw(trial)
    stumps, gamma = trial.method == "stump machine", 1.0 / data.X.shape[1]
    Cs = powers_of_two(log2_C_stump if stumps else log2_C_gauss)
    K = stump_kernel(data.X) if stumps else gaussian_kernel(data.X, gamma=gamma)
    C = choose_cost(K, data.y, folds_of(trial, data.y, n_folds), Cs)
    options = {} if stumps else {"gamma": gamma}
    model = DistanceKernelSVC("stump" if stumps else "gaussian", C=C, **options).fit(data.X, data.y)
    return {
        "error": data.error(model.decision_function(data.X_test)),
        "size": len(model.support_),
        "eval_seconds": _best_of_three(
            model.decision_function, np.resize(data.X_test, (n_evaluated, data.X.shape[1]))
        ),
    }


@paper.trials("prediction", methods=ENSEMBLES, datasets=TIMED_SETS)
def ensemble_prediction(
    trial: Trial,
    *,
    n_folds: int,
    n_evaluated: int,
    pool_size: int,
    sizes: list[int],
    log2_C: list[int],
    log2_C_cosines: list[int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """Test errors and seconds of CGENS after some numbers of rounds, C by cross-validation at the last."""
    data = draw(trial)
    stumps, gamma = trial.method.endswith("stumps"), 1.0 / data.X.shape[1]
    options = {"constant": False} if stumps else {"size": pool_size, "gamma": gamma}
    family = family_of(trial, "stump" if stumps else "fourier once", **options)
    fit = machine_ensemble(family, tol, portable=False)  # a matter of seconds, and that path takes long
    Cs, folds = powers_of_two(log2_C if stumps else log2_C_cosines), folds_of(trial, data.y, n_folds)
    C, _ = search(fit, data, folds, Cs, sizes).best(len(sizes) - 1)
    ensemble = fit(data, C, sizes)
    points = np.resize(data.X_test, (n_evaluated, data.X.shape[1]))
    seconds = [_best_of_three(ensemble.truncated(j), points) for j in range(len(sizes))]
    errors = [data.error(scores) for scores in ensemble.scores(data.X_test).T]
    return {
        "error": errors[-1],
        "size": len(ensemble.weights[-1][0]),
        "curve": np.array(errors),
        "eval_seconds": seconds[-1],
        "seconds_curve": np.array(seconds),
    }


def _best_of_three(decide: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> float:
    """Return the least seconds of three calls after a first one, which compiles."""
    decide(points)
    seconds = []
    for _ in range(3):
        start = process_time()
        decide(points)
        seconds.append(process_time() - start)
    return min(seconds)
