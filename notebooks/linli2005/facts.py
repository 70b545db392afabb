"""The numbers that the article of linli2005 says of what goes beyond the tables: facts, by name."""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import holm, paired_p_value
from kernsemble.report.words import joined
from kernsemble.trials.study import Study
from linli2005.claims import (
    KERNELS,
    STUMPS,
    reading,
    roughness,
    sides_in_the_plane,
    z_of_stand_in,
    z_scores,
)
from linli2005.regularized import UPDATES
from linli2005.thousand import LEARNERS, MACHINES, SIZES, at_sizes
from linli2005.trials import DRAWN_METHODS, GENERATED_SETS, NEAR_SETS, NOISY_SETS, PLANE_SET, TABLE_SETS

CHOSEN_PERCEPTRONS = ("twonorm-n", "threenorm", "heart", "sonar")
BASES = {"stumps": "SVM-Stump", "perceptrons": "SVM-Perc"}
NORM_SETS = ("twonorm-n", "heart", "sonar", "votes84")
CELLS = ("l1, J", "l1, all", "l2, J", "l2, all")


@reading.facts("best_reading", "distinct", "declared", "best", "rings", "rings_declared", "rings_best")
def both_readings(study: Study) -> dict[str, int]:
    """Distinct printed cells within two standard errors: as declared, and with ringnorm's mean at norm 1."""
    z, near = z_scores(study), {**z_of_stand_in(study, "ringnorm"), **z_of_stand_in(study, "ringnorm-n")}
    rings = [value for (label, _), value in z.items() if label.startswith("ringnorm")]
    others = [value for (label, _), value in z.items() if not label.startswith("ringnorm")]
    inside, own, moved = (int((np.abs(list(some)) <= 2).sum()) for some in (others, rings, near.values()))
    return {
        "distinct": len(z),
        "declared": inside + own,
        "best": inside + moved,
        "rings": len(rings),
        "rings_declared": own,
        "rings_best": moved,
    }


@reading.facts(
    "chosen_rounds",
    *("wins", "sets", "lead", "lead_100", "lead_1000", "noisy", "noisy_1000", "ahead", "behind"),
    *("least_T", "most_T", "runs"),
    *(f"{label}_{what}" for label in CHOSEN_PERCEPTRONS for what in ("boosted", "machine", "usual")),
)  # fmt: skip
def what_choosing_t_changes(study: Study) -> dict[str, float | str]:
    """AdaBoost with T chosen beside SVM-Stump and fixed T, on the same runs.

    ``lead``: mean over sets of AdaBoost's error minus the machine's; ``ahead``, ``behind``: sets where the
    machine or AdaBoost errs less (paired t-tests, Holm over the sets). Over perceptrons: the three errors.
    """
    chosen, table = study.evidence("chosen_rounds"), study.evidence("table1")
    boosted = chosen.array("error", TABLE_SETS, ["AB-Stump"])[:, :, 0]
    fixed = table.array("error", TABLE_SETS, STUMPS, len(boosted))
    machine, hundred, thousand = np.moveaxis(fixed, 2, 0)
    lead, told = (boosted - machine).mean(axis=0), _told_apart(boosted, machine)
    noisy = [TABLE_SETS.index(label) for label in NOISY_SETS]
    T = chosen.array("T", TABLE_SETS, ["AB-Stump"])
    facts = {
        "wins": int((lead > 0).sum()), "sets": len(TABLE_SETS), "lead": lead.mean(), "runs": len(boosted),
        "lead_100": (hundred - machine).mean(), "lead_1000": (thousand - machine).mean(),
        "noisy": lead[noisy].mean(), "noisy_1000": (thousand - machine)[:, noisy].mean(),
        "ahead": joined([label for label, by in told if by > 0]) or "no set",
        "behind": joined([label for label, by in told if by < 0]) or "no set",
        "least_T": T.mean(axis=0).min(), "most_T": T.mean(axis=0).max(),
    }  # fmt: skip
    for label in CHOSEN_PERCEPTRONS:
        own = chosen.array("error", [label], ["AB-Perc"])
        facts[f"{label}_boosted"] = own.mean()
        for what, method in (("machine", "SVM-Perc"), ("usual", "AB-Perc-1000")):
            facts[f"{label}_{what}"] = table.array("error", [label], [method], len(own)).mean()
    return facts


