"""What an article concludes in words of its own, beside the committed evidence."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import nbformat
import pytest

from kernsemble.report.say import Facts
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]


@cache
def words_of(key: str) -> str:
    """Return the source of an article, its white space made equal."""
    notebook = nbformat.read(ROOT / "notebooks" / key / f"{key}.ipynb", as_version=4)
    return " ".join(" ".join(cell.source for cell in notebook.cells).split())


@cache
def committed(key: str) -> Facts:
    """Return the named numbers of the committed evidence, rows of older code included."""
    return Facts(Study(key, "paper", ROOT, older=True))


def check_conclusion(key: str, words: str, is_so) -> None:
    """Fail where an article says some words and its numbers, asked for by name, say otherwise.

    Where rows are not computed yet the article shows dashes, and there is nothing to check.
    """
    assert words in words_of(key)
    try:
        so = is_so(committed(key).value)
    except IncompleteEvidenceError as error:
        pytest.skip(str(error))
    assert so
