"""Charts of the atlas."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.report.figures import PALETTE, draw_band, subplots
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from atlas.compare import (
    KINDS,
    ROPE,
    Comparison,
    Kind,
    against,
    best_peer,
    compare,
    critical_difference,
    front,
    nemenyi,
)

# Where a method comes from: paper (or today), color, marker.
ORIGINS = {
    "bi2004": (PALETTE[3], "D", ("CG-Boost-l1", "CG-Boost-l2")),
    "linli2005": (PALETTE[0], "o", ("SVM-Stump", "SVM-Perc")),
    "lin2012": (PALETTE[4], "s", ("MultiBoost-cw",)),
    "shen2014": (PALETTE[1], "^", ("CGENS-Stump", "CGENS-Fourier", "CGENS-SLS")),
    "guo2017": (PALETTE[2], "v", ("ExRM", "DRM")),
    "boosting": (
        PALETTE[5],
        "P",
        ("AdaBoost-Stump", "AdaBoost-Perc", "LPBoost", "AdaBoost.MH", "AdaBoost.ECC", "AdaBoost.MO"),
    ),
    "today": (PALETTE[6], "X", ("SVM-Gauss", "RandomForest", "HistGB", "LightGBM", "XGBoost")),
}
COSTS = {
    "fit_seconds": "seconds of training",
    "predict_seconds": "seconds for 1000 predictions",
    "kilobytes": "kilobytes",
}
_FEWEST_SETS = 3


def look_of(method: str) -> tuple[str, str]:
    """Return the color and the marker of a method."""
    return next((color, marker) for color, marker, names in ORIGINS.values() if method in names)


def draw_ranks(study: Study, kind: Kind) -> Figure:
    """Draw average ranks, those that Nemenyi's test does not tell apart joined by a bar."""
    from scikit_posthocs import critical_difference_diagram  # imported here: it brings seaborn

    comparison = compare(study, kind)
    n_methods, n_sets = len(comparison.methods), len(comparison.datasets)
    figure, axes = subplots(size=(7.4, 0.9 + 0.17 * max(8, n_methods)))
    title = f"{kind}: {n_methods} methods on {n_sets} sets"
    if n_sets < _FEWEST_SETS:
        axes.set_title(title)
        return _empty(figure, axes)
    limit = critical_difference(n_methods, n_sets)
    axes.set_title(f"{title}, critical difference {limit:.1f}", pad=18)
    drawn = critical_difference_diagram(
        comparison.ranks,
        nemenyi(comparison),
        ax=axes,
        color_palette={method: look_of(method)[0] for method in comparison.methods},
        label_fmt_left="{label}  {rank:.1f}",
        label_fmt_right="{rank:.1f}  {label}",
        label_props={"fontsize": 8},
        elbow_props={"linewidth": 0.9},
        marker_props={"s": 14},
        crossbar_props={"linewidth": 1.6},
        text_h_margin=0.3,
    )
    for label in drawn["labels"]:
        label.set_color("black")  # colors that suit a line are too light for letters
    axes.grid(visible=False)
    return figure


def _empty(figure: Figure, axes: Axes) -> Figure:
    axes.text(0.5, 0.5, "too few sets are complete", ha="center", transform=axes.transAxes)
    axes.set_axis_off()
    return figure


def draw_probabilities(study: Study) -> Figure:
    """Draw how probable it is that a method is better than the best of today, equal, or worse."""
    pairs = [(kind, compare(study, kind)) for kind in KINDS[:2]]
    longest = max(len(comparison.methods) for _, comparison in pairs)
    figure, axes = subplots(1, 2, size=(8.6, 1.0 + 0.2 * longest))
    for panel, (kind, comparison) in zip(axes, pairs, strict=True):
        panel.set_title(kind)
        if len(comparison.datasets) < _FEWEST_SETS:
            _empty(figure, panel)
            continue
        rival = best_peer(comparison)
        found = against(comparison, rival)
        ordered = sorted(found, key=lambda method, ranks=comparison.ranks: -ranks[method])
        _draw_shares(panel, np.array([found[method] for method in ordered]), ordered)
        panel.set_title(f"{kind}: against {rival}")
    handles, names = axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure


