"""The numbers that the article of lin2012 says, beside those of its claims: facts, by name.

Sets and methods have short names in the names of facts: ``reach.vowel_cw``, ``clock.signs_solver``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernsemble.report.comparisons import paired_p_value
from kernsemble.report.words import joined
from kernsemble.trials.study import Study
from lin2012.claims import (
    ACCURATE,
    FIVE,
    N_CLASSES,
    Sets,
    checkpoints_of,
    common_level,
    first_place,
    iterations_to_common_level,
    reading,
    seconds_of_searches,
    time_ratios,
)
from lin2012.selection import COSTS, chosen_curves, chosen_places
from lin2012.theory import COORDINATE_DESCENTS, ROUGH, TOLERANCES
from lin2012.trials import CIFAR_SETS, DIGIT_SETS, PAPER_SETS, SCENE_SETS, SIGN_SETS, UCI_SETS

NAMES = dict(
    zip(
        PAPER_SETS,
        ("vowel", "isolet", "usps", "pendigits", "mnist", "gist", "pixels", "scenes", "signs"),
        strict=True,
    )
)
SHORT = dict(zip((*FIVE, "Ada.MO"), ("cw", "cw1", "multiboost", "ecc", "mh", "mo"), strict=True))
PLACES = {"figure1": UCI_SETS, "figure2": DIGIT_SETS, "figure3": CIFAR_SETS, "figure4": SCENE_SETS}
PLACES |= {"figure5": SIGN_SETS}
EXHIBIT = {label: exhibit for exhibit, labels in PLACES.items() for label in labels}
KEPT = (10, 50, 100)  # iterations at which errors are told besides the last


def _runs(study: Study, metric: str, label: str, *methods: str) -> np.ndarray:
    """Return a metric of the paper's figures, (runs, methods), or (runs, methods, points) of a curve."""
    evidence = study.evidence(EXHIBIT[label])
    return np.stack([np.array(evidence.runs(metric, label, method)) for method in methods], axis=1)


def _sets(study: Study, label: str, *methods: str) -> Sets:
    """Return a single set; raise unless its runs are complete."""
    for method in methods:
        study.evidence(EXHIBIT[label]).require(label, method)
    return Sets(study, {label: EXHIBIT[label]}, ())


def _span(values: object, form: str = ".0f") -> str:
    low, high = (format(float(some), form) for some in (np.min(values), np.max(values)))
    return low if low == high else f"{low} to {high}"


def _some(values: np.ndarray) -> str:
    return _span(values, ".1f") if len(values) else "no run"


def _among(labels: list[str]) -> str:
    return joined(labels) or "no set"


@reading.facts(
    "reach",
    *(f"{name}_{short}" for name in NAMES.values() for short in ("level", *list(SHORT.values())[:5])),
    *("fewer_least", "fewer_most", "cw1_least", "cw1_most"),
)
def iterations_to_the_common_error(study: Study) -> dict[str, float]:
    """Iterations of each method to the lowest error that all five reach, and that error.

    ``fewer``: those of CW over MultiBoost's; ``cw1``: those of CW-1 over CW's.
    """
    facts, shares, others, checkpoints = {}, [], [], checkpoints_of(study)
    for label, name in NAMES.items():
        curves = _runs(study, "curve", label, *FIVE)
        needed = iterations_to_common_level(curves, checkpoints)
        facts |= {f"{name}_{SHORT[method]}": n for method, n in zip(FIVE, needed, strict=True)}
        facts[f"{name}_level"] = common_level(curves.mean(axis=0))
        shares.append(needed[0] / needed[2])
        others.append(needed[1] / needed[0])
    spans = {"fewer_least": min(shares), "fewer_most": max(shares)}
    return facts | spans | {"cw1_least": min(others), "cw1_most": max(others)}


MO_NAMES = {label: NAMES[label] for label in (*UCI_SETS, *DIGIT_SETS)}


@reading.facts("mo", *(f"{name}_{what}" for name in MO_NAMES.values() for what in ("iterations", "seconds")))
def what_ada_mo_needs(study: Study) -> dict[str, float]:
    """AdaBoost.MO's iterations to the error that it and CW both reach, and its seconds in all, over CW's."""
    facts = {}
    for label, name in MO_NAMES.items():
        pair = ("Ada.MO", "CW")
        needed = iterations_to_common_level(_runs(study, "curve", label, *pair), checkpoints_of(study))
        seconds = _runs(study, "seconds_curve", label, *pair)[:, :, -1]
        facts[f"{name}_iterations"] = needed[0] / needed[1]
        facts[f"{name}_seconds"] = float(np.mean(seconds[:, 0] / seconds[:, 1]))
    return facts


TIMES = ("finished", "all", "solver", "newton", "search", "cw", "cw1", "cw_solver", "cw1_solver")


