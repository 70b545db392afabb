"""How linli2005 is judged: its 126 printed numbers, its claims, and the numbers that the article says.

Tables I and II hold means and standard errors over 100 runs. Both read the same trials: the columns that they
share are the same machines. What each claim asks was fixed before its numbers were there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import binom, norm

from kernsemble.report.comparisons import best_methods, bootstrap_probability, holm, paired_p_value
from kernsemble.report.ledger import COMPARED, Finding, Reading, Rule, judge_cell, judge_cells
from kernsemble.report.published import PrintedCell, read_cells
from kernsemble.report.words import joined
from kernsemble.trials.study import Study
from linli2005.trials import (
    BASE_LEARNERS,
    CLEAN_SETS,
    GENERATED_SETS,
    NOISY_SETS,
    READINGS,
    REAL_SETS,
    TABLE_SETS,
)

reading = Reading(
    "linli2005",
    [Rule(("table1", "table2"), evidence="table1", metric="error", spread="standard error", runs=100)],
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


def z_scores(study: Study) -> dict[tuple[str, str], float]:
    """Return z of every printed cell that can be compared, by dataset and method; the tables share some."""
    judged = {(cell.row, cell.column): judge_cell(cell, reading, study).z for cell in _printed(study)}
    return {place: z for place, z in judged.items() if z is not None}


def z_of_stand_in(study: Study, dataset: str) -> dict[tuple[str, str], float]:
    """Return z of the printed cells of ringnorm(-n) when ringnorm-near(-n) takes its place."""
    stand_in, found = dataset.replace("ringnorm", "ringnorm-near"), {}
    for cell in _printed(study):
        sample = study.evidence("table1").sample("error", dataset=stand_in, method=cell.column)
        if cell.row == dataset and sample.complete and len(sample.values) > 1:
            found[stand_in, cell.column] = (sample.mean - cell.value) / np.hypot(
                sample.se, float(cell.spread)
            )
    return found


def _printed(study: Study) -> list[PrintedCell]:
    cells = read_cells(study.root / "published" / "published.csv")
    return [cell for cell in cells if cell.paper == study.key]


@reading.facts("table1", "lost_stumps", "level_stumps", "lost_perceptrons", "level_perceptrons")
def who_wins(study: Study) -> dict[str, str]:
    """Name the sets where the machine is worse than AdaBoost (lost), or cannot be told from it (level)."""
    evidence, facts = study.evidence("table1"), {}
    for name, methods in (("stumps", STUMPS), ("perceptrons", PERCEPTRONS)):
        best = {d: best_methods(evidence.array("error", [d], methods)[:, 0]) for d in TABLE_SETS}
        lost = [d for d, (machine, *_) in best.items() if not machine]
        level = [d for d, (machine, *boosted) in best.items() if machine and any(boosted)]
        facts |= {f"lost_{name}": joined(lost) or "no set", f"level_{name}": joined(level) or "no set"}
    return facts


@reading.facts(
    "agreement",
    *("compared", "matching", "within_one", "table2_out", "table2_rings_out"),
    *("distinct", "distinct_matching"),
    *("machines", "machines_in", "machines_mean", "machines_deviation"),
    *("stumps", "stumps_out", "stumps_expected", "stumps_chance"),
    *("rings", "rings_below", "rings_farthest", "moved_in", "moved_in_others", "moved_others"),
)
def how_the_printed_numbers_agree(study: Study) -> dict[str, float]:
    """Count z-scores: of the sets other than ringnorm, of ringnorm, and of ringnorm with the nearer mean."""
    rows = [row for row in judge_cells(study) if row.verdict in COMPARED]
    z = z_scores(study)
    rings = _of(z, lambda label, _: label.startswith("ringnorm"))
    machines = _of(z, lambda label, method: not label.startswith("ringnorm") and method in KERNELS)
    stumps = _of(z, lambda label, method: not label.startswith("ringnorm") and method in STUMPS[1:])
    near = {**z_of_stand_in(study, "ringnorm"), **z_of_stand_in(study, "ringnorm-n")}
    moved, others = _of(near, lambda *_: True), _of(near, lambda _, method: method not in PERCEPTRONS[1:])
    chance = 2 * norm.sf(2.0)
    second = [row for row in rows if row.exhibit == "table2" and abs(row.z) > 2]
    return {
        "compared": len(rows),
        "matching": sum(abs(row.z) <= 2 for row in rows),
        "within_one": sum(abs(row.z) <= 1 for row in rows),
        "distinct": len(z),
        "distinct_matching": _inside(np.array(list(z.values()))),
        "table2_out": len(second),
        "table2_rings_out": sum(row.row.startswith("ringnorm") for row in second),
        "machines": len(machines),
        "machines_in": _inside(machines),
        "machines_mean": machines.mean(),
        "machines_deviation": machines.std(ddof=1),
        "stumps": len(stumps),
        "stumps_out": len(stumps) - _inside(stumps),
        "stumps_expected": len(stumps) * chance,
        "stumps_chance": binom.sf(len(stumps) - _inside(stumps) - 1, len(stumps), chance),
        "rings": len(rings),
        "rings_below": int((rings < 0).sum()),
        "rings_farthest": np.abs(rings).max(),
        "moved_in": _inside(moved),
        "moved_in_others": _inside(others),
        "moved_others": len(others),
    }


def _of(z: dict[tuple[str, str], float], chosen: Callable[[str, str], bool]) -> np.ndarray:
    return np.array([value for place, value in z.items() if chosen(*place)])


def _inside(z: np.ndarray) -> int:
    return int((np.abs(z) <= 2).sum())


_READINGS = tuple(READINGS)[:-1]  # all but votes84 without incomplete rows


@reading.facts("protocol", "most", "most_where", "scaling", "ties")
def how_far_readings_move(study: Study) -> dict[str, float | str]:
    """Return the largest change of a mean error, apart from votes84 without incomplete rows; and two more.

    ``scaling``: of SVM-Perc, when twonorm and ringnorm are scaled; ``ties``: of both, on the noisy sets.
    """
    evidence = study.evidence("protocol")
    means = np.stack([evidence.array(name, TABLE_SETS, _READINGS).mean(axis=0) for name in KERNELS[:2]])
    k, d, m = np.unravel_index(np.abs(means).argmax(), means.shape)
    noisy, scaled = ([TABLE_SETS.index(d) for d in some] for some in (NOISY_SETS, ("twonorm", "ringnorm")))
    return {
        "most": abs(means[k, d, m]),
        "most_where": f"{_READINGS[m]}, {KERNELS[k]} on {TABLE_SETS[d]}",
        "scaling": means[1, scaled, 2].mean(),
        "ties": means[:, noisy, 1].mean(),
    }


_FISHER = "from Fisher's discriminant"
_LEARNERS = tuple(BASE_LEARNERS)
_SPANNED = ("threenorm", "sonar")


@reading.facts(
    "base_learner",
    *("hasty", "usual", "thorough", "train"),
    *(f"{label}_{T}_{end}" for label in _SPANNED for T in (100, 1000) for end in ("low", "high")),
    *(f"{label}_{name}" for label in (*_SPANNED, "german") for name in ("hasty", "usual", "thorough")),
    *("ringnorm_best", "fisher"),
)
def what_the_learner_does(study: Study) -> dict[str, float]:
    """Return mean errors after 1000 rounds on ringnorm, and the ranges that the learners span elsewhere."""
    evidence = study.evidence("base_learner")
    rounds = study.protocol("base_learner")["rounds"]
    means = {
        (label, method): np.mean(evidence.runs("error", label, method), axis=0)
        for label in (*_SPANNED, "german", "ringnorm")
        for method in _LEARNERS
    }
    hasty, _, usual, thorough = (means["ringnorm", name][-1] for name in _LEARNERS[:4])
    train = max(np.max(np.array(evidence.runs("train_error", *place))[:, -1]) for place in means)
    facts = {"hasty": hasty, "usual": usual, "thorough": thorough, "train": train}
    for label in _SPANNED:
        spanned = np.array([v for (d, m), v in means.items() if d == label and (d, m) != ("sonar", _FISHER)])
        for k, T in enumerate(rounds):
            facts |= {f"{label}_{T}_low": spanned[:, k].min(), f"{label}_{T}_high": spanned[:, k].max()}
    for label in (*_SPANNED, "german"):
        for name, method in (("hasty", _LEARNERS[0]), ("usual", _LEARNERS[2]), ("thorough", _LEARNERS[3])):
            facts[f"{label}_{name}"] = means[label, method][-1]
    best = min(mean.min() for (label, _), mean in means.items() if label == "ringnorm")
    return {**facts, "ringnorm_best": best, "fisher": means["sonar", _FISHER][-1]}


@reading.facts(
    "rounds",
    *("longest", "latest_minimum", "least_gap", "ringnorm", "ringnorm_machine"),
    *("threenorm", "sonar", "german", "german_low", "german_high"),
)
def what_more_rounds_do(study: Study) -> dict[str, float]:
    """Compare AdaBoost's curves with the machines, on the same runs.

    With stumps on twonorm-n, threenorm and german: the latest round of a minimum, and the least gap between a
    minimum and the machine. With perceptrons: the gap after the last round, on three sets; and ringnorm.
    """
    evidence, rounds = study.evidence("rounds"), study.protocol("rounds")["rounds"]

    def pair(label: str, base: str) -> tuple[np.ndarray, float]:
        curves = evidence.runs("error", label, f"AB-{base}")
        machine = study.evidence("table1").array("error", [label], [f"SVM-{base}"], len(curves))
        return np.mean(curves, axis=0), float(machine.mean())

    overlapping = [pair(label, "Stump") for label in ("twonorm-n", "threenorm", "german")]
    last = {label: pair(label, "Perc") for label in ("threenorm", "sonar", "german", "ringnorm")}
    german = last["german"][0]
    gaps = {label: curve[-1] - machine for label, (curve, machine) in last.items()}
    return {
        "longest": rounds[-1],
        "latest_minimum": max(rounds[curve.argmin()] for curve, _ in overlapping),
        "least_gap": min(curve.min() - machine for curve, machine in overlapping),
        "ringnorm": last["ringnorm"][0].min(),
        "ringnorm_machine": last["ringnorm"][1],
        "german_low": german.min(),
        "german_high": german.max(),
        **{label: gaps[label] for label in ("threenorm", "sonar", "german")},
    }


_SAMPLED = ("twonorm-n", "threenorm", "ringnorm", "german", "sonar")


@reading.facts(
    "finite",
    *("stumps_1000", "stumps_last", "perceptrons_1000", "perceptrons_last", "largest"),
    *("curves", "rising", "largest_rise", "least_gap"),
)
def how_far_finite_ensembles_are(study: Study) -> dict[str, float]:
    """Return how much more machines on J sampled hypotheses err than the infinite one, on the worst set.

    And of how many mean curves the error rises from one size to the next, how far it does, and the least gap.
    """
    evidence, counts = study.evidence("finite"), list(study.protocol("finite")["counts"])
    facts, curves = {"largest": counts[-1]}, []
    for name, method in (("stumps", "SVM-Stump"), ("perceptrons", "SVM-Perc")):
        means = np.array([np.mean(evidence.runs("error", label, method), axis=0) for label in _SAMPLED])
        curves += list(means)
        more = means[:, :-1] - means[:, -1:]
        facts |= {f"{name}_1000": more[:, counts.index(1000)].max(), f"{name}_last": more[:, -1].max()}
    rises = [np.diff(curve).max() for curve in curves]
    return facts | {
        "curves": len(curves),
        "rising": sum(rise > 0 for rise in rises),
        "largest_rise": max(rises),
        "least_gap": min(curve[:-1].min() - curve[-1] for curve in curves),
    }


@reading.facts("lpboost", "least_size", "most_size", "significant", "lpboost_n", "adaboost_n")
def what_lpboost_does(study: Study) -> dict[str, float | str]:
    """Return the least and the largest mean number of stumps over sets, and who errs less on the same runs.

    ``significant``: sets where SVM-Stump errs less (paired t-tests, Holm over sets); ``_n``: on twonorm-n.
    """
    evidence = study.evidence("lpboost")
    labels, sizes, errors = evidence.datasets, evidence.array("size").mean(axis=0), evidence.array("error")
    table1, noisy = study.evidence("table1"), evidence.array("error", ["twonorm-n"])
    others = table1.array("error", labels, ["SVM-Stump"], len(errors))
    p = holm(np.array([paired_p_value(errors[:, k, 0], others[:, k, 0]) for k in range(len(labels))]))
    ahead = (errors[:, :, 0] - others[:, :, 0]).mean(axis=0) > 0
    return {
        "least_size": sizes.min(),
        "most_size": sizes.max(),
        "significant": joined(
            [d for d, small, less in zip(labels, p < 0.05, ahead, strict=True) if small & less]
        )
        or "no set",
        "lpboost_n": noisy.mean(),
        "adaboost_n": table1.array("error", ["twonorm-n"], ["AB-Stump-1000"], len(noisy)).mean(),
    }


@reading.facts(
    "hard", *(f"{label}{end}" for label in ("twonorm", "threenorm", "ringnorm") for end in ("", "_se"))
)
def what_hard_margins_cost_perceptrons(study: Study) -> dict[str, float]:
    """Return the change of SVM-Perc's error by hard margins on clean sets, on the same runs."""
    facts = {}
    for label in CLEAN_SETS:
        hard = study.evidence("hard").array("error", [label], ["SVM-Perc"]).ravel()
        chosen = study.evidence("table1").array("error", [label], ["SVM-Perc"], len(hard)).ravel()
        change = hard - chosen
        facts |= {label: change.mean(), f"{label}_se": change.std(ddof=1) / np.sqrt(len(change))}
    return facts


