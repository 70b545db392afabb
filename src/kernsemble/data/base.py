"""What a dataset is, and the two ways in which one can be missing.

``y`` always holds codes 0 .. n_classes - 1 that index ``class_names``. In a two-class set
``class_names[1]`` is the positive class; ``Dataset.signs`` gives the labels as -1 and +1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


class DatasetUnavailable(RuntimeError):  # noqa: N818 (a state of the data, not a mistake)
    """A dataset that is not on this machine; the message names the command that brings it."""


class DatasetDamaged(RuntimeError):  # noqa: N818 (the same)
    """A dataset's file that is truncated, altered or of the wrong shape; the message names the repair."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset for classification.

    Attributes
    ----------
    name : str
        Canonical name, as in ``sources.yaml``.
    X : ndarray of shape (n_samples, n_features)
        float64; pixel sets are uint8 (mnist) or uint8 images of shape (n_samples, height, width[, 3]).
        Convert before computing with uint8: sums of bytes wrap around.
        A missing cell is NaN (votes84 only).
    y : ndarray of shape (n_samples,), int64
        Class codes that index ``class_names``.
    feature_names : tuple of str
    class_names : tuple of str
        In a two-class set the second is the positive class.
    citation : str
        What to cite when the set is used.
    licence : str
    note : str
        What was dropped, recoded or chosen.
    part : ndarray of shape (n_samples,), int8, or None
        Official parts: 0 = training, 1 = test; None where the source defines none.
    checksum : str
        sha256 of the stored arrays; empty for generated data.

    Examples
    --------
    >>> from kernsemble.data.base import Dataset
    >>> import numpy as np
    >>> tiny = Dataset("tiny", np.eye(2), np.array([0, 1]), ("a", "b"), ("no", "yes"))
    >>> tiny.signs
    array([-1,  1])
    >>> tiny.class_counts
    {'no': 1, 'yes': 1}
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    citation: str = ""
    licence: str = ""
    note: str = ""
    part: np.ndarray | None = None
    checksum: str = ""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns (pixels, for images)."""
        return int(np.prod(self.X.shape[1:]))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def class_counts(self) -> dict[str, int]:
        """Number of rows of each class."""
        counts = np.bincount(self.y, minlength=self.n_classes)
        return dict(zip(self.class_names, counts.tolist(), strict=True))

    @property
    def signs(self) -> np.ndarray:
        """Labels -1 and +1 of a two-class set; ``class_names[1]`` is +1."""
        if self.n_classes != 2:
            raise ValueError(f"{self.name} has {self.n_classes} classes; signs need 2: see one_against_rest.")
        return 2 * self.y - 1

    def one_against_rest(self, *positive: str) -> Dataset:
        """Return the two-class set in which the named classes are +1 and all others -1."""
        unknown = set(positive) - set(self.class_names)
        if unknown or not positive:
            raise ValueError(f"{self.name}: classes {sorted(unknown)} not among {list(self.class_names)}.")
        y = np.isin(np.array(self.class_names), positive)[self.y].astype(np.int64)
        return replace(self, y=y, class_names=("rest", "+".join(positive)))

    def only(self, *classes: str) -> Dataset:
        """Return the rows of the named classes, coded in the order given."""
        unknown = set(classes) - set(self.class_names)
        if unknown or not classes:
            raise ValueError(f"{self.name}: classes {sorted(unknown)} not among {list(self.class_names)}.")
        codes = np.full(self.n_classes, -1)
        codes[[self.class_names.index(name) for name in classes]] = np.arange(len(classes))
        y = codes[self.y]
        return replace(self.rows(y >= 0), y=y[y >= 0], class_names=tuple(classes))

    def rows(self, index: np.ndarray) -> Dataset:
        """Return a dataset of the given rows (indices or a mask); the class names stay."""
        part = None if self.part is None else self.part[index]
        return replace(self, X=self.X[index], y=self.y[index], part=part)
