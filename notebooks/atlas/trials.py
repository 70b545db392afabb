"""The atlas: its sets and exhibits, its contest of all methods, and three questions across the papers.

A trial of the arena chooses among a method's configurations on inner folds, fits the chosen one, judges it,
and says how large it is. The other exhibits compare CGENS with the machine over all stumps (`limit`), two
masters over two families of hypotheses (`masters`), and how far members of an ensemble differ (`diversity`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from time import process_time
from typing import Any, Literal

import numpy as np
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC, LinearSVC

from kernsemble.column_generation import column_generation
from kernsemble.data.scaling import fill_missing, scale_to_unit_range, zscore
from kernsemble.data.splits import generator_from_names, random_folds
from kernsemble.data.store import load
from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.cgens_sls import CGEnsSLS
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.estimators.drm import DRM
from kernsemble.estimators.exrm import ExRM
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostECC, AdaBoostMH, AdaBoostMO
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import stump_kernel
from kernsemble.masters.quadratic import HingeQP
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

BINARY_SETS = (
    "australian", "banana", "breast", "breast-cancer", "german", "german24", "heart", "ionosphere",
    "liver", "pima", "sonar", "spam", "splice", "titanic", "votes84", "wdbc",
)  # fmt: skip
MULTICLASS_SETS = (
    "covertype", "digits", "dna", "flare", "glass", "iris", "letter", "mnist",
    "pendigits", "satimage", "segment", "thyroid", "usps", "vehicle", "vowel", "wine",
)  # fmt: skip
ALL_SETS = (*BINARY_SETS, *MULTICLASS_SETS)
LARGE_SETS = ("ijcnn1",)  # at full size alone: not in the repository
# The same applicants in another coding: one of the two is enough where sets are counted.
SAME_ROWS = {"german": "german24"}

LIMIT_SETS = ("heart", "ionosphere", "pima", "sonar")
MASTER_SETS = ("heart", "liver")
DIVERSITY_SETS = ("german24", "heart", "ionosphere", "pima", "sonar", "wdbc")


paper = Paper(
    "atlas",
    title="All methods of the five papers under one protocol",
    datasets={label: label for label in (*ALL_SETS, *LARGE_SETS)},
    only={"image_block": ["mnist"]},
)

paper.exhibit(
    "limit",
    "CGENS with stumps on its way to the machine over all stumps",
    metrics=("excess", "disagreement", "error"),
    tolerance={"excess": 1e-4},
)
paper.exhibit(
    "masters",
    "Two masters, two oracles",
    metrics=("objective", "gap", "columns", "error"),
    tolerance={"gap": 1e-2, "objective": 1e-3},
)
paper.exhibit(
    "diversity",
    "Ten members: by exclusivity, by column generation, by chance",
    metrics=("disagreement", "member_error", "error"),
)
paper.exhibit(
    "arena",
    "All methods on all sets",
    metrics=("error", "chosen", "size", "kilobytes"),
    timing=("fit_seconds", "tuning_seconds", "predict_seconds"),
    # Of two classes, a stump for the one is its negation for the other: the score is unique, weights are not.
    parting=("MultiBoost-cw",),
    # A model's pickle holds numbers as text in some libraries.
    tolerance={"kilobytes": 1.0},
)


Scaling = Literal["zscore", "unit range"]


@dataclass(frozen=True)
class Rows:
    """Which rows a trial sees, and how its features are scaled."""

    max_rows: int
    min_per_class: int
    image_block: int
    n_outer: int
    n_inner: int
    scaling: Scaling


@dataclass(frozen=True)
class Split:
    """Training and test part; labels are 0, 1, .. without a gap. ``folds`` are those of the training part."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    folds: np.ndarray

    @property
    def signs(self) -> np.ndarray:
        """Training labels of two classes as -1.0 and +1.0."""
        return 2.0 * self.y - 1.0

    def error(self, predicted: np.ndarray) -> float:
        """Return the test error of predicted labels in percent."""
        return 100.0 * float(np.mean(predicted != self.y_test))


