"""``make reproduce`` runs once, then only says what came of it until something changes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path):
    """A small repository whose dvc and python only note that they were called."""
    for name in ("reproduce", "data"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    for folder in (".venv/bin", "data", "results/quick"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".venv/.installed").write_text("1")
    (tmp_path / "data/iris.npz").write_text("iris")
    for name, says in (("dvc", "echo a@quick"), ("python", "echo 3 of 3 agree")):
        stub = tmp_path / ".venv/bin" / name
        stub.write_text(f'#!/bin/sh\necho {name} "$@" >> "$PWD/.venv/calls"\n{says}\n')
        stub.chmod(0o755)
    (tmp_path / ".gitignore").write_text(".venv/\n/data/\nresults/\n")
    author = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*author, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def run(checkout, *arguments):
    """Return what the script prints, and how many programs it called."""
    calls = checkout / ".venv/calls"
    calls.write_text("")
    done = subprocess.run(
        [checkout / "tools/reproduce", *arguments],
        cwd=checkout, env=os.environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout, len(calls.read_text().splitlines())


def test_second_run_repeats_the_summary_and_calls_nothing(checkout):
    said, calls = run(checkout, "quick")
    assert calls == 6
    said, calls = run(checkout, "quick")
    assert calls == 0
    assert "3 of 3 agree" in said
    assert "nothing has changed" in said
    assert "read: results/quick" in said


@pytest.mark.parametrize("path", ["data/iris.npz", "results/quick/a.csv", "tools/data", "new.py"])
def test_any_change_runs_it_again(checkout, path):
    run(checkout, "quick")
    with (checkout / path).open("a") as file:
        file.write("\n# changed\n")
    assert run(checkout, "quick")[1] == 6


def test_fresh_runs_it_again(checkout):
    run(checkout, "quick")
    assert run(checkout, "quick", "fresh")[1] == 6


def test_failure_is_not_remembered(checkout):
    (checkout / ".venv/bin/python").write_text("#!/bin/sh\necho 1 DIFFER\nexit 1\n")
    for _ in range(2):
        done = subprocess.run([checkout / "tools/reproduce", "quick"], capture_output=True, text=True)
        assert done.returncode == 1
