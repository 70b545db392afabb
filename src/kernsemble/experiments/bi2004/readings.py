"""Trials that vary what the paper leaves open: forms and scales of the kernels, scaling, the digits' task."""

from __future__ import annotations

import numpy as np

from kernsemble.experiments.bi2004.draws import DigitsTask, Scaling, draw, percent_wrong
from kernsemble.experiments.bi2004.kernels import (
    LinearForm,
    Offset,
    QuadraticForm,
    make_library,
    model_scores,
)
from kernsemble.experiments.bi2004.large import choose_two_norm
from kernsemble.experiments.bi2004.plan import paper
from kernsemble.experiments.bi2004.sets import CHOICES
from kernsemble.experiments.trial import Trial

# What else a detail could be: name -> (detail, value); the others stay as chosen.
READINGS: dict[str, tuple[str, str]] = {
    "as chosen": ("none", ""),
    "linear: raw": ("linear", "raw"),
    "quadratic: (xz/d)^2": ("quadratic", "(xz/d)^2"),
    "quadratic: (1 + xz)^2": ("quadratic", "(1 + xz)^2"),
    "both: raw": ("both", "raw"),
    "scaling: training rows": ("scaling", "training rows"),
}
DIGIT_TASKS: dict[str, tuple[str, str]] = {
    "digits: 5 to 9": ("digits", "large"),
    "digits: 3": ("digits", "three"),
}


@paper.trials("readings", methods=tuple(READINGS), datasets=("Forest", "Digits"))
@paper.trials("readings", methods=tuple(DIGIT_TASKS), datasets=("Digits",))
def other_readings(
    trial: Trial,
    *,
    sizes: dict[str, int],
    scaling: Scaling,
    digits_task: DigitsTask,
    linear_form: LinearForm,
    quadratic_form: QuadraticForm,
    offset: Offset,
    Cs: list[float],
) -> dict[str, float]:
    """Test errors of the complete 2-norm solutions of all kernel choices; the C of the mixture."""
    detail, value = (READINGS | DIGIT_TASKS)[trial.method]
    scaling = value if detail == "scaling" else scaling
    digits_task = value if detail == "digits" else digits_task
    linear_form = "raw" if detail in ("linear", "both") else linear_form
    quadratic_form = {"quadratic": value, "both": "(1 + xz)^2"}.get(detail, quadratic_form)
    data = draw(trial, trial.dataset, sizes, scaling, digits_task)
    found, C = {}, 1.0
    for name, library in CHOICES.items():
        kernels = make_library(library, linear_form, quadratic_form)
        C, resolved, model = choose_two_norm(kernels, data, Cs, offset)
        scores = model_scores(resolved, data.X, model, data.X_test)
        found[f"error_{name}"] = percent_wrong(scores, data.y_test)
    return found | {"log10_C": float(np.log10(C))}