def four_cells(study: Study, label: str, base: str) -> np.ndarray:
    """Return the errors of a set over stumps or perceptrons, (runs, l1 J, l1 all, l2 J, l2 all)."""
    evidence = study.evidence("norms")
    names = [f"l1, J {base}", f"l1, all {base}", f"l2, J {base}"]
    drawn = evidence.array("error", [label], names)[:, 0]
    whole = study.evidence("table1").array("error", [label], [BASES[base]], len(drawn))[:, 0]
    return np.hstack([drawn, whole])


@reading.facts(
    "norms",
    *(f"{base}_{what}" for base in BASES for what in ("norm_J", "norm_all", "size_l1", "size_l2")),
    *(f"noisy_{base}_{what}" for base in BASES for what in ("norm_J", "norm_all", "size_l1", "size_l2")),
    *("gap", "late", "drawn", "runs", "sets", "l1_size", "fits"),
)
def norm_and_size(study: Study) -> dict[str, float | str]:
    """Effects in points, mean over the sets: of the l1 norm instead of l2, of J hypotheses instead of all.

    ``noisy``: on twonorm-n alone. ``gap``: the largest relative gap of a final fit over a known family;
    ``late``: fits that used all their rounds; ``l1_size``: hypotheses with weight, the least and the largest
    mean over the runs of a set.
    """
    evidence, protocol = study.evidence("norms"), study.protocol("norms")
    facts: dict[str, float | str] = {"drawn": protocol["n_drawn"], "sets": joined(list(NORM_SETS))}
    for base in BASES:
        cells = {label: four_cells(study, label, base).mean(axis=0) for label in NORM_SETS}
        noisy = cells[NORM_SETS[0]]
        for start, (l1_some, l1_all, l2_some, l2_all) in (
            (base, np.mean(list(cells.values()), axis=0)),
            (f"noisy_{base}", noisy),
        ):
            facts |= {f"{start}_norm_J": l1_some - l2_some, f"{start}_norm_all": l1_all - l2_all}
            facts |= {f"{start}_size_l1": l1_some - l1_all, f"{start}_size_l2": l2_some - l2_all}
    linear = [method for method in evidence.methods if method.startswith("l1")]
    rounds, sizes = (evidence.array(metric, NORM_SETS, linear) for metric in ("rounds", "size"))
    known = [method for method in linear if method != "l1, all perceptrons"]
    means = sizes.mean(axis=0)
    return facts | {
        "gap": float(evidence.array("gap", NORM_SETS, known).max()),
        "late": int((rounds >= protocol["n_rounds"]).sum()),
        "fits": rounds.size,
        "runs": len(rounds),
        "l1_size": f"{means.min():.0f} to {means.max():.0f}",
    }


