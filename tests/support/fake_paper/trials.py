"""Trials of the fake paper."""

import os
import signal
import time
import warnings
from pathlib import Path
from typing import Literal

import numpy as np

from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial
from support.fake_paper.solver import biased_mean

paper = Paper(
    "fake_paper", title="A tiny paper", datasets={"coin": None, "coin-n": None, "die": None, "a,b": None}
)
paper.exhibit("table1", "Errors", metrics=("error", "gap"), timing=("fit_seconds",), tolerance={"gap": 1e-6})
paper.exhibit("figure1", "Curves", metrics=("curve", "steps"))
paper.exhibit("timing", "Seconds", timing=("seconds_spent",), alone=True)
paper.exhibit("trouble", "Trials that misbehave", metrics=("error",))


@paper.trials("table1", methods=("plain", "squared"))
def draws(trial: Trial, *, n: int, bias: float, rule: Literal["mean", "median"]):
    values = trial.shared_rng("draws").normal(size=n)
    own = trial.rng().normal()
    error = biased_mean(values, bias) + 0.01 * own if rule == "mean" else float(np.median(values))
    return {"error": error, "gap": 1e-9 * own, "fit_seconds": time.perf_counter() % 1}


@paper.trials("table1", methods=("short", "long"), together=True)
def two_lengths(trial: Trial, *, n: int):
    values = trial.shared_rng("draws").normal(size=n)
    return {"short": {"error": values[:3].mean()}, "long": {"error": values.mean()}}


@paper.trials("figure1", methods=("descent",), datasets=("coin", "die"))
def descent(trial: Trial, *, n_steps: int):
    start = trial.rng().random()
    return {"curve": start * 0.5 ** np.arange(n_steps), "steps": n_steps}


@paper.trials("timing", methods=("clock",))
def clock(trial: Trial):
    return {"seconds_spent": 0.001 + time.perf_counter() % 1e-3}


@paper.trials("trouble", methods=("raises", "warns", "nan", "kills", "fine"))
def misbehave(trial: Trial, *, marker: str):
    if trial.method == "raises":
        raise ZeroDivisionError("no such luck")
    if trial.method == "warns":
        warnings.warn("stopped early", UserWarning, stacklevel=1)
    if trial.method == "kills" and marker:
        if Path(marker).exists():  # harmless at the second attempt
            return {"error": 1}
        Path(marker).touch()
    if trial.method == "kills":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"error": float("nan") if trial.method == "nan" else 1.5}
