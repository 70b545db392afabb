"""lin2012: its data, its timed fits against the estimators, its theory, its checks, and a tiny run."""

import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernsemble.column_generation import column_generation
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostMH, AdaBoostMO
from kernsemble.evidence import IncompleteEvidenceError
from kernsemble.experiments.lin2012 import alternatives, beyond, curves, draws, fits, rest, solvers, theory
from kernsemble.experiments.lin2012.plan import paper
from kernsemble.experiments.lin2012.sets import PAPER_SETS, STORED
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.ledger import load_reading
from kernsemble.masters.exponential import Exponential
from kernsemble.papers.lin2012 import claims, claims_solvers, equal
from kernsemble.papers.lin2012.sets import N_CLASSES, PAPER_SOLVER, Sets, common_level, first_place, sets_of
from kernsemble.published import read_claims
from kernsemble.study import Study

ROOT = Path(__file__).parents[1]
POINTS = [1, 3, 8]


def make_trial(dataset, method="CW", number=0, exhibit="figure1"):
    return Trial("lin2012", exhibit, dataset, method, number)


@pytest.fixture(scope="module")
def wine():
    return draws.draw(make_trial("wine"))


def test_splits_are_three_to_one_and_differ_between_runs(wine):
    other = draws.draw(make_trial("wine", number=1))
    assert (len(wine.labels), len(wine.labels_test)) == (134, 44)
    assert not np.array_equal(wine.labels, other.labels)
    same = draws.draw(make_trial("wine", method="Ada.MH", exhibit="pairs"))
    np.testing.assert_array_equal(wine.X, same.X)


def test_mnist_takes_1000_digits_a_class_and_the_official_test_set():
    data = draws.draw(make_trial("MNIST"))
    assert data.X.dtype == np.uint8
    np.testing.assert_array_equal(np.bincount(data.labels), np.full(10, 1000))
    assert len(data.labels_test) == 10_000


def test_hold_out_is_a_stratified_quarter_of_the_training_part(wine):
    inner = draws.hold_out(make_trial("wine"), wine, 4)
    assert len(inner.labels) + len(inner.labels_test) == len(wine.labels)
    shares = np.bincount(inner.labels_test) / np.bincount(wine.labels)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


@pytest.mark.parametrize("per_class", [True, False])
def test_generated_curve_is_that_of_column_generation(wine, per_class):
    fitted = fits.generate(wine, POINTS, C=1e3, per_class=per_class, tol=1e-6)
    oracle, master = StumpOracle(wine.X), Exponential(wine.labels, 1e3, per_class=per_class, tol=1e-6)
    found = column_generation(oracle, master, max(POINTS), per_output=per_class, repeat=True)
    H = oracle.collect(found.keys).outputs(wine.X_test)
    for place, T in enumerate(POINTS):
        w = found.weights[T - 1][0]
        W = (
            np.where(np.array(found.outputs)[: len(w), None] == np.arange(3), w[:, None], 0)
            if per_class
            else w
        )
        wrong = (H[:, : len(w)] @ W).argmax(axis=1) != wine.labels_test
        assert fitted.errors(wine.X_test, wine.labels_test)[place] == pytest.approx(100 * wrong.mean())
    np.testing.assert_allclose(
        fitted.path("objective"), found.path("objective")[np.array(POINTS) - 1], rtol=1e-12
    )
    assert (np.diff(fitted.path("seconds")) >= 0).all()
    assert (fitted.path("solver_seconds") <= fitted.path("seconds")).all()
    width = 1 if per_class else 3
    assert (fitted.active <= width * fitted.learners).all()


def test_snapshots_are_what_fewer_rounds_give(wine):
    options = {"C": 1e4, "solver": "fcd", "tau_max": 2, "eps": 0.1, "random_state": 3}
    whole = fits.generate(wine, POINTS, **options)
    for place, T in enumerate(POINTS):
        alone = fits.generate(wine, [T], **options)
        np.testing.assert_allclose(whole.snapshots[place].w, alone.snapshots[0].w, rtol=1e-12)


def test_stagewise_fit_is_coordinate_descent_with_one_iteration(wine):
    own = fits.generate_stagewise(wine, [6], 1e8)
    model = MultiBoost(1e8, 6, solver="fcd", tau_max=1).fit(wine.X, wine.labels)
    scores = model.decision_function(wine.X_test)
    np.testing.assert_array_equal(
        own.errors(wine.X_test, wine.labels_test), 100 * np.mean(scores.argmax(axis=1) != wine.labels_test)
    )
    np.testing.assert_allclose(own.snapshots[-1].w.sum(), np.abs(model.coef_).sum(), rtol=1e-6)