def _draw_shares(axes: Axes, shares: np.ndarray, names: list[str]) -> None:
    left = np.zeros(len(names))
    labels = ("better", f"equal within {ROPE:g} point", "worse")
    for share, label, color in zip(shares.T, labels, (PALETTE[0], "#D9D9D9", PALETTE[1]), strict=True):
        axes.barh(names, share, left=left, color=color, label=label, height=0.8)
        left = left + share
    axes.set(xlim=(0, 1), xlabel="probability")
    axes.grid(visible=False)


def draw_fronts(study: Study) -> Figure:
    """Draw mean error against time and size, with the methods that no other beats in both."""
    figure, axes = subplots(2, 3, size=(9.6, 6.4), sharey="row")
    for row, kind in zip(axes, KINDS[:2], strict=True):
        comparison = compare(study, kind)
        for panel, metric in zip(row, COSTS, strict=True):
            if len(comparison.datasets) < _FEWEST_SETS:
                _empty(figure, panel)
                continue
            _draw_front(panel, comparison, metric)
            panel.set_xlabel(COSTS[metric])
        row[0].set_ylabel(f"{kind}: mean error (%)")
    handles = [
        axes[0, 0].plot([], [], marker, color=color, linestyle="none", label=name)[0]
        for name, (color, marker, _) in ORIGINS.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _draw_front(axes: Axes, comparison: Comparison, metric: str) -> None:
    cost, error = comparison.typical(metric), comparison.errors.mean(axis=0)
    for method, x, y in zip(comparison.methods, cost, error, strict=True):
        color, marker = look_of(method)
        axes.plot(x, y, marker, color=color, markersize=5)
    chosen = front(cost, error)
    axes.step(cost[chosen], error[chosen], where="post", color="#888888", linewidth=0.8, zorder=0)
    low, high = error.min(), error.max()
    axes.set_ylim(low - 0.1 * (high - low) - 0.1, high + 0.1 * (high - low) + 0.1)
    axes.set_xscale("log")
    _name_points(axes, [comparison.methods[k] for k in chosen], cost[chosen], error[chosen])


def _name_points(axes: Axes, names: list[str], x: np.ndarray, y: np.ndarray) -> None:
    """Write names beside points, each at the first place where it meets no other name and no other point."""
    axes.autoscale_view(scaley=False)  # settles the limits, which are computed lazily
    places = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, y])))
    taken: list[tuple[float, float, float, float]] = []
    for k, name in enumerate(names):
        others = np.delete(places, k, axis=0)
        boxes = {corner: _box(places[k], len(name), corner) for corner in _CORNERS}
        costs = {corner: _overlaps(box, taken, others) for corner, box in boxes.items()}
        corner = min(costs, key=costs.get)
        taken.append(boxes[corner])
        right, line = corner
        look = {"fontsize": 6.5, "ha": "left" if right > 0 else "right", "textcoords": "offset points"}
        if abs(line) > 1:
            look["arrowprops"] = {"arrowstyle": "-", "color": "#888888", "lw": 0.5, "shrinkB": 3}
        axes.annotate(name, (x[k], y[k]), (5 * right, 8 * line - 4 if line > 0 else 8 * line - 1), **look)


# Right or left of the point; so many lines above or below it.
_CORNERS = tuple((right, line) for line in (1, -1, 2, -2, 3, -3) for right in (1, -1))
_LETTER, _LINE = 0.02, 0.055  # size of small print, in shares of a panel