@reading.facts(
    "clock",
    *(f"{name}_{what}" for name in NAMES.values() for what in TIMES),
    *("all_least", "all_most", "newton_least", "newton_most"),
)
def seconds_of_methods(study: Study) -> dict[str, float]:
    """Rounds that L-BFGS-B finished; seconds of MultiBoost over CW's; a search of CW; CW and CW-1 in all.

    ``cw_solver``, ``cw1_solver``: their seconds in the solver.
    """
    facts = {}
    for label, name in NAMES.items():
        sets = _sets(study, label, "CW", "CW-1", "MultiBoost", "MultiBoost, L-BFGS-B")
        in_all, solver = np.exp(np.log(time_ratios(sets, label)).mean(axis=0))
        seconds = _runs(study, "seconds_curve", label, "CW", "CW-1", "MultiBoost")[:, :, -1]
        solving = _runs(study, "solver_curve", label, "CW", "CW-1")[:, :, -1]
        read = (
            _runs(study, "finished", label, "MultiBoost, L-BFGS-B").mean(),
            *(in_all, solver, np.mean(seconds[:, 2] / seconds[:, 0])),
            *(_runs(study, "oracle_seconds", label, "CW").mean(), *seconds.mean(axis=0)[:2]),
            *solving.mean(axis=0),
        )
        facts |= {f"{name}_{what}": float(value) for what, value in zip(TIMES, read, strict=True)}
    for what in ("all", "newton"):
        values = [facts[f"{name}_{what}"] for name in NAMES.values()]
        facts |= {f"{what}_least": min(values), f"{what}_most": max(values)}
    return facts


ENDS = tuple(f"{name}_{short}" for name in NAMES.values() for short in list(SHORT.values())[:5])
STUMPS = tuple(f"{name}_{short}_stumps" for name in NAMES.values() for short in list(SHORT.values())[:3])


@reading.facts(
    "ends",
    *STUMPS,
    *(f"{start}_rounds" for start in ENDS),
    *(f"{s}_at{t}" for s in ENDS for t in KEPT),
    *("scenes_full", "scenes_runs"),
)
def where_methods_end(study: Study) -> dict[str, float]:
    """Distinct stumps at the end, rounds run, and errors at some iterations."""
    facts, places = {}, np.searchsorted(checkpoints_of(study), KEPT)
    for label, name in NAMES.items():
        for method in FIVE:
            start = f"{name}_{SHORT[method]}"
            facts[f"{start}_rounds"] = float(_runs(study, "rounds", label, method).mean())
            curve = _runs(study, "curve", label, method).mean(axis=(0, 1))
            facts |= {f"{start}_at{t}": float(curve[k]) for t, k in zip(KEPT, places, strict=True)}
            if method in FIVE[:3]:
                facts[f"{start}_stumps"] = float(_runs(study, "learners", label, method)[:, 0, -1].mean())
    rounds = _runs(study, "rounds", "SCENE15", "CW").ravel()
    facts |= {"scenes_full": int((rounds == checkpoints_of(study)[-1]).sum()), "scenes_runs": len(rounds)}
    return facts


@reading.facts(
    "order", "cw_first", "cw1_first", "others_first", "cw_ahead", "cw1_ahead", "shared_classes",
    *("gist_classes", "pixels_classes", "long_searches", "long_ratio", "other_ratio", "cw1_ratio"),
    *("weights_fewer", "stumps_more", "dense_fewer"),
)  # fmt: skip
def what_the_figures_say(study: Study) -> dict[str, float | str]:
    """Who errs least on which set, how often that is significant, and what a search and a model cost."""
    first: dict[str, list[str]] = {method: [] for method in FIVE}
    ahead, classes, ratios, fewer, more = np.zeros(2, dtype=int), {}, {}, 0, []
    points, dense = checkpoints_of(study), 0
    for label in PAPER_SETS:
        errors = _runs(study, "error", label, *FIVE)
        means = errors.mean(axis=0)
        first[FIVE[means.argmin()]].append(label)
        for k in range(2):
            ahead[k] += means[k] < means[2] and paired_p_value(errors[:, k], errors[:, 2]) < 0.05
        classes[label] = _runs(study, "per_learner", label, "MultiBoost").mean()
        seconds = np.log(_runs(study, "oracle_seconds", label, "CW", "CW-1", "MultiBoost"))
        ratios[label] = np.exp((seconds[:, :2] - seconds[:, 2:]).mean(axis=0))
        both = ("CW", "MultiBoost")
        curves = _runs(study, "curve", label, *both).mean(axis=0)
        places = [first_place(mean, common_level(curves)) for mean in curves]
        weights, stumps = (
            [_runs(study, m, label, *both).mean(axis=0)[k, places[k]] for k in range(2)]
            for m in ("active", "learners")
        )
        dense += points[places[0]] < points[places[1]]
        fewer, more = fewer + (weights[0] < weights[1]), [*more, stumps[0] / stumps[1]]
    long = [label for label in PAPER_SETS if ratios[label][0] > 1.2]
    return {
        "cw_first": _among(first["CW"]),
        "cw1_first": _among(first["CW-1"]),
        "others_first": "; ".join(f"{m} on {joined(found)}" for m, found in list(first.items())[2:] if found)
        or "none",
        "cw_ahead": int(ahead[0]),
        "cw1_ahead": int(ahead[1]),
        "shared_classes": _span([v for label, v in classes.items() if label not in CIFAR_SETS], ".1f"),
        "gist_classes": classes["CIFAR10 GIST"],
        "pixels_classes": classes["CIFAR10 pixels"],
        "long_searches": _among(long),
        "long_ratio": _span([ratios[label][0] for label in long] or [0], ".1f"),
        "other_ratio": max((ratios[d][0] for d in PAPER_SETS if d not in long), default=0.0),
        "cw1_ratio": max(ratio[1] for ratio in ratios.values()),
        "weights_fewer": int(fewer),
        "stumps_more": _span(more, ".1f"),
        "dense_fewer": int(dense),
    }


