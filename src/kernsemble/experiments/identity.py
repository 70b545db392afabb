"""A stand-in, until the identity without names is there: the revision, in other digits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from kernsemble.experiments import revision as _revision


def identity(function: Callable, *, named: bool = False) -> str:
    """Return twelve hexadecimal digits that change when the code behind a trial function does."""
    text = f"{_revision.revision(function)} {function.__name__ if named else ''}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def parts(function: Callable) -> dict[str, str]:
    """Return the hash of each symbol that a trial function reaches."""
    start = _revision.Symbol(function.__module__, function.__name__)
    symbols = sorted(_revision.reach([start, _revision.Symbol(_revision.ALWAYS, _revision.EVERYTHING)]))
    return {
        f"{symbol.module}.{symbol.name}": hashlib.sha256(
            "\n".join(_revision._source(symbol)[0]).encode()
        ).hexdigest()[:8]
        for symbol in symbols
    }
