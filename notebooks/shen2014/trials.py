"""Trials of shen2014 with two classes, its datasets and its exhibits; those with more are in ``classes``.

The paper's table I has decision stumps, table II perceptrons and Fourier cosines. AdaBoost, LPBoost and
CGENS search all stumps, or one pool of 2000 hypotheses; a kernel machine stands for all of them at once. C,
numbers of rounds and widths come from cross-validation on folds that all methods share.

One fit serves all numbers of rounds: AdaBoost's first T hypotheses are AdaBoost after T rounds, and column
generation keeps its weights of every round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

import numpy as np

from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.data.ida import ida_form, ida_split, load_official
from kernsemble.data.splits import official_split
from kernsemble.data.store import load
from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.distance_svc import DistanceKernelSVC, DistanceKernelSVCCV
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.hypotheses._fixed_point import clear_ties
from kernsemble.hypotheses.base import Hypotheses
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import gaussian_kernel
from kernsemble.masters.base import Master
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials.bench import Draw, Folds, cut_folds, fitted, powers_of_two, seconds_of
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

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
paper.exhibit("table4", "Spam with 60 stumps (table IV, figure 5)", metrics=("error", "C", "features"))
paper.exhibit("figure1", "Training and test error in the plane (figure 1)", metrics=("test", "train", "C"))
paper.exhibit(
    "staircase",
    "The ensemble in the plane itself (figure 1, left)",
    metrics=("features", "thresholds", "votes", "intercept"),
)
paper.exhibit(
    "table3",
    "Test errors with several classes (table III, figure 3)",
    metrics=("error", "curve", "C"),
    timing=("seconds_curve",),
)
paper.exhibit("vowel", "Readings of vowel's row of table III", metrics=("error", "C"))
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
paper.exhibit("pools", "What a round may choose from", metrics=("AdaBoost", "LPBoost", "CGENS"))
paper.exhibit("draws", "Twenty splits of our own, for error bars", metrics=("errors", "C", "rounds"))
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
class Plane:
    """Figure 1: numbers of points, rounds at which errors are read, and how C is searched."""

    n_train: int
    n_test: int
    n_folds: int
    checkpoints: list[int]
    log2_C_toy: list[int]  # noqa: N815 - its name in params.yaml
    tol: float


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
    return cut_folds(trial.shared_rng("folds").permutation(len(labels)), n_folds, labels)


@dataclass(frozen=True)
class Stages:
    """An ensemble with its weights and intercept after each of some numbers of rounds."""

    hypotheses: Hypotheses
    weights: Sequence[tuple[np.ndarray, float]]

    def scores(self, X: np.ndarray) -> np.ndarray:
        """Return the decisions, a column for each number of rounds; a draw is 0."""
        H = np.asarray(self.hypotheses.outputs(X), dtype=np.float64, order="F")
        return np.column_stack([clear_ties(H[:, : len(w)] @ w + b, w, b) for w, b in self.weights])


Fit = Callable[[Draw, float, Sequence[int]], Stages]  # a training part, C and numbers of rounds


def boosting(**family: object) -> Fit:
    """Return how AdaBoost is fitted; it has no C."""

    def fit(part: Draw, _: float, rounds: Sequence[int]) -> Stages:
        model = AdaBoost(max(rounds), **family).fit(part.X, part.y)
        return Stages(model.hypotheses_, [(model.weights_[:T], 0.0) for T in rounds])

    return fit


def generating(estimator: type, tol: float, **family: object) -> Fit:
    """Return how LPBoost, problem (4), or CGENS, problem (1), is fitted; rounds may run out too early."""

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Stages:
        model = fitted(estimator(max(rounds), C=C, tol=tol, **family), part)
        path = model.weights_path_ or [(model.weights_, model.intercept_)]
        return Stages(model.hypotheses_, [path[min(T, len(path)) - 1] for T in rounds])

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


def family_of(trial: Trial, name: str, size: int, **options: object) -> dict[str, object]:
    """Return the estimators' parameters for a pool of hypotheses that methods share, by its name.

    That is "stumps", "perceptrons ball", "perceptrons segment" or "fourier", with " once" or " fresh" behind.
    """
    kind, _, drawn = name.rpartition(" ")
    options = {"n_hypotheses": size, "fresh": drawn == "fresh", **options}
    if kind.startswith("perceptrons"):
        options["threshold"] = kind.removeprefix("perceptrons ")
    base = {"stumps": StumpPool, "fourier": "fourier"}.get(kind, "perceptron-pool")
    return {"base": base, "base_options": options, "random_state": trial.shared_seed("pool")}


def perceptrons_of(trial: Trial, perceptrons: Perceptrons) -> dict[str, object]:
    """Return the perceptrons of table II."""
    return family_of(trial, f"perceptrons {perceptrons.thresholds} {perceptrons.pool}", perceptrons.pool_size)


def machine(
    trial: Trial, data: Draw, kernel: str | Callable, log2_Cs: Sequence[int], n_folds: int, **grid: object
) -> DistanceKernelSVCCV:
    """Return the kernel machine of the C, and gamma, of the most held-out samples classified correctly."""
    folds = folds_of(trial, data.y, n_folds)
    return DistanceKernelSVCCV(kernel, Cs=powers_of_two(log2_Cs), cv=folds, **grid).fit(data.X, data.y)


def choose_width(trial: Trial, data: Draw, widths: Widths, n_folds: int) -> float:
    """Return the Gaussian width of the best grid point.

    Among equals "C first" takes the smallest C, then gamma; "width first" the smallest gamma, then C.
    """
    gammas = powers_of_two(widths.log2_gamma)
    model = machine(trial, data, "gaussian", widths.log2_C_gauss, n_folds, gammas=gammas)
    return first_width(model.cv_scores_, gammas, widths.width_ties)


def first_width(correct: np.ndarray, gammas: Sequence[float], ties: str) -> float:
    """Return the width of the largest count (gammas x Cs), the first of equals."""
    if ties == "width first":
        return gammas[int(np.unravel_index(correct.argmax(), correct.shape)[0])]
    return gammas[int(np.unravel_index(correct.T.argmax(), correct.T.shape)[1])]


def stump_ensemble(method: str, tol: float) -> Fit:
    """Return how AdaBoost or CGENS is fitted with all stumps."""
    return boosting() if method == "AdaBoost" else generating(CGEns, tol)


def equal_rounds(rounds: Sequence[int], n_Cs: int, n_folds: int) -> list[int]:
    """Return how many rounds one method without C gets for the calls of one with C: folds and final fit."""
    return [T * (n_Cs * n_folds + 1) // (n_folds + 1) for T in rounds]


@paper.trials("table1", methods=("AdaBoost",), datasets=BINARY_SETS)
def boosted_stumps(trial: Trial, *, selection: Selection, log2_C: list[int]) -> Result:
    """AdaBoost, its number of rounds by cross-validation; by_calls: with as many calls as CGENS has."""
    data, rounds, n_folds = draw(trial), selection.rounds, selection.n_folds
    longer = equal_rounds(rounds, len(log2_C), n_folds)
    grid = sorted({*rounds, *longer})
    found = search(boosting(), data, folds_of(trial, data.y, n_folds), [1.0], grid)
    best = found.among([j for j, T in enumerate(grid) if T in rounds])
    last = 1.0, grid.index(rounds[-1])
    stages = [found.among([j for j, T in enumerate(grid) if most >= T]) for most in longer]
    errors = errors_at(boosting(), data, grid, [best, last, *stages])
    return {
        "error": errors[best],
        "error_500": errors[last],
        "rounds": grid[best[1]],
        "by_calls": np.array([errors[stage] for stage in stages]),
    }


@paper.trials("table1", methods=("LPBoost",), datasets=BINARY_SETS)
def lp_stumps(trial: Trial, *, selection: Selection, log2_C_lp: list[int], tol: float) -> Result:
    """LPBoost, its C and number of rounds by cross-validation."""
    return _selected(trial, generating(LPBoost, tol), log2_C_lp, selection)


@paper.trials("table1", methods=("CGENS",), datasets=BINARY_SETS)
def cgens_stumps(trial: Trial, *, selection: Selection, log2_C: list[int], tol: float) -> Result:
    """CGENS, its C and number of rounds by cross-validation."""
    return _selected(trial, generating(CGEns, tol), log2_C, selection)


def _selected(trial: Trial, fit: Fit, log2_Cs: Sequence[int], selection: Selection) -> Result:
    """Return the errors with C and rounds selected, with all rounds and C alone selected, and by calls."""
    data, rounds = draw(trial), selection.rounds
    found = search(fit, data, folds_of(trial, data.y, selection.n_folds), powers_of_two(log2_Cs), rounds)
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
    return _machine(data, machine(trial, data, "stump", log2_C_stump, n_folds))


def _machine(data: Draw, model: DistanceKernelSVCCV) -> Result:
    error = data.error(model.decision_function(data.X_test))
    return {"error": error, "C": model.best_C_, "size": len(model.support_)}


@paper.trials("table2", methods=("fourier:RFF", "fourier:SVM"), datasets=BINARY_SETS, together=True)
def fourier_machines(trial: Trial, *, n_folds: int, pool_size: int, widths: Widths) -> dict[str, Result]:
    """The Gaussian machine, and the linear one on random cosines of the width that it has chosen."""
    data = draw(trial)
    gamma = choose_width(trial, data, widths, n_folds)
    kernels = {
        "fourier:SVM": partial(gaussian_kernel, gamma=gamma),
        "fourier:RFF": cosine_kernel(data.X, trial.shared_seed("pool"), pool_size, gamma),
    }
    models = {name: machine(trial, data, k, widths.log2_C_gauss, n_folds) for name, k in kernels.items()}
    return {name: {**_machine(data, model), "gamma": gamma} for name, model in models.items()}


def cosine_kernel(X: np.ndarray, seed: int, size: int, gamma: float) -> Callable:
    """Return the linear kernel of random cosines: Rahimi and Recht's approximation of the Gaussian one."""
    pool = FourierPool(X, gamma=gamma, n_hypotheses=size, random_state=seed)
    cosines = pool.collect([(j, 1) for j in range(size)])

    def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        Z = np.sqrt(2.0 / size) * cosines.outputs(A)
        return Z @ (Z if B is A else np.sqrt(2.0 / size) * cosines.outputs(B)).T

    return kernel


