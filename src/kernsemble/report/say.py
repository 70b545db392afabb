"""Sentences of an article, their numbers filled in from the evidence.

``say(study, "{L3.stumps} of 14 sets, at {table1.error[sonar, SVM-Perc]:.1f} %")`` knows six kinds of names:

- ``{L3.stumps}``: a fact that the check of a claim declares; also ``verdict`` and ``probability``, and
  of each part its number, ``stumps_verdict``, ``stumps_share`` (of resamples that keep its rule) and
  ``stumps_printed``;
- ``{rounds.longest}``: a fact of an exhibit;
- ``{runs.table1}``: how many runs of an exhibit the scale has, for captions;
- ``{cells.match}``, ``{claims.holds}``: how many of the study's have a verdict, by its key; ``all`` counts
  them; a number that is printed twice counts once;
- ``{table1.error[sonar, SVM-Perc]}``: the mean over runs of a metric, of a dataset and method; of a curve
  its ``{rounds.error[sonar, AB-Perc]@last}`` point, the ``first``, or that of a number (``@100``) in a list
  of the exhibit's parameters that is as long;
- ``{ours.table1[sonar, SVM-Perc]}``, with ``printed``, ``z`` or ``verdict`` likewise: a row of the ledger.

A name that does not exist is an error at every scale. What a scale does not run, or what is stale, is a dash,
and a line below the text says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

import numpy as np

from kernsemble.report.ledger import (
    Reading,
    count_verdicts,
    judge_cell,
    judge_cells,
    judge_claims,
    load_reading,
)
from kernsemble.report.published import own_cells, own_claims
from kernsemble.report.tables import scale_note
from kernsemble.report.verdicts import LATE, Verdict, of_claim
from kernsemble.trials.errors import PlanError
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study

MISSING = "—"
OF_THE_LEDGER = ("ours", "printed", "z", "verdict")
OF_A_CLAIM = ("verdict", "probability")
COUNTED = {"cells": judge_cells, "claims": judge_claims}
RUNS = "runs"
COUNTS = ("all", *(verdict.key for verdict in Verdict))
ENDS = {"first": 0, "last": -1}  # of a curve
_NAME = re.compile(r"(\w+)\.([\w-]+)(?:\[(.+?), (.+)\](?:@([\w.]+))?)?")


class Said(str):
    """Text that a notebook shows as Markdown."""

    __slots__ = ()
    _repr_markdown_ = __repr__ = str.__str__


def say(study: Study, text: str) -> Said:
    """Return Markdown with its numbers: names in braces (see the module), formats as in ``str.format``.

    Braces that are meant, as in formulas, are doubled.
    """
    facts = Facts(study)
    return Said("\n\n".join(filter(None, (facts.fill(text.strip()), facts.caveat()))))


class Facts:
    """The named numbers of a study, each computed when it is first asked for."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.reading = load_reading(study.module) or Reading(study.key)
        self.cells = {(c.exhibit, c.row, c.column): c for c in own_cells(study)}
        self.claims = {claim.id: claim for claim in own_claims(study)}
        self.missing: dict[str, None] = {}
        self._found: dict[str, Mapping[str, Any] | IncompleteEvidenceError] = {}

    def fill(self, text: str) -> str:
        """Return a text with its numbers; those that are not there are dashes."""
        parts = []
        for literal, name, form, _ in Formatter().parse(text):
            parts.append(literal)
            if name is not None:
                parts.append(self._shown(name, form))
        return "".join(parts)

    def caveat(self) -> str:
        """Say that the scale is a smaller one, and which of the evidence asked for so far is incomplete."""
        late = list(self.missing)
        more = f"; and {len(late) - 2} more" if late[2:] else ""
        told = f"{MISSING}, evidence incomplete: {'; '.join(late[:2])}{more}." if late else ""
        text = f"{scale_note(self.study)}{told}".strip()
        return f"*{text}*" if text else ""

    def _shown(self, name: str, form: str) -> str:
        try:
            value = self.value(name)
        except IncompleteEvidenceError as error:
            self.missing[str(error)] = None
            return MISSING
        if not form and isinstance(value, float) and value.is_integer():
            form = ".0f"  # a count
        try:
            return format(value, form)
        except (TypeError, ValueError) as error:
            raise PlanError(f"say: {{{name}:{form}}}: {error}") from None

    def value(self, name: str) -> Any:
        """Return what a name stands for; raise where it is unknown, or the evidence not complete."""
        match = _NAME.fullmatch(name)
        if not match:
            raise PlanError(f"say: {{{name}}} is no name: write WHERE.what or WHERE.what[row, column].")
        where, what, row, column, point = match.groups()
        if row is None:
            return self._runs(what) if where == RUNS else self._fact(where, what)
        if where in OF_THE_LEDGER:
            return self._of_the_ledger(where, what, row, column)
        return self._mean(where, what, row, column, point)

    def _fact(self, where: str, what: str) -> Any:
        own = self._of_claim(where) if where in self.reading.checks else COUNTS if where in COUNTED else ()
        known = own + self.reading.declared.get(where, ())
        if what not in known:
            raise unknown(f"{where}.{what}", known or list(self.reading.declared))
        if where not in self._found:
            self._found[where] = self._compute(where)
        found = self._found[where]
        if isinstance(found, IncompleteEvidenceError):
            raise found
        return found[what]

    def _runs(self, exhibit: str) -> int | str:
        """Return how many runs an exhibit has; the least and the largest number where its sets differ."""
        if exhibit not in self.study.exhibits:
            raise unknown(f"{RUNS}.{exhibit}", self.study.exhibits)
        selection = self.study.params.scales[self.study.scale].get(exhibit)
        if selection is None:
            raise IncompleteEvidenceError(f"{exhibit}: not run at this scale", stale=False)
        least, most = min(selection.runs.values()), max(selection.runs.values())
        return least if least == most else f"{least} to {most}"

    def _of_claim(self, claim_id: str) -> tuple[str, ...]:
        parts = self.claims[claim_id].parts
        return (*OF_A_CLAIM, *(fact for name in parts for fact in _of_part(name)))

    def _compute(self, where: str) -> Mapping[str, Any] | IncompleteEvidenceError:
        try:
            if where in COUNTED:
                return dict.fromkeys(COUNTS, 0) | count_verdicts(COUNTED[where](self.study))
            if where in self.reading.sources:
                return self._as_declared(where, self.reading.sources[where](self.study))
            finding = self.reading.checks[where](self.study)
        except IncompleteEvidenceError as error:
            return error
        verdicts = finding.verdicts(self.claims[where])
        own = {"verdict": of_claim(verdicts.values()).value, "probability": finding.probability}
        for name, part in self.claims[where].parts.items():
            answer = finding.holds[name]
            found = answer.value, verdicts[name].value, answer.share(part.rule), answer.printed
            own |= dict(zip(_of_part(name), found, strict=True))
        return {**own, **self._as_declared(where, finding.facts)}

    def _as_declared(self, where: str, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        if set(facts) != set(self.reading.declared[where]):
            raise PlanError(f"{where}: declares {self.reading.declared[where]}, computes {tuple(facts)}.")
        return facts

    def _of_the_ledger(self, what: str, exhibit: str, row: str, column: str) -> Any:
        if (exhibit, row, column) not in self.cells:
            raise unknown(f"{what}.{exhibit}[{row}, {column}]", sorted({place[0] for place in self.cells}))
        cell = self.cells[exhibit, row, column]
        if what == "printed":
            return cell.mean
        judged = judge_cell(cell, self.reading, self.study)
        if judged.verdict in LATE:
            raise IncompleteEvidenceError(f"{exhibit}: {row}, {column}: {judged.note}", stale=False)
        return {"ours": judged.ours, "z": judged.z, "verdict": judged.verdict.value}[what]

    def _mean(self, exhibit: str, metric: str, dataset: str, method: str, point: str | None) -> float:
        full = self.study.params.scales["paper"].get(exhibit)  # the scale that the text reads
        if full is None:
            raise unknown(exhibit, self.study.exhibits)
        for name, known in ((dataset, full.runs), (method, full.methods)):
            if name not in known:
                raise unknown(name, known)
        places = None if point is None else self._places(exhibit, point)
        evidence = self.study.evidence(exhibit)
        if places is None:
            return float(evidence.array(metric, [dataset], [method]).mean())
        curve = np.mean(evidence.runs(metric, dataset, method), axis=0)
        place = places.get(point, places.get(len(curve)))
        if place is None:
            raise PlanError(f"say: {exhibit}.{metric}: no list of {len(curve)} parameters has {point}.")
        return float(curve[place])

    def _places(self, exhibit: str, point: str) -> Mapping[str | int, int]:
        """Return where a point stands in the lists of parameters that have it, by their lengths."""
        if point in ENDS:
            return ENDS
        lists = [some for some in self.study.protocol(exhibit).values() if isinstance(some, list)]
        found = {len(some): some.index(float(point)) for some in lists if float(point) in some}
        if not found:
            raise unknown(f"{exhibit}@{point}", sorted({str(x) for some in lists for x in some}))
        return found


def _of_part(name: str) -> tuple[str, ...]:
    """Return the facts that every part of a claim has."""
    return name, f"{name}_verdict", f"{name}_share", f"{name}_printed"


def unknown(name: str, known: Any) -> PlanError:
    """Return the error for a name that is none."""
    return PlanError(f"say: there is no {{{name}}}; there are {', '.join(known) or 'none'}.")