OPTIMUM_SETS = ("wine", "iris", "vehicle", "segment", "VOWEL")


@reading.facts("optimum", "difference", "rounds_least", "rounds_most")
def the_same_optimum(study: Study) -> dict[str, float]:
    """The largest relative difference of CW's and MultiBoost's optima; rounds of CW on VOWEL and segment."""
    evidence, differences, rounds = study.evidence("optimum"), [], []
    for C in (100, 1000):
        pair = (f"CW, C = {C}", f"MultiBoost, C = {C}")
        values = evidence.array("objective", OPTIMUM_SETS, pair)
        differences.append(np.abs(values[..., 0] / values[..., 1] - 1.0).max())
        counts = evidence.array("rounds", ("VOWEL", "segment"), pair).mean(axis=0)
        rounds += list(counts[:, 0] / counts[:, 1])
    return {"difference": max(differences), "rounds_least": min(rounds), "rounds_most": max(rounds)}


@reading.facts(
    "stumps", *(f"{name}_{short}" for name in ("vowel", "pendigits") for short in ("cw", "multiboost"))
)
def errors_at_100_stumps(study: Study) -> dict[str, float]:
    """Mean test error where mean curves reach 100 distinct stumps."""
    facts = {}
    for label in ("VOWEL", "PENDIGITS"):
        for method in ("CW", "MultiBoost"):
            learners, curve = (
                _runs(study, m, label, method).mean(axis=(0, 1)) for m in ("learners", "curve")
            )
            facts[f"{NAMES[label]}_{SHORT[method]}"] = float(np.interp(100, learners, curve))
    return facts


SOLVED = {"VOWEL": "vowel", "USPS": "usps", "SCENE15": "scenes"}


@reading.facts(
    "figure6", "above", *(
        f"{name}_{what}" for name in SOLVED.values()
        for what in ("share", "rounds", "seconds", "newton_seconds", "late")
    )
)  # fmt: skip
def how_solvers_compare(study: Study) -> dict[str, float | str]:
    """FCD 2 to 2 % above L-BFGS-B's last objective, as a share of its seconds; the others' ends."""
    evidence, checkpoints = study.evidence("figure6"), np.array(study.protocol("figure6")["checkpoints"])
    facts, above = {}, []
    for label, name in SOLVED.items():
        read = {
            (metric, method): np.array(evidence.runs(metric, label, method))
            for metric, method in (
                ("late_objective", "L-BFGS-B"), ("late_rounds", "L-BFGS-B"), ("late_excess", "L-BFGS-B"),
                ("seconds_curve", "L-BFGS-B"), ("seconds_curve", "FCD 2"), ("objective", "FCD 2"),
                ("seconds_curve", "Newton"), ("rounds", "Newton"),
            )
        }  # fmt: skip
        finished = read["late_rounds", "L-BFGS-B"]
        last = max(int(np.searchsorted(checkpoints, finished.min(), side="right")) - 1, 0)
        goal = (1 + ACCURATE) * read["late_objective", "L-BFGS-B"].mean(axis=0)[last]
        seconds = {m: read["seconds_curve", m].mean(axis=0) for m in ("L-BFGS-B", "FCD 2", "Newton")}
        reached = np.flatnonzero(read["objective", "FCD 2"].mean(axis=0) <= goal)
        spent = seconds["FCD 2"][reached[0]] if len(reached) else np.inf
        facts |= {
            f"{name}_share": spent / seconds["L-BFGS-B"][last],
            f"{name}_rounds": finished.mean(),
            f"{name}_seconds": seconds["L-BFGS-B"][-1],
            f"{name}_newton_seconds": seconds["Newton"][-1],
            f"{name}_late": 100 * read["late_excess", "L-BFGS-B"].mean(axis=0)[-1],
        }
        above += [np.mean(evidence.runs("excess", label, m), axis=0)[-1] for m in COORDINATE_DESCENTS[1:]]
    return facts | {"above": _span(100 * np.array(above), ".1f")}


