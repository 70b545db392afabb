"""The atlas: its splits and contests, what it says about other methods, its statistics, and a tiny run."""

import pickle
import shutil
import sys
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scikit_posthocs import posthoc_nemenyi_friedman
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.svm import SVC
from support.made_evidence import made_evidence, made_study

from kernsemble.data.sources import dataset_names
from kernsemble.estimators.adaboost import AdaBoost
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.estimators.drm import DRM
from kernsemble.estimators.exrm import ExRM
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.estimators.multiclass_boosting import AdaBoostECC, AdaBoostMH, AdaBoostMO
from kernsemble.report import tables
from kernsemble.report.figures import subplots
from kernsemble.trials.evidence import IncompleteEvidenceError
from kernsemble.trials.registry import load_paper
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from atlas import compare, figures, full, trials
from atlas.compare import signed_rank
from atlas.trials import ALL_SETS, BINARY_SETS, MULTICLASS_SETS, SAME_ROWS, judge

paper = load_paper("atlas")
ROOT = Path(__file__).parents[2]
ROWS = trials.Rows(max_rows=200, min_per_class=15, image_block=2, n_outer=5, n_inner=3, scaling="zscore")


def make_split(dataset, number=0, method="SVM-Stump", rows=ROWS):
    return trials.draw(Trial("atlas", "arena", dataset, method, number), rows)


@pytest.fixture(scope="module")
def plan():
    return Study("atlas", "paper", ROOT)


def test_every_set_of_the_repository_takes_part():
    assert set(ALL_SETS) == set(dataset_names("core")) - {"splice1000"}  # whose rows are rows of splice
    assert not set(BINARY_SETS) & set(MULTICLASS_SETS)
    assert set(SAME_ROWS) | set(SAME_ROWS.values()) <= set(BINARY_SETS)


@pytest.mark.parametrize("name", ["heart", "votes84", "glass", "vowel"])
def test_outer_folds_are_a_partition_that_all_methods_share(name):
    whole = trials.sample_rows(name, 200, 15, 2)[1]
    splits = [make_split(name, k) for k in range(5)]
    assert sum(len(split.y_test) for split in splits) == len(whole)
    assert np.array_equal(
        sum(np.bincount(split.y_test, minlength=whole.max() + 1) for split in splits), np.bincount(whole)
    )
    again = make_split(name, 0, "XGBoost")
    np.testing.assert_array_equal(splits[0].X, again.X)
    np.testing.assert_array_equal(splits[0].folds, again.folds)
    assert not np.array_equal(splits[0].X_test, make_split(name, 5).X_test)  # cut anew
    assert np.isfinite(splits[0].X).all()
    assert np.isfinite(splits[0].X_test).all()
    means = splits[0].X.mean(axis=0)
    np.testing.assert_allclose(means, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["vowel", "covertype", "letter"])
def test_cut_sets_keep_shares_and_every_class_in_every_inner_training_part(name):
    split = make_split(name)
    n_classes = split.y.max() + 1
    assert set(split.y) == set(range(n_classes)) >= set(split.y_test)
    for fold in range(ROWS.n_inner):
        assert len(np.unique(split.y[split.folds != fold])) == n_classes
    y = np.repeat([0, 1, 2], [600, 390, 10])
    kept = trials.choose_rows(y, 100, 15, "any")
    assert np.bincount(y[kept]).tolist() == [60, 39, 10]
    assert np.array_equal(trials.choose_rows(y, 1000, 15, "any"), np.arange(1000))


def test_images_are_averaged_over_blocks():
    image = np.arange(16.0).reshape(1, 4, 4)
    np.testing.assert_allclose(trials.average_blocks(image, 2), [[2.5, 4.5, 10.5, 12.5]])
    assert trials.sample_rows("mnist", 200, 15, 2)[0].shape[1] == 196


def test_every_method_has_equally_many_configurations(plan):
    protocol = plan.params.available("arena")
    grids = [value for name, value in protocol.items() if name.startswith("grid_")]
    assert {len(grid) for grid in grids} == {5}
    for grid in grids:
        assert len({tuple(sorted(config.items())) for config in grid}) == 5
    assert set(figures.METHODS) == set(paper.methods("arena"))
    assert {f"grid_{grid}" for grid, _ in figures.METHODS.values()} == {
        name for name in protocol if name.startswith("grid_")
    }


