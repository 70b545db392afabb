"""The statistics agree with scipy and statsmodels' definitions on small examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kernsemble.report.comparisons import (
    best_methods,
    bootstrap_probability,
    holm,
    mean_and_spread,
    paired_p_value,
    significant,
    z_score,
)


def test_z_of_numbers_without_spread():
    assert z_score(3.0, 3.0, 0, 0) == 0
    assert z_score(3.0, 4.0, 0, 0) == -math.inf
    assert z_score(15.0, 16.0, 0.3, 0.4) == pytest.approx(-2)


def test_paired_p_value_is_that_of_the_t_test(rng):
    first, second = rng.normal(size=20), rng.normal(0.3, size=20)
    assert paired_p_value(first, second) == pytest.approx(stats.ttest_rel(first, second).pvalue, rel=1e-10)


def test_paired_p_value_of_degenerate_samples():
    same = np.ones(5)
    assert paired_p_value(same, same) == 1
    assert paired_p_value(same, same + 1) == 0
    assert paired_p_value(np.ones(1), np.zeros(1)) == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_as_its_definition_says(p_values):
    p_values, alpha = np.array(p_values), 0.05
    rejected = np.zeros(len(p_values), dtype=bool)
    for step, i in enumerate(np.argsort(p_values, kind="stable")):
        if p_values[i] * (len(p_values) - step) > alpha:
            break
        rejected[i] = True
    np.testing.assert_array_equal(holm(p_values) <= alpha, rejected)


def test_best_methods(rng):
    noise = rng.normal(0, 0.1, size=(50, 1))
    errors = noise + np.array([1.0, 1.001, 2.0, 0.2]) + rng.normal(0, 0.05, size=(50, 4))
    errors[:, 1] = errors[:, 0]
    assert best_methods(errors).tolist() == [False, False, False, True]
    assert best_methods(errors[:, :3]).tolist() == [True, True, False]
    assert best_methods(errors, higher=True).tolist() == [False, False, True, False]
    assert best_methods(errors[:, :1]).tolist() == [True]


def test_bootstrap_is_paired_within_an_array_and_separate_between(rng):
    base = rng.normal(size=(40, 1))
    errors = base + np.array([0, 0.01])
    assert bootstrap_probability(errors, lambda e: (e[:, 0] < e[:, 1]).all()) == 1
    apart = bootstrap_probability((errors[:, 0], errors[:, 1]), lambda a, b: a.mean() < b.mean())
    assert 0.2 < apart < 0.8
    again = bootstrap_probability((errors[:, 0], errors[:, 1]), lambda a, b: a.mean() < b.mean())
    assert apart == again


@pytest.mark.parametrize(
    ("number", "text"), [(0.0, "0"), (99.996, "100.00"), (1e-5, "0.00001000"), (float("inf"), "inf")]
)
def test_significant_digits(number, text):
    assert significant(number) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((2.8571, 0.0412), "2.857 ± 0.041"),
        ((2.8571, 0.0412, 2), "2.86 ± 0.04"),
        ((123.4, 5.67), "123.4 ± 5.7"),
        ((5.0, float("nan")), "5.0"),
        ((0.0, 0.0), "0"),
        ((1234.0, 45.6, 0), "1234 ± 46"),
        ((2.14e-15, 3.3e-16), "2.1e-15 ± 3e-16"),
        ((-1.3e-6, 0.0), "-1.3e-06"),
    ],
)
def test_mean_and_spread(arguments, text):
    assert mean_and_spread(*arguments) == text
