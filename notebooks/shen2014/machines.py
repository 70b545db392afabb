"""Trials beyond the hinge: six kernel machines run into their limit, and kernels of several views, mixed.

The paper's title speaks of kernel machines, its text of two. The rule (8) needs dual weights only: of any
machine min 1/2 |w|^2 + losses(f) it adds the hypothesis of the largest |sum_i V_i h(x_i)|. Over all stumps
the limit has the kernel sum_h h(x) h(x'), in ranks a constant minus twice the l1 distance, and is solved here
by other programs: LIBSVM's, or linear equations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import process_time

import numpy as np
from sklearn.svm import SVC, SVR, OneClassSVM

from kernsemble.column_generation import column_generation
from kernsemble.estimators.cgens import CGEns
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import gaussian_kernel, stump_kernel
from kernsemble.masters.base import L2Master, Solution
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.quadratic import ColumnQP, EpsilonInsensitive, Hinge, NuNovelty, SquaredHinge
from kernsemble.trials.bench import Draw, Folds, powers_of_two
from kernsemble.trials.trial import Trial
from shen2014.theory import ranks_of
from shen2014.trials import Cosines, Result, draw, family_of, folds_of, generating, paper, search, spam_draw

paper.exhibit(
    "machines",
    "Six kernel machines as ensembles of stumps, run into their limit",
    metrics=("objective", "distance", "stumps"),
    tolerance={"objective": 1e-5, "distance": 1e-2},
    parting=("epsilon-insensitive", "one class"),  # no rule among several dual solutions
)
paper.exhibit(
    "views",
    "Kernels of several views: one pool of cosines, or methods of multiple kernel learning",
    metrics=("error", "weights", "kernels", "C"),
    timing=("search_seconds",),
)

_TOL = 1e-10  # of masters and of LIBSVM, so that the limit is told from the path


class PairMaster:
    """Ranking: the hinge of differences f(x_i) - f(x_j), i to be ranked above j, over hypotheses' columns."""

    def __init__(self, better: np.ndarray, worse: np.ndarray, n_samples: int, C: float) -> None:
        self.better, self.worse, self.n = better, worse, n_samples
        self.hinge = Hinge(np.ones(len(better)), C, tol=_TOL)

    def add(self, column: np.ndarray, output: int | None = None) -> None:
        """Append a hypothesis, as differences."""
        column = np.asarray(column, dtype=np.float64)
        self.hinge.add(column[self.better] - column[self.worse])

    def solve(self) -> Solution:
        """Re-optimize over the columns added so far."""
        return self.hinge.solve()

    def pricing_weights(self) -> np.ndarray:
        """Return the dual weights of all pairs of a sample: as the better one less as the worse one."""
        V = self.hinge.pricing_weights()
        return np.bincount(self.better, V, self.n) - np.bincount(self.worse, V, self.n)

    def threshold(self) -> float:
        """Return 0: the norm is l2."""
        return 0.0


@dataclass(frozen=True)
class Machine:
    """A kernel machine: its master, the sum of its losses, and beta and b of its limit by another program."""

    master: L2Master
    losses: Callable[[np.ndarray], float]
    limit: Callable[[np.ndarray], tuple[np.ndarray, float]]


def _support(n: int, model: SVC | SVR | OneClassSVM) -> np.ndarray:
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


def _classifier(y: np.ndarray, C: float, squared: bool) -> Machine:
    """Hinge or squared hinge; the latter is a hard margin for K + I / (2 C)."""

    def limit(K: np.ndarray) -> tuple[np.ndarray, float]:
        ridge = np.eye(len(y)) / (2.0 * C) if squared else 0.0
        model = SVC(kernel="precomputed", C=1e6 if squared else C, tol=_TOL).fit(K + ridge, y)
        return _support(len(y), model), float(model.intercept_[0])

    kind = SquaredHinge if squared else Hinge
    power = 2 if squared else 1
    master = kind(y, C, intercept="free", tol=_TOL, max_iter=1000)
    return Machine(master, lambda f: C * (np.maximum(0.0, 1.0 - y * f) ** power).sum(), limit)


