"""Rows of older code count when a sample that nobody can choose comes out equal, and never otherwise."""

import re
import subprocess
from dataclasses import replace
from datetime import date

import audit_evidence
import pytest
from support.machinery import Written

from kernsemble.report.cli import main
from kernsemble.trials import adoption
from kernsemble.trials.adoption import adopt, adopt_paper, groups_of
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import format_file, read_rows
from kernsemble.trials.executor import Report
from kernsemble.trials.plan import Key
from kernsemble.trials.warrants import Adoption, Standing, Warrants, draw, format_adoptions, read_adoptions

SOURCE = """
from kernsemble.trials.registry import Paper

FACTOR = 1.0
TWICE = 2.0
paper = Paper("written", title="t", datasets={"x": None, "y": None, "z": None})
paper.exhibit("table1", "t", metrics=("error", "curve"), timing=("spent",), parting=("parts",))
paper.exhibit("seconds", "t", timing=("spent",), alone=True)


@paper.trials("table1", methods=("a", "b", "parts"))
def toss(trial, *, n: int):
    error = FACTOR * trial.rng().random() * n
    return {"error": error, "curve": [error, 1 / 3], "spent": TWICE * trial.number}


@paper.trials("table1", methods=("both", "twin"), together=True)
def pair(trial, *, n: int):
    return {method: {"error": TWICE * trial.rng().random() + n} for method in ("both", "twin")}


@paper.trials("seconds", methods=("a",))
def clock(trial, *, n: int):
    return {"spent": TWICE * n}
"""
PARAMS = """
written:
  protocol: {shared: {n: 4}}
  paper: {table1: {runs: 30}, seconds: {runs: 2}}
  quick: {table1: {runs: 2}}
  smoke: {table1: {runs: 1}}
"""
KINDS = ("same source", "same bits", "same by rule")


class Paper(Written):
    """A paper whose rows are adopted."""

    def change(self, *pairs):
        """Write the source anew, with something replaced."""
        self.edit(f"{self.package}/trials.py", *pairs, text=SOURCE)

    def adopt(self, **options):
        return list(adopt_paper(self.study(), **options))

    def rewrite(self, change):
        """Change rows as somebody would who mends their checks, too."""
        study = self.study()
        path, columns = study.path("table1"), study.plan("table1").exhibit.columns
        path.write_bytes(format_file(map(change, read_rows(path, columns).rows), columns))


@pytest.fixture
def written(tmp_path, monkeypatch):
    return Paper(tmp_path, monkeypatch, PARAMS, trials=SOURCE)


# the same numbers by other code: to the last digit, and not quite
SAME = ("FACTOR * trial.rng().random() * n", "n * (trial.rng().random() * FACTOR)")
CLOSE = ("FACTOR = 1.0", "FACTOR = 1.0 + 1e-13")
FAR = ("FACTOR = 1.0", "FACTOR = 1.1")


