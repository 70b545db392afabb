"""The plan of a paper: what ``params.yaml`` asks for, which trials that makes, and their stamps of today.

A section of ``params.yaml`` holds ``protocol`` (what trials receive, the same at every scale), ``choices``
(what the paper leaves open, each with its reason), and the scales ``paper``, ``quick`` and ``smoke``, which
only select trials. It is checked against what the paper declares before anything runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from kernsemble.data.base import DatasetDamaged, DatasetUnavailable
from kernsemble.data.large import find_large, other_digest
from kernsemble.data.schema import Text, convert, listed, mapping, matching, record, refuse_unknown, shown
from kernsemble.data.sources import get_source
from kernsemble.data.store import core_path, repair_command
from kernsemble.data.strict_yaml import read_yaml_file
from kernsemble.trials.errors import PlanError, as_plan_error, read_once
from kernsemble.trials.identity import identity
from kernsemble.trials.registry import Exhibit, Paper, TrialFunction

SCALES = ("paper", "quick", "smoke")


Moment = Annotated[
    str,
    matching(
        r"((before|after) the numbers, \d{4}-\d\d-\d\d \d\d:\d\d)?",
        "'before' or 'after the numbers', date and time",
    ),
]


@dataclass(frozen=True)
class Choice:
    """A detail that the paper leaves open: what was chosen, why (in words), when, and what else was tried."""

    value: Any
    reason: Text
    explored: tuple[Any, ...] = ()
    chosen: Moment = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", " ".join(self.reason.split()))


@dataclass(frozen=True)
class Selection:
    """Which trials of an exhibit a scale runs: number of runs by dataset, and the methods."""

    runs: Mapping[str, int]
    methods: tuple[str, ...]

    def covers(self, other: Selection) -> bool:
        """Whether every trial of the other selection is one of this one."""
        fewer = all(other.runs[label] <= self.runs.get(label, 0) for label in other.runs)
        return fewer and set(other.methods) <= set(self.methods)


@dataclass(frozen=True)
class PaperParams:
    """The checked section of one paper."""

    protocol: Mapping[str, Mapping[str, Any]]
    choices: Mapping[str, Choice]
    scales: Mapping[str, Mapping[str, Selection]]

    def values(self, function: TrialFunction) -> dict[str, Any]:
        """Return the parameters that a trial function takes, converted to the types it declares."""
        available = self.available(function.exhibit)
        return {
            name: convert(available[name], hint, name)
            for name, hint in function.parameters.items()
            if name in available
        }

    def available(self, exhibit: str) -> dict[str, Any]:
        """Return all parameters that trials of an exhibit may take."""
        chosen = {name: choice.value for name, choice in self.choices.items()}
        return chosen | dict(self.protocol.get("shared", {})) | dict(self.protocol.get(exhibit, {}))


def params_hash(values: Mapping[str, Any]) -> str:
    """Return eight hexadecimal digits that change when a parameter does."""
    text = json.dumps(values, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read_params(path: Path, paper: Paper) -> PaperParams:
    """Return the checked section of a paper; raise ``PlanError`` with the offending key otherwise."""
    document = _document(path)
    if paper.key not in document:
        raise PlanError(f"{path} has no section {paper.key!r}; it has {listed(document)}.")
    return check_section(document[paper.key], paper)


@read_once
@as_plan_error()
def _document(path: Path) -> dict[str, Any]:
    return mapping(read_yaml_file(path), str(path))


@as_plan_error()
def check_section(section: Any, paper: Paper) -> PaperParams:
    """Check one paper's section."""
    params = _read_section(section, paper)
    _check_parameters(params, paper)
    _check_subsets(params, paper)
    return params


