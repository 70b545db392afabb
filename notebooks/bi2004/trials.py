r"""The experiments of bi2004: what they consist of, what data they draw, and the trials on the large sets.

Every model is f(x) = sum_j alpha_j K_j(x) + b over the columns K_j of all kernels of a library, centered at
the training points. With the 2-norm and coefficients free it solves problem (11),

    min  1/2 |alpha|^2 + C sum_i max(0, 1 - y_i f(x_i)),

and with the 1-norm the linear program (4). `CGBoostClassifier` generates columns until the certified duality
gap of the problem over all columns is at most ``gap`` of the objective (TR2), or rounds run out (TR4).
`optimal_models` solves (11) over all columns at once: its dual has the kernel matrix H H', so that the square
factor R' of H' = QR stands in for H.

TR1 is read at the last round before no column centered at an error point violates the dual; TR3 at the
round of the smallest validation error, once it has not improved for ``patience`` rounds, with the seconds
until that is known. A run that stops there and one that goes on agree up to there.

Paper symbols: alpha = ``weights_``, b = ``intercept_``, C_l, C_q, C_r = columns of each kernel.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.optimize import nnls
from sklearn.ensemble import HistGradientBoostingClassifier

from kernsemble.data.base import Dataset
from kernsemble.data.store import load
from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.hypotheses.kernel_library import (
    CompositeKernel,
    GaussianKernel,
    Kernel,
    LinearKernel,
    QuadraticKernel,
)
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_hinge import kernel_hinge_path
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials import bench
from kernsemble.trials.bench import cut_folds, seconds_of, timed
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

SMALL_SETS = ("Breast", "Ionosphere", "Pima")
STORED = {
    "Breast": "wdbc",
    "Ionosphere": "ionosphere",
    "Pima": "pima",
    "Digits": "mnist",
    "Forest": "covertype",
}
TARGET = "linear+RBF target"
WIDTHS_TARGET = "two-width target"
SIZE_SETS = ("n=1000", "n=2000", "n=5000", "n=10000")
ALL_FOREST = "Forest, all rows"

# Kernel choices: the names of the tables, and the libraries behind them, in the order of priority.
CHOICES: dict[str, tuple[str, ...]] = {
    "L": ("linear",),
    "Q": ("quadratic",),
    "R": ("rbf",),
    "L+Q": ("linear+quadratic",),
    "L+R": ("linear+rbf",),
    "L+Q+R": ("linear+quadratic+rbf",),
    "L,Q,R": ("linear", "quadratic", "rbf"),
}
SMALL_CHOICES: dict[str, tuple[str, ...]] = {
    "linear": ("linear",),
    "RBF": ("rbf",),
    "composite": ("linear+rbf",),
    "mixture": ("linear", "rbf"),
}
KERNELS = ("linear", "quadratic", "rbf")
NORMS = {"2-norm": "l2", "1-norm": "l1"}
# Where the machines of table 2 are cut; the module of that name says how.
THRESHOLDS = ("solved", "share", "mean", "support", "classes", "extremes", "dropped", "labels")


paper = Paper(
    "bi2004",
    title="Column-Generation Boosting Methods for Mixture of Kernels",
    datasets={
        **STORED,
        TARGET: None,
        WIDTHS_TARGET: None,
        **dict.fromkeys((*SIZE_SETS, ALL_FOREST), "covertype"),
    },
    only={"digits_task": ["Digits"]},
)

# Where a run of column generation is read: TR1, TR3, and its end.
STOPS = ("TR1", "TR3", "end")
AT_STOP = ("error", "train_error", "rounds", *KERNELS, "evaluations")
STOP_METRICS = tuple(f"{metric}_{stop}" for stop in STOPS for metric in AT_STOP)
STOP_TIMES = tuple(f"{name}_seconds_{stop}" for stop in STOPS for name in ("fit", "test"))
CURVES = ("curve_rounds", "curve_train", "curve_validation", "curve_test", "curve_objective")
# Gaps of rounding size are as good as none.
NO_GAP = {"gap": 1e-9}
RUN_METRICS = ("log10_C", "gap", "scanned", "first_full_scan", *STOP_METRICS, *CURVES)

paper.exhibit(
    "table1",
    "Datasets",
    metrics=("dim", "n_pts", "n_positive", "n_negative", "nearest_subset"),
)
paper.exhibit(
    "figure1",
    "A target that is linear + RBF: four models and two norms",
    metrics=("rmse", "train_rmse", "columns", "rbf_columns", "evaluations", "log10_C"),
    timing=("fit_seconds", "test_seconds"),
)
paper.exhibit(
    "table2",
    "Five-fold cross-validation on small datasets",
    metrics=(
        *("FP_tst", "FN_tst", "error", "C_l", "C_r", "evaluations", "log10_C", "gap"),
        *("FP_TR1", "FN_TR1", "C_l_TR1", "C_r_TR1", "FP_optimum", "FN_optimum"),
    ),
    timing=("T_trn", "T_tst"),
    tolerance={"gap": 1e-3},  # runs stop at a gap of one per cent
)
TABLES_3_AND_4 = {
    "metrics": (*RUN_METRICS, "optimum_error", "optimum_train_error", "counts"),
    "timing": STOP_TIMES,
    "tolerance": NO_GAP,
}
paper.exhibit("table3", "Training and test errors on 1000 examples: Forest", **TABLES_3_AND_4)
paper.exhibit("table4", "Training and test errors on 1000 examples: digits", **TABLES_3_AND_4)
paper.exhibit(
    "figure3",
    "Column generation without stratification",
    metrics=RUN_METRICS,
    timing=STOP_TIMES,
    tolerance=NO_GAP,
)
paper.exhibit(
    "figure4",
    "Validation error during the iterations for several C",
    metrics=("curve_rounds", "curve_train", "curve_validation", "optimum_validation"),
)
paper.exhibit(
    "table5",
    "Iterations against the number of examples",
    metrics=("iterations", "first_full_scan", "error", "linear", "quadratic", "rbf", "evaluations"),
    timing=("fit_seconds", "test_seconds"),
)
paper.exhibit(
    "coarse",
    "Iterations against the number of examples, with a coarse tolerance on tau",
    metrics=(
        *("rounds", "first_full_scan", "iterations", "error"),
        *("linear", "quadratic", "rbf", "evaluations"),
    ),
)
paper.exhibit(
    "theorems",
    "Theorem 3.1 and proposition 4.1, measured",
    metrics=("identity", "optimum", "largest", "realized", "rounds"),
    tolerance={"identity": 1e-6, "optimum": 1e-6},
)
paper.exhibit(
    "formulations",
    "All formulations of the paper, solved to a certified gap",
    metrics=("gap", "judge", "columns", "score"),
    tolerance={"gap": 1e-3, "judge": 1e-3},
)
paper.exhibit(
    "offset", "Other offsets and losses", metrics=tuple(
        f"{rate}_{name}" for name in SMALL_CHOICES for rate in ("FP", "FN")
    )
)  # fmt: skip
paper.exhibit(
    "thresholds",
    "Other thresholds of the same machines",
    metrics=(*(f"{rate}_{rule}" for rule in THRESHOLDS for rate in ("FP", "FN")), "missed"),
)
paper.exhibit(
    "readings",
    "Other forms and scales of the kernels",
    metrics=(*(f"error_{name}" for name in CHOICES), "log10_C"),
)
paper.exhibit(
    "solved",
    "The 2-norm mixture of tables 3 and 4 without the limit of 1000 columns",
    metrics=("gap", "rounds", "error", "train_error", *KERNELS, "evaluations", "least_rounds", "least_error"),
    timing=("fit_seconds", "least_seconds"),
    tolerance=NO_GAP,
)
paper.exhibit(
    "centers",
    "Section 5's example: a linear fit, then four RBF columns",
    metrics=("rank", *(f"rmse_{name}" for name in ("linear", "centers", "errors", "random"))),
)
paper.exhibit(
    "levels",
    "Errors and columns against how far the run went",
    metrics=("error", "columns", "rbf", "evaluations"),
    timing=("fit_seconds",),
)
paper.exhibit("tolerance", "What the tolerance on tau changes", metrics=STOP_METRICS, timing=STOP_TIMES)
paper.exhibit(
    "widths",
    "Several RBF widths in one library",
    metrics=("error", "columns", "evaluations", "gap"),
    timing=("fit_seconds",),
    tolerance=NO_GAP,
)
paper.exhibit(
    "modern",
    "Multiple kernel learning and gradient boosting",
    metrics=("error", "operations"),
    timing=("fit_seconds", "test_seconds"),
)
paper.exhibit(
    "forest",
    "All examples of Forest",
    metrics=("error", "train_error", "linear", "quadratic", "rbf", "rounds", "n_train"),
    timing=("fit_seconds", "megabytes"),
    parting=("stratified", "regular", "stratified, coarse"),  # solved as users would, for their seconds
    alone=True,
)


# What the trials are told


@dataclass(frozen=True)
class Protocol:
    """Forms of the kernels (the RBF's width is the paper's), offset, tolerances, and the grid of C."""

    linear_form: Literal["per feature", "raw"]
    quadratic_form: Literal["(1 + xz/d)^2", "(xz/d)^2", "(1 + xz)^2"]
    offset: Literal["free", "penalized", "none"]
    tau: float
    gap: float
    Cs: list[float]


@dataclass(frozen=True)
class LargeProtocol(Protocol):
    """Of the large sets also: rows to draw, their scaling, the digits' task, TR3's patience, most rounds."""

    sizes: dict[str, int]
    scaling: Literal["all rows", "training rows"]
    digits_task: Literal["odd", "large", "three"]
    patience: int
    n_rounds: int


def settings(protocol: Protocol, **others: Any) -> dict[str, Any]:
    """Return what a stratified run is told, C, the rounds and the norm apart."""
    common = {"intercept": protocol.offset, "stratified": True, "tol": protocol.gap, "tau": protocol.tau}
    return common | others


# The data

POSITIVE_DIGITS = {"odd": "13579", "large": "56789", "three": "3"}
_CHUNK = 20_000  # rows that are floating-point numbers at a time


@dataclass(frozen=True)
class Draw(bench.Draw):
    """Training, validation and test part; labels are -1.0 and +1.0."""

    X_val: np.ndarray
    y_val: np.ndarray


def percent_wrong(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the share of wrong signs in percent, to four decimals, which keeps the evidence short."""
    return round(bench.percent_wrong(scores > 0, y > 0), 4)


