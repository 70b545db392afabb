"""The ledger's drawings and its pages of the site."""

import importlib
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

from kernsemble.report.ledger import (
    BEGIN,
    END,
    LedgerRow,
    ledger_files,
    read_ledger,
    read_standing,
    score_table,
    update_readme,
)
from kernsemble.report.ledger_figures import (
    chance_beyond,
    compared_rows,
    draw_printed_against_ours,
    draw_quantiles,
    draw_wall,
    save_ledger_figures,
    scored_rows,
)
from kernsemble.report.published import read_claims
from kernsemble.report.verdicts import Verdict
from kernsemble.trials.errors import PlanError
from kernsemble.trials.rooms import PAPERS
from kernsemble.trials.warrants import Standing

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "paper"


def make_row(z=0.5, verdict="match", paper="linli2005", kind="cell", row="sonar", note="5 <runs>"):
    return LedgerRow(
        paper, "table1", row, "SVM", kind, "16.0", "0.4", 16.2, 0.3, 9, z, Verdict(verdict), note
    )


@pytest.fixture
def load_extension(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/_extensions"))
    return importlib.import_module


@pytest.fixture
def pages(load_extension):
    return load_extension("ledger_pages")


def test_ledger_is_read_as_it_was_written(tmp_path):
    rows = [make_row(), make_row(3.1, "differs: higher", "guo2017"), make_row(verdict="holds", kind="claim")]
    ledger_files(rows, tmp_path)
    assert read_ledger(tmp_path / "ledger.csv") == rows
    assert compared_rows(rows) == rows[:2]


def test_facts_are_compared_but_are_no_draws():
    fact = replace(make_row(0), ours_spread=None, note="printed as exact")
    single_run = replace(make_row(1), ours_spread=None)
    average_rank = replace(make_row(1), note="printed as exact")
    rows = [make_row(), fact, single_run, average_rank]
    assert compared_rows(rows) == rows
    assert scored_rows(rows) == [make_row(), single_run, average_rank]


def test_drawings_show_every_compared_cell_and_repeat_to_the_byte(tmp_path):
    scores = np.linspace(-30, 3, 40)
    rows = [make_row(z, "match" if abs(z) <= 2 else "differs: lower") for z in scores]
    (panel,) = draw_quantiles(rows).axes
    drawn = max((line.get_ydata() for line in panel.lines), key=len)
    np.testing.assert_allclose(np.sort(scores), drawn)
    for axes in draw_printed_against_ours(rows).axes:
        assert sum(len(line.get_xdata()) for line in axes.lines[:-1]) == 40
    save_ledger_figures(rows, tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    save_ledger_figures(rows, tmp_path)
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(first) == 3


def test_wall_has_a_square_for_every_number_and_claim():
    rows = read_ledger(ROOT / "results/paper/ledger.csv")
    kept = [row for row in rows if row.kind in ("cell", "claim")]
    squares = re.findall(r"M(\d+) (\d+)h9", draw_wall(rows))
    assert len(squares) == len(kept) + len({row.verdict for row in kept})  # and the legend's
    assert len(set(squares)) == len(squares)


def test_an_empty_ledger_is_drawn_too(tmp_path):
    save_ledger_figures([make_row(verdict="pending")], tmp_path)
    assert (tmp_path / "ledger_z.svg").stat().st_size > 0


def test_share_beyond_two_is_the_normal_one():
    assert chance_beyond(1000) == pytest.approx(45.5, abs=0.1)


def test_pages_hold_every_printed_number_and_escape_what_they_show(pages, tmp_path):
    pages.write_ledger_pages(ROOT, tmp_path / "ledger")
    rows = read_ledger(ROOT / "results/paper/ledger.csv")
    text = (tmp_path / "ledger/index.md").read_text()
    assert text.count("<tr id=") == len(rows)
    for key in pages.PAPERS:
        page = (tmp_path / f"ledger/{key}.md").read_text()
        own = [row for row in rows if row.paper == key]
        assert page.count("<small>") == sum(row.kind == "cell" for row in own)
    assert "<runs>" not in pages._grid([make_row()], pages.Places("linli2005"))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [("best_reading", "reading", "other columns"), (",L13,", ",L99,", "L13 .*in one of them only")],
)
def test_a_ledger_of_another_version_is_refused_with_the_remedy(pages, tmp_path, old, new, words):
    for folder in ("published", "notebooks", "docs", "results/paper"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("evidence", "figures", "_*")
        )
    ledger = tmp_path / "results/paper/ledger.csv"
    ledger.write_text(ledger.read_text().replace(old, new, 1))
    with pytest.raises(PlanError, match=f"{words}.*python -m kernsemble ledger"):
        pages.write_ledger_pages(tmp_path, tmp_path / "pages")


def test_numbers_lead_to_their_exhibit_and_verdicts_to_their_paragraph(pages):
    reasons = [
        {"rows": ["sonar"], "heading": "Why"},
        {"rows": ["heart"], "heading": "Gone"},
        {"cell": "show_reasons("},
    ]
    shown, code = {"table1": "cell-7", "L3": "cell-9"}, {"cell-12": "reasons.show_reasons(study)"}
    places = pages.Places("linli2005", shown, frozenset({"Why"}), code, reasons)
    article = "../_notebooks/linli2005.html"
    assert places.exhibit(make_row()) == f"{article}#cell-7"
    assert places.exhibit(make_row(kind="claim", row="L3")) == f"{article}#cell-9"
    assert places.reason(make_row()) == ""
    assert places.reason(make_row(verdict="differs: higher")) == f"{article}#why"
    assert places.reason(make_row(verdict="differs: higher", row="heart")) == f"{article}#cell-7"
    assert places.reason(make_row(verdict="differs: lower", row="pima")) == f"{article}#cell-12"
    cell = pages._grid_cell(make_row(verdict="differs: higher"), places)
    assert f'href="{article}#cell-7"' in cell
    assert f'href="{article}#why"' in cell
    without = pages.Places("shen2014")
    assert not without.rendered
    assert "href" not in pages._grid_cell(make_row(verdict="differs: higher"), without)


@pytest.mark.parametrize("key", PAPERS)
def test_every_claim_has_its_paragraph_and_every_paragraph_is_there(load_extension, key):
    entries = load_extension("ledger_places").read_reasons(ROOT)[key]
    cells = nbformat.read(ROOT / "notebooks" / key / f"{key}.ipynb", as_version=4).cells
    prose, code = ([cell.source for cell in cells if cell.cell_type == kind] for kind in ("markdown", "code"))
    headings = {h for text in prose for h in re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE)}
    assert {entry["heading"] for entry in entries if "heading" in entry} <= headings
    assert all(any(entry["cell"] in source for source in code) for entry in entries if "cell" in entry)
    claims = {claim.id for claim in read_claims(ROOT / "published/claims.yaml") if claim.paper == key}
    assert claims <= {row for entry in entries for row in entry.get("rows", ())}


