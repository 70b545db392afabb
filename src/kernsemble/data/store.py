"""Load datasets from disk. Nothing is downloaded here, and nothing that fails a check is returned."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kernsemble.data.base import Dataset, DatasetDamaged, DatasetUnavailable
from kernsemble.data.large import fetch_command, find_large, load_large, other_digest
from kernsemble.data.npz import array_digest, decode_features, file_digest, read_npz
from kernsemble.data.sources import Source, get_source


def load(name: str) -> Dataset:
    """Return a dataset by its name in ``python -m kernsemble.data list``, checked against ``sources.yaml``.

    Raises
    ------
    DatasetUnavailable
        The set is not on this machine; the message names the command that brings it.
    DatasetDamaged
        Its file is truncated, altered or of the wrong shape; the message names the repair.

    Examples
    --------
    >>> from kernsemble.data import load
    >>> sonar = load("sonar")
    >>> sonar.X.shape, sonar.class_counts
    ((208, 60), {'R': 97, 'M': 111})
    """
    source = get_source(name)
    if source.kind == "large":
        path = find_large(source)
        other_digest(source, path)  # a receipt that is none is named
        dataset = load_large(source, path)
        check_form(dataset, source, path)
        return dataset
    path = core_path(source)
    if not path.is_file():
        raise DatasetUnavailable(
            f"Dataset {source.name!r}: expected {path}, found no file. Repair: {repair_command(source)}"
        )
    arrays = read_npz(path, repair_command(source))
    return build_dataset(source, arrays, path)


def build_dataset(source: Source, arrays: dict[str, np.ndarray], path: Path) -> Dataset:
    """Check stored arrays against their entry in the register and return the dataset."""
    found = array_digest(arrays)
    expected = source.sha256.get("arrays", found)
    if found != expected:
        raise DatasetDamaged(
            f"{path}: expected arrays with sha256 {expected}, found {found}. Repair: {repair_command(source)}"
        )
    dataset = assemble(source, arrays, found)
    check_form(dataset, source, path)
    return dataset


def assemble(source: Source, arrays: dict[str, np.ndarray], checksum: str) -> Dataset:
    """Return the dataset that the arrays describe, unchecked."""
    names = tuple(arrays["feature_names"].tolist())
    X, y = decode_features(arrays), arrays["y"]
    return source.dataset(X, y, checksum, feature_names=names, part=arrays.get("part"))


def check_form(dataset: Dataset, source: Source, path: Path) -> None:
    """Raise DatasetDamaged unless shape and class counts are those of the register."""
    facts = [
        ("n x d", (source.n, source.d), (dataset.n_samples, dataset.n_features)),
        ("class counts", dict(source.classes), dataset.class_counts),
        ("labels", (source.n,), dataset.y.shape),
    ]
    for what, expected, found in facts:
        if found != expected:
            raise DatasetDamaged(
                f"{path}: expected {what} {expected}, found {found}. Repair: {repair_command(source)}"
            )


def verify(source: Source, folder: Path) -> str:
    """Return what is wrong with the file of a core set, with the repair; nothing when all is well."""
    path, repair = folder / source.file, repair_command(source)
    if not path.is_file():
        return f"{path}: expected a file, found none. Repair: {repair}"
    try:
        build_dataset(source, read_npz(path, repair), path)
    except DatasetDamaged as damage:
        return str(damage)
    found, expected = file_digest(path), source.sha256.get("file")
    if found == expected:
        return ""
    return (
        f"{path}: expected a file with sha256 {expected}, found {found} (its arrays agree). Repair: {repair}"
    )


def core_path(source: Source) -> Path:
    """Return the place of a core set's file: KERNSEMBLE_DATA if it is there, else the repository's data/."""
    named = os.environ.get("KERNSEMBLE_DATA")
    if named and (Path(named) / source.file).is_file():
        return Path(named) / source.file
    return data_folder() / source.file


def data_folder() -> Path:
    """Return the repository's ``data/``; without a checkout, the current folder's."""
    checkout = Path(__file__).resolve().parents[3]
    return (checkout if (checkout / "pyproject.toml").is_file() else Path.cwd()) / "data"


def repair_command(source: Source) -> str:
    """Return the command that restores a dataset's file."""
    if source.kind == "large":
        return fetch_command(source)
    return f"dvc pull, or make data if a copy is damaged (or: python -m kernsemble.data build {source.name})"
