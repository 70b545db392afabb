"""Distance-kernel machines as scikit-learn estimators, beside SVC and GridSearchCV."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit, StratifiedKFold
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from kernsemble import DistanceKernelSVC, DistanceKernelSVCCV
from kernsemble.estimators import distance_svc
from kernsemble.kernels import gaussian_kernel, perceptron_kernel, stump_kernel

NAMED = {"stump": stump_kernel, "perceptron": perceptron_kernel}


def noisy(rng, n=80, d=4):
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "yes", "no")


@pytest.mark.parametrize("kernel", NAMED)
def test_decides_like_svc_with_the_same_kernel(rng, kernel):
    X, y = noisy(rng)
    ours = DistanceKernelSVC(kernel, C=3.0, tol=1e-8).fit(X[:60], y[:60])
    libsvm = SVC(kernel=NAMED[kernel], C=3.0, tol=1e-8).fit(X[:60], y[:60])
    np.testing.assert_allclose(ours.decision_function(X), libsvm.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), libsvm.predict(X))
    np.testing.assert_array_equal(ours.support_, np.sort(libsvm.support_))
    assert 0 <= ours.dual_gap_ <= 1e-5


@pytest.mark.parametrize("gamma", [0.7, "scale"])
def test_gaussian_kernel_decides_like_svc(rng, gamma):
    X, y = noisy(rng)
    ours = DistanceKernelSVC("gaussian", C=3.0, gamma=gamma, tol=1e-8).fit(X, y)
    libsvm = SVC(C=3.0, gamma=gamma, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), libsvm.decision_function(X), atol=1e-5)


def test_a_callable_kernel_and_a_pipeline(rng):
    X, y = noisy(rng)
    named = make_pipeline(MinMaxScaler((-1, 1)), DistanceKernelSVC("stump")).fit(X, y)
    called = make_pipeline(MinMaxScaler((-1, 1)), DistanceKernelSVC(stump_kernel)).fit(X, y)
    np.testing.assert_array_equal(named.decision_function(X), called.decision_function(X))


@pytest.mark.parametrize(("multi_class", "peer"), [("ovr", OneVsRestClassifier), ("ovo", OneVsOneClassifier)])
def test_several_classes_decide_like_the_wrappers_of_scikit_learn(multi_class, peer):
    X, y = load_iris(return_X_y=True)
    ours = DistanceKernelSVC("perceptron", C=2.0, multi_class=multi_class, tol=1e-8).fit(X, y)
    libsvm = peer(SVC(kernel=perceptron_kernel, C=2.0, tol=1e-8)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), libsvm.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), libsvm.predict(X))
    assert ours.dual_coef_.shape == (3, len(ours.support_))
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.predict(X), ours.predict(X))


def several(rng, n=150):
    """Four classes in a circle, which overlap."""
    X = rng.uniform(-1, 1, size=(n, 2))
    angle = np.arctan2(X[:, 0], X[:, 1]) + 0.4 * rng.normal(size=n)
    return X, np.floor(angle / (np.pi / 2)).astype(int) % 4


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_selection_over_several_classes_counts_what_the_machines_predict(rng, multi_class):
    X, y = several(rng)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    options = {"kernel": "perceptron", "multi_class": multi_class, "tol": 1e-8}
    model = DistanceKernelSVCCV(Cs=[0.1, 3.0], cv=PredefinedSplit(fold_numbers(folds)), **options).fit(X, y)
    for C, score in zip(model.Cs_, model.cv_scores_, strict=True):
        machines = [DistanceKernelSVC(C=C, **options).fit(X[train], y[train]) for train, _ in folds]
        right = [np.sum(m.predict(X[test]) == y[test]) for m, (_, test) in zip(machines, folds, strict=True)]
        assert score == pytest.approx(sum(right) / len(y))


def fold_numbers(folds):
    """Number of the fold in which each sample is held out."""
    numbers = np.empty(sum(len(test) for _, test in folds))
    for k, (_, test) in enumerate(folds):
        numbers[test] = k
    return numbers


@pytest.mark.parametrize("kernel", [*NAMED, "gaussian"])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_cache_smaller_than_the_problem_gives_the_same_result(rng, kernel, multi_class):
    X, y = several(rng, n=600)
    options = {"kernel": kernel, "multi_class": multi_class, "C": 3.0, "tol": 1e-5}
    whole = DistanceKernelSVC(**options).fit(X, y)
    few = DistanceKernelSVC(cache_size=400 * 600 * 8e-6, **options).fit(X, y)  # 400 rows, blocks of 100
    np.testing.assert_allclose(few.objective_, whole.objective_, rtol=1e-5)
    np.testing.assert_allclose(few._decisions(X), whole._decisions(X), atol=1e-3)
    assert few.relative_gap_ < 1e-4


def test_selection_on_a_small_cache_counts_the_same(rng):
    X, y = noisy(rng, n=300)
    options = {"kernel": "stump", "Cs": [0.1, 1.0], "random_state": 0, "tol": 1e-7}
    whole = DistanceKernelSVCCV(**options).fit(X, y)
    few = DistanceKernelSVCCV(cache_size=0.2, **options).fit(X, y)
    np.testing.assert_array_equal(few.cv_scores_, whole.cv_scores_)
    np.testing.assert_allclose(few.decision_function(X), whole.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    "model", [DistanceKernelSVC(), DistanceKernelSVCCV(), DistanceKernelSVCCV("gaussian")]
)
def test_a_cache_too_small_is_refused_before_any_work(rng, model):
    X, y = noisy(rng, n=400)
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"{name}: cache_size=0.001 .* 8 rows, 25600 bytes. Pass a larger"):
        clone(model).set_params(cache_size=1e-3).fit(X, y)


@pytest.mark.parametrize("unit", [1e-8, 1e-4, 1.0, 1e8])
@pytest.mark.parametrize("kernel", [*NAMED, "gaussian"])
def test_the_default_grids_go_with_the_units_of_the_data(rng, kernel, unit):
    X, y = noisy(rng)
    plain = DistanceKernelSVCCV(kernel, cv=3, random_state=0).fit(X, y)
    scaled = DistanceKernelSVCCV(kernel, cv=3, random_state=0).fit(unit * X, y)
    np.testing.assert_allclose(scaled.cv_scores_, plain.cv_scores_, atol=0.02)
    np.testing.assert_array_equal(scaled.predict(unit * X), plain.predict(X))


def test_the_default_grid_is_in_units_of_the_mean_distance(rng):
    X, y = noisy(rng, n=50)
    model = DistanceKernelSVCCV("perceptron", cv=2, random_state=0).fit(X, y)
    mean = cdist(X, X).mean()
    np.testing.assert_allclose(model.Cs_, 2.0 ** np.arange(-13, 8, 2) / mean)


def test_the_edge_of_the_default_grid_is_announced(rng, monkeypatch):
    monkeypatch.setattr(distance_svc, "DISTANCE_CS", 2.0 ** np.arange(-13, -2, 2))  # all too small
    X, y = noisy(rng)
    with pytest.warns(UserWarning, match="best C, .* lies at the edge of the grid .* Pass a grid Cs"):
        DistanceKernelSVCCV("stump", random_state=0).fit(X, y)


@pytest.mark.parametrize("C", [1e-8, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("repeated", [False, True])
def test_any_cost_in_any_unit_is_answered_truly_or_refused_by_name(rng, C, unit, repeated):
    """Without a warning the certificate is small and, computed anew, true; repeated samples contradict."""
    X, y = noisy(rng, n=60)
    if repeated:
        X[30:] = X[:30]
    X *= unit
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = DistanceKernelSVC("perceptron", C=C, max_iter=200_000).fit(X, y)
    if any(w.category is ConvergenceWarning for w in caught):
        assert C * unit > 10.0
        return
    rounding = 1e-9 * C * len(X)
    assert machine.relative_gap_ < 0.1 or machine.dual_gap_ < rounding
    signs, beta = np.where(y == "yes", 1.0, -1.0), np.zeros(60)
    beta[machine.support_] = machine.dual_coef_[0]
    assert np.all((beta * signs >= 0) & (beta * signs <= C))
    quadratic = beta @ perceptron_kernel(X) @ beta
    loss = C * np.maximum(0.0, 1.0 - signs * machine.decision_function(X)).sum()
    assert machine.objective_[0] == pytest.approx(0.5 * quadratic + loss, rel=1e-3, abs=rounding)
    gap = quadratic + loss - signs @ beta
    assert machine.dual_gap_ == pytest.approx(gap, abs=1e-3 * machine.objective_[0] + rounding)


def test_a_tolerance_too_coarse_for_the_cost_is_announced():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="duality gap is .* of the objective.*Pass a tol"):
        coarse = DistanceKernelSVC("stump", C=1e4, tol=0.5).fit(X[50:], y[50:])
    assert coarse.relative_gap_ > 0.1
    fine = DistanceKernelSVC("stump", C=1e4, tol=1e-9).fit(X[50:], y[50:])
    assert fine.relative_gap_ < 0.1


@pytest.mark.parametrize("fit", ["one machine", "selection"])
def test_an_interrupt_ends_a_fit_within_a_second(fit):
    """A fit that would take minutes, of one machine and of folds in threads."""
    source = f"""
