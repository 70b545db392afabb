"""Words of an article that state an order, a direction or a size, and the numbers that make them true."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
import pytest

from kernsemble.report.say import Facts
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study
from support.made_evidence import ROOT

Value = Callable[[str], float]


def committed_facts(key: str) -> Facts:
    """Return the facts of a paper's committed evidence, rows of older code included."""
    return Facts(Study(key, "paper", ROOT, older=True))


def check_conclusion(facts: Facts, words: str, is_true: Callable[[Value], bool]) -> None:
    """Check that words stand in the article and are true of its evidence, as far as that is there."""
    key = facts.study.key
    notebook = nbformat.read(ROOT / "notebooks" / key / f"{key}.ipynb", as_version=4)
    assert words in " ".join(" ".join(cell.source for cell in notebook.cells).split())
    try:
        assert is_true(facts.value)
    except IncompleteEvidenceError as error:
        pytest.skip(str(error))
