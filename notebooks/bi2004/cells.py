"""The 258 printed numbers of bi2004: each was printed once, without a spread, so ours stands for it."""

from __future__ import annotations

import numpy as np

from kernsemble.report.ledger import Derived, Reading, not_comparable, unavailable
from kernsemble.trials.evidence import Evidence, Sample
from kernsemble.trials.study import Study

reading = Reading("bi2004")

LABELS = {"table3": "Forest", "table4": "Digits"}
ERRORS = {"R_trn": "train_error_end", "R_tst": "error_end"}
SECONDS = {"T_trn": "fit_seconds_end", "T_tst": "test_seconds_end"}
COUNTS = {"C_l": "linear_end", "C_q": "quadratic_end", "C_r": "rbf_end"}
ONE_NORM_ROWS = tuple(f"1-norm/{name}" for name in ("L", "Q", "R", "L+Q", "L+R", "L+Q+R", "L,Q,R"))

OTHER_HARDWARE = "seconds of other hardware and another solver; the claims judge their ratios"
UNKNOWN_TASK = "the digit task is not described; odd against even stands in for it, so orders are judged only"
TOLERANCE = "every column has a weight at the 2-norm optimum, alpha free: a count tells where the run stopped"


def _sample(study: Study, exhibit: str, row: str, metric: str) -> Sample:
    """Return a metric of one row of table 3 or 4."""
    return study.evidence(exhibit).sample(metric, dataset=LABELS[exhibit], method=row)


def judged(sample: Sample):
    """Return the sample, or say that one run cannot be compared where the scale asks for one only."""
    return sample if sample.expected != 1 else not_comparable("one run at this scale", sample)


def apart(note: str, sample: Sample):
    """Say that a number cannot be compared, once ours is there."""
    return not_comparable(note, sample) if sample.complete else sample


@reading.cells("table1", spread=None, runs=None, better="equal")
def dataset_fact(study: Study, exhibit: str, row: str, column: str):
    """Exact numbers; how the digits were made into two classes is not said."""
    sample = study.evidence("table1").sample(column, dataset=row, method="facts")
    if row == "Digits" and column in ("n_positive", "n_negative"):
        nearest = study.evidence("table1").sample("nearest_subset", dataset=row, method="facts")
        note = f"no subset of the ten digits has that many of the 60,000 (nearest: {nearest.mean:.0f})"
        return unavailable(f"{note}; odd against even stands in", sample)
    return sample


@reading.cells("table2", columns=("FP_tst", "FN_tst"), spread=None, runs=1)
def small_error(study: Study, exhibit: str, row: str, column: str):
    """Rates pooled over the folds of one cross-validation; the paper ran one."""
    return judged(_small_sample(study, row, column))


def _small_sample(study: Study, row: str, column: str) -> Sample:
    label, _, method = row.partition("/")
    return study.evidence("table2").sample(column, dataset=label, method=method)


@reading.cells("table2", columns=("T_trn", "T_tst", "C_l", "C_r"), spread=None, runs=1)
def small_cost(study: Study, exhibit: str, row: str, column: str):
    """Seconds and numbers of columns."""
    sample = _small_sample(study, row, column)
    return apart(OTHER_HARDWARE if column.startswith("T") else TOLERANCE, sample)


@reading.cells("table3", columns=("R_tst",), spread=None, runs=1)
@reading.cells("table3", columns=("R_trn",), spread=None, runs=1, better="equal")
def large_error(study: Study, exhibit: str, row: str, column: str):
    """Errors at the end of the run."""
    return judged(_sample(study, exhibit, row, ERRORS[column]))


@reading.cells("table4", columns=tuple(ERRORS), spread=None, runs=1)
def digits_error(study: Study, exhibit: str, row: str, column: str):
    """Errors of another task than the printed one."""
    return apart(UNKNOWN_TASK, _sample(study, exhibit, row, ERRORS[column]))


@reading.cells("table3", "table4", columns=tuple(SECONDS), spread=None, runs=1)
def large_seconds(study: Study, exhibit: str, row: str, column: str):
    """Seconds of training and of 10,000 test points."""
    return apart(OTHER_HARDWARE, _sample(study, exhibit, row, SECONDS[column]))


@reading.cells("table3", "table4", columns=tuple(COUNTS), spread=None, runs=1)
def two_norm_count(study: Study, exhibit: str, row: str, column: str):
    """Columns where the run ended."""
    return apart(TOLERANCE, _sample(study, exhibit, row, COUNTS[column]))


@reading.cells("table3", columns=tuple(COUNTS), rows=ONE_NORM_ROWS, spread=None, runs=1)
def one_norm_count(study: Study, exhibit: str, row: str, column: str):
    """Columns with a weight at the optimum of a linear program."""
    return judged(_sample(study, exhibit, row, COUNTS[column]))


@reading.cells("table4", columns=tuple(COUNTS), rows=ONE_NORM_ROWS, spread=None, runs=1)
def digits_count(study: Study, exhibit: str, row: str, column: str):
    """The same for the digits, whose task is another one."""
    return apart(UNKNOWN_TASK, _sample(study, exhibit, row, COUNTS[column]))


@reading.cells("table5", spread=None, runs=1)
def growth(study: Study, exhibit: str, row: str, column: str):
    """Rounds until TR3 stops, C fixed; and seconds."""
    evidence, label = study.evidence("table5"), f"n={column}"
    if row == "Time":
        sample = evidence.sample("fit_seconds", dataset=label, method="C fixed")
        return apart(OTHER_HARDWARE, sample)
    values = iterations(study, label, "C fixed")
    runs = len(values)
    se = float(values.std(ddof=1) / runs**0.5) if runs > 1 else float("nan")
    mean = float(values.mean()) if runs else float("nan")
    return Derived(mean, se, [evidence.sample("error", dataset=label, method="C fixed")])


def iterations(study: Study, label: str, method: str, patience: int | None = None) -> np.ndarray:
    """Rounds until TR3 stops, by run; the chosen patience by default."""
    curves = study.evidence("table5").curves("iterations", dataset=label, method=method)
    values = study.protocol("table5")
    at = values["patiences"].index(values["patience"] if patience is None else patience)
    return curves[:, at] if len(curves) else np.empty(0)


def by_run(evidence: Evidence, metric: str, label: str, method: str) -> list[np.ndarray]:
    """Return an array metric of the runs that are there, in their order; lengths may differ."""
    keys = sorted(key for key in evidence.current if (key.dataset, key.method) == (label, method))
    return [np.array(evidence.current[key].metrics[metric].split(), dtype=float) for key in keys]