@reading.facts(
    "programs",
    *(f"{what}_{base}" for base in BASES for what in ("ahead", "behind", "least", "most", "noisy", "late")),
    *("gap", "smallest_C", "largest_C", "fits", "runs", "boosted_noisy"),
)
def linear_programs_on_all_sets(study: Study) -> dict[str, float | str]:
    """LPBoost beside the machines on the same runs.

    ``ahead``, ``behind``: sets where the machine or LPBoost errs less (paired t-tests, Holm over the sets);
    ``least``, ``most``: mean number of hypotheses over sets; ``noisy``: LPBoost's error on twonorm-n, beside
    ``boosted_noisy``, of AdaBoost over stumps; ``late``: final fits that used all their rounds; ``gap``: the
    largest relative one, over stumps; ``_C``: final fits with C at an end of the grid.
    """
    evidence, table, protocol = (
        study.evidence("programs"),
        study.evidence("table1"),
        study.protocol("programs"),
    )
    facts: dict[str, float | str] = {}
    for base, machine in BASES.items():
        method = [machine.replace("SVM", "LPBoost")]
        errors, sizes, rounds = (
            evidence.array(m, TABLE_SETS, method)[:, :, 0] for m in ("error", "size", "rounds")
        )
        own = table.array("error", TABLE_SETS, [machine], len(errors))[:, :, 0]
        told = _told_apart(errors, own)
        facts |= {
            f"ahead_{base}": joined([label for label, by in told if by > 0]) or "no set",
            f"behind_{base}": joined([label for label, by in told if by < 0]) or "no set",
            f"least_{base}": sizes.mean(axis=0).min(), f"most_{base}": sizes.mean(axis=0).max(),
            f"noisy_{base}": errors[:, TABLE_SETS.index("twonorm-n")].mean(),
            f"late_{base}": int((rounds >= protocol["n_rounds"]).sum()),
        }  # fmt: skip
    C = evidence.array("log2_C", TABLE_SETS)
    return facts | {
        "gap": float(evidence.array("gap", TABLE_SETS, ["LPBoost-Stump"]).max()),
        "smallest_C": int((protocol["log2_C"][0] == C).sum()),
        "largest_C": int((protocol["log2_C"][-1] == C).sum()),
        "fits": C.size,
        "runs": len(C),
        "boosted_noisy": table.array("error", ["twonorm-n"], ["AB-Stump-1000"], len(C)).mean(),
    }


def _told_apart(errors: np.ndarray, others: np.ndarray) -> list[tuple[str, float]]:
    """Return the sets on which errors (runs, sets) differ by paired t-tests, with the mean difference."""
    p = holm(np.array([paired_p_value(*both) for both in zip(errors.T, others.T, strict=True)]))
    lead = (errors - others).mean(axis=0)
    return [(label, by) for label, q, by in zip(TABLE_SETS, p, lead, strict=True) if q < 0.05]


@reading.facts("libsvm", "differs", "alike", "fits", "same", "most", "runs")
def libsvm_beside_ours(study: Study) -> dict[str, float]:
    """Predictions of LIBSVM and of our solver, at one C and gamma and with a selection of their own.

    ``differs``: the largest mean percent of test points over sets and kernels; ``alike``: fits without any;
    ``same``: selections that end at the same parameters; ``most``: the largest difference of mean errors.
    """
    evidence = study.evidence("libsvm")
    names = ("error", "own_error", "differs", "same_choice")
    read = {metric: evidence.array(metric, TABLE_SETS, KERNELS) for metric in names}
    error, own = (read[metric].mean(axis=0) for metric in ("error", "own_error"))
    return {
        "differs": read["differs"].mean(axis=0).max(),
        "alike": int((read["differs"] == 0).sum()),
        "fits": read["differs"].size,
        "same": int(read["same_choice"].sum()),
        "most": np.abs(error - own).max(),
        "runs": len(read["differs"]),
    }


GRIDS = {"SVM-Stump": "log2_C_distance", "SVM-Perc": "log2_C_distance", "SVM-Gauss": "log2_C_gauss"}


