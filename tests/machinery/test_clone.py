"""What a stranger gets: a clone in an empty folder pulls its data without a network and is in sync."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clone") / "kernsemble"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder)], check=True)
    return folder


def run(clone, *command):
    """Run in the clone, with its own sources and no way to a network."""
    env = {
        **os.environ,
        "PYTHONPATH": str(clone / "src"),
        "DVC_NO_ANALYTICS": "1",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    env.pop("KERNSEMBLE_DATA", None)
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=clone, env=env, capture_output=True, text=True, timeout=240
    )


@pytest.mark.slow
def test_clone_pulls_complete_data_and_its_paper_results_are_in_sync(clone):
    pulled = run(clone, "dvc", "pull")
    assert pulled.returncode == 0, pulled.stderr
    verified = run(clone, "kernsemble", "data", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    status = run(clone, "dvc", "data", "status", "--granular")
    assert status.returncode == 0
    assert "modified" not in status.stdout
    told = run(clone, "dvc", "status", "evidence", "render", "ledger").stdout
    stale = [line for line in told.splitlines() if line[:1].isalpha() and line.endswith(":")]
    assert stale or "up to date" in told
    if stale:  # reported loudly; refreshing the evidence is a work of its own
        pytest.skip("PAPER-SCALE RESULTS ARE STALE: " + " ".join(stale))


def test_clone_and_its_remote_take_at_most_60_megabytes(tmp_path):
    # As the README says to clone: every rendering stays in the history, which grows without a bound.
    command = ["git", "clone", "--depth", "1"]
    assert " ".join([*command, "<this repository>"]) in (ROOT / "README.md").read_text()
    subprocess.run([*command, "--quiet", ROOT.as_uri(), str(tmp_path / "kernsemble")], check=True)
    history, remote = (tmp_path / "kernsemble" / name for name in (".git", "datastore"))
    total = sum(
        path.stat().st_size for part in (history, remote) for path in part.rglob("*") if path.is_file()
    )
    assert total <= 60e6
