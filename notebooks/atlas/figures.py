"""Drawings and tables of the atlas: what competes and what it costs, ranks, and what to use when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from kernsemble.data.store import load
from kernsemble.report.comparisons import significant
from kernsemble.report.figures import PALETTE, draw_band, subplots
from kernsemble.report.tables import BOLD_RULE, Cell, Table, save_table, scale_note, show_summary
from kernsemble.trials.evidence import Evidence
from kernsemble.trials.study import Study
from atlas.compare import (
    KINDS,
    LEVEL,
    ROPE,
    Comparison,
    Kind,
    against,
    best_peer,
    compare,
    critical_difference,
    friedman,
    front,
    full_means,
    labels_of,
    serving,
    told_apart,
)
from atlas.full import OUT_OF_MEMORY, OUT_OF_TIME

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
    "today": (PALETTE[6], "X", ("SVM-Gauss", "RandomForest", "HistGB", "LightGBM", "XGBoost", "EBM")),
}
COSTS = {
    "fit_seconds": "seconds of training",
    "predict_seconds": "seconds for 1000 predictions",
    "kilobytes": "kilobytes",
}
_FEWEST_SETS = 3
_CLOCK = 1e-3  # seconds that are drawn at least


def look_of(method: str) -> tuple[str, str]:
    """Return the color and the marker of a method."""
    name = method.partition(",")[0]
    return next((color, marker) for color, marker, names in ORIGINS.values() if name in names)


def draw_ranks(study: Study, kind: Kind) -> Figure:
    """Draw average ranks; a line at the right joins methods that Nemenyi's test does not tell apart."""
    comparison = compare(study, kind)
    n_methods, n_sets = len(comparison.methods), len(comparison.datasets)
    figure, axes = subplots(size=(6.2, 0.9 + 0.19 * max(8, n_methods)))
    title = f"{kind}: {n_methods} methods on {n_sets} sets"
    if n_sets < _FEWEST_SETS:
        axes.set_title(title)
        return _empty(figure, axes)
    limit = critical_difference(n_methods, n_sets)
    ranks = comparison.ranks.sort_values()
    axes.set_title(f"{title}, critical difference {limit:.1f}")
    for place, (method, rank) in enumerate(ranks.items()):
        color, marker = look_of(method)
        axes.plot([0, rank], [place, place], color="#DDDDDD", linewidth=0.8, zorder=1)
        axes.plot(rank, place, marker, color=color, markersize=5)
        axes.annotate(
            f"{rank:.1f}", (rank, place), (5, 0), textcoords="offset points", va="center", fontsize=7
        )
    edge = ranks.iloc[-1] + 1.2
    for column, (first, last) in enumerate(told_apart(comparison, limit)):
        axes.plot([edge + 0.25 * column] * 2, [first - 0.2, last + 0.2], color="#444444", linewidth=1.6)
    axes.set(yticks=range(n_methods), ylim=(n_methods - 0.5, -0.5), xlabel="average rank, 1 is the best")
    axes.set_yticklabels(ranks.index)
    axes.set_xlim(left=0)
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


