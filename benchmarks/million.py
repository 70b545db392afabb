"""The stump machine without a kernel matrix, 10^4 to 10^6 rows of 20 features, against what fits so many.

Training only, on the same rows; every model then scores 100,000 others. An additive function of the features
with noise: boosted trees have nothing to gain from interactions, and SVC with the exact kernel has the same
machine. ``same_answer`` says that the certificate is below 1e-3 and that the error is at most half a
percentage point above the peer's; against SVC it says that the objectives agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from race import Row, compare, fastest, once
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import SVC, LinearSVC

from kernsemble import DistanceKernelSVC
from kernsemble.kernels import stump_constant, stump_kernel

SIZES, WIDTH, NEW = (10_000, 100_000, 1_000_000), 20, 100_000
C = {10_000: 0.1, 100_000: 0.1, 1_000_000: 0.01}
NYSTROEM = "Nystroem (200 rows) and LinearSVC"
LARGEST = {"SVC": 10_000, NYSTROEM: 100_000}  # rows: a kernel matrix; features and liblinear's copy
POINTS = 0.005
TARGETS = {"LightGBM": 1.0, "LinearSVC on one-hot bins": 2.0, NYSTROEM: 5.0, "SVC": 10.0}


@cache
def samples(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and labels by an additive function of eight features with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, WIDTH))
    f = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 - 1 + np.abs(X[:, 2]) - 0.8 + 0.5 * X[:, 3:8].sum(axis=1)
    return X, np.where(f + rng.normal(size=n) > 0, 1, -1)


class StumpNystroem(TransformerMixin, BaseEstimator):
    """Nystroem features of the exact stump kernel, made by our kernel: scikit-learn's takes pairs of rows."""

    def __init__(self, n_components: int = 200):
        self.n_components = n_components

    def fit(self, X: np.ndarray, y: object = None) -> StumpNystroem:
        """Take the first rows as landmarks."""
        self.landmarks_ = X[: self.n_components]
        self.constant_ = stump_constant(X.min(axis=0), X.max(axis=0))
        values, vectors = np.linalg.eigh(stump_kernel(self.landmarks_, constant=self.constant_))
        self.root_ = vectors / np.sqrt(np.maximum(values, 1e-12 * values.max()))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Features (n, n_components)."""
        return stump_kernel(X, self.landmarks_, constant=self.constant_) @ self.root_


PEERS: dict[str, Callable[[np.ndarray], Any]] = {
    "LightGBM": lambda X: LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=2, verbose=-1),
    "LinearSVC on one-hot bins": lambda X: make_pipeline(
        KBinsDiscretizer(
            32, encode="onehot", subsample=200_000, random_state=0, quantile_method="averaged_inverted_cdf"
        ),
        LinearSVC(C=0.01, random_state=0),
    ),
    NYSTROEM: lambda X: make_pipeline(StumpNystroem(), LinearSVC(C=1.0, random_state=0)),
}


def against(peer: str, n: int, ours: float, model: DistanceKernelSVC) -> Row:
    """Race one peer against the seconds of our fit."""
    (X, y), (X_new, y_new) = samples(n), samples(NEW, 1)
    theirs, fitted = once(lambda: PEERS[peer](X).fit(X, y))
    error, reference = 1.0 - model.score(X_new, y_new), 1.0 - fitted.score(X_new, y_new)
    same = model.relative_gap_ <= 1e-3 and error <= reference + POINTS
    note = f"gap {model.relative_gap_:.1e}; error {100 * error:.2f} % against {100 * reference:.2f} %"
    return compare("stump machine", f"{n} x {WIDTH}", peer, ours, theirs, TARGETS[peer], same, note)


def against_svc(n: int, ours: float, model: DistanceKernelSVC) -> Row:
    """Race SVC on the kernel matrix, which its time includes."""
    X, y = samples(n)
    theirs, machine = once(lambda: SVC(kernel=stump_kernel, C=C[n], cache_size=1000).fit(X, y))
    beta, rows = machine.dual_coef_[0], machine.support_
    dual = y[rows] @ beta - 0.5 * beta @ stump_kernel(X[rows]) @ beta
    same = dual <= model.objective_[0] * (1 + 1e-9) and model.objective_[0] - dual <= 2e-3 * dual
    return compare("stump machine", f"{n} x {WIDTH}", "SVC", ours, theirs, TARGETS["SVC"], same)


def rows(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Run the races of this file."""
    for peer in PEERS:  # compiled, and imported, before the clock starts
        PEERS[peer](samples(2000)[0]).fit(*samples(2000))
    for n in sizes:
        X, y = samples(n)
        model = DistanceKernelSVC(C=C.get(n, 0.1), solver="spline")
        ours, _ = fastest(lambda X=X, y=y, model=model: model.fit(X, y), 2)
        for peer in PEERS:
            if n <= LARGEST.get(peer, n):
                yield against(peer, n, ours, model)
        if n <= LARGEST["SVC"]:
            yield against_svc(n, ours, model)
