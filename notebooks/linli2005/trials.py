"""The trials of linli2005: its sets and exhibits, and what tables I and II, figure 2 and their variants run.

Machines are ``DistanceKernelSVCCV``, boosting is ``AdaBoost``, trees have the defaults of
their libraries. A trial's keywords are grouped: ``DataProtocol`` says how it is drawn, ``FoldProtocol`` how
it is cut for cross-validation, ``Protocol`` which of equally good parameters is taken, ``Learner`` what
AdaBoost over perceptrons is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC

from kernsemble.data.base import Dataset
from kernsemble.data.generators import bayes_decision, flip_labels, ringnorm, threenorm, twonorm, waveform
from kernsemble.data.scaling import fill_missing, scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.distance_svc import DistanceKernelSVCCV
from kernsemble.kernels import gaussian_kernel, perceptron_kernel, stump_kernel
from kernsemble.masters.kernel_hinge import cross_validate_path
from kernsemble.trials.bench import (
    Draw,
    Folds,
    cut_folds,
    percent_wrong,
    powers_of_two,
    seconds_of,
)
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

CLEAN_SETS = ("twonorm", "threenorm", "ringnorm")
NOISY_SETS = tuple(f"{name}-n" for name in CLEAN_SETS)
GENERATED_SETS = tuple(label for name in CLEAN_SETS for label in (name, f"{name}-n"))
REAL_SETS = ("australian", "breast", "german", "heart", "ionosphere", "pima", "sonar", "votes84")
TABLE_SETS = (*GENERATED_SETS, *REAL_SETS)
PLANE_SET = "threenorm-2d"
# Breiman's ringnorm with its second mean half as far away, as the R package mlbench defines it.
NEAR_SETS = ("ringnorm-near", "ringnorm-near-n")
MULTICLASS_SETS = ("wine", "iris", "glass", "vehicle", "waveform")
LIBSVM_SETS = (*GENERATED_SETS, "breast", "heart", "ionosphere", "sonar", "votes84")  # where it takes seconds

KERNELS = {"SVM-Stump": "stump", "SVM-Perc": "perceptron", "SVM-Gauss": "gaussian"}
ROUNDS = (100, 1000)  # after which the tables read AdaBoost
PLANE_METHODS = ("SVM-Stump", "AB-Stump-100", "AB-Stump-1000", "SVM-Perc", "AB-Perc-100", "AB-Perc-1000")
DRAWN_METHODS = tuple(name for name in PLANE_METHODS if not name.endswith("-100"))  # in figure 2
TREES = ("RandomForest", "HistGradientBoosting", "LightGBM")
HALF_WIDTH = 4.5  # of the square that boundaries are compared on; it holds 99.8 % of the points
N_CELLS = 180

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
paper.exhibit("plane", "The sides of the boundaries of figure 2, as drawn", metrics=("lengths",))
paper.exhibit("where", "Where the classifiers of figure 2 disagree with Bayes", metrics=("share", "center"))
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
paper.exhibit(
    "capacity",
    "The power of the Gaussian kernel",
    metrics=("eigenvalue", "separated"),
    tolerance={"eigenvalue": 1e-9},
)
paper.exhibit("sampling", "A kernel as the average of sampled hypotheses", metrics=("error", "predicted"))
paper.exhibit(
    "selection",
    "55 against 550 problems of parameter selection",
    metrics=("problems",),
    timing=("selection_seconds",),
    alone=True,
)
paper.exhibit(
    "libsvm",
    "LIBSVM in place of our solver",
    metrics=("error", "own_error", "differs", "same_choice"),
    tolerance={"error": 1.0, "differs": 1.0, "same_choice": 1.0},
)
paper.exhibit("hard", "What happens without soft margins", metrics=("error",))
paper.exhibit("protocol", "What other readings of the protocol change", metrics=("SVM-Stump", "SVM-Perc"))
paper.exhibit("base_learner", "What the base learner of AdaBoost changes", metrics=("error", "train_error"))
paper.exhibit("modern", "Tree ensembles of today on the same trials", metrics=("error",))
paper.exhibit("multiclass", "More than two classes", metrics=("error",))
paper.exhibit("rounds", "Test error against the number of rounds", metrics=("error",))
paper.exhibit("finite", "Finite ensembles on their way to infinity", metrics=("error", "disagreement"))


@dataclass(frozen=True)
class DataProtocol:
    """How a trial is drawn.

    ``sizes`` has the keys train and test (rows of generated sets), share (training part of real sets) and
    noise (share of training labels that are wrong in the -n sets).
    """

    sizes: dict[str, float]
    scaling: Literal["real sets", "all sets", "real sets, pooled"]
    missing_votes: Literal["middle", "mode", "drop"]


@dataclass(frozen=True)
class FoldProtocol(DataProtocol):
    """How the training part is cut for cross-validation."""

    folds: Literal["random", "stratified"]
    n_folds: int


@dataclass(frozen=True)
class Protocol(FoldProtocol):
    """Which of equally good parameters is taken."""

    ties: Literal["smallest", "largest"]


@dataclass(frozen=True)
class Learner:
    """AdaBoost over perceptrons that random coordinate descent finds."""

    perfect_error: float
    rcd_updates: int
    rcd_start: Literal["zero", "random", "fisher", "stump"]
    rcd_directions: Literal["random", "coordinate"]


_GENERATORS = {"twonorm": twonorm, "threenorm": threenorm, "ringnorm": ringnorm, "waveform": waveform}
_STORED = {"german": "german24"}


def draw(trial: Trial, protocol: DataProtocol) -> Draw:
    """Return the data of a trial; all methods of a dataset and a number see the same."""
    clean = trial.dataset.removesuffix("-n")
    name, _, variant = clean.partition("-")
    if name not in _GENERATORS:
        return _split(trial, protocol)
    rng = trial.shared_rng("split", dataset=name if variant == "near" else clean)
    train, test = (_generate(name, variant, int(protocol.sizes[part]), rng) for part in ("train", "test"))
    y = _labels(train)
    if trial.dataset.endswith("-n"):
        y = flip_labels(y, protocol.sizes["noise"], random_state=trial.shared_rng("noise"))
    X, X_test = train.X, test.X
    if protocol.scaling == "all sets":
        X, X_test = scale_to_unit_range(X), scale_to_unit_range(X_test, reference=X)
    return Draw(X, y, X_test, _labels(test))


def _generate(name: str, variant: str, n: int, rng: np.random.Generator) -> Dataset:
    """Generate n rows; "near" is ringnorm with the mean of its second class at norm 1 instead of 2."""
    if name == "waveform":
        return waveform(n, random_state=rng)
    made = _GENERATORS[name](n, 2 if variant == "2d" else 20, random_state=rng)
    if variant != "near":
        return made
    shift = np.where(made.y == 0, 1.0 / np.sqrt(made.n_features), 0.0)
    return replace(made, X=made.X - shift[:, np.newaxis])


def _split(trial: Trial, protocol: DataProtocol) -> Draw:
    """Split a stored set at random and scale its columns to [-1, 1]."""
    data = load(_STORED.get(trial.dataset, trial.dataset))
    missing = protocol.missing_votes if trial.dataset == "votes84" else "middle"
    if missing == "drop":
        data = data.rows(~np.isnan(data.X).any(axis=1))
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [int(protocol.sizes["share"] * data.n_samples)])
    X = _fill_with_mode(data.X, data.X[train]) if missing == "mode" else data.X
    X = scale_to_unit_range(X, reference=X if protocol.scaling == "real sets, pooled" else X[train])
    X = fill_missing(X, 0.0)  # the middle of the range
    y = _labels(data)
    return Draw(X[train], y[train], X[test], y[test])


def _labels(data: Dataset) -> np.ndarray:
    return (data.signs if data.n_classes == 2 else data.y).astype(np.float64)


def _fill_with_mode(X: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Replace missing cells by the most frequent value of their column in the reference rows."""
    filled = X.copy()
    for column, known in zip(filled.T, reference.T, strict=True):
        values, counts = np.unique(known[~np.isnan(known)], return_counts=True)
        column[np.isnan(column)] = values[counts.argmax()]
    return filled


