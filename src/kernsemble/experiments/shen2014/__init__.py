"""Trials of shen2014; ``plan`` says what they are."""

from kernsemble.experiments.shen2014 import (
    families,
    infinite,
    multiboost,
    multiclass,
    pictures,
    repeated,
    spam,
    table1,
    table2,
    theory,
    timing,
    toy,
    vowel,
)
from kernsemble.experiments.shen2014.plan import paper

__all__ = [
    "families",
    "infinite",
    "multiboost",
    "multiclass",
    "paper",
    "pictures",
    "repeated",
    "spam",
    "table1",
    "table2",
    "theory",
    "timing",
    "toy",
    "vowel",
]