@paper.trials("table2", methods=("fourier:CGENS",), datasets=BINARY_SETS)
def fourier_cgens(
    trial: Trial, *, selection: Selection, pool: str, cosines: Cosines, widths: Widths, tol: float
) -> Result:
    """CGENS on cosines of the width that the Gaussian machine has chosen."""
    gamma = choose_width(trial, draw(trial), widths, selection.n_folds)
    fit = generating(CGEns, tol, **family_of(trial, f"fourier {pool}", cosines.pool_size, gamma=gamma))
    return {**_ensemble(trial, fit, cosines.log2_C_cosines, selection), "gamma": gamma}


def _ensemble(trial: Trial, fit: Fit, log2_Cs: Sequence[int], selection: Selection) -> Result:
    """Return the error after all rounds (C selected), and that with the rounds selected too."""
    data, rounds = draw(trial), selection.rounds
    found = search(fit, data, folds_of(trial, data.y, selection.n_folds), powers_of_two(log2_Cs), rounds)
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
    return _ensemble(trial, boosting(**perceptrons_of(trial, perceptrons)), [0], selection)


@paper.trials("table2", methods=("perceptron:LPBoost",), datasets=BINARY_SETS)
def lp_perceptrons(
    trial: Trial, *, selection: Selection, perceptrons: Perceptrons, log2_C_lp: list[int], tol: float
) -> Result:
    """LPBoost on the same pool."""
    fit = generating(LPBoost, tol, **perceptrons_of(trial, perceptrons))
    return _ensemble(trial, fit, log2_C_lp, selection)


