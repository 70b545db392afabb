"""Checks of bi2004's claims about its tables; what each asks was fixed before its numbers were there."""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Finding
from kernsemble.trials.study import Study
from bi2004.cells import LABELS, reading
from bi2004.trials import CHOICES, SMALL_SETS, TARGET

NORMS = ("2-norm", "1-norm")
ALIKE = 2.0  # points: the printed total errors of composite and mixture differ by up to 2.1 on the small sets
SMALL_FRACTION = 0.2


@reading.claim("B1")
def mixture_beats_composite_on_the_target(study: Study) -> Finding:
    """Under both norms the mixture has a smaller mean error, fewer terms and fewer kernel values to evaluate.

    And the composite takes longer to train and to evaluate. A column of the composite is two terms.
    """
    pairs = {
        norm: np.stack(
            [_target(study, metric, norm) for metric in ("rmse", "columns", "evaluations", "fit_seconds")],
            axis=-1,
        )
        for norm in NORMS
    }
    both = np.stack(list(pairs.values()), axis=1)  # runs x norms x (composite, mixture) x metrics
    both[:, :, 0, 1] *= 2.0
    means = both.mean(axis=0)
    note = "; ".join(
        f"{norm}: rmse {m[1, 0]:.3f} against {m[0, 0]:.3f}, terms {m[1, 1]:.0f} against {m[0, 1]:.0f}, "
        f"evaluations {m[1, 2]:.0f} against {m[0, 2]:.0f}, training {m[1, 3] / m[0, 3]:.2f} times as long"
        for norm, m in zip(NORMS, means, strict=True)
    )
    return Finding(_mixture_smaller(both), bootstrap_probability(both, _mixture_smaller), note)


def _target(study: Study, metric: str, norm: str) -> np.ndarray:
    methods = (f"{norm}/composite", f"{norm}/mixture")
    return study.evidence("figure1").array(metric, (TARGET,), methods)[:, 0]


def _mixture_smaller(both: np.ndarray) -> bool:
    means = both.mean(axis=0)
    return bool((means[:, 1] < means[:, 0]).all())


@reading.claim("B2")
def mixture_tests_faster_at_equal_error(study: Study) -> Finding:
    """On each set the mean total errors differ by at most 2 points; the composite tests 1.5 times slower."""
    methods = ("composite", "mixture")
    evidence = study.evidence("table2")
    errors, seconds, values = (
        evidence.array(metric, SMALL_SETS, methods) for metric in ("error", "T_tst", "evaluations")
    )
    ratios = seconds.mean(axis=0)[:, 0] / seconds.mean(axis=0)[:, 1]
    evaluations = values.mean(axis=0)[:, 0] / values.mean(axis=0)[:, 1]
    difference = np.diff(errors.mean(axis=0), axis=1)[:, 0]
    note = "; ".join(
        f"{label}: error {d:+.1f} points, test time 1/{r:.1f}, evaluations 1/{e:.1f}"
        for label, d, r, e in zip(SMALL_SETS, difference, ratios, evaluations, strict=True)
    )
    paired = np.stack([errors, seconds], axis=-1)
    return Finding(_alike_and_faster(paired), bootstrap_probability(paired, _alike_and_faster), note)


def _alike_and_faster(paired: np.ndarray) -> bool:
    means = paired.mean(axis=0)  # sets x (composite, mixture) x (error, seconds)
    alike = np.abs(means[:, 1, 0] - means[:, 0, 0]) <= ALIKE
    faster = means[:, 0, 1] > 1.5 * means[:, 1, 1]
    return bool(alike.all() and faster.all())


@reading.claim("B3")
def mixture_keeps_fewer_rbf_columns(study: Study) -> Finding:
    """Mean number of RBF columns of the mixture below that of RBF and of composite, on all three sets."""
    counts = study.evidence("table2").array("C_r", SMALL_SETS, ("RBF", "composite", "mixture"))
    means = counts.mean(axis=0)
    note = "; ".join(
        f"{label}: RBF {m[0]:.0f}, composite {m[1]:.0f}, mixture {m[2]:.0f}"
        for label, m in zip(SMALL_SETS, means, strict=True)
    )
    return Finding(_fewest(counts), bootstrap_probability(counts, _fewest), note)


