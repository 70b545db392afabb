"""shen2014: every printed number is read, and every check of a claim can fail."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.made_evidence import made_evidence, made_study

from kernsemble.report.ledger import load_reading
from kernsemble.report.published import read_cells, read_claims
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.registry import load_paper
from shen2014 import claims, on_print
from shen2014.trials import (
    ENSEMBLES,
    IDA_SETS,
    LP_METHODS,
    MACHINES,
    MIXTURES,
    MULTICLASS_SETS,
    OFFICIAL_SETS,
    printed_label,
)

paper = load_paper("shen2014")
ROOT = Path(__file__).parents[2]


def study_of(value, methods, datasets, protocol=None, **options):
    return made_study(made_evidence(value, methods, datasets, **options), protocol)


def test_printed_rows_stand_beside_official_splits():
    assert printed_label("heart") == "heart official"
    assert printed_label("diabetes") == "diabetes"
    assert set(OFFICIAL_SETS) < set(IDA_SETS)


def test_every_printed_number_and_claim_is_read():
    reading = load_reading("shen2014")
    cells = [cell for cell in read_cells(ROOT / "published/published.csv") if cell.paper == "shen2014"]
    assert len(cells) == 201
    runs = {"table1": 5, "table2": 5, "table4": 20}
    for cell in cells:
        expected = runs.get(cell.exhibit, 10 if cell.row in MULTICLASS_SETS[:7] else 5)
        assert reading.rule(cell).runs == expected
        if cell.exhibit != "table4":
            assert cell.column in paper.methods(cell.exhibit)
    written = {claim.id: claim.check for claim in read_claims(ROOT / "published/claims.yaml")}
    assert {name: check.__name__ for name, check in reading.checks.items()} == {
        name: check for name, check in written.items() if name.startswith("S")
    }


ERRORS = {
    "AdaBoost": 12.0, "LPBoost": 12.1, "SVM": 11.5, "CGENS": 11.0, "perceptron:AdaBoost": 13.0,
    "perceptron:LPBoost": 13.0, "perceptron:SVM": 12.0, "perceptron:CGENS": 12.1, "fourier:RFF": 12.0,
    "fourier:SVM": 11.0, "fourier:CGENS": 11.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("check", "spoiled"),
    [
        (claims.stump_methods_are_comparable, {"CGENS": 11.8}),
        (claims.stump_methods_are_comparable, {"AdaBoost": 20.0}),
        (claims.kernel_machines_and_cgens_lead, {"perceptron:LPBoost": 12.0}),
        (claims.kernel_machines_and_cgens_lead, {"fourier:RFF": 11.4}),
        (claims.kernel_machines_and_cgens_lead, {"fourier:SVM": 11.9}),
    ],
)
def test_checks_of_the_tables_can_fail(check, spoiled):
    sets = ("heart official", "diabetes")
    assert check(study_of(lambda _, d, m: ERRORS[m], ERRORS, sets)).holds
    found = check(study_of(lambda _, d, m: (ERRORS | spoiled)[m], ERRORS, sets))
    assert not found.holds
    assert found.probability < 0.5
    with pytest.raises(IncompleteEvidenceError):
        check(study_of(lambda _, d, m: ERRORS[m], ERRORS, sets, missing=lambda key: key.trial == 3))


def test_checks_are_applied_to_the_printed_numbers(tmp_path):
    study = SimpleNamespace(root=ROOT, key="shen2014", folder=tmp_path)
    rows = [[cell.text for cell in row] for row in on_print.show_on_print(study).rows]
    assert [row[3][2:] for row in rows] == ["fails", "holds", "holds", "", "fails", ""]
    # By hand from the printed table: SVM and CGENS tie on german and titanic.
    assert "SVM 15.11 (1.96), CGENS 15.26 (1.75)" in rows[0][2]
    assert (tmp_path / "tables" / "on_print.csv").exists()


def test_equal_errors_share_a_rank():
    ranks = claims.mean_ranks(np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 2.0]]))
    np.testing.assert_allclose(ranks, [2.0, 1.75, 2.25])


@pytest.mark.parametrize(("own", "holds"), [([20.0, 2.5, 2.0], True), ([20.0, 10.0, 2.0], False)])
def test_check_of_figure_1_can_fail(own, holds):
    study = study_of(
        lambda _, d, m: own if m == "CGENS" else [20.0, 10.0, 2.0],
        ("AdaBoost", "CGENS"),
        ("toy",),
        {"checkpoints": [1, 10, 100]},
    )
    assert claims.cgens_converges_in_fewer_iterations(study).holds is holds


@pytest.mark.parametrize(("seconds", "holds"), [(30.0, True), (20.0, False)])
def test_check_of_figure_2_can_fail(seconds, holds):
    study = study_of(
        lambda _, d, m: [1.0] if m == "CGENS" else [seconds], ("CGENS", *LP_METHODS), ("MNIST",), runs=1
    )
    assert claims.cgens_trains_faster_than_lpboost(study).holds is holds


def test_training_times_are_compared_at_the_last_round_that_both_reached():
    study = study_of(
        lambda _, d, m: [1.0, 2.0, 4.0] if m == "CGENS" else [10.0, 60.0],
        ("CGENS", *LP_METHODS),
        ("MNIST",),
        runs=1,
    )
    assert "10,000 digits: 30, on 60,000: 30" in claims.cgens_trains_faster_than_lpboost(study).note


@pytest.mark.parametrize(
    ("best", "slow", "holds"),
    [("CGENS-SLS", "MultiBoost", True), ("AdaBoost.MH", "MultiBoost", False), ("CGENS-SLS", "", False)],
)
def test_check_of_table_3_can_fail(best, slow, holds):
    methods = ("AdaBoost.ECC", "AdaBoost.MH", "MultiBoost", "CGENS-SLS")

    def value(metric, dataset, method):
        if "seconds" in metric:
            return [1.0, 2.0 - (method == "CGENS-SLS" and slow != "")]
        return 20.0 - (method == best)

    study = study_of(value, methods, ("iris", "MNIST", "USPS"), runs=5)
    assert claims.cgens_sls_is_best_overall(study).holds is holds


def counts_of(method, share=1.0):
    counts = np.zeros(57)
    counts[[15, 24, 51]] = share
    counts[[6, 18, 52] if method == "Ours" else [26, 41, 45]] = 2
    return counts


@pytest.mark.parametrize(("error", "share", "holds"), [(5.8, 1, True), (7.0, 1, False), (5.8, 0, False)])
def test_check_of_spam_can_fail(error, share, holds):
    def value(metric, dataset, method):
        if metric == "error":
            return error if method == "Ours" else 6.3
        return counts_of(method, share)

    study = study_of(value, ("AdaBoost", "Ours"), ("spam",))
    assert claims.spam_error_and_selected_features(study).holds is holds


@pytest.mark.parametrize(
    ("metric", "bad", "check"),
    [
        ("difference", 1e-3, claims.incremental_inverse_is_exact),
        ("identity", 1e-3, claims.claims_of_section_four_hold),
        ("negation", 1e-3, claims.claims_of_section_four_hold),
        ("rank", [1.0, 2.0], claims.claims_of_section_four_hold),
    ],
)
def test_checks_of_the_mathematics_can_fail(metric, bad, check):
    good = {"difference": 1e-9, "same": 1.0, "identity": 1e-9, "negation": 0.0, "rank": [1.0, 1.0]}
    methods = ("update (20)", "Cholesky", "claim 4.1", "largest decrease")
    assert check(study_of(lambda m, d, n: good[m], methods, ("wine",))).holds
    assert not check(study_of(lambda m, d, n: (good | {metric: bad})[m], methods, ("wine",))).holds


@pytest.mark.parametrize(
    ("error", "problems", "holds"), [(12.2, 15, True), (13.0, 15, False), (12.2, 100, False)]
)
def test_check_of_many_kernels_can_fail(error, problems, holds):
    def value(metric, dataset, method):
        everything = method == "all widths at once"
        return (problems if everything else 165) if metric == "problems" else (error if everything else 12.0)

    study = study_of(value, MIXTURES, ("heart", "banana"))
    assert claims.multiple_kernel_learning_is_easy(study).holds is holds


@pytest.mark.parametrize(
    ("stumps", "gaussian", "holds"), [(10.0, 10.0, True), (0.1, 10.0, False), (10.0, 0.1, False)]
)
def test_check_of_prediction_can_fail(stumps, gaussian, holds):
    seconds = dict(zip(MACHINES, (stumps, gaussian), strict=True))
    study = study_of(lambda _, d, m: seconds.get(m, 1.0), (*MACHINES, *ENSEMBLES), ("german",), runs=3)
    assert claims.ensembles_evaluate_faster(study).holds is holds
