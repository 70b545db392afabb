"""Judge a fit to a small problem by what was not used to find it.

``judge(problem, model)`` returns one or more ``Verdict``: the objective that the model states and the one its
predictions have, the gap that it states, and two independent bounds of the optimum over ALL hypotheses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernsemble.column_generation import StopReason
from kernsemble.estimators._single_fit import class_signs
from kernsemble.kernels import stump_kernel
from kernsemble.masters.kernel_hinge import pair_signs
from kernsemble.masters.simplex_least_squares import simplex_codes
from support.nu_bounds import best_margin, drm_bounds, soft_margin_loss
from support.random_problems import Problem
from support.reference_stumps import all_stumps, outputs
from support.slow_reference import Rows, hinge_rows, l1_bounds, l2_bounds, tube_rows

DONE = (StopReason.NOTHING_MISSING.value, StopReason.GAP_REACHED.value)
# Kernel values above this are rounded so coarsely that objectives, which are small differences of their
# multiples, are not known to the digits judged here; neither side can certify anything.
LARGEST = 1e7


@dataclass(frozen=True)
class Verdict:
    """What was stated and what is true."""

    stated: float  # objective by the model's own account
    gap: float  # gap by the model's own account
    attained: float  # objective of the model's predictions
    lower: float  # no objective is below this
    upper: float  # this objective is attained by the reference
    tol: float  # relative gap that the model promises; inf: none
    scale: float  # what rounding is relative to

    @property
    def decided(self) -> bool:
        """Whether the reference is good enough to judge by."""
        return self.upper - self.lower <= 1e-3 * max(self.scale, abs(self.upper))

    def faults(self, rounding: float = 1e-6) -> list[str]:
        """Name what is wrong."""
        slack = rounding * max(self.scale, abs(self.attained), abs(self.upper))
        found = []
        if not abs(self.stated - self.attained) <= slack:
            found.append(f"states the objective {self.stated:.9g}, but it is {self.attained:.9g}")
        if not self.attained >= self.lower - slack:
            found.append(f"objective {self.attained:.9g} below the bound {self.lower:.9g}")
        if not self.stated - self.gap <= self.upper + slack:
            found.append(f"certifies {self.stated - self.gap:.9g}, but {self.upper:.9g} is attained")
        doubt = max(0.0, self.upper - self.lower)
        if (
            np.isfinite(self.tol)
            and not self.attained - self.lower <= self.tol * abs(self.attained) + doubt + slack
        ):
            found.append(f"gap {self.attained - self.lower:.3g} of {self.attained:.6g}, tol={self.tol:g}")
        return found


def judge(problem: Problem, model: Any, converged: bool) -> list[Verdict] | None:
    """Return verdicts; None where no reference exists (an infinite family of hypotheses)."""
    if problem.options.get("base", "stump") != "stump":
        return None
    judged = {
        "CGEns": _cgens,
        "CGEnsSLS": _simplex,
        "LPBoost": _lpboost,
        "MultiBoost": _multiboost,
        "CGBoostClassifier": _cg_boost,
        "CGBoostRegressor": _cg_boost,
        "CGBoostNovelty": _cg_boost,
        "DistanceKernelSVC": _kernel_machines,
        "DistanceKernelSVCCV": _kernel_machines,
        "DistanceKernelSVR": _kernel_regression,
        "ExRM": _exrm,
        "DRM": _drm,
        **dict.fromkeys(_PRICES, _stagewise),
    }[problem.estimator]
    return judged(problem, model, converged)


def _training(problem: Problem, model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with a weight, labels as numbers of classes, weights."""
    weight = np.ones(len(problem.X)) if problem.sample_weight is None else problem.sample_weight
    kept = weight > 0
    labels = np.searchsorted(model.classes_, problem.y) if hasattr(model, "classes_") else problem.y
    return problem.X[kept], np.asarray(labels)[kept], weight[kept]


def _stump_pool(X: np.ndarray, constant: bool) -> np.ndarray:
    return outputs(X, all_stumps(X, constant))


def _ends(model: Any, converged: bool) -> bool:
    return converged and model.message_ in DONE


