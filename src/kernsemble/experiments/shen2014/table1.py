"""Trials of table I: decision stumps, and the machine with the stump kernel."""

from __future__ import annotations

from kernsemble.experiments.shen2014.draws import Draw, draw, folds_of
from kernsemble.experiments.shen2014.ensembles import Stages, boost, generate, search
from kernsemble.experiments.shen2014.machines import DISTANCE_KERNELS, powers_of_two, train_on_kernel
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.shen2014.sets import BINARY_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.hinge import Hinge
from kernsemble.masters.lp import HingeLP


@paper.trials("table1", methods=("AdaBoost",), datasets=BINARY_SETS)
def boosted_stumps(trial: Trial, *, n_folds: int, rounds: list[int]) -> dict[str, float]:
    """AdaBoost, its number of rounds by cross-validation."""
    data = draw(trial)

    def fit(part: Draw, _: float) -> Stages:
        return boost(StumpOracle(part.X), part.y, rounds)

    _, t = search(fit, data, folds_of(trial, data.y, n_folds), [1.0], rounds).best()
    scores = fit(data, 1.0).scores(data.X_test)
    return {"error": data.error(scores[:, t]), "error_500": data.error(scores[:, -1]), "rounds": rounds[t]}


@paper.trials("table1", methods=("LPBoost",), datasets=BINARY_SETS)
def lp_stumps(
    trial: Trial, *, n_folds: int, rounds: list[int], log2_C_lp: list[int], tol: float
) -> dict[str, float]:
    """LPBoost, its C and number of rounds by cross-validation."""
    data = draw(trial)

    def fit(part: Draw, C: float) -> Stages:
        return generate(StumpOracle(part.X), HingeLP(part.y, C), rounds, tol)

    return _selected(trial, data, fit, powers_of_two(log2_C_lp), n_folds, rounds)


@paper.trials("table1", methods=("CGENS",), datasets=BINARY_SETS)
def cgens_stumps(
    trial: Trial, *, n_folds: int, rounds: list[int], log2_C: list[int], tol: float
) -> dict[str, float]:
    """CGENS, its C and number of rounds by cross-validation."""
    data = draw(trial)

    def fit(part: Draw, C: float) -> Stages:
        master = Hinge(part.y, C, intercept="free", tol=tol)
        return generate(StumpOracle(part.X, constant=False), master, rounds, tol)

    return _selected(trial, data, fit, powers_of_two(log2_C), n_folds, rounds)


def _selected(trial: Trial, data: Draw, fit, Cs: list[float], n_folds: int, rounds: list[int]) -> dict:
    """Return the errors with C and rounds selected, and with all rounds and C alone selected."""
    found = search(fit, data, folds_of(trial, data.y, n_folds), Cs, rounds)
    C, t = found.best()
    scores = fit(data, C).scores(data.X_test)
    last, _ = found.best(len(rounds) - 1)
    all_rounds = scores if last == C else fit(data, last).scores(data.X_test)
    return {
        "error": data.error(scores[:, t]),
        "error_500": data.error(all_rounds[:, -1]),
        "C": C,
        "rounds": rounds[t],
    }


@paper.trials("table1", methods=("SVM",), datasets=BINARY_SETS)
def stump_machine(trial: Trial, *, n_folds: int, log2_C_stump: list[int]) -> dict[str, float]:
    """Machine with the stump kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["stump"]
    folds = folds_of(trial, data.y, n_folds)
    K, K_test = kernel(data.X), kernel(data.X_test, data.X)
    scores, C, size = train_on_kernel(K, K_test, data.y, folds, powers_of_two(log2_C_stump))
    return {"error": data.error(scores), "C": C, "size": size}