class TestAdoption:
    def test_equal_code_is_adopted_by_a_sample_of_every_cell(self, written):
        before = written.study().path("table1").read_text()
        written.change(SAME)
        assert len(written.study().read("table1").stale) == 270
        said = written.adopt()
        assert all(well for _, well in said)
        evidence = written.study().read("table1")
        assert evidence.complete
        (line,) = read_adoptions(written.study().adoptions_file)
        assert (line.kind, line.stale, line.run, line.deviation) == ("same bits", 270, 9, 0)
        assert (line.exhibit, line.function) == ("table1", "toss")
        fresh = {key for key, row in evidence.current.items() if row.stamp == evidence.plan.stamps[key]}
        drawn = {key for key in fresh if key.method in ("a", "b", "parts")}
        assert {(key.dataset, key.method) for key in drawn} == {
            (d, m) for d in "xyz" for m in ("a", "b", "parts")
        }
        assert evidence.standing.as_dict() == {
            "rows_by_todays_code": 189,
            "rows_adopted": 261,
            "steps": 1,
            "may_differ_percent": 19.0,
            "rows_stale": 0,
            "rows_missing": 0,
        }
        # older rows stand as they were, with the code that made them
        kept = [text for text in before.splitlines() if text in written.study().path("table1").read_text()]
        assert len(kept) == 1 + 450 - 9
        assert written.adopt() == [(said[-2][0], True), (said[-1][0], True)]

    def test_only_the_exhibits_that_are_named(self, written):
        written.change(SAME)
        written.adopt(exhibits=["seconds"])
        assert len(written.study().read("table1").stale) == 270
        written.adopt(exhibits=["table1"])
        assert written.study().read("table1").complete
        with pytest.raises(PlanError, match="no exhibit 'table2'"):
            written.adopt(exhibits=["table2"])

    def test_changed_constant_is_refused_and_named(self, written):
        written.change(FAR)
        said = written.adopt()
        assert "  NOT adopted: 9 rows differ" in [text for text, _ in said]
        assert not all(well for _, well in said)
        assert re.search(r"DIFFERS x / a / trial \d+: error [\d.]+ here, [\d.]+ committed", str(said))
        assert not written.study().adoptions_file.exists()
        assert len(written.study().read("table1").stale) == 270 - 9
        # asked again, it computes nothing and refuses again: what was found stays found
        again = written.adopt()
        assert "about 0 s" in again[0][0]
        assert "  NOT adopted: 9 rows differ" in [text for text, _ in again]

    def test_difference_that_is_there_ends_it_before_any_work(self, written):
        written.change(FAR)
        study = written.study()
        (group,) = groups_of(study)
        study.run(["table1"], keys=group.sample[:1])
        (told,) = adopt(written.study(), group).differences
        assert told.startswith(str(group.sample[0]))
        assert len(written.study().read("table1").stale) == 270 - 1

    def test_code_that_changes_one_dataset_or_method_is_refused(self, written):
        written.change(
            (
                "TWICE * trial.rng().random() + n",
                "(TWICE + (trial.dataset == 'y')) * trial.rng().random() + n",
            )
        )
        (group,) = groups_of(written.study())
        result = adopt(written.study(), group)
        assert result.line is None
        assert {text.split(" /")[0] for text in result.differences} == {"y"}

    def test_last_digit_counts_for_runs_that_part_and_on_request(self, written):
        written.change(CLOSE)
        (group,) = groups_of(written.study())
        result = adopt(written.study(), group)
        assert {text.split(" / ")[1] for text in result.differences} == {"parts"}
        assert not written.study().adoptions_file.exists()

    def test_close_numbers_are_adopted_by_rule_only(self, written):
        parts_as_before = ("FACTOR * trial", "(1.0 if trial.method == 'parts' else FACTOR) * trial")
        written.change(CLOSE, parts_as_before)
        (group,) = groups_of(written.study())
        assert len(adopt(written.study(), group, equal_bits=True).differences) == 6
        line = adopt(written.study(), group).line
        assert line.kind == "same by rule"
        assert 0 < line.deviation < 1e-12
        assert written.study().read("table1").complete

    def test_row_that_was_changed_by_hand_is_found_when_it_is_drawn(self, written):
        written.change(SAME)
        (group,) = groups_of(written.study())
        drawn = group.sample[0]

        def falsify(row):
            return row._replace(metrics={**row.metrics, "error": "0.25"}) if row.key == drawn else row

        written.rewrite(falsify)
        (group,) = groups_of(written.study())
        (told,) = adopt(written.study(), group).differences
        assert told.startswith(str(drawn))

    def test_paths_lead_over_several_changes_and_bounds_add(self, written):
        for change in [(SAME,), (SAME, ("/ 3", "/ 3.0"))]:
            written.change(*change)
            assert all(well for _, well in written.adopt())
        study = written.study()
        first, second = read_adoptions(study.adoptions_file)
        assert second.source == first.target
        assert study.read("table1").complete
        standing = study.standing
        assert len(standing.steps) == 2
        twice, once = (step.rows for step in reversed(standing.steps))
        assert standing.adopted == once > twice
        assert standing.may_differ == pytest.approx((3 / first.run * twice + 3 / second.run * once) / 456)
        assert re.search(r"adopted in 2 steps, at most \d+ % may differ", str(standing))
        # without its middle, the path leads nowhere
        study.adoptions_file.write_bytes(format_adoptions([first]))
        assert len(written.study().read("table1").stale) > 200

    def test_other_parameters_are_not_adopted(self, written):
        params = written.folder / "params.yaml"
        params.write_text(params.read_text().replace("n: 4", "n: 5"))
        written.change(SAME)
        assert not list(groups_of(written.study()))
        assert "450 stale rows have other parameters or data" in str(written.adopt())

    def test_time_is_never_adopted(self, written):
        written.change(("TWICE = 2.0", "TWICE = 1.0 + 1.0"), ("* trial.number", "* trial.number * 1"))
        said = str(written.adopt())
        assert "6 stale rows measure time: never adopted" in said
        evidence = written.study().read("seconds")
        assert len(evidence.stale) == 6
        # nor by a line that somebody writes
        (key, row), *_ = evidence.stale.items()
        line = made(exhibit="seconds", source=row.stamp.code, target=evidence.plan.stamps[key].code)
        file = written.study().adoptions_file
        file.write_bytes(format_adoptions([*read_adoptions(file), line]))
        with pytest.raises(PlanError, match="seconds are measured, never adopted"):
            written.study().read("seconds")

    def test_dry_run_computes_nothing(self, written):
        written.change(SAME)
        before = written.study().path("table1").read_bytes()
        said = written.adopt(dry_run=True)
        assert re.search(r"table1 \(toss; \w+ -> \w+\): 9 of 270 rows are drawn", said[0][0])
        assert written.study().path("table1").read_bytes() == before
        assert not written.study().adoptions_file.exists()

    def test_interrupted_adoption_goes_on(self, written, monkeypatch):
        written.change(SAME)
        study = written.study()
        (group,) = groups_of(study)
        run = study.run
        monkeypatch.setattr(study, "run", lambda names, keys: run(names, keys=sorted(keys)[:4]))
        assert "5 drawn rows could not be computed here" in adopt(study, group).obstacle
        assert not study.adoptions_file.exists()
        again = written.study()
        (same,) = groups_of(again)
        assert same.sample == group.sample
        asked = []
        monkeypatch.setattr(again, "run", lambda names, keys: asked.extend(keys) or run(names, keys=keys))
        assert adopt(again, same).line.run == 9
        assert len(asked) == 5

    def test_trials_that_fail_are_an_obstacle(self, written):
        written.change(SAME, ("error = ", "1 / 0\n    error = "))
        (group,) = groups_of(written.study())
        assert "ZeroDivisionError" in adopt(written.study(), group).obstacle

    def test_rows_of_smaller_scales_are_computed_and_not_adopted(self, written):
        written.study("quick").run()
        written.change(SAME)
        assert all(well for _, well in written.adopt())
        assert len(written.study("quick").read("table1").stale) == 18

    def test_return_of_the_code_finds_its_rows(self, written, monkeypatch):
        before = written.study().path("table1").read_bytes()
        written.change(FAR)
        written.study().run()
        assert written.study().path("table1").read_bytes() != before
        written.change()
        monkeypatch.setattr(
            "kernsemble.trials.study.execute", lambda *_: pytest.fail("something is computed")
        )
        assert written.study().run() == Report()
        assert written.study().path("table1").read_bytes() == before


