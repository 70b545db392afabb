"""bi2004: the stops of a run, and every kind of trial with few examples and rounds."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.trials.registry import load_paper
from kernsemble.trials.trial import Trial
from bi2004 import draws, forest, levels, runs, small
from bi2004.kernels import Forms, make_library, model_scores
from bi2004.runs import Rules
from bi2004.sets import ALL_FOREST, TARGET

pytestmark = pytest.mark.filterwarnings("ignore:.* rounds with a relative duality gap")  # their protocol
paper = load_paper("bi2004")
ROOT = Path(__file__).parents[2]
FORMS = Forms("per feature", "(1 + xz/d)^2")


@pytest.fixture
def classes(rng):
    X = rng.standard_normal((50, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(50) > 1, 1.0, -1.0)


def test_patience_keeps_the_best_round_and_stops_after_waiting():
    losses = np.array([0.5, 0.4, 0.45, 0.4, 0.3, 0.35, 0.36])
    assert runs.patient_rounds(losses, 2) == (2, 4)
    assert runs.patient_rounds(losses, 3) == (5, 7)
    assert runs.patient_rounds(losses[:1], 3) == (1, 1)


def test_reading_tr3_afterwards_is_stopping_with_it(classes):
    X, y = classes
    options = {"C": 10.0, "n_rounds": 60, "tol": 1e-6}
    long = CGBoostClassifier(["linear", "rbf"], **options).fit(X[:35], y[:35], X_val=X[35:], y_val=y[35:])
    stopped = CGBoostClassifier(["linear", "rbf"], termination="TR3", patience=4, **options)
    stopped.fit(X[:35], y[:35], X_val=X[35:], y_val=y[35:])
    used, last = runs.rounds_of_rules(long, 4)["TR3"]
    assert (used, last) == (stopped.best_round_, stopped.n_rounds_)
    w, b = runs.weights_after(long, used)
    np.testing.assert_allclose(w[: len(stopped.coef_)], stopped.coef_, atol=1e-9)
    assert b == pytest.approx(stopped.intercept_)


def test_what_a_run_says_of_itself(classes):
    X, y = classes
    data = draws.Draw(X[:30], y[:30], X[30:40], y[30:40], X[40:], y[40:])
    rules = Rules("free", 1e-6, 1e-6, 5, 60)
    model = runs.fit_run(make_library(["linear+rbf"], FORMS), data, 10.0, "2-norm", rules)
    found = runs.describe_run(model, data, 10.0, 5)
    assert set(found) <= set(paper.exhibits["table3"].columns)
    assert found["linear_end"] == found["rbf_end"] == model.n_rounds_
    assert found["quadratic_end"] == 0
    assert found["error_end"] == 10.0 * np.sum(model.predict(X[40:]) != y[40:])
    curves = runs.read_curves(model, data, 8)
    assert curves["curve_test"][-1] == found["error_end"]
    assert curves["curve_train"][-1] == found["train_error_end"]
    assert set(curves) | set(found) <= set(paper.exhibits["table4"].columns)


def test_losses_may_be_averaged_and_classes_may_weigh_the_same(classes):
    X, y = classes
    kernels = [kernel.resolve(X) for kernel in make_library(["linear"], FORMS)]

    def scores(name, C):
        (model,) = small.complete_models(small.LOSSES[name], kernels, X, y, [C])
        return model_scores(kernels, X, model, X)

    np.testing.assert_allclose(scores("free, C / n", 50.0), scores("free", 1.0), atol=1e-6)
    free, balanced = (small.rates(scores(name, 1.0), y) for name in ("free", "free, balanced"))
    assert np.mean(y > 0) < 0.5
    assert balanced[1] < free[1]  # the rare class is missed less often


def test_every_loss_is_a_declared_alternative():
    declared = yaml.safe_load((ROOT / "params.yaml").read_text())["bi2004"]["choices"]["offset"]
    assert declared["explored"] == list(paper.methods("offset")) == list(small.LOSSES)


def test_rates_are_shares_of_the_classes():
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    assert small.rates(np.array([1.0, -1.0, 1.0, -1.0, -1.0, -1.0]), y) == (25.0, 50.0)


TINY = {
    "sizes": {"train": 40, "validation": 30, "test": 50},
    "scaling": "all rows",
    "digits_task": "odd",
    "linear_form": FORMS.linear_form,
    "quadratic_form": FORMS.quadratic_form,
    "offset": "free",
    "tau": 1e-6,
    "gap": 0.01,
    "patience": 5,
    "Cs": [1.0, 10.0],
    "n_rounds": 25,
    "n_points": 6,
    "figure4_rounds": 10,
    "patiences": [2, 5],
    "growth_C": 1.0,
    "growth_tau": 0.01,
    "growth_rounds": 20,
    "coarse_rounds": 200,
    "target_sizes": {"train": 20, "validation": 20, "test": 50},
    "target_sigma": 0.25,
    "target_noise": 0.1,
    "target_epsilon": 0.1,
    "target_Cs": [1.0, 10.0],
    "levels_gap": 0.01,
    "excesses": [0.1, 0.0],
    "forest_C": 1.0,
    "forest_tau": 0.01,
    "forest_coarse_tau": 1.0e6,
    "forest_centers": 20,
    "forest_rounds": 10,
}


def tiny(exhibit, label, method):
    """Compute one trial with few examples and rounds; its metrics must be declared."""
    function = next(f for f in paper.functions[exhibit] if method in f.methods and label in f.datasets)
    names = Trial("bi2004", exhibit, label, function.name if function.together else method, 0)
    found = function.compute(names, {name: TINY[name] for name in function.parameters})
    assert set(found[method] if function.together else found) <= set(paper.exhibits[exhibit].columns)
    return found


@pytest.mark.parametrize(
    ("exhibit", "method"),
    [
        ("table3", "2-norm/L,Q,R"),
        ("table3", "1-norm/L+Q+R"),
        ("figure3", "regular"),
        ("figure4", "C = 100"),
        ("tolerance", "tau = 0.1"),
        ("readings", "both: raw"),
        ("readings", "scaling: training rows"),
    ],
)
def test_trials_on_forest_give_finite_numbers(exhibit, method):
    found = tiny(exhibit, "Forest", method)
    assert all(np.all(np.isfinite(value)) for value in found.values())
    errors = [value for name, value in found.items() if name.startswith("error_")]
    assert all(0.0 < error < 60.0 for error in errors)


def test_mixtures_and_rivals_share_a_draw():
    found = tiny("modern", "Forest", "1-norm mixture")
    assert set(found) == set(paper.methods("modern"))
    trees = found["boosting, equal cost"]["operations"]
    assert trees == pytest.approx(found["1-norm mixture"]["operations"], abs=5.0)
    assert all(0.0 < numbers["error"] < 60.0 for numbers in found.values())


def test_growth_reads_every_patience():
    found = tiny("table5", "n=1000", "C / n, tau * n")
    assert len(found["iterations"]) == 2
    assert found["iterations"][0] <= found["iterations"][1] <= 20


def test_a_coarse_tolerance_ends_a_run_before_its_last_round():
    found = tiny("coarse", "n=1000", "tau = 10")
    assert 0 < found["first_full_scan"] <= found["rounds"] < 120
    assert found["linear"] + found["quadratic"] + found["rbf"] <= found["rounds"]


def test_levels_are_read_along_one_run(classes):
    X, y = classes
    model = CGBoostClassifier(["linear", "rbf"], 1.0, n_rounds=100, tol=1e-3).fit(X, y)
    found = levels.read_levels(model, [0.5, 0.1, 0.01, 0.0], lambda w, b: np.count_nonzero(w))
    np.testing.assert_array_equal(found["error"], found["columns"])
    assert (np.diff(found["columns"]) >= 0).all()
    assert found["columns"][-1] == np.count_nonzero(model.coef_)
    t = int(found["columns"][1])
    last = model.objective_path_[-1]
    assert model.objective_path_[t - 1] <= 1.1 * last < model.objective_path_[t - 2]


def test_levels_of_the_target_use_the_points_of_figure1():
    found = tiny("levels", TARGET, "mixture")
    figure1 = tiny("figure1", TARGET, "2-norm/mixture")
    assert found["error"][-1] == pytest.approx(figure1["rmse"])
    assert found["columns"][-1] == figure1["columns"]


def test_all_of_forest_on_a_part_of_it(monkeypatch):
    monkeypatch.setattr(forest, "_ALL", 400)
    found = tiny("forest", ALL_FOREST, "stratified")
    assert found["n_train"] == 320
    assert 0 < found["linear"] + found["quadratic"] + found["rbf"] <= 10
    coarse = tiny("forest", ALL_FOREST, "stratified, coarse")
    assert coarse["linear"] + coarse["quadratic"] + coarse["rbf"] == 0  # nothing scores a million
