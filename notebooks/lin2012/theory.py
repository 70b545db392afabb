"""Trials of lin2012 on its mathematics and its solvers: duality, separating stumps, figure 6, accuracy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from time import process_time

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.exponential import Exponential
from kernsemble.masters.exponential_solvers import ExponentialState, LimitedMemory
from kernsemble.trials.bench import Draw, percent_wrong, seconds_of, timed
from kernsemble.trials.trial import Trial
from lin2012.trials import (
    Fitted,
    Recorder,
    Row,
    Snapshot,
    TimedMaster,
    TimedStumps,
    as_row,
    draw,
    generate,
    n_classes_of,
    paper,
    shared,
    warm_up,
)

# Its dual problem, and the stump that separates a class

_SEPARATED = 1e6  # stands for an infinite weight


def few_of_each(data: Draw, n_points: int) -> Draw:
    """Return about n_points training samples, the same number of each class."""
    each = n_points // n_classes_of(data)
    rows = [np.flatnonzero(data.y == k)[:each] for k in range(n_classes_of(data))]
    return data.only(np.concatenate(rows))


@paper.trials("theorems", methods=("(2) and (3)",), datasets=("wine", "iris", "vehicle", "VOWEL"))
def duality(trial: Trial, *, dual_points: int, dual_rounds: int, dual_C: float) -> dict[str, float]:
    """The primal optimum against the dual objective (3a) at lambda of (5), and against (3) as printed."""
    data = few_of_each(draw(trial), dual_points)
    oracle, master = StumpOracle(data.X), Exponential(data.y, dual_C, tol=1e-9)
    found = column_generation(oracle, master, dual_rounds, per_output=True)
    u, (n, K) = found.solution.u, (len(data.y), n_classes_of(data))
    p = n * (K - 1)
    used = u[u > 0]
    dual = used @ (1.0 - np.log(p / dual_C) - np.log(used))
    sums = u.sum(axis=1) * p / dual_C
    H = oracle.collect(found.keys).outputs(data.X).astype(np.float64)
    return {
        "duality": abs(dual / found.solution.objective - 1.0),
        "excess_3c": sums.max() - 1.0,
        "share_3c": float(np.mean(sums > 1.0 + 1e-6)),
        "loss_3c": 1.0 - dual_with_3c(data.y, H, np.array(found.outputs), dual_C)
        / found.solution.objective,
    }  # fmt: skip


def dual_with_3c(labels: np.ndarray, H: np.ndarray, outputs: np.ndarray, C: float) -> float:
    """Solve (3) as printed, with (3c), by a general-purpose solver for cones."""
    import cvxpy  # only this trial needs it

    i, y = np.nonzero(labels[:, None] != np.arange(labels.max() + 1))
    D = H[i] * ((labels[i][:, None] == outputs).astype(float) - (y[:, None] == outputs))
    p, rows = len(i), i == np.arange(len(labels))[:, None]
    lam = cvxpy.Variable(p)  # in units of C / p
    constraints = [D.T @ lam <= p / C, rows.astype(float) @ lam <= 1]
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.sum(lam) + cvxpy.sum(cvxpy.entr(lam))), constraints)
    return C / p * float(problem.solve(solver=cvxpy.CLARABEL))


@paper.trials("separated", methods=("(12)", "(13)"), datasets=("wine", "iris", "segment", "VOWEL"))
def separated(trial: Trial, *, stagewise_C: float, separated_rounds: int) -> dict[str, float]:
    """CW-1 with the exact step, or with (13), whose weight is infinite where V_- = 0."""
    data = draw(trial)
    fitted, perfect, frozen = stagewise(data, separated_rounds, stagewise_C, exact=trial.method == "(12)")
    rounds = [t for t, _ in perfect]
    return {
        "error": fitted.errors(data.X_test, data.y_test)[0],
        "train_error": fitted.errors(data.X, data.y)[0],
        "perfect": len(perfect),
        "first": min(rounds) + 1 if rounds else 0,
        "frozen": frozen,
    }


def stagewise(
    data: Draw, n_rounds: int, C: float, *, exact: bool
) -> tuple[Fitted, list[tuple[int, int]], int]:
    """Run CW-1 with all pairs in sight; return it, where V_- was 0, and how many classes stopped learning."""
    n, K = len(data.y), n_classes_of(data)
    oracle, F = StumpOracle(data.X), np.zeros((n, K))
    keys, outputs, weights, perfect, frozen = [], [], [], [], np.zeros(K, dtype=bool)
    a = n * (K - 1) / (2 * C)
    for t in range(n_rounds):
        V = signed_weights(F, data.y)
        for k, found in enumerate(oracle.best(V)):
            frozen[k] = not V[:, k].any()
            v = signed_weights(F, data.y)[:, k] * found.column  # F changes from class to class
            plus, minus = v[v > 0].sum(), -v[v < 0].sum()
            if plus - minus <= 2 * a:
                continue
            if minus == 0:
                perfect.append((t, k))
            keys.append(found.key)
            outputs.append(k)
            weights.append(step_of(plus, minus, a, exact))
            F[:, k] += weights[-1] * found.column
    snapshot = Snapshot(np.array(weights), 0.0, 0.0, 0.0)
    fitted = Fitted(oracle.collect(keys), keys, np.array(outputs), K, [snapshot], n_rounds)
    return fitted, perfect, int(frozen.sum())


def signed_weights(F: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return V in units of C / p: minus mu of (15) in the wrong classes, and its sum in the right one."""
    own = labels[:, None] == np.arange(F.shape[1])
    mu = np.where(own, 0.0, np.exp(F - F[own][:, None]))
    return np.where(own, mu.sum(axis=1)[:, None], -mu)


