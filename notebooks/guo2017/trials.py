"""The trials of guo2017: its sets and exhibits, tables 1 and 3, figure 1, other readings of the protocol.

ExRM and PSVM (its case of one component) are the estimator ``ExRM``. Boosting and bagging are those of the
paper's rivals: AdaBoost.M1, and votes of bootstrap samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from kernsemble.data.scaling import scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.estimators.exrm import ExRM
from kernsemble.kernels import gaussian_kernel, linear_kernel
from kernsemble.masters.drm import solve_drm
from kernsemble.masters.exclusivity import solve_printed_alm
from kernsemble.trials.bench import Draw, cut_folds, first_best, percent_wrong
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

TABLE_SETS = ("german", "diabetes", "australian", "sonar", "splice", "liver", "heart", "ionosphere")
STORED = {"german": "german24", "diabetes": "pima"}
LARGE_SET = "ijcnn1"
# The file of the LIBSVM page that table 1 calls splice; ours of that name has all 3175 rows.
LIBSVM_SPLICE = "splice1000"
# Sizes of training sets of the last panel of figure 1; the last is all of it.
SIZE_SETS = tuple(f"n={n}" for n in (2500, 5000, 10000, 20000, 49990))
MADE = "made"  # rows drawn at random
MULTICLASS_SETS = ("wine", "iris", "glass", "vehicle")


paper = Paper(
    "guo2017",
    title="Exclusivity Regularized Machine: A New Ensemble SVM Classifier",
    datasets={
        **{name: STORED.get(name, name) for name in TABLE_SETS},
        LIBSVM_SPLICE: LIBSVM_SPLICE,
        MADE: None,
        LARGE_SET: LARGE_SET,
        **dict.fromkeys(SIZE_SETS, LARGE_SET),
        **{name: name for name in MULTICLASS_SETS},
    },
    only={"n_large": [LARGE_SET]},
)

# Numbers of bases of table 3; each is a metric.
BASES = (1, 5, 10, 30)
ERRORS = tuple(f"error_{C}" for C in BASES)
EXACT = tuple(f"exact_{C}" for C in BASES)

# Gaps below what any solver was asked for are as good as none.
NO_GAP = {"gap": 1e-6}

paper.exhibit(
    "figure1",
    "Training and test error against lambda",
    metrics=("train_error", "error", "gap"),
    tolerance=NO_GAP,
)
paper.exhibit(
    "convergence",
    "Objective against iterations (figure 1, third panel)",
    metrics=("path", "n_iter", "settled", "gap"),
    tolerance=NO_GAP,
)
paper.exhibit(
    "scaling",
    "Training time against the number of samples (figure 1, fourth panel)",
    metrics=("n_iter",),
    timing=("fit_seconds",),
    alone=True,
)
paper.exhibit("table1", "Test errors (tables 1 and 3)", metrics=(*ERRORS, *EXACT, "nu"))
paper.exhibit("table2", "Training time", metrics=(), timing=("fit_seconds",), alone=True)
paper.exhibit(
    "theorems",
    "Theorem 2, proposition 1 and the equality with one machine, measured",
    metrics=("gap", "spread", "distance", "loss_ratio", "infeasible", "n_iter"),
    tolerance={**NO_GAP, "spread": 1e-6, "distance": 1e-6, "loss_ratio": 1e-9, "infeasible": 1e-6},
)
paper.exhibit(
    "penalty",
    "The gap of the limit against the growth of the penalty",
    metrics=("gap", "n_iter"),
    tolerance=NO_GAP,
)
paper.exhibit("zeros", "A zero entry under reweighting", metrics=("stuck", "undefined", "exact_difference"))
paper.exhibit("readings", "What other readings of the protocol change", metrics=("L1_10", "L2_10", "L2_30"))
paper.exhibit("bases", "Other ways to boost and bag SVMs", metrics=("error_5", "error_10", "error_30"))
paper.exhibit("drm", "Other settings of DRM", metrics=("error_1", "error_10"))
paper.exhibit(
    "trees", "What could have happened to the trees", metrics=("Ada_10", "Ada_30", "Bag_10", "Bag_30")
)
paper.exhibit("path", "One curve for all numbers of components", metrics=("error",))
paper.exhibit(
    "diversity", "Diversity that survives", metrics=("error", "exclusivity", "gap"), tolerance=NO_GAP
)
paper.exhibit("wrapped", "ExRM inside bagging and boosting", metrics=("error",))
paper.exhibit("multiclass", "More than two classes", metrics=("error",))
paper.exhibit(
    "libsvm",
    "Tables 1 and 3 on LIBSVM's file of splice",
    metrics=(*ERRORS, *EXACT, "L1_1", "L1_10", "L2_1", "L2_10", "AdaSVM_10", "BagSVM_10", "rows", "error"),
)
paper.exhibit("drm_plain", "DRM without an intercept", metrics=(*ERRORS, "nu"))
paper.exhibit("large", "150 training rows of ijcnn1", metrics=("error_10", "error_30"))
paper.exhibit("modern", "The single machine with lambda by cross-validation, and trees", metrics=("error",))


@dataclass(frozen=True)
class Protocol:
    """How rows are drawn: ``n_train`` of them (a share below 1); tested from ``test_from`` or after them."""

    n_train: int | float = 150
    scaling: Literal["all rows", "training rows", "none"] = "all rows"
    test_from: int | None = None
    stratified: bool = False


def draw(trial: Trial, protocol: Protocol) -> Draw:
    """Return the data of a trial; all methods of a dataset and a number see the same order of rows."""
    data = load(STORED.get(trial.dataset, trial.dataset))
    y = (data.signs if data.n_classes == 2 else data.y).astype(np.float64)
    n_train = protocol.n_train
    size = round(n_train * len(y)) if n_train < 1 else int(n_train)
    order = trial.shared_rng("split").permutation(len(y))
    if protocol.stratified:
        order = _balance(order, y, size)
    train, test = order[:size], order[protocol.test_from or size :]
    X = data.X.astype(np.float64)
    if protocol.scaling != "none":
        X = scale_to_unit_range(X, reference=X if protocol.scaling == "all rows" else X[train])
    return Draw(X[train], y[train], X[test], y[test])


def _balance(order: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """Move rows so that the first ``size`` hold the classes in the shares of the whole set."""
    above, below = order[y[order] > 0], order[y[order] < 0]
    n_above = round(size * len(above) / len(y))
    first = np.concatenate([above[:n_above], below[: size - n_above]])
    return np.concatenate([first, above[n_above:], below[size - n_above :]])


def percent(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the share of wrong signs in percent, to four decimals, which keeps the evidence short."""
    return round(percent_wrong(scores > 0, y > 0), 4)


