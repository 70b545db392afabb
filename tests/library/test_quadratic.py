"""The contract of the quadratic masters, once over all who sign it: MASTERS x PROBLEMS.

Judges: the KKT conditions, cvxpy, LIBSVM and LIBLINEAR, optima known by construction, and the definition of
primal and dual objective at the points that are handed out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC, NuSVR, OneClassSVM
from support.kkt import assert_kkt
from support.margin_problems import SHAPES, known_optimum, problem, solve_along

from kernsemble.hypotheses import _threads
from kernsemble.masters import rows as matrices
from kernsemble.masters.base import INTERCEPTS
from kernsemble.masters.least_norm import least_norm_between
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.psvm import solve_psvm
from kernsemble.masters.quadratic import (
    ColumnQP,
    EpsilonInsensitive,
    Hinge,
    HingeQP,
    NuHinge,
    NuNovelty,
    NuTube,
    PackedHinge,
    SquaredHinge,
)
from kernsemble.masters.rows import ColumnGram, PackedRows, RowGram, Rows, Span

TIGHT = 1e-12  # of a gap: w and H'V may differ by its square root
CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
EPSILON = 0.2


def least_squares(y, C, *, sample_weight=None, **options):
    """C / 2 (y - f)^2 has no class of its own."""
    c = C * (np.ones(len(y)) if sample_weight is None else np.maximum(sample_weight, 1e-300))
    return ColumnQP(BoxLoss.least_squares(y, c), **options)


def tube(y, C, **options):
    return EpsilonInsensitive(y, C, EPSILON, **options)


class Psvm:
    """`solve_psvm` as a master: it sees all columns at once, and y as its labels."""

    def __init__(self, y, C, *, sample_weight=None, intercept="free", p, **options):
        self.solve = lambda: solve_psvm(np.array(self.H).T, y, C, p, sample_weight=sample_weight, **options)
        self.H = []

    def add(self, column):
        self.H.append(column.astype(float))


@dataclass(frozen=True)
class Signer:
    """Who signs the contract: its class, its loss, and what it can be asked."""

    make: object
    loss: str
    kinds: tuple = ("signs", "reals")
    intercepts: tuple = INTERCEPTS
    positive: bool = False
    at_once: bool = False

    def __call__(self, y, C=1.0, **options):
        return self.make(y, C, **options, **({"positive": True} if self.positive else {}))

    def along(self, H, y, C=1.0, **options):
        """Solve after each column, or once."""
        master = self(y, C, **options)
        if not self.at_once:
            return solve_along(master, H)
        for column in H.T:
            master.add(column)
        return master.solve()


MASTERS = {
    "hinge": Signer(Hinge, "hinge"),
    "hinge, least norm": Signer(partial(Hinge, least_norm=True), "hinge"),
    "hinge in a span": Signer(HingeQP, "hinge"),
    "hinge, w >= 0": Signer(HingeQP, "hinge", positive=True),
    "hinge in bits": Signer(PackedHinge, "hinge", kinds=("signs",)),
    "squared hinge": Signer(SquaredHinge, "squared_hinge"),
    "squared hinge, w >= 0": Signer(SquaredHinge, "squared_hinge", positive=True),
    "tube": Signer(tube, "epsilon_insensitive"),
    "tube, w >= 0": Signer(tube, "epsilon_insensitive", positive=True),
    "least squares": Signer(least_squares, "squared"),
    "linear machine": Signer(partial(Psvm, p=1), "hinge", intercepts=("free",), at_once=True),
    "squared linear machine": Signer(partial(Psvm, p=2), "squared_hinge", intercepts=("free",), at_once=True),
}
GROWING = [name for name, signer in MASTERS.items() if not signer.at_once]
SIGNED = [(name, intercept) for name, signer in MASTERS.items() for intercept in signer.intercepts]


def task(name, seed, shape="long", kind="signs", weighted=False):
    """Columns, labels or values, and weights, as the master's loss wants them."""
    H, y, weight = problem(seed, shape, kind, weighted)
    if MASTERS[name].at_once and weighted:
        weight = np.maximum(weight, 1.0)  # it refuses samples that do not count
    if MASTERS[name].loss in ("epsilon_insensitive", "squared"):
        y = y + np.random.default_rng(seed).normal(size=len(y))
    return H, y, weight


