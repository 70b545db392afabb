"""Labels of the datasets of shen2014."""

from __future__ import annotations

IDA_SETS = (
    "banana", "b-cancer", "diabetes", "f-solar", "german", "heart", "image", "ringnorm", "splice", "thyroid",
    "titanic", "twonorm", "waveform",
)  # fmt: skip
# Sets of which the benchmark's own splits are at hand; "heart official" is heart on those.
OFFICIAL_SETS = ("banana", "b-cancer", "german", "heart", "image", "ringnorm", "titanic", "waveform")
OFFICIAL_LABELS = tuple(f"{name} official" for name in OFFICIAL_SETS)
BINARY_SETS = (*IDA_SETS, *OFFICIAL_LABELS)

UCI_SETS = ("wine", "iris", "glass", "vehicle", "DNA", "vowel", "segment")
VISION_SETS = ("MNIST", "USPS", "CIFAR10", "Scene15")
MULTICLASS_SETS = (*UCI_SETS, *VISION_SETS)

STORED = {
    "banana": "banana", "b-cancer": "breast-cancer", "diabetes": "pima", "f-solar": "flare",
    "german": "german", "heart": "heart", "image": "segment", "ringnorm": None, "splice": "splice",
    "thyroid": "thyroid", "titanic": "titanic", "twonorm": None, "waveform": None,
    **dict.fromkeys(OFFICIAL_LABELS, "ida"),
    "wine": "wine", "iris": "iris", "glass": "glass", "vehicle": "vehicle", "DNA": "dna", "vowel": "vowel",
    "segment": "segment", "MNIST": "mnist", "USPS": "usps", "CIFAR10": "cifar10", "Scene15": "scene15",
    "spam": "spam", "toy": None,
}  # fmt: skip


def printed_label(row: str) -> str:
    """Return the label whose trials stand beside a printed row: the official splits where we have them."""
    return f"{row} official" if row in OFFICIAL_SETS else row
