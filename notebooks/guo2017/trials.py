"""Labels of the datasets of guo2017."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from kernsemble.data.scaling import scale_to_unit_range
from kernsemble.data.store import load
from kernsemble.estimators.exrm import ExRM
from kernsemble.kernels import gaussian_kernel, linear_kernel
from kernsemble.masters.drm import solve_drm
from kernsemble.masters.exclusivity import ExclusivitySolution, solve_exclusivity
from kernsemble.masters.exclusivity_alm import solve_printed_alm
from kernsemble.masters.psvm import solve_psvm
from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

# sets
TABLE_SETS = ("german", "diabetes", "australian", "sonar", "splice", "liver", "heart", "ionosphere")
STORED = {"german": "german24", "diabetes": "pima"}
LARGE_SET = "ijcnn1"
# Sizes of training sets of the last panel of figure 1; the last is all of it.
SIZE_SETS = tuple(f"n={n}" for n in (2500, 5000, 10000, 20000, 49990))
MULTICLASS_SETS = ("wine", "iris", "glass", "vehicle")


# plan
paper = Paper(
    "guo2017",
    title="Exclusivity Regularized Machine: A New Ensemble SVM Classifier",
    datasets={
        **{name: STORED.get(name, name) for name in TABLE_SETS},
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
paper.exhibit(
    "solvers",
    "Four ways to solve problem (5)",
    metrics=("gap",),
    timing=("fit_seconds",),
    tolerance={"gap": 1e-5},
    alone=True,
)
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
paper.exhibit("modern", "The single machine with lambda by cross-validation, and trees", metrics=("error",))


# draws
Scaling = Literal["all rows", "training rows"]


@dataclass(frozen=True)
class Draw:
    """Training and test part; labels are -1.0 and +1.0, or class codes where there are more than two."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, scores: np.ndarray) -> float:
        """Return the test error in percent; a score of exactly 0 counts as -1."""
        return error_percent(scores, self.y_test)


def error_percent(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the share of wrong signs in percent, to four decimals, which keeps the evidence short."""
    return round(100.0 * float(np.mean((scores > 0) != (y > 0))), 4)


def draw(trial: Trial, n_train: int | float, scaling: Scaling) -> Draw:
    """Return the data of a trial; all methods of a dataset and a number see the same.

    ``n_train`` is a number of rows, or their share when below 1.
    """
    data = load(STORED.get(trial.dataset, trial.dataset))
    labels = data.signs if data.n_classes == 2 else data.y
    size = round(n_train * data.n_samples) if n_train < 1 else int(n_train)
    order = trial.shared_rng("split").permutation(data.n_samples)
    train, test = np.split(order, [size])
    X = scale_to_unit_range(data.X, reference=data.X if scaling == "all rows" else data.X[train])
    y = labels.astype(np.float64)
    return Draw(X[train], y[train], X[test], y[test])


def large_sample(trial: Trial, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random rows of ijcnn1's official training part, as LIBSVM distributes them."""
    data = load(LARGE_SET)
    train = np.flatnonzero(data.part == 0)
    chosen = trial.shared_rng("rows", dataset=LARGE_SET).permutation(train)[:size]
    return np.ascontiguousarray(data.X[chosen], dtype=np.float64), data.signs[chosen].astype(np.float64)


# machines
Solver = Literal["printed", "exact"]
Reweighting = Literal["weights", "resampling"]
Voting = Literal["votes", "mean score"]
Kernel = Literal["linear", "gaussian"]
# Fits a linear machine to samples, labels and positive weights: (w, b).
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, float]]

POWERS = {"L1": 1, "L2": 2}


def solve_exrm(
    X: np.ndarray, y: np.ndarray, lam: float, C: int, p: int, solver: Solver, **options: float
) -> ExclusivitySolution:
    """Solve problem (5) as the paper does, or exactly."""
    solve = solve_printed_alm if solver == "printed" else solve_exclusivity
    return solve(X, y, lam, C, p, **options)


def ensemble_scores(solution: ExclusivitySolution, X: np.ndarray) -> np.ndarray:
    """Return the scores of the averaged machine (the output of Algorithm 2)."""
    return X @ solution.w.mean(axis=1) + solution.b.mean()


