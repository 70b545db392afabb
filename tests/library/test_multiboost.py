"""MultiBoost as an estimator, and its optimum over all stumps."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from kernsemble import MultiBoost

FORMS = [
    {"per_class": per_class, "solver": solver}
    for per_class in (True, False)
    for solver in ("newton", "fcd", "lbfgsb")
]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["barbera", "barolo", "grignolino"])[y]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form.values())))
@pytest.mark.filterwarnings("ignore:.*duality gap:sklearn.exceptions.ConvergenceWarning")  # few rounds
def test_every_form_learns_and_its_stages_end_in_the_ensemble(wine, form):
    X, y = wine
    model = MultiBoost(C=1e3, n_rounds=15, **form, tol=1e-9).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_rounds_ == len(model.rounds_) == len(model.objective_path_)
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-9)
    errors = [np.mean(prediction != y) for prediction in model.staged_predict(X)]
    assert errors[-1] <= errors[0]
    assert model.n_active_ == np.count_nonzero(model.weights_path_[-1][0])
    assert len(model.hypotheses_) == len(model.weights_) == len(model.outputs_)


@pytest.mark.parametrize("form", FORMS[:4], ids=lambda form: "-".join(map(str, form.values())))
@pytest.mark.filterwarnings("ignore:.*duality gap:sklearn.exceptions.ConvergenceWarning")  # few rounds
def test_a_stage_is_the_fit_with_as_many_rounds(wine, form):
    X, y = wine
    long, short = (MultiBoost(C=1e3, n_rounds=n, **form, tol=1e-9, random_state=0).fit(X, y) for n in (40, 6))
    stage = list(long.staged_decision_function(X))[5]
    np.testing.assert_allclose(stage, short.decision_function(X), atol=1e-9)


def every_stump(X, weights):
    """Scores of all stumps of both signs, class by class, each feature compared with each of its values."""
    thresholds = [(d, t) for d in range(X.shape[1]) for t in [-np.inf, *np.unique(X[:, d])]]
    H = np.array([np.where(X[:, d] > t, 1.0, -1.0) for d, t in thresholds])
    return np.abs(H @ weights)


@pytest.mark.parametrize("C", [1e2, 1e3])
def test_both_forms_share_the_optimum_over_all_stumps(rng, C):
    """On 30 points: no stump of ALL stumps violates the dual, and the objectives are the same."""
    X = rng.normal(size=(30, 3)).round(1)
    labels = rng.permutation(np.arange(30) % 3)
    objectives = []
    for per_class in (True, False):
        model = MultiBoost(C=C, n_rounds=1000, per_class=per_class, tol=2e-6).fit(X, labels)
        assert model.message_ != "number of rounds reached"
        assert 0 <= model.dual_gap_ <= 2e-6 * model.objective_path_[-1]
        F = model.decision_function(X)
        wrong = np.arange(3) != labels[:, None]
        loss = C / (30 * 2) * np.exp(F - F[np.arange(30), labels][:, None]) * wrong
        V = -loss
        V[np.arange(30), labels] = loss.sum(axis=1)
        assert every_stump(X, V).max() <= 1 + 1e-4
        objectives.append(model.weights_.sum() + loss.sum())
        assert objectives[-1] == pytest.approx(model.objective_path_[-1], rel=1e-9)
    assert objectives[0] == pytest.approx(objectives[1], rel=2e-6)


def test_two_classes_have_one_score(wine):
    X, y = wine[0][:130], wine[1][:130]
    for per_class in (True, False):
        model = MultiBoost(C=1e2, n_rounds=10, per_class=per_class, tol=None).fit(X, y)
        scores = model.decision_function(X)
        assert scores.shape == (130,)
        np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
        np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], scores, atol=1e-10)


def test_stage_wise_adds_learners_that_it_has_already(wine):
    X, y = wine
    model = MultiBoost(C=1e8, n_rounds=60, solver="fcd", tau_max=1, tol=None).fit(X, y)
    assert model.n_rounds_ == 60
    assert len(model.hypotheses_) < 60 * 3  # found again, and merged
    keys = set(
        zip(
            model.hypotheses_.features,
            model.hypotheses_.thresholds,
            model.hypotheses_.signs,
            model.outputs_,
            strict=True,
        )
    )
    assert len(keys) == len(model.hypotheses_)
    assert (np.diff(model.objective_path_) < 0).all()


@pytest.mark.filterwarnings("ignore:.*duality gap:sklearn.exceptions.ConvergenceWarning")  # few rounds
@pytest.mark.parametrize("tol", [1e-2, 1e-8, None])
def test_restricted_problems_are_solved_to_rounding_of_the_objective(wine, tol):
    model = MultiBoost(C=1e3, n_rounds=10, tol=tol).fit(*wine)
    assert all(entry.gap <= min(1e-7, 0.5 * (tol or 1.0)) * entry.objective for entry in model.rounds_)


def test_the_columns_order_of_samples_does_not_matter(rng):
    X, y = load_iris(return_X_y=True)
    order = rng.permutation(len(y))
    one, other = (
        MultiBoost(C=1e2, n_rounds=20, tol=1e-8).fit(X, y),
        MultiBoost(C=1e2, n_rounds=20, tol=1e-8).fit(X[order], y[order]),
    )
    assert one.objective_path_[-1] == pytest.approx(other.objective_path_[-1], rel=1e-6)
