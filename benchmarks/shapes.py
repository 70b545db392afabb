"""An additive model of 371,000 rows, drawn as results/benchmarks_shapes.svg; races with two others.

Spruce against lodgepole pine, the two largest classes of Forest: three quarters of the rows to train on, 54
features standardized. Boosted trees know interactions, so their error is lower; the row's note has both. EBM
is additive too; it takes part on 100,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from million import EBM, explainable_boosting
from race import Row, compare, once
from sklearn.model_selection import train_test_split

from kernsemble import DistanceKernelSVC, load
from kernsemble.estimators.shape_display import ShapeDisplay
from kernsemble.hypotheses.shapes import ShapeFunction
from kernsemble.report.figures import render, subplots

FIGURE = Path(__file__).parent.parent / "results" / "benchmarks_shapes.svg"
C, FEWER = 0.1, 100_000


def draw(
    model: DistanceKernelSVC, X: np.ndarray, names: list[str], mean: np.ndarray, scale: np.ndarray
) -> None:
    """Draw the functions of the six features that matter most, in the units of their measurements."""
    names = [name.replace("Horizontal_Distance_To_", "Distance to ").replace("_", " ") for name in names]
    standard = ShapeDisplay.from_estimator(model, X, feature_names=names)
    units = [(mean[names.index(name)], scale[names.index(name)]) for name in standard.names]
    display = ShapeDisplay(
        [ShapeFunction(m + s * f.knots, f.values) for f, (m, s) in zip(standard.shapes, units, strict=True)],
        names=standard.names,
        outputs=standard.outputs,
        deciles=[m + s * x for x, (m, s) in zip(standard.deciles, units, strict=True)],
        ranges=[(m + s * a, m + s * b) for (a, b), (m, s) in zip(standard.ranges, units, strict=True)],
    )
    figure, axes = subplots(2, 3, size=(8.4, 4.6), sharey=True)
    display.plot(axes=axes)
    figure.tight_layout()
    FIGURE.write_text(render(figure), encoding="utf-8")


def against(name: str, make: Any, target: float, ours: float, model: Any, parts: list[np.ndarray]) -> Row:
    """Race a peer against the seconds of our fit, on the same rows."""
    X, X_new, y, y_new = parts
    theirs, peer = once(lambda: make().fit(X, y))
    errors = [100 * (1 - fitted.score(X_new, y_new)) for fitted in (model, peer)]
    note = f"gap {model.relative_gap_:.1e}; error {errors[0]:.2f} % against {errors[1]:.2f} %"
    size, same = f"Forest {len(X)} x {X.shape[1]}", bool(model.relative_gap_ <= 1e-3)
    return compare("additive model that one can read", size, name, ours, theirs, target, same, note)


def rows() -> Iterator[Row]:
    """Run the races of this file, and draw."""
    explainable_boosting()  # where it is missing, say so before anything is fitted
    data = load("covertype").only("1", "2")
    mean, scale = data.X.mean(axis=0), data.X.std(axis=0)
    scale[scale == 0.0] = 1.0
    X = (data.X - mean) / scale
    parts = train_test_split(X, data.y, test_size=0.25, random_state=0, stratify=data.y)
    X, X_new, y, y_new = parts
    DistanceKernelSVC(C=C).fit(X[:5000], y[:5000])  # compiled before the clock starts
    ours, model = once(lambda: DistanceKernelSVC(C=C).fit(X, y))
    draw(model, X, list(data.feature_names), mean, scale)
    trees = partial(LGBMClassifier, n_estimators=100, n_jobs=2, verbose=-1)
    yield against("LightGBM", trees, 0.5, ours, model, parts)
    few = [X[:FEWER], X_new, y[:FEWER], y_new]
    ours, model = once(lambda: DistanceKernelSVC(C=C).fit(few[0], few[2]))
    yield against(EBM, explainable_boosting, 50.0, ours, model, few)
