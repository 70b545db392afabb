"""dvc.yaml says what the import graph says, and DVC does with it what is promised."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from machinery import MODULE, make_repository

from kernsemble import stages
from kernsemble.stages import (
    differences,
    module_files,
    notebook_modules,
    paper_dependencies,
    papers_with_notebook,
    write_stages,
)

ROOT = Path(__file__).parents[1]


def test_declared_dependencies_are_those_of_the_import_graph():
    assert differences(ROOT) == [], "run: python -m kernsemble stages --write"


def test_number_of_stages_stays_small():
    document = yaml.safe_load((ROOT / "dvc.yaml").read_text())
    assert sum(len(stage.get("foreach", [1])) for stage in document["stages"].values()) < 60


@pytest.mark.parametrize("key", papers_with_notebook(ROOT))
def test_dependencies_of_a_paper(key):
    found = paper_dependencies(key, ROOT)
    assert all((ROOT / name).is_file() for name in found if not name.startswith("data/"))
    needed = {f"notebooks/{key}.ipynb", "src/kernsemble/evidence.py", "src/kernsemble/matplotlibrc"}
    assert needed <= set(found)
    assert any(name.startswith(f"src/kernsemble/experiments/{key}") for name in found)
    others = {other for other in ("bi2004", "linli2005", "lin2012", "shen2014", "guo2017") if other != key}
    assert not [name for name in found if any(other in name for other in others)]


def test_files_follow_imports_and_bring_their_resources():
    files = module_files({"kernsemble.tables"}, ROOT)
    assert {"src/kernsemble/published.py", "published/published.csv"} <= files
    assert "src/kernsemble/figures.py" not in files
    assert "src/kernsemble/cli.py" not in files


def test_modules_of_a_notebook_are_where_names_are_defined(tmp_path):
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    source = (
        "%config x = 1\nimport numpy as np\nfrom kernsemble import stump_kernel\n"
        "from kernsemble.study import open_study\nfrom kernsemble import comparisons"
    )
    nbformat.write(new_notebook(cells=[new_code_cell(source)]), tmp_path / "n.ipynb")
    found = notebook_modules(tmp_path / "n.ipynb")
    assert found == {"kernsemble.kernels", "kernsemble.study", "kernsemble.comparisons"}


def test_missing_and_unused_dependencies_are_named(tmp_path, monkeypatch):
    def stage(deps):
        return {"cmd": "x", "deps": deps}

    for name in ("papers_with_notebook", "ledger_dependencies"):
        monkeypatch.setattr(stages, name, lambda root: ["p"])
    monkeypatch.setattr(stages, "ledger_stage", lambda root: stage([]))
    monkeypatch.setattr(stages, "paper_stage", lambda key, root: stage(["a", "b"]))
    write_stages(tmp_path)
    assert differences(tmp_path) == []
    monkeypatch.setattr(stages, "paper_stage", lambda key, root: stage(["b", "c"]))
    assert differences(tmp_path) == ["p: unused dependency a", "p: missing dependency c"]


@pytest.mark.slow
def test_forced_runs_leave_the_repository_clean(tmp_path, monkeypatch):
    root = make_repository(tmp_path / "repository")
    params = root / "params.yaml"
    params.write_text(params.read_text().replace("    trouble: {datasets: [coin], runs: 1}\n", ""))
    monkeypatch.setattr(stages, "paper_dependencies", lambda key, root: ["published/claims.yaml"])
    stage = stages.paper_stage("fake_paper", root)
    stage["do"]["cmd"] = f"{sys.executable} -m kernsemble reproduce {MODULE} --no-notebook --scale ${{key}}"
    (root / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"fake_paper": stage}}, sort_keys=False))
    (root / ".gitignore").write_text("results/quick/\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "DVC_NO_ANALYTICS": "1"}
    environment |= {"KERNSEMBLE_ROOT": str(root), "KERNSEMBLE_JOBS": "1"}

    def call(*command):
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    dvc = [sys.executable, "-m", "dvc"]
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    call("git", "init", "--quiet")
    call(*dvc, "init", "--quiet")
    call(*dvc, "repro", "--quiet", "--single-item", "fake_paper@paper")
    call(*dvc, "repro", "--quiet")
    call("git", "add", "--all")
    call(*git, "commit", "--quiet", "--message", "x")
    call(*dvc, "repro", "--quiet", "--force")
    assert call("git", "status", "--short") == ""
    call("git", "clone", "--quiet", ".", str(tmp_path / "clone"))
    root = tmp_path / "clone"
    environment["KERNSEMBLE_ROOT"] = str(root)
    out = call(*dvc, "repro")
    assert "Running stage 'fake_paper@quick'" in out
    assert "'fake_paper@paper' didn't change, skipping" in out
    assert "9 of 9 trials agree" in out
    assert call("git", "status", "--short") == ""