def test_command_line(written, monkeypatch, capsys):
    monkeypatch.setenv("KERNSEMBLE_ROOT", str(written.folder))
    arguments = ["adopt", f"{written.package}.trials", "--jobs", "1"]
    written.change(SAME)
    assert main([*arguments, "--dry-run"]) == 0
    assert "9 of 270 rows are drawn" in capsys.readouterr().out
    assert main([*arguments, "--bits"]) == 0
    out = capsys.readouterr().out
    assert "adopted: 261 rows (same bits; 9 computed again)" in out
    assert "that is more than 1%" in out
    written.change(FAR)
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "NOT adopted: 9 rows differ" in out
    assert out.count("DIFFERS") == 9


class TestForgedLines:
    """A line that somebody writes does not make rows count."""

    @pytest.fixture
    def stale(self, written):
        written.change(FAR)
        evidence = written.study().read("table1")
        (key, row), *_ = evidence.stale.items()
        self.codes = {"source": row.stamp.code, "target": evidence.plan.stamps[key].code}
        return written

    def write(self, written, *lines):
        written.study().adoptions_file.write_bytes(format_adoptions(lines))

    def test_without_computed_rows_it_is_refused(self, stale, capsys):
        self.write(stale, made(**self.codes, stale=270, run=9))
        evidence = stale.study().read("table1")
        assert len(evidence.stale) == 270
        (line,) = evidence.refused
        with pytest.raises(PlanError, match=re.escape(f"take {line} out")):
            stale.adopt()
        stale.study().run(keys=[Key("x", "a", 0)])
        assert "was drawn for it and not computed" in capsys.readouterr().err

    def test_rows_chosen_by_hand_do_not_prove_it(self, stale):
        (group,) = groups_of(stale.study())
        kept = {(k.dataset, k.method): k for k in group.older if k not in group.sample}
        stale.study().run(["table1"], keys=kept.values())
        self.write(stale, made(**self.codes, stale=270, run=9))
        evidence = stale.study().read("table1")
        assert evidence.refused
        assert len(evidence.stale) == 270 - 9

    def test_all_drawn_rows_but_one_do_not_prove_it(self, stale):
        (group,) = groups_of(stale.study())
        stale.study().run(["table1"], keys=group.sample[1:])
        self.write(stale, made(**self.codes, stale=270, run=9))
        (key,) = stale.study().read("table1").refused.values()
        assert key == group.sample[0]

    @pytest.mark.parametrize("end", ["source", "target"])
    def test_line_that_does_not_connect_warrants_nothing(self, stale, end):
        self.write(stale, made(**(self.codes | {end: "0123456789ab"})))
        evidence = stale.study().read("table1")
        assert (len(evidence.stale), evidence.refused) == (270, {})

    def test_line_of_another_exhibit_or_paper_warrants_nothing(self, stale):
        lines = made(**self.codes, exhibit="table2"), made(**self.codes, paper="other")
        self.write(stale, *lines)
        assert len(stale.study().read("table1").stale) == 270


