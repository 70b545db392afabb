"""What can be taken away from the site: every printed table as CSV and LaTeX, figures, the ledger."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path

from pieces import by_places, ours, printed

from kernsemble.report.ledger import LedgerRow, read_ledger
from kernsemble.report.tables import Cell, Table
from kernsemble.trials.rooms import STUDIES

COLUMNS = (
    "row", "column", "printed", "printed_spread", "ours", "ours_spread", "runs", "z", "verdict", "note",
)  # fmt: skip


def write_exports(root: Path, folder: Path) -> None:
    """Write ``tables/KEY/*.csv`` and ``*.tex`` of all printed tables, and copy ledger, figures and tables."""
    shutil.rmtree(folder, ignore_errors=True)
    results = root / "results"
    for name in STUDIES:
        for kind in ("figures", "tables"):
            source = results / "paper" / name / kind
            if source.is_dir():
                shutil.copytree(source, folder / kind / name)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for picture in (*results.glob("*.svg"), *results.glob("paper/*.svg")):
        shutil.copy2(picture, folder / "figures")
    for name in ("ledger.csv", "ledger.json"):
        shutil.copy2(results / "paper" / name, folder)
    rows = [row for row in read_ledger(folder / "ledger.csv") if row.kind == "cell"]
    for key, exhibit in dict.fromkeys((row.paper, row.exhibit) for row in rows):
        chosen = [row for row in rows if (row.paper, row.exhibit) == (key, exhibit)]
        export_exhibit(chosen, folder / "tables" / key / f"printed_{exhibit}")


def export_exhibit(rows: Sequence[LedgerRow], path: Path) -> None:
    """Write the printed numbers of an exhibit beside ours, a row each as CSV, as printed as LaTeX."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([row.texts[name] for name in COLUMNS] for row in rows)
    path.with_suffix(".tex").write_text(exhibit_table(rows).to_latex(), encoding="utf-8")


def exhibit_table(rows: Sequence[LedgerRow]) -> Table:
    """Return an exhibit in its printed form: our number as the ledger has it, and the printed one."""
    by_place, names, columns = by_places(rows)
    body = tuple((Cell(name), *(_cell(by_place.get((name, column))) for column in columns)) for name in names)
    caption = f"{rows[0].paper}, {rows[0].exhibit}: ours, and in brackets what the paper prints."
    return Table((rows[0].exhibit, *columns), body, caption)


def _cell(row: LedgerRow | None) -> Cell:
    if row is None:
        return Cell("")
    return Cell(ours(row), printed(row), row.verdict.mark)
