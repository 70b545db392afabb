"""The numbers that the article of shen2014 says, beside those of its claims: facts of exhibits, by name.

Flare-solar is left out, as in the claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from kernsemble.report.comparisons import significant
from kernsemble.report.ledger import LedgerRow, judge_cell
from kernsemble.report.published import PrintedCell, read_cells
from kernsemble.report.verdicts import COMPARED, LATE, Verdict
from kernsemble.report.words import in_order, joined
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.study import Study
from shen2014.claims import (
    CLASSES,
    FOURIER,
    PERCEPTRON,
    SHORT,
    TABLE1,
    is_faster,
    mean_ranks,
    oracle_calls,
    reading,
)
from shen2014.classes import READINGS
from shen2014.trials import (
    ENSEMBLES,
    FAMILIES,
    IDA_SETS,
    MACHINES,
    MIXTURES,
    OFFICIAL_SETS,
    TIMED_SETS,
    UCI_SETS,
    VISION_SETS,
    printed_label,
)

LABELS = {row: printed_label(row) for row in IDA_SETS if row != "f-solar"}
MULTICLASS = {row: row for row in (*UCI_SETS, *VISION_SETS)}
PRINTED_VISION = ("MNIST", "USPS", "PASCAL07", "LabelMe", "CIFAR10", "Scene15", "SUN")


@cache
def printed_cells(root: Path) -> dict[tuple[str, str, str], PrintedCell]:
    """Return the paper's printed numbers by exhibit, row and column; they are read once."""
    cells = read_cells(root / "published" / "published.csv", papers=None)
    return {(c.exhibit, c.row, c.column): c for c in cells if c.paper == "shen2014"}


def printed_errors(study: Study, exhibit: str, rows: Iterable[str], columns: Sequence[str]) -> np.ndarray:
    """Return printed means, sets by methods."""
    printed = printed_cells(study.root)
    return np.array([[printed[exhibit, row, column].value for column in columns] for row in rows])


def mean_errors(study: Study, exhibit: str, labels: Iterable[str], methods: Sequence[str]) -> np.ndarray:
    """Return our means, sets by methods; sets may have different numbers of runs."""
    evidence = study.evidence(exhibit)
    return np.array([evidence.array("error", [label], methods).mean(axis=0)[0] for label in labels])


def in_which_order(means: np.ndarray, methods: Sequence[str]) -> str:
    """Say the methods' mean errors, mean ranks, and on how many sets each has the lowest mean."""
    names = [method.rpartition(":")[2] for method in methods]
    lowest = np.isclose(means, means.min(axis=1, keepdims=True)).sum(axis=0)
    counts = ", ".join(f"{name} {count}" for name, count in zip(names, lowest, strict=True))
    errors, ranks = in_order(names, means.mean(axis=0)), in_order(names, mean_ranks(means))
    return f"mean error: {errors}; mean rank: {ranks}; lowest mean, of {len(means)} sets: {counts}"


def judged(study: Study, exhibit: str, rows: Iterable[str], method: str) -> list[LedgerRow]:
    """Return the ledger's rows of a method; raise unless all have a verdict."""
    cells = printed_cells(study.root)
    found = [judge_cell(cells[exhibit, row, method], reading, study) for row in rows]
    if late := [row for row in found if row.verdict in LATE]:
        done = f"{exhibit}: {len(found) - len(late)} of {len(found)} sets of {method}"
        raise IncompleteEvidenceError(done, stale=any(row.verdict == "stale" for row in late))
    return [row for row in found if row.verdict in COMPARED]


def agreement(study: Study, exhibit: str, rows: Iterable[str], method: str) -> str:
    """Say how many cells of a method match the printed values, which do not, and by how much."""
    cells = judged(study, exhibit, rows, method)
    off = np.array([cell.ours - float(cell.printed) for cell in cells])
    parts = [f"{sum(cell.verdict == 'match' for cell in cells)} of {len(cells)} match"]
    for verdict in (Verdict.LOWER, Verdict.HIGHER, Verdict.NOISY):
        which = [f"{c.row} ({d:+.2f})" for c, d in zip(cells, off, strict=True) if c.verdict == verdict]
        parts += [f"{verdict}: {joined(which)}"] if which else []
    return "; ".join([*parts, f"{off.mean():+.2f} points from the printed values on average"])


