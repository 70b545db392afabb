"""Trials that the paper argues for and did not run: several RBF widths in one library."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.hypotheses.kernel_library import GaussianKernel, Kernel
from kernsemble.trials.trial import Trial
from bi2004.draws import percent_wrong, small_set
from bi2004.plan import paper
from bi2004.sets import SMALL_SETS, WIDTHS_TARGET

WIDTH_METHODS = ("mean width", "one width, selected", "library of widths")
_TEST_POINTS = 2000
_Data = tuple[np.ndarray, np.ndarray]
_Model = CGBoostClassifier | CGBoostRegressor


@dataclass(frozen=True)
class WidthsRules:
    """Share of a small set, or number of points of the target, to train on; noise, tube, certified gap."""

    widths_share: float
    widths_points: int
    target_noise: float
    target_epsilon: float
    gap: float


@dataclass(frozen=True)
class _Problem:
    """Training and test data, the loss of a model in percent, and how to fit one."""

    train: _Data
    test: _Data
    loss: Callable[[_Model, np.ndarray, np.ndarray], float]
    fit: Callable[[Sequence[Kernel], float, np.ndarray, np.ndarray], _Model]


def two_widths(rng: np.random.Generator, n: int) -> _Data:
    """Draw points of [-1, 1]^2 and a target of two broad and four narrow bumps, without noise."""
    X = rng.uniform(-1.0, 1.0, (n, 2))
    broad = np.array([[-1.0, 0.0], [1.0, 0.0]])
    narrow = np.array([[0.5, 0.5], [-0.5, 0.5], [0.5, -0.5], [-0.5, -0.5]])
    squares = [((X[:, None] - centers) ** 2).sum(axis=2) for centers in (broad, narrow)]
    bumps = [np.exp(-some / width).sum(axis=1) for some, width in zip(squares, (1.0, 0.05), strict=True)]
    return X, 2.0 * bumps[0] + bumps[1]


@paper.trials("widths", methods=WIDTH_METHODS, datasets=(*SMALL_SETS, WIDTHS_TARGET))
def widths(
    trial: Trial, *, factors: list[float], widths_Cs: list[float], rules: WidthsRules
) -> dict[str, float]:
    """1-norm models of RBF columns; C (and the width, if one is selected) by a quarter of the training rows.

    The error is the test error in percent, or 100 times the root mean squared error against the target.
    """
    problem = _on_target(trial, rules) if trial.dataset == WIDTHS_TARGET else _on_small_set(trial, rules)
    X, y = problem.train
    cut = 3 * len(y) // 4
    start = time.process_time()
    candidates = [(library, C) for library in _libraries(trial.method, factors) for C in widths_Cs]
    losses = [
        problem.loss(problem.fit(library, C, X[:cut], y[:cut]), X[cut:], y[cut:]) for library, C in candidates
    ]
    model = problem.fit(*candidates[int(np.argmin(losses))], X, y)
    seconds = time.process_time() - start
    return {
        "error": problem.loss(model, *problem.test),
        "columns": float(np.count_nonzero(model.coef_)),
        "evaluations": float(model.n_kernel_evaluations_),
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "fit_seconds": seconds,
    }


def _libraries(method: str, factors: Sequence[float]) -> list[list[Kernel]]:
    """Candidates of a method: libraries of RBF kernels, the widest first."""
    if method == "mean width":
        return [[GaussianKernel()]]
    if method == "one width, selected":
        return [[GaussianKernel(factor=factor)] for factor in factors]
    return [[GaussianKernel(factor=factor) for factor in sorted(factors, reverse=True)]]


def _on_target(trial: Trial, rules: WidthsRules) -> _Problem:
    rng = trial.shared_rng("widths")
    X, y = two_widths(rng, rules.widths_points)
    y = y + rules.target_noise * rng.standard_normal(rules.widths_points)

    def fit(kernels: Sequence[Kernel], C: float, A: np.ndarray, a: np.ndarray) -> CGBoostRegressor:
        return CGBoostRegressor(
            kernels, C, epsilon=rules.target_epsilon, **_options(kernels, a, rules.gap)
        ).fit(A, a)

    return _Problem((X, y), two_widths(rng, _TEST_POINTS), _rmse_percent, fit)


def _on_small_set(trial: Trial, rules: WidthsRules) -> _Problem:
    X, y = small_set(trial.dataset)
    order = trial.shared_rng("widths").permutation(len(y))
    train, test = np.split(order, [int(rules.widths_share * len(y))])

    def fit(kernels: Sequence[Kernel], C: float, A: np.ndarray, a: np.ndarray) -> CGBoostClassifier:
        return CGBoostClassifier(kernels, C, **_options(kernels, a, rules.gap)).fit(A, a)

    return _Problem((X[train], y[train]), (X[test], y[test]), _wrong_percent, fit)


def _options(kernels: Sequence[Kernel], y: np.ndarray, gap: float) -> dict[str, object]:
    """A 1-norm run to the certified gap; every column may be taken."""
    return {"norm": "l1", "tol": gap, "stratified": False, "n_rounds": len(kernels) * len(y)}


def _wrong_percent(model: CGBoostClassifier, Z: np.ndarray, z: np.ndarray) -> float:
    return percent_wrong(model.decision_function(Z), z)


def _rmse_percent(model: CGBoostRegressor, Z: np.ndarray, z: np.ndarray) -> float:
    return 100.0 * float(np.sqrt(np.mean(np.square(model.predict(Z) - z))))
