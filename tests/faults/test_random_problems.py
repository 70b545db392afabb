"""Every estimator on random small problems: no crash, no hang, no certificate that independent bounds refute.

``KERNSEMBLE_FAULTS=full`` tries 10,000 problems, else some hundreds of them. To look at number 17:
``random_problem(17)``.
"""

import re
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from support.faults import FIRST, FULL, PROBLEMS
from support.judge import judge
from support.nu_bounds import drm_bounds
from support.random_problems import ESTIMATORS, KINDS, LATER, extreme_problem, random_problem
from support.slow_reference import box_qp, hinge_rows, l1_bounds, l2_bounds

from kernsemble import DRM

GROUPS = 20
EXTREME = 1000 if FULL else 100
SECONDS = 20.0  # of CPU for twenty samples or fewer, where milliseconds are usual
# What may be refused, and the remedy that the message names.
REFUSALS = re.compile(
    r"scale the features|is infeasible: with classes this unequal|n_splits=2 cannot be greater than"
)


def fitted(problem):
    """Return the fitted model and whether it is content with itself; None if it refused, and said why."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The least populated class in y has only")  # of the folds
        start = time.process_time()
        try:
            model = problem.fit()
            prediction = model.predict(problem.X)
        except ValueError as error:
            assert type(error) is ValueError  # noqa: PT017
            assert REFUSALS.search(str(error)), f"problem {problem.number}: {error}"  # noqa: PT017
            return None, False
        finally:
            assert time.process_time() - start < SECONDS, f"problem {problem.number} takes too long"
    assert len(prediction) == len(problem.X)
    if hasattr(model, "classes_"):
        assert np.isin(prediction, model.classes_).all()
    else:
        assert np.isfinite(prediction).all()
    return model, not any(issubclass(w.category, ConvergenceWarning) for w in caught)


def has_nan(values):
    """Whether a number, an array or a list of arrays holds a nan."""
    if isinstance(values, list | tuple):
        return any(map(has_nan, values))
    return bool(np.isnan(values).any())


def verdicts(problem, model, converged):
    """What the judge says; nothing where double precision cannot hold the reference's numbers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return [v for v in judge(problem, model, converged) or () if v.decided]
        except (np.linalg.LinAlgError, ValueError):
            assert problem.kind in ("large", "one outlier", "far away"), problem.number
            return []


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_problems(group, figure):
    faults, refused, judged, wrongly, tried = [], 0, 0, 0, 0
    for number in range(FIRST + group, FIRST + PROBLEMS, GROUPS):
        problem = random_problem(number)
        tried += 1
        try:
            model, converged = fitted(problem)
        except Exception as error:
            faults.append(f"{number} {problem.estimator} ({problem.kind}): {type(error).__name__}: {error}")
            continue
        if model is None:
            refused += 1
            continue
        found = verdicts(problem, model, converged)
        judged += bool(found)
        wrong = [fault for verdict in found for fault in verdict.faults()]
        wrongly += bool(wrong)
        if wrong:
            faults.append(f"{number} {problem.estimator} ({problem.kind}): {wrong[0]}")
    sound = tried - len(faults)
    figure("Estimators", "problems fitted, or refused with a reason", tried, sound)
    figure("Estimators", "problems judged by independent bounds of the optimum", judged, judged - wrongly)
    figure("Estimators", "problems refused, with the remedy in the message", refused, refused)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("group", range(GROUPS))
def test_extreme_problems(group, figure):
    """C from 1e-8 to 1e12, values up to 1e308, tol and nu at their ends: no nan, no false certificate.

    The judge allows for the rounding of rows and costs; of a fit that warned that rounding leaves it no more
    digits, only the certificate is judged.
    """
    faults, tried, judged = [], 0, 0
    for number in range(FIRST + group, FIRST + EXTREME, GROUPS):
        problem = extreme_problem(number)
        tried += 1
        try:
            model, converged = fitted(problem)
        except Exception as error:
            faults.append(f"{number} {problem.estimator} ({problem.kind}): {type(error).__name__}: {error}")
            continue
        if model is None:
            continue
        found = verdicts(problem, model, converged)
        judged += bool(found)
        told = [fault for verdict in found for fault in verdict.faults()]
        wrong = [fault for fault in told if converged or "certifies" in fault]
        if problem.options.get("base") != "perceptron":  # whose gap nobody knows
            numbers = (getattr(model, name, 0.0) for name in ("dual_gap_", "objective_", "objective_path_"))
            wrong += ["nan"] * any(has_nan(number) for number in numbers)
        faults += [f"{number} {problem.estimator} ({problem.kind}): {wrong[0]}"] if wrong else []
    sound = tried - len(faults)
    detail = "C from 1e-8 to 1e12, values up to 1e308, tol and nu at their ends"
    figure("Estimators", "extreme problems fitted, or refused with a reason", tried, sound, detail)
    figure("Estimators", "extreme problems judged by independent bounds", judged, judged)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("estimator", sorted(LATER))
