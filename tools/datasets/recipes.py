"""How the members of a package become the arrays of a dataset: one short recipe a set.

A recipe takes the contents of the members that ``sources.yaml`` lists, in that order, and returns ``Raw``.
Classes come out as text; the register fixes their order. Nominal attributes become the positions of their
levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from datasets.parsers import parse_arff, parse_idx, parse_libsvm, parse_rda, parse_table, to_codes, to_floats


@dataclass(frozen=True)
class Raw:
    """Features, class labels as text, column names, and what a set may have besides."""

    X: np.ndarray
    labels: Sequence[str]
    feature_names: Sequence[str]
    part: np.ndarray | None = None
    codes: np.ndarray | None = None
    levels: np.ndarray | None = None


Recipe = Callable[[Sequence[bytes]], Raw]


def _numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{j + 1}" for j in range(count)]


def _australian(members: Sequence[bytes]) -> Raw:
    header, *rows = parse_table(members[0])
    return Raw(to_floats(row[1:] for row in rows), [f"{int(row[0]):+d}" for row in rows], header[1:])


def _numeric_arff(members: Sequence[bytes]) -> Raw:
    """All attributes numeric, the class last."""
    names, rows = parse_arff(members[0])
    return Raw(to_floats(row[:-1] for row in rows), [row[-1] for row in rows], names[:-1])


def _pendigits(members: Sequence[bytes]) -> Raw:
    raw = _numeric_arff(members)
    part = (np.arange(len(raw.labels)) >= 7494).astype(np.int8)
    return Raw(raw.X, raw.labels, raw.feature_names, part)


def _vowel(members: Sequence[bytes]) -> Raw:
    names, rows = parse_arff(members[0])
    part = to_codes((row[0] for row in rows), ["Train", "Test"]).astype(np.int8)
    return Raw(to_floats(row[3:13] for row in rows), [row[-1] for row in rows], names[3:13], part)


# The UCI codes of the nominal attributes, in the order in which the ARFF file declares their levels.
_GERMAN_CODES = {
    0: {"<0": 11, "0<=X<200": 12, ">=200": 13, "no checking": 14},
    2: {
        "no credits/all paid": 30,
        "all paid": 31,
        "existing paid": 32,
        "delayed previously": 33,
        "critical/other existing credit": 34,
    },
    3: {
        "new car": 40,
        "used car": 41,
        "furniture/equipment": 42,
        "radio/tv": 43,
        "domestic appliance": 44,
        "repairs": 45,
        "education": 46,
        "vacation": 47,
        "retraining": 48,
        "business": 49,
        "other": 410,
    },
    5: {"<100": 61, "100<=X<500": 62, "500<=X<1000": 63, ">=1000": 64, "no known savings": 65},
    6: {"unemployed": 71, "<1": 72, "1<=X<4": 73, "4<=X<7": 74, ">=7": 75},
    8: {
        "male div/sep": 91,
        "female div/dep/mar": 92,
        "male single": 93,
        "male mar/wid": 94,
        "female single": 95,
    },
    9: {"none": 101, "co applicant": 102, "guarantor": 103},
    11: {"real estate": 121, "life insurance": 122, "car": 123, "no known property": 124},
    13: {"bank": 141, "stores": 142, "none": 143},
    14: {"rent": 151, "own": 152, "for free": 153},
    16: {
        "unemp/unskilled non res": 171,
        "unskilled resident": 172,
        "skilled": 173,
        "high qualif/self emp/mgmt": 174,
    },
    18: {"none": 191, "yes": 192},
    19: {"yes": 201, "no": 202},
}


def _german(members: Sequence[bytes]) -> Raw:
    names, rows = parse_arff(members[0])
    X = np.empty((len(rows), 20))
    for j in range(20):
        codes = _GERMAN_CODES.get(j)
        X[:, j] = [codes[row[j]] if codes else float(row[j]) for row in rows]
    return Raw(X, [row[-1] for row in rows], names[:-1])


def _german24(members: Sequence[bytes]) -> Raw:
    rows = parse_table(members[0], delimiter=None)
    return Raw(to_floats(row[:-1] for row in rows), [row[-1] for row in rows], _numbered("A", 24))


_SPLICE_LEVELS = ["A", "G", "C", "T"]


def _splice(members: Sequence[bytes]) -> Raw:
    """Rows with an ambiguous base (D, N, R, S) are dropped; A, G, C, T become 1, 2, 3, 4."""
    names, rows = parse_arff(members[0])
    rows = [row for row in rows if set(row[1:-1]) <= set(_SPLICE_LEVELS)]
    X = np.array([to_codes(row[1:-1], _SPLICE_LEVELS) + 1 for row in rows], dtype=np.float64)
    return Raw(X, ["neither" if row[-1] == "N" else "junction" for row in rows], names[1:-1])


def _splice1000(members: Sequence[bytes]) -> Raw:
    """The rows of splice that LIBSVM's file of that name holds, in its order: their places are committed."""
    whole, text = (
        _splice(members),
        Path(__file__).with_name("splice1000_rows.txt").read_text(encoding="ascii"),
    )
    rows = np.array(text.split(), dtype=np.intp)
    return replace(whole, X=whole.X[rows], labels=[whole.labels[row] for row in rows])


