"""Trials that the paper did not run: tree ensembles of today, more classes, growing finite ensembles."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from kernsemble.data.generators import waveform
from kernsemble.estimators.distance_svc import DistanceKernelSVCCV
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.trials.trial import Trial
from linli2005.draws import Draw, FoldKind, MissingVotes, Scaling, draw, folds_of
from linli2005.ensembles import SampledFamily, sampled_kernels
from linli2005.machines import Ties, powers_of_two, train_distance_machine
from linli2005.plan import paper
from linli2005.sets import MULTICLASS_SETS, TABLE_SETS

TREES = ("RandomForest", "HistGradientBoosting", "LightGBM")
FAMILIES = {"SVM-Stump": "stump", "SVM-Perc": "perceptron"}


@paper.trials("modern", methods=TREES, datasets=TABLE_SETS)
def trees(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
) -> dict[str, float]:
    """Tree ensembles with the defaults of their libraries, on the splits of the tables."""
    data = draw(trial, sizes, scaling, missing_votes)
    model = make_trees(trial.method, trial.seed()).fit(data.X, data.y)
    return {"error": 100.0 * float(np.mean(model.predict(data.X_test) != data.y_test))}


def make_trees(name: str, seed: int) -> ClassifierMixin:
    """Return a tree ensemble."""
    if name == "RandomForest":
        return RandomForestClassifier(random_state=seed)
    if name == "HistGradientBoosting":
        return HistGradientBoostingClassifier(random_state=seed)
    from lightgbm import LGBMClassifier  # only this trial needs it

    return LGBMClassifier(n_jobs=1, random_state=seed, deterministic=True, verbose=-1)


@paper.trials("multiclass", methods=("SVM-Stump", "SVM-Perc", "SVM-Gauss"), datasets=MULTICLASS_SETS)
def multiclass_machines(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """One machine a class against the rest, one C (and gamma) for all of them, by cross-validation."""
    data = multiclass_draw(trial, sizes, scaling, missing_votes)
    names = {"SVM-Stump": "stump", "SVM-Perc": "perceptron", "SVM-Gauss": "gaussian"}
    gaussian = trial.method == "SVM-Gauss"
    model = DistanceKernelSVCCV(
        names[trial.method],
        Cs=powers_of_two(log2_C_gauss if gaussian else log2_C_distance),
        gammas=powers_of_two(log2_gamma) if gaussian else None,
        cv=folds_of(trial, data, n_folds, folds),
        ties=ties,
        multi_class="ovr",
    ).fit(data.X, data.y)
    return {"error": 100.0 * float(np.mean(model.predict(data.X_test) != data.y_test))}


@paper.trials("multiclass", methods=TREES, datasets=MULTICLASS_SETS)
def multiclass_trees(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
) -> dict[str, float]:
    """Tree ensembles with the defaults of their libraries."""
    data = multiclass_draw(trial, sizes, scaling, missing_votes)
    model = make_trees(trial.method, trial.seed()).fit(data.X, data.y)
    return {"error": 100.0 * float(np.mean(model.predict(data.X_test) != data.y_test))}


def multiclass_draw(
    trial: Trial, sizes: dict[str, float], scaling: Scaling, missing_votes: MissingVotes
) -> Draw:
    """Return the data of a trial with more than two classes."""
    if trial.dataset != "waveform":
        return draw(trial, sizes, scaling, missing_votes)
    rng = trial.shared_rng("split")
    train, test = (waveform(int(sizes[part]), random_state=rng) for part in ("train", "test"))
    return Draw(train.X, train.y.astype(np.float64), test.X, test.y.astype(np.float64))


@paper.trials("finite", methods=tuple(FAMILIES), datasets=TABLE_SETS)
def finite_ensembles(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
    counts: list[int],
) -> dict[str, np.ndarray | float]:
    """Replace the kernel by the average of J sampled hypotheses, at the C of the infinite machine.

    error: test error for each J, and last that of the infinite machine. disagreement: share of test points
    on which the two differ.
    """
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    infinite = train_distance_machine(trial.method, data, parts, powers_of_two(log2_C_distance), ties)
    family = SampledFamily(FAMILIES[trial.method], data.X, trial.rng("hypotheses"))
    errors, disagreements = [], []
    for K, K_test in sampled_kernels(family, counts, data.X, data.X_test):
        solution = solve_kernel_hinge(K, data.y, infinite.C)
        scores = K_test @ solution.w + solution.b
        errors.append(data.error(scores))
        disagreements.append(100.0 * float(np.mean((scores > 0) != (infinite.test_scores > 0))))
    errors.append(data.error(infinite.test_scores))
    return {"error": np.array(errors), "disagreement": np.array(disagreements)}
