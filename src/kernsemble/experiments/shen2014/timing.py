"""Trials that take time: figure 2, and how long a prediction takes (claim S10)."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.data.splits import official_split
from kernsemble.data.store import load
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.experiments.shen2014.draws import draw
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.base import Master
from kernsemble.masters.hinge import Hinge
from kernsemble.masters.lp import HingeLP


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


def _run(method: str, X: np.ndarray, y: np.ndarray, rounds: int, limit: float, log2_C: dict, tol: float):
    """Return the seconds after each round: oracle and master; stop when the limit is passed."""
    start = perf_counter()
    oracle, ends = StumpOracle(X, constant=method != "CGENS"), []

    def late(_: ColumnGeneration) -> bool:
        ends.append(perf_counter() - start)
        return ends[-1] > limit

    column_generation(oracle, _master(method, y, log2_C, tol), rounds, callback=late, keep_weights=False)
    return np.array(ends)


LP_METHODS = ("LPBoost, dual simplex", "LPBoost, interior point")


@paper.trials("figure2", methods=("CGENS", *LP_METHODS), datasets=("MNIST",))
def by_iterations(
    trial: Trial,
    *,
    n_digits: int,
    time_checkpoints: list[int],
    time_limit: float,
    log2_C_time: dict[str, int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """Seconds after some numbers of rounds on 10^4 digits; a method that passes the limit stops there."""
    X, y = _digits(trial, n_digits)
    _run(trial.method, X[:200], y[:200], 3, time_limit, log2_C_time, tol)  # compiles
    ends = _run(trial.method, X, y, max(time_checkpoints), time_limit, log2_C_time, tol)
    reached = [T for T in time_checkpoints if len(ends) >= T]
    return {"reached": len(ends), "seconds_curve": ends[np.array(reached) - 1]}


@paper.trials("figure2_examples", methods=("CGENS", *LP_METHODS), datasets=("MNIST",))
def by_examples(
    trial: Trial,
    *,
    digit_counts: list[int],
    n_rounds_time: int,
    time_limit: float,
    log2_C_time: dict[str, int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """Seconds for 100 rounds on growing numbers of digits; rounds: how many each run came to."""
    X, y = _digits(trial, max(digit_counts))
    order = trial.shared_rng("subset").permutation(len(y))
    _run(trial.method, X[:200], y[:200], 3, time_limit, log2_C_time, tol)
    seconds, reached = [], []
    for n in digit_counts:
        rows = np.sort(order[:n])
        ends = _run(trial.method, X[rows], y[rows], n_rounds_time, time_limit, log2_C_time, tol)
        seconds.append(ends[-1])
        reached.append(len(ends))
    return {"reached": np.array(reached), "seconds_curve": np.array(seconds)}


MACHINES = ("stump machine", "Gaussian machine")
ENSEMBLES = ("CGENS, 500 stumps", "CGENS, 100 stumps", "CGENS, 500 cosines")


@paper.trials(
    "prediction",
    methods=(*MACHINES, *ENSEMBLES),
    datasets=("banana", "german", "image", "splice", "waveform"),
)
def prediction(
    trial: Trial,
    *,
    n_evaluated: int,
    pool_size: int,
    log2_C_prediction: dict[str, int],
    tol: float,
) -> dict[str, float]:
    """Test error, and seconds to classify 10^4 points (test points, repeated): the best of three."""
    data = draw(trial)
    gamma = 1.0 / data.X.shape[1]
    C = 2.0 ** log2_C_prediction[trial.method.split(",")[0]]
    if trial.method == "stump machine":
        model = DistanceKernelSVC("stump", C=C)
    elif trial.method == "Gaussian machine":
        model = DistanceKernelSVC("gaussian", C=C, gamma=gamma)
    elif trial.method.endswith("cosines"):
        options = {"gamma": gamma, "n_hypotheses": pool_size}
        model = CGEns(C, 500, base="fourier", base_options=options, tol=tol, random_state=trial.seed())
    else:
        model = CGEns(C, int(trial.method.split()[1]), tol=tol)
    model.fit(data.X, data.y)
    points = np.resize(data.X_test, (n_evaluated, data.X.shape[1]))
    model.decision_function(points)  # compiles
    seconds = []
    for _ in range(3):
        start = perf_counter()
        model.decision_function(points)
        seconds.append(perf_counter() - start)
    size = len(model.support_) if trial.method in MACHINES else len(model.coef_)
    return {
        "error": data.error(model.decision_function(data.X_test)),
        "size": size,
        "eval_seconds": min(seconds),
    }
