"""Drawings of linli2005's framework: its steps, the weights of its ensembles, the boundaries of figure 2."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch

from kernsemble.report.figures import PALETTE, draw_boundary, draw_classes, subplots
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from linli2005.draws import Draw, draw, folds_of
from linli2005.ensembles import perceptron_weights, stump_weights
from linli2005.figure2 import class_densities, plane_decisions, plane_points
from linli2005.machines import powers_of_two
from linli2005.sets import PLANE_SET

STEPS = (
    "1  training set;\n$\\mathcal{H}$ with negations\nand a constant",
    "2  kernel that\nembodies $\\mathcal{H}$",
    "3  parameters,\nsuch as $C$",
    "4  solve $(P_2)$\nfor $\\lambda$ and $b$",
    "5  classifier =\nensemble over $\\mathcal{H}$",
)


def small_draw(study: Study, n_points: int) -> Draw:
    """Return the first points of threenorm in the plane, trial 0."""
    protocol = study.protocol("figure1")
    trial = Trial(study.key, "figure1", PLANE_SET, "drawing", 0)
    data = draw(trial, *(protocol[name] for name in ("sizes", "scaling", "missing_votes")))
    return Draw(data.X[:n_points], data.y[:n_points], data.X_test, data.y_test)


def draw_steps(axes: Axes) -> None:
    """Draw the five steps of the framework (figure 1) as boxes."""
    axes.set(xlim=(0, 10), ylim=(0, 1))
    axes.axis("off")
    look = {"boxstyle": "round,pad=0.03,rounding_size=0.1", "facecolor": "#EAF2F8", "edgecolor": PALETTE[0]}
    for k, text in enumerate(STEPS):
        left = 2.03 * k + 0.05
        axes.add_patch(FancyBboxPatch((left, 0.06), 1.7, 0.88, mutation_aspect=0.5, **look))
        axes.text(left + 0.85, 0.5, text, ha="center", va="center", fontsize=9.5, linespacing=1.5)
        if k < len(STEPS) - 1:
            arrow = {"arrowstyle": "-|>", "color": PALETTE[0], "lw": 1.5}
            axes.annotate("", (left + 2.02, 0.5), (left + 1.73, 0.5), arrowprops=arrow)


def draw_stump_weights(axes: Axes, X: np.ndarray, beta: np.ndarray) -> None:
    """Draw the weights of the stumps against their threshold, a curve for each feature."""
    for d, color in zip(range(X.shape[1]), PALETTE[2:], strict=False):
        margin = 0.1 * np.ptp(X[:, d])
        cuts, steps = stump_weights(X[:, d], beta, X[:, d].min() - margin, X[:, d].max() + margin)
        axes.stairs(steps, cuts, label=f"feature {d + 1}", color=color, linewidth=1.5)
    axes.axhline(0, color="#888888", linewidth=0.6)
    axes.set(title="Weights of the stumps", xlabel=r"threshold $\alpha$", ylabel=r"weight $g_d(\alpha)$")
    axes.legend()


def draw_perceptron_weights(axes: Axes, X: np.ndarray, beta: np.ndarray) -> None:
    """Draw the weight of the perceptrons of the plane against direction and threshold."""
    angles = np.linspace(0, np.pi, 181)
    radius = 1.05 * np.sqrt((X**2).sum(axis=1).max())
    thresholds = np.linspace(-radius, radius, 201)
    weights = perceptron_weights(X, beta, angles, thresholds)
    limit = np.abs(weights).max()
    image = axes.pcolormesh(
        np.degrees(angles), thresholds, weights.T, cmap="RdBu", vmin=-limit, vmax=limit, rasterized=True
    )
    axes.figure.colorbar(image, ax=axes, label="weight")
    axes.set(title="Weights of the perceptrons", xticks=range(0, 181, 45))
    axes.set(xlabel=r"direction of $\theta$ (degrees)", ylabel=r"threshold $\alpha$")
    axes.grid(visible=False)


def draw_boundaries(study: Study) -> Figure:
    """Draw figure 2: the boundaries of four algorithms on trial 0, with that of Bayes."""
    protocol = study.protocol("figure2")
    trial = Trial(study.key, "figure2", PLANE_SET, "boundaries", 0)
    data = draw(trial, *(protocol[name] for name in ("sizes", "scaling", "missing_votes")))
    folds = folds_of(trial, data, protocol["n_folds"], protocol["folds"])
    selection = folds, powers_of_two(protocol["log2_C_distance"]), protocol["ties"]
    learner = *(protocol[f"rcd_{name}"] for name in ("updates", "start", "directions")), trial.seed()
    decisions = plane_decisions(data, selection, protocol["perfect_error"], learner)
    axis, points = plane_points()
    first, second = class_densities(points)
    figure, axes = subplots(2, 2, size=(6.4, 6.7), sharex=True, sharey=True)
    names = ("SVM-Stump", "AB-Stump-1000", "SVM-Perc", "AB-Perc-1000")
    for panel, name in zip(axes.flat, names, strict=True):
        draw_boundary(panel, (axis, axis), decisions[name])
        draw_boundary(panel, (axis, axis), np.log(first / second), color=PALETTE[2], shade=False)
        draw_classes(panel, data.X, data.y, size=6)
        panel.set(title=name, aspect="equal", xlim=(-4.5, 4.5), ylim=(-4.5, 4.5))
        panel.set(xlabel="feature 1", ylabel="feature 2")
        panel.label_outer()
    lines = [Line2D([], [], color=color) for color in ("black", PALETTE[2])]
    points, classes = axes[0, 0].get_legend_handles_labels()
    names = ("boundary of the classifier", "boundary of Bayes", *(f"class {sign}" for sign in classes))
    figure.legend([*lines, *points], names, loc="outside lower center", ncols=4)
    return figure
