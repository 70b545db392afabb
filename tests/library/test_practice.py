"""The table of estimators in docs/practice.md says what the estimators say."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import get_tags

import kernsemble as k

PAGE = (Path(__file__).parents[2] / "docs" / "practice.md").read_text()
LINES = PAGE[PAGE.index("| estimator | rows |") :].split("\n\n")[0].splitlines()
HEAD, *ROWS = ([cell.strip() for cell in line.strip("|").split("|")] for line in LINES if "|---" not in line)
TABLE = {name: dict(zip(HEAD, row, strict=True)) for row in ROWS for name in re.findall(r"`(\w+)`", row[0])}


def test_every_estimator_has_a_row():
    assert set(TABLE) == {*k._ESTIMATORS, "StreamedCGEns"}


@pytest.mark.parametrize("name", TABLE)
def test_the_row_says_what_the_estimator_says(name):
    row, model = TABLE[name], getattr(k, name)()
    tags = get_tags(model)
    stumps = getattr(model, "base", None) == "stump"
    assert row["sparse X"] == ("no" if not tags.input_tags.sparse else "yes" if stumps else "filled in")
    assert row["missing values"] == ("yes" if tags.input_tags.allow_nan else "no")
    if is_classifier(model):
        assert row["classes"] == ("two, several" if tags.classifier_tags.multi_class else "two")
        assert row["probabilities"] == (
            "`predict_proba`" if hasattr(model, "predict_proba") else "calibrated"
        )
    else:
        assert is_regressor(model) or is_outlier_detector(model)
        assert (row["classes"], row["probabilities"]) == ("values" if is_regressor(model) else "novelty", "")
    X = np.random.default_rng(0).normal(size=(30, 2))
    if "n_rounds" in model.get_params():
        model.set_params(n_rounds=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, X[:, 0] if is_regressor(model) else X[:, 0] > 0)
    assert row["certificate"] == ("yes" if hasattr(model, "dual_gap_") else "stage-wise: none")
