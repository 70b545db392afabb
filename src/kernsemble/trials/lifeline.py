"""A command ends when it is told to, and with whoever called it: nobody is left at work alone.

SIGTERM and SIGHUP end a command as ^C does: what was computed is saved, workers and kernels end too. A
command that make or DVC has started looks twice a second whether they, and the shells between, still live:
killed, they could tell nobody. Nothing is watched where a person has started the command: under ``nohup`` it
may well outlive a terminal.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

CALLER = "KERNSEMBLE_CALLER"  # make's process number
DVC_STAGE = b"DVC_STAGE="  # in the environment of what DVC starts
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_SECONDS = 0.5
GRACE_SECONDS = 10.0


class Process(NamedTuple):
    """A process, which its number alone does not name: numbers are used again."""

    pid: int
    started: str


def watch() -> None:
    """Let this process end in order when it is told to, and when a caller dies."""
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # nohup ignores SIGHUP
            signal.signal(number, _stop)
    callers = _callers()
    if callers is None:
        sys.exit("kernsemble: stopped, because make has ended.")
    if callers:
        threading.Thread(target=_end_with, args=(callers,), daemon=True).start()


def leave() -> None:
    """Let signals end this process at once: its work is done, and the interpreter takes itself apart."""
    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, frame: Any) -> None:
    """End in order, told once or more often; what does not end in time, such as a long trial, ends anyway."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    timer = threading.Timer(GRACE_SECONDS, os._exit, (128 + number,))
    timer.daemon = True
    timer.start()
    raise KeyboardInterrupt


def _end_with(callers: list[Process]) -> None:
    while all(_process(caller.pid) == caller for caller in callers):
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(128 + signal.SIGTERM)


def _callers() -> list[Process] | None:
    """Return the processes between this one and make, or DVC, which comes last; None if make has ended."""
    above = list(_ancestors())
    named = os.environ.get(CALLER, "")
    if named.isdecimal():
        place = next((i for i, process in enumerate(above) if process.pid == int(named)), None)
        return None if place is None and above else above[: (place or 0) + 1]
    if "DVC_STAGE" not in os.environ:
        return []
    place = next((i for i, process in enumerate(above) if not _is_in_stage(process.pid)), -1)
    return above[: place + 1]


def _ancestors() -> Iterator[Process]:
    """Yield the processes above this one, the nearest first; none where the system does not tell (/proc)."""
    pid = os.getppid()
    while pid > 1 and (fields := _status(pid)):
        yield Process(pid, fields[19])
        pid = int(fields[1])


def _process(pid: int) -> Process | None:
    """Return a living process by its number."""
    fields = _status(pid)
    return Process(pid, fields[19]) if fields else None


def _status(pid: int) -> list[str]:
    """Return what the kernel tells of a living process, from its state on; empty when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    fields = text.rpartition(")")[2].split()
    return [] if fields[0] in "ZX" else fields


def _is_in_stage(pid: int) -> bool:
    try:
        return DVC_STAGE in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
