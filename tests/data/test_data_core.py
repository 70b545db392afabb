"""The committed sets are those of the papers: every n, d and class count, types, and known rows."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from kernsemble.data import dataset_names, load
from kernsemble.data.sources import get_source

ROOT = Path(__file__).parents[2]
# name: (n, d, class counts), written down from the papers and the sources, not from the register.
FORMS = {
    "australian": (690, 14, (383, 307)),
    "banana": (5300, 2, (2924, 2376)),
    "breast": (683, 9, (444, 239)),
    "breast-cancer": (277, 9, (196, 81)),
    "covertype": (581012, 54, (211840, 283301, 35754, 2747, 9493, 17367, 20510)),
    "digits": (1797, 64, (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)),
    "dna": (3186, 180, (767, 765, 1654)),
    "flare": (1066, 11, (331, 239, 211, 147, 95, 43)),
    "german": (1000, 20, (700, 300)),
    "german24": (1000, 24, (700, 300)),
    "glass": (214, 9, (70, 76, 17, 13, 9, 29)),
    "heart": (270, 13, (150, 120)),
    "ionosphere": (351, 34, (126, 225)),
    "iris": (150, 4, (50, 50, 50)),
    "letter": (20000, 16, None),
    "liver": (345, 6, (145, 200)),
    "mnist": (70000, 784, None),
    "pendigits": (10992, 16, None),
    "pima": (768, 8, (500, 268)),
    "satimage": (6435, 36, (1533, 703, 1358, 626, 707, 1508)),
    "segment": (2310, 19, (330,) * 7),
    "sonar": (208, 60, (97, 111)),
    "spam": (4601, 57, (2788, 1813)),
    "splice": (3175, 60, (1527, 1648)),
    "splice1000": (1000, 60, (483, 517)),
    "thyroid": (215, 5, (150, 35, 30)),
    "titanic": (2201, 3, (1490, 711)),
    "usps": (9298, 256, None),
    "vehicle": (846, 18, (218, 212, 217, 199)),
    "votes84": (435, 16, (267, 168)),
    "vowel": (990, 10, (90,) * 11),
    "wdbc": (569, 30, (357, 212)),
    "wine": (178, 13, (59, 71, 48)),
}
# name: rows of the official training and test parts.
PARTS = {
    "mnist": (60000, 10000),
    "pendigits": (7494, 3498),
    "satimage": (4435, 2000),
    "usps": (7291, 2007),
    "vowel": (528, 462),
}


def test_the_table_covers_the_core_sets():
    assert sorted(FORMS) == sorted(dataset_names("core"))


@pytest.mark.parametrize("name", sorted(FORMS))
def test_form(name):
    dataset = load(name)
    n, d, counts = FORMS[name]
    assert dataset.X.shape == (n, d)
    assert dataset.X.dtype == (np.uint8 if name == "mnist" else np.float64)
    assert dataset.X.flags.c_contiguous
    assert dataset.X.flags.writeable
    assert dataset.y.shape == (n,)
    assert dataset.y.dtype == np.int64
    assert len(dataset.feature_names) == d
    assert len(set(dataset.feature_names)) == d
    assert tuple(np.bincount(dataset.y)) == (counts or tuple(dataset.class_counts.values()))
    assert dataset.citation
    assert dataset.licence
    assert np.isnan(dataset.X).sum() == (392 if name == "votes84" else 0)
    parts = None if dataset.part is None else tuple(np.bincount(dataset.part))
    assert parts == PARTS.get(name)


FIRST_ROWS = {  # as far as the literature prints them
    "iris": [5.1, 3.5, 1.4, 0.2],
    "sonar": [0.02, 0.0371, 0.0428],
    "pima": [6, 148, 72, 35, 0, 33.6, 0.627, 50],
    "heart": [70, 1, 4, 130, 322, 0, 2, 109, 0, 2.4, 2, 3, 3],
    "german24": [1, 6, 4, 12, 5, 5, 3, 4, 1],
    "german": [11, 6, 34, 43, 1169],
    "letter": [2, 4, 4, 3, 2, 7, 8, 2, 9, 11, 7, 7, 1, 8, 5, 6],
    "vowel": [-3.639, 0.418, -0.67],
    "thyroid": [107, 10.1, 2.2, 0.9, 2.7],
    "breast": [5, 1, 1, 1, 2, 1, 3, 1, 1],
}


def test_rows_known_from_the_literature():
    found = {name: load(name).X[0, : len(row)].tolist() for name, row in FIRST_ROWS.items()}
    assert found == FIRST_ROWS
    assert load("spam").X[0, -3:].tolist() == [3.756, 61, 278]


def test_bundled_sets_equal_scikit_learn_bit_for_bit():
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine

    np.testing.assert_array_equal(load("wdbc").X, load_breast_cancer().data)
    np.testing.assert_array_equal(load("wdbc").y, 1 - load_breast_cancer().target)
    np.testing.assert_array_equal(load("digits").X, load_digits().data)
    np.testing.assert_array_equal(load("wine").X, load_wine().data)


def test_covertype_has_one_area_and_one_soil_type_a_row():
    dataset = load("covertype")
    indicators = dataset.X[:, 10:]
    assert set(np.unique(indicators)) == {0.0, 1.0}
    assert (indicators[:, :4].sum(axis=1) == 1).all()
    assert (indicators[:, 4:].sum(axis=1) == 1).all()
    # Row 0 of the original file: elevation 2596, fifth class, soil type 29.
    assert dataset.X[0, :3].tolist() == [2596, 51, 3]
    assert dataset.feature_names[np.flatnonzero(indicators[0])[1] + 10] == "Soil_Type29"
    assert dataset.class_names[dataset.y[0]] == "5"


def test_splice1000_is_a_part_of_splice():
    whole, part = load("splice"), load("splice1000")
    places = {tuple(row): label for row, label in zip(whole.X.tolist(), whole.y.tolist(), strict=True)}
    assert all(places[tuple(row)] == label for row, label in zip(part.X.tolist(), part.y, strict=True))
    lines = (ROOT / "tools/datasets/splice1000_rows.txt").read_text().split()
    rows = np.array(lines, dtype=int)
    assert len(set(rows)) == 1000
    np.testing.assert_array_equal(whole.X[rows], part.X)


def test_splice_and_dna_describe_the_same_junctions():
    """Two packagings of one original: DNA's indicators give back the bases of all rows of splice."""
    splice, dna = load("splice"), load("dna")
    # A, C, G, T of DNA are 100, 010, 001, 000; splice counts A, G, C, T as 1, 2, 3, 4.
    triples = dna.X.reshape(-1, 60, 3) @ np.array([1, 2, 3])
    bases = np.array([4, 1, 3, 2])[triples.astype(int)]
    rows = {tuple(row) for row in bases.tolist()}
    known = sum(tuple(row) in rows for row in splice.X.astype(int).tolist())
    assert known == splice.n_samples