@reading.facts("picks", "vowel_segment", "wine")
def updates_saved(study: Study) -> dict[str, str]:
    """Updates of picks among all, at random or in turn, over those among violated ones."""
    evidence, facts = study.evidence("picks"), {}
    for name, labels in (("vowel_segment", ("VOWEL", "segment")), ("wine", ("wine",))):
        updates = evidence.array("updates", labels, ("violated ones", "any", "in turn")).mean(axis=0)
        facts[name] = _span(updates[:, 1:] / updates[:, :1], ".1f")
    return facts


@reading.facts("theorems", "loss", "duality", "share", "vehicle", "others")
def constraint_3c(study: Study) -> dict[str, float | str]:
    """How far (3c) lowers the optimum of VOWEL, in percent; who violates it; the agreement without it."""
    evidence, method = study.evidence("theorems"), ("(2) and (3)",)
    loss = 100 * evidence.array("loss_3c", ("VOWEL",), method)
    return {
        "loss": _span(loss),
        "duality": float(evidence.array("duality", ("wine", "iris", "vehicle", "VOWEL"), method).max()),
        "share": 100 * float(evidence.array("share_3c", ("VOWEL",), method).mean()),
        "vehicle": int((evidence.array("share_3c", ("vehicle",), method) > 0).sum()),
        "others": int((evidence.array("share_3c", ("wine", "iris"), method) > 0).sum()),
    }


@reading.facts("separated", "difference", "wine")
def steps_12_and_13(study: Study) -> dict[str, float]:
    """By how much the mean test errors of the two steps differ: on iris and segment, and on wine."""
    errors = study.evidence("separated").array("error", ("iris", "segment", "wine"), ("(12)", "(13)"))
    differences = np.abs(np.diff(errors.mean(axis=0), axis=1))[:, 0]
    return {"difference": max(differences[:2]), "wine": differences[2]}


LEAF_SETS = ("wine", "VOWEL", "segment", "PENDIGITS")


@reading.facts("modern", "leaves", "wine_leaves", "diverged", "worst")
def leaves_and_divergence(study: Study) -> dict[str, float | str]:
    """Leaves that CW uses, in percent; fits of LightGBM with two leaves on segment that err beyond 20 %."""
    evidence, rounds = study.evidence("modern"), study.protocol("modern")["modern_rounds"]
    classes = {"VOWEL": N_CLASSES["VOWEL"], "wine": 3, "segment": 7, "PENDIGITS": 10}
    shares = {
        label: 100 * evidence.array("leaves", (label,), ("CW",)).mean() / (2 * rounds * classes[label])
        for label in LEAF_SETS
    }
    errors = evidence.array("error", ("segment",), ("LightGBM, 2 leaves",)).ravel()
    return {
        "leaves": _span([shares[label] for label in LEAF_SETS[1:]]),
        "wine_leaves": shares["wine"],
        "diverged": int((errors > 20).sum()),
        "worst": errors.max(),
    }


@reading.facts("trees", "needed", "reached")
def trees_on_pendigits(study: Study) -> dict[str, float]:
    """What the better of MultiBoost and AdaBoost.ECC reaches at the end, and CW-1's rounds to it."""
    evidence, points = study.evidence("trees"), study.protocol("trees")["tree_points"]
    curves = {
        method: np.mean(evidence.runs("curve", "PENDIGITS", method), axis=0)
        for method in ("CW-1", "MultiBoost", "Ada.ECC")
    }
    reached = min(curves["MultiBoost"][-1], curves["Ada.ECC"][-1])
    return {"needed": points[first_place(curves["CW-1"], reached)], "reached": reached}


@reading.facts("stopping", "vowel_cw")
def cw_on_the_runs_of_stopping(study: Study) -> dict[str, float]:
    """The error of figure 1's CW on VOWEL, over the runs that the gaps were measured on."""
    runs = len(study.evidence("stopping").runs("error", "VOWEL", "C = 10000"))
    return {"vowel_cw": float(study.evidence("figure1").array("error", ["VOWEL"], ["CW"], runs).mean())}


