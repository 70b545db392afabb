"""Checks of linli2005's claims; what each asks was fixed before its numbers were there."""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Finding
from kernsemble.trials.study import Study
from linli2005.cells import reading
from linli2005.sets import (
    CLEAN_SETS,
    GENERATED_SETS,
    NOISY_SETS,
    REAL_SETS,
    TABLE_SETS,
)

SAME = 1e-6  # relative difference of scores that rounding and the solver's tolerance explain
STUMPS = ("SVM-Stump", "AB-Stump-100", "AB-Stump-1000")
PERCEPTRONS = ("SVM-Perc", "AB-Perc-100", "AB-Perc-1000")
KERNELS = ("SVM-Stump", "SVM-Perc", "SVM-Gauss")
SCORES_CHANGE = "largest relative change of a score: {change:.1e}"


@reading.claim("L1", "change")
def constant_can_be_dropped(study: Study) -> Finding:
    """Largest change of any test score, on any set, when the exact constant is added: below 1e-6."""
    change = study.evidence("theorems").array("constant").max()
    return Finding(change < SAME, None, SCORES_CHANGE, {"change": change})


@reading.claim("L2", "fitted", "covered", "beyond_fitted", "beyond")
def any_labelling_is_separated(study: Study) -> Finding:
    """Wherever the theorems apply, the smallest eigenvalue is positive and every random labeling is fitted.

    Theorem 6 applies to all distinct points; theorem 3 asks for a feature that tells all of them apart.
    """
    evidence = study.evidence("theorems")
    eigenvalue, separated, distinct = (
        evidence.array(metric) for metric in ("eigenvalue", "separated", "distinct")
    )
    applies = distinct == 1
    applies[:, :, evidence.methods.index("perceptron")] = True
    fits = (eigenvalue > 1e-12) & (separated == 1)
    stumps = evidence.methods.index("stump")
    beyond = ~applies[:, :, stumps]
    note = (
        "{fitted} of {covered} training sets where a theorem applies are fitted under every labeling; stump "
        "kernel where the condition of theorem 3 fails: {beyond_fitted} of {beyond}"
    )
    facts = {
        "fitted": int(fits[applies].sum()),
        "covered": int(applies.sum()),
        "beyond_fitted": int(fits[:, :, stumps][beyond].sum()),
        "beyond": int(beyond.sum()),
    }
    return Finding(bool(fits[applies].all()), None, note, facts)


@reading.claim("L3", "stumps", "perceptrons")
def svm_beats_adaboost(study: Study) -> Finding:
    """Each SVM has a lower mean error than AdaBoost at both T on more than 7 of the 14 sets."""
    errors = study.evidence("table1").array("error", TABLE_SETS, (*STUMPS, *PERCEPTRONS))
    stumps, perceptrons = _wins(errors)
    half = len(TABLE_SETS) // 2
    return Finding(
        min(stumps, perceptrons) > half,
        bootstrap_probability(errors, lambda resampled: min(_wins(resampled)) > half),
        "SVM-Stump is ahead of both on {stumps} of 14 sets, SVM-Perc on {perceptrons} of 14",
        {"stumps": stumps, "perceptrons": perceptrons},
    )


def _wins(errors: np.ndarray) -> tuple[int, int]:
    """Count the sets where the first of three methods is strictly best, for both base learners."""
    means = errors.mean(axis=0)
    first, second = means[:, :3], means[:, 3:]
    return tuple(int((block[:, 0] < block[:, 1:].min(axis=1)).sum()) for block in (first, second))


@reading.claim("L4", "clean_stumps", "noisy_stumps", "clean_perceptrons", "noisy_perceptrons")
def advantage_grows_with_noise(study: Study) -> Finding:
    """Mean advantage over AdaBoost (three sets, both T) is larger with label noise than without, for both."""
    evidence = study.evidence("table1")
    both = (*STUMPS, *PERCEPTRONS)
    clean, noisy = (evidence.array("error", sets, both) for sets in (CLEAN_SETS, NOISY_SETS))
    paired = np.stack([clean, noisy], axis=-1)
    advantage = _advantages(paired)
    note = (
        "stumps: {clean_stumps:.1f} points clean, {noisy_stumps:.1f} noisy; "
        "perceptrons: {clean_perceptrons:.1f} points clean, {noisy_perceptrons:.1f} noisy"
    )
    names = ("clean_stumps", "noisy_stumps", "clean_perceptrons", "noisy_perceptrons")
    return Finding(
        bool((advantage[:, 1] > advantage[:, 0]).all()),
        bootstrap_probability(paired, lambda p: bool((np.diff(_advantages(p)) > 0).all())),
        note,
        dict(zip(names, advantage.ravel(), strict=True)),
    )


