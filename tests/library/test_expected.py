"""What users of scikit-learn expect: class weights, probabilities, kernel matrices, callbacks, words."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

import kernsemble as k
from kernsemble.hypotheses.kernel_library import FeatureKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
SIGNS = (X[:, 0] + 0.5 * RNG.normal(size=90) > 0.5).astype(int)
CLASSES = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=90), [-0.5, 1.0])
CLASSIFIERS = [name for name in k._ESTIMATORS if "class_weight" in getattr(k, name)().get_params()]
SEVERAL = [k.AdaBoostECC(1000, random_state=0), k.AdaBoostMH(300), k.AdaBoostMO(300)]
SEVERAL += [k.MultiBoost(C=1e7, tol=None, per_class=own) for own in (True, False)]


def quick(name, **options):
    """An estimator of few rounds."""
    model = getattr(k, name)(**options)
    few = {"n_rounds": 5, "random_state": 0, "n_components": 2, "cv": 2}
    model.set_params(**{key: value for key, value in few.items() if key in model.get_params()})
    return model.set_params(tol=None) if "n_rounds" in model.get_params() and hasattr(model, "tol") else model


def test_all_classifiers_take_class_weights():
    assert set(k._ESTIMATORS) - set(CLASSIFIERS) == {
        "CGBoostNovelty",
        "CGBoostRegressor",
        "DistanceKernelSVR",
    }


@pytest.mark.filterwarnings("ignore:.*edge of the grid")
@pytest.mark.parametrize("weight", [None, np.where(np.arange(90) % 5 == 1, 0.0, np.linspace(0.5, 2.0, 90))])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_class_weights_are_sample_weights(name, weight):
    ones = np.ones(90) if weight is None else weight
    balanced = ones / np.array([ones[c == SIGNS].sum() for c in (0, 1)])[SIGNS] * ones.sum() / 2
    for given, same in (("balanced", balanced), ({0: 3.0}, ones * compute_sample_weight({0: 3.0}, SIGNS))):
        model = quick(name, class_weight=given).fit(X, SIGNS, sample_weight=weight)
        other = quick(name).fit(X, SIGNS, sample_weight=same)
        np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-6)


def test_class_weights_of_classes_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="class_weight"):
        k.CGEns(class_weight="even").fit(X, SIGNS)
    with pytest.raises(ValueError, match="at least one must be positive"):
        k.CGEns(class_weight={0: 0.0, 1: 0.0}).fit(X, SIGNS)


# Without a norm, or nearly so, and with stumps that tell all values apart, the least loss is at the shares.
SHARES = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4], [0.05, 0.15, 0.8]])
VALUES = RNG.integers(0, 4, (2000, 1)).astype(float)
DRAWN = np.array([RNG.choice(3, p=SHARES[int(v)]) for v in VALUES[:, 0]])


@pytest.mark.parametrize("model", SEVERAL, ids=str)
def test_probabilities_of_several_classes_are_the_shares_where_the_loss_is_least(model):
    shares = [[np.mean(DRAWN[VALUES[:, 0] == v] == c) for c in range(3)] for v in range(4)]
    found = clone(model).fit(VALUES, DRAWN).predict_proba(np.arange(4.0)[:, None])
    np.testing.assert_allclose(found, shares, atol=1e-6)


@pytest.mark.parametrize("model", [k.AdaBoost(300), *SEVERAL], ids=str)
def test_probabilities_of_two_classes_are_the_shares_where_the_loss_is_least(model):
    y = np.where(DRAWN > 0, "yes", "no")
    shares = [np.mean(y[VALUES[:, 0] == v] == "yes") for v in range(4)]
    model = clone(model).fit(VALUES, y)
    found = model.predict_proba(np.arange(4.0)[:, None])
    np.testing.assert_allclose(found[:, 1], shares, atol=1e-6)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(np.arange(4.0)[:, None])), found)


def test_probabilities_of_an_empty_model_are_the_classes_shares():
    model = k.MultiBoost(C=1e-9).fit(X, CLASSES)
    assert model.n_rounds_ == 0
    np.testing.assert_allclose(model.predict_proba(X[:2]), [np.bincount(CLASSES) / 90] * 2)
    assert set(model.predict(X)) == {np.bincount(CLASSES).argmax()}


def test_probabilities_that_a_loss_does_not_have_are_refused_by_name():
    with pytest.raises(AttributeError) as caught:
        _ = k.AdaBoostMO(code="random").predict_proba
    assert "code='one-against-all'" in str(caught.value.__cause__)
    for name in ("CGEns", "LPBoost", "DistanceKernelSVC", "ExRM"):
        assert not hasattr(getattr(k, name)(), "predict_proba")


def test_probabilities_serve_where_scikit_learn_wants_them():
    voters = [
        (str(i), model) for i, model in enumerate((k.AdaBoostMH(20), k.MultiBoost(n_rounds=20, tol=None)))
    ]
    voting = VotingClassifier(voters, voting="soft").fit(X, CLASSES)
    assert log_loss(CLASSES, voting.predict_proba(X)) < 0.9
    assert np.all(cross_val_score(k.AdaBoost(10), X, SIGNS, scoring="neg_log_loss") < 0)


@pytest.mark.parametrize(
    ("model", "y"), [(quick("CGEns"), SIGNS), (k.DistanceKernelSVC(), CLASSES), (k.ExRM(), CLASSES)], ids=str
)
def test_margins_are_calibrated_by_scikit_learn(model, y):
    found = CalibratedClassifierCV(model, ensemble=False, cv=3).fit(X, y).predict_proba(X)
    assert log_loss(y, found) < log_loss(y, np.tile(np.bincount(y) / 90, (90, 1)))


@pytest.mark.parametrize("weight", [None, np.where(np.arange(90) % 4 == 1, 0.0, 1.0)])
@pytest.mark.parametrize("kernel", [k.stump_kernel, k.perceptron_kernel])
def test_a_kernel_matrix_gives_the_machine_of_its_kernel(kernel, weight):
    Z, K = X[:20] + 0.1, kernel(X, X)
    one = k.DistanceKernelSVC(kernel, C=0.3).fit(X, CLASSES, weight)
    same = k.DistanceKernelSVC("precomputed", C=0.3).fit(K, CLASSES, weight)
    np.testing.assert_array_equal(one.decision_function(Z), same.decision_function(kernel(Z, X)))
    assert same.n_features_in_ == 90
    search = k.DistanceKernelSVCCV(kernel, cv=3, random_state=0, Cs=[0.01, 0.1, 1.0]).fit(X, CLASSES, weight)
    again = clone(search).set_params(kernel="precomputed").fit(K, CLASSES, weight)
    np.testing.assert_array_equal(search.cv_scores_, again.cv_scores_)
    grid = GridSearchCV(k.DistanceKernelSVC("precomputed"), {"C": [0.1, 1.0]}, cv=3).fit(K, CLASSES)
    assert (
        grid.best_score_
        == GridSearchCV(k.DistanceKernelSVC(kernel), {"C": [0.1, 1.0]}, cv=3).fit(X, CLASSES).best_score_
    )


def test_a_kernel_matrix_that_is_none_is_refused():
    with pytest.raises(ValueError, match="kernel matrix of 90 training samples, 90 x 90; X is 90 x 3"):
        k.DistanceKernelSVC("precomputed").fit(X, CLASSES)


def test_groups_stay_together():
    groups, seen = np.arange(90) // 9, []

    class Together(GroupKFold):
        def split(self, X, y=None, groups=None):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    model = k.DistanceKernelSVCCV(cv=Together(3), Cs=[0.1, 1.0, 10.0, 100.0])
    model.fit(X, CLASSES, groups=groups)
    assert seen == [set()] * 3


def test_both_names_of_the_gaussian_kernel_are_known():
    for make in (lambda name: k.DistanceKernelSVC(name), lambda name: k.DRM(2, kernel=name, random_state=0)):
        one, other = (make(name).fit(X, SIGNS).decision_function(X) for name in ("gaussian", "rbf"))
        np.testing.assert_array_equal(one, other)
    one, other = (
        k.CGBoostClassifier([name], n_rounds=5, tol=None).fit(X, SIGNS).decision_function(X)
        for name in ("gaussian", "rbf")
    )
    np.testing.assert_array_equal(one, other)


MISTAKES = [  # beside those of numbers that test_bad_input has
    (k.AdaBoost(5, base=DecisionTreeClassifier()), "is an estimator; a base searches a family"),
    (k.AdaBoost(base_options=3), "base_options=3: give a dict"),
    (k.CGEns(0.1), "n_rounds must be an instance of int"),
    (k.CGEns(base=DecisionTreeClassifier), "is an estimator; a base searches a family"),
    (k.CGEns(base="tree"), "base='tree'"),
    (k.CGEns(base_options={"max_depth": 3}), "'stump' has no option 'max_depth'; it has constant"),
    (k.CGEns(intercept="maybe"), "intercept='maybe'"),
    (k.CGEns(loss="log"), "loss='log'"),
    (k.CGEns(tol=0.0), "tol == 0.0"),
    (k.CGEns(verbose="yes"), "verbose must be an instance of"),
    (k.LPBoost(base="fourier", base_options={"n": 3}), r"no option 'n'; it has .*n_hypotheses"),
    (k.LPBoost(solver="best"), "solver='best'"),
    (k.MultiBoost(base="fourier"), "base='fourier' has real values.*CGEns"),
    (k.MultiBoost(solver="sgd"), "solver='sgd'"),
    (k.MultiBoost(tau_max=0), "tau_max == 0"),
    (k.CGBoostClassifier("rbf"), r"give a list of at least one kernel.*GramKernel\(matrix\)"),
    (k.CGBoostClassifier(["sigmoid"]), "'sigmoid' is not known; use one of"),
    (k.CGBoostClassifier([np.eye(90)]), r"array of shape \(90, 90\): .* write GramKernel\(matrix\)"),
    (k.CGBoostClassifier([FeatureKernel(["size"])]), "X has no column of the name 'size'"),
    (k.CGBoostClassifier(max_centers=-1), "max_centers == -1, must be >= 1"),
    (k.CGBoostClassifier(norm="l3"), "norm='l3'"),
    (k.CGBoostClassifier(nu=0.5, norm="l1"), "The nu forms need norm='l2'"),
    (k.CGBoostClassifier(nu=1.0), "nu=1 is infeasible"),
    (k.CGBoostClassifier(termination="TR5"), "termination='TR5'"),
    (k.DistanceKernelSVC("poly"), r"kernel must be .*'gaussian' \('rbf'\), 'precomputed'"),
    (k.DistanceKernelSVC("gaussian", gamma="auto"), "gamma must be"),
    (k.DistanceKernelSVC("gaussian", gamma=-2.0), "gamma == -2"),
    (k.DistanceKernelSVC(C=np.nan), "C == nan, must be finite"),
    (k.DistanceKernelSVC(cache_size=0.0), "cache_size == 0"),
    (k.DistanceKernelSVC(multi_class="crammer"), "multi_class must be 'ovo' or 'ovr'"),
    (k.DistanceKernelSVC(tol=0.0), "tol == 0"),
    (k.DistanceKernelSVCCV(Cs=[]), "Cs must hold"),
    (k.DistanceKernelSVCCV(Cs=[1.0, np.inf]), "Cs must hold"),
    (k.DistanceKernelSVCCV("gaussian", gammas=[0.0]), "gammas must hold"),
    (k.DistanceKernelSVCCV(ties="first"), "ties must be"),
    *(
        (make(**options), words)
        for make in (k.DistanceKernelSVC, k.DistanceKernelSVCCV)
        for options, words in (
            ({"solver": "dual"}, "solver must be 'auto', 'kernel' or 'spline', got 'dual'"),
            ({"loss": "logistic"}, "loss must be 'hinge' or 'squared_hinge'"),
            ({"kernel": "perceptron", "solver": "spline"}, "solver='spline' .* need kernel='stump'"),
            ({"kernel": "gaussian", "loss": "squared_hinge"}, "need kernel='stump'"),
            ({"n_directions": 4}, "n_directions=4"),
            ({"loss": "squared_hinge", "solver": "kernel"}, "solver='kernel' has loss='hinge'"),
            ({"max_knots": 1}, "max_knots == 1"),
            ({"kernel": "perceptron", "n_directions": 0}, "n_directions == 0"),
            ({"kernel": "perceptron", "directions": "found"}, "directions must be 'spread' or 'generated'"),
            (
                {"kernel": "perceptron", "directions": "generated"},
                "directions='generated' needs n_directions",
            ),
        )
    ),
    (k.DistanceKernelSVR("gaussian"), "kernel must be 'stump' or 'perceptron'"),
    (k.DistanceKernelSVR(epsilon=-1.0), "epsilon == -1"),
    (k.DistanceKernelSVR(loss="huber"), "loss must be 'epsilon_insensitive' or 'squared_error'"),
    (k.DistanceKernelSVR(max_knots=1), "max_knots == 1"),
    (k.DRM(kernel="poly"), "kernel must be"),
    (k.DRM(mu=-1.0), "mu == -1"),
    (k.DRM(nu=0.0), "nu == 0"),
    (k.DRM(nu=1.5), "nu == 1.5"),
    (k.DRM(q=3), "q must be 1 or 2"),
    (k.ExRM(solver="newton"), "solver must be one of"),
    (k.ExRM(start="zero"), "start must be"),
]


@pytest.mark.parametrize(("model", "words"), MISTAKES)
def test_mistakes_are_answered_by_name(model, words):
    with pytest.raises((ValueError, TypeError, UserWarning), match=words):
        clone(model, safe=False).fit(X, SIGNS)


def test_text_is_answered_by_column_and_remedy():
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.where(SIGNS, "red", "blue")})
    for name in ("AdaBoost", "DistanceKernelSVC", "CGBoostClassifier"):
        with pytest.raises(ValueError, match=r"Columns colour hold text: turn .* by OrdinalEncoder"):
            quick(name).fit(frame, SIGNS)
    with pytest.raises(ValueError, match="X holds text"):
        quick("AdaBoost").fit([["a"], ["b"]], [0, 1])


def test_too_many_pairs_of_rows_are_named_before_any_work(monkeypatch):
    with pytest.raises(MemoryError, match=r"DRM holds .* 7.68e\+05 GB for 4000000 rows.* take fewer rows"):
        k.DRM(2).fit(np.zeros((4_000_000, 1)), np.arange(4_000_000) % 2)
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 6 * 8 * 90 * 90 // 4096}.get)
    monkeypatch.setattr(k.DRM, "_kernel_matrix", lambda *_: pytest.fail("work was begun"))
    with pytest.raises(MemoryError, match="for 90 rows"):
        k.DRM(2).fit(X, SIGNS)


def test_without_a_folder_to_write_to_code_is_compiled_for_the_process():
    code = (
        "import os, pathlib, warnings\n"
        "def refuse(*args, **options): raise OSError\n"
        "pathlib.Path.mkdir = refuse\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always'); import kernsemble\n"
        "assert 'set NUMBA_CACHE_DIR' in str(caught[0].message)\n"
        "kernsemble.AdaBoost(2).fit([[0.0], [1.0]], [0, 1])\n"
        "assert os.listdir(os.environ['NUMBA_CACHE_DIR']); print(os.environ['NUMBA_CACHE_DIR'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not Path(ran.stdout.strip()).exists()


def test_unknown_parameters_name_the_class():
    for name in ("AdaBoost", "AdaBoostMH"):
        with pytest.raises(TypeError, match=rf"{name}.__init__\(\) got an unexpected keyword argument"):
            getattr(k, name)(n_estimators=50)


def test_several_classes_name_who_has_them():
    with pytest.raises(
        ValueError, match=r"take AdaBoostMH, CGEns or MultiBoost, or put .*OneVsRestClassifier"
    ):
        k.AdaBoost().fit(X, CLASSES)


@pytest.mark.parametrize("name", ["AdaBoost", "AdaBoostMH", "CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"])
def test_features_are_selected_by_their_importances(name):
    model = quick(name)
    importance = clone(model).fit(X, SIGNS).feature_importances_
    chosen = SelectFromModel(model).fit(X, SIGNS).get_support()
    np.testing.assert_array_equal(chosen, importance >= importance.mean())
    assert RFE(model, n_features_to_select=1).fit(X, SIGNS).support_[importance.argmin()] == 0


callback = pytest.importorskip("sklearn.callback")
WATCHED = [quick(name) for name in ("CGBoostClassifier", "CGEns", "CGEnsSLS", "LPBoost", "MultiBoost")]


@pytest.mark.parametrize("model", WATCHED, ids=str)
def test_a_monitor_sees_the_score_of_each_round(model):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = clone(model).set_callbacks(monitor).fit(X, SIGNS)
    scores = [entry["accuracy"] for entry in monitor.get_logs().data if "accuracy" in entry]
    staged = [np.mean(labels == SIGNS) for labels in model.staged_predict(X)]
    assert sorted(scores) == pytest.approx(sorted([*staged, model.score(X, SIGNS)]))
    np.testing.assert_array_equal(
        model.decision_function(X), clone(model).set_callbacks().fit(X, SIGNS).decision_function(X)
    )


class EndAtTenPercent:
    """Ends a fit at a training error of a tenth, and keeps what it saw."""

    def setup(self, estimator, context):
        self.ends = []

    def teardown(self, estimator, context):
        self.ends.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, X=None, y=None):
        if context.task_name == "round":
            self.ends.append(fitted_estimator.relative_gap_)
            return fitted_estimator.score(X, y) >= 0.9
        return False


def test_a_callback_ends_the_fit():
    watch = EndAtTenPercent()
    model = k.CGEns(n_rounds=200, tol=None).set_callbacks(watch).fit(X, SIGNS)
    scores = [np.mean(labels == SIGNS) for labels in model.staged_predict(X)]
    assert scores[-1] >= 0.9 > max(scores[:-1])
    assert model.message_ == "stopped by the callback"
    assert len(watch.ends) == model.n_rounds_ + 1
    assert watch.ends[-1] == "teardown"
    assert 0.0 < model.relative_gap_ <= 1.0


def test_callbacks_of_a_search_come_to_its_fits():
    search = GridSearchCV(k.CGEns(n_rounds=3, tol=None), {"C": [0.01, 0.1]}, cv=2)
    search.set_callbacks(callback.ProgressBar()).fit(X, SIGNS)
    assert not hasattr(search.best_estimator_, "_skl_callbacks")


def test_the_bar_says_how_far_the_fit_is(capsys):
    k.CGEns(n_rounds=3, tol=None, verbose=2).fit(X, SIGNS)
    assert "objective" in capsys.readouterr().err
