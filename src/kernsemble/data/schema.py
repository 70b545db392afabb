"""What a register may say, as types: a value becomes what its annotation says, or an error names its place.

An annotation is a type (``int``, ``list[float]``, ``Literal["a", "b"]``, ``int | None``), a dataclass, which
stands for a mapping with its fields as keys, or ``Annotated[.., read]``: ``read`` takes the value and returns
what it stands for, or raises ``ValueError`` with the words that follow the name of the place.
"""

from __future__ import annotations

import csv
import io
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 80
_Kind = TypeVar("_Kind")


def shown(value: object) -> str:
    """Return what a message says was found, long values shortened.

    Examples
    --------
    >>> from kernsemble.data.schema import shown
    >>> shown("all"), len(shown("a" * 5000))
    ("'all'", 80)
    """
    return _short.repr(value)


def listed(names: Iterable[object]) -> str:
    """Return names as a message lists them."""
    return ", ".join(map(str, names)) or "none"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table as lines whose columns stand below each other.

    Examples
    --------
    >>> from kernsemble.data.schema import aligned
    >>> list(aligned([("a", "n"), ("bcd", "1")]))
    ['a    n', 'bcd  1']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()


def refuse_unknown(names: Iterable[object], allowed: Iterable[object], where: str) -> None:
    """Raise ``ValueError`` for a name that is not among those allowed."""
    for name in names:
        if name not in allowed:
            raise ValueError(f"{where}: unknown key {shown(name)}; allowed are {listed(allowed)}.")


def mapping(value: Any, where: str, allowed: Iterable[str] | None = None) -> dict[str, Any]:
    """Return a value that is a mapping of names; of those allowed, if some are."""
    if not isinstance(value, dict):
        raise ValueError(f"{where}: expected a mapping of names, found {shown(value)}.")
    for key in value:
        if not isinstance(key, str):
            raise ValueError(f"{where}: expected names as keys (in quotes), found {shown(key)}.")
    if allowed is not None:
        refuse_unknown(value, allowed, where)
    return value


def record(value: Any, kind: type[_Kind], where: str, **given: Any) -> _Kind:
    """Return a mapping as a dataclass; fields that are given do not stand in it.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> from kernsemble.data.schema import record
    >>> Point = make_dataclass("Point", [("x", float), ("y", float, 0.0)])
    >>> record({"x": 1}, Point, "points.a")
    Point(x=1.0, y=0.0)
    """
    hints = {name: hint for name, hint in _hints(kind).items() if name not in given}
    entries = mapping(value, where, hints)
    needed = [part.name for part in fields(kind) if part.default is part.default_factory is MISSING]
    for name in needed:
        if name not in entries and name not in given:
            raise ValueError(f"{where}: key {name!r} is missing.")
    read = {name: convert(entry, hints[name], f"{where}.{name}") for name, entry in entries.items()}
    return kind(**read, **given)


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the lines of a CSV file below its header, each with its place; a wrong one is named."""
    try:
        lines = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: cannot be read: {error}.") from None
    if not lines or lines[0] != [*columns]:
        raise ValueError(f"{path}: line 1 must be {','.join(columns)}.")
    for number, cells in enumerate(lines[1:], start=2):
        where = f"{path} (line {number})"
        if len(cells) != len(columns):
            raise ValueError(f"{where}: expected {len(columns)} cells, found {len(cells)}.")
        yield where, dict(zip(columns, cells, strict=True))


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as the text of a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def matching(pattern: str, told: str) -> Callable[[Any], str]:
    """Return what reads text that fits a pattern as a whole."""
    whole = re.compile(pattern, re.ASCII)

    def read(value: Any) -> str:
        if isinstance(value, str) and whole.fullmatch(value):
            return value
        raise ValueError(f"expected {told}, found {shown(value)}")

    return read


Text = Annotated[str, matching(r"(?s:.*\S.*)", "text")]
Line = Annotated[str, matching(".+", "a line of text")]


_KINDS = {NoneType: "null", list: "a list", tuple: "a list", dict: "a mapping", Mapping: "a mapping"}
_ADVICE = {
    (float, str): " (YAML reads 1e-3 as text: write 1.0e-3)",
    **dict.fromkeys([(str, int), (str, float), (str, bool)], " (in quotes it is text)"),
}


def convert(value: Any, hint: Any, where: str) -> Any:
    """Return the value as the annotated type; raise ``ValueError`` that names the key and what is allowed."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        try:
            return arguments[1](value)
        except ValueError as error:
            raise ValueError(f"{where}: {error}.") from None
    if origin is Literal:
        if not any(value == allowed and type(value) is type(allowed) for allowed in arguments):
            raise ValueError(f"{where}: {shown(value)} is not allowed; allowed are {listed(arguments)}.")
        return value
    if origin in (Union, UnionType):
        return _convert_union(value, arguments, where)
    if origin in (list, tuple) and isinstance(value, list):
        return origin(convert(item, arguments[0], f"{where}[{i}]") for i, item in enumerate(value))
    if origin in (dict, Mapping) and isinstance(value, dict):
        return {
            convert(key, arguments[0], f"{where} (key)"): convert(item, arguments[1], f"{where}.{key}")
            for key, item in value.items()
        }
    if is_dataclass(hint):
        return record(value, hint, where)
    if hint is float and type(value) is int and abs(value) < 2**53:
        return float(value)
    # type, not isinstance: True is no int here. nan and inf are no parameters.
    if hint is not Any and (type(value) is not hint or (hint is float and not abs(value) < float("inf"))):
        advice = _ADVICE.get((hint, type(value)), "") if isinstance(hint, type) else ""
        raise ValueError(f"{where}: expected {_hint_name(hint)}, found {shown(value)}{advice}.")
    return value


def _convert_union(value: Any, arguments: tuple[Any, ...], where: str) -> Any:
    for hint in arguments:
        try:
            return convert(value, hint, where)
        except ValueError:
            continue
    names = " or ".join(map(_hint_name, arguments))
    raise ValueError(f"{where}: expected {names}, found {shown(value)}.")


def _hint_name(hint: Any) -> str:
    kind = get_origin(hint) or hint
    return _KINDS.get(kind) or getattr(kind, "__name__", str(kind))
