"""Trials of shen2014 with two classes, its datasets and its exhibits.

TODO
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

import numpy as np

from kernsemble.boosting.stagewise import adaboost
from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.data.ida import ida_form, ida_split, load_official
from kernsemble.data.splits import official_split
from kernsemble.data.store import load
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.hypotheses.base import Hypotheses, Oracle
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import gaussian_kernel, perceptron_kernel, squared_distances, stump_kernel
from kernsemble.masters.base import Master
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

Folds = list[tuple[np.ndarray, np.ndarray]]
Result = dict[str, float | np.ndarray]

IDA_SETS = (
    "banana", "b-cancer", "diabetes", "f-solar", "german", "heart", "image", "ringnorm", "splice", "thyroid",
    "titanic", "twonorm", "waveform",
)  # fmt: skip
# Sets of which the benchmark's own splits are at hand; "heart official" is heart on those.
OFFICIAL_SETS = ("banana", "b-cancer", "german", "heart", "image", "ringnorm", "titanic", "waveform")
OFFICIAL_LABELS = tuple(f"{name} official" for name in OFFICIAL_SETS)
BINARY_SETS = (*IDA_SETS, *OFFICIAL_LABELS)

UCI_SETS = ("wine", "iris", "glass", "vehicle", "DNA", "vowel", "segment")
VISION_SETS = ("MNIST", "USPS", "CIFAR10", "Scene15")
MULTICLASS_SETS = (*UCI_SETS, *VISION_SETS)

STORED = {
    "banana": "banana", "b-cancer": "breast-cancer", "diabetes": "pima", "f-solar": "flare",
    "german": "german", "heart": "heart", "image": "segment", "ringnorm": None, "splice": "splice",
    "thyroid": "thyroid", "titanic": "titanic", "twonorm": None, "waveform": None,
    **dict.fromkeys(OFFICIAL_LABELS, "ida"),
    "wine": "wine", "iris": "iris", "glass": "glass", "vehicle": "vehicle", "DNA": "dna", "vowel": "vowel",
    "segment": "segment", "MNIST": "mnist", "USPS": "usps", "CIFAR10": "cifar10", "Scene15": "scene15",
    "spam": "spam", "toy": None,
}  # fmt: skip


def printed_label(row: str) -> str:
    """Return the label whose trials stand beside a printed row: the official splits where we have them."""
    return f"{row} official" if row in OFFICIAL_SETS else row


paper = Paper(
    "shen2014",
    title="From Kernel Machines to Ensemble Learning",
    datasets=STORED,
    only={"vision_search": VISION_SETS},
)

# In the order in which they are computed.
paper.exhibit(
    "table1",
    "Test errors with decision stumps (table I), and at equal numbers of oracle calls",
    metrics=("error", "error_500", "C", "rounds", "size", "by_calls"),
)
paper.exhibit(
    "table2",
    "Test errors with Fourier cosines and with perceptrons (table II)",
    metrics=("error", "error_selected", "C", "gamma", "rounds", "size"),
)
paper.exhibit(
    "table4",
    "Spam with 60 stumps (table IV, figure 5)",
    metrics=("error", "C", "features"),
)
paper.exhibit(
    "figure1",
    "Training and test error in the plane (figure 1)",
    metrics=("test", "train", "C"),
    # Points in the plane: with stumps of two features alone, many scores are all but equal.
    parting=("CGENS",),
)
paper.exhibit(
    "table3",
    "Test errors with several classes (table III, figure 3)",
    metrics=("error", "curve", "C"),
    timing=("seconds_curve",),
)
paper.exhibit(
    "vowel",
    "Readings of vowel's row of table III",
    metrics=("error", "C"),
)
paper.exhibit(
    "figure4",
    "Pictures of scenes, classified rightly and wrongly (figure 4)",
    metrics=("error", "right", "wrong", "taken_for"),
)
paper.exhibit(
    "theorems",
    "Claims 4.1 and 4.2, on stumps that are all tried out",
    metrics=("identity", "negation", "rank", "objective"),
    tolerance={"identity": 1e-6, "negation": 1e-9},
)
paper.exhibit(
    "inverse",
    "The incremental inverse of the appendix",
    metrics=("difference", "same"),
    tolerance={"difference": 1e-6},
)
paper.exhibit(
    "dual",
    "Rounds under two rules for which dual solution to take",
    metrics=("curve", "same"),
    parting=("any solution",),  # which one is the point of it
)
paper.exhibit(
    "path",
    "From few stumps to all of them",
    metrics=("objective", "disagreement", "error", "C"),
    tolerance={"objective": 1e-5},
)
paper.exhibit(
    "multiple_kernels",
    "One width chosen by cross-validation, or all widths in one pool",
    metrics=("error", "problems", "share", "kernels"),
    timing=("search_seconds",),
)
paper.exhibit(
    "pools",
    "What a round may choose from",
    metrics=("AdaBoost", "LPBoost", "CGENS"),
)
paper.exhibit(
    "draws",
    "Twenty splits of our own, for error bars",
    metrics=("errors", "C", "rounds"),
)
paper.exhibit(
    "prediction",
    "Seconds to classify 10,000 points",
    metrics=("error", "size", "curve"),
    timing=("eval_seconds", "seconds_curve"),
    parting=("CGENS, 500 stumps", "CGENS, 500 cosines"),
    alone=True,
)
paper.exhibit(
    "figure2",
    "Training time against iterations, 10,000 digits (figure 2, top)",
    timing=("reached", "seconds_curve"),
    alone=True,
)
paper.exhibit(
    "figure2_examples",
    "Training time against examples, 100 iterations (figure 2, bottom)",
    timing=("reached", "seconds_curve", "largest_curve"),
    alone=True,
)


@dataclass(frozen=True)
class Selection:
    """Cross-validation: how many folds, and among which numbers of rounds."""

    n_folds: int
    rounds: list[int]


@dataclass(frozen=True)
class Perceptrons:
    """What a round may choose from: one pool or fresh ones, their size, and how thresholds are drawn."""

    pool: str
    pool_size: int
    thresholds: str


@dataclass(frozen=True)
class Cosines:
    """Size of a pool of cosines, and the values of C that go with it."""

    pool_size: int
    log2_C_cosines: list[int]  # noqa: N815 - its name in params.yaml


@dataclass(frozen=True)
class Widths:
    """Search for the width of the Gaussian kernel: grids, and which of equal grid points wins."""

    log2_C_gauss: list[int]  # noqa: N815 - its name in params.yaml
    log2_gamma: list[int]
    width_ties: str


@dataclass(frozen=True)
class Classes:
    """Rounds at which ensembles of several classes are read, and how their C is searched."""

    checkpoints: list[int]
    n_folds: int
    vision_search: dict[str, int]


@dataclass(frozen=True)
class Clocked:
    """Rounds at which seconds are read, when a run stops, and C of each method."""

    time_checkpoints: list[int]
    time_limit: float
    log2_C_time: dict[str, int]  # noqa: N815 - its name in params.yaml
    tol: float


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent; a score of exactly 0 counts as -1."""
        return 100.0 * float(np.mean((scores > 0) != (self.y_test > 0)))

    def part(self, rows: np.ndarray, held_out: np.ndarray) -> Draw:
        """Return the draw of a fold: some training rows, others held out."""
        return Draw(self.X[rows], self.y[rows], self.X[held_out], self.y[held_out])