def step_of(plus: float, minus: float, a: float, exact: bool) -> float:
    """Return the weight by (12) in its stable form, or by (13)."""
    if exact:
        return float(np.log(plus / (np.sqrt(plus * minus + a * a) + a)))
    return 0.5 * float(np.log(plus / minus)) if minus > 0 else _SEPARATED


OPTIMA = tuple(f"{name}, C = {C}" for C in (100, 1000) for name in ("CW", "MultiBoost"))


@paper.trials("optimum", methods=OPTIMA, datasets=("wine", "iris", "vehicle", "segment", "VOWEL"))
def optimum(trial: Trial, *, optimum_rounds: int, optimum_tol: float) -> dict[str, float]:
    """Column generation until the duality gap over all stumps is small."""
    data = draw(trial)
    name, _, C = trial.method.partition(", C = ")
    model = MultiBoost(C=float(C), n_rounds=optimum_rounds, per_class=name == "CW", tol=optimum_tol)
    _, seconds = timed(model.fit, data.X, data.y)
    objective = model.objective_path_[-1]
    return {
        "objective": objective,
        "gap": model.dual_gap_ / objective,
        "rounds": model.n_rounds_,
        "learners": len(model.hypotheses_),
        "active": model.n_active_,
        "error": percent_wrong(model.predict(data.X_test), data.y_test),
        "fit_seconds": seconds,
    }


# Solvers: figure 6, seconds against accuracy, and which coordinates to pick

COORDINATE_DESCENTS = ("FCD 1", "FCD 2", "FCD 5", "FCD 10")
FIGURE6 = (*COORDINATE_DESCENTS, "L-BFGS-B", "Newton")
FIGURE6_SETS = ("VOWEL", "USPS", "SCENE15", "wine")


def solver_options(method: str, eps: float, limit: float) -> dict:
    """Return the options of the master for a method of figure 6."""
    if method == "Newton":
        return {"solver": "newton", "tol": 1e-2}
    if method == "L-BFGS-B":
        return {"solver": "lbfgsb", "max_iter": 15_000, "limit": limit}
    return {"solver": "fcd", "eps": eps, "tau_max": int(method.split()[1])}