@reading.facts(
    "selected",
    *(f"{name}_{what}" for name in ("gist", "pixels") for what in ("Cs", "cw", "small", "large")),
    *("gist_small_classes", "gist_large_classes"),
)
def what_was_selected_for_multiboost(study: Study) -> dict[str, float | str]:
    """Selected C on CIFAR-10, and MultiBoost's errors where its C is at most 1000, and above.

    And the classes in which a stump has a weight, on GIST.
    """
    facts = {}
    for label, name in (("CIFAR10 GIST", "gist"), ("CIFAR10 pixels", "pixels")):
        C, own = _runs(study, "C", label, "MultiBoost", "CW").T
        errors = _runs(study, "error", label, "MultiBoost")[:, 0]
        classes = _runs(study, "per_learner", label, "MultiBoost")[:, 0]
        small = C <= 1000
        facts |= {f"{name}_Cs": _span(C), f"{name}_cw": _span(own)}
        facts |= {f"{name}_small": _some(errors[small]), f"{name}_large": _some(errors[~small])}
        if name == "gist":
            facts |= {
                "gist_small_classes": _some(classes[small]),
                "gist_large_classes": _some(classes[~small]),
            }
    return facts


@reading.facts("codes", "least", "most", "least_ratio", "most_ratio")
def seconds_of_the_exhaustive_code(study: Study) -> dict[str, float]:
    """Seconds of all rounds of AdaBoost.MO with all colorings, from a few rounds, on the sets of digits.

    And over those of CW.
    """
    rounds = int(checkpoints_of(study)[-1])
    timed = study.evidence("codes").array("round_seconds", DIGIT_SETS, ["exhaustive"])
    seconds = rounds * timed.mean(axis=0).ravel()
    own = [_runs(study, "seconds_curve", label, "CW")[..., -1].mean() for label in DIGIT_SETS]
    ratios = seconds / own
    return {
        "least": seconds.min(),
        "most": seconds.max(),
        "least_ratio": ratios.min(),
        "most_ratio": ratios.max(),
    }


@reading.facts("unlimited", "wine_apart", "vowel_apart", "vowel_paper", "vowel_newton")
def what_the_limit_hides(study: Study) -> dict[str, float]:
    """The largest difference of the two mean curves of test errors, and the seconds on VOWEL."""
    evidence, facts, pair = study.evidence("unlimited"), {}, ("L-BFGS-B", "Newton")
    for label, name in (("wine", "wine"), ("VOWEL", "vowel")):
        curves = [np.mean(evidence.runs("curve", label, method), axis=0) for method in pair]
        facts[f"{name}_apart"] = np.abs(curves[0] - curves[1]).max()
    for method, name in zip(pair, ("paper", "newton"), strict=True):
        facts[f"vowel_{name}"] = np.mean(evidence.runs("seconds_curve", "VOWEL", method), axis=0)[-1]
    return facts


@reading.facts(
    "accuracy",
    *(
        f"{name}_{what}_{level}"
        for name in ("vowel", "segment") for what in ("paper", "newton") for level in ("coarse", "fine")
    ),
    *(f"{name}_{method}_until" for name in ("vowel", "segment") for method in ("paper", "newton")),
    *("coarse", "fine"),
)  # fmt: skip
def seconds_against_accuracy(study: Study) -> dict[str, float]:
    """Seconds of L-BFGS-B and of Newton steps over those of FCD, at the coarsest accuracy and at 1e-5.

    ``until``: the finest accuracy to which FCD takes fewer seconds, there and at all coarser ones.
    """
    evidence = study.evidence("accuracy")
    levels = list(study.protocol("accuracy")["accuracies"])
    chosen = {"coarse": 0, "fine": levels.index(1e-5)}
    facts = {name: levels[k] for name, k in chosen.items()}
    for label, short in (("VOWEL", "vowel"), ("segment", "segment")):
        seconds = {
            method: np.mean(evidence.runs("seconds_curve", label, method), axis=0)
            for method in ("FCD", "L-BFGS-B", "Newton")
        }
        for level, k in chosen.items():
            for what, method in (("paper", "L-BFGS-B"), ("newton", "Newton")):
                facts[f"{short}_{what}_{level}"] = seconds[method][k] / seconds["FCD"][k]
        for what, method in (("paper", "L-BFGS-B"), ("newton", "Newton")):
            both = min(len(seconds["FCD"]), len(seconds[method]))
            behind = np.flatnonzero(seconds[method][:both] <= seconds["FCD"][:both])
            faster = behind[0] if len(behind) else both  # levels, from the coarsest
            facts[f"{short}_{what}_until"] = _power(levels[faster - 1]) if faster else "at no accuracy"
    return facts


def _power(value: float) -> str:
    """Say down to which accuracy."""
    return f"down to an accuracy of {100 * value:g} %"


