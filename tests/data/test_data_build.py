"""Building: the registered bytes, twice; recipes; packages that are not what they say."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from datasets import registries
from datasets.build import build, build_arrays, file_matches
from datasets.parsers import parse_arff, parse_idx, parse_libsvm, to_codes
from support.made_archives import make_zip

from kernsemble.data import DatasetDamaged, DatasetUnavailable
from kernsemble.data.cli import main
from kernsemble.data.npz import decode_features
from kernsemble.data.sources import Package, Source, get_source
from kernsemble.data.store import verify

BUNDLED = ("digits", "iris", "wdbc", "wine")


@pytest.mark.parametrize("name", BUNDLED)
def test_builds_give_the_registered_bytes_each_time(name, tmp_path):
    source = get_source(name)
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        path = build(source, folder, tmp_path)
        assert file_matches(source, path)
        assert verify(source, folder) == ""
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.network
@pytest.mark.slow
def test_the_registries_give_back_every_registered_byte(tmp_path):
    assert main(["build", "--into", str(tmp_path)]) == 0
    assert main(["verify", "--in", str(tmp_path)]) == 0


@pytest.fixture
def package(tmp_path):
    """A package with one file, and the source of a set in it."""
    content = make_zip({"p/banana.txt": "-1 1:0.5 2:-0.25\n1 2:3\n"})
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "p-1.zip").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return Package("p", "pypi", "p", "1", "p-1.zip", digest)


def source_of(package, **changes):
    fields = {
        "name": "banana",
        "kind": "core",
        "title": "t",
        "citation": "c",
        "licence": "l",
        "n": 2,
        "d": 2,
        "classes": {"-1": 1, "+1": 1},
        "package": package,
        "paths": ("p/banana.txt",),
        "file": "banana.npz",
        "sha256": {},
    }
    return Source(**{**fields, **changes})


def test_build_from_a_folder(package, tmp_path):
    path = build(source_of(package), tmp_path / "data", tmp_path / "cache", tmp_path / "packages")
    with np.load(path) as arrays:
        np.testing.assert_array_equal(decode_features(arrays), [[0.5, -0.25], [0, 3]])
        assert arrays["y"].tolist() == [0, 1]


def test_build_refuses_another_package(package, tmp_path):
    (tmp_path / "packages" / "p-1.zip").write_bytes(b"other")
    with pytest.raises(DatasetDamaged, match=r"p-1\.zip: expected p 1 with sha256 .*, found .*Repair"):
        build(source_of(package), tmp_path / "data", tmp_path / "cache", tmp_path / "packages")
    assert not (tmp_path / "data").exists()


def test_build_refuses_other_arrays_and_other_forms(package, tmp_path):
    places = (tmp_path / "data", tmp_path / "cache", tmp_path / "packages")
    with pytest.raises(DatasetDamaged, match="expected to build arrays"):
        build(source_of(package, sha256={"arrays": "0" * 64}), *places)
    with pytest.raises(DatasetDamaged, match="expected n x d"):
        build(source_of(package, n=3), *places)
    assert not (tmp_path / "data").exists()


@pytest.mark.filterwarnings("ignore:pkg_resources is deprecated:DeprecationWarning")
def test_pip_configuration_says_where_the_index_is(package, tmp_path, monkeypatch):
    """An index on disk, named by pip's own environment variable: an old sdist comes as it is, unbuilt."""
    index = tmp_path / "index" / "p"
    index.mkdir(parents=True)
    (tmp_path / "packages" / "p-1.zip").rename(index / "p-1.zip")
    (index / "index.html").write_text('<a href="p-2.zip">p-2.zip</a><a href="p-1.zip#sha256=x">p-1.zip</a>')
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index").as_uri())
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    found = registries.fetch_package(package, tmp_path / "cache")
    assert found == tmp_path / "cache" / "p-1.zip"
    # The second time it comes from the cache.
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "nowhere").as_uri())
    assert registries.fetch_package(package, tmp_path / "cache") == found
    with pytest.raises(DatasetUnavailable, match=r"p-1\.zip.*no configured index"):
        registries.fetch_package(package, tmp_path / "empty")


