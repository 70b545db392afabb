"""lin2012: its data, its fits against the estimators, its theory, its claims and its drawings."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.made_evidence import decided, made_evidence, made_study

from kernsemble.column_generation import column_generation
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostMH, AdaBoostMO
from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.exponential import Exponential
from kernsemble.report.ledger import load_reading
from kernsemble.report.published import read_claims
from kernsemble.trials.bench import Draw
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.registry import load_paper
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
import shen2014.figures
from lin2012 import claims, figures, selection, theory, trials
from lin2012.claims import (
    FIGURES,
    FIVE,
    N_CLASSES,
    PAPER_SOLVER,
    Sets,
    common_level,
    first_place,
    reading,
    sets_of,
)
from lin2012.facts import where_both_end
from lin2012.theory import FIGURE6, PICKS
from lin2012.trials import PAPER_SETS, STORED

paper = load_paper("lin2012")
ROOT = Path(__file__).parents[2]
POINTS = [1, 3, 8]


def make_trial(dataset, method="CW", number=0, exhibit="figure1"):
    return Trial("lin2012", exhibit, dataset, method, number)


@pytest.fixture(scope="module")
def wine():
    return trials.draw(make_trial("wine"))


def test_splits_are_three_to_one_and_differ_between_runs(wine):
    other = trials.draw(make_trial("wine", number=1))
    assert (len(wine.y), len(wine.y_test)) == (134, 44)
    assert not np.array_equal(wine.y, other.y)
    same = trials.draw(make_trial("wine", method="Ada.MH", exhibit="pairs"))
    np.testing.assert_array_equal(wine.X, same.X)


def test_mnist_takes_1000_digits_a_class_and_the_official_test_set():
    data = trials.draw(make_trial("MNIST"))
    assert data.X.dtype == np.uint8
    np.testing.assert_array_equal(np.bincount(data.y), np.full(10, 1000))
    assert len(data.y_test) == 10_000


def test_hold_out_is_a_stratified_quarter_of_the_training_part(wine):
    inner = trials.hold_out(make_trial("wine"), wine, 4)
    assert len(inner.y) + len(inner.y_test) == len(wine.y)
    shares = np.bincount(inner.y_test) / np.bincount(wine.y)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


@pytest.mark.parametrize("per_class", [True, False])
def test_generated_curve_is_that_of_column_generation(wine, per_class):
    fitted = trials.generate(wine, POINTS, C=1e3, per_class=per_class, tol=1e-6)
    oracle, master = StumpOracle(wine.X), Exponential(wine.y, 1e3, per_class=per_class, tol=1e-6)
    found = column_generation(oracle, master, max(POINTS), per_output=per_class, repeat=True)
    H = oracle.collect(found.keys).outputs(wine.X_test)
    for place, T in enumerate(POINTS):
        w = found.weights[T - 1][0]
        W = (
            np.where(np.array(found.outputs)[: len(w), None] == np.arange(3), w[:, None], 0)
            if per_class
            else w
        )
        wrong = (H[:, : len(w)] @ W).argmax(axis=1) != wine.y_test
        assert fitted.errors(wine.X_test, wine.y_test)[place] == pytest.approx(100 * wrong.mean())
    np.testing.assert_allclose(
        fitted.path("objective"), found.path("objective")[np.array(POINTS) - 1], rtol=1e-12
    )
    assert (np.diff(fitted.path("seconds")) >= 0).all()
    assert (fitted.path("solver_seconds") <= fitted.path("seconds")).all()
    width = 1 if per_class else 3
    assert (fitted.active <= width * fitted.learners).all()


def test_snapshots_are_what_fewer_rounds_give(wine):
    options = {"C": 1e4, "solver": "fcd", "tau_max": 2, "eps": 0.1, "random_state": 3}
    whole = trials.generate(wine, POINTS, **options)
    for place, T in enumerate(POINTS):
        alone = trials.generate(wine, [T], **options)
        np.testing.assert_allclose(whole.snapshots[place].w, alone.snapshots[0].w, rtol=1e-12)


def test_stagewise_fit_is_coordinate_descent_with_one_iteration(wine):
    own = trials.generate_stagewise(wine, [6], 1e8)
    model = MultiBoost(C=1e8, n_rounds=6, solver="fcd", tau_max=1, tol=None).fit(wine.X, wine.y)
    scores = model.decision_function(wine.X_test)
    np.testing.assert_array_equal(
        own.errors(wine.X_test, wine.y_test), 100 * np.mean(scores.argmax(axis=1) != wine.y_test)
    )
    np.testing.assert_allclose(own.snapshots[-1].w.sum(), np.abs(model.weights_).sum(), rtol=1e-6)


def test_boosters_are_the_estimators(wine):
    for name, model in (("Ada.MH", AdaBoostMH(8)), ("Ada.MO", AdaBoostMO(8))):
        fitted = trials.boost(name, wine, POINTS, "one-against-all", np.random.default_rng(0))
        staged = [
            100 * np.mean(p != wine.y_test) for p in model.fit(wine.X, wine.y).staged_predict(wine.X_test)
        ]
        np.testing.assert_allclose(fitted.errors(wine.X_test, wine.y_test), [staged[T - 1] for T in POINTS])


def test_a_limit_ends_a_fit_and_its_curve_stays_where_it_was(wine):
    fitted = trials.generate(wine, POINTS, C=1e3, limit=0.0)
    assert fitted.rounds == 1
    assert len({entry.seconds for entry in fitted.snapshots}) == 1
    boosted = trials.boost("Ada.MO", wine, POINTS, "one-against-all", None, limit=-1.0)
    assert boosted.rounds < max(POINTS)


def test_weights_of_equal_stumps_are_one_weight_and_dust_is_none():
    outputs, w = np.array([0, 0, 1]), np.array([0.5, 1e-9, 1.0])
    fitted = trials.Fitted(None, ["a", "b", "a"], outputs, 2, [trials.Snapshot(w, 0, 0, 0)], 1)
    assert (fitted.learners[0], fitted.active[0]) == (3, 2)
    again = trials.Fitted(None, ["a", "a", "b"], outputs, 2, [trials.Snapshot(w, 0, 0, 0)], 1)
    assert (again.learners[0], again.active[0]) == (2, 2)


def test_search_takes_the_smallest_of_equals():
    made = SimpleNamespace(X_test=None, y_test=None)
    errors = {1.0: 5.0, 10.0: 4.0, 100.0: 4.0}
    fit = lambda data, C, points: SimpleNamespace(errors=lambda X, y: [errors[C]])  # noqa: E731
    assert trials.select_by_holdout(fit, made, list(errors), 7) == 10.0


def test_every_set_has_its_data_and_every_choice_its_words():
    assert list(figures.CHOICES) == list(Study("lin2012", "paper", ROOT, compute=False).choices)
    assert set(PAPER_SETS) <= set(STORED)
    assert set(PAPER_SETS) <= set(N_CLASSES)
    assert set(paper.datasets) == set(STORED)


def test_tiny_run_from_end_to_end(tiny_root):
    study = Study("lin2012", "smoke", tiny_root)
    for exhibit in ("theorems", "optimum", "figure6", "stopping"):
        assert study.evidence(exhibit).complete, exhibit
    optimum = study.evidence("optimum")
    for C in (100, 1000):
        objective, gap = (
            optimum.array(metric, methods=(f"CW, C = {C}", f"MultiBoost, C = {C}"))[0, 0]
            for metric in ("objective", "gap")
        )
        assert gap.max() <= 1e-4
        assert objective[0] == pytest.approx(objective[1], rel=1e-4)
    excess = study.evidence("figure6").curves("excess", dataset="wine", method="Newton")
    assert excess.max() < 1e-3


def test_excess_is_zero_for_an_exact_fit_and_positive_for_a_rough_one(wine):
    exact = trials.generate(wine, POINTS, C=1e4, tol=1e-7)
    rough = trials.generate(wine, POINTS, C=1e4, solver="fcd", tau_max=1, random_state=0)
    places = [0, 1, 2]
    assert theory.certified(wine, exact, places, 1e4, 1e-6).max() < 1e-6
    assert theory.certified(wine, rough, places, 1e4, 1e-6)[1:].min() > 1e-4


def test_races_bring_each_round_to_its_optimum(wine):
    columns, optima = theory.generated_columns(wine, 1e4, 5)
    assert (np.diff(optima) < 0).all()
    for method in ("Newton", "L-BFGS-B", "FCD"):
        master = theory.racer(method, wine.y, 1e4, 1e-3)
        assert math.isfinite(theory.race(master, columns, optima, 1e-3, 60.0))
        assert master.state.objective <= (1 + 1.001e-3) * optima[-1]
    late = theory.racer("FCD", wine.y, 1e4, 1e-3)
    assert math.isinf(theory.race(late, columns, optima, 1e-3, -1.0))


@pytest.mark.parametrize("method", theory.PICKS)
def test_picks_settle_every_coordinate(wine, method):
    columns, _ = theory.generated_columns(wine, 1e3, 2)
    state = Exponential(wine.y, 1e3).state
    order = np.concatenate([state.append(column, np.array([k])) for new in columns for column, k in new])
    count = theory._settle(state, order, method, 0.01, 10_000, np.random.default_rng(0))
    assert len(order) <= count < 10_000
    assert state.violations(state.scores()).max() <= 0.01


def test_constraint_3c_cuts_the_optimum_off_where_margins_are_negative():
    values = {"dual_points": 22, "dual_rounds": 2, "dual_C": 20.0}
    found = theory.duality(make_trial("VOWEL", "(2) and (3)", exhibit="theorems"), **values)
    assert found["duality"] < 1e-6
    assert found["excess_3c"] > 0.1
    assert found["share_3c"] > 0.1
    assert found["loss_3c"] > 1e-3


def test_printed_step_ends_the_learning_of_a_separated_class():
    iris = trials.draw(make_trial("iris"))
    exact, perfect, frozen = theory.stagewise(iris, 5, 1e8, exact=True)
    assert perfect[0] == (0, 0)  # the first class is separated at once
    assert frozen == 0
    assert np.isfinite(exact.snapshots[0].w).all()
    assert exact.snapshots[0].w.max() < 30
    _, _, frozen = theory.stagewise(iris, 5, 1e8, exact=False)
    assert frozen == 1


def test_steps_12_and_13_agree_for_a_large_c():
    assert theory.step_of(3.0, 2.0, 1e-9, True) == pytest.approx(theory.step_of(3.0, 2.0, 0.0, False))


@pytest.mark.parametrize("per_class", [True, False])
def test_against_the_rest_every_class_solves_its_own_problem(wine, per_class):
    fitted = trials.against_rest(wine, POINTS, 1e3, per_class=per_class, tol=1e-6)
    errors = fitted.errors(wine.X_test, wine.y_test)
    assert errors[-1] < 15 < errors[0] + 15
    H = fitted.hypotheses.outputs(wine.X).astype(float)
    w, objective = fitted.snapshots[-1].w, 0.0
    for k in range(3):
        own = fitted.outputs == k
        signs = np.where(wine.y == k, 1.0, -1.0)
        objective += w[own].sum() + 1e3 * np.mean(np.exp(-signs * (H[:, own] @ w[own])))
    assert fitted.path("objective")[-1] == pytest.approx(objective, rel=1e-9)


def test_trees_of_depth_one_are_no_better_than_stumps(wine):
    V = Exponential(wine.y, 1.0).pricing_weights()
    stumps = trials.TimedStumps(wine.X).best(V)
    shallow = trials.TreeOracle(wine.X, 1)
    for k, (tree, stump) in enumerate(zip(shallow.best(V), stumps, strict=True)):
        assert tree.score <= stump.score + 1e-9
        assert tree.score == pytest.approx(V[:, k] @ tree.column)
    H = shallow.collect([2, 0]).outputs(wine.X)
    assert H.shape == (len(wine.X), 2)
    deep = trials.TreeOracle(wine.X, 2).best(V)
    assert all(d.score >= t.score - 1e-9 for d, t in zip(deep, shallow.best(V), strict=True))


def test_equal_numbers_of_leaves():
    for method in trials.MODERN[1:]:
        trees = trials.make_trees(make_trial("wine", method, exhibit="modern"), 31, 0.1)
        each = int(method.split()[1])
        n = getattr(trees, "n_estimators", None) or trees.max_iter
        assert n * each == 62


def test_parts_grow_and_keep_the_shares_of_classes(wine):
    parts = list(trials.growing_parts(make_trial("wine"), wine, [0.1, 0.5, 1.0]))
    rows = [{tuple(x) for x in part.X} for part in parts]
    assert rows[0] < rows[1] < rows[2]
    np.testing.assert_array_equal(np.bincount(parts[1].y), np.ceil(0.5 * np.bincount(wine.y)).astype(int))
    assert len(parts[2].y) == len(wine.y)


def test_without_a_limit_both_solvers_end_at_the_same_optimum():
    found = theory.unlimited(
        make_trial("wine", exhibit="unlimited"), checkpoints=[1, 20, 100], figure6_C=100.0
    )
    rounds = {method: row["rounds"] for method, row in found.items()}
    assert max(rounds.values()) < 100  # no stump is missing any more
    objectives = [row["objective"] for row in found.values()]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-3)


# Claims and drawings


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
        "seconds_curve": seconds, "solver_curve": seconds, "oracle_seconds": 1.0, "round_seconds": 1.0,
        "plain_seconds": 1.0,
        "learners": curve * 0 + (7 if method == "CW" else 9),
        "active": curve * 0 + (5 if method == "CW" else 7), "per_learner": 0.9 if method == "CW" else 1.5,
    }[metric]  # fmt: skip


def study_of(place=None, bad=None, **options):
    """Return a study whose first figure has evidence of three sets; one metric of one method may be bad."""
    value = lambda metric, dataset, method: (  # noqa: E731
        bad if (metric, method) == place else value_of(metric, dataset, method)
    )
    evidence = made_evidence(value, (*CURVES, PAPER_SOLVER), LABELS, runs=2, noise=0.0, **options)
    codes = made_evidence(value, ("exhaustive",), LABELS, runs=2, noise=0.0)
    searches = made_evidence(value, ("CW", "MultiBoost"), LABELS, runs=2, noise=0.0)
    exhibits = dict.fromkeys(FIGURES, NOTHING)
    exhibits |= {"figure1": evidence, "codes": codes, "searches": searches}
    return made_study(exhibits, {"checkpoints": CHECKPOINTS})


def test_time_is_compared_where_lbfgsb_ended():
    ratios = claims.time_ratios(Sets(study_of(), {"VOWEL": "figure1"}, ()), "VOWEL")
    np.testing.assert_allclose(ratios, 20.0)  # at checkpoint 100, the last that 120 rounds finished
    early = study_of(("finished", PAPER_SOLVER), 0)
    assert claims.time_ratios(Sets(early, {"VOWEL": "figure1"}, ()), "VOWEL").shape == (2, 2)


def test_sets_that_wait_make_a_claim_pending_and_say_what_is_known():
    study = study_of(missing=lambda key: key.dataset == "MNIST")
    assert sets_of(study, "CW").waiting == ("MNIST",)
    with pytest.raises(IncompleteEvidenceError, match="so far, 2 of 3 sets: cw 1, cw1 1; iterations of CW"):
        claims.class_wise_needs_fewer_iterations(study)
    with pytest.raises(IncompleteEvidenceError, match="no set is complete"):
        claims.class_wise_needs_fewer_iterations(study_of(missing=lambda key: True))


def test_differences_are_taken_run_by_run(tmp_path):
    study = study_of()
    study.scale, study.folder = "paper", tmp_path
    table = figures.show_differences(study)
    assert [row[0].text for row in table.rows] == list(LABELS)
    assert [cell.text for cell in table.rows[0][1:]] == ["-2.0", "< 0.001", "-2.0", "< 0.001"]
    assert (tmp_path / "tables" / "differences.csv").is_file()
    figure = figures.draw_learners(study)
    assert [len(axes.lines) for axes in figure.axes] == [3, 3, 3]
    assert len(figures.draw_learners(made_study(NOTHING)).axes[0].texts) == 1


def test_tables_by_set_have_the_numbers_that_decide_the_claims(tmp_path):
    study = study_of()
    study.scale, study.folder = "paper", tmp_path
    iterations, ratios = figures.show_iterations(study), figures.show_ratios(study)
    assert [cell.text for cell in iterations.rows[0]] == ["VOWEL", "12.0", "10", "10", "100", "500", "500"]
    told = dict(zip(ratios.header, [cell.text for cell in ratios.rows[0]], strict=True))
    assert [told[name] for name in ("L-BFGS-B", "Newton", "search")] == ["20.0", "2.0", "1.00"]
    assert (told["share of weights"], told["classes a stump"]) == ("0.90 / 0.14", "1.5")
    assert [told[name] for name in ("iterations", "weights", "stumps")] == ["10 / 500", "5 / 7", "7 / 9"]
    waiting = study_of(missing=lambda key: True)
    waiting.scale, waiting.folder = "paper", tmp_path
    assert figures.show_iterations(waiting).rows == figures.show_ratios(waiting).rows == ()


def test_a_method_has_one_color_in_all_articles():
    short = {name.replace("AdaBoost.", "Ada."): color for name, color in shen2014.figures.COLORS.items()}
    both = set(short) & set(figures.COLORS)
    assert {"MultiBoost", "Ada.MH", "Ada.ECC"} <= both
    assert {name: figures.COLORS[name] for name in both} == {name: short[name] for name in both}
    assert figures.COLORS["MultiBoost"] != short["CGENS"]
    for panel_of in (figures._SOLVERS, figures._TOLERANCES):
        assert panel_of["L-BFGS-B"] == figures.COLORS["MultiBoost"]


def test_the_common_level_is_the_lowest_that_all_reach():
    means = np.array([[9.0, 3.0, 4.0], [9.0, 8.0, 5.0]])
    assert common_level(means) == 5.0
    assert [first_place(mean, 5.0) for mean in means] == [1, 2]


GOOD_FIGURE6 = {
    "objective": [50, 20, 15, 12, 10], "late_objective": [50, 30, 20, 18, 18], "late_rounds": 100,
    "rounds": 500, "excess": [0.0, 0.01], "late_excess": [0.0, 0.0],
}  # fmt: skip
COST = {"FCD 1": 1, "FCD 2": 2, "FCD 5": 3, "FCD 10": 4, "L-BFGS-B": 40, "Newton": 1.5}


def figure6(place=None, bad=None):
    """Return a study of figure 6 with which M6 holds, but for one metric of one method."""

    def value(metric, dataset, method):
        if (metric, method) == place:
            return bad
        return COST[method] * np.arange(1.0, 6) if metric == "seconds_curve" else GOOD_FIGURE6[metric]

    evidence = made_evidence(value, tuple(COST), ("VOWEL", "USPS", "SCENE15"), runs=2)
    return made_study(evidence, {"checkpoints": CHECKPOINTS})


def theory_study(methods, **values):
    """Return a study with these numbers, the same for all methods."""
    return made_study(made_evidence(lambda metric, d, m: values[metric], methods, ("iris",), runs=2))


def duality(loss):
    return theory_study(("(2) and (3)",), loss_3c=loss, duality=1e-9, share_3c=0.1)


def steps(perfect):
    return theory_study(("(12)", "(13)"), perfect=perfect, frozen=1, first=1)


def readings(rough):
    value = lambda metric, d, method: {"CW, tau_max 2": rough}.get(method, 20.0)  # noqa: E731
    return made_study(made_evidence(value, trials.READINGS, ("VOWEL",), runs=5))


def picks(worse):
    return made_study(made_evidence(lambda metric, d, m: 1 + (m == worse), PICKS, ("wine",), runs=2))


# For each claim numbers with which it holds, then some with which it fails.
DECIDED = {
    "M1": (study_of(), study_of(("curve", "CW-1"), [60, 50, 40, 30, 8])),
    "M2": (
        study_of(),
        study_of(("curve", "Ada.MO"), [50, 40, 30, 20, 8]),
        study_of(("seconds_curve", "Ada.MO"), [1, 2, 3, 4, 5]),
        study_of(("round_seconds", "exhaustive"), 0.001),
    ),
    "M3": (study_of(), study_of(("solver_curve", "CW"), [1, 2, 3, 400, 500])),
    "M4": (study_of(), study_of(("error", "MultiBoost"), 1.0)),
    "M5": (study_of(), study_of(("per_learner", "CW"), 0.4), study_of(("per_learner", "MultiBoost"), 8.0)),
    "M6": (
        figure6(),
        figure6(("seconds_curve", "FCD 1"), np.arange(1, 6) * 90.0),
        figure6(("objective", "FCD 5"), np.full(5, 19.0)),
        figure6(("excess", "FCD 2"), [0.0, 0.03]),
    ),
    "M7": (study_of(), study_of(("oracle_seconds", "CW"), 1.5), study_of(("plain_seconds", "CW"), 1.5)),
    "M8": (study_of(), study_of(("active", "CW"), [9, 9, 9, 9, 9])),
    "M9": (duality(0.0), duality(0.2)),
    "M10": (steps(0), steps(3)),
    "M11": (picks("any"), picks("violated ones")),
    "M12": (readings(20.5), readings(22.0)),
}


@pytest.mark.parametrize("claim", reading.checks)
def test_good_numbers_hold_and_bad_ones_fail(claim):
    good, *bad = map(reading.checks[claim], DECIDED[claim])
    assert decided(claim, good) == "holds"
    assert not any(decided(claim, spoiled) == "holds" for spoiled in bad)


PLACES = np.arange(1.0, 6)
PROTOCOL = {
    "checkpoints": CHECKPOINTS, "exact_points": [10, 500], "accuracies": PLACES, "pair_points": PLACES,
    "gap_levels": PLACES, "tree_points": PLACES, "search": {"rounds": 100},
}  # fmt: skip
DRAWINGS = {
    "figure1": lambda study: figures.draw_curves(study, "figure1"), "figure6": figures.draw_solvers,
    "accuracy": figures.draw_accuracy, "pairs": figures.draw_pairs, "stopping": figures.draw_stopping,
    "learning": figures.draw_learning, "trees": figures.draw_trees,
    "unlimited": figures.draw_unlimited, "costs": figures.draw_costs, "truncated": figures.draw_truncated,
    "map": lambda study: figures.draw_costs(study, "map"), "tolerances": figures.draw_tolerances,
}  # fmt: skip


@pytest.mark.parametrize("exhibit", DRAWINGS)
def test_figures_have_a_panel_for_each_set_and_say_when_there_is_nothing(exhibit):
    def value(metric, dataset, method):
        whole = {"late_rounds": 100, "rounds": 500, "finished": 120}
        return whole.get(metric, PLACES[:2] if metric.endswith("excess") else PLACES)

    methods = FIGURE6 if exhibit == "figure6" else paper.methods({"truncated": "costs"}.get(exhibit, exhibit))
    evidence = made_evidence(value, methods, LABELS[:2], runs=2, noise=0.0)
    figure = DRAWINGS[exhibit](made_study(evidence, PROTOCOL))
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == list(LABELS[:2])
    assert all(axes.lines for axes in figure.axes)
    waiting = made_evidence(value, methods, LABELS[:2], runs=2, missing=lambda key: True)
    for evidence, said in ((waiting, "its trials wait"), (NOTHING, "not run at this scale")):
        strip = DRAWINGS[exhibit](made_study(evidence, PROTOCOL))
        assert [text.get_text() for text in strip.axes[0].texts] == [said]


TOLD = PROTOCOL | {
    "modern_rounds": 5, "accuracies": [0.1, 1e-5], "learning_rounds": 5, "shares": PLACES / 5,
}  # fmt: skip


def told(scale, missing=None):
    """A study with the paper's sets and methods; the numbers of some methods are ``scale`` times as large."""

    def value(metric, dataset, method):
        own = (
            scale
            if method.startswith(("CW", "(12)", "violated", "FCD", "(2)", "LightGBM", "Newton"))
            else 1.0
        )
        if metric == "curve":
            return own * np.array(CURVES.get(method, CURVES["MultiBoost"]))
        if metric.endswith(("curve", "objective", "learners", "active")) and dataset not in ("wine", "iris"):
            return own * PLACES * 30.0
        return own * PLACES[:2] if metric.endswith("excess") else own * 40.0

    def evidence(name):
        labels = dict.fromkeys(d for f in paper.functions[name] for d in f.datasets or paper.datasets)
        numbers = value
        if name in ("optimum", "theorems"):
            numbers = lambda m, d, method: np.mean(value(m, d, method))  # noqa: E731
        elif name in ("learning", "costs", "map", "votes"):
            numbers = lambda m, d, method: value("curve", d, method)  # noqa: E731
        return made_evidence(numbers, paper.methods(name), labels, runs=3, noise=0.0, missing=missing)

    return SimpleNamespace(key="lin2012", evidence=evidence, protocol=lambda name: TOLD)