def folds_of(trial: Trial, part: Draw, protocol: FoldProtocol) -> Folds:
    """Return (training, held-out) rows of each fold of a random partition, the same for all machines."""
    order = trial.shared_rng("folds").permutation(len(part.y))
    return cut_folds(order, protocol.n_folds, part.y if protocol.folds == "stratified" else None)


def tuned(
    method: str,
    part: Draw,
    folds: Folds,
    ties: str,
    log2_C: Sequence[int],
    log2_gamma: Sequence[int] | None = None,
) -> DistanceKernelSVCCV:
    """Fit a machine whose C, and gamma if Gaussian, is chosen on the folds."""
    gammas = None if log2_gamma is None else powers_of_two(log2_gamma)
    return DistanceKernelSVCCV(
        KERNELS[method], Cs=powers_of_two(log2_C), gammas=gammas, cv=folds, ties=ties, multi_class="ovr"
    ).fit(part.X, part.y)


@paper.trials("table1", methods=("SVM-Stump", "SVM-Perc"), datasets=(*TABLE_SETS, *NEAR_SETS))
def distance_machine(trial: Trial, *, protocol: Protocol, log2_C_distance: list[int]) -> dict[str, float]:
    """SVM with a distance kernel, C by cross-validation."""
    part = draw(trial, protocol)
    folds = folds_of(trial, part, protocol)
    return _summary(part, tuned(trial.method, part, folds, protocol.ties, log2_C_distance))