def _cgens(problem: Problem, model: Any, converged: bool) -> list[Verdict]:
    X, labels, weight = _training(problem, model)
    y, c = 2.0 * labels - 1.0, model.C * weight
    p = 2 if model.loss == "squared_hinge" else 1
    H = _stump_pool(X, model.intercept == "none")
    lower, upper = l2_bounds(hinge_rows(H, y, c, model.intercept, p))
    loss = c @ np.maximum(0.0, 1.0 - y * model.decision_function(X)) ** p
    penalty = 0.5 * np.sum(model.weights_**2) + (0.5 * model.intercept_**2) * (model.intercept == "penalized")
    stated = model.objective_path_[-1] if model.n_rounds_ else penalty + loss
    tol = model.tol if _ends(model, converged) else np.inf
    return [Verdict(stated, model.dual_gap_, penalty + loss, lower, upper, tol, _epsilon_effect(c))]


def _epsilon_effect(c: np.ndarray) -> float:
    """Scale of objectives: that of w = 0, which scores below epsilon = 1e-6 cannot improve by much.

    Outputs of order 1 are rounded at 1e-12 or so, which costs of 1e8 and more make visible.
    """
    return min(1.0, float(c.sum())) + 1e-5 * float(c.sum()) + 1e-4


def _lpboost(problem: Problem, model: Any, converged: bool) -> list[Verdict]:
    X, labels, weight = _training(problem, model)
    y, c = 2.0 * labels - 1.0, model.C * weight
    H = _stump_pool(X, model.intercept == "none")
    lower, upper = l1_bounds(hinge_rows(H, y, c, model.intercept))
    loss = c @ np.maximum(0.0, 1.0 - y * model.decision_function(X))
    attained = np.abs(model.weights_).sum() + abs(model.intercept_) * (model.intercept == "penalized") + loss
    stated = model.objective_path_[-1] if model.n_rounds_ else attained
    tol = 1e-5 if _ends(model, converged) else np.inf
    return [Verdict(stated, model.dual_gap_, attained, lower, upper, tol, _epsilon_effect(c))]


def _simplex(problem: Problem, model: Any, converged: bool) -> list[Verdict]:
    X, labels, weight = _training(problem, model)
    K = len(model.classes_)
    codes = simplex_codes(K)
    H = _stump_pool(X, False)
    center = np.average(codes[labels], axis=0, weights=weight)
    L = codes[labels] - center
    Hc = H - np.average(H, axis=0, weights=weight)
    root = np.sqrt(model.C * weight)[:, None]
    R, T = root * Hc, root * L
    ridge = np.vstack([R, np.eye(R.shape[1])])
    W = np.linalg.lstsq(ridge, np.vstack([T, np.zeros((R.shape[1], T.shape[1]))]), rcond=None)[0]
    dual = T - R @ W
    upper = 0.5 * float(np.sum(dual**2) + np.sum(W**2))
    lower = float(np.sum(T * dual)) - 0.5 * float(np.sum(dual**2) + np.sum((R.T @ dual) ** 2))
    scores = np.atleast_2d(model.decision_function(X).T).T
    f = scores if K == 2 else scores @ codes * (K - 1) / K
    f = f * codes[1, 0] if K == 2 else f
    own = model.weights_[:, None] if K == 2 else model.weights_ @ codes * (K - 1) / K
    attained = 0.5 * np.sum(own**2) + 0.5 * model.C * float(weight @ np.sum((codes[labels] - f) ** 2, axis=1))
    stated = model.objective_path_[-1] if model.n_rounds_ else attained
    tol = model.tol if _ends(model, converged) else np.inf
    scale = min(1.0, float(model.C * weight.sum()))
    return [Verdict(stated, model.dual_gap_, attained, lower, upper, tol, scale)]


def _multiboost(problem: Problem, model: Any, converged: bool) -> list[Verdict]:
    X, labels, weight = _training(problem, model)
    K, H = len(model.classes_), _stump_pool(X, True)
    scores = model.decision_function(X)
    F = scores if scores.ndim == 2 else np.column_stack([np.zeros(len(X)), scores])
    share = model.C / ((K - 1) * weight.sum()) * weight
    own = np.arange(K) == labels[:, None]
    with np.errstate(over="ignore"):
        U = np.where(own, 0.0, share[:, None] * np.exp(F - F[np.arange(len(X)), labels][:, None]))
    V = np.where(own, U.sum(axis=1, keepdims=True), -U)
    largest = max(1.0, float(np.abs(H.T @ V).max(initial=0.0)))
    scaled = U / largest
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(scaled > 0, scaled * (1.0 - np.log(scaled / share[:, None])), 0.0)
    lower = float(terms.sum())
    stated = model.objective_path_[-1] if model.n_rounds_ else float(U.sum())
    attained = stated if K == 2 else float(np.abs(model.weights_).sum() + U.sum())
    tol = model.tol if _ends(model, converged) and model.solver == "newton" else np.inf
    upper = max(lower, attained)
    return [Verdict(stated, model.dual_gap_, attained, lower, upper, 2 * tol, min(1.0, model.C))]


