"""The rendered notebooks as pages: each opens with what was found, and only code that teaches stands open.

Cells keep their number, because links lead to them by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import nbformat
from findings import Finding, powers

FOLDED = "hide-input"


def write_article(source: Path, target: Path, findings: Mapping[str, Finding]) -> None:
    """Write a rendered notebook as the site shows it."""
    notebook = nbformat.read(source, as_version=4)
    if finding := findings.get(source.stem):
        title, authors, *rest = notebook.cells[0].source.split("\n\n")
        notebook.cells[0].source = "\n\n".join([title, authors, in_brief(finding), *rest])
    for cell in notebook.cells:
        if cell.cell_type == "code" and is_machinery(cell):
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", ()), FOLDED})
    nbformat.write(notebook, target)


def is_machinery(cell: nbformat.NotebookNode) -> bool:
    """Whether a cell only shows results: it asks the study, or sets it up. Examples of the library do not."""
    return "study" in cell.source or "parameters" in cell.metadata.get("tags", ())


def in_brief(finding: Finding) -> str:
    """Return the finding of a paper as a block for the head of its article."""
    return f":::{{admonition}} {finding.title}\n:class: finding-in-brief\n\n{powers(finding.text)}\n:::"
