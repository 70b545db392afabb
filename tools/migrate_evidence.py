"""Write committed evidence in the form of today, and say for each trial function that its source is the same.

    python tools/migrate_evidence.py BASELINE [--date 2026-11-19] [--dry-run]

BASELINE is a checkout of the commit whose code computed the rows. There, a process computes the revision and
the parameters' hash that each trial function's rows carry, and the identity of the same source by today's
``experiments/identity.py``. Then, for each file of evidence under ``results/paper``,

- a row keeps its revision as its code; lock and arithmetic were not recorded;
- its parameters are hashed as today, by dataset, when their hash is that of the baseline's parameters and
  these are today's; other rows stay as they are, which is stale;
- ``results/adoptions.csv`` gets a line "same source" from the revision to the identity.

Nothing is computed. It may be run again: what has today's form is left alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import zlib
from collections import Counter
from datetime import date
from pathlib import Path

from kernsemble.evidence_file import Row, format_file, write_atomically
from kernsemble.experiments import identity
from kernsemble.experiments.params import params_hash
from kernsemble.experiments.plan import ExhibitPlan, Key, Stamp
from kernsemble.experiments.provenance import lock_digest
from kernsemble.experiments.registry import STUDIES
from kernsemble.experiments.warrants import SAME_SOURCE, Adoption, format_adoptions, read_adoptions
from kernsemble.staleness import Origins
from kernsemble.study import Study, find_root

OLD_TAIL = ("seconds", "revision", "params", "data", "check")

# Runs in the baseline: its own revisions and parameters, and identities by the module of today.
ASK = """
import importlib.util, json, os, sys
from pathlib import Path
from kernsemble.experiments.params import params_hash, read_params
from kernsemble.experiments.registry import load_paper
from kernsemble.experiments.revision import revision
root, file, keys = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
spec = importlib.util.spec_from_file_location("kernsemble.experiments.identity", file)
module = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
spec.loader.exec_module(module)
told = []
for key in keys:
    paper = load_paper(key)
    params = read_params(root / "params.yaml", paper)
    for exhibit, functions in paper.functions.items():
        for f in functions:
            try:
                identity = module.identity(f.function, named=f.together)
            except ValueError:  # code that looks at names was still allowed
                identity = module.identity(f.function, named=f.together, strict=False)
            hashed = params_hash(params.values(f))
            known = revision(f.function), identity, hashed, module.parts(f.function)
            told.append([key, exhibit, f.name, *known])
json.dump(told, sys.stdout)
"""


def main() -> int:
    """Migrate all studies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("baseline", type=Path)
    parser.add_argument("--date", default=date.today().isoformat())
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    root, baseline = find_root(), options.baseline.resolve()
    functions = ask(baseline)
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], cwd=baseline, capture_output=True, text=True, check=True
    ).stdout.strip()
    origin = commit, lock_digest(baseline / "requirements.lock"), options.date
    lines = list(read_adoptions(root / "results" / "adoptions.csv"))
    known = {(line.paper, line.exhibit, line.source, line.target) for line in lines}
    counts: Counter = Counter()
    for key in STUDIES:
        study = Study(key, "paper", root, compute=False)
        for name in study.exhibits:
            own = {f: rest for (k, e, f, *rest) in functions if (k, e) == (key, name)}
            rows = migrate(study, name, own, counts, write=not options.dry_run)
            for function, (revision, identity_, _, _) in own.items():
                if (key, name, revision, identity_) not in known:
                    stale = sum(row.stamp.code == revision for row in rows)
                    args = key, name, function, revision, identity_, SAME_SOURCE, stale, 0, 0.0, *origin
                    lines = add(lines, Adoption(*args))
    if not options.dry_run:
        write_atomically(root / "results" / "adoptions.csv", format_adoptions(lines))
    for what, count in counts.items():
        sys.stdout.write(f"{count:,} {what}\n")
    for key in () if options.dry_run else STUDIES:
        study = Study(key, "paper", root, compute=False)
        sys.stdout.write(f"{key}: {study.standing}\n")
        origins = Origins(study)  # so that `list --why` can name what has changed since
        origins.codes |= {code: parts for (k, _, _, _, code, _, parts) in functions if k == key}
        origins.remember()
    return 0


def ask(baseline: Path) -> list[list]:
    """Return study, exhibit, function, revision, identity, hash of parameters, and definitions of each."""
    arguments = [sys.executable, "-c", ASK, str(baseline), identity.__file__, *STUDIES]
    environment = {"PYTHONPATH": str(baseline / "src"), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(arguments, env=environment, cwd=baseline, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def add(lines: list[Adoption], line: Adoption) -> list[Adoption]:
    """Add a line; functions of an exhibit with the same code share one."""
    place = (line.paper, line.exhibit, line.source, line.target)
    for number, other in enumerate(lines):
        if (other.paper, other.exhibit, other.source, other.target) == place:
            names = sorted({*other.function.split(), line.function})
            return [
                *lines[:number],
                Adoption(*place[:2], " ".join(names), *place[2:], *tail(other)),
                *lines[number + 1 :],
            ]
    return [*lines, line]


def tail(line: Adoption) -> tuple:
    """Return what follows the codes in a line."""
    return line.kind, line.stale, line.run, line.deviation, line.commit, line.lock, line.date


def migrate(
    study: Study, name: str, functions: dict[str, list[str]], counts: Counter, *, write: bool
) -> list[Row]:
    """Write one file in the form of today; return its rows."""
    path, plan = study.path(name), study.plan[name]
    if not path.is_file():
        return []
    if not path.read_text(encoding="utf-8").split("\n")[0].endswith(",".join(OLD_TAIL)):
        return list(study.read(name).rows)
    whole = {f.name: params_hash(study.plan.params.values(f)) for f in study.plan.paper.functions[name]}
    rows = []
    for row in old_rows(path):
        counts["rows"] += 1
        function = plan.functions.get((row.key.dataset, row.key.method))
        known = functions.get(function.name) if function is not None else None
        if (
            known
            and (row.stamp.code, row.stamp.params) == (known[0], known[2])
            and known[2] == whole[function.name]
        ):
            row = in_todays_terms(row, plan)
        else:
            counts[f"rows of {study.key} {name} that were stale before"] += 1
        rows.append(row)
    if write:
        write_atomically(path, format_file(rows, plan.exhibit.columns))
    return rows


def in_todays_terms(row: Row, plan: ExhibitPlan) -> Row:
    """Return a row whose parameters are hashed as they are today."""
    today = plan.stamps.get(row.key)
    return row if today is None else row._replace(stamp=row.stamp._replace(params=today.params))


def old_rows(path: Path) -> list[Row]:
    """Read a file whose rows end with seconds, revision, params, data and a check of the row alone."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    metrics = next(csv.reader([header]))[3:-5]
    rows = []
    for line in lines:
        body, _, check = line.rpartition(",")
        if f"{zlib.crc32(body.encode()):08x}" != check:
            raise SystemExit(f"{path}: a line is damaged: {line[:60]}")
        dataset, method, trial, *values, seconds, revision, params, data = next(csv.reader([body]))
        named = {metric: text for metric, text in zip(metrics, values, strict=True) if text}
        rows.append(
            Row(Key(dataset, method, int(trial)), named, float(seconds), Stamp(revision, params, data))
        )
    return rows


if __name__ == "__main__":
    sys.exit(main())
