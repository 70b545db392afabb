"""How linli2005 is judged: its 126 printed numbers, its claims, and the numbers that the article says.

Tables I and II hold means and standard errors over 100 runs. Both read the same trials: the columns that they
share are the same machines. A check computes the numbers that decide the parts of a claim; their limits
stand in ``published/claims.yaml``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import binom, norm

from kernsemble.report.comparisons import best_methods, holm, paired_p_value
from kernsemble.report.ledger import Finding, Reading, Rule, judge_cell, judge_cells, measure
from kernsemble.report.published import PrintedCell, printed_array, printed_spreads, read_cells
from kernsemble.report.verdicts import COMPARED, Answer
from kernsemble.report.words import joined
from kernsemble.trials.study import Study
from linli2005.trials import (
    BASE_LEARNERS,
    CLEAN_SETS,
    GENERATED_SETS,
    N_CELLS,
    NOISY_SETS,
    PLANE_SET,
    READINGS,
    REAL_SETS,
    TABLE_SETS,
    sides_of,
)

_CELL = {"evidence": "table1", "metric": "error", "spread": "standard error", "runs": 100}
RINGNORM_NEAR = "ringnorm with the mean of its second class at norm 1 instead of 2"
reading = Reading(
    "linli2005",
    [
        Rule(("table1", "table2"), **_CELL),
        Rule("table2", column=("SVM-Stump", "SVM-Perc"), repeats=("table1", "{row}", "{column}"), **_CELL),
    ],
    best=[
        Rule(("table1", "table2"), row, dataset=near, name=RINGNORM_NEAR, **_CELL)
        for row, near in (("ringnorm", "ringnorm-near"), ("ringnorm-n", "ringnorm-near-n"))
    ],
)

STUMPS = ("SVM-Stump", "AB-Stump-100", "AB-Stump-1000")
PERCEPTRONS = ("SVM-Perc", "AB-Perc-100", "AB-Perc-1000")
KERNELS = ("SVM-Stump", "SVM-Perc", "SVM-Gauss")
BASE_NAMES = {"stumps": "Stump", "perceptrons": "Perc"}


@reading.claim("L1")
def constant_can_be_dropped(study: Study) -> Finding:
    """Add the exact constant to the kernel."""
    return Finding({"scores": measure(np.max, study.evidence("theorems").array("constant"), n_resamples=0)})


@reading.claim("L2", "fits", "covered", "beyond_fitted", "beyond")
def any_labelling_is_separated(study: Study) -> Finding:
    """Count training sets with a positive smallest eigenvalue where every random labeling is fitted.

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
        "{fits} of {covered} training sets where a theorem applies are fitted under every labeling; stump "
        "kernel where the condition of theorem 3 fails: {beyond_fitted} of {beyond}"
    )
    facts = {
        "fits": int(fits[applies].sum()),
        "covered": int(applies.sum()),
        "beyond_fitted": int(fits[:, :, stumps][beyond].sum()),
        "beyond": int(beyond.sum()),
    }
    return Finding({"fitted": Answer(fits[applies].mean())}, note=note, facts=facts)


@reading.claim("L3")
def svm_beats_adaboost(study: Study) -> Finding:
    """Count sets by mean errors."""
    evidence, parts = study.evidence("table1"), {}
    for name, methods in (("stumps", STUMPS), ("perceptrons", PERCEPTRONS)):
        printed = printed_array(study, "table1", TABLE_SETS, methods)
        parts[name] = measure(_wins, evidence.array("error", TABLE_SETS, methods), printed)
    return Finding(parts)


def _wins(errors: np.ndarray) -> int:
    """Count the sets where the first method is strictly best."""
    means = errors.mean(axis=0)
    return int((means[:, 0] < means[:, 1:].min(axis=1)).sum())


@reading.claim("L4", "clean_stumps", "noisy_stumps", "clean_perceptrons", "noisy_perceptrons")
def advantage_grows_with_noise(study: Study) -> Finding:
    """Compare three sets with and without label noise; the advantage is the mean over both T."""
    evidence, facts, parts = study.evidence("table1"), {}, {}
    for name, methods in (("stumps", STUMPS), ("perceptrons", PERCEPTRONS)):
        ours, printed = (
            np.stack([read(sets) for sets in (CLEAN_SETS, NOISY_SETS)], axis=-1)
            for read in (
                lambda sets, m=methods: evidence.array("error", sets, m),
                lambda sets, m=methods: printed_array(study, "table1", sets, m),
            )
        )
        parts[name] = measure(lambda errors: float(np.diff(_advantages(errors))[0]), ours, printed)
        facts |= dict(zip((f"clean_{name}", f"noisy_{name}"), _advantages(ours), strict=True))
    note = (
        "stumps: {clean_stumps:.1f} points clean, {noisy_stumps:.1f} noisy; "
        "perceptrons: {clean_perceptrons:.1f} points clean, {noisy_perceptrons:.1f} noisy"
    )
    return Finding(parts, note=note, facts=facts)


