"""Quick trials are compared with the committed rows of the same keys, timing apart."""

import json
from dataclasses import asdict

import pytest
from support.machinery import change_params, open_fake

from kernsemble.report.reproduction import Summary, compare
from kernsemble.trials.registry import load_paper
from kernsemble.trials.rooms import STUDIES
from kernsemble.trials.verification import compare_study, same_value


@pytest.fixture
def studies(root):
    quick, paper = open_fake(root, "quick"), open_fake(root)
    for study in (quick, paper):
        study.run(["table1", "figure1"])
    return quick, paper


def tamper(study, exhibit, old, new):
    """Change committed numbers as somebody would who also mends the check."""
    from kernsemble.trials.evidence import format_file, read_rows

    path, columns = study.path(exhibit), study.plan(exhibit).exhibit.columns
    rows = [
        row._replace(metrics={name: text.replace(old, new) for name, text in row.metrics.items()})
        for row in read_rows(path, columns).rows
    ]
    path.write_bytes(format_file(rows, columns))


def test_quick_trials_agree_though_their_seconds_differ(studies):
    agreement = compare_study(*studies)
    assert (agreement.trials, agreement.agree, agreement.differ) == (9, 9, [])
    quick, paper = (study.read("table1").current for study in studies)
    assert any(
        quick[key].metrics.get("fit_seconds") != paper[key].metrics.get("fit_seconds") for key in quick
    )


def test_other_committed_numbers_are_found(studies):
    tamper(studies[1], "table1", "0.4", "0.5")
    agreement = compare_study(*studies)
    assert agreement.differ
    assert agreement.agree + len(agreement.differ) == 9
    assert "DIFFER" in str(agreement)
    assert "here" in agreement.differ[0]


def test_noise_within_the_declared_tolerance_agrees(studies):
    tamper(studies[1], "table1", "e-10", "e-09")
    assert compare_study(*studies).agree == 9


@pytest.mark.parametrize("declared", ["descent", "curve"])
def test_runs_that_may_part_are_counted_apart(studies, monkeypatch, declared):
    quick, paper = studies
    tamper(paper, "figure1", "0.", "1.")
    compare(quick, summary := Summary())
    assert len(summary.total.differ) == 1
    assert not summary.nothing_differs
    monkeypatch.setitem(vars(quick.plan("figure1").exhibit), "parting", (declared,))
    compare(quick, summary := Summary())
    assert (summary.total.agree, summary.total.differ, len(summary.total.parted)) == (8, [], 1)
    assert summary.nothing_differs
    assert not summary.all_agree
    assert "1 differ in methods known to depend" in "\n".join(summary.lines("quick"))


def test_a_run_that_may_part_in_one_metric_still_differs_in_another(studies, monkeypatch):
    quick, paper = studies
    monkeypatch.setitem(vars(quick.plan("figure1").exhibit), "parting", ("steps",))
    tamper(paper, "figure1", "0.", "1.")
    assert len(compare_study(quick, paper).differ) == 1


@pytest.mark.parametrize("key", STUDIES)
def test_runs_that_may_part_are_methods_or_metrics(key):
    paper = load_paper(key)
    for name, exhibit in paper.exhibits.items():
        assert set(exhibit.parting) <= {*paper.methods(name), *exhibit.metrics}


def test_stale_missing_and_uncomputed_are_counted_apart(root, studies):
    quick, paper = studies
    paper.path("figure1").unlink()
    assert compare_study(quick, paper).missing == 1
    quick.path("figure1").unlink()
    assert compare_study(quick, paper).uncomputed == 1
    change_params(root)
    fresh = open_fake(root, "quick")
    fresh.run(["table1"])
    agreement = compare_study(fresh, open_fake(root, compute=False))
    assert (agreement.agree, agreement.stale, agreement.uncomputed) == (4, 4, 1)
    assert "4 have a STALE committed row" in str(agreement)


def test_result_is_kept_in_bytes_that_repeat(studies):
    quick, _ = studies
    compare(quick, summary := Summary())
    first = (quick.folder / "agreement.json").read_bytes()
    assert json.loads(first) == asdict(summary.agreements["fake_paper"])
    quick.run(["table1"], fresh=True)
    compare(quick, Summary())
    assert (quick.folder / "agreement.json").read_bytes() == first
    assert summary.all_agree
    assert summary.nothing_differs


def test_only_other_numbers_count_as_a_difference(studies):
    quick, paper = studies
    paper.path("figure1").unlink()
    compare(quick, summary := Summary())
    assert summary.nothing_differs
    assert not summary.all_agree
    tamper(paper, "table1", "0.4", "0.5")
    compare(quick, summary := Summary())
    assert not summary.nothing_differs
    assert not Summary().nothing_differs


@pytest.mark.parametrize(
    ("ours", "theirs", "tolerance", "same"),
    [
        ("1", "1.00001", 0, True),
        ("1.2345", "1.2344999999", 0, True),
        ("1.234", "1.235", 0, False),
        ("1e-9", "3e-9", 0, False),
        ("1e-9", "3e-9", 1e-8, True),
        (" 1 2 3", " 1 2", 0, False),
        (None, None, 0, True),
        ("1", None, 0, False),
    ],
)
def test_same_value(ours, theirs, tolerance, same):
    assert same_value(ours, theirs, tolerance) is same


class TestAbsentData:
    """A machine without a large dataset shows the committed rows and says that it could not verify them."""

    @pytest.fixture(autouse=True)
    def _die_is_absent(self, monkeypatch):
        from kernsemble.trials.plan import ExhibitPlan

        monkeypatch.setattr(ExhibitPlan, "absent", {"die": "Get it with: data fetch die"})

    def test_its_trials_wait_and_the_others_are_computed(self, root, capsys):
        study = open_fake(root)
        report = study.run(["table1"])
        assert not report.failures
        assert study.read("table1").status == "incomplete: 120 of 160 trials"
        assert "40 trials on die wait for data. Get it with: data fetch die" in capsys.readouterr().err

    def test_fresh_keeps_its_rows(self, root, monkeypatch):
        from kernsemble.trials.plan import ExhibitPlan

        monkeypatch.setattr(ExhibitPlan, "absent", {})
        study = open_fake(root)
        before = study.evidence("table1")
        monkeypatch.setattr(ExhibitPlan, "absent", {"die": "x"})
        study.run(["table1"], fresh=True)
        after = study.evidence("table1")
        assert after.complete
        seconds = {key: (before.current[key].seconds, after.current[key].seconds) for key in after.current}
        assert all(a == b for key, (a, b) in seconds.items() if key.dataset == "die")
        assert any(a != b for key, (a, b) in seconds.items() if key.dataset != "die")

    def test_it_is_counted_apart(self, root):
        quick, paper = open_fake(root, "paper"), open_fake(root)
        quick.run(["table1"])
        agreement = compare_study(quick, paper)
        assert (agreement.agree, agreement.unavailable) == (120, 42)
        assert "42 could not be verified" in str(agreement)


def test_availability_is_looked_up_in_the_register(monkeypatch, tmp_path):
    from kernsemble.trials.errors import PlanError
    from kernsemble.trials.plan import absent_data

    monkeypatch.setenv("KERNSEMBLE_CACHE", str(tmp_path))
    monkeypatch.delenv("KERNSEMBLE_DATA", raising=False)
    assert "fetch isolet" in absent_data(["isolet"])
    assert absent_data([]) == ""
    monkeypatch.setattr("kernsemble.trials.plan.core_path", lambda source: tmp_path / "none.npz")
    with pytest.raises(PlanError, match="'sonar' is not in data/: dvc pull"):
        absent_data(["sonar"])