def draw_full(study: Study) -> Figure:
    """Draw error against training time on all rows of each large set; what a limit has ended is not there."""
    evidence = study.evidence("arena_full")
    n_rows = -(-max(1, len(evidence.datasets)) // 4)
    figure, axes = subplots(n_rows, 4, size=(10.4, 3.0 * n_rows), squeeze=False)
    for panel in axes.ravel()[len(evidence.datasets) :]:
        panel.set_axis_off()
    for panel, label in zip(axes.ravel(), evidence.datasets, strict=False):
        error, seconds = (full_means(evidence, metric, label) for metric in ("error", "fit_seconds"))
        ended = [name for name in error if np.isfinite(error[name])]
        panel.set_title(label)
        if not ended:
            _empty(figure, panel)
            continue
        one = Comparison((label,), tuple(ended), {
            "error": np.array([[error[name] for name in ended]]),
            "fit_seconds": np.array([[max(seconds[name], _CLOCK) for name in ended]]),
        })  # fmt: skip
        _draw_front(panel, one, "fit_seconds")
        panel.set_xlabel(COSTS["fit_seconds"])
    for row in axes:
        row[0].set_ylabel("error (%)")
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
    if cost.max() < 20.0 * cost.min():  # too short for powers of ten alone
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
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


# Method -> key of its grid, and what its size counts.
METHODS = {
    "SVM-Stump": ("svm_stump", "support vectors"),
    "SVM-Perc": ("svm_perceptron", "support vectors"),
    "CGENS-SLS": ("cgens_sls", "stumps"),
    "MultiBoost-cw": ("multiboost", "stumps"),
    "ExRM": ("exrm", "linear machines"),
    "DRM": ("drm", "training rows"),
    "AdaBoost-Stump": ("adaboost", "stumps"),
    "AdaBoost-Perc": ("adaboost_perceptron", "perceptrons"),
    "LPBoost": ("lpboost", "stumps"),
    "CGENS-Stump": ("cgens_stump", "stumps"),
    "CGENS-Fourier": ("cgens_fourier", "cosines"),
    "CG-Boost-l1": ("cg_boost", "kernel columns"),
    "CG-Boost-l2": ("cg_boost", "kernel columns"),
    "AdaBoost.MH": ("adaboost", "stumps"),
    "AdaBoost.ECC": ("adaboost", "stumps"),
    "AdaBoost.MO": ("adaboost_mo", "stumps"),
    "SVM-Gauss": ("svm_gauss", "support vectors"),
    "RandomForest": ("random_forest", "leaves"),
    "HistGB": ("histgb", "leaves"),
    "LightGBM": ("lightgbm", "leaves"),
    "XGBoost": ("xgboost", "leaves"),
}


def grid_of(study: Study, method: str) -> list[dict]:
    """Return the configurations of a method."""
    return study.protocol("arena")[f"grid_{METHODS[method][0]}"]


def show_errors(study: Study, kind: Kind) -> Table:
    """Return the errors of a comparison, complete or not: the least of a set in bold, its equals marked."""
    evidence, name = study.evidence("arena"), f"error_{kind.replace(' ', '_')}"
    labels = labels_of(evidence, kind)
    methods = serving(evidence, labels)
    table = show_summary(study, "arena", "error", datasets=labels, methods=methods, bold=True, save=name)
    rows = []
    for label, (first, *cells) in zip(labels, table.rows, strict=True):
        means = {m: evidence.sample("error", dataset=label, method=m).mean for m in methods}
        alike = [m for m, cell in zip(methods, cells, strict=True) if cell.bold]
        least = min(map(means.get, alike), default=None)
        quiet = [
            cell if not cell.bold or means[m] == least else replace(cell, bold=False, mark="≈")
            for m, cell in zip(methods, cells, strict=True)
        ]
        rows.append((first, *quiet))
    bold = "Bold: the least error of a set. ≈: not distinguishable from it (paired t-tests, 5 %, Holm)."
    table = replace(table, rows=tuple(rows), caption=table.caption.replace(BOLD_RULE, bold))
    save_table(study, table, name)
    return table


def show_data(study: Study) -> Table:
    """Return the sets of the scale with their sizes, and how many rows take part."""
    protocol = study.protocol("arena")
    rows = []
    for label in study.evidence("arena").datasets:
        data = load(label)
        sizes = (data.n_samples, min(data.n_samples, protocol["max_rows"]), data.n_features, data.n_classes)
        rows.append((Cell(label), *(Cell(str(size)) for size in sizes)))
    header = ("set", "rows", "about so many take part", "features", "classes")
    table = Table(header, tuple(rows), scale_note(study).strip())
    save_table(study, table, "data")
    return table


def show_grids(study: Study) -> Table:
    """Return the configurations of each method: what they share, and what differs."""
    rows = []
    for method, (_, unit) in METHODS.items():
        grid = grid_of(study, method)
        shared = {name: value for name, value in grid[0].items() if all(c[name] == value for c in grid)}
        varied = [", ".join(f"{n} {_text(v)}" for n, v in c.items() if n not in shared) for c in grid]
        fixed = ", ".join(f"{name} {_text(value)}" for name, value in shared.items())
        rows.append((Cell(method), Cell("; ".join(varied)), Cell(fixed), Cell(unit)))
    table = Table(("method", "five configurations", "fixed", "its size counts"), tuple(rows))
    save_table(study, table, "grids")
    return table


def _text(value: float | int | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def show_costs(study: Study, kind: Kind) -> Table:
    """Return for each method its rank and error, and geometric means over sets of times and sizes."""
    comparison = compare(study, kind)
    metrics = ("tuning_seconds", "fit_seconds", "predict_seconds", "kilobytes")
    rows = []
    for place, method in enumerate(comparison.methods) if comparison.datasets else ():
        typical = [comparison.typical(metric)[place] for metric in metrics]
        cells = [f"{comparison.ranks[method]:.1f}", f"{comparison.errors[:, place].mean():.1f}"]
        cells += [significant(value, 2) for value in typical]
        size = np.median(comparison.values["size"][:, place])
        rows.append((Cell(method), *map(Cell, cells), Cell(f"{size:.0f} {METHODS[method][1]}")))
    header = (
        kind, "average rank", "mean error (%)", "tuning (s)", "training (s)",
        "1000 predictions (s)", "kB", "size",
    )  # fmt: skip
    n_sets = len(comparison.datasets)
    caption = f"{scale_note(study)}{n_sets} sets; times and kB: geometric means over sets; sizes: medians."
    table = Table(header, tuple(sorted(rows, key=lambda row: float(row[1].text))), caption)
    save_table(study, table, f"costs_{kind.replace(' ', '_')}")
    return table


def show_full(study: Study, metric: str = "error", digits: int = 3) -> Table:
    """Return a metric of each method on all rows of each large set; or which limit has ended it."""
    evidence = study.evidence("arena_full")
    columns = [full_means(evidence, metric, label) for label in evidence.datasets]
    limits = [full_means(evidence, "censored", label) for label in evidence.datasets]
    rows = []
    for method in evidence.methods:
        cells = []
        for label, column, limit in zip(evidence.datasets, columns, limits, strict=True):
            if np.isfinite(column[method]):
                cells.append(Cell(significant(column[method], digits)))
            elif evidence.sample("error", dataset=label, method=method).expected:
                cells.append(Cell(LIMITS.get(limit[method], "…")))
            else:
                cells.append(Cell(""))
        rows.append((Cell(method), *cells))
    limits = study.protocol("arena_full")["full_limits"]
    caption = (
        f"{scale_note(study)}{FULL_WORDS[metric]}; one run. Time, memory: ended after {limits['seconds']:g} "
        f"seconds of one thread, or at {limits['megabytes']:g} megabytes with the data."
    )
    table = Table(("", *evidence.datasets), tuple(rows), caption)
    save_table(study, table, f"full_{metric}")
    return table


LIMITS = {float(OUT_OF_TIME): "time", float(OUT_OF_MEMORY): "memory"}
FULL_WORDS = {
    "error": "Test errors in percent",
    "fit_seconds": "Seconds of training",
    "predict_seconds": "Seconds for 1000 predictions",
    "megabytes": "Megabytes at the peak, data included",
    "kilobytes": "Kilobytes of the stored model",
}
_WANTED = {
    "a short training": ("fit_seconds", "s"),
    "fast predictions": ("predict_seconds", "s for 1000 rows"),
    "a small model": ("kilobytes", "kB"),
}


def show_answers(study: Study) -> Table:
    """Return which method serves which wish best, with the numbers behind it."""
    rows = []
    for kind in KINDS[:2]:
        comparison = compare(study, kind)
        if len(comparison.datasets) < _FEWEST_SETS:
            rows.append((Cell(kind), Cell("any"), Cell("…"), Cell("too few sets are complete")))
            continue
        rows.append((Cell(kind), *_smallest_error(comparison)))
        rows += [(Cell(kind), *_cheapest(comparison, wish)) for wish in _WANTED]
    caption = (
        f"{scale_note(study)}Short, fast and small: the least of the methods whose mean error is within "
        f"{ROPE:g} point of the least."
    )
    table = Table(("classes", "you want", "take", "numbers"), tuple(rows), caption)
    save_table(study, table, "answers")
    return table


def _smallest_error(comparison: Comparison) -> tuple[Cell, Cell, Cell]:
    ranks = comparison.ranks.sort_values()
    limit = critical_difference(len(comparison.methods), len(comparison.datasets))
    apart = [name for name in ranks.index[1:] if ranks[name] - ranks.iloc[0] >= limit]
    close = [name for name in ranks.index[1:] if name not in apart]
    best = str(ranks.index[0])
    error = comparison.by_method("error", best).mean()
    note = f"average rank {ranks.iloc[0]:.1f} of {len(ranks)}, mean error {error:.1f} %; "
    if len(apart) < len(close):
        note += f"told apart from: {', '.join(apart) or 'none'}"
    else:
        note += f"not told apart from: {', '.join(close) or 'none'}"
    return Cell("the smallest error"), Cell(best), Cell(note)


def _cheapest(comparison: Comparison, wish: str) -> tuple[Cell, Cell, Cell]:
    metric, unit = _WANTED[wish]
    errors, cost = comparison.errors.mean(axis=0), comparison.typical(metric)
    good = np.flatnonzero(errors <= errors.min() + ROPE)
    first = int(good[cost[good].argmin()])
    best = int(errors.argmin())
    note = (
        f"{significant(cost[first], 2)} {unit}, mean error {errors[first]:.1f} %; "
        f"{comparison.methods[best]}: {significant(cost[best], 2)} {unit}, {errors[best]:.1f} %"
    )
    return Cell(wish), Cell(comparison.methods[first]), Cell(note)


def show_ranks(study: Study) -> Table:
    """Return Friedman's test and the critical difference of each comparison."""
    rows = []
    for kind in KINDS:
        comparison = compare(study, kind)
        n_sets, n_methods = len(comparison.datasets), len(comparison.methods)
        counts = Cell(str(n_sets)), Cell(str(n_methods))
        if n_sets < _FEWEST_SETS:
            rows.append((Cell(kind), *counts, Cell("…"), Cell("…"), Cell("…")))
            continue
        statistic, p_value = friedman(comparison)
        ranks = comparison.ranks
        first = f"{ranks.idxmin()} ({ranks.min():.1f})"
        p_text = "< 0.0001" if p_value < 1e-4 else significant(p_value, 2)
        limit = f"{critical_difference(n_methods, n_sets):.2f}"
        rows.append((Cell(kind), *counts, Cell(f"{statistic:.1f} (p {p_text})"), Cell(limit), Cell(first)))
    header = ("comparison", "sets", "methods", "Friedman", "critical difference", "best rank")
    caption = f"{scale_note(study)}Critical difference of average ranks: Nemenyi's test at {100 * LEVEL:g} %."
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "ranks")
    return table


def show_probabilities(study: Study, kind: Kind) -> Table:
    """Return for each method the probabilities against the best method of today."""
    comparison = compare(study, kind)
    if len(comparison.datasets) < _FEWEST_SETS:
        rows, rival = (
            ((Cell("…"), Cell("too few sets are complete"), Cell(""), Cell("")),),
            "the best of today",
        )
    else:
        rival = best_peer(comparison)
        found = against(comparison, rival)
        ordered = sorted(found, key=lambda method: comparison.ranks[method])
        rows = tuple((Cell(m), *(Cell(f"{share:.2f}") for share in found[m])) for m in ordered)
    header = (f"{kind}, against {rival}", "better", "equal", "worse")
    caption = (
        f"{scale_note(study)}Bayesian signed-rank test over sets; equal: within {ROPE:g} point of error."
    )
    table = Table(header, rows, caption)
    save_table(study, table, f"probabilities_{kind.replace(' ', '_')}")
    return table


def show_masters(study: Study) -> Table:
    """Return objectives and gaps of both masters over both oracles, and whether they agree."""
    evidence = study.evidence("masters")
    rows = []
    for label in evidence.datasets:
        for family in ("stumps", "kernels"):
            pair = [f"{family} / {master}" for master in ("CGENS", "CG-Boost")]
            if set(pair) <= set(evidence.methods):
                rows.append((Cell(label), Cell(family), *_pair_cells(evidence, label, pair)))
    header = ("set", "hypotheses", "CGENS", "columns", "CG-Boost", "columns", "difference", "sum of gaps")
    caption = (
        f"{scale_note(study)}Objectives of the first run, the largest difference over runs and the largest "
        "sum of the two certified gaps."
    )
    table = Table(header, tuple(rows), caption)
    save_table(study, table, "masters")
    return table


def _pair_cells(evidence, label: str, pair: list[str]) -> list[Cell]:
    values = {
        metric: [evidence.sample(metric, dataset=label, method=method).values for method in pair]
        for metric in ("objective", "gap", "columns")
    }
    if not all(len(some) for some in values["objective"]):
        return [Cell("…")] * 6
    shared = min(map(len, values["objective"]))
    objectives, gaps = (np.array([some[:shared] for some in values[m]]) for m in ("objective", "gap"))
    cells = []
    for k in range(2):
        cells += [Cell(significant(objectives[k, 0], 5)), Cell(f"{values['columns'][k][0]:.0f}")]
    difference, allowed = np.abs(np.diff(objectives, axis=0)).max(), gaps.sum(axis=0).max()
    mark = "✓" if (np.abs(np.diff(objectives, axis=0))[0] <= gaps.sum(axis=0)).all() else "✗"
    return [*cells, Cell(f"{difference:.1e}", mark=mark), Cell(f"{allowed:.1e}")]