def losses(loss, f, y, c):
    """Sum of losses by their definition, for arrays and for expressions of cvxpy."""
    if loss == "epsilon_insensitive":
        return c @ cp.pos(cp.abs(y - f) - EPSILON)
    if loss == "squared":
        return 0.5 * c @ cp.square(y - f)
    slack = cp.pos(1 - cp.multiply(y, f))
    return c @ (slack if loss == "hinge" else cp.square(slack))


def primal(loss, H, y, c, w, b, intercept):
    """The objective as printed."""
    value = cp.sum_squares(w) / 2 + losses(loss, H.astype(float) @ w + b, y, c)
    return value + cp.square(b) / 2 if intercept == "penalized" else value


def dual(loss, H, y, c, u, intercept, positive):
    """The dual objective by its definition."""
    V = u * y if "hinge" in loss else u
    scores = H.T.astype(float) @ V
    scores = np.maximum(scores, 0.0) if positive else scores
    value = V @ y - 0.5 * scores @ scores - (0.5 * V.sum() ** 2 if intercept == "penalized" else 0.0)
    if loss == "epsilon_insensitive":
        value -= EPSILON * np.abs(V).sum()
    curvature = {"squared_hinge": 0.25, "squared": 0.5}.get(loss, 0.0)
    return value - curvature * float(np.sum(V[c > 0] ** 2 / c[c > 0]))


def assert_certified(signer, H, y, C, weight, intercept, solution, tol):
    """The gap is that between two feasible points, and small."""
    c = C * (np.ones(len(y)) if weight is None else weight)
    u, w, b = solution.u, solution.w, solution.b
    if signer.loss != "squared":
        assert np.all(np.abs(u) <= (np.inf if signer.loss == "squared_hinge" else c))
    assert "hinge" not in signer.loss or np.all(u >= 0)
    assert not signer.positive or np.all(w >= 0)
    if intercept == "free":
        assert abs((u * y if "hinge" in signer.loss else u).sum()) <= 1e-12 * max(1.0, np.abs(u).sum())
    value = float(primal(signer.loss, H, y, c, w, b, intercept).value)
    scale = max(1.0, value)
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=1e-12 * scale)
    lower = dual(signer.loss, H, y, c, u, intercept, signer.positive)
    assert solution.dual_objective == pytest.approx(lower, rel=1e-9, abs=1e-11 * scale)
    assert -1e-12 * scale <= solution.gap <= tol * scale + 1e-12


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_optimality_and_certificate(name, intercept, shape, C):
    signer = MASTERS[name]
    for seed, kind in enumerate(signer.kinds):
        H, y, weight = task(name, seed, shape, kind, weighted=seed == 1 and signer.loss != "squared")
        solution = signer.along(H, y, C, sample_weight=weight, intercept=intercept, tol=TIGHT)
        assert solution.converged
        assert_certified(signer, H, y, C, weight, intercept, solution, TIGHT)
        assert_kkt(
            H, y, solution, loss=signer.loss, C=C, sample_weight=weight, intercept=intercept,
            nonnegative=signer.positive, epsilon=EPSILON, tol=3e-5 * max(1.0, C),
        )  # fmt: skip