@paper.trials("table1", methods=("SVM-Gauss",), datasets=(*TABLE_SETS, *NEAR_SETS))
def gaussian_machine(
    trial: Trial, *, protocol: Protocol, log2_C_gauss: list[int], log2_gamma: list[int]
) -> dict[str, float]:
    """SVM with the Gaussian kernel, C and gamma by cross-validation."""
    part = draw(trial, protocol)
    folds = folds_of(trial, part, protocol)
    model = tuned(trial.method, part, folds, protocol.ties, log2_C_gauss, log2_gamma)
    return _summary(part, model) | {"log2_gamma": float(np.log2(model.best_gamma_))}


def _summary(part: Draw, model: DistanceKernelSVCCV) -> dict[str, float]:
    """Return the metrics of a machine; its size is the number of support vectors."""
    return {
        "error": part.error(model.decision_function(part.X_test)),
        "train_error": percent_wrong(model.predict(part.X), part.y),
        "log2_C": float(np.log2(model.best_C_)),
        "tied": int((model.cv_scores_ == model.best_score_).sum()),
        "size": len(model.support_),
    }


@paper.trials(
    "table1", methods=("AB-Stump-100", "AB-Stump-1000"), datasets=(*TABLE_SETS, *NEAR_SETS), together=True
)
def boosted_stumps(
    trial: Trial, *, protocol: DataProtocol, perfect_error: float
) -> dict[str, dict[str, float]]:
    """AdaBoost over stumps, read after 100 and 1000 rounds of one run."""
    part = draw(trial, protocol)
    return _read_rounds("AB-Stump", part, boost_stumps(part, ROUNDS[-1], perfect_error))


@paper.trials(
    "table1", methods=("AB-Perc-100", "AB-Perc-1000"), datasets=(*TABLE_SETS, *NEAR_SETS), together=True
)
def boosted_perceptrons(
    trial: Trial, *, protocol: DataProtocol, learner: Learner
) -> dict[str, dict[str, float]]:
    """AdaBoost over perceptrons, read after 100 and 1000 rounds of one run."""
    part = draw(trial, protocol)
    return _read_rounds("AB-Perc", part, boost_perceptrons(part, ROUNDS[-1], learner, trial.seed()))


