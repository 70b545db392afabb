"""What a paper declares: its datasets, its exhibits, and the functions that compute its trials.

A module of ``notebooks/KEY`` makes one ``Paper`` named ``paper``. The signature of a trial function is its
schema: the keyword-only parameters say which keys of ``params.yaml`` it takes, their annotations which
values. A parameter whose type is a dataclass stands for its fields, so that functions can share them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, get_type_hints

from kernsemble.trials.errors import PlanError
from kernsemble.trials.identity import remember_sources
from kernsemble.trials.rooms import STUDIES, modules_with
from kernsemble.trials.trial import Trial

MADE = "paper = Paper("  # how a room makes its paper
# Columns that every row of evidence has besides its metrics.
RESERVED = frozenset(
    {"dataset", "method", "trial", "seconds", "code", "lock", "arithmetic", "params", "data", "check"}
)


@dataclass(frozen=True)
class Exhibit:
    """A table or figure whose trials share one file of evidence.

    Attributes
    ----------
    name, title : str
    metrics, timing : tuple of str
        Numbers that a trial returns, or one-dimensional arrays of them; ``verify`` does not compare timing.
    tolerance : mapping of str to float
        Absolute tolerance of ``verify`` for metrics that are rounding noise.
    parting : tuple of str
        Methods or metrics of runs that may diverge by rounding, because a solution on their way is not
        unique: ``verify`` counts those that differ apart, and does not fail.
    alone : bool
        Whether its trials never run beside others.
    """

    name: str
    title: str
    metrics: tuple[str, ...] = ()
    timing: tuple[str, ...] = ()
    tolerance: Mapping[str, float] = field(default_factory=dict)
    parting: tuple[str, ...] = ()
    alone: bool = False

    @property
    def is_timing(self) -> bool:
        """Whether it is there to measure time: its rows are never adopted."""
        return self.alone or not self.metrics

    @property
    def columns(self) -> tuple[str, ...]:
        """All metrics, in the order of the evidence's columns."""
        return (*self.metrics, *self.timing)


