"""Trials that vary what the paper leaves open: forms and scales of the kernels, scaling, the digits' task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from kernsemble.hypotheses.kernel_library import Kernel
from kernsemble.masters.quadratic import Hinge
from kernsemble.trials.trial import Trial
from bi2004.draws import Draw, Task, draw, percent_wrong
from bi2004.kernels import Forms, Model, Offset, make_library, model_scores, resolve
from bi2004.plan import paper
from bi2004.sets import CHOICES

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

_TOL = 1e-5  # relative gap


@paper.trials("readings", methods=tuple(READINGS), datasets=("Forest", "Digits"))
@paper.trials("readings", methods=tuple(DIGIT_TASKS), datasets=("Digits",))
def other_readings(
    trial: Trial, *, task: Task, forms: Forms, offset: Offset, Cs: list[float]
) -> dict[str, float]:
    """Test errors of the complete 2-norm solutions of all kernel choices; the C of the mixture."""
    details = (READINGS | DIGIT_TASKS)[trial.method]
    forms = replace(
        forms, **{part.name: details[part.name] for part in fields(forms) if part.name in details}
    )
    task = replace(task, **{part.name: details[part.name] for part in fields(task) if part.name in details})
    data = draw(trial, trial.dataset, task)
    found, C = {}, 1.0
    for name, library in CHOICES.items():
        kernels = resolve(make_library(library, forms), data.X)
        C, model = _choose(kernels, data, Cs, offset)
        scores = model_scores(kernels, data.X, model, data.X_test)
        found[f"error_{name}"] = percent_wrong(scores, data.y_test)
    return found | {"log10_C": float(np.log10(C))}


def _with(group: Forms | Task, details: Mapping[str, Any]) -> Any:
    """Return a group of parameters with those details that it has."""
    return replace(group, **{part.name: details[part.name] for part in fields(group) if part.name in details})


def _choose(
    kernels: Sequence[Kernel], data: Draw, Cs: Sequence[float], offset: Offset
) -> tuple[float, Model]:
    """Return the C of least validation error (the smallest of equal ones) and its complete solution."""
    H = np.hstack([kernel.matrix(data.X, data.X) for kernel in kernels])
    Q, R = np.linalg.qr(H.T)  # the columns of Z = R' have the same scores, and alpha = Q z
    solved = [_solve(R.T, data.y, C, offset) for C in Cs]
    models = [(np.split(Q @ z, len(kernels)), b) for z, b in solved]
    errors = [percent_wrong(model_scores(kernels, data.X, m, data.X_val), data.y_val) for m in models]
    best = int(np.argmin(errors))
    return Cs[best], models[best]


def _solve(Z: np.ndarray, y: np.ndarray, C: float, offset: Offset) -> tuple[np.ndarray, float]:
    solution = Hinge(y, C, intercept=offset, tol=_TOL, H=Z).solve()
    solution.warn_unless_converged("problem (11) over all columns")
    return solution.w, float(solution.b)
