r"""Additive models as plain JSON and as ONNX, to be read without this package.

A machine with the stump kernel, and an ensemble of stumps, is ``f(x) = b + sum_d g_d(x_d)``. For each feature
there is a table of g_d, one column of values a machine: linear between its knots and constant beyond them
(stump kernel), or with a step at each knot (ensembles). The tables and b are the whole model. ``to_json``
writes them as text; ``from_json`` reads that text and predicts with NumPy alone; ``to_onnx`` makes a graph of
opset 13.

The graph looks values up as the estimators do. A binary search in step, over all features at once, finds the
last knot below each x_d: four nodes a round, as many rounds as log2 of the longest table. ``Gather`` fetches
what stands there, and ``ReduceSum`` adds up the features.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto

FORMAT, VERSION = "kernsemble additive model", 1
OPSET, IR_VERSION = 13, 7  # of 2020: what reads ONNX reads these
_DRAW = 2.0**-30  # of the weights: the draws of `hypotheses._fixed_point.clear_ties`
_LABELS = (str, int, float, bool)


@dataclass(frozen=True)
class AdditiveTables:
    """An additive model as its tables; it predicts with NumPy alone.

    Attributes
    ----------
    model : str
        Name of the estimator.
    form : {"linear", "steps"}
        How values follow from the tables.
    names : list of str
        Names of the features.
    knots : list of ndarray of shape (n_knots,)
        Ascending knots, an array a feature.
    values : list of ndarray of shape (n_knots, n_machines), or (n_knots + 1, n_machines) for steps
        Values at the knots; of steps, below the first knot, from there to the second, and so on. A step still
        has its lower value at its knot.
    intercept : ndarray of shape (n_machines,)
        Added to the sum of the functions.
    scores : {"values", "one", "classes", "pairs"}
        What the machines' decisions are: predicted values; one score, positive for the second class; a score
        for each class; or a decision for each pair of classes, positive for the second.
    classes : list
        Labels; empty for a regression.
    draw : float, default=0.0
        Size up to which one score counts as 0: votes that end in a draw but for rounding.
    missing : ndarray of shape (n_features, n_machines), default=None
        Values of the functions where a feature is missing (NaN); None: such rows are refused.

    Examples
    --------
    >>> from kernsemble import AdaBoost
    >>> from kernsemble.export import additive_tables
    >>> tables = additive_tables(AdaBoost(1).fit([[0.0], [1.0]], ["no", "yes"]))
    >>> tables.knots, tables.predict([[0.4], [0.6]])
    ([array([0.5])], array(['no', 'yes'], dtype='<U3'))
    """

    model: str
    form: str
    names: list[str]
    knots: list[np.ndarray]
    values: list[np.ndarray]
    intercept: np.ndarray
    scores: str
    classes: list
    draw: float = 0.0
    missing: np.ndarray | None = None

    def decisions(self, X: Any) -> np.ndarray:
        """Sums of the functions and the intercept at rows X (n, n_features): (n, n_machines)."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.names):
            raise ValueError(f"X has shape {X.shape}; expected (n_samples, {len(self.names)}).")
        if np.isinf(X).any() or (self.missing is None and np.isnan(X).any()):
            raise ValueError("X has values that are missing or not finite: fill them in first.")
        at = _at_linear if self.form == "linear" else _at_steps
        total = np.zeros((len(X), len(self.intercept)))
        for j, (x, knots, values) in enumerate(zip(X.T, self.knots, self.values, strict=True)):
            found = at(x, knots, values)
            if self.missing is not None:
                found = np.where(np.isnan(x)[:, None], self.missing[j], found)
            total += found
        return total + self.intercept

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores: (n,), positive for ``classes[1]``, if two-class; otherwise (n, n_classes)."""
        if self.scores == "values":
            raise AttributeError(f"this {self.model} predicts values: call predict.")
        decisions = self.decisions(X)
        if self.scores == "one":
            return np.where(np.abs(decisions[:, 0]) <= self.draw, 0.0, decisions[:, 0])
        if self.scores == "classes":
            return decisions
        signs, against = _pairs(len(self.classes))
        sums = decisions @ signs
        return (decisions > 0) @ signs + against + sums / (3.0 * (np.abs(sums) + 1.0))

    def predict(self, X: Any) -> np.ndarray:
        """Return values (n,), or labels: of a tie, the first class."""
        if self.scores == "values":
            return self.decisions(X)[:, 0]
        scores = self.decision_function(X)
        return _labels(self.classes)[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(1)]


def to_json(model: Any, *, tolerance: float = 0.0) -> str:
    """Return an additive model as JSON text.

    Parameters
    ----------
    model : object
        Fitted: `DistanceKernelSVC`, `DistanceKernelSVCCV` or `DistanceKernelSVR` with ``kernel="stump"``, any
        ensemble with ``base="stump"`` (`AdaBoost`, its multi-class forms, `CGEns`, `CGEnsSLS`, `LPBoost`,
        `MultiBoost`, `StreamedCGEns`), or a pipeline of a ``StandardScaler`` and one of these, whose tables
        are then in the units of the data. Labels are text, numbers or booleans.
    tolerance : float, default=0.0
        Leave knots of linear functions out as long as no decision of a machine changes by more than this.

    Returns
    -------
    str
        Numbers have as many digits as it takes to read the same ones back.

    Examples
    --------
    >>> from kernsemble import DistanceKernelSVR
    >>> from kernsemble.export import to_json
    >>> text = to_json(DistanceKernelSVR(C=9.0, epsilon=0.0).fit([[0.0], [1.0]], [1.0, 2.0]))
    >>> text[:49]
    '{"format":"kernsemble additive model","version":1'
    """
    tables = additive_tables(model, tolerance=tolerance)
    columns = zip(tables.names, tables.knots, tables.values, strict=True)
    document = {
        "format": FORMAT,
        "version": VERSION,
        **{name: getattr(tables, name) for name in ("model", "form", "scores", "classes", "draw")},
        "intercept": tables.intercept.tolist(),
        "features": [{"name": n, "knots": k.tolist(), "values": v.T.tolist()} for n, k, v in columns],
    }
    if tables.missing is not None:
        document["missing"] = tables.missing.tolist()
    return json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> AdditiveTables:
    """Read what `to_json` wrote; the result predicts with NumPy alone.

    Examples
    --------
    >>> from kernsemble import AdaBoost
    >>> from kernsemble.export import from_json, to_json
    >>> X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], [1, 2, 2]
    >>> from_json(to_json(AdaBoost(5).fit(X, y))).predict(X)
    array([1, 2, 2])
    """
    document = json.loads(text)
    found = (document.get("format"), document.get("version")) if isinstance(document, dict) else None
    if found != (FORMAT, VERSION):
        raise ValueError(f"expected {FORMAT!r} of version {VERSION}, as to_json writes it; got {found}.")
    features, intercept = document["features"], np.array(document["intercept"], dtype=np.float64)
    knots = [np.array(feature["knots"], dtype=np.float64) for feature in features]
    values = [np.array(feature["values"], dtype=np.float64).T for feature in features]
    more = 0 if document["form"] == "linear" else 1
    for feature, t, v in zip(features, knots, values, strict=True):
        if v.shape != (len(t) + more, len(intercept)) or len(v) == 0 or (np.diff(t) < 0).any():
            raise ValueError(f"feature {feature['name']!r}: its knots and values are no table.")
    return AdditiveTables(
        **{name: document[name] for name in ("model", "form", "scores", "classes", "draw")},
        **{"names": [feature["name"] for feature in features], "knots": knots, "values": values},
        intercept=intercept,
        missing=np.array(document["missing"], dtype=np.float64) if "missing" in document else None,
    )


def to_onnx(model: Any, *, dtype: Any = np.float32, tolerance: float = 0.0) -> ModelProto:
    """Return an additive model as an ONNX graph, of opset 13 and a few nodes.

    Its input ``X`` has the type ``dtype``, (n, n_features). It has one output of a regression, ``values``
    (n,), and two of a classifier: ``scores``, (n,) or (n, n_classes), as ``decision_function`` returns them,
    and ``labels`` (n,). In single precision, scores have its rounding, and thresholds of stumps are rounded
    such that no value of X in single precision changes its side; in double precision both are equal to the
    last digits.

    Parameters
    ----------
    model : object
        As `to_json` takes it, or what `from_json` returned.
    dtype : {float32, float64}, default=float32
        Type of the input and of the arithmetic.
    tolerance : float, default=0.0
        As in `to_json`.

    Returns
    -------
    onnx.ModelProto
        To be saved by ``onnx.save(model, path)``.

    Examples
    --------
    >>> from kernsemble import AdaBoost
    >>> from kernsemble.export import to_onnx
    >>> graph = to_onnx(AdaBoost(3).fit([[0.0], [1.0]], ["no", "yes"])).graph
    >>> [output.name for output in graph.output]
    ['scores', 'labels']
    """
    number = np.dtype(dtype)
    if number not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {number}.")
    tables = additive_tables(model, tolerance=tolerance)
    graph = _Graph(number)
    helper = graph.helper
    outputs = _answers(graph, tables, _sums(graph, tables))
    width = len(tables.names)
    made = helper.make_graph(
        graph.nodes,
        tables.model,
        [helper.make_tensor_value_info("X", graph.type, ["n", width])],
        [helper.make_tensor_value_info(*output) for output in outputs],
        graph.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(made, opset_imports=[opset], ir_version=IR_VERSION, producer_name="kernsemble")


def additive_tables(model: Any, *, tolerance: float = 0.0) -> AdditiveTables:
    """Return the tables of a fitted additive model, as `to_json` takes it; what is none is refused."""
    if isinstance(model, AdditiveTables):
        return model
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if isinstance(model, Pipeline):
        found = additive_tables(model[-1], tolerance=tolerance)
        for _, step in reversed(model.steps[:-1]):
            found = _before_scaling(found, step)
    elif getattr(model, "shape_functions_", None) is not None:
        found = _of_kernel_machine(model, tolerance)
    elif hasattr(getattr(model, "hypotheses_", None), "thresholds"):
        found = _of_stumps(model)
    else:
        raise TypeError(
            f"{_named(model)} is no sum of functions of one feature each: fit it with base='stump', or "
            "kernel='stump' without n_directions; pickle keeps any model."
        )
    names = getattr(model, "feature_names_in_", found.names)
    return replace(found, names=[str(name) for name in names])


def _named(model: Any) -> str:
    """Name an estimator, and what makes it additive or not."""
    said = [
        f"{name}={getattr(model, name)!r}"
        for name in ("kernel", "n_directions", "base")
        if hasattr(model, name)
    ]
    return f"{type(model).__name__}({', '.join(said)})"


def _of_kernel_machine(model: Any, tolerance: float) -> AdditiveTables:
    """Tables of a machine with the stump kernel, whichever way it was solved."""
    from kernsemble.hypotheses.shapes import Shapes

    functions, classes = model.shape_functions_, _check_labels(model)
    if tolerance > 0.0:
        first = np.cumsum([0, *(len(f.knots) for f in functions)])
        knots, values = (np.concatenate(parts) for parts in zip(*functions, strict=True))
        functions = Shapes(knots, first, values).thin(tolerance / len(functions)).functions
    several = {"ovo": "pairs", "ovr": "classes"}
    return AdditiveTables(
        model=type(model).__name__,
        form="linear",
        names=[f"x{j}" for j in range(len(functions))],
        knots=[f.knots for f in functions],
        values=[f.values for f in functions],
        intercept=np.atleast_1d(model.intercept_),
        scores="values" if not classes else "one" if len(classes) == 2 else several[model.multi_class],
        classes=classes,
    )


def _of_stumps(model: Any) -> AdditiveTables:
    """Tables of an ensemble of stumps: its steps, one for all stumps of a threshold."""
    from kernsemble.estimators._column_generation import ColumnGenerationClassifier
    from kernsemble.hypotheses._stump_votes import step_tables

    stumps, intercept = model.hypotheses_, np.atleast_1d(model.intercept_)
    one = model.weights_.ndim == 1
    weights = (model.weights_[:, None] if one else model.weights_) * stumps.signs[:, None]
    if not weights.any() and not intercept.any():
        raise ValueError(
            f"{type(model).__name__} has no weights: it predicts its larger class, whatever X is."
        )
    live = weights.any(axis=1)
    used, first, all_knots, steps = step_tables(stumps.features[live], stumps.thresholds[live], weights[live])
    knots = [np.empty(0)] * model.n_features_in_
    values = [np.zeros((1, weights.shape[1]))] * model.n_features_in_
    missing = np.zeros((model.n_features_in_, weights.shape[1]))
    missing[np.unique(stumps.features)] = stumps.missing_votes(weights)
    for g, feature in enumerate(used):
        own, levels = all_knots[first[g] : first[g + 1]], steps[first[g] + g : first[g + 1] + g + 1]
        last = np.append(own[1:] != own[:-1], True)  # of equal thresholds
        last &= own < np.finfo(np.float64).max  # above which missing values are alone
        below = np.count_nonzero(own == -np.inf)  # constant stumps
        knots[feature] = own[last][own[last] > -np.inf]
        values[feature] = np.concatenate([levels[below : below + 1], levels[1:][last & (own > -np.inf)]])
    tied = one and isinstance(model, ColumnGenerationClassifier)
    return AdditiveTables(
        model=type(model).__name__,
        form="steps",
        names=[f"x{j}" for j in range(model.n_features_in_)],
        knots=knots,
        values=values,
        intercept=np.broadcast_to(intercept, weights.shape[1]).astype(np.float64),
        scores="one" if one else "classes",
        classes=_check_labels(model),
        draw=_DRAW * float(np.abs(model.weights_).sum() + np.abs(intercept).sum()) if tied else 0.0,
        missing=missing if model.__sklearn_tags__().input_tags.allow_nan else None,
    )


def _check_labels(model: Any) -> list:
    """Labels as JSON has them, none for a regression; other labels are refused."""
    classes = getattr(model, "classes_", np.empty(0)).tolist()
    other = {type(name).__name__ for name in classes if not isinstance(name, _LABELS)}
    if other:
        raise TypeError(
            f"labels of type {', '.join(sorted(other))} have no place in JSON and ONNX: fit with labels that "
            "are text, numbers or booleans."
        )
    return classes


def _labels(classes: list) -> np.ndarray:
    """Labels as an array; of several types, as objects."""
    return np.array(classes, dtype=None if len(set(map(type, classes))) == 1 else object)


def _before_scaling(tables: AdditiveTables, step: Any) -> AdditiveTables:
    """The tables over what a scaler takes, from those over what it returns."""
    from sklearn.preprocessing import StandardScaler

    if not isinstance(step, StandardScaler):
        raise TypeError(
            f"{type(step).__name__} before {tables.model}: of a pipeline's steps only StandardScaler becomes "
            "part of the tables; export the last step, and do the others before it."
        )
    scale = np.ones(len(tables.names)) if step.scale_ is None else step.scale_
    mean = step.mean_ if step.with_mean else np.zeros(len(tables.names))
    return replace(tables, knots=[m + s * t for m, s, t in zip(mean, scale, tables.knots, strict=True)])


def _at_linear(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (n, n_machines) of a function that is linear between its knots."""
    if len(knots) == 1:
        return values
    x = np.clip(x, knots[0], knots[-1])
    left = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    share = ((x - knots[left]) / _width(knots)[left])[:, None]
    return (1.0 - share) * values[left] + share * values[left + 1]


