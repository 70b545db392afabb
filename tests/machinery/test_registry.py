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

    def test_unknown_label_is_named(self):
        with pytest.raises(PlanError, match=r"'missing' is said to concern \['vote'\]"):
            self.paper(lambda trial: {}, only=("vote",))


@dataclass(frozen=True)
class Votes:
    missing: str
    n: int


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