# Levels in the order of the ARFF declaration, which is also the order of the IDA form.
_LJUBLJANA_LEVELS = [
    [f"{10 * k}-{10 * k + 9}" for k in range(1, 10)],
    ["lt40", "ge40", "premeno"],
    [f"{5 * k}-{5 * k + 4}" for k in range(12)],
    [f"{3 * k}-{3 * k + 2}" for k in range(13)],
    ["yes", "no"],
    ["1", "2", "3"],
    ["left", "right"],
    ["left_up", "left_low", "right_up", "right_low", "central"],
    ["yes", "no"],
]


def _breast_cancer(members: Sequence[bytes]) -> Raw:
    names, rows = parse_arff(members[0])
    rows = [row for row in rows if "?" not in row]
    columns = [to_codes((row[j] for row in rows), levels) for j, levels in enumerate(_LJUBLJANA_LEVELS)]
    return Raw(np.column_stack(columns).astype(np.float64), [row[-1] for row in rows], names[:-1])


def _signed_table(members: Sequence[bytes]) -> Raw:
    """KEEL rows whose class is -1.0 or 1.0."""
    rows = parse_table(members[0])
    labels = [f"{int(float(row[-1])):+d}" for row in rows]
    return Raw(to_floats(row[:-1] for row in rows), labels, ["class", "age", "sex"])


def _thyroid(members: Sequence[bytes]) -> Raw:
    names = ["t3_resin_uptake", "thyroxin", "triiodothyronine", "tsh", "tsh_increase"]
    rows = parse_table(members[0])
    return Raw(to_floats(row[:-1] for row in rows), [row[-1] for row in rows], names)


_FLARE_LEVELS = {0: ["A", "R", "S", "X", "K", "H"], 1: ["X", "O", "I", "C"]}


def _flare(members: Sequence[bytes]) -> Raw:
    declarations = [
        line.split() for line in members[0].decode().splitlines() if line.startswith("@attribute")
    ]
    rows = parse_table(members[0])
    X = np.empty((len(rows), 11))
    for j in range(11):
        cells = [row[j] for row in rows]
        X[:, j] = to_codes(cells, _FLARE_LEVELS[j]) if j in _FLARE_LEVELS else [float(cell) for cell in cells]
    return Raw(X, [row[-1] for row in rows], [words[1] for words in declarations[:-1]])


def _satimage(members: Sequence[bytes]) -> Raw:
    parts = [parse_table(member, delimiter=None) for member in members]
    rows = [row for part in parts for row in part]
    part = np.repeat(np.array([0, 1], dtype=np.int8), [len(rows) for rows in parts])
    return Raw(to_floats(row[:-1] for row in rows), [row[-1] for row in rows], _numbered("A", 36), part)


def _banana(members: Sequence[bytes]) -> Raw:
    X, labels = parse_libsvm(members[0], 2)
    return Raw(X, [f"{int(label):+d}" for label in labels], ["x1", "x2"])


def _rda(label: str, drop: Sequence[str] = ()) -> Recipe:
    """Make the recipe of an R data frame of numbers (or factors of them); incomplete rows are dropped."""

    def recipe(members: Sequence[bytes]) -> Raw:
        frame = parse_rda(members[0]).drop(columns=list(drop)).dropna()
        features = frame.drop(columns=label)
        X = np.column_stack([features[name].astype(str).astype(float) for name in features])
        return Raw(X, [str(value) for value in frame[label]], list(features.columns))

    return recipe


