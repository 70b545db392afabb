"""Figures of shen2014 that the paper does not have, and scenes in place of figure 4."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.data.base import DatasetUnavailable
from kernsemble.data.store import load
from kernsemble.report.figures import PALETTE, draw_band, subplots
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from shen2014.cells import oracle_calls
from shen2014.charts import draw_legend
from shen2014.on_print import printed_cells
from shen2014.sets import IDA_SETS, printed_label

_BESIDE = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
_ERRORS = (2, 3, 5, 10, 20, 30)
_HALVES = {
    "table1": ("stump:AdaBoost", "stump:LPBoost", "stump:SVM", "stump:CGENS"),
    "perceptrons": ("perceptron:AdaBoost", "perceptron:LPBoost", "perceptron:SVM", "perceptron:CGENS"),
    "cosines": ("fourier:RFF", "fourier:SVM", "fourier:CGENS"),
}


def draw_draws(study: Study) -> Figure:
    """Draw twenty splits of our own (mean and deviation) beside the table's five (x) and the print (o)."""
    figure, axes = subplots(3, 1, size=(9.5, 9), sharex=True)
    printed = printed_cells(study.root)
    for panel, (half, methods) in zip(axes, _HALVES.items(), strict=True):
        exhibit = "table1" if half == "table1" else "table2"
        for k, method in enumerate(methods):
            column, color = method.partition(":")[2] if half == "table1" else method, _color(method)
            shift = 0.2 * (k - 0.5 * (len(methods) - 1))
            for place, row in enumerate(IDA_SETS):
                x = place + shift
                panel.plot(x, printed[exhibit, row, column].value, "o", mfc="none", color=color, markersize=6)
                sample = study.evidence(exhibit).sample("error", dataset=printed_label(row), method=column)
                panel.plot(x, sample.mean, "x", color=color, markersize=5)
                _draw_repeated(panel, x, study.evidence("draws"), row, method, color)
            panel.plot([], [], "s", color=color, label=column.rpartition(":")[2])
        panel.set(ylabel="test error (%)", yscale="log", title={"table1": "stumps"}.get(half, half))
        panel.set_xlim(-0.6, len(IDA_SETS) - 0.4)
        panel.set_yticks(_ERRORS, [str(error) for error in _ERRORS])
        panel.minorticks_off()
        if panel is axes[0]:
            for marker, name in (("o", "printed"), ("x", "five splits"), (".", "twenty, ± deviation")):
                panel.plot([], [], marker, color="gray", mfc="none" if marker == "o" else "gray", label=name)
        draw_legend(panel, **_BESIDE)
    axes[-1].set_xticks(range(len(IDA_SETS)), IDA_SETS, rotation=45, ha="right")
    return figure


def _color(method: str) -> str:
    """Return a method's color, the same for all hypotheses."""
    names = ("AdaBoost", "LPBoost", "SVM", "CGENS", "RFF")
    return PALETTE[names.index(method.rpartition(":")[2])]


def _draw_repeated(panel: Axes, x: float, evidence: Evidence, row: str, method: str, color: str) -> None:
    curves = evidence.curves("errors", dataset=row, method=method) if row in evidence.datasets else []
    if len(curves):
        spread = curves[0].std(ddof=1)
        panel.errorbar(x, curves[0].mean(), yerr=spread, fmt=".", color=color, markersize=4, linewidth=1)


