"""What the project consists of: licences known and compatible, and a bill of materials that repeats."""

import json
import re
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest
from support.faults import FULL

from kernsemble.data.sources import read_sources

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from licences_page import (  # noqa: E402
    COPYLEFT,
    PERMISSIVE,
    UNKNOWN,
    WEAK,
    data_terms,
    family,
    locked_packages,
    write_licences_page,
)

PACKAGES = locked_packages(ROOT)


def test_every_licence_is_known(figure):
    unknown = [f"{p.name} {p.version}: {p.licence}" for p in PACKAGES if p.family == UNKNOWN]
    figure("Supply", "pinned packages whose licence is known", len(PACKAGES), len(PACKAGES) - len(unknown))
    assert not unknown, "read their licence files and add them to READ_IN_LICENCE_FILE"


def test_what_users_install_is_not_copyleft(figure):
    needed = [p for p in PACKAGES if p.needed]
    assert {"numpy", "scipy", "numba", "scikit-learn"} <= {p.name for p in needed}
    strict = [p.name for p in needed if p.family == COPYLEFT]
    figure(
        "Supply",
        "packages of `pip install kernsemble` without copyleft",
        len(needed),
        len(needed) - len(strict),
    )
    assert not strict


def test_what_users_install_takes_what_the_guide_says():
    """Bytes of the files that `pip install --no-compile` leaves."""
    size = sum(
        path.locate().stat().st_size
        for package in PACKAGES
        if package.needed
        for path in files(package.name)
        if path.suffix != ".pyc" and path.locate().is_file()
    )
    readme, guide = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/guide.md"))
    said = re.findall(r"^pip install --no-compile \.  # (\d+) MB", readme, re.MULTILINE)
    said += re.findall(r"`pip install --no-compile \.` brings [^.]*: (\d+) MB", guide)
    assert len(said) == 2
    assert len(set(said)) == 1
    assert 200e6 < size <= 1e6 * int(said[0]) <= 450e6


def test_datasets_in_the_repository_may_be_copied(figure):
    sources = read_sources().values()
    allowed = [s for s in sources if s.kind != "core" or "copies allowed" in data_terms(s.licence) or
               "public domain" in data_terms(s.licence)]  # fmt: skip
    figure("Supply", "datasets whose terms allow what is done with them", len(sources), len(allowed))
    assert [s.name for s in sources if not data_terms(s.licence)] == []
    assert [s.name for s in sources if s not in allowed] == []


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", PERMISSIVE),
        ("Apache-2.0 OR GPL-2.0-or-later", PERMISSIVE),
        ("MPL-2.0 AND MIT", WEAK),
        ("GPLv2 with linking exception", WEAK),
        ("GNU Lesser General Public License v3", WEAK),
        ("GNU General Public License v2 (GPLv2)", COPYLEFT),
        ("MIT AND GPL-3.0-only", COPYLEFT),
        ("Public Domain; BSD License; GNU General Public License (GPL)", PERMISSIVE),
        ("all rights reserved", UNKNOWN),
        ("MIT AND all rights reserved", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_families(licence, expected):
    assert family(licence) == expected


def test_page_names_every_package_and_set(tmp_path):
    write_licences_page(ROOT, tmp_path)
    packages = (tmp_path / "licences_packages.md").read_text()
    assert all(f"| {p.name} | {p.version} |" in packages for p in PACKAGES)
    data = (tmp_path / "licences_data.md").read_text()
    assert all(f"| {name} |" in data for name in read_sources())
    page = (ROOT / "docs" / "dependencies.md").read_text()
    assert all(f"_start/{path.name}" in page for path in tmp_path.iterdir())


@pytest.mark.network
@pytest.mark.skipif(not FULL, reason="make test-faults does it: it may install the tool first")
def test_bill_of_materials_is_complete_and_repeats(tmp_path, figure):
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    for file in files:
        done = subprocess.run([ROOT / "tools/sbom", file], capture_output=True, text=True, timeout=400)
        if "could not be had" in done.stderr:
            pytest.skip("no package registry")
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    listed = {
        entry["name"].lower().replace("_", "-").replace(".", "-")
        for entry in json.loads(files[0].read_text())["components"]
    }
    missing = [p.name for p in PACKAGES if p.name not in listed]
    figure("Supply", "pinned packages in the bill of materials", len(PACKAGES), len(PACKAGES) - len(missing))
    assert not missing
