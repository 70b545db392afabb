"""The page on reliability says what the tests noted, and all of it was survived."""

import sys
from pathlib import Path

from support.faults import merge_figures

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from reliability_page import SECTIONS, failed_sentence, read_all, whole_page  # noqa: E402


def test_page_is_what_the_tests_noted():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert page == whole_page(ROOT), "run: python docs/_extensions/reliability_page.py ."


def test_figures_belong_to_sections_and_were_survived():
    figures = read_all(ROOT)
    assert {figure["section"] for figure in figures} <= set(SECTIONS)
    assert figures
    assert [f["what"] for f in figures if not 0 < f["survived"] <= f["tried"]] == []
    # Of other versions, trials may differ where a digit tips a choice; what follows from them may not.
    assert [f["what"] for f in figures if f["survived"] < f["tried"] and "trials, " not in f["what"]] == []
    assert read_all(ROOT, "failed") == []


def test_figures_of_a_run_that_failed_in_part():
    """A failed test is named, not counted; run again, it completes the figures; a whole run starts anew."""
    noted = [(f"t[{i}]", "Faults", "kill", 1, 1, "goes on") for i in range(3)]
    one = merge_figures({}, noted[:2], {"t[0]", "t[1]"}, {"t[2]"})
    assert one["figures"] == [
        {"section": "Faults", "what": "kill", "tried": 2, "survived": 2, "detail": "goes on"}
    ]
    assert one["failed"] == ["t[2]"]
    assert "`t[2]`" in failed_sentence(one["failed"])
    two = merge_figures(one, noted[2:], {"t[2]"}, set())
    assert two["figures"][0]["tried"] == two["figures"][0]["survived"] == 3
    assert "failed" not in two
    assert merge_figures(two, noted, {"t[0]", "t[1]", "t[2]"}, set()) == two
    assert merge_figures(two, [("u", "Supply", "pins", 5, 4, "")], set(), {"u"})["failed"] == ["u"]
