"""How the 258 printed numbers of bi2004 are read, and what decides its claims.

Each number was printed once, without a spread, so ours stands for it. What the check of a claim asks was
fixed before its numbers were there. A kernel choice is named as in the tables: plus signs make a composite,
commas a mixture.
"""

from __future__ import annotations

import numpy as np

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Derived, Finding, Reading, Rule, unavailable
from kernsemble.report.words import joined
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from bi2004.trials import (
    CHOICES,
    FIGURE4_CS,
    NORMS,
    SIZE_SETS,
    SMALL_SETS,
    TARGET,
)

LABELS = {"table3": "Forest", "table4": "Digits"}
ERRORS = {"R_trn": "train_error_end", "R_tst": "error_end"}
SECONDS = {"T_trn": "fit_seconds_end", "T_tst": "test_seconds_end"}
COUNTS = {"C_l": "linear_end", "C_q": "quadratic_end", "C_r": "rbf_end"}

OTHER_HARDWARE = "seconds of other hardware and another solver; the claims judge their ratios"
UNKNOWN_TASK = "the digit task is not described; odd against even stands in for it, so orders are judged only"
TOLERANCE = "every column has a weight at the 2-norm optimum, alpha free: a count tells where the run stopped"


def class_sizes(study: Study, exhibit: str, row: str, column: str):
    """How the digits were made into two classes is not said."""
    evidence = study.evidence("table1")
    sample, nearest = (evidence.sample(m, dataset=row, method="facts") for m in (column, "nearest_subset"))
    note = f"no subset of the ten digits has that many of the 60,000 (nearest: {nearest.mean:.0f})"
    return unavailable(f"{note}; odd against even stands in", sample)


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


def _large(exhibit: str, row: str, columns: dict[str, str], note: str = "") -> list[Rule]:
    """Return the rules of columns of table 3 or 4, each with its metric."""
    return [
        Rule(
            exhibit, row, column, dataset=LABELS[exhibit], method="{row}", metric=metric,
            spread=None, runs=1, better="equal" if column == "R_trn" else "lower", not_comparable=note,
        )
        for column, metric in columns.items()
    ]  # fmt: skip


_ONE = {"spread": None, "runs": 1}
_EXACT = {"spread": None, "runs": None, "better": "equal"}
_SMALL = "{dataset}/{method}"
reading = Reading(
    "bi2004",
    [
        Rule("table1", method="facts", **_EXACT),
        Rule("table1", "Digits", ("n_positive", "n_negative"), read=class_sizes, **_EXACT),
        Rule("table2", _SMALL, ("FP_tst", "FN_tst"), **_ONE),
        Rule("table2", _SMALL, ("T_trn", "T_tst"), not_comparable=OTHER_HARDWARE, **_ONE),
        Rule("table2", _SMALL, ("C_l", "C_r"), not_comparable=TOLERANCE, **_ONE),
        *_large("table3", "{row}", ERRORS),
        *_large("table3", "{row}", SECONDS, OTHER_HARDWARE),
        *_large("table3", "{row}", COUNTS, TOLERANCE),
        *_large("table3", "1-norm/{kernels}", COUNTS),
        *_large("table4", "{row}", ERRORS, UNKNOWN_TASK),
        *_large("table4", "{row}", SECONDS, OTHER_HARDWARE),
        *_large("table4", "{row}", COUNTS, TOLERANCE),
        *_large("table4", "1-norm/{kernels}", COUNTS, UNKNOWN_TASK),
        Rule("table5", read=growth, **_ONE),
        Rule(
            "table5", "Time", "{n}", dataset="n={n}", method="C fixed", metric="fit_seconds",
            not_comparable=OTHER_HARDWARE, **_ONE,
        ),
    ],
)  # fmt: skip


# Claims

ALIKE = 2.0  # points: the printed total errors of composite and mixture differ by up to 2.1 on the small sets
SMALL_FRACTION = 0.2


