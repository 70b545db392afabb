"""What notebooks show, made fit for a page: texts and anchors of figures, anchors of cells, tables.

A figure carries its description in the root element of its SVG; shown as an image, it would be lost.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from nbformat import NotebookNode

WORDS = re.compile(r"<td>(?=[^<]{40,})")  # a cell of a table that may break into lines, unlike numbers
SHOWN = re.compile(r"show_figure\(.*?\"([\w-]+)\"", re.DOTALL)


def connect(app, root: Path) -> None:
    """Have every notebook's page completed when it has been read."""
    app.connect("doctree-read", lambda app, doctree: complete(doctree, Path(app.srcdir), root))


def complete(doctree: nodes.document, source: Path, root: Path) -> None:
    """Give each code cell its anchor, each figure its anchor and text, and long cells of tables a class."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code":
            cell["ids"].append(cell_anchor(cell["cell_index"]))
    for table in list(doctree.findall(nodes.raw)):
        if table.get("format") == "html" and WORDS.search(table.astext()):
            html = WORDS.sub('<td class="words">', table.astext())
            table.replace_self(nodes.raw("", html, format="html", classes=table["classes"]))
    key = Path(doctree.get("source", "")).stem
    names = figure_names(root / "results" / "paper" / key)
    count = 0
    for image in list(doctree.findall(nodes.image)):
        path = source / image["uri"]
        if image["uri"].endswith(".svg") and "alt" not in image and path.is_file():
            svg = path.read_text(encoding="utf-8")
            image["alt"] = description(svg)
            if svg.strip() in names:
                name = names[svg.strip()]
                image["ids"].append(figure_anchor(name))
                count += 1
                caption = f"Figure {count} of this article. {image['alt']}"
                show_whole(image, f"../figures/{key}/{name}.svg", caption)


def show_whole(image: nodes.image, address: str, caption: str) -> None:
    """Make a figure lead to its file, and put its caption below it."""
    below = nodes.raw("", f'<p class="figure-caption">{escape(caption)}</p>', format="html")
    start = nodes.raw("", f'<a href="{address}">', format="html")
    image.replace_self([start, image.deepcopy(), nodes.raw("", "</a>", format="html"), below])


def cell_anchor(index: int) -> str:
    """Return the anchor of a notebook's cell."""
    return f"cell-{index}"


def figure_anchor(name: str) -> str:
    """Return the anchor of a figure that was shown under a name."""
    return f"figure-{name}".replace("_", "-")


def figure_names(folder: Path) -> dict[str, str]:
    """Return the names of a paper's figures by what is drawn."""
    figures = sorted((folder / "figures").glob("*.svg"))
    return {path.read_text(encoding="utf-8").strip(): path.stem for path in figures}


def description(svg: str) -> str:
    """Return the text in the root element of a figure."""
    found = re.search(r'<svg [^>]*aria-label="([^"]*)"', svg)
    return unescape(found[1]) if found else ""


def figure_places(notebook: NotebookNode, names: dict[str, str]) -> dict[str, str]:
    """Return the anchor of each figure that a notebook shows: its own, or that of its cell."""
    places = {}
    for index, cell in enumerate(notebook.cells):
        shown = SHOWN.findall(cell.source) if cell.cell_type == "code" else ()
        drawn = {names.get(svg.strip()) for svg in _drawings(cell)} if shown else set()
        for name in shown:
            places.setdefault(name, figure_anchor(name) if name in drawn else cell_anchor(index))
    return places


def _drawings(cell: NotebookNode) -> list[str]:
    return [
        output["data"]["image/svg+xml"]
        for output in cell.outputs
        if "image/svg+xml" in output.get("data", {})
    ]