def to_the_digit(study: Study, exhibit: str, methods: Sequence[str]) -> str:
    """Say which cells have the printed mean and the printed deviation."""
    cells = [cell for method in methods for cell in judged(study, exhibit, LABELS, method)]
    same = [f"{cell.row} {cell.column.rpartition(':')[2]}" for cell in cells if equal_as_printed(cell)]
    which = f": {joined(same)}" if same else ""
    return f"{len(same)} of {len(cells)} cells have the printed mean and the printed deviation{which}"


def equal_as_printed(cell: LedgerRow) -> bool:
    """Say whether mean and deviation are the printed ones to the last digit."""
    pairs = ((cell.ours, cell.printed), (cell.ours_spread, cell.printed_spread))
    return all(ours is not None and f"{ours:.2f}" == f"{float(theirs):.2f}" for ours, theirs in pairs)


@reading.facts("work", "all")
def how_many_hours(study: Study) -> dict[str, float]:
    """Return the hours of one processor that all exhibits took."""
    rows = [row for name in study.exhibits for row in study.evidence(name).require().current.values()]
    return {"all": sum(row.seconds for row in rows) / 3600.0}


@reading.facts("figure1", "CGENS", "AdaBoost")
def where_errors_end(study: Study) -> dict[str, float]:
    """Return the mean test errors after the last round."""
    evidence = study.evidence("figure1")
    return {m: np.mean(evidence.runs("test", "toy", m), axis=0)[-1] for m in ("CGENS", "AdaBoost")}


_GROWN = ("AdaBoost", "LPBoost", "CGENS")


@reading.facts(
    "table1",
    *("order", "digit", *TABLE1, "lower", "upper", "searches", "others"),
    *(f"rounds_{method}" for method in _GROWN),
)
def what_table_1_says(study: Study) -> dict[str, object]:
    """Say how table I agrees; where the search for C ends; what 500 rounds give."""
    evidence, exponents = study.evidence("table1"), study.protocol("table1")["log2_C"]
    facts = {method: agreement(study, "table1", LABELS, method) for method in TABLE1}
    found = np.log2(evidence.array("C", LABELS.values(), ["CGENS"]))
    for method in _GROWN:
        printed = printed_errors(study, "table1", LABELS, [method])[:, 0]
        means = [
            evidence.array(metric, LABELS.values(), [method]).mean(axis=0)[:, 0]
            for metric in ("error", "error_500")
        ]
        selected, whole = (f"{e.mean():.2f} % ({np.abs(e - printed).mean():.2f} points off)" for e in means)
        facts[f"rounds_{method}"] = f"{selected} with the number selected, {whole} with all 500"
    off = [(c.row, m) for m in TABLE1 for c in judged(study, "table1", LABELS, m) if c.verdict != "match"]
    others = [f"{row} ({m})" for row, m in off if (row, m) != ("german", "AdaBoost")]
    return facts | {
        "order": in_which_order(mean_errors(study, "table1", LABELS.values(), TABLE1), TABLE1),
        "digit": to_the_digit(study, "table1", TABLE1),
        "lower": int((found == min(exponents)).sum()),
        "upper": int((found == max(exponents)).sum()),
        "searches": found.size,
        "others": joined(others) or "none",
    }


def _dashed(method: str) -> str:
    return method.replace(":", "-")


