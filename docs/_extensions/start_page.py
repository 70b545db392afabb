"""What the start page shows of the results: findings, the wall, the score; and the gallery of all figures."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from html import escape
from pathlib import Path

import nbformat
from findings import Finding, finding_cards
from ledger_pages import read_statements
from ledger_places import Names, read_places
from notebook_figures import description, figure_names, figure_places
from pictures import picture
from pieces import article_of, raw
from wall import wall_page

from kernsemble.report.ledger import LedgerRow, read_ledger, score_table, totals
from kernsemble.report.verdicts import Verdict
from kernsemble.trials.registry import available_papers, load_paper
from kernsemble.trials.rooms import PAPERS, STUDIES

ACROSS = {
    "ledger_numbers": ("_ledger/index.html#printed-against-reproduced", "results/paper/ledger_numbers.svg"),
    "ledger_z": ("_ledger/index.html#are-the-differences-chance", "results/paper/ledger_z.svg"),
    "benchmarks_scaling": ("guide.html#speed", "results/benchmarks_scaling.svg"),
}


def write_start_page(root: Path, folder: Path, exports: Path, findings: Iterable[Finding]) -> None:
    """Write what the start page and the gallery include; their small pictures go to the exports."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = read_ledger(root / "results" / "paper" / "ledger.csv")
    table = score_table(rows, link="[{0}](_ledger/{0}.md)".format)
    (folder / "score.md").write_text(
        f"{score_sentence(rows)}\n\n:::{{container}} score\n{table}\n:::\n", encoding="utf-8"
    )
    (folder / "articles.md").write_text(article_list(root), encoding="utf-8")
    findings = list(findings)
    pictures = {finding.paper: finding_picture(root, finding, exports) for finding in findings}
    (folder / "findings.md").write_text(finding_cards(findings, pictures), encoding="utf-8")
    places = {key: read_places(root, key) for key in PAPERS}
    wall = wall_page(rows, places, read_statements(root), Names(root))
    (folder / "wall.md").write_text(wall, encoding="utf-8")
    parts = [paper_gallery(root, key, exports) for key in STUDIES if key in available_papers()]
    parts.append(across_gallery(root, exports))
    (folder / "gallery.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def finding_picture(root: Path, finding: Finding, exports: Path) -> str:
    """Return the picture of a finding."""
    path = root / "results" / "paper" / finding.paper / "figures" / f"{finding.figure}.svg"
    return picture(path, exports / "cards" / f"{finding.paper}.svg", exports, finding.panel)


def score_sentence(rows: list[LedgerRow]) -> str:
    """Return the totals in words."""
    total = totals(rows)["overall"]
    numbers, claims = (
        ", ".join(f"{count[verdict.key]} {verdict}" for verdict in Verdict if verdict.key in count)
        for count in (total["numbers"], total["claims"])
    )
    return (
        f"The five papers print **{total['numbers']['all']} distinct numbers**: {numbers}. By the best "
        f"reading of each paper {total['numbers']['best']} match. They make **{total['claims']['all']} "
        f"claims**: {claims}. [Every one of them](_ledger/index.md) can be looked up."
    )


def article_list(root: Path) -> str:
    """Return the table of contents of the rendered articles, in the order of the papers."""
    entries = []
    for key in STUDIES:
        article = article_of(root, key)
        if article.is_file():
            first = nbformat.read(article, as_version=4).cells[0].source
            title = first.partition("\n")[0].lstrip("# ")
            entries.append(f"{key}: {title} <_notebooks/{key}>")
    listed = "\n".join(entries)
    return f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: The articles\n\n{listed}\n```\n"


def paper_gallery(root: Path, key: str, exports: Path) -> str:
    """Return the figures of a paper as Markdown, each a link to the place where its article shows it."""
    folder = root / "results" / "paper" / key
    figures = sorted((folder / "figures").glob("*.svg"))
    if not figures:
        return ""
    article = article_of(root, key)
    places = {}
    if article.is_file():
        places = figure_places(nbformat.read(article, as_version=4), figure_names(folder))
    order = {name: position for position, name in enumerate(places)}
    figures.sort(key=lambda path: order.get(path.stem, len(order)))
    pages = [f"[The article](_notebooks/{key}.ipynb)."] if places else []
    pages += [f"[Its numbers and claims](_ledger/{key}.md)."] if key in PAPERS else []
    items = []
    for path in figures:
        own = f"_notebooks/{key}.html#{places[path.stem]}" if path.stem in places else ""
        shown = picture(path, exports / "thumbs" / key / f"{path.stem}.svg", exports)
        items.append(_item(own or f"figures/{key}/{path.name}", shown, path))
    return f"## {key}: {load_paper(key).title}\n\n{' '.join(pages)}\n\n{_gallery(items)}"


def across_gallery(root: Path, exports: Path) -> str:
    """Return the drawings that belong to no single paper."""
    items = []
    for name, (link, path) in ACROSS.items():
        drawing = root / path
        if drawing.is_file():
            shown = picture(drawing, exports / "thumbs" / f"{name}.svg", exports)
            items.append(_item(link, shown, drawing))
    return f"## Across the papers\n\n{_gallery(items)}"


def _gallery(items: list[str]) -> str:
    return raw("\n".join(['<ul class="gallery">', *items, "</ul>"]))


def _item(link: str, shown: str, path: Path) -> str:
    text = description(path.read_text(encoding="utf-8")) or path.stem.replace("_", " ")
    return f'<li><a href="{link}">{shown}<span aria-hidden="true">{escape(text)}</span></a></li>'