def _votes84(members: Sequence[bytes]) -> Raw:
    frame = parse_rda(members[0])
    votes = frame.drop(columns="Class")
    X = np.column_stack([votes[name].map({"n": 0.0, "y": 1.0}).astype(float) for name in votes])
    return Raw(X, [str(value) for value in frame["Class"]], list(votes.columns))


def _bundled(loader: str) -> Recipe:
    """Make the recipe of a set that scikit-learn bundles."""

    def recipe(members: Sequence[bytes]) -> Raw:
        import sklearn.datasets

        bunch = getattr(sklearn.datasets, loader)()
        labels = [str(bunch.target_names[code]) for code in bunch.target]
        return Raw(bunch.data, labels, [str(name) for name in bunch.feature_names])

    return recipe


def _usps(members: Sequence[bytes]) -> Raw:
    rows = parse_table(members[0], delimiter="\t", header=3)
    part = to_codes((row[257] for row in rows), ["train", "test"]).astype(np.int8)
    names = [f"{i + 1}_{j + 1}" for i in range(16) for j in range(16)]
    labels = [str(int(row[256]) - 1) for row in rows]  # the file counts the digits from 1
    return Raw(to_floats(row[:256] for row in rows), labels, names, part)


def _mnist(members: Sequence[bytes]) -> Raw:
    train_images, train_labels, test_images, test_labels = (parse_idx(member) for member in members)
    X = np.concatenate([train_images, test_images]).reshape(-1, 784)
    labels = [str(digit) for digit in np.concatenate([train_labels, test_labels])]
    part = np.repeat(np.array([0, 1], dtype=np.int8), [len(train_labels), len(test_labels)])
    return Raw(X, labels, [f"{i}_{j}" for i in range(28) for j in range(28)], part)


def _covertype(members: Sequence[bytes]) -> Raw:
    """The 44 indicator columns are kept as two codes (wilderness area, soil type)."""
    header, _, body = members[0].partition(b"\n")
    table = np.fromstring(body.replace(b"\r", b"").replace(b"\n", b",").rstrip(b","), dtype=np.int64, sep=",")
    table = table.reshape(-1, 55)
    wilderness, soil = table[:, 10:14], table[:, 14:54]
    if not ((wilderness.sum(axis=1) == 1).all() and (soil.sum(axis=1) == 1).all()):
        raise ValueError("covertype: expected one wilderness area and one soil type in each row.")
    codes = np.column_stack([wilderness.argmax(axis=1), soil.argmax(axis=1)]).astype(np.uint8)
    labels = [str(value) for value in table[:, 54]]
    names = header.decode().strip().split(",")[:-1]
    return Raw(
        table[:, :10].astype(float), labels, names, codes=codes, levels=np.array([4, 40], dtype=np.int8)
    )


RECIPES: dict[str, Recipe] = {
    "australian": _australian,
    "banana": _banana,
    "breast": _rda("Class", drop=["Id"]),
    "breast-cancer": _breast_cancer,
    "covertype": _covertype,
    "digits": _bundled("load_digits"),
    "dna": _rda("Class"),
    "flare": _flare,
    "german": _german,
    "german24": _german24,
    "glass": _rda("Type"),
    "heart": _numeric_arff,
    "ionosphere": _rda("Class"),
    "iris": _bundled("load_iris"),
    "letter": _numeric_arff,
    "liver": _numeric_arff,
    "mnist": _mnist,
    "pendigits": _pendigits,
    "pima": _rda("diabetes"),
    "satimage": _satimage,
    "segment": _numeric_arff,
    "sonar": _rda("Class"),
    "spam": _rda("type"),
    "splice": _splice,
    "splice1000": _splice1000,
    "thyroid": _thyroid,
    "titanic": _signed_table,
    "usps": _usps,
    "vehicle": _rda("Class"),
    "votes84": _votes84,
    "vowel": _vowel,
    "wdbc": _bundled("load_breast_cancer"),
    "wine": _bundled("load_wine"),
}
