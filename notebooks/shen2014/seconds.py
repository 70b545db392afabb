"""Trials about seconds: figure 2 to its printed ends, and predictions on growing training sets.

A solver that starts anew in each round takes seconds that depend on the columns alone, not on the rounds
before. So interior points, and LIBLINEAR, are timed on the columns of some rounds, and the rounds between are
interpolated: 500 rounds become affordable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from sklearn.svm import SVC, LinearSVC

from kernsemble.column_generation import ColumnGeneration, column_generation
from kernsemble.data.generators import waveform
from kernsemble.hypotheses.fourier import FourierPool
from kernsemble.hypotheses.stumps import StumpOracle
from kernsemble.masters.lp import HingeLP
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials.bench import percent_wrong, seconds_of
from kernsemble.trials.trial import Trial
from shen2014.trials import ENSEMBLES, LP_METHODS, MACHINES, Result, _digits, paper

paper.exhibit(
    "training_ends",
    "Training time to the printed ends of figure 2, with LIBLINEAR as master beside ours",
    timing=("rounds_curve", "digits_curve"),
    alone=True,
)
paper.exhibit(
    "growing",
    "Seconds to classify 10,000 points after growing training sets, in double and single precision",
    metrics=("sizes", "errors", "same"),
    timing=("double_curve", "single_curve"),
    alone=True,
)


@dataclass(frozen=True)
class Ends:
    """Where figure 2 ends: rounds on so many digits, and on more; rounds at which a fresh start is timed."""

    end_digits: list[int]
    end_rounds: list[int]
    sampled: list[int]
    log2_C_end: int  # noqa: N815 - its name in params.yaml
    gap: float


def _grown(X: np.ndarray, y: np.ndarray, master, n_rounds: int) -> tuple[ColumnGeneration, np.ndarray, list]:
    """Return a run of column generation, its columns, and per round the seconds of oracle and master."""
    start, ends = process_time(), []
    oracle = StumpOracle(X, constant=isinstance(master, HingeLP))
    result = column_generation(
        oracle, master, n_rounds, keep_weights=False, callback=lambda _: ends.append(process_time() - start)
    )
    return result, oracle.collect(result.keys).outputs(X), ends


def rounds_read(sampled: Sequence[int], n: int) -> list[int]:
    """Return the sampled rounds before the last, and the last."""
    return [*(T for T in sampled if n > T), n]


def _fresh_starts(sampled: Sequence[int], n: int, seconds: Callable[[int], float]) -> np.ndarray:
    """Return the summed seconds of n rounds that each start anew; between sampled rounds interpolated."""
    at = sorted({1, *rounds_read(sampled, n)})
    return np.cumsum(np.interp(np.arange(1, n + 1), at, [seconds(T) for T in at]))


def _by_lp(X: np.ndarray, y: np.ndarray, n_rounds: int, ends: Ends) -> dict[str, np.ndarray]:
    """Return seconds after each round of LPBoost: by a warm dual simplex, and by interior points."""
    C = 2.0**ends.log2_C_end
    result, H, simplex = _grown(X, y, HingeLP(y, C, solver="dual-simplex"), n_rounds)

    def interior(T: int) -> float:
        master = HingeLP(y, C, solver="ipm")
        for column in H.T[:T]:
            master.add(np.ascontiguousarray(column))
        return seconds_of(master.solve, clock=process_time)

    searches = np.cumsum([one.oracle_seconds for one in result.rounds])
    n = len(simplex)
    found = (np.array(simplex), searches + _fresh_starts(ends.sampled, n, interior))
    return dict(zip(LP_METHODS, found, strict=True))


OWN, LIBLINEAR = "CGENS", "CGENS, LIBLINEAR as master"
_TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


def _by_cgens(X: np.ndarray, y: np.ndarray, n_rounds: int, ends: Ends) -> dict[str, np.ndarray]:
    """Return seconds after each round of CGENS without an intercept, by our master and by LIBLINEAR.

    LIBLINEAR gets the loosest tolerance, known in hindsight, with which its primal objective is within the
    same gap of a dual one, that of our master on the same columns.
    """
    C = 2.0**ends.log2_C_end
    result, H, own = _grown(X, y, Hinge(y, C, intercept="none", tol=ends.gap), n_rounds)

    def liblinear(T: int) -> float:
        columns, master = H[:, :T].astype(np.float64), Hinge(y, C, tol=0.1 * ends.gap)
        for column in H.T[:T]:
            master.add(np.ascontiguousarray(column))
        dual = master.solve().dual_objective
        for tol in _TOLERANCES:
            model = LinearSVC(
                C=C, loss="hinge", fit_intercept=False, tol=tol, max_iter=100_000, random_state=0
            )
            seconds = seconds_of(model.fit, columns, y, clock=process_time)
            w = model.coef_[0]
            objective = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (columns @ w)).sum()
            if objective - dual <= ends.gap * objective:
                break
        return seconds

    searches = np.cumsum([one.oracle_seconds for one in result.rounds])
    return {OWN: np.array(own), LIBLINEAR: searches + _fresh_starts(ends.sampled, len(own), liblinear)}


def _to_the_ends(trial: Trial, ends: Ends, race: Callable) -> dict[str, Result]:
    """Return the seconds after the sampled rounds: of many rounds, and on many digits."""
    X, y = _digits(trial, max(ends.end_digits))
    order = trial.shared_rng("subset").permutation(len(y))
    race(X[:200], y[:200], 3, ends)  # compiles
    results: dict[str, Result] = {}
    for name, n, n_rounds in zip(("rounds", "digits"), ends.end_digits, ends.end_rounds, strict=True):
        rows = np.sort(order[:n])
        for method, seconds in race(X[rows], y[rows], n_rounds, ends).items():
            at = [T for T in rounds_read(ends.sampled, n_rounds) if len(seconds) >= T]
            results.setdefault(method, {})[f"{name}_curve"] = seconds[np.array(at) - 1]
    return results


@paper.trials("training_ends", methods=(OWN, LIBLINEAR), datasets=("MNIST",), together=True)
def cgens_ends(trial: Trial, *, ends: Ends) -> dict[str, Result]:
    """CGENS without an intercept, to a gap in each round."""
    return _to_the_ends(trial, ends, _by_cgens)


@paper.trials("training_ends", methods=LP_METHODS, datasets=("MNIST",), together=True)
def lpboost_ends(trial: Trial, *, ends: Ends) -> dict[str, Result]:
    """LPBoost, by a warm dual simplex and by interior points from scratch."""
    return _to_the_ends(trial, ends, _by_lp)


@dataclass(frozen=True)
class Growing:
    """Training rows, points to classify, C of both, and from how many rows on the ensemble stops growing."""

    row_counts: list[int]
    n_classified: int
    C_growing: float
    log2_C_growing: int  # noqa: N815 - its name in params.yaml
    most_rows: int


def _gaussian(points: np.ndarray, centers: np.ndarray, gamma: float) -> np.ndarray:
    squares = (points**2).sum(axis=1)[:, None] + (centers**2).sum(axis=1) - 2.0 * (points @ centers.T)
    return np.exp(-gamma * squares)


def _cosines(points: np.ndarray, theta: np.ndarray, kappa: np.ndarray) -> np.ndarray:
    return np.cos(points @ theta.T - kappa)


def _timed(entries: Callable, parts: tuple, weights: np.ndarray, b: float, points: np.ndarray) -> dict:
    """Return decisions and seconds in double and in single precision, 500 rows at a time."""
    found = {}
    for kind in (np.float64, np.float32):
        rows, w, of = points.astype(kind), weights.astype(kind), [kind(part) for part in parts]

        def decide(rows=rows, w=w, of=of) -> np.ndarray:
            blocks = np.array_split(rows, max(1, len(rows) // 500))
            return np.concatenate([entries(block, *of) @ w for block in blocks]) + b

        found[kind] = decide(), seconds_of(decide, repeats=3, clock=process_time)
    return found


def _machine_of(X: np.ndarray, y: np.ndarray, growing: Growing) -> tuple[Callable, tuple, np.ndarray, float]:
    gamma = 1.0 / X.shape[1]
    model = SVC(C=growing.C_growing, gamma=gamma, cache_size=500).fit(X, y)
    return _gaussian, (model.support_vectors_, gamma), model.dual_coef_[0], float(model.intercept_[0])


def _ensemble_of(
    X: np.ndarray, y: np.ndarray, growing: Growing, size: int, n_cosines: int, seed: int
) -> tuple[Callable, tuple, np.ndarray, float]:
    X, y = X[: growing.most_rows], y[: growing.most_rows]
    pool = FourierPool(X, gamma=1.0 / X.shape[1], n_hypotheses=size, random_state=seed)
    master = Hinge(y, 2.0**growing.log2_C_growing, intercept="free", tol=1e-2)
    result = column_generation(pool, master, n_cosines, keep_weights=False)
    chosen = pool.collect(result.keys)
    w = result.solution.w * np.asarray(chosen.signs, dtype=np.float64)
    return _cosines, (chosen.theta, chosen.kappa), w, float(result.solution.b)


@paper.trials("growing", methods=(MACHINES[1], ENSEMBLES[1]), datasets=("waveform",))
def growing_sets(trial: Trial, *, growing: Growing, pool_size: int, n_cosines: int) -> Result:
    """Sizes, test errors and seconds of prediction after training on more and more rows; nothing is selected.

    same: share of decisions on which single and double precision agree, in percent.
    """
    n = max(growing.row_counts)
    data = waveform(n + growing.n_classified, random_state=trial.shared_rng("growing"))
    X, y = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), np.where(data.y == 1, 1.0, -1.0)
    points, truth = X[n:], y[n:]
    rows: dict[str, list[float]] = {}
    for count in growing.row_counts:
        if trial.method.startswith("CGENS"):
            seed = trial.shared_seed("pool")
            built = _ensemble_of(X[:count], y[:count], growing, pool_size, n_cosines, seed)
        else:
            built = _machine_of(X[:count], y[:count], growing)
        (double, slow), (single, fast) = _timed(*built, points).values()
        entry = {
            "sizes": len(built[2]), "errors": percent_wrong(double > 0, truth > 0),
            "same": 100.0 * np.mean((double > 0) == (single > 0)), "double_curve": slow, "single_curve": fast,
        }  # fmt: skip
        for name, value in entry.items():
            rows.setdefault(name, []).append(value)
    return {name: np.array(values, dtype=np.float64) for name, values in rows.items()}
