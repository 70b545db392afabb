"""shen2014: the sentences that are made of numbers, and where the article explains its verdicts."""

import doctest
import inspect
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from support.made_evidence import made_evidence

from kernsemble.report import words
from kernsemble.report.published import read_cells, read_claims
from kernsemble.trials.registry import load_paper
from shen2014 import in_words, in_words_beyond
from shen2014.on_print import printed_errors
from shen2014.trials import ENSEMBLES, LP_METHODS, UCI_SETS, VISION_SETS

paper = load_paper("shen2014")
ROOT = Path(__file__).parents[2]
PROTOCOL = {
    "log2_C": [-10, 0],
    "n_folds": 5,
    "rounds": [25, 500],
    "time_checkpoints": [1, 100, 500],
    "sizes": [10, 500],
}


def say(name, study):
    function = getattr(in_words, name, None) or getattr(in_words_beyond, name)
    if "exhibit" not in inspect.signature(function).parameters:
        return function(study)
    return function(study, "table1"), function(study, "table2")


SENTENCES = sorted(
    {
        name
        for module in (in_words, in_words_beyond)
        for name, _ in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("say_")
    }
)
CURVES = {
    "by_calls": [1.0, 1.0], "errors": [0.9, 1.1], "AdaBoost": [1.0, 1.0], "LPBoost": [1.0, 1.0],
    "CGENS": [1.0, 1.0], "seconds_curve": [0.1, 0.5, 1.0], "largest_curve": [0.1, 1.0], "curve": [2.0, 1.0],
    "reached": [100.0], "right": [1.0, 2.0], "wrong": [3.0, 4.0], "taken_for": [5.0, 5.0],
}  # fmt: skip


def made(scale=1.0, lead=0.0, method="CGENS"):
    """Values of ``scale``, with which ``method`` is ahead by ``lead``."""

    def value(metric, dataset, of):
        level = scale - lead * (method in (of, metric))
        if metric in ("C", "gamma"):
            return 2.0 ** -round(3 * scale)
        made = level * np.array(CURVES.get(metric, 1.0))
        return made[:2] if metric == "seconds_curve" and of in ENSEMBLES else made

    return value


def study_of(value, missing=None, runs=5):
    """A study whose exhibits have the paper's labels and methods, and made numbers."""

    @cache
    def evidence(name):
        labels = dict.fromkeys(d for f in paper.functions[name] for d in f.datasets or ())
        if name == "pools":
            labels = ("banana", "image")
        count = 1 if name in ("draws", "figure2", "figure2_examples", "figure4") else runs
        return made_evidence(value, paper.methods(name), labels, runs=count, noise=0.1, missing=missing)

    return SimpleNamespace(
        key="shen2014", root=ROOT, scale="paper", evidence=evidence, protocol=lambda name: PROTOCOL
    )


def texts(table):
    return {row[0].text: row[1].text for row in table.rows}


@pytest.fixture(autouse=True)
def unsaved(monkeypatch):
    monkeypatch.setattr(words, "save_table", lambda *_: None)


def test_examples_of_the_words_are_true(monkeypatch):
    monkeypatch.undo()
    failed, tried = doctest.testmod(words)
    assert failed == 0
    assert tried >= 4


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_follow_the_numbers_and_wait_for_them(name):
    text, other = (repr(say(name, study_of(made(*levels)))) for levels in ((1.0, 0.2), (2.0, -0.2)))
    assert len(text) > 100
    assert "…" not in text
    assert not re.search(r"\bnan\b", text)
    assert text != other
    late = repr(say(name, study_of(made(), missing=lambda key: key.trial == 0)))
    assert "…" in late
    assert "lowest mean" not in late


@pytest.mark.parametrize("name", SENTENCES)
def test_exhibits_that_a_scale_leaves_out_leave_nothing_to_say(name):
    study = study_of(made())
    study.evidence = lambda _: made_evidence(made(), (), ())
    tables = say(name, study)
    assert not any(table.rows for table in (tables if isinstance(tables, tuple) else (tables,)))


@pytest.mark.parametrize("name", SENTENCES)
def test_scales_with_one_method_of_one_set_break_nothing(name):
    study = study_of(made())
    whole = study.evidence

    def evidence(exhibit):
        found = whole(exhibit)
        labels = ("thyroid",) if "thyroid" in found.datasets else found.datasets[:1]
        return made_evidence(made(), found.methods[-1:], labels, runs=1)

    study.evidence = evidence
    assert not re.search(r"\bnan\b", repr(say(name, study)))


def printed_value(exhibit, shift):
    """The printed means, ``shift[method]`` points off."""
    printed = {
        (c.row, c.column): c.value
        for c in read_cells(ROOT / "published/published.csv")
        if (c.paper, c.exhibit) == ("shen2014", exhibit)
    }
    return lambda metric, d, m: printed[d.removesuffix(" official"), m] + shift.get(m, 0.0)