def test_every_method_has_a_look():
    shown = [name for *_, names in figures.ORIGINS.values() for name in names]
    every = {*paper.methods("arena"), *paper.methods("arena_full")}
    assert sorted(shown) == sorted({name.partition(",")[0] for name in every})
    assert set(compare.PEERS) <= set(shown)


@pytest.mark.parametrize("kind", [AdaBoostMH, AdaBoostECC, AdaBoostMO])
def test_for_two_classes_the_forms_for_more_are_adaboost(kind):
    """Why they stand on sets of more classes alone."""
    data = make_split("heart")
    expected = AdaBoost(30).fit(data.X, data.y).predict(data.X_test)
    options = {"random_state": 0} if kind is AdaBoostECC else {}
    np.testing.assert_array_equal(kind(30, **options).fit(data.X, data.y).predict(data.X_test), expected)


class Constant:
    """Predicts one label, always."""

    def __init__(self, label):
        self.label = label

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_contest_takes_the_first_of_the_best_configurations():
    data = make_split("heart")
    most = int(np.bincount(data.y).argmax())
    makers = [lambda k=k: Constant(k) for k in (1 - most, most, most)]
    assert trials.choose(data, makers, ROWS.n_inner) == 1
    grid = [{"label": 1 - most}, {"label": most}]
    trial = Trial("atlas", "arena", "heart", "SVM-Stump", 0)
    found = trials.contest(trial, ROWS, lambda c, d: Constant(**c), grid, lambda model: 7)
    assert (found["chosen"], found["size"]) == (1, 7)
    assert found["error"] == pytest.approx(100 * np.mean(data.y_test != most))
    assert set(found) == set(paper.exhibits["arena"].columns)


X_IRIS, Y_IRIS = load_iris(return_X_y=True)
FITTED = {
    trials.count_support_vectors: lambda: SVC(),
    trials.count_weighted: lambda: MultiBoost(C=100.0, n_rounds=10, tol=None),
    trials.count_linear_machines: lambda: ExRM(4),
    trials.count_dual_rows: lambda: DRM(2, random_state=0),
    trials.count_forest_leaves: lambda: RandomForestClassifier(5, random_state=0),
    trials.count_histogram_leaves: lambda: HistGradientBoostingClassifier(max_iter=3),
}


@pytest.mark.parametrize("count", FITTED, ids=lambda count: count.__name__)
def test_sizes_count_something_and_the_record_is_not_needed_to_predict(count):
    model = FITTED[count]().fit(X_IRIS, Y_IRIS)
    assert 0 < count(model) <= 1000
    bare = pickle.loads(pickle.dumps(trials.without_record(model)))
    np.testing.assert_array_equal(bare.predict(X_IRIS), model.predict(X_IRIS))
    assert trials.stored_bytes(model) <= len(pickle.dumps(model, protocol=5))


def test_sizes_of_boosted_trees_count_their_leaves():
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    light = lightgbm.LGBMClassifier(n_estimators=2, num_leaves=3, verbose=-1).fit(X_IRIS, Y_IRIS)
    assert trials.count_lightgbm_leaves(light) == 2 * 3 * 3  # rounds x classes x leaves
    extreme = xgboost.XGBClassifier(n_estimators=2, max_depth=1, n_jobs=1).fit(X_IRIS, Y_IRIS)
    assert trials.count_xgboost_leaves(extreme) == 2 * 3 * 2


def test_an_ensemble_without_hypotheses_has_size_zero():
    model = MultiBoost(C=100.0, n_rounds=3, tol=None).fit(X_IRIS, Y_IRIS)
    model.weights_ = np.zeros((0, 3))
    assert trials.count_weighted(model) == 0


def test_rank_kernel_is_the_sum_over_all_stumps(rng):
    X = np.round(rng.standard_normal((12, 3)), 1)
    cuts = trials.cuts_of(X)
    H = np.column_stack([np.sign(X[:, d] - cut) for d, own in enumerate(cuts) for cut in own])
    K = trials.rank_kernel(cuts)(X, X)
    np.testing.assert_allclose(K + H.shape[1], H @ H.T)


