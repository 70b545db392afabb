"""The drawings of bi2004's evidence, and two tables of table 2's rates at other offsets and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.report.comparisons import mean_and_spread
from kernsemble.report.figures import PALETTE, draw_band, draw_error_bars, subplots
from kernsemble.report.tables import Cell, Table, save_table, scale_note
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from bi2004.claims import MIXTURE, iterations
from bi2004.facts import (
    LARGE,
    LIMIT,
    LOSS_NAMES,
    RATES,
    RULE_NAMES,
    distances,
    printed_numbers,
)
from bi2004.search import BEST_C, BEST_FORMS, solved_row
from bi2004.trials import (
    CHOICES,
    FIGURE4_CS,
    NORMS,
    SMALL_CHOICES,
    SMALL_SETS,
    columns_by_kernel,
)

Surface = Callable[[np.ndarray], np.ndarray]
_GRID = 60
MODEL_COLORS = dict(zip(SMALL_CHOICES, PALETTE, strict=False))


def _add_legend(axes: Axes, **look: object) -> None:
    """Name what is drawn; nothing may be, where evidence is missing."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**look)


def draw_run(study: Study, label: str = "Digits") -> Figure:
    """Draw errors along one run of the mixture (trial 0), with the places where rules stop it: figure 2."""
    evidence = study.evidence(LARGE[label])
    figure, axes = subplots(size=(6.4, 3.8))
    there = evidence.runs("curve_rounds", label, MIXTURE, partial=True)
    if not there:
        return figure
    rounds = there[0]
    for name, color in (("train", PALETTE[2]), ("validation", PALETTE[4]), ("test", PALETTE[0])):
        (curve, *_) = evidence.runs(f"curve_{name}", label, MIXTURE, partial=True)
        axes.plot(rounds, curve, label=name, color=color)
    for stop, marker, shown in (("TR1", "*", "TR1"), ("TR3", "P", "TR3"), ("end", "X", "end: the limit")):
        at, error = (
            evidence.sample(f"{metric}_{stop}", dataset=label, method=MIXTURE).values[0]
            for metric in ("rounds", "error")
        )
        axes.plot(at, error, marker, color="black", markersize=9, linestyle="none", label=shown)
    optimum = evidence.sample("optimum_error", dataset=label, method=MIXTURE).values[0]
    axes.axhline(optimum, color=PALETTE[0], linestyle=":", linewidth=1, label="test, optimum")
    axes.set(xlabel="columns", ylabel="error (%)", title=f"{label}: one run of the mixture")
    _add_legend(axes, ncols=2)
    return figure


def draw_stratified(study: Study) -> Figure:
    """Draw the stratified and the regular run: error and objective against columns (figure 3)."""
    figure, axes = subplots(2, len(LARGE), size=(8.6, 5.6), sharex=True, squeeze=False)
    for column, (label, exhibit) in zip(axes.T, LARGE.items(), strict=True):
        pairs = (
            ("stratified", study.evidence(exhibit), MIXTURE),
            ("regular", study.evidence("figure3"), "regular"),
        )
        ends = study.evidence("figure3").runs("curve_objective", label, "regular", partial=True)
        units = [path[-1] for path in ends]
        for (name, evidence, method), color in zip(pairs, PALETTE, strict=False):
            _draw_mean(column[0], evidence, "curve_validation", (label, method), name, color)
            _draw_mean(column[1], evidence, "curve_objective", (label, method), name, color, units)
        column[0].set(title=label, ylabel="validation error (%)")
        column[1].set(xlabel="columns", ylabel="objective / end of regular run", yscale="log")
        low, high = column[1].get_ylim()
        ticks = [tick for tick in (1, 1.2, 1.5, 2, 3, 5, 10, 20) if low <= tick <= high]
        column[1].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        column[1].minorticks_off()
        _add_legend(column[0])
    return figure


