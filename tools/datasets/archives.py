"""Read members of package archives without unpacking them to disk.

A path names its way inward, ``outer/path.tar!inner/path.csv``. Members that could leave a folder (absolute
paths, ``..``) or stand for another file (links, devices) are refused, whatever reads them.
"""

from __future__ import annotations

import bz2
import io
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

from kernsemble.data.base import DatasetDamaged

MAX_MEMBER_BYTES = 1 << 30
MAX_PICTURE_BYTES = 1 << 26
MAX_TEXT_BYTES = 1 << 28


class UnsafeArchiveError(DatasetDamaged):
    """An archive member that is a link, or whose path leaves the archive's folder."""


@contextmanager
def _explained(archive: str) -> Iterator[None]:
    """Turn what the readers of damaged bytes raise, and that may be anything, into a ValueError."""
    try:
        yield
    except (UnsafeArchiveError, FileNotFoundError):
        raise
    except Exception as error:
        if str(error).startswith(archive):
            raise
        found = f"{type(error).__name__} ({error})"
        raise ValueError(f"{archive}: expected a readable archive, found {found}.") from error


def read_member(name: str, content: bytes, path: str) -> bytes:
    """Return one member of an archive held in memory; ``!`` in its path separates archives inside archives.

    The ending of the archive's name tells the format (zip, whl, tar, tar.gz, tgz, tar.xz, deb).

    Examples
    --------
    >>> import io, zipfile
    >>> from datasets.archives import read_member
    >>> buffer = io.BytesIO()
    >>> with zipfile.ZipFile(buffer, "w") as archive:
    ...     archive.writestr("folder/numbers.txt", "1 2 3")
    >>> read_member("tiny.zip", buffer.getvalue(), "folder/numbers.txt")
    b'1 2 3'
    """
    outer, _, inner = path.partition("!")
    refuse_unsafe_path(outer, name)
    with _explained(name):
        if name.endswith(".deb"):
            name, content = _debian_data(name, content)
        read = _read_zip if name.endswith((".zip", ".whl")) else _read_tar
        found = read(name, content, outer)
    return read_member(PurePosixPath(outer).name, found, inner) if inner else found


def list_members(name: str, content: bytes) -> list[str]:
    """Return the names of all regular files in an archive; UnsafeArchiveError if any member is unsafe."""
    with _explained(name):
        names = _zip_names(name, content) if name.endswith((".zip", ".whl")) else _tar_names(name, content)
    for member_name in names:
        refuse_unsafe_path(member_name, name)
    return names


def _zip_names(name: str, content: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [info for info in archive.infolist() if not info.is_dir()]
    for info in entries:
        _refuse_zip_link(info, name)
    return [info.filename for info in entries]


def _tar_names(name: str, content: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        members = [member for member in archive if not member.isdir()]
    for member in members:
        _refuse_tar_link(member, name)
    return [member.name for member in members]


def expand_bz2(name: str, content: bytes, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Return what a bz2 file holds; UnsafeArchiveError if that is more than is allowed.

    Examples
    --------
    >>> import bz2
    >>> from datasets.archives import expand_bz2
    >>> expand_bz2("numbers.bz2", bz2.compress(b"1 2 3"))
    b'1 2 3'
    """
    with _explained(name), bz2.open(io.BytesIO(content)) as stream:
        found = stream.read(limit + 1)
    if len(found) > limit:
        raise UnsafeArchiveError(f"{name}: more than {limit} bytes when unpacked; refused.")
    return found


def read_picture(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a picture of an open zip archive; UnsafeArchiveError if it is larger than any picture is."""
    _refuse_size(archive.getinfo(name).file_size, name, str(archive.filename or "archive"), MAX_PICTURE_BYTES)
    return archive.read(name)


def refuse_unsafe_path(path: str, archive: str) -> None:
    """Raise UnsafeArchiveError for a path that is absolute or leaves its folder."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if not parts or ".." in parts or parts[0].startswith("/") or parts[0].endswith(":"):
        raise UnsafeArchiveError(f"{archive}: member {path!r} leaves the folder of the archive; refused.")


def _read_zip(name: str, content: bytes, path: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        try:
            info = archive.getinfo(path)
        except KeyError:
            raise FileNotFoundError(_missing(name, path, archive.namelist())) from None
        _refuse_zip_link(info, name)
        _refuse_size(info.file_size, path, name, MAX_MEMBER_BYTES)
        return archive.read(info)


def _read_tar(name: str, content: bytes, path: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        # One pass, no index: members of a compressed archive are read in order.
        names = []
        for member in archive:
            if member.name.removeprefix("./") == path:
                _refuse_tar_link(member, name)
                _refuse_size(member.size, path, name, MAX_MEMBER_BYTES)
                stream = archive.extractfile(member)
                if stream is not None:
                    return stream.read()
            names.append(member.name)
    raise FileNotFoundError(_missing(name, path, names))


def _refuse_zip_link(info: zipfile.ZipInfo, archive: str) -> None:
    """Refuse the zip entries that Unix tools unpack as links or devices."""
    file_type = (info.external_attr >> 16) & 0o170000
    if file_type not in (0, 0o100000):
        raise UnsafeArchiveError(f"{archive}: member {info.filename!r} is not a regular file; refused.")


def _refuse_tar_link(member: tarfile.TarInfo, archive: str) -> None:
    if not member.isreg():
        raise UnsafeArchiveError(f"{archive}: member {member.name!r} is not a regular file; refused.")


def _refuse_size(size: int, path: str, archive: str, limit: int) -> None:
    if size > limit:
        raise UnsafeArchiveError(f"{archive}: member {path!r} has {size} bytes, more than {limit}; refused.")


def _debian_data(name: str, content: bytes) -> tuple[str, bytes]:
    """Return the name and content of the data archive of a Debian package (an ``ar`` file)."""
    if not content.startswith(b"!<arch>\n"):
        raise ValueError(f"{name}: expected a Debian package, found another format.")
    position = 8
    while position + 60 <= len(content):
        header = content[position : position + 60]
        member, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        if member.startswith("data.tar"):
            return member, content[position + 60 : position + 60 + size]
        position += 60 + size + size % 2
    raise ValueError(f"{name}: expected a member data.tar, found none.")


def _missing(name: str, path: str, names: Iterable[str]) -> str:
    ending = PurePosixPath(path).name
    near = [candidate for candidate in names if candidate.endswith(ending)][:3]
    return f"{name}: expected a member {path!r}, found none." + (f" Did you mean {near}?" if near else "")