@reading.claim(
    "B1",
    *(f"{norm}_{what}" for norm in ("two", "one") for what in ("rmse", "terms", "evaluations", "time")),
    *(f"{norm}_composite_{what}" for norm in ("two", "one") for what in ("rmse", "terms", "evaluations")),
    *("one_parts", "two_parts", "two_linear", "two_rbf", "two_composite_rbf"),
)
def mixture_beats_composite_on_the_target(study: Study) -> Finding:
    """Under both norms the mixture has a smaller mean error, fewer terms and fewer kernel values to evaluate.

    And the composite takes longer to train and to evaluate. A column of the composite is two terms.
    """
    measures = ("rmse", "columns", "evaluations", "fit_seconds")
    pairs = [np.stack([_target(study, metric, norm) for metric in measures], axis=-1) for norm in NORMS]
    both = np.stack(pairs, axis=1)  # runs x norms x (composite, mixture) x metrics
    both[:, :, 0, 1] *= 2.0
    facts, notes = {}, []
    for norm, name, (composite, mixture) in zip(NORMS, ("two", "one"), both.mean(axis=0), strict=True):
        read = zip(("rmse", "terms", "evaluations"), composite, mixture, strict=False)
        for what, other, own in read:
            facts |= {f"{name}_{what}": own, f"{name}_composite_{what}": other}
        facts[f"{name}_time"] = mixture[3] / composite[3]
        parts = ("more accurate", "sparser", "fewer kernels to evaluate", "cheaper to train")
        lost = [part for part, less in zip(parts, mixture < composite, strict=True) if not less]
        facts[f"{name}_parts"] = f"fails in *{joined(lost)}*" if lost else "holds in its four parts"
        notes.append(
            f"{norm}: rmse {{{name}_rmse:.3f}} against {{{name}_composite_rmse:.3f}}, terms "
            f"{{{name}_terms:.0f}} against {{{name}_composite_terms:.0f}}, evaluations "
            f"{{{name}_evaluations:.0f}} against {{{name}_composite_evaluations:.0f}}, training "
            f"{{{name}_time:.2f}} times as long"
        )
    rbf = _target(study, "rbf_columns", "2-norm").mean(axis=0)
    facts |= {"two_linear": facts["two_terms"] - rbf[1], "two_rbf": rbf[1], "two_composite_rbf": rbf[0]}
    probability = bootstrap_probability(both, _mixture_smaller)
    return Finding(_mixture_smaller(both), probability, "; ".join(notes), facts)


def _target(study: Study, metric: str, norm: str) -> np.ndarray:
    methods = (f"{norm}/composite", f"{norm}/mixture")
    return study.evidence("figure1").array(metric, (TARGET,), methods)[:, 0]


def _mixture_smaller(both: np.ndarray) -> bool:
    means = both.mean(axis=0)
    return bool((means[:, 1] < means[:, 0]).all())


@reading.claim(
    "B2", *(f"{label}_{what}" for label in SMALL_SETS for what in ("difference", "faster", "fewer"))
)
def mixture_tests_faster_at_equal_error(study: Study) -> Finding:
    """On each set the mean total errors differ by at most 2 points; the composite tests 1.5 times slower."""
    methods = ("composite", "mixture")
    evidence = study.evidence("table2")
    errors, seconds, values = (
        evidence.array(metric, SMALL_SETS, methods) for metric in ("error", "T_tst", "evaluations")
    )
    faster, fewer = (some.mean(axis=0)[:, 0] / some.mean(axis=0)[:, 1] for some in (seconds, values))
    facts, difference = {}, np.diff(errors.mean(axis=0), axis=1)[:, 0]
    for k, label in enumerate(SMALL_SETS):
        read = {"difference": difference[k], "faster": faster[k], "fewer": fewer[k]}
        facts |= {f"{label}_{what}": float(value) for what, value in read.items()}
    note = "; ".join(
        f"{label}: error {{{label}_difference:+.1f}} points, test time 1/{{{label}_faster:.1f}}, "
        f"evaluations 1/{{{label}_fewer:.1f}}"
        for label in SMALL_SETS
    )
    paired = np.stack([errors, seconds], axis=-1)
    return Finding(_alike_and_faster(paired), bootstrap_probability(paired, _alike_and_faster), note, facts)


def _alike_and_faster(paired: np.ndarray) -> bool:
    means = paired.mean(axis=0)  # sets x (composite, mixture) x (error, seconds)
    alike = np.abs(means[:, 1, 0] - means[:, 0, 0]) <= ALIKE
    faster = means[:, 0, 1] > 1.5 * means[:, 1, 1]
    return bool(alike.all() and faster.all())


