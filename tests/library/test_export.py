"""Exported models predict the same: from JSON by NumPy alone, from ONNX by its reference evaluator."""

import json
import subprocess
import sys
from datetime import date

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import kernsemble as k
from kernsemble.estimators.shape_display import ShapeDisplay, _at, shape_functions
from kernsemble.export import AdditiveTables, additive_tables, from_json, to_json, to_onnx
from kernsemble.growth import StreamedStumpOracle

FEW = {"n_rounds": 25, "tol": None}
TWO = [
    k.DistanceKernelSVC(solver="kernel"),
    k.DistanceKernelSVC(solver="spline"),
    k.DistanceKernelSVCCV(Cs=[0.01, 0.1, 1.0], cv=2, random_state=0),
    k.AdaBoost(25),
    k.AdaBoost(25, base=StreamedStumpOracle),
    k.CGEns(**FEW),
    k.CGEnsSLS(**FEW),
    k.LPBoost(C=0.05, **FEW),
    k.MultiBoost(**FEW),
    k.StreamedCGEns(**FEW),
]
SEVERAL = [
    k.DistanceKernelSVC(solver="kernel"),
    k.DistanceKernelSVC(solver="spline"),
    k.DistanceKernelSVC(multi_class="ovr"),
    k.AdaBoostMH(25),
    k.AdaBoostECC(25, random_state=0),
    k.AdaBoostMO(25),
    k.CGEns(**FEW),
    k.CGEnsSLS(**FEW),
    k.MultiBoost(**FEW),
    k.MultiBoost(per_class=False, **FEW),
]
REGRESSIONS = [k.DistanceKernelSVR(), k.DistanceKernelSVR(loss="squared_error", C=3.0)]


def two_classes(rng, n=150):
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n) > 0.8, "yes", "no")


@pytest.fixture
def once():
    """One seed, for what goes over many models."""
    return np.random.default_rng(0)


def run(proto, X):
    """What the reference evaluator says of rows, in the type of the graph's input."""
    onnx.checker.check_model(proto, full_check=True)
    evaluator = ReferenceEvaluator(proto)
    kind = onnx.helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type)
    return dict(zip(evaluator.output_names, evaluator.run(None, {"X": np.asarray(X, kind)}), strict=True))


def assert_same(model, X, atol=1e-9):
    """Tables and graph in double precision decide as the model, but where it is undecided."""
    tables, scores = from_json(to_json(model)), model.decision_function(X)
    answers = run(to_onnx(model, dtype=np.float64), X)
    ordered = np.sort(np.column_stack([np.zeros(len(X)), scores]) if scores.ndim == 1 else scores, axis=1)
    sure = ordered[:, -1] - ordered[:, -2] > 1e-7
    assert sure.mean() > 0.8
    np.testing.assert_allclose(tables.decision_function(X), scores, atol=atol)
    np.testing.assert_allclose(answers["scores"], scores, atol=atol)
    for labels in (tables.predict(X), answers["labels"]):
        np.testing.assert_array_equal(labels[sure], model.predict(X)[sure])


@pytest.mark.parametrize("model", TWO, ids=str)
def test_two_classes(once, model):
    X, y = two_classes(once)
    model.fit(X, y)
    assert_same(model, np.vstack([X, 3.0 * once.normal(size=(50, 4))]))


@pytest.mark.parametrize("model", SEVERAL, ids=str)
def test_several_classes(once, model):
    X, y = load_iris(return_X_y=True)
    X = X + 0.05 * once.normal(size=X.shape)
    assert_same(model.fit(X, y), np.vstack([X, 2.0 * once.normal(size=(50, 4)) + X[:50]]))


@pytest.mark.parametrize("model", REGRESSIONS, ids=str)
def test_regression(once, model):
    X = once.normal(size=(150, 3))
    model.fit(X, np.sin(X[:, 0]) + X[:, 1])
    new = np.vstack([X, 3.0 * once.normal(size=(50, 3))])
    tables, answers = from_json(to_json(model)), run(to_onnx(model, dtype=np.float64), new)
    np.testing.assert_allclose(tables.predict(new), model.predict(new), atol=1e-12)
    np.testing.assert_allclose(answers["values"], model.predict(new), atol=1e-12)
    with pytest.raises(AttributeError, match="predicts values"):
        tables.decision_function(new)


@pytest.mark.parametrize(
    "model", [k.AdaBoost(40), k.CGEns(**FEW), k.DistanceKernelSVC(solver="spline", max_knots=20)], ids=str
)
def test_single_precision(rng, model):
    """Thresholds keep each value of single precision on its side; linear functions are rounded."""
    X, y = two_classes(rng)
    model.fit(X, y)
    steps = not hasattr(model, "solver_")
    knots = np.concatenate(additive_tables(model).knots).astype(np.float32)
    near = np.concatenate([np.nextafter(knots, np.float32(way)) for way in (-np.inf, 0.0, np.inf)] + [knots])
    new = rng.choice(near, size=(400, 4)).astype(np.float32)
    answers, scores = run(to_onnx(model), new), model.decision_function(new.astype(np.float64))
    assert answers["scores"].dtype == np.float32
    np.testing.assert_allclose(answers["scores"], scores, atol=1e-5 * np.abs(scores).max() if steps else 1e-4)


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.int32])
def test_types_of_data(once, kind):
    X, y = two_classes(once)
    X = np.round(20.0 * X + 128.0).astype(kind)
    for model in (k.DistanceKernelSVC(solver="spline", C=0.01), k.AdaBoost(25)):
        assert_same(model.fit(X, y), X)


