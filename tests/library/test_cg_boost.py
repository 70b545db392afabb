"""CG-Boost estimators: scikit-learn's contract, the certified optimum, the rules, the theorems of bi2004."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR, OneClassSVM

from kernsemble import CGBoostClassifier, CGBoostNovelty, CGBoostRegressor
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.kernel_library import FeatureKernel, GaussianKernel, GramKernel, LinearKernel
from kernsemble.masters.quadratic import HingeQP, NuNovelty


@pytest.fixture
def classes(rng):
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.4 * rng.normal(size=120) > 0, "in", "out")
    return X, y


@pytest.fixture
def values(rng):
    X = rng.uniform(-1, 1, size=(60, 2))
    y = X[:, 0] + 2 * X[:, 1] + np.exp(-4 * ((X - 0.4) ** 2).sum(1)) + 0.05 * rng.normal(size=60)
    return X, y


def all_columns(model, X):
    """Columns of all kernels at all samples."""
    return np.hstack([kernel.matrix(X, X) for kernel in model.kernels_])


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_optimum_over_all_columns(classes, norm, positive, stratified):
    X, y = classes
    model = CGBoostClassifier(
        norm=norm, positive=positive, stratified=stratified, termination="TR2", tol=1e-4, n_rounds=500
    ).fit(X, y)
    assert model.dual_gap_ <= 1e-4 * model.objective_path_[-1]
    H, signs = all_columns(model, X), np.where(y == "out", 1.0, -1.0)
    slack = np.maximum(1 - signs * model.decision_function(X), 0).sum()
    penalty = 0.5 * model.weights_ @ model.weights_ if norm == "l2" else np.abs(model.weights_).sum()
    assert_allclose(penalty + slack, model.objective_path_[-1], rtol=1e-7)
    assert model.objective_path_[-1] <= optimum(H, signs, norm, positive) * (1 + 1.01e-4)


def optimum(H, signs, norm, positive):
    """Optimal value of the whole problem, every column in the master at once."""
    from kernsemble.masters.lp import HingeLP

    master = (HingeQP if norm == "l2" else HingeLP)(signs, 1.0, intercept="free", positive=positive)
    for column in H.T:
        master.add(column)
    return master.solve().objective


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_regression_reaches_its_optimum(values, norm):
    X, y = values
    model = CGBoostRegressor(["linear", "rbf"], C=5.0, norm=norm, termination="TR2", tol=1e-5, n_rounds=500)
    model.fit(X, y)
    penalty = 0.5 * model.weights_ @ model.weights_ if norm == "l2" else np.abs(model.weights_).sum()
    loss = 5.0 * np.maximum(np.abs(y - model.predict(X)) - 0.1, 0).sum()
    assert_allclose(penalty + loss, model.objective_path_[-1], rtol=1e-7)
    assert model.dual_gap_ <= 1e-5 * model.objective_path_[-1]
    assert_allclose(list(model.staged_predict(X))[-1], model.predict(X), atol=1e-9)


def columns_of(function, X):
    """Kernel whose columns are given functions of x: its column j belongs to sample j."""
    return lambda A, B: function(A)[:, B[:, -1].astype(int)]


def test_equals_support_vector_machines_on_columns_that_are_features(rng):
    # Columns x_1 .. x_d (and a zero column for the other samples) make HH' the linear kernel of LIBSVM.
    n, d = 40, 4
    Z = rng.normal(size=(n, d))
    X = np.column_stack([Z, np.arange(n)])
    kernel = columns_of(lambda A: np.hstack([A[:, :d], np.zeros((len(A), n - d))]), X)
    y = np.where(Z @ rng.normal(size=d) + rng.normal(size=n) > 0, 1, -1)
    target = Z @ rng.normal(size=d) + rng.normal(size=n)
    full = {"tol": 0.0, "n_rounds": 20}
    ours = CGBoostClassifier([kernel], C=2.0, **full).fit(X, y)
    theirs = SVC(kernel="linear", C=2.0, tol=1e-6).fit(Z, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(Z), atol=1e-3)
    ours = CGBoostRegressor([kernel], C=2.0, epsilon=0.2, **full).fit(X, target)
    theirs = SVR(kernel="linear", C=2.0, epsilon=0.2, tol=1e-6).fit(Z, target)
    assert_allclose(ours.predict(X), theirs.predict(Z), atol=1e-3)
    ours = CGBoostNovelty([kernel], nu=0.3, positive=False, **full).fit(X)
    theirs = OneClassSVM(kernel="linear", nu=0.3, tol=1e-6).fit(Z)
    assert_allclose(ours.score_samples(X) * 0.3 * n, theirs.score_samples(Z), atol=1e-3)


def test_theorem_3_1_no_violation_means_optimal(classes):
    # Solve over W; the solution is optimal for all columns exactly if no column of N scores above 0.
    X, y = classes
    X, signs = X[:40], np.where(y[:40] == "in", 1.0, -1.0)
    oracle = KernelColumns(X, ["linear", "rbf"], signed=True, stratified=False, tau=1e-9)
    master = HingeQP(signs, 1.0, positive=True, tol=1e-11)
    H = np.hstack([kernel.matrix(X, X) for kernel in oracle.kernels])
    best = optimum_positive(H, signs)
    W, above = [], []
    while found := oracle.best(master.pricing_weights()):
        if W:
            above.append(master.solution.objective - best)
        master.add(found[0].column)
        oracle.exclude(found[0].key)
        W.append(found[0].key)
        master.solve()
    assert len(W) < 80  # sparse: some columns never violate
    assert all(excess > 1e-9 for excess in above[:-3])
    assert_allclose(master.solution.objective, best, rtol=1e-8)


def optimum_positive(H, signs):
    master = HingeQP(signs, 1.0, positive=True, tol=1e-11)
    for column in H.T:
        master.add(column)
    return master.solve().objective


def test_proposition_4_1_the_chosen_column_closes_the_gap_most(classes):
    # At the dual point the gap is half the sum of squared scores over N; adding a column takes its share.
    X, y = classes
    X, signs = X[:40], np.where(y[:40] == "in", 1.0, -1.0)
    oracle = KernelColumns(X, ["linear", "rbf"], stratified=False)
    master = HingeQP(signs, 1.0, tol=1e-11)
    H = np.hstack([kernel.matrix(X, X) for kernel in oracle.kernels])
    left = np.ones(80, dtype=bool)
    for _ in range(10):
        V = master.pricing_weights()
        (found,) = oracle.best(V)
        scores = np.where(left, H.T @ V, 0.0)
        gap = 0.5 * np.square(scores).sum()
        assert_allclose(0.5 * oracle.sum_of_squares(V), gap, rtol=1e-10)
        after = gap - 0.5 * np.square(scores)
        chosen = 40 * found.key[0] + found.key[1]
        assert chosen == np.argmin(after)
        # and the gap is that of the whole problem: primal over W minus dual over all columns
        primal = master.solution.objective
        dual = signs @ V - 0.5 * np.square(H.T @ V).sum()
        assert_allclose(primal - dual, gap, rtol=1e-6, atol=1e-8)
        master.add(found.column)
        oracle.exclude(found.key)
        left[chosen] = False
        master.solve()


def test_termination_rules(classes):
    X, y = classes
    fit = {"kernels": ["linear", "rbf"], "C": 1.0, "norm": "l1", "n_rounds": 300, "tol": 0.0}
    tr1 = CGBoostClassifier(termination="TR1", **fit).fit(X[:80], y[:80])
    tr2 = CGBoostClassifier(termination="TR2", **fit).fit(X[:80], y[:80], X_val=X[80:], y_val=y[80:])
    assert tr1.n_rounds_ == tr2.termination_rounds_["TR1"] == tr1.termination_rounds_["TR1"]
    assert tr2.n_rounds_ == tr2.termination_rounds_["TR2"] >= tr1.n_rounds_
    assert tr1.termination_rounds_["TR2"] is None
    assert_allclose(tr2.dual_gap_, 0.0, atol=1e-4)
    for t in (0, tr2.n_rounds_ - 1):  # the watched error is that of the staged predictions
        staged = list(tr2.staged_predict(X[80:]))[t]
        assert_allclose(tr2.validation_path_[t], np.mean(staged != y[80:]))
    tr3 = CGBoostClassifier(termination="TR3", patience=4, **fit)
    tr3.fit(X[:80], y[:80], X_val=X[80:], y_val=y[80:])
    best = int(np.argmin(tr3.validation_path_)) + 1
    assert tr3.best_round_ == best
    assert tr3.n_rounds_ == min(best + 4, tr2.n_rounds_)
    assert_allclose(tr3.decision_function(X), list(tr3.staged_decision_function(X))[best - 1], atol=1e-9)
    tr4 = CGBoostClassifier(**{**fit, "n_rounds": 3, "tol": None}).fit(X, y)
    assert tr4.n_rounds_ == 3
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        CGBoostClassifier(termination="TR2", **{**fit, "n_rounds": 3}).fit(X, y)


def test_stratified_search_prices_fewer_columns_and_prefers_simple_kernels(classes):
    X, y = classes
    options = {"kernels": ["linear", "rbf"], "n_rounds": 25, "tol": None}
    stratified = CGBoostClassifier(stratified=True, **options).fit(X, y)
    regular = CGBoostClassifier(stratified=False, **options).fit(X, y)
    assert stratified.columns_scanned_path_.mean() < 0.5 * regular.columns_scanned_path_.mean()
    assert regular.columns_scanned_path_[0] == 2 * len(X)
    assert stratified.n_columns_["linear"] > regular.n_columns_["linear"]
    assert stratified.n_kernel_evaluations_ == 1 + stratified.n_columns_["rbf"]
    path = stratified.columns_path()
    assert_allclose(path["linear"] + path["rbf"], np.arange(1, 26))


def test_composite_kernel_has_as_many_columns_of_each_part(classes):
    X, y = classes
    model = CGBoostClassifier(["linear+rbf"], n_rounds=20, tol=None).fit(X, y)
    assert model.n_columns_ == {"linear+rbf": 20}
    assert model.n_kernel_evaluations_ == 21
    assert model.columns_scanned_path_[0] % 2 == 0


@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
def test_intercepts(classes, intercept):
    X, y = classes
    model = CGBoostClassifier(intercept=intercept, n_rounds=10, tol=None).fit(X, y)
    assert (model.intercept_ == 0.0) == (intercept == "none")


def test_nu_forms_bound_the_share_outside(classes, values):
    X, y = classes
    options = {"n_rounds": 40, "tol": None}
    model = CGBoostClassifier(["linear", "rbf"], nu=0.4, **options).fit(X, y)
    assert model.score(X, y) > 0.7
    model = CGBoostRegressor(["linear", "rbf"], nu=0.3, C=10.0, **options).fit(*values)
    outside = np.abs(values[1] - model.predict(values[0])) > model.epsilon_ + 1e-4
    assert 0.1 < outside.mean() <= 0.3
    model = CGBoostNovelty(nu=0.2, **options).fit(X)
    scores = model.decision_function(X)
    assert 0.1 < np.mean(scores < -1e-4 * np.ptp(scores)) <= 0.2


def test_few_centers_and_wide_libraries(classes):
    X, y = classes
    library = [GaussianKernel(factor=factor) for factor in (0.1, 1.0, 10.0)]
    model = CGBoostClassifier(library, max_centers=10, n_rounds=50, random_state=0).fit(X, y)
    assert set(model.n_columns_) == {"rbf1", "rbf2", "rbf3"}
    assert sum(model.n_columns_.values()) <= 30
    again = clone(model).fit(X, y)
    assert_allclose(again.weights_, model.weights_)


def test_no_column_at_all(rng):
    # A constant feature at 0: linear columns vanish, the intercept alone is the model.
    model = CGBoostClassifier(["linear"], n_rounds=5).fit(np.zeros((6, 1)), [0, 0, 0, 0, 1, 1])
    assert model.n_rounds_ == 0
    assert list(model.predict(np.zeros((2, 1)))) == [0, 0]


def test_weights_of_novelty_are_repetitions(rng):
    """Under given columns a sample that counts k times is k samples."""
    H, times = rng.normal(size=(12, 4)) + 1.0, np.arange(12) % 3 + 1
    masters = [NuNovelty(12, 0.3, sample_weight=times.astype(float)), NuNovelty(int(times.sum()), 0.3)]
    for master, columns in zip(masters, (H, np.repeat(H, times, axis=0)), strict=True):
        for column in columns.T:
            master.add(column)
    weighted, repeated = (master.solve() for master in masters)
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-6)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-4)


def test_novelty_of_a_sample_without_weight_is_that_without_the_sample(rng):
    X = rng.normal(size=(30, 2))
    weight = np.r_[np.zeros(5), np.ones(25)]
    options = {"nu": 0.2, "n_rounds": 10, "tol": None}
    with_zeros = CGBoostNovelty(**options).fit(X, sample_weight=weight)
    np.testing.assert_allclose(
        with_zeros.decision_function(X), CGBoostNovelty(**options).fit(X[5:]).decision_function(X)
    )


def test_a_rule_that_ends_before_the_first_round_still_states_the_gap_of_the_whole_problem():
    """With nu = 0.9 no dual weight is at its bound at the start, so TR1 looks at no column at all."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.2]]), np.array([0, 1])
    model = CGBoostClassifier(nu=0.9, termination="TR1").fit(X, y)
    best = CGBoostClassifier(nu=0.9, termination="TR2", tol=1e-6, tau=1e-8).fit(X, y)
    assert model.n_rounds_ == 0 < best.n_rounds_
    assert model.dual_gap_ >= -best.objective_path_[-1] - 1e-6 > 0


