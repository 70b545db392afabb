"""The numbers that decide the parts of lin2012's claims; their limits stand in ``published/claims.yaml``.

The paper prints no tables, so that there are no cells. Five methods are compared: CW, CW-1, MultiBoost
(solved by Newton steps, so that 500 iterations can be judged), AdaBoost.ECC and AdaBoost.MH. Seconds of
MultiBoost are those of L-BFGS-B, as in the paper, at the last checkpoint that it finished, beside CW's at the
same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernsemble.report.ledger import Finding, Reading, measure
from kernsemble.report.verdicts import Answer
from kernsemble.report.words import span
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError
from kernsemble.trials.study import Study
from lin2012.trials import DIGIT_SETS, MO_SETS, PAPER_SETS

reading = Reading("lin2012")

FIVE = ("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH")
SHOWN = (*FIVE, "Ada.MO")  # the methods of which errors are kept
PAPER_SOLVER = "MultiBoost, L-BFGS-B"
FIGURES = ("figure1", "figure2", "figure3", "figure4", "figure5")
N_CLASSES = {
    "VOWEL": 11, "ISOLET": 26, "USPS": 10, "PENDIGITS": 10, "MNIST": 10, "CIFAR10 GIST": 10,
    "CIFAR10 pixels": 10, "SCENE15": 15, "GTSRB": 43, "wine": 3, "segment": 7,
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

    def decide(self, parts: dict[str, Answer], note: str) -> Finding:
        """Return the finding; raise with what is known so far when sets wait."""
        if self.waiting:
            many = len(self.places) + len(self.waiting)
            known = ", ".join(f"{name} {answer.value:.3g}" for name, answer in parts.items())
            said = f"so far, {len(self.places)} of {many} sets: {known}; {note}"
            raise IncompleteEvidenceError(said, stale=False)
        return Finding(parts, note=note)


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
    means = curves.mean(axis=0)
    return checkpoints[[first_place(mean, common_level(means)) for mean in means]]


@reading.claim("M1")
def class_wise_needs_fewer_iterations(study: Study) -> Finding:
    """Compare mean curves over runs: each of the two against the fastest of the other three."""
    sets, checkpoints = sets_of(study, *FIVE), checkpoints_of(study)
    curves = tuple(sets.values("curve", label, *FIVE) for label in sets.places)
    needed = [iterations_to_common_level(c, checkpoints) for c in curves]

    def fewer(place: int) -> Callable[..., float]:
        def share(*resampled: np.ndarray) -> float:
            found = [iterations_to_common_level(c, checkpoints) for c in resampled]
            return float(np.mean([n[place] < n[2:].min() for n in found]))

        return share

    parts = {name: measure(fewer(k), curves, n_resamples=500) for k, name in enumerate(("cw", "cw1"))}
    spans = (f"{name} {span(own)}" for name, own in zip(FIVE, np.transpose(needed), strict=True))
    return sets.decide(parts, f"iterations of {', '.join(spans)}")


ABOVE = 1.5  # times the last error of CW: a level at which its mean curve still falls


@reading.claim("M2")
def mo_converges_alike_but_takes_longer(study: Study) -> Finding:
    """Compare mean curves, and seconds with two of the codes that the paper may mean, where MO runs."""
    sets, checkpoints = sets_of(study, "CW", exhibits=("figure1", "figure2")), checkpoints_of(study)
    labels = [label for label in sets.places if label in MO_SETS] or list(sets.places)
    paces, costs, all_codes = [], [], []
    for label in labels:
        means = sets.values("curve", label, "Ada.MO", "CW").mean(axis=0)
        needed = [checkpoints[first_place(mean, ABOVE * means[1, -1])] for mean in means]
        seconds = sets.values("seconds_curve", label, "Ada.MO", "CW")[:, :, -1]
        paces.append(needed[0] / needed[1])
        costs.append(float(np.mean(seconds[:, 0] / seconds[:, 1])))
        if label in DIGIT_SETS:
            timed = study.evidence("codes").array("round_seconds", [label], ["exhaustive"]).mean()
            all_codes.append(checkpoints[-1] * timed / seconds[:, 1].mean())
    note = "MO / CW, iterations and seconds in all: " + "; ".join(
        f"{d} {a:.1f}, {b:.1f}" for d, a, b in zip(labels, paces, costs, strict=True)
    )
    parts = {
        "pace": Answer(float(np.mean([0.5 <= pace <= 2 for pace in paces]))),
        "one_against_all": Answer(min(costs)),
        "exhaustive": Answer(float(min(all_codes, default=np.nan))),
        "limit": Answer(float("nan"), note="hardware of the time is not at hand"),
    }
    return sets.decide(parts, note)


@reading.claim("M3")
def class_wise_trains_faster(study: Study) -> Finding:
    """Compare seconds at the last checkpoint that L-BFGS-B finished: geometric means of ratios over runs."""
    sets = sets_of(study, "CW", PAPER_SOLVER)
    ratios = tuple(np.log(time_ratios(sets, label)) for label in sets.places)

    def least(place: int) -> Callable[..., float]:
        return lambda *logs: float(np.exp(min(log.mean(axis=0)[place] for log in logs)))

    newton = [
        np.mean(seconds[:, 1] / seconds[:, 0])
        for label in sets.places
        for seconds in [sets.values("seconds_curve", label, "CW", "MultiBoost")[:, :, -1]]
    ]
    in_all, solver = np.transpose([np.exp(log.mean(axis=0)) for log in ratios])
    note = (
        f"seconds of MultiBoost over those of CW, by set: in all {span(in_all, '.1f')}, in the solver "
        f"{span(solver, '.1f')}; in all, with Newton steps for MultiBoost, {span(newton, '.1f')}"
    )
    return sets.decide({name: measure(least(k), ratios) for k, name in enumerate(("in_all", "solver"))}, note)


def time_ratios(sets: Sets, label: str, other: str = "CW") -> np.ndarray:
    """Return L-BFGS-B's seconds over those of CW (or another), (runs, (in all, solver)), where it ended."""
    checkpoints = checkpoints_of(sets.study)
    finished = sets.values("finished", label, PAPER_SOLVER)[:, 0]
    places = np.maximum(np.searchsorted(checkpoints, finished, side="right") - 1, 0)
    runs = np.arange(len(places))
    ratios = []
    for metric in ("seconds_curve", "solver_curve"):
        seconds = sets.values(metric, label, PAPER_SOLVER, other)[runs, :, places]
        ratios.append(seconds[:, 0] / np.maximum(seconds[:, 1], 1e-4))
    return np.column_stack(ratios)


