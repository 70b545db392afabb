"""One trial of the arena: choose among a method's configurations, fit the chosen one, judge it.

Every method has equally many configurations, each tried on the same inner folds; among equals the first
wins, and the simplest stand first. Seconds are those of the process (one thread), after a first fit on a few
rows that compiles what has to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from kernsemble.trials.trial import Trial
from atlas.draws import Rows, Split, draw
from atlas.sizes import stored_bytes

Config = dict[str, int | float | str]
Grid = list[dict[str, int | float | str]]
# Makes an estimator from a configuration and the number of features.
Make = Callable[[Config, int], Any]

_PREDICTED, _REPEATS = 1000, 3
_WARM = 8  # rows of each class


def contest(
    trial: Trial, rows: Rows, make: Make, grid: Grid, size: Callable[[Any], float]
) -> dict[str, float]:
    """Return the error of the chosen configuration, its place in the grid, what it took, and its size."""
    data = draw(trial, rows)
    d = data.X.shape[1]
    warm_up(make(grid[0], d), data)
    start = process_time()
    chosen = choose(data, [lambda config=config: make(config, d) for config in grid], rows.n_inner)
    tuning = process_time() - start
    start = process_time()
    model = make(grid[chosen], d).fit(data.X, data.y)
    fitting = process_time() - start
    predicted = model.predict(data.X_test)
    return {
        "error": data.error(predicted),
        "chosen": chosen,
        "size": size(model),
        "kilobytes": stored_bytes(model) / 1000.0,
        "fit_seconds": fitting,
        "tuning_seconds": tuning,
        "predict_seconds": seconds_to_predict(model, data.X_test),
    }


def choose(data: Split, makers: list[Callable[[], Any]], n_folds: int) -> int:
    """Return the first of those makers whose models predict most held-out rows correctly."""
    correct = np.zeros(len(makers))
    for fold in range(n_folds):
        kept, held = data.folds != fold, data.folds == fold
        for k, make in enumerate(makers):
            model = make().fit(data.X[kept], data.y[kept])
            correct[k] += np.count_nonzero(model.predict(data.X[held]) == data.y[held])
    return int(correct.argmax())


def warm_up(model: Any, data: Split) -> None:
    """Fit and predict once on a few rows of each class."""
    few = np.concatenate([np.flatnonzero(data.y == label)[:_WARM] for label in np.unique(data.y)])
    model.fit(data.X[few], data.y[few]).predict(data.X[few])


def seconds_to_predict(model: Any, X: np.ndarray) -> float:
    """Return the least of three times for 1000 rows, those of X over and over."""
    many = X[np.arange(_PREDICTED) % len(X)]
    times = []
    for _ in range(_REPEATS):
        start = process_time()
        model.predict(many)
        times.append(process_time() - start)
    return min(times)
