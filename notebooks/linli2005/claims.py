"""The 126 printed numbers of linli2005: tables I and II hold means and standard errors over 100 runs.

Both tables read the same trials: the columns that they share are the same machines.
"""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Finding, Reading, Rule
from kernsemble.trials.study import Study
from linli2005.trials import CLEAN_SETS, GENERATED_SETS, NOISY_SETS, REAL_SETS, TABLE_SETS

# cells
reading = Reading(
    "linli2005",
    [Rule(("table1", "table2"), evidence="table1", metric="error", spread="standard error", runs=100)],
)


# claims
SAME = 1e-6  # relative difference of scores that rounding and the solver's tolerance explain
STUMPS = ("SVM-Stump", "AB-Stump-100", "AB-Stump-1000")
PERCEPTRONS = ("SVM-Perc", "AB-Perc-100", "AB-Perc-1000")
KERNELS = ("SVM-Stump", "SVM-Perc", "SVM-Gauss")


@reading.claim("L1")
def constant_can_be_dropped(study: Study) -> Finding:
    """Largest change of any test score, on any set, when the exact constant is added: below 1e-6."""
    change = study.evidence("theorems").array("constant").max()
    return Finding(change < SAME, None, f"largest relative change of a score: {change:.1e}")


@reading.claim("L2")
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
        f"{fits[applies].sum()} of {applies.sum()} training sets where a theorem applies are fitted under "
        "every labeling; stump kernel where the condition of theorem 3 fails: "
        f"{fits[:, :, stumps][beyond].sum()} of {beyond.sum()}"
    )
    return Finding(bool(fits[applies].all()), None, note)


@reading.claim("L3")
def svm_beats_adaboost(study: Study) -> Finding:
    """Each SVM has a lower mean error than AdaBoost at both T on more than 7 of the 14 sets."""
    errors = study.evidence("table1").array("error", TABLE_SETS, (*STUMPS, *PERCEPTRONS))
    stumps, perceptrons = _wins(errors)
    half = len(TABLE_SETS) // 2
    return Finding(
        min(stumps, perceptrons) > half,
        bootstrap_probability(errors, lambda resampled: min(_wins(resampled)) > half),
        f"SVM-Stump is ahead of both on {stumps} of 14 sets, SVM-Perc on {perceptrons} of 14",
    )


def _wins(errors: np.ndarray) -> tuple[int, int]:
    """Count the sets where the first of three methods is strictly best, for both base learners."""
    means = errors.mean(axis=0)
    first, second = means[:, :3], means[:, 3:]
    return tuple(int((block[:, 0] < block[:, 1:].min(axis=1)).sum()) for block in (first, second))


@reading.claim("L4")
def advantage_grows_with_noise(study: Study) -> Finding:
    """Mean advantage over AdaBoost (three sets, both T) is larger with label noise than without, for both."""
    evidence = study.evidence("table1")
    both = (*STUMPS, *PERCEPTRONS)
    clean, noisy = (evidence.array("error", sets, both) for sets in (CLEAN_SETS, NOISY_SETS))
    paired = np.stack([clean, noisy], axis=-1)
    advantage = _advantages(paired)
    names = ("stumps", "perceptrons")
    note = "; ".join(
        f"{name}: {a:.1f} points clean, {b:.1f} noisy" for name, (a, b) in zip(names, advantage, strict=True)
    )
    return Finding(
        bool((advantage[:, 1] > advantage[:, 0]).all()),
        bootstrap_probability(paired, lambda p: bool((np.diff(_advantages(p)) > 0).all())),
        note,
    )


def _advantages(paired: np.ndarray) -> np.ndarray:
    """Return AdaBoost's error minus the SVM's, base learners x (clean, noisy)."""
    means = paired.mean(axis=(0, 1))  # methods x (clean, noisy)
    return np.array([means[k + 1 : k + 3].mean(axis=0) - means[k] for k in (0, 3)])


@reading.claim("L5")
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
        f"alike on {alike} of 8 real sets; SVM-Gauss leads by {lead:.2f} points on the generated ones",
    )


def _alike(errors: np.ndarray) -> int:
    """Count the sets on which two methods differ by no more than two standard errors of the difference."""
    means, variances = errors.mean(axis=0), errors.var(axis=0, ddof=min(1, len(errors) - 1))
    width = np.sqrt(variances.sum(axis=1) / len(errors))
    return int((np.abs(np.diff(means)[:, 0]) <= 2.0 * width).sum())


def _lead(errors: np.ndarray) -> float:
    """Mean error of the first method minus that of the second, over sets."""
    return float(-np.diff(errors.mean(axis=(0, 1)))[0])


