"""guo2017: its data, its readings of the protocol, and a tiny run from end to end."""

import numpy as np
import pytest

from kernsemble.masters.exclusivity_alm import solve_printed_alm
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from guo2017 import trials
from guo2017.trials import TABLE_SETS


def make_draw(dataset, number=0, scaling="all rows", n_train=150):
    return trials.draw(Trial("guo2017", "table1", dataset, "L2-ExRM", number), n_train, scaling)


@pytest.mark.parametrize("name", TABLE_SETS)
def test_sets_give_150_rows_for_training_and_the_rest_for_testing(name):
    data = make_draw(name)
    sizes = {
        "german": 1000, "diabetes": 768, "australian": 690, "sonar": 208,
        "splice": 3175, "liver": 345, "heart": 270, "ionosphere": 351,
    }  # fmt: skip
    assert (len(data.y), len(data.y_test)) == (150, sizes[name] - 150)
    both = np.vstack([data.X, data.X_test])
    assert (both.min(), both.max()) == (-1.0, 1.0)
    assert set(data.y) == {-1.0, 1.0}


def test_scaling_by_training_rows_and_shares():
    data = make_draw("sonar", scaling="training rows", n_train=0.5)
    assert len(data.y) == len(data.y_test) == 104
    assert np.abs(data.X).max() == 1.0 < np.abs(data.X_test).max()


def test_other_protocols_draw_from_the_same_order():
    trial = Trial("guo2017", "halves", "sonar", "halves", 3)
    usual = trials.draw(trial, 150, "all rows")
    same = trials.draw_by(trial, trials.DrawProtocol())
    for name in ("X", "y", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(same, name), getattr(usual, name))
    fewer = trials.draw_by(trial, trials.DrawProtocol(train=0.5, test_from=150))
    np.testing.assert_array_equal(fewer.X, usual.X[:104])
    np.testing.assert_array_equal(fewer.X_test, usual.X_test)
    raw = trials.draw_by(trial, trials.DrawProtocol(scaling="none"))
    assert 0.0 <= raw.X.min() < raw.X.max() <= 1.0  # as sonar is stored


@pytest.mark.parametrize("number", range(3))
def test_stratified_halves_keep_the_shares_of_the_classes(number):
    trial = Trial("guo2017", "halves", "sonar", "halves", number)
    data = trials.draw_by(trial, trials.DrawProtocol(train=0.5, stratified=True))
    assert len(data.y) == len(data.y_test) == 104
    assert abs((data.y > 0).sum() - (data.y_test > 0).sum()) <= 1
    rows = np.vstack([data.X, data.X_test])
    assert len(np.unique(rows, axis=0)) == 208


def test_a_protocol_as_chosen_gives_the_numbers_of_table1():
    trial = Trial("guo2017", "means", "heart", "as chosen", 0)
    found = trials.means(trial, lam=2.0)
    data = make_draw("heart")
    solution = solve_printed_alm(data.X, data.y, 2.0, 10, 2)
    assert found["L2_10"] == data.error(trials.ensemble_scores(solution, data.X_test))
    assert found["rows"] == 150


def test_mishaps_do_what_they_say():
    data = make_draw("heart")
    changed = {name: spoil(data, np.random.default_rng(0)) for name, spoil in trials.MISHAPS.items()}
    assert sorted(changed["labels shuffled"].y) == sorted(data.y)
    assert (np.diff(changed["labels sorted"].y) >= 0).all()
    assert 0.2 < np.mean(changed["40 % of labels flipped"].y != data.y) < 0.6
    moved = changed["test columns moved by one"].X_test
    np.testing.assert_array_equal(moved[:, 1], data.X_test[:, 0])
    np.testing.assert_array_equal(changed["label as a feature"].X[:, 0], data.y)
    assert len(changed["15 training rows"].y) == 15
    assert set(changed["15 training rows"].y) == {-1.0, 1.0}


@pytest.mark.parametrize("name", TABLE_SETS)
def test_first_rows_hold_both_classes_and_no_test_rows(name):
    data = trials._first_rows(150, Trial("guo2017", "trees", name, "first rows", 0))
    assert len(data.y) == 150
    assert set(data.y) == {-1.0, 1.0}
    assert len(data.y) + len(data.y_test) == len(make_draw(name).y) + len(make_draw(name).y_test)


def test_tiny_run_from_end_to_end(tiny_root):
    study = Study("guo2017", "smoke", tiny_root)
    exhibits = [name for name in study.exhibits if name not in ("figure1", "modern", "multiclass", "table2")]
    for exhibit in exhibits:
        assert study.evidence(exhibit).complete, exhibit
    theorems = study.evidence("theorems")
    gap, spread, ratio = (theorems.array(name)[0, 0] for name in ("gap", "spread", "loss_ratio"))
    by_name = dict(zip(theorems.methods, gap, strict=True))
    assert abs(by_name["L2 exact"]) < 1e-9
    assert by_name["L2 two blocks"] < 1e-5 < 1e-2 < by_name["L2 tight stop"]
    assert spread[theorems.methods.index("L2 printed")] < 1e-9
    assert (ratio <= 1 + 1e-9).all()
    path = study.evidence("path").curves("error", dataset="heart", method="L2")[0]
    table = study.evidence("table1").sample("exact_10", dataset="heart", method="L2-ExRM")
    assert path[study.protocol("path")["ratios"].index(0.2)] == table.mean