@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_agrees_with_cvxpy(name, intercept, rng):
    signer = MASTERS[name]
    H, y, weight = task(name, int(rng.integers(100)), "square", signer.kinds[-1], weighted=True)
    weight = weight + (signer.loss == "squared")
    ours = signer.along(H, y, 0.7, sample_weight=weight, intercept=intercept, tol=TIGHT)
    w, b = cp.Variable(H.shape[1], nonneg=signer.positive), cp.Variable()
    fixed = [b == 0] if intercept == "none" else []
    expected = cp.Problem(cp.Minimize(primal(signer.loss, H, y, 0.7 * weight, w, b, intercept)), fixed)
    assert ours.objective == pytest.approx(expected.solve(**CLARABEL), rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("name", GROWING)
def test_every_round_is_certified(name, intercept, rng):
    signer = MASTERS[name]
    H, y, weight = task(name, int(rng.integers(100)), weighted=signer.loss != "squared")
    master = signer(y, 0.3, sample_weight=weight, intercept=intercept, tol=0.05)
    for J, column in enumerate(H.T, 1):
        master.add(column)
        assert_certified(signer, H[:, :J], y, 0.3, weight, intercept, master.solve(), 0.05)


@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_weights_are_repetitions_in_any_order(name, intercept, rng):
    signer = MASTERS[name]
    H, y, weight = task(name, int(rng.integers(100)), weighted=True)
    weight = np.maximum(weight, 1.0) if signer.loss == "squared" else weight
    H = H[:, :4]  # few columns of signs: many equal rows, many dual solutions
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    options = {"intercept": intercept, "tol": TIGHT}
    one = signer.along(H, y, 0.3, sample_weight=weight, **options)
    other = signer.along(H[rows], y[rows], 0.3, **options)
    assert_allclose(one.objective, other.objective, rtol=1e-10)
    assert_allclose(one.w, other.w, atol=5e-6)
    if "least norm" in name or signer.loss in ("squared_hinge", "squared"):  # the others have several u
        assert_allclose(one.u, np.bincount(rows, other.u, len(y)), atol=5e-6)


@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_warm_start_and_scaled_columns_reach_the_same_optimum(name, intercept, rng):
    signer = MASTERS[name]
    H, y, _ = task(name, int(rng.integers(100)), "wide", signer.kinds[-1])
    warm = signer.along(H, y, 1.0, intercept=intercept, tol=TIGHT)
    cold = signer(y, 1.0, intercept=intercept, tol=TIGHT)
    for column in H.T:
        cold.add(column)
    assert_allclose(warm.w, cold.solve().w, atol=1e-5)
    if intercept != "penalized" and "reals" in signer.kinds:
        scaled = signer.along(3.0 * H, y, 1.0 / 9.0, intercept=intercept, tol=TIGHT)
        assert_allclose(warm.w, 3.0 * scaled.w, atol=1e-5)


@pytest.mark.parametrize("name", GROWING)
def test_without_columns(name):
    signer, y = MASTERS[name], np.array([1.0, 1.0, -1.0])
    at_zero = {"hinge": 6.0, "squared_hinge": 6.0, "epsilon_insensitive": 4.8, "squared": 3.0}[signer.loss]
    centered = {"hinge": 4.0, "squared_hinge": 16 / 3, "epsilon_insensitive": 3.2, "squared": 8 / 3}
    solution = signer(y, 2.0).solve()
    assert (len(solution.w), solution.objective) == (0, pytest.approx(at_zero))
    solution = signer(y, 2.0, intercept="free", tol=1e-9).solve()
    assert solution.converged
    assert solution.objective == pytest.approx(centered[signer.loss])
    assert signer(y).threshold() == 0.0


@pytest.mark.parametrize("name", MASTERS)
def test_says_when_iterations_run_out(name):
    H, y, _ = task(name, 0, "square", MASTERS[name].kinds[-1])
    if MASTERS[name].loss == "squared" or name in ("hinge, least norm", "linear machine"):
        return  # one Newton step is all it needs
    master = MASTERS[name](y, 10.0, tol=1e-12, max_iter=1)
    for column in H.T:
        master.add(column)
    solution = master.solve()
    assert not solution.converged
    assert solution.gap > 0
    with pytest.warns(ConvergenceWarning, match="Increase max_iter or tol"):
        solution.warn_unless_converged("master")


@pytest.mark.parametrize("name", GROWING)
def test_bad_input_is_named(name):
    signer, y = MASTERS[name], np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="intercept='maybe'"):
        signer(y, intercept="maybe")
    with pytest.raises(ValueError, match="4 samples"):
        signer(y).add(np.ones(3, dtype=np.int8))
    with pytest.raises(ValueError, match="nan or infinite"):
        signer(y).add(np.full(4, np.nan))


# --- any C, any scale


