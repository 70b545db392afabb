"""The methods of the papers that serve two classes and more."""

from __future__ import annotations

from kernsemble.estimators.cgens_sls import CGEnsSLS
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.estimators.drm import DRM
from kernsemble.estimators.exrm import ExRM
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.trials.trial import Trial
from atlas.contest import Grid, contest
from atlas.draws import Rows
from atlas.plan import paper
from atlas.sizes import (
    count_dual_rows,
    count_linear_machines,
    count_support_vectors,
    count_weighted,
)


@paper.trials("arena", methods=("SVM-Stump",))
def svm_stump(trial: Trial, *, rows: Rows, grid_svm_stump: Grid) -> dict[str, float]:
    """linli2005: the infinite ensemble of stumps."""
    return contest(
        trial,
        rows,
        lambda c, d: DistanceKernelSVC("stump", multi_class="ovr", **c),
        grid_svm_stump,
        count_support_vectors,
    )


@paper.trials("arena", methods=("SVM-Perc",))
def svm_perceptron(trial: Trial, *, rows: Rows, grid_svm_perceptron: Grid) -> dict[str, float]:
    """linli2005: the infinite ensemble of perceptrons."""
    return contest(
        trial,
        rows,
        lambda c, d: DistanceKernelSVC("perceptron", multi_class="ovr", **c),
        grid_svm_perceptron,
        count_support_vectors,
    )


@paper.trials("arena", methods=("CGENS-SLS",))
def cgens_sls(trial: Trial, *, rows: Rows, grid_cgens_sls: Grid) -> dict[str, float]:
    """shen2014: least squares on simplex codes over stumps."""
    return contest(trial, rows, lambda c, d: CGEnsSLS(tol=1e-6, **c), grid_cgens_sls, count_weighted)


@paper.trials("arena", methods=("MultiBoost-cw",))
def multiboost(trial: Trial, *, rows: Rows, grid_multiboost: Grid) -> dict[str, float]:
    """lin2012: totally corrective, stumps for each class."""
    return contest(trial, rows, lambda c, d: MultiBoost(**c), grid_multiboost, count_weighted)


@paper.trials("arena", methods=("ExRM",))
def exrm(trial: Trial, *, rows: Rows, grid_exrm: Grid) -> dict[str, float]:
    """guo2017: the exclusivity regularized machine."""
    return contest(trial, rows, lambda c, d: ExRM(**c), grid_exrm, count_linear_machines)


@paper.trials("arena", methods=("DRM",))
def drm(trial: Trial, *, rows: Rows, grid_drm: Grid) -> dict[str, float]:
    """guo2017's rival: the diversity regularized machine."""
    return contest(trial, rows, lambda c, d: DRM(random_state=trial.seed(), **c), grid_drm, count_dual_rows)
