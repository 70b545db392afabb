"""What made rows stale: the code of which function, and what in it, which parameters, the data of which set.

A row holds hashes only. What they stand for is written down in ``.cache/origins`` whenever rows are computed,
adopted or asked about, so that a later change can be named; of rows that are older than that, or come from
another machine, only the function is known.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kernsemble.trials.errors import shown
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.evidence_file import write_atomically
from kernsemble.trials.identity import parts
from kernsemble.trials.params import params_hash
from kernsemble.trials.plan import Stamp, code_of
from kernsemble.trials.registry import TrialFunction
from kernsemble.trials.study import Study
from kernsemble.trials.warrants import Warrants

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
        plan = self._study.plan
        functions = [function for some in plan.paper.functions.values() for function in some]
        for function in functions:
            code = code_of(function)
            self.codes[code] = self.codes.pop(code, None) or parts(function.function)
            values = plan.params.values(function)
            for own in (function.of(label, values) for label in plan.paper.datasets):
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
            own = function.of(label, self._study.plan.params.values(function))
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