def boost_stumps(part: Draw, n_rounds: int, perfect_error: float) -> AdaBoost:
    """Run AdaBoost over stumps; ``perfect_error`` is what a perfect one counts as."""
    return AdaBoost(n_rounds, perfect=perfect_error).fit(part.X, part.y)


def boost_perceptrons(part: Draw, n_rounds: int, learner: Learner, seed: int) -> AdaBoost:
    """Run AdaBoost over perceptrons."""
    found_by = {
        "n_updates": learner.rcd_updates,
        "start": learner.rcd_start,
        "directions": learner.rcd_directions,
    }
    return AdaBoost(
        n_rounds,
        base="perceptron",
        base_options=found_by,
        perfect=learner.perfect_error,
        random_state=seed,
    ).fit(part.X, part.y)


def scores_at(model: AdaBoost, X: np.ndarray, rounds: Iterable[int]) -> list[np.ndarray]:
    """Return the scores of the first T hypotheses on X, for each T in rounds."""
    H = model.hypotheses_.outputs(X)
    return [H[:, :T] @ model.weights_[:T] for T in rounds]


def errors_at(model: AdaBoost, part: Draw, rounds: Iterable[int]) -> dict[str, np.ndarray]:
    """Return test and training error after some numbers of rounds."""
    test, train = (scores_at(model, X, rounds) for X in (part.X_test, part.X))
    return {
        "error": np.array([part.error(scores) for scores in test]),
        "train_error": np.array([percent_wrong(scores > 0, part.y > 0) for scores in train]),
    }


def _read_rounds(name: str, part: Draw, model: AdaBoost) -> dict[str, dict[str, float]]:
    """Return the metrics after 100 and 1000 rounds; the size is the number of rounds that were run."""
    errors = errors_at(model, part, ROUNDS)
    return {
        f"{name}-{T}": {"size": min(T, model.n_rounds_)} | {key: errors[key][k] for key in errors}
        for k, T in enumerate(ROUNDS)
    }


# What else a base learner could be: name -> updates, start, directions.
BASE_LEARNERS = {
    "20 updates": (20, "zero", "random"),
    "50 updates": (50, "zero", "random"),
    "200 updates": (200, "zero", "random"),
    "1000 updates": (1000, "zero", "random"),
    "from Fisher's discriminant": (200, "fisher", "random"),
    "from a random direction": (200, "random", "random"),
    "from the best stump": (200, "stump", "random"),
    "along single features": (200, "zero", "coordinate"),
}


@paper.trials("base_learner", methods=tuple(BASE_LEARNERS), datasets=(*TABLE_SETS, *NEAR_SETS))
def base_learner(
    trial: Trial, *, protocol: DataProtocol, perfect_error: float, rounds: list[int]
) -> dict[str, np.ndarray]:
    """Test and training error of AdaBoost over perceptrons, with another base learner, after some rounds."""
    part = draw(trial, protocol)
    learner = Learner(perfect_error, *BASE_LEARNERS[trial.method])
    return errors_at(boost_perceptrons(part, rounds[-1], learner, trial.seed()), part, rounds)


@paper.trials("rounds", methods=("AB-Stump", "AB-Perc"), datasets=TABLE_SETS)
def many_rounds(
    trial: Trial, *, protocol: DataProtocol, learner: Learner, rounds: list[int]
) -> dict[str, np.ndarray]:
    """Test error of one run of AdaBoost after each of some numbers of rounds."""
    part = draw(trial, protocol)
    if trial.method == "AB-Stump":
        model = boost_stumps(part, rounds[-1], learner.perfect_error)
    else:
        model = boost_perceptrons(part, rounds[-1], learner, trial.seed())
    return {"error": errors_at(model, part, rounds)["error"]}


