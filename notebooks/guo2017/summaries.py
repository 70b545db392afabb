"""Tables of guo2017 beyond the printed ones: other protocols, races, diversity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernsemble.report.comparisons import mean_and_spread, paired_p_value
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from guo2017.figures import printed_cells
from guo2017.trials import TABLE_SETS

MACHINES = {"L2_1": "L2-PSVM", "L2_10": "L2-ExRM10", "L1_1": "L1-PSVM", "L1_10": "L1-ExRM10"}
MEANS = {
    "L1_1": ("L1-ExRM", 1),
    "L1_10": ("L1-ExRM", 10),
    "L2_1": ("L2-ExRM", 1),
    "L2_10": ("L2-ExRM", 10),
    "AdaSVM_10": ("AdaSVM", 10),
    "BagSVM_10": ("BagSVM", 10),
}


def show_halves(study: Study) -> Table:
    """Return sonar's test errors at lambda = 2 by protocol, and how far they move along lambda."""
    evidence, lambdas = study.evidence("halves"), study.protocol("halves")["reading_lambdas"]
    place, flat = lambdas.index(2.0), [k for k, lam in enumerate(lambdas) if lam >= 0.4]
    rows = []
    for method in evidence.methods:
        curves = {m: evidence.curves(m, dataset="sonar", method=method) for m in MACHINES}
        cells = [_mean_cell(runs[:, place]) if len(runs) else Cell("") for runs in curves.values()]
        for metric in ("L2_10", "L1_10"):
            runs = curves[metric]
            cells.append(Cell(f"{np.ptp(runs.mean(axis=0)[flat]):.1f}" if len(runs) else ""))
        rows.append((Cell(method), *cells))
    header = ("sonar", *MACHINES.values(), "range, L2-ExRM10", "range, L1-ExRM10")
    caption = (
        f"{scale_note(study)}Test error in percent at lambda = 2, mean ± standard error; range: of the mean "
        "error over lambda in [0.4, 4], in points."
    )
    return _saved(study, Table(header, tuple(rows), caption), "halves")


def _mean_cell(values: np.ndarray) -> Cell:
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
    if error < 1e-9:  # the same number in each run
        return Cell(f"{values.mean():.2f}")
    return Cell(mean_and_spread(float(values.mean()), float(error)))


def _saved(study: Study, table: Table, name: str) -> Table:
    save_table(study, table, name)
    return table


def show_means(study: Study) -> Table:
    """Return mean errors over the sets by protocol, below what tables 1 and 3 print."""
    printed1, printed3 = (
        {(c.row, c.column): c.value for c in printed_cells(study, name)} for name in ("table1", "table3")
    )
    rows = [_printed_row("table 3, as printed", [printed3.get((f, str(C))) for f, C in MEANS.values()])]
    of_table1 = [_mean_of_table1(printed1, f"{family}{C}") for family, C in MEANS.values()]
    rows.append(_printed_row("table 1, mean of the printed cells", of_table1))
    evidence = study.evidence("means")
    rows += [(Cell(m), *(_mean_over_sets(evidence, metric, m) for metric in MEANS)) for m in evidence.methods]
    header = ("protocol", *(f"{family}{C}" for family, C in MEANS.values()))
    caption = (
        f"{scale_note(study)}Mean test error over {len(evidence.datasets)} sets in percent ± standard error, "
        "on the same splits."
    )
    return _saved(study, Table(header, tuple(rows), caption), "means")


def _printed_row(name: str, values: Sequence[float | None]) -> tuple[Cell, ...]:
    return Cell(name), *(Cell("" if value is None else f"{value:.2f}") for value in values)


def _mean_of_table1(printed: dict[tuple[str, str], float], row: str) -> float | None:
    values = [printed[row, label] for label in TABLE_SETS if (row, label) in printed]
    return float(np.mean(values)) if values else None


def _mean_over_sets(evidence: Evidence, metric: str, method: str) -> Cell:
    samples = [evidence.sample(metric, dataset=label, method=method) for label in evidence.datasets]
    if not samples or not all(sample.complete for sample in samples):
        return Cell("…")
    return _mean_cell(np.mean([sample.values for sample in samples], axis=0))