def _box(place: np.ndarray, n_letters: int, corner: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of a name beside a point, in shares of the panel."""
    ends = sorted((place[0], place[0] + corner[0] * (_LETTER * n_letters + 0.02)))
    near = place[1] + np.sign(corner[1]) * (0.01 + _LINE * (abs(corner[1]) - 1))
    levels = sorted((near, near + np.sign(corner[1]) * _LINE))
    return (*ends, *levels)


def _overlaps(box: tuple, taken: list[tuple], points: np.ndarray) -> int:
    """Count the names and points that a box meets; a box that leaves the panel is worst."""
    left, right, bottom, top = box
    outside = 100 * (left < 0 or right > 1 or bottom < 0 or top > 1)
    names = sum(left < r and right > l and bottom < t and top > b for l, r, b, t in taken)  # noqa: E741
    inside = (points > (left, bottom)) & (points < (right, top))
    return outside + 2 * names + int(inside.all(axis=1).sum())


def draw_limit(study: Study) -> Figure:
    """Draw how the objective and the decisions of CGENS approach those of the machine over all stumps."""
    evidence = study.evidence("limit")
    counts = np.array(study.protocol("limit")["counts"])
    figure, axes = subplots(1, 3, size=(9.6, 3.2))
    for label, color in zip(evidence.datasets, PALETTE, strict=False):
        for panel, metric, factor in zip(
            axes, ("excess", "disagreement", "error"), (100.0, 1.0, 1.0), strict=True
        ):
            _draw_approach(panel, evidence, metric, label, (counts, factor, color))
    axes[0].set(yscale="log", ylabel="objective above the optimum (%)", title="objective")
    axes[1].set(ylabel="test points that differ (%)", title="decisions")
    axes[2].set(ylabel="test error (%)", title="error, dashed: the machine")
    for panel in axes:
        panel.set(xscale="log", xlabel="stumps")
    axes[0].legend()
    return figure


def _draw_approach(axes: Axes, evidence: Evidence, metric: str, label: str, look: tuple) -> None:
    counts, factor, color = look
    curves = evidence.curves(metric, dataset=label, method="CGENS-Stump")
    if not len(curves):
        return
    if metric == "error":
        axes.axhline(curves[:, -1].mean(), color=color, linestyle="--", linewidth=0.8)
        curves = curves[:, :-1]
    if metric == "excess":  # rounding of two solvers: nothing below a millionth is shown
        curves = np.maximum(curves, 1e-6)
    draw_band(axes, counts, factor * curves, label, color=color, marker="o", markersize=3)


def draw_diversity(study: Study) -> Figure:
    """Draw errors of members against how often two differ; arrows lead to their ensembles' errors."""
    evidence = study.evidence("diversity")
    labels = evidence.datasets or ("",)
    n_columns = min(3, len(labels))
    n_rows = -(-len(labels) // n_columns)
    figure, axes = subplots(n_rows, n_columns, size=(3.2 * n_columns, 2.8 * n_rows + 0.5), squeeze=False)
    for panel in axes.ravel()[len(labels) :]:
        panel.set_axis_off()
    for panel, label in zip(axes.ravel(), labels, strict=False):
        for method, color, marker in zip(
            evidence.methods, (*PALETTE[:7], "#888888"), "ovDs^PX*", strict=False
        ):
            _draw_members(panel, evidence, label, method, (color, marker))
        panel.set_title(label)
    for panel in axes[-1]:
        panel.set_xlabel("pairs that differ (%)")
    for panel in axes[:, 0]:
        panel.set_ylabel("error (%)")
    handles, names = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="outside lower center", ncols=4)
    return figure


def _draw_members(axes: Axes, evidence: Evidence, label: str, method: str, look: tuple[str, str]) -> None:
    found = [
        evidence.sample(metric, dataset=label, method=method).values
        for metric in ("disagreement", "member_error", "error")
    ]
    if not len(found[0]):
        return
    differ, members, ensemble = (values.mean() for values in found)
    color, marker = look
    axes.plot(differ, members, marker, color=color, label=method, markersize=5)
    axes.plot([differ, differ], [members, ensemble], color=color, lw=1.0)  # arrows alone set no limits
    arrow = {"arrowstyle": "->", "color": color, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (differ, ensemble), (differ, members), arrowprops=arrow)
