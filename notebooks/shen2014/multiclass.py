"""Trials of table III and figure 3: ensembles of stumps for several classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import process_time

import numpy as np

from kernsemble.boosting.stagewise import adaboost_ecc, adaboost_mh
from kernsemble.column_generation import column_generation
from kernsemble.data.features.store import load_features
from kernsemble.data.splits import official_split, split_per_class
from kernsemble.data.store import load
from kernsemble.hypotheses.stumps import StumpHypotheses, StumpOracle
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares, simplex_codes
from kernsemble.trials.trial import Trial
from shen2014.draws import Draw, folds_of
from shen2014.machines import powers_of_two
from shen2014.plan import paper
from shen2014.protocol import Classes
from shen2014.sets import MULTICLASS_SETS, STORED, UCI_SETS

_FEATURES = {"CIFAR10": "cifar10-gist", "Scene15": "scene15-words"}


def multiclass_draw(trial: Trial) -> Draw:
    """Split as the paper says: 75 : 25; MNIST 1000 a class, CIFAR10 as it comes; Scene15 100 a class."""
    name = trial.dataset
    data = load_features(_FEATURES[name]) if name in _FEATURES else load(STORED[name])
    X = data.X.reshape(data.n_samples, -1)
    if name == "MNIST":
        train, test = official_split(data.part)
        rows, _ = split_per_class(data.y[train], 1000, "shen2014", name, trial.number)
        train = train[rows]
    elif name == "CIFAR10":
        train, test = official_split(data.part)
    elif name == "Scene15":
        train, test = split_per_class(data.y, 100, "shen2014", name, trial.number)
    else:
        order = trial.shared_rng("split").permutation(data.n_samples)
        train, test = np.split(order, [round(0.75 * data.n_samples)])
    return Draw(X[train], data.y[train], X[test], data.y[test])


@dataclass
class Clock:
    """Counts rounds, and writes down the processor's seconds until each begins."""

    seconds: list[float] = field(default_factory=list)

    def rounds(self, n: int) -> Iterator[int]:
        """Yield 0 .. n - 1."""
        start = process_time()
        for t in range(n):
            self.seconds.append(process_time() - start)
            yield t
        self.seconds.append(process_time() - start)

    def at(self, checkpoints: Sequence[int]) -> np.ndarray:
        """Return the seconds after some numbers of rounds."""
        return np.array([self.seconds[min(T, len(self.seconds) - 1)] for T in checkpoints])


Weights = list[tuple[np.ndarray, np.ndarray | float]]
Fitted = tuple[StumpHypotheses, Weights, Clock]


def boost_classes(
    method: str, part: Draw, checkpoints: Sequence[int], coloring: str, random: np.random.Generator
) -> Fitted:
    """Fit AdaBoost.MH or AdaBoost.ECC; return stumps, weights at some numbers of rounds, and a clock."""
    classes, labels = np.unique(part.y, return_inverse=True)
    clock = Clock()
    rounds, oracle = clock.rounds(max(checkpoints)), StumpOracle(part.X)
    if method == "AdaBoost.MH":
        boosted = adaboost_mh(oracle, labels, len(classes), rounds)
    else:
        options = {"coloring": coloring, "random_state": random}
        boosted = adaboost_ecc(oracle, labels, len(classes), rounds, **options)
    return oracle.collect(boosted.keys), [(boosted.W[:T], 0.0) for T in checkpoints], clock


def fit_simplex(part: Draw, C: float, checkpoints: Sequence[int], *, tol: float) -> Fitted:
    """Fit CGENS-SLS; scores are inner products with the codes, equation (15)."""
    classes, labels = np.unique(part.y, return_inverse=True)
    clock = Clock()
    oracle, master = StumpOracle(part.X, constant=False), SimplexLeastSquares(labels, C)
    result = column_generation(oracle, master, clock.rounds(max(checkpoints)), tol=tol)
    codes = simplex_codes(len(classes)).T
    path = [result.weights[min(T, len(result.weights)) - 1] for T in checkpoints]
    return oracle.collect(result.keys), [(w @ codes, b @ codes) for w, b in path], clock


FitC = Callable[[Draw, float, Sequence[int]], Fitted]


def select_and_fit(
    trial: Trial, fit: FitC, Cs: Sequence[float], classes: Classes
) -> dict[str, float | np.ndarray]:
    """Choose C by cross-validation, on vision sets by a shorter one, and fit; the smaller C of equals."""
    data, checkpoints = multiclass_draw(trial), classes.checkpoints
    folds, search_rounds = folds_of(trial, data.y, classes.n_folds), checkpoints[-1]
    if trial.dataset not in UCI_SETS:
        folds, search_rounds = folds[: classes.vision_search["folds"]], classes.vision_search["rounds"]
    wrong = np.zeros(len(Cs))
    for train, held_out in folds:
        part = data.part(train, held_out)
        for i, C in enumerate(Cs):
            fitted = fit(part, C, [search_rounds])
            wrong[i] += errors_of(fitted, part.X_test, part.y_test)[0] * len(held_out)
    C = Cs[int(wrong.argmin())]
    fitted = fit(data, C, checkpoints)
    curve = errors_of(fitted, data.X_test, data.y_test)
    return {"error": curve[-1], "curve": curve, "C": C, "seconds_curve": fitted[2].at(checkpoints)}


def errors_of(fitted: Fitted, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the error in percent after each of the numbers of rounds."""
    stumps, weights, _ = fitted
    found = []
    for w, b in weights:
        J = len(w)
        first = StumpHypotheses(stumps.features[:J], stumps.thresholds[:J], stumps.signs[:J], X.shape[1])
        found.append(100.0 * float(np.mean((first.decision(X, w) + b).argmax(axis=1) != y)))
    return np.array(found)


@paper.trials("table3", methods=("AdaBoost.ECC", "AdaBoost.MH"), datasets=MULTICLASS_SETS)
def boosted_classes(trial: Trial, *, checkpoints: list[int], coloring: str) -> dict[str, float | np.ndarray]:
    """AdaBoost.ECC and AdaBoost.MH: nothing is selected."""
    data = multiclass_draw(trial)
    one_a_class = np.unique(data.y, return_index=True)[1]
    part = data.part(one_a_class, one_a_class)
    boost_classes(trial.method, part, [2], coloring, trial.rng("compilation"))  # before the clock starts
    fitted = boost_classes(trial.method, data, checkpoints, coloring, trial.rng())
    curve = errors_of(fitted, data.X_test, data.y_test)
    return {"error": curve[-1], "curve": curve, "seconds_curve": fitted[2].at(checkpoints)}


@paper.trials("table3", methods=("CGENS-SLS",), datasets=MULTICLASS_SETS)
def simplex_classes(
    trial: Trial, *, classes: Classes, log2_C_sls: list[int], tol: float
) -> dict[str, float | np.ndarray]:
    """CGENS-SLS, its C by cross-validation."""
    return select_and_fit(trial, partial(fit_simplex, tol=tol), powers_of_two(log2_C_sls), classes)
