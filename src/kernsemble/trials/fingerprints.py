"""What the rows of a paper's evidence must come from, as files that DVC can depend on.

A file a paper, with a line for every trial function: the identity of its code, how many rows it has at paper
scale, and a digest of what these rows must carry (names, code, parameters, data). So DVC calls evidence out
of date exactly when a row is. The files are committed, and a commit shows which trial functions it reaches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernsemble.trials.evidence_file import write_atomically
from kernsemble.trials.plan import Job, Plan

FOLDER = Path("results", "fingerprints")


def fingerprint(plan: Plan) -> str:
    """Return the text of a paper's file: JSON, a line for each trial function."""
    functions: dict[str, list[Job]] = {}
    for exhibit in plan.exhibits.values():
        for job in exhibit.jobs():
            functions.setdefault(f"{job.exhibit}/{job.function}", []).append(job)
    lines = (f"{json.dumps(name)}: {json.dumps(_entry(jobs))}" for name, jobs in sorted(functions.items()))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _entry(jobs: Sequence[Job]) -> dict[str, str | int]:
    rows = sorted(repr((*key, *job.stamp)) for job in jobs for key in job.keys)
    digest = hashlib.sha256("\n".join(rows).encode()).hexdigest()[:10]
    return {"code": jobs[0].stamp.code, "rows": len(rows), "digest": digest}


def write_fingerprints(keys: Sequence[str], root: Path) -> Iterator[str]:
    """Write the files of some papers that are not as they should be, and yield the keys of these."""
    for plan in (Plan(key, "paper", root / "params.yaml") for key in keys):
        path, text = root / FOLDER / f"{plan.paper.key}.json", fingerprint(plan).encode()
        if not path.is_file() or path.read_bytes() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
            yield plan.paper.key
