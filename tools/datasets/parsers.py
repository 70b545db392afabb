"""Text and R formats in which the packages hold their data."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def parse_arff(content: bytes) -> tuple[list[str], list[list[str]]]:
    """Return attribute names and rows (as text) of a WEKA file."""
    names: list[str] = []
    lines = iter(content.decode("utf-8", errors="replace").splitlines())
    for line in lines:
        words = line.strip()
        if words.lower().startswith("@attribute"):
            names.append(_attribute_name(words[len("@attribute") :].strip()))
        elif words.lower().startswith("@data"):
            break
    body = (line for line in lines if line.strip() and not line.startswith("%"))
    rows = [[cell.strip() for cell in row] for row in csv.reader(body, quotechar="'", skipinitialspace=True)]
    return names, rows


def _attribute_name(declaration: str) -> str:
    """Return the name at the head of an attribute declaration, quoted or not."""
    if declaration[0] in "'\"":
        return declaration[1 : declaration.index(declaration[0], 1)]
    return declaration.replace("{", " {").split()[0]


def parse_table(content: bytes, delimiter: str | None = ",", header: int = 0) -> list[list[str]]:
    """Return the rows of a delimited text as stripped cells; ``@`` lines (KEEL headers) are skipped."""
    lines = content.decode("utf-8").splitlines()[header:]
    rows = (line.split(delimiter) for line in lines if line.strip() and not line.startswith("@"))
    return [[cell.strip() for cell in row] for row in rows]


def parse_libsvm(content: bytes, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X and the raw labels of a LIBSVM file; features that a row leaves out are zero."""
    lines = [line.split() for line in content.decode("ascii").splitlines() if line.strip()]
    X = np.zeros((len(lines), n_features))
    labels = np.array([float(words[0]) for words in lines])
    for i, words in enumerate(lines):
        for word in words[1:]:
            column, value = word.split(":")
            X[i, int(column) - 1] = float(value)
    return X, labels


def parse_idx(content: bytes) -> np.ndarray:
    """Return the array of a gzipped IDX file of unsigned bytes (the format of MNIST)."""
    raw = gzip.decompress(content)
    if raw[:3] != b"\x00\x00\x08":
        raise ValueError(f"expected an IDX file of unsigned bytes, found the header {raw[:4]!r}.")
    n_axes = raw[3]
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", n_axes, offset=4))
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def parse_rda(content: bytes) -> Any:
    """Return the one data frame of an R data file."""
    import rdata

    # rdata's own warning about the encoding is moot: these files hold ASCII only.
    objects = rdata.conversion.convert(rdata.parser.parse_data(content), default_encoding="ascii")
    if len(objects) != 1:
        raise ValueError(f"expected one R object, found {sorted(objects)}.")
    return next(iter(objects.values()))


def to_floats(rows: Iterable[Sequence[str]]) -> np.ndarray:
    """Return rows of decimal text as float64."""
    return np.array([[float(cell) for cell in row] for row in rows])


def to_codes(values: Iterable[str], levels: Sequence[str]) -> np.ndarray:
    """Return the position of each value among the levels; an unknown value raises ValueError."""
    position = {level: code for code, level in enumerate(levels)}
    values = list(values)
    unknown = sorted(set(values) - position.keys())
    if unknown:
        raise ValueError(f"values {unknown[:5]} not among {list(levels)}.")
    return np.array([position[value] for value in values], dtype=np.int64)


def read_text(content: bytes) -> io.StringIO:
    """Return a text stream over UTF-8 bytes."""
    return io.StringIO(content.decode("utf-8"))
