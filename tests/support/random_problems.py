"""Random small problems for every estimator: the shapes, ties and scales at which solvers break.

Problem number i is the same on every machine: its data, its estimator and its parameters come from i alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import kernsemble

LATER = {"DistanceKernelSVR"}  # no part of the turns: tests name problems by their numbers
ESTIMATORS = sorted(set(kernsemble._ESTIMATORS) - LATER)
BINARY = {"AdaBoost", "CGBoostClassifier", "CGEns", "LPBoost"}
SHAPES = ((2, 1), (3, 1), (2, 4), (5, 2), (8, 3), (6, 9), (12, 1), (12, 4), (16, 2), (20, 5))
WITHOUT_WEIGHTS = {"CGBoostNovelty", "DRM", "DistanceKernelSVCCV"}


@dataclass(frozen=True)
class Problem:
    """One estimator with its parameters, and the data to fit it to."""

    number: int
    estimator: str
    options: dict[str, Any]
    X: np.ndarray
    y: np.ndarray
    sample_weight: np.ndarray | None
    kind: str

    def model(self) -> Any:
        """Return the estimator, not fitted."""
        return getattr(kernsemble, self.estimator)(**self.options)

    def fit(self) -> Any:
        """Return the estimator, fitted."""
        if self.sample_weight is None:
            return self.model().fit(self.X, self.y)
        return self.model().fit(self.X, self.y, sample_weight=self.sample_weight)


def _normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


def _ties(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(0, 3, size=(n, d)).astype(float)


def _duplicated_columns(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))[:, rng.integers(0, d, d)]


def _duplicated_rows(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))[rng.integers(0, n, n)]


def _constant_columns(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.where(rng.random(d) < 0.6, rng.normal(size=d), rng.normal(size=(n, d)))


def _all_constant(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.full((n, d), rng.normal())


def _large(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(3, 120)


def _tiny(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d)) * 10.0 ** -rng.integers(3, 120)


def _mixed_scales(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, size=d)


def _far_away(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return 10.0 ** rng.integers(6, 15) + rng.normal(size=(n, d))


def _neighbors(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Values one unit in the last place apart."""
    return 1.0 + np.spacing(1.0) * rng.integers(0, 4, size=(n, d))


