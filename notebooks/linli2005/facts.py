"""The numbers that the article of linli2005 says, beside those of its claims: facts of exhibits, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import binom, norm

from kernsemble.report.comparisons import best_methods
from kernsemble.report.ledger import COMPARED, judge_cells
from kernsemble.report.words import joined
from kernsemble.trials.study import Study
from linli2005.cells import reading
from linli2005.charts import z_of_stand_in
from linli2005.claims import KERNELS, PERCEPTRONS, STUMPS
from linli2005.sets import NOISY_SETS, TABLE_SETS


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
    *("machines", "machines_in", "machines_mean", "machines_deviation"),
    *("stumps", "stumps_out", "stumps_expected", "stumps_chance"),
    *("rings", "rings_below", "rings_farthest", "moved_in", "moved_in_others", "moved_others"),
)
def how_the_printed_numbers_agree(study: Study) -> dict[str, float]:
    """Count z-scores: of the sets other than ringnorm, of ringnorm, and of ringnorm with the nearer mean."""
    rows = [row for row in judge_cells(study) if row.verdict in COMPARED]
    z = {(row.row, row.column): row.z for row in rows}
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


_READINGS = ("folds: stratified", "ties: largest", "scaling: all sets", "scaling: pooled", "votes: mode")


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
_LEARNERS = (
    "20 updates", "50 updates", "200 updates", "1000 updates", _FISHER, "from a random direction",
    "from the best stump", "along single features",
)  # fmt: skip
_SPANNED = ("threenorm", "sonar")


@reading.facts(
    "base_learner",
    *("hasty", "usual", "thorough", "train"),
    *(f"{label}_{T}_{end}" for label in _SPANNED for T in (100, 1000) for end in ("low", "high")),
    *(f"{label}_{name}" for label in _SPANNED for name in ("hasty", "thorough")),
    *("ringnorm_best", "fisher"),
)
def what_the_learner_does(study: Study) -> dict[str, float]:
    """Return mean errors after 1000 rounds on ringnorm, and the ranges that the learners span elsewhere."""
    evidence = study.evidence("base_learner")
    rounds = study.protocol("base_learner")["rounds"]
    means = {
        (label, method): np.mean(evidence.runs("error", label, method), axis=0)
        for label in (*_SPANNED, "ringnorm")
        for method in _LEARNERS
    }
    hasty, _, usual, thorough = (means["ringnorm", name][-1] for name in _LEARNERS[:4])
    train = max(np.max(evidence.runs("train_error", *place)) for place in means)
    facts = {"hasty": hasty, "usual": usual, "thorough": thorough, "train": train}
    for label in _SPANNED:
        spanned = np.array([v for (d, m), v in means.items() if d == label and (d, m) != ("sonar", _FISHER)])
        for k, T in enumerate(rounds):
            facts |= {f"{label}_{T}_low": spanned[:, k].min(), f"{label}_{T}_high": spanned[:, k].max()}
        for name, method in (("hasty", "20 updates"), ("thorough", "1000 updates")):
            facts[f"{label}_{name}"] = means[label, method][-1]
    best = min(mean.min() for (label, _), mean in means.items() if label == "ringnorm")
    return {**facts, "ringnorm_best": best, "fisher": means["sonar", _FISHER][-1]}


@reading.facts(
    "rounds",
    *("longest", "latest_minimum", "least_gap", "ringnorm", "ringnorm_machine"),
    *("threenorm", "sonar", "german"),
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
    gaps = {label: curve[-1] - machine for label, (curve, machine) in last.items()}
    return {
        "longest": rounds[-1],
        "latest_minimum": max(rounds[curve.argmin()] for curve, _ in overlapping),
        "least_gap": min(curve.min() - machine for curve, machine in overlapping),
        "ringnorm": last["ringnorm"][0].min(),
        "ringnorm_machine": last["ringnorm"][1],
        **{label: gaps[label] for label in ("threenorm", "sonar", "german")},
    }


_SAMPLED = ("twonorm-n", "threenorm", "ringnorm", "german", "sonar")


@reading.facts("finite", "stumps_1000", "stumps_last", "perceptrons_1000", "perceptrons_last", "largest")
def how_far_finite_ensembles_are(study: Study) -> dict[str, float]:
    """Return how much more machines on J sampled hypotheses err than the infinite one, on the worst set."""
    evidence, counts = study.evidence("finite"), list(study.protocol("finite")["counts"])
    facts = {"largest": counts[-1]}
    for name, method in (("stumps", "SVM-Stump"), ("perceptrons", "SVM-Perc")):
        means = np.array([np.mean(evidence.runs("error", label, method), axis=0) for label in _SAMPLED])
        more = means[:, :-1] - means[:, -1:]
        facts |= {f"{name}_1000": more[:, counts.index(1000)].max(), f"{name}_last": more[:, -1].max()}
    return facts


@reading.facts("lpboost", "least_size", "most_size")
def how_many_stumps_lpboost_keeps(study: Study) -> dict[str, float]:
    """Return the least and the largest mean number of stumps of LPBoost's ensembles, over sets."""
    sizes = study.evidence("lpboost").array("size").mean(axis=0)
    return {"least_size": sizes.min(), "most_size": sizes.max()}
