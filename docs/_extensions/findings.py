"""What was found, on the start page: a sentence or four for each paper, one figure, and a link to the proof.

The texts are in ``findings.yaml``; their numbers come from the committed evidence when the site is built.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from docutils.nodes import make_id
from pieces import OLDER, raw

from kernsemble.report.say import Facts
from kernsemble.trials.study import Study


class Finding(NamedTuple):
    """A finding with its numbers filled in."""

    paper: str
    title: str
    text: str
    older: bool
    figure: str
    shows: str
    heading: str
    panel: int = 0


def read_findings(root: Path) -> list[Finding]:
    """Return the findings; where today's evidence is incomplete, with rows of older code, and marked so."""
    entries = yaml.safe_load((root / "docs" / "findings.yaml").read_text(encoding="utf-8"))
    return [_filled(root, key, **entry) for key, entry in entries.items()]


def _filled(root: Path, key: str, *, text: str, **rest: Any) -> Finding:
    facts = Facts(Study(key, "paper", root, compute=False))
    filled = facts.fill(text)
    if facts.missing:
        filled = Facts(Study(key, "paper", root, older=True)).fill(text)
    return Finding(key, text=filled, older=bool(facts.missing), **rest)


def finding_cards(findings: list[Finding], pictures: dict[str, str]) -> str:
    """Return the findings as HTML; ``pictures`` has the ``img`` of each paper's figure."""
    cards = "\n".join(_card(finding, pictures[finding.paper]) for finding in findings)
    return raw(f'<div class="findings">\n{cards}\n</div>')


def _card(finding: Finding, picture: str) -> str:
    article = f"_notebooks/{finding.paper}.html"
    place = f"{article}#{make_id(finding.heading)}"
    note = f' <small class="older">{OLDER}</small>' if finding.older else ""
    return (
        f'<article class="finding"><div><p class="key">{finding.paper}</p>'
        f"<h3>{escape(finding.title)}</h3><p>{powers(escape(finding.text))}{note}</p>"
        f'<p><a href="{place}">How we know</a> · '
        f'<a href="_ledger/{finding.paper}.html">its numbers</a></p></div>'
        f'<figure><a href="{place}">{picture}</a>'
        f"<figcaption>{escape(finding.shows)}</figcaption></figure></article>"
    )


def powers(text: str) -> str:
    """Return a text with numbers such as 8e-10 written as powers of ten."""
    return re.sub(r"\b(\d+)e-0*(\d+)\b", r"\1 · 10<sup>−\2</sup>", text)
