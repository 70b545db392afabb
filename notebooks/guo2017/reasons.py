"""Why printed numbers do not match ours: every cell belongs to one group, every group has its reason.

A reason names what was run and how far it moves the cells; where no cause was found it says so.
"""

from __future__ import annotations

from collections import Counter

from kernsemble.report.ledger import COMPARED, Verdict, judge_cell, load_reading
from kernsemble.report.published import PrintedCell
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.study import Study
from guo2017.charts import printed_cells

ODD_SETS = ("australian", "liver", "heart", "ionosphere")
VERDICTS = (*COMPARED, Verdict.NOT_COMPARABLE)

# Group -> reason, in the order of the table.
REASONS = {
    "ExRM, table 1, all sets but splice": (
        "22 of 28 match. The four of german are all about a point worse, which only more training rows would "
        "mend (exhibit means). On diabetes and sonar with p = 1 the printed stop decides: it halts the "
        "algorithm off the optimum, by up to 3 points of test error (exhibits halves, readings)."
    ),
    "ExRM, table 1, splice": (
        "Ours are better by 2 to 4 points. Of the readings tried only fewer training rows (100, not 150) and "
        "a lambda four times larger move splice up that far (exhibit means); the cause is not known."
    ),
    "DRM, table 1": (
        "Kernel, nu and mu are not printed. Kernel and nu move ionosphere from 8 to 17 %, splice from 19 to "
        "24 % and liver from 30 to 58 % (exhibit drm); no setting gives the printed 36 % on splice."
    ),
    "trees, four odd sets": (
        "Printed at or near guessing. None of eleven protocols gives these cells together with those of the "
        "other sets (exhibit trees); the cause is not known."
    ),
    "trees, other sets": (
        "Size of trees and options of the toolbox are not printed: stumps, ten splits and full trees differ "
        "by up to 14 points (exhibit trees), and most printed cells lie among them."
    ),
    "average ranks": (
        "They follow from the cells: with working trees the ranks of the trees fall by one to three places, "
        "and those of the others rise by one to two."
    ),
    "table 2": "Seconds of other hardware and another language; claim G6 judges ratios.",
    "table 3, ExRM and DRM": (
        "The printed entries exceed the means of table 1's own printed cells by 0.5 to 2.5 points. Fewer "
        "training rows are the only reading tried that moves ExRM as far (exhibit means): a hypothesis. "
        "Kernel and nu of DRM are not printed (exhibit drm)."
    ),
    "table 3, AdaSVM and BagSVM": (
        "Fewer training rows raise them as well. Boosting by resampling adds up to a point to AdaSVM, "
        "machines from the printed solver add half a point to AdaSVM and one to BagSVM (exhibit bases)."
    ),
}


def group_of(cell: PrintedCell) -> str:
    """Return the group of a printed cell."""
    if cell.exhibit == "table2":
        return "table 2"
    if cell.exhibit == "table3":
        return "table 3, AdaSVM and BagSVM" if "SVM" in cell.row else "table 3, ExRM and DRM"
    if cell.column == "A.R.":
        return "average ranks"
    if "Tree" in cell.row:
        return "trees, four odd sets" if cell.column in ODD_SETS else "trees, other sets"
    if "DRM" in cell.row:
        return "DRM, table 1"
    return f"ExRM, table 1, {'splice' if cell.column == 'splice' else 'all sets but splice'}"


def show_reasons(study: Study) -> Table:
    """Return for each group of printed cells how many got which verdict, and why they do not match."""
    reading = load_reading(study.module)
    counts: dict[str, Counter] = {name: Counter() for name in REASONS}
    for exhibit in ("table1", "table2", "table3"):
        for cell in printed_cells(study, exhibit):
            counts[group_of(cell)][judge_cell(cell, reading, study).verdict] += 1
    rows = [
        (
            Cell(name),
            Cell(str(count.total())),
            *(Cell(str(count[verdict] or "")) for verdict in VERDICTS),
            Cell(REASONS[name]),
        )
        for name, count in counts.items()
    ]
    header = ("printed cells", "number", *VERDICTS, "why not all match")
    table = Table(header, tuple(rows), f"{scale_note(study)}Verdicts of all 118 printed numbers.")
    save_table(study, table, "reasons")
    return table
