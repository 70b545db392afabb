"""shen2014: its trials, on few rounds."""

import numpy as np
import pytest

from kernsemble.trials.trial import Trial
from shen2014 import classes, theory, trials
from shen2014.trials import Cosines, Perceptrons, Selection, Widths


def make_trial(dataset, method="CGENS", number=0, exhibit="table1"):
    return Trial("shen2014", exhibit, dataset, method, number)


def test_splits_of_our_own_are_those_of_the_tables_for_the_same_number():
    trial = make_trial("heart", "stump:SVM", exhibit="draws")
    found = trials.machine_draws(trial, n_draws=2, n_folds=5, log2_C_stump=[-6, -4], log2_C_perceptron=[-6])
    alone = trials.stump_machine(make_trial("heart", "SVM"), n_folds=5, log2_C_stump=[-6, -4])
    assert found["errors"][0] == alone["error"]
    assert found["errors"].shape == (2,)


def test_draws_and_tables_select_alike_on_the_same_split():
    """Thyroid has no official splits, so trial 0 of the table is the first of the twenty."""
    selection, rules = Selection(2, [3, 6]), {"log2_C": [-6, -2], "tol": 0.01}
    twenty = trials.cgens_draws(
        make_trial("thyroid", "stump:CGENS", exhibit="draws"),
        n_draws=2,
        selection=selection,
        perceptrons=Perceptrons("once", 50, "ball"),
        **rules,
    )
    table = trials.cgens_stumps(make_trial("thyroid"), selection=selection, **rules)
    assert (twenty["C"], twenty["rounds"]) == (table["C"], table["rounds"])
    assert twenty["errors"][0] == table["error"]
    assert table["by_calls"].shape == (2,)


def test_pools_give_one_curve_a_method():
    trial = make_trial("heart", "perceptrons ball fresh", exhibit="pools")
    found = trials.pools(
        trial, pool_size=40, log2_C_pools={"CGENS": -4, "LPBoost": -4}, rounds=[2, 5], tol=0.01
    )
    assert list(found) == ["AdaBoost", "LPBoost", "CGENS"]
    assert all(0 < errors.max() < 60 and errors.shape == (2,) for errors in found.values())


def test_width_ties_are_broken_as_said():
    correct, gammas = np.array([[8, 9], [9, 8]]), [1.0, 2.0]  # gammas x Cs
    assert trials.first_width(correct, gammas, "C first") == 2.0
    assert trials.first_width(correct, gammas, "width first") == 1.0


def test_one_picture_a_class_the_strongest_first():
    strength, y = np.array([0.1, 0.9, 0.5, 0.7, -1.0]), np.array([0, 0, 1, 1, 2])
    assert classes._one_a_class(strength, y, 2).tolist() == [1, 3]


@pytest.mark.parametrize(("method", "n_kernels"), [*zip(trials.MIXTURES, (1, 2, 12), strict=True)])
def test_mixtures_share_out_all_weight(method, n_kernels):
    found = trials.multiple_kernels(
        make_trial("thyroid", method),
        n_folds=2,
        cosines=Cosines(pool_size=60, log2_C_cosines=[-4]),
        widths=Widths([1], [-5, -1], "C first"),
        tol=0.01,
        n_cosines=10,
    )
    assert found["share"].sum() == pytest.approx(1.0)
    assert 1 <= found["kernels"] <= n_kernels
    assert found["problems"] == (6 if method.startswith("width") else 2)


def test_prediction_times_a_machine_and_an_ensemble_of_growing_size():
    options = {"n_evaluated": 100, "log2_C_stump": [-4], "n_folds": 2, "log2_C_gauss": [1]}
    machine = trials.machine_prediction(make_trial("german", "stump machine"), **options)
    assert 0 < machine["size"] <= 700
    options = {"n_folds": 2, "n_evaluated": 100, "sizes": [3, 6], "log2_C": [-4], "tol": 0.01}
    ensemble = trials.ensemble_prediction(
        make_trial("german", "CGENS, 500 stumps"), pool_size=60, log2_C_cosines=[-4], **options
    )
    assert ensemble["size"] == 6
    assert ensemble["curve"].shape == ensemble["seconds_curve"].shape == (2,)
    assert ensemble["error"] == ensemble["curve"][-1]


@pytest.mark.parametrize("reading", classes.READINGS[2:])
def test_readings_of_vowel_run(reading):
    found = classes.readings(
        make_trial("vowel", reading), n_folds=2, n_columns=5, pool_size=50, log2_C_vowel=[-3]
    )
    assert 0 < found["error"] < 100 * 10 / 11  # ten of eleven classes are wrong by chance


@pytest.mark.parametrize("rival", classes.RIVALS)
def test_rivals_see_the_rows_of_the_reading(rival):
    trial = make_trial("vowel", rival)
    first, second = classes._split(trial), classes._split(make_trial("vowel", "500 stumps, 528 rows"))
    assert len(first.y) == 396
    np.testing.assert_array_equal(first.X_test, second.X_test)
    found = classes.rivals(trial, n_columns=50, coloring="random")
    assert 0 < found["error"] < 70


def test_toy_classes_are_balanced_and_spam_is_split_three_to_two():
    data = trials.toy_draw(make_trial("toy"), 50, 20_000)
    assert abs(data.y_test.mean()) < 0.05
    drawn = trials.spam_draw(make_trial("spam"))
    assert (len(drawn.y), len(drawn.y_test)) == (2761, 1840)


def test_multiclass_methods_learn_iris():
    data = classes.multiclass_draw(make_trial("iris"))
    assert len(data.y) == 112
    random = np.random.default_rng(0)
    rounds = [1, 30]
    fits = {
        "AdaBoost.ECC": classes.boost_classes("AdaBoost.ECC", data, rounds, "random", random),
        "AdaBoost.MH": classes.boost_classes("AdaBoost.MH", data, rounds, "random", random),
        "MultiBoost": classes.fit_multiboost(data, 1e3, rounds, tol=1e-2),
        "CGENS-SLS": classes.fit_simplex(data, 0.1, rounds, tol=1e-2),
    }
    for method, fitted in fits.items():
        curve = classes.errors_of(fitted, data.X_test, data.y_test)
        assert curve[-1] < 15 < curve[0], method
        assert (np.diff(fitted[2].at(rounds)) >= 0).all()


def test_gap_is_half_the_squares_and_the_largest_term_need_not_be_the_best():
    found = theory.gap_decrease(make_trial("heart"), n_candidates=40, n_steps=4, C=0.1)
    assert found["identity"] < 1e-6
    assert found["negation"] == 0
    assert found["rank"].min() >= 1
    greedy = theory.gap_decrease(make_trial("heart", "largest decrease"), n_candidates=40, n_steps=4, C=0.1)
    assert greedy["objective"][0] <= found["objective"][0] * (1 + 1e-9)