def _cg_boost(problem: Problem, model: Any, converged: bool) -> list[Verdict] | None:
    X, labels, weight = _training(problem, model)
    X = X.astype(float)
    y = 2.0 * labels - 1.0 if problem.estimator == "CGBoostClassifier" else labels.astype(float)
    H = np.hstack([kernel.matrix(X, X) for kernel in model.kernels_])
    if np.abs(H).max() > LARGEST:
        return None
    rows, g = _cg_rows(model, H, y, weight, problem.estimator)
    lower, upper = (l2_bounds if model.norm == "l2" else l1_bounds)(rows)
    penalized = model.intercept == "penalized"
    w = np.append(model.weights_, model.intercept_) if penalized else model.weights_
    f = model.hypotheses_.decision(X, model.weights_) + (model.intercept_ if penalized else 0.0)
    if np.isnan(g).any():
        g[1] = best_margin(y * (f + g[0]), model.nu)
    attained = (0.5 * w @ w if model.norm == "l2" else np.abs(w).sum()) + rows.losses(f, g)
    stated = model.objective_path_[-1] if model.n_rounds_ else attained
    tol = max(model.tol, 1e-5) if converged and model.message_ == StopReason.GAP_REACHED.value else np.inf
    rounded = 1e-14 * rows.c @ np.resize(_sizes(model, X), len(rows.c)) / 1e-6
    scale = _epsilon_effect(rows.c) + rounded
    return [Verdict(stated, model.dual_gap_, attained, lower, upper, tol, scale)]


def _sizes(model: Any, X: np.ndarray) -> np.ndarray:
    """What the output at each sample is rounded relative to: the sum of its terms without their signs."""
    return np.abs(model.hypotheses_.outputs(X)) @ np.abs(model.weights_) + np.abs(model.intercept_)


def _cg_rows(model: Any, H: np.ndarray, y: np.ndarray, weight: np.ndarray, name: str):
    """Return the problem, and the model's values of its unpenalized columns."""
    n, positive, nu = len(H), model.positive, getattr(model, "nu", None)
    if name == "CGBoostNovelty":
        G, share = -np.ones((n, 1)), np.full(n, 1 / (nu * n))
        rows = Rows(H, np.ones(n), G, -np.ones(1), np.zeros(n), share, 1, H.shape[1] * positive)
        return rows, np.array([model.offset_])
    if name == "CGBoostClassifier" and nu is not None:
        G, share = np.column_stack([y, -np.ones(n)]), np.full(n, 1 / n)
        rows = Rows(H, y, G, np.array([0.0, -nu]), np.zeros(n), share, 1, H.shape[1] * positive)
        return rows, np.array([model.intercept_, np.nan])
    if name == "CGBoostClassifier":
        rows = hinge_rows(H, y, model.C * weight, model.intercept, positive=positive)
        return rows, np.full(rows.G.shape[1], model.intercept_)
    epsilon = 0.0 if nu is not None else model.epsilon
    rows = tube_rows(H, y, model.C * weight, epsilon, model.intercept, positive)
    if nu is None:
        return rows, np.full(rows.G.shape[1], model.intercept_)
    G = np.hstack([rows.G, np.ones((2 * n, 1))])
    return replace(rows, G=G, q=np.array([0.0, model.C * nu * n])), np.array(
        [model.intercept_, model.epsilon_]
    )


