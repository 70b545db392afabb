"""Splits and scalings: functions of names, disjoint, complete; statistics of the training rows only."""

import subprocess
import sys

import numpy as np
import pytest

from kernsemble.data.scaling import fill_missing, scale_to_unit_range, varying_columns, zscore
from kernsemble.data.splits import (
    generator_from_names,
    official_split,
    random_folds,
    random_parts,
    random_split,
    split_per_class,
)


def test_generators_depend_on_names_alone():
    drawn = generator_from_names("a", 1).random(3)
    np.testing.assert_array_equal(drawn, generator_from_names("a", "1").random(3))
    for other in (("a", 2), ("a1",), ("a", 1, ""), (1, "a")):
        assert not np.array_equal(drawn, generator_from_names(*other).random(3))


def test_splits_are_the_same_in_another_process_with_another_hash_seed():
    code = (
        "from kernsemble.data.splits import random_split; print(random_split(9, 4, 'p', 'd', 0)[0].tolist())"
    )
    environment = {"PYTHONHASHSEED": "123"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == str(random_split(9, 4, "p", "d", 0)[0].tolist())


def test_the_first_split_is_pinned():
    """A change of the generator would silently change every experiment: this number stops it."""
    assert random_split(10, 5, "pinned", 0)[0].tolist() == PINNED_SPLIT


PINNED_SPLIT = [6, 5, 9, 0, 1]


def test_parts_are_disjoint():
    parts = random_parts(50, [5, 10, 20], "x")
    assert [len(part) for part in parts] == [5, 10, 20]
    assert len(np.unique(np.concatenate(parts))) == 35


def test_split_covers_all_rows_and_differs_by_trial():
    train, test = random_split(40, 0.75, "x", 0)
    assert len(train) == 30
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(40))
    assert set(train) != set(random_split(40, 0.75, "x", 1)[0])


def test_per_class_counts():
    y = np.repeat([0, 1, 2], [10, 20, 30])
    train, test = split_per_class(y, 8, "x")
    assert np.bincount(y[train]).tolist() == [8, 8, 8]
    assert np.bincount(y[test]).tolist() == [2, 12, 22]
    assert not set(train) & set(test)


@pytest.mark.parametrize("stratified", [True, False])
def test_folds_are_even(stratified):
    y = np.repeat([0, 1, 2], [11, 7, 24])
    folds = random_folds(y, 5, "x", stratified=stratified)
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 1
    if stratified:
        for label in range(3):
            counts = np.bincount(folds[y == label], minlength=5)
            assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(
    ("function", "arguments", "said"),
    [
        (generator_from_names, (), "names must not be empty"),
        (random_parts, (50, [30, 30], "x"), "sizes must be"),
        (random_parts, (50, [-1, 3], "x"), "sizes must be"),
        (random_split, (40, 0, "x"), "train_size"),
        (random_split, (40, 40, "x"), "train_size"),
        (random_split, (40, 1.0, "x"), "train_size"),
        (split_per_class, (np.repeat([0, 1], 10), 11, "x"), r"\[1, 10\]"),
        (random_folds, (np.zeros(9), 1, "x"), "n_folds"),
        (official_split, (None,), "no official parts"),
    ],
)
def test_what_cannot_be_split_is_refused(function, arguments, said):
    with pytest.raises(ValueError, match=said):
        function(*arguments)


def test_zscore_uses_the_reference_and_ddof(rng):
    X = rng.standard_normal((30, 4)) * [1, 10, 0, 3] + 5
    Z = zscore(X, X[:20])
    np.testing.assert_allclose(Z[:20, [0, 1, 3]].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Z[:20, [0, 1, 3]].std(axis=0, ddof=1), 1)
    assert (Z[:, 2] == 0).all()
    assert not np.allclose(Z[20:, 0].mean(), 0, atol=1e-3)
    assert X[0, 2] == 5


def test_range_uses_the_reference(rng):
    X = np.column_stack([rng.uniform(3, 9, 40), np.full(40, 2.0)])
    Z = scale_to_unit_range(X, X[:25])
    assert Z[:25, 0].min() == -1.0
    assert Z[:25, 0].max() == 1.0
    assert (Z[:, 1] == 0).all()
    low, high = X[:25, 0].min(), X[:25, 0].max()
    np.testing.assert_allclose(Z[:, 0], (X[:, 0] - low) / (high - low) * 2 - 1, atol=1e-12)


def test_scalings_accept_bytes_and_missing_cells():
    pixels = np.array([[0, 10], [200, 10], [250, 10]], dtype=np.uint8)
    np.testing.assert_allclose(scale_to_unit_range(pixels), [[-1.0, 0], [0.6, 0], [1.0, 0]], atol=1e-12)
    votes = np.array([[0.0, 1.0], [1.0, np.nan], [np.nan, 0.0]])
    filled = fill_missing(scale_to_unit_range(votes))
    assert filled.tolist() == [[-1, 1], [1, 0], [0, -1]]
    assert np.isnan(votes).sum() == 2
    assert varying_columns(votes).all()