def draw(trial: Trial) -> Draw:
    """Return an IDA set in the benchmark's form and sizes; "heart official" takes its own realisations."""
    name, _, official = trial.dataset.partition(" ")
    if official:
        data, splits = load_official(name)
        train, test = splits[trial.number]
    else:
        data = ida_form(name)
        train, test = ida_split(name, "shen2014", trial.number)
    y = data.signs.astype(np.float64)
    return Draw(data.X[train], y[train], data.X[test], y[test])


def folds_of(trial: Trial, labels: np.ndarray, n_folds: int) -> Folds:
    """Return (training, held-out) indices of stratified random folds, the same for all methods."""
    order = trial.shared_rng("folds").permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


@dataclass(frozen=True)
class Stages:
    """An ensemble with its weights and intercept after each of some numbers of rounds."""

    hypotheses: Hypotheses
    weights: list[tuple[np.ndarray, float]]
    collect: Callable[[int | None], Hypotheses]  # the first hypotheses, as many as asked for

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions, a column for each number of rounds."""
        H = np.asarray(self.hypotheses.outputs(X), dtype=np.float64, order="F")
        return np.column_stack([H[:, : len(w)] @ w + b for w, b in self.weights])

    def truncated(self, index: int) -> Callable[[np.ndarray], np.ndarray]:
        """Return the decision function after one of the numbers of rounds, which evaluates just those."""
        w, b = self.weights[index]
        return partial(self.collect(len(w)).decision, W=w, b=b)


def boost(oracle: Oracle, y: np.ndarray, rounds: Sequence[int]) -> Stages:
    """Run AdaBoost, and read it at some numbers of rounds."""
    boosted = adaboost(oracle, y, range(max(rounds)))
    first = lambda J: oracle.collect(boosted.keys[:J])  # noqa: E731
    return Stages(first(None), [(boosted.W[:T], 0.0) for T in rounds], first)


def generate(oracle: Oracle, master: Master, rounds: Sequence[int], tol: float) -> Stages:
    """Run column generation, and read it at some numbers of rounds."""
    result = column_generation(oracle, master, max(rounds), tol=tol)
    path = result.weights or [(result.solution.w, result.solution.b)]
    first = lambda J: oracle.collect(result.keys[:J])  # noqa: E731
    return Stages(first(None), [path[min(T, len(path)) - 1] for T in rounds], first)


Fit = Callable[[Draw, float, Sequence[int]], Stages]  # a training part, C and numbers of rounds
Family = Callable[[np.ndarray], Oracle]  # training rows give what a round may choose from


def boosting(family: Family) -> Fit:
    """Return how AdaBoost is fitted; it has no C."""

    def fit(part: Draw, _: float, rounds: Sequence[int]) -> Stages:
        return boost(family(part.X), part.y, rounds)

    return fit


@dataclass(frozen=True)
class Search:
    """Held-out samples classified correctly, by C and number of rounds."""

    Cs: Sequence[float]
    rounds: Sequence[int]
    correct: np.ndarray

    def best(self, column: int | None = None) -> tuple[float, int]:
        """Return C and the index of the number of rounds; among equals the smaller C, then fewer rounds.

        With a column, that number of rounds is taken, and C alone is searched.
        """
        if column is not None:
            return self.Cs[int(self.correct[:, column].argmax())], column
        i, j = np.unravel_index(self.correct.argmax(), self.correct.shape)
        return self.Cs[int(i)], int(j)

    def among(self, columns: Sequence[int]) -> tuple[float, int]:
        """Return C and the column of the number of rounds, when only some numbers of rounds are allowed."""
        C, j = Search(self.Cs, self.rounds, self.correct[:, list(columns)]).best()
        return C, columns[j]


def search(fit: Fit, data: Draw, folds: Folds, Cs: Sequence[float], rounds: Sequence[int]) -> Search:
    """Fit each C once on each fold, and count at every number of rounds."""
    correct = np.zeros((len(Cs), len(rounds)), dtype=np.int64)
    for train, held_out in folds:
        part = data.part(train, held_out)
        for i, C in enumerate(Cs):
            agree = (fit(part, C, rounds).scores(part.X_test) > 0) == (part.y_test > 0)[:, np.newaxis]
            correct[i] += agree.sum(axis=0)
    return Search(Cs, rounds, correct)


def errors_at(
    fit: Fit, data: Draw, rounds: Sequence[int], stages: Iterable[tuple[float, int]]
) -> dict[tuple[float, int], float]:
    """Return the test errors of some pairs of C and column of rounds, from one fit for each C."""
    longest: dict[float, int] = {}
    for C, column in stages:
        longest[C] = max(column, longest.get(C, 0))
    errors = {}
    for C, last in longest.items():
        scores = fit(data, C, rounds[: last + 1]).scores(data.X_test)
        errors |= {(C, column): data.error(scores[:, column]) for column in range(last + 1)}
    return errors


class StumpPool(PerceptronPool):
    """Stumps drawn at random: a feature, then a threshold uniform on its range (linli2005, Definition 2)."""

    def _sample(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = self._X.min(axis=0), self._X.max(axis=0)
        # The stump kernel gives each feature a share in proportion to its range.
        features = self._random.choice(len(low), size=n, p=(high - low) / (high - low).sum())
        return np.eye(len(low))[features], self._random.uniform(low[features], high[features])


def make_family(
    name: str, X: np.ndarray, seed: int, *, constant: bool = True, size: int = 2000, gamma: float = 1.0
) -> Oracle:
    """Return an oracle by name: "stump", or a pool of `POOLS` with " once" or " fresh" behind its name."""
    if name == "stump":
        return StumpOracle(X, constant=constant)
    kind, _, drawn = name.rpartition(" ")
    options = {"n_hypotheses": size, "fresh": drawn == "fresh", "random_state": seed}
    if kind == "stumps":
        return StumpPool(X, **options)
    if kind == "fourier":
        return FourierPool(X, gamma=gamma, **options)
    return PerceptronPool(X, threshold=kind.removeprefix("perceptrons "), **options)


POOLS = ("stumps", "perceptrons ball", "perceptrons segment", "fourier")


def family_of(trial: Trial, name: str, **options: object) -> Callable[[np.ndarray], Oracle]:
    """Return what makes an oracle of training rows, by the name of its family; methods share its draws."""
    return partial(_oracle_of, name, trial.shared_seed("pool"), options)


def _oracle_of(name: str, seed: int, options: dict, X: np.ndarray) -> Oracle:
    return make_family(name, X, seed, **options)


def perceptron_family(trial: Trial, perceptrons: Perceptrons) -> Callable[[np.ndarray], Oracle]:
    """Return what draws the perceptrons of table II."""
    name = f"perceptrons {perceptrons.thresholds} {perceptrons.pool}"
    return family_of(trial, name, size=perceptrons.pool_size)


def machine(y: np.ndarray, C: float, tol: float, *, portable: bool = True) -> Hinge:
    """Return the master of CGENS; if portable, on the path that is the same on every computer."""
    return Hinge(y, C, intercept="free", tol=tol, least_norm=portable)


def machine_ensemble(family: Family, tol: float, *, portable: bool = True) -> Fit:
    """Return how CGENS is fitted: problem (1), with its intercept."""

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Stages:
        return generate(family(part.X), machine(part.y, C, tol, portable=portable), rounds, tol)

    return fit


def stump_ensemble(method: str, tol: float) -> Fit:
    """Return how AdaBoost or CGENS is fitted with all stumps; the intercept of CGENS is its constant."""
    if method == "AdaBoost":
        return boosting(StumpOracle)
    return machine_ensemble(partial(StumpOracle, constant=False), tol)


def linear_programming(family: Family, tol: float) -> Fit:
    """Return how LPBoost is fitted: problem (4), as the paper prints it without an intercept."""

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Stages:
        return generate(family(part.X), HingeLP(part.y, C, least_norm=True), rounds, tol)

    return fit


DISTANCE_KERNELS = {"stump": stump_kernel, "perceptron": perceptron_kernel}


def powers_of_two(exponents: Sequence[float]) -> list[float]:
    """Return 2 ** e for each exponent."""
    return [2.0**exponent for exponent in exponents]


def choose_cost(K: np.ndarray, y: np.ndarray, folds: Folds, Cs: Sequence[float]) -> float:
    """Return the C of the most held-out samples classified correctly; the smallest of equals."""
    return Cs[int(cross_validate_path(K, y, Cs, folds).sum(axis=1).argmax())]


def train_on_kernel(
    K: np.ndarray, K_test: np.ndarray, y: np.ndarray, folds: Folds, Cs: Sequence[float]
) -> tuple[np.ndarray, float, int]:
    """Choose C; return the test scores, C and the number of support vectors."""
    C = choose_cost(K, y, folds, Cs)
    solution = solve_kernel_hinge(K, y, C)
    return K_test @ solution.w + solution.b, C, int((solution.w != 0).sum())


def choose_width(data: Draw, folds: Folds, widths: Widths) -> float:
    """Return the Gaussian width of the best grid point.

    Among equals "C first" takes the smallest C, then gamma; "width first" the smallest gamma, then C.
    """
    Cs, gammas = powers_of_two(widths.log2_C_gauss), powers_of_two(widths.log2_gamma)
    squares = squared_distances(data.X)
    counts = [cross_validate_path(np.exp(-g * squares), data.y, Cs, folds).sum(axis=1) for g in gammas]
    correct = np.array(counts)  # gammas x Cs
    if widths.width_ties == "width first":
        return gammas[int(np.unravel_index(correct.argmax(), correct.shape)[0])]
    return gammas[int(np.unravel_index(correct.T.argmax(), correct.T.shape)[1])]


def equal_rounds(rounds: Sequence[int], n_Cs: int, n_folds: int) -> list[int]:
    """Return how many rounds one method without C gets for the calls of one with C: folds and final fit."""
    return [T * (n_Cs * n_folds + 1) // (n_folds + 1) for T in rounds]


@paper.trials("table1", methods=("AdaBoost",), datasets=BINARY_SETS)
def boosted_stumps(trial: Trial, *, selection: Selection, log2_C: list[int]) -> Result:
    """AdaBoost, its number of rounds by cross-validation; by_calls: with as many calls as CGENS has."""
    data, rounds, n_folds = draw(trial), selection.rounds, selection.n_folds
    longer = equal_rounds(rounds, len(log2_C), n_folds)
    grid = sorted({*rounds, *longer})
    fit = boosting(family_of(trial, "stump"))
    found = search(fit, data, folds_of(trial, data.y, n_folds), [1.0], grid)
    best = found.among([j for j, T in enumerate(grid) if T in rounds])
    last = 1.0, grid.index(rounds[-1])
    stages = [found.among([j for j, T in enumerate(grid) if most >= T]) for most in longer]
    errors = errors_at(fit, data, grid, [best, last, *stages])
    return {
        "error": errors[best],
        "error_500": errors[last],
        "rounds": grid[best[1]],
        "by_calls": np.array([errors[stage] for stage in stages]),
    }


@paper.trials("table1", methods=("LPBoost",), datasets=BINARY_SETS)
def lp_stumps(trial: Trial, *, selection: Selection, log2_C_lp: list[int], tol: float) -> Result:
    """LPBoost, its C and number of rounds by cross-validation."""
    fit = linear_programming(family_of(trial, "stump"), tol)
    return _selected(trial, fit, powers_of_two(log2_C_lp), selection)


@paper.trials("table1", methods=("CGENS",), datasets=BINARY_SETS)
def cgens_stumps(trial: Trial, *, selection: Selection, log2_C: list[int], tol: float) -> Result:
    """CGENS, its C and number of rounds by cross-validation."""
    fit = machine_ensemble(family_of(trial, "stump", constant=False), tol)
    return _selected(trial, fit, powers_of_two(log2_C), selection)


def _selected(trial: Trial, fit: Fit, Cs: list[float], selection: Selection) -> Result:
    """Return the errors with C and rounds selected, with all rounds and C alone selected, and by calls."""
    data, rounds = draw(trial), selection.rounds
    found = search(fit, data, folds_of(trial, data.y, selection.n_folds), Cs, rounds)
    best, last = found.best(), found.best(len(rounds) - 1)
    stages = [found.among(range(count)) for count in range(1, len(rounds) + 1)]
    errors = errors_at(fit, data, rounds, [best, last, *stages])
    return {
        "error": errors[best],
        "error_500": errors[last],
        "C": best[0],
        "rounds": rounds[best[1]],
        "by_calls": np.array([errors[stage] for stage in stages]),
    }


@paper.trials("table1", methods=("SVM",), datasets=BINARY_SETS)
def stump_machine(trial: Trial, *, n_folds: int, log2_C_stump: list[int]) -> Result:
    """Machine with the stump kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["stump"]
    folds = folds_of(trial, data.y, n_folds)
    K, K_test = kernel(data.X), kernel(data.X_test, data.X)
    scores, C, size = train_on_kernel(K, K_test, data.y, folds, powers_of_two(log2_C_stump))
    return {"error": data.error(scores), "C": C, "size": size}