def _draw_mean(
    axes: Axes,
    evidence: Evidence,
    metric: str,
    place: tuple[str, str],
    name: str,
    color: str,
    units: Sequence[float] | None = None,
    **look: object,
) -> None:
    """Draw the mean over runs of a curve, each in its unit, on the grid of rounds of the longest."""
    rounds = evidence.runs("curve_rounds", *place, partial=True)
    values = evidence.runs(metric, *place, partial=True)
    if units is not None:
        values = [value / unit for value, unit in zip(values, units, strict=False)]
        rounds = rounds[: len(values)]
    if not rounds:
        return
    grid = max(rounds, key=lambda some: some[-1])
    curves = np.array([np.interp(grid, t, v) for t, v in zip(rounds, values, strict=True)])
    draw_band(axes, grid, curves, name, color=color, **look)


def draw_improper(study: Study) -> Figure:
    """Draw validation error along the runs for several C: figure 4."""
    evidence = study.evidence("figure4")
    labels = [label for label in LARGE if label in evidence.datasets]
    figure, axes = subplots(1, max(1, len(labels)), size=(8.6, 3.4), squeeze=False)
    for panel, label in zip(axes[0], labels, strict=False):
        for C, color in zip(FIGURE4_CS, PALETTE, strict=False):
            place = (label, f"C = {C:g}")
            _draw_mean(panel, evidence, "curve_validation", place, f"C = {C:g}", color)
            _draw_mean(panel, evidence, "curve_train", place, "_", color, linestyle=":")
        panel.set(title=label, xlabel="columns", ylabel="error (%)")
    _add_legend(axes[0, 0], title="solid: validation, dotted: training", fontsize=7, title_fontsize=7)
    return figure


def draw_growth(study: Study) -> Figure:
    """Draw iterations against the number of examples for all readings, with the printed ones: table 5."""
    evidence, values = study.evidence("table5"), study.protocol("table5")
    sizes = [float(label.removeprefix("n=")) for label in evidence.datasets]
    figure, axes = subplots(1, 2, size=(8.6, 3.4), sharey=True)
    looks = zip(evidence.methods, PALETTE, ("-", "-", "--"), ("o", "o", "x"), strict=False)
    for method, color, line, marker in looks:
        runs = [iterations(study, label, method) for label in evidence.datasets]
        _draw_growth_line(axes[0], sizes, runs, method, color=color, linestyle=line, marker=marker)
    # The chosen patience has the color that it has on the left.
    others = iter((PALETTE[3], PALETTE[4], PALETTE[5]))
    for patience in values["patiences"]:
        color = PALETTE[0] if patience == values["patience"] else next(others, PALETTE[7])
        runs = [iterations(study, label, "C fixed", patience) for label in evidence.datasets]
        _draw_growth_line(axes[1], sizes, runs, f"patience {patience}", color=color)
    axes[0].set_title(f"three readings, patience {values['patience']}")
    axes[1].set_title("C fixed")
    for panel in axes:
        panel.plot((1000, 2000, 5000, 10000), (253, 302, 520, 613), "k^--", label="printed", linewidth=1)
        panel.set(xscale="log", yscale="log", xlabel="training examples")
        panel.set_xticks(sizes or [1000], [f"{size:g}" for size in sizes or [1000]])
        panel.set_yticks([50, 100, 200, 400, 800], ["50", "100", "200", "400", "800"])
        panel.minorticks_off()
        _add_legend(panel, fontsize=7)
    axes[0].set_ylabel("iterations")
    return figure


def _draw_growth_line(
    axes: Axes, sizes: list[float], runs: list[np.ndarray], name: str, **look: object
) -> None:
    there = [(size, some) for size, some in zip(sizes, runs, strict=True) if len(some)]
    if there:
        shared = min(len(some) for _, some in there)
        values = np.column_stack([some[:shared] for _, some in there])
        draw_error_bars(axes, np.array([size for size, _ in there]), values, name, markersize=4, **look)


