"""guo2017: its machines and ensembles against independent judges."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from kernsemble.masters.exclusivity import exclusivity_norm, exclusivity_objective, solve_exclusivity
from kernsemble.masters.exclusivity_alm import solve_printed_alm
from kernsemble.masters.psvm import solve_psvm
from guo2017 import theory, trials


@pytest.fixture
def noisy(rng):
    """Two overlapping classes, shifted from the origin."""
    X = rng.standard_normal((60, 4)) + 0.5
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(60) > 0.5, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("p", [1, 2])
def test_generic_solver_of_the_race_solves_the_same_problem(noisy, p):
    X, y = noisy
    exact = solve_exclusivity(X, y, 2.0, 3, p)
    assert theory.solve_generic(X, y, 2.0, 3, p) == pytest.approx(exact.objective, rel=1e-5)


def test_boosting_makes_the_last_machine_worthless(noisy):
    X, y = noisy
    fit = trials.psvm_fit(1.0, 2)
    found, votes = trials.boost_linear(fit, X, y, 3, np.random.default_rng(0))
    weight = np.full(len(y), 1 / len(y))
    for (w, b), vote in zip(found, votes, strict=True):
        wrong = (X @ w + b > 0) != (y > 0)
        error = weight[wrong].sum()
        assert vote == pytest.approx(0.5 * np.log((1 - error) / error))
        weight = weight * np.where(wrong, np.exp(vote), np.exp(-vote))
        weight /= weight.sum()
        assert weight[wrong].sum() == pytest.approx(0.5)


def test_boosting_ends_at_a_perfect_machine(noisy):
    X, _ = noisy
    y = np.where(X[:, 0] > 0.5, 1.0, -1.0)
    found, votes = trials.boost_linear(trials.psvm_fit(1e3, 2), X, y, 5, np.random.default_rng(0))
    assert len(found) == len(votes) == 1
    assert votes[0] > 0


@pytest.mark.parametrize("how", ["weights", "resampling"])
def test_reweighting_by_resampling_needs_random_numbers_only(noisy, how):
    X, y = noisy
    runs = [
        trials.boost_linear(trials.psvm_fit(1.0, 2), X, y, 2, np.random.default_rng(seed), how)[0]
        for seed in (0, 1)
    ]
    assert np.allclose(runs[0][0][0], runs[1][0][0]) is (how == "weights")


def test_votes_and_mean_scores():
    pair = [(np.array([1.0]), 0.0), (np.array([-3.0]), 0.0)]
    X = np.array([[1.0]])
    assert trials.vote(pair, np.array([2.0, 1.0]), X)[0] == 1.0
    assert trials.vote(pair, np.array([2.0, 1.0]), X, "mean score")[0] == -1.0


def test_nu_is_chosen_among_those_given_and_depends_on_the_data(noisy):
    X, y = noisy
    K = trials.drm_kernel("linear", X, X)
    nus = [0.05, 0.5, 0.9]
    chosen = trials.select_nu(K, y, nus, 5, np.random.default_rng(0))
    wrong = [sum(trials._held_out_errors(K, y, np.arange(60) % 5 == k, nu) for k in range(5)) for nu in nus]
    assert chosen in nus
    assert max(wrong) > min(wrong)


def test_boosted_stumps_agree_with_scikit_learn(noisy):
    X, y = noisy
    grown, votes = trials.boost_trees(X, y, 10, "stump", np.random.default_rng(0))
    ours = np.column_stack([tree.predict(X) for tree in grown]) @ votes
    judge = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=10, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ours > 0, judge.predict(X) > 0)
    np.testing.assert_allclose(2 * votes, judge.estimator_weights_[: len(votes)])


def test_ten_splits_and_bags(noisy):
    X, y = noisy
    grown, votes = trials.bag_trees(X, y, 4, "10 splits", np.random.default_rng(0))
    assert all(tree.get_n_leaves() <= 11 for tree in grown)
    assert len(grown) == 4
    data = trials.Draw(X, y, X, y)
    errors = trials.errors_by_size(grown, votes, data, (1, 4))
    assert errors[1] == pytest.approx(100 * np.mean(grown[0].predict(X) != y), abs=1e-3)


@pytest.mark.parametrize("p", [1, 2])
def test_timed_loop_is_the_printed_algorithm(noisy, p):
    X, y = noisy
    assert theory.run_printed(X, y, 2.0, 3, p) == solve_printed_alm(X, y, 2.0, 3, p).n_iter


def test_diverse_solver_without_parts_of_its_own_is_exrm(noisy):
    X, y = noisy
    C = 3
    W, _, gap = theory.solve_diverse(X, y, np.full((60, C), 2.0), np.ones((4, C), dtype=bool), tol=1e-7)
    exact = solve_exclusivity(X, y, 2.0, C)
    np.testing.assert_allclose(W.mean(axis=1), exact.w[:, 0], atol=1e-4)
    assert 0 <= gap <= 1e-7


@pytest.mark.parametrize("seed", range(3))
def test_diverse_solver_agrees_with_a_generic_one(noisy, seed):
    import cvxpy

    X, y = noisy
    rng = np.random.default_rng(seed)
    mask = rng.random((4, 3)) < 0.6
    mask[0] = True
    cost = 0.5 * rng.integers(0, 3, (60, 3))
    W, b, gap = theory.solve_diverse(X, y, cost, mask, tol=1e-8)
    assert not W[~mask].any()
    V, c = cvxpy.Variable((4, 3)), cvxpy.Variable(3)
    slack = [cvxpy.pos(1 - cvxpy.multiply(y, X @ V[:, k] + c[k])) for k in range(3)]
    loss = sum(cost[:, k] @ cvxpy.square(slack[k]) for k in range(3))
    norm = 0.5 * cvxpy.sum_squares(cvxpy.sum(cvxpy.abs(V), axis=1))
    problem = cvxpy.Problem(cvxpy.Minimize(norm + loss), [cvxpy.multiply(~mask, V) == 0])
    best = problem.solve(solver=cvxpy.CLARABEL)
    ours = exclusivity_norm(W) + (cost * np.maximum(0, 1 - y[:, None] * (X @ W + b)) ** 2).sum()
    assert ours == pytest.approx(best, rel=1e-6)
    assert -1e-12 <= gap <= 1e-8


def test_machines_apart_are_single_machines(noisy):
    X, y = noisy
    mask = np.array([[True, False]] * 2 + [[False, True]] * 2)
    W, _, gap = theory.solve_diverse(X, y, np.full((60, 2), 0.5), mask, shared=False)
    single = solve_exclusivity(X[:, :2], y, 0.5, 1)
    np.testing.assert_allclose(W[:2, 0], single.w[:, 0], atol=1e-8)
    assert not W[2:, 0].any()
    assert gap <= 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(60, 4), (20, 30), (40, 8)])
@pytest.mark.parametrize("p", [1, 2])
def test_ensemble_is_the_single_machine_of_a_smaller_lambda(seed, shape, p):
    """No components beat the single machine's value, and averaging them is never worse."""
    rng = np.random.default_rng(seed)
    n, d = shape
    X = rng.standard_normal(shape)
    if d == 8:
        X[:, 4:] = X[:, :4]
        X[:, 0] = 1.0
    y = np.where(X[:, 1] + rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    lam, C, cost = 2.0, 5, np.full(n, 2.0)
    machine = solve_psvm(X, y, lam / C, p)
    best = C**2 * machine.objective
    for scale in (0.0, 1e-3, 0.1, 1.0):
        W = machine.w[:, None] + scale * rng.standard_normal((d, C))
        b = machine.b + scale * rng.standard_normal(C)
        value = exclusivity_objective(W, b, X, y, cost, p)
        means = np.tile(W.mean(axis=1)[:, None], C), np.full(C, b.mean())
        assert value * (1 + 1e-9) >= exclusivity_objective(*means, X, y, cost, p) >= best * (1 - 1e-9)
    assert exclusivity_objective(
        np.tile(machine.w[:, None], C), np.full(C, machine.b), X, y, cost, p
    ) == pytest.approx(best, rel=1e-9)
