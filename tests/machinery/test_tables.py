"""Tables show the printed numbers beside ours, in three forms that repeat."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from support.machinery import open_fake

from kernsemble.report.comparisons import significant
from kernsemble.report.ledger import Reading, Rule
from kernsemble.report.tables import Cell, Table, show_choices, show_claims, show_printed, show_summary
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import Sample


def saved(study):
    """The lines of the table that was saved."""
    with (study.folder / "tables/table1.csv").open() as file:
        return list(csv.DictReader(file))


def test_printed_beside_ours(root):
    study = open_fake(root)
    table = show_printed(study, "table1", bold="row")
    assert table.header == ("table 1", "plain", "long", "mean", "seconds", "squared", "short")
    coin, lost = table.rows
    assert [cell.text for cell in (coin[0], lost[0])] == ["coin", "lost"]
    assert coin[1].below == "0.56 ± 0.24"
    assert coin[1].text == "0.56 ± 0.26"
    assert [cell.mark for cell in coin[1:]] == ["✓", "↑", "~", "1", "", ""]
    assert lost[1] == Cell("", "1.0", "∅")
    assert [cell.bold for cell in coin[:5]] == [False, False, True, False, False]
    for word in ("✓ match", "↑ differs: higher", "∅ unavailable", "Holm"):
        assert word in table.caption
    lines = saved(study)
    assert lines[0]["verdict"] == "match"
    assert [line["printed"] for line in lines] == ["0.56", "-0.90", "0.20", "12.0", "1.0", "", ""]
    assert r"\textbf" in (study.folder / "tables/table1.tex").read_text()


def test_methods_that_are_not_printed_stand_beside(root):
    study = open_fake(root)
    table = show_printed(study, "table1", rows=["coin", "lost"], columns=["plain"], bold="row")
    assert table.header == ("table 1", "plain", "squared", "short")
    sample = study.evidence("table1").sample("error", dataset="coin", method="short")
    assert table.rows[0][3].text == f"{sample.mean:.2f} ± {sample.std:.2f}"
    assert [cell.below for cell in table.rows[0][2:]] == ["", ""]
    assert table.rows[1][2:] == (Cell(""), Cell(""))
    assert "that the paper does not have" in table.caption
    lines = {(line["row"], line["column"]): line for line in saved(study)}
    assert lines["coin", "short"]["ours"] == significant(sample.mean)
    assert not lines["coin", "short"]["printed"] + lines["coin", "short"]["verdict"]
    assert ("lost", "short") not in lines


def test_methods_that_are_not_printed_stand_in_rows_where_methods_do(root, monkeypatch):
    path = root / "published" / "published.csv"
    path.write_text("paper,exhibit,row,column,mean,spread\nfake_paper,table1,coin/plain,error,0.56,\n")
    rule = Rule("table1", "{dataset}/{method}", spread=None, runs=10)
    monkeypatch.setattr("kernsemble.report.tables.load_reading", lambda key: Reading("fake_paper", [rule]))
    table = show_printed(open_fake(root), "table1")
    assert table.header == ("table 1", "error")
    assert [row[0].text for row in table.rows] == [f"coin/{m}" for m in ("plain", "squared", "short", "long")]
    whole = [row[1].text for row in table.rows]
    assert show_printed(open_fake(root, compute=False), "table1").rows[1][1].text == whole[1]


def test_methods_that_are_not_printed_are_pending_like_others(root):
    table = show_printed(open_fake(root, compute=False), "table1", rows=["coin"], columns=["plain"])
    assert [cell.mark for cell in table.rows[0][1:]] == ["…"] * 3


@pytest.mark.parametrize(
    ("mean", "text"),
    [
        (0.5549996, "0.55"),  # 0.5550 with four digits, which is 0.56 with two
        (0.5450001, "0.55"),
        (16.5476, "16.55"),
        (16.5449996, "16.54"),
        (123.454999, "123.45"),
    ],
)
def test_what_is_shown_is_the_computed_number_rounded_once(root, monkeypatch, mean, text):
    sample = Sample(mean + np.array([-0.1, 0.1]), expected=2)
    rule = Rule("table1", read=lambda *_: sample, spread="standard deviation", runs=10)
    monkeypatch.setattr("kernsemble.report.tables.load_reading", lambda key: Reading("fake_paper", [rule]))
    study = open_fake(root)
    table = show_printed(study, "table1", rows=["coin"], columns=["plain"])
    deviation = 0.1 * 2**0.5
    assert table.rows[0][1].text == f"{text} ± {deviation:.2f}"
    assert rf"{text} $\pm$" in (study.folder / "tables/table1.tex").read_text()
    (line,) = saved(study)
    assert line["ours"] == significant(sample.mean)
    assert line["ours_spread"] == significant(deviation, 3)


def test_same_table_gives_the_same_bytes(root):
    first, second = (show_printed(open_fake(root), "table1", bold="row") for _ in range(2))
    assert first == second
    assert first._repr_html_() == second._repr_html_()


def test_rows_and_columns_can_be_chosen(root):
    table = show_printed(open_fake(root), "table1", rows=["coin"], columns=["long", "plain"], save="part")
    assert table.header == ("table 1", "long", "plain", "squared", "short")
    assert len(table.rows) == 1


def test_smaller_scale_and_missing_evidence_say_so(root):
    table = show_printed(open_fake(root, "quick", compute=False), "table1")
    assert table.caption.startswith("Quick scale: a part of the trials.")
    assert "… pending" in table.caption
    summary = show_summary(open_fake(root, compute=False), "table1", "error")
    assert "Incomplete: 0 of 160 trials" in summary.caption
    assert {cell.text for row in summary.rows for cell in row[1:]} == {"…"}


def test_exhibit_without_printed_numbers_is_named(root):
    with pytest.raises(PlanError, match="no numbers of fake_paper 'figure1'"):
        show_printed(open_fake(root), "figure1")


def test_summary(root):
    study = open_fake(root)
    table = show_summary(study, "table1", "error", datasets=["coin", "die"], bold=True)
    assert table.header == ("set", "plain", "squared", "short", "long")
    assert "standard error over 10 runs. Bold" in table.caption
    sample = study.evidence("table1").sample("error", dataset="coin", method="plain")
    mean, spread = table.rows[0][1].text.split(" ± ")
    assert float(mean) == pytest.approx(sample.mean, rel=0.01)
    assert float(spread) == pytest.approx(sample.se, rel=0.05)
    assert table.rows[0][3].bold
    assert (study.folder / "tables/table1_error.csv").is_file()


def test_claims(root):
    table = show_claims(open_fake(root), "F1", "F2", "F3")
    verdicts = ["✓ holds", "✗ fails", "◐ holds in part", "✓ holds", "✗ fails", "– not testable here"]
    assert [row[5].text for row in table.rows] == verdicts
    assert [row[2].text for row in table.rows[:4]] == [
        "The mean is positive.",
        "",
        "",
        "mean of the coin: > 1",
    ]
    texts = ["", "It is near.", "mean of the coin: > 1", "2", "2", "✓ holds", ""]
    assert [cell.text for cell in table.rows[3]] == texts
    assert len(show_claims(open_fake(root)).rows) == 4 + 4
    with pytest.raises(PlanError, match="F9"):
        show_claims(open_fake(root), "F9")


def test_choices(root):
    study = open_fake(root)
    choice = study.choices["rule"]
    study.choices = {"rule": choice, "solver": replace(choice, value={"eps": 0.10000000149, "tau_max": 2})}
    first, second = (
        [cell.text for cell in row] for row in show_choices(study, {"rule": "what is taken"}).rows
    )
    assert first == [
        "what is taken",
        "mean",
        "before the numbers, 2026-11-18 10:00",
        "the paper does not say",
    ]
    assert second[:2] == ["solver", "eps 0.1, tau_max 2"]


def test_markup_is_escaped():
    table = Table(("<a>", "b_1"), ((Cell("x & y"), Cell("50% ± 1", "1 ± 2", "✓", True)),), "<caption>")
    html = table._repr_html_()
    assert "<th>&lt;a&gt;</th>" in html
    assert "x &amp; y" in html
    assert "<td><b>50% ± 1</b> ✓<br><small>1 ± 2</small></td>" in html
    assert "&lt;caption&gt;" in html
    latex = table.to_latex()
    assert r"b\_1" in latex
    assert r"x \& y & \textbf{50\% $\pm$ 1} {\scriptsize (1 $\pm$ 2)} \\" in latex
    assert repr(table).splitlines() == ["<a>    b_1", "x & y  *50% ± 1* ✓ (1 ± 2)", "<caption>"]


def test_columns_of_words_stand_left_in_latex():
    table = Table(("a", "b", "c"), ((Cell("x"), Cell("1.5"), Cell("word")),))
    assert r"\begin{tabular}{lrl}" in table.to_latex()