def exrm_fit(lam: float, C: int, p: int, solver: Solver = "exact") -> Fit:
    """Return a function that fits an ExRM with sample weights."""

    def fit(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
        solution = solve_exrm(X, y, lam, C, p, solver, sample_weight=weight)
        return solution.w.mean(axis=1), float(solution.b.mean())

    return fit


def psvm_fit(lam: float, p: int) -> Fit:
    """Return a function that fits one machine exactly."""

    def fit(X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
        solution = solve_psvm(X, y, lam, p, sample_weight=weight)
        return solution.w, solution.b

    return fit


def boost_linear(
    fit: Fit,
    X: np.ndarray,
    y: np.ndarray,
    rounds: int,
    rng: np.random.Generator,
    reweighting: Reweighting = "weights",
) -> tuple[list[tuple[np.ndarray, float]], np.ndarray]:
    """AdaBoost.M1 over linear machines: the machines and their voting weights.

    It ends early when a machine makes no error on the weighted sample (it then gets the weight of an error
    of 1/(2n)) or errs on half of it or more (it is then left out, unless it is the first).
    """
    n = len(y)
    weight, machines, votes = np.full(n, 1.0 / n), [], []
    while len(machines) < rounds:
        machine = _fit_weighted(fit, X, y, n * weight, rng, reweighting)
        wrong = (X @ machine[0] + machine[1] > 0) != (y > 0)
        error = float(weight[wrong].sum())
        if error >= 0.5 and machines:
            break
        machines.append(machine)
        clipped = min(max(error, 0.5 / n), 0.5 - 0.5 / n)
        votes.append(0.5 * np.log((1.0 - clipped) / clipped))
        if error == 0.0 or error >= 0.5:
            break
        weight = weight * np.where(wrong, 0.5 / error, 0.5 / (1.0 - error))
    return machines, np.array(votes)


def _fit_weighted(
    fit: Fit, X: np.ndarray, y: np.ndarray, weight: np.ndarray, rng: np.random.Generator, how: Reweighting
) -> tuple[np.ndarray, float]:
    """Fit with the weights, or to a sample of the same size drawn by them."""
    if how == "weights":
        return fit(X, y, np.maximum(weight, 1e-10))
    rows = rng.choice(len(y), size=len(y), p=weight / weight.sum())
    while np.ptp(y[rows]) == 0:
        rows = rng.choice(len(y), size=len(y), p=weight / weight.sum())
    return fit(X[rows], y[rows], np.ones(len(y)))


def bag_linear(
    fit: Fit, X: np.ndarray, y: np.ndarray, rounds: int, rng: np.random.Generator
) -> list[tuple[np.ndarray, float]]:
    """Fit one machine to each of several bootstrap samples."""
    uniform = np.ones(len(y))
    return [_fit_weighted(fit, X, y, uniform, rng, "resampling") for _ in range(rounds)]


def vote(
    machines: list[tuple[np.ndarray, float]], votes: np.ndarray, X: np.ndarray, voting: Voting = "votes"
) -> np.ndarray:
    """Return the weighted sum of the machines' signs, or of their scores."""
    scores = np.column_stack([X @ w + b for w, b in machines])
    return (np.sign(scores) if voting == "votes" else scores) @ votes


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
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), dtype=np.intp)
    fold[order] = np.arange(len(y)) % n_folds
    wrong = [sum(_held_out_errors(K, y, fold == k, nu) for k in range(n_folds)) for nu in nus]
    return nus[int(np.argmin(wrong))]


def _held_out_errors(K: np.ndarray, y: np.ndarray, held: np.ndarray, nu: float) -> int:
    inner = K[np.ix_(~held, ~held)]
    coefficients = solve_drm(inner, y[~held], 1, nu=nu).w[:, 0]
    return int(((K[np.ix_(held, ~held)] @ coefficients > 0) != (y[held] > 0)).sum())


# trees
TreeSize = Literal["stump", "10 splits", "full"]
Trees = list[DecisionTreeClassifier]

_LIMITS: Mapping[str, dict[str, int]] = {
    "stump": {"max_depth": 1},
    "10 splits": {"max_leaf_nodes": 11},
    "full": {},
}


