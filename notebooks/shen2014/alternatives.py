"""Trials of shen2014 under other readings than the declared ones: what explains a difference, and what not.

- ``fresh``: table II with 2000 perceptrons or cosines drawn anew in each round.
- ``intercept``: a free, a penalized, or no intercept, for CGENS and LPBoost on all stumps. A free one gives
  the dual the constraint y'alpha = 0, so it changes which stump is priced highest, not only where f is cut.
- ``samples``: generated sets drawn anew in each run; ``realisations``: ten splits of the benchmark.
- ``splice``: other forms of that set. ``real_votes``: AdaBoost.MH with stumps that vote with real numbers.

Each was declared after the printed values and the first results were known, and says so where it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kernsemble.data.generators import ringnorm, twonorm, waveform
from kernsemble.data.ida import IDA_SIZES
from kernsemble.data.scaling import zscore
from kernsemble.data.store import load
from kernsemble.estimators.cgens import CGEns
from kernsemble.estimators.lpboost import LPBoost
from kernsemble.hypotheses._fixed_point import clear_ties, cut_bits
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.kernels import gaussian_kernel
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials.bench import Draw, fitted, percent_wrong, powers_of_two
from kernsemble.trials.trial import Trial
from shen2014.classes import multiclass_draw
from shen2014.trials import (
    BINARY_SETS,
    OFFICIAL_LABELS,
    UCI_SETS,
    Cosines,
    Fit,
    Perceptrons,
    Result,
    Search,
    Selection,
    Stages,
    Widths,
    boosting,
    choose_width,
    draw,
    errors_at,
    family_of,
    folds_of,
    generating,
    machine,
    paper,
    search,
)

paper.exhibit(
    "fresh",
    "Table II with a fresh pool of 2000 in each round",
    metrics=("error", "error_selected", "C", "rounds"),
)

# Of a linear program with several solutions the processor decides which weights are found.
paper.exhibit(
    "intercept",
    "A free, a penalized, or no intercept, on all stumps",
    metrics=("curve", "exchanged", "imbalance"),
    tolerance={"imbalance": 1e-9},
    parting=("LPBoost, free", "LPBoost, penalized", "LPBoost, none"),
)
paper.exhibit("samples", "Generated sets: splits of one sample, and new samples", metrics=("divided", "anew"))
paper.exhibit("realisations", "Kernel machines on ten splits of the benchmark", metrics=("error",))
paper.exhibit("splice", "Five forms of splice", metrics=("error", "error_500", "C"))
paper.exhibit("real_votes", "AdaBoost.MH with votes that are real numbers", metrics=("error", "curve"))

FRESH_PERCEPTRONS = ("perceptron:AdaBoost", "perceptron:LPBoost", "perceptron:CGENS")


def fresh_ensembles(trial: Trial, perceptrons: Perceptrons, tol: float) -> dict[str, Fit]:
    """Return how each ensemble of perceptrons is fitted to one training set: all see the same pools."""
    family = family_of(trial, f"perceptrons {perceptrons.thresholds} fresh", perceptrons.pool_size, record=[])
    family["random_state"] = np.random.default_rng(family["random_state"])
    fits = (boosting(**family), generating(LPBoost, tol, **family), generating(CGEns, tol, **family))
    return dict(zip(FRESH_PERCEPTRONS, fits, strict=True))


@paper.trials("fresh", methods=FRESH_PERCEPTRONS, datasets=BINARY_SETS, together=True)
def fresh_perceptrons(
    trial: Trial,
    *,
    selection: Selection,
    perceptrons: Perceptrons,
    log2_C: list[int],
    log2_C_lp: list[int],
    tol: float,
) -> dict[str, Result]:
    """AdaBoost, LPBoost and CGENS on perceptrons, C by cross-validation after all rounds."""
    data, rounds = draw(trial), selection.rounds
    grids = dict(zip(FRESH_PERCEPTRONS, ([0], log2_C_lp, log2_C), strict=True))
    correct = {name: np.zeros((len(grid), len(rounds)), dtype=np.int64) for name, grid in grids.items()}
    for fold in folds_of(trial, data.y, selection.n_folds):
        for name, fit in fresh_ensembles(trial, perceptrons, tol).items():
            correct[name] += search(fit, data, [fold], powers_of_two(grids[name]), rounds).correct
    fits, results = fresh_ensembles(trial, perceptrons, tol), {}
    for name, grid in grids.items():
        results[name] = _read(fits[name], data, Search(powers_of_two(grid), rounds, correct[name]))
    return results


def _read(fit: Fit, data: Draw, found: Search) -> Result:
    """Return the error after all rounds (C selected), and that with the rounds selected too."""
    last, best = found.best(len(found.rounds) - 1), found.best()
    errors = errors_at(fit, data, found.rounds, [last, best])
    return {
        "error": errors[last],
        "error_selected": errors[best],
        "C": last[0],
        "rounds": found.rounds[best[1]],
    }


def side_by_side(
    trial: Trial, data: Draw, parts: Sequence[np.ndarray], Cs: Sequence[float], rounds: Sequence[int],
    gamma: float, size: int, tol: float,
) -> list[list[Stages]]:  # fmt: skip
    """Grow CGENS on some parts of the training rows, each for all values of C: a list of C's for each part.

    All see the same fresh pool of cosines in a round, which costs more to draw than to search: it is drawn
    once, over all rows; those outside of a part have no weight. The pricing of `column_generation`: weights
    are cut to 30 bits.
    """
    pool = FourierPool(
        data.X, gamma=gamma, n_hypotheses=size, fresh=True, random_state=trial.shared_seed("pool")
    )
    cells = [(rows, C) for rows in parts for C in Cs]
    masters = [Hinge(data.y[rows], C, intercept="free", tol=0.5 * tol, least_norm=True) for rows, C in cells]
    keys, weights = [[] for _ in cells], [[] for _ in cells]
    V = np.zeros((len(data.y), len(cells)))
    for t in range(1, max(rounds) + 1):
        for k, (rows, _) in enumerate(cells):
            V[rows, k] = cut_bits(masters[k].pricing_weights())
        for k, candidate in enumerate(pool.best(V)):
            masters[k].add(candidate.column[cells[k][0]])
            keys[k].append(candidate.key)
            solution = masters[k].solve()
            if t in rounds:
                weights[k].append((solution.w, solution.b))
    grown = [Stages(pool.collect(chosen), path) for chosen, path in zip(keys, weights, strict=True)]
    return [grown[k : k + len(Cs)] for k in range(0, len(grown), len(Cs))]


@paper.trials("fresh", methods=("fourier:CGENS",), datasets=BINARY_SETS)
def fresh_cosines(
    trial: Trial, *, selection: Selection, cosines: Cosines, widths: Widths, tol: float
) -> Result:
    """CGENS on cosines of the width that the Gaussian machine has chosen, C by cross-validation."""
    data, rounds = draw(trial), selection.rounds
    folds = folds_of(trial, data.y, selection.n_folds)
    gamma, Cs = choose_width(trial, data, widths, selection.n_folds), powers_of_two(cosines.log2_C_cosines)
    grow = partial(side_by_side, trial, data, rounds=rounds, gamma=gamma, size=cosines.pool_size, tol=tol)
    correct = np.zeros((len(Cs), len(rounds)), dtype=np.int64)
    for (_, held_out), ensembles in zip(folds, grow([train for train, _ in folds], Cs), strict=True):
        for k, ensemble in enumerate(ensembles):
            agree = (ensemble.scores(data.X[held_out]) > 0) == (data.y[held_out] > 0)[:, None]
            correct[k] += agree.sum(axis=0)
    found = Search(Cs, rounds, correct)
    chosen = sorted({found.best(len(rounds) - 1)[0], found.best()[0]})
    final = dict(zip(chosen, grow([np.arange(len(data.y))], chosen)[0], strict=True))

    def fit(_: Draw, C: float, __: Sequence[int]) -> Stages:
        return final[C]

    return _read(fit, data, found)


INTERCEPTS = ("free", "penalized", "none")
WITH_INTERCEPTS = tuple(f"{name}, {intercept}" for name in ("CGENS", "LPBoost") for intercept in INTERCEPTS)


@paper.trials("intercept", methods=WITH_INTERCEPTS, datasets=BINARY_SETS)
def intercepts(trial: Trial, *, log2_C_intercept: list[int], rounds: list[int], tol: float) -> Result:
    """Test errors of 500 rounds for each C.

    exchanged: the same stumps, weighed again with a free intercept, or without one if it was free.
    imbalance: |y'alpha| / 1'alpha at the end, 0 under a free intercept.
    """
    data, (name, _, intercept) = draw(trial), trial.method.partition(", ")
    estimator, master = (CGEns, Hinge) if name == "CGENS" else (LPBoost, HingeLP)
    other, found = "none" if intercept == "free" else "free", []
    for C in powers_of_two(log2_C_intercept):
        model = fitted(estimator(max(rounds), C=C, tol=tol, intercept=intercept), data)
        again = master(data.y, C, intercept=other)
        for column in model.hypotheses_.outputs(data.X).T:
            again.add(np.ascontiguousarray(column))
        solution, H = again.solve(), np.asarray(model.hypotheses_.outputs(data.X_test), dtype=np.float64)
        weighed = ((model.weights_, model.intercept_), (solution.w, solution.b))
        errors = [data.error(clear_ties(H @ w + b, w, b)) for w, b in weighed]
        V = model.dual_weights_
        found.append((*errors, abs(V.sum()) / np.abs(V).sum()))
    curve, exchanged, imbalance = np.array(found).T
    return {"curve": curve, "exchanged": exchanged, "imbalance": imbalance}


GENERATED = {"ringnorm": ringnorm, "twonorm": twonorm, "waveform": waveform}


def sample_draw(trial: Trial) -> Draw:
    """Return a new sample of a generated set in the benchmark's sizes, z-scored as a whole."""
    n_train, n_test = IDA_SIZES[trial.dataset]
    data = GENERATED[trial.dataset](n_train + n_test, random_state=trial.shared_rng("sample"))
    X, positive = zscore(data.X), 1  # of waveform the class between h1 and h3, as in the benchmark
    y = np.where(data.y == positive, 1.0, -1.0)
    return Draw(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


@dataclass(frozen=True)
class Grids:
    """Values of C, and of the width, among which kernel machines are selected."""

    log2_C_stump: list[int]  # noqa: N815 - its name in params.yaml
    log2_C_perceptron: list[int]  # noqa: N815 - its name in params.yaml


REALISED = ("stump:SVM", "perceptron:SVM", "fourier:SVM")


def machine_error(trial: Trial, data: Draw, n_folds: int, grids: Grids, widths: Widths) -> float:
    """Return the test error of the kernel machine that the trial's method says, selected on this split."""
    kernel, grid = "stump", grids.log2_C_stump
    if trial.method == "perceptron:SVM":
        kernel, grid = "perceptron", grids.log2_C_perceptron
    elif trial.method == "fourier:SVM":
        gamma, grid = choose_width(trial, data, widths, n_folds), widths.log2_C_gauss
        kernel = partial(gaussian_kernel, gamma=gamma)
    model = machine(trial, data, kernel, grid, n_folds)
    return data.error(model.decision_function(data.X_test))


@paper.trials("samples", methods=REALISED, datasets=tuple(GENERATED))
def samples(trial: Trial, *, n_draws: int, n_folds: int, grids: Grids, widths: Widths) -> Result:
    """Kernel machines on splits of one sample, as ``draws`` has them, and on as many new samples."""
    trials = [replace(trial, number=number) for number in range(n_draws)]
    found = [
        [machine_error(one, data, n_folds, grids, widths) for data in (draw(one), sample_draw(one))]
        for one in trials
    ]
    divided, anew = np.array(found).T
    return {"divided": divided, "anew": anew}


@paper.trials("realisations", methods=REALISED, datasets=OFFICIAL_LABELS)
def realisations(trial: Trial, *, n_folds: int, grids: Grids, widths: Widths) -> Result:
    """Kernel machines of tables I and II on one of the benchmark's splits."""
    return {"error": machine_error(trial, draw(trial), n_folds, grids, widths)}


# Codes of the letters A, G, C, T (1, 2, 3, 4 in the committed set), one number or four each.
FORMS = ("A G C T", "A C G T", "A T C G", "one column a letter", "distinct rows")
ON_SPLICE = ("AdaBoost", "CGENS", "SVM")


def splice_draw(trial: Trial, form: str) -> Draw:
    """Return splice in one form, 1000 training rows; distinct rows keep the first of equal ones."""
    splice = load("splice")
    X, y = splice.X.astype(np.int64), splice.signs.astype(np.float64)
    if form == "distinct rows":
        first = np.sort(np.unique(X, axis=0, return_index=True)[1])
        X, y = X[first], y[first]
    elif form == "one column a letter":
        X = (X[:, :, None] == np.arange(1, 5)).reshape(len(X), -1)
    elif form == "A C G T":
        X = np.array([0, 1, 3, 2, 4])[X]
    elif form == "A T C G":
        X = np.array([0, 1, 4, 3, 2])[X]
    order, n_train = trial.shared_rng("split").permutation(len(y)), IDA_SIZES["splice"][0]
    train, test = order[:n_train], order[n_train:]
    X = zscore(X.astype(np.float64))
    return Draw(X[train], y[train], X[test], y[test])


@paper.trials(
    "splice", methods=tuple(f"{form}: {name}" for form in FORMS for name in ON_SPLICE), datasets=("splice",)
)
def splice_forms(
    trial: Trial, *, selection: Selection, log2_C: list[int], log2_C_stump: list[int], tol: float
) -> Result:
    """Stumps on one form of splice; error: number of rounds selected too."""
    form, _, name = trial.method.partition(": ")
    data = splice_draw(trial, form)
    if name == "SVM":
        model = machine(trial, data, "stump", log2_C_stump, selection.n_folds)
        error = data.error(model.decision_function(data.X_test))
        return {"error": error, "error_500": error, "C": model.best_C_}
    fit, grid = (boosting(), [0]) if name == "AdaBoost" else (generating(CGEns, tol), log2_C)
    folds = folds_of(trial, data.y, selection.n_folds)
    found = _read(fit, data, search(fit, data, folds, powers_of_two(grid), selection.rounds))
    return {"error": found["error_selected"], "error_500": found["error"], "C": found["C"]}


def real_valued_mh(part: Draw, n_rounds: int) -> np.ndarray:
    """Return the scores (rounds, test rows, classes) of AdaBoost.MH with confidence-rated stumps.

    Schapire and Singer (1999), section 4: a stump cuts one feature, and each side votes for each class with
    c = 1/2 ln((W+ + e) / (W- + e)), W+ and W- the weights there with and without the class, e = 1 / (n K).
    The cut is the one of least Z = 2 sum_{side, class} sqrt(W+ W-), the loss that remains of 1.
    """
    n, K = len(part.y), int(part.y.max()) + 1
    Y = np.where(part.y[:, None] == np.arange(K), 1.0, -1.0)
    order = np.argsort(part.X, axis=0, kind="stable")
    ordered = np.take_along_axis(part.X, order, axis=0)
    features, cuts = np.nonzero((ordered[1:] > ordered[:-1]).T)
    middles = 0.5 * (ordered[cuts, features] + ordered[cuts + 1, features])
    D, f, scores = np.full((n, K), 1.0 / (n * K)), np.zeros((len(part.X_test), K)), []
    for _ in range(n_rounds):
        left = [np.cumsum(W[order], axis=0)[cuts, features] for W in (D * (Y > 0), D * (Y < 0))]
        both = [(D * (Y > 0)).sum(axis=0), (D * (Y < 0)).sum(axis=0)]
        right = [np.maximum(whole - part_of, 0.0) for whole, part_of in zip(both, left, strict=True)]
        Z = np.sqrt(left[0] * left[1]).sum(axis=1) + np.sqrt(right[0] * right[1]).sum(axis=1)
        best = int(np.flatnonzero(Z.min() * (1.0 + 1e-9) >= Z)[0])
        votes = np.array([_vote(with_[best], without[best], n * K) for with_, without in (left, right)])
        j, kappa = features[best], middles[best]
        D = D * np.exp(-Y * votes[(part.X[:, j] > kappa).astype(np.intp)])
        D /= D.sum()
        f = f + votes[(part.X_test[:, j] > kappa).astype(np.intp)]
        scores.append(f)
    return np.array(scores)


def _vote(with_class: np.ndarray, without: np.ndarray, n_weights: int) -> np.ndarray:
    return 0.5 * np.log((with_class + 1.0 / n_weights) / (without + 1.0 / n_weights))


REAL_VOTES = "AdaBoost.MH, real votes"


@paper.trials("real_votes", methods=(REAL_VOTES,), datasets=UCI_SETS)
def real_votes(trial: Trial, *, checkpoints: list[int]) -> Result:
    """Test error on the splits of table III."""
    data = multiclass_draw(trial)
    scores = real_valued_mh(data, max(checkpoints))
    curve = [percent_wrong(scores[T - 1].argmax(axis=1), data.y_test) for T in checkpoints]
    return {"error": curve[-1], "curve": np.array(curve)}
