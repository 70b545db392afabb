"""Certificates of fitted estimators, recomputed from the definition of each problem.

Each function takes a fitted model, its training data and the weights s of the samples. It checks that
``dual_weights_`` are feasible for the whole family of hypotheses, and returns the objective of the model
and the dual objective of the weights.
"""

import numpy as np

from kernsemble.masters.simplex_least_squares import simplex_codes
from support.reference_stumps import all_stumps, outputs

CLOSE = 1e-8  # what dual weights may miss a constraint by, relative


def certify(model, X, y, s):
    """Return the objective of the model, and a bound of all objectives."""
    used = s > 0  # the others are no samples at all
    V = np.moveaxis(model.dual_weights_, int(model.dual_weights_.shape[0] == 1), 0)
    assert len(V) == len(X)
    assert not V[~used].any()
    return PROBLEMS[type(model).__name__](model, X[used], y[used], s[used], used)


def cgens(model, X, y, s, used):
    return _hinge(model, X, y, s, model.dual_weights_[used], _stumps(X, constant=False))


def lpboost(model, X, y, s, used):
    return _hinge(model, X, y, s, model.dual_weights_[used], _stumps(X, constant=True), free=False)


def cg_boost(model, X, y, s, used):
    return _hinge(model, X, y, s, model.dual_weights_[used], _columns(model, X))


def _hinge(model, X, y, s, V, H, free=True):
    """Min |w|_1 or 1/2 |w|^2 + sum_i c_i hinge_i, added up over classes; the dual weights are u_i y_i."""
    several = len(model.classes_) > 2
    label = np.searchsorted(model.classes_, y)
    signs = np.where(label[:, None] == np.arange(len(model.classes_)), 1.0, -1.0)
    signs, cost = (signs, (model.C * s)[:, None]) if several else (signs[:, 1], model.C * s)
    slack = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    u, scores, w = signs * V, H.T @ V, model.weights_
    squared = getattr(model, "loss", "hinge") == "squared_hinge"
    assert u.min() >= 0.0
    assert squared or np.all(u <= cost * (1.0 + CLOSE))
    assert not free or np.all(np.abs(V.sum(axis=0)) <= CLOSE * u.sum(axis=0))
    if getattr(model, "norm", "l1" if not free else "l2") == "l1":
        assert np.abs(scores).max() <= 1.0 + CLOSE
        return np.abs(w).sum() + np.sum(cost * slack), u.sum()
    losses = np.sum(cost * (slack**2 if squared else slack))
    conjugate = np.sum(u**2 / (4.0 * cost)) if squared else 0.0
    return 0.5 * np.sum(w**2) + losses, u.sum() - 0.5 * np.sum(scores**2) - conjugate


def cgens_sls(model, X, y, s, used):
    """Min 1/2 |W|^2 + C/2 sum_i s_i |code_i - f_i|^2; scores are the inner products of f with the codes."""
    codes, U, H = simplex_codes(len(model.classes_)), model.dual_weights_[used], _stumps(X, constant=False)
    K, L = len(codes), codes[np.searchsorted(model.classes_, y)]
    scores, w = model.decision_function(X), model.weights_
    if K == 2:  # one score, that of the second class
        scores, w = np.column_stack([-scores, scores]), np.column_stack([-w, w])
    shrink = (K - 1) / K  # codes' codes = K / (K - 1) times the identity
    f = shrink * scores @ codes
    assert np.abs(U.sum(axis=0)).max() <= CLOSE * np.abs(U).sum()
    primal = 0.5 * shrink * np.sum(w**2) + 0.5 * model.C * s @ np.sum((L - f) ** 2, axis=1)
    squares = np.sum(U**2 / s[:, None]) / model.C
    return primal, np.sum(U * L) - 0.5 * np.sum((H.T @ U) ** 2) - 0.5 * squares


def multiboost(model, X, y, s, used):
    """Min |w|_1 + C/p sum_i s_i sum_k exp(F_k - F_y); three classes, a set of hypotheses each."""
    K, V, label = len(model.classes_), model.dual_weights_[used], np.searchsorted(model.classes_, y)
    F, wrong = model.decision_function(X), np.arange(K) != label[:, None]
    cost = (model.C or 1000.0 * (K - 1)) * np.repeat(s, K - 1) / ((K - 1) * s.sum())
    differences = (F - F[np.arange(len(y)), label][:, None])[wrong]
    dual = -V[wrong]
    np.testing.assert_allclose(V.sum(axis=1), 0.0, atol=1e-9)
    assert dual.min() >= 0.0
    assert np.abs(_stumps(X, constant=True).T @ V).max() <= 1.0 + CLOSE
    return model.weights_.sum() + cost @ np.exp(differences), np.sum(dual * (1.0 - np.log(dual / cost)))


