"""Evidence: what the trials of an exhibit gave, one row a trial, and how much of it is current.

The file is CSV. Each row ends with a CRC-32 of the header and its own text, so that a half-written or damaged
line is noticed wherever it is, and so are columns that changed their names. Rows are flushed to the disk
before the next batch is taken; a run that was killed goes on from what is there. When all rows of the scale
are current, the file is written anew, sorted, in one step: its bytes then depend on the rows alone.

A row is current when its parameters and data are today's, and its code is today's or has been adopted
(``warrants.py``). Any other row is stale: it is counted, never shown, and computed again. Evidence is
complete, or says that it is not: ``frame`` has all of it, and whoever asks whether something is there asks
``Evidence.is_complete`` or ``Evidence.require``.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import io
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kernsemble.trials.arithmetic import NOT_RECORDED, Provenance
from kernsemble.trials.errors import PlanError, read_once
from kernsemble.trials.plan import ExhibitPlan, Key, Stamp
from kernsemble.trials.warrants import Adoption, Standing, Warrants

if TYPE_CHECKING:
    import pandas as pd

KEY_COLUMNS = ("dataset", "method", "trial")
TAIL_COLUMNS = ("seconds", "code", "lock", "arithmetic", "params", "data")
CHECK = "check"
# Metrics, one after the other, each in a line: numbers, or lines of numbers, or nothing.
_NUMBER = r"-?\d++(?:\.\d++)?(?:e[+-]?\d++)?"
_METRICS = re.compile(rf"(?:(?: ?{_NUMBER})*+\n)*+", re.ASCII)
_TRIAL, _SECONDS = re.compile("[0-9]{1,9}"), re.compile(_NUMBER, re.ASCII)
_START = ",".join((*KEY_COLUMNS, "")).encode()  # of a header
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
    """What a file holds: sound rows in their order, damaged lines, whether it is fit to be appended to."""

    rows: Sequence[Row] = ()
    damaged: Sequence[int] = ()
    clean: bool = True


@read_once
def read_rows(path: Path, metrics: tuple[str, ...]) -> Contents:
    """Read a file of evidence; lines that fail their check are counted, never used.

    The check of a row covers the header above it: a row is read under the header that it fits, of those in
    the file (a merge may leave several) and today's, because the file's may be damaged. ``metrics`` are
    those that the exhibit declares today; others in the file are left out.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Contents()
    except OSError as error:
        raise EvidenceError(f"{path} cannot be read: {error.strerror}.") from None
    lines = data.split(b"\n")
    own, today = lines[0].rstrip(b"\r"), _header(metrics)
    others = [line.rstrip(b"\r") for line in lines if line.startswith(_START)]
    headers = {line: columns for line in (own, today, *others) if (columns := _columns(line))}
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
    if not (_TRIAL.fullmatch(trial) and _SECONDS.fullmatch(seconds)):
        return None
    if not _METRICS.fullmatch("".join(f"{text}\n" for text in values)):
        return None
    named = zip(columns[len(KEY_COLUMNS) :], values, strict=False)
    metrics = {name: text for name, text in named if text and name in known}
    key, stamp = Key(dataset, method, int(trial)), Stamp(code, params, data)
    return Row(key, metrics, float(seconds), stamp, Provenance(lock, arithmetic))


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


def append_rows(file: int, path: Path, rows: Iterable[Row], metrics: Sequence[str]) -> None:
    """Add rows at the end of an open file and wait until they are on the disk."""
    data, size = format_rows(rows, metrics), os.fstat(file).st_size
    with _explained(path):
        try:
            while data:
                data = data[os.write(file, data) :]
            os.fsync(file)
        except OSError:
            os.ftruncate(file, size)  # no half-written line is left behind
            raise


def keep_rows(path: Path, rows: Iterable[Row], metrics: Sequence[str], at_most: int = 50_000) -> None:
    """Add rows to a file that others may need again; of more than it may hold, the oldest go."""
    kept = {(row.key, row.stamp): row for row in (*read_rows(path, metrics).rows, *rows)}
    if kept:
        lines = format_rows(list(kept.values())[-at_most:], metrics)
        write_atomically(path, b"%s\n%s" % (_header(metrics), lines))


def write_atomically(path: Path, data: bytes, *, write: bool = True) -> bool:
    """Replace a file in one step; a reader sees the old bytes or the new ones. Equal bytes are left alone.

    Return whether the file changes; with ``write=False``, whether it would.
    """
    with _explained(path):
        if path.is_file() and path.read_bytes() == data:
            return False
        if not write:
            return True
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
    return True


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


class IncompleteEvidenceError(EvidenceError):
    """Trials that are needed are missing or stale."""

    def __init__(self, message: str, *, stale: bool) -> None:
        super().__init__(message)
        self.stale = stale