def test_mnist_pixels_and_usps_scale():
    mnist = load("mnist")
    assert int(mnist.X[0].sum()) == 27525
    assert mnist.y[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    usps = load("usps")
    assert usps.X.min() == -1.0
    assert usps.X.max() == 1.0
    assert usps.y[:4].tolist() == [6, 5, 4, 7]


def test_aliases_and_unknown_names():
    assert load("diabetes").name == "pima"
    assert get_source("forest").name == "covertype"
    with pytest.raises(ValueError, match="Unknown dataset 'sonnar'"):
        load("sonnar")


def test_dataset_is_frozen_and_picks_classes():
    dataset = load("thyroid")
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "other"
    rest = dataset.one_against_rest("2", "3")
    assert rest.class_counts == {"rest": 150, "2+3": 65}
    pair = dataset.only("3", "1")
    assert pair.class_counts == {"3": 30, "1": 150}
    np.testing.assert_array_equal(pair.signs == 1, dataset.y[dataset.y != 1] == 0)
    with pytest.raises(ValueError, match="3 classes"):
        _ = dataset.signs
    with pytest.raises(ValueError, match="'9'"):
        dataset.only("9")


def test_a_named_folder_comes_first(tmp_path, monkeypatch):
    from kernsemble.data.store import core_path

    source = get_source("sonar")
    monkeypatch.setenv("KERNSEMBLE_DATA", str(tmp_path))
    assert core_path(source).parent != tmp_path
    (tmp_path / "sonar.npz").touch()
    assert core_path(source).parent == tmp_path