def draw_levels(study: Study) -> Figure:
    """Draw RBF columns and errors of composite and mixture against how far the run went."""
    evidence, excesses = study.evidence("levels"), study.protocol("levels")["excesses"]
    figure, axes = subplots(2, max(1, len(evidence.datasets)), size=(11, 4.8), sharex=True, squeeze=False)
    places = np.arange(len(excesses))
    for column, label in zip(axes.T, evidence.datasets, strict=False):
        for panel, metric in zip(column, ("rbf", "error"), strict=True):
            for method in evidence.methods:
                curves = evidence.curves(metric, dataset=label, method=method)
                if len(curves) > 1:
                    look = {"color": MODEL_COLORS[method], "markersize": 4}
                    draw_error_bars(panel, places, curves, method, **look)
        column[0].set(title=label, ylim=(0, None))
        column[1].set_xlabel("objective above the end (%)")
        column[1].set_xticks(places, [f"{100 * excess:g}" for excess in excesses])
    axes[0, 0].set_ylabel("RBF columns")
    axes[1, 0].set_ylabel("test error (% or rmse)")
    _add_legend(axes[0, -1], fontsize=7)
    return figure


BLOCK_LIMITS = {"Forest": 26.5, "Digits": 23.0}  # test errors beyond which a printed one is an arrow


def draw_blocks(study: Study) -> Figure:
    """Draw test errors of the seven kernel choices in the four blocks of tables 3 and 4, with the printed."""
    printed = printed_numbers(study, *LARGE.values())
    figure, axes = subplots(2, 2, size=(8.6, 5.4), sharex="col", sharey=True)
    for column, (label, exhibit) in zip(axes.T, LARGE.items(), strict=True):
        for panel, norm in zip(column, NORMS, strict=True):
            _draw_block(panel, study, label, norm)
            theirs = [printed[exhibit, f"{norm}/{name}", "R_tst"] for name in CHOICES]
            _draw_printed(panel, theirs, BLOCK_LIMITS[label])
            panel.set(title=f"{label}, {norm}", yticks=range(len(CHOICES)), yticklabels=list(CHOICES))
        column[-1].set_xlabel("test error (%)")
    axes[0, 0].invert_yaxis()
    _add_legend(axes[0, 0], fontsize=7)
    return figure


def _draw_printed(axes: Axes, values: Sequence[float], limit: float) -> None:
    """Draw printed errors as bars; one beyond the limit is an arrow at the limit, with its number."""
    rows = range(len(values))
    near = [(value, row) for value, row in zip(values, rows, strict=True) if value <= limit]
    axes.plot(*zip(*near, strict=True), "k|", markersize=11, label="printed")
    for value, row in zip(values, rows, strict=True):
        if value > limit:
            axes.plot(limit, row, "k>", markersize=4)
            look = {"textcoords": "offset points", "xytext": (-6, 0), "ha": "right", "va": "center"}
            axes.annotate(f"{value:g}", (limit, row), fontsize=7, **look)


def _draw_block(axes: Axes, study: Study, label: str, norm: str) -> None:
    """Draw our errors of a block: at the end of runs, of complete solutions, and by the best reading."""
    exhibit, searched = study.evidence(LARGE[label]), study.evidence("search")
    looks = {"end of run": ("o", -0.2), "complete": ("D", 0.2), "best reading": ("s", 0.0)}
    for row, name in enumerate(CHOICES):
        samples = {"end of run": exhibit.sample("error_end", dataset=label, method=f"{norm}/{name}").values}
        if norm == "2-norm":
            solved = exhibit.sample("optimum_error", dataset=label, method=f"{norm}/{name}")
            samples["complete"] = solved.values
        if label == "Forest":
            samples["best reading"] = _best_errors(study, searched, norm, name)
        for shown, values in samples.items():
            marker, lower = looks[shown]
            if len(values):
                spread = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
                look = {"color": COLORS_OF_ENDS[shown], "markersize": 4, "label": "_" if row else shown}
                axes.errorbar(np.mean(values), row + lower, xerr=spread, fmt=marker, **look)


COLORS_OF_ENDS = dict(zip(("end of run", "best reading", "complete"), PALETTE, strict=False))


