"""The numbers that the article of guo2017 says, beside those of its claims: facts, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from kernsemble.data.store import load
from kernsemble.report.comparisons import bootstrap_probability
from kernsemble.report.ledger import Reading, Rule, judge_cell
from kernsemble.report.published import PrintedCell
from kernsemble.report.verdicts import Verdict
from kernsemble.report.words import joined, span
from kernsemble.trials.study import Study
from guo2017.claims import (
    FAMILIES3,
    ORDER,
    PRINTED_RUNS,
    ROWS,
    WAYS,
    average_ranks,
    best_errors_of,
    best_place,
    best_reading,
    errors_of,
    evidence_of,
    exact_reading,
    mean_errors,
    printed_cells,
    printed_means,
    printed_of,
    reading,
    split_name,
    table_errors,
)
from guo2017.theory import KINDS
from guo2017.trials import (
    BAGS,
    BASES,
    BOOSTS,
    LARGE_SET,
    LIBSVM_SPLICE,
    MISHAPS,
    SIZES_OF_TREES,
    STORED,
    TABLE_SETS,
)


def curve(study: Study, exhibit: str, metric: str, method: str, dataset: str = "sonar") -> np.ndarray:
    """Return the mean over runs of an array metric."""
    return np.mean(study.evidence(exhibit).runs(metric, dataset, method), axis=0)


@reading.facts(
    "figure1",
    *("within", "times", "gaps_small", "gap_large"),
    *("l1_single", "l1_several", "moves_others", "moves_last"),
)
def how_errors_go_with_lambda(study: Study) -> dict[str, float | str]:
    """Say how far curves of figure 1 move, and what the printed stop leaves on sonar.

    within: spread of the L1-ExRMs from lambda = 2 on.
    times: largest objective up to lambda = 0.4 over its optimum. l1: mean test errors from lambda = 1 on.
    moves_others, moves_last: from lambda = 1 on, of all ExRMs but L1-ExRM30, and of that one.
    Gaps: largest of all machines at lambda = 0.4, in units of the optimum, and at 2 for L2-PSVM, in percent.
    """
    lambdas = np.array(study.protocol("figure1")["lambdas"])
    l1, l2 = ([curve(study, "figure1", "error", f"{p}-{name}") for name in ORDER[1:]] for p in ("L1", "L2"))
    names = [f"{p}-{name}" for p in ("L1", "L2") for name in ORDER]
    at = {lam: int(np.flatnonzero(lambdas == lam)[0]) for lam in (0.4, 2.0)}
    gaps = {name: curve(study, "figure1", "gap", name) for name in names}
    above = lambdas >= 1.0
    single = curve(study, "figure1", "error", "L1-PSVM")[above].mean()
    from_one = [np.ptp(c[above]) for c in (*l2, *l1)]
    return {
        "l1_single": single,
        "l1_several": span([c[above].mean() for c in l1], ".1f"),
        "moves_others": max(from_one[:-1]),
        "moves_last": from_one[-1],
        "within": np.ptp(np.array(l1)[:, lambdas >= 2.0], axis=0).max(),
        "times": 1.0 + max(gap[lambdas <= 0.4].max() for gap in gaps.values()),
        "gaps_small": max(gap[at[0.4]] for gap in gaps.values()),
        "gap_large": 100.0 * gaps["L2-PSVM"][at[2.0]],
    }


@reading.facts(
    "halves",
    *("fewer_rows", "optimum_ten", "optimum_one", "range_less", "stratified_less", "averaged"),
    *("unscaled", "ten", "all", "deviation", "error_of_ten", "lead", "lead_exact", "flat_l2", "flat_l1"),
)
def what_moves_sonar(study: Study) -> dict[str, float | str]:
    """Compare the protocols on sonar at lambda = 2, in points; flat: ranges at the optimum from 0.4 on."""
    lambdas = np.array(study.protocol("halves")["reading_lambdas"])
    place = int(np.flatnonzero(lambdas == 2.0)[0])
    machines = ("L1_1", "L1_10", "L2_1", "L2_10")

    def at(method: str) -> np.ndarray:
        return np.array([curve(study, "halves", machine, method)[place] for machine in machines])

    half, exact = at("halves"), at("halves, exact")
    runs = np.array(study.evidence("halves").runs("L2_10", "sonar", "halves"))[:, place]
    flat = {m: np.ptp(curve(study, "halves", m, "halves, exact")[lambdas >= 0.4]) for m in machines}
    return {
        "fewer_rows": span(at("104 rows, test of 150") - at("150 rows"), ".1f"),
        "optimum_ten": span((half - exact)[[1, 3]], ".1f"),
        "optimum_one": span((half - exact)[[0, 2]], ".1f"),
        "range_less": span(half - at("halves, training range"), ".1f"),
        "stratified_less": (half - at("halves, stratified")).max(),
        "averaged": at("halves, mean loss").min(),
        "unscaled": (at("halves, unscaled") - half)[1],
        "ten": runs[:10].mean(),
        "all": runs.mean(),
        "deviation": runs.std(ddof=1),
        "error_of_ten": runs.std(ddof=1) / 10**0.5,
        "lead": half[2] - half[3],
        "lead_exact": exact[2] - exact[3],
        "flat_l2": flat["L2_10"],
        "flat_l1": flat["L1_10"],
    }


@reading.facts(
    "table1",
    *("exrm", "exrm_match", "exrm_match_ten", "german", "splice"),
    *("german_mean", "german_se", "german_z", "german_apart"),
    *("stop_sonar", "stop_diabetes"),
)
def how_table1_agrees(study: Study) -> dict[str, float | str]:
    """Count the cells of ExRM that agree, with all trials and with the first ten; and differences.

    stop: test error of L1-ExRM30 at the printed stop minus that at the optimum, in points.
    """
    table_errors(study)  # complete
    printed = [cell for cell in printed_cells(study, "table1") if cell.column != "A.R."]
    judged = {(cell.row, cell.column): judge_cell(cell, reading, study) for cell in printed}
    cells = [(cell.row, cell.column, cell.value) for cell in printed if "ExRM" in cell.row]
    ten = 0
    for row, label, value in cells:
        family, bases = split_name(row)
        ours = evidence_of(study, family).array(f"error_{bases}", (label,), (family,), PRINTED_RUNS).ravel()
        spread = float(judged[row, label].printed_spread)
        width = np.hypot(ours.std(ddof=1), spread) / PRINTED_RUNS**0.5
        ten += bool(abs(ours.mean() - value) <= 2.0 * width)
    apart = {(r, c): judged[r, c].ours - v for r, c, v in cells}
    # the four cells of german share their splits: one event, the mean of the four
    shared = errors_of(study, [("L1-ExRM", 10), ("L1-ExRM", 30), ("L2-ExRM", 10), ("L2-ExRM", 30)])
    of_german = shared[:, TABLE_SETS.index("german")].mean(axis=1)
    german = np.mean([v for (_, c), v in apart.items() if c == "german"])
    german_se = of_german.std(ddof=1) * np.hypot(PRINTED_RUNS**-0.5, len(of_german) ** -0.5)
    of_german_cells = [judged[r, c].verdict for r, c, _ in cells if c == "german"]
    stop = {
        f"stop_{label}": np.subtract(
            *(
                study.evidence("table1").array(m, (label,), ("L1-ExRM",)).mean()
                for m in ("error_30", "exact_30")
            )
        )
        for label in ("sonar", "diabetes")
    }
    return {
        "german_mean": german,
        "german_se": german_se,
        "german_z": german / german_se,
        "german_apart": sum(verdict != Verdict.MATCH for verdict in of_german_cells),
        **stop,
        "exrm": len(cells),
        "exrm_match": sum(judged[r, c].verdict == Verdict.MATCH for r, c, _ in cells),
        "exrm_match_ten": ten,
        "german": span([v for (_, c), v in apart.items() if c == "german"], ".1f"),
        "splice": span([-v for (_, c), v in apart.items() if c == "splice"], ".1f"),
    }


@reading.facts(
    "best",
    *("exrm", "exact", "drm", "drm_declared", "drm_of", "splice", "trees"),
    *("drm_apart", "first", "second", "first_rank", "second_rank", "best_of_table3"),
    *("optimum_only", "above", "g11", "g11_runs", "g11_differences", "half_match"),
)
def what_the_best_reading_gives(study: Study) -> dict[str, float | str]:
    """Count the cells of table 1 that agree, and compare table 3's order, under the best reading.

    exact: cells of ExRM that the optimum of (5) gives; optimum_only: where it gives that of L1-ExRM30 and the
    printed stop does not; drm_apart: where DRM does not agree; above: printed entries of table 3 minus ours;
    g11: probability of claim G11 over the runs that its rows share. half_match: DRM with LIBSVM's nu.
    """
    cells = [cell for cell in printed_cells(study, "table1") if cell.column != "A.R."]
    exrm, drm = ([c for c in cells if name in c.row] for name in ("ExRM", "DRM"))
    trees = [c for c in cells if "Tree" in c.row and c.column == "splice"]
    on_splice = [c for c in exrm if c.column == "splice"]

    def matches(some: Sequence[PrintedCell], by: Reading) -> int:
        return sum(judge_cell(cell, by, study).verdict == Verdict.MATCH for cell in some)

    half = Reading(
        "guo2017",
        [
            Rule(
                "table1", "DRM{T}", label, evidence="drm_plain", dataset=best_place("DRM", label)[1],
                method="nu = 0.5", metric="error_{T}", spread="standard deviation", runs=PRINTED_RUNS,
            )
            for label in TABLE_SETS
        ],
    )  # fmt: skip
    errors = best_errors_of(study, ROWS)
    ranks = average_ranks(errors.mean(axis=0))
    order = np.argsort(ranks, kind="stable")
    mean = best_means(study)
    above = printed_means(study)[0] - mean
    best = np.nanargmin(mean, axis=0)
    several = [(family, C) for family in FAMILIES3[2:] for C in BASES[1:]]
    rivals = best_errors_of(study, several).mean(axis=1).reshape(-1, 3, 3)  # runs x families x sizes
    judged = {c.column: judge_cell(c, best_reading, study) for c in drm if c.row == "DRM10"}
    apart = [label for label, row in judged.items() if row.verdict != Verdict.MATCH]
    optimum_only = [
        c.column
        for c in exrm
        if c.row == "L1-ExRM30" and matches([c], exact_reading) and not matches([c], best_reading)
    ]
    return {
        "exrm": matches(exrm, best_reading),
        "exact": matches(exrm, exact_reading),
        "drm": matches(drm, best_reading),
        "drm_declared": matches(drm, reading),
        "drm_of": len(drm),
        "splice": matches(on_splice, best_reading),
        "trees": matches(trees, best_reading),
        "drm_apart": joined(apart) or "none",
        "first": f"{ROWS[order[0]][0]}{ROWS[order[0]][1]}",
        "second": f"{ROWS[order[1]][0]}{ROWS[order[1]][1]}",
        "first_rank": ranks[order[0]],
        "second_rank": ranks[order[1]],
        "best_of_table3": joined(list(dict.fromkeys(FAMILIES3[k] for k in best))),
        "above": span(above[np.isfinite(above)], ".1f"),
        "g11": bootstrap_probability(rivals, lambda e: bool((e.mean(axis=0)[:2] < e.mean(axis=0)[2]).all())),
        "g11_runs": len(rivals),
        "g11_differences": ", ".join(f"{a:.2f} and {b:.2f}" for a, b in (mean[4] - mean[2:4])[:, 1:].T),
        "optimum_only": joined(optimum_only) or "none",
        "half_match": matches(drm, half),
    }


def best_means(study: Study) -> np.ndarray:
    """Return table 3 under the best reading (families x numbers of bases), as the table shows it.

    Each is the mean over all runs of its own row; nan where nothing is printed.
    """
    means = printed_means(study)[0]
    for k, C in zip(*np.nonzero(np.isfinite(means)), strict=True):
        means[k, C] = best_errors_of(study, [(FAMILIES3[k], BASES[C])]).mean()
    return means


@reading.facts("digits", "all", "apart")
def which_cells_are_means_of_ten(study: Study) -> dict[str, str]:
    """Say on which small sets all printed means are those of ten trials, and which cells are not.

    A mean of ten errors on n rows is a multiple of 1 / (10 n); splice has too many rows for the test.
    """
    sets = [label for label in TABLE_SETS if label not in ("splice", "german")]
    cells = [cell for cell in printed_cells(study, "table1") if cell.column in sets]
    apart = [cell for cell in cells if not _is_mean_of_ten(cell)]
    odd = {cell.column for cell in apart}
    return {
        "all": joined([label for label in sets if label not in odd]),
        "apart": joined([f"{cell.value:.2f} ({cell.row}, {cell.column})" for cell in apart]),
    }


def _is_mean_of_ten(cell: PrintedCell) -> bool:
    total = PRINTED_RUNS * (load(STORED.get(cell.column, cell.column)).n_samples - 150)
    near = round(cell.value * total / 100)
    return any(f"{100 * wrong / total:.2f}" == f"{cell.value:.2f}" for wrong in (near - 1, near, near + 1))


@reading.facts(
    "table3",
    *("above", "printed_solver_costs", "over_least", "over_most", "least_over", "most_over"),
    *("pooled_exrm", "pooled_drm", "ninth_exrm", "ninth_drm"),
)
def how_table3_compares(study: Study) -> dict[str, float | str]:
    """Compare table 3 as printed with ours and with the printed table 1; where and how far.

    pooled: mean of the printed cells of ten bases by test rows; ninth: the error that a ninth set would need.
    """
    first, third = printed_of(study, "table1"), printed_of(study, "table3")
    means = mean_errors(study).mean(axis=0)
    above = printed_means(study)[0] - means
    over = {
        f"{family}{C}": third[family, str(C)]
        - np.mean([first[f"{family}{C}", label] for label in TABLE_SETS])
        for family in ("L1-ExRM", "L2-ExRM", "DRM")
        for C in (10, 30)
    }
    tests = np.array([load(STORED.get(label, label)).n_samples - 150 for label in TABLE_SETS])
    cells = {name: np.array([first[name, label] for label in TABLE_SETS]) for name in ("L2-ExRM10", "DRM10")}
    bases = study.evidence("bases")
    costs = [
        np.subtract(
            *(
                bases.array(f"error_{C}", TABLE_SETS, (name,)).mean()
                for name in (f"{way}, printed solver", way)
            )
        )
        for C, way in product(BASES[1:], WAYS)
    ]
    pooled = {name: float(tests @ values / tests.sum()) for name, values in cells.items()}
    ninth = {n: 9.0 * third[n.removesuffix("10"), "10"] - values.sum() for n, values in cells.items()}
    return {
        "above": span(above[np.isfinite(above)]),
        "printed_solver_costs": span(costs, ".1f"),
        "over_least": min(over, key=over.get),
        "over_most": max(over, key=over.get),
        "least_over": min(over.values()),
        "most_over": max(over.values()),
        "pooled_exrm": pooled["L2-ExRM10"],
        "pooled_drm": pooled["DRM10"],
        "ninth_exrm": ninth["L2-ExRM10"],
        "ninth_drm": ninth["DRM10"],
    }


@reading.facts("means", "others", "rows", "half_least", "above_75", "below_100", "svm_lack", "drm_lacks")
def what_moves_the_means(study: Study) -> dict[str, float | str]:
    """Compare the readings of table 3's means with the printed entries, in points, with LIBSVM's splice.

    svm_lack: what AdaSVM and BagSVM lack with 100 rows.
    """
    evidence, splice, third = study.evidence("means"), study.evidence("libsvm"), printed_of(study, "table3")
    exrm = {f"{p}_{C}": (f"{p}-ExRM", str(C)) for p in ("L1", "L2") for C in (1, 10)}

    def mean(metric: str, method: str) -> float:
        others = [label for label in TABLE_SETS if label != "splice"]
        seven = evidence.array(metric, others, (method,)).mean() * len(others)
        return float(seven + splice.array(metric, (LIBSVM_SPLICE,), (method,)).mean()) / len(TABLE_SETS)

    def over_printed(method: str) -> list[float]:
        return [mean(metric, method) - third[place] for metric, place in exrm.items()]

    still = ("stratified", "training range", "unscaled", "lambda = 0.5", "lambda = 8", "exact")
    moved = [mean(metric, name) - mean(metric, "as chosen") for metric in exrm for name in still]
    six = [*exrm, "AdaSVM_10", "BagSVM_10"]
    rows, half = (
        [mean(metric, name) - mean(metric, "as chosen") for metric in six]
        for name in ("100 rows", "lambda = 0.5")
    )
    lack = [third[family, "10"] - mean(f"{family}_10", "100 rows") for family in ("AdaSVM", "BagSVM")]
    drm = third["DRM", "10"] - best_errors_of(study, [("DRM", 10)]).mean()
    return {
        "others": span(moved, ".1f"),
        "rows": span(rows, ".1f"),
        "half_least": min(half),
        "above_75": span(over_printed("75 rows"), ".1f"),
        "below_100": span(over_printed("100 rows"), ".1f"),
        "svm_lack": span(lack, ".1f"),
        "drm_lacks": drm,
    }


@reading.facts("details", "most")
def what_unprinted_details_move(study: Study) -> dict[str, float]:
    """Return how far a detail moves the mean error of a set at most, in points."""
    errors = [study.evidence("details").array(f"{p}_10", TABLE_SETS).mean(axis=0) for p in ("L1", "L2")]
    return {"most": float(max(np.abs(some - some[:, :1]).max() for some in errors))}


@reading.facts("bases", "resampling", "resampling_splice", "solver", "solver_elsewhere", "counting")
def what_moves_bags_and_boosts(study: Study) -> dict[str, float | str]:
    """Return changes in points with ten bases: resampling, the printed solver, mean scores."""
    evidence = study.evidence("bases")
    error = {m: evidence.array("error_10", TABLE_SETS, (m,)).mean(axis=(0, 2)) for m in (*BOOSTS, *BAGS)}
    resampled = error["AdaSVM, resampling"] - error["AdaSVM, weights"]
    four = [TABLE_SETS.index(label) for label in ("german", "diabetes", "australian", "heart")]
    hard = [TABLE_SETS.index(label) for label in ("sonar", "splice", "ionosphere")]
    ways = ("AdaSVM, weights", "BagSVM, votes")
    solver = np.array([error[f"{way}, printed solver"] - error[way] for way in ways])
    return {
        "resampling": span(resampled[four], ".1f"),
        "resampling_splice": resampled[TABLE_SETS.index("splice")],
        "solver": solver[:, hard].max(),
        "solver_elsewhere": np.abs(np.delete(solver, hard, axis=1)).max(),
        "counting": np.abs(error["BagSVM, mean score"] - error["BagSVM, votes"]).max(),
    }


ODD_SETS = ("australian", "liver", "heart", "ionosphere")
TREE_ROWS = {"Ada_10": "AdaTree10", "Ada_30": "AdaTree30", "Bag_10": "BagTree10", "Bag_30": "BagTree30"}


def tree_distance(study: Study, name: str, labels: Sequence[str], ensemble: str) -> float:
    """Root mean square difference from the printed trees over sets and both sizes, in points; nan without."""
    evidence, printed = study.evidence("trees"), printed_of(study, "table1")
    differences = [
        evidence.sample(metric, dataset=label, method=name).mean - printed[row, label]
        for label in labels
        for metric, row in TREE_ROWS.items()
        if metric.startswith(ensemble)
    ]
    return float(np.sqrt(np.mean(np.square(differences)))) if differences else float("nan")


@reading.facts("trees", "hypotheses", "usual", "usual_odd", "guessing_odd", "guessing_others", "sizes")
def how_far_trees_are(study: Study) -> dict[str, float | str]:
    """Return distances of hypotheses from the printed trees, in points, on the odd sets and on the others.

    sizes: the largest difference that the size of the trees makes on a set of the others.
    """
    evidence = study.evidence("trees")
    others = [label for label in TABLE_SETS if label not in ODD_SETS]
    methods = tuple(SIZES_OF_TREES)
    means = np.array([evidence.array(m, others, methods).mean(axis=0) for m in TREE_ROWS])

    def distances(names: Iterable[str], labels: Sequence[str]) -> list[float]:
        for label in labels:
            for name in names:
                evidence.require(label, name)
        return [tree_distance(study, name, labels, ensemble) for name in names for ensemble in ("Ada", "Bag")]

    guesses = ("labels shuffled", "labels sorted")
    return {
        "hypotheses": len(methods) + len(MISHAPS) + 2,
        "usual": span(distances(methods, others)),
        "usual_odd": span(distances(methods, ODD_SETS)),
        "guessing_odd": span(distances(guesses, ODD_SETS)),
        "guessing_others": min(distances(guesses, others)),
        "sizes": np.ptp(means, axis=2).max(),
    }


@reading.facts(
    "theorems",
    *("easy", "easy_single", "sonar", "sonar_random", "slow", "fixed", "two_blocks", "spread", "distance"),
    *("example_gap", "example_distance", "tight", "tight_runs", "tight_reached", "together"),
)
def how_far_from_the_optimum(study: Study) -> dict[str, float | str]:
    """Return relative gaps (in percent where said so) of Algorithm 2 and its variants on the training sets.

    easy: means of the printed stop on diabetes and heart, single training sets; spread, distance: of the
    two-block method with p = 1; example: the largest distance; together: spread from the printed start.
    """
    evidence = study.evidence("theorems")
    labels = ("diabetes", "heart", "sonar")

    def gaps(*variants: str, metric: str = "gap", p: Sequence[str] = ("L1", "L2")) -> np.ndarray:
        return evidence.array(metric, labels, [f"{q} {name}" for name in variants for q in p])

    printed, tight = gaps("printed"), gaps("tight stop")
    apart = gaps("printed", metric="distance").ravel()
    return {
        "easy": span(100.0 * printed[:, :2].mean(axis=0).ravel(), ".2g"),
        "easy_single": span(100.0 * printed[:, :2].ravel(), ".2g"),
        "sonar": span(100.0 * printed[:, 2].ravel(), ".2g"),
        "sonar_random": 100.0 * gaps("random start")[:, 2].mean(axis=0).max(),
        "slow": gaps("rho = 1.01, tight stop").max(),
        "fixed": gaps("fixed mu, tight stop").max(),
        "two_blocks": gaps("two blocks").max(),
        "spread": gaps("two blocks", metric="spread", p=("L1",)).max(),
        "distance": gaps("two blocks", metric="distance", p=("L1",)).max(),
        "example_gap": 100.0 * printed.ravel()[apart.argmax()],
        "example_distance": 100.0 * apart.max(),
        "tight": f"{tight.min():.0e} to {tight.max():.2g}",
        "tight_runs": tight.size,
        "tight_reached": int((tight <= 1e-6).sum()),
        "together": gaps("printed", "tight stop", metric="spread").max(),
    }


@reading.facts("race", "cvxpy", "cvxpy_l1", "cvxpy_l2", "printed", "printed_large", "gaps", "two_blocks")
def who_wins_the_race(study: Study) -> dict[str, float | str]:
    """Return how many times as long as the exact solver the others take: the least of runs, and medians."""
    evidence = study.evidence("race")
    small = [label for label in evidence.datasets if label != LARGE_SET]

    def ratios(name: str, labels: Sequence[str] = small) -> np.ndarray:
        return evidence.array(f"over_{name}", labels, ("L1", "L2"))

    medians = np.median(ratios("cvxpy"), axis=0)
    gaps = 100.0 * evidence.array("printed_gap", (*small, LARGE_SET), ("L1", "L2")).mean(axis=0)
    return {
        "cvxpy": ratios("cvxpy").min(),
        "cvxpy_l1": span(medians[:, 0]),
        "cvxpy_l2": span(medians[:, 1]),
        "printed": span(np.median(ratios("printed"), axis=0).ravel()),
        "printed_large": span(np.median(ratios("printed", [LARGE_SET]), axis=0).ravel()),
        "gaps": span(gaps.ravel(), ".2g"),
        "two_blocks": span(np.median(ratios("two_blocks"), axis=0).ravel()),
    }


@reading.facts(
    "diversity",
    *("apart_first", "norm_first", "apart_last", "norm_last", "plain_wins", "plain", "rows", "columns"),
    *("ionosphere", "liver", "norm", "splice_columns", "splice_rows", "liver_norm"),
)
def what_diversity_does(study: Study) -> dict[str, float | str]:
    """Return overlaps on sonar with own rows, errors at the best lambda over sets, and what the norm adds."""
    best = {(d, m): curve(study, "diversity", "error", m, d).min() for d in TABLE_SETS for m in KINDS}
    apart, norm = (
        curve(study, "diversity", "exclusivity", f"rows, {name}") for name in ("apart", "one norm")
    )
    mean = {m: float(np.mean([best[d, m] for d in TABLE_SETS])) for m in KINDS}
    added = {
        (d, kind): best[d, f"{kind}, one norm"] - best[d, f"{kind}, apart"]
        for d in TABLE_SETS
        for kind in ("columns", "rows")
    }
    wins = sum(best[d, "plain"] <= min(best[d, m] for m in KINDS) for d in TABLE_SETS)
    own_columns = min(best["ionosphere", m] for m in KINDS if m.startswith("columns"))
    return {
        "apart_first": apart[0],
        "norm_first": norm[0],
        "apart_last": apart[-1],
        "norm_last": norm[-1],
        "plain_wins": wins,
        "plain": mean["plain"],
        "rows": span([v for m, v in mean.items() if m.startswith("rows")], ".1f"),
        "columns": span([v for m, v in mean.items() if m.startswith("columns")], ".1f"),
        "ionosphere": best["ionosphere", "plain"] - own_columns,
        "liver": best["liver", "plain"] - best["liver", "rows, apart"],
        "norm": max(abs(v) for (d, _), v in added.items() if d not in ("splice", "liver")),
        "splice_columns": -added["splice", "columns"],
        "splice_rows": added["splice", "rows"],
        "liver_norm": max(added["liver", kind] for kind in ("columns", "rows")),
    }


@reading.facts("modern", "chosen", "fixed")
def what_choosing_lambda_gives(study: Study) -> dict[str, float]:
    """Return mean errors over sets: the machine with lambda chosen, and the better L2-ExRM at lambda = 2."""
    chosen = study.evidence("modern").array("error", TABLE_SETS, ("L2-PSVM, lambda chosen",))
    fixed = errors_of(study, [("L2-ExRM", 10), ("L2-ExRM", 30)])[: len(chosen)]
    return {"chosen": chosen.mean(), "fixed": fixed.mean(axis=(0, 1)).min()}
