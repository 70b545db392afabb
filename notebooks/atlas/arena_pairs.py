"""The methods of the papers for two classes only, and AdaBoost's forms for more.

With two classes AdaBoost.MH, .ECC and .MO are AdaBoost, so they stand on sets of more classes alone.
"""

from __future__ import annotations

from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostECC, AdaBoostMH, AdaBoostMO
from kernsemble.trials.trial import Trial
from atlas.contest import Grid, contest
from atlas.draws import Rows
from atlas.plan import paper
from atlas.sets import BINARY_SETS, MULTICLASS_SETS
from atlas.sizes import count_weighted


@paper.trials("arena", methods=("AdaBoost-Stump",), datasets=BINARY_SETS)
def adaboost_stumps(trial: Trial, *, rows: Rows, grid_adaboost: Grid) -> dict[str, float]:
    """The finite rival of linli2005 and shen2014."""
    return contest(trial, rows, lambda c, d: AdaBoost(**c), grid_adaboost, count_weighted)


@paper.trials("arena", methods=("AdaBoost-Perc",), datasets=BINARY_SETS)
def adaboost_perceptrons(trial: Trial, *, rows: Rows, grid_adaboost_perceptron: Grid) -> dict[str, float]:
    """The same over perceptrons, found by random coordinate descent."""
    options = {"base": "perceptron", "random_state": trial.seed()}
    return contest(
        trial, rows, lambda c, d: AdaBoost(**options, **c), grid_adaboost_perceptron, count_weighted
    )


@paper.trials("arena", methods=("LPBoost",), datasets=BINARY_SETS)
def lpboost(trial: Trial, *, rows: Rows, grid_lpboost: Grid) -> dict[str, float]:
    """The l1 rival of shen2014, over stumps."""
    return contest(trial, rows, lambda c, d: LPBoost(**c), grid_lpboost, count_weighted)


@paper.trials("arena", methods=("CGENS-Stump",), datasets=BINARY_SETS)
def cgens_stumps(trial: Trial, *, rows: Rows, grid_cgens_stump: Grid) -> dict[str, float]:
    """shen2014: the machine's own problem over stumps, by column generation."""
    return contest(trial, rows, lambda c, d: CGEns(**c), grid_cgens_stump, count_weighted)


@paper.trials("arena", methods=("CGENS-Fourier",), datasets=BINARY_SETS)
def cgens_cosines(trial: Trial, *, rows: Rows, grid_cgens_fourier: Grid) -> dict[str, float]:
    """shen2014: the same over random cosines; gamma_d is gamma times the number of features."""

    def make(config: dict, d: int) -> CGEns:
        options = {"gamma": config["gamma_d"] / d, "n_hypotheses": config["n_hypotheses"]}
        others = {name: value for name, value in config.items() if name in ("C", "n_rounds", "tol")}
        return CGEns(base="fourier", base_options=options, random_state=trial.seed(), **others)

    return contest(trial, rows, make, grid_cgens_fourier, count_weighted)


@paper.trials("arena", methods=("CG-Boost-l1", "CG-Boost-l2"), datasets=BINARY_SETS)
def cg_boost(trial: Trial, *, rows: Rows, grid_cg_boost: Grid) -> dict[str, float]:
    """bi2004: mixtures of linear, quadratic and Gaussian kernels, both norms."""
    norm = trial.method[-2:]
    return contest(
        trial,
        rows,
        lambda c, d: CGBoostClassifier(norm=norm, stratified=True, **c),
        grid_cg_boost,
        count_weighted,
    )


@paper.trials("arena", methods=("AdaBoost.MH",), datasets=MULTICLASS_SETS)
def adaboost_mh(trial: Trial, *, rows: Rows, grid_adaboost: Grid) -> dict[str, float]:
    """lin2012's rival whose classes share their stumps."""
    return contest(trial, rows, lambda c, d: AdaBoostMH(**c), grid_adaboost, count_weighted)


@paper.trials("arena", methods=("AdaBoost.ECC",), datasets=MULTICLASS_SETS)
def adaboost_ecc(trial: Trial, *, rows: Rows, grid_adaboost: Grid) -> dict[str, float]:
    """lin2012's rival that grows an error-correcting code."""
    seed = trial.seed()
    return contest(
        trial, rows, lambda c, d: AdaBoostECC(random_state=seed, **c), grid_adaboost, count_weighted
    )


@paper.trials("arena", methods=("AdaBoost.MO",), datasets=MULTICLASS_SETS)
def adaboost_mo(trial: Trial, *, rows: Rows, grid_adaboost_mo: Grid) -> dict[str, float]:
    """lin2012's rival of one stump a class and round."""
    return contest(trial, rows, lambda c, d: AdaBoostMO(**c), grid_adaboost_mo, count_weighted)
