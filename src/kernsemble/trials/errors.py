"""The error that tells a person what to change; the command line prints it without a traceback."""

from __future__ import annotations

import reprlib
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


class PlanError(ValueError):
    """Something asked for cannot be carried out; the message names the key and the remedy."""


def read_once(read: Callable) -> Callable:
    """Keep what a function reads from a file for as long as the file stays as it is.

    What changed within the last second is not kept: a second change might leave the same time and size.
    """
    kept: dict[tuple, tuple[tuple[int, ...], Any]] = {}

    @wraps(read)
    def reads(path: Path, *arguments: Any) -> Any:
        try:
            status = path.stat()
        except OSError:
            return read(path, *arguments)
        version = status.st_mtime_ns, status.st_size, status.st_ino
        before, found = kept.get((path, *arguments), ((), None))
        if before != version:
            found = read(path, *arguments)
            if time.time_ns() - status.st_mtime_ns > 1e9:
                kept[path, *arguments] = version, found
        return found

    return reads


def shown(value: object) -> str:
    """Return what a message says was found, long values shortened.

    Examples
    --------
    >>> from kernsemble.trials.errors import shown
    >>> shown("all"), len(shown("a" * 5000))
    ("'all'", 80)
    """
    return _short.repr(value)