def _least_squares(t: np.ndarray, C: float) -> Machine:
    """Ridge regression: linear equations, with a free intercept."""

    def limit(K: np.ndarray) -> tuple[np.ndarray, float]:
        n = len(t)
        border = np.block([[K + np.eye(n) / C, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        solved = np.linalg.solve(border, np.append(t, 0.0))
        return solved[:n], float(solved[n])

    master = ColumnQP(BoxLoss.least_squares(t, np.full(len(t), C)), intercept="free", tol=_TOL)
    return Machine(master, lambda f: 0.5 * C * ((t - f) ** 2).sum(), limit)


def _tube(t: np.ndarray, C: float, epsilon: float) -> Machine:
    """Epsilon-insensitive regression."""

    def limit(K: np.ndarray) -> tuple[np.ndarray, float]:
        model = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=_TOL).fit(K, t)
        return _support(len(t), model), float(model.intercept_[0])

    master = EpsilonInsensitive(t, C, epsilon, intercept="free", tol=_TOL)
    return Machine(master, lambda f: C * np.maximum(0.0, np.abs(t - f) - epsilon).sum(), limit)


def _one_class(n: int, nu: float) -> Machine:
    """The one-class machine; its losses are those of the best margin r."""

    def losses(f: np.ndarray) -> float:
        return float(min((np.maximum(0.0, r - f).sum() / (nu * n) - r) for r in f))

    def limit(K: np.ndarray) -> tuple[np.ndarray, float]:
        model = OneClassSVM(kernel="precomputed", nu=nu, tol=_TOL).fit(K)
        return _support(n, model) / (nu * n), 0.0

    return Machine(NuNovelty(n, nu, tol=_TOL), losses, limit)


def _ranking(t: np.ndarray, C: float, pairs: np.ndarray) -> Machine:
    """The ranking machine; its limit sees every pair both ways round, so that LIBSVM's intercept is 0."""
    pairs = pairs[t[pairs[:, 0]] != t[pairs[:, 1]]]
    first = t[pairs[:, 0]] > t[pairs[:, 1]]
    better, worse = np.where(first, *pairs.T), np.where(first, *pairs.T[::-1])

    def limit(K: np.ndarray) -> tuple[np.ndarray, float]:
        D = np.eye(len(t))[better] - np.eye(len(t))[worse]
        both, signs = np.vstack([D, -D]), np.repeat([1.0, -1.0], len(D))
        model = SVC(kernel="precomputed", C=0.5 * C, tol=_TOL).fit(both @ K @ both.T, signs)
        return both.T @ _support(len(both), model), 0.0

    master = PairMaster(better, worse, len(t), C)
    return Machine(master, lambda f: C * np.maximum(0.0, 1.0 - f[better] + f[worse]).sum(), limit)


KINDS = ("hinge", "squared hinge", "least squares", "epsilon-insensitive", "one class", "ranking")
_TARGET = 7  # of heart: the maximum heart rate, which regression and ranking predict from the other features


def _machine_of(trial: Trial, data: Draw, C: float, epsilon: float, nu: float, n_pairs: int) -> Machine:
    y, t = data.y, data.X[:, _TARGET]
    makers = {
        "hinge": partial(_classifier, y, C, squared=False),
        "squared hinge": partial(_classifier, y, C, squared=True),
        "least squares": partial(_least_squares, t, C),
        "epsilon-insensitive": partial(_tube, t, C, epsilon),
        "one class": partial(_one_class, len(y), nu),
        "ranking": lambda: _ranking(t, C, trial.shared_rng("pairs").integers(len(t), size=(n_pairs, 2))),
    }
    return makers[trial.method]()


@paper.trials("machines", methods=KINDS, datasets=("heart",))
def machine_limits(
    trial: Trial, *, counts: list[int], C_machine: float, epsilon: float, nu: float, n_pairs: int
) -> Result:
    """One machine as an ensemble of stumps, against its limit over all of them.

    objective: over that of the limit, less 1 (one class: the difference over |that|). distance: root mean
    square difference of decisions on test rows, in percent of the limit's deviation there.
    """
    data = draw(trial)
    built = _machine_of(trial, data, C_machine, epsilon, nu, n_pairs)
    others = [j for j in range(data.X.shape[1]) if j != _TARGET]
    X, X_test = data.X[:, others], data.X_test[:, others]
    ranks, ranks_test = ranks_of(X, X), ranks_of(X, X_test)
    n_stumps = ranks.max(axis=0).sum()
    K, K_test = (n_stumps + 2.0 * stump_kernel(rows, ranks) for rows in (ranks, ranks_test))
    beta, b = built.limit(K)
    target = K_test @ beta + b
    lowest = 0.5 * beta @ K @ beta + built.losses(K @ beta + b)
    oracle = StumpOracle(X, constant=False)
    result = column_generation(oracle, built.master, max(counts))
    H, H_test = (np.asarray(oracle.collect(result.keys).outputs(A), dtype=np.float64) for A in (X, X_test))
    objectives, distances = [], []
    for T in counts:
        w, b = result.weights[min(T, len(result.weights)) - 1]
        objectives.append(0.5 * w @ w + built.losses(H[:, : len(w)] @ w + b))
        off = H_test[:, : len(w)] @ w + b - target
        distances.append(100.0 * np.sqrt((off**2).mean()) / target.std())
    return {
        "objective": (np.array(objectives) - lowest) / abs(lowest),
        "distance": np.array(distances),
        "stumps": n_stumps,
    }


# Views: groups of features that were measured in different ways.
SPAM_VIEWS = {"words": range(48), "characters": range(48, 54), "capitals": range(54, 57)}
IMAGE_VIEWS = {"place": range(2), "lines": range(2, 8), "color": range(8, 18)}
VIEWS = {"spam": SPAM_VIEWS, "image": IMAGE_VIEWS}


@dataclass(frozen=True)
class Mixture:
    """Rows to train on, widths of the kernels of each view, and how C is searched."""

    n_train: int
    view_gammas: list[float]
    mixture_Cs: list[float]  # noqa: N815 - its name in params.yaml
    n_folds: int


def view_names(label: str) -> list[str]:
    """Return the names of a set's views, that of all together last."""
    return [*VIEWS[label], "all"]


def view_draw(trial: Trial, n_train: int) -> tuple[Draw, list[list[int]]]:
    """Return rows of a set, z-scored on those to train on and divided by the root of their view's size."""
    data = spam_draw(trial) if trial.dataset == "spam" else draw(trial)
    groups = [list(group) for group in VIEWS[trial.dataset].values()]
    rows = trial.shared_rng("rows").permutation(len(data.y))[:n_train]
    mean, scale = data.X[rows].mean(axis=0), data.X[rows].std(axis=0)
    size = np.array([len(group) for group in groups for _ in group])
    X, X_test = (
        (A - mean) / np.where(scale > 0.0, scale, 1.0) / np.sqrt(size) for A in (data.X, data.X_test)
    )
    everything = [j for group in groups for j in group]
    return Draw(X[rows], data.y[rows], X_test, data.y_test), [*groups, everything]


def average(kernels: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Return equal weights."""
    return np.full(len(kernels), 1.0 / len(kernels))


def easy_mkl(kernels: np.ndarray, y: np.ndarray, C: float, *, ridge: float = 0.5) -> np.ndarray:
    """Return the weights of EasyMKL (Aiolli and Donini 2015), in proportion to g' Y K_k Y g.

    g has sum 1 on each class and the least (1 - ridge) g' Y (sum_k K_k) Y g + ridge |g|^2: the nearest points
    of two convex hulls, that is a machine with a hard margin.
    """
    whole = (1.0 - ridge) * kernels.sum(axis=0) + ridge * np.eye(len(y))
    beta = _support(len(y), SVC(kernel="precomputed", C=1e8, tol=1e-8).fit(whole, y))
    beta /= np.abs(beta[y > 0]).sum()
    shares = np.einsum("i,kij,j->k", beta, kernels, beta, optimize=True)
    return shares / shares.sum()


def simple_mkl(
    kernels: np.ndarray, y: np.ndarray, C: float, *, tol: float = 1e-2, max_iter: int = 200
) -> np.ndarray:
    """Return the weights d >= 0, sum 1, of the least machine with the kernel sum_k d_k K_k.

    That is the problem of SimpleMKL (Rakotomamonjy et al. 2008), solved by d_k <- d_k |s_k| with s_k^2 = a' Y
    K_k Y a, to a gap of 1/2 (max_k s_k^2 - sum_k d_k s_k^2) of tol times the objective.
    """
    d = average(kernels, y, C)
    for _ in range(max_iter):
        beta = _support(len(y), SVC(kernel="precomputed", C=C, tol=1e-6).fit(np.tensordot(d, kernels, 1), y))
        squares = np.einsum("i,kij,j->k", beta, kernels, beta, optimize=True)
        mean = d @ squares
        if 0.5 * (squares.max() - mean) <= tol * (np.abs(beta).sum() - 0.5 * mean):
            break
        d = d * np.sqrt(np.maximum(squares, 0.0))
        d /= d.sum()
    return d


def single(place: int, kernels: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Return all weight on one kernel."""
    return np.eye(len(kernels))[place]


POOLED = "CGENS, one pool of all kernels"
RIVALS = ("best kernel", "average kernel", "EasyMKL", "SimpleMKL")


def _correct(weigh: Callable, kernels: np.ndarray, y: np.ndarray, C: float, folds: Folds) -> int:
    """Count held-out rows that the machine of the weighted kernel classifies correctly."""
    count = 0
    for train, held in folds:
        parts = kernels[:, train[:, None], train]
        d = weigh(parts, y[train], C)
        model = SVC(kernel="precomputed", C=C).fit(np.tensordot(d, parts, 1), y[train])
        count += (model.predict(np.tensordot(d, kernels[:, held[:, None], train], 1)) == y[held]).sum()
    return int(count)


@paper.trials("views", methods=RIVALS, datasets=tuple(VIEWS))
def mixed_kernels(trial: Trial, *, mixture: Mixture) -> Result:
    """A machine with a weighted sum of Gaussian kernels, C (and the one kernel) by cross-validation.

    weights: share of each kernel, widths times views; kernels: how many have more than a thousandth.
    """
    started = process_time()
    data, groups = view_draw(trial, mixture.n_train)
    pairs = list(product(mixture.view_gammas, groups))
    kernels, crossed = (
        np.array([gaussian_kernel(A[:, g], data.X[:, g], gamma=gamma) for gamma, g in pairs])
        for A in (data.X, data.X_test)
    )
    ways = {"average kernel": [average], "EasyMKL": [easy_mkl], "SimpleMKL": [simple_mkl]}.get(
        trial.method, [partial(single, place) for place in range(len(pairs))]
    )
    folds = folds_of(trial, data.y, mixture.n_folds)
    grid = [(weigh, C) for weigh in ways for C in mixture.mixture_Cs]
    counts = [_correct(weigh, kernels, data.y, C, folds) for weigh, C in grid]
    weigh, C = grid[int(np.argmax(counts))]
    d = weigh(kernels, data.y, C)
    model = SVC(kernel="precomputed", C=C).fit(np.tensordot(d, kernels, 1), data.y)
    error = data.error(model.decision_function(np.tensordot(d, crossed, 1)))
    return {
        "error": error, "C": C, "weights": d, "kernels": int((d > 1e-3).sum()),
        "search_seconds": process_time() - started,
    }  # fmt: skip


@paper.trials("views", methods=(POOLED,), datasets=tuple(VIEWS))
def pooled_kernels(trial: Trial, *, mixture: Mixture, cosines: Cosines, n_cosines: int, tol: float) -> Result:
    """CGENS over one pool of cosines, evenly from all views and widths; C by cross-validation.

    weights: share of the total absolute weight on the cosines of each kernel.
    """
    started = process_time()
    data, groups = view_draw(trial, mixture.n_train)
    family = family_of(trial, "fourier once", cosines.pool_size, gamma=mixture.view_gammas, groups=groups)
    fit, Cs = generating(CGEns, tol, **family), powers_of_two(cosines.log2_C_cosines)
    C, _ = search(fit, data, folds_of(trial, data.y, mixture.n_folds), Cs, [n_cosines]).best()
    pool = FourierPool(data.X, random_state=family["random_state"], **family["base_options"])
    master = Hinge(data.y, C, intercept="free", tol=tol, least_norm=True)
    result = column_generation(pool, master, n_cosines, tol=tol, keep_weights=False)
    w, b = result.solution.w, result.solution.b
    owners = [pool.kernel_of(key) for key in result.keys]
    weights = np.bincount(owners, np.abs(w), len(pool.kernels))
    return {
        "error": data.error(pool.collect(result.keys).decision(data.X_test, w, b)),
        "C": C, "weights": weights / weights.sum(), "kernels": int((weights > 1e-3 * weights.sum()).sum()),
        "search_seconds": process_time() - started,
    }  # fmt: skip
