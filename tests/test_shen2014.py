"""shen2014: its data, its families, selection, the limit over all stumps, its checks, and a tiny run."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernsemble.experiments.shen2014 import (
    draws,
    ensembles,
    infinite,
    machines,
    multiboost,
    multiclass,
    pictures,
    repeated,
    spam,
    table1,
    theory,
    timing,
    toy,
    vowel,
)
from kernsemble.experiments.shen2014.plan import paper
from kernsemble.experiments.shen2014.pools import make_family
from kernsemble.experiments.shen2014.sets import IDA_SETS, MULTICLASS_SETS, OFFICIAL_SETS, printed_label
from kernsemble.experiments.trial import Trial
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import stump_kernel
from kernsemble.ledger import load_reading
from kernsemble.masters.hinge import Hinge
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares
from kernsemble.papers.shen2014 import charts, charts_beyond, claims, claims_beyond
from kernsemble.published import read_cells, read_claims
from kernsemble.study import Study

ROOT = Path(__file__).parents[1]


def make_trial(dataset, method="CGENS", number=0, exhibit="table1"):
    return Trial("shen2014", exhibit, dataset, method, number)


@pytest.mark.parametrize(("name", "sizes"), [("heart", (170, 100)), ("titanic", (150, 2051))])
def test_draws_have_the_benchmark_s_sizes_and_differ_between_runs(name, sizes):
    first, second = (draws.draw(make_trial(name, number=k)) for k in (0, 1))
    assert (len(first.y), len(first.y_test)) == sizes
    assert set(first.y) == {-1.0, 1.0}
    assert not np.array_equal(first.y, second.y)


def test_folds_are_a_stratified_partition_shared_by_methods():
    labels = np.repeat([-1.0, 1.0], [31, 24])
    first, second = (draws.folds_of(make_trial("heart", m), labels, 5) for m in ("SVM", "CGENS"))
    held_out = np.concatenate([test for _, test in first])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(55))
    for (train, test), (_, same) in zip(first, second, strict=True):
        assert not set(train) & set(test)
        np.testing.assert_array_equal(test, same)
        assert (labels[test] > 0).sum() in (4, 5)


def test_stages_are_what_fewer_rounds_give(rng):
    X, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
    rounds = [3, 7]
    boosted = ensembles.boost(StumpOracle(X), y, rounds).scores(X)
    generated = ensembles.generate(StumpOracle(X), Hinge(y, 0.1, tol=1e-9), rounds, 0.0).scores(X)
    for column, T in enumerate(rounds):
        alone = ensembles.boost(StumpOracle(X), y, [T]).scores(X)[:, 0]
        np.testing.assert_allclose(boosted[:, column], alone)
        alone = ensembles.generate(StumpOracle(X), Hinge(y, 0.1, tol=1e-9), [T], 0.0).scores(X)[:, 0]
        np.testing.assert_allclose(generated[:, column], alone, atol=1e-6)


def test_search_counts_held_out_samples_and_prefers_the_smaller_of_equals():
    correct = np.array([[5, 9, 8], [9, 9, 9]])
    found = ensembles.Search([0.1, 1.0], [25, 50, 100], correct)
    assert found.best() == (0.1, 1)
    assert found.best(2) == (1.0, 2)


def test_stump_pool_holds_stumps_within_the_data_s_range(rng):
    X = rng.standard_normal((30, 3)) * [1.0, 2.0, 0.0]
    pool = make_family("stumps once", X, 0, size=200)
    chosen = pool.collect([(j, 1) for j in range(200)])
    features = chosen.theta.argmax(axis=1)
    assert (chosen.theta.sum(axis=1) == 1).all()
    assert set(features) == {0, 1}  # the third has no range
    assert (chosen.kappa >= X.min(axis=0)[features]).all()
    assert (chosen.kappa <= X.max(axis=0)[features]).all()
    assert 110 < (features == 1).sum() < 160  # two thirds of the range


def test_kernel_in_ranks_is_the_sum_over_all_stumps(rng):
    X, Z = np.round(rng.standard_normal((15, 3)), 1), rng.standard_normal((4, 3))
    cuts = [(d, c) for d in range(3) for v in [np.unique(X[:, d])] for c in 0.5 * (v[1:] + v[:-1])]
    H, H_new = (np.array([np.where(A[:, d] > c, 1.0, -1.0) for d, c in cuts]).T for A in (X, Z))
    kernel = 2.0 * stump_kernel(infinite.ranks_of(X, Z), infinite.ranks_of(X, X))
    difference = H_new @ H.T - kernel
    np.testing.assert_allclose(difference, difference[0, 0], atol=1e-9)


def test_least_squares_on_all_stumps_is_ridge_on_their_columns(rng):
    X, Z = np.round(rng.standard_normal((20, 2)), 1), rng.standard_normal((6, 2))
    y, y_new = rng.integers(3, size=20), np.zeros(6, dtype=int)
    y[:3] = [0, 1, 2]
    cuts = [(d, c) for d in range(2) for v in [np.unique(X[:, d])] for c in 0.5 * (v[1:] + v[:-1])]
    H, H_new = (np.array([np.where(A[:, d] > c, 1.0, -1.0) for d, c in cuts]).T for A in (X, Z))
    master = SimplexLeastSquares(y, C=0.1)
    for column in H.T:
        master.add(column.astype(np.int8))
    solution = master.solve()
    expected = ((H_new @ solution.w + solution.b) @ master.codes.T).argmax(axis=1)
    (found,) = vowel._all_stumps(draws.Draw(X, y, Z, y_new), [0.1])
    np.testing.assert_array_equal(found, expected)


def test_equal_calls_count_folds_and_the_final_fit():
    assert table1.equal_rounds([25, 500], 6, 5) == [129, 2583]
    assert table1.equal_rounds([25], 1, 5) == [25]


def test_selection_among_some_numbers_of_rounds():
    found = ensembles.Search([0.1, 1.0], [25, 50, 100], np.array([[5, 9, 8], [9, 9, 10]]))
    assert found.among([0, 1]) == (0.1, 1)
    assert found.among([2]) == (1.0, 2)


def test_truncated_ensembles_decide_as_their_scores_say(rng):
    X, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
    made = ensembles.generate(StumpOracle(X), Hinge(y, 0.1, tol=1e-9), [3, 7], 0.0)
    for j in (0, 1):
        np.testing.assert_allclose(made.truncated(j)(X), made.scores(X)[:, j], atol=1e-12)


def test_splits_of_our_own_are_those_of_the_tables_for_the_same_number():
    trial = make_trial("heart", "stump:SVM", exhibit="draws")
    found = repeated.machine_draws(trial, n_draws=2, n_folds=5, log2_C_stump=[-6, -4], log2_C_perceptron=[-6])
    alone = table1.stump_machine(make_trial("heart", "SVM"), n_folds=5, log2_C_stump=[-6, -4])
    assert found["errors"][0] == alone["error"]
    assert found["errors"].shape == (2,)


def test_width_ties_are_broken_as_said(monkeypatch):
    counts = {1.0: [8, 9], 2.0: [9, 8]}  # gamma: correct by C
    widths = iter([*counts.values()] * 2)
    monkeypatch.setattr(machines, "cross_validate_path", lambda *_: np.array(next(widths))[:, None])
    data = draws.Draw(np.zeros((2, 1)), np.array([-1.0, 1.0]), np.zeros((0, 1)), np.zeros(0))
    assert machines.choose_width(data, [], [0.1, 1.0], [1.0, 2.0]) == 2.0
    assert machines.choose_width(data, [], [0.1, 1.0], [1.0, 2.0], "width first") == 1.0


def test_one_picture_a_class_the_strongest_first():
    strength, y = np.array([0.1, 0.9, 0.5, 0.7, -1.0]), np.array([0, 0, 1, 1, 2])
    assert pictures._one_a_class(strength, y, 2).tolist() == [1, 3]


TINY = {"n_folds": 2, "pool_size": 60, "log2_C_gauss": [1], "log2_C_cosines": [-4], "tol": 0.01}


@pytest.mark.parametrize(("method", "n_kernels"), [*zip(infinite.MIXTURES, (1, 2, 12), strict=True)])
def test_mixtures_share_out_all_weight(method, n_kernels):
    found = infinite.multiple_kernels(
        make_trial("thyroid", method), log2_gamma=[-5, -1], width_ties="C first", n_cosines=10, **TINY
    )
    assert found["share"].sum() == pytest.approx(1.0)
    assert 1 <= found["kernels"] <= n_kernels
    assert found["problems"] == (6 if method.startswith("width") else 2)


def test_prediction_times_a_machine_and_an_ensemble_of_growing_size():
    options = {"n_evaluated": 100, "log2_C_stump": [-4], "n_folds": 2, "log2_C_gauss": [1]}
    machine = timing.machine_prediction(make_trial("german", "stump machine"), **options)
    assert 0 < machine["size"] <= 700
    options = TINY | {"n_evaluated": 100, "sizes": [3, 6], "log2_C": [-4]}
    del options["log2_C_gauss"]
    ensemble = timing.ensemble_prediction(make_trial("german", "CGENS, 500 stumps"), **options)
    assert ensemble["size"] == 6
    assert ensemble["curve"].shape == ensemble["seconds_curve"].shape == (2,)
    assert ensemble["error"] == ensemble["curve"][-1]


@pytest.mark.parametrize("reading", vowel.READINGS[2:])
def test_readings_of_vowel_run(reading):
    found = vowel.readings(
        make_trial("vowel", reading), n_folds=2, n_columns=5, pool_size=50, log2_C_vowel=[-3]
    )
    assert 0 < found["error"] < 100 * 10 / 11  # ten of eleven classes are wrong by chance


def test_toy_classes_are_balanced_and_spam_is_split_three_to_two():
    data = toy.toy_draw(make_trial("toy"), 50, 20_000)
    assert abs(data.y_test.mean()) < 0.05
    drawn = spam.spam_draw(make_trial("spam"))
    assert (len(drawn.y), len(drawn.y_test)) == (2761, 1840)


def test_multiclass_methods_learn_iris():
    data = multiclass.multiclass_draw(make_trial("iris"))
    assert len(data.y) == 112
    random = np.random.default_rng(0)
    rounds = [1, 30]
    fits = {
        "AdaBoost.ECC": multiclass.boost_classes("AdaBoost.ECC", data, rounds, "random", random),
        "AdaBoost.MH": multiclass.boost_classes("AdaBoost.MH", data, rounds, "random", random),
        "MultiBoost": multiboost.fit_multiboost(data, 1e3, rounds, 1e-2),
        "CGENS-SLS": multiclass.fit_simplex(data, 0.1, rounds, 1e-2),
    }
    for method, fitted in fits.items():
        curve = multiclass.errors_of(fitted, data.X_test, data.y_test)
        assert curve[-1] < 15 < curve[0], method
        assert (np.diff(fitted[2].at(rounds)) >= 0).all()


def test_gap_is_half_the_squares_and_the_largest_term_need_not_be_the_best():
    found = theory.gap_decrease(make_trial("heart"), n_candidates=40, n_steps=4, C=0.1)
    assert found["identity"] < 1e-6
    assert found["negation"] == 0
    assert found["rank"].min() >= 1
    greedy = theory.gap_decrease(make_trial("heart", "largest decrease"), n_candidates=40, n_steps=4, C=0.1)
    assert greedy["objective"][0] <= found["objective"][0] * (1 + 1e-9)


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


class MadeEvidence:
    """Evidence whose numbers ``value(metric, dataset, method)`` gives."""

    complete = current = True

    def __init__(self, value, methods=(), datasets=(), runs=10):
        self.value, self.methods, self.datasets, self.runs = value, methods, datasets, runs

    def array(self, metric, datasets=None, methods=None, trials=None):
        table = [
            [self.value(metric, d, m) for m in methods or self.methods] for d in datasets or self.datasets
        ]
        noise = np.random.default_rng(0).normal(0, 1e-3, self.runs) * (metric == "error")
        return np.array(table, dtype=float)[None] + noise[:, None, None]

    def curves(self, metric, *, dataset, method):
        return np.tile(self.value(metric, dataset, method), (self.runs, 1)).astype(float)


def study_of(value, protocol=None, **options):
    evidence = MadeEvidence(value, **options)
    return SimpleNamespace(evidence=lambda exhibit: evidence, protocol=lambda exhibit: protocol)


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
    sets = {"datasets": ("heart official", "diabetes")}
    assert check(study_of(lambda _, d, m: ERRORS[m], **sets)).holds
    found = check(study_of(lambda _, d, m: (ERRORS | spoiled)[m], **sets))
    assert not found.holds
    assert found.probability < 0.5


def test_checks_of_figures_1_and_2_can_fail():
    quick, slow = [20.0, 2.5, 2.0], [20.0, 10.0, 2.0]
    protocol = {"checkpoints": [1, 10, 100]}
    for own, holds in ((quick, True), (slow, False)):
        study = study_of(
            lambda _, d, m, own=own: own if m == "CGENS" else slow, protocol, methods=("AdaBoost", "CGENS")
        )
        assert claims.cgens_converges_in_fewer_iterations(study).holds is holds
    for seconds, holds in ((30.0, True), (20.0, False)):
        study = study_of(lambda _, d, m, s=seconds: [1.0] if m == "CGENS" else [s])
        assert claims.cgens_trains_faster_than_lpboost(study).holds is holds


def test_check_of_table_3_can_fail():
    methods = ("AdaBoost.ECC", "AdaBoost.MH", "MultiBoost", "CGENS-SLS")

    def value(metric, dataset, method, best="CGENS-SLS"):
        return [1.0, 2.0 - (method == best)] if "seconds" in metric else 20.0 - (method == best)

    options = {"methods": methods, "datasets": ("iris", "MNIST", "USPS")}
    assert claims.cgens_sls_is_best_overall(study_of(value, **options)).holds
    other = study_of(lambda *names: value(*names, best="AdaBoost.MH"), **options)
    assert not claims.cgens_sls_is_best_overall(other).holds


def test_check_of_spam_can_fail():
    def value(metric, dataset, method, error=5.8):
        if metric == "error":
            return error if method == "Ours" else 6.3
        counts = np.zeros(57)
        counts[[15, 24, 51]] = 1
        counts[[6, 18, 52] if method == "Ours" else [26, 41, 45]] = 2
        return counts

    assert claims.spam_error_and_selected_features(study_of(value, datasets=("spam",))).holds
    worse = study_of(lambda *names: value(*names, error=7.0), datasets=("spam",))
    assert not claims.spam_error_and_selected_features(worse).holds


def test_checks_beyond_the_tables_can_fail():
    good = {"difference": 1e-9, "same": 1.0, "identity": 1e-9, "negation": 0.0, "rank": [1.0, 1.0]}
    options = {"methods": ("update (20)", "Cholesky"), "datasets": ("wine",)}
    for metric, check in (
        ("difference", claims_beyond.incremental_inverse_is_exact),
        ("identity", claims_beyond.claims_of_section_four_hold),
        ("negation", claims_beyond.claims_of_section_four_hold),
        ("rank", claims_beyond.claims_of_section_four_hold),
    ):
        assert check(study_of(lambda m, d, n: good[m], **options)).holds
        bad = good | {metric: [1.0, 2.0] if metric == "rank" else 1e-3}
        assert not check(study_of(lambda m, d, n, bad=bad: bad[m], **options)).holds


def test_checks_of_kernels_and_of_prediction_can_fail():
    for error, holds in ((12.2, True), (13.0, False)):

        def mixed(metric, dataset, method, error=error):
            everything = method == "all widths at once"
            return (15 if everything else 165) if metric == "problems" else (error if everything else 12.0)

        assert claims_beyond.multiple_kernel_learning_is_easy(study_of(mixed, datasets=("a",))).holds is holds
    for slow, holds in ((0.1, False), (10.0, True)):
        study = study_of(lambda _, d, m, s=slow: s if m.endswith("machine") else 1.0, datasets=("a",))
        assert claims_beyond.ensembles_evaluate_faster(study).holds is holds


@pytest.fixture(scope="module")
def tiny_root(tmp_path_factory):
    """A repository with nothing but the parameters."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "params.yaml", root)
    shutil.copytree(ROOT / "published", root / "published")
    return root


def test_tiny_run_from_end_to_end(tiny_root):
    study = Study("shen2014", "smoke", tiny_root)
    exhibits = ("table1", "table2", "table3", "theorems", "inverse", "path", "pools", "draws", "vowel")
    for exhibit in exhibits:
        assert study.evidence(exhibit).complete, exhibit
    errors = study.evidence("table1").array("error", ["thyroid"])
    assert errors.max() < 15
    path = study.evidence("path").curves("objective", dataset="titanic", method="CGENS")[0]
    assert abs(path[-1]) < 1e-3
    assert (np.diff(path) <= 1e-9).all()


def test_figures_can_be_drawn_where_the_scale_leaves_exhibits_out(tiny_root):
    study = Study("shen2014", "smoke", tiny_root, compute=False)
    for draw_figure in (
        charts.draw_training_time,
        charts.draw_vision,
        charts.draw_ranks,
        charts_beyond.draw_path,
        charts_beyond.draw_pools,
        charts_beyond.draw_prediction,
        charts_beyond.draw_draws,
        charts_beyond.draw_calls,
        charts_beyond.draw_scenes,
    ):
        assert draw_figure(study).axes