@reading.facts(
    "table2",
    *("cosines", "perceptrons", "digit", *(_dashed(m) for m in (*FOURIER, *PERCEPTRON))),
    *("behind_two", "behind_others"),
)
def what_table_2_says(study: Study) -> dict[str, object]:
    """Say how table II agrees, and where perceptron CGENS is behind its kernel machine.

    behind_two: how much of the mean over all sets comes from image and splice.
    """
    methods = (*FOURIER, *PERCEPTRON)
    facts = {_dashed(m): agreement(study, "table2", LABELS, m) for m in methods}
    halves = {"cosines": FOURIER, "perceptrons": PERCEPTRON}
    means = {name: mean_errors(study, "table2", LABELS.values(), half) for name, half in halves.items()}
    facts |= {name: in_which_order(means[name], half) for name, half in halves.items()}
    behind = means["perceptrons"][:, 3] - means["perceptrons"][:, 2]
    two = np.isin(list(LABELS), ("image", "splice"))
    return facts | {
        "digit": to_the_digit(study, "table2", methods),
        "behind_two": behind[two].sum() / len(behind),
        "behind_others": behind[~two].mean(),
    }


DRAWN = {f"stump:{name}": ("table1", name) for name in TABLE1} | {
    method: ("table2", method) for method in (*FOURIER, *PERCEPTRON)
}
_DRAWN_ENSEMBLES = ("perceptron:AdaBoost", "perceptron:LPBoost", "perceptron:CGENS")
_SMOOTH = ("stump:SVM", "stump:CGENS", "fourier:RFF", "fourier:SVM", "fourier:CGENS", "perceptron:SVM")


@reading.facts(
    "draws",
    *("printed", "within", "outside", "official", "official_match", "left", "left_perceptrons"),
    *("splice", "splice_perceptrons", "waveform_least", "waveform_most", "others"),
)
def which_means_lie_outside(study: Study) -> dict[str, object]:
    """Say which printed means lie outside the mean of our twenty splits by more than their deviation.

    official: how many of these belong to sets of which we have the benchmark's splits; official_match: how
    many of them match there.
    """
    outside, less = [], []
    for method, (exhibit, column) in DRAWN.items():
        printed = printed_errors(study, exhibit, LABELS, [column])[:, 0]
        errors = np.array([study.evidence("draws").runs("errors", row, method)[0] for row in LABELS])
        off = printed - errors.mean(axis=1)
        far = np.abs(off) > errors.std(axis=1, ddof=1)
        outside += [(row, method, exhibit, column) for row, is_far in zip(LABELS, far, strict=True) if is_far]
        if method in _SMOOTH:
            less.append(off[list(LABELS).index("waveform")])
    official = [place for place in outside if place[0] in OFFICIAL_SETS]
    left = [p for p in official if judged(study, p[2], [p[0]], p[3])[0].verdict != "match"]
    splice = [place for place in outside if place[0] == "splice"]
    rest = [row for row, *_ in outside if row not in OFFICIAL_SETS and row != "splice"]
    printed = len(DRAWN) * len(LABELS)
    return {
        "printed": printed,
        "within": printed - len(outside),
        "outside": len(outside),
        "official": len(official),
        "official_match": len(official) - len(left),
        "left": len(left),
        "left_perceptrons": sum(place[1] in _DRAWN_ENSEMBLES for place in left),
        "splice": len(splice),
        "splice_perceptrons": sum(place[1] in _DRAWN_ENSEMBLES for place in splice),
        "waveform_least": min(less),
        "waveform_most": max(less),
        "others": joined(list(dict.fromkeys(rest))) or "none",
    }


@reading.facts("calls", "numbers", "ahead", "most", "wins", "losses", "always")
def who_is_ahead_at_equal_calls(study: Study) -> dict[str, object]:
    """Say who has the lower error at equal numbers of oracle calls, on average and set by set."""
    evidence, calls = study.evidence("table1"), [f"{count:,}" for count in oracle_calls(study)]
    boosted, own = (
        np.array([np.mean(evidence.runs("by_calls", d, m), axis=0) for d in LABELS.values()])
        for m in ("AdaBoost", "CGENS")
    )
    less = own - boosted
    ahead = [count for count, d in zip(calls, less.mean(axis=0), strict=True) if d < 0]
    lost = [row for row, d in zip(LABELS, less[:, -1], strict=True) if d > 0]
    return {
        "numbers": joined(calls),
        "ahead": joined(ahead) or "no number of",
        "most": calls[-1],
        "wins": int((less[:, -1] < 0).sum()),
        "losses": f"{len(lost)}{f' ({joined(lost)})' if lost else ''}",
        "always": joined([row for row, d in zip(LABELS, less, strict=True) if (d > 0).all()]) or "none",
    }


