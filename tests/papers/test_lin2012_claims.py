"""lin2012: every claim has its check, every check can fail, and what waits is said."""

from pathlib import Path

import numpy as np
import pytest
from support.made_evidence import made_evidence, made_study

from kernsemble.report.ledger import load_reading
from kernsemble.report.published import read_claims
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.registry import load_paper
from lin2012 import charts, claims, claims_solvers, equal
from lin2012.shown_sets import FIGURES, PAPER_SOLVER, Sets, common_level, first_place, sets_of
from lin2012.theory import FIGURE6, PICKS

paper = load_paper("lin2012")
ROOT = Path(__file__).parents[2]
LABELS = ("VOWEL", "USPS", "MNIST")
CHECKPOINTS = [1, 10, 50, 100, 500]
# Mean curves over these points, as a paper in favor of CW would have them.
CURVES = {
    "CW": [50, 10, 9, 8, 8], "CW-1": [50, 11, 9, 8, 8], "MultiBoost": [60, 40, 20, 11, 10],
    "Ada.ECC": [60, 40, 30, 20, 12], "Ada.MH": [60, 40, 30, 20, 12], "Ada.MO": [50, 10, 9, 8, 8],
}  # fmt: skip
SECONDS = {"CW": 1.0, "CW-1": 0.5, "MultiBoost": 2.0, PAPER_SOLVER: 20.0, "Ada.MO": 50.0}
NOTHING = made_evidence(None, (), ())


def test_every_claim_has_its_check():
    reading = load_reading("lin2012")
    written = {claim.id: claim.check for claim in read_claims(ROOT / "published/claims.yaml")}
    assert {name: check.__name__ for name, check in reading.checks.items()} == {
        name: check for name, check in written.items() if name.startswith("M")
    }


def value_of(metric, dataset, method):
    curve = np.array(CURVES.get(method, CURVES["MultiBoost"]))
    seconds = SECONDS.get(method, 1.0) * np.arange(1, 6)
    return {
        "curve": curve, "error": curve[-1], "rounds": 200 if method == "Ada.MO" else 500, "finished": 120,
        "seconds_curve": seconds, "solver_curve": seconds, "oracle_seconds": 1.0, "learners": curve * 0 + 9,
        "active": curve * 0 + (5 if method == "CW" else 7), "per_learner": 0.9 if method == "CW" else 1.5,
    }[metric]  # fmt: skip


def figures(place=None, bad=None, **options):
    """Return a study whose first figure has evidence of three sets; one metric of one method may be bad."""
    value = lambda metric, dataset, method: (  # noqa: E731
        bad if (metric, method) == place else value_of(metric, dataset, method)
    )
    evidence = made_evidence(value, (*CURVES, PAPER_SOLVER), LABELS, runs=2, noise=0.0, **options)
    exhibits = dict.fromkeys(FIGURES, NOTHING) | {"figure1": evidence}
    return made_study(exhibits, {"checkpoints": CHECKPOINTS})


@pytest.mark.parametrize(
    ("check", "place", "bad"),
    [
        (claims.class_wise_needs_fewer_iterations, ("curve", "CW-1"), [60, 50, 40, 30, 8]),
        (claims.mo_converges_alike_but_takes_longer, ("curve", "Ada.MO"), [50, 40, 30, 20, 8]),
        (claims.mo_converges_alike_but_takes_longer, ("seconds_curve", "Ada.MO"), [1, 2, 3, 4, 5]),
        (claims.mo_converges_alike_but_takes_longer, ("rounds", "Ada.MO"), 500),
        (claims.class_wise_trains_faster, ("solver_curve", "CW"), [1, 2, 3, 400, 500]),
        (claims.class_wise_has_best_error, ("error", "MultiBoost"), 1.0),
        (claims.multiboost_is_sparse_over_classes, ("per_learner", "CW"), 0.4),
        (claims.multiboost_is_sparse_over_classes, ("per_learner", "MultiBoost"), 8.0),
        (claims.class_specific_sets_add_no_oracle_cost, ("oracle_seconds", "CW"), 1.5),
        (claims.class_wise_is_more_compact, ("active", "CW"), [9, 9, 9, 9, 9]),
    ],
)
def test_checks_of_the_figures_hold_and_can_fail(check, place, bad):
    assert check(figures()).holds
    assert not check(figures(place, bad)).holds


def test_time_is_compared_where_lbfgsb_ended():
    ratios = claims.time_ratios(Sets(figures(), {"VOWEL": "figure1"}, ()), "VOWEL")
    np.testing.assert_allclose(ratios, 20.0)  # at checkpoint 100, the last that 120 rounds finished
    early = figures(("finished", PAPER_SOLVER), 0)
    assert claims.time_ratios(Sets(early, {"VOWEL": "figure1"}, ()), "VOWEL").shape == (2, 2)


def test_sets_that_wait_make_a_claim_pending_and_say_what_is_known():
    study = figures(missing=lambda key: key.dataset == "MNIST")
    assert sets_of(study, "CW").waiting == ("MNIST",)
    with pytest.raises(IncompleteEvidenceError, match="so far, 2 of 3 sets: yes; on 2 of 2"):
        claims.class_wise_needs_fewer_iterations(study)
    with pytest.raises(IncompleteEvidenceError, match="no set is complete"):
        claims.class_wise_needs_fewer_iterations(figures(missing=lambda key: True))


