"""Distance-kernel machines as splines: the same machines as on a kernel matrix, in tables."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.svm import SVC, LinearSVC

from kernsemble import DistanceKernelSVC, DistanceKernelSVCCV, load
from kernsemble.data.generators import flip_labels, ringnorm, threenorm, twonorm
from kernsemble.estimators import distance_svc
from kernsemble.hypotheses.directions import (
    Directions,
    find_direction,
    price,
    price_and_gradient,
    scale_of_mean,
)
from kernsemble.hypotheses.knots import Knots
from kernsemble.hypotheses.shapes import Shapes
from kernsemble.kernels import stump_kernel


def noisy(rng, n=200, d=4):
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.where(np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.3, "yes", "no")


def gap_by_matrix(X, signs, C, model):
    """Primal objective of a two-class model of this class with the exact kernel of its support vectors."""
    f, beta = model.decision_function(X), model.dual_coef_[0]
    S = model.support_vectors_
    return 0.5 * beta @ stump_kernel(S) @ beta + C * np.maximum(0.0, 1.0 - signs * f).sum()


GENERATED = {"twonorm": twonorm, "threenorm": threenorm, "ringnorm": ringnorm}
LINLI2005 = (
    *(name + noise for name in GENERATED for noise in ("", "-n")),
    *("australian", "breast", "german24", "heart", "ionosphere", "pima", "sonar", "votes84"),
)


def rows_of(name):
    """At most 2000 rows of a stored set, or 300 of a generated one, a tenth of whose labels may be wrong."""
    clean = name.removesuffix("-n")
    if clean not in GENERATED:
        data = load(name)
        return np.nan_to_num(np.asarray(data.X, dtype=float))[:2000], np.asarray(data.y)[:2000]
    made = GENERATED[clean](300, 20, random_state=0)
    y = np.where(made.y == 0, -1.0, 1.0)
    return made.X, y if clean == name else flip_labels(y, 0.1, random_state=0)


@pytest.mark.parametrize("name", [*LINLI2005, "banana", "spam", "splice", "wdbc"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_both_solvers_find_the_same_machine_on_the_committed_sets(name, C):
    """Objectives within both gaps; predictions equal, but for decisions that the gaps leave open."""
    X, y = rows_of(name)
    options = {"kernel": "stump", "C": C}
    spline = DistanceKernelSVC(solver="spline", tol=1e-7, **options).fit(X, y)
    kernel = DistanceKernelSVC(solver="kernel", tol=1e-6, **options).fit(X, y)
    assert spline.relative_gap_ <= 1e-7
    np.testing.assert_allclose(
        spline.objective_, kernel.objective_, rtol=0, atol=spline.dual_gap_ + kernel.dual_gap_ + 1e-12
    )
    ours, theirs = spline.decision_function(X), kernel.decision_function(X)
    signs = np.where(y == kernel.classes_[1], 1.0, -1.0)
    assert gap_by_matrix(X, signs, C, kernel) == pytest.approx(kernel.objective_[0], rel=1e-9)
    different = spline.predict(X) != kernel.predict(X)
    assert np.all(np.abs(theirs[different]) < 1e-3)
    assert np.median(np.abs(ours - theirs)) < 1e-3


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes_have_the_machines_of_the_kernel_solver(multi_class):
    X, y = load_iris(return_X_y=True)
    options = {"C": 2.0, "multi_class": multi_class, "tol": 1e-8}
    spline = DistanceKernelSVC(solver="spline", **options).fit(X, y)
    kernel = DistanceKernelSVC(solver="kernel", **options).fit(X, y)
    np.testing.assert_allclose(spline.objective_, kernel.objective_, rtol=1e-7)
    np.testing.assert_array_equal(spline.predict(X), kernel.predict(X))
    assert spline.decision_function(X).shape == (150, 3)
    assert spline.shape_functions_[0].values.shape[1] == 3


def test_weights_count_like_repeated_samples(rng):
    X, y = noisy(rng)
    weight = rng.integers(0, 4, size=len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    options = {"solver": "spline", "C": 0.5, "tol": 1e-9}
    weighted = DistanceKernelSVC(**options).fit(X, y, sample_weight=weight)
    repeated = DistanceKernelSVC(**options).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-8)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)


def test_squared_hinge_is_a_kernel_machine_with_a_ridge(rng):
    """The dual has 1 / (4 C) u^2 more: hard margins with 1 / (2 C) on the diagonal."""
    X, y = noisy(rng)
    ours = DistanceKernelSVC(C=0.5, loss="squared_hinge", tol=1e-10).fit(X, y)
    hard = SVC(kernel="precomputed", C=1e9, tol=1e-9).fit(stump_kernel(X) + np.eye(len(y)) / (2 * 0.5), y)
    beta = np.zeros(len(y))
    beta[hard.support_] = hard.dual_coef_[0]
    np.testing.assert_allclose(ours.decision_function(X), stump_kernel(X) @ beta + hard.intercept_, atol=1e-4)


@pytest.mark.parametrize("solver", ["kernel", "spline"])
def test_shape_functions_and_intercept_are_the_decision(rng, solver):
    X, y = noisy(rng)
    model = DistanceKernelSVC(solver=solver, C=0.3).fit(X, y)
    new = rng.uniform(-2, 2, size=(100, 4))
    f = model.intercept_[0] + sum(
        np.interp(column, shape.knots, shape.values[:, 0])
        for column, shape in zip(new.T, model.shape_functions_, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(new), f, atol=1e-9)
    variation = [np.abs(np.diff(shape.values[:, 0])).sum() for shape in model.shape_functions_]
    np.testing.assert_allclose(model.feature_importances_, variation / np.sum(variation))
    assert model.feature_importances_.argmax() < 2
    assert 0 in SelectFromModel(model, max_features=2).fit(X, y).get_support(indices=True)


def test_shapes_have_mean_zero_over_the_weighted_samples(rng):
    X, y = noisy(rng)
    weight = rng.uniform(size=len(y))
    model = DistanceKernelSVC(solver="spline", tol=1e-9).fit(X, y, weight)
    for column, shape in zip(X.T, model.shape_functions_, strict=True):
        assert abs(weight @ np.interp(column, shape.knots, shape.values[:, 0])) < 1e-4 * weight.sum()


@pytest.mark.parametrize("kernel", ["perceptron", "gaussian"])
def test_other_kernels_have_no_shapes(rng, kernel):
    model = DistanceKernelSVC(kernel).fit(*noisy(rng))
    with pytest.raises(AttributeError, match="additive model with kernel='stump' only"):
        _ = model.shape_functions_
    assert not hasattr(model, "feature_importances_")


def test_tables_are_thin_and_predict_as_the_kernel_does(rng):
    X, y = noisy(rng, n=20_000, d=10)
    model = DistanceKernelSVC(C=0.1).fit(X, y)
    assert model.solver_ == "spline"
    assert model.relative_gap_ <= 1e-3
    assert len(pickle.dumps(model)) < 100_000  # of 1.6 MB of data
    beta = rng.normal(size=(1, 10_000))
    beta -= beta.mean()
    shapes, support = Shapes.of_kernel(X[:10_000], beta), X[:10_000]
    new = X[:2000]
    np.testing.assert_allclose(shapes.decision(new), stump_kernel(new, support) @ beta.T, atol=1e-6)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 0.0])
def test_thinner_tables_stay_within_the_tolerance(rng, tolerance):
    first, knots = (
        np.array([0, 400, 401, 600]),
        np.concatenate([np.sort(rng.normal(size=400)), [0.0], np.arange(199)]),
    )
    tables = np.cumsum(rng.normal(size=(600, 2)), axis=0) * 1e-3
    tables[401:] = np.arange(199)[:, None] * [1.0, -0.5]  # straight: its ends are enough
    shapes = Shapes(knots, first, tables)
    thin = shapes.thin(tolerance)
    assert np.abs(thin.at(knots, first) - tables).max() <= tolerance + 1e-12
    assert thin.first[3] - thin.first[2] == 2
    assert thin.first[1] < (50 if tolerance == 1e-2 else 401)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_selection_counts_as_on_a_kernel_matrix(rng, multi_class):
    X, y = noisy(rng)
    y = np.where(X[:, 2] > 0.6, "maybe", y)
    options = {"Cs": [0.01, 0.3, 4.0], "random_state": 0, "multi_class": multi_class, "tol": 1e-8}
    spline = DistanceKernelSVCCV(solver="spline", **options).fit(X, y)
    kernel = DistanceKernelSVCCV(solver="kernel", **options).fit(X, y)
    np.testing.assert_allclose(spline.cv_scores_, kernel.cv_scores_, atol=1.5 / len(y))
    assert spline.best_C_ == kernel.best_C_
    grid = [
        DistanceKernelSVCCV(solver=s).set_params(cv=2, random_state=0).fit(X, y).Cs_
        for s in ("kernel", "spline")
    ]
    np.testing.assert_array_equal(*grid)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int32])
def test_types_of_data(rng, dtype):
    X, y = noisy(rng)
    X = np.round(100 * X + 100).astype(dtype)
    ours = DistanceKernelSVC(solver="spline", C=0.01, tol=1e-8).fit(X, y)
    same = DistanceKernelSVC(solver="spline", C=0.01, tol=1e-8).fit(X.astype(float), y)
    np.testing.assert_array_equal(ours.decision_function(X), same.decision_function(X.astype(float)))
    kernel = DistanceKernelSVC(solver="kernel", C=0.01, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.objective_, kernel.objective_, rtol=1e-7)


def test_rounded_features_are_certified_for_the_rounded_rows(rng):
    X, y = noisy(rng)
    knots = Knots.of_columns(X, 20)
    rounded = np.column_stack([knots.values[knots.first[j] + c] for j, c in enumerate(knots.encode(X))])
    ours = DistanceKernelSVC(solver="spline", max_knots=20, tol=1e-8).fit(X, y)
    exact = DistanceKernelSVC(solver="kernel", tol=1e-8).fit(rounded, y)
    np.testing.assert_allclose(ours.objective_, exact.objective_, rtol=1e-7)


@pytest.mark.parametrize(
    ("d", "P", "error"), [(1, 1, 1e-12), (2, 16, 1e-2), (2, 64, 1e-3), (3, 64, 0.02), (10, 256, 0.05)]
)
def test_distances_are_means_of_distances_along_directions(rng, d, P, error):
    X = rng.normal(size=(50, d))
    Z = Directions.draw(d, P, 0).project(X)
    exact, sliced = cdist(X, X), cdist(Z, Z, "cityblock")
    far = exact > 0
    assert np.abs(sliced[far] / exact[far] - 1.0).max() < error


def test_the_sliced_perceptron_machine_is_the_stump_machine_on_projections(rng):
    X, y = noisy(rng)
    model = DistanceKernelSVC("perceptron", n_directions=32, random_state=0, tol=1e-8).fit(X, y)
    Z = Directions.draw(4, 32, 0).project(X)
    kernel = DistanceKernelSVC(lambda A, B: -cdist(A, B, "cityblock"), tol=1e-8).fit(Z, y)
    np.testing.assert_allclose(model.objective_, kernel.objective_, rtol=1e-7)
    exact = DistanceKernelSVC("perceptron", tol=1e-8).fit(X, y)
    assert model.objective_[0] == pytest.approx(exact.objective_[0], rel=0.05)
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.95


def test_the_solver_is_chosen_by_the_number_of_samples(rng, monkeypatch):
    X, y = noisy(rng)
    assert DistanceKernelSVC().fit(X, y).solver_ == "kernel"
    assert DistanceKernelSVC(loss="squared_hinge").fit(X, y).solver_ == "spline"
    monkeypatch.setattr(distance_svc, "SPLINE_ROWS", 100)
    model = DistanceKernelSVC().fit(X, y)
    assert model.solver_ == "spline"
    assert not hasattr(model, "support_")
    assert DistanceKernelSVC(solver="kernel").fit(X, y).solver_ == "kernel"
    assert DistanceKernelSVC("perceptron").fit(X, y).solver_ == "kernel"
    again = model.set_params(solver="kernel").fit(X, y)
    assert again.decision_function(X).shape == (len(y),)
    assert again.set_params(solver="spline").fit(X, y).solver_ == "spline"
    assert not hasattr(again, "dual_coef_")


def test_steps_that_run_out_warn_with_the_gap(rng):
    X, y = noisy(rng)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        DistanceKernelSVC(C=100.0, solver="spline", max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning) as caught:
        DistanceKernelSVCCV(Cs=[100.0], cv=2, solver="spline", max_iter=2).fit(X, y)
    assert "2 problems of the cross-validation" in str(caught[0].message)
    assert "duality gap" in str(caught[1].message)


def test_values_too_large_are_refused(rng):
    X, y = noisy(rng)
    with pytest.raises(ValueError, match="scale the features"):
        DistanceKernelSVC(solver="spline").fit(1e200 * X, y)
    for scale in (1e-120, 1e120):
        model = DistanceKernelSVC(solver="spline", C=1.0 / scale).fit(scale * X, y)
        assert model.score(scale * X, y) > 0.7


def test_beside_a_linear_machine_on_curved_data(rng):
    X, X_new = rng.uniform(-1, 1, size=(6000, 4)), rng.uniform(-1, 1, size=(2000, 4))
    y, y_new = (np.abs(A[:, 0]) + A[:, 1] ** 2 > 0.8 for A in (X, X_new))
    assert DistanceKernelSVC(C=0.1).fit(X, y).score(X_new, y_new) > 0.95
    assert LinearSVC().fit(X, y).score(X_new, y_new) < 0.7


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_a_file_is_fitted_as_the_array_is(rng, dtype, tmp_path, monkeypatch):
    X, y = noisy(rng, n=5000)
    X = (100 * X + 100).astype(dtype)
    X.tofile(tmp_path / "rows")
    file = np.memmap(tmp_path / "rows", dtype=dtype, mode="r", shape=X.shape)
    seen = []
    encode = Knots.encode
    monkeypatch.setattr(Knots, "encode", lambda self, rows: seen.append(rows.dtype) or encode(self, rows))
    model = DistanceKernelSVC(C=1e-4).fit(file, y)
    assert seen == [dtype]  # not a copy as float64
    same = DistanceKernelSVC(C=1e-4).fit(X.astype(float), y)
    np.testing.assert_array_equal(model.decision_function(file), same.decision_function(X.astype(float)))


@pytest.mark.parametrize("n_machines", [1, 3])
def test_the_price_of_a_direction_is_half_the_squared_dual_norm_of_all_its_thresholds(rng, n_machines):
    """By the kernel matrix, with ties; its gradient by differences."""
    X, V = np.round(rng.normal(size=(40, 3)), 1), rng.normal(size=(40, n_machines))
    V -= V.mean(axis=0)
    for xi in (np.array([1.0, 0.0, 0.0]), rng.normal(size=3)):
        z = X @ xi
        K = -np.abs(z[:, None] - z)
        brute = 0.5 * np.einsum("ik,ij,jk->", V, K, V)
        assert price(z, V) == pytest.approx(brute, rel=1e-10)
        thresholds = np.linspace(z.min(), z.max(), 20_001)
        dense = sum(np.sum(V[z <= t].sum(axis=0) ** 2) for t in thresholds[:-1]) * np.diff(thresholds)[0]
        assert price(z, V) == pytest.approx(dense, rel=0.01)
    value, gradient = price_and_gradient(X, V, xi)
    assert value == pytest.approx(brute, rel=1e-10)
    steps = 1e-6 * np.eye(3)
    slopes = [(price(X @ (xi + s), V) - price(X @ (xi - s), V)) / 2e-6 for s in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


def test_the_search_finds_a_direction_that_few_random_ones_reach(rng):
    X, V = rng.normal(size=(300, 5)), rng.normal(size=(300, 1))
    V += 0.3 * np.sign(X @ [[1.0], [2.0], [0.0], [-1.0], [1.0]])
    V -= V.mean(axis=0)
    found = find_direction(X, V, np.random.RandomState(0))
    assert np.linalg.norm(found) == pytest.approx(1.0)
    many = rng.normal(size=(5, 2000))
    many /= np.linalg.norm(many, axis=0)
    assert price(X @ found, V) > max(price(z, V) for z in (X @ many).T)


@pytest.mark.parametrize("classes", [2, 3])
def test_each_generated_direction_lowers_the_objective_by_its_price_at_most(rng, classes):
    X, y = noisy(rng)
    y = np.where((X[:, 2] > 0.6) & (classes == 3), "maybe", y)
    options = {"n_directions": 12, "directions": "generated", "tol": 1e-8}
    model = DistanceKernelSVC("perceptron", random_state=0, **options).fit(X, y)
    path, prices = model.objective_path_, model.price_path_
    assert len(path) == len(prices) == 12
    falls = -np.diff(path)
    assert np.all(falls >= -1e-8 * path[:-1])
    assert np.all(falls <= prices[1:] + 1e-7 * path[:-1])
    assert falls.min() > 0.0
    assert model.objective_.sum() == pytest.approx(path[-1], rel=1e-7)  # solved again, from nothing
    again = DistanceKernelSVC("perceptron", random_state=0, **options).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))


def test_the_machine_on_generated_directions_is_certified_by_its_kernel_matrix(rng):
    X, y = noisy(rng)
    options = {"n_directions": 6, "directions": "generated", "random_state": 0, "tol": 1e-8}
    model = DistanceKernelSVC("perceptron", **options).fit(X, y)
    Z = model._columns(X)
    kernel = DistanceKernelSVC(lambda A, B: -cdist(A, B, "cityblock"), tol=1e-8).fit(Z, y)
    np.testing.assert_allclose(model.objective_, kernel.objective_, rtol=1e-7)
    assert np.mean(model.predict(X) == kernel.predict(Z)) == 1.0
    assert np.mean(pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)) == 1.0


def test_no_direction_is_added_that_could_not_lower_the_objective_by_its_tolerance(rng):
    X, y = noisy(rng, d=2)
    X = X[:, :1]
    options = {"n_directions": 50, "directions": "generated", "random_state": 0}
    model = DistanceKernelSVC("perceptron", C=0.01, tol=0.1, **options).fit(X, y)
    assert len(model.objective_path_) < 50
    constant = DistanceKernelSVC("perceptron", **options).fit(np.ones_like(X), y)
    assert len(constant.objective_path_) == 1


@pytest.mark.parametrize(
    ("name", "n", "few", "many", "C"), [("banana", 1000, 4, 8, 1.0), ("spam", 1500, 4, 32, 0.1)]
)
def test_fewer_generated_directions_reach_the_error_of_random_ones(name, n, few, many, C):
    """Four in place of 8 random ones in the plane, and of 32 in 57 features, on held-out rows."""
    data, random = load(name), np.random.RandomState(1)
    order = random.permutation(len(data.y))
    X, y = np.asarray(data.X, dtype=float)[order], np.asarray(data.y)[order]
    X = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    generated = DistanceKernelSVC("perceptron", C=C, n_directions=few, directions="generated", random_state=0)
    lines = random.normal(size=(X.shape[1], many))
    lines *= scale_of_mean(X.shape[1], many) / np.linalg.norm(lines, axis=0)
    drawn = DistanceKernelSVC("stump", C=C, solver="spline").fit(X[:n] @ lines, y[:n])
    error = 1.0 - generated.fit(X[:n], y[:n]).score(X[n:], y[n:])
    assert error <= 1.0 - drawn.score(X[n:] @ lines, y[n:]) + 0.005


def test_selection_of_cost_knows_no_generated_directions(rng):
    X, y = noisy(rng)
    options = {"n_directions": 8, "Cs": [0.1, 1.0], "cv": 2, "random_state": 0}
    spread = DistanceKernelSVCCV("perceptron", **options).fit(X, y)
    found = DistanceKernelSVCCV("perceptron", directions="generated", **options).fit(X, y)
    np.testing.assert_array_equal(spread.cv_scores_, found.cv_scores_)
    if found.best_C_ == spread.best_C_:
        assert found.objective_[0] < spread.objective_[0]


def test_several_machines_are_kept_with_knots_of_their_own(rng):
    """Together they have tables at all knots; a pickle has what each needs, and predicts the same bits."""
    X, y = noisy(rng, n=1000)
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=1000), np.linspace(-0.8, 0.8, 7))
    model = DistanceKernelSVC(C=0.3, solver="spline").fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert model.relative_gap_ <= 1e-3
    n_machines = len(model.intercept_)
    assert n_machines == 28
    assert len(pickle.dumps(model)) < 0.3 * model._shapes.tables.nbytes
    shapes = model._shapes
    parts = [
        Shapes(shapes.knots, shapes.first, np.ascontiguousarray(shapes.tables[:, [k]])).thin(1e-9)
        for k in range(n_machines)
    ]
    joined = Shapes.join(parts)
    assert sum(len(part.knots) for part in parts) < 0.5 * shapes.tables.size
    np.testing.assert_allclose(joined.decision(X), shapes.decision(X), atol=1e-7)
