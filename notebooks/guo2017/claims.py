"""The 118 printed numbers of guo2017: means over 10 trials, with standard deviations in table 1 only."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from scipy import stats

from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Derived, Finding, Reading, Rule, not_comparable
from kernsemble.trials.evidence import Evidence, IncompleteEvidenceError, Sample
from kernsemble.trials.study import Study
from guo2017.trials import LARGE_SET, TABLE_SETS

# cells
PRINTED_RUNS = 10
FAMILIES = ("L1-ExRM", "L2-ExRM", "AdaTree", "BagTree", "DRM")
# The rows of table 1: family and number of bases.
ROWS = tuple((family, T) for T in (10, 30) for family in FAMILIES)


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
    """Average rank over the eight sets, with the error that ten trials of theirs and all of ours leave.

    It belongs to all runs together: the spread is that error itself, and the ledger counts one run.
    """
    errors = table_errors(study)
    place = ROWS.index(split_name(row))
    ten, all_of_them = (rank_deviation(errors, size)[place] for size in (PRINTED_RUNS, len(errors)))
    value = float(average_ranks(errors.mean(axis=0))[place])
    return Derived(value, float(np.hypot(ten, all_of_them)))


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


def training_seconds(study: Study, exhibit: str, row: str, column: str):
    """Seconds of other hardware and another language; the claims compare ratios."""
    evidence, method = study.evidence("table2"), column.replace(" ", "")
    values = evidence.array("fit_seconds", evidence.datasets, (method,)).mean(axis=(1, 2))
    ours = Sample(values, len(values))
    return not_comparable("seconds of other hardware and of Matlab; the ratios are judged by claim G6", ours)


def mean_error(study: Study, exhibit: str, row: str, column: str) -> Sample:
    """Test error averaged over the eight sets of table 1, run by run."""
    values = errors_of(study, [(row, int(column))]).mean(axis=(1, 2))
    return Sample(values, len(values))


reading = Reading(
    "guo2017",
    [
        *(
            Rule(
                "table1", f"{family}{{T}}", "{dataset}",
                evidence="table1_drm" if family == "DRM" else "table1", method=family, metric="error_{T}",
                spread="standard deviation", runs=PRINTED_RUNS,
            )
            for family in FAMILIES
        ),
        Rule("table1", column="A.R.", read=average_rank, spread=None, runs=None),
        Rule("table2", read=training_seconds, spread=None, runs=PRINTED_RUNS),
        Rule("table3", read=mean_error, spread=None, runs=PRINTED_RUNS),
    ],
)  # fmt: skip


# claims
ORDER = ("PSVM", "ExRM5", "ExRM10", "ExRM30")
GLOBAL = 1e-4  # relative gap up to which a solution may be called the global optimum
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
    """Three parts, for both p, on the mean curves of figure 1; all have to hold.

    Falls: lower at the largest lambda than at the smallest, and rank correlation with lambda below -0.7, for
    each machine. Training order: mean over lambda grows with the number of components. Test order: it falls.
    """
    train, test = ([curves_of(study, metric, p) for p in ("L1", "L2")] for metric in ("train_error", "error"))
    falls = all(_falls(curves.mean(axis=0)) for curves in train)
    rises = [_ordered(curves, 1.0) for curves in train]
    reverse = [_ordered(curves, -1.0) for curves in test]
    means = "; ".join(
        f"{p} test {', '.join(f'{value:.2f}' for value in curves.mean(axis=(0, 2)))}"
        for p, curves in zip(("L1", "L2"), test, strict=True)
    )
    note = (
        f"falls: {_yes(falls)}; training order L1 {_yes(rises[0])}, L2 {_yes(rises[1])}; reverse test order "
        f"L1 {_yes(reverse[0])}, L2 {_yes(reverse[1])}; mean over lambda of PSVM, 5, 10, 30: {means}"
    )
    paired = np.stack([*train, *test], axis=1)
    return Finding(
        falls and all(rises) and all(reverse), bootstrap_probability(paired, _all_of_figure1), note
    )


def _all_of_figure1(paired: np.ndarray) -> bool:
    train, test = paired[:, :2], paired[:, 2:]
    falls = all(_falls(train[:, k].mean(axis=0)) for k in range(2))
    return falls and all(_ordered(train[:, k], 1.0) and _ordered(test[:, k], -1.0) for k in range(2))


def _falls(means: np.ndarray) -> bool:
    """Whether each curve (machines x lambdas) falls."""
    steps = np.arange(means.shape[1])
    return all(c[-1] < c[0] and stats.spearmanr(steps, c).statistic < -0.7 for c in means)


def _ordered(curves: np.ndarray, direction: float) -> bool:
    """Whether the mean over runs and lambdas grows (or falls) along the machines."""
    return bool((direction * np.diff(curves.mean(axis=(0, 2))) > 0).all())


def _yes(held: bool) -> str:
    return "yes" if held else "no"


@reading.claim("G2")
def test_error_is_flat_in_lambda(study: Study) -> Finding:
    """Over lambda from 0.4 to 4 the mean test error of each ExRM of figure 1 moves by at most 2 points."""
    lambdas = np.array(study.protocol("figure1")["lambdas"])
    chosen = lambdas >= 0.4
    curves = np.concatenate([curves_of(study, "error", p)[:, 1:] for p in ("L1", "L2")], axis=1)[..., chosen]
    widest = _widest(curves)
    return Finding(
        widest <= 2.0,
        bootstrap_probability(curves, lambda resampled: _widest(resampled) <= 2.0),
        f"largest range of a mean test error over lambda in [0.4, 4]: {widest:.2f} points",
    )


def _widest(curves: np.ndarray) -> float:
    return float(np.ptp(curves.mean(axis=0), axis=-1).max())


@reading.claim("G3")
def iterations_to_convergence(study: Study) -> Finding:
    """On ijcnn1 the objective, scaled to [0, 1], stays within 0.01 of its end from iteration 15 to 45 on.

    That is for p = 2 and every number of components ("about 30", give or take half); for p = 1 from 35 to
    105 ("about 70").
    """
    evidence = study.evidence("convergence")
    parts, holds = [], True
    for p, low, high in (("L2", 15, 45), ("L1", 35, 105)):
        names = tuple(f"{p}-ExRM{C}" for C in (5, 10, 30))
        settled = evidence.array("settled", (LARGE_SET,), names).mean(axis=(0, 1))
        stops = evidence.array("n_iter", (LARGE_SET,), names).mean(axis=(0, 1))
        holds &= bool(((settled >= low) & (settled <= high)).all())
        shown = ", ".join(f"{s:.0f} ({n:.0f})" for s, n in zip(settled, stops, strict=True))
        parts.append(f"{p} settled (printed stop): {shown}")
    return Finding(holds, None, "; ".join(parts) + " for 5, 10, 30 components")


@reading.claim("G4")
def training_time_is_quasi_linear(study: Study) -> Finding:
    """Slope of log seconds over log N between 0.8 and 1.2 for each machine, and p costs less than a factor 2.

    The factor is the geometric mean over sizes and numbers of components of the seconds for p = 1 over those
    for p = 2; PSVM counts as one component.
    """
    evidence = study.evidence("scaling")
    sizes = [int(label.removeprefix("n=")) for label in evidence.datasets]
    if len(sizes) < 2:
        evidence.array("fit_seconds", ("n=2500", "n=5000"), ("L1-PSVM",))
    logs = {
        p: np.log(
            evidence.array("fit_seconds", evidence.datasets, tuple(f"{p}-{n}" for n in ORDER)).mean(axis=0)
        )
        for p in ("L1", "L2")
    }
    slopes = np.concatenate([np.polyfit(np.log(sizes), logs[p], 1)[0] for p in ("L1", "L2")])
    factor = float(np.exp((logs["L1"] - logs["L2"]).mean()))
    linear, alike = bool(((slopes >= 0.8) & (slopes <= 1.2)).all()), bool(0.5 <= factor <= 2.0)
    note = f"slopes {slopes.min():.2f} to {slopes.max():.2f}; p = 1 takes {factor:.2f} times as long as p = 2"
    return Finding(linear and alike, None, note)


@reading.claim("G5")
def exrm_ranks_first(study: Study) -> Finding:
    """An ExRM has the lowest mean error of table 1's ten rows on the four sets, and the average ranks agree.

    L2-ExRM30 has the lowest average rank and L2-ExRM10 the second lowest.
    """
    errors = table_errors(study)
    ranks = average_ranks(errors.mean(axis=0))
    order = [f"{family}{T}" for family, T in (ROWS[k] for k in np.argsort(ranks, kind="stable"))]
    won = _won_sets(errors)
    note = (
        f"an ExRM is best on {', '.join(won) or 'none'} of {', '.join(WON_SETS)}; lowest average ranks: "
        + ", ".join(f"{name} {rank:.1f}" for name, rank in zip(order[:4], np.sort(ranks), strict=False))
    )
    return Finding(_ranks_first(errors), bootstrap_probability(errors, _ranks_first), note)


def _won_sets(errors: np.ndarray) -> list[str]:
    means = errors.mean(axis=0)
    is_exrm = np.array(["ExRM" in family for family, _ in ROWS])
    sets = [TABLE_SETS.index(name) for name in WON_SETS]
    return [TABLE_SETS[k] for k in sets if means[k, is_exrm].min() < means[k, ~is_exrm].min()]


def _ranks_first(errors: np.ndarray) -> bool:
    ranks = average_ranks(errors.mean(axis=0))
    first, second = ROWS.index(("L2-ExRM", 30)), ROWS.index(("L2-ExRM", 10))
    others = np.delete(ranks, [first, second])
    return len(_won_sets(errors)) == 4 and ranks[first] < ranks[second] < others.min()


@reading.claim("G6")
def exrm_trains_fastest(study: Study) -> Finding:
    """Mean seconds over the sets: each ExRM below the tree ensembles of its size, DRM 100 times above."""
    evidence = study.evidence("table2")
    holds, parts = True, []
    for T in (10, 30):
        names = tuple(f"{family}{T}" for family in ("L1-ExRM", "L2-ExRM", "AdaTree", "BagTree", "DRM"))
        seconds = evidence.array("fit_seconds", evidence.datasets, names).mean(axis=(0, 1))
        slowest = seconds[:2].max()
        ratios = seconds[2:] / slowest
        holds &= bool((ratios[:2] > 1).all() and ratios[2] >= 100)
        parts.append(f"{T} bases: " + ", ".join(f"{r:.1f}" for r in ratios))
    note = "seconds of AdaTree, BagTree, DRM over those of the slower ExRM: " + "; ".join(parts)
    return Finding(holds, None, note)


FAMILIES3 = ("L1-ExRM", "L2-ExRM", "AdaSVM", "BagSVM", "DRM")


@reading.claim("G7")
def exrm_is_best_at_every_size(study: Study) -> Finding:
    """Mean error over the sets: an ExRM is lowest with 1, 5, 10 and 30 bases, and more bases help.

    More bases help when 5, 10 and 30 are each better than 1, for both p. With one base the rival is nu-SVM.
    """
    means = mean_errors(study)
    shown = "; ".join(
        f"{family} {', '.join(f'{value:.2f}' for value in row)}"
        for family, row in zip(FAMILIES3, means.mean(axis=0), strict=True)
    )
    return Finding(
        _best_everywhere(means),
        bootstrap_probability(means, _best_everywhere),
        f"means with 1, 5, 10, 30 bases: {shown}{_by_printed_solver(study)}",
    )


def _by_printed_solver(study: Study) -> str:
    """Return the means of AdaSVM and BagSVM when their machines come from the printed solver as well."""
    evidence = study.evidence("bases")
    names = ("AdaSVM, weights, printed solver", "BagSVM, votes, printed solver")
    if not evidence.complete or not set(names) <= set(evidence.methods):
        return ""
    errors = [evidence.array(f"error_{C}", methods=names).mean(axis=(0, 1)) for C in (5, 10, 30)]
    shown = [", ".join(f"{value:.2f}" for value in row) for row in np.transpose(errors)]
    return f". With machines from the printed solver AdaSVM {shown[0]}, BagSVM {shown[1]} (5, 10, 30 bases)"


def mean_errors(study: Study) -> np.ndarray:
    """Return table 3's errors, averaged over the sets (runs x families x numbers of bases)."""
    names = [(family, C) for C in (1, 5, 10, 30) for family in FAMILIES3]
    means = errors_of(study, names).mean(axis=1)
    return np.moveaxis(means.reshape(len(means), 4, len(FAMILIES3)), 1, 2)


