"""The numbers that the article of bi2004 says, beside those of its claims: facts, by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.stats import rankdata

from kernsemble.report.comparisons import z_score
from kernsemble.report.published import read_cells
from kernsemble.report.words import best_and_rest, in_order, joined, span
from kernsemble.trials.evidence import Evidence, Sample
from kernsemble.trials.study import Study
from bi2004.claims import (
    BLOCK_NAMES,
    LABELS,
    MIXTURE,
    _half_way,
    blocks,
    both_searches,
    columns_needed,
    iterations,
    last_objectives,
    printed_blocks,
    reading,
)
from bi2004.small_sets import UNDERSAMPLED
from bi2004.trials import (
    ALL_FOREST,
    CHOICES,
    COARSE_TAUS,
    DIGIT_TASKS,
    FIGURE4_CS,
    KERNELS,
    NORMS,
    READINGS,
    SCALINGS_OF_C,
    SIZE_SETS,
    SMALL_CHOICES,
    SMALL_SETS,
    TARGET,
    TOLERANCES,
)

CASES = {"Breast": (357, 212), "Ionosphere": (126, 225), "Pima": (500, 268)}  # negatives, positives
RATES = ("FP", "FN")
LARGE = {label: exhibit for exhibit, label in LABELS.items()}
N_TRAINING = 1000  # examples of tables 3 and 4


def printed_numbers(study: Study, *exhibits: str) -> dict[tuple[str, str, str], float]:
    """Return the printed numbers of some exhibits by exhibit, row and column."""
    return {
        (cell.exhibit, cell.row, cell.column): cell.value
        for cell in read_cells(study.root / "published" / "published.csv")
        if cell.paper == study.key and cell.exhibit in exhibits
    }


def _mean(evidence: Evidence, metric: str, label: str, method: str) -> float:
    return float(evidence.array(metric, (label,), (method,)).mean())


def _listed(values: object, form: str = ".0f") -> str:
    return joined([format(float(value), form) for value in values])


@reading.facts("figure1", "one_order", "two_order")
def errors_on_the_target(study: Study) -> dict[str, str]:
    """The four models by their mean error under each norm, the best first."""
    evidence, facts = study.evidence("figure1"), {}
    for name, norm in (("one", "1-norm"), ("two", "2-norm")):
        means = [_mean(evidence, "rmse", TARGET, f"{norm}/{model}") for model in SMALL_CHOICES]
        facts[f"{name}_order"] = in_order(list(SMALL_CHOICES), means)
    return facts


@reading.facts("cases", "apart")
def rates_that_differ(study: Study) -> dict[str, str]:
    """The printed rates of Breast and Ionosphere that differ from ours by the ledger's rule, in cases."""
    evidence, printed, apart = study.evidence("table2"), printed_numbers(study, "table2"), []
    names = dict(zip(RATES, ("false positives", "false negatives"), strict=True))
    for label in ("Breast", "Ionosphere"):
        for model, (rate, size) in product(SMALL_CHOICES, zip(RATES, CASES[label], strict=True)):
            ours = evidence.array(f"{rate}_tst", (label,), (model,)).ravel()
            theirs = printed["table2", f"{label}/{model}", f"{rate}_tst"]
            if len(ours) < 2:
                return {"apart": "a single run does not tell"}
            if abs(miss(ours, theirs)) > LIMIT:
                cases = f"{size * ours.mean() / 100:.1f} {names[rate]} of {size}"
                apart.append(f"{label}, {model}: {cases} ({size * theirs / 100:.0f} printed)")
    return {"apart": "; ".join(apart) or "none"}


