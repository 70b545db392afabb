"""Stale rows: what made them so, and the adoption of those that today's code would give again.

A row holds hashes only. What they stand for is written down in ``.cache/origins`` whenever rows are computed,
adopted or asked about, so that a later change can be named; of rows that are older than that, or come from
another machine, only the function is known.

The rows of an exhibit whose parameters and data are today's, and whose code is not, are taken in groups by
the code that stood for them last. `draw` says which rows of a group decide. They are computed by the ordinary
executor and saved beside the older rows as they arrive, so that an interrupted adoption goes on. Every row of
the group that is there twice is then compared. Are all equal, a line is added to ``results/adoptions.csv``;
one difference, and there is none. A difference between rows that are there already ends it before any work.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from kernsemble.data.schema import shown
from kernsemble.trials.arithmetic import provenance
from kernsemble.trials.errors import PlanError, duration
from kernsemble.trials.evidence import Evidence, Row, only_writer, write_atomically
from kernsemble.trials.identity import parts
from kernsemble.trials.plan import ExhibitPlan, Key, Stamp, code_of, params_hash
from kernsemble.trials.registry import TrialFunction
from kernsemble.trials.study import Study
from kernsemble.trials.verification import different_metrics
from kernsemble.trials.warrants import (
    SAME_BITS,
    SAME_BY_RULE,
    TRUSTED_SHARE,
    Adoption,
    Warrants,
    draw,
    format_adoptions,
    read_adoptions,
)

SHOWN = 6
REMEMBERED = 5  # codes for each trial function


class Origins:
    """What codes and hashes of parameters of one paper stood for."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._path: Path = study.root / ".cache" / "origins" / f"{study.key}.json"
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
            self.codes: dict[str, dict[str, str]] = dict(known["codes"])
            self.params: dict[str, dict[str, Any]] = dict(known["params"])
        except (OSError, ValueError, KeyError, TypeError):  # never written, or damaged
            self.codes, self.params = {}, {}

    def remember(self) -> None:
        """Write down what today's codes and parameters are; of very old ones nothing is kept."""
        study = self._study
        functions = [function for some in study.paper.functions.values() for function in some]
        for function in functions:
            code = code_of(function)
            self.codes[code] = self.codes.pop(code, None) or parts(function.function)
            values = study.params.values(function)
            for own in (function.of(label, values) for label in study.paper.datasets):
                self.params[params_hash(own)] = own
        most = REMEMBERED * len(functions)
        kept = {"codes": dict(list(self.codes.items())[-most:]), "params": self.params}
        write_atomically(self._path, json.dumps(kept).encode())

    def reasons(self, found: Evidence) -> Iterator[str]:
        """Yield a line for each group of stale rows of an exhibit: how many, by which function, and why."""
        alike: Counter[tuple[str, str, Stamp]] = Counter()
        for row in found.stale.values():
            alike[row.key.dataset, row.key.method, row.stamp] += 1
        warrants = self._study.warrants(found.plan.exhibit.name)
        groups: Counter[str] = Counter()
        for (label, method, then), count in alike.items():
            function, today = found.plan.functions[label, method], found.plan.stamp_of(label, method)
            changes = "; ".join(self._changes(label, function, then, today, warrants))
            groups[f"{function.name}: {changes}"] += count
        for told, count in groups.most_common():
            yield f"{count:,} by {told}"

    def _changes(
        self, label: str, function: TrialFunction, then: Stamp, today: Stamp, warrants: Warrants
    ) -> Iterator[str]:
        """Yield what is not as it was when a row was computed."""
        if warrants.path(then.code, today.code) is None:
            before = warrants.head(then.code)
            yield _changed_code(before, today.code, self.codes.get(before), function)
        elif then == today._replace(code=then.code):
            yield "its adoption was not earned"
        if then.params != today.params:
            own = function.of(label, self._study.params.values(function))
            yield _changed_params(then.params, today.params, self.params.get(then.params), own)
        if then.data != today.data:
            yield f"data of {label} {then.data} -> {today.data}"


def _changed_code(before: str, today: str, known: Mapping[str, str] | None, function: TrialFunction) -> str:
    said = f"code {before} -> {today}"
    if known is None:
        return said
    now = _parts(function.function)
    others = [name for name, digits in now.items() if digits not in set(known.values())]
    others += [name for name, digits in known.items() if digits not in set(now.values()) and name not in now]
    names = [name.removeprefix("kernsemble.") for name in others[:SHOWN]] or ["what uses what"]
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    return f"{said} ({', '.join(names)}{more})"


