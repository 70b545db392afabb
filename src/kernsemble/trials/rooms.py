"""The rooms: a folder a paper in ``notebooks``, each a Python package that is named by the paper's key.

A room holds what belongs to one paper alone: its article ``KEY.ipynb``, its trials, what decides its claims,
its drawings. Which module makes the ``Paper``, which declare trials, and which say how printed numbers are
read, is seen in their text (`modules_with`), so that no list has to be kept.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

PAPERS = ("bi2004", "linli2005", "lin2012", "shen2014", "guo2017")
# What is run like a paper without being one: the comparison across all of them.
STUDIES = (*PAPERS, "atlas")
FOLDER = Path(__file__).resolve().parents[3] / "notebooks"


def open_rooms() -> None:
    """Let the rooms be imported by their keys, as in ``import linli2005.trials``."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))


@cache
def modules_with(key: str, start: str) -> tuple[str, ...]:
    """Return the modules of a room of which a line starts so, in the order of their names."""
    paths = sorted((FOLDER / key).glob("*.py"))
    return tuple(f"{key}.{path.stem}" for path in paths if f"\n{start}" in path.read_text(encoding="utf-8"))