@reading.facts("paired", "perceptron_real", "gauss_real", "perceptron_generated", "gauss_generated", "alone")
def which_kernel_errs_less(study: Study) -> dict[str, float | str]:
    """Name the sets where SVM-Perc or SVM-Gauss errs less: paired t-tests, Holm over the sets of a kind.

    ``alone``: by how much SVM-Gauss leads on the generated sets without ringnorm.
    """
    evidence, facts = study.evidence("table1"), {}
    for kind, labels in (("real", REAL_SETS), ("generated", GENERATED_SETS)):
        errors = evidence.array("error", labels, KERNELS[1:])
        p = holm(np.array([paired_p_value(*errors[:, k].T) for k in range(len(labels))]))
        lead = np.diff(errors.mean(axis=0))[:, 0]  # of SVM-Perc
        for name, sign in (("perceptron", 1), ("gauss", -1)):
            ahead = [
                d for d, small, by in zip(labels, p < 0.05, lead, strict=True) if small and sign * by > 0
            ]
            facts[f"{name}_{kind}"] = joined(ahead) or "no set"
    others = [d for d in GENERATED_SETS if not d.startswith("ringnorm")]
    return {**facts, "alone": _lead(evidence.array("error", others, KERNELS[1:]))}


_TREES = ("RandomForest", "HistGradientBoosting", "LightGBM")