@paper.trials("multiclass", methods=tuple(KERNELS), datasets=MULTICLASS_SETS)
def multiclass_machines(
    trial: Trial,
    *,
    protocol: Protocol,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """One machine a class against the rest, one C (and gamma) for all of them, by cross-validation."""
    part = draw(trial, protocol)
    grids = (log2_C_gauss, log2_gamma) if trial.method == "SVM-Gauss" else (log2_C_distance,)
    model = tuned(trial.method, part, folds_of(trial, part, protocol), protocol.ties, *grids)
    return {"error": percent_wrong(model.predict(part.X_test), part.y_test)}


@paper.trials("multiclass", methods=TREES, datasets=MULTICLASS_SETS)
@paper.trials("modern", methods=TREES, datasets=TABLE_SETS)
def trees(trial: Trial, *, protocol: DataProtocol) -> dict[str, float]:
    """Tree ensembles with the defaults of their libraries, on the splits of the tables."""
    part = draw(trial, protocol)
    model = make_trees(trial.method, trial.seed()).fit(part.X, part.y)
    return {"error": percent_wrong(model.predict(part.X_test), part.y_test)}


def make_trees(name: str, seed: int) -> ClassifierMixin:
    """Return a tree ensemble."""
    if name == "RandomForest":
        return RandomForestClassifier(random_state=seed)
    if name == "HistGradientBoosting":
        return HistGradientBoostingClassifier(random_state=seed)
    from lightgbm import LGBMClassifier  # only this trial needs it

    return LGBMClassifier(n_jobs=1, random_state=seed, deterministic=True, verbose=-1)


# What else the paper's words allow; what is not named stays as chosen.
READINGS = {
    "folds: stratified": {"folds": "stratified"},
    "ties: largest": {"ties": "largest"},
    "scaling: all sets": {"scaling": "all sets"},
    "scaling: pooled": {"scaling": "real sets, pooled"},
    "votes: mode": {"missing_votes": "mode"},
    "votes: drop": {"missing_votes": "drop"},
}


@paper.trials("protocol", methods=tuple(READINGS), datasets=TABLE_SETS, together=True)
def other_readings(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int]
) -> dict[str, dict[str, float]]:
    """Change of the test error under each other reading; 0 where it makes no difference to the data."""
    base = _errors(trial, protocol, log2_C_distance)
    results = {}
    for name, change in READINGS.items():
        applies = reading_applies(name, trial.dataset)
        errors = _errors(trial, replace(protocol, **change), log2_C_distance) if applies else base
        results[name] = {method: errors[method] - base[method] for method in base}
    return results


def reading_applies(reading: str, dataset: str) -> bool:
    """Say whether a reading concerns a dataset."""
    if reading == "scaling: all sets":
        return dataset in GENERATED_SETS
    if reading == "scaling: pooled":
        return dataset in REAL_SETS
    return dataset == "votes84" or not reading.startswith("votes")


def _errors(trial: Trial, protocol: Protocol, log2_C: list[int]) -> dict[str, float]:
    """Return the test errors of the two distance machines under one reading."""
    part = draw(trial, protocol)
    folds = folds_of(trial, part, protocol)
    models = {name: tuned(name, part, folds, protocol.ties, log2_C) for name in ("SVM-Stump", "SVM-Perc")}
    return {name: part.error(model.decision_function(part.X_test)) for name, model in models.items()}