def show_race(study: Study) -> Table:
    """Return how many times longer each solver takes than the exact one: median, and least of the runs."""
    evidence = study.evidence("race")
    columns = [
        (p, name) for p in evidence.methods for name in ("over_printed", "over_two_blocks", "over_cvxpy")
    ]
    rows = []
    for label in evidence.datasets:
        cells = [_ratio_cell(evidence.sample(name, dataset=label, method=p).values) for p, name in columns]
        gaps = [evidence.sample("printed_gap", dataset=label, method=p).values for p in evidence.methods]
        rows.append((Cell(label), *cells, *(Cell(f"{g.mean():.1e}" if len(g) else "") for g in gaps)))
    header = (
        "seconds over those of the exact solver",
        *(f"{p}, {name.removeprefix('over_').replace('_', ' ')}" for p, name in columns),
        *(f"{p}, gap of printed" for p in evidence.methods),
    )
    caption = (
        f"{scale_note(study)}Median ratio of processor seconds (in brackets the least of the runs), ten "
        "components; all solvers of a run took turns on the same rows. cvxpy is asked for 1e-6, two blocks "
        "stops at 1e-6, the exact solver at 1e-9."
    )
    return _saved(study, Table(header, tuple(rows), caption), "race")


def _ratio_cell(values: np.ndarray) -> Cell:
    values = values[np.isfinite(values)]
    return Cell(f"{np.median(values):.3g} ({values.min():.3g})" if len(values) else "")


def show_diversity(study: Study) -> Table:
    """Return for each set the test error at the best lambda of each kind, and what the norm itself adds.

    The best lambda is that of the least mean test error: too kind to all, in the same way. The last two
    columns are paired differences, one norm minus apart; bold where a paired t-test rejects 0 at 5 %.
    """
    evidence = study.evidence("diversity")
    rows = []
    for label in evidence.datasets:
        best = {m: _at_best(evidence.curves("error", dataset=label, method=m)) for m in evidence.methods}
        cells = [_mean_cell(values) if len(values) else Cell("") for values in best.values()]
        for kind in ("columns", "rows"):
            one, apart = best.get(f"{kind}, one norm", ()), best.get(f"{kind}, apart", ())
            cells.append(_difference_cell(one, apart) if len(one) and len(one) == len(apart) else Cell(""))
        rows.append((Cell(label), *cells))
    header = (
        "test error at the best lambda",
        *evidence.methods,
        "columns: norm − apart",
        "rows: norm − apart",
    )
    caption = (
        f"{scale_note(study)}Percent, mean ± standard error; lambda by the least mean test error, for all "
        "alike. Last columns: one norm minus apart; bold: not 0 by a paired t-test at 5 %."
    )
    return _saved(study, Table(header, tuple(rows), caption), "diversity")


def _at_best(curves: np.ndarray) -> np.ndarray:
    """Errors of all runs at the grid point with the least mean."""
    return curves[:, int(np.argmin(curves.mean(axis=0)))] if len(curves) else np.empty(0)


def _difference_cell(first: np.ndarray, second: np.ndarray) -> Cell:
    """Mean difference with its sign and standard error, in hundredths."""
    difference = first - second
    error = difference.std(ddof=1) / len(difference) ** 0.5 if len(difference) > 1 else 0.0
    differs = len(first) > 1 and paired_p_value(first, second) < 0.05
    return Cell(f"{difference.mean():+.2f} ± {error:.2f}", bold=bool(differs))


def show_trees(study: Study) -> Table:
    """Return the test errors of AdaTree10 under each hypothesis, below the printed ones."""
    evidence = study.evidence("trees")
    printed = {(c.row, c.column): c.value for c in printed_cells(study, "table1")}
    rows = [_printed_row("as printed", [printed["AdaTree10", label] for label in evidence.datasets])]
    for method in evidence.methods:
        samples = [evidence.sample("Ada_10", dataset=label, method=method) for label in evidence.datasets]
        rows.append((Cell(method), *(_mean_cell(s.values) if len(s.values) else Cell("") for s in samples)))
    caption = f"{scale_note(study)}Test error of AdaTree10 in percent, mean ± standard error."
    return _saved(study, Table(("AdaTree10", *evidence.datasets), tuple(rows), caption), "trees")


def show_small(study: Study, exhibit: str, metric: str, save: str) -> Table:
    """Return means of a metric that spans many orders of magnitude: methods by sets, two digits."""
    evidence = study.evidence(exhibit)
    rows = []
    for method in evidence.methods:
        samples = [evidence.sample(metric, dataset=label, method=method) for label in evidence.datasets]
        rows.append((Cell(method), *(_scientific_cell(sample.values) for sample in samples)))
    status = f"{evidence.status}. ".capitalize() if evidence.status else ""
    caption = f"{scale_note(study)}{status}Mean of {metric} over the training sets (in brackets the largest)."
    return _saved(study, Table((exhibit, *evidence.datasets), tuple(rows), caption), save)


def _scientific_cell(values: np.ndarray) -> Cell:
    return Cell(f"{_small(values.mean())} ({_small(values.max())})" if len(values) else "")


def _small(value: float) -> str:
    """Two digits; what is rounding noise shows as 0."""
    return "0" if abs(value) < 1e-12 else f"{value:.1e}"
