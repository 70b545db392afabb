"""Figures of shen2014, drawn from its evidence, and those that the paper does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.data.base import DatasetUnavailable
from kernsemble.data.store import load
from kernsemble.hypotheses.stumps import StumpHypotheses
from kernsemble.report.figures import (
    METHOD_COLORS,
    PALETTE,
    draw_band,
    grid_points,
    subplots,
)
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from shen2014.claims import (
    ENDS,
    FOURIER,
    LP_INTERIOR,
    LP_SIMPLEX,
    PERCEPTRON,
    POOLED,
    TABLE1,
    oracle_calls,
)
from shen2014.facts import LABELS, printed_cells
from shen2014.machines import view_names
from shen2014.seconds import LIBLINEAR, OWN, rounds_read
from shen2014.trials import (
    ENSEMBLES,
    IDA_SETS,
    MACHINES,
    OFFICIAL_SETS,
    TIMED_SETS,
    VISION_SETS,
    printed_label,
    toy_draw,
)

_BLUE, _ORANGE, _GREEN, _PINK, _, _SKY, _BLACK = PALETTE[:7]
COLORS = {  # of a method, the same in all figures; variants are shades
    "AdaBoost": _BLUE, "LPBoost": _BLACK, "SVM": _PINK, "CGENS": _ORANGE, "RFF": _SKY,
    LP_SIMPLEX: _BLACK, LP_INTERIOR: "#777777", LIBLINEAR: "#7A3600",
    "CGENS-SLS": _ORANGE,
    MACHINES[0]: _PINK, MACHINES[1]: "#8E4A74", ENSEMBLES[0]: _ORANGE, ENSEMBLES[1]: "#F2A36B",
    **METHOD_COLORS,
}  # fmt: skip


def draw_legend(axes: Axes, **options: object) -> None:
    """Draw a legend; where there is nothing to explain yet, say so."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**options)
    else:
        axes.text(0.5, 0.5, "nothing computed here yet", transform=axes.transAxes, ha="center")


def _draw_curves(
    axes: Axes,
    x: Sequence[float],
    evidence: Evidence,
    place: tuple[str, str, str],
    skip: int = 0,
    **style: object,
) -> np.ndarray:
    """Draw the mean curve of (metric, dataset, method) with its band, where there are runs; return them."""
    metric, label, method = place
    curves = evidence.curves(metric, dataset=label, method=method)
    if len(curves):
        name = style.pop("label", method)
        draw_band(axes, x[skip : curves.shape[1]], curves[:, skip:], name, **style)
    return curves


