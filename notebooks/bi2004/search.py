"""Which kernels and which C the printed tables 3 and 4 point to, and what the paper says and does not run.

The search solves every row of the tables for some forms of the linear and of the quadratic kernel and a grid
of C: the 2-norm completely, the 1-norm to the certified gap. The facts compare all printed errors, counts
and ratios of test seconds with them. The other exhibits here: the mixture of the best reading by its
tolerance, columns of complete solutions of table 2, several columns an iteration (section 6.2), the cost of
the restricted problems in the primal and in the dual (section 3.2), a kernel that is not positive
semi-definite (section 2.3), and composite kernels whose weights a convex program finds (section 7).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.hypotheses.kernel_columns import KernelColumns
from kernsemble.hypotheses.kernel_library import CallableKernel, GaussianKernel, Kernel
from kernsemble.masters.base import Solution
from kernsemble.masters.kernel_hinge import kernel_hinge_path, solve_kernel_hinge
from kernsemble.masters.quadratic import HingeQP
from kernsemble.trials import bench
from kernsemble.trials.bench import seconds_of, timed
from kernsemble.trials.trial import Trial
from bi2004.small_sets import Loss, choose_cost, complete_models
from bi2004.trials import (
    CHOICES,
    KERNELS,
    MIXTURE,
    NORMS,
    SMALL_CHOICES,
    SMALL_SETS,
    TOLERANCES,
    Draw,
    LargeProtocol,
    Protocol,
    align_and_solve,
    columns_by_kernel,
    composite_scores,
    draw,
    fit_run,
    folds_of,
    make_library,
    model_scores,
    optimal_models,
    paper,
    percent_wrong,
    resolve,
    settings,
    small_set,
)

LINEAR_FORMS = ("raw", "per feature")
QUADRATIC_FORMS = ("(1 + xz/d)^2", "(xz/d)^2", "(1 + xz)^2")
# The best reading, chosen after the search: the forms, and one C for all rows of table 3.
BEST_FORMS = ("raw", "(1 + xz/d)^2")
BEST_C = 3.0
UNDIVIDED = QUADRATIC_FORMS[-1]  # solved for Q and the 2-norm only: its linear programs take minutes each

paper.exhibit(
    "search",
    "Forms of the kernels and C, for every row of tables 3 and 4",
    metrics=("train", "validation", "test", *KERNELS),
    timing=("test_seconds",),
)
paper.exhibit(
    "plain",
    "The 2-norm mixture with plain inner products, by its tolerance on tau",
    metrics=("rounds", "first_full_scan", "gap", "error", "train_error", *KERNELS),
    timing=("test_seconds",),
)
paper.exhibit("kept", "Columns of the complete solutions of table 2", metrics=("C_l", "C_r"))
paper.exhibit(
    "batches",
    "Several columns an iteration",
    metrics=("iterations", "objective", "error", *KERNELS),
    timing=("fit_seconds",),
)
paper.exhibit(
    "restarts",
    "The restricted problems, warm and cold, in the primal and in the dual",
    metrics=("steps_warm", "steps_cold", "apart"),
    timing=("seconds_warm", "seconds_cold", "seconds_dual_warm", "seconds_dual_cold"),
    tolerance={"apart": 1e-2},
)
paper.exhibit(
    "indefinite",
    "A kernel that is not positive semi-definite",
    metrics=("least", "gap", "rounds", "error"),
    tolerance={"gap": 1e-3},
)
paper.exhibit(
    "weights",
    "Kernel weights by convex programs beside the mixture",
    metrics=("error",),
    timing=("fit_seconds",),
)


# Forms of the kernels and C


def solved_row(norm: str, choice: str, linear: str, quadratic: str) -> str:
    """Return the name of a row of the tables, with the forms of those kernels that take part in it."""
    parts = (linear if "L" in choice else "", quadratic if "Q" in choice else "")
    return "; ".join(filter(None, (f"{norm}/{choice}", *parts)))


def _rows(quadratics: Sequence[str]) -> tuple[str, ...]:
    forms = [(linear, quadratic) for linear in LINEAR_FORMS for quadratic in quadratics]
    return tuple(dict.fromkeys(solved_row(n, c, *form) for n in NORMS for c in CHOICES for form in forms))


BOTH_SETS = _rows(QUADRATIC_FORMS[:1])
FOREST_ALONE = (
    *(row for row in _rows(QUADRATIC_FORMS[1:2]) if row not in BOTH_SETS),
    solved_row("2-norm", "Q", "", UNDIVIDED),
)


@paper.trials("search", methods=BOTH_SETS, datasets=("Forest", "Digits"))
@paper.trials("search", methods=FOREST_ALONE, datasets=("Forest",))
def rows_by_form(
    trial: Trial, *, large: LargeProtocol, search_Cs: dict[str, list[float]]
) -> dict[str, np.ndarray]:
    """Errors, columns by kernel and seconds of a test for each C: complete solutions, or runs to the gap."""
    row, *forms = trial.method.split("; ")
    norm, _, choice = row.partition("/")
    linear = [form for form in forms if form in LINEAR_FORMS]
    quadratic = [form for form in forms if form in QUADRATIC_FORMS]
    large = replace(
        large,
        linear_form=linear[0] if linear else large.linear_form,
        quadratic_form=quadratic[0] if quadratic else large.quadratic_form,
    )
    data, Cs = draw(trial, trial.dataset, large), search_Cs[trial.dataset]
    kernels = make_library(CHOICES[choice], large)
    solve = _complete if norm == "2-norm" else _generated
    found = [_described(data, *model) for model in solve(kernels, data, Cs, large)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def _complete(kernels: Sequence[Kernel], data: Draw, Cs: Sequence[float], large: LargeProtocol):
    """Return, for each C, how the complete solution scores and how many columns it has: all of them."""
    resolved = resolve(kernels, data.X)
    models = optimal_models(resolved, data.X, data.y, Cs, large.offset)
    counts = columns_by_kernel({kernel.name: len(data.y) for kernel in kernels})
    return [(partial(model_scores, resolved, data.X, model), counts) for model in models]


def _generated(kernels: Sequence[Kernel], data: Draw, Cs: Sequence[float], large: LargeProtocol):
    """Return, for each C, how the 1-norm run scores and its columns."""
    runs = [fit_run(kernels, data, C, large, norm="l1") for C in Cs]
    return [(run.decision_function, columns_by_kernel(run.n_columns_)) for run in runs]


def _described(data: Draw, score, counts: dict[str, int]) -> dict[str, float]:
    parts = {
        "train": (data.X, data.y),
        "validation": (data.X_val, data.y_val),
        "test": (data.X_test, data.y_test),
    }
    return {
        **{name: percent_wrong(score(Z), z) for name, (Z, z) in parts.items()},
        **{name: float(count) for name, count in counts.items()},
        "test_seconds": round(seconds_of(score, data.X_test, clock=time.process_time), 5),
    }


PLAIN_TAUS = (10.0, 3.0, 1.0, 0.1, 1e-6)


@paper.trials("plain", methods=tuple(f"tau = {tau:g}" for tau in PLAIN_TAUS), datasets=("Forest",))
def mixture_of_plain_products(trial: Trial, *, large: LargeProtocol, plain_C: float) -> dict[str, float]:
    """The stratified mixture until no column scores more than tau (TR2), or 1000 columns are in."""
    large = replace(large, linear_form="raw")
    data = draw(trial, trial.dataset, large)
    tau = float(trial.method.removeprefix("tau = "))
    run = fit_run(make_library(CHOICES[MIXTURE], large), data, plain_C, large, tau=tau)
    return {
        "rounds": float(run.n_rounds_),
        "first_full_scan": float(run.termination_rounds_["TR1"] or 0),
        "gap": float(run.relative_gap_),
        "error": percent_wrong(run.decision_function(data.X_test), data.y_test),
        "train_error": percent_wrong(run.decision_function(data.X), data.y),
        **{name: float(count) for name, count in columns_by_kernel(run.n_columns_).items()},
        "test_seconds": seconds_of(run.decision_function, data.X_test, repeats=3, clock=time.process_time),
    }


# Columns of the complete solutions of table 2


@paper.trials("kept", methods=tuple(SMALL_CHOICES), datasets=SMALL_SETS)
def columns_kept(trial: Trial, *, protocol: Protocol, n_folds: int) -> dict[str, np.ndarray]:
    """Mean numbers of linear and RBF columns over the folds whose weight exceeds each tolerance."""
    X, y = small_set(trial.dataset)
    folds = folds_of(trial, len(y), n_folds)
    kernels = make_library(SMALL_CHOICES[trial.method], protocol)
    first, solve = folds[0][0], partial(complete_models, Loss(protocol.offset))
    C = choose_cost(solve, kernels, X[first], y[first], protocol.Cs, n_folds)
    counts = {"linear": [], "rbf": []}
    for train, _ in folds:
        ((alphas, _),) = solve(resolve(kernels, X[train]), X[train], y[train], [C])
        above = [np.sum(np.abs(alpha) > np.array(TOLERANCES)[:, None], axis=1) for alpha in alphas]
        for name, rows in counts.items():
            parts = [count for kernel, count in zip(kernels, above, strict=True) if name in kernel.name]
            rows.append(sum(parts, np.zeros(len(TOLERANCES))))
    return {"C_l": np.mean(counts["linear"], axis=0), "C_r": np.mean(counts["rbf"], axis=0)}


# Several columns an iteration

BATCHES = (1, 3, 10)
PRINTED_COLUMNS = 852  # 676 + 173 + 3, table 3


@paper.trials("batches", methods=tuple(f"{k} an iteration" for k in BATCHES), datasets=("Forest",))
def several_columns(trial: Trial, *, large: LargeProtocol, batches_C: float) -> dict[str, float]:
    """Add the k best columns that Algorithm 5.1 finds in each iteration, until there are as many as printed.

    Seconds: those of the restricted problems and of one scan an iteration.
    """
    data, k = draw(trial, trial.dataset, large), int(trial.method.split()[0])
    kernels = make_library(CHOICES[MIXTURE], large)
    oracle = KernelColumns(data.X, kernels, stratified=True, tau=large.tau, bound=batches_C)
    master = HingeQP(data.y, batches_C, intercept=large.offset, tol=1e-6)
    solution, keys, iterations, seconds = master.solve(), [], 0, 0.0
    while len(keys) < PRINTED_COLUMNS:
        V, start = master.pricing_weights(), time.process_time()
        for place in range(min(k, PRINTED_COLUMNS - len(keys))):
            (found,) = oracle.best(V)
            seconds += time.process_time() - start if place == 0 else 0.0
            master.add(found.column)
            oracle.exclude(found.key)
            keys.append(found.key)
        start = time.process_time()
        solution = master.solve()
        seconds, iterations = seconds + time.process_time() - start, iterations + 1
    model = oracle.collect(keys)
    return {
        "iterations": float(iterations),
        "objective": float(solution.objective),
        "error": percent_wrong(model.decision(data.X_test, solution.w, solution.b), data.y_test),
        **{name: float(count) for name, count in columns_by_kernel(model.counts(solution.w)).items()},
        "fit_seconds": seconds,
    }


# The restricted problems, warm and cold, in the primal and in the dual

RESTART_AT = (25, 50, 100, 200)  # columns at which the cost is read
RESTART_NUMBERS = (
    *("steps_warm", "steps_cold", "apart"),
    *("seconds_warm", "seconds_cold", "seconds_dual_warm", "seconds_dual_cold"),
)
_PRIMAL_GAP, _DUAL_VIOLATION = 1e-4, 1e-3


@paper.trials("restarts", methods=("primal and dual",), datasets=("Forest",))
def cost_of_restricted_problems(
    trial: Trial, *, large: LargeProtocol, batches_C: float
) -> dict[str, np.ndarray]:
    """Solve the restricted problems of one run again: warm from the last, and cold at some of them.

    The primal by Newton steps, the dual by pairs of variables on H H'. apart: the larger primal objective
    over the smaller, of the two.
    """
    data = draw(trial, trial.dataset, large)
    run = fit_run(make_library(CHOICES[MIXTURE], large), data, batches_C, large, n_rounds=RESTART_AT[-1])
    H, y = run.hypotheses_.outputs(data.X), data.y
    options = {"intercept": "free", "tol": _PRIMAL_GAP}
    master, beta, K = HingeQP(y, batches_C, **options), np.zeros(len(y)), np.zeros((len(y), len(y)))
    master.solve()
    rows = []
    for t, column in enumerate(H.T, start=1):
        start = time.process_time()
        master.add(np.ascontiguousarray(column))
        warm = master.solve()
        warm_seconds, start = time.process_time() - start, time.process_time()
        K += np.outer(column, column)
        dual = solve_kernel_hinge(K, y, batches_C, start=beta, tol=_DUAL_VIOLATION)
        beta, dual_seconds = dual.w, time.process_time() - start
        if t in RESTART_AT:
            start = time.process_time()
            cold = HingeQP(y, batches_C, H=np.ascontiguousarray(H[:, :t]), **options).solve()
            cold_seconds, start = time.process_time() - start, time.process_time()
            solve_kernel_hinge(H[:, :t] @ H[:, :t].T, y, batches_C, tol=_DUAL_VIOLATION)
            seconds = (warm_seconds, cold_seconds, dual_seconds, time.process_time() - start)
            both = warm.objective, dual.objective
            rows.append((warm.n_iter, cold.n_iter, max(both) / min(both) - 1.0, *seconds))
    return dict(zip(RESTART_NUMBERS, np.array(rows, dtype=float).T, strict=True))


# A kernel that is not positive semi-definite


def tanh_kernel(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return tanh(xz / d - 1), the sigmoid kernel; its matrix has negative eigenvalues."""
    return np.tanh(X @ Z.T / X.shape[1] - 1.0)