def _best_everywhere(means: np.ndarray) -> bool:
    mean = means.mean(axis=0)
    best = mean[:2].min(axis=0)
    rivals = np.append(mean[4, 0], mean[2:, 1:].min(axis=0))
    helps = (mean[:2, 1:] < mean[:2, :1]).all()
    return bool((best < rivals).all() and helps)


@reading.claim("G8")
def printed_solver_reaches_the_optimum(study: Study) -> Finding:
    """With the printed penalty and a tight stop the relative gap is at most 1e-4 on every training set."""
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
    return Finding(bool(worst <= GLOBAL), None, "relative gaps, " + "; ".join(parts))


@reading.claim("G9")
def ensemble_loss_below_mean_loss(study: Study) -> Finding:
    """The ensemble's loss is at most the mean loss of its components, up to rounding, in every solution."""
    evidence = study.evidence("theorems")
    ratios = evidence.array("loss_ratio")
    return Finding(
        bool((ratios <= 1.0 + 1e-9).all()),
        None,
        f"ratio from {ratios.min():.6f} to {ratios.max():.6f} over {ratios.size} solutions",
    )


@reading.claim("G10")
def reweighting_solves_its_problem(study: Study) -> Finding:
    """From a start without zeros 20,000 rounds of Algorithm 1 come within 1e-3 of the minimizer of (8).

    This rule was changed after a first look (see the head of this module).
    """
    evidence = study.evidence("zeros")
    apart = evidence.array("exact_difference").max()
    stuck, undefined = (evidence.array(metric).mean() for metric in ("stuck", "undefined"))
    note = (
        f"rule changed after a first look; largest relative difference {apart:.1e}; with epsilon = 0 "
        f"{100 * stuck:.0f} % of the zeros that should move stay, and {100 * undefined:.0f} % of a row of "
        "zeros becomes nan"
    )
    return Finding(bool(apart <= 1e-3), None, note)