def draw(trial: Trial, rows: Rows) -> Split:
    """Return the data of a trial: number k holds out fold k of the set; after all folds it is cut anew."""
    block = rows.image_block if trial.dataset == "mnist" else 1
    X, y = sample_rows(trial.dataset, rows.max_rows, rows.min_per_class, block)
    repetition, fold = divmod(trial.number, rows.n_outer)
    held = random_folds(y, rows.n_outer, "atlas", trial.dataset, "outer", repetition) == fold
    scale = zscore if rows.scaling == "zscore" else scale_to_unit_range
    X = fill_missing(scale(X, reference=X[~held]))
    inner = random_folds(y[~held], rows.n_inner, "atlas", trial.dataset, "inner", trial.number)
    return Split(X[~held], y[~held], X[held], y[held], inner)


@cache
def sample_rows(
    name: str, max_rows: int, min_per_class: int, image_block: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of a set, cut down to about ``max_rows``; images averaged over blocks of pixels."""
    data = load(name)
    kept = choose_rows(data.y, max_rows, min_per_class, name)
    X, labels = np.asarray(data.X[kept], dtype=np.float64), data.y[kept]
    if name == "mnist":
        X = average_blocks(X.reshape(len(X), 28, 28), image_block)
    y = np.unique(labels, return_inverse=True)[1]
    X.flags.writeable = y.flags.writeable = False
    return X, y


def choose_rows(y: np.ndarray, max_rows: int, min_per_class: int, name: str) -> np.ndarray:
    """Return rows with the classes in their shares, of each at least ``min_per_class`` if there are."""
    if len(y) <= max_rows:
        return np.arange(len(y))
    order = generator_from_names("atlas", name, "rows").permutation(len(y))
    chosen = []
    for label in np.unique(y):
        own = order[y[order] == label]
        chosen.append(own[: max(min_per_class, round(len(own) * max_rows / len(y)))])
    return np.sort(np.concatenate(chosen))


def average_blocks(images: np.ndarray, side: int) -> np.ndarray:
    """Return images (n, height, width) averaged over blocks of side x side pixels, a row each."""
    n, height, width = images.shape
    blocks = images.reshape(n, height // side, side, width // side, side)
    return blocks.mean(axis=(2, 4)).reshape(n, -1)


def stored_bytes(model: Any) -> int:
    """Return the size of the pickled model without the record of its training."""
    return len(pickle.dumps(without_record(model), protocol=5))


def without_record(model: Any) -> Any:
    """Return a copy that predicts the same, without paths, rounds and dual weights of the training rows."""
    kept = copy(model)
    state = kept.__getstate__()
    for name in [name for name in state if name.endswith("_path_") or name in ("rounds_", "dual_weights_")]:
        kept.__delattr__(name)
    return kept


def count_support_vectors(model: Any) -> int:
    """Support vectors of a kernel machine, those of all its classes together counted once."""
    return len(model.support_)


def count_weighted(model: Any) -> int:
    """Hypotheses with a weight for some class."""
    weights = np.abs(model.weights_)
    used = weights > _SPECK * weights.max(initial=0.0)
    return int(np.count_nonzero(used if used.ndim == 1 else used.any(axis=1)))


def count_linear_machines(model: Any) -> int:
    """Linear machines: components times classes."""
    return int(np.prod(model.component_intercepts_.shape))


def count_dual_rows(model: Any) -> int:
    """Training rows that any machine of a diversity regularized ensemble needs."""
    return int(np.count_nonzero(model.dual_coef_.any(axis=(0, 2))))


def count_forest_leaves(model: Any) -> int:
    """Leaves of a random forest."""
    return int(sum(tree.get_n_leaves() for tree in model.estimators_))


def count_histogram_leaves(model: Any) -> int:
    """Leaves of scikit-learn's histogram gradient boosting, which has no public access to its trees."""
    return int(sum(tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees))


def count_lightgbm_leaves(model: Any) -> int:
    """Leaves of LightGBM's trees."""
    return int(sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]))


def count_xgboost_leaves(model: Any) -> int:
    """Leaves of XGBoost's trees."""
    return int(sum(text.count("leaf=") for text in model.get_booster().get_dump()))


Config = dict[str, int | float | str]
Grid = list[dict[str, int | float | str]]
# Makes an estimator from a configuration and the number of features.
Make = Callable[[Config, int], Any]

_PREDICTED, _REPEATS = 1000, 3
_SPECK = 1e-9  # weight, relative to the largest, that counts as none
_WARM = 8  # rows of each class