def certified(data: Draw, fitted: Fitted, places: Sequence[int], C: float, tol: float) -> np.ndarray:
    """Return by how much the objective exceeds the optimum over the columns it had, at some snapshots."""
    H = fitted.hypotheses.outputs(data.X)
    master, added, excess = Exponential(data.y, C, tol=tol), 0, []
    for place in places:
        snapshot = fitted.snapshots[place]
        for j in range(added, len(snapshot.w)):
            master.add(H[:, j], int(fitted.outputs[j]))
        added = len(snapshot.w)
        solution = master.solve()
        excess.append(max(snapshot.objective / (solution.objective - 0.5 * solution.gap) - 1.0, 0.0))
    return np.array(excess)


@paper.trials("figure6", methods=FIGURE6, datasets=FIGURE6_SETS, together=True)
def solvers(
    trial: Trial,
    *,
    checkpoints: list[int],
    exact_points: list[int],
    figure6_C: float,
    eps: float,
    exact_tol: float,
    lbfgsb_limit: float,
) -> dict[str, dict[str, np.ndarray | float]]:
    """MultiBoost-cw with each solver: objective and seconds against iterations, excess at some of them."""
    data = draw(trial)
    warm_up(str(data.X.dtype))
    places = [checkpoints.index(point) for point in exact_points]
    rows = {}
    for method in FIGURE6:
        options = solver_options(method, eps, lbfgsb_limit)
        fitted = generate(data, checkpoints, C=figure6_C, random_state=trial.seed(), **options)
        late = "late_" if method == "L-BFGS-B" else ""  # where it ends depends on the machine
        rows[method] = {
            f"{late}objective": fitted.path("objective"),
            f"{late}excess": certified(data, fitted, places, figure6_C, exact_tol),
            f"{late}active": fitted.active[-1],
            f"{late}rounds": fitted.rounds,
            "seconds_curve": fitted.path("seconds").round(4),
            "solver_curve": fitted.path("solver_seconds").round(4),
        }
    return rows


@paper.trials("unlimited", methods=("L-BFGS-B", "Newton"), datasets=("wine", "VOWEL"), together=True)
def unlimited(trial: Trial, *, checkpoints: list[int], figure6_C: float) -> dict[str, Row]:
    """MultiBoost by both solvers, all rounds of them: does it matter by which one its errors are judged?"""
    data = draw(trial)
    warm_up(str(data.X.dtype))
    rows = {}
    for method, options in (("L-BFGS-B", {"limit": math.inf}), ("Newton", {})):
        fitted = shared(data, figure6_C, checkpoints, **options)
        row = as_row(fitted, data)
        rows[method] = {name: row[name] for name in ("error", "curve", "rounds", "seconds_curve")}
        rows[method]["objective"] = fitted.snapshots[-1].objective
    return rows


Rounds = list[list[tuple[np.ndarray, int]]]


def generated_columns(data: Draw, C: float, n_rounds: int) -> tuple[Rounds, np.ndarray]:
    """Return the columns that each round of an exact CW adds, with classes, and the optimum after each."""
    oracle = StumpOracle(data.X)
    master = Exponential(data.y, C, tol=1e-8)
    found = column_generation(oracle, master, n_rounds, per_output=True, keep_weights=False)
    H = oracle.collect(found.keys).outputs(data.X)
    ends = [0, *(entry.n_columns for entry in found.rounds)]
    columns = [[(H[:, j], found.outputs[j]) for j in range(a, b)] for a, b in pairwise(ends)]
    return columns, found.path("objective") - found.path("gap")


