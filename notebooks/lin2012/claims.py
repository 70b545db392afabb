"""Checks of lin2012's claims about figures 1 to 5; each was fixed before its numbers were there.

Five methods are compared: CW, CW-1, MultiBoost (solved by Newton steps, so that 500 iterations can be
judged), AdaBoost.ECC and AdaBoost.MH. Seconds of MultiBoost are those of L-BFGS-B, as in the paper, at the
last checkpoint that it finished, beside CW's at the same one.
"""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Finding
from kernsemble.trials.study import Study
from lin2012.shown_sets import (
    FIVE,
    N_CLASSES,
    PAPER_SOLVER,
    Sets,
    by_runs,
    common_level,
    first_place,
    reading,
    sets_of,
)
from lin2012.trials import DIGIT_SETS, MO_SETS


def checkpoints_of(study: Study) -> np.ndarray:
    """Return the iterations at which curves are kept."""
    return np.array(study.protocol("figure1")["checkpoints"])


def iterations_to_common_level(curves: np.ndarray, checkpoints: np.ndarray) -> np.ndarray:
    """Return each method's iterations to the lowest mean error that all methods reach."""
    means = by_runs(curves)
    return checkpoints[[first_place(mean, common_level(means)) for mean in means]]


@reading.claim("M1")
def class_wise_needs_fewer_iterations(study: Study) -> Finding:
    """On every set, CW and CW-1 come down to the lowest error that all five reach in fewer iterations.

    Mean curves over runs; the slower of CW and CW-1 against the fastest of the other three.
    """
    sets, checkpoints = sets_of(study, *FIVE), checkpoints_of(study)
    curves = tuple(sets.values("curve", label, *FIVE) for label in sets.places)

    def fewer(*resampled: np.ndarray) -> bool:
        needed = [iterations_to_common_level(c, checkpoints) for c in resampled]
        return all(n[:2].max() < n[2:].min() for n in needed)

    needed = [iterations_to_common_level(c, checkpoints) for c in curves]
    wins = sum(n[:2].max() < n[2:].min() for n in needed)
    note = f"on {wins} of {len(needed)} sets; iterations of {', '.join(FIVE)}: " + _listed(sets, needed)
    return sets.decide(fewer(*curves), bootstrap_probability(curves, fewer, n_resamples=500), note)


def _listed(sets: Sets, numbers: list[np.ndarray], form: str = ".0f") -> str:
    return "; ".join(
        f"{label} " + ", ".join(format(float(x), form) for x in np.atleast_1d(row))
        for label, row in zip(sets.places, numbers, strict=True)
    )


@reading.claim("M2")
def mo_converges_alike_but_takes_longer(study: Study) -> Finding:
    """On every set where it runs: AdaBoost.MO needs between half and twice CW's iterations to the error that
    both reach, and at least five times its seconds; on the digit sets it does not finish 500 iterations.
    """
    sets, checkpoints = sets_of(study, "CW", exhibits=("figure1", "figure2")), checkpoints_of(study)
    labels = [label for label in sets.places if label in MO_SETS] or list(sets.places)
    ratios, costs, unfinished = [], [], []
    for label in labels:
        needed = iterations_to_common_level(sets.values("curve", label, "Ada.MO", "CW"), checkpoints)
        seconds = sets.values("seconds_curve", label, "Ada.MO", "CW")[:, :, -1]
        ratios.append(needed[0] / needed[1])
        costs.append(float(np.mean(seconds[:, 0] / seconds[:, 1])))
        if label in DIGIT_SETS:
            unfinished.append(bool((sets.values("rounds", label, "Ada.MO") < checkpoints[-1]).all()))
    alike = all(0.5 <= ratio <= 2 for ratio in ratios)
    note = (
        "MO / CW, iterations to the common error and seconds in all: "
        + "; ".join(f"{d} {a:.1f}, {b:.1f}" for d, a, b in zip(labels, ratios, costs, strict=True))
        + f"; stopped by its limit on {sum(unfinished)} of {len(unfinished)} sets of digits"
    )
    return sets.decide(alike and min(costs) >= 5 and all(unfinished), None, note)


@reading.claim("M3")
def class_wise_trains_faster(study: Study) -> Finding:
    """On every set, MultiBoost by L-BFGS-B takes longer than CW, in all and in the solver (mean ratios)."""
    sets = sets_of(study, "CW", PAPER_SOLVER)
    ratios = tuple(np.log(time_ratios(sets, label)) for label in sets.places)

    def faster(*logs: np.ndarray) -> bool:
        return all((log.mean(axis=0) > 0).all() for log in logs)

    newton = [
        np.mean(seconds[:, 1] / seconds[:, 0])
        for label in sets.places
        for seconds in [sets.values("seconds_curve", label, "CW", "MultiBoost")[:, :, -1]]
    ]
    note = (
        "MultiBoost / CW, seconds in all and in the solver: "
        + _listed(sets, [np.exp(log.mean(axis=0)) for log in ratios], ".1f")
        + "; in all, with Newton steps for MultiBoost: " + _listed(sets, newton, ".1f")
    )  # fmt: skip
    return sets.decide(faster(*ratios), bootstrap_probability(ratios, faster), note)


