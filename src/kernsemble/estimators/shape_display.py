"""The shape functions of an additive model, drawn: a display in the manner of scikit-learn.

Ensembles of stumps and machines with the stump kernel are sums of one function a feature, which a person can
read. ``ShapeDisplay.from_estimator(model, X)`` draws them; the ticks at the bottom are the deciles of X.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from kernsemble.hypotheses.base import label
from kernsemble.hypotheses.shapes import ShapeFunction

_MOST = 6  # features that are drawn if none are named
_DECILES = np.arange(0.1, 1.0, 0.1)


def shape_functions(estimator: Any) -> list[ShapeFunction]:
    """Return one function a feature of an additive model: stump kernels, or ensembles of stumps.

    Functions of stumps jump: each threshold is a knot twice, with the values on either side. They are those
    of values that are there; `kernsemble.export.additive_tables` has those of missing ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble import AdaBoost
    >>> from kernsemble.estimators.shape_display import shape_functions
    >>> X, y = np.array([[0.0], [1.0]]), [0, 1]
    >>> shape_functions(AdaBoost(1).fit(X, y))[0].knots
    array([0.5, 0.5])
    """
    check_is_fitted(estimator)
    if hasattr(estimator, "shape_functions_"):
        return estimator.shape_functions_
    stumps = getattr(estimator, "hypotheses_", None)
    if not hasattr(stumps, "thresholds"):
        raise TypeError(f"{label(estimator)} is no additive model: stumps, or the stump kernel, are.")
    weights = estimator.weights_.reshape(len(stumps), -1) * stumps.signs[:, None]
    functions = []
    for feature in range(estimator.n_features_in_):
        mine = np.flatnonzero((stumps.features == feature) & np.isfinite(stumps.thresholds))
        mine = mine[np.argsort(stumps.thresholds[mine], kind="stable")]
        below = -weights[mine].sum(axis=0)
        mine = mine[stumps.thresholds[mine] < np.finfo(np.float64).max]  # above are missing values only
        if not len(mine):
            functions.append(ShapeFunction(np.zeros(1), below[None]))
            continue
        levels = np.cumsum(np.vstack([below, 2.0 * weights[mine]]), axis=0)
        values = np.stack([levels[:-1], levels[1:]], axis=1).reshape(2 * len(mine), -1)
        functions.append(ShapeFunction(np.repeat(stumps.thresholds[mine], 2), values))
    return functions


class ShapeDisplay:
    """Shape functions of an additive model; make one by `from_estimator`.

    Parameters
    ----------
    shapes : list of ShapeFunction
        A function for each panel, with mean zero over the data.
    names : list of str
        Names of the features.
    outputs : list of str
        Names of the curves in each panel, one for each column of values; empty for a single one.
    deciles : list of ndarray
        Deciles of each feature.
    ranges : list of tuple of float
        Range of each feature.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    axes_ : ndarray of Axes
        A panel for each feature.
    lines_ : list of list of Line2D
        The curves of each panel.

    See Also
    --------
    DistanceKernelSVC : The machine with all stumps; ensembles of stumps can be drawn as well.
    kernsemble.export.to_json : The same functions as tables.
    sklearn.inspection.PartialDependenceDisplay : Means over the data, for any model.

    Notes
    -----
    Curves have mean zero over the data, so their heights can be compared between features: what one adds to
    the score, all others as they are. Ticks are deciles of the data.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernsemble import DistanceKernelSVC, ShapeDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = ShapeDisplay.from_estimator(DistanceKernelSVC(C=1e-3).fit(X, y), X, features=[0, 1])
    >>> len(display.lines_)
    2
    """

    def __init__(
        self,
        shapes: list[ShapeFunction],
        *,
        names: list[str],
        outputs: list[str],
        deciles: list[np.ndarray],
        ranges: list[tuple[float, float]],
    ):
        self.shapes = shapes
        self.names = names
        self.outputs = outputs
        self.deciles = deciles
        self.ranges = ranges

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Sequence[int | str] | None = None,
        feature_names: Sequence[str] | None = None,
        axes: Any = None,
        **line_options: Any,
    ) -> ShapeDisplay:
        """Draw the shape functions of a fitted model over the range of X.

        Parameters
        ----------
        estimator : object
            A fitted machine with the stump kernel, or an ensemble of stumps.
        X : array-like of shape (n_samples, n_features)
            Data that say where the features lie: curves have mean zero over them.
        features : sequence of int or str, optional
            What to draw; by default the six features whose functions vary most over X.
        feature_names : sequence of str, optional
            Names of the features; by default those that the model was fitted with.
        axes : sequence of matplotlib Axes, optional
            Where to draw; by default a new figure.
        **line_options
            Passed to ``Axes.plot``.

        Returns
        -------
        ShapeDisplay
            With the figure in ``figure_``.
        """
        columns = np.asarray(X, dtype=np.float64)
        functions = shape_functions(estimator)
        if columns.ndim != 2 or columns.shape[1] != len(functions):
            raise ValueError(f"X has shape {columns.shape}; expected {len(functions)} features.")
        if feature_names is None:
            default = [f"x{j}" for j in range(len(functions))]
            feature_names = getattr(estimator, "feature_names_in_", default)
        feature_names = list(feature_names)
        present = [x[~np.isnan(x)] if not np.isnan(x).all() else np.zeros(1) for x in columns.T]
        centered = [_center(*pair) for pair in zip(functions, present, strict=True)]
        if features is None:
            spread = [_at(f, x).std(axis=0).sum() for f, x in zip(centered, present, strict=True)]
            features = np.argsort(spread, kind="stable")[::-1][:_MOST]
        picked = [feature_names.index(f) if isinstance(f, str) else int(f) for f in features]
        display = cls(
            [centered[j] for j in picked],
            names=[str(feature_names[j]) for j in picked],
            outputs=_outputs(estimator, functions[0].values.shape[1]),
            deciles=[np.quantile(present[j], _DECILES) for j in picked],
            ranges=[(float(present[j].min()), float(present[j].max())) for j in picked],
        )
        return display.plot(axes=axes, **line_options)

    def plot(self, *, axes: Any = None, **line_options: Any) -> ShapeDisplay:
        """Draw; ``axes`` are as many as there are panels, and ``line_options`` go to ``Axes.plot``."""
        if axes is None:
            axes = _new_axes(len(self.shapes))
        self.axes_ = np.ravel(axes)
        if len(self.axes_) != len(self.shapes):
            raise ValueError(f"{len(self.axes_)} axes were given for {len(self.shapes)} features.")
        self.figure_, self.lines_ = self.axes_[0].figure, []
        for panel, shape, name, deciles, limits in zip(
            self.axes_, self.shapes, self.names, self.deciles, self.ranges, strict=True
        ):
            inside = (shape.knots > limits[0]) & (shape.knots < limits[1])
            ends = _at(shape, np.array(limits))
            x = np.concatenate([limits[:1], shape.knots[inside], limits[1:]])
            lines = panel.plot(x, np.vstack([ends[:1], shape.values[inside], ends[1:]]), **line_options)
            for line, output in zip(lines, self.outputs, strict=False):
                line.set_label(output)
            panel.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
            panel.vlines(
                deciles, 0.0, 0.05, transform=panel.get_xaxis_transform(), color="0.4", linewidth=0.8
            )
            panel.set_xlabel(name)
            self.lines_.append(lines)
        self.axes_[0].set_ylabel("contribution")
        if self.outputs:
            self.axes_[0].legend(fontsize="small")
        return self


def _at(shape: ShapeFunction, x: np.ndarray) -> np.ndarray:
    """Values (n, n_machines) at x; at a jump, one of its sides."""
    return np.column_stack([np.interp(x, shape.knots, values) for values in shape.values.T])


def _center(shape: ShapeFunction, x: np.ndarray) -> ShapeFunction:
    """The function less its mean over x."""
    return ShapeFunction(shape.knots, shape.values - _at(shape, x).mean(axis=0))


def _outputs(estimator: Any, n_outputs: int) -> list[str]:
    """Names of the machines: none for one, the classes, or the pairs of classes."""
    if n_outputs == 1 or not is_classifier(estimator):
        return []
    classes = [str(name) for name in estimator.classes_]
    if n_outputs == len(classes) and getattr(estimator, "multi_class", "ovr") == "ovr":
        return classes
    return [f"{second}, not {first}" for first, second in combinations(classes, 2)][:n_outputs]


def _new_axes(n_panels: int) -> list:
    """Panels of a new figure, at most three a row."""
    try:
        from matplotlib import pyplot  # imported here: a model needs no matplotlib
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "ShapeDisplay needs the package matplotlib: pip install 'kernsemble[show]'."
        ) from error
    n_columns = min(3, n_panels)
    n_rows = -(-n_panels // n_columns)
    figure, axes = pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(3.2 * n_columns, 2.6 * n_rows),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for unused in axes.ravel()[n_panels:]:
        figure.delaxes(unused)
    return list(axes.ravel()[:n_panels])