def test_cgens_with_all_stumps_is_the_machine(rng):
    """The limit itself, on a set so small that CGENS reaches it."""
    X = rng.integers(4, size=(30, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=30) > 3).astype(int)
    C = 0.05
    machine = DistanceKernelSVC(trials.rank_kernel(trials.cuts_of(X)), C=C, tol=1e-6).fit(X, y)
    model = CGEns(C=C, n_rounds=100, tol=1e-6).fit(X, y)
    assert model.objective_path_[-1] == pytest.approx(machine.objective_[0], rel=1e-5)
    np.testing.assert_allclose(model.decision_function(X), machine.decision_function(X), atol=1e-2)


def test_both_masters_agree_over_both_oracles(plan):
    protocol = plan.params.available("masters")
    data = make_split("heart", rows=trials.Rows(60, 15, 2, 5, 3, "zscore"))
    for family, runs in {
        "stumps": (trials.cgens_over_stumps, trials.cg_boost_over_stumps),
        "kernels": (trials.cgens_over_kernels, trials.cg_boost_over_kernels),
    }.items():
        first, second = (run(data, protocol["master_costs"][family], 500, 1e-4) for run in runs)
        assert abs(first["objective"] - second["objective"]) <= first["gap"] + second["gap"]
        assert first["gap"] <= 1.1e-4 * first["objective"]
        assert second["gap"] <= 1.1e-4 * second["objective"]


def test_diversity_of_copies_is_zero_and_of_opposites_is_all():
    data = make_split("heart")
    right = data.y_test[:, None] == 1
    same = judge(data, np.repeat(right, 3, axis=1), data.y_test)
    assert (same["disagreement"], same["member_error"], same["error"]) == (0.0, 0.0, 0.0)
    opposite = judge(data, np.hstack([right, ~right]), 1 - data.y_test)
    assert (opposite["disagreement"], opposite["member_error"], opposite["error"]) == (100.0, 50.0, 100.0)
    assert judge(data, right, data.y_test)["disagreement"] == 0.0


def test_signed_rank_follows_its_definition():
    """A plain loop over draws and pairs gives the same probabilities."""
    differences = np.array([-2.0, 0.5, 3.0, -1.5])
    z = np.append(0.0, differences)
    counts = np.zeros(3)
    for w in np.random.default_rng(0).dirichlet([0.5, 1, 1, 1, 1], 20_000)[:2000]:
        theta = np.zeros(3)
        for i in range(5):
            for j in range(5):
                region = 0 if z[i] + z[j] < -2 else 2 if z[i] + z[j] > 2 else 1
                theta[region] += w[i] * w[j]
        counts[theta.argmax()] += 1
    np.testing.assert_allclose(signed_rank(differences, 1.0), counts / 2000, atol=0.03)


def test_signed_rank_is_symmetric_and_knows_the_clear_cases(rng):
    differences = rng.normal(1.0, 2.0, size=12)
    one, other = signed_rank(differences, 0.5), signed_rank(-differences, 0.5)
    assert sum(one) == pytest.approx(1.0)
    np.testing.assert_allclose(one, other[::-1], atol=1e-12)
    assert signed_rank(np.full(10, 0.1), 1.0).equal > 0.999
    assert signed_rank(np.full(10, -5.0), 1.0).better > 0.999
    assert signed_rank(np.full(10, 5.0), 1.0).worse > 0.999


ERRORS = {"SVM-Stump": 12.0, "SVM-Perc": 8.0, "SVM-Gauss": 9.0, "XGBoost": 11.0}
SECONDS = {"SVM-Stump": 1.0, "SVM-Perc": 4.0, "SVM-Gauss": 2.0, "XGBoost": 8.0}
HARDNESS = {name: 3.0 * k for k, name in enumerate(("heart", "liver", "pima", "sonar", "german", "german24"))}


def made_value(metric, dataset, method):
    if metric == "error":
        return ERRORS[method] + HARDNESS[dataset]
    return SECONDS[method]


def made_arena(missing=None, datasets=tuple(HARDNESS)):
    evidence = made_evidence(made_value, tuple(ERRORS), datasets, runs=3, missing=missing)
    return made_study({"arena": evidence})