def made(**options):
    values = {
        "paper": "written",
        "exhibit": "table1",
        "function": "toss",
        "source": "0" * 12,
        "target": "1" * 12,
    }
    values |= {"kind": "same bits", "stale": 10, "run": 2, "deviation": 0.0, "commit": "abcdef1", "lock": ""}
    return Adoption(**(values | {"date": date(2026, 11, 19).isoformat()} | options))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (made(source="1" * 12), " is no adoption: it leads from a code to itself"),
        (made(kind="same"), ".kind: 'same' is not allowed; allowed are same source"),
        (made(source="xyz"), ".source: expected a code (from, to), found 'xyz'"),
        (made(target=""), ".target: expected a code (from, to), found ''"),
        (made(run=0), " is no adoption: 0 of 10 stale rows cannot"),
        (made(run=11), "11 of 10 stale rows cannot"),
        (made(deviation=1e-9), "bits that differ by 1e-09 are not the same"),
        (made(date="2026-13-01"), ".date: month must be in 1..12"),
        (made(lock="abc"), ".lock: expected eight digits of a lock, found 'abc'"),
        (made(commit="HEAD"), ".commit: expected a commit, found 'HEAD'"),
        (made(exhibit="../x"), ".exhibit: expected a name, found '../x'"),
        (made(kind="same source", run=0), "said of a revision and its identity"),
        (made(kind="same source", source="0" * 10), "not a matter of samples"),
        (made(source="3" * 12), "it is there twice"),
    ],
)
def test_line_that_cannot_be_true_is_named(tmp_path, line, words):
    path = tmp_path / "adoptions.csv"
    path.write_bytes(format_adoptions([made(source="3" * 12), line]))
    with pytest.raises(PlanError, match=rf"\(line 3\).*{re.escape(words)}"):
        read_adoptions(path)


def test_lines_come_back(tmp_path):
    path = tmp_path / "adoptions.csv"
    lines = (made(), made(exhibit="table2", kind="same by rule", deviation=2.5e-7, function="a b", commit=""))
    path.write_bytes(format_adoptions(lines))
    assert read_adoptions(path) == lines
    assert read_adoptions(tmp_path / "none.csv") == ()


KEYS = {Key(d, m, number): 1.0 for d in "xyz" for m in "ab" for number in range(50)}


class TestDraw:
    def test_it_depends_on_the_codes_and_the_names_alone(self):
        backwards = dict(reversed(KEYS.items()))
        assert draw(KEYS, "old", "new") == draw(backwards, "old", "new")
        assert draw(KEYS, "old", "new") != draw(KEYS, "old", "other")
        assert draw(KEYS, "old", "new") != draw(KEYS, "older", "new")

    def test_every_row_has_its_chance(self):
        drawn = {draw(KEYS, "old", str(n))[0].trial for n in range(500)}
        assert len(drawn) == 50

    def test_dear_cells_are_left_out_but_for_one_of_a_method_that_has_no_other(self):
        seconds = {
            key: {"x": 1.0, "y": 30.0, "z": 50.0}[key.dataset] * (30 if key.method == "b" else 1)
            for key in KEYS
        }
        cells = {(key.dataset, key.method) for key in draw(seconds, "old", "new")}
        assert cells == {("x", "a"), ("x", "b")}


