"""Storage: exact round trips, equal bytes for equal arrays, digests that see contents and not compression."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from kernsemble.data.npz import array_digest, decode_features, encode_features, read_npz, write_npz

SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=6)


@settings(max_examples=60, deadline=None)
@given(X=arrays(np.float64, SHAPES, elements=st.floats(allow_infinity=False, width=64)))
def test_any_floats_come_back_exactly(X):
    np.testing.assert_array_equal(decode_features(encode_features(X)), X)


@settings(max_examples=60, deadline=None)
@given(
    digits=arrays(np.int64, SHAPES, elements=st.integers(-(10**6), 10**6)),
    decimals=st.integers(0, 6),
    missing=st.booleans(),
)
def test_decimal_text_comes_back_exactly_and_small(digits, decimals, missing):
    X = np.array([[float(f"{d}e-{decimals}") for d in row] for row in digits])
    if missing:
        X[0, 0] = np.nan
    stored = encode_features(X)
    assert "decimals" in stored
    assert stored["X"].dtype.itemsize <= 4
    np.testing.assert_array_equal(decode_features(stored), X)


def test_the_limits_of_each_type_survive():
    for value in (-128, 126, 127, 254, 255, -32768, 32766, 65535, 2**31 - 2, 2**31 - 1, 1e300, -0.5):
        X = np.array([[value, np.nan]], dtype=np.float64)
        np.testing.assert_array_equal(decode_features(encode_features(X)), X)


def test_codes_become_indicators():
    stored = encode_features(np.array([[0.5], [1.5]]))
    stored |= {"codes": np.array([[0, 2], [1, 0]], dtype=np.uint8), "levels": np.array([2, 3])}
    expected = [[0.5, 1, 0, 0, 0, 1], [1.5, 0, 1, 1, 0, 0]]
    np.testing.assert_array_equal(decode_features(stored), expected)


def test_equal_arrays_give_equal_bytes(tmp_path, rng):
    content = {"X": rng.standard_normal((20, 3)), "names": np.array(["a", "bb"])}
    write_npz(tmp_path / "one.npz", content)
    write_npz(tmp_path / "two.npz", {name: array.copy() for name, array in content.items()})
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


def test_digest_sees_names_types_shapes_and_values_only(tmp_path, rng):
    X = rng.standard_normal((6, 4))
    digest = array_digest({"X": X, "y": np.arange(6)})
    assert digest == array_digest({"y": np.arange(6), "X": np.asfortranarray(X)})
    changed = X.copy()
    changed[5, 3] = np.nextafter(changed[5, 3], 9)
    others = [{"X": changed}, {"Z": X}, {"X": X.reshape(4, 6)}, {"X": X.astype(np.float32)}]
    assert len({array_digest({"y": np.arange(6), **other}) for other in others} | {digest}) == 5
    for compress in (True, False):
        write_npz(tmp_path / "x.npz", {"X": X, "y": np.arange(6)}, compress=compress)
        assert array_digest(read_npz(tmp_path / "x.npz", "")) == digest


def test_pickles_are_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        write_npz(tmp_path / "worse.npz", {"X": np.array([None])})
