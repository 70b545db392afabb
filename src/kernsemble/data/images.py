"""Image collections: archives of CLASS/image files, and the folders of three public collections."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload
from xml.etree import ElementTree

import numpy as np

from kernsemble.data.base import DatasetDamaged

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".ppm")


class EncodedImages(Sequence[np.ndarray]):
    """A sequence of compressed images; each is decoded when it is asked for, as uint8.

    Parameters
    ----------
    blobs : sequence of bytes or Path
        Compressed images, in memory or on disk.
    color : bool, default=False
        Whether images are (height, width, 3) in RGB order; otherwise grey, (height, width).

    Examples
    --------
    >>> import io
    >>> from PIL import Image
    >>> from kernsemble.data.images import EncodedImages
    >>> buffer = io.BytesIO()
    >>> Image.new("L", (4, 3), 7).save(buffer, "PNG")
    >>> images = EncodedImages([buffer.getvalue()])
    >>> images[0].shape, int(images[0].max())
    ((3, 4), 7)
    """

    def __init__(self, blobs: Sequence[bytes | Path], color: bool = False) -> None:
        self.blobs = list(blobs)
        self.color = color

    def __len__(self) -> int:
        return len(self.blobs)

    @property
    def shape(self) -> tuple[int]:
        """The number of images, as arrays tell it."""
        return (len(self.blobs),)

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice | np.ndarray) -> EncodedImages: ...
    def __getitem__(self, index: int | slice | np.ndarray) -> np.ndarray | EncodedImages:
        """Decode one image, or select some without decoding them."""
        if isinstance(index, (int, np.integer)):
            return decode_image(self.blobs[index], self.color)
        chosen = np.arange(len(self.blobs))[index]
        return EncodedImages([self.blobs[i] for i in chosen], self.color)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Decode the images one after another."""
        return (decode_image(blob, self.color) for blob in self.blobs)


def decode_image(blob: bytes | Path, color: bool = False) -> np.ndarray:
    """Return an image file's pixels as uint8, grey (ITU-R 601 luma) or RGB."""
    from PIL import Image

    with Image.open(io.BytesIO(blob) if isinstance(blob, bytes) else blob) as image:
        return np.asarray(image.convert("RGB" if color else "L"))


def read_image_archive(path: Path) -> tuple[EncodedImages, list[str]]:
    """Return the images of a zip archive of CLASS/image files, sorted by name, and their classes."""
    try:
        with zipfile.ZipFile(path) as archive:  # read into memory: no member is written anywhere
            names = sorted(name for name in archive.namelist() if name.lower().endswith(IMAGE_ENDINGS))
            blobs = [archive.read(name) for name in names]
    except (zipfile.BadZipFile, ValueError) as error:
        raise DatasetDamaged(f"{path}: expected a zip archive of images, found {error}.") from error
    return EncodedImages(blobs), [name.split("/")[-2] for name in names]


def read_image_folders(folder: Path, per_class: int | None = None) -> tuple[EncodedImages, list[str]]:
    """Return the grey images of FOLDER/CLASS/... (the layout of SUN and of Scene15) and their classes.

    With ``per_class``, the first of each class in the order of their names.
    """
    paths: list[Path] = []
    labels: list[str] = []
    for place in sorted(entry for entry in folder.iterdir() if entry.is_dir()):
        found = sorted(entry for entry in place.rglob("*") if entry.suffix.lower() in IMAGE_ENDINGS)
        paths += found[:per_class]
        labels += [place.name] * len(found[:per_class])
    if not paths:
        raise FileNotFoundError(f"{folder}: expected folders of images, one a class, found none.")
    return EncodedImages(paths), labels


def read_voc2007(folder: Path) -> tuple[EncodedImages, list[str]]:
    """Return the images of PASCAL VOC 2007 that show objects of one class only, and that class.

    The folder is ``VOCdevkit/VOC2007`` with its folders Annotations and JPEGImages.
    """
    paths: list[Path] = []
    labels: list[str] = []
    for annotation in sorted((folder / "Annotations").glob("*.xml")):
        names = {node.text for node in ElementTree.parse(annotation).iterfind("object/name")}
        if len(names) == 1:
            paths.append(folder / "JPEGImages" / f"{annotation.stem}.jpg")
            labels.append(str(names.pop()))
    if not paths:
        raise FileNotFoundError(f"{folder}: expected Annotations/*.xml of VOC 2007, found none.")
    return EncodedImages(paths), labels


# In the order of the annotation's columns.
LABELME_CLASSES = (
    *("person", "car", "building", "window", "tree", "sign"),
    *("door", "bookshelf", "chair", "table", "keyboard", "head"),
)


def read_labelme12(folder: Path, part: str = "train") -> tuple[EncodedImages, list[str]]:
    """Return the images of LabelMe-12-50k in which one class is present and no other, and that class.

    The folder holds ``annotation-train.txt``, ``annotation-test.txt`` and the images: a line gives an image's
    name without its ending and twelve values, -1 where a class is absent.
    """
    annotation = folder / f"annotation-{part}.txt"
    if not annotation.is_file():
        raise FileNotFoundError(f"{annotation}: expected the annotation of LabelMe-12-50k, found no file.")
    places = {path.stem: path for path in (folder / part).rglob("*.jpg")}
    paths: list[Path] = []
    labels: list[str] = []
    for line in annotation.read_text(encoding="ascii").splitlines():
        name, *values = line.split()
        present = [k for k, value in enumerate(values) if float(value) > -1.0]
        if len(present) == 1:
            paths.append(places[Path(name).name])
            labels.append(LABELME_CLASSES[present[0]])
    return EncodedImages(paths), labels
