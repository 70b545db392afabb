"""One run of column generation, and what it is where each termination rule would stop it.

TR1: the last round before no column centered at an error point violates the dual. TR3: the round of the
smallest validation error, once it has not improved for ``patience`` rounds; its seconds go on to the round
where that is known. End: TR2 (the certified gap is small, or no column is left), or TR4 (as many rounds as
allowed). TR3 is read off afterwards: a run that stops there and one that goes on agree up to there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.hypotheses.kernel_library import Kernel
from bi2004.draws import Draw, percent_wrong
from bi2004.kernels import Offset
from bi2004.sets import KERNELS, NORMS


@dataclass(frozen=True)
class Rules:
    """What a run takes besides its data: offset, tolerances, patience of TR3, most rounds."""

    offset: Offset
    tau: float
    gap: float
    patience: int
    n_rounds: int


def fit_run(
    kernels: Sequence[Kernel], data: Draw, C: float, norm: str, rules: Rules, *, stratified: bool = True
) -> CGBoostClassifier:
    """Generate columns until the certified gap is small or rounds run out, validation data watched."""
    model = CGBoostClassifier(
        kernels,
        C,
        norm=NORMS[norm],
        intercept=rules.offset,
        stratified=stratified,
        termination="TR4",
        n_rounds=rules.n_rounds,
        tol=rules.gap,
        tau=rules.tau,
    )
    return model.fit(data.X, data.y, X_val=data.X_val, y_val=data.y_val)


def patient_rounds(losses: np.ndarray, patience: int) -> tuple[int, int]:
    """Return the round that TR3 uses and the round after which it stops, both counted from 1.

    Examples
    --------
    >>> import numpy as np
    >>> patient_rounds(np.array([0.5, 0.3, 0.4, 0.4, 0.1]), patience=2)
    (2, 4)
    """
    best = 0
    for t, loss in enumerate(losses):
        if loss < losses[best]:
            best = t
        if t - best >= patience:
            return best + 1, t + 1
    return best + 1, len(losses)


def rounds_of_rules(model: CGBoostClassifier, patience: int) -> dict[str, tuple[int, int]]:
    """For each rule the round whose weights it uses, and the round after which it stops."""
    last = model.n_rounds_
    first = model.termination_rounds_["TR1"] or last
    return {
        "TR1": (first, first),
        "TR3": patient_rounds(model.validation_path_, patience),
        "end": (last, last),
    }


def weights_after(model: CGBoostClassifier, t: int) -> tuple[np.ndarray, float]:
    """Weights of all columns and the offset after round t; columns not yet generated have none."""
    w, b = model.coef_path_[t - 1]
    return np.append(w, np.zeros(len(model.hypotheses_) - len(w))), float(b)


def columns_by_kernel(counts: dict[str, int]) -> dict[str, int]:
    """Columns of each kernel; one of a composite kernel counts for each of its parts, as in the tables."""
    return {name: sum(n for key, n in counts.items() if name in key.split("+")) for name in KERNELS}


def read_stops(model: CGBoostClassifier, data: Draw, patience: int) -> dict[str, float]:
    """Return errors, columns, evaluations and seconds where each rule stops."""
    seconds = np.cumsum(model.oracle_seconds_path_ + model.master_seconds_path_)
    found: dict[str, float] = {}
    for stop, (used, stopped) in rounds_of_rules(model, patience).items():
        w, b = weights_after(model, used)
        scores, test_seconds = timed_scores(model, data.X_test, w, b)
        values = {
            "error": percent_wrong(scores, data.y_test),
            "train_error": percent_wrong(model.hypotheses_.decision(data.X, w, b), data.y),
            "rounds": used,
            **columns_by_kernel(model.hypotheses_.counts(w)),
            "evaluations": model.hypotheses_.n_evaluations(w),
            "fit_seconds": seconds[stopped - 1],
            "test_seconds": test_seconds,
        }
        found |= {f"{name}_{stop}": float(value) for name, value in values.items()}
    return found


def timed_scores(
    model: CGBoostClassifier, Z: np.ndarray, w: np.ndarray, b: float, repeats: int = 3
) -> tuple[np.ndarray, float]:
    """Return scores at Z and the seconds of the processor that they take, the least of some repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        scores = model.hypotheses_.decision(Z, w, b)
        times.append(time.process_time() - start)
    return scores, min(times)


def describe_run(model: CGBoostClassifier, data: Draw, C: float, patience: int) -> dict[str, float]:
    """Return the metrics of a run: its C, its gap, how much was scanned, and where each rule stops."""
    return {
        "log10_C": float(np.log10(C)),
        "gap": model.dual_gap_ / model.objective_path_[-1],
        "scanned": float(np.mean(model.columns_scanned_path_[: model.n_rounds_])),
        "first_full_scan": float(model.termination_rounds_["TR1"] or 0),
        **read_stops(model, data, patience),
    }


def read_curves(model: CGBoostClassifier, data: Draw, n_points: int) -> dict[str, np.ndarray]:
    """Return errors and the objective after some of the rounds, nearly even in their logarithm."""
    T = model.n_rounds_
    rounds = np.unique(np.round(np.geomspace(1, T, n_points)).astype(int))
    outputs = {
        "train": (model.hypotheses_.outputs(data.X), data.y),
        "test": (model.hypotheses_.outputs(data.X_test), data.y_test),
    }
    curves = {
        f"curve_{name}": np.array([_error_after(model, H, y, t) for t in rounds])
        for name, (H, y) in outputs.items()
    }
    return curves | {
        "curve_rounds": rounds.astype(float),
        "curve_validation": 100.0 * model.validation_path_[rounds - 1],
        "curve_objective": np.array([float(f"{value:.6g}") for value in model.objective_path_[rounds - 1]]),
    }


def _error_after(model: CGBoostClassifier, H: np.ndarray, y: np.ndarray, t: int) -> float:
    w, b = model.coef_path_[t - 1]
    return percent_wrong(H[:, : len(w)] @ w + b, y)