INDEFINITE = {f"{norm}, {name}": (norm, name) for name in ("tanh", "RBF") for norm in NORMS}


@paper.trials("indefinite", methods=tuple(INDEFINITE), datasets=SMALL_SETS)
def without_semi_definiteness(trial: Trial, *, protocol: Protocol, indefinite_C: float) -> dict[str, float]:
    """Train on two thirds of a small set; least: the least eigenvalue over the largest size of one."""
    X, y = small_set(trial.dataset)
    train, held = folds_of(trial, len(y), 3)[0]
    norm, name = INDEFINITE[trial.method]
    kernel = (CallableKernel(tanh_kernel) if name == "tanh" else GaussianKernel()).resolve(X[train])
    options = {"norm": NORMS[norm], "intercept": protocol.offset, "tau": protocol.tau, "tol": protocol.gap}
    model = CGBoostClassifier([kernel], C=indefinite_C, n_rounds=len(train), **options).fit(
        X[train], y[train]
    )
    eigenvalues = np.linalg.eigvalsh(kernel.matrix(X[train], X[train]))
    return {
        "least": float(eigenvalues[0] / np.abs(eigenvalues).max()),
        "gap": float(model.relative_gap_),
        "rounds": float(model.n_rounds_),
        "error": percent_wrong(model.predict(X[held]), y[held]),
    }