@reading.claim("M4")
def class_wise_has_best_error(study: Study) -> Finding:
    """Compare mean test errors after 500 iterations, over all sets and by the figure that shows them.

    The note says where AdaBoost.MO, which runs on some of the sets only, has a lower error than all of them.
    """
    sets = sets_of(study, *FIVE)
    errors = {label: sets.values("error", label, *FIVE) for label in sets.places}

    def share(*resampled: np.ndarray) -> float:
        return float(np.mean([e.mean(axis=0).argmin() < 2 for e in resampled]))

    def behind(*resampled: np.ndarray) -> float:
        means = (e.mean(axis=0) for e in resampled)
        return float(max(mean[:2].min() - mean.min() for mean in means))

    parts = {"most": measure(share, tuple(errors.values()))}
    first = [label for label, exhibit in sets.places.items() if exhibit == FIGURES[0]]
    for label in first:
        study.evidence(FIGURES[0]).require(label, "Ada.MO")
    own = tuple(sets.values("error", label, *SHOWN) for label in first)
    parts[FIGURES[0]] = measure(behind, own) if own else Answer(float("nan"))
    for figure in FIGURES[1:]:
        own = tuple(errors[label] for label, exhibit in sets.places.items() if exhibit == figure)
        parts[figure] = measure(share, own) if own else Answer(float("nan"))
    note = "lowest: " + "; ".join(f"{label} {FIVE[e.mean(axis=0).argmin()]}" for label, e in errors.items())
    beaten = [
        label
        for label, e in errors.items()
        if label in MO_SETS and sets.values("error", label, "Ada.MO").mean() < e.mean(axis=0).min()
    ]
    return sets.decide(parts, f"{note}; Ada.MO is below all five on: {', '.join(beaten) or 'none'}")


@reading.claim("M5")
def multiboost_is_sparse_over_classes(study: Study) -> Finding:
    """Count weights that are not 0: a distinct stump of MultiBoost has one a class, one of CW in its own."""
    sets = sets_of(study, "CW", "MultiBoost")
    shares = []
    for label in sets.places:
        mean = sets.values("per_learner", label, "CW", "MultiBoost").mean(axis=0)
        shares.append(np.array([mean[0], mean[1] / N_CLASSES[label], mean[1]]))
    own, other, classes = np.transpose(shares)
    note = (
        f"share of weights that are not 0, by set: CW {span(own, '.2f')}, MultiBoost {span(other, '.2f')}; "
        f"classes to a stump of MultiBoost: {span(classes, '.1f')}"
    )
    parts = {"multiboost": Answer((other < 0.5).mean()), "cw": Answer((own > 0.5).mean())}
    return sets.decide(parts, note)