@reading.claim("B3")
def mixture_keeps_fewer_rbf_columns(study: Study) -> Finding:
    """Mean number of RBF columns of the mixture below that of RBF and of composite, on all three sets."""
    counts = study.evidence("table2").array("C_r", SMALL_SETS, ("RBF", "composite", "mixture"))
    means = counts.mean(axis=0)
    note = "; ".join(
        f"{label}: RBF {m[0]:.0f}, composite {m[1]:.0f}, mixture {m[2]:.0f}"
        for label, m in zip(SMALL_SETS, means, strict=True)
    )
    return Finding(_fewest(counts), bootstrap_probability(counts, _fewest), note)


def _fewest(counts: np.ndarray) -> bool:
    means = counts.mean(axis=0)
    return bool((means[:, 2] < means[:, :2].min(axis=1)).all())


def blocks(study: Study, metric: str, names: tuple[str, ...] = tuple(CHOICES)) -> np.ndarray:
    """Return a metric of tables 3 and 4: runs x blocks (Forest 2-, 1-norm, digits 2-, 1-norm) x choices."""
    parts = [
        study.evidence(exhibit).array(metric, (label,), tuple(f"{norm}/{name}" for name in names))[:, 0]
        for exhibit, label in LABELS.items()
        for norm in NORMS
    ]
    return np.stack(parts, axis=1)


BLOCKS = tuple(f"{label}, {norm}" for label in LABELS.values() for norm in NORMS)
BLOCK_NAMES = ("forest_two", "forest_one", "digits_two", "digits_one")


@reading.claim("B4")
def mixture_has_lowest_test_error_of_each_block(study: Study) -> Finding:
    """The mean test error of L,Q,R is the lowest of its block (ties do not count), in all four blocks."""
    errors = blocks(study, "error_end")
    names, means = list(CHOICES), errors.mean(axis=0)
    note = "; ".join(
        f"{block}: L,Q,R {m[-1]:.2f}, best other {names[int(m[:-1].argmin())]} {m[:-1].min():.2f}"
        for block, m in zip(BLOCKS, means, strict=True)
    )
    return Finding(_mixture_lowest(errors), bootstrap_probability(errors, _mixture_lowest), note)


def _mixture_lowest(errors: np.ndarray) -> bool:
    means = errors.mean(axis=0)
    return bool((means[:, -1] < means[:, :-1].min(axis=1)).all())


@reading.claim("B5", *BLOCK_NAMES, *(f"{name}_values" for name in BLOCK_NAMES))
def mixture_tests_in_a_fraction_of_the_time(study: Study) -> Finding:
    """In each block the mixture's mean test seconds are at most a fifth of those of the composite L+Q+R."""
    names = ("L+Q+R", "L,Q,R")
    seconds, values = blocks(study, "test_seconds_end", names), blocks(study, "evaluations_end", names)
    shares = [some.mean(axis=0)[:, 1] / some.mean(axis=0)[:, 0] for some in (seconds, values)]
    facts = dict(
        zip((*BLOCK_NAMES, *(f"{name}_values" for name in BLOCK_NAMES)), np.ravel(shares), strict=True)
    )
    note = "; ".join(
        f"{block}: {{{name}:.2f}} of the seconds, {{{name}_values:.2f}} of the kernel values"
        for block, name in zip(BLOCKS, BLOCK_NAMES, strict=True)
    )
    return Finding(_small_fraction(seconds), bootstrap_probability(seconds, _small_fraction), note, facts)


def _small_fraction(seconds: np.ndarray) -> bool:
    means = seconds.mean(axis=0)
    return bool((means[:, 1] <= SMALL_FRACTION * means[:, 0]).all())


@reading.claim("B6", *SMALL_SETS)
def mixture_trains_longer_to_the_end(study: Study) -> Finding:
    """Solved to the certified gap, the mixture's mean training time is longer on at least two small sets."""
    seconds = study.evidence("table2").array("T_trn", SMALL_SETS, ("composite", "mixture"))
    ratios = seconds.mean(axis=0)[:, 1] / seconds.mean(axis=0)[:, 0]
    note = "; ".join(f"{label}: {{{label}:.1f}} times as long" for label in SMALL_SETS)
    facts = dict(zip(SMALL_SETS, ratios, strict=True))
    return Finding(_longer(seconds), bootstrap_probability(seconds, _longer), note, facts)