_POOL_SETS = ("banana", "heart", "ringnorm", "twonorm", "waveform", "image")
_KINDS = {
    "stumps": ("table1", "", [name for name in FAMILIES if name.startswith("stump")]),
    "perceptrons": ("table2", "perceptron:", [name for name in FAMILIES if name.startswith("perceptrons")]),
}


@reading.facts(
    "pools",
    *(f"{what}_{kind}" for kind in _KINDS for what in ("master", "choice", *_GROWN)),
    *("farthest", "nearer", "fresh_first"),
)
def master_or_choice(study: Study) -> dict[str, object]:
    """Say whether CGENS is ahead by its master or by its pool, and which pool comes nearest to the table.

    farthest, nearer: points that one pool on the ball is off, at least, and that other choices are, at most.
    """
    evidence = study.evidence("pools")
    means = {  # family: sets x methods, after the last round
        family: np.array(
            [[np.array(evidence.runs(m, d, family))[:, -1].mean() for m in _GROWN] for d in _POOL_SETS]
        )
        for family in FAMILIES
    }
    facts: dict[str, object] = {}
    off = {}
    for kind, (exhibit, prefix, families) in _KINDS.items():
        average = np.array([means[family].mean(axis=0) for family in families])
        less, moved = (average[:, :2] - average[:, 2:]).mean(axis=0), np.ptp(average, axis=0)
        facts[f"master_{kind}"] = f"{less[0]:+.2f} for AdaBoost and {less[1]:+.2f} for LPBoost"
        facts[f"choice_{kind}"] = joined([f"{m} {d:.2f}" for m, d in zip(_GROWN, moved, strict=True)])
        for k, method in enumerate(_GROWN):
            printed = printed_errors(study, exhibit, _POOL_SETS, [f"{prefix}{method}"])[:, 0]
            found = {f: float(np.abs(means[f][:, k] - printed).mean()) for f in families}
            facts[f"{method}_{kind}"] = in_order(list(found), list(found.values()))
            off |= {(method, f): distance for f, distance in found.items()}
    once = "perceptrons ball once"
    others = [d for (_, f), d in off.items() if f.startswith("perceptrons") and f != once]
    first = [m for m in _GROWN if str(facts[f"{m}_perceptrons"]).startswith("perceptrons ball fresh")]
    return facts | {
        "farthest": min(off[method, once] for method in _GROWN),
        "nearer": max(others),
        "fresh_first": joined(first) or "no method",
    }


@reading.facts(
    "table3",
    *("uci", "vision", "all", *SHORT, "over_multiboost", "over_mh"),
    *("scenes_least", "scenes_most", "cifar_least", "cifar_most", "C_always", "uci_wins"),
)
def what_table_3_says(study: Study) -> dict[str, object]:
    """Say in what order the methods come, and how far they agree with the printed values.

    over_mh: on which vision sets CGENS-SLS is faster; C_always: on which sets all C of MultiBoost are the
    largest.
    """
    evidence = study.evidence("table3")
    groups = {"uci": UCI_SETS, "vision": VISION_SETS, "all": tuple(MULTICLASS)}
    means = {name: mean_errors(study, "table3", labels, CLASSES) for name, labels in groups.items()}
    facts = {name: in_which_order(means[name], CLASSES) for name in groups}
    for name, method in zip(SHORT, CLASSES, strict=True):
        facts[name] = agreement(study, "table3", MULTICLASS, method)
    for name, rival in (("multiboost", "MultiBoost"), ("mh", "AdaBoost.MH")):
        faster = [label for label in VISION_SETS if is_faster(evidence, label, rival)]
        facts[f"over_{name}"] = joined(faster) or "no set"
    worse = means["vision"] - printed_errors(study, "table3", VISION_SETS, CLASSES)
    for name, row in (
        ("cifar", -worse[VISION_SETS.index("CIFAR10")]),
        ("scenes", worse[VISION_SETS.index("Scene15")]),
    ):
        facts |= {f"{name}_least": row.min(), f"{name}_most": row.max()}
    largest, uci = 2.0 ** max(study.protocol("table3")["log2_C_exponential"]), means["uci"]
    always = [d for d in MULTICLASS if (evidence.array("C", [d], ["MultiBoost"]) == largest).all()]
    return facts | {
        "C_always": joined(always) or "no set",
        "uci_wins": int(np.isclose(uci[:, 3], uci.min(axis=1)).sum()),
    }


