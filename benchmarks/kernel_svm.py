"""Support vector machines on one kernel matrix: a single one, and a whole grid of C or from scratch.

On the same matrix, LIBSVM has one thread for a machine, and two processes for a grid; we have two threads
for either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from race import Row, compare, fastest, once
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from kernsemble import DistanceKernelSVCCV
from kernsemble.kernels import perceptron_kernel, stump_kernel
from kernsemble.masters.kernel_hinge import cross_validate_path, solve_kernel_hinge

NOTE = (
    "the peer has our kernel as its callable: LIBSVM in two processes against ours in two threads, of which "
    "one idles for a sixth of the time, there being five folds"
)
STEPS = (
    "both sides take some 20,000 pair steps a fold; ours, 0.3 microseconds each for 560 samples in single "
    "precision, leave nothing to save but their number, which second-order selection and warm starts set"
)
KERNELS = {"stump": stump_kernel, "perceptron": perceptron_kernel}
CS = 2.0 ** np.arange(-17, 4, 2)


def overlapping(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Uniform points whose classes overlap: the Bayes error is near 25 %."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, d))
    direction = rng.normal(size=d)
    return X, np.where(X @ direction + 0.5 * np.linalg.norm(direction) * rng.normal(size=n) > 0, 1, -1)


def one_machine(kernel: str, n: int, d: int, target: float) -> Row:
    """Solve one machine, C = 1, on a matrix that both are given; both dual objectives are right to 1e-6."""
    X, y = overlapping(n, d)
    K = KERNELS[kernel](X)
    ours, solution = fastest(lambda: solve_kernel_hinge(K, y, 1.0), 3)
    theirs, machine = once(lambda: SVC(kernel="precomputed").fit(K, y))
    beta = np.zeros(n)
    beta[machine.support_] = machine.dual_coef_[0]
    attained = y @ beta - 0.5 * beta @ K @ beta
    same = abs(solution.dual_objective - attained) <= 1e-6 * attained and solution.relative_gap <= 1e-3
    task = f"a machine on one kernel matrix, {kernel}"
    return compare(task, f"{n} x {d}", "scikit-learn SVC, precomputed", ours, theirs, target, same)


def grid_on_one_matrix(kernel: str, n: int, d: int, target: float) -> Row:
    """Select C among 11 by 5 folds on a matrix that both are given."""
    X, y = overlapping(n, d)
    K, folds = KERNELS[kernel](X), list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    ours, counts = fastest(lambda: cross_validate_path(K, y, CS, folds), 2 if n < 2000 else 1)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": CS}, cv=folds, n_jobs=2, refit=False)
    warm = GridSearchCV(SVC(kernel="precomputed"), {"C": CS[:2]}, cv=2, n_jobs=2, refit=False)
    warm.fit(K[:50, :50], y[:50])  # starts the processes
    theirs, _ = once(lambda: search.fit(K, y))
    scores = search.cv_results_["mean_test_score"]
    same = (
        np.allclose(counts.sum(axis=1) / n, scores, atol=2 / n)
        and counts.sum(axis=1).argmax() == scores.argmax()
    )
    task, peer = (
        f"55 problems on one kernel matrix, {kernel}",
        "scikit-learn GridSearchCV of SVC, precomputed",
    )
    return compare(task, f"{n} x {d}", peer, ours, theirs, target, same, STEPS if n < 1000 else "")


def selection(kernel: str, n: int, d: int, target: float) -> Row:
    """Select C among 11 by 5 folds; scikit-learn spreads its fits over two processes."""
    X, y = overlapping(n, d)
    model = DistanceKernelSVCCV(kernel, Cs=CS, random_state=0)
    ours, _ = fastest(lambda: model.fit(X, y), 3)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(kernel=KERNELS[kernel]), {"C": model.Cs_}, cv=folds, n_jobs=2)
    search.fit(X[:50], y[:50])  # starts the processes
    theirs, _ = once(lambda: search.fit(X, y))
    same = model.best_C_ == search.best_params_["C"] and np.allclose(
        model.cv_scores_, search.cv_results_["mean_test_score"], atol=2 / n
    )  # at tolerance 1e-3 a held-out sample near the boundary may change sides
    task = f"55 problems of parameter selection, {kernel}"
    return compare(task, f"{n} x {d}", "scikit-learn GridSearchCV of SVC", ours, theirs, target, same, NOTE)


def gaussian_selection(n: int, d: int, target: float) -> Row:
    """Select among 11 C and 10 gamma by 5 folds."""
    X, y = overlapping(n, d)
    model = DistanceKernelSVCCV("gaussian", random_state=0)
    ours, _ = fastest(lambda: model.fit(X, y), 1)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = {"C": model.Cs_, "gamma": model.gammas_}
    search = GridSearchCV(SVC(), grid, cv=folds, n_jobs=2)
    theirs, _ = once(lambda: search.fit(X, y))
    scores = search.cv_results_["mean_test_score"].reshape(len(model.Cs_), -1).T
    same = np.allclose(model.cv_scores_, scores, atol=3 / n)
    task = "550 problems of parameter selection, Gaussian"
    return compare(task, f"{n} x {d}", "scikit-learn GridSearchCV of SVC", ours, theirs, target, same)


def rows() -> Iterator[Row]:
    """Run the races of this file."""
    yield from (one_machine("stump", n, 20, 2.0) for n in (1000, 8000, 16_000))
    yield grid_on_one_matrix("stump", 700, 20, 10.0)
    yield from (grid_on_one_matrix("stump", n, 20, 5.0) for n in (3000, 6000))
    yield from (selection(kernel, 700, 20, 10.0) for kernel in KERNELS)
    yield gaussian_selection(300, 20, 5.0)