def test_random_problems_of_later_estimators(estimator):
    judged = 0
    for number in range(0, 40 * len(ESTIMATORS), 7):
        problem = random_problem(number, estimator)
        model, converged = fitted(problem)
        found = verdicts(problem, model, converged) if model is not None else []
        judged += bool(found)
        assert [fault for verdict in found for fault in verdict.faults()] == [], number
    assert judged > 40


def test_every_estimator_and_every_kind_of_data_takes_part():
    problems = [random_problem(number) for number in range(300)]
    assert {p.estimator for p in problems} == set(ESTIMATORS)
    assert {p.kind for p in problems} == set(KINDS)
    assert random_problem(7).options == random_problem(7).options
    np.testing.assert_array_equal(random_problem(7).X, random_problem(7).X)


@pytest.mark.parametrize(("number", "converges"), [(1104, True), (7359, False), (1494, False)])
def test_certificates_cover_margins_that_rounding_hides(number, converges):
    """DRM on samples a million times as long as what tells the classes apart: far away, of mixed scales."""
    problem = random_problem(number)
    model, converged = fitted(problem)
    assert converged is converges
    found = verdicts(problem, model, converged)
    assert len(found) == len(model.objective_)
    assert [fault for verdict in found for fault in verdict.faults()] == []
    for path, verdict in zip(model.objective_path_, found, strict=True):
        assert np.all(np.diff(path) <= 1e-6 * np.maximum(1.0, np.abs(path[1:])))  # rounds only descend
        assert path[-1] - model.dual_gap_ <= verdict.lower + 1e-9 * verdict.scale


@pytest.mark.parametrize("number", [3260, 4220, 5405, 7970])
def test_novelty_warns_when_kernel_values_leave_it_no_digits(number):
    """Once dual weights were nan, or scaled out of their bounds, for a gap of 0 that nobody had warned of."""
    problem = random_problem(number)
    model, converged = fitted(problem)
    assert not converged
    weights = model.dual_weights_
    assert weights.min() >= 0
    assert weights.max() <= (1 + 1e-9) / (model.nu * len(weights))
    assert abs(weights.sum() - 1) < 1e-9
    assert model.dual_gap_ >= 0


def test_machines_of_two_powers_are_no_longer_than_one():
    """Rank 6, values of a million: one machine was too long by what the last of its programs was off."""
    problem = random_problem(8364)
    model, _ = fitted(problem)
    K = model._kernel_matrix(problem.X.astype(float))
    assert all(np.einsum("it,ij,jt->t", D, K, D).max() <= 1 + 1e-9 for D in model.dual_coef_)