class TestWarrants:
    def test_shortest_path(self):
        a, b, c, d = (letter * 12 for letter in "abcd")
        lines = [
            made(source=a, target=b),
            made(source=b, target=c),
            made(source=a, target=c),
            made(source=c, target=a),
        ]
        warrants = Warrants(lines)
        assert warrants.path(a, c) == (lines[2],)
        assert warrants.path(b, a) == (lines[1], lines[3])
        assert warrants.path(d, a) is None
        assert warrants.path(d, d) == ()
        assert warrants.without(lines[2:3]).path(a, c) == tuple(lines[:2])

    def test_head_is_what_stood_for_a_row_last(self):
        a, b, c = (letter * 12 for letter in "abc")
        there, back = made(source=a, target=b), made(source=b, target=a)
        assert Warrants([there]).head(a) == b
        assert Warrants([there, back]).head(a) == a
        assert Warrants([there, back]).head(c) == c


def test_bound_is_of_all_that_was_drawn_together():
    """The bound 3 / n holds: where a share of 3 / n differs, a sample of n misses it in 5 of 100 cases."""
    for n in (10, 100, 2300):
        assert (1 - 3 / n) ** n < 0.05
    lines = [made(exhibit=name, run=run, stale=100) for name, run in (("t1", 20), ("t2", 40))]
    standing = Standing()
    for line in lines:
        standing.count([replace(line, kind="same source", run=0, source="0" * 10), line])
    for _ in range(98):
        standing.count([])
    assert (standing.computed, standing.adopted) == (98, 2)
    assert standing.may_differ == pytest.approx(2 / 100 * 3 / 60)
    twice = sum([standing, standing], Standing())
    assert (twice.adopted, twice.may_differ) == (4, standing.may_differ)


def test_code_is_committed_before_its_sample_is_drawn(tmp_path):
    assert adoption.commit_of(tmp_path / "none") == ""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code.py").write_text("a = 1")
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "m"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert re.fullmatch("[0-9a-f]{12}", adoption.commit_of(tmp_path))
    (tmp_path / "src" / "code.py").write_text("a = 2")
    with pytest.raises(PlanError, match="commit it before its rows are adopted"):
        adoption.commit_of(tmp_path)


class TestAudit:
    """`make audit-evidence`: the oldest adopted rows are computed again."""

    def audit(self, written, *options):
        return audit_evidence.main([f"{written.package}.trials", "--jobs", "1", *options])

    @pytest.fixture(autouse=True)
    def root(self, written, monkeypatch):
        monkeypatch.setenv("KERNSEMBLE_ROOT", str(written.folder))

    def test_nothing_is_adopted_nothing_is_computed(self, written, capsys):
        assert self.audit(written) == 0
        assert capsys.readouterr().out.startswith("0 of 0 adopted rows")

    def test_equal_rows_pass_and_no_file_changes(self, written, capsys):
        written.change(SAME)
        written.adopt()
        before = written.study().path("table1").read_bytes()
        assert self.audit(written, "--share", "0.2", "--day", "2030-01-31") == 0
        said = capsys.readouterr().out
        assert "oldest adopted rows are given again" in said
        assert "DIFFERS" not in said
        assert written.study().path("table1").read_bytes() == before

    def test_a_row_that_the_code_does_not_give_is_named(self, written, capsys):
        written.change(SAME)
        written.adopt()
        (victim, *_) = (key for key in written.study().read("table1").paths if key.method == "a")

        def forge(row):
            return row._replace(metrics=row.metrics | {"error": "9.9"}) if row.key == victim else row

        written.rewrite(forge)
        assert self.audit(written, "--share", "1") == 1
        (line,) = (line for line in capsys.readouterr().out.splitlines() if "DIFFERS" in line)
        assert str(victim) in line
        assert "9.9 committed" in line
        assert self.audit(written, "--share", "1", "--dry-run") == 0

    def test_the_oldest_come_first_and_among_equals_others_every_day(self, written):
        written.change(SAME)
        written.adopt()
        rows = audit_evidence.adopted_rows(written.study())
        old = [replace(row, since="2020-01-01") for row in rows[:3]]
        chosen = audit_evidence.oldest([*rows[3:], *old], 5 / len(rows), "2030-01-31")
        assert {row.name for row in chosen[:3]} == {row.name for row in old}
        draws = {
            tuple(r.name for r in audit_evidence.oldest(rows, 0.05, f"2030-01-{d:02}")) for d in range(9)
        }
        assert len(draws) == 9