ROUNDING = 1e-12  # of a mean: equal values whose sums round otherwise deviate by less


@dataclass(frozen=True)
class Sample:
    """What one printed cell summarizes: a metric of one dataset and method, a value a run.

    ``values`` are those of current rows, by trial number; ``expected`` are the runs that the scale asks for,
    ``stale`` those that other code, parameters or data have made.
    """

    values: np.ndarray
    expected: int
    stale: int = 0

    @property
    def runs(self) -> int:
        """Runs that are there."""
        return len(self.values)

    @property
    def complete(self) -> bool:
        """Whether every run is there."""
        return self.runs == self.expected > 0

    @property
    def mean(self) -> float:
        """Mean over runs; nan when there are none."""
        return float(np.mean(self.values)) if self.runs else float("nan")

    @property
    def std(self) -> float:
        """Standard deviation over runs (ddof = 1), rounding apart; nan for fewer than two."""
        if self.runs < 2:
            return float("nan")
        deviation = float(np.std(self.values, ddof=1))
        return deviation if deviation > ROUNDING * abs(self.mean) else 0.0

    @property
    def se(self) -> float:
        """Standard error of the mean; nan for fewer than two runs."""
        return self.std / max(1, self.runs) ** 0.5


@dataclass
class Evidence:
    """The evidence of one exhibit at one scale: of the rows that its plan asks for, current and stale ones.

    ``paths`` says why those of the current rows count that other code has computed; ``refused`` are adoptions
    that were not earned, each with the row that would have had to be computed; ``contradicted`` are rows that
    are there twice, with other numbers: none of them counts. ``file`` is all that the file holds.
    """

    plan: ExhibitPlan
    current: dict[Key, Row]
    stale: dict[Key, Row] = field(default_factory=dict)
    paths: dict[Key, tuple[Adoption, ...]] = field(default_factory=dict)
    refused: dict[Adoption, Key] = field(default_factory=dict)
    contradicted: list[Key] = field(default_factory=list)
    file: Contents = field(default_factory=Contents)

    @property
    def missing(self) -> list[Key]:
        """Keys that have to be computed, stale ones included."""
        return [key for key in self.plan.stamps if key not in self.current]

    @property
    def complete(self) -> bool:
        """Whether every row of the scale is current."""
        return len(self.current) == len(self.plan.stamps)

    @property
    def status(self) -> str:
        """Say what is missing; empty when the evidence is complete."""
        if self.complete:
            return ""
        stale = f", {len(self.stale)} stale" if self.stale else ""
        return f"incomplete: {len(self.current)} of {len(self.plan.stamps)} trials{stale}"

    @property
    def standing(self) -> Standing:
        """How many rows today's code has computed, how many are adopted, stale, or missing."""
        standing = Standing(stale=len(self.stale), missing=len(self.missing) - len(self.stale))
        for key in self.current:
            standing.count(self.paths.get(key, ()))
        return standing

    datasets = property(attrgetter("plan.datasets"), doc="Labels of the scale, in the paper's order.")
    methods = property(attrgetter("plan.methods"), doc="Methods of the scale, in the paper's order.")

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All numbers that the scale asks for, one a line, in the plan's order.

        The columns are exhibit, dataset, method, trial, metric, value, and complete: whether every run of
        that dataset and method is there. A value is a number or an array; nan where the row is not there.
        """
        import pandas as pd  # takes longer to import than most commands to run

        lines = []
        for (dataset, method), keys in self._by_cell.items():
            complete = self.is_complete(dataset, method)
            for key in keys:
                metrics = self.current[key].metrics if key in self.current else {}
                where = (self.plan.exhibit.name, dataset, method, key.trial)
                lines += [
                    (*where, metric, _number(metrics.get(metric)), complete)
                    for metric in self.plan.exhibit.columns
                ]
        names = ["exhibit", "dataset", "method", "trial", "metric", "value", "complete"]
        return pd.DataFrame(lines, columns=names)

    def with_older(self) -> Evidence:
        """Return it with rows of older code, parameters or data where there are none of today's."""
        return replace(self, current=self.stale | self.current, stale={})

    def is_complete(self, dataset: str, *methods: str) -> bool:
        """Whether the scale runs some methods on a dataset, and every run of them is current."""
        wanted = [self._by_cell.get((dataset, method), ()) for method in methods]
        return all(keys and all(key in self.current for key in keys) for keys in wanted)

    def require(self, dataset: str | None = None, method: str | None = None) -> Evidence:
        """Return itself; raise unless every run is current: of a dataset and method, or of all."""
        if dataset is None:
            if not (self.complete and self.current):  # a small scale may leave an exhibit out
                told = f"{self.plan.exhibit.name}: {self.status or 'not run'}"
                raise IncompleteEvidenceError(told, stale=bool(self.stale))
        elif not self.is_complete(dataset, method):
            raise self._incomplete(f"{method} on {dataset}", *self._counts(dataset, method))
        return self

    def _counts(self, dataset: str, method: str) -> tuple[int, int, int]:
        """Return how many runs of a dataset and method are current, wanted, and stale."""
        wanted = self._by_cell.get((dataset, method), ())
        return sum(k in self.current for k in wanted), len(wanted), sum(k in self.stale for k in wanted)

    def _incomplete(self, what: str, there: int, wanted: int, stale: int) -> IncompleteEvidenceError:
        late = f", {stale} stale" if stale else ""
        return IncompleteEvidenceError(
            f"{self.plan.exhibit.name}: {what} has {there} of {wanted} runs{late}", stale=stale > 0
        )

    def sample(self, metric: str, *, dataset: str, method: str) -> Sample:
        """Return the values of a metric over runs; it may be incomplete, and says so."""
        values = [value for value in self._values(metric, dataset, method) if value is not None]
        if any(map(np.ndim, values)):
            raise EvidenceError(f"{self.plan.exhibit.name}: {metric!r} holds arrays; use curves().")
        _, wanted, stale = self._counts(dataset, method)
        return Sample(np.array(values, dtype=float), wanted, stale)

    def array(
        self,
        metric: str,
        datasets: Iterable[str] | None = None,
        methods: Iterable[str] | None = None,
        trials: int | None = None,
    ) -> np.ndarray:
        """Return values of shape (runs, datasets, methods); raise unless all of them are there.

        Datasets and methods are those of the scale by default. ``trials`` limits the number of runs; it has
        to be given when the datasets have different numbers of them.
        """
        cells = [
            [self._complete_values(metric, label, method)[:trials] for method in methods or self.methods]
            for label in datasets or self.datasets
        ]
        return np.moveaxis(np.array(cells, dtype=float), 2, 0)

    def _complete_values(self, metric: str, dataset: str, method: str) -> np.ndarray:
        sample = self.sample(metric, dataset=dataset, method=method)
        if not sample.complete:
            counts = sample.runs, sample.expected, sample.stale
            raise self._incomplete(f"{metric} of {method} on {dataset}", *counts)
        return sample.values

    def curves(self, metric: str, *, dataset: str, method: str) -> np.ndarray:
        """Return an array metric over the runs that are there, of shape (runs, points)."""
        return np.array(self._values(metric, dataset, method), dtype=float)

    def runs(self, metric: str, dataset: str, method: str, *, partial: bool = False) -> list[np.ndarray]:
        """Return an array metric run by run, of any lengths; raise unless every run is there, or partial."""
        found = self if partial else self.require(dataset, method)
        return found._values(metric, dataset, method)

    def _values(self, metric: str, dataset: str, method: str) -> list[float | np.ndarray | None]:
        """Return what the current runs have of a metric, in order of trials; None where one has it not."""
        if metric not in self.plan.exhibit.columns:
            known = ", ".join(self.plan.exhibit.columns)
            raise EvidenceError(f"{self.plan.exhibit.name} has no metric {metric!r}; it has {known}.")
        wanted = [key for key in self._by_cell.get((dataset, method), ()) if key in self.current]
        texts = [self.current[key].metrics.get(metric) for key in wanted]
        return [None if text is None else _number(text) for text in texts]

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], list[Key]]:
        cells: dict[tuple[str, str], list[Key]] = {}
        for key in sorted(self.plan.stamps):
            cells.setdefault((key.dataset, key.method), []).append(key)
        places = [(dataset, method) for dataset in self.datasets for method in self.methods]
        return {place: cells[place] for place in places if place in cells}