def _read_section(section: Any, paper: Paper) -> PaperParams:
    key, exhibits = paper.key, tuple(paper.exhibits)
    section = mapping(section, key, ("protocol", "choices", *SCALES))
    if missing := [scale for scale in SCALES if scale not in section]:
        raise PlanError(f"{key}: no {missing[0]!r}; needed are {', '.join(SCALES)}.")
    choices = mapping(section.get("choices") or {}, f"{key}.choices")
    protocol = mapping(section.get("protocol") or {}, f"{key}.protocol", ("shared", *exhibits))
    scales = {scale: mapping(section[scale] or {}, f"{key}.{scale}", exhibits) for scale in SCALES}
    return PaperParams(
        {name: mapping(values or {}, f"{key}.protocol.{name}") for name, values in protocol.items()},
        {name: record(entry, Choice, f"{key}.choices.{name}") for name, entry in choices.items()},
        {
            scale: {
                name: _selection(entry, paper, name, f"{key}.{scale}.{name}") for name, entry in own.items()
            }
            for scale, own in scales.items()
        },
    )


def _selection(entry: Any, paper: Paper, exhibit: str, where: str) -> Selection:
    entry = mapping(entry, where, ("datasets", "methods", "runs"))
    served = [f.datasets or tuple(paper.datasets) for f in paper.functions[exhibit]]
    labels = tuple(label for label in paper.datasets if any(label in some for some in served))
    datasets = _names(entry.get("datasets", "all"), labels, f"{where}.datasets")
    methods = _names(entry.get("methods", "all"), paper.methods(exhibit), f"{where}.methods")
    return Selection(_runs(entry.get("runs"), datasets, f"{where}.runs"), methods)


def _names(value: Any, allowed: tuple[str, ...], where: str) -> tuple[str, ...]:
    """Return the chosen names, in the paper's order."""
    if value == "all":
        return allowed
    if not isinstance(value, list) or not value:
        raise PlanError(f"{where}: expected 'all' or a list of names, found {shown(value)}.")
    for name in value:
        if name not in allowed:
            raise PlanError(f"{where}: unknown {shown(name)}; allowed are {listed(allowed)}.")
    return tuple(name for name in allowed if name in value)


def _runs(value: Any, datasets: tuple[str, ...], where: str) -> dict[str, int]:
    by_dataset = value if isinstance(value, dict) else {"default": value}
    refuse_unknown(by_dataset, ("default", *datasets), where)
    runs = {label: by_dataset.get(label, by_dataset.get("default")) for label in datasets}
    for label, number in runs.items():
        if type(number) is not int or not 0 < number <= 10**6:
            raise PlanError(
                f"{where}: expected a number of runs for {shown(label)} (1, 2, ..), found {shown(number)}."
            )
    return runs


def _check_parameters(params: PaperParams, paper: Paper) -> None:
    """Every parameter is taken by some trial, is there when one needs it, and has the declared type."""
    taken = {
        name: {p for f in functions for p in f.parameters} for name, functions in paper.functions.items()
    }
    everywhere = set().union(*taken.values())
    for section, values in params.protocol.items():
        allowed = everywhere if section == "shared" else taken[section]
        refuse_unknown(values, sorted(allowed), f"{paper.key}.protocol.{section}")
        if twice := set(values) & set(params.choices):
            raise PlanError(f"{paper.key}.protocol.{section}: {sorted(twice)} are named choices already.")
    refuse_unknown(params.choices, sorted(everywhere), f"{paper.key}.choices")
    refuse_unknown(paper.only, sorted(everywhere), f"{paper.key}: parameters that concern some labels only")
    _check_sense(params, paper)
    for exhibit, functions in paper.functions.items():
        available = params.available(exhibit)
        for function in functions:
            if missing := sorted(function.required - set(available)):
                raise PlanError(
                    f"{paper.key}.protocol.{exhibit}: no {missing[0]!r}, which {function.name!r} takes."
                )
            for name in set(function.parameters) & set(available):
                convert(available[name], function.parameters[name], _where(params, paper, exhibit, name))


def _where(params: PaperParams, paper: Paper, exhibit: str, name: str) -> str:
    """Say where the value stands that trials of an exhibit take for a parameter."""
    section = next((s for s in (exhibit, "shared") if name in params.protocol.get(s, {})), None)
    return f"{paper.key}.protocol.{section}.{name}" if section else f"{paper.key}.choices.{name}.value"