@pytest.mark.parametrize("make", [make_circles, make_moons])
def test_levels_leave_the_linear_kernel_where_it_is_of_no_use(make):
    X, y = make(400, noise=0.15, random_state=0)
    levels, printed, regular = (
        CGBoostClassifier(stratified=way, n_rounds=50, tol=None).fit(X[::2], y[::2])
        for way in ("levels", True, False)
    )
    assert printed.n_columns_["rbf"] == 0
    assert levels.n_columns_["linear"] < 20 < levels.n_columns_["rbf"]
    assert levels.columns_scanned_path_.mean() < 0.6 * regular.columns_scanned_path_.mean()
    errors = [1.0 - model.score(X[1::2], y[1::2]) for model in (levels, regular)]
    assert errors[0] <= errors[1] + 0.02


def test_levels_prefer_a_cheap_kernel_that_is_of_use(rng):
    X = rng.normal(size=(200, 10))
    y = X @ rng.normal(size=10) > 0
    levels, regular = (
        CGBoostClassifier(["linear", "rbf"], stratified=way, n_rounds=10, tol=None).fit(X, y)
        for way in ("levels", False)
    )
    assert levels.n_columns_["linear"] >= 8
    assert levels.columns_scanned_path_.mean() < 0.5 * regular.columns_scanned_path_.mean()


