"""Stage-wise boosting: the exact step, slow twins of the update rules, and scikit-learn's loop as a judge."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.ensemble import AdaBoostClassifier

from kernsemble import AdaBoost
from kernsemble.boosting.codes import COLORINGS, all_colorings, one_against_all, random_code
from kernsemble.boosting.stagewise import StopReason, adaboost, adaboost_ecc, adaboost_mh, adaboost_mo
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronOracle
from kernsemble.hypotheses.stumps import StumpOracle


def two_classes(rng, n=120):
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=n) > 0.5, 1.0, -1.0)


def classes(rng, n=150, K=4):
    X = rng.normal(size=(n, 3))
    labels = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n), [-0.8, 0.0, 0.8])
    return X, labels % K, rng.uniform(0.5, 2.0, n)


FAMILIES = {
    "stump": StumpOracle,
    "perceptron": lambda X: PerceptronOracle(X, n_updates=20, random_state=0),
    "fourier": lambda X: FourierPool(X, n_hypotheses=200, random_state=0),
}


@pytest.mark.parametrize("family", ["stump", "perceptron"])
def test_after_a_step_the_last_hypothesis_errs_on_half_of_the_weight(rng, family):
    X, y = two_classes(rng)
    oracle = FAMILIES[family](X)
    found = adaboost(oracle, y, range(40))
    H = oracle.collect(found.keys).outputs(X)
    for t in range(40):
        D = np.exp(-y * (H[:, : t + 1] @ found.W[: t + 1]))
        np.testing.assert_allclose(D[H[:, t] != y].sum() / D.sum(), 0.5, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_adaboost_equals_its_textbook_form(rng, family):
    X, y = two_classes(rng)
    weight = rng.uniform(0.2, 3.0, len(y))
    found = adaboost(FAMILIES[family](X), y, range(25), weight=weight)
    oracle, D, losses = FAMILIES[family](X), weight / weight.sum(), []
    margins = np.zeros(len(y))
    for t in range(25):
        candidate = oracle.best(D * y)[0]
        assert candidate.key == found.keys[t]
        error = 0.5 - 0.5 * np.sum(D * y * candidate.column)
        step = 0.5 * np.log((1 - error) / error)
        margins += step * y * candidate.column
        D *= np.exp(-step * y * candidate.column)
        D /= D.sum()
        losses.append(np.average(np.exp(-margins), weights=weight))
        np.testing.assert_allclose([found.errors[t], found.W[t]], [error, step], rtol=1e-9)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-9)
    assert (np.diff([1.0, *found.losses]) < 0).all()


def test_scikit_learn_boosts_the_same_ensemble(rng):
    """Its own stumps minimize the Gini index; given ours, its loop takes our steps (weights: twice ours)."""
    X, y = two_classes(rng)
    theirs = AdaBoostClassifier(AdaBoost(1), n_estimators=30).fit(X, y)
    ours = AdaBoost(30).fit(X, y)
    np.testing.assert_allclose(theirs.estimator_weights_, 2 * ours.weights_, rtol=1e-9)
    np.testing.assert_allclose(theirs.estimator_errors_, ours.errors_, rtol=1e-9)
    for one, feature, threshold in zip(
        theirs.estimators_, ours.hypotheses_.features, ours.hypotheses_.thresholds, strict=True
    ):
        assert one.hypotheses_.features[0] == feature
        assert one.hypotheses_.thresholds[0] == threshold
    np.testing.assert_array_equal(theirs.predict(X), ours.predict(X))


def test_ten_thousand_rounds_neither_drift_nor_underflow():
    X = np.arange(12.0)[:, None]
    y = np.where(np.arange(12) % 5 < 2, 1.0, -1.0)
    oracle = StumpOracle(X)
    found = adaboost(oracle, y, range(10_000))
    assert len(found.W) == 10_000
    margins = y * (oracle.collect(found.keys).outputs(X) @ found.W)
    assert margins.min() > 100  # exp(-margin) is far below the smallest number
    assert found.errors.max() < 0.45  # the margin is positive, so no weighting makes all stumps useless
    assert found.losses[-1] < 1e-40


def test_a_perfect_stump_counts_as_an_error_and_does_not_come_twice():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0])
    found = adaboost(StumpOracle(X), y, range(10), perfect=1e-3)
    assert found.errors.tolist() == [0.0]
    np.testing.assert_allclose(found.W, 0.5 * np.log(999))
    assert found.reason is StopReason.PERFECT_AGAIN


def test_perfect_perceptrons_go_on_coming(rng):
    X = rng.normal(size=(20, 5))
    found = adaboost(PerceptronOracle(X, random_state=0), np.sign(X[:, 0]), range(12))
    assert len(found.W) == 12
    assert (found.errors == 0).sum() > 5


def test_a_perfect_hypothesis_can_stand_alone(rng):
    X, y = two_classes(rng, 30)
    late = StumpOracle(np.hstack([X, y[:, None]]))
    late.exclude(late.best(y)[0].key)
    assert len(adaboost(late, y, range(5), perfect="alone").W) == 5
    found = adaboost(StumpOracle(np.hstack([X, y[:, None]])), y, range(5), perfect="alone")
    assert found.W.tolist() == [1.0]
    assert found.keys[0].feature == 4


def test_boosting_stops_at_chance_with_one_round_of_weight_zero():
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([1.0, -1.0, -1.0, 1.0])
    found = adaboost(StumpOracle(X), y, range(10))
    assert found.W.tolist() == [0.0]
    assert found.reason is StopReason.CHANCE


def test_an_exhausted_oracle_ends_boosting():
    X, labels = np.zeros((4, 1)), np.array([0, 1, 1, 0])
    for found in (
        adaboost(StumpOracle(X, constant=False), 2.0 * labels - 1, range(3)),
        adaboost_mo(StumpOracle(X, constant=False), labels, one_against_all(2), range(3)),
        adaboost_mh(StumpOracle(X, constant=False), labels, 2, range(3)),
        adaboost_ecc(StumpOracle(X, constant=False), labels, 2, range(3)),
    ):
        assert len(found.W) == len(found.losses) == 0
        assert found.reason is StopReason.EXHAUSTED


@pytest.mark.parametrize("perfect", [0.0, 0.5, -1.0, "alone", "maybe"])
def test_multiclass_methods_take_an_error_rate_for_perfect(perfect):
    with pytest.raises(ValueError, match="must be an error rate"):
        adaboost_mh(StumpOracle(np.eye(3)), np.arange(3), 3, range(3), perfect=perfect)


def test_mh_equals_its_textbook_form(rng):
    X, labels, weight = classes(rng)
    found = adaboost_mh(StumpOracle(X), labels, 4, range(20), weight=weight)
    oracle, Y = StumpOracle(X), np.where(labels[:, None] == np.arange(4), 1.0, -1.0)
    D = np.repeat(weight[:, None], 4, axis=1) / (4 * weight.sum())
    for t in range(20):
        candidate = oracle.best_shared(D * Y)
        assert candidate.key == found.keys[t]
        edges = (D * Y).T @ candidate.column
        r = np.abs(edges).sum()
        w = 0.5 * np.log((1 + r) / (1 - r)) * np.sign(edges)
        np.testing.assert_allclose(found.W[t], w, rtol=1e-9)
        D *= np.exp(-Y * np.outer(candidate.column, w))
        D /= D.sum()
    scores = oracle.collect(found.keys).outputs(X) @ found.W
    loss = np.average(np.exp(-Y * scores).mean(axis=1), weights=weight)
    np.testing.assert_allclose(found.losses[-1], loss, rtol=1e-9)
    assert (np.diff([1.0, *found.losses]) < 0).all()


def test_mh_works_with_oracles_that_know_no_shared_search(rng):
    X, labels, _ = classes(rng)
    found = adaboost_mh(PerceptronOracle(X, n_updates=20, random_state=0), labels, 4, range(10))
    assert (np.diff([1.0, *found.losses]) < 0).all()
    assert found.W.shape == (10, 4)


@pytest.mark.parametrize("coloring", COLORINGS)
def test_ecc_equals_its_textbook_form(rng, coloring):
    X, labels, weight = classes(rng)
    found = adaboost_ecc(
        StumpOracle(X), labels, 4, range(20), coloring=coloring, weight=weight, random_state=1
    )
    oracle, colors = StumpOracle(X), np.sign(found.W)
    own = labels[:, None] == np.arange(4)
    D = np.where(own, 0.0, weight[:, None] / (3 * weight.sum()))
    for t in range(20):
        y = colors[t][labels]
        d = np.array([D[i, colors[t] != y[i]].sum() for i in range(len(y))])
        candidate = oracle.best(d * y)[0]
        assert candidate.key == found.keys[t]
        error = d[candidate.column != y].sum() / d.sum()
        step = 0.5 * np.log((1 - error) / error)
        np.testing.assert_allclose(found.W[t], step * colors[t], rtol=1e-9)
        D *= np.exp(-0.5 * step * np.outer(candidate.column, np.ones(4)) * (y[:, None] - colors[t]))
        after = np.array([D[i, colors[t] != y[i]].sum() for i in range(len(y))])
        np.testing.assert_allclose(after[candidate.column != y].sum() / after.sum(), 0.5, atol=1e-9)
    np.testing.assert_allclose(found.losses[-1], D.sum(), rtol=1e-9)
    assert (np.diff([1.0, *found.losses]) < 0).all()


def test_mo_is_an_adaboost_for_every_column_of_the_code(rng):
    X, labels, weight = classes(rng)
    code = random_code(4, 5, 0)
    found = adaboost_mo(StumpOracle(X), labels, code, range(15), weight=weight)
    scores = StumpOracle(X).collect(found.keys).outputs(X) @ found.W
    columns = [adaboost(StumpOracle(X), code[labels, s], range(15), weight=weight) for s in range(5)]
    g = np.stack([StumpOracle(X).collect(c.keys).outputs(X) @ c.W for c in columns], axis=1)
    np.testing.assert_allclose(found.errors, np.stack([c.errors for c in columns], axis=1), rtol=1e-9)
    np.testing.assert_array_equal(scores.argmax(axis=1), (g @ code.T).argmax(axis=1))
    np.testing.assert_allclose(scores, (g @ code.T + g.sum(axis=1, keepdims=True)) / 2, atol=1e-9)


def test_with_two_classes_all_of_them_are_adaboost(rng):
    X, y = two_classes(rng)
    labels = (y > 0).astype(np.intp)
    binary = adaboost(StumpOracle(X), y, range(20))
    f = StumpOracle(X).collect(binary.keys).outputs(X) @ binary.W
    for found, scale in (
        (adaboost_mh(StumpOracle(X), labels, 2, range(20)), 2.0),
        (adaboost_ecc(StumpOracle(X), labels, 2, range(20), random_state=0), 2.0),
        (adaboost_mo(StumpOracle(X), labels, one_against_all(2), range(20)), 2.0),
    ):
        scores = StumpOracle(X).collect(found.keys).outputs(X) @ found.W
        np.testing.assert_allclose(scores[:, 1] - scores[:, 0], scale * f, atol=1e-9)


def test_codes(rng):
    np.testing.assert_array_equal(one_against_all(3), [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    code = all_colorings(4)
    assert code.shape == (4, 7)
    assert len({tuple(column) for column in code.T} | {tuple(-column) for column in code.T}) == 14
    assert not code.flags.writeable
    code = random_code(5, 40, 0)
    assert code.shape == (5, 40)
    assert (np.abs(code.sum(axis=0)) < 5).all()


def cut(between, colors):
    return between[colors[:, None] != colors].sum()


@pytest.mark.parametrize("n_classes", [2, 3, 7, 12])
def test_the_maximum_cut_is_the_maximum(rng, n_classes):
    between = rng.random((n_classes, n_classes))
    colors = COLORINGS["maxcut"](between, rng)
    best = max(cut(between, other) for other in all_colorings(n_classes).T)
    np.testing.assert_allclose(cut(between, colors), best)


def test_a_cut_of_many_classes_is_a_local_maximum(rng):
    between = rng.random((26, 26))
    colors = COLORINGS["maxcut"](between, rng)
    for k in range(26):
        changed = colors.copy()
        changed[k] *= -1
        assert cut(between, changed) <= cut(between, colors) + 1e-9


def test_half_of_the_classes_have_each_color(rng):
    for n_classes in (2, 5, 10):
        colors = COLORINGS["half"](np.zeros((n_classes, n_classes)), rng)
        assert abs(colors.sum()) == n_classes % 2


def test_unknown_colorings_are_refused():
    with pytest.raises(ValueError, match="choose one of random, half, maxcut"):
        adaboost_ecc(StumpOracle(np.eye(3)), np.arange(3), 3, range(3), coloring="gray")


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_least_edge_bounds_every_margin(rng, noise):
    """The margin LP, over all stumps that differ on the samples, against the errors of AdaBoost."""
    X = rng.normal(size=(20, 3))
    y = np.where(X.sum(axis=1) + noise * rng.normal(size=20) > 0, 1.0, -1.0)
    found = adaboost(StumpOracle(X), y, range(30))
    cuts = (X[:, None, :] >= X[None, :, :]).reshape(20, -1)
    A = y[:, None] * np.hstack([2.0 * cuts - 1.0, 1.0 - 2.0 * cuts])
    n = A.shape[1]  # maximize rho: A w >= rho, sum w = 1
    judge = linprog(
        np.append(np.zeros(n), -1.0), np.hstack([-A, np.ones((20, 1))]), np.zeros(20),
        np.append(np.ones(n), 0.0)[None], [1.0], bounds=[(0, None)] * n + [(None, None)],
    )  # fmt: skip
    margins = y * (StumpOracle(X).collect(found.keys).outputs(X) @ found.W) / found.W.sum()
    assert margins.min() <= -judge.fun + 1e-9
    assert -judge.fun <= 1 - 2 * found.errors.max() + 1e-9
