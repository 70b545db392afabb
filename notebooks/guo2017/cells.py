"""The 118 printed numbers of guo2017: means over 10 trials, with standard deviations in table 1 only."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kernsemble.report.ledger import Derived, Reading, Rule, not_comparable
from kernsemble.trials.evidence import Evidence, Sample
from kernsemble.trials.study import Study
from guo2017.sets import TABLE_SETS

PRINTED_RUNS = 10
FAMILIES = ("L1-ExRM", "L2-ExRM", "AdaTree", "BagTree", "DRM")
# The rows of table 1: family and number of bases.
ROWS = tuple((family, T) for T in (10, 30) for family in FAMILIES)


def split_name(name: str) -> tuple[str, int]:
    """Return family and number of bases of a name such as L1-ExRM10, with or without spaces."""
    family, bases = re.fullmatch(r"(.*?)(\d+)", name.replace(" ", "")).groups()
    return family, int(bases)


def evidence_of(study: Study, family: str) -> Evidence:
    """Return the evidence that holds a family's test errors; DRM has its own, with fewer runs."""
    return study.evidence("table1_drm" if family == "DRM" else "table1")


def errors_of(study: Study, names: Sequence[tuple[str, int]]) -> np.ndarray:
    """Return test errors (runs x sets x names), for the runs that all of them have."""
    arrays = [evidence_of(study, family).array(f"error_{T}", TABLE_SETS, (family,)) for family, T in names]
    runs = min(len(array) for array in arrays)
    return np.concatenate([array[:runs] for array in arrays], axis=2)


def average_rank(study: Study, exhibit: str, row: str, column: str) -> Derived:
    """Average rank over the eight sets, with the error that ten trials of theirs and all of ours leave.

    It belongs to all runs together: the spread is that error itself, and the ledger counts one run.
    """
    errors = table_errors(study)
    place = ROWS.index(split_name(row))
    ten, all_of_them = (rank_deviation(errors, size)[place] for size in (PRINTED_RUNS, len(errors)))
    value = float(average_ranks(errors.mean(axis=0))[place])
    return Derived(value, float(np.hypot(ten, all_of_them)))


def table_errors(study: Study) -> np.ndarray:
    """Return table 1's test errors (runs x sets x its ten rows)."""
    return errors_of(study, ROWS)


def average_ranks(means: np.ndarray) -> np.ndarray:
    """Return the mean over sets (rows) of the methods' ranks; equal errors share the smaller rank."""
    smaller = means[:, np.newaxis, :] < means[:, :, np.newaxis]
    return 1.0 + smaller.sum(axis=2).mean(axis=0)


def rank_deviation(errors: np.ndarray, size: int, n_resamples: int = 300) -> np.ndarray:
    """Bootstrap deviation of the average ranks of means over ``size`` runs."""
    rng = np.random.default_rng(0)
    ranks = [
        average_ranks(errors[rng.integers(len(errors), size=size)].mean(axis=0)) for _ in range(n_resamples)
    ]
    return np.std(ranks, axis=0, ddof=1)


def training_seconds(study: Study, exhibit: str, row: str, column: str):
    """Seconds of other hardware and another language; the claims compare ratios."""
    evidence, method = study.evidence("table2"), column.replace(" ", "")
    values = evidence.array("fit_seconds", evidence.datasets, (method,)).mean(axis=(1, 2))
    ours = Sample(values, len(values))
    return not_comparable("seconds of other hardware and of Matlab; the ratios are judged by claim G6", ours)


def mean_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error averaged over the eight sets of table 1, run by run."""
    values = errors_of(study, [(row, int(column))]).mean(axis=(1, 2))
    return Sample(values, len(values))


reading = Reading(
    "guo2017",
    [
        *(
            Rule(
                "table1", f"{family}{{T}}", "{dataset}",
                evidence="table1_drm" if family == "DRM" else "table1", method=family, metric="error_{T}",
                spread="standard deviation", runs=PRINTED_RUNS,
            )
            for family in FAMILIES
        ),
        Rule("table1", column="A.R.", read=average_rank, spread=None, runs=None),
        Rule("table2", read=training_seconds, spread=None, runs=PRINTED_RUNS),
        Rule("table3", read=mean_error, spread=None, runs=PRINTED_RUNS),
    ],
)  # fmt: skip
