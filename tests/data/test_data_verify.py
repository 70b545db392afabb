"""``verify`` and ``load`` notice every kind of damage: what was expected, what was found, what to do."""

import shutil

import numpy as np
import pytest

from kernsemble.data import DatasetDamaged, DatasetUnavailable, load, store
from kernsemble.data.cli import main
from kernsemble.data.npz import array_digest, read_npz, write_npz
from kernsemble.data.sources import Source, get_source
from kernsemble.data.store import build_dataset, data_folder, verify

NAME = "heart"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of one set, in place of the repository's."""
    shutil.copy(data_folder() / f"{NAME}.npz", tmp_path)
    monkeypatch.delenv("KERNSEMBLE_DATA", raising=False)
    monkeypatch.setattr(store, "data_folder", lambda: tmp_path)
    return tmp_path


def assert_noticed(folder, capsys, *words):
    """Both ``verify`` and its command line report the damage in one line with these words."""
    problem = verify(get_source(NAME), folder)
    for word in (f"{NAME}.npz", "expected", "found", "dvc pull", f"build {NAME}", *words):
        assert word in problem
    assert main(["verify", NAME, "--in", str(folder)]) == 1
    assert capsys.readouterr().err == problem + "\n"


def test_sound_file_passes(folder, capsys):
    assert verify(get_source(NAME), folder) == ""
    assert main(["verify", NAME, "--in", str(folder)]) == 0
    assert "1 of 1" in capsys.readouterr().out
    assert load(NAME).n_samples == 270


def test_any_flipped_byte_is_noticed(folder):
    path = folder / f"{NAME}.npz"
    sound = path.read_bytes()
    positions = np.random.default_rng(0).choice(len(sound), 60, replace=False)
    for position in positions:
        damaged = bytearray(sound)
        damaged[position] ^= 0x10
        path.write_bytes(damaged)
        assert verify(get_source(NAME), folder), f"byte {position}"


def test_a_flipped_byte_of_the_contents_stops_load(folder, capsys):
    path = folder / f"{NAME}.npz"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 3] ^= 0xFF
    path.write_bytes(damaged)
    assert_noticed(folder, capsys)
    with pytest.raises(DatasetDamaged, match=r"heart\.npz.*Repair"):
        load(NAME)


@pytest.mark.parametrize("share", [None, 0.0, 0.5, 0.99])
def test_removed_or_truncated_file(folder, capsys, share):
    path = folder / f"{NAME}.npz"
    sound = path.read_bytes()
    path.unlink()
    if share is not None:
        path.write_bytes(sound[: int(share * len(sound))])
    assert_noticed(folder, capsys, "found none" if share is None else "readable npz")
    with pytest.raises(DatasetUnavailable if share is None else DatasetDamaged):
        load(NAME)


def test_altered_values(folder, capsys):
    path = folder / f"{NAME}.npz"
    arrays = read_npz(path, "")
    arrays["X"][0, 0] += 1
    write_npz(path, arrays)
    assert_noticed(folder, capsys, "sha256", get_source(NAME).sha256["arrays"])


def test_the_same_arrays_compressed_otherwise(folder, capsys):
    path = folder / f"{NAME}.npz"
    write_npz(path, read_npz(path, ""), compress=False)
    assert_noticed(folder, capsys, "its arrays agree")
    assert load(NAME).n_samples == 270


@pytest.mark.parametrize("damage", ["row", "column", "label"])
def test_wrong_shape_is_named_even_if_the_checksum_agrees(folder, damage):
    path = folder / f"{NAME}.npz"
    arrays = read_npz(path, "")
    if damage == "row":
        arrays |= {"X": arrays["X"][1:], "y": arrays["y"][1:]}
    elif damage == "column":
        arrays |= {"X": arrays["X"][:, 1:], "decimals": arrays["decimals"][1:]}
    else:
        arrays["y"][0] = 1 - arrays["y"][0]
    fields = {**vars(get_source(NAME)), "sha256": {"arrays": array_digest(arrays)}}
    expected = "class counts" if damage == "label" else r"n x d \(270, 13\)"
    with pytest.raises(DatasetDamaged, match=f"expected {expected}.*Repair"):
        build_dataset(Source(**fields), arrays, path)