def _fewest(counts: np.ndarray) -> bool:
    means = counts.mean(axis=0)
    return bool((means[:, 2] < means[:, :2].min(axis=1)).all())


def blocks(study: Study, metric: str, names: tuple[str, ...] = tuple(CHOICES)) -> np.ndarray:
    """Return a metric of tables 3 and 4: runs x blocks (Forest 2-, 1-norm, digits 2-, 1-norm) x choices."""
    parts = [
        study.evidence(exhibit).array(metric, (label,), tuple(f"{norm}/{name}" for name in names))[:, 0]
        for exhibit, label in LABELS.items()
        for norm in NORMS
    ]
    return np.stack(parts, axis=1)


BLOCKS = tuple(f"{label}, {norm}" for label in LABELS.values() for norm in NORMS)


@reading.claim("B4")
def mixture_has_lowest_test_error_of_each_block(study: Study) -> Finding:
    """The mean test error of L,Q,R is the lowest of its block (ties do not count), in all four blocks."""
    errors = blocks(study, "error_end")
    names, means = list(CHOICES), errors.mean(axis=0)
    note = "; ".join(
        f"{block}: L,Q,R {m[-1]:.2f}, best other {names[int(m[:-1].argmin())]} {m[:-1].min():.2f}"
        for block, m in zip(BLOCKS, means, strict=True)
    )
    return Finding(_mixture_lowest(errors), bootstrap_probability(errors, _mixture_lowest), note)


def _mixture_lowest(errors: np.ndarray) -> bool:
    means = errors.mean(axis=0)
    return bool((means[:, -1] < means[:, :-1].min(axis=1)).all())


@reading.claim("B5")
def mixture_tests_in_a_fraction_of_the_time(study: Study) -> Finding:
    """In each block the mixture's mean test seconds are at most a fifth of those of the composite L+Q+R."""
    names = ("L+Q+R", "L,Q,R")
    seconds, values = blocks(study, "test_seconds_end", names), blocks(study, "evaluations_end", names)
    shares = (some.mean(axis=0)[:, 1] / some.mean(axis=0)[:, 0] for some in (seconds, values))
    note = "; ".join(
        f"{block}: {share:.2f} of the seconds, {share_values:.2f} of the kernel values"
        for block, share, share_values in zip(BLOCKS, *shares, strict=True)
    )
    return Finding(_small_fraction(seconds), bootstrap_probability(seconds, _small_fraction), note)


def _small_fraction(seconds: np.ndarray) -> bool:
    means = seconds.mean(axis=0)
    return bool((means[:, 1] <= SMALL_FRACTION * means[:, 0]).all())


@reading.claim("B6")
def mixture_trains_longer_to_the_end(study: Study) -> Finding:
    """Solved to the certified gap, the mixture's mean training time is longer on at least two small sets."""
    seconds = study.evidence("table2").array("T_trn", SMALL_SETS, ("composite", "mixture"))
    ratios = seconds.mean(axis=0)[:, 1] / seconds.mean(axis=0)[:, 0]
    note = "; ".join(f"{label}: {r:.1f} times as long" for label, r in zip(SMALL_SETS, ratios, strict=True))
    return Finding(_longer(seconds), bootstrap_probability(seconds, _longer), note)


def _longer(seconds: np.ndarray) -> bool:
    means = seconds.mean(axis=0)
    return int((means[:, 1] > means[:, 0]).sum()) >= 2


@reading.claim("B12")
def one_norm_is_sparser(study: Study) -> Finding:
    """For each of the seven kernel choices, on both sets, the 1-norm has fewer columns on average."""
    counts = sum(blocks(study, f"{kernel}_end") for kernel in ("linear", "quadratic", "rbf"))
    means = counts.mean(axis=0)  # blocks x choices
    fewer = means[1::2] < means[::2]
    note = (
        f"{fewer.sum()} of {fewer.size} pairs; on average {means[1::2].mean():.0f} columns against "
        f"{means[::2].mean():.0f}"
    )
    return Finding(_sparser(counts), bootstrap_probability(counts, _sparser), note)


def _sparser(counts: np.ndarray) -> bool:
    means = counts.mean(axis=0)
    return bool((means[1::2] < means[::2]).all())
