"""Sentences made of evidence: what an exhibit says, in words that are right whatever its numbers are.

A sentence is a function without arguments, so that one whose evidence is not complete can say that instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from kernsemble.report.comparisons import best_methods
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study

Sentence = Callable[[], str]
_LEVEL = 0.05  # of the paired t-tests, with Holm's correction


def said(study: Study, name: str, sentences: Iterable[tuple[str, Sentence]]) -> Table:
    """Return sentences by what they are about; one whose evidence is not complete says that instead.

    The table is saved as ``name_in_words``, next to the paper's other tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from types import SimpleNamespace
    >>> with TemporaryDirectory() as folder:
    ...     study = SimpleNamespace(scale="paper", folder=Path(folder))
    ...     said(study, "weather", [("today", lambda: "rain"), ("tomorrow", lambda: "sun")])
    weather   in words
    today     rain
    tomorrow  sun
    """
    rows = []
    for about, sentence in sentences:
        try:
            text = sentence()
        except IncompleteEvidenceError as error:
            text = f"… {error}"
        rows.append((Cell(about), Cell(text)))
    table = Table((name, "in words"), tuple(rows), scale_note(study).strip())
    save_table(study, table, f"{name}_in_words")
    return table


def per_set(study: Study, name: str, say: Callable[[Evidence, str], str]) -> Table:
    """Return one sentence, ``say(evidence, label)``, for each dataset of an exhibit."""
    evidence = study.evidence(name)
    return said(
        study, name, [(label, lambda label=label: say(evidence, label)) for label in evidence.datasets]
    )


def best_and_rest(names: Sequence[str], values: np.ndarray, unit: str) -> str:
    """Say which column of ``values`` (runs x names) has the least mean, and what cannot be told from it.

    Examples
    --------
    >>> import numpy as np
    >>> best_and_rest(["a", "b", "c"], np.array([[1.0, 5.0, 1.1], [2.0, 6.1, 1.9]]), "%")
    'a has the least mean (1.50 %), c (1.50) cannot be told from it'
    """
    means = values.mean(axis=0)
    order = np.argsort(means, kind="stable")
    best = f"{names[order[0]]} has the least mean ({means[order[0]]:.2f} {unit})"
    if len(values) < 2:
        return f"{best}, of a single run"
    alike = best_methods(values, alpha=_LEVEL)
    close = [f"{names[k]} ({means[k]:.2f})" for k in order[1:] if alike[k]]
    rest = f"{joined(close)} cannot be told from it" if close else "and all others are worse"
    return f"{best}, {rest}"


def joined(words: Sequence[str]) -> str:
    """Return words as an enumeration.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a"]), joined([])
    ('a, b and c', 'a', '')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def in_order(names: Sequence[str], values: Sequence[float], form: str = ".2f") -> str:
    """Return names with their values, the smallest first.

    Examples
    --------
    >>> in_order(["a", "b", "c"], [3.0, 1.0, 2.0], ".1f")
    'b 1.0, c 2.0, a 3.0'
    """
    order = np.argsort(values, kind="stable")
    return ", ".join(f"{names[k]} {values[k]:{form}}" for k in order)
