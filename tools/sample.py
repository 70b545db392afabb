"""Fit what picks hypotheses one by one; print what it picked and its numbers as JSON, on any processor.

`tools/processors.py` compares what two processors print. Usage: python tools/sample.py
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
import warnings
from typing import Any

import numpy as np

import kernsemble
from kernsemble.hypotheses.kernel_columns import KernelExpansion

POOL = {"base": "perceptron-pool", "base_options": {"n_hypotheses": 200}, "random_state": 0}
PERCEPTRONS = {"base": "perceptron", "random_state": 0}
CGENS = {"C": 0.1, "n_rounds": 40, "least_norm": True, "tol": 1e-9}
FITS = {  # label: estimator, dataset, options
    "CGENS, stumps": ("CGEns", "sonar", CGENS),
    "CGENS, perceptrons": ("CGEns", "sonar", CGENS | POOL),
    "CGENS-SLS": ("CGEnsSLS", "wine", {"n_rounds": 20}),
    "AdaBoost": ("AdaBoost", "sonar", {"n_rounds": 40}),
    "AdaBoost, perceptrons": ("AdaBoost", "sonar", {"n_rounds": 10} | PERCEPTRONS),
    "LPBoost": ("LPBoost", "sonar", {"n_rounds": 40}),
    "CG-Boost": ("CGBoostClassifier", "sonar", {"tol": 1e-9}),
    "MultiBoost": ("MultiBoost", "wine", {"n_rounds": 20, "tol": 1e-10}),
    "SVM, stumps": ("DistanceKernelSVC", "sonar", {"kernel": "stump", "tol": 1e-12}),
    "SVM, perceptrons": ("DistanceKernelSVC", "sonar", {"kernel": "perceptron", "tol": 1e-12}),
}


def choices(model: Any, X: np.ndarray) -> list:
    """Return what a model picked, in order: centers of kernels, signs of hypotheses, or support vectors."""
    hypotheses = getattr(model, "hypotheses_", None)
    if hypotheses is None:
        return model.support_.tolist()
    if isinstance(hypotheses, KernelExpansion):
        place = {x.tobytes(): i for i, x in enumerate(X)}
        kernels = zip(hypotheses.positions, hypotheses.centers, strict=True)
        found = [
            (int(j), k, place[center.tobytes()])
            for k, (positions, centers) in enumerate(kernels)
            for j, center in zip(positions, centers, strict=True)
        ]
        return [list(column[1:]) for column in sorted(found)]
    signs = np.packbits(hypotheses.outputs(X) > 0, axis=0)
    return [hashlib.sha256(column.tobytes()).hexdigest()[:8] for column in signs.T]


def numbers(model: Any) -> list[float]:
    """Return a model's objective after each round, or at the end."""
    path = getattr(model, "objective_path_", None)
    return np.ravel(model.objective_ if path is None else path).tolist()


def fit(label: str) -> dict[str, Any]:
    """Fit one model; say what it picked, its numbers and its seconds."""
    estimator, name, options = FITS[label]
    data = kernsemble.load(name)
    start = time.perf_counter()
    model = getattr(kernsemble, estimator)(**options).fit(data.X, data.y)
    seconds = round(time.perf_counter() - start, 2)
    return {"choices": choices(model, data.X), "numbers": numbers(model), "seconds": seconds}


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of rounds that run out
    sys.stderr.write(f"{platform.machine()}, NumPy {np.__version__}\n")
    json.dump({label: fit(label) for label in FITS}, sys.stdout)
