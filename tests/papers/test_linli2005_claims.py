"""linli2005: every printed number is read, and every check of a claim can fail."""

from pathlib import Path

import pytest
from support.made_evidence import made_evidence, made_study

from kernsemble.report.ledger import load_reading
from kernsemble.report.published import read_cells, read_claims
from kernsemble.trials.registry import load_paper
from linli2005 import claims
from linli2005.trials import NOISY_SETS, PLANE_SET, REAL_SETS, TABLE_SETS

paper = load_paper("linli2005")
ROOT = Path(__file__).parents[2]


def test_every_printed_number_and_claim_is_read():
    reading = load_reading("linli2005")
    cells = [cell for cell in read_cells(ROOT / "published/published.csv") if cell.paper == "linli2005"]
    assert len(cells) == 126
    for cell in cells:
        assert reading.rule(cell).runs == 100
        assert cell.row in TABLE_SETS
        assert cell.column in paper.methods("table1")
    written = {claim.id: claim.check for claim in read_claims(ROOT / "published/claims.yaml")}
    assert {written[name]: name for name in reading.checks} == {
        check.__name__: name for name, check in reading.checks.items()
    }
    assert set(reading.checks) == {name for name, check in written.items() if name.startswith("L")}


def study_of(value, exhibit="table1", datasets=TABLE_SETS, **options):
    """A study of made numbers whose every exhibit has the methods of one."""
    return made_study(made_evidence(value, paper.methods(exhibit), datasets, **options))


def as_the_paper_says(metric, dataset, method):
    noisy = dataset.endswith("-n")
    if metric == "train_error":
        return 0.0 if method.startswith("AB") else 8.0
    if method.startswith("AB"):
        return 20.0 + 5.0 * noisy
    return {"SVM-Stump": 11.0, "SVM-Perc": 10.5, "SVM-Gauss": 10.5 - 1.0 * (dataset not in REAL_SETS)}[method]


@pytest.mark.parametrize(
    ("check", "spoil"),
    [
        (claims.svm_beats_adaboost, lambda m, d, name: 50.0 if name == "SVM-Perc" else 10.0),
        (claims.advantage_grows_with_noise, lambda m, d, name: 10.0 + 5.0 * name.startswith("AB")),
        (claims.perceptron_equals_gauss_on_real_sets, lambda m, d, name: 10.0 + (name == "SVM-Gauss")),
        (claims.stump_slightly_worse_than_perceptron, lambda m, d, name: 10.0 + 5.0 * (name == "SVM-Stump")),
        (claims.adaboost_fits_the_noise, lambda m, d, name: 5.0),
    ],
)
def test_checks_of_the_tables_can_fail(check, spoil):
    found = check(study_of(as_the_paper_says))
    assert found.holds
    assert found.probability > 0.95
    spoiled = check(study_of(spoil))
    assert not spoiled.holds
    assert spoiled.probability < 0.5


def test_checks_of_the_theorems_can_fail():
    good = {"constant": 1e-9, "scaling": 0.0, "eigenvalue": 0.1, "separated": 1.0, "distinct": 1.0}
    checks = {
        "constant": claims.constant_can_be_dropped,
        "scaling": claims.scaling_kernel_is_scaling_c,
        "separated": claims.any_labelling_is_separated,
        "eigenvalue": claims.any_labelling_is_separated,
    }
    for metric, check in checks.items():
        assert check(study_of(lambda m, d, name: good[m], "theorems")).holds
        bad = good | {metric: 0.0 if metric in ("separated", "eigenvalue") else 1e-3}
        assert not check(study_of(lambda m, d, name, bad=bad: bad[m], "theorems")).holds


def test_checks_of_figure_2_and_of_selection_can_fail():
    areas = study_of(lambda m, d, name: 5.0 + name.startswith("AB"), "figure2", (PLANE_SET,))
    assert claims.svm_boundaries_closer_to_bayes(areas).holds
    assert not claims.svm_boundaries_closer_to_bayes(
        study_of(lambda m, d, name: 5.0 + (name == "SVM-Stump"), "figure2", (PLANE_SET,))
    ).holds
    for seconds, holds in ((10.0, True), (2.0, False)):

        def cost(metric, dataset, method, seconds=seconds):
            gauss = method == "SVM-Gauss"
            return (550 if gauss else 55) if metric == "problems" else (seconds if gauss else 1.0)

        found = claims.selection_is_ten_times_cheaper(study_of(cost, "selection", runs=1))
        assert found.holds is holds


def test_soft_margin_check_can_fail():
    def study(hard):
        cells = paper.methods("hard"), NOISY_SETS
        return made_study(
            {"hard": made_evidence(lambda *_: hard, *cells), "table1": made_evidence(lambda *_: 10.0, *cells)}
        )

    assert claims.soft_margin_controls_the_power(study(12.0)).holds
    assert not claims.soft_margin_controls_the_power(study(9.0)).holds


@pytest.mark.parametrize(("boosted", "holds"), [(12.0, True), (9.0, False)])
def test_check_of_lpboost_can_fail(boosted, holds):
    study = made_study(
        {
            "lpboost": made_evidence(lambda *_: boosted, paper.methods("lpboost"), TABLE_SETS, runs=5),
            "table1": made_evidence(lambda *_: 10.0, paper.methods("table1"), TABLE_SETS),
        }
    )
    found = claims.lpboost_changes_nothing(study)
    assert found.holds is holds
    assert (found.probability > 0.95) is holds