LEARNED = {"VOWEL": "vowel", "PENDIGITS": "pendigits"}


@reading.facts(
    "learning",
    *(
        f"{name}_{short}_{end}"
        for name in LEARNED.values() for short in ("cw", "cw1", "multiboost", "best")
        for end in ("first", "last")
    ),
    *("smallest", "rounds", "smallest_share"),
)  # fmt: skip
def errors_with_few_and_all_samples(study: Study) -> dict[str, float]:
    """Mean test errors with the smallest share of the training set and with all of it; who errs least."""
    evidence, protocol = study.evidence("learning"), study.protocol("learning")
    facts = {"rounds": protocol["learning_rounds"], "smallest_share": 100 * protocol["shares"][0]}
    facts["smallest"] = int(evidence.runs("sizes", "VOWEL", "CW")[0][0])
    for label, name in LEARNED.items():
        means = {m: np.mean(evidence.runs("error", label, m), axis=0) for m in FIVE}
        for k, end in ((0, "first"), (-1, "last")):
            facts[f"{name}_best_{end}"] = min(FIVE, key=lambda m, k=k, means=means: means[m][k])
        for method in ("CW", "CW-1", "MultiBoost"):
            curve, start = np.mean(evidence.runs("error", label, method), axis=0), f"{name}_{SHORT[method]}"
            facts |= {f"{start}_first": curve[0], f"{start}_last": curve[-1]}
    return facts


COSTED = {"VOWEL": "vowel", "segment": "segment"}
WHEN = ("early", "late")  # C chosen where figures 1 to 5 choose it, or after all rounds


@reading.facts(
    "costs",
    *(
        f"{name}_{short}_{what}_{when}"
        for name in COSTED.values() for short in ("cw", "multiboost") for what in ("C", "error")
        for when in WHEN
    ),
    *(f"{name}_lead_{when}" for name in COSTED.values() for when in WHEN),
    *(
        f"{name}_{short}_{what}"
        for name in COSTED.values() for short in ("cw", "multiboost")
        for what in ("true", "truncated", "share", "weights", "stumps", "needed", "seems")
    ),
    *(f"{name}_level" for name in COSTED.values()),
    *(f"{name}_classes" for name in COSTED.values()),
    *("early", "rounds", "runs", "place"),
)  # fmt: skip
def what_the_choice_of_c_does(study: Study) -> dict[str, float | str]:
    """Errors after all rounds by when C is chosen; and, at the late choice, what true curves and truncated
    weights say at the place, the share of weights that are not 0 at the end, and the weights and stumps where
    both methods reach the lowest common error.

    ``needed``, ``seems``: iterations to that error, by the true curves and by truncated weights.
    """
    points = np.array(study.protocol("costs")["checkpoints"])
    early = early_choice(study)
    place, facts = KEPT[1], {"early": early, "rounds": int(points[-1]), "place": KEPT[1]}
    last = {"early": int(np.searchsorted(points, early)), "late": len(points) - 1}
    for label, name in COSTED.items():
        classes = {"VOWEL": N_CLASSES["VOWEL"], "segment": 7}[label]
        ends, curves = {}, {}
        for method in ("CW", "MultiBoost"):
            start = f"{name}_{SHORT[method]}"
            for when, k in last.items():
                ends[method, when] = chosen_curves(study, label, method, "curve", k)[:, -1].mean()
                chosen = [COSTS[j] for j in chosen_places(study, label, method, k)]
                facts |= {f"{start}_C_{when}": _span(chosen), f"{start}_error_{when}": ends[method, when]}
            read = {
                metric: chosen_curves(study, label, method, metric).mean(axis=0)
                for metric in ("curve", "truncated", "active", "learners")
            }
            curves[method], at = read, int(np.searchsorted(points, place))
            facts[f"{start}_true"], facts[f"{start}_truncated"] = read["curve"][at], read["truncated"][at]
            stumps = read["learners"][-1] * (1 if method == "CW" else classes)
            facts[f"{start}_share"] = read["active"][-1] / stumps
            if method == "MultiBoost":
                facts[f"{name}_classes"] = read["active"][-1] / read["learners"][-1]
        for when in WHEN:
            facts[f"{name}_lead_{when}"] = ends["MultiBoost", when] - ends["CW", when]
        level = common_level(np.array([read["curve"] for read in curves.values()]))
        facts |= {f"{name}_level": level, "runs": len(chosen_places(study, label, "CW"))}
        for method, read in curves.items():
            start, k = f"{name}_{SHORT[method]}", first_place(read["curve"], level)
            facts |= {f"{start}_weights": read["active"][k], f"{start}_stumps": read["learners"][k]}
            facts[f"{start}_needed"] = points[k]
            facts[f"{start}_seems"] = points[first_place(read["truncated"], level)]
    return facts