def test_boosters_are_the_estimators(wine):
    for name, model in (("Ada.MH", AdaBoostMH(8)), ("Ada.MO", AdaBoostMO(8))):
        fitted = fits.boost(name, wine, POINTS, "one-against-all", np.random.default_rng(0))
        staged = [
            100 * np.mean(p != wine.labels_test)
            for p in model.fit(wine.X, wine.labels).staged_predict(wine.X_test)
        ]
        np.testing.assert_allclose(
            fitted.errors(wine.X_test, wine.labels_test), [staged[T - 1] for T in POINTS]
        )


def test_a_limit_ends_a_fit_and_its_curve_stays_where_it_was(wine):
    fitted = fits.generate(wine, POINTS, C=1e3, limit=0.0)
    assert fitted.rounds == 1
    assert len({entry.seconds for entry in fitted.snapshots}) == 1
    boosted = fits.boost("Ada.MO", wine, POINTS, "one-against-all", None, limit=-1.0)
    assert boosted.rounds < max(POINTS)


def test_weights_of_equal_stumps_are_one_weight_and_dust_is_none():
    outputs, w = np.array([0, 0, 1]), np.array([0.5, 1e-9, 1.0])
    fitted = fits.Fitted(None, ["a", "b", "a"], outputs, 2, [fits.Snapshot(w, 0, 0, 0)], 1)
    assert (fitted.learners[0], fitted.active[0]) == (3, 2)
    again = fits.Fitted(None, ["a", "a", "b"], outputs, 2, [fits.Snapshot(w, 0, 0, 0)], 1)
    assert (again.learners[0], again.active[0]) == (2, 2)


def test_search_takes_the_smallest_of_equals():
    made = SimpleNamespace(X_test=None, labels_test=None)
    errors = {1.0: 5.0, 10.0: 4.0, 100.0: 4.0}
    fit = lambda data, C, points: SimpleNamespace(errors=lambda X, y: [errors[C]])  # noqa: E731
    assert curves.select_by_holdout(fit, made, list(errors), 7) == 10.0


def test_excess_is_zero_for_an_exact_fit_and_positive_for_a_rough_one(wine):
    exact = fits.generate(wine, POINTS, C=1e4, tol=1e-7)
    rough = fits.generate(wine, POINTS, C=1e4, solver="fcd", tau_max=1, random_state=0)
    places = [0, 1, 2]
    assert solvers.certified(wine, exact, places, 1e4, 1e-6).max() < 1e-6
    assert solvers.certified(wine, rough, places, 1e4, 1e-6)[1:].min() > 1e-4


def test_races_bring_each_round_to_its_optimum(wine):
    columns, optima = solvers.generated_columns(wine, 1e4, 5)
    assert (np.diff(optima) < 0).all()
    for method in ("Newton", "L-BFGS-B", "FCD"):
        master = solvers.racer(method, wine.labels, 1e4, 1e-3)
        assert math.isfinite(solvers.race(master, columns, optima, 1e-3, 60.0))
        assert master.state.objective <= (1 + 1.001e-3) * optima[-1]
    late = solvers.racer("FCD", wine.labels, 1e4, 1e-3)
    assert math.isinf(solvers.race(late, columns, optima, 1e-3, -1.0))


@pytest.mark.parametrize("method", solvers.PICKS)
def test_picks_settle_every_coordinate(wine, method):
    columns, _ = solvers.generated_columns(wine, 1e3, 2)
    state = Exponential(wine.labels, 1e3).state
    order = np.concatenate([state.append(column, np.array([k])) for new in columns for column, k in new])
    count = solvers._settle(state, order, method, 0.01, 10_000, np.random.default_rng(0))
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
    iris = draws.draw(make_trial("iris"))
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
    fitted = rest.against_rest(wine, POINTS, 1e3, per_class=per_class, tol=1e-6)
    errors = fitted.errors(wine.X_test, wine.labels_test)
    assert errors[-1] < 15 < errors[0] + 15
    H = fitted.hypotheses.outputs(wine.X).astype(float)
    w, objective = fitted.snapshots[-1].w, 0.0
    for k in range(3):
        own = fitted.outputs == k
        signs = np.where(wine.labels == k, 1.0, -1.0)
        objective += w[own].sum() + 1e3 * np.mean(np.exp(-signs * (H[:, own] @ w[own])))
    assert fitted.path("objective")[-1] == pytest.approx(objective, rel=1e-9)