def _at_steps(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (n, n_machines) of a function with a step behind each knot."""
    return values[np.searchsorted(knots, x)]


def _width(knots: np.ndarray) -> np.ndarray:
    """Distances of neighbors, above 0 even where rounding made them one."""
    return np.maximum(np.diff(knots), np.finfo(knots.dtype).tiny)


def _pairs(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Signs (n_pairs, n_classes) of the classes in each pair, and how many pairs a class is the first of."""
    pairs = list(combinations(range(n_classes), 2))
    signs = np.zeros((len(pairs), n_classes))
    for k, (first, second) in enumerate(pairs):
        signs[k, first], signs[k, second] = -1.0, 1.0
    return signs, np.arange(n_classes)[::-1].astype(np.float64)


def _import_onnx() -> tuple[Any, Any]:
    """Import what makes graphs and constants, when it is asked for."""
    try:
        from onnx import helper, numpy_helper
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install 'kernsemble[onnx]'.") from error
    return helper, numpy_helper


class _Graph:
    """Nodes and constants, in the order in which they are added."""

    def __init__(self, number: np.dtype):
        self.helper, self._arrays = _import_onnx()
        self.number, self.type = number, self.type_of(number)
        self.nodes: list = []
        self.constants: list = []

    def type_of(self, dtype: Any) -> int:
        """Return ONNX's number for a NumPy type; object is text."""
        return self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def add(self, operator: str, *inputs: Any, name: str | None = None, **attributes: Any) -> str:
        """Add a node; inputs are names of values, or numbers. Return the name of its value."""
        name = name or f"{operator}_{len(self.nodes)}"
        inputs = [value if isinstance(value, str) else self.constant(self._cast(value)) for value in inputs]
        self.nodes.append(self.helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, values: np.ndarray) -> str:
        """Add a constant as it is."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self._arrays.from_array(values, name))
        return name

    def _cast(self, values: Any) -> np.ndarray:
        """Return real numbers in the graph's precision, whole numbers as they are."""
        values = np.asarray(values)
        return _in_precision(values, self.number) if values.dtype.kind == "f" else values


def _in_precision(values: np.ndarray, number: np.dtype) -> np.ndarray:
    """Return real numbers in a precision, which must hold them."""
    with np.errstate(over="ignore"):
        values = values.astype(number)
    if not np.isfinite(values).all():
        raise ValueError(f"the tables have values beyond {number}: pass dtype=np.float64.")
    return values


def _sums(graph: _Graph, tables: AdditiveTables) -> str:
    """Add the nodes of the machines' decisions (n, n_machines)."""
    linear = tables.form == "linear"
    knots = [_rounded(t, tables.form, graph.number) for t in tables.knots]
    if not linear:  # what holds below the first step begins at a knot that no search looks at
        knots = [np.append(graph.number.type(0.0), t) for t in knots]
    every = graph.constant(np.concatenate(knots))
    place = _search(graph, every, [len(t) for t in knots], "LessOrEqual" if linear else "Less")
    found = graph.add("Gather", np.concatenate(tables.values), place)
    if linear:
        width = np.concatenate([np.append(_width(t), graph.number.type(1.0)) for t in knots])
        rise = np.concatenate([np.diff(v, axis=0, append=v[-1:]) for v in tables.values])
        share = graph.add("Sub", "X", graph.add("Gather", every, place))
        share = graph.add("Clip", graph.add("Div", share, graph.add("Gather", width, place)), 0.0, 1.0)
        share = graph.add("Unsqueeze", share, [2])
        found = graph.add("Add", found, graph.add("Mul", share, graph.add("Gather", rise, place)))
    if tables.missing is not None:
        found = graph.add(
            "Where", graph.add("Unsqueeze", graph.add("IsNaN", "X"), [2]), tables.missing, found
        )
    return graph.add("Add", graph.add("ReduceSum", found, [1], keepdims=0), tables.intercept)


def _search(graph: _Graph, knots: str, lengths: list[int], below: str) -> str:
    """Add the nodes that find the last knot below each entry of X, or its feature's first: a place."""
    length = np.array(lengths)
    place = np.cumsum(length) - length
    for _ in range(max(1, int(length.max() - 1).bit_length())):  # it is among `length` knots from `place` on
        half = length // 2
        probe = graph.add("Add", place, half)
        place = graph.add("Where", graph.add(below, graph.add("Gather", knots, probe), "X"), probe, place)
        length = length - half
    return place


def _rounded(knots: np.ndarray, form: str, number: np.dtype) -> np.ndarray:
    """Knots in a precision; of steps the next one below, so that no value of that precision changes sides."""
    rounded = _in_precision(knots, number)
    if form == "linear":
        return rounded
    return np.where(rounded > knots, np.nextafter(rounded, number.type(-np.inf)), rounded)


def _answers(graph: _Graph, tables: AdditiveTables, sums: str) -> list[tuple[str, int, list]]:
    """Add the nodes from decisions to outputs; return these, with types and shapes."""
    if tables.scores == "values":
        return [(graph.add("Squeeze", sums, [1], name="values"), graph.type, ["n"])]
    labels = _labels(tables.classes)
    if labels.dtype == object:
        raise TypeError(f"labels {tables.classes} have no type in ONNX: fit with labels of one type.")
    if labels.dtype.kind == "U":
        labels = labels.astype(object)
    if tables.scores == "one":
        scores, shape = _one_score(graph, tables.draw, sums), ["n"]
        place = graph.add("Cast", graph.add("Greater", scores, 0.0), to=graph.type_of(np.int64))
    else:
        scores, shape = sums, ["n", len(labels)]
        if tables.scores == "pairs":
            scores = _pair_scores(graph, len(labels), sums)
        place = graph.add("ArgMax", scores, axis=1, keepdims=0)
    scores = graph.add("Identity", scores, name="scores")
    answer = graph.add("Gather", graph.constant(labels), place, name="labels")
    return [(scores, graph.type, shape), (answer, graph.type_of(labels.dtype), ["n"])]


def _one_score(graph: _Graph, draw: float, sums: str) -> str:
    """Add the nodes of the only score (n,); draws become 0."""
    score = graph.add("Squeeze", sums, [1])
    if draw == 0.0:
        return score
    drawn = graph.add("LessOrEqual", graph.add("Abs", score), draw)
    return graph.add("Where", drawn, 0.0, score)


def _pair_scores(graph: _Graph, n_classes: int, decisions: str) -> str:
    """Add the nodes of scores (n, n_classes) from decisions of pairs: how many a class wins, then sums."""
    signs, against = _pairs(n_classes)
    won = graph.add("Cast", graph.add("Greater", decisions, 0.0), to=graph.type)
    votes = graph.add("Add", graph.add("MatMul", won, signs), against)
    sums = graph.add("MatMul", decisions, signs)
    scale = graph.add("Mul", graph.add("Add", graph.add("Abs", sums), 1.0), 3.0)
    return graph.add("Add", votes, graph.add("Div", sums, scale))
