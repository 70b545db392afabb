"""Trials that vary what the paper leaves open: forms and scales of the kernels, scaling, the digits' task."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernsemble.experiments.bi2004.draws import Task, draw, percent_wrong
from kernsemble.experiments.bi2004.kernels import Forms, Offset, make_library, model_scores
from kernsemble.experiments.bi2004.large import choose_two_norm
from kernsemble.experiments.bi2004.plan import paper
from kernsemble.experiments.bi2004.sets import CHOICES
from kernsemble.experiments.trial import Trial

# What else a detail could be: name -> the details that differ; the others stay as chosen.
READINGS: dict[str, dict[str, str]] = {
    "as chosen": {},
    "linear: raw": {"linear_form": "raw"},
    "quadratic: (xz/d)^2": {"quadratic_form": "(xz/d)^2"},
    "quadratic: (1 + xz)^2": {"quadratic_form": "(1 + xz)^2"},
    "both: raw": {"linear_form": "raw", "quadratic_form": "(1 + xz)^2"},
    "scaling: training rows": {"scaling": "training rows"},
}
DIGIT_TASKS: dict[str, dict[str, str]] = {
    "digits: 5 to 9": {"digits_task": "large"},
    "digits: 3": {"digits_task": "three"},
}


@paper.trials("readings", methods=tuple(READINGS), datasets=("Forest", "Digits"))
@paper.trials("readings", methods=tuple(DIGIT_TASKS), datasets=("Digits",))
def other_readings(
    trial: Trial, *, task: Task, forms: Forms, offset: Offset, Cs: list[float]
) -> dict[str, float]:
    """Test errors of the complete 2-norm solutions of all kernel choices; the C of the mixture."""
    details = (READINGS | DIGIT_TASKS)[trial.method]
    forms = replace(forms, **{name: value for name, value in details.items() if hasattr(forms, name)})
    task = replace(task, **{name: value for name, value in details.items() if hasattr(task, name)})
    data = draw(trial, trial.dataset, task)
    found, C = {}, 1.0
    for name, library in CHOICES.items():
        C, resolved, model = choose_two_norm(make_library(library, forms), data, Cs, offset)
        scores = model_scores(resolved, data.X, model, data.X_test)
        found[f"error_{name}"] = percent_wrong(scores, data.y_test)
    return found | {"log10_C": float(np.log10(C))}
