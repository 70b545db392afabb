"""dvc.yaml is short, has every paper at both scales, and DVC does with it what is promised."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook
from support.machinery import MODULE, change_params, make_repository

from kernsemble.trials.rooms import STUDIES
from kernsemble.trials.study import FINGERPRINTS, Study, fingerprint, write_fingerprints

ROOT = Path(__file__).parents[2]
PIPELINE = (ROOT / "dvc.yaml").read_text()


def test_pipeline_is_short_and_has_every_paper():
    document = yaml.safe_load(PIPELINE)
    assert len(PIPELINE.splitlines()) <= 80
    assert document["vars"] == [{"papers": list(STUDIES)}]
    matrices = {name: stage["matrix"] for name, stage in document["stages"].items() if "matrix" in stage}
    assert matrices == {name: {"paper": "${papers}"} for name in ("quick", "evidence", "render")}


def test_lock_is_short_and_says_nothing_of_quick_runs():
    text = (ROOT / "dvc.lock").read_text()
    assert len(text.splitlines()) < 600
    assert "path: results/quick" not in text
    quick = {name: entry for name, entry in yaml.safe_load(text)["stages"].items() if "quick" in name}
    assert all(set(entry) == {"cmd"} for entry in quick.values())


@pytest.mark.parametrize("key", STUDIES)
def test_committed_fingerprints_are_those_of_the_sources(key):
    today = fingerprint(Study(key, "paper", ROOT))
    assert (ROOT / FINGERPRINTS / f"{key}.json").read_text() == today, "run: python -m kernsemble fingerprint"


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("bias: 0.5", "bias: 0.25", {"table1/draws"}),
        ("n: 20", "n: 21", {"table1/draws", "table1/two_lengths"}),
        ("figure1: {runs: {default: 3, die: 2}}", "figure1: {runs: 4}", {"figure1/descent"}),
        ("runs: 2}\n    figure1", "runs: 3}\n    figure1", set()),  # of the quick scale
    ],
)
def test_fingerprint_follows_what_rows_come_from(tmp_path, before, after, changed):
    params = make_repository(tmp_path / "repository") / "params.yaml"

    def entries():
        return json.loads(fingerprint(Study(MODULE, "paper", params.parent)))

    first = entries()
    assert before in params.read_text()
    params.write_text(params.read_text().replace(before, after))
    assert {name for name, entry in entries().items() if entry != first[name]} == changed


def test_fingerprints_are_written_only_where_they_change(tmp_path):
    root = make_repository(tmp_path / "repository")
    assert list(write_fingerprints([MODULE], root)) == ["fake_paper"]
    assert list(write_fingerprints([MODULE], root)) == []


SOURCE = f"""
from pathlib import Path
from kernsemble.trials.study import open_study
study = open_study({MODULE!r}, scale)
for name in ("tables", "figures"):
    (study.folder / name).mkdir(exist_ok=True)
    (study.folder / name / "table1.csv").write_text(study.evidence("table1").status)
"""


@pytest.fixture
def repository(tmp_path):
    """A repository of the fake paper under git and DVC, and a way to run commands in it or in a clone."""
    root = make_repository(tmp_path / "repository")
    change_params(root, "    trouble: {datasets: [coin], runs: 1}\n", "")
    for name in ("data", "src/kernsemble"):
        (root / name).mkdir(parents=True)
        (root / name / "file").touch()
    cell = new_code_cell('scale = "quick"', metadata={"tags": ["parameters"]})
    nbformat.write(
        new_notebook(cells=[cell, new_code_cell(SOURCE)]), root / "notebooks/fake_paper/fake_paper.ipynb"
    )
    (root / ".gitignore").write_text("results/quick/\n")
    pipeline = PIPELINE[: PIPELINE.index("\n  ledger:")]
    for before, after in (
        (", ".join(STUDIES), "fake_paper"),
        ("python -m kernsemble", f"{shlex.quote(sys.executable)} -m kernsemble"),
        ("reproduce ${item.paper}", f"reproduce {MODULE}"),
        ("kernsemble fingerprint", f"kernsemble fingerprint {MODULE}"),
    ):
        assert before in pipeline
        pipeline = pipeline.replace(before, after)
    (root / "dvc.yaml").write_text(pipeline)
    environment = {**os.environ, "DVC_NO_ANALYTICS": "1", "KERNSEMBLE_JOBS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), str(ROOT / "src")])
    environment.pop("KERNSEMBLE_ROOT", None)

    def call(*command, folder=root):
        command = [sys.executable, "-m", *command] if command[0] == "dvc" else command
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    call("git", "init", "--quiet")
    call("dvc", "init", "--quiet")
    return root, call


def commit(call):
    call("git", "add", "--all")
    author = ("-c", "user.name=n", "-c", "user.email=n@example.org")
    call("git", *author, "commit", "--quiet", "--message", "all")


@pytest.mark.slow
def test_a_clone_is_in_sync_and_runs_the_quick_scale_and_git_stays_clean(repository, tmp_path):
    root, call = repository
    call("dvc", "repro", "--quiet")
    commit(call)
    clone = tmp_path / "clone"
    call("git", "clone", "--quiet", str(root), str(clone))
    assert "up to date" in call("dvc", "status", "evidence", "render", folder=clone)
    said = call("dvc", "repro", folder=clone)
    assert "9 of 9 trials agree" in said
    for stage in ("evidence", "render"):
        assert f"'{stage}@fake_paper' didn't change, skipping" in said
    assert (clone / "results/quick/fake_paper/fake_paper.ipynb").is_file()
    call("dvc", "repro", "--force", "quick@fake_paper", folder=clone)
    assert call("git", "status", "--short", folder=clone) == ""


@pytest.mark.slow
def test_another_parameter_makes_evidence_stale_for_dvc_and_what_is_left_alone_stays(repository):
    root, call = repository
    call("dvc", "repro", "--quiet")
    before = {path: path.read_bytes() for path in (root / "results/paper/fake_paper/evidence").glob("*")}
    change_params(root)
    call("dvc", "repro", "--quiet", "fingerprints")
    assert "results/fingerprints/fake_paper.json" in call("dvc", "status", "evidence")
    call("dvc", "repro", "--quiet", "render")
    assert {path.name for path, old in before.items() if path.read_bytes() != old} == {"table1.csv"}
    assert "up to date" in call("dvc", "status", "evidence", "render")
