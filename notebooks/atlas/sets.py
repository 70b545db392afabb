"""Datasets of the atlas: all that come with the repository."""

from __future__ import annotations

BINARY_SETS = (
    "australian", "banana", "breast", "breast-cancer", "german", "german24", "heart", "ionosphere",
    "liver", "pima", "sonar", "spam", "splice", "titanic", "votes84", "wdbc",
)  # fmt: skip
MULTICLASS_SETS = (
    "covertype", "digits", "dna", "flare", "glass", "iris", "letter", "mnist",
    "pendigits", "satimage", "segment", "thyroid", "usps", "vehicle", "vowel", "wine",
)  # fmt: skip
ALL_SETS = (*BINARY_SETS, *MULTICLASS_SETS)
# The same applicants in another coding: one of the two is enough where sets are counted.
SAME_ROWS = {"german": "german24"}

LIMIT_SETS = ("heart", "ionosphere", "pima", "sonar")
MASTER_SETS = ("heart", "liver")
DIVERSITY_SETS = ("german24", "heart", "ionosphere", "pima", "sonar", "wdbc")
