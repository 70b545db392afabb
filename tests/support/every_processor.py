"""Small fits of every method that makes choices, for one kind of processor; prints them as JSON.

Run by ``test_processors.py`` in a process whose variables name the kernels of BLAS, NumPy's and numba's, and
by ``tools/processors.py`` on an emulated processor.
"""

import json
import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_info

from kernsemble import (
    AdaBoost,
    AdaBoostECC,
    AdaBoostMH,
    AdaBoostMO,
    CGBoostClassifier,
    CGBoostNovelty,
    CGBoostRegressor,
    CGEns,
    CGEnsSLS,
    DistanceKernelSVC,
    LPBoost,
    MultiBoost,
)

PAIR = load_breast_cancer(return_X_y=True)
SCALED = scale(PAIR[0]), PAIR[1]
VOTES = (PAIR[0][:300] > np.median(PAIR[0], axis=0)).astype(float), PAIR[1][:300]  # many equal rows
CLASSES = load_wine(return_X_y=True)
VALUES = [part[:150] for part in load_diabetes(return_X_y=True)]
NOVEL = (SCALED[0][SCALED[1] == 1][:150],)
POINTS = np.random.default_rng(9).normal(size=(200, 2))
PLANE = POINTS, (POINTS**2).sum(axis=1) < 2 * np.log(2)  # half of a normal; rows of stumps' outputs depend
POOL = {"base_options": {"n_hypotheses": 300}, "random_state": 0}
KERNELS = ["linear", "rbf"]

FITS = {
    "CGEns, stumps": (CGEns(C=0.1, n_rounds=60), PAIR),
    "CGEns, votes": (CGEns(C=0.02, n_rounds=25), VOTES),
    "CGEns, plane": (CGEns(C=1.0, n_rounds=60), PLANE),
    "CGEns, no intercept": (CGEns(C=0.1, n_rounds=30, intercept="none"), PAIR),
    "CGEns, squared hinge": (CGEns(C=0.1, n_rounds=30, loss="squared_hinge"), PAIR),
    "CGEns, pool of perceptrons": (CGEns(C=0.1, n_rounds=40, base="perceptron-pool", **POOL), SCALED),
    "CGEns, cosines": (CGEns(C=1.0, n_rounds=30, base="fourier", **POOL), SCALED),
    "CGEns, perceptrons": (CGEns(C=0.1, n_rounds=12, base="perceptron", random_state=0), SCALED),
    "CGEnsSLS": (CGEnsSLS(C=0.1, n_rounds=30), CLASSES),
    "LPBoost, stumps": (LPBoost(C=0.1, n_rounds=30), PAIR),
    "LPBoost, votes": (LPBoost(C=0.3, n_rounds=30, intercept="free"), VOTES),
    "LPBoost, pool of perceptrons": (LPBoost(C=0.1, n_rounds=30, base="perceptron-pool", **POOL), SCALED),
    "CG-Boost, l2": (CGBoostClassifier(KERNELS, n_rounds=25), SCALED),
    "CG-Boost, l2, w >= 0": (CGBoostClassifier(KERNELS, n_rounds=25, positive=True), VOTES),
    "CG-Boost, l1": (CGBoostClassifier(KERNELS, n_rounds=25, norm="l1", stratified=False), SCALED),
    "CG-Boost, nu": (CGBoostClassifier(KERNELS, n_rounds=15, nu=0.2), SCALED),
    "CG-Boost, values, l2": (CGBoostRegressor(KERNELS, C=10.0, n_rounds=20), VALUES),
    "CG-Boost, values, l1": (CGBoostRegressor(KERNELS, C=10.0, n_rounds=20, norm="l1"), VALUES),
    "CG-Boost, novelty": (CGBoostNovelty(n_rounds=20), NOVEL),
    "MultiBoost-cw": (MultiBoost(C=1e3, n_rounds=20), CLASSES),
    "MultiBoost": (MultiBoost(C=1e3, n_rounds=20, per_class=False), CLASSES),
    "AdaBoost, stumps": (AdaBoost(150), PAIR),
    "AdaBoost, perceptrons": (AdaBoost(15, base="perceptron", random_state=0), SCALED),
    "AdaBoost.MH": (AdaBoostMH(40), CLASSES),
    "AdaBoost.ECC": (AdaBoostECC(40, coloring="maxcut"), CLASSES),
    "AdaBoost.MO": (AdaBoostMO(20), CLASSES),
    "SVM, stumps": (DistanceKernelSVC("stump", tol=1e-12), PAIR),
    "SVM, perceptrons": (DistanceKernelSVC("perceptron", tol=1e-12), SCALED),
}


def choices(model):
    """What was chosen, in plain numbers that do not end in rounding."""
    hypotheses = getattr(model, "hypotheses_", None)
    if hypotheses is None:
        return model.support_.tolist()
    if hasattr(hypotheses, "features"):  # stumps
        return [hypotheses.features.tolist(), hypotheses.thresholds.tolist(), hypotheses.signs.tolist()]
    if hasattr(hypotheses, "theta"):
        return [[f"{t:.9e}" for t in hypotheses.theta[:, 0]], hypotheses.signs.tolist()]
    centers = [[f"{c:.9e}" for c in Z[:, 0]] for Z in hypotheses.centers]
    return [[p.tolist() for p in hypotheses.positions], centers]


def fit(model, data):
    """What a fit chose, and its numbers."""
    model.fit(*data)
    path = getattr(model, "objective_path_", None)
    return {
        "choices": choices(model),
        "weights": np.ravel(model.dual_coef_ if path is None else model.weights_).tolist(),
        "objectives": np.ravel(model.objective_ if path is None else path).tolist(),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # rounds run out
    kernels = {library["architecture"] for library in threadpool_info() if "architecture" in library}
    found = {name: fit(*each) for name, each in FITS.items()}
    json.dump({"kernels": sorted(kernels), "found": found}, sys.stdout)