@paper.trials("table2", methods=("perceptron:CGENS",), datasets=BINARY_SETS)
def cgens_perceptrons(
    trial: Trial, *, selection: Selection, perceptrons: Perceptrons, log2_C: list[int], tol: float
) -> Result:
    """CGENS on the same pool."""
    fit = generating(CGEns, tol, **perceptrons_of(trial, perceptrons))
    return _ensemble(trial, fit, log2_C, selection)


@paper.trials("table2", methods=("perceptron:SVM",), datasets=BINARY_SETS)
def perceptron_machine(trial: Trial, *, n_folds: int, log2_C_perceptron: list[int]) -> Result:
    """Machine with the perceptron kernel, its C by cross-validation."""
    data = draw(trial)
    return _machine(data, machine(trial, data, "perceptron", log2_C_perceptron, n_folds))


# Twenty splits of our own, for error bars: all eleven methods of tables I and II. C and the number of rounds
# (the Gaussian width too) come from 5-fold cross-validation on the first split, and are kept for the others.
# A trial is all splits of one set for one method.


def _draws(trial: Trial, n_draws: int) -> tuple[Trial, list[Draw]]:
    """Return the trial of the first split, and all splits."""
    trials = [replace(trial, number=number) for number in range(n_draws)]
    return trials[0], [draw(one) for one in trials]


