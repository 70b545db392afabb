"""An additive model of 371,000 rows, drawn as results/benchmarks_shapes.png and .svg; a race with LightGBM.

Spruce against lodgepole pine, the two largest classes of Forest: three quarters of the rows to train on, 54
features standardized. Boosted trees know interactions, so their error is lower; the row's note has both.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier
from race import Row, compare, once
from sklearn.model_selection import train_test_split

from kernsemble import DistanceKernelSVC, load
from kernsemble.estimators.shape_display import ShapeDisplay
from kernsemble.hypotheses.shapes import ShapeFunction
from kernsemble.report.figures import subplots

FIGURE = Path(__file__).parent.parent / "results" / "benchmarks_shapes"
C = 0.1


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
    for suffix in ("svg", "png"):
        figure.savefig(FIGURE.with_suffix(f".{suffix}"), metadata={"Date": None} if suffix == "svg" else None)


def rows() -> list[Row]:
    """Run the race of this file, and draw."""
    data = load("covertype").only("1", "2")
    mean, scale = data.X.mean(axis=0), data.X.std(axis=0)
    scale[scale == 0.0] = 1.0
    X = (data.X - mean) / scale
    X, X_new, y, y_new = train_test_split(X, data.y, test_size=0.25, random_state=0, stratify=data.y)
    DistanceKernelSVC(C=C).fit(X[:5000], y[:5000])  # compiled before the clock starts
    ours, model = once(lambda: DistanceKernelSVC(C=C).fit(X, y))
    theirs, peer = once(lambda: LGBMClassifier(n_estimators=100, n_jobs=2, verbose=-1).fit(X, y))
    draw(model, X, list(data.feature_names), mean, scale)
    errors = [100 * (1 - m.score(X_new, y_new)) for m in (model, peer)]
    note = (
        f"gap {model.relative_gap_:.1e}; error {errors[0]:.2f} % against {errors[1]:.2f} %: no interactions"
    )
    size = f"Forest {len(X)} x {X.shape[1]}"
    same = bool(model.relative_gap_ <= 1e-3)
    return [compare("additive model that one can read", size, "LightGBM", ours, theirs, 0.5, same, note)]
