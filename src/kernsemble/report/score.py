"""The score: the ledger's totals as a table in Markdown, for the site and for README.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kernsemble.report.ledger import COMPARED, DECIDED, LedgerRow, Verdict
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import write_atomically
from kernsemble.trials.rooms import PAPERS

APART = tuple(verdict for verdict in Verdict if verdict not in (*COMPARED, *DECIDED))
BEGIN, END = "<!-- score: written by python -m kernsemble ledger -->", "<!-- end of score -->"


def score_table(rows: Sequence[LedgerRow], link: Callable[[str], str] = "`{}`".format) -> str:
    """Return the totals of each paper and of all as a table in Markdown.

    Parameters
    ----------
    rows : sequence of LedgerRow
    link : callable, optional
        How the key of a paper is shown.
    """
    verdicts = (*COMPARED, *APART)
    lines = [
        f"| paper | printed | {' | '.join(verdicts)} | claims | hold | fail | open |",
        "|---|" + "---:|" * (len(verdicts) + 5),
    ]
    for key in (*PAPERS, None):
        own = [row for row in rows if key in (None, row.paper)]
        cells = [row.verdict for row in own if row.kind == "cell"]
        claims = [row.verdict for row in own if row.kind == "claim"]
        decided = list(map(claims.count, DECIDED))
        numbers = [len(cells), *map(cells.count, verdicts), len(claims), *decided, len(claims) - sum(decided)]
        lines.append(f"| {link(key) if key else '**all**'} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


def update_readme(rows: Sequence[LedgerRow], path: Path, standing: str = "", *, write: bool = True) -> bool:
    """Put the score between its marks in README.md, and below it how the rows behind it stand.

    Return whether that changes the file, or would.
    """
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise PlanError(f"{path}: expected one pair of marks {BEGIN!r} and {END!r}.")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    score = "\n\n".join(filter(None, (score_table(rows), standing)))
    updated = f"{before}{BEGIN}\n\n{score}\n\n{END}{after}"
    if updated != text and write:
        write_atomically(path, updated.encode())
    return updated != text