@lru_cache(maxsize=1)
def whole_set(label: str, digits_task: str = "odd") -> Dataset:
    """Return a dataset as the paper's table 1 has it; the label's second class is +1.

    Forest: the two largest classes. Digits: MNIST's 60,000 training images. Ionosphere: without the column
    that is constant.
    """
    data = load(STORED[label])
    if label == "Forest":
        return data.only("2", "1")
    if label == "Digits":
        return data.rows(np.flatnonzero(data.part == 0)).one_against_rest(*POSITIVE_DIGITS[digits_task])
    return data


@lru_cache(maxsize=1)
def moments(label: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every feature over all rows of a set, a chunk at a time."""
    X = whole_set(label).X
    starts = range(0, len(X), _CHUNK)
    mean = sum(X[start : start + _CHUNK].sum(axis=0, dtype=np.float64) for start in starts) / len(X)
    squares = sum(np.square(X[start : start + _CHUNK] - mean).sum(axis=0) for start in starts)
    return mean, np.sqrt(squares / (len(X) - 1))


def standardize(X: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return features with mean 0 and standard deviation 1; a constant one becomes zeros."""
    return np.where(spread > 0, (X - mean) / np.where(spread > 0, spread, 1.0), 0.0)


def draw(trial: Trial, label: str, large: LargeProtocol, n_train: int | None = None) -> Draw:
    """Draw disjoint training, validation and test rows; all methods of a label and a number share them.

    The test and validation rows come first, so that draws of more training rows (table 5) contain those of
    fewer, with the same test rows.
    """
    data = whole_set(label, large.digits_task) if label == "Digits" else whole_set(label)
    sizes = large.sizes | ({} if n_train is None else {"train": n_train})
    order = trial.shared_rng("split", dataset=label).permutation(data.n_samples)
    cuts = np.cumsum([sizes[part] for part in ("test", "validation", "train")])
    test, validation, train = np.split(order[: cuts[-1]], cuts[:-1])
    raw = data.X[train].astype(np.float64)
    if large.scaling == "all rows":
        mean, spread = moments(label)
    else:
        mean, spread = raw.mean(axis=0), raw.std(axis=0, ddof=1)
    X, X_test, X_val = (standardize(data.X[rows], mean, spread) for rows in (train, test, validation))
    y, y_test, y_val = (data.signs[rows].astype(np.float64) for rows in (train, test, validation))
    return Draw(X, y, X_test, y_test, X_val, y_val)


def small_set(label: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a small set, standardized over all rows, without constant features, and its labels."""
    data = whole_set(label)
    mean, spread = moments(label)
    return standardize(data.X, mean, spread)[:, spread > 0], data.signs.astype(np.float64)


def folds_of(trial: Trial, n_samples: int, n_folds: int) -> bench.Folds:
    """Return (training, held-out) rows of a random partition, the same for all methods."""
    return cut_folds(trial.shared_rng("folds").permutation(n_samples), n_folds)


# Libraries of kernels, and the exact optimum of problem (11)

_TOL = 1e-5  # relative gap

Model = tuple[list[np.ndarray], float]  # the coefficients of each kernel's columns, and the offset


def make_library(names: Sequence[str], protocol: Protocol) -> list[Kernel]:
    """Return the kernels of a library; a name such as "linear+rbf" is a composite kernel, mu = 1."""
    quadratic = {
        "(1 + xz/d)^2": QuadraticKernel(scale="n_features", offset=1.0),
        "(xz/d)^2": QuadraticKernel(scale="n_features", offset=0.0),
        "(1 + xz)^2": QuadraticKernel(scale=1.0, offset=1.0),
    }[protocol.quadratic_form]
    linear = LinearKernel(scale="n_features" if protocol.linear_form == "per feature" else 1.0)
    return combine(names, {"linear": linear, "quadratic": quadratic, "rbf": GaussianKernel(width="mean")})


def combine(names: Sequence[str], single: dict[str, Kernel]) -> list[Kernel]:
    """Return single kernels and sums of them by their names."""
    parts = [[single[part] for part in name.split("+")] for name in names]
    return [some[0] if len(some) == 1 else CompositeKernel(some) for some in parts]


def resolve(kernels: Sequence[Kernel], X: np.ndarray) -> list[Kernel]:
    """Return the kernels with the scales that depend on the training set filled in."""
    return [kernel.resolve(X) for kernel in kernels]


def optimal_models(
    kernels: Sequence[Kernel],
    X: np.ndarray,
    y: np.ndarray,
    Cs: Sequence[float],
    offset: str,
    weight: np.ndarray | None = None,
) -> list[Model]:
    """Solve problem (11) over all columns, for each C; kernels are resolved on X, losses may have weights."""
    H = np.hstack([kernel.matrix(X, X) for kernel in kernels])
    # H = Z Q': the problem over the columns of the square Z has the same scores, and alpha = Q z.
    Q, R = np.linalg.qr(H.T)
    weight = np.ones(len(y)) if weight is None else weight
    solved = [_solve_whole(R.T, y, C * weight, offset) for C in Cs]
    return [(np.split(Q @ z, len(kernels)), b) for z, b in solved]


def _solve_whole(Z: np.ndarray, y: np.ndarray, C: np.ndarray, offset: str) -> tuple[np.ndarray, float]:
    solution = Hinge(y, 1.0, sample_weight=C, intercept=offset, tol=_TOL, H=Z).solve()
    solution.warn_unless_converged("problem (11) over all columns")
    return solution.w, float(solution.b)


def model_scores(kernels: Sequence[Kernel], X: np.ndarray, model: Model, Z: np.ndarray) -> np.ndarray:
    """Scores at Z of a model over all columns centered at X."""
    alphas, b = model
    return sum(kernel.decision(Z, X, alpha) for kernel, alpha in zip(kernels, alphas, strict=True)) + b


def choose_two_norm(
    kernels: Sequence[Kernel], data: Draw, Cs: Sequence[float], offset: str
) -> tuple[float, list[Kernel], Model]:
    """Solve completely for each C; return the one of least validation error (the smallest of equal ones)."""
    resolved = resolve(kernels, data.X)
    models = optimal_models(resolved, data.X, data.y, Cs, offset)
    errors = [percent_wrong(model_scores(resolved, data.X, m, data.X_val), data.y_val) for m in models]
    best = int(np.argmin(errors))
    return Cs[best], resolved, models[best]


def describe_optimum(kernels: Sequence[Kernel], data: Draw, model: Model) -> dict[str, float | np.ndarray]:
    """Errors of a complete solution, and by kernel how many coefficients exceed each tolerance."""
    sizes = [np.abs(alpha) for alpha in model[0]]
    return {
        "optimum_error": percent_wrong(model_scores(kernels, data.X, model, data.X_test), data.y_test),
        "optimum_train_error": percent_wrong(model_scores(kernels, data.X, model, data.X), data.y),
        "counts": np.array([float((size > tau).sum()) for size in sizes for tau in TOLERANCES]),
    }


# Runs of column generation, and where each rule would stop them


def fit_run(
    kernels: Sequence[Kernel], data: Draw, C: float, large: LargeProtocol, **others: Any
) -> CGBoostClassifier:
    """Generate columns until the certified gap is small or rounds run out, validation data watched."""
    options = settings(large, **{"n_rounds": large.n_rounds, **others})
    return CGBoostClassifier(kernels, C=C, **options).fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)


def patient_rounds(losses: np.ndarray, patience: int) -> tuple[int, int]:
    """Return the round that TR3 uses and the round after which it stops, both counted from 1.

    Examples
    --------
    >>> import numpy as np
    >>> patient_rounds(np.array([0.5, 0.3, 0.4, 0.4, 0.1]), patience=2)
    (2, 4)
    """
    best = 0
    for t, loss in enumerate(losses):
        if loss < losses[best]:
            best = t
        if t - best >= patience:
            return best + 1, t + 1
    return best + 1, len(losses)


def rounds_of_rules(model: CGBoostClassifier, patience: int) -> dict[str, tuple[int, int]]:
    """For each rule the round whose weights it uses, and the round after which it stops."""
    last = model.n_rounds_
    first = model.termination_rounds_["TR1"] or last
    return {
        "TR1": (first, first),
        "TR3": patient_rounds(model.validation_path_, patience),
        "end": (last, last),
    }


def weights_after(model: CGBoostClassifier, t: int) -> tuple[np.ndarray, float]:
    """Weights of all columns and the offset after round t; columns not yet generated have none."""
    w, b = model.weights_path_[t - 1]
    return np.append(w, np.zeros(len(model.hypotheses_) - len(w))), float(b)


def columns_by_kernel(counts: dict[str, int]) -> dict[str, int]:
    """Columns of each kernel; one of a composite kernel counts for each of its parts, as in the tables."""
    return {name: sum(n for key, n in counts.items() if name in key.split("+")) for name in KERNELS}


def seconds_to_test(model: CGBoostClassifier, Z: np.ndarray, w: np.ndarray, b: float) -> float:
    """Seconds of the processor for the scores at Z, the least of three."""
    return seconds_of(model.hypotheses_.decision, Z, w, b, repeats=3, clock=time.process_time)


def read_stops(model: CGBoostClassifier, data: Draw, patience: int) -> dict[str, float]:
    """Return errors, columns, evaluations and seconds where each rule stops."""
    seconds = np.cumsum(model.oracle_seconds_path_ + model.master_seconds_path_)
    found: dict[str, float] = {}
    for stop, (used, stopped) in rounds_of_rules(model, patience).items():
        w, b = weights_after(model, used)
        values = {
            "error": percent_wrong(model.hypotheses_.decision(data.X_test, w, b), data.y_test),
            "train_error": percent_wrong(model.hypotheses_.decision(data.X, w, b), data.y),
            "rounds": used,
            **columns_by_kernel(model.hypotheses_.counts(w)),
            "evaluations": model.hypotheses_.n_evaluations(w),
            "fit_seconds": seconds[stopped - 1],
            "test_seconds": seconds_to_test(model, data.X_test, w, b),
        }
        found |= {f"{name}_{stop}": float(value) for name, value in values.items()}
    return found


def describe_run(model: CGBoostClassifier, data: Draw, C: float, patience: int) -> dict[str, float]:
    """Return the metrics of a run: its C, its gap, how much was scanned, and where each rule stops."""
    return {
        "log10_C": float(np.log10(C)),
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "scanned": float(np.mean(model.columns_scanned_path_[: model.n_rounds_])),
        "first_full_scan": float(model.termination_rounds_["TR1"] or 0),
        **read_stops(model, data, patience),
    }


def read_curves(model: CGBoostClassifier, data: Draw, n_points: int) -> dict[str, np.ndarray]:
    """Return errors and the objective after some of the rounds, nearly even in their logarithm."""
    T = model.n_rounds_
    rounds = np.unique(np.round(np.geomspace(1, T, n_points)).astype(int))
    outputs = {
        "train": (model.hypotheses_.outputs(data.X), data.y),
        "test": (model.hypotheses_.outputs(data.X_test), data.y_test),
    }
    curves = {
        f"curve_{name}": np.array([_error_after(model, H, y, t) for t in rounds])
        for name, (H, y) in outputs.items()
    }
    return curves | {
        "curve_rounds": rounds.astype(float),
        "curve_validation": 100.0 * model.validation_path_[rounds - 1],
        "curve_objective": np.array([float(f"{value:.6g}") for value in model.objective_path_[rounds - 1]]),
    }


def _error_after(model: CGBoostClassifier, H: np.ndarray, y: np.ndarray, t: int) -> float:
    w, b = model.weights_path_[t - 1]
    return percent_wrong(H[:, : len(w)] @ w + b, y)


# Table 1: what the datasets are

PRINTED_POSITIVE_DIGITS = 30_378


@paper.trials("table1", methods=("facts",), datasets=tuple(STORED))
def facts(trial: Trial, *, digits_task: Literal["odd", "large", "three"]) -> dict[str, float]:
    """Features (constant ones of Ionosphere left out), examples, positive and negative ones.

    nearest_subset: of all tasks "some of the ten digits against the others" the number of positive examples
    that is nearest to the printed one.
    """
    data = whole_set(trial.dataset, digits_task) if trial.dataset == "Digits" else whole_set(trial.dataset)
    positive = int((data.signs > 0).sum())
    dim = int((moments(trial.dataset)[1] > 0).sum()) if trial.dataset == "Ionosphere" else data.n_features
    found = {
        "dim": dim,
        "n_pts": data.n_samples,
        "n_positive": positive,
        "n_negative": data.n_samples - positive,
    }
    if trial.dataset == "Digits":
        found["nearest_subset"] = nearest_subset(PRINTED_POSITIVE_DIGITS)
    return found


def nearest_subset(wanted: int) -> int:
    """Size of the subset of classes of MNIST's training part that is nearest to a number of examples."""
    digits = load("mnist")
    counts = np.bincount(digits.y[digits.part == 0])
    sizes = [sum(some) for k in range(1, len(counts)) for some in combinations(counts.tolist(), k)]
    return min(sizes, key=lambda size: (abs(size - wanted), size))


# Tables 3 and 4, figures 2 to 4: 1000 training examples of Forest and of the digits

TWO_NORM = tuple(f"2-norm/{name}" for name in CHOICES)
ONE_NORM = tuple(f"1-norm/{name}" for name in CHOICES)
MIXTURE = "L,Q,R"
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FIGURE4_CS = (0.01, 1.0, 100.0, 10000.0)
TAUS = (1e-1, 1e-2, 1e-3, 1e-4)


@paper.trials("table3", methods=TWO_NORM, datasets=("Forest",))
@paper.trials("table4", methods=TWO_NORM, datasets=("Digits",))
def two_norm(trial: Trial, *, large: LargeProtocol, n_points: int) -> dict[str, float | np.ndarray]:
    """Problem (11) with one choice of kernels: C by complete solutions, then the run of columns."""
    name = trial.method.partition("/")[2]
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[name], large)
    C, resolved, model = choose_two_norm(kernels, data, large.Cs, large.offset)
    run = fit_run(kernels, data, C, large)
    found = describe_run(run, data, C, large.patience) | describe_optimum(resolved, data, model)
    return found | (read_curves(run, data, n_points) if name == MIXTURE else {})


@paper.trials("table3", methods=ONE_NORM, datasets=("Forest",))
@paper.trials("table4", methods=ONE_NORM, datasets=("Digits",))
def one_norm(trial: Trial, *, large: LargeProtocol) -> dict[str, float]:
    """Problem (4) with coefficients free and one choice of kernels; the run of least validation error."""
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[trial.method.partition("/")[2]], large)
    runs = [fit_run(kernels, data, C, large, norm="l1") for C in large.Cs]
    best = int(np.argmin([run.validation_path_[-1] for run in runs]))
    return describe_run(runs[best], data, large.Cs[best], large.patience)