def _advantages(errors: np.ndarray) -> np.ndarray:
    """Return AdaBoost's mean error minus the SVM's, clean and noisy."""
    means = errors.mean(axis=(0, 1))  # methods x (clean, noisy)
    return means[1:].mean(axis=0) - means[0]


@reading.claim("L5", "alike", "lead")
def perceptron_equals_gauss_on_real_sets(study: Study) -> Finding:
    """Test both machines on the same runs; ``alike`` counts by the paper's own, unpaired error bars."""
    both, evidence = KERNELS[1:], study.evidence("table1")
    real, generated = (evidence.array("error", sets, both) for sets in (REAL_SETS, GENERATED_SETS))
    p = holm(np.array([paired_p_value(*real[:, k].T) for k in range(len(REAL_SETS))]))
    printed = printed_array(study, "table2", REAL_SETS, both)[0]
    apart = np.abs(np.diff(printed)[:, 0]) > 2.0 * np.hypot(
        *printed_spreads(study, "table2", REAL_SETS, both)[0].T
    )
    parts = {
        "differ": Answer(int((p < 0.05).sum()), int(apart.sum())),
        "ahead": measure(_lead, generated, printed_array(study, "table2", GENERATED_SETS, both)),
    }
    return Finding(parts, facts={"alike": _alike(real), "lead": _lead(generated)})


def _alike(errors: np.ndarray) -> int:
    """Count the sets on which two methods differ by no more than two standard errors of the difference."""
    means, variances = errors.mean(axis=0), errors.var(axis=0, ddof=min(1, len(errors) - 1))
    width = np.sqrt(variances.sum(axis=1) / len(errors))
    return int((np.abs(np.diff(means)[:, 0]) <= 2.0 * width).sum())


def _lead(errors: np.ndarray) -> float:
    """Mean error of the first method minus that of the second, over sets."""
    return float(-np.diff(errors.mean(axis=(0, 1)))[0])


@reading.claim("L6", "boosted")
def stump_slightly_worse_than_perceptron(study: Study) -> Finding:
    """Compare mean errors over the sets; of AdaBoost's two T the better one on each set."""
    methods = ("SVM-Perc", *STUMPS)
    errors = study.evidence("table1").array("error", TABLE_SETS, methods)
    printed = printed_array(study, "table1", TABLE_SETS, methods)
    parts = {
        "behind": measure(lambda e: _behind(e)[0], errors, printed),
        "boosted_more": measure(lambda e: float(-np.subtract(*_behind(e))), errors, printed),
    }
    return Finding(parts, facts={"boosted": _behind(errors)[1]})


def _behind(errors: np.ndarray) -> tuple[float, float]:
    """Mean over sets of SVM-Stump and of the better AdaBoost-Stump, minus SVM-Perc."""
    means = errors.mean(axis=0)
    best = means[:, 2:].min(axis=1)
    return float((means[:, 1] - means[:, 0]).mean()), float((best - means[:, 0]).mean())


@reading.claim("L7", "stumps", "perceptrons", "least", "most", "runs")
def selection_is_ten_times_cheaper(study: Study) -> Finding:
    """Count the problems that are solved, and time them."""
    evidence = study.evidence("selection")
    labels = tuple(label for label in evidence.datasets if label in TABLE_SETS)
    problems, seconds = (
        evidence.array(metric, labels, KERNELS) for metric in ("problems", "selection_seconds")
    )
    more = problems[:, :, 2:] / problems[:, :, :2]
    ratios = np.median(seconds[:, :, 2:] / seconds[:, :, :2], axis=(0, 1))
    note = "{stumps:.1f} times as long as SVM-Stump, {perceptrons:.1f} times as long as SVM-Perc"
    parts = {
        "count": Answer(float(more.max()) if np.ptp(more) == 0 else float("nan")),
        "seconds": measure(_least_ratio, seconds),
    }
    by_run = np.median(seconds[:, :, 2:] / seconds[:, :, :2], axis=1)
    facts = {"stumps": ratios[0], "perceptrons": ratios[1], "runs": len(seconds)}
    return Finding(parts, note=note, facts=facts | {"least": by_run.min(), "most": by_run.max()})


