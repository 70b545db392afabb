"""Damaged and hostile data files: a message that names the file, no code run, nothing written outside."""

import contextlib
import io
import os
import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from datasets.archives import UnsafeArchiveError, list_members, read_member
from datasets.fetch import repack_scene15
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.faults import EXAMPLES
from support.made_archives import make_deb, make_tar, make_zip

from kernsemble.data import npz
from kernsemble.data.base import DatasetDamaged
from kernsemble.data.npz import read_npz, write_npz
from kernsemble.data.sources import get_source
from kernsemble.data.store import build_dataset

ROOT = Path(__file__).parents[2]
given_bytes = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class Bomb:
    """Leaves a trace in the current folder when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("unpickled",)


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A folder inside another: nothing may appear outside of it."""
    folder = tmp_path / "outer" / "inside"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    yield folder
    assert list((tmp_path / "outer").iterdir()) == [folder]
    assert not (folder / "unpickled").exists()


def damage(data, sound):
    """Sound bytes with a few of them changed, cut out or put in."""
    content = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, max(0, len(content) - 1)))
        how = data.draw(st.sampled_from(["change", "cut", "insert", "end"]))
        if how == "change" and content:
            content[position] = data.draw(st.integers(0, 255))
        elif how == "cut":
            del content[position : position + data.draw(st.integers(1, 40))]
        elif how == "insert":
            content[position:position] = data.draw(st.binary(min_size=1, max_size=20))
        else:
            del content[position:]
    return bytes(content)


def make_archives():
    members = {"d/numbers.txt": b"1 2 3\n" * 40, "d/more.csv": b"a,b\n1,2\n"}
    modes = {"a.tar": "w", "a.tar.gz": "w:gz", "a.tar.xz": "w:xz", "a.tar.bz2": "w:bz2"}
    tars = {name: make_tar(members, mode) for name, mode in modes.items()}
    return {"a.zip": make_zip(members, zipfile.ZIP_DEFLATED), **tars, "a.deb": make_deb(tars["a.tar.xz"])}


ARCHIVES = make_archives()


@given_bytes
@given(data=st.data(), name=st.sampled_from(sorted(ARCHIVES)))
def check_archive(tried, data, name):
    content = damage(data, ARCHIVES[name])
    for read in (lambda: read_member(name, content, "d/numbers.txt"), lambda: list_members(name, content)):
        try:
            read()
        except (UnsafeArchiveError, FileNotFoundError, ValueError) as error:
            assert re.search(r"a\.|data\.tar|numbers|more", str(error)), error  # noqa: PT017
    tried.append(name)


def test_damaged_archives(inside, figure):
    tried = []
    check_archive(tried)
    assert not list(inside.iterdir())
    figure("Bad input", "damaged archives (zip, tar, deb) read", len(tried), len(tried))


def test_damaged_data_files(inside, figure):
    """Whatever bytes stand in a file of ours: the registered arrays, or a message with the repair."""
    source, tried = get_source("iris"), []
    sound = (ROOT / "data" / "iris.npz").read_bytes()
    expected = build_dataset(source, read_npz(ROOT / "data" / "iris.npz", ""), Path("iris.npz"))
    path = inside / "iris.npz"

    @given_bytes
    @given(data=st.data())
    def check(data):
        path.write_bytes(damage(data, sound))
        try:
            found = build_dataset(source, read_npz(path, "the command"), path)
        except DatasetDamaged as error:
            assert "iris.npz" in str(error)  # noqa: PT017
            assert "Repair: " in str(error)  # noqa: PT017
        else:  # a byte that nothing depends on, such as a date
            np.testing.assert_array_equal(found.X, expected.X)
            np.testing.assert_array_equal(found.y, expected.y)
        tried.append(1)

    check()
    figure("Bad input", "damaged data files loaded", len(tried), len(tried))


def hostile_files():
    """Files that would run code or fill the memory, by what they are."""
    array = io.BytesIO()
    np.lib.format.write_array(array, np.arange(3), version=(1, 0))
    huge = array.getvalue().replace(b"(3,)", b"(9999999999999,)")
    objects = io.BytesIO()
    np.save(objects, np.array([Bomb()], dtype=object), allow_pickle=True)
    yield "a pickle", pickle.dumps(Bomb())
    yield "an array file instead of an archive", array.getvalue()
    yield "nothing", b""
    yield "an archive that is cut short", b"PK\x03\x04 cut short"
    for what, content in {
        "a pickled array": objects.getvalue(),
        "a pickle inside": pickle.dumps(Bomb()),
        "an array that claims to be huge": huge,
        "text": b"text",
    }.items():
        yield what, make_zip({"X.npy": content})


HOSTILE = dict(hostile_files())


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_data_files_are_refused(inside, what, figure):
    path = inside / "iris.npz"
    path.write_bytes(HOSTILE[what])
    with pytest.raises(DatasetDamaged, match=r"iris\.npz.*Repair"):
        build_dataset(get_source("iris"), read_npz(path, "the command"), path)
    figure("Bad input", "files that would run code or fill the memory", 1, 1)


def test_file_that_unpacks_to_more_than_is_allowed_is_refused(inside, monkeypatch):
    write_npz(inside / "a.npz", {"X": np.zeros(10_000)})
    monkeypatch.setattr(npz, "MAX_BYTES", 10_000)
    with pytest.raises(DatasetDamaged, match="bytes when unpacked, more than 10000"):
        read_npz(inside / "a.npz", "")


ESCAPES = [
    *("../x", "/etc/x", "a/../../x", "..\\x", "C:/x", "C:\\x", "\\\\host\\x"),
    *("./../x", "a//../../x", "d/.."),
]


@pytest.mark.parametrize("path", ESCAPES)
def test_archive_that_would_write_outside_is_refused(inside, path, figure):
    for name, content in (("a.zip", make_zip({path: b"evil"})), ("a.tar.gz", make_tar({path: b"evil"}))):
        for read in (lambda name, content: read_member(name, content, path), list_members):
            with pytest.raises(UnsafeArchiveError, match="leaves the folder"):
                read(name, content)
    with pytest.raises(UnsafeArchiveError, match="leaves the folder"):
        read_member("a.zip", make_zip({"x": b"evil"}), "")
    scenes = inside / "scene_categories.zip"
    scenes.write_bytes(make_zip({f"bedroom/{path}/image_0001.jpg": b"evil"}))
    with contextlib.suppress(UnsafeArchiveError):  # or it is nothing but a name that is not a scene's
        repack_scene15(scenes, inside / "scene15.zip")
        assert zipfile.ZipFile(inside / "scene15.zip").namelist() == []
    figure("Bad input", "archives that would write outside their folder", 2, 2)


def test_nothing_in_the_package_unpickles_or_runs_text():
    """Read the sources: no pickle, no unsafe YAML, no eval; arrays are loaded without pickles."""
    forbidden = re.compile(
        r"\b(pickle|marshal|shelve|dill|joblib)\.(loads?|Unpickler)|yaml\.(load|unsafe_load|full_load)\(|"
        r"\b(eval|exec)\(|allow_pickle=True|np\.load\((?![^)]*allow_pickle=False)|shell=True|extractall"
    )
    runs_examples = {ROOT / "docs/_extensions/gallery.py"}
    for folder in ("src", "tools", "docs", "benchmarks"):
        for path in {*(ROOT / folder).rglob("*.py")} - runs_examples:
            if found := forbidden.search(path.read_text(encoding="utf-8")):
                raise AssertionError(f"{path.relative_to(ROOT)}: {found.group()}")