def _bytes(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(0, 256, size=(n, d)).astype(np.uint8)


def _one_outlier(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    X = rng.normal(size=(n, d))
    X[rng.integers(n)] *= 10.0 ** rng.integers(2, 9)
    return X


KINDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "normal": _normal,
    "ties": _ties,
    "duplicated columns": _duplicated_columns,
    "duplicated rows": _duplicated_rows,
    "constant columns": _constant_columns,
    "all constant": _all_constant,
    "large": _large,
    "tiny": _tiny,
    "mixed scales": _mixed_scales,
    "far away": _far_away,
    "neighbors": _neighbors,
    "bytes": _bytes,
    "one outlier": _one_outlier,
}


def random_problem(number: int, estimator: str | None = None) -> Problem:
    """Return problem ``number``; estimators, unless one is named, and kinds of data take turns."""
    rng = np.random.default_rng([20141205, number])
    estimator = estimator or ESTIMATORS[number % len(ESTIMATORS)]
    kind = list(KINDS)[number // len(ESTIMATORS) % len(KINDS)]
    n, d = SHAPES[rng.integers(len(SHAPES))]
    X = KINDS[kind](rng, n, d)
    if estimator in ("CGBoostRegressor", "DistanceKernelSVR"):
        y = _values(rng, X.astype(float))
    else:
        y = _labels(rng, n, 2 if estimator in BINARY else int(rng.integers(2, min(n, 5) + 1)))
    weight = None if estimator in WITHOUT_WEIGHTS else _weights(rng, y)
    options = OPTIONS[estimator](rng)
    if options.get("nu") is not None:
        weight = None
    return Problem(number, estimator, options, X, y, weight, kind)


def extreme_problem(number: int) -> Problem:
    """Return problem ``number`` at the ends of what may be asked for: costs, tolerances, nu, large values."""
    problem = random_problem(number)
    rng = np.random.default_rng([20051009, number])
    options, X = dict(problem.options), problem.X
    for name in ("C", "lam"):
        if name in options:
            heaviest = 1.0 if problem.sample_weight is None else max(1.0, problem.sample_weight.max())
            options[name] = float(10.0 ** rng.integers(-8, 13) / heaviest)  # C times weights: up to 1e12
    if options.get("nu") is not None:
        options["nu"] = _pick(rng, 1e-6, 1e-3, 0.5, 1.0)
    if "tol" in getattr(kernsemble, problem.estimator)().get_params() and rng.random() < 0.5:
        options["tol"] = _pick(rng, 1e-14, 1e-9, 1e-6, 0.5)
    if rng.random() < 0.3:
        size = np.max(np.abs(X), initial=1.0)
        X = (X / size) * 10.0 ** rng.integers(100, 309)
    return replace(problem, options=options, X=X)


def _labels(rng: np.random.Generator, n: int, n_classes: int) -> np.ndarray:
    """Labels of so many classes, each present; often all but one are equal."""
    if rng.random() < 0.3:  # all in one class but the fewest
        labels = np.zeros(n, int)
        labels[: n_classes - 1] = np.arange(1, n_classes)
    else:
        labels = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    labels = rng.permutation(labels)
    return [labels, labels.astype(str), labels * 3.0 - 1.0][rng.integers(3)]


def _values(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    y = [rng.normal(size=len(X)), np.full(len(X), rng.normal()), np.sign(X[:, 0])][rng.integers(3)]
    return y * 10.0 ** rng.integers(-6, 7)


def _weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray | None:
    """No weights, whole numbers or many orders of magnitude; zeros never empty a class."""
    n = len(y)
    weight = [None, rng.integers(0, 4, n).astype(float), 10.0 ** rng.uniform(-4, 4, n)][rng.integers(3)]
    if weight is not None:
        weight[np.unique(y, return_index=True)[1]] += 1.0
    return weight


def _cost(rng: np.random.Generator) -> float:
    return float(10.0 ** rng.integers(-6, 7))


def _pick(rng: np.random.Generator, *values: Any) -> Any:
    return values[rng.integers(len(values))]


def _base(rng: np.random.Generator) -> dict[str, Any]:
    """Mostly stumps, whose whole family can be listed."""
    base = _pick(rng, "stump", "stump", "stump", "perceptron", "perceptron-pool", "fourier")
    options = {
        "stump": None,
        "perceptron": {"n_updates": 20},
        "perceptron-pool": {"n_hypotheses": 20},
        "fourier": {"n_hypotheses": 20},
    }
    return {"base": base, "base_options": options[base], "random_state": 0}


def _stagewise(rng: np.random.Generator) -> dict[str, Any]:
    return {"n_rounds": int(rng.integers(1, 12)), **_base(rng)}


def _columns(rng: np.random.Generator) -> dict[str, Any]:
    return {"C": _cost(rng), "n_rounds": _pick(rng, 1, 200, 200), **_base(rng)}


def _cg_boost(rng: np.random.Generator, nu: bool = False) -> dict[str, Any]:
    options = {
        "kernels": _pick(
            rng, ["linear"], ["rbf"], ["linear", "quadratic", "rbf"], ["linear+rbf", "quadratic"]
        ),
        "positive": _pick(rng, False, True),
        "stratified": _pick(rng, False, True),
        "n_rounds": _pick(rng, 1, 100, 100),
        "random_state": 0,
    }
    if not nu:
        options |= {
            "C": _cost(rng),
            "norm": _pick(rng, "l1", "l2"),
            "intercept": _pick(rng, "free", "penalized", "none"),
            "termination": _pick(rng, "TR1", "TR2", "TR2", "TR4"),
        }
        if rng.random() < 0.2:
            options |= {"nu": _nu(rng), "norm": "l2", "intercept": "free"}
    return options


def _nu(rng: np.random.Generator) -> float:
    return _pick(rng, 0.05, 0.2, 0.5, 0.9, 1.0)


def _multiboost(rng: np.random.Generator) -> dict[str, Any]:
    options = _columns(rng)
    while options["base"] == "fourier":
        options |= _base(rng)
    return options | {
        "per_class": _pick(rng, True, False),
        "solver": _pick(rng, "newton", "newton", "fcd", "lbfgsb"),
    }


def _exrm(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "n_components": _pick(rng, 1, 2, 5),
        "lam": _cost(rng),
        "p": _pick(rng, 1, 2),
        "solver": _pick(rng, "exact", "exact", "admm", "printed"),
        "max_iter": 300,
        "random_state": 0,
    }


def _drm(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "n_components": _pick(rng, 1, 2, 4),
        "nu": _nu(rng),
        "mu": _pick(rng, 0.0, 1e-4, 0.1, 10.0),
        "q": _pick(rng, 1, 2),
        "kernel": _pick(rng, "linear", "gaussian"),
        "intercept_scaling": _pick(rng, 0.0, 1.0),
        "max_iter": 100,
        "random_state": 0,
    }


def _kernel(rng: np.random.Generator) -> dict[str, Any]:
    return {"kernel": _pick(rng, "stump", "perceptron", "gaussian"), "max_iter": 100_000}


OPTIONS: dict[str, Callable[[np.random.Generator], dict[str, Any]]] = {
    "AdaBoost": lambda rng: _stagewise(rng) | {"perfect": _pick(rng, 1e-3, "alone")},
    "AdaBoostECC": lambda rng: _stagewise(rng) | {"coloring": _pick(rng, "random", "half", "maxcut")},
    "AdaBoostMH": _stagewise,
    "AdaBoostMO": lambda rng: (
        _stagewise(rng) | {"code": _pick(rng, "one-against-all", "exhaustive", "random")}
    ),
    "CGBoostClassifier": _cg_boost,
    "CGBoostNovelty": lambda rng: _cg_boost(rng, nu=True) | {"nu": _nu(rng)},
    "CGBoostRegressor": lambda rng: _cg_boost(rng) | {"epsilon": _pick(rng, 0.0, 0.1, 10.0)},
    "CGEns": lambda rng: (
        _columns(rng)
        | {
            "loss": _pick(rng, "hinge", "squared_hinge"),
            "intercept": _pick(rng, "free", "penalized", "none"),
            "portable": _pick(rng, False, True),
        }
    ),
    "CGEnsSLS": _columns,
    "DRM": _drm,
    "DistanceKernelSVC": lambda rng: _kernel(rng) | {"C": _cost(rng)},
    "DistanceKernelSVCCV": lambda rng: _kernel(rng) | {"cv": 2, "random_state": 0},
    "DistanceKernelSVR": lambda rng: {"C": _cost(rng), "epsilon": _pick(rng, 0.0, 0.1, 10.0)},
    "ExRM": _exrm,
    "LPBoost": lambda rng: (
        _columns(rng)
        | {
            "intercept": _pick(rng, "free", "penalized", "none"),
            "solver": _pick(rng, "sifting", "sifting", "dual-simplex", "primal-simplex", "ipm"),
        }
    ),
    "MultiBoost": _multiboost,
}
