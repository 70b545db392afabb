"""The 126 printed numbers of linli2005: tables I and II hold means and standard errors over 100 runs."""

from __future__ import annotations

from kernsemble.report.ledger import Reading
from kernsemble.trials.evidence import Sample
from kernsemble.trials.study import Study

reading = Reading("linli2005")


@reading.cells("table1", "table2", spread="standard error", runs=100)
def test_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Both tables read the same trials: the columns that they share are the same machines."""
    return study.evidence("table1").sample("error", dataset=row, method=column)