@reading.claim("L6")
def stump_slightly_worse_than_perceptron(study: Study) -> Finding:
    """Over the 14 sets SVM-Stump is worse on average, by at most 1.5 points, less than AdaBoost-Stump is."""
    methods = ("SVM-Perc", *STUMPS)
    errors = study.evidence("table1").array("error", TABLE_SETS, methods)

    def holds(resampled: np.ndarray) -> bool:
        behind, boosted = _behind(resampled)
        return 0 < behind <= min(1.5, boosted)

    behind, boosted = _behind(errors)
    note = f"SVM-Stump is {behind:.2f} points behind SVM-Perc, the better AdaBoost-Stump {boosted:.2f}"
    return Finding(holds(errors), bootstrap_probability(errors, holds), note)


def _behind(errors: np.ndarray) -> tuple[float, float]:
    """Mean over sets of SVM-Stump and of the better AdaBoost-Stump, minus SVM-Perc."""
    means = errors.mean(axis=0)
    best = means[:, 2:].min(axis=1)
    return float((means[:, 1] - means[:, 0]).mean()), float((best - means[:, 0]).mean())


@reading.claim("L7")
def selection_is_ten_times_cheaper(study: Study) -> Finding:
    """Exactly 55 problems against 550, and the median over sets of the ratio of seconds is at least 5."""
    evidence = study.evidence("selection")
    problems = evidence.array("problems", methods=KERNELS, datasets=_shared_sets(study))
    seconds = evidence.array("selection_seconds", methods=KERNELS, datasets=_shared_sets(study))
    counted = bool((problems == [55, 55, 550]).all())
    ratios = np.median(seconds[:, :, 2:] / seconds[:, :, :2], axis=(0, 1))
    note = (
        f"{problems[0, 0].astype(int).tolist()} problems; SVM-Gauss takes {ratios[0]:.1f} times as long as "
        f"SVM-Stump, {ratios[1]:.1f} times as long as SVM-Perc (medians over sets)"
    )
    return Finding(counted and bool((ratios >= 5).all()), None, note)


def _shared_sets(study: Study) -> tuple[str, ...]:
    return tuple(label for label in study.evidence("selection").datasets if label in TABLE_SETS)


@reading.claim("L8")
def svm_boundaries_closer_to_bayes(study: Study) -> Finding:
    """The mean area of disagreement with Bayes is smaller for the SVM than for AdaBoost at both T."""
    areas = study.evidence("figure2").array("area", methods=(*STUMPS, *PERCEPTRONS))[:, 0]
    means = areas.mean(axis=0)
    note = "; ".join(f"{m} {a:.1f} %" for m, a in zip((*STUMPS, *PERCEPTRONS), means, strict=True))
    return Finding(_closer(areas), bootstrap_probability(areas, _closer), note)


def _closer(areas: np.ndarray) -> bool:
    means = areas.mean(axis=0)
    return bool(means[0] < means[1:3].min() and means[3] < means[4:].min())


@reading.claim("L9")
def scaling_kernel_is_scaling_c(study: Study) -> Finding:
    """Largest change of any test score when K is multiplied by 1000 and C divided by 1000: below 1e-6."""
    change = study.evidence("theorems").array("scaling").max()
    return Finding(change < SAME, None, f"largest relative change of a score: {change:.1e}")


@reading.claim("L10")
def soft_margin_controls_the_power(study: Study) -> Finding:
    """With label noise, the machine whose C was selected errs less than with hard margins, in all cases."""
    chosen = study.evidence("table1").array("error", NOISY_SETS, KERNELS[:2])
    hard = study.evidence("hard").array("error", NOISY_SETS, KERNELS[:2])
    loss = hard.mean(axis=0) - chosen.mean(axis=0)
    return Finding(
        bool((loss > 0).all()),
        bootstrap_probability((hard, chosen), lambda h, c: bool((h.mean(axis=0) > c.mean(axis=0)).all())),
        f"hard margins cost {loss.min():.1f} to {loss.max():.1f} points",
    )


@reading.claim("L11")
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
        f"training errors: AdaBoost at most {boosted.mean(axis=0).max():.1f} %, SVMs at least "
        f"{machines.mean(axis=0).min():.1f} %",
    )


def _overfits(boosted: np.ndarray, machines: np.ndarray) -> bool:
    return bool(boosted.mean(axis=0).max() < 1 and machines.mean(axis=0).min() > 5)


@reading.claim("L12")
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
        f"SVM-Stump is ahead on {wins(both)} of {len(labels)} sets, by {(boosted - machines).mean():.1f} "
        "points on average",
    )