# Composite kernels whose weights are found first, beside the mixture


def semidefinite_weights(matrices: Sequence[np.ndarray], y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """Weights of any sign with a positive semi-definite sum of the trace of all; and the program's value.

    Lanckriet et al., Learning the kernel matrix with semidefinite programming (2004), 1-norm soft margin: the
    value is twice that of the machine with the best such kernel.
    """
    import cvxpy  # only this trial needs it, and the next

    traces = np.array([np.trace(K) for K in matrices])
    mu, bound, shift = cvxpy.Variable(len(matrices)), cvxpy.Variable(), cvxpy.Variable()
    above, below = cvxpy.Variable(len(y), nonneg=True), cvxpy.Variable(len(y), nonneg=True)
    G = sum(mu[p] * (K * np.outer(y, y)) for p, K in enumerate(matrices))
    edge = cvxpy.reshape(1.0 + above - below + shift * y, (len(y), 1), order="F")
    corner = cvxpy.reshape(bound - 2.0 * C * cvxpy.sum(below), (1, 1), order="F")
    constraints = [cvxpy.bmat([[G, edge], [edge.T, corner]]) >> 0, traces @ mu == traces.sum()]
    value = cvxpy.Problem(cvxpy.Minimize(bound), constraints).solve(solver=cvxpy.CLARABEL)
    return np.asarray(mu.value), float(value)


def conic_weights(matrices: Sequence[np.ndarray], y: np.ndarray, C: float) -> tuple[np.ndarray, float]:
    """Weights that are not negative: the multipliers of a quadratically constrained program; its value."""
    import cvxpy

    traces = np.array([np.trace(K) for K in matrices])
    dual, bound = cvxpy.Variable(len(y)), cvxpy.Variable()
    roots = [np.sqrt(np.maximum(values, 0.0)) * vectors for values, vectors in map(np.linalg.eigh, matrices)]
    below = [
        cvxpy.sum_squares(root.T @ cvxpy.multiply(y, dual)) <= trace * bound
        for root, trace in zip(roots, traces, strict=True)
    ]
    goal = cvxpy.Minimize(traces.sum() * bound - 2.0 * cvxpy.sum(dual))
    value = cvxpy.Problem(goal, [*below, dual >= 0, dual <= C, y @ dual == 0]).solve(solver=cvxpy.CLARABEL)
    return np.concatenate([np.ravel(constraint.dual_value) for constraint in below]), -float(value)


Program = Callable[[Sequence[np.ndarray], np.ndarray, float], tuple[np.ndarray, float]]
MIXTURES = {f"{norm} mixture": NORMS[norm] for norm in NORMS}
WEIGHTS: dict[str, Program | None] = {
    "semidefinite program": semidefinite_weights,
    "conic program": conic_weights,
    "alignment": None,
}


@paper.trials("weights", methods=(*MIXTURES, *WEIGHTS), datasets=SMALL_SETS)
def kernel_weights(
    trial: Trial, *, protocol: Protocol, weights_points: int, weights_C: float
) -> dict[str, float]:
    """Train on a few rows, test on all others: a mixture, or a composite with its weights.

    Seconds: those of the mixture to its gap, or of the weights and of the machine that has them.
    """
    X, y = small_set(trial.dataset)
    train, held = np.split(trial.shared_rng("points").permutation(len(y)), [weights_points])
    data = bench.Draw(X[train], y[train], X[held], y[held])
    kernels = make_library(SMALL_CHOICES["mixture"], protocol)
    if trial.method in MIXTURES:
        options = settings(protocol, norm=MIXTURES[trial.method], n_rounds=len(kernels) * len(train))
        fit = partial(CGBoostClassifier(kernels, C=weights_C, **options).fit, data.X, data.y)
    else:
        resolved = resolve(kernels, data.X)
        fit = partial(weigh_and_solve, WEIGHTS[trial.method], resolved, data, weights_C)
    fit()  # compiled and imported before the clock starts
    model, seconds = timed(fit)
    if trial.method in MIXTURES:
        scores = model.decision_function(data.X_test)
    else:
        scores = composite_scores(resolved, model[0], data.X, model[1], data.X_test)
    return {"error": percent_wrong(scores, data.y_test), "fit_seconds": seconds}


def weigh_and_solve(
    program: Program | None, kernels: Sequence[Kernel], data: bench.Draw, C: float
) -> tuple[np.ndarray, Solution]:
    """Return weights by a program, or by alignment, and the machine of the weighted sum."""
    if program is None:
        mu, path = align_and_solve(kernels, data, [C])
    else:
        matrices = [kernel.matrix(data.X, data.X) for kernel in kernels]
        mu, _ = program(matrices, data.y, C)
        path = kernel_hinge_path(sum(m * K for m, K in zip(mu, matrices, strict=True)), data.y, [C])
    return mu, path[0]
