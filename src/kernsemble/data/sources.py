"""The register of datasets, ``sources.yaml``: where each set comes from and what it must look like.

The file is checked when it is read; an error names the key. ``packages`` lists what registries hold (name,
version, file, sha256); ``datasets`` lists the sets (package, paths, n, d, class counts, checksums, citation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import numpy as np

from kernsemble.data.base import Dataset
from kernsemble.data.schema import Line, Text, mapping, matching, record, shown
from kernsemble.data.strict_yaml import read_yaml

KINDS = ("core", "large", "splits")
FETCHED = ("pypi", "apt", "npm")  # by a client; what is official comes from a folder
Sha256 = Annotated[str, matching("[0-9a-f]{64}", "a sha256 of 64 digits")]
Version = Annotated[str, matching("[0-9][0-9A-Za-z.+:~-]*", "a version in quotes")]
# No separator, and no name that begins with a dot.
File = Annotated[str, matching("[0-9A-Za-z_][0-9A-Za-z_.+~%-]*", "a plain file name")]


def _positive(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"expected a positive integer, found {shown(value)}")
    return value


Count = Annotated[int, _positive]


@dataclass(frozen=True)
class Package:
    """A package of a registry: the exact file, and its checksum."""

    key: str
    registry: Literal["pypi", "apt", "npm", "installed", "official"]
    name: Line
    version: Version = ""
    file: File = ""
    sha256: Sha256 = ""


@dataclass(frozen=True)
class Source:
    """One dataset of the register."""

    name: str
    kind: Literal["core", "large", "splits"]
    title: Text
    citation: Text
    licence: Text
    sha256: Mapping[Literal["file", "arrays"], Sha256]
    n: Count = 0
    d: Count = 0
    classes: Mapping[str, Count] = field(default_factory=dict)
    note: Text = ""
    package: Package | None = None
    paths: tuple[Line, ...] = ()
    aliases: tuple[Line, ...] = ()
    file: File = ""

    def dataset(
        self,
        X: Any,
        y: np.ndarray,
        checksum: str,
        *,
        feature_names: tuple[str, ...] = (),
        part: np.ndarray | None = None,
    ) -> Dataset:
        """Return the dataset that has these contents and what the register says of it."""
        return Dataset(
            name=self.name,
            X=X,
            y=y.astype(np.int64),
            feature_names=feature_names,
            class_names=tuple(self.classes),
            citation=self.citation,
            licence=self.licence,
            note=self.note,
            part=part,
            checksum=checksum,
        )


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
    try:
        return _read_register(document)
    except ValueError as error:
        raise ValueError(f"sources.yaml: {error}") from None


def _read_register(document: Any) -> dict[str, Source]:
    parts = mapping(document, "the register", ("packages", "datasets"))
    packages, sources = (mapping(parts.get(name), name) for name in ("packages", "datasets"))
    packages = {key: _read_package(key, entry) for key, entry in packages.items()}
    sources = {key: _read_source(key, entry, packages) for key, entry in sources.items()}
    names = [name for source in sources.values() for name in (source.name, *source.aliases)]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"datasets: names or aliases used twice: {repeated}.")
    return sources


def _read_package(key: str, entry: Any) -> Package:
    where = f"packages.{key}"
    package = record(entry, Package, where, key=key)
    _refuse_missing(package.registry in FETCHED, ("version", "file", "sha256"), entry, where)
    return package


def _read_source(key: str, entry: Any, packages: Mapping[str, Package]) -> Source:
    where = f"datasets.{key}"
    named = dict(mapping(entry, where))
    _refuse_missing(True, ("package",), named, where)
    package = named.pop("package")
    if not isinstance(package, str) or package not in packages:
        raise ValueError(f"{where}.package: expected a key of packages, found {shown(package)}.")
    named.setdefault("file", f"{key}.npz")
    source = record(named, Source, where, name=key, package=packages[package])
    _refuse_missing(source.kind != "splits", ("n", "d", "classes"), entry, where)
    if source.kind != "splits" and len(source.classes) < 2:
        raise ValueError(f"{where}.classes: expected two names or more, found {shown(entry['classes'])}.")
    if (total := sum(source.classes.values())) != source.n:
        raise ValueError(f"{where}.classes: expected counts that sum to n = {source.n}, found {total}.")
    return source


def _refuse_missing(needed: bool, names: tuple[str, ...], entry: Mapping[str, Any], where: str) -> None:
    for name in names if needed else ():
        if name not in entry:
            raise ValueError(f"{where}: key {name!r} is missing.")