@pytest.mark.parametrize("source", load_reading("lin2012").sources)
def test_facts_follow_the_numbers_and_wait_for_them(source):
    compute = reading.sources[source]
    found, other = compute(told(1.0)), compute(told(1.5))
    assert set(found) == set(reading.declared[source])
    assert found != other
    assert "nan" not in str(found)
    with pytest.raises(IncompleteEvidenceError, match="of 3 runs"):
        compute(told(1.0, missing=lambda key: key.trial == 1))


def test_truncated_weights_are_the_last_ones_and_end_where_the_curve_ends():
    rng = np.random.default_rng(0)
    X = rng.random((80, 3))
    y = (3 * X[:, 0] + X[:, 1] + 0.5 * rng.random(80)).astype(int) % 3
    data = Draw(X[:50], y[:50], X[50:], y[50:])
    model = MultiBoost(C=100.0, n_rounds=8, per_class=False, tol=None).fit(data.X, data.y)
    points = [1, 3, 8]
    found = selection.truncated(model, data, points)
    assert found[-1] == selection.curve_of(model, data, points)[-1]
    kept = model.weights_.copy()
    kept[3:] = 0.0  # one stump a round
    scores = model.hypotheses_.outputs(data.X_test) @ kept
    assert found[1] == pytest.approx(100 * np.mean(scores.argmax(axis=1) != data.y_test))


