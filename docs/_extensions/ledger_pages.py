"""Pages of the ledger: the score, every printed number in one filterable table, and a page for each paper.

Written before Sphinx collects its pages, from ``results/paper/ledger.*`` and the rendered notebooks.
A number leads to the place in the article that shows its exhibit, the mark of its verdict to what is said
about it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from ledger_places import Names, Places, cell_id, one_name, read_places
from pieces import by_places, heads, ours, printed, raw, rounded

from kernsemble.report.ledger import LedgerRow, read_ledger, read_standing, score_table
from kernsemble.report.ledger_figures import BEYOND, chance_beyond, compared_rows, scored_rows
from kernsemble.report.published import read_claims
from kernsemble.report.verdicts import Verdict
from kernsemble.trials.errors import PlanError
from kernsemble.trials.registry import load_paper
from kernsemble.trials.rooms import PAPERS

DRAWINGS = ("ledger_numbers.svg", "ledger_z.svg")
TABLE_START = '<div class="table-wrapper"><table class="ledger">'
TABLE_END = "</tbody></table></div>"
READING_HELP = """Each cell has our number, and below it the printed one; and where the printed numbers point
to another reading of the paper than the declared one, what that *best reading* gives. A number leads to the
place in the article that shows it, an arrow or a cross to what was tried and found about it.

- ✓ *match*: the difference is at most two standard errors. ↓ ↑ ours is lower or higher beyond that, neither
  of which is praise. ~ *too noisy to tell*: the standard error of the difference exceeds half of the printed
  number.
- 1 *the unit of its block*: seconds are compared as ratios to it, a match within a factor of two.
- ≁ *other task*: the paper does not say what it computed. ∅ *unavailable*: the data can no longer be
  obtained. *Stale* and … *pending* evidence has yet to be computed.
"""


def write_ledger_pages(root: Path, folder: Path) -> None:
    """Write ``index.md``, one page for each paper, and the drawings."""
    results = root / "results" / "paper"
    rows = sorted(read_ledger(results / "ledger.csv"), key=lambda row: PAPERS.index(row.paper))
    standing = read_standing(results / "ledger.json")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for drawing in DRAWINGS:
        shutil.copy2(results / drawing, folder)
    places = {key: read_places(root, key) for key in PAPERS}
    names = Names(root)
    statements = read_statements(root)
    _check_claims(rows, statements)
    index = index_page(rows, places, statements, standing, names)
    (folder / "index.md").write_text(index, encoding="utf-8")
    for key in PAPERS:
        own = [row for row in rows if row.paper == key]
        page = paper_page(own, places[key], statements, names)
        (folder / f"{key}.md").write_text(page, encoding="utf-8")


def read_statements(root: Path) -> dict[tuple[str, str], str]:
    """Return what each claim says, by its id, and each part of it, by id and name."""
    claims = read_claims(root / "published" / "claims.yaml")
    parts = {(claim.id, name): part.says for claim in claims for name, part in claim.parts.items()}
    return {(claim.id, ""): claim.statement for claim in claims} | parts


def _check_claims(rows: Sequence[LedgerRow], statements: Mapping[tuple[str, str], str]) -> None:
    """Refuse a ledger of other claims than those that are published."""
    judged = {(row.row, row.column) for row in rows if row.kind != "cell"}
    if others := sorted(judged ^ statements.keys()):
        raise PlanError(
            f"ledger.csv and claims.yaml differ: {' '.join(others[0]).strip()} is in one of them only. "
            "Write the ledger anew: python -m kernsemble ledger"
        )


def _link(address: str, text: str, name: str = "") -> str:
    """Return a link around text; the text alone without an address."""
    label = f' aria-label="{escape(name, quote=True)}"' if name else ""
    return f'<a href="{address}"{label}>{escape(text)}</a>' if address else escape(text)


def index_page(
    rows: Sequence[LedgerRow],
    places: Mapping[str, Places],
    statements: dict[tuple[str, str], str],
    standing: str = "",
    called: Names | None = None,
) -> str:
    """Return the page with the score, how its evidence stands, the drawings, and all rows."""
    scored = scored_rows(rows)
    facts = len(compared_rows(rows)) - len(scored)
    beyond = sum(abs(row.z) > BEYOND for row in scored)
    body = "\n".join(_full_row(row, places[row.paper], statements, called) for row in rows)
    buttons = _sorting("paper", "exhibit", "row", "column", "printed", "ours", "runs", "z", "verdict", "note")
    return f"""---
hide-toc: true
---

# The ledger