def racer(method: str, labels: np.ndarray, C: float, accuracy: float) -> Exponential:
    """Return a master whose own rules do not end a round before the accuracy is reached."""
    if method == "FCD":
        return Exponential(labels, C, solver="fcd", eps=0.1 * accuracy**0.5, tau_max=2000)
    if method == "Newton":
        return Exponential(labels, C, solver="newton", tol=0.1 * accuracy)
    master = Exponential(labels, C, solver="lbfgsb")
    master._solver = LimitedMemory(master.state, max_iter=100_000, ftol=0.0, gtol=0.0)
    return master


def race(master: Exponential, columns: Rounds, optima: np.ndarray, accuracy: float, limit: float) -> float:
    """Return the solver's seconds to bring each round within the accuracy of its optimum; inf if late."""
    seconds = 0.0
    for new, optimum in zip(columns, optima, strict=True):
        for column, output in new:
            master.add(column, output)
        start = process_time()
        if master.state.objective > (1 + accuracy) * optimum:
            master.solve((1 + accuracy) * optimum)
        seconds += process_time() - start
        if seconds > limit or master.state.objective > (1 + 1.001 * accuracy) * optimum:
            return math.inf
    return seconds


ROUGH = ("L-BFGS-B, 1e-1", "L-BFGS-B, 1e-3", "L-BFGS-B, 1e-5")
TOLERANCES = ("FCD 1", "FCD 2", *ROUGH, "L-BFGS-B", "Newton")


class RoughMaster(TimedMaster):
    """The master of problem (2) by L-BFGS-B, ended by a relative decrease of the objective."""

    def __init__(self, labels: np.ndarray, C: float, ftol: float) -> None:
        super().__init__(labels, C, solver="lbfgsb")
        self._solver = LimitedMemory(self.state, ftol=ftol)


@paper.trials("tolerances", methods=TOLERANCES, datasets=FIGURE6_SETS, together=True)
def tolerances(
    trial: Trial, *, tolerance_points: list[int], figure6_C: float, eps: float, lbfgsb_limit: float
) -> dict[str, dict[str, np.ndarray | float]]:
    """What figure 6 does, with L-BFGS-B at several tolerances; all values depend on the machine's speed."""
    data, rows = draw(trial), {}
    warm_up(str(data.X.dtype))
    for method in TOLERANCES:
        if method in ROUGH:
            master = RoughMaster(data.y, figure6_C, float(method.split()[1]))
            fitted = rounds_of(master, data, tolerance_points, lbfgsb_limit)
        else:
            options = solver_options(method, eps, lbfgsb_limit)
            fitted = generate(data, tolerance_points, C=figure6_C, random_state=trial.seed(), **options)
        rows[method] = {
            "late_objective": fitted.path("objective"),
            "late_rounds": fitted.rounds,
            "late_error": fitted.errors(data.X_test, data.y_test)[-1],
            "seconds_curve": fitted.path("seconds").round(4),
        }
    return rows


def rounds_of(master: TimedMaster, data: Draw, points: Sequence[int], limit: float) -> Fitted:
    """Fit CW with a master that is given, as ``generate`` does."""
    start, oracle = process_time(), TimedStumps(data.X)
    recorder = Recorder(master, set(points), start, limit)
    options = {"per_output": True, "repeat": True, "keep_weights": False, "callback": recorder}
    result = column_generation(oracle, master, max(points), **options)
    T = len(result.rounds)
    recorder.take(result, T)
    snapshots = [recorder.snapshots[min(point, T)] for point in points]
    outputs, found = np.array(result.outputs, dtype=np.intp), oracle.collect(result.keys)
    return Fitted(found, result.keys, outputs, n_classes_of(data), snapshots, T)


