"""Figures of shen2014 that the paper does not have, and scenes in place of figure 4."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.data.base import DatasetUnavailable
from kernsemble.data.store import load
from kernsemble.evidence import Evidence
from kernsemble.experiments.shen2014.sets import IDA_SETS, printed_label
from kernsemble.figures import PALETTE, draw_band, subplots
from kernsemble.papers.shen2014.cells import oracle_calls
from kernsemble.papers.shen2014.charts import draw_legend
from kernsemble.papers.shen2014.on_print import printed_cells
from kernsemble.study import Study

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
        for k, (method, color) in enumerate(zip(methods, PALETTE, strict=False)):
            column = method.partition(":")[2] if half == "table1" else method
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
        draw_legend(panel, **_BESIDE)
    axes[-1].set_xticks(range(len(IDA_SETS)), IDA_SETS, rotation=45, ha="right")
    return figure


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
    axes[-1, 0].set_xlabel("oracle calls")
    draw_legend(axes[0, 0], fontsize=7)
    return figure


def draw_scenes(study: Study) -> Figure:
    """Draw pictures that CGENS-SLS takes for what they are (above) and for something else (below)."""
    evidence, n = study.evidence("figure4"), study.protocol("figure4")["n_pictures"]
    figure, axes = subplots(2, n, size=(1.25 * n, 3.1), squeeze=False)
    for panel in axes.ravel():
        panel.set_axis_off()
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
    step = max(1, min(picture.shape[:2]) // 64)  # a thumbnail
    panel.imshow(picture[::step, ::step], cmap="gray", interpolation="nearest", aspect="auto")
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
        draw_band(second, counts, curves["disagreement"], label, color=color)
        draw_band(third, counts, curves["error"][:, :-1], label, color=color)
        third.axhline(curves["error"][:, -1].mean(), color=color, linestyle="--", linewidth=1)
    first.set(xscale="log", yscale="log", xlabel="stumps", ylabel="objective / limit - 1")
    second.set(xscale="log", xlabel="stumps", ylabel="disagreement with the limit (%)")
    third.set(xscale="log", xlabel="stumps", ylabel="test error (%)")
    draw_legend(first)
    return figure


def draw_pools(study: Study) -> Figure:
    """Draw the errors after 500 rounds by what a round may choose from."""
    evidence = study.evidence("pools")
    labels, families = evidence.datasets or ("",), evidence.methods
    figure, axes = subplots(1, len(labels), size=(2.3 * len(labels) + 2.2, 3), sharey=True, squeeze=False)
    for panel, label in zip(axes[0], labels, strict=True):
        for method, color, marker in zip(("AdaBoost", "LPBoost", "CGENS"), PALETTE, "os^", strict=False):
            curves = [evidence.curves(method, dataset=label, method=family) for family in families]
            means = [c[:, -1].mean() if len(c) else np.nan for c in curves]
            panel.plot(means, range(len(families)), marker, color=color, label=method)
        panel.set(title=label, xlabel="test error (%)")
        panel.set_yticks(range(len(families)), families)
    axes[0, 0].invert_yaxis()
    draw_legend(axes[0, -1], **_BESIDE)
    return figure


def draw_prediction(study: Study) -> Figure:
    """Draw test error against the seconds that 10,000 predictions take; ensembles of growing size."""
    evidence = study.evidence("prediction")
    labels = evidence.datasets or ("",)
    figure, axes = subplots(1, len(labels), size=(2.3 * len(labels) + 2.2, 3), squeeze=False)
    styles = zip(evidence.methods, PALETTE, "osD^", strict=False)
    for method, color, marker in styles:
        for panel, label in zip(axes[0], labels, strict=True):
            _draw_way(panel, evidence, label, method, color, marker)
    for panel, label in zip(axes[0], labels, strict=True):
        panel.set(title=label, xscale="log", xlabel="seconds")
    axes[0, 0].set_ylabel("test error (%)")
    draw_legend(axes[0, -1], **_BESIDE)
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
