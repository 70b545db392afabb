"""Trial functions may share groups of parameters: a dataclass stands for its fields."""

from dataclasses import dataclass
from typing import Literal

import pytest

from kernsemble.experiments.errors import PlanError
from kernsemble.experiments.registry import Paper
from kernsemble.experiments.trial import Trial

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


def test_groups_and_plain_parameters_take_the_same_keys():
    def grouped(trial, *, coin: Coin, n: int):
        return {"heads": coin.bias * n}

    def plain(trial, *, bias: float, n: int, rule: Literal["mean", "median"] = "mean"):
        return {"heads": bias * n}

    values = {"bias": 0.25, "n": 8, "rule": "median"}
    assert dict(declare(grouped).parameters) == dict(declare(plain).parameters)
    assert declare(grouped).required == declare(plain).required
    assert declare(grouped).compute(TRIAL, values) == declare(plain).compute(TRIAL, values)


def test_a_key_cannot_be_taken_twice():
    def toss(trial, *, coin: Coin, bias: float):
        return {}

    with pytest.raises(PlanError, match=r"'toss'.*\['bias'\] are there twice"):
        declare(toss)


def test_a_group_has_no_methods():
    @dataclass
    class Clever:
        bias: float

        def flip(self):
            return self.bias

    def toss(trial, *, coin: Clever):
        return {}

    toss.__annotations__["coin"] = Clever
    with pytest.raises(PlanError, match=r"Clever .* may not have methods: \['flip'\]"):
        declare(toss)