@paper.trials("searches", methods=("CW", "MultiBoost"), together=True)
def searches(
    trial: Trial, *, figure6_C: float, search_rounds: int, repeats: int
) -> dict[str, dict[str, float]]:
    """Seconds of one search for all classes, by our search and by one that looks at every cut."""
    data, rows = draw(trial), {}
    oracle, plain = StumpOracle(data.X), PlainSearch(data.X)
    for name in ("CW", "MultiBoost"):
        master = Exponential(data.y, figure6_C, per_class=name == "CW", tol=1e-2)
        column_generation(oracle, master, search_rounds, per_output=master.per_class, repeat=True)
        V = cut_bits(master.pricing_weights())
        rows[name] = {
            f"{how}_seconds": seconds_of(search, V, repeats=repeats, clock=process_time)
            for how, search in (("bounded", oracle.best), ("plain", plain.best))
        }
    return rows


class PlainSearch:
    """The search (4) over all stumps without any bound: every cut of every feature, for all classes."""

    def __init__(self, X: np.ndarray) -> None:
        self._orders = [np.argsort(column, kind="stable") for column in X.T]
        self._ends = [
            np.append(np.diff(column[order]) != 0, True)
            for column, order in zip(X.T, self._orders, strict=True)
        ]

    def best(self, V: np.ndarray) -> np.ndarray:
        """Return the largest score of each class."""
        whole, best = V.sum(axis=0), np.abs(V.sum(axis=0))
        for order, ends in zip(self._orders, self._ends, strict=True):
            below = np.cumsum(V[order], axis=0)[ends]
            np.maximum(best, np.abs(whole - 2.0 * below).max(axis=0), out=best)
        return best


@paper.trials("accuracy", methods=("Newton", "L-BFGS-B", "FCD"), together=True)
def accuracy(
    trial: Trial, *, figure6_C: float, accuracies: list[float], race_rounds: int, race_limit: float
) -> dict[str, dict[str, np.ndarray]]:
    """Seconds for all rounds at each accuracy, from rough to fine; a method stops where it is late."""
    data = draw(trial)
    warm_up(str(data.X.dtype))
    columns, optima = generated_columns(data, figure6_C, race_rounds)
    rows = {}
    for method in ("Newton", "L-BFGS-B", "FCD"):
        seconds = []
        for value in accuracies:
            master = racer(method, data.y, figure6_C, value)
            seconds.append(race(master, columns, optima, value, race_limit))
            if math.isinf(seconds[-1]):
                seconds.pop()
                break
        rows[method] = {"reached": len(seconds), "seconds_curve": np.array(seconds).round(4)}
    return rows


PICKS = ("violated ones", "any", "in turn")


@paper.trials("picks", methods=PICKS)
def picks(
    trial: Trial, *, figure6_C: float, eps: float, pick_rounds: int, most_picks: int
) -> dict[str, float]:
    """Mean number of single-coordinate updates a round until no violation exceeds eps, from warm starts.

    The first pass goes over the new variables, as in algorithm 2. After it each check of the violations is
    followed by as many picks as there are violated variables: among these, among all, or all in turn.
    """
    data, random = draw(trial), trial.rng()
    columns, _ = generated_columns(data, figure6_C, pick_rounds)
    state, counts = ExponentialState(data.y, n_classes_of(data), figure6_C), []
    for new in columns:
        order = np.concatenate([state.append(column, np.array([k])) for column, k in new])
        counts.append(_settle(state, order, trial.method, eps, most_picks, random))
    return {"updates": float(np.mean(counts)), "objective": state.objective}


def _settle(state: ExponentialState, order: np.ndarray, method: str, eps: float, most: int, random) -> int:
    """Update coordinates until no violation exceeds eps; return how many were updated."""
    count, place = 0, 0
    while True:
        state.coordinate_pass(order)
        count += len(order)
        violated = np.flatnonzero(state.violations(state.scores()) > eps)
        if not len(violated) or count >= most:
            return count
        if method == "violated ones":
            order = random.choice(violated, len(violated))
        elif method == "any":
            order = random.integers(len(state.w), size=len(violated))
        else:
            order = (place + np.arange(len(violated))) % len(state.w)
            place = int(order[-1]) + 1
