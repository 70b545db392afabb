"""Trials of guo2017; ``plan`` says what they are."""

from kernsemble.experiments.guo2017 import (
    beyond,
    curves,
    diversity,
    drm_table,
    protocols,
    race,
    readings,
    tables,
    theory,
    timing,
    tree_readings,
)
from kernsemble.experiments.guo2017.plan import paper

__all__ = [
    "beyond",
    "curves",
    "diversity",
    "drm_table",
    "paper",
    "protocols",
    "race",
    "readings",
    "tables",
    "theory",
    "timing",
    "tree_readings",
]