Every number that the five papers print, and every claim that they make, beside ours, with a verdict by a
rule that was fixed before. *z* is the difference divided by its standard error.

```{{raw}} html
<p class="doors"><a href="#all-rows">Search all rows</a> {" ".join(map(_door, PAPERS))}</p>
```

:::{{container}} score
{score_table(rows, link="[{0}]({0}.md)".format)}
:::

{standing}

```{{toctree}}
:hidden:
:maxdepth: 1

{chr(10).join(PAPERS)}
```

## Printed against reproduced

![Printed numbers against ours on logarithmic axes.](ledger_numbers.svg)

```{{raw}} html
<div id="ledger-scatter" class="ledger-plot"></div>
```

Each point is a printed number; on the right those between 1 and 100, most of them errors in percent. On the
line, ours is equal; below it, smaller. The filter of the table below holds here, too.

## Are the differences chance?

![Ordered z-scores against normal quantiles, a panel for each paper.](ledger_z.svg)

If a reproduction follows the paper's protocol, its *z*-scores are draws from N(0, 1) and lie on the line.
Of {len(scored)} numbers that vary from run to run, {chance_beyond(len(scored)):.0f} are expected beyond
|*z*| = 2 by chance; there are {beyond}. ({facts} more are ratios of seconds, or facts such as a set's size.)
The articles say, paper by paper, where the others come from.

## All rows

Type to filter, click a heading to sort; drag over the points, or type bounds of *z*, to keep the rows
between. The address of this page follows the filter, so that what is shown can be sent on. The whole table as
{_download("../ledger.csv", "CSV")}, its totals as {_download("../ledger.json", "JSON")}.

```{{raw}} html
<form class="ledger-filter" role="search">
<label>Search <input type="search" id="ledger-search" placeholder="Table I sonar AdaBoost"></label>
<label>Paper <select id="ledger-paper"><option value="">all</option>{_options(PAPERS)}</select></label>
<label>Verdict <select id="ledger-verdict"><option value="">all</option>{_options(Verdict)}</select></label>
<label><i>z</i> from <input type="number" step="any" id="ledger-from"></label>
<label>to <input type="number" step="any" id="ledger-to"></label>
<button type="reset">Show all</button>
<output id="ledger-count" aria-live="polite">{len(rows)} of {len(rows)} rows</output>
</form>
<div id="ledger-plot" class="ledger-plot"></div>
<div class="table-wrapper"><table id="ledger-table" class="ledger">
<thead><tr>{buttons}</tr></thead>
<tbody>
{body}
{TABLE_END}
<script src="../_static/ledger.js" defer></script>
<script src="../_static/ledger_plot.js" defer></script>
```
"""


def _door(key: str) -> str:
    return f'<a href="{key}.html">{key}</a>'


def _download(address: str, text: str) -> str:
    """Return a link to a file that lies beside the pages, which Sphinx does not look for."""
    return f'<a href="{address}" download>{escape(text)}</a>'


def _options(names: Sequence[str]) -> str:
    return "".join(f"<option>{escape(name)}</option>" for name in names)


def _sorting(*names: str) -> str:
    """Return the headings of columns as buttons that sort."""
    return "".join(
        f'<th scope="col" aria-sort="none"><button type="button">{name}</button></th>' for name in names
    )


def _full_row(
    row: LedgerRow, places: Places, statements: dict[tuple[str, str], str], called: Names | None
) -> str:
    note = row.note if row.kind == "cell" else f"{statements[row.row, row.column]} {row.note}"
    names = "".join(f"<td>{_breakable(text)}</td>" for text in (row.row, one_name(row.column)))
    numbers = (printed(row), ours(row), row.texts["runs"], row.texts["z"])
    exhibit = _link(places.exhibit(row), row.exhibit)
    middle = names + "".join(f"<td>{escape(text)}</td>" for text in numbers)
    explained = f'<td class="note">{escape(note)}</td>'
    also = escape(called.words(row), quote=True) if called else ""
    start = f'<tr id="{cell_id(row)}" data-also="{also}">'
    return f"{start}<td>{row.paper}</td><td>{exhibit}</td>{middle}{_verdict(row, places)}{explained}</tr>"


def _breakable(name: str) -> str:
    """Return a name that may break after its punctuation."""
    return re.sub(r"([/:_])", r"\1<wbr>", escape(name))


def _verdict(row: LedgerRow, places: Places) -> str:
    mark = "" if row.verdict.mark == row.verdict else f"{row.verdict.mark} "
    text = _link(places.reason(row), f"{mark}{row.verdict}")
    return f'<td class="v-{row.verdict.key}" data-verdict="{row.verdict}">{text}</td>'


def paper_page(
    rows: Sequence[LedgerRow], places: Places, statements: dict[tuple[str, str], str], called: Names
) -> str:
    """Return the page of a paper: each printed table beside ours, then its claims."""
    key = places.paper
    cells = [row for row in rows if row.kind == "cell"]
    claims = [row for row in rows if row.kind != "cell"]
    article = f"[Read the article](../_notebooks/{key}.ipynb). " if places.rendered else ""
    parts = ["---\nhide-toc: true\n---", f"# {key}: its numbers and its claims", article + READING_HELP]
    for exhibit in dict.fromkeys(row.exhibit for row in cells):
        own = [row for row in cells if row.exhibit == exhibit]
        file = f"../tables/{key}/printed_{exhibit}"
        parts += [f"## {called.title(key, exhibit)}", _legend(own, called), raw(_grid(own, places))]
        parts += [f"Download: {_download(f'{file}.csv', 'CSV')}, {_download(f'{file}.tex', 'LaTeX')}."]
        parts += [command_behind(key, exhibit)]
    parts += ["## Claims", raw(_claims(claims, places, statements))]
    return "\n\n".join(parts) + "\n"


def _legend(rows: Sequence[LedgerRow], called: Names) -> str:
    """Return the units of a table, and what its columns hold where their names do not say so."""
    first = rows[0]
    names = dict.fromkeys(name for row in rows for name in (row.column, row.row))
    spelt = [f"`{name}`: {called.column(name)}" for name in names if called.column(name)]
    unit = called.unit(first.paper, first.exhibit)
    return ". ".join(filter(None, (unit.capitalize(), "; ".join(spelt)))) + "." if unit or spelt else ""


def command_behind(key: str, exhibit: str) -> str:
    """Return the commands that compute the numbers of a table, and compare them with what is committed."""
    known = load_paper(key).exhibits
    chosen = f" --exhibit {exhibit}" if exhibit in known else ""
    return (
        f"Compute it: `python -m kernsemble reproduce {key}{chosen} --scale quick --no-notebook` runs a part "
        f"of the trials, `--scale paper` all of them; then `python -m kernsemble diff {key}`."
    )


def _grid(rows: Sequence[LedgerRow], places: Places) -> str:
    by_place, names, columns = by_places(rows)
    link = _link(places.exhibit(rows[0]), rows[0].exhibit)
    head = heads(map(one_name, columns))
    body = "\n".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(_grid_cell(by_place.get((name, column)), places) for column in columns) + "</tr>"
        for name in names
    )  # fmt: skip
    return f"{TABLE_START}<thead><tr><th>{link}</th>{head}</tr></thead>\n<tbody>\n{body}\n{TABLE_END}"


def _grid_cell(row: LedgerRow | None, places: Places) -> str:
    if row is None:
        return "<td></td>"
    said = escape(f"{row.verdict}; z = {row.texts['z'] or 'none'}; {row.note}", quote=True)
    shown = _link(places.exhibit(row), ours(row) or "–")
    mark = _link(places.reason(row), row.verdict.mark, f"{row.verdict}: why")
    inner = f"{shown} {mark}<br><small>{escape(printed(row))}</small>"
    if row.best_verdict:
        best = rounded(row.texts["best"], whole="." not in row.printed)
        best = f"best reading {best} {row.best_verdict.mark}".replace("  ", " ")
        inner += f'<br><small title="{escape(row.best_reading, quote=True)}">{escape(best)}</small>'
    return f'<td class="v-{row.verdict.key}" title="{said}">{inner}</td>'


def _claims(rows: Sequence[LedgerRow], places: Places, statements: dict[tuple[str, str], str]) -> str:
    """Return claims as a table, each above its parts with their rules."""
    body = "\n".join(
        f'<tr class="{row.kind}"><td>'
        f"{_link(places.exhibit(row), row.row) if row.kind == 'claim' else ''}</td>"
        f'<td class="note">{escape(statements[row.row, row.column])}</td>'
        f'<td class="note">{escape(row.note)}</td><td>{row.printed}</td><td>{row.texts["ours"]}</td>'
        f"{_verdict(row, places)}</tr>"
        for row in rows
    )
    names = ("claim", "the paper says", "rule and numbers", "printed", "ours", "verdict")
    start = TABLE_START.replace('"ledger"', '"ledger claims"')
    return f"{start}<thead><tr>{heads(names)}</tr></thead>\n<tbody>\n{body}\n{TABLE_END}"
