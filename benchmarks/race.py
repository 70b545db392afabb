"""What every race shares: the clock, and a row of the table."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One task, ours and a peer's time for it, and whether both found the same.

    ``note`` says what a reader must know: what the times do not contain, or what keeps a target out of reach.
    """

    task: str
    size: str
    peer: str
    ours_seconds: float
    peer_seconds: float
    ratio: float
    target: float
    same_answer: bool
    note: str = ""


def compare(
    task: str,
    size: str,
    peer: str,
    ours: float,
    theirs: float,
    target: float,
    same_answer: bool,
    note: str = "",
) -> Row:
    """Return the row of a task; the ratio is the peer's time over ours."""
    return Row(task, size, peer, ours, theirs, theirs / ours, target, bool(same_answer), note)


def fastest(function: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Return the least seconds of a call, after one to warm up, and what it returned."""
    result, least = function(), float("inf")
    for _ in range(repeats):
        start = perf_counter()
        result = function()
        least = min(least, perf_counter() - start)
    return least, result


def once(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of a single call, and what it returned."""
    start = perf_counter()
    result = function()
    return perf_counter() - start, result
