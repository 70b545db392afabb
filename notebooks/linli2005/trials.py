"""Labels of the datasets of linli2005."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernsemble.boosting.stagewise import adaboost
from kernsemble.data.base import Dataset
from kernsemble.data.generators import bayes_decision, flip_labels, ringnorm, threenorm, twonorm, waveform
from kernsemble.data.scaling import fill_missing, scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.estimators.distance_svc import DistanceKernelSVCCV
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.hypotheses.base import Hypotheses, Oracle
from kernsemble.hypotheses.perceptrons import PerceptronOracle
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import gaussian_kernel, perceptron_kernel, squared_distances, stump_kernel
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

# sets
CLEAN_SETS = ("twonorm", "threenorm", "ringnorm")
NOISY_SETS = tuple(f"{name}-n" for name in CLEAN_SETS)
GENERATED_SETS = tuple(label for name in CLEAN_SETS for label in (name, f"{name}-n"))
REAL_SETS = ("australian", "breast", "german", "heart", "ionosphere", "pima", "sonar", "votes84")
TABLE_SETS = (*GENERATED_SETS, *REAL_SETS)
PLANE_SET = "threenorm-2d"
# Breiman's ringnorm with its second mean half as far away, as the R package mlbench defines it.
NEAR_SETS = ("ringnorm-near", "ringnorm-near-n")
MULTICLASS_SETS = ("wine", "iris", "glass", "vehicle", "waveform")


# plan
paper = Paper(
    "linli2005",
    title="Novel Distance-Based SVM Kernels for Infinite Ensemble Learning",
    datasets={
        **dict.fromkeys(GENERATED_SETS),
        **{name: {"german": "german24"}.get(name, name) for name in REAL_SETS},
        **dict.fromkeys(NEAR_SETS),
        PLANE_SET: None,
        **{name: name for name in MULTICLASS_SETS if name != "waveform"},
        "waveform": None,
    },
    only={"missing_votes": ["votes84"]},
)

paper.exhibit(
    "figure1",
    "The infinite ensemble, written out",
    metrics=("difference", "support"),
    tolerance={"difference": 1e-9},
)
paper.exhibit(
    "figure2",
    "Four decision boundaries in the plane, and how far they are from Bayes",
    metrics=("area", "probability", "excess"),
)
paper.exhibit(
    "table1",
    "Test errors of SVMs and AdaBoost (tables I and II)",
    metrics=("error", "train_error", "log2_C", "log2_gamma", "tied", "size"),
)
paper.exhibit(
    "theorems",
    "Theorems 2 to 7, checked on training sets",
    metrics=("constant", "scaling", "eigenvalue", "separated", "distinct"),
    tolerance={"constant": 1e-6, "scaling": 1e-6, "eigenvalue": 1e-9},
)
paper.exhibit("sampling", "A kernel as the average of sampled hypotheses", metrics=("error", "predicted"))
paper.exhibit(
    "selection",
    "55 against 550 problems of parameter selection",
    metrics=("problems",),
    timing=("selection_seconds",),
    alone=True,
)
paper.exhibit("hard", "What happens without soft margins", metrics=("error",))
paper.exhibit("protocol", "What other readings of the protocol change", metrics=("SVM-Stump", "SVM-Perc"))
paper.exhibit("base_learner", "What the base learner of AdaBoost changes", metrics=("error", "train_error"))
paper.exhibit("lpboost", "Boosting with slack variables", metrics=("error", "log2_C", "size"))
paper.exhibit("modern", "Tree ensembles of today on the same trials", metrics=("error",))
paper.exhibit("multiclass", "More than two classes", metrics=("error",))
paper.exhibit("rounds", "Test error against the number of rounds", metrics=("error",))
paper.exhibit("finite", "Finite ensembles on their way to infinity", metrics=("error", "disagreement"))


# draws
Scaling = Literal["real sets", "all sets", "real sets, pooled"]
MissingVotes = Literal["middle", "mode", "drop"]
FoldKind = Literal["random", "stratified"]
Folds = list[tuple[np.ndarray, np.ndarray]]

_GENERATORS = {"twonorm": twonorm, "threenorm": threenorm, "ringnorm": ringnorm}
_STORED = {"german": "german24"}


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0, or class codes where there are more than two."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent; a score of exactly 0 counts as -1."""
        return 100.0 * float(np.mean((scores > 0) != (self.y_test > 0)))