def contest(
    trial: Trial, rows: Rows, make: Make, grid: Grid, size: Callable[[Any], float]
) -> dict[str, float]:
    """Return the error of the chosen configuration, its place in the grid, what it took, and its size."""
    data = draw(trial, rows)
    d = data.X.shape[1]
    warm_up(make(grid[0], d), data)
    start = process_time()
    chosen = choose(data, [lambda config=config: make(config, d) for config in grid], rows.n_inner)
    tuning = process_time() - start
    start = process_time()
    model = make(grid[chosen], d).fit(data.X, data.y)
    fitting = process_time() - start
    predicted = model.predict(data.X_test)
    return {
        "error": data.error(predicted),
        "chosen": chosen,
        "size": size(model),
        "kilobytes": stored_bytes(model) / 1000.0,
        "fit_seconds": fitting,
        "tuning_seconds": tuning,
        "predict_seconds": seconds_to_predict(model, data.X_test),
    }


def choose(data: Split, makers: list[Callable[[], Any]], n_folds: int) -> int:
    """Return the first of those makers whose models predict most held-out rows correctly."""
    correct = np.zeros(len(makers))
    for fold in range(n_folds):
        kept, held = data.folds != fold, data.folds == fold
        for k, make in enumerate(makers):
            model = make().fit(data.X[kept], data.y[kept])
            correct[k] += np.count_nonzero(model.predict(data.X[held]) == data.y[held])
    return int(correct.argmax())


def warm_up(model: Any, data: Split) -> None:
    """Fit and predict once on a few rows of each class."""
    few = np.concatenate([np.flatnonzero(data.y == label)[:_WARM] for label in np.unique(data.y)])
    model.fit(data.X[few], data.y[few]).predict(data.X[few])


def seconds_to_predict(model: Any, X: np.ndarray) -> float:
    """Return the least of three times for 1000 rows, those of X over and over."""
    many = X[np.arange(_PREDICTED) % len(X)]
    times = []
    for _ in range(_REPEATS):
        start = process_time()
        model.predict(many)
        times.append(process_time() - start)
    return min(times)


@paper.trials("arena", methods=("SVM-Stump",))
def svm_stump(trial: Trial, *, rows: Rows, grid_svm_stump: Grid) -> dict[str, float]:
    """linli2005: the infinite ensemble of stumps."""
    return contest(
        trial,
        rows,
        lambda c, d: DistanceKernelSVC("stump", multi_class="ovr", **c),
        grid_svm_stump,
        count_support_vectors,
    )


@paper.trials("arena", methods=("SVM-Perc",))
def svm_perceptron(trial: Trial, *, rows: Rows, grid_svm_perceptron: Grid) -> dict[str, float]:
    """linli2005: the infinite ensemble of perceptrons."""
    return contest(
        trial,
        rows,
        lambda c, d: DistanceKernelSVC("perceptron", multi_class="ovr", **c),
        grid_svm_perceptron,
        count_support_vectors,
    )


@paper.trials("arena", methods=("CGENS-SLS",))
def cgens_sls(trial: Trial, *, rows: Rows, grid_cgens_sls: Grid) -> dict[str, float]:
    """shen2014: least squares on simplex codes over stumps."""
    return contest(trial, rows, lambda c, d: CGEnsSLS(tol=1e-6, **c), grid_cgens_sls, count_weighted)


@paper.trials("arena", methods=("MultiBoost-cw",))
def multiboost(trial: Trial, *, rows: Rows, grid_multiboost: Grid) -> dict[str, float]:
    """lin2012: totally corrective, stumps for each class."""
    return contest(trial, rows, lambda c, d: MultiBoost(**c), grid_multiboost, count_weighted)


@paper.trials("arena", methods=("ExRM",))
def exrm(trial: Trial, *, rows: Rows, grid_exrm: Grid) -> dict[str, float]:
    """guo2017: the exclusivity regularized machine."""
    return contest(trial, rows, lambda c, d: ExRM(**c), grid_exrm, count_linear_machines)


@paper.trials("arena", methods=("DRM",))
def drm(trial: Trial, *, rows: Rows, grid_drm: Grid) -> dict[str, float]:
    """guo2017's rival: the diversity regularized machine."""
    return contest(trial, rows, lambda c, d: DRM(random_state=trial.seed(), **c), grid_drm, count_dual_rows)


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