def hard_margin(H, y, intercept, positive):
    """Least penalty without any loss, by cvxpy."""
    w, b = cp.Variable(H.shape[1], nonneg=positive), cp.Variable()
    f = H @ w + (b if intercept == "free" else 0)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w)), [cp.multiply(y, f) >= 1]).solve(**CLARABEL)


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_separable_samples_at_any_cost(rng, intercept, positive):
    """From some C on the optimum stays the same, and C says nothing about the size of u."""
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 > 0, 1.0, -1.0)
    K = 30.0 * np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    H = np.hstack([K, -K])
    least = hard_margin(H, y, intercept, positive)
    for C in (1e4, 1e8, 1e12):
        master = HingeQP(y, C, intercept=intercept, positive=positive)
        for column in H.T:
            master.add(column)
        solution = master.solve()
        assert solution.converged
        assert solution.n_iter <= 60
        assert_allclose([solution.objective, solution.dual_objective], least, rtol=1e-6)
        f = np.array([sum(w * h for w, h in zip(solution.w, row, strict=True)) for row in H])  # another order
        value = 0.5 * solution.w @ solution.w + C * np.maximum(0.0, 1.0 - y * (f + solution.b)).sum()
        assert value <= solution.objective * (1 + 1e-6)


@pytest.mark.parametrize("C", [1e-8, 1e-4, 1e4, 1e8, 1e12])
@pytest.mark.parametrize("name", ["hinge", "squared hinge", "tube", "hinge, w >= 0", "least squares"])
def test_certificates_hold_from_tiny_to_huge_costs(name, C, rng):
    signer = MASTERS[name]
    H, y, _ = task(name, int(rng.integers(100)), kind="reals")
    solution = signer.along(H, y, C, intercept="free", tol=1e-6)
    c = np.full(len(y), C)
    value = float(primal(signer.loss, H, y, c, solution.w, solution.b, "free").value)
    lower = dual(signer.loss, H, y, c, solution.u, "free", signer.positive)
    assert solution.converged
    assert solution.gap <= 1e-6 * solution.objective
    assert_allclose([solution.objective, solution.dual_objective], [value, lower], rtol=1e-6)


