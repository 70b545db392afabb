"""The error that tells a person what to change; the command line prints it without a traceback."""

import reprlib

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80


class PlanError(ValueError):
    """Something asked for cannot be carried out; the message names the key and the remedy."""


def shown(value: object) -> str:
    """Return what a message says was found, long values shortened.

    Examples
    --------
    >>> from kernsemble.trials.errors import shown
    >>> shown("all"), len(shown("a" * 5000))
    ("'all'", 80)
    """
    return _short.repr(value)