@reading.facts(
    "chosen", *(f"{m.removeprefix('SVM-').lower()}_{what}" for m in GRIDS for what in ("edge", "support")),
    *("gamma_edge", "gamma_sets", "gamma_median", "runs"),
)  # fmt: skip
def what_the_machines_selected(study: Study) -> dict[str, float | str]:
    """How often C, or gamma, lies at an end of its grid, over all sets; support vectors, percent of the rows.

    ``support``: the least and the largest share of the training rows of generated sets, mean over runs.
    """
    table, protocol = study.evidence("table1"), study.protocol("table1")
    facts: dict[str, float | str] = {}
    for method, grid in GRIDS.items():
        C, name = table.array("log2_C", TABLE_SETS, [method]), method.removeprefix("SVM-").lower()
        facts[f"{name}_edge"] = int(np.isin(C, [protocol[grid][0], protocol[grid][-1]]).sum())
        size = table.array("size", GENERATED_SETS, [method]).mean(axis=0) / protocol["sizes"]["train"]
        facts[f"{name}_support"] = f"{100 * size.min():.0f} to {100 * size.max():.0f}"
        facts["runs"] = C.size
    gamma = table.array("log2_gamma", TABLE_SETS, ["SVM-Gauss"])[:, :, 0]
    at_end = np.isin(gamma, [protocol["log2_gamma"][0], protocol["log2_gamma"][-1]])
    places = [label for label, some in zip(TABLE_SETS, at_end.any(axis=0), strict=True) if some]
    told = {"gamma_edge": int(at_end.sum()), "gamma_sets": joined(places) or "no set"}
    return facts | told | {"gamma_median": float(np.median(gamma))}


UPDATED = {"threenorm": "threenorm", "ringnorm-near": "near", "australian": "australian"}


@reading.facts(
    "updates",
    *(
        f"{name}_{method.split()[0]}_{what}"
        for name in UPDATED.values() for method in UPDATES for what in ("100", "1000", "weighted")
    ),
    *("runs",),
)  # fmt: skip
def what_updates_do(study: Study) -> dict[str, float]:
    """Errors after 100 and 1000 rounds by number of updates, and the mean weighted error of 1000 learners."""
    evidence, facts = study.evidence("updates"), {}
    for label, name in UPDATED.items():
        for method in UPDATES:
            start = f"{name}_{method.split()[0]}"
            facts[f"{start}_100"], facts[f"{start}_1000"] = np.mean(
                evidence.runs("error", label, method), axis=0
            )
            facts[f"{start}_weighted"] = np.mean(evidence.runs("weighted", label, method), axis=0)[-1]
            facts["runs"] = len(evidence.runs("error", label, method))
    return facts


@reading.facts(
    "near",
    *(f"{what}_{base}" for what in ("hard", "soft", "finite", "infinite") for base in ("stump", "perc")),
    *("noisy_hard_stump", "noisy_soft_stump", "noisy_hard_perc", "noisy_soft_perc"),
    *("forest", "histogram", "lightgbm", "boosted", "boosted_T", "boosted_last", "largest", "runs", "gauss"),
)
def ringnorm_with_the_nearer_mean(study: Study) -> dict[str, float]:
    """What the sections beyond the tables say, on ringnorm with a mean of norm 1, all on the same runs."""
    evidence, table, near = study.evidence("near"), study.evidence("table1"), NEAR_SETS[0]
    runs = len(evidence.runs("error", near, "hard, SVM-Stump"))
    facts: dict[str, float] = {"runs": runs, "largest": study.protocol("near")["counts"][-1]}
    for short, method in (("stump", "SVM-Stump"), ("perc", "SVM-Perc")):
        for start, label in (("", near), ("noisy_", NEAR_SETS[1])):
            facts[f"{start}hard_{short}"] = np.mean(evidence.runs("error", label, f"hard, {method}"))
            facts[f"{start}soft_{short}"] = table.array("error", [label], [method], runs).mean()
        curve = np.mean(evidence.runs("error", near, f"finite, {method}"), axis=0)
        facts[f"finite_{short}"], facts[f"infinite_{short}"] = curve[-2], curve[-1]
    for name, method in (
        ("forest", "RandomForest"), ("histogram", "HistGradientBoosting"), ("lightgbm", "LightGBM"),
    ):  # fmt: skip
        facts[name] = np.mean(evidence.runs("error", near, f"modern, {method}"))
    curve = np.mean(evidence.runs("error", near, "rounds, AB-Perc"), axis=0)
    facts |= {"boosted": curve.min(), "boosted_last": curve[-1]}
    facts["boosted_T"] = study.protocol("near")["rounds"][int(curve.argmin())]
    facts["gauss"] = table.array("error", [near], [KERNELS[2]], runs).mean()
    return facts


