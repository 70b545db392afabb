"""Licences of everything that is installed, and of every dataset, read from what is installed and registered.

Run as a program it prints the page's table of packages; ``unknown`` tells what must be looked at.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kernsemble.data.sources import read_sources

PERMISSIVE, WEAK, COPYLEFT, UNKNOWN = "permissive", "weak copyleft", "copyleft", "unknown"
# Most permissive first: where a package offers a choice, the first that fits is taken.
FAMILIES = {
    PERMISSIVE: r"MIT|BSD|Apache|ISC|CC0|Zlib|PSF|Python Software Foundation|Zope|Unlicense|Public Domain",
    WEAK: r"MPL|Mozilla|EPL|Eclipse|LGPL|Lesser|linking exception",
    COPYLEFT: r"GPL|General Public",
}
# Where a package's own metadata says nothing, or too little, and its licence file does.
READ_IN_LICENCE_FILE = {"asyncssh": "EPL-2.0 OR GPL-2.0-or-later"}
# Terms of datasets, and whether copies may stand in the repository.
DATA_TERMS = {
    "CC BY 4.0": "copies allowed, with the citation in the register",
    "CC BY-SA 3.0": "copies allowed under the same terms, with the citation",
    "CC0": "public domain",
    "BSD-3-Clause": "copies allowed, with the package's notice",
    "unrestricted": "copies allowed",
    "free for research": "copies allowed for research, and for nothing else",
    "not stated": "not copied: fetched by who uses it from where its authors put it",
}


@dataclass(frozen=True)
class Licensed:
    """A pinned package, its licence in its own words, and what family that is."""

    name: str
    version: str
    licence: str
    family: str
    needed: bool


def locked_packages(root: Path) -> list[Licensed]:
    """Return the pins of the lock that belong to this platform, with their licences."""
    needed = _needed(root)
    found = []
    for line in (root / "requirements.lock").read_text(encoding="utf-8").splitlines():
        if "==" not in line:  # a comment, or a digest
            continue
        pin = Requirement(line.removesuffix(" \\"))
        if pin.marker is not None and not pin.marker.evaluate():
            continue
        name = canonicalize_name(pin.name)
        try:
            licence = licence_of(metadata(name))
        except PackageNotFoundError:
            licence = ""
        version = str(pin.specifier).removeprefix("==")
        found.append(Licensed(name, version, licence or "not stated", family(licence), name in needed))
    return found


def licence_of(about: PackageMetadata) -> str:
    """Return a licence as its package states it: expression, classifiers, or the first line of its text."""
    name = canonicalize_name(about["Name"])
    if name in READ_IN_LICENCE_FILE:
        return READ_IN_LICENCE_FILE[name]
    if expression := about.get("License-Expression"):
        return expression
    kinds = [
        text.split("::")[-1].strip() for text in about.get_all("Classifier") or () if "License ::" in text
    ]
    kinds = [kind for kind in kinds if kind not in ("OSI Approved", "DFSG approved")]
    if kinds:
        return "; ".join(kinds)
    lines = (about.get("License") or "").strip().splitlines()
    return lines[0][:80] if lines else ""


def family(licence: str) -> str:
    """Return the family of a licence; of a choice the most permissive, of a sum the strictest."""
    ranks = list(FAMILIES)
    found = []
    for choice in re.split(r"\bOR\b|;", licence):
        parts = [_family_of_one(part) for part in re.split(r"\bAND\b", choice)]
        found.append(UNKNOWN if UNKNOWN in parts else max(parts, key=ranks.index))
    known = [kind for kind in found if kind != UNKNOWN]
    return min(known, key=ranks.index) if known else UNKNOWN


def _family_of_one(text: str) -> str:
    if re.search(r"GPL.*linking exception|LGPL|Lesser", text):
        return WEAK
    return next((kind for kind, pattern in FAMILIES.items() if re.search(pattern, text)), UNKNOWN)


def _needed(root: Path) -> set[str]:
    """Names of all that ``pip install kernsemble`` brings."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, found = [Requirement(line) for line in project["dependencies"]], set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        try:
            waiting += [Requirement(line) for line in metadata(name).get_all("Requires-Dist") or ()]
        except PackageNotFoundError:
            continue
    return found


def data_terms(licence: str) -> str:
    """Say what the licence of a dataset allows; empty when it is not known here."""
    return next((terms for start, terms in DATA_TERMS.items() if licence.startswith(start)), "")


def write_licences_page(root: Path, folder: Path) -> None:
    """Write the tables that the page on dependencies includes."""
    packages = locked_packages(root)
    counts = Counter((package.needed, package.family) for package in packages)
    summary = ["| | permissive | weak copyleft | copyleft | unknown |", "|---|---|---|---|---|"]
    for needed, what in ((True, "`pip install kernsemble`"), (False, "reproducing, testing, writing")):
        numbers = " | ".join(str(counts[needed, kind]) for kind in (*FAMILIES, UNKNOWN))
        summary.append(f"| {what} | {numbers} |")
    rows = [
        f"| {p.name} | {p.version} | {p.licence} | {p.family} | {'yes' if p.needed else ''} |"
        for p in packages
    ]
    head = ["| package | version | licence | family | needed to use it |", "|---|---|---|---|---|"]
    (folder / "licences_summary.md").write_text("\n".join(summary) + "\n", encoding="utf-8")
    (folder / "licences_packages.md").write_text("\n".join(head + rows) + "\n", encoding="utf-8")
    data = ["| set | licence | in the repository | terms |", "|---|---|---|---|"]
    for source in read_sources().values():
        kept = "yes" if source.kind == "core" else "no"
        data.append(f"| {source.name} | {source.licence} | {kept} | {data_terms(source.licence)} |")
    (folder / "licences_data.md").write_text("\n".join(data) + "\n", encoding="utf-8")
