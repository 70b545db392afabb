"""linli2005: its data, the ensembles written out, the checks of its claims, and a tiny run end to end."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernsemble.data.generators import bayes_decision, bayes_error
from kernsemble.experiments.linli2005 import draws, ensembles, machines, protocol, theory
from kernsemble.experiments.linli2005.figure2 import class_densities, distances_from_bayes, plane_points
from kernsemble.experiments.linli2005.plan import paper
from kernsemble.experiments.linli2005.sets import PLANE_SET, REAL_SETS, TABLE_SETS
from kernsemble.experiments.trial import Trial
from kernsemble.kernels import perceptron_constants, perceptron_kernel, stump_constant, stump_kernel
from kernsemble.ledger import load_reading
from kernsemble.papers.linli2005 import claims
from kernsemble.published import read_cells, read_claims
from kernsemble.study import Study

ROOT = Path(__file__).parents[1]
SIZES = {"train": 40, "test": 50, "share": 0.6, "noise": 0.1}


def make_draw(dataset, number=0, scaling="real sets", missing_votes="middle", method="SVM-Stump"):
    trial = Trial("linli2005", "table1", dataset, method, number)
    return draws.draw(trial, SIZES, scaling, missing_votes)


def test_methods_share_their_data_and_runs_do_not():
    first, second = (make_draw("sonar", method=name) for name in ("SVM-Stump", "AB-Perc-100"))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y_test, second.y_test)
    assert not np.array_equal(first.X, make_draw("sonar", number=1).X)


@pytest.mark.parametrize("name", ["twonorm", "threenorm", "ringnorm"])
def test_noisy_sets_flip_a_tenth_of_the_training_labels_only(name):
    clean, noisy = make_draw(name), make_draw(f"{name}-n")
    np.testing.assert_array_equal(clean.X, noisy.X)
    np.testing.assert_array_equal(clean.X_test, noisy.X_test)
    np.testing.assert_array_equal(clean.y_test, noisy.y_test)
    assert (clean.y != noisy.y).sum() == 4


def test_nearer_ring_moves_the_second_class_only():
    far, near = make_draw("ringnorm"), make_draw("ringnorm-near")
    shift = far.X_test - near.X_test
    assert not shift[far.y_test > 0].any()
    np.testing.assert_allclose(np.linalg.norm(shift[far.y_test < 0], axis=1), 1.0)


@pytest.mark.parametrize("name", REAL_SETS)
def test_real_sets_are_split_60_to_40_and_scaled_by_the_training_part(name):
    data = make_draw(name)
    n = len(data.y) + len(data.y_test)
    assert len(data.y) == int(0.6 * n)
    assert np.abs(data.X).max() == 1.0
    assert np.isfinite(data.X_test).all()
    assert set(data.y) == {-1.0, 1.0}


def test_missing_votes_have_three_readings():
    middle, mode, drop = (make_draw("votes84", missing_votes=kind) for kind in ("middle", "mode", "drop"))
    assert set(np.unique(middle.X)) == {-1.0, 0.0, 1.0}
    assert set(np.unique(mode.X)) == {-1.0, 1.0}
    assert len(drop.y) + len(drop.y_test) == 232
    np.testing.assert_array_equal(mode.X[middle.X != 0], middle.X[middle.X != 0])


def test_pooled_scaling_and_scaling_of_generated_sets():
    pooled = make_draw("heart", scaling="real sets, pooled")
    assert max(np.abs(pooled.X).max(), np.abs(pooled.X_test).max()) == 1.0
    assert np.abs(make_draw("twonorm").X).max() > 2
    assert np.abs(make_draw("twonorm", scaling="all sets").X).max() == 1.0


@pytest.mark.parametrize("kind", ["random", "stratified"])
def test_folds_are_a_partition(kind):
    trial = Trial("linli2005", "table1", "heart", "SVM-Stump", 0)
    data = make_draw("heart")
    folds = draws.folds_of(trial, data, 5, kind)
    np.testing.assert_array_equal(
        np.sort(np.concatenate([test for _, test in folds])), np.arange(len(data.y))
    )
    assert all(not set(train) & set(test) for train, test in folds)
    positives = [(data.y[test] > 0).sum() for _, test in folds]
    if kind == "stratified":
        assert max(positives) - min(positives) <= 1


def test_ties_go_to_the_smallest_or_largest_parameters():
    correct = np.array([[3, 5, 4], [5, 5, 2]])  # gammas x Cs
    assert machines.break_ties(correct, "smallest") == (1, 0, 3)
    assert machines.break_ties(correct, "largest") == (1, 1, 3)


def test_integral_over_all_stumps_is_the_kernel_expansion(rng):
    X, Z = rng.standard_normal((25, 4)), rng.standard_normal((9, 4))
    beta = rng.standard_normal(25)
    both = np.vstack([X, Z])
    lower, upper = both.min(axis=0) - 0.5, both.max(axis=0) + rng.random(4)
    exact = stump_kernel(Z, X, constant=stump_constant(lower, upper)) @ beta
    np.testing.assert_allclose(ensembles.stump_ensemble_decision(X, beta, Z, lower, upper), exact, atol=1e-10)


def test_stump_weights_agree_with_their_definition(rng):
    values, beta = np.round(rng.standard_normal(12), 1), rng.standard_normal(12)
    cuts, steps = ensembles.stump_weights(values, beta, values.min() - 1, values.max() + 1)
    middles = 0.5 * (cuts[1:] + cuts[:-1])
    np.testing.assert_allclose(steps, np.sign(values - middles[:, None]) @ beta, atol=1e-12)


def test_integral_over_all_perceptrons_approaches_the_kernel_expansion(rng):
    X, Z = rng.standard_normal((10, 2)), rng.standard_normal((5, 2))
    beta = rng.standard_normal(10)
    radius = 1.0 + np.linalg.norm(np.vstack([X, Z]), axis=1).max()
    exact = perceptron_kernel(Z, X, constant=perceptron_constants(2, radius).Delta) @ beta
    integral = ensembles.perceptron_ensemble_decision(X, beta, Z, radius, n_angles=4000)
    np.testing.assert_allclose(integral, exact, atol=1e-4)


@pytest.mark.parametrize(("name", "kernel"), [("stump", stump_kernel), ("perceptron", perceptron_kernel)])
def test_sampled_kernel_is_unbiased_with_the_predicted_variance(name, kernel, rng):
    X = rng.standard_normal((6, 3))
    family = ensembles.SampledFamily(name, X, rng)
    exact = kernel(X, constant=family.constant)
    (K, K_test) = next(ensembles.sampled_kernels(family, [40_000], X, X[:2]))
    width = np.sqrt((family.constant**2 - exact**2) / 40_000)
    assert (np.abs(K - exact) <= 5 * width + 1e-9).all()
    np.testing.assert_allclose(K_test, K[:2])


def test_distances_from_bayes_are_integrals():
    axis, points = plane_points()
    cell = (axis[1] - axis[0]) ** 2
    first, second = class_densities(points)
    assert 0.5 * cell * (first + second).sum() == pytest.approx(1, abs=0.005)
    bayes = bayes_decision("threenorm", points)
    assert distances_from_bayes(bayes) == {"area": 0.0, "probability": 0.0, "excess": 0.0}
    worst = distances_from_bayes(-bayes)
    assert worst["area"] == 100.0
    best_error = 100 * bayes_error("threenorm", n_features=2)
    assert worst["excess"] == pytest.approx(100 - 2 * best_error, abs=1)


def test_theorem_3_needs_its_condition():
    """The exclusive or of two binary features: no ensemble of stumps, however large, separates it."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    assert not theory._is_separated(stump_kernel(X), y)
    assert theory._is_separated(perceptron_kernel(X), y)


