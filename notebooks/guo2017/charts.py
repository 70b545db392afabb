"""Charts of guo2017's evidence: the four panels of figure 1, gaps, one curve for all ensembles, z-scores."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.report.figures import PALETTE, draw_band, subplots
from kernsemble.report.ledger import judge_cell, load_reading
from kernsemble.report.published import PrintedCell, read_cells
from kernsemble.trials.study import Study
from guo2017.cells import FAMILIES, split_name
from guo2017.sets import LARGE_SET, TABLE_SETS

MACHINES = ("PSVM", "ExRM5", "ExRM10", "ExRM30")
PARTS = {"L2": "p = 2", "L1": "p = 1"}


def draw_figure1(study: Study) -> Figure:
    """Draw the four panels of figure 1."""
    figure, axes = subplots(2, 2, size=(10, 6.6))
    for panel, p in zip(axes[0], PARTS, strict=True):
        _draw_errors(panel, study, p)
    _draw_convergence(axes[1, 0], study)
    _draw_times(axes[1, 1], study)
    return figure


def _draw_errors(panel: Axes, study: Study, p: str) -> None:
    """Draw test errors (full) and training errors (dashed) against lambda."""
    evidence, lambdas = study.evidence("figure1"), study.protocol("figure1")["lambdas"]
    for name, color in zip(MACHINES, PALETTE, strict=False):
        for metric, style, label in (("error", "-", name), ("train_error", "--", "")):
            curves = evidence.curves(metric, dataset="sonar", method=f"{p}-{name}")
            if len(curves):
                draw_band(panel, lambdas, curves, label, color=color, linestyle=style)
    panel.set(title=f"sonar, {PARTS[p]}", xlabel=r"$\lambda$", ylabel="error (%); dashed: training")
    panel.set_ylim(0, None)
    label_lines(panel)


def _draw_convergence(panel: Axes, study: Study) -> None:
    """Draw the scaled objective against iterations on the largest set that the scale has."""
    evidence = study.evidence("convergence")
    label = LARGE_SET if LARGE_SET in evidence.datasets else evidence.datasets[0]
    for p, style in (("L2", "-"), ("L1", "--")):
        for name, color in zip(MACHINES[1:], PALETTE[1:], strict=False):
            paths = evidence.curves("path", dataset=label, method=f"{p}-{name}")
            if len(paths):
                panel.plot(np.arange(1, paths.shape[1] + 1), paths.mean(axis=0), style, color=color)
    panel.set(title=f"{label}; dashed: p = 1", xlabel="iterations", ylabel="objective, scaled to [0, 1]")


def _draw_times(panel: Axes, study: Study) -> None:
    """Draw seconds against the number of samples."""
    evidence = study.evidence("scaling")
    sizes = [int(label.removeprefix("n=")) for label in evidence.datasets]
    names = (*MACHINES, "exact")
    for p, style in (("L2", "o-"), ("L1", "s--")):
        for name, color in zip(names, PALETTE, strict=False):
            method = f"{p}-{name}"
            samples = [
                evidence.sample("fit_seconds", dataset=d, method=method).mean for d in evidence.datasets
            ]
            label = ("exact, 10" if name == "exact" else name) if p == "L2" else ""
            panel.plot(sizes, samples, style, color=color, markersize=3, label=label)
    panel.set(title="ijcnn1; dashed: p = 1", xlabel="training samples N", ylabel="seconds")
    if evidence.current:
        panel.set(xscale="log", yscale="log")
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7)
        panel.minorticks_off()
        panel.legend(fontsize=7)
    else:
        panel.text(0.5, 0.5, "no evidence yet (needs ijcnn1)", ha="center", transform=panel.transAxes)


def label_lines(panel: Axes) -> None:
    """Draw a small legend if there is anything to name; a smaller scale may have no evidence here."""
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7)


def draw_gaps(study: Study) -> Figure:
    """Draw the relative gaps of the solvers, one dot a training set; gaps below 1e-12 stand at 1e-12."""
    evidence = study.evidence("theorems")
    variants = list(dict.fromkeys(name[3:] for name in evidence.methods))
    labels = evidence.datasets
    figure, axes = subplots(1, 2, size=(11, 0.42 * len(variants) + 1.4), sharey=True)
    for panel, p in zip(axes, PARTS, strict=True):
        for k, label in enumerate(labels):
            for row, variant in enumerate(variants):
                gaps = evidence.sample("gap", dataset=label, method=f"{p} {variant}").values
                height = np.full(len(gaps), row + 0.2 * (k - (len(labels) - 1) / 2))
                name = label if row == 0 else None
                panel.plot(np.maximum(gaps, 1e-12), height, ".", color=PALETTE[k], label=name, alpha=0.7)
        panel.set(xscale="log", xlabel="gap relative to the optimum", title=PARTS[p])
        panel.set_yticks(range(len(variants)), variants)
        panel.axvline(1e-4, color="#888888", linewidth=0.8, linestyle=":")
    axes[0].invert_yaxis()
    label_lines(axes[1])
    return figure


def draw_penalty(study: Study) -> Figure:
    """Draw the gap at rest against the growth of the penalty."""
    evidence, rhos = study.evidence("penalty"), study.protocol("penalty")["rhos"]
    places = range(len(rhos))
    figure, axes = subplots(1, 2, size=(8.5, 3), sharey=True)
    for panel, p in zip(axes, PARTS, strict=True):
        for label, color in zip(evidence.datasets, PALETTE, strict=False):
            gaps = evidence.curves("gap", dataset=label, method=p)
            if len(gaps):
                panel.plot(places, np.maximum(gaps, 1e-12).mean(axis=0), "o-", color=color, label=label)
        panel.set(yscale="log", xlabel=r"$\rho$", title=PARTS[p])
        panel.set_xticks(places, [f"{rho:g}" for rho in rhos], fontsize=7)
    axes[0].set_ylabel("relative gap at rest")
    label_lines(axes[0])
    return figure


def draw_one_curve(study: Study) -> Figure:
    """Draw test errors against lambda / C, with the printed and our exact ensembles on the curve."""
    path, tables = study.evidence("path"), study.evidence("table1")
    ratios, lam = study.protocol("path")["ratios"], study.protocol("table1")["lam"]
    printed = {(c.row, c.column): c.value for c in printed_cells(study, "table1")}
    figure, axes = subplots(2, 4, size=(10.5, 5.2), sharex=True)
    for panel, label in zip(axes.flat, TABLE_SETS, strict=True):
        for p, color in zip(("L2", "L1"), PALETTE, strict=False):
            curves = path.curves("error", dataset=label, method=p) if label in path.datasets else ()
            if len(curves):
                draw_band(panel, ratios, curves, f"one machine, {PARTS[p]}", color=color)
            runs = len(curves) or None  # the same training sets for line and dots
            for C in (1, 5, 10, 30):
                exact = tables.sample(f"exact_{C}", dataset=label, method=f"{p}-ExRM")
                if len(exact.values):
                    panel.plot(lam / C, exact.values[:runs].mean(), "o", color=color, markersize=4)
                if (f"{p}-ExRM{C}", label) in printed:
                    panel.plot(lam / C, printed[f"{p}-ExRM{C}", label], "x", color=color, markersize=7)
        panel.set(title=label, xscale="log")
    for panel in axes[1]:
        panel.set_xlabel(r"$\lambda / C$")
    for panel in axes[:, 0]:
        panel.set_ylabel("test error (%)")
    axes[0, 0].plot([], [], "ko", markersize=4, label="ExRM with C bases, ours")
    axes[0, 0].plot([], [], "kx", markersize=7, label="ExRM with C bases, printed")
    axes[0, 0].legend(fontsize=6)
    return figure


def draw_contradiction(study: Study) -> Figure:
    """Draw table 3's entries, what table 1's printed cells give for them, and ours."""
    table1 = {(c.row, c.column): c.value for c in printed_cells(study, "table1")}
    table3 = {(c.row, c.column): c.value for c in printed_cells(study, "table3")}
    names = [f"{family}{C}" for family in ("L1-ExRM", "L2-ExRM", "DRM") for C in (10, 30)]
    reading = load_reading(study.module)
    cells = {(c.row, c.column): c for c in printed_cells(study, "table3")}
    figure, axes = subplots(size=(7, 3))
    for row, name in enumerate(names):
        family, C = split_name(name)
        means = np.mean([table1[name, label] for label in TABLE_SETS])
        ours = judge_cell(cells[family, str(C)], reading, study).ours
        points = (table3[family, str(C)], "s", "printed in table 3"), (means, "x", "mean of table 1, printed")
        for (value, marker, label), color in zip(points, PALETTE, strict=False):
            axes.plot(value, row, marker, color=color, label=label if row == 0 else None, markersize=7)
        if ours is not None:
            axes.plot(ours, row, "o", color=PALETTE[2], label="ours" if row == 0 else None, markersize=5)
    axes.set(xlabel="mean test error over eight sets (%)")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def printed_cells(study: Study, exhibit: str) -> list[PrintedCell]:
    """Return the printed numbers of one table."""
    cells = read_cells(study.root / "published" / "published.csv")
    return [cell for cell in cells if (cell.paper, cell.exhibit) == (study.key, exhibit)]


def draw_z_scores(study: Study) -> Figure:
    """Draw z of the cells of table 1, by family; those beyond 8 stand at 8 as triangles."""
    reading = load_reading(study.module)
    figure, axes = subplots(size=(8, 3.4))
    axes.axvspan(-2, 2, color="#EEEEEE", zorder=0)
    for cell in printed_cells(study, "table1"):
        z = judge_cell(cell, reading, study).z
        if z is None or cell.column == "A.R.":
            continue
        family, bases = split_name(cell.row)
        place = FAMILIES.index(family) + (0.15 if bases == 30 else -0.15)
        far = abs(z) > 8
        marker = ("<" if z < 0 else ">") if far else "o"
        axes.plot(np.clip(z, -8, 8), place, marker, color=PALETTE[bases == 30], markersize=5, alpha=0.8)
    axes.plot([], [], "o", color=PALETTE[0], label="10 bases")
    axes.plot([], [], "o", color=PALETTE[1], label="30 bases")
    axes.set(xlabel="z = (ours − printed) / standard error", xlim=(-8.6, 8.6))
    axes.set_yticks(range(len(FAMILIES)), FAMILIES)
    axes.set_ylim(len(FAMILIES) - 0.5, -0.5)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
