"""The trial that the paper's title asks for: all examples of Forest at once, in bounded memory."""

from __future__ import annotations

import resource
import time
from dataclasses import replace

from kernsemble.estimators.cg_boost import CGBoostClassifier
from kernsemble.trials.trial import Trial
from bi2004.draws import Scaling, Task, draw, percent_wrong
from bi2004.kernels import Forms, Offset, make_library
from bi2004.plan import paper
from bi2004.runs import columns_by_kernel
from bi2004.sets import ALL_FOREST, CHOICES

_ALL = 495_141


@paper.trials("forest", methods=("stratified", "regular"), datasets=(ALL_FOREST,))
def all_of_forest(
    trial: Trial,
    *,
    sizes: dict[str, int],
    scaling: Scaling,
    forms: Forms,
    offset: Offset,
    forest_C: float,
    forest_tau: float,
    forest_centers: int,
    forest_rounds: int,
) -> dict[str, float]:
    """Column generation on all rows but those of validation and test; columns are evaluated when needed.

    C is ``forest_C`` for 1000 examples and falls as 1 / n. Candidates are the columns of all three kernels at
    some random centers; a column must score more than ``forest_tau``. The gap is computed once, at the end.
    """
    n = _ALL - sizes["test"] - sizes["validation"]
    data = draw(trial, "Forest", Task(sizes | {"train": n}, scaling))
    model = CGBoostClassifier(
        make_library(CHOICES["L,Q,R"], forms),
        forest_C * 1000.0 / n,
        intercept=offset,
        stratified=trial.method == "stratified",
        n_rounds=forest_rounds,
        tol=0.0,
        tau=forest_tau,
        max_centers=forest_centers,
        random_state=trial.shared_seed("centers"),
    )
    start = time.process_time()
    model.fit(data.X, data.y)
    seconds = time.process_time() - start
    return {
        "error": percent_wrong(model.decision_function(data.X_test), data.y_test),
        "train_error": percent_wrong(model.decision_function(data.X[::50]), data.y[::50]),
        **{name: float(count) for name, count in columns_by_kernel(model.n_columns_).items()},
        "rounds": float(model.n_rounds_),
        "n_train": float(n),
        "fit_seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }


@paper.trials("forest", methods=("stratified, coarse",), datasets=(ALL_FOREST,))
def all_of_forest_coarsely(
    trial: Trial,
    *,
    sizes: dict[str, int],
    scaling: Scaling,
    forms: Forms,
    offset: Offset,
    forest_C: float,
    forest_coarse_tau: float,
    forest_centers: int,
    forest_rounds: int,
) -> dict[str, float]:
    """The stratified search with a tolerance that is through with linear columns before the rounds are."""
    return all_of_forest(
        replace(trial, method="stratified"),
        sizes=sizes,
        scaling=scaling,
        forms=forms,
        offset=offset,
        forest_C=forest_C,
        forest_tau=forest_coarse_tau,
        forest_centers=forest_centers,
        forest_rounds=forest_rounds,
    )