def _family(trial: Trial, perceptrons: Perceptrons) -> dict[str, object]:
    """Return all stumps or a pool of perceptrons, as the method's name says."""
    return {} if trial.method.startswith("stump") else perceptrons_of(replace(trial, number=0), perceptrons)


def _repeat(trial: Trial, fit: Fit, log2_Cs: Sequence[int], selection: Selection, n_draws: int) -> Result:
    """Select on the first split, with stumps the number of rounds too, and fit all."""
    (first, splits), rounds = _draws(trial, n_draws), selection.rounds
    folds = folds_of(first, splits[0].y, selection.n_folds)
    found = search(fit, splits[0], folds, powers_of_two(log2_Cs), rounds)
    C, t = found.best(None if trial.method.startswith("stump") else len(rounds) - 1)
    errors = [data.error(fit(data, C, [rounds[t]]).scores(data.X_test)[:, 0]) for data in splits]
    return {"errors": np.array(errors), "C": C, "rounds": rounds[t]}


@paper.trials("draws", methods=("stump:AdaBoost", "perceptron:AdaBoost"), datasets=IDA_SETS)
def boosted_draws(trial: Trial, *, n_draws: int, selection: Selection, perceptrons: Perceptrons) -> Result:
    """AdaBoost."""
    return _repeat(trial, boosting(**_family(trial, perceptrons)), [0], selection, n_draws)


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
    fit = generating(LPBoost, tol, **_family(trial, perceptrons))
    return _repeat(trial, fit, log2_C_lp, selection, n_draws)


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
    fit = generating(CGEns, tol, **_family(trial, perceptrons))
    return _repeat(trial, fit, log2_C, selection, n_draws)


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
    first = replace(trial, number=0)
    gamma = choose_width(first, draw(first), widths, selection.n_folds)
    fit = generating(CGEns, tol, **family_of(first, f"fourier {pool}", cosines.pool_size, gamma=gamma))
    return _repeat(trial, fit, cosines.log2_C_cosines, selection, n_draws)


def _repeat_machine(
    trial: Trial, kernel: str | Callable, log2_Cs: Sequence[int], n_folds: int, n_draws: int
) -> Result:
    """Select C on the first split, and train on all."""
    first, splits = _draws(trial, n_draws)
    C = machine(first, splits[0], kernel, log2_Cs, n_folds).best_C_
    models = [DistanceKernelSVC(kernel, C=C).fit(data.X, data.y) for data in splits]
    errors = [d.error(model.decision_function(d.X_test)) for d, model in zip(splits, models, strict=True)]
    return {"errors": np.array(errors), "C": C}


@paper.trials("draws", methods=("stump:SVM", "perceptron:SVM"), datasets=IDA_SETS)
def machine_draws(
    trial: Trial, *, n_draws: int, n_folds: int, log2_C_stump: list[int], log2_C_perceptron: list[int]
) -> Result:
    """Machines with the kernels of all stumps and of all perceptrons."""
    kernel = trial.method.partition(":")[0]
    grid = log2_C_stump if kernel == "stump" else log2_C_perceptron
    return _repeat_machine(trial, kernel, grid, n_folds, n_draws)


