"""shen2014: its data, its families, selection, the limit over all stumps, and a tiny run."""

import numpy as np
import pytest

from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.hypotheses.factory import make_oracle
from kernsemble.kernels import stump_kernel
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares
from kernsemble.trials.bench import Draw
from kernsemble.trials.study import Study
from kernsemble.trials.trial import Trial
from shen2014 import classes, figures, theory, trials
from shen2014.simplex_inverse import SimplexInverse
from shen2014.trials import stump_ensemble


def make_trial(dataset, method="CGENS", number=0, exhibit="table1"):
    return Trial("shen2014", exhibit, dataset, method, number)


@pytest.mark.parametrize(("name", "sizes"), [("heart", (170, 100)), ("titanic", (150, 2051))])
def test_draws_have_the_benchmark_s_sizes_and_differ_between_runs(name, sizes):
    first, second = (trials.draw(make_trial(name, number=k)) for k in (0, 1))
    assert (len(first.y), len(first.y_test)) == sizes
    assert set(first.y) == {-1.0, 1.0}
    assert not np.array_equal(first.y, second.y)


def test_folds_are_a_stratified_partition_shared_by_methods():
    labels = np.repeat([-1.0, 1.0], [31, 24])
    first, second = (trials.folds_of(make_trial("heart", m), labels, 5) for m in ("SVM", "CGENS"))
    held_out = np.concatenate([test for _, test in first])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(55))
    for (train, test), (_, same) in zip(first, second, strict=True):
        assert not set(train) & set(test)
        np.testing.assert_array_equal(test, same)
        assert (labels[test] > 0).sum() in (4, 5)


@pytest.mark.parametrize("fit", [trials.boosting(), *(trials.generating(m, 1e-9) for m in (CGEns, LPBoost))])
def test_stages_are_what_fewer_rounds_give(rng, fit):
    X, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
    data, rounds = Draw(X, y, X, y), [3, 7]
    stages = fit(data, 0.1, rounds).scores(X)
    for column, T in enumerate(rounds):
        np.testing.assert_allclose(stages[:, column], fit(data, 0.1, [T]).scores(X)[:, 0], atol=1e-9)


def test_search_counts_held_out_samples_and_prefers_the_smaller_of_equals():
    correct = np.array([[5, 9, 8], [9, 9, 9]])
    found = trials.Search([0.1, 1.0], [25, 50, 100], correct)
    assert found.best() == (0.1, 1)
    assert found.best(2) == (1.0, 2)


def test_stump_pool_holds_stumps_within_the_data_s_range(rng):
    X = rng.standard_normal((30, 3)) * [1.0, 2.0, 0.0]
    pool = trials.StumpPool(X, n_hypotheses=200, random_state=0)
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
    kernel = 2.0 * stump_kernel(theory.ranks_of(X, Z), theory.ranks_of(X, X))
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
    (found,) = classes._all_stumps(Draw(X, y, Z, y_new), [0.1])
    np.testing.assert_array_equal(found, expected)


def test_equal_calls_count_folds_and_the_final_fit():
    assert trials.equal_rounds([25, 500], 6, 5) == [129, 2583]
    assert trials.equal_rounds([25], 1, 5) == [25]


def test_selection_among_some_numbers_of_rounds():
    found = trials.Search([0.1, 1.0], [25, 50, 100], np.array([[5, 9, 8], [9, 9, 10]]))
    assert found.among([0, 1]) == (0.1, 1)
    assert found.among([2]) == (1.0, 2)


@pytest.mark.parametrize("method", ["AdaBoost", "CGENS"])
def test_errors_are_read_from_one_fit_for_each_cost(rng, method):
    X, y = rng.standard_normal((60, 3)), np.where(rng.random(60) < 0.5, -1.0, 1.0)
    data, rounds, fitted = Draw(X[:40], y[:40], X[40:], y[40:]), [2, 5, 9], []
    fit = stump_ensemble(method, 1e-6)

    def counted(part, C, asked):
        fitted.append((C, asked))
        return fit(part, C, asked)

    found = trials.errors_at(counted, data, rounds, [(0.1, 1), (1.0, 0), (0.1, 0)])
    assert fitted == [(0.1, [2, 5]), (1.0, [2])]
    for (C, column), error in found.items():
        assert error == data.error(fit(data, C, [rounds[column]]).scores(data.X_test)[:, 0])


@pytest.mark.parametrize("name", ["stumps fresh", "perceptrons ball fresh", "perceptrons segment fresh"])
def test_fresh_pools_that_share_draws_are_those_that_each_would_draw(rng, name):
    X, V = rng.standard_normal((21, 4)), rng.standard_normal((21, 7))
    trial = make_trial("heart", name, exhibit="pools")
    family = trials.shared_family(trial, 30)
    for n_rounds in (4, 7, 2):  # the second draws on where the first has ended
        shared, alone = (oracle_of(one, X) for one in (family, trials.family_of(trial, name, 30)))
        for v in V.T[:n_rounds]:
            found, expected = shared.best(v)[0], alone.best(v)[0]
            assert (found.key, found.score) == (expected.key, expected.score)
            np.testing.assert_array_equal(found.column, expected.column)
            shared.exclude(found.key)
            alone.exclude(found.key)
    once = make_trial("heart", "perceptrons ball once", exhibit="pools")
    assert oracle_of(trials.shared_family(once, 30), X).fresh is False


def oracle_of(family, X):
    return make_oracle(family["base"], X, random_state=family["random_state"], **family["base_options"])


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
        figures.draw_training_time,
        figures.draw_vision,
        figures.draw_ranks,
        figures.draw_path,
        figures.draw_pools,
        figures.draw_prediction,
        figures.draw_draws,
        figures.draw_calls,
        figures.draw_scenes,
    ):
        assert draw_figure(study).axes


@pytest.mark.parametrize(("n", "J", "K"), [(30, 9, 3), (12, 45, 4), (25, 13, 2)])
def test_the_printed_inverse_finds_what_j_by_j_equations_find(rng, n, J, K):
    labels, H = rng.permutation(np.arange(n) % K), rng.choice(np.array([-1, 1], dtype=np.int8), (n, J))
    H[:, -2:] = np.column_stack([H[:, 0], -H[:, 1]])
    ours, theirs = SimplexLeastSquares(labels, 5.0), SimplexInverse(labels, 5.0)
    np.testing.assert_allclose(ours.pricing_weights(), theirs.pricing_weights(), atol=1e-12)
    for column in H.T:
        ours.add(column)
        theirs.add(column)
        a, b = ours.solve(), theirs.solve()
        for name in ("w", "b", "u"):
            np.testing.assert_allclose(getattr(a, name), getattr(b, name), atol=1e-8)
        assert a.objective == pytest.approx(b.objective, rel=1e-9)
    S = H @ H.T.astype(float) + np.eye(n) / 5.0
    np.testing.assert_allclose(theirs.inverse @ S, np.eye(n), atol=1e-8)
