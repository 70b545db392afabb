"""Trials of what the protocol leaves open, and of what parameter selection costs."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from sklearn.svm import SVC

from kernsemble.kernels import gaussian_kernel
from kernsemble.trials.trial import Trial
from linli2005.draws import (
    Draw,
    FoldKind,
    Folds,
    MissingVotes,
    Scaling,
    draw,
    folds_of,
)
from linli2005.machines import (
    DISTANCE_KERNELS,
    Ties,
    count_distance_grid,
    count_gaussian_grid,
    powers_of_two,
    train_distance_machine,
)
from linli2005.plan import paper
from linli2005.sets import GENERATED_SETS, REAL_SETS, TABLE_SETS

Errors = dict[str, float]
LIBSVM_SETS = (*GENERATED_SETS, "breast", "heart", "ionosphere", "sonar", "votes84")  # where it takes seconds


# What else the paper's words allow; what is not named stays as chosen.
READINGS: dict[str, dict[str, str]] = {
    "folds: stratified": {"folds": "stratified"},
    "ties: largest": {"ties": "largest"},
    "scaling: all sets": {"scaling": "all sets"},
    "scaling: pooled": {"scaling": "real sets, pooled"},
    "votes: mode": {"missing_votes": "mode"},
    "votes: drop": {"missing_votes": "drop"},
}


@paper.trials("protocol", methods=tuple(READINGS), datasets=TABLE_SETS, together=True)
def other_readings(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
) -> dict[str, Errors]:
    """Change of the test error under each other reading; 0 where it makes no difference to the data."""
    chosen = {"scaling": scaling, "missing_votes": missing_votes, "folds": folds, "ties": ties}
    Cs = powers_of_two(log2_C_distance)
    base = _errors(trial, sizes, n_folds, Cs, **chosen)
    results = {}
    for name, change in READINGS.items():
        errors = _errors(trial, sizes, n_folds, Cs, **chosen | change) if _applies(name, trial) else base
        results[name] = {kernel: errors[kernel] - base[kernel] for kernel in base}
    return results


def _applies(reading: str, trial: Trial) -> bool:
    """Say whether a reading concerns a dataset."""
    if reading == "scaling: all sets":
        return trial.dataset in GENERATED_SETS
    if reading == "scaling: pooled":
        return trial.dataset in REAL_SETS
    return trial.dataset == "votes84" or not reading.startswith("votes")


def _errors(
    trial: Trial,
    sizes: dict[str, float],
    n_folds: int,
    Cs: list[float],
    *,
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    ties: Ties,
) -> Errors:
    """Return the test errors of the two distance machines under one reading."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    machines = {kernel: train_distance_machine(kernel, data, parts, Cs, ties) for kernel in DISTANCE_KERNELS}
    return {kernel: data.error(machine.test_scores) for kernel, machine in machines.items()}


@paper.trials("selection", methods=("SVM-Stump", "SVM-Perc", "SVM-Gauss"), datasets=TABLE_SETS)
def selection(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """Count and time the problems of parameter selection."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    count_distance_grid("SVM-Stump", data, parts[:1], [1.0])  # loads what is compiled, before the clock runs
    count_gaussian_grid(data, parts[:1], [1.0], [1.0])
    if trial.method == "SVM-Gauss":
        grids = powers_of_two(log2_C_gauss), powers_of_two(log2_gamma)
        n_problems = n_folds * len(grids[0]) * len(grids[1])
        return {"problems": n_problems, "selection_seconds": _clock(count_gaussian_grid, data, parts, *grids)}
    Cs = powers_of_two(log2_C_distance)
    seconds = _clock(count_distance_grid, trial.method, data, parts, Cs)
    return {"problems": n_folds * len(Cs), "selection_seconds": seconds}


@paper.trials("selection", methods=("LIBSVM-Perc", "LIBSVM-Gauss"), datasets=LIBSVM_SETS)
def selection_by_libsvm(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """Count and time the same problems, each solved from nothing by LIBSVM on a kernel matrix."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    kernels, Cs = [DISTANCE_KERNELS["SVM-Perc"]], powers_of_two(log2_C_distance)
    if trial.method == "LIBSVM-Gauss":
        kernels = [_gaussian(gamma) for gamma in powers_of_two(log2_gamma)]
        Cs = powers_of_two(log2_C_gauss)
    seconds = _clock(_cross_validate_libsvm, data, parts, kernels, Cs)
    return {"problems": n_folds * len(Cs) * len(kernels), "selection_seconds": seconds}


def _clock(function: Callable, *arguments: object) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _gaussian(gamma: float) -> Callable[..., np.ndarray]:
    return lambda X: gaussian_kernel(X, gamma=gamma)


def _cross_validate_libsvm(data: Draw, folds: Folds, kernels: list[Callable], Cs: list[float]) -> None:
    for kernel in kernels:
        K = kernel(data.X)
        for train, test in folds:
            inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
            for C in Cs:
                SVC(C=C, kernel="precomputed").fit(inner, data.y[train]).predict(outer)