def _check_sense(params: PaperParams, paper: Paper) -> None:
    """Refuse what no parameter may be: see `check_sense`; a choice in words is one of those explored."""
    for section, values in params.protocol.items():
        for name, value in values.items():
            check_sense(name, value, f"{paper.key}.protocol.{section}.{name}")
    for name, choice in params.choices.items():
        where = f"{paper.key}.choices.{name}.value"
        check_sense(name, choice.value, where)
        words = [word for word in choice.explored if isinstance(word, str)]
        if isinstance(choice.value, str) and words and choice.value not in words:
            raise PlanError(f"{where}: {shown(choice.value)} is not among those explored: {listed(words)}.")


def check_sense(name: str, value: Any, where: str) -> None:
    """Refuse numbers that have the right type and make no sense, whatever the parameter.

    A number is positive, a list of numbers is not empty, not negative, and in order with none twice;
    exponents (``log2_..``) may be negative.
    """
    signed = name.startswith("log2_")
    if isinstance(value, dict):
        for key, part in value.items():
            if _is_real(part) and part < 0 and not signed:
                raise PlanError(f"{where}.{key}: {shown(part)} is negative; expected 0 or more.")
    elif isinstance(value, list):
        _check_list(value, where, signed=signed)
    elif _is_real(value) and not value > 0 and not signed:
        raise PlanError(f"{where}: expected a number above 0, found {shown(value)}.")


def _check_list(values: list, where: str, *, signed: bool) -> None:
    if not values:
        raise PlanError(f"{where}: the list is empty; name one value or more.")
    if not all(map(_is_real, values)):
        return
    if not signed and min(values) < 0:
        raise PlanError(f"{where}: {shown(min(values))} is negative; expected 0 or more.")
    pairs = list(pairwise(values))
    if not (all(a < b for a, b in pairs) or all(a > b for a, b in pairs)):
        raise PlanError(f"{where}: expected numbers in order, none twice; found {shown(values)}.")


def _is_real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_subsets(params: PaperParams, paper: Paper) -> None:
    for scale in SCALES[1:]:
        for exhibit, selection in params.scales[scale].items():
            whole = params.scales["paper"].get(exhibit)
            if whole is None or not whole.covers(selection):
                raise PlanError(
                    f"{paper.key}.{scale}.{exhibit}: selects trials that scale 'paper' does not; "
                    "a smaller scale is a subset of the same trials."
                )


class Key(NamedTuple):
    """What identifies a row within its exhibit."""

    dataset: str
    method: str
    trial: int

    def __str__(self) -> str:
        return f"{self.dataset} / {self.method} / trial {self.trial}"


class Stamp(NamedTuple):
    """What a row is a function of: the identity of code, a hash of parameters, the checksum of data."""

    code: str
    params: str
    data: str


@dataclass(frozen=True)
class Job:
    """One call of a trial function: names, parameters, and the stamp that a worker must confirm."""

    module: str
    exhibit: str
    function: str
    dataset: str
    number: int
    methods: tuple[str, ...]
    params: Mapping[str, Any] = field(hash=False)
    stamp: Stamp

    @property
    def keys(self) -> list[Key]:
        """Keys of the rows that are wanted from the call."""
        return [Key(self.dataset, method, self.number) for method in self.methods]

    def __str__(self) -> str:
        return f"{self.exhibit} / {self.dataset} / {', '.join(self.methods)} / trial {self.number}"


