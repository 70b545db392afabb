"""Trials of figure 2: decision boundaries on threenorm in the plane, and how far they are from Bayes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernsemble.data.generators import bayes_decision
from kernsemble.trials.trial import Trial
from linli2005.boosters import (
    Directions,
    Start,
    boost_perceptrons,
    boost_stumps,
    scores_at,
)
from linli2005.draws import Draw, FoldKind, MissingVotes, Scaling, draw, folds_of
from linli2005.machines import (
    DISTANCE_KERNELS,
    Ties,
    powers_of_two,
    train_distance_machine,
)
from linli2005.plan import paper
from linli2005.sets import PLANE_SET

HALF_WIDTH = 4.5  # of the square that boundaries are compared on; it holds 99.8 % of the points
N_CELLS = 180
METHODS = ("SVM-Stump", "AB-Stump-100", "AB-Stump-1000", "SVM-Perc", "AB-Perc-100", "AB-Perc-1000")


@paper.trials("figure2", methods=METHODS, datasets=(PLANE_SET,), together=True)
def boundaries(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
    perfect_error: float,
    rcd_updates: int,
    rcd_start: Start,
    rcd_directions: Directions,
) -> dict[str, dict[str, float]]:
    """Train the four algorithms on one draw, and compare each with Bayes on the square."""
    data = draw(trial, sizes, scaling, missing_votes)
    selection = folds_of(trial, data, n_folds, folds), powers_of_two(log2_C_distance), ties
    learner = rcd_updates, rcd_start, rcd_directions, trial.seed()
    decisions = plane_decisions(data, selection, perfect_error, learner)
    return {name: distances_from_bayes(decisions[name]) for name in METHODS}


def plane_decisions(data: Draw, selection: tuple, perfect: float, learner: tuple) -> dict[str, np.ndarray]:
    """Return the scores of all methods at all cells of the square."""
    points = plane_points()[1]
    on_plane = replace(data, X_test=points)
    decisions = {
        kernel: train_distance_machine(kernel, on_plane, *selection).test_scores
        for kernel in DISTANCE_KERNELS
    }
    ensembles = {
        "AB-Stump": boost_stumps(data, 1000, perfect),
        "AB-Perc": boost_perceptrons(data, 1000, perfect, *learner),
    }
    for name, ensemble in ensembles.items():
        for T, scores in zip((100, 1000), scores_at(ensemble, points, (100, 1000)), strict=True):
            decisions[f"{name}-{T}"] = scores
    return decisions


def plane_points(n_cells: int = N_CELLS, half_width: float = HALF_WIDTH) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell centers of one axis, and those of all cells of the square, (n_cells^2, 2)."""
    axis = half_width * (2.0 * (np.arange(n_cells) + 0.5) / n_cells - 1.0)
    return axis, np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])


def class_densities(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the densities of class 1 and class 2 of threenorm in the plane."""
    center = np.sqrt(2.0) * np.array([1.0, -1.0])
    second = np.exp(-0.5 * ((points - center) ** 2).sum(axis=1)) / (2.0 * np.pi)
    return second * np.exp(bayes_decision("threenorm", points)), second


def distances_from_bayes(decision: np.ndarray) -> dict[str, float]:
    """Compare the scores of a classifier with Bayes on all cells of the square, in percent.

    area: share of the square where they differ. probability: that a point falls there. excess: error above
    the smallest possible one.
    """
    axis, points = plane_points()
    cell = (axis[1] - axis[0]) ** 2
    first, second = class_densities(points)
    differs = (decision > 0) != (first > second)
    return {
        "area": 100.0 * float(differs.mean()),
        "probability": 50.0 * cell * float((first + second)[differs].sum()),
        "excess": 50.0 * cell * float(np.abs(first - second)[differs].sum()),
    }
