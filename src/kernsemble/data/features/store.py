"""Features of the large image sets, computed once and kept in the cache.

A feature set has a version, raised whenever its numbers change: a test holds each extractor to the numbers
of its version. File name and checksum depend on the version and on the checksum of the images, so other
images or another extractor never meet an old file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kernsemble.data.base import Dataset
from kernsemble.data.features.gist import gist
from kernsemble.data.features.hog import gtsrb_hog
from kernsemble.data.features.words import learn_codebook, spatial_pyramid
from kernsemble.data.large import cache_folder
from kernsemble.data.npz import read_npz, write_npz
from kernsemble.data.store import load


@dataclass(frozen=True)
class FeatureSet:
    """Which images, which version of the extractor, and how to extract."""

    images: str
    version: int
    extract: Callable[[Dataset], np.ndarray]


def _scene15_words(dataset: Dataset) -> np.ndarray:
    """The code book is learned without labels, on descriptors of all images."""
    return spatial_pyramid(dataset.X, learn_codebook(dataset.X))


FEATURE_SETS = {
    "cifar10-gist": FeatureSet("cifar10", 1, lambda dataset: gist(dataset.X)),
    "gtsrb-hog": FeatureSet("gtsrb", 1, lambda dataset: gtsrb_hog(dataset.X)),
    "scene15-words": FeatureSet("scene15", 1, _scene15_words),
}


def load_features(name: str) -> Dataset:
    """Return a large image set with features in place of pixels (float32), computed at the first call.

    Parameters
    ----------
    name : {"cifar10-gist", "gtsrb-hog", "scene15-words"}
        512, 6052 and 6200 features.

    Returns
    -------
    Dataset
        Its checksum depends on the images and on the extractor's version, not on last digits.

    Raises
    ------
    DatasetUnavailable
        The images are not on this machine.
    """
    if name not in FEATURE_SETS:
        raise ValueError(f"name must be one of {sorted(FEATURE_SETS)}, got {name!r}.")
    features = FEATURE_SETS[name]
    dataset = load(features.images)
    inputs = f"{name} version {features.version} of {dataset.checksum}"
    checksum = hashlib.sha256(inputs.encode("ascii")).hexdigest()
    path = cache_folder() / "features" / f"{name}-{checksum[:16]}.npz"
    if path.is_file():
        X = read_npz(path, f"remove {path}")["X"]
    else:
        X = features.extract(dataset)
        write_npz(path, {"X": X}, compress=False)
    names = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    return replace(dataset, name=name, X=X, feature_names=names, checksum=checksum)
