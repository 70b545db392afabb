"""Trials of bi2004; ``plan`` says what they are."""

from kernsemble.experiments.bi2004 import (
    beyond,
    facts,
    forest,
    growth,
    large,
    readings,
    small,
    target,
    theory,
)
from kernsemble.experiments.bi2004.plan import paper

__all__ = [
    "beyond",
    "facts",
    "forest",
    "growth",
    "large",
    "paper",
    "readings",
    "small",
    "target",
    "theory",
]