def test_places_are_read_off_the_rendered_article(load_extension):
    places = load_extension("ledger_places").read_places(ROOT, "linli2005")
    assert {"table1", "table2", "figure2", "L9"} <= set(places.shown)
    assert "What agrees, and what does not" in places.headings


def test_score_counts_every_row_once():
    rows = [
        make_row(),
        make_row(5, "differs: higher"),
        make_row(verdict="pending"),
        make_row(verdict="holds", kind="claim"),
    ]
    numbers, claims, parts = (line for line in score_table(rows).splitlines() if "linli2005" in line)
    assert numbers == "| `linli2005` | 3 | 1 | 1 | 1 | 1 |"
    assert claims == "| `linli2005` | 1 | 1 |"
    assert parts == "| `linli2005` | 0 |"
    assert "| paper | distinct numbers | match | differs: higher | pending |" in score_table(rows)
    assert score_table(rows, link="<{}>".format).splitlines()[-1] == "| **all** | 0 |"


def test_score_is_put_between_its_marks(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"before\n{BEGIN}\nOUTDATED\n{END}\nafter\n")
    assert update_readme([make_row()], path, write=False)
    assert "OUTDATED" in path.read_text()
    assert update_readme([make_row()], path)
    assert not update_readme([make_row()], path)
    text = path.read_text()
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "OUTDATED" not in text
    path.write_text("no marks")
    with pytest.raises(PlanError, match="marks"):
        update_readme([make_row()], path)


def test_readme_shows_the_score_of_the_committed_ledger():
    rows, standing = read_ledger(RESULTS / "ledger.csv"), read_standing(RESULTS / "ledger.json")
    assert not update_readme(rows, ROOT / "README.md", standing, write=False)


def test_how_the_evidence_stands_is_said_below_the_score(pages, tmp_path):
    numbers = Standing(computed=2, stale=1).as_dict()
    ledger = tmp_path / "ledger.json"
    ledger.write_text(json.dumps({"overall": {}, "evidence": {"overall": numbers}}))
    said = read_standing(ledger)
    assert said == "3 rows of evidence: 2 by today's code, 1 STALE."
    path = tmp_path / "README.md"
    path.write_text(f"a\n{BEGIN}\n{END}\nb\n")
    update_readme([make_row()], path, said)
    assert f"\n\n{said}\n\n{END}" in path.read_text()
    places = {"linli2005": pages.Places("linli2005")}
    assert f":::\n\n{said}\n" in pages.index_page([make_row()], places, {}, said)
    ledger.write_text("{}")
    assert read_standing(ledger) == ""


def test_errata_are_lifted_from_the_notebooks(load_extension, tmp_path):
    errata = load_extension("errata_page")
    errata.write_errata_page(ROOT, tmp_path / "errata.md")
    text = (tmp_path / "errata.md").read_text()
    assert "## guo2017" in text
    assert "Theorem 2 is false" in text
    assert "## What remains true" not in text
    assert errata.errata_of(ROOT / "notebooks/linli2005/linli2005.ipynb") == ""
