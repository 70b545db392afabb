"""guo2017: every printed number is read and has its reason, and every check of a claim can fail."""

from pathlib import Path

import numpy as np
import pytest
from support.made_evidence import made_evidence, made_study

from kernsemble.report.ledger import load_reading
from kernsemble.report.published import read_cells, read_claims
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.registry import load_paper
from guo2017 import claims, reasons
from guo2017.trials import LARGE_SET, SIZE_SETS, TABLE_SETS

paper = load_paper("guo2017")
ROOT = Path(__file__).parents[2]


def printed_table():
    return [cell for cell in read_cells(ROOT / "published/published.csv") if cell.paper == "guo2017"]


def test_every_printed_number_has_one_reason():
    found = {reasons.group_of(cell) for cell in printed_table()}
    assert found == set(reasons.REASONS)


def test_printed_average_ranks_follow_from_the_printed_errors():
    """All ten, up to a few equal errors that they order by digits which are not printed."""
    printed = {(c.row, c.column): c.value for c in printed_table() if c.exhibit == "table1"}
    rows = [f"{family}{T}" for family, T in claims.ROWS]
    means = np.array([[printed[row, label] for row in rows] for label in TABLE_SETS])
    for row, rank in zip(rows, claims.average_ranks(means), strict=True):
        assert -0.051 <= printed[row, "A.R."] - rank <= 0.2, row


def test_printed_errors_are_counts_over_ten_test_parts():
    """The test parts have the sizes they should, for trees too: means are multiples of 1 / (10 n)."""
    sizes = {"sonar": 58, "heart": 120, "liver": 195, "australian": 540}
    checked = [c for c in printed_table() if c.exhibit == "table1" and c.column in sizes]
    assert len(checked) == 40
    for cell in checked:
        total = 10 * sizes[cell.column]
        nearest = 100 * round(cell.value / 100 * total) / total
        assert abs(nearest - cell.value) <= 0.005 + 1e-9, cell


def test_table3_cannot_be_the_mean_of_table1():
    printed = {(c.exhibit, c.row, c.column): c.value for c in printed_table()}
    for family, C in (("L1-ExRM", 10), ("DRM", 10), ("DRM", 30)):
        mean = np.mean([printed["table1", f"{family}{C}", label] for label in TABLE_SETS])
        assert printed["table3", family, str(C)] - mean > 1.5


def test_every_printed_number_and_claim_is_read():
    reading = load_reading("guo2017")
    found = printed_table()
    assert len(found) == 118
    for cell in found:
        assert reading.rule(cell) is not None
        if cell.exhibit == "table1":
            family, bases = claims.split_name(cell.row)
            assert family in (*paper.methods("table1"), *paper.methods("table1_drm"))
            assert bases in (10, 30)
            assert cell.column in (*TABLE_SETS, "A.R.")
        if cell.exhibit == "table2":
            assert cell.column.replace(" ", "") in paper.methods("table2")
    written = {c.id: c.check for c in read_claims(ROOT / "published/claims.yaml") if c.paper == "guo2017"}
    assert {name: check.__name__ for name, check in reading.checks.items()} == written


def study_of(value, exhibit, datasets=TABLE_SETS, **options):
    """A study of made numbers whose every exhibit has the methods of one."""
    drm = paper.methods("table1_drm") if exhibit == "table1" else ()  # it has its own evidence, and its runs
    evidence = made_evidence(value, (*paper.methods(exhibit), *drm), datasets, **options)
    return made_study(evidence, {"lambdas": np.linspace(0.05, 4, 8)})


def figure1_as_printed(metric, dataset, method):
    place = claims.ORDER.index(method[3:])
    if metric == "train_error":
        return np.linspace(15, 10, 8) + place
    return np.full(8, 25.0 - 0.3 * place)


def test_checks_of_figure1_can_fail():
    good = study_of(figure1_as_printed, "figure1")
    assert claims.training_error_falls_with_lambda(good).holds
    assert claims.test_error_is_flat_in_lambda(good).holds
    flat = study_of(lambda m, d, name: np.full(8, 20.0), "figure1")
    assert not claims.training_error_falls_with_lambda(flat).holds
    steep = study_of(lambda m, d, name: np.linspace(30, 20, 8), "figure1")
    assert not claims.test_error_is_flat_in_lambda(steep).holds
    late = study_of(figure1_as_printed, "figure1", missing=lambda key: key.trial == 3)
    with pytest.raises(IncompleteEvidenceError, match="incomplete: 1216 of 1280 trials"):
        claims.test_error_is_flat_in_lambda(late)


def tables_as_printed(metric, dataset, method):
    bases = int(metric.removeprefix("error_"))
    level = {"L1-ExRM": 22.5, "L2-ExRM": 20.0}.get(method, 30.0 + (method == "DRM"))
    return level - 0.1 * np.log(bases) * (bases > 1)


def test_checks_of_the_tables_can_fail():
    good = study_of(tables_as_printed, "table1")
    bad = study_of(lambda m, d, name: 20.0 - tables_as_printed(m, d, name), "table1")
    for check in (claims.exrm_ranks_first, claims.exrm_is_best_at_every_size, claims.svm_ensembles_beat_drm):
        assert check(good).holds, check
        assert check(good).probability > 0.9
        assert not check(bad).holds, check


def test_checks_of_seconds_and_iterations_can_fail():
    def seconds(drm):
        return study_of(lambda m, d, name: drm if name[:3] == "DRM" else 0.1 + ("Tree" in name), "table2")

    assert claims.exrm_trains_fastest(seconds(20.0)).holds
    assert not claims.exrm_trains_fastest(seconds(5.0)).holds

    def iterations(l2):
        return study_of(lambda m, d, name: 70 if "L1" in name else l2, "convergence", (LARGE_SET,))

    assert claims.iterations_to_convergence(iterations(30)).holds
    assert not claims.iterations_to_convergence(iterations(70)).holds

    def time_of(power):
        return study_of(lambda m, d, name: int(d[2:]) ** power, "scaling", SIZE_SETS[:3], runs=1)

    assert claims.training_time_is_quasi_linear(time_of(1.0)).holds
    assert not claims.training_time_is_quasi_linear(time_of(2.0)).holds


def test_checks_of_the_theorems_can_fail():
    def theorems(gap, ratio):
        return study_of(lambda m, d, name: gap if m == "gap" else ratio, "theorems")

    assert claims.printed_solver_reaches_the_optimum(theorems(1e-6, 1.0)).holds
    assert not claims.printed_solver_reaches_the_optimum(theorems(1e-2, 1.0)).holds
    assert claims.ensemble_loss_below_mean_loss(theorems(0, 0.9)).holds
    assert not claims.ensemble_loss_below_mean_loss(theorems(0, 1.01)).holds
    for apart in (1e-9, 1e-2):
        found = claims.reweighting_solves_its_problem(study_of(lambda *_, a=apart: a, "zeros"))
        assert found.holds is (apart < 1e-3)
    errors = {"ExRM10": 20.0, "Bag-ExRM10": 19.5}
    for boosted in (19.0, 21.0):
        study = study_of(lambda m, d, name, b=boosted: errors.get(name, b), "wrapped")
        found = claims.wrapping_improves_exrm(study)
        assert found.holds is (boosted < 20)
