"""The contract of the masters, once over all who sign it: MASTERS x PROBLEMS.

Judges: the KKT conditions, cvxpy, optima known by construction, and the definitions of primal and dual
objective at the points that are handed out. Masters of other problems join with two classes, or all columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from support.kkt import assert_kkt
from support.margin_problems import SHAPES, known_optimum, problem, solve_along

from kernsemble.masters.base import INTERCEPTS
from kernsemble.masters.exclusivity import solve_exclusivity
from kernsemble.masters.exponential import Exponential
from kernsemble.masters.kernel_hinge import solve_kernel_hinge
from kernsemble.masters.losses import BoxLoss
from kernsemble.masters.lp import SOLVERS, EpsilonInsensitiveLP, HingeLP
from kernsemble.masters.one_against_rest import one_against_rest
from kernsemble.masters.psvm import solve_psvm
from kernsemble.masters.quadratic import (
    ColumnQP,
    EpsilonInsensitive,
    Hinge,
    HingeQP,
    PackedHinge,
    SquaredHinge,
)
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares

TIGHT = 1e-12  # of a gap: w and H'V may differ by its square root
CLARABEL = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
EPSILON = 0.2


def ones_or(weight, y):
    return np.ones(len(y)) if weight is None else weight


def least_squares(y, C, *, sample_weight=None, **options):
    """C / 2 (y - f)^2 has no class of its own."""
    return ColumnQP(BoxLoss.least_squares(y, C * ones_or(sample_weight, y)), **options)


def tube(y, C, *, kind=EpsilonInsensitive, **options):
    return kind(y, C, EPSILON, **options)


class AtOnce:
    """A function of X, y and C as a master: it sees all columns at once."""

    def __init__(self, y, C, *, solve, intercept, **options):
        self.H, self.solve = [], lambda: solve(np.array(self.H, dtype=float).T, y, C, **options)

    def add(self, column):
        self.H.append(column)


def kernel_machine(H, y, C, *, sample_weight=None, tol=1e-3, **options):
    """Columns as features of a kernel; ``tol`` is a difference of scores."""
    found = solve_kernel_hinge(H @ H.T, y, C * ones_or(sample_weight, y), tol=max(tol, 1e-10), **options)
    return replace(found, w=H.T @ found.w)


def one_component(H, y, C, *, p, **options):
    found = solve_exclusivity(H, y, C, 1, p, **options)
    return replace(found, w=found.w[:, 0], b=found.b[0], u=found.u[:, 0])


class TwoClasses:
    """The exponential loss of two classes: columns belong to the second, as in a margin loss."""

    def __init__(self, y, C, *, solver, intercept="none", sample_weight=None, tol=1e-9, **options):
        weight = ones_or(sample_weight, y)
        stops = {"newton": {"tol": max(tol, 1e-9)}, "fcd": {"eps": 1e-8, "tau_max": 20_000}, "lbfgsb": {}}
        self.labels, options = (y > 0).astype(int), stops[solver] | options
        total = C * weight.sum()
        self.master = Exponential(self.labels, total, sample_weight=weight, solver=solver, **options)
        self.threshold = self.master.threshold

    def add(self, column):
        self.master.add(column, 1)

    def solve(self):
        found = self.master.solve()
        return replace(found, u=found.u[np.arange(len(self.labels)), 1 - self.labels])


class TwoCodes:
    """Least squares on the codes of two classes, +1 and -1, which are the targets here."""

    def __init__(self, y, C, *, intercept="free", tol=None, **options):
        self.master = SimplexLeastSquares((y < 0).astype(int), C, **options)
        self.threshold, self.add = self.master.threshold, self.master.add

    def solve(self):
        found = self.master.solve()
        return replace(found, w=found.w[:, 0], b=found.b[0], u=found.u[:, 0])


@dataclass(frozen=True)
class Signer:
    """Who signs the contract: its class, its problem, and what it can be asked."""

    make: Callable
    loss: str
    penalty: str = "l2"
    kinds: tuple = ("signs", "reals")
    intercepts: tuple = INTERCEPTS
    positive: bool = False
    at_once: bool = False
    labels: bool = True  # whether y are labels
    weightless: bool = True  # whether samples may have weight 0
    steps: int | None = 1  # iterations that do not suffice; None: there is no such number
    gap: float = TIGHT  # what it reaches
    kkt: float = 3e-5
    unique: tuple = field(default=("w",))  # what of the solution is

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

    def task(self, seed, shape="long", kind="signs", weighted=False):
        """Columns, labels or values, and weights, as its loss wants them."""
        H, y, weight = problem(seed, shape, kind, weighted)
        H[:, 3::4] *= -1  # columns whose weights are negative, or not wanted
        if weighted and not self.weightless:
            weight = np.maximum(weight, 1.0)
        if not self.labels:
            y = y + np.random.default_rng(seed).normal(size=len(y))
        return H, y, weight


FREE = {"intercepts": ("free",), "at_once": True}
LP = {"penalty": "l1", "steps": None, "gap": 1e-9, "unique": ()}
EXPONENTIAL = {
    "loss": "exponential", "penalty": "l1", "kinds": ("signs",), "intercepts": ("none",), "weightless": False,
    "unique": (), "kkt": 1e-3,
}  # fmt: skip
MASTERS = {
    "hinge": Signer(Hinge, "hinge"),
    "hinge, least norm": Signer(partial(Hinge, least_norm=True), "hinge", steps=None, unique=("w", "u")),
    "hinge in a span": Signer(HingeQP, "hinge"),
    "hinge, w >= 0": Signer(HingeQP, "hinge", positive=True),
    "hinge in bits": Signer(PackedHinge, "hinge", kinds=("signs",)),
    "squared hinge": Signer(SquaredHinge, "squared_hinge", unique=("w", "u")),
    "squared hinge, w >= 0": Signer(SquaredHinge, "squared_hinge", positive=True, unique=("w", "u")),
    "tube": Signer(tube, "epsilon_insensitive", labels=False),
    "tube, w >= 0": Signer(tube, "epsilon_insensitive", positive=True, labels=False),
    "least squares": Signer(
        least_squares, "squared", labels=False, weightless=False, steps=None, unique=("w", "u")
    ),
    "linear machine": Signer(
        partial(AtOnce, solve=partial(solve_psvm, p=1)), "hinge", weightless=False, steps=None, **FREE
    ),
    "squared linear machine": Signer(
        partial(AtOnce, solve=partial(solve_psvm, p=2)), "squared_hinge", weightless=False, **FREE
    ),
    "one of several machines": Signer(
        partial(AtOnce, solve=partial(one_component, p=2)), "squared_hinge", weightless=False, **FREE
    ),
    "kernel machine": Signer(partial(AtOnce, solve=kernel_machine), "hinge", gap=1e-8, **FREE),
    "hinge, l1": Signer(HingeLP, "hinge", positive=True, **LP),
    "hinge, l1, any sign": Signer(partial(HingeLP, positive=False), "hinge", **LP),
    "hinge, l1, least norm": Signer(
        partial(HingeLP, least_norm=True, positive=False), "hinge", **{**LP, "unique": ("u",)}
    ),
    **{
        f"hinge, l1{', w >= 0' * positive}, {name}": Signer(
            partial(HingeLP, solver=name, positive=False), "hinge", positive=positive, **{**LP, "gap": 1e-6}
        )
        for name in SOLVERS[1:]
        for positive in (False, True)
    },
    "tube, l1": Signer(partial(tube, kind=EpsilonInsensitiveLP), "epsilon_insensitive", labels=False, **LP),
    "tube, l1, w >= 0": Signer(
        partial(tube, kind=EpsilonInsensitiveLP), "epsilon_insensitive", labels=False, positive=True, **LP
    ),
    "exponential": Signer(partial(TwoClasses, solver="newton"), gap=1e-8, **EXPONENTIAL),
    "exponential, fcd": Signer(partial(TwoClasses, solver="fcd"), gap=1e-6, steps=None, **EXPONENTIAL),
    "exponential, lbfgsb": Signer(
        partial(TwoClasses, solver="lbfgsb"), gap=1e-3, steps=None, **{**EXPONENTIAL, "kkt": 5e-2}
    ),
    "codes of two classes": Signer(
        TwoCodes, "squared", intercepts=("free",), steps=None, weightless=False, unique=("w", "u")
    ),
}
GROWING = [name for name, signer in MASTERS.items() if not signer.at_once]
SIGNED = [(name, intercept) for name, signer in MASTERS.items() for intercept in signer.intercepts]


def losses(loss, f, y, c):
    """Sum of losses by their definition, for arrays and for expressions of cvxpy."""
    if loss == "epsilon_insensitive":
        return c @ cp.pos(cp.abs(y - f) - EPSILON)
    if loss == "squared":
        return 0.5 * c @ cp.square(y - f)
    if loss == "exponential":
        return c @ cp.exp(-cp.multiply(y, f))
    slack = cp.pos(1 - cp.multiply(y, f))
    return c @ (slack if loss == "hinge" else cp.square(slack))


def primal(signer, H, y, c, w, b, intercept):
    """The objective as printed."""
    size, of_b = (cp.norm1(w), cp.abs(b)) if signer.penalty == "l1" else (cp.sum_squares(w) / 2, b**2 / 2)
    value = size + losses(signer.loss, H.astype(float) @ w + b, y, c)
    return value + of_b if intercept == "penalized" else value


def dual(signer, H, y, c, u, intercept):
    """The dual objective by its definition."""
    if signer.loss == "exponential":
        return best_multiple(H, y, c, u)
    V = u if signer.loss in ("squared", "epsilon_insensitive") else u * y
    value = V @ y
    if signer.loss == "epsilon_insensitive":
        value -= EPSILON * np.abs(V).sum()
    if signer.penalty == "l1":
        return value
    scores = H.T.astype(float) @ V
    scores = np.maximum(scores, 0.0) if signer.positive else scores
    value -= 0.5 * scores @ scores + (0.5 * V.sum() ** 2 if intercept == "penalized" else 0.0)
    curvature = {"squared_hinge": 0.25, "squared": 0.5}.get(signer.loss, 0.0)
    return value - curvature * float(np.sum(V[c > 0] ** 2 / c[c > 0]))


def best_multiple(H, y, c, u):
    """The dual objective (3a) at the best multiple of u that satisfies (3b)."""
    most = 1.0 / max(float(np.max(H.T.astype(float) @ (u * y), initial=0.0)), 1e-3)
    found = minimize_scalar(
        lambda t: -np.sum(t * u * (1 - np.log(t * u / c))), bounds=(0, most), method="bounded",
        options={"xatol": 1e-12},
    )  # fmt: skip
    return max(-found.fun, np.sum(most * u * (1 - np.log(most * u / c))))


def assert_feasible(signer, H, y, c, intercept, solution):
    """The dual weights and the weights are where the problem wants them."""
    u, margin = solution.u, signer.loss not in ("squared", "epsilon_insensitive")
    V = u * y if margin else u
    if signer.loss in ("hinge", "epsilon_insensitive"):
        assert np.all(np.abs(u) <= c)
    assert not margin or np.all(u >= 0)
    assert not (signer.positive or signer.loss == "exponential") or np.all(solution.w >= 0)
    if intercept == "free":
        assert abs(V.sum()) <= 1e-12 * max(1.0, np.abs(u).sum())
    if signer.penalty == "l1" and signer.loss != "exponential":
        scores = H.T.astype(float) @ V
        assert np.max(scores if signer.positive else np.abs(scores), initial=0.0) <= 1 + 1e-12
        assert intercept != "penalized" or abs(V.sum()) <= 1 + 1e-12


def assert_certified(signer, H, y, C, weight, intercept, solution, tol):
    """The gap is that between two feasible points, and small."""
    c = C * ones_or(weight, y)
    assert_feasible(signer, H, y, c, intercept, solution)
    value = float(primal(signer, H, y, c, solution.w, solution.b, intercept).value)
    scale = max(1.0, value)
    assert solution.objective == pytest.approx(value, rel=1e-9, abs=1e-12 * scale)
    lower = dual(signer, H, y, c, solution.u, intercept)
    assert solution.dual_objective == pytest.approx(lower, rel=1e-9, abs=1e-11 * scale)
    assert -1e-12 * scale <= solution.gap <= max(tol, signer.gap) * scale + 1e-12


def assert_optimal(signer, H, y, C, weight, intercept, solution, tol):
    """The KKT conditions; an intercept whose absolute value is penalized is two more weights."""
    positive = signer.positive or signer.loss == "exponential"
    if signer.penalty == "l1" and intercept == "penalized":
        ones, parts = np.ones(len(y)), np.maximum([solution.b, -solution.b], 0.0)
        H, intercept = np.column_stack([ones, -ones, H]), "none"
        solution = replace(solution, w=np.append(parts, solution.w), b=0.0)
    assert_kkt(
        H, y, solution, loss=signer.loss, penalty=signer.penalty, C=C, sample_weight=weight,
        intercept=intercept, nonnegative=positive, epsilon=EPSILON, tol=tol,
    )  # fmt: skip


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_optimality_and_certificate(name, intercept, shape, C):
    signer = MASTERS[name]
    for seed, kind in enumerate(signer.kinds):
        H, y, weight = signer.task(seed, shape, kind, weighted=seed == 1 or len(signer.kinds) == 1)
        options = {"sample_weight": weight, "intercept": intercept, "tol": signer.gap}
        solution = signer.along(H, y, C, **options)
        assert solution.converged
        assert_certified(signer, H, y, C, weight, intercept, solution, signer.gap)
        assert_optimal(signer, H, y, C, weight, intercept, solution, signer.kkt * max(1.0, C))


@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_agrees_with_cvxpy(name, intercept, rng):
    signer = MASTERS[name]
    H, y, weight = signer.task(int(rng.integers(100)), "square", signer.kinds[-1], weighted=True)
    ours = signer.along(H, y, 0.7, sample_weight=weight, intercept=intercept, tol=signer.gap)
    w, b = cp.Variable(H.shape[1], nonneg=signer.positive or signer.loss == "exponential"), cp.Variable()
    fixed = [b == 0] if intercept == "none" else []
    expected = cp.Problem(cp.Minimize(primal(signer, H, y, 0.7 * weight, w, b, intercept)), fixed)
    assert ours.objective == pytest.approx(expected.solve(**CLARABEL), rel=1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("name", GROWING)
def test_every_round_is_certified(name, intercept, rng):
    signer = MASTERS[name]
    if intercept not in signer.intercepts:
        return
    H, y, weight = signer.task(int(rng.integers(100)), weighted=True)
    master = signer(y, 0.3, sample_weight=weight, intercept=intercept, tol=0.05)
    for J, column in enumerate(H.T, 1):
        master.add(column)
        assert_certified(signer, H[:, :J], y, 0.3, weight, intercept, master.solve(), 0.05)


@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_weights_are_repetitions_in_any_order(name, intercept, rng):
    signer = MASTERS[name]
    H, y, weight = signer.task(int(rng.integers(100)), weighted=True)
    H = H[:, :4]  # few columns of signs: many equal rows, many dual solutions
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    options = {"intercept": intercept, "tol": signer.gap}
    one = signer.along(H, y, 0.3, sample_weight=weight, **options)
    other = signer.along(H[rows], y[rows], 0.3, **options)
    assert_allclose(one.objective, other.objective, rtol=max(1e-10, signer.gap))
    if "w" in signer.unique:
        assert_allclose(one.w, other.w, atol=5e-6)
    if "u" in signer.unique:
        assert_allclose(one.u, np.bincount(rows, other.u, len(y)), atol=5e-6)


@pytest.mark.parametrize(("name", "intercept"), SIGNED)
def test_warm_start_and_scaled_columns_reach_the_same_optimum(name, intercept, rng):
    signer = MASTERS[name]
    H, y, _ = signer.task(int(rng.integers(100)), "wide", signer.kinds[-1])
    options, power = {"intercept": intercept, "tol": signer.gap}, 1.0 if signer.penalty == "l1" else 2.0
    warm, cold = signer.along(H, y, 1.0, **options), signer(y, 1.0, **options)
    for column in H.T:
        cold.add(column)
    cold = cold.solve()
    assert_allclose(warm.objective, cold.objective, rtol=max(1e-10, signer.gap))
    if "w" in signer.unique:
        assert_allclose(warm.w, cold.w, atol=1e-5)
    if intercept != "penalized" and "reals" in signer.kinds:
        scaled = signer.along(3.0 * H, y, 3.0**-power, **options)
        assert_allclose(warm.objective, 3.0**power * scaled.objective, rtol=max(1e-10, signer.gap))
        if "w" in signer.unique:
            assert_allclose(warm.w, 3.0 * scaled.w, atol=1e-5)


@pytest.mark.parametrize("name", GROWING)
def test_without_columns(name):
    signer, y = MASTERS[name], np.array([1.0, 1.0, -1.0])
    of_loss = {  # at f = 0, and at the best constant
        "hinge": (6.0, 4.0), "squared_hinge": (6.0, 16 / 3), "epsilon_insensitive": (4.8, 3.2),
        "squared": (3.0, 8 / 3), "exponential": (6.0, None),
    }[signer.loss]  # fmt: skip
    for intercept, objective in zip(("none", "free"), of_loss, strict=True):
        if intercept in signer.intercepts:
            solution = signer(y, 2.0, intercept=intercept, tol=1e-9).solve()
            assert solution.converged
            assert (len(solution.w), solution.objective) == (0, pytest.approx(objective))
            assert solution.gap == pytest.approx(0.0, abs=1e-8)
    assert signer(y).threshold() == (1.0 if signer.penalty == "l1" else 0.0)


@pytest.mark.parametrize("name", [name for name, signer in MASTERS.items() if signer.steps])
def test_says_when_iterations_run_out(name):
    signer = MASTERS[name]
    H, y, _ = signer.task(0, "square", signer.kinds[-1])
    master = signer(y, 10.0, tol=1e-12, max_iter=signer.steps, intercept=signer.intercepts[0])
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
    if len(signer.intercepts) > 1:
        with pytest.raises(ValueError, match="intercept='maybe'"):
            signer(y, intercept="maybe")
    with pytest.raises(ValueError, match=r"4 (samples|outputs)"):
        signer(y).add(np.ones(3, dtype=np.int8))
    with pytest.raises(ValueError, match=r"nan or infinite|-1 or \+1"):
        signer(y).add(np.full(4, np.nan))


@pytest.mark.parametrize("name", ["hinge, least norm", "squared hinge", "hinge in a span", "hinge, l1"])
def test_one_against_the_rest_is_the_sum_of_its_problems(name, rng):
    signer = MASTERS[name]
    H, _, weight = signer.task(int(rng.integers(100)), weighted=True)
    labels, options = rng.integers(0, 3, len(H)), {"sample_weight": weight, "intercept": "free", "tol": 1e-9}
    signs = np.where(labels == np.arange(3)[:, None], 1.0, -1.0)
    master = one_against_rest(partial(signer, C=0.3, **options), signs)
    whole, parts = solve_along(master, H), [signer.along(H, row, 0.3, **options) for row in signs]
    for what in ("objective", "gap", "gain"):
        assert_allclose(getattr(whole, what), sum(getattr(part, what) for part in parts), atol=1e-12)
    assert_allclose(whole.w, np.column_stack([part.w for part in parts]))
    assert_allclose(np.abs(master.pricing_weights()), np.column_stack([part.u for part in parts]))
    assert master.threshold() == signer(signs[0]).threshold()
    if signer.penalty == "l1":
        assert master.full_gap(2.0) == pytest.approx(whole.objective - whole.dual_objective / 2.0)


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
@pytest.mark.parametrize(
    "name", ["hinge", "squared hinge", "tube", "hinge, w >= 0", "least squares", "hinge, l1", "tube, l1"]
)
def test_certificates_hold_from_tiny_to_huge_costs(name, C, rng):
    signer = MASTERS[name]
    C = min(C, 1e8) if signer.penalty == "l1" else C  # its scores are rounded at 1e-16 C
    H, y, _ = signer.task(int(rng.integers(100)), kind="reals")
    solution = signer.along(H, y, C, intercept="free", tol=1e-6)
    c = np.full(len(y), C)
    value = float(primal(signer, H, y, c, solution.w, solution.b, "free").value)
    lower = dual(signer, H, y, c, solution.u, "free")
    if signer.penalty == "l2" or C < 1e8:
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
    for name in ("hinge in a span", "hinge, w >= 0"):
        master = MASTERS[name](y, 1e5, intercept="free")
        for column in H.T:
            master.add(column)
        solution = master.solve()
        assert solution.converged
        value = primal(MASTERS[name], H, y, np.full(200, 1e5), solution.w, solution.b, "free").value
        assert_allclose(solution.objective, float(value), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_scale_of_targets_does_not_matter(scale, rng):
    H, y, _ = MASTERS["tube"].task(int(rng.integers(100)), kind="reals")
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


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_perfect_column_and_its_negative(solver):
    """Under an l1 norm all weight, 1, is on the first; so it is as soon as it pays, at any C."""
    y = np.array([1.0, -1.0, 1.0])
    solution = solve_along(HingeLP(y, 1.0, solver=solver), np.column_stack([y, -y]).astype(np.int8))
    assert_allclose(solution.w, [1.0, 0.0], atol=1e-8)
    assert_allclose(solution.u.sum(), 1.0, atol=1e-8)
    y, h = np.ones(4), np.array([1, 1, 1, -1], dtype=np.int8)
    for C in (1e-8, 0.4, 0.6, 1.0, 1e4, 1e8, 1e12) if solver == "sifting" else ():
        solution, right = solve_along(HingeLP(y, C), h[:, None]), 2 * C > 1
        assert solution.w[0] == float(right)
        assert solution.objective == pytest.approx(1 + 2 * C if right else 4 * C, rel=1e-12)
        assert 0 <= solution.gap <= 1e-15 * max(1.0, C) * solution.objective


def test_a_kernel_machine_of_two_points():
    """Two points at distance 2: the multipliers are 1/2, or C where that is smaller."""
    K, y = -np.abs(np.array([[0.0, 2.0], [2.0, 0.0]])), np.array([-1.0, 1.0])
    assert_allclose(solve_kernel_hinge(K, y, 10.0).u, 0.5)
    bounded = solve_kernel_hinge(K, y, 0.1)
    assert_allclose(bounded.u, 0.1)
    assert bounded.objective == pytest.approx(0.5 * 4 * 0.01 + 0.2 * (1 - 0.2))
    assert bounded.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("solver", ["newton", "fcd", "lbfgsb"])
def test_a_column_that_separates_its_class_gets_a_finite_weight(solver):
    labels = np.arange(30) % 3
    stops = {"newton": {"tol": 1e-9}, "fcd": {"eps": 1e-8, "tau_max": 20_000}}.get(solver, {})
    master = Exponential(labels, 1e8, solver=solver, **stops)
    for k in range(3):
        master.add(np.where(labels == k, 1, -1), k)
    assert_allclose(master.solve().w, np.log(2e8 / 3) / 2, rtol=1e-3)


@pytest.mark.parametrize(("p", "w"), [(1, 1.0), (2, 12 / 13)])
def test_linear_machine_of_two_points(p, w):
    solution = solve_psvm(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), 3.0, p, tol=1e-12)
    assert_allclose([solution.w[0], solution.b], [w, 0.0], atol=1e-6)


def test_separable_and_one_sided_labels():
    H = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    y = np.sign(H[:, 0])
    assert solve_along(Hinge(y, 1e6, intercept="free", tol=1e-9), H).objective == pytest.approx(0.5)
    ones = solve_along(Hinge(np.ones(4), 1.0, intercept="free"), H)
    assert ones.converged
    assert ones.objective == pytest.approx(0.0, abs=1e-12)
    identical = solve_kernel_hinge(np.zeros((4, 4)), np.array([1.0, -1.0, 1.0, 1.0]), 1.0)
    assert identical.converged
    assert identical.objective == pytest.approx(2.0)  # the majority's side of the margin
    assert identical.gap == pytest.approx(0.0, abs=1e-9)


def test_quantile_regression_needs_no_class_of_its_own(rng):
    n, q, t = 41, 0.8, rng.normal(size=41)
    solution = ColumnQP(BoxLoss(t, np.full(n, q - 1.0), np.full(n, q)), intercept="free").solve()
    assert_allclose(solution.b, np.sort(t)[int(q * n)], atol=1e-7)
