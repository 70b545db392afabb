"""Drawings of bi2004's toy problem: figure 1's target and the four models of it, with their columns."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from kernsemble.data.generators import linear_rbf_target
from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.report.figures import subplots
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from bi2004.small_sets import fit_target, target_data
from bi2004.trials import SMALL_CHOICES, TARGET, columns_by_kernel

_GRID = 60


def toy_data(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """Return the 50 training points of trial 0."""
    values = study.protocol("figure1")
    trial = Trial(study.key, "figure1", TARGET, "drawing", 0)
    return target_data(trial, values["target_sizes"], values["target_sigma"], values["target_noise"])[0]


def toy_models(study: Study, norm: str, C: float) -> dict[str, CGBoostRegressor]:
    """Return the four models of the training points, at one C."""
    values, (X, y) = study.protocol("figure1"), toy_data(study)
    settings = values["target_sigma"], values["target_epsilon"], values["gap"]
    return {name: fit_target(f"{norm}/{name}", X, y, C, *settings) for name in SMALL_CHOICES}


def draw_toy(study: Study, norm: str, C: float) -> Figure:
    """Draw the target with its training points, then four models with the centers of their RBF columns."""
    sigma = study.protocol("figure1")["target_sigma"]
    axis = np.linspace(-1, 1, _GRID)
    points = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    X, _ = toy_data(study)
    models = toy_models(study, norm, C)
    surfaces = {"target": linear_rbf_target(points, sigma)}
    surfaces |= {name: model.predict(points) for name, model in models.items()}
    figure, axes = subplots(1, len(surfaces), size=(11, 2.7), sharey=True)
    for panel, (name, values) in zip(axes, surfaces.items(), strict=True):
        look = {"levels": np.linspace(-3.5, 3.5, 15), "cmap": "RdBu_r", "extend": "both"}
        panel.contourf(axis, axis, values.reshape(_GRID, _GRID), **look).set_rasterized(True)
        panel.set(title=name, aspect="equal", xlim=(-1, 1), ylim=(-1, 1))
        panel.grid(visible=False)
        if name == "target":
            panel.plot(*X.T, "k.", markersize=3)
        else:
            panel.plot(
                *rbf_centers(models[name]).T, "ko", markersize=3, fillstyle="none", markeredgewidth=0.7
            )
            counts = columns_by_kernel(models[name].n_columns_)
            panel.set_xlabel(f"{counts['linear']} linear, {counts['rbf']} RBF")
    return figure


def rbf_centers(model: CGBoostRegressor) -> np.ndarray:
    """Centers of the columns that have an RBF part and a weight."""
    found = [np.empty((0, 2))]
    parts = zip(
        model.hypotheses_.kernels, model.hypotheses_.centers, model.hypotheses_.positions, strict=True
    )
    for kernel, centers, positions in parts:
        if "rbf" in kernel.name:
            found.append(centers[model.coef_[positions] != 0])
    return np.vstack(found)