def draw(trial: Trial, sizes: Mapping[str, float], scaling: Scaling, missing_votes: MissingVotes) -> Draw:
    """Return the data of a trial; all methods of a dataset and a number see the same.

    ``sizes`` has the keys train and test (rows of generated sets), share (training part of real sets) and
    noise (share of training labels that are wrong in the -n sets).
    """
    clean = trial.dataset.removesuffix("-n")
    name, _, variant = clean.partition("-")
    if name not in _GENERATORS:
        return _split(trial, sizes["share"], scaling, missing_votes)
    rng = trial.shared_rng("split", dataset=name if variant == "near" else clean)
    n_features = 2 if variant == "2d" else 20
    train, test = (
        _GENERATORS[name](int(sizes[part]), n_features, random_state=rng) for part in ("train", "test")
    )
    if variant == "near":
        train, test = _move_nearer(train), _move_nearer(test)
    y = train.signs
    if trial.dataset.endswith("-n"):
        y = flip_labels(y, sizes["noise"], random_state=trial.shared_rng("noise"))
    X, X_test = train.X, test.X
    if scaling == "all sets":
        X, X_test = scale_to_unit_range(X), scale_to_unit_range(X_test, reference=X)
    return Draw(X, y.astype(np.float64), X_test, test.signs.astype(np.float64))


def _split(trial: Trial, share: float, scaling: Scaling, missing_votes: MissingVotes) -> Draw:
    """Split a stored set at random and scale its columns to [-1, 1]."""
    data = load(_STORED.get(trial.dataset, trial.dataset))
    missing = missing_votes if trial.dataset == "votes84" else "middle"
    if missing == "drop":
        data = data.rows(~np.isnan(data.X).any(axis=1))
    labels = data.signs if data.n_classes == 2 else data.y
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [int(share * data.n_samples)])
    X = _fill_with_mode(data.X, data.X[train]) if missing == "mode" else data.X
    X = scale_to_unit_range(X, reference=X if scaling == "real sets, pooled" else X[train])
    X = fill_missing(X, 0.0)  # the middle of the range
    y = labels.astype(np.float64)
    return Draw(X[train], y[train], X[test], y[test])


def _move_nearer(ring: Dataset) -> Dataset:
    """Return ringnorm with the mean of its second class at norm 1 instead of 2."""
    shift = np.where(ring.y == 0, 1.0 / np.sqrt(ring.n_features), 0.0)
    return replace(ring, X=ring.X - shift[:, np.newaxis])


