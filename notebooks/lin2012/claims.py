"""What decides the claims of lin2012; each rule was fixed before its numbers were there.

The paper prints no tables, so that there are no cells. Five methods are compared: CW, CW-1, MultiBoost
(solved by Newton steps, so that 500 iterations can be judged), AdaBoost.ECC and AdaBoost.MH. Seconds of
MultiBoost are those of L-BFGS-B, as in the paper, at the last checkpoint that it finished, beside CW's at the
same one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Finding, Reading
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from lin2012.trials import DIGIT_SETS, MO_SETS, PAPER_SETS

# Which sets stand in which figure, and the curves of those whose trials are complete

reading = Reading("lin2012")

FIVE = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH")
SHOWN = (*FIVE, "Ada.MO")  # the methods of which errors are kept
PAPER_SOLVER = "MultiBoost, L-BFGS-B"
FIGURES = ("figure1", "figure2", "figure3", "figure4", "figure5")
N_CLASSES = {
    "VOWEL": 11, "ISOLET": 26, "USPS": 10, "PENDIGITS": 10, "MNIST": 10, "CIFAR10 GIST": 10,
    "CIFAR10 pixels": 10, "SCENE15": 15, "GTSRB": 43, "wine": 3,
}  # fmt: skip


@dataclass(frozen=True)
class Sets:
    """The sets of a scale that are complete, and those that wait.

    Attributes
    ----------
    places : dict of str to str
        Exhibit of each complete set.
    waiting : tuple of str
    """

    study: Study
    places: dict[str, str]
    waiting: tuple[str, ...]

    def values(self, metric: str, label: str, *methods: str) -> np.ndarray:
        """Return a metric of a set: (runs, methods), or (runs, methods, points) where it is a curve."""
        evidence = self.study.evidence(self.places[label])
        return np.stack([evidence.curves(metric, dataset=label, method=m) for m in methods], axis=1)

    def decide(self, holds: bool, probability: float | None, note: str) -> Finding:
        """Return the finding; raise with what is known so far when sets wait."""
        if self.waiting:
            many = len(self.places) + len(self.waiting)
            raise IncompleteEvidenceError(
                f"so far, {len(self.places)} of {many} sets: {'yes' if holds else 'no'}; {note}", stale=False
            )
        return Finding(holds, probability, note)


def sets_of(study: Study, *methods: str, exhibits: tuple[str, ...] = FIGURES) -> Sets:
    """Return the paper's sets that the scale runs (any set where it runs none), by completeness."""
    asked = {
        label: (exhibit, evidence)
        for exhibit in exhibits
        for evidence in [study.evidence(exhibit)]
        for label in evidence.datasets
    }
    chosen = [label for label in PAPER_SETS if label in asked] or list(asked)
    done = {label: asked[label][0] for label in chosen if asked[label][1].is_complete(label, *methods)}
    if not done:
        raise IncompleteEvidenceError("no set is complete yet", stale=False)
    return Sets(study, done, tuple(label for label in chosen if label not in done))


def by_runs(curves: np.ndarray) -> np.ndarray:
    """Return the mean curves of methods, (methods, points), of (runs, methods, points)."""
    return curves.mean(axis=0)


def first_place(curve: np.ndarray, level: float) -> int:
    """Return the first point at which a curve is at or below a level; the last if none is."""
    reached = np.flatnonzero(curve <= level + 1e-9)
    return int(reached[0]) if len(reached) else len(curve) - 1


def common_level(means: np.ndarray) -> float:
    """Return the lowest error that every method of (methods, points) comes down to."""
    return float(means.min(axis=1).max())


# Claims about figures 1 to 5


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


# Claims about its solver and its dual

FIGURE6_SETS = ("VOWEL", "USPS", "SCENE15")
ACCURATE = 0.02  # an objective this near to the optimum, relatively, counts as very accurate


@reading.claim("M6")
def coordinate_descent_beats_lbfgsb(study: Study) -> Finding:
    """Three statements on every set of figure 6, by mean curves over runs.

    At the last round that L-BFGS-B finished, tau_max = 1 has taken the fewest seconds of all. For tau_max of
    2, 5 and 10, the objective is as low as L-BFGS-B's last one after at most half of its seconds. The
    objective of tau_max = 2 ends within 2 % of the optimum over its columns. (Where it ends above L-BFGS-B's
    objective it can never be as low; the note also has the seconds to 2 % above it.)
    """
    evidence = study.evidence("figure6")
    done = [label for label in evidence.datasets if evidence.is_complete(label, "FCD 1", "FCD 2")]
    wanted = [label for label in FIGURE6_SETS if label in evidence.datasets] or list(evidence.datasets)
    chosen = [label for label in wanted if label in done]
    if not chosen:
        raise IncompleteEvidenceError(f"figure6: {evidence.status or 'not run'}", stale=bool(evidence.stale))
    checkpoints = np.array(study.protocol("figure6")["checkpoints"])
    parts = {label: _statements(evidence, label, checkpoints) for label in chosen}
    holds = all(all(part[0]) for part in parts.values())
    note = "; ".join(f"{label}: {part[1]}" for label, part in parts.items())
    if len(chosen) < len(wanted):
        said = f"so far, {len(chosen)} of {len(wanted)} sets: {'yes' if holds else 'no'}; {note}"
        raise IncompleteEvidenceError(said, stale=bool(evidence.stale))
    return Finding(holds, None, note)


