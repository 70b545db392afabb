"""More rounds, fewer rounds, threads: warm starts, held-out samples, ``n_jobs``."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.utils import get_tags

import kernsemble as k
from kernsemble.estimators._rounds import split_validation
from kernsemble.hypotheses import _threads

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 4))
NOISY = X[:, 0] + X[:, 1] ** 2 + 0.8 * RNG.normal(size=120)
WEIGHT = np.where(np.arange(120) % 9 == 0, 0.0, RNG.uniform(0.5, 2.0, 120))
ROUNDS = {"n_rounds": 17}
FREE = {**ROUNDS, "tol": None}
WARM = [
    k.AdaBoost(17),
    k.AdaBoost(17, base="perceptron", base_options={"n_updates": 20}, random_state=0),
    k.AdaBoostECC(17, random_state=0),
    k.AdaBoostMH(17),
    k.AdaBoostMO(17),
    k.AdaBoostMO(17, code="random", random_state=0),
    k.CGEns(C=0.1, **FREE),
    k.CGEns(C=1e3, **FREE),
    k.CGEns(C=0.1, base="perceptron-pool", random_state=0, **FREE),
    k.CGEnsSLS(C=0.1, **FREE),
    k.StreamedCGEns(C=0.1, **FREE),
    k.LPBoost(**FREE),
    k.LPBoost(solver="dual-simplex", **FREE),
    k.MultiBoost(**FREE),
    k.MultiBoost(per_class=False, **FREE),
    k.CGBoostClassifier(**FREE),
    k.CGBoostClassifier(norm="l1", **FREE),
    k.CGBoostClassifier(termination="TR3", random_state=0, **FREE),
    k.CGBoostNovelty(**FREE),
    k.CGBoostRegressor(**FREE),
]


def target(model, several=True):
    if is_regressor(model):
        return NOISY
    several = several and takes_several_classes(model)
    return np.digitize(NOISY, [0.0, 1.0]) if several else (NOISY > 0.5).astype(int)


def takes_several_classes(model):
    tags = get_tags(model).classifier_tags
    return tags is not None and tags.multi_class


def answers(model):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize(
    ("model", "several"),
    [(model, several) for model in WARM for several in (False, True)[: 1 + takes_several_classes(model)]],
    ids=str,
)
def test_more_rounds_are_those_of_one_long_fit(model, several, weight):
    y = target(model, several)
    long = clone(model).fit(X, y, sample_weight=weight)
    warm = clone(model).set_params(warm_start=True)
    for n_rounds in (1, 6, 6, 17):
        warm.set_params(n_rounds=n_rounds).fit(X.copy(), y.copy(), sample_weight=weight)
        assert warm.n_rounds_ <= n_rounds
    again = pickle.loads(pickle.dumps(warm))
    assert again._kept is None
    # Of several machines over columns of kernels: a column by itself, or in a block.
    rounding = {"rtol": 1e-9 if several and hasattr(model, "kernels") else 0.0}
    np.testing.assert_allclose(answers(again.fit(X, y, sample_weight=weight)), answers(long), **rounding)
    np.testing.assert_allclose(answers(warm), answers(long), **rounding)
    np.testing.assert_allclose(warm.objective_path_, long.objective_path_, **rounding)
    for name in ("weights_", "errors_"):
        if hasattr(long, name):
            np.testing.assert_allclose(getattr(warm, name), getattr(long, name), **rounding)
    for name in ("message_", "n_columns_", "validation_path_"):
        if hasattr(long, name):
            np.testing.assert_array_equal(getattr(warm, name), getattr(long, name))
    if hasattr(long, "dual_gap_"):
        np.testing.assert_allclose(warm.dual_gap_, long.dual_gap_, rtol=1e-9)
        np.testing.assert_allclose(warm.dual_weights_, long.dual_weights_, rtol=1e-9, atol=1e-12)
    assert long._kept is None


def test_a_fit_that_has_ended_does_not_go_on():
    model = k.CGEns(C=0.1, n_rounds=500, warm_start=True).fit(X, NOISY > 0.5)
    rounds, message = model.n_rounds_, model.message_
    assert model.set_params(n_rounds=600).fit(X, NOISY > 0.5).n_rounds_ == rounds < 500
    assert model.message_ == message
    assert model.set_params(tol=1e-4).fit(X, NOISY > 0.5).n_rounds_ > rounds


def test_a_warm_start_with_other_data_or_parameters_is_refused():
    y = NOISY > 0.5

    def model():
        return k.CGEns(C=0.1, warm_start=True, **FREE).fit(X, y)

    with pytest.raises(ValueError, match="but C has changed: set warm_start=False"):
        model().set_params(C=0.2).fit(X, y)
    with pytest.raises(ValueError, match="but X, y or sample_weight has changed"):
        model().fit(X + 1.0, y)
    with pytest.raises(ValueError, match="but X, y or sample_weight has changed"):
        model().fit(X, y, sample_weight=WEIGHT)
    with pytest.raises(ValueError, match="n_rounds=5 is below the 17 rounds"):
        model().set_params(n_rounds=5).fit(X, y)
    assert model().set_params(warm_start=False, C=0.2).fit(X, y).n_rounds_ == 17


EARLY = [model for model in WARM if "n_iter_no_change" in model.get_params()]


@pytest.mark.parametrize("model", EARLY, ids=str)
def test_rounds_end_when_they_no_longer_help_on_held_out_samples(model):
    y = target(model)
    model = clone(model).set_params(n_rounds=200, n_iter_no_change=4, validation_fraction=0.3, random_state=0)
    model.fit(X, y, sample_weight=WEIGHT)
    scores = model.validation_score_
    assert len(scores) == model.n_rounds_
    if model.n_rounds_ < 200 and "held-out" in model.message_:
        assert len(scores) - 1 - scores.argmax() == 4
    every = clone(model).set_params(n_iter_no_change=1000, n_rounds=max(2, model.n_rounds_)).fit(X, y, WEIGHT)
    np.testing.assert_array_equal(every.validation_score_[: len(scores)], scores)
    if hasattr(model, "dual_weights_"):
        held = np.flatnonzero((WEIGHT > 0) & ~np.any(np.reshape(model.dual_weights_, (120, -1)) != 0, axis=1))
        assert len(held) >= 0.25 * np.count_nonzero(WEIGHT)


@pytest.mark.parametrize("name", ["AdaBoost", "CGEns", "MultiBoost", "CGEnsSLS", "AdaBoostMH"])
def test_held_out_scores_are_those_of_the_stages(name):
    model, y = getattr(k, name)(12, n_iter_no_change=12), (NOISY > 0.5).astype(int)
    if "C" in model.get_params():
        model.set_params(C=0.5, n_rounds=12, tol=None)
    model.set_params(validation_fraction=0.5, random_state=0).fit(X, y)
    held = split_validation(120, 0.5, 0, y)[1]
    staged = [(labels == y)[held].mean() for labels in model.staged_predict(X)]
    np.testing.assert_allclose(model.validation_score_, staged)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"n_iter_no_change": 2, "validation_fraction": 1.0}, "validation_fraction"),
        ({"n_jobs": 0}, "n_jobs == 0 means nothing"),
        ({"n_jobs": "all"}, "n_jobs must be an instance of int"),
    ],
)
def test_bad_settings_of_rounds_are_refused(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        k.AdaBoost(3, **options).fit(X, NOISY > 0.5)


def test_all_estimators_take_a_number_of_threads(monkeypatch):
    assert all(getattr(k, name)().n_jobs is None for name in k._ESTIMATORS)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_threads.config, "NUMBA_NUM_THREADS", 8)
    for n_jobs, most in ((3, 3), (-1, 8), (-2, 7), (None, 8), (20, 8)):
        with _threads.at_most(n_jobs):
            assert _threads.n_threads() == most


def test_threads_are_limited_within_a_fit_and_no_longer(monkeypatch):
    seen = []

    def base(X, random_state=None):
        from kernsemble.hypotheses.stumps import StumpOracle

        seen.append(_threads.n_threads())
        return StumpOracle(X)

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(_threads.config, "NUMBA_NUM_THREADS", 8)
    k.AdaBoost(2, base=base, n_jobs=3).fit(X, NOISY > 0.5)
    k.CGEns(base=base, n_rounds=2, tol=None, n_jobs=-2).fit(X, NOISY > 0.5)
    assert seen == [3, 7]
    assert _threads.n_threads() == 8
