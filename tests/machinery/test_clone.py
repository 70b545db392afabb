"""What a stranger gets: a clone in an empty folder pulls its data without a network and is in sync."""

import pytest
from support.checkouts import ROOT, call, clone_to


@pytest.mark.slow
def test_clone_pulls_complete_data_and_its_paper_results_are_in_sync(tmp_path):
    clone = clone_to(tmp_path / "kernsemble", "--no-hardlinks")
    pulled = call(clone, "dvc", "pull")
    assert pulled.returncode == 0, pulled.stderr
    verified = call(clone, "kernsemble", "data", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    status = call(clone, "dvc", "data", "status", "--granular")
    assert status.returncode == 0
    assert "modified" not in status.stdout
    told = call(clone, "dvc", "status", "evidence", "render", "ledger").stdout
    stale = [line for line in told.splitlines() if line[:1].isalpha() and line.endswith(":")]
    assert stale or "up to date" in told
    if stale:  # reported loudly; refreshing the evidence is a work of its own
        pytest.skip("PAPER-SCALE RESULTS ARE STALE: " + " ".join(stale))


def test_clone_and_its_remote_take_at_most_60_megabytes(tmp_path):
    # As the README says to clone: every rendering stays in the history, which grows without a bound.
    assert "git clone --depth 1 <this repository>" in (ROOT / "README.md").read_text()
    clone_to(tmp_path / "kernsemble", "--depth", "1")
    history, remote = (tmp_path / "kernsemble" / name for name in (".git", "datastore"))
    total = sum(
        path.stat().st_size for part in (history, remote) for path in part.rglob("*") if path.is_file()
    )
    assert total <= 60e6
