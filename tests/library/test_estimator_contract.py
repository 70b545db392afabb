"""What each public estimator shows of its fit, and why not where something is missing."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags
from support.certificates import PROBLEMS, certify

import kernsemble
from kernsemble.hypotheses.stumps import StumpOracle

NOTHING_TO_CERTIFY = "stage-wise: minimizes no stated problem over the weights at once, so there is no dual"
AT_ONCE = "solved at once, without rounds"
NO_STUMPS = "kernel columns, not stumps"
MANY_PATHS = (
    "sequential minimal optimization of one problem a class and value of C: its certificate is the gap"
)
NO_SCORES = "regression: staged_predict is that"
MARGIN = "the margin that decides belongs to the last round's weights"

COLUMN_GENERATION = {
    "dual_gap_": True,
    "relative_gap_": True,
    "dual_weights_": True,
    "objective_path_": True,
    "n_rounds_": True,
    "verbose": True,
    "sample_weight": True,
    "staged_predict": True,
    "staged_decision_function": True,
    "feature_importances_": True,
}
CERTIFICATE = ("dual_gap_", "relative_gap_", "dual_weights_")
STAGE_WISE = {**COLUMN_GENERATION, **dict.fromkeys(CERTIFICATE, NOTHING_TO_CERTIFY)}
SINGLE_FIT = {
    **dict.fromkeys((*CERTIFICATE, "objective_path_", "n_iter_", "verbose", "sample_weight"), True),
    **dict.fromkeys(
        ("staged_predict", "staged_decision_function", "feature_importances_", "n_rounds_"), AT_ONCE
    ),
}
MIXTURE = {**COLUMN_GENERATION, "feature_importances_": NO_STUMPS}
KERNEL_TRICK = {**SINGLE_FIT, "objective_path_": MANY_PATHS, "feature_importances_": True}  # of stumps
del KERNEL_TRICK["relative_gap_"], KERNEL_TRICK["dual_weights_"]  # its dual_coef_ says it

ADDITIVE = {
    **dict.fromkeys(("dual_gap_", "relative_gap_", "sample_weight", "feature_importances_", "n_iter_"), True),
    **dict.fromkeys(("staged_predict", "n_rounds_"), AT_ONCE),
}

CONTRACT = {
    **dict.fromkeys(("AdaBoost", "AdaBoostECC", "AdaBoostMH", "AdaBoostMO"), STAGE_WISE),
    **dict.fromkeys(("CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"), COLUMN_GENERATION),
    "CGBoostClassifier": MIXTURE,
    "CGBoostRegressor": {**MIXTURE, "staged_decision_function": NO_SCORES},
    "CGBoostNovelty": {**MIXTURE, "staged_predict": MARGIN, "staged_decision_function": MARGIN},
    **dict.fromkeys(("DRM", "ExRM"), SINGLE_FIT),
    "DistanceKernelSVC": KERNEL_TRICK,
    "DistanceKernelSVCCV": KERNEL_TRICK,
    "DistanceKernelSVR": {**ADDITIVE, "verbose": AT_ONCE},
}
X = np.random.default_rng(0).normal(size=(30, 3))
NOISE = np.random.default_rng(1).normal(size=30)
ROUNDS = 4


def new(name, **options):
    """Return an estimator of few rounds."""
    model = getattr(kernsemble, name)(**options)
    few = {"n_rounds": ROUNDS, "random_state": 0}
    return model.set_params(**{key: value for key, value in few.items() if key in model.get_params()})


def target(model, n_classes=2):
    """Numbers, or classes that the first feature tells apart."""
    return X[:, 0] if is_regressor(model) else np.digitize(X[:, 0], [0.0, 0.7][: n_classes - 1])


def is_multi_class(name):
    tags = get_tags(getattr(kernsemble, name)()).classifier_tags
    return tags is not None and tags.multi_class


FITS = [
    (name, n_classes)
    for name in sorted(kernsemble._ESTIMATORS)
    for n_classes in ((2, 3) if is_multi_class(name) else (2,))
]
BOOSTS = [
    name for name in CONTRACT if "base" in getattr(kernsemble, name)().get_params()
]  # stumps, or others


@pytest.fixture(params=FITS, ids=lambda fit: f"{fit[0]}-{fit[1]}")
def fitted(request):
    """Return the name and a fitted estimator, of two classes or three."""
    name, n_classes = request.param
    model = new(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return name, model.fit(X, target(model, n_classes))


def test_every_public_estimator_has_a_row():
    assert set(CONTRACT) == set(kernsemble._ESTIMATORS)


@pytest.mark.parametrize("name", sorted(kernsemble._ESTIMATORS))
def test_the_first_parameter_says_how_many_or_which_kernels(name):
    first, *others = inspect.signature(getattr(kernsemble, name)).parameters.values()
    assert first.name in ("n_rounds", "n_components", "kernel", "kernels")
    assert all(other.kind is inspect.Parameter.KEYWORD_ONLY for other in others)


def test_each_has_what_its_row_says(fitted):
    name, model = fitted
    found = {entry: hasattr(model, entry) for entry in CONTRACT[name]}
    found["verbose"] = "verbose" in model.get_params()
    found["sample_weight"] = "sample_weight" in inspect.signature(model.fit).parameters
    assert found == {entry: reason is True for entry, reason in CONTRACT[name].items()}


def test_certificates_and_records_fit_the_rounds(fitted):
    name, model = fitted
    if CONTRACT[name]["dual_gap_"] is True:
        assert np.all(np.isfinite(model.dual_gap_))
        assert np.min(model.dual_gap_) >= -1e-8
    if CONTRACT[name]["n_rounds_"] is True:
        assert 1 <= model.n_rounds_ <= ROUNDS
        assert len(model.objective_path_) == model.n_rounds_
        assert np.all(np.diff(model.objective_path_) <= 1e-9)
    else:
        assert np.max(model.n_iter_) >= 1


def test_the_last_stage_is_the_model(fitted):
    name, model = fitted
    for staged, whole in (("staged_predict", "predict"), ("staged_decision_function", "decision_function")):
        if CONTRACT[name].get(staged) is True:
            stages = list(getattr(model, staged)(X))
            assert len(stages) == model.n_rounds_
            final = getattr(model, whole)(X)
            if is_regressor(model) or whole == "decision_function":
                np.testing.assert_allclose(stages[-1], final, rtol=1e-9, atol=1e-9)
            else:
                np.testing.assert_array_equal(stages[-1], final)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_copies_are_the_model(fitted):
    _, model = fitted
    np.testing.assert_array_equal(score(pickle.loads(pickle.dumps(model))), score(model))
    one, other = (score(clone(model).fit(X, target(model))) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("base", ["stump", "perceptron", "perceptron-pool", "fourier"])
@pytest.mark.parametrize("name", [name for name in BOOSTS if name != "MultiBoost"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ensembles_keep_hypotheses_and_not_the_data(name, base):
    rows = np.random.default_rng(0).normal(size=(3000, 20))
    model = new(name, base=base).fit(rows, rows[:, 0] > 0.0)
    kept = pickle.dumps(model)
    assert len(kept) < 0.2 * rows.nbytes
    np.testing.assert_array_equal(pickle.loads(kept).predict(rows), model.predict(rows))


def test_importances_belong_to_the_features_used(fitted):
    name, model = fitted
    if name not in BOOSTS:
        return
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    used = np.reshape(model.weights_ != 0, (len(model.hypotheses_), -1)).any(axis=1)
    used &= np.isfinite(model.hypotheses_.thresholds)
    assert set(np.flatnonzero(model.feature_importances_)) == set(model.hypotheses_.features[used])
    assert not hasattr(new(name, base="perceptron").fit(X, target(model)), "feature_importances_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", BOOSTS)
def test_an_oracle_of_ones_own_and_bytes_or_floats(name):
    def base(X, random_state, features):
        return StumpOracle(X[:, :features], constant=False)

    rows = np.random.default_rng(0).integers(0, 256, (80, 5)).astype(np.uint8)
    y = rows[:, 0] > rows[:, 1]
    model = new(name, base=base, base_options={"features": 3}).fit(rows, y)
    assert model.hypotheses_.features.max() <= 2
    one, other = new(name).fit(rows, y), new(name).fit(rows.astype(float), y)
    np.testing.assert_array_equal(one.hypotheses_.thresholds, other.hypotheses_.thresholds)
    np.testing.assert_allclose(one.decision_function(rows), other.decision_function(rows), atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*edge of the grid")
def test_progress_is_drawn_on_demand(fitted, capsys):
    name, model = fitted
    if "verbose" not in model.get_params():
        return
    clone(model).set_params(verbose=2).fit(X, target(model))
    assert name in capsys.readouterr().err
    clone(model).fit(X, target(model))
    assert capsys.readouterr().err == ""


@pytest.mark.filterwarnings("ignore:.*edge of the grid")  # the weights leave few samples
def test_weights_change_the_model(fitted):
    _, model = fitted
    y = X[:, 0] if is_regressor(model) else (X[:, 0] + NOISE > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        even = score(model.fit(X, y, sample_weight=np.ones(len(X))))
        uneven = score(model.fit(X, y, sample_weight=np.geomspace(1e-3, 1e3, len(X))))
    assert not np.allclose(even, uneven, rtol=1e-6)


def score(model):
    """Return real-valued outputs."""
    return model.predict(X) if is_regressor(model) else model.decision_function(X)


# What fits the data of the certificates: few rounds, or to the end; the problems' other forms.
CERTIFIED = {
    "CGEns": [{"n_rounds": 3}, {"n_rounds": 200}, {"loss": "squared_hinge", "n_rounds": 5}, {"C": 1e8}],
    "CGEnsSLS": [{"n_rounds": 3, "C": 1.0}, {"tol": 1e-6}],
    "LPBoost": [{"n_rounds": 3}, {"C": 0.2}],
    "MultiBoost": [{"n_rounds": 3}, {"C": 100.0}],
    "CGBoostClassifier": [{"n_rounds": 5}, {"norm": "l1"}, {"n_rounds": 5, "stratified": True}],
    "CGBoostRegressor": [{"n_rounds": 5}, {"n_rounds": 40}],
    "CGBoostNovelty": [{"n_rounds": 5}, {"nu": 1.0, "tol": 1e-14}, {"nu": 0.5}],
    "ExRM": [{}, {"p": 1}, {"solver": "admm", "tol": 1e-3}, {"solver": "printed"}],
    "DRM": [{"n_components": 3, "random_state": 0}],
}
FIXED_SUM = {"CGBoostNovelty", "DRM"}  # of the dual weights: multiples of them are not feasible
UNEVEN = np.where(np.arange(len(X)) % 7 == 3, 0.0, np.linspace(0.5, 2.0, len(X)))


def test_every_certificate_is_recomputed():
    certified = {name for name, row in CONTRACT.items() if row.get("dual_weights_") is True}
    assert certified == set(CERTIFIED) == set(PROBLEMS)


SEVERAL = {"CGBoostClassifier", "CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"}  # certified with three classes
CASES = [
    (name, options, n_classes)
    for name, cases in CERTIFIED.items()
    for n_classes in ((2, 3) if name in SEVERAL else (2,))
    for options in cases
    if (name, n_classes) != ("MultiBoost", 2)  # of one score: not unique
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weight", [np.ones(len(X)), UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize(("name", "options", "n_classes"), CASES)
def test_certificates_are_true(name, options, n_classes, weight):
    model = getattr(kernsemble, name)(**options)
    y = X[:, 0] + 0.5 * NOISE
    if not is_regressor(model):
        y = np.digitize(y, [-0.5, 0.5] if n_classes == 3 else [0.0])
    model.fit(X, y, sample_weight=weight)
    objective, dual = certify(model, X, y, weight)
    rounding = 1e-7 * max(1.0, abs(objective))
    assert model.dual_gap_ == pytest.approx(objective - dual, rel=1e-6, abs=rounding)
    assert model.relative_gap_ == pytest.approx(model.dual_gap_ / abs(objective), rel=1e-6, abs=1e-9)
    assert model.relative_gap_ <= 1.0 or name in FIXED_SUM
    last = model.objective_path_[-1]
    assert np.ravel(last)[-1] == pytest.approx(objective, rel=1e-6)


ROUNDS_RUN_OUT = ("CGBoostClassifier", "CGBoostNovelty", "CGBoostRegressor", "CGEns", "CGEnsSLS", "LPBoost")


@pytest.mark.parametrize("name", [*ROUNDS_RUN_OUT, "MultiBoost"])
def test_rounds_that_run_out_warn_once_unless_they_are_meant(name):
    model = getattr(kernsemble, name)(n_rounds=2)
    y = X[:, 0] + NOISE if is_regressor(model) else (X[:, 0] + NOISE > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap of .* above tol=.*tol=None") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    model.set_params(tol=None).fit(X, y)
    assert model.n_rounds_ == 2


@pytest.mark.parametrize("name", ["CGBoostClassifier", "CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"])
def test_without_a_round_the_larger_class_is_predicted(name):
    model, y = getattr(kernsemble, name)(C=1e-3), np.repeat([0, 1], [10, 20])
    model.fit(np.ones((30, 2)) if name != "MultiBoost" else X, y)
    if name == "LPBoost":  # the constant stump is one of its hypotheses, and too dear here
        assert not model.weights_.any()
    assert (
        model.n_rounds_ == len(model.objective_path_) == len(model.gap_path_) == len(model.weights_path_) == 0
    )
    assert np.all(model.predict(np.zeros((3, X.shape[1] if name == "MultiBoost" else 2))) == 1)
    assert list(model.staged_predict(np.zeros((3, model.n_features_in_)))) == []
    assert 0.0 <= model.relative_gap_ <= 1e-2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("base", ["stump", "perceptron", "perceptron-pool"])
@pytest.mark.parametrize("name", ["AdaBoost", "CGEns", "CGEnsSLS", "LPBoost", "MultiBoost"])
@pytest.mark.parametrize("scale", [2.0**-13, 2.0**13])
def test_ensembles_of_votes_do_not_know_the_unit_of_the_data(name, base, scale):
    options = {"n_rounds": 10, "base": base, "random_state": 0}
    one, other = (getattr(kernsemble, name)(**options) for _ in range(2))
    y = X[:, 0] + NOISE > 0
    scores = one.fit(X, y).decision_function(X)
    np.testing.assert_allclose(other.fit(scale * X, y).decision_function(scale * X), scores, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("C", "loss"),
    [*((C, "hinge") for C in (1e-8, 1e6, 1e10, 1e12)), *((C, "squared_hinge") for C in (1e-8, 1e6))],
)
def test_certificates_of_any_cost_are_true_or_refused_by_name(C, loss):
    model, y = kernsemble.CGEns(C=C, n_rounds=60, loss=loss), (X[:, 0] + NOISE > 0).astype(int)
    try:
        model.fit(X.round(1), y)
    except ValueError as error:
        assert f"C={C}" in str(error)  # noqa: PT017
        return
    objective, dual = certify(model, X.round(1), y, np.ones(len(X)))
    assert model.dual_gap_ >= objective - dual - 1e-6 * objective
    assert model.relative_gap_ <= 1.0


@pytest.mark.parametrize("name", ["CGEns", "LPBoost", "MultiBoost"])
def test_infinite_families_have_no_certificate(name):
    model = getattr(kernsemble, name)(n_rounds=3, base="perceptron", random_state=0)
    model.fit(X, X[:, 0] + NOISE > 0)
    assert np.isnan([model.dual_gap_, model.relative_gap_]).all()
    assert np.isnan(model.gap_path_).all()
