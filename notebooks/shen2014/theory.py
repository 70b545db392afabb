"""Trials that check the mathematics: claims 4.1 and 4.2, the dual solution, the limit over all stumps, the
incremental inverse of the appendix.
"""

from __future__ import annotations

import numpy as np

from kernsemble.column_generation import column_generation
from kernsemble.data.store import load
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.distance_svc import DistanceKernelSVC
from kernsemble.hypotheses._fixed_point import cut_bits
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.kernels import stump_kernel
from kernsemble.masters.base import Master
from kernsemble.masters.quadratic import Hinge
from kernsemble.masters.simplex_least_squares import SimplexLeastSquares
from kernsemble.trials.bench import Draw
from kernsemble.trials.trial import Trial
from shen2014.simplex_inverse import SimplexInverse
from shen2014.trials import BINARY_SETS, Result, StumpPool, draw, generating, machine, paper

EXACT = 1e-9  # relative gap of restricted problems here


@paper.trials("theorems", methods=("claim 4.1", "largest decrease"), datasets=("heart", "titanic", "twonorm"))
def gap_decrease(trial: Trial, *, n_candidates: int, n_steps: int, C: float) -> dict[str, float | np.ndarray]:
    """Column generation on few stumps; all of those that are left are tried out in each round.

    "claim 4.1" adds the column of the largest score, "largest decrease" the one whose addition lowers the
    objective most. identity: relative error of "gap = half the sum of squared scores", equation (9), against
    the objectives themselves. rank: place of the largest score among all by the decrease that follows, 1 the
    first. negation: largest difference between (6) on the set closed under negation and (8). objective:
    after each round.
    """
    data = draw(trial)
    H = _columns(data, n_candidates, trial.shared_seed("candidates"))
    chosen: list[int] = []
    u = np.full(len(data.y), 0.5 * C)
    objectives, ranks, identity, negation = [], [], [], []
    for _ in range(min(n_steps, H.shape[1] - 1)):  # titanic has few stumps
        scores = H.T @ cut_bits(u * data.y)
        left = np.setdiff1d(np.arange(H.shape[1]), chosen)
        trials = {j: _solve(data, H[:, [*chosen, j]], C) for j in left}
        lowered = np.array([trials[j].objective for j in left])
        by_score = left[np.abs(scores[left]).argmax()]
        ranks.append(1 + int((lowered < trials[by_score].objective * (1 - 10 * EXACT)).sum()))
        negation.append(abs(np.hstack([scores, -scores]).max() - np.abs(scores).max()))
        lowest = left[np.argmax(lowered <= lowered.min() * (1 + 10 * EXACT))]
        best = by_score if trial.method == "claim 4.1" else lowest
        chosen.append(int(best))
        solution = trials[best]
        u = solution.u
        scores = H.T @ (u * data.y)
        outside = np.setdiff1d(np.arange(H.shape[1]), chosen)
        dual = u.sum() - 0.5 * (scores**2).sum()  # of the whole problem, at this u
        gap = solution.gap + 0.5 * (scores[outside] ** 2).sum()
        identity.append(abs(solution.objective - dual - gap) / solution.objective)
        objectives.append(solution.objective)
    return {
        "identity": max(identity),
        "negation": max(negation),
        "rank": np.array(ranks),
        "objective": np.array(objectives),
    }


def _columns(data: Draw, n_candidates: int, seed: int) -> np.ndarray:
    """Return distinct columns of random stumps, one of each pair of signs, constants left out."""
    pool = StumpPool(data.X, n_hypotheses=n_candidates, random_state=seed)
    H = np.array(pool.collect([(j, 1) for j in range(n_candidates)]).outputs(data.X), dtype=np.float64)
    H = np.unique(H * H[0], axis=1)
    return H[:, np.abs(H.mean(axis=0)) < 1]


def _solve(data: Draw, columns: np.ndarray, C: float):
    master = Hinge(data.y, C, intercept="free", tol=EXACT, least_norm=True)
    for column in columns.T:
        master.add(np.ascontiguousarray(column, dtype=np.int8))
    return master.solve()


@paper.trials(
    "dual",
    methods=("any solution", "least norm"),
    datasets=("heart", "titanic", "thyroid", "twonorm"),
    together=True,
)
def dual_choice(trial: Trial, *, rounds: list[int], n_same: int, C: float) -> dict[str, dict]:
    """Column generation that prices with any dual solution of the hinge, or with the one of least norm.

    With few columns of -1 and +1 many rows are equal, and the dual has many solutions: the next stump then
    depends on the solver, unless a rule says which solution to take. curve: test errors after some numbers of
    rounds. same: share of the first rounds in which both rules choose the same stump.
    """
    data, results = draw(trial), {}
    for method in ("any solution", "least norm"):
        master = Hinge(data.y, C, intercept="free", tol=1e-4, least_norm=method == "least norm")
        results[method] = column_generation(
            StumpOracle(data.X, constant=False), master, max(rounds), tol=1e-4
        )
    first = [result.keys[:n_same] for result in results.values()]
    same = float(np.mean([a == b for a, b in zip(*first, strict=False)]))
    found = {}
    for method, result in results.items():
        path = [result.weights[min(T, len(result.weights)) - 1] for T in rounds]
        H = StumpOracle(data.X).collect(result.keys).outputs(data.X_test).astype(np.float64)
        errors = [data.error(H[:, : len(w)] @ w + b) for w, b in path]
        found[method] = {"curve": np.array(errors), "same": same}
    return found