def read_evidence(path: Path, plan: ExhibitPlan, warrants: Warrants | None = None) -> Evidence:
    """Read an exhibit's file and tell its rows apart: current, stale, damaged.

    Without warrants, only rows of today's code are current.
    """
    contents = read_rows(path, plan.exhibit.columns)
    warrants = warrants or Warrants()
    contradicted = _contradicted(contents.rows, plan.exhibit.metrics)
    rows = [row for row in contents.rows if (row.key, row.stamp) not in contradicted]
    evidence = _sorted_out(rows, plan, warrants)
    while refused := _unearned(evidence, warrants):
        warrants = warrants.without(refused)
        evidence = _sorted_out(rows, plan, warrants, evidence.refused | refused)
    evidence.contradicted = sorted(
        {key for key, _ in contradicted if key in plan.stamps} - set(evidence.current)
    )
    evidence.file = contents
    return evidence


def _contradicted(rows: Iterable[Row], metrics: Sequence[str]) -> set[tuple[Key, Stamp]]:
    """Return rows that are there twice with the same stamp and other numbers, timing apart."""
    first: dict[tuple[Key, Stamp], Row] = {}
    return {
        (row.key, row.stamp)
        for row in rows
        if (other := first.setdefault((row.key, row.stamp), row)) is not row
        and any(row.metrics.get(name) != other.metrics.get(name) for name in metrics)
    }