@reading.claim("M7")
def class_specific_sets_add_no_oracle_cost(study: Study) -> Finding:
    """Time the search of one round, which is one call for all classes in both methods."""
    sets = sets_of(study, "CW", "CW-1", "MultiBoost")
    class_wise, stage_wise = (search_ratios(sets, method) for method in ("CW", "CW-1"))
    note = (
        f"seconds of a search over those of MultiBoost's, by set: CW {span(class_wise, '.2f')}, "
        f"CW-1 {span(stage_wise, '.2f')}"
    )
    plain = seconds_of_searches(study, "plain")
    parts = {"plain": Answer(float((plain[:, 0] / plain[:, 1]).max())), "seconds": Answer(max(class_wise))}
    return sets.decide(parts, note)


def seconds_of_searches(study: Study, how: str) -> np.ndarray:
    """Return the seconds of a search, bounded or plain, (sets, (CW, MultiBoost))."""
    evidence = study.evidence("searches")
    if not evidence.datasets:
        raise IncompleteEvidenceError("searches: not run at this scale", stale=False)
    return evidence.array(f"{how}_seconds", methods=("CW", "MultiBoost")).mean(axis=0)


def search_ratio(sets: Sets, label: str, method: str) -> float:
    """Seconds of a method's search on a set over those of MultiBoost's, the geometric mean over runs."""
    seconds = sets.values("oracle_seconds", label, method, "MultiBoost")
    return float(np.exp(np.log(seconds[:, 0] / seconds[:, 1]).mean()))


def search_ratios(sets: Sets, method: str) -> list[float]:
    """Return the ratios of a method's search for each set."""
    return [search_ratio(sets, label, method) for label in sets.places]


@reading.claim("M8")
def class_wise_is_more_compact(study: Study) -> Finding:
    """Count what both models have where their mean curves first reach the lowest error that both reach."""
    sets = sets_of(study, "CW", "MultiBoost")
    counts = np.array([at_common_error(sets, label) for label in sets.places])
    names = ("dense", "weights", "stumps")
    parts = {name: Answer((counts[:, k, 0] < counts[:, k, 1]).mean()) for k, name in enumerate(names)}
    ratios = np.moveaxis(counts[..., 0] / counts[..., 1], 1, 0)
    told = (f"{k} {span(own, '.2f')}" for k, own in zip(("iterations", *names[1:]), ratios, strict=True))
    return sets.decide(parts, f"CW over MultiBoost, by set: {', '.join(told)}")


def at_common_error(sets: Sets, label: str) -> np.ndarray:
    """Return iterations, weights, stumps of CW and MultiBoost, (3, 2), at the least error that both reach."""
    curves, *held = (
        sets.values(metric, label, "CW", "MultiBoost").mean(axis=0)
        for metric in ("curve", "active", "learners")
    )
    places = [first_place(curve, common_level(curves)) for curve in curves]
    return np.array([checkpoints_of(sets.study)[places], *(values[[0, 1], places] for values in held)])


# Claims about its solver and its dual

FIGURE6_SETS = ("VOWEL", "USPS", "SCENE15")
ACCURATE = 0.02  # an objective this near to the optimum, relatively, counts as very accurate


@reading.claim("M6")
def coordinate_descent_beats_lbfgsb(study: Study) -> Finding:
    """Compare mean curves over runs on the sets of figure 6, up to the last round that L-BFGS-B finished.

    Where coordinate descent ends above L-BFGS-B's objective, it can never be as low; the note has both.
    """
    evidence, checkpoints = study.evidence("figure6"), np.array(study.protocol("figure6")["checkpoints"])
    wanted = [label for label in FIGURE6_SETS if label in evidence.datasets] or list(evidence.datasets)
    chosen = [label for label in wanted if evidence.is_complete(label, "FCD 1", "FCD 2")]
    if not chosen:
        raise IncompleteEvidenceError(f"figure6: {evidence.status or 'not run'}", stale=bool(evidence.stale))
    found, ends, note = [], [], []
    for label in chosen:
        shares, nearly, fastest, last = nearly_reached(evidence, label, checkpoints)
        ends.append(100 * float(np.mean(evidence.runs("excess", label, "FCD 2"), axis=0)[-1]))
        found.append((fastest == "FCD 1", max(nearly)))
        there = f"at it after {_percent(shares)}" if np.isfinite(shares).any() else "never at it"
        note.append(
            f"{label}, to round {last}: {fastest} is the fastest; tau_max of 2, 5, 10 are within 2 % of "
            f"L-BFGS-B's objective after {_percent(nearly)} of its seconds, and {there}; tau_max = 2 ends "
            f"{ends[-1]:.1f} % above the optimum"
        )
    if len(chosen) < len(wanted):
        said = f"so far, {len(chosen)} of {len(wanted)} sets; {'; '.join(note)}"
        raise IncompleteEvidenceError(said, stale=bool(evidence.stale))
    fastest, nearly = zip(*found, strict=True)
    parts = {"fastest": np.mean(fastest), "falls": max(nearly), "accurate": max(ends)}
    return Finding({name: Answer(float(value)) for name, value in parts.items()}, note="; ".join(note))


