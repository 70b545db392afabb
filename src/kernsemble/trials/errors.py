"""What a person is told: the error that says what to change, a note, a bar with the time left.

The command line prints the error without a traceback. Notes and bars go to standard
error; a file gets no bar.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm


class PlanError(ValueError):
    """Something asked for cannot be carried out; the message names the key and the remedy."""


class FailedError(RuntimeError):
    """Work that was begun and failed; the message says what, and where."""


@contextmanager
def as_plan_error() -> Iterator[None]:
    """Raise what is wrong with a file that a person writes as a ``PlanError``."""
    try:
        yield
    except PlanError:
        raise
    except ValueError as error:
        raise PlanError(str(error)) from None


def read_once(read: Callable) -> Callable:
    """Keep what a function reads from a file for as long as the file stays as it is.

    What changed within the last second is not kept: a second change might leave the same time and size.
    """
    kept: dict[tuple, tuple[tuple[int, ...], Any]] = {}

    @wraps(read)
    def reads(path: Path, *arguments: Any, **options: Any) -> Any:
        try:
            status = path.stat()
        except OSError:
            return read(path, *arguments, **options)
        version = status.st_mtime_ns, status.st_size, status.st_ino
        key = path, arguments, tuple(options.items())
        before, found = kept.get(key, ((), None))
        if before != version:
            found = read(path, *arguments, **options)
            if time.time_ns() - status.st_mtime_ns > 1e9:
                kept[key] = version, found
        return found

    return reads


def progress_bar(total: int, label: str) -> tqdm:
    """Return a bar that counts trials and shows the time left; it is silent when stderr is not a terminal."""
    from tqdm import tqdm  # identities are taken where no package is installed

    shape = "{desc}: {n_fmt}/{total_fmt} |{bar}| {elapsed} spent, {remaining} left"
    return tqdm(total=total, desc=label, disable=not sys.stderr.isatty(), bar_format=shape, leave=False)


def note(message: str) -> None:
    """Write one line to standard error without disturbing a bar."""
    from tqdm import tqdm

    tqdm.write(f"kernsemble: {message}", file=sys.stderr)


def duration(seconds: float) -> str:
    """Return seconds as a person would say them.

    Examples
    --------
    >>> from kernsemble.trials.errors import duration
    >>> duration(4.2), duration(600), duration(9000)
    ('4 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