def test_groups_of_features_are_kernels_of_the_library(classes):
    X, y = classes
    groups = [FeatureKernel([0], "linear"), FeatureKernel([1, 2], "linear+rbf", called="rest")]
    model = CGBoostClassifier(groups, C=0.5, tol=None).fit(X, y)

    def rest(A, B):
        width = GaussianKernel().resolve(X[:, 1:]).width
        inner, squares = A[:, 1:] @ B[:, 1:].T, np.square(A[:, None, 1:] - B[None, :, 1:]).sum(axis=2)
        return inner + np.exp(-squares / width)

    by_hand = CGBoostClassifier([lambda A, B: A[:, :1] @ B[:, :1].T, rest], C=0.5, tol=None).fit(X, y)
    assert_allclose(model.decision_function(X), by_hand.decision_function(X), atol=1e-7)
    assert list(model.n_columns_) == list(model.kernel_weights_) == ["linear[0]", "rest"]


def test_kernel_weights_are_shares_of_what_each_kernel_adds(classes):
    X, y = classes
    model = CGBoostClassifier(["linear", "rbf"], C=0.5, tol=None).fit(X, y)
    H, w = model.hypotheses_.outputs(X), model.weights_
    spreads = [np.std(H[:, at] @ w[at]) for at in model.hypotheses_.positions]
    assert_allclose(list(model.kernel_weights_.values()), spreads / np.sum(spreads))