@reading.claim("G11")
def svm_ensembles_beat_drm(study: Study) -> Finding:
    """Mean error over the sets: AdaSVM and BagSVM below DRM with 5, 10 and 30 bases."""
    means = mean_errors(study)[:, 2:, 1:]
    return Finding(
        _beat_last(means),
        bootstrap_probability(means, _beat_last),
        "DRM minus AdaSVM, DRM minus BagSVM with 5, 10, 30 bases: "
        + ", ".join(f"{a:.2f}, {b:.2f}" for a, b in (means[:, 2:] - means[:, :2]).mean(axis=0).T),
    )


def _beat_last(means: np.ndarray) -> bool:
    mean = means.mean(axis=0)
    return bool((mean[:2] < mean[2]).all())


@reading.claim("G12")
def wrapping_improves_exrm(study: Study) -> Finding:
    """Mean error over the sets: bagged and boosted ExRM (ten components, ten rounds) both below ExRM."""
    evidence = study.evidence("wrapped")
    means = evidence.array("error", methods=("ExRM10", "Bag-ExRM10", "Ada-ExRM10")).mean(axis=1)
    shown = ", ".join(f"{value:.2f}" for value in means.mean(axis=0))
    return Finding(
        _both_lower(means), bootstrap_probability(means, _both_lower), f"ExRM, bagged, boosted: {shown}"
    )


def _both_lower(means: np.ndarray) -> bool:
    mean = means.mean(axis=0)
    return bool((mean[1:] < mean[0]).all())
