"""Where a row was computed, apart from what it is a function of: kept with it for ever, asked for nothing."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from kernsemble.trials.arithmetic import arithmetic

LOCK_FILE = Path(__file__).parents[3] / "requirements.lock"
OTHER = "other"


class Provenance(NamedTuple):
    """The libraries and the arithmetic of the process that computed a row; empty: not recorded."""

    lock: str = ""
    arithmetic: str = ""


NOT_RECORDED = Provenance()


@cache
def provenance() -> Provenance:
    """Return the provenance of what this process computes."""
    return Provenance(lock_digest(LOCK_FILE), arithmetic())


def lock_digest(path: Path) -> str:
    """Return eight digits of the lock; "other" when what is installed is not what it pins, "" without one.

    A package that is pinned and not installed does not matter.
    """
    if not path.is_file():
        return ""
    text = path.read_bytes()
    pins: dict[str, set[str]] = {}
    for name, pinned in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text.decode(), re.MULTILINE):
        pins.setdefault(name, set()).add(pinned)
    if any(installed(name) not in (None, *allowed) for name, allowed in pins.items()):
        return OTHER
    return hashlib.sha256(text).hexdigest()[:8]


def installed(name: str) -> str | None:
    """Return the installed version of a package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
