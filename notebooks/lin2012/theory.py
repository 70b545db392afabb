"""Trials on the paper's mathematics: its dual problem, and the stump that separates a class."""

from __future__ import annotations

from time import process_time

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.estimators.multiboost import MultiBoost
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.exponential import Exponential
from kernsemble.trials.trial import Trial
from lin2012.draws import Draw, draw
from lin2012.fits import Fitted, Snapshot
from lin2012.plan import paper

_SEPARATED = 1e6  # stands for an infinite weight


def few_of_each(data: Draw, n_points: int) -> Draw:
    """Return about n_points training samples, the same number of each class."""
    each = n_points // data.n_classes
    rows = [np.flatnonzero(data.labels == k)[:each] for k in range(data.n_classes)]
    return data.only(np.concatenate(rows))


@paper.trials("theorems", methods=("(2) and (3)",), datasets=("wine", "iris", "vehicle", "VOWEL"))
def duality(trial: Trial, *, dual_points: int, dual_rounds: int, dual_C: float) -> dict[str, float]:
    """The primal optimum against the dual objective (3a) at lambda of (5), and against (3) as printed."""
    data = few_of_each(draw(trial), dual_points)
    oracle, master = StumpOracle(data.X), Exponential(data.labels, dual_C, tol=1e-9)
    found = column_generation(oracle, master, dual_rounds, per_output=True)
    u, (n, K) = found.solution.u, (len(data.labels), data.n_classes)
    p = n * (K - 1)
    used = u[u > 0]
    dual = used @ (1.0 - np.log(p / dual_C) - np.log(used))
    sums = u.sum(axis=1) * p / dual_C
    H = oracle.collect(found.keys).outputs(data.X).astype(np.float64)
    return {
        "duality": abs(dual / found.solution.objective - 1.0),
        "excess_3c": sums.max() - 1.0,
        "share_3c": float(np.mean(sums > 1.0 + 1e-6)),
        "loss_3c": 1.0 - dual_with_3c(data.labels, H, np.array(found.outputs), dual_C)
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
        "error": fitted.errors(data.X_test, data.labels_test)[0],
        "train_error": fitted.errors(data.X, data.labels)[0],
        "perfect": len(perfect),
        "first": min(rounds) + 1 if rounds else 0,
        "frozen": frozen,
    }


def stagewise(
    data: Draw, n_rounds: int, C: float, *, exact: bool
) -> tuple[Fitted, list[tuple[int, int]], int]:
    """Run CW-1 with all pairs in sight; return it, where V_- was 0, and how many classes stopped learning."""
    n, K = len(data.labels), data.n_classes
    oracle, F = StumpOracle(data.X), np.zeros((n, K))
    keys, outputs, weights, perfect, frozen = [], [], [], [], np.zeros(K, dtype=bool)
    a = n * (K - 1) / (2 * C)
    for t in range(n_rounds):
        V = signed_weights(F, data.labels)
        for k, found in enumerate(oracle.best(V)):
            frozen[k] = not V[:, k].any()
            v = signed_weights(F, data.labels)[:, k] * found.column  # F changes from class to class
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
    model = MultiBoost(float(C), optimum_rounds, per_class=name == "CW", tol=optimum_tol)
    start = process_time()
    model.fit(data.X, data.labels)
    seconds = process_time() - start
    objective = model.objective_path_[-1]
    return {
        "objective": objective,
        "gap": model.dual_gap_ / objective,
        "rounds": model.n_rounds_,
        "learners": len(model.hypotheses_),
        "active": model.n_active_,
        "error": 100.0 * float(np.mean(model.predict(data.X_test) != data.labels_test)),
        "fit_seconds": seconds,
    }