class ExhibitPlan:
    """The trials of one exhibit at one scale; datasets and methods are in the paper's order."""

    def __init__(self, paper: Paper, exhibit: Exhibit, params: PaperParams, scale: str) -> None:
        self.exhibit = exhibit
        self._paper = paper
        self._params = params
        self._selection = params.scales[scale].get(exhibit.name)
        self.datasets = tuple(self._selection.runs) if self._selection else ()
        self.methods = self._selection.methods if self._selection else ()

    @cached_property
    def stamps(self) -> dict[Key, Stamp]:
        """Every row that belongs to the scale, with today's stamp."""
        return {
            Key(label, method, number): self._inputs[function.name, label][1]
            for number, label, function, methods in self._calls
            for method in methods
        }

    @cached_property
    def functions(self) -> dict[tuple[str, str], TrialFunction]:
        """The function that computes the rows of a dataset and method."""
        return {
            (label, method): function
            for function in self._paper.functions[self.exhibit.name]
            for label in function.datasets or self.datasets
            for method in function.methods
        }

    @cached_property
    def absent(self) -> dict[str, str]:
        """Labels whose data are too large for the repository and not on this machine, with the remedy."""
        remedies = {label: absent_data(self._paper.datasets[label]) for label in self.datasets}
        return {label: remedy for label, remedy in remedies.items() if remedy}

    def jobs(self, wanted: Iterable[Key] | None = None) -> list[Job]:
        """Return the calls that give the wanted rows (all by default), every dataset's trial 0 first."""
        chosen = self.stamps.keys() if wanted is None else set(wanted)
        jobs = []
        for number, label, function, methods in self._calls:
            if own := tuple(method for method in methods if (label, method, number) in chosen):
                where = function.function.__module__, self.exhibit.name, function.name
                jobs.append(Job(*where, label, number, own, *self._inputs[function.name, label]))
        return jobs

    @cached_property
    def _calls(self) -> list[tuple[int, str, TrialFunction, tuple[str, ...]]]:
        """Trial number, dataset, function and methods of all calls, every dataset's trial 0 first."""
        calls = []
        for function in self._paper.functions[self.exhibit.name] if self._selection else ():
            methods = tuple(method for method in function.methods if method in self.methods)
            groups = [methods] if function.together else [(method,) for method in methods]
            calls += [
                (number, label, function, group)
                for label in self.datasets
                if label in (function.datasets or self.datasets)
                for number in range(self._selection.runs[label])
                for group in groups
            ]
        return sorted(calls, key=itemgetter(0))

    def stamp_of(self, label: str, method: str) -> Stamp:
        """Return the stamp of the rows of a dataset and method."""
        return self._inputs[self.functions[label, method].name, label][1]

    @cached_property
    def _inputs(self) -> dict[tuple[str, str], tuple[dict[str, Any], Stamp]]:
        """Parameters and stamp of the trials of each function and label."""
        inputs = {}
        checksums = {label: data_checksum(self._paper.datasets[label]) for label in self.datasets}
        for function in self._paper.functions[self.exhibit.name]:
            code, values = code_of(function), self._params.values(function)
            for label, data in checksums.items():
                own = function.of(label, values)
                inputs[function.name, label] = own, Stamp(code, params_hash(own), data)
        return inputs


def code_of(function: TrialFunction) -> str:
    """Return the identity of a trial function; the name counts where the randomness comes from it."""
    return _identity(function.function, function.together)


@cache
def _identity(function: Callable, named: bool) -> str:
    return identity(function, named=named)


def absent_data(stored: Iterable[str]) -> str:
    """Return how to get large datasets that are not here as registered; raise when a core set is missing."""
    remedies = []
    for name in stored:
        source = get_source(name)
        if source.kind == "core":
            if not core_path(source).is_file():
                raise PlanError(f"Dataset {name!r} is not in data/: {repair_command(source)}")
            continue
        try:
            path = find_large(source)
            if other_digest(source, path):
                remedies.append(
                    f"{path} was converted here and is not, to the last bit, what is registered: no evidence "
                    "is computed from it. Put the prepared file in its place, and take its receipt away."
                )
        except (DatasetUnavailable, DatasetDamaged) as error:
            remedies.append(str(error))
    return " ".join(remedies)


def data_checksum(stored: Iterable[str]) -> str:
    """Return eight digits of the stored datasets' checksums, from the register; "generated" for none.

    The loader refuses arrays that differ from the register, large sets with a receipt apart: `data_here`.
    """
    return "+".join(_registered(name) for name in stored) or "generated"


def data_here(stored: Iterable[str]) -> str:
    """Return the checksum of what a trial sees here: of other data than the registered, their own digits."""
    return "+".join(_other(name) or _registered(name) for name in stored) or "generated"


def _registered(name: str) -> str:
    try:
        return get_source(name).sha256.get("arrays", "")[:8] or "unregistered"
    except (KeyError, ValueError) as error:
        raise PlanError(f"Dataset {name!r} is not registered: {error}") from None


def _other(name: str) -> str:
    source = get_source(name)
    if source.kind == "core":
        return ""
    try:
        return other_digest(source, find_large(source))[:8]
    except DatasetUnavailable:  # a trial says what it lacks
        return ""
    except DatasetDamaged as error:
        raise PlanError(str(error)) from None
