"""Race the solvers against what anyone would use instead, and write results/benchmarks.csv.

``python benchmarks`` runs every race but the longest (``LONG``), half an hour on two cores;
``python benchmarks stumps growth`` runs those that are named. Rows are written as they come, in place of the
old ones; to be rid of rows that no race has any more, delete the table first. Each file has one function,
``rows() -> Iterator[Row]``; a row's two times come from the same run, and ``same_answer`` says that both
sides solved the same problem. Run nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from time import perf_counter

import pandas as pd
from race import Row

HERE = Path(__file__).parent
TABLE = HERE.parent / "results" / "benchmarks.csv"
KEY = ["task", "size", "peer"]
COLUMNS = [*Row._fields[:-2], "met", *Row._fields[-2:]]
NOT_RACES = {"__main__", "race"}
LONG = {"growth", "lpboost"}  # files of 10^7 rows; linear programs for 50 times our time: run by name


def races() -> list[str]:
    """Return the names of the files that hold races."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_RACES)


def merge(new: Iterable[Row]) -> pd.DataFrame:
    """Return the table with the new rows in place of old ones of the same task, size and peer."""
    table = pd.DataFrame(new, columns=Row._fields)
    if TABLE.exists():
        table = pd.concat([read(), table]).drop_duplicates(KEY, keep="last")
    table["met"] = table.ratio >= table.target
    return table.sort_values(KEY, ignore_index=True)[COLUMNS]


def read() -> pd.DataFrame:
    """Return the table as it was written."""
    return pd.read_csv(TABLE, dtype={"note": str}).fillna({"note": ""})


def save(table: pd.DataFrame) -> None:
    """Write the table with four significant digits."""
    TABLE.parent.mkdir(exist_ok=True)
    table.to_csv(TABLE, index=False, float_format="%.4g")


def main(arguments: list[str]) -> int:
    """Run the races that are named, or all; 0 when every answer was the same, or a note says why not."""
    parser = argparse.ArgumentParser(
        prog="python benchmarks", description="Race the solvers against their peers."
    )
    parser.add_argument(
        "races", nargs="*", metavar="RACE",
        help=f"of {', '.join(races())} (default: all but {', '.join(sorted(LONG))})",
    )  # fmt: skip
    names = parser.parse_args(arguments).races or [name for name in races() if name not in LONG]
    if unknown := sorted(set(names) - set(races())):
        parser.error(f"no race {', '.join(unknown)}; there are {', '.join(races())}")
    for name in names:
        start = perf_counter()
        for row in import_module(name).rows():
            save(merge([row]))  # at once: a race that is stopped keeps what it has
            sys.stdout.write(
                f"{row.task}, {row.size}, against {row.peer}: {row.ratio:.3g} times (target {row.target:g})"
                f"{'' if row.same_answer else '  ANSWERS DIFFER'}\n"
            )
            sys.stdout.flush()
        sys.stdout.write(f"{name}: {perf_counter() - start:.0f} s\n")
    table = read()
    sys.stdout.write(f"{table.met.sum()} of {len(table)} targets reached: {TABLE.name}\n")
    unexplained = ~table.same_answer & (table.note == "")
    return int(unexplained.any())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
