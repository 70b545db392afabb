"""BibTeX of the software and of the five papers, from CITATION.cff."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from kernsemble.trials.rooms import PAPERS

KINDS = {"software": "software", "conference-paper": "inproceedings", "article": "article"}


def write_citation(root: Path, page: Path) -> None:
    """Write all entries, the software first."""
    about = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    entries = [bibtex("kernsemble", about["preferred-citation"])]
    entries += [bibtex(key, work) for key, work in zip(PAPERS, about["references"], strict=True)]
    page.write_text("```\n" + "\n\n".join(entries) + "\n```\n", encoding="utf-8")


def bibtex(key: str, work: Mapping) -> str:
    """Return the entry of a work.

    Examples
    --------
    >>> work = {"type": "article", "title": "Of Kernels", "authors": [{"name": "A"}], "year": 2004}
    >>> print(bibtex("a2004", work))
    @article{a2004,
      title = {{Of Kernels}},
      author = {A},
      year = {2004}
    }
    """
    fields = {
        "title": f"{{{work['title']}}}",
        "author": " and ".join(map(_name, work["authors"])),
        "booktitle": work.get("collection-title"),
        "journal": work.get("journal"),
        "version": work.get("version"),
        "url": work.get("url"),
        "year": work["year"],
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{KINDS[work['type']]}{{{key},\n" + ",\n".join(lines) + "\n}"


def _name(person: Mapping) -> str:
    if "name" in person:
        return person["name"] if " " not in person["name"] else f"{{{person['name']}}}"
    particle = f"{person['name-particle']} " if "name-particle" in person else ""
    return f"{particle}{person['family-names']}, {person['given-names']}"
