"""lin2012: its data, its timed fits against the estimators, and a tiny run."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernsemble.column_generation import column_generation
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostMH, AdaBoostMO
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.exponential import Exponential
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from lin2012 import trials
from lin2012.shown_sets import N_CLASSES
from lin2012.trials import PAPER_SETS, STORED, paper

POINTS = [1, 3, 8]


def make_trial(dataset, method="CW", number=0, exhibit="figure1"):
    return Trial("lin2012", exhibit, dataset, method, number)


@pytest.fixture(scope="module")
def wine():
    return trials.draw(make_trial("wine"))


def test_splits_are_three_to_one_and_differ_between_runs(wine):
    other = trials.draw(make_trial("wine", number=1))
    assert (len(wine.labels), len(wine.labels_test)) == (134, 44)
    assert not np.array_equal(wine.labels, other.labels)
    same = trials.draw(make_trial("wine", method="Ada.MH", exhibit="pairs"))
    np.testing.assert_array_equal(wine.X, same.X)


def test_mnist_takes_1000_digits_a_class_and_the_official_test_set():
    data = trials.draw(make_trial("MNIST"))
    assert data.X.dtype == np.uint8
    np.testing.assert_array_equal(np.bincount(data.labels), np.full(10, 1000))
    assert len(data.labels_test) == 10_000


def test_hold_out_is_a_stratified_quarter_of_the_training_part(wine):
    inner = trials.hold_out(make_trial("wine"), wine, 4)
    assert len(inner.labels) + len(inner.labels_test) == len(wine.labels)
    shares = np.bincount(inner.labels_test) / np.bincount(wine.labels)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


@pytest.mark.parametrize("per_class", [True, False])
def test_generated_curve_is_that_of_column_generation(wine, per_class):
    fitted = trials.generate(wine, POINTS, C=1e3, per_class=per_class, tol=1e-6)
    oracle, master = StumpOracle(wine.X), Exponential(wine.labels, 1e3, per_class=per_class, tol=1e-6)
    found = column_generation(oracle, master, max(POINTS), per_output=per_class, repeat=True)
    H = oracle.collect(found.keys).outputs(wine.X_test)
    for place, T in enumerate(POINTS):
        w = found.weights[T - 1][0]
        W = (
            np.where(np.array(found.outputs)[: len(w), None] == np.arange(3), w[:, None], 0)
            if per_class
            else w
        )
        wrong = (H[:, : len(w)] @ W).argmax(axis=1) != wine.labels_test
        assert fitted.errors(wine.X_test, wine.labels_test)[place] == pytest.approx(100 * wrong.mean())
    np.testing.assert_allclose(
        fitted.path("objective"), found.path("objective")[np.array(POINTS) - 1], rtol=1e-12
    )
    assert (np.diff(fitted.path("seconds")) >= 0).all()
    assert (fitted.path("solver_seconds") <= fitted.path("seconds")).all()
    width = 1 if per_class else 3
    assert (fitted.active <= width * fitted.learners).all()


def test_snapshots_are_what_fewer_rounds_give(wine):
    options = {"C": 1e4, "solver": "fcd", "tau_max": 2, "eps": 0.1, "random_state": 3}
    whole = trials.generate(wine, POINTS, **options)
    for place, T in enumerate(POINTS):
        alone = trials.generate(wine, [T], **options)
        np.testing.assert_allclose(whole.snapshots[place].w, alone.snapshots[0].w, rtol=1e-12)


def test_stagewise_fit_is_coordinate_descent_with_one_iteration(wine):
    own = trials.generate_stagewise(wine, [6], 1e8)
    model = MultiBoost(1e8, 6, solver="fcd", tau_max=1, tol=None).fit(wine.X, wine.labels)
    scores = model.decision_function(wine.X_test)
    np.testing.assert_array_equal(
        own.errors(wine.X_test, wine.labels_test), 100 * np.mean(scores.argmax(axis=1) != wine.labels_test)
    )
    np.testing.assert_allclose(own.snapshots[-1].w.sum(), np.abs(model.coef_).sum(), rtol=1e-6)


def test_boosters_are_the_estimators(wine):
    for name, model in (("Ada.MH", AdaBoostMH(8)), ("Ada.MO", AdaBoostMO(8))):
        fitted = trials.boost(name, wine, POINTS, "one-against-all", np.random.default_rng(0))
        staged = [
            100 * np.mean(p != wine.labels_test)
            for p in model.fit(wine.X, wine.labels).staged_predict(wine.X_test)
        ]
        np.testing.assert_allclose(
            fitted.errors(wine.X_test, wine.labels_test), [staged[T - 1] for T in POINTS]
        )


def test_a_limit_ends_a_fit_and_its_curve_stays_where_it_was(wine):
    fitted = trials.generate(wine, POINTS, C=1e3, limit=0.0)
    assert fitted.rounds == 1
    assert len({entry.seconds for entry in fitted.snapshots}) == 1
    boosted = trials.boost("Ada.MO", wine, POINTS, "one-against-all", None, limit=-1.0)
    assert boosted.rounds < max(POINTS)


def test_weights_of_equal_stumps_are_one_weight_and_dust_is_none():
    outputs, w = np.array([0, 0, 1]), np.array([0.5, 1e-9, 1.0])
    fitted = trials.Fitted(None, ["a", "b", "a"], outputs, 2, [trials.Snapshot(w, 0, 0, 0)], 1)
    assert (fitted.learners[0], fitted.active[0]) == (3, 2)
    again = trials.Fitted(None, ["a", "a", "b"], outputs, 2, [trials.Snapshot(w, 0, 0, 0)], 1)
    assert (again.learners[0], again.active[0]) == (2, 2)


def test_search_takes_the_smallest_of_equals():
    made = SimpleNamespace(X_test=None, labels_test=None)
    errors = {1.0: 5.0, 10.0: 4.0, 100.0: 4.0}
    fit = lambda data, C, points: SimpleNamespace(errors=lambda X, y: [errors[C]])  # noqa: E731
    assert trials.select_by_holdout(fit, made, list(errors), 7) == 10.0


def test_every_set_has_its_data():
    assert set(PAPER_SETS) <= set(STORED)
    assert set(PAPER_SETS) <= set(N_CLASSES)
    assert set(paper.datasets) == set(STORED)


def test_tiny_run_from_end_to_end(tiny_root):
    study = Study("lin2012", "smoke", tiny_root)
    for exhibit in ("theorems", "optimum", "figure6", "stopping"):
        assert study.evidence(exhibit).complete, exhibit
    optimum = study.evidence("optimum")
    for C in (100, 1000):
        objective, gap = (
            optimum.array(metric, methods=(f"CW, C = {C}", f"MultiBoost, C = {C}"))[0, 0]
            for metric in ("objective", "gap")
        )
        assert gap.max() <= 1e-4
        assert objective[0] == pytest.approx(objective[1], rel=1e-4)
    excess = study.evidence("figure6").curves("excess", dataset="wine", method="Newton")
    assert excess.max() < 1e-3