def test_trees_of_depth_one_are_no_better_than_stumps(wine):
    V = Exponential(wine.labels, 1.0).pricing_weights()
    stumps = fits.TimedStumps(wine.X).best(V)
    shallow = alternatives.TreeOracle(wine.X, 1)
    for k, (tree, stump) in enumerate(zip(shallow.best(V), stumps, strict=True)):
        assert tree.score <= stump.score + 1e-9
        assert tree.score == pytest.approx(V[:, k] @ tree.column)
    H = shallow.collect([2, 0]).outputs(wine.X)
    assert H.shape == (len(wine.X), 2)
    deep = alternatives.TreeOracle(wine.X, 2).best(V)
    assert all(d.score >= t.score - 1e-9 for d, t in zip(deep, shallow.best(V), strict=True))


def test_equal_numbers_of_leaves():
    for method in beyond.MODERN[1:]:
        trees = beyond.make_trees(make_trial("wine", method, exhibit="modern"), 31, 0.1)
        each = int(method.split()[1])
        n = getattr(trees, "n_estimators", None) or trees.max_iter
        assert n * each == 62


def test_every_claim_has_its_check_and_every_set_its_data():
    reading = load_reading("lin2012")
    written = {claim.id: claim.check for claim in read_claims(ROOT / "published/claims.yaml")}
    assert {name: check.__name__ for name, check in reading.checks.items()} == {
        name: check for name, check in written.items() if name.startswith("M")
    }
    assert set(PAPER_SETS) <= set(STORED)
    assert set(PAPER_SETS) <= set(N_CLASSES)
    assert set(paper.datasets) == set(STORED)


# Mean curves of five methods over five points, as a paper in favor of CW would have them.
CHECKPOINTS = [1, 10, 50, 100, 500]
CURVES = {
    "CW": [50, 10, 9, 8, 8], "CW-1": [50, 11, 9, 8, 8], "MultiBoost": [60, 40, 20, 11, 10],
    "Ada.ECC": [60, 40, 30, 20, 12], "Ada.MH": [60, 40, 30, 20, 12], "Ada.MO": [50, 10, 9, 8, 8],
}  # fmt: skip
SECONDS = {"CW": 1.0, "CW-1": 0.5, "MultiBoost": 2.0, PAPER_SOLVER: 20.0, "Ada.MO": 50.0}
LABELS = ("VOWEL", "USPS", "MNIST")


class MadeEvidence:
    """Complete evidence, two runs alike."""

    complete = current = True
    stale, status = (), ""

    def __init__(self, value, methods=(), datasets=LABELS):
        self.value, self.methods, self.datasets = value, methods, datasets
        keys = [SimpleNamespace(dataset=d, method=m) for d in datasets for m in methods]
        self.plan, self.current = SimpleNamespace(stamps=keys), keys

    def curves(self, metric, *, dataset, method):
        return np.array([self.value(metric, dataset, method)] * 2, dtype=float)

    def sample(self, metric, *, dataset, method):
        return SimpleNamespace(values=self.curves(metric, dataset=dataset, method=method), complete=True)

    def array(self, metric):
        return np.stack(
            [
                np.stack([self.curves(metric, dataset=d, method=m) for m in self.methods], 1)
                for d in self.datasets
            ],
            1,
        )


def made_value(**spoiled):
    def value(metric, dataset, method):
        if (metric, method) in spoiled.get("by", {}):
            return spoiled["by"][metric, method]
        curve = np.array(CURVES.get(method, CURVES["MultiBoost"]))
        return {
            "curve": curve, "error": curve[-1], "rounds": 200 if method == "Ada.MO" else 500, "finished": 120,
            "seconds_curve": SECONDS.get(method, 1.0) * np.arange(1, 6), "oracle_seconds": 1.0,
            "solver_curve": SECONDS.get(method, 1.0) * np.arange(1, 6), "learners": curve * 0 + 9,
            "active": curve * 0 + (5 if method == "CW" else 7), "per_learner": 0.9 if method == "CW" else 1.5,
        }[metric]  # fmt: skip

    return value


def made_study(**spoiled):
    evidence = MadeEvidence(made_value(**spoiled), (*CURVES, PAPER_SOLVER))
    nothing = MadeEvidence(None, (), ())
    return SimpleNamespace(
        evidence=lambda exhibit: evidence if exhibit == "figure1" else nothing,
        protocol=lambda exhibit: {"checkpoints": CHECKPOINTS},
    )


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
    assert check(made_study()).holds
    assert not check(made_study(by={place: bad})).holds


