"""The arena at full size: all rows of large sets, one fit a method, within a limit of time and memory.

Nothing is chosen: each method has one configuration, the middle of its grid in the arena where it has one. A
trial holds out the arena's first outer fold, all rows and all pixels. It runs in a process of its own, whose
seconds and megabytes are limited; if it reaches a limit its row says which, and has no other number.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.cgens_sls import CGEnsSLS
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.estimators.drm import DRM
from kernsemble.estimators.exrm import ExRM
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostMH
from kernsemble.trials.trial import Trial
from atlas.trials import (
    Config,
    Rows,
    count_dual_rows,
    count_forest_leaves,
    count_histogram_leaves,
    count_lightgbm_leaves,
    count_linear_machines,
    count_support_vectors,
    count_weighted,
    count_xgboost_leaves,
    draw,
    paper,
    seconds_to_predict,
    stored_bytes,
)

FULL_BINARY = ("banana", "spam", "ijcnn1")
FULL_MULTICLASS = ("pendigits", "letter", "mnist", "covertype")
FULL_SETS = (*FULL_BINARY, *FULL_MULTICLASS)
ENDED, OUT_OF_TIME, OUT_OF_MEMORY = 0, 1, 2  # what "censored" says
_ALL = 1 << 40  # rows
_MEGABYTE = 1 << 20
_WARM = 400  # rows

paper.exhibit(
    "arena_full",
    "All methods on all rows of large sets, within a limit of time and memory",
    metrics=("censored", "error", "size", "kilobytes"),
    timing=("fit_seconds", "predict_seconds", "megabytes"),
    tolerance={"kilobytes": 1.0},
)


def count_tables(model: Any) -> int:
    """Values in the tables of a machine that is a spline; support vectors of another."""
    return model._shapes.tables.size if model.solver_ == "spline" else count_support_vectors(model)


def histogram_boosting(**options: Any) -> HistGradientBoostingClassifier:
    """Histogram gradient boosting as in the arena."""
    return HistGradientBoostingClassifier(early_stopping=False, **options)


def lightgbm(**options: Any) -> Any:
    """LightGBM as in the arena."""
    from lightgbm import LGBMClassifier  # imported here: only this trial needs it

    return LGBMClassifier(n_jobs=1, deterministic=True, force_row_wise=True, verbose=-1, **options)


def xgboost(**options: Any) -> Any:
    """XGBoost as in the arena."""
    from xgboost import XGBClassifier  # imported here: only this trial needs it

    return XGBClassifier(n_jobs=1, tree_method="hist", **options)


def explainable_boosting(**options: Any) -> Any:
    """InterpretML's boosting of one feature at a time, in 14 fits to bags of the rows."""
    try:
        from interpret.glassbox import ExplainableBoostingClassifier
    except ModuleNotFoundError as error:
        raise RuntimeError("EBM needs interpret-core: run `make peers`.") from error
    return ExplainableBoostingClassifier(interactions=0, n_jobs=1, **options)


def count_table_values(model: Any) -> int:
    """Values in the tables of EBM."""
    return int(sum(table.size for table in model.term_scores_))


class Entry(NamedTuple):
    """How a method is made, what its size counts, and whether its configuration has a seed."""

    make: Callable[..., Any]
    size: Callable[[Any], float]
    unit: str
    seeded: bool = False


ENTRIES = {
    "SVM-Stump": Entry(DistanceKernelSVC, count_tables, "numbers"),
    "SVM-Perc": Entry(DistanceKernelSVC, count_tables, "support vectors"),
    "SVM-Perc, spread": Entry(DistanceKernelSVC, count_tables, "numbers", seeded=True),
    "SVM-Perc, generated": Entry(DistanceKernelSVC, count_tables, "numbers", seeded=True),
    "CGENS-SLS": Entry(CGEnsSLS, count_weighted, "stumps"),
    "MultiBoost-cw": Entry(MultiBoost, count_weighted, "stumps"),
    "ExRM": Entry(ExRM, count_linear_machines, "linear machines"),
    "DRM": Entry(DRM, count_dual_rows, "training rows", seeded=True),
    "SVM-Gauss": Entry(SVC, count_support_vectors, "support vectors"),
    "RandomForest": Entry(RandomForestClassifier, count_forest_leaves, "leaves", seeded=True),
    "HistGB": Entry(histogram_boosting, count_histogram_leaves, "leaves", seeded=True),
    "LightGBM": Entry(lightgbm, count_lightgbm_leaves, "leaves", seeded=True),
    "XGBoost": Entry(xgboost, count_xgboost_leaves, "leaves", seeded=True),
    "EBM": Entry(explainable_boosting, count_table_values, "numbers", seeded=True),
    "AdaBoost-Stump": Entry(AdaBoost, count_weighted, "stumps"),
    "AdaBoost-Perc": Entry(AdaBoost, count_weighted, "perceptrons", seeded=True),
    "LPBoost": Entry(LPBoost, count_weighted, "stumps"),
    "CGENS-Stump": Entry(CGEns, count_weighted, "stumps"),
    "CG-Boost-l1": Entry(CGBoostClassifier, count_weighted, "kernel columns"),
    "CG-Boost-l2": Entry(CGBoostClassifier, count_weighted, "kernel columns"),
    "AdaBoost.MH": Entry(AdaBoostMH, count_weighted, "stumps"),
}
BINARY_ONLY = ("AdaBoost-Stump", "AdaBoost-Perc", "LPBoost", "CGENS-Stump", "CG-Boost-l1", "CG-Boost-l2")
MULTICLASS_ONLY = ("AdaBoost.MH",)
BOTH = tuple(name for name in ENTRIES if name not in (*BINARY_ONLY, *MULTICLASS_ONLY))