def _least_ratio(seconds: np.ndarray) -> float:
    return float(np.median(seconds[:, :, 2:] / seconds[:, :, :2], axis=(0, 1)).min())


@reading.claim("L8", "least", "most")
def svm_boundaries_closer_to_bayes(study: Study) -> Finding:
    """Compare mean areas over draws.

    The facts are the least and the largest ratio of AdaBoost's area to that of its SVM.
    """
    evidence, parts, note = study.evidence("figure2"), {}, []
    for name, methods in (("stumps", STUMPS), ("perceptrons", PERCEPTRONS)):
        areas = evidence.array("area", methods=methods)[:, 0]
        note += [f"{m} {a:.1f} %" for m, a in zip(methods, areas.mean(axis=0), strict=True)]
        parts[f"closer_{name}"] = measure(lambda a: float(_times(a).min()), areas)
    both = [_times(evidence.array("area", methods=m)[:, 0]) for m in (STUMPS, PERCEPTRONS)]
    return Finding(parts, note="; ".join(note), facts={"least": np.min(both), "most": np.max(both)})


def _times(areas: np.ndarray) -> np.ndarray:
    means = areas.mean(axis=0)
    return means[1:] / means[0]


@reading.claim("L9")
def scaling_kernel_is_scaling_c(study: Study) -> Finding:
    """Multiply K by 1000 and divide C by 1000."""
    return Finding({"scores": measure(np.max, study.evidence("theorems").array("scaling"), n_resamples=0)})


@reading.claim("L10", "least", "most")
def soft_margin_controls_the_power(study: Study) -> Finding:
    """Compare hard margins with the machine whose C was selected, with label noise."""
    chosen = study.evidence("table1").array("error", NOISY_SETS, KERNELS[:2])
    hard = study.evidence("hard").array("error", NOISY_SETS, KERNELS[:2])
    loss = hard.mean(axis=0) - chosen.mean(axis=0)
    cost = measure(lambda h, c: float((h.mean(axis=0) - c.mean(axis=0)).min()), (hard, chosen))
    facts = {"least": loss.min(), "most": loss.max()}
    return Finding({"cost": cost}, note="hard margins cost {least:.1f} to {most:.1f} points", facts=facts)


@reading.claim("L11", "boosted", "machines")
def adaboost_fits_the_noise(study: Study) -> Finding:
    """Compare training errors where 10 % of the labels are wrong."""
    evidence = study.evidence("table1")
    boosted = evidence.array("train_error", NOISY_SETS, ("AB-Stump-1000", "AB-Perc-1000"))
    machines = evidence.array("train_error", NOISY_SETS, KERNELS[:2])
    parts = {
        "fits": measure(lambda e: float(e.mean(axis=0).max()), boosted),
        "leaves": measure(lambda e: float(e.mean(axis=0).min()), machines),
    }
    return Finding(parts, facts={"boosted": parts["fits"].value, "machines": parts["leaves"].value})


@reading.claim("L12", "wins_stumps", "lead_stumps", "wins_perceptrons", "lead_perceptrons", "sets")
def lpboost_changes_nothing(study: Study) -> Finding:
    """Compare mean errors on the same runs."""
    evidence, parts, facts = study.evidence("programs"), {}, {"sets": len(TABLE_SETS)}
    for name, base in (("stumps", "Stump"), ("perceptrons", "Perc")):
        boosted = evidence.array("error", TABLE_SETS, [f"LPBoost-{base}"])
        machine = study.evidence("table1").array("error", TABLE_SETS, [f"SVM-{base}"], len(boosted))
        lead = (boosted - machine)[:, :, 0]
        parts[name] = measure(lambda more: int((more.mean(axis=0) > 0).sum()), lead)
        facts |= {f"wins_{name}": parts[name].value, f"lead_{name}": lead.mean()}
    note = (
        "mean lead of the machine: {lead_stumps:.1f} (stumps) and {lead_perceptrons:.1f} points (perceptrons)"
    )
    return Finding(parts, note=note, facts=facts)


@reading.claim("L13")
def gram_matrix_is_semidefinite(study: Study) -> Finding:
    """Compute the smallest eigenvalue of each Gram matrix."""
    return Finding({"least": measure(np.min, study.evidence("theorems").array("eigenvalue"), n_resamples=0)})


