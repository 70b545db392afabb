"""Trials of shen2014; ``plan`` says what they are."""

from kernsemble.experiments.shen2014 import (
    infinite,
    multiclass,
    spam,
    table1,
    table2,
    theory,
    timing,
    toy,
)
from kernsemble.experiments.shen2014.plan import paper

__all__ = ["infinite", "multiclass", "paper", "spam", "table1", "table2", "theory", "timing", "toy"]
