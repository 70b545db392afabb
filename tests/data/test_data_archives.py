"""Members are read from every kind of archive, and nothing unsafe is."""

import io
import tarfile
import zipfile

import pytest
from datasets import archives
from datasets.archives import UnsafeArchiveError, list_members, read_member
from support.made_archives import make_deb, make_tar, make_zip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.zip", make_zip({"d/x": b"1"})),
        ("a-1-py3-none-any.whl", make_zip({"d/x": b"1"})),
        ("a.tar.gz", make_tar({"d/x": b"1"})),
        ("a.tar", make_tar({"./d/x": b"1"}, "w")),
        ("a.tgz", make_tar({"e": b"", "d/x": b"1"})),
        ("a_1_all.deb", make_deb(make_tar({"./d/x": b"1"}, "w:xz"))),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_formats(name, content):
    assert read_member(name, content, "d/x") == b"1"
    with pytest.raises(FileNotFoundError, match=r"'e/x', found none\. Did you mean"):
        read_member(name, content, "e/x")


def test_archives_inside_archives():
    inner = make_zip({"x.txt": b"deep"})
    outer = make_tar({"p/inner.zip": inner})
    assert read_member("p.tar.gz", outer, "p/inner.zip!x.txt") == b"deep"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_tar_are_refused(kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("x")
        info.type, info.linkname = kind, "/etc/hostname"
        archive.addfile(info)
    for read in (lambda name, data: read_member(name, data, "x"), list_members):
        with pytest.raises(UnsafeArchiveError, match="not a regular file"):
            read("a.tar", buffer.getvalue())


def test_links_in_zip_are_refused():
    info = zipfile.ZipInfo("x")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    content = make_zip({info: "/etc/hostname"})
    for read in (lambda name, data: read_member(name, data, "x"), list_members):
        with pytest.raises(UnsafeArchiveError, match="not a regular file"):
            read("a.zip", content)


def test_oversized_members_are_refused(monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBER_BYTES", 10)
    for name, content in (("a.zip", make_zip({"x": b"1" * 11})), ("a.tar", make_tar({"x": b"1" * 11}, "w"))):
        with pytest.raises(UnsafeArchiveError, match="11 bytes, more than 10"):
            read_member(name, content, "x")


def test_not_a_debian_package():
    with pytest.raises(ValueError, match="expected a Debian package"):
        read_member("a.deb", b"PK", "x")
    with pytest.raises(ValueError, match=r"expected a member data\.tar"):
        read_member("a.deb", make_deb(b"", name="other"), "x")


def test_list_members():
    content = make_zip({"a/": b"", "a/x": b"1", "b": b"2"})
    assert list_members("a.zip", content) == ["a/x", "b"]