def test_tables_beside_the_print():
    study = study_of(printed_value("table1", {"AdaBoost": 30.0, "CGENS": -30.0}))
    said = texts(in_words.say_two_classes(study, "table1"))
    assert said["SVM"].startswith("12 of 12 match; ")
    assert re.match(r"0 of 12 match; worse: banana \(\+30.0\d\), b-cancer", said["AdaBoost"])
    assert re.match(r"0 of 12 match; better: banana \(-(30.0|29.9)\d\), b-cancer", said["CGENS"])
    assert re.search(r"; \+30.0\d points from the print on average$", said["AdaBoost"])
    assert re.match(r"mean error: CGENS -\d.*; mean rank: CGENS 1.00, .*, AdaBoost 4.00; ", said["stumps"])
    assert said["stumps"].endswith("of 12 sets: AdaBoost 0, LPBoost 0, SVM 0, CGENS 12")
    assert said["to the digit"].startswith("0 of 48 cells")


def test_cells_are_equal_to_the_digit_in_mean_and_deviation():
    cell = SimpleNamespace(ours=3.616, ours_spread=0.58, printed="3.62", printed_spread="0.58")
    assert in_words._equal_as_printed(cell)
    cell.ours_spread = 0.57
    assert not in_words._equal_as_printed(cell)
    cell.ours_spread = None
    assert not in_words._equal_as_printed(cell)


def test_ties_for_the_lowest_mean_count_for_each():
    said = texts(in_words.say_classes(study_of(made(), runs=10)))
    assert said["UCI sets"].endswith("of 7 sets: AdaBoost.ECC 7, AdaBoost.MH 7, CGENS-SLS 7, MultiBoost 7")
    said = texts(in_words.say_classes(study_of(made(2.0, 1.0, "CGENS-SLS"))))
    assert "mean rank: CGENS-SLS 1.00, " in said["vision sets"]
    assert said["MNIST, seconds"].startswith("500 rounds take CGENS-SLS 1.0, ")
    assert f"of {len(UCI_SETS) + len(VISION_SETS)} sets" in said["all sets"]


@pytest.mark.parametrize(
    ("lead", "first", "sets"),
    [
        (0.5, "with 275 and 5,500 calls", "ahead on 12 of 12 sets, AdaBoost on 0; "),
        (-0.5, "with no number of calls", "ahead on 0 of 12 sets, AdaBoost on 12 (banana, "),
    ],
)
def test_equal_calls_say_who_is_ahead(lead, first, sets):
    said = texts(in_words.say_calls(study_of(made(1.0, lead))))
    assert said["who is ahead"].endswith(first)
    assert sets in said["set by set"]
    assert said["set by set"].endswith("on none") == (lead > 0)


def test_details_of_table_1():
    said = texts(in_words.say_details(study_of(made(10 / 3))))
    assert said["C of CGENS, a power of 2"].startswith("at the lower end of the grid in 60 of 60 runs")
    assert said["C of CGENS, a power of 2"].endswith("waveform -10 to -10")
    assert said["heart, split by split, SVM"].startswith("3, 3, 3, 3, 3 %; mean 3.")
    printed = printed_value("table1", {"AdaBoost": 2.0})
    after_all = lambda metric, d, m: printed("", d, m) - 2.0 * (metric == "error_500")  # noqa: E731
    rounds = texts(in_words.say_details(study_of(after_all)))["AdaBoost, numbers of rounds"]
    assert re.match(r"selected: \d+.\d\d %, (2.0|1.9)\d points .* all 500: \d+.\d\d %, 0.0\d points$", rounds)
    said = texts(in_words.say_details(study_of(made())))
    assert said["C of CGENS, a power of 2"].startswith("at the lower end of the grid in 0 of 60 runs")


def test_printed_means_outside_the_bar_are_named():
    far = printed_errors(SimpleNamespace(root=ROOT, key="shen2014"), "table1", ["image"], ["SVM"])[0, 0]

    def value(metric, dataset, method):
        exhibit = "table1" if method.startswith("stump") else "table2"
        column = method.partition(":")[2] if exhibit == "table1" else method
        center = printed_errors(study, exhibit, [dataset], [column])[0, 0]
        return center + np.array([0.9, 1.1] if (dataset, method) == ("image", "stump:SVM") else [-1.0, 1.0])

    study = study_of(value)
    said = texts(in_words_beyond.say_draws(study))
    assert len(said) == 11
    assert said["stump:CGENS"] == "12 of 12 printed means are within a deviation"
    ours = f"printed {far:.2f}, ours {far + 1:.2f} ± 0.14"
    assert said["stump:SVM"] == f"11 of 12 printed means are within a deviation; not image ({ours})"


def test_pools_tell_master_from_choice():
    def value(metric, dataset, family):
        worse = {"AdaBoost": 3.0, "LPBoost": 4.0, "CGENS": 1.0}[metric]
        printed = printed_errors(study, "table2", ["banana"], ["perceptron:AdaBoost"])[0, 0]
        return [50.0, printed + worse + 2.0 * family.endswith("once")]

    study = study_of(value)
    said = texts(in_words_beyond.say_pools(study))
    assert said["stump"].endswith("CGENS errs least on 2 of 2 sets")
    assert "points above CGENS: +2.00 for AdaBoost, +3.00 for LPBoost" in said["master or choice, stumps"]
    assert said["master or choice, perceptrons"].endswith("AdaBoost 2.00, LPBoost 2.00, CGENS 2.00")


