"""bi2004: other thresholds of table 2's machines, and the sentences that are made of numbers."""

import inspect
from pathlib import Path
from types import SimpleNamespace

import cvxpy
import numpy as np
import pytest
from support.made_evidence import made_evidence

from kernsemble.report import words
from kernsemble.trials.registry import load_paper
from bi2004 import charts_thresholds as readings
from bi2004 import in_words
from bi2004.charts import printed_numbers
from bi2004.kernels import Forms, make_library, model_scores, resolve
from bi2004.sets import SMALL_CHOICES
from bi2004.thresholds import missed_at, models_for_labels, thresholds

paper = load_paper("bi2004")
ROOT = Path(__file__).parents[2]
SENTENCES = [f for name, f in inspect.getmembers(in_words, inspect.isfunction) if name.startswith("say_")]
LEVELS = [0.0, 10.0, 40.0]


def test_rules_do_what_they_say(rng):
    y = rng.choice([-1.0, 1.0], 200, p=[0.7, 0.3])
    scores = y + 2.0 * rng.standard_normal(200)
    cuts = thresholds(scores, y, b=-0.5)
    assert abs(int((scores > cuts["share"]).sum()) - int((y > 0).sum())) <= 1
    assert np.mean(scores - cuts["mean"]) == pytest.approx(y.mean())
    support = y * scores <= 1.001
    assert np.mean((y - (scores - cuts["support"]))[support]) == pytest.approx(0.0, abs=1e-12)
    middle = scores - cuts["classes"]
    assert middle[y > 0].mean() == pytest.approx(-middle[y < 0].mean())
    ends = scores - cuts["extremes"]
    assert ends[y > 0].min() == pytest.approx(-ends[y < 0].max())
    assert (cuts["solved"], cuts["dropped"]) == (0.0, -0.5)


def test_machines_for_labels_of_two_values_solve_their_problem(rng):
    X = rng.standard_normal((30, 3))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(30) > 0.4, 1.0, -1.0)
    t = (y - y.mean()) / y.std(ddof=1)
    kernels = resolve(make_library(SMALL_CHOICES["mixture"], Forms("per feature", "(1 + xz/d)^2")), X)
    H = np.hstack([kernel.matrix(X, X) for kernel in kernels])
    w, b = cvxpy.Variable(H.shape[1]), cvxpy.Variable()
    value = 0.5 * cvxpy.sum_squares(w) + 2.0 * cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(t, H @ w + b)))
    best = cvxpy.Problem(cvxpy.Minimize(value)).solve(solver=cvxpy.CLARABEL)
    (model,) = models_for_labels(kernels, X, t, [2.0])
    losses = np.maximum(0.0, 1.0 - t * model_scores(kernels, X, model, X)).sum()
    ours = 0.5 * sum(alpha @ alpha for alpha in model[0]) + 2.0 * losses
    assert ours == pytest.approx(best, rel=1e-4)


def test_missed_at_reads_the_roc_curve():
    scores, y = np.arange(10.0), np.array([-1, -1, 1, -1, -1, 1, 1, -1, 1, 1], dtype=float)
    missed = missed_at(scores, y, [0, 20, 100])
    np.testing.assert_allclose(missed[[0, 2]], [60.0, 0.0])
    assert 20.0 <= missed[1] <= 60.0
    assert (np.diff(missed) <= 0).all()


def falling(first, scale=1.0):
    """Values with which ``first`` has the least error of all methods; counts and curves are made up."""

    def value(metric, dataset, method):
        if metric == "iterations":
            return [scale * 100.0, scale * 200.0]
        if metric == "missed":
            return scale * np.array([90.0, 60.0, 10.0])
        if method in ("composite", "mixture"):
            return scale * np.array([20.0, 40.0])
        by_choice = metric.startswith("error_") and metric != "error_end"
        name = metric.removeprefix("error_") if by_choice else method.split("/")[-1]
        return scale * (5.0 if name == first else 9.0)

    return value


def study_of(value, missing=None):
    """A study whose exhibits have the paper's labels and methods, and made numbers."""

    def evidence(name):
        labels = dict.fromkeys(d for f in paper.functions[name] for d in f.datasets or ())
        return made_evidence(value, paper.methods(name), labels, runs=6, noise=0.1, missing=missing)

    values = {"excesses": [0.3, 0.0], "patiences": [20, 50], "patience": 50, "roc_levels": LEVELS}
    return SimpleNamespace(
        key="bi2004", root=ROOT, scale="paper", evidence=evidence, protocol=lambda name: values
    )


@pytest.fixture(autouse=True)
def unsaved(monkeypatch):
    for module in (words, readings):
        monkeypatch.setattr(module, "save_table", lambda *_: None)


@pytest.mark.parametrize("say", SENTENCES, ids=lambda f: f.__name__)
def test_sentences_follow_the_numbers_and_wait_for_them(say):
    text, other = (repr(say(study_of(falling("L,Q,R", scale)))) for scale in (1.0, 2.0))
    assert "…" not in text
    assert "nan" not in text
    assert text != other
    late = repr(say(study_of(falling("L,Q,R"), missing=lambda key: key.trial == 3)))
    assert "of 6 runs" in late


@pytest.mark.parametrize(
    "show", [*SENTENCES, readings.show_readings, readings.show_on_curves], ids=lambda f: f.__name__
)
def test_exhibits_that_a_scale_leaves_out_leave_nothing_to_say(show):
    study = study_of(falling("L,Q,R"))
    study.evidence = lambda name: made_evidence(falling("L,Q,R"), (), ())
    assert "%" not in "".join(cell.text for row in show(study).rows for cell in row[1:])


def test_sentences_name_the_best():
    blocks = repr(in_words.say_blocks(study_of(falling("L,Q,R"))))
    assert blocks.count("L,Q,R has the least mean") == blocks.count("L,Q,R is number 1 of 7") == 4
    blocks = repr(in_words.say_blocks(study_of(falling("L+Q"))))
    assert blocks.count("L+Q has the least mean") == 4
    assert "L,Q,R is number 1 " not in blocks
    moved = repr(in_words.say_readings(study_of(falling("R"))))
    assert moved.count("in 0 of") == 2
    assert "boosting at the cost of the 1-norm mixture errs 4." in repr(
        in_words.say_modern(study_of(falling("1-norm mixture")))
    )


def printed_value(shift):
    """The printed rates for all readings, but for ``shift`` points."""
    printed = printed_numbers(SimpleNamespace(key="bi2004", root=ROOT), ("table2",))

    def value(metric, dataset, method):
        if metric == "missed":
            return [100.0, 50.0, 0.0]
        rate, _, name = metric.partition("_")
        model = name if name in SMALL_CHOICES else method
        return printed["table2", f"{dataset}/{model}", f"{rate}_tst"] + shift

    return value


def test_readings_count_the_printed_rates_that_they_match():
    table = readings.show_readings(study_of(printed_value(0.0)))
    assert all(row[-1].text.startswith("24 of 24") for row in table.rows)
    table = readings.show_readings(study_of(printed_value(3.0)))
    assert all(row[-1].text == "0 of 24; 3.0" for row in table.rows)
    assert len(table.rows) == len(readings.LOSSES) + len(readings.RULES)