def large_sample(trial: Trial, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows of ijcnn1's official training part, as LIBSVM distributes them."""
    data = load(LARGE_SET)
    train = np.flatnonzero(data.part == 0)
    chosen = trial.shared_rng("rows", dataset=LARGE_SET).permutation(train)[:size]
    return np.ascontiguousarray(data.X[chosen], dtype=np.float64), data.signs[chosen].astype(np.float64)


Solver = Literal["printed", "exact"]
Reweighting = Literal["weights", "resampling"]
Voting = Literal["votes", "mean score"]
Kernel = Literal["linear", "gaussian"]
TreeSize = Literal["stump", "10 splits", "full"]
Scores = Callable[[np.ndarray], np.ndarray]  # of a fitted model

POWERS = {"L1": 1, "L2": 2}
_LIMITS = {"stump": {"max_depth": 1}, "10 splits": {"max_leaf_nodes": 11}, "full": {}}


def fit(
    X: np.ndarray,
    y: np.ndarray,
    lam: float,
    C: int = 1,
    p: int = 2,
    solver: Solver = "exact",
    *,
    weight: np.ndarray | None = None,
    tol: float | None = None,
) -> ExRM:
    """Fit ExRM, PSVM where C is 1; the printed algorithm stops off the optimum, which is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ExRM(C, lam=lam, p=p, solver=solver, tol=tol).fit(X, y, weight)


def held_out_error(
    data: Draw, lam: float, C: int, p: int, solver: Solver = "exact", **options: float
) -> float:
    """Return the test error of an ExRM in percent."""
    model = fit(data.X, data.y, lam, C, p, solver, **options)
    return percent(model.decision_function(data.X_test), data.y_test)


def boost(
    learn: Callable[[np.ndarray], Scores], X: np.ndarray, y: np.ndarray, rounds: int
) -> tuple[list[Scores], np.ndarray]:
    """AdaBoost.M1: the models and their voting weights; ``learn`` takes weights that sum to 1.

    It ends early after a model without weighted error, which gets the weight of an error of 1/(2n), and
    before one that errs on half of the weight or more, unless it is the first.
    """
    n = len(y)
    weight, models, votes = np.full(n, 1.0 / n), [], []
    while len(models) < rounds:
        model = learn(weight)
        wrong = (model(X) > 0) != (y > 0)
        error = float(weight[wrong].sum())
        if error >= 0.5 and models:
            break
        models.append(model)
        clipped = min(max(error, 0.5 / n), 0.5 - 0.5 / n)
        votes.append(0.5 * np.log((1.0 - clipped) / clipped))
        if error <= 1e-12 or error >= 0.5:
            break
        weight = weight * np.where(wrong, 0.5 / error, 0.5 / (1.0 - error))
    return models, np.array(votes)


def boost_machines(
    data: Draw,
    rounds: int,
    rng: np.random.Generator,
    lam: float,
    C: int = 1,
    solver: Solver = "exact",
    reweighting: Reweighting = "weights",
) -> tuple[list[Scores], np.ndarray]:
    """Boost L2-ExRMs of C components, with weights or on samples drawn by them."""

    def learn(weight: np.ndarray) -> Scores:
        share = len(data.y) * weight
        if reweighting == "weights":
            return fit(data.X, data.y, lam, C, 2, solver, weight=np.maximum(share, 1e-10)).decision_function
        rows = _resample(data.y, share, rng)
        return fit(data.X[rows], data.y[rows], lam, C, 2, solver).decision_function

    return boost(learn, data.X, data.y, rounds)


def bag_machines(
    data: Draw, rounds: int, rng: np.random.Generator, lam: float, C: int = 1, solver: Solver = "exact"
) -> tuple[list[Scores], np.ndarray]:
    """Fit L2-ExRMs of C components to bootstrap samples, all with the same vote."""
    uniform = np.ones(len(data.y))
    samples = [_resample(data.y, uniform, rng) for _ in range(rounds)]
    models = [fit(data.X[rows], data.y[rows], lam, C, 2, solver) for rows in samples]
    return [model.decision_function for model in models], np.ones(rounds)


def _resample(y: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw rows by their weights until both classes are there."""
    while True:
        rows = rng.choice(len(y), size=len(y), p=weight / weight.sum())
        if np.ptp(y[rows]) > 0:
            return rows


def boost_trees(
    data: Draw, rounds: int, size: TreeSize, rng: np.random.Generator
) -> tuple[list[Scores], np.ndarray]:
    """Boost classification trees, in the manner of MATLAB's fitensemble."""
    return boost(lambda weight: _grow(data.X, data.y, size, rng, weight), data.X, data.y, rounds)


def bag_trees(
    data: Draw, rounds: int, size: TreeSize, rng: np.random.Generator
) -> tuple[list[Scores], np.ndarray]:
    """Trees of bootstrap samples, all with the same vote."""
    samples = [rng.integers(len(data.y), size=len(data.y)) for _ in range(rounds)]
    return [_grow(data.X[rows], data.y[rows], size, rng) for rows in samples], np.ones(rounds)


def _grow(
    X: np.ndarray, y: np.ndarray, size: TreeSize, rng: np.random.Generator, weight: np.ndarray | None = None
) -> Scores:
    """Grow one tree; the seed decides between equally good splits."""
    tree = DecisionTreeClassifier(**_LIMITS[size], random_state=int(rng.integers(2**31)))
    return tree.fit(X, y, sample_weight=weight).predict


def errors_at(
    models: Sequence[Scores], votes: np.ndarray, data: Draw, sizes: Sequence[int], voting: Voting = "votes"
) -> dict[str, float]:
    """Return error_T for the first T = 1, 5, .. models; an ensemble that ended early stays."""
    outputs = np.column_stack([scores(data.X_test) for scores in models])
    if voting == "votes":
        outputs = np.sign(outputs)
    return {f"error_{T}": percent(outputs[:, :T] @ votes[:T], data.y_test) for T in sizes}


def drm_kernel(kernel: Kernel, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return the kernel with a constant that stands for the intercept; the Gaussian's gamma is 1 / d."""
    if kernel == "linear":
        return linear_kernel(X, Z) + 1.0
    return gaussian_kernel(X, Z, gamma=1.0 / X.shape[1]) + 1.0


def select_nu(
    K: np.ndarray, y: np.ndarray, nus: list[float], n_folds: int, rng: np.random.Generator
) -> float:
    """Choose nu by cross-validation of the single machine, whose direction the optimal ensemble shares.

    Among equals the smallest wins.
    """
    folds = cut_folds(rng.permutation(len(y)), n_folds, y)
    right = [-sum(_held_out_errors(K, y, *fold, nu) for fold in folds) for nu in nus]
    return nus[first_best(right)]


def _held_out_errors(K: np.ndarray, y: np.ndarray, train: np.ndarray, held: np.ndarray, nu: float) -> int:
    coefficients = solve_drm(K[np.ix_(train, train)], y[train], 1, nu=nu).w[:, 0]
    return int(((K[np.ix_(held, train)] @ coefficients > 0) != (y[held] > 0)).sum())


@paper.trials("table1", methods=("L1-ExRM", "L2-ExRM"), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=("L1-ExRM", "L2-ExRM"), datasets=(LIBSVM_SPLICE,))
def exclusivity_machine(trial: Trial, *, protocol: Protocol, lam: float, solver: Solver) -> dict[str, float]:
    """error_C: the solver of the tables; exact_C: the optimum of the same problem."""
    data, p = draw(trial, protocol), POWERS[trial.method[:2]]
    asked = {"error": solver, "exact": "exact"}
    return {f"{name}_{C}": held_out_error(data, lam, C, p, asked[name]) for C in BASES for name in asked}


@paper.trials("table1", methods=("AdaTree",), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=("AdaTree",), datasets=(LIBSVM_SPLICE,))
def boosted_trees(trial: Trial, *, protocol: Protocol, boosted_tree: TreeSize) -> dict[str, float]:
    """Boosted classification trees; one run is read after 1, 5, 10 and 30 rounds."""
    data = draw(trial, protocol)
    return errors_at(*boost_trees(data, BASES[-1], boosted_tree, trial.rng()), data, BASES)


@paper.trials("table1", methods=("BagTree",), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=("BagTree",), datasets=(LIBSVM_SPLICE,))
def bagged_trees(trial: Trial, *, protocol: Protocol) -> dict[str, float]:
    """Bagged classification trees, grown to the end."""
    data = draw(trial, protocol)
    return errors_at(*bag_trees(data, BASES[-1], "full", trial.rng()), data, BASES)


@paper.trials("table1", methods=("AdaSVM",), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=("AdaSVM",), datasets=(LIBSVM_SPLICE,))
def boosted_machines(
    trial: Trial, *, protocol: Protocol, lam: float, reweighting: Reweighting
) -> dict[str, float]:
    """AdaBoost over L2-PSVMs; one run is read after 1, 5, 10 and 30 rounds."""
    data = draw(trial, protocol)
    boosted = boost_machines(data, BASES[-1], trial.rng(), lam, reweighting=reweighting)
    return errors_at(*boosted, data, BASES)


@paper.trials("table1", methods=("BagSVM",), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=("BagSVM",), datasets=(LIBSVM_SPLICE,))
def bagged_machines(trial: Trial, *, protocol: Protocol, lam: float, voting: Voting) -> dict[str, float]:
    """Bagged L2-PSVMs; the first C of 30 are the ensemble of C."""
    data = draw(trial, protocol)
    return errors_at(*bag_machines(data, BASES[-1], trial.rng(), lam), data, BASES, voting)


paper.exhibit("table1_drm", "Test errors of DRM (tables 1 and 3)", metrics=(*ERRORS, "nu"))


@paper.trials("table1_drm", methods=("DRM",), datasets=TABLE_SETS)
def diversity_machine(
    trial: Trial,
    *,
    protocol: Protocol,
    drm_features: Kernel,
    nus: list[float],
    n_folds: int,
    drm_mu: float,
) -> dict[str, float]:
    """DRM; nu by cross-validation on the training part."""
    data = draw(trial, protocol)
    K, K_test = drm_kernel(drm_features, data.X, data.X), drm_kernel(drm_features, data.X_test, data.X)
    nu = select_nu(K, data.y, nus, n_folds, trial.shared_rng("folds"))
    return {"nu": nu, **drm_errors(data, K, K_test, BASES, nu, drm_mu, trial)}


def drm_errors(
    data: Draw, K: np.ndarray, K_test: np.ndarray, sizes: tuple[int, ...], nu: float, mu: float, trial: Trial
) -> dict[str, float]:
    """Return the test error of the mean machine for each number of bases."""
    errors = {}
    for T in sizes:
        solution = solve_drm(K, data.y, T, nu=nu, mu=mu, rng=trial.rng("start"))
        errors[f"error_{T}"] = percent(K_test @ solution.w.mean(axis=1), data.y_test)
    return errors


MACHINES = tuple(f"{p}-{name}" for p in POWERS for name in ("PSVM", "ExRM5", "ExRM10", "ExRM30"))


def components(method: str) -> int:
    """Return the number of components in a method's name; PSVM has one."""
    digits = method.partition("-ExRM")[2]
    return int(digits) if digits else 1


@paper.trials("figure1", methods=MACHINES, datasets=TABLE_SETS)
def errors_against_lambda(
    trial: Trial,
    *,
    train_share: float,
    scaling: Literal["all rows", "training rows"],
    lambdas: list[float],
    solver: Solver,
) -> dict[str, np.ndarray]:
    """Training and test error in percent, and the relative gap, for each lambda."""
    data = draw(trial, Protocol(train_share, scaling))
    C, p = components(trial.method), POWERS[trial.method[:2]]
    rows = []
    for lam in lambdas:
        model = fit(data.X, data.y, lam, C, p, solver)
        train, test = (
            percent(model.decision_function(X), y) for X, y in ((data.X, data.y), (data.X_test, data.y_test))
        )
        gap = model.dual_gap_ / (model.objective_[0] - model.dual_gap_)
        rows.append((train, test, float(f"{gap:.3g}")))
    train, test, gaps = np.array(rows).T
    return {"train_error": train, "error": test, "gap": gaps}


@paper.trials("path", methods=tuple(POWERS), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=tuple(POWERS), datasets=(LIBSVM_SPLICE,))
def errors_against_ratio(trial: Trial, *, protocol: Protocol, ratios: list[float]) -> dict[str, np.ndarray]:
    """Test error of the one machine PSVM(lambda / C) that every exact ExRM is."""
    data = draw(trial, protocol)
    p = POWERS[trial.method]
    return {"error": np.array([held_out_error(data, ratio, 1, p) for ratio in ratios])}


@paper.trials(
    "convergence", methods=tuple(m for m in MACHINES if "ExRM" in m), datasets=(LARGE_SET, *TABLE_SETS)
)
def convergence(
    trial: Trial, *, n_large: int, protocol: Protocol, lam: float, n_shown: int
) -> dict[str, np.ndarray | float]:
    """Run the printed algorithm beyond its stop, and keep the first ``n_shown`` iterations.

    path: objective (6), its lowest value 0 and its highest 1. n_iter: where the printed rule stops. settled:
    the first iteration from which on the path stays within 0.01 of its end. gap: relative, at the printed
    stop.
    """
    if trial.dataset == LARGE_SET:
        X, y = large_sample(trial, n_large)
    else:
        data = draw(trial, protocol)
        X, y = data.X, data.y
    C, p = components(trial.method), POWERS[trial.method[:2]]
    solution = solve_printed_alm(X, y, lam, C, p, tol=0.0, max_iter=n_shown)
    changes = np.abs(np.diff(solution.split_path)) < 0.05
    n_iter = int(np.argmax(changes)) + 2 if changes.any() else n_shown
    low, high = solution.split_path.min(), solution.split_path.max()
    path = (solution.split_path - low) / (high - low)
    apart = np.flatnonzero(np.abs(path - path[-1]) > 0.01)
    optimum = solution.objective - solution.gap
    return {
        "path": np.round(path, 5),
        "n_iter": n_iter,
        "settled": int(apart[-1]) + 2 if len(apart) else 1,
        "gap": float(f"{solution.objective_path[n_iter - 1] / optimum - 1.0:.5g}"),
    }


# Name -> (scaling, solver, further options of the solver).
READINGS = {
    "as chosen": ("all rows", "printed", {}),
    "scaled by the training rows": ("training rows", "printed", {}),
    "stop at 5e-4": ("all rows", "printed", {"tol": 5e-4}),
    "stop at 0.5": ("all rows", "printed", {"tol": 0.5}),
    "exact": ("all rows", "exact", {}),
}


@paper.trials("readings", methods=tuple(READINGS), datasets=TABLE_SETS)
def other_readings(trial: Trial, *, n_train: int, lam: float) -> dict[str, float]:
    """Test errors of ExRM under another reading."""
    scaling, solver, options = READINGS[trial.method]
    data = draw(trial, Protocol(n_train, scaling))
    return {
        f"{name}_{C}": held_out_error(data, lam, C, POWERS[name], solver, **options)
        for name, C in (("L1", 10), ("L2", 10), ("L2", 30))
    }


BOOSTS: dict[str, tuple[Reweighting, Solver]] = {
    "AdaSVM, weights": ("weights", "exact"),
    "AdaSVM, resampling": ("resampling", "exact"),
    "AdaSVM, weights, printed solver": ("weights", "printed"),
}
BAGS: dict[str, tuple[Voting, Solver]] = {
    "BagSVM, votes": ("votes", "exact"),
    "BagSVM, mean score": ("mean score", "exact"),
    "BagSVM, votes, printed solver": ("votes", "printed"),
}


@paper.trials("bases", methods=(*BOOSTS, *BAGS), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=(*BOOSTS, *BAGS), datasets=(LIBSVM_SPLICE,))
def other_bases(trial: Trial, *, protocol: Protocol, lam: float) -> dict[str, float]:
    """Test errors of boosted or bagged PSVMs, by another way to reweight, to vote or to solve."""
    data = draw(trial, protocol)
    rng, most, voting = trial.shared_rng("sampling"), BASES[-1], "votes"
    if trial.method in BOOSTS:
        reweighting, solver = BOOSTS[trial.method]
        models = boost_machines(data, most, rng, lam, solver=solver, reweighting=reweighting)
    else:
        voting, solver = BAGS[trial.method]
        models = bag_machines(data, most, rng, lam, solver=solver)
    return errors_at(*models, data, BASES[1:], voting)


# Name -> (kernel, nu or None for cross-validation).
SETTINGS: dict[str, tuple[Kernel, float | None]] = {
    "linear, nu chosen": ("linear", None),
    "linear, nu = 0.5": ("linear", 0.5),
    "gaussian, nu chosen": ("gaussian", None),
    "gaussian, nu = 0.5": ("gaussian", 0.5),
}


@paper.trials("drm", methods=tuple(SETTINGS), datasets=TABLE_SETS)
def other_settings(
    trial: Trial, *, protocol: Protocol, nus: list[float], n_folds: int, drm_mu: float
) -> dict[str, float]:
    """Test errors of DRM with another kernel or nu."""
    kernel, nu = SETTINGS[trial.method]
    data = draw(trial, protocol)
    K, K_test = drm_kernel(kernel, data.X, data.X), drm_kernel(kernel, data.X_test, data.X)
    if nu is None:
        nu = select_nu(K, data.y, nus, n_folds, trial.shared_rng("folds"))
    return drm_errors(data, K, K_test, (1, 10), nu, drm_mu, trial)


READ_MACHINES = tuple((p, C) for p in POWERS for C in (1, 10))
EXRM_ERRORS = tuple(f"{p}_{C}" for p, C in READ_MACHINES)

paper.exhibit("halves", "Sonar in halves (figure 1) and in 150 rows (table 1)", metrics=EXRM_ERRORS)
paper.exhibit(
    "means", "What moves the means of table 3", metrics=(*EXRM_ERRORS, "AdaSVM_10", "BagSVM_10", "rows")
)


@dataclass(frozen=True)
class Reading:
    """A protocol with its solver and the factor of lambda."""

    protocol: Protocol = field(default_factory=Protocol)
    solver: Solver = "printed"
    factor: float = 1.0


HALF = Protocol(0.5)
HALVES = {
    "halves": Reading(HALF),
    "104 rows, test of 150": Reading(Protocol(0.5, test_from=150)),
    "150 rows": Reading(),
    "halves, stratified": Reading(Protocol(0.5, stratified=True)),
    "halves, training range": Reading(Protocol(0.5, scaling="training rows")),
    "halves, unscaled": Reading(Protocol(0.5, scaling="none")),
    "halves, mean loss": Reading(HALF, factor=1.0 / 104),
    "halves, exact": Reading(HALF, "exact"),
    "150 rows, exact": Reading(solver="exact"),
}


@paper.trials("halves", methods=tuple(HALVES), datasets=("sonar",))
def halves(trial: Trial, *, reading_lambdas: list[float]) -> dict[str, np.ndarray]:
    """Test errors for a few lambdas."""
    reading = HALVES[trial.method]
    data = draw(trial, reading.protocol)
    errors = {}
    for p, C in READ_MACHINES:
        chosen = C, POWERS[p], reading.solver
        found = [held_out_error(data, lam * reading.factor, *chosen) for lam in reading_lambdas]
        errors[f"{p}_{C}"] = np.array(found)
    return errors


MEANS = {
    "as chosen": Reading(),
    "50 rows": Reading(Protocol(50)),
    "75 rows": Reading(Protocol(75)),
    "100 rows": Reading(Protocol(100)),
    "halves": Reading(HALF),
    "stratified": Reading(Protocol(stratified=True)),
    "training range": Reading(Protocol(scaling="training rows")),
    "unscaled": Reading(Protocol(scaling="none")),
    "lambda = 0.5": Reading(factor=0.25),
    "lambda = 8": Reading(factor=4.0),
    "exact": Reading(solver="exact"),
}


@paper.trials("means", methods=tuple(MEANS), datasets=TABLE_SETS)
@paper.trials("libsvm", methods=tuple(MEANS), datasets=(LIBSVM_SPLICE,))
def means(trial: Trial, *, lam: float) -> dict[str, float]:
    """Test errors of table 3's machines with one and ten bases; rows: the size of the training part."""
    reading = MEANS[trial.method]
    data, rng = draw(trial, reading.protocol), trial.shared_rng("sampling")
    lam *= reading.factor
    errors = {"rows": len(data.y)}
    for p, C in READ_MACHINES:
        errors[f"{p}_{C}"] = held_out_error(data, lam, C, POWERS[p], reading.solver)
    for name, models in (("AdaSVM", boost_machines), ("BagSVM", bag_machines)):
        errors[f"{name}_10"] = errors_at(*models(data, 10, rng, lam), data, (10,))["error_10"]
    return errors


SIZES = (10, 30)
# Name -> nu, or None for cross-validation; LIBSVM's default is 0.5.
PLAIN: dict[str, float | None] = {"nu = 0.5": 0.5, "nu chosen": None}


@paper.trials("drm_plain", methods=tuple(PLAIN), datasets=(*TABLE_SETS, LIBSVM_SPLICE))
def without_intercept(
    trial: Trial, *, protocol: Protocol, nus: list[float], n_folds: int, drm_mu: float
) -> dict[str, float]:
    """DRM of linear machines through the origin, as its program is written down."""
    data = draw(trial, protocol)
    return plain_drm(data, PLAIN[trial.method], nus, n_folds, drm_mu, BASES, trial)


def plain_drm(
    data: Draw,
    nu: float | None,
    nus: list[float],
    n_folds: int,
    mu: float,
    sizes: tuple[int, ...],
    trial: Trial,
) -> dict[str, float]:
    """Return nu and the test errors of DRM without an intercept."""
    K, K_test = linear_kernel(data.X, data.X), linear_kernel(data.X_test, data.X)
    if nu is None:
        nu = select_nu(K, data.y, nus, n_folds, trial.shared_rng("folds"))
    return {"nu": nu, **drm_errors(data, K, K_test, sizes, nu, mu, trial)}


@paper.trials("large", methods=("L1-ExRM", "L2-ExRM", "AdaTree", "BagTree", "DRM"), datasets=(LARGE_SET,))
def few_of_many(
    trial: Trial,
    *,
    n_train: int,
    n_test: int,
    lam: float,
    solver: Solver,
    boosted_tree: TreeSize,
    nus: list[float],
    n_folds: int,
    drm_mu: float,
) -> dict[str, float]:
    """Table 1's machines on 150 random rows of ijcnn1, with 10 and 30 bases; DRM without an intercept."""
    X, y = large_sample(trial, n_train + n_test)
    data = Draw(X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    if trial.method == "DRM":
        found = plain_drm(data, None, nus, n_folds, drm_mu, SIZES, trial)
        return {f"error_{T}": found[f"error_{T}"] for T in SIZES}
    if trial.method == "AdaTree":
        return errors_at(*boost_trees(data, SIZES[-1], boosted_tree, trial.rng()), data, SIZES)
    if trial.method == "BagTree":
        return errors_at(*bag_trees(data, SIZES[-1], "full", trial.rng()), data, SIZES)
    p = POWERS[trial.method[:2]]
    return {f"error_{C}": held_out_error(data, lam, C, p, solver) for C in SIZES}


def shuffle_labels(data: Draw, rng: np.random.Generator) -> Draw:
    """Detach the training labels from their rows."""
    return replace(data, y=rng.permutation(data.y))


def sort_labels(data: Draw, rng: np.random.Generator) -> Draw:
    """Sort the training labels by class while the rows stay in their order."""
    return replace(data, y=np.sort(data.y))


def flip_some(data: Draw, rng: np.random.Generator) -> Draw:
    """Flip the sign of 40 % of the training labels."""
    chosen = rng.random(len(data.y)) < 0.4
    return replace(data, y=np.where(chosen, -data.y, data.y))


def shift_columns(data: Draw, rng: np.random.Generator) -> Draw:
    """Move the test columns by one place, as when one of the two files holds the label first."""
    return replace(data, X_test=np.roll(data.X_test, 1, axis=1))


def label_as_feature(data: Draw, rng: np.random.Generator) -> Draw:
    """Train with the label as a feature, which is 0 in the test."""
    return replace(
        data,
        X=np.column_stack([data.y, data.X]),
        X_test=np.column_stack([np.zeros(len(data.y_test)), data.X_test]),
    )


def few_rows(data: Draw, rng: np.random.Generator) -> Draw:
    """Train on the first 15 of the 150 rows, with both classes among them."""
    rows = np.arange(15)
    rows[:2] = np.argmax(data.y > 0), np.argmax(data.y < 0)
    return replace(data, X=data.X[rows], y=data.y[rows])


# Name -> what happens to the draw.
MISHAPS: dict[str, Callable[[Draw, np.random.Generator], Draw]] = {
    "labels shuffled": shuffle_labels,
    "labels sorted": sort_labels,
    "40 % of labels flipped": flip_some,
    "test columns moved by one": shift_columns,
    "label as a feature": label_as_feature,
    "15 training rows": few_rows,
}
SIZES_OF_TREES: dict[str, TreeSize] = {"stumps": "stump", "10 splits": "10 splits", "full trees": "full"}


@paper.trials("trees", methods=tuple(SIZES_OF_TREES), datasets=TABLE_SETS)
def size_of_trees(trial: Trial, *, protocol: Protocol) -> dict[str, float]:
    """Boosted and bagged trees of one size."""
    size = SIZES_OF_TREES[trial.method]
    return _both_ensembles(draw(trial, protocol), trial, size, size)


@paper.trials("trees", methods=("raw test features", "first rows", *MISHAPS), datasets=TABLE_SETS)
def mishaps(trial: Trial, *, protocol: Protocol, boosted_tree: TreeSize) -> dict[str, float]:
    """Train or test on something else than the draw says."""
    data = draw(trial, protocol)
    if trial.method == "raw test features":
        data = _raw_test(data, trial, protocol.n_train)
    elif trial.method == "first rows":
        data = _first_rows(protocol.n_train, trial)
    else:
        data = MISHAPS[trial.method](data, trial.shared_rng("mishap"))
    return _both_ensembles(data, trial, boosted_tree, "full")


def _both_ensembles(data: Draw, trial: Trial, boosted: TreeSize, bagged: TreeSize) -> dict[str, float]:
    """Return the test errors of AdaTree and BagTree with 10 and 30 trees."""
    found = {}
    for name, make, size in (("Ada", boost_trees, boosted), ("Bag", bag_trees, bagged)):
        errors = errors_at(*make(data, SIZES[-1], size, trial.rng(name)), data, SIZES)
        found |= {f"{name}_{T}": errors[f"error_{T}"] for T in SIZES}
    return found


def _raw_test(data: Draw, trial: Trial, n_train: int) -> Draw:
    """Train on scaled features and test on those of the original file."""
    stored = load(STORED.get(trial.dataset, trial.dataset))
    order = trial.shared_rng("split").permutation(stored.n_samples)
    return replace(data, X_test=stored.X[order[n_train:]])


def _first_rows(n_train: int, trial: Trial) -> Draw:
    """Train on a random half of the first rows of the file, up to 150, and test on the rest of the file."""
    stored = load(STORED.get(trial.dataset, trial.dataset))
    y = stored.signs.astype(np.float64)
    size = max(n_train, int(np.argmax(y != y[0])) + 10)  # a sorted file: a few rows of the second class
    order = trial.shared_rng("split").permutation(size)
    train = np.sort(order)[-n_train:]
    test = np.setdiff1d(np.arange(len(y)), train)
    return Draw(stored.X[train], y[train], stored.X[test], y[test])


WRAPPED = tuple(f"{way}{base}" for base in ("PSVM", "ExRM10") for way in ("", "Bag-", "Ada-"))


@paper.trials("wrapped", methods=WRAPPED, datasets=TABLE_SETS)
def wrapped(trial: Trial, *, protocol: Protocol, lam: float, n_rounds: int) -> dict[str, float]:
    """L2-ExRM as base learner of bagging and boosting, which the paper's last section proposes."""
    data = draw(trial, protocol)
    way, base = trial.method.rpartition("-")[::2]
    C, rng = 1 if base == "PSVM" else 10, trial.shared_rng("sampling")
    if not way:
        return {"error": held_out_error(data, lam, C, 2)}
    ensemble = boost_machines if way == "Ada" else bag_machines
    found = errors_at(*ensemble(data, n_rounds, rng, lam, C), data, (n_rounds,))
    return {"error": found[f"error_{n_rounds}"]}


@paper.trials("modern", methods=tuple(f"{p}-PSVM, lambda chosen" for p in POWERS), datasets=TABLE_SETS)
def chosen_lambda(trial: Trial, *, protocol: Protocol, ratios: list[float], n_folds: int) -> dict[str, float]:
    """One machine, its lambda by stratified cross-validation on the training part; ties to the smallest."""
    data = draw(trial, protocol)
    p = POWERS[trial.method[:2]]
    wrong = np.zeros(len(ratios))
    for rows in cut_folds(trial.shared_rng("folds").permutation(len(data.y)), n_folds, data.y):
        fold = data.part(*rows)
        for i, ratio in enumerate(ratios):
            scores = fit(fold.X, fold.y, ratio, 1, p).decision_function(fold.X_test)
            wrong[i] += ((scores > 0) != (fold.y_test > 0)).sum()
    return {"error": held_out_error(data, ratios[first_best(-wrong)], 1, p)}


TREES = ("RandomForest", "HistGradientBoosting")


@paper.trials("modern", methods=(*TREES, "SVC"), datasets=TABLE_SETS)
def today(trial: Trial, *, protocol: Protocol) -> dict[str, float]:
    """What scikit-learn gives with the defaults of today."""
    data = draw(trial, protocol)
    model = _model(trial.method, trial.seed()).fit(data.X, data.y)
    return {"error": percent(model.predict(data.X_test), data.y_test)}


def _model(name: str, seed: int) -> ClassifierMixin:
    made = {
        "RandomForest": lambda: RandomForestClassifier(random_state=seed),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=seed),
        "SVC": lambda: SVC(),
        "LinearSVC": lambda: LinearSVC(random_state=seed, max_iter=100_000),
        "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    }
    return made[name]()


@paper.trials(
    "multiclass",
    methods=("L1-ExRM10", "L2-ExRM10", "LinearSVC", "LogisticRegression", "RandomForest"),
    datasets=MULTICLASS_SETS,
)
def more_classes(
    trial: Trial, *, train_share: float, scaling: Literal["all rows", "training rows"], lam: float
) -> dict[str, float]:
    """One ensemble a class against the rest, beside linear machines and a forest of scikit-learn."""
    data = draw(trial, Protocol(train_share, scaling))
    if "ExRM" in trial.method:
        model = ExRM(10, lam=lam, p=POWERS[trial.method[:2]])
    else:
        model = _model(trial.method, trial.seed())
    predicted = model.fit(data.X, data.y).predict(data.X_test)
    return {"error": round(percent_wrong(predicted, data.y_test), 4)}
