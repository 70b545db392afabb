"""Progress and notes on standard error: a bar with the time left for a person, silence for a file."""

from __future__ import annotations

import sys

from tqdm import tqdm


def progress_bar(total: int, label: str) -> tqdm:
    """Return a bar that counts trials and shows the time left; it is silent when stderr is not a terminal."""
    shape = "{desc}: {n_fmt}/{total_fmt} |{bar}| {elapsed} spent, {remaining} left"
    return tqdm(total=total, desc=label, disable=not sys.stderr.isatty(), bar_format=shape, leave=False)


def note(message: str) -> None:
    """Write one line to standard error without disturbing a bar."""
    tqdm.write(f"kernsemble: {message}", file=sys.stderr)


def duration(seconds: float) -> str:
    """Return seconds as a person would say them.

    Examples
    --------
    >>> from kernsemble.trials.progress import duration
    >>> duration(4.2), duration(600), duration(9000)
    ('4 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
