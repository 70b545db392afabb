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
    Verdict,
    judge_cell,
    judge_claim,
    ledger_files,
    ledger_summary,
    load_reading,
    not_comparable,
    totals,
    unavailable,
)
from kernsemble.report.published import Claim, PrintedCell, read_cells, read_claims
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
    ("mean", "better", "verdict"),
    [
        ("10.0", "lower", "match"),
        ("11.1", "lower", "match"),
        ("11.2", "lower", "better"),
        ("8.8", "lower", "worse"),
        ("11.2", "higher", "worse"),
        ("8.8", "higher", "better"),
        ("8.8", "equal", "worse"),
    ],
)
def test_verdict_without_printed_spread(mean, better, verdict):
    row = judge(SAMPLE, mean, better=better)
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
    exact = {"runs": None, "better": "equal"}
    assert judge(Derived(351.0), "351", **exact).verdict == "match"
    assert judge(Derived(350.0), "351", **exact).verdict == "worse"
    assert judge(Derived(16.42), "16.4", **exact).z == 0


def test_one_run_takes_the_printed_deviation():
    one = Sample(np.array([10.0]), expected=1)
    row = judge(one, "12", "1.5", spread="standard deviation", runs=9)
    assert row.z == pytest.approx(-2 / np.hypot(0.5, 1.5))
    row = judge(one, "12")
    assert (row.verdict, row.ours, row.note) == (Verdict.NOT_COMPARABLE, 10.0, "one run at this scale")


def test_incomplete_samples_are_pending_or_stale():
    assert judge(Sample(VALUES, expected=5)).verdict == "pending"
    row = judge(Sample(VALUES, expected=6, stale=2))
    assert row.verdict == "stale"
    assert row.note == "4 of 6 runs"
    assert judge(Sample(np.array([]), expected=0)).verdict == "pending"
    assert judge(Derived(1.0, 0.1, [SAMPLE, Sample(VALUES, expected=9)])).verdict == "pending"


def test_numbers_that_stand_apart():
    row = judge(not_comparable("other hardware", SAMPLE))
    assert (row.verdict, row.ours, row.note) == (Verdict.NOT_COMPARABLE, 10.0, "other hardware")
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
        rule = Rule("table1", metric="error", not_comparable="another task", spread=None, runs=4)
        cell = PrintedCell("fake_paper", "table1", "coin", "plain", "1", "")
        reading = Reading("fake_paper", [rule])
        assert judge_cell(cell, reading, open_fake(root, compute=False)).verdict == "pending"
        row = judge_cell(cell, reading, open_fake(root))
        assert (row.verdict, row.note) == ("not comparable", "another task")


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
    rows = [judge_cell(c, reading, study) for c in cells] + [judge_claim(c, reading, study) for c in claims]
    verdicts = {(r.exhibit, r.row, r.column): r.verdict for r in rows}
    assert verdicts == {
        ("table1", "coin", "plain"): "match",
        ("table1", "coin", "long"): "worse",
        ("table1", "coin", "mean"): "match",
        ("table1", "coin", "seconds"): "not comparable",
        ("table1", "lost", "plain"): "unavailable",
        ("sizes", "two", "n"): "match",
        ("sizes", "three", "n"): "worse",
        ("table1", "F1", ""): "holds",
        ("table1", "F2", ""): "fails",
    }
    counts = totals(rows)
    assert counts["overall"] == counts["fake_paper"]
    expected = {"printed": 7, "claims": 2, "compared": 5, "match": 3, "better": 0, "worse": 2, "holds": 1}
    assert expected.items() <= counts["overall"].items()
    assert "5 of 7 printed numbers compared; 2 claims: 1 hold, 1 fail" in ledger_summary(counts)[0]
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
    columns = "paper exhibit row column kind printed printed_spread ours ours_spread runs z verdict note"
    assert list(written[0]) == columns.split()


def test_evidence_that_is_not_computed_leaves_everything_open(root):
    study, reading = open_fake(root, compute=False), load_reading(MODULE)
    cells = read_cells(root / "published/published.csv", papers=None)
    verdicts = [judge_cell(cell, reading, study).verdict for cell in cells[:4]]
    assert verdicts == ["pending", "pending", "pending", "not comparable"]
    (claim, _) = read_claims(root / "published/claims.yaml", papers=None)
    assert judge_claim(claim, reading, study).verdict == "pending"


def test_check_must_be_the_one_that_is_named(root):
    claim = Claim("F1", "fake_paper", "table1", "s", "another_name")
    with pytest.raises(PlanError, match=r"claim F1: .*'another_name'"):
        judge_claim(claim, load_reading(MODULE), open_fake(root))


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
            ("linli2005,table1,a,b,x,", "line 2: expected a number"),
            ("linli2005,table1,a,b,nan,", "expected a number"),
            ("linli2005,table1,a,b,1.0,y", "expected a number and a spread"),
            ("linli2005,table1,a,b", "expected 6 fields, found 4"),
            ("linli2005,table1,a,b,1,\nlinli2005,table1,a,b,2,", "line 3.*stands twice"),
        ],
    )
    def test_wrong_cell_is_named(self, tmp_path, line, word):
        path = tmp_path / "published.csv"
        path.write_text(f"paper,exhibit,row,column,mean,spread\n{line}\n")
        with pytest.raises(PlanError, match=word):
            read_cells(path)

    def test_wrong_header_and_missing_file_are_named(self, tmp_path):
        (tmp_path / "published.csv").write_text("a,b\n")
        with pytest.raises(PlanError, match="expected the columns"):
            read_cells(tmp_path / "published.csv")
        with pytest.raises(PlanError, match="cannot be read"):
            read_cells(tmp_path / "none.csv")

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"chek": "x"}, "unknown key 'chek'; allowed are id, paper"),
            ({"check": None}, "'check' must be text, found None"),
            ({"paper": "x"}, "unknown paper 'x'"),
            ({"statement": " "}, "'statement' must be text"),
        ],
    )
    def test_wrong_claim_is_named(self, tmp_path, change, word):
        entry = {"id": "L1", "paper": "linli2005", "exhibit": "e", "statement": "s", "check": "c"}
        path = tmp_path / "claims.yaml"
        path.write_text(yaml.safe_dump([{**entry, **change}]))
        with pytest.raises(PlanError, match=f"claim 1: {word}"):
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