@paper.trials("solved", methods=("stratified",), datasets=("Forest", "Digits"))
def without_limit(trial: Trial, *, large: LargeProtocol) -> dict[str, float]:
    """Run the mixture of the tables until its certified gap is small, with all columns to take from.

    least: the round of the lowest validation error, its test error, and the seconds until then.
    """
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[MIXTURE], large)
    C = choose_two_norm(kernels, data, large.Cs, large.offset)[0]
    run = fit_run(kernels, data, C, large, n_rounds=len(kernels) * len(data.y))
    seconds = np.cumsum(run.oracle_seconds_path_ + run.master_seconds_path_)
    least = int(np.argmin(run.validation_path_)) + 1
    scores = run.hypotheses_.decision(data.X_test, *weights_after(run, least))
    return {
        "gap": float(run.dual_gap_ / run.objective_path_[-1]),
        "rounds": float(run.n_rounds_),
        "error": percent_wrong(run.decision_function(data.X_test), data.y_test),
        "train_error": percent_wrong(run.decision_function(data.X), data.y),
        **{name: float(count) for name, count in columns_by_kernel(run.n_columns_).items()},
        "evaluations": float(run.n_kernel_evaluations_),
        "least_rounds": float(least),
        "least_error": percent_wrong(scores, data.y_test),
        "fit_seconds": float(seconds[-1]),
        "least_seconds": float(seconds[least - 1]),
    }


