"""The file of an exhibit's evidence: CSV, one row a trial, appended as trials finish.

Each row ends with a CRC-32 of the header and its own text, so that a half-written or damaged line is noticed
wherever it is, and so are columns that changed their names. Rows are flushed to the disk before the next
batch is taken; a run that was killed goes on from what is there. When all rows of the scale are current, the
file is written anew, sorted, in one step: its bytes then depend on the rows alone.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kernsemble.trials.errors import PlanError, read_once
from kernsemble.trials.plan import Key, Stamp
from kernsemble.trials.provenance import NOT_RECORDED, Provenance

KEY_COLUMNS = ("dataset", "method", "trial")
TAIL_COLUMNS = ("seconds", "code", "lock", "arithmetic", "params", "data")
CHECK = "check"
Value = float | int | tuple[float | int, ...]
csv.field_size_limit(2**31 - 1)  # a long curve is one cell


class EvidenceError(PlanError):
    """Evidence cannot be written or read; the message says where and what to do."""


class Row(NamedTuple):
    """One row: its key, the metrics as text, the seconds it took, and what it came from."""

    key: Key
    metrics: Mapping[str, str]
    seconds: float
    stamp: Stamp
    provenance: Provenance = NOT_RECORDED


class Contents(NamedTuple):
    """What a file of evidence holds: sound rows in their order, and the numbers of damaged lines."""

    rows: Sequence[Row] = ()
    damaged: Sequence[int] = ()
    clean: bool = True


@read_once
def read_rows(path: Path, metrics: tuple[str, ...]) -> Contents:
    """Read a file of evidence; lines that fail their check are counted, never used.

    The check of a row covers the header above it: a row is read under the file's header, or under today's
    where only that one fits, because the file's has been damaged.

    Parameters
    ----------
    path : Path
    metrics : tuple of str
        Columns that the exhibit declares today; others in the file are left out.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Contents()
    except OSError as error:
        raise EvidenceError(f"{path} cannot be read: {error.strerror}.") from None
    lines = data.split(b"\n")
    own, today = lines[0].rstrip(b"\r"), _header(metrics)
    headers = {line: columns for line in (own, today) if (columns := _columns(line))}
    checks = {line: zlib.crc32(line) for line in headers}
    rows, damaged, fitting, known = [], [], set(), frozenset(metrics)
    for number, line in enumerate(lines[1:], start=2):
        body, _, check = line.rstrip(b"\r").rpartition(b",")
        ended = number < len(lines)  # the last line ends in a line break, or was cut off
        header = next((h for h in headers if ended and _crc(body, checks[h]) == check), None)
        row = _row(headers[header], body, known) if header is not None else None
        if row is not None:
            rows.append(row)
            fitting.add(header)
        elif line or ended:
            damaged.append(number)
    if own not in headers or fitting == {today} != {own}:
        damaged.insert(0, 1)
    return Contents(rows, damaged, own == today and not damaged and data.endswith(b"\n"))


def _header(metrics: Sequence[str]) -> bytes:
    return _as_line((*KEY_COLUMNS, *metrics, *TAIL_COLUMNS, CHECK))


def _columns(line: bytes) -> tuple[str, ...] | None:
    """Return the columns that a header line names, the check apart; None when it is damaged."""
    try:
        columns = tuple(next(csv.reader([line.decode(errors="replace")]), ()))
    except csv.Error:
        return None
    ends = columns[: len(KEY_COLUMNS)], columns[-len(TAIL_COLUMNS) - 1 :]
    sound = ends == (KEY_COLUMNS, (*TAIL_COLUMNS, CHECK)) and len(set(columns)) == len(columns)
    return columns[:-1] if sound else None


def _row(columns: tuple[str, ...], body: bytes, known: frozenset[str]) -> Row | None:
    text = body.decode(errors="replace")
    cells = next(csv.reader([text]), []) if '"' in text else text.split(",")
    if len(cells) != len(columns):
        return None
    dataset, method, trial, *values, seconds, code, lock, arithmetic, params, data = cells
    if not (trial.isdecimal() and trial.isascii() and len(trial) < 10) or not _is_number(seconds):
        return None
    named = zip(columns[len(KEY_COLUMNS) :], values, strict=False)
    metrics = {name: text for name, text in named if text and name in known}
    key, stamp = Key(dataset, method, int(trial)), Stamp(code, params, data)
    return Row(key, metrics, float(seconds), stamp, Provenance(lock, arithmetic))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _crc(body: bytes, of_header: int) -> bytes:
    return b"%08x" % zlib.crc32(body, of_header)


