"""The 118 printed numbers of guo2017: means over 10 trials, with standard deviations in table 1 only."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from scipy import stats

from kernsemble.data.store import load
from kernsemble.report.ledger import Derived, Finding, Reading, Rule, measure
from kernsemble.report.published import PrintedCell, printed_array, read_cells
from kernsemble.report.verdicts import Answer
from kernsemble.report.words import joined, span
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError, Sample
from kernsemble.trials.study import Study
from guo2017.theory import COST_C, COST_M
from guo2017.trials import BASES, LARGE_SET, LIBSVM_SPLICE, MADE, SIZE_SETS, STORED, TABLE_SETS

# cells
PRINTED_RUNS = 10
FAMILIES = ("L1-ExRM", "L2-ExRM", "AdaTree", "BagTree", "DRM")
FAMILIES3 = ("L1-ExRM", "L2-ExRM", "AdaSVM", "BagSVM", "DRM")
# The rows of table 1: family and number of bases; table 2 prints the same names with spaces.
ROWS = tuple((family, T) for T in (10, 30) for family in FAMILIES)
NAMES = tuple(f"{family}{T}" for family, T in ROWS)
SPACED_NAMES = tuple(re.sub(r"\d+", r" \g<0> ", name).strip() for name in NAMES)


def split_name(name: str) -> tuple[str, int]:
    """Return family and number of bases of a name such as L1-ExRM10, with or without spaces."""
    family, bases = re.fullmatch(r"(.*?)(\d+)", name.replace(" ", "")).groups()
    return family, int(bases)


def evidence_of(study: Study, family: str) -> Evidence:
    """Return the evidence that holds a family's test errors; DRM has its own, with fewer runs."""
    return study.evidence("table1_drm" if family == "DRM" else "table1")


def errors_of(study: Study, names: Sequence[tuple[str, int]]) -> np.ndarray:
    """Return test errors (runs x sets x names), for the runs that all of them have."""
    arrays = [evidence_of(study, family).array(f"error_{T}", TABLE_SETS, (family,)) for family, T in names]
    runs = min(len(array) for array in arrays)
    return np.concatenate([array[:runs] for array in arrays], axis=2)


def average_rank(study: Study, exhibit: str, row: str, column: str) -> Derived:
    """Average rank over the eight sets."""
    return _rank(table_errors(study), row)


def best_rank(study: Study, exhibit: str, row: str, column: str) -> Derived:
    """Average rank under the best reading."""
    return _rank(best_errors_of(study, ROWS), row)


def _rank(errors: np.ndarray, row: str) -> Derived:
    """Return a row's average rank, with the error that ten trials of theirs and all of ours leave.

    It belongs to all runs together: the spread is that error itself, and the ledger counts one run.
    """
    place = ROWS.index(split_name(row))
    ten, all_of_them = (rank_deviation(errors, size)[place] for size in (PRINTED_RUNS, len(errors)))
    return Derived(float(average_ranks(errors.mean(axis=0))[place]), float(np.hypot(ten, all_of_them)))


def table_errors(study: Study) -> np.ndarray:
    """Return table 1's test errors (runs x sets x its ten rows)."""
    return errors_of(study, ROWS)


def average_ranks(means: np.ndarray) -> np.ndarray:
    """Return the mean over sets (rows) of the methods' ranks; equal errors share the smaller rank."""
    smaller = means[:, np.newaxis, :] < means[:, :, np.newaxis]
    return 1.0 + smaller.sum(axis=2).mean(axis=0)


def rank_deviation(errors: np.ndarray, size: int, n_resamples: int = 300) -> np.ndarray:
    """Bootstrap deviation of the average ranks of means over ``size`` runs."""
    rng = np.random.default_rng(0)
    ranks = [
        average_ranks(errors[rng.integers(len(errors), size=size)].mean(axis=0)) for _ in range(n_resamples)
    ]
    return np.std(ranks, axis=0, ddof=1)


