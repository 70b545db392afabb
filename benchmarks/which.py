"""Which estimator for 10^6 rows of 20 features: what each takes, in results/benchmarks_which.csv.

The rows are those of the race with the stump machine (`million`): an additive function of eight features,
with noise. Seconds are the processor's, which one thread takes; the error is that on 100,000 other rows.
Nothing is tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
from lightgbm import LGBMClassifier
from million import NEW, samples
from race import Row

from kernsemble import AdaBoost, DistanceKernelSVC

N = 1_000_000
TABLE = Path(__file__).parent.parent / "results" / "benchmarks_which.csv"
MODELS: dict[str, Callable[[], Any]] = {
    "DistanceKernelSVC": lambda: DistanceKernelSVC(C=0.01),
    "AdaBoost, 200 stumps": lambda: AdaBoost(200),
    "LightGBM, 100 trees": lambda: LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=1, verbose=-1),
}


def measure(name: str, n: int = N) -> dict[str, Any]:
    """Fit one model, compiled beforehand; return what it took and what came of it."""
    (X, y), (X_new, y_new) = samples(n), samples(NEW, 1)
    MODELS[name]().fit(X[:5000], y[:5000])
    start = process_time()
    model = MODELS[name]().fit(X, y)
    seconds = process_time() - start
    error, gap = 1.0 - model.score(X_new, y_new), getattr(model, "relative_gap_", None)
    return {"model": name, "n_samples": n, "seconds": seconds, "error": error, "gap": gap}


def rows() -> list[Row]:
    """Write what was measured; no race, so no rows."""
    records = []
    for name in MODELS:
        records.append(measure(name))
        pd.DataFrame(records).to_csv(TABLE, index=False, float_format="%.4g")  # at once
    return []
