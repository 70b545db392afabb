"""The page on reliability says what the tests noted, and all of it was survived."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from reliability_page import SECTIONS, read_figures, whole_page  # noqa: E402


def test_page_is_what_the_tests_noted():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert page == whole_page(ROOT), "run: make test-faults"


def test_figures_belong_to_sections_and_were_survived():
    figures = read_figures(ROOT)
    assert {figure["section"] for figure in figures} <= set(SECTIONS)
    assert figures
    assert [f["what"] for f in figures if not 0 < f["survived"] <= f["tried"]] == []
    assert [f["what"] for f in figures if f["survived"] < f["tried"]] == []
