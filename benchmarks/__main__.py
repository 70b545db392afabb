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


def draw(table: pd.DataFrame) -> None:
    """Draw every ratio beside its target, on a logarithmic axis, as results/benchmarks.svg and .png."""
    from kernsemble.report.figures import subplots

    figure, axes = subplots(size=(11.0, 0.17 * len(table) + 1.0))
    rows = range(len(table))[::-1]
    reached = table.met
    axes.hlines(rows, 1, table.ratio, color="0.75", linewidth=1)
    for mask, color, label in ((reached, "C2", "target reached"), (~reached, "C1", "below its target")):
        axes.plot(
            table.ratio[mask], [r for r, m in zip(rows, mask, strict=True) if m], "o", c=color, label=label
        )
    axes.plot(table.target, rows, "|", color="black", markersize=9, label="target")
    axes.set(xscale="log", xlabel="peer's time / ours (larger is faster)")
    labels = [f"{t}, {s}; {p}" for t, s, p in zip(table.task, table["size"], table.peer, strict=True)]
    axes.set_yticks(rows, labels)
    axes.set_ylim(-1, len(table))
    axes.tick_params(axis="y", labelsize=6)
    axes.axvline(1, color="0.4", linewidth=0.8)
    axes.legend(loc="lower right", fontsize=7)
    for suffix in ("svg", "png"):
        figure.savefig(TABLE.with_suffix(f".{suffix}"), metadata={"Date": None} if suffix == "svg" else None)


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
    draw(table)
    sys.stdout.write(f"{table.met.sum()} of {len(table)} targets reached: {TABLE.name}\n")
    unexplained = ~table.same_answer & (table.note == "")
    return int(unexplained.any())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