@pytest.mark.parametrize("per_class", [True, False])
def test_last_weights_of_a_fit_end_where_its_curve_ends(wine, per_class):
    fitted = trials.generate(wine, [1, 3, 6], C=100.0, per_class=per_class, solver="newton", tol=1e-6)
    kept = selection.with_last_weights(fitted)
    errors = kept.errors(wine.X_test, wine.y_test)
    assert errors[-1] == fitted.errors(wine.X_test, wine.y_test)[-1]
    last, first = fitted.snapshots[-1].w, kept.snapshots[0].w
    np.testing.assert_array_equal(first, last[: len(first)])


def test_a_plain_search_finds_what_the_search_with_bounds_finds(rng):
    X = np.round(rng.random((70, 5)), 1)
    V = rng.standard_normal((70, 3))
    best = [candidate.score for candidate in StumpOracle(X).best(cut_bits(V))]
    np.testing.assert_allclose(theory.PlainSearch(X).best(V), best, rtol=1e-6)


def test_rough_lbfgsb_ends_higher_and_a_tight_one_where_newton_steps_end(wine):
    rough, tight = (
        theory.rounds_of(theory.RoughMaster(wine.y, 1000.0, ftol), wine, [8], np.inf).snapshots[-1].objective
        for ftol in (0.3, 1e-12)
    )
    exact = trials.generate(wine, [8], C=1000.0, solver="newton", tol=1e-7).snapshots[-1].objective
    assert tight == pytest.approx(exact, rel=1e-4)
    assert rough > tight


