"""bi2004: its draws and datasets, the forms of its kernels, its complete solutions."""

import numpy as np
import pytest

from kernsemble.trials.trial import Trial
from bi2004 import draws, facts, kernels
from bi2004.draws import Task
from bi2004.judge import judge_value
from bi2004.sets import SMALL_SETS

SIZES = {"train": 30, "validation": 20, "test": 40}
FORMS = kernels.Forms("per feature", "(1 + xz/d)^2")


def trial(label, number=0, exhibit="table3", method="2-norm/L"):
    return Trial("bi2004", exhibit, label, method, number)


def test_parts_are_disjoint_and_larger_draws_contain_smaller_ones():
    small_draw = draws.draw(trial("Forest"), "Forest", Task(SIZES, "all rows"))
    large = draws.draw(trial("n=60", exhibit="table5"), "Forest", Task(SIZES | {"train": 60}, "all rows"))
    np.testing.assert_array_equal(small_draw.X_test, large.X_test)
    np.testing.assert_array_equal(small_draw.X, large.X[:30])
    rows = np.vstack([small_draw.X, small_draw.X_val, small_draw.X_test])
    assert len(np.unique(rows, axis=0)) == 90
    other = draws.draw(trial("Forest", 1), "Forest", Task(SIZES, "all rows"))
    assert not np.array_equal(small_draw.X, other.X)


def test_training_rows_alone_can_be_standardized():
    data = draws.draw(trial("Forest"), "Forest", Task(SIZES, "training rows"))
    varying = data.X.std(axis=0) > 0
    np.testing.assert_allclose(data.X[:, varying].std(axis=0, ddof=1), 1.0)
    assert not data.X[:, ~varying].any()


@pytest.mark.parametrize("label", SMALL_SETS)
def test_small_sets_are_standardized_without_constant_features(label):
    X, y = draws.small_set(label)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1.0)
    assert X.shape[1] == {"Breast": 30, "Ionosphere": 33, "Pima": 8}[label]
    folds = draws.folds_of(trial(label), len(y), 5)
    np.testing.assert_array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(len(y)))


def test_no_subset_of_the_digits_has_the_printed_size():
    assert facts.nearest_subset(facts.PRINTED_POSITIVE_DIGITS) == 30_374
    assert facts.nearest_subset(30_508) == 30_508


@pytest.fixture
def classes(rng):
    X = rng.standard_normal((50, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(50) > 1, 1.0, -1.0)


@pytest.mark.parametrize("offset", ["free", "penalized"])
@pytest.mark.parametrize("names", [("linear",), ("linear+rbf",), ("linear", "quadratic", "rbf")])
def test_complete_solutions_are_optimal_over_all_columns(classes, names, offset):
    X, y = classes
    library = kernels.resolve(kernels.make_library(names, FORMS), X)
    H = np.hstack([kernel.matrix(X, X) for kernel in library])
    for C, model in zip((0.5, 50.0), kernels.optimal_models(library, X, y, (0.5, 50.0), offset), strict=True):
        alpha, b = np.concatenate(model[0]), model[1]
        scores = kernels.model_scores(library, X, model, X)
        np.testing.assert_allclose(scores, H @ alpha + b, atol=1e-8)
        value = 0.5 * alpha @ alpha + (0.5 * b**2 if offset == "penalized" else 0.0)
        value += C * np.maximum(0.0, 1.0 - y * scores).sum()
        best = judge_value(H, y, {"loss": "hinge", "C": C, "intercept": offset})
        assert best * (1 - 1e-6) <= value <= best * (1 + 1e-4)


def test_composites_are_sums_and_forms_are_what_they_say():
    X = np.array([[1.0, 2.0], [3.0, -1.0]])
    linear, quadratic, total = (
        kernels.resolve(kernels.make_library([name], FORMS), X)[0].matrix(X, X)
        for name in ("linear", "quadratic", "linear+quadratic")
    )
    np.testing.assert_allclose(linear, X @ X.T / 2)
    np.testing.assert_allclose(quadratic, (1 + X @ X.T / 2) ** 2)
    np.testing.assert_allclose(total, linear + quadratic)
    raw = kernels.make_library(["linear", "quadratic"], kernels.Forms("raw", "(1 + xz)^2"))
    np.testing.assert_allclose(raw[0].matrix(X, X), X @ X.T)
    np.testing.assert_allclose(raw[1].matrix(X, X), (1 + X @ X.T) ** 2)
    homogeneous = kernels.resolve(kernels.make_library(["quadratic"], kernels.Forms("raw", "(xz/d)^2")), X)
    np.testing.assert_allclose(homogeneous[0].matrix(X, X), (X @ X.T / 2) ** 2)