@dataclass(frozen=True)
class TrialFunction:
    """A pure function that computes the trials of some methods of one exhibit.

    ``parameters`` are keys of ``params.yaml``; those of a group reach the function as one dataclass. Those in
    ``only`` concern some labels alone: trials of other labels cannot read them.
    """

    function: Callable[..., Mapping[str, Any]]
    exhibit: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...] | None
    together: bool
    parameters: Mapping[str, Any]
    required: frozenset[str]
    groups: Mapping[str, type]
    only: Mapping[str, frozenset[str]]

    @property
    def name(self) -> str:
        """Name of the function in its module."""
        return self.function.__name__

    def of(self, label: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that concern trials of a label."""
        return {name: value for name, value in values.items() if label in self.only.get(name, (label,))}

    def compute(self, trial: Trial, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call the function with the values of its parameters; those of other labels refuse to be used."""
        others = {name for name, labels in self.only.items() if trial.dataset not in labels}
        keywords = dict(values) | {name: withheld(name, trial.dataset) for name in others}
        for name, group in self.groups.items():
            there = [part.name for part in fields(group) if part.name in keywords]
            keywords[name] = group(**{part: keywords.pop(part) for part in there})
        return self.function(trial, **keywords)


# Whatever can be done with a number, a text or a collection, but for being made.
_USES = {name for kind in (complex, int, str, dict, list) for name in dir(kind) if name.startswith("__")}
_USES = (_USES | {"__call__", "__matmul__", "__next__", "__bytes__"}) - {"__new__", "__init__", "__doc__"}


def withheld(name: str, label: str) -> Any:
    """Return what stands for a parameter that does not concern a label: whatever uses it fails."""

    def refuse(*_: Any) -> None:
        raise PlanError(f"parameter {name!r} is declared not to concern {label!r}, whose trial uses it.")

    return type("Withheld", (), dict.fromkeys(_USES, refuse))()


class Paper:
    """A paper to reproduce: vocabulary of its datasets, its exhibits and trial functions.

    ``datasets`` has every label that a trial's ``dataset`` may take, and the stored dataset(s) whose content
    the trial depends on; None for generated data. ``only`` names parameters that concern some labels alone:
    trials of other labels cannot read them, and their rows do not depend on them.

    Examples
    --------
    >>> from kernsemble.trials.registry import Paper
    >>> paper = Paper("tiny2000", title="A tiny paper", datasets={"coin": None})
    >>> _ = paper.exhibit("table1", "Heads", metrics=("heads",))
    >>> @paper.trials("table1", methods=("fair",))
    ... def toss(trial, *, n_tosses: int):
    ...     return {"heads": trial.rng().integers(2, size=n_tosses).mean()}
    >>> paper.functions["table1"][0].parameters
    mappingproxy({'n_tosses': <class 'int'>})
    """

    def __init__(
        self,
        key: str,
        *,
        title: str,
        datasets: Mapping[str, str | tuple[str, ...] | None],
        only: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.key = key
        self.title = title
        self.datasets = {label: _stored_names(names) for label, names in datasets.items()}
        self.only = {name: frozenset(labels) for name, labels in (only or {}).items()}
        for name, labels in self.only.items():
            if unknown := labels - set(self.datasets):
                raise PlanError(f"{key}: {name!r} is said to concern {sorted(unknown)}, which are no labels.")
        self.exhibits: dict[str, Exhibit] = {}
        self.functions: dict[str, list[TrialFunction]] = {}
        remember_sources()

    def exhibit(self, name: str, title: str, **about: Any) -> Exhibit:
        """Declare an `Exhibit` and the numbers that its trials return."""
        made = Exhibit(name, title, **about)
        where = f"{self.key}: exhibit {name!r}"
        if name in self.exhibits:
            raise PlanError(f"{where} is declared twice.")
        if not name.isidentifier():
            raise PlanError(f"{where}: the name becomes a file name; use letters, digits and underscores.")
        if not made.columns or len(set(made.columns)) < len(made.columns) or RESERVED & set(made.columns):
            raise PlanError(
                f"{where}: metrics must be distinct, at least one, and none of {sorted(RESERVED)}."
            )
        if unknown := set(made.tolerance) - set(made.metrics):
            raise PlanError(
                f"{where}: tolerance for {sorted(unknown)}, which are not among {list(made.metrics)}."
            )
        self.exhibits[name] = made
        self.functions[name] = []
        return made

    def trials(
        self,
        exhibit: str,
        *,
        methods: Iterable[str],
        datasets: Iterable[str] | None = None,
        together: bool = False,
    ) -> Callable:
        """Register a function for some methods of an exhibit, and for some datasets (all by default).

        It is called once for each method; with ``together`` once for all, and returns
        ``{method: {metric: value}}``.
        """
        methods, datasets = tuple(methods), datasets and tuple(datasets)

        def register(function: Callable) -> Callable:
            where = f"{self.key}: trials {function.__name__!r}"
            self._refuse_unknown(where, exhibit, methods, datasets)
            parameters, required, groups = _schema(function, where)
            only = {name: labels for name, labels in self.only.items() if name in parameters}
            declared = exhibit, methods, datasets, together, parameters, required, groups, only
            self.functions[exhibit].append(TrialFunction(function, *declared))
            return function

        return register

    def _refuse_unknown(
        self, where: str, exhibit: str, methods: tuple[str, ...], datasets: tuple[str, ...] | None
    ) -> None:
        """Refuse names that are not declared, and methods that another function serves already."""
        if exhibit not in self.exhibits:
            raise PlanError(f"{where}: no exhibit {exhibit!r}; declared are {list(self.exhibits)}.")
        if unknown := set(datasets or ()) - set(self.datasets):
            raise PlanError(f"{where}: datasets {sorted(unknown)} are not among {list(self.datasets)}.")
        for other in self.functions[exhibit]:
            both = set(other.methods) & set(methods)
            if both and (not datasets or not other.datasets or set(datasets) & set(other.datasets)):
                raise PlanError(f"{where}: {sorted(both)} of {exhibit!r} already belong to {other.name!r}.")

    def methods(self, exhibit: str) -> tuple[str, ...]:
        """All methods of an exhibit, in the order of registration."""
        return tuple(dict.fromkeys(m for function in self.functions[exhibit] for m in function.methods))


def _stored_names(names: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _schema(function: Callable, where: str) -> tuple[Mapping[str, Any], frozenset[str], Mapping[str, type]]:
    """Return the parameters with their types, those without a default, and the groups of parameters."""
    positional, keywords = [], []
    for parameter in inspect.signature(function).parameters.values():
        (keywords if parameter.kind is parameter.KEYWORD_ONLY else positional).append(parameter)
    if len(positional) != 1:
        raise PlanError(f"{where} must take one positional argument, the trial; the rest keyword-only.")
    hints = get_type_hints(function)
    if untyped := [parameter.name for parameter in keywords if parameter.name not in hints]:
        raise PlanError(f"{where}: parameters {untyped} have no type; params.yaml is checked against it.")
    groups = {p.name: hints[p.name] for p in keywords if is_dataclass(hints[p.name])}
    single = [p for p in keywords if p.name not in groups]
    parts = [part for group in groups.values() for part in inspect.signature(group).parameters.values()]
    names = [parameter.name for parameter in (*single, *parts)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise PlanError(f"{where}: parameters {twice} are there twice, alone or in a group.")
    for group in groups.values():
        hints |= _fields_only(group, where)
    required = frozenset(p.name for p in (*single, *parts) if p.default is p.empty)
    return MappingProxyType({name: hints[name] for name in names}), required, MappingProxyType(groups)


def _fields_only(group: type, where: str) -> dict[str, Any]:
    """Return the types of a group's fields; methods are refused, because no identity would follow them."""
    if methods := [name for name, value in vars(group).items() if name[0] != "_" and callable(value)]:
        raise PlanError(f"{where}: {group.__name__} groups parameters and may not have methods: {methods}.")
    return get_type_hints(group)


def load_paper(key: str) -> Paper:
    """Return the paper of a room with all its trials, or that of a dotted module (``package.module``)."""
    if "." in key:
        return _paper_of(key)
    if key not in STUDIES:
        raise PlanError(f"No paper {key!r}; there are {', '.join(STUDIES)}.")
    if not (made_in := modules_with(key, MADE)):
        raise PlanError(f"The room of {key!r} makes no paper.")
    paper = _paper_of(made_in[0])
    for module in modules_with(key, "@paper.trials("):
        import_module(module)
    for functions in paper.functions.values():  # whatever was imported first
        functions.sort(key=_place)
    return paper


def _paper_of(name: str) -> Paper:
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise  # the module is there, and imports something that is not
        raise PlanError(f"There is no module {name!r}.") from None
    if not isinstance(getattr(module, "paper", None), Paper):
        raise PlanError(f"{name} defines no 'paper'.")
    return module.paper


def _place(function: TrialFunction) -> tuple[str, int]:
    """Return the module and line in which a function stands."""
    return function.function.__module__, inspect.unwrap(function.function).__code__.co_firstlineno


def available_papers() -> tuple[str, ...]:
    """Keys of the papers whose trials are written."""
    return tuple(key for key in STUDIES if modules_with(key, MADE))
