"""The errata of all papers on one page, lifted from the sections of that name in the notebooks."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from pieces import article_of

from kernsemble.trials.rooms import PAPERS

HEAD = """# Errata

Mistakes in formulas and text that the reproductions found, each with its proof or counterexample and with
what remains true. The numbers behind them are in the articles; the papers' main lines stand, and most of
their numbers agree.
"""


def write_errata_page(root: Path, page: Path) -> None:
    """Write the page from the notebooks that have such a section."""
    parts = [HEAD]
    for key in PAPERS:
        source = root / "notebooks" / key / f"{key}.ipynb"
        text = errata_of(source) if source.is_file() else ""
        if text:
            link = (
                f"From [its article](../_notebooks/{key}.ipynb).\n\n"
                if article_of(root, key).is_file()
                else ""
            )
            parts.append(f"## {key}\n\n{link}{text}")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def errata_of(notebook: Path) -> str:
    """Return the Markdown of a notebook's section on errata, without its heading; empty when it has none."""
    text = "\n\n".join(
        cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "markdown"
    )
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    found = [section for section in sections if section.startswith("## Errata")]
    return found[0].partition("\n")[2].strip() if found else ""
