"""Trials of bi2004; ``plan`` says what they are."""

from kernsemble.experiments.bi2004 import (
    facts,
    forest,
    growth,
    large,
    levels,
    modern,
    readings,
    small,
    target,
    theory,
    thresholds,
    widths,
)
from kernsemble.experiments.bi2004.plan import paper

__all__ = [
    "facts",
    "forest",
    "growth",
    "large",
    "levels",
    "modern",
    "paper",
    "readings",
    "small",
    "target",
    "theory",
    "thresholds",
    "widths",
]