@pytest.fixture
def pools_like_the_print(monkeypatch):
    evidence = made_evidence(
        lambda metric, d, family: [2.75 + 8.0 * (family == "perceptrons ball once")],
        paper.methods("pools"),
        ("image",),
    )
    study = study_of(made())
    study.evidence = lambda _: evidence
    return study


def test_the_pool_nearest_to_the_print_comes_first(pools_like_the_print):
    said = texts(in_words_beyond.say_pools(pools_like_the_print))["AdaBoost, perceptrons"]
    assert said.startswith("nearest first, ")
    assert said.endswith(", perceptrons ball once 8.00")
    assert "perceptrons ball fresh 0.00" in said


@pytest.mark.parametrize("cut", [False, True])
def test_cut_runs_are_said_to_be_lower_bounds(cut):
    def value(metric, dataset, method):
        slow = method in LP_METHODS
        if metric == "reached":
            return [130.0] if cut and slow else [500.0]
        return [10.0, 60.0] if cut and slow else [10.0 * (1 + slow), 20.0 * (1 + slow), 40.0 * (1 + slow)]

    said = texts(in_words.say_training_time(study_of(value)))
    text = said["LPBoost, interior point, 500 rounds on 10,000 digits"]
    if cut:
        assert text.startswith("3 times after 100 rounds (60.0 s against 20.00 s); the run ends in round 130")
        assert text.endswith("after 500 rounds the ratio is at least 2 (a lower bound)")
    else:
        assert text == "2 times after 500 rounds (80.0 s against 40.00 s)"


def test_the_nearest_reading_of_vowel_is_named():
    errors = {"500 cosines": 18.0, "all stumps": 26.0, "AdaBoost.MH, 528 rows": 19.3}
    study = study_of(lambda metric, d, m: errors.get(m, 30.0), runs=10)
    said = texts(in_words.say_vowel(study))
    assert re.match(
        r"500 cosines, 1\.[23] points away, beyond the printed deviation of 1.1 \(0 of 7",
        said["nearest for CGENS-SLS"],
    )
    assert said["all stumps"].endswith("+6.7 points from the print")
    assert said["AdaBoost.MH, 528 rows"].endswith("-0.8 points from the print")  # of its own number
    errors["500 cosines"] = 19.0
    assert "within the printed deviation" in texts(in_words.say_vowel(study))["nearest for CGENS-SLS"]


def test_mixtures_and_their_costs():
    def value(metric, dataset, method):
        first = method == "width by cross-validation"
        return {
            "error": 10.0 + first,
            "search_seconds": 8.0 - 6.0 * first,
            "problems": 10.0 + 30.0 * first,
        }.get(metric, 3.0)

    text = list(texts(in_words_beyond.say_kernels(study_of(value))).values())
    assert "width by cross-validation 2.0, all widths at once 8.0" in text[0]
    assert "all widths at once: -1.00 points, 4.00 times the seconds, 0.25 times the" in text[-1]


def test_equal_error_is_where_an_ensemble_first_errs_as_little():
    def value(metric, dataset, method):
        if metric == "seconds_curve":
            return [1.0, 5.0]
        if metric == "curve":
            return [9.0, 7.0] if method.endswith("stumps") else [9.0, 8.5]
        return 10.0 if metric == "eval_seconds" else 8.0

    text = texts(in_words_beyond.say_prediction(study_of(value)))["german"]
    stumps, cosines = text.split("; Gaussian")
    assert "from 500 stumps on, 2.0 times as fast" in stumps
    assert "0.50 points are missing; 500 cosines 2.0 times as fast at 8.50 %" in cosines.replace(
        "0.49", "0.50"
    )


def test_every_table_and_claim_has_its_paragraph():
    entries = yaml.safe_load((ROOT / "docs/paragraphs.yaml").read_text())["shen2014"]
    cells = json.loads((ROOT / "notebooks/shen2014/shen2014.ipynb").read_text())["cells"]
    prose, code = (
        ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]
        for kind in ("markdown", "code")
    )
    headings = {h for text in prose for h in re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE)}
    for entry in entries:
        if "heading" in entry:
            assert entry["heading"] in headings
        else:
            assert any(entry["cell"] in source for source in code)
    claims = {c.id for c in read_claims(ROOT / "published/claims.yaml") if c.paper == "shen2014"}
    assert claims <= {row for entry in entries for row in entry.get("rows", ())}
    whole = {
        e for entry in entries if not {"rows", "columns"} & set(entry) for e in entry.get("exhibits", ())
    }
    assert whole == {"table1", "table2", "table3", "table4"}


def test_the_article_shows_every_sentence_there_is():
    source = (ROOT / "notebooks/shen2014/shen2014.ipynb").read_text()
    assert [name for name in SENTENCES if name not in source] == []
