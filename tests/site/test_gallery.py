"""Every example of the gallery runs without a warning, says something, and stands on the page."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.append(str(DOCS / "_extensions"))

import gallery  # noqa: E402 - an extension of the site

EXAMPLES = sorted(path.stem for path in (DOCS / "gallery").glob("*.py"))


def test_every_example_is_on_the_page():
    assert sorted(gallery.ORDER) == EXAMPLES
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_and_shows_something(name, tmp_path):
    page = gallery.run(DOCS / "gallery" / f"{name}.py", tmp_path)
    assert page.startswith("# ")
    assert "```text" in page or list(tmp_path.glob("*.svg"))
    code = sum(part.count("\n") for part in page.split("```python")[1:])
    assert code < 120, "an example is read in one go"


def test_a_cell_that_fails_is_named_by_its_line(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text('"""# Broken"""\n\n# %%\n# Words.\nx = 1\n\n# %%\nprint(x / 0)\n')
    with pytest.raises(ZeroDivisionError) as caught:
        gallery.run(path)
    assert caught.traceback[-1].lineno + 1 == 8