def _statements(evidence: Evidence, label: str, checkpoints: np.ndarray) -> tuple[tuple[bool, ...], str]:
    """Decide the three statements on one set."""
    late = evidence.curves("late_objective", dataset=label, method="L-BFGS-B").mean(axis=0)
    finished = evidence.sample("late_rounds", dataset=label, method="L-BFGS-B").values.min()
    last = max(int(np.searchsorted(checkpoints, finished, side="right")) - 1, 0)
    seconds = {
        method: evidence.curves("seconds_curve", dataset=label, method=method).mean(axis=0)
        for method in evidence.methods
    }
    paper = [method for method in evidence.methods if method != "Newton"]
    fastest = min(paper, key=lambda method: seconds[method][last])
    shares, nearly = [], []
    for method in ("FCD 2", "FCD 5", "FCD 10"):
        objective = evidence.curves("objective", dataset=label, method=method).mean(axis=0)
        for found, goal in ((shares, late[last]), (nearly, (1 + ACCURATE) * late[last])):
            reached = np.flatnonzero(objective <= goal)
            spent = seconds[method][reached[0]] if len(reached) else np.inf
            found.append(spent / seconds["L-BFGS-B"][last])
    excess = evidence.curves("excess", dataset=label, method="FCD 2").mean(axis=0)[-1]
    note = (
        f"fastest to round {checkpoints[last]} is {fastest}; for L-BFGS-B's objective tau_max of 2, 5, 10 "
        f"need {_percent(shares)} of its seconds, for 2 % above it {_percent(nearly)}; tau_max = 2 ends "
        f"{100 * excess:.1f} % above the optimum"
    )
    return (fastest == "FCD 1", max(shares) <= 0.5, bool(excess <= ACCURATE)), note


def _percent(shares: list[float]) -> str:
    return ", ".join(f"{100 * s:.0f} %" if np.isfinite(s) else "never" for s in shares)


@reading.claim("M9")
def printed_dual_is_the_dual(study: Study) -> Finding:
    """The optimum of (3) as printed, (3c) included, equals that of (2) to one part in a million, always."""
    evidence = study.evidence("theorems").require()
    loss, without, share = (evidence.array(m) for m in ("loss_3c", "duality", "share_3c"))
    note = (
        f"with (3c) the dual optimum falls short by up to {100 * loss.max():.1f} %; without it both agree to "
        f"{without.max():.0e}; samples that violate (3c) at the optimum, by set: "
        + ", ".join(
            f"{label} {100 * value:.0f} %"
            for label, value in zip(evidence.datasets, share.mean(axis=(0, 2)), strict=True)
        )
    )
    return Finding(bool(np.abs(loss).max() <= 1e-6), None, note)


@reading.claim("M10")
def v_minus_is_positive(study: Study) -> Finding:
    """In 200 rounds of CW-1 no chosen stump has V_- = 0, on any set."""
    evidence = study.evidence("separated").require()
    perfect, frozen, first = (evidence.array(m) for m in ("perfect", "frozen", "first"))
    exact, printed = evidence.methods.index("(12)"), evidence.methods.index("(13)")
    note = (
        "classes whose learning (13) ends for ever, by set: "
        + ", ".join(
            f"{label} {value:.1f}"
            for label, value in zip(evidence.datasets, frozen[:, :, printed].mean(axis=0), strict=True)
        )
        + f"; stumps with V_- = 0 on {int((perfect[:, :, exact] > 0).any(axis=0).sum())} of "
        f"{len(evidence.datasets)} sets, the first in round {_first(first[:, :, exact])}"
    )
    return Finding(bool(perfect[:, :, exact].max() == 0), None, note)


def _first(rounds: np.ndarray) -> str:
    found = rounds[rounds > 0]
    return f"{found.min():.0f}" if len(found) else "none"


@reading.claim("M11")
def working_sets_save_updates(study: Study) -> Finding:
    """On every set, picking among violated variables needs fewer updates than picking among all at random."""
    evidence = study.evidence("picks").require()
    updates = evidence.array("updates").mean(axis=0)
    names = list(evidence.methods)
    saved = updates[:, names.index("any")] / updates[:, names.index("violated ones")]
    turn = updates[:, names.index("in turn")] / updates[:, names.index("violated ones")]
    note = "updates among all at random, and among all in turn, over those among violated ones: " + "; ".join(
        f"{label} {a:.1f}, {b:.1f}" for label, a, b in zip(evidence.datasets, saved, turn, strict=True)
    )
    return Finding(bool(saved.min() > 1), None, note)
