"""bi2004: a tiny run from end to end, what is said of numbers that are not there, and the errata."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from kernsemble.masters.quadratic import HingeQP
from kernsemble.report.ledger import judge_cell, load_reading
from kernsemble.report.published import read_cells
from kernsemble.trials.registry import load_paper
from kernsemble.trials.study import Study
from bi2004.sets import CHOICES, NORMS

paper = load_paper("bi2004")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tiny_study(tmp_path_factory):
    """A repository with nothing but the parameters."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "params.yaml", root)
    shutil.copytree(ROOT / "published", root / "published")
    return Study("bi2004", "smoke", root)


def test_tiny_run_from_end_to_end(tiny_study):
    exhibits = ("table1", "figure1", "theorems", "formulations", "widths")
    for exhibit in exhibits:
        assert tiny_study.evidence(exhibit).complete, exhibit
    formulations = tiny_study.evidence("formulations")
    for label, method in (("Pima", "QP (11)"), ("Pima", "LP (4)"), ("Breast", "novelty")):
        difference = formulations.sample("judge", dataset=label, method=method)
        assert abs(difference.mean) < 1e-4
    forest = tiny_study.evidence("table1").sample("n_positive", dataset="Forest", method="facts")
    assert forest.mean == 211_840
    theorems = tiny_study.evidence("theorems")
    assert theorems.array("identity").max() < 1e-6
    assert theorems.array("optimum").max() < 1e-6


def test_what_is_not_computed_is_pending_even_where_it_cannot_be_compared(tmp_path):
    shutil.copy(ROOT / "params.yaml", tmp_path)
    study, reading = Study("bi2004", "paper", tmp_path, compute=False), load_reading("bi2004")
    for cell in read_cells(ROOT / "published/published.csv"):
        if cell.paper == "bi2004" and cell.exhibit != "table1":
            assert judge_cell(cell, reading, study).verdict == "pending"


def test_kernel_choices_are_the_tables():
    assert list(CHOICES) == ["L", "Q", "R", "L+Q", "L+R", "L+Q+R", "L,Q,R"]
    for exhibit in ("table3", "table4"):
        assert len(paper.methods(exhibit)) == 14


def solved(H, y, C=1.0):
    """Problem (11) without an offset over the columns of H."""
    master = HingeQP(y, C, intercept="none", tol=1e-10)
    for column in H.T:
        master.add(column)
    return master, master.solve()


def test_erratum_the_highest_score_need_not_lower_the_optimum_most():
    y, start = np.ones(2), HingeQP(np.ones(2), 1.0, intercept="none", tol=1e-10)
    before = start.solve().objective
    columns = np.array([[3.0, 1.0], [0.0, 1.0]])
    scores = columns.T @ start.pricing_weights()
    after = np.array([solved(columns[:, [j]], y)[1].objective for j in range(2)])
    np.testing.assert_allclose(scores, [3.0, 2.0])
    np.testing.assert_allclose(after, [1.0 + 1.0 / 18.0, 0.5], atol=1e-8)
    assert (before - after <= 0.5 * scores**2).all()  # what a score does say


def test_erratum_a_generated_column_scores_its_own_weight(rng):
    H, y = rng.standard_normal((30, 5)), rng.choice([-1.0, 1.0], 30)
    master, solution = solved(H, y)
    np.testing.assert_allclose(H.T @ master.pricing_weights(), solution.w, atol=1e-6)
    assert np.abs(solution.w).min() > 1e-3


def test_erratum_nonnegative_coefficients_allow_no_negative_offset_and_no_negative_rbf_model(rng):
    y = np.array([-1.0] * 9 + [1.0])
    master = HingeQP(y, 1.0, positive=True, intercept="none", tol=1e-10)
    master.add(np.ones(10))
    solution = master.solve()
    assert solution.w == pytest.approx([0.0], abs=1e-8)
    assert solution.objective == pytest.approx(10.0)
    X = rng.standard_normal((20, 2))
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 4.0)
    master = HingeQP(y, 10.0, positive=True, intercept="none", tol=1e-10)
    for column in K.T:
        master.add(np.ascontiguousarray(column))
    assert (K @ master.solve().w >= 0).all()


def test_erratum_two_printed_test_times_do_not_fit_their_columns():
    printed = {
        (cell.exhibit, cell.row, cell.column): cell.value
        for cell in read_cells(ROOT / "published/published.csv")
        if cell.paper == "bi2004"
    }

    def per_column(exhibit, row, column):
        return printed[exhibit, row, "T_tst"] / printed[exhibit, row, column]

    expected = 64 * per_column("table2", "Pima/RBF", "C_r")
    assert printed["table2", "Pima/mixture", "C_r"] == 64
    assert round(expected, 2) == 0.10
    assert printed["table2", "Pima/mixture", "T_tst"] < expected / 7
    quadratic = [per_column("table4", f"{norm}/{row}", "C_q") for norm in ("2-norm", "1-norm") for row in "Q"]
    assert per_column("table4", "2-norm/L+Q", "C_q") < min(quadratic) / 5
    times = {norm: [printed["table3", f"{norm}/{m}", "T_trn"] for m in ("L,Q,R", "L+Q+R")] for norm in NORMS}
    assert times["2-norm"][0] < times["2-norm"][1]
    assert times["1-norm"][0] > times["1-norm"][1]
