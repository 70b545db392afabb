"""Archives made in memory, as bytes, to read members from."""

from __future__ import annotations

import io
import tarfile
import zipfile


def make_zip(members, compression=zipfile.ZIP_STORED):
    """A zip archive of members: contents by name, or by ZipInfo."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def make_tar(members, mode="w:gz"):
    """A tar archive of members: contents by name."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def make_deb(data, name="data.tar.xz"):
    """A Debian package whose files are in an archive of its own, the data."""
    members = [("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), (name, data)]
    deb = b"!<arch>\n"
    for member, content in members:
        deb += f"{member:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        deb += content + b"\n" * (len(content) % 2)
    return deb