@reading.facts("vowel", "nearest", "nearest_spread")
def which_reading_is_nearest(study: Study) -> dict[str, object]:
    """Say which reading of vowel's row is nearest to the printed value of CGENS-SLS."""
    printed = printed_cells(study.root)["table3", "vowel", "CGENS-SLS"]
    found = {full: study.evidence("vowel").array("error", ["vowel"], [full]) for full in READINGS}
    distances = {full: abs(errors.mean() - printed.value) for full, errors in found.items()}
    best, spread = min(distances, key=distances.get), float(printed.spread)
    near = "within" if distances[best] <= spread else "beyond"
    count = f"{sum(d <= spread for d in distances.values())} of {len(distances)} readings are within it"
    nearest = f"{best}, {distances[best]:.1f} points away, {near} the printed {spread} ({count})"
    return {"nearest": nearest, "nearest_spread": found[best].std(ddof=1)}


@reading.facts("figure4", "error", "wrong", "kinds", "right")
def how_scenes_are_taken(study: Study) -> dict[str, float]:
    """Count the images that are shown, and as how many kinds the wrong ones are taken."""
    evidence = study.evidence("figure4")
    right, wrong, taken = (
        evidence.runs(name, "Scene15", "CGENS-SLS")[0] for name in ("right", "wrong", "taken_for")
    )
    (error,) = evidence.array("error", ["Scene15"], ["CGENS-SLS"]).ravel()
    return {"error": error, "wrong": len(wrong), "kinds": len(np.unique(taken)), "right": len(right)}


@reading.facts("theorems", "lower")
def how_far_the_greedy_rule_falls_behind(study: Study) -> dict[str, float]:
    """Return by how many percent rule (8) comes lower than the greedy one, at most over sets and rounds."""
    evidence = study.evidence("theorems")
    ratios = []
    for label in ("heart", "titanic", "twonorm"):
        rule, greedy = (
            np.mean(evidence.runs("objective", label, m), axis=0) for m in ("claim 4.1", "largest decrease")
        )
        ratios.append((rule / greedy).min())
    return {"lower": 100.0 * (1.0 - min(ratios))}


@reading.facts("dual", "early", "late")
def how_errors_of_two_rules_differ(study: Study) -> dict[str, float]:
    """Return the largest difference of mean errors up to 50 rounds, and from 100 rounds on."""
    evidence, rounds = study.evidence("dual"), np.array(study.protocol("dual")["rounds"])
    labels, rules = ("heart", "titanic", "thyroid", "twonorm"), ("any solution", "least norm")
    means = np.array([[np.mean(evidence.runs("curve", d, m), axis=0) for m in rules] for d in labels])
    apart = np.abs(means[:, 0] - means[:, 1]).max(axis=0)
    return {"early": apart[rounds <= 50].max(), "late": apart[rounds >= 100].max()}


@reading.facts("path", "heart_reached", "german_reached", "objective", "disagreement", "error")
def how_near_the_limit_is(study: Study) -> dict[str, float | str]:
    """Return within how many stumps heart and german reach the limit, and where ringnorm ends."""
    evidence, counts = study.evidence("path"), study.protocol("path")["counts"]

    def mean(metric: str, label: str) -> np.ndarray:
        return np.mean(evidence.runs(metric, label, "CGENS"), axis=0)

    reached = {}
    for label in ("heart", "german"):
        near = np.flatnonzero(mean("objective", label) < 1e-2)
        reached[f"{label}_reached"] = f"within {counts[near[0]]}" if len(near) else f"not within {counts[-1]}"
    errors = mean("error", "ringnorm")
    return reached | {
        "objective": 1.0 + mean("objective", "ringnorm")[-1],
        "disagreement": mean("disagreement", "ringnorm")[-1],
        "error": abs(errors[-2] - errors[-1]),
    }