MAPPED = ("USPS", "PENDIGITS", "SCENE15", "CIFAR10 GIST", "CIFAR10 pixels")


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
    """

    C: dict[str, tuple[str, str]]
    errors: dict[str, tuple[float, float]]
    shares: tuple[float, float]
    dense: tuple[float, float]
    weights: tuple[float, float]
    stumps: tuple[float, float]
    truncated: tuple[float, float]


def where_both_end(study: Study, label: str) -> Ends:
    """Return the ends on a set of the exhibit map; raise where its trials wait."""
    both, points = ("CW", "MultiBoost"), checkpoints_of(study)
    last = {"early": int(np.searchsorted(points, early_choice(study))), "late": len(points) - 1}
    C, errors = {}, {}
    for when, k in last.items():
        places = [chosen_places(study, label, name, k, "map") for name in both]
        C[when] = tuple(_span([COSTS[j] for j in own]) for own in places)
        errors[when] = tuple(
            float(chosen_curves(study, label, name, "curve", k, "map")[:, -1].mean()) for name in both
        )
    read = {
        metric: [chosen_curves(study, label, name, metric, -1, "map").mean(axis=0) for name in both]
        for metric in ("curve", "truncated", "active", "learners")
    }
    level = common_level(np.array(read["curve"]))
    at, seems = ([first_place(curve, level) for curve in read[m]] for m in ("curve", "truncated"))
    slots = [read["learners"][0][-1], read["learners"][1][-1] * N_CLASSES[label]]
    found = {
        "shares": [read["active"][k][-1] / slots[k] for k in range(2)],
        "dense": points[at],
        "weights": [read["active"][k][at[k]] for k in range(2)],
        "stumps": [read["learners"][k][at[k]] for k in range(2)],
        "truncated": points[seems],
    }
    return Ends(C, errors, **{name: tuple(map(float, pair)) for name, pair in found.items()})


def early_choice(study: Study) -> int:
    """Return after how many rounds figures 1 to 5 choose C."""
    return int(study.protocol("figure1")["search"]["rounds"])


@reading.facts(
    "map",
    *("sets", "names", "moved", "ahead_early", "ahead_late", "dense", "sparse", "fewer_rounds"),
    *("fewer_weights", "fewer_stumps", "late_rounds", "early_rounds", "slower_cw", "slower_multiboost"),
    *(f"{name}_{what}" for name in ("gist", "pixels") for what in ("early", "late", "C_early", "C_late")),
)
def c_by_rounds_on_large_sets(study: Study) -> dict[str, float | str]:
    """Count sets: where MultiBoost's C moves when it is chosen late, and what M4, M5 and M8 count then.

    ``ahead``: where CW ends below MultiBoost. ``dense``, ``sparse``: where more than half of CW's weights,
    and fewer than half of MultiBoost's, are not 0. ``gist_early``: MultiBoost's last error minus CW's.
    ``slower``: iterations by curves of the last weights over those by true curves.
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
    for k, name in enumerate(("cw", "multiboost")):
        facts[f"slower_{name}"] = _span([end.truncated[k] / end.dense[k] for end in found], ".1f")
    for when in WHEN:
        facts[f"ahead_{when}"] = sum(np.less(*end.errors[when]) for end in found)
    for what, pairs in (("rounds", "dense"), ("weights", "weights"), ("stumps", "stumps")):
        facts[f"fewer_{what}"] = sum(np.less(*getattr(end, pairs)) for end in found)
    for label, name in (("CIFAR10 GIST", "gist"), ("CIFAR10 pixels", "pixels")):
        for when in WHEN:
            own, other = ends[label].errors[when]
            facts |= {f"{name}_{when}": other - own, f"{name}_C_{when}": ends[label].C[when][1]}
    return facts


@reading.facts(
    "votes",
    *(
        f"{name}_{what}"
        for name in ("vowel", "usps", "pendigits")
        for what in ("one", "own", "cw", "needed", "cw_needed")
    ),
    "runs",
)
def one_stump_or_one_a_class(study: Study) -> dict[str, float]:
    """AdaBoost.MH's errors with one stump a round, and with one a class, beside CW's on the same runs.

    ``needed``: iterations of AdaBoost.MH with one a class, and of CW, to the lowest error that both reach.
    """
    evidence, facts, points = study.evidence("votes"), {}, checkpoints_of(study)
    for label in ("VOWEL", "USPS", "PENDIGITS"):
        name, curves = NAMES[label], np.array(evidence.runs("curve", label, "one a class"))
        own = _runs(study, "curve", label, "CW")[: len(curves), 0]
        means = np.array([own.mean(axis=0), curves.mean(axis=0)])
        needed = points[[first_place(mean, common_level(means)) for mean in means]]
        facts |= {
            f"{name}_one": np.mean(evidence.runs("error", label, "one")),
            f"{name}_own": means[1, -1], f"{name}_cw": means[0, -1],
            f"{name}_needed": needed[1], f"{name}_cw_needed": needed[0], "runs": len(curves),
        }  # fmt: skip
    return facts


