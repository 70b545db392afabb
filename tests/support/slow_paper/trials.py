"""Trials of the slow paper."""

import time

import numpy as np

from kernsemble.trials.registry import Paper
from kernsemble.trials.trial import Trial

paper = Paper("slow_paper", title="A slow paper", datasets={"coin": None, "die": None, "card": None})
paper.exhibit("table1", "Errors", metrics=("error", "gap"))
paper.exhibit("figure1", "Curves", metrics=("curve",))


@paper.trials("table1", methods=("plain", "squared"))
def draws(trial: Trial, *, pause: float):
    time.sleep(pause)
    values = trial.shared_rng("draws").normal(size=20)
    return {"error": values.mean(), "gap": trial.rng().random()}


@paper.trials("figure1", methods=("descent",), datasets=("coin",))
def descent(trial: Trial, *, pause: float):
    time.sleep(pause)
    return {"curve": trial.rng().random() * 0.5 ** np.arange(4)}