@reading.facts(
    "pima", "FP", "FN", "errors", "called", *(f"printed_{name}" for name in ("FP", "FN", "errors"))
)
def trade_on_pima(study: Study) -> dict[str, str]:
    """Rates and total errors of the four models, ours and printed, and how many cases ours call positive."""
    evidence, printed = study.evidence("table2"), printed_numbers(study, "table2")
    ours, theirs = (
        {rate: np.array([read(rate, model) for model in SMALL_CHOICES]) for rate in RATES}
        for read in (
            lambda rate, model: _mean(evidence, f"{rate}_tst", "Pima", model),
            lambda rate, model: printed["table2", f"Pima/{model}", f"{rate}_tst"],
        )
    )
    negatives, positives = CASES["Pima"]
    totals = [
        (some["FP"] * negatives + some["FN"] * positives) / (negatives + positives) for some in (ours, theirs)
    ]
    called = (ours["FP"] * negatives + (100 - ours["FN"]) * positives) / 100
    return {
        "FP": span(ours["FP"]),
        "FN": span(ours["FN"]),
        "errors": _listed(totals[0], ".1f"),
        "called": f"{called.mean():.0f}",
        "printed_FP": span(theirs["FP"]),
        "printed_FN": span(theirs["FN"]),
        "printed_errors": _listed(totals[1], ".1f"),
    }


@reading.facts("losses", *(f"{kind}_{rate}" for kind in ("plain", "balanced") for rate in RATES))
def losses_on_pima(study: Study) -> dict[str, str]:
    """Rates on Pima over the four models: with an offset, penalized or not, sum or mean; classes alike."""
    plain = ("free", "penalized", "free, C / n", "penalized, C / n")
    kinds = {"plain": plain, "balanced": ("free, balanced",)}
    return {
        f"{kind}_{rate}": _rates_on_pima(study, keys, rate)
        for (kind, keys), rate in product(kinds.items(), RATES)
    }


@reading.facts("undersampled", *RATES)
def parts_of_equal_classes_on_pima(study: Study) -> dict[str, str]:
    """Likewise, trained on as many examples of either class."""
    return {rate: _rates_on_pima(study, (UNDERSAMPLED,), rate) for rate in RATES}


def _rates_on_pima(study: Study, keys: Sequence[str], rate: str) -> str:
    """Range of a rate over readings and models."""
    places = [place_of(key, model, rate) for key, model in product(keys, SMALL_CHOICES)]
    return span([_mean(study.evidence(e), metric, "Pima", method) for e, metric, method in places])


# How table 2's machines would read at other offsets, losses and thresholds

LOSS_NAMES = {
    "free": "offset free, sum of the losses (declared)",
    "penalized": "offset penalized",
    "none": "no offset",
    "free, C / n": "offset free, mean of the losses",
    "penalized, C / n": "offset penalized, mean of the losses",
    "free, balanced": "offset free, classes weigh alike",
    UNDERSAMPLED: "offset free, trained on as many examples of either class",
}
RULE_NAMES = {
    "share": "as many training points called positive as are",
    "mean": "mean score = mean label",
    "support": "offset averaged over all support vectors",
    "classes": "half way between the classes' mean scores",
    "extremes": "half way between the classes' extreme scores",
    "dropped": "offset left out of the prediction",
    "labels": "labels standardized like the features",
}
LIMIT = 2.0  # of |z|, as in the ledger


def place_of(key: str, model: str, rate: str) -> tuple[str, str, str]:
    """Return exhibit, metric and method of a machine's rate under a reading."""
    if key in RULE_NAMES:
        return "thresholds", f"{rate}_{key}", model
    return "undersampled" if key == UNDERSAMPLED else "offset", f"{rate}_{model}", key


def rate_of(study: Study, key: str, label: str, model: str, rate: str) -> Sample | None:
    """Return a machine's rate; None where the scale leaves the set out."""
    exhibit, metric, method = place_of(key, model, rate)
    evidence = study.evidence(exhibit)
    return evidence.sample(metric, dataset=label, method=method) if label in evidence.datasets else None


def distances(study: Study, key: str, label: str) -> np.ndarray:
    """Return z and ours minus printed for the rates of a set under a reading, as far as there is evidence.

    Our deviation over repetitions stands for that of the single printed cross-validation.
    """
    printed, found = printed_numbers(study, "table2"), []
    for model in SMALL_CHOICES:
        for rate in RATES:
            sample = rate_of(study, key, label, model, rate)
            value = printed["table2", f"{label}/{model}", f"{rate}_tst"]
            if sample is not None and len(sample.values) > 1:
                found.append((z_score(sample.mean, value, sample.se, sample.std), sample.mean - value))
    return np.array(found).reshape(-1, 2)


