"""How linli2005 is judged: its 126 printed numbers and its claims.

Tables I and II hold means and standard errors over 100 runs. Both read the same trials: the columns that they
share are the same machines. A check computes the numbers that decide the parts of a claim; their limits
stand in ``published/claims.yaml``.
"""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import holm, paired_p_value
from kernsemble.report.ledger import Finding, Reading, Rule, judge_cell, measure
from kernsemble.report.published import own_cells, printed_array, printed_spreads
from kernsemble.report.verdicts import Answer
from kernsemble.trials.study import Study
from linli2005.trials import (
    CLEAN_SETS,
    GENERATED_SETS,
    N_CELLS,
    NOISY_SETS,
    PLANE_SET,
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
FAMILIES = {"stumps": STUMPS, "perceptrons": PERCEPTRONS}
BASE_NAMES = {"stumps": "Stump", "perceptrons": "Perc"}


@reading.claim("L1")
def constant_can_be_dropped(study: Study) -> Finding:
    """Add the exact constant to the kernel."""
    return Finding({"scores": measure(np.max, study.evidence("theorems").array("constant"), n_resamples=0)})


@reading.claim("L2")
def any_labeling_is_separated(study: Study) -> Finding:
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
    note = (
        f"{fits[applies].sum()} of {applies.sum()} training sets where a theorem applies are fitted under "
        "every labeling; stump kernel where the condition of theorem 3 fails: "
        f"{fits[~applies].sum()} of {(~applies).sum()}"
    )
    return Finding({"fitted": Answer(fits[applies].mean())}, note=note)


@reading.claim("L3")
def svm_beats_adaboost(study: Study) -> Finding:
    """Count sets by mean errors."""
    evidence, parts = study.evidence("table1"), {}
    for name, methods in FAMILIES.items():
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
    for name, methods in FAMILIES.items():
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
        "ahead": measure(lead_of, generated, printed_array(study, "table2", GENERATED_SETS, both)),
    }
    return Finding(parts, facts={"alike": _alike(real), "lead": lead_of(generated)})


def _alike(errors: np.ndarray) -> int:
    """Count the sets on which two methods differ by no more than two standard errors of the difference."""
    means, variances = errors.mean(axis=0), errors.var(axis=0, ddof=min(1, len(errors) - 1))
    width = np.sqrt(variances.sum(axis=1) / len(errors))
    return int((np.abs(np.diff(means)[:, 0]) <= 2.0 * width).sum())


def lead_of(errors: np.ndarray) -> float:
    """Mean error of the first method minus that of the second, over sets."""
    return float(-np.diff(errors.mean(axis=(0, 1)))[0])


@reading.claim("L6")
def stump_slightly_worse_than_perceptron(study: Study) -> Finding:
    """Compare mean errors over the sets; of AdaBoost's two T the better one on each set."""
    methods = ("SVM-Perc", *STUMPS)
    errors = study.evidence("table1").array("error", TABLE_SETS, methods)
    printed = printed_array(study, "table1", TABLE_SETS, methods)
    parts = {
        "behind": measure(lambda e: _behind(e)[0], errors, printed),
        "boosted_more": measure(lambda e: float(-np.subtract(*_behind(e))), errors, printed),
    }
    return Finding(parts)


def _behind(errors: np.ndarray) -> tuple[float, float]:
    """Mean over sets of SVM-Stump and of the better AdaBoost-Stump, minus SVM-Perc."""
    means = errors.mean(axis=0)
    best = means[:, 2:].min(axis=1)
    return float((means[:, 1] - means[:, 0]).mean()), float((best - means[:, 0]).mean())


@reading.claim("L7", "stumps", "perceptrons", "least", "most")
def selection_is_ten_times_cheaper(study: Study) -> Finding:
    """Count the problems that are solved, and time them."""
    evidence = study.evidence("selection")
    labels = tuple(label for label in evidence.datasets if label in TABLE_SETS)
    problems, seconds = (
        evidence.array(metric, labels, KERNELS) for metric in ("problems", "selection_seconds")
    )
    more, longer = (values[:, :, 2:] / values[:, :, :2] for values in (problems, seconds))
    ratios, by_run = np.median(longer, axis=(0, 1)), np.median(longer, axis=1)
    note = "{stumps:.1f} times as long as SVM-Stump, {perceptrons:.1f} times as long as SVM-Perc"
    parts = {
        "count": Answer(float(more.max()) if np.ptp(more) == 0 else float("nan")),
        "seconds": measure(lambda some: float(np.median(some, axis=(0, 1)).min()), longer),
    }
    facts = {"stumps": ratios[0], "perceptrons": ratios[1], "least": by_run.min(), "most": by_run.max()}
    return Finding(parts, note=note, facts=facts)


