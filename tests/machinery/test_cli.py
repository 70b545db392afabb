"""The command line says what it did and what went wrong, in words."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from support.machinery import MODULE, change_params, make_repository, open_fake, replace_in

from kernsemble.report import reproduction
from kernsemble.report.cli import build_parser, main
from kernsemble.report.published import own_cells
from kernsemble.report.reproduction import check_printed
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import only_writer
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
COMMANDS = ("list", "reproduce", "verify", "diff", "ledger", "fingerprint")


@pytest.fixture
def root(tmp_path, monkeypatch):
    made = make_repository(tmp_path / "repository")
    params = made / "params.yaml"
    text = params.read_text().replace("    trouble: {datasets: [coin], runs: 1}\n", "")
    params.write_text(text)
    monkeypatch.setenv("KERNSEMBLE_ROOT", str(made))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    for name in ("KERNSEMBLE_JOBS", "KERNSEMBLE_FRESH", "KERNSEMBLE_SCALE"):
        monkeypatch.delenv(name, raising=False)
    return made


PARAMETERS = new_code_cell('scale = "quick"', metadata={"tags": ["parameters"]})


def write_article(root, *cells):
    path = root / "notebooks" / "fake_paper" / "fake_paper.ipynb"
    nbformat.write(new_notebook(cells=list(cells)), path)
    return path


def run(capsys, *arguments):
    status = main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def compute_both_scales(capsys):
    for scale in ("paper", "quick"):
        run(capsys, "reproduce", MODULE, "--no-notebook", "--jobs", "1", "--scale", scale)


def test_help_of_every_command(capsys):
    for arguments in ([], *([command] for command in COMMANDS)):
        with pytest.raises(SystemExit) as stop:
            build_parser().parse_args([*arguments, "--help"])
        assert stop.value.code == 0
        assert "usage: python -m kernsemble" in capsys.readouterr().out


def test_evidence_verification_and_overview(root, capsys):
    arguments = ("reproduce", MODULE, "--no-notebook", "--jobs", "1", "--scale")
    status, out, _ = run(capsys, *arguments, "quick")
    assert status == 0
    assert "fake_paper: 0 of 9 trials agree" in out
    assert "9 have no committed row" in out
    assert run(capsys, "verify", MODULE)[0] == 1
    assert run(capsys, *arguments, "paper")[0] == 0
    status, out, _ = run(capsys, "verify", MODULE)
    assert status == 0
    assert "9 of 9 trials agree with the committed evidence (equal to 4 significant digits" in out
    agreement = json.loads((root / "results/quick/fake_paper/agreement.json").read_text())
    assert agreement["agree"] == agreement["trials"] == 9
    status, out, _ = run(capsys, "list", MODULE)
    assert "table1      160 of 160    complete" in out
    status, out, _ = run(capsys, "list", MODULE, "--scale", "smoke")
    assert "table1        0 of 4      about 0 s left" in out
    assert "figure1" not in out


def test_receipt_says_what_ran_and_its_digest_hangs_on_every_number(root, capsys, tmp_path):
    compute_both_scales(capsys)
    file = tmp_path / "receipts" / "mine.json"
    assert run(capsys, "verify", MODULE, "--receipt", str(file))[0] == 0
    first = json.loads(file.read_text())
    assert first["total"]["agree"] == first["total"]["trials"] == 9
    assert first["papers"]["fake_paper"]["agree"] == 9
    assert {"commit", "lock", "processor", "arithmetic", "python", "rule"} <= set(first)
    run(capsys, "verify", MODULE, "--receipt", str(file))
    assert json.loads(file.read_text()) == first
    change_params(root)
    run(capsys, "verify", MODULE, "--compute", "--jobs", "1", "--receipt", str(file))
    second = json.loads(file.read_text())["papers"]["fake_paper"]
    assert second["rows"] != first["papers"]["fake_paper"]["rows"]
    assert second["stale"] > 0


def test_diff_shows_what_a_parameter_moved_and_nothing_else(root, capsys):
    compute_both_scales(capsys)
    status, out, _ = run(capsys, "diff", MODULE)
    assert status == 0
    assert "  0 of " in out
    change_params(root)
    run(capsys, "verify", MODULE, "--compute", "--jobs", "1")
    status, out, _ = run(capsys, "diff", MODULE)
    assert status == 0
    assert "committed" in out
    every = run(capsys, "diff", MODULE, "--all")[1]
    moved, every = ([line for line in text.splitlines() if line.endswith(" differ")] for text in (out, every))
    assert len(every) > len(moved) > 0
    committed, now, difference = map(float, moved[0].split()[4:7])
    assert difference == pytest.approx(now - committed, rel=1e-2)


def test_diff_without_trials_says_what_to_run(root, capsys):
    status, out, _ = run(capsys, "diff", MODULE)
    assert status == 1
    assert f"reproduce {MODULE} --scale quick" in out or "reproduce fake_paper" in out


def test_stale_evidence_is_reported_loudly(root, capsys):
    compute_both_scales(capsys)
    change_params(root)
    status, out, _ = run(capsys, "verify", MODULE, "--compute", "--jobs", "1")
    assert status == 0
    assert "STALE: fake_paper: 80 of 167 committed rows" in out
    assert run(capsys, "verify", MODULE, "--strict")[0] == 1
    assert "--scale paper" in out
    assert "80 stale, about 0 s left" in run(capsys, "list", MODULE)[1]


def test_fresh_computes_anew_and_only_the_exhibit_asked_for(root, capsys):
    arguments = f"reproduce {MODULE} --no-notebook --jobs 1 --scale paper --exhibit timing".split()
    run(capsys, *arguments)
    study = open_fake(root)
    first = study.path("timing").read_bytes()
    assert not study.path("table1").exists()
    run(capsys, *arguments)
    assert study.path("timing").read_bytes() == first
    run(capsys, *arguments, "--fresh")
    assert study.path("timing").read_bytes() != first


def test_notebook_is_rendered(root, capsys):
    write_article(root, PARAMETERS, new_code_cell("print(scale)"))
    assert run(capsys, "reproduce", MODULE, "--scale", "smoke", "--jobs", "1")[0] == 0
    rendered = nbformat.read(root / "results/smoke/fake_paper/fake_paper.ipynb", as_version=4)
    assert rendered.cells[1].outputs[0].text == "smoke\n"


def test_notebook_is_rendered_from_what_is_there_on_demand(root, capsys):
    status = f"open_study({MODULE!r}, scale).evidence('table1').status"
    show = f"from kernsemble.trials.study import open_study\nprint({status})"
    write_article(root, PARAMETERS, new_code_cell(show))
    assert run(capsys, "reproduce", MODULE, "--scale", "paper", "--no-compute")[0] == 0
    rendered = nbformat.read(root / "results/paper/fake_paper/fake_paper.ipynb", as_version=4)
    assert rendered.cells[1].outputs[0].text == "incomplete: 0 of 160 trials\n"
    assert not (root / "results/paper/fake_paper/evidence").exists()


@pytest.mark.parametrize(
    ("path", "again"),
    [
        (None, False),
        ("params.yaml", True),
        ("results/quick/fake_paper/kept", True),  # what it wrote
        ("results/quick/fake_paper/evidence/table1.csv", False),  # a damaged line is mended first
    ],
)
def test_notebook_is_run_again_only_where_something_has_changed(root, capsys, path, again):
    keep = "from pathlib import Path\nPath('../../results/quick/fake_paper/kept').touch()"
    write_article(root, PARAMETERS, new_code_cell(keep))
    arguments = ("reproduce", MODULE, "--scale", "quick", "--jobs", "1")
    assert "running its notebook" in run(capsys, *arguments)[2]
    if path is not None:
        with (root / path).open("a") as file:
            file.write("\n# changed\n")
    assert ("running its notebook" in run(capsys, *arguments)[2]) == again


def test_two_runs_of_all_papers_do_not_go_on_side_by_side(root, capsys):
    with only_writer(root / "results" / "quick"):
        status, _, err = run(capsys, "reproduce", MODULE, MODULE, "--no-notebook", "--jobs", "1")
    assert status == 2
    assert "Another run" in err
    assert "wait until it ends, or stop it" in err


LOST = "fake_paper,table1,lost,plain,1.0,"
CLAIM = "table1, statement: The bias is p"
BY_HAND = {  # the file, what stands there, what is written, and what must be said
    "cell of no exhibit": ("published.csv", LOST, LOST.replace("table1", "tabel1"), "published.csv|tabel1"),
    "cell of no data set": ("published.csv", LOST, LOST.replace("lost", "cion"), "no data set 'cion'|coin"),
    "cell of no method": ("published.csv", LOST, "fake_paper,table1,coin,palin,1.0,", "palin|plain"),
    "cell of no paper": (
        *("published.csv", LOST, LOST.replace("fake_paper", "fake_papre")),
        "published.csv (line|unknown paper 'fake_papre'|linli2005",
    ),
    "spread below 0": (
        "published.csv",
        "0.56,0.24",
        "0.56,-0.24",
        "published.csv (line 2).spread|not negative, found '-0.24'",
    ),
    "claim of no exhibit": ("claims.yaml", CLAIM, "tabel1, statement: p", "F1|no exhibit 'tabel1'|table1"),
    "claim of another check": ("claims.yaml", "bias_is_negative", "bias_is_large", "F2|'bias_is_large'"),
    "claim that is gone": ("claims.yaml", "- {id: F2,", "# - {id: F2,", "no claim F2|put it back"),
    "misspelt": ("params.yaml", "bias: 0.5", "biass: 0.5", "unknown key 'biass'; allowed are bias, n, rule"),
    "negative": ("params.yaml", "bias: 0.5", "bias: -0.5", "fake_paper.protocol.table1.bias|-0.5"),
    "zero": ("params.yaml", "n: 20", "n: 0", "fake_paper.protocol.shared.n|above 0"),
    "a word that nobody explored": (
        *("params.yaml", "value: mean", "value: maen"),
        "fake_paper.choices.rule.value|'maen'|mean, median",
    ),
    "a choice of another type": (
        *("params.yaml", "value: mean", "value: no"),
        "fake_paper.choices.rule.value: False is not|mean, median",
    ),
}


@pytest.mark.parametrize("mistake", BY_HAND)
def test_mistakes_by_hand_are_named_before_work_begins(root, capsys, mistake):
    file, old, new, said = BY_HAND[mistake]
    path = root / file if file == "params.yaml" else root / "published" / file
    assert path.read_text().count(old) == 1
    replace_in(path, old, new)
    status, _, err = run(capsys, "reproduce", MODULE, "--no-notebook", "--jobs", "1")
    assert status == 2
    for word in said.split("|") if file == "params.yaml" else (file, *said.split("|")):
        assert word in err
    assert "Traceback" not in err
    assert not (root / "results" / "quick" / "fake_paper").exists()


@pytest.mark.parametrize("key", PAPERS)
def test_a_misspelt_name_of_any_printed_table_is_named(key, monkeypatch):
    """A letter too much in a row or a column: no number counts as not reproduced yet because of a slip."""
    study = Study(key, "quick", ROOT)
    check_printed(study)
    first = {}
    for cell in own_cells(study):
        first.setdefault((cell.exhibit, cell.row), replace(cell, row=f"{cell.row}x"))
        first.setdefault((cell.exhibit, None, cell.column), replace(cell, column=f"{cell.column}x"))
    taken = []
    for cell in first.values():
        monkeypatch.setattr(reproduction, "own_cells", lambda _, cell=cell: [cell])
        try:
            check_printed(study)
            taken.append(str(cell))
        except PlanError as error:
            assert "published.csv" in str(error)  # noqa: PT017
    assert taken == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", ["is not a notebook"]),
        ("<<<<<<< HEAD\n{}", ["is not a notebook"]),
        (None, ["one code cell tagged 'parameters', found 0"]),
    ],
)
def test_a_broken_article_is_named_before_work_begins(root, capsys, content, words):
    path = write_article(root, new_code_cell("scale = 1"))
    if content is not None:
        path.write_text(content)
    status, _, err = run(capsys, "reproduce", MODULE, "--jobs", "1")
    assert status == 1
    assert str(path) in err
    assert all(word in err for word in words)
    assert not (root / "results" / "quick" / "fake_paper").exists()


def test_a_full_disk_is_told_where_it_is(root, capsys, monkeypatch):
    write_article(root, PARAMETERS, new_code_cell("1"))
    monkeypatch.setenv("TMPDIR", "/full/disk")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    status, _, err = run(capsys, "reproduce", MODULE, "--jobs", "1")
    assert status == 1
    assert "/full/disk: No space left on device" in err
    assert "standard output" not in err


def test_shared_memory_that_is_full_is_named(monkeypatch):
    from kernsemble.trials import executor

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(executor, "ProcessPoolExecutor", full)
    with pytest.raises(PlanError, match=r"shared memory \(/dev/shm\): No space left on device.*--jobs 1"):
        executor.ProcessPool(2).submit([])


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("reproduce", "linli2004"), 2, ["No paper 'linli2004'", "linli2005"]),
        (("reproduce", "all", "lin2013"), 2, ["No paper 'lin2013'", "lin2012"]),
        (("reproduce", ".."), 2, ["No paper '..'"]),
        (("reproduce", "a" * 10_000), 2, ["No paper 'aaa", "...aaa"]),
        (("list", ".".join("a" * 5_000)), 2, ["No paper 'a.a"]),
        (("reproduce", MODULE, "--jobs", "0"), 2, ["jobs is 0"]),
        (("reproduce", MODULE, "--exhibit", "table9"), 2, ["no exhibit 'table9'", "table1"]),
        (("reproduce", MODULE, "--scale", "quick", "--jobs", "1"), 1, ["There is no notebook"]),
        (("list", "nowhere.trials"), 2, ["nowhere"]),
    ],
)
def test_mistakes_are_named_without_a_traceback(root, capsys, arguments, status, words):
    found, _, err = run(capsys, *arguments)
    assert found == status
    assert err.splitlines()[-1].startswith("kernsemble: ")
    assert "Traceback" not in err
    for word in words:
        assert word in err


def test_failed_trials_give_status_1_and_their_keys(root, capsys):
    params = root / "params.yaml"
    text = params.read_text().replace(
        "  quick:\n", "    trouble: {datasets: [coin], methods: [raises, fine], runs: 1}\n  quick:\n"
    )
    params.write_text(text)
    arguments = f"reproduce {MODULE} --scale paper --no-notebook --jobs 1 --exhibit trouble"
    status, _, err = run(capsys, *arguments.split())
    assert status == 1
    assert "1 trials failed" in err
    assert "trouble / coin / raises / trial 0: ZeroDivisionError: no such luck" in err


def test_folder_without_repository_is_named(tmp_path):
    environment = {**os.environ, "KERNSEMBLE_ROOT": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "kernsemble", "ledger"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "No params.yaml" in done.stderr
    assert "Traceback" not in done.stderr


def test_data_commands_are_passed_on(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["data", "--help"])
    assert stop.value.code == 0
    assert "python -m kernsemble data" in capsys.readouterr().out


def test_reader_that_stops_early_is_no_error():
    command = f"{shlex.quote(sys.executable)} -m kernsemble list --scale smoke | true"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert "BrokenPipe" not in done.stderr
