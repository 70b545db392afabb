"""The numbers that the article of lin2012 says, beside those of its claims: facts, by name.

Sets and methods have short names in the names of facts: ``reach.vowel_cw``, ``clock.signs_solver``.
"""

from __future__ import annotations

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
    time_ratios,
)
from lin2012.theory import COORDINATE_DESCENTS
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
    *("fewer_least", "fewer_most"),
)
def iterations_to_the_common_error(study: Study) -> dict[str, float]:
    """Iterations of each method to the lowest error that all five reach, and that error; CW to MultiBoost."""
    facts, shares, checkpoints = {}, [], checkpoints_of(study)
    for label, name in NAMES.items():
        curves = _runs(study, "curve", label, *FIVE)
        needed = iterations_to_common_level(curves, checkpoints)
        facts |= {f"{name}_{SHORT[method]}": n for method, n in zip(FIVE, needed, strict=True)}
        facts[f"{name}_level"] = common_level(curves.mean(axis=0))
        shares.append(needed[0] / needed[2])
    return facts | {"fewer_least": min(shares), "fewer_most": max(shares)}


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


TIMES = ("finished", "all", "solver", "newton", "search", "cw", "cw1")


@reading.facts(
    "clock",
    *(f"{name}_{what}" for name in NAMES.values() for what in TIMES),
    *("all_least", "all_most", "newton_least", "newton_most"),
)
def seconds_of_methods(study: Study) -> dict[str, float]:
    """Rounds that L-BFGS-B finished; seconds of MultiBoost over CW's; a search of CW; CW and CW-1 in all."""
    facts = {}
    for label, name in NAMES.items():
        sets = _sets(study, label, "CW", "CW-1", "MultiBoost", "MultiBoost, L-BFGS-B")
        in_all, solver = np.exp(np.log(time_ratios(sets, label)).mean(axis=0))
        seconds = _runs(study, "seconds_curve", label, "CW", "CW-1", "MultiBoost")[:, :, -1]
        read = (
            _runs(study, "finished", label, "MultiBoost, L-BFGS-B").mean(),
            *(in_all, solver, np.mean(seconds[:, 2] / seconds[:, 0])),
            *(_runs(study, "oracle_seconds", label, "CW").mean(), *seconds.mean(axis=0)[:2]),
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
    *("coarse", "fine"),
)  # fmt: skip
def seconds_against_accuracy(study: Study) -> dict[str, float]:
    """Seconds of L-BFGS-B and of Newton steps over those of FCD, at the coarsest accuracy and at 1e-5."""
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
    return facts


LEARNED = {"VOWEL": "vowel", "PENDIGITS": "pendigits"}


@reading.facts(
    "learning",
    *(
        f"{name}_{short}_{end}"
        for name in LEARNED.values() for short in ("cw", "cw1", "multiboost") for end in ("first", "last")
    ),
)  # fmt: skip
def errors_with_few_and_all_samples(study: Study) -> dict[str, float]:
    """Mean test errors with the smallest share of the training set and with all of it."""
    evidence, facts = study.evidence("learning"), {}
    for label, name in LEARNED.items():
        for method in ("CW", "CW-1", "MultiBoost"):
            curve, start = np.mean(evidence.runs("error", label, method), axis=0), f"{name}_{SHORT[method]}"
            facts |= {f"{start}_first": curve[0], f"{start}_last": curve[-1]}
    return facts