@paper.trials("figure3", methods=("regular",), datasets=("Forest", "Digits"))
def regular(trial: Trial, *, large: LargeProtocol, n_points: int) -> dict[str, float | np.ndarray]:
    """The mixture of the tables, every round a scan of all columns; the stratified run is the tables'."""
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[MIXTURE], large)
    C = choose_two_norm(kernels, data, large.Cs, large.offset)[0]
    run = fit_run(kernels, data, C, large, stratified=False)
    return describe_run(run, data, C, large.patience) | read_curves(run, data, n_points)


@paper.trials("figure4", methods=tuple(f"C = {C:g}" for C in FIGURE4_CS), datasets=("Digits", "Forest"))
def improper(
    trial: Trial, *, large: LargeProtocol, figure4_rounds: int, n_points: int
) -> dict[str, float | np.ndarray]:
    """The stratified mixture at one C: errors along the run, and the validation error of its optimum."""
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[MIXTURE], large)
    C = float(trial.method.removeprefix("C = "))
    run = fit_run(kernels, data, C, large, n_rounds=figure4_rounds)
    curves = read_curves(run, data, n_points)
    _, resolved, model = choose_two_norm(kernels, data, [C], large.offset)
    return {
        "optimum_validation": percent_wrong(model_scores(resolved, data.X, model, data.X_val), data.y_val),
        **{name: curves[name] for name in ("curve_rounds", "curve_train", "curve_validation")},
    }