@paper.trials("table2", methods=("fourier:RFF", "fourier:SVM"), datasets=BINARY_SETS, together=True)
def fourier_machines(trial: Trial, *, n_folds: int, pool_size: int, widths: Widths) -> dict[str, Result]:
    """The Gaussian machine, and the linear one on random cosines of the width that it has chosen."""
    data = draw(trial)
    folds, Cs = folds_of(trial, data.y, n_folds), powers_of_two(widths.log2_C_gauss)
    gamma = choose_width(data, folds, widths)
    kernels = {
        "fourier:SVM": [gaussian_kernel(X, data.X, gamma=gamma) for X in (data.X, data.X_test)],
        "fourier:RFF": cosine_kernels(data, trial.shared_seed("pool"), pool_size, gamma),
    }
    return {
        name: {**_machine(data, *matrices, folds, Cs), "gamma": gamma} for name, matrices in kernels.items()
    }


def cosine_kernels(data: Draw, seed: int, size: int, gamma: float) -> list[np.ndarray]:
    """Return the linear kernels of random cosines: Rahimi and Recht's approximation of the Gaussian one."""
    drawn = make_family("fourier once", data.X, seed, size=size, gamma=gamma).collect(
        [(j, 1) for j in range(size)]
    )
    Z, Z_test = (np.sqrt(2.0 / size) * drawn.outputs(X) for X in (data.X, data.X_test))
    return [Z @ Z.T, Z_test @ Z.T]