def test_comparison_counts_complete_sets_and_the_same_rows_once():
    comparison = compare.compare(made_arena(), "two classes")
    assert comparison.datasets == ("heart", "liver", "pima", "sonar", "german")
    assert comparison.ranks.to_dict() == {"SVM-Stump": 4, "SVM-Perc": 1, "SVM-Gauss": 2, "XGBoost": 3}
    np.testing.assert_allclose(comparison.typical("fit_seconds"), [1, 4, 2, 8])
    late = compare.compare(
        made_arena(lambda key: key.dataset == "liver" and key.method == "XGBoost" and key.trial == 2),
        "two classes",
    )
    assert late.datasets == ("heart", "pima", "sonar", "german")
    assert compare.compare(made_arena(), "more classes").datasets == ()


def test_friedman_nemenyi_and_the_best_of_today():
    comparison = compare.compare(made_arena(), "two classes")
    statistic, p_value = compare.friedman(comparison)
    assert statistic == pytest.approx(15.0)  # n (k - 1): all sets agree
    assert p_value == pytest.approx(stats.chi2.sf(15.0, 3))
    pairs = posthoc_nemenyi_friedman(pd.DataFrame(comparison.errors, columns=list(comparison.methods)))
    limit, ranks = compare.critical_difference(4, 5), comparison.ranks
    apart = {pair: abs(ranks[pair[0]] - ranks[pair[1]]) >= limit for pair in combinations(ranks.index, 2)}
    assert apart == {pair: pairs.loc[pair] < 0.05 for pair in apart}
    assert set(apart.values()) == {True, False}
    assert compare.best_peer(comparison) == "SVM-Gauss"
    found = compare.against(comparison, "SVM-Gauss")
    assert found["SVM-Stump"].worse > 0.9
    assert set(found) == set(comparison.methods) - {"SVM-Gauss"}


def test_methods_that_are_not_told_apart_are_joined_by_the_longest_runs():
    ranks = pd.Series([1.0, 2.0, 2.5, 6.0, 7.0, 7.9], index=list("abcdef"))
    assert compare.told_apart(SimpleNamespace(ranks=ranks.sample(frac=1.0, random_state=0)), 1.6) == [
        (0, 2),
        (3, 4),
        (4, 5),
    ]
    assert compare.told_apart(SimpleNamespace(ranks=ranks), 0.1) == []


def test_front_holds_what_nothing_beats(rng):
    cost, error = rng.random(30), rng.random(30)
    chosen = compare.front(cost, error)
    for place in range(30):
        beaten = ((cost < cost[place]) & (error < error[place])).any()
        assert (place in chosen) == (not beaten)
    assert all(cost[a] < cost[b] and error[a] > error[b] for a, b in pairwise(chosen))


def test_names_of_crowded_points_do_not_meet():
    figure, axes = subplots(1, 3, size=(9.6, 3.2))
    panel = axes[0]
    x, y = np.array([10.0, 17.0, 18.0, 22.0, 900.0]), np.array([15.9, 15.6, 15.4, 14.7, 11.8])
    panel.plot(x, y, "o")
    panel.set(xscale="log", ylim=(10, 25))
    figures._name_points(panel, ["CGENS-SLS", "MultiBoost-cw", "AdaBoost.MH", "AdaBoost.ECC", "SVM"], x, y)
    figure.canvas.draw()
    frame = panel.get_window_extent()
    for name in panel.texts:
        name.arrow_patch = name.arrowprops = None  # the letters count, not the line that leads to the point
    boxes = [name.get_window_extent() for name in panel.texts]
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_arrows_of_diversity_end_inside_their_panel():
    values = {"disagreement": 20.0, "member_error": 30.0, "error": 5.0}
    evidence = made_evidence(lambda metric, dataset, method: values[metric])
    _, axes = subplots()
    figures._draw_members(axes, evidence, "any", "any", ("black", "o"))
    low, high = axes.get_ylim()
    assert low < 5.0 < 30.0 < high