def _longer(seconds: np.ndarray) -> bool:
    means = seconds.mean(axis=0)
    return int((means[:, 1] > means[:, 0]).sum()) >= 2


@reading.claim("B12")
def one_norm_is_sparser(study: Study) -> Finding:
    """For each of the seven kernel choices, on both sets, the 1-norm has fewer columns on average."""
    counts = sum(blocks(study, f"{kernel}_end") for kernel in ("linear", "quadratic", "rbf"))
    means = counts.mean(axis=0)  # blocks x choices
    fewer = means[1::2] < means[::2]
    note = (
        f"{fewer.sum()} of {fewer.size} pairs; on average {means[1::2].mean():.0f} columns against "
        f"{means[::2].mean():.0f}"
    )
    return Finding(_sparser(counts), bootstrap_probability(counts, _sparser), note)


def _sparser(counts: np.ndarray) -> bool:
    means = counts.mean(axis=0)
    return bool((means[1::2] < means[::2]).all())


MIXTURE = "2-norm/L,Q,R"
SIMILAR = 0.5  # points of the test error
NEAR_BEST = 1.05  # validation error, relative to the lowest, that counts as reached
ALL_COLUMNS = 3000  # of three kernels at 1000 examples
EXACT = 1e-6


@reading.claim("B7")
def tr3_halves_the_training_time(study: Study) -> Finding:
    """Digits, 2-norm mixture: TR3 errs at most 0.5 points more than the complete solution, in half the time.

    The time to the end of the run stands for TR2's, which it does not exceed.
    """
    evidence = study.evidence("table4")
    names = ("error_TR3", "optimum_error", "fit_seconds_TR3", "fit_seconds_end")
    values = np.stack([evidence.array(name, ("Digits",), (MIXTURE,))[:, 0, 0] for name in names], axis=-1)
    tr3, optimum, fast, slow = values.mean(axis=0)
    note = f"test error {tr3:.2f} with TR3, {optimum:.2f} at the optimum; {fast / slow:.2f} of the time"
    return Finding(_similar_in_half(values), bootstrap_probability(values, _similar_in_half), note)


def _similar_in_half(values: np.ndarray) -> bool:
    tr3, optimum, fast, slow = values.mean(axis=0)
    return bool(tr3 - optimum <= SIMILAR and fast < 0.5 * slow)


@reading.claim("B8")
def stratification_computes_fewer_columns(study: Study) -> Finding:
    """Digits: without stratification more columns are generated, and a scan is more than five times as long.

    Columns until the validation error is within 5 % of the lowest that either run attains; mean over runs.
    """
    scanned = study.evidence("table4").array("scanned", ("Digits",), (MIXTURE,))[:, 0, 0]
    needed = columns_needed(study, "Digits")
    share = scanned.mean() / ALL_COLUMNS
    means = needed.mean(axis=0)
    note = (
        f"{scanned.mean():.0f} of {ALL_COLUMNS} columns computed per iteration; to a validation error near "
        f"the lowest: {means[0]:.0f} columns stratified, {means[1]:.0f} regular"
    )
    paired = np.column_stack([scanned, needed])
    return Finding(
        bool(share < 0.2 and means[1] > means[0]),
        bootstrap_probability(
            paired, lambda p: bool(p[:, 0].mean() < 0.2 * ALL_COLUMNS and p[:, 2].mean() > p[:, 1].mean())
        ),
        note,
    )


def columns_needed(study: Study, label: str) -> np.ndarray:
    """Columns until the validation error is near the lowest of both runs: runs x (stratified, regular)."""
    exhibit = {"Forest": "table3", "Digits": "table4"}[label]
    parts = [(study.evidence(exhibit), MIXTURE), (study.evidence("figure3"), "regular")]
    rounds, losses = (
        [evidence.runs(metric, label, method) for evidence, method in parts]
        for metric in ("curve_rounds", "curve_validation")
    )
    found = []
    for run in range(min(map(len, losses))):
        level = NEAR_BEST * min(loss[run].min() for loss in losses)
        found.append([_first_below(losses[k][run], rounds[k][run], level) for k in range(2)])
    return np.array(found, dtype=float)