def nearly_reached(
    evidence: Evidence, label: str, checkpoints: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str, int]:
    """Compare solvers where L-BFGS-B ended: at the last checkpoint that all of its runs finished.

    Returns the seconds of coordinate descent with tau_max of 2, 5 and 10 over its seconds, to its objective
    and to 2 % above it (inf: never); who of the paper's solvers is the fastest there; and the iteration.
    """
    finished = min(evidence.runs("late_rounds", label, "L-BFGS-B"))
    last = max(int(np.searchsorted(checkpoints, finished, side="right")) - 1, 0)
    level = np.mean(evidence.runs("late_objective", label, "L-BFGS-B"), axis=0)[last]
    seconds = {m: np.mean(evidence.runs("seconds_curve", label, m), axis=0) for m in evidence.methods}
    fastest = min((m for m in evidence.methods if m != "Newton"), key=lambda m: seconds[m][last])
    spent = []
    for method in ("FCD 2", "FCD 5", "FCD 10"):
        objective = np.mean(evidence.runs("objective", label, method), axis=0)
        reached = [np.flatnonzero(objective <= goal) for goal in (level, (1 + ACCURATE) * level)]
        spent.append([seconds[method][some[0]] if len(some) else np.inf for some in reached])
    shares, nearly = np.array(spent).T / seconds["L-BFGS-B"][last]
    return shares, nearly, fastest, int(checkpoints[last])


def _percent(shares: np.ndarray) -> str:
    return ", ".join(f"{100 * s:.0f} %" if np.isfinite(s) else "never" for s in shares)


@reading.claim("M9")
def printed_dual_is_the_dual(study: Study) -> Finding:
    """Compare the optimum of (3) as printed, (3c) included, with that of (2)."""
    evidence = study.evidence("theorems").require()
    loss, without, share = (evidence.array(m) for m in ("loss_3c", "duality", "share_3c"))
    shares = zip(evidence.datasets, share.mean(axis=(0, 2)), strict=True)
    note = (
        f"with (3c) the dual optimum falls short by up to {100 * loss.max():.1f} %; without it both agree to "
        f"{without.max():.0e}; samples that violate (3c) at the optimum, by set: "
        + ", ".join(f"{label} {100 * value:.0f} %" for label, value in shares)
    )
    return Finding({"loss": Answer(np.abs(loss).max())}, note=note)


@reading.claim("M10")
def v_minus_is_positive(study: Study) -> Finding:
    """Count the stumps with V_- = 0 that CW-1 chooses in 200 rounds."""
    evidence = study.evidence("separated").require()
    perfect, first = (evidence.array(m, methods=["(12)"])[:, :, 0] for m in ("perfect", "first"))
    frozen = zip(evidence.datasets, evidence.array("frozen", methods=["(13)"]).mean(axis=(0, 2)), strict=True)
    earliest = first[first > 0]
    note = (
        "classes whose learning (13) ends for ever, by set: "
        + ", ".join(f"{label} {value:.1f}" for label, value in frozen)
        + f"; stumps with V_- = 0 on {int((perfect > 0).any(axis=0).sum())} of {len(evidence.datasets)} sets"
        f", the first in round {f'{earliest.min():.0f}' if len(earliest) else 'none'}"
    )
    return Finding({"none": Answer(perfect.max())}, note=note)


@reading.claim("M11")
def working_sets_save_updates(study: Study) -> Finding:
    """Count updates to equal tolerance (not to equal objective: picks among all end a little lower)."""
    evidence = study.evidence("picks").require()
    updates = evidence.array("updates", methods=("violated ones", "any", "in turn")).mean(axis=0)
    saved, turn = (updates[:, 1:] / updates[:, :1]).T
    note = "updates among all at random, and among all in turn, over those among violated ones: " + "; ".join(
        f"{label} {a:.1f}, {b:.1f}" for label, a, b in zip(evidence.datasets, saved, turn, strict=True)
    )
    return Finding({"saved": Answer(saved.min())}, note=note)


@reading.claim("M12", "rough", "exact", "stagewise")
def inexact_weights_are_acceptable(study: Study) -> Finding:
    """Compare test errors after 100 rounds at one C, with rough weights and with exact ones."""
    names = ("CW, tau_max 1", "CW, tau_max 2", "CW, exact")
    errors = study.evidence("readings").array("error", ["VOWEL"], names)[:, 0]
    stagewise, rough, exact = errors.mean(axis=0)
    cost = measure(lambda e: float(e[:, 1].mean() - e[:, 2].mean()), errors)
    note = "VOWEL, tau_max 1: {stagewise:.1f} %, 2: {rough:.1f} %, exact weights: {exact:.1f} %"
    return Finding({"cost": cost}, note=note, facts={"rough": rough, "exact": exact, "stagewise": stagewise})