@reading.facts(
    "where",
    *(
        f"{short}_{what}"
        for short in ("svm_stump", "svm_perc", "ab_stump", "ab_perc")
        for what in ("center", "spread", "moves", "length")
    ),
    *("runs", "draws", "drawn"),
)
def where_and_how_stable(study: Study) -> dict[str, float]:
    """Disagreement with Bayes in the middle ninth of the square; deviation of its area over draws.

    ``moves``: percent of the square that differs from the class of most draws; ``length``: of the boundary,
    in sides of the square.
    """
    where, area = study.evidence("where"), study.evidence("figure2")
    facts: dict[str, float] = {}
    for short, method in zip(("svm_stump", "ab_stump", "svm_perc", "ab_perc"), DRAWN_METHODS, strict=True):
        facts[f"{short}_center"] = np.mean(where.runs("center", PLANE_SET, method))
        areas = area.array("area", [PLANE_SET], [method]).ravel()
        facts[f"{short}_spread"] = areas.std(ddof=min(1, len(areas) - 1))
        facts["draws"], facts["runs"] = len(areas), len(where.runs("center", PLANE_SET, method))
        sides = sides_in_the_plane(study, method)
        facts[f"{short}_moves"], facts[f"{short}_length"] = map(np.mean, roughness(sides))
        facts["drawn"] = len(sides)
    return facts


@reading.facts(
    "thousand",
    *("runs", "stump_first", "stump_last", "perc_first", "perc_last", "generated_last", "boosted_last"),
    *("light_first", "light_last", "bayes", "best", "machines", "cells", "stump_seconds", "boosted_seconds"),
    *("light_seconds", "perc_seconds", "generated_seconds"),
)
def what_a_thousand_times_the_rows_change(study: Study) -> dict[str, float | str]:
    """Mean errors over the three sets with the fewest and the most rows, and seconds with the most.

    ``best``: the learner of the least error on each set with the most rows; ``machines``: of the ``cells``, a
    set and a number of rows each, those in which a machine has the least mean error.
    """
    evidence = study.evidence("thousand")
    error = evidence.array("error", NOISY_SETS, at_sizes(*LEARNERS))
    by_size = error.mean(axis=0).reshape(len(NOISY_SETS), len(LEARNERS), len(SIZES))
    seconds = evidence.array("fit_seconds", NOISY_SETS, at_sizes(*LEARNERS)).mean(axis=(0, 1))
    seconds = seconds.reshape(len(LEARNERS), len(SIZES))[:, -1]
    means, place = by_size.mean(axis=0), {name: k for k, name in enumerate(LEARNERS)}
    stump, perc, generated = (place[name] for name in MACHINES)
    boosted, light = place["AB-Stump-1000"], place["LightGBM"]
    least = by_size.argmin(axis=1)
    names = [f"{LEARNERS[k]} on {label}" for k, label in zip(least[:, -1], NOISY_SETS, strict=True)]
    return {
        "runs": len(error),
        "stump_first": means[stump, 0],
        "stump_last": means[stump, -1],
        "perc_first": means[perc, 0],
        "perc_last": means[perc, -1],
        "generated_last": means[generated, -1],
        "boosted_last": means[boosted, -1],
        "light_first": means[light, 0],
        "light_last": means[light, -1],
        "bayes": evidence.array("error", NOISY_SETS, ["Bayes"]).mean(),
        "best": joined(names),
        "machines": int((least < len(MACHINES)).sum()),
        "cells": least.size,
        "stump_seconds": seconds[stump],
        "boosted_seconds": seconds[boosted],
        "light_seconds": seconds[light],
        "perc_seconds": seconds[perc],
        "generated_seconds": seconds[generated],
    }