class TestJudge:
    """The judge convicts: a wrong weight, objective or certificate is a fault."""

    @pytest.mark.parametrize(
        ("attribute", "change", "word"),
        [
            ("weights_", lambda w: 1.5 * w, "states the objective"),
            ("objective_path_", lambda path: path - 1e-3, "states the objective"),
            ("dual_gap_", lambda gap: gap - 0.1, "is attained"),
        ],
    )
    def test_margin_methods(self, attribute, change, word):
        problem = next(
            p
            for p in map(random_problem, range(10_000))
            if p.estimator == "CGEns" and p.kind == "normal" and p.options["base"] == "stump"
            and p.options["n_rounds"] == 200 and len(p.X) > 10 and p.options["C"] == 1.0
        )  # fmt: skip
        model, converged = fitted(problem)
        (sound,) = judge(problem, model, converged)
        assert sound.faults() == []
        setattr(model, attribute, change(getattr(model, attribute)))
        (wrong,) = judge(problem, model, converged)
        assert any(word in fault for fault in wrong.faults())

    def test_boosting(self):
        problem = next(
            p
            for p in map(random_problem, range(10_000))
            if p.estimator == "AdaBoost" and p.options["base"] == "stump" and p.options["n_rounds"] > 3
            and len(p.X) > 10 and p.kind == "normal" and p.options["perfect"] != "alone"
        )  # fmt: skip
        model, _ = fitted(problem)
        assert not any(v.faults() for v in judge(problem, model, True))
        model.weights_ = 1.2 * model.weights_
        assert any(v.faults() for v in judge(problem, model, True))

    @pytest.mark.parametrize("q", [1, 2])
    def test_diversity_regularized_machine(self, q):
        problem = next(
            p
            for p in map(random_problem, range(10_000))
            if p.estimator == "DRM" and p.kind == "normal" and p.options["q"] == q
            and p.options["n_components"] > 1 and len(p.X) > 10 and p.options["mu"] > 0
        )  # fmt: skip
        model, converged = fitted(problem)
        assert not any(v.faults() for v in judge(problem, model, converged))
        gap, model.dual_gap_ = model.dual_gap_, -1e-3
        assert all("is attained" in v.faults()[0] for v in judge(problem, model, converged))
        model.dual_gap_, model.dual_coef_ = gap, 0.5 * model.dual_coef_
        assert any(v.faults() for v in judge(problem, model, converged))

    def test_a_gap_of_zero_far_away(self):
        """Once DRM stated it, for a kernel matrix whose rounding is as large as the squared margin."""
        problem = random_problem(7359)
        model, _ = fitted(problem)
        model.dual_gap_ = 0.0
        (wrong,) = judge(problem, model, True)
        assert any("is attained" in fault for fault in wrong.faults())


class TestReference:
    """The slow reference against cvxpy."""

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize(("norm", "p"), [("l2", 1), ("l2", 2), ("l1", 1)])
    def test_optimum(self, norm, p, seed):
        import cvxpy as cp

        rng = np.random.default_rng(seed)
        H, y = rng.normal(size=(12, 7)), np.where(rng.random(12) < 0.5, 1.0, -1.0)
        y[:2] = 1, -1
        intercept = ("none", "free", "penalized")[seed % 3]
        rows = hinge_rows(H, y, rng.uniform(0.1, 2.0, 12), intercept, p, positive=seed % 2 == 1)
        w, g = cp.Variable(rows.H.shape[1]), cp.Variable(rows.G.shape[1])
        loss = cp.pos(rows.r - rows.A @ w - (rows.G @ g if rows.G.shape[1] else 0.0)) ** p
        penalty = 0.5 * cp.sum_squares(w) if norm == "l2" else cp.norm1(w)
        bounds = [w[: rows.positive] >= 0] if rows.positive else []
        best = cp.Problem(cp.Minimize(penalty + rows.c @ loss), bounds).solve(solver="CLARABEL")
        lower, upper = (l2_bounds if norm == "l2" else l1_bounds)(rows)
        assert lower <= upper + 1e-9
        assert abs(lower - best) < 1e-6 * max(1.0, best)
        assert abs(upper - best) < 1e-6 * max(1.0, best)

    def test_box_qp_at_a_known_optimum(self):
        x, v = box_qp(np.eye(3), np.array([-2.0, 1.0, -0.5]), np.ones(3), np.zeros((0, 3)), np.zeros(0))
        np.testing.assert_allclose(x, [1.0, 0.0, 0.5], atol=1e-7)
        assert len(v) == 0

    @pytest.mark.parametrize("q", [1, 2])
    @pytest.mark.parametrize(("T", "mu"), [(1, 0.1), (2, 0.3), (4, 0.01)])
    def test_optimum_of_equal_machines(self, q, T, mu):
        import cvxpy as cp

        rng = np.random.default_rng(T)
        H, y = rng.normal(size=(12, 4)), np.repeat([1.0, -1.0], 6)
        w, rho = cp.Variable(4), cp.Variable()
        loss = cp.sum(cp.pos(rho - cp.multiply(y, H @ w)) ** q) / 12 - 0.4 * rho
        value = 2.0 * mu * (T - 1) * cp.sum_squares(w) + loss
        best = T * cp.Problem(cp.Minimize(value), [cp.norm(w) <= 1]).solve(solver="CLARABEL")
        lower, upper = drm_bounds(H, y, DRM(T, nu=0.4, mu=mu, q=q))
        assert lower - 1e-7 <= best <= upper + 1e-7
        assert upper - lower <= 1e-6