@paper.trials("table2", methods=("fourier:CGENS",), datasets=BINARY_SETS)
def fourier_cgens(
    trial: Trial, *, selection: Selection, pool: str, cosines: Cosines, widths: Widths, tol: float
) -> Result:
    """CGENS on cosines of the width that the Gaussian machine has chosen."""
    data = draw(trial)
    gamma = choose_width(data, folds_of(trial, data.y, selection.n_folds), widths)
    fit = machine_ensemble(family_of(trial, f"fourier {pool}", size=cosines.pool_size, gamma=gamma), tol)
    return {**_ensemble(trial, fit, powers_of_two(cosines.log2_C_cosines), selection), "gamma": gamma}


def _machine(data: Draw, K: np.ndarray, K_test: np.ndarray, folds: Folds, Cs: list[float]) -> Result:
    scores, C, size = train_on_kernel(K, K_test, data.y, folds, Cs)
    return {"error": data.error(scores), "C": C, "size": size}


def _ensemble(trial: Trial, fit: Fit, Cs: list[float], selection: Selection) -> Result:
    """Return the error after all rounds (C selected), and that with the rounds selected too."""
    data, rounds = draw(trial), selection.rounds
    found = search(fit, data, folds_of(trial, data.y, selection.n_folds), Cs, rounds)
    last, best = found.best(len(rounds) - 1), found.best()
    errors = errors_at(fit, data, rounds, [last, best])
    return {
        "error": errors[last],
        "error_selected": errors[best],
        "C": last[0],
        "rounds": rounds[best[1]],
    }


@paper.trials("table2", methods=("perceptron:AdaBoost",), datasets=BINARY_SETS)
def boosted_perceptrons(trial: Trial, *, selection: Selection, perceptrons: Perceptrons) -> Result:
    """AdaBoost on a pool of perceptrons."""
    return _ensemble(trial, boosting(perceptron_family(trial, perceptrons)), [1.0], selection)


@paper.trials("table2", methods=("perceptron:LPBoost",), datasets=BINARY_SETS)
def lp_perceptrons(
    trial: Trial, *, selection: Selection, perceptrons: Perceptrons, log2_C_lp: list[int], tol: float
) -> Result:
    """LPBoost on the same pool."""
    fit = linear_programming(perceptron_family(trial, perceptrons), tol)
    return _ensemble(trial, fit, powers_of_two(log2_C_lp), selection)


@paper.trials("table2", methods=("perceptron:CGENS",), datasets=BINARY_SETS)
def cgens_perceptrons(
    trial: Trial, *, selection: Selection, perceptrons: Perceptrons, log2_C: list[int], tol: float
) -> Result:
    """CGENS on the same pool."""
    fit = machine_ensemble(perceptron_family(trial, perceptrons), tol)
    return _ensemble(trial, fit, powers_of_two(log2_C), selection)


@paper.trials("table2", methods=("perceptron:SVM",), datasets=BINARY_SETS)
def perceptron_machine(trial: Trial, *, n_folds: int, log2_C_perceptron: list[int]) -> Result:
    """Machine with the perceptron kernel, its C by cross-validation."""
    data = draw(trial)
    kernel = DISTANCE_KERNELS["perceptron"]
    folds = folds_of(trial, data.y, n_folds)
    return _machine(
        data, kernel(data.X), kernel(data.X_test, data.X), folds, powers_of_two(log2_C_perceptron)
    )


def _first(trial: Trial) -> Trial:
    return replace(trial, number=0)


def _draws(trial: Trial, n_draws: int) -> list[Draw]:
    return [draw(replace(trial, number=number)) for number in range(n_draws)]


