"""The benchmark's forms: sizes, scaling, and agreement with the benchmark itself where a copy is at hand."""

import numpy as np
import pytest

from kernsemble.data import DatasetUnavailable
from kernsemble.data.ida import IDA_SIZES, OFFICIAL_NAMES, ida_form, ida_split, load_official

N_FEATURES = {
    "banana": 2,
    "breast-cancer": 9,
    "diabetes": 8,
    "flare-solar": 9,
    "german": 20,
    "heart": 13,
    "image": 18,
    "ringnorm": 20,
    "splice": 60,
    "thyroid": 5,
    "titanic": 3,
    "twonorm": 20,
    "waveform": 21,
}


@pytest.mark.parametrize("name", sorted(IDA_SIZES))
def test_forms(name):
    dataset = ida_form(name)
    n_train, n_test = IDA_SIZES[name]
    assert dataset.X.shape == (n_train + n_test, N_FEATURES[name])
    assert dataset.n_classes == 2
    # banana and titanic are published z-scored, titanic with three digits.
    atol = 1e-3 if name in ("banana", "titanic") else 1e-10
    np.testing.assert_allclose(dataset.X.mean(axis=0), 0, atol=atol)
    np.testing.assert_allclose(dataset.X.std(axis=0, ddof=1), 1, atol=atol)
    train, test = ida_split(name, "paper", 0)
    assert (len(train), len(test)) == (n_train, n_test)
    assert len(np.union1d(train, test)) == n_train + n_test


def test_targets():
    assert ida_form("image").class_counts == {"rest": 990, "path+sky+foliage+brickface": 1320}
    assert ida_form("thyroid").class_counts == {"rest": 150, "2+3": 65}
    assert ida_form("f-solar").class_counts == {"no flare": 865, "flare": 201}
    assert ida_form("b-cancer").name == "ida-breast-cancer"
    assert abs(ida_form("waveform").class_counts["2"] - 5000 / 3) < 150
    with pytest.raises(ValueError, match="name must be one of"):
        ida_form("sonar")


def test_generated_forms_never_change():
    np.testing.assert_array_equal(ida_form("ringnorm").X, ida_form("ringnorm").X)


@pytest.fixture
def official():
    """Eight sets of the benchmark, or a skip where there is no copy."""
    try:
        return {name: load_official(name) for name in OFFICIAL_NAMES}
    except DatasetUnavailable as error:
        pytest.skip(str(error))


def test_official_realisations(official):
    for name, (dataset, splits) in official.items():
        assert dataset.X.shape == (sum(IDA_SIZES[name]), N_FEATURES[name])
        assert len(splits) == 10
        for train, test in splits:
            assert (len(train), len(test)) == IDA_SIZES[name]
            assert len(np.union1d(train, test)) == dataset.n_samples


@pytest.mark.parametrize("name", ["banana", "german", "heart", "image"])
def test_our_form_has_the_rows_of_the_benchmark(official, name):
    """Every row of ours lies within rounding of a row of the benchmark with the same label."""
    from scipy.spatial import cKDTree

    ours, theirs = ida_form(name), official[name][0]
    distance, index = cKDTree(theirs.X).query(ours.X)
    assert distance.max() < 1e-4
    assert (theirs.y[index] == ours.y).all()
    assert (np.bincount(theirs.y) == np.bincount(ours.y)).all()


def test_titanic_has_the_rows_of_the_benchmark(official):
    ours, theirs = ida_form("titanic"), official["titanic"][0]
    tables = [np.column_stack([data.X.round(1) + 0.0, data.y]) for data in (ours, theirs)]
    rows = [np.unique(table, axis=0, return_counts=True) for table in tables]
    np.testing.assert_array_equal(rows[0][0], rows[1][0])
    np.testing.assert_array_equal(rows[0][1], rows[1][1])


def test_breast_cancer_codes_agree_up_to_the_scale_of_each_column(official):
    ours, theirs = ida_form("breast-cancer"), official["breast-cancer"][0]
    for data in (ours, theirs):
        codes = [np.unique(column, return_inverse=True)[1] for column in data.X.T]
        data.X[:] = np.column_stack(codes)
    tables = [np.column_stack([data.X, data.y]) for data in (ours, theirs)]
    np.testing.assert_array_equal(*[table[np.lexsort(table.T)] for table in tables])


def test_generated_sets_have_the_moments_of_the_benchmark(official):
    for name in ("ringnorm", "waveform"):
        ours, theirs = ida_form(name), official[name][0]
        for code in (0, 1):
            difference = ours.X[ours.y == code].mean(axis=0) - theirs.X[theirs.y == code].mean(axis=0)
            assert np.abs(difference).max() < 0.1
            ratio = ours.X[ours.y == code].std(axis=0) / theirs.X[theirs.y == code].std(axis=0)
            assert np.abs(ratio - 1).max() < 0.1


def test_unavailable_splits_name_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNSEMBLE_CACHE", str(tmp_path))
    monkeypatch.delenv("KERNSEMBLE_DATA", raising=False)
    with pytest.raises(DatasetUnavailable, match="fetch ida --from FOLDER"):
        load_official("banana")
    with pytest.raises(DatasetUnavailable, match="'splice'"):
        load_official("splice")
