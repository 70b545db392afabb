"""Pages of the ledger: the score, every printed number in one filterable table, and a page for each paper.

Written before Sphinx collects its pages, from ``results/paper/ledger.csv`` and the rendered notebooks.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from html import escape
from pathlib import Path

import nbformat

from kernsemble.experiments.registry import PAPERS
from kernsemble.ledger import VERDICTS, LedgerRow, read_ledger
from kernsemble.ledger_figures import BEYOND, chance_beyond, compared_rows, save_ledger_figures
from kernsemble.published import read_claims
from kernsemble.score import score_table
from kernsemble.tables import MARKS

Places = dict[str, str]
TABLE_START = '<div class="table-wrapper"><table class="ledger">'
TABLE_END = "</tbody></table></div>"
READING_HELP = """Each cell shows our number, and below it the printed one. ✓ match: $|z| \\le 2$; ▲ better
and ▼ worse: beyond that; ≁ not comparable: an absolute time of other hardware; ∅ unavailable: data that
cannot be had; … pending: evidence still to be computed. The exhibit's name leads to the place in the article.
"""


def write_ledger_pages(root: Path, folder: Path) -> None:
    """Write ``index.md``, one page for each paper, and the drawings."""
    rows = read_ledger(root / "results" / "paper" / "ledger.csv")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    save_ledger_figures(rows, folder)
    places = {key: exhibit_places(root / "results" / "paper" / key / f"{key}.ipynb") for key in PAPERS}
    statements = {claim.id: claim.statement for claim in read_claims(root / "published" / "claims.yaml")}
    (folder / "index.md").write_text(index_page(rows, places, statements), encoding="utf-8")
    for key in PAPERS:
        own = [row for row in rows if row.paper == key]
        (folder / f"{key}.md").write_text(paper_page(key, own, places[key], statements), encoding="utf-8")


def exhibit_places(notebook: Path) -> Places:
    """Return the anchor of the heading above the place where each exhibit or claim is shown."""
    if not notebook.is_file():
        return {}
    places: Places = {}
    anchor = ""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "markdown":
            headings = re.findall(r"^#{2,4} +(.+)$", cell.source, re.MULTILINE)
            anchor = _slug(headings[-1]) if headings else anchor
        else:
            for name in re.findall(r'"([A-Za-z]+[0-9]*)"', cell.source):
                places.setdefault(name, anchor)
    return places


def _slug(heading: str) -> str:
    """Return the anchor that docutils gives a heading."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def _link(paper: str, exhibit: str, places: Places, text: str) -> str:
    if not places:
        return escape(text)
    anchor = places.get(exhibit, "")
    return f'<a href="../_notebooks/{paper}.html{"#" + anchor if anchor else ""}">{escape(text)}</a>'


def index_page(
    rows: Sequence[LedgerRow], places: dict[str, dict[str, str]], statements: dict[str, str]
) -> str:
    """Return the page with the score, the drawings, and all rows."""
    compared = compared_rows(rows)
    beyond = sum(abs(float(row.z)) > BEYOND for row in compared)
    body = "\n".join(_full_row(row, places[row.paper], statements) for row in rows)
    heads = _heads("paper", "exhibit", "row", "column", "printed", "ours", "runs", "z", "verdict", "note")
    return f"""# The ledger

Every number that the five papers print, and every claim that they make, stands here beside ours, with a
verdict by a rule that was fixed in advance. $z$ is the difference divided by its standard error.

{score_table(rows, link="[{0}]({0}.md)".format)}

```{{toctree}}
:maxdepth: 1

{chr(10).join(PAPERS)}
```

## Printed against reproduced

![Printed numbers against ours on logarithmic axes.](ledger_numbers.svg)

Each point is a printed number. On the line, ours is equal; below it, smaller.

## Are the differences chance?

![Ordered z-scores against normal quantiles, a panel for each paper.](ledger_z.svg)

If a reproduction follows the paper's protocol, its $z$-scores are draws from N(0, 1) and lie on the line. Of
{len(compared)} compared numbers, {chance_beyond(len(compared)):.0f} are expected beyond $|z| = 2$ by chance;
there are {beyond}. The articles say, paper by paper, where the others come from.

## All rows

Write into the box to filter; press a heading to sort.

```{{raw}} html
<form class="ledger-filter" role="search">
<label>Search <input type="search" id="ledger-search" placeholder="table1 sonar AdaBoost"></label>
<label>Paper <select id="ledger-paper"><option value="">all</option>{_options(PAPERS)}</select></label>
<label>Verdict <select id="ledger-verdict"><option value="">all</option>{_options(VERDICTS)}</select></label>
<output id="ledger-count" aria-live="polite">{len(rows)} of {len(rows)} rows</output>
</form>
<div class="table-wrapper"><table id="ledger-table" class="ledger">
<thead><tr>{heads}</tr></thead>
<tbody>
{body}
{TABLE_END}
<script src="../_static/ledger.js" defer></script>
```
"""