def _family(trial: Trial, perceptrons: Perceptrons, *, constant: bool = True) -> Family:
    """Return all stumps or a pool of perceptrons, as the method's name says."""
    if trial.method.startswith("stump"):
        return family_of(_first(trial), "stump", constant=constant)
    return perceptron_family(_first(trial), perceptrons)


def _repeat(trial: Trial, fit: Fit, Cs: Sequence[float], selection: Selection, n_draws: int) -> Result:
    """Select on the first split, with stumps the number of rounds too, and fit all."""
    splits, rounds = _draws(trial, n_draws), selection.rounds
    folds = folds_of(_first(trial), splits[0].y, selection.n_folds)
    found = search(fit, splits[0], folds, Cs, rounds)
    C, t = found.best(None if trial.method.startswith("stump") else len(rounds) - 1)
    errors = [data.error(fit(data, C, [rounds[t]]).scores(data.X_test)[:, 0]) for data in splits]
    return {"errors": np.array(errors), "C": C, "rounds": rounds[t]}


@paper.trials("draws", methods=("stump:AdaBoost", "perceptron:AdaBoost"), datasets=IDA_SETS)
def boosted_draws(trial: Trial, *, n_draws: int, selection: Selection, perceptrons: Perceptrons) -> Result:
    """AdaBoost."""
    return _repeat(trial, boosting(_family(trial, perceptrons)), [1.0], selection, n_draws)


@paper.trials("draws", methods=("stump:LPBoost", "perceptron:LPBoost"), datasets=IDA_SETS)
def lp_draws(
    trial: Trial,
    *,
    n_draws: int,
    selection: Selection,
    perceptrons: Perceptrons,
    log2_C_lp: list[int],
    tol: float,
) -> Result:
    """LPBoost."""
    fit = linear_programming(_family(trial, perceptrons), tol)
    return _repeat(trial, fit, powers_of_two(log2_C_lp), selection, n_draws)


@paper.trials("draws", methods=("stump:CGENS", "perceptron:CGENS"), datasets=IDA_SETS)
def cgens_draws(
    trial: Trial,
    *,
    n_draws: int,
    selection: Selection,
    perceptrons: Perceptrons,
    log2_C: list[int],
    tol: float,
) -> Result:
    """CGENS on stumps and perceptrons."""
    fit = machine_ensemble(_family(trial, perceptrons, constant=False), tol)
    return _repeat(trial, fit, powers_of_two(log2_C), selection, n_draws)


@paper.trials("draws", methods=("fourier:CGENS",), datasets=IDA_SETS)
def fourier_draws(
    trial: Trial,
    *,
    n_draws: int,
    selection: Selection,
    pool: str,
    cosines: Cosines,
    widths: Widths,
    tol: float,
) -> Result:
    """CGENS on cosines, of the width that the Gaussian machine has chosen."""
    gamma = _width(trial, selection.n_folds, widths)
    family = family_of(_first(trial), f"fourier {pool}", size=cosines.pool_size, gamma=gamma)
    fit = machine_ensemble(family, tol)
    return _repeat(trial, fit, powers_of_two(cosines.log2_C_cosines), selection, n_draws)


def _width(trial: Trial, n_folds: int, widths: Widths) -> float:
    first = draw(_first(trial))
    return choose_width(first, folds_of(_first(trial), first.y, n_folds), widths)


Kernels = Callable[[Draw], Sequence[np.ndarray]]


def _repeat_machine(
    trial: Trial, kernels: Kernels, log2_Cs: Sequence[int], n_folds: int, n_draws: int
) -> Result:
    """Select C on the first split, and train on all."""
    C, errors = 0.0, []
    for data in _draws(trial, n_draws):
        K, K_test = kernels(data)
        C = C or choose_cost(K, data.y, folds_of(_first(trial), data.y, n_folds), powers_of_two(log2_Cs))
        machine = solve_kernel_hinge(K, data.y, C)
        errors.append(data.error(K_test @ machine.w + machine.b))
    return {"errors": np.array(errors), "C": C}


@paper.trials("draws", methods=("stump:SVM", "perceptron:SVM"), datasets=IDA_SETS)
def machine_draws(
    trial: Trial, *, n_draws: int, n_folds: int, log2_C_stump: list[int], log2_C_perceptron: list[int]
) -> Result:
    """Machines with the kernels of all stumps and of all perceptrons."""
    name = trial.method.partition(":")[0]
    kernel = DISTANCE_KERNELS[name]
    grid = log2_C_stump if name == "stump" else log2_C_perceptron
    return _repeat_machine(
        trial, lambda data: (kernel(data.X), kernel(data.X_test, data.X)), grid, n_folds, n_draws
    )


@paper.trials("draws", methods=("fourier:RFF", "fourier:SVM"), datasets=IDA_SETS)
def gaussian_draws(trial: Trial, *, n_draws: int, n_folds: int, pool_size: int, widths: Widths) -> Result:
    """The Gaussian machine, and the linear one on random cosines."""
    gamma = _width(trial, n_folds, widths)
    seed = _first(trial).shared_seed("pool")

    def kernels(data: Draw) -> list[np.ndarray]:
        if trial.method == "fourier:RFF":
            return cosine_kernels(data, seed, pool_size, gamma)
        return [gaussian_kernel(X, data.X, gamma=gamma) for X in (data.X, data.X_test)]

    return _repeat_machine(trial, kernels, widths.log2_C_gauss, n_folds, n_draws)


# All stumps, or 2000 drawn once or anew in each round.
FAMILIES = (
    "stump", "stumps once", "stumps fresh", "perceptrons ball once", "perceptrons ball fresh",
    "perceptrons segment once", "perceptrons segment fresh",
)  # fmt: skip


def shared_family(name: str, seed: int, size: int) -> Family:
    """Return what makes an oracle of training rows (always the same); fresh pools share their draws."""
    kind, _, drawn = name.rpartition(" ")
    if drawn != "fresh":
        return partial(make_family, name, seed=seed, size=size)
    options = {"n_hypotheses": size, "fresh": True, "random_state": np.random.default_rng(seed), "record": []}
    if kind == "stumps":
        return partial(StumpPool, **options)
    return partial(PerceptronPool, threshold=kind.removeprefix("perceptrons "), **options)


