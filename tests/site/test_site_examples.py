"""What the pages say to type: examples run, and links between the files of the repository lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("guide", "api", "adding-a-method", "shapes")
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_first_example_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    exec(compile(code, f"{page}.md", "exec"), {})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_links_between_files_lead_somewhere(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    made = ("_ledger/", "_notebooks/")  # pages that the site writes; its own test follows them
    wanted = [link for link in links if link and "://" not in link and not link.startswith(made)]
    assert not [link for link in wanted if not (path.parent / link).exists()]


@pytest.mark.parametrize("target", re.findall(r"`make ([a-z-]+)", (ROOT / "docs/guide.md").read_text()))
def test_targets_of_the_guide_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
