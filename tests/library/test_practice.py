"""The tables of docs/practice.md say what the estimators say, and what was measured."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import get_tags

import kernsemble as k

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "practice.md").read_text()


def read_table(start):
    """Return the cells of the table that begins like this, the names of its columns first."""
    lines = PAGE[PAGE.index(start) :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|---" not in line]


HEAD, *ROWS = read_table("| estimator | rows |")
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


def test_errors_beside_other_models_are_those_measured():
    found = pd.read_csv(ROOT / "results" / "benchmarks_everyday.csv")
    errors = found.pivot(index="set", columns="model", values="error")
    largest = found.groupby("model")[["seconds", "megabytes"]].max()
    expected = {
        **{name: {model: f"{100 * e:.1f}".replace("nan", "") for model, e in row.items()}
           for name, row in errors.iterrows()},
        "seconds": {model: f"{value:.2g}" for model, value in largest.seconds.items()},
        "megabytes": {model: f"{value:.0f}" for model, value in largest.megabytes.items()},
    }  # fmt: skip
    (_, _, *models), *rows = read_table("| set |")
    assert {row[0]: dict(zip(models, row[2:], strict=True)) for row in rows} == expected
    assert len(errors) == 10
    both = errors[["LightGBM", "DistanceKernelSVCCV, perceptrons"]].dropna()
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    said = re.search(r"than LightGBM on (\w+) of the (\w+) sets", (ROOT / "docs" / "guide.md").read_text())
    assert said.groups() == (words[(both.iloc[:, 1] < both.iloc[:, 0]).sum()], words[len(both)])