def test_readings_concern_the_sets_they_say():
    labels = {
        name: [d for d in TABLE_SETS if protocol._applies(name, SimpleNamespace(dataset=d))]
        for name in protocol.READINGS
    }
    assert labels["votes: mode"] == labels["votes: drop"] == ["votes84"]
    assert labels["scaling: pooled"] == list(REAL_SETS)
    assert len(labels["scaling: all sets"]) == 6
    assert labels["ties: largest"] == list(TABLE_SETS)


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


class MadeEvidence:
    """Evidence of constant numbers with a little noise; ``value(metric, dataset, method)`` gives them."""

    def __init__(self, value, methods=(), datasets=(), runs=20):
        self.value, self.methods, self.datasets, self.runs = value, methods, datasets, runs

    def array(self, metric, datasets=None, methods=None, trials=None):
        noise = np.random.default_rng(0).normal(0, 1e-3, self.runs)
        table = [
            [self.value(metric, d, m) for m in methods or self.methods] for d in datasets or self.datasets
        ]
        return np.array(table)[None] + noise[:, None, None] * (metric == "error")


def study_of(value, **options):
    evidence = MadeEvidence(value, **options)
    return SimpleNamespace(evidence=lambda exhibit: evidence)


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
    options = {"methods": ("stump", "perceptron"), "datasets": ("twonorm",), "runs": 1}
    checks = {
        "constant": claims.constant_can_be_dropped,
        "scaling": claims.scaling_kernel_is_scaling_c,
        "separated": claims.any_labelling_is_separated,
        "eigenvalue": claims.any_labelling_is_separated,
    }
    for metric, check in checks.items():
        assert check(study_of(lambda m, d, name: good[m], **options)).holds
        bad = good | {metric: 0.0 if metric in ("separated", "eigenvalue") else 1e-3}
        assert not check(study_of(lambda m, d, name, bad=bad: bad[m], **options)).holds


