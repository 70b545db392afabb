"""Bags of visual words in a spatial pyramid: dense SIFT, a code book, and a histogram for each of 31 windows.

Descriptors are OpenCV's SIFT, upright, on a grid of step 8 with bins of 4 x 4 pixels (patches of 16 x 16).
Each goes to the nearest of 200 words. The pyramid has the whole image, its 2 x 2 quarters and one window in
the middle, its 4 x 4 sixteenths and 3 x 3 windows between them: 1 + 5 + 25 = 31 windows, 31 x 200 = 6200
numbers, as lin2012 and shen2014 count them. Neither paper says which windows; these are those of Wu and
Rehg, the only pyramid of 31 windows that we know of.

References
----------
.. [1] S. Lazebnik, C. Schmid, J. Ponce. Beyond bags of features: spatial pyramid matching for recognizing
   natural scene categories. Proc. CVPR, 2:2169-2178, 2006.
.. [2] J. Wu, J. M. Rehg. CENTRIST: a visual descriptor for scene categorization. IEEE Trans. Pattern Analysis
   and Machine Intelligence 33:1489-1501, 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

N_WORDS = 200
_STEP = 8
_BIN_PIXELS = 4


def dense_sift(image: np.ndarray, step: int = _STEP) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions (x, y) of a grid of key points and their SIFT descriptors.

    Parameters
    ----------
    image : ndarray of shape (height, width), uint8
    step : int, default=8
        Distance of key points in pixels.

    Returns
    -------
    points : ndarray of shape (n_points, 2)
    descriptors : ndarray of shape (n_points, 128), float32

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.words import dense_sift
    >>> points, descriptors = dense_sift(np.zeros((32, 40), dtype=np.uint8))
    >>> points.shape, descriptors.shape
    ((12, 2), (12, 128))
    """
    import cv2

    margin = 2 * _BIN_PIXELS
    height, width = image.shape
    if image.dtype != np.uint8 or min(height, width) < 2 * margin:
        raise ValueError(f"image must be uint8 of at least {2 * margin} pixels a side, got {image.shape}.")
    grid = [
        (x, y)
        for y in range(margin, height - margin + 1, step)
        for x in range(margin, width - margin + 1, step)
    ]
    # OpenCV makes a bin 1.5 times the size of the key point wide.
    size = _BIN_PIXELS / 1.5
    points = [cv2.KeyPoint(float(x), float(y), size, 0.0) for x, y in grid]
    _, descriptors = cv2.SIFT_create().compute(image, points)
    return np.array(grid, dtype=np.float64), descriptors


def learn_codebook(
    images: Sequence[np.ndarray],
    n_words: int = N_WORDS,
    n_descriptors: int = 100_000,
    random_state: int | np.random.Generator = 0,
) -> np.ndarray:
    """Return the centers of k-means on descriptors drawn evenly from the images, (n_words, 128) float32.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.words import learn_codebook
    >>> noise = np.random.default_rng(0).integers(0, 256, (2, 64, 64), dtype=np.uint8)
    >>> learn_codebook(noise, n_words=5).shape
    (5, 128)
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(random_state)
    share = -(-n_descriptors // len(images))
    drawn = []
    for image in images:
        descriptors = dense_sift(image)[1]
        drawn.append(descriptors[rng.permutation(len(descriptors))[:share]])
    # One thread: sums of several threads would differ in their last digits from run to run.
    with threadpool_limits(limits=1):
        model = KMeans(n_words, n_init=1, max_iter=50, random_state=int(rng.integers(2**31)))
        return model.fit(np.concatenate(drawn)).cluster_centers_.astype(np.float32)


def spatial_pyramid(images: Iterable[np.ndarray], codebook: np.ndarray) -> np.ndarray:
    """Return the histograms of words of all windows, each summing to one (to zero where a window is empty).

    Parameters
    ----------
    images : iterable of ndarray of shape (height, width), uint8
    codebook : ndarray of shape (n_words, 128)

    Returns
    -------
    ndarray of shape (n_images, 31 * n_words), float32
        Window by window, in the order of ``pyramid_windows``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.words import spatial_pyramid
    >>> codebook = np.eye(200, 128, dtype=np.float32)
    >>> spatial_pyramid([np.zeros((64, 64), dtype=np.uint8)], codebook).shape
    (1, 6200)
    """
    windows = pyramid_windows()
    rows = []
    for image in images:
        points, descriptors = dense_sift(image)
        words = nearest_words(descriptors, codebook)
        places = points / np.array([image.shape[1], image.shape[0]])
        rows.append(_window_histograms(places, words, windows, len(codebook)))
    return np.array(rows, dtype=np.float32)


def pyramid_windows() -> np.ndarray:
    """Return the 31 windows as (left, top, right, bottom) fractions of the image.

    Examples
    --------
    >>> from kernsemble.data.features.words import pyramid_windows
    >>> pyramid_windows().shape
    (31, 4)
    """
    windows = []
    for n in (1, 2, 4):
        side = 1.0 / n
        corners = [(i * side, j * side) for j in range(n) for i in range(n)]
        between = [((i + 0.5) * side, (j + 0.5) * side) for j in range(n - 1) for i in range(n - 1)]
        windows += [(x, y, x + side, y + side) for x, y in corners + between]
    return np.array(windows)


def nearest_words(descriptors: np.ndarray, codebook: np.ndarray) -> np.ndarray:
    """Return the index of the nearest word of each descriptor; the first of equals.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.words import nearest_words
    >>> nearest_words(np.array([[0.1], [0.9]]), np.array([[0.0], [1.0]]))
    array([0, 1])
    """
    return np.argmin((codebook**2).sum(axis=1) - 2.0 * (descriptors @ codebook.T), axis=1)


def _window_histograms(
    places: np.ndarray, words: np.ndarray, windows: np.ndarray, n_words: int
) -> np.ndarray:
    histograms = np.zeros((len(windows), n_words))
    for k, (left, top, right, bottom) in enumerate(windows):
        across = (places[:, 0] >= left) & (places[:, 0] < right)
        inside = across & (places[:, 1] >= top) & (places[:, 1] < bottom)
        histograms[k] = np.bincount(words[inside], minlength=n_words) / max(1, inside.sum())
    return histograms.ravel()