import signal, sys, time, threading, _thread, warnings
import numpy as np
from kernsemble import DistanceKernelSVC, DistanceKernelSVCCV
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from kernsemble.estimators import distance_svc
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(3000, 3))
y = rng.random(3000) > 0.5
quick = DistanceKernelSVC("gaussian").fit(X[:100], y[:100])
options = {{"tol": 1e-9, "max_iter": 10**12}}
model = {{
    "one machine": DistanceKernelSVC("gaussian", C=1e9, gamma=1.0, **options),
    "selection": DistanceKernelSVCCV("gaussian", Cs=[1e9], gammas=[1.0], **options),
}}[{fit!r}]
said = []
def interrupt():
    said.append(time.perf_counter())
    _thread.interrupt_main()
threading.Timer(4.0, interrupt).start()
try:
    model.fit(X, y)
    print("finished")
except KeyboardInterrupt:
    print(time.perf_counter() - said[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=120, check=True
    )
    assert float(done.stdout) < 2.0  # a second, and as much for a busy machine


def test_rows_are_scored_in_blocks(rng, monkeypatch):
    X, y = noisy(rng)
    machine = DistanceKernelSVC().fit(X, y)
    expected = machine.decision_function(X)
    monkeypatch.setattr(distance_svc, "ROWS_AT_ONCE", 7)
    np.testing.assert_allclose(machine.decision_function(X), expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", NAMED)
def test_selects_the_parameter_that_grid_search_selects(rng, kernel):
    X, y = noisy(rng, n=100)
    Cs = [2.0**-7, 2.0**-3, 2.0, 2.0**3]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ours = DistanceKernelSVCCV(kernel, Cs=Cs[::-1], random_state=0, tol=1e-7).fit(X, y)
    search = GridSearchCV(SVC(kernel=NAMED[kernel], tol=1e-7), {"C": Cs}, cv=folds).fit(X, y)
    np.testing.assert_array_equal(ours.Cs_, Cs)
    np.testing.assert_allclose(ours.cv_scores_, search.cv_results_["mean_test_score"], atol=1e-12)
    assert ours.best_C_ == search.best_params_["C"]  # both prefer the smaller C
    assert ours.best_score_ == pytest.approx(search.best_score_)
    np.testing.assert_array_equal(ours.predict(X), search.predict(X))


def test_gaussian_grid_equals_grid_search(rng):
    X, y = noisy(rng, n=60)
    Cs, gammas = [0.5, 8.0], [0.01, 0.1, 1.0]
    ours = DistanceKernelSVCCV("gaussian", Cs=Cs, gammas=gammas, cv=3, random_state=1, tol=1e-7).fit(X, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    search = GridSearchCV(SVC(tol=1e-7), {"C": Cs, "gamma": gammas}, cv=folds).fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 3).T
    np.testing.assert_allclose(ours.cv_scores_, scores, atol=1e-12)
    assert scores[list(gammas).index(ours.best_gamma_), Cs.index(ours.best_C_)] == scores.max()
    K = gaussian_kernel(X, gamma=ours.best_gamma_)
    direct = SVC(kernel="precomputed", C=ours.best_C_, tol=1e-7).fit(K, y)
    np.testing.assert_allclose(ours.decision_function(X), direct.decision_function(K), atol=1e-5)


def test_ties_go_to_the_smallest_or_the_largest(rng):
    X = np.concatenate([rng.normal(size=(20, 2)) - 9, rng.normal(size=(20, 2)) + 9])
    y = np.repeat([0, 1], 20)
    smallest = DistanceKernelSVCCV(Cs=[1.0, 2.0, 4.0], random_state=0).fit(X, y)
    largest = DistanceKernelSVCCV(Cs=[1.0, 2.0, 4.0], ties="largest", random_state=0).fit(X, y)
    assert np.all(smallest.cv_scores_ == 1.0)
    assert (smallest.best_C_, largest.best_C_) == (1.0, 4.0)
    options = {"Cs": [1.0, 2.0], "gammas": [0.001, 0.01], "random_state": 0}
    gaussian = DistanceKernelSVCCV("gaussian", **options).fit(X, y)
    assert (gaussian.best_C_, gaussian.best_gamma_) == (1.0, 0.001)


def test_default_grids_have_55_and_550_problems(rng):
    X, y = noisy(rng, n=30, d=2)
    assert DistanceKernelSVCCV("perceptron", random_state=0).fit(X, y).cv_scores_.shape == (11,)
    assert DistanceKernelSVCCV("gaussian", random_state=0).fit(X, y).cv_scores_.shape == (10, 11)


def test_several_classes_and_any_splitter():
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    model = DistanceKernelSVCCV(Cs=[1.0], cv=LeaveOneOut()).fit(X, y)
    expected = np.mean(
        [
            DistanceKernelSVC(C=1.0).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0] == y[i]
            for i in range(len(y))
        ]
    )
    assert model.best_score_ == pytest.approx(expected)


@pytest.mark.parametrize("kernel", ["stump", "gaussian"])
def test_weights_select_like_repeated_samples(rng, kernel):
    X, y = noisy(rng, n=90)
    weight, fold = rng.integers(0, 3, size=90), np.arange(90) % 3
    rows = np.repeat(np.arange(90), weight)
    options = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.1, 1.0], "tol": 1e-9}
    weighted = DistanceKernelSVCCV(kernel, cv=PredefinedSplit(fold), **options).fit(X, y, weight)
    repeated = DistanceKernelSVCCV(kernel, cv=PredefinedSplit(fold[rows]), **options).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.cv_scores_, repeated.cv_scores_, rtol=1e-12)
    assert weighted.best_C_ == repeated.best_C_
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kernel", [*NAMED, "gaussian"])
@pytest.mark.parametrize("scale", [1e-150, 1e120, 1e150, 1e200, 1e307])
def test_values_of_any_size_are_learned_from_or_refused(rng, kernel, scale):
    X, y = noisy(rng, n=60)
    machine = DistanceKernelSVC(kernel)
    if scale == 1e307 or (scale == 1e200 and kernel != "stump"):  # squares overflow
        with pytest.raises(ValueError, match="scale the features"):
            machine.fit(scale * X, y)
        return
    machine.fit(scale * X, y)
    assert np.isfinite(machine.decision_function(scale * X)).all()
    assert machine.score(scale * X, y) >= 0.5


def test_steps_that_run_out_warn_with_the_gap(rng):
    X, y = noisy(rng)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        DistanceKernelSVC(C=100.0, max_iter=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DistanceKernelSVC(C=100.0).fit(X, y)