@reading.facts("modern", *("ahead", "generated", "behind", "machines_real", "forest_real", "forest"))
def how_trees_compare(study: Study) -> dict[str, float | str]:
    """Compare SVM-Perc and SVM-Stump with trees on the same runs.

    ``ahead``: generated sets where SVM-Perc errs less than all trees; ``behind``: generated sets where a tree
    ensemble errs less than SVM-Stump; ``_real``: real sets where SVM-Perc or the forest errs less (paired
    t-tests, Holm over the sets); ``forest``: sets where the forest errs less than both boosting programs.
    """
    trees = study.evidence("modern").array("error", TABLE_SETS, _TREES)
    machines = study.evidence("table1").array("error", TABLE_SETS, KERNELS[:2], len(trees))
    means, best = machines.mean(axis=0), trees.mean(axis=0)
    generated = [TABLE_SETS.index(d) for d in GENERATED_SETS]
    real = [TABLE_SETS.index(d) for d in REAL_SETS]
    p = holm(np.array([paired_p_value(machines[:, k, 1], trees[:, k, 0]) for k in real]))
    told = [(TABLE_SETS[k], means[k, 1] < best[k, 0]) for k, q in zip(real, p, strict=True) if q < 0.05]
    return {
        "ahead": sum(means[k, 1] < best[k].min() for k in generated),
        "generated": len(generated),
        "behind": joined([TABLE_SETS[k] for k in generated if best[k].min() < means[k, 0]]) or "no set",
        "machines_real": joined([d for d, machine in told if machine]) or "no set",
        "forest_real": joined([d for d, machine in told if not machine]) or "no set",
        "forest": int((best[:, 0] < best[:, 1:].min(axis=1)).sum()),
    }