@paper.trials("limit", methods=("CGENS-Stump",), datasets=LIMIT_SETS)
def limit(
    trial: Trial, *, rows: Rows, counts: list[int], cost_of_kernel: float, limit_tol: float
) -> dict[str, np.ndarray]:
    """CGENS after some rounds against the machine.

    C is ``cost_of_kernel`` over the number of stumps, the kernel's value of a point with itself. excess: the
    objective over the machine's, minus 1. disagreement: share of test points where the two differ, in
    percent. error: test errors in percent, last that of the machine.
    """
    data = draw(trial, rows)
    cuts = cuts_of(data.X)
    C = cost_of_kernel / sum(map(len, cuts))
    machine = DistanceKernelSVC(rank_kernel(cuts), C=C, tol=1e-6).fit(data.X, data.y)
    target = machine.predict(data.X_test)
    model = CGEns(C=C, n_rounds=max(counts), tol=limit_tol).fit(data.X, data.y)
    places = [min(count, model.n_rounds_) - 1 for count in counts]
    stages = list(model.staged_predict(data.X_test))
    predicted = [stages[place] for place in places]
    return {
        "excess": model.objective_path_[places] / machine.objective_[0] - 1.0,
        "disagreement": np.array([100.0 * np.mean(labels != target) for labels in predicted]),
        "error": np.array([*map(data.error, predicted), data.error(target)]),
    }


def cuts_of(X: np.ndarray) -> list[np.ndarray]:
    """Return the cuts of each feature: midway between neighboring values."""
    values = [np.unique(column) for column in X.T]
    return [0.5 * (some[1:] + some[:-1]) for some in values]