def test_one_stump_a_class_with_one_weight_lowers_the_loss_exactly(wine):
    """After a round the vector of stumps has an error of one half, as after any step of AdaBoost."""
    fitted = trials.mh_per_class(wine, [1, 2])
    K = trials.n_classes_of(wine)
    Y = np.where(wine.y[:, None] == np.arange(K), 1.0, -1.0)
    H = fitted.hypotheses.outputs(wine.X).astype(float)
    first, second = fitted.snapshots[0].w, fitted.snapshots[1].w
    assert (len(first), len(second)) == (K, 2 * K)
    assert np.ptp(first) == 0
    D = np.exp(-Y * H[:, :K] * first)
    assert D[H[:, :K] != Y].sum() / D.sum() == pytest.approx(0.5)
    best = [candidate.score for candidate in StumpOracle(wine.X).best(cut_bits(D / D.sum()) * Y)]
    np.testing.assert_allclose((D / D.sum() * Y * H[:, K:]).sum(axis=0), best, rtol=1e-6)


def test_votes_are_drawn_beside_cw_on_the_same_runs():
    value = lambda metric, d, method: np.array(CURVES["CW"])  # noqa: E731
    votes = made_evidence(value, ("one", "one a class"), LABELS[:1], runs=2)
    exhibits = dict.fromkeys(FIGURES, NOTHING) | {
        "votes": votes,
        "figure1": made_evidence(value, FIVE, LABELS),
    }
    figure = figures.draw_votes(made_study(exhibits, PROTOCOL))
    assert [line.get_label() for line in figure.axes[0].lines] == ["Ada.MH, one", "Ada.MH, one a class", "CW"]
    assert len(figures.draw_votes(made_study(NOTHING, PROTOCOL)).axes[0].texts) == 1


