"""Trials of figure 1: regression on a target that is linear + RBF, with four models and two norms."""

from __future__ import annotations

import time

import numpy as np

from kernsemble.data.generators import linear_rbf, linear_rbf_target
from kernsemble.estimators.cg_boost_regressor import CGBoostRegressor
from kernsemble.hypotheses.kernel_library import CompositeKernel, GaussianKernel, Kernel, LinearKernel
from kernsemble.trials.trial import Trial
from bi2004.plan import paper
from bi2004.runs import columns_by_kernel
from bi2004.sets import NORMS, SMALL_CHOICES, TARGET

METHODS = tuple(f"{norm}/{name}" for norm in NORMS for name in SMALL_CHOICES)


def target_library(name: str, target_sigma: float) -> list[Kernel]:
    """Return the kernels of a model; the RBF kernel has the target's own width."""
    single = {"linear": LinearKernel(), "rbf": GaussianKernel(width=target_sigma**2)}
    made = []
    for kernel in SMALL_CHOICES[name]:
        parts = [single[part] for part in kernel.split("+")]
        made.append(parts[0] if len(parts) == 1 else CompositeKernel(parts))
    return made


def target_data(trial: Trial, target_sizes: dict[str, int], sigma: float, noise: float):
    """Return training points, noisy validation points, and noise-free test points, each (X, y)."""
    rng = trial.shared_rng("target", dataset=TARGET)
    train, validation = (
        linear_rbf(target_sizes[part], sigma, noise, rng) for part in ("train", "validation")
    )
    Z = rng.uniform(-1.0, 1.0, (target_sizes["test"], 2))
    return train, validation, (Z, linear_rbf_target(Z, sigma))


def fit_target(
    method: str, X: np.ndarray, y: np.ndarray, C: float, sigma: float, epsilon: float, gap: float
) -> CGBoostRegressor:
    """Solve (13), or its 1-norm form, over the columns of one model to a certified gap."""
    norm, _, name = method.partition("/")
    kernels = target_library(name, sigma)
    n_rounds = len(kernels) * len(y)
    return CGBoostRegressor(
        kernels, C, epsilon=epsilon, norm=NORMS[norm], n_rounds=n_rounds, tol=gap, stratified=True
    ).fit(X, y)  # fmt: skip


@paper.trials("figure1", methods=METHODS, datasets=(TARGET,))
def linear_and_rbf(
    trial: Trial,
    *,
    target_sizes: dict[str, int],
    target_sigma: float,
    target_noise: float,
    target_epsilon: float,
    target_Cs: list[float],
    gap: float,
) -> dict[str, float]:
    """Choose C on validation data; the root mean squared error is that against the target without noise."""
    train, validation, (Z, f) = target_data(trial, target_sizes, target_sigma, target_noise)
    runs, seconds = [], []
    for C in target_Cs:
        start = time.process_time()
        runs.append(fit_target(trial.method, *train, C, target_sigma, target_epsilon, gap))
        seconds.append(time.process_time() - start)
    best = int(np.argmin([root_mean_square(run.predict(validation[0]) - validation[1]) for run in runs]))
    model = runs[best]
    start = time.process_time()
    predicted = model.predict(Z)
    test_seconds = time.process_time() - start
    return {
        "rmse": root_mean_square(predicted - f),
        "train_rmse": root_mean_square(model.predict(train[0]) - train[1]),
        "columns": float(np.count_nonzero(model.coef_)),
        "rbf_columns": float(columns_by_kernel(model.n_columns_)["rbf"]),
        "evaluations": float(model.n_kernel_evaluations_),
        "log10_C": float(np.log10(target_Cs[best])),
        "fit_seconds": seconds[best],
        "test_seconds": test_seconds,
    }


def root_mean_square(values: np.ndarray) -> float:
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
