"""``make reproduce`` refuses what is no scale, runs all that it names, and stops when it is told to."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUICK = ["python -m kernsemble reproduce all --scale quick", "python -m kernsemble ledger --check"]


@pytest.fixture
def checkout(tmp_path):
    """A small checkout whose dvc and python note that they were called, then do what is in `then`."""
    (tmp_path / "tools").mkdir()
    for name in ("reproduce", "data"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for name in ("dvc", "python"):
        stub = tmp_path / ".venv/bin" / name
        stub.write_text(f'#!/bin/sh\necho {name} "$@" >> calls\n[ ! -f then ] || . ./then\n')
        stub.chmod(0o755)
    return tmp_path


def start(checkout, *arguments):
    """Start the script as a terminal would, in a group of its own."""
    return subprocess.Popen(
        [checkout / "tools/reproduce", *arguments], cwd=checkout, env=os.environ, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def run(checkout, *arguments):
    """Return the exit status, what the script says, and the programs that it called after `tools/data`."""
    (checkout / "calls").write_text("")
    process = start(checkout, *arguments)
    said = "".join(process.communicate(timeout=60))
    of_data = ("dvc pull", "dvc config", "python -m kernsemble data")
    calls = (checkout / "calls").read_text().splitlines()
    return process.returncode, said, [line for line in calls if not line.startswith(of_data)]


def test_quick_scale_is_run_and_judged_every_time(checkout):
    for _ in range(2):  # nothing is remembered from one run to the next
        status, said, calls = run(checkout, "quick")
        assert (status, calls) == (0, QUICK)
        assert "rendered notebooks: results/quick/*/*.ipynb" in said


def test_paper_scale_goes_through_dvc(checkout):
    assert run(checkout, "paper")[2] == ["dvc repro render ledger"]
    assert run(checkout, "paper", "fresh")[2] == ["dvc repro --force render ledger"]


@pytest.mark.parametrize("scale", ["foo", "smoke", "", "quick paper", "Quick"])
def test_any_other_scale_is_refused_by_name_before_work_begins(checkout, scale):
    status, said, calls = run(checkout, scale)
    assert (status, calls) == (2, [])
    assert f"SCALE is '{scale}'; it must be quick or paper" in said
    assert (checkout / "calls").read_text() == ""


@pytest.mark.parametrize("scale", ["foo", "smoke"])
def test_make_refuses_it_before_it_installs_anything(scale):
    command = ["make", "reproduce", f"SCALE={scale}", "PYTHON=no-such-python"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert f"SCALE is '{scale}'; it must be quick or paper" in done.stderr
    assert "no-such-python" not in done.stderr


@pytest.mark.parametrize("failing", ["reproduce", "ledger"])
def test_failure_is_a_failure(checkout, failing):
    (checkout / "then").write_text(f'[ "$3" != {failing} ] || exit 1\n')
    assert run(checkout, "quick")[0] == 1
