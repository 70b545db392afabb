"""The register of datasets, ``sources.yaml``: where each set comes from and what it must look like.

The file is checked when it is read; an error names the key. ``packages`` lists what registries hold (name,
version, file, sha256); ``datasets`` lists the sets (package, paths, n, d, class counts, checksums, citation).
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any

from kernsemble.data.strict_yaml import read_yaml

REGISTRIES = ("pypi", "apt", "npm", "installed", "official")
KINDS = ("core", "large", "splits")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+:~-]*")
_FILE = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.+~%-]*")  # no separator, and no name that begins with a dot
_LINE, _TEXT = re.compile(r".+"), re.compile(r".+", re.DOTALL)


@dataclass(frozen=True)
class Package:
    """A package of a registry: the exact file, and its checksum."""

    key: str
    registry: str
    name: str
    version: str = ""
    file: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Source:
    """One dataset of the register."""

    name: str
    kind: str
    title: str
    citation: str
    licence: str
    n: int = 0
    d: int = 0
    classes: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    package: Package | None = None
    paths: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    file: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)


def dataset_names(kind: str | None = None) -> list[str]:
    """Return the canonical names of all datasets, or of one kind ("core" or "large"; "splits" are none).

    Examples
    --------
    >>> from kernsemble.data.sources import dataset_names
    >>> "sonar" in dataset_names("core"), "cifar10" in dataset_names("core")
    (True, False)
    """
    wanted = ("core", "large") if kind is None else (kind,)
    return [name for name, source in read_sources().items() if source.kind in wanted]


def get_source(name: str) -> Source:
    """Return the entry of a dataset by its name or an alias."""
    sources = read_sources()
    if name in sources:
        return sources[name]
    for source in sources.values():
        if name in source.aliases:
            return source
    raise ValueError(f"Unknown dataset {name!r}. Known: {', '.join(sources)}.")


@lru_cache(maxsize=1)
def read_sources() -> dict[str, Source]:
    """Read and check ``sources.yaml`` once."""
    text = files("kernsemble.data").joinpath("sources.yaml").read_text(encoding="utf-8")
    return parse_sources(text)


def parse_sources(text: str) -> dict[str, Source]:
    """Parse and check the text of a register; ValueError names the offending key."""
    try:
        document = read_yaml(text)
    except ValueError as error:
        raise ValueError(f"sources.yaml is not valid YAML: {error}") from None
    _require_keys(document, "the register", {"packages", "datasets"}, set())
    for part in ("packages", "datasets"):
        _require_names(document[part], part)
    packages = {key: _parse_package(key, value) for key, value in document["packages"].items()}
    sources = {key: _parse_source(key, value, packages) for key, value in document["datasets"].items()}
    names = [name for source in sources.values() for name in (source.name, *source.aliases)]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"sources.yaml: datasets: names or aliases used twice: {repeated}.")
    return sources


def _parse_package(key: str, value: Any) -> Package:
    where = f"packages.{key}"
    _require_keys(value, where, {"registry", "name"}, {"version", "file", "sha256"})
    _require(value["registry"] in REGISTRIES, f"{where}.registry", f"one of {REGISTRIES}", value["registry"])
    _require_text(value["name"], f"{where}.name", _LINE)
    if value["registry"] in ("pypi", "apt", "npm"):
        _require_keys(value, where, {"registry", "name", "version", "file", "sha256"}, set())
        _require_text(value["version"], f"{where}.version", _VERSION)
        _require_text(value["sha256"], f"{where}.sha256", _SHA256)
        _require_file_name(value["file"], f"{where}.file")
    for name in ("version", "file", "sha256"):
        _require_text(value.get(name, "-"), f"{where}.{name}", _LINE)
    return Package(key, **value)


def _parse_source(key: str, value: Any, packages: Mapping[str, Package]) -> Source:
    where = f"datasets.{key}"
    required = {"kind", "title", "package", "citation", "licence", "sha256"}
    form = {"n", "d", "classes"}
    _require_keys(value, where, required, {*form, "note", "paths", "aliases", "file"})
    _require(value["kind"] in KINDS, f"{where}.kind", f"one of {KINDS}", value["kind"])
    known = isinstance(value["package"], str) and value["package"] in packages
    _require(known, f"{where}.package", "a key of packages", value["package"])
    for name in ("title", "citation", "licence"):
        _require_text(value[name], f"{where}.{name}", _TEXT)
    _require_text(value.get("note", "-"), f"{where}.note", _TEXT)
    if value["kind"] != "splits":
        _require_keys(value, where, required | form, {"note", "paths", "aliases", "file"})
        for name in ("n", "d"):
            _require(_is_count(value[name]), f"{where}.{name}", "a positive integer", value[name])
        _check_classes(value, where)
    _require_names(value["sha256"], f"{where}.sha256")
    for name, digest in value["sha256"].items():
        _require(name in ("file", "arrays"), f"{where}.sha256", "the keys file and arrays", name)
        _require_text(digest, f"{where}.sha256.{name}", _SHA256)
    fields = {**value, "package": packages[value["package"]]}
    for name in ("paths", "aliases"):
        entries = value.get(name, [])
        _require(isinstance(entries, list), f"{where}.{name}", "a list", entries)
        for entry in entries:
            _require_text(entry, f"{where}.{name}", _LINE)
        fields[name] = tuple(entries)
    fields.setdefault("file", f"{key}.npz")
    _require_file_name(fields["file"], f"{where}.file")
    return Source(key, **fields)


def _check_classes(value: Mapping[str, Any], where: str) -> None:
    """Check that classes map names to counts that sum to n."""
    classes = value["classes"]
    _require(isinstance(classes, dict) and len(classes) > 1, f"{where}.classes", "two names or more", classes)
    for name, count in classes.items():
        _require(isinstance(name, str), f"{where}.classes", "names in quotes", name)
        _require(_is_count(count), f"{where}.classes.{name}", "a positive integer", count)
    total = sum(classes.values())
    _require(total == value["n"], f"{where}.classes", f"counts that sum to n = {value['n']}", total)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _require_keys(value: Any, where: str, required: set[str], optional: set[str]) -> None:
    """Check that value is a mapping with all required keys and no unknown one."""
    _require(isinstance(value, dict), where, "a mapping", value)
    for key in sorted(required - value.keys()):
        raise ValueError(f"sources.yaml: {where}: key {key!r} is missing.")
    for key in sorted(str(k) for k in value.keys() - required - optional):
        raise ValueError(f"sources.yaml: {where}: unknown key {key!r}.")


def _require_text(value: Any, where: str, pattern: re.Pattern[str]) -> None:
    _require(
        isinstance(value, str) and pattern.fullmatch(value), where, f"text like {pattern.pattern}", value
    )


def _require_names(value: Any, where: str) -> None:
    """Check that value is a mapping whose keys are text."""
    _require(isinstance(value, dict), where, "a mapping", value)
    for key in value:
        _require(isinstance(key, str) and key, where, "names as keys", key)


def _require_file_name(value: Any, where: str) -> None:
    """Check that value names a file in a folder, and nothing outside of it."""
    _require(isinstance(value, str) and _FILE.fullmatch(value), where, "a plain file name", value)


def _require(condition: Any, where: str, expected: str, found: Any) -> None:
    if not condition:
        raise ValueError(f"sources.yaml: {where}: expected {expected}, found {reprlib.repr(found)}.")