def test_the_map_says_where_both_end_by_when_c_is_chosen(tmp_path):
    def value(metric, dataset, method):
        name, _, C = method.partition(", C = ")
        late = name == "MultiBoost" and C == "1000"  # the best choice in the end, and not at first
        if metric == "held":
            return [50.0, 40.0, 30.0 + 9 * late, 20.0, 10.0 - 5 * late]
        if metric in ("curve", "truncated"):
            return np.array([60.0, 40.0, 30.0, 20.0, 10.0]) - 2 * late + 5 * (metric == "truncated")
        return PLACES * (10 if metric == "learners" else 9 - 5 * (name == "MultiBoost"))

    study = made_study(made_evidence(value, selection.COSTED, ("USPS",), runs=1), PROTOCOL)
    end = where_both_end(study, "USPS")
    assert end.C == {"early": ("100", "100"), "late": ("100", "1000")}
    assert end.errors == {"early": (10.0, 10.0), "late": (10.0, 8.0)}
    assert end.shares == (0.9, 0.04)
    study.scale, study.folder = "paper", tmp_path
    assert [cell.text for cell in figures.show_map(study).rows[0]][:3] == ["USPS", "100 / 100", "10.0 / 10.0"]


def test_trees_of_multiboost_are_those_of_the_column_generation():
    """The estimator over trees reaches the optimum that Newton steps reach over the same trees."""
    rng = np.random.default_rng(1)
    X = rng.random((60, 4))
    y = (4 * X[:, 0] + X[:, 1]).astype(int) % 3
    data = Draw(X, y, X, y)
    own = selection.fit_trees(data, 10.0, [1, 6], 2, per_class=True)
    other = trials.generate(data, [6], C=10.0, oracle=trials.TreeOracle(X, 2), solver="newton", tol=1e-9)
    assert own.objective_path_[-1] == pytest.approx(other.snapshots[-1].objective, rel=1e-5)
