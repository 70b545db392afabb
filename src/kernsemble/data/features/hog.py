"""Histograms of oriented gradients of many small images at once.

Gradients are central differences (zero on the border); each cell's histogram holds the mean magnitude of
each range of orientations; blocks of cells, one cell apart, are scaled to length one, clipped at 0.2 and
scaled again (L2-Hys). Unsigned, this is scikit-image's ``hog``, to which a test holds it; that function
knows no signed gradients and takes one image at a time. The three sets of the German traffic sign benchmark
on 40 x 40 images are

    HOG1   cells of 5 x 5, blocks of 2 x 2 cells, 8 orientations of the half circle    49 x 32 = 1568 numbers
    HOG2   the same with 8 orientations of the full circle                             49 x 32 = 1568
    HOG3   cells of 4 x 4, blocks of 2 x 2 cells, 9 orientations of the half circle    81 x 36 = 2916

together the 6052 features of lin2012. The benchmark's own files are not at hand: its sizes fix cells,
blocks and bins; which set is signed, and the normalization, are choices.

References
----------
.. [1] N. Dalal, B. Triggs. Histograms of oriented gradients for human detection. Proc. CVPR, 1:886-893, 2005.
.. [2] J. Stallkamp, M. Schlipsing, J. Salmen, C. Igel. Man vs. computer: benchmarking machine learning
   algorithms for traffic sign recognition. Neural Networks 32:323-332, 2012.
"""

from __future__ import annotations

import numpy as np

_EPSILON = 1e-5
_CLIP = 0.2
_CHUNK = 2048


def gtsrb_hog(images: np.ndarray) -> np.ndarray:
    """Return HOG1, HOG2 and HOG3 of 40 x 40 images side by side, (n_images, 6052).

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.hog import gtsrb_hog
    >>> gtsrb_hog(np.zeros((2, 40, 40), dtype=np.uint8)).shape
    (2, 6052)
    """
    return np.hstack([hog(images, 5, 8), hog(images, 5, 8, signed=True), hog(images, 4, 9)])


def hog(
    images: np.ndarray, cell: int, n_orientations: int, signed: bool = False, block: int = 2
) -> np.ndarray:
    """Return the histograms of oriented gradients of grey images of one size.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
    cell : int
        Side of a cell in pixels; what is left of the image at its right and bottom is not used.
    n_orientations : int
        Bins of the half circle, or of the full circle if ``signed``.
    signed : bool, default=False
        Whether a gradient and its opposite count as different.
    block : int, default=2
        Side of a block in cells.

    Returns
    -------
    ndarray of shape (n_images, n_blocks * block**2 * n_orientations), float32

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.hog import hog
    >>> hog(np.zeros((1, 8, 8)), cell=4, n_orientations=9).shape
    (1, 36)
    """
    if images.ndim != 3 or min(images.shape[1:]) < cell * block:
        raise ValueError(f"images must be (n, height, width) of at least one block, got {images.shape}.")
    parts = [
        _scale_blocks(_cell_histograms(images[start : start + _CHUNK], cell, n_orientations, signed), block)
        for start in range(0, len(images), _CHUNK)
    ]
    return np.concatenate(parts)


def _cell_histograms(images: np.ndarray, cell: int, n_orientations: int, signed: bool) -> np.ndarray:
    """Return (n, rows, columns, n_orientations): the mean magnitude of each orientation in each cell."""
    images = images.astype(np.float64)
    down, right = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    circle = 360.0 if signed else 180.0
    angle = np.rad2deg(np.arctan2(down, right)) % circle
    bins = np.floor(angle / (circle / n_orientations)).astype(np.int64) % n_orientations
    magnitude = np.hypot(down, right)
    n, rows, columns = len(images), images.shape[1] // cell, images.shape[2] // cell
    histograms = np.empty((n, rows, columns, n_orientations))
    for k in range(n_orientations):
        chosen = np.where(bins == k, magnitude, 0.0)[:, : rows * cell, : columns * cell]
        histograms[..., k] = chosen.reshape(n, rows, cell, columns, cell).mean(axis=(2, 4))
    return histograms


def _scale_blocks(histograms: np.ndarray, block: int) -> np.ndarray:
    """Scale overlapping blocks of cells to length one, clip, scale again."""
    windows = np.lib.stride_tricks.sliding_window_view(histograms, (block, block), axis=(1, 2))
    n, rows, columns = windows.shape[:3]
    # The window's axes come last: put the orientations behind them, as scikit-image does.
    blocks = windows.transpose(0, 1, 2, 4, 5, 3).reshape(n, rows * columns, -1)
    clipped = np.minimum(blocks / _length(blocks), _CLIP)
    return (clipped / _length(clipped)).reshape(n, -1).astype(np.float32)


def _length(blocks: np.ndarray) -> np.ndarray:
    return np.sqrt((blocks**2).sum(axis=2, keepdims=True) + _EPSILON**2)
