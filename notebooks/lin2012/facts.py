"""The numbers that the article of lin2012 says, beside those of its claims: facts, by name.

Sets and methods have short names in the names of facts: ``reach.vowel_cw``, ``clock.signs_solver``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernsemble.report.comparisons import paired_p_value
from kernsemble.report.words import joined, names, span
from kernsemble.trials.study import Study
from lin2012.claims import (
    ACCURATE,
    FIVE,
    N_CLASSES,
    PAPER_SOLVER,
    Sets,
    at_common_error,
    checkpoints_of,
    common_level,
    first_place,
    iterations_to_common_level,
    nearly_reached,
    reading,
    search_ratios,
    seconds_of_searches,
    time_ratios,
)
from lin2012.selection import COSTS, chosen_curves, chosen_places
from lin2012.theory import COORDINATE_DESCENTS, ROUGH, TOLERANCES
from lin2012.trials import CIFAR_SETS, DIGIT_SETS, MO_SETS, PAPER_SETS, SCENE_SETS, SIGN_SETS, UCI_SETS

NAMES = dict(
    zip(
        PAPER_SETS,
        ("vowel", "isolet", "usps", "pendigits", "mnist", "gist", "pixels", "scenes", "signs"),
        strict=True,
    )
)
SHORT = dict(zip(FIVE, ["cw", "cw1", "multiboost", "ecc", "mh"], strict=True))
BOTH = ("CW", "MultiBoost")
SHORT_OF_BOTH = tuple(SHORT[method] for method in BOTH)
PLACES = {"figure1": UCI_SETS, "figure2": DIGIT_SETS, "figure3": CIFAR_SETS, "figure4": SCENE_SETS}
PLACES |= {"figure5": SIGN_SETS}
EXHIBIT = {label: exhibit for exhibit, labels in PLACES.items() for label in labels}


def _runs(study: Study, metric: str, label: str, *methods: str) -> np.ndarray:
    """Return a metric of the paper's figures, (runs, methods), or (runs, methods, points) of a curve."""
    evidence = study.evidence(EXHIBIT[label])
    return np.stack([np.array(evidence.runs(metric, label, method)) for method in methods], axis=1)


def _means(study: Study, exhibit: str, metric: str, label: str, *methods: str) -> np.ndarray:
    """Return mean curves of an exhibit, (methods, points)."""
    evidence = study.evidence(exhibit)
    return np.array([np.mean(evidence.runs(metric, label, method), axis=0) for method in methods])


def _all_sets(study: Study, *methods: str) -> Sets:
    """Return the paper's sets; raise unless these methods are complete on all of them."""
    for label, exhibit in EXHIBIT.items():
        for method in methods:
            study.evidence(exhibit).require(label, method)
    return Sets(study, EXHIBIT, ())


def _some(values: np.ndarray) -> str:
    return span(values, ".1f") if len(values) else "no run"


def _among(labels: list[str]) -> str:
    return joined(labels) or "no set"


@reading.facts(
    "reach", "vowel_level", *names("vowel isolet", SHORT.values()), *names("fewer cw1 time", "least most")
)  # fmt: skip
def iterations_to_the_common_error(study: Study) -> dict[str, float]:
    """Iterations of each method to the lowest error that all five reach, on two sets, and that error on one.

    Over all sets, ``fewer``: those of CW over MultiBoost's; ``cw1``: those of CW-1 over CW's; ``time``:
    seconds of MultiBoost by Newton steps to that error over those of CW.
    """
    curves = {label: _runs(study, "curve", label, *FIVE) for label in NAMES}
    needed = {d: iterations_to_common_level(c, checkpoints_of(study)) for d, c in curves.items()}
    facts = {"vowel_level": common_level(curves["VOWEL"].mean(axis=0))}
    for label in ("VOWEL", "ISOLET"):
        facts |= dict(zip(names([NAMES[label]], SHORT.values()), needed[label], strict=True))
    own, stagewise, shared, *_ = np.transpose(list(needed.values()))
    times = []
    for label, (one, _, other, *_) in needed.items():
        clocks = _runs(study, "seconds_curve", label, *BOTH).mean(axis=0)
        there = np.searchsorted(checkpoints_of(study), (one, other))
        times.append(clocks[1, there[1]] / clocks[0, there[0]])
    facts |= _ends("fewer", own / shared) | _ends("cw1", stagewise / own)
    return facts | _ends("time", times)


