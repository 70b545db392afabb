"""The 201 printed numbers of shen2014: means and standard deviations over 5, 10 or 20 splits."""

from __future__ import annotations

from kernsemble.report.ledger import Reading, not_comparable, unavailable
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError, Sample
from kernsemble.trials.study import Study
from shen2014.sets import UCI_SETS, VISION_SETS, printed_label

reading = Reading("shen2014")


def require(study: Study, exhibit: str) -> Evidence:
    """Return an exhibit's evidence; raise when it is not complete, for claims that read curves."""
    evidence = study.evidence(exhibit)
    if not (evidence.complete and evidence.current):  # a small scale may leave an exhibit out
        raise IncompleteEvidenceError(f"{exhibit}: {evidence.status}", stale=bool(evidence.stale))
    return evidence


_MISSING = {
    "PASCAL07": "PASCAL VOC 2007 with Guillaumin's features cannot be had here; Scene15 stands in",
    "LabelMe": "LabelMe-12-50k cannot be had here; Scene15 stands in",
    "SUN": "the authors' 25 categories of SUN are not named; Scene15 stands in",
}


@reading.cells("table1", "table2", spread="standard deviation", runs=5)
def binary_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error on the benchmark's own first realisations where they are at hand, else on our splits."""
    return study.evidence(exhibit).sample("error", dataset=label_of(study, exhibit, row), method=column)


def label_of(study: Study, exhibit: str, row: str) -> str:
    """Return whose trials stand beside a printed row; small scales run on our own splits only."""
    label = printed_label(row)
    return label if label in study.evidence(exhibit).datasets else row


@reading.cells("table1", "table2", rows=("f-solar",), spread="standard deviation", runs=5)
def flare_error(study: Study, exhibit: str, row: str, column: str) -> object:
    """The benchmark does not say what its two classes of flare-solar are."""
    sample = study.evidence(exhibit).sample("error", dataset=row, method=column)
    return not_comparable(
        "the target of the benchmark's flare-solar is not documented; ours is a choice", sample
    )


@reading.cells("table3", rows=UCI_SETS, spread="standard deviation", runs=10)
@reading.cells("table3", rows=VISION_SETS, spread="standard deviation", runs=5)
def multiclass_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error after 500 rounds."""
    return study.evidence("table3").sample("error", dataset=row, method=column)


@reading.cells("table3", rows=tuple(_MISSING), spread="standard deviation", runs=5)
def missing_pictures(study: Study, exhibit: str, row: str, column: str) -> object:
    """Sets that are not to be had."""
    return unavailable(_MISSING[row])


@reading.cells("table4", spread="standard deviation", runs=20)
def spam_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error of 60 stumps."""
    return study.evidence("table4").sample("error", dataset=row, method=column)


def oracle_calls(study: Study) -> list[int]:
    """Return how many times CGENS asks the oracle up to each of table I's numbers of rounds.

    It runs so many rounds for each C on each fold, and then once more with the best C.
    """
    protocol = study.protocol("table1")
    return [T * (len(protocol["log2_C"]) * protocol["n_folds"] + 1) for T in protocol["rounds"]]
