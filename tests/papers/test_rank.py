"""`kernsemble rank`: an estimator of somebody's own on the atlas' splits, beside the committed rows."""

import csv
from pathlib import Path

import pytest

from kernsemble.report.cli import main
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
METHOD = """
from sklearn.linear_model import LogisticRegression, Ridge

from kernsemble import AdaBoost


def make():
    return [AdaBoost(n) for n in (20, 50, 100, 200, 500)]


def linear():
    return LogisticRegression()


def regressor():
    return Ridge()
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the command where the user's module is."""
    name = f"my_method_{tmp_path.name}".replace("-", "_").rstrip("_")
    (tmp_path / f"{name}.py").write_text(METHOD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNSEMBLE_ROOT", str(ROOT))

    def call(factory, *options):
        status = main(["rank", factory.replace("mine", name), "--jobs", "1", *options])
        return status, *capsys.readouterr()

    return call


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_committed_method_comes_out_as_it_is_committed(run, tmp_path):
    status, out, _ = run("mine:make", "--dataset", "heart", "--runs", "2")
    assert status == 0
    evidence = Study("atlas", "paper", ROOT, older=True).evidence("arena")
    found = rows(tmp_path / "rank-make.csv")
    for metric in ("error", "chosen", "kilobytes"):
        committed = evidence.runs(metric, "heart", "AdaBoost-Stump", partial=True)[:2]
        assert [float(row[metric]) for row in found] == pytest.approx(
            committed, abs=1.0 if metric == "kilobytes" else 1e-9
        )
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line and "heart" not in line}
    assert lines["make"][1:3] == lines["AdaBoost-Stump"][1:3]  # rank and error
    assert lines["AdaBoost-Stump"][-3:] == ["0.00", "1.00", "0.00"]
    assert "two classes: 1 sets" in out
    assert "more classes" not in out


def test_rows_are_kept_until_something_changes(run, tmp_path):
    options = ("--dataset", "heart", "--dataset", "iris", "--runs", "1", "--out", "mine.csv")
    assert "2 to compute" in run("mine:linear", *options)[1]
    assert "0 to compute" in run("mine:linear", *options)[1]
    (source,) = tmp_path.glob("*.py")
    source.write_text(METHOD + "# changed\n")
    status, out, _ = run("mine:linear", *options)
    assert status == 0
    assert "2 to compute" in out
    assert "all sets: 2 sets" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("mine",), "write module:factory"),
        (("mine:nothing",), "no class or function 'nothing'"),
        (("nowhere:make",), "No module named 'nowhere'"),
        (("mine:regressor",), "no classifier"),
        (("os:getcwd",), "no classifier"),
        (("mine:linear", "--dataset", "hart"), "No set 'hart'"),
        (("mine:linear", "--runs", "0"), "runs is 0"),
    ],
)
def test_mistakes_are_named(run, arguments, words):
    status, _, err = run(*arguments)
    assert status == 2
    assert words in err
    assert "Traceback" not in err


def test_a_file_of_others_is_left_alone(run, tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    status, _, err = run("mine:linear", "--dataset", "iris", "--out", "mine.csv")
    assert status == 2
    assert "--out" in err
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"