@reading.claim("L8", "least", "most")
def svm_boundaries_closer_to_bayes(study: Study) -> Finding:
    """Compare mean areas over draws.

    The facts are the least and the largest ratio of AdaBoost's area to that of its SVM.
    """
    parts, note, times = {}, [], []
    for name, methods in FAMILIES.items():
        areas = study.evidence("figure2").array("area", methods=methods)[:, 0]
        note += [f"{m} {a:.1f} %" for m, a in zip(methods, areas.mean(axis=0), strict=True)]
        parts[f"closer_{name}"] = measure(lambda a: float(_times(a).min()), areas)
        times += list(_times(areas))
    return Finding(parts, note="; ".join(note), facts={"least": min(times), "most": max(times)})


def _times(areas: np.ndarray) -> np.ndarray:
    means = areas.mean(axis=0)
    return means[1:] / means[0]


@reading.claim("L9")
def scaling_kernel_is_scaling_c(study: Study) -> Finding:
    """Multiply K by 1000 and divide C by 1000."""
    return Finding({"scores": measure(np.max, study.evidence("theorems").array("scaling"), n_resamples=0)})


@reading.claim("L10", "least", "most")
def soft_margin_controls_the_power(study: Study) -> Finding:
    """Compare hard margins with the machine whose C was selected, with label noise, on the same runs."""
    hard = study.evidence("hard").array("error", NOISY_SETS, KERNELS[:2])
    more = hard - study.evidence("table1").array("error", NOISY_SETS, KERNELS[:2], len(hard))
    cost = measure(lambda m: float(m.mean(axis=0).min()), more)
    facts = {"least": cost.value, "most": more.mean(axis=0).max()}
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
    for name, base in BASE_NAMES.items():
        boosted = evidence.array("error", TABLE_SETS, [f"LPBoost-{base}"])
        machine = study.evidence("table1").array("error", TABLE_SETS, [f"SVM-{base}"], len(boosted))
        lead = (boosted - machine)[:, :, 0]
        parts[name] = measure(lambda more: int((more.mean(axis=0) > 0).sum()), lead)
        facts |= {f"wins_{name}": parts[name].value, f"lead_{name}": lead.mean()}
    note = (
        "mean lead of the machine: {lead_stumps:.1f} (stumps), {lead_perceptrons:.1f} points (perceptrons); "
        f"{len(boosted)} runs"
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
    for name, base in BASE_NAMES.items():
        gaps = []
        for label in evidence.datasets:
            curves = np.array(evidence.runs("error", label, f"AB-{base}"))
            machine = study.evidence("table1").array("error", [label], [f"SVM-{base}"], len(curves))[:, 0]
            gaps.append(curves - machine)
        parts[name] = measure(lambda e: float(e.mean(axis=0).min()), np.stack(gaps, axis=1))
    return Finding(parts)


@reading.claim("L15")
def gaussian_kernel_has_infinite_capacity(study: Study) -> Finding:
    """Fit random labelings by hard margins, at several widths; a part is judged at the best width of a set.

    The note has the share of training sets that are fitted under every labeling, at each gamma.
    """
    separated = np.array([study.evidence("capacity").runs("separated", d, "Gaussian") for d in TABLE_SETS])
    fits = separated == 1  # sets x runs x widths
    widths = study.protocol("capacity")["log2_widths"]
    told = ", ".join(
        f"2^{k}: {100 * share:.0f} %" for k, share in zip(widths, fits.mean(axis=(0, 1)), strict=True)
    )
    return Finding({"fitted": Answer(fits.any(axis=2).mean())}, note=f"fitted at gamma = {told}")


@reading.claim("L16")
def adaboost_overfits_in_the_center(study: Study) -> Finding:
    """Compare the mean shares on which AdaBoost and the SVM differ from Bayes, in the middle ninth of the
    square; and how much more AdaBoost does there with how much more it does in the whole square.
    """
    where, parts, apart = study.evidence("where"), {}, {}
    for name, base in BASE_NAMES.items():
        methods = (f"AB-{base}-1000", f"SVM-{base}")
        center = np.array([where.runs("center", PLANE_SET, method) for method in methods]).T
        square = np.array([np.mean(where.runs("share", PLANE_SET, method), axis=1) for method in methods]).T
        parts[name] = measure(_ratio, center)
        apart[f"center_{name}"] = measure(_concentration, np.stack([center, square], axis=2))
    return Finding(parts | apart)


def _concentration(shares: np.ndarray) -> float:
    """Share of the first method's excess that lies in the center, over the center's share of the area.

    ``shares``: percent of the center and of the square, runs x methods x 2; nan where there is no excess.
    """
    center, square = -np.diff(shares.mean(axis=0), axis=0)[0]
    return float(center / square) if square > 0 else float("nan")


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


def z_scores(study: Study, *, best: bool = False) -> dict[tuple[str, str], float]:
    """Return z of every printed cell that can be compared, by dataset and method; the tables share some.

    With ``best`` by the best reading, where it differs from the declared one.
    """
    judged = {(cell.row, cell.column): judge_cell(cell, reading, study) for cell in own_cells(study)}
    z = {place: row.best_z if best and row.best_z is not None else row.z for place, row in judged.items()}
    return {place: value for place, value in z.items() if value is not None}