def boost_trees(
    X: np.ndarray, y: np.ndarray, rounds: int, size: TreeSize, rng: np.random.Generator
) -> tuple[Trees, np.ndarray]:
    """AdaBoost.M1: the trees and their voting weights.

    It ends early after a tree without weighted error, which gets the weight of an error of 1/(2n), and
    before one that errs on half of the weight or more, unless it is the first.
    """
    n = len(y)
    weight, trees, votes = np.full(n, 1.0 / n), [], []
    while len(trees) < rounds:
        tree = _grow(X, y, size, rng, weight)
        wrong = tree.predict(X) != y
        error = float(weight[wrong].sum())
        if error >= 0.5 and trees:
            break
        trees.append(tree)
        clipped = min(max(error, 0.5 / n), 0.5 - 0.5 / n)
        votes.append(0.5 * np.log((1.0 - clipped) / clipped))
        if error <= 1e-12 or error >= 0.5:
            break
        weight = weight * np.where(wrong, 0.5 / error, 0.5 / (1.0 - error))
    return trees, np.array(votes)


def bag_trees(
    X: np.ndarray, y: np.ndarray, rounds: int, size: TreeSize, rng: np.random.Generator
) -> tuple[Trees, np.ndarray]:
    """Trees of bootstrap samples, all with the same vote."""
    samples = [rng.integers(len(y), size=len(y)) for _ in range(rounds)]
    return [_grow(X[rows], y[rows], size, rng) for rows in samples], np.ones(rounds)


def _grow(
    X: np.ndarray, y: np.ndarray, size: TreeSize, rng: np.random.Generator, weight: np.ndarray | None = None
) -> DecisionTreeClassifier:
    """Grow one tree; the seed decides between equally good splits."""
    tree = DecisionTreeClassifier(**_LIMITS[size], random_state=int(rng.integers(2**31)))
    return tree.fit(X, y, sample_weight=weight)


def errors_by_size(trees: Trees, votes: np.ndarray, data: Draw, sizes: Sequence[int]) -> dict[int, float]:
    """Return the test error in percent of the first 1, 5, .. trees; an ensemble that ended early stays."""
    outputs = np.column_stack([tree.predict(data.X_test) for tree in trees])
    return {T: data.error(outputs[:, :T] @ votes[:T]) for T in sizes}


def tree_errors(
    method: str, data: Draw, sizes: Sequence[int], tree_size: TreeSize, rng: np.random.Generator
) -> dict[int, float]:
    """Train the largest AdaTree or BagTree and read the smaller ones off it; bagged trees vote."""
    make = boost_trees if method == "AdaTree" else bag_trees
    return errors_by_size(*make(data.X, data.y, max(sizes), tree_size, rng), data, sizes)


# tables
@paper.trials("table1", methods=("L1-ExRM", "L2-ExRM"), datasets=TABLE_SETS)
def exclusivity_machine(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, solver: Solver
) -> dict[str, float]:
    """error_C: the solver of the tables; exact_C: the optimum of the same problem."""
    data = draw(trial, n_train, scaling)
    p = POWERS[trial.method[:2]]
    result = {}
    for C in BASES:
        for name, chosen in (("error", solver), ("exact", "exact")):
            solution = solve_exrm(data.X, data.y, lam, C, p, chosen)
            result[f"{name}_{C}"] = data.error(ensemble_scores(solution, data.X_test))
    return result


@paper.trials("table1", methods=("AdaTree",), datasets=TABLE_SETS)
def boosted_trees(
    trial: Trial, *, n_train: int, scaling: Scaling, boosted_tree: TreeSize
) -> dict[str, float]:
    """Boosted classification trees; one run is read after 1, 5, 10 and 30 rounds."""
    data = draw(trial, n_train, scaling)
    errors = tree_errors("AdaTree", data, BASES, boosted_tree, trial.rng())
    return {f"error_{T}": error for T, error in errors.items()}


@paper.trials("table1", methods=("BagTree",), datasets=TABLE_SETS)
def bagged_trees(trial: Trial, *, n_train: int, scaling: Scaling) -> dict[str, float]:
    """Bagged classification trees, grown to the end."""
    data = draw(trial, n_train, scaling)
    errors = tree_errors("BagTree", data, BASES, "full", trial.rng())
    return {f"error_{T}": error for T, error in errors.items()}