@paper.trials("selection", methods=("LIBSVM-Perc", "LIBSVM-Gauss"), datasets=LIBSVM_SETS)
@paper.trials("selection", methods=tuple(KERNELS), datasets=TABLE_SETS)
def selection(
    trial: Trial,
    *,
    protocol: FoldProtocol,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """Count and time the problems of parameter selection, without the last fit.

    The SVM methods solve a path of C on one kernel matrix; LIBSVM solves each problem from nothing.
    """
    part = draw(trial, protocol)
    folds = folds_of(trial, part, protocol)
    solver, kernel = trial.method.split("-")
    search = _cross_validate_libsvm if solver == "LIBSVM" else _cross_validate
    kernels, Cs = _kernels(kernel, log2_gamma), powers_of_two(log2_C_distance)
    if kernel == "Gauss":
        Cs = powers_of_two(log2_C_gauss)
    search(kernels[:1], part, folds[:1], [1.0])  # loads what is compiled, before the clock runs
    return {
        "problems": len(folds) * len(Cs) * len(kernels),
        "selection_seconds": seconds_of(search, kernels, part, folds, Cs),
    }


def _kernels(name: str, log2_gamma: list[int]) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Return the kernels among which is chosen."""
    if name == "Gauss":
        return [lambda X, gamma=gamma: gaussian_kernel(X, gamma=gamma) for gamma in powers_of_two(log2_gamma)]
    return [stump_kernel if name == "Stump" else perceptron_kernel]


def _cross_validate(kernels: list[Callable], part: Draw, folds: Folds, Cs: list[float]) -> None:
    for kernel in kernels:
        cross_validate_path(kernel(part.X), part.y, Cs, folds)


def _cross_validate_libsvm(kernels: list[Callable], part: Draw, folds: Folds, Cs: list[float]) -> None:
    for kernel in kernels:
        K = kernel(part.X)
        for train, test in folds:
            inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
            for C in Cs:
                SVC(C=C, kernel="precomputed").fit(inner, part.y[train]).predict(outer)


@paper.trials("libsvm", methods=tuple(KERNELS), datasets=TABLE_SETS)
def by_libsvm(
    trial: Trial,
    *,
    protocol: Protocol,
    log2_C_distance: list[int],
    log2_C_gauss: list[int],
    log2_gamma: list[int],
) -> dict[str, float]:
    """Let LIBSVM, the paper's solver, select and train on the kernels, split and folds of a machine.

    error, own_error: of LIBSVM and of the machine. differs: percent of test points on which they disagree
    when both have the machine's parameters. same_choice: 1 if LIBSVM selects these, too.
    """
    part, name = draw(trial, protocol), trial.method.removeprefix("SVM-")
    folds, Gaussian = folds_of(trial, part, protocol), name == "Gauss"
    grids = (log2_C_gauss, log2_gamma) if Gaussian else (log2_C_distance,)
    machine = tuned(trial.method, part, folds, protocol.ties, *grids)
    kernels, Cs = _kernels(name, log2_gamma), powers_of_two(grids[0])
    correct = np.array([[_libsvm_correct(kernel, C, part, folds) for kernel in kernels] for C in Cs])
    k, g = np.unravel_index(correct.argmax(), correct.shape)  # the smallest of equals, C first
    found = Cs.index(machine.best_C_), powers_of_two(log2_gamma).index(machine.best_gamma_) if Gaussian else 0
    own = machine.decision_function(part.X_test) > 0
    return {
        "error": part.error(_by_libsvm(kernels[g], Cs[k], part)),
        "own_error": part.error(machine.decision_function(part.X_test)),
        "differs": percent_wrong(_by_libsvm(kernels[found[1]], Cs[found[0]], part) > 0, own),
        "same_choice": float((k, g) == found),
    }


def _by_libsvm(kernel: Callable, C: float, part: Draw) -> np.ndarray:
    """Return LIBSVM's scores of the test part, at its default tolerance."""
    n, K = len(part.y), kernel(np.vstack([part.X, part.X_test]))
    return SVC(C=C, kernel="precomputed").fit(K[:n, :n], part.y).decision_function(K[n:, :n])


def _libsvm_correct(kernel: Callable, C: float, part: Draw, folds: Folds) -> int:
    """Count the held-out points that LIBSVM gets right."""
    K = kernel(part.X)
    return sum(
        int((SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], part.y[train])
             .predict(K[np.ix_(test, train)]) == part.y[test]).sum())
        for train, test in folds
    )  # fmt: skip