@paper.trials("arena_full", methods=BOTH, datasets=FULL_SETS)
def any_classes(
    trial: Trial, *, rows: Rows, full_methods: dict[str, Config], full_limits: dict[str, float]
) -> dict[str, float]:
    """Methods for two classes and for more."""
    return within_limits(trial, rows, full_methods[trial.method], full_limits)


@paper.trials("arena_full", methods=BINARY_ONLY, datasets=FULL_BINARY)
def two_classes(
    trial: Trial, *, rows: Rows, full_methods: dict[str, Config], full_limits: dict[str, float]
) -> dict[str, float]:
    """Methods for two classes."""
    return within_limits(trial, rows, full_methods[trial.method], full_limits)


@paper.trials("arena_full", methods=MULTICLASS_ONLY, datasets=FULL_MULTICLASS)
def more_classes(
    trial: Trial, *, rows: Rows, full_methods: dict[str, Config], full_limits: dict[str, float]
) -> dict[str, float]:
    """Methods that are another one where there are two classes."""
    return within_limits(trial, rows, full_methods[trial.method], full_limits)


def within_limits(
    trial: Trial, rows: Rows, config: Config, limits: dict[str, float], fit: Callable | None = None
) -> dict[str, float]:
    """Return what a process of its own finds, or which limit has ended it.

    ``limits`` has the processor's seconds of the fit and of all predictions together, and the megabytes of
    the process, data included. A library that is missing is an error at once, before any process is started.
    """
    ENTRIES[trial.method].make(**config)
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    whole = replace(rows, max_rows=_ALL, image_block=1)
    arguments = (theirs, fit or measured, trial, whole, config, limits)
    process = context.Process(target=_limited, args=arguments, daemon=True)
    process.start()
    theirs.close()
    try:
        found = ours.recv()
    except EOFError:  # it was ended, or it failed
        found = None
    process.join()
    if process.exitcode == 1:
        raise RuntimeError(f"{trial.method} on {trial.dataset} failed; its process has said why above.")
    if found is None:
        return {"censored": OUT_OF_TIME if process.exitcode == -signal.SIGXCPU else OUT_OF_MEMORY}
    return found


def _limited(
    answer: Connection,
    fit: Callable,
    trial: Trial,
    rows: Rows,
    config: Config,
    limits: dict[str, float],
) -> None:
    """Answer with the numbers of a trial, or that it has no more memory; end with the process that asks."""
    Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = "1"
    most = int(limits["megabytes"] * _MEGABYTE)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with threadpool_limits(1):
        try:
            answer.send(fit(trial, rows, config, limits["seconds"]))
        except MemoryError:
            answer.send({"censored": OUT_OF_MEMORY})


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    """End this process when its parent has ended."""
    parent.join()
    os._exit(1)


def measured(trial: Trial, rows: Rows, config: Config, seconds: float) -> dict[str, float]:
    """Fit one method to all rows and judge it; the system ends the process after so many seconds."""
    entry = ENTRIES[trial.method]
    options = {**config, **({"random_state": trial.seed()} if entry.seeded else {})}
    data = draw(trial, rows)
    few = some_rows(data.y)
    entry.make(**options).fit(data.X[few], data.y[few]).predict(data.X[few])
    limit_time(seconds)
    start = process_time()
    model = entry.make(**options).fit(data.X, data.y)
    fitting = process_time() - start
    return {
        "censored": ENDED,
        "error": data.error(model.predict(data.X_test)),
        "size": entry.size(model),
        "kilobytes": stored_bytes(model) / 1000.0,
        "fit_seconds": fitting,
        "predict_seconds": seconds_to_predict(model, data.X_test),
        "megabytes": _peak_megabytes(),
    }


def some_rows(y: np.ndarray) -> np.ndarray:
    """Rows to warm up on: of each class, and enough that columns have more values than a byte has."""
    each = [np.flatnonzero(y == label)[:8] for label in np.unique(y)]
    return np.unique(np.concatenate([*each, np.arange(min(len(y), _WARM))]))


def limit_time(seconds: float) -> None:
    """Let the system end this process after so many more seconds of the processor, by its own signal."""
    last = int(process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (last, last + 5))


def _peak_megabytes() -> float:
    """Most memory that this process has held at a time."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
