"""Trials of shen2014; ``plan`` says what they are."""

from kernsemble.experiments.shen2014 import (
    infinite,
    multiboost,
    multiclass,
    spam,
    table1,
    table2,
    theory,
    timing,
    toy,
)
from kernsemble.experiments.shen2014.plan import paper

__all__ = [
    "infinite",
    "multiboost",
    "multiclass",
    "paper",
    "spam",
    "table1",
    "table2",
    "theory",
    "timing",
    "toy",
]
