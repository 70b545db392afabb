"""What the pages say to type: examples run, and links between the files of the repository lead somewhere."""

import csv
import os
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml
from support.pages import blocks, copy_repository, follow

from kernsemble.report.cli import build_parser
from kernsemble.report.ledger import BEGIN, END

ROOT = Path(__file__).parents[2]
NAMED = re.compile(
    r"`((?:src|tests|docs|notebooks|published|benchmarks|tools|masters|hypotheses|estimators)/[\w./-]+)`"
)
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", ["api", "shapes", "practice"])
def test_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks(ROOT / f"docs/{page}.md"):
        if block.language == "python":
            exec(compile(block.code, f"{page}.md", "exec"), {})


def follow_page(name, copy):
    """Do all that a page says in a copy of the repository."""
    settings = ("KERNSEMBLE_ROOT", "KERNSEMBLE_SCALE", "KERNSEMBLE_CLUSTER", "KERNSEMBLE_FRESH")
    environment = {name: value for name, value in os.environ.items() if name not in settings}
    environment |= {"PYTHONPATH": str(copy / "src"), "KERNSEMBLE_JOBS": "1"}
    for block in blocks(ROOT / f"docs/{name}.md"):
        follow(block, copy, environment)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_method_is_added_as_the_page_says(tmp_path):
    copy = copy_repository(ROOT, tmp_path / "copy", ("linli2005",))
    follow_page("adding-a-method", copy)
    with (copy / "results/smoke/linli2005/tables/table1.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["column"] == "ExtraTrees" and line["ours"]]
    assert [line["row"] for line in lines] == ["twonorm-n", "heart", "sonar"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_paper_is_added_as_the_page_says(tmp_path):
    copy = copy_repository(ROOT, tmp_path / "copy", ())
    follow_page("adding-a-paper", copy)
    with (copy / "results/paper/ledger.csv").open(encoding="utf-8") as file:
        verdicts = {row["verdict"] for row in csv.DictReader(file) if row["paper"] == "breiman1996"}
    assert verdicts <= {"match", "differs: lower", "differs: higher", "the unit of its block", "holds"}
    assert (copy / "results/smoke/breiman1996/breiman1996.ipynb").is_file()
    assert (copy / "results/paper/breiman1996/figures/table1.svg").is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_names_in_pages_are_those_of_the_code(path):
    text = path.read_text(encoding="utf-8")
    made = set(re.findall(r"`([\w./]+)`(?:, a cell.*)?:$", text, re.MULTILINE)) | {"docs/_build/html"}
    files = {name for name in NAMED.findall(text) if "KEY" not in name and "PAPER" not in name} - made
    places = (ROOT, ROOT / "src" / "kernsemble")
    assert not [name for name in sorted(files) if not any((place / name).exists() for place in places)]
    commands = build_parser().format_help()
    for name in set(re.findall(r"python -m kernsemble ([a-z]+)", text)):
        assert re.search(rf"^ +{name}\b", commands, re.MULTILINE), name
    for name in set(re.findall(r"(?:from|import|`)\s?(kernsemble(?:\.\w+)+)", text)):
        assert resolve_name(name) is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_links_between_files_lead_somewhere(path):
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    made = ("_gallery/", "_ledger/", "_notebooks/")  # pages that the site writes; its own test follows them
    wanted = [link for link in links if link and "://" not in link and not link.startswith(made)]
    assert not [link for link in wanted if not (path.parent / link).exists()]


def test_readme_has_the_findings_of_the_start_page():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for key, found in yaml.safe_load((ROOT / "docs/findings.yaml").read_text(encoding="utf-8")).items():
        title = found["title"].rstrip(".")
        assert f"**{title}.**" in text, key
        assert f"results/paper/{key}/figures/{found['figure']}.svg" in text, key


def test_readme_types_no_number_that_may_change():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = text[: text.index(BEGIN)] + text[text.index(END) :]
    for part in (r"^```.*?^```", r"`[^`]*`", r"\]\([^)]*\)"):  # code, and where links lead
        typed = re.sub(part, "", typed, flags=re.MULTILINE | re.DOTALL)
    numbers = set(re.findall(r"(?<![\w-])\d[\d.]*\b", typed))
    python = re.search(r'requires-python = ">=([\d.]+)', (ROOT / "pyproject.toml").read_text())[1]
    assert numbers == {python, "5", "15", "2007"}  # minutes, as a range; PASCAL VOC 2007


@pytest.mark.parametrize("target", re.findall(r"`make ([a-z-]+)", (ROOT / "docs/guide.md").read_text()))
def test_targets_of_the_guide_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
