"""Do what a page of the documentation says, block by block, in a copy of the repository.

The line above a block names its file: "`PATH`:" writes it, "Append to `PATH`:" adds to it, and of a notebook
each block is a cell, with the tag that the line names. A diff replaces lines; Python without a file is run;
a block without a language is commands.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

BLOCK = re.compile(r"([^\n]*)\n+^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(Append to )?`([\w./]+)`(?:, a cell(?: tagged `([\w-]+)`)?)?:")


class Block(NamedTuple):
    """A block of code, the line above it, and its language."""

    above: str
    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    return [Block(*match.groups()) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def copy_repository(root: Path, copy: Path, rooms: tuple[str, ...]) -> Path:
    """Copy what a page needs: sources with what numba has compiled, some rooms, registers, the data."""
    copy.mkdir()
    passing = shutil.ignore_patterns("*.tmp*", "*.pyc*")  # what other processes write and rename meanwhile
    shutil.copytree(root / "src", copy / "src", ignore=passing)
    for room in rooms:
        shutil.copytree(root / "notebooks" / room, copy / "notebooks" / room, ignore=passing)
    shutil.copytree(root / "published", copy / "published")
    for name in ("params.yaml", "dvc.yaml", "requirements.lock", "README.md"):
        shutil.copy(root / name, copy)
    (copy / "data").symlink_to(root / "data")
    return copy


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a block, with this Python."""
    for line in block.code.splitlines():
        if words := shlex.split(line, comments=True):
            yield [sys.executable if word == "python" else word for word in words]


def follow(block: Block, copy: Path, environment: dict[str, str]) -> None:
    """Do what a block says; what it runs has to succeed."""
    named = FILE.fullmatch(block.above)
    if block.language == "diff":
        replace_lines(block.code, copy)
    elif named:
        append, name, tag = named.groups()
        write(copy / name, block.code, tag, bool(append))
    else:
        wanted = [[sys.executable, "-c", block.code]] if block.language == "python" else commands(block)
        for command in wanted:
            done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"


def write(path: Path, code: str, tag: str | None, append: bool) -> None:
    """Write a file, add to it, or add a cell to a notebook."""
    assert append == path.exists() or path.suffix == ".ipynb", path
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".ipynb":
        with path.open("a", encoding="utf-8") as file:
            file.write(code)
        return
    notebook = nbformat.read(path, as_version=4) if path.exists() else nbformat.v4.new_notebook()
    metadata = {"tags": [tag]} if tag else {}
    notebook.cells.append(nbformat.v4.new_code_cell(code.rstrip("\n"), metadata=metadata))
    nbformat.write(notebook, path)


def replace_lines(diff: str, copy: Path) -> None:
    """Replace lines of a file, each of which it has once."""
    head, *lines = diff.splitlines(keepends=True)
    path = copy / head.removeprefix("--- ").strip()
    text = path.read_text(encoding="utf-8")
    for old, new in re.findall(r"((?:^-[^\n]*\n)+)((?:^\+[^\n]*\n)+)", "".join(lines), re.MULTILINE):
        old, new = (re.sub(r"^.", "", part, flags=re.MULTILINE) for part in (old, new))
        assert text.count(old) == 1, f"{path.name} has not, or not once: {old}"
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