@reading.claim("L14")
def svm_is_ahead_for_any_number_of_rounds(study: Study) -> Finding:
    """Compare AdaBoost's mean curve with the machine on the same runs, on each set that has the curves."""
    evidence, parts = study.evidence("rounds"), {}
    for name, base in (("stumps", "Stump"), ("perceptrons", "Perc")):
        gaps = []
        for label in evidence.datasets:
            curves = np.array(evidence.runs("error", label, f"AB-{base}"))
            machine = study.evidence("table1").array("error", [label], [f"SVM-{base}"], len(curves))[:, 0]
            gaps.append(curves - machine)
        parts[name] = measure(lambda e: float(e.mean(axis=0).min()), np.stack(gaps, axis=1))
    return Finding(parts)


@reading.claim("L15", "widths", "fitted")
def gaussian_kernel_has_infinite_capacity(study: Study) -> Finding:
    """Fit random labelings by hard margins, at several widths; a part is judged at the best width of a set.

    ``fitted``: share of training sets that are fitted under every labeling, at each gamma.
    """
    separated = np.array([study.evidence("capacity").runs("separated", d, "Gaussian") for d in TABLE_SETS])
    fits = separated == 1  # sets x runs x widths
    widths = study.protocol("capacity")["log2_widths"]
    told = ", ".join(
        f"2^{k}: {100 * share:.0f} %" for k, share in zip(widths, fits.mean(axis=(0, 1)), strict=True)
    )
    facts = {"widths": len(widths), "fitted": told}
    return Finding(
        {"fitted": Answer(fits.any(axis=2).mean())}, note="fitted at gamma = {fitted}", facts=facts
    )


@reading.claim("L16")
def adaboost_overfits_in_the_center(study: Study) -> Finding:
    """Compare, in the middle ninth of the square, the mean shares on which the methods differ from Bayes."""
    where, parts = study.evidence("where"), {}
    for name, base in BASE_NAMES.items():
        shares = [where.runs("center", PLANE_SET, method) for method in (f"AB-{base}-1000", f"SVM-{base}")]
        parts[name] = measure(_ratio, np.array(shares).T)
    return Finding(parts)


def _ratio(pairs: np.ndarray) -> float:
    """Mean of the first column over that of the second; nan where that is 0."""
    first, second = pairs.mean(axis=0)
    return float(first / second) if second else float("nan")


@reading.claim("L17")
def infinite_ensembles_are_smoother_and_stabler(study: Study) -> Finding:
    """Compare AdaBoost after 1000 rounds with the SVM on the cells of the square, over draws.

    Stable is who differs little from the class that most draws give a cell; smooth, who has a short boundary.
    """
    parts = {}
    for name, base in BASE_NAMES.items():
        boosted, machine = (sides_in_the_plane(study, m) for m in (f"AB-{base}-1000", f"SVM-{base}"))
        pairs = [np.stack(both, axis=1) for both in zip(*map(roughness, (boosted, machine)), strict=True)]
        parts |= {
            f"{what}_{name}": measure(_ratio, found) for what, found in zip(MEASURED, pairs, strict=True)
        }
    return Finding(parts)


MEASURED = ("stabler", "smoother")


def sides_in_the_plane(study: Study, method: str) -> np.ndarray:
    """Return the sides of all cells of the square, (draws, cells, cells)."""
    lengths = study.evidence("plane").runs("lengths", PLANE_SET, method)
    return np.array([sides_of(own).reshape(N_CELLS, N_CELLS) for own in lengths])


def roughness(sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each draw the percent of cells that differ from the majority, and the boundary's length.

    The length is counted along the edges of cells, in sides of the square.
    """
    majority = sides.mean(axis=0) > 0.5
    differs = 100.0 * (sides != majority).mean(axis=(1, 2))
    crossings = sum((np.diff(sides, axis=axis)).sum(axis=(1, 2)) for axis in (1, 2))
    return differs, crossings / sides.shape[1]


def z_scores(study: Study) -> dict[tuple[str, str], float]:
    """Return z of every printed cell that can be compared, by dataset and method; the tables share some."""
    judged = {(cell.row, cell.column): judge_cell(cell, reading, study).z for cell in _printed(study)}
    return {place: z for place, z in judged.items() if z is not None}


def z_of_stand_in(study: Study, dataset: str) -> dict[tuple[str, str], float]:
    """Return z of the printed cells of ringnorm(-n) by the best reading."""
    cells = [cell for cell in _printed(study) if cell.row == dataset]
    judged = {(cell.row, cell.column): judge_cell(cell, reading, study).best_z for cell in cells}
    return {place: z for place, z in judged.items() if z is not None}


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
        facts |= {
            label: change.mean(),
            f"{label}_se": change.std(ddof=min(1, len(change) - 1)) / np.sqrt(len(change)),
        }
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