def training_seconds(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Seconds, averaged over the eight sets, run by run."""
    evidence, method = study.evidence("table2"), column.replace(" ", "")
    values = evidence.array("fit_seconds", evidence.datasets, (method,)).mean(axis=(1, 2))
    return Sample(values, len(values))


def mean_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error averaged over the eight sets of table 1, run by run."""
    values = errors_of(study, [(row, int(column))]).mean(axis=(1, 2))
    return Sample(values, len(values))


DECLARED = [
    *(
        Rule(
            "table1", f"{family}{{T}}", "{dataset}",
            evidence="table1_drm" if family == "DRM" else "table1", method=family, metric="error_{T}",
            spread="standard deviation", runs=PRINTED_RUNS,
        )
        for family in FAMILIES
    ),
    Rule("table1", NAMES, "A.R.", read=average_rank, spread=None, runs=None),
    Rule(
        "table2", "seconds", SPACED_NAMES, read=training_seconds, spread=None, runs=PRINTED_RUNS,
        unit=("table2", "seconds", "L 1 -ExRM 10"),
    ),
    Rule("table3", FAMILIES3, tuple(map(str, BASES)), read=mean_error, spread=None, runs=PRINTED_RUNS),
]  # fmt: skip


# The best reading, chosen after the numbers had been seen: LIBSVM's file of splice, DRM without an intercept,
# and in table 3 the printed solver for the bases of AdaSVM and BagSVM too.
PLAIN_NU = "nu chosen"
SPLICE, NO_INTERCEPT = "LIBSVM's file of splice", "DRM without an intercept"
BOTH = f"{SPLICE}, {NO_INTERCEPT}"
ALL = f"{BOTH}, the printed solver for AdaSVM and BagSVM"
ONE_SOLVER = {
    "AdaSVM": "AdaSVM, weights, printed solver",
    "BagSVM": "BagSVM, votes, printed solver",
}


def best_place(family: str, label: str) -> tuple[str, str, str]:
    """Return exhibit, dataset and method of a family's errors under the best reading."""
    dataset = LIBSVM_SPLICE if label == "splice" else label
    if family == "DRM":
        return "drm_plain", dataset, PLAIN_NU
    if family in ONE_SOLVER:
        return "libsvm" if label == "splice" else "bases", dataset, ONE_SOLVER[family]
    return "libsvm" if label == "splice" else "table1", dataset, family


def best_errors_of(study: Study, names: Sequence[tuple[str, int]]) -> np.ndarray:
    """Return test errors under the best reading (runs x sets x names), for the runs that all have."""
    arrays = [
        study.evidence(exhibit).array(f"error_{T}", (dataset,), (method,))[:, 0, 0]
        for label in TABLE_SETS
        for family, T in names
        for exhibit, dataset, method in [best_place(family, label)]
    ]
    runs = min(map(len, arrays))
    stacked = np.stack([array[:runs] for array in arrays], axis=1)
    return stacked.reshape(runs, len(TABLE_SETS), len(names))


def best_mean_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error averaged over the eight sets under the best reading, run by run."""
    values = best_errors_of(study, [(row, int(column))]).mean(axis=(1, 2))
    return Sample(values, len(values))


def _other(family: str, label: str, metric: str = "error_{T}") -> Rule:
    exhibit, dataset, method = best_place(family, label)
    return Rule(
        "table1", f"{family}{{T}}", label, evidence=exhibit, dataset=dataset, method=method, metric=metric,
        spread="standard deviation", runs=PRINTED_RUNS, name=NO_INTERCEPT if family == "DRM" else SPLICE,
    )  # fmt: skip


BEST = [
    *(_other(family, "splice") for family in FAMILIES if family != "DRM"),
    *(_other("DRM", label) for label in TABLE_SETS),
    Rule("table1", column="A.R.", read=best_rank, spread=None, runs=None, name=BOTH),
    Rule("table3", read=best_mean_error, spread=None, runs=PRINTED_RUNS, name=ALL),
]
reading = Reading("guo2017", DECLARED, best=BEST)
best_reading = Reading("guo2017", [*DECLARED, *BEST])
# The optimum of problem (5) in the place of the printed stop, on the sets of the best reading.
exact_reading = Reading(
    "guo2017",
    [
        Rule(
            "table1", f"{family}{{T}}", label, evidence=best_place(family, label)[0],
            dataset=best_place(family, label)[1], method=family, metric="exact_{T}",
            spread="standard deviation", runs=PRINTED_RUNS,
        )
        for family in FAMILIES[:2]
        for label in TABLE_SETS
    ],
)  # fmt: skip


def printed_of(study: Study, exhibit: str) -> dict[tuple[str, str], float]:
    """Return the printed numbers of one table."""
    return {(cell.row, cell.column): cell.value for cell in printed_cells(study, exhibit)}


def printed_cells(study: Study, exhibit: str) -> list[PrintedCell]:
    """Return the cells of one table."""
    cells = read_cells(study.root / "published" / "published.csv")
    return [cell for cell in cells if (cell.paper, cell.exhibit) == (study.key, exhibit)]


# Claims
ORDER = ("PSVM", "ExRM5", "ExRM10", "ExRM30")
WON_SETS = ("australian", "sonar", "heart", "ionosphere")


def curves_of(study: Study, metric: str, p: str) -> np.ndarray:
    """Return figure 1's curves on sonar (runs x machines x lambdas); raise when some are missing."""
    evidence = study.evidence("figure1")
    curves = [evidence.curves(metric, dataset="sonar", method=f"{p}-{name}") for name in ORDER]
    if not evidence.complete or not all(len(runs) for runs in curves):
        raise IncompleteEvidenceError(evidence.status or "not all machines", stale=bool(evidence.stale))
    return np.stack(curves, axis=1)


@reading.claim("G1")
def training_error_falls_with_lambda(study: Study) -> Finding:
    """Compare the mean curves of figure 1."""
    lambdas = np.array(study.protocol("figure1")["lambdas"])
    parts, notes = {}, []
    for p in ("2", "1"):
        train, test = (curves_of(study, metric, f"L{p}") for metric in ("train_error", "error"))
        parts[f"falls_{p}"] = measure(_largest_correlation, train)
        parts[f"training_{p}"] = measure(lambda curves: float(_steps(curves).min()), train)
        if p == "2":
            parts["test_2"] = measure(lambda curves: float(_steps(curves).max()), test)
        else:
            parts["noticeable_1"] = measure(_least_lead, test[..., lambdas >= 1.0])
        notes.append(f"p = {p}: {', '.join(f'{value:.2f}' for value in test.mean(axis=(0, 2)))}")
    return Finding(parts, None, f"test error, mean over lambda, of PSVM, 5, 10, 30; {'; '.join(notes)}")


def _largest_correlation(curves: np.ndarray) -> float:
    """Return the largest rank correlation with lambda of a mean curve."""
    steps = np.arange(curves.shape[-1])
    return float(max(stats.spearmanr(steps, mean).statistic for mean in curves.mean(axis=0)))


def _steps(curves: np.ndarray) -> np.ndarray:
    """Return the steps of the mean over runs and lambdas from machine to machine."""
    return np.diff(curves.mean(axis=(0, 2)))


def _least_lead(curves: np.ndarray) -> float:
    """Return by how much the first machine's mean lies above the worst of the others."""
    first, *others = curves.mean(axis=(0, 2))
    return float(first - max(others))


@reading.claim("G2")
def test_error_is_flat_in_lambda(study: Study) -> Finding:
    """Measure how far mean curves move."""
    lambdas, parts = np.array(study.protocol("figure1")["lambdas"]), {}
    for p in ("2", "1"):
        curves = curves_of(study, "error", f"L{p}")[:, 1:]
        for name, least in (("flat", 0.4), ("from_one", 1.0)):
            parts[f"{name}_{p}"] = measure(_widest, curves[..., lambdas >= least])
    return Finding(parts)


def _widest(curves: np.ndarray) -> float:
    return float(np.ptp(curves.mean(axis=0), axis=-1).max())


DISTANCES = {"01": 0.01, "001": 0.001, "0001": 0.0001}


@reading.claim("G3", *(f"{p}_{name}" for p in ("l2", "l1") for name in (*DISTANCES, "stop")))
def iterations_to_convergence(study: Study) -> Finding:
    """Count iterations on ijcnn1 until its objective, scaled to [0, 1], stays near its end.

    By p: the range over machines for each distance, and where the printed rule stops.
    """
    evidence, parts, facts, notes = study.evidence("convergence"), {}, {}, []
    for p in ("2", "1"):
        names = tuple(f"L{p}-{name}" for name in ORDER[1:])
        stops = evidence.array("n_iter", (LARGE_SET,), names)[:, 0]
        settled = evidence.array("settled", (LARGE_SET,), names)[:, 0]
        rest = {end: rounds_to_rest(study, names, distance) for end, distance in DISTANCES.items()}
        facts |= {f"l{p}_{end}": span(rounds) for end, rounds in (rest | {"stop": stops}).items()}
        parts[f"rounds_{p}"] = measure(np.mean, settled)
        parts[f"fine_{p}"] = Answer(float(np.mean(rest["0001"])))
        shown = zip(settled.mean(axis=0), stops.mean(axis=0), strict=True)
        notes.append(f"p = {p} settled (printed stop): {', '.join(f'{s:.0f} ({n:.0f})' for s, n in shown)}")
    return Finding(parts, None, "; ".join(notes) + " for 5, 10, 30 components", facts)


def rounds_to_rest(study: Study, names: Sequence[str], distance: float) -> list[int]:
    """Return from which iteration on the scaled objective on ijcnn1 stays within a distance of its end."""
    evidence = study.evidence("convergence")
    paths = [path for name in names for path in evidence.runs("path", LARGE_SET, name)]
    last = [np.flatnonzero(np.abs(path - path[-1]) > distance) for path in paths]
    return [int(far[-1]) + 2 if len(far) else 1 for far in last]


@reading.claim("G4", "slopes", "first", "last", "steps")
def training_time_is_quasi_linear(study: Study) -> Finding:
    """Fit slopes to mean seconds of each machine; PSVM counts as one component.

    The factor of p is the geometric mean over sizes and numbers of components. slopes: of an iteration, their
    range; first, last: iterations of L2-ExRM5 at the least and the most rows; steps: exact Newton steps.
    """
    evidence = study.evidence("scaling")
    sizes = np.log([int(label.removeprefix("n=")) for label in SIZE_SETS])
    names = [f"{p}-{n}" for p in ("L1", "L2") for n in ORDER]
    seconds, rounds = (evidence.array(m, SIZE_SETS, names).mean(axis=0) for m in ("fit_seconds", "n_iter"))
    slopes, of_an_iteration = (np.polyfit(sizes, np.log(s), 1)[0] for s in (seconds, seconds / rounds))
    logs = np.log(seconds)
    factor = float(np.exp((logs[:, : len(ORDER)] - logs[:, len(ORDER) :]).mean()))
    parts = {"in_all": slopes.max(), "an_iteration": of_an_iteration.max(), "p": factor}
    five, exact = evidence.array("n_iter", SIZE_SETS, ("L2-ExRM5", "L2-exact")).mean(axis=0).T
    facts = {"slopes": span(of_an_iteration, ".2f"), "first": five[0], "last": five[-1], "steps": span(exact)}
    note = f"slopes {slopes.min():.2f} to {slopes.max():.2f}; p = 1 takes {factor:.2f} times as long as p = 2"
    return Finding({name: Answer(float(value)) for name, value in parts.items()}, None, note, facts)


@reading.claim("G5", "won_on")
def exrm_ranks_first(study: Study) -> Finding:
    """Compare mean errors and average ranks of table 1's ten rows."""
    errors, printed = table_errors(study), printed_rows(study)
    ranks = average_ranks(errors.mean(axis=0))
    order = [f"{family}{T}" for family, T in (ROWS[k] for k in np.argsort(ranks, kind="stable"))]
    note = (
        f"an ExRM is best on {', '.join(won_sets(errors)) or 'none'} of {', '.join(WON_SETS)}; lowest "
        "average ranks: "
        + ", ".join(f"{name} {rank:.1f}" for name, rank in zip(order[:4], np.sort(ranks), strict=False))
    )
    parts = {
        "won": measure(lambda e: len(won_sets(e)), errors, printed),
        "first": measure(lambda e: _place(e, ("L2-ExRM", 30)), errors, printed),
        "second": measure(lambda e: _place(e, ("L2-ExRM", 10)), errors, printed),
        "over_drm": measure(lambda e: len(won_sets(e, ("DRM",))), errors, printed),
    }
    return Finding(parts, None, note, {"won_on": joined(won_sets(errors)) or "none"})


def printed_rows(study: Study) -> np.ndarray:
    """Return table 1's printed errors as one run (1 x sets x its ten rows)."""
    rows = [f"{family}{T}" for family, T in ROWS]
    return np.moveaxis(printed_array(study, "table1", rows, TABLE_SETS), 1, 2)


def won_sets(errors: np.ndarray, rivals: Sequence[str] = FAMILIES[2:]) -> list[str]:
    """Return on which of the four sets an ExRM has a lower mean error than all rivals."""
    means = errors.mean(axis=0)
    exrm, others = (
        [k for k, (family, _) in enumerate(ROWS) if family in names] for names in (FAMILIES[:2], rivals)
    )
    sets = [TABLE_SETS.index(name) for name in WON_SETS]
    return [TABLE_SETS[k] for k in sets if means[k, exrm].min() < means[k, others].min()]


def _place(errors: np.ndarray, row: tuple[str, int]) -> int:
    ranks = average_ranks(errors.mean(axis=0))
    return 1 + int((ranks < ranks[ROWS.index(row)]).sum())


def _inferior(means: np.ndarray) -> np.ndarray:
    """Share of pairs of a tree ensemble and an ExRM or DRM in which the trees err more, for each set."""
    is_tree = np.array(["Tree" in family for family, _ in ROWS])
    worse = means[:, is_tree, np.newaxis] > means[:, np.newaxis, ~is_tree]
    return worse.mean(axis=(1, 2))


@reading.claim("G13", "print", "ours", "by_set", "turned", "lower")
def trees_are_inferior_but_for_splice(study: Study) -> Finding:
    """Ask all pairs of a tree ensemble and a machine in table 1: AdaTree and BagTree, ExRM and DRM.

    print, ours: the share of pairs without splice; by_set: ours, printed in brackets; turned: sets where it
    is all of the printed and none of ours; lower: other sets where it is lower, the largest difference first.
    """
    arrays = {
        "print": printed_rows(study),
        "ours": table_errors(study),
        "best reading": best_errors_of(study, ROWS),
    }
    shares = {name: 100.0 * _inferior(errors.mean(axis=0)) for name, errors in arrays.items()}
    means = {name: (_but_for_splice(some), some[SPLICE_AT]) for name, some in shares.items()}
    note = "share of pairs in which the trees err more, splice in brackets: "
    note += ", ".join(f"{name} {most:.0f} % ({splice:.0f} %)" for name, (most, splice) in means.items())
    both = list(zip(TABLE_SETS, shares["print"], shares["ours"], strict=True))
    turned = [label for label, theirs, own in both if (theirs, own) == (100.0, 0.0)]
    fall = {label: theirs - own for label, theirs, own in both if theirs > own and label not in turned}
    facts = {
        **{name: means[name][0] for name in ("print", "ours")},
        "by_set": joined([f"{label} {own:.0f} ({theirs:.0f})" for label, theirs, own in both]),
        "turned": joined(turned) or "no set",
        "lower": joined(sorted(fall, key=fall.get, reverse=True)) or "no set",
    }
    parts = {
        name: measure(
            lambda e, read=read: 100.0 * read(_inferior(e.mean(axis=0))), arrays["ours"], arrays["print"]
        )
        for name, read in (("most", _but_for_splice), ("splice", lambda shares: float(shares[SPLICE_AT])))
    }
    return Finding(parts, None, note, facts)


SPLICE_AT = TABLE_SETS.index("splice")


def _but_for_splice(shares: np.ndarray) -> float:
    return float(np.delete(shares, SPLICE_AT).mean())


SMALLER_CLASS = 4853 / 49990  # of ijcnn1's training part


@reading.claim("G14", "least", "most", "first", "last", "smaller")
def all_methods_are_close_on_ijcnn1(study: Study) -> Finding:
    """Compare the mean errors of table 1's ten rows on ijcnn1, with 150 training rows."""
    evidence = study.evidence("large")
    names = [f"{family}{T}" for family, T in ROWS]
    errors = np.concatenate(
        [evidence.array(f"error_{T}", (LARGE_SET,), (family,))[:, :, 0] for family, T in ROWS], axis=1
    )
    means = errors.mean(axis=0)
    facts = {
        "least": means.min(),
        "most": means.max(),
        "first": names[int(means.argmin())],
        "last": names[int(means.argmax())],
        "smaller": 100.0 * SMALLER_CLASS,
    }
    note = "from {least:.2f} % ({first}) to {most:.2f} % ({last}); the smaller class has {smaller:.1f} %"
    return Finding({"close": measure(lambda e: float(np.ptp(e.mean(axis=0))), errors)}, None, note, facts)


@reading.claim("G6", "trees_over", "drm_over")
def exrm_trains_fastest(study: Study) -> Finding:
    """Compare mean seconds over the sets; DRM's are those of a program of ours, which decide nothing.

    over: the ratios of seconds to those of an ExRM of the same size.
    """
    printed = printed_array(study, "table2", ["seconds"], SPACED_NAMES).reshape(2, len(FAMILIES))
    (trees, drm), (printed_trees, printed_drm) = (
        [_least_over_exrm(seconds, rivals) for rivals in ((2, 3), (4,))]
        for seconds in (seconds_by_size(study), printed)
    )
    note = f"the printed DRM is its authors' program, not at hand; ours takes {drm:.1f} times as long"
    unknown = Answer(float("nan"), printed_drm, note=note)
    seconds = seconds_by_size(study)
    ratios = seconds[:, 2:, np.newaxis] / seconds[:, np.newaxis, :2]
    facts = {"trees_over": span(ratios[:, :2], ".1f"), "drm_over": span(ratios[:, 2])}
    return Finding({"trees": Answer(trees, printed_trees), "drm_hundreds": unknown}, None, "", facts)


def seconds_by_size(study: Study) -> np.ndarray:
    """Return mean seconds of table 2: sizes x families."""
    evidence = study.evidence("table2")
    return evidence.array("fit_seconds", evidence.datasets, NAMES).mean(axis=(0, 1)).reshape(2, len(FAMILIES))


def _least_over_exrm(seconds: np.ndarray, rivals: Sequence[int]) -> float:
    """Return the fastest rival's seconds over those of the slower ExRM, the least of both sizes."""
    return float((seconds[:, list(rivals)].min(axis=1) / seconds[:, :2].max(axis=1)).min())


@reading.claim("G7")
def exrm_is_best_at_every_size(study: Study) -> Finding:
    """Compare mean errors over the sets. With one base the rival is nu-SVM."""
    means, printed = mean_errors(study), printed_means(study)
    shown = "; ".join(
        f"{family} {', '.join(f'{value:.2f}' for value in row)}"
        for family, row in zip(FAMILIES3, means.mean(axis=0), strict=True)
    )
    parts = {
        "sizes": measure(_sizes_won, means, printed),
        "one_solver": Answer(float("nan"), note="the machines of that solver are not all there"),
        "more_bases": measure(_least_gain, means, printed),
    }
    evidence, names = study.evidence("bases"), tuple(f"{way}, printed solver" for way in WAYS)
    if evidence.complete and set(names) <= set(evidence.methods):
        other = [evidence.array(f"error_{C}", methods=names).mean(axis=1) for C in BASES[1:]]
        rivals = np.stack(other, axis=-1)  # runs x ways x numbers of bases
        runs = min(len(means), len(rivals))
        one = np.concatenate([means[:runs, :2, 1:], rivals[:runs], means[:runs, 4:, 1:]], axis=1)
        parts["one_solver"] = measure(lambda e: int(_ahead(e.mean(axis=0)).sum()), one)
    return Finding(parts, None, f"means with 1, 5, 10, 30 bases: {shown}")


WAYS = ("AdaSVM, weights", "BagSVM, votes")


def mean_errors(study: Study) -> np.ndarray:
    """Return table 3's errors, averaged over the sets (runs x families x numbers of bases)."""
    names = [(family, C) for C in BASES for family in FAMILIES3]
    means = errors_of(study, names).mean(axis=1)
    return np.moveaxis(means.reshape(len(means), 4, len(FAMILIES3)), 1, 2)


def printed_means(study: Study) -> np.ndarray:
    """Return table 3 as one run, likewise; nan where nothing is printed."""
    third = printed_of(study, "table3")
    return np.array([[[third.get((family, str(C)), np.nan) for C in BASES] for family in FAMILIES3]])


def _sizes_won(means: np.ndarray) -> int:
    mean = means.mean(axis=0)
    alone = mean[[0, 1, 4], :1]  # with one base AdaSVM and BagSVM are the machine itself
    return int(_ahead(alone).sum() + _ahead(mean[:, 1:]).sum())


def _ahead(mean: np.ndarray) -> np.ndarray:
    """Return at which numbers of bases one of the first two families (rows) has the lowest mean."""
    return mean[:2].min(axis=0) < mean[2:].min(axis=0)


def _least_gain(means: np.ndarray) -> float:
    mean = means.mean(axis=0)
    return float((mean[:2, :1] - mean[:2, 1:]).min())


@reading.claim("G8")
def printed_solver_reaches_the_optimum(study: Study) -> Finding:
    """Measure relative gaps to a certified optimum on every training set."""
    evidence = study.evidence("theorems")
    p_names = [name[:2] for name in evidence.methods if name.endswith("two blocks")]
    parts = []
    worst = 0.0
    for title in ("printed", "tight stop", "fixed mu, tight stop", "two blocks"):
        names = tuple(f"{p} {title}" for p in p_names if f"{p} {title}" in evidence.methods)
        if names:
            gaps = evidence.array("gap", methods=names)
            parts.append(f"{title}: {gaps.min():.1e} to {gaps.max():.1e}")
            worst = gaps.max() if title == "tight stop" else worst
    return Finding({"reached": Answer(worst)}, None, "relative gaps, " + "; ".join(parts))


@reading.claim("G9")
def ensemble_loss_below_mean_loss(study: Study) -> Finding:
    """Compute both losses in every solution."""
    ratios = study.evidence("theorems").array("loss_ratio")
    note = f"ratio from {ratios.min():.6f} to {ratios.max():.6f} over {ratios.size} solutions"
    return Finding({"ratio": Answer(ratios.max())}, None, note)


@reading.claim("G10", "apart")
def reweighting_solves_its_problem(study: Study) -> Finding:
    """Measure how far 20,000 rounds of Algorithm 1 come from a start without zeros."""
    evidence = study.evidence("zeros")
    apart = evidence.array("exact_difference").max()
    stuck, undefined = (evidence.array(metric).mean() for metric in ("stuck", "undefined"))
    note = (
        f"with epsilon = 0 {100 * stuck:.0f} % of the zeros that should move stay, and "
        f"{100 * undefined:.0f} % of a row of zeros becomes nan"
    )
    measured = f"a limit is not computed; 20,000 rounds come as near as {apart:.1e}"
    return Finding({"limit": Answer(float("nan"), note=measured)}, None, note, {"apart": apart})


@reading.claim("G11")
def svm_ensembles_beat_drm(study: Study) -> Finding:
    """Compare mean errors over the sets."""
    ours, printed = (means[:, 2:, 1:] for means in (mean_errors(study), printed_means(study)))
    note = "DRM minus AdaSVM, DRM minus BagSVM with 5, 10, 30 bases: " + ", ".join(
        f"{a:.2f}, {b:.2f}" for a, b in (ours[:, 2:] - ours[:, :2]).mean(axis=0).T
    )
    parts = {
        name: measure(lambda e, k=k: float((e[:, 2] - e[:, k]).mean(axis=0).min()), ours, printed)
        for k, name in enumerate(("ada", "bag"))
    }
    return Finding(parts, None, note)


WRAPPED = {"plain": "ExRM10", "bagged": "Bag-ExRM10", "boosted": "Ada-ExRM10"}
WRAPPED |= {"machine": "PSVM", "machine_bagged": "Bag-PSVM"}
HELPS = 0.35  # points by which bagging has to lower an error to be named


@reading.claim("G12", *WRAPPED, "helps", "helps_on", "elsewhere", "worse", "liver")
def wrapping_improves_exrm(study: Study) -> Finding:
    """Compare mean errors over the sets: ten components, ten rounds.

    helps, helps_on: by how many points, and where, bagging lowers the error most; elsewhere: how far it moves
    it at most. worse: on how many sets boosting raises it; liver: by how much it lowers it there.
    """
    errors = study.evidence("wrapped").array("error", TABLE_SETS, tuple(WRAPPED.values()))
    over = errors.mean(axis=1)  # runs x machines
    parts = {
        name: measure(lambda e, k=k: float((e[:, 0] - e[:, k]).mean()), over)
        for k, name in enumerate(("bagging", "boosting"), start=1)
    }
    plain, bagged, boosted, *_ = errors.mean(axis=0).T
    gain, lost = plain - bagged, boosted - plain
    helped = gain >= HELPS
    facts = dict(zip(WRAPPED, over.mean(axis=0), strict=True)) | {
        "helps": span(gain[helped], ".1f") if helped.any() else "no",
        "helps_on": joined([TABLE_SETS[k] for k in np.flatnonzero(helped)]) or "no set",
        "elsewhere": np.abs(gain[~helped]).max(initial=0.0),
        "worse": int((lost > 0).sum()),
        "liver": -lost[TABLE_SETS.index("liver")],
    }
    return Finding(parts, None, "ExRM, bagged, boosted: {plain:.2f}, {bagged:.2f}, {boosted:.2f}", facts)


@reading.claim("G15", "inverse", "inner", "last_m", "last_c", "inverse_rounds")
def an_iteration_costs_what_is_said(study: Study) -> Finding:
    """Fit slopes of the least milliseconds over the upper half of the sizes, in the logarithms.

    inner: rounds of Algorithm 1; inverse_rounds: how many rounds the inverse takes at the largest M.
    """
    evidence = study.evidence("cost")

    def slope(metric: str, letter: str, sizes: Sequence[int]) -> float:
        upper = sizes[len(sizes) // 2 :]
        least = evidence.array(metric, (MADE,), [f"{letter} = {size}" for size in upper]).min(axis=(0, 1))
        return float(np.polyfit(np.log(upper), np.log(least), 1)[0])

    last, inverse = f"M = {COST_M[-1]}", slope("inverse_ms", "M", COST_M)
    round_ms, inverse_ms = (evidence.array(m, (MADE,), (last,)).min() for m in ("iteration_ms", "inverse_ms"))
    facts = {
        "inverse": inverse,
        "inner": span(evidence.array("inner").mean(axis=(0, 1))),
        "last_m": COST_M[-1],
        "last_c": COST_C[-1],
        "inverse_rounds": inverse_ms / round_ms,
    }
    parts = {"in_c": slope("iteration_ms", "C", COST_C), "in_m": slope("iteration_ms", "M", COST_M)}
    parts["whole"] = inverse
    return Finding({name: Answer(value) for name, value in parts.items()}, None, "", facts)


@reading.claim("G16", "stop", "apart", "least", "most", "range")
def bisection_solves_any_power(study: Study) -> Finding:
    """Run Algorithm 2 with (13) by bisection and a penalty that stays; gaps to one machine's optimum.

    stop: gaps at the printed stop in percent, by set; least, most: mean test errors by p; range: on a set.
    """
    evidence, powers = study.evidence("power"), study.protocol("power")["powers"]
    stop, fixed, apart, errors = (
        np.array([np.mean(evidence.runs(metric, d, "bisection"), axis=0) for d in evidence.datasets])
        for metric in ("printed_gap", "fixed_gap", "distance", "error")
    )
    means = errors.mean(axis=0)
    facts = {
        "stop": span(100.0 * stop.mean(axis=1), ".2g"),
        "apart": f"{apart.max():.0e}",
        "least": f"{means.min():.1f} % at p = {powers[int(means.argmin())]:g}",
        "most": f"{means.max():.1f} % at p = {powers[int(means.argmax())]:g}",
        "range": np.ptp(errors, axis=1).max(),
    }
    return Finding({"solved": Answer(float(np.abs(fixed).max()))}, None, "", facts)


@reading.claim("G17", "features", "l1_first", "l1_last", "l2_last", "l2_best", "worse", "beta")
def a_constant_component_makes_sparse(study: Study) -> Finding:
    """Compare the features that are used at the largest beta with those at none.

    last: the mean share that is used, in percent. worse: what the largest beta costs, in points; l2_best: the
    largest gain of any beta in the mean over sets, for p = 2.
    """
    evidence, betas = study.evidence("sparsity"), study.protocol("sparsity")["betas"]
    used, errors = (
        {
            p: np.stack([np.array(evidence.runs(metric, d, p)) for d in evidence.datasets], axis=1)
            for p in ("L1", "L2")
        }
        for metric in ("used", "error")
    )  # runs x sets x betas
    sizes = np.array([load(STORED.get(label, label)).n_features for label in evidence.datasets])
    share = {p: 100.0 * (some.mean(axis=0) / sizes[:, np.newaxis]).mean(axis=0) for p, some in used.items()}
    means = {p: some.mean(axis=(0, 1)) for p, some in errors.items()}
    facts = {
        "features": joined([str(size) for size in sizes]),
        "l1_first": share["L1"][0],
        "l1_last": share["L1"][-1],
        "l2_last": share["L2"][-1],
        "l2_best": means["L2"][0] - means["L2"].min(),
        "worse": span([some[-1] - some[0] for some in means.values()], ".1f"),
        "beta": betas[-1],
    }
    both = np.concatenate(list(used.values()), axis=1)
    return Finding({"sparse": measure(_largest_share_left, both)}, None, "", facts)


def _largest_share_left(used: np.ndarray) -> float:
    means = used.mean(axis=0)
    return float((means[:, -1] / means[:, 0]).max())
