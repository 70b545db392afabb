"""bi2004: every printed number is read, and every check of a claim can fail."""

from pathlib import Path

import numpy as np
import pytest
from support.made_evidence import made_evidence, made_study

from kernsemble.report.ledger import load_reading
from kernsemble.report.published import read_cells, read_claims
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.registry import load_paper
from bi2004 import claims, claims_behavior
from bi2004.cells import TOLERANCE, UNKNOWN_TASK
from bi2004.large import FIGURE4_CS
from bi2004.sets import SIZE_SETS, SMALL_CHOICES, SMALL_SETS, STORED, TARGET

paper = load_paper("bi2004")
ROOT = Path(__file__).parents[2]
METHODS = tuple(m for exhibit in ("table2", "figure1", "table3") for m in paper.methods(exhibit))
LABELS = (*SMALL_SETS, TARGET, "Forest", "Digits")
MIXTURE = claims_behavior.MIXTURE


def test_every_printed_number_and_claim_is_read():
    reading = load_reading("bi2004")
    cells = [cell for cell in read_cells(ROOT / "published/published.csv") if cell.paper == "bi2004"]
    assert len(cells) == 258
    for cell in cells:
        assert reading.rule(cell) is not None
        if cell.exhibit in ("table3", "table4"):
            assert cell.row in paper.methods(cell.exhibit)
        if cell.exhibit == "table2":
            label, _, method = cell.row.partition("/")
            assert label in SMALL_SETS
            assert method in SMALL_CHOICES
    counts = {
        (cell.exhibit, cell.row[:6]): reading.rule(cell).not_comparable
        for cell in cells
        if cell.column.startswith("C_") and cell.exhibit in ("table3", "table4")
    }
    assert counts == {
        ("table3", "2-norm"): TOLERANCE,
        ("table3", "1-norm"): "",
        ("table4", "2-norm"): TOLERANCE,
        ("table4", "1-norm"): UNKNOWN_TASK,
    }
    written = {claim.id: claim.check for claim in read_claims(ROOT / "published/claims.yaml")}
    assert {name: check.__name__ for name, check in reading.checks.items()} == {
        name: check for name, check in written.items() if name.startswith("B")
    }
    assert set(STORED) == {cell.row for cell in cells if cell.exhibit == "table1"}


def by_method(mixture, other):
    return lambda metric, dataset, method: mixture if method.split("/")[-1] in ("mixture", "L,Q,R") else other


def tables_of(value):
    return made_study(made_evidence(value, METHODS, LABELS, runs=12))


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (claims.mixture_beats_composite_on_the_target, by_method(1.0, 3.0), by_method(7.0, 3.0)),
        (claims.mixture_keeps_fewer_rbf_columns, by_method(10, 50), by_method(50, 50)),
        (claims.mixture_has_lowest_test_error_of_each_block, by_method(9.0, 10.0), by_method(10.0, 9.0)),
        (claims.mixture_tests_in_a_fraction_of_the_time, by_method(0.1, 1.0), by_method(0.5, 1.0)),
        (claims.mixture_trains_longer_to_the_end, by_method(2.0, 1.0), by_method(1.0, 2.0)),
        (
            claims.mixture_tests_faster_at_equal_error,
            lambda metric, d, m: 5.0 if metric == "error" else 1.0 + (m == "composite"),
            lambda metric, d, m: (5.0 if m == "mixture" else 9.0) if metric == "error" else 1.0,
        ),
        (
            claims.one_norm_is_sparser,
            lambda metric, d, m: 10.0 if m.startswith("1") else 100.0,
            lambda metric, d, m: 10.0,
        ),
        (
            claims_behavior.tr3_halves_the_training_time,
            lambda metric, d, m: {"fit_seconds_end": 3.0}.get(metric, 1.0),
            lambda metric, d, m: {"error_TR3": 5.0, "fit_seconds_end": 3.0}.get(metric, 1.0),
        ),
    ],
)
def test_checks_can_fail(check, good, bad):
    found = check(tables_of(good))
    assert found.holds
    assert found.probability > 0.9
    spoiled = check(tables_of(bad))
    assert not spoiled.holds
    assert spoiled.probability < 0.5


def test_checks_wait_for_all_runs():
    late = made_evidence(
        by_method(9.0, 10.0), METHODS, LABELS, missing=lambda key: key == ("Digits", MIXTURE, 3)
    )
    with pytest.raises(IncompleteEvidenceError, match="19 of 20 runs"):
        claims.mixture_has_lowest_test_error_of_each_block(made_study(late))


@pytest.mark.parametrize(
    "spoiled", [{}, {"identity": 1e-3}, {"optimum": 1e-3}, {"largest": 0.9}], ids=lambda some: str(some)
)
def test_check_of_the_theorems_can_fail(spoiled):
    values = {"identity": 1e-9, "optimum": 1e-9, "largest": 1.0, "realized": 0.3} | spoiled
    made = made_evidence(lambda metric, d, m: values[metric], ("(7), regular", "(11), stratified"), runs=3)
    found = claims_behavior.optimality_test_and_best_column_hold(made_study(made))
    assert found.holds is not bool(spoiled)


@pytest.mark.parametrize(("regular", "scanned", "holds"), [(9, 200, True), (2, 200, False), (9, 2000, False)])
def test_check_of_stratification_can_fail(regular, scanned, holds):
    rounds = np.arange(1, 11)

    def falling(at):
        curves = {"curve_rounds": rounds, "curve_validation": np.where(rounds < at, 50.0, 10.0)}
        return lambda metric, d, m: scanned if metric == "scanned" else curves[metric]

    study = made_study(
        {
            "table4": made_evidence(falling(5), (MIXTURE,), ("Digits",), runs=4),
            "figure3": made_evidence(falling(regular), ("regular",), ("Digits",), runs=4),
        }
    )
    found = claims_behavior.stratification_computes_fewer_columns(study)
    assert found.holds is holds
    assert (found.probability > 0.9) is holds


@pytest.mark.parametrize("holds", [True, False])
def test_check_of_improper_c_can_fail(holds):
    methods = [f"C = {C:g}" for C in FIGURE4_CS]

    def value(metric, dataset, method):
        place = methods.index(method)
        level = 10.0 + (place if holds else -place)
        curves = {"curve_rounds": [1, 100, 200], "curve_validation": [50.0, level, level]}
        return curves.get(metric, 10.0 + place)

    found = claims_behavior.improper_c_shows_early(
        made_study(made_evidence(value, methods, ("Digits",), runs=4))
    )
    assert found.holds is holds


@pytest.mark.parametrize(
    ("counts", "evaluations", "holds"),
    [
        ((250, 300, 500, 600), 30.0, True),
        ((250, 600, 900, 1000), 30.0, False),
        ((250, 300, 500, 600), 90.0, False),
    ],
)
def test_check_of_growth_can_fail(counts, evaluations, holds):
    def value(metric, dataset, method):
        if metric == "iterations":
            return [1.0, counts[SIZE_SETS.index(dataset)]]
        return 30.0 if dataset == "n=1000" else evaluations

    evidence = made_evidence(value, ("C fixed",), SIZE_SETS, runs=4)
    study = made_study(evidence, {"patiences": [20, 50], "patience": 50})
    found = claims_behavior.iterations_grow_slower_than_the_data(study)
    assert found.holds is holds
