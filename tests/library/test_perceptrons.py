"""Perceptrons: the line search against every step there is, descents that never rise, and pools."""

import numpy as np
import pytest

from kernsemble.hypotheses._fixed_point import quantize
from kernsemble.hypotheses._line_search import descend
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.perceptrons import PerceptronHypotheses, PerceptronOracle, PerceptronPool
from kernsemble.hypotheses.stumps import StumpOracle


def problem(rng, n=80, d=5):
    X = rng.normal(size=(n, d))
    v = rng.random(n) * np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, v / np.abs(v).sum()


def scores_of_all_steps(v, margins, projection):
    """|score| between every two neighboring points where a sample changes sides, and beyond the outermost."""
    points = np.unique(-margins[projection != 0] / projection[projection != 0])
    steps = np.concatenate([[points[0] - 1.0], (points[1:] + points[:-1]) / 2, [points[-1] + 1.0]])
    return np.abs(np.where(margins + np.outer(steps, projection) > 0, 1.0, -1.0) @ v)


@pytest.mark.parametrize("projection", ["normal", "with zeros", "few values", "outlier"])
@pytest.mark.parametrize("n", [1, 2, 30, 700])
def test_a_line_search_finds_the_best_of_all_steps(rng, projection, n):
    v = rng.normal(size=n)
    margins, p = rng.normal(size=n), rng.normal(size=n)
    if projection == "with zeros":
        p[::3] = 0.0
        p[-1] = 1.0
    elif projection == "few values":
        margins, p = np.round(margins) + 0.5, rng.choice([-1.0, 2.0], size=n)
    elif projection == "outlier":
        margins[0] = 1e6
    best = scores_of_all_steps(v, margins, p).max()
    weights, before = np.zeros(1), margins.copy()
    descend(quantize(v[:, None])[0][:, 0], p[None, :], np.ones((1, 1)), margins, weights)
    np.testing.assert_allclose(abs(np.where(margins > 0, 1.0, -1.0) @ v), best, rtol=1e-12)
    np.testing.assert_allclose(margins, before + weights[0] * p, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("directions", ["random", "coordinate"])
def test_the_weighted_error_never_rises(rng, directions):
    X, v = problem(rng)
    samples = np.hstack([X, -np.ones((len(X), 1))])
    w = quantize(v[:, None])[0][:, 0]
    weights = np.append(rng.normal(size=X.shape[1]), 0.0)
    margins = samples @ weights
    score = abs(np.where(margins > 0, 1.0, -1.0) @ v)
    drawn = PerceptronOracle(X, directions=directions, random_state=0)._draw_directions()
    for direction in drawn[:100]:
        descend(w, direction[None] @ samples.T, direction[None], margins, weights)
        np.testing.assert_allclose(margins, samples @ weights, rtol=1e-7, atol=1e-7)
        now = abs(np.where(margins > 0, 1.0, -1.0) @ v)
        assert now >= score - 1e-12
        score = now
    assert score > 0.3


def test_huge_steps_are_scaled_back():
    """A sample that hardly moves asks for a step of 1e10; weights and margins shrink together."""
    margins, projection = np.array([1.0, -1.0]), np.array([1e-10, 0.0])
    weights = np.array([1.0, 0.0])
    descend(np.array([-1, -1]), projection[None], np.array([[0.0, 1.0]]), margins, weights)
    assert (margins < 0).all()
    np.testing.assert_allclose(np.linalg.norm(weights), 1.0)


@pytest.mark.parametrize("start", ["random", "zero", "stump", "fisher"])
@pytest.mark.parametrize("directions", ["random", "coordinate"])
def test_every_start_and_direction_separates_what_can_be_separated(start, directions):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    v = np.where(X @ np.array([1.0, -2.0, 0.5]) > 0.3, 1.0, -1.0) / 60
    X += 0.5 * v[:, None] * 60 * np.array([1.0, -2.0, 0.5])  # a margin
    oracle = PerceptronOracle(X, n_updates=200, start=start, directions=directions, random_state=1)
    found = oracle.best(v)[0]
    np.testing.assert_allclose(found.score, 1.0)
    np.testing.assert_array_equal(oracle.collect([found.key]).outputs(X)[:, 0], found.column)


def test_a_descent_from_the_best_stump_is_no_worse(rng):
    X, v = problem(rng)
    stump = StumpOracle(X).best(v)[0].score
    assert PerceptronOracle(X, n_updates=1, start="stump", random_state=0).best(v)[0].score >= stump - 1e-12
    assert PerceptronOracle(X, n_updates=0, start="stump").best(v)[0].score == pytest.approx(stump)


def test_scores_columns_and_collected_perceptrons_agree(rng):
    X, v = problem(rng)
    V = np.stack([v, -v, rng.normal(size=len(v))], axis=1)
    for oracle in (PerceptronOracle(X, random_state=0), PerceptronPool(X, random_state=0)):
        found = oracle.best(V)
        H = oracle.collect([candidate.key for candidate in found]).outputs(X)
        assert H.dtype == np.int8
        for k, candidate in enumerate(found):
            np.testing.assert_array_equal(H[:, k], candidate.column)
            np.testing.assert_allclose(candidate.score, V[:, k] @ candidate.column)
            assert candidate.score >= 0


@pytest.mark.parametrize("family", [PerceptronOracle, PerceptronPool])
def test_the_same_state_gives_the_same_perceptrons(rng, family):
    X, v = problem(rng)

    def search(state):
        oracle = family(X, random_state=state)
        return [oracle.best(v)[0].column.tolist() for _ in range(3)]

    assert search(3) == search(3) == search(np.random.default_rng(3))
    assert search(np.random.RandomState(5)) == search(np.random.RandomState(5))
    if family is PerceptronOracle:
        assert search(3) != search(4)


def test_a_descent_does_not_return_to_an_excluded_perceptron():
    X = np.array([[0.0], [1.0]])
    oracle = PerceptronOracle(X, n_updates=3, random_state=0)
    columns = set()
    while found := oracle.best(np.array([-1.0, 1.0])):
        columns.add(tuple(found[0].column * found[0].column[0]))
        oracle.exclude(found[0].key)
        assert len(columns) <= 2  # the constant and the stump are all there is on two points
    assert (1, -1) in columns
    assert np.isnan(oracle.sum_of_squares(np.ones(2)))


@pytest.mark.parametrize("threshold", ["ball", "segment"])
def test_a_pool_returns_its_best_member(rng, threshold):
    X, v = problem(rng)
    pool = PerceptronPool(X, n_hypotheses=300, threshold=threshold, random_state=0)
    everything = pool.collect([(number, 1) for number in range(300)])
    np.testing.assert_allclose(np.linalg.norm(everything.theta, axis=1), 1.0)
    scores = np.abs(v @ everything.outputs(X))
    for rank in np.argsort(-scores, kind="stable")[:5]:
        found = pool.best(v)[0]
        np.testing.assert_allclose(found.score, scores[rank])
        np.testing.assert_allclose(pool.sum_of_squares(v), (scores**2).sum())
        pool.exclude(found.key)
        scores[found.key[0]] = 0.0


def test_shared_best_of_a_pool_maximizes_the_sum_over_classes(rng):
    X, _ = problem(rng)
    V = rng.normal(size=(len(X), 3))
    pool = PerceptronPool(X, n_hypotheses=200, random_state=0)
    sums = np.abs(V.T @ pool.collect([(number, 1) for number in range(200)]).outputs(X)).sum(axis=0)
    found = pool.best_shared(V)
    np.testing.assert_allclose(found.score, sums.max())
    np.testing.assert_allclose(np.abs(V.T @ found.column).sum(), sums.max())


def test_an_empty_pool_gives_nothing(rng):
    X, v = problem(rng)
    pool = PerceptronPool(X, n_hypotheses=2, random_state=0)
    for number in (0, 1):
        pool.exclude((number, 1))
    assert pool.best(v) == []
    assert pool.best_shared(v[:, None]) is None


def test_fresh_pools_remember_what_was_found(rng):
    X, v = problem(rng)
    pool = PerceptronPool(X, n_hypotheses=50, fresh=True, random_state=0)
    found = [pool.best(v)[0] for _ in range(4)]
    assert len({candidate.key[0] // 50 for candidate in found}) == 4
    H = pool.collect([candidate.key for candidate in found]).outputs(X)
    np.testing.assert_array_equal(H.T, [candidate.column for candidate in found])
    assert np.isnan(pool.sum_of_squares(v))


def test_thresholds_in_the_ball_follow_linli2005(rng):
    """Kappa is uniform on [-R, R] with R the largest norm: its quartiles say so."""
    X, _ = problem(rng)
    pool = PerceptronPool(X, n_hypotheses=20_000, random_state=0)
    radius = np.linalg.norm(X, axis=1).max()
    np.testing.assert_allclose(
        np.quantile(pool._kappa, [0.25, 0.5, 0.75]) / radius, [-0.5, 0, 0.5], atol=0.02
    )


def test_decisions_in_blocks_equal_decisions_at_once(rng, monkeypatch):
    X, _ = problem(rng)
    hypotheses = PerceptronHypotheses(rng.normal(size=(7, 5)), rng.normal(size=7), rng.choice([-1, 1], 7))
    W = rng.normal(size=(7, 2))
    whole = hypotheses.decision(X, W, 1.0)
    np.testing.assert_allclose(whole, hypotheses.outputs(X) @ W + 1.0)
    monkeypatch.setattr("kernsemble.hypotheses.projections._BLOCK", 70)
    np.testing.assert_allclose(hypotheses.decision(X, W, 1.0), whole)
    assert hypotheses.decision(X[:0], W, 1.0).shape == (0, 2)
    with pytest.raises(ValueError, match="expected"):
        hypotheses.decision(X[:, :2], W)


@pytest.mark.parametrize(
    ("family", "options"),
    [
        (PerceptronPool, {"threshold": "nowhere"}),
        (PerceptronOracle, {"start": "nowhere"}),
        (PerceptronOracle, {"directions": "up"}),
    ],
)
def test_unknown_options_are_refused(family, options):
    with pytest.raises(ValueError, match="is not known; choose"):
        family(np.zeros((3, 2)), **options)


@pytest.mark.parametrize("draw", [PerceptronPool, FourierPool])
def test_pools_of_a_record_are_drawn_once_and_read_by_all(rng, draw):
    X, V = rng.normal(size=(30, 3)), rng.normal(size=(30, 4))
    options = {"n_hypotheses": 20, "fresh": True}
    record, shared = [], np.random.default_rng(5)
    alone = draw(X, random_state=np.random.default_rng(5), **options)
    first, second = (draw(X, random_state=shared, record=record, **options) for _ in range(2))
    for t, v in enumerate(V.T):
        expected, *found = (oracle.best(v)[0] for oracle in (alone, first, second))
        assert len(record) == t + 1
        for candidate in found:
            assert candidate.key == expected.key
            np.testing.assert_array_equal(candidate.column, expected.column)
