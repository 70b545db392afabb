"""How the 258 printed numbers of bi2004 are read, and what decides its claims.

Each number was printed once, without a spread, so ours stands for it. A check computes the numbers that
decide the parts of a claim; their limits stand in ``published/claims.yaml``. A kernel choice is named as in
the tables: plus signs make a composite, commas a mixture.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernsemble.report.comparisons import holm, paired_p_value
from kernsemble.report.ledger import Derived, Finding, Reading, Rule, measure, other_task
from kernsemble.report.published import printed_array
from kernsemble.report.verdicts import Answer, Verdict, of_part
from kernsemble.report.verdicts import Rule as Limit
from kernsemble.report.words import joined
from kernsemble.trials.evidence import Evidence, Sample
from kernsemble.trials.study import Study
from bi2004.search import BEST_C, BEST_FORMS, INDEFINITE, WEIGHTS, solved_row
from bi2004.trials import (
    CHOICES,
    FIGURE4_CS,
    NORMS,
    SIZE_SETS,
    SMALL_SETS,
    TARGET,
    TOLERANCES,
    WIDTHS_TARGET,
)

LABELS = {"table3": "Forest", "table4": "Digits"}
ERRORS = {"R_trn": "train_error_end", "R_tst": "error_end"}
SECONDS = {"T_trn": "fit_seconds_end", "T_tst": "test_seconds_end"}
COUNTS = {"C_l": "linear_end", "C_q": "quadratic_end", "C_r": "rbf_end"}

UNKNOWN_TASK = "the paper does not describe its digit task; odd against even stands in"
SECONDS_OF = ("{exhibit}", "{norm}/L+Q+R", "{column}")  # the composite of the block


def class_sizes(study: Study, exhibit: str, row: str, column: str):
    """How the digits were made into two classes is not said."""
    evidence = study.evidence("table1")
    sample, nearest = (evidence.sample(m, dataset=row, method="facts") for m in (column, "nearest_subset"))
    note = f"no subset of the ten digits has that many of the 60,000 (nearest: {nearest.mean:.0f})"
    return other_task(f"{note}; odd against even stands in", sample)


def growth(study: Study, exhibit: str, row: str, column: str) -> Derived:
    """Rounds until TR3 stops, C fixed."""
    label = f"n={column}"
    values = iterations(study, label, "C fixed")
    runs = len(values)
    se = float(values.std(ddof=1) / runs**0.5) if runs > 1 else float("nan")
    mean = float(values.mean()) if runs else float("nan")
    return Derived(mean, se, [study.evidence("table5").sample("error", dataset=label, method="C fixed")])


def iterations(study: Study, label: str, method: str, patience: int | None = None) -> np.ndarray:
    """Rounds until TR3 stops, by run; the chosen patience by default."""
    curves = study.evidence("table5").curves("iterations", dataset=label, method=method)
    values = study.protocol("table5")
    at = values["patiences"].index(values["patience"] if patience is None else patience)
    return curves[:, at] if len(curves) else np.empty(0)


def _large(exhibit: str, row: str, columns: dict[str, str], **other: Any) -> list[Rule]:
    """Return the rules of columns of table 3 or 4, each with its metric."""
    return [
        Rule(
            exhibit, row, column, dataset=LABELS[exhibit], method="{row}", metric=metric, spread=None, runs=1,
            **other,
        )
        for column, metric in columns.items()
    ]  # fmt: skip


def _composites(exhibit: str, **other: Any) -> list[Rule]:
    """Return the rules of a composite's counts: the table prints its one count once a kernel."""
    again = {column: metric for column, metric in COUNTS.items() if column != "C_l"}
    first = ("{exhibit}", "{row}", "C_l")
    return [
        rule
        for name in ("L+Q", "L+R", "L+Q+R")
        for rule in _large(exhibit, f"{{norm}}/{name}", again, repeats=first, **other)
    ]


COMPLETE = "the complete solution of the 2-norm, counting weights above 0.01"
SEARCHED = "inner products of the linear kernel not divided, C = 3 for all rows"