def _kernel_machines(problem: Problem, model: Any, converged: bool) -> list[Verdict] | None:
    X, labels, weight = _training(problem, model)
    X = X.astype(float)
    K = model._kernel(X, X)
    if np.abs(K).max() > LARGEST:
        return None
    if model.kernel != "gaussian":  # positive definite on vectors that sum to zero: center it
        center = np.eye(len(X)) - 1.0 / len(X)
        K = center @ K @ center
    values, vectors = np.linalg.eigh(K)
    H = vectors * np.sqrt(np.maximum(values, 0.0))
    C = getattr(model, "best_C_", None) or model.C
    scores = model._decisions(X).T
    pairs = len(model.classes_) > 2 and model.multi_class == "ovo"
    signs = (pair_signs if pairs else class_signs)(labels, len(model.classes_))
    verdicts = []
    for k, y in enumerate(signs):
        part = y != 0
        lower, upper = l2_bounds(hinge_rows(H[part], y[part], (C * weight)[part], "free"))
        dual = np.zeros(len(X))
        dual[model.support_] = model.dual_coef_[k]
        losses = np.maximum(0.0, 1.0 - y * scores[k])[part]
        attained = 0.5 * dual @ K @ dual + (C * weight)[part] @ losses
        gap = model.dual_gap_
        tol = np.inf
        stated = model.objective_[k]
        verdicts.append(
            Verdict(stated, gap, attained, lower, upper, tol, _epsilon_effect((C * weight)[part]))
        )
    return verdicts


def _kernel_regression(problem: Problem, model: Any, converged: bool) -> list[Verdict] | None:
    """The tube with the stump kernel; the norm by shapes, column by column."""
    X, y, weight = _training(problem, model)
    X, c = X.astype(float), model.C * weight
    K = stump_kernel(X)
    if np.abs(K).max() > LARGEST:
        return None
    center = np.eye(len(X)) - 1.0 / len(X)
    values, vectors = np.linalg.eigh(center @ K @ center)
    H = vectors * np.sqrt(np.maximum(values, 0.0))
    lower, upper = l2_bounds(tube_rows(H, y, c, model.epsilon, "free"))
    slopes = [np.diff(s.values[:, 0]) ** 2 / (4.0 * np.diff(s.knots)) for s in model.shape_functions_]
    losses = np.maximum(0.0, np.abs(y - model.predict(X)) - model.epsilon)
    attained = sum(part.sum() for part in slopes) + c @ losses
    tol = model.tol if converged else np.inf
    scale = _epsilon_effect(c) * max(1.0, np.abs(y).max())
    return [Verdict(model.objective_, model.dual_gap_, attained, lower, upper, tol, scale)]


def _exrm(problem: Problem, model: Any, converged: bool) -> list[Verdict]:
    X, labels, weight = _training(problem, model)
    X, T = X.astype(float), model.n_components
    verdicts = []
    for k, y in enumerate(class_signs(labels, len(model.classes_))):
        lower, upper = (
            T**2 * b for b in l2_bounds(hinge_rows(X, y, model.lam / T * weight, "free", model.p))
        )
        W, b = model.components_[k], model.component_intercepts_[k]
        slack = np.maximum(0.0, 1.0 - y[:, None] * (X @ W + b))
        attained = 0.5 * np.sum(np.abs(W).sum(axis=1) ** 2) + model.lam * weight @ (slack**model.p).sum(
            axis=1
        )
        tol = {"exact": 1e-6, "admm": 1e-5, "printed": np.inf}[model.solver] if converged else np.inf
        tol = max(tol, model.tol or 0.0)  # another than usual was asked for
        tol *= max(1.0, 1.0 / max(attained, 1e-300))  # the gap is relative to max(1, objective)
        scale = _epsilon_effect(model.lam * weight)
        verdicts.append(Verdict(model.objective_[k], model.dual_gap_, attained, lower, upper, tol, scale))
    return verdicts