@reading.facts("searches", "sets", "most_plain", "most_bounded", "saved_least", "saved_most")
def searches_with_and_without_bounds(study: Study) -> dict[str, float]:
    """Seconds of a search in CW over one in MultiBoost, the most of a set; by what factor the bounds help."""
    bounded, plain = (seconds_of_searches(study, how) for how in ("bounded", "plain"))
    return {
        "sets": len(plain),
        "most_plain": (plain[:, 0] / plain[:, 1]).max(),
        "most_bounded": (bounded[:, 0] / bounded[:, 1]).max(),
        "saved_least": (plain / bounded).min(),
        "saved_most": (plain / bounded).max(),
    }


RACED = {"VOWEL": "vowel", "SCENE15": "scenes"}
GOALS = {"two": 0.02, "one": 0.01}  # above the lowest objective, relatively
ROUGH_NAMES = dict(zip(ROUGH, ("tenth", "thousandth", "fine"), strict=True)) | {"L-BFGS-B": "default"}


@reading.facts(
    "tolerances",
    *(
        f"{name}_{how}_{what}"
        for name in RACED.values()
        for how in (*ROUGH_NAMES.values(), "fcd")
        for what in ("seconds", "above")
    ),
    *(f"{name}_{how}_{goal}" for name in RACED.values() for how in ("default", "best") for goal in GOALS),
)
def lbfgsb_at_several_tolerances(study: Study) -> dict[str, float | str]:
    """Where L-BFGS-B ends at each tolerance, and coordinate descent with two working set iterations.

    ``seconds``: until the last round; ``above``: percent above the lowest objective of any method. Then the
    seconds of L-BFGS-B to so many percent above it, over those of coordinate descent: at the default
    tolerance, and at the one that is fastest.
    """
    evidence, facts = study.evidence("tolerances"), {}
    for label, name in RACED.items():
        ends = {
            method: tuple(
                np.mean(evidence.runs(metric, label, method), axis=0)
                for metric in ("seconds_curve", "late_objective")
            )
            for method in TOLERANCES
        }
        best = min(objective.min() for _, objective in ends.values())
        for method, how in (ROUGH_NAMES | {"FCD 2": "fcd"}).items():
            seconds, objective = ends[method]
            facts |= {
                f"{name}_{how}_seconds": seconds[-1],
                f"{name}_{how}_above": 100 * (objective[-1] / best - 1),
            }
        for what, goal in GOALS.items():
            spent = {method: _seconds_to(*pair, (1 + goal) * best) for method, pair in ends.items()}
            facts[f"{name}_default_{what}"] = spent["L-BFGS-B"] / spent["FCD 2"]
            facts[f"{name}_best_{what}"] = min(spent[method] for method in ROUGH_NAMES) / spent["FCD 2"]
    return facts


def _seconds_to(seconds: np.ndarray, objective: np.ndarray, goal: float) -> float:
    """Return the seconds until an objective is reached; infinity if it never is."""
    reached = np.flatnonzero(objective <= goal)
    return float(seconds[reached[0]]) if len(reached) else np.inf


@reading.facts(
    "trees_selected",
    *(f"{name}_{short}_{what}" for name in ("vowel", "segment") for short in ("cw", "multiboost")
      for what in ("C", "rounds")),
    *("runs", "rounds", "stagewise", "fixed_cw", "fixed_multiboost"),
)  # fmt: skip
def c_over_trees(study: Study) -> dict[str, float | str]:
    """The C that was selected over trees of depth 2, and the rounds run with it.

    On the same runs of VOWEL: ``stagewise``, the error of CW-1; ``fixed``, errors at the C of ``trees``.
    """
    evidence = study.evidence("trees_selected")
    facts = {"rounds": int(study.protocol("trees_selected")["tree_points"][-1])}
    for label, name in COSTED.items():
        for method in ("CW", "MultiBoost"):
            start = f"{name}_{SHORT[method]}"
            facts[f"{start}_C"] = _span(evidence.runs("C", label, method))
            facts[f"{start}_rounds"] = float(np.mean(evidence.runs("rounds", label, method)))
    facts["runs"] = runs = len(evidence.runs("C", "VOWEL", "CW"))
    for name, method in (("stagewise", "CW-1"), ("fixed_cw", "CW"), ("fixed_multiboost", "MultiBoost")):
        facts[name] = study.evidence("trees").array("error", ["VOWEL"], [method], runs).mean()
    return facts
