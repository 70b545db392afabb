"""Clones as strangers have them: of another owner, copied, without git, broken; closed streams, no home."""

import shutil
import subprocess
import sys

import pytest
from support.checkouts import ROOT, call, clone_to, make_environment
from support.processes import command, environment, evidence_file
from support.slow_runs import run_to_the_end

CLONES = "clones moved, copied, of another owner, without git", 1, 1, "their own code, or refused"
STRAIGHT = f'#!/bin/sh\nexport DVC_NO_ANALYTICS=1\nexec "{sys.executable}" {{}}"$@"\n'
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture
def clone(tmp_path):
    """A clone in a folder with an odd name; its .venv stands ready and runs its own sources."""
    folder = clone_to(tmp_path / "a clone ü 'q", "--depth", "1")
    for name in ("Makefile", "tools", "src", "notebooks", "params.yaml"):  # as they are in the working tree
        subprocess.run(["cp", "-r", ROOT / name, folder], check=True)
    make_environment(folder, STRAIGHT.format(""), STRAIGHT.format("-m dvc "))
    return folder


def test_path_with_spaces_and_quotes_and_no_git(clone, figure):
    """An archive of the repository gets its data as a clone does."""
    shutil.rmtree(clone / ".git")
    done = call(clone, "make", "data")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "datasets in" in done.stdout
    figure("Faults", *CLONES)


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda clone: (clone / "params.yaml").write_text("garbage: [\n"), "params.yaml"),
        (lambda clone: (clone / "dvc.yaml").write_text("stages: [\n"), "dvc.yaml"),
        (lambda clone: shutil.rmtree(clone / "datastore"), "failed to pull"),
    ],
)
def test_what_dvc_says_is_told(clone, break_it, said):
    break_it(clone)
    done = call(clone, "make", "reproduce")
    assert done.returncode
    assert said in done.stderr
    assert "mend what DVC names above" in done.stderr
    assert "were changed here" not in done.stderr


def test_changed_data_are_named_with_the_remedy(clone):
    assert call(clone, "make", "data").returncode == 0
    with (clone / "data/iris.npz").open("ab") as file:
        file.write(b"x")
    done = call(clone, "make", "data")
    assert done.returncode
    assert "changed here. To restore them: .venv/bin/dvc pull --force" in done.stderr
    assert call(clone, ".venv/bin/dvc", "pull", "--force").returncode == 0
    assert call(clone, "make", "data").returncode == 0


def test_clone_of_another_owner_is_run_and_not_believed(clone, figure):
    """Git refuses there; what is up to date is seen in the files, and broken ones are an error."""
    other = {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "KERNSEMBLE_JOBS": "1"}
    assert call(clone, "git", "status", **other).returncode
    rows = clone / "results/paper/linli2005/evidence/theorems.csv"
    rows.write_bytes(rows.read_bytes()[:200])
    words = ("reproduce", "linli2005", "--scale", "quick", "--exhibit", "theorems", "--no-notebook")
    assert call(clone, "make", "data", **other).returncode == 0
    done = call(clone, "kernsemble", *words, **other)
    assert "have no committed row" in done.stdout
    assert call(clone, "kernsemble", "ledger", "--check", **other).returncode
    with (clone / "params.yaml").open("a") as file:
        file.write("\ngarbage: [\n")
    assert call(clone, "make", "reproduce", **other).returncode
    figure("Faults", *CLONES)


def test_code_of_another_clone_is_named(clone, figure):
    """By PYTHONPATH, or an environment that was copied: every command refuses it."""
    for words in ("list", "reproduce lin2012", "verify", "ledger --check", "data verify"):
        done = call(clone, "kernsemble", *words.split(), PYTHONPATH=str(ROOT / "src"))
        assert done.returncode == 2
        assert f"is that of {ROOT / 'src/kernsemble'}, not of {clone / 'src/kernsemble'}" in done.stderr
    figure("Faults", *CLONES)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(closed, slow_root, undisturbed, figure):
    """No file of evidence gets the number of a closed stream, and the run does what it is asked for."""
    shell = ["sh", "-c", f'"$@" {closed}', "sh", *command("--no-notebook")]
    done = subprocess.run(shell, env=environment(slow_root), cwd=slow_root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    run_to_the_end(slow_root)
    assert evidence_file(slow_root).read_text().splitlines()[0].startswith("dataset,method,trial")
    figure("Faults", "closed standard streams", 1, 1)


@pytest.mark.parametrize("home", ["", "/nowhere/at/all", "/proc"])
def test_no_home(home, slow_root):
    variables = environment(slow_root, HOME=home)
    done = subprocess.run(
        command(), env=variables, cwd=slow_root, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