def _drm(problem: Problem, model: Any, converged: bool) -> list[Verdict]:
    """The optimum is T times that of one machine (see ``masters.drm``), which `drm_bounds` encloses."""
    X, labels, _ = _training(problem, model)
    T, K = model.n_components, model._kernel_matrix(X.astype(float))
    values, vectors = np.linalg.eigh(K)
    H = vectors * np.sqrt(np.maximum(values, 0.0))
    verdicts = []
    for k, y in enumerate(class_signs(labels, len(model.classes_))):
        lower, upper = drm_bounds(H, y, model)
        D = model.dual_coef_[k]
        P = D.T @ K @ D
        attained = model.mu * ((T - 2) * np.trace(P) + P.sum())
        for margins in (y[:, None] * (K @ D)).T:
            attained += soft_margin_loss(margins, model.nu, model.q)
        # rounded to 1e-14 of their terms without signs: margins, and the lengths that may not exceed 1
        sizes = np.abs(K) @ np.abs(D)
        noise, longer = 1e-14 * sizes.max(axis=0), 1e-14 * np.sum(np.abs(D) * sizes, axis=0).max()
        if model.q == 2:
            noise = noise * (1.0 + noise + 2.0 * np.abs(K @ D).max(axis=0))
        rounded = noise.sum() + longer * abs(attained)
        scale = min(1.0, T * np.sqrt(K.diagonal().max())) + rounded / 1e-6
        tol = np.sqrt(model.tol) * max(1.0, 1.0 / max(abs(attained), 1e-300)) if converged else np.inf
        verdicts.append(Verdict(model.objective_[k], model.dual_gap_, attained, lower, upper, tol, scale))
    return verdicts


def _stagewise(problem: Problem, model: Any, converged: bool) -> list[Verdict] | None:
    """Each round's hypothesis must err least of all stumps, on the weights that its predecessors leave."""
    X, labels, weight = _training(problem, model)
    K = len(model.classes_)
    if K == 2 and problem.estimator != "AdaBoost":
        return None  # one score stands for two: the votes are gone
    pool, chosen = _stump_pool(X, True), model.hypotheses_.outputs(X).astype(float)
    own = labels[:, None] == np.arange(K)
    verdicts, step = [], len(chosen.T) // max(1, model.n_rounds_)
    for t in range(model.n_rounds_):
        rows = slice(t * step, (t + 1) * step)
        V = _PRICES[problem.estimator](model, chosen, own, weight, t, step)
        total = np.abs(V).sum(axis=0)
        best = np.abs(pool.T @ V)
        if problem.estimator == "AdaBoostMH":
            V_best, V_own = best.sum(axis=1).max() / total.sum(), np.abs(chosen[:, t] @ V).sum() / total.sum()
        else:
            V_best, V_own = best.max(axis=0) / total, np.abs(np.sum(chosen[:, rows] * V, axis=0)) / total
        stated = np.atleast_1d(model.errors_[t])
        for s, a, b in zip(stated, np.atleast_1d(V_own), np.atleast_1d(V_best), strict=True):
            error, least = 0.5 - 0.5 * a, 0.5 - 0.5 * b
            verdicts.append(Verdict(s, 0.0, error, least, least, 0.0, 1.0))
    return verdicts


def _decayed(prior: np.ndarray, margins: np.ndarray, axis: int | None = 0) -> np.ndarray:
    return prior * np.exp(margins.min(axis=axis, keepdims=True) - margins)


def _adaboost_price(model, chosen, own, weight, t, step):
    y = np.where(own[:, 1], 1.0, -1.0)
    margins = y * (chosen[:, :t] @ model.weights_[:t])
    return (_decayed(weight, margins) * y)[:, None]


def _mo_price(model, chosen, own, weight, t, step):
    Y = model.code_[own.argmax(axis=1)]
    margins = np.zeros(Y.shape)
    for s in range(step):
        rows = np.arange(s, t * step, step)
        k = int(np.flatnonzero(model.code_[:, s] > 0)[0])
        margins[:, s] = Y[:, s] * (chosen[:, rows] @ model.weights_[rows, k])
    return _decayed(weight[:, None], margins) * Y


def _mh_price(model, chosen, own, weight, t, step):
    Y = np.where(own, 1.0, -1.0)
    return _decayed(weight[:, None], Y * (chosen[:, :t] @ model.weights_[:t]), None) * Y


def _ecc_price(model, chosen, own, weight, t, step):
    F = chosen[:, :t] @ model.weights_[:t]
    margins = np.where(own, np.inf, 0.5 * (F[own][:, None] - F))
    D = np.where(own, 0.0, weight[:, None]) * np.exp(margins.min() - margins)
    colors = np.sign(model.weights_[t])
    y = own @ colors
    return ((D * (colors != y[:, None])).sum(axis=1) * y)[:, None]


_PRICES = {
    "AdaBoost": _adaboost_price,
    "AdaBoostECC": _ecc_price,
    "AdaBoostMH": _mh_price,
    "AdaBoostMO": _mo_price,
}