@pytest.mark.parametrize("kind", ["duplicated rows", "integers", "bits", "badly scaled", "large", "tiny"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
def test_ties_and_scales(rng, kind, C):
    H = rng.normal(size=(60, 6))
    C = min(C, 100.0) if kind == "large" else C  # C |x|^2 = 1e16 leaves no digits
    if kind == "duplicated rows":
        H = np.repeat(H[:15], 4, axis=0)
    elif kind in ("integers", "bits"):
        H = rng.integers(0, 3 if kind == "integers" else 2, size=(60, 6)).astype(float)
    else:
        H *= {"badly scaled": 10.0 ** rng.integers(-2, 3, size=6), "large": 1e6, "tiny": 1e-6}[kind]
    y = np.where(H[:, 0] / np.abs(H[:, 0]).max() + 0.3 * rng.normal(size=60) > 0.2, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    for make in (Hinge, HingeQP, SquaredHinge):
        solution = solve_along(make(y, C, intercept="free", tol=1e-9), H)
        assert solution.converged
        assert -1e-13 <= solution.gap / max(1.0, solution.objective) <= 1e-9


def test_large_cost_on_rank_deficient_columns(rng):
    X = rng.normal(size=(200, 4))
    y = np.where(X @ rng.normal(size=4) + 0.3 * rng.normal(size=200) > 0, 1.0, -1.0)
    H = X @ X.T  # 200 columns of rank 4
    for positive in (False, True):
        master = HingeQP(y, 1e5, intercept="free", positive=positive)
        for column in H.T:
            master.add(column)
        solution = master.solve()
        assert solution.converged
        value = float(primal("hinge", H, y, np.full(200, 1e5), solution.w, solution.b, "free").value)
        assert_allclose(solution.objective, value, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_scale_of_targets_does_not_matter(scale, rng):
    H, y, _ = task("tube", int(rng.integers(100)), kind="reals")
    plain = solve_along(EpsilonInsensitive(y, 1.0, 0.1, intercept="free"), H)
    scaled = solve_along(EpsilonInsensitive(scale * y, scale, 0.1 * scale, intercept="free"), H)
    assert scaled.converged
    assert_allclose(scaled.objective, scale**2 * plain.objective, rtol=1e-7)


# --- optima known by construction


@pytest.mark.parametrize("name", ["hinge", "hinge in a span", "squared hinge"])
def test_known_optimum(name, rng):
    signer = MASTERS[name]
    H, y, w, u = known_optimum(int(rng.integers(100)), signer.loss)
    solution = signer.along(H, y, 0.5, tol=TIGHT)
    assert_allclose(solution.w, w, atol=1e-6)
    if signer.loss == "squared_hinge":
        assert_allclose(solution.u, u, atol=1e-5)


def test_one_column_a_sample(rng):
    # The problem falls apart: min 1/2 w^2 + c loss(w) has y w = min(1, c), and w = sign(y) min(C, |y| - e).
    y, weight = np.sign(rng.normal(size=8)), rng.uniform(0.2, 2.0, size=8)
    solution = solve_along(HingeQP(y, 1.0, sample_weight=weight, tol=1e-14), np.eye(8))
    assert_allclose(solution.w, y * np.minimum(1.0, weight), atol=1e-6)
    assert_allclose(solution.u, np.minimum(1.0, weight), atol=1e-6)
    y = 3 * rng.normal(size=8)
    solution = solve_along(EpsilonInsensitive(y, 1.5, 0.2, tol=1e-14), np.eye(8))
    assert_allclose(solution.w, np.sign(y) * np.minimum(1.5, np.maximum(np.abs(y) - 0.2, 0)), atol=1e-6)
    solution = solve_along(HingeQP(np.ones(8), 1.0, positive=True), -np.eye(8))
    assert np.all(solution.w == 0.0)  # exactly


def test_separable_and_one_sided_labels():
    H = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    y = np.sign(H[:, 0])
    assert solve_along(Hinge(y, 1e6, intercept="free", tol=1e-9), H).objective == pytest.approx(0.5)
    ones = solve_along(Hinge(np.ones(4), 1.0, intercept="free"), H)
    assert ones.converged
    assert ones.objective == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("p", "w"), [(1, 1.0), (2, 12 / 13)])
def test_linear_machine_of_two_points(p, w):
    solution = solve_psvm(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), 3.0, p, tol=1e-12)
    assert_allclose([solution.w[0], solution.b], [w, 0.0], atol=1e-6)


def test_quantile_regression_needs_no_class_of_its_own(rng):
    n, q, t = 41, 0.8, rng.normal(size=41)
    solution = ColumnQP(BoxLoss(t, np.full(n, q - 1.0), np.full(n, q)), intercept="free").solve()
    assert_allclose(solution.b, np.sort(t)[int(q * n)], atol=1e-7)


# --- other solvers


def test_agrees_with_liblinear_and_libsvm(rng):
    H, y, _ = problem(int(rng.integers(100)), "long", "reals")
    for loss, make in (("hinge", Hinge), ("squared_hinge", SquaredHinge)):
        ours = solve_along(make(y, 0.7, intercept="penalized", tol=TIGHT), H)
        theirs = LinearSVC(C=0.7, loss=loss, tol=1e-10, max_iter=10**6).fit(H, y)
        assert_allclose(np.append(ours.w, ours.b), np.append(theirs.coef_, theirs.intercept_), atol=1e-6)
    theirs = SVC(C=0.7, kernel="linear", tol=1e-10).fit(H, y)
    ours = solve_along(Hinge(y, 0.7, intercept="free", tol=TIGHT), H)
    assert_allclose(ours.w, theirs.coef_[0], atol=1e-6)
    assert_allclose(y[theirs.support_] * theirs.dual_coef_[0], ours.u[theirs.support_], atol=1e-6)
    X = H + 5.0  # a shift of the features is the intercept's
    assert_allclose(solve_psvm(X, y, 0.7, 1, tol=1e-11).w, theirs.coef_[0], atol=1e-5)
    values = H @ rng.normal(size=H.shape[1]) + rng.normal(size=len(H))
    ours = solve_along(EpsilonInsensitive(values, 2.0, 0.3, intercept="free"), H)
    theirs = SVR(kernel="linear", C=2.0, epsilon=0.3, tol=1e-6).fit(H, values)
    assert_allclose(ours.w, theirs.coef_[0], atol=1e-3)
    ours = solve_along(NuTube(values, 2.0, 0.4), H)
    assert_allclose(
        ours.w, NuSVR(kernel="linear", C=2.0, nu=0.4, tol=1e-6).fit(H, values).coef_[0], atol=1e-3
    )
    ours = solve_along(NuNovelty(len(H), 0.3), H)
    theirs = OneClassSVM(kernel="linear", nu=0.3, tol=1e-6).fit(H)
    assert_allclose(0.3 * len(H) * ours.w, theirs.coef_[0], atol=1e-3)


# --- the nu forms


def nu_problem(kind, H, y, labels, positive):
    """Master, and cvxpy's problem as printed in the module."""
    n = len(H)
    w, b, r = cp.Variable(H.shape[1], nonneg=positive), cp.Variable(), cp.Variable()
    size = cp.sum_squares(w) / 2
    if kind == "novelty":
        return NuNovelty(n, 0.4, positive=positive), size - r + cp.sum(cp.pos(r - H @ w)) / (0.4 * n)
    if kind == "hinge":
        losses = cp.pos(r - cp.multiply(labels, H @ w + b))
        return NuHinge(labels, 0.4, positive=positive), size - 0.4 * r + cp.sum(losses) / n
    losses = cp.pos(cp.abs(y - H @ w - b) - r)
    return NuTube(y, 2.0, 0.3, positive=positive), size + 2.0 * (0.3 * n * r + cp.sum(losses))


@pytest.mark.parametrize("positive", [False, True], ids=["free", "positive"])
@pytest.mark.parametrize("kind", ["novelty", "hinge", "tube"])
def test_nu_forms(rng, kind, positive):
    X = rng.uniform(-1, 1, size=(20, 2))
    H = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))[:, :10]
    y = 3 + X[:, 0] + 0.2 * rng.normal(size=20)
    labels = np.where(y > np.median(y), 1.0, -1.0)
    master, expression = nu_problem(kind, H, y, labels, positive)
    solution = solve_along(master, H)
    assert solution.converged
    assert_allclose(
        solution.objective, cp.Problem(cp.Minimize(expression)).solve(**CLARABEL), rtol=1e-6, atol=1e-10
    )
    u = solution.u
    if kind == "novelty":
        assert_allclose(u.sum(), 1.0, rtol=1e-12)
        assert master.margin_ == pytest.approx(np.sort(H @ solution.w)[int(0.4 * 20)], abs=0.2)
    elif kind == "hinge":
        assert_allclose([u.sum(), u @ labels], [0.4, 0.0], atol=1e-12)
        assert master.margin_ >= -1e-9
    else:
        assert_allclose(np.abs(master._solver.V).sum(), 2.0 * 0.3 * 20, rtol=1e-12)
        assert_allclose(master.pricing_weights(), u)
        assert master.tube_ > 0