def draw_calls(study: Study) -> Figure:
    """Draw the errors of AdaBoost and CGENS at equal numbers of oracle calls, selection included."""
    evidence, calls = study.evidence("table1"), oracle_calls(study)
    labels = evidence.datasets or ("",)
    n_columns = min(5, len(labels))
    n_rows = -(-len(labels) // n_columns)
    figure, axes = subplots(
        n_rows, n_columns, size=(2.1 * n_columns + 0.8, 2.2 * n_rows + 0.3), squeeze=False
    )
    for panel in axes.ravel()[len(labels) :]:
        panel.set_axis_off()
    for panel, label in zip(axes.ravel(), labels, strict=False):
        for method, color in (("AdaBoost", PALETTE[0]), ("CGENS", PALETTE[1])):
            curves = evidence.curves("by_calls", dataset=label, method=method)
            if len(curves):
                draw_band(panel, calls, curves, method, color=color, marker="o", markersize=3)
        panel.set_title(label, fontsize=9)
        panel.set(xscale="log")
    for panel in axes[:, 0]:
        panel.set_ylabel("test error (%)")
    for panel in axes.ravel()[max(0, len(labels) - n_columns) : len(labels)]:
        panel.set_xlabel("oracle calls")
    draw_legend(axes[0, 0], fontsize=7)
    return figure


def draw_scenes(study: Study) -> Figure:
    """Draw pictures that CGENS-SLS takes for what they are (above) and for something else (below)."""
    evidence, n = study.evidence("figure4"), study.protocol("figure4")["n_pictures"]
    figure, axes = subplots(2, n, size=(1.25 * n, 2.9), squeeze=False)
    for panel in axes.ravel():
        panel.set_axis_off()
        panel.set_anchor("N")  # below its title, whatever its shape
    found = {m: _first(evidence, m) for m in ("right", "wrong", "taken_for")}
    try:
        scenes = load("scene15")
    except DatasetUnavailable:
        scenes = None
    if scenes is None or not len(found["right"]):
        axes[0, 0].text(0, 0.5, "the pictures are not on this machine, or not classified yet", fontsize=9)
        return figure
    names = scenes.class_names
    for panel, row in zip(axes[0], found["right"].astype(int), strict=False):
        _draw_picture(panel, scenes.X[row], names[scenes.y[row]])
    wrong = zip(axes[1], found["wrong"].astype(int), found["taken_for"].astype(int), strict=False)
    for panel, row, taken in wrong:
        _draw_picture(panel, scenes.X[row], f"{names[scenes.y[row]]}\nas {names[taken]}")
    return figure


def _first(evidence: Evidence, metric: str) -> np.ndarray:
    curves = evidence.curves(metric, dataset="Scene15", method="CGENS-SLS")
    return curves[0] if len(curves) else np.empty(0)


def _draw_picture(panel: Axes, picture: np.ndarray, title: str) -> None:
    step = max(1, min(picture.shape[:2]) // 64)
    height, width = (side // step for side in picture.shape)
    blocks = picture[: height * step, : width * step].reshape(height, step, width, step)
    panel.imshow(blocks.mean(axis=(1, 3)), cmap="gray", interpolation="none")  # a thumbnail
    panel.set_title(title, fontsize=7)


def draw_path(study: Study) -> Figure:
    """Draw how CGENS approaches the machine over all stumps."""
    evidence, counts = study.evidence("path"), study.protocol("path")["counts"]
    figure, (first, second, third) = subplots(1, 3, size=(10, 3.2))
    for label, color in zip(evidence.datasets, PALETTE, strict=False):
        curves = {
            m: evidence.curves(m, dataset=label, method="CGENS")
            for m in ("objective", "disagreement", "error")
        }
        if not len(curves["error"]):
            continue
        first.plot(counts, np.maximum(curves["objective"].mean(axis=0), 1e-6), "o-", color=color, label=label)
        draw_band(second, counts, curves["disagreement"], "_", color=color)
        draw_band(third, counts, curves["error"][:, :-1], "_", color=color)
        third.axhline(curves["error"][:, -1].mean(), color=color, linestyle="--", linewidth=1)
    first.set(xscale="log", yscale="log", xlabel="stumps", ylabel="objective / limit − 1")
    second.set(xscale="log", xlabel="stumps", ylabel="disagreement with the limit (%)")
    third.set(xscale="log", xlabel="stumps", ylabel="test error (%)")
    draw_legend(first)
    third.plot([], [], "--", color="gray", linewidth=1, label="limit")
    draw_legend(third)
    return figure


def draw_pools(study: Study) -> Figure:
    """Draw the errors after 500 rounds by what a round may choose from, and below them what is printed."""
    evidence = study.evidence("pools")
    labels = evidence.datasets or ("",)
    figure, axes = _grid_of(labels, height=3.1, sharey=True)
    lines = [family for family in evidence.methods if family.startswith("stump")]
    lines += ["printed, table I"] if lines else []
    lines += [family for family in evidence.methods if not family.startswith("stump")]
    lines += ["printed, table II"] if lines and lines[-1] != "printed, table I" else []
    for panel, label in zip(axes, labels, strict=False):
        for method, color, marker in zip(("AdaBoost", "LPBoost", "CGENS"), PALETTE, "os^", strict=False):
            style = {"fmt": marker, "color": color, "markersize": 5, "linewidth": 1}
            for y, line in enumerate(lines):
                curves = evidence.curves(method, dataset=label, method=line) if label else []
                _draw_pool(panel, y, line, curves, style)
            _draw_print(study, panel, lines, label, method, color, marker)
            panel.plot([], [], marker, color=color, label=method)
        panel.set(title=label, xlabel="test error (%)")
        panel.set_yticks(range(len(lines)), [{"stump": "all stumps"}.get(line, line) for line in lines])
    if lines:
        axes[0].invert_yaxis()
    draw_legend(axes[min(3, len(labels)) - 1], **_BESIDE)
    return figure


def _draw_pool(panel: Axes, y: int, line: str, curves: np.ndarray, style: dict) -> None:
    if len(curves):
        last = curves[:, -1]
        se = last.std(ddof=1) / len(last) ** 0.5 if len(last) > 1 else None
        panel.errorbar(last.mean(), y, xerr=se, **style)


def _draw_print(
    study: Study, panel: Axes, lines: list[str], label: str, method: str, color: str, marker: str
) -> None:
    printed = printed_cells(study.root)
    for line, place in (
        ("printed, table I", ("table1", label, method)),
        ("printed, table II", ("table2", label, f"perceptron:{method}")),
    ):
        if line in lines and place in printed:
            panel.plot(printed[place].value, lines.index(line), marker, mfc="none", color=color, markersize=6)


def _grid_of(labels: tuple[str, ...], *, height: float, **options: object) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each label, three in a row, and room for a legend beside them."""
    n_columns = min(3, len(labels))
    n_rows = -(-len(labels) // n_columns)
    size = (2.6 * n_columns + 3.0, height * n_rows)
    figure, axes = subplots(n_rows, n_columns, size=size, squeeze=False, **options)
    for panel in axes.ravel()[len(labels) :]:
        panel.set_axis_off()
    return figure, list(axes.ravel())


def draw_prediction(study: Study) -> Figure:
    """Draw test error against the seconds that 10,000 predictions take; ensembles of growing size."""
    evidence = study.evidence("prediction")
    labels = evidence.datasets or ("",)
    figure, axes = _grid_of(labels, height=2.8)
    for method, color, marker in zip(evidence.methods, PALETTE, "osD^", strict=False):
        for panel, label in zip(axes, labels, strict=False):
            _draw_way(panel, evidence, label, method, color, marker)
    for panel, label in zip(axes, labels, strict=False):
        panel.set(title=label, xscale="log", xlabel="seconds for 10,000 points", ylabel="test error (%)")
    draw_legend(axes[min(3, len(labels)) - 1], **_BESIDE)
    return figure


def _draw_way(panel: Axes, evidence: Evidence, label: str, method: str, color: str, marker: str) -> None:
    """Draw a machine as a point, and an ensemble as the way that its growth takes."""
    if method.endswith("machine"):
        error, seconds = (evidence.sample(m, dataset=label, method=method) for m in ("error", "eval_seconds"))
        if len(error.values):
            panel.plot(np.median(seconds.values), error.mean, marker, color=color, label=method)
        return
    errors, seconds = (evidence.curves(m, dataset=label, method=method) for m in ("curve", "seconds_curve"))
    if len(errors):
        name = method.replace("500 ", "10 to 500 ")
        x, y = np.median(seconds, axis=0), errors.mean(axis=0)
        panel.plot(x, y, marker=marker, color=color, label=name, markersize=3)