_parts = cache(parts)


def _changed_params(before: str, today: str, known: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str:
    if known is None:
        return f"parameters {before} -> {today}"
    names = sorted(name for name in {*known, *now} if known.get(name) != now.get(name))
    return ", ".join(f"{name} {shown(known.get(name))} -> {shown(now.get(name))}" for name in names)


NOTHING_LEFT = "no row is stale any more"


@dataclass(frozen=True)
class Group:
    """Rows of an exhibit, as they are, that one code stood for last and that another one computes today."""

    plan: ExhibitPlan
    source: str
    target: str
    older: Mapping[Key, Row]

    @property
    def functions(self) -> str:
        """Names of the trial functions."""
        cells = {(key.dataset, key.method) for key in self.older}
        return " ".join(sorted({self.plan.functions[cell].name for cell in cells}))

    @property
    def sample(self) -> list[Key]:
        """The rows that decide."""
        return draw({key: row.seconds for key, row in self.older.items()}, self.source, self.target)

    def computed(self, found: Evidence) -> dict[Key, Row]:
        """Return the rows of the group that today's code has computed."""
        return {
            key: found.current[key]
            for key in self.older
            if key in found.current and found.current[key].stamp == self.plan.stamps[key]
        }


@dataclass(frozen=True)
class Result:
    """What came of a group: the line that was added, or what stands against it."""

    group: Group
    line: Adoption | None = None
    differences: tuple[str, ...] = ()
    obstacle: str = ""


def groups_of(study: Study, exhibits: Sequence[str] | None = None) -> Iterator[Group]:
    """Yield the groups of rows that can be adopted, exhibit by exhibit: of all, or of those named."""
    for name in study.exhibits if exhibits is None else exhibits:
        if not study.plan(name).exhibit.is_timing:
            yield from _groups(study, study.read(name))


def _groups(study: Study, found: Evidence) -> Iterator[Group]:
    plan = found.plan
    for line, key in found.refused.items():
        raise PlanError(f"{study.adoptions_file}: take {line} out: {key} was drawn for it and not computed.")
    warrants = study.warrants(plan.exhibit.name)
    groups: dict[tuple[str, str], dict[Key, Row]] = {}
    for row in found.file.rows:
        today = plan.stamps.get(row.key)
        same_inputs = today is not None and row.stamp[1:] == today[1:]
        if not same_inputs or row.key in found.paths or warrants.path(row.stamp.code, today.code) is not None:
            continue
        groups.setdefault((warrants.head(row.stamp.code), today.code), {})[row.key] = row
    for (source, target), older in sorted(groups.items(), key=lambda item: -len(item[1])):
        if any(key in found.stale for key in older):
            yield Group(plan, source, target, older)


def adopt(study: Study, group: Group, *, equal_bits: bool = False) -> Result:
    """Compute what the draw asks for, compare, and write the line when all rows are equal.

    What is there is compared before anything is computed, and all of it afterwards.
    """
    name, commit = group.plan.exhibit.name, commit_of(study.root)
    for last in (False, True):
        found = study.read(name)
        computed = group.computed(found)
        late = [key for key in group.sample if key not in computed]
        if late and last:
            told = f"{len(late)} drawn rows could not be computed here, such as {late[0]}"
            return Result(group, obstacle=told)
        if differences := tuple(_differences(group, computed, equal_bits=equal_bits)):
            return Result(group, differences=differences)
        if not any(key in found.stale for key in group.older):
            return Result(group, obstacle=NOTHING_LEFT)
        if late:
            report = study.run([name], keys={*late})
            for job, error in report.failures.items():
                return Result(group, obstacle=f"{job} failed: {error.strip().splitlines()[-1]}")
    line, path = _line(study, group, computed, commit), study.adoptions_file
    with only_writer(path.parent):  # what is there must be sound, with the line too
        write_atomically(path, format_adoptions([*read_adoptions(path), line]))
    study.store(name).settle()
    return Result(group, line)


def _differences(group: Group, computed: Mapping[Key, Row], *, equal_bits: bool) -> Iterator[str]:
    """Say which rows differ: to the last digit where runs may part, else by the rule of ``verify``."""
    exhibit = group.plan.exhibit
    for key, row in sorted(computed.items()):
        older = group.older[key].metrics
        strictly = equal_bits or key.method in exhibit.parting
        exact = exhibit.metrics if strictly else exhibit.parting
        if told := different_metrics(exhibit, row.metrics, older, exact):
            yield f"{key}: {'; '.join(told.values())}"


def _line(study: Study, group: Group, computed: Mapping[Key, Row], commit: str) -> Adoption:
    metrics = group.plan.exhibit.metrics
    pairs = [
        (computed[key].metrics.get(name), group.older[key].metrics.get(name))
        for key in computed
        for name in metrics
    ]
    return Adoption(
        paper=study.key,
        exhibit=group.plan.exhibit.name,
        function=group.functions,
        source=group.source,
        target=group.target,
        kind=SAME_BITS if all(ours == theirs for ours, theirs in pairs) else SAME_BY_RULE,
        stale=len(group.older),
        run=len(computed),
        deviation=max((_deviation(*pair) for pair in pairs if pair[0] != pair[1]), default=0.0),
        commit=commit,
        lock=provenance().lock,
        date=date.today().isoformat(),
    )


def _deviation(ours: str, theirs: str) -> float:
    """Return the largest difference of two values, relative to what is larger than 1."""
    pairs = zip(map(float, ours.split()), map(float, theirs.split()), strict=True)
    return max(abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in pairs)


def commit_of(root: Path) -> str:
    """Return the commit whose code is adopted; empty without git. Code that may still change is refused."""
    commit, changed = head_of(root, "src", ":(glob)notebooks/**/*.py", "params.yaml")
    if changed:
        raise PlanError(f"The sample depends on the code: commit it before its rows are adopted.\n{changed}")
    return commit[:12]


def head_of(root: Path, *places: str) -> tuple[str, str]:
    """Return the commit that is checked out, and which files differ from it; nothing without git."""
    try:
        head, changed = (
            subprocess.check_output(["git", *words], cwd=root, text=True, stderr=subprocess.DEVNULL).strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--", *places))
        )
    except (OSError, subprocess.CalledProcessError):
        return "", ""
    return head, changed


def adopt_paper(
    study: Study,
    *,
    exhibits: Sequence[str] | None = None,
    dry_run: bool = False,
    equal_bits: bool = False,
) -> Iterator[tuple[str, bool]]:
    """Adopt what can be adopted of a paper; yield what is done or would be, and whether all is well."""
    total = 0.0
    for group in list(groups_of(study, exhibits)):
        computed = group.computed(study.read(group.plan.exhibit.name))
        seconds = sum(group.older[key].seconds for key in group.sample if key not in computed) / study.jobs
        total += seconds
        what = f"{group.functions}; {group.source} -> {group.target}"
        drawn = f"{len(group.sample):,} of {len(group.older):,} rows are drawn, about {duration(seconds)}"
        yield f"{study.key} {group.plan.exhibit.name} ({what}): {drawn}", True
        if not dry_run:
            yield from _tell_result(adopt(study, group, equal_bits=equal_bits))
    if not dry_run:
        Origins(study).remember()
    elif total:
        yield f"{study.key}: about {duration(total)} in all", True
    yield from _tell_others(study)


def _tell_result(result: Result) -> Iterator[tuple[str, bool]]:
    line = result.line
    if line is not None:
        how = f"{line.kind}, largest deviation {line.deviation:.2g}" if line.deviation else line.kind
        yield f"  adopted: {line.stale - line.run:,} rows ({how}; {line.run:,} computed again)", True
    elif result.obstacle:
        yield f"  NOT adopted: {result.obstacle}", result.obstacle == NOTHING_LEFT
    else:
        count = len(result.differences)
        yield f"  NOT adopted: {count:,} {'rows differ' if count > 1 else 'row differs'}", False
        yield from ((f"    DIFFERS {what}", False) for what in result.differences[:20])


def _tell_others(study: Study) -> Iterator[tuple[str, bool]]:
    """Say which rows stay stale whatever is computed again, and when too many may differ."""
    for name in study.exhibits:
        found = study.read(name)
        if found.stale and found.plan.exhibit.is_timing:
            yield f"{study.key} {name}: {len(found.stale):,} stale rows measure time: never adopted", True
        elif other := sum(row.stamp[1:] != found.plan.stamps[key][1:] for key, row in found.stale.items()):
            yield f"{study.key} {name}: {other:,} stale rows have other parameters or data: not adopted", True
    standing = study.standing
    yield f"{study.key}: {standing}", True
    if standing.may_differ > TRUSTED_SHARE:
        advice = f"python -m kernsemble reproduce {study.key} --scale paper --fresh"
        yield f"{study.key}: that is more than {TRUSTED_SHARE:.0%}; {advice} computes all rows again", True