def _advantages(paired: np.ndarray) -> np.ndarray:
    """Return AdaBoost's error minus the SVM's, base learners x (clean, noisy)."""
    means = paired.mean(axis=(0, 1))  # methods x (clean, noisy)
    return np.array([means[k + 1 : k + 3].mean(axis=0) - means[k] for k in (0, 3)])


@reading.claim("L5", "alike", "lead")
def perceptron_equals_gauss_on_real_sets(study: Study) -> Finding:
    """By the paper's own error bars: |difference| <= 2 standard errors on at least 7 of the 8 real sets.

    And over the generated sets SVM-Gauss has the lower mean error.
    """
    evidence = study.evidence("table1")
    real, generated = (evidence.array("error", sets, KERNELS[1:]) for sets in (REAL_SETS, GENERATED_SETS))
    alike, lead = _alike(real), _lead(generated)
    return Finding(
        alike >= 7 and lead > 0,
        bootstrap_probability((real, generated), lambda r, g: _alike(r) >= 7 and _lead(g) > 0),
        "alike on {alike} of 8 real sets; SVM-Gauss leads by {lead:.2f} points on the generated ones",
        {"alike": alike, "lead": lead},
    )


def _alike(errors: np.ndarray) -> int:
    """Count the sets on which two methods differ by no more than two standard errors of the difference."""
    means, variances = errors.mean(axis=0), errors.var(axis=0, ddof=min(1, len(errors) - 1))
    width = np.sqrt(variances.sum(axis=1) / len(errors))
    return int((np.abs(np.diff(means)[:, 0]) <= 2.0 * width).sum())


def _lead(errors: np.ndarray) -> float:
    """Mean error of the first method minus that of the second, over sets."""
    return float(-np.diff(errors.mean(axis=(0, 1)))[0])


@reading.claim("L6", "behind", "boosted")
def stump_slightly_worse_than_perceptron(study: Study) -> Finding:
    """Over the 14 sets SVM-Stump is worse on average, by at most 1.5 points, less than AdaBoost-Stump is."""
    methods = ("SVM-Perc", *STUMPS)
    errors = study.evidence("table1").array("error", TABLE_SETS, methods)

    def holds(resampled: np.ndarray) -> bool:
        behind, boosted = _behind(resampled)
        return 0 < behind <= min(1.5, boosted)

    behind, boosted = _behind(errors)
    note = "SVM-Stump is {behind:.2f} points behind SVM-Perc, the better AdaBoost-Stump {boosted:.2f}"
    facts = {"behind": behind, "boosted": boosted}
    return Finding(holds(errors), bootstrap_probability(errors, holds), note, facts)


def _behind(errors: np.ndarray) -> tuple[float, float]:
    """Mean over sets of SVM-Stump and of the better AdaBoost-Stump, minus SVM-Perc."""
    means = errors.mean(axis=0)
    best = means[:, 2:].min(axis=1)
    return float((means[:, 1] - means[:, 0]).mean()), float((best - means[:, 0]).mean())


@reading.claim("L7", "problems", "stumps", "perceptrons")
def selection_is_ten_times_cheaper(study: Study) -> Finding:
    """Exactly 55 problems against 550, and the median over sets of the ratio of seconds is at least 5."""
    evidence = study.evidence("selection")
    problems = evidence.array("problems", methods=KERNELS, datasets=_shared_sets(study))
    seconds = evidence.array("selection_seconds", methods=KERNELS, datasets=_shared_sets(study))
    counted = bool((problems == [55, 55, 550]).all())
    ratios = np.median(seconds[:, :, 2:] / seconds[:, :, :2], axis=(0, 1))
    note = (
        "{problems} problems; SVM-Gauss takes {stumps:.1f} times as long as SVM-Stump, {perceptrons:.1f} "
        "times as long as SVM-Perc (medians over sets)"
    )
    facts = {"problems": problems[0, 0].astype(int).tolist(), "stumps": ratios[0], "perceptrons": ratios[1]}
    return Finding(counted and bool((ratios >= 5).all()), None, note, facts)