def regressor(model, X, y, s, used):
    """Min 1/2 |w|^2 + sum_i c_i max(0, |y_i - f_i| - epsilon)."""
    V, cost = model.dual_weights_[used], model.C * s
    losses = np.maximum(0.0, np.abs(y - model.predict(X)) - model.epsilon)
    scores = _columns(model, X).T @ V
    assert np.all(np.abs(V) <= cost * (1.0 + CLOSE))
    assert abs(V.sum()) <= CLOSE * np.abs(V).sum()
    gain = y @ V - model.epsilon * np.abs(V).sum()
    return 0.5 * model.weights_ @ model.weights_ + cost @ losses, gain - 0.5 * scores @ scores


def novelty(model, X, y, s, used):
    """Min 1/2 |w|^2 - r + sum_i c_i max(0, r - f_i), w >= 0, c_i the share of a sample over nu."""
    V, cost, r = model.dual_weights_[used], s / (model.nu * s.sum()), model.offset_
    losses, scores = np.maximum(0.0, r - model.score_samples(X)), _columns(model, X).T @ V
    assert V.min() >= -CLOSE
    assert np.all(cost * (1.0 + CLOSE) >= V)
    assert abs(V.sum() - 1.0) <= CLOSE
    dual = -0.5 * np.sum(np.maximum(scores, 0.0) ** 2)
    return 0.5 * model.weights_ @ model.weights_ - r + cost @ losses, dual


def exrm(model, X, y, s, used):
    """Problem (5) of guo2017 for two classes; the dual weights are those of each component."""
    V, C, W = model.dual_weights_[0, used], model.n_components, model.components_[0]
    signs, cost = np.where(y == model.classes_[1], 1.0, -1.0), model.lam * s
    slack = np.maximum(0.0, 1.0 - signs[:, None] * (X @ W + model.component_intercepts_[0]))
    u, scores = signs * V, X.T @ V
    assert u.min() >= 0.0
    assert model.p == 2 or np.all(u <= cost * (1.0 + CLOSE))
    assert abs(V.sum()) <= CLOSE * u.sum()
    conjugate = np.sum(u**2 / (4.0 * cost)) if model.p == 2 else 0.0
    primal = 0.5 * np.sum(np.abs(W).sum(axis=1) ** 2) + cost @ np.sum(slack**model.p, axis=1)
    return primal, C * u.sum() - 0.5 * scores @ scores - C * conjugate


def drm(model, X, y, s, used):
    """Yu, Li and Zhou's machines for two classes, q = 1; the dual weights are those of one machine."""
    a, K, A = model.dual_weights_[0, used], X @ X.T + model.intercept_scaling**2, model.dual_coef_[0]
    signs, share, T = np.where(y == model.classes_[1], 1.0, -1.0), s / s.sum(), model.n_components
    assert (signs * a).min() >= 0.0
    assert np.all(signs * a <= share * (1.0 + CLOSE))
    assert abs((signs * a).sum() - model.nu) <= CLOSE
    products = A.T @ K @ A
    pairs = sum(products[t, t] + products[r, r] + 2 * products[t, r] for t in range(T) for r in range(t))
    losses = 0.0
    for margins in (signs[:, None] * (K @ A)).T:
        losses += min(-model.nu * rho + share @ np.maximum(0.0, rho - margins) for rho in margins)
    length, ridge = np.sqrt(a @ K @ a), 2.0 * model.mu * (T - 1)
    bound = -(length**2) / (4.0 * ridge) if length < 2.0 * ridge else ridge - length
    return model.mu * pairs + losses, T * bound


def _stumps(X, constant):
    return outputs(X, all_stumps(X, constant=constant))


def _columns(model, X):
    return np.hstack([kernel.matrix(X, X) for kernel in model.kernels_])


PROBLEMS = {
    "CGEns": cgens,
    "LPBoost": lpboost,
    "CGEnsSLS": cgens_sls,
    "MultiBoost": multiboost,
    "CGBoostClassifier": cg_boost,
    "CGBoostRegressor": regressor,
    "CGBoostNovelty": novelty,
    "ExRM": exrm,
    "DRM": drm,
}
