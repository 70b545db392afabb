"""The 126 printed numbers of linli2005: tables I and II hold means and standard errors over 100 runs.

Both tables read the same trials: the columns that they share are the same machines.
"""

from __future__ import annotations

from kernsemble.report.ledger import Reading, Rule

reading = Reading(
    "linli2005",
    [Rule(("table1", "table2"), evidence="table1", metric="error", spread="standard error", runs=100)],
)