@pytest.mark.parametrize("tol", [1e-8, 1e-14])
def test_gap_of_novelty_where_all_samples_may_be_outside(tol, rng):
    """Nu = 1 leaves one dual point: all shares equal."""
    X = rng.normal(size=(400, 2)) + 3.0
    H = np.exp(-((X[:, None] - X[None, :40]) ** 2).sum(-1))
    solution = solve_along(NuNovelty(400, 1.0, positive=True, tol=tol), H)
    assert_allclose(solution.dual_objective, -0.5 * np.square(H.mean(axis=0)).sum(), rtol=1e-9)
    assert -1e-12 <= solution.gap <= 1e-8
    assert_allclose(solution.w, H.mean(axis=0), atol=1e-4)


def test_nu_is_checked():
    with pytest.raises(ValueError, match="nu must lie"):
        NuNovelty(5, 0.0)
    with pytest.raises(ValueError, match="infeasible"):
        NuHinge(np.array([1.0, -1.0, -1.0, -1.0]), 0.9)


# --- what is special in one of them


def test_pricing_starts_at_a_constant():
    _, y, weight = problem(0, weighted=True)
    for make in (Hinge, PackedHinge):
        assert_allclose(make(y, 2.0, sample_weight=weight).pricing_weights(), y * weight)
    assert_allclose(SquaredHinge(y, sample_weight=weight).pricing_weights(), 2.0 * y * weight)
    assert_allclose(HingeQP(y, 2.0).pricing_weights(), 2.0 * y)