def complete_count(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Count the columns of the complete solution of one kernel, single or composite."""
    found = np.array(study.evidence(exhibit).runs("counts", LABELS[exhibit], row))
    values = found[:, TOLERANCES.index(0.01)]
    return Sample(values, len(values))


def kept_count(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Count them for table 2."""
    values = np.array(study.evidence("kept").runs(column, *row.split("/")))[:, TOLERANCES.index(0.01)]
    return Sample(values, len(values))


def searched(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Return an error or a number of columns of table 3 by the best reading."""
    norm, _, choice = row.partition("/")
    metric = {"R_trn": "train", "R_tst": "test", "C_l": "linear", "C_q": "quadratic", "C_r": "rbf"}[column]
    rows = study.evidence("search").runs(metric, "Forest", solved_row(norm, choice, *BEST_FORMS))
    at = study.protocol("search")["search_Cs"]["Forest"].index(BEST_C)
    values = np.array(rows)[:, at]
    return Sample(values, len(values))


_ONE = {"spread": None, "runs": 1}
_EXACT = {"spread": None, "runs": None}
_SMALL = "{dataset}/{method}"
_ROW = "{norm}/{kernels}"
reading = Reading(
    "bi2004",
    [
        Rule("table1", method="facts", **_EXACT),
        Rule("table1", "Digits", ("n_positive", "n_negative"), read=class_sizes, **_EXACT),
        Rule("table2", _SMALL, ("FP_tst", "FN_tst"), **_ONE),
        Rule(
            "table2", _SMALL, ("T_trn", "T_tst"), unit=("table2", "{dataset}/composite", "{column}"), **_ONE
        ),
        Rule("table2", _SMALL, ("C_l", "C_r"), **_ONE),
        Rule(
            "table2", "{dataset}/composite", "C_r", method="composite", repeats=("table2", "{row}", "C_l"),
            **_ONE,
        ),
        *_large("table3", _ROW, ERRORS | COUNTS),
        *_composites("table3"),
        *_large("table3", _ROW, SECONDS, unit=SECONDS_OF),
        *_large("table4", _ROW, ERRORS | SECONDS | COUNTS, unit=SECONDS_OF, other_task=UNKNOWN_TASK),
        *_composites("table4", other_task=UNKNOWN_TASK),
        Rule("table5", "Iter", tuple(label.removeprefix("n=") for label in SIZE_SETS), read=growth, **_ONE),
        Rule(
            "table5", "Time", "{n}", dataset="n={n}", method="C fixed", metric="fit_seconds",
            unit=("table5", "Time", "1000"), **_ONE,
        ),
    ],
    best=[
        Rule(
            "table2", tuple(f"{{dataset}}/{name}" for name in ("linear", "RBF", "composite")), ("C_l", "C_r"),
            read=kept_count, name=COMPLETE, **_ONE,
        ),
        Rule(
            ("table3", "table4"), tuple(f"2-norm/{name}" for name in CHOICES if "," not in name),
            tuple(COUNTS), read=complete_count, name=COMPLETE, **_ONE,
        ),
        Rule("table3", "{row}", tuple(ERRORS), read=searched, name=SEARCHED, **_ONE),
        Rule("table3", "1-norm/{choice}", tuple(COUNTS), read=searched, name=SEARCHED, **_ONE),
    ],
)  # fmt: skip


# Claims

BETTER = {
    "error": "more accurate",
    "sparse": "sparser",
    "evaluate": "fewer kernels to evaluate",
    "train": "cheaper to train",
}
LESS = Limit("mixture over composite", "< 1")


@reading.claim(
    "B1",
    *(f"{norm}_{what}" for norm in ("two", "one") for what in ("terms", "composite_terms", "parts")),
    *("two_linear", "two_rbf", "two_composite_rbf"),
)
def mixture_beats_composite_on_the_target(study: Study) -> Finding:
    """Compare means over draws; a column of the composite is two terms."""
    measures = ("rmse", "columns", "evaluations", "fit_seconds")
    facts, notes, answers = {}, [], {}
    for norm, name in zip(NORMS, ("two", "one"), strict=True):
        both = np.stack([_target(study, metric, norm) for metric in measures], axis=-1)
        both[:, 0, 1] *= 2.0
        composite, mixture = both.mean(axis=0)
        own = {part: measure(_second_over_first, both[:, :, k]) for k, part in enumerate(BETTER)}
        answers |= {f"{name}_{part}": answer for part, answer in own.items()}
        verdicts = {BETTER[part]: of_part(LESS, answer) for part, answer in own.items()}
        apart = [f"*{part}* ({verdict})" for part, verdict in verdicts.items() if verdict != Verdict.HOLDS]
        facts |= {
            f"{name}_terms": mixture[1],
            f"{name}_composite_terms": composite[1],
            f"{name}_parts": f"holds but for {joined(apart)}" if apart else "holds in its four parts",
        }
        shown = zip(("rmse", "terms", "evaluations"), (".3f", ".0f", ".0f"), mixture, composite, strict=False)
        compared = ", ".join(f"{what} {m:{form}} against {c:{form}}" for what, form, m, c in shown)
        notes.append(f"{norm}: {compared}, training {mixture[3] / composite[3]:.2f} times as long")
    rbf = _target(study, "rbf_columns", "2-norm").mean(axis=0)
    facts |= {"two_linear": facts["two_terms"] - rbf[1], "two_rbf": rbf[1], "two_composite_rbf": rbf[0]}
    return Finding(answers, None, "; ".join(notes), facts)


def _target(study: Study, metric: str, norm: str) -> np.ndarray:
    methods = (f"{norm}/composite", f"{norm}/mixture")
    return study.evidence("figure1").array(metric, (TARGET,), methods)[:, 0]


def _second_over_first(values: np.ndarray) -> float:
    first, second = values.mean(axis=0)
    return float(second / first)


@reading.claim("B2", *(f"{label}_faster" for label in SMALL_SETS))
def mixture_tests_faster_at_equal_error(study: Study) -> Finding:
    """Compare means over cross-validations; the printed total errors come from both rates and table 1."""
    methods = ("composite", "mixture")
    errors, seconds, values = (
        study.evidence("table2").array(metric, SMALL_SETS, methods)
        for metric in ("error", "T_tst", "evaluations")
    )
    faster, fewer = (some.mean(axis=0)[:, 0] / some.mean(axis=0)[:, 1] for some in (seconds, values))
    more = np.diff(errors.mean(axis=0), axis=1)[:, 0]
    note = "; ".join(
        f"{label}: error {points:+.1f} points, test time 1/{time:.1f}, evaluations 1/{count:.1f}"
        for label, points, time, count in zip(SMALL_SETS, more, faster, fewer, strict=True)
    )
    parts = {
        "alike": measure(_largest_difference, errors, _printed_errors(study, methods)),
        "faster": measure(_least_ratio, seconds, _printed_small(study, "T_tst", methods)),
    }
    facts = {f"{label}_faster": time for label, time in zip(SMALL_SETS, faster, strict=True)}
    return Finding(parts, None, note, facts)


def _largest_difference(values: np.ndarray) -> float:
    return float(np.abs(np.diff(values.mean(axis=0))).max())


def _printed_errors(study: Study, methods: tuple[str, ...]) -> np.ndarray:
    """Return the total errors that table 2's rates make with table 1's classes: (1, sets, methods)."""
    classes = printed_array(study, "table1", SMALL_SETS, ("n_negative", "n_positive"))[0]
    negative, positive = classes.T[:, :, None]
    fp, fn = (_printed_small(study, column, methods) for column in ("FP_tst", "FN_tst"))
    return (fp * negative + fn * positive) / (negative + positive)


def _printed_small(study: Study, column: str, methods: tuple[str, ...]) -> np.ndarray:
    """Return a column of table 2 as one run: (1, sets, methods)."""
    rows = [printed_array(study, "table2", [f"{d}/{m}" for m in methods], [column]) for d in SMALL_SETS]
    return np.stack(rows, axis=1)[:, :, :, 0]


def _least_ratio(values: np.ndarray) -> float:
    """Return the first method's mean over the second's, the least of a set."""
    means = values.mean(axis=0)
    return float((means[:, 0] / means[:, 1]).min())


@reading.claim("B3")
def mixture_keeps_fewer_rbf_columns(study: Study) -> Finding:
    """Compare mean numbers of RBF columns."""
    names = ("RBF", "composite", "mixture")
    counts = study.evidence("table2").array("C_r", SMALL_SETS, names)
    note = "; ".join(
        f"{label}: RBF {m[0]:.0f}, composite {m[1]:.0f}, mixture {m[2]:.0f}"
        for label, m in zip(SMALL_SETS, counts.mean(axis=0), strict=True)
    )
    share = measure(_largest_share, counts, _printed_small(study, "C_r", names))
    return Finding({"fewer": share, "half": share}, None, note)


def _largest_share(values: np.ndarray) -> float:
    """Return the last method's mean over the least of the others, the largest of a set."""
    means = values.mean(axis=0)
    return float((means[:, -1] / means[:, :-1].min(axis=1)).max())


def blocks(
    study: Study, metric: str, names: tuple[str, ...] = tuple(CHOICES), norms: tuple[str, ...] = tuple(NORMS)
) -> np.ndarray:
    """Return a metric of tables 3 and 4: runs x blocks (Forest 2-, 1-norm, digits 2-, 1-norm) x choices."""
    parts = [
        study.evidence(exhibit).array(metric, (label,), tuple(f"{norm}/{name}" for name in names))[:, 0]
        for exhibit, label in LABELS.items()
        for norm in norms
    ]
    return np.stack(parts, axis=1)


def printed_blocks(study: Study, column: str, names: tuple[str, ...] = tuple(CHOICES)) -> np.ndarray:
    """Return a column of tables 3 and 4 as one run, likewise."""
    parts = [
        printed_array(study, exhibit, [f"{norm}/{name}" for name in names], [column])[:, :, 0]
        for exhibit in LABELS
        for norm in NORMS
    ]
    return np.stack(parts, axis=1)


BLOCKS = tuple(f"{label}, {norm}" for label in LABELS.values() for norm in NORMS)
BLOCK_NAMES = ("forest_two", "forest_one", "digits_two", "digits_one")


@reading.claim("B4")
def mixture_has_lowest_test_error_of_each_block(study: Study) -> Finding:
    """Test each of the six other choices of a block against L,Q,R, on the same draws."""
    errors, printed = blocks(study, "error_end"), printed_blocks(study, "R_tst")[0]
    solved = blocks(study, "optimum_error", norms=("2-norm",))
    names = list(CHOICES)
    note = "; ".join(
        f"{block}: L,Q,R {m[-1]:.2f}, best other {names[int(m[:-1].argmin())]} {m[:-1].min():.2f}"
        for block, m in zip(BLOCKS, errors.mean(axis=0), strict=True)
    )
    in_print = int((printed[:, :-1].min(axis=1) < printed[:, -1]).sum())
    parts = {"beaten": Answer(_beaten(errors), in_print), "solved": Answer(_beaten(solved))}
    return Finding(parts, None, note)


def _beaten(errors: np.ndarray) -> int:
    """Count the blocks where another choice errs less than the last one, by paired t-tests with Holm."""
    beaten = 0
    for block in np.moveaxis(errors, 1, 0):
        p = holm(np.array([paired_p_value(other, block[:, -1]) for other in block.T[:-1]]))
        beaten += bool(((p < 0.05) & (block[:, :-1].mean(axis=0) < block[:, -1].mean())).any())
    return beaten


@reading.claim("B5", *BLOCK_NAMES, "forest_two_values", "digits_two_values")
def mixture_tests_in_a_fraction_of_the_time(study: Study) -> Finding:
    """Compare mean test seconds of the mixture with those of the composite of all kernels.

    values: kernel values instead of seconds.
    """
    names = ("L+Q+R", "L,Q,R")
    seconds, values = blocks(study, "test_seconds_end", names), blocks(study, "evaluations_end", names)
    shares = [some.mean(axis=0)[:, 1] / some.mean(axis=0)[:, 0] for some in (seconds, values)]
    facts = dict(zip(BLOCK_NAMES, shares[0], strict=True))
    facts |= {f"{name}_values": shares[1][BLOCK_NAMES.index(name)] for name in ("forest_two", "digits_two")}
    note = "; ".join(
        f"{block}: {time:.2f} of the seconds, {count:.2f} of the kernel values"
        for block, time, count in zip(BLOCKS, *shares, strict=True)
    )
    share = measure(_largest_share, seconds, printed_blocks(study, "T_tst", names))
    rows = [solved_row("1-norm", name, *BEST_FORMS) for name in names]
    at = study.protocol("search")["search_Cs"]["Forest"].index(BEST_C)
    plain = np.column_stack(
        [np.array(study.evidence("search").runs("test_seconds", "Forest", r))[:, at] for r in rows]
    )
    in_print = printed_array(study, "table3", [f"1-norm/{name}" for name in names], ["T_tst"])[:, :, 0]
    parts = {"less": share, "fraction": share, "plain": measure(_second_over_first, plain, in_print)}
    return Finding(parts | {"solved": _share_when_solved(study, names)}, None, note, facts)


def _share_when_solved(study: Study, names: tuple[str, str]) -> Answer:
    """Compare kernel values of composite and mixture, both run to the gap; the larger ratio of the sets."""
    pairs = []
    for exhibit, label in LABELS.items():
        mixture = study.evidence("solved").array("evaluations", (label,), ("stratified",))[:, 0, 0]
        composite = study.evidence(exhibit).array("evaluations_end", (label,), (f"2-norm/{names[0]}",))
        pairs.append(np.column_stack([composite[: len(mixture), 0, 0], mixture]))
    nonlinear = sum(printed_blocks(study, column, names)[0, ::2] for column in ("C_q", "C_r"))
    printed = float((nonlinear[:, 1] / nonlinear[:, 0]).max())
    answer = measure(lambda *some: max(map(_second_over_first, some)), tuple(pairs))
    return replace(answer, printed=printed)


@reading.claim("B6", *SMALL_SETS)
def mixture_trains_longer_to_the_end(study: Study) -> Finding:
    """Compare mean training seconds to the certified gap, on the small sets and in tables 3 and 4."""
    small, large = ("composite", "mixture"), ("L+Q+R", "L,Q,R")
    seconds = study.evidence("table2").array("T_trn", SMALL_SETS, small)
    ratios = seconds.mean(axis=0)[:, 1] / seconds.mean(axis=0)[:, 0]
    note = "; ".join(f"{label}: {{{label}:.1f}} times as long" for label in SMALL_SETS)
    parts = {
        "small": measure(_longer, seconds, _printed_small(study, "T_trn", small)),
        "large": measure(
            _longer, blocks(study, "fit_seconds_end", large), printed_blocks(study, "T_trn", large)
        ),
    }
    return Finding(parts, None, note, dict(zip(SMALL_SETS, ratios, strict=True)))


def _longer(seconds: np.ndarray) -> int:
    """Count the blocks where the second method's mean is larger."""
    return int((np.diff(seconds.mean(axis=0)) > 0).sum())


@reading.claim("B12")
def one_norm_is_sparser(study: Study) -> Finding:
    """Compare mean numbers of columns for each of the seven kernel choices, on both sets."""
    counts = sum(blocks(study, f"{kernel}_end") for kernel in ("linear", "quadratic", "rbf"))
    means = counts.mean(axis=0)  # blocks x choices
    note = f"on average {means[1::2].mean():.0f} columns against {means[::2].mean():.0f}"
    return Finding({"pairs": measure(_sparser, counts)}, None, note)


def _sparser(counts: np.ndarray) -> int:
    means = counts.mean(axis=0)
    return int((means[1::2] < means[::2]).sum())


MIXTURE = "2-norm/L,Q,R"
NEAR_BEST = 1.05  # validation error, relative to the lowest, that counts as reached
ALL_COLUMNS = 3000  # of three kernels at 1000 examples
PRINTED_SCAN = 255.0  # columns per iteration, in the text beside figure 3


@reading.claim("B7")
def tr3_halves_the_training_time(study: Study) -> Finding:
    """Digits, 2-norm mixture: compare TR3 with the complete solution.

    The time to the end of the run stands for TR2's, which it does not exceed.
    """
    evidence = study.evidence("table4")
    names = ("error_TR3", "optimum_error", "fit_seconds_TR3", "fit_seconds_end")
    tr3, optimum, fast, slow = (evidence.array(name, ("Digits",), (MIXTURE,))[:, 0, 0] for name in names)
    curves = [evidence.runs(f"curve_{name}", "Digits", MIXTURE) for name in ("validation", "test")]
    least = np.array([test[np.argmin(validation)] for validation, test in zip(*curves, strict=True)])
    times = ("fit_seconds", "least_seconds")
    whole = np.column_stack(
        [study.evidence("solved").array(t, ("Digits",), ("stratified",))[:, 0, 0] for t in times]
    )
    parts = {
        "error": measure(np.mean, tr3 - optimum),
        "time": measure(lambda pair: _second_over_first(pair[:, ::-1]), np.column_stack([fast, slow])),
        "minimum_error": measure(np.mean, least - optimum),
        "minimum_time": measure(_second_over_first, whole),
    }
    note = f"test error {tr3.mean():.2f} with TR3, {optimum.mean():.2f} at the optimum"
    return Finding(parts, None, f"{note}, {least.mean():.2f} at the least validation error")


@reading.claim("B8")
def stratification_computes_fewer_columns(study: Study) -> Finding:
    """Count columns computed in a scan, and columns until the validation error is near the lowest."""
    parts, notes = {}, []
    for name, (exhibit, label) in (("digits", ("table4", "Digits")), ("forest", ("table3", "Forest"))):
        scanned = study.evidence(exhibit).array("scanned", (label,), (MIXTURE,))[:, 0, 0] / ALL_COLUMNS
        needed, never = columns_needed(study, label)
        parts[f"scan_{name}"] = replace(measure(np.mean, scanned), printed=PRINTED_SCAN / ALL_COLUMNS)
        parts[f"columns_{name}"] = measure(_second_over_first, needed)
        parts[f"slower_{name}"] = measure(_second_over_first, last_objectives(study, label))
        means = needed.mean(axis=0)
        notes.append(
            f"{label}: {means[0]:.0f} columns stratified, {means[1]:.0f} regular ({never[0]} and {never[1]} "
            f"of {len(needed)} runs end before, and count with their length)"
        )
    return Finding(parts, None, "to a validation error near the lowest: " + "; ".join(notes))


def both_searches(study: Study, label: str, metric: str) -> list[list[np.ndarray]]:
    """Return a curve of the runs of the stratified and of the regular search."""
    exhibit = {label: exhibit for exhibit, label in LABELS.items()}[label]
    places = (study.evidence(exhibit), MIXTURE), (study.evidence("figure3"), "regular")
    return [evidence.runs(metric, label, method) for evidence, method in places]


def last_objectives(study: Study, label: str) -> np.ndarray:
    """Return the objectives at the end of runs: runs x (stratified, regular)."""
    paths = zip(*both_searches(study, label, "curve_objective"), strict=False)
    return np.array([[path[-1] for path in pair] for pair in paths])


def columns_needed(study: Study, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns until the validation error is near the lowest of both runs: runs x (stratified, regular).

    And how many runs of each end before they come to that.
    """
    rounds, losses = (both_searches(study, label, f"curve_{name}") for name in ("rounds", "validation"))
    found, never = [], np.zeros(2, dtype=int)
    for run in range(min(map(len, losses))):
        level = NEAR_BEST * min(loss[run].min() for loss in losses)
        found.append([_first_below(losses[k][run], rounds[k][run], level) for k in range(2)])
        never += [losses[k][run].min() > level for k in range(2)]
    return np.array(found, dtype=float), never


def _first_below(loss: np.ndarray, rounds: np.ndarray, level: float) -> float:
    """Return the first round at which the level is reached; the last where it is not."""
    reached = np.flatnonzero(loss <= level)
    return float(rounds[reached[0]] if len(reached) else rounds[-1])


@reading.claim("B9")
def improper_c_shows_early(study: Study) -> Finding:
    """Compare mean validation errors at half of the recorded rounds."""
    evidence = study.evidence("figure4")
    methods = tuple(f"C = {C:g}" for C in FIGURE4_CS)
    parts, notes = {}, []
    for label, ends in (("Digits", ("too_large", "too_small")), ("Forest", ("too_large",))):
        final = evidence.array("optimum_validation", (label,), methods)[:, 0].mean(axis=0)
        halves = np.column_stack([_half_way(evidence, label, method) for method in methods])
        best = int(final.argmin())
        for end in ends:
            worse = halves[:, -1 if end == "too_large" else 0] - halves[:, best]
            parts[f"{end}_{label.lower()}"] = measure(np.mean, worse)
        shown = ", ".join(f"{m} {v:.1f} %" for m, v in zip(methods, final, strict=True))
        notes.append(f"{label}, complete: {shown}")
    return Finding(parts, None, "; ".join(notes))


def _half_way(evidence: Evidence, label: str, method: str) -> np.ndarray:
    """Validation error at half of the rounds, by run."""
    rounds = evidence.runs("curve_rounds", label, method)
    losses = evidence.runs("curve_validation", label, method)
    return np.array([np.interp(t[-1] / 2, t, loss) for t, loss in zip(rounds, losses, strict=True)])


@reading.claim("B10")
def iterations_grow_slower_than_the_data(study: Study) -> Finding:
    """Compare mean iterations and kernel values from size to size, in two readings of the tolerance."""
    declared, coarse = study.evidence("table5"), study.evidence("coarse")
    for label in SIZE_SETS:
        declared.require(label, "C fixed")
    counts = np.column_stack([iterations(study, label, "C fixed") for label in SIZE_SETS])
    values = declared.array("evaluations", SIZE_SETS, ("C fixed",))[:, :, 0]
    other = [coarse.array(metric, SIZE_SETS, (NEAREST_TAU,))[:, :, 0] for metric in ("rounds", "evaluations")]
    sizes = [label.removeprefix("n=") for label in SIZE_SETS]
    printed = printed_array(study, "table5", ["Iter"], sizes)[:, 0]
    grow = measure(_growth_over_data, counts, printed)
    parts = {
        "iterations_grow": grow,
        "stays_flat": measure(_last_over_first, values),
        "coarse_grow": replace(measure(_growth_over_data, other[0]), printed=grow.printed),
        "coarse_flat": measure(_last_over_first, other[1]),
    }
    note = "; ".join(
        f"{name}: {', '.join(f'{count:.0f}' for count in some.mean(axis=0))} iterations"
        for name, some in (("declared", counts), (NEAREST_TAU, other[0]))
    )
    return Finding(parts, None, f"for 1000, 2000, 5000, 10000 rows, {note}")


NEAREST_TAU = "tau = 3"


def _growth_over_data(counts: np.ndarray) -> float:
    means, sizes = counts.mean(axis=0), np.array([float(label.removeprefix("n=")) for label in SIZE_SETS])
    return float((means[1:] / means[:-1] * sizes[:-1] / sizes[1:]).max())


def _last_over_first(values: np.ndarray) -> float:
    means = values.mean(axis=0)
    return float(means[-1] / means[0])


@reading.claim("B11")
def optimality_test_and_best_column_hold(study: Study) -> Finding:
    """Compute the gap, the optimum and all scores outright."""
    evidence = study.evidence("theorems")
    identity, optimum = (float(evidence.array(metric).max()) for metric in ("identity", "optimum"))
    regular = tuple(method for method in evidence.methods if method.endswith("regular"))
    largest = float(evidence.array("largest", methods=regular).min())
    realized = float(evidence.array("realized", methods=regular).mean())
    note = (
        f"gap formula off by at most {identity:.0e}, objective at the stop by {optimum:.0e}; the column with "
        f"the largest score also lowers the next optimum most in {100 * realized:.0f} % of the rounds probed"
    )
    broken = float(study.evidence("complementarity").array("broken").max())
    parts = {"gap": identity, "stop": optimum, "column": largest, "complementary": broken}
    return Finding({name: Answer(value) for name, value in parts.items()}, None, note)


@reading.claim("B13")
def ionosphere_favors_the_rbf_kernel(study: Study) -> Finding:
    """Compare the total errors of table 2 on Ionosphere."""
    methods, place = ("RBF", "linear", "mixture"), SMALL_SETS.index("Ionosphere")
    ours = study.evidence("table2").array("error", ("Ionosphere",), methods)[:, 0]
    printed = _printed_errors(study, methods)[:, place]
    names = zip(("linear", "mixture"), (1, 2), strict=True)
    return Finding({name: measure(lambda e, k=k: _points_more(e, k), ours, printed) for name, k in names})


def _points_more(errors: np.ndarray, k: int) -> float:
    """Return by how much the mean of a column exceeds that of the first."""
    means = errors.mean(axis=0)
    return float(means[k] - means[0])


@reading.claim("B14")
def columns_of_four_error_points_help(study: Study) -> Finding:
    """Read section 5's example: a linear fit, then the RBF columns of the points next to the centers."""
    evidence = study.evidence("centers")
    ranks, linear, centers = (
        evidence.array(name, (TARGET,), ("least squares",))[:, 0, 0]
        for name in ("rank", "rmse_linear", "rmse_centers")
    )
    both = np.column_stack([linear, centers])
    return Finding({"errors": measure(np.mean, ranks), "improved": measure(_second_over_first, both)})


@reading.claim("B15")
def a_single_width_is_dense_and_poor(study: Study) -> Finding:
    """Compare the mean width with a library of widths on a target of two, under the 1-norm."""
    names = ("library of widths", "mean width")
    columns, errors = (
        study.evidence("widths").array(metric, (WIDTHS_TARGET,), names)[:, 0]
        for metric in ("columns", "error")
    )
    return Finding(
        {"dense": measure(_second_over_first, columns), "poor": measure(_second_over_first, errors)}
    )


@reading.claim("B16")
def no_positive_definiteness_is_needed(study: Study) -> Finding:
    """Solve both norms with a kernel whose matrix has eigenvalues of both signs."""
    evidence = study.evidence("indefinite")
    methods = tuple(method for method, (_, kernel) in INDEFINITE.items() if kernel == "tanh")
    least, gap = (float(evidence.array(name, SMALL_SETS, methods).max()) for name in ("least", "gap"))
    return Finding({"indefinite": Answer(least), "solved": Answer(gap)})


@reading.claim("B17", *(f"{name}_error" for name in ("mixture", "program")))
def mixture_is_cheaper_than_kernel_weights(study: Study) -> Finding:
    """Compare the seconds of a composite kernel, its weights included, with those of the 2-norm mixture.

    error: mean test errors over the sets, of the mixture and with the weights of the semidefinite program.
    """
    evidence, mixture = study.evidence("weights"), "2-norm mixture"
    ways = dict(zip(("sdp", "conic", "alignment"), WEIGHTS, strict=True))
    parts = {
        part: measure(_least_ratio, evidence.array("fit_seconds", SMALL_SETS, (way, mixture)))
        for part, way in ways.items()
    }
    errors = evidence.array("error", SMALL_SETS, (mixture, ways["sdp"])).mean(axis=(0, 1))
    facts = dict(zip(("mixture_error", "program_error"), errors, strict=True))
    return Finding(parts, None, "", facts)