@pytest.mark.parametrize("names", [["no", 'ja, ü "q"'], [7, -3], [True, False], [1.0, 3.0]], ids=str)
def test_labels_keep_their_type(once, names):
    X, y = two_classes(once)
    model = k.AdaBoost(5).fit(X, np.where(y == "yes", *names))
    for labels in (from_json(to_json(model)).predict(X), run(to_onnx(model), X)["labels"]):
        np.testing.assert_array_equal(labels, model.predict(X))
    assert from_json(to_json(model)).predict(X).dtype.kind == model.classes_.dtype.kind


def test_other_labels_are_refused(once):
    X, y = two_classes(once)
    model = k.AdaBoost(5).fit(
        X, np.where(y == "yes", date(2026, 1, 1), date(2026, 1, 2)).astype("datetime64[D]")
    )
    with pytest.raises(TypeError, match="labels of type date"):
        to_json(model)
    tables = additive_tables(k.AdaBoost(5).fit(X, y))
    with pytest.raises(TypeError, match="have no type in ONNX"):
        to_onnx(AdditiveTables(**{**vars(tables), "classes": [1, "two"]}))


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (k.DistanceKernelSVC("gaussian"), r"DistanceKernelSVC\(kernel='gaussian'"),
        (k.DistanceKernelSVC("perceptron", n_directions=4), "n_directions=4"),
        (k.CGEns(base="fourier", **FEW), r"CGEns\(base='fourier'\)"),
        (k.CGBoostClassifier(n_rounds=3, tol=None), "CGBoostClassifier"),
        (k.ExRM(n_components=2), r"ExRM\(\)"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_additive_is_refused_by_name(once, model, named):
    X, y = two_classes(once)
    with pytest.raises(NotFittedError):
        to_json(model)
    model.fit(X, y)
    for export in (to_json, to_onnx):
        with pytest.raises(TypeError, match=f"{named}.* no sum of functions of one feature.*base='stump'"):
            export(model)


def test_a_model_without_weights_is_refused(once):
    X, y = two_classes(once)
    model = k.LPBoost(C=1e-6, tol=None).fit(X, y)
    with pytest.raises(ValueError, match="LPBoost has no weights"):
        to_json(model)


def test_a_scaler_becomes_part_of_the_tables(once):
    X, y = two_classes(once)
    frame = pd.DataFrame(50.0 * X + [1.0, 10.0, 100.0, 1000.0], columns=["length", "width", "height", "age"])
    for scaler in (StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)):
        model = make_pipeline(scaler, k.DistanceKernelSVC(C=0.1)).fit(frame, y)
        assert_same(model, frame)
        assert from_json(to_json(model)).names == list(frame)
    refused = make_pipeline(MinMaxScaler(), k.DistanceKernelSVC()).fit(X, y)
    with pytest.raises(TypeError, match="MinMaxScaler before DistanceKernelSVC"):
        to_json(refused)


@pytest.mark.parametrize("tolerance", [1e-3, 0.1])
def test_thinner_tables_stay_within_the_tolerance(rng, tolerance):
    X, y = two_classes(rng, n=400)
    model = k.DistanceKernelSVC(solver="kernel", C=3.0).fit(X, y)
    whole, thin = to_json(model), to_json(model, tolerance=tolerance)
    assert len(thin) < (0.7 if tolerance == 0.1 else 1.0) * len(whole)
    apart = np.abs(from_json(thin).decisions(X) - from_json(whole).decisions(X)).max()
    assert 0.0 < apart <= tolerance


def test_json_repeats_and_holds_no_duplicates(rng):
    X, y = two_classes(rng)
    model = k.AdaBoost(200).fit(X[:, :1], y)  # stumps come again and again
    text = to_json(model)
    tables = from_json(text)
    assert to_json(tables) == text
    assert (np.diff(tables.knots[0]) > 0).all()
    assert len(tables.knots[0]) < 150
    assert json.loads(text)["features"][0]["name"] == "x0"


def test_draws_score_zero(rng):
    """Votes that are a draw but for rounding go to the first class."""
    X, y = two_classes(rng)
    assert additive_tables(k.LPBoost(C=0.05, **FEW).fit(X, y)).draw > 0.0
    tables = AdditiveTables(
        "LPBoost",
        "steps",
        ["x0"],
        [np.zeros(1)],
        [np.array([[1e-17], [1.0]])],
        np.zeros(1),
        "one",
        ["a", "b"],
        1e-9,
    )
    X = np.array([[-1.0], [0.0], [1.0]])
    answers = run(to_onnx(tables, dtype=np.float64), X)
    for scores in (tables.decision_function(X), answers["scores"]):
        np.testing.assert_array_equal(scores, [0.0, 0.0, 1.0])
    for labels in (tables.predict(X), answers["labels"]):
        assert list(labels) == ["a", "a", "b"]


