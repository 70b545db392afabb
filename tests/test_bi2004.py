"""bi2004: its draws, its complete solutions, the stops of a run, the checks of its claims, a tiny run."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.experiments.bi2004 import draws, facts, forest, kernels, runs, small
from kernsemble.experiments.bi2004.judge import judge_value
from kernsemble.experiments.bi2004.large import FIGURE4_CS
from kernsemble.experiments.bi2004.plan import paper
from kernsemble.experiments.bi2004.sets import ALL_FOREST, CHOICES, SMALL_CHOICES, SMALL_SETS, STORED
from kernsemble.experiments.trial import Trial
from kernsemble.ledger import judge_cell, load_reading
from kernsemble.papers.bi2004 import claims, claims_behavior
from kernsemble.published import read_cells, read_claims
from kernsemble.study import Study

ROOT = Path(__file__).parents[1]
SIZES = {"train": 30, "validation": 20, "test": 40}
FORMS = ("per feature", "(1 + xz/d)^2")


def trial(label, number=0, exhibit="table3", method="2-norm/L"):
    return Trial("bi2004", exhibit, label, method, number)


def test_parts_are_disjoint_and_larger_draws_contain_smaller_ones():
    small_draw = draws.draw(trial("Forest"), "Forest", SIZES, "all rows")
    large = draws.draw(trial("n=60", exhibit="table5"), "Forest", SIZES | {"train": 60}, "all rows")
    np.testing.assert_array_equal(small_draw.X_test, large.X_test)
    np.testing.assert_array_equal(small_draw.X, large.X[:30])
    rows = np.vstack([small_draw.X, small_draw.X_val, small_draw.X_test])
    assert len(np.unique(rows, axis=0)) == 90
    other = draws.draw(trial("Forest", 1), "Forest", SIZES, "all rows")
    assert not np.array_equal(small_draw.X, other.X)


def test_training_rows_alone_can_be_standardized():
    data = draws.draw(trial("Forest"), "Forest", SIZES, "training rows")
    varying = data.X.std(axis=0) > 0
    np.testing.assert_allclose(data.X[:, varying].std(axis=0, ddof=1), 1.0)
    assert not data.X[:, ~varying].any()


@pytest.mark.parametrize("label", SMALL_SETS)
def test_small_sets_are_standardized_without_constant_features(label):
    X, y = draws.small_set(label)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1.0)
    assert X.shape[1] == {"Breast": 30, "Ionosphere": 33, "Pima": 8}[label]
    folds = draws.folds_of(trial(label), len(y), 5)
    np.testing.assert_array_equal(np.sort(np.concatenate([held for _, held in folds])), np.arange(len(y)))


def test_no_subset_of_the_digits_has_the_printed_size():
    assert facts.nearest_subset(facts.PRINTED_POSITIVE_DIGITS) == 30_374
    assert facts.nearest_subset(30_508) == 30_508


@pytest.fixture
def classes(rng):
    X = rng.standard_normal((50, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.standard_normal(50) > 1, 1.0, -1.0)


@pytest.mark.parametrize("offset", ["free", "penalized"])
@pytest.mark.parametrize("names", [("linear",), ("linear+rbf",), ("linear", "quadratic", "rbf")])
def test_complete_solutions_are_optimal_over_all_columns(classes, names, offset):
    X, y = classes
    library = kernels.resolve(kernels.make_library(names, *FORMS), X)
    H = np.hstack([kernel.matrix(X, X) for kernel in library])
    for C, model in zip((0.5, 50.0), kernels.optimal_models(library, X, y, (0.5, 50.0), offset), strict=True):
        alpha, b = np.concatenate(model[0]), model[1]
        scores = kernels.model_scores(library, X, model, X)
        np.testing.assert_allclose(scores, H @ alpha + b, atol=1e-8)
        value = 0.5 * alpha @ alpha + (0.5 * b**2 if offset == "penalized" else 0.0)
        value += C * np.maximum(0.0, 1.0 - y * scores).sum()
        best = judge_value(H, y, {"loss": "hinge", "C": C, "intercept": offset})
        assert best * (1 - 1e-6) <= value <= best * (1 + 1e-4)


def test_composites_are_sums_and_forms_are_what_they_say():
    X = np.array([[1.0, 2.0], [3.0, -1.0]])
    linear, quadratic, total = (
        kernels.resolve(kernels.make_library([name], *FORMS), X)[0].matrix(X, X)
        for name in ("linear", "quadratic", "linear+quadratic")
    )
    np.testing.assert_allclose(linear, X @ X.T / 2)
    np.testing.assert_allclose(quadratic, (1 + X @ X.T / 2) ** 2)
    np.testing.assert_allclose(total, linear + quadratic)
    raw = kernels.make_library(["linear", "quadratic"], "raw", "(1 + xz)^2")
    np.testing.assert_allclose(raw[0].matrix(X, X), X @ X.T)
    np.testing.assert_allclose(raw[1].matrix(X, X), (1 + X @ X.T) ** 2)
    homogeneous = kernels.resolve(kernels.make_library(["quadratic"], "raw", "(xz/d)^2"), X)
    np.testing.assert_allclose(homogeneous[0].matrix(X, X), (X @ X.T / 2) ** 2)


def test_patience_keeps_the_best_round_and_stops_after_waiting():
    losses = np.array([0.5, 0.4, 0.45, 0.4, 0.3, 0.35, 0.36])
    assert runs.patient_rounds(losses, 2) == (2, 4)
    assert runs.patient_rounds(losses, 3) == (5, 7)
    assert runs.patient_rounds(losses[:1], 3) == (1, 1)


def test_reading_tr3_afterwards_is_stopping_with_it(classes):
    X, y = classes
    options = {"C": 10.0, "n_rounds": 60, "tol": 1e-6}
    long = CGBoostClassifier(["linear", "rbf"], **options).fit(X[:35], y[:35], X_val=X[35:], y_val=y[35:])
    stopped = CGBoostClassifier(["linear", "rbf"], termination="TR3", patience=4, **options)
    stopped.fit(X[:35], y[:35], X_val=X[35:], y_val=y[35:])
    used, last = runs.rounds_of_rules(long, 4)["TR3"]
    assert (used, last) == (stopped.best_round_, stopped.n_rounds_)
    w, b = runs.weights_after(long, used)
    np.testing.assert_allclose(w[: len(stopped.coef_)], stopped.coef_, atol=1e-9)
    assert b == pytest.approx(stopped.intercept_)


def test_what_a_run_says_of_itself(classes):
    X, y = classes
    data = draws.Draw(X[:30], y[:30], X[30:40], y[30:40], X[40:], y[40:])
    rules = runs.Rules("free", 1e-6, 1e-6, 5, 60)
    model = runs.fit_run(kernels.make_library(["linear+rbf"], *FORMS), data, 10.0, "2-norm", rules)
    found = runs.describe_run(model, data, 10.0, 5)
    assert set(found) <= set(paper.exhibits["table3"].columns)
    assert found["linear_end"] == found["rbf_end"] == model.n_rounds_
    assert found["quadratic_end"] == 0
    assert found["error_end"] == 10.0 * np.sum(model.predict(X[40:]) != y[40:])
    curves = runs.read_curves(model, data, 8)
    assert curves["curve_test"][-1] == found["error_end"]
    assert curves["curve_train"][-1] == found["train_error_end"]
    assert set(curves) | set(found) <= set(paper.exhibits["table4"].columns)


def test_rates_are_shares_of_the_classes():
    y = np.array([1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    assert small.rates(np.array([1.0, -1.0, 1.0, -1.0, -1.0, -1.0]), y) == (25.0, 50.0)


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
        (cell.exhibit, cell.row[:6]): reading.rule(cell).read.__name__
        for cell in cells
        if cell.column.startswith("C_") and cell.exhibit in ("table3", "table4")
    }
    assert counts == {
        ("table3", "2-norm"): "two_norm_count",
        ("table3", "1-norm"): "one_norm_count",
        ("table4", "2-norm"): "two_norm_count",
        ("table4", "1-norm"): "digits_count",
    }
    written = {claim.id: claim.check for claim in read_claims(ROOT / "published/claims.yaml")}
    assert {name: check.__name__ for name, check in reading.checks.items()} == {
        name: check for name, check in written.items() if name.startswith("B")
    }
    assert set(STORED) == {cell.row for cell in cells if cell.exhibit == "table1"}


class MadeEvidence:
    """Evidence of made numbers: ``value(metric, dataset, method)``, nearly the same for all runs."""

    def __init__(self, value, methods=(), runs=12):
        self.value, self.methods, self.runs = value, methods, runs
        self.plan = SimpleNamespace(stamps={}, exhibit=SimpleNamespace(name="made"))

    def array(self, metric, datasets=("any",), methods=None):
        table = [[self.value(metric, d, m) for m in methods or self.methods] for d in datasets]
        noise = np.random.default_rng(0).normal(0, 1e-9, self.runs)
        return np.array(table, dtype=float)[None] + noise[:, None, None]


def study_of(value, **options):
    evidence = MadeEvidence(value, **options)
    return SimpleNamespace(evidence=lambda exhibit: evidence)


def by_method(mixture, other):
    return lambda metric, dataset, method: mixture if method.split("/")[-1] in ("mixture", "L,Q,R") else other


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
    found = check(study_of(good))
    assert found.holds
    assert found.probability > 0.9
    spoiled = check(study_of(bad))
    assert not spoiled.holds
    assert spoiled.probability < 0.5


def test_check_of_the_theorems_can_fail():
    values = {"identity": 1e-9, "optimum": 1e-9, "largest": 1.0, "realized": 0.3}
    options = {"methods": ("(7), regular", "(11), stratified")}
    check = claims_behavior.optimality_test_and_best_column_hold
    exact = SimpleNamespace(array=lambda metric, methods=None: np.full((3, 1, 2), values[metric]), **options)
    assert check(SimpleNamespace(evidence=lambda name: exact)).holds
    for metric, spoiled in {"identity": 1e-3, "optimum": 1e-3, "largest": 0.9}.items():
        bad = values | {metric: spoiled}
        made = SimpleNamespace(
            array=lambda metric, methods=None, bad=bad: np.full((3, 1, 2), bad[metric]), **options
        )
        assert not check(SimpleNamespace(evidence=lambda name, made=made: made)).holds


def curve_study(curves, protocol=None, numbers=None):
    """Study whose evidence holds curves by (exhibit, dataset, method, metric), and numbers, for four runs."""

    def evidence(exhibit):
        stored = {}
        for (name, dataset, method, metric), values in curves.items():
            for run in range(4):
                key = SortedKey((dataset, method, run))
                row = stored.setdefault(key, SimpleNamespace(metrics={}))
                if name == exhibit:
                    row.metrics[metric] = " ".join(map(str, values))
        made = MadeEvidence(lambda metric, d, m: numbers[metric, m], runs=4)
        made.current, made.stale = stored, set()
        made.plan.stamps = dict.fromkeys(stored)
        made.curves = lambda metric, dataset, method: np.tile(
            curves[exhibit, dataset, method, metric], (4, 1)
        )
        return made

    return SimpleNamespace(evidence=evidence, protocol=lambda exhibit: protocol)


class SortedKey(tuple):
    """Key of a row: dataset, method, trial."""

    dataset = property(lambda self: self[0])
    method = property(lambda self: self[1])
    trial = property(lambda self: self[2])


@pytest.mark.parametrize(("regular", "scanned", "holds"), [(9, 200, True), (2, 200, False), (9, 2000, False)])
def test_check_of_stratification_can_fail(regular, scanned, holds):
    rounds = list(range(1, 11))

    def falling(at):
        return [50.0 if t < at else 10.0 for t in rounds]

    places = {"table4": ("2-norm/L,Q,R", 5), "figure3": ("regular", regular)}
    curves = {}
    for exhibit, (method, at) in places.items():
        curves[exhibit, "Digits", method, "curve_rounds"] = rounds
        curves[exhibit, "Digits", method, "curve_validation"] = falling(at)
    study = curve_study(curves, numbers={("scanned", "2-norm/L,Q,R"): scanned})
    found = claims_behavior.stratification_computes_fewer_columns(study)
    assert found.holds is holds
    assert (found.probability > 0.9) is holds


@pytest.mark.parametrize("holds", [True, False])
def test_check_of_improper_c_can_fail(holds):
    curves, numbers = {}, {}
    for k, C in enumerate(FIGURE4_CS):
        method = f"C = {C:g}"
        level = 10.0 + (k if holds else -k)
        curves["figure4", "Digits", method, "curve_rounds"] = [1, 100, 200]
        curves["figure4", "Digits", method, "curve_validation"] = [50.0, level, level]
        numbers["optimum_validation", method] = 10.0 + k
    found = claims_behavior.improper_c_shows_early(curve_study(curves, numbers=numbers))
    assert found.holds is holds


@pytest.mark.parametrize(
    ("counts", "values", "holds"),
    [
        ((250, 300, 500, 600), 30.0, True),
        ((250, 600, 900, 1000), 30.0, False),
        ((250, 300, 500, 600), 90.0, False),
    ],
)
def test_check_of_growth_can_fail(counts, values, holds):
    labels = ("n=1000", "n=2000", "n=5000", "n=10000")
    curves = {
        ("table5", label, "C fixed", "iterations"): [count, count]
        for label, count in zip(labels, counts, strict=True)
    }
    study = curve_study(curves, {"patiences": [20, 50], "patience": 50})
    base = study.evidence

    def evidence(exhibit):
        made = base(exhibit)
        made.value = lambda metric, d, m: 30.0 if d == "n=1000" else values
        return made

    study.evidence = evidence
    found = claims_behavior.iterations_grow_slower_than_the_data(study)
    assert found.holds is holds


TINY = {
    "sizes": {"train": 40, "validation": 30, "test": 50},
    "scaling": "all rows",
    "digits_task": "odd",
    "linear_form": FORMS[0],
    "quadratic_form": FORMS[1],
    "offset": "free",
    "tau": 1e-6,
    "gap": 0.01,
    "patience": 5,
    "Cs": [1.0, 10.0],
    "n_rounds": 25,
    "n_points": 6,
    "figure4_rounds": 10,
    "patiences": [2, 5],
    "growth_C": 1.0,
    "growth_tau": 0.01,
    "growth_rounds": 20,
    "forest_C": 1.0,
    "forest_tau": 0.01,
    "forest_centers": 20,
    "forest_rounds": 10,
}


def tiny(exhibit, label, method):
    """Compute one trial with few examples and rounds; its metrics must be declared."""
    function = next(f for f in paper.functions[exhibit] if method in f.methods and label in f.datasets)
    names = Trial("bi2004", exhibit, label, function.name if function.together else method, 0)
    found = function.function(names, **{name: TINY[name] for name in function.parameters})
    assert set(found[method] if function.together else found) <= set(paper.exhibits[exhibit].columns)
    return found


@pytest.mark.parametrize(
    ("exhibit", "method"),
    [
        ("table3", "2-norm/L,Q,R"),
        ("table3", "1-norm/L+Q+R"),
        ("figure3", "regular"),
        ("figure4", "C = 100"),
        ("tolerance", "tau = 0.1"),
        ("readings", "both: raw"),
        ("readings", "scaling: training rows"),
    ],
)
def test_trials_on_forest_give_finite_numbers(exhibit, method):
    found = tiny(exhibit, "Forest", method)
    assert all(np.all(np.isfinite(value)) for value in found.values())
    errors = [value for name, value in found.items() if name.startswith("error_")]
    assert all(0.0 < error < 60.0 for error in errors)


def test_mixtures_and_rivals_share_a_draw():
    found = tiny("modern", "Forest", "1-norm mixture")
    assert set(found) == set(paper.methods("modern"))
    trees = found["boosting, equal cost"]["operations"]
    assert trees == pytest.approx(found["1-norm mixture"]["operations"], abs=5.0)
    assert all(0.0 < numbers["error"] < 60.0 for numbers in found.values())


def test_growth_reads_every_patience():
    found = tiny("table5", "n=1000", "C / n, tau * n")
    assert len(found["iterations"]) == 2
    assert found["iterations"][0] <= found["iterations"][1] <= 20


def test_all_of_forest_on_a_part_of_it(monkeypatch):
    monkeypatch.setattr(forest, "_ALL", 400)
    found = tiny("forest", ALL_FOREST, "stratified")
    assert found["n_train"] == 320
    assert found["linear"] + found["quadratic"] + found["rbf"] <= 10


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
    assert theorems.frame["identity"].max() < 1e-6
    assert theorems.frame["optimum"].max() < 1e-6


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