def test_answers_are_read_off_the_numbers(monkeypatch, tmp_path):
    study = made_arena()
    study.scale, study.folder = "paper", tmp_path
    found = {
        (row[0].text, row[1].text): (row[2].text, row[3].text) for row in figures.show_answers(study).rows
    }
    take, note = found["two classes", "the smallest error"]
    assert take == "SVM-Perc"
    assert "average rank 1.0 of 4" in note
    # critical difference 2.1: only the last of four is far enough
    assert note.endswith("told apart from: SVM-Stump")
    # SVM-Gauss is one point behind, and twice as fast
    assert found["two classes", "a short training"][0] == "SVM-Gauss"
    assert found["more classes", "any"][1] == "too few sets are complete"
    assert (tmp_path / "tables" / "answers.csv").is_file()


@pytest.mark.parametrize("alike", [True, False])
def test_the_least_error_alone_is_bold_and_its_equals_are_marked(monkeypatch, tmp_path, alike):
    chosen = np.array([alike, True, alike, alike])
    monkeypatch.setattr(tables, "best_methods", lambda values, **_: chosen)
    study = made_arena()
    study.scale, study.folder = "paper", tmp_path
    table = figures.show_errors(study, "two classes")
    assert table.header[1:] == tuple(ERRORS)
    for row in table.rows:
        assert [cell.bold for cell in row[1:]] == [False, True, False, False]  # SVM-Perc
        assert [cell.mark for cell in row[1:]] == (["≈", "", "≈", "≈"] if alike else [""] * 4)
    assert "≈: not distinguishable" in table.caption
    assert (tmp_path / "tables" / "error_two_classes.csv").is_file()


def test_charts_and_tables_without_enough_sets(tmp_path):
    study = made_arena(datasets=("heart",))
    study.scale, study.folder = "paper", tmp_path
    for kind in compare.KINDS:
        figures.draw_ranks(study, kind)
    figures.draw_fronts(study)
    figures.draw_probabilities(study)
    assert figures.show_ranks(study).rows[0][3].text == "…"
    assert figures.show_probabilities(study, "more classes").rows[0][0].text == "…"
    assert figures.show_costs(study, "more classes").rows == ()


def test_a_tiny_run_end_to_end(tmp_path):
    params = (ROOT / "params.yaml").read_text().partition("\natlas:\n")[2]
    params = "atlas:\n" + params.replace("value: 800", "value: 60")
    (tmp_path / "params.yaml").write_text(params)
    shutil.copytree(ROOT / "published", tmp_path / "published")
    study = Study("atlas", "smoke", tmp_path)
    for exhibit in ("masters", "diversity"):
        evidence = study.evidence(exhibit)
        assert evidence.complete
    diversity = study.evidence("diversity")
    disagreement, member, error = (
        diversity.array(metric, methods=("ExRM",)) for metric in ("disagreement", "member_error", "error")
    )
    assert (disagreement == 0).all()  # copies of one machine
    assert (member == error).all()
    table = figures.show_masters(study)
    assert all(row[6].mark == "✓" for row in table.rows)


FULL = ("SVM-Stump", "SVM-Perc, spread", "SVM-Perc, generated", "SVM-Gauss", "LightGBM", "EBM")


def fit_for_ever(trial, rows, config, seconds):
    """Stand for a method that ends within no limit of time."""
    full.limit_time(seconds)
    while True:
        pass


def fill_memory(trial, rows, config, seconds):
    """Stand for a method that asks for more memory than it may have."""
    return {"error": float(np.ones(1 << 31).sum())}


def fail(trial, rows, config, seconds):
    """Stand for a method with a fault."""
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("fit", "reason"), [(fit_for_ever, full.OUT_OF_TIME), (fill_memory, full.OUT_OF_MEMORY)]
)
def test_a_limit_ends_a_fit_and_the_row_says_which(fit, reason):
    trial, limits = Trial("atlas", "arena_full", "banana", "SVM-Stump", 0), {"seconds": 1, "megabytes": 3000}
    assert full.within_limits(trial, ROWS, {}, limits, fit) == {"censored": reason}


def test_a_fault_is_no_limit():
    trial, limits = Trial("atlas", "arena_full", "banana", "SVM-Stump", 0), {"seconds": 9, "megabytes": 3000}
    with pytest.raises(RuntimeError, match="SVM-Stump on banana failed"):
        full.within_limits(trial, ROWS, {}, limits, fail)