def _shared_sets(study: Study) -> tuple[str, ...]:
    return tuple(label for label in study.evidence("selection").datasets if label in TABLE_SETS)


@reading.claim("L8", "least", "most")
def svm_boundaries_closer_to_bayes(study: Study) -> Finding:
    """The mean area of disagreement with Bayes is smaller for the SVM than for AdaBoost at both T.

    The facts are the least and the largest ratio of AdaBoost's area to that of its SVM.
    """
    areas = study.evidence("figure2").array("area", methods=(*STUMPS, *PERCEPTRONS))[:, 0]
    means = areas.mean(axis=0)
    note = "; ".join(f"{m} {a:.1f} %" for m, a in zip((*STUMPS, *PERCEPTRONS), means, strict=True))
    ratios = np.concatenate([means[1:3] / means[0], means[4:] / means[3]])
    facts = {"least": ratios.min(), "most": ratios.max()}
    return Finding(_closer(areas), bootstrap_probability(areas, _closer), note, facts)


def _closer(areas: np.ndarray) -> bool:
    means = areas.mean(axis=0)
    return bool(means[0] < means[1:3].min() and means[3] < means[4:].min())


@reading.claim("L9", "change")
def scaling_kernel_is_scaling_c(study: Study) -> Finding:
    """Largest change of any test score when K is multiplied by 1000 and C divided by 1000: below 1e-6."""
    change = study.evidence("theorems").array("scaling").max()
    return Finding(change < SAME, None, SCORES_CHANGE, {"change": change})


@reading.claim("L10", "least", "most")
def soft_margin_controls_the_power(study: Study) -> Finding:
    """With label noise, the machine whose C was selected errs less than with hard margins, in all cases."""
    chosen = study.evidence("table1").array("error", NOISY_SETS, KERNELS[:2])
    hard = study.evidence("hard").array("error", NOISY_SETS, KERNELS[:2])
    loss = hard.mean(axis=0) - chosen.mean(axis=0)
    return Finding(
        bool((loss > 0).all()),
        bootstrap_probability((hard, chosen), lambda h, c: bool((h.mean(axis=0) > c.mean(axis=0)).all())),
        "hard margins cost {least:.1f} to {most:.1f} points",
        {"least": loss.min(), "most": loss.max()},
    )


@reading.claim("L11", "boosted", "machines")
def adaboost_fits_the_noise(study: Study) -> Finding:
    """On noisy sets AdaBoost (T = 1000) has training errors below 1 %, though 10 % of the labels are wrong.

    And the SVMs leave at least half of that noise unfitted.
    """
    evidence = study.evidence("table1")
    boosted = evidence.array("train_error", NOISY_SETS, ("AB-Stump-1000", "AB-Perc-1000"))
    machines = evidence.array("train_error", NOISY_SETS, KERNELS[:2])
    return Finding(
        _overfits(boosted, machines),
        bootstrap_probability((boosted, machines), _overfits),
        "training errors: AdaBoost at most {boosted:.1f} %, SVMs at least {machines:.1f} %",
        {"boosted": boosted.mean(axis=0).max(), "machines": machines.mean(axis=0).min()},
    )


def _overfits(boosted: np.ndarray, machines: np.ndarray) -> bool:
    return bool(boosted.mean(axis=0).max() < 1 and machines.mean(axis=0).min() > 5)


@reading.claim("L12", "wins", "sets", "lead")
def lpboost_changes_nothing(study: Study) -> Finding:
    """On the same trials SVM-Stump has a lower mean error than LPBoost on more than half of the sets."""
    evidence = study.evidence("lpboost")
    labels = evidence.datasets
    boosted = evidence.array("error")[:, :, 0]
    machines = study.evidence("table1").array("error", labels, ("SVM-Stump",), len(boosted))[:, :, 0]
    both = np.stack([machines, boosted], axis=-1)

    def wins(errors: np.ndarray) -> int:
        return int((np.diff(errors.mean(axis=0)) > 0).sum())

    half = len(labels) / 2
    return Finding(
        wins(both) > half,
        bootstrap_probability(both, lambda resampled: wins(resampled) > half),
        "SVM-Stump is ahead on {wins} of {sets} sets, by {lead:.1f} points on average",
        {"wins": wins(both), "sets": len(labels), "lead": (boosted - machines).mean()},
    )