def missed_at_printed(study: Study, label: str, model: str) -> np.ndarray:
    """False negatives of our machine, by run, where its false positives are the printed ones."""
    levels = study.protocol("thresholds")["roc_levels"]
    curves = study.evidence("thresholds").curves("missed", dataset=label, method=model)
    at = printed_numbers(study, "table2")["table2", f"{label}/{model}", "FP_tst"]
    return np.array([np.interp(at, levels, curve) for curve in curves])


def miss(ours: np.ndarray, printed: float) -> float:
    """Return z of a printed rate: a single run among ours, whose deviation stands for its own."""
    deviation = float(ours.std(ddof=1))
    return z_score(float(ours.mean()), printed, deviation / len(ours) ** 0.5, deviation)


@reading.facts(
    "thresholds",
    "pima_on",
    "mixture_off",
    "others_on",
    "others_off",
    *("share_pima", "share_all", "next", "share_ionosphere", "share_rbf"),
)
def printed_points_on_our_curves(study: Study) -> dict[str, float | str]:
    """Which printed points lie on our curves, how many cases others miss, what the rule "share" matches."""
    for key, label, model in product((*LOSS_NAMES, "share"), SMALL_SETS, SMALL_CHOICES):
        exhibit, _, method = place_of(key, model, "FP")
        study.evidence(exhibit).require(label, method)
    printed, on, off = printed_numbers(study, "table2"), [], {}
    for label, (_, positives) in CASES.items():
        for model in SMALL_CHOICES:
            ours, value = (
                missed_at_printed(study, label, model),
                printed["table2", f"{label}/{model}", "FN_tst"],
            )
            if abs(miss(ours, value)) <= LIMIT:
                on.append((label, model))
            off[label, model] = (value - ours.mean()) * positives / 100
    counts = {
        key: [int((np.abs(distances(study, key, label)[:, 0]) <= LIMIT).sum()) for label in SMALL_SETS]
        for key in (*LOSS_NAMES, *RULE_NAMES)
    }
    share = dict(zip(SMALL_SETS, counts["share"], strict=True))
    rbf = [rate_of(study, "share", "Ionosphere", model, "FP").mean for model in tuple(SMALL_CHOICES)[1:]]
    return {
        "pima_on": joined([model for label, model in on if label == "Pima"]) or "none",
        "mixture_off": abs(off["Pima", "mixture"]),
        "others_on": sum(label != "Pima" for label, _ in on),
        "others_off": span([abs(v) for k, v in off.items() if k[0] != "Pima" and k not in on] or [0]),
        "share_pima": share["Pima"],
        "share_all": sum(counts["share"]),
        "next": max(sum(matched) for key, matched in counts.items() if key != "share"),
        "share_ionosphere": share["Ionosphere"],
        "share_rbf": span(rbf),
    }


# The tables on the large sets


@reading.facts("blocks", *BLOCK_NAMES)
def least_errors(study: Study) -> dict[str, str]:
    """Which kernels err least in each block of tables 3 and 4, and how far the order is the printed one."""
    errors, printed, facts = blocks(study, "error_end"), printed_blocks(study, "R_tst")[0], {}
    for name, ours, theirs in zip(BLOCK_NAMES, np.moveaxis(errors, 1, 0), printed, strict=True):
        means = ours.mean(axis=0)
        facts[name] = (
            f"{best_and_rest(list(CHOICES), ours, '%')}; L,Q,R has rank {rankdata(means)[-1]:g} of 7 "
            f"({means[-1]:.2f} %); rank correlation with the printed errors "
            f"{_rank_correlation(means, theirs):+.2f}"
        )
    return facts


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])


