"""Reproducible ``.npz`` files: fixed time stamps, no pickles, small integers for decimal numbers.

A decimal number with k digits after the point is stored as the integer ``x 10^k``, k chosen for each
column; reading divides two integers that floating point holds exactly, so IEEE rounding gives back the very
float64 that the text would have given. Columns that are indicators of one attribute are stored as one code.
``array_digest`` hashes names, types, shapes and bytes of the arrays and knows nothing of compression.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kernsemble.data.base import DatasetDamaged

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MAX_DECIMALS = 9
MAX_BYTES = 1 << 32  # of all arrays of a file, unpacked; no registered set comes near
_INTEGERS = (np.int8, np.uint8, np.int16, np.uint16, np.int32)


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], compress: bool = True) -> None:
    """Write arrays so that equal arrays give equal bytes; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(temporary, "w", method, compresslevel=9) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=_EPOCH)
            entry.compress_type = method
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asanyarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(entry, buffer.getvalue(), compresslevel=9)
    os.replace(temporary, path)


def read_npz(path: Path, repair: str) -> dict[str, np.ndarray]:
    """Read all arrays; DatasetDamaged, which ends with the repair command, if the file cannot be read."""
    try:
        # The stream is ours to close: np.load leaves a file that it cannot read open.
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > MAX_BYTES:
                raise ValueError(f"{size} bytes when unpacked, more than {MAX_BYTES}")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # damaged bytes make the readers of zip, zlib and npy raise anything
        raise DatasetDamaged(
            f"{path}: expected a readable npz file, found {type(error).__name__} ({error}). Repair: {repair}"
        ) from error


def array_digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the sha256 of names, types, shapes and contents, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        little = array.dtype.newbyteorder("<")
        digest.update(f"{name} {little.str} {array.shape}\n".encode())
        # Fortran-ordered arrays hash through their transpose: the digest sees logical order, not storage.
        digest.update(np.ascontiguousarray(array.astype(little, copy=False)).data)
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def encode_features(X: np.ndarray) -> dict[str, np.ndarray]:
    """Return the arrays that store X: ``X`` (the smallest exact type), ``decimals``, ``missing`` if needed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernsemble.data.npz import decode_features, encode_features
    >>> stored = encode_features(np.array([[0.1, 3.0], [-2.5, np.nan]]))
    >>> stored["X"].dtype, stored["decimals"]
    (dtype('int8'), array([1, 0], dtype=int8))
    >>> decode_features(stored)
    array([[ 0.1,  3. ],
           [-2.5,  nan]])
    """
    if X.dtype == np.uint8:
        return {"X": X}
    X = np.asarray(X, dtype=np.float64)
    decimals = np.array([_count_decimals(column[~np.isnan(column)]) for column in X.T], dtype=np.int8)
    if (decimals < 0).any():
        return {"X": X}
    scaled = np.rint(X * 10.0**decimals)
    missing = np.isnan(scaled)
    low, high = np.min(scaled, initial=0, where=~missing), np.max(scaled, initial=0, where=~missing)
    for dtype in _INTEGERS:
        info = np.iinfo(dtype)
        # The largest integer of the type is kept free to mark missing cells.
        if info.min <= low and high < info.max:
            stored = {"X": np.where(missing, info.max, scaled).astype(dtype), "decimals": decimals}
            return {**stored, "missing": np.array(info.max, dtype=dtype)} if missing.any() else stored
    return {"X": X}


def decode_features(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return X as C-contiguous float64 (or as stored, where it was stored without ``decimals``)."""
    X = arrays["X"]
    if "decimals" not in arrays:
        return np.ascontiguousarray(X)
    n, d = X.shape
    levels = arrays.get("levels", np.zeros(0, dtype=np.int64))
    decoded = np.zeros((n, d + int(levels.sum())))
    decoded[:, :d] = X
    if arrays["decimals"].any():
        decoded[:, :d] /= 10.0 ** arrays["decimals"]
    if "missing" in arrays:
        decoded[:, :d][arrays["missing"] == X] = np.nan
    first = d
    for code, count in zip(arrays.get("codes", levels).T, levels.tolist(), strict=True):
        decoded[np.arange(n), first + code] = 1.0
        first += count
    return decoded


def _count_decimals(column: np.ndarray) -> int:
    """Return the fewest decimals that reproduce the column exactly, or -1."""
    if np.abs(column).max(initial=0.0) > np.iinfo(np.int32).max:
        return -1
    for decimals in range(_MAX_DECIMALS + 1):
        power = 10.0**decimals
        if np.array_equal(np.rint(column * power) / power, column):
            return decimals
    return -1