def test_constant_features_add_nothing(rng):
    X, y = two_classes(rng)
    X[:, 1] = 5.0
    for model in (k.DistanceKernelSVC(C=0.1), k.AdaBoost(10)):
        assert_same(model.fit(X, y), X)
    flat = k.DistanceKernelSVR().fit(np.ones((5, 2)), np.arange(5.0))
    np.testing.assert_allclose(run(to_onnx(flat), np.zeros((3, 2)))["values"], flat.predict(np.zeros((3, 2))))


def test_graphs_are_searches_of_an_old_opset():
    X, y = load_iris(return_X_y=True)
    graph = to_onnx(k.DistanceKernelSVR().fit(X, y))
    assert [(entry.domain, entry.version) for entry in graph.opset_import] == [("", 13)]
    longest = max(map(len, additive_tables(k.DistanceKernelSVR().fit(X, y)).knots))
    operators = [node.op_type for node in graph.graph.node]
    assert operators.count("Where") == int(np.ceil(np.log2(longest)))
    assert len(operators) == 4 * operators.count("Where") + 13


def test_values_beyond_single_precision_are_refused(once):
    X, y = two_classes(once)
    model = k.AdaBoost(5).fit(1e100 * X, y)
    with pytest.raises(ValueError, match=r"beyond float32: pass dtype=np\.float64"):
        to_onnx(model)
    assert_same(model, 1e100 * X)
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got float16"):
        to_onnx(model, dtype=np.float16)


@pytest.mark.parametrize(
    "change", [{"format": "x"}, {"version": 2}, {"features": [{}]}, {"intercept": [0.0, 1.0]}]
)
def test_other_json_is_refused(once, change):
    document = json.loads(to_json(k.AdaBoost(5).fit(*two_classes(once))))
    with pytest.raises((ValueError, KeyError)):
        from_json(json.dumps({**document, **change}))


def test_rows_are_checked(once):
    tables = additive_tables(k.AdaBoost(5).fit(*two_classes(once)))
    with pytest.raises(ValueError, match=r"X has shape \(3, 2\); expected \(n_samples, 4\)"):
        tables.predict(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="missing or not finite"):
        tables.predict([[0.0, np.inf, 0.0, 0.0]])
    machine = additive_tables(k.DistanceKernelSVC().fit(*two_classes(once)))
    with pytest.raises(ValueError, match="missing or not finite"):
        machine.predict([[0.0, np.nan, 0.0, 0.0]])


@pytest.mark.parametrize("model", [m for m in (*TWO, *SEVERAL) if getattr(m, "base", "") == "stump"], ids=str)
def test_missing_values(once, model):
    X, y = load_iris(return_X_y=True)
    y = y if model in SEVERAL else y > 0
    X = np.where(once.random(X.shape) < [0.0, 0.2, 0.4, 0.9], np.nan, X + 0.05 * once.normal(size=X.shape))
    X[:40, 1] = np.nan
    new = np.where(once.random(X.shape) < 0.3, np.nan, X[::-1] + 0.2)  # of the first feature, too
    model.fit(X, y)
    assert_same(model, np.vstack([X, new]))
    assert_same(make_pipeline(StandardScaler(), model).fit(X, y), np.vstack([X, new]))
    single = np.vstack([X, new]).astype(np.float32)
    scores = run(to_onnx(model), single)["scores"]
    np.testing.assert_allclose(scores, model.decision_function(single), rtol=1e-4, atol=1e-4)
    present = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    functions = shape_functions(model)
    total = sum(_at(f, x) for f, x in zip(functions, present.T, strict=True))
    assert np.ptp(total[:, 0] - np.reshape(model.decision_function(present), (len(X), -1))[:, 0]) < 1e-9
    ShapeDisplay.from_estimator(model, X)


def run_without(modules, code, *arguments):
    blocked = f"import sys\nfor name in {modules}: sys.modules[name] = None\n"
    command = [sys.executable, "-c", blocked + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_json_is_read_with_numpy_alone(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = k.DistanceKernelSVC().fit(X, y)
    (tmp_path / "model.json").write_text(to_json(model))
    np.save(tmp_path / "X.npy", X)
    code = """
import numpy as np
from kernsemble.export import from_json
print(*from_json(open(sys.argv[1] + "/model.json").read()).predict(np.load(sys.argv[1] + "/X.npy")))
"""
    done = run_without(("scipy", "sklearn", "numba", "onnx", "highspy"), code, str(tmp_path))
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.array(done.stdout.split(), dtype=int), model.predict(X))


def test_the_missing_extra_is_named():
    code = """
from kernsemble import AdaBoost
from kernsemble.export import to_onnx
to_onnx(AdaBoost(1).fit([[0.0], [1.0]], [0, 1]))
"""
    done = run_without(("onnx",), code)
    assert done.returncode == 1
    assert "pip install 'kernsemble[onnx]'" in done.stderr.splitlines()[-1]