def _best_errors(study: Study, evidence: Evidence, norm: str, choice: str) -> np.ndarray:
    """Test errors of a row by the best reading; none where the scale has none."""
    rows = evidence.runs("test", "Forest", solved_row(norm, choice, *BEST_FORMS), partial=True)
    at = study.protocol("search")["search_Cs"]["Forest"].index(BEST_C) if rows else 0
    return np.array([row[at] for row in rows])


def show_gaps(study: Study) -> Table:
    """Return the certified gap at the end of each row's runs, its test error, and that of the optimum."""
    places = [(exhibit, label) for label, exhibit in LARGE.items()]
    rows = []
    for method in (f"{norm}/{name}" for norm in NORMS for name in CHOICES):
        cells = []
        for exhibit, label in places:
            evidence = study.evidence(exhibit)
            gap, end = (evidence.sample(m, dataset=label, method=method) for m in ("gap", "error_end"))
            solved = (
                evidence.sample("optimum_error", dataset=label, method=method) if method[0] == "2" else None
            )
            percent = 100.0 * gap.mean
            cells.append(Cell(f"{percent:{'.1f' if percent < 10 else '.0f'}}" if len(gap.values) else ""))
            cells.append(_percent(end.values))
            cells.append(_percent(solved.values if solved else ()))
        rows.append((Cell(method), *cells))
    header = ("run", *(f"{label}, {what}" for _, label in places for what in ("gap", "error", "optimum")))
    caption = (
        f"{scale_note(study)}Percent, mean over draws ± standard error. Gap: to the optimum of all columns, "
        "in units of the objective, at the end of the run. Optimum: the complete solution (2-norm only)."
    )
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "gaps")
    return table


def _percent(values: np.ndarray | tuple) -> Cell:
    if len(values) < 2:
        return Cell(f"{values[0]:.2f}" if len(values) else "")
    return Cell(
        mean_and_spread(float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5), 2)
    )


def draw_modern(study: Study) -> Figure:
    """Draw test error against the operations of one prediction."""
    evidence = study.evidence("modern")
    figure, axes = subplots(1, len(LARGE), size=(8.6, 3.4), squeeze=False)
    for panel, label in zip(axes[0], LARGE, strict=True):
        for method, color, marker in zip(evidence.methods, PALETTE, "oDs^v", strict=False):
            error, cost = (
                evidence.sample(metric, dataset=label, method=method) for metric in ("error", "operations")
            )
            if len(error.values):
                spread = error.se if len(error.values) > 1 else 0.0
                panel.errorbar(cost.mean, error.mean, yerr=spread, fmt=marker, color=color, label=method)
        panel.set(xscale="log", xlabel="operations per prediction", ylabel="test error (%)", title=label)
    _add_legend(axes[0, 0], fontsize=7)
    return figure


def show_readings(study: Study) -> Table:
    """Return for each reading how many printed rates it matches, and how far from them it is on average.

    A rate matches as in the ledger: our deviation over repetitions stands for that of the single printed
    cross-validation.
    """
    rows = []
    for key, name in (LOSS_NAMES | RULE_NAMES).items():
        found = [distances(study, key, label) for label in SMALL_SETS]
        rows.append((Cell(name), *map(_counted, found), _counted(np.concatenate(found))))
    late = {name: study.evidence(name).status for name in ("offset", "undersampled", "thresholds")}
    status = "; ".join(f"{name} {text}" for name, text in late.items() if text)
    caption = (
        f"{scale_note(study)}{f'{status}. ' if status else ''}Printed rates that match (|z| <= {LIMIT:g}); "
        "mean distance from them in points. Eight rates a set: four machines, false positives and negatives."
    )
    table = Table(("reading", *SMALL_SETS, "all"), tuple(rows), caption)
    save_table(study, table, "offset_readings")
    return table


def _counted(found: np.ndarray) -> Cell:
    if not len(found):
        return Cell("")
    matched = int((np.abs(found[:, 0]) <= LIMIT).sum())
    return Cell(f"{matched} of {len(found)}; {np.abs(found[:, 1]).mean():.1f}")


