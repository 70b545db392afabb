"""Trials of shen2014 with several classes: CGENS-SLS beside three ways to boost, on stumps.

CGENS-SLS is least squares on simplex codes, problem (10); its scores are the inner products with the codes,
equation (15). In table III all methods are clocked, so there they are run round by round.
"""

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
from kernsemble.estimators.cgens_sls import CGEnsSLS
from kernsemble.estimators.multiclass_boosting import AdaBoostECC, AdaBoostMH
from kernsemble.hypotheses.stumps import StumpHypotheses, StumpOracle
from kernsemble.kernels import stump_kernel
from kernsemble.masters.exponential import Exponential
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares, simplex_codes
from kernsemble.trials.bench import Draw, fitted, percent_wrong, powers_of_two
from kernsemble.trials.trial import Trial
from shen2014.theory import ranks_of
from shen2014.trials import (
    MULTICLASS_SETS,
    STORED,
    UCI_SETS,
    Classes,
    Result,
    family_of,
    folds_of,
    paper,
)

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


def select_and_fit(trial: Trial, fit: FitC, Cs: Sequence[float], classes: Classes) -> Result:
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
        found.append(percent_wrong((first.decision(X, w) + b).argmax(axis=1), y))
    return np.array(found)


@paper.trials("table3", methods=("AdaBoost.ECC", "AdaBoost.MH"), datasets=MULTICLASS_SETS)
def boosted_classes(trial: Trial, *, checkpoints: list[int], coloring: str) -> Result:
    """AdaBoost.ECC and AdaBoost.MH: nothing is selected."""
    data = multiclass_draw(trial)
    one_a_class = np.unique(data.y, return_index=True)[1]
    part = data.part(one_a_class, one_a_class)
    boost_classes(trial.method, part, [2], coloring, trial.rng("compilation"))  # before the clock starts
    fitted = boost_classes(trial.method, data, checkpoints, coloring, trial.rng())
    curve = errors_of(fitted, data.X_test, data.y_test)
    return {"error": curve[-1], "curve": curve, "seconds_curve": fitted[2].at(checkpoints)}


@paper.trials("table3", methods=("CGENS-SLS",), datasets=MULTICLASS_SETS)
def simplex_classes(trial: Trial, *, classes: Classes, log2_C_sls: list[int], tol: float) -> Result:
    """CGENS-SLS, its C by cross-validation."""
    return select_and_fit(trial, partial(fit_simplex, tol=tol), powers_of_two(log2_C_sls), classes)


def fit_multiboost(part: Draw, C: float, checkpoints: Sequence[int], *, tol: float) -> Fitted:
    """Fit MultiBoost with columns that all classes share."""
    _, labels = np.unique(part.y, return_inverse=True)
    clock = Clock()
    oracle, master = StumpOracle(part.X), Exponential(labels, C, per_class=False, tol=tol)
    result = column_generation(oracle, master, clock.rounds(max(checkpoints)), tol=tol)
    path = [result.weights[min(T, len(result.weights)) - 1] for T in checkpoints]
    return oracle.collect(result.keys), [(w, 0.0) for w, _ in path], clock


@paper.trials("table3", methods=("MultiBoost",), datasets=MULTICLASS_SETS)
def multiboost_classes(
    trial: Trial, *, classes: Classes, log2_C_exponential: list[int], tol: float
) -> Result:
    """MultiBoost, its C by cross-validation."""
    return select_and_fit(trial, partial(fit_multiboost, tol=tol), powers_of_two(log2_C_exponential), classes)


READINGS = (
    "500 stumps", "all stumps", "500 stumps, 25 : 75", "500 stumps, other speakers",
    "500 stumps, 528 rows", "500 perceptrons", "500 cosines",
)  # fmt: skip
RIVALS = ("AdaBoost.MH, 528 rows", "AdaBoost.ECC, 528 rows")


def _split(trial: Trial) -> Draw:
    """Split 75 : 25 at random, or as a reading says; features are z-scored on the training part."""
    data = load("vowel")
    train, test = official_split(data.part)
    rows = train if "528 rows" in trial.method else np.arange(data.n_samples)
    order = rows[trial.shared_rng("split").permutation(len(rows))]
    if "other speakers" not in trial.method:
        share = 0.25 if "25 : 75" in trial.method else 0.75
        train, test = np.split(order, [round(share * len(order))])
    mean, width = data.X[train].mean(axis=0), data.X[train].std(axis=0)
    X = (data.X - mean) / width
    return Draw(X[train], data.y[train], X[test], data.y[test])