def test_a_library_that_is_missing_is_named_before_any_process_starts(monkeypatch):
    monkeypatch.setitem(sys.modules, "interpret", None)
    monkeypatch.setattr(full.multiprocessing, "get_context", None)
    trial, limits = Trial("atlas", "arena_full", "banana", "EBM", 0), {"seconds": 9, "megabytes": 3000}
    with pytest.raises(RuntimeError, match="EBM needs interpret-core: run `make peers`"):
        full.within_limits(trial, ROWS, {}, limits)


def test_every_method_at_full_size_has_a_configuration_that_makes_it(plan):
    configs = plan.params.available("arena_full")["full_methods"]
    assert set(configs) == set(full.ENTRIES) == set(paper.methods("arena_full"))
    for name, entry in full.ENTRIES.items():
        assert figures.look_of(name)
        if name == "EBM" and find_spec("interpret") is None:
            with pytest.raises(RuntimeError, match="make peers"):
                entry.make()
            continue
        model = entry.make(**configs[name], **({"random_state": 0} if entry.seeded else {}))
        assert hasattr(model, "fit")
    assert set(full.FULL_SETS) <= set(paper.datasets)
    assert not set(trials.LARGE_SETS) & set(plan.plan("arena").datasets)


def test_a_trial_at_full_size_takes_all_rows():
    trial, whole = Trial("atlas", "arena_full", "banana", "SVM-Stump", 0), replace(ROWS, max_rows=full._ALL)
    data = trials.draw(trial, whole)
    assert len(data.y) + len(data.y_test) == 5300
    found = full.measured(trial, ROWS, {"C": 0.1}, 3600.0)
    assert set(found) == set(paper.exhibits["arena_full"].columns)
    assert found["censored"] == full.ENDED


def made_full(metric, dataset, method):
    if method == "SVM-Gauss" and dataset != "banana":
        return full.OUT_OF_TIME if metric == "censored" else np.nan
    if metric == "censored":
        return full.ENDED
    return 10.0 - FULL.index(method) if metric == "error" else 1.0 + FULL.index(method)


def test_tables_and_sentences_say_what_a_limit_ended(tmp_path):
    evidence = made_evidence(made_full, FULL, full.FULL_SETS, runs=1, noise=0.0)
    limits = {"full_limits": {"seconds": 80, "megabytes": 6000}}
    study = made_study({"arena_full": evidence}, limits)
    study.scale, study.folder = "paper", tmp_path
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in figures.show_full(study).rows}
    assert rows["SVM-Gauss"].count("time") == 6
    assert rows["SVM-Stump"][0] == "10.0"
    facts = compare.what_is_left_at_full_size(study)
    assert (facts["trials"], facts["time"], facts["memory"]) == (42, 6, 0)
    assert (facts["readable"], facts["smoother"], facts["sooner"]) == (7, 0, pytest.approx(6.0))
    assert (facts["gauss"], facts["generated"], facts["both"]) == (1, 7, 7)
    assert "SVM-Gauss" not in facts["everywhere"]
    assert facts["best"].startswith("EBM on banana")
    figures.draw_full(study)


def test_rows_that_are_missing_at_full_size_are_open_cells(tmp_path):
    """All but EBM's rows and those of mnist: tables and the figure come out, sentences wait."""
    evidence = made_evidence(
        made_full,
        FULL,
        full.FULL_SETS,
        runs=1,
        missing=lambda key: "EBM" in key.method or key.dataset == "mnist",
    )
    study = made_study({"arena_full": evidence}, {"full_limits": {"seconds": 80, "megabytes": 6000}})
    study.scale, study.folder = "paper", tmp_path
    for metric in figures.FULL_WORDS:
        table = figures.show_full(study, metric)
        rows = {
            row[0].text: dict(zip(table.header[1:], (cell.text for cell in row[1:]), strict=True))
            for row in table.rows
        }
        assert set(rows["EBM"].values()) == {"…"}
        assert {cells["mnist"] for cells in rows.values()} == {"…"}
        assert rows["SVM-Gauss"]["covertype"] == "time"
        assert rows["SVM-Stump"]["covertype"] not in ("…", "")
    figures.draw_full(study)
    with pytest.raises(IncompleteEvidenceError):
        compare.what_is_left_at_full_size(study)
