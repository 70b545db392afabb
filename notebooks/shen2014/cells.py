"""The 201 printed numbers of shen2014: means and standard deviations over 5, 10 or 20 splits."""

from __future__ import annotations

from kernsemble.report.ledger import Reading, Rule, not_comparable
from kernsemble.trials.evidence import Sample
from kernsemble.trials.study import Study
from shen2014.sets import UCI_SETS, VISION_SETS, printed_label


def binary_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error on the benchmark's own first realisations where they are at hand, else on our splits."""
    return study.evidence(exhibit).sample("error", dataset=label_of(study, exhibit, row), method=column)


def label_of(study: Study, exhibit: str, row: str) -> str:
    """Return whose trials stand beside a printed row; small scales run on our own splits only."""
    label = printed_label(row)
    return label if label in study.evidence(exhibit).datasets else row


def flare_error(study: Study, exhibit: str, row: str, column: str) -> object:
    """The benchmark does not say what its two classes of flare-solar are."""
    sample = study.evidence(exhibit).sample("error", dataset=row, method=column)
    return not_comparable(
        "the target of the benchmark's flare-solar is not documented; ours is a choice", sample
    )


def oracle_calls(study: Study) -> list[int]:
    """Return how many times CGENS asks the oracle up to each of table I's numbers of rounds.

    It runs so many rounds for each C on each fold, and then once more with the best C.
    """
    protocol = study.protocol("table1")
    return [T * (len(protocol["log2_C"]) * protocol["n_folds"] + 1) for T in protocol["rounds"]]


_FIVE, _TEN, _TWENTY = ({"spread": "standard deviation", "runs": runs} for runs in (5, 10, 20))
reading = Reading(
    "shen2014",
    [
        Rule(("table1", "table2"), read=binary_error, **_FIVE),
        Rule(("table1", "table2"), "f-solar", read=flare_error, **_FIVE),
        Rule("table3", UCI_SETS, metric="error", **_TEN),
        Rule("table3", VISION_SETS, metric="error", **_FIVE),
        Rule(
            "table3", "PASCAL07", **_FIVE,
            unavailable="PASCAL VOC 2007 with Guillaumin's features cannot be had here; Scene15 stands in",
        ),
        Rule(
            "table3", "LabelMe", **_FIVE,
            unavailable="LabelMe-12-50k cannot be had here; Scene15 stands in",
        ),
        Rule(
            "table3", "SUN", **_FIVE,
            unavailable="the authors' 25 categories of SUN are not named; Scene15 stands in",
        ),
        Rule("table4", metric="error", **_TWENTY),
    ],
)  # fmt: skip