def rank_kernel(cuts: list[np.ndarray]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the sum over all stumps of h(x) h(z), without its constant, as a kernel."""

    def ranks(X: np.ndarray) -> np.ndarray:
        pairs = zip(cuts, X.T, strict=True)
        return np.column_stack([np.searchsorted(own, column) for own, column in pairs]).astype(np.float64)

    return lambda X, Z: 2.0 * stump_kernel(ranks(X), ranks(Z))


KERNELS = ("linear", "quadratic", "rbf")
PAIRS = ("stumps / CGENS", "stumps / CG-Boost", "kernels / CGENS", "kernels / CG-Boost")


@paper.trials("masters", methods=PAIRS, datasets=MASTER_SETS)
def masters(
    trial: Trial,
    *,
    rows: Rows,
    master_rows: int,
    master_costs: dict[str, float],
    master_rounds: int,
    master_tol: float,
) -> dict[str, float]:
    """Run a master over an oracle: objective, certified gap over all hypotheses, columns, error."""
    data = draw(trial, rows)
    family, _, master = trial.method.partition(" / ")
    few = Split(
        data.X[:master_rows], data.y[:master_rows], data.X_test, data.y_test, data.folds[:master_rows]
    )
    run = {
        ("stumps", "CGENS"): cgens_over_stumps,
        ("stumps", "CG-Boost"): cg_boost_over_stumps,
        ("kernels", "CGENS"): cgens_over_kernels,
        ("kernels", "CG-Boost"): cg_boost_over_kernels,
    }[family, master]
    return run(few, master_costs[family], master_rounds, master_tol)


def cgens_over_stumps(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CGENS as it is."""
    return outcome(CGEns(C=C, n_rounds=n_rounds, tol=tol).fit(data.X, data.y), data)


def cgens_over_kernels(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CGENS with bi2004's columns for hypotheses."""
    return outcome(CGEns(C=C, n_rounds=n_rounds, base=kernel_columns, tol=tol).fit(data.X, data.y), data)


def cg_boost_over_kernels(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CG-Boost as it is, with the regular search."""
    model = CGBoostClassifier(KERNELS, C=C, stratified=False, n_rounds=n_rounds, tol=tol)
    return outcome(model.fit(data.X, data.y), data)


def cg_boost_over_stumps(data: Split, C: float, n_rounds: int, tol: float) -> dict[str, float]:
    """CG-Boost's master over stumps, for which there is no estimator."""
    oracle = StumpOracle(data.X, constant=False)
    master = HingeQP(data.signs, C, intercept="free", tol=min(0.5 * tol, 1e-9), least_norm=True)
    found = column_generation(oracle, master, n_rounds, tol=tol, keep_weights=False)
    scores = oracle.collect(found.keys).decision(data.X_test, found.solution.w, found.solution.b)
    return {
        "objective": found.solution.objective,
        "gap": found.gap,
        "columns": len(found.keys),
        "error": data.error((scores > 0).astype(np.int64)),
    }


def outcome(model: Any, data: Split) -> dict[str, float]:
    """Return what an estimator found."""
    return {
        "objective": float(model.objective_path_[-1]),
        "gap": model.dual_gap_,
        "columns": model.n_rounds_,
        "error": data.error(model.predict(data.X_test)),
    }


def kernel_columns(X: np.ndarray, *, random_state: Any = None) -> KernelColumns:
    """Return the oracle over all columns of all kernels; it draws nothing."""
    return KernelColumns(X, KERNELS, stratified=False)


@paper.trials("diversity", methods=("ExRM", "ExRM, as printed", "DRM"), datasets=DIVERSITY_SETS)
def regularized(trial: Trial, *, rows: Rows, n_members: int) -> dict[str, float]:
    """Members that a norm or a penalty is to keep apart, with the defaults of their estimators."""
    data, seed = draw(trial, rows), trial.seed()
    model = {
        "ExRM": ExRM(n_members),
        "ExRM, as printed": ExRM(n_members, solver="printed", start="random", random_state=seed),
        "DRM": DRM(n_members, random_state=seed),
    }[trial.method]
    model.fit(data.X, data.y)
    votes = model.component_decision_function(data.X_test) > 0
    return judge(data, votes, model.predict(data.X_test))


@paper.trials("diversity", methods=("CGENS", "LPBoost"), datasets=DIVERSITY_SETS)
def generated(
    trial: Trial, *, rows: Rows, n_members: int, diversity_costs: dict[str, float]
) -> dict[str, float]:
    """Perceptrons found by column generation; those without a weight are no members."""
    data = draw(trial, rows)
    kind = {"CGENS": CGEns, "LPBoost": LPBoost}[trial.method]
    options = {"base": "perceptron", "random_state": trial.shared_seed("perceptrons")}
    options["tol"] = {"CGENS": 1e-3, "LPBoost": 1e-6}[trial.method]
    model = kind(n_members, C=diversity_costs[trial.method], **options).fit(data.X, data.y)
    return judge(data, signed_votes(model, data.X_test), model.predict(data.X_test))


@paper.trials("diversity", methods=("AdaBoost",), datasets=DIVERSITY_SETS)
def boosted(trial: Trial, *, rows: Rows, n_members: int) -> dict[str, float]:
    """The same perceptrons, stage by stage."""
    data = draw(trial, rows)
    model = AdaBoost(n_members, base="perceptron", random_state=trial.shared_seed("perceptrons"))
    model.fit(data.X, data.y)
    return judge(data, signed_votes(model, data.X_test), model.predict(data.X_test))


@paper.trials("diversity", methods=("bagged SVMs", "random forest"), datasets=DIVERSITY_SETS)
def bagged(trial: Trial, *, rows: Rows, n_members: int) -> dict[str, float]:
    """Members that differ by their bootstrap samples."""
    data, seed = draw(trial, rows), trial.seed()
    if trial.method == "random forest":
        model = RandomForestClassifier(n_members, random_state=seed)
    else:
        # max_iter: with many rows the default ends short of the optimum
        machine = LinearSVC(C=0.1, max_iter=20_000, random_state=seed)
        model = BaggingClassifier(machine, n_members, random_state=seed)
    model.fit(data.X, data.y)
    votes = np.column_stack([member.predict(data.X_test) > 0 for member in model.estimators_])
    return judge(data, votes, model.predict(data.X_test))


def signed_votes(model: AdaBoost | CGEns | LPBoost, X: np.ndarray) -> np.ndarray:
    """Return which class each member votes for, negated where its weight is negative."""
    used = np.flatnonzero(model.weights_)
    outputs = model.hypotheses_.outputs(X)[:, used]
    return outputs * np.sign(model.weights_[used]) > 0


def judge(data: Split, votes: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return in percent how often two members differ, a member errs, and the ensemble errs."""
    right = data.y_test[:, np.newaxis] > 0
    pairs = [np.mean(votes[:, i] != votes[:, j]) for i, j in combinations(range(votes.shape[1]), 2)]
    return {
        "disagreement": 100.0 * float(np.mean(pairs)) if pairs else 0.0,
        "member_error": 100.0 * float(np.mean(votes != right)),
        "error": data.error(predicted),
    }
