"""Check the committed files against the register: presence, bytes, arrays, shape, class counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kernsemble.data.base import DatasetDamaged
from kernsemble.data.npz import file_digest, read_npz
from kernsemble.data.sources import Source
from kernsemble.data.store import build_dataset, repair_command


@dataclass(frozen=True)
class Finding:
    """What ``verify`` has to say about one file; an empty problem means that all is well."""

    name: str
    path: Path
    problem: str = ""


def verify(source: Source, folder: Path) -> Finding:
    """Check the file of one core set in a folder.

    Parameters
    ----------
    source : Source
        Entry of the register.
    folder : Path
        Folder of the npz files.

    Returns
    -------
    Finding
        Its problem names the file, what was expected, what was found, and the command that repairs it.
    """
    path = folder / source.file
    repair = f"Repair: {repair_command(source)}"
    if not path.is_file():
        return Finding(source.name, path, f"{path}: expected a file, found none. {repair}")
    try:
        build_dataset(source, read_npz(path, repair_command(source)), path)
    except DatasetDamaged as damage:
        return Finding(source.name, path, str(damage))
    found, expected = file_digest(path), source.sha256.get("file")
    if found != expected:
        problem = (
            f"{path}: expected a file with sha256 {expected}, found {found} (its arrays agree). {repair}"
        )
        return Finding(source.name, path, problem)
    return Finding(source.name, path)