@pytest.mark.parametrize("intercept", ["none", "free", "penalized"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_dual_of_least_norm_agrees_with_cvxpy(rng, intercept, C):
    y, weight = rng.choice([-1.0, 1.0], 40), rng.uniform(0.5, 2, 40)
    master, A = Hinge(y, C, sample_weight=weight, intercept=intercept, least_norm=True), np.empty((40, 0))
    if intercept != "none":
        A = y[:, None]
    for _ in range(8):  # few columns: most rows depend on each other
        column = np.where(rng.random(40) < 0.5 + 0.2 * y, 1, -1).astype(np.int8)
        master.add(column)
        A = np.column_stack([A, y * column])
        u = master.solve().u
        assert master.solution.gap <= 1e-12 * master.solution.objective
    scaled = cp.Variable(40, nonneg=True)  # v = C sqrt(s) times this
    v, root = cp.multiply(scaled, np.sqrt(weight)), np.sqrt(weight)
    same = [A.T @ v == A.T @ u / C, cp.sum(v) == u.sum() / C, scaled <= root]
    least = cp.Problem(cp.Minimize(cp.sum_squares(scaled)), same).solve(**CLARABEL)
    assert ((u / C) ** 2 / weight).sum() <= least * (1 + 1e-6)


def test_one_distinct_row_a_class(rng):
    y = np.repeat([1.0, -1.0], [3, 5])
    master = Hinge(y, 10.0, intercept="free", least_norm=True)
    master.add(y.astype(np.int8))
    assert_allclose(master.solve().u, np.repeat([1 / 6, 1 / 10], [3, 5]), rtol=1e-12)
    assert_allclose([master.solution.objective, master.solution.b], [0.5, 0.0], atol=1e-14)


def test_least_norm_leaves_a_single_solution_alone(rng):
    u, held = rng.random(3), np.ones(5, dtype=bool)
    A, ones = rng.normal(size=(3, 5)), np.ones(3)
    assert least_norm_between(A, u, ones, ones, held, np.zeros(5), np.zeros(5)) is u


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(40)}, "both present"),
        ({"p": 3}, "p must be 1 or 2"),
        ({"lam": 0.0}, "must be positive"),
        ({"lam": np.inf}, "must be positive"),
        ({"X": np.full((40, 2), np.nan)}, "NaN"),
        ({"X": np.ones((39, 2))}, "shape"),
    ],
)
def test_bad_input_of_linear_machines_is_named(change, message, p):
    X, y, _ = problem(0, kind="reals")
    with pytest.raises(ValueError, match=message):
        solve_psvm(**{"X": X, "y": y, "lam": 1.0, "p": p, **change})


def test_squared_linear_machine_ends_after_few_steps(rng):
    X = rng.normal(size=(2000, 10))
    y = np.where(X @ rng.normal(size=10) + 3 * rng.normal(size=2000) > 1, 1.0, -1.0)
    solution = solve_psvm(X, y, 2.0, 2)
    assert solution.n_iter <= 10
    assert solution.relative_gap <= 1e-12


# --- matrices and losses


@pytest.fixture(params=[matrices.BLOCK, 16], ids=["one block", "blocks"])
def blocks(request, monkeypatch):
    monkeypatch.setattr(matrices, "BLOCK", request.param)
    if request.param == 16:
        monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
        monkeypatch.setattr(_threads, "n_threads", lambda: 3)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("leading", [0, 1])