def _options(names: Sequence[str]) -> str:
    return "".join(f"<option>{escape(name)}</option>" for name in names)


def _heads(*names: str) -> str:
    return "".join(
        f'<th scope="col" aria-sort="none"><button type="button">{name}</button></th>' for name in names
    )


def _full_row(row: LedgerRow, places: Places, statements: dict[str, str]) -> str:
    printed = row.printed + (f" ± {row.printed_spread}" if row.printed_spread else "")
    ours = row.ours + (f" ± {row.ours_spread}" if row.ours_spread else "")
    note = f"{statements[row.row]} {row.note}" if row.kind == "claim" else row.note
    cells = (row.row, row.column, printed, ours, row.runs, row.z)
    exhibit = _link(row.paper, row.row if row.kind == "claim" else row.exhibit, places, row.exhibit)
    verdict = f'<td class="{_css(row.verdict)}">{MARKS[row.verdict]} {row.verdict}</td>'
    middle = "".join(f"<td>{escape(text)}</td>" for text in cells)
    explained = f'<td class="note">{escape(note)}</td>'
    return f"<tr><td>{row.paper}</td><td>{exhibit}</td>{middle}{verdict}{explained}</tr>"


def _css(verdict: str) -> str:
    return f"v-{verdict.replace(' ', '-')}"


def paper_page(key: str, rows: Sequence[LedgerRow], places: Places, statements: dict[str, str]) -> str:
    """Return the page of a paper: each printed table beside ours, then its claims."""
    cells = [row for row in rows if row.kind == "cell"]
    claims = [row for row in rows if row.kind == "claim"]
    article = (
        f"[Read the article](../_notebooks/{key}.ipynb). " if places else "The article is still to come. "
    )
    parts = [f"# {key}: its numbers and its claims", article + READING_HELP]
    for exhibit in dict.fromkeys(row.exhibit for row in cells):
        parts += [f"## {exhibit}", _raw(_grid([row for row in cells if row.exhibit == exhibit], places))]
    parts += ["## Claims", _raw(_claims(claims, places, statements))]
    return "\n\n".join(parts) + "\n"


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


def _grid(rows: Sequence[LedgerRow], places: Places) -> str:
    by_place = {(row.row, row.column): row for row in rows}
    names, columns = (tuple(dict.fromkeys(place[i] for place in by_place)) for i in (0, 1))
    link = _link(rows[0].paper, rows[0].exhibit, places, rows[0].exhibit)
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(_grid_cell(by_place.get((name, column))) for column in columns) + "</tr>"
        for name in names
    )  # fmt: skip
    return f"{TABLE_START}<thead><tr><th>{link}</th>{head}</tr></thead>\n<tbody>\n{body}\n{TABLE_END}"


def _grid_cell(row: LedgerRow | None) -> str:
    if row is None:
        return "<td></td>"
    ours = escape(row.ours + (f" ± {row.ours_spread}" if row.ours_spread else "")) or "&ndash;"
    printed = escape(row.printed + (f" ± {row.printed_spread}" if row.printed_spread else ""))
    said = escape(f"{row.verdict}; z = {row.z or 'none'}; {row.note}", quote=True)
    inner = f"{ours} {MARKS[row.verdict]}<br><small>{printed}</small>"
    return f'<td class="{_css(row.verdict)}" title="{said}">{inner}</td>'


def _claims(rows: Sequence[LedgerRow], places: Places, statements: dict[str, str]) -> str:
    body = "\n".join(
        f"<tr><td>{_link(row.paper, row.row, places, row.row)}</td>"
        f'<td class="note">{escape(statements[row.row])}</td>'
        f'<td class="{_css(row.verdict)}">{MARKS[row.verdict]} {row.verdict}</td>'
        f'<td>{escape(row.ours)}</td><td class="note">{escape(row.note)}</td></tr>'
        for row in rows
    )
    names = ("claim", "the paper says", "verdict", "probability", "numbers")
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"{TABLE_START}<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n{TABLE_END}"