@reading.facts("costs", *BLOCK_NAMES, *(f"{label}_rbf{kind}" for label in LARGE for kind in ("", "_printed")))
def prices(study: Study) -> dict[str, float]:
    """How much faster the printed mixture tests than the composite; an RBF column's price."""
    slow, fast = printed_blocks(study, "T_tst", ("L+Q+R", "L,Q,R"))[0].T
    facts, printed = dict(zip(BLOCK_NAMES, slow / fast, strict=True)), printed_numbers(study, *LARGE.values())
    columns = {"R": ("C_r", "rbf_end"), "Q": ("C_q", "quadratic_end")}
    for label, exhibit in LARGE.items():
        ours, theirs = {}, {}
        for choice, (count, metric) in columns.items():
            method = f"2-norm/{choice}"
            theirs[choice] = printed[exhibit, method, "T_tst"] / printed[exhibit, method, count]
            seconds, kept = (
                _mean(study.evidence(exhibit), name, label, method) for name in ("test_seconds_end", metric)
            )
            ours[choice] = seconds / kept
        facts[f"{label}_rbf"] = ours["R"] / ours["Q"]
        facts[f"{label}_rbf_printed"] = theirs["R"] / theirs["Q"]
    return facts


@reading.facts("complete", *(f"{label}_{what}" for label in LARGE for what in ("end", "rank", "first")))
def blocks_of_complete_solutions(study: Study) -> dict[str, float | str]:
    """The 2-norm blocks by complete solutions.

    end, rank: the mixture's rank at the end of runs, and among complete solutions. first: the choice of least
    mean error among these.
    """
    facts, names = {}, list(CHOICES)
    for label, exhibit in LARGE.items():
        errors = {
            metric: study.evidence(exhibit).array(metric, (label,), [f"2-norm/{name}" for name in names])
            for metric in ("error_end", "optimum_error")
        }
        means = {metric: values.mean(axis=(0, 1)) for metric, values in errors.items()}
        solved = means["optimum_error"]
        facts |= {
            f"{label}_end": rankdata(means["error_end"])[-1],
            f"{label}_rank": rankdata(solved)[-1],
            f"{label}_first": f"{names[int(solved.argmin())]} ({solved.min():.2f} %)",
        }
    return facts


@reading.facts("seconds", "cells", "within", "test_cells", "test_within", "correlation", *BLOCK_NAMES)
def seconds_over_the_composite(study: Study) -> dict[str, float | str]:
    """Seconds of tables 3 and 4 over those of their block's composite: how many are within a factor of 2.

    correlation: the range over blocks of the rank correlation of test seconds. Blocks: the mixture's training
    seconds over the composite's, printed and ours.
    """
    unit, near = list(CHOICES).index("L+Q+R"), {}
    for column, metric in (("T_trn", "fit_seconds_end"), ("T_tst", "test_seconds_end")):
        both = blocks(study, metric).mean(axis=0), printed_blocks(study, column)[0]
        ours, theirs = (some / some[:, unit : unit + 1] for some in both)
        near[column] = np.delete(np.abs(np.log2(ours / theirs)) <= 1.0, unit, axis=1)
        if column == "T_trn":
            pairs = zip(BLOCK_NAMES, ours[:, -1], theirs[:, -1], strict=True)
            facts = {name: f"{paper:.2f} printed, {own:.2f} ours" for name, own, paper in pairs}
    return facts | {
        "cells": near["T_trn"].size,
        "within": int(near["T_trn"].sum()),
        "test_cells": near["T_tst"].size,
        "test_within": int(near["T_tst"].sum()),
        "correlation": span([_rank_correlation(*pair) for pair in zip(ours, theirs, strict=True)], ".2f"),
    }


DROPPED = 1e-2  # a coefficient at or below this counts as none