@paper.trials("draws", methods=("fourier:RFF", "fourier:SVM"), datasets=IDA_SETS)
def gaussian_draws(trial: Trial, *, n_draws: int, n_folds: int, pool_size: int, widths: Widths) -> Result:
    """The Gaussian machine, and the linear one on random cosines."""
    first = replace(trial, number=0)
    data = draw(first)
    gamma = choose_width(first, data, widths, n_folds)
    kernel = partial(gaussian_kernel, gamma=gamma)
    if trial.method == "fourier:RFF":
        kernel = cosine_kernel(data.X, first.shared_seed("pool"), pool_size, gamma)
    return _repeat_machine(trial, kernel, widths.log2_C_gauss, n_folds, n_draws)


# All stumps, or 2000 drawn once or anew in each round.
FAMILIES = (
    "stump", "stumps once", "stumps fresh", "perceptrons ball once", "perceptrons ball fresh",
    "perceptrons segment once", "perceptrons segment fresh",
)  # fmt: skip


@paper.trials("pools", methods=FAMILIES, datasets=BINARY_SETS)
def pools(
    trial: Trial, *, pool_size: int, log2_C_pools: dict[str, int], rounds: list[int], tol: float
) -> dict[str, np.ndarray]:
    """Test errors of AdaBoost, LPBoost and CGENS after some rounds, with the same choice in each round."""
    data, family = draw(trial), shared_family(trial, pool_size)
    fits = {
        "AdaBoost": boosting(**family),
        "LPBoost": generating(LPBoost, tol, **family),
        "CGENS": generating(CGEns, tol, **family),
    }
    found = {}
    for name, fit in fits.items():
        scores = fit(data, 2.0 ** log2_C_pools.get(name, 0), rounds).scores(data.X_test)
        found[name] = np.array([data.error(column) for column in scores.T])
    return found


def shared_family(trial: Trial, size: int) -> dict[str, object]:
    """Return the family that a method's name says.

    Fresh pools cost more to draw than to search, so a trial draws each once: the first of its three ensembles
    that comes to a round draws, the others read.
    """
    if trial.method == "stump":
        return {}
    fresh = {"record": []} if trial.method.endswith("fresh") else {}
    family = family_of(trial, trial.method, size, **fresh)
    return family | {"random_state": np.random.default_rng(family["random_state"])} if fresh else family


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


def plane_ensemble(trial: Trial, plane: Plane) -> tuple[Draw, float, Stages]:
    """Return the points, C, by cross-validation at the last number of rounds, and the ensemble."""
    data, fit = toy_draw(trial, plane.n_train, plane.n_test), stump_ensemble(trial.method, plane.tol)
    C = 1.0
    if trial.method == "CGENS":
        folds, Cs = folds_of(trial, data.y, plane.n_folds), powers_of_two(plane.log2_C_toy)
        C, _ = search(fit, data, folds, Cs, plane.checkpoints[-1:]).best()
    return data, C, fit(data, C, plane.checkpoints)


@paper.trials("figure1", methods=("AdaBoost", "CGENS"), datasets=("toy",))
def toy(trial: Trial, *, plane: Plane) -> Result:
    """Training and test error after some numbers of rounds."""
    data, C, ensemble = plane_ensemble(trial, plane)
    test, train = (ensemble.scores(X) > 0 for X in (data.X_test, data.X))
    return {
        "test": 100.0 * (test != (data.y_test > 0)[:, None]).mean(axis=0),
        "train": 100.0 * (train != (data.y > 0)[:, None]).mean(axis=0),
        "C": C,
    }


@paper.trials("staircase", methods=("CGENS",), datasets=("toy",))
def staircase(trial: Trial, *, plane: Plane) -> Result:
    """The ensemble of figure 1 itself: of each stump its feature, threshold and weight times sign."""
    _, _, ensemble = plane_ensemble(trial, plane)
    stumps, (w, b) = ensemble.hypotheses, ensemble.weights[-1]
    return {
        "features": stumps.features,
        "thresholds": stumps.thresholds,
        "votes": w * stumps.signs,
        "intercept": b,
    }


MIXTURES = ("width by cross-validation", "all widths at once", "all widths, all features and each alone")