def test_clients_that_are_missing_or_fail_are_named(package, tmp_path, monkeypatch):
    debian = Package("d", "apt", "d", "1", "d_1_amd64.deb", "0" * 64)
    node = Package("n", "npm", "n", "1", "n-1.tgz", "0" * 64)
    monkeypatch.setattr(registries.shutil, "which", lambda name: None)
    with pytest.raises(DatasetUnavailable, match=r"apt-get is missing.*--from FOLDER"):
        registries.fetch_package(debian, tmp_path)
    monkeypatch.setattr(registries.shutil, "which", lambda name: name)
    commands = []

    def run(command, **options):
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", "some text\nE: no such version\n")

    monkeypatch.setattr(registries.subprocess, "run", run)
    for case in (debian, node):
        with pytest.raises(DatasetUnavailable, match="says: E: no such version"):
            registries.fetch_package(case, tmp_path)
    assert commands == [
        ["apt-get", "download", "-q", "d:amd64=1"],
        ["npm", "pack", "--ignore-scripts", "n@1"],
    ]


def test_splice_recipe_drops_ambiguous_rows():
    rows = ["r1," + "A," * 59 + "T,EI", "r2," + "A," * 59 + "N,N", "r3," + "G,C," * 30 + "N"]
    names = "".join(f"@attribute a{j} {{A}}\n" for j in range(62))
    arrays = build_arrays(get_source("splice"), [f"{names}@data\n{chr(10).join(rows)}".encode()])
    X = decode_features(arrays)
    assert X.shape == (2, 60)
    assert X[0, 58:].tolist() == [1, 4]
    assert X[1, :2].tolist() == [2, 3]
    assert arrays["y"].tolist() == [0, 1]


def test_parse_arff_quotes_comments_and_names():
    text = b"% c\n@relation r\n@ATTRIBUTE 'a b' real\n@attribute c{x,'y z'}\n@DATA\n% d\n1, 'y z'\n\n2,x\n"
    assert parse_arff(text) == (["a b", "c"], [["1", "y z"], ["2", "x"]])


def test_parsers_refuse_what_they_do_not_know():
    with pytest.raises(ValueError, match=r"\['c'\] not among"):
        to_codes(["a", "c"], ["a", "b"])
    import gzip

    with pytest.raises(ValueError, match="IDX"):
        parse_idx(gzip.compress(b"\x00\x00\x09\x01"))
    idx = gzip.compress(b"\x00\x00\x08\x02" + b"\x00\x00\x00\x01\x00\x00\x00\x03" + bytes([7, 8, 9]))
    assert parse_idx(idx).tolist() == [[7, 8, 9]]
    X, labels = parse_libsvm(b"+1 2:0.5\n-1 1:2 3:4\n", 3)
    assert X.tolist() == [[0, 0.5, 0], [2, 0, 4]]
    assert labels.tolist() == [1, -1]


def test_command_line_reports_mistakes(capsys):
    assert main(["build", "cifar10"]) == 2
    assert "not a core set" in capsys.readouterr().err
    assert main(["fetch", "iris"]) == 2
    assert "dvc pull" in capsys.readouterr().err
    assert main(["verify", "nothing"]) == 2
    assert "Unknown dataset" in capsys.readouterr().err
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["name", "n", "d", "classes"]
    assert any(line.split()[:4] == ["sonar", "208", "60", "2"] for line in lines)


def test_loading_needs_no_network_client():
    """Neither pip nor rdata, pandas or an image library is imported by load."""
    code = (
        "import sys; from kernsemble.data import load; load('sonar'); "
        "heavy = ('pip', 'rdata', 'pandas', 'cv2', 'PIL', 'skimage', 'sklearn'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