@paper.trials("pools", methods=FAMILIES, datasets=BINARY_SETS)
def pools(
    trial: Trial, *, pool_size: int, log2_C_pools: dict[str, int], rounds: list[int], tol: float
) -> dict[str, np.ndarray]:
    """Test errors of AdaBoost, LPBoost and CGENS after some rounds, with the same choice in each round."""
    data = draw(trial)
    family = shared_family(trial.method, trial.shared_seed("pool"), pool_size)
    # The intercept of CGENS is its constant stump.
    others = partial(family, constant=False) if trial.method == "stump" else family
    fits = {
        "AdaBoost": boosting(family),
        "LPBoost": linear_programming(family, tol),
        "CGENS": machine_ensemble(others, tol),
    }
    found = {}
    for name, fit in fits.items():
        scores = fit(data, 2.0 ** log2_C_pools.get(name, 0), rounds).scores(data.X_test)
        found[name] = np.array([data.error(column) for column in scores.T])
    return found


def spam_draw(trial: Trial) -> Draw:
    """Split spam 3 : 2 at random; stumps need no scaling."""
    data = load("spam")
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [round(0.6 * data.n_samples)])
    y = data.signs.astype(np.float64)
    return Draw(data.X[train], y[train], data.X[test], y[test])


@paper.trials("table4", methods=("AdaBoost", "Ours"), datasets=("spam",))
def spam(
    trial: Trial, *, n_folds: int, n_stumps: int, log2_C: list[int], tol: float
) -> dict[str, float | np.ndarray]:
    """Test error of 60 stumps; features: how many of them look at each feature."""
    data, fit = spam_draw(trial), stump_ensemble(trial.method, tol)
    C = 1.0
    if trial.method == "Ours":
        folds = folds_of(trial, data.y, n_folds)
        C, _ = search(fit, data, folds, powers_of_two(log2_C), [n_stumps]).best()
    ensemble = fit(data, C, [n_stumps])
    stumps = ensemble.hypotheses
    counts = np.bincount(stumps.features[np.isfinite(stumps.thresholds)], minlength=data.X.shape[1])
    return {"error": data.error(ensemble.scores(data.X_test)[:, 0]), "C": C, "features": counts}


