"""Verdicts follow rules fixed in advance, and every printed number is accounted for."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.machinery import MODULE, open_fake

from kernsemble.report.comparisons import significant
from kernsemble.report.ledger import (
    Derived,
    Finding,
    LedgerRow,
    Reading,
    Rule,
    judge_cell,
    judge_claim,
    ledger_files,
    ledger_summary,
    load_reading,
    measure,
    other_task,
    totals,
    unavailable,
)
from kernsemble.report.published import Claim, Part, PrintedCell, read_cells, read_claims
from kernsemble.report.verdicts import Answer, Verdict, of_part
from kernsemble.report.verdicts import Rule as Rule_
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import Sample
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.warrants import Standing, sentence

ROOT = Path(__file__).parents[2]
VALUES = np.array([9.0, 10.0, 11.0, 10.0])  # mean 10, standard error 0.408
SAMPLE = Sample(VALUES, expected=4)


def judge(found, mean="10.0", printed_spread="", **rule):
    rule = {"spread": None, "runs": 4, "read": lambda *names: found, **rule}
    reading = Reading("fake_paper", [Rule("table1", **rule)])
    cell = PrintedCell("fake_paper", "table1", "coin", "plain", mean, printed_spread)
    return judge_cell(cell, reading, object())


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        ("10.0", "match"),
        ("11.1", "match"),
        ("11.2", "differs: lower"),
        ("8.9", "match"),
        ("8.8", "differs: higher"),
    ],
)
def test_verdict_without_printed_spread(mean, verdict):
    row = judge(SAMPLE, mean)
    assert row.verdict == verdict
    assert row.z == pytest.approx((10 - float(mean)) / (2 * SAMPLE.se**2) ** 0.5)


def test_z_with_printed_standard_error_and_deviation():
    z = (10 - 11) / np.hypot(0.3, SAMPLE.se)
    assert judge(SAMPLE, "11", "0.3", spread="standard error", runs=100).z == pytest.approx(z)
    z = (10 - 11) / np.hypot(3 / 100**0.5, SAMPLE.se)
    row = judge(SAMPLE, "11", "3", spread="standard deviation", runs=100)
    assert row.z == pytest.approx(z)
    assert row.ours_spread == pytest.approx(VALUES.std(ddof=1))
    assert "standard deviation, 100 runs" in row.note


def test_exact_numbers():
    exact = {"runs": None}
    assert judge(Derived(351.0), "351", **exact).verdict == "match"
    assert judge(Derived(350.0), "351", **exact).verdict == "differs: lower"
    assert judge(Derived(16.42), "16.4", **exact).z == 0


def test_one_run_takes_the_printed_deviation():
    one = Sample(np.array([10.0]), expected=1)
    row = judge(one, "12", "1.5", spread="standard deviation", runs=9)
    assert row.z == pytest.approx(-2 / np.hypot(0.5, 1.5))
    row = judge(one, "12")
    assert (row.verdict, row.ours, row.note) == (Verdict.NOISY, 10.0, "one run at this scale")


def test_incomplete_samples_are_pending_or_stale():
    assert judge(Sample(VALUES, expected=5)).verdict == "pending"
    row = judge(Sample(VALUES, expected=6, stale=2))
    assert row.verdict == "stale"
    assert row.note == "4 of 6 runs"
    assert judge(Sample(np.array([]), expected=0)).verdict == "pending"
    assert judge(Derived(1.0, 0.1, [SAMPLE, Sample(VALUES, expected=9)])).verdict == "pending"


def test_numbers_that_stand_apart():
    row = judge(other_task("which classes is not said", SAMPLE))
    assert (row.verdict, row.ours, row.note) == (Verdict.OTHER_TASK, 10.0, "which classes is not said")
    row = judge(unavailable("the set is nowhere"))
    assert (row.verdict, row.ours, row.z) == (Verdict.UNAVAILABLE, None, None)


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e3))
def test_the_ledger_rounds_what_was_computed(mean, width):
    """A row keeps the number; its text has four digits of it, three of the spread, and is read back."""
    sample = Sample(mean + width * np.array([-1.0, 1.0, 0.0]), expected=3)
    row = judge(sample)
    assert (row.ours, row.ours_spread) == (sample.mean, pytest.approx(sample.std))
    assert row.texts["ours"] == significant(sample.mean)
    assert row.texts["ours_spread"] == significant(row.ours_spread, 3)
    again = LedgerRow.read(row.texts)
    assert (again.ours, again.z) == (float(row.texts["ours"]), float(row.texts["z"]))
    assert (again.verdict, again.runs, again.note) == (row.verdict, 3, row.note)


class TestRule:
    """A rule is a line: patterns of printed names, and the place of the trials."""

    def test_names_are_taken_from_the_patterns_or_from_the_cell(self):
        rule = Rule(("table1", "table2"), evidence="table1", metric="error", spread=None, runs=4)
        assert rule.place("table2", "sonar", "SVM") == ("table1", "error", "sonar", "SVM")
        assert rule.names("table3", "sonar", "SVM") is None
        rule = Rule("table1", "L1{T}", "{dataset}", method="L1", metric="error_{T}", spread=None, runs=4)
        assert rule.place("table1", "L130", "sonar") == ("table1", "error_30", "sonar", "L1")
        assert rule.names("table1", "L230", "sonar") is None

    def test_signs_in_names_are_no_patterns(self):
        rule = Rule("table1", "a.c", "x*", metric="error", spread=None, runs=4)
        assert rule.names("table1", "abc", "x*") is None
        assert rule.names("table1", "a.c", "xx") is None
        assert rule.names("table1", "a.c", "x*")

    def test_the_last_rule_that_fits_decides(self):
        general, special = (Rule("t", row, spread=None, runs=4) for row in ("{dataset}", "coin"))
        reading = Reading("fake_paper", [general, special])
        cells = [PrintedCell("fake_paper", "t", row, "plain", "1", "") for row in ("coin", "die")]
        assert [reading.rule(cell) for cell in cells] == [special, general]

    def test_what_cannot_be_compared_waits_for_ours(self, root):
        rule = Rule("table1", metric="error", other_task="not described", spread=None, runs=4)
        cell = PrintedCell("fake_paper", "table1", "coin", "plain", "1", "")
        reading = Reading("fake_paper", [rule])
        assert judge_cell(cell, reading, open_fake(root, compute=False)).verdict == "pending"
        row = judge_cell(cell, reading, open_fake(root))
        assert (row.verdict, row.note) == ("other task", "not described")


def test_noise_is_no_match():
    """Where a difference as large as the printed number would pass, nothing is told."""
    wide = Sample(np.array([0.0, 20.0, 40.0, 20.0]), expected=4)  # mean 20, standard error 8.2
    assert judge(wide, "20", runs=1).verdict == "too noisy to tell"
    assert judge(wide, "40", runs=1).verdict == "match"
    assert judge(wide, "20", runs=4).verdict == "too noisy to tell"
    assert judge(wide, "1", runs=4).verdict == "too noisy to tell"
    assert judge(wide, "-6", runs=4).verdict == "differs: higher"


class TestOfSeveralCells:
    """Ratios of seconds, numbers that are printed twice, and a second reading."""

    @pytest.fixture
    def reading(self, monkeypatch):
        printed = {"slow": "8.0", "fast": "2.0", "same": "2.0", "other": "2.1"}
        cells = [PrintedCell("fake_paper", "t", row, "s", mean, "") for row, mean in printed.items()]
        monkeypatch.setattr("kernsemble.report.ledger.own_cells", lambda study: cells)

        def reader(best=(), slow=3.0, **rule):
            def read(study, exhibit, row, column):
                return Sample((slow if row == "slow" else 1.0) * VALUES / 10, expected=4)

            made = Reading("fake_paper", [Rule("t", spread=None, runs=4, read=read, **rule)], best)
            return {cell.row: judge_cell(cell, made, object()) for cell in cells}

        return reader

    def test_seconds_are_compared_as_ratios(self, reading):
        unit = {"unit": ("{exhibit}", "fast", "{column}")}
        rows = reading(**unit)
        assert [rows[name].verdict for name in ("slow", "fast")] == [Verdict.MATCH, Verdict.UNIT]
        assert rows["slow"].note == "4.00 times fast, s; here 3.00 times"
        assert rows["slow"].z is None
        for ours, verdict in (
            (1.9, "differs: lower"),
            (2.0, "match"),
            (8.0, "match"),
            (8.1, "differs: higher"),
        ):
            assert reading(slow=ours, **unit)["slow"].verdict == verdict
        told = reading(slow=8.1, **unit, other_task="not said")["slow"]
        assert (told.verdict, told.note) == ("other task", "not said; 4.00 times fast, s; here 8.10 times")

    def test_what_is_printed_twice_counts_once(self, reading):
        rows = reading()
        row = reading(repeats=("{exhibit}", "{row}", "{column}"))["fast"]
        assert row.repeats == "t [fast, s]"
        counts = totals([*rows.values(), row])["overall"]
        assert (counts["printed"], counts["numbers"]["all"]) == (5, 4)
        with pytest.raises(PlanError, match="the numbers differ"):
            reading(repeats=("t", "fast", "s"))
        with pytest.raises(PlanError, match="not printed"):
            reading(repeats=("t", "none", "s"))

    def test_a_best_reading_has_columns_of_its_own(self, reading):
        def near(study, exhibit, row, column):
            return Sample(0.8 * VALUES, expected=4)

        best = [Rule("t", "slow", read=near, spread=None, runs=4, name="as the print has it")]
        plain, rows = reading(), reading(best=best)
        row = rows["slow"]
        assert (row.ours, row.verdict) == (plain["slow"].ours, plain["slow"].verdict)
        assert (row.best, row.best_verdict, row.best_reading) == (8.0, "match", "as the print has it")
        assert rows["fast"].best_verdict is None
        assert LedgerRow.read(row.texts).texts == row.texts
        counts = totals(rows.values())["overall"]["numbers"]
        assert counts["best"] == counts.get("match", 0) + 1
        with pytest.raises(PlanError, match="needs a name"):
            reading(best=[Rule("t", spread=None, runs=4)])


def test_printed_spread_that_is_not_there_is_an_error():
    with pytest.raises(PlanError, match="no spread is printed"):
        judge(SAMPLE, spread="standard error")
    with pytest.raises(PlanError, match="number of runs"):
        Rule("table1", spread="standard deviation", runs=None)


def test_function_that_fails_is_named_with_its_cell():
    def wrong(study, exhibit, row, column):
        raise KeyError("nothing")

    reading = Reading("fake_paper", [Rule("table1", read=wrong, spread=None, runs=4)])
    with pytest.raises(PlanError, match=r"fake_paper table1 \[coin, plain\]: wrong failed: KeyError"):
        judge_cell(PrintedCell("fake_paper", "table1", "coin", "plain", "1", ""), reading, object())


def test_fake_paper_from_end_to_end(root):
    study, reading = open_fake(root), load_reading(MODULE)
    cells = read_cells(root / "published/published.csv", papers=None)
    claims = read_claims(root / "published/claims.yaml", papers=None)
    rows = [judge_cell(c, reading, study) for c in cells]
    rows += [row for c in claims for row in judge_claim(c, reading, study)]
    verdicts = {(r.exhibit, r.row, r.column): r.verdict for r in rows}
    assert verdicts == {
        ("table1", "coin", "plain"): "match",
        ("table1", "coin", "long"): "differs: higher",
        ("table1", "coin", "mean"): "too noisy to tell",
        ("table1", "coin", "seconds"): "the unit of its block",
        ("table1", "lost", "plain"): "unavailable",
        ("sizes", "two", "n"): "match",
        ("sizes", "three", "n"): "differs: higher",
        ("table1", "F1", ""): "holds",
        ("table1", "F2", ""): "fails",
        ("table1", "F3", ""): "holds in part",
        ("table1", "F3", "near"): "holds",
        ("table1", "F3", "far"): "fails",
        ("table1", "F3", "printed_far"): "not testable here",
        ("table1", "F4", ""): "erratum",
        ("table1", "F4", "formula"): "erratum",
    }
    counts = totals(rows)
    assert counts["overall"] == counts["fake_paper"]
    numbers = {"all": 7, "match": 2, "higher": 2, "noisy": 1, "unit": 1, "unavailable": 1, "best": 2}
    assert counts["overall"] == {
        "printed": 7,
        "numbers": numbers,
        "claims": {"all": 4, "holds": 1, "in_part": 1, "fails": 1, "erratum": 1},
        "parts": {"all": 4, "holds": 1, "fails": 1, "untested": 1, "erratum": 1},
    }
    said = "1 holds, 1 holds in part, 1 fails, 1 erratum of 4 claims; 1 holds, 1 fails, 1 not testable here"
    assert said in ledger_summary(counts)[0]
    far = next(row for row in rows if row.column == "printed_far")
    assert (far.printed, far.kind) == ("0.9", "part")
    assert far.note == "mean of the coin: > 1; the printed numbers fail the rule themselves"
    assert ledger_files(rows, root, write=False) == ["ledger.csv", "ledger.json"]
    assert ledger_files(rows, root) == ["ledger.csv", "ledger.json"]
    assert ledger_files(rows, root) == []
    with (root / "ledger.csv").open() as file:
        written = list(csv.DictReader(file))
    assert written == [row.texts for row in rows]
    assert [LedgerRow.read(line).texts for line in written] == written
    assert json.loads((root / "ledger.json").read_text()) == counts
    standing = Standing(computed=3, stale=1)
    assert ledger_files(rows, root, {"overall": standing}) == ["ledger.json"]
    evidence = json.loads((root / "ledger.json").read_text())["evidence"]["overall"]
    assert sentence(evidence) == str(standing) == "4 rows of evidence: 3 by today's code, 1 STALE"
    columns = (
        "paper exhibit row column kind printed printed_spread ours ours_spread runs z verdict note repeats "
    )
    columns += "best best_spread best_runs best_z best_verdict best_reading"
    assert list(written[0]) == columns.split()


def test_evidence_that_is_not_computed_leaves_everything_open(root):
    study, reading = open_fake(root, compute=False), load_reading(MODULE)
    cells = read_cells(root / "published/published.csv", papers=None)
    verdicts = [judge_cell(cell, reading, study).verdict for cell in cells[:4]]
    assert verdicts == ["pending", "pending", "pending", "pending"]
    (claim, *_) = read_claims(root / "published/claims.yaml", papers=None)
    assert [row.verdict for row in judge_claim(claim, reading, study)] == ["pending"]
    parts = judge_claim(
        next(c for c in read_claims(root / "published/claims.yaml", None) if c.id == "F3"), None, None
    )
    assert [(row.column, row.verdict, row.ours) for row in parts[1:]] == [
        (name, "pending", None) for name in ("near", "far", "printed_far")
    ]


def test_check_must_be_the_one_that_is_named(root):
    claim = Claim("F1", "fake_paper", "table1", "s", "another_name")
    with pytest.raises(PlanError, match=r"claim F1: .*'another_name'"):
        judge_claim(claim, load_reading(MODULE), open_fake(root))


def test_parts_are_those_that_are_written():
    parts = {"a": Part("It is so.", Rule_.read("a number: > 1"))}
    claim = Claim("F1", "fake_paper", "table1", "s", "check", parts=parts)
    assert Finding({"a": Answer(2.0)}).verdicts(claim) == {"a": "holds"}
    with pytest.raises(PlanError, match=r"claim F1: its check answers b; claims\.yaml has the parts a"):
        Finding({"b": Answer(2.0)}).verdicts(claim)


@pytest.mark.parametrize(
    ("limit", "inside", "outside"),
    [
        ("> 7", 7.1, 7),
        (">= 7", 7, 6.9),
        ("< -1.5", -1.6, -1.5),
        ("<= 1e-6", 1e-6, 2e-6),
        ("= 55", 55, 56),
        ("from 15 to 45", 45, 46),
    ],
)
def test_rule_is_a_number_and_its_limit(limit, inside, outside):
    rule = Rule_.read(f"sets: of 14: {limit}")
    assert (rule.number, str(rule)) == ("sets: of 14", f"sets: of 14: {limit}")
    assert rule.keeps(inside)
    assert not rule.keeps(outside)


@pytest.mark.parametrize(
    "text", ["sets", ": > 7", "sets: 7", "sets: > 7 to 8", "sets: from 7", "sets: ~ 7", ""]
)
def test_rule_without_a_limit_is_refused(text):
    with pytest.raises(ValueError, match="a rule is a number in words and its limit"):
        Rule_.read(text)


def test_part_is_decided_where_the_print_keeps_the_rule_and_resamples_agree():
    rule, sure, torn = Rule_.read("n: > 1"), np.full(100, 2.0), np.r_[np.full(80, 2.0), np.zeros(20)]
    assert of_part(rule, Answer(2.0, 3.0, sure)) == "holds"
    assert of_part(rule, Answer(2.0, None, torn)) == "cannot be told"
    assert of_part(rule, Answer(0.5, None, -sure)) == "fails"
    assert of_part(rule, Answer(0.5), theorem=True) == "erratum"
    assert of_part(rule, Answer(2.0, 1.0, sure)) == "not testable here"
    assert of_part(rule, Answer(float("nan"))) == "not testable here"


def test_numbers_of_a_part_are_measured_alike():
    ours, printed = np.array([[1.0, 3.0], [1.0, 5.0]]), np.array([[1.0, 2.0]])
    answer = measure(lambda e: np.diff(e.mean(axis=0))[0], ours, printed)
    assert (answer.value, answer.printed) == (3.0, 1.0)
    assert set(answer.resampled) == {2.0, 3.0, 4.0}
    assert measure(np.sum, ours[:1]).resampled is None


def test_claim_has_one_check():
    reading = Reading("x")
    reading.claim("F1")(lambda study: Finding(True, None, ""))
    with pytest.raises(PlanError, match="'F1' has two checks"):
        reading.claim("F1")(lambda study: Finding(True, None, ""))


class TestPublished:
    """The committed lists are whole, and errors in such files are named."""

    def test_all_printed_numbers_are_there(self):
        cells = read_cells(ROOT / "published/published.csv")
        assert len(cells) == 703
        assert {cell.paper for cell in cells} == set(PAPERS) - {"lin2012"}

    def test_all_claims_are_there_and_name_a_check(self):
        claims = read_claims(ROOT / "published/claims.yaml")
        counts = {paper: sum(claim.paper == paper for claim in claims) for paper in PAPERS}
        at_least = {"bi2004": 12, "linli2005": 9, "lin2012": 7, "shen2014": 10, "guo2017": 9}
        assert all(counts[paper] >= at_least[paper] for paper in PAPERS)
        assert all(claim.check.isidentifier() for claim in claims)

    @pytest.mark.parametrize(
        ("line", "word"),
        [
            ("linli2004,table1,a,b,1.0,", "unknown paper 'linli2004'"),
            ("linli2005,table1,a,b,x,", r"\(line 2\)\.mean: expected a number"),
            ("linli2005,table1,a,b,nan,", "expected a number"),
            ("linli2005,table1,a,b,1.0,y", r"\.spread: expected a number, found 'y'"),
            (
                "linli2005,../table1,a,b,1,",
                r"line 2\)\.exhibit: expected a name like table1.*'\.\./table1'",
            ),
            ("linli2005,<script>,a,b,1,", "expected a name like table1.*'<script>'"),
            ("linli2005,table1,a,b,1,\nlinli2005,table1,a,b,2,", "line 3.*stands twice"),
        ],
    )
    def test_wrong_cell_is_named(self, tmp_path, line, word):
        path = tmp_path / "published.csv"
        path.write_text(f"paper,exhibit,row,column,mean,spread\n{line}\n")
        with pytest.raises(PlanError, match=word):
            read_cells(path)

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"chek": "x"}, ": unknown key 'chek'; allowed are id, paper"),
            ({"paper": "x"}, ": unknown paper 'x'"),
            ({"parts": {"a": {"says": "b", "rule": "c"}}}, r"\.parts\.a\.rule: a rule is a number in words"),
        ],
    )
    def test_wrong_claim_is_named(self, tmp_path, change, word):
        entry = {"id": "L1", "paper": "linli2005", "exhibit": "e", "statement": "s", "check": "c"}
        path = tmp_path / "claims.yaml"
        path.write_text(yaml.safe_dump([{**entry, **change}]))
        with pytest.raises(PlanError, match=rf"\(claim 1\){word}"):
            read_claims(path)

    def test_claim_that_stands_twice_is_named(self, tmp_path):
        entry = {"id": "L1", "paper": "linli2005", "exhibit": "e", "statement": "s", "check": "c"}
        path = tmp_path / "claims.yaml"
        path.write_text(yaml.safe_dump([entry, entry]))
        with pytest.raises(PlanError, match="'L1' stands twice"):
            read_claims(path)

    @settings(max_examples=100, deadline=None)
    @given(st.text(max_size=60))
    def test_any_text_is_read_or_refused(self, tmp_path_factory, text):
        path = tmp_path_factory.getbasetemp() / "claims.yaml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        for read in (read_claims, read_cells):
            try:
                read(path)
            except PlanError as error:
                assert str(path) in str(error)  # noqa: PT017