@paper.trials("tolerance", methods=tuple(f"tau = {tau:g}" for tau in TAUS), datasets=("Digits", "Forest"))
def tolerance(trial: Trial, *, large: LargeProtocol) -> dict[str, float]:
    """The stratified mixture of the tables with a coarser tolerance on what violates the dual."""
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[MIXTURE], large)
    C = choose_two_norm(kernels, data, large.Cs, large.offset)[0]
    run = fit_run(kernels, data, C, large, tau=float(trial.method.removeprefix("tau = ")))
    return read_stops(run, data, large.patience)


# What else a detail could be: name -> the details that differ; the others stay as chosen.
READINGS: dict[str, dict[str, str]] = {
    "as chosen": {},
    "linear: raw": {"linear_form": "raw"},
    "quadratic: (xz/d)^2": {"quadratic_form": "(xz/d)^2"},
    "quadratic: (1 + xz)^2": {"quadratic_form": "(1 + xz)^2"},
    "both: raw": {"linear_form": "raw", "quadratic_form": "(1 + xz)^2"},
    "scaling: training rows": {"scaling": "training rows"},
}
DIGIT_TASKS: dict[str, dict[str, str]] = {
    "digits: 5 to 9": {"digits_task": "large"},
    "digits: 3": {"digits_task": "three"},
}