@paper.trials("vowel", methods=READINGS, datasets=("vowel",))
def readings(
    trial: Trial, *, n_folds: int, n_columns: int, pool_size: int, log2_C_vowel: list[int]
) -> dict[str, float]:
    """Test error of CGENS-SLS in one reading, C by cross-validation."""
    data, Cs = _split(trial), powers_of_two(log2_C_vowel)
    predict = _all_stumps if trial.method == "all stumps" else _generated(trial, n_columns, pool_size)
    wrong = np.zeros(len(Cs))
    for train, held_out in folds_of(trial, data.y, n_folds):
        part = data.part(train, held_out)
        for i, predicted in enumerate(predict(part, Cs)):
            wrong[i] += np.count_nonzero(predicted != part.y_test)
    C = Cs[int(wrong.argmin())]
    (predicted,) = predict(data, [C])
    return {"error": percent_wrong(predicted, data.y_test), "C": C}


@paper.trials("vowel", methods=RIVALS, datasets=("vowel",))
def rivals(trial: Trial, *, n_columns: int, coloring: str) -> dict[str, float]:
    """Test error of a rival on the rows of a reading, after as many rounds."""
    data = _split(trial)
    if trial.method.startswith("AdaBoost.MH"):
        model = AdaBoostMH(n_columns)
    else:
        model = AdaBoostECC(n_columns, coloring=coloring, random_state=trial.rng())
    return {"error": percent_wrong(model.fit(data.X, data.y).predict(data.X_test), data.y_test)}


def _generated(trial: Trial, n_columns: int, size: int) -> Callable[[Draw, Sequence[float]], list]:
    """Return how CGENS-SLS predicts, on the hypotheses of the reading."""

    def predict(part: Draw, Cs: Sequence[float]) -> list[np.ndarray]:
        family = {}
        if "perceptrons" in trial.method:
            family = family_of(trial, "perceptrons ball once", size)
        elif "cosines" in trial.method:
            family = family_of(trial, "fourier once", size, gamma=1.0 / part.X.shape[1])
        models = (CGEnsSLS(C=C, n_rounds=n_columns, tol=None, **family).fit(part.X, part.y) for C in Cs)
        return [model.predict(part.X_test) for model in models]

    return predict


def _all_stumps(part: Draw, Cs: Sequence[float]) -> list[np.ndarray]:
    """Predict by least squares on all stumps, from one eigendecomposition for all C."""
    ranks, ranks_test = ranks_of(part.X, part.X), ranks_of(part.X, part.X_test)
    K = 2.0 * stump_kernel(ranks)
    codes = simplex_codes(int(part.y.max()) + 1)
    L = codes[part.y]
    values, vectors = np.linalg.eigh(_centered(K, K))
    coordinates = vectors.T @ (L - L.mean(axis=0))
    scores = _centered(2.0 * stump_kernel(ranks_test, ranks), K) @ vectors
    return [
        ((scores @ (coordinates / (values + 1.0 / C)[:, None]) + L.mean(axis=0)) @ codes.T).argmax(axis=1)
        for C in Cs
    ]


def _centered(A: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Return a kernel's rows as if the training points, of kernel matrix K, had their mean at the origin."""
    means = K.mean(axis=0)
    return A - A.mean(axis=1, keepdims=True) - means + means.mean()


@paper.trials("figure4", methods=("CGENS-SLS",), datasets=("Scene15",))
def scenes(
    trial: Trial, *, n_rounds: int, log2_C_scenes: int, n_pictures: int, n_per_class: int, tol: float
) -> Result:
    """Test pictures that the classifier is surest of: rightly so, and wrongly.

    right, wrong: rows of the set, at most one a class, by the lead of the predicted class over the next
    (right) and over the true one (wrong); taken_for: the classes that the wrong ones are taken for.
    """
    data = multiclass_draw(trial)
    model = fitted(CGEnsSLS(C=2.0**log2_C_scenes, n_rounds=n_rounds, tol=tol), data)
    scores = model.decision_function(data.X_test)
    predicted, ordered = scores.argmax(axis=1), np.sort(scores, axis=1)
    lead = ordered[:, -1] - np.take_along_axis(scores, data.y_test[:, None].astype(np.intp), axis=1)[:, 0]
    correct = predicted == data.y_test
    right = _one_a_class(np.where(correct, ordered[:, -1] - ordered[:, -2], -1.0), data.y_test, n_pictures)
    wrong = _one_a_class(np.where(correct, -1.0, lead), data.y_test, n_pictures)
    rows = _test_rows(trial, n_per_class)
    return {
        "error": percent_wrong(predicted, data.y_test),
        "right": rows[right],
        "wrong": rows[wrong],
        "taken_for": predicted[wrong],
    }


def _one_a_class(strength: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
    """Return the strongest row of each class, the strongest classes first."""
    best = [rows[strength[rows].argmax()] for rows in (np.flatnonzero(y == c) for c in np.unique(y))]
    return np.array(sorted(best, key=lambda row: -strength[row])[:n])


def _test_rows(trial: Trial, n_per_class: int) -> np.ndarray:
    labels = load_features("scene15-words").y
    return split_per_class(labels, n_per_class, "shen2014", trial.dataset, trial.number)[1]
