"""The checks of the tables' claims, applied to the numbers that the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kernsemble.report.ledger import DECIDED
from kernsemble.report.published import PrintedCell, read_cells
from kernsemble.report.tables import Cell, Table, save_table
from kernsemble.trials.study import Study
from shen2014.claims import (
    FOURIER,
    PERCEPTRON,
    TABLE1,
    marginally_best,
    mean_ranks,
    statements_of_table2,
)
from shen2014.trials import IDA_SETS, UCI_SETS, VISION_SETS

_COMPARABLE = tuple(row for row in IDA_SETS if row != "f-solar")
_PRINTED_VISION = ("MNIST", "USPS", "PASCAL07", "LabelMe", "CIFAR10", "Scene15", "SUN")
_CLASSES = ("AdaBoost.ECC", "AdaBoost.MH", "MultiBoost", "CGENS-SLS")


def show_on_print(study: Study) -> Table:
    """Return what the checks of S2, S3 and S5 (errors only) say of the printed means."""
    stumps = printed_errors(study, "table1", _COMPARABLE, TABLE1)
    pools = printed_errors(study, "table2", _COMPARABLE, (*PERCEPTRON, *FOURIER))
    groups = {"all sets": (UCI_SETS, _PRINTED_VISION), "sets that can be had": (UCI_SETS, VISION_SETS)}
    rows = [
        _row("S2", "table I, 12 sets", TABLE1, stumps, marginally_best(stumps[None])),
        _row(
            "S3",
            "table II, 12 sets",
            (*PERCEPTRON, *FOURIER),
            pools,
            all(statements_of_table2(pools[None])),
        ),
    ]
    for name, (uci, vision) in groups.items():
        everything, pictures = (
            printed_errors(study, "table3", g, _CLASSES) for g in ((*uci, *vision), vision)
        )
        best = all(_is_last_best(mean_ranks(errors)) for errors in (everything, pictures))
        rows.append(_row("S5", f"table III, {name}", _CLASSES, everything, best))
        rows.append(_row("", f"of them, {len(vision)} vision sets", _CLASSES, pictures, None))
    header = ("claim", "printed in", "mean error (mean rank) as printed", "its check")
    table = Table(
        header, tuple(rows), "Flare-solar is left out, as in the checks; equal errors share a rank."
    )
    save_table(study, table, "on_print")
    return table


def printed_errors(study: Study, exhibit: str, rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """Return printed means, sets by methods."""
    printed = printed_cells(study.root)
    return np.array([[printed[exhibit, row, column].value for column in columns] for row in rows])


@cache
def printed_cells(root: Path) -> dict[tuple[str, str, str], PrintedCell]:
    """Return the paper's printed numbers by exhibit, row and column; they are read once."""
    cells = read_cells(root / "published" / "published.csv", papers=None)
    return {(c.exhibit, c.row, c.column): c for c in cells if c.paper == "shen2014"}


def _is_last_best(ranks: np.ndarray) -> bool:
    return bool(np.isclose(ranks[-1], ranks.min()))


def _row(claim: str, place: str, methods: Sequence[str], errors: np.ndarray, holds: bool | None) -> tuple:
    numbers = ", ".join(
        f"{name} {mean:.2f} ({rank:.2f})"
        for name, mean, rank in zip(methods, errors.mean(axis=0), mean_ranks(errors), strict=True)
    )
    verdict = None if holds is None else DECIDED[not holds]
    mark = f"{verdict.mark} {verdict}" if verdict else ""
    return Cell(claim), Cell(place), Cell(numbers), Cell(mark)
