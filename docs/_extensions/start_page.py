"""What the start page shows of the results: the score in words and numbers, a gallery of all figures."""

from __future__ import annotations

import shutil
from collections import Counter
from html import escape
from pathlib import Path

import nbformat
from notebook_figures import description, figure_names, figure_places
from PIL import Image

from kernsemble.report.ledger import APART, COMPARED, LedgerRow, read_ledger, score_table
from kernsemble.trials.registry import available_papers, load_paper
from kernsemble.trials.rooms import PAPERS, STUDIES

ACROSS = {
    "ledger_numbers": ("_ledger/index.html#printed-against-reproduced", "results/paper/ledger_numbers.png"),
    "ledger_z": ("_ledger/index.html#are-the-differences-chance", "results/paper/ledger_z.png"),
    "benchmarks": ("guide.html#speed", "results/benchmarks.png"),
    "benchmarks_scaling": ("guide.html#speed", "results/benchmarks_scaling.png"),
}


def write_start_page(root: Path, folder: Path) -> None:
    """Write ``score.md``, ``gallery.md`` and ``articles.md``, which the start page includes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = read_ledger(root / "results" / "paper" / "ledger.csv")
    table = score_table(rows, link="[{0}](_ledger/{0}.md)".format)
    (folder / "score.md").write_text(
        f"{score_sentence(rows)}\n\n:::{{container}} score\n{table}\n:::\n", encoding="utf-8"
    )
    (folder / "articles.md").write_text(article_list(root), encoding="utf-8")
    parts = [paper_gallery(root, key) for key in STUDIES if key in available_papers()]
    (folder / "gallery.md").write_text("\n\n".join([*parts, across_gallery(root)]) + "\n", encoding="utf-8")


def score_sentence(rows: list[LedgerRow]) -> str:
    """Return the totals in words."""
    cells = Counter(row.verdict for row in rows if row.kind == "cell")
    claims = Counter(row.verdict for row in rows if row.kind == "claim")
    compared = sum(cells[verdict] for verdict in COMPARED)
    apart = ", ".join(f"{cells[verdict]} {verdict}" for verdict in APART if cells[verdict])
    return (
        f"The five papers print **{cells.total()} numbers**. {compared} of them stand beside ours: "
        f"{cells['match']} match, {cells['better']} are better here and {cells['worse']} worse"
        f"{f'; the rest is {apart}' if apart else ''}. Of **{claims.total()} claims** {claims['holds']} hold "
        f"and {claims['fails']} fail. [Every one of them](_ledger/index.md) can be looked up."
    )


def article_list(root: Path) -> str:
    """Return the table of contents of the rendered articles, in the order of the papers."""
    entries = []
    for key in STUDIES:
        article = root / "results" / "paper" / key / f"{key}.ipynb"
        if article.is_file():
            first = nbformat.read(article, as_version=4).cells[0].source
            title = first.partition("\n")[0].lstrip("# ")
            entries.append(f"{key}: {title} <_notebooks/{key}>")
    listed = "\n".join(entries)
    return f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n:caption: The articles\n\n{listed}\n```\n"


def paper_gallery(root: Path, key: str) -> str:
    """Return the figures of a paper as Markdown, each a link to the place where its article shows it."""
    folder = root / "results" / "paper" / key
    figures = sorted((folder / "figures").glob("*.png"))
    if not figures:
        return ""
    article = folder / f"{key}.ipynb"
    places = {}
    if article.is_file():
        places = figure_places(nbformat.read(article, as_version=4), figure_names(folder))
    order = {name: position for position, name in enumerate(places)}
    figures.sort(key=lambda path: order.get(path.stem, len(order)))
    pages = [f"[The article](_notebooks/{key}.ipynb)."] if places else []
    pages += [f"[Its numbers and claims](_ledger/{key}.md)."] if key in PAPERS else []
    items = []
    for path in figures:
        text = description(path.with_suffix(".svg").read_text(encoding="utf-8"))
        picture = f"figures/{key}/{path.name}"
        place = f"_notebooks/{key}.html#{places[path.stem]}" if path.stem in places else picture
        items.append(_item(place, picture, path, text))
    return f"### {key}: {load_paper(key).title}\n\n{' '.join(pages)}\n\n{_gallery(items)}"


def across_gallery(root: Path) -> str:
    """Return the drawings that belong to no single paper."""
    items = []
    for name, (link, path) in ACROSS.items():
        picture = root / path
        if picture.is_file():
            text = description(picture.with_suffix(".svg").read_text(encoding="utf-8"))
            items.append(_item(link, f"figures/{picture.name}", picture, text or name.replace("_", " ")))
    return f"### Across the papers\n\n{_gallery(items)}"


def _gallery(items: list[str]) -> str:
    return "```{raw} html\n" + "\n".join(['<ul class="gallery">', *items, "</ul>"]) + "\n```"


def _item(link: str, source: str, picture: Path, text: str) -> str:
    with Image.open(picture) as image:
        width, height = image.size
    text = escape(text or picture.stem.replace("_", " "), quote=True)
    return (
        f'<li><a href="{link}"><img src="{source}" alt="{text}" width="{width}" height="{height}" '
        f'loading="lazy"><span aria-hidden="true">{text}</span></a></li>'
    )