@paper.trials("figure2", methods=PLANE_METHODS, datasets=(PLANE_SET,), together=True)
def boundaries(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int], learner: Learner
) -> dict[str, dict[str, float]]:
    """Train the four algorithms on one draw, and compare each with Bayes on the square."""
    scores = _plane_scores(trial, protocol, log2_C_distance, learner)
    return {name: distances_from_bayes(scores[name]) for name in PLANE_METHODS}


@paper.trials("plane", methods=DRAWN_METHODS, datasets=(PLANE_SET,), together=True)
def drawn_sides(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int], learner: Learner
) -> dict[str, dict[str, np.ndarray]]:
    """On which side of the boundary the cells of the square lie, for the models of figure 2's trial.

    lengths: of the runs of cells on one side, row by row; the first run, of score <= 0, may be empty.
    """
    scores = _plane_scores(
        replace(trial, exhibit="figure2", method="boundaries"), protocol, log2_C_distance, learner
    )
    return {name: {"lengths": run_lengths(scores[name] > 0)} for name in DRAWN_METHODS}


@paper.trials("where", methods=DRAWN_METHODS, datasets=(PLANE_SET,), together=True)
def where_they_differ(
    trial: Trial, *, protocol: Protocol, log2_C_distance: list[int], learner: Learner
) -> dict[str, dict[str, float | np.ndarray]]:
    """Where in the square the classifiers of figure 2's draws differ from Bayes, in percent.

    share: of each block of 10 x 10 cells, row by row. center: of the middle ninth of the square.
    """
    scores = _plane_scores(
        replace(trial, exhibit="figure2", method="boundaries"), protocol, log2_C_distance, learner
    )
    first, second = class_densities(plane_points()[1])
    third, found = N_CELLS // 3, {}
    for name in DRAWN_METHODS:
        differs = ((scores[name] > 0) != (first > second)).reshape(N_CELLS, N_CELLS)
        blocks = differs.reshape(N_CELLS // 10, 10, N_CELLS // 10, 10).mean(axis=(1, 3))
        middle = differs[third : 2 * third, third : 2 * third]
        found[name] = {"share": (100.0 * blocks).ravel(), "center": 100.0 * float(middle.mean())}
    return found


def _plane_scores(
    trial: Trial, protocol: Protocol, log2_C: list[int], learner: Learner
) -> dict[str, np.ndarray]:
    """Return the scores of all methods at all cells of the square."""
    part, points = draw(trial, protocol), plane_points()[1]
    folds = folds_of(trial, part, protocol)
    scores = {
        name: tuned(name, part, folds, protocol.ties, log2_C).decision_function(points)
        for name in ("SVM-Stump", "SVM-Perc")
    }
    boosted = {
        "AB-Stump": boost_stumps(part, ROUNDS[-1], learner.perfect_error),
        "AB-Perc": boost_perceptrons(part, ROUNDS[-1], learner, trial.seed()),
    }
    for name, model in boosted.items():
        found = zip(ROUNDS, scores_at(model, points, ROUNDS), strict=True)
        scores |= {f"{name}-{T}": decision for T, decision in found}
    return scores


def run_lengths(sides: np.ndarray) -> np.ndarray:
    """Return how long the runs of equal sides are, the first of False (0 where the first is True)."""
    ends = np.flatnonzero(np.diff(sides)) + 1
    lengths = np.diff([0, *ends, len(sides)])
    return np.concatenate([[0], lengths]) if sides[0] else lengths


def sides_of(lengths: np.ndarray) -> np.ndarray:
    """Return the sides whose runs have these lengths."""
    return np.repeat(np.arange(len(lengths)) % 2 == 1, np.asarray(lengths, dtype=int))


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
