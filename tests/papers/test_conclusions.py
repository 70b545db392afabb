"""What the articles conclude in words is true of their evidence; the rules stand in ``conclusions.yaml``."""

from functools import cache
from itertools import product
from pathlib import Path

import nbformat
import pytest
import yaml
from support.machinery import open_fake

from kernsemble.report.say import MISSING, Facts
from kernsemble.trials.study import Study

ROOT = Path(__file__).parents[2]
CONCLUSIONS = yaml.safe_load(Path(__file__).with_name("conclusions.yaml").read_text())
KNOWN = {"__builtins__": {}, "abs": abs, "float": float, "max": max, "min": min}


@cache
def article(key):
    """Return the words of an article, and its facts, rows of older code included."""
    notebook = nbformat.read(ROOT / "notebooks" / key / f"{key}.ipynb", as_version=4)
    text = " ".join(" ".join(cell.source for cell in notebook.cells).split())
    return text, Facts(Study(key, "paper", ROOT, older=True))


def written_out(rule):
    """Yield a rule for each of the values that its letters stand for."""
    rule, *loops = rule.split(" for ")
    names, values = zip(*(loop.split(" in ", 1) for loop in loops), strict=True) if loops else ((), ())
    letters = "/".join(names).split("/") if loops else []
    for chosen in product(*(some.split("; ") for some in values)):
        found = rule
        for letter, value in zip(letters, "/".join(chosen).split("/") if loops else [], strict=True):
            found = found.replace(letter, value)
        yield found


def is_true(facts, rule):
    """Whether a rule is true; None where the evidence is not complete."""
    said = [facts.fill(one) for one in written_out(rule)]
    return None if any(MISSING in text for text in said) else all(eval(text, KNOWN) for text in said)


@pytest.mark.parametrize(
    ("key", "words"), [(key, words) for key, found in CONCLUSIONS.items() for words in found]
)
def test_words_of_an_article_are_true_of_its_evidence(key, words):
    text, facts = article(key)
    assert words in text
    found = {rule: is_true(facts, rule) for rule in CONCLUSIONS[key][words]}
    assert False not in found.values(), [rule for rule, true in found.items() if true is False]
    if None in found.values():
        pytest.skip(f"incomplete evidence: {words}")


def test_rules_are_written_out():
    rule = "{a.$x[$m, CW]} < {a.$y} for $m in VOWEL; C = 1 for $x/$y in p/q; r/s"
    assert list(written_out(rule)) == [
        "{a.p[VOWEL, CW]} < {a.q}",
        "{a.r[VOWEL, CW]} < {a.s}",
        "{a.p[C = 1, CW]} < {a.q}",
        "{a.r[C = 1, CW]} < {a.s}",
    ]


def test_rules_can_fail_and_wait(root):
    assert is_true(Facts(open_fake(root, compute=False)), "{F1.mean} > 0") is None
    facts = Facts(open_fake(root))
    assert is_true(facts, "{table1.error[coin, $m]} > 0 for $m in plain; plain")
    assert is_true(facts, "{table1.error[coin, plain]} > 1e6") is False