@paper.trials("path", methods=("CGENS",), datasets=BINARY_SETS)
def to_infinity(
    trial: Trial, *, counts: list[int], n_folds: int, log2_C_path: list[int], tol_path: float
) -> Result:
    """CGENS against the machine whose kernel is the sum over ALL stumps of h(x) h(x').

    In ranks (cuts between neighboring values passed) that kernel is a constant minus twice the l1 distance.
    objective: that of the ensemble over that of the machine, minus 1. disagreement: share of test points
    where the two differ, in percent. error: test errors, last that of the machine.
    """
    data = draw(trial)
    in_ranks = Draw(ranks_of(data.X, data.X), data.y, ranks_of(data.X, data.X_test), data.y_test)
    C = machine(trial, in_ranks, all_stumps_kernel, log2_C_path, n_folds).best_C_
    limit = DistanceKernelSVC(all_stumps_kernel, C=C, tol=1e-6).fit(in_ranks.X, in_ranks.y)
    target = limit.decision_function(in_ranks.X_test)
    ensemble = generating(CGEns, tol_path)(data, C, counts)
    decisions = ensemble.scores(data.X_test)
    H = np.asarray(ensemble.hypotheses.outputs(data.X), dtype=np.float64)
    objectives = [_objective(H[:, : len(w)], w, b, data.y, C) for w, b in ensemble.weights]
    return {
        "objective": np.array(objectives) / limit.objective_[0] - 1.0,
        "disagreement": 100.0 * ((decisions > 0) != (target > 0)[:, None]).mean(axis=0),
        "error": np.array([*(data.error(s) for s in decisions.T), data.error(target)]),
        "C": C,
    }


def all_stumps_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return sum_h h(x) h(z) over all stumps, up to a constant, of points in ranks."""
    return 2.0 * stump_kernel(A, B)


def ranks_of(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return how many of the cuts midway between neighboring values of X each entry of Z lies above."""
    columns = []
    for values, entries in zip(X.T, Z.T, strict=True):
        distinct = np.unique(values)
        columns.append(np.searchsorted(0.5 * (distinct[1:] + distinct[:-1]), entries, side="left"))
    return np.column_stack(columns).astype(np.float64)


def _objective(H: np.ndarray, w: np.ndarray, b: float, y: np.ndarray, C: float) -> float:
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (H @ w + b)).sum())


@paper.trials("inverse", methods=("update (20)", "Cholesky"), datasets=("wine", "glass", "vehicle", "vowel"))
def incremental_inverse(trial: Trial, *, n_columns: int, C_sls: float) -> dict[str, float]:
    """CGENS-SLS by the printed inverse, and by J x J equations: their distance from solving (11) outright.

    difference: largest relative difference of W, b and U after all rounds. same: share of rounds in which
    both choose the same stump.
    """
    dataset = load(trial.dataset)
    rows = trial.shared_rng("rows").permutation(dataset.n_samples)[:400]
    X, labels = dataset.X[rows], np.unique(dataset.y[rows], return_inverse=True)[1]
    printed, ours = (
        column_generation(StumpOracle(X, constant=False), master(labels, C_sls), n_columns)
        for master in (SimplexInverse, SimplexLeastSquares)
    )
    result = printed if trial.method == "update (20)" else ours
    H = StumpOracle(X).collect(result.keys).outputs(X).astype(np.float64)
    return {
        "difference": _distance(result.solution, H, SimplexLeastSquares(labels, C_sls), labels),
        "same": float(np.mean([a == b for a, b in zip(printed.keys, ours.keys, strict=False)])),
    }


def _distance(solution, H: np.ndarray, master: Master, labels: np.ndarray) -> float:
    """Solve (11) outright, and return the largest relative difference."""
    L, ones = master.codes[labels], np.ones(len(labels))
    S = H @ H.T + np.eye(len(H)) / master.C
    solved = np.linalg.solve(S, np.column_stack([L, ones]))
    b = solved[:, :-1].sum(axis=0) / solved[:, -1].sum()
    U = solved[:, :-1] - np.outer(solved[:, -1], b)
    pairs = ((solution.w, H.T @ U), (solution.b, b), (solution.u, U))
    return max(float(np.abs(a - e).max() / np.abs(e).max()) for a, e in pairs)