def draw_thresholds(study: Study) -> Figure:
    """Draw the ROC curves of table 2's machines, where their own offset puts them, and the printed rates."""
    evidence, printed = study.evidence("thresholds"), printed_numbers(study, "table2")
    figure, axes = subplots(1, max(1, len(evidence.datasets)), size=(11, 3.6), squeeze=False)
    for panel, label in zip(axes[0], evidence.datasets, strict=False):
        for name, color in MODEL_COLORS.items():
            _draw_machine(panel, study, label, name, color)
            theirs = [printed["table2", f"{label}/{name}", f"{rate}_tst"] for rate in RATES]
            panel.plot(*theirs, "x", color=color, markersize=8, markeredgewidth=2)
        right, top = (
            max(printed["table2", f"{label}/{name}", f"{rate}_tst"] for name in SMALL_CHOICES)
            for rate in RATES
        )
        panel.set(title=label, xlabel="false positives (%)", xlim=(0, 1.4 * right), ylim=(0, 2.0 * top))
    axes[0, 0].set_ylabel("false negatives (%)")
    axes[0, 0].plot([], [], "ko", label="as solved")
    axes[0, 0].plot([], [], "kx", label="printed", markersize=8, markeredgewidth=2)
    axes[0, 0].legend(fontsize=7)
    return figure


def _draw_machine(axes: Axes, study: Study, label: str, name: str, color: str) -> None:
    evidence, levels = study.evidence("thresholds"), study.protocol("thresholds")["roc_levels"]
    curves = evidence.curves("missed", dataset=label, method=name)
    if not len(curves):
        return
    mean = curves.mean(axis=0)
    axes.plot(levels, mean, color=color, label=name)
    if len(curves) > 1:
        deviation = curves.std(axis=0, ddof=1)
        axes.fill_between(levels, mean - deviation, mean + deviation, color=color, alpha=0.12, linewidth=0)
    solved = [evidence.sample(f"{r}_solved", dataset=label, method=name).mean for r in RATES]
    axes.plot(*solved, "o", color=color, markersize=6)


def draw_toy(target: Surface, X: np.ndarray, models: Mapping[str, CGBoostRegressor]) -> Figure:
    """Draw the target with its training points, then models of it with the centers of their RBF columns."""
    axis = np.linspace(-1, 1, _GRID)
    points = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    surfaces = {"target": target(points)} | {name: model.predict(points) for name, model in models.items()}
    figure, axes = subplots(1, len(surfaces), size=(11, 2.7), sharey=True)
    for panel, (name, values) in zip(axes, surfaces.items(), strict=True):
        look = {"levels": np.linspace(-3.5, 3.5, 15), "cmap": "RdBu_r", "extend": "both"}
        filled = panel.contourf(axis, axis, values.reshape(_GRID, _GRID), **look)
        filled.set_rasterized(True)
        panel.set(title=name, aspect="equal", xlim=(-1, 1), ylim=(-1, 1), xlabel="$x_1$")
        panel.grid(visible=False)
        if name == "target":
            panel.plot(*X.T, "k.", markersize=3)
        else:
            panel.plot(
                *rbf_centers(models[name]).T, "ko", markersize=3, fillstyle="none", markeredgewidth=0.7
            )
            counts = columns_by_kernel(models[name].n_columns_)
            panel.set_xlabel(f"$x_1$\n{counts['linear']} linear, {counts['rbf']} RBF")
    axes[0].set_ylabel("$x_2$")
    figure.colorbar(filled, ax=list(axes), fraction=0.012, pad=0.01, label="$f(x)$")
    return figure


def rbf_centers(model: CGBoostRegressor) -> np.ndarray:
    """Centers of the columns that have an RBF part and a weight."""
    found = [np.empty((0, 2))]
    parts = zip(
        model.hypotheses_.kernels, model.hypotheses_.centers, model.hypotheses_.positions, strict=True
    )
    for kernel, centers, positions in parts:
        if "rbf" in kernel.name:
            found.append(centers[model.weights_[positions] != 0])
    return np.vstack(found)