@paper.trials("multiple_kernels", methods=MIXTURES, datasets=BINARY_SETS)
def multiple_kernels(
    trial: Trial, *, n_folds: int, cosines: Cosines, widths: Widths, tol: float, n_cosines: int
) -> dict[str, float | np.ndarray]:
    """CGENS over cosines of one width that a kernel machine has searched for, or of many kernels in one pool.

    problems: optimization problems solved to choose widths and C. share: share of the total absolute weight
    on each width, kernels: how many of the mixed kernels (widths times groups of features) have any.
    """
    data, started = draw(trial), process_time()
    Cs, gammas = powers_of_two(cosines.log2_C_cosines), powers_of_two(widths.log2_gamma)
    mixed, problems = gammas, len(Cs) * n_folds
    if trial.method == "width by cross-validation":
        mixed = [choose_width(trial, data, widths, n_folds)]
        problems += len(widths.log2_C_gauss) * len(gammas) * n_folds
    groups = _groups(trial.method, data.X.shape[1])
    family = family_of(trial, "fourier once", cosines.pool_size, gamma=mixed, groups=groups)
    folds = folds_of(trial, data.y, n_folds)
    C, _ = search(generating(CGEns, tol, **family), data, folds, Cs, [n_cosines]).best()
    pool = FourierPool(data.X, random_state=family["random_state"], **family["base_options"])
    master = Hinge(data.y, C, intercept="free", tol=tol, least_norm=True)
    result = column_generation(pool, master, n_cosines, tol=tol, keep_weights=False)
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
    trial: Trial, *, n_folds: int, n_evaluated: int, log2_C_stump: list[int], log2_C_gauss: list[int]
) -> Result:
    """Test error, C by cross-validation, and seconds to classify 10^4 points (test points, repeated)."""
    data = draw(trial)
    if trial.method == "stump machine":
        model = machine(trial, data, "stump", log2_C_stump, n_folds)
    else:
        model = machine(trial, data, "gaussian", log2_C_gauss, n_folds, gammas=[1.0 / data.X.shape[1]])
    return {
        "error": data.error(model.decision_function(data.X_test)),
        "size": len(model.support_),
        "eval_seconds": _seconds(model.decision_function, data, n_evaluated),
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
) -> Result:
    """Test errors and seconds of CGENS after some numbers of rounds, C by cross-validation at the last.

    A matter of seconds: restricted problems are solved to the gap of the whole one, and no further.
    """
    data, seed = draw(trial), trial.shared_seed("pool")
    stumps, gamma = trial.method.endswith("stumps"), 1.0 / data.X.shape[1]

    def fit(part: Draw, C: float, rounds: Sequence[int]) -> Stages:
        cosines = partial(FourierPool, gamma=gamma, n_hypotheses=pool_size, random_state=seed)
        oracle = StumpOracle(part.X, constant=False) if stumps else cosines(part.X)
        result = column_generation(oracle, Hinge(part.y, C, intercept="free", tol=tol), max(rounds), tol=tol)
        path = [result.weights[min(T, len(result.weights)) - 1] for T in rounds]
        return Stages(oracle.collect(result.keys), path)

    Cs, folds = powers_of_two(log2_C if stumps else log2_C_cosines), folds_of(trial, data.y, n_folds)
    C, _ = search(fit, data, folds, Cs, sizes).best(len(sizes) - 1)
    errors = [data.error(scores) for scores in fit(data, C, sizes).scores(data.X_test).T]
    seconds, size = [], 0
    for n_rounds in sizes:
        grown = fit(data, C, [n_rounds])
        (w, b), size = grown.weights[0], len(grown.hypotheses)
        seconds.append(_seconds(partial(grown.hypotheses.decision, W=w, b=b), data, n_evaluated))
    return {
        "error": errors[-1],
        "size": size,
        "curve": np.array(errors),
        "eval_seconds": seconds[-1],
        "seconds_curve": np.array(seconds),
    }


def _seconds(decide: Callable[[np.ndarray], np.ndarray], data: Draw, n: int) -> float:
    """Return the least seconds of three decisions on n points after a first one, which compiles."""
    points = np.resize(data.X_test, (n, data.X.shape[1]))
    decide(points)
    return seconds_of(decide, points, repeats=3, clock=process_time)
