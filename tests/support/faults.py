"""How much the tests of faults and bad input try: a little in every run, all of it in `make test-faults`."""

import os
from collections.abc import Iterable

FULL = os.environ.get("KERNSEMBLE_FAULTS") == "full"
# The first of the seeds and problems that are tried: `make nightly` draws it by the date.
FIRST = int(os.environ.get("KERNSEMBLE_SEED") or 0)
SEEDS = range(FIRST, FIRST + (20 if FULL else 1))
EXAMPLES = 1000 if FULL else 60
PROBLEMS = 10_000 if FULL else 300


def merge_figures(before: dict, noted: Iterable[tuple], passed: set[str], failed: set[str]) -> dict:
    """Return what a file of figures says after a run: {"figures": [..], "failed": [..]}.

    ``noted`` has (test, section, what, tried, survived, detail). Figures of one name are added up over tests
    and replace those of an earlier run. Figures of tests that failed in that run are added to it instead, so
    that ``pytest --last-failed`` completes it; those of tests that were not run stay as they are.
    """
    open_then = set(before.get("failed", ()))
    merged = {(entry["section"], entry["what"]): entry for entry in before.get("figures", ())}
    now: dict[tuple[str, str], list[tuple]] = {}
    for test, section, what, *rest in noted:
        now.setdefault((section, what), []).append((test, *rest))
    for (section, what), notes in now.items():
        tests, tried, survived, details = zip(*notes, strict=True)
        old = merged.get((section, what)) if open_then.issuperset(tests) else None
        merged[section, what] = {
            "section": section,
            "what": what,
            "tried": sum(tried) + (old["tried"] if old else 0),
            "survived": sum(survived) + (old["survived"] if old else 0),
            "detail": details[0],
        }
    still = sorted((open_then - passed) | failed)
    return {"figures": [merged[name] for name in sorted(merged)], **({"failed": still} if still else {})}
