"""lin2012: its solvers side by side, its theory, other losses, trees, and what lies beyond the paper."""

import math

import numpy as np
import pytest

from kernsemble.masters.exponential import Exponential
from kernsemble.trials.trial import Trial
from lin2012 import theory, trials

POINTS = [1, 3, 8]


def make_trial(dataset, method="CW", exhibit="figure1"):
    return Trial("lin2012", exhibit, dataset, method, 0)


@pytest.fixture(scope="module")
def wine():
    return trials.draw(make_trial("wine"))


def test_excess_is_zero_for_an_exact_fit_and_positive_for_a_rough_one(wine):
    exact = trials.generate(wine, POINTS, C=1e4, tol=1e-7)
    rough = trials.generate(wine, POINTS, C=1e4, solver="fcd", tau_max=1, random_state=0)
    places = [0, 1, 2]
    assert theory.certified(wine, exact, places, 1e4, 1e-6).max() < 1e-6
    assert theory.certified(wine, rough, places, 1e4, 1e-6)[1:].min() > 1e-4


def test_races_bring_each_round_to_its_optimum(wine):
    columns, optima = theory.generated_columns(wine, 1e4, 5)
    assert (np.diff(optima) < 0).all()
    for method in ("Newton", "L-BFGS-B", "FCD"):
        master = theory.racer(method, wine.labels, 1e4, 1e-3)
        assert math.isfinite(theory.race(master, columns, optima, 1e-3, 60.0))
        assert master.state.objective <= (1 + 1.001e-3) * optima[-1]
    late = theory.racer("FCD", wine.labels, 1e4, 1e-3)
    assert math.isinf(theory.race(late, columns, optima, 1e-3, -1.0))


@pytest.mark.parametrize("method", theory.PICKS)
def test_picks_settle_every_coordinate(wine, method):
    columns, _ = theory.generated_columns(wine, 1e3, 2)
    state = Exponential(wine.labels, 1e3).state
    order = np.concatenate([state.append(column, np.array([k])) for new in columns for column, k in new])
    count = theory._settle(state, order, method, 0.01, 10_000, np.random.default_rng(0))
    assert len(order) <= count < 10_000
    assert state.violations(state.scores()).max() <= 0.01


def test_constraint_3c_cuts_the_optimum_off_where_margins_are_negative():
    values = {"dual_points": 22, "dual_rounds": 2, "dual_C": 20.0}
    found = theory.duality(make_trial("VOWEL", "(2) and (3)", exhibit="theorems"), **values)
    assert found["duality"] < 1e-6
    assert found["excess_3c"] > 0.1
    assert found["share_3c"] > 0.1
    assert found["loss_3c"] > 1e-3


def test_printed_step_ends_the_learning_of_a_separated_class():
    iris = trials.draw(make_trial("iris"))
    exact, perfect, frozen = theory.stagewise(iris, 5, 1e8, exact=True)
    assert perfect[0] == (0, 0)  # the first class is separated at once
    assert frozen == 0
    assert np.isfinite(exact.snapshots[0].w).all()
    assert exact.snapshots[0].w.max() < 30
    _, _, frozen = theory.stagewise(iris, 5, 1e8, exact=False)
    assert frozen == 1


def test_steps_12_and_13_agree_for_a_large_c():
    assert theory.step_of(3.0, 2.0, 1e-9, True) == pytest.approx(theory.step_of(3.0, 2.0, 0.0, False))


@pytest.mark.parametrize("per_class", [True, False])
def test_against_the_rest_every_class_solves_its_own_problem(wine, per_class):
    fitted = trials.against_rest(wine, POINTS, 1e3, per_class=per_class, tol=1e-6)
    errors = fitted.errors(wine.X_test, wine.labels_test)
    assert errors[-1] < 15 < errors[0] + 15
    H = fitted.hypotheses.outputs(wine.X).astype(float)
    w, objective = fitted.snapshots[-1].w, 0.0
    for k in range(3):
        own = fitted.outputs == k
        signs = np.where(wine.labels == k, 1.0, -1.0)
        objective += w[own].sum() + 1e3 * np.mean(np.exp(-signs * (H[:, own] @ w[own])))
    assert fitted.path("objective")[-1] == pytest.approx(objective, rel=1e-9)


def test_trees_of_depth_one_are_no_better_than_stumps(wine):
    V = Exponential(wine.labels, 1.0).pricing_weights()
    stumps = trials.TimedStumps(wine.X).best(V)
    shallow = trials.TreeOracle(wine.X, 1)
    for k, (tree, stump) in enumerate(zip(shallow.best(V), stumps, strict=True)):
        assert tree.score <= stump.score + 1e-9
        assert tree.score == pytest.approx(V[:, k] @ tree.column)
    H = shallow.collect([2, 0]).outputs(wine.X)
    assert H.shape == (len(wine.X), 2)
    deep = trials.TreeOracle(wine.X, 2).best(V)
    assert all(d.score >= t.score - 1e-9 for d, t in zip(deep, shallow.best(V), strict=True))


def test_equal_numbers_of_leaves():
    for method in trials.MODERN[1:]:
        trees = trials.make_trees(make_trial("wine", method, exhibit="modern"), 31, 0.1)
        each = int(method.split()[1])
        n = getattr(trees, "n_estimators", None) or trees.max_iter
        assert n * each == 62


def test_parts_grow_and_keep_the_shares_of_classes(wine):
    parts = list(trials.growing_parts(make_trial("wine"), wine, [0.1, 0.5, 1.0]))
    rows = [{tuple(x) for x in part.X} for part in parts]
    assert rows[0] < rows[1] < rows[2]
    np.testing.assert_array_equal(
        np.bincount(parts[1].labels), np.ceil(0.5 * np.bincount(wine.labels)).astype(int)
    )
    assert len(parts[2].labels) == len(wine.labels)


def test_without_a_limit_both_solvers_end_at_the_same_optimum():
    found = theory.unlimited(
        make_trial("wine", exhibit="unlimited"), checkpoints=[1, 20, 100], figure6_C=100.0
    )
    rounds = {method: row["rounds"] for method, row in found.items()}
    assert max(rounds.values()) < 100  # no stump is missing any more
    objectives = [row["objective"] for row in found.values()]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-3)