def test_differences_are_taken_run_by_run(tmp_path):
    study = figures()
    study.scale, study.folder = "paper", tmp_path
    table = equal.show_differences(study)
    assert [row[0].text for row in table.rows] == list(LABELS)
    assert [cell.text for cell in table.rows[0][1:]] == ["-2.0", "0.000", "-2.0", "0.000"]
    assert (tmp_path / "tables" / "differences.csv").is_file()
    figure = equal.draw_learners(study)
    assert [len(axes.lines) for axes in figure.axes] == [3, 3, 3]


def test_the_common_level_is_the_lowest_that_all_reach():
    means = np.array([[9.0, 3.0, 4.0], [9.0, 8.0, 5.0]])
    assert common_level(means) == 5.0
    assert [first_place(mean, 5.0) for mean in means] == [1, 2]


GOOD_FIGURE6 = {
    "objective": [50, 20, 15, 12, 10], "late_objective": [50, 30, 20, 18, 18], "late_rounds": 100,
    "rounds": 500, "excess": [0.0, 0.01], "late_excess": [0.0, 0.0],
}  # fmt: skip
COST = {"FCD 1": 1, "FCD 2": 2, "FCD 5": 3, "FCD 10": 4, "L-BFGS-B": 40, "Newton": 1.5}


@pytest.mark.parametrize(
    ("place", "bad"),
    [
        (("seconds_curve", "FCD 1"), np.arange(1, 6) * 90.0),
        (("objective", "FCD 5"), np.full(5, 19.0)),
        (("excess", "FCD 2"), [0.0, 0.03]),
        (None, None),
    ],
)
def test_check_of_figure_6_can_fail(place, bad):
    def value(metric, dataset, method):
        if (metric, method) == place:
            return bad
        return COST[method] * np.arange(1.0, 6) if metric == "seconds_curve" else GOOD_FIGURE6[metric]

    evidence = made_evidence(value, tuple(COST), ("VOWEL", "USPS", "SCENE15"), runs=2)
    study = made_study(evidence, {"checkpoints": CHECKPOINTS})
    assert claims_solvers.coordinate_descent_beats_lbfgsb(study).holds is (place is None)


def theory_study(methods, **values):
    return made_study(made_evidence(lambda metric, d, m: values[metric], methods, ("iris",), runs=2))


@pytest.mark.parametrize(("loss", "holds"), [(0.0, True), (0.2, False)])
def test_check_of_the_dual_can_fail(loss, holds):
    study = theory_study(("(2) and (3)",), loss_3c=loss, duality=1e-9, share_3c=0.1)
    assert claims_solvers.printed_dual_is_the_dual(study).holds is holds


@pytest.mark.parametrize(("perfect", "holds"), [(0, True), (3, False)])
def test_check_of_the_step_can_fail(perfect, holds):
    study = theory_study(("(12)", "(13)"), perfect=perfect, frozen=1, first=1)
    assert claims_solvers.v_minus_is_positive(study).holds is holds


@pytest.mark.parametrize(("worse", "holds"), [("any", True), ("violated ones", False)])
def test_check_of_the_picks_can_fail(worse, holds):
    study = made_study(made_evidence(lambda metric, d, m: 1 + (m == worse), PICKS, ("wine",), runs=2))
    assert claims_solvers.working_sets_save_updates(study).holds is holds


POINTS = np.arange(1.0, 6)
PROTOCOL = {
    "checkpoints": CHECKPOINTS, "exact_points": [10, 500], "accuracies": POINTS, "pair_points": POINTS,
    "gap_levels": POINTS, "tree_points": POINTS,
}  # fmt: skip
DRAWINGS = {
    "figure1": lambda study: charts.draw_curves(study, "figure1"), "figure6": charts.draw_solvers,
    "accuracy": charts.draw_accuracy, "pairs": charts.draw_pairs, "stopping": charts.draw_stopping,
    "learning": charts.draw_learning, "trees": charts.draw_trees,
    "unlimited": charts.draw_unlimited,
}  # fmt: skip


@pytest.mark.parametrize("exhibit", DRAWINGS)
def test_figures_have_a_panel_for_each_set_and_say_when_there_is_nothing(exhibit):
    def value(metric, dataset, method):
        whole = {"late_rounds": 100, "rounds": 500, "finished": 120}
        return whole.get(metric, POINTS[:2] if metric.endswith("excess") else POINTS)

    methods = FIGURE6 if exhibit == "figure6" else paper.methods(exhibit)
    evidence = made_evidence(value, methods, LABELS[:2], runs=2, noise=0.0)
    figure = DRAWINGS[exhibit](made_study(evidence, PROTOCOL))
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == list(LABELS[:2])
    assert all(axes.lines for axes in figure.axes)
    waiting = made_evidence(value, methods, LABELS[:2], runs=2, missing=lambda key: True)
    for evidence, said in ((waiting, "its trials wait"), (NOTHING, "not run at this scale")):
        strip = DRAWINGS[exhibit](made_study(evidence, PROTOCOL))
        assert [text.get_text() for text in strip.axes[0].texts] == [said]


def test_a_scale_that_runs_nothing_gets_a_strip():
    assert len(equal.draw_learners(made_study(NOTHING)).axes[0].texts) == 1