def test_time_is_compared_where_lbfgsb_ended():
    study = made_study()
    ratios = claims.time_ratios(Sets(study, {"VOWEL": "figure1"}, ()), "VOWEL")
    np.testing.assert_allclose(ratios, 20.0)  # at checkpoint 100, the last that 120 rounds finished
    assert claims.time_ratios(
        Sets(made_study(by={("finished", PAPER_SOLVER): 0}), {"VOWEL": "figure1"}, ()), "VOWEL"
    ).shape == (2, 2)


def test_sets_that_wait_make_a_claim_pending_and_say_what_is_known():
    study = made_study()
    whole = study.evidence("figure1")
    whole.current = [key for key in whole.current if key.dataset != "MNIST"]
    assert sets_of(study, "CW").waiting == ("MNIST",)
    with pytest.raises(IncompleteEvidenceError, match="so far, 2 of 3 sets: yes; on 2 of 2"):
        claims.class_wise_needs_fewer_iterations(study)
    whole.current = []
    with pytest.raises(IncompleteEvidenceError, match="no set is complete"):
        claims.class_wise_needs_fewer_iterations(study)


def test_differences_are_taken_run_by_run(tmp_path):
    study = made_study()
    study.scale, study.folder = "paper", tmp_path
    table = equal.show_differences(study)
    assert [row[0].text for row in table.rows] == list(LABELS)
    assert [cell.text for cell in table.rows[0][1:]] == ["-2.0", "0.000", "-2.0", "0.000"]
    assert (tmp_path / "tables" / "differences.csv").is_file()
    figure = equal.draw_learners(study)
    assert [len(axes.lines) for axes in figure.axes] == [3, 3, 3]


def test_a_scale_that_runs_nothing_gets_a_strip():
    study = SimpleNamespace(evidence=lambda exhibit: MadeEvidence(None, (), ()), protocol=lambda exhibit: {})
    assert len(equal.draw_learners(study).axes[0].texts) == 1


def test_the_common_level_is_the_lowest_that_all_reach():
    means = np.array([[9.0, 3.0, 4.0], [9.0, 8.0, 5.0]])
    assert common_level(means) == 5.0
    assert [first_place(mean, 5.0) for mean in means] == [1, 2]


GOOD_FIGURE6 = {
    "objective": [50, 20, 15, 12, 10], "late_objective": [50, 30, 20, 18, 18], "late_rounds": 100,
    "rounds": 500,
    "excess": [0.0, 0.01], "late_excess": [0.0, 0.0],
}  # fmt: skip


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
    cost = {"FCD 1": 1, "FCD 2": 2, "FCD 5": 3, "FCD 10": 4, "L-BFGS-B": 40, "Newton": 1.5}

    def value(metric, dataset, method):
        if (metric, method) == place:
            return bad
        return cost[method] * np.arange(1.0, 6) if metric == "seconds_curve" else GOOD_FIGURE6[metric]

    study = SimpleNamespace(
        evidence=lambda exhibit: MadeEvidence(value, tuple(cost), ("VOWEL", "USPS", "SCENE15")),
        protocol=lambda exhibit: {"checkpoints": CHECKPOINTS},
    )
    assert claims_solvers.coordinate_descent_beats_lbfgsb(study).holds is (place is None)


def test_checks_of_the_theory_can_fail():
    def study(methods, **values):
        made = MadeEvidence(lambda metric, d, m: values[metric], methods, ("iris",))
        return SimpleNamespace(evidence=lambda exhibit: made)

    for loss, holds in ((0.0, True), (0.2, False)):
        found = claims_solvers.printed_dual_is_the_dual(
            study(("(2) and (3)",), loss_3c=loss, duality=1e-9, share_3c=0.1)
        )
        assert found.holds is holds
    for perfect, holds in ((0, True), (3, False)):
        found = claims_solvers.v_minus_is_positive(
            study(("(12)", "(13)"), perfect=perfect, frozen=1, first=1)
        )
        assert found.holds is holds
    for rule, holds in ((lambda m: 1 + (m == "any"), True), (lambda m: 2 - (m == "any"), False)):
        made = MadeEvidence(lambda metric, d, m, rule=rule: rule(m), solvers.PICKS, ("wine",))
        found = claims_solvers.working_sets_save_updates(SimpleNamespace(evidence=lambda e, made=made: made))
        assert found.holds is holds


@pytest.fixture(scope="module")
def tiny_root(tmp_path_factory):
    """A repository with nothing but the parameters."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "params.yaml", root)
    shutil.copytree(ROOT / "published", root / "published")
    return root


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