def time_ratios(sets: Sets, label: str) -> np.ndarray:
    """Return MultiBoost's seconds over CW's, (runs, (in all, solver)), where L-BFGS-B ended."""
    checkpoints = checkpoints_of(sets.study)
    finished = sets.values("finished", label, PAPER_SOLVER)[:, 0]
    places = np.maximum(np.searchsorted(checkpoints, finished, side="right") - 1, 0)
    runs = np.arange(len(places))
    ratios = []
    for metric in ("seconds_curve", "solver_curve"):
        seconds = sets.values(metric, label, PAPER_SOLVER, "CW")[runs, :, places]
        ratios.append(seconds[:, 0] / np.maximum(seconds[:, 1], 1e-4))
    return np.column_stack(ratios)


@reading.claim("M4")
def class_wise_has_best_error(study: Study) -> Finding:
    """On more than half of the sets the lowest mean test error after 500 iterations is CW's or CW-1's.

    The note says where AdaBoost.MO, which runs on some of the sets only, has a lower error than all of them.
    """
    sets = sets_of(study, *FIVE)
    errors = tuple(sets.values("error", label, *FIVE) for label in sets.places)

    def most(*resampled: np.ndarray) -> bool:
        return sum(e.mean(axis=0).argmin() < 2 for e in resampled) > len(resampled) / 2

    best = [FIVE[e.mean(axis=0).argmin()] for e in errors]
    count = sum(name in FIVE[:2] for name in best)
    note = f"CW or CW-1 on {count} of {len(best)}: " + "; ".join(
        f"{label} {name}" for label, name in zip(sets.places, best, strict=True)
    )
    beaten = [
        label
        for label, e in zip(sets.places, errors, strict=True)
        if label in MO_SETS and sets.values("error", label, "Ada.MO").mean() < e.mean(axis=0).min()
    ]
    note += f"; Ada.MO is below all five on: {', '.join(beaten) or 'none'}"
    return sets.decide(most(*errors), bootstrap_probability(errors, most), note)


@reading.claim("M5")
def multiboost_is_sparse_over_classes(study: Study) -> Finding:
    """On every set fewer than half of MultiBoost's weights are not 0, and more than half of CW's.

    A distinct stump of MultiBoost has a weight in each class, one of CW in its own class alone.
    """
    sets = sets_of(study, "CW", "MultiBoost")
    shares = []
    for label in sets.places:
        mean = sets.values("per_learner", label, "CW", "MultiBoost").mean(axis=0)
        shares.append(np.array([mean[0], mean[1] / N_CLASSES[label], mean[1]]))
    holds = all(own > 0.5 > other for own, other, _ in shares)
    note = "share of weights that are not 0 in CW and in MultiBoost, classes to a stump of MultiBoost: "
    return sets.decide(holds, None, note + _listed(sets, shares, ".2f"))


@reading.claim("M7")
def class_specific_sets_add_no_oracle_cost(study: Study) -> Finding:
    """On every set the search of CW takes at most 1.2 times as long as that of MultiBoost, for one round."""
    sets = sets_of(study, "CW", "CW-1", "MultiBoost")
    class_wise, stage_wise = (_search_ratios(sets, method) for method in ("CW", "CW-1"))
    note = (
        f"seconds of a search, CW / MultiBoost: {_listed(sets, class_wise, '.2f')}; "
        f"CW-1 / MultiBoost: {_listed(sets, stage_wise, '.2f')}"
    )
    return sets.decide(bool(max(class_wise) <= 1.2), None, note)


def _search_ratios(sets: Sets, method: str) -> list[float]:
    """Seconds of a method's search over those of MultiBoost's, the geometric mean over runs, for each set."""
    pairs = [sets.values("oracle_seconds", label, method, "MultiBoost") for label in sets.places]
    return [float(np.exp(np.log(seconds[:, 0] / seconds[:, 1]).mean())) for seconds in pairs]


@reading.claim("M8")
def class_wise_is_more_compact(study: Study) -> Finding:
    """Where their mean curves first reach the lowest error that both reach, CW has fewer weights that are not
    0 than MultiBoost, on more than half of the sets. The note also counts distinct stumps.
    """
    sets, both = sets_of(study, "CW", "MultiBoost"), ("CW", "MultiBoost")
    counts = []
    for label in sets.places:
        means = by_runs(sets.values("curve", label, *both))
        places = [first_place(mean, common_level(means)) for mean in means]
        found = [
            by_runs(sets.values(metric, label, *both))[k, places[k]]
            for metric in ("active", "learners")
            for k in range(2)
        ]
        counts.append(np.array(found))
    wins = sum(row[0] < row[1] for row in counts)
    note = (
        f"fewer weights on {wins} of {len(counts)}; weights of CW and MultiBoost, then their stumps: "
        + _listed(sets, counts)
    )
    return sets.decide(wins > len(counts) / 2, None, note)