def _sorted_out(
    rows: Iterable[Row], plan: ExhibitPlan, warrants: Warrants, refused: dict[Adoption, Key] | None = None
) -> Evidence:
    """Tell current rows from stale ones; of two that count, the one with the shorter path does."""
    evidence = Evidence(plan, {}, refused=refused or {})
    for row in rows:
        today = plan.stamps.get(row.key)
        if today is None:
            continue
        same_inputs = row.stamp[1:] == today[1:]
        path = warrants.path(row.stamp.code, today.code) if same_inputs else None
        if path is None:
            evidence.stale[row.key] = row
        elif row.key not in evidence.current or len(path) <= len(evidence.paths.get(row.key, ())):
            evidence.current[row.key] = row
            evidence.paths.pop(row.key, None)
            evidence.paths.update({row.key: path} if path else {})
    evidence.stale = {key: row for key, row in evidence.stale.items() if key not in evidence.current}
    return evidence


def _unearned(evidence: Evidence, warrants: Warrants) -> dict[Adoption, Key]:
    if not evidence.paths:
        return {}
    codes = {key: row.stamp.code for key, row in evidence.current.items()}
    seconds = {key: row.seconds for key, row in evidence.current.items()}
    return warrants.unearned(evidence.paths, codes, seconds)


class Store:
    """The file of an exhibit's evidence, and beside it the rows that have fallen out of it.

    Rows fall out when others are computed in their place; when the code returns, they do too.
    """

    def __init__(self, path: Path, fallen: Path, plan: ExhibitPlan, warrants: Warrants) -> None:
        self.path = path
        self.fallen = fallen
        self.plan = plan
        self.warrants = warrants
        self.columns = plan.exhibit.columns

    def read(self) -> Evidence:
        """Read the evidence as it is on the disk."""
        return read_evidence(self.path, self.plan, self.warrants)

    def complaints(self, found: Evidence) -> Iterator[str]:
        """Say what is wrong with the file."""
        if lines := found.file.damaged:
            numbers = ", ".join(map(str, lines[:10])) + (f" and {len(lines) - 10} more" if lines[10:] else "")
            what = f"lines {numbers} are" if lines[1:] else f"line {numbers} is"
            yield f"{self.path}: {what} damaged; trials that are lost are computed again."
        for key in found.contradicted[:10]:
            yield f"{self.path}: {key} is there twice with other numbers; it is computed again."
        for line, key in found.refused.items():
            yield f"{self.path}: the adoption {line} is refused: {key} was drawn for it and not computed."

    def recall(self, found: Evidence, keys: Collection[Key] | None = None) -> Evidence:
        """Take missing rows from those that fell out; of chosen keys, only rows of today's code."""
        if not found.missing or not self.fallen.is_file():
            return found
        kept = read_evidence(self.fallen, self.plan, self.warrants if keys is None else None).current
        wanted = found.missing if keys is None else set(found.missing) & set(keys)
        rows = [kept[key] for key in wanted if key in kept]
        if not rows:
            return found
        with self.append(found) as append:
            append(rows)
        return self.read()

    @contextmanager
    def append(self, found: Evidence) -> Iterator[Callable[[Iterable[Row]], None]]:
        """Open the file to append rows; it is repaired first if it has to be."""
        if found.contradicted or not (found.file.clean and self.path.is_file()):
            sound = [row for row in found.file.rows if row.key not in found.contradicted]
            write_atomically(self.path, format_file(sound, self.columns))
        with _explained(self.path):
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            yield lambda rows: append_rows(file, self.path, rows, self.columns)
        finally:
            os.close(file)

    def settle(self) -> None:
        """Write a complete file anew, sorted."""
        found = self.read()
        if found.complete and self.plan.stamps:
            self._replace(found, list(found.current.values()))

    def forget(self, but: Collection[str]) -> None:
        """Drop all rows, except current ones of some datasets."""
        found = self.read()
        self._replace(found, [row for key, row in found.current.items() if key.dataset in but])

    def _replace(self, found: Evidence, kept: list[Row]) -> None:
        """Write the file with some of its rows; of the others, those that are not current fall out."""
        current = {(row.key, row.stamp) for row in found.current.values()}
        others = [row for row in found.file.rows if (row.key, row.stamp) not in current]
        keep_rows(self.fallen, others, self.columns)
        if kept:
            write_atomically(self.path, format_file(kept, self.columns))
        else:
            self.path.unlink(missing_ok=True)


def _number(text: str | None) -> float | np.ndarray:
    """Read a stored value: a number, an array, or nan for a metric that the method does not have."""
    if text is None:
        return float("nan")
    if " " in text:
        return np.array(text.split(), dtype=float)
    return float(text)