def format_value(value: Value) -> str:
    """Write a number so that it reads back exactly; an array as numbers, each with a space before it."""
    return "".join(f" {item!r}" for item in value) if isinstance(value, tuple) else repr(value)


def format_rows(rows: Iterable[Row], metrics: Sequence[str]) -> bytes:
    """Return the lines of rows, each with its check."""
    lines, of_header = [], zlib.crc32(_header(metrics))
    for row in rows:
        values = [row.metrics.get(name, "") for name in metrics]
        code, *inputs = row.stamp
        cells = (*row.key, *values, f"{row.seconds:.4g}", code, *row.provenance, *inputs)
        body = _as_line(cells)
        if b"\n" in body or b"\r" in body:
            raise EvidenceError(f"A name in {row.key} contains a line break.")
        lines.append(b"%s,%s\n" % (body, _crc(body, of_header)))
    return b"".join(lines)


def format_file(rows: Iterable[Row], metrics: Sequence[str]) -> bytes:
    """Return the bytes of a whole file, sorted by key."""
    return b"%s\n%s" % (_header(metrics), format_rows(sorted(rows, key=lambda row: row.key), metrics))


def _as_line(cells: Iterable[object]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(cells)
    return buffer.getvalue().encode()


class EvidenceWriter:
    """Appends rows to one file; every row is on the disk when ``append`` returns.

    Parameters
    ----------
    path : Path
    metrics : sequence of str
    kept : iterable of Row
        Sound rows that the file holds; it is repaired first when it holds anything else.
    clean : bool
        Whether the file is fit to be appended to as it is.
    """

    def __init__(self, path: Path, metrics: Sequence[str], kept: Iterable[Row], clean: bool) -> None:
        self.path = path
        self.metrics = metrics
        if not clean or not path.is_file():
            write_atomically(path, format_file(kept, metrics))
        with _explained(path):
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows at the end and wait until they are on the disk."""
        data = format_rows(rows, self.metrics)
        size = os.fstat(self._file).st_size
        with _explained(self.path):
            try:
                while data:
                    data = data[os.write(self._file, data) :]
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, size)  # no half-written line is left behind
                raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def keep_rows(path: Path, rows: Iterable[Row], metrics: Sequence[str], at_most: int = 50_000) -> None:
    """Add rows to a file that others may need again; of more than it may hold, the oldest go."""
    kept = {(row.key, row.stamp): row for row in (*read_rows(path, metrics).rows, *rows)}
    if kept:
        lines = format_rows(list(kept.values())[-at_most:], metrics)
        write_atomically(path, b"%s\n%s" % (_header(metrics), lines))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file in one step; a reader sees the old bytes or the new ones. Equal bytes are left alone."""
    with _explained(path):
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the lock on a folder of evidence.

    The lock belongs to the process (``flock``): it ends with it however it ends, so none is ever left behind.
    """
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with _explained(folder):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise EvidenceError(
                    f"Another run{_holder(handle)} is writing {folder}: wait until it ends, or stop it."
                ) from None
        for left_behind in folder.glob(".*.tmp"):
            left_behind.unlink()
        yield
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    """Name the process that holds the lock, where the system tells."""
    inode = os.fstat(handle).st_ino
    try:
        locks = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return ""
    owners = [line.split()[4] for line in locks if line.split()[5].endswith(f":{inode}")]
    return f" (process {owners[0]})" if owners else ""


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of the file system into a sentence with a remedy."""
    remedies = {
        errno.ENOSPC: "the disk is full: free some space",
        errno.EDQUOT: "the disk quota is used up: free some space",
        errno.EFBIG: "files may not become as large as it (ulimit -f): lift that limit",
        errno.EROFS: "the file system is read-only: make it writable",
        errno.EACCES: "permission denied: make it writable",
        errno.EPERM: "permission denied: make it writable",
        errno.ENOLCK: "the file system knows no locks: put the results on a local disk",
    }
    try:
        yield
    except EvidenceError:
        raise
    except OSError as error:
        remedy = remedies.get(error.errno or 0, f"{error.strerror}: mend that")
        raise EvidenceError(
            f"{path} cannot be written; {remedy} and run the same command again. Rows saved so far are kept."
        ) from None