MIXED_SETS = ("banana", "heart", "ringnorm", "thyroid", "titanic", "twonorm", "waveform")


@reading.facts("multiple_kernels", "widths", "features")
def what_mixtures_cost(study: Study) -> dict[str, str]:
    """Say what both mixtures of kernels cost beside the search for a width."""
    evidence, facts = study.evidence("multiple_kernels"), {}
    errors, seconds, problems = (
        evidence.array(metric, MIXED_SETS, MIXTURES).mean(axis=0)
        for metric in ("error", "search_seconds", "problems")
    )
    for k, name in enumerate(("widths", "features"), start=1):
        times = np.exp(np.log(seconds[:, k] / seconds[:, 0]).mean())  # geometric: sets differ in size
        facts[name] = (
            f"{(errors[:, k] - errors[:, 0]).mean():+.2f} points, {times:.2f} times the seconds, "
            f"{problems[:, k].mean() / problems[:, 0].mean():.2f} times the optimization problems"
        )
    return facts


@reading.facts("prediction", *TIMED_SETS, "least_support", "most_support")
def from_which_size_on(study: Study) -> dict[str, object]:
    """Say from which size on an ensemble's error is as low as the machine's, and how much faster it is."""
    evidence, facts = study.evidence("prediction"), {}
    for label in TIMED_SETS:
        pairs = zip(MACHINES, ENSEMBLES, strict=True)
        facts[label] = "; ".join(_compared(study, label, *pair) for pair in pairs)
    support = evidence.array("size", TIMED_SETS, MACHINES[1:])
    return {**facts, "least_support": support.min(), "most_support": support.max()}


def _compared(study: Study, label: str, machine: str, ensemble: str) -> str:
    evidence, sizes = study.evidence("prediction"), study.protocol("prediction")["sizes"]
    error = float(evidence.array("error", [label], [machine]).mean())
    seconds = float(np.median(evidence.array("eval_seconds", [label], [machine])))
    errors = np.mean(evidence.runs("curve", label, ensemble), axis=0)
    times = seconds / np.median(evidence.runs("seconds_curve", label, ensemble), axis=0)
    reached, noun = np.flatnonzero(errors <= error), ensemble.split()[-1]
    equal = f"its error is not reached, {errors.min() - error:.2f} points are missing"
    if len(reached):
        fast = significant(times[reached[0]], 2)
        equal = f"at most its error from {sizes[reached[0]]} {noun} on, {fast} times as fast"
    last = f"{sizes[-1]} {noun} {significant(times[-1], 2)} times as fast at {errors[-1]:.2f} %"
    return f"{machine}, {error:.2f} %: {equal}; {last}"


@reading.facts("print", "S2", "S5_vision", "S5_had", "S5_had_vision")
def what_checks_say_of_the_printed_numbers(study: Study) -> dict[str, object]:
    """Say the printed means and mean ranks of tables I and III, in order."""
    groups = {
        "vision": PRINTED_VISION,
        "had": (*UCI_SETS, *VISION_SETS),
        "had_vision": VISION_SETS,
    }
    return {"S2": _with_ranks(TABLE1, printed_errors(study, "table1", LABELS, TABLE1))} | {
        f"S5_{name}": _with_ranks(CLASSES, printed_errors(study, "table3", rows, CLASSES))
        for name, rows in groups.items()
    }


def _with_ranks(methods: Sequence[str], errors: np.ndarray) -> str:
    found = zip(methods, errors.mean(axis=0), mean_ranks(errors), strict=True)
    return ", ".join(f"{name} {mean:.2f} ({rank:.2f})" for name, mean, rank in found)