def toy_draw(trial: Trial, n_train: int, n_test: int) -> Draw:
    """Draw points of a standard normal; half of the probability lies within the circle."""
    rng = trial.shared_rng("points")
    X = rng.standard_normal((n_train + n_test, 2))
    y = np.where((X**2).sum(axis=1) < 2.0 * np.log(2.0), 1.0, -1.0)
    return Draw(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


@paper.trials("figure1", methods=("AdaBoost", "CGENS"), datasets=("toy",))
def toy(
    trial: Trial,
    *,
    n_train: int,
    n_test: int,
    n_folds: int,
    checkpoints: list[int],
    log2_C_toy: list[int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """Training and test error after some numbers of rounds; C by cross-validation at the last."""
    data, fit = toy_draw(trial, n_train, n_test), stump_ensemble(trial.method, tol)
    C = 1.0
    if trial.method == "CGENS":
        folds = folds_of(trial, data.y, n_folds)
        C, _ = search(fit, data, folds, powers_of_two(log2_C_toy), checkpoints[-1:]).best()
    ensemble = fit(data, C, checkpoints)
    test, train = (ensemble.scores(X) > 0 for X in (data.X_test, data.X))
    return {
        "test": 100.0 * (test != (data.y_test > 0)[:, None]).mean(axis=0),
        "train": 100.0 * (train != (data.y > 0)[:, None]).mean(axis=0),
        "C": C,
    }


@paper.trials("path", methods=("CGENS",), datasets=BINARY_SETS)
def to_infinity(
    trial: Trial, *, counts: list[int], n_folds: int, log2_C_path: list[int], tol_path: float
) -> dict[str, float | np.ndarray]:
    """CGENS against the machine whose kernel is the sum over ALL stumps of h(x) h(x').

    In ranks (cuts between neighboring values passed) that kernel is a constant minus twice the l1 distance.
    objective: that of the ensemble over that of the machine, minus 1. disagreement: share of test points
    where the two differ, in percent. error: test errors, last that of the machine.
    """
    data = draw(trial)
    ranks, ranks_test = ranks_of(data.X, data.X), ranks_of(data.X, data.X_test)
    K, K_test = 2.0 * stump_kernel(ranks), 2.0 * stump_kernel(ranks_test, ranks)
    Cs = powers_of_two(log2_C_path)
    C = choose_cost(K, data.y, folds_of(trial, data.y, n_folds), Cs)
    machine = solve_kernel_hinge(K, data.y, C, tol=1e-6)
    target = K_test @ machine.w + machine.b
    ensemble = machine_ensemble(partial(StumpOracle, constant=False), tol_path)(data, C, counts)
    decisions = ensemble.scores(data.X_test)
    H = np.asarray(ensemble.hypotheses.outputs(data.X), dtype=np.float64)
    objectives = [_objective(H[:, : len(w)], w, b, data.y, C) for w, b in ensemble.weights]
    return {
        "objective": np.array(objectives) / machine.objective - 1.0,
        "disagreement": 100.0 * ((decisions > 0) != (target > 0)[:, None]).mean(axis=0),
        "error": np.array([*(data.error(s) for s in decisions.T), data.error(target)]),
        "C": C,
    }


def ranks_of(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return how many of the cuts midway between neighboring values of X each entry of Z lies above."""
    columns = []
    for values, entries in zip(X.T, Z.T, strict=True):
        distinct = np.unique(values)
        columns.append(np.searchsorted(0.5 * (distinct[1:] + distinct[:-1]), entries, side="left"))
    return np.column_stack(columns).astype(np.float64)


def _objective(H: np.ndarray, w: np.ndarray, b: float, y: np.ndarray, C: float) -> float:
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (H @ w + b)).sum())


MIXTURES = ("width by cross-validation", "all widths at once", "all widths, all features and each alone")


@paper.trials("multiple_kernels", methods=MIXTURES, datasets=BINARY_SETS)
def multiple_kernels(
    trial: Trial, *, n_folds: int, cosines: Cosines, widths: Widths, tol: float, n_cosines: int
) -> dict[str, float | np.ndarray]:
    """CGENS over cosines of one width that a kernel machine has searched for, or of many kernels in one pool.

    problems: optimization problems solved to choose widths and C. share: share of the total absolute weight
    on each width, kernels: how many of the mixed kernels (widths times groups of features) have any.
    """
    data = draw(trial)
    folds, gammas = folds_of(trial, data.y, n_folds), powers_of_two(widths.log2_gamma)
    Cs, mixed = powers_of_two(cosines.log2_C_cosines), gammas
    problems = len(Cs) * n_folds
    started = process_time()
    if trial.method == "width by cross-validation":
        mixed = [choose_width(data, folds, widths)]
        problems += len(widths.log2_C_gauss) * len(gammas) * n_folds
    options = {"n_hypotheses": cosines.pool_size, "random_state": trial.shared_seed("pool")}
    family = partial(FourierPool, gamma=mixed, groups=_groups(trial.method, data.X.shape[1]), **options)
    C, _ = search(machine_ensemble(family, tol), data, folds, Cs, [n_cosines]).best()
    pool = family(data.X)
    result = column_generation(pool, machine(data.y, C, tol), n_cosines, tol=tol, keep_weights=False)
    seconds, w = process_time() - started, result.solution.w
    weights = _weight_by_kernel(pool, result.keys, w)
    by_width = dict(zip(mixed, weights.reshape(len(mixed), -1).sum(axis=1) / weights.sum(), strict=True))
    return {
        "error": data.error(pool.collect(result.keys).decision(data.X_test, w, result.solution.b)),
        "problems": problems,
        "share": np.array([by_width.get(gamma, 0.0) for gamma in gammas]),
        "kernels": int((weights > 0).sum()),
        "search_seconds": seconds,
    }


def _groups(method: str, d: int) -> list | None:
    """Return the groups of features that kernels look at; None is one group of all."""
    return [range(d), *([j] for j in range(d))] if method.endswith("alone") else None


def _weight_by_kernel(pool: FourierPool, keys: list, w: np.ndarray) -> np.ndarray:
    """Return the total absolute weight on the cosines of each kernel, widths times groups."""
    owners = [pool.kernel_of(key) for key in keys]
    return np.bincount(owners, weights=np.abs(w), minlength=len(pool.kernels))


EXACT = 1e-9  # relative gap of restricted problems here


@paper.trials("theorems", methods=("claim 4.1", "largest decrease"), datasets=("heart", "titanic", "twonorm"))
def gap_decrease(trial: Trial, *, n_candidates: int, n_steps: int, C: float) -> dict[str, float | np.ndarray]:
    """Column generation on few stumps; all of those that are left are tried out in each round.

    "claim 4.1" adds the column of the largest score, "largest decrease" the one whose addition lowers the
    objective most. identity: relative error of "gap = half the sum of squared scores", equation (9), against
    the objectives themselves. rank: place of the largest score among all by the decrease that follows, 1 the
    first. negation: largest difference between (6) on the set closed under negation and (8). objective:
    after each round.
    """
    data = draw(trial)
    H = _columns(data, n_candidates, trial.shared_seed("candidates"))
    chosen: list[int] = []
    u = np.full(len(data.y), 0.5 * C)
    objectives, ranks, identity, negation = [], [], [], []
    for _ in range(min(n_steps, H.shape[1] - 1)):  # titanic has few stumps
        scores = H.T @ (u * data.y)
        left = np.setdiff1d(np.arange(H.shape[1]), chosen)
        trials = {j: _solve(data, H[:, [*chosen, j]], C) for j in left}
        lowered = np.array([trials[j].objective for j in left])
        by_score = left[np.abs(scores[left]).argmax()]
        ranks.append(1 + int((lowered < trials[by_score].objective * (1 - 10 * EXACT)).sum()))
        negation.append(abs(np.hstack([scores, -scores]).max() - np.abs(scores).max()))
        best = by_score if trial.method == "claim 4.1" else left[lowered.argmin()]
        chosen.append(int(best))
        solution = trials[best]
        u = solution.u
        scores = H.T @ (u * data.y)
        outside = np.setdiff1d(np.arange(H.shape[1]), chosen)
        dual = u.sum() - 0.5 * (scores**2).sum()  # of the whole problem, at this u
        gap = solution.gap + 0.5 * (scores[outside] ** 2).sum()
        identity.append(abs(solution.objective - dual - gap) / solution.objective)
        objectives.append(solution.objective)
    return {
        "identity": max(identity),
        "negation": max(negation),
        "rank": np.array(ranks),
        "objective": np.array(objectives),
    }


def _columns(data: Draw, n_candidates: int, seed: int) -> np.ndarray:
    """Return distinct columns of random stumps, one of each pair of signs, constants left out."""
    pool = make_family("stumps once", data.X, seed, size=n_candidates)
    H = np.array(pool.collect([(j, 1) for j in range(n_candidates)]).outputs(data.X), dtype=np.float64)
    H = np.unique(H * H[0], axis=1)
    return H[:, np.abs(H.mean(axis=0)) < 1]


def _solve(data: Draw, columns: np.ndarray, C: float):
    master = Hinge(data.y, C, intercept="free", tol=EXACT)
    for column in columns.T:
        master.add(np.ascontiguousarray(column, dtype=np.int8))
    return master.solve()


@paper.trials(
    "dual",
    methods=("any solution", "least norm"),
    datasets=("heart", "titanic", "thyroid", "twonorm"),
    together=True,
)
def dual_choice(trial: Trial, *, rounds: list[int], n_same: int, C: float) -> dict[str, dict]:
    """Column generation that prices with any dual solution of the hinge, or with the one of least norm.

    With few columns of -1 and +1 many rows are equal, and the dual has many solutions: the next stump then
    depends on the solver, unless a rule says which solution to take. curve: test errors after some numbers of
    rounds. same: share of the first rounds in which both rules choose the same stump.
    """
    data, results = draw(trial), {}
    for method in ("any solution", "least norm"):
        master = Hinge(data.y, C, intercept="free", tol=1e-4, least_norm=method == "least norm")
        results[method] = column_generation(
            StumpOracle(data.X, constant=False), master, max(rounds), tol=1e-4
        )
    first = [result.keys[:n_same] for result in results.values()]
    same = float(np.mean([a == b for a, b in zip(*first, strict=False)]))
    found = {}
    for method, result in results.items():
        path = [result.weights[min(T, len(result.weights)) - 1] for T in rounds]
        H = StumpOracle(data.X).collect(result.keys).outputs(data.X_test).astype(np.float64)
        errors = [data.error(H[:, : len(w)] @ w + b) for w, b in path]
        found[method] = {"curve": np.array(errors), "same": same}
    return found


def _digits(trial: Trial, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n training digits of MNIST, +1 where odd."""
    data = load("mnist")
    train, _ = official_split(data.part)
    rows = np.sort(trial.shared_rng("digits").permutation(train)[:n])
    return data.X[rows].reshape(n, -1), np.where(data.y[rows] % 2 == 1, 1.0, -1.0)


def _master(method: str, y: np.ndarray, log2_C: dict[str, int], tol: float) -> Master:
    if method == "CGENS":
        return Hinge(y, 2.0 ** log2_C["CGENS"], intercept="free", tol=tol)
    solver = "ipm" if method.endswith("interior point") else "dual-simplex"
    return HingeLP(y, 2.0 ** log2_C["LPBoost"], solver=solver)


def _run(method: str, X: np.ndarray, y: np.ndarray, n_rounds: int, clocked: Clocked) -> np.ndarray:
    """Return the seconds after each round: oracle and master; stop when the limit is passed."""
    start = process_time()
    oracle, ends = StumpOracle(X, constant=method != "CGENS"), []

    def late(_: ColumnGeneration) -> bool:
        ends.append(process_time() - start)
        return ends[-1] > clocked.time_limit

    master = _master(method, y, clocked.log2_C_time, clocked.tol)
    column_generation(oracle, master, n_rounds, tol=clocked.tol, callback=late, keep_weights=False)
    return np.array(ends)


LP_METHODS = ("LPBoost, dual simplex", "LPBoost, interior point")


@paper.trials("figure2", methods=("CGENS", *LP_METHODS), datasets=("MNIST",))
def by_iterations(trial: Trial, *, n_digits: int, clocked: Clocked) -> dict[str, float | np.ndarray]:
    """Seconds after some numbers of rounds on 10^4 digits; a method that passes the limit stops there."""
    X, y = _digits(trial, n_digits)
    _run(trial.method, X[:200], y[:200], 3, clocked)  # compiles
    ends = _run(trial.method, X, y, max(clocked.time_checkpoints), clocked)
    reached = [T for T in clocked.time_checkpoints if len(ends) >= T]
    return {"reached": len(ends), "seconds_curve": ends[np.array(reached) - 1]}


@paper.trials("figure2_examples", methods=("CGENS", *LP_METHODS), datasets=("MNIST",))
def by_examples(
    trial: Trial, *, digit_counts: list[int], n_rounds_time: int, clocked: Clocked
) -> dict[str, float | np.ndarray]:
    """Seconds for 100 rounds on growing numbers of digits; reached: how many rounds each run came to.

    largest_curve: seconds after some numbers of rounds on the largest number, as far as they were reached.
    """
    X, y = _digits(trial, max(digit_counts))
    order = trial.shared_rng("subset").permutation(len(y))
    _run(trial.method, X[:200], y[:200], 3, clocked)
    seconds, reached = [], []
    for n in digit_counts:
        rows = np.sort(order[:n])
        ends = _run(trial.method, X[rows], y[rows], n_rounds_time, clocked)
        seconds.append(ends[-1])
        reached.append(len(ends))
    passed = np.array([T for T in clocked.time_checkpoints if len(ends) >= T])
    return {
        "reached": np.array(reached),
        "seconds_curve": np.array(seconds),
        "largest_curve": ends[passed - 1],
    }


MACHINES = ("stump machine", "Gaussian machine")
ENSEMBLES = ("CGENS, 500 stumps", "CGENS, 500 cosines")
TIMED_SETS = ("banana", "german", "image", "splice", "waveform")


@paper.trials("prediction", methods=MACHINES, datasets=TIMED_SETS)
def machine_prediction(
    trial: Trial,
    *,
    n_folds: int,
    n_evaluated: int,
    log2_C_stump: list[int],
    log2_C_gauss: list[int],
) -> dict[str, float]:
    """Test error, C by cross-validation, and seconds to classify 10^4 points (test points, repeated)."""
    data = draw(trial)
    stumps, gamma = trial.method == "stump machine", 1.0 / data.X.shape[1]
    Cs = powers_of_two(log2_C_stump if stumps else log2_C_gauss)
    K = stump_kernel(data.X) if stumps else gaussian_kernel(data.X, gamma=gamma)
    C = choose_cost(K, data.y, folds_of(trial, data.y, n_folds), Cs)
    options = {} if stumps else {"gamma": gamma}
    model = DistanceKernelSVC("stump" if stumps else "gaussian", C=C, **options).fit(data.X, data.y)
    return {
        "error": data.error(model.decision_function(data.X_test)),
        "size": len(model.support_),
        "eval_seconds": _best_of_three(
            model.decision_function, np.resize(data.X_test, (n_evaluated, data.X.shape[1]))
        ),
    }


@paper.trials("prediction", methods=ENSEMBLES, datasets=TIMED_SETS)
def ensemble_prediction(
    trial: Trial,
    *,
    n_folds: int,
    n_evaluated: int,
    pool_size: int,
    sizes: list[int],
    log2_C: list[int],
    log2_C_cosines: list[int],
    tol: float,
) -> dict[str, float | np.ndarray]:
    """Test errors and seconds of CGENS after some numbers of rounds, C by cross-validation at the last."""
    data = draw(trial)
    stumps, gamma = trial.method.endswith("stumps"), 1.0 / data.X.shape[1]
    options = {"constant": False} if stumps else {"size": pool_size, "gamma": gamma}
    family = family_of(trial, "stump" if stumps else "fourier once", **options)
    fit = machine_ensemble(family, tol, portable=False)  # a matter of seconds, and that path takes long
    Cs, folds = powers_of_two(log2_C if stumps else log2_C_cosines), folds_of(trial, data.y, n_folds)
    C, _ = search(fit, data, folds, Cs, sizes).best(len(sizes) - 1)
    ensemble = fit(data, C, sizes)
    points = np.resize(data.X_test, (n_evaluated, data.X.shape[1]))
    seconds = [_best_of_three(ensemble.truncated(j), points) for j in range(len(sizes))]
    errors = [data.error(scores) for scores in ensemble.scores(data.X_test).T]
    return {
        "error": errors[-1],
        "size": len(ensemble.weights[-1][0]),
        "curve": np.array(errors),
        "eval_seconds": seconds[-1],
        "seconds_curve": np.array(seconds),
    }


def _best_of_three(decide: Callable[[np.ndarray], np.ndarray], points: np.ndarray) -> float:
    """Return the least seconds of three calls after a first one, which compiles."""
    decide(points)
    seconds = []
    for _ in range(3):
        start = process_time()
        decide(points)
        seconds.append(process_time() - start)
    return min(seconds)
