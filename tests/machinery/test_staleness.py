"""What made rows stale is said, and how they stand."""

import json

import pytest
from support.machinery import Written

from kernsemble.report.reproduction import exhibit_lines
from kernsemble.trials import arithmetic
from kernsemble.trials.adoption import Origins
from kernsemble.trials.arithmetic import lock_digest

SOLVER = """
FACTOR = 2


def solve(n):
    return FACTOR * n
"""
TRIALS = """
from kernsemble.trials.registry import Paper
from PACKAGE.solver import solve

paper = Paper("written", title="t", datasets={"x": None, "votes": None}, only={"missing": ["votes"]})
paper.exhibit("table1", "t", metrics=("error",))


@paper.trials("table1", methods=("a",))
def first(trial, *, n: int, missing: str):
    return {"error": solve(n) + (trial.dataset == "votes" and len(missing))}


@paper.trials("table1", methods=("b",))
def second(trial, *, n: int):
    return {"error": n}
"""
SECTION = """
written:
  protocol: {table1: {n: 4, missing: drop}}
  paper: {table1: {runs: 3}}
  quick: {table1: {runs: 2}}
  smoke: {table1: {runs: 1}}
"""


def why(written):
    study = written.study()
    return list(Origins(study).reasons(study.read("table1")))


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNSEMBLE_ROOT", str(tmp_path))
    return Written(tmp_path, monkeypatch, SECTION, solver=SOLVER, trials=TRIALS)


def test_definitions_that_changed_are_named(written):
    Origins(written.study()).remember()
    written.edit(f"{written.package}/solver.py", ("FACTOR = 2", "FACTOR = 3"))
    (told,) = why(written)
    assert told.startswith("6 by first: code ")
    assert told.endswith(f"({written.package}.solver.FACTOR)")


def test_names_and_places_make_no_row_stale_and_numbers_do(written):
    package = written.package
    (written.folder / package / "solver.py").unlink()
    renamed = SOLVER.replace("solve", "twice").replace("FACTOR", "_TIMES")
    (written.folder / package / "methods.py").write_text(renamed)
    moved = (f"{package}.solver", f"{package}.methods"), ("solve", "twice"), ("def first", "def one")
    written.edit(f"{package}/trials.py", *moved)
    assert written.study().read("table1").complete
    written.edit(f"{package}/methods.py", ("= 2", "= 3"))
    assert written.study().read("table1").status == "incomplete: 6 of 12 trials, 6 stale"
    assert written.study().evidence("table1").array("error", ["x"])[0, 0].tolist() == [12, 4]


def test_without_a_memory_the_function_is_named(written):
    written.edit(f"{written.package}/solver.py", ("FACTOR = 2", "FACTOR = 3"))
    (told,) = why(written)
    assert told.startswith("6 by first: code ")
    assert "FACTOR" not in told
    path = written.folder / ".cache" / "origins" / "written.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{damaged")
    assert why(written) == [told]


def test_parameters_that_changed_are_named_for_the_set_that_they_concern(written):
    Origins(written.study()).remember()
    written.edit("params.yaml", ("missing: drop", "missing: mode"))
    assert why(written) == ["3 by first: missing 'drop' -> 'mode'"]
    assert set(written.study().read("table1").stale) == {("votes", "a", n) for n in range(3)}
    written.edit("params.yaml", ("n: 4", "n: 5"))
    assert sorted(why(written)) == [
        "3 by first: missing 'drop' -> 'mode', n 4 -> 5",
        "3 by first: n 4 -> 5",
        "6 by second: n 4 -> 5",
    ]


def test_data_that_changed_are_named(written, monkeypatch):
    monkeypatch.setattr("kernsemble.trials.plan.data_checksum", lambda stored: "12345678")
    assert "3 by first: data of x generated -> 12345678" in why(written)


def test_list_says_how_rows_stand_and_why(written):
    assert list(exhibit_lines(written.study(), why=True))[-1] == "  12 rows of evidence: 12 by today's code"
    written.edit(f"{written.package}/solver.py", ("FACTOR * n", "n * FACTOR"))
    told = list(exhibit_lines(written.study()))
    assert not any("solver" in line for line in told)
    assert told[-1] == "  12 rows of evidence: 6 by today's code, 6 STALE"
    assert any(line.endswith("solver.solve)") for line in exhibit_lines(written.study(), why=True))


def test_memory_is_bounded(written):
    origins = Origins(written.study())
    origins.codes = {str(n): {} for n in range(100)}
    origins.remember()
    kept = json.loads((written.folder / ".cache" / "origins" / "written.json").read_text())
    assert len(kept["codes"]) == 10
    assert {"98", "99"} < kept["codes"].keys()


class TestLock:
    """The lock is recorded when it is what is installed."""

    def test_it_is_what_is_pinned(self, tmp_path, monkeypatch):
        path = tmp_path / "requirements.lock"
        assert lock_digest(path) == ""
        path.write_text(
            "numpy==1.0 ; python_version < '3.0'\nnumpy==2.0 \\\n    --hash=sha256:0\nabsent==1\n"
        )
        installed = {"numpy": "2.0"}
        monkeypatch.setattr(arithmetic, "installed", installed.get)
        digest = lock_digest(path)
        assert len(digest) == 8
        path.write_text(path.read_text() + "# a remark\n")
        assert lock_digest(path) not in (digest, "other")
        installed["numpy"] = "2.1"
        assert lock_digest(path) == "other"