def draw_toy(study: Study) -> Figure:
    """Draw figure 1: the boundary of CGENS on the first draw, and errors against rounds over all draws."""
    protocol, evidence = study.protocol("figure1"), study.evidence("figure1")
    rounds, (figure, (plane, errors)) = protocol["checkpoints"], subplots(1, 2, size=(8.5, 3.6))
    trial = Trial("shen2014", "staircase", "toy", "CGENS", 0)
    data = toy_draw(trial, protocol["n_train"], protocol["n_test"])
    names = ("features", "thresholds", "votes", "intercept")
    found = [study.evidence("staircase").runs(name, "toy", "CGENS", partial=True) for name in names]
    if found[0]:
        features, thresholds, votes, b = (runs[0] for runs in found)
        stumps = StumpHypotheses(features, thresholds, np.ones(len(votes)), n_features=2)
        _draw_staircase(plane, data.X, stumps, lambda X: stumps.decision(X, votes, b))
    for sign, face, name in ((1.0, "black", "inside"), (-1.0, "white", "outside")):
        points = data.X[data.y == sign]
        plane.plot(*points.T, "o", color="black", mfc=face, markersize=3, markeredgewidth=0.6, label=name)
    plane.set(title=f"CGENS, {rounds[-1]} rounds", aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    plane.legend(loc="upper right", fontsize=7)
    for method in evidence.methods:
        for metric, style in (("train", "--"), ("test", "-")):
            look = {"color": COLORS[method], "linestyle": style, "label": f"{method}, {metric}"}
            _draw_curves(errors, rounds, evidence, (metric, "toy", method), **look)
    errors.set(xscale="log", xlabel="rounds", ylabel="error (%)")
    draw_legend(errors)
    return figure


def _draw_staircase(
    plane: Axes, X: np.ndarray, stumps: StumpHypotheses, decision: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Shade where an ensemble of stumps votes for the inner class, cell by cell between thresholds."""
    edges = [
        np.unique(np.clip([low, *stumps.thresholds[stumps.features == j], high], low, high))
        for j, (low, high) in enumerate(zip(X.min(axis=0) - 0.3, X.max(axis=0) + 0.3, strict=True))
    ]
    middles = tuple(0.5 * (some[1:] + some[:-1]) for some in edges)
    inside = (decision(grid_points(middles)) > 0).reshape(len(middles[1]), len(middles[0]))
    first = np.flatnonzero(np.append(True, (inside[1:] != inside[:-1]).any(axis=1)))  # of rows that are alike
    x, y = edges[0], edges[1][np.append(first, len(inside))]
    for row, low, high in zip(inside[first], y[:-1], y[1:], strict=True):
        runs = np.flatnonzero(np.diff(row, prepend=False, append=False)).reshape(-1, 2)
        spans = [(x[a], x[b] - x[a]) for a, b in runs]
        plane.broken_barh(spans, (low, high - low), color=COLORS["CGENS"], alpha=0.35, linewidth=0)
    plane.set(xlim=x[[0, -1]], ylim=y[[0, -1]])
    plane.grid(visible=False)


def draw_training_time(study: Study) -> Figure:
    """Draw figure 2: seconds against rounds and against digits; hollow where the limit ended a run."""
    figure, (top, bottom) = subplots(1, 2, size=(9, 3.4))
    for axes, exhibit, name in (
        (top, "figure2", "time_checkpoints"),
        (bottom, "figure2_examples", "digit_counts"),
    ):
        evidence, x = study.evidence(exhibit), study.protocol(exhibit)[name]
        for method, marker in zip(evidence.methods, "os^", strict=False):
            color, curves = COLORS[method], evidence.curves("seconds_curve", dataset="MNIST", method=method)
            if len(curves):
                cut = curves[0] > study.protocol(exhibit)["time_limit"]
                if exhibit == "figure2":  # the last reading lies before the round that was the last
                    cut[-1] = evidence.curves("reached", dataset="MNIST", method=method)[0] < x[-1]
                _draw_cut(axes, x[: len(cut)], curves[0], cut, color=color, marker=marker, label=method)
        axes.set(yscale="log", ylabel="seconds of the processor")
    top.set(xlabel="rounds, 10,000 digits")
    bottom.set(xscale="log", xlabel="digits, 100 rounds")
    if top.get_legend_handles_labels()[0]:
        top.plot([], [], "o", color="gray", mfc="white", label="stopped before the end")
    draw_legend(top)
    return figure


def _draw_cut(axes: Axes, x: list, y: np.ndarray, cut: np.ndarray, **style: str) -> None:
    """Draw a curve; points of runs that did not come to their end are hollow."""
    axes.plot(x, y, markersize=4, **style)
    axes.plot(
        np.array(x)[cut], y[cut], style["marker"], color=style["color"], mfc="white", markersize=6, zorder=3
    )


def draw_vision(study: Study) -> Figure:
    """Draw figure 3: test error (printed ends as circles) and seconds against rounds on the vision sets."""
    evidence, rounds = study.evidence("table3"), study.protocol("table3")["checkpoints"]
    printed = printed_cells(study.root)
    labels = [label for label in evidence.datasets if label in VISION_SETS] or evidence.datasets[:2] or ("",)
    figure, axes = subplots(2, len(labels), size=(2.8 * len(labels) + 0.6, 5), squeeze=False, sharex=True)
    for (top, bottom), label in zip(axes.T, labels, strict=True):
        for method in evidence.methods:
            color = COLORS[method]
            found = _draw_curves(top, rounds, evidence, ("curve", label, method), 3, color=color)
            _draw_curves(bottom, rounds, evidence, ("seconds_curve", label, method), 3, color=color)
            if len(found) and ("table3", label, method) in printed:
                value = printed["table3", label, method].value
                top.plot(rounds[-1], value, "o", mfc="none", color=color, markersize=7)
        top.set(title=label, yscale="log")
        top.yaxis.set_major_formatter("{x:g}")
        top.yaxis.set_minor_formatter("{x:g}")
        top.tick_params(axis="y", which="minor", labelsize=6)
        bottom.set(xlabel="rounds", yscale="log")
    axes[0, 0].set_ylabel("test error (%)")
    axes[1, 0].set_ylabel("seconds of the processor")
    draw_legend(axes[0, 0])
    return figure


# The features that the paper names.
_NAMED = {
    7: "remove", 16: "free", 19: "you", 25: "hp", 27: "george", 42: "meeting", 46: "edu", 52: "!", 53: r"\$",
}  # fmt: skip


def draw_features(study: Study) -> Figure:
    """Draw figure 5: how many of the 60 stumps look at each feature of spam, on average."""
    evidence = study.evidence("table4")
    figure, axes = subplots(size=(9, 3))
    for method, shift in (("AdaBoost", -0.2), ("Ours", 0.2)):
        counts = evidence.curves("features", dataset="spam", method=method)
        if len(counts):
            places = 1 + np.arange(counts.shape[1]) + shift
            name = method.replace("Ours", "CGENS")
            spread = counts.std(axis=0, ddof=1) if len(counts) > 1 else None
            bars = {"color": COLORS[name], "label": name, "error_kw": {"linewidth": 0.6, "capsize": 0}}
            axes.bar(places, counts.mean(axis=0), 0.4, yerr=spread, **bars)
    axes.set(xlabel="feature", ylabel="stumps on it, of 60", xlim=(0, 58), ylim=(0, None))
    axes.set_xticks(
        list(_NAMED), [f"{word} {place}" for place, word in _NAMED.items()], rotation=60, ha="right"
    )
    axes.tick_params(axis="x", pad=1)
    draw_legend(axes)
    return figure


_RANKS = (1, 2, 5, 10, 20, 50)


def draw_ranks(study: Study) -> Figure:
    """Draw claim 4.1: where the largest score stands among all decreases, and two rules' objectives."""
    evidence = study.evidence("theorems")
    figure, (left, right) = subplots(1, 2, size=(8.5, 3.2))
    for label, color, marker in zip(evidence.datasets, PALETTE, "os^", strict=False):
        by_method = [evidence.curves("rank", dataset=label, method=method) for method in evidence.methods]
        if not all(map(len, by_method)):
            continue
        ranks = by_method[0]
        rounds = 1 + np.arange(ranks.shape[1])
        left.plot(rounds, ranks.mean(axis=0), marker=marker, color=color, label=label)
        by_rule = [
            evidence.curves("objective", dataset=label, method=method).mean(axis=0)
            for method in evidence.methods
        ]
        above = 100.0 * (by_rule[0] / by_rule[1] - 1.0)
        right.plot(rounds, above, marker=marker, color=color, label=label)
    left.set(xlabel="round", ylabel="rank of the largest score", yscale="log")
    left.set_yticks(_RANKS, [str(rank) for rank in _RANKS])
    left.minorticks_off()
    right.axhline(0.0, color="gray", linewidth=1)
    right.set(xlabel="round", ylabel="objective above the greedy one (%)")
    low, high = right.get_ylim()
    right.set_ylim(min(low, -1.0), max(high, 1.0))
    for panel in (left, right):
        panel.xaxis.get_major_locator().set_params(integer=True)
    draw_legend(left)
    return figure


_BESIDE = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
_ERRORS = (2, 3, 5, 10, 20, 30)
_HALVES = {"stumps": TABLE1, "perceptrons": PERCEPTRON, "cosines": FOURIER}


def _draw_beside_print(
    panel: Axes,
    study: Study,
    rows: Sequence[str],
    columns: Sequence[str],
    dot: Callable[[str, str], tuple[float, float] | None],
) -> None:
    """Draw for each set and method what is printed (o), ours (x; own splits: +), and a dot with its bar."""
    printed = printed_cells(study.root)
    for k, column in enumerate(columns):
        exhibit = "table2" if ":" in column else "table1"
        kind, _, name = column.rpartition(":")
        cosines = kind == "fourier" and columns is POOLED
        color = COLORS[ENSEMBLES[1] if cosines else name]
        for place, row in enumerate(rows):
            x, value = place + 0.2 * (k - 0.5 * (len(columns) - 1)), printed[exhibit, row, column].value
            ours = study.evidence(exhibit).sample("error", dataset=printed_label(row), method=column).mean
            panel.plot([x, x], [value, ours], color=color, linewidth=0.7, alpha=0.5)
            panel.plot(x, value, "o", mfc="none", color=color, markersize=6)
            panel.plot(x, ours, "x" if row in OFFICIAL_SETS else "+", color=color, markersize=5)
            if found := dot(row, column):
                panel.errorbar(x, found[0], yerr=found[1], fmt=".", color=color, markersize=4, linewidth=1)
        panel.plot([], [], "s", color=color, label="CGENS, cosines" if cosines else name)
    panel.set(ylabel="test error (%)", yscale="log")
    panel.set_yticks(_ERRORS, [str(error) for error in _ERRORS])
    panel.minorticks_off()
    panel.set_xlim(-0.6, len(rows) - 0.4)
    panel.set_xticks(range(len(rows)), rows, rotation=45, ha="right")


def _explain_marks(panel: Axes, crosses: str, dots: str) -> None:
    own = f"{crosses}, our splits"
    for marker, name in (("o", "printed"), ("x", f"{crosses}, the benchmark's"), ("+", own), (".", dots)):
        panel.plot([], [], marker, color="gray", mfc="none" if marker == "o" else "gray", label=name)


def draw_draws(study: Study) -> Figure:
    """Draw twenty splits of our own (mean and deviation) beside the table's five and the printed means."""
    figure, panels = subplots(3, 1, size=(9.5, 9), sharex=True)
    draws = study.evidence("draws")

    def twenty(row: str, column: str) -> tuple[float, float] | None:
        method = column if ":" in column else f"stump:{column}"
        curves = draws.curves("errors", dataset=row, method=method) if row in draws.datasets else []
        return (curves[0].mean(), curves[0].std(ddof=1)) if len(curves) else None

    for panel, (half, columns) in zip(panels, _HALVES.items(), strict=True):
        _draw_beside_print(panel, study, IDA_SETS, columns, twenty)
        panel.set(title=half)
        if panel is panels[0]:
            _explain_marks(panel, "five splits", "twenty, ± deviation")
        draw_legend(panel, **_BESIDE)
    return figure


def draw_fresh(study: Study) -> Figure:
    """Draw ensembles of drawn hypotheses: printed (o), one pool (x), fresh pools (filled, with an error)."""
    fresh = study.evidence("fresh")
    figure, axes = subplots(size=(9.5, 3.4))

    def anew(row: str, column: str) -> tuple[float, float] | None:
        sample = fresh.sample("error", dataset=LABELS[row], method=column)
        return (sample.mean, sample.se) if len(sample.values) else None

    _draw_beside_print(
        axes, study, [row for row, label in LABELS.items() if label in fresh.datasets], POOLED, anew
    )
    _explain_marks(axes, "one pool", "fresh pools, ± standard error")
    draw_legend(axes, **_BESIDE)
    return figure


def draw_calls(study: Study) -> Figure:
    """Draw the errors of AdaBoost and CGENS at equal numbers of oracle calls, selection included."""
    evidence, calls = study.evidence("table1"), oracle_calls(study)
    labels = [label for label in evidence.datasets if label != "f-solar"]
    figure, axes = _grid_of((*labels, "average"), height=2.2, n_columns=5, width=2.1)
    for method in ("AdaBoost", "CGENS"):
        style = {"color": COLORS[method], "marker": "o", "markersize": 3}
        found = [
            _draw_curves(panel, calls, evidence, ("by_calls", label, method), **style)
            for panel, label in zip(axes, labels, strict=False)
        ]
        if found and min(map(len, found)):
            shared = min(map(len, found))
            average = np.mean([curves[:shared] for curves in found], axis=0)
            draw_band(axes[len(labels)], calls, average, method, **style)
    for panel, label in zip(axes, (*labels, "average"), strict=False):
        panel.set_title(label.removesuffix(" official"), fontsize=9)
        panel.set(xscale="log")
    for panel in axes[::5]:
        panel.set_ylabel("test error (%)")
    for panel in axes[max(0, len(labels) - 4) : len(labels) + 1]:
        panel.set_xlabel("oracle calls")
    draw_legend(axes[0], fontsize=7)
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
        for method, marker in zip(("AdaBoost", "LPBoost", "CGENS"), "os^", strict=True):
            color = COLORS[method]
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


def _grid_of(
    labels: tuple[str, ...], *, height: float, n_columns: int = 3, width: float = 3.6, **options: object
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each label, some in a row; the width has room for a legend."""
    n_columns = min(n_columns, len(labels))
    n_rows = -(-len(labels) // n_columns)
    size = (width * n_columns + 0.8, height * n_rows + 0.3)
    figure, axes = subplots(n_rows, n_columns, size=size, squeeze=False, **options)
    for panel in axes.ravel()[len(labels) :]:
        panel.set_axis_off()
    return figure, list(axes.ravel())


def draw_prediction(study: Study) -> Figure:
    """Draw test error against the seconds that 10,000 predictions take; ensembles of growing size."""
    evidence = study.evidence("prediction")
    labels = evidence.datasets or ("",)
    figure, axes = _grid_of(labels, height=2.8)
    for method, marker in zip(evidence.methods, "osD^", strict=False):
        for panel, label in zip(axes, labels, strict=False):
            _draw_way(panel, evidence, label, method, COLORS[method], marker)
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


_LINES = {"free": "-", "penalized": ":", "none": "--"}


def draw_intercept(study: Study) -> Figure:
    """Draw what the intercept does: ringnorm by C, its stumps weighed again, and the other sets."""
    evidence, exponents = study.evidence("intercept"), study.protocol("intercept")["log2_C_intercept"]
    figure, (curves, swapped, others) = subplots(1, 3, size=(12, 3.5))
    there = {row: label for row, label in LABELS.items() if label in evidence.datasets}
    ring, printed = printed_label("ringnorm"), printed_cells(study.root)
    for name in ("CGENS", "LPBoost"):
        for intercept, line in _LINES.items():
            method = f"{name}, {intercept}"
            look = {"color": COLORS[name], "linestyle": line}
            _draw_curves(curves, exponents, evidence, ("curve", ring, method), **look)
        curves.axhline(
            printed["table1", "ringnorm", name].value, color=COLORS[name], linewidth=0.8, alpha=0.6
        )
    curves.set(title="ringnorm", xlabel="$\\log_2 C$", ylabel="test error (%)", yscale="log")
    curves.set_yticks((5, 7, 10, 15, 20, 30), ["5", "7", "10", "15", "20", "30"])
    curves.minorticks_off()
    draw_legend(curves, fontsize=7)
    _draw_exchanged(swapped, evidence, ring)
    for name, marker, shift in (("CGENS", "^", -0.12), ("LPBoost", "s", 0.12)):
        for place, label in enumerate(there.values()):
            pair = [evidence.curves("curve", dataset=label, method=f"{name}, {i}") for i in ("none", "free")]
            if all(map(len, pair)):
                less = [some.mean(axis=0).min() for some in pair]
                others.plot(less[0] - less[1], place + shift, marker, color=COLORS[name], markersize=5)
        others.plot([], [], marker, color=COLORS[name], label=name)
    others.axvline(0.0, color="gray", linewidth=1)
    others.set(title="all sets that were run", xlabel="without an intercept less with (points)")
    others.set_yticks(range(len(there)), list(there))
    others.invert_yaxis()
    draw_legend(others)
    return figure


def _draw_exchanged(panel: Axes, evidence: Evidence, ring: str) -> None:
    """Draw four errors of each method: stumps found with or without, f with or without an intercept."""
    lines = (("free", "curve"), ("none", "exchanged"), ("none", "curve"), ("free", "exchanged"))
    for name, shift in (("CGENS", -0.2), ("LPBoost", 0.2)):
        lengths = []
        for found, weighed in lines:
            runs = evidence.curves(weighed, dataset=ring, method=f"{name}, {found}")
            lengths.append(runs.mean(axis=0).min() if len(runs) else np.nan)
        bars = panel.barh(np.arange(4) + shift, lengths, 0.4, color=COLORS[name], label=name)
        panel.bar_label(bars, fmt="%.1f", fontsize=7)
    words = ("with, weighed with", "without, weighed with", "without, weighed without")
    panel.set_yticks(range(4), [*words, "with, weighed without"], fontsize=8)
    panel.invert_yaxis()
    panel.set(title="ringnorm, stumps found ...", xlabel="least test error (%)", xlim=(0, 32))
    draw_legend(panel, loc="upper right")


def draw_ends(study: Study) -> Figure:
    """Draw seconds to the printed ends of figure 2, and where the printed factors lie."""
    evidence, protocol = study.evidence("training_ends"), study.protocol("training_ends")
    figure, panels = subplots(1, 2, size=(9, 3.4))
    pairs = zip(panels, ENDS.values(), protocol["end_rounds"], protocol["end_digits"], (15, 26), strict=True)
    for panel, metric, n_rounds, n_digits, factor in pairs:
        x = rounds_read(protocol["sampled"], n_rounds)
        for method, marker in zip((OWN, LIBLINEAR, LP_SIMPLEX, LP_INTERIOR), "oD^s", strict=True):
            style = {"color": COLORS[method], "marker": marker, "markersize": 4}
            curves = _draw_curves(panel, x, evidence, (metric, "MNIST", method), **style)
            if len(curves) and method == OWN:
                y = factor * curves[:, -1].mean()
                panel.plot(x[-1], y, "_", color="gray", markersize=16)
                place = {"xytext": (-12, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
                panel.annotate(f"{factor} times CGENS, as printed", (x[-1], y), fontsize=8, **place)
        panel.set(xlabel=f"rounds, {n_digits:,} digits", ylabel="seconds of the processor", yscale="log")
    draw_legend(panels[0], fontsize=8)
    return figure


def draw_growing(study: Study) -> Figure:
    """Draw sizes and seconds of prediction against the rows that were trained on."""
    evidence, x = study.evidence("growing"), study.protocol("growing")["row_counts"]
    figure, (sizes, seconds) = subplots(1, 2, size=(9, 3.2))
    for method in evidence.methods:
        for panel, metric, style in (
            (sizes, "sizes", "-"), (seconds, "double_curve", "-"), (seconds, "single_curve", "--"),
        ):  # fmt: skip
            curves = evidence.curves(metric, dataset=evidence.datasets[0], method=method)
            if len(curves):
                name = method if panel is sizes else f"{method}, {metric.partition('_')[0]} precision"
                panel.plot(x, np.median(curves, axis=0), f"o{style}", color=COLORS[method], label=name)
    sizes.set(xscale="log", yscale="log", xlabel="training rows", ylabel="support vectors or cosines")
    seconds.set(xscale="log", yscale="log", xlabel="training rows", ylabel="seconds for 10,000 points")
    draw_legend(seconds, fontsize=8)
    return figure


def draw_machines(study: Study) -> Figure:
    """Draw how six machines come near their limit: objective, and decisions on test rows."""
    evidence, counts = study.evidence("machines"), study.protocol("machines")["counts"]
    figure, panels = subplots(1, 2, size=(9, 3.2))
    for method, color, marker in zip(evidence.methods, PALETTE, "os^Dv*", strict=False):
        for panel, metric, least in zip(panels, ("objective", "distance"), (1e-6, 1e-2), strict=True):
            curves = evidence.curves(metric, dataset="heart", method=method)
            if len(curves):
                y = np.maximum(curves.mean(axis=0), least)
                panel.plot(counts, y, marker=marker, markersize=4, color=color, label=method)
    panels[0].set(xscale="log", yscale="log", xlabel="stumps", ylabel="objective above the limit (share)")
    panels[1].set(xscale="log", yscale="log", xlabel="stumps", ylabel="decisions off the limit (%)")
    draw_legend(panels[1], **_BESIDE)
    return figure


def draw_views(study: Study) -> Figure:
    """Draw the share of the weight on each view (color) and width (the darker the narrower), by method."""
    evidence = study.evidence("views")
    labels, colors = evidence.datasets or ("",), (_BLUE, _ORANGE, _GREEN, _BLACK)
    figure, panels = subplots(1, len(labels), size=(5.2 * len(labels) + 2.2, 3.0), squeeze=False)
    for panel, label in zip(panels[0], labels, strict=True):
        shown = {m: evidence.curves("weights", dataset=label, method=m) for m in evidence.methods}
        shown = {method: curves.mean(axis=0) for method, curves in shown.items() if len(curves)}
        for k, weights in enumerate(shown.values()):
            shares = weights.reshape(-1, len(colors)).T.ravel()  # view by view
            for place, (share, left) in enumerate(zip(shares, np.cumsum(shares) - shares, strict=True)):
                view, width = divmod(place, len(shares) // len(colors))
                panel.barh(k, share, left=left, color=colors[view], alpha=(0.35, 0.65, 1.0)[min(width, 2)])
        for name, color in zip(view_names(label) if shown else (), colors, strict=False):
            panel.plot([], [], "s", color=color, label=name)
        panel.set(title=label, xlabel="share of the weight", xlim=(0.0, 1.0))
        panel.set_yticks(range(len(shown)), list(shown), fontsize=8)
        panel.invert_yaxis()
        draw_legend(panel, loc="upper center", bbox_to_anchor=(0.4, -0.22), ncol=4, fontsize=8)
    return figure


def draw_entries(study: Study) -> Figure:
    """Draw how many times faster an ensemble is against how many support vectors a hypothesis stands for."""
    evidence = study.evidence("prediction")
    figure, axes = subplots(size=(5.2, 3.6))
    pairs = [pair for pair in zip(MACHINES, ENSEMBLES, strict=True) if set(pair) <= set(evidence.methods)]
    for machine, ensemble in pairs:
        x, y = [], []
        for label in (label for label in TIMED_SETS if label in evidence.datasets):
            found = [
                [np.median(evidence.sample(m, dataset=label, method=method).values) for m in _OF_ENTRIES]
                for method in (machine, ensemble)
            ]
            (many, slow), (few, fast) = found
            x.append(many / few)
            y.append(slow / fast)
            axes.annotate(label, (x[-1], y[-1]), fontsize=7, xytext=(4, 3), textcoords="offset points")
        axes.plot(x, y, "o", color=COLORS[ensemble], label=f"{machine} / {ensemble.rpartition(' ')[2]}")
    ends = np.array([0.1, 3.0])
    axes.plot(ends, ends, color="gray", linewidth=1, label="entries of equal price")
    axes.axhline(1.0, color="gray", linewidth=1, linestyle=":", label="equally fast")
    axes.set(xscale="log", yscale="log", xlabel="support vectors / hypotheses", ylabel="seconds, ratio")
    draw_legend(axes, fontsize=8)
    return figure


_OF_ENTRIES = ("size", "eval_seconds")