@paper.trials("readings", methods=tuple(READINGS), datasets=("Forest", "Digits"))
@paper.trials("readings", methods=tuple(DIGIT_TASKS), datasets=("Digits",))
def other_readings(trial: Trial, *, large: LargeProtocol) -> dict[str, float]:
    """Test errors of the complete 2-norm solutions of all kernel choices; the C of the mixture."""
    large = replace(large, **(READINGS | DIGIT_TASKS)[trial.method])
    data = draw(trial, trial.dataset, large)
    found, C = {}, 1.0
    for name, library in CHOICES.items():
        C, kernels, model = choose_two_norm(make_library(library, large), data, large.Cs, large.offset)
        scores = model_scores(kernels, data.X, model, data.X_test)
        found[f"error_{name}"] = percent_wrong(scores, data.y_test)
    return found | {"log10_C": float(np.log10(C))}


# Table 5: iterations and seconds against the number of training examples of Forest

SCALINGS_OF_C = ("C fixed", "C / n", "C / n, tau * n")
COARSE_TAUS = (10.0, 3.0)
_BASE = 1000  # examples at which the scalings agree


@paper.trials("table5", methods=SCALINGS_OF_C, datasets=SIZE_SETS)
def iterations(
    trial: Trial,
    *,
    large: LargeProtocol,
    patiences: list[int],
    growth_C: float,
    growth_tau: float,
    growth_rounds: int,
) -> dict[str, float | np.ndarray]:
    """Rounds until TR3 stops, for each patience; error, columns and seconds at the chosen patience.

    "C / n": C falls as 1 / n, so that the losses weigh the same in all. "tau * n": moreover a column must
    score more than ``growth_tau``, per 1000 examples, to count as a violation.
    """
    n = int(trial.dataset.removeprefix("n="))
    data = draw(trial, "Forest", large, n)
    C = growth_C if trial.method == "C fixed" else growth_C * _BASE / n
    tau = growth_tau * n / _BASE if trial.method.endswith("tau * n") else large.tau
    stop = {"termination": "TR3", "patience": max(patiences), "n_rounds": growth_rounds, "tol": 0.0}
    model = fit_run(make_library(CHOICES[MIXTURE], large), data, C, large, tau=tau, **stop)
    used, stopped = patient_rounds(model.validation_path_, large.patience)
    w, b = weights_after(model, used)
    return {
        "iterations": np.array([float(patient_rounds(model.validation_path_, p)[1]) for p in patiences]),
        "first_full_scan": float(model.termination_rounds_["TR1"] or 0),
        "error": percent_wrong(model.hypotheses_.decision(data.X_test, w, b), data.y_test),
        **columns_by_kernel(model.hypotheses_.counts(w)),
        "evaluations": float(model.hypotheses_.n_evaluations(w)),
        "fit_seconds": float((model.oracle_seconds_path_ + model.master_seconds_path_)[:stopped].sum()),
        "test_seconds": seconds_to_test(model, data.X_test, w, b),
    }