@pytest.mark.parametrize("kind", ["int8", "widened", "span", "bits"])
def test_matrices(kind, leading, rng):
    n, J = 50, 77
    ones, H = np.ones((n, leading), dtype=np.int8), rng.choice([-1, 1], (n, J)).astype(np.int8)
    rows = {"span": Span, "bits": PackedRows}.get(kind, Rows)(n, ones)
    columns = list(H.T) + ([rng.normal(size=n)] if kind == "widened" else [])
    for column in columns[:40] if kind == "span" else columns:
        rows.add(column)
    A = np.column_stack([ones, *columns])[:, : rows.n_columns].astype(float)
    x, V = rng.normal(size=A.shape[1]), rng.normal(size=n) * (rng.random(n) < 0.7)
    some = rng.permutation(n)[:9]
    assert rows.shape == A.shape
    assert_allclose(rows.scores(x), A @ x, atol=1e-11)
    assert_allclose(rows.combine(V), A.T @ V, atol=1e-11)
    assert_allclose(rows.floats(some), A[some])
    assert_allclose(rows.take(some).scores(x), A[some] @ x, atol=1e-11)
    assert rows.take(some).n_leading == leading
    if kind == "bits":
        assert sum(plane.nbytes for plane in rows.planes) == n * -(-(J + leading) // 8)
        with pytest.raises(ValueError, match=r"-1 and \+1 only"):
            rows.add(np.zeros(n))


def test_span_keeps_the_gram_matrix_and_the_scores(rng):
    n, H, z = 30, [], np.zeros(0)
    span = Span(n, np.ones((n, 1), dtype=np.int8))
    for t in range(24):
        column = H[t // 2] - 2 * H[t // 3] if t % 2 else rng.normal(size=n)
        before = span.scores(np.append(0.0, z))
        change = span.add(column)
        z = np.append(z, 0.0) if change is None else change @ z
        assert_allclose(span.scores(np.append(0.0, z)), before, atol=1e-9)
        H.append(column)
        z += rng.normal(size=len(z))
    H, Z = np.array(H).T, span.floats(np.arange(n))[:, 1:]
    assert Z.shape[1] == np.linalg.matrix_rank(H) == 12
    assert_allclose(Z @ Z.T, H @ H.T, atol=1e-8)
    w = span.weights(z)
    assert_allclose(H @ w, Z @ z, atol=1e-8)
    assert_allclose(w @ w, z @ z, rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_kept_products_follow_columns_and_requests(dtype, rng):
    rows, slope = Rows(20, np.ones((20, 1), dtype=np.int8)), rng.random(20)
    by_rows, by_columns = RowGram(rows), ColumnGram(rows, slope)
    for j in range(40):
        column = rng.choice([-1, 1], 20).astype(np.int8) if j < 15 else rng.normal(size=20).astype(dtype)
        rows.add(column)
        by_rows.grow(column)
        by_columns.grow(column)
        asked = np.flatnonzero(rng.random(20) < 0.6)
        A = rows.floats(asked)
        shift, rhs = rng.random(len(asked)), rng.normal(size=rows.n_columns)
        expected = A[:, 1:] @ A[:, 1:].T + np.diag(shift)
        assert_allclose(np.tril(by_rows.system(asked, shift)), np.tril(expected), atol=1e-11)
        assert len(by_rows.rows) <= max(3 * rows.n_columns, len(asked))
        matrix = np.eye(len(rhs)) + (A * slope[asked, None]).T @ A
        assert_allclose(matrix @ by_columns.solve(asked, np.ones(len(rhs)), rhs), rhs, atol=1e-9)


def test_results_do_not_depend_on_threads(monkeypatch):
    H, y, _ = problem(2, "long")
    monkeypatch.setattr(matrices, "BLOCK", 8)
    alone = solve_along(PackedHinge(y, 1.0, intercept="free"), H)
    monkeypatch.setattr(_threads, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(_threads, "n_threads", lambda: 4)
    several = solve_along(PackedHinge(y, 1.0, intercept="free"), H)
    np.testing.assert_array_equal(alone.w, several.w)
    np.testing.assert_array_equal(alone.u, several.u)


@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_losses_maximize_what_they_should(rng, epsilon, curved):
    n = 50
    target, f, center, along = rng.normal(size=(4, n))
    upper, lower = rng.uniform(0, 2, size=n), -rng.uniform(0, 2, size=n)
    k, softness = rng.uniform(0.1, 1.0, (2, n))
    loss = BoxLoss(target, lower, upper, epsilon, k if curved else None)

    def smoothed(v, d=softness):
        value = v * (target - f) - epsilon * np.abs(v) - 0.5 * d * (v - center) ** 2
        return value - 0.5 * k * v**2 if curved else value

    around = loss.around(center, softness)
    V = around.weights(f)
    assert np.all((lower <= V) & (upper >= V))
    grid = lower + np.linspace(0, 1, 401)[:, None] * (upper - lower)
    assert np.all(smoothed(V) >= smoothed(grid).max(axis=0) - 1e-12)
    assert set(np.flatnonzero(around.weights(f + 1e-7) != V)) == set(around.free(V))  # only these move
    assert_allclose(loss.value(f), smoothed(grid, 0.0).max(axis=0).sum(), rtol=1e-3)
    linear = float(around.weights(f) @ along) - 1.0  # a direction of descent
    t = around.search(f, along, linear, 1.0, 1e-9)
    slope = linear + t - float(around.weights(f + t * along) @ along)
    assert 0 < t <= 1
    assert abs(slope) <= 1e-6 or (t == 1.0 and slope < 0) or slope < 0
