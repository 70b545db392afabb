from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kernsemble import CGEns
from kernsemble.estimators import cgens

BASES = {
    "stump": {},
    "perceptron": {"n_updates": 20},
    "perceptron-pool": {"n_hypotheses": 500},
    "fourier": {"n_hypotheses": 500, "gamma": 0.02},
}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("base", BASES)
def test_every_base_and_loss_learns(cancer, base, loss):
    X, y = cancer
    model = CGEns(
        C=0.1, n_rounds=50, base=base, base_options=BASES[base], loss=loss, random_state=0, tol=None
    )
    assert make_pipeline(StandardScaler(), model).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    assert model.n_rounds_ == len(model.weights_) == 50


@pytest.mark.parametrize("C", [0.02, 0.5])
def test_fitted_to_the_end_it_is_the_kernel_machine_on_new_points_too(cancer, C):
    X, y = cancer[0].to_numpy()[:120, :4], cancer[1][:120]
    model = CGEns(C=C, n_rounds=1000, tol=1e-9).fit(X[:80], y[:80])
    assert model.message_ == "gap of the whole problem reached"
    assert 0 <= model.dual_gap_ <= 1e-9 * model.objective_path_[-1]
    features = [(d, t) for d in range(4) for t in np.unique(X[:80, d])]
    cuts = [(d, 0.5 * (s + t)) for (d, s), (e, t) in pairwise(features) if d == e]
    H = np.array([np.where(X[:, d] > t, 1.0, -1.0) for d, t in cuts]).T
    K = H @ H[:80].T
    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K[:80], y[:80])
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(K), atol=2e-4)


def test_stages_end_in_the_ensemble(cancer):
    X, y = cancer
    model = CGEns(C=0.1, n_rounds=30, tol=None).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_rounds_ == len(model.rounds_) == 30
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-10)
    short = CGEns(C=0.1, n_rounds=12, tol=None).fit(X, y)
    np.testing.assert_allclose(stages[11], short.decision_function(X), atol=1e-10)
    errors = [np.mean(prediction != y) for prediction in model.staged_predict(X)]
    assert errors[-1] < errors[0]
    assert (np.diff(model.objective_path_) <= 1e-3 * model.objective_path_[:-1]).all()


def test_constant_stump_is_a_candidate_only_without_an_intercept():
    X = np.tile([[0.0], [1.0]], (20, 1))
    y = np.arange(40) < 36  # one-sided, whatever X says: the constant stump would win the first round
    assert np.isfinite(CGEns().fit(X, y).hypotheses_.thresholds).all()
    assert np.isinf(CGEns(intercept="none").fit(X, y).hypotheses_.thresholds[0])
    assert np.isinf(CGEns(base_options={"constant": True}).fit(X, y).hypotheses_.thresholds[0])


@pytest.mark.filterwarnings("ignore:.*duality gap:sklearn.exceptions.ConvergenceWarning")  # few rounds
def test_portable_and_tolerance_reach_the_master(cancer):
    X, y = cancer
    model = CGEns(C=0.1, n_rounds=5, tol=None).fit(X, y)
    assert max(entry.gap for entry in model.rounds_) <= 1e-9 * model.objective_path_[0]
    loose = CGEns(C=0.1, n_rounds=5, tol=0.2, portable=False).fit(X, y)
    assert max(entry.gap / entry.objective for entry in loose.rounds_) <= 0.1


def test_weights_multiply_the_cost(cancer):
    X, y = cancer
    doubled = CGEns(C=0.1, n_rounds=15, tol=None).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(
        doubled.decision_function(X), CGEns(C=0.2, n_rounds=15, tol=None).fit(X, y).decision_function(X)
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_run_to_the_end_several_classes_are_one_problem_each(loss):
    X, y = load_iris(return_X_y=True)
    shared = CGEns(C=0.1, loss=loss, tol=1e-9).fit(X, y)
    single = OneVsRestClassifier(CGEns(C=0.1, loss=loss, tol=1e-9)).fit(X, y)
    np.testing.assert_allclose(shared.decision_function(X), single.decision_function(X), atol=1e-4)
    objectives = [machine.objective_path_[-1] for machine in single.estimators_]
    assert shared.objective_path_[-1] == pytest.approx(sum(objectives), rel=1e-8)


def test_master_that_runs_out_of_iterations_warns(cancer, monkeypatch):
    X, y = cancer

    class Hasty(cgens.Hinge):
        def __init__(self, *args, **settings):
            super().__init__(*args, max_iter=1, **{**settings, "tol": 1e-12})

    monkeypatch.setattr(cgens, "Hinge", Hasty)
    with pytest.warns(ConvergenceWarning, match="CGEns"):
        CGEns(C=1.0, n_rounds=20).fit(X, y)
