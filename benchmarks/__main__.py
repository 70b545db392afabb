"""Race the solvers against what anyone would use instead, and write results/benchmarks.csv.

``python benchmarks`` runs every race, ``python benchmarks stumps kernels`` some of them: their rows replace
the old ones. Each file has one function, ``rows() -> Iterator[Row]``; a row's two times come from the same
run, and ``same_answer`` says that both sides solved the same problem. Run nothing else meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from importlib import import_module
from itertools import chain
from pathlib import Path

import pandas as pd
from race import Row

HERE = Path(__file__).parent
TABLE = HERE.parent / "results" / "benchmarks.csv"
KEY = ["task", "size", "peer"]
COLUMNS = [*Row._fields[:-2], "met", *Row._fields[-2:]]
NOT_RACES = {"__main__", "race"}


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
    parser.add_argument("races", nargs="*", metavar="RACE", help=f"of {', '.join(races())} (default: all)")
    names = parser.parse_args(arguments).races or races()
    if unknown := sorted(set(names) - set(races())):
        parser.error(f"no race {', '.join(unknown)}; there are {', '.join(races())}")
    for row in chain.from_iterable(import_module(name).rows() for name in names):
        save(merge([row]))  # at once: a race that is stopped keeps what it has
        sys.stdout.write(
            f"{row.task}, {row.size}, against {row.peer}: {row.ratio:.3g} times (target {row.target:g})"
            f"{'' if row.same_answer else '  ANSWERS DIFFER'}\n"
        )
        sys.stdout.flush()
    table = read()
    sys.stdout.write(f"{table.met.sum()} of {len(table)} targets reached: {TABLE.name}\n")
    unexplained = ~table.same_answer & (table.note == "")
    return int(unexplained.any())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
