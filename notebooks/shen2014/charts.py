"""Figures 1, 2, 3 and 5 of shen2014 and the ranks of claim 4.1, drawn from its evidence."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kernsemble.report.figures import (
    PALETTE,
    draw_band,
    draw_boundary,
    draw_classes,
    grid_points,
    plane_grid,
    subplots,
)
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from shen2014.cgens import stump_ensemble
from shen2014.sets import VISION_SETS
from shen2014.toy import toy_draw


def draw_legend(axes: Axes, **options: object) -> None:
    """Draw a legend; where there is nothing to explain yet, say so."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**options)
    else:
        axes.text(0.5, 0.5, "nothing computed here yet", transform=axes.transAxes, ha="center")


def draw_toy(study: Study) -> Figure:
    """Draw figure 1: the boundary of CGENS on the first draw, and errors against rounds over all draws."""
    protocol = study.protocol("figure1")
    rounds, evidence = protocol["checkpoints"], study.evidence("figure1")
    figure, (plane, errors) = subplots(1, 2, size=(8.5, 3.6))
    data = toy_draw(Trial("shen2014", "figure1", "toy", "CGENS", 0), protocol["n_train"], protocol["n_test"])
    chosen = evidence.sample("C", dataset="toy", method="CGENS").values
    if len(chosen):
        fit = stump_ensemble("CGENS", study.choices["tol"].value)
        ensemble = fit(data, chosen[0], rounds[-1:])
        grid = plane_grid(data.X)
        draw_boundary(plane, grid, ensemble.scores(grid_points(grid))[:, 0])
    draw_classes(plane, data.X, data.y, size=10)
    plane.set(title=f"CGENS, {rounds[-1]} rounds", aspect="equal", xlabel="$x_1$", ylabel="$x_2$")
    for method, color in zip(evidence.methods, PALETTE, strict=False):
        for metric, style in (("train", "--"), ("test", "-")):
            curves = evidence.curves(metric, dataset="toy", method=method)
            if len(curves):
                draw_band(errors, rounds, curves, f"{method}, {metric}", color=color, linestyle=style)
    errors.set(xscale="log", xlabel="rounds", ylabel="error (%)")
    draw_legend(errors)
    return figure


def draw_training_time(study: Study) -> Figure:
    """Draw figure 2: seconds against rounds and against digits; hollow where the limit ended a run."""
    figure, (top, bottom) = subplots(1, 2, size=(9, 3.4))
    for axes, exhibit, name in (
        (top, "figure2", "time_checkpoints"),
        (bottom, "figure2_examples", "digit_counts"),
    ):
        evidence, x = study.evidence(exhibit), study.protocol(exhibit)[name]
        for method, color, marker in zip(evidence.methods, PALETTE, "os^", strict=False):
            curves = evidence.curves("seconds_curve", dataset="MNIST", method=method)
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
    """Draw figure 3: test error and seconds against rounds on the vision sets that the scale runs."""
    evidence, rounds = study.evidence("table3"), study.protocol("table3")["checkpoints"]
    labels = [label for label in evidence.datasets if label in VISION_SETS] or evidence.datasets[:2] or ("",)
    figure, axes = subplots(2, len(labels), size=(2.8 * len(labels) + 0.6, 5), squeeze=False, sharex=True)
    for (top, bottom), label in zip(axes.T, labels, strict=True):
        for method, color in zip(evidence.methods, PALETTE, strict=False):
            curves = evidence.curves("curve", dataset=label, method=method)
            seconds = evidence.curves("seconds_curve", dataset=label, method=method)
            if len(curves):
                draw_band(top, rounds[3:], curves[:, 3:], method, color=color)
                draw_band(bottom, rounds[3:], seconds[:, 3:], method, color=color)
        top.set(title=label)
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
    for method, shift, color in zip(("AdaBoost", "Ours"), (-0.2, 0.2), PALETTE[:2], strict=True):
        counts = evidence.curves("features", dataset="spam", method=method)
        if len(counts):
            places = 1 + np.arange(counts.shape[1]) + shift
            axes.bar(places, counts.mean(axis=0), 0.4, color=color, label=method.replace("Ours", "CGENS"))
    axes.set(xlabel="feature", ylabel="of 60 stumps", xlim=(0, 58))
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