def _first_below(loss: np.ndarray, rounds: np.ndarray, level: float) -> float:
    """Return the first round at which the level is reached; the last where it is not."""
    reached = np.flatnonzero(loss <= level)
    return float(rounds[reached[0]] if len(reached) else rounds[-1])


@reading.claim("B9")
def improper_c_shows_early(study: Study) -> Finding:
    """Digits: the C whose complete solution is worst on validation data is worse half way already.

    Worse than the C whose complete solution is best, on average over runs, at half of the recorded rounds.
    """
    evidence = study.evidence("figure4")
    methods = tuple(f"C = {C:g}" for C in FIGURE4_CS)
    final = evidence.array("optimum_validation", ("Digits",), methods)[:, 0]
    halves = np.column_stack([_half_way(evidence, "Digits", method) for method in methods])
    order = final.mean(axis=0)
    worst, best = int(order.argmax()), int(order.argmin())
    difference = halves[:, worst] - halves[:, best]
    note = (
        f"worst {methods[worst]} ({order[worst]:.1f} %), best {methods[best]} ({order[best]:.1f} %)"
        f"; half way {difference.mean():+.1f} points"
    )
    worse = lambda d: bool(d.mean() > 0)  # noqa: E731 (one line, used twice)
    return Finding(worse(difference), bootstrap_probability(difference, worse), note)


def _half_way(evidence: Evidence, label: str, method: str) -> np.ndarray:
    """Validation error at half of the rounds, by run."""
    rounds = evidence.runs("curve_rounds", label, method)
    losses = evidence.runs("curve_validation", label, method)
    return np.array([np.interp(t[-1] / 2, t, loss) for t, loss in zip(rounds, losses, strict=True)])


@reading.claim("B10")
def iterations_grow_slower_than_the_data(study: Study) -> Finding:
    """Growth factors of the mean iterations (C fixed) are below the data's; the test time at most doubles.

    Test time: mean kernel values of one prediction with 10,000 examples over those with 1000.
    """
    evidence = study.evidence("table5")
    for label in SIZE_SETS:
        evidence.require(label, "C fixed")
    counts = np.column_stack([iterations(study, label, "C fixed") for label in SIZE_SETS])
    values = evidence.array("evaluations", SIZE_SETS, ("C fixed",))[:, :, 0]
    paired = np.stack([counts, values], axis=-1)
    means = paired.mean(axis=0)
    note = (
        f"iterations {', '.join(f'{count:.0f}' for count in means[:, 0])} for 1000, 2000, 5000, 10000 rows"
        f"; kernel values of a prediction {means[0, 1]:.0f} and {means[-1, 1]:.0f}"
    )
    return Finding(_slow_growth(paired), bootstrap_probability(paired, _slow_growth), note)


def _slow_growth(paired: np.ndarray) -> bool:
    means = paired.mean(axis=0)
    sizes = np.array([float(label.removeprefix("n=")) for label in SIZE_SETS])
    slower = means[1:, 0] / means[:-1, 0] < sizes[1:] / sizes[:-1]
    return bool(slower.all() and means[-1, 1] <= 2.0 * means[0, 1])


@reading.claim("B11", "identity", "optimum", "realized")
def optimality_test_and_best_column_hold(study: Study) -> Finding:
    """The gap's formula, the optimum at the stop, the largest score of the regular search: all to 1e-6."""
    evidence = study.evidence("theorems")
    identity, optimum = (float(evidence.array(metric).max()) for metric in ("identity", "optimum"))
    regular = tuple(method for method in evidence.methods if method.endswith("regular"))
    largest = float(evidence.array("largest", methods=regular).min())
    realized = float(evidence.array("realized", methods=regular).mean())
    note = (
        "gap formula off by at most {identity:.0e}, objective at the stop by {optimum:.0e}; the column with "
        "the largest score also lowers the next optimum most in {realized:.0f} % of the rounds probed"
    )
    facts = {"identity": identity, "optimum": optimum, "realized": 100 * realized}
    return Finding(identity < EXACT and optimum < EXACT and largest == 1.0, None, note, facts)
