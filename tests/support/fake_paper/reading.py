"""How the fake paper's printed numbers are read."""

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Derived, Finding, Reading, not_comparable, unavailable

reading = Reading("fake_paper")


@reading.cells("table1", spread="standard deviation", runs=10)
def error(study, exhibit, row, column):
    return study.evidence("table1").sample("error", dataset=row, method=column)


@reading.cells("table1", columns=("mean",), spread=None, runs=10)
def mean_error(study, exhibit, row, column):
    samples = [study.evidence("table1").sample("error", dataset=row, method=m) for m in ("plain", "long")]
    return Derived(sum(s.mean for s in samples) / 2, 0.1, samples)


@reading.cells("table1", columns=("seconds",), spread=None, runs=None)
def seconds(study, exhibit, row, column):
    return not_comparable(
        "other hardware", study.evidence("timing").sample("seconds_spent", dataset="coin", method="clock")
    )


@reading.cells("table1", rows=("lost",), spread=None, runs=None)
def lost(study, exhibit, row, column):
    return unavailable("the lost set cannot be had")


@reading.cells("sizes", spread=None, runs=None, better="equal")
def sizes(study, exhibit, row, column):
    return Derived(2.0 if row == "two" else 4.0)


@reading.claim("F1")
def bias_is_positive(study):
    errors = study.evidence("table1").array("error", datasets=["coin"], methods=["plain"])
    probability = bootstrap_probability(errors, lambda e: e.mean() > 0)
    return Finding(errors.mean() > 0, probability, f"mean {errors.mean():.3f}")


@reading.claim("F2")
def bias_is_negative(study):
    return Finding(False, None, "it is not")
