"""What there is to do and how long it takes: trials done, stale, and an estimate of the time left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernsemble.trials.adoption import Origins
from kernsemble.trials.errors import duration
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.plan import Key
from kernsemble.trials.study import Study, find_root, number_of_jobs
from kernsemble.trials.warrants import Standing


def exhibit_lines(key: str, scale: str, jobs: int | None = None, *, why: bool = False) -> Iterator[str]:
    """Yield a heading for a paper and a line for each exhibit that the scale has, then how its rows stand.

    With ``why``, what made rows stale follows each exhibit.
    """
    n_jobs = number_of_jobs(jobs)
    study = Study(key, scale, find_root(), compute=False)
    whole = study if scale == "paper" else Study(key, "paper", study.root, compute=False)
    yield f"{study.key}: {study.title} ({scale} scale, {n_jobs} jobs)"
    width = max(map(len, study.exhibits), default=0)
    origins, standing = Origins(study), Standing()
    for name in study.exhibits:
        evidence = study.read(name)
        wanted = len(evidence.plan.stamps)
        if wanted:
            known = [evidence] if whole is study else [evidence, whole.read(name)]
            done = f"{len(evidence.current):>6} of {wanted:<6}"
            yield f"  {name:{width}}  {done} {_state(evidence, known, n_jobs)}"
            standing.merge(evidence.standing)
            if why:
                yield from (f"    {reason}" for reason in origins.reasons(evidence))
    yield f"  {standing}"
    if why:
        origins.remember()


def _state(evidence: Evidence, known: list[Evidence], n_jobs: int) -> str:
    parts = [f"{len(evidence.stale)} stale"] if evidence.stale else []
    if evidence.damaged:
        parts.append(f"{len(evidence.damaged)} damaged lines")
    if evidence.contradicted:
        parts.append(f"{len(evidence.contradicted)} twice with other numbers")
    if evidence.refused:
        parts.append(f"{len(evidence.refused)} adoptions refused")
    if evidence.missing:
        left = seconds_left(evidence, known)
        processes = 1 if evidence.plan.exhibit.alone else n_jobs
        parts.append("time left unknown" if left is None else f"about {duration(left / processes)} left")
    return ", ".join(parts) or "complete"


def seconds_left(evidence: Evidence, known: list[Evidence]) -> float | None:
    """Estimate the seconds of missing rows from rows of the same cell, else method, else any."""
    by_cell: dict[tuple[str, ...], list[float]] = {}
    for row in (row for source in known for row in source.rows):
        for name in _scopes(row.key):
            by_cell.setdefault(name, []).append(row.seconds)
    if not by_cell:
        return None
    means = {name: float(np.mean(seconds)) for name, seconds in by_cell.items()}
    return sum(next(means[name] for name in _scopes(key) if name in means) for key in evidence.missing)


def _scopes(key: Key) -> list[tuple[str, ...]]:
    return [(key.dataset, key.method), (key.method,), ()]
