"""The plan of a paper at one scale: which trials there are, and the stamp of a row computed today."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from kernsemble.data.base import DatasetUnavailable
from kernsemble.data.large import find_large
from kernsemble.data.sources import get_source
from kernsemble.data.store import core_path, repair_command
from kernsemble.trials.errors import PlanError
from kernsemble.trials.identity import identity
from kernsemble.trials.params import SCALES, PaperParams, params_hash, read_params
from kernsemble.trials.registry import Exhibit, Paper, TrialFunction, load_paper


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
    """The trials of one exhibit at one scale.

    Attributes
    ----------
    exhibit : Exhibit
    datasets, methods : tuple of str
        In the paper's order.
    stamps : dict of Key to Stamp
        Every row that belongs to the scale.
    functions : dict of (str, str) to TrialFunction
        The function that computes the rows of a dataset and method.
    """

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


class Plan:
    """All exhibits of a paper at one scale.

    Parameters
    ----------
    key : str
        Key of the paper, or a dotted module.
    scale : {"paper", "quick", "smoke"}
    params_file : Path
    """

    def __init__(self, key: str, scale: str, params_file: Path) -> None:
        if scale not in SCALES:
            raise PlanError(f"No scale {scale!r}; there are {', '.join(SCALES)}.")
        self.paper = load_paper(key)
        self.module = key
        self.scale = scale
        self.params = read_params(params_file, self.paper)
        self.exhibits = {
            name: ExhibitPlan(self.paper, exhibit, self.params, scale)
            for name, exhibit in self.paper.exhibits.items()
        }

    def __getitem__(self, exhibit: str) -> ExhibitPlan:
        if exhibit not in self.exhibits:
            raise PlanError(
                f"{self.paper.key} has no exhibit {exhibit!r}; it has {', '.join(self.exhibits)}."
            )
        return self.exhibits[exhibit]


def absent_data(stored: Iterable[str]) -> str:
    """Return how to get the large datasets that are not here; raise when one of the repository is missing."""
    remedies = []
    for name in stored:
        source = get_source(name)
        if source.kind == "large":
            try:
                find_large(source)
            except DatasetUnavailable as error:
                remedies.append(str(error))
        elif not core_path(source).is_file():
            raise PlanError(f"Dataset {name!r} is not in data/: {repair_command(source)}")
    return " ".join(remedies)


def data_checksum(stored: Iterable[str]) -> str:
    """Return eight digits of the stored datasets' checksums, from the register; "generated" for none.

    The loader refuses arrays that differ from the register, so this is the checksum of what a trial saw.
    """
    digests = []
    for name in stored:
        try:
            digests.append(get_source(name).sha256.get("arrays", "")[:8] or "unregistered")
        except (KeyError, ValueError) as error:
            raise PlanError(f"Dataset {name!r} is not registered: {error}") from None
    return "+".join(digests) or "generated"