@reading.facts("theory", *LARGE, "tolerance", "cells", "apart", "Q", "LQ", "Q_printed", "LQ_printed")
def counts_of_complete_solutions(study: Study) -> dict[str, float | str]:
    """Columns of complete 2-norm solutions on Forest, and how far the printed counts are from them.

    apart: the largest relative difference in percent over single and composite kernels. Q, LQ: the digits.
    By set: the columns of the complete mixture.
    """
    printed, place = printed_numbers(study, *LARGE.values()), TOLERANCES.index(DROPPED)

    def counts(exhibit: str, choice: str) -> list[float]:
        rows = study.evidence(exhibit).runs("counts", LABELS[exhibit], f"2-norm/{choice}")
        return np.mean(rows, axis=0).reshape(-1, len(TOLERANCES))[:, place]

    def count(exhibit: str, choice: str) -> float:
        return float(counts(exhibit, choice)[0])

    def theirs(exhibit: str, choice: str) -> float:
        return max(printed.get((exhibit, f"2-norm/{choice}", name), 0.0) for name in ("C_l", "C_q", "C_r"))

    choices = [choice for choice in CHOICES if "," not in choice]
    apart = [count("table3", c) / theirs("table3", c) - 1.0 for c in choices]
    mixtures = {label: _columns(counts(exhibit, MIXTURE.split("/")[1])) for label, exhibit in LARGE.items()}
    return mixtures | {
        "tolerance": f"{DROPPED:g}",
        "cells": len(choices),
        "apart": 100.0 * np.abs(apart).max(),
        "Q": count("table4", "Q"),
        "LQ": count("table4", "L+Q"),
        "Q_printed": theirs("table4", "Q"),
        "LQ_printed": theirs("table4", "L+Q"),
    }


@reading.facts("stratified", *(f"{label}_columns" for label in LARGE))
def columns_to_a_level(study: Study) -> dict[str, str]:
    """Columns until the validation error is within 5 % of the lowest; a bound where runs never are."""
    facts = {}
    for label in LARGE:
        needed, never = columns_needed(study, label)
        shown = [
            f"{mean:.0f}" + (f" (at least: {late} of {len(needed)} runs end before)" if late else "")
            for mean, late in zip(needed.mean(axis=0), never, strict=True)
        ]
        facts[f"{label}_columns"] = f"{shown[0]} columns stratified and {shown[1]} regular"
    return facts


STOPS = ("TR1", "TR3", "end")


@reading.facts("stops", *(f"{label}_{stop}" for label in LARGE for stop in STOPS))
def where_rules_stop(study: Study) -> dict[str, str]:
    """Columns by kernel, error and seconds of the 2-norm mixture where each rule stops it."""
    facts = {}
    for label, exhibit in LARGE.items():
        for stop in STOPS:
            names = (*KERNELS, "error", "fit_seconds")
            *counts, error, seconds = (
                _mean(study.evidence(exhibit), f"{name}_{stop}", label, MIXTURE) for name in names
            )
            facts[f"{label}_{stop}"] = f"{_columns(counts)}, {error:.2f} %, {seconds:.1f} s"
    return facts


_ONE_NORM = MIXTURE.replace("2-norm", "1-norm")


@reading.facts(
    "gaps",
    *(*LARGE, *(f"{label}_regular" for label in LARGE)),
    *("others", "one_norm", "capped", "one_norm_capped", "runs"),
)
def how_far_runs_are_from_the_optimum(study: Study) -> dict[str, float | int | str]:
    """Relative gaps at the end of runs: both mixtures, the regular search, all other rows; and the caps.

    capped: how many of the mixture's runs end with as many columns as training examples.
    """
    facts, others, capped, one_norm = {}, [], {MIXTURE: [], _ONE_NORM: []}, []
    for label, exhibit in LARGE.items():
        evidence = study.evidence(exhibit)
        gaps = {
            method: evidence.array("gap", (label,), (method,)).ravel()
            for method in (f"{norm}/{choice}" for norm in NORMS for choice in CHOICES)
        }
        facts[label] = span(gaps.pop(MIXTURE), ".1f")
        one_norm.append(gaps.pop(_ONE_NORM).max())
        others += [gap.max() for gap in gaps.values()]
        for mixture, ends in capped.items():
            ends += [*(evidence.array("rounds_end", (label,), (mixture,)).ravel() >= N_TRAINING)]
        regular = study.evidence("figure3").array("gap", (label,), ("regular",))
        facts[f"{label}_regular"] = span(regular, ".2f")
    return facts | {
        "others": float(max(others)),
        "one_norm": float(max(one_norm)),
        "capped": int(sum(capped[MIXTURE])),
        "one_norm_capped": int(sum(capped[_ONE_NORM])),
        "runs": len(capped[MIXTURE]),
    }