@pytest.mark.parametrize("kind", [CGBoostClassifier, CGBoostRegressor, CGBoostNovelty])
def test_kernel_matrices_serve_folds_and_searches(classes, kind):
    X, _ = classes
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1.0, -1.0)
    kernels = [LinearKernel(), GaussianKernel().resolve(X)]
    matrices = [GramKernel(kernel.matrix(X, X), kernel.name) for kernel in kernels]
    rows = np.arange(len(X))[:, None]
    searches = [
        GridSearchCV(
            kind(library, tol=None),
            {"n_rounds": [5, 20]},
            cv=3,
            scoring="accuracy" if kind is CGBoostNovelty else None,
        ).fit(Z, y)
        for library, Z in ((kernels, X), (matrices, rows))
    ]
    assert_allclose(*(search.cv_results_["mean_test_score"] for search in searches), atol=1e-6)
    assert_allclose(*(search.best_estimator_.weights_ for search in searches), atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "X_given", "message"),
    [
        (FeatureKernel([0, 3], "rbf"), None, r"features=\[0, 3\].* from 0 to 2"),
        (FeatureKernel([]), None, r"features=\[\]: name at least one column"),
        (GramKernel(np.eye(120)), None, "must be their numbers"),
        (GramKernel(np.eye(119)), np.arange(120)[:, None], "from 0 to 118"),
    ],
)
def test_what_no_kernel_can_use_is_refused_by_name(classes, kernel, X_given, message):
    X, y = classes
    with pytest.raises(ValueError, match=message):
        CGBoostClassifier([kernel]).fit(X if X_given is None else X_given, y)


def test_a_kernel_matrix_is_square():
    with pytest.raises(ValueError, match=r"values has shape \(2, 3\): give a square matrix"):
        GramKernel(np.ones((2, 3)))
