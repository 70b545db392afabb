"""Compute the oldest adopted rows again, and compare: does the code of today still give them?

A row is as old as the first adoption that it counts by. Of all adopted rows, the oldest percent is computed
anew, among equally old ones others every day (a hash with the date decides). Nothing is written: rows are
compared with those that are committed, by the rule of `verify`. The status is 1 when one differs or fails;
runs that part where last digits do are only told.

Usage: python tools/audit_evidence.py [KEY ...] [--share 0.01] [--day 2030-01-31] [--jobs N] [--dry-run]
"""

from __future__ import annotations

import argparse
import hashlib
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from kernsemble.trials.errors import duration, progress_bar
from kernsemble.trials.evidence import Row
from kernsemble.trials.executor import execute, process_pool, stop_pools
from kernsemble.trials.plan import ExhibitPlan, Key
from kernsemble.trials.registry import available_papers
from kernsemble.trials.study import Study, find_root, number_of_jobs
from kernsemble.trials.verification import different_metrics


@dataclass(frozen=True)
class Adopted:
    """A row that counts because of adoptions, the first of them on a day."""

    study: Study
    plan: ExhibitPlan
    row: Row
    since: str

    @property
    def name(self) -> str:
        """Paper, exhibit and key."""
        return f"{self.study.key} {self.plan.exhibit.name} / {self.row.key}"

    def lot(self, day: str) -> bytes:
        """Return what decides among equally old rows on a day."""
        return hashlib.sha256(f"{day} {self.name}".encode()).digest()


def adopted_rows(study: Study) -> list[Adopted]:
    """Return the adopted rows of a paper whose data are here."""
    found = []
    for name in study.exhibits:
        evidence = study.read(name)
        found += [
            Adopted(study, evidence.plan, evidence.current[key], path[0].date)
            for key, path in evidence.paths.items()
            if not evidence.plan.exhibit.is_timing and key.dataset not in evidence.plan.absent
        ]
    return found


def oldest(rows: Sequence[Adopted], share: float, day: str) -> list[Adopted]:
    """Return a share of some rows, at least one: the oldest, among equally old ones those of the day."""
    count = math.ceil(share * len(rows))
    return sorted(rows, key=lambda row: (row.since, row.lot(day)))[:count]


def compute(chosen: Sequence[Adopted], jobs: int) -> tuple[dict[tuple[str, Key], Row], list[str]]:
    """Compute rows anew; return them by exhibit and key, and what failed."""
    plans = {row.plan.exhibit.name: row.plan for row in chosen}
    computed: dict[tuple[str, Key], Row] = {}
    failed = []
    with progress_bar(len(chosen), f"{chosen[0].study.key} audit") as bar:
        for name, plan in plans.items():
            wanted = [row.row.key for row in chosen if row.plan is plan]
            report = execute(
                plan.jobs(wanted),
                process_pool(jobs),
                lambda done, name=name: computed.update({(name, r.key): r for o in done for r in o.rows}),
                bar.update,
            )
            failed += [f"{job}: {error.strip().splitlines()[-1]}" for job, error in report.failures.items()]
    return computed, failed


def audit(chosen: Sequence[Adopted], jobs: int) -> tuple[list[str], bool]:
    """Compute rows of one paper and compare; return what is to say, and whether all is well."""
    computed, failed = compute(chosen, jobs)
    lines, well, equal = [f"  FAILED {text}" for text in failed], not failed, 0
    for row in chosen:
        exhibit, key = row.plan.exhibit, row.row.key
        anew = computed.get((exhibit.name, key))
        if anew is None:
            continue
        told = different_metrics(exhibit, anew.metrics, row.row.metrics)
        if not told:
            equal += 1
        elif key.method in exhibit.parting or told.keys() <= set(exhibit.parting):
            lines.append(f"  differs by rounding: {row.name}: {'; '.join(told.values())}")
        else:
            well = False
            lines.append(f"  DIFFERS {row.name} (since {row.since}): {'; '.join(told.values())}")
    return [
        f"{chosen[0].study.key}: {equal} of {len(chosen)} oldest adopted rows are given again",
        *lines,
    ], well


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit some papers, or all, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("papers", nargs="*", metavar="KEY")
    parser.add_argument("--share", type=float, default=0.01, help="of all adopted rows (default: 0.01)")
    parser.add_argument("--day", default=date.today().isoformat(), help="which draw (default: today's)")
    parser.add_argument("--jobs", type=int, metavar="N")
    parser.add_argument("--dry-run", action="store_true", help="say what would be computed, and how long")
    options = parser.parse_args(arguments)
    jobs, root = number_of_jobs(options.jobs), find_root()
    studies = [Study(key, "paper", root, compute=False) for key in options.papers or available_papers()]
    rows = [row for study in studies for row in adopted_rows(study)]
    chosen = oldest(rows, options.share, options.day)
    seconds = sum(row.row.seconds for row in chosen) / jobs
    print(f"{len(chosen)} of {len(rows):,} adopted rows, draw of {options.day}: about {duration(seconds)}")
    all_well = True
    for study in studies:
        own = [row for row in chosen if row.study is study]
        if own and not options.dry_run:
            lines, well = audit(own, jobs)
            print("\n".join(lines), flush=True)
            all_well &= well
    stop_pools()
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