@paper.trials("coarse", methods=tuple(f"tau = {tau:g}" for tau in COARSE_TAUS), datasets=SIZE_SETS)
def coarse_iterations(
    trial: Trial, *, large: LargeProtocol, patiences: list[int], growth_C: float, coarse_rounds: int
) -> dict[str, float | np.ndarray]:
    """Rounds until no column scores more than a coarse tolerance (TR2), C fixed; until TR1; until TR3.

    The tolerance lets the run leave the linear columns, which it does not before TR3 stops it otherwise.
    """
    data = draw(trial, "Forest", large, int(trial.dataset.removeprefix("n=")))
    stop = {"n_rounds": coarse_rounds, "tol": 0.0, "tau": float(trial.method.removeprefix("tau = "))}
    model = fit_run(make_library(CHOICES[MIXTURE], large), data, growth_C, large, **stop)
    return {
        "rounds": float(model.n_rounds_),
        "first_full_scan": float(model.termination_rounds_["TR1"] or 0),
        "iterations": np.array([float(patient_rounds(model.validation_path_, p)[1]) for p in patiences]),
        "error": percent_wrong(model.decision_function(data.X_test), data.y_test),
        **columns_by_kernel(model.hypotheses_.counts(model.weights_)),
        "evaluations": float(model.hypotheses_.n_evaluations(model.weights_)),
    }


# All examples of Forest at once, in bounded memory

ALL_ROWS = 495_141


