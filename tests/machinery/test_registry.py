"""Trial functions may share groups of parameters: a dataclass stands for its fields."""

import pickle
from dataclasses import dataclass
from typing import Literal

import pytest

from kernsemble.trials.errors import PlanError
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

TRIAL = Trial("made2000", "table1", "coin", "fair", 0)


@dataclass(frozen=True)
class Coin:
    bias: float
    rule: Literal["mean", "median"] = "mean"


@dataclass(frozen=True)
class Loaded(Coin):
    """A group with fields of its own and of another."""

    weight: int = 1


def declare(function):
    paper = Paper("made2000", title="Made", datasets={"coin": None})
    paper.exhibit("table1", "Heads", metrics=("heads",))
    paper.trials("table1", methods=("fair",))(function)
    return paper.functions["table1"][0]


def test_a_group_stands_for_its_fields():
    def toss(trial, *, coin: Loaded, n: int):
        return {"heads": coin.bias * n * coin.weight}

    made = declare(toss)
    assert dict(made.parameters) == {
        "n": int,
        "bias": float,
        "rule": Literal["mean", "median"],
        "weight": int,
    }
    assert made.required == {"bias", "n"}
    assert made.compute(TRIAL, {"bias": 0.5, "n": 20, "weight": 3}) == {"heads": 30.0}


class TestParametersOfSomeLabels:
    """A parameter that concerns some datasets cannot be read by trials of others."""

    def paper(self, function, only=("votes",)):
        paper = Paper(
            "made2000", title="Made", datasets={"coin": None, "votes": None}, only={"missing": only}
        )
        paper.exhibit("table1", "Heads", metrics=("heads",))
        paper.trials("table1", methods=("fair",))(function)
        return paper.functions["table1"][0]

    def trial(self, label):
        return Trial("made2000", "table1", label, "fair", 0)

    def test_it_reaches_those_that_it_concerns(self):
        def toss(trial, *, n: int, missing: str):
            return {"heads": n + (trial.dataset == "votes" and missing == "drop")}

        made = self.paper(toss)
        values = {"n": 2, "missing": "drop"}
        assert made.of("votes", values) == values
        assert made.of("coin", values) == {"n": 2}
        assert made.compute(self.trial("votes"), values) == {"heads": 3}
        assert made.compute(self.trial("coin"), made.of("coin", values)) == {"heads": 2}

    USES = (
        lambda value: value == "drop",
        lambda value: "drop" == value,  # noqa: SIM300 - from the other side
        lambda value: value in ("drop", "mode"),
        lambda value: {"drop": 1}.get(value),
        lambda value: 1 if value else 0,
        lambda value: value + 1,
        lambda value: 2 * value,
        lambda value: value["share"],
        lambda value: list(value),
        lambda value: float(value),
        lambda value: f"{value}",
        lambda value: value.upper(),
        lambda value: isinstance(value, str),
        lambda value: pickle.dumps(value),
    )

    @pytest.mark.parametrize("use", USES)
    def test_whatever_else_uses_it_fails(self, use):
        def toss(trial, *, missing: str):
            return {"heads": use(missing)}

        # even when the value is there: it is not for this trial
        with pytest.raises(PlanError, match="'missing' is declared not to concern 'coin'"):
            self.paper(toss).compute(self.trial("coin"), {"missing": "drop"})

    def test_in_a_group_too(self):
        def toss(trial, *, votes: Votes):
            return {"heads": votes.n if trial.dataset == "coin" else votes.missing}

        made = self.paper(toss)
        assert made.compute(self.trial("coin"), {"n": 3}) == {"heads": 3}
        assert made.compute(self.trial("votes"), {"n": 3, "missing": "drop"}) == {"heads": "drop"}


@dataclass(frozen=True)
class Votes:
    missing: str
    n: int


@dataclass
class Clever:
    bias: float

    def flip(self):
        return self.bias


def twice(trial, *, coin: Coin, bias: float):
    return {}


def clever(trial, *, coin: Clever):
    return {}


def two_positional(trial, other):
    return {}


def untyped(trial, *, n):
    return {}


def nothing(trial):
    return {}


def tiny():
    paper = Paper("tiny", title="t", datasets={"x": None, "y": None})
    paper.exhibit("table1", "t", metrics=("error",))
    paper.trials("table1", methods=("taken",))(nothing)
    return paper


def exhibit(name="table2", **about):
    return lambda: tiny().exhibit(name, "t", **{"metrics": ("a",), **about})


def trials(function=nothing, where="table1", methods=("m",), datasets=None):
    return lambda: tiny().trials(where, methods=methods, datasets=datasets)(function)


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (exhibit("table1"), "'table1' is declared twice"),
        (exhibit(metrics=()), "metrics"),
        (exhibit(metrics=("a", "a")), "metrics"),
        (exhibit(metrics=("seconds",)), "metrics"),
        (exhibit("../x"), "file name"),
        (exhibit(tolerance={"gap": 1}), "'gap'"),
        (trials(where="table2"), "'table2'"),
        (trials(datasets=("z",)), "'z'"),
        (trials(methods=("taken",)), "'taken'"),
        (trials(two_positional), "one positional"),
        (trials(untyped), "no type"),
        (trials(twice), r"'twice'.*\['bias'\] are there twice"),
        (trials(clever), r"Clever .* may not have methods: \['flip'\]"),
        (
            lambda: Paper("t", title="t", datasets={"x": None}, only={"missing": ("vote",)}),
            r"'missing' is said to concern \['vote'\]",
        ),
    ],
)
def test_what_is_declared_wrongly_is_refused_when_its_module_is_imported(declare, said):
    with pytest.raises(PlanError, match=said):
        declare()


def test_same_method_on_other_datasets_is_fine():
    made = tiny()
    for label in ("x", "y"):
        made.trials("table1", methods=("m",), datasets=(label,))(nothing)
    assert made.methods("table1") == ("taken", "m")
