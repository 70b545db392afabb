"""Randomness comes from names alone."""

import subprocess
import sys

import numpy as np
import pytest

from kernsemble.trials.trial import Trial

TRIAL = Trial("linli2005", "table1", "sonar", "SVM-Stump", 3)


def test_shared_generators_agree_over_methods_and_exhibits_only():
    same = Trial("linli2005", "table2", "sonar", "SVM-Perc", 3)
    draw = TRIAL.shared_rng("split").random(3)
    np.testing.assert_array_equal(draw, same.shared_rng("split").random(3))
    for other in (
        Trial("linli2005", "table1", "sonar", "SVM-Stump", 4),
        Trial("linli2005", "table1", "heart", "SVM-Stump", 3),
        Trial("guo2017", "table1", "sonar", "SVM-Stump", 3),
    ):
        assert not np.array_equal(draw, other.shared_rng("split").random(3))
    noisy = Trial("linli2005", "table1", "sonar-n", "SVM-Stump", 3)
    np.testing.assert_array_equal(draw, noisy.shared_rng("split", dataset="sonar").random(3))


@pytest.mark.parametrize(
    "other",
    [
        Trial("linli2005", "table1", "sonar", "SVM-Stump", 4),
        Trial("linli2005", "table2", "sonar", "SVM-Stump", 3),
        Trial("linli2005", "table1", "sonar", "SVM-Perc", 3),
    ],
)
def test_own_generators_belong_to_one_trial(other):
    assert TRIAL.seed() != other.seed()
    assert not np.array_equal(TRIAL.rng().random(3), other.rng().random(3))


def test_streams_are_independent_and_names_do_not_run_together():
    assert len({TRIAL.seed(), TRIAL.seed("a"), TRIAL.seed("b"), TRIAL.seed("a", "b"), TRIAL.seed("ab")}) == 5
    left = Trial("p", "e", "ab", "c", 0)
    right = Trial("p", "e", "a", "bc", 0)
    assert left.seed() != right.seed()
    assert 0 <= TRIAL.shared_seed("x") < 2**31


def test_seeds_are_the_same_in_another_process():
    code = (
        "from kernsemble.trials.trial import Trial;"
        "print(Trial('linli2005', 'table1', 'sonar', 'SVM-Stump', 3).seed('a'))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(other.stdout) == TRIAL.seed("a")