@paper.trials("table1", methods=("AdaSVM",), datasets=TABLE_SETS)
def boosted_machines(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, reweighting: Reweighting
) -> dict[str, float]:
    """AdaBoost over L2-PSVMs; one run is read after 1, 5, 10 and 30 rounds."""
    data = draw(trial, n_train, scaling)
    machines, votes = boost_linear(psvm_fit(lam, 2), data.X, data.y, BASES[-1], trial.rng(), reweighting)
    return {f"error_{C}": data.error(vote(machines[:C], votes[:C], data.X_test)) for C in BASES}


@paper.trials("table1", methods=("BagSVM",), datasets=TABLE_SETS)
def bagged_machines(
    trial: Trial, *, n_train: int, scaling: Scaling, lam: float, voting: Voting
) -> dict[str, float]:
    """Bagged L2-PSVMs; the first C of 30 are the ensemble of C."""
    data = draw(trial, n_train, scaling)
    machines = bag_linear(psvm_fit(lam, 2), data.X, data.y, BASES[-1], trial.rng())
    return {f"error_{C}": data.error(vote(machines[:C], np.ones(C), data.X_test, voting)) for C in BASES}


# drm_table
paper.exhibit("table1_drm", "Test errors of DRM (tables 1 and 3)", metrics=(*ERRORS, "nu"))


@paper.trials("table1_drm", methods=("DRM",), datasets=TABLE_SETS)
def diversity_machine(
    trial: Trial,
    *,
    n_train: int,
    scaling: Scaling,
    drm_features: Kernel,
    nus: list[float],
    n_folds: int,
    drm_mu: float,
) -> dict[str, float]:
    """DRM; nu by cross-validation on the training part."""
    data = draw(trial, n_train, scaling)
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
        errors[f"error_{T}"] = data.error(K_test @ solution.w.mean(axis=1))
    return errors


# curves
MACHINES = tuple(f"{p}-{name}" for p in POWERS for name in ("PSVM", "ExRM5", "ExRM10", "ExRM30"))


def components(method: str) -> int:
    """Return the number of components in a method's name; PSVM has one."""
    digits = method.partition("-ExRM")[2]
    return int(digits) if digits else 1


@paper.trials("figure1", methods=MACHINES, datasets=TABLE_SETS)
def errors_against_lambda(
    trial: Trial, *, train_share: float, scaling: Scaling, lambdas: list[float], solver: Solver
) -> dict[str, np.ndarray]:
    """Training and test error in percent, and the relative gap, for each lambda."""
    data = draw(trial, train_share, scaling)
    rows = []
    for lam in lambdas:
        solution = solve_exrm(data.X, data.y, lam, components(trial.method), POWERS[trial.method[:2]], solver)
        train = error_percent(ensemble_scores(solution, data.X), data.y)
        gap = solution.gap / (solution.objective - solution.gap)
        rows.append((train, data.error(ensemble_scores(solution, data.X_test)), float(f"{gap:.3g}")))
    train, test, gaps = np.array(rows).T
    return {"train_error": train, "error": test, "gap": gaps}


@paper.trials("path", methods=tuple(POWERS), datasets=TABLE_SETS)
def errors_against_ratio(
    trial: Trial, *, n_train: int, scaling: Scaling, ratios: list[float]
) -> dict[str, np.ndarray]:
    """Test error of the one machine PSVM(lambda / C) that every exact ExRM is."""
    data = draw(trial, n_train, scaling)
    machines = [solve_psvm(data.X, data.y, ratio, POWERS[trial.method]) for ratio in ratios]
    return {"error": np.array([data.error(data.X_test @ m.w + m.b) for m in machines])}