@paper.trials("forest", methods=("stratified", "regular", "stratified, coarse"), datasets=(ALL_FOREST,))
def all_of_forest(
    trial: Trial,
    *,
    large: LargeProtocol,
    forest_C: float,
    forest_tau: float,
    forest_coarse_tau: float,
    forest_centers: int,
    forest_rounds: int,
) -> dict[str, float]:
    """Column generation on all rows but those of validation and test; columns are evaluated when needed.

    C is ``forest_C`` for 1000 examples and falls as 1 / n. Candidates are the columns of all three kernels at
    some random centers; a column must score more than ``forest_tau``, or a tolerance that is through with
    linear columns before the rounds are (coarse). The gap is computed once, at the end. What is timed is a
    fit that need not be the same on every computer.
    """
    n = ALL_ROWS - large.sizes["test"] - large.sizes["validation"]
    data = draw(trial, "Forest", large, n)
    options = settings(
        large,
        stratified=trial.method != "regular",
        n_rounds=forest_rounds,
        tol=0.0,
        tau=forest_coarse_tau if trial.method.endswith("coarse") else forest_tau,
        max_centers=forest_centers,
        random_state=trial.shared_seed("centers"),
        portable=False,
    )
    model = CGBoostClassifier(make_library(CHOICES[MIXTURE], large), C=forest_C * 1000.0 / n, **options)
    _, seconds = timed(model.fit, data.X, data.y)
    return {
        "error": percent_wrong(model.decision_function(data.X_test), data.y_test),
        "train_error": percent_wrong(model.decision_function(data.X[::50]), data.y[::50]),
        **{name: float(count) for name, count in columns_by_kernel(model.n_columns_).items()},
        "rounds": float(model.n_rounds_),
        "n_train": float(n),
        "fit_seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }


# Methods of today beside the mixture: multiple kernel learning and gradient boosting

MODERN = ("1-norm mixture", "2-norm mixture", "aligned kernels", "gradient boosting", "boosting, equal cost")
_LEAVES = 31


@paper.trials("modern", methods=MODERN, datasets=("Forest", "Digits"), together=True)
def modern(trial: Trial, *, large: LargeProtocol) -> dict[str, dict[str, float]]:
    """The mixture (TR3) beside multiple kernel learning and gradient boosting, on the draws of the tables.

    operations: multiplications, exponentials and comparisons that one prediction takes. Boosting at equal
    cost has as many trees as the 1-norm mixture's operations pay for, a comparison counted like a
    multiplication.
    """
    data = draw(trial, trial.dataset, large)
    kernels = make_library(CHOICES[MIXTURE], large)
    found = {f"{norm} mixture": _mixture(data, kernels, norm, large) for norm in ("1-norm", "2-norm")}
    found["aligned kernels"] = _aligned(data, kernels, large.Cs)
    affordable = max(1, round(found["1-norm mixture"]["operations"] / np.log2(_LEAVES)))
    for name, n_trees in (("gradient boosting", 100), ("boosting, equal cost", affordable)):
        found[name] = _boosting(data, n_trees, trial.seed())
    return found


def _mixture(data: Draw, kernels: Sequence[Kernel], norm: str, large: LargeProtocol) -> dict[str, float]:
    """Stop where TR3 says: no round after that is needed here, or paid for."""
    rule = {"norm": NORMS[norm], "termination": "TR3", "patience": large.patience}
    runs, seconds = timed(lambda: [fit_run(kernels, data, C, large, **rule) for C in large.Cs])
    best = runs[int(np.argmin([min(run.validation_path_) for run in runs]))]
    counts, d = best.n_columns_, data.X.shape[1]
    operations = d * (min(1, counts["linear"]) + counts["quadratic"] + counts["rbf"])
    return _outcome(data, operations, seconds, *timed(best.decision_function, data.X_test))


def _outcome(data: Draw, operations: float, fit: float, scores: np.ndarray, test: float) -> dict[str, float]:
    return {
        "error": percent_wrong(scores, data.y_test),
        "operations": float(operations),
        "fit_seconds": fit,
        "test_seconds": test,
    }


def _aligned(data: Draw, kernels: Sequence[Kernel], Cs: Sequence[float]) -> dict[str, float]:
    """Two-stage multiple kernel learning: weights >= 0 by centered alignment, then a support vector machine.

    Cortes, Mohri and Rostamizadeh, Algorithms for learning kernels based on centered alignment (2012).
    """
    resolved = resolve(kernels, data.X)
    (mu, path), seconds = timed(align_and_solve, resolved, data, Cs)
    errors = [percent_wrong(composite_scores(resolved, mu, data.X, s, data.X_val), data.y_val) for s in path]
    best = path[int(np.argmin(errors))]
    used = np.array([mu[0] > 0, *(np.count_nonzero(best.w) * (m > 0) for m in mu[1:])])
    operations = float(data.X.shape[1] * used.sum())
    return _outcome(
        data, operations, seconds, *timed(composite_scores, resolved, mu, data.X, best, data.X_test)
    )


def align_and_solve(
    kernels: Sequence[Kernel], data: bench.Draw, Cs: Sequence[float]
) -> tuple[np.ndarray, list[Solution]]:
    """Weights >= 0 of the kernels by centered alignment, and the machine of their sum for each C."""
    matrices = [kernel.matrix(data.X, data.X) for kernel in kernels]
    scales = [np.trace(K) / len(K) for K in matrices]
    centered = [K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() for K in matrices]
    A = np.column_stack([K.ravel() / s for K, s in zip(centered, scales, strict=True)])
    mu = nnls(A, np.outer(data.y, data.y).ravel())[0] / scales
    K = sum(m * some for m, some in zip(mu, matrices, strict=True))
    return mu, kernel_hinge_path(K, data.y, Cs)


def composite_scores(
    kernels: Sequence[Kernel], mu: np.ndarray, X: np.ndarray, solution: Solution, Z: np.ndarray
) -> np.ndarray:
    """Scores at Z of a machine with a weighted sum of kernels, trained on X."""
    used = solution.w != 0
    parts = (
        m * kernel.decision(Z, X[used], solution.w[used]) for m, kernel in zip(mu, kernels, strict=True) if m
    )
    return sum(parts) + solution.b


def _boosting(data: Draw, n_trees: int, seed: int) -> dict[str, float]:
    """Histogram gradient boosting with its library's defaults, but for the number of trees."""
    model = HistGradientBoostingClassifier(max_iter=n_trees, early_stopping=False, random_state=seed)
    _, seconds = timed(model.fit, data.X, data.y)
    operations = n_trees * float(np.log2(_LEAVES))
    return _outcome(data, operations, seconds, *timed(model.decision_function, data.X_test))
