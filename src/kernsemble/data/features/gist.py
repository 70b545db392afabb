"""GIST: the energy of Gabor filters at several scales and orientations, averaged over a grid of blocks.

An image is whitened (its logarithm minus a Gaussian blur, divided by the local standard deviation),
filtered in the frequency domain, and the magnitude of each response is averaged over grid x grid blocks.
Scale s and orientation theta of n have the transfer function

    G(f) = exp(-3.5 (|f| / f_s - 1)^2 - 2 pi (n^2 / 64) (angle(f) + theta)^2),   f_s = 0.3 / 1.85^s cycles a
    pixel,

the bank that Oliva and Torralba publish. The default, 4 scales of 8 orientations on a 4 x 4 grid, gives 512
numbers.

Paper symbol = code name: the papers name GIST and print no setting; all parameters here are the authors' own.

References
----------
.. [1] A. Oliva, A. Torralba. Modeling the shape of the scene: a holistic representation of the spatial
   envelope.
   International Journal of Computer Vision 42:145-175, 2001.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import fft

_BLUR_CYCLES = 4.0
_BLUR_PAD = 5
_MAX_PAD = 32
_CHUNK_BYTES = 1 << 25


def gist(
    images: np.ndarray, orientations: Sequence[int] = (8, 8, 8, 8), grid: int = 4, max_pad: int = _MAX_PAD
) -> np.ndarray:
    """Return the GIST descriptors of square images of one size.

    Parameters
    ----------
    images : ndarray of shape (n_images, side, side) or (n_images, side, side, 3)
        Pixels from 0 to 255; colors are averaged.
    orientations : sequence of int, default=(8, 8, 8, 8)
        Number of orientations at each scale, finest first.
    grid : int, default=4
        Blocks along each side; must divide ``side``.
    max_pad : int, default=32
        Mirrored border, at most half a side: it keeps what lies across the edge from wrapping around.

    Returns
    -------
    ndarray of shape (n_images, sum(orientations) * grid**2), float32
        Filter by filter, each with its blocks row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.gist import gist
    >>> descriptors = gist(np.full((1, 32, 32), 90, dtype=np.uint8))
    >>> descriptors.shape, bool(abs(descriptors).max() < 1e-4)
    ((1, 512), True)
    """
    side = _check_images(images, grid)
    pad = min(max_pad, side // 2)
    bank = gabor_bank(side + 2 * pad, orientations)
    descriptors = np.empty((len(images), len(bank) * grid**2), dtype=np.float32)
    chunk = max(1, _CHUNK_BYTES // (8 * bank[0].size))
    for start in range(0, len(images), chunk):
        block = images[start : start + chunk].astype(np.float32)
        grey = block.mean(axis=3) if block.ndim == 4 else block
        descriptors[start : start + chunk] = _describe(whiten(grey), bank, grid, pad)
    return descriptors


def gabor_bank(size: int, orientations: Sequence[int]) -> np.ndarray:
    """Return the transfer functions, (n_filters, size, size), frequencies in the order of the FFT.

    Filter j of a scale with n orientations responds to gratings whose wave vector has the angle -j pi / n in
    (x, y) coordinates with y down.

    Examples
    --------
    >>> from kernsemble.data.features.gist import gabor_bank
    >>> gabor_bank(64, (8, 4)).shape
    (12, 64, 64)
    """
    frequencies = np.fft.fftfreq(size)
    fx, fy = np.meshgrid(frequencies, frequencies)
    radius, angle = np.hypot(fx, fy), np.arctan2(fy, fx)
    bank = []
    for scale, n in enumerate(orientations):
        radial = -3.5 * (radius / (0.3 / 1.85**scale) - 1.0) ** 2
        for j in range(n):
            turned = np.mod(angle + np.pi * j / n + np.pi, 2.0 * np.pi) - np.pi
            bank.append(np.exp(radial - 2.0 * np.pi * (n * n / 64.0) * turned**2))
    return np.array(bank, dtype=np.float32)


def whiten(images: np.ndarray) -> np.ndarray:
    """Return images whose local mean is zero and whose local contrast is about one.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.features.gist import whiten
    >>> float(abs(whiten(np.full((1, 16, 16), 3.0))).max()) < 1e-5
    True
    """
    width = _BLUR_PAD
    padded = np.pad(np.log1p(images), ((0, 0), (width, width), (width, width)), mode="symmetric")
    size = padded.shape[1]
    frequencies = np.fft.fftfreq(size) * size
    squares = frequencies[:, None] ** 2 + frequencies[: size // 2 + 1][None, :] ** 2
    blur = np.exp(-squares * np.log(2.0) / _BLUR_CYCLES**2).astype(padded.dtype)
    detail = padded - _filter_real(padded, blur)
    contrast = np.sqrt(np.abs(_filter_real(detail**2, blur)))
    return (detail / (0.2 + contrast))[:, width:-width, width:-width]


def _filter_real(images: np.ndarray, transfer: np.ndarray) -> np.ndarray:
    """Apply an even transfer function to real images."""
    return fft.irfft2(fft.rfft2(images) * transfer, s=images.shape[1:])


def _describe(images: np.ndarray, bank: np.ndarray, grid: int, pad: int) -> np.ndarray:
    """Average the magnitudes of all filters over the blocks."""
    n, side = images.shape[:2]
    spectrum = fft.fft2(np.pad(images, ((0, 0), (pad, pad), (pad, pad)), mode="symmetric"))
    energies = np.empty((n, len(bank), grid, grid), dtype=np.float32)
    for j, transfer in enumerate(bank):
        response = np.abs(fft.ifft2(spectrum * transfer))[:, pad : pad + side, pad : pad + side]
        energies[:, j] = response.reshape(n, grid, side // grid, grid, side // grid).mean(axis=(2, 4))
    return energies.reshape(n, -1)


def _check_images(images: np.ndarray, grid: int) -> int:
    """Return the side of the images after checking their shape."""
    if images.ndim not in (3, 4) or images.shape[1] != images.shape[2]:
        raise ValueError(
            f"images must have the shape (n, side, side[, 3]), got {images.shape}: resize them first."
        )
    if images.shape[1] % grid:
        raise ValueError(f"grid must divide the side {images.shape[1]}, got {grid}.")
    return images.shape[1]
