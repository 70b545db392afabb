"""The checks of scikit-learn, once: every estimator, with other settings too; what is exempt, and why."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsemble as k

ROUNDS = {"n_rounds": 10, "tol": None}
TO_THE_END = {"n_rounds": 200, "tol": 1e-12}  # before, rounding may choose between columns of two classes
POOL = {"base": "perceptron-pool", "base_options": {"n_hypotheses": 50}, "random_state": 0}
COSINES = {"base": "fourier", "base_options": {"n_hypotheses": 50}, "random_state": 0}
WALK = {"base": "perceptron", "base_options": {"n_updates": 20}, "random_state": 0}

SETTINGS = [
    *(getattr(k, name)() for name in sorted(k._ESTIMATORS)),
    k.StreamedCGEns(),
    k.AdaBoost(10, class_weight="balanced"),
    k.AdaBoost(10, perfect="alone"),
    k.AdaBoost(10, **POOL),
    k.AdaBoost(10, **COSINES),
    k.AdaBoost(10, **WALK),
    k.AdaBoost(20, n_iter_no_change=5, random_state=0),
    k.AdaBoostMH(10, warm_start=True, n_jobs=1),
    k.AdaBoostECC(20, coloring="maxcut", random_state=0),
    k.AdaBoostECC(20, coloring="half", random_state=0, class_weight="balanced"),
    k.AdaBoostMH(20, class_weight="balanced"),
    k.AdaBoostMO(10, code="exhaustive"),
    k.AdaBoostMO(10, code="random", random_state=0),
    k.CGEns(C=0.1, class_weight="balanced", **TO_THE_END),
    k.CGEns(C=0.1, loss="squared_hinge", n_rounds=200, tol=1e-7),
    k.CGEns(C=0.1, intercept="penalized", **ROUNDS, **COSINES),
    k.CGEns(C=0.1, portable=False, **ROUNDS),
    k.CGEns(C=0.1, intercept="none", **ROUNDS, **POOL),
    k.CGEns(C=0.1, n_iter_no_change=5, validation_fraction=0.3, random_state=0, n_jobs=2, **ROUNDS),
    k.CGEns(C=0.1, warm_start=True, **TO_THE_END),
    k.CGEnsSLS(C=0.1, class_weight="balanced", **ROUNDS),
    k.CGEnsSLS(C=0.1, **ROUNDS, **COSINES),
    k.LPBoost(intercept="free", solver="ipm", **ROUNDS),
    k.LPBoost(intercept="free", **ROUNDS, **POOL),
    k.LPBoost(solver="dual-simplex", class_weight="balanced", **ROUNDS),
    k.MultiBoost(per_class=False, **ROUNDS),
    k.MultiBoost(class_weight="balanced", **ROUNDS),
    k.MultiBoost(solver="fcd", **ROUNDS, **POOL),
    k.MultiBoost(C=1e8, solver="fcd", tau_max=1, random_state=0, **ROUNDS),
    k.MultiBoost(solver="lbfgsb", n_rounds=5, tol=None, **WALK),
    k.CGBoostClassifier(["linear", "rbf"], norm="l1", positive=True, n_rounds=10, tol=None),
    k.CGBoostClassifier(["linear+rbf"], termination="TR3", patience=5, n_rounds=30, random_state=0),
    k.CGBoostClassifier(positive=True, class_weight="balanced", n_rounds=10, tol=None),
    k.CGBoostRegressor(["linear", "rbf"], norm="l1", C=10.0, n_rounds=20, tol=None),
    k.CGBoostRegressor(["linear"], n_rounds=20, tol=None, warm_start=True, n_jobs=1),
    k.CGBoostNovelty(n_rounds=10, nu=0.3, tol=None),
    k.DistanceKernelSVC("perceptron", multi_class="ovr", tol=1e-9),
    k.DistanceKernelSVC("rbf", class_weight="balanced", tol=1e-9),
    k.DistanceKernelSVC("precomputed", tol=1e-9),
    k.DistanceKernelSVC(solver="spline", tol=1e-9),
    k.DistanceKernelSVC(loss="squared_hinge", tol=1e-9),
    k.DistanceKernelSVC("perceptron", n_directions=8, random_state=0),
    k.DistanceKernelSVCCV(
        "perceptron", Cs=[0.1, 1.0], cv=2, random_state=0, class_weight="balanced", tol=1e-9
    ),
    k.DistanceKernelSVCCV(solver="spline", Cs=[0.1, 1.0, 10.0], cv=2, random_state=0, tol=1e-13),
    k.DistanceKernelSVCCV("precomputed", Cs=[0.1, 1.0, 10.0], cv=2, random_state=0, tol=1e-6),
    k.DistanceKernelSVR("perceptron", n_directions=8, random_state=0, tol=1e-13),
    k.DistanceKernelSVR(loss="squared_error", tol=1e-13),
    k.DRM(2, q=2, kernel="rbf", gamma=0.1, random_state=0),
    k.ExRM(3, p=1, class_weight="balanced"),
    k.ExRM(3, solver="admm"),
    k.ExRM(3, solver="printed", start="random", random_state=0),
]

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"  # to seven digits
WEIGHT_CHECKS = (WEIGHTS, WEIGHTS.replace("dense", "sparse"))
COLUMNS = "a sample repeated is one more column under an l2 norm and widens the rbf; a sample weighted is not"
TOLERANCE = "equal to the tolerance, which is not seven digits"
HELD = "which samples are held out is drawn by row: of a sample repeated, one copy may be held out alone"
CLASS_WEIGHTS = (
    "check_class_weight_classifiers"  # ten million times the weight for one class: predict it nearly always
)
CUTS = (
    "samples of the light class where there are none of the other are cut off by an exact stump at no cost: "
    "the ensemble that minimizes its loss does so"
)
SOLUTIONS = "a linear program may have several solutions, and which of them HiGHS returns depends on its rows"
UNSCALED = (
    "columns of the quadratic kernel have large entries on unscaled data, and cost next to nothing there"
)


def exempt(model):
    """Names of checks that an estimator need not pass, with the reasons."""
    found = {}
    if isinstance(model, k.CGBoostClassifier | k.CGBoostNovelty) or _is_l2_regression(model):
        found[WEIGHTS] = COLUMNS
        if isinstance(model, k.CGBoostClassifier) and "quadratic" in model.kernels and not model.positive:
            found[CLASS_WEIGHTS] = UNSCALED
    elif isinstance(model, k.LPBoost) and model.solver == "ipm":
        found[WEIGHTS] = SOLUTIONS
    elif isinstance(model, k.DRM | k.StreamedCGEns) or _loose(model):
        found[WEIGHTS] = TOLERANCE
    if isinstance(model, k.CGEns) and model.n_iter_no_change is not None:  # AdaBoost needs one round there
        found[WEIGHTS] = HELD
    if WEIGHTS in found:
        found |= dict.fromkeys(WEIGHT_CHECKS, found[WEIGHTS])
    boosts = isinstance(model, k.AdaBoost | k.AdaBoostECC | k.AdaBoostMH | k.AdaBoostMO | k.MultiBoost)
    boosts = boosts or (isinstance(model, k.LPBoost) and model.intercept == "none")
    walks = isinstance(model, k.AdaBoost) and model.base == "perceptron"
    if walks:
        found |= dict.fromkeys(WEIGHT_CHECKS, "a descent is a path: rounding decides its ties")
    if (boosts and model.base in ("stump", "fourier")) or walks:
        found[CLASS_WEIGHTS] = CUTS
    if isinstance(model, k.StreamedCGEns):
        found[CLASS_WEIGHTS] = "the check sets n_iter_no_change, which is no parameter here"
    return found


def _is_l2_regression(model):
    return isinstance(model, k.CGBoostRegressor) and model.norm == "l2"


def _loose(model):
    """Whether a solver stops early."""
    if isinstance(model, k.DistanceKernelSVC):
        return model.tol >= 1e-3 and model.n_directions is None
    if isinstance(model, k.DistanceKernelSVR):
        return model.tol >= 1e-3
    if isinstance(model, k.ExRM):
        return model.solver != "exact"
    return isinstance(model, k.CGEns) and not model.portable


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # checks fit noise
@pytest.mark.filterwarnings("ignore:.*edge of the grid", "ignore:.*Rounding leaves nothing to gain")
@pytest.mark.filterwarnings("ignore:The least populated class", "ignore:.*no margin is possible")
@parametrize_with_checks(SETTINGS, expected_failed_checks=exempt)
def test_scikit_learn_accepts_every_setting(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        k.CGBoostClassifier(["linear", "quadratic"], norm="l1", positive=True, n_rounds=30),
        k.LPBoost(n_rounds=20, intercept="free", solver="ipm", tol=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_are_repetitions_where_columns_and_solution_stay(model, n_classes):
    """What is exempt above, on data on which its reason does not hold."""
    rng = np.random.default_rng(0)
    X, weight, y = rng.normal(size=(45, 10)), rng.integers(0, 4, 45), rng.integers(0, n_classes, 45)
    weighted = model.fit(X, y, sample_weight=weight.astype(float)).decision_function(X)
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)
