"""Sentences say what the evidence holds; what an article says by hand holds no number of it."""

import ast
import re
from pathlib import Path
from string import Formatter

import nbformat
import pytest
from support.machinery import open_fake

from kernsemble.report.ledger import Finding, judge_cells, judge_claims
from kernsemble.report.say import Facts, say
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.rooms import STUDIES
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
# Where a decimal may stand: code, formulas, addresses, quotations, and places (of the paper).
ALLOWED = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$|\]\([^)\s]*\)|\"[^\"\n]*\"|“[^”\n]*”|^>[^\n]*|"
    r"\b(?:[Aa]lgorithm|[Cc]laim|[Pp]roposition|[Rr]esult|[Ss]ection|[Tt]heorem)s?\s+\d+\.\d+",
    re.DOTALL | re.MULTILINE,
)
DECIMAL = re.compile(r"\d\.\d")


def bare_decimals(text):
    rest = ALLOWED.sub(" ", text)
    return [rest[max(found.start() - 30, 0) : found.end() + 10] for found in DECIMAL.finditer(rest)]


def cells_of(key, kind):
    notebook = nbformat.read(ROOT / "notebooks" / key / f"{key}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def texts_of(key):
    """Return the texts that an article gives to ``say``."""
    calls = [node for source in cells_of(key, "code") for node in ast.walk(ast.parse(source))]
    said = [c for c in calls if isinstance(c, ast.Call) and getattr(c.func, "id", "") == "say"]
    return [call.args[1].value for call in said]


@pytest.mark.parametrize("key", STUDIES)
def test_no_number_of_the_evidence_is_typed_by_hand(key):
    texts = texts_of(key)
    assert texts
    literals = ["0".join(part for part, *_ in Formatter().parse(text)) for text in texts]
    assert [found for text in cells_of(key, "markdown") + literals for found in bare_decimals(text)] == []


@pytest.mark.parametrize("key", STUDIES)
@pytest.mark.parametrize("scale", ["paper", "quick"])
def test_all_names_of_an_article_are_known_at_every_scale(key, scale):
    study = Study(key, scale, ROOT, compute=False)
    facts = Facts(study)
    for text in texts_of(key):
        assert facts.fill(text)
        with pytest.raises(PlanError, match="there is no"):
            facts.fill(text + "{nowhere.nothing}")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("an error of 17.4 %, then 12", 1),
        ("$C = 0.5$ and `tol=0.1`, $$x = 1.5$$", 0),
        ('the paper says "about 1.5 times"', 0),
        ("between 15.8 and 16.9", 2),
        ("Claim 4.1, section 4.2 and 3.7", 1),
        ("[a page](https://a.org/v1.2/x)", 0),
        ("in 2005, by (12), 100 runs", 0),
    ],
)
def test_decimals_are_refused_outside_formulas_code_and_quotations(text, count):
    assert len(bare_decimals(text)) == count


def test_numbers_come_from_claims_exhibits_cells_and_counts(root):
    study = open_fake(root)
    sample = study.evidence("table1").sample("error", dataset="coin", method="plain")
    row = next(row for row in judge_cells(study) if (row.row, row.column) == ("coin", "plain"))
    said = say(
        study,
        "{F1.mean:.3f}, {F1.verdict} at {F1.probability:.2f}; {table1.error[coin, plain]:.4f} beside "
        "{printed.table1[coin, plain]} ({ours.table1[coin, plain]:.2f}, "
        "$z_{{1}} = {z.table1[coin, plain]:.1f}$, {verdict.table1[coin, plain]}); "
        "{claims.holds} of {claims.all}, {cells.unit} of {cells.all}; "
        "{F3.near}, {F3.near_verdict}, {F3.near_printed:.0f}",
    )
    assert said == (
        f"{sample.mean:.3f}, holds at 1.00; {sample.mean:.4f} beside 0.56 ({sample.mean:.2f}, "
        f"$z_{{1}} = {row.z:.1f}$, match); 1 of 4, 1 of 7; 2, holds, 2"
    )
    assert said._repr_markdown_() == repr(said) == said
    assert [row.verdict for row in judge_claims(study)] == ["holds", "fails", "holds in part", "erratum"]


def test_points_of_curves_are_their_ends_or_places_in_lists_of_parameters(root, monkeypatch):
    study = open_fake(root)
    monkeypatch.setattr(study, "protocol", lambda _: {"few": [1, 8], "points": [1, 2, 4, 8, 16], "other": 3})
    curve = study.evidence("figure1").curves("curve", dataset="coin", method="descent").mean(axis=0)
    facts = Facts(study)
    for point, place in (("first", 0), ("last", -1), ("8", 3)):
        assert facts.value(f"figure1.curve[coin, descent]@{point}") == curve[place]
    with pytest.raises(PlanError, match=r"no \{figure1@5\}; there are 1, 16, 2, 4, 8"):
        facts.value("figure1.curve[coin, descent]@5")
    monkeypatch.setattr(study, "protocol", lambda _: {"few": [1, 8]})
    with pytest.raises(PlanError, match="no list of 5 parameters has 8"):
        facts.value("figure1.curve[coin, descent]@8")


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_captions_know_how_many_runs_the_scale_has(root, scale):
    study = open_fake(root, scale, compute=False)
    runs = study.params.scales[scale]["table1"].runs.values()
    assert Facts(study).value("runs.table1") == (
        max(runs) if len(set(runs)) == 1 else f"{min(runs)} to {max(runs)}"
    )
    with pytest.raises(PlanError, match=r"no \{runs\.table9\}; there are"):
        Facts(study).value("runs.table9")


def test_evidence_that_is_not_there_is_a_dash_and_said(root):
    study = open_fake(root, "quick", compute=False)
    said = say(study, "{F1.mean:.1f} and {table1.error[coin, plain]:.1f} and {claims.holds}")
    body, caveat = said.split("\n\n")
    assert body == "— and — and —"
    assert caveat.startswith(
        "*Quick scale: a part of the trials. —, evidence incomplete: table1: error of plain on"
    )
    with pytest.raises(IncompleteEvidenceError):
        Facts(study).value("F1.mean")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("F1.men", "no {F1.men}; there are verdict, probability, mean, lowest"),
        ("F9.mean", "no {F9.mean}; there are F1, F2"),
        ("table1.error[con, plain]", "no {con}; there are coin"),
        ("table1.error[coin, plan]", "no {plan}; there are plain"),
        ("table9.error[coin, plain]", "no {table9}; there are table1"),
        ("table1.eror[coin, plain]", "no metric 'eror'"),
        ("ours.table1[coin, plan]", "no {ours.table1[coin, plan]}"),
        ("cells.matches", "no {cells.matches}; there are all, match"),
        ("mean", "{mean} is no name"),
    ],
)
@pytest.mark.parametrize("compute", [True, False])
def test_names_that_do_not_exist_are_errors_with_evidence_and_without(root, name, said, compute):
    with pytest.raises(ValueError, match=re.escape(said)):
        say(open_fake(root, compute=compute), f"{{{name}}}")


def test_a_format_that_does_not_fit_is_named(root):
    with pytest.raises(PlanError, match=r"F1\.mean:d.*Unknown format code 'd'"):
        say(open_fake(root), "{F1.mean:d}")


def test_facts_are_those_that_are_declared(root, monkeypatch):
    facts = Facts(open_fake(root))
    other = Finding(True, None, "{men}", {"men": 1.0})
    monkeypatch.setitem(facts.reading.checks, "F1", lambda study: other)
    assert other.note == "1.0"
    with pytest.raises(PlanError, match="F1: declares"):
        facts.value("F1.mean")