@paper.trials(
    "convergence", methods=tuple(m for m in MACHINES if "ExRM" in m), datasets=(LARGE_SET, *TABLE_SETS)
)
def convergence(
    trial: Trial, *, n_large: int, n_train: int, scaling: Scaling, lam: float, n_shown: int
) -> dict[str, np.ndarray | float]:
    """Run the printed algorithm beyond its stop, and keep the first ``n_shown`` iterations.

    path: objective (6), its lowest value 0 and its highest 1. n_iter: where the printed rule stops. settled:
    the first iteration from which on the path stays within 0.01 of its end. gap: relative, at the printed
    stop.
    """
    if trial.dataset == LARGE_SET:
        X, y = large_sample(trial, n_large)
    else:
        data = draw(trial, n_train, scaling)
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


# readings
# Name -> (scaling, solver, further options of the solver).
READINGS: dict[str, tuple[Scaling, Solver, dict[str, float]]] = {
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
    data = draw(trial, n_train, scaling)
    result = {}
    for name, C in (("L1", 10), ("L2", 10), ("L2", 30)):
        solution = solve_exrm(data.X, data.y, lam, C, POWERS[name], solver, **options)
        result[f"{name}_{C}"] = data.error(ensemble_scores(solution, data.X_test))
    return result


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
def other_bases(trial: Trial, *, n_train: int, scaling: Scaling, lam: float) -> dict[str, float]:
    """Test errors of boosted or bagged PSVMs, by another way to reweight, to vote or to solve."""
    data = draw(trial, n_train, scaling)
    rng, most, voting = trial.shared_rng("sampling"), BASES[-1], "votes"
    if trial.method in BOOSTS:
        reweighting, solver = BOOSTS[trial.method]
        machines, votes = boost_linear(_base(lam, solver), data.X, data.y, most, rng, reweighting)
    else:
        voting, solver = BAGS[trial.method]
        machines = bag_linear(_base(lam, solver), data.X, data.y, most, rng)
        votes = np.ones(most)
    return {f"error_{C}": data.error(vote(machines[:C], votes[:C], data.X_test, voting)) for C in BASES[1:]}


def _base(lam: float, solver: Solver):
    return psvm_fit(lam, 2) if solver == "exact" else exrm_fit(lam, 1, 2, "printed")


# Name -> (kernel, nu or None for cross-validation).
SETTINGS: dict[str, tuple[Kernel, float | None]] = {
    "linear, nu chosen": ("linear", None),
    "linear, nu = 0.5": ("linear", 0.5),
    "gaussian, nu chosen": ("gaussian", None),
    "gaussian, nu = 0.5": ("gaussian", 0.5),
}


@paper.trials("drm", methods=tuple(SETTINGS), datasets=TABLE_SETS)
def other_settings(
    trial: Trial, *, n_train: int, scaling: Scaling, nus: list[float], n_folds: int, drm_mu: float
) -> dict[str, float]:
    """Test errors of DRM with another kernel or nu."""
    kernel, nu = SETTINGS[trial.method]
    data = draw(trial, n_train, scaling)
    K, K_test = drm_kernel(kernel, data.X, data.X), drm_kernel(kernel, data.X_test, data.X)
    if nu is None:
        nu = select_nu(K, data.y, nus, n_folds, trial.shared_rng("folds"))
    return drm_errors(data, K, K_test, (1, 10), nu, drm_mu, trial)


# other_draws
@dataclass(frozen=True)
class DrawProtocol:
    """How rows are drawn: ``train`` rows (a share below 1); tested from ``test_from`` or after them."""

    train: float = 150
    test_from: int | None = None
    scaling: Literal["all rows", "training rows", "none"] = "all rows"
    stratified: bool = False


def draw_by(trial: Trial, protocol: DrawProtocol) -> Draw:
    """Return the data of a trial; the random order is that of `draws.draw`."""
    data = load(STORED.get(trial.dataset, trial.dataset))
    y = data.signs.astype(np.float64)
    size = round(protocol.train * len(y)) if protocol.train < 1 else int(protocol.train)
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


# protocols
READ_MACHINES = tuple((p, C) for p in POWERS for C in (1, 10))
EXRM_ERRORS = tuple(f"{p}_{C}" for p, C in READ_MACHINES)

paper.exhibit("halves", "Sonar in halves (figure 1) and in 150 rows (table 1)", metrics=EXRM_ERRORS)
paper.exhibit(
    "means", "What moves the means of table 3", metrics=(*EXRM_ERRORS, "AdaSVM_10", "BagSVM_10", "rows")
)


@dataclass(frozen=True)
class Reading:
    """A protocol with its solver and the factor of lambda."""

    protocol: DrawProtocol = field(default_factory=DrawProtocol)
    solver: Solver = "printed"
    factor: float = 1.0


HALF = DrawProtocol(train=0.5)
HALVES = {
    "halves": Reading(HALF),
    "104 rows, test of 150": Reading(DrawProtocol(train=0.5, test_from=150)),
    "150 rows": Reading(),
    "halves, stratified": Reading(DrawProtocol(train=0.5, stratified=True)),
    "halves, training range": Reading(DrawProtocol(train=0.5, scaling="training rows")),
    "halves, unscaled": Reading(DrawProtocol(train=0.5, scaling="none")),
    "halves, mean loss": Reading(HALF, factor=1.0 / 104),
    "halves, exact": Reading(HALF, "exact"),
    "150 rows, exact": Reading(solver="exact"),
}


@paper.trials("halves", methods=tuple(HALVES), datasets=("sonar",))
def halves(trial: Trial, *, reading_lambdas: list[float]) -> dict[str, np.ndarray]:
    """Test errors for a few lambdas."""
    reading = HALVES[trial.method]
    data = draw_by(trial, reading.protocol)
    errors = {}
    for p, C in READ_MACHINES:
        solutions = [
            solve_exrm(data.X, data.y, lam * reading.factor, C, POWERS[p], reading.solver)
            for lam in reading_lambdas
        ]
        errors[f"{p}_{C}"] = np.array([data.error(ensemble_scores(s, data.X_test)) for s in solutions])
    return errors


MEANS = {
    "as chosen": Reading(),
    "50 rows": Reading(DrawProtocol(train=50)),
    "75 rows": Reading(DrawProtocol(train=75)),
    "100 rows": Reading(DrawProtocol(train=100)),
    "halves": Reading(HALF),
    "stratified": Reading(DrawProtocol(stratified=True)),
    "training range": Reading(DrawProtocol(scaling="training rows")),
    "unscaled": Reading(DrawProtocol(scaling="none")),
    "lambda = 0.5": Reading(factor=0.25),
    "lambda = 8": Reading(factor=4.0),
    "exact": Reading(solver="exact"),
}


@paper.trials("means", methods=tuple(MEANS), datasets=TABLE_SETS)
def means(trial: Trial, *, lam: float) -> dict[str, float]:
    """Test errors of table 3's machines with one and ten bases; rows: the size of the training part."""
    reading = MEANS[trial.method]
    data, rng = draw_by(trial, reading.protocol), trial.shared_rng("sampling")
    lam *= reading.factor
    errors = {"rows": len(data.y)}
    for p, C in READ_MACHINES:
        solution = solve_exrm(data.X, data.y, lam, C, POWERS[p], reading.solver)
        errors[f"{p}_{C}"] = data.error(ensemble_scores(solution, data.X_test))
    fit = psvm_fit(lam, 2)
    boosted = boost_linear(fit, data.X, data.y, 10, rng)
    bagged = bag_linear(fit, data.X, data.y, 10, rng)
    errors["AdaSVM_10"] = data.error(vote(*boosted, data.X_test))
    errors["BagSVM_10"] = data.error(vote(bagged, np.ones(10), data.X_test))
    return errors


# tree_readings
SIZES = (10, 30)


def as_is(data: Draw, rng: np.random.Generator) -> Draw:
    """Leave the draw alone."""
    return data


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
def size_of_trees(trial: Trial, *, n_train: int, scaling: Scaling) -> dict[str, float]:
    """Boosted and bagged trees of one size."""
    size = SIZES_OF_TREES[trial.method]
    return _both_ensembles(draw(trial, n_train, scaling), trial, size, size)


@paper.trials("trees", methods=("raw test features", "first rows", *MISHAPS), datasets=TABLE_SETS)
def mishaps(trial: Trial, *, n_train: int, scaling: Scaling, boosted_tree: TreeSize) -> dict[str, float]:
    """Train or test on something else than the draw says."""
    data = draw(trial, n_train, scaling)
    if trial.method == "raw test features":
        data = _raw_test(data, trial, n_train)
    elif trial.method == "first rows":
        data = _first_rows(n_train, trial)
    else:
        data = MISHAPS[trial.method](data, trial.shared_rng("mishap"))
    return _both_ensembles(data, trial, boosted_tree, "full")


def _both_ensembles(data: Draw, trial: Trial, boosted: TreeSize, bagged: TreeSize) -> dict[str, float]:
    """Return the test errors of AdaTree and BagTree with 10 and 30 trees."""
    return {
        f"{name}_{T}": error
        for name, size in (("Ada", boosted), ("Bag", bagged))
        for T, error in tree_errors(f"{name}Tree", data, SIZES, size, trial.rng(name)).items()
    }


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


# beyond
WRAPPED = tuple(f"{way}{base}" for base in ("PSVM", "ExRM10") for way in ("", "Bag-", "Ada-"))


@paper.trials("wrapped", methods=WRAPPED, datasets=TABLE_SETS)
def wrapped(trial: Trial, *, n_train: int, scaling: Scaling, lam: float, n_rounds: int) -> dict[str, float]:
    """L2-ExRM as base learner of bagging and boosting, which the paper's last section proposes."""
    data = draw(trial, n_train, scaling)
    way, base = trial.method.rpartition("-")[::2]
    fit = psvm_fit(lam, 2) if base == "PSVM" else exrm_fit(lam, 10, 2)
    rng = trial.shared_rng("sampling")
    if way == "Ada":
        machines, votes = boost_linear(fit, data.X, data.y, n_rounds, rng)
    elif way == "Bag":
        machines, votes = bag_linear(fit, data.X, data.y, n_rounds, rng), np.ones(n_rounds)
    else:
        machines, votes = [fit(data.X, data.y, np.ones(len(data.y)))], np.ones(1)
    return {"error": data.error(vote(machines, votes, data.X_test))}


@paper.trials("modern", methods=tuple(f"{p}-PSVM, lambda chosen" for p in POWERS), datasets=TABLE_SETS)
def chosen_lambda(
    trial: Trial, *, n_train: int, scaling: Scaling, ratios: list[float], n_folds: int
) -> dict[str, float]:
    """One machine, its lambda by stratified cross-validation on the training part; ties to the smallest."""
    data = draw(trial, n_train, scaling)
    p = POWERS[trial.method[:2]]
    order = trial.shared_rng("folds").permutation(len(data.y))
    order = order[np.argsort(data.y[order], kind="stable")]
    fold = np.empty(len(order), dtype=np.intp)
    fold[order] = np.arange(len(order)) % n_folds
    wrong = np.zeros(len(ratios))
    for held in (fold == k for k in range(n_folds)):
        for i, ratio in enumerate(ratios):
            machine = solve_psvm(data.X[~held], data.y[~held], ratio, p)
            wrong[i] += ((data.X[held] @ machine.w + machine.b > 0) != (data.y[held] > 0)).sum()
    best = solve_psvm(data.X, data.y, ratios[int(np.argmin(wrong))], p)
    return {"error": data.error(data.X_test @ best.w + best.b)}


TREES = ("RandomForest", "HistGradientBoosting")


@paper.trials("modern", methods=(*TREES, "SVC"), datasets=TABLE_SETS)
def today(trial: Trial, *, n_train: int, scaling: Scaling) -> dict[str, float]:
    """What scikit-learn gives with the defaults of today."""
    data = draw(trial, n_train, scaling)
    model = _model(trial.method, trial.seed()).fit(data.X, data.y)
    return {"error": data.error(model.predict(data.X_test))}


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
def more_classes(trial: Trial, *, train_share: float, scaling: Scaling, lam: float) -> dict[str, float]:
    """One ensemble a class against the rest, beside linear machines and a forest of scikit-learn."""
    data = draw(trial, train_share, scaling)
    if "ExRM" in trial.method:
        model = ExRM(10, lam=lam, p=POWERS[trial.method[:2]])
    else:
        model = _model(trial.method, trial.seed())
    predicted = model.fit(data.X, data.y).predict(data.X_test)
    return {"error": round(100.0 * float(np.mean(predicted != data.y_test)), 4)}