def test_checks_of_figure_2_and_of_selection_can_fail():
    areas = study_of(lambda m, d, name: 5.0 + name.startswith("AB"), datasets=(PLANE_SET,))
    assert claims.svm_boundaries_closer_to_bayes(areas).holds
    assert not claims.svm_boundaries_closer_to_bayes(
        study_of(lambda m, d, name: 5.0 + (name == "SVM-Stump"), datasets=(PLANE_SET,))
    ).holds
    for seconds, holds in ((10.0, True), (2.0, False)):

        def cost(metric, dataset, method, seconds=seconds):
            gauss = method == "SVM-Gauss"
            return (550 if gauss else 55) if metric == "problems" else (seconds if gauss else 1.0)

        found = claims.selection_is_ten_times_cheaper(study_of(cost, datasets=("twonorm",), runs=1))
        assert found.holds is holds


def test_soft_margin_check_can_fail():
    def study(hard):
        made = {"hard": MadeEvidence(lambda *_: hard), "table1": MadeEvidence(lambda *_: 10.0)}
        return SimpleNamespace(evidence=made.__getitem__)

    assert claims.soft_margin_controls_the_power(study(12.0)).holds
    assert not claims.soft_margin_controls_the_power(study(9.0)).holds


@pytest.fixture(scope="module")
def tiny_root(tmp_path_factory):
    """A repository with nothing but the parameters."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "params.yaml", root)
    shutil.copytree(ROOT / "published", root / "published")
    return root


def test_tiny_run_from_end_to_end(tiny_root):
    study = Study("linli2005", "smoke", tiny_root)
    exhibits = ("table1", "theorems", "hard", "protocol", "selection", "multiclass", "finite", "base_learner")
    for exhibit in exhibits:
        assert study.evidence(exhibit).complete, exhibit
    table = study.evidence("table1")
    machine = table.array("error", ["sonar"], ["SVM-Perc"])[0, 0, 0]
    assert machine == pytest.approx(14.3, abs=0.1)  # 12 of 84 rows
    boosted = table.sample("train_error", dataset="sonar", method="AB-Stump-1000")
    assert boosted.mean == 0
    finite = study.evidence("finite").curves("disagreement", dataset="sonar", method="SVM-Stump")[0]
    assert finite[-1] < finite[0]
    again = Study("linli2005", "smoke", tiny_root, compute=False)
    assert all(again.evidence(exhibit).complete for exhibit in exhibits)
