"""How the fake paper's printed numbers are read."""

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Derived, Finding, Reading, Rule
from kernsemble.report.verdicts import Answer


def mean_error(study, exhibit, row, column):
    samples = [study.evidence("table1").sample("error", dataset=row, method=m) for m in ("plain", "long")]
    return Derived(sum(s.mean for s in samples) / 2, 0.1, samples)


def seconds(study, exhibit, row, column):
    return study.evidence("timing").sample("seconds_spent", dataset="coin", method="clock")


def sizes(study, exhibit, row, column):
    return Derived(2.0 if row == "two" else 4.0)


reading = Reading(
    "fake_paper",
    [
        Rule("table1", metric="error", spread="standard deviation", runs=10),
        Rule("table1", column="mean", read=mean_error, spread=None, runs=10),
        Rule(
            "table1", column="seconds", read=seconds, spread=None, runs=None,
            unit=("table1", "coin", "seconds"),
        ),
        Rule("table1", "lost", unavailable="the lost set cannot be had", spread=None, runs=None),
        Rule("sizes", read=sizes, spread=None, runs=None),
    ],
)  # fmt: skip


@reading.claim("F1", "mean", "lowest")
def bias_is_positive(study):
    """The mean is positive."""
    errors = study.evidence("table1").array("error", datasets=["coin"], methods=["plain"])
    probability = bootstrap_probability(errors, lambda e: e.mean() > 0)
    facts = {"mean": errors.mean(), "lowest": errors.min()}
    return Finding(errors.mean() > 0, probability, "mean {mean:.3f}", facts)


@reading.claim("F2")
def bias_is_negative(study):
    return Finding(False, None, "it is not")


@reading.claim("F3")
def coin_has_parts(study):
    return Finding({"near": Answer(2.0, 2.0), "far": Answer(0.5), "printed_far": Answer(2.0, 0.9)})


@reading.claim("F4")
def formula_is_wrong(study):
    return Finding({"formula": Answer(0.5)})
