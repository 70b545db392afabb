"""What one would try today: tree ensembles and the Gaussian machine, from their own libraries."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC

from kernsemble.trials.trial import Trial
from atlas.contest import Grid, contest
from atlas.draws import Rows
from atlas.plan import paper
from atlas.sizes import (
    count_forest_leaves,
    count_histogram_leaves,
    count_lightgbm_leaves,
    count_support_vectors,
    count_xgboost_leaves,
)


@paper.trials("arena", methods=("SVM-Gauss",))
def svm_gauss(trial: Trial, *, rows: Rows, grid_svm_gauss: Grid) -> dict[str, float]:
    """scikit-learn's machine (one against one); gamma_d is gamma times the number of features."""
    return contest(
        trial,
        rows,
        lambda c, d: SVC(C=c["C"], gamma=c["gamma_d"] / d),
        grid_svm_gauss,
        count_support_vectors,
    )


@paper.trials("arena", methods=("RandomForest",))
def random_forest(trial: Trial, *, rows: Rows, grid_random_forest: Grid) -> dict[str, float]:
    """scikit-learn's random forest."""
    seed = trial.seed()
    return contest(
        trial,
        rows,
        lambda c, d: RandomForestClassifier(random_state=seed, **c),
        grid_random_forest,
        count_forest_leaves,
    )


@paper.trials("arena", methods=("HistGB",))
def histogram_boosting(trial: Trial, *, rows: Rows, grid_histgb: Grid) -> dict[str, float]:
    """scikit-learn's histogram gradient boosting."""
    options = {"early_stopping": False, "random_state": trial.seed()}
    return contest(
        trial,
        rows,
        lambda c, d: HistGradientBoostingClassifier(**options, **c),
        grid_histgb,
        count_histogram_leaves,
    )


@paper.trials("arena", methods=("LightGBM",))
def lightgbm(trial: Trial, *, rows: Rows, grid_lightgbm: Grid) -> dict[str, float]:
    """LightGBM, one thread, in its repeatable mode."""
    from lightgbm import LGBMClassifier  # imported here: only this trial needs it

    options = {"n_jobs": 1, "deterministic": True, "force_row_wise": True, "verbose": -1}
    options["random_state"] = trial.seed()
    return contest(
        trial, rows, lambda c, d: LGBMClassifier(**options, **c), grid_lightgbm, count_lightgbm_leaves
    )


@paper.trials("arena", methods=("XGBoost",))
def xgboost(trial: Trial, *, rows: Rows, grid_xgboost: Grid) -> dict[str, float]:
    """XGBoost, one thread."""
    from xgboost import XGBClassifier  # imported here: only this trial needs it

    options = {"n_jobs": 1, "tree_method": "hist", "random_state": trial.seed()}
    return contest(
        trial, rows, lambda c, d: XGBClassifier(**options, **c), grid_xgboost, count_xgboost_leaves
    )
