"""The numbers that the article of linli2005 says, beside those of its claims: facts, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import binom, ncx2, norm

from kernsemble.report.comparisons import best_methods, holm, paired_p_value, z_score
from kernsemble.report.ledger import judge_cells
from kernsemble.report.published import own_cells
from kernsemble.report.verdicts import COMPARED
from kernsemble.report.words import joined, names, span
from kernsemble.trials.study import Study
from linli2005.claims import (
    FAMILIES,
    KERNELS,
    PERCEPTRONS,
    STUMPS,
    lead_of,
    reading,
    roughness,
    sides_in_the_plane,
    z_scores,
)
from linli2005.regularized import UPDATES
from linli2005.thousand import LEARNERS, MACHINES, SIZES, at_sizes
from linli2005.trials import (
    BASE_LEARNERS,
    CLEAN_SETS,
    DRAWN_METHODS,
    GENERATED_SETS,
    NEAR_SETS,
    NOISY_SETS,
    PLANE_SET,
    READINGS,
    REAL_SETS,
    TABLE_SETS,
    TREES,
    reading_applies,
)

BASES = {"stumps": "SVM-Stump", "perceptrons": "SVM-Perc"}


def _among(labels: list[str]) -> str:
    return joined(labels) or "no set"


def _told_apart(labels: tuple[str, ...], first: np.ndarray, second: np.ndarray) -> dict[str, float]:
    """Return by how much the first errs less, (runs, sets), where paired t-tests (Holm) tell."""
    p = holm(np.array([paired_p_value(*both) for both in zip(first.T, second.T, strict=True)]))
    lead = (second - first).mean(axis=0)
    return {label: by for label, q, by in zip(labels, p, lead, strict=True) if q < 0.05}


def _who_leads(labels: tuple[str, ...], first: np.ndarray, second: np.ndarray) -> list[list[str]]:
    """Return the sets where each of two has the lower error, (runs, sets): paired t-tests, Holm over sets."""
    told = _told_apart(labels, first, second)
    return [[label for label, by in told.items() if (by > 0) == who] for who in (True, False)]


def _mean(study: Study, exhibit: str, label: str, method: str) -> np.ndarray:
    """Return the mean curve of errors."""
    return np.mean(study.evidence(exhibit).runs("error", label, method), axis=0)


def _se(values: np.ndarray) -> np.ndarray:
    """Return the standard errors of means over the first axis; zero for a single run."""
    return values.std(axis=0, ddof=min(1, len(values) - 1)) / len(values) ** 0.5


def _machine(study: Study, label: str, method: str, runs: int) -> float:
    """Return the mean error of a machine of the tables over its first runs."""
    return float(study.evidence("table1").array("error", [label], [method], runs).mean())


@reading.facts("sampling", "least", "most")
def how_near_sampled_kernels_are_to_the_prediction(study: Study) -> dict[str, float]:
    """Return the least and the largest ratio of the measured to the predicted error, over J and kernels."""
    evidence, ratios = study.evidence("sampling"), []
    for label in evidence.datasets:
        for method in evidence.methods:
            measured, predicted = (
                np.array(evidence.runs(metric, label, method)) for metric in ("error", "predicted")
            )
            ratios.append(np.sqrt((measured**2).mean(axis=0)) / predicted.mean(axis=0))
    return {"least": np.min(ratios), "most": np.max(ratios)}


@reading.facts("table1", *names("lost level", BASES), "stump_real", "stump_ahead")
def who_wins(study: Study) -> dict[str, str | float]:
    """Name the sets where the machine is worse than AdaBoost (lost), or cannot be told from it (level).

    ``stump_real``: points by which SVM-Stump's error is above SVM-Perc's, mean over the real sets;
    ``stump_ahead``: sets on which its mean error is the lower one.
    """
    evidence, facts = study.evidence("table1"), {}
    behind = -np.diff(evidence.array("error", TABLE_SETS, KERNELS[:2]).mean(axis=0))[:, 0]
    facts["stump_real"] = behind[[TABLE_SETS.index(label) for label in REAL_SETS]].mean()
    facts["stump_ahead"] = int((behind < 0).sum())
    for name, methods in FAMILIES.items():
        best = {d: best_methods(evidence.array("error", [d], methods)[:, 0]) for d in TABLE_SETS}
        facts[f"lost_{name}"] = _among([d for d, (machine, *_) in best.items() if not machine])
        level = [d for d, (machine, *boosted) in best.items() if machine and any(boosted)]
        facts[f"level_{name}"] = _among(level)
    return facts


@reading.facts(
    "agreement",
    *("compared", "table2_out", "table2_rings_out", "distinct", "distinct_matching", "best"),
    *("machines", "machines_in", "machines_mean", "machines_deviation"),
    *("stumps", "stumps_out", "stumps_expected", "stumps_chance"),
    *("perceptrons", "perceptrons_below", "perceptrons_out", "perceptrons_where"),
    *("rings", "rings_in", "rings_below", "rings_farthest", "moved_in", "moved_in_others", "moved_others"),
    *("bayes_far", "bayes_near"),
)
def how_the_printed_numbers_agree(study: Study) -> dict[str, float]:
    """Count z-scores: of the sets other than ringnorm, of ringnorm, and of ringnorm with the nearer mean.

    ``bayes``: the smallest possible error on ringnorm with each of the two means, in percent.
    """
    rows = [row for row in judge_cells(study) if row.verdict in COMPARED]
    second = [row for row in rows if row.exhibit == "table2" and abs(row.z) > 2]
    z, best = z_scores(study), z_scores(study, best=True)

    def of(some: dict, chosen: Callable[[str], bool], *, rings: bool = False) -> np.ndarray:
        return np.array([v for (d, m), v in some.items() if d.startswith("ringnorm") == rings and chosen(m)])

    machines, stumps = of(z, KERNELS.__contains__), of(z, STUMPS[1:].__contains__)
    perceptrons = of(z, PERCEPTRONS[1:].__contains__)
    apart = [d for (d, m), v in z.items() if m in PERCEPTRONS[1:] and v < -2 and "ringnorm" not in d]
    rings, moved = (of(some, bool, rings=True) for some in (z, best))
    others = of(best, lambda method: method not in PERCEPTRONS[1:], rings=True)
    out, chance = len(stumps) - _inside(stumps), 2 * norm.sf(2.0)
    return {
        "compared": len(rows),
        "table2_out": len(second),
        "table2_rings_out": sum(row.row.startswith("ringnorm") for row in second),
        "distinct": len(z),
        "distinct_matching": _inside(z.values()),
        "best": _inside(best.values()),
        "machines": len(machines),
        "machines_in": _inside(machines),
        "machines_mean": machines.mean(),
        "machines_deviation": machines.std(ddof=1),
        "stumps": len(stumps),
        "stumps_out": out,
        "stumps_expected": len(stumps) * chance,
        "stumps_chance": binom.sf(out - 1, len(stumps), chance),
        "perceptrons": len(perceptrons),
        "perceptrons_below": int((perceptrons < 0).sum()),
        "perceptrons_out": len(perceptrons) - _inside(perceptrons),
        "perceptrons_where": _among(list(dict.fromkeys(apart))),
        "rings": len(rings),
        "rings_in": _inside(rings),
        "rings_below": int((rings < 0).sum()),
        "rings_farthest": np.abs(rings).max(),
        "moved_in": _inside(moved),
        "moved_in_others": _inside(others),
        "moved_others": len(others),
        "bayes_far": smallest_error_on_ringnorm(2.0),
        "bayes_near": smallest_error_on_ringnorm(1.0),
    }


def smallest_error_on_ringnorm(distance: float, d: int = 20) -> float:
    """Return the error of the rule of Bayes, in percent, where the mean m of class 2 has this norm.

    Class 2 is chosen inside the ball ``|x - 4/3 m|^2 < 4/3 (d log 4 + |m|^2 / 3)``.
    """
    square = 4.0 / 3.0 * (d * np.log(4.0) + distance**2 / 3.0)
    wide_inside = ncx2.cdf(square / 4.0, d, 4.0 / 9.0 * distance**2)
    narrow_outside = ncx2.sf(square, d, distance**2 / 9.0)
    return 50.0 * float(wide_inside + narrow_outside)


def _inside(z: object) -> int:
    return sum(abs(value) <= 2 for value in z)


@reading.facts(
    "protocol",
    *("most", "most_where", "scaling", "ties"),
    *("cells", "agree", "cases", "lost", "lost_by_reading", "lost_where", "won"),
)
def how_far_readings_move(study: Study) -> dict[str, float | str]:
    """Return the largest change of a mean error, apart from votes84 without incomplete rows; and more.

    ``scaling``: of SVM-Perc, when twonorm and ringnorm are scaled; ``ties``: of both, on the noisy sets.
    ``agree``: of the ``cells``, those within two standard errors of the printed number as declared;
    ``cases``: of these, pairs of a reading and a cell that it concerns; ``lost``, ``won``: cases where the
    reading takes a cell out of the two standard errors, or brings another one in.
    """
    evidence, readings = study.evidence("protocol"), tuple(READINGS)[:-1]  # the last drops incomplete rows
    means = np.stack([evidence.array(name, TABLE_SETS, readings).mean(axis=0) for name in KERNELS[:2]])
    k, d, m = np.unravel_index(np.abs(means).argmax(), means.shape)
    noisy, scaled = ([TABLE_SETS.index(d) for d in some] for some in (NOISY_SETS, ("twonorm", "ringnorm")))
    return {
        "most": abs(means[k, d, m]),
        "most_where": f"{readings[m]}, {KERNELS[k]} on {TABLE_SETS[d]}",
        "scaling": means[1, scaled, 2].mean(),
        "ties": means[:, noisy, 1].mean(),
    } | _agreement_under_readings(study)


def _agreement_under_readings(study: Study) -> dict[str, float | str]:
    """Count the cells of two machines that leave two standard errors of the printed number, by reading."""
    evidence, table = study.evidence("protocol"), study.evidence("table1")
    printed = {(cell.row, cell.column): cell for cell in own_cells(study)}
    places = [(label, method) for label in TABLE_SETS for method in KERNELS[:2]]
    errors = {place: table.array("error", place[:1], place[1:]).ravel() for place in places}

    def agrees(place: tuple[str, str], change: np.ndarray) -> bool:
        mean, se = _moved(errors[place], change)
        cell = printed[place]
        return abs(z_score(mean, float(cell.mean), se, float(cell.spread))) <= 2

    declared = {place: agrees(place, np.zeros(1)) for place in places}
    counts, lost, won = {}, [], 0
    for name in READINGS:
        concerned = [place for place in places if reading_applies(name, place[0])]
        after = {(d, m): agrees((d, m), evidence.array(m, [d], [name]).ravel()) for d, m in concerned}
        left = [place for place in concerned if declared[place] and not after[place]]
        counts[name] = len(left), sum(declared[place] for place in concerned)
        lost += [f"{method} on {label} ({name})" for label, method in left]
        won += sum(after[place] and not declared[place] for place in concerned)
    return {
        "cells": len(places),
        "agree": sum(declared.values()),
        "cases": sum(of for _, of in counts.values()),
        "lost": len(lost),
        "lost_by_reading": joined([f"{some} of {of} ({name})" for name, (some, of) in counts.items()]),
        "lost_where": joined(lost) or "none",
        "won": won,
    }


def _moved(errors: np.ndarray, change: np.ndarray) -> tuple[float, float]:
    """Return the mean of errors plus that of a change, measured on the first of the same runs; and its se."""
    n, k = len(errors), len(change)
    both = np.cov(errors[:k], change, ddof=min(1, k - 1))
    variance = errors.var(ddof=min(1, n - 1)) / n + both[1, 1] / k + 2 * both[0, 1] / n
    return errors.mean() + change.mean(), max(variance, 0.0) ** 0.5


_SPANNED = ("threenorm", "sonar", "ringnorm-near")


@reading.facts(
    "base_learner",
    *("train", "ringnorm_best", "repeated", *names(("threenorm", "ringnorm", "sonar"), ["machine"])),
    *names(_SPANNED, ("100", "1000"), ("low", "high")),
)
def what_the_learner_does(study: Study) -> dict[str, float]:
    """Return the ranges that the learners span, on sonar without Fisher's start; ``train``: the largest
    training error after the last round.

    ``machine``: SVM-Perc on the same runs; ``repeated``: runs on sonar where the test error from Fisher's
    start is the same after 100 and 1000 rounds.
    """
    evidence, rounds = study.evidence("base_learner"), study.protocol("base_learner")["rounds"]
    learners = tuple(BASE_LEARNERS)
    train = [evidence.runs("train_error", d, m) for d in evidence.datasets for m in learners]
    facts = {"train": np.max(train, axis=(0, 1))[-1]}
    for label in ("threenorm", "ringnorm", "sonar"):
        runs = len(evidence.runs("error", label, learners[0]))
        facts[f"{label}_machine"] = _machine(study, label, "SVM-Perc", runs)
    fisher = np.array(evidence.runs("error", "sonar", "from Fisher's discriminant"))
    facts["repeated"] = int((fisher[:, 0] == fisher[:, -1]).sum())
    facts["ringnorm_best"] = min(_mean(study, "base_learner", "ringnorm", m).min() for m in learners)
    for label in _SPANNED:
        chosen = [m for m in learners if label != "sonar" or "Fisher" not in m]
        means = np.array([_mean(study, "base_learner", label, m) for m in chosen])
        for k, T in enumerate(rounds):
            facts |= {f"{label}_{T}_low": means[:, k].min(), f"{label}_{T}_high": means[:, k].max()}
    return facts


_OVERLAP = ("twonorm-n", "threenorm", "german")


@reading.facts(
    "rounds",
    *("longest", "latest_minimum", "least_gap", "ringnorm", "ringnorm_machine", "threenorm", "sonar"),
    *("german_low", "german_high"),
)
def what_more_rounds_do(study: Study) -> dict[str, float]:
    """Compare AdaBoost's curves with the machines, on the same runs.

    With stumps on three sets: the latest round of a minimum, and the least gap between a minimum and the
    machine. With perceptrons: the gap after the last round, on two sets; the least error on ringnorm.
    """
    rounds = study.protocol("rounds")["rounds"]
    runs = len(study.evidence("rounds").runs("error", "german", "AB-Stump"))
    stumps = {label: _mean(study, "rounds", label, "AB-Stump") for label in _OVERLAP}
    perceptrons = {
        d: _mean(study, "rounds", d, "AB-Perc") for d in ("threenorm", "sonar", "german", "ringnorm")
    }
    gaps = [curve.min() - _machine(study, label, "SVM-Stump", runs) for label, curve in stumps.items()]
    last = {d: perceptrons[d][-1] - _machine(study, d, "SVM-Perc", runs) for d in ("threenorm", "sonar")}
    return last | {
        "longest": rounds[-1],
        "latest_minimum": max(rounds[curve.argmin()] for curve in stumps.values()),
        "least_gap": min(gaps),
        "ringnorm": perceptrons["ringnorm"].min(),
        "ringnorm_machine": _machine(study, "ringnorm", "SVM-Perc", runs),
        "german_low": perceptrons["german"].min(),
        "german_high": perceptrons["german"].max(),
    }


_SAMPLED = ("twonorm-n", "threenorm", "ringnorm", "german", "sonar")


@reading.facts(
    "finite", *names(BASES, ("1000", "last")), "largest", "curves", "rising", "largest_rise", "least_gap"
)
def how_far_finite_ensembles_are(study: Study) -> dict[str, float]:
    """Return how much more machines on J sampled hypotheses err than the infinite one, on the worst set.

    And of how many mean curves the error rises from one size to the next, how far it does, and the least gap.
    """
    counts = list(study.protocol("finite")["counts"])
    facts, curves = {"largest": counts[-1]}, []
    for name, method in BASES.items():
        means = np.array([_mean(study, "finite", label, method) for label in _SAMPLED])
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


@reading.facts("hard", *CLEAN_SETS, *names(CLEAN_SETS, ["se"]), "stump_least", "stump_most")
def what_hard_margins_cost(study: Study) -> dict[str, float]:
    """Return the change of SVM-Perc's error by hard margins on clean sets, on the same runs.

    ``stump``: the least and the largest change of that of SVM-Stump.
    """
    hard = study.evidence("hard").array("error", CLEAN_SETS, KERNELS[:2])
    change = hard - study.evidence("table1").array("error", CLEAN_SETS, KERNELS[:2], len(hard))
    spread = _se(change)
    stump, perceptron = change.mean(axis=0).T
    facts = {"stump_least": stump.min(), "stump_most": stump.max()}
    facts |= dict(zip(CLEAN_SETS, perceptron, strict=True))
    return facts | dict(zip(names(CLEAN_SETS, ["se"]), spread[:, 1], strict=True))


@reading.facts(
    "paired",
    *names("perceptron gauss", "real generated"),
    "alone",
    *names("points", ["least", "most", "by_set"]),
)
def which_kernel_errs_less(study: Study) -> dict[str, float | str]:
    """Name the sets where SVM-Perc or SVM-Gauss has the lower error.

    ``alone``: by how much SVM-Gauss leads on the generated sets without ringnorm; ``points``: differences
    on the real sets where one of the two has the lower error.
    """
    evidence, facts = study.evidence("table1"), {}
    for kind, labels in (("real", REAL_SETS), ("generated", GENERATED_SETS)):
        own, other = np.moveaxis(evidence.array("error", labels, KERNELS[1:]), 2, 0)
        facts[f"perceptron_{kind}"], facts[f"gauss_{kind}"] = map(_among, _who_leads(labels, own, other))
        if kind == "real":
            apart = {label: abs(by) for label, by in _told_apart(labels, own, other).items()}
            facts["points_by_set"] = joined([f"{by:.1f} on {d}" for d, by in apart.items()]) or "none"
            facts["points_least"], facts["points_most"] = (f(apart.values(), default=0.0) for f in (min, max))
    others = [d for d in GENERATED_SETS if not d.startswith("ringnorm")]
    return facts | {"alone": lead_of(evidence.array("error", others, KERNELS[1:]))}


@reading.facts(
    "modern",
    *("ahead", "generated", "behind", "behind_by", "behind_se", "machines_real", "forest_real", "forest"),
)
def how_trees_compare(study: Study) -> dict[str, float | str]:
    """Compare SVM-Perc and SVM-Stump with trees on the same runs.

    ``ahead``: generated sets where SVM-Perc has a lower error than all trees; ``behind``: where a tree
    ensemble has a lower one than SVM-Stump, at most ``by`` (with its ``se``); ``_real``: real sets where
    SVM-Perc or the forest has the lower one; ``forest``: sets where the forest has a lower one than both
    boosting programs.
    """
    trees = study.evidence("modern").array("error", TABLE_SETS, TREES)
    machines = study.evidence("table1").array("error", TABLE_SETS, KERNELS[:2], len(trees))
    means, best = machines.mean(axis=0), trees.mean(axis=0)
    generated, real = ([TABLE_SETS.index(d) for d in some] for some in (GENERATED_SETS, REAL_SETS))
    told = _who_leads(REAL_SETS, machines[:, real, 1], trees[:, real, 0])
    lower = (machines[:, generated, :1] - trees[:, generated]).reshape(len(trees), -1)
    most = lower.mean(axis=0).argmax()
    return {
        "behind_by": lower[:, most].mean(),
        "behind_se": float(_se(lower[:, most])),
        "ahead": sum(means[k, 1] < best[k].min() for k in generated),
        "generated": len(generated),
        "behind": _among([TABLE_SETS[k] for k in generated if best[k].min() < means[k, 0]]),
        "machines_real": _among(told[0]),
        "forest_real": _among(told[1]),
        "forest": int((best[:, 0] < best[:, 1:].min(axis=1)).sum()),
    }


CHOSEN_PERCEPTRONS = ("twonorm-n", "threenorm", "heart", "sonar")


@reading.facts(
    "chosen_rounds",
    *("wins", "lead", "lead_100", "lead_1000", "noisy", "noisy_1000", "ahead", "told", "behind", "untold"),
    *("least_T", "most_T", *names("se", ["least", "most"]), "se_lead"),
    *("perceptron_sets", "perceptron_wins", "perceptron_ahead", "usual", "usual_lower"),
)
def what_choosing_t_changes(study: Study) -> dict[str, float | str]:
    """AdaBoost with T chosen beside SVM-Stump and fixed T, on the same runs.

    ``lead``: mean over sets of AdaBoost's error minus the machine's, with ``se_lead``; ``ahead``, ``behind``:
    sets where the machine (``told`` of them) or AdaBoost has the lower error, ``untold``: neither;
    ``se_least``, ``se_most``: standard errors of the lead on a set. Over perceptrons: sets where the machine
    has the lower mean error (``wins``), where a test tells (``ahead``), AdaBoost's errors at T = 1000
    (``usual``), and sets where these are lower than with T chosen.
    """
    chosen, table = study.evidence("chosen_rounds"), study.evidence("table1")
    boosted = chosen.array("error", TABLE_SETS, ["AB-Stump"])[:, :, 0]
    machine, hundred, thousand = np.moveaxis(table.array("error", TABLE_SETS, STUMPS, len(boosted)), 2, 0)
    lead, told = (boosted - machine).mean(axis=0), _who_leads(TABLE_SETS, machine, boosted)
    noisy = [TABLE_SETS.index(label) for label in NOISY_SETS]
    T = chosen.array("T", TABLE_SETS, ["AB-Stump"]).mean(axis=0)
    labels, se = CHOSEN_PERCEPTRONS, _se(boosted - machine)
    ours = chosen.array("error", labels, ["AB-Perc"])[:, :, 0]
    own, usual = np.moveaxis(table.array("error", labels, PERCEPTRONS[::2], len(ours)), 2, 0)
    at_thousand = zip(labels, usual.mean(axis=0), strict=True)
    lower = usual.mean(axis=0) < ours.mean(axis=0)
    return {
        "wins": int((lead > 0).sum()), "lead": lead.mean(),
        "lead_100": (hundred - machine).mean(), "lead_1000": (thousand - machine).mean(),
        "noisy": lead[noisy].mean(), "noisy_1000": (thousand - machine)[:, noisy].mean(),
        "ahead": _among(told[0]), "told": len(told[0]), "behind": _among(told[1]),
        "untold": len(TABLE_SETS) - sum(map(len, told)),
        "least_T": T.min(), "most_T": T.max(),
        "se_least": se.min(), "se_most": se.max(), "se_lead": float(_se((boosted - machine).mean(axis=1))),
        "perceptron_sets": len(labels), "perceptron_wins": int((own.mean(axis=0) < ours.mean(axis=0)).sum()),
        "perceptron_ahead": _among(_who_leads(labels, own, ours)[0]),
        "usual": joined([f"{error:.1f} on {label}" for label, error in at_thousand]),
        "usual_lower": _among([label for label, is_lower in zip(labels, lower, strict=True) if is_lower]),
    }  # fmt: skip


NORM_SETS = ("twonorm-n", "heart", "sonar", "votes84")
CELLS = ("l1, J", "l1, all", "l2, J", "l2, all")


def four_cells(study: Study, label: str, base: str) -> np.ndarray:
    """Return the errors of a set over stumps or perceptrons, (runs, l1 J, l1 all, l2 J, l2 all)."""
    methods = [f"l1, J {base}", f"l1, all {base}", f"l2, J {base}"]
    drawn = study.evidence("norms").array("error", [label], methods)[:, 0]
    whole = study.evidence("table1").array("error", [label], [BASES[base]], len(drawn))[:, 0]
    return np.hstack([drawn, whole])


@reading.facts(
    "norms",
    *names((*BASES, *names(["noisy"], BASES)), "norm_J norm_all size_l2"),
    *names(["noisy"], BASES, ["size_l1"]),
    *("gap", "late", "drawn", "sets", "l1_size", "fits", "se_noisy", "se_real", "sonar_machine"),
)
def norm_and_size(study: Study) -> dict[str, float | str]:
    """Effects in points, mean over the sets: of the l1 norm instead of l2, of J hypotheses instead of all.

    ``noisy``: on twonorm-n alone. ``gap``: the largest of a final fit over a known family, in percent;
    ``late``: fits that used all their rounds; ``l1_size``: hypotheses with weight, the least and the largest
    mean over the runs of a set; ``se``: the largest standard error of an effect on twonorm-n, or on one of
    the other sets, run by run; ``sonar_machine``: SVM-Perc over all perceptrons on the same runs.
    """
    evidence, protocol = study.evidence("norms"), study.protocol("norms")
    facts: dict[str, float | str] = {"drawn": protocol["n_drawn"], "sets": joined(NORM_SETS)}
    for base in BASES:
        cells = np.array([four_cells(study, label, base).mean(axis=0) for label in NORM_SETS])
        for start, (l1_some, l1_all, l2_some, l2_all) in (
            (base, cells.mean(axis=0)),
            (f"noisy_{base}", cells[0]),
        ):
            facts |= {f"{start}_norm_J": l1_some - l2_some, f"{start}_norm_all": l1_all - l2_all}
            facts[f"{start}_size_l2"] = l2_some - l2_all
        facts[f"noisy_{base}_size_l1"] = cells[0, 0] - cells[0, 1]
    widths = [
        max(np.max(_se(_effects(four_cells(study, label, base)))) for base in BASES) for label in NORM_SETS
    ]
    linear = [method for method in evidence.methods if method.startswith("l1")]
    rounds, sizes = (evidence.array(metric, NORM_SETS, linear) for metric in ("rounds", "size"))
    known = [method for method in linear if method != "l1, all perceptrons"]
    return facts | {
        "gap": 100 * float(evidence.array("gap", NORM_SETS, known).max()),
        "late": int((rounds >= protocol["n_rounds"]).sum()),
        "fits": rounds.size,
        "l1_size": span(sizes.mean(axis=0)),
        "se_noisy": widths[0],
        "se_real": max(widths[1:]),
        "sonar_machine": four_cells(study, "sonar", "perceptrons")[:, -1].mean(),
    }


def _effects(cells: np.ndarray) -> np.ndarray:
    """Return for each run the norm's effect over J and over all, and the number's with l2 and with l1."""
    l1_some, l1_all, l2_some, l2_all = cells.T
    return np.column_stack([l1_some - l2_some, l1_all - l2_all, l2_some - l2_all, l1_some - l1_all])


@reading.facts(
    "programs",
    *names("sizes late", BASES),
    *("gap", "smallest_C", "largest_C", "fits", "fits_each", "boosted_noisy", "se"),
)
def linear_programs_on_all_sets(study: Study) -> dict[str, float | str]:
    """LPBoost beside the machines on the same runs.

    ``sizes``: mean number of hypotheses, the least and the most of a set; ``boosted_noisy``: AdaBoost over
    stumps on twonorm-n; ``late``: final fits that used all their rounds; ``gap``: the largest one over
    stumps, in percent; ``_C``: final fits with C at an end of the grid; ``se``: the median over sets of the
    standard errors of the difference to the machine, the larger one of stumps and perceptrons.
    """
    evidence, facts = study.evidence("programs"), {}
    protocol, medians = study.protocol("programs"), []
    for base, machine in BASES.items():
        method = [machine.replace("SVM", "LPBoost")]
        sizes, rounds = (evidence.array(m, TABLE_SETS, method)[:, :, 0] for m in ("size", "rounds"))
        facts[f"sizes_{base}"] = span(sizes.mean(axis=0))
        facts[f"late_{base}"] = int((rounds >= protocol["n_rounds"]).sum())
        errors = evidence.array("error", TABLE_SETS, method)
        own = study.evidence("table1").array("error", TABLE_SETS, [machine], len(errors))
        medians.append(np.median(_se(errors - own)))
    C = evidence.array("log2_C", TABLE_SETS)
    return facts | {
        "gap": 100 * float(evidence.array("gap", TABLE_SETS, ["LPBoost-Stump"]).max()),
        "smallest_C": int((protocol["log2_C"][0] == C).sum()),
        "largest_C": int((protocol["log2_C"][-1] == C).sum()),
        "fits": C.size,
        "fits_each": rounds.size,
        "se": max(medians),
        "boosted_noisy": _machine(study, "twonorm-n", "AB-Stump-1000", len(C)),
    }


@reading.facts("libsvm", "differs", "alike", "fits", "same", "most")
def libsvm_beside_ours(study: Study) -> dict[str, float]:
    """Predictions of LIBSVM and of our solver, at one C and gamma and with a selection of their own.

    ``differs``: the largest mean percent of test points over sets and kernels; ``alike``: fits without any;
    ``same``: selections that end at the same parameters; ``most``: the largest difference of mean errors.
    """
    evidence = study.evidence("libsvm")
    error, own, differs, same = (
        evidence.array(metric, TABLE_SETS, KERNELS)
        for metric in ("error", "own_error", "differs", "same_choice")
    )
    return {
        "differs": differs.mean(axis=0).max(),
        "alike": int((differs == 0).sum()),
        "fits": differs.size,
        "same": int(same.sum()),
        "most": np.abs((error - own).mean(axis=0)).max(),
    }


GRIDS = {"stump": "log2_C_distance", "perc": "log2_C_distance", "gauss": "log2_C_gauss"}


@reading.facts("chosen", *names(GRIDS, "edge support"), "gamma_edge", "gamma_sets", "gamma_median", "runs")
def what_the_machines_selected(study: Study) -> dict[str, float | str]:
    """How often C, or gamma, lies at an end of its grid, over all sets; support vectors, percent of the rows.

    ``support``: the least and the largest share of the training rows of generated sets, mean over runs.
    """
    table, protocol = study.evidence("table1"), study.protocol("table1")
    facts: dict[str, float | str] = {}
    for method, (name, grid) in zip(KERNELS, GRIDS.items(), strict=True):
        C = table.array("log2_C", TABLE_SETS, [method])
        facts[f"{name}_edge"] = int(np.isin(C, [protocol[grid][0], protocol[grid][-1]]).sum())
        size = table.array("size", GENERATED_SETS, [method]).mean(axis=0) / protocol["sizes"]["train"]
        facts[f"{name}_support"] = span(100 * size)
    gamma = table.array("log2_gamma", TABLE_SETS, ["SVM-Gauss"])[:, :, 0]
    at_end = np.isin(gamma, [protocol["log2_gamma"][0], protocol["log2_gamma"][-1]])
    places = [label for label, some in zip(TABLE_SETS, at_end.any(axis=0), strict=True) if some]
    told = {"gamma_edge": int(at_end.sum()), "gamma_sets": _among(places), "runs": gamma.size}
    return facts | told | {"gamma_median": float(np.median(gamma))}


UPDATED = {"threenorm": "threenorm", "ringnorm-near": "ringnorm", "australian": "australian"}  # as printed


def updates_beside_printed(study: Study, label: str, place: int) -> list[tuple[float, float, float]]:
    """Return for each number of updates the mean error after some rounds, its standard error, and z."""
    rounds = study.protocol("updates")["rounds"][place]
    cells = {(cell.row, cell.column): cell for cell in own_cells(study)}
    printed, found = cells[UPDATED[label], f"AB-Perc-{rounds}"], []
    for method in UPDATES:
        own = np.array(study.evidence("updates").runs("error", label, method))[:, place]
        mean, se = float(own.mean()), float(_se(own))
        found.append((mean, se, z_score(mean, float(printed.mean), se, float(printed.spread))))
    return found


@reading.facts("updates", "cells", "matching", "everywhere", *names(UPDATED, ["agree"]), "se_threenorm", "se")
def which_number_of_updates_agrees(study: Study) -> dict[str, float | str]:
    """Count the printed errors within two standard errors, by number of updates.

    ``agree``: the numbers that agree at the larger T on a set; ``everywhere``: at both T on all sets; ``se``:
    the largest standard error of a mean at the larger T (``se_threenorm``: on threenorm).
    """
    found = np.array([[updates_beside_printed(study, d, k) for k in range(2)] for d in UPDATED])
    within = np.abs(found[..., 2]) <= 2  # sets x rounds x numbers
    numbers = [method.split()[0] for method in UPDATES]

    def which(some: np.ndarray) -> str:
        return joined([n for n, is_in in zip(numbers, some, strict=True) if is_in]) or "none"

    counts = within.sum(axis=(0, 1))
    facts = {f"{label}_agree": which(own) for label, own in zip(UPDATED, within[:, -1], strict=True)}
    return facts | {
        "cells": len(UPDATED) * 2,
        "matching": joined([f"{count} with {n}" for count, n in zip(counts, numbers, strict=True)]),
        "everywhere": which(within.all(axis=(0, 1))),
        "se_threenorm": found[0, -1, :, 1].max(),
        "se": found[:, -1, :, 1].max(),
    }


@reading.facts("near", "finite_stump", "finite_perc", "boosted", "boosted_T", "largest")
def ringnorm_with_the_nearer_mean(study: Study) -> dict[str, float]:
    """Machines on the largest number of sampled hypotheses; AdaBoost over perceptrons at its lowest."""
    protocol, near = study.protocol("near"), NEAR_SETS[0]
    finite = [_mean(study, "near", near, f"finite, {method}")[-2] for method in KERNELS[:2]]
    curve = _mean(study, "near", near, "rounds, AB-Perc")
    lowest = {"boosted": curve.min(), "boosted_T": protocol["rounds"][int(curve.argmin())]}
    return lowest | {"finite_stump": finite[0], "finite_perc": finite[1], "largest": protocol["counts"][-1]}


IN_THE_PLANE = dict(zip(("svm_stump", "ab_stump", "svm_perc", "ab_perc"), DRAWN_METHODS, strict=True))


@reading.facts("plane", *names(IN_THE_PLANE, "moves length"))
def how_stable_boundaries_are(study: Study) -> dict[str, float]:
    """Percent of the square that differs from the class of most draws; the length of the boundary, in sides
    of the square.
    """
    found = {short: roughness(sides_in_the_plane(study, method)) for short, method in IN_THE_PLANE.items()}
    return {
        f"{short}_{what}": float(np.mean(values))
        for short, both in found.items()
        for what, values in zip(("moves", "length"), both, strict=True)
    }


@reading.facts("where", *names(IN_THE_PLANE, ["outside", "outer", "square"]))
def where_disagreement_lies(study: Study) -> dict[str, float]:
    """Percent of the disagreement with Bayes that lies outside the middle four ninths of the square.

    ``outer``: the percent of the area out there, and ``square``: of the whole square, where they disagree.
    """
    facts = {}
    for short, method in IN_THE_PLANE.items():
        share = np.mean(study.evidence("where").runs("share", PLANE_SET, method), axis=0)
        blocks = share.reshape(2 * [round(len(share) ** 0.5)])
        edge = len(blocks) // 6
        middle = blocks[edge:-edge, edge:-edge]
        outer = blocks.sum() - middle.sum()
        facts[f"{short}_outside"] = 100 * outer / blocks.sum()
        facts[f"{short}_outer"] = outer / (blocks.size - middle.size)
        facts[f"{short}_square"] = blocks.mean()
    return facts


@reading.facts("capacity", "eigenvalues")
def how_far_from_singular_the_gaussian_kernel_is(study: Study) -> dict[str, str]:
    """Smallest eigenvalue at the largest gamma, the least and the largest mean of a set."""
    evidence = study.evidence("capacity")
    return {
        "eigenvalues": span(
            [np.mean(evidence.runs("eigenvalue", d, "Gaussian"), axis=0)[-1] for d in TABLE_SETS], ".2f"
        )
    }


def _in_words(learner: str) -> str:
    """Return "SVM-Perc over 16 generated directions" for "SVM-Perc, 16 generated"."""
    name, _, directions = learner.partition(", ")
    return f"{name} over {directions} directions" if directions else name


SAID = {
    "stump": "SVM-Stump", "perc": "SVM-Perc, 64 spread", "generated": "SVM-Perc, 16 generated",
    "boosted": "AB-Stump-1000", "light": "LightGBM",
}  # fmt: skip


@reading.facts(
    "thousand",
    *names(SAID, "last seconds"),
    *names("stump perc light", ["first"]),
    *("runs", "bayes", "best", "machines", "cells", "twonorm_least", "twonorm_most", "twonorm_se"),
)
def what_a_thousand_times_the_rows_change(study: Study) -> dict[str, float | str]:
    """Mean errors over the three sets with the fewest and the most rows, and seconds with the most.

    ``best``: the learner of the least error on each set with the most rows; ``machines``: of the ``cells``, a
    set and a number of rows each, those in which a machine has the least mean error; ``twonorm``: the least
    and the largest mean error with the most rows, without AdaBoost after 100 rounds, and the largest
    standard error.
    """
    evidence, shape = study.evidence("thousand"), (len(NOISY_SETS), len(LEARNERS), len(SIZES))
    errors, seconds = (evidence.array(m, NOISY_SETS, at_sizes(*LEARNERS)) for m in ("error", "fit_seconds"))
    by_size, longest = (values.mean(axis=0).reshape(shape) for values in (errors, seconds))
    least, means = by_size.argmin(axis=1), by_size.mean(axis=0)
    winners = [f"{_in_words(LEARNERS[k])} on {d}" for k, d in zip(least[:, -1], NOISY_SETS, strict=True)]
    others = [k for k, learner in enumerate(LEARNERS) if learner != "AB-Stump-100"]
    widths = _se(errors).reshape(shape)[0, others, -1]
    facts: dict[str, float | str] = {
        "runs": len(errors),
        "bayes": evidence.array("error", NOISY_SETS, ["Bayes"]).mean(),
        "best": joined(winners),
        "machines": int((least < len(MACHINES)).sum()),
        "cells": least.size,
        "twonorm_least": by_size[0, others, -1].min(),
        "twonorm_most": by_size[0, others, -1].max(),
        "twonorm_se": widths.max(),
    }
    for short, learner in SAID.items():
        k = LEARNERS.index(learner)
        facts |= {f"{short}_last": means[k, -1], f"{short}_seconds": longest[:, k, -1].mean()}
    return facts | {
        f"{short}_first": means[LEARNERS.index(SAID[short]), 0] for short in ("stump", "perc", "light")
    }