def _fill_with_mode(X: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Replace missing cells by the most frequent value of their column in the reference rows."""
    filled = X.copy()
    for column, known in zip(filled.T, reference.T, strict=True):
        values, counts = np.unique(known[~np.isnan(known)], return_counts=True)
        column[np.isnan(column)] = values[counts.argmax()]
    return filled


def folds_of(trial: Trial, data: Draw, n_folds: int, kind: FoldKind) -> Folds:
    """Return (training, held-out) indices of each fold of a random partition, the same for all machines."""
    order = trial.shared_rng("folds").permutation(len(data.y))
    if kind == "stratified":
        order = order[np.argsort(data.y[order], kind="stable")]
    fold = np.empty(len(data.y), dtype=np.intp)
    fold[order] = np.arange(len(data.y)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


# machines
Ties = Literal["smallest", "largest"]

DISTANCE_KERNELS = {"SVM-Stump": stump_kernel, "SVM-Perc": perceptron_kernel}


@dataclass(frozen=True)
class Machine:
    """A trained machine on one draw: its parameters, its solution, its scores on both parts."""

    C: float
    gamma: float | None
    tied: int
    solution: Solution
    train_scores: np.ndarray
    test_scores: np.ndarray


def train_distance_machine(kernel: str, data: Draw, folds: Folds, Cs: Sequence[float], ties: Ties) -> Machine:
    """Choose C by cross-validation on the training part, and train on all of it."""
    compute = DISTANCE_KERNELS[kernel]
    _, j, tied = break_ties(count_distance_grid(kernel, data, folds, Cs)[np.newaxis], ties)
    return _train(compute(data.X), compute(data.X_test, data.X), data.y, Cs[j], None, tied)


def train_gaussian_machine(
    data: Draw, folds: Folds, Cs: Sequence[float], gammas: Sequence[float], ties: Ties
) -> Machine:
    """Choose C and gamma by cross-validation on the training part, and train on all of it."""
    i, j, tied = break_ties(count_gaussian_grid(data, folds, Cs, gammas), ties)
    K = gaussian_kernel(data.X, gamma=gammas[i])
    K_test = gaussian_kernel(data.X_test, data.X, gamma=gammas[i])
    return _train(K, K_test, data.y, Cs[j], gammas[i], tied)


def count_distance_grid(kernel: str, data: Draw, folds: Folds, Cs: Sequence[float]) -> np.ndarray:
    """Return how many held-out samples are classified correctly, for each C."""
    K = DISTANCE_KERNELS[kernel](data.X)
    return cross_validate_path(K, data.y, Cs, folds).sum(axis=1)


def count_gaussian_grid(data: Draw, folds: Folds, Cs: Sequence[float], gammas: Sequence[float]) -> np.ndarray:
    """Return how many held-out samples are classified correctly, for each gamma and C."""
    squares = squared_distances(data.X)
    kernels = (np.exp(-gamma * squares) for gamma in gammas)
    return np.array([cross_validate_path(K, data.y, Cs, folds).sum(axis=1) for K in kernels])


def break_ties(correct: np.ndarray, ties: Ties) -> tuple[int, int, int]:
    """Return the index (gamma, C) of the most correct grid point, and how many points are equally good.

    "smallest" takes the smallest C, then the smallest gamma (the smoothest machine); "largest" the opposite.
    """
    gammas, Cs = np.nonzero(correct == correct.max())
    order = np.lexsort((gammas, Cs))
    chosen = order[0 if ties == "smallest" else -1]
    return int(gammas[chosen]), int(Cs[chosen]), len(order)


def powers_of_two(exponents: Sequence[int]) -> list[float]:
    """Return 2 ** e for each exponent."""
    return [2.0**exponent for exponent in exponents]


def _train(
    K: np.ndarray, K_test: np.ndarray, y: np.ndarray, C: float, gamma: float | None, tied: int
) -> Machine:
    solution = solve_kernel_hinge(K, y, C)
    w, b = solution.w, solution.b
    return Machine(C, gamma, tied, solution, K @ w + b, K_test @ w + b)


# boosters
Start = Literal["zero", "random", "fisher", "stump"]
Directions = Literal["random", "coordinate"]
Ensemble = tuple[Hypotheses, np.ndarray]


def boost_stumps(data: Draw, n_rounds: int, perfect: float) -> Ensemble:
    """Run AdaBoost over decision stumps; ``perfect`` is the error that a perfect one counts as."""
    return _boost(StumpOracle(data.X), data, n_rounds, perfect)


def boost_perceptrons(
    data: Draw, n_rounds: int, perfect: float, n_updates: int, start: Start, directions: Directions, seed: int
) -> Ensemble:
    """Run AdaBoost over perceptrons found by random coordinate descent."""
    oracle = PerceptronOracle(
        data.X, n_updates=n_updates, start=start, directions=directions, random_state=seed
    )
    return _boost(oracle, data, n_rounds, perfect)


def _boost(oracle: Oracle, data: Draw, n_rounds: int, perfect: float) -> Ensemble:
    boosted = adaboost(oracle, data.y, range(n_rounds), perfect=perfect)
    return oracle.collect(boosted.keys), boosted.W


def scores_at(ensemble: Ensemble, X: np.ndarray, rounds: Sequence[int]) -> list[np.ndarray]:
    """Return the scores of the first T hypotheses on X, for each T in rounds."""
    hypotheses, weights = ensemble
    H = hypotheses.outputs(X)
    return [H[:, :T] @ weights[:T] for T in rounds]


# tables
@paper.trials("table1", methods=("SVM-Stump", "SVM-Perc"), datasets=(*TABLE_SETS, *NEAR_SETS))
def distance_machine(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
) -> dict[str, float]:
    """SVM with a distance kernel, C by cross-validation."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    machine = train_distance_machine(trial.method, data, parts, powers_of_two(log2_C_distance), ties)
    return summary(data, machine)


@paper.trials("table1", methods=("SVM-Gauss",), datasets=(*TABLE_SETS, *NEAR_SETS))
def gaussian_machine(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """SVM with the Gaussian kernel, C and gamma by cross-validation."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    grids = powers_of_two(log2_C_gauss), powers_of_two(log2_gamma)
    return summary(data, train_gaussian_machine(data, parts, *grids, ties))


def summary(data: Draw, machine: Machine) -> dict[str, float]:
    """Return the metrics of a machine; its size is the number of support vectors."""
    result = {
        "error": data.error(machine.test_scores),
        "train_error": 100.0 * float(np.mean((machine.train_scores > 0) != (data.y > 0))),
        "log2_C": float(np.log2(machine.C)),
        "tied": machine.tied,
        "size": int((machine.solution.w != 0).sum()),
    }
    if machine.gamma is not None:
        result["log2_gamma"] = float(np.log2(machine.gamma))
    return result


@paper.trials(
    "table1", methods=("AB-Stump-100", "AB-Stump-1000"), datasets=(*TABLE_SETS, *NEAR_SETS), together=True
)
def boosted_stumps(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
) -> dict[str, dict[str, float]]:
    """AdaBoost over stumps, read after 100 and 1000 rounds of one run."""
    data = draw(trial, sizes, scaling, missing_votes)
    return _read_rounds("AB-Stump", data, boost_stumps(data, 1000, perfect_error))


@paper.trials(
    "table1", methods=("AB-Perc-100", "AB-Perc-1000"), datasets=(*TABLE_SETS, *NEAR_SETS), together=True
)
def boosted_perceptrons(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
    rcd_updates: int,
    rcd_start: Start,
    rcd_directions: Directions,
) -> dict[str, dict[str, float]]:
    """AdaBoost over perceptrons, read after 100 and 1000 rounds of one run."""
    data = draw(trial, sizes, scaling, missing_votes)
    learner = rcd_updates, rcd_start, rcd_directions, trial.seed()
    ensemble = boost_perceptrons(data, 1000, perfect_error, *learner)
    return _read_rounds("AB-Perc", data, ensemble)


def _read_rounds(name: str, data: Draw, ensemble: Ensemble) -> dict[str, dict[str, float]]:
    """Return the metrics after 100 and 1000 rounds; the size is the number of rounds that were run."""
    rounds = (100, 1000)
    test, train = (scores_at(ensemble, X, rounds) for X in (data.X_test, data.X))
    return {
        f"{name}-{T}": {
            "error": data.error(test_scores),
            "train_error": 100.0 * float(np.mean((train_scores > 0) != (data.y > 0))),
            "size": min(T, len(ensemble[1])),
        }
        for T, test_scores, train_scores in zip(rounds, test, train, strict=True)
    }


# What else a base learner could be: name -> (updates, start, directions).
BASE_LEARNERS: dict[str, tuple[int, Start, Directions]] = {
    "20 updates": (20, "zero", "random"),
    "50 updates": (50, "zero", "random"),
    "200 updates": (200, "zero", "random"),
    "1000 updates": (1000, "zero", "random"),
    "from Fisher's discriminant": (200, "fisher", "random"),
    "from a random direction": (200, "random", "random"),
    "from the best stump": (200, "stump", "random"),
    "along single features": (200, "zero", "coordinate"),
}


@paper.trials("base_learner", methods=tuple(BASE_LEARNERS), datasets=TABLE_SETS)
def base_learner(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
    rounds: list[int],
) -> dict[str, np.ndarray]:
    """Test and training error of AdaBoost over perceptrons, with another base learner, after some rounds."""
    data = draw(trial, sizes, scaling, missing_votes)
    learner = *BASE_LEARNERS[trial.method], trial.seed()
    ensemble = boost_perceptrons(data, rounds[-1], perfect_error, *learner)
    test, train = (scores_at(ensemble, X, rounds) for X in (data.X_test, data.X))
    return {
        "error": np.array([data.error(scores) for scores in test]),
        "train_error": np.array([100.0 * np.mean((scores > 0) != (data.y > 0)) for scores in train]),
    }


@paper.trials("rounds", methods=("AB-Stump", "AB-Perc"), datasets=TABLE_SETS)
def many_rounds(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    perfect_error: float,
    rcd_updates: int,
    rcd_start: Start,
    rcd_directions: Directions,
    rounds: list[int],
) -> dict[str, np.ndarray]:
    """Test error of one run of AdaBoost after each of some numbers of rounds."""
    data = draw(trial, sizes, scaling, missing_votes)
    if trial.method == "AB-Stump":
        ensemble = boost_stumps(data, rounds[-1], perfect_error)
    else:
        learner = rcd_updates, rcd_start, rcd_directions, trial.seed()
        ensemble = boost_perceptrons(data, rounds[-1], perfect_error, *learner)
    scores = scores_at(ensemble, data.X_test, rounds)
    return {"error": np.array([data.error(s) for s in scores])}


# protocol
Errors = dict[str, float]
LIBSVM_SETS = (*GENERATED_SETS, "breast", "heart", "ionosphere", "sonar", "votes84")  # where it takes seconds


# What else the paper's words allow; what is not named stays as chosen.
READINGS: dict[str, dict[str, str]] = {
    "folds: stratified": {"folds": "stratified"},
    "ties: largest": {"ties": "largest"},
    "scaling: all sets": {"scaling": "all sets"},
    "scaling: pooled": {"scaling": "real sets, pooled"},
    "votes: mode": {"missing_votes": "mode"},
    "votes: drop": {"missing_votes": "drop"},
}


@paper.trials("protocol", methods=tuple(READINGS), datasets=TABLE_SETS, together=True)
def other_readings(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    ties: Ties,
    log2_C_distance: list[int],
) -> dict[str, Errors]:
    """Change of the test error under each other reading; 0 where it makes no difference to the data."""
    chosen = {"scaling": scaling, "missing_votes": missing_votes, "folds": folds, "ties": ties}
    Cs = powers_of_two(log2_C_distance)
    base = _errors(trial, sizes, n_folds, Cs, **chosen)
    results = {}
    for name, change in READINGS.items():
        errors = _errors(trial, sizes, n_folds, Cs, **chosen | change) if _applies(name, trial) else base
        results[name] = {kernel: errors[kernel] - base[kernel] for kernel in base}
    return results


def _applies(reading: str, trial: Trial) -> bool:
    """Say whether a reading concerns a dataset."""
    if reading == "scaling: all sets":
        return trial.dataset in GENERATED_SETS
    if reading == "scaling: pooled":
        return trial.dataset in REAL_SETS
    return trial.dataset == "votes84" or not reading.startswith("votes")


def _errors(
    trial: Trial,
    sizes: dict[str, float],
    n_folds: int,
    Cs: list[float],
    *,
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    ties: Ties,
) -> Errors:
    """Return the test errors of the two distance machines under one reading."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    machines = {kernel: train_distance_machine(kernel, data, parts, Cs, ties) for kernel in DISTANCE_KERNELS}
    return {kernel: data.error(machine.test_scores) for kernel, machine in machines.items()}


@paper.trials("selection", methods=("SVM-Stump", "SVM-Perc", "SVM-Gauss"), datasets=TABLE_SETS)
def selection(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """Count and time the problems of parameter selection."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    count_distance_grid("SVM-Stump", data, parts[:1], [1.0])  # loads what is compiled, before the clock runs
    count_gaussian_grid(data, parts[:1], [1.0], [1.0])
    if trial.method == "SVM-Gauss":
        grids = powers_of_two(log2_C_gauss), powers_of_two(log2_gamma)
        n_problems = n_folds * len(grids[0]) * len(grids[1])
        return {"problems": n_problems, "selection_seconds": _clock(count_gaussian_grid, data, parts, *grids)}
    Cs = powers_of_two(log2_C_distance)
    seconds = _clock(count_distance_grid, trial.method, data, parts, Cs)
    return {"problems": n_folds * len(Cs), "selection_seconds": seconds}


@paper.trials("selection", methods=("LIBSVM-Perc", "LIBSVM-Gauss"), datasets=LIBSVM_SETS)
def selection_by_libsvm(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """Count and time the same problems, each solved from nothing by LIBSVM on a kernel matrix."""
    data = draw(trial, sizes, scaling, missing_votes)
    parts = folds_of(trial, data, n_folds, folds)
    kernels, Cs = [DISTANCE_KERNELS["SVM-Perc"]], powers_of_two(log2_C_distance)
    if trial.method == "LIBSVM-Gauss":
        kernels = [_gaussian(gamma) for gamma in powers_of_two(log2_gamma)]
        Cs = powers_of_two(log2_C_gauss)
    seconds = _clock(_cross_validate_libsvm, data, parts, kernels, Cs)
    return {"problems": n_folds * len(Cs) * len(kernels), "selection_seconds": seconds}


def _clock(function: Callable, *arguments: object) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def _gaussian(gamma: float) -> Callable[..., np.ndarray]:
    return lambda X: gaussian_kernel(X, gamma=gamma)


def _cross_validate_libsvm(data: Draw, folds: Folds, kernels: list[Callable], Cs: list[float]) -> None:
    for kernel in kernels:
        K = kernel(data.X)
        for train, test in folds:
            inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
            for C in Cs:
                SVC(C=C, kernel="precomputed").fit(inner, data.y[train]).predict(outer)


# figure2
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


# lpboost
@paper.trials("lpboost", methods=("LPBoost-Stump",), datasets=TABLE_SETS)
def boosted_by_linear_programs(
    trial: Trial,
    *,
    sizes: dict[str, float],
    scaling: Scaling,
    missing_votes: MissingVotes,
    folds: FoldKind,
    n_folds: int,
    log2_C: list[int],
    n_rounds: int,
    tol: float,
) -> dict[str, float]:
    """LPBoost over stumps, C by cross-validation on the folds of the machines; size: stumps of weight > 0."""
    data = draw(trial, sizes, scaling, missing_votes)
    Cs = powers_of_two(log2_C)
    correct = np.zeros(len(Cs), dtype=np.int64)
    for train, test in folds_of(trial, data, n_folds, folds):
        models = [_fit(data.X[train], data.y[train], C, n_rounds, tol) for C in Cs]
        correct += [int((model.predict(data.X[test]) == data.y[test]).sum()) for model in models]
    model = _fit(data.X, data.y, Cs[int(correct.argmax())], n_rounds, tol)
    return {
        "error": data.error(model.decision_function(data.X_test)),
        "log2_C": log2_C[int(correct.argmax())],
        "size": int((model.coef_ > 0).sum()),
    }


def _fit(X: np.ndarray, y: np.ndarray, C: float, n_rounds: int, tol: float) -> LPBoost:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the rounds may run out before the gap is closed
        return LPBoost(C=C, n_rounds=n_rounds, tol=tol).fit(X, y)


# beyond
TREES = ("RandomForest", "HistGradientBoosting", "LightGBM")


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