def _ends(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the least and the most of some values as two facts."""
    return {f"{name}_least": min(values), f"{name}_most": max(values)}


@reading.facts("mo", "iterations", "least", "most", "seconds")
def what_ada_mo_needs(study: Study) -> dict[str, float | str]:
    """AdaBoost.MO's iterations to the error that it and CW both reach, over CW's, by set.

    And its seconds in all over CW's, the least and the most of a set; its seconds, the most.
    """
    told, ratios, longest = [], [], []
    for label in MO_SETS:
        needed = iterations_to_common_level(
            _runs(study, "curve", label, "Ada.MO", "CW"), checkpoints_of(study)
        )
        seconds = _runs(study, "seconds_curve", label, "Ada.MO", "CW")[:, :, -1]
        told.append(f"{needed[0] / needed[1]:.1f} on {label}")
        ratios.append(np.mean(seconds[:, 0] / seconds[:, 1]))
        longest.append(seconds[:, 0].max())
    spans = {"least": min(ratios), "most": max(ratios)}
    return {"iterations": joined(told), "seconds": max(longest)} | spans


CLOCK = ("vowel_all", "vowel_newton", "isolet_all", "isolet_solver", "signs_solver")


@reading.facts("clock", *CLOCK, *names("all newton saved", "least most"))
def seconds_of_methods(study: Study) -> dict[str, float]:
    """Seconds of MultiBoost by L-BFGS-B over CW's, in all and in the solver; in all, with Newton steps.

    ``saved``: seconds of MultiBoost by L-BFGS-B over those by Newton steps, where L-BFGS-B ended.
    """
    found, sets = {}, _all_sets(study, *BOTH, PAPER_SOLVER)
    for label, name in NAMES.items():
        ratios = np.log(time_ratios(sets, label))
        found[f"{name}_all"], found[f"{name}_solver"] = np.exp(ratios.mean(axis=0))
        seconds = _runs(study, "seconds_curve", label, *BOTH)[:, :, -1]
        found[f"{name}_newton"] = np.mean(seconds[:, 1] / seconds[:, 0])
        found[f"{name}_saved"] = np.exp(np.log(time_ratios(sets, label, "MultiBoost")).mean(axis=0)[0])
    facts = {what: found[what] for what in CLOCK}
    for what in ("all", "newton", "saved"):
        facts |= _ends(what, [found[f"{name}_{what}"] for name in NAMES.values()])
    return facts


@reading.facts(
    "order", "cw_first", "cw1_first", "others_first", "cw_ahead", "cw1_ahead", "shared_classes",
    *("gist_classes", "pixels_classes", "cw_search", "cw1_search", "weights_fewer", "stumps_more"),
    *("dense_fewer", "at_100", "ends_below"),
)  # fmt: skip
def what_the_figures_say(study: Study) -> dict[str, float | str]:
    """Who has the least error on which set, how often by more than chance; what a search and a model cost.

    ``search``: the most on a set, over MultiBoost's; ``at_100``: sets where MultiBoost's mean curve is below
    that of CW at 100 distinct stumps; ``ends_below``: where it is so after all iterations.
    """
    first: dict[str, list[str]] = {method: [] for method in FIVE}
    ahead, classes, at_100, sets = np.zeros(2, dtype=int), {}, 0, _all_sets(study, *FIVE)
    below = []
    for label in PAPER_SETS:
        errors = _runs(study, "error", label, *FIVE)
        means = errors.mean(axis=0)
        first[FIVE[means.argmin()]].append(label)
        below += [label] if means[2] < means[0] else []
        for k in range(2):
            ahead[k] += means[k] < means[2] and paired_p_value(errors[:, k], errors[:, 2]) < 0.05
        classes[label] = _runs(study, "per_learner", label, "MultiBoost").mean()
        at_100 += np.greater(*error_at_stumps(study, label, 100))
    models = np.array([at_common_error(sets, label) for label in sets.places])
    dense, weights, stumps = np.moveaxis(models, 1, 0)
    others = [f"{method} on {joined(found)}" for method, found in list(first.items())[2:] if found]
    return {
        "cw_first": _among(first["CW"]),
        "cw1_first": _among(first["CW-1"]),
        "others_first": "; ".join(others) or "none",
        "cw_ahead": int(ahead[0]),
        "cw1_ahead": int(ahead[1]),
        "shared_classes": span([v for label, v in classes.items() if label not in CIFAR_SETS], ".1f"),
        "gist_classes": classes["CIFAR10 GIST"],
        "pixels_classes": classes["CIFAR10 pixels"],
        "cw_search": max(search_ratios(sets, "CW")),
        "cw1_search": max(search_ratios(sets, "CW-1")),
        "weights_fewer": int((weights[:, 0] < weights[:, 1]).sum()),
        "stumps_more": span(stumps[:, 0] / stumps[:, 1], ".1f"),
        "dense_fewer": int((dense[:, 0] < dense[:, 1]).sum()),
        "at_100": int(at_100),
        "ends_below": _among(below),
    }


def error_at_stumps(study: Study, label: str, count: int) -> list[float]:
    """Return the mean test errors of CW and MultiBoost where their mean curves reach so many stumps."""
    stumps, curves = (_runs(study, m, label, *BOTH).mean(axis=0) for m in ("learners", "curve"))
    return [float(np.interp(count, x, y)) for x, y in zip(stumps, curves, strict=True)]


@reading.facts("stumps", *names("vowel pendigits", "cw multiboost"))
def errors_at_100_stumps(study: Study) -> dict[str, float]:
    """Mean test error where mean curves reach 100 distinct stumps."""
    errors = [error for label in ("VOWEL", "PENDIGITS") for error in error_at_stumps(study, label, 100)]
    return dict(zip(names("vowel pendigits", "cw multiboost"), errors, strict=True))


OPTIMUM_SETS = ("wine", "iris", "vehicle", "segment", "VOWEL")


@reading.facts("optimum", "difference", "rounds_least", "rounds_most")
def the_same_optimum(study: Study) -> dict[str, float]:
    """The largest relative difference of CW's and MultiBoost's optima; rounds of CW on VOWEL and segment."""
    evidence, differences, rounds = study.evidence("optimum"), [], []
    for C in (100, 1000):
        pair = [f"{name}, C = {C}" for name in BOTH]
        values = evidence.array("objective", OPTIMUM_SETS, pair)
        differences.append(np.abs(values[..., 0] / values[..., 1] - 1.0).max())
        counts = evidence.array("rounds", ("VOWEL", "segment"), pair).mean(axis=0)
        rounds += list(counts[:, 0] / counts[:, 1])
    return {"difference": max(differences), "rounds_least": min(rounds), "rounds_most": max(rounds)}


SOLVED = {"VOWEL": "vowel", "USPS": "usps", "SCENE15": "scenes"}


@reading.facts("figure6", "above", "reached", "much_faster", *names(SOLVED.values(), ["share", "level"]))
def how_solvers_compare(study: Study) -> dict[str, float | str]:
    """FCD 2 to 2 % above L-BFGS-B's last objective, as a share of its seconds to that objective.

    ``level``: as a share of its seconds to 2 % above, too; ``much_faster``: sets where this is a half at
    most, for 2, 5 and 10 working set iterations. ``above``: percent above the optimum at the end, with two or
    more working set iterations; ``reached``: sets where one of these comes to L-BFGS-B's own last objective.
    """
    evidence, facts, above, reached, much = study.evidence("figure6"), {}, [], [], []
    checkpoints = np.array(study.protocol("figure6")["checkpoints"])
    for label, name in SOLVED.items():
        shares, nearly, _, last = nearly_reached(evidence, label, checkpoints)
        end = int(np.searchsorted(checkpoints, last))
        objective, seconds = (
            np.mean(evidence.runs(metric, label, "L-BFGS-B"), axis=0)
            for metric in ("late_objective", "seconds_curve")
        )
        level = nearly * seconds[end] / seconds[first_place(objective, (1 + ACCURATE) * objective[end])]
        facts |= {f"{name}_share": nearly[0], f"{name}_level": level[0]}
        much += [label] if level.max() <= 0.5 else []
        reached += [label] if np.isfinite(shares).any() else []
        above += [np.mean(evidence.runs("excess", label, m), axis=0)[-1] for m in COORDINATE_DESCENTS[1:]]
    sets = {"reached": _among(reached), "much_faster": _among(much)}
    return facts | sets | {"above": span(100 * np.array(above), ".1f")}


@reading.facts("picks", "vowel_segment", "wine")
def updates_saved(study: Study) -> dict[str, str]:
    """Updates of picks among all, at random or in turn, over those among violated ones."""
    evidence, facts = study.evidence("picks"), {}
    for name, labels in (("vowel_segment", ("VOWEL", "segment")), ("wine", ("wine",))):
        updates = evidence.array("updates", labels, ("violated ones", "any", "in turn")).mean(axis=0)
        facts[name] = span(updates[:, 1:] / updates[:, :1], ".1f")
    return facts


@reading.facts("theorems", "loss", "duality", "share", "vehicle", "others")
def constraint_3c(study: Study) -> dict[str, float | str]:
    """How far (3c) lowers the optimum of VOWEL, in percent; who violates it; the agreement without it."""
    evidence, method = study.evidence("theorems"), ("(2) and (3)",)
    share = {
        d: evidence.array("share_3c", (d,), method).ravel() for d in ("VOWEL", "vehicle", "wine", "iris")
    }
    return {
        "loss": span(100 * evidence.array("loss_3c", ("VOWEL",), method)),
        "duality": float(evidence.array("duality", share, method).max()),
        "share": 100 * float(share["VOWEL"].mean()),
        "vehicle": int((share["vehicle"] > 0).sum()),
        "others": int((share["wine"] > 0).sum() + (share["iris"] > 0).sum()),
    }


@reading.facts("separated", "difference", "wine")
def steps_12_and_13(study: Study) -> dict[str, float]:
    """By how much the mean test errors of the two steps differ: on iris and segment, and on wine."""
    errors = study.evidence("separated").array("error", ("iris", "segment", "wine"), ("(12)", "(13)"))
    differences = np.abs(np.diff(errors.mean(axis=0), axis=1))[:, 0]
    return {"difference": max(differences[:2]), "wine": differences[2]}


@reading.facts("modern", "leaves", "wine_leaves", "diverged", "worst")
def leaves_and_divergence(study: Study) -> dict[str, float | str]:
    """Leaves that CW uses, in percent; on segment fits of LightGBM, two leaves, with an error beyond 20 %."""
    evidence, rounds = study.evidence("modern"), study.protocol("modern")["modern_rounds"]
    wine, *others = (
        100 * evidence.array("leaves", (label,), ("CW",)).mean() / (2 * rounds * N_CLASSES[label])
        for label in ("wine", "VOWEL", "segment", "PENDIGITS")
    )
    errors = evidence.array("error", ("segment",), ("LightGBM, 2 leaves",)).ravel()
    diverged = int((errors > 20).sum())
    return {"leaves": span(others), "wine_leaves": wine, "diverged": diverged, "worst": errors.max()}


@reading.facts("trees", "needed", "reached")
def trees_on_pendigits(study: Study) -> dict[str, float]:
    """What the better of MultiBoost and AdaBoost.ECC reaches at the end, and CW-1's rounds to it."""
    own, *others = _means(study, "trees", "curve", "PENDIGITS", "CW-1", "MultiBoost", "Ada.ECC")
    reached = min(curve[-1] for curve in others)
    return {"needed": study.protocol("trees")["tree_points"][first_place(own, reached)], "reached": reached}


@reading.facts("stopping", "vowel_cw")
def cw_on_the_runs_of_stopping(study: Study) -> dict[str, float]:
    """The error of figure 1's CW on VOWEL, over the runs that the gaps were measured on."""
    runs = len(study.evidence("stopping").runs("error", "VOWEL", "C = 10000"))
    return {"vowel_cw": float(study.evidence("figure1").array("error", ["VOWEL"], ["CW"], runs).mean())}


SELECTED = {"CIFAR10 GIST": "gist", "CIFAR10 pixels": "pixels"}


@reading.facts(
    "selected",
    *names(
        SELECTED.values(),
        ["Cs", "cw", "small", "large", "lead", "lead_small", "classes_small", "classes_large"],
    ),
    *("cw_largest", "multiboost_largest", "fits"),
)
def what_was_selected_for_multiboost(study: Study) -> dict[str, float | str]:
    """Selected C on CIFAR-10, and MultiBoost's errors where its C is at most 1000, and above.

    ``lead``: its mean error minus that of CW, over all runs and over those with the small C; ``classes``: in
    which a stump has a weight. ``largest``: runs with the largest C of the grid, of those on all sets.
    """
    chosen = np.concatenate([_runs(study, "C", label, *BOTH) for label in NAMES])
    own, other = (chosen == COSTS[-1]).sum(axis=0)
    facts: dict[str, float | str] = {"cw_largest": own, "multiboost_largest": other, "fits": len(chosen)}
    for label, name in SELECTED.items():
        (own_C, C), (own, errors) = (_runs(study, m, label, *BOTH).T for m in ("C", "error"))
        classes, small = _runs(study, "per_learner", label, "MultiBoost")[:, 0], C <= 1000
        facts |= {
            f"{name}_Cs": span(C), f"{name}_cw": span(own_C), f"{name}_lead": (errors - own).mean(),
            f"{name}_lead_small": f"{(errors - own)[small].mean():.1f}" if small.any() else "no number",
            f"{name}_small": _some(errors[small]), f"{name}_large": _some(errors[~small]),
            f"{name}_classes_small": _some(classes[small]), f"{name}_classes_large": _some(classes[~small]),
        }  # fmt: skip
    return facts


@reading.facts("codes", "least", "most", "least_ratio", "most_ratio")
def seconds_of_the_exhaustive_code(study: Study) -> dict[str, float]:
    """Seconds of all rounds of AdaBoost.MO with all colorings, from a few rounds, on the sets of digits.

    And over those of CW.
    """
    timed = study.evidence("codes").array("round_seconds", DIGIT_SETS, ["exhaustive"])
    seconds = checkpoints_of(study)[-1] * timed.mean(axis=0).ravel()
    ratios = seconds / [_runs(study, "seconds_curve", label, "CW")[..., -1].mean() for label in DIGIT_SETS]
    spans = {"least_ratio": ratios.min(), "most_ratio": ratios.max()}
    return {"least": seconds.min(), "most": seconds.max()} | spans


@reading.facts("unlimited", "wine_apart", "vowel_apart")
def what_the_limit_hides(study: Study) -> dict[str, float]:
    """The largest difference of the two mean curves of test errors."""
    pairs = (_means(study, "unlimited", "curve", label, "L-BFGS-B", "Newton") for label in ("wine", "VOWEL"))
    return dict(zip(("wine_apart", "vowel_apart"), (np.abs(a - b).max() for a, b in pairs), strict=True))


RACED_BY = {"paper": "L-BFGS-B", "newton": "Newton"}


@reading.facts("accuracy", *names("vowel segment", RACED_BY, "coarse fine until"), "vowel_paper_narrowest")
def seconds_against_accuracy(study: Study) -> dict[str, float]:
    """Seconds of L-BFGS-B and of Newton steps over those of FCD, at the coarsest accuracy and at 1e-5.

    ``until``: the finest accuracy to which FCD takes fewer seconds, there and at all coarser ones;
    ``narrowest``: FCD's seconds over those of L-BFGS-B there (where there is none, at the coarsest).
    """
    evidence, facts = study.evidence("accuracy"), {}
    levels = list(study.protocol("accuracy")["accuracies"])
    for label in ("VOWEL", "segment"):
        own = np.mean(evidence.runs("seconds_curve", label, "FCD"), axis=0)
        for what, method in RACED_BY.items():
            other, start = np.mean(evidence.runs("seconds_curve", label, method), axis=0), label.lower()
            for end, k in (("coarse", 0), ("fine", levels.index(1e-5))):
                facts[f"{start}_{what}_{end}"] = other[k] / own[k]
            both = min(len(own), len(other))
            behind = np.flatnonzero(other[:both] <= own[:both])
            faster = behind[0] if len(behind) else both  # levels, from the coarsest
            said = f"down to an accuracy of {100 * levels[faster - 1]:g} %" if faster else "at no accuracy"
            facts[f"{start}_{what}_until"] = said
            if (label, what) == ("VOWEL", "paper"):
                finest = max(faster - 1, 0)
                facts["vowel_paper_narrowest"] = own[finest] / other[finest]
    return facts


@reading.facts("learning", *names("vowel pendigits segment", ["best"], "first last"))
def who_errs_least_with_few_and_all_samples(study: Study) -> dict[str, str]:
    """Who has the lowest mean error with the smallest share of the training set, and with all of it."""
    facts = {}
    for label in ("VOWEL", "PENDIGITS", "segment"):
        means = _means(study, "learning", "error", label, *FIVE)
        for k, end in ((0, "first"), (-1, "last")):
            facts[f"{label.lower()}_best_{end}"] = FIVE[means[:, k].argmin()]
    return facts


WHEN = ("early", "late")  # C chosen where figures 1 to 5 choose it, or after all rounds


@dataclass(frozen=True)
class Ends:
    """What CW and MultiBoost come to on a set, with C chosen early or late; pairs are (CW, MultiBoost).

    Attributes
    ----------
    C, errors : dict of str to tuple
        The choices, and the mean errors after all rounds, by when C is chosen.
    shares : tuple of float
        Weights that are not 0, as a share, at the late choice.
    dense, weights, stumps : tuple of float
        Iterations to the lowest error that both reach at the late choice, and what the models hold there.
    truncated : tuple of float
        Iterations to that error by curves of the last weights.
    true, last : tuple of float
        Errors after 50 rounds, with the weights of then and with the last ones, at the late choice.
    """

    C: dict[str, tuple[str, str]]
    errors: dict[str, tuple[float, float]]
    shares: tuple[float, float]
    dense: tuple[float, float]
    weights: tuple[float, float]
    stumps: tuple[float, float]
    truncated: tuple[float, float]
    true: tuple[float, float]
    last: tuple[float, float]

    def lead(self, when: str) -> float:
        """Return MultiBoost's last error minus that of CW."""
        return float(-np.subtract(*self.errors[when]))


PLACE = 50  # iterations, at which true curves and those of the last weights are told


def where_both_end(study: Study, label: str, exhibit: str = "map") -> Ends:
    """Return the ends on a set of the exhibits map or costs; raise where its trials wait."""
    points = checkpoints_of(study)
    stops = {"early": int(np.searchsorted(points, early_choice(study))), "late": len(points) - 1}
    C, errors = {}, {}
    for when, k in stops.items():
        places = [chosen_places(study, label, name, k, exhibit) for name in BOTH]
        C[when] = tuple(span([COSTS[j] for j in own]) for own in places)
        errors[when] = tuple(
            float(chosen_curves(study, label, name, "curve", k, exhibit)[:, -1].mean()) for name in BOTH
        )
    read = {
        metric: np.array([chosen_curves(study, label, m, metric, -1, exhibit).mean(axis=0) for m in BOTH])
        for metric in ("curve", "truncated", "active", "learners")
    }
    level, both, place = common_level(read["curve"]), [0, 1], int(np.searchsorted(points, PLACE))
    at, seems = ([first_place(curve, level) for curve in read[m]] for m in ("curve", "truncated"))
    found = {
        "shares": read["active"][:, -1] / (read["learners"][:, -1] * [1, N_CLASSES[label]]),
        "dense": points[at],
        "weights": read["active"][both, at],
        "stumps": read["learners"][both, at],
        "truncated": points[seems],
        "true": read["curve"][:, place],
        "last": read["truncated"][:, place],
    }
    return Ends(C, errors, **{name: tuple(map(float, pair)) for name, pair in found.items()})


def early_choice(study: Study) -> int:
    """Return after how many rounds figures 1 to 5 choose C."""
    return int(study.protocol("figure1")["search"]["rounds"])


@reading.facts(
    "costs",
    *names("vowel segment", ["lead"], WHEN),
    *names("vowel segment", "cw multiboost", "true truncated needed seems"),
    *("early", "rounds", "place"),
)
def what_the_choice_of_c_does(study: Study) -> dict[str, float | str]:
    """MultiBoost's error minus CW's by when C is chosen; and, at the late choice, true curves and truncated
    weights at the place.

    ``needed``, ``seems``: iterations to the lowest common error, by the true curves and by truncated weights.
    """
    facts = {"early": early_choice(study), "rounds": int(checkpoints_of(study)[-1]), "place": PLACE}
    for label in ("VOWEL", "segment"):
        end = where_both_end(study, label, "costs")
        facts |= {f"{label.lower()}_lead_{when}": end.lead(when) for when in WHEN}
        pairs = {"true": end.true, "truncated": end.last, "needed": end.dense, "seems": end.truncated}
        for what, pair in pairs.items():
            facts |= {f"{label.lower()}_{SHORT[m]}_{what}": v for m, v in zip(BOTH, pair, strict=True)}
    return facts


MAPPED = ("USPS", "PENDIGITS", "SCENE15", "CIFAR10 GIST", "CIFAR10 pixels")


@reading.facts(
    "map",
    *("sets", "names", "moved", "ahead_early", "ahead_late", "dense", "sparse", "fewer_rounds"),
    *("fewer_weights", "fewer_stumps", "late_rounds", "early_rounds", "slower_cw", "slower_multiboost"),
    *names(SELECTED.values(), ("early", "late", "C_early", "C_late")),
    *names("pendigits", SHORT_OF_BOTH, "true truncated"),
)
def c_by_rounds_on_large_sets(study: Study) -> dict[str, float | str]:
    """Count sets: where MultiBoost's C moves when it is chosen late, and what M4, M5 and M8 count then.

    ``ahead``: where CW ends below MultiBoost. ``dense``, ``sparse``: where more than half of CW's weights,
    and fewer than half of MultiBoost's, are not 0. ``gist_early``: MultiBoost's last error minus CW's.
    ``slower``: iterations by curves of the last weights over those by true curves; ``true``, ``truncated``:
    errors after the place.
    """
    ends = {label: where_both_end(study, label) for label in MAPPED}
    found = list(ends.values())
    facts: dict[str, float | str] = {
        "sets": len(found),
        "names": joined(list(ends)),
        "moved": sum(end.C["early"][1] != end.C["late"][1] for end in found),
        "dense": sum(end.shares[0] > 0.5 for end in found),
        "sparse": sum(end.shares[1] < 0.5 for end in found),
        "early_rounds": early_choice(study),
        "late_rounds": int(checkpoints_of(study)[-1]),
    }
    for k, name in enumerate(SHORT_OF_BOTH):
        facts[f"pendigits_{name}_true"] = ends["PENDIGITS"].true[k]
        facts[f"pendigits_{name}_truncated"] = ends["PENDIGITS"].last[k]
        facts[f"slower_{name}"] = span([end.truncated[k] / end.dense[k] for end in found], ".1f")
    for what, pairs in (("rounds", "dense"), ("weights", "weights"), ("stumps", "stumps")):
        facts[f"fewer_{what}"] = sum(np.less(*getattr(end, pairs)) for end in found)
    for when in WHEN:
        facts[f"ahead_{when}"] = sum(end.lead(when) > 0 for end in found)
        for label, name in SELECTED.items():
            facts[f"{name}_{when}"] = ends[label].lead(when)
            facts[f"{name}_C_{when}"] = ends[label].C[when][1]
    return facts


VOTED = ("VOWEL", "USPS", "PENDIGITS")


@reading.facts("votes", "turned", "kept", *names("vowel usps pendigits", ("cw", "needed", "cw_needed")))
def one_stump_or_one_a_class(study: Study) -> dict[str, float | str]:
    """CW's errors on the runs on which AdaBoost.MH has one stump a class.

    ``needed``: iterations of AdaBoost.MH with one a class, and of CW, to the lowest error that both reach;
    ``turned``: sets where AdaBoost.MH needs fewer; ``kept``: where CW needs fewer to the lowest error that
    all five reach, with this AdaBoost.MH as the fifth.
    """
    evidence, facts, turned, kept = study.evidence("votes"), {}, [], []
    points = checkpoints_of(study)
    for label in VOTED:
        name, curves = NAMES[label], np.array(evidence.runs("curve", label, "one a class"))
        own = _runs(study, "curve", label, "CW")[: len(curves), 0]
        means = np.array([own.mean(axis=0), curves.mean(axis=0)])
        cw, needed = points[[first_place(mean, common_level(means)) for mean in means]]
        facts |= {f"{name}_cw": means[0, -1], f"{name}_needed": needed, f"{name}_cw_needed": cw}
        turned += [label] if needed < cw else []
        others = _runs(study, "curve", label, *FIVE[:-1])[: len(curves)]
        five = np.concatenate([others, curves[:, np.newaxis]], axis=1)
        first, *_, last = iterations_to_common_level(five, points)
        kept += [label] if first < last else []
    return facts | {"turned": _among(turned), "kept": _among(kept)}


@reading.facts("searches", "sets", "most_plain", "saved_least", "saved_most")
def searches_with_and_without_bounds(study: Study) -> dict[str, float]:
    """Seconds of a search in CW over one in MultiBoost, the most of a set; by what factor the bounds help."""
    bounded, plain = (seconds_of_searches(study, how) for how in ("bounded", "plain"))
    saved, most = plain / bounded, (plain[:, 0] / plain[:, 1]).max()
    return {"sets": len(plain), "most_plain": most, "saved_least": saved.min(), "saved_most": saved.max()}


RACED = {"VOWEL": "vowel", "SCENE15": "scenes"}
GOALS = {"two": ACCURATE, "one": ACCURATE / 2}  # above the lowest objective, relatively
ENDED = {"FCD 2": "fcd", "L-BFGS-B, 1e-5": "fine", "L-BFGS-B, 1e-1": "tenth"}


@reading.facts(
    "tolerances", *names(RACED.values(), ENDED.values(), ["above"]),
    *names(RACED.values(), "default best", GOALS),
)  # fmt: skip
def lbfgsb_at_several_tolerances(study: Study) -> dict[str, float]:
    """By how much methods end above the lowest objective of any, in percent; and the seconds of L-BFGS-B to
    so many percent above it, over those of coordinate descent with two working set iterations: at the default
    tolerance, and at the one that is fastest.
    """
    facts: dict[str, float] = {}
    for label, name in RACED.items():
        seconds, objective = (
            dict(zip(TOLERANCES, _means(study, "tolerances", metric, label, *TOLERANCES), strict=True))
            for metric in ("seconds_curve", "late_objective")
        )
        best = min(curve.min() for curve in objective.values())
        for method, how in ENDED.items():
            facts[f"{name}_{how}_above"] = 100 * (objective[method][-1] / best - 1)
        for what, goal in GOALS.items():
            spent = {}
            for method, curve in objective.items():
                reached = np.flatnonzero(curve <= (1 + goal) * best)
                spent[method] = seconds[method][reached[0]] if len(reached) else np.inf
            facts[f"{name}_default_{what}"] = spent["L-BFGS-B"] / spent["FCD 2"]
            least = min(spent[method] for method in (*ROUGH, "L-BFGS-B"))
            facts[f"{name}_best_{what}"] = least / spent["FCD 2"]
    return facts


@reading.facts(
    "trees_selected",
    *names("vowel segment", "cw multiboost", ["C"]),
    *("rounds", "stagewise", "fixed_cw", "fixed_multiboost"),
)
def c_over_trees(study: Study) -> dict[str, float | str]:
    """The C that was selected over trees of depth 2, and the most rounds.

    On the same runs of VOWEL: ``stagewise``, the error of CW-1; ``fixed``, errors at the C of ``trees``.
    """
    evidence, facts = study.evidence("trees_selected"), {}
    for label in ("VOWEL", "segment"):
        for method in BOTH:
            facts[f"{label.lower()}_{SHORT[method]}_C"] = span(evidence.runs("C", label, method))
    runs = len(evidence.runs("C", "VOWEL", "CW"))
    for name, method in (("stagewise", "CW-1"), ("fixed_cw", "CW"), ("fixed_multiboost", "MultiBoost")):
        facts[name] = study.evidence("trees").array("error", ["VOWEL"], [method], runs).mean()
    return facts | {"rounds": int(study.protocol("trees_selected")["tree_points"][-1])}
