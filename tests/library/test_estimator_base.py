"""What every ensemble classifier inherits: checked input, encoded labels, staged predictions."""

import numpy as np
import pytest

from kernsemble.estimators._base import (
    EnsembleClassifier,
    check_positive,
    check_rounds,
    check_weights,
    progress,
)
from kernsemble.hypotheses.stumps import StumpHypotheses


class Fixed(EnsembleClassifier):
    """Three fixed stumps; weights are parameters."""

    def __init__(self, coef=(1.0, 2.0, 4.0), path=None):
        self.coef = coef
        self.path = path

    def fit(self, X, y, sample_weight=None):
        self.data = self._check_training(X, y, sample_weight)
        self.hypotheses_ = StumpHypotheses([0, 1, 1], [0.0, 0.0, 1.0], [1, -1, 1], self.n_features_in_)
        self.weights_, self.intercept_, self.n_rounds_ = np.array(self.coef), 0.5, 3
        if self.path is not None:
            self.weights_path_ = self.path
        return self


X = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 0.5], [-1.0, 2.0]])
H = np.array([[-1, 1, -1], [1, 1, -1], [1, -1, -1], [-1, -1, 1]])


def test_labels_are_encoded_and_decoded():
    model = Fixed().fit(X, ["no", "yes", "no", "yes"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.data.labels.tolist() == [0, 1, 0, 1]
    assert model.data.signs.tolist() == [-1, 1, -1, 1]
    scores = H @ [1.0, 2.0, 4.0] + 0.5
    np.testing.assert_allclose(model.decision_function(X), scores)
    assert model.predict(X).tolist() == ["yes" if score > 0 else "no" for score in scores]


def test_several_classes_are_decided_by_the_largest_score():
    W = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    model = Fixed(W).fit(X, [30, 10, 20, 10])
    np.testing.assert_allclose(model.decision_function(X), H @ W + 0.5)
    assert model.predict(X).tolist() == [20, 20, 10, 30]


def test_staged_scores_are_running_sums():
    stages = list(Fixed().fit(X, [0, 1, 0, 1]).staged_decision_function(X))
    np.testing.assert_allclose(stages, np.cumsum(H * [1.0, 2.0, 4.0], axis=1).T + 0.5)


def test_staged_scores_follow_the_path_of_weights():
    path = [(np.array([1.0]), 0.0), (np.array([0.5, 2.0, 3.0]), -1.0)]
    model = Fixed(path=path).fit(X, [0, 1, 0, 1])
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages, [H[:, 0], H @ [0.5, 2.0, 3.0] - 1.0])
    assert [list(p) for p in model.staged_predict(X)] == [list((s > 0).astype(int)) for s in stages]


def test_rows_without_weight_are_dropped():
    data = Fixed().fit(X, [0, 1, 0, 1], sample_weight=[1.0, 2.0, 0.0, 0.5]).data
    np.testing.assert_array_equal(data.X, X[[0, 1, 3]])
    assert data.labels.tolist() == [0, 1, 1]
    assert data.weight.tolist() == [1.0, 2.0, 0.5]


def test_input_types_are_kept_or_converted():
    assert Fixed().fit(X.astype(np.uint8), [0, 1, 0, 1]).data.X.dtype == np.uint8
    assert Fixed().fit(X.astype(np.int32), [0, 1, 0, 1]).data.X.dtype == np.float64
    assert Fixed().fit(X.astype(np.float32), [0, 1, 0, 1]).data.X.dtype == np.float64


def test_training_data_is_not_copied_without_need():
    assert Fixed().fit(X, [0, 1, 0, 1]).data.X is X


def test_importances_are_for_stumps():
    model = Fixed().fit(X, [0, 1, 0, 1])
    np.testing.assert_allclose(model.feature_importances_, [1 / 7, 6 / 7])
    model.hypotheses_ = object()
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], "must not be negative; its smallest entry is -1"),
        ([0.0, 0.0], "zero for all samples"),
        ([1.0, 2.0, 3.0], r"has shape \(3,\); expected \(2,\)"),
        ([[1.0], [2.0]], r"has shape \(2, 1\)"),
        ([1.0, np.nan], "sample_weight contains NaN"),
        ([1.0, np.inf], "sample_weight contains infinity"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weight, 2)


def test_good_weights_become_an_array():
    assert check_weights(None, 2).tolist() == [1.0, 1.0]
    assert check_weights(3, 2).tolist() == [3.0, 3.0]
    assert check_weights((1, 2), 2).dtype == np.float64


@pytest.mark.parametrize(
    ("value", "error"), [(0, ValueError), (-3, ValueError), (2.5, TypeError), ("9", TypeError)]
)
def test_rounds_are_a_positive_integer(value, error):
    with pytest.raises(error, match="n_rounds"):
        check_rounds(value)
    assert check_rounds(np.int64(7)) == 7


@pytest.mark.parametrize(
    ("value", "error"),
    [(0.0, ValueError), (-1, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("1", TypeError)],
)
def test_positive_numbers_are_positive_and_finite(value, error):
    with pytest.raises(error, match="C"):
        check_positive(value, "C")
    assert check_positive(np.float32(0.5), "C") == 0.5


def test_progress_is_drawn_only_when_asked_for(capsys):
    assert progress(3, False, "fit") == range(3)
    assert list(progress(3, 2, "fit")) == [0, 1, 2]
    assert "fit: 100%" in capsys.readouterr().err