@reading.facts("turning", *(f"{label}_{what}" for label in LARGE for what in ("error", "rounds")))
def at_the_least_validation_error(study: Study) -> dict[str, float]:
    """The 2-norm mixture's mean test error where its validation error is lowest, and that round."""
    facts = {}
    for label, exhibit in LARGE.items():
        evidence, found = study.evidence(exhibit), []
        names = ("rounds", "validation", "test")
        curves = [evidence.runs(f"curve_{name}", label, MIXTURE) for name in names]
        for rounds, validation, test in zip(*curves, strict=True):
            best = np.argmin(validation)
            found.append((test[best], rounds[best]))
        facts[f"{label}_error"], facts[f"{label}_rounds"] = np.mean(found, axis=0)
    return facts


def _columns(counts: list[float]) -> str:
    return "{:.0f} linear, {:.0f} quadratic and {:.0f} RBF columns".format(*counts)


def _mean_curve(rounds: list[np.ndarray], losses: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounds of the longest run, and the mean of all runs there."""
    grid = max(rounds, key=lambda some: some[-1])
    return grid, np.mean([np.interp(grid, t, loss) for t, loss in zip(rounds, losses, strict=True)], axis=0)


@reading.facts(
    "figure3",
    "stratified",
    "columns",
    "regular",
    *(f"{label}_{w}" for label in LARGE for w in ("leads", "above")),
)
def regular_against_stratified(study: Study) -> dict[str, float]:
    """Least mean validation error on the digits, stratified (and where) and regular.

    leads: the columns up to which the regular search has the lower mean validation error. above: the
    stratified run's last objective above the regular one's, mean over draws, in percent.
    """
    facts = {}
    for label in LARGE:
        curves = (both_searches(study, label, f"curve_{name}") for name in ("rounds", "validation"))
        grids, means = zip(*map(_mean_curve, *curves), strict=True)
        behind = np.interp(grids[1], grids[0], means[0]) > means[1]
        facts[f"{label}_leads"] = grids[1][behind].max(initial=0.0)
        ours, regular = last_objectives(study, label).T
        facts[f"{label}_above"] = 100.0 * (float(np.mean(ours / regular)) - 1.0)
        least = {
            "stratified": means[0].min(),
            "columns": grids[0][means[0].argmin()],
            "regular": means[1].min(),
        }
        facts |= least if label == "Digits" else {}
    return facts


@reading.facts(
    "figure4",
    *("turns", "least", "last", "train"),
    *(f"{label}_{what}" for label in LARGE for what in ("half_large", "half_one")),
)
def what_an_improper_cost_does(study: Study) -> dict[str, float]:
    """The digits at the largest C; validation errors half way at this C and at 1."""
    evidence, facts = study.evidence("figure4"), {}
    costs = {"large": f"C = {FIGURE4_CS[-1]:g}", "one": "C = 1"}
    for name, method in costs.items():
        facts |= {f"{label}_half_{name}": float(_half_way(evidence, label, method).mean()) for label in LARGE}
    rounds, losses, train = (
        np.mean(evidence.runs(f"curve_{name}", "Digits", costs["large"]), axis=0)
        for name in ("rounds", "validation", "train")
    )
    turn = losses.argmin()
    return facts | {
        "turns": rounds[turn],
        "least": losses[turn],
        "last": losses[-1],
        "train": train[-1],
    }


PATIENCES = (20, 50, 100, 200)


@reading.facts(
    "table5",
    "printed",
    *(f"patience_{p}" for p in PATIENCES),
    "falling",
    "scaled",
    "linear",
    "quadratic",
    "rbf",
)
def how_iterations_grow(study: Study) -> dict[str, float | str]:
    """Iterations of table 5 by size, for every patience and scaling, beside the printed; columns at TR3."""
    evidence, printed = study.evidence("table5"), printed_numbers(study, "table5")

    def grown(method: str, patience: int | None = None) -> str:
        for label in SIZE_SETS:
            evidence.require(label, method)
        return _growth([iterations(study, label, method, patience).mean() for label in SIZE_SETS])

    facts = {f"patience_{p}": grown(SCALINGS_OF_C[0], p) for p in PATIENCES}
    facts |= dict(zip(("falling", "scaled"), map(grown, SCALINGS_OF_C[1:]), strict=True))
    facts["printed"] = _growth([printed["table5", "Iter", label.removeprefix("n=")] for label in SIZE_SETS])
    columns = {name: float(evidence.array(name, SIZE_SETS, SCALINGS_OF_C[:1]).mean()) for name in KERNELS}
    return facts | columns


def _growth(counts: list[float]) -> str:
    return f"{_listed(counts)} iterations, {counts[-1] / counts[0]:.2f} times as many for ten times the data"


COARSE = {f"tau_{tau:g}": f"tau = {tau:g}" for tau in COARSE_TAUS}


@reading.facts("coarse", *(f"{name}_{what}" for name in COARSE for what in ("grows", "values")), "columns")
def when_coarse_runs_end(study: Study) -> dict[str, str]:
    """How many times as many rounds to TR2 ten times the data take.

    values: kernel values of a prediction at the end, with 1000 and with 10,000 examples. columns: at tau = 3,
    with 1000 examples.
    """
    evidence, facts = study.evidence("coarse"), {}
    for name, method in COARSE.items():
        first, *_, last = evidence.array("rounds", SIZE_SETS, (method,))[:, :, 0].mean(axis=0)
        facts[f"{name}_grows"] = f"{last / first:.2f}"
        few, *_, many = evidence.array("evaluations", SIZE_SETS, (method,))[:, :, 0].mean(axis=0)
        facts[f"{name}_values"] = f"{few:.0f} to {many:.0f}"
    counts = [_mean(evidence, kernel, SIZE_SETS[0], COARSE["tau_3"]) for kernel in KERNELS]
    return facts | {"columns": _columns(counts)}


# What other readings change, and what the paper did not try


@reading.facts("readings", *LARGE)
def where_the_mixture_is_first(study: Study) -> dict[str, str]:
    """In which readings the mixture errs least of the seven, and how far its error moves."""
    evidence, facts = study.evidence("readings"), {}
    for label, names in (("Forest", READINGS), ("Digits", READINGS | DIGIT_TASKS)):
        first, errors = [], {}
        for method in names:
            *others, errors[method] = (_mean(evidence, f"error_{c}", label, method) for c in CHOICES)
            first += [method] if errors[method] < min(others) else []
        low, high = min(errors, key=errors.get), max(errors, key=errors.get)
        facts[label] = (
            f"L,Q,R has the least mean of the seven in {len(first)} of {len(names)} readings"
            f"{f' ({joined(first)})' if first else ''}; its error goes from {errors[low]:.2f} % ({low}) to "
            f"{errors[high]:.2f} % ({high})"
        )
    return facts


FOREST = {"stratified": "stratified", "regular": "regular", "coarse": "stratified, coarse"}
FOREST_METRICS = ("error", "rounds", *KERNELS)
FOREST_COSTS = ("n_train", "fit_seconds", "megabytes")


@reading.facts(
    "forest",
    "rows",
    "gigabytes",
    "longer",
    "se",
    *(f"{n}_{what}" for n in FOREST for what in (*FOREST_METRICS, "minutes")),
)
def all_rows(study: Study) -> dict[str, float | str]:
    """What each fit of all rows found, and what it took."""
    evidence, facts = study.evidence("forest"), {}
    read = {
        name: {m: _mean(evidence, m, ALL_FOREST, method) for m in (*FOREST_METRICS, *FOREST_COSTS)}
        for name, method in FOREST.items()
    }
    for name, values in read.items():
        facts |= {f"{name}_{metric}": values[metric] for metric in FOREST_METRICS}
        facts[f"{name}_minutes"] = values["fit_seconds"] / 60
    share = read["stratified"]["error"] / 100
    return facts | {
        "rows": f"{read['stratified']['n_train']:,.0f}",
        "gigabytes": max(values["megabytes"] for values in read.values()) / 1024,
        "longer": read["regular"]["fit_seconds"] / read["stratified"]["fit_seconds"],
        "se": 100 * (share * (1 - share) / study.protocol("forest")["sizes"]["test"]) ** 0.5,
    }
